/* What the files of our cuBLAS share: the handle, types of numbers, launches of kernels. */
#ifndef TYTO_LIBRARY_BLAS_H
#define TYTO_LIBRARY_BLAS_H

#include "library/blas_device.h"
#include "library/device.h"
#include "tyto/cublas.h"

/* A handle of cuBLAS, and of cuBLASLt, whose functions take either. */
struct cublasContext {
    Device device;
    cublasPointerMode_t pointer_mode; /* where scalars and results lie */
    cublasMath_t math_mode; /* kept, and of no effect: sums are in single precision at least */
    cublasAtomicsMode_t atomics_mode; /* likewise: no kernel needs atomics */
    int sm_count_target;              /* likewise */
};

extern const char blas_kernels[]; /* PTX text, of blas_kernels.cu */

/* How numbers are stored. */
typedef enum BlasType {
    BLAS_F32,
    BLAS_F64,
    BLAS_F16,
    BLAS_BF16,
    BLAS_S8,
    BLAS_S32,
    BLAS_C32, /* complex numbers of two singles */
    BLAS_C64, /* of two doubles */
    BLAS_NO_TYPE
} BlasType;

/* What cuComplex and cuDoubleComplex are. */
struct float2 {
    float x, y;
};
struct double2 {
    double x, y;
};
extern const char *const blas_type_names[]; /* as kernels' names end */
extern const uint32_t blas_type_bytes[];

BlasType blas_type_of(cudaDataType type); /* BLAS_NO_TYPE: none that is supported */
/* Whether vectors may be of the type: it is no integer. */
static inline bool blas_is_number(BlasType type) {
    return type <= BLAS_BF16 || type == BLAS_C32 || type == BLAS_C64;
}

cublasStatus_t blas_status(CUresult result);
/* Launches a grid of x * y * z blocks of 256 threads. */
cublasStatus_t blas_launch(cublasHandle_t handle, const char *kernel, const char *type, int64_t x,
                           int64_t y, int64_t z, void *parameters);
/* Blocks of 256 threads that have a thread for each of `count`. */
static inline int64_t blas_blocks(int64_t count) { return (count + 255) / 256; }

/* The factor at `pointer`, of the type `given`, for a kernel that computes in `used`. */
BlasScalar blas_scalar(cublasHandle_t handle, const void *pointer, BlasType given, BlasType used);
static inline BlasScalar blas_one(void) { return (BlasScalar){.value = 1}; }
static inline BlasScalar blas_zero(void) { return (BlasScalar){0}; }

/* Whether kernels can count so far: sizes of 64 bits are taken up to what 32 can say. */
static inline bool blas_is_size(int64_t n) { return n >= 0 && n <= INT32_MAX; }
static inline bool blas_is_lead(int64_t lead, int64_t rows) {
    return lead >= (rows > 1 ? rows : 1);
}

/* A vector as BLAS has them: with a negative increment the first element is the last in memory. */
BlasVector blas_vector(const void *items, int64_t n, int64_t increment);

/* What both libraries answer alike. */
cublasStatus_t blas_property(libraryPropertyType type, int *value);
const char *blas_status_name(cublasStatus_t status);
const char *blas_status_text(cublasStatus_t status);

/* One product, or `count` of them. */
cublasStatus_t blas_multiply(cublasHandle_t handle, BlasType in, BlasType out,
                             const BlasProduct *product, int count);
/* The type that a product of such numbers is computed in; BLAS_NO_TYPE: there is no such product.
 */
BlasType blas_product_type(BlasType in, BlasType out);

#endif
