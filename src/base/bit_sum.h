/* A number made of two lists of an address's bits: one plus a multiple of the other. Sets of caches
 * and channels of a memory are numbered by such functions on some machines.
 *
 * Written "11..7 + 7 x 16..12": bits 11 to 7 as a number, and seven times bits 16 to 12, modulo
 * 2^5, as many bits as the first list has; each list as base/bit_hash.h says. */
#ifndef TYTO_BASE_BIT_SUM_H
#define TYTO_BASE_BIT_SUM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bit_hash.h"

typedef struct BitSum {
    BitHash own, added; /* the two numbers, out of the source */
    uint32_t factor;    /* of the second */
    uint32_t mask;      /* of the result */
} BitSum;

/* Whether the text is of this form. */
bool bit_sum_is(const char *text);

/* Reads a sum of that form; the two lists come as matrices. False when it makes no sense. */
bool bit_sum_read(BitSum *sum, BitMatrix *own, BitMatrix *added, const char *text);

static inline uint32_t bit_sum(const BitSum *sum, uint64_t source) {
    return (bit_hash(&sum->own, source) + sum->factor * bit_hash(&sum->added, source)) & sum->mask;
}

#endif
