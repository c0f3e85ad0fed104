/* The figures for hardware cost in the papers. */
#include "fabricated.h"

#include <string.h>

#include "sched/cost.h"

static const TytoMachineSizes FERMI = {.sms = 14,
                                       .warps = 48,
                                       .ctas = 8,
                                       .schedulers = 2,
                                       .l1d_lines = 128,
                                       .l1d_line_bytes = 128,
                                       .channels = 6,
                                       .banks = 16,
                                       .row_bytes = 4096,
                                       .prefetch_bytes = 128,
                                       .queue = 64};
/* OWL section 4.5: 4 memory controllers of 4 banks, rows of 32 lines of 64 bytes, 128 requests. */
static const TytoMachineSizes OWL = {.sms = 28,
                                     .warps = 32,
                                     .ctas = 8,
                                     .l1d_lines = 512,
                                     .l1d_line_bytes = 64,
                                     .channels = 4,
                                     .banks = 4,
                                     .row_bytes = 2048,
                                     .prefetch_bytes = 64,
                                     .queue = 128};
/* CCWS table 1: 32 warps, 32 KB of 128-byte lines. */
static const TytoMachineSizes CCWS = {.sms = 30,
                                      .warps = 32,
                                      .ctas = 8,
                                      .l1d_lines = 256,
                                      .l1d_line_bytes = 128,
                                      .channels = 8,
                                      .banks = 4,
                                      .row_bytes = 2048,
                                      .prefetch_bytes = 128,
                                      .queue = 32};

typedef struct Sum {
    uint64_t per_sm, per_channel;
    int count;
    CostRow rows[COST_MAX_ROWS];
} Sum;

static Sum sum_of(const char *name, const TytoMachineSizes *machine) {
    Diag *diag = diag_new();
    SchedPolicy *policy = sched_policy_new(name, diag);
    assert_non_null(policy);
    Sum sum = {0};
    sum.count = sched_cost(policy, machine, sum.rows);
    for (int i = 0; i < sum.count; i++) {
        sum.per_sm += sum.rows[i].per_sm;
        sum.per_channel += sum.rows[i].per_channel;
    }
    sched_policy_free(policy);
    diag_free(diag);
    return sum;
}

static void pro_takes_240_bytes_per_sm_on_fermi(void **unused) {
    (void)unused;
    assert_int_equal(sum_of("pro", &FERMI).per_sm, 240 * 8);
}

static void
owls_prefetcher_takes_512_bits_in_4_controllers_and_a_register_of_0_to_127(void **unused) {
    (void)unused;
    assert_int_equal(sum_of("owl:prefetch=stop", &OWL).per_channel * OWL.channels, 512);
    assert_int_equal(sum_of("owl", &OWL).per_channel, 512 / 4 + 7);
    assert_int_equal(sum_of("owl:threshold=10", &OWL).per_channel, 512 / 4);
    assert_int_equal(sum_of("owl:prefetch=none", &OWL).per_channel, 0);
    assert_int_equal(sum_of("cta-aware-locality-blp", &OWL).per_channel, 0);
}

static void ccws_takes_40_bits_per_tag_160_bytes_of_owners_10_bits_per_score(void **unused) {
    (void)unused;
    Sum sum = sum_of("ccws", &CCWS);
    assert_int_equal(sum.rows[0].per_sm, 512 * 40);
    assert_int_equal(sum.rows[1].per_sm, 160 * 8);
    assert_int_equal(sum.rows[2].per_sm, 32 * 10);
    assert_int_equal(sum_of("ccws:vta_sets=4", &CCWS).rows[0].per_sm, 1024 * 39);
}

static void simple_schedulers_add_nothing(void **unused) {
    (void)unused;
    assert_int_equal(sum_of("gto", &CCWS).count, 0);
    assert_int_equal(sum_of("lrr", &CCWS).count, 0);
    assert_int_equal(sum_of("swl", &CCWS).per_sm, 6); /* 0 to 32 */
}

