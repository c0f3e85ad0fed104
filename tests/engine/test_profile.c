/* The profile of a run: it adds up to the counters, changes none of them, and has the values that
 * can be worked out by hand for small kernels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "../every.h"
#include "engine/observe/watch.h"
#include "timed.h"

#define HEADER ".version 7.0\n.target sm_70\n.address_size 64\n"

/* Each thread loads, waits at a barrier, diverges, adds to a word, writes through shared memory and
 * stores, which gives counts for most columns. */
static const char mixed[] =
    HEADER ".file 1 \"mixed.cu\"\n"
           ".visible .entry mixed(.param .u64 buffer)\n{\n.reg .b64 %d<8>;\n.reg .b32 %r<8>;\n"
           ".reg .pred %p;\n.shared .align 4 .b8 room[4096];\n"
           ".loc 1 10 1\n"
           "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmad.lo.u32 %r3, %r2, 256, %r1;\n"
           "ld.param.u64 %d1, [buffer];\nmul.wide.u32 %d2, %r3, 4;\nadd.u64 %d3, %d1, %d2;\n"
           ".loc 1 11 1\n"
           "ld.global.u32 %r4, [%d3];\nadd.u32 %r4, %r4, 1;\n"
           ".loc 1 12 1\n"
           "mul.wide.u32 %d4, %r1, 128;\nmov.u64 %d5, room;\nshl.b32 %r5, %r1, 7;\n"
           "and.b32 %r5, %r5, 4095;\ncvt.u64.u32 %d6, %r5;\nadd.u64 %d5, %d5, %d6;\n"
           "st.shared.u32 [%d5], %r4;\nbar.sync 0;\nld.shared.u32 %r6, [%d5];\n"
           ".loc 1 13 1\n"
           "and.b32 %r7, %r1, 1;\nsetp.eq.u32 %p, %r7, 0;\n@%p bra even;\n"
           "atom.global.add.u32 %r6, [%d1], 1;\nbra done;\neven:\nadd.u32 %r6, %r6, %r4;\ndone:\n"
           ".loc 1 14 1\n"
           "st.global.u32 [%d3], %r6;\nret;\n}\n";

typedef struct Run {
    Timed timed;
    Watch watch;
    Profile *profile;
    GpuResult result;
} Run;

/* Like timed_start, with a profile unless `is_bare`. */
static void start(Run *run, const char *machine, const char *sets, const char *policy, bool is_bare,
                  bool is_awake) {
    timed_start(&run->timed, machine, sets, policy);
    gpu_free(run->timed.gpu);
    run->profile = is_bare ? NULL : profile_new();
    run->watch = (Watch){.profile = run->profile};
    GpuOptions options = {.machine = run->timed.config,
                          .scheduler = run->timed.policy,
                          .watch = &run->watch,
                          .never_sleeps = is_awake};
    run->timed.gpu = gpu_new(&options, run->timed.diag);
    assert_non_null(run->timed.gpu);
}

static void stop(Run *run) {
    profile_free(run->profile);
    timed_stop(&run->timed);
}

static void check(const Run *run) {
    Text why = {0};
    if (!profile_check(run->profile, &why)) fail_msg("%s", text_string(&why));
    text_free(&why);
    if (run->timed.config->sm.scheduler.issue_interval > 1) return;
    for (uint32_t i = 0; i < run->profile->count; i++) {
        const ProfileKernel *kernel = &run->profile->kernels[i];
        if (!kernel->is_complete) continue;
        assert_int_equal(profile_total(kernel).of[PROFILE_cycles_issued],
                         counters_get(&kernel->counters, COUNTER_issued));
    }
}

static void run_mixed(Run *run, uint32_t ctas) {
    uint64_t buffer = timed_buffer(&run->timed, NULL, 256 * 64);
    run->result = timed_run(&run->timed, mixed, ctas, 256, &buffer);
}

static Every machines, policies;

static void expect_sums(const char *machine, const char *sets, const char *policy) {
    Run run;
    start(&run, machine, sets, policy, false, false);
    run_mixed(&run, 40);
    run_mixed(&run, 3); /* another module with the same text */
    assert_int_equal(run.profile->count, 2);
    check(&run);
    stop(&run);
}

