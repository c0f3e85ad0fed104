/* The MD paper: the thresholds of section 5.1 at their edges, DRAM reads compared with table 5, the
 * choice for the benchmarks of table 6, and the CTA schedulers that use the model. */
#include "fabricated.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sched/cta_agent.h"
#include "sched/md_model.h"

/* Tables 5 and 6, by degree (CTAs of 6 warps); 8 KB L1D, 64 lines. The paper gives the working sets
 * of bfs and nbf (figure 9), but not that of unstructured. */
static const struct Benchmark {
    const char *name;
    double miss_rate, reads, working_set;
    double growth[MD_MAX_DEGREE]; /* dr_inc_rate, from degree 2 */
    double time[MD_MAX_DEGREE];   /* execution time of a CTA */
} BENCHMARKS[] = {
    {"bfs",
     0.41,
     72.94,
     70,
     {1, 0.98, 1.00, 1.01, 1.02, 1.07, 1.07, 1.08},
     {2582, 2897, 3351, 3875, 4601, 7097, 7831, 9412}},
    {"nbf",
     0.13,
     169.39,
     65,
     {1, 2.59, 1.74, 1.47, 1.26, 1.09, 1.02, 1.00},
     {9161, 17261, 35438, 73959, 121446, 159845, 190175, 217308}},
    {"unstructured",
     0.22,
     1557.52,
     1000,
     {1, 2.19, 1.29, 1.14, 1.07, 1.00, 1.00, 1.00},
     {87292, 164058, 377487, 566328, 760938, 915126, 1065425, 1217622}},
};

static const MdModel TABLE = {MD_CURVE_TABLE, 0, MD_TIME_PRODUCT, MD_FLAT_KEEPS, MD_LARGE_LINES};
static const MdModel SETS = {MD_CURVE_SETS, 0.55, MD_TIME_PRODUCT, MD_FLAT_KEEPS, MD_LARGE_LINES};
static const MdModel REUSE = {MD_CURVE_REUSE, 0.5, MD_TIME_PRODUCT, MD_FLAT_KEEPS, MD_LARGE_LINES};

static MdInputs inputs_of(const struct Benchmark *b) {
    return (MdInputs){.accesses = b->reads / b->miss_rate,
                      .loads = b->reads / b->miss_rate,
                      .dram_reads = b->reads,
                      .warp_instructions = b->reads, /* memory-bound */
                      .warps = MD_CTA_WARPS,
                      .load_latency = 350,
                      .working_set = b->working_set,
                      .cache_lines = 64};
}

static void growth_of_dram_reads_agrees_with_table_5(void **unused) {
    (void)unused;
    double squares = 0;
    int count = 0;
    for (int i = 0; i < 3; i++) {
        MdPrediction p[MD_MAX_DEGREE];
        MdInputs inputs = inputs_of(&BENCHMARKS[i]);
        md_predict(&inputs, &TABLE, MD_MAX_DEGREE, p);
        for (int n = 1; n < MD_MAX_DEGREE; n++, count++) {
            double error = p[n].read_growth / BENCHMARKS[i].growth[n] - 1;
            squares += error * error;
        }
    }
    double rms = sqrt(squares / count);
    print_message("growth of DRAM reads against table 5: root mean square error %.2f%%\n",
                  100 * rms);
    assert_true(rms <= 0.15);
}

static void the_degree_chosen_is_within_one_of_the_best_of_table_6(void **unused) {
    (void)unused;
    for (int i = 0; i < 3; i++) {
        MdPrediction p[MD_MAX_DEGREE];
        MdInputs inputs = inputs_of(&BENCHMARKS[i]);
        int chosen = (int)md_predict(&inputs, &TABLE, MD_MAX_DEGREE, p), best = 1;
        const double *time = BENCHMARKS[i].time;
        for (int n = 2; n <= MD_MAX_DEGREE; n++)
            if (n / time[n - 1] > best / time[best - 1]) best = n;
        print_message("%s: degree %d chosen, %d best\n", BENCHMARKS[i].name, chosen, best);
        assert_true(abs(chosen - best) <= 1);
    }
}

static void throughput_is_the_degree_over_the_product_of_the_growths(void **unused) {
    (void)unused;
    MdPrediction p[MD_MAX_DEGREE];
    MdInputs inputs = inputs_of(&BENCHMARKS[0]);
    md_predict(&inputs, &TABLE, MD_MAX_DEGREE, p);
    double product = 1;
    for (int n = 2; n <= MD_MAX_DEGREE; n++) {
        product *= p[n - 1].read_growth * p[n - 1].latency_growth * p[n - 1].pipeline_growth;
        assert_true(fabs(p[n - 1].throughput * product / n - 1) < 1e-12);
    }
}

