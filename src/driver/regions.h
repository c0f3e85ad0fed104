/* Regions: which context an address range belongs to, and with which flags. Sorted by address. */
#ifndef TYTO_DRIVER_REGIONS_H
#define TYTO_DRIVER_REGIONS_H

#include <stdbool.h>
#include <stdint.h>

struct Context;

typedef struct Region {
    uint64_t start;          /* first address */
    uint64_t size;           /* bytes */
    struct Context *context; /* its owner */
    unsigned flags;          /* of cuMemHostAlloc or cuMemHostRegister */
    bool is_managed;         /* from cuMemAllocManaged */
} Region;

typedef struct Regions {
    Region *items; /* in rising address, never overlapping */
    uint32_t count;
    uint32_t capacity;
} Regions;

/* Adds a region; false when it overlaps another one. */
bool regions_add(Regions *regions, Region region);
/* The region that contains `address`, NULL when none does. Valid until the next add or remove. */
Region *regions_find(const Regions *regions, uint64_t address);
void regions_remove(Regions *regions, Region *region);

#endif
