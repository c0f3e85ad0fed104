/* Whole SMs with the modern core that run a few lines with control bits chosen by the test. */
#ifndef TYTO_TESTS_SM_MODERN_CONTROLS_H
#define TYTO_TESTS_SM_MODERN_CONTROLS_H

#include "sm/parts.h"
#include "sm_bench.h"

enum { MOST = 64, SUBCORES = 4 };

static const char *const machine =
    "sm.core=modern sm.subcores=4 scheduler.count=4 l0i.size=12KiB l1i.size=64KiB "
    "fetch.instruction=16B lsu.constants_hit=yes";

static inline IsaControl plain(uint8_t stall) {
    return (IsaControl){.stall = stall,
                        .write_counter = ISA_NO_COUNTER,
                        .read_counter = ISA_NO_COUNTER,
                        .waits_for = ISA_NO_COUNTER,
                        .unit = ISA_UNIT_BRANCH, /* reads no register, and takes one per cycle */
                        .words = 1,
                        .operand = {ISA_NO_REGISTER, ISA_NO_REGISTER, ISA_NO_REGISTER}};
}

static inline void start_controls(IsaControl control[MOST]) {
    for (int i = 0; i < MOST; i++)
        control[i] = plain(1);
}

/* Runs a CTA of these lines with the control bits; the SM is kept for queries. */
static inline Bench *run(const char *more, uint32_t warps, const char *lines,
                         const IsaControl control[MOST], bool never_sleeps) {
    char settings[512];
    snprintf(settings, sizeof settings, "%s %s", machine, more);
    Bench *bench = bench_new(settings, warps, lines, never_sleeps, NULL);
    if (control) bench_set_controls(bench, control);
    bench_begin(bench, NULL);
    bench_run(bench, 1);
    return bench;
}

/* The cycle in which the warp issued the instruction at pc. */
static inline uint64_t issue_of(const Bench *bench, int warp, uint32_t pc) {
    const StageHeard *heard = bench->sm->context.policy.state;
    for (uint32_t i = 0; i < heard->issued && i < STAGE_ISSUES; i++)
        if (heard->issues[i].warp == warp && heard->issues[i].pc == pc)
            return heard->issues[i].cycle;
    fail_msg("warp %d did not issue %u", warp, pc);
    return 0;
}

/* Cycles from one issue to the other. */
static inline uint64_t between(const Bench *bench, int warp, uint32_t from, uint32_t to) {
    return issue_of(bench, warp, to) - issue_of(bench, warp, from);
}

static const char *const moves = "mov.u32 %r1, 1; mov.u32 %r2, 1; mov.u32 %r3, 1; mov.u32 %r4, 1;"
                                 "mov.u32 %r5, 1; mov.u32 %r6, 1;";

/* Instructions of all kinds: loads and stores of both memories, a barrier, a special function, a
 * loop. */
static const char *const work =
    "ld.param.u64 %d0, [buffer]; mov.u32 %r1, 5; mov.u32 %r4, %laneid; mul.wide.u32 %d1, %r4, 4;"
    "add.u64 %d2, %d0, %d1; shl.b32 %r6, %r4, 2;\n"
    "again: ld.global.u32 %r2, [%d2]; add.u32 %r3, %r2, %r1; st.shared.u32 [%r6], %r3;"
    "bar.sync 0; ld.shared.u32 %r5, [%r6]; st.global.u32 [%d2], %r5; "
    "rcp.approx.f32 %f1, %f2; add.f32 %f3, %f1, %f1;"
    "add.u32 %r1, %r1, -1; setp.ne.u32 %p1, %r1, 0; @%p1 bra again;";

#endif
