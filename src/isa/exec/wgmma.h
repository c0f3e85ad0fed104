/* wgmma: the fields of its IsaInst, and the addresses of a matrix in shared memory.
 *
 * A 64-bit descriptor gives the place of a matrix: PTX ISA 9.0, section 9.7.16.5.1 (asynchronous
 * warpgroup matrix instructions, shared memory layout and descriptor). CUTLASS documents the use of
 * its two strides in each of the eight layouts (cute/atom/mma_traits_sm90_gmma.hpp, "canonical
 * layouts"). The base offset is interpreted as follows: the pattern of a swizzle begins where bits
 * 7 to 9 of the address equal the offset. */
#ifndef TYTO_ISA_EXEC_WGMMA_H
#define TYTO_ISA_EXEC_WGMMA_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/exec/matrix.h"
#include "isa/info.h"

enum { /* IsaInst.sub */
       ISA_WGMMA_A_NEGATED = 1,
       ISA_WGMMA_B_NEGATED = 2,
       ISA_WGMMA_A_TRANSPOSED = 4, /* elements along M are adjacent */
       ISA_WGMMA_B_TRANSPOSED = 8, /* elements along N are adjacent */
       ISA_WGMMA_SCALE_NEGATED = 16
};
enum {
    ISA_WGMMA_WARPS = 4, /* warps of a warpgroup; each computes 16 of the 64 rows */
    ISA_WGMMA_ROWS = 16,
    ISA_WGMMA_UNIT = 16 /* bytes that are always contiguous */
};

/* Sets what a timing model must know of a product; flags: ISA_PRODUCT_... */
static inline void isa_note_product(IsaInfo *info, IsaMatrix matrix, uint8_t flags) {
    const PtxMatrixSize size = ptx_matrix_size((PtxMatrixShape)matrix.shape);
    info->flags |= ISA_IS_WARPGROUP;
    info->op_class = ISA_CLASS_MATRIX;
    info->advice = ISA_WARPGROUP_PRODUCT;
    info->vector = (uint8_t)(size.n / 8);
    info->prefetch = flags | (matrix.flags & ISA_MATRIX_SPARSE ? ISA_PRODUCT_IS_SPARSE : 0);
    switch (matrix.a) {
    case PTX_F16:
    case PTX_BF16: info->element_bytes = ISA_TENSOR_FP16; break;
    case PTX_TF32: info->element_bytes = ISA_TENSOR_TF32; break;
    case PTX_S8:
    case PTX_U8: info->element_bytes = ISA_TENSOR_INT8; break;
    case PTX_B1: info->element_bytes = ISA_TENSOR_BIT; break;
    default: info->element_bytes = ISA_TENSOR_FP8; break;
    }
}

/* A matrix in shared memory. */
typedef struct IsaSharedMatrix {
    uint32_t start, leading, stride; /* in bytes */
    uint32_t base_offset;
    uint32_t width;     /* units per row of the swizzle's pattern: 2, 4, 8; 1: no swizzle */
    bool is_transposed; /* units extend along M or N instead of along K */
} IsaSharedMatrix;

static inline IsaSharedMatrix isa_shared_matrix(uint64_t descriptor, bool is_transposed) {
    static const uint8_t widths[] = {1, 8, 4, 2};
    return (IsaSharedMatrix){.start = (uint32_t)(descriptor & 0x3fff) << 4,
                             .leading = (uint32_t)(descriptor >> 16 & 0x3fff) << 4,
                             .stride = (uint32_t)(descriptor >> 32 & 0x3fff) << 4,
                             .base_offset = descriptor >> 49 & 7,
                             .width = widths[descriptor >> 62],
                             .is_transposed = is_transposed};
}

/* Address of a unit. `mn` and `k` count elements in one direction and units in the other. Units run
 * along k, or along M or N if the matrix is transposed. */
static inline uint32_t isa_unit_address(const IsaSharedMatrix *m, uint32_t mn, uint32_t k) {
    const uint32_t row = m->is_transposed ? k : mn, unit = m->is_transposed ? mn : k;
    uint32_t address = m->start + row % 8 * m->width * ISA_WGMMA_UNIT;
    if (m->width > 1)
        address +=
            row / 8 * m->stride + unit % m->width * ISA_WGMMA_UNIT + unit / m->width * m->leading;
    else if (m->is_transposed) address += row / 8 * m->leading + unit * m->stride;
    else address += row / 8 * m->stride + unit * m->leading;
    const uint32_t row_of_pattern = (address >> 7) - m->base_offset;
    return address ^ (row_of_pattern & (m->width - 1)) << 4;
}

#endif
