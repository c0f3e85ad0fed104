/* Issue (see the header). */
#include "sm/classic/issue.h"

#include <string.h>

#include "sm/pick.h"

/* Functions on the path of every instruction are inlined into one, even if other code also calls
 * parts of them: a call costs a tenth of the work of such a part. */
#define ALWAYS SM_ALWAYS
/* Rare cases are separate functions, so that the frequent ones have more host registers. */
#define RARE __attribute__((noinline)) static

void issue_init(SmIssue *issue, const SmContext *sm, SmFetch *fetch,
                const SmCollectors *collectors) {
    *issue = (SmIssue){.fetch = fetch,
                       .collectors = *collectors,
                       .schedulers = sm->config->scheduler.count,
                       .issues_own = sm->config->instructions != SM_INSTRUCTIONS_PTX};
    for (int s = 0; s < SM_MAX_SCHEDULERS; s++)
        issue->collector[s] = collectors_of(collectors, s);
    scoreboard_init(&issue->scoreboard, sm_config_warps(sm->config));
    execute_init(&issue->execute, sm);
}

void issue_free(SmIssue *issue) { scoreboard_free(&issue->scoreboard); }

/* Whether the machine and the kernels use none of the rare features. */
static bool is_plain(const SmIssue *issue, const SmContext *sm) {
    return !sm->env.never_sleeps && !issue->issues_own && sm->config->scheduler.issue_width == 1 &&
           !sm->config->collector.reuses && !issue->execute.sees_registered &&
           !issue->execute.has_window && !sm->profile && issue->scoreboard.is_exact &&
           !sm->has_several;
}

void issue_start_kernel(SmIssue *issue, const SmContext *sm) {
    issue->looks = sched_agent_looks(&sm->policy);
    for (int s = 0; s < SM_MAX_SCHEDULERS; s++) {
        issue->outcome[s] = SM_IDLE_NO_WARP;
        issue->seen[s] = SM_SEEN_IDLE;
    }
    issue->has_issued = issue->knows_going = issue->knows_behind = false;
    issue->steps_always = issue->looks || sched_agent_always_steps(&sm->policy);
    issue->repeats = 0;
    execute_start(&issue->execute);
    issue->sums = (SmIssueSums){0};
    memset(issue->wants, 0, sizeof issue->wants);
    scoreboard_start_kernel(&issue->scoreboard);
    issue->may_load = UINT64_MAX;
}

void issue_begin_grid(SmIssue *issue, const SmContext *sm, SmGrid *grid) {
    execute_begin_grid(&issue->execute, sm, grid);
    scoreboard_begin_grid(&issue->scoreboard, grid->source->program->registers);
    issue->is_plain = is_plain(issue, sm);
}

void issue_end_grid(SmIssue *issue, const SmContext *sm) { issue->is_plain = is_plain(issue, sm); }

void issue_start_warp(SmIssue *issue, SmContext *sm, int warp, uint32_t pc) {
    uint64_t bit = UINT64_C(1) << warp;
    issue->slots.owing &= ~bit;
    issue->slots.excused &= ~bit;
    issue->slots.waiting &= ~bit;
    issue->slots.passing[warp].count = 0;
    scoreboard_reset(&issue->scoreboard, warp, sm->warps.warp[warp].grid->regs);
    fetch_start_warp(issue->fetch, warp, sm->warps.warp[warp].grid->code, pc);
    issue_update_head(issue, sm, warp);
}

/* Whether the instruction takes no issue slot, on a machine that issues its own instructions. */
static bool is_free(const SmIssue *issue, const SmOp *op, uint64_t bit) {
    if (!issue->issues_own) return false;
    return !op->slots.slots || (op->flags & ISA_IS_EXIT && issue->slots.excused & bit);
}

ALWAYS bool is_clear(const SmIssue *issue, int warp, const SmOp *op, bool *waits_memory,
                     bool plain) {
    return plain ? scoreboard_looks_clear(&issue->scoreboard, warp, op, waits_memory)
                 : scoreboard_is_clear(&issue->scoreboard, warp, op, waits_memory);
}

/* Sets the warp's next instruction in the sets of bits; they must hold none for it yet. */
ALWAYS void raise_head(SmIssue *issue, SmContext *sm, int warp, const SmOp *op, bool plain) {
    const uint64_t bit = UINT64_C(1) << warp;
    bool waits_memory, can_go = is_clear(issue, warp, op, &waits_memory, plain);
    issue->head[warp] = op;
    issue->wants[op->unit] |= bit;
    issue->clear |= bits_if(can_go, warp);
    sm->view.has_instruction |= bit;
    sm->view.waits_memory |= bits_if(waits_memory, warp);
    sm->view.wants_load |= bits_if(op->traits & SM_OP_L1D_LOAD, warp);
    if (!plain) issue->slots.free |= bits_if(is_free(issue, op, bit), warp);
}

