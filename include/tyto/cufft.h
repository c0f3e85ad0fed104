/* cuFFT as implemented by Tyto. Names, values and signatures are those of CUDA 13, so a program
 * compiles against this header or against the vendor's. docs/libraries.md lists what is supported.
 * The library also exports the vendor's other names, which print a message and return
 * CUFFT_NOT_SUPPORTED. Source: cuFFT library reference, NVIDIA. */
#ifndef TYTO_CUFFT_H
#define TYTO_CUFFT_H

#include <stddef.h>

#include "tyto/cuda_library_types.h"
#include "tyto/cuda_runtime_api.h"

#define CUFFTAPI
#define CUFFT_VER_MAJOR 12
#define CUFFT_VER_MINOR 0
#define CUFFT_VER_PATCH 0
#define CUFFT_VER_BUILD 0
#define CUFFT_VERSION   (CUFFT_VER_MAJOR * 1000 + CUFFT_VER_MINOR * 100 + CUFFT_VER_PATCH)

#ifdef __cplusplus
struct float2;
struct double2;
extern "C" {
#endif
typedef float cufftReal;
typedef double cufftDoubleReal;
typedef struct float2 cufftComplex;
typedef struct double2 cufftDoubleComplex;
#pragma GCC visibility push(default) /* the library hides what public headers do not declare */

typedef int cufftHandle;
#define CUFFT_PLAN_NULL (-1)

#define CUFFT_FORWARD (-1)
#define CUFFT_INVERSE 1 /* without a factor of 1 / points */

typedef enum cufftResult_t {
    CUFFT_SUCCESS = 0,
    CUFFT_INVALID_PLAN = 1,
    CUFFT_ALLOC_FAILED = 2,
    CUFFT_INVALID_TYPE = 3,
    CUFFT_INVALID_VALUE = 4,
    CUFFT_INTERNAL_ERROR = 5,
    CUFFT_EXEC_FAILED = 6,
    CUFFT_SETUP_FAILED = 7,
    CUFFT_INVALID_SIZE = 8,
    CUFFT_UNALIGNED_DATA = 9,
    CUFFT_INVALID_DEVICE = 11,
    CUFFT_NO_WORKSPACE = 13,
    CUFFT_NOT_IMPLEMENTED = 14,
    CUFFT_NOT_SUPPORTED = 16,
    CUFFT_MISSING_DEPENDENCY = 17,
    CUFFT_NVRTC_FAILURE = 18,
    CUFFT_NVJITLINK_FAILURE = 19,
    CUFFT_NVSHMEM_FAILURE = 20
} cufftResult;

typedef enum cufftType_t {
    CUFFT_C2C = 0x29,
    CUFFT_R2C = 0x2a,
    CUFFT_C2R = 0x2c,
    CUFFT_Z2Z = 0x69,
    CUFFT_D2Z = 0x6a,
    CUFFT_Z2D = 0x6c
} cufftType;

/* ---- Plans ----
 * A function that makes a plan returns the bytes of its work area. inembed and onembed describe the
 * memory around the data; NULL: the data are contiguous, and strides and distances have no effect.
 */

cufftResult cufftCreate(cufftHandle *plan);
cufftResult cufftDestroy(cufftHandle plan);

cufftResult cufftPlan1d(cufftHandle *plan, int nx, cufftType type, int batch);
cufftResult cufftPlan2d(cufftHandle *plan, int nx, int ny, cufftType type);
cufftResult cufftPlan3d(cufftHandle *plan, int nx, int ny, int nz, cufftType type);
cufftResult cufftPlanMany(cufftHandle *plan, int rank, int *n, int *inembed, int istride, int idist,
                          int *onembed, int ostride, int odist, cufftType type, int batch);

cufftResult cufftMakePlan1d(cufftHandle plan, int nx, cufftType type, int batch, size_t *bytes);
cufftResult cufftMakePlan2d(cufftHandle plan, int nx, int ny, cufftType type, size_t *bytes);
cufftResult cufftMakePlan3d(cufftHandle plan, int nx, int ny, int nz, cufftType type,
                            size_t *bytes);
cufftResult cufftMakePlanMany(cufftHandle plan, int rank, int *n, int *inembed, int istride,
                              int idist, int *onembed, int ostride, int odist, cufftType type,
                              int batch, size_t *bytes);
cufftResult cufftMakePlanMany64(cufftHandle plan, int rank, long long *n, long long *inembed,
                                long long istride, long long idist, long long *onembed,
                                long long ostride, long long odist, cufftType type, long long batch,
                                size_t *bytes);
cufftResult cufftXtMakePlanMany(cufftHandle plan, int rank, long long *n, long long *inembed,
                                long long istride, long long idist, cudaDataType input,
                                long long *onembed, long long ostride, long long odist,
                                cudaDataType output, long long batch, size_t *bytes,
                                cudaDataType execution);

/* ---- Work areas ---- */

cufftResult cufftEstimate1d(int nx, cufftType type, int batch, size_t *bytes);
cufftResult cufftEstimate2d(int nx, int ny, cufftType type, size_t *bytes);
cufftResult cufftEstimate3d(int nx, int ny, int nz, cufftType type, size_t *bytes);
cufftResult cufftEstimateMany(int rank, int *n, int *inembed, int istride, int idist, int *onembed,
                              int ostride, int odist, cufftType type, int batch, size_t *bytes);
cufftResult cufftGetSize1d(cufftHandle plan, int nx, cufftType type, int batch, size_t *bytes);
cufftResult cufftGetSize2d(cufftHandle plan, int nx, int ny, cufftType type, size_t *bytes);
cufftResult cufftGetSize3d(cufftHandle plan, int nx, int ny, int nz, cufftType type, size_t *bytes);
cufftResult cufftGetSizeMany(cufftHandle plan, int rank, int *n, int *inembed, int istride,
                             int idist, int *onembed, int ostride, int odist, cufftType type,
                             int batch, size_t *bytes);
cufftResult cufftGetSizeMany64(cufftHandle plan, int rank, long long *n, long long *inembed,
                               long long istride, long long idist, long long *onembed,
                               long long ostride, long long odist, cufftType type, long long batch,
                               size_t *bytes);
cufftResult cufftXtGetSizeMany(cufftHandle plan, int rank, long long *n, long long *inembed,
                               long long istride, long long idist, cudaDataType input,
                               long long *onembed, long long ostride, long long odist,
                               cudaDataType output, long long batch, size_t *bytes,
                               cudaDataType execution);
cufftResult cufftGetSize(cufftHandle plan, size_t *bytes);
cufftResult cufftSetWorkArea(cufftHandle plan, void *area);
cufftResult cufftSetAutoAllocation(cufftHandle plan, int is_automatic);

/* ---- Transforms ---- */

cufftResult cufftSetStream(cufftHandle plan, cudaStream_t stream);
cufftResult cufftExecC2C(cufftHandle plan, cufftComplex *in, cufftComplex *out, int direction);
cufftResult cufftExecR2C(cufftHandle plan, cufftReal *in, cufftComplex *out);
cufftResult cufftExecC2R(cufftHandle plan, cufftComplex *in, cufftReal *out);
cufftResult cufftExecZ2Z(cufftHandle plan, cufftDoubleComplex *in, cufftDoubleComplex *out,
                         int direction);
cufftResult cufftExecD2Z(cufftHandle plan, cufftDoubleReal *in, cufftDoubleComplex *out);
cufftResult cufftExecZ2D(cufftHandle plan, cufftDoubleComplex *in, cufftDoubleReal *out);
/* The transform of the plan's type; the direction has an effect on complex data only. */
cufftResult cufftXtExec(cufftHandle plan, void *in, void *out, int direction);

/* ---- Versions ---- */

cufftResult cufftGetVersion(int *version);
cufftResult cufftGetProperty(libraryPropertyType type, int *value);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
