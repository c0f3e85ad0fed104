/* The counts of a profile (see the header). */
#include "sm/profile.h"

#include <stdlib.h>
#include <string.h>

#include "base/bits.h"

SmProfile *sm_profile_new(uint32_t requests, Arena *arena) {
    SmProfile *profile = arena_alloc_aligned(arena, sizeof *profile, 64);
    *profile = (SmProfile){.issue_cycle = ARENA_ARRAY(arena, uint64_t, SM_INSTS),
                           .request_pc = ARENA_ARRAY(arena, uint32_t, requests),
                           .outcomes = ARENA_ARRAY(arena, MemOutcome, requests)};
    return profile;
}

static void free_chunks(SmProfile *profile) {
    for (uint32_t i = 0; i < profile->chunk_count; i++)
        free(profile->chunks[i]);
    free(profile->chunks);
}

void sm_profile_free(SmProfile *profile) {
    if (profile) free_chunks(profile);
}

void sm_profile_start(SmProfile *profile, uint32_t inst_count) {
    uint32_t chunks = (inst_count + SM_PROFILE_ROWS - 1) / SM_PROFILE_ROWS;
    if (chunks > profile->chunk_count) {
        free_chunks(profile);
        profile->chunks = base_calloc(chunks, sizeof(ProfileCounts *));
        profile->chunk_count = chunks;
    }
    for (uint32_t i = 0; i < profile->chunk_count; i++)
        if (profile->chunks[i])
            memset(profile->chunks[i], 0, SM_PROFILE_ROWS * sizeof(ProfileCounts));
    profile->nobody = (ProfileCounts){0};
    profile->has_issued = 0;
    profile->divergent = 0;
}

__attribute__((cold, noinline)) ProfileCounts *sm_profile_new_chunk(SmProfile *profile,
                                                                    uint32_t chunk) {
    return profile->chunks[chunk] = base_calloc(SM_PROFILE_ROWS, sizeof(ProfileCounts));
}

void sm_profile_launched(SmProfile *profile, uint64_t warps, uint32_t pc, uint64_t cycle) {
    for (int b = 0; b < SM_STALL_REASON_BITS; b++)
        profile->reasons.bit[b] &= ~warps;
    uint64_t left = warps;
    stall_reasons_take(&profile->reasons, &left, warps, PROFILE_cycles_fetch);
    for (; warps; warps &= warps - 1) {
        int warp = bits_lowest64(warps);
        profile->pc[warp] = pc;
        profile->since[warp] = cycle;
    }
}

/* Counts that are common to instructions that take an issue slot and instructions that do not. */
static void count_instruction(SmProfile *profile, uint32_t pc, uint32_t lanes, uint64_t divergent) {
    ProfileCounts *row = sm_profile_row(profile, pc);
    row->of[PROFILE_issues]++;
    row->of[PROFILE_lanes] += (uint64_t)bits_count32(lanes);
    row->of[PROFILE_divergent] += divergent - profile->divergent;
    profile->divergent = divergent;
}

void sm_profile_issued(SmProfile *profile, const SmInst *inst, uint64_t divergent) {
    profile->issued[inst->warp] = inst->pc;
    profile->has_issued |= UINT64_C(1) << inst->warp;
    count_instruction(profile, inst->pc, inst->lanes, divergent);
}

void sm_profile_passed(SmProfile *profile, uint32_t pc, uint32_t lanes, uint64_t divergent) {
    count_instruction(profile, pc, lanes, divergent);
}

void sm_profile_slot(SmProfile *profile, int warp, uint32_t pc) {
    profile->issued[warp] = pc;
    profile->has_issued |= UINT64_C(1) << warp;
    sm_profile_count(profile, pc, PROFILE_slots, 1);
}

/* Adds the cycles before `cycle` in which the warp waited for its current cause. */
static void settle_warp(SmProfile *profile, int warp, uint64_t cycle) {
    if (cycle <= profile->since[warp]) return;
    ProfileColumn cause = stall_reason_of(&profile->reasons, warp);
    sm_profile_count(profile, profile->pc[warp], cause, cycle - profile->since[warp]);
    profile->since[warp] = cycle;
}

void sm_profile_move(SmProfile *profile, int warp, uint32_t pc, uint64_t cycle) {
    settle_warp(profile, warp, cycle);
    profile->pc[warp] = pc;
}

void sm_profile_settle(SmProfile *profile, uint64_t warps, uint64_t cycle) {
    for (; warps; warps &= warps - 1)
        settle_warp(profile, bits_lowest64(warps), cycle);
}

void sm_profile_done(SmProfile *profile, const SmInst *inst, uint16_t index, uint64_t cycle) {
    ProfileCounts *row = sm_profile_row(profile, inst->pc);
    row->of[PROFILE_completed]++;
    row->of[PROFILE_latency_cycles] += cycle - profile->issue_cycle[index];
}

void sm_profile_shared(SmProfile *profile, uint32_t pc, const SmMemory *memory) {
    ProfileCounts *row = sm_profile_row(profile, pc);
    row->of[PROFILE_shared_instructions]++;
    row->of[PROFILE_shared_cycles] += memory->cycles;
    row->of[PROFILE_least_shared_cycles] += memory->least;
}

void sm_profile_sent(SmProfile *profile, const MemRequest *request, uint32_t pc) {
    uint32_t index = mem_handle_index(request->handle);
    profile->request_pc[index] = pc;
    profile->outcomes[index] = (MemOutcome){0};
}

void sm_profile_answered(SmProfile *profile, const MemRequest *request, uint64_t cycle) {
    uint32_t index = mem_handle_index(request->handle);
    ProfileCounts *row = sm_profile_row(profile, profile->request_pc[index]);
    const MemOutcome *outcome = &profile->outcomes[index];
    row->of[PROFILE_l2_hits] += outcome->hits;
    row->of[PROFILE_l2_pending_hits] += outcome->pending_hits;
    row->of[PROFILE_l2_misses] += outcome->misses;
    if (request->op == MEM_OP_WRITE) return;
    row->of[PROFILE_reads]++;
    row->of[PROFILE_read_cycles] += (uint32_t)cycle - request->sent;
}