static void ctas_that_fit_together_lose_nothing(void **unused) {
    (void)unused;
    MdPrediction p[MD_MAX_DEGREE];
    MdInputs inputs = inputs_of(&BENCHMARKS[1]);
    inputs.working_set = 8;
    assert_int_equal(md_predict(&inputs, &TABLE, MD_MAX_DEGREE, p), MD_MAX_DEGREE);
    for (int n = 1; n < MD_MAX_DEGREE; n++)
        assert_true(p[n].read_growth == 1);
    inputs.working_set = 16; /* they overflow from the fifth CTA on */
    md_predict(&inputs, &TABLE, MD_MAX_DEGREE, p);
    assert_true(p[3].read_growth == 1 && p[4].read_growth > 1);
}

static void a_small_cta_grows_by_its_part_of_the_papers(void **unused) {
    (void)unused;
    MdPrediction whole[MD_MAX_DEGREE], small[MD_MAX_DEGREE];
    MdInputs inputs = inputs_of(&BENCHMARKS[0]);
    md_predict(&inputs, &TABLE, MD_MAX_DEGREE, whole);
    inputs.warps = MD_CTA_WARPS / 2;
    md_predict(&inputs, &TABLE, MD_MAX_DEGREE, small);
    for (int n = 1; n < MD_MAX_DEGREE; n++) {
        assert_true(fabs(small[n].latency_growth - sqrt(whole[n].latency_growth)) < 1e-12);
        assert_true(fabs(small[n].pipeline_growth - sqrt(whole[n].pipeline_growth)) < 1e-12);
    }
}

static void a_large_cta_grows_as_printed(void **unused) {
    (void)unused;
    MdPrediction whole[MD_MAX_DEGREE], large[MD_MAX_DEGREE];
    MdInputs inputs = inputs_of(&BENCHMARKS[1]);
    md_predict(&inputs, &TABLE, MD_MAX_DEGREE, whole);
    inputs.warps = 16;
    md_predict(&inputs, &TABLE, MD_MAX_DEGREE, large);
    for (int n = 1; n < MD_MAX_DEGREE; n++) {
        assert_true(large[n].latency_growth == whole[n].latency_growth);
        assert_true(large[n].pipeline_growth == whole[n].pipeline_growth);
    }
}

static void what_always_misses_cannot_miss_more(void **unused) {
    (void)unused;
    MdPrediction p[MD_MAX_DEGREE];
    MdInputs inputs = inputs_of(&BENCHMARKS[1]);
    inputs.accesses = inputs.loads = inputs.dram_reads;
    md_predict(&inputs, &TABLE, MD_MAX_DEGREE, p);
    for (int n = 1; n < MD_MAX_DEGREE; n++)
        assert_true(p[n].read_growth == 1);
}

/* ---- The curve of sets ---- */

static void reads_by_sets(const MdInputs *inputs, MdPrediction p[MD_MAX_DEGREE]) {
    md_predict(inputs, &SETS, MD_MAX_DEGREE, p);
}

/* 232 reads of 232 different lines, and 136 accesses that found their line. */
static void a_lines_first_read_does_not_grow(void **unused) {
    (void)unused;
    MdPrediction p[MD_MAX_DEGREE];
    MdInputs inputs = {.accesses = 368,
                       .loads = 368,
                       .dram_reads = 232,
                       .warps = 6,
                       .lines = 232,
                       .working_set = 136,
                       .cache_lines = 64};
    reads_by_sets(&inputs, p);
    assert_true(fabs(p[MD_MAX_DEGREE - 1].dram_reads - (232 + 0.55 * 136)) < 0.01);
    inputs.accesses = inputs.loads = 232; /* no access found its line */
    reads_by_sets(&inputs, p);
    assert_true(p[MD_MAX_DEGREE - 1].dram_reads == 232);
    assert_int_equal(md_predict(&inputs, &SETS, MD_MAX_DEGREE, p), MD_MAX_DEGREE);
}

/* Stores that miss do so at any degree. */
static void what_is_stored_is_not_read_again(void **unused) {
    (void)unused;
    MdPrediction p[MD_MAX_DEGREE];
    MdInputs inputs = {.accesses = 500,
                       .loads = 368,
                       .dram_reads = 232,
                       .warps = 6,
                       .lines = 232,
                       .working_set = 136,
                       .cache_lines = 64};
    reads_by_sets(&inputs, p);
    assert_true(fabs(p[MD_MAX_DEGREE - 1].dram_reads - (232 + 0.55 * 136)) < 0.01);
    assert_true(p[0].miss_rate == 232.0 / 500);
}

/* Eight sets of 8 lines fit into 64, eight of 9 do not. Growth is limited to the reads that are
 * repeated. */
static void reads_grow_from_where_the_sets_do_not_fit_together(void **unused) {
    (void)unused;
    MdPrediction p[MD_MAX_DEGREE];
    MdInputs inputs = {.accesses = 2661,
                       .loads = 2661,
                       .dram_reads = 169,
                       .warps = 6,
                       .lines = 169,
                       .working_set = 8,
                       .cache_lines = 64};
    reads_by_sets(&inputs, p);
    assert_true(p[7].dram_reads == 169 && p[7].latency_growth == 1 && p[7].throughput == 8);
    inputs.working_set = 9;
    reads_by_sets(&inputs, p);
    assert_true(p[6].dram_reads == 169 && p[7].dram_reads > 169 && p[7].latency_growth > 1);
    inputs.working_set = 1e9;
    reads_by_sets(&inputs, p);
    assert_true(fabs(p[1].dram_reads - (169 + 0.55 * (2661 - 169))) < 0.01);
}

