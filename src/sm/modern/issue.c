/* Issue (see the header). */
#include "sm/modern/issue.h"

#include <string.h>

#include "sm/parts.h"
#include "sm/pick.h"
#include "sm/products.h"

void modern_issue_init(ModernIssue *issue, const SmContext *sm) {
    const SmConfig *config = sm->config;
    issue->subcores = config->subcores;
    for (uint32_t s = 0; s < issue->subcores; s++)
        constants_init(&issue->subcore[s].constants, &config->modern, sm->arena);
    counters_init(&issue->counters, sm->arena);
    front_init(&issue->front, config, sm->arena);
    memory_init(&issue->memory, config);
    execute_init(&issue->execute, sm);
}

static void start_subcore(ModernSubcore *core) {
    memset(core->free_at, 0, sizeof core->free_at);
    core->issues_from = core->paid_until = 0;
    core->outcome = SM_IDLE_NO_WARP;
    core->seen = SM_SEEN_IDLE;
    ports_start(&core->ports, 0);
    constants_start(&core->constants);
}

void modern_issue_start(ModernIssue *issue, const SmContext *sm) {
    issue->delayed = issue->blocked = issue->blocked_long = issue->free = 0;
    issue->raised[0] = issue->raised[1] = 0;
    memset(issue->delay, 0, sizeof issue->delay);
    memset(issue->wants, 0, sizeof issue->wants);
    issue->wheel = (ModernWheel){0};
    issue->looks = sched_agent_looks(&sm->policy);
    issue->steps_always = issue->looks || sched_agent_always_steps(&sm->policy);
    issue->has_issued = issue->has_ready = false;
    issue->allowed = UINT64_MAX;
    for (uint32_t s = 0; s < issue->subcores; s++)
        start_subcore(&issue->subcore[s]);
    counters_start(&issue->counters);
    front_start(&issue->front);
    memory_start(&issue->memory);
    execute_start(&issue->execute);
    issue->sums = (SmIssueSums){0};
    issue->states = (ModernStates){0};
}

void modern_issue_begin_grid(ModernIssue *issue, const SmContext *sm, SmGrid *grid) {
    issue->serial[grid - sm->grid] = ++issue->serials;
    execute_begin_grid(&issue->execute, sm, grid);
}

/* ---- A warp's next instruction ---- */

static uint32_t subcore_of(const ModernIssue *issue, int warp) {
    return (uint32_t)warp % issue->subcores;
}

static const ModernRow *row_at(const SmGrid *grid, uint32_t pc) {
    return (const ModernRow *)grid->rows + pc;
}

/* Makes the warp wait until `cycle`. */
static void delay(ModernIssue *issue, int warp, uint64_t now, uint64_t cycle, ModernDelay why) {
    const uint64_t bit = UINT64_C(1) << warp;
    issue->delayed |= bit;
    issue->delay[why] |= bit;
    issue->until[warp] = cycle;
    wheel_put(&issue->wheel, warp, now, cycle);
}

/* Checks whether counters with these values block the warp's next instruction. */
static void check_counters(ModernIssue *issue, int warp, const uint16_t value[ISA_COUNTERS]) {
    const uint64_t bit = UINT64_C(1) << warp;
    const uint16_t *longs = issue->counters.longs[warp];
    uint32_t blocking = counters_block(value, issue->head[warp]);
    if (blocking) states_block(&issue->states, warp, blocking);
    issue->blocked &= ~bit;
    issue->blocked_long &= ~bit;
    issue->blocked |= bits_if(blocking != 0, warp);
    for (; blocking; blocking &= blocking - 1)
        issue->blocked_long |= bits_if(longs[bits_lowest32(blocking)] != 0, warp);
}

static void recheck_counters(ModernIssue *issue, int warp) {
    if (issue->blocked >> warp & 1) check_counters(issue, warp, issue->counters.value[warp]);
}

/* The first cycle, `cycle` or later, in which the warp's buffer holds the instruction at `pc` and
 * its constant is available. */
