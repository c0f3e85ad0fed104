/* What a simulator's launches leave behind: one record, read as results, JSON and text, the same
 * with timing and without. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tyto/tyto.h"

/* store: out[thread] = thread. stuck: both warps wait for 128 threads, which are not there. */
static const char ptx[] =
    ".version 7.5\n.target sm_75\n.address_size 64\n"
    ".visible .entry store(.param .u64 out) {\n"
    "  .reg .b32 %r<2>;\n  .reg .b64 %rd<4>;\n"
    "  ld.param.u64 %rd1, [out];\n  mov.u32 %r1, %tid.x;\n  mul.wide.u32 %rd2, %r1, 4;\n"
    "  add.u64 %rd3, %rd1, %rd2;\n  st.global.u32 [%rd3], %r1;\n  ret;\n}\n"
    ".visible .entry stuck(.param .u64 out) {\n  bar.sync 1, 128;\n  ret;\n}\n";

typedef struct Bench {
    TytoSimulator *simulator;
    TytoModule *module;
    uint64_t out; /* device address of a buffer */
} Bench;

static Bench make(int count, const char *const *options) {
    Bench bench;
    char message[512];
    bench.simulator = tyto_new(count, options, message, sizeof message);
    if (!bench.simulator) fail_msg("%s", message);
    assert_int_equal(tyto_load(bench.simulator, "k.ptx", ptx, strlen(ptx), &bench.module), TYTO_OK);
    assert_int_equal(tyto_alloc(bench.simulator, 256, &bench.out), TYTO_OK);
    return bench;
}

static TytoStatus launch(const Bench *bench, const char *kernel) {
    const void *arguments[] = {&bench->out};
    TytoLaunch request = {.module = bench->module,
                          .kernel = tyto_find_kernel(bench->module, kernel),
                          .grid = {1, 1, 1},
                          .block = {64, 1, 1},
                          .arguments = arguments,
                          .argument_count = 1};
    return tyto_launch(bench->simulator, &request);
}

/* `part` stands in the run's JSON. */
static void assert_reports(const Bench *bench, const char *part) {
    char *json = tyto_report_json(bench->simulator, "test");
    if (!strstr(json, part)) fail_msg("expected %s in:\n%s", part, json);
    free(json);
}

/* With timing and without: the same launches, and what else both must be given. */
static const struct Mode {
    const char *words[6];
    int count;
    bool is_timed;
} modes[] = {
    {{"--quiet", "--memory", "16MiB", "--registers", "40"}, 5, true},
    {{"--quiet", "--memory", "16MiB", "--registers", "40", "--functional"}, 6, false},
};
enum { MODES = sizeof modes / sizeof *modes };

static void test_registers_are_those_the_kernel_was_given(void **state) {
    (void)state;
    for (int m = 0; m < MODES; m++) {
        Bench bench = make(modes[m].count, modes[m].words);
        assert_int_not_equal(tyto_kernel(bench.module, 0)->registers, 40);
        assert_int_equal(launch(&bench, "store"), TYTO_OK);
        assert_int_equal(tyto_result(bench.simulator, 0).registers, 40);
        assert_reports(&bench, "\"registers\": 40,");
        tyto_free(bench.simulator);
    }
}

static void test_both_modes_fill_the_same_record(void **state) {
    (void)state;
    for (int m = 0; m < MODES; m++) {
        Bench bench = make(modes[m].count, modes[m].words);
        assert_int_equal(launch(&bench, "store"), TYTO_OK);
        assert_int_equal(tyto_result_count(bench.simulator), 1);
        TytoResult result = tyto_result(bench.simulator, 0);
        assert_string_equal(result.kernel, "store");
        assert_int_equal(result.status, TYTO_OK);
        assert_int_equal(result.block[0], 64);
        assert_int_equal(result.warp_instructions, 2 * 6);
        assert_int_equal(result.thread_instructions, 64 * 6);
        assert_int_equal(result.is_timed, modes[m].is_timed);
        assert_int_equal(result.cycles > 0, modes[m].is_timed);
        assert_true(result.time_ps > 0);
        assert_reports(&bench, "\"warp_instructions\": 12,");
        assert_reports(&bench, modes[m].is_timed ? "\"timed\": true" : "\"timed\": false");
        assert_reports(&bench, modes[m].is_timed ? "\"machine\": \"gtx480\"" : "\"machine\": null");
        tyto_free(bench.simulator);
    }
}

static void test_both_modes_name_the_time_outside_the_total(void **state) {
    (void)state;
    for (int m = 0; m < MODES; m++) {
        Bench bench = make(modes[m].count, modes[m].words);
        assert_int_equal(launch(&bench, "store"), TYTO_OK);
        assert_reports(&bench, "\"untimed_seconds\": 0,");
        tyto_free(bench.simulator);
    }
}

static void test_both_modes_call_a_deadlock_stuck(void **state) {
    (void)state;
    for (int m = 0; m < MODES; m++) {
        Bench bench = make(modes[m].count, modes[m].words);
        assert_int_equal(launch(&bench, "stuck"), TYTO_KERNEL_FAILED);
        assert_int_equal(tyto_result(bench.simulator, 0).status, TYTO_KERNEL_FAILED);
        assert_reports(&bench, "\"status\": \"stuck\"");
        tyto_free(bench.simulator);
    }
}

/* Of an output that functional runs do not have, they say so rather than leave it out. */
static void test_functional_runs_write_every_file_or_refuse_it(void **state) {
    (void)state;
    int asked = 0;
    for (int i = 0; i < tyto_option_count(); i++) {
        const TytoOption *option = tyto_option(i);
        if (!(option->traits & TYTO_OPTION_FILE)) continue;
        char message[512], path[] = "/tmp/tyto-results-XXXXXX";
        FILE *file = fdopen(mkstemp(path), "w");
        fclose(file);
        const char *words[] = {"--functional", "--quiet", option->name, path};
        if (tyto_check_options(4, words, message, sizeof message) == TYTO_OK) {
            Bench bench = make(4, words);
            assert_int_equal(launch(&bench, "store"), TYTO_OK);
            assert_int_equal(tyto_finish(bench.simulator, "test"), TYTO_OK);
            tyto_free(bench.simulator);
            file = fopen(path, "r");
            if (fgetc(file) == EOF) fail_msg("%s wrote nothing", option->name);
            fclose(file);
        } else if (!strstr(message, option->name) || !strstr(message, "timing")) {
            fail_msg("%s: %s", option->name, message);
        }
        remove(path);
        asked++;
    }
    assert_int_equal(asked, 7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_registers_are_those_the_kernel_was_given),
        cmocka_unit_test(test_both_modes_fill_the_same_record),
        cmocka_unit_test(test_both_modes_name_the_time_outside_the_total),
        cmocka_unit_test(test_both_modes_call_a_deadlock_stuck),
        cmocka_unit_test(test_functional_runs_write_every_file_or_refuse_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