/* Table 5, with numbers of loads that are consistent with its reads and miss rates (md_model.c).
 * The set of nbf is that of section 5.1. The paper does not give lines and set of unstructured;
 * they are those of our workload with neighbors within 360. Within 300, where its reads are closest
 * to the paper's, it has 366 and 78, and the formula is off by up to 22%. */
static void reads_agree_with_table_5(void **unused) {
    (void)unused;
    static const struct {
        MdInputs inputs;
        int degrees;
        double within, reads[MD_MAX_DEGREE];
    } programs[] = {
        {{.accesses = 2814,
          .loads = 2814,
          .dram_reads = 169.39,
          .lines = 169.39,
          .working_set = 65},
         8,
         0.04,
         {169.39, 439.13, 763.62, 1125.74, 1419.73, 1545.29, 1570.32, 1570.32}},
        {{.accesses = 8103, .loads = 8103, .dram_reads = 1557.52, .lines = 378, .working_set = 84},
         5,
         0.21,
         {1557.52, 3406.75, 4384.41, 5007.40, 5341.11}},
    };
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        MdPrediction p[MD_MAX_DEGREE];
        MdInputs inputs = programs[i].inputs;
        inputs.warps = 6;
        inputs.cache_lines = 64;
        reads_by_sets(&inputs, p);
        for (int n = 0; n < programs[i].degrees; n++)
            assert_true(fabs(p[n].dram_reads / programs[i].reads[n] - 1) < programs[i].within);
    }
}

/* If the set is larger than the cache, a CTA that already loses many lines when alone uses its
 * whole set, and loses more with a second CTA. If the set fits, the losses of a lone CTA say
 * nothing about this, and stay as they are. */
static void what_a_lone_cta_loses_tells_how_its_set_is_used(void **unused) {
    (void)unused;
    MdPrediction p[MD_MAX_DEGREE];
    MdInputs inputs = {.accesses = 8000,
                       .loads = 8000,
                       .dram_reads = 400,
                       .warps = 6,
                       .lines = 400,
                       .working_set = 84,
                       .cache_lines = 64};
    reads_by_sets(&inputs, p);
    double by_pieces = p[1].dram_reads;
    inputs.dram_reads = 2000;
    reads_by_sets(&inputs, p);
    assert_true(p[1].dram_reads > 2 * by_pieces);
    inputs.cache_lines = 1024;
    reads_by_sets(&inputs, p);
    assert_true(p[7].dram_reads == 2000);
    inputs.cache_lines = 128;
    reads_by_sets(&inputs, p);
    assert_true(p[0].dram_reads == 2000 && p[1].dram_reads > 2000);
}

/* 434 different lines. An earlier kernel has left 173 of them in the cache. */
static void lines_left_in_the_cache_are_no_reads_to_come(void **unused) {
    (void)unused;
    MdPrediction p[MD_MAX_DEGREE];
    MdInputs inputs = {.accesses = 2556,
                       .loads = 2556,
                       .dram_reads = 261,
                       .warps = 6,
                       .lines = 434,
                       .working_set = 128,
                       .cache_lines = 1024};
    reads_by_sets(&inputs, p);
    assert_true(p[7].dram_reads == 261 && p[7].throughput == 8);
    inputs.cache_lines = 64; /* two sets fill four caches, where nbf loses 0.667 of what it can */
    reads_by_sets(&inputs, p);
    assert_true(fabs(p[1].dram_reads - (261 + 0.6667 * 0.55 * (2556 - 261))) < 0.1);
}

/* ---- The curve of reuse ---- */

static void reads_by_reuse_grow_with_what_the_ctas_drive_out(void **unused) {
    (void)unused;
    MdPrediction p[MD_MAX_DEGREE];
    uint32_t distances[100] = {[0] = 1000, [16] = 500, [60] = 500};
    MdInputs inputs = {.accesses = 2200,
                       .loads = 2200,
                       .dram_reads = 400,
                       .warps = 6,
                       .cache_lines = 64,
                       .ways = 64, /* one set: only numbers of lines decide what is evicted */
                       .distances = distances,
                       .distance_count = 100};
    md_predict(&inputs, &REUSE, MD_MAX_DEGREE, p);
    assert_true(p[0].dram_reads == 400);
    assert_true(fabs(p[1].dram_reads - (400 + 900 * 500.0 / 2000)) < 1e-9); /* 2 x 60 lines */
    assert_true(p[2].dram_reads == p[1].dram_reads);
    assert_true(fabs(p[3].dram_reads - (400 + 900 * 1000.0 / 2000)) < 1e-9); /* 4 x 16 too */
    assert_true(p[7].dram_reads == p[3].dram_reads);
    inputs.accesses = inputs.loads = 400; /* no further reads are possible */
    md_predict(&inputs, &REUSE, MD_MAX_DEGREE, p);
    assert_true(p[7].dram_reads == 400 && p[7].throughput == 8);
}

