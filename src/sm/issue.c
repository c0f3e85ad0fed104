/* Issue: each scheduler asks the policy for one of its warps whose next instruction can go,
 * executes that instruction functionally and sends it to the operand collector. What can go is kept
 * in words of bits, one per warp slot, updated when an instruction or a register changes. */
#include <string.h>

#include "sm/sm_internal.h"

/* Whether a load goes through the L1D, and so counts as one that policies may hold back. */
static bool is_l1d_load(const IsaInfo *info) {
    return info->memory == ISA_MEMORY_LOAD &&
           (info->space == PTX_SPACE_GLOBAL || info->space == PTX_SPACE_LOCAL ||
            info->space == PTX_SPACE_NONE);
}

/* Whether the result comes from memory beyond the SM's own shared and constant memory. */
static bool is_long_latency(const IsaInfo *info) {
    return is_l1d_load(info) || info->memory == ISA_MEMORY_ATOMIC ||
           info->memory == ISA_MEMORY_TEXTURE;
}

void issue_update_head(Sm *sm, int warp) {
    SmWarp *w = &sm->warps[warp];
    uint64_t bit = UINT64_C(1) << warp;
    sm->has_news = true;
    sm->view.has_instruction &= ~bit;
    sm->stale &= ~bit;
    sm->clear &= ~bit;
    sm->view.waits_memory &= ~bit;
    sm->view.waits_memory |= sm_held(sm) & bit;
    sm->view.wants_load &= ~bit;
    if (!w->buffered || sm->view.exited & bit) return;
    if (w->buffer_pc != w->isa->pc) {
        sm->stale |= bit;
        return;
    }
    const IsaInfo *info = &sm->infos[w->buffer_pc];
    SmUnit unit = sm->unit_of[info->op_class];
    bool waits_memory;
    for (int u = 0; u < SM_UNITS; u++)
        sm->wants[u] &= ~bit;
    sm->wants[unit] |= bit;
    sm->view.has_instruction |= bit;
    if (is_l1d_load(info)) sm->view.wants_load |= bit;
    if (scoreboard_is_clear(sm, warp, info, &waits_memory)) sm->clear |= bit;
    if (waits_memory) sm->view.waits_memory |= bit;
}

/* ---- What happens at issue ---- */

static void count_instruction(Sm *sm, const IsaInfo *info, SmUnit unit, uint32_t lanes) {
    Counters *c = &sm->counters;
    histogram_add(&sm->histograms, HISTOGRAM_active_lanes, (uint64_t)bits_count32(lanes));
    c->warp_instructions++;
    c->thread_instructions += (uint64_t)bits_count32(lanes);
    switch (unit) {
    case SM_UNIT_SP: c->sp_instructions++; break;
    case SM_UNIT_SFU: c->sfu_instructions++; break;
    case SM_UNIT_DP: c->dp_instructions++; break;
    default: c->ldst_instructions++; break;
    }
    c->load_instructions += info->memory == ISA_MEMORY_LOAD || info->memory == ISA_MEMORY_TEXTURE;
    c->store_instructions += info->memory == ISA_MEMORY_STORE;
    c->atomic_instructions += info->memory == ISA_MEMORY_ATOMIC;
    c->branches += (info->flags & ISA_IS_BRANCH) != 0;
    c->barriers += (info->flags & ISA_IS_BARRIER) != 0;
}

/* Brings view.at_barrier of a CTA's warps in line with the barrier state after one of them arrived
 * or exited. */
static void update_barriers(Sm *sm, const SmCta *cta, uint32_t slot) {
    uint64_t all = sm->view.cta[slot].all;
    uint64_t before = sm->view.at_barrier & all;
    uint64_t now = (uint64_t)cta->isa.waiting << cta->first_warp;
    uint64_t arrived = now & ~before, released = before & ~now;
    sm->view.at_barrier = (sm->view.at_barrier & ~all) | now;
    TytoEvent event = {.warp = TYTO_NO_WARP, .owner = TYTO_NO_WARP, .cta_slot = (int)slot};
    for (; arrived; arrived &= arrived - 1) {
        event.kind = TYTO_EVENT_WARP_AT_BARRIER;
        event.warp = bits_lowest64(arrived);
        event.warps = UINT64_C(1) << event.warp;
        sm_notify(sm, &event);
    }
    if (!released) return;
    event.kind = TYTO_EVENT_BARRIER_RELEASED;
    event.warp = TYTO_NO_WARP;
    event.warps = released;
    sm_notify(sm, &event);
}

