/* cp.async, mbarrier, cache policies and advice.
 *
 * Every form of cp.async fills cells of shared memory, and plain loads copy these to the output.
 * mbarriers go through phases; the test computes their states, counts and results itself. */
#include "trial.h"

#include <stdio.h>
#include <string.h>

enum { CELL = 16, CELL_WORDS = CELL / 8 };

#define SHARED_CELLS ".shared .align 16 .b8 cells[1536];\n"

/* ---- cp.async ---- */

typedef enum Extra { EXTRA_NONE, EXTRA_SIZE, EXTRA_IGNORE, EXTRAS } Extra;

/* Bytes that a thread reads in forms with a variable size: from 0 up to the full size. */
static int size_of(int thread, int bytes) { return thread % (bytes + 1); }

static void write_copy(Trial *trial, const char *spelling, int bytes, Extra extra) {
    Text *ptx = &trial->ptx;
    const bool has_hint = strstr(spelling, "cache_hint") != NULL;
    trial_begin(trial, spelling);
    trial_begin_kernel(trial, SHARED_CELLS);
    text_printf(ptx,
                ".reg .b64 word, policy;\n.reg .b32 cell, size;\n.reg .pred ignore;\n"
                "mov.b64 policy, 0;\nmov.u32 cell, cells;\nshl.b32 size, tid, 4;\n"
                "add.u32 cell, cell, size;\nmad.wide.u32 in, tid, 16, in;\n"
                "mad.wide.u32 out, tid, 16, out;\nnot.b64 word, 0;\n"
                "st.shared.b64 [cell], word;\nst.shared.b64 [cell+8], word;\n"
                "rem.u32 size, tid, %d;\nand.b32 t, tid, 1;\nsetp.ne.u32 ignore, t, 0;\n",
                bytes + 1);
    text_printf(ptx, "@guard %s [cell], [in], %d", spelling, bytes);
    if (extra == EXTRA_SIZE) text_add(ptx, ", size");
    if (extra == EXTRA_IGNORE) text_add(ptx, bytes == 8 ? ", !ignore" : ", ignore");
    text_printf(ptx, "%s;\n", has_hint ? ", policy" : "");
    text_add(ptx, bytes == 4 ? "cp.async.wait_all;\n"
                             : "cp.async.commit_group;\ncp.async.wait_group 0;\n");
    for (int at = 0; at < CELL; at += 8)
        text_printf(ptx, "ld.shared.b64 word, [cell+%d];\nst.global.b64 [out+%d], word;\n", at, at);
}

static void run_copy(void *user, const char *spelling) {
    Trial *trial = user;
    if (!harness_wants(trial->harness, spelling)) return;
    const bool is_l2_only = strstr(spelling, ".cg") != NULL;
    for (int bytes = is_l2_only ? 16 : 4; bytes <= 16; bytes *= 2)
        for (Extra extra = EXTRA_NONE; extra < EXTRAS; extra++) {
            write_copy(trial, spelling, bytes, extra);
            trial->slots = TRIAL_THREADS * CELL_WORDS;
            for (int thread = 0; thread < TRIAL_THREADS; thread++) {
                uint8_t *cell = (uint8_t *)&trial->expected[thread * CELL_WORDS];
                const uint8_t *in = (const uint8_t *)&trial->in[thread * CELL_WORDS];
                const bool is_ignored = (thread & 1) != (bytes == 8);
                memset(cell, 0xff, CELL);
                if (!trial_guards(thread)) continue;
                memset(cell, 0, (size_t)bytes);
                if (extra == EXTRA_SIZE) memcpy(cell, in, (size_t)size_of(thread, bytes));
                else if (extra == EXTRA_NONE || !is_ignored) memcpy(cell, in, (size_t)bytes);
            }
            trial_run(trial);
        }
    harness_count_form(trial->harness, "cp.async.wait_all");
    harness_count_form(trial->harness, "cp.async.commit_group");
    harness_count_form(trial->harness, "cp.async.wait_group");
}

/* A copy that must fail: it is misaligned, or reads more bytes than it writes. */
static void run_bad_copy(Trial *trial, const char *operands) {
    trial_begin(trial, "cp.async.ca.shared.global");
    trial_begin_kernel(trial, SHARED_CELLS);
    text_printf(&trial->ptx,
                ".reg .b32 cell;\nmov.u32 cell, cells;\ncp.async.ca.shared.global %s;\n", operands);
    trial->faults = true;
    trial_run(trial);
}

/* ---- mbarrier ---- */

/* One thread takes a barrier for 3 arrivals through its whole life; each step stores one word. */
typedef struct Life {
    Trial *trial;
    const char *space;
    int steps;
} Life;

static void note(Life *life, const char *text, uint64_t expected) {
    text_printf(&life->trial->ptx, "%s\nst.global.b64 [out+%d], word;\n", text, 8 * life->steps);
    life->trial->expected[life->steps++] = expected;
}