static uint64_t supply(ModernIssue *issue, SmContext *sm, int warp, uint32_t pc, uint64_t cycle,
                       ModernDelay *why) {
    const SmWarp *w = &sm->warps.warp[warp];
    const SmFetchConfig *config = &sm->config->fetch;
    const ModernDelay first = *why;
    const uint64_t base = config->code_base + w->grid->code, bytes = config->instruction_bytes;
    const uint64_t end = base + w->grid->source->program->count * bytes;
    const uint32_t constant = issue->head[warp]->constant;
    const uint64_t fetched =
        front_need(&issue->front, &sm->counters, warp, base + pc * bytes, end, cycle);
    if (fetched > cycle) {
        *why = DELAY_FETCH;
        states_split(&issue->states, warp, first, cycle, cycle);
    }
    if (!constant || constant == ISA_INDEXED_CONSTANT) return fetched;
    const uint64_t ready = constants_need(&issue->subcore[subcore_of(issue, warp)].constants,
                                          issue->serial[w->grid - sm->grid], constant, fetched);
    if (ready > fetched) {
        *why = DELAY_CONSTANT;
        states_split(&issue->states, warp, first, cycle, fetched);
    }
    return ready;
}

/* Makes the instruction at the warp's pc its next one. It may issue in `wait` cycles at the
 * earliest. */
static void take_head(ModernIssue *issue, SmContext *sm, int warp, uint32_t wait, ModernDelay why) {
    const uint64_t bit = UINT64_C(1) << warp;
    const SmWarp *w = &sm->warps.warp[warp];
    const uint32_t pc = w->handle->pc;
    const ModernRow *row = issue->head[warp] = row_at(w->grid, pc);
    const uint64_t ready = supply(issue, sm, warp, pc, sm->cycle + wait, &why);
    issue->wants[row->pipe] |= bit;
    issue->states.route[row->route] |= bit;
    issue->free |= bits_if(!row->slots, warp);
    sm->view.wants_load |= bits_if(w->grid->ops[pc].traits & SM_OP_L1D_LOAD, warp);
    if (ready > sm->cycle) delay(issue, warp, sm->cycle, ready, why);
    if (ready > sm->cycle + wait)
        states_begin_phase(&issue->states, &issue->wheel, warp, sm->cycle + 1);
}

static void drop_head(ModernIssue *issue, SmContext *sm, int warp) {
    const uint64_t bit = UINT64_C(1) << warp;
    issue->raised[0] &= ~bit;
    issue->raised[1] &= ~bit;
    issue->wants[issue->head[warp]->pipe] &= ~bit;
    issue->states.route[issue->head[warp]->route] &= ~bit;
    issue->free &= ~bit;
    issue->blocked &= ~bit;
    issue->blocked_long &= ~bit;
    sm->view.wants_load &= ~bit;
}

void modern_issue_start_warp(ModernIssue *issue, SmContext *sm, int warp) {
    const uint64_t bit = UINT64_C(1) << warp;
    issue->delayed &= ~bit;
    for (int why = 0; why < DELAYS; why++)
        issue->delay[why] &= ~bit;
    states_start_warp(&issue->states, warp);
    counters_start_warp(&issue->counters, warp);
    front_start_warp(&issue->front, warp);
    take_head(issue, sm, warp, 1, DELAY_FETCH);
    check_counters(issue, warp, issue->counters.value[warp]);
}

/* ---- Completions ---- */

static void end_delays(ModernIssue *issue, const SmContext *sm, uint64_t warps) {
    for (uint64_t rest = warps & issue->delayed; rest; rest &= rest - 1) {
        const int warp = bits_lowest64(rest);
        if (issue->until[warp] <= sm->cycle) continue;
        states_begin_phase(&issue->states, &issue->wheel, warp, sm->cycle);
        wheel_put(&issue->wheel, warp, sm->cycle, issue->until[warp]);
        warps &= ~(UINT64_C(1) << warp);
    }
    issue->delayed &= ~warps;
    for (int why = 0; why < DELAYS; why++)
        issue->delay[why] &= ~warps;
}

static bool is_long(const SmOp *op) { return (op->traits & SM_OP_LONG) != 0; }

/* Lowers a counter of an instruction in flight, if the instruction names one. */
static void fall(ModernIssue *issue, int warp, uint8_t counter, bool is_long) {
    if (counter == ISA_NO_COUNTER) return;
    counters_fall(&issue->counters, warp, counter, is_long);
    recheck_counters(issue, warp);
}

void modern_issue_read(ModernIssue *issue, SmContext *sm, uint16_t index) {
    const SmInst *inst = &sm->insts.inst[index];
    const SmGrid *grid = sm->warps.warp[inst->warp].grid;
    fall(issue, inst->warp, row_at(grid, inst->pc)->read_counter, false);
}

