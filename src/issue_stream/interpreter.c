/* The interpreter as a source of instructions (see the header). */
#include "issue_stream/interpreter.h"

#include <assert.h>

#include "base/bits.h"
#include "isa/bulk.h"
#include "isa/cluster.h"
#include "issue_stream/lower.h"

static Interpreter *of(WarpSource *source) { return (Interpreter *)(void *)source; }
static const Interpreter *of_const(const WarpSource *source) {
    return (const Interpreter *)(const void *)source;
}
static IsaWarp *warp_of(SourceWarp *warp) { return (IsaWarp *)(void *)warp; }

/* ---- Programs ---- */

static uint32_t most_registers(const IsaProgram *program) {
    uint32_t most = program->code ? ISA_MACHINE_REGISTERS : 1;
    for (uint32_t i = 0; i < program->function_count; i++)
        if ((uint32_t)program->functions[i].ptx->reg_count > most)
            most = (uint32_t)program->functions[i].ptx->reg_count;
    return most;
}

const uint64_t *interpreter_leaders(const IsaProgram *program) {
    if (program->controls) return NULL;
    uint64_t *leaders =
        ARENA_ARRAY(program->arena, uint64_t, bits_words((size_t)program->inst_count + 1));
    for (uint32_t f = 0; f < program->function_count; f++)
        bits_set(leaders, program->functions[f].entry);
    for (uint32_t pc = 0; pc < program->inst_count; pc++) {
        const IsaInst *inst = &program->insts[pc];
        if (inst->flow == ISA_FLOW_BRANCH) bits_set(leaders, (size_t)inst->target);
        if (inst->flow != ISA_FLOW_BRANCH_INDEX) continue;
        const uint32_t *targets = &program->targets[inst->target];
        for (uint32_t i = 1; i <= targets[0]; i++)
            bits_set(leaders, targets[i]);
    }
    return leaders;
}

WarpProgram interpreter_program(const IsaProgram *program, bool is_lowered) {
    return (WarpProgram){.infos = program->infos,
                         .regs = program->reg_pool,
                         .slots = is_lowered && !program->code ? isa_lower(program) : NULL,
                         .controls = program->controls,
                         .count = program->inst_count + (program->code != NULL), /* and a trap */
                         .registers = most_registers(program)};
}

/* ---- Steps ---- */

static_assert((int)WARP_GOES_ON == ISA_EVENT_NONE && (int)WARP_WAITS == ISA_EVENT_BARRIER &&
                  (int)WARP_EXITED == ISA_EVENT_EXIT && (int)WARP_FAULT == ISA_EVENT_FAULT,
              "a step's events are those of isa_step");

static WarpEvent step(WarpSource *source, SourceWarp *handle, uint64_t cycle) {
    IsaContext *context = &of(source)->context;
    context->cycle = cycle;
    return (WarpEvent)isa_step(context, warp_of(handle));
}

/* The same for a launch whose registers are printed at some instruction. */
static WarpEvent step_with_dump(WarpSource *source, SourceWarp *warp, uint64_t cycle) {
    of(source)->context.cycle = cycle;
    isa_dump_if_due(&of(source)->context, warp_of(warp));
    return step(source, warp, cycle);
}

static const IsaFault *fault(const WarpSource *source) {
    const IsaFault *fault = &of_const(source)->context.fault;
    return fault->is_set ? fault : NULL;
}

/* ---- CTAs ---- */

static void start_cta(WarpSource *source, uint32_t slot, uint64_t index, uint32_t first_warp,
                      SourceWarp **warps) {
    IsaCta *cta = &of(source)->ctas[slot];
    const IsaLaunch *launch = of(source)->context.launch;
    isa_cta_start(cta, launch, index);
    cta->sm = of(source)->context.sm;
    cta->slot = slot;
    for (uint32_t i = 0; i < launch->warps; i++) {
        cta->warps[i].slot = first_warp + i;
        warps[i] = &cta->warps[i].at;
    }
}

static uint32_t waiting(const WarpSource *source, uint32_t slot) {
    return of_const(source)->ctas[slot].waiting;
}

/* ---- Waits for a phase of an mbarrier ---- */

static bool is_wait(const IsaProgram *program, const IsaInst *inst) {
    if (program->code) return inst->flags & ISA_MBARRIER_WAITS;
    return inst->sub == ISA_MBARRIER_WAIT || inst->sub == ISA_MBARRIER_WAIT_PARITY;
}

