/* Fragments: the part of a matrix that each thread of a warp holds in registers (mma, wmma,
 * ldmatrix ...). Source: PTX ISA 9.0, section 9.7.15 (warp-level matrix instructions). */
#ifndef TYTO_PTX_FRAGMENT_H
#define TYTO_PTX_FRAGMENT_H

#include "ptx/ptx.h"

typedef struct PtxFragment {
    PtxType element; /* element type of the matrix */
    PtxType reg;     /* type of a register: .b32, or .f32, .s32, .f64 for one element */
    uint16_t rows;   /* of the matrix; a sparse A has only the stored half of the columns */
    uint16_t columns;
    uint8_t regs;     /* registers per thread */
    uint8_t distinct; /* registers with different contents; the others repeat them from the first
                       * on: wmma's f16 always has 8 registers */
} PtxFragment;

/* m, n and k of a shape; k is 0 for .m8n8. */
typedef struct PtxMatrixSize {
    uint16_t m, n, k;
} PtxMatrixSize;
PtxMatrixSize ptx_matrix_size(PtxMatrixShape shape);

/* The element types of A, B, C and D, in whatever order the spelling names them. */
typedef struct PtxMatrixTypes {
    PtxType a, b, c, d;
} PtxMatrixTypes;
PtxMatrixTypes ptx_matrix_types(const PtxInst *inst);

/* The fragment of operand `name` ('a', 'b', 'c', 'd') of a matrix instruction. */
PtxFragment ptx_fragment(const PtxInst *inst, char name);

#endif
