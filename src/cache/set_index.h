/* Which set of a cache an address goes to.
 *
 * Written as lists of address bits, highest first, combined by XOR and aligned at their lowest bit:
 * "11..7 ^ 19,17,15..13" is bits 11 to 7, of which bit 7 meets bit 13, bit 8 bit 14, and so on.
 * No text means the bits just above the line; of one set, an empty one does too. */
#ifndef TYTO_CACHE_SET_INDEX_H
#define TYTO_CACHE_SET_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/gather.h"

typedef struct SetIndex {
    BitGather bits; /* the set's number, out of the address */
} SetIndex;

/* Builds the function of a cache with `sets` sets (a power of two) of lines of `line_bytes` (a
 * power of two). `text` may be NULL. False, with the mistake told to `diag`: bad text, bits below
 * the line, or more or fewer bits than number the sets. */
bool set_index_init(SetIndex *index, const char *text, uint32_t sets, uint32_t line_bytes,
                    Diag *diag);

static inline uint32_t set_index_of(const SetIndex *index, uint64_t address) {
    return (uint32_t)gather_bits(&index->bits, address);
}

#endif
