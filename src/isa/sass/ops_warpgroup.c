/* Products of four warps (sm_90): HGMMA, IGMMA, BGMMA, QGMMA, WARPGROUP, and USETMAXREG. Found from
 * the code that ptxas generates for wgmma and setmaxnreg.
 *
 * Descriptors are four uniform registers: A's, which is used if A is in shared memory, and B's. The
 * product that ends a group (wgmma.commit_group) has its counter, gsb0. A group without products
 * ends with a product into RZ. */
#include "isa/sass/translate.h"

#include "isa/exec/matrix.h"
#include "isa/exec/wgmma.h"

/* ---- Products ---- */

/* The number of columns in units of 8, less one. Integer and bit products support fewer numbers. */
static int columns_of(const Translator *t) {
    static const uint8_t numbers[] = {0,  1,  2,  3,  5,  7,  9,  11, 13,
                                      15, 17, 19, 21, 23, 25, 27, 29, 31};
    enum { COUNT = sizeof numbers };
    const int step = t->sass->op == SASS_OP_IGMMA ? 3 : 1;
    const int number =
        step > 1 ? tr_mod(t, SASS_MOD_IGMMA_COLUMNS) : tr_mod(t, SASS_MOD_BGMMA_COLUMNS);
    if (t->sass->op != SASS_OP_IGMMA && t->sass->op != SASS_OP_BGMMA)
        return tr_mod(t, SASS_MOD_GMMA_COLUMNS);
    return number % step > 1 || number / step >= COUNT ? -1 : numbers[number / step];
}

/* The shape with 8 columns and the instruction's depth. */
static PtxMatrixShape first_shape(const Translator *t) {
    static const PtxMatrixShape halves[] = {PTX_SHAPE_M64N8K16, PTX_SHAPE_M64N8K8,
                                            PTX_SHAPE_M64N8K32, PTX_SHAPE_M64N8K256};
    switch (t->sass->op) {
    case SASS_OP_HGMMA: return halves[tr_mod(t, SASS_MOD_GMMA_DEPTH)];
    case SASS_OP_BGMMA: return PTX_SHAPE_M64N8K256;
    case SASS_OP_IGMMA:
        return tr_mod(t, SASS_MOD_IGMMA_COLUMNS) % 3 ? PTX_SHAPE_M64N8K64 : PTX_SHAPE_M64N8K32;
    default: return tr_mod(t, SASS_MOD_GMMA_BYTES) ? PTX_SHAPE_M64N8K64 : PTX_SHAPE_M64N8K32;
    }
}

/* The formats of a product's matrices, from the operation and its modifiers. */
static IsaMatrix matrix_of(const Translator *t, int columns) {
    static const uint8_t halves[] = {PTX_F16, PTX_BF16, PTX_TF32, PTX_TYPE_NONE};
    static const uint8_t bytes[] = {PTX_U8, PTX_S8}, floats[] = {PTX_E4M3, PTX_E5M2};
    const uint8_t sum = tr_mod(t, SASS_MOD_HMMA_OUT) ? PTX_F32 : PTX_F16;
    IsaMatrix m = {.shape = (uint8_t)((int)first_shape(t) + columns)};
    switch (t->sass->op) {
    case SASS_OP_HGMMA: m.a = m.b = halves[tr_mod(t, SASS_MOD_HMMA_IN)]; break;
    case SASS_OP_IGMMA:
        m.a = bytes[tr_mod(t, SASS_MOD_IMMA_A)];
        m.b = bytes[tr_mod(t, SASS_MOD_IMMA_B)];
        break;
    case SASS_OP_BGMMA: m.a = m.b = PTX_B1; break;
    default:
        m.a = floats[tr_mod(t, SASS_MOD_GMMA_A)];
        m.b = floats[tr_mod(t, SASS_MOD_GMMA_B)];
        break;
    }
    const bool is_integer = t->sass->op == SASS_OP_IGMMA || t->sass->op == SASS_OP_BGMMA;
    m.c = m.d = is_integer ? PTX_S32 : sum;
    m.operation = PTX_SUB_AND;
    m.flags = (uint8_t)((tr_mod(t, SASS_MOD_SAT) ? ISA_MATRIX_SATURATES : 0) |
                        (tr_mod(t, SASS_MOD_SP) ? ISA_MATRIX_SPARSE : 0));
    return m;
}

/* Whether the depth fits the factors' format; it is twice as large if A is sparse. */
static bool is_shape(const Translator *t, const IsaMatrix *m) {
    const bool is_and = tr_mod(t, SASS_MOD_BMMA_OP) == SASS_BMMA_OP_AND;
    const int depth = ptx_matrix_size((PtxMatrixShape)m->shape).k;
    if (t->sass->op == SASS_OP_BGMMA) return is_and && tr_mod(t, SASS_MOD_POPC);
    const int bits = ptx_type_bits((PtxType)m->a); /* 32 bytes of A's elements per row are stored */
    return depth * bits == 256 * (tr_mod(t, SASS_MOD_SP) ? 2 : 1);
}

/* A descriptor: the pair of uniform registers `add` after the operand's first one. */
static IsaOperand descriptor(Translator *t, const SassOperand *operand, int add) {
    SassOperand pair = *operand;
    pair.kind = SASS_UREG;
    if (pair.value != SASS_URZ) pair.value += add;
    return tr_joined(t, &pair);
}