/* The CTA had to read 40 of its 100 lines. So of every 10 lines that another CTA reads, it does not
 * read 4. */
static void lines_that_others_have_left_are_everyones(void **unused) {
    (void)unused;
    MdPrediction p[MD_MAX_DEGREE];
    uint32_t distances[100] = {[30] = 1000};
    MdInputs inputs = {.accesses = 1100,
                       .loads = 1100,
                       .dram_reads = 40,
                       .lines = 100,
                       .warps = 6,
                       .cache_lines = 64,
                       .ways = 64, /* of one set */
                       .distances = distances,
                       .distance_count = 100};
    md_predict(&inputs, &REUSE, MD_MAX_DEGREE, p);
    assert_true(p[2].dram_reads == 40); /* 30 lines and 2 x 12 */
    assert_true(p[3].dram_reads > 40);
    inputs.lines = 40; /* others left no lines */
    md_predict(&inputs, &REUSE, MD_MAX_DEGREE, p);
    assert_true(p[1].dram_reads == 40 && p[2].dram_reads > 40);
    inputs.lines = 20; /* some were read twice */
    md_predict(&inputs, &REUSE, MD_MAX_DEGREE, p);
    assert_true(p[1].dram_reads == 40 && p[2].dram_reads > 40);
}

/* Growth by a fraction of a line counts as none: latency and pipeline stay as they are. */
static void what_grows_by_less_than_a_line_does_not_grow(void **unused) {
    (void)unused;
    MdPrediction p[MD_MAX_DEGREE];
    uint32_t distances[10] = {[4] = 1};
    MdInputs inputs = {.accesses = 400,
                       .loads = 400,
                       .dram_reads = 100,
                       .warps = 6,
                       .cache_lines = 64,
                       .ways = 4,
                       .distances = distances,
                       .distance_count = 10};
    inputs.accesses = inputs.loads = 101.5;
    md_predict(&inputs, &REUSE, MD_MAX_DEGREE, p);
    assert_true(p[7].dram_reads > 100 && p[7].dram_reads < 101);
    assert_true(p[7].latency_growth == 1 && p[7].pipeline_growth == 1);
}

/* Latency and pipeline grow with every CTA, or only where reads grow. */
static void what_a_flat_kernel_grows_by_may_be_chosen(void **unused) {
    (void)unused;
    MdPrediction p[MD_MAX_DEGREE];
    MdInputs inputs = inputs_of(&BENCHMARKS[1]); /* with a miss rate of 0.13 */
    MdModel grows = TABLE;
    grows.flat = MD_FLAT_GROWS;
    inputs.working_set = 8;
    md_predict(&inputs, &TABLE, MD_MAX_DEGREE, p);
    assert_true(p[7].time == 1);
    md_predict(&inputs, &grows, MD_MAX_DEGREE, p);
    for (int n = 1; n < MD_MAX_DEGREE; n++)
        assert_true(p[n].latency_growth == 1.03 && p[n].read_growth == 1 &&
                    p[n].pipeline_growth == (n + 1 < MD_MAX_DEGREE ? 1.05 : 1.1)); /* 8 x 8 lines */
}

/* The value that is compared with 5 and 15 caches of 64 lines. unstructured reads 66 lines again,
 * but 3,407 and more come from DRAM (table 5), and its miss rate rises by 0.22 and 0.12. */
static void what_is_held_against_caches_may_be_chosen(void **unused) {
    (void)unused;
    MdPrediction lines[MD_MAX_DEGREE], reads[MD_MAX_DEGREE];
    MdInputs inputs = inputs_of(&BENCHMARKS[2]);
    MdModel by_reads = TABLE;
    by_reads.large = MD_LARGE_READS;
    inputs.working_set = 66;
    md_predict(&inputs, &TABLE, MD_MAX_DEGREE, lines);
    md_predict(&inputs, &by_reads, MD_MAX_DEGREE, reads);
    assert_true(lines[1].latency_growth == 1.1 && lines[2].latency_growth == 1.1);
    assert_true(reads[1].latency_growth == 1.9 && reads[2].latency_growth == 1.9);
}

/* ---- The parts of a CTA's time ---- */

static const MdModel PARTS = {MD_CURVE_TABLE, 0, MD_TIME_PARTS, MD_FLAT_KEEPS, MD_LARGE_LINES};

