/* Functions across the lanes of a warp: shuffles, votes, matches and (from sm_80) reductions.
 * Values of 8 bytes move as two words. */
#ifndef TYTO_DEVICE_WARP_H
#define TYTO_DEVICE_WARP_H

#include "language.h"

/* A shuffle's last operand: the segment mask in bits 8 to 12, the clamp in bits 0 to 4. */
static __device__ __forceinline__ int tyto_shuffle_bounds(int width, int clamp) {
    return ((32 - width) << 8) | clamp;
}

#define TYTO_SHUFFLE(mode, clamp)                                                                  \
    template <class T>                                                                             \
    static __device__ __forceinline__ T __shfl##mode##_sync(unsigned mask, T value, int lane,      \
                                                            int width = warpSize) {                \
        static_assert(sizeof(T) == 4 || sizeof(T) == 8, "a shuffle moves 4 or 8 bytes");           \
        constexpr int count = sizeof(T) / 4;                                                       \
        struct Words {                                                                             \
            int word[count];                                                                       \
        } words = __builtin_bit_cast(Words, value);                                                \
        for (int &word : words.word)                                                               \
            word =                                                                                 \
                TYTO_SHUFFLE_BUILTIN(mode)(mask, word, lane, tyto_shuffle_bounds(width, clamp));   \
        return __builtin_bit_cast(T, words);                                                       \
    }
#define TYTO_SHUFFLE_BUILTIN(mode) TYTO_SHUFFLE_BUILTIN_##mode
#define TYTO_SHUFFLE_BUILTIN_      __nvvm_shfl_sync_idx_i32
#define TYTO_SHUFFLE_BUILTIN__up   __nvvm_shfl_sync_up_i32
#define TYTO_SHUFFLE_BUILTIN__down __nvvm_shfl_sync_down_i32
#define TYTO_SHUFFLE_BUILTIN__xor  __nvvm_shfl_sync_bfly_i32

TYTO_SHUFFLE(, 31)
TYTO_SHUFFLE(_up, 0)
TYTO_SHUFFLE(_down, 31)
TYTO_SHUFFLE(_xor, 31)

#undef TYTO_SHUFFLE
#undef TYTO_SHUFFLE_BUILTIN
#undef TYTO_SHUFFLE_BUILTIN_
#undef TYTO_SHUFFLE_BUILTIN__up
#undef TYTO_SHUFFLE_BUILTIN__down
#undef TYTO_SHUFFLE_BUILTIN__xor

static __device__ __forceinline__ unsigned __activemask() { return __nvvm_activemask(); }
static __device__ __forceinline__ unsigned __ballot_sync(unsigned mask, int predicate) {
    return __nvvm_vote_ballot_sync(mask, predicate != 0);
}
static __device__ __forceinline__ int __any_sync(unsigned mask, int predicate) {
    return __nvvm_vote_any_sync(mask, predicate != 0);
}
static __device__ __forceinline__ int __all_sync(unsigned mask, int predicate) {
    return __nvvm_vote_all_sync(mask, predicate != 0);
}

/* Matches compare the bits of 4 or 8 bytes; `bits` is T's size. */
#define TYTO_MATCH(T, bits, B)                                                                     \
    static __device__ __forceinline__ unsigned __match_any_sync(unsigned mask, T value) {          \
        return __nvvm_match_any_sync_i##bits(mask, __builtin_bit_cast(B, value));                  \
    }                                                                                              \
    static __device__ __forceinline__ unsigned __match_all_sync(unsigned mask, T value,            \
                                                                int *is_same) {                    \
        return __nvvm_match_all_sync_i##bits##p(mask, __builtin_bit_cast(B, value), is_same);      \
    }
TYTO_MATCH(int, 32, unsigned)
TYTO_MATCH(unsigned, 32, unsigned)
TYTO_MATCH(float, 32, unsigned)
TYTO_MATCH(long, 64, long long)
TYTO_MATCH(unsigned long, 64, long long)
TYTO_MATCH(long long, 64, long long)
TYTO_MATCH(unsigned long long, 64, long long)
TYTO_MATCH(double, 64, long long)
#undef TYTO_MATCH

#if __CUDA_ARCH__ >= 800
#define TYTO_REDUCE(name, T, builtin)                                                              \
    static __device__ __forceinline__ T __reduce_##name##_sync(unsigned mask, T value) {           \
        return (T)builtin((int)value, (int)mask);                                                  \
    }
TYTO_REDUCE(add, int, __nvvm_redux_sync_add)
TYTO_REDUCE(add, unsigned, __nvvm_redux_sync_add)
TYTO_REDUCE(min, int, __nvvm_redux_sync_min)
TYTO_REDUCE(min, unsigned, __nvvm_redux_sync_umin)
TYTO_REDUCE(max, int, __nvvm_redux_sync_max)
TYTO_REDUCE(max, unsigned, __nvvm_redux_sync_umax)
TYTO_REDUCE(and, unsigned, __nvvm_redux_sync_and)
TYTO_REDUCE(or, unsigned, __nvvm_redux_sync_or)
TYTO_REDUCE(xor, unsigned, __nvvm_redux_sync_xor)
#undef TYTO_REDUCE
#endif

#endif