/* Adds both kinds of waits for the phase of `state`, whose parity is `parity`. */
static void note_waits(Life *life, const char *order, const char *which, int parity, bool is_over) {
    Text *ptx = &life->trial->ptx;
    const char *const kinds[] = {"test_wait", "try_wait"};
    for (int kind = 0; kind < 2; kind++) {
        char spelling[2][FORM_TEXT_BYTES];
        snprintf(spelling[0], sizeof *spelling, "mbarrier.%s%s%s.b64", kinds[kind], order,
                 life->space);
        snprintf(spelling[1], sizeof *spelling, "mbarrier.%s.parity%s%s.b64", kinds[kind], order,
                 life->space);
        text_printf(ptx, "%s done, [bar], %s;\n", spelling[0], which);
        note(life, "selp.u64 word, 1, 0, done;", is_over);
        text_printf(ptx, "%s done, [bar], %d%s;\n", spelling[1], parity, kind ? ", 100" : "");
        note(life, "selp.u64 word, 1, 0, done;", is_over);
        harness_count_form(life->trial->harness, spelling[0]);
        harness_count_form(life->trial->harness, spelling[1]);
    }
}

static void arrive(Life *life, const char *what, const char *order, const char *state,
                   const char *count, int pending) {
    char spelling[FORM_TEXT_BYTES];
    snprintf(spelling, sizeof spelling, "mbarrier.%s%s%s.b64", what, order, life->space);
    text_printf(&life->trial->ptx, "%s %s, [bar]%s;\n", spelling, state, count);
    harness_count_form(life->trial->harness, spelling);
    if (*state == '_') return;
    text_printf(&life->trial->ptx, "mbarrier.pending_count.b64 t, %s;\n", state);
    note(life, "cvt.u64.u32 word, t;", (uint64_t)pending);
}

static void run_life(Trial *trial, const char *space, const char *release, const char *acquire) {
    Life life = {trial, space, 0};
    char first[FORM_TEXT_BYTES], spelling[FORM_TEXT_BYTES];
    snprintf(first, sizeof first, "mbarrier.init%s.b64", space);
    Text *ptx = &trial->ptx;
    trial_begin(trial, first); /* trial_begin keeps the pointer */
    trial->shape.block[0] = 1;
    trial_begin_kernel(trial, ".shared .align 8 .b64 barrier;\n");
    text_add(ptx, ".reg .b64 word, bar, s<8>;\n.reg .pred done;\nmov.u64 bar, barrier;\n");
    if (!*space) text_add(ptx, "cvta.shared.u64 bar, bar;\n");
    text_printf(ptx, "%s [bar], 3;\n", first);
    arrive(&life, "arrive", release, "s0", "", 3);
    note_waits(&life, acquire, "s0", 0, false);
    arrive(&life, "arrive.noComplete", release, "s1", ", 1", 2);
    arrive(&life, "arrive", release, "_", "", 0);
    note_waits(&life, acquire, "s0", 0, true);
    arrive(&life, "arrive_drop", release, "s2", "", 3); /* from now on it expects two arrivals */
    arrive(&life, "arrive_drop.noComplete", release, "s3", ", 1", 2); /* and now one */
    note_waits(&life, acquire, "s2", 1, false);
    arrive(&life, "arrive", release, "s4", ", 1", 1);
    note_waits(&life, acquire, "s2", 1, true);
    arrive(&life, "arrive", release, "s5", "", 1);
    note_waits(&life, acquire, "s5", 0, true);
    snprintf(spelling, sizeof spelling, "cp.async.mbarrier.arrive.noinc%s.b64", space);
    text_printf(ptx, "%s [bar];\n", spelling);
    harness_count_form(trial->harness, spelling);
    snprintf(spelling, sizeof spelling, "cp.async.mbarrier.arrive%s.b64", space);
    text_printf(ptx, "%s [bar];\n", spelling);
    harness_count_form(trial->harness, spelling);
    arrive(&life, "arrive", release, "s6", "", 1);
    note_waits(&life, acquire, "s6", 0, true);
    snprintf(spelling, sizeof spelling, "mbarrier.inval%s.b64", space);
    text_printf(ptx, "%s [bar];\n", spelling);
    harness_count_form(trial->harness, spelling);
    harness_count_form(trial->harness, "mbarrier.pending_count.b64");
    trial->slots = life.steps;
    trial_run(trial);
}

/* cp.async.mbarrier.arrive takes a 32-bit address of the barrier, with or without a state space. */
static void run_narrow_arrival(Trial *trial, const char *space) {
    char spelling[FORM_TEXT_BYTES];
    snprintf(spelling, sizeof spelling, "cp.async.mbarrier.arrive.noinc%s.b64", space);
    trial_begin(trial, spelling);
    trial->shape.block[0] = 1;
    trial_begin_kernel(trial, ".shared .align 8 .b64 other, barrier;\n");
    text_printf(&trial->ptx,
                ".reg .b64 word, state;\nmbarrier.init.shared.b64 [barrier], 3;\n"
                "mov.u32 t, barrier;\n%s [t];\n"
                "mbarrier.arrive.shared.b64 state, [barrier];\n"
                "mbarrier.pending_count.b64 t, state;\n"
                "cvt.u64.u32 word, t;\nst.global.b64 [out], word;\n",
                spelling);
    trial->expected[0] = 2;
    trial->slots = 1;
    trial_run(trial);
}