/* Shows in the view what holds the warp of this bit. */
ALWAYS void show_held(SmContext *sm, uint64_t bit) {
    const SmWarps *warps = &sm->warps;
    sm->view.waits_memory |= warps_memory_waits(warps) & bit;
    sm->view.at_mbarrier = (sm->view.at_mbarrier & ~bit) | (warps->phase_waits & bit);
    sm->view.waits_other = (sm->view.waits_other & ~bit) | (warps_other_waits(warps) & bit);
}

/* Removes the warp's next instruction from the sets of bits. */
ALWAYS void drop_head(SmIssue *issue, SmContext *sm, int warp, const SmOp *op, bool plain) {
    const uint64_t bit = UINT64_C(1) << warp;
    issue->wants[op->unit] &= ~bit;
    issue->clear &= ~bit;
    sm->view.has_instruction &= ~bit;
    sm->view.waits_memory &= ~bit;
    show_held(sm, bit);
    sm->view.wants_load &= ~bit;
    if (!plain) issue->slots.free &= ~bit;
}

/* Replaces the warp's next instruction in all sets of bits at once. */
ALWAYS void replace_head(SmIssue *issue, SmContext *sm, int warp, const SmOp *last, const SmOp *op,
                         bool plain) {
    const uint64_t bit = UINT64_C(1) << warp;
    bool waits_memory, can_go = is_clear(issue, warp, op, &waits_memory, plain);
    issue->head[warp] = op;
    issue->wants[last->unit] &= ~bit;
    issue->wants[op->unit] |= bit;
    issue->clear &= ~bits_if(!can_go, warp);
    sm->view.waits_memory |= bits_if(waits_memory, warp);
    show_held(sm, bit);
    sm->view.wants_load = (sm->view.wants_load & ~bit) | bits_if(op->traits & SM_OP_L1D_LOAD, warp);
    if (!plain)
        issue->slots.free = (issue->slots.free & ~bit) | bits_if(is_free(issue, op, bit), warp);
}

/* Advances from the warp's instruction at `pc`, which has issued, to the one at `next`. */
ALWAYS void change_head(SmIssue *issue, SmContext *sm, int warp, const SmOp *last, uint32_t pc,
                        uint32_t next, bool has_exited, bool plain) {
    bool has_more = fetch_took(issue->fetch, warp, pc, next, has_exited);
    issue->has_news = true;
    if (has_more && next == pc + 1) {
        replace_head(issue, sm, warp, last, last + 1, plain);
        return;
    }
    issue->stale |= bits_if(has_more, warp);
    drop_head(issue, sm, warp, last, plain);
}

/* Checks whether the first instruction in the warp's buffer is its next one; the buffer must not be
 * empty. */
ALWAYS void find_head(SmIssue *issue, SmContext *sm, int warp, bool plain) {
    const SmWarp *w = &sm->warps.warp[warp];
    const uint32_t pc = w->handle->pc;
    issue->has_news = true;
    if (issue->fetch->buffer[warp].pc == pc) raise_head(issue, sm, warp, &w->grid->ops[pc], plain);
    else issue->stale |= UINT64_C(1) << warp;
}

__attribute__((noinline)) void issue_update_head(SmIssue *issue, SmContext *sm, int warp) {
    const uint64_t bit = UINT64_C(1) << warp;
    issue->has_news = true;
    issue->stale &= ~bit;
    if (sm->view.has_instruction & bit) drop_head(issue, sm, warp, issue->head[warp], false);
    sm->view.waits_memory &= ~bit;
    show_held(sm, bit);
    if (issue->fetch->buffer[warp].count) find_head(issue, sm, warp, false);
}

/* Releases results of slot-free instructions whose sources have arrived. The oldest come first;
 * they do not depend on later ones (can_follow). */
RARE void release_passing(SmIssue *issue, const SmContext *sm, int warp) {
    SmPassing *passing = &issue->slots.passing[warp];
    uint32_t left = 0;
    for (uint32_t i = 0; i < passing->count; i++) {
        const SmOp *op = &sm->warps.warp[warp].grid->ops[passing->pc[i]];
        if (scoreboard_has_sources(&issue->scoreboard, warp, op)) {
            scoreboard_release(&issue->scoreboard, warp, op);
            continue;
        }
        scoreboard_inherit(&issue->scoreboard, warp, op); /* a memory source may have arrived */
        passing->pc[left++] = passing->pc[i];
    }
    passing->count = left;
    if (!left) issue->slots.waiting &= ~(UINT64_C(1) << warp);
}

