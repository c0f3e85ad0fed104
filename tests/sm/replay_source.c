/* Replays a recorded stream of instructions (see the header). */
#include "replay_source.h"

#include <stdio.h>
#include <string.h>

static ReplaySource *of(WarpSource *source) { return (ReplaySource *)(void *)source; }
static ReplayWarp *warp_of(SourceWarp *warp) { return (ReplayWarp *)(void *)warp; }

/* The barrier of a CTA is complete when all of its live warps wait. */
static void release(ReplaySource *replay, uint32_t slot) {
    if (replay->waiting[slot] == replay->alive[slot]) replay->waiting[slot] = 0;
}

static WarpEvent step(WarpSource *source, SourceWarp *handle, uint64_t cycle) {
    (void)cycle;
    ReplaySource *replay = of(source);
    ReplayWarp *warp = warp_of(handle);
    const ReplayStep *now = warp->next;
    replay->steps++;
    if (now->pc >= source->program->count) {
        replay->fault = (IsaFault){.is_set = true, .code = ISA_FAULT_TRAP, .pc = now->pc};
        snprintf(replay->fault.text, sizeof replay->fault.text, "the stream leaves its program");
        return WARP_FAULT;
    }
    source->did->executed = now->executed;
    for (uint32_t lane = 0; lane < ISA_LANES; lane++)
        replay->did.address[lane] = now->address + (uint64_t)lane * now->stride;
    const bool waits = source->program->infos[now->pc].flags & ISA_IS_BARRIER;
    if (waits) replay->waiting[warp->cta_slot] |= warp->bit;
    if (now->is_exit) replay->alive[warp->cta_slot] &= ~warp->bit;
    if (waits || now->is_exit) release(replay, warp->cta_slot);
    if (now->is_exit) return WARP_EXITED;
    warp->at.pc = (++warp->next)->pc;
    return replay->waiting[warp->cta_slot] & warp->bit ? WARP_WAITS : WARP_GOES_ON;
}

static void start_cta(WarpSource *source, uint32_t slot, uint64_t index, uint32_t first_warp,
                      SourceWarp **warps) {
    (void)index;
    ReplaySource *replay = of(source);
    replay->waiting[slot] = replay->alive[slot] = 0;
    for (uint32_t i = 0; i < source->warps; i++) {
        ReplayWarp *warp = &replay->warp[first_warp + i];
        *warp = (ReplayWarp){.at = {.pc = replay->stream->pc, .active = UINT32_MAX},
                             .next = replay->stream,
                             .cta_slot = slot,
                             .bit = 1u << i};
        replay->alive[slot] |= warp->bit;
        warps[i] = &warp->at;
    }
}

static uint32_t waiting(const WarpSource *source, uint32_t slot) {
    return ((const ReplaySource *)(const void *)source)->waiting[slot];
}

static const IsaFault *fault(const WarpSource *source) {
    const IsaFault *fault = &((const ReplaySource *)(const void *)source)->fault;
    return fault->is_set ? fault : NULL;
}

/* The stream has been executed before, so its warps wait only for barriers. */
static WarpPhase phase(WarpSource *source, SourceWarp *warp, uint32_t pc, uint32_t lanes,
                       uint64_t *cycles) {
    (void)source, (void)warp, (void)pc, (void)lanes, (void)cycles;
    return WARP_PHASE_OVER;
}
static bool try_again(WarpSource *source, SourceWarp *warp, uint32_t pc, uint32_t lanes) {
    (void)source, (void)warp, (void)pc, (void)lanes;
    return true;
}
static uint64_t cache_policy(const WarpSource *source, const SourceWarp *warp, uint32_t pc,
                             int lane) {
    (void)source, (void)warp, (void)pc, (void)lane;
    return 0;
}

/* Each step brings the stream closer to its end. */
static uint64_t changes(const WarpSource *source) {
    return ((const ReplaySource *)(const void *)source)->steps;
}
static bool only_polls(const WarpSource *source, const SourceWarp *warp, uint32_t rounds,
                       bool for_ever) {
    (void)source, (void)warp, (void)rounds, (void)for_ever;
    return false;
}
static void prove_polls(WarpSource *source, bool proves) { (void)source, (void)proves; }
static void reset_polls(WarpSource *source, SourceWarp *warp) { (void)source, (void)warp; }

static const WarpSourceType replay_type = {.name = "replay",
                                           .step = step,
                                           .start_cta = start_cta,
                                           .waiting = waiting,
                                           .phase = phase,
                                           .try_again = try_again,
                                           .cache_policy = cache_policy,
                                           .fault = fault,
                                           .changes = changes,
                                           .only_polls = only_polls,
                                           .prove_polls = prove_polls,
                                           .reset_polls = reset_polls};

WarpSource *replay_source_start(ReplaySource *replay, const WarpProgram *program, uint32_t warps,
                                const ReplayStep *stream) {
    memset(replay, 0, sizeof *replay);
    replay->stream = stream;
    replay->source = (WarpSource){.type = &replay_type,
                                  .did = &replay->did,
                                  .program = program,
                                  .warps = warps,
                                  .entry = stream->pc};
    return &replay->source;
}
