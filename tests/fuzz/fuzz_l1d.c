/* The reader of L1D traces: any bytes are replayed, or refused with one message. An input that
 * starts with 'r' is a packed block of records, without the checksums that would hide them. */
#include "cache/replay.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { SMS = 4, MOST_RECORDS = 4096 };

static void check_records(const uint8_t *bytes, size_t size) {
    uint32_t count = (uint32_t)(size / L1D_TRACE_RECORD_BYTES);
    if (count > MOST_RECORDS) count = MOST_RECORDS;
    L1dRecord *records = calloc(count ? count : 1, sizeof *records);
    uint8_t *again = calloc(count ? count : 1, L1D_TRACE_RECORD_BYTES);
    if (!l1d_records_unpack(bytes, count, SMS, records)) {
        L1dRecord *second = calloc(count ? count : 1, sizeof *second);
        l1d_records_pack(records, count, again);
        if (l1d_records_unpack(again, count, SMS, second)) abort();
        for (uint32_t i = 0; i < count; i++) {
            if (records[i].sm >= SMS || records[i].kind >= L1D_KINDS) abort();
            if (records[i].address != second[i].address || records[i].cycle != second[i].cycle)
                abort();
        }
        free(second);
    }
    free(again);
    free(records);
}

static void check_file(const uint8_t *bytes, size_t size) {
    for (int way = 0; way < 3; way++) {
        Diag *diag = diag_new();
        ReplayResult result = {0};
        FILE *file = fmemopen((void *)(uintptr_t)bytes, size, "rb");
        L1dReader *reader = l1d_reader_from(file, "fuzz", diag);
        ReplayConfig config = {.policy = way == 1 ? REPLAY_BELADY : REPLAY_LRU,
                               .size_bytes = 8192,
                               .ways = 2,
                               .is_unbounded = way == 2};
        bool is_right = reader && replay_resolve(reader, &config, diag) &&
                        replay_run(reader, &config, &result, diag);
        if (diag_error_count(diag) != !is_right) abort();
        if (is_right && result.fills > result.misses) abort();
        l1d_reader_free(reader);
        diag_free(diag);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    if (size == 0) return 0;
    if (bytes[0] == 'r') check_records(bytes + 1, size - 1);
    else check_file(bytes, size);
    return 0;
}
