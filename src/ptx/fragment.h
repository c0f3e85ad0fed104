/* Fragments: what of a matrix each thread of a warp holds in registers (mma, wmma, ldmatrix ...).
 * Source: PTX ISA 9.0, section 9.7.15 (warp-level matrix instructions). */
#ifndef TYTO_PTX_FRAGMENT_H
#define TYTO_PTX_FRAGMENT_H

#include "ptx/ptx.h"

typedef struct PtxFragment {
    PtxType element; /* of the matrix */
    PtxType reg;     /* of a register: .b32, or .f32, .s32, .f64 of one element */
    uint16_t rows;   /* of the matrix; of a sparse A what is stored: half of the columns */
    uint16_t columns;
    uint8_t regs;     /* registers of a thread */
    uint8_t distinct; /* those among them that hold something of their own; the others repeat
                         them from the first on: wmma's f16 always has 8 */
} PtxFragment;

/* m, n and k of a shape; k is 0 for .m8n8. */
typedef struct PtxMatrixSize {
    uint16_t m, n, k;
} PtxMatrixSize;
PtxMatrixSize ptx_matrix_size(PtxMatrixShape shape);

/* The element types of A, B, C and D, wherever the spelling names them. */
typedef struct PtxMatrixTypes {
    PtxType a, b, c, d;
} PtxMatrixTypes;
PtxMatrixTypes ptx_matrix_types(const PtxInst *inst);

/* The fragment that operand `name` ('a', 'b', 'c', 'd') of a matrix instruction is. */
PtxFragment ptx_fragment(const PtxInst *inst, char name);

#endif
