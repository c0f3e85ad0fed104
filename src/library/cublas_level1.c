/* cuBLAS level 1. A function here is a row of parameters of a kernel. The parameters of modified
 * rotations are computed on the host, wherever they are stored. */
#include "library/blas.h"

#include <math.h>
#include <string.h>

enum {
    MOST_PARTS = 64,
    PART_BYTES = 24
}; /* blocks of a reduction, each with a value of up to two doubles and an index */

/* ---- Element by element ---- */

static cublasStatus_t run_map(cublasHandle_t handle, const char *kernel, BlasType type,
                              BlasMap map) {
    enum { MOST_BLOCKS = 1024 };
    if (map.n <= 0) return CUBLAS_STATUS_SUCCESS;
    int64_t blocks = blas_blocks(map.n);
    return blas_launch(handle, kernel, blas_type_names[type],
                       blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS, 1, 1, &map);
}

/* ---- Reduction to one number ---- */

/* Writes the result, of `bytes` bytes, to `out`, which is where the pointer mode says. */
static cublasStatus_t run_reduce(cublasHandle_t handle, const char *kernel, BlasType type,
                                 BlasReduce reduce, void *out, uint32_t bytes) {
    char end[32];
    const char *name = blas_type_names[type];
    bool is_host = handle->pointer_mode == CUBLAS_POINTER_MODE_HOST;
    if (!out) return CUBLAS_STATUS_INVALID_VALUE;
    if (reduce.n <= 0 || reduce.x.step == 0) { /* (as in BLAS, an increment of 0 sums nothing) */
        if (is_host) memset(out, 0, bytes);
        else
            return blas_status(
                cuMemsetD8Async(device_address(out), 0, bytes, handle->device.stream));
        return CUBLAS_STATUS_SUCCESS;
    }
    CUdeviceptr scratch = device_scratch(&handle->device, (MOST_PARTS + 1) * PART_BYTES);
    if (!scratch) return CUBLAS_STATUS_ALLOC_FAILED;
    int64_t parts = blas_blocks(reduce.n);
    reduce.parts = (int32_t)(parts < MOST_PARTS ? parts : MOST_PARTS);
    reduce.partial = scratch + PART_BYTES;
    reduce.has_wide_index = bytes == sizeof(int64_t);
    reduce.out = is_host ? scratch : device_address(out);
    cublasStatus_t status = blas_launch(handle, kernel, name, reduce.parts, 1, 1, &reduce);
    if (status) return status;
    stpcpy(stpcpy(end, kernel), "_end");
    status = blas_launch(handle, end, name, 1, 1, 1, &reduce);
    if (status || !is_host) return status;
    if (cuStreamSynchronize(handle->device.stream) != CUDA_SUCCESS)
        return CUBLAS_STATUS_EXECUTION_FAILED;
    return blas_status(cuMemcpyDtoH(out, scratch, bytes));
}

static BlasReduce reduce_of(const void *x, const void *y, int64_t n, int64_t incx, int64_t incy) {
    return (BlasReduce){.x = blas_vector(x, n, incx), .y = blas_vector(y, n, incy), .n = n};
}

/* Functions of one vector; a negative increment makes it empty. */
static cublasStatus_t reduce_one(cublasHandle_t handle, const char *kernel, BlasType type,
                                 const void *x, int64_t n, int64_t increment, void *out,
                                 uint32_t bytes) {
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (increment < 0) n = 0;
    return run_reduce(handle, kernel, type, reduce_of(x, x, n, increment, increment), out, bytes);
}

/* ---- Scalars in host or device memory ---- */

