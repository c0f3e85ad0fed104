/* The writers of a run: JSON, CSV, text, comparison, time series, histograms, timeline; and disks
 * that fail. A small checker of its grammar checks the JSON. */
#include <ctype.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/arena.h"
#include "stats/csv.h"
#include "stats/output.h"
#include "stats/report.h"
#include "stats/run.h"
#include "stats/run_bytes.h"
#include "stats/run_read.h"
#include "stats/timeline.h"

/* --- a checker of JSON's grammar: returns what follows a value, NULL on an error --- */

static const char *skip_space(const char *s) {
    while (s && isspace((unsigned char)*s))
        s++;
    return s;
}

static const char *skip_value(const char *s);

static const char *skip_json_string(const char *s) {
    if (!s || *s++ != '"') return NULL;
    for (; *s && *s != '"'; s++) {
        if (*s == '\\' && !*++s) return NULL;
    }
    return *s == '"' ? s + 1 : NULL;
}

static const char *skip_members(const char *s, char close, bool has_keys) {
    s = skip_space(s + 1);
    if (*s == close) return s + 1;
    for (;;) {
        if (has_keys) {
            s = skip_space(skip_json_string(skip_space(s)));
            if (!s || *s++ != ':') return NULL;
        }
        s = skip_space(skip_value(skip_space(s)));
        if (!s) return NULL;
        if (*s == close) return s + 1;
        if (*s++ != ',') return NULL;
    }
}

static const char *skip_value(const char *s) {
    if (!s) return NULL;
    if (*s == '{') return skip_members(s, '}', true);
    if (*s == '[') return skip_members(s, ']', false);
    if (*s == '"') return skip_json_string(s);
    static const char *const words[] = {"null", "true", "false"};
    for (int i = 0; i < 3; i++) {
        if (!strncmp(s, words[i], strlen(words[i]))) return s + strlen(words[i]);
    }
    size_t length = strspn(s, "-+.0123456789eE");
    return length ? s + length : NULL;
}

static void assert_json(const char *text) {
    const char *end = skip_space(skip_value(skip_space(text)));
    if (!end || *end) fail_msg("no JSON: %.2000s", text);
}

static void assert_contains(const char *text, const char *part) {
    if (!strstr(text, part)) fail_msg("expected \"%s\" in:\n%.3000s", part, text);
}

/* --- runs --- */

static RunStats *make_run(const char *scheduler, uint64_t cycles, uint64_t memory_stalls) {
    RunStats *run = run_new("matmul, \"tiled\"");
    run_set_machine(run, "gtx480", scheduler, "round-robin", 1, 1);
    for (int i = 0; i < 2; i++) {
        KernelStats *kernel = run_add_kernel(run, i ? "second" : "first");
        kernel->grid[0] = 16;
        kernel->grid[1] = kernel->grid[2] = kernel->block[1] = kernel->block[2] = 1;
        kernel->block[0] = 256;
        kernel->wall_seconds = 0.25;
        kernel->cpu_seconds = 0.125;
        KernelTiming *timing = run_add_timing(kernel);
        timing->ctas_per_sm = 3;
        KernelFigures figures = {.counters = {.cycles = cycles,
                                              .sm_cycles = cycles,
                                              .scheduler_cycles = cycles,
                                              .kernels = 1,
                                              .issued = cycles - memory_stalls,
                                              .scoreboard_memory = memory_stalls,
                                              .seen_scoreboard = memory_stalls,
                                              .warp_instructions = 1000,
                                              .sp_instructions = 1000,
                                              .thread_instructions = 32000,
                                              .l1d_accesses = 100,
                                              .l1d_misses = memory_stalls / 10,
                                              .l1d_hits = 100 - memory_stalls / 10,
                                              .l1d_intra_warp_hits = 100 - memory_stalls / 10}};
        histogram_add(&figures.histograms, HISTOGRAM_read_latency, 100);
        run_set_figures(timing, &figures);
    }
    run->peak_memory_bytes = 10 << 20;
    return run;
}