/* Updates a warp that has exited or is held, and now has less in flight. */
static void settle(ModernIssue *issue, SmContext *sm, int warp) {
    if ((sm->warps.held | sm->view.exited) >> warp & 1)
        warps_settle(&sm->warps, warp, counters_are_raised(&issue->counters, warp));
}

/* Makes raises visible that the next instruction did not see at first. */
static void show_raises(ModernIssue *issue) {
    for (uint64_t rest = issue->raised[1]; rest; rest &= rest - 1) {
        const int warp = bits_lowest64(rest);
        check_counters(issue, warp, issue->counters.value[warp]);
    }
    issue->raised[1] = issue->raised[0];
    issue->raised[0] = 0;
}

void modern_issue_take_due(ModernIssue *issue, SmContext *sm) {
    const uint64_t warps = wheel_take(&issue->wheel, sm->cycle);
    if (warps) end_delays(issue, sm, warps);
    if (issue->raised[0] | issue->raised[1]) show_raises(issue);
    uint64_t fallen = counters_step(&issue->counters, sm->cycle);
    for (; fallen; fallen &= fallen - 1) {
        recheck_counters(issue, bits_lowest64(fallen));
        settle(issue, sm, bits_lowest64(fallen));
    }
}

static void complete(ModernIssue *issue, SmContext *sm, uint16_t index) {
    const SmInst *inst = &sm->insts.inst[index];
    const int warp = inst->warp;
    const SmGrid *grid = sm->warps.warp[warp].grid;
    if (context_is_profiled(sm)) sm_profile_done(sm->profile, inst, index, sm->cycle);
    fall(issue, warp, row_at(grid, inst->pc)->write_counter, is_long(&grid->ops[inst->pc]));
    warps_inst_done(&sm->warps, inst);
    insts_free(&sm->insts, index);
    settle(issue, sm, warp);
}

void modern_issue_hear(ModernIssue *issue, SmContext *sm) {
    SmEvents *events = &sm->events;
    const uint32_t count = events->count;
    events->count = 0;
    for (uint32_t i = 0; i < count; i++) {
        const SmEvent event = events->items[i];
        if (event.kind == SM_EVENT_INST_DONE) {
            complete(issue, sm, event.index);
            continue;
        }
        if (event.kind == SM_EVENT_STORE_DONE) warps_store_done(&sm->warps, event.index);
        else if (event.kind == SM_EVENT_WAIT_DONE) warps_wait_done(&sm->warps, event.index);
        else warps_atomic_done(&sm->warps, event.index);
        settle(issue, sm, event.index);
    }
}

/* ---- One instruction ---- */

/* Sends an instruction that makes memory accesses to its sub-core's queue. */
static void send_to_memory(ModernIssue *issue, SmContext *sm, int warp, uint32_t pc, const SmOp *op,
                           uint32_t lanes) {
    const uint16_t index = insts_new(&sm->insts);
    SmInst *inst = &sm->insts.inst[index];
    *inst = (SmInst){.pc = pc,
                     .lanes = lanes,
                     .serial = (uint32_t)sm->view.warp[warp].age,
                     .order = (uint32_t)sm->counters.warp_instructions,
                     .memory = SM_NONE,
                     .next = SM_NONE,
                     .warp = (uint8_t)warp,
                     .unit = SM_UNIT_LDST};
    if (op->flags & ISA_IS_COPY) inst->copy = warps_copy_issued(&sm->warps, warp);
    warps_issued(&sm->warps, warp);
    warps_accesses(&sm->warps, inst, execute_accesses(&issue->execute, sm, inst, op, false));
    memory_put(&issue->memory, subcore_of(issue, warp), index, sm->cycle);
    if (!context_is_profiled(sm)) return;
    sm->profile->issue_cycle[index] = sm->cycle;
    sm_profile_accesses(insts_memory_of(&sm->insts, index), pc);
}

/* Sends another instruction to its pipe, after it has reserved its register ports. */
static void send_to_pipe(ModernIssue *issue, SmContext *sm, int warp, const ModernRow *row) {
    ModernSubcore *core = &issue->subcore[subcore_of(issue, warp)];
    uint32_t late = 0;
    if (row->is_fixed) {
        late = ports_read(&core->ports, row, warp, sm->cycle);
        core->issues_from = ports_free_from(&core->ports);
    }
    core->free_at[row->pipe] = sm->cycle + late + row->busy;
}

/* Raises the counters that the instruction names. Schedules their fall, except for memory
 * instructions, which report it themselves. */
