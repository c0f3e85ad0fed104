/* L1D traces and their replay: the file preserves what is written, and the reader refuses all other
 * files. Belady's policy is as good as an exhaustive search. The replay separates the kinds of hits
 * as the CCWS paper does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/host.h"
#include "base/text.h"
#include "cache/l1d_writer.h"
#include "cache/line_table.h"
#include "cache/replay.h"

enum { LINE = 128 };

static const L1dTraceHeader header = {.version = L1D_TRACE_VERSION,
                                      .sms = 2,
                                      .unit_bytes = LINE,
                                      .size_bytes = 4 * LINE,
                                      .line_bytes = LINE,
                                      .ways = 2,
                                      .machine = "tiny",
                                      .scheduler = "lrr"};

/* ---- Making and reading traces ---- */

typedef struct Trace {
    char path[32];
    Diag *diag;
    const Text *origin; /* NULL: none */
} Trace;

static void trace_start(Trace *trace) {
    trace->origin = NULL;
    strcpy(trace->path, "/tmp/tyto-test-XXXXXX");
    close(mkstemp(trace->path));
    trace->diag = diag_new();
}

static void trace_stop(Trace *trace) {
    unlink(trace->path);
    diag_free(trace->diag);
}

static void write_trace(Trace *trace, const L1dRecord *records, size_t count) {
    L1dWriter *writer = l1d_writer_open(trace->path, &header, trace->diag);
    assert_non_null(writer);
    for (size_t i = 0; i < count; i++)
        l1d_writer_add(writer, &records[i]);
    L1dTraceTotals totals = {.kernels = 1, .thread_instructions = 1000, .accesses = count};
    assert_true(l1d_writer_close(writer, &totals, trace->origin, trace->diag));
}

static ReplayResult replay(Trace *trace, ReplayConfig config) {
    ReplayResult result;
    L1dReader *reader = l1d_reader_open(trace->path, trace->diag);
    if (!reader || !replay_resolve(reader, &config, trace->diag) ||
        !replay_run(reader, &config, &result, trace->diag))
        fail_msg("%s", diag_text(trace->diag));
    l1d_reader_free(reader);
    assert_int_equal(result.misses + result.inter_warp_hits + result.intra_warp_hits,
                     result.accesses);
    return result;
}

static ReplayResult replay_records(const L1dRecord *records, size_t count, ReplayConfig config) {
    Trace trace;
    trace_start(&trace);
    write_trace(&trace, records, count);
    ReplayResult result = replay(&trace, config);
    trace_stop(&trace);
    return result;
}

static L1dRecord load_of(uint64_t line) {
    return (L1dRecord){.address = line * LINE, .lanes = 1, .kind = L1D_LOAD};
}

