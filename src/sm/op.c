/* Builds the SM's rows of instructions (see the header). */
#include "sm/op.h"

#include "base/arena.h"
#include "base/bits.h"
#include "sm/hints.h"
#include "sm/products.h"

enum {
    LONGEST_ROUTINE = 960, /* cycles; results to come are kept for 1024 cycles */
    ENTRY = 4              /* cycles from issue into the pipeline (docs/sm.md) */
};

/* Whether a load goes through the L1D. */
static bool is_l1d_load(const IsaInfo *info) {
    return info->memory == ISA_MEMORY_LOAD &&
           (info->space == PTX_SPACE_GLOBAL || info->space == PTX_SPACE_LOCAL ||
            info->space == PTX_SPACE_NONE);
}

/* Whether the result of the instruction can depend on the order of accesses of several SMs. A call
 * may be a builtin function: malloc, printf. */
static bool is_seen_by_others(const IsaInfo *info) {
    if (info->flags & (ISA_IS_CALL | ISA_IS_COPY)) return true;
    switch (info->space) {
    case PTX_SPACE_SHARED:
    case PTX_SPACE_LOCAL:
    case PTX_SPACE_CONST:
    case PTX_SPACE_PARAM: return false;
    default: return info->memory != ISA_MEMORY_NONE;
    }
}

/* Flags of instructions that affect their warp beyond its registers. */
enum {
    DOES_MORE = ISA_IS_BULK | ISA_IS_FENCE | ISA_IS_COPY | ISA_IS_COPY_COMMIT | ISA_IS_COPY_WAIT |
                ISA_IS_BARRIER
};

static bool reads_own(const IsaReg *regs, uint32_t results, uint32_t uses) {
    for (uint32_t i = 0; i < results; i++)
        for (uint32_t j = results; j < uses; j++)
            if (regs[i].number == regs[j].number) return true;
    return false;
}

static uint8_t traits_of(const SmConfig *config, const IsaInfo *info) {
    bool is_load = is_l1d_load(info);
    bool is_long =
        is_load || info->memory == ISA_MEMORY_ATOMIC || info->memory == ISA_MEMORY_TEXTURE;
    bool holds = config->lsu.loads_block && is_long && info->memory != ISA_MEMORY_ATOMIC;
    bool does_more =
        (info->flags & (DOES_MORE | ISA_IS_PHASE | ISA_IS_WARPGROUP | ISA_IS_DEPENDENCY)) != 0;
    bool is_hinted = hints_are_in(info) || info->flags & ISA_NAMES_ROWS;
    return (uint8_t)((is_load ? SM_OP_L1D_LOAD : 0) | (is_long ? SM_OP_LONG : 0) |
                     (is_seen_by_others(info) ? SM_OP_SHARED : 0) |
                     (info->flags & ISA_IS_PHASE ? SM_OP_PHASE : 0) | (holds ? SM_OP_HOLDS : 0) |
                     (does_more ? SM_OP_MORE : 0) | (is_hinted ? SM_OP_HINTED : 0));
}

static uint8_t counts_of(const IsaInfo *info, SmUnit unit) {
    static const uint8_t memory[] = {[ISA_MEMORY_LOAD] = SM_COUNTS_LOAD,
                                     [ISA_MEMORY_STORE] = SM_COUNTS_STORE,
                                     [ISA_MEMORY_ATOMIC] = SM_COUNTS_ATOMIC,
                                     [ISA_MEMORY_TEXTURE] = SM_COUNTS_LOAD};
    return (uint8_t)((uint32_t)unit | memory[info->memory] |
                     (info->flags & ISA_IS_BRANCH ? SM_COUNTS_BRANCH : 0) |
                     (info->flags & ISA_IS_BARRIER ? SM_COUNTS_BARRIER : 0));
}

static SmRegs numbers_of(const IsaReg *regs, uint32_t count) {
    SmRegs set = 0;
    for (uint32_t i = 0; i < count; i++)
        set |= (SmRegs)1 << regs[i].number % SM_OP_REGS;
    return set;
}

/* Register banks for warp 0, repeated over the word. */
static uint64_t banks_of(const SmConfig *config, const IsaReg *regs, uint32_t count) {
    uint64_t set = 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t bank = regs[i].ordinal % config->collector.banks; bank < 64;
             bank += config->collector.banks)
            set |= UINT64_C(1) << bank;
    return set;
}

/* Timing of a warpgroup's product: it occupies its pipeline, and consumers wait for its group. */
static SmOpConfig timing_of_product(const SmConfig *config, const IsaInfo *info) {
    const uint32_t cycles = products_cycles(config, info);
    SmOpConfig timing = config->ops[ISA_CLASS_MATRIX];
    if (!cycles) return timing;
    timing.latency = 1;
    timing.initiation = cycles;
    if (config->units[SM_UNIT_TENSOR].count) timing.unit = SM_UNIT_TENSOR;
    return timing;
}

/* The pipeline and timing of an instruction. For a matrix product they follow from its number of
 * multiplications. */
static SmOpConfig timing_of(const SmConfig *config, const IsaInfo *info) {
    SmOpConfig timing = config->ops[info->op_class];
    if (info->op_class != ISA_CLASS_MATRIX) return timing;
    if (info->flags & ISA_IS_WARPGROUP) return timing_of_product(config, info);
    const SmTensorConfig *tensor = &config->tensor;
    uint32_t rate = tensor->rate[info->element_bytes & ~ISA_TENSOR_SPARSE];
    if (!rate) return timing;
    uint32_t least = info->element_bytes & ISA_TENSOR_SPARSE ? tensor->sparse_step : 0;
    uint32_t cycles = ((UINT32_C(1) << info->vector) + rate - 1) / rate;
    uint32_t latency = tensor->latency + (cycles > tensor->step ? tensor->step_latency : 0);
    if (cycles < tensor->step) cycles = tensor->step;
    return (SmOpConfig){.latency = latency + cycles,
                        .initiation = cycles > least ? cycles : least,
                        .unit = SM_UNIT_TENSOR};
}

