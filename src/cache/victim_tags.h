/* Victim tag array of CCWS: for each warp, the lines that it had brought into the L1D and lost. It
 * has only tags. The sets are divided among the warps, so each warp sees only its own losses.
 *
 * Source: CCWS section 3.3.3 and table 3 (8-way, 16 entries a warp). As in its authors' released
 * simulator, there are two sets. A line's set is its number plus seven times its tag, as in that
 * simulator's caches. Replacement is first in, first out. */
#ifndef TYTO_CACHE_VICTIM_TAGS_H
#define TYTO_CACHE_VICTIM_TAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/policy.h"

typedef struct VictimTags {
    uint64_t *tags;     /* line numbers by warp, set and rank; the first one is replaced next */
    uint32_t warps;     /* warps that have an array */
    uint32_t sets;      /* sets per warp, a power of two */
    uint32_t ways;      /* ways per set */
    uint8_t line_shift; /* log2 of the bytes of a line */
    uint8_t set_bits;   /* log2 of `sets` */
    bool is_lru;        /* a hit or a repeated loss makes a tag the last to be replaced */
} VictimTags;

/* victim_tags_place makes empty arrays for `warps` warps (1..4096) with `sets` sets (a power of two
 * up to 1024) of `ways` ways (1..64), for lines of `line_bytes` (a power of two). They are in the
 * caller's memory: victim_tags_bytes bytes, aligned to 8. */
size_t victim_tags_bytes(uint32_t warps, uint32_t sets, uint32_t ways);
void victim_tags_place(VictimTags *victims, uint32_t warps, uint32_t sets, uint32_t ways,
                       uint32_t line_bytes, Replacement replacement, void *memory);

/* Records that the warp has lost the line of `address`. A line that is present already is not added
 * again. */
void victim_tags_insert(VictimTags *victims, uint32_t warp, uint64_t address);

/* Whether the warp had lost the line of `address`. */
bool victim_tags_probe(VictimTags *victims, uint32_t warp, uint64_t address);

/* Removes the line from all warps' arrays, because it was written. */
void victim_tags_remove(VictimTags *victims, uint64_t address);

#endif