static uint64_t random_next(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Lookups of a few lines, of the kinds up to `kinds`, with a flush now and then. */
static void make_records(L1dRecord *records, size_t count, uint32_t lines, uint32_t kinds,
                         uint64_t seed) {
    uint64_t state = seed * 2654435761u + 1;
    for (size_t i = 0; i < count; i++) {
        uint32_t kind = (uint32_t)(random_next(&state) >> 20) % (2 * kinds);
        records[i] = (L1dRecord){.cycle = 3 * i,
                                 .address = (random_next(&state) >> 20) % lines * LINE,
                                 .warp = (uint32_t)(random_next(&state) >> 20) % 4,
                                 .lanes = 1u << random_next(&state) % 4,
                                 .sm = 0,
                                 .kind = (uint8_t)(kind < kinds ? kind : L1D_LOAD)};
        if (random_next(&state) % 64 == 0) records[i].kind = L1D_FLUSH;
    }
}

/* ---- The file ---- */

static void what_is_read_is_what_was_written(void **unused) {
    (void)unused;
    enum { COUNT = 2 * L1D_TRACE_BLOCK_RECORDS + 17 };
    L1dRecord *records = calloc(COUNT, sizeof *records);
    uint64_t state = 88172645463325252u;
    for (size_t i = 0; i < COUNT; i++)
        records[i] =
            (L1dRecord){.cycle = (i ? records[i - 1].cycle : 0) + (random_next(&state) >> 40),
                        .address = random_next(&state),
                        .warp = (uint32_t)random_next(&state),
                        .lanes = (uint32_t)random_next(&state) | 1,
                        .sm = (uint16_t)(i % 2),
                        .kind = (uint8_t)(i % L1D_KINDS),
                        .is_request = i % 5 == 0};
    Trace trace;
    trace_start(&trace);
    write_trace(&trace, records, COUNT);
    L1dReader *reader = l1d_reader_open(trace.path, trace.diag);
    assert_non_null(reader);
    assert_memory_equal(l1d_reader_header(reader), &header, sizeof header);
    assert_int_equal(l1d_reader_totals(reader)->accesses, COUNT);
    assert_int_equal(l1d_reader_blocks(reader), 3);
    assert_int_equal(l1d_reader_first(reader, 3), COUNT);
    for (uint64_t block = 3; block-- > 0;) {
        uint32_t count;
        const L1dRecord *read = l1d_reader_block(reader, block, &count, trace.diag);
        for (uint32_t i = 0; i < count; i++) {
            const L1dRecord *is = &read[i], *was = &records[l1d_reader_first(reader, block) + i];
            assert_true(is->cycle == was->cycle && is->address == was->address &&
                        is->warp == was->warp && is->lanes == was->lanes && is->sm == was->sm &&
                        is->kind == was->kind && is->is_request == was->is_request);
        }
    }
    l1d_reader_free(reader);
    trace_stop(&trace);
    free(records);
}

static void an_empty_stream_counts_nothing(void **unused) {
    (void)unused;
    for (int unbounded = 0; unbounded < 2; unbounded++)
        for (int policy = 0; policy < REPLAY_POLICIES; policy++) {
            ReplayConfig config = {.policy = (ReplayPolicy)policy, .is_unbounded = unbounded};
            assert_int_equal(replay_records(NULL, 0, config).accesses, 0);
        }
}

/* Whether a file of these bytes can be read and replayed, and its result. If not, there must be
 * exactly one error. */
static bool is_readable(const uint8_t *bytes, size_t count, ReplayResult *result) {
    Diag *diag = diag_new();
    FILE *file = tmpfile();
    fwrite(bytes, 1, count, file);
    rewind(file);
    L1dReader *reader = l1d_reader_from(file, "bytes", diag);
    ReplayConfig config = {.policy = REPLAY_LRU};
    bool is_read = reader && replay_resolve(reader, &config, diag) &&
                   replay_run(reader, &config, result, diag);
    assert_int_equal(diag_error_count(diag), is_read ? 0 : 1);
    l1d_reader_free(reader);
    diag_free(diag);
    return is_read;
}

static void add_origin(Text *origin) {
    static const char texts[] = "command\0tyto run x\0machine\0";
    text_add_bytes(origin, texts, sizeof texts); /* empty: the hash of the machine */
}

static void the_origin_is_read_as_it_was_written(void **unused) {
    (void)unused;
    Trace trace;
    Text origin = {0};
    trace_start(&trace);
    add_origin(&origin);
    trace.origin = &origin;
    write_trace(&trace, NULL, 0);
    L1dReader *reader = l1d_reader_open(trace.path, trace.diag);
    assert_string_equal(l1d_reader_origin(reader, "command"), "tyto run x");
    assert_string_equal(l1d_reader_origin(reader, "machine"), "");
    assert_null(l1d_reader_origin(reader, "tyto run x"));
    l1d_reader_free(reader);
    trace.origin = NULL;
    write_trace(&trace, NULL, 0);
    reader = l1d_reader_open(trace.path, trace.diag);
    assert_null(l1d_reader_origin(reader, "command"));
    l1d_reader_free(reader);
    text_free(&origin);
    trace_stop(&trace);
}

/* Version 1 of the format is the same but has no origin. */
static void a_file_of_the_first_version_is_read(void **unused) {
    (void)unused;
    enum { AT_VERSION = 8, AT_CHECKSUM = 252, NO_ORIGIN = 8 };
    L1dRecord records[100];
    size_t length;
    Trace trace;
    ReplayResult second, first;
    make_records(records, 100, 9, L1D_STORE_EVICT + 1, 1);
    trace_start(&trace);
    write_trace(&trace, records, 100);
    uint8_t *bytes = (uint8_t *)text_read_file(trace.path, 1 << 20, &length);
    assert_true(is_readable(bytes, length, &second));
    l1d_put32(bytes + AT_VERSION, 1);
    l1d_put32(bytes + AT_CHECKSUM, l1d_origin_checksum(bytes, AT_CHECKSUM));
    assert_false(is_readable(bytes, length, &first)); /* bytes follow the end */
    assert_true(is_readable(bytes, length - NO_ORIGIN, &first));
    assert_memory_equal(&first, &second, sizeof first);
    free(bytes);
    trace_stop(&trace);
}

static void a_damaged_file_is_refused(void **unused) {
    (void)unused;
    L1dRecord records[100];
    size_t length;
    Trace trace;
    make_records(records, 100, 9, L1D_STORE_EVICT + 1, 1);
    trace_start(&trace);
    Text origin = {0};
    add_origin(&origin);
    trace.origin = &origin;
    write_trace(&trace, records, 100);
    text_free(&origin);
    uint8_t *bytes = (uint8_t *)text_read_file(trace.path, 1 << 20, &length);
    ReplayResult whole, damaged;
    assert_true(is_readable(bytes, length, &whole));
    for (size_t cut = 0; cut < length; cut++)
        assert_false(is_readable(bytes, cut, &damaged));
    size_t refused =
        0; /* all but the bits that zstd ignores: its checksum covers the unpacked data */
    for (size_t i = 0; i < length; i++) {
        bytes[i] ^= (uint8_t)(1u << i % 8);
        if (is_readable(bytes, length, &damaged))
            assert_memory_equal(&damaged, &whole, sizeof whole);
        else refused++;
        bytes[i] ^= (uint8_t)(1u << i % 8);
    }
    assert_in_range(refused, length * 9 / 10, length);
    uint8_t *longer = calloc(length + 1, 1);
    memcpy(longer, bytes, length);
    assert_false(is_readable(longer, length + 1, &damaged));
    free(longer);
    free(bytes);
    trace_stop(&trace);
}

static void a_full_disk_is_told_once(void **unused) {
    (void)unused;
    Diag *diag = diag_new();
    L1dWriter *writer = l1d_writer_open("/dev/full", &header, diag);
    L1dRecord record = load_of(3);
    for (int i = 0; i < 3 * L1D_TRACE_BLOCK_RECORDS; i++)
        l1d_writer_add(writer, &record);
    assert_false(l1d_writer_close(writer, &(L1dTraceTotals){0}, NULL, diag));
    assert_int_equal(diag_error_count(diag), 1);
    assert_non_null(strstr(diag_text(diag), "No space left"));
    assert_null(l1d_writer_open("/no/where", &header, diag));
    assert_int_equal(diag_error_count(diag), 2);
    diag_free(diag);
}

static void impossible_caches_are_refused(void **unused) {
    (void)unused;
    const ReplayConfig bad[] = {{.size_bytes = 3 * LINE},
                                {.ways = 3},
                                {.line_bytes = LINE / 2},
                                {.line_bytes = 96},
                                {.line_bytes = 8192},
                                {.ways = 1u << 17, .size_bytes = 1u << 31},
                                {.size_bytes = UINT64_C(1) << 40}};
    Trace trace;
    trace_start(&trace);
    write_trace(&trace, NULL, 0);
    L1dReader *reader = l1d_reader_open(trace.path, trace.diag);
    for (int i = 0; i < (int)(sizeof bad / sizeof *bad); i++) {
        ReplayConfig config = bad[i];
        assert_false(replay_resolve(reader, &config, trace.diag));
        assert_int_equal(diag_error_count(trace.diag), i + 1);
    }
    l1d_reader_free(reader);
    trace_stop(&trace);
}

/* The set is bit 8 of the address, where the machine's own hash would take bit 7. */
static void sets_are_those_of_the_machines_hash(void **unused) {
    (void)unused;
    static const char texts[] = L1D_TRACE_SET_HASH "\0008";
    L1dRecord records[6];
    Trace trace;
    Text origin = {0};
    for (uint64_t i = 0; i < 6; i++)
        records[i] = load_of(2 * (i % 3));
    assert_int_equal(replay_records(records, 6, (ReplayConfig){0}).misses, 6);
    trace_start(&trace);
    text_add_bytes(&origin, texts, sizeof texts);
    trace.origin = &origin;
    write_trace(&trace, records, 6);
    assert_int_equal(replay(&trace, (ReplayConfig){0}).misses, 3);
    assert_int_equal(replay(&trace, (ReplayConfig){.ways = 4}).misses, 3); /* one set */
    L1dReader *reader = l1d_reader_open(trace.path, trace.diag);
    assert_false(replay_resolve(reader, &(ReplayConfig){.ways = 1}, trace.diag)); /* four sets */
    l1d_reader_free(reader);
    text_free(&origin);
    trace_stop(&trace);
}

/* ---- Policies ---- */

/* Fewest lines that any replacement policy brings in from record i on, by exhaustive search. One
 * set; `held` are its lines. */
static uint64_t best_fills(const L1dRecord *records, size_t count, size_t i, uint32_t ways,
                           const uint64_t *held, uint32_t n) {
    for (; i < count; i++) {
        uint64_t line = records[i].address / LINE, next[4];
        uint32_t at = 0;
        if (records[i].kind == L1D_FLUSH) n = 0;
        if (!l1d_kind_is_lookup((L1dKind)records[i].kind)) continue;
        while (at < n && held[at] != line)
            at++;
        memcpy(next, held, n * sizeof *next);
        if (records[i].kind == L1D_STORE_EVICT && at < n) {
            next[at] = next[n - 1];
            return best_fills(records, count, i + 1, ways, next, n - 1);
        }
        if (at < n || !l1d_kind_takes_line((L1dKind)records[i].kind)) continue;
        if (n < ways) {
            next[n] = line;
            return 1 + best_fills(records, count, i + 1, ways, next, n + 1);
        }
        uint64_t best = UINT64_MAX;
        for (uint32_t victim = 0; victim < ways; victim++) {
            memcpy(next, held, n * sizeof *next);
            next[victim] = line;
            uint64_t fills = 1 + best_fills(records, count, i + 1, ways, next, n);
            if (fills < best) best = fills;
        }
        return best;
    }
    return 0;
}

static void belady_is_as_good_as_trying_everything(void **unused) {
    (void)unused;
    enum { COUNT = 26, STREAMS = 150 };
    for (uint32_t seed = 0; seed < STREAMS; seed++) {
        L1dRecord records[COUNT];
        uint32_t ways = 2 + seed % 2;
        /* loads only; loads and stores that allocate; all kinds */
        make_records(records, COUNT, 5 + seed % 2, seed % 3 == 0 ? 1 : seed % 3 == 1 ? 2 : 5, seed);
        ReplayConfig config = {
            .policy = REPLAY_BELADY, .ways = ways, .size_bytes = (uint64_t)ways * LINE};
        ReplayResult best = replay_records(records, COUNT, config);
        uint64_t held[4];
        assert_int_equal(best.fills, best_fills(records, COUNT, 0, ways, held, 0));
    }
}

static void belady_brings_in_no_more_than_lru(void **unused) {
    (void)unused;
    enum { COUNT = 3000 };
    bool was_better = false;
    for (uint32_t seed = 0; seed < 40; seed++) {
        L1dRecord records[COUNT];
        make_records(records, COUNT, 20 + seed, 1 + seed % 5, seed);
        for (size_t i = 0; i < COUNT; i++)
            records[i].is_request = i % 3 == 0;
        ReplayConfig config = {.ways = 2 + 2 * (seed % 2), .size_bytes = 8 * LINE};
        ReplayResult lru = replay_records(records, COUNT, config);
        config.policy = REPLAY_BELADY;
        ReplayResult belady = replay_records(records, COUNT, config);
        assert_int_equal(lru.accesses, belady.accesses);
        assert_true(belady.fills <= lru.fills);
        if (seed % 5 != 1) was_better |= belady.fills < lru.fills;
        /* if no store allocates, fills are load misses */
        bool takes = false;
        for (size_t i = 0; i < COUNT; i++)
            takes |= records[i].kind == L1D_STORE_ALLOCATE;
        if (!takes) assert_true(belady.load_misses <= lru.load_misses);
    }
    assert_true(was_better);
}

static void an_unbounded_cache_misses_what_is_new(void **unused) {
    (void)unused;
    enum { COUNT = 4000, LINES = 700 };
    L1dRecord *records = calloc(COUNT, sizeof *records);
    bool seen[2][LINES] = {{0}};
    uint64_t cold = 0;
    make_records(records, COUNT, LINES, 1, 7);
    for (size_t i = 0; i < COUNT; i++) {
        records[i].sm = i % 2;
        bool *known = &seen[records[i].sm][records[i].address / LINE];
        if (records[i].kind == L1D_FLUSH) {
            memset(seen[records[i].sm], 0, sizeof seen[0]);
            continue;
        }
        cold += !*known;
        *known = true;
    }
    ReplayResult result = replay_records(records, COUNT, (ReplayConfig){.is_unbounded = true});
    assert_int_equal(result.misses, cold);
    assert_int_equal(result.evictions, 0);
    /* a cache that is large enough is no worse */
    ReplayConfig large = {.policy = REPLAY_LRU, .size_bytes = 1024 * LINE, .ways = 1024};
    assert_int_equal(replay_records(records, COUNT, large).misses, cold);
    free(records);
}

static void lru_spares_a_line_on_its_way(void **unused) {
    (void)unused;
    L1dRecord records[] = {load_of(0), load_of(2), load_of(4), load_of(0)}; /* one 2-way set */
    ReplayConfig config = {.policy = REPLAY_LRU};
    assert_int_equal(replay_records(records, 4, config).misses, 4);
    records[0].is_request = true;
    assert_int_equal(replay_records(records, 4, config).misses, 3);
    L1dRecord arrived = load_of(0);
    arrived.kind = L1D_FILL;
    L1dRecord after[] = {records[0], load_of(2), arrived, load_of(4), load_of(0)};
    assert_int_equal(replay_records(after, 5, config).misses, 4);
}

static void stores_do_what_their_kind_says(void **unused) {
    (void)unused;
    static const struct {
        L1dKind kind;
        uint64_t alone, between; /* misses: store, load; and load, store, load */
    } rows[] = {{L1D_STORE_ALLOCATE, 1, 1},
                {L1D_STORE_USE, 2, 1},
                {L1D_STORE_PASS, 2, 1},
                {L1D_STORE_EVICT, 2, 2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int way = 0; way < 3; way++) {
            L1dRecord records[] = {load_of(0), load_of(0), load_of(0)};
            records[1].kind = (uint8_t)rows[i].kind;
            ReplayConfig config = {.policy = way == 1 ? REPLAY_BELADY : REPLAY_LRU,
                                   .is_unbounded = way == 2};
            assert_int_equal(replay_records(records + 1, 2, config).misses, rows[i].alone);
            assert_int_equal(replay_records(records, 3, config).misses, rows[i].between);
        }
    /* a use protects the line, a store that does not allocate does not: 0, 2, store 0, 4, 0 in a
     * set of two */
    for (int is_use = 0; is_use < 2; is_use++) {
        L1dRecord records[] = {load_of(0), load_of(2), load_of(0), load_of(4), load_of(0)};
        records[2].kind = is_use ? L1D_STORE_USE : L1D_STORE_PASS;
        assert_int_equal(replay_records(records, 5, (ReplayConfig){0}).load_misses, is_use ? 3 : 4);
    }
}

static void hits_are_told_apart_by_who_brought_the_line_in(void **unused) {
    (void)unused;
    const struct {
        uint32_t warp, lanes;
        uint64_t inter, intra, thread; /* hits so far */
    } steps[] = {
        {7, 0x3, 0, 0, 0}, /* brings the line in with threads 0 and 1 */
        {7, 0x1, 0, 1, 1}, /* thread 0 again */
        {7, 0x6, 0, 2, 1}, /* thread 2 did not ask before */
        {8, 0x1, 1, 2, 1}, /* another warp */
        {8, 0x1, 2, 2, 1}, /* again: warp 7 still owns the line */
    };
    enum { STEPS = sizeof steps / sizeof *steps };
    L1dRecord records[STEPS];
    for (size_t i = 0; i < STEPS; i++) {
        records[i] = (L1dRecord){.warp = steps[i].warp, .lanes = steps[i].lanes, .kind = L1D_LOAD};
        for (int unbounded = 0; unbounded < 2; unbounded++) {
            ReplayResult result =
                replay_records(records, i + 1, (ReplayConfig){.is_unbounded = unbounded});
            assert_int_equal(result.inter_warp_hits, steps[i].inter);
            assert_int_equal(result.intra_warp_hits, steps[i].intra);
            assert_int_equal(result.intra_thread_hits, steps[i].thread);
        }
    }
}

/* Sixteen times as many lookups of the same lines must not take more memory. */
static void memory_does_not_grow_with_the_trace(void **unused) {
    (void)unused;
    uint64_t peaks[4] = {host_peak_memory_bytes()};
    for (int round = 1; round <= 3; round++) {
        Trace trace;
        trace_start(&trace);
        L1dWriter *writer = l1d_writer_open(trace.path, &header, trace.diag);
        uint64_t state = 5, count = (round == 3 ? 48u : 3u) * L1D_TRACE_BLOCK_RECORDS;
        for (uint64_t i = 0; i < count; i++) {
            L1dRecord record = load_of((random_next(&state) >> 30) % 1000);
            l1d_writer_add(writer, &record);
        }
        assert_true(l1d_writer_close(writer, &(L1dTraceTotals){0}, NULL, trace.diag));
        assert_int_equal(replay(&trace, (ReplayConfig){.policy = REPLAY_BELADY}).accesses, count);
        peaks[round] = host_peak_memory_bytes();
        trace_stop(&trace);
    }
    /* One byte for each further lookup would be 2.9 MB. Address sanitizer keeps freed memory, so
     * every round may take as much as the second. */
    assert_in_range(peaks[3] - peaks[2], 0, peaks[2] - peaks[1] + 2000000);
}

static void a_line_table_keeps_and_forgets(void **unused) {
    (void)unused;
    LineTable table = {0};
    line_table_clear(&table);
    for (uint64_t round = 0; round < 3; round++) {
        for (uint64_t line = 0; line < 10000; line++) {
            uint64_t *value = line_table_at(&table, line << 20);
            assert_int_equal(*value, 0);
            *value = line + round;
        }
        for (uint64_t line = 0; line < 10000; line++)
            assert_int_equal(*line_table_at(&table, line << 20), line + round);
        line_table_clear(&table);
    }
    line_table_free(&table);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_does_not_grow_with_the_trace),
        cmocka_unit_test(what_is_read_is_what_was_written),
        cmocka_unit_test(an_empty_stream_counts_nothing),
        cmocka_unit_test(the_origin_is_read_as_it_was_written),
        cmocka_unit_test(a_file_of_the_first_version_is_read),
        cmocka_unit_test(a_damaged_file_is_refused),
        cmocka_unit_test(a_full_disk_is_told_once),
        cmocka_unit_test(impossible_caches_are_refused),
        cmocka_unit_test(sets_are_those_of_the_machines_hash),
        cmocka_unit_test(belady_is_as_good_as_trying_everything),
        cmocka_unit_test(belady_brings_in_no_more_than_lru),
        cmocka_unit_test(an_unbounded_cache_misses_what_is_new),
        cmocka_unit_test(lru_spares_a_line_on_its_way),
        cmocka_unit_test(stores_do_what_their_kind_says),
        cmocka_unit_test(hits_are_told_apart_by_who_brought_the_line_in),
        cmocka_unit_test(a_line_table_keeps_and_forgets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