/* Table 6 has 1.88, the product is 3.42. A lone CTA of our nbf waits 41% of its time. */
static void the_second_cta_of_nbf_takes_the_time_of_table_6(void **unused) {
    (void)unused;
    MdPrediction p[MD_MAX_DEGREE];
    MdInputs inputs = inputs_of(&BENCHMARKS[1]);
    inputs.waiting = 0.41;
    md_predict(&inputs, &PARTS, MD_MAX_DEGREE, p);
    assert_true(fabs(p[1].time - BENCHMARKS[1].time[1] / BENCHMARKS[1].time[0]) < 0.01);
    md_predict(&inputs, &TABLE, MD_MAX_DEGREE, p);
    assert_true(fabs(p[1].time - 3.42) < 0.01);
}

static void what_waits_grows_with_the_reads_and_the_rest_with_the_pipeline(void **unused) {
    (void)unused;
    MdPrediction none[MD_MAX_DEGREE], half[MD_MAX_DEGREE], all[MD_MAX_DEGREE];
    MdInputs inputs = inputs_of(&BENCHMARKS[1]);
    md_predict(&inputs, &PARTS, MD_MAX_DEGREE, none);
    inputs.waiting = 0.5;
    md_predict(&inputs, &PARTS, MD_MAX_DEGREE, half);
    inputs.waiting = 1;
    md_predict(&inputs, &PARTS, MD_MAX_DEGREE, all);
    double pipeline = 1, waits = 1;
    for (int n = 1; n < MD_MAX_DEGREE; n++) {
        pipeline *= all[n].pipeline_growth;
        waits *= all[n].read_growth * all[n].latency_growth;
        assert_true(fabs(none[n].time - pipeline) < 1e-9);
        assert_true(fabs(all[n].time - waits) < 1e-9);
        assert_true(fabs(half[n].time - (pipeline + waits) / 2) < 1e-9);
        assert_true(half[n].throughput == (n + 1) / half[n].time);
    }
}

/* 16 of 32 are under way, and reads grow fourfold: two CTAs would need 128 MSHRs. The parts of the
 * CTA's time, all of it in the pipeline, are another bound. */
static void no_more_reads_are_under_way_than_mshrs(void **unused) {
    (void)unused;
    MdPrediction p[MD_MAX_DEGREE];
    uint32_t distances[100] = {[60] = 1000};
    MdInputs inputs = {.accesses = 1750,
                       .loads = 1750,
                       .dram_reads = 250,
                       .warps = 6,
                       .load_latency = 300,
                       .under_way = 16,
                       .mshrs = 32,
                       .cache_lines = 64,
                       .ways = 64,
                       .distances = distances,
                       .distance_count = 100};
    const MdModel model = {MD_CURVE_REUSE, 0.5, MD_TIME_PARTS, MD_FLAT_KEEPS, MD_LARGE_LINES};
    md_predict(&inputs, &model, MD_MAX_DEGREE, p);
    for (int n = 2; n <= MD_MAX_DEGREE; n++) {
        double together = n * 0.5 * 4 * (p[n - 1].latency / 300), parts = p[n - 1].pipeline;
        assert_true(fabs(p[n - 1].time - sqrt(together * together + parts * parts - 0.25)) < 1e-9);
    }
    inputs.mshrs = 0;
    md_predict(&inputs, &model, MD_MAX_DEGREE, p);
    assert_true(p[1].time == p[1].pipeline);
    inputs.mshrs = 32;
    inputs.accesses = inputs.loads =
        250; /* no further reads: another CTA only takes MSHRs from the others */
    assert_int_equal(md_predict(&inputs, &model, MD_MAX_DEGREE, p), MD_MAX_DEGREE);
    assert_true(fabs(p[7].time - sqrt(1 + 16 - 0.25)) < 1e-9);
    inputs.under_way = 32; /* a lone CTA uses them all */
    md_predict(&inputs, &model, MD_MAX_DEGREE, p);
    for (int n = 1; n <= MD_MAX_DEGREE; n++)
        assert_true(fabs(p[n - 1].throughput - 1) < 1e-9);
    inputs.under_way = 0;
    md_predict(&inputs, &model, MD_MAX_DEGREE, p);
    assert_true(p[7].time == 1);
}

/* Whatever its warps waited for, it was not a read. */
static void a_cta_that_reads_nothing_takes_its_time_at_any_degree(void **unused) {
    (void)unused;
    MdPrediction p[MD_MAX_DEGREE];
    MdInputs inputs = {
        .accesses = 100, .loads = 100, .warps = 6, .waiting = 0.5, .mshrs = 32, .cache_lines = 64};
    assert_int_equal(md_predict(&inputs, &PARTS, MD_MAX_DEGREE, p), MD_MAX_DEGREE);
    assert_true(p[7].time == 1 && p[7].throughput == 8);
}

/* ---- Section 5.1's thresholds ---- */