/* Updates a warp that has exited or is held, and now has less in flight. */
RARE void settle(SmIssue *issue, SmContext *sm, int warp) {
    if (warps_settle(&sm->warps, warp, scoreboard_has_pending(&issue->scoreboard, warp)))
        issue_update_head(issue, sm, warp);
}

/* Warps that need settle(). For other warps nothing depends on what is in flight. */
static inline uint64_t unsettled(const SmContext *sm) { return sm->warps.held | sm->view.exited; }

/* Checks the warp's next instruction again after registers of the warp have become free. */
ALWAYS void recheck(SmIssue *issue, SmContext *sm, int warp, bool plain) {
    bool waits_memory, can_go = is_clear(issue, warp, issue->head[warp], &waits_memory, plain);
    issue->has_news = true;
    issue->clear |= bits_if(can_go, warp);
    sm->view.waits_memory &= ~bits_if(!waits_memory, warp) | warps_memory_waits(&sm->warps);
}

/* Completes an instruction: its results are written, or it has none. */
ALWAYS void complete(SmIssue *issue, SmContext *sm, uint16_t index, bool plain) {
    const SmInst *inst = &sm->insts.inst[index];
    const SmOp *op = context_op(sm, inst);
    const int warp = inst->warp;
    if (!plain && context_is_profiled(sm)) sm_profile_done(sm->profile, inst, index, sm->cycle);
    if (plain) scoreboard_release_words(&issue->scoreboard, warp, op);
    else scoreboard_release(&issue->scoreboard, warp, op);
    if (!plain && issue->slots.waiting >> warp & 1) release_passing(issue, sm, warp);
    const bool has_held = warps_inst_done(&sm->warps, inst);
    if (!insts_has_room(&sm->insts)) issue_wake(issue); /* this frees a place */
    insts_free(&sm->insts, index);
    if (has_held) issue_update_head(issue, sm, warp);
    if (unsettled(sm) >> warp & 1) settle(issue, sm, warp);
    if ((sm->view.has_instruction & ~issue->clear) >> warp & 1) recheck(issue, sm, warp, plain);
}

ALWAYS void hear(SmIssue *issue, SmContext *sm, bool plain) {
    SmEvents *events = &sm->events;
    const SmEvent *end = events->items + events->count;
    events->count = 0;
    for (const SmEvent *event = events->items; event != end; event++) {
        const uint16_t index = event->index;
        if (event->kind == SM_EVENT_INST_DONE) {
            complete(issue, sm, index, plain);
            continue;
        }
        if (event->kind == SM_EVENT_STORE_DONE) warps_store_done(&sm->warps, index);
        else if (event->kind == SM_EVENT_WAIT_DONE) warps_wait_done(&sm->warps, index);
        else warps_atomic_done(&sm->warps, index);
        if (unsettled(sm) >> index & 1) settle(issue, sm, index);
    }
}

/* The same for machines and kernels that use rare features. */
RARE void hear_all(SmIssue *issue, SmContext *sm) { hear(issue, sm, false); }

void issue_hear(SmIssue *issue, SmContext *sm) {
    if (issue->is_plain) hear(issue, sm, true);
    else hear_all(issue, sm);
}

/* Handles warps that were fetched for. Some already had a next instruction; those fetched in
 * advance. */
ALWAYS void hear_fetched(SmIssue *issue, SmContext *sm, bool plain) {
    uint64_t fetched = sm->events.fetched & ~sm->view.has_instruction;
    sm->events.fetched = 0;
    for (; fetched; fetched &= fetched - 1)
        find_head(issue, sm, bits_lowest64(fetched), plain);
}

RARE void hear_all_fetched(SmIssue *issue, SmContext *sm) { hear_fetched(issue, sm, false); }

void issue_hear_fetched(SmIssue *issue, SmContext *sm) {
    if (issue->is_plain) hear_fetched(issue, sm, true);
    else hear_all_fetched(issue, sm);
}

/* ---- What happens at issue ---- */

/* Whether it is a load without a slot of its own that still accesses memory, together with another
 * load. */
static bool is_joined(const SmOp *op) {
    return op->unit == SM_UNIT_LDST && !op->slots.slots && op->slots.chain;
}

/* Records an instruction that has just issued in the profile, and marks its accesses with its
 * pc. */