/* d, (descriptors | a, descriptor), c, p(, metadata(, selector)), counter */
bool tr_op_gmma(Translator *t) {
    const bool is_register = tr_operand(t, 1)->kind == SASS_REG;
    const SassOperand *d = tr_operand(t, 0), *a = tr_operand(t, 1),
                      *described = tr_operand(t, is_register ? 2 : 1),
                      *c = tr_operand(t, is_register ? 3 : 2),
                      *adds = tr_operand(t, is_register ? 4 : 3);
    const int columns = columns_of(t);
    if (columns < 0) return tr_refuse(t, "this number of columns");
    IsaMatrix matrix = matrix_of(t, columns);
    const PtxMatrixSize size = ptx_matrix_size((PtxMatrixShape)matrix.shape);
    if (matrix.a == PTX_TYPE_NONE || !is_shape(t, &matrix))
        return tr_refuse(t, "this shape with these types");
    const SassOperand *counter = tr_operand(t, t->sass->operand_count - 1);
    const bool ends = counter->value != SASS_NO_COUNTER;
    if (ends && counter->value != 0) return tr_refuse(t, "another counter");
    isa_note_product(&t->info, matrix,
                     (uint8_t)((is_register ? 0 : ISA_PRODUCT_A_IS_SHARED) |
                               (ends ? ISA_PRODUCT_ENDS_GROUP : 0) |
                               (d->value == SASS_RZ ? ISA_PRODUCT_IS_NONE : 0)));
    if (d->value == SASS_RZ) { /* only ends a group; computes no product */
        tr_step(t, ISA_DO_COMMIT_GROUP);
        return true;
    }
    if (c->value != d->value && c->value != SASS_RZ)
        return tr_refuse(t, "a sum in other registers than the result");
    const int count = isa_fragment('c', (PtxType)matrix.d, ISA_WGMMA_ROWS, size.n, ISA_LANES).regs;
    const IsaOperand a_row = is_register ? ISA_SINK : descriptor(t, described, 0);
    const IsaOperand b_row = descriptor(t, described, 2);
    bool is_negated = false;
    const IsaOperand word = c->value == SASS_RZ ? ISA_PRED_FALSE : tr_word(t, adds, &is_negated);
    const bool is_sparse = tr_mod(t, SASS_MOD_SP);
    const IsaOperand metadata = is_sparse ? tr_row(t, adds + 1) : ISA_SINK;
    if (is_sparse && adds + 2 < counter) matrix.selector = (uint8_t)adds[2].value;
    const uint32_t wide = t->wide_count;
    for (int i = 0; i < count; ++i)
        tr_add_wide(t, tr_gpr(t, (uint32_t)(d->value + i)));
    for (uint32_t i = 0; i < 4 && is_register; ++i)
        tr_add_wide(t, tr_register(t, a, i));
    IsaInst *step = tr_step(t, ISA_DO_WGMMA);
    step->operand[0] = count;
    step->operand[1] = is_register ? 4 : 0;
    step->operand[2] = a_row;
    step->operand[3] = b_row;
    step->operand[4] = word;
    step->operand[5] = metadata;
    step->reconverge = wide;
    step->imm = isa_matrix_imm(matrix);
    step->sub =
        (uint8_t)(tr_bit(tr_mod(t, SASS_MOD_NEG_A) || a->is_negated, 0) |
                  tr_bit(tr_mod(t, SASS_MOD_NEG_B), 1) | tr_bit(tr_mod(t, SASS_MOD_TNSP_A), 2) |
                  tr_bit(tr_mod(t, SASS_MOD_TNSP_B), 3) |
                  (is_negated ? ISA_WGMMA_SCALE_NEGATED : 0));
    if (ends) tr_step(t, ISA_DO_COMMIT_GROUP);
    return true;
}

/* .ARRIVE; .DEPBAR.LE counter, groups */
bool tr_op_warpgroup(Translator *t) {
    const bool is_wait = tr_mod(t, SASS_MOD_WARPGROUP) == SASS_WARPGROUP_DEPBAR;
    if (is_wait && (!tr_mod(t, SASS_MOD_DEPBAR) || tr_operand(t, 0)->value != 0))
        return tr_refuse(t, "a wait for another counter");
    if (!is_wait) {
        tr_step(t, ISA_DO_NOP);
        return true;
    }
    t->is_uniform = false;
    t->inst.flow = ISA_FLOW_WARPGROUP;
    t->inst.imm = (int64_t)tr_operand(t, 1)->value;
    t->info.flags |= ISA_IS_WARPGROUP;
    t->info.advice = ISA_WARPGROUP_WAIT;
    t->info.element_bytes = (uint8_t)tr_operand(t, 1)->value;
    return true;
}

/* ---- Registers ---- */

/* (p,) count. p: whether the warp now has that many registers. Here a warp without them waits, so p
 * is always true. */
bool tr_op_usetmaxreg(Translator *t) {
    const uint8_t way = tr_mod(t, SASS_MOD_SETMAXREG);
    if (!tr_mod(t, SASS_MOD_CTAPOOL) || !way || way > SASS_SETMAXREG_TRY_ALLOC)
        return tr_refuse(t, "this change of the number of registers");
    tr_step2(t, ISA_DO_PRED_MOV, tr_word_to(t, tr_operand(t, 0)), ISA_PRED_TRUE);
    t->info.flags |= ISA_IS_WARPGROUP;
    t->info.advice = ISA_WARPGROUP_REGISTERS;
    t->info.vector = (uint8_t)(tr_operand(t, 1)->value / 8);
    t->info.prefetch = way == SASS_SETMAXREG_TRY_ALLOC;
    return true;
}
