/* Packs many numbers, most of them 0 and the others small, into few bytes. A run stores each launch
 * in this form. */
#ifndef TYTO_STATS_PACK_H
#define TYTO_STATS_PACK_H

#include <stddef.h>
#include <stdint.h>

typedef struct Pack {
    uint8_t *bytes; /* owned; NULL: all numbers are 0 */
    size_t size;
} Pack;

/* Packs numbers; free the result with pack_free. */
Pack pack_make(const uint64_t *numbers, size_t count);
void pack_free(Pack *pack); /* frees the bytes; leaves an empty Pack */
/* Unpacks the numbers. */
void pack_read(const Pack *pack, uint64_t *numbers, size_t count);

#endif
