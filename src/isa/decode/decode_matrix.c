/* Matrix instructions. Products have more operands than an IsaInst can hold, so these are stored in
 * the program's wide operands. A wmma.load or wmma.store becomes one access per register. If the
 * elements of a register are not adjacent in memory, it becomes one access per element. ptxas
 * generates the same accesses. */
#include "isa/decode/decode.h"

#include <string.h>

#include "base/bits.h"
#include "isa/exec/matrix.h"

/* ---- mma, wmma.mma ---- */

/* Appends the registers of a fragment to the program's wide operands; returns their number. */
static int add_fragment(Decoder *decoder, const PtxOperand *operand, char name) {
    const PtxFragment fragment = ptx_fragment(decoder->ptx, name);
    const bool is_vector = operand->kind == PTX_OPERAND_VECTOR;
    for (int i = 0; i < fragment.regs; ++i) {
        const PtxOperand *item = is_vector ? &operand->items[i] : operand;
        IsaOperand row;
        const bool is_good = name == 'd' ? decode_destination(decoder, item, &row)
                                         : decode_source(decoder, item, fragment.reg, &row);
        if (!is_good) return -1;
        decode_add_wide(decoder, row);
    }
    return fragment.regs;
}

static IsaMatrix matrix_of(const PtxInst *ptx) {
    const PtxMatrixTypes types = ptx_matrix_types(ptx);
    const struct {
        uint32_t flag;
        uint8_t is;
    } map[] = {{PTX_FLAG_A_COL, ISA_MATRIX_A_COL},
               {PTX_FLAG_B_COL, ISA_MATRIX_B_COL},
               {PTX_FLAG_SPARSE, ISA_MATRIX_SPARSE},
               {PTX_FLAG_SATFINITE, ISA_MATRIX_SATURATES}};
    IsaMatrix matrix = {.shape = (uint8_t)ptx->shape,
                        .a = (uint8_t)types.a,
                        .b = (uint8_t)types.b,
                        .c = (uint8_t)types.c,
                        .d = (uint8_t)types.d,
                        .operation = (uint8_t)ptx->sub};
    for (size_t i = 0; i < sizeof map / sizeof map[0]; ++i)
        if (ptx->flags & map[i].flag) matrix.flags |= map[i].is;
    if (ptx->op == PTX_OP_MMA && ptx->shape == PTX_SHAPE_M8N8K4 && types.a == PTX_F16)
        matrix.flags |= ISA_MATRIX_QUAD;
    return matrix;
}

static uint8_t round_of(PtxRound round) {
    return round == PTX_RZ   ? ISA_ROUND_ZERO
           : round == PTX_RM ? ISA_ROUND_DOWN
           : round == PTX_RP ? ISA_ROUND_UP
                             : ISA_ROUND_NEAREST;
}

int decode_selectors(const PtxInst *ptx, PtxType element) {
    const int chunk = element == PTX_TF32 ? 2 : ptx_type_bits(element) == 4 ? 8 : 4;
    return 64 / (ptx_matrix_size(ptx->shape).k / chunk * 4);
}

static bool decode_metadata(Decoder *decoder, IsaMatrix *matrix) {
    const PtxInst *ptx = decoder->ptx;
    const int selectors = decode_selectors(ptx, (PtxType)matrix->a);
    const int64_t selector = ptx->operands[5].imm;
    IsaOperand row;
    if (selector < 0 || selector >= selectors)
        return decode_unsupported(decoder, "sparsity selector %lld: this shape has 0 to %d",
                                  (long long)selector, selectors - 1);
    matrix->selector = (uint8_t)selector;
    if (!decode_source(decoder, &ptx->operands[4], PTX_U32, &row)) return false;
    decode_add_wide(decoder, row);
    return true;
}

static IsaTensor tensor_of(PtxType factor) {
    switch (ptx_type_bits(factor)) {
    case 64: return ISA_TENSOR_FP64;
    case 32: return ISA_TENSOR_TF32;
    case 16: return ISA_TENSOR_FP16;
    case 8: return factor == PTX_U8 || factor == PTX_S8 ? ISA_TENSOR_INT8 : ISA_TENSOR_FP8;
    case 4: return ISA_TENSOR_INT4;
    default: return ISA_TENSOR_BIT;
    }
}

/* The binary logarithm of the number of products that a warp's instruction adds up. All sizes are
 * powers of two. A sparse A lacks half of its elements. */
static uint8_t products_of(const PtxInst *ptx, const IsaMatrix *matrix) {
    const PtxMatrixSize size = ptx_matrix_size(ptx->shape);
    uint32_t products = (uint32_t)size.m * size.n * size.k;
    if (matrix->flags & ISA_MATRIX_QUAD) products *= 4;
    if (matrix->flags & ISA_MATRIX_SPARSE) products /= 2;
    return (uint8_t)bits_lowest32(products);
}