static void latency_grows_by_the_thresholds(void **unused) {
    (void)unused;
    const struct {
        double miss_rate, increase, working_set, expected;
    } edges[] = {
        {0.149, 0.2, 9999, 1.03}, {0.15, 0.2, 9999, 1.1},  {0.299, 0.2, 9999, 1.1},
        {0.3, 0.2, 9999, 1.9},    {0.85, 0.2, 9999, 1.9},  {0.851, 0.2, 9999, 1.03},
        {0.5, 0.101, 501, 1.9},   {0.5, 0.1, 501, 1.1},    {0.5, 0.101, 500, 1.1},
        {0.5, 0.041, 1501, 1.75}, {0.5, 0.04, 1501, 1.1},  {0.5, 0.041, 1500, 1.1},
        {0.5, 0.1, 1501, 1.75},   {0.5, 0.101, 1501, 1.9}, {0.5, 0, 10, 1.1},
    };
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++)
        assert_true(md_latency_growth(edges[i].miss_rate, edges[i].increase, edges[i].working_set,
                                      100) == edges[i].expected);
}

static void the_pipeline_factor_follows_the_thresholds(void **unused) {
    (void)unused;
    assert_true(md_pipeline_growth(2, 49, 9999, 100) == 1.05);
    assert_true(md_pipeline_growth(2, 50, 500, 100) == 1.1);
    assert_true(md_pipeline_growth(2, 50, 501, 100) == 1.2);
    assert_true(md_pipeline_growth(4, 25, 0, 100) == 1.1);
}

static void fewer_than_5_dram_reads_in_100_instructions_are_compute_bound(void **unused) {
    (void)unused;
    MdInputs inputs = {.warp_instructions = 1000};
    assert_true(md_is_compute_bound(&inputs, 49, 0.05));
    assert_false(md_is_compute_bound(&inputs, 50, 0.05));
}

/* ---- The CTA schedulers ---- */

typedef struct Launch {
    CtaSched *sched;
    CtaAgent agent;
    TytoGridView view;
} Launch;

static void begin(Launch *l, const char *policy, uint32_t capacity) {
    Diag *diag = diag_new();
    l->sched = cta_sched_new(policy, diag);
    if (!l->sched) fail_msg("%s", diag_text(diag));
    diag_free(diag);
    l->view = (TytoGridView){.ctas = 1000,
                             .sms = 15,
                             .capacity = capacity,
                             .cta_warps = MD_CTA_WARPS,
                             .l1d_lines = 64,
                             .l1d_ways = 4,
                             .l1d_line_bytes = 128,
                             .l1d_fill_bytes = 128};
    cta_agent_init(&l->agent, l->sched, &l->view, NULL);
    cta_agent_start(&l->agent, &l->view);
}

static void end(Launch *l) {
    cta_agent_free(&l->agent);
    cta_sched_free(l->sched);
}

static uint32_t limit_of(Launch *l, uint32_t sm) {
    return cta_agent_limit(&l->agent, &l->view, sm);
}

static void round_robin_allows_what_fits(void **unused) {
    (void)unused;
    Launch l;
    begin(&l, "round-robin", 6);
    assert_int_equal(limit_of(&l, 3), 6);
    end(&l);
}

static void limit_allows_no_more_than_told_and_no_more_than_fits(void **unused) {
    (void)unused;
    Launch l;
    begin(&l, "limit:ctas=3", 6);
    assert_int_equal(limit_of(&l, 3), 3);
    end(&l);
    begin(&l, "limit:ctas=3", 2);
    assert_int_equal(limit_of(&l, 3), 2);
    end(&l);
}

static void finish_measured(Launch *l, uint32_t sm, const struct Benchmark *b,
                            uint64_t instructions) {
    for (uint64_t i = 0; i < (uint64_t)b->working_set; i++)
        for (int again = 0; again < 2; again++)
            l->sched->policy->l1d_load(l->agent.state, i * 128);
    TytoSmMeasurement measured = {.warp_instructions = instructions,
                                  .l1d_accesses = (uint64_t)(b->reads / b->miss_rate),
                                  .l1d_loads = (uint64_t)(b->reads / b->miss_rate),
                                  .dram_reads = (uint64_t)b->reads,
                                  .reads_answered = (uint64_t)b->reads,
                                  .load_cycles = (uint64_t)b->reads * 350};
    l->sched->policy->finished(l->agent.state, &l->view, sm, &measured);
}

static void md_runs_one_cta_alone_until_it_has_finished_then_limits_all(void **unused) {
    (void)unused;
    Launch l;
    begin(&l, "md:curve=table", 8);
    assert_int_equal(limit_of(&l, 0), 1);
    assert_int_equal(limit_of(&l, 1), 8);
    assert_int_equal(l.sched->policy->watched_sm(l.agent.state), 0);
    finish_measured(&l, 4, &BENCHMARKS[0], 1000); /* not the predictor */
    assert_int_equal(limit_of(&l, 1), 8);
    finish_measured(&l, 0, &BENCHMARKS[0], 1000);
    for (uint32_t sm = 0; sm < 15; sm++)
        assert_int_equal(limit_of(&l, sm), 5);
    assert_int_equal(l.sched->policy->watched_sm(l.agent.state), TYTO_NO_SM);
    finish_measured(&l, 0, &BENCHMARKS[1], 1000); /* the decision does not change */
    assert_int_equal(limit_of(&l, 0), 5);
    end(&l);
}

