/* Services of the device's runtime for kernels: formatted output, assertions, the heap, time, and
 * special registers without a variable. clang turns a call of printf into a call of vprintf, and
 * calls of memcpy, memmove and memset into loops. */
#ifndef TYTO_DEVICE_SYSTEM_H
#define TYTO_DEVICE_SYSTEM_H

#include "language.h"

extern "C" {
__device__ int printf(const char *format, ...);
__device__ void *malloc(size_t size);
__device__ void free(void *pointer);
__device__ inline void *memcpy(void *to, const void *from, size_t size) noexcept {
    return __builtin_memcpy(to, from, size);
}
__device__ inline void *memmove(void *to, const void *from, size_t size) noexcept {
    return __builtin_memmove(to, from, size);
}
__device__ inline void *memset(void *to, int value, size_t size) noexcept {
    return __builtin_memset(to, value, size);
}
__device__ void cudaGraphSetConditional(unsigned long long handle, unsigned value);
__device__ __attribute__((noreturn)) void __assertfail(const char *expression, const char *file,
                                                       unsigned line, const char *function,
                                                       size_t character_bytes);
}

#ifdef assert /* the C library's, which calls this */
extern "C" __device__ __attribute__((noreturn)) inline void
__assert_fail(const char *expression, const char *file, unsigned line,
              const char *function) noexcept {
    __assertfail(expression, file, line, function, sizeof(char));
}
#elif defined(NDEBUG)
#define assert(expression) ((void)0)
#else
#define assert(expression)                                                                         \
    ((expression) ? (void)0 : __assertfail(#expression, __FILE__, __LINE__, __func__, sizeof(char)))
#endif

/* Inline, so that a kernel that allocates nothing does not contain them. With the C++ library,
 * clang's own <new> defines them. */
#ifndef TYTO_CUDA_RUNTIME_H
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Winline-new-delete"
__device__ inline void *operator new(size_t size) { return malloc(size); }
__device__ inline void *operator new[](size_t size) { return malloc(size); }
__device__ inline void operator delete(void *pointer) noexcept { free(pointer); }
__device__ inline void operator delete(void *pointer, size_t) noexcept { free(pointer); }
__device__ inline void operator delete[](void *pointer) noexcept { free(pointer); }
__device__ inline void operator delete[](void *pointer, size_t) noexcept { free(pointer); }
#pragma clang diagnostic pop
#endif

static __device__ __forceinline__ int clock() { return __nvvm_read_ptx_sreg_clock(); }
static __device__ __forceinline__ long long clock64() { return __nvvm_read_ptx_sreg_clock64(); }
static __device__ __forceinline__ void __nanosleep(unsigned nanoseconds) {
    __nvvm_nanosleep(nanoseconds);
}
static __device__ __forceinline__ void __trap() { __builtin_trap(); }

/* A load through the read-only (non-coherent) path. */
static __device__ __forceinline__ int __ldg(const int *p) { return __nvvm_ldg_i(p); }
static __device__ __forceinline__ unsigned __ldg(const unsigned *p) { return __nvvm_ldg_ui(p); }
static __device__ __forceinline__ float __ldg(const float *p) { return __nvvm_ldg_f(p); }
static __device__ __forceinline__ double __ldg(const double *p) { return __nvvm_ldg_d(p); }
static __device__ __forceinline__ unsigned char __ldg(const unsigned char *p) {
    return __nvvm_ldg_uc(p);
}

#endif