static void the_sums_are_the_counters(void **state) {
    (void)state;
    for (int i = 0; i < machines.count || i < policies.count; i++)
        expect_sums(every_at(&machines, i), "", every_at(&policies, i));
    expect_sums("gtx480", "lsu.loads_block=yes", "two-level");
    expect_sums("gtx480", "l1d.mshrs=1", "swl:limit=2");
    expect_sums("gtx480", "fetch.ideal=yes", "lrr");
}

static void a_profile_changes_no_counter(void **state) {
    (void)state;
    for (int i = 0; i < machines.count || i < policies.count; i++) {
        const char *machine = every_at(&machines, i), *policy = every_at(&policies, i);
        Run with, without;
        start(&with, machine, "", policy, false, false);
        start(&without, machine, "", policy, true, false);
        run_mixed(&with, 40);
        run_mixed(&without, 40);
        assert_memory_equal(&with.result.counters, &without.result.counters, sizeof(Counters));
        stop(&with);
        stop(&without);
    }
}

static char *json_of(const Profile *profile) {
    Text out = {0};
    Json json;
    json_begin(&json, &out);
    profile_write_json(profile, &json);
    return out.bytes;
}

static void sleep_changes_no_profile(void **state) {
    (void)state;
    for (int i = 0; i < machines.count || i < policies.count; i++) {
        const char *machine = every_at(&machines, i), *policy = every_at(&policies, i);
        Run asleep, awake;
        start(&asleep, machine, "", policy, false, false);
        start(&awake, machine, "", policy, false, true);
        run_mixed(&asleep, 40);
        run_mixed(&awake, 40);
        char *one = json_of(asleep.profile), *other = json_of(awake.profile);
        assert_string_equal(one, other);
        free(one);
        free(other);
        stop(&asleep);
        stop(&awake);
    }
}

/* The counts of the profile line whose PTX begins with these words. */
static const uint64_t *counts_of(const Run *run, const char *words) {
    const ProfileKernel *kernel = &run->profile->kernels[0];
    for (uint32_t i = 0; i < kernel->line_count; i++)
        if (strncmp(kernel->lines[i].text, words, strlen(words)) == 0)
            return kernel->lines[i].counts.of;
    fail_msg("no line begins with %s", words);
    return NULL;
}

static void each_line_has_its_own(void **state) {
    (void)state;
    Run run;
    start(&run, "gtx480", "", "lrr", false, false);
    run_mixed(&run, 1);
    const uint64_t *load = counts_of(&run, "ld.global"), *store = counts_of(&run, "st.shared");
    assert_int_equal(load[PROFILE_issues], 8);
    assert_int_equal(load[PROFILE_lanes], 256);
    assert_int_equal(load[PROFILE_requests], 8);
    assert_int_equal(load[PROFILE_accesses], 8); /* 128 bytes each */
    assert_int_equal(load[PROFILE_least_accesses], 8);
    assert_int_equal(load[PROFILE_l1d_misses], 8);
    assert_int_equal(load[PROFILE_reads], 8);
    assert_int_equal(load[PROFILE_l2_hits] + load[PROFILE_l2_pending_hits] +
                         load[PROFILE_l2_misses],
                     32); /* four sectors each */
    assert_int_equal(store[PROFILE_shared_instructions], 8);
    assert_int_equal(store[PROFILE_shared_cycles], 8 * 32); /* all lanes in one bank */
    assert_int_equal(store[PROFILE_least_shared_cycles], 8);
    assert_int_equal(counts_of(&run, "@%p bra")[PROFILE_divergent], 8);
    assert_int_equal(counts_of(&run, "atom")[PROFILE_lanes], 128);
    assert_int_equal(counts_of(&run, "atom")[PROFILE_accesses], 128); /* to one word, one by one */
    assert_true(run.result.counters.l2_atomics_in_turn > 0);
    assert_true(run.result.counters.l2_atomics_in_turn < 128);
    /* the instruction that reads the loaded value waits for it; the wait at the barrier belongs to
     * the instruction after it */
    assert_true(counts_of(&run, "add.u32 %r4")[PROFILE_cycles_memory] > 8 * 100);
    assert_int_equal(load[PROFILE_cycles_memory], 0);
    assert_true(counts_of(&run, "ld.shared")[PROFILE_cycles_barrier] > 0);
    assert_int_equal(counts_of(&run, "bar.sync")[PROFILE_cycles_barrier], 0);
    stop(&run);
}