static void md_holds_back_nobody_in_a_grid_of_one_wave(void **unused) {
    (void)unused;
    for (uint64_t ctas = 120; ctas <= 121; ctas++) {
        Launch l;
        begin(&l, "md", 8);
        l.view.ctas = ctas;
        cta_agent_start(&l.agent, &l.view);
        assert_int_equal(limit_of(&l, 0), ctas == 120 ? 8 : 1);
        assert_int_equal(l.sched->policy->watched_sm(l.agent.state), ctas == 120 ? TYTO_NO_SM : 0);
        end(&l);
    }
}

static void md_may_hold_back_the_others_until_it_decides(void **unused) {
    (void)unused;
    Launch l;
    begin(&l, "md:before=2", 8);
    assert_int_equal(limit_of(&l, 0), 1);
    assert_int_equal(limit_of(&l, 1), 2);
    finish_measured(&l, 0, &BENCHMARKS[1], 169 * 210); /* compute-bound */
    assert_int_equal(limit_of(&l, 1), 8);
    end(&l);
}

/* The SM of the paper holds 8 CTAs. */
static void md_weighs_as_many_ctas_as_an_sm_holds(void **unused) {
    (void)unused;
    Launch l;
    const struct Benchmark streaming = {.miss_rate = 1, .reads = 100, .working_set = 0};
    for (uint32_t capacity = 8; capacity <= TYTO_MAX_CTAS; capacity *= 2) {
        begin(&l, "md:time=parts,flat=keeps", capacity);
        finish_measured(&l, 0, &streaming, 1000);
        assert_int_equal(limit_of(&l, 7), capacity);
        end(&l);
    }
}

static void md_keeps_the_maximum_for_a_compute_bound_kernel(void **unused) {
    (void)unused;
    Launch l;
    begin(&l, "md:bound=alone,curve=table", 8);
    finish_measured(&l, 0, &BENCHMARKS[1], 169 * 20 + 1);
    assert_int_equal(limit_of(&l, 7), 8);
    end(&l);
    begin(&l, "md:bound=alone,curve=table", 8);
    finish_measured(&l, 0, &BENCHMARKS[1], 169 * 20);
    assert_int_equal(limit_of(&l, 7), 1);
    end(&l);
}

/* A CTA of nbf makes 9.27 times as many reads among eight CTAs as alone (table 5). */
static void md_looks_at_all_degrees_for_a_compute_bound_kernel(void **unused) {
    (void)unused;
    for (uint64_t more = 0; more <= 1; more++) {
        Launch l;
        begin(&l, "md:curve=table", 8);
        finish_measured(&l, 0, &BENCHMARKS[1], 169 * 20 * 927 / 100 + more * 100);
        assert_int_equal(limit_of(&l, 7), more ? 8 : 1);
        end(&l);
    }
}

static void keep_value(void *context, const char *name, const char *unit, double value) {
    (void)unit;
    if (!strcmp(name, "working_set")) *(double *)context = value;
}

static void keep_nothing(void *context, const char *name, const char *unit, const double *values,
                         size_t count) {
    (void)context, (void)name, (void)unit, (void)values, (void)count;
}

static void md_counts_the_different_lines_that_are_read_again(void **unused) {
    (void)unused;
    Launch l;
    double working_set = -1;
    begin(&l, "md:predictor=17", 8);   /* modulo 15 SMs */
    for (uint64_t i = 0; i < 500; i++) /* lines read once */
        l.sched->policy->l1d_load(l.agent.state, (i + 5000) * 128);
    for (int i = 0; i < 10; i++) /* one line, read ten times */
        l.sched->policy->l1d_load(l.agent.state, UINT64_C(4000) * 128);
    finish_measured(&l, 2, &BENCHMARKS[2], 1000);
    TytoReport out = {sizeof(TytoReport), &working_set, keep_value, keep_nothing};
    l.sched->policy->report(l.agent.state, &out);
    assert_true(working_set == 1001);
    end(&l);
}

/* A warp reads 16 lines of 4 sectors one after another, then one sector of each line again. */
static void md_counts_the_sectors_of_a_line_as_one(void **unused) {
    (void)unused;
    Launch l;
    double working_set = -1;
    const struct Benchmark none = {.miss_rate = 0.5, .reads = 64};
    begin(&l, "md", 8);
    l.view.l1d_fill_bytes = 32;
    cta_agent_start(&l.agent, &l.view);
    for (uint64_t sector = 0; sector < 64; sector++)
        l.sched->policy->l1d_load(l.agent.state, sector * 32);
    for (int again = 0; again < 2; again++) {
        finish_measured(&l, again ? 0 : 2, &none, 1000);
        TytoReport out = {sizeof(TytoReport), &working_set, keep_value, keep_nothing};
        l.sched->policy->report(l.agent.state, &out);
        assert_true(working_set == (again ? 16 : -1));
        for (uint64_t line = 0; line < 16; line++)
            l.sched->policy->l1d_load(l.agent.state, line * 128 + 96);
    }
    end(&l);
}