/* operand[0..3]: number of registers of D, A, B and C; reconverge: index of the first one. */
static bool decode_product(Decoder *decoder) {
    const PtxInst *ptx = decoder->ptx;
    IsaInst *inst = &decoder->draft.inst;
    IsaMatrix matrix = matrix_of(ptx);
    inst->reconverge = decoder->wide_count;
    decode_set_members(decoder, decode_constant(decoder, UINT32_MAX, false));
    for (int i = 0; i < 4; ++i) {
        inst->operand[i] = add_fragment(decoder, &ptx->operands[i], "dabc"[i]);
        if (inst->operand[i] < 0) return false;
    }
    if (matrix.flags & ISA_MATRIX_SPARSE && !decode_metadata(decoder, &matrix)) return false;
    IsaHandler handler = ISA_DO_MMA_FLOAT;
    decoder->draft.info.op_class = ISA_CLASS_MATRIX;
    uint32_t sparse = matrix.flags & ISA_MATRIX_SPARSE ? ISA_TENSOR_SPARSE : 0;
    decoder->draft.info.element_bytes = (uint8_t)(tensor_of((PtxType)matrix.a) | sparse);
    decoder->draft.info.vector = products_of(ptx, &matrix);
    if (matrix.a == PTX_F64) {
        handler = ISA_DO_MMA_DOUBLE;
        matrix.operation = round_of(ptx->round);
    } else if (matrix.a == PTX_B1) {
        handler = ISA_DO_MMA_BIT;
    } else if (matrix.d == PTX_S32) {
        handler = ISA_DO_MMA_INTEGER;
    }
    inst->imm = isa_matrix_imm(matrix);
    decode_set_handler(decoder, handler);
    return true;
}

bool decode_movmatrix(Decoder *decoder) {
    const PtxInst *ptx = decoder->ptx;
    IsaInst *inst = &decoder->draft.inst;
    decoder->draft.info.op_class = ISA_CLASS_SHUFFLE;
    decode_set_members(decoder, decode_constant(decoder, UINT32_MAX, false));
    decode_set_handler(decoder, ISA_DO_MOVMATRIX);
    const PtxOperand *items[2];
    for (int i = 0; i < 2; ++i)
        items[i] = ptx->operands[i].kind == PTX_OPERAND_VECTOR ? ptx->operands[i].items
                                                               : &ptx->operands[i];
    return decode_destination(decoder, items[0], &inst->operand[0]) &&
           decode_source(decoder, items[1], PTX_U32, &inst->operand[1]);
}

/* ---- ldmatrix, stmatrix ---- */

/* operand[0..3]: rows of data; operand[4]: base. vector: number of matrices. sub: 1 for .trans. */
static bool decode_rows(Decoder *decoder, const PtxOperand *data, const PtxOperand *memory,
                        bool is_store) {
    const PtxInst *ptx = decoder->ptx;
    IsaInst *inst = &decoder->draft.inst;
    enum { ROW_BYTES = 16 };
    const int count = ptx->vector;
    for (int i = 0; i < count; ++i) {
        const PtxOperand *item = data->kind == PTX_OPERAND_VECTOR ? &data->items[i] : data;
        const bool is_good = is_store ? decode_source(decoder, item, PTX_U32, &inst->operand[i])
                                      : decode_destination(decoder, item, &inst->operand[i]);
        if (!is_good) return false;
    }
    decode_fill_access(decoder, is_store ? ISA_MEMORY_STORE : ISA_MEMORY_LOAD, 1);
    decoder->draft.info.element_bytes = inst->size = ROW_BYTES;
    decoder->draft.info.flags |= ISA_NAMES_ROWS;
    inst->vector = (uint8_t)count;
    inst->sub = (ptx->flags & PTX_FLAG_TRANS) != 0;
    decode_set_members(decoder, decode_constant(decoder, UINT32_MAX, false));
    decode_set_handler(decoder, is_store ? ISA_DO_STMATRIX : ISA_DO_LDMATRIX);
    return decode_base(decoder, memory, 4);
}

bool decode_ldmatrix(Decoder *decoder) {
    return decode_rows(decoder, &decoder->ptx->operands[0], &decoder->ptx->operands[1], false);
}

bool decode_stmatrix(Decoder *decoder) {
    return decode_rows(decoder, &decoder->ptx->operands[1], &decoder->ptx->operands[0], true);
}

/* ---- wmma.load, wmma.store ---- */

/* Shared by the accesses of one instruction. */
typedef struct Whole {
    PtxFragment fragment;
    IsaWmma wmma;
    bool is_store;
    const PtxOperand *items; /* its registers */
} Whole;

