/* The cost of an instruction's form by itself: the first row of lower.def that matches. */
#include "issue_stream/lower_internal.h"

typedef struct Cost {
    uint8_t op;      /* PtxOpcode */
    uint8_t slots;   /* issue slots */
    uint32_t types;  /* set of PtxType; 0: any */
    uint16_t rounds; /* set of PtxRound, any of them matches; 0: any */
    uint8_t mul;     /* PtxMulMode; 0: any */
    uint8_t scope;   /* PtxScope; 0: any */
    uint8_t space;   /* PtxSpace; 0: any */
    bool constant;   /* the last operand must be an immediate */
    uint32_t need;   /* flags that must be set */
} Cost;

#define T(type)  (1u << (PTX_##type))
#define R(round) (1u << (PTX_##round))
#define ANY      0
#define INT16    (T(U16) | T(S16) | T(B16))
#define INT32    (T(U32) | T(S32) | T(B32))
#define INT64    (T(U64) | T(S64) | T(B64))
#define ANY64    (INT64 | T(F64))

static const Cost costs[] = {
#define COST(opcode, set, count, ...)                                                              \
    {.op = PTX_OP_##opcode, .types = set, .slots = count, ##__VA_ARGS__},
#include "issue_stream/lower.def"
#undef COST
};

static bool is_number(const PtxInst *inst) {
    return inst->operand_count && inst->operands[inst->operand_count - 1].kind == PTX_OPERAND_IMM;
}

static bool fits(const Cost *cost, const PtxInst *inst) {
    return cost->op == inst->op && (!cost->types || cost->types >> inst->type & 1) &&
           (!cost->rounds || cost->rounds >> inst->round & 1) &&
           (!cost->mul || cost->mul == inst->mul_mode) &&
           (!cost->scope || cost->scope == inst->scope) &&
           (!cost->space || cost->space == inst->space) && (!cost->constant || is_number(inst)) &&
           (inst->flags & cost->need) == cost->need;
}

static bool is_integer(PtxType type) {
    return !ptx_type_is_float(type) && type != PTX_PRED && type != PTX_TYPE_NONE;
}

/* The slots of a conversion. */
static uint32_t cost_of_conversion(const PtxInst *inst) {
    PtxType to = inst->type, from = inst->type2;
    bool saturates = (inst->flags & PTX_FLAG_SAT) != 0;
    int to_bits = ptx_type_bits(to), from_bits = ptx_type_bits(from);
    if (!is_integer(to) || !is_integer(from)) {
        if (saturates && to == PTX_F64) return 15;
        if (to == from && inst->round == PTX_ROUND_NONE && !saturates) return 0;
        if (to == PTX_S8) return 3;
        if (to == PTX_U8) return 2;
        return saturates && is_integer(from) ? 2 : 1;
    }
    if (saturates) return (uint32_t)(2 + (from_bits == 64) * 3 + (to_bits < 32));
    bool widens = to_bits > from_bits;
    if (widens) return ptx_type_is_signed(from);
    return to_bits < 16;
}

/* Bit fields at a fixed position that one instruction extracts: a byte, or the lowest bits. */
static bool is_cut_at_once(const PtxInst *inst) {
    if (inst->op != PTX_OP_BFE || inst->type != PTX_U32 || inst->operand_count < 4) return false;
    const PtxOperand *place = &inst->operands[2], *length = &inst->operands[3];
    if (place->kind != PTX_OPERAND_IMM || length->kind != PTX_OPERAND_IMM) return false;
    return place->imm == 0 || (place->imm % 8 == 0 && length->imm == 8);
}

uint32_t lower_cost(const PtxInst *inst) {
    if (inst->op == PTX_OP_CVT) return cost_of_conversion(inst);
    if (is_cut_at_once(inst)) return 1;
    for (size_t i = 0; i < sizeof costs / sizeof *costs; i++)
        if (fits(&costs[i], inst)) return costs[i].slots;
    return 1;
}
