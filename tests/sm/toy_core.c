/* A core that issues one instruction per cycle (see the header). */
#include "toy_core.h"

#include "sm/execute.h"
#include "sm/parts.h"

typedef struct Toy {
    SmExecute execute;
    SmIssueSums sums;
    SmBankWrites writes;
    uint64_t written; /* target of `writes`; any number of loads may end in a cycle */
    uint64_t busy;    /* warps with a memory instruction under way */
    int last;         /* warp that issued last */
} Toy;

static void *build(Sm *sm) {
    Toy *toy = ARENA_NEW(sm->context.arena, Toy);
    toy->writes = (SmBankWrites){.of = {&toy->written}};
    execute_init(&toy->execute, &sm->context);
    return toy;
}

static void destroy(Sm *sm) { (void)sm; }

static void start(Sm *sm) {
    Toy *toy = sm->record;
    toy->busy = 0;
    toy->last = 0;
    toy->sums = (SmIssueSums){0};
    execute_start(&toy->execute);
}

static void begin_grid(Sm *sm, SmGrid *grid) {
    Toy *toy = sm->record;
    execute_begin_grid(&toy->execute, &sm->context, grid);
}

static void ignore(Sm *sm) { (void)sm; }

static void start_warp(Sm *sm, int warp) {
    Toy *toy = sm->record;
    toy->busy &= ~(UINT64_C(1) << warp);
}

static void line_arrived(Sm *sm, const MemRequest *line) { (void)sm, (void)line; }

/* ---- Ended instructions and accesses ---- */

static void end_inst(Toy *toy, SmContext *context, uint16_t index) {
    const SmInst *inst = &context->insts.inst[index];
    warps_inst_done(&context->warps, inst);
    toy->busy &= ~(UINT64_C(1) << inst->warp);
    warps_settle(&context->warps, inst->warp, false);
    insts_free(&context->insts, index);
}

static void hear(Toy *toy, SmContext *context) {
    for (uint32_t i = 0; i < context->events.count; i++) {
        const SmEvent event = context->events.items[i];
        if (event.kind == SM_EVENT_INST_DONE) {
            end_inst(toy, context, event.index);
            continue;
        }
        if (event.kind == SM_EVENT_STORE_DONE) warps_store_done(&context->warps, event.index);
        else warps_atomic_done(&context->warps, event.index);
        warps_settle(&context->warps, event.index, toy->busy >> event.index & 1);
    }
    context->events.count = 0;
}

/* ---- Issue ---- */

static const SmOp *next_op(const SmContext *context, int warp) {
    const SmWarp *w = &context->warps.warp[warp];
    return &w->grid->ops[w->handle->pc];
}

/* The next warp after the last one that can issue; -1 if none can. */
static int pick(const Sm *sm, const Toy *toy) {
    const SmContext *context = &sm->context;
    uint64_t ready = context_live(context) & ~context->view.at_barrier & ~context->warps.held;
    ready &= ~(toy->busy | context->policy.paused);
    for (int i = 1; i <= TYTO_MAX_WARPS; i++) {
        const int warp = (toy->last + i) % TYTO_MAX_WARPS;
        if (!(ready >> warp & 1)) continue;
        if (next_op(context, warp)->unit != SM_UNIT_LDST || lsu_is_free(&sm->lsu)) return warp;
    }
    return -1;
}

/* Enters the memory instruction that has just executed into the load/store unit. */
static void access(Sm *sm, Toy *toy, int warp, uint32_t pc, const SmOp *op, uint32_t lanes) {
    SmContext *context = &sm->context;
    const uint16_t index = insts_new(&context->insts);
    SmInst *inst = &context->insts.inst[index];
    *inst = (SmInst){.pc = pc,
                     .lanes = lanes,
                     .memory = SM_NONE,
                     .next = SM_NONE,
                     .warp = (uint8_t)warp,
                     .unit = SM_UNIT_LDST};
    if (op->flags & ISA_IS_COPY) inst->copy = warps_copy_issued(&context->warps, warp);
    warps_issued(&context->warps, warp);
    warps_accesses(&context->warps, inst,
                   execute_accesses(&toy->execute, context, inst, op, false));
    lsu_accept(&sm->lsu, context, index);
    toy->busy |= UINT64_C(1) << warp;
}