/* A memory fence holds its warp until its loads are in and, beyond the CTA, its stores
 * acknowledged. */
static void start_fence(Sm *sm, int warp, const IsaInfo *info) {
    SmWarp *w = &sm->warps[warp];
    w->is_fence_for_stores = !(info->flags & ISA_IS_CTA_FENCE);
    if (w->pending_count || (w->is_fence_for_stores && w->stores))
        sm->fenced |= UINT64_C(1) << warp;
}

static SmMemory *memory_new(Sm *sm, SmInst *inst) {
    assert(sm->free_memory != SM_NONE);
    SmMemory *memory = &sm->memory_insts[sm->free_memory];
    inst->memory = sm->free_memory;
    sm->free_memory = memory->next;
    return memory;
}

/* Puts the executed instruction on its way to a pipeline. */
static void send_to_pipeline(Sm *sm, int warp, uint32_t pc, const IsaInfo *info, SmUnit unit) {
    uint16_t index = sm_inst_new(sm);
    SmInst *inst = &sm->insts_in_flight[index];
    *inst = (SmInst){.pc = pc,
                     .lanes = sm->context.executed,
                     .memory = SM_NONE,
                     .next = SM_NONE,
                     .warp = (uint8_t)warp,
                     .unit = (uint8_t)unit};
    if (unit == SM_UNIT_LDST) {
        SmMemory *memory = memory_new(sm, inst);
        coalesce(sm, inst, info, memory);
        if (memory->path == SM_PATH_L1D || memory->path == SM_PATH_BYPASS)
            histogram_add(&sm->histograms, HISTOGRAM_accesses, memory->count);
        inst->remaining = memory->is_store ? 0 : memory->count;
        bool leaves_sm = memory->path == SM_PATH_L1D || memory->path == SM_PATH_BYPASS;
        if (memory->is_store && leaves_sm) sm->warps[warp].stores += memory->count;
        if (memory->is_atomic) {
            sm->warps[warp].atomics += memory->count;
            if (memory->count) sm->atomic_waits |= UINT64_C(1) << warp;
        }
        inst->holds_warp = sm->config->lsu.loads_block && is_long_latency(info) &&
                           info->memory != ISA_MEMORY_ATOMIC;
        if (inst->holds_warp) sm->load_waits |= UINT64_C(1) << warp;
    }
    sm->warps[warp].in_flight++;
    sm->drained &= ~(UINT64_C(1) << warp);
    sm->slots_free[unit]--;
    sm->before_pipelines++;
    sm_queue_push(&sm->issue_queue[unit], index);
}

static void issue_warp(Sm *sm, int scheduler, int warp) {
    SmWarp *w = &sm->warps[warp];
    uint64_t bit = UINT64_C(1) << warp;
    uint32_t pc = w->isa->pc, depth = w->isa->depth;
    const IsaInfo *info = &sm->infos[pc];
    SmUnit unit = sm->unit_of[info->op_class];
    isa_dump_if_due(&sm->context, w->isa);
    IsaEvent event = isa_step(&sm->context, w->isa);
    uint32_t lanes = sm->context.executed;
    if (sm->context.fault.is_set) return;
    count_instruction(sm, info, unit, lanes);
    sm->counters.divergent_branches += info->flags & ISA_IS_BRANCH && w->isa->depth > depth;
    scoreboard_reserve(sm, warp, info, is_long_latency(info));
    send_to_pipeline(sm, warp, pc, info, unit);
    w->buffer_pc = pc + 1;
    w->buffered--;
    if (!w->buffered || !sm->config->fetch.waits_for_empty) sm->empty |= bit;
    if (!w->buffered && w->isa->pc != pc + 1 && event != ISA_EVENT_EXIT) sm->redirected |= bit;
    if (info->flags & ISA_IS_FENCE) start_fence(sm, warp, info);
    if (event == ISA_EVENT_EXIT) {
        sm->view.exited |= bit;
        w->buffered = 0;
    }
    if (info->flags & ISA_IS_BARRIER || event == ISA_EVENT_EXIT)
        update_barriers(sm, &sm->ctas[w->cta_slot], w->cta_slot);
    TytoWarpView *view = &sm->view.warp[warp];
    view->instructions++;
    view->thread_instructions += (uint64_t)bits_count32(lanes);
    issue_update_head(sm, warp);
    sched_agent_issued(&sm->policy, &sm->view,
                       &(TytoIssue){.warp = warp,
                                    .scheduler = scheduler,
                                    .lanes = lanes,
                                    .is_load = is_l1d_load(info),
                                    .is_long = is_long_latency(info)});
}

