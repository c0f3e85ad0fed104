/* Tensor operations. A machine shape is one of the shapes of PTX's mma, with the same fragments in
 * the same order of registers. If ptxas compiles one mma to several instructions, each is a smaller
 * mma. DMMA becomes as many products of 8 x 8 x 4 as its shape holds, in order of rising k.
 * HMMA.884 computes a part of the quads' results in each step. */
#include "isa/sass/translate.h"

#include "base/bits.h"
#include "isa/exec/matrix.h"

/* ---- Building blocks ---- */

/* Appends registers of an operand to the wide operands. */
static void add_registers(Translator *t, const SassOperand *operand, uint32_t count, bool is_to) {
    for (uint32_t i = 0; i < count; ++i)
        tr_add_wide(t, is_to ? tr_to_register(t, operand, i) : tr_register(t, operand, i));
}

static void note_class(Translator *t, IsaTensor tensor, bool is_sparse, uint32_t products) {
    t->info.op_class = ISA_CLASS_MATRIX;
    t->info.element_bytes = (uint8_t)(tensor | (is_sparse ? ISA_TENSOR_SPARSE : 0));
    t->info.vector = (uint8_t)bits_lowest32(is_sparse ? products / 2 : products);
}

static uint32_t products_of(PtxMatrixShape shape) {
    const PtxMatrixSize size = ptx_matrix_size(shape);
    return (uint32_t)size.m * size.n * size.k;
}

/* Number of registers of a fragment. */
static uint32_t registers_of(char role, PtxType element, int rows, int columns) {
    return isa_fragment(role, element, rows, columns, ISA_LANES).regs;
}

/* d, a, b, c (, metadata, selector): one handler computes the whole product. */
static bool product(Translator *t, IsaHandler handler, IsaMatrix matrix, IsaTensor tensor) {
    const PtxMatrixSize size = ptx_matrix_size((PtxMatrixShape)matrix.shape);
    const bool is_sparse = tr_mod(t, SASS_MOD_SP);
    const int depth = is_sparse ? size.k / 2 : size.k;
    const uint32_t counts[4] = {registers_of('c', (PtxType)matrix.d, size.m, size.n),
                                registers_of('a', (PtxType)matrix.a, size.m, depth),
                                registers_of('b', (PtxType)matrix.b, size.k, size.n),
                                registers_of('c', (PtxType)matrix.c, size.m, size.n)};
    /* maximum number of elements per factor in exec_matrix.c; single bits are stored in words of
     * 32 */
    const int most = (PtxType)matrix.a == PTX_B1 ? 1024 * 32 : 1024;
    if (!counts[0] || !counts[1] || !counts[2] || !counts[3] || size.m * depth > most ||
        size.k * size.n > most)
        return tr_refuse(t, "this shape with these types");
    const uint32_t wide = t->wide_count;
    for (int i = 0; i < 4; ++i)
        add_registers(t, tr_operand(t, i), counts[i], i == 0);
    if (is_sparse) {
        tr_add_wide(t, tr_row(t, tr_operand(t, 4)));
        matrix.flags |= ISA_MATRIX_SPARSE;
        matrix.selector = (uint8_t)tr_operand(t, 5)->value;
    }
    IsaInst *step = tr_step(t, handler);
    for (int i = 0; i < 4; ++i)
        step->operand[i] = (IsaOperand)counts[i];
    step->reconverge = wide;
    step->imm = isa_matrix_imm(matrix);
    note_class(t, tensor, is_sparse, products_of((PtxMatrixShape)matrix.shape));
    return true;
}

/* A by rows and B by columns: ptxas emits nothing else. */
static bool is_row_by_column(const Translator *t) {
    return tr_operand(t, 1)->suffix != SASS_SUFFIX_COL &&
           tr_operand(t, 2)->suffix != SASS_SUFFIX_ROW;
}

/* ---- Halves and floats ---- */

/* HMMA.884: each step computes two registers of the result. An F32 result has four steps, an F16
 * result two. Two steps of an F32 result use the same registers of an F16 C. */