static void raise_counters(ModernIssue *issue, const SmContext *sm, int warp, const ModernRow *row,
                           bool is_long) {
    ModernCounters *counters = &issue->counters;
    const bool is_memory = row->pipe == PIPE_MEMORY;
    if (row->write_counter != ISA_NO_COUNTER) {
        states_raise(&issue->states, warp, row->write_counter,
                     counters->value[warp][row->write_counter], row->route);
        counters_raise(counters, warp, row->write_counter, is_memory && is_long);
        if (!is_memory)
            counters_fall_at(counters, warp, row->write_counter, sm->cycle + row->latency);
    }
    if (row->read_counter != ISA_NO_COUNTER) {
        states_raise(&issue->states, warp, row->read_counter,
                     counters->value[warp][row->read_counter], row->route);
        counters_raise(counters, warp, row->read_counter, false);
        if (!is_memory)
            counters_fall_at(counters, warp, row->read_counter,
                             sm->cycle + TO_ALLOCATE + READ_CYCLES);
    }
}

static bool issues_own(const SmContext *sm) {
    return sm->config->instructions != SM_INSTRUCTIONS_PTX;
}

/* Counts the instruction and its `slots` slots in the profile. */
static void profile_issue(SmContext *sm, int warp, uint32_t pc, const ModernRow *row,
                          uint32_t lanes, uint32_t slots) {
    const SmInst inst = {.pc = pc, .lanes = lanes, .warp = (uint8_t)warp};
    if (row->slots) sm_profile_issued(sm->profile, &inst, sm->counters.divergent_branches);
    else sm_profile_passed(sm->profile, pc, lanes, sm->counters.divergent_branches);
    if (issues_own(sm)) sm_profile_count(sm->profile, pc, PROFILE_slots, slots);
    if (row->pipe == PIPE_MEMORY) return;
    sm_profile_count(sm->profile, pc, PROFILE_completed, 1);
    if (row->write_counter != ISA_NO_COUNTER)
        sm_profile_count(sm->profile, pc, PROFILE_latency_cycles, row->latency);
}

/* Takes the instruction's slots; the sub-core issues nothing else during them. */
static void take_slots(ModernIssue *issue, SmContext *sm, int warp, uint32_t slots) {
    ModernSubcore *core = &issue->subcore[subcore_of(issue, warp)];
    sm->view.warp[warp].instructions += issues_own(sm) ? slots : 1;
    if (issues_own(sm)) sm->counters.machine_instructions += slots;
    if (slots <= 1) return;
    core->paid_until = sm->cycle + slots;
    core->payer = (uint8_t)warp;
}

/* Reports the issue to the policy, as the last step. */
static void tell_policy(const ModernIssue *issue, SmContext *sm, int warp, uint32_t pc,
                        uint32_t lanes, const SmOp *op) {
    sched_agent_issued(&sm->policy, &sm->view,
                       &(TytoIssue){.warp = warp,
                                    .scheduler = (int)subcore_of(issue, warp),
                                    .lanes = lanes,
                                    .is_load = (op->traits & SM_OP_L1D_LOAD) != 0,
                                    .is_long = is_long(op),
                                    .pc = pc});
}

/* Cycles until the warp's next instruction if the instruction that has issued reads a constant that
 * a register selects; else 0. */
static uint32_t wait_for_indexed(ModernIssue *issue, const SmContext *sm, int warp,
                                 const ModernRow *row) {
    const SmWarp *w = &sm->warps.warp[warp];
    const WarpStep *did = w->grid->source->did;
    if (row->constant != ISA_INDEXED_CONSTANT || !did->executed) return 0;
    const uint64_t address = did->address[bits_lowest32(did->executed)] - ISA_BANK_ADDRESS;
    const uint64_t ready = constants_need(&issue->subcore[subcore_of(issue, warp)].constants,
                                          issue->serial[w->grid - sm->grid], isa_constant(address),
                                          sm->cycle + row->stall);
    return (uint32_t)(ready - sm->cycle) + sm->config->modern.indexed_constant;
}

/* Records the phases of a warp that waits for its constant after the stall count, and for nothing
 * else. */
static void tell_indexed(ModernIssue *issue, const SmContext *sm, int warp, const ModernRow *row) {
    const uint64_t from = sm->cycle + row->stall;
    states_split(&issue->states, warp, DELAY_STALL, from, from);
    states_begin_phase(&issue->states, &issue->wheel, warp, sm->cycle + 1);
}

