/* Many numbers, most of them 0 and the others small, in few bytes: what a run keeps of each launch.
 */
#ifndef TYTO_STATS_PACK_H
#define TYTO_STATS_PACK_H

#include <stddef.h>
#include <stdint.h>

typedef struct Pack {
    uint8_t *bytes; /* owned; NULL: all numbers are 0 */
    size_t size;
} Pack;

/* The numbers; freed by pack_free. */
Pack pack_make(const uint64_t *numbers, size_t count);
void pack_free(Pack *pack); /* leaves an empty one */
/* The same numbers again. */
void pack_read(const Pack *pack, uint64_t *numbers, size_t count);

#endif
