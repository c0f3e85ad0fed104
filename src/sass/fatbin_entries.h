/* The entries of a fat binary: PTX texts and cubins, each for one architecture. */
#ifndef TYTO_SASS_FATBIN_ENTRIES_H
#define TYTO_SASS_FATBIN_ENTRIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "sass/fatbin_format.h"

enum { FATBIN_TEXT_MAX = 1 << 30 }; /* bytes of one entry's content, against absurd sizes */

typedef struct FatbinItem {
    FatbinEntry entry;
    const char *payload; /* of entry.payload_bytes, as it is in the binary */
    const char *name;    /* of entry.name_bytes; NULL: it has none */
} FatbinItem;

/* Where a reader of entries is. */
typedef struct FatbinReader {
    const char *at;
    uint64_t left; /* bytes of entries */
} FatbinReader;

/* Starts reading the binary at `binary`; reads nothing past `size` bytes. *total gets its bytes
 * with the header; NULL is allowed. False when its header makes no sense. */
bool fatbin_begin(const void *binary, uint64_t size, FatbinReader *reader, uint64_t *total);

typedef enum FatbinNext { FATBIN_ITEM, FATBIN_END, FATBIN_DAMAGED } FatbinNext;

/* The next entry. */
FatbinNext fatbin_next(FatbinReader *reader, FatbinItem *item);

/* The content of an entry, its bytes in *size: the payload itself, or what it was compressed from,
 * which lies in `arena`, a NUL past its end. NULL when its sizes or its bytes make no sense. */
const char *fatbin_unpack(const FatbinItem *item, Arena *arena, size_t *size);

#endif
