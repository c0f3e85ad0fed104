/* A number made of two lists of an address's bits: one plus a multiple of the other. Some machines
 * select the set of a cache or the channel of a memory with such a function.
 *
 * Written "11..7 + 7 x 16..12": bits 11 to 7 as a number, plus seven times bits 16 to 12, modulo
 * 2^5 because the first list has 5 bits. base/bit_hash.h describes the lists. */
#ifndef TYTO_BASE_BIT_SUM_H
#define TYTO_BASE_BIT_SUM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bit_hash.h"

typedef struct BitSum {
    BitHash own, added; /* the two numbers, extracted from the source */
    uint32_t factor;    /* of the second */
    uint32_t mask;      /* of the result */
} BitSum;

/* Whether the text has this form. */
bool bit_sum_is(const char *text);

/* Reads a sum of that form, and returns its two lists as matrices. Returns false if it is
 * invalid. */
bool bit_sum_read(BitSum *sum, BitMatrix *own, BitMatrix *added, const char *text);

static inline uint32_t bit_sum(const BitSum *sum, uint64_t source) {
    return (bit_hash(&sum->own, source) + sum->factor * bit_hash(&sum->added, source)) & sum->mask;
}

#endif
