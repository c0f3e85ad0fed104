/* The instruction order of a compiler: which instructions move up in a block, and which must stay
 * in place. Each case is a block with one instruction per line; the expected order lists their
 * numbers. */
#include "ptx_test.h"

#define HEAD                                                                                       \
    ".version 8.6\n.target sm_80\n.address_size 64\n"                                              \
    ".func (.param .u32 back) callee(.param .u32 given);\n"                                        \
    ".visible .entry k(.param .u64 a, .param .u32 n) {\n.shared .align 16 .b8 room[4096];\n"       \
    ".reg .pred %p<9>; .reg .b32 %r<99>; .reg .f32 %f<30>; .reg .b64 %d<30>;\n"                    \
    ".param .u32 given; .param .u32 back;\n"
enum { FIRST_LINE = 9 };

typedef struct Case {
    const char *lines, *order;
} Case;

static void check_case(const Case *one) {
    char text[8192], found[1024];
    int length = snprintf(text, sizeof text, "%s%s\nret;\n}\n", HEAD, one->lines);
    Diag *diag = diag_new();
    PtxModule *module = ptx_read_compiled("test", text, (size_t)length, diag);
    if (!module) fail_msg("%s\n%s", one->lines, diag_text(diag));
    const PtxFunction *kernel = module->functions[module->function_count - 1];
    size_t at = 0;
    for (int32_t i = 0; i + 1 < kernel->inst_count; i++)
        at += (size_t)snprintf(found + at, sizeof found - at, "%s%d", i ? " " : "",
                               kernel->insts[i].line - FIRST_LINE);
    if (strcmp(found, one->order) != 0)
        fail_msg("order: %s\nnot:   %s\nof\n%s", found, one->order, one->lines);
    ptx_module_free(module);
    diag_free(diag);
}

#define CHECK(cases)                                                                               \
    for (size_t i = 0; i < sizeof(cases) / sizeof *(cases); i++)                                   \
    check_case(&(cases)[i])

static void test_loads_go_up_with_what_their_addresses_need(void **state) {
    (void)state;
    static const Case cases[] = {
        {"ld.global.u32 %r1, [%d1];\nst.shared.u32 [room], %r1;\n"
         "ld.global.u32 %r2, [%d1+4];\nst.shared.u32 [room+4], %r2;",
         "0 2 1 3"},
        {"ld.global.u32 %r1, [%d1];\nadd.u32 %r3, %r1, 1;\nadd.u64 %d2, %d1, 8;\n"
         "ld.global.u32 %r2, [%d2];\nadd.u32 %r4, %r2, 1;",
         "2 0 3 1 4"},
        /* instructions with longer latency first */
        {"ld.shared.u32 %r1, [room];\nadd.u32 %r3, %r1, 1;\nld.global.u32 %r2, [%d1];\n"
         "add.u32 %r4, %r2, 1;",
         "2 0 1 3"},
        /* no gain: text order */
        {"add.u32 %r1, %r2, 1;\nadd.u32 %r3, %r4, 1;\nadd.u32 %r5, %r6, 1;", "0 1 2"},
    };
    CHECK(cases);
}

static void test_accesses_that_may_meet_stay_in_order(void **state) {
    (void)state;
    static const Case cases[] = {
        {"ld.global.u32 %r1, [%d1];\nst.global.u32 [%d2], %r1;\nld.global.u32 %r2, [%d3];\n"
         "st.global.u32 [%d4], %r2;",
         "0 1 2 3"},
        {"ld.shared.u32 %r1, [room];\nst.u32 [%d2], %r1;\nld.shared.u32 %r2, [room+4];\n"
         "add.u32 %r3, %r2, 1;",
         "0 1 2 3"},
        {"ld.u32 %r1, [%d1];\nst.shared.u32 [room], %r1;\nld.u32 %r2, [%d1+4];\n"
         "add.u32 %r3, %r2, 1;",
         "0 1 2 3"},
        /* an earlier load stays before a store to the same space; loads of other spaces may pass
         * it */
        {"ld.shared.u32 %r1, [room];\nadd.u32 %r2, %r1, 1;\nst.shared.u32 [room], %r9;\n"
         "ld.local.u32 %r3, [%d1];\nadd.u32 %r4, %r3, 1;",
         "3 0 1 2 4"},
        {"st.shared.u32 [room], %r1;\nst.u32 [%d1], %r2;\nst.shared.u32 [room], %r3;", "0 1 2"},
    };
    CHECK(cases);
}

