/* Atomic read-modify-write functions on global or shared memory. Each returns the old value. The
 * scope is the device; that of the _block forms is the CTA, and that of the _system forms includes
 * the host. */
#ifndef TYTO_DEVICE_ATOMIC_H
#define TYTO_DEVICE_ATOMIC_H

#include "integer.h"

typedef unsigned long long TytoU64;

#define TYTO_ATOMIC_IN(name, T, builtin, B)                                                        \
    static __device__ __forceinline__ T name(T *address, T value) {                                \
        return (T)builtin((volatile B *)address, (B)value);                                        \
    }
#define TYTO_ATOMIC(name, T, form, B)                                                              \
    TYTO_ATOMIC_IN(name, T, __nvvm_atom_##form, B)                                                 \
    TYTO_ATOMIC_IN(name##_block, T, __nvvm_atom_cta_##form, B)                                     \
    TYTO_ATOMIC_IN(name##_system, T, __nvvm_atom_sys_##form, B)

TYTO_ATOMIC(atomicAdd, int, add_gen_i, int)
TYTO_ATOMIC(atomicAdd, unsigned, add_gen_i, int)
TYTO_ATOMIC(atomicAdd, TytoU64, add_gen_ll, long long)
TYTO_ATOMIC(atomicAdd, float, add_gen_f, float)
TYTO_ATOMIC(atomicAdd, double, add_gen_d, double)
TYTO_ATOMIC(atomicExch, int, xchg_gen_i, int)
TYTO_ATOMIC(atomicExch, unsigned, xchg_gen_i, int)
TYTO_ATOMIC(atomicExch, TytoU64, xchg_gen_ll, long long)
TYTO_ATOMIC(atomicMin, int, min_gen_i, int)
TYTO_ATOMIC(atomicMin, unsigned, min_gen_ui, unsigned)
TYTO_ATOMIC(atomicMin, long long, min_gen_ll, long long)
TYTO_ATOMIC(atomicMin, TytoU64, min_gen_ull, TytoU64)
TYTO_ATOMIC(atomicMax, int, max_gen_i, int)
TYTO_ATOMIC(atomicMax, unsigned, max_gen_ui, unsigned)
TYTO_ATOMIC(atomicMax, long long, max_gen_ll, long long)
TYTO_ATOMIC(atomicMax, TytoU64, max_gen_ull, TytoU64)
TYTO_ATOMIC(atomicInc, unsigned, inc_gen_ui, unsigned)
TYTO_ATOMIC(atomicDec, unsigned, dec_gen_ui, unsigned)
TYTO_ATOMIC(atomicAnd, int, and_gen_i, int)
TYTO_ATOMIC(atomicAnd, unsigned, and_gen_i, int)
TYTO_ATOMIC(atomicAnd, TytoU64, and_gen_ll, long long)
TYTO_ATOMIC(atomicOr, int, or_gen_i, int)
TYTO_ATOMIC(atomicOr, unsigned, or_gen_i, int)
TYTO_ATOMIC(atomicOr, TytoU64, or_gen_ll, long long)
TYTO_ATOMIC(atomicXor, int, xor_gen_i, int)
TYTO_ATOMIC(atomicXor, unsigned, xor_gen_i, int)
TYTO_ATOMIC(atomicXor, TytoU64, xor_gen_ll, long long)

#undef TYTO_ATOMIC
#undef TYTO_ATOMIC_IN

/* Functions that are made from others, in each scope. */
#define TYTO_ATOMIC_FORMS(scope, prefix)                                                           \
    static __device__ __forceinline__ int atomicSub##scope(int *address, int value) {              \
        return atomicAdd##scope(address, -value);                                                  \
    }                                                                                              \
    static __device__ __forceinline__ unsigned atomicSub##scope(unsigned *address,                 \
                                                                unsigned value) {                  \
        return atomicAdd##scope(address, 0u - value);                                              \
    }                                                                                              \
    static __device__ __forceinline__ float atomicExch##scope(float *address, float value) {       \
        return __int_as_float(atomicExch##scope((int *)address, __float_as_int(value)));           \
    }                                                                                              \
    static __device__ __forceinline__ int atomicCAS##scope(int *address, int expected,             \
                                                           int desired) {                          \
        return __nvvm_atom_##prefix##cas_gen_i(address, expected, desired);                        \
    }                                                                                              \
    static __device__ __forceinline__ unsigned atomicCAS##scope(                                   \
        unsigned *address, unsigned expected, unsigned desired) {                                  \
        return (unsigned)__nvvm_atom_##prefix##cas_gen_i((int *)address, (int)expected,            \
                                                         (int)desired);                            \
    }                                                                                              \
    static __device__ __forceinline__ TytoU64 atomicCAS##scope(TytoU64 *address, TytoU64 expected, \
                                                               TytoU64 desired) {                  \
        return (TytoU64)__nvvm_atom_##prefix##cas_gen_ll((long long *)address,                     \
                                                         (long long)expected, (long long)desired); \
    }

TYTO_ATOMIC_FORMS(, )
TYTO_ATOMIC_FORMS(_block, cta_)
TYTO_ATOMIC_FORMS(_system, sys_)

#undef TYTO_ATOMIC_FORMS

#endif
