/* Multiplication of whole matrices, for the instructions of a warp (exec_matrix.c) and of a
 * warpgroup (exec_wgmma.c). */
#ifndef TYTO_ISA_EXEC_EXEC_MATRIX_H
#define TYTO_ISA_EXEC_EXEC_MATRIX_H

#include "isa/exec/exec.h"
#include "isa/exec/matrix.h"

#define ISA_MATRIX(name) ISA_PASTE(isa_matrix, name, ISA_VARIANT)

enum {
    ISA_MATRIX_ELEMENTS = 1024, /* maximum per matrix: A, B, C or D of any shape */
    ISA_MATRIX_DEPTH = 64       /* maximum number of products per sum: stored columns of A */
};

typedef struct Matrices {
    IsaMatrix is;
    IsaFragment a, b, c, d;
    int rows, columns;                     /* of D */
    uint32_t raw_a[ISA_MATRIX_ELEMENTS];   /* row by row */
    uint32_t raw_b[ISA_MATRIX_ELEMENTS];   /* row by row */
    uint32_t raw_c[ISA_MATRIX_ELEMENTS];   /* row by row; becomes D */
    uint8_t chosen[32 * ISA_MATRIX_DEPTH]; /* row of B that each element of A is multiplied with */
} Matrices;

/* Fills a matrix with elements of up to 32 bits from its registers. `quad`: which of four
 * independent products; -1: there is only one. */
void ISA_MATRIX(gather)(const Matrices *m, const IsaFragment *f, const IsaWarp *warp,
                        const IsaOperand *regs, int quad, uint32_t *out);
/* Writes D to its registers. */
void ISA_MATRIX(scatter)(const Matrices *m, IsaWarp *warp, const IsaOperand *regs, int quad,
                         uint32_t mask);
/* Fills `chosen`; metadata: the metadata row of a sparse A. */
void ISA_MATRIX(choose)(Matrices *m, const IsaWarp *warp, const IsaOperand *metadata);
/* D = A * B + C, for all types except f64. */
void ISA_MATRIX(multiply)(Matrices *m);

#endif