/* Cycles before the first thread block can start have a row of their own. */
static void test_the_launch_is_a_cause_of_its_own(void **state) {
    (void)state;
    RunStats *run = make_run("gto", 2000, 500);
    KernelFigures figures = run_figures(run->kernels[0].timing);
    figures.counters.issued = 500;
    figures.counters.idle_no_warp = 1000;
    figures.counters.idle_launch = 800;
    run_set_figures(run->kernels[0].timing, &figures);
    Text text = {0};
    report_run(run, false, 0, &text);
    assert_contains(text_string(&text), "waited for the launch            40.0%");
    assert_contains(text_string(&text), "had no warp                      10.0%");
    text_free(&text);
    run_free(run);
}

static void test_run_sums_and_checks(void **state) {
    (void)state;
    RunStats *run = make_run("gto", 2000, 500);
    Counters total = run_total(run);
    assert_int_equal(total.cycles, 4000);
    assert_int_equal(total.kernels, 2);
    Text why = {0};
    if (!run_check(run, &why)) fail_msg("%s", text_string(&why));
    KernelFigures figures = run_figures(run->kernels[1].timing);
    figures.counters.issued++;
    run_set_figures(run->kernels[1].timing, &figures);
    assert_false(run_check(run, &why));
    assert_contains(text_string(&why), "second:\nevery scheduler cycle has one outcome");
    assert_contains(text_string(&why), "total:\nevery scheduler cycle has one outcome");
    figures.counters.issued--;
    text_clear(&why);
    figures.counters.reads_sent = 1; /* under way when the run was interrupted */
    run_set_figures(run->kernels[1].timing, &figures);
    assert_false(run_check(run, &why));
    run->kernels[1].status = RUN_INTERRUPTED;
    assert_true(run_check(run, &why));
    figures.counters.issued++;
    run_set_figures(run->kernels[1].timing, &figures);
    assert_false(run_check(run, &why));
    run->kernels[1].has_overlapped = true; /* shared counts are in both */
    assert_true(run_check(run, &why));
    figures = run_figures(run->kernels[0].timing);
    figures.counters.issued++;
    run_set_figures(run->kernels[0].timing, &figures); /* this one ran alone */
    assert_false(run_check(run, &why));
    text_free(&why);
    run_free(run);
}

/* Warp states are checked and written if the core counts them. */
static void test_warp_states(void **state) {
    (void)state;
    RunStats *run = make_run("cggty", 2000, 500);
    Text text = {0}, why = {0};
    Json json;
    json_begin(&json, &text);
    run_write_json(run, &json);
    assert_null(strstr(text_string(&text), "warp_states"));
    KernelFigures figures = run_figures(run->kernels[1].timing);
    figures.states.of[WARP_STATE_wait] = 400;
    figures.states.of[WARP_STATE_drain] = 30;
    figures.counters.warp_cycles = 430;
    run_set_figures(run->kernels[1].timing, &figures);
    assert_true(run_check(run, &why));
    text_clear(&text);
    json_begin(&json, &text);
    run_write_json(run, &json);
    assert_contains(text_string(&text), "\"warp_states\"");
    const WarpStates total = run_total_states(run);
    assert_int_equal(total.of[WARP_STATE_wait], 400);
    assert_int_equal(warp_states_sum(&total), 430);
    figures.counters.warp_cycles++;
    run_set_figures(run->kernels[1].timing, &figures);
    assert_false(run_check(run, &why));
    assert_contains(text_string(&why), "second:\nevery resident warp is in one state");
    text_free(&text);
    text_free(&why);
    run_free(run);
}

static int count_of(const char *text, char what) {
    int count = 0;
    for (; *text; text++)
        count += *text == what;
    return count;
}

/* Turns the second kernel of the run into one that ran functionally. */
static void leave_out_second(RunStats *run) {
    KernelStats *kernel = &run->kernels[1];
    pack_free(&kernel->timing->figures);
    free(kernel->timing);
    kernel->timing = NULL;
    kernel->warp_instructions = 77;
    kernel->thread_instructions = 2464;
}