/* ---- One scheduler ---- */

static uint64_t blocked(const Sm *sm) { return sm->view.at_barrier | sm_held(sm); }

/* Warps whose next instruction could issue if its pipeline takes it. */
static uint64_t ready_warps(const Sm *sm) {
    return sm->view.has_instruction & sm->clear & ~blocked(sm);
}

/* Warps whose next instruction finds a place between issue and collector. */
static uint64_t with_free_slot(const Sm *sm) {
    uint64_t warps = 0;
    if (sm->free_inst == SM_NONE) return 0; /* as many under way as can be */
    for (int u = 0; u < SM_UNITS; u++)
        if (sm->slots_free[u]) warps |= sm->wants[u];
    return warps;
}

bool issue_has_work(const Sm *sm) {
    uint64_t ready = ready_warps(sm);
    /* News means that the last outcomes need not stand: an instruction issued, or something
     * changed. */
    return sm->has_news || sm->stale || (ready && ready & with_free_slot(sm));
}

static SmOutcome idle_cause(const Sm *sm, uint64_t mine) {
    uint64_t live = sm->view.resident & ~sm->view.exited & mine;
    if (!live) return SM_IDLE_NO_WARP;
    if (live & sm_held(sm)) return SM_SCOREBOARD_MEMORY;
    if (live & (sm->redirected | sm->stale)) return SM_IDLE_BRANCH;
    if (live & ~sm->view.at_barrier) return SM_IDLE_FETCH;
    return SM_IDLE_BARRIER;
}

/* Why a scheduler with the warps `mine` issued nothing although the policy was asked about
 * `allowed`. */
static SmOutcome stall_cause(const Sm *sm, uint64_t mine, uint64_t allowed) {
    uint64_t valid = sm->view.has_instruction & ~blocked(sm) & mine;
    if (!valid) return idle_cause(sm, mine);
    uint64_t ready = valid & sm->clear;
    if (!ready) return valid & ~sm->view.waits_memory ? SM_SCOREBOARD_OTHER : SM_SCOREBOARD_MEMORY;
    if (ready & with_free_slot(sm) || !(ready & allowed)) return SM_THROTTLED;
    return ready & ~sm->wants[SM_UNIT_LDST] ? SM_PIPELINE_OTHER : SM_PIPELINE_LSU;
}

/* Asks the policy until it names a warp that can issue. Naming one whose buffer is stale flushes
 * the buffer, as a walk over the warps in the policy's order would. */
static int pick_warp(Sm *sm, int scheduler, uint64_t ready) {
    uint64_t candidates = ready | (sm->stale & sm->scheduler_warps[scheduler] & ~blocked(sm));
    while (candidates) {
        int warp = sched_agent_pick(&sm->policy, &sm->view, scheduler, candidates);
        if (warp == TYTO_NO_WARP) return TYTO_NO_WARP;
        if (!sched_check_pick(sm->env.policy, &sm->view, warp, candidates, sm->context.fault.text,
                              sizeof sm->context.fault.text)) {
            sm->context.fault.is_set = true;
            sm->context.fault.code = ISA_FAULT_POLICY;
            return TYTO_NO_WARP;
        }
        uint64_t bit = UINT64_C(1) << warp;
        if (!(sm->stale & bit)) return warp;
        fetch_flush(sm, warp);
        issue_update_head(sm, warp);
        candidates &= ~bit;
    }
    return TYTO_NO_WARP;
}

static void run_scheduler(Sm *sm, int scheduler, uint64_t allowed) {
    uint64_t mine = sm->scheduler_warps[scheduler];
    uint64_t ready = ready_warps(sm) & mine & allowed;
    if (ready) ready &= with_free_slot(sm);
    int warp = pick_warp(sm, scheduler, ready);
    if (warp == TYTO_NO_WARP) {
        sm->outcome[scheduler] = (uint8_t)stall_cause(sm, mine, allowed);
        return;
    }
    uint64_t bit = UINT64_C(1) << warp;
    uint32_t left = sm->config->scheduler.issue_width;
    do
        issue_warp(sm, scheduler, warp);
    while (--left && !sm->context.fault.is_set && ready_warps(sm) & with_free_slot(sm) & bit);
    sm->outcome[scheduler] = SM_ISSUED;
}