RARE void profile_issue(SmContext *sm, uint16_t index) {
    const SmInst *inst = &sm->insts.inst[index];
    sm->profile->issue_cycle[index] = sm->cycle;
    if (is_joined(context_op(sm, inst)))
        sm_profile_passed(sm->profile, inst->pc, inst->lanes, sm->counters.divergent_branches);
    else sm_profile_issued(sm->profile, inst, sm->counters.divergent_branches);
    if (inst->memory != SM_NONE) sm_profile_accesses(insts_memory_of(&sm->insts, index), inst->pc);
}

/* The kind of pipeline that an instruction goes to; it must have a place before the collector. */
ALWAYS SmUnit unit_of(SmIssue *issue, const SmCollector *collector, const SmOp *op) {
    if (op->unit != SM_UNIT_SP_OR_SFU) return (SmUnit)op->unit;
    if (collector->slots_free[SM_UNIT_SP]) return SM_UNIT_SP;
    issue->sums.to_sfu++;
    return SM_UNIT_SFU;
}

/* Sends the executed instruction to the collector. */
ALWAYS SmInst *send_to_pipeline(SmIssue *issue, SmContext *sm, int scheduler, int warp, uint32_t pc,
                                uint32_t lanes, const SmOp *op, bool plain) {
    uint16_t index = insts_new(&sm->insts);
    SmInst *inst = &sm->insts.inst[index];
    SmCollector *collector = issue->collector[scheduler];
    const SmUnit unit = unit_of(issue, collector, op);
    *inst = (SmInst){.reads = collector_banks_of(collector, op->reads, warp),
                     .writes = collector_banks_of(collector, op->writes, warp),
                     .pc = pc,
                     .lanes = lanes,
                     .serial = (uint32_t)sm->view.warp[warp].age,
                     .order = (uint32_t)sm->counters.warp_instructions,
                     .read_count = op->read_count,
                     .memory = SM_NONE,
                     .next = SM_NONE,
                     .warp = (uint8_t)warp,
                     .unit = (uint8_t)unit};
    if (!plain && collector->reuses) collector_keep_operands(collector, sm, inst);
    warps_issued(&sm->warps, warp);
    if (unit == SM_UNIT_LDST)
        warps_accesses(&sm->warps, inst, execute_accesses(&issue->execute, sm, inst, op, plain));
    collector_put(collector, unit, index);
    if (!plain && context_is_profiled(sm)) profile_issue(sm, index);
    return inst;
}

/* Handles the effects of the executed instruction on its warp: fences, exits, barriers. */
static void follow_warp(SmIssue *issue, SmContext *sm, int warp, uint32_t pc, uint32_t flags,
                        bool has_exited) {
    execute_follow(sm, warp, pc, flags, has_exited,
                   scoreboard_has_pending(&issue->scoreboard, warp));
}

/* The same for an instruction on its way to a pipeline, including copies and mbarriers. */
RARE void follow(SmIssue *issue, SmContext *sm, SmInst *inst, bool has_exited) {
    const SmOp *op = context_op(sm, inst);
    if (op->flags & ISA_IS_COPY) inst->copy = warps_copy_issued(&sm->warps, inst->warp);
    follow_warp(issue, sm, inst->warp, inst->pc, op->flags, has_exited);
    if (op->traits & SM_OP_PHASE)
        issue_let_go(issue, sm, warps_at_mbarrier(sm, inst->warp, inst->pc, inst->lanes));
}

static uint64_t blocked(const SmContext *sm) { return sm->view.at_barrier | sm->warps.held; }

/* ---- Issue slots of a machine that issues its own instructions ---- */

static void take_slot(SmIssue *issue, SmContext *sm, int warp, uint32_t pc) {
    sm->counters.machine_instructions++;
    sm->view.warp[warp].instructions++;
    issue->has_news = true;
    if (context_is_profiled(sm)) sm_profile_slot(sm->profile, warp, pc);
}

/* Records that the warp must take `slots` further slots for the instruction. */
static void owe(SmIssue *issue, int warp, uint32_t pc, uint32_t slots, bool has_exited) {
    if (!slots || has_exited) return;
    issue->slots.owing |= UINT64_C(1) << warp;
    issue->slots.owed[warp] = (uint8_t)slots;
    issue->slots.pc[warp] = pc;
}

static void pay_slot(SmIssue *issue, SmContext *sm, int scheduler, int warp) {
    SmSlots *slots = &issue->slots;
    take_slot(issue, sm, warp, slots->pc[warp]);
    if (--slots->owed[warp] == 0) slots->owing &= ~(UINT64_C(1) << warp);
    sched_agent_issued(&sm->policy, &sm->view,
                       &(TytoIssue){.warp = warp,
                                    .scheduler = scheduler,
                                    .lanes = sm->warps.warp[warp].handle->active,
                                    .pc = slots->pc[warp]});
}

