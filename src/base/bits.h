/* Bit sets in 64-bit words, and the few bit tricks the simulator uses everywhere. */
#ifndef TYTO_BASE_BITS_H
#define TYTO_BASE_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline int bits_count32(uint32_t word) { return __builtin_popcount(word); }
static inline int bits_count64(uint64_t word) { return __builtin_popcountll(word); }
/* Index of the lowest set bit; `word` must not be 0. */
static inline int bits_lowest32(uint32_t word) { return __builtin_ctz(word); }
static inline int bits_lowest64(uint64_t word) { return __builtin_ctzll(word); }
/* Index of the highest set bit; `word` must not be 0. */
static inline int bits_highest32(uint32_t word) { return 31 - __builtin_clz(word); }
static inline int bits_highest64(uint64_t word) { return 63 - __builtin_clzll(word); }
/* A word with bit `i` set if `is_set`: branch-free, for unpredictable conditions. */
static inline uint64_t bits_if(bool is_set, int i) { return (uint64_t)is_set << i; }
/* The word rotated right by `count`, 0 <= count < 64. */
static inline uint64_t bits_turned_right64(uint64_t word, uint32_t count) {
    return word >> count | word << (-count & 63);
}
static inline bool bits_is_power_of_two(uint64_t value) { return value && !(value & (value - 1)); }
static inline uint64_t bits_align_up(uint64_t value, uint64_t align) {
    return (value + align - 1) / align * align;
}
/* The smallest k for which 2^k >= value. */
static inline int bits_log2_up(uint64_t value) {
    return value <= 1 ? 0 : bits_highest64(value - 1) + 1;
}
/* A word with the lowest `count` bits set, 0 <= count <= 64. */
static inline uint64_t bits_low_mask(int count) {
    return count >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << count) - 1;
}

static inline size_t bits_words(size_t count) { return (count + 63) / 64; }
static inline bool bits_get(const uint64_t *set, size_t i) { return set[i / 64] >> (i % 64) & 1; }
static inline void bits_set(uint64_t *set, size_t i) { set[i / 64] |= UINT64_C(1) << (i % 64); }
static inline void bits_clear(uint64_t *set, size_t i) {
    set[i / 64] &= ~(UINT64_C(1) << (i % 64));
}

#endif
