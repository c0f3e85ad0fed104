/* Reads the entries of fat binaries. Left out: entries compressed in other ways than zstd frames
 * and LZ4 blocks. */
#include "sass/fatbin_entries.h"

#include <lz4.h>
#include <string.h>
#include <zstd.h>

enum {
    /* The largest ratio of a content to its compressed form. A byte of an LZ4 block gives at most
     * 255 bytes. Four bytes of a zstd frame, a block of one repeated byte, give 128 KiB. */
    LZ4_GROWTH = 255,
    ZSTD_GROWTH = 1 << 15,
};

/* ---- Entries ---- */

bool fatbin_begin(const void *binary, uint64_t size, FatbinReader *reader, uint64_t *total) {
    FatbinHeader header;
    if (size < sizeof header) return false;
    memcpy(&header, binary, sizeof header);
    if (header.magic != FATBIN_MAGIC || header.header_bytes < sizeof header ||
        header.header_bytes > size || header.size > size - header.header_bytes)
        return false;
    *reader = (FatbinReader){(const char *)binary + header.header_bytes, header.size};
    if (total) *total = header.header_bytes + header.size;
    return true;
}

/* The name in the header of an entry that Tyto made. */
static const char *name_of(const FatbinEntry *entry, const char *at) {
    bool has_name = entry->flags & FATBIN_FLAG_NAMED && entry->name_offset &&
                    entry->name_offset <= entry->header_bytes &&
                    entry->name_bytes <= entry->header_bytes - entry->name_offset;
    return has_name ? at + entry->name_offset : NULL;
}

FatbinNext fatbin_next(FatbinReader *reader, FatbinItem *item) {
    FatbinEntry *entry = &item->entry;
    if (!reader->left) return FATBIN_END;
    if (reader->left < sizeof *entry) return FATBIN_DAMAGED;
    memcpy(entry, reader->at, sizeof *entry);
    if (entry->header_bytes < sizeof *entry || entry->header_bytes > reader->left ||
        entry->payload_bytes > reader->left - entry->header_bytes)
        return FATBIN_DAMAGED;
    item->payload = reader->at + entry->header_bytes;
    item->name = name_of(entry, reader->at);
    uint64_t step = entry->header_bytes + entry->payload_bytes;
    reader->at += step;
    reader->left -= step;
    return FATBIN_ITEM;
}

/* ---- Contents ---- */

/* Whether the sizes of a compressed content are plausible. */
static bool is_plausible(const FatbinEntry *entry) {
    uint64_t growth = entry->flags & FATBIN_FLAG_ZSTD ? ZSTD_GROWTH : LZ4_GROWTH;
    return entry->compressed_bytes <= entry->payload_bytes &&
           entry->compressed_bytes <= INT32_MAX && entry->text_bytes <= FATBIN_TEXT_MAX &&
           entry->text_bytes <= growth * entry->compressed_bytes;
}

const char *fatbin_unpack(const FatbinItem *item, Arena *arena, size_t *size) {
    const FatbinEntry *entry = &item->entry;
    *size = (size_t)entry->payload_bytes;
    if (!(entry->flags & (FATBIN_FLAG_LZ4 | FATBIN_FLAG_ZSTD))) return item->payload;
    if (!is_plausible(entry)) return NULL;
    size_t written = 0;
    *size = (size_t)entry->text_bytes;
    char *bytes = arena_alloc(arena, *size + 1);
    if (entry->flags & FATBIN_FLAG_ZSTD) {
        written = ZSTD_decompress(bytes, *size, item->payload, entry->compressed_bytes);
    } else {
        int count =
            LZ4_decompress_safe(item->payload, bytes, (int)entry->compressed_bytes, (int)*size);
        written = count < 0 ? SIZE_MAX : (size_t)count;
    }
    return written == *size ? bytes : NULL;
}