/* On an SM of 48 warps, 8 CTAs, 2 schedulers and 128 lines of 128 bytes. */
static void policies_state_what_their_tables_hold(void **unused) {
    (void)unused;
    static const struct {
        const char *policy;
        uint64_t bits;
    } rows[] = {
        {"gebhart", 16 * 6 + 16 * 6 * 32 * 32},        /* 8 active warps of each scheduler */
        {"gebhart:active=1", 2 * 6 + 2 * 6 * 32 * 32}, /* 6 registers of 32 lanes each */
        {"caws", 48 * (6 + 31) * 32},
        {"caws:by=progress", 48 * 32},
        {"cawa", 48 * (6 + 31) * 32},
        {"cawa-cacp", 48 * (6 + 31) * 32 + 2 * 256 * 2 + 128 * 13},
        {"dyncta", 2 * 12 + 8 + 4},    /* 0 to 2048 cycles; 0 to 8 CTAs */
        {"equalizer", 4 * 11 + 8 + 4}, /* 32 samples of 48 warps */
        /* up to 50000 in a window, from two schedulers; 64 sets of 8 tags */
        {"linebacker", 64 * 16 + 32 + 512 * 41 + 2 * 17 + 8 + 4},
        {"linebacker:hits=l1d", 64 * 16 + 32 + 2 * 17 + 8 + 4},
        {"mascar", 6 + 1},
        {"pcal", 48 + 2 * 6 + 3 + 64},
        {"ciao", 48 * 8 * 41 + 128 * 6 + 48 * (6 + 2) + 49 * 32 + 48 * 12},
        {"baws", 8 * 6},
        {"ipaws", 48 * 32 + 2},
        {"daws", 48 * 16 * 40 + 128 * 6 + 64 * 41 + 16 * 64 + 48 * (5 + 6 + 8)},
        {"apres", 48 * 32 + 48 * 6 + 3 * (48 + 32 + 6) + 16 * (32 + 6 + 48 + 32)},
        {"prefetch-aware", 64 * (39 + 4)}, /* blocks of 512 bytes */
        {"prefetch-aware:prefetch=no", 0},
        {"tournament", 5 * 13},
        {"oldest", 0},
        {"youngest", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (sum_of(rows[i].policy, &FERMI).per_sm != rows[i].bits)
            fail_msg("%s: %d bits, not %d", rows[i].policy,
                     (int)sum_of(rows[i].policy, &FERMI).per_sm, (int)rows[i].bits);
}

static void a_plug_in_states_its_own_storage(void **unused) {
    (void)unused;
    Sum sum = sum_of(TEST_PLUGINS "/stalling.so", &CCWS);
    assert_int_equal(sum.count, 2);
    assert_int_equal(sum.per_sm, 8 * 32 + 32);
    assert_int_equal(sum.per_channel, 1);
}

static void the_text_has_rows_and_sums(void **unused) {
    (void)unused;
    Diag *diag = diag_new();
    SchedPolicy *policy = sched_policy_new("pro", diag);
    Text text = {0};
    sched_cost_text(policy, &FERMI, &text);
    assert_non_null(strstr(text.bytes, "progress of each warp, 4 bytes [PRO section III.E]"));
    assert_non_null(strstr(text.bytes, "per SM             1920 bits = 240 bytes\n"));
    assert_non_null(strstr(text.bytes, "whole GPU         26880 bits = 3360 bytes\n"));
    text_free(&text);
    sched_policy_free(policy);
    diag_free(diag);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pro_takes_240_bytes_per_sm_on_fermi),
        cmocka_unit_test(
            owls_prefetcher_takes_512_bits_in_4_controllers_and_a_register_of_0_to_127),
        cmocka_unit_test(ccws_takes_40_bits_per_tag_160_bytes_of_owners_10_bits_per_score),
        cmocka_unit_test(simple_schedulers_add_nothing),
        cmocka_unit_test(policies_state_what_their_tables_hold),
        cmocka_unit_test(a_plug_in_states_its_own_storage),
        cmocka_unit_test(the_text_has_rows_and_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
