/* The set function of a cache: which set an address belongs to. It is a linear function of the
 * address bits, in the notation of base/bit_hash.h, or a sum of two lists of them (base/bit_sum.h).
 * No text means the bits directly above the line offset; for a single set, so does an empty
 * text. */
#ifndef TYTO_CACHE_SET_INDEX_H
#define TYTO_CACHE_SET_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bit_hash.h"
#include "base/bit_sum.h"
#include "base/diag.h"
#include "base/gather.h"

typedef struct SetIndex {
    BitGather bits; /* the set's number, gathered from the address */
    bool is_hashed; /* `bits` has too few runs: use `hash` or `sum` */
    bool is_summed; /* use `sum`, not `hash` */
    BitHash hash;
    BitSum sum;
} SetIndex;

/* Builds the function of a cache with `sets` sets (a power of two) and lines of `line_bytes` (a
 * power of two). `text` may be NULL. Returns false, with the error in `diag`, if the text is wrong,
 * uses bits below the line, or has a number of bits that does not match `sets`. */
bool set_index_init(SetIndex *index, const char *text, uint32_t sets, uint32_t line_bytes,
                    Diag *diag);

static inline uint32_t set_index_of(const SetIndex *index, uint64_t address) {
    if (index->is_hashed)
        return index->is_summed ? bit_sum(&index->sum, address) : bit_hash(&index->hash, address);
    return (uint32_t)gather_bits(&index->bits, address);
}

#endif