/* An operation on memory that is not a barrier, or with a count that the barrier does not allow. */
static void run_bad_barrier(Trial *trial, const char *text) {
    trial_begin(trial, "mbarrier.init.shared.b64");
    trial->shape.block[0] = 1;
    trial_begin_kernel(trial, ".shared .align 8 .b64 barrier;\n.shared .align 8 .b64 other;\n");
    text_printf(&trial->ptx, ".reg .b64 s;\n.reg .pred done;\n%s\n", text);
    trial->faults = true;
    trial_run(trial);
}

/* ---- Policies and advice ---- */

/* Checks only that they run: the ISA does not define the value of a policy. */
static void run_policy(void *user, const char *spelling) {
    Trial *trial = user;
    const char *operands = strstr(spelling, ".range")            ? "word, [in], 128, 256"
                           : strstr(spelling, ".cvt")            ? "word, word"
                           : strstr(spelling, "apply")           ? "[in], 128"
                           : strstr(spelling, ".L2::evict_last") ? "word, 0f3f000000"
                                                                 : "word";
    trial_begin(trial, spelling);
    trial_begin_kernel(trial, "");
    text_printf(&trial->ptx,
                ".reg .b64 word;\nmov.b64 word, 0;\n%s %s;\n"
                "mad.wide.u32 at, tid, 8, in;\nld.global.L2::cache_hint.b64 word, [at], word;\n"
                "mad.wide.u32 at, tid, 8, out;\nst.global.b64 [at], word;\n",
                spelling, operands);
    trial->slots = TRIAL_THREADS;
    memcpy(trial->expected, trial->in, sizeof(uint64_t) * TRIAL_THREADS);
    trial_run(trial);
}

/* ---- All of them ---- */

void async_run(Harness *harness) {
    Trial *trial = trial_new(harness);
    form_expand("cp",
                ".async(.ca,.cg)(.shared,.shared::cta).global{.L2::cache_hint}"
                "{.L2::64B,.L2::128B,.L2::256B}",
                run_copy, trial);
    run_bad_copy(trial, "[cell+2], [in], 4");
    run_bad_copy(trial, "[cell], [in+4], 8");
    run_bad_copy(trial, "[cell+1532], [in], 16");
    run_bad_copy(trial, "[cell], [0], 4");
    run_bad_copy(trial, "[cell], [in], 4, 5");
    static const char *const spaces[] = {"", ".shared", ".shared::cta"};
    static const char *const releases[] = {"", ".release.cta", ".relaxed.cta", ".release.cluster"};
    static const char *const acquires[] = {"", ".acquire.cta", ".relaxed.cta", ".acquire.cluster"};
    for (int order = 0; order < 4; order++)
        for (int space = 0; space < 3; space++)
            run_life(trial, spaces[space], releases[order], acquires[order]);
    for (int space = 0; space < 3; space++)
        run_narrow_arrival(trial, spaces[space]);
    run_bad_barrier(trial, "mbarrier.arrive.shared.b64 s, [barrier];");
    run_bad_barrier(trial, "mbarrier.init.shared.b64 [other], 1;\n"
                           "mbarrier.test_wait.parity.shared.b64 done, [barrier], 0;");
    run_bad_barrier(trial, "mbarrier.init.shared.b64 [barrier], 0;");
    run_bad_barrier(trial, "mbarrier.init.shared.b64 [barrier], 1048576;");
    run_bad_barrier(trial, "mbarrier.init.shared.b64 [barrier+4], 1;");
    run_bad_barrier(trial, "mbarrier.init.shared.b64 [barrier], 1;\n"
                           "mbarrier.arrive.shared.b64 s, [barrier], 2;");
    run_bad_barrier(trial, "mbarrier.init.shared.b64 [barrier], 1;\n"
                           "mbarrier.arrive.noComplete.shared.b64 s, [barrier], 1;");
    run_bad_barrier(trial, "mbarrier.init.shared.b64 [barrier], 1;\n"
                           "mbarrier.inval.shared.b64 [barrier];\n"
                           "mbarrier.arrive.shared.b64 s, [barrier];");
    run_bad_barrier(trial, "mbarrier.init.b64 [in], 1;");
    form_expand("createpolicy",
                "(.fractional,.range)(.L2::evict_last,.L2::evict_normal,.L2::evict_first,"
                ".L2::evict_unchanged){.L2::evict_first,.L2::evict_unchanged}.b64",
                run_policy, trial);
    form_expand("createpolicy", ".range.global.L2::evict_last.b64", run_policy, trial);
    form_expand("createpolicy", ".cvt.L2.b64", run_policy, trial);
    form_expand("applypriority", "{.global}.L2::evict_normal", run_policy, trial);
    trial_free(trial);
}