/* Decodes register `reg` and its copies, which are `distinct` registers apart. */
static bool decode_data(Decoder *decoder, const Whole *whole, int reg) {
    for (int i = reg; i < whole->fragment.regs; i += whole->fragment.distinct) {
        IsaOperand row;
        const bool is_good =
            whole->is_store ? decode_source(decoder, &whole->items[i], whole->fragment.reg, &row)
                            : decode_destination(decoder, &whole->items[i], &row);
        if (!is_good) return false;
    }
    return true;
}

/* One access. operand[0]: base. operand[1]: stride. reconverge: index in the wide operands of an
 * IsaWmma, followed by all registers. If a register needs several accesses, only the last of them
 * names it, so only its data are waited for. The very last access (sub) loads all registers,
 * because the first register may share a row with the stride. */
static bool decode_piece(Decoder *decoder, const Whole *whole, bool is_last_part, bool is_last) {
    const PtxInst *ptx = decoder->ptx;
    IsaInst *inst = &decoder->draft.inst;
    const int bits = ptx_type_bits(whole->fragment.element);
    decode_fill_access(decoder, whole->is_store ? ISA_MEMORY_STORE : ISA_MEMORY_LOAD, 1);
    inst->size = (uint8_t)(bits == 64 ? 8 : whole->wmma.is_contiguous || bits == 32 ? 4 : bits / 8);
    decoder->draft.info.element_bytes = inst->size;
    inst->sub = is_last;
    inst->operand[1] = ISA_SINK;
    if (!decode_base(decoder, &ptx->operands[whole->is_store ? 0 : 1], 0) ||
        (ptx->operand_count > 2 &&
         !decode_source(decoder, &ptx->operands[2], PTX_U32, &inst->operand[1])) ||
        ((whole->is_store || is_last_part) && !decode_data(decoder, whole, whole->wmma.reg)))
        return false;
    IsaOperand words[2];
    memcpy(words, &whole->wmma, sizeof words);
    inst->reconverge = decode_add_wide(decoder, words[0]);
    decode_set_members(decoder, decode_constant(decoder, UINT32_MAX, false));
    decode_add_wide(decoder, words[1]);
    for (int i = 0; i < whole->fragment.regs; ++i) {
        IsaOperand row = (IsaOperand)(decoder->scratch_row * ISA_ROW_BYTES);
        if (whole->items[i].kind == PTX_OPERAND_REG)
            row = decoder->function->regs[whole->items[i].reg].slot * ISA_ROW_BYTES;
        else if (whole->items[i].kind == PTX_OPERAND_IMM)
            row = decode_constant(decoder, (uint64_t)whole->items[i].imm, bits == 64);
        decode_add_wide(decoder, row);
    }
    decode_set_handler(decoder, whole->is_store ? ISA_DO_WMMA_STORE : ISA_DO_WMMA_LOAD);
    return true;
}

static bool decode_fragment_access(Decoder *decoder) {
    const PtxInst *ptx = decoder->ptx;
    const bool is_store = ptx->sub2 == PTX_SUB_WMMA_STORE;
    const PtxOperand *data = &ptx->operands[is_store ? 1 : 0];
    Whole whole = {.fragment = ptx_fragment(ptx, is_store ? 'b' : 'd'), .is_store = is_store};
    whole.items = data->kind == PTX_OPERAND_VECTOR ? data->items : data;
    const int bits = ptx_type_bits(whole.fragment.element);
    IsaWmma *wmma = &whole.wmma;
    wmma->role = ptx->sub == PTX_SUB_MATRIX_A ? 'a' : ptx->sub == PTX_SUB_MATRIX_B ? 'b' : 'c';
    wmma->element = (uint8_t)whole.fragment.element;
    wmma->copies = (uint8_t)(whole.fragment.regs / whole.fragment.distinct);
    wmma->rows = (uint8_t)whole.fragment.rows;
    wmma->columns = (uint8_t)whole.fragment.columns;
    wmma->is_by_column = (ptx->flags & PTX_FLAG_A_COL) != 0;
    wmma->is_contiguous = bits < 8 || wmma->is_by_column == (wmma->role == 'b');
    const int parts = wmma->is_contiguous || bits >= 32 ? 1 : 32 / bits;
    const int last_reg = whole.fragment.distinct - 1;
    const Draft empty = decoder->draft;
    for (int reg = 0; reg <= last_reg; ++reg)
        for (int part = 0; part < parts; ++part) {
            const bool is_last = reg == last_reg && part == parts - 1;
            wmma->reg = (uint8_t)(reg & 15);
            wmma->part = (uint8_t)(part & 15);
            decoder->draft = empty;
            if (!decode_piece(decoder, &whole, part == parts - 1, is_last)) return false;
            if (!is_last) decode_emit(decoder); /* the last access is emitted by the caller */
        }
    return true;
}

bool decode_mma(Decoder *decoder) { return decode_product(decoder); }

bool decode_wmma(Decoder *decoder) {
    return decoder->ptx->sub2 == PTX_SUB_WMMA_MMA ? decode_product(decoder)
                                                  : decode_fragment_access(decoder);
}