/* Selects the warp's next instruction after the one at `pc` has issued, and when it may issue. An
 * instruction that could issue in the next cycle does not see a counter raised now until one cycle
 * later. */
static void go_on(ModernIssue *issue, SmContext *sm, int warp, uint32_t pc, const ModernRow *row,
                  const uint16_t before[ISA_COUNTERS]) {
    const SmWarp *w = &sm->warps.warp[warp];
    const bool jumps = w->handle->pc != pc + 1;
    uint32_t wait = row->stall;
    ModernDelay why = DELAY_STALL;
    if (jumps && row->slots && wait < sm->config->modern.branch_latency) {
        wait = sm->config->modern.branch_latency;
        why = DELAY_BRANCH;
    }
    const uint32_t indexed = wait_for_indexed(issue, sm, warp, row);
    if (indexed > wait) {
        wait = indexed;
        why = DELAY_CONSTANT;
    }
    drop_head(issue, sm, warp);
    take_head(issue, sm, warp, wait, why);
    if (why == DELAY_CONSTANT && issue->until[warp] == sm->cycle + wait)
        tell_indexed(issue, sm, warp, row);
    if (issue->delayed >> warp & 1 && issue->until[warp] > sm->cycle + 1) {
        check_counters(issue, warp, issue->counters.value[warp]);
        return;
    }
    check_counters(issue, warp, before);
    issue->raised[0] |= UINT64_C(1) << warp;
}

/* After a product of a warpgroup, the tensor pipe accepts another instruction when that product
 * starts. */
static void keep_for_product(ModernIssue *issue, const SmContext *sm, int warp, uint32_t pc) {
    const uint32_t s = subcore_of(issue, warp);
    const uint64_t from = products_issue_from(sm->products, s);
    if (sm->warps.warp[warp].grid->infos[pc].flags & ISA_IS_WARPGROUP)
        issue->subcore[s].free_at[PIPE_TENSOR] = from > sm->cycle ? from : sm->cycle + 1;
}

/* Issues the warp's next instruction. Returns false if it failed. */
static bool issue_warp(ModernIssue *issue, SmContext *sm, int warp) {
    SmWarp *w = &sm->warps.warp[warp];
    const ModernRow *row = issue->head[warp];
    const uint32_t pc = w->handle->pc, active = w->handle->active;
    const SmOp *op = &w->grid->ops[pc];
    uint16_t before[ISA_COUNTERS];
    memcpy(before, issue->counters.value[warp], sizeof before);
    if (op->traits & SM_OP_SHARED) context_wait_issued(sm);
    const WarpEvent event = execute_next(sm, &issue->sums, w, op, false);
    if (event == WARP_FAULT) return false;
    const uint32_t lanes = w->grid->source->did->executed;
    raise_counters(issue, sm, warp, row, is_long(op));
    if (row->pipe == PIPE_MEMORY) send_to_memory(issue, sm, warp, pc, op, lanes);
    else if (row->slots) send_to_pipe(issue, sm, warp, row);
    /* a warp that has exited takes at most one */
    const uint32_t slots = event == WARP_EXITED ? row->slots != 0 : sm_op_slots(op, active, lanes);
    sm->view.warp[warp].thread_instructions += (uint64_t)bits_count32(active);
    take_slots(issue, sm, warp, slots);
    if (context_is_profiled(sm)) profile_issue(sm, warp, pc, row, lanes, slots);
    if (event == WARP_EXITED) drop_head(issue, sm, warp);
    else go_on(issue, sm, warp, pc, row, before);
    if (op->traits & SM_OP_MORE || event == WARP_EXITED)
        execute_follow(sm, warp, pc, op->flags, event == WARP_EXITED,
                       counters_are_raised(&issue->counters, warp));
    if (row->pipe == PIPE_TENSOR) keep_for_product(issue, sm, warp, pc);
    if (op->traits & SM_OP_PHASE) warps_at_mbarrier(sm, warp, pc, lanes);
    if (row->slots) tell_policy(issue, sm, warp, pc, lanes, op);
    return true;
}

/* ---- One sub-core ---- */

/* Warps that could issue if their pipe accepted their next instruction. */
static uint64_t ready_warps(const ModernIssue *issue, const SmContext *sm) {
    return context_live(sm) & ~(issue->delayed | issue->blocked) &
           ~(sm->view.at_barrier | sm->warps.held);
}

/* Warps whose next instruction finds no room in the sub-core's memory queue, or no free record in
 * the SM. */
