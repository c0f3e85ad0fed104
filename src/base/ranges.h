/* Disjoint ranges of addresses in increasing order, each with data of its owner. Finding, adding
 * and removing a range, and finding the first gap of a size, take a time that hardly grows with the
 * number of ranges: they are kept in chunks of a few hundred, which are found by binary search in a
 * directory. */
#ifndef TYTO_BASE_RANGES_H
#define TYTO_BASE_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Every item begins with this. */
typedef struct Range {
    uint64_t start; /* first address */
    uint64_t end;   /* one past the last */
} Range;

typedef struct Ranges Ranges;

/* Returns an empty set of ranges. Gaps are searched in [low, high); items outside it can only be
 * found by address. Items have `item_bytes` bytes; gaps begin at multiples of `grain`, a power of
 * two. */
Ranges *ranges_new(size_t item_bytes, uint64_t low, uint64_t high, uint64_t grain);
void ranges_free(Ranges *ranges); /* NULL is allowed */

/* Adds a copy of `item`, which must not be empty, and returns it; returns NULL if it overlaps
 * another one. Pointers to items are valid until the next item is added or removed. */
void *ranges_add(Ranges *ranges, const void *item);
void ranges_remove(Ranges *ranges, void *item);

/* The first item that ends after `address`; *previous, unless NULL, gets the one before it. NULL if
 * there is none. */
void *ranges_at_or_after(const Ranges *ranges, uint64_t address, void **previous);
/* The item that contains `address`; or NULL. */
void *ranges_find(const Ranges *ranges, uint64_t address);
size_t ranges_count(const Ranges *ranges);

/* The lowest multiple of `align` (a power of two, at least the grain) at which `size` bytes are
 * free; returns false if there is none. */
bool ranges_find_gap(Ranges *ranges, uint64_t size, uint64_t align, uint64_t *start);

#endif
