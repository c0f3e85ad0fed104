/* The results of a simulator's launches: one record, read as results, JSON and text; the same with
 * and without timing. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "tyto/tyto.h"

/* store: out[thread] = thread. stuck: both warps wait for 128 threads, more than there are. */
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

/* Checks that the JSON of the run contains `part`. */
static void assert_reports(const Bench *bench, const char *part) {
    char *json = tyto_report_json(bench->simulator, "test");
    if (!strstr(json, part)) fail_msg("expected %s in:\n%s", part, json);
    free(json);
}

/* Options for the same launches with and without timing. */
static const struct Mode {
    const char *words[8];
    int count;
    bool is_timed;
} modes[] = {
    {{"--quiet", "--memory", "16MiB", "--registers", "40", "--code=ptx"}, 6, true},
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

static void test_both_modes_tell_all_of_what_has_ended(void **state) {
    (void)state;
    for (int m = 0; m < MODES; m++) {
        Bench bench = make(modes[m].count, modes[m].words);
        assert_int_equal(launch(&bench, "store"), TYTO_OK);
        TytoProgress progress = tyto_progress(bench.simulator);
        assert_int_equal(progress.done_blocks, progress.blocks);
        assert_true(progress.warp_instructions > 0);
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
        assert_reports(&bench, "\"machine\": \"" TYTO_DEFAULT_MACHINE "\"");
        assert_reports(&bench, modes[m].is_timed ? "\"scheduler\": \"" : "\"scheduler\": null");
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

/* For an output that functional runs do not have, they say so instead of omitting it. */
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
    assert_int_equal(asked, 9);
}

/* ---- Counters by name ---- */

static void test_every_counter_is_found_by_its_name(void **state) {
    (void)state;
    assert_true(tyto_counter_count() > 140);
    for (int i = 0; i < tyto_counter_count(); i++) {
        const TytoCounter *counter = tyto_counter(i);
        assert_int_equal(tyto_find_counter(counter->name), i);
        assert_true(strlen(counter->unit) && strlen(counter->meaning));
    }
    assert_int_equal(tyto_find_counter("l1d_mises"), -1);
    assert_int_equal(tyto_find_counter("fetch_latency"), tyto_find_counter("load_latency"));
    assert_true(tyto_find_counter("load_latency") >= 0);
    static const struct {
        const char *name, *unit;
        TytoCounterKind kind;
    } rows[] = {{"cycles", "SM cycles", TYTO_SUM},
                {"dram_queue_max", "requests", TYTO_MAX},
                {"BLP", "banks", TYTO_RATIO}};
    for (int i = 0; i < 3; i++) {
        const TytoCounter *counter = tyto_counter(tyto_find_counter(rows[i].name));
        assert_string_equal(counter->unit, rows[i].unit);
        assert_int_equal(counter->kind, rows[i].kind);
    }
}

static void test_values_are_told_as_in_a_report(void **state) {
    (void)state;
    static const struct {
        const char *counter;
        double value;
        const char *text;
    } rows[] = {{"cycles", 0, "0"},
                {"cycles", 1234567, "1,234,567"},
                {"cycles", 0x1p53, "9,007,199,254,740,992"},
                {"cycles", NAN, "-"},
                {"l1d_miss_rate", 0.1234, "12.3%"},
                {"l1d_miss_rate", NAN, "-"},
                {"ipc", 3.14159, "3.14"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[64];
        tyto_format_value(tyto_find_counter(rows[i].counter), rows[i].value, text, sizeof text);
        assert_string_equal(text, rows[i].text);
    }
    char cut[4];
    tyto_format_value(tyto_find_counter("cycles"), 1234567, cut, sizeof cut);
    assert_string_equal(cut, "1,2");
}

static TytoValue value(const Bench *bench, int launch, const char *name) {
    return tyto_value(bench->simulator, launch, tyto_find_counter(name));
}

/* Checks a counter in the JSON of `bench`, in the part that begins with `section`, against its
 * value. */
static void assert_same_in_json(const Bench *bench, const char *section, int launch, int counter) {
    char *json = tyto_report_json(bench->simulator, "test"), key[128];
    snprintf(key, sizeof key, "\"%s\": ", tyto_counter(counter)->name);
    const char *at = strstr(strstr(json, section), key);
    TytoValue known = tyto_value(bench->simulator, launch, counter);
    assert_non_null(at);
    at += strlen(key);
    if (!known.is_known) {
        assert_memory_equal(at, "null", 4);
        assert_true(isnan(known.value));
        assert_int_equal(known.count, 0);
    } else if (tyto_counter(counter)->kind == TYTO_RATIO) {
        assert_true(strtod(at, NULL) == known.value);
        assert_int_equal(known.count, 0);
    } else {
        assert_int_equal(strtoull(at, NULL, 10), known.count);
        assert_true((double)known.count == known.value);
    }
    free(json);
}

static void test_values_are_those_of_the_json(void **state) {
    (void)state;
    Bench bench = make(modes[0].count, modes[0].words);
    assert_int_equal(launch(&bench, "store"), TYTO_OK);
    assert_int_equal(launch(&bench, "store"), TYTO_OK);
    for (int i = 0; i < tyto_counter_count(); i++) {
        assert_same_in_json(&bench, "\"ctas_per_sm\"", 0, i);
        assert_same_in_json(&bench, "\"total\"", TYTO_TOTAL, i);
    }
    tyto_free(bench.simulator);
}

static void test_a_launch_alone_is_as_in_the_json_of_all(void **state) {
    (void)state;
    Bench bench = make(modes[0].count, modes[0].words);
    for (int i = 0; i < 3; i++)
        assert_int_equal(launch(&bench, "store"), TYTO_OK);
    char *all = tyto_report_json(bench.simulator, "test");
    const char *entry = strstr(all, "\"kernel\": ");
    for (int i = 0; i < 3; i++) {
        assert_non_null(entry);
        char *alone = tyto_launch_json(bench.simulator, "test", i);
        const char *own = strstr(alone, "\"kernel\": "), *end = strstr(own, "\n    }");
        assert_memory_equal(own, entry, (size_t)(end - own));
        assert_null(strstr(end, "\"kernel\": "));
        free(alone);
        entry = strstr(entry + 1, "\"kernel\": ");
    }
    assert_null(entry);
    free(all);
    tyto_free(bench.simulator);
}

static void test_values_add_up_to_the_total(void **state) {
    (void)state;
    static const char *const names[] = {"cycles", "warp_instructions", "l1d_accesses",
                                        "request_packets_sent", "dram_ticks"};
    Bench bench = make(modes[0].count, modes[0].words);
    for (int i = 0; i < 3; i++)
        assert_int_equal(launch(&bench, "store"), TYTO_OK);
    for (int n = 0; n < 5; n++) {
        uint64_t sum = 0;
        for (int i = 0; i < 3; i++)
            sum += value(&bench, i, names[n]).count;
        assert_true(sum > 0);
        assert_int_equal(value(&bench, TYTO_TOTAL, names[n]).count, sum);
    }
    assert_int_equal(value(&bench, TYTO_TOTAL, "kernels").count, 3);
    /* no launch counts what the previous ones did */
    assert_int_equal(value(&bench, 2, "request_packets_sent").count,
                     value(&bench, 1, "request_packets_sent").count);
    tyto_free(bench.simulator);
}

static void test_without_timing_only_instructions_are_known(void **state) {
    (void)state;
    Bench bench = make(modes[1].count, modes[1].words);
    assert_int_equal(launch(&bench, "store"), TYTO_OK);
    for (int i = 0; i < tyto_counter_count(); i++) {
        const char *name = tyto_counter(i)->name;
        bool is_instructions =
            strcmp(name, "warp_instructions") == 0 || strcmp(name, "thread_instructions") == 0;
        assert_int_equal(tyto_value(bench.simulator, 0, i).is_known, is_instructions);
        assert_int_equal(tyto_value(bench.simulator, TYTO_TOTAL, i).is_known, is_instructions);
    }
    assert_int_equal(value(&bench, 0, "warp_instructions").count, 12);
    assert_int_equal(value(&bench, TYTO_TOTAL, "thread_instructions").count, 384);
    tyto_free(bench.simulator);
}

/* ---- Misuse ---- */

static void misuse_option(const Bench *bench, int i) { (void)bench, tyto_option(i); }
static void misuse_kernel(const Bench *bench, int i) { tyto_kernel(bench->module, i); }
static void misuse_flow(const Bench *bench, int i) { free(tyto_control_flow(bench->module, i)); }
static void misuse_result(const Bench *bench, int i) { tyto_result(bench->simulator, i); }
static void misuse_machine(const Bench *bench, int i) { (void)bench, tyto_machine_name(i); }
static void misuse_title(const Bench *bench, int i) { (void)bench, free(tyto_machine_title(i)); }
static void misuse_counter(const Bench *bench, int i) { (void)bench, tyto_counter(i); }
static void misuse_value(const Bench *bench, int i) { tyto_value(bench->simulator, 0, i); }
static void misuse_value_of(const Bench *bench, int i) { tyto_value(bench->simulator, i, 0); }
static void misuse_launch(const Bench *bench, int i) {
    TytoLaunch request = {.module = bench->module, .kernel = i, .grid = {1, 1, 1}};
    tyto_launch(bench->simulator, &request);
}

/* Calls `call` with index i in a child process. `said` receives its standard error; returns whether
 * it aborts. */
static bool aborts(void (*call)(const Bench *bench, int i), const Bench *bench, int i, char *said,
                   size_t size) {
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        call(bench, i);
        _exit(0);
    }
    close(ends[1]);
    size_t length = 0;
    for (ssize_t got; (got = read(ends[0], said + length, size - 1 - length)) > 0;)
        length += (size_t)got;
    said[length] = '\0';
    close(ends[0]);
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

/* The last index is accepted. The next one, and the one below the first, end the process with a
 * line that names the call and the index. */
static void test_an_index_out_of_range_is_told_and_ends_the_process(void **state) {
    (void)state;
    Bench bench = make(modes[1].count, modes[1].words);
    assert_int_equal(launch(&bench, "store"), TYTO_OK);
    const struct {
        const char *name;
        void (*call)(const Bench *bench, int i);
        int lowest, count;
    } calls[] = {
        {"tyto_option", misuse_option, 0, tyto_option_count()},
        {"tyto_kernel", misuse_kernel, 0, tyto_kernel_count(bench.module)},
        {"tyto_control_flow", misuse_flow, -1, tyto_kernel_count(bench.module)},
        {"tyto_launch", misuse_launch, 0, tyto_kernel_count(bench.module)},
        {"tyto_result", misuse_result, 0, tyto_result_count(bench.simulator)},
        {"tyto_machine_name", misuse_machine, 0, tyto_machine_count()},
        {"tyto_machine_title", misuse_title, 0, tyto_machine_count()},
        {"tyto_counter", misuse_counter, 0, tyto_counter_count()},
        {"tyto_value", misuse_value, 0, tyto_counter_count()},
        {"tyto_value", misuse_value_of, -1, tyto_result_count(bench.simulator)},
    };
    for (size_t c = 0; c < sizeof calls / sizeof *calls; c++) {
        const int wrong[] = {calls[c].lowest - 1, calls[c].count};
        char said[512], part[64];
        for (int w = 0; w < 2; w++) {
            if (!aborts(calls[c].call, &bench, wrong[w], said, sizeof said))
                fail_msg("%s(%d) goes on", calls[c].name, wrong[w]);
            snprintf(part, sizeof part, " %d, ", wrong[w]);
            if (!strstr(said, calls[c].name) || !strstr(said, part)) fail_msg("%s", said);
        }
        assert_false(aborts(calls[c].call, &bench, calls[c].count - 1, said, sizeof said));
        assert_string_equal(said, "");
    }
    tyto_free(bench.simulator);
}

static void test_a_kernel_of_another_simulator_is_refused(void **state) {
    (void)state;
    Bench mine = make(modes[1].count, modes[1].words), other = make(modes[1].count, modes[1].words);
    Bench mixed = {mine.simulator, other.module, mine.out};
    assert_int_equal(launch(&mixed, "store"), TYTO_BAD_LAUNCH);
    assert_non_null(strstr(tyto_message(mine.simulator), "another simulator"));
    tyto_free(mine.simulator);
    tyto_free(other.simulator);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_registers_are_those_the_kernel_was_given),
        cmocka_unit_test(test_both_modes_tell_all_of_what_has_ended),
        cmocka_unit_test(test_both_modes_fill_the_same_record),
        cmocka_unit_test(test_both_modes_name_the_time_outside_the_total),
        cmocka_unit_test(test_both_modes_call_a_deadlock_stuck),
        cmocka_unit_test(test_functional_runs_write_every_file_or_refuse_it),
        cmocka_unit_test(test_every_counter_is_found_by_its_name),
        cmocka_unit_test(test_values_are_told_as_in_a_report),
        cmocka_unit_test(test_values_are_those_of_the_json),
        cmocka_unit_test(test_a_launch_alone_is_as_in_the_json_of_all),
        cmocka_unit_test(test_values_add_up_to_the_total),
        cmocka_unit_test(test_without_timing_only_instructions_are_known),
        cmocka_unit_test(test_an_index_out_of_range_is_told_and_ends_the_process),
        cmocka_unit_test(test_a_kernel_of_another_simulator_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