static void test_untimed_kernels(void **state) {
    (void)state;
    RunStats *run = make_run("gto", 2000, 500);
    Text out = {0};
    Json json;
    leave_out_second(run);
    assert_true(run_check(run, &out));
    assert_int_equal(run_total(run).kernels, 1);
    json_begin(&json, &out);
    run_write_json(run, &json);
    assert_json(out.bytes);
    assert_contains(out.bytes, "\"timed\": true");
    assert_contains(strstr(out.bytes, "\"second\""), "\"timed\": false");
    assert_contains(strstr(out.bytes, "\"untimed\""), "\"warp_instructions\": 77");
    assert_contains(out.bytes, "\"wall_seconds\": 0.25,");
    assert_contains(out.bytes, "\"untimed_seconds\": 0.25,");
    const char *second = strstr(out.bytes, "\"second\"");
    assert_true(strstr(second, "\"thread_instructions\": 2464") < strstr(second, "\"cycles\""));
    text_clear(&out);
    run_write_csv((const RunStats *[]){run}, 1, &out);
    assert_int_equal(count_of(out.bytes, '\n'), 3); /* header, the first kernel, total */
    text_clear(&out);
    report_run(run, false, 0, &out);
    assert_contains(out.bytes, "not timed: 1 kernel, 77 warp instructions (second)\n");
    assert_null(strstr(out.bytes, "kernel second"));
    text_clear(&out);
    report_comparison((const RunStats *[]){run, run}, 2, &out);
    assert_contains(out.bytes, " on gtx480, 1 of 2 kernels timed\n");
    text_clear(&out);
    run->kernels[1].status = RUN_FAULT;
    report_launch(run, 0, &out);
    report_launch(run, 1, &out);
    assert_contains(out.bytes, " 1,000 warp instructions, 2,000 cycles, IPC 16.00\n");
    assert_contains(out.bytes, " 77 warp instructions, not timed, failed\n");
    text_free(&out);
    run_free(run);
}

/* Checks the text of one launch and of a run without timing, for `instructions` in half a
 * second. */
static void assert_functional_text(uint64_t instructions, const char *launch, const char *whole) {
    RunStats *run = run_new("matmul");
    run_set_origin(run, RUN_ORIGIN_machine, "owl");
    KernelStats *kernel = run_add_kernel(run, "first");
    kernel->grid[0] = kernel->grid[1] = kernel->grid[2] = 1;
    kernel->block[0] = kernel->block[1] = kernel->block[2] = 2;
    kernel->registers = 9;
    kernel->warp_instructions = instructions;
    kernel->thread_instructions = 32 * instructions;
    kernel->wall_seconds = 0.5;
    Text out = {0};
    report_launch(run, 0, &out);
    assert_string_equal(out.bytes, launch);
    text_clear(&out);
    report_run(run, true, 0, &out);
    assert_string_equal(out.bytes, whole);
    text_free(&out);
    run_free(run);
}

#define LAUNCH "tyto: kernel 1: first grid 1,1,1 block 2,2,2: 9 registers, "
#define RUN    "matmul on owl, functionally: 1 kernel, "
static void test_text_without_timing(void **state) {
    (void)state;
    assert_functional_text(77, LAUNCH "77 warp instructions\n",
                           RUN "77 warp instructions in 0.50 s (154 warp instructions a second)\n");
    assert_functional_text(
        1234, LAUNCH "1,234 warp instructions\n",
        RUN "1,234 warp instructions in 0.50 s (2.5 thousand warp instructions a second)\n");
    assert_functional_text(12100000, LAUNCH "12,100,000 warp instructions\n",
                           RUN "12,100,000 warp instructions in 0.50 s (24.2 million warp "
                               "instructions a second)\n");
    assert_functional_text(1000000000, LAUNCH "1,000,000,000 warp instructions\n",
                           RUN "1,000,000,000 warp instructions in 0.50 s (2.00 billion warp "
                               "instructions a second)\n");
}