static const char chain[] =
    HEADER ".visible .entry chain()\n{\n.reg .b32 %r<4>;\nmov.u32 %r1, 5;\nadd.u32 %r2, %r1, 1;\n"
           "add.u32 %r3, %r2, 1;\nret;\n}\n";

static void a_warp_may_leave_while_its_issue_counts(void **state) {
    (void)state;
    Run run;
    start(&run, "gtx480", "scheduler.issue_interval=32", "lrr", false, false);
    run.result = timed_run(&run.timed, chain, 40, 256, NULL);
    ProfileCounts total = profile_total(&run.profile->kernels[0]);
    assert_true(total.of[PROFILE_cycles_issued] < run.result.counters.issued);
    check(&run);
    stop(&run);
}

static void one_warp_waits_for_each_result(void **state) {
    (void)state;
    Run run;
    start(&run, "gtx480", "fetch.ideal=yes", "lrr", false, false);
    timed_run(&run.timed, chain, 1, 32, NULL);
    const uint64_t *middle = counts_of(&run, "add.u32 %r2"), *last = counts_of(&run, "add.u32 %r3");
    /* docs/sm.md: if an instruction issues in t, a dependent one issues in t + 6 + latency */
    uint64_t step = 6 + run.timed.config->sm.ops[ISA_CLASS_INT_ADD].latency;
    assert_int_equal(middle[PROFILE_cycles_issued], 1);
    assert_int_equal(last[PROFILE_cycles_issued], 1);
    assert_int_equal(last[PROFILE_cycles_result], step - 1);
    assert_int_equal(middle[PROFILE_completed], 1);
    assert_in_range(middle[PROFILE_latency_cycles], step - 1, step);
    stop(&run);
}

static void lines_of_the_source_add_up(void **state) {
    (void)state;
    Run run;
    start(&run, "gtx480", "", "lrr", false, false);
    run_mixed(&run, 2);
    uint32_t count;
    ProfileSource *sources = profile_sources(&run.profile->kernels[0], &run.profile->files, &count);
    ProfileCounts sum = {0}, total = profile_total(&run.profile->kernels[0]);
    assert_int_equal(count, 5);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(sources[i].line, 10 + i);
        assert_string_equal(sources[i].file, "mixed.cu");
        assert_null(sources[i].text); /* the file does not exist */
        profile_add(&sum, &sources[i].counts);
    }
    profile_add(&sum, &run.profile->kernels[0].nobody);
    assert_memory_equal(&sum, &total, sizeof sum);
    assert_int_equal(sources[1].counts.of[PROFILE_l1d_misses], 16);
    profile_sources_free(sources, count);
    stop(&run);
}

/* The text of line 2 of the source file `path`, as shown by a profile that may show files below
 * `folder`. Stores whether the file is outside of that folder. */
static char *text_beside(const char *folder, const char *path, bool *is_outside) {
    Profile *profile = profile_new();
    ProfileKernel *kernel = profile_kernel(profile, 1, "k", "k.ptx");
    bool is_new;
    ProfileLine *line = profile_line(kernel, 0, &is_new);
    line->source = strdup(path);
    line->source_line = 2;
    assert_true(source_files_allow(&profile->files, folder));
    uint32_t count;
    ProfileSource *sources = profile_sources(kernel, &profile->files, &count);
    assert_int_equal(count, 1);
    char *text = sources[0].text;
    sources[0].text = NULL;
    *is_outside = sources[0].is_outside;
    profile_sources_free(sources, count);
    profile_free(profile);
    return text;
}

