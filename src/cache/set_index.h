/* Which set of a cache an address goes to: a linear function of its bits, written as
 * base/bit_hash.h says, or a sum of two lists of them (base/bit_sum.h). No text means the bits just
 * above the line; of one set, an empty one does too. */
#ifndef TYTO_CACHE_SET_INDEX_H
#define TYTO_CACHE_SET_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bit_hash.h"
#include "base/bit_sum.h"
#include "base/diag.h"
#include "base/gather.h"

typedef struct SetIndex {
    BitGather bits; /* the set's number, out of the address ... */
    bool is_hashed; /* ... where so few runs make it; else: `hash`, or ... */
    bool is_summed; /* ... `sum`, if it is one */
    BitHash hash;
    BitSum sum;
} SetIndex;

/* Builds the function of a cache with `sets` sets (a power of two) of lines of `line_bytes` (a
 * power of two). `text` may be NULL. False, with the mistake told to `diag`: bad text, bits below
 * the line, or more or fewer bits than number the sets. */
bool set_index_init(SetIndex *index, const char *text, uint32_t sets, uint32_t line_bytes,
                    Diag *diag);

static inline uint32_t set_index_of(const SetIndex *index, uint64_t address) {
    if (index->is_hashed)
        return index->is_summed ? bit_sum(&index->sum, address) : bit_hash(&index->hash, address);
    return (uint32_t)gather_bits(&index->bits, address);
}

#endif