static bool hmma884(Translator *t) {
    const bool is_f32 = tr_mod(t, SASS_MOD_HMMA884_OUT), from_f32 = tr_mod(t, SASS_MOD_HMMA884_IN);
    if (from_f32 && !is_f32) return tr_refuse(t, "halves added to floats");
    const uint32_t step_number = tr_mod(t, SASS_MOD_STEP);
    const uint32_t results = is_f32 ? 8 : 4, addends = from_f32 ? 8 : 4;
    const uint32_t first = 2 * step_number, first_c = from_f32 == is_f32 ? first : first / 4 * 2;
    if (first >= results) return tr_refuse(t, "a step that halves do not have");
    IsaMatrix matrix = {.shape = PTX_SHAPE_M8N8K4,
                        .a = PTX_F16,
                        .b = PTX_F16,
                        .c = from_f32 ? PTX_F32 : PTX_F16,
                        .d = is_f32 ? PTX_F32 : PTX_F16,
                        .flags = ISA_MATRIX_QUAD};
    if (tr_operand(t, 1)->suffix == SASS_SUFFIX_COL) matrix.flags |= ISA_MATRIX_A_COL;
    if (tr_operand(t, 2)->suffix == SASS_SUFFIX_COL) matrix.flags |= ISA_MATRIX_B_COL;
    const uint32_t wide = t->wide_count;
    const IsaOperand zero = tr_constant(t, 0), unused = tr_scratch(t);
    for (uint32_t i = 0; i < results; ++i)
        tr_add_wide(t,
                    i / 2 == step_number ? tr_to_register(t, tr_operand(t, 0), i - first) : unused);
    add_registers(t, tr_operand(t, 1), 2, false);
    add_registers(t, tr_operand(t, 2), 2, false);
    for (uint32_t i = 0; i < addends; ++i)
        tr_add_wide(t, i - first_c < 2 ? tr_register(t, tr_operand(t, 3), i - first_c) : zero);
    IsaInst *step = tr_step(t, ISA_DO_MMA_FLOAT);
    step->operand[0] = (IsaOperand)results;
    step->operand[1] = step->operand[2] = 2;
    step->operand[3] = (IsaOperand)addends;
    step->reconverge = wide;
    step->imm = isa_matrix_imm(matrix);
    enum { QUADS = 4 };
    note_class(t, ISA_TENSOR_FP16, false, QUADS * products_of(PTX_SHAPE_M8N8K4) * 2 / results);
    return true;
}

bool tr_op_hmma(Translator *t) {
    static const struct {
        PtxType type;
        IsaTensor tensor;
    } inputs[] = {
        {PTX_F16, ISA_TENSOR_FP16}, {PTX_BF16, ISA_TENSOR_FP16}, {PTX_TF32, ISA_TENSOR_TF32}};
    static const PtxMatrixShape shapes[] = {PTX_SHAPE_M16N8K8, PTX_SHAPE_M16N8K16,
                                            PTX_SHAPE_M16N8K4, PTX_SHAPE_M16N8K32};
    if (tr_mod(t, SASS_MOD_HMMA884)) return hmma884(t);
    const uint8_t input = tr_mod(t, SASS_MOD_HMMA_IN), shape = tr_mod(t, SASS_MOD_HMMA_SHAPE);
    if (input > 2 || shape > 3) return tr_refuse(t, "this shape or type");
    const uint8_t sum = tr_mod(t, SASS_MOD_HMMA_OUT) ? PTX_F32 : PTX_F16;
    const uint8_t type = (uint8_t)inputs[input].type;
    return product(
        t, ISA_DO_MMA_FLOAT,
        (IsaMatrix){.shape = (uint8_t)shapes[shape], .a = type, .b = type, .c = sum, .d = sum},
        inputs[input].tensor);
}

/* ---- Integers and bits ---- */