/* Takes the first slot of an instruction that has issued, and records the others as owed. */
static void take_slots(SmIssue *issue, SmContext *sm, int warp, uint32_t pc, uint32_t slots,
                       bool has_exited) {
    uint64_t bit = UINT64_C(1) << warp;
    take_slot(issue, sm, warp, pc);
    if (slots) owe(issue, warp, pc, slots - 1, has_exited);
    else if (sm->warps.warp[warp].grid->ops[pc].slots.slots)
        issue->slots.excused |= bit; /* a guarded exit */
}

/* Whether the results may become available together with sources that are still pending. Such an
 * instruction must not write one of its own sources, or a source of an instruction in `passing`:
 * each would wait for the other. */
static bool can_follow(const SmIssue *issue, const SmContext *sm, int warp, const SmOp *op) {
    const SmGrid *grid = sm->warps.warp[warp].grid;
    const SmPassing *passing = &issue->slots.passing[warp];
    if (!op->result_count || passing->count == SM_PASSING) return false;
    for (uint32_t i = 0; i < passing->count; i++)
        if (grid->ops[passing->pc[i]].uses & op->results) return false;
    return !(op->traits & SM_OP_READS_OWN);
}

/* Whether an instruction without a slot can be executed now: its results become available with its
 * sources. */
static bool can_pass(const SmIssue *issue, const SmContext *sm, int warp, const SmOp *op) {
    const SmScoreboard *board = &issue->scoreboard;
    const SmCollector *collector = collectors_of(&issue->collectors, warp);
    if (!scoreboard_has_results(board, warp, op)) return false;
    if (is_joined(op))
        return scoreboard_has_sources(board, warp, op) && !issue->is_stalled &&
               insts_has_room(&sm->insts) && collector->slots_free[SM_UNIT_LDST];
    return scoreboard_has_sources(board, warp, op) || can_follow(issue, sm, warp, op);
}

/* Executes an instruction without a slot. */
static void pass(SmIssue *issue, SmContext *sm, int warp, const SmOp *op) {
    SmWarp *w = &sm->warps.warp[warp];
    uint32_t pc = w->handle->pc, active = w->handle->active;
    bool has_sources = scoreboard_has_sources(&issue->scoreboard, warp, op);
    if (op->traits & SM_OP_SHARED) context_wait_issued(sm); /* a word is loaded once more */
    bool has_exited = execute_next(sm, &issue->sums, w, op, false) == WARP_EXITED;
    if (sm->fault) return;
    uint32_t lanes = w->grid->source->did->executed;
    if (is_joined(op)) {
        scoreboard_reserve(&issue->scoreboard, warp, op);
        send_to_pipeline(issue, sm, warp % (int)sm->view.schedulers, warp, pc, lanes, op, false);
    } else if (!has_sources) {
        SmPassing *passing = &issue->slots.passing[warp];
        scoreboard_reserve(&issue->scoreboard, warp, op);
        scoreboard_inherit(&issue->scoreboard, warp, op);
        passing->pc[passing->count++] = pc;
        issue->slots.waiting |= UINT64_C(1) << warp;
    }
    if (op->slots.slots == 0) owe(issue, warp, pc, sm_op_slots(op, active, lanes), has_exited);
    fetch_passed(issue->fetch, warp, pc, w->handle->pc, has_exited);
    if (context_is_profiled(sm) && !is_joined(op)) {
        sm_profile_passed(sm->profile, pc, lanes, sm->counters.divergent_branches);
        sm_profile_count(sm->profile, pc, PROFILE_completed, 1);
    }
    if (has_exited) follow_warp(issue, sm, warp, pc, op->flags, has_exited);
    sm->view.warp[warp].thread_instructions += (uint64_t)bits_count32(active);
    issue_update_head(issue, sm, warp);
}

/* Most consecutive instructions without a slot that a warp executes in a cycle. Further ones wait
 * for a slot, so that no loop runs without end in one cycle. */
enum { MOST_FREE = 256 };

/* Executes the next instructions of all warps as long as they take no slot. */
RARE void pass_all(SmIssue *issue, SmContext *sm) {
    uint64_t warps = issue->slots.free & sm->view.has_instruction & ~blocked(sm);
    for (; warps && !sm->fault; warps &= warps - 1) {
        int warp = bits_lowest64(warps);
        uint64_t bit = warps & -warps;
        for (int i = 0; i < MOST_FREE && !sm->fault; i++) {
            if (!(issue->slots.free & sm->view.has_instruction & ~blocked(sm) & bit)) break;
            const SmOp *op = issue->head[warp];
            if (!can_pass(issue, sm, warp, op)) break;
            pass(issue, sm, warp, op);
        }
    }
}