/* The warps that the policy lets issue in this cycle. */
static uint64_t allowed_warps(Sm *sm) {
    uint64_t allowed = sched_agent_may_issue(&sm->policy, &sm->view);
    return allowed & (~sm->view.wants_load | sched_agent_may_load(&sm->policy, &sm->view));
}

void issue_step(Sm *sm) {
    const SmSchedulerConfig *config = &sm->config->scheduler;
    if (sm->cycle > sm->policy_cycle)
        sched_agent_elapsed(&sm->policy, &sm->view, sm->cycle - sm->policy_cycle);
    sm->policy_cycle = sm->cycle;
    if (config->issue_interval > 1 && sm->cycle % config->issue_interval)
        return; /* the last outcomes stand */
    /* Nothing could issue the last time, and nothing has changed: the outcomes stand. */
    if (!sm->has_news && !sm->stale && !ready_warps(sm)) return;
    sm->has_news = false;
    uint64_t allowed = sm->view.resident ? allowed_warps(sm) : 0;
    uint32_t scheduler = config->alternates ? (uint32_t)(sm->cycle % config->count) : 0;
    for (uint32_t i = 0; i < config->count && !sm->context.fault.is_set; i++) {
        run_scheduler(sm, (int)scheduler, allowed);
        scheduler = scheduler + 1 < config->count ? scheduler + 1 : 0;
    }
}

/* ---- Accounting ---- */

/* Warps whose next load or store finds the unit full because the L1D can take no more for want of
 * an MSHR, a way or a place in the miss queue: they wait for other warps' data. */
static uint64_t wait_behind_misses(const Sm *sm) {
    if (!sm->refusal || sm->slots_free[SM_UNIT_LDST]) return 0;
    return sm->view.has_instruction & sm->clear & sm->wants[SM_UNIT_LDST];
}

static bool is_blocked_on_memory(const Sm *sm) {
    uint64_t live = sm->view.resident & ~sm->view.exited;
    return live && !(live & ~(sm->view.waits_memory | sm_held(sm) | wait_behind_misses(sm)));
}

void issue_count_cycles(Sm *sm, uint64_t cycles) {
    SmCycles *c = &sm->cycles;
    bool has_issued = false;
    for (uint32_t s = 0; s < sm->view.schedulers; s++) {
        c->outcome[sm->outcome[s]] += cycles;
        has_issued |= sm->outcome[s] == SM_ISSUED;
    }
    if (has_issued) return; /* what the SM has turned into since shows in the cycles to come */
    c->no_issue += cycles;
    if (!sm->view.resident) c->no_warp += cycles;
    else if (is_blocked_on_memory(sm)) c->memory_block += cycles;
}

void issue_report_cycles(const SmCycles *cycles, Counters *c) {
    uint64_t *const counter_of[SM_OUTCOMES] = {
        [SM_ISSUED] = &c->issued,
        [SM_IDLE_NO_WARP] = &c->idle_no_warp,
        [SM_IDLE_BARRIER] = &c->idle_barrier,
        [SM_IDLE_BRANCH] = &c->idle_branch,
        [SM_IDLE_FETCH] = &c->idle_fetch,
        [SM_SCOREBOARD_MEMORY] = &c->scoreboard_memory,
        [SM_SCOREBOARD_OTHER] = &c->scoreboard_other,
        [SM_PIPELINE_LSU] = &c->pipeline_lsu,
        [SM_PIPELINE_OTHER] = &c->pipeline_other,
        [SM_THROTTLED] = &c->throttled,
    };
    for (int outcome = 0; outcome < SM_OUTCOMES; outcome++) {
        *counter_of[outcome] += cycles->outcome[outcome];
        c->scheduler_cycles += cycles->outcome[outcome];
    }
    c->no_issue_cycles += cycles->no_issue;
    c->NoWarpCycles += cycles->no_warp;
    c->MemoryBlockCycles += cycles->memory_block;
}