static cublasStatus_t fetch(cublasHandle_t handle, void *to, const void *from, size_t bytes) {
    if (!from) return CUBLAS_STATUS_INVALID_VALUE;
    if (handle->pointer_mode == CUBLAS_POINTER_MODE_DEVICE)
        return blas_status(cuMemcpyDtoH(to, device_address(from), bytes));
    memcpy(to, from, bytes);
    return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t store(cublasHandle_t handle, void *to, const void *from, size_t bytes) {
    if (handle->pointer_mode == CUBLAS_POINTER_MODE_DEVICE)
        return blas_status(cuMemcpyHtoD(device_address(to), from, bytes));
    memcpy(to, from, bytes);
    return CUBLAS_STATUS_SUCCESS;
}

/* ---- Rotations ---- */

/* Computes the plane rotation that turns (a, b) to (r, 0). a becomes r, and b a value from which c
 * and s can be recovered. Source: the reference BLAS (Lawson et al. 1979). */
static void make_rotation(double *a, double *b, double *c, double *s) {
    double scale = fabs(*a) + fabs(*b);
    *c = 1;
    *s = 0;
    if (scale == 0) {
        *a = *b = 0;
        return;
    }
    double sign = fabs(*a) > fabs(*b) ? copysign(1, *a) : copysign(1, *b);
    double r = sign * scale * sqrt(*a / scale * (*a / scale) + *b / scale * (*b / scale));
    *c = *a / r;
    *s = *b / r;
    double z = fabs(*a) > fabs(*b) ? *s : *c != 0 ? 1 / *c : 1;
    *a = r;
    *b = z;
}

/* Computes the modified rotation H that turns (sqrt(d1) x1, sqrt(d2) y1) to (r, 0): the flag, h11,
 * h21, h12, h22. Source: the same. */
static void make_modified_rotation(double *d1, double *d2, double *x1, double y1, double h[5]) {
    const double gamma = 4096, gamma_squared = gamma * gamma;
    double p1 = *d1 * *x1, p2 = *d2 * y1;
    memset(h, 0, 5 * sizeof *h);
    if (*d1 < 0) {
        h[0] = -1;
        *d1 = *d2 = *x1 = 0;
        return;
    }
    if (p2 == 0) {
        h[0] = -2;
        return;
    }
    double q1 = p1 * *x1, q2 = p2 * y1, u;
    if (fabs(q1) > fabs(q2)) {
        h[2] = -y1 / *x1;
        h[3] = p2 / p1;
        u = 1 - h[3] * h[2];
        if (u > 0) *d1 /= u, *d2 /= u, *x1 *= u;
    } else if (q2 < 0) {
        h[0] = -1;
        *d1 = *d2 = *x1 = 0;
        return;
    } else {
        h[0] = 1;
        h[1] = p1 / p2;
        h[4] = *x1 / y1;
        u = 1 + h[1] * h[4];
        double swapped = *d2 / u;
        *d2 = *d1 / u;
        *d1 = swapped;
        *x1 = y1 * u;
    }
    /* Rescales d1 and d2 so that they neither vanish nor overflow. */
    double *const numbers[] = {d1, d2};
    for (int i = 0; i < 2; i++) {
        while (*numbers[i] != 0 &&
               (fabs(*numbers[i]) <= 1 / gamma_squared || fabs(*numbers[i]) >= gamma_squared)) {
            bool is_small = fabs(*numbers[i]) <= 1 / gamma_squared;
            double factor = is_small ? gamma : 1 / gamma;
            if (h[0] == 0) h[1] = h[4] = 1;
            if (h[0] == 1) h[2] = -1, h[3] = 1;
            h[0] = -1;
            *numbers[i] *= factor * factor;
            if (i == 0) *x1 /= factor;
            h[i == 0 ? 1 : 2] /= factor;
            h[i == 0 ? 3 : 4] /= factor;
        }
    }
}

#define CHECK_HANDLE                                                                               \
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED
#define MAP_OF(first, second, count, incx, incy)                                                   \
    .x = blas_vector(first, count, incx), .y = blas_vector(second, count, incy), .n = count

/* Functions that compute a rotation; they have no form with 64-bit sizes. */
#define ROTATIONS(X, T)                                                                            \
    cublasStatus_t cublas##X##rotg_v2(cublasHandle_t handle, T *a, T *b, T *c, T *s) {             \
        CHECK_HANDLE;                                                                              \
        T in[2];                                                                                   \
        if (fetch(handle, &in[0], a, sizeof *a) || fetch(handle, &in[1], b, sizeof *b))            \
            return CUBLAS_STATUS_INVALID_VALUE;                                                    \
        double numbers[4] = {(double)in[0], (double)in[1]};                                        \
        make_rotation(&numbers[0], &numbers[1], &numbers[2], &numbers[3]);                         \
        T *const out[] = {a, b, c, s};                                                             \
        cublasStatus_t status = CUBLAS_STATUS_SUCCESS;                                             \
        for (int i = 0; i < 4 && !status; i++) {                                                   \
            T number = (T)numbers[i];                                                              \
            status = store(handle, out[i], &number, sizeof number);                                \
        }                                                                                          \
        return status;                                                                             \
    }                                                                                              \
    cublasStatus_t cublas##X##rotmg_v2(cublasHandle_t handle, T *d1, T *d2, T *x1, const T *y1,    \
                                       T *parameters) {                                            \
        CHECK_HANDLE;                                                                              \
        T in[4], h[5];                                                                             \
        const T *const from[] = {d1, d2, x1, y1};                                                  \
        for (int i = 0; i < 4; i++)                                                                \
            if (fetch(handle, &in[i], from[i], sizeof(T))) return CUBLAS_STATUS_INVALID_VALUE;     \
        double numbers[3] = {(double)in[0], (double)in[1], (double)in[2]}, rotation[5];            \
        make_modified_rotation(&numbers[0], &numbers[1], &numbers[2], (double)in[3], rotation);    \
        T *const to[] = {d1, d2, x1};                                                              \
        for (int i = 0; i < 5; i++)                                                                \
            h[i] = (T)rotation[i];                                                                 \
        for (int i = 0; i < 3; i++) {                                                              \
            T number = (T)numbers[i];                                                              \
            if (store(handle, to[i], &number, sizeof number)) return CUBLAS_STATUS_INVALID_VALUE;  \
        }                                                                                          \
        return store(handle, parameters, h, sizeof h);                                             \
    }
