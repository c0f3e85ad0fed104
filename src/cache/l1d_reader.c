/* L1D trace reader (see the header). */
#include "cache/l1d_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/arena.h"

/* Position of a block. */
typedef struct Block {
    uint64_t at;    /* offset of its compressed bytes in the file */
    uint64_t first; /* number of its first record */
} Block;

struct L1dReader {
    FILE *file;
    char *name; /* for messages */
    L1dTraceHeader header;
    L1dTraceTotals totals;
    uint8_t *origin; /* names and texts, alternating */
    size_t origin_bytes;
    Block *blocks;        /* includes an entry past the last block, whose `first` is the number of
                             all records */
    uint64_t block_count; /* without that entry */
    uint64_t block_room;  /* allocated entries */
    ZSTD_DCtx *context;
    L1dRecord *records; /* of the last block read */
    uint8_t *packed;    /* the same as bytes */
    uint8_t *frame;     /* the same, compressed */
    size_t frame_bytes; /* allocated bytes of `frame` */
};

static const char CUT_SHORT[] =
    "is cut short: the run that recorded it did not end, or the file is not whole";

static bool refuse(const L1dReader *reader, const char *what, Diag *diag) {
    diag_error(diag, reader->name, 0, 0, "%s", what);
    return false;
}

/* Reads exactly `count` bytes. Returns false, with an error, if the file has fewer. */
static bool read_bytes(L1dReader *reader, void *bytes, size_t count, Diag *diag) {
    errno = 0;
    if (fread(bytes, 1, count, reader->file) == count) return true;
    if (!ferror(reader->file)) return refuse(reader, CUT_SHORT, diag);
    diag_error(diag, reader->name, 0, 0, "cannot be read: %s", strerror(errno ? errno : EIO));
    return false;
}

static void add_block(L1dReader *reader, Block block) {
    if (reader->block_count == reader->block_room) {
        reader->block_room = reader->block_room ? 2 * reader->block_room : 16;
        reader->blocks = base_realloc(reader->blocks, reader->block_room * sizeof *reader->blocks);
    }
    reader->blocks[reader->block_count++] = block;
}

static bool read_origin(L1dReader *reader, Diag *diag) {
    uint8_t number[4];
    if (!read_bytes(reader, number, sizeof number, diag)) return false;
    size_t count = l1d_get32(number);
    if (count > L1D_TRACE_MAX_ORIGIN) return refuse(reader, "its end is damaged", diag);
    reader->origin = base_malloc(count + 1);
    if (!read_bytes(reader, reader->origin, count, diag) ||
        !read_bytes(reader, number, sizeof number, diag))
        return false;
    if (l1d_origin_checksum(reader->origin, count) != l1d_get32(number) ||
        !l1d_origin_is_whole(reader->origin, count))
        return refuse(reader, "its end is damaged", diag);
    reader->origin_bytes = count;
    return true;
}

/* Reads all block headers up to the end of the file. */
static bool find_blocks(L1dReader *reader, Diag *diag) {
    uint8_t head[L1D_TRACE_BLOCK_HEADER_BYTES], end[L1D_TRACE_END_BYTES];
    uint64_t at = L1D_TRACE_HEADER_BYTES, first = 0;
    for (;;) {
        if (!read_bytes(reader, head, sizeof head, diag)) return false;
        uint32_t records = l1d_get32(head), bytes = l1d_get32(head + 4);
        at += sizeof head;
        add_block(reader, (Block){.at = at, .first = first});
        if (records == 0 && bytes == 0) break;
        if (records == 0 || records > L1D_TRACE_BLOCK_RECORDS || bytes == 0 ||
            bytes > reader->frame_bytes)
            return refuse(reader, "a block's header is damaged", diag);
        first += records;
        at += bytes;
        if (fseeko(reader->file, (off_t)at, SEEK_SET)) return refuse(reader, CUT_SHORT, diag);
    }
    reader->block_count--;
    if (!read_bytes(reader, end, sizeof end, diag)) return false;
    const char *what = l1d_totals_unpack(end, &reader->totals);
    if (!what && reader->header.version > 1 && !read_origin(reader, diag)) return false;
    if (!what && fgetc(reader->file) != EOF) what = "something follows its end";
    return what ? refuse(reader, what, diag) : true;
}

