/* Qualifiers and the built-in variables. A member of threadIdx and similar variables is a property
 * whose getter reads the special register, so that they need no storage. */
#ifndef TYTO_DEVICE_LANGUAGE_H
#define TYTO_DEVICE_LANGUAGE_H

/* clang defines __noinline__ in CUDA */
#define __global__        __attribute__((global))
#define __grid_constant__ /* a parameter that is never written may be read in place */
/* clang 19 has no attribute for it, so that a launch of such a kernel is an error. */
#define __cluster_dims__(...)                                                                      \
    __attribute__((diagnose_if(true,                                                               \
                               "__cluster_dims__ needs nvcc; with clang, launch the kernel by "    \
                               "cudaLaunchKernelEx with cudaLaunchAttributeClusterDimension",      \
                               "error")))
#define __device__      __attribute__((device))
#define __host__        __attribute__((host))
#define __shared__      __attribute__((shared))
#define __constant__    __attribute__((constant))
#define __forceinline__ inline __attribute__((always_inline))
/* Threads, CTAs on an SM (0: any), and a third number for clusters, which are not supported. */
#define __launch_bounds__(...)                 TYTO_LAUNCH_BOUNDS(__VA_ARGS__, 0, 0)
#define TYTO_LAUNCH_BOUNDS(threads, ctas, ...) __attribute__((launch_bounds(threads, ctas)))
#define __align__(bytes)                       __attribute__((aligned(bytes)))

typedef decltype(sizeof(0)) size_t;
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
typedef unsigned long uintptr_t;

#define TYTO_INDEX_MEMBER(member, reg)                                                             \
    static __device__ __forceinline__ unsigned read_##member() {                                   \
        return __nvvm_read_ptx_sreg_##reg##_##member();                                            \
    }                                                                                              \
    __declspec(property(get = read_##member)) unsigned member
#define TYTO_INDEX_VARIABLE(name, reg)                                                             \
    struct TytoIndex_##name {                                                                      \
        TYTO_INDEX_MEMBER(x, reg);                                                                 \
        TYTO_INDEX_MEMBER(y, reg);                                                                 \
        TYTO_INDEX_MEMBER(z, reg);                                                                 \
    };                                                                                             \
    extern const __device__ TytoIndex_##name name

TYTO_INDEX_VARIABLE(threadIdx, tid);
TYTO_INDEX_VARIABLE(blockIdx, ctaid);
TYTO_INDEX_VARIABLE(blockDim, ntid);
TYTO_INDEX_VARIABLE(gridDim, nctaid);
enum { warpSize = 32 };

#undef TYTO_INDEX_VARIABLE
#undef TYTO_INDEX_MEMBER

/* Construction in place, as in <new>. */
#ifndef TYTO_CUDA_RUNTIME_H
__device__ inline void *operator new(size_t, void *place) noexcept { return place; }
#endif

#endif
