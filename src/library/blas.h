/* Internals shared by the files of Tyto's cuBLAS: the handle, number types, launches of kernels. */
#ifndef TYTO_LIBRARY_BLAS_H
#define TYTO_LIBRARY_BLAS_H

#include "library/blas_device.h"
#include "library/device.h"
#include "tyto/cublas.h"

/* A handle of cuBLAS and cuBLASLt; the functions of both accept either. */
struct cublasContext {
    Device device;
    CUmodule tensor;                  /* the kernels of tensor_kernels.cu; NULL: not loaded */
    CUmodule tensor_fp8;              /* those for 8-bit floats */
    CUmodule mma[BLAS_NO_TYPE];       /* those of mma_kernels.cu by type; NULL: not loaded */
    cublasPointerMode_t pointer_mode; /* where scalars and results are */
    cublasMath_t math_mode; /* CUBLAS_PEDANTIC_MATH: no tensor cores. Sums always have at least
                               single precision */
    cublasAtomicsMode_t atomics_mode; /* likewise: no kernel needs atomics */
    int sm_count_target;              /* likewise */
};

extern const char blas_kernels[]; /* PTX text of blas_kernels.cu */
/* PTX text of tensor_kernels.cu, for halves and for 8-bit floats */
extern const char tensor_kernels[], tensor_fp8_kernels[];
/* PTX text of mma_kernels.cu for these types */
extern const char mma_f16_kernels[], mma_bf16_kernels[], mma_f32_kernels[], mma_s8_kernels[];

/* The contents of cuComplex and cuDoubleComplex. */
struct float2 {
    float x, y;
};
struct double2 {
    double x, y;
};
extern const char *const blas_type_names[]; /* suffix of kernel names */
extern const uint32_t blas_type_bytes[];

BlasType blas_type_of(cudaDataType type); /* BLAS_NO_TYPE: not supported */
static inline bool blas_is_pedantic(cublasComputeType_t type) {
    return type == CUBLAS_COMPUTE_16F_PEDANTIC || type == CUBLAS_COMPUTE_32F_PEDANTIC ||
           type == CUBLAS_COMPUTE_32I_PEDANTIC;
}
/* Whether floats may be rounded to TF32 in products. The types that allow rounding to half or
 * bfloat16 are computed in TF32 too, which has no fewer bits. */
static inline bool blas_allows_tf32(cublasComputeType_t type) {
    return type == CUBLAS_COMPUTE_32F_FAST_TF32 || type == CUBLAS_COMPUTE_32F_FAST_16F ||
           type == CUBLAS_COMPUTE_32F_FAST_16BF;
}
/* The math mode without the flag on reductions, which has no effect. */
static inline cublasMath_t blas_math_mode(cublasHandle_t handle) {
    return handle->math_mode & ~(unsigned)CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION;
}
/* Whether vectors may have the type: it is not an integer type. */
static inline bool blas_is_number(BlasType type) {
    return type <= BLAS_BF16 || type == BLAS_C32 || type == BLAS_C64;
}

/* Makes a handle in the current context, or ends it. */
cublasStatus_t blas_open(cublasHandle_t *handle);
void blas_close(cublasHandle_t handle);

cublasStatus_t blas_status(CUresult result);
/* Launches a grid of x * y * z blocks of 256 threads. */
cublasStatus_t blas_launch(cublasHandle_t handle, const char *kernel, const char *type, int64_t x,
                           int64_t y, int64_t z, void *parameters);
/* Number of blocks of 256 threads with a thread for each of `count` items. */
static inline int64_t blas_blocks(int64_t count) { return (count + 255) / 256; }

/* The factor at `pointer`, which has the type `given`, for a kernel that computes in the type
 * `used`. */
BlasScalar blas_scalar(cublasHandle_t handle, const void *pointer, BlasType given, BlasType used);
static inline BlasScalar blas_one(void) { return (BlasScalar){.value = 1}; }
static inline BlasScalar blas_zero(void) { return (BlasScalar){0}; }

/* Whether kernels support this size: 64-bit sizes are accepted up to what 32 bits can represent. */
static inline bool blas_is_size(int64_t n) { return n >= 0 && n <= INT32_MAX; }
static inline bool blas_is_lead(int64_t lead, int64_t rows) {
    return lead >= (rows > 1 ? rows : 1);
}

/* A vector in BLAS order: with a negative increment, the first element is the last in memory. */
BlasVector blas_vector(const void *items, int64_t n, int64_t increment);

/* Functions that both libraries share. */
cublasStatus_t blas_property(libraryPropertyType type, int *value);
const char *blas_status_name(cublasStatus_t status);
const char *blas_status_text(cublasStatus_t status);

/* Computes one product, or a batch of `count` products. */
cublasStatus_t blas_multiply(cublasHandle_t handle, BlasType in, BlasType out,
                             const BlasProduct *product, int count);
/* The same on tensor cores. Returns false if these or their copies do not support the product; else
 * `status` is set. */
bool blas_tensor_multiply(cublasHandle_t handle, BlasType in, BlasType out,
                          const BlasProduct *product, int count, cublasStatus_t *status);
/* A product of 8-bit floats on tensor cores, of types `a` and `b`, which no other kernels support.
 * Returns CUBLAS_STATUS_NOT_SUPPORTED if these do not support it either. */
cublasStatus_t blas_fp8_multiply(cublasHandle_t handle, BlasType a, BlasType b,
                                 const BlasProduct *product, const BlasScales *scales, int count);
/* Whether the current device has the tensor cores for that. */
bool blas_has_wgmma(void);
static inline bool blas_is_fp8(BlasType type) { return type == BLAS_E4M3 || type == BLAS_E5M2; }
/* The type in which a product of these types is computed; BLAS_NO_TYPE: no such product. */
BlasType blas_product_type(BlasType in, BlasType out);

#endif
