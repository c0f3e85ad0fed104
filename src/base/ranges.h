/* Ranges of addresses that never overlap, in rising order, each with whatever its owner keeps of
 * it. Finding, adding and removing one, and the first gap of a size, take a time that hardly grows
 * with their number: they lie in chunks of a few hundred, and a directory of the chunks is bisected
 * first. */
#ifndef TYTO_BASE_RANGES_H
#define TYTO_BASE_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Every item begins so. */
typedef struct Range {
    uint64_t start; /* first address */
    uint64_t end;   /* one past the last */
} Range;

typedef struct Ranges Ranges;

/* No ranges yet. Gaps are looked for in [low, high), where all items lie but those that are to be
 * found only. Items have `item_bytes` bytes; gaps begin at multiples of `grain`, a power of two. */
Ranges *ranges_new(size_t item_bytes, uint64_t low, uint64_t high, uint64_t grain);
void ranges_free(Ranges *ranges); /* NULL is allowed */

/* A copy of `item`, which is not empty; NULL when it overlaps another one. Pointers to items are
 * valid until the next that is added or removed. */
void *ranges_add(Ranges *ranges, const void *item);
void ranges_remove(Ranges *ranges, void *item);

/* The first item that ends after `address`, and in *previous (unless NULL) the one before it; NULL
 * for none. */
void *ranges_at_or_after(const Ranges *ranges, uint64_t address, void **previous);
/* The item that holds `address`; NULL for none. */
void *ranges_find(const Ranges *ranges, uint64_t address);
size_t ranges_count(const Ranges *ranges);

/* The lowest multiple of `align` (a power of two, at least the grain) from which `size` bytes
 * belong to no range; false when there is none. */
bool ranges_find_gap(Ranges *ranges, uint64_t size, uint64_t align, uint64_t *start);

#endif