static void test_registers_hold_what_they_held(void **state) {
    (void)state;
    static const Case cases[] = {
        /* written again: after its readers and its writer */
        {"add.u32 %r1, %r2, 1;\nst.shared.u32 [room], %r1;\nld.global.u32 %r1, [%d1];\n"
         "add.u32 %r3, %r1, 1;",
         "0 1 2 3"},
        {"add.u64 %d2, %d1, 8;\nst.shared.u64 [room], %d2;\nld.global.u64 %d2, [%d2];", "0 1 2"},
        /* a guarded instruction preserves what it does not write, and reads its guard */
        {"ld.global.u32 %r1, [%d1];\nadd.u32 %r2, %r1, 1;\n@%p1 ld.global.u32 %r2, [%d2];\n"
         "add.u32 %r3, %r2, 1;",
         "0 1 2 3"},
        {"add.u32 %r5, %r6, 1;\nsetp.eq.u32 %p1, %r5, 0;\n@%p1 ld.global.u32 %r2, [%d2];\n"
         "add.u32 %r3, %r2, 1;",
         "0 1 2 3"},
        {"add.cc.u32 %r1, %r2, %r3;\naddc.u32 %r4, %r5, %r6;\nadd.cc.u32 %r7, %r8, %r9;\n"
         "addc.u32 %r10, %r11, %r12;",
         "0 1 2 3"},
        {"ld.global.v2.u32 {%r1, %r2}, [%d1];\nadd.u32 %r3, %r2, 1;\n"
         "ld.global.u32 %r2, [%d2];\nadd.u32 %r4, %r2, 1;",
         "0 1 2 3"},
    };
    CHECK(cases);
}

static void test_nothing_passes_what_others_see(void **state) {
    (void)state;
    static const char *const walls[] = {"bar.sync 0;",
                                        "membar.gl;",
                                        "fence.acq_rel.gpu;",
                                        "atom.global.add.u32 %r9, [%d9], 1;",
                                        "red.shared.add.u32 [room], 1;",
                                        "ld.volatile.shared.u32 %r9, [room+64];",
                                        "ld.relaxed.gpu.global.u32 %r9, [%d9];",
                                        "mov.u32 %r9, %clock;",
                                        "mov.u64 %d9, %globaltimer;",
                                        "cp.async.ca.shared.global [room], [%d9], 4;",
                                        "cp.async.commit_group;",
                                        "cp.async.wait_group 0;",
                                        "mbarrier.inval.shared.b64 [room];",
                                        "st.param.u32 [given], %r9;",
                                        "nanosleep.u32 20;"};
    for (size_t i = 0; i < sizeof walls / sizeof *walls; i++) {
        char lines[512];
        snprintf(lines, sizeof lines,
                 "add.u32 %%r1, %%r2, 1;\n%s\nld.global.u32 %%r3, [%%d1];\nadd.u32 %%r4, %%r3, 1;",
                 walls[i]);
        check_case(&(Case){lines, "0 1 2 3"});
    }
    /* Kernel parameters and constants cannot be written. */
    check_case(&(Case){"st.shared.u32 [room], %r1;\nst.local.u32 [%d2], %r1;\n"
                       "ld.param.u64 %d1, [a];\nld.global.u32 %r3, [%d1];\nadd.u32 %r4, %r3, 1;",
                       "2 3 0 1 4"});
}

/* At most as many values wait as a full SM has registers for, or as many as wait in the text
 * order. */
static void test_no_more_values_wait_than_there_is_room_for(void **state) {
    (void)state;
    char lines[4096], order[512] = "";
    size_t at = 0, end = 0;
    enum { LOADS = 40, ROOM = 32 - 2 };
    for (int i = 0; i < LOADS; i++)
        at += (size_t)snprintf(lines + at, sizeof lines - at,
                               "ld.global.u32 %%r%d, [%%d1+%d];\nst.shared.u32 [room+%d], %%r%d;%s",
                               i, 4 * i, 4 * i, i, i < LOADS - 1 ? "\n" : "");
    for (int i = 0; i < ROOM; i++)
        end += (size_t)snprintf(order + end, sizeof order - end, "%d ", 2 * i);
    for (int i = 0; i < LOADS - ROOM; i++)
        end +=
            (size_t)snprintf(order + end, sizeof order - end, "%d %d ", 2 * i + 1, 2 * (ROOM + i));
    for (int i = LOADS - ROOM; i < LOADS; i++)
        end += (size_t)snprintf(order + end, sizeof order - end, "%d%s", 2 * i + 1,
                                i < LOADS - 1 ? " " : "");
    check_case(&(Case){lines, order});
}

/* Blocks keep their boundaries: a branch target stays the first of its block, a branch the last. */
static void test_blocks_begin_and_end_where_they_did(void **state) {
    (void)state;
    check_case(&(Case){"loop: add.u32 %r1, %r1, 1;\nadd.u64 %d1, %d1, 4;\n"
                       "ld.global.u32 %r2, [%d1];\nsetp.lt.u32 %p1, %r1, 9;\n@%p1 bra loop;\n"
                       "st.shared.u32 [room], %r2;\nld.global.u32 %r3, [%d1];\n"
                       "add.u32 %r4, %r3, %r2;",
                       "0 1 2 3 4 6 5 7"});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loads_go_up_with_what_their_addresses_need),
        cmocka_unit_test(test_accesses_that_may_meet_stay_in_order),
        cmocka_unit_test(test_registers_hold_what_they_held),
        cmocka_unit_test(test_nothing_passes_what_others_see),
        cmocka_unit_test(test_no_more_values_wait_than_there_is_room_for),
        cmocka_unit_test(test_blocks_begin_and_end_where_they_did),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