static void keep_shares(void *context, const char *name, const char *unit, double value) {
    (void)unit;
    if (!strcmp(name, "waiting")) ((double *)context)[0] = value;
    if (!strcmp(name, "under_way")) ((double *)context)[1] = value;
}

static void md_takes_shares_of_the_time_that_its_cta_was_there(void **unused) {
    (void)unused;
    Launch l;
    double shares[2] = {0};
    begin(&l, "md", 8);
    l.view.cycle = 400;
    cta_agent_dispatched(&l.agent, &l.view, 0);
    l.view.cycle = 900;
    cta_agent_dispatched(&l.agent, &l.view, 1); /* not the predictor */
    l.view.cycle = 1400;
    TytoSmMeasurement measured = {.warp_instructions = 100,
                                  .l1d_accesses = 100,
                                  .dram_reads = 10,
                                  .reads_answered = 10,
                                  .load_cycles = 3000,
                                  .memory_cycles = 250};
    cta_agent_finished(&l.agent, &l.view, 0, &measured);
    TytoReport out = {sizeof(TytoReport), shares, keep_shares, keep_nothing};
    l.sched->policy->report(l.agent.state, &out);
    assert_true(shares[0] == 0.25 && shares[1] == 3);
    end(&l);
}

static void md_bounds_its_count_of_lines(void **unused) {
    (void)unused;
    Launch l;
    double working_set = -1;
    struct Benchmark huge = BENCHMARKS[2];
    huge.working_set = 100000;
    begin(&l, "md:curve=table", 8);
    finish_measured(&l, 0, &huge, 1000);
    TytoReport out = {sizeof(TytoReport), &working_set, keep_value, keep_nothing};
    l.sched->policy->report(l.agent.state, &out);
    assert_true(working_set >= 15 * 1024 && working_set < 32768);
    end(&l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(growth_of_dram_reads_agrees_with_table_5),
        cmocka_unit_test(the_degree_chosen_is_within_one_of_the_best_of_table_6),
        cmocka_unit_test(throughput_is_the_degree_over_the_product_of_the_growths),
        cmocka_unit_test(ctas_that_fit_together_lose_nothing),
        cmocka_unit_test(a_small_cta_grows_by_its_part_of_the_papers),
        cmocka_unit_test(a_large_cta_grows_as_printed),
        cmocka_unit_test(what_always_misses_cannot_miss_more),
        cmocka_unit_test(a_lines_first_read_does_not_grow),
        cmocka_unit_test(what_is_stored_is_not_read_again),
        cmocka_unit_test(reads_grow_from_where_the_sets_do_not_fit_together),
        cmocka_unit_test(reads_agree_with_table_5),
        cmocka_unit_test(what_a_lone_cta_loses_tells_how_its_set_is_used),
        cmocka_unit_test(lines_left_in_the_cache_are_no_reads_to_come),
        cmocka_unit_test(reads_by_reuse_grow_with_what_the_ctas_drive_out),
        cmocka_unit_test(lines_that_others_have_left_are_everyones),
        cmocka_unit_test(what_grows_by_less_than_a_line_does_not_grow),
        cmocka_unit_test(what_a_flat_kernel_grows_by_may_be_chosen),
        cmocka_unit_test(what_is_held_against_caches_may_be_chosen),
        cmocka_unit_test(the_second_cta_of_nbf_takes_the_time_of_table_6),
        cmocka_unit_test(what_waits_grows_with_the_reads_and_the_rest_with_the_pipeline),
        cmocka_unit_test(no_more_reads_are_under_way_than_mshrs),
        cmocka_unit_test(a_cta_that_reads_nothing_takes_its_time_at_any_degree),
        cmocka_unit_test(latency_grows_by_the_thresholds),
        cmocka_unit_test(the_pipeline_factor_follows_the_thresholds),
        cmocka_unit_test(fewer_than_5_dram_reads_in_100_instructions_are_compute_bound),
        cmocka_unit_test(round_robin_allows_what_fits),
        cmocka_unit_test(limit_allows_no_more_than_told_and_no_more_than_fits),
        cmocka_unit_test(md_runs_one_cta_alone_until_it_has_finished_then_limits_all),
        cmocka_unit_test(md_holds_back_nobody_in_a_grid_of_one_wave),
        cmocka_unit_test(md_may_hold_back_the_others_until_it_decides),
        cmocka_unit_test(md_weighs_as_many_ctas_as_an_sm_holds),
        cmocka_unit_test(md_keeps_the_maximum_for_a_compute_bound_kernel),
        cmocka_unit_test(md_looks_at_all_degrees_for_a_compute_bound_kernel),
        cmocka_unit_test(md_counts_the_different_lines_that_are_read_again),
        cmocka_unit_test(md_counts_the_sectors_of_a_line_as_one),
        cmocka_unit_test(md_takes_shares_of_the_time_that_its_cta_was_there),
        cmocka_unit_test(md_bounds_its_count_of_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
