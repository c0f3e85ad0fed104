/* Linear functions of bits: each bit of the result is the XOR of chosen bits of the source. Caches
 * use them to select a set, and memories to select a slice.
 *
 * A function is written in one of two ways:
 *
 *   "11..7 ^ 19,17,15..13"
 *       lists of source bits, highest first, aligned at their lowest bit: bit 7 is combined with
 *       bit 13, bit 8 with bit 14, and so on
 *   "ipoly 0x25: 32..18,17..14,7"
 *       the listed bits, highest first, as a polynomial over GF(2), modulo the given polynomial.
 *       Here it is t^5 + t^2 + 1, so the result has 5 bits. Source: B. R. Rau, "Pseudo-randomly
 *       Interleaved Memory", 1991 */
#ifndef TYTO_BASE_BIT_HASH_H
#define TYTO_BASE_BIT_HASH_H

#include <stdbool.h>
#include <stdint.h>

enum { BIT_HASH_MAX_BITS = 24 }; /* of a result */

/* The function as a matrix: for each source bit, the result bits that it flips. */
typedef struct BitMatrix {
    uint32_t column[64];
    int width; /* bits of the result */
} BitMatrix;

/* Reads a function. Returns false if the text has neither form, or names a bit above 63. */
bool bit_matrix_read(BitMatrix *matrix, const char *text);

static inline uint32_t bit_matrix_apply(const BitMatrix *matrix, uint64_t source) {
    uint32_t result = 0;
    for (; source; source &= source - 1)
        result ^= matrix->column[__builtin_ctzll(source)];
    return result;
}

/* The same function, as tables: one lookup for every four source bits that it uses. */
typedef struct BitHash {
    int count;              /* tables in use */
    uint8_t from[16];       /* lowest source bit of each table */
    uint32_t table[16][16]; /* by the value of the four bits */
} BitHash;

void bit_hash_init(BitHash *hash, const BitMatrix *matrix);

static inline uint32_t bit_hash(const BitHash *hash, uint64_t source) {
    uint32_t result = 0;
    for (int i = 0; i < hash->count; i++)
        result ^= hash->table[i][source >> hash->from[i] & 15];
    return result;
}

#endif