void issue_let_go(SmIssue *issue, SmContext *sm, uint64_t warps) {
    if (warps) issue_wake(issue);
    for (; warps; warps &= warps - 1)
        issue_update_head(issue, sm, bits_lowest64(warps));
}

/* ---- One instruction ---- */

/* Issues the warp's next instruction. Returns false if it failed. */
ALWAYS bool issue_warp(SmIssue *issue, SmContext *sm, int scheduler, int warp, bool plain) {
    if (!plain && issue->slots.owing >> warp & 1) {
        pay_slot(issue, sm, scheduler, warp);
        return true;
    }
    SmWarp *w = &sm->warps.warp[warp];
    const uint32_t pc = w->handle->pc, active = w->handle->active;
    const SmOp *op = issue->head[warp];
    if (op->traits & SM_OP_SHARED) context_wait_issued(sm);
    const WarpEvent event = execute_next(sm, &issue->sums, w, op, plain);
    if (__builtin_expect(event == WARP_FAULT, false)) return false;
    const bool has_exited = event == WARP_EXITED;
    const uint32_t lanes = w->grid->source->did->executed;
    if (plain) scoreboard_reserve_words(&issue->scoreboard, warp, op);
    else scoreboard_reserve(&issue->scoreboard, warp, op);
    SmInst *inst = send_to_pipeline(issue, sm, scheduler, warp, pc, lanes, op, plain);
    if (op->traits & SM_OP_MORE || has_exited) follow(issue, sm, inst, has_exited);
    TytoWarpView *view = &sm->view.warp[warp];
    if (!plain && issue->issues_own)
        take_slots(issue, sm, warp, pc, sm_op_slots(op, active, lanes), has_exited);
    else view->instructions++;
    view->thread_instructions += (uint64_t)bits_count32(active);
    change_head(issue, sm, warp, op, pc, w->handle->pc, has_exited, plain);
    if (!sched_agent_notes(&sm->policy, scheduler, warp))
        sched_agent_issued(&sm->policy, &sm->view,
                           &(TytoIssue){.warp = warp,
                                        .scheduler = scheduler,
                                        .lanes = lanes,
                                        .is_load = (op->traits & SM_OP_L1D_LOAD) != 0,
                                        .is_long = (op->traits & SM_OP_LONG) != 0,
                                        .pc = pc});
    return true;
}

/* ---- One scheduler ---- */

/* Warps whose next instruction would find no place before this collector if they belonged to it. */
static uint64_t without_slot(const SmIssue *issue, const SmCollector *collector) {
    const uint32_t either = 1u << SM_UNIT_SP | 1u << SM_UNIT_SFU;
    uint64_t full = 0;
    uint32_t kinds = collector->full_kinds;
    kinds |= (uint32_t)bits_if((kinds & either) == either, SM_UNIT_SP_OR_SFU);
    for (; kinds; kinds &= kinds - 1)
        full |= issue->wants[bits_lowest32(kinds)];
    return full;
}

/* Warps whose next instruction finds no place before the collector of their own sub-core. */
RARE uint64_t without_slot_anywhere(const SmIssue *issue) {
    const SmCollectors *collectors = &issue->collectors;
    uint64_t full = 0;
    for (uint32_t core = 0; core <= collectors->mask; core++)
        full |= without_slot(issue, collectors->of[core]) & collectors->warps[core];
    return full;
}

uint64_t issue_with_place(const SmIssue *issue, const SmContext *sm) {
    if (issue->is_stalled || !insts_has_room(&sm->insts)) return 0; /* all records are in use */
    return ~(issue->collectors.mask ? without_slot_anywhere(issue)
                                    : without_slot(issue, issue->collector[0])) |
           issue->slots.owing;
}

/* Like issue_with_place(), but valid only for the scheduler's own warps. */
ALWAYS uint64_t with_free_slot_of(const SmIssue *issue, const SmContext *sm, int scheduler,
                                  bool plain) {
    if (issue->is_stalled || !insts_has_room(&sm->insts)) return 0;
    return ~without_slot(issue, issue->collector[scheduler]) | (plain ? 0 : issue->slots.owing);
}

