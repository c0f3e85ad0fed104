/* Issue (see the header). */
#include "sm/modern/issue.h"

#include <string.h>

#include "sm/parts.h"
#include "sm/pick.h"
#include "sm/products.h"

void modern_issue_init(ModernIssue *issue, const SmContext *sm) {
    const SmConfig *config = sm->config;
    issue->subcores = config->subcores;
    issue->all = (1u << issue->subcores) - 1;
    for (uint32_t s = 0; s < issue->subcores; s++)
        constants_init(&issue->subcore[s].constants, &config->modern, sm->arena);
    counters_init(&issue->counters, sm->arena);
    front_init(&issue->front, config, sm->arena);
    memory_init(&issue->memory, config);
    execute_init(&issue->execute, sm);
}

static void start_subcore(ModernSubcore *core) {
    memset(core->free_at, 0, sizeof core->free_at);
    core->all_free_at = core->issues_from = core->paid_until = 0;
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
    issue->issued = issue->paying = 0;
    issue->has_ready = false;
    issue->allowed = UINT64_MAX;
    memset(issue->asleep, 0, sizeof issue->asleep);
    issue->asleep[SM_IDLE_NO_WARP] = issue->subcores;
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

/* The pipe accepts nothing before `cycle`. */
static void occupy(ModernSubcore *core, int pipe, uint64_t cycle) {
    core->free_at[pipe] = cycle;
    if (cycle > core->all_free_at) core->all_free_at = cycle;
}

/* Sends another instruction to its pipe, after it has reserved its register ports. */
static void send_to_pipe(ModernIssue *issue, SmContext *sm, int warp, const ModernRow *row) {
    ModernSubcore *core = &issue->subcore[subcore_of(issue, warp)];
    uint32_t late = 0;
    if (row->is_fixed) {
        late = ports_read(&core->ports, row, warp, sm->cycle);
        core->issues_from = ports_free_from(&core->ports);
    }
    occupy(core, row->pipe, sm->cycle + late + row->busy);
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
    const uint32_t s = subcore_of(issue, warp);
    sm->view.warp[warp].instructions += issues_own(sm) ? slots : 1;
    if (issues_own(sm)) sm->counters.machine_instructions += slots;
    if (slots <= 1) return;
    issue->subcore[s].paid_until = sm->cycle + slots;
    issue->subcore[s].payer = (uint8_t)warp;
    issue->paying |= 1u << s;
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
        occupy(&issue->subcore[s], PIPE_TENSOR, from > sm->cycle ? from : sm->cycle + 1);
}

/* Issues the warp's next instruction. If it fails, SmContext.fault is set. */
static void issue_warp(ModernIssue *issue, SmContext *sm, int warp) {
    SmWarp *w = &sm->warps.warp[warp];
    const ModernRow *row = issue->head[warp];
    const uint32_t pc = w->handle->pc, active = w->handle->active;
    const SmOp *op = &w->grid->ops[pc];
    uint16_t before[ISA_COUNTERS];
    memcpy(before, issue->counters.value[warp], sizeof before);
    if (op->traits & SM_OP_SHARED) context_wait_issued(sm);
    const WarpEvent event = execute_next(sm, &issue->sums, w, op, false);
    if (event == WARP_FAULT) return;
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
}

/* ---- One sub-core ---- */

/* Warps whose next instruction finds no room in the sub-core's memory queue, or no free record in
 * the SM. */
static uint64_t without_room(const ModernIssue *issue, const SmContext *sm, uint32_t s) {
    const bool is_full = !memory_has_room(&issue->memory, s) || !insts_has_room(&sm->insts);
    uint64_t full = is_full ? issue->wants[PIPE_MEMORY] : 0;
    if (!counters_have_room(&issue->counters)) full |= ~issue->wants[PIPE_MEMORY];
    return full;
}

uint64_t modern_without_place(const ModernIssue *issue, const SmContext *sm, uint32_t s) {
    const ModernSubcore *core = &issue->subcore[s];
    uint64_t full = without_room(issue, sm, s);
    if (core->issues_from > sm->cycle) return UINT64_MAX;
    if (core->all_free_at <= sm->cycle) return full;
    for (int pipe = 0; pipe < PIPE_MEMORY; pipe++)
        if (core->free_at[pipe] > sm->cycle) full |= issue->wants[pipe];
    return full;
}

/* Ends the slots that are over in `cycle`. */
static void end_slots(ModernIssue *issue, uint64_t cycle) {
    for (uint32_t rest = issue->paying; rest; rest &= rest - 1) {
        const int s = bits_lowest32(rest);
        if (issue->subcore[s].paid_until <= cycle) issue->paying &= ~(1u << s);
    }
}

/* Most instructions without a slot that a sub-core executes in a cycle. Further ones wait, so that
 * no loop runs without end. */
enum { MOST_FREE = 256 };

/* Executes the next instructions of the sub-core's warps as long as they take no slot. */
static void pass_free(ModernIssue *issue, SmContext *sm, uint32_t s) {
    const uint64_t mine = sm->view.scheduler_warps[s];
    for (int i = 0; i < MOST_FREE && !sm->fault; i++) {
        const uint64_t free = issue->free & mine & ~without_room(issue, sm, s);
        const uint64_t warps = modern_ready_warps(issue, sm) & free & ~modern_paying(issue);
        if (!warps) return;
        issue_warp(issue, sm, bits_lowest64(warps));
    }
}

/* The warp that the sub-core issues an instruction of, among its `ready` ones; TYTO_NO_WARP: none,
 * or the policy failed. */
static int choose(ModernIssue *issue, SmContext *sm, uint32_t s, uint64_t ready) {
    const uint64_t eligible = ready & ~modern_without_place(issue, sm, s);
    const uint64_t candidates = eligible & issue->allowed;
    states_look(&issue->states, ready, eligible);
    if (!candidates || issue->paying >> s & 1) return TYTO_NO_WARP;
    return pick_warp(sm, (int)s, candidates);
}

/* ---- A cycle ---- */

/* Updates what the view holds about next instructions. */
static void show(const ModernIssue *issue, SmContext *sm) {
    const uint64_t live = context_live(sm), has = modern_with_instruction(issue, sm);
    sm->view.has_instruction = has;
    sm->view.waits_memory = (issue->blocked_long & has) | (live & warps_memory_waits(&sm->warps));
    sm->view.at_mbarrier = live & sm->warps.phase_waits;
    sm->view.waits_other = live & warps_other_waits(&sm->warps);
    sm->view.wants_load &= live;
}

/* Whether the SM certainly steps in the next cycle. */
static bool steps_next(const ModernIssue *issue, const SmContext *sm) {
    const uint64_t places = issue->wheel.occupied | issue->counters.occupied;
    return issue->has_ready || wheel_has(places, sm->cycle + 1);
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
    for (int outcome = 0; outcome < SM_OUTCOMES; outcome++)
        issue->sums.outcome[outcome] += issue->asleep[outcome] * cycles;
    for (uint32_t s = 0; s < issue->subcores && issue->looks; s++)
        issue->sums.seen[issue->subcore[s].seen] += cycles;
    if (!issue->paying) count_idle(issue, sm, cycles);
}

/* The warps that the policy allows to issue in this cycle. */
static uint64_t allowed_warps(SmContext *sm) {
    if (!sm->policy.limits) return UINT64_MAX;
    if (!sm->view.resident) return 0;
    const uint64_t allowed = sched_agent_may_issue(&sm->policy, &sm->view);
    return allowed & (~sm->view.wants_load | sched_agent_may_load(&sm->policy, &sm->view));
}

/* Moves the bit of each sub-core to the place of its turn, if `first` is the first sub-core. */
static uint32_t in_turn(const ModernIssue *issue, uint32_t subcores, uint32_t first) {
    return (subcores | subcores << issue->subcores) >> first & issue->all;
}

/* Runs the sub-cores that have a ready warp, starting with another one in each cycle. The others
 * are counted by the state in their turn: an instruction changes it only for later turns. */
static void run_subcores(ModernIssue *issue, SmContext *sm) {
    const uint32_t last = issue->subcores - 1, first = (uint32_t)sm->cycle & last;
    uint32_t left = issue->all & ~issue->paying; /* to be counted */
    for (uint32_t turn = 0; turn <= last && !sm->fault; turn++) {
        /* instructions without a slot pass in the next cycle */
        const uint64_t ready = modern_ready_warps(issue, sm) & ~issue->free;
        const uint32_t waiting = in_turn(issue, modern_subcores_of(issue, ready), first) >> turn;
        if (!waiting) break;
        turn += (uint32_t)bits_lowest32(waiting);
        const uint32_t s = (first + turn) & last;
        const int warp = choose(issue, sm, s, ready & sm->view.scheduler_warps[s]);
        if (warp == TYTO_NO_WARP) continue;
        const uint32_t before = in_turn(issue, (1u << turn) - 1, last + 1 - first);
        if (left & before) modern_count_stalls(issue, sm, left & before, issue->sums.outcome);
        left &= ~(before | 1u << s);
        issue->issued |= 1u << s;
        issue->states.issued |= UINT64_C(1) << warp;
        issue_warp(issue, sm, warp);
    }
    if (left) modern_count_stalls(issue, sm, left, issue->sums.outcome);
}

/* Executes instructions without a slot, before the policy is asked. */
static void pass_all(ModernIssue *issue, SmContext *sm) {
    for (uint32_t s = 0; s < issue->subcores && issue->free; s++)
        pass_free(issue, sm, s);
}

void modern_issue_step(ModernIssue *issue, SmContext *sm) {
    show(issue, sm);
    if (issue->steps_always) pick_tell_time(sm);
    states_begin_cycle(&issue->states, sm);
    end_slots(issue, sm->cycle);
    pass_all(issue, sm);
    issue->issued = issue->paying;
    issue->states.issued = modern_paying(issue);
    issue->allowed = allowed_warps(sm);
    run_subcores(issue, sm);
    issue->sums.outcome[SM_ISSUED] += (uint64_t)bits_count32(issue->issued);
    issue->has_ready = modern_ready_warps(issue, sm) != 0;
    show(issue, sm);
    end_slots(issue, sm->cycle + 1);
    if (issue->looks) modern_count_seen(issue, sm);
    if (!steps_next(issue, sm)) modern_foresee_outcomes(issue, sm);
    if (!issue->issued) count_idle(issue, sm, 1);
}

uint64_t modern_issue_next(const ModernIssue *issue) {
    uint64_t next = UINT64_MAX;
    for (uint32_t rest = issue->paying; rest; rest &= rest - 1) {
        const uint64_t until = issue->subcore[bits_lowest32(rest)].paid_until;
        if (until < next) next = until;
    }
    return next;
}

/* ---- What others see ---- */

void modern_issue_show_stalls(const ModernIssue *issue, SmContext *sm, const SmL1d *l1d,
                              const SmPort *port) {
    TytoSmView *view = &sm->view;
    const uint64_t ready = modern_ready_warps(issue, sm);
    uint64_t full = 0;
    for (uint32_t s = 0; s < issue->subcores; s++)
        full |= ready & view->scheduler_warps[s] & modern_without_place(issue, sm, s);
    view->lsu_full = full & issue->wants[PIPE_MEMORY];
    view->unit_full = full & ~view->lsu_full;
    l1d_show_room(l1d, port, view, ready);
}

SmStallReasons modern_stall_reasons(const ModernIssue *issue, const SmContext *sm) {
    const TytoSmView *view = &sm->view;
    SmStallReasons reasons = {{0}};
    uint64_t left = view->resident, full = 0;
    for (uint32_t s = 0; s < issue->subcores; s++)
        full |= view->scheduler_warps[s] & modern_without_place(issue, sm, s);
    sm_take_warp_reasons(&reasons, &left, sm, issue->states.issued | modern_paying(issue));
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