static uint64_t without_room(const ModernIssue *issue, const SmContext *sm, uint32_t s) {
    const bool is_full = !memory_has_room(&issue->memory, s) || !insts_has_room(&sm->insts);
    uint64_t full = is_full ? issue->wants[PIPE_MEMORY] : 0;
    if (!counters_have_room(&issue->counters)) full |= ~issue->wants[PIPE_MEMORY];
    return full;
}

/* Warps whose next instruction the sub-core cannot accept now. */
static uint64_t without_place(const ModernIssue *issue, const SmContext *sm, uint32_t s) {
    const ModernSubcore *core = &issue->subcore[s];
    uint64_t full = without_room(issue, sm, s);
    if (core->issues_from > sm->cycle) return UINT64_MAX;
    for (int pipe = 0; pipe < PIPE_MEMORY; pipe++)
        if (core->free_at[pipe] > sm->cycle) full |= issue->wants[pipe];
    return full;
}

/* Warps that have a next instruction, judged by their delays. */
static uint64_t with_instruction(const ModernIssue *issue, const SmContext *sm) {
    return context_live(sm) & ~(issue->delay[DELAY_FETCH] | issue->delay[DELAY_BRANCH]);
}

/* The outcome of a sub-core that has no ready warp. */
static SmOutcome idle_cause(const ModernIssue *issue, const SmContext *sm, uint64_t live) {
    const uint64_t valid =
        live & with_instruction(issue, sm) & ~(sm->view.at_barrier | sm->warps.held);
    if (valid) return valid & ~issue->blocked_long ? SM_SCOREBOARD_OTHER : SM_SCOREBOARD_MEMORY;
    if (!live) return SM_IDLE_NO_WARP;
    if (live & warps_memory_waits(&sm->warps)) return SM_SCOREBOARD_MEMORY;
    if (live & sm->warps.product_waits) return SM_SCOREBOARD_OTHER;
    if (live & issue->delay[DELAY_BRANCH]) return SM_IDLE_BRANCH;
    return live & issue->delay[DELAY_FETCH] ? SM_IDLE_FETCH : SM_IDLE_BARRIER;
}

/* Why a sub-core issues nothing. */
static SmOutcome stall_cause(const ModernIssue *issue, const SmContext *sm, uint32_t s) {
    const uint64_t mine = sm->view.scheduler_warps[s];
    const uint64_t able = ready_warps(issue, sm) & mine;
    if (issue->subcore[s].paid_until > sm->cycle + 1) return SM_ISSUED; /* it takes further slots */
    if (!able) return idle_cause(issue, sm, context_live(sm) & mine);
    const uint64_t full = without_place(issue, sm, s);
    if (able & ~full || !(able & issue->allowed)) return SM_THROTTLED;
    return able & ~issue->wants[PIPE_MEMORY] ? SM_PIPELINE_OTHER : SM_PIPELINE_LSU;
}

/* What the sub-core's cycle was, judged by the warps that the policy looks at. */
static SmSeen seen_of(const ModernIssue *issue, const SmContext *sm, uint32_t s, uint64_t looked) {
    const uint64_t able = sm->view.has_instruction & ~(sm->view.at_barrier | sm->warps.held);
    const uint64_t mine = able & looked & sm->view.scheduler_warps[s];
    if (!mine) return SM_SEEN_IDLE;
    return mine & ready_warps(issue, sm) ? SM_SEEN_PIPELINE : SM_SEEN_SCOREBOARD;
}

/* Warps that take further slots of their last instruction. */
static uint64_t paying(const ModernIssue *issue, const SmContext *sm) {
    uint64_t warps = 0;
    for (uint32_t s = 0; s < issue->subcores; s++)
        warps |= bits_if(issue->subcore[s].paid_until > sm->cycle, issue->subcore[s].payer);
    return warps;
}

/* Most instructions without a slot that a sub-core executes in a cycle. Further ones wait, so that
 * no loop runs without end. */
enum { MOST_FREE = 256 };

/* Executes the next instructions of the sub-core's warps as long as they take no slot. */
static bool pass_free(ModernIssue *issue, SmContext *sm, uint32_t s) {
    const uint64_t mine = sm->view.scheduler_warps[s];
    for (int i = 0; i < MOST_FREE; i++) {
        const uint64_t free = issue->free & mine & ~without_room(issue, sm, s);
        const uint64_t warps = ready_warps(issue, sm) & free & ~paying(issue, sm);
        if (!warps) return true;
        if (!issue_warp(issue, sm, bits_lowest64(warps))) return false;
    }
    return true;
}