static void test_json(void **state) {
    (void)state;
    RunStats *run = make_run("gto", 2000, 500);
    run->kernels[0].timing->ctas = base_calloc(2, sizeof(CtaRecord));
    run->kernels[0].timing->cta_count = 2;
    run->kernels[0].stream = 3;
    run->kernels[0].has_overlapped = true;
    run->kernels[0].timing->ctas[1] =
        (CtaRecord){.cta = 1, .sm = 1, .slot = 2, .start = 3, .end = 44};
    run->series = timeseries_new(1000, TIMESERIES_MAX_SAMPLES);
    Counters total = run_total(run);
    timeseries_sample(run->series, 1000, &total);
    Text out = {0};
    Json json;
    json_begin(&json, &out);
    run_write_json(run, &json);
    assert_json(out.bytes);
    static const char *const parts[] = {"\"tyto_version\": \"",
                                        "\"program\": \"matmul, \\\"tiled\\\"\"",
                                        "\"machine\": \"gtx480\"",
                                        "\"scheduler\": \"gto\"",
                                        "\"cta_scheduler\": \"round-robin\"",
                                        "\"kernels\": [",
                                        "\"kernel\": \"first\"",
                                        "\"status\": \"complete\"",
                                        "\"stream\": 3,",
                                        "\"overlapped\": true,",
                                        "\"total\": {",
                                        "\"cycles\": 4000",
                                        "\"ipc\": 16",
                                        "\"BLP\": null",
                                        "\"wall_seconds\": 0.5",
                                        "\"cpu_seconds\": 0.25",
                                        "\"warp_instructions_per_second\": 4000",
                                        "\"cycles_per_second\": 8000",
                                        "\"peak_memory_bytes\": 10485760",
                                        "\"end\": 44",
                                        "\"interval\": 1000",
                                        "\"read_latency\": {"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        assert_contains(out.bytes, parts[i]);
    for (CounterId id = 0; id < COUNTER_COUNT; id++)
        assert_contains(out.bytes, counter_rows[id].name);
    for (RatioId id = 0; id < RATIO_COUNT; id++)
        assert_contains(out.bytes, ratio_rows[id].name);
    text_free(&out);
    run_free(run);
}

/* CSV contains every text and counter of a run, so two runs are equal if their CSV is. */
static void a_run_is_read_back_from_its_json(void **state) {
    (void)state;
    RunStats *run = make_run("ccws:k=8", 2000, 500);
    Text text = {0}, before = {0}, after = {0};
    Json json;
    json_begin(&json, &text);
    run_write_json(run, &json);
    RunStats *read = run_read_json(text.bytes);
    assert_non_null(read);
    run_write_csv((const RunStats *[]){run}, 1, &before);
    run_write_csv((const RunStats *[]){read}, 1, &after);
    assert_string_equal(after.bytes, before.bytes);
    run_free(read);
    for (size_t cut = 0; cut < text.length; cut += 97) { /* half a text is not a run */
        text.bytes[text.length - cut - 1] = '\0';
        assert_null(run_read_json(text.bytes));
    }
    assert_null(run_read_json("{}"));
    assert_null(run_read_json("[]"));
    text_free(&text);
    text_free(&before);
    text_free(&after);
    run_free(run);
}

/* A machine alone does not make a run a timed one: its kernels are part of the total. */
static void a_functional_run_is_read_back_as_one(void **state) {
    (void)state;
    RunStats *run = run_new("matmul");
    run_set_origin(run, RUN_ORIGIN_machine, "owl");
    run_add_kernel(run, "first")->warp_instructions = 5;
    Text text = {0};
    Json json;
    json_begin(&json, &text);
    run_write_json(run, &json);
    RunStats *read = run_read_json(text_string(&text));
    assert_string_equal(read->machine, "owl");
    assert_false(run_is_timed(read));
    assert_int_equal(run_total(read).warp_instructions, 5);
    text_free(&text);
    run_free(read);
    run_free(run);
}

static void a_launch_is_read_back_from_its_bytes(void **state) {
    (void)state;
    RunStats *run = make_run("gto", 2000, 500), *read = run_new("");
    Text bytes = {0}, before = {0}, after = {0};
    run->kernels[1].timing->ctas = base_calloc(2, sizeof(CtaRecord));
    run->kernels[1].timing->ctas[1] = (CtaRecord){1, 7, 2, 30, 400};
    run->kernels[1].timing->cta_count = 2;
    run->kernels[1].status = RUN_STOPPED;
    run_add_kernel(run, "functional")->warp_instructions = 5;
    run_set_machine(read, "gtx480", "gto", "round-robin", 1, 1);
    run_set_origin(read, RUN_ORIGIN_program, run->program);
    for (int i = 0; i < run->kernel_count; i++) {
        text_clear(&bytes);
        run_add_kernel_bytes(&run->kernels[i], &bytes);
        assert_true(run_take_kernel_bytes(read, bytes.bytes, bytes.length));
    }
    assert_false(read->shape.is_complete);
    read->peak_memory_bytes = run->peak_memory_bytes;
    Json json;
    json_begin(&json, &before);
    run_write_json(run, &json);
    json_begin(&json, &after);
    run_write_json(read, &json);
    assert_string_equal(after.bytes, before.bytes);
    text_clear(&bytes);
    run_add_kernel_bytes(&run->kernels[1], &bytes);
    for (size_t cut = 1; cut <= bytes.length; cut += 31)
        assert_false(run_take_kernel_bytes(read, bytes.bytes, bytes.length - cut));
    text_free(&bytes);
    text_free(&before);
    text_free(&after);
    run_free(read);
    run_free(run);
}

static void findings_of_another_process_are_put_in_their_places(void **state) {
    (void)state;
    Findings *findings = findings_new(10, NULL, NULL);
    for (uint32_t i = 0; i < 2; i++)
        findings_put(findings, i, &(Finding){.kind = FINDING_RACE, .count = i + 3});
    findings_put(findings, 1, &(Finding){.kind = FINDING_RACE, .count = 9});
    assert_int_equal(findings_count(findings), 2);
    assert_int_equal(finding_at(findings, 0)->count, 3);
    assert_int_equal(findings_total(findings), 12);
    findings_free(findings);
}

static void test_csv(void **state) {
    (void)state;
    RunStats *run = make_run("ccws:k=8", 2000, 500);
    Text out = {0};
    run_write_csv((const RunStats *[]){run}, 1, &out);
    assert_int_equal(count_of(out.bytes, '\n'), 4); /* header, two kernels, total */
    assert_contains(
        out.bytes,
        "tyto_version,library_hash,command,program,arguments,size,seed,program_hash,"
        "machine,machine_hash,overrides,options,scheduler,scheduler_hash,"
        "cta_scheduler,cta_scheduler_hash,index,kernel,status,stream,overlapped,cycles,");
    assert_contains(out.bytes,
                    "\n" TYTO_VERSION ",,,\"matmul, \"\"tiled\"\"\",,,,,gtx480,,,,ccws:k=8,,"
                    "round-robin,,0,first,complete,0,0,2000,");
    assert_contains(out.bytes, ",,total,complete,,,4000,");
    int columns = -1;
    for (char *line = strtok(out.bytes, "\n"); line; line = strtok(NULL, "\n")) {
        int commas = count_of(line, ',') - (strstr(line, "matmul,") ? 1 : 0);
        if (columns >= 0) assert_int_equal(commas, columns);
        columns = commas;
    }
    assert_int_equal(columns, (int)RUN_ORIGINS + 4 + (int)COUNTER_COUNT + (int)RATIO_COUNT);
    text_clear(&out);
    run->kernels[1].timing->ctas = base_calloc(1, sizeof(CtaRecord));
    run->kernels[1].timing->cta_count = 1;
    run->kernels[1].timing->ctas[0] = (CtaRecord){.sm = 7, .slot = 1, .start = 5, .end = 60};
    run_write_ctas_csv(run, &out);
    assert_contains(out.bytes,
                    "index,kernel,cta,sm,slot,start,end,tyto_version,library_hash,command,");
    assert_contains(out.bytes,
                    "\n1,second,0,7,1,5,60," TYTO_VERSION ",,,\"matmul, \"\"tiled\"\"\",");
    text_free(&out);
    run_free(run);
}

static void test_text(void **state) {
    (void)state;
    RunStats *run = make_run("gto", 2000, 500);
    run->kernels[1].status = RUN_INTERRUPTED;
    Text out = {0};
    report_run(run, false, 0, &out);
    static const char *const parts[] = {
        "matmul, \"tiled\" on gtx480, warps by gto, CTAs by round-robin\n",
        "kernel first, 16 x 1 x 1 CTAs of 256 x 1 x 1 threads, 3 CTAs per SM",
        "cycles  2,000, warp instructions 1,000",
        "ipc 16.00",
        "waited for memory                25.0%  mmmmmmmmmm\n",
        "l1d_miss_rate 50.0%",
        "incomplete: interrupted",
        "all 2 kernels",
        "0.50 s, 4,000 warp instructions per second, 10 MiB"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        assert_contains(out.bytes, parts[i]);
    assert_null(strstr(out.bytes, "BLP")); /* nothing to say about DRAM */
    text_clear(&out);
    report_run(run, true, 0, &out);
    for (CounterId id = 0; id < COUNTER_COUNT; id++)
        assert_contains(out.bytes, counter_rows[id].name);
    text_free(&out);
    run_free(run);
}

/* A loser's better figures are not a reason for its losing, and the worst of the others comes
 * first. */
static void only_what_is_worse_is_a_reason(void **state) {
    (void)state;
    RunStats *runs[] = {make_run("lrr", 2000, 500), make_run("gto", 1600, 580)};
    Text out = {0};
    for (int i = 0; i < 2; i++) {
        KernelFigures figures = run_figures(runs[i]->kernels[1].timing);
        Counters *counters = &figures.counters;
        counters->l2_accesses = 100;
        counters->l2_misses = i ? 20 : 80;
        run_set_figures(runs[i]->kernels[1].timing, &figures);
    }
    report_comparison((const RunStats *const *)runs, 2, &out);
    assert_contains(out.bytes, "L2 misses 80.0% instead of 20.0%\n"); /* L1D misses are fewer */
    text_free(&out);
    run_free(runs[0]);
    run_free(runs[1]);
}

static void test_comparison(void **state) {
    (void)state;
    RunStats *runs[] = {make_run("lrr", 2000, 900), make_run("gto", 1600, 580)};
    Text out = {0};
    report_comparison((const RunStats *const *)runs, 2, &out);
    static const char *const parts[] = {
        "scheduler          cycles      IPC speed-up L1D miss",
        "lrr                 4,000    16.00    1.000    90.0%        -        -  "
        "######################mmmmmmmmmmmmmmmmmm\n",
        "gto                 3,200    20.00    1.250    58.0%",
        "\ngto is fastest. The others:\n  lrr 25.0% more cycles: 80% of the added scheduler cycles "
        "waited for "
        "memory, 20% issued; L1D misses 90.0% instead of 58.0%\n"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        assert_contains(out.bytes, parts[i]);
    text_clear(&out);
    report_comparison((const RunStats *[]){runs[0], runs[0]}, 2, &out);
    assert_contains(out.bytes, "\nlrr, lrr: the same number of cycles.\n");
    text_clear(&out);
    report_comparison((const RunStats *[]){runs[0], runs[1], runs[1]}, 3, &out);
    assert_contains(out.bytes,
                    "\ngto, gto: fastest, with the same number of cycles. The others:\n  lrr ");
    text_clear(&out);
    RunStats *slowest = make_run("pro, \"x\"", 3000, 900);
    report_comparison((const RunStats *[]){slowest, runs[0], runs[1], runs[0]}, 4, &out);
    assert_contains(out.bytes, "The others:\n  lrr, lrr 25.0% more cycles");
    assert_contains(out.bytes, "\n  pro, \"x\" 87.5% more cycles");
    assert_true(strstr(out.bytes, "  lrr, lrr 25") < strstr(out.bytes, "  pro, \"x\" 87"));
    run_free(slowest);
    text_clear(&out);
    slowest = make_run("h\u00e9lice", 3000, 900); /* aligned by columns, not by bytes */
    report_comparison((const RunStats *[]){runs[1], slowest, runs[0]}, 3, &out);
    assert_contains(out.bytes, "\ngto                 3,200    20.00");
    assert_contains(out.bytes, "\nh\u00e9lice              6,000    10.67");
    assert_contains(out.bytes, "\n  lrr    25.0% more");
    assert_contains(out.bytes, "\n  h\u00e9lice 87.5% more");
    run_free(slowest);
    text_clear(&out);
    report_comparison((const RunStats *const *)runs, 1, &out);
    assert_null(strstr(out.bytes, "fastest"));
    text_free(&out);
    run_free(runs[0]);
    run_free(runs[1]);
}

/* The bar is always full, however the shares are rounded. */
static void test_bars_are_full(void **state) {
    (void)state;
    RunStats *run = make_run("gto", 2000, 500);
    KernelFigures figures = run_figures(run->kernels[1].timing);
    Counters *counters = &figures.counters;
    Text out = {0};
    for (uint64_t i = 0; i < 50; i++) {
        counters->idle_no_warp += i * i;
        counters->throttled += 3 * i;
        counters->idle_branch += i;
        counters->scheduler_cycles += i * i + 4 * i;
        run_set_figures(run->kernels[1].timing, &figures);
        text_clear(&out);
        report_comparison((const RunStats *[]){run}, 1, &out);
        const char *bar = strrchr(strstr(out.bytes, "\ngto"), '#');
        assert_non_null(bar);
        const char *start = strstr(strstr(out.bytes, "\ngto"), "  #") + 2;
        assert_int_equal(strcspn(start, "\n"), 40);
    }
    text_free(&out);
    run_free(run);
}

/* --- histograms, series --- */

/* A launch takes memory for what it counted, not for everything that it could have counted: a run
 * may have a hundred thousand launches. */
static void a_launch_takes_some_hundred_bytes(void **state) {
    (void)state;
    RunStats *run = make_run("gto", 2000, 500);
    assert_in_range(run->kernels[0].timing->figures.size, 1, 300);
    run_free(run);
    uint64_t numbers[] = {0, 0, 1, 127, 128, UINT64_MAX, 0, 1 << 20, 0}, back[9];
    for (size_t count = 0; count <= 9; count++) {
        Pack pack = pack_make(numbers, count);
        memset(back, 0xff, sizeof back);
        pack_read(&pack, back, count);
        assert_memory_equal(back, numbers, count * sizeof *back);
        pack_free(&pack);
    }
}

static void test_histograms(void **state) {
    (void)state;
    Histograms a = {0}, b = {0};
    histogram_add(&a, HISTOGRAM_read_latency, 0);
    histogram_add(&a, HISTOGRAM_read_latency, 31);
    histogram_add(&a, HISTOGRAM_read_latency, 32);
    histogram_add(&b, HISTOGRAM_read_latency, 1 << 20);
    assert_int_equal(histogram_used_buckets(&a.read_latency), 2);
    histograms_add(&a, &b);
    assert_int_equal(a.read_latency.buckets[0], 2);
    assert_int_equal(a.read_latency.buckets[1], 1);
    assert_int_equal(a.read_latency.buckets[HISTOGRAM_BUCKETS - 1], 1);
    assert_int_equal(a.read_latency.count, 4);
    assert_int_equal(a.read_latency.max, 1 << 20);
    assert_int_equal(histogram_used_buckets(&a.read_latency), HISTOGRAM_BUCKETS);
    assert_int_equal(histogram_used_buckets(&a.active_lanes), 0);
}

static void test_series_is_bounded_and_loses_nothing(void **state) {
    (void)state;
    TimeSeries *series = timeseries_new(10, TIMESERIES_MAX_SAMPLES);
    Counters counters = {0};
    uint64_t cycle = 0;
    for (int i = 0; i < 3 * TIMESERIES_MAX_SAMPLES; i++) {
        cycle = timeseries_due(series);
        counters.warp_instructions = 7 * cycle;
        timeseries_sample(series, cycle, &counters);
        assert_true(timeseries_due(series) > cycle);
        assert_in_range(timeseries_count(series), 1, TIMESERIES_MAX_SAMPLES);
    }
    assert_int_equal(timeseries_interval(series), 160); /* full four times */
    uint64_t sum = 0, last = 0, end;
    for (int i = 0; i < timeseries_count(series); i++) {
        const Counters *growth = timeseries_at(series, i, &end);
        assert_int_equal(growth->warp_instructions, 7 * (end - last));
        sum += growth->warp_instructions;
        last = end;
    }
    assert_int_equal(last, cycle);
    assert_int_equal(sum, 7 * cycle);
    timeseries_free(series);
}

/* --- timeline, files --- */

static void test_timeline(void **state) {
    (void)state;
    char path[] = "/tmp/tyto-timeline-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    Diag *diag = diag_new();
    const TimelineShape shape = {.sms = 1, .channels = 1, .ctas = 3, .warps = 2};
    Timeline *timeline = timeline_open(path, &shape, diag);
    assert_false(timeline_has_units(timeline));
    timeline_cta(timeline, 0, 2, "CTA 5", 100, 350);
    timeline_kernel(timeline, "SM \"0\"\n", 100, 350);
    timeline_counters(timeline, 0, &(Counters){.scheduler_cycles = 4, .issued = 1});
    assert_true(timeline_close(timeline, NULL, diag));
    size_t length;
    char *text = text_read_file(path, 1 << 20, &length);
    assert_json(text);
    assert_contains(text,
                    "{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":100,\"dur\":250,\"name\":\"CTA 5\"}");
    assert_contains(text, "\"issued\":25,\"scoreboard_memory\":0");
    assert_contains(text, "SM \\\"0\\\"\\n");
    free(text);

    timeline = timeline_open(path, &shape, diag);
    assert_true(timeline_close(timeline, NULL, diag));
    text = text_read_file(path, 1 << 20, &length);
    assert_json(text);
    free(text);
    assert_int_equal(diag_error_count(diag), 0);
    unlink(path);
    assert_null(timeline_open("/nowhere/at/all", &shape, diag));
    assert_contains(diag_text(diag), "/nowhere/at/all: error: cannot be written: No such file");
    diag_free(diag);
}

static void test_full_disk_is_told_once(void **state) {
    (void)state;
    if (access("/dev/full", W_OK)) skip();
    Diag *diag = diag_new();
    const TimelineShape shape = {.sms = 1, .ctas = 1};
    Timeline *timeline = timeline_open("/dev/full", &shape, diag);
    for (uint64_t i = 0; i < 10000; i++)
        timeline_cta(timeline, 0, 0, "CTA", i, i + 1);
    assert_false(timeline_close(timeline, NULL, diag));
    assert_int_equal(diag_error_count(diag), 1);
    assert_contains(diag_text(diag), "/dev/full: error: cannot be written: No space left");
    Text text = {0};
    text_add(&text, "x");
    assert_false(output_write("/nowhere/at/all", &text, diag));
    assert_int_equal(diag_error_count(diag), 2);
    text_free(&text);
    diag_free(diag);
}

static void test_output(void **state) {
    (void)state;
    char path[] = "/tmp/tyto-output-XXXXXX";
    close(mkstemp(path));
    Diag *diag = diag_new();
    Text text = {0};
    assert_true(output_write(path, &text, diag)); /* writing nothing is fine */
    text_add(&text, "a,b\n");
    assert_true(output_write(path, &text, diag));
    size_t length;
    char *stored = text_read_file(path, 100, &length);
    assert_string_equal(stored, "a,b\n");
    free(stored);
    unlink(path);
    text_free(&text);
    diag_free(diag);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_launch_is_a_cause_of_its_own),
        cmocka_unit_test(test_run_sums_and_checks),
        cmocka_unit_test(test_warp_states),
        cmocka_unit_test(test_text_without_timing),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_untimed_kernels),
        cmocka_unit_test(a_run_is_read_back_from_its_json),
        cmocka_unit_test(a_functional_run_is_read_back_as_one),
        cmocka_unit_test(a_launch_is_read_back_from_its_bytes),
        cmocka_unit_test(findings_of_another_process_are_put_in_their_places),
        cmocka_unit_test(test_csv),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_comparison),
        cmocka_unit_test(only_what_is_worse_is_a_reason),
        cmocka_unit_test(test_bars_are_full),
        cmocka_unit_test(a_launch_takes_some_hundred_bytes),
        cmocka_unit_test(test_histograms),
        cmocka_unit_test(test_series_is_bounded_and_loses_nothing),
        cmocka_unit_test(test_timeline),
        cmocka_unit_test(test_full_disk_is_told_once),
        cmocka_unit_test(test_output),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
