/* Pseudo-random bytes for a number, the same on every host. */
#ifndef TESTS_GPU_RANDOM_BYTES_H
#define TESTS_GPU_RANDOM_BYTES_H

#include <stddef.h>
#include <stdint.h>

enum { RANDOM_BYTES = 200 };

/* SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). */
static inline uint64_t random_next(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Fills `bytes` for a number. Their count, from 10 to RANDOM_BYTES, is random too. */
static inline size_t random_bytes(uint64_t number, uint8_t bytes[RANDOM_BYTES]) {
    uint64_t state = number;
    size_t count = 10 + random_next(&state) % (RANDOM_BYTES - 9);
    for (size_t i = 0; i < count; i++)
        bytes[i] = (uint8_t)(random_next(&state) >> 32);
    return count;
}

#endif