/* Files of a folder, and what a profile shows as line 2 of each. */
static void the_source_is_shown_below_allowed_folders(void **state) {
    (void)state;
    static const char text[] = "one\n  two \t\nthree";
    static const struct {
        const char *folder, *name; /* names without a leading '/' are relative */
        bool is_shown, is_outside;
    } cases[] = {
        {"in", "/in/a.cu", true, false},
        {"in", "a.cu", true, false},
        {"in", "deep/b.cu", true, false},
        {"in", "../out/c.cu", false, true},
        {"in", "/out/c.cu", false, true},
        {"in", "/in/../out/c.cu", false, true},
        {"in", "/in/to_out.cu", false, true} /* a symbolic link */,
        {"in", "/inner/d.cu", false, true},
        {"in", "/in/.hidden/e.cu", false, true},
        {"in", "/in/.e.cu", false, true},
        {"in/.hidden", "e.cu", true, false},
        {"in", "/in/pipe", false, false} /* no process writes to it */,
        {"in", "/in", false, true},
        {"in", "/in/deep", false, false},
        {"in", "/in/none.cu", false, false},
        {"in", "none.cu", false, false},
    };
    static const char *const files[] = {"in/a.cu",    "in/deep/b.cu",    "out/c.cu",
                                        "inner/d.cu", "in/.hidden/e.cu", "in/.e.cu"};
    static const char *const folders[] = {"in", "in/deep", "out", "inner", "in/.hidden"};
    char root[] = "/tmp/tyto-profile-XXXXXX", path[128], other[128];
    bool is_outside;
    assert_non_null(mkdtemp(root));
#define PATH(to, name) (snprintf(to, sizeof to, "%s/%s", root, name), to)
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        assert_int_equal(mkdir(PATH(path, folders[i]), 0700), 0);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        assert_true(text_write_file(PATH(path, files[i]), text, strlen(text)));
    assert_int_equal(mkfifo(PATH(path, "in/pipe"), 0600), 0);
    assert_int_equal(symlink(PATH(other, "out/c.cu"), PATH(path, "in/to_out.cu")), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const bool is_relative = *cases[i].name != '/';
        char *shown =
            text_beside(PATH(other, cases[i].folder),
                        is_relative ? cases[i].name : PATH(path, cases[i].name + 1), &is_outside);
        print_message("%s from %s\n", cases[i].name, cases[i].folder);
        assert_int_equal(shown != NULL, cases[i].is_shown);
        assert_int_equal(is_outside, cases[i].is_outside);
        if (shown) assert_string_equal(shown, "two");
        free(shown);
    }
    assert_null(text_beside("/", "/dev/zero", &is_outside));
    assert_false(is_outside);
    unlink(PATH(path, "in/pipe"));
    unlink(PATH(path, "in/to_out.cu"));
    for (size_t i = sizeof files / sizeof *files; i-- > 0;)
        unlink(PATH(path, files[i]));
    for (size_t i = sizeof folders / sizeof *folders; i-- > 0;)
        rmdir(PATH(path, folders[i]));
#undef PATH
    rmdir(root);
}

static void a_folder_that_is_not_there_is_refused(void **state) {
    (void)state;
    SourceFiles files = {0};
    assert_false(source_files_allow(&files, "/tmp/no such folder"));
    assert_int_equal(files.count, 0);
    source_files_free(&files);
}

static void a_launch_that_ends_early_says_where_its_warps_stand(void **state) {
    (void)state;
    static const char spin[] = HEADER ".visible .entry spin()\n{\n.reg .b32 %v;\nagain:\n"
                                      "add.u32 %v, %v, 1;\nbra again;\n}\n";
    Run run;
    start(&run, "gtx480", "", "lrr", false, false);
    gpu_options(run.timed.gpu)->instruction_limit = 5000;
    GpuImage image = {"spin.ptx", spin, sizeof spin - 1};
    GpuModule *module = gpu_load(run.timed.gpu, &image, 1, run.timed.diag);
    GpuLaunch launch = {.module = module, .grid = {15, 1, 1}, .block = {64, 1, 1}};
    gpu_launch(run.timed.gpu, &launch, &run.result);
    assert_int_equal(run.result.status, GPU_FAULT);
    assert_non_null(strstr(run.result.message, " before spin.ptx:"));
    const ProfileKernel *kernel = &run.profile->kernels[0];
    uint32_t warps = 0;
    for (uint32_t i = 0; i < kernel->wait_count; i++)
        warps += kernel->waits[i].warps;
    assert_int_equal(warps, 30);
    check(&run);
    gpu_unload(module);
    stop(&run);
}

int main(void) {
    every_machine(&machines);
    every_scheduler(&policies);
    every_thin(&machines), every_thin(&policies);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sums_are_the_counters),
        cmocka_unit_test(a_profile_changes_no_counter),
        cmocka_unit_test(sleep_changes_no_profile),
        cmocka_unit_test(each_line_has_its_own),
        cmocka_unit_test(a_warp_may_leave_while_its_issue_counts),
        cmocka_unit_test(one_warp_waits_for_each_result),
        cmocka_unit_test(lines_of_the_source_add_up),
        cmocka_unit_test(the_source_is_shown_below_allowed_folders),
        cmocka_unit_test(a_folder_that_is_not_there_is_refused),
        cmocka_unit_test(a_launch_that_ends_early_says_where_its_warps_stand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