static void issue(Sm *sm, Toy *toy, int warp) {
    SmContext *context = &sm->context;
    SmWarp *w = &context->warps.warp[warp];
    const SmOp *op = next_op(context, warp);
    const uint32_t pc = w->handle->pc, active = w->handle->active;
    toy->last = warp;
    if (op->traits & SM_OP_SHARED) context_wait_issued(context);
    const WarpEvent event = execute_next(context, &toy->sums, w, op, false);
    if (event == WARP_FAULT) return;
    const uint32_t lanes = w->grid->source->did->executed;
    context->view.warp[warp].instructions++;
    context->view.warp[warp].thread_instructions += (uint64_t)bits_count32(active);
    if (op->unit == SM_UNIT_LDST) access(sm, toy, warp, pc, op, lanes);
    execute_follow(context, warp, pc, op->flags, event == WARP_EXITED, toy->busy >> warp & 1);
    if (op->traits & SM_OP_PHASE) warps_at_mbarrier(context, warp, pc, lanes);
}

static void step(Sm *sm) {
    SmContext *context = &sm->context;
    Toy *toy = sm->record;
    sm_count_cycles(sm, context->cycle);
    sm->cycles.settled = context->cycle + 1;
    context->view.cycle = context->cycle;
    toy->written = 0;
    lsu_step(&sm->lsu, context, &sm->l1d, &sm->port, &toy->writes);
    sm_step_agents(sm);
    hear(toy, context);
    warps_end_tries(context);
    const int warp = pick(sm, toy);
    if (warp >= 0) issue(sm, toy, warp);
    sm_tell_issued(sm);
    toy->sums.outcome[warp >= 0 ? SM_ISSUED : SM_SCOREBOARD_MEMORY]++;
    if (sm_retirable(sm)) sm_retire(sm, sm_retirable(sm));
    const bool is_over =
        !context->view.resident && !lsu_has_work(&sm->lsu, context, &sm->l1d, &sm->port);
    *context->env.wake = is_over ? sm_next_event(sm) : context->cycle + 1;
}

/* ---- Accounting ---- */

static void count_cycles(Sm *sm, uint64_t cycles) {
    Toy *toy = sm->record;
    toy->sums.outcome[SM_IDLE_NO_WARP] += cycles;
}

static void settle(Sm *sm) {
    Toy *toy = sm->record;
    issue_sums_settle(&toy->sums, 1, false, &sm->context.counters, &sm->context.histograms);
}

static uint64_t memory_cycles(const Sm *sm) {
    (void)sm;
    return 0;
}

static SmStallReasons stall_reasons(const Sm *sm) {
    const Toy *toy = sm->record;
    SmStallReasons reasons = {{0}};
    uint64_t left = sm->context.view.resident;
    stall_reasons_take(&reasons, &left, sm->context.view.at_barrier, PROFILE_cycles_barrier);
    stall_reasons_take(&reasons, &left, toy->busy, PROFILE_cycles_memory);
    stall_reasons_take(&reasons, &left, UINT64_MAX, PROFILE_cycles_turn);
    return reasons;
}

const SmCore toy_core = {.name = "toy",
                         .build = build,
                         .destroy = destroy,
                         .start = start,
                         .begin_grid = begin_grid,
                         .end_grid = ignore,
                         .wake = ignore,
                         .start_warp = start_warp,
                         .line_arrived = line_arrived,
                         .step = step,
                         .count_cycles = count_cycles,
                         .settle = settle,
                         .memory_cycles = memory_cycles,
                         .stall_reasons = stall_reasons};