uint32_t sm_op_distance(const SmConfig *config) {
    uint32_t saved =
        (config->collector.steps > 1 ? 1u : 0u) + (config->collector.is_ideal ? 1u : 0u);
    return ENTRY - saved + config->write_back;
}

uint32_t sm_op_longest(const SmConfig *config) {
    uint32_t longest = 0;
    for (int class = 0; class < ISA_CLASS_COUNT; class ++)
        if (config->ops[class].latency > longest) longest = config->ops[class].latency;
    for (int type = 0; type < ISA_TENSORS; type++) {
        uint32_t rate = config->tensor.rate[type];
        uint32_t most = type == ISA_TENSOR_BIT ? SM_TENSOR_BITS : SM_TENSOR_PRODUCTS;
        uint32_t beside =
            config->tensor.latency + config->tensor.step + config->tensor.step_latency;
        uint32_t latency = rate ? beside + (most + rate - 1) / rate : 0;
        if (latency > longest) longest = latency;
    }
    bool has_routines = config->instructions != SM_INSTRUCTIONS_PTX;
    return has_routines && longest < LONGEST_ROUTINE ? LONGEST_ROUTINE : longest;
}

SmOp sm_op(const SmConfig *config, const IsaInfo *info, const IsaReg *pool) {
    const SmOpConfig timing = timing_of(config, info);
    const IsaReg *regs = &pool[info->regs], *operands = regs + info->dst_count;
    uint32_t reads =
        config->collector.is_ideal ? 0 : (uint32_t)info->src_count + info->address_count;
    uint32_t uses =
        (uint32_t)info->dst_count + info->src_count + info->address_count + info->guard_count;
    uint32_t own = reads_own(regs, info->dst_count, uses) ? SM_OP_READS_OWN : 0;
    return (SmOp){.uses = numbers_of(regs, uses),
                  .results = numbers_of(regs, info->dst_count),
                  .reads = banks_of(config, operands, reads),
                  .writes = banks_of(config, regs, info->dst_count),
                  .regs = info->regs,
                  .latency = (uint16_t)timing.latency,
                  .initiation = (uint16_t)timing.initiation,
                  .flags = (uint16_t)info->flags,
                  .result_count = info->dst_count,
                  .use_count = (uint16_t)uses,
                  .read_count = (uint16_t)reads,
                  .unit = (uint8_t)timing.unit,
                  .traits = (uint8_t)(traits_of(config, info) | own),
                  .counts = counts_of(info, timing.unit),
                  .slots = {.slots = 1, .taken = 1, .passed = 1, .chain = 1}};
}

/* Limits the cycles of a routine to LONGEST_ROUTINE, but not below the cycles of one
 * instruction. */
static uint16_t bounded(uint32_t cycles, uint16_t one) {
    uint32_t most = one > LONGEST_ROUTINE ? one : LONGEST_ROUTINE;
    return (uint16_t)(cycles < most ? cycles : most);
}

/* The class of a routine's other instructions. A division or a root starts with an approximation by
 * the SFU, which multiply-adds refine. */
static IsaClass class_of_rest(const IsaInfo *info) {
    switch ((IsaClass)info->op_class) {
    case ISA_CLASS_INT_DIV:
    case ISA_CLASS_INT_REM: return ISA_CLASS_INT_MAD;
    case ISA_CLASS_FP32_DIV: return ISA_CLASS_FP32_MAD;
    case ISA_CLASS_FP64_DIV: return ISA_CLASS_FP64_MAD;
    case ISA_CLASS_SFU:
        return info->element_bytes == sizeof(double) ? ISA_CLASS_FP64_MAD : ISA_CLASS_FP32_MAD;
    default: return (IsaClass)info->op_class;
    }
}

/* Instructions that depend on each other take the sum of their latencies. Those that use the first
 * instruction's pipeline occupy it for the sum of their initiation intervals. */
void sm_op_lower(SmOp *op, const SmConfig *config, const IsaInfo *info, IsaSlots slots) {
    uint32_t links = slots.chain > 1 ? slots.chain - 1u : 0, more = slots.slots;
    const SmOpConfig rest = config->ops[class_of_rest(info)];
    uint32_t distance = rest.latency + sm_op_distance(config);
    op->slots = slots;
    if (op->unit == SM_UNIT_LDST || info->op_class == ISA_CLASS_MATRIX) return;
    more = more > 1 && (uint32_t)rest.unit == op->unit ? more - 1 : 0;
    op->latency = bounded(op->latency + links * distance, op->latency);
    op->initiation = bounded(op->initiation + more * rest.initiation, op->initiation);
}

SmOp sm_op_at(const SmConfig *config, const WarpProgram *program, uint32_t pc, IsaClass class) {
    IsaInfo info = warp_program_info(program, pc);
    info.op_class = (uint8_t)class;
    SmOp op = sm_op(config, &info, program->regs);
    if (program->slots) sm_op_lower(&op, config, &info, program->slots[pc]);
    return op;
}

SmOp *sm_ops_new(const SmConfig *config, const WarpProgram *program) {
    SmOp *ops = base_alloc_lines(program->count * sizeof *ops);
    for (uint32_t pc = 0; pc < program->count; pc++)
        ops[pc] = sm_op_at(config, program, pc, (IsaClass)program->infos[pc].op_class);
    return ops;
}