static WarpPhase phase(WarpSource *source, SourceWarp *handle, uint32_t pc, uint32_t lanes,
                       uint64_t *cycles) {
    const IsaContext *context = &of(source)->context;
    const IsaInst *inst = &context->program->insts[pc];
    const IsaWarp *warp = warp_of(handle);
    if (!is_wait(context->program, inst)) return WARP_PHASE_CHANGED;
    bool is_over = !lanes || (warp->preds[inst->operand[0]] & lanes) == lanes;
    if (is_over || !(inst->flags & ISA_MBARRIER_TRIES)) return WARP_PHASE_OVER;
    if (inst->operand[3] == ISA_SINK) return WARP_PHASE_TRIES;
    uint64_t ns = isa_row32(warp, inst->operand[3])[bits_lowest32(lanes)];
    *cycles = ns * 1000 / context->launch->ps_per_cycle;
    return WARP_PHASE_TRIES;
}

static bool try_again(WarpSource *source, SourceWarp *warp, uint32_t pc, uint32_t lanes) {
    return isa_try_again(&of(source)->context, warp_of(warp), pc, lanes);
}

/* ---- Bulk copies ---- */

static uint32_t bulk(const WarpSource *source, const IsaBulk **copies) {
    const IsaContext *context = &of_const(source)->context;
    *copies = of_const(source)->bulk;
    return context->did.executed ? context->bulk_count : 0; /* no lane began one */
}

static void bulk_done(WarpSource *source, SourceWarp *warp, const IsaBulk *copy) {
    isa_bulk_done(&of(source)->context, warp_of(warp), copy);
}

static uint32_t places(const WarpSource *source, const SourceWarp *warp, const IsaBulk *copy,
                       SourcePlace *places) {
    const IsaCta *own = interpreter_warp(warp)->cta;
    uint32_t ranks = copy->kind == ISA_BULK_RELEASE ? UINT16_MAX : copy->ranks, count = 0;
    (void)source;
    for (; ranks; ranks &= ranks - 1) {
        const IsaCta *cta = isa_cluster_cta(own, (uint64_t)bits_lowest32(ranks));
        if (cta) places[count++] = (SourcePlace){cta->sm, cta->slot};
    }
    return count;
}

/* ---- Hints ---- */

static uint64_t cache_policy(const WarpSource *source, const SourceWarp *warp, uint32_t pc,
                             int lane) {
    const IsaOperand row = source->program->infos[pc].policy - ISA_POLICY_BIAS;
    return isa_row64(interpreter_warp(warp), row)[lane];
}

/* ---- Deadlock detection ---- */

static uint64_t changes(const WarpSource *source) { return of_const(source)->context.changes; }

static bool only_polls(const WarpSource *source, const SourceWarp *warp, uint32_t rounds,
                       bool for_ever) {
    IsaPollTest *polls = for_ever ? isa_polls_forever : isa_only_polls;
    return polls(&of_const(source)->context, interpreter_warp(warp), rounds);
}

static void prove_polls(WarpSource *source, bool proves) {
    of(source)->context.proves_polls = proves;
}

static void reset_polls(WarpSource *source, SourceWarp *warp) {
    (void)source;
    isa_reset_polls(warp_of(warp));
}

/* ---- The source ---- */

#define INTERPRETER(step_function)                                                                 \
    {.name = "ptx",                                                                                \
     .step = step_function,                                                                        \
     .start_cta = start_cta,                                                                       \
     .waiting = waiting,                                                                           \
     .phase = phase,                                                                               \
     .try_again = try_again,                                                                       \
     .bulk = bulk,                                                                                 \
     .bulk_done = bulk_done,                                                                       \
     .places = places,                                                                             \
     .cache_policy = cache_policy,                                                                 \
     .fault = fault,                                                                               \
     .changes = changes,                                                                           \
     .only_polls = only_polls,                                                                     \
     .prove_polls = prove_polls,                                                                   \
     .reset_polls = reset_polls}
static const WarpSourceType plain = INTERPRETER(step), dumping = INTERPRETER(step_with_dump);

void interpreter_init(Interpreter *source, IsaCta *ctas, uint32_t cta_count) {
    *source = (Interpreter){.ctas = ctas, .cta_count = cta_count};
}

void interpreter_free(Interpreter *source) {
    for (uint32_t i = 0; i < source->cta_count; i++)
        isa_cta_free(&source->ctas[i]);
}

WarpSource *interpreter_start(Interpreter *source, const IsaContext *context,
                              const WarpProgram *program) {
    const IsaLaunch *launch = context->launch;
    source->context = *context;
    source->context.bulk = source->bulk;
    isa_context_start(&source->context);
    source->source = (WarpSource){.type = launch->dump_line ? &dumping : &plain,
                                  .did = &source->context.did,
                                  .program = program,
                                  .memory = context->memory,
                                  .window = launch->window,
                                  .warps = launch->warps,
                                  .has_clusters = launch->clusters != NULL,
                                  .entry = launch->function ? launch->function->entry : 0};
    return &source->source;
}
