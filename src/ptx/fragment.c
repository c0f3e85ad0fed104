/* Fragments: the sizes, element types and registers of each matrix instruction's operands. */
#include "ptx/fragment.h"

PtxMatrixSize ptx_matrix_size(PtxMatrixShape shape) {
    static const PtxMatrixSize sizes[] = {[PTX_SHAPE_NONE] = {0, 0, 0},
                                          [PTX_SHAPE_M8N8] = {8, 8, 0},
#define SHAPE_SIZE(m, n, k) [PTX_SHAPE_M##m##N##n##K##k] = {m, n, k},
                                          PTX_MATRIX_SHAPES(SHAPE_SIZE)
#undef SHAPE_SIZE
    };
    return sizes[shape];
}

PtxMatrixTypes ptx_matrix_types(const PtxInst *inst) {
    if (inst->type2 == PTX_TYPE_NONE) /* loads and stores have only one type */
        return (PtxMatrixTypes){inst->type, inst->type, inst->type, inst->type};
    if (inst->type3 == PTX_TYPE_NONE) /* wmma.mma of f16 names D and C */
        return (PtxMatrixTypes){PTX_F16, PTX_F16, inst->type2, inst->type};
    if (inst->type4 == PTX_TYPE_NONE) /* wgmma: C has D's type */
        return (PtxMatrixTypes){inst->type2, inst->type3, inst->type, inst->type};
    return (PtxMatrixTypes){inst->type2, inst->type3, inst->type4, inst->type};
}

/* The role of an operand of wmma.load and wmma.store. */
static char role_of(const PtxInst *inst, char name) {
    if (inst->op != PTX_OP_WMMA || inst->sub2 == PTX_SUB_WMMA_MMA) return name;
    if (inst->sub2 == PTX_SUB_WMMA_STORE) return 'd';
    return inst->sub == PTX_SUB_MATRIX_A ? 'a' : inst->sub == PTX_SUB_MATRIX_B ? 'b' : 'c';
}

static PtxType register_type(PtxType element) {
    bool is_whole = element == PTX_F32 || element == PTX_S32 || element == PTX_F64;
    return is_whole ? element : PTX_B32;
}

PtxFragment ptx_fragment(const PtxInst *inst, char name) {
    enum { LANES = 32, WMMA_F16_REGISTERS = 8 };
    PtxMatrixSize size = ptx_matrix_size(inst->shape);
    const PtxMatrixTypes types = ptx_matrix_types(inst);
    const char role = role_of(inst, name);
    if (inst->op == PTX_OP_WGMMA) size.m /= 4; /* the part of one warp */
    PtxFragment fragment = {.rows = size.m, .columns = size.n, .element = types.d};
    if (inst->shape == PTX_SHAPE_M8N8) { /* ldmatrix, stmatrix, movmatrix: a register per matrix */
        fragment.reg = PTX_B32;
        fragment.regs = fragment.distinct = inst->vector;
        return fragment;
    }
    if (role == 'a') {
        fragment.element = types.a;
        fragment.columns = inst->flags & PTX_FLAG_SPARSE ? size.k / 2 : size.k;
    } else if (role == 'b') {
        fragment.element = types.b;
        fragment.rows = size.k;
    } else if (role == 'c') {
        fragment.element = types.c;
    }
    const int bits = ptx_type_bits(fragment.element);
    fragment.reg = register_type(fragment.element);
    int threads = LANES;
    /* mma.m8n8k4 of f16 consists of four products, by eight threads each. */
    if (inst->op == PTX_OP_MMA && inst->shape == PTX_SHAPE_M8N8K4 && types.a == PTX_F16)
        threads = 8;
    const int per_thread = fragment.rows * fragment.columns / threads;
    fragment.regs = fragment.distinct = (uint8_t)(bits < 32 ? per_thread * bits / 32 : per_thread);
    if (inst->op == PTX_OP_WMMA && (role == 'a' || role == 'b') && fragment.element == PTX_F16)
        fragment.regs = WMMA_F16_REGISTERS;
    return fragment;
}