bool tr_op_imma(Translator *t) {
    static const PtxType types[] = {PTX_U8, PTX_S8, PTX_U4, PTX_S4};
    static const PtxMatrixShape shapes[] = {
        PTX_SHAPE_M8N8K16,  PTX_SHAPE_NONE,     PTX_SHAPE_M8N8K32,  PTX_SHAPE_NONE,
        PTX_SHAPE_M16N8K16, PTX_SHAPE_M16N8K32, PTX_SHAPE_M16N8K64, PTX_SHAPE_M16N8K128};
    const PtxMatrixShape shape = shapes[tr_mod(t, SASS_MOD_IMMA_SHAPE) & 7];
    const PtxType a = types[tr_mod(t, SASS_MOD_IMMA_A) & 3],
                  b = types[tr_mod(t, SASS_MOD_IMMA_B) & 3];
    if (shape == PTX_SHAPE_NONE || ptx_type_bits(a) != ptx_type_bits(b))
        return tr_refuse(t, "this shape or types");
    if (!is_row_by_column(t)) return tr_refuse(t, "this layout");
    return product(t, ISA_DO_MMA_INTEGER,
                   (IsaMatrix){.shape = (uint8_t)shape,
                               .a = (uint8_t)a,
                               .b = (uint8_t)b,
                               .c = PTX_S32,
                               .d = PTX_S32,
                               .flags = tr_mod(t, SASS_MOD_SAT) ? ISA_MATRIX_SATURATES : 0},
                   ptx_type_bits(a) == 8 ? ISA_TENSOR_INT8 : ISA_TENSOR_INT4);
}

bool tr_op_bmma(Translator *t) {
    static const PtxMatrixShape shapes[] = {PTX_SHAPE_M8N8K128, PTX_SHAPE_M16N8K128,
                                            PTX_SHAPE_M16N8K256};
    const uint8_t shape = tr_mod(t, SASS_MOD_BMMA_SHAPE);
    if (shape > 2 || !tr_mod(t, SASS_MOD_POPC)) return tr_refuse(t, "this shape or operation");
    if (!is_row_by_column(t)) return tr_refuse(t, "this layout");
    const bool is_and = tr_mod(t, SASS_MOD_BMMA_OP) == SASS_BMMA_OP_AND;
    return product(t, ISA_DO_MMA_BIT,
                   (IsaMatrix){.shape = (uint8_t)shapes[shape],
                               .a = PTX_B1,
                               .b = PTX_B1,
                               .c = PTX_S32,
                               .d = PTX_S32,
                               .operation = is_and ? PTX_SUB_AND : PTX_SUB_XOR},
                   ISA_TENSOR_BIT);
}

/* ---- Doubles ---- */

/* Pair of registers number `index` of an operand, joined. */
static IsaOperand double_at(Translator *t, const SassOperand *operand, int64_t index) {
    SassOperand part = *operand;
    if (part.value != SASS_RZ) part.value += 2 * index;
    return tr_double(t, &part);
}

/* sum += a * b, of 8 x 8 x 4; sum[2]: pairs of rows. */
static void put_double_product(Translator *t, const IsaOperand *sum, IsaOperand a, IsaOperand b,
                               uint8_t round) {
    const IsaMatrix matrix = {.shape = PTX_SHAPE_M8N8K4,
                              .a = PTX_F64,
                              .b = PTX_F64,
                              .c = PTX_F64,
                              .d = PTX_F64,
                              .operation = round};
    const IsaOperand wide[] = {sum[0], sum[1], a, b, sum[0], sum[1]};
    IsaInst *step = tr_step(t, ISA_DO_MMA_DOUBLE);
    step->operand[0] = step->operand[3] = 2;
    step->operand[1] = step->operand[2] = 1;
    step->reconverge = t->wide_count;
    step->imm = isa_matrix_imm(matrix);
    for (size_t i = 0; i < sizeof wide / sizeof wide[0]; ++i)
        tr_add_wide(t, wide[i]);
}

