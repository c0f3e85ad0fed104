/* A sorted array: allocations mostly come in rising addresses, so adding is mostly appending. */
#include "driver/regions.h"

#include <string.h>

#include "base/arena.h"

/* Index of the first region that ends after `address`. */
static uint32_t first_after(const Regions *regions, uint64_t address) {
    uint32_t low = 0, high = regions->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const Region *region = &regions->items[middle];
        if (region->start + region->size <= address) low = middle + 1;
        else high = middle;
    }
    return low;
}

bool regions_add(Regions *regions, Region region) {
    uint32_t at = first_after(regions, region.start);
    if (at < regions->count && regions->items[at].start < region.start + region.size) return false;
    if (regions->count == regions->capacity) {
        regions->capacity = regions->capacity ? 2 * regions->capacity : 64;
        regions->items = base_realloc(regions->items, regions->capacity * sizeof(Region));
    }
    memmove(&regions->items[at + 1], &regions->items[at], (regions->count - at) * sizeof(Region));
    regions->items[at] = region;
    regions->count++;
    return true;
}

Region *regions_find(const Regions *regions, uint64_t address) {
    uint32_t at = first_after(regions, address);
    if (at == regions->count || regions->items[at].start > address) return NULL;
    return &regions->items[at];
}

void regions_remove(Regions *regions, Region *region) {
    uint32_t at = (uint32_t)(region - regions->items);
    regions->count--;
    memmove(region, region + 1, (regions->count - at) * sizeof(Region));
}
