/* Issue (see the header). */
#include "sm/issue.h"

void issue_init(SmIssue *issue, const SmContext *sm, SmFetch *fetch, SmCollector *collector) {
    *issue = (SmIssue){.fetch = fetch, .collector = collector};
    for (int c = 0; c < ISA_CLASS_COUNT; c++)
        issue->unit_of[c] = (uint8_t)sm->config->ops[c].unit;
    scoreboard_init(&issue->scoreboard, sm_config_warps(sm->config));
    coalescer_init(&issue->coalescer, sm->config, sm->env.atom_bytes, sm->env.index, sm->env.sms);
}

void issue_free(SmIssue *issue) { scoreboard_free(&issue->scoreboard); }

void issue_start_kernel(SmIssue *issue, const SmContext *sm) {
    for (int s = 0; s < SM_MAX_SCHEDULERS; s++)
        issue->outcome[s] = SM_IDLE_NO_WARP;
    issue->policy_cycle = sm->view.cycle;
    issue->cycles = (SmIssueCycles){0};
    scoreboard_start_kernel(&issue->scoreboard, sm->launch->program);
    coalescer_start_kernel(&issue->coalescer, sm->launch->warps, sm->warps.cta_limit);
}

void issue_start_warp(SmIssue *issue, SmContext *sm, int warp, uint32_t pc) {
    scoreboard_reset(&issue->scoreboard, warp);
    fetch_start_warp(issue->fetch, warp, pc);
    issue_update_head(issue, sm, warp);
}

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

void issue_update_head(SmIssue *issue, SmContext *sm, int warp) {
    const SmBuffer *buffer = &issue->fetch->buffer[warp];
    uint64_t bit = UINT64_C(1) << warp;
    issue->has_news = true;
    sm->view.has_instruction &= ~bit;
    issue->stale &= ~bit;
    issue->clear &= ~bit;
    sm->view.waits_memory &= ~bit;
    sm->view.waits_memory |= sm->warps.held & bit;
    sm->view.wants_load &= ~bit;
    if (!buffer->count || sm->view.exited & bit) return;
    if (buffer->pc != sm->warps.warp[warp].isa->pc) {
        issue->stale |= bit;
        return;
    }
    const IsaInfo *info = &sm->infos[buffer->pc];
    bool waits_memory;
    for (int u = 0; u < SM_UNITS; u++)
        issue->wants[u] &= ~bit;
    issue->wants[issue->unit_of[info->op_class]] |= bit;
    sm->view.has_instruction |= bit;
    if (is_l1d_load(info)) sm->view.wants_load |= bit;
    if (scoreboard_is_clear(&issue->scoreboard, warp, sm->reg_pool, info, &waits_memory))
        issue->clear |= bit;
    if (waits_memory) sm->view.waits_memory |= bit;
}

void issue_release(SmIssue *issue, const SmContext *sm, const SmInst *inst) {
    scoreboard_release(&issue->scoreboard, inst->warp, sm->reg_pool, &sm->infos[inst->pc]);
}

void issue_settle_warp(SmIssue *issue, SmContext *sm, int warp) {
    issue->has_news = true;
    if (warps_settle(&sm->warps, warp, scoreboard_pending(&issue->scoreboard, warp)))
        issue_update_head(issue, sm, warp);
}

void issue_recheck(SmIssue *issue, SmContext *sm, int warp) {
    /* A head that waited for nothing of the kind has gained nothing. */
    uint64_t waiting = sm->view.waits_memory | (sm->view.has_instruction & ~issue->clear);
    if (waiting >> warp & 1) issue_update_head(issue, sm, warp);
}

/* ---- What happens at issue ---- */

