/* Complex numbers for CUDA programs: pairs of singles or of doubles, and their arithmetic, for host
 * and device. */
#ifndef TYTO_CUCOMPLEX_H
#define TYTO_CUCOMPLEX_H

#include <cuda_runtime.h>

typedef float2 cuFloatComplex;
typedef float2 cuComplex;
typedef double2 cuDoubleComplex;

/* The functions for pairs C of numbers T; their names end in f. */
#define TYTO_COMPLEX(C, T, f, make, root)                                                          \
    __host__ __device__ inline C make(T x, T y) { return C{x, y}; }                                \
    __host__ __device__ inline T cuCreal##f(C a) { return a.x; }                                   \
    __host__ __device__ inline T cuCimag##f(C a) { return a.y; }                                   \
    __host__ __device__ inline C cuConj##f(C a) { return C{a.x, -a.y}; }                           \
    __host__ __device__ inline C cuCadd##f(C a, C b) { return C{a.x + b.x, a.y + b.y}; }           \
    __host__ __device__ inline C cuCsub##f(C a, C b) { return C{a.x - b.x, a.y - b.y}; }           \
    __host__ __device__ inline C cuCmul##f(C a, C b) {                                             \
        return C{a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};                                    \
    }                                                                                              \
    __host__ __device__ inline C cuCfma##f(C a, C b, C c) {                                        \
        return cuCadd##f(cuCmul##f(a, b), c);                                                      \
    }                                                                                              \
    /* scaled, so that no square overflows or underflows */                                        \
    __host__ __device__ inline C cuCdiv##f(C a, C b) {                                             \
        T scale = 1 / ((b.x < 0 ? -b.x : b.x) + (b.y < 0 ? -b.y : b.y));                           \
        T ax = a.x * scale, ay = a.y * scale, bx = b.x * scale, by = b.y * scale,                  \
          square = bx * bx + by * by;                                                              \
        return C{(ax * bx + ay * by) / square, (ay * bx - ax * by) / square};                      \
    }                                                                                              \
    __host__ __device__ inline T cuCabs##f(C a) {                                                  \
        T x = a.x < 0 ? -a.x : a.x, y = a.y < 0 ? -a.y : a.y, most = x > y ? x : y,                \
          least = x > y ? y : x;                                                                   \
        return most == 0 ? most : most * root(1 + least / most * (least / most));                  \
    }
TYTO_COMPLEX(cuFloatComplex, float, f, make_cuFloatComplex, sqrtf)
TYTO_COMPLEX(cuDoubleComplex, double, , make_cuDoubleComplex, sqrt)
#undef TYTO_COMPLEX

__host__ __device__ inline cuComplex make_cuComplex(float x, float y) { return cuComplex{x, y}; }
__host__ __device__ inline cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex a) {
    return cuDoubleComplex{a.x, a.y};
}
__host__ __device__ inline cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex a) {
    return cuFloatComplex{(float)a.x, (float)a.y};
}

#endif