/* Runs one sub-core. Returns false if an instruction or the policy failed. */
static bool run_subcore(ModernIssue *issue, SmContext *sm, uint32_t s) {
    ModernSubcore *core = &issue->subcore[s];
    const uint64_t mine = sm->view.scheduler_warps[s];
    uint64_t ready =
        ready_warps(issue, sm) & mine & ~issue->free; /* slot-free ones pass in the next cycle */
    int warp = TYTO_NO_WARP;
    if (ready) {
        const uint64_t eligible = ready & ~without_place(issue, sm, s);
        states_look(&issue->states, ready, eligible);
        ready = eligible & issue->allowed;
    }
    if (core->paid_until > sm->cycle) {
        issue->states.issued |= UINT64_C(1) << core->payer;
        ready = 0;
    }
    if (ready) warp = pick_warp(sm, (int)s, ready);
    if (sm->fault) return false;
    core->outcome = SM_ISSUED;
    issue->has_issued |= warp != TYTO_NO_WARP || core->paid_until > sm->cycle;
    if (warp != TYTO_NO_WARP) {
        issue->states.issued |= UINT64_C(1) << warp;
        return issue_warp(issue, sm, warp);
    }
    if (core->paid_until <= sm->cycle) core->outcome = (uint8_t)stall_cause(issue, sm, s);
    return true;
}

/* ---- A cycle ---- */

/* Updates what the view holds about next instructions. */
static void show(const ModernIssue *issue, SmContext *sm) {
    const uint64_t live = context_live(sm), has = with_instruction(issue, sm);
    sm->view.has_instruction = has;
    sm->view.waits_memory = (issue->blocked_long & has) | (live & warps_memory_waits(&sm->warps));
    sm->view.at_mbarrier = live & sm->warps.phase_waits;
    sm->view.waits_other = live & warps_other_waits(&sm->warps);
    sm->view.wants_load &= live;
}

/* Accounts for `cycles` cycles of a sub-core with its last outcome. */
static void count_subcore(ModernIssue *issue, const ModernSubcore *core, uint64_t cycles) {
    issue->sums.outcome[core->outcome] += cycles;
    if (issue->looks) issue->sums.seen[core->seen] += cycles;
}

/* Determines what the sub-core's present outcome means for a policy that looks at some warps. */
static void note_seen(const ModernIssue *issue, const SmContext *sm, uint32_t s,
                      ModernSubcore *core, uint64_t looked) {
    if (!issue->looks) return;
    const bool has_issued = core->outcome == SM_ISSUED;
    core->seen = (uint8_t)(has_issued ? SM_SEEN_ISSUE : seen_of(issue, sm, s, looked));
}

/* Whether the SM certainly steps in the next cycle. */
static bool steps_next(const ModernIssue *issue, const SmContext *sm) {
    const uint64_t places = issue->wheel.occupied | issue->counters.occupied;
    return issue->has_ready || wheel_has(places, sm->cycle + 1);
}

/* Accounts for the cycle, and determines the outcomes of later cycles until something changes,
 * unless the next step comes before them. */
static void note_outcomes(ModernIssue *issue, SmContext *sm) {
    const uint64_t looked = issue->looks ? sched_agent_looks_at(&sm->policy, &sm->view) : 0;
    const bool may_sleep = !steps_next(issue, sm);
    for (uint32_t s = 0; s < issue->subcores; s++) {
        ModernSubcore *core = &issue->subcore[s];
        note_seen(issue, sm, s, core, looked);
        count_subcore(issue, core, 1);
        if (!may_sleep) continue;
        core->outcome = (uint8_t)stall_cause(issue, sm, s);
        note_seen(issue, sm, s, core, looked);
    }
}

/* Accounts for cycles in which no sub-core issued. All warps are blocked by memory if none can
 * continue without it. */
static void count_idle(ModernIssue *issue, const SmContext *sm, uint64_t cycles) {
    const uint64_t live = context_live(sm);
    issue->sums.no_issue += cycles;
    if (!sm->view.resident) issue->sums.no_warp += cycles;
    else if (live && !(live & ~(issue->blocked_long | warps_memory_waits(&sm->warps))))
        issue->sums.memory_block += cycles;
}