static void count_instruction(SmContext *sm, const IsaInfo *info, SmUnit unit, uint32_t lanes) {
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

/* Works out the accesses of a memory instruction that has just executed. */
static const SmMemory *find_accesses(const SmIssue *issue, SmContext *sm, SmInst *inst) {
    const SmWarp *w = &sm->warps.warp[inst->warp];
    const IsaInfo *info = &sm->infos[inst->pc];
    SmMemory *memory = insts_next_memory(&sm->insts);
    coalesce(&issue->coalescer,
             &(SmOperation){.info = info,
                            .address = sm->isa.address,
                            .space = sm->isa.space,
                            .lanes = inst->lanes,
                            .warp = w->isa->index,
                            .cta_slot = w->cta_slot,
                            .is_call_argument = sm->program[inst->pc].space == PTX_SPACE_LOCAL},
             memory);
    if (memory->path == SM_PATH_L1D || memory->path == SM_PATH_BYPASS)
        histogram_add(&sm->histograms, HISTOGRAM_accesses, memory->count);
    insts_attach(&sm->insts, inst);
    inst->holds_warp =
        sm->config->lsu.loads_block && is_long_latency(info) && info->memory != ISA_MEMORY_ATOMIC;
    return memory;
}

/* Puts the executed instruction on its way to a pipeline. */
static void send_to_pipeline(SmIssue *issue, SmContext *sm, int warp, uint32_t pc, SmUnit unit) {
    uint16_t index = insts_new(&sm->insts);
    SmInst *inst = &sm->insts.inst[index];
    *inst = (SmInst){.pc = pc,
                     .lanes = sm->isa.executed,
                     .serial = (uint32_t)sm->view.warp[warp].age,
                     .memory = SM_NONE,
                     .next = SM_NONE,
                     .warp = (uint8_t)warp,
                     .unit = (uint8_t)unit};
    if (sm->infos[pc].flags & ISA_IS_COPY) inst->copy = warps_copy_issued(&sm->warps, warp);
    const SmMemory *memory = unit == SM_UNIT_LDST ? find_accesses(issue, sm, inst) : NULL;
    warps_issued(&sm->warps, inst, memory);
    collector_put(issue->collector, unit, index);
}

/* What the warp's threads have done to it: fences, exits, barriers. */
static void follow_warp(SmIssue *issue, SmContext *sm, int warp, const IsaInfo *info,
                        bool has_exited) {
    if (info->flags & ISA_IS_FENCE)
        warps_fence(&sm->warps, warp, info->flags & ISA_IS_CTA_FENCE,
                    scoreboard_pending(&issue->scoreboard, warp));
    if (info->flags & (ISA_IS_COPY_COMMIT | ISA_IS_COPY_WAIT)) warps_copies(&sm->warps, warp, info);
    if (has_exited) warps_exited(sm, warp);
    if (info->flags & ISA_IS_BARRIER || has_exited) warps_update_barriers(sm, warp);
}

static void issue_warp(SmIssue *issue, SmContext *sm, int scheduler, int warp) {
    IsaWarp *isa = sm->warps.warp[warp].isa;
    uint32_t pc = isa->pc, depth = isa->depth;
    const IsaInfo *info = &sm->infos[pc];
    SmUnit unit = (SmUnit)issue->unit_of[info->op_class];
    isa_dump_if_due(&sm->isa, isa);
    bool has_exited = isa_step(&sm->isa, isa) == ISA_EVENT_EXIT;
    uint32_t lanes = sm->isa.executed;
    if (sm->isa.fault.is_set) return;
    count_instruction(sm, info, unit, lanes);
    sm->counters.divergent_branches += info->flags & ISA_IS_BRANCH && isa->depth > depth;
    scoreboard_reserve(&issue->scoreboard, warp, sm->reg_pool, info, is_long_latency(info));
    send_to_pipeline(issue, sm, warp, pc, unit);
    fetch_took(issue->fetch, warp, pc, isa->pc, has_exited);
    follow_warp(issue, sm, warp, info, has_exited);
    TytoWarpView *view = &sm->view.warp[warp];
    view->instructions++;
    view->thread_instructions += (uint64_t)bits_count32(lanes);
    issue_update_head(issue, sm, warp);
    sched_agent_issued(&sm->policy, &sm->view,
                       &(TytoIssue){.warp = warp,
                                    .scheduler = scheduler,
                                    .lanes = lanes,
                                    .is_load = is_l1d_load(info),
                                    .is_long = is_long_latency(info)});
}

/* ---- One scheduler ---- */

static uint64_t blocked(const SmContext *sm) { return sm->view.at_barrier | sm->warps.held; }

/* Warps whose next instruction could issue if its pipeline takes it. */
static uint64_t ready_warps(const SmIssue *issue, const SmContext *sm) {
    return sm->view.has_instruction & issue->clear & ~blocked(sm);
}

/* Warps whose next instruction finds a place between issue and collector. */
static uint64_t with_free_slot(const SmIssue *issue, const SmContext *sm) {
    const uint32_t *slots_free = issue->collector->slots_free;
    uint64_t warps = 0;
    if (!insts_has_room(&sm->insts)) return 0; /* as many under way as can be */
    for (int u = 0; u < SM_UNITS; u++)
        if (slots_free[u]) warps |= issue->wants[u];
    return warps;
}

bool issue_has_work(const SmIssue *issue, const SmContext *sm) {
    uint64_t ready = ready_warps(issue, sm);
    /* News means that the last outcomes need not stand: an instruction issued, or something
     * changed. */
    return issue->has_news || issue->stale || (ready && ready & with_free_slot(issue, sm));
}

static SmOutcome idle_cause(const SmIssue *issue, const SmContext *sm, uint64_t mine) {
    uint64_t live = context_live(sm) & mine;
    if (!live) return SM_IDLE_NO_WARP;
    if (live & sm->warps.held) return SM_SCOREBOARD_MEMORY;
    if (live & (issue->fetch->redirected | issue->stale)) return SM_IDLE_BRANCH;
    if (live & ~sm->view.at_barrier) return SM_IDLE_FETCH;
    return SM_IDLE_BARRIER;
}

/* Why a scheduler with the warps `mine` issued nothing although the policy was asked about
 * `allowed`. */
static SmOutcome stall_cause(const SmIssue *issue, const SmContext *sm, uint64_t mine,
                             uint64_t allowed) {
    uint64_t valid = sm->view.has_instruction & ~blocked(sm) & mine;
    if (!valid) return idle_cause(issue, sm, mine);
    uint64_t ready = valid & issue->clear;
    if (!ready) return valid & ~sm->view.waits_memory ? SM_SCOREBOARD_OTHER : SM_SCOREBOARD_MEMORY;
    if (ready & with_free_slot(issue, sm) || !(ready & allowed)) return SM_THROTTLED;
    return ready & ~issue->wants[SM_UNIT_LDST] ? SM_PIPELINE_OTHER : SM_PIPELINE_LSU;
}

/* Asks the policy until it names a warp that can issue. Naming one whose buffer is stale flushes
 * the buffer, as a walk over the warps in the policy's order would. */
static int pick_warp(SmIssue *issue, SmContext *sm, int scheduler, uint64_t ready) {
    IsaFault *fault = &sm->isa.fault;
    uint64_t candidates = ready;
    if (issue->stale)
        candidates |= issue->stale & sm->view.scheduler_warps[scheduler] & ~blocked(sm);
    while (candidates) {
        int warp = sched_agent_pick(&sm->policy, &sm->view, scheduler, candidates);
        if (warp == TYTO_NO_WARP) return TYTO_NO_WARP;
        if (!sched_check_pick(sm->env.policy, &sm->view, warp, candidates, fault->text,
                              sizeof fault->text)) {
            fault->is_set = true;
            fault->code = ISA_FAULT_POLICY;
            return TYTO_NO_WARP;
        }
        uint64_t bit = UINT64_C(1) << warp;
        if (!(issue->stale & bit)) return warp;
        fetch_flush(issue->fetch, warp, sm->warps.warp[warp].isa->pc);
        issue_update_head(issue, sm, warp);
        candidates &= ~bit;
    }
    return TYTO_NO_WARP;
}

static void run_scheduler(SmIssue *issue, SmContext *sm, int scheduler, uint64_t allowed) {
    uint64_t mine = sm->view.scheduler_warps[scheduler];
    uint64_t ready = ready_warps(issue, sm) & mine & allowed;
    if (ready) ready &= with_free_slot(issue, sm);
    int warp = pick_warp(issue, sm, scheduler, ready);
    if (warp == TYTO_NO_WARP) {
        issue->outcome[scheduler] = (uint8_t)stall_cause(issue, sm, mine, allowed);
        return;
    }
    uint64_t bit = UINT64_C(1) << warp;
    uint32_t left = sm->config->scheduler.issue_width;
    do
        issue_warp(issue, sm, scheduler, warp);
    while (--left && !sm->isa.fault.is_set &&
           ready_warps(issue, sm) & with_free_slot(issue, sm) & bit);
    issue->outcome[scheduler] = SM_ISSUED;
}

/* The warps that the policy lets issue in this cycle. */
static uint64_t allowed_warps(SmContext *sm) {
    uint64_t allowed = sched_agent_may_issue(&sm->policy, &sm->view);
    return allowed & (~sm->view.wants_load | sched_agent_may_load(&sm->policy, &sm->view));
}

void issue_step(SmIssue *issue, SmContext *sm) {
    const SmSchedulerConfig *config = &sm->config->scheduler;
    if (sm->cycle > issue->policy_cycle)
        sched_agent_elapsed(&sm->policy, &sm->view, sm->cycle - issue->policy_cycle);
    issue->policy_cycle = sm->cycle;
    if (config->issue_interval > 1 && sm->cycle % config->issue_interval)
        return; /* the last outcomes stand */
    /* Nothing could issue the last time, and nothing has changed: the outcomes stand. */
    if (!issue->has_news && !issue->stale && !ready_warps(issue, sm)) return;
    issue->has_news = false;
    uint64_t allowed = sm->view.resident ? allowed_warps(sm) : 0;
    uint32_t scheduler = config->alternates ? (uint32_t)(sm->cycle % config->count) : 0;
    for (uint32_t i = 0; i < config->count && !sm->isa.fault.is_set; i++) {
        run_scheduler(issue, sm, (int)scheduler, allowed);
        scheduler = scheduler + 1 < config->count ? scheduler + 1 : 0;
    }
}

/* ---- Accounting ---- */

/* Warps whose next load or store finds the unit full because the L1D can take no more for want of
 * an MSHR, a way or a place in the miss queue: they wait for other warps' data. */
static uint64_t wait_behind_misses(const SmIssue *issue, const SmContext *sm, bool l1d_refuses) {
    if (!l1d_refuses || issue->collector->slots_free[SM_UNIT_LDST]) return 0;
    return sm->view.has_instruction & issue->clear & issue->wants[SM_UNIT_LDST];
}

static bool is_blocked_on_memory(const SmIssue *issue, const SmContext *sm, bool l1d_refuses) {
    uint64_t live = context_live(sm);
    return live && !(live & ~(sm->view.waits_memory | sm->warps.held |
                              wait_behind_misses(issue, sm, l1d_refuses)));
}

void issue_count_cycles(SmIssue *issue, const SmContext *sm, uint64_t cycles, bool l1d_refuses) {
    SmIssueCycles *c = &issue->cycles;
    bool has_issued = false;
    for (uint32_t s = 0; s < sm->view.schedulers; s++) {
        c->outcome[issue->outcome[s]] += cycles;
        has_issued |= issue->outcome[s] == SM_ISSUED;
    }
    if (has_issued) return; /* what the SM has turned into since shows in the cycles to come */
    c->no_issue += cycles;
    if (!sm->view.resident) c->no_warp += cycles;
    else if (is_blocked_on_memory(issue, sm, l1d_refuses)) c->memory_block += cycles;
}

void issue_settle(SmIssue *issue, Counters *c) {
    const SmIssueCycles *cycles = &issue->cycles;
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
    issue->cycles = (SmIssueCycles){0};
}