static bool read_header(L1dReader *reader, Diag *diag) {
    uint8_t bytes[L1D_TRACE_HEADER_BYTES] = {0};
    errno = 0;
    size_t count = fread(bytes, 1, sizeof bytes, reader->file);
    if (ferror(reader->file)) {
        diag_error(diag, reader->name, 0, 0, "cannot be read: %s", strerror(errno ? errno : EIO));
        return false;
    }
    if (count == 0) return refuse(reader, "is empty", diag);
    const char *what = l1d_header_unpack(bytes, &reader->header);
    if (what) return refuse(reader, what, diag);
    if (fseeko(reader->file, L1D_TRACE_HEADER_BYTES, SEEK_SET))
        return refuse(reader, "cannot be read: an L1D trace must be a file, no pipe", diag);
    return true;
}

L1dReader *l1d_reader_from(FILE *file, const char *name, Diag *diag) {
    L1dReader *reader = base_calloc(1, sizeof *reader);
    size_t packed = (size_t)L1D_TRACE_BLOCK_RECORDS * L1D_TRACE_RECORD_BYTES;
    reader->file = file;
    reader->name = strcpy(base_malloc(strlen(name) + 1), name);
    reader->frame_bytes = ZSTD_compressBound(packed);
    if (!read_header(reader, diag) || !find_blocks(reader, diag)) {
        l1d_reader_free(reader);
        return NULL;
    }
    reader->context = ZSTD_createDCtx();
    reader->records = base_malloc(L1D_TRACE_BLOCK_RECORDS * sizeof *reader->records);
    reader->packed = base_malloc(packed);
    reader->frame = base_malloc(reader->frame_bytes);
    return reader;
}

L1dReader *l1d_reader_open(const char *path, Diag *diag) {
    FILE *file = fopen(path, "rb");
    if (file) return l1d_reader_from(file, path, diag);
    diag_error(diag, path, 0, 0, "cannot be read: %s", strerror(errno));
    return NULL;
}

void l1d_reader_free(L1dReader *reader) {
    if (!reader) return;
    fclose(reader->file);
    ZSTD_freeDCtx(reader->context);
    free(reader->name);
    free(reader->origin);
    free(reader->blocks);
    free(reader->records);
    free(reader->packed);
    free(reader->frame);
    free(reader);
}

const L1dTraceHeader *l1d_reader_header(const L1dReader *reader) { return &reader->header; }
const L1dTraceTotals *l1d_reader_totals(const L1dReader *reader) { return &reader->totals; }
const char *l1d_reader_origin(const L1dReader *reader, const char *name) {
    if (!reader->origin) return NULL;
    const char *at = (const char *)reader->origin, *end = at + reader->origin_bytes;
    while (at < end) {
        const char *text = at + strlen(at) + 1;
        if (!strcmp(at, name)) return text;
        at = text + strlen(text) + 1;
    }
    return NULL;
}
uint64_t l1d_reader_blocks(const L1dReader *reader) { return reader->block_count; }
uint64_t l1d_reader_first(const L1dReader *reader, uint64_t block) {
    return reader->blocks[block].first;
}

const L1dRecord *l1d_reader_block(L1dReader *reader, uint64_t block, uint32_t *count, Diag *diag) {
    const Block *this = &reader->blocks[block], *next = this + 1;
    size_t bytes = (size_t)(next->at - L1D_TRACE_BLOCK_HEADER_BYTES - this->at);
    *count = (uint32_t)(next->first - this->first);
    size_t unpacked = (size_t)*count * L1D_TRACE_RECORD_BYTES;
    if (fseeko(reader->file, (off_t)this->at, SEEK_SET)) {
        refuse(reader, CUT_SHORT, diag);
        return NULL;
    }
    if (!read_bytes(reader, reader->frame, bytes, diag)) return NULL;
    const char *what = "a block is damaged";
    if (ZSTD_decompressDCtx(reader->context, reader->packed, unpacked, reader->frame, bytes) ==
        unpacked)
        what = l1d_records_unpack(reader->packed, *count, reader->header.sms, reader->records);
    if (what) refuse(reader, what, diag);
    return what ? NULL : reader->records;
}