static SmOutcome idle_cause(const SmIssue *issue, const SmContext *sm, uint64_t mine) {
    uint64_t live = context_live(sm) & mine;
    if (!live) return SM_IDLE_NO_WARP;
    if (live & warps_memory_waits(&sm->warps)) return SM_SCOREBOARD_MEMORY;
    if (live & sm->warps.product_waits) return SM_SCOREBOARD_OTHER;
    if (live & (issue->fetch->redirected | issue->stale)) return SM_IDLE_BRANCH;
    if (live & ~(sm->view.at_barrier | sm->warps.phase_waits | sm->warps.register_waits |
                 sm->warps.grid_waits))
        return SM_IDLE_FETCH;
    return SM_IDLE_BARRIER;
}

/* Why a scheduler issued nothing. `able`: its warps whose registers are free; `placed`: those of
 * them that would find a place. */
ALWAYS SmOutcome stall_cause(const SmIssue *issue, const SmContext *sm, uint64_t mine,
                             uint64_t able, uint64_t placed, uint64_t allowed, bool plain) {
    if (able) {
        if (placed || !(able & allowed)) return SM_THROTTLED;
        return able & ~issue_waiting_for_lsu(issue) ? SM_PIPELINE_OTHER : SM_PIPELINE_LSU;
    }
    uint64_t owing = plain ? 0 : issue->slots.owing;
    uint64_t valid = (sm->view.has_instruction | owing) & ~blocked(sm) & mine;
    if (!valid) return idle_cause(issue, sm, mine);
    return valid & ~sm->view.waits_memory ? SM_SCOREBOARD_OTHER : SM_SCOREBOARD_MEMORY;
}

/* Counts the cycles in which the last outcomes were repeated. */
ALWAYS void count_repeats(SmIssue *issue) {
    SmIssueSums *c = &issue->sums;
    const uint64_t cycles = issue->repeats;
    issue->repeats = 0;
    for (uint32_t s = 0; s < issue->schedulers; s++)
        c->outcome[issue->outcome[s]] += cycles;
    for (uint32_t s = 0; issue->looks && s < issue->schedulers; s++)
        c->seen[issue->seen[s]] += cycles;
    c->no_issue += cycles & -(uint64_t)!issue->has_issued;
}

/* Records what each scheduler's cycle was, judged by the warps that the policy looks at. These
 * warps may change in every cycle, even if the schedulers have no reason to pick. The cycles before
 * it must have been counted. */
RARE void note_seen(SmIssue *issue, SmContext *sm) {
    static const uint8_t SEEN[] = {SM_SEEN_IDLE, SM_SEEN_SCOREBOARD, SM_SEEN_PIPELINE};
    const uint64_t looked = sched_agent_looks_at(&sm->policy, &sm->view);
    const uint64_t owing = issue->slots.owing;
    const uint64_t valid = (sm->view.has_instruction | owing) & ~blocked(sm) & looked;
    const uint64_t clear = valid & (issue->clear | owing);
    for (uint32_t s = 0; s < issue->schedulers; s++) {
        const uint64_t mine = sm->view.scheduler_warps[s];
        const uint8_t idle_as = SEEN[((valid & mine) != 0) + ((clear & mine) != 0)];
        issue->seen[s] = issue->outcome[s] == SM_ISSUED ? SM_SEEN_ISSUE : idle_as;
    }
}

/* Asks the policy until it names a warp that can issue. If it names a warp with a stale buffer,
 * flushes that buffer, as a walk over the warps in the policy's order would. */
RARE int pick_beside_stale(SmIssue *issue, SmContext *sm, int scheduler, uint64_t ready) {
    uint64_t candidates =
        ready | (issue->stale & sm->view.scheduler_warps[scheduler] & ~blocked(sm));
    while (candidates) {
        int warp = pick_warp(sm, scheduler, candidates);
        if (warp == TYTO_NO_WARP) return TYTO_NO_WARP;
        uint64_t bit = UINT64_C(1) << warp;
        if (!(issue->stale & ~issue->slots.owing & bit)) return warp;
        fetch_flush(issue->fetch, warp, sm->warps.warp[warp].handle->pc);
        issue_update_head(issue, sm, warp);
        candidates &= ~bit;
    }
    return TYTO_NO_WARP;
}

/* Warps whose next instruction the policy does not hold back in this cycle; it may hold back
 * loads. */
static uint64_t not_held_back(const SmIssue *issue, const SmContext *sm) {
    return ~sm->view.wants_load | issue->slots.owing | issue->may_load;
}

