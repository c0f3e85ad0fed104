/* The entries of a fat binary: PTX texts and cubins, each for one architecture. */
#ifndef TYTO_SASS_FATBIN_ENTRIES_H
#define TYTO_SASS_FATBIN_ENTRIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "sass/fatbin_format.h"

enum { FATBIN_TEXT_MAX = 1 << 30 }; /* bytes of one entry's content; rejects absurd sizes */

typedef struct FatbinItem {
    FatbinEntry entry;
    const char *payload; /* of entry.payload_bytes, as in the binary */
    const char *name;    /* of entry.name_bytes; NULL: it has none */
} FatbinItem;

/* The position of a reader of entries. */
typedef struct FatbinReader {
    const char *at;
    uint64_t left; /* remaining bytes of entries */
} FatbinReader;

/* Starts reading the binary at `binary`; reads nothing past `size` bytes. *total, unless NULL, gets
 * its bytes with the header. Returns false if its header is invalid. */
bool fatbin_begin(const void *binary, uint64_t size, FatbinReader *reader, uint64_t *total);

typedef enum FatbinNext { FATBIN_ITEM, FATBIN_END, FATBIN_DAMAGED } FatbinNext;

/* Reads the next entry. */
FatbinNext fatbin_next(FatbinReader *reader, FatbinItem *item);

/* The content of an entry, with its bytes in *size: the payload itself, or the uncompressed
 * payload, allocated in `arena` with a NUL after its end. NULL if its sizes or its bytes are
 * invalid. */
const char *fatbin_unpack(const FatbinItem *item, Arena *arena, size_t *size);

#endif
