/* Atomic read-modify-write functions on global or shared memory. Each returns the old value; the
 * scope is the device (the _block forms: the CTA). */
#ifndef TYTO_DEVICE_ATOMIC_H
#define TYTO_DEVICE_ATOMIC_H

#include "integer.h"

typedef unsigned long long TytoU64;

#define TYTO_ATOMIC(name, T, builtin, B)                                                           \
    static __device__ __forceinline__ T name(T *address, T value) {                                \
        return (T)builtin((volatile B *)address, (B)value);                                        \
    }

TYTO_ATOMIC(atomicAdd, int, __nvvm_atom_add_gen_i, int)
TYTO_ATOMIC(atomicAdd, unsigned, __nvvm_atom_add_gen_i, int)
TYTO_ATOMIC(atomicAdd, TytoU64, __nvvm_atom_add_gen_ll, long long)
TYTO_ATOMIC(atomicAdd, float, __nvvm_atom_add_gen_f, float)
TYTO_ATOMIC(atomicAdd, double, __nvvm_atom_add_gen_d, double)
TYTO_ATOMIC(atomicAdd_block, int, __nvvm_atom_cta_add_gen_i, int)
TYTO_ATOMIC(atomicAdd_block, unsigned, __nvvm_atom_cta_add_gen_i, int)
TYTO_ATOMIC(atomicAdd_block, float, __nvvm_atom_cta_add_gen_f, float)
TYTO_ATOMIC(atomicExch, int, __nvvm_atom_xchg_gen_i, int)
TYTO_ATOMIC(atomicExch, unsigned, __nvvm_atom_xchg_gen_i, int)
TYTO_ATOMIC(atomicExch, TytoU64, __nvvm_atom_xchg_gen_ll, long long)
TYTO_ATOMIC(atomicMin, int, __nvvm_atom_min_gen_i, int)
TYTO_ATOMIC(atomicMin, unsigned, __nvvm_atom_min_gen_ui, unsigned)
TYTO_ATOMIC(atomicMin, long long, __nvvm_atom_min_gen_ll, long long)
TYTO_ATOMIC(atomicMin, TytoU64, __nvvm_atom_min_gen_ull, TytoU64)
TYTO_ATOMIC(atomicMax, int, __nvvm_atom_max_gen_i, int)
TYTO_ATOMIC(atomicMax, unsigned, __nvvm_atom_max_gen_ui, unsigned)
TYTO_ATOMIC(atomicMax, long long, __nvvm_atom_max_gen_ll, long long)
TYTO_ATOMIC(atomicMax, TytoU64, __nvvm_atom_max_gen_ull, TytoU64)
TYTO_ATOMIC(atomicInc, unsigned, __nvvm_atom_inc_gen_ui, unsigned)
TYTO_ATOMIC(atomicDec, unsigned, __nvvm_atom_dec_gen_ui, unsigned)
TYTO_ATOMIC(atomicAnd, int, __nvvm_atom_and_gen_i, int)
TYTO_ATOMIC(atomicAnd, unsigned, __nvvm_atom_and_gen_i, int)
TYTO_ATOMIC(atomicAnd, TytoU64, __nvvm_atom_and_gen_ll, long long)
TYTO_ATOMIC(atomicOr, int, __nvvm_atom_or_gen_i, int)
TYTO_ATOMIC(atomicOr, unsigned, __nvvm_atom_or_gen_i, int)
TYTO_ATOMIC(atomicOr, TytoU64, __nvvm_atom_or_gen_ll, long long)
TYTO_ATOMIC(atomicXor, int, __nvvm_atom_xor_gen_i, int)
TYTO_ATOMIC(atomicXor, unsigned, __nvvm_atom_xor_gen_i, int)
TYTO_ATOMIC(atomicXor, TytoU64, __nvvm_atom_xor_gen_ll, long long)

#undef TYTO_ATOMIC

static __device__ __forceinline__ int atomicSub(int *address, int value) {
    return atomicAdd(address, -value);
}
static __device__ __forceinline__ unsigned atomicSub(unsigned *address, unsigned value) {
    return atomicAdd(address, 0u - value);
}
static __device__ __forceinline__ float atomicExch(float *address, float value) {
    return __int_as_float(atomicExch((int *)address, __float_as_int(value)));
}

static __device__ __forceinline__ int atomicCAS(int *address, int expected, int desired) {
    return __nvvm_atom_cas_gen_i(address, expected, desired);
}
static __device__ __forceinline__ unsigned atomicCAS(unsigned *address, unsigned expected,
                                                     unsigned desired) {
    return (unsigned)__nvvm_atom_cas_gen_i((int *)address, (int)expected, (int)desired);
}
static __device__ __forceinline__ TytoU64 atomicCAS(TytoU64 *address, TytoU64 expected,
                                                    TytoU64 desired) {
    return (TytoU64)__nvvm_atom_cas_gen_ll((long long *)address, (long long)expected,
                                           (long long)desired);
}

#endif