/* A's registers are ordered by the two tiles of 8 rows first, then by k; B's by k. */
bool tr_op_dmma(Translator *t) {
    static const struct {
        uint8_t tiles, depth; /* tiles of 8 rows; depth in units of 4 products */
    } shapes[] = {{1, 1}, {2, 1}, {2, 2}, {2, 4}};
    const uint8_t shape = tr_mod(t, SASS_MOD_DMMA_SHAPE) & 3;
    const int tiles = shapes[shape].tiles, depth = shapes[shape].depth;
    const uint8_t round = (uint8_t)tr_round(t);
    IsaOperand a[8], b[4], sum[4];
    for (int i = 0; i < tiles * depth; ++i)
        a[i] = double_at(t, tr_operand(t, 1), i);
    for (int i = 0; i < depth; ++i)
        b[i] = double_at(t, tr_operand(t, 2), i);
    for (int i = 0; i < 2 * tiles; ++i)
        sum[i] = double_at(t, tr_operand(t, 3), i);
    for (int k = 0; k < depth; ++k)
        for (int tile = 0; tile < tiles; ++tile)
            put_double_product(t, &sum[2 * tile], a[k * tiles + tile], b[k], round);
    for (int i = 0; i < 2 * tiles; ++i) {
        SassOperand to = *tr_operand(t, 0);
        if (to.value != SASS_RZ) to.value += 2 * i;
        tr_split_to(t, &to, sum[i]);
    }
    note_class(t, ISA_TENSOR_FP64, false,
               (uint32_t)(tiles * depth) * products_of(PTX_SHAPE_M8N8K4));
    return true;
}

/* ---- Transposition ---- */

/* The four nibbles in the lower half of a row as bytes. */
static IsaOperand bytes_of_nibbles(Translator *t, IsaOperand nibbles) {
    enum { A_OR_B_AND_C = 0xa8 };
    static const struct {
        uint32_t by, mask;
    } stages[] = {{8, 0x00ff00ff}, {4, 0x0f0f0f0f}};
    IsaOperand row = nibbles;
    for (int i = 0; i < 2; ++i) {
        const IsaOperand raised = tr_scratch(t), part = tr_scratch(t);
        tr_step3(t, ISA_DO_SHL_32, raised, row, tr_constant(t, stages[i].by));
        tr_step4(t, ISA_DO_LOP3_32, part, row, raised, tr_constant(t, stages[i].mask))->sub =
            A_OR_B_AND_C;
        row = part;
    }
    return row;
}

/* ptxas converts both factors of a product this way, so the order of the elements is ours. */
static bool widen_nibbles(Translator *t, IsaOperand from) {
    const IsaOperand low = tr_scratch(t), high = tr_scratch(t);
    tr_step3(t, ISA_DO_AND_32, low, from, tr_constant(t, UINT16_MAX));
    tr_step3(t, ISA_DO_SHR_U32, high, from, tr_constant(t, 16));
    const IsaOperand first = bytes_of_nibbles(t, low), second = bytes_of_nibbles(t, high);
    tr_step2(t, ISA_DO_MOV_32, tr_to_register(t, tr_operand(t, 0), 0), first);
    tr_step2(t, ISA_DO_MOV_32, tr_to_register(t, tr_operand(t, 0), 1), second);
    t->info.op_class = ISA_CLASS_SHUFFLE;
    return true;
}

bool tr_op_movm(Translator *t) {
    const IsaOperand from = tr_row(t, tr_operand(t, 1));
    const bool is_square = tr_mod(t, SASS_MOD_MOVM_LAYOUT) == SASS_MOVM_LAYOUT_MT88;
    if (tr_mod(t, SASS_MOD_MOVM_ELEMENT) == SASS_MOVM_ELEMENT_U4TO8 && !is_square)
        return widen_nibbles(t, from);
    if (tr_mod(t, SASS_MOD_MATRIX_ELEMENT) != SASS_MATRIX_ELEMENT_B16 ||
        tr_mod(t, SASS_MOD_MOVM_ELEMENT) != SASS_MOVM_ELEMENT_B16 || !is_square)
        return tr_refuse(t, "elements of this size");
    IsaInst *step = tr_step(t, ISA_DO_MOVMATRIX);
    step->operand[0] = tr_to(t, tr_operand(t, 0));
    step->operand[1] = from;
    t->info.op_class = ISA_CLASS_SHUFFLE;
    return true;
}