ROTATIONS(S, float)
ROTATIONS(D, double)

/* ---- Each type, with 32-bit and 64-bit sizes ---- */

#define FN(name)           FN_(LETTER, name, END)
#define FN_(X, name, end)  FN__(X, name, end)
#define FN__(X, name, end) cublas##X##name##_v2##end

#define INT int
#define END
#include "library/cublas_level1_types.def"
#undef INT
#undef END
#define INT int64_t
#define END _64
#include "library/cublas_level1_types.def"
#undef INT
#undef END

/* ---- Any type: all data must have the same ---- */

static bool are_alike(cudaDataType a, cudaDataType b) {
    return a == b && blas_is_number(blas_type_of(a));
}

/* Half precision is computed in single precision. */
static BlasType sum_type(BlasType type) {
    return type == BLAS_F16 || type == BLAS_BF16 ? BLAS_F32 : type;
}

static BlasType real_type(BlasType type) {
    return type == BLAS_C32 ? BLAS_F32 : type == BLAS_C64 ? BLAS_F64 : type;
}

#define ANY_TYPE(INT, END)                                                                         \
    cublasStatus_t cublasAxpyEx##END(cublasHandle_t handle, INT n, const void *alpha,              \
                                     cudaDataType alpha_type, const void *x, cudaDataType x_type,  \
                                     INT incx, void *y, cudaDataType y_type, INT incy,             \
                                     cudaDataType compute) {                                       \
        CHECK_HANDLE;                                                                              \
        (void)compute;                                                                             \
        BlasType type = blas_type_of(x_type), given = blas_type_of(alpha_type);                    \
        if (!are_alike(x_type, y_type) || !blas_is_number(given))                                  \
            return CUBLAS_STATUS_NOT_SUPPORTED;                                                    \
        BlasScalar factor = blas_scalar(handle, alpha, given, sum_type(type));                     \
        return run_map(handle, "axpy", type, (BlasMap){MAP_OF(x, y, n, incx, incy), .c = factor}); \
    }                                                                                              \
    cublasStatus_t cublasScalEx##END(cublasHandle_t handle, INT n, const void *alpha,              \
                                     cudaDataType alpha_type, void *x, cudaDataType x_type,        \
                                     INT incx, cudaDataType compute) {                             \
        CHECK_HANDLE;                                                                              \
        (void)compute;                                                                             \
        BlasType type = blas_type_of(x_type), given = blas_type_of(alpha_type);                    \
        if (!blas_is_number(type) || !blas_is_number(given)) return CUBLAS_STATUS_NOT_SUPPORTED;   \
        BlasScalar factor = blas_scalar(handle, alpha, given, sum_type(type));                     \
        return run_map(handle, "scal", type, (BlasMap){MAP_OF(x, x, n, incx, incx), .c = factor}); \
    }                                                                                              \
    cublasStatus_t cublasNrm2Ex##END(cublasHandle_t handle, INT n, const void *x,                  \
                                     cudaDataType x_type, INT incx, void *result,                  \
                                     cudaDataType result_type, cudaDataType compute) {             \
        (void)compute;                                                                             \
        BlasType type = blas_type_of(x_type);                                                      \
        if (!blas_is_number(type) || blas_type_of(result_type) != real_type(type))                 \
            return CUBLAS_STATUS_NOT_SUPPORTED;                                                    \
        return reduce_one(handle, "nrm2", type, x, n, incx, result,                                \
                          blas_type_bytes[real_type(type)]);                                       \
    }
ANY_TYPE(int, )
ANY_TYPE(int64_t, _64)

static const char *dot_of(BlasType type, bool is_conjugated) {
    return is_conjugated && real_type(type) != type ? "dotc" : "dot";
}

/* The name determines whether x is conjugated, which matters for complex numbers. */
#define ANY_DOT(name, is_conjugated, INT)                                                          \
    cublasStatus_t name(cublasHandle_t handle, INT n, const void *x, cudaDataType x_type,          \
                        INT incx, const void *y, cudaDataType y_type, INT incy, void *result,      \
                        cudaDataType result_type, cudaDataType compute) {                          \
        CHECK_HANDLE;                                                                              \
        (void)compute;                                                                             \
        BlasType type = blas_type_of(x_type);                                                      \
        if (!are_alike(x_type, y_type) || result_type != x_type)                                   \
            return CUBLAS_STATUS_NOT_SUPPORTED;                                                    \
        return run_reduce(handle, dot_of(type, is_conjugated), type,                               \
                          reduce_of(x, y, n, incx, incy), result, blas_type_bytes[type]);          \
    }
ANY_DOT(cublasDotEx, false, int)
ANY_DOT(cublasDotEx_64, false, int64_t)
ANY_DOT(cublasDotcEx, true, int)
ANY_DOT(cublasDotcEx_64, true, int64_t)
