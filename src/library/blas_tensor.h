/* What the choices of kernels for tensor cores share: matrices with a contiguous dimension, their
 * alignment, and properties of the device. */
#ifndef TYTO_LIBRARY_BLAS_TENSOR_H
#define TYTO_LIBRARY_BLAS_TENSOR_H

#include "library/blas.h"

enum {
    TENSOR_ALIGNMENT = 16, /* in bytes, of addresses and distances in tensor maps: CUDA driver API,
                              cuTensorMapEncodeTiled; also of the copies of cp.async.cg: PTX ISA */
    TENSOR_LEAST = 64, /* of the depth, and of the longer side of D. Our choice: smaller products
                          leave most of a tile empty */
    TENSOR_LEAST_SIDE = 16 /* of the shorter side; our choice */
};

/* A batch of matrices whose inner dimension is contiguous. */
typedef struct TensorMatrix {
    BlasType type;
    uint64_t items;
    int64_t inner, outer;
    int64_t lead, batch; /* in elements, from line to line and from matrix to matrix */
    int count;
} TensorMatrix;

/* The matrix of an operand with `rows` x `columns` elements; `lead` is 0 if no dimension is
 * contiguous. */
TensorMatrix tensor_matrix_of(BlasType type, const BlasOperand *o, int32_t rows, int32_t columns,
                              int count);
/* Whether the address and all distances are multiples of `bytes`, and no matrix is shared by a
 * batch unless `can_share`. */
bool tensor_is_aligned(const TensorMatrix *m, uint32_t bytes, bool can_share);

/* Whether tensor cores can compute the product: its size, its result, and what the caller allows.
 */
bool tensor_fits(cublasHandle_t handle, const BlasProduct *p);
/* An attribute of the current context's device; 0 if there is no device. */
int tensor_attribute(CUdevice_attribute which);

static inline int64_t tensor_tiles(int64_t count, int64_t size) {
    return (count + size - 1) / size;
}

/* A product by mma.sync, as blas_tensor_multiply: blas_mma.c. */
bool blas_mma_multiply(cublasHandle_t handle, BlasType in, BlasType out, const BlasProduct *p,
                       int count, cublasStatus_t *status);

#endif