void modern_issue_count(ModernIssue *issue, const SmContext *sm, uint64_t cycles) {
    bool takes_slots = false;
    for (uint32_t s = 0; s < issue->subcores; s++) {
        count_subcore(issue, &issue->subcore[s], cycles);
        takes_slots |= issue->subcore[s].outcome == SM_ISSUED;
    }
    if (!takes_slots) count_idle(issue, sm, cycles);
}

/* The warps that the policy allows to issue in this cycle. */
static uint64_t allowed_warps(SmContext *sm) {
    if (!sm->policy.limits) return UINT64_MAX;
    if (!sm->view.resident) return 0;
    const uint64_t allowed = sched_agent_may_issue(&sm->policy, &sm->view);
    return allowed & (~sm->view.wants_load | sched_agent_may_load(&sm->policy, &sm->view));
}

/* Runs all sub-cores, starting with another one in each cycle. */
static void run_subcores(ModernIssue *issue, SmContext *sm) {
    for (uint32_t i = 0; i < issue->subcores; i++) {
        const uint32_t s = (uint32_t)(sm->cycle + i) & (issue->subcores - 1);
        if (!run_subcore(issue, sm, s)) return;
    }
}

/* Executes instructions without a slot, before the policy is asked. Returns false if one failed. */
static bool pass_all(ModernIssue *issue, SmContext *sm) {
    for (uint32_t s = 0; s < issue->subcores && issue->free; s++)
        if (!pass_free(issue, sm, s)) return false;
    return true;
}

void modern_issue_step(ModernIssue *issue, SmContext *sm) {
    show(issue, sm);
    if (issue->steps_always) pick_tell_time(sm);
    issue->has_issued = false;
    states_begin_cycle(&issue->states, sm);
    if (!pass_all(issue, sm)) return;
    issue->allowed = allowed_warps(sm);
    run_subcores(issue, sm);
    issue->has_ready = ready_warps(issue, sm) != 0;
    show(issue, sm);
    note_outcomes(issue, sm);
    if (!issue->has_issued) count_idle(issue, sm, 1);
}

uint64_t modern_issue_next(const ModernIssue *issue, uint64_t now) {
    uint64_t next = UINT64_MAX;
    for (uint32_t s = 0; s < issue->subcores; s++) {
        const uint64_t until = issue->subcore[s].paid_until;
        if (until > now && until < next) next = until;
    }
    return next;
}

/* ---- What others see ---- */

void modern_issue_show_stalls(const ModernIssue *issue, SmContext *sm, const SmL1d *l1d,
                              const SmPort *port) {
    TytoSmView *view = &sm->view;
    const uint64_t ready = ready_warps(issue, sm);
    uint64_t full = 0;
    for (uint32_t s = 0; s < issue->subcores; s++)
        full |= ready & view->scheduler_warps[s] & without_place(issue, sm, s);
    view->lsu_full = full & issue->wants[PIPE_MEMORY];
    view->unit_full = full & ~view->lsu_full;
    l1d_show_room(l1d, port, view, ready);
}

SmStallReasons modern_stall_reasons(const ModernIssue *issue, const SmContext *sm) {
    const TytoSmView *view = &sm->view;
    SmStallReasons reasons = {{0}};
    uint64_t left = view->resident, full = 0;
    for (uint32_t s = 0; s < issue->subcores; s++)
        full |= view->scheduler_warps[s] & without_place(issue, sm, s);
    sm_take_warp_reasons(&reasons, &left, sm, paying(issue, sm));
    stall_reasons_take(&reasons, &left, issue->delay[DELAY_FETCH], PROFILE_cycles_fetch_miss);
    stall_reasons_take(&reasons, &left, issue->delay[DELAY_BRANCH], PROFILE_cycles_branch);
    stall_reasons_take(&reasons, &left, issue->delayed, PROFILE_cycles_result);
    stall_reasons_take(&reasons, &left, issue->blocked_long, PROFILE_cycles_memory);
    stall_reasons_take(&reasons, &left, issue->blocked, PROFILE_cycles_result);
    stall_reasons_take(&reasons, &left, ~issue->allowed, PROFILE_cycles_policy);
    stall_reasons_take(&reasons, &left, ~full, PROFILE_cycles_turn);
    stall_reasons_take(&reasons, &left, issue->wants[PIPE_MEMORY], PROFILE_cycles_lsu);
    stall_reasons_take(&reasons, &left, UINT64_MAX, PROFILE_cycles_pipeline);
    return reasons;
}
