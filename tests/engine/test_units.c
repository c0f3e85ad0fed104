/* Counters of each cache set: closed forms for strided loads; sets add up to the counters of their
 * cache. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "engine/observe/watch.h"
#include "timed.h"

#define MACHINE "gtx480"
/* 32 sets of 4 lines of 128 bytes. The set number is the address bits above the line. */
enum { LINE = 128, SETS = 32, WAYS = 4, SMS = 15 };

/* Thread t loads word t * `stride` of the buffer. */
static const char strided[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry strided(.param .u64 buffer, .param .u64 stride)\n{\n.reg .b64 %d<5>;\n"
    ".reg .b32 %r<3>;\nmov.u32 %r1, %tid.x;\nld.param.u64 %d1, [buffer];\n"
    "ld.param.u64 %d2, [stride];\ncvt.u64.u32 %d3, %r1;\nmul.lo.u64 %d3, %d3, %d2;\n"
    "add.u64 %d1, %d1, %d3;\nld.global.u32 %r2, [%d1];\nret;\n}\n";

typedef struct Run {
    Timed timed;
    Watch watch;
    uint64_t buffer;
} Run;

static void start(Run *run, const char *sets) {
    Units *units = units_new(SMS, 6, 2, 16);
    units_count_sets(units, UNIT_sm, SETS);
    units_count_sets(units, UNIT_slice, 64);
    run->watch = (Watch){.units = units};
    timed_start_how(&run->timed, MACHINE, sets, "lrr", &(GpuOptions){.watch = &run->watch});
    run->buffer = timed_buffer(&run->timed, NULL, 1 << 18);
}

static void stop(Run *run) {
    units_free(run->watch.units);
    timed_stop(&run->timed);
}

static Counters load(Run *run, uint32_t threads, uint64_t stride) {
    return timed_run(&run->timed, strided, 1, threads, (uint64_t[]){run->buffer, stride}).counters;
}

/* The counts of the L1Ds, added. */
static Sets l1d_of(const Run *run) { return sets_added(&run->watch.units->sets[UNIT_sm]); }

static void assert_set(const SetCounts *set, uint64_t accesses, uint64_t misses,
                       uint64_t evictions) {
    assert_int_equal(set->accesses, accesses);
    assert_int_equal(set->misses, misses);
    assert_int_equal(set->evictions, evictions);
}

static void assert_add_up(const Run *run, const Counters *total) {
#define ASSERT_COUNT(prefix, name, words) assert_int_equal(sum.name, total->prefix##_##name);
#define ASSERT_CACHE(kind, prefix, title)                                                          \
    {                                                                                              \
        const Sets *sets = &run->watch.units->sets[UNIT_##kind];                                   \
        SetCounts sum = {0};                                                                       \
        for (uint32_t i = 0; i < sets->units * sets->of_unit; i++) {                               \
            sum.accesses += sets->counts[i].accesses;                                              \
            sum.misses += sets->counts[i].misses;                                                  \
            sum.evictions += sets->counts[i].evictions;                                            \
        }                                                                                          \
        SET_COUNTS(ASSERT_COUNT, prefix)                                                           \
    }
    SET_CACHES(ASSERT_CACHE)
#undef ASSERT_CACHE
#undef ASSERT_COUNT
}

static void a_stride_of_all_sets_goes_to_one(void **state) {
    (void)state;
    Run run;
    Text json = {0};
    start(&run, "l1d.index=linear");
    Counters total = load(&run, 32, SETS * LINE);
    Sets l1d = l1d_of(&run);
    uint32_t used = (uint32_t)(run.buffer / LINE) % SETS;
    for (uint32_t set = 0; set < SETS; set++) {
        if (set == used) assert_set(&l1d.counts[set], 32, 32, 32 - WAYS);
        else assert_set(&l1d.counts[set], 0, 0, 0);
    }
    assert_add_up(&run, &total);
    Json writer;
    json_begin(&writer, &json);
    units_write_sets_json(run.watch.units, &writer);
    const char *expected[] = {"\"sets\": 32", "\"idle\": 31", "\"most\": 32", "\"imbalance\": 31"};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_non_null(strstr(text_string(&json), expected[i]));
    text_free(&json);
    sets_free(&l1d);
    stop(&run);
}

static void lines_side_by_side_go_to_all_sets_alike(void **state) {
    (void)state;
    Run run;
    start(&run, "l1d.index=linear");
    Counters total = load(&run, SETS * WAYS, LINE);
    Sets l1d = l1d_of(&run);
    for (uint32_t set = 0; set < SETS; set++)
        assert_set(&l1d.counts[set], WAYS, WAYS, 0);
    assert_add_up(&run, &total);
    sets_free(&l1d);
    stop(&run);
}

/* Loads of 32 lines instead of one access 31 more lines of four sectors each; the other accesses
 * are instructions. */
static void l2_counts_the_sectors_of_its_slices(void **state) {
    (void)state;
    uint64_t accesses[2];
    for (int i = 0; i < 2; i++) {
        Run run;
        start(&run, "");
        Counters total = load(&run, 32, i ? LINE : 4);
        assert_add_up(&run, &total);
        Sets l2 = sets_added(&run.watch.units->sets[UNIT_slice]);
        accesses[i] = 0;
        for (uint32_t set = 0; set < l2.of_unit; set++)
            accesses[i] += l2.counts[set].accesses;
        sets_free(&l2);
        stop(&run);
    }
    assert_int_equal(accesses[1] - accesses[0], 31 * (LINE / 32));
}

static void a_hashed_index_spreads_the_same_stride(void **state) {
    (void)state;
    Run run;
    start(&run, "l1d.index=fermi");
    Counters total = load(&run, 32, SETS * LINE);
    Sets l1d = l1d_of(&run);
    uint32_t used = 0;
    for (uint32_t set = 0; set < SETS; set++)
        used += l1d.counts[set].accesses != 0;
    assert_true(used > 1);
    assert_add_up(&run, &total);
    sets_free(&l1d);
    stop(&run);
}

static void a_perfect_cache_has_no_sets(void **state) {
    (void)state;
    Run run;
    start(&run, "oracle.perfect_l1=yes");
    load(&run, 32, LINE);
    assert_false(sets_are_used(&run.watch.units->sets[UNIT_sm]));
    stop(&run);
}

/* Each unit counts. The report shows only the first 128 units. */
static void a_report_of_many_units_is_cut_and_says_so(void **state) {
    (void)state;
    enum { UNITS = 200 };
    Units *units = units_new(UNITS, 1, 1, 1);
    Text text = {0};
    for (uint32_t i = 0; i < UNITS; i++)
        units_add(units, UNIT_sm, i, &(Counters){.warp_instructions = 1});
    units_report(units, &text);
    assert_non_null(strstr(text_string(&text), "\n    127 "));
    assert_null(strstr(text_string(&text), "\n    128 "));
    assert_non_null(strstr(text_string(&text), "    and 72 more, which --json"));
    text_free(&text);
    units_free(units);
}

static void explanations_name_the_counters_that_have_sets(void **state) {
    (void)state;
    for (CounterId id = 0; id < COUNTER_COUNT; id++) {
        Text text = {0};
        counters_explain(id, &text);
        bool has = strstr(text_string(&text), "--per-unit") != NULL;
        const char *name = counter_rows[id].name;
        bool is_cache = !strncmp(name, "l1d_", 4) || !strncmp(name, "l2_", 3);
        const char *what = is_cache ? strchr(name, '_') + 1 : "";
        assert_int_equal(has, !strcmp(what, "accesses") || !strcmp(what, "misses") ||
                                  !strcmp(what, "evictions"));
        text_free(&text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stride_of_all_sets_goes_to_one),
        cmocka_unit_test(lines_side_by_side_go_to_all_sets_alike),
        cmocka_unit_test(l2_counts_the_sectors_of_its_slices),
        cmocka_unit_test(a_hashed_index_spreads_the_same_stride),
        cmocka_unit_test(a_perfect_cache_has_no_sets),
        cmocka_unit_test(a_report_of_many_units_is_cut_and_says_so),
        cmocka_unit_test(explanations_name_the_counters_that_have_sets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
