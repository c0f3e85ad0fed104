/* Matrices of a warp: which elements of a matrix each lane holds, where it holds them, and the
 * fields of a matrix instruction. Source of the layouts: PTX ISA 9.0, section 9.7.15, "Matrix
 * Fragments for mma". The ISA leaves wmma's fragments open; here they are composed of mma's. */
#ifndef TYTO_ISA_EXEC_MATRIX_H
#define TYTO_ISA_EXEC_MATRIX_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "ptx/fragment.h"

/* mma, wmma.mma: stored in IsaInst.imm. */
typedef struct IsaMatrix {
    uint8_t shape;      /* PtxMatrixShape */
    uint8_t a, b, c, d; /* PtxType of the elements */
    uint8_t flags;      /* ISA_MATRIX_... */
    uint8_t operation;  /* .b1: PtxSub, XOR or AND; .f64: IsaRound */
    uint8_t selector;   /* sparse: selects the lanes that hold the metadata */
} IsaMatrix;
_Static_assert(sizeof(IsaMatrix) == sizeof(int64_t), "travels in IsaInst.imm");

enum {
    ISA_MATRIX_A_COL = 1,
    ISA_MATRIX_B_COL = 2,
    ISA_MATRIX_SPARSE = 4,
    ISA_MATRIX_SATURATES = 8,
    ISA_MATRIX_QUAD = 16, /* mma.m8n8k4 of f16: four independent products */
};

static inline int64_t isa_matrix_imm(IsaMatrix matrix) {
    int64_t imm;
    memcpy(&imm, &matrix, sizeof imm);
    return imm;
}
static inline IsaMatrix isa_matrix_of(int64_t imm) {
    IsaMatrix matrix;
    memcpy(&matrix, &imm, sizeof matrix);
    return matrix;
}

/* One access of wmma.load or wmma.store. */
typedef struct IsaWmma {
    char role;       /* 'a', 'b', 'c' */
    uint8_t element; /* PtxType */
    uint8_t reg : 4, part : 4;
    uint8_t copies;        /* copies of each register: f16 fragments repeat them */
    uint8_t rows, columns; /* of the matrix */
    bool is_by_column;     /* layout in memory */
    bool is_contiguous;    /* the elements of a register are adjacent */
} IsaWmma;
_Static_assert(sizeof(IsaWmma) == 8, "two wide operands");

/* A fragment as the execution files use it. Elements narrower than 4 bits are counted as whole
 * registers. */
typedef struct IsaFragment {
    char role;     /* 'a', 'b', 'c' (D has the layout of C) */
    uint8_t regs;  /* registers without copies */
    uint8_t parts; /* elements per register */
    uint8_t bits;  /* per element */
    uint16_t rows, columns;
} IsaFragment;

static inline IsaFragment isa_fragment(char role, PtxType element, int rows, int columns,
                                       int threads) {
    const int bits = ptx_type_bits(element) < 4 ? 32 : ptx_type_bits(element);
    if (element == PTX_B1 && role == 'a') columns /= 32;
    if (element == PTX_B1 && role == 'b') rows /= 32;
    const int parts = bits < 32 ? 32 / bits : 1;
    return (IsaFragment){.role = role,
                         .regs = (uint8_t)(rows * columns / parts / threads),
                         .parts = (uint8_t)parts,
                         .bits = (uint8_t)bits,
                         .rows = (uint16_t)rows,
                         .columns = (uint16_t)columns};
}

typedef struct IsaPlace {
    int row, column;
} IsaPlace;

/* The place of element `part` of register `reg` of a lane. Four lanes share 128 bits of a row of A
 * (a column of B). Eight such rows form a block, which is one register of all lanes. */
static inline IsaPlace isa_matrix_place(const IsaFragment *f, int reg, int lane, int part) {
    const int group = lane >> 2, in_group = lane & 3;
    if (f->role == 'c') { /* pairs of adjacent elements in a row, in blocks of 8 x 8, in tiles of
                           * two blocks */
        const int pair = f->bits < 32 ? reg : reg >> 1;
        const int column = 2 * in_group + (f->bits < 32 ? part : reg & 1);
        if (f->rows == 8) return (IsaPlace){group, column + 8 * pair};
        const int tile = pair >> 1, across = f->columns / 8;
        return (IsaPlace){group + 8 * (pair & 1) + 16 * (tile / across),
                          column + 8 * (tile % across)};
    }
    const int along = in_group * f->parts + part, step = 4 * f->parts;
    if (f->role == 'b') {
        const int blocks = f->rows / step;
        return (IsaPlace){along + step * (reg % blocks), group + 8 * (reg / blocks)};
    }
    if (f->rows == 8) return (IsaPlace){group, along + step * reg};
    const int tile_regs = 2 * (f->columns / step), in_tile = reg % tile_regs;
    return (IsaPlace){group + 8 * (in_tile & 1) + 16 * (reg / tile_regs),
                      along + step * (in_tile >> 1)};
}

/* The same for mma.m8n8k4 of f16: lanes 4q..4q+3 and the same lanes plus 16 hold product q. */
static inline IsaPlace isa_quad_place(const IsaFragment *f, bool is_by_column, int reg, int lane,
                                      int part) {
    const int in_quad = lane & 3, upper = lane < 16 ? 0 : 4, i = reg * f->parts + part;
    if (f->role == 'c' && f->bits == 32)
        return (IsaPlace){(lane & 1) + (i & 2) + upper, (i & 4) + (lane & 2) + (i & 1)};
    if (f->role == 'c') return (IsaPlace){in_quad + upper, i};
    if (f->role == 'a')
        return is_by_column ? (IsaPlace){i + upper, in_quad} : (IsaPlace){in_quad + upper, i};
    return is_by_column ? (IsaPlace){i, in_quad + upper} : (IsaPlace){in_quad, i + upper};
}

#endif
