/* L1D trace writer (see the header). */
#include "cache/l1d_writer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/arena.h"
#include "base/output_file.h"

struct L1dWriter {
    OutputFile *file;
    char *path; /* for the message if a write fails */
    ZSTD_CCtx *context;
    L1dRecord *records; /* records of the current block */
    uint32_t count;     /* number of records */
    uint8_t *packed;    /* the block's records as bytes */
    uint8_t *frame;     /* the block's header, and its records compressed */
    size_t frame_bytes; /* allocated bytes of `frame` */
    bool is_failed;     /* there was not enough memory to compress a block */
};

static void write_bytes(L1dWriter *writer, const void *bytes, size_t count) {
    fwrite(bytes, 1, count, output_file_stream(writer->file));
}

L1dWriter *l1d_writer_open(const char *path, const L1dTraceHeader *header, Diag *diag) {
    OutputFile *file = output_file_open(path);
    if (!file) {
        diag_error(diag, path, 0, 0, "cannot be written: %s", strerror(errno));
        return NULL;
    }
    L1dWriter *writer = base_calloc(1, sizeof *writer);
    size_t packed = (size_t)L1D_TRACE_BLOCK_RECORDS * L1D_TRACE_RECORD_BYTES;
    writer->file = file;
    writer->path = strcpy(base_malloc(strlen(path) + 1), path);
    writer->context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(writer->context, ZSTD_c_checksumFlag, 1);
    writer->records = base_malloc(L1D_TRACE_BLOCK_RECORDS * sizeof *writer->records);
    writer->packed = base_malloc(packed);
    writer->frame_bytes = ZSTD_compressBound(packed);
    writer->frame = base_malloc(L1D_TRACE_BLOCK_HEADER_BYTES + writer->frame_bytes);
    uint8_t bytes[L1D_TRACE_HEADER_BYTES];
    l1d_header_pack(header, bytes);
    write_bytes(writer, bytes, sizeof bytes);
    return writer;
}

static void write_block(L1dWriter *writer) {
    uint8_t *body = writer->frame + L1D_TRACE_BLOCK_HEADER_BYTES;
    l1d_records_pack(writer->records, writer->count, writer->packed);
    size_t bytes = ZSTD_compress2(writer->context, body, writer->frame_bytes, writer->packed,
                                  (size_t)writer->count * L1D_TRACE_RECORD_BYTES);
    if (ZSTD_isError(bytes)) { /* happens only if memory runs out: `frame` is always large enough */
        writer->is_failed = true;
        bytes = 0;
    }
    l1d_put32(writer->frame, writer->count);
    l1d_put32(writer->frame + 4, (uint32_t)bytes);
    write_bytes(writer, writer->frame, L1D_TRACE_BLOCK_HEADER_BYTES + bytes);
    writer->count = 0;
}

void l1d_writer_add(L1dWriter *writer, const L1dRecord *record) {
    writer->records[writer->count++] = *record;
    if (writer->count == L1D_TRACE_BLOCK_RECORDS) write_block(writer);
}

static void free_writer(L1dWriter *writer) {
    ZSTD_freeCCtx(writer->context);
    free(writer->records);
    free(writer->packed);
    free(writer->frame);
    free(writer->path);
    free(writer);
}

static void write_origin(L1dWriter *writer, const Text *origin) {
    uint8_t number[4];
    size_t count = origin && origin->length <= L1D_TRACE_MAX_ORIGIN ? origin->length : 0;
    const uint8_t *bytes = (const uint8_t *)(count ? origin->bytes : "");
    l1d_put32(number, (uint32_t)count);
    write_bytes(writer, number, sizeof number);
    write_bytes(writer, bytes, count);
    l1d_put32(number, l1d_origin_checksum(bytes, count));
    write_bytes(writer, number, sizeof number);
}

bool l1d_writer_close(L1dWriter *writer, const L1dTraceTotals *totals, const Text *origin,
                      Diag *diag) {
    uint8_t end[L1D_TRACE_BLOCK_HEADER_BYTES + L1D_TRACE_END_BYTES] = {
        0}; /* a block without records */
    if (writer->count) write_block(writer);
    l1d_totals_pack(totals, end + L1D_TRACE_BLOCK_HEADER_BYTES);
    write_bytes(writer, end, sizeof end);
    write_origin(writer, origin);
    int error = writer->is_failed ? ENOMEM : 0;
    if (error) output_file_abandon(writer->file);
    else if (!output_file_close(writer->file)) error = errno;
    if (error) diag_error(diag, writer->path, 0, 0, "cannot be written: %s", strerror(error));
    free_writer(writer);
    return !error;
}

void l1d_writer_abandon(L1dWriter *writer) {
    if (!writer) return;
    output_file_abandon(writer->file);
    free_writer(writer);
}