/* Runs one scheduler. Returns false if an instruction or the policy failed. */
ALWAYS bool run_scheduler(SmIssue *issue, SmContext *sm, int scheduler, uint64_t allowed,
                          bool plain) {
    const uint64_t mine = sm->view.scheduler_warps[scheduler];
    uint64_t able = (plain ? issue->clear & ~blocked(sm) : issue_ready(issue, sm)) & mine;
    uint64_t placed = able ? able & with_free_slot_of(issue, sm, scheduler, plain) : 0;
    int warp = TYTO_NO_WARP;
    if (__builtin_expect(issue->stale != 0, false)) {
        warp = pick_beside_stale(issue, sm, scheduler, placed & allowed);
        able = issue_ready(issue, sm) & mine; /* an ideal front end has refilled flushed buffers */
        placed = able & with_free_slot_of(issue, sm, scheduler, plain);
    } else if (placed & allowed) {
        warp = pick_warp(sm, scheduler, placed & allowed);
    }
    if (warp == TYTO_NO_WARP) {
        issue->outcome[scheduler] =
            (uint8_t)stall_cause(issue, sm, mine, able, placed, allowed, plain);
        return !sm->fault;
    }
    issue->outcome[scheduler] = SM_ISSUED;
    issue->has_issued = true;
    if (plain) return issue_warp(issue, sm, scheduler, warp, plain);
    const uint64_t bit = UINT64_C(1) << warp;
    uint32_t left = sm->config->scheduler.issue_width;
    do
        if (!issue_warp(issue, sm, scheduler, warp, plain)) return false;
    while (--left && issue_ready(issue, sm) & not_held_back(issue, sm) &
                         with_free_slot_of(issue, sm, scheduler, plain) & bit);
    return true;
}

/* ---- A cycle ---- */

/* The warps that the policy allows to issue in this cycle. */
static uint64_t allowed_warps(SmIssue *issue, SmContext *sm) {
    uint64_t allowed = sched_agent_may_issue(&sm->policy, &sm->view);
    issue->may_load = sched_agent_may_load(&sm->policy, &sm->view);
    return allowed & not_held_back(issue, sm);
}

/* Runs all schedulers for one pick. */
ALWAYS void run_schedulers(SmIssue *issue, SmContext *sm, bool plain) {
    const SmSchedulerConfig *config = &sm->config->scheduler;
    count_repeats(issue);
    issue->knows_going = false;
    issue->has_news = issue->has_turned = issue->has_issued = false;
    if (!plain && issue->slots.free) pass_all(issue, sm);
    if (!plain && sm->fault) return;
    uint64_t allowed = ~UINT64_C(0);
    if (sm->policy.limits) allowed = sm->view.resident ? allowed_warps(issue, sm) : 0;
    issue->allowed = allowed;
    const uint32_t count = config->count;
    const uint32_t first = config->alternates ? sm_remainder_of(sm->cycle, count) : 0;
    uint32_t scheduler = first;
    do {
        if (!run_scheduler(issue, sm, (int)scheduler, allowed, plain)) return;
        scheduler = scheduler + 1 == count ? 0 : scheduler + 1;
    } while (scheduler != first);
}

/* The same for machines and kernels that use rare features. */
RARE void run_all_schedulers(SmIssue *issue, SmContext *sm) { run_schedulers(issue, sm, false); }

void issue_do_step(SmIssue *issue, SmContext *sm, bool will_look) {
    if (__builtin_expect(issue->steps_always, false)) pick_tell_time(sm);
    if (will_look) {
        if (issue->is_plain) run_schedulers(issue, sm, true);
        else run_all_schedulers(issue, sm);
    }
    if (__builtin_expect(!issue->looks, true)) return;
    if (!will_look) count_repeats(issue);
    note_seen(issue, sm);
}

/* ---- Accounting ---- */

void issue_find_behind(SmIssue *issue, const SmContext *sm) {
    const SmCollectors *collectors = &issue->collectors;
    uint64_t behind = issue->is_stalled ? issue_ready(issue, sm) : 0, full = 0;
    for (uint32_t core = 0; core <= collectors->mask; core++)
        if (!collectors->of[core]->slots_free[SM_UNIT_LDST]) full |= collectors->warps[core];
    behind |= full & sm->view.has_instruction & issue->clear & issue->wants[SM_UNIT_LDST];
    issue->behind = behind;
    issue->knows_behind = true;
}

void issue_find_going(SmIssue *issue, const SmContext *sm) {
    uint64_t live = context_live(sm);
    issue->going = live ? live & ~sm->view.waits_memory : UINT64_MAX;
    issue->is_vacant = !sm->view.resident;
    issue->knows_going = true;
}

void issue_settle(SmIssue *issue, Counters *counters, Histograms *histograms) {
    count_repeats(issue);
    issue_sums_settle(&issue->sums, issue->schedulers, issue->looks, counters, histograms);
}
