/* The tables, the words that select a policy, and the messages about wrong ones. */
#include "fabricated.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "sched/cta_agent.h"
#include "sched/listing.h"
#include "sched/spec.h"

static void expect_message(Diag *diag, const char *expected) {
    const char *text = diag_text(diag);
    if (!expected) assert_string_equal(text, "");
    else if (!strstr(text, expected)) fail_msg("\"%s\" is not in \"%s\"", expected, text);
}

/* Requests `text` and expects the message; NULL: it is accepted, and is written as `written`. */
static void expect(const char *text, const char *message, const char *written) {
    Diag *diag = diag_new();
    SchedPolicy *policy = sched_policy_new(text, diag);
    expect_message(diag, message);
    assert_int_equal(policy == NULL, message != NULL);
    if (policy) assert_string_equal(policy->text, written);
    sched_policy_free(policy);
    diag_free(diag);
}

static void expect_cta(const char *text, const char *message, const char *written) {
    Diag *diag = diag_new();
    CtaSched *sched = cta_sched_new(text, diag);
    expect_message(diag, message);
    assert_int_equal(sched == NULL, message != NULL);
    if (sched) assert_string_equal(sched->text, written);
    cta_sched_free(sched);
    diag_free(diag);
}

static void every_policy_of_the_tables_is_sound_and_found_by_its_name(void **unused) {
    (void)unused;
    const TytoPolicy *policy;
    for (int i = 0; (policy = sched_policy_at(i)) != NULL; i++) {
        assert_int_equal(policy->version, TYTO_POLICY_VERSION);
        assert_null(spec_check_rows(policy->parameters, policy->parameter_count));
        assert_true((policy->events != 0) == (policy->event != NULL));
        expect(policy->name, NULL, policy->name);
    }
    const TytoCtaPolicy *cta;
    for (int i = 0; (cta = cta_policy_at(i)) != NULL; i++) {
        assert_int_equal(cta->version, TYTO_POLICY_VERSION);
        assert_null(spec_check_rows(cta->parameters, cta->parameter_count));
        expect_cta(cta->name, NULL, cta->name);
    }
}

static void the_papers_values_are_the_defaults(void **unused) {
    (void)unused;
    const struct {
        const char *policy, *parameter;
        double value;
    } defaults[] = {
        {"two-level", "group", 8},
        {"ccws", "k_throttle", 8},
        {"ccws", "base", 100},
        {"ccws", "vta_sets", 2},
        {"ccws", "vta_ways", 8},
        {"cta-aware", "group_size", 8},
        {"owl", "lower", 8},
        {"owl", "higher", 16},
        {"owl", "prefetch", 2},
        {"pro", "threshold", 1000},
        {"swl", "limit", 32},
        {"two-level-active", "active", 6},
        {"cta-aware-locality", "fair", 0},
        {"gebhart", "active", 8},
        {"dyncta", "period", 2048},
        {"dyncta", "t_idle", 16},
        {"dyncta", "t_mem_l", 128},
        {"dyncta", "t_mem_h", 384},
        {"equalizer", "sample", 128},
        {"equalizer", "epoch", 4096},
        {"equalizer", "epochs", 3},
        {"linebacker", "window", 50000},
        {"ciao", "high", 0.01},
        {"ciao", "low", 0.005},
    };
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++) {
        Diag *diag = diag_new();
        SchedPolicy *policy = sched_policy_new(defaults[i].policy, diag);
        assert_non_null(policy);
        assert_true(sched_policy_value(policy, defaults[i].parameter, -1) == defaults[i].value);
        assert_true(sched_policy_value(policy, "nonsense", -1) == -1);
        sched_policy_free(policy);
        diag_free(diag);
    }
}

static void parameters_are_read_and_written(void **unused) {
    (void)unused;
    expect("two-level:group=2,inner=gto,outer=gto", NULL, "two-level:group=2,inner=gto,outer=gto");
    expect("two-level:outer=gto,group=8", NULL, "two-level:outer=gto"); /* 8 is the default */
    expect("ccws:k_throttle=32", NULL, "ccws:k_throttle=32");
    expect_cta("limit:ctas=3", NULL, "limit:ctas=3");
    expect_cta("md:compute_bound=0.25", NULL, "md:compute_bound=0.25");
}

static void unknown_names_are_answered_with_the_nearest(void **unused) {
    (void)unused;
    expect("gtoo", "there is no warp scheduler 'gtoo'; did you mean 'gto'?", NULL);
    expect("cta-aware-localty", "did you mean 'cta-aware-locality'?", NULL);
    expect("", "there is no warp scheduler ''; there are lrr, gto,", NULL);
    expect("ccws:k_throtle=8", "there is no ccws parameter 'k_throtle'; did you mean 'k_throttle'?",
           NULL);
    expect("two-level:xyz=8", "no two-level parameter 'xyz'; there are group, inner, outer, stall",
           NULL);
    expect("lrr:x=1", "there is no lrr parameter 'x'; there are none", NULL);
    expect_cta("round-robbin", "no CTA scheduler 'round-robbin'; did you mean 'round-robin'?",
               NULL);
    expect_cta("limit:cta=1", "did you mean 'ctas'?", NULL);
}

static void wrong_values_are_answered_with_the_bounds(void **unused) {
    (void)unused;
    expect("two-level:group=0", "two-level: group=0: out of bounds (1 to 64)", NULL);
    expect("two-level:group=65", "out of bounds (1 to 64)", NULL);
    expect("two-level:group=-3", "out of bounds", NULL);
    expect("two-level:group=2.5", "group=2.5: not a whole number (1 to 64)", NULL);
    expect("two-level:group=four", "not a whole number", NULL);
    expect("two-level:group=0x8", "not a whole number", NULL);
    expect("two-level:group=8x", "not a whole number", NULL);
    expect("two-level:group=nan", "not a whole number", NULL);
    expect("two-level:group=9999999999999999999999999999999999", "out of bounds", NULL);
    expect("two-level:inner=rr", "inner=rr: not one of (lrr|gto)", NULL);
    expect_cta("md:compute_bound=.5", "not a number (0 to 1)", NULL);
    expect_cta("md:compute_bound=1.01", "out of bounds (0 to 1)", NULL);
}

static void malformed_settings_are_answered_with_the_form(void **unused) {
    (void)unused;
    expect("two-level:", "'' is not of the form parameter=value", NULL);
    expect("two-level:group", "'group' is not of the form parameter=value", NULL);
    expect("two-level:group=", "'group=' is not of the form", NULL);
    expect("two-level:=4", "'=4' is not of the form", NULL);
    expect("two-level:group=4,", "'' is not of the form", NULL);
    expect("two-level:group=4,group=5", "two-level: group is set twice", NULL);
    expect("two-level:group=4,grup=5,inner=3", "not one of (lrr|gto)",
           NULL); /* all mistakes are reported */
    char text[300] = "two-level:group=";
    memset(text + strlen(text), '1', 200);
    expect(text, "is too long", NULL);
}

/* ---- Shared objects ---- */

#define PLUGIN(name) TEST_PLUGINS "/" name ".so"

static void a_shared_object_is_loaded_and_driven(void **unused) {
    (void)unused;
    Fabricated f;
    expect(PLUGIN("turns") ":length=3", NULL, PLUGIN("turns") ":length=3");
    fabricate(&f, PLUGIN("turns") ":length=3", (FabricatedSize){.warps = 3});
    launch_all(&f);
    for (int i = 0; i < 18; i++)
        assert_int_equal(step(&f), i / 3 % 3);
    issue(&f, 1);
    block(&f, warps(1, 1)); /* a warp that cannot issue loses the rest of its turn */
    assert_int_equal(step(&f), 2);
    fabricated_free(&f);
}

static void a_shared_objects_parameters_are_checked_like_any(void **unused) {
    (void)unused;
    expect(PLUGIN("turns") ":lenght=3",
           "there is no turns parameter 'lenght'; did you mean 'length'?", NULL);
    expect(PLUGIN("turns") ":length=0", "turns: length=0: out of bounds (1 to 1000)", NULL);
}

/* Loading a truncated file would end the process with a bus error. */
static void check_cut_short(void) {
    char path[] = "/tmp/tyto-cut-XXXXXX";
    size_t length;
    char *bytes = text_read_file(PLUGIN("turns"), 1 << 24, &length);
    int file = mkstemp(path);
    assert_true(bytes && length > 5000 && file >= 0);
    assert_int_equal(write(file, bytes, 5000), 5000);
    close(file);
    expect(path, "is no shared object that can be loaded: cut short", NULL);
    unlink(path);
    free(bytes);
}

static void wrong_shared_objects_are_refused_with_the_reason(void **unused) {
    (void)unused;
    expect("./nowhere.so", "./nowhere.so: error: is no shared object that can be loaded", NULL);
    expect("./nowhere:x=1", "./nowhere: error: is no shared object that can be loaded", NULL);
    expect(TEST_TEXT_FILE, "is no shared object that can be loaded", NULL);
    check_cut_short();
    expect(PLUGIN("no_symbol"), "has no symbol `tyto_policy`", NULL);
    expect(PLUGIN("old_version"), "is built for version 9 of tyto/policy.h, this is version 8",
           NULL);
    expect(
        PLUGIN("version7"),
        "is built for version 7 of tyto/policy.h, this is version 8: rebuild it with the headers",
        NULL);
    expect(PLUGIN("newer"), "newer.so: error: uses what a later Tyto offers", NULL);
    expect(PLUGIN("no_pick"), "its policy has no function `pick`", NULL);
    expect(PLUGIN("prefetching") ":lines=13",
           "prefetching: asks for a prefetch scheme 13; there are 0 to 2", NULL);
    expect(PLUGIN("prefetching") ":lines=14",
           "prefetching: asks for a prefetch order 14; there are 0 to 2", NULL);
    expect(PLUGIN("prefetching") ":lines=15",
           "prefetching: asks for a prefetch start 15; there are 0 to 1", NULL);
    expect(PLUGIN("vast"), "its policy wants a state of more than 1 GiB", NULL);
    expect(PLUGIN("bad_parameter"), "initial value is not among those it takes", NULL);
}

static void a_shared_object_can_be_a_cta_scheduler(void **unused) {
    (void)unused;
    expect_cta(PLUGIN("neighbours") ":group=4", NULL, PLUGIN("neighbours") ":group=4");
    expect_cta(PLUGIN("neighbours") ":grup=4",
               "there is no neighbours parameter 'grup'; did you mean 'group'?", NULL);
    expect_cta(PLUGIN("neighbours") ":group=0", "neighbours: group=0: out of bounds (1 to 32)",
               NULL);
    expect_cta("./nowhere.so", "./nowhere.so: error: is no shared object that can be loaded", NULL);
    expect_cta(PLUGIN("old_cta_version"),
               "is built for version 9 of tyto/cta_policy.h, this is version 8", NULL);
    expect_cta(PLUGIN("deaf"), "watches an SM's loads, but has no function for them", NULL);
}

static void a_scheduler_of_the_other_kind_is_refused(void **unused) {
    (void)unused;
    expect(PLUGIN("neighbours"),
           "has no symbol `tyto_policy` (a const TytoPolicy): it is not a warp", NULL);
    expect_cta(PLUGIN("turns"),
               "has no symbol `tyto_cta_policy` (a const TytoCtaPolicy): it is not a CTA", NULL);
}

static void keep_asked(void *context, const char *name, const char *unit, double value) {
    assert_string_equal(name, "asked");
    (void)unit;
    *(double *)context = value;
}

/* A policy that requests more memory each time it is asked is asked once, and gets that amount. */
static void the_size_of_a_state_is_asked_once_and_not_at_every_kernel(void **unused) {
    (void)unused;
    Fabricated f;
    fabricate(&f, PLUGIN("growing"), (FabricatedSize){.warps = 4});
    for (int kernel = 0; kernel < 4; kernel++)
        sched_agent_start(&f.agent, &f.view);
    assert_true(reported(&f, "asked") == 1);
    Diag *diag = diag_new();
    CtaSched *sched = cta_sched_new(PLUGIN("growing"), diag);
    assert_non_null(sched);
    TytoGridView view = {.sms = 3, .capacity = 2};
    CtaAgent agent;
    double asked = 0;
    cta_agent_init(&agent, sched, &view, NULL);
    for (int kernel = 0; kernel < 4; kernel++)
        cta_agent_start(&agent, &view);
    cta_agent_report(&agent, &view, &(TytoReport){.context = &asked, .value = keep_asked});
    assert_true(asked == 1);
    cta_agent_free(&agent);
    cta_sched_free(sched);
    diag_free(diag);
    fabricated_free(&f);
}

/* ---- States ---- */

static void writes_next_to_a_guarded_state_are_noticed(void **state) {
    (void)state;
    static const struct {
        size_t own, extra;
        size_t first, last; /* bytes that the policy may write */
        size_t noticed[2];  /* bytes next to them; 0: none */
    } cases[] = {
        {24, 0, 0, 23, {24, 63}},         {24, 100, 0, 23, {24, 63}},
        {24, 100, 64, 163, {164, 191}},   {64, 64, 0, 127, {0, 0}},
        {64, 1, 0, 64, {65, 127}},        {0, 8, 0, 7, {8, 63}},
        {5000, 0, 0, 4999, {5000, 5055}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        SchedState memory;
        sched_state_init(&memory, cases[i].own, cases[i].extra, true);
        assert_int_equal((uintptr_t)memory.bytes % 64, 0);
        for (size_t at = cases[i].first; at <= cases[i].last; at++) {
            assert_int_equal(memory.bytes[at], 0);
            memory.bytes[at] = 1;
        }
        assert_true(sched_state_is_whole(&memory, 0));
        for (int n = 0; n < 2 && cases[i].noticed[n]; n++) {
            sched_state_clear(&memory);
            memory.bytes[cases[i].noticed[n]] = 1;
            assert_false(sched_state_is_whole(&memory, 0));
            assert_string_equal(sched_state_overrun(&memory), "past");
        }
        sched_state_clear(&memory);
        assert_true(sched_state_is_whole(&memory, 0));
        assert_null(sched_state_overrun(&memory));
        assert_int_equal(memory.bytes[cases[i].last], 0);
        sched_state_free(&memory);
    }
}

/* Writes to the 256 bytes before the state are noticed at once. Writes to all bytes up to the page
 * in front are noticed within as many cycles as that area has lines. */
static void writes_before_a_guarded_state_are_noticed(void **state) {
    (void)state;
    static const size_t sizes[] = {0, 24, 4000, 4096, 10000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        SchedState memory;
        sched_state_init(&memory, sizes[i], 0, true);
        assert_in_range(memory.front, 256, 256 + 4096);
        for (size_t at = 1; at <= memory.front; at++) {
            uint64_t cycle = 1000;
            memory.bytes[-(ptrdiff_t)at] = 1;
            while (sched_state_is_whole(&memory, cycle))
                cycle++;
            assert_in_range(cycle - 1000, 0, at <= 256 ? 0 : memory.front / 64 - 1);
            assert_string_equal(sched_state_overrun(&memory), "before");
            sched_state_clear(&memory);
        }
        assert_true(sched_state_is_whole(&memory, 0));
        assert_null(sched_state_overrun(&memory));
        sched_state_free(&memory);
    }
}

/* ---- Answers of policies ---- */

/* The message about the SM that bad_choice chooses when SMs 0, 1 and 3 of 4 have room; NULL: it is
 * accepted. */
static void expect_choice(const char *policy, const char *message) {
    Diag *diag = diag_new();
    CtaSched *sched = cta_sched_new(policy, diag);
    assert_non_null(sched);
    TytoGridView view = {.cycle = 99, .sms = 4, .next = 7};
    TytoSmSet room = {{0xB}};
    CtaAgent agent;
    int sm;
    char text[300] = "";
    cta_agent_init(&agent, sched, &view, NULL);
    cta_agent_start(&agent, &view);
    bool is_right = cta_agent_choose(&agent, &view, &room, &sm, text, sizeof text);
    assert_int_equal(is_right, message == NULL);
    if (message && !strstr(text, message)) fail_msg("\"%s\" is not in \"%s\"", message, text);
    cta_agent_free(&agent);
    cta_sched_free(sched);
    diag_free(diag);
}

static void a_choice_without_room_is_told_with_policy_cycle_and_cta(void **unused) {
    (void)unused;
    expect_choice(PLUGIN("bad_choice") ":sm=3", NULL);
    expect_choice(PLUGIN("bad_choice") ":sm=-1", NULL);
    expect_choice(PLUGIN("bad_choice") ":sm=2",
                  "bad_choice.so:sm=2: cycle 99: chose SM 2 for CTA 7, which has no room for it");
    expect_choice(PLUGIN("bad_choice") ":sm=4", "chose SM 4 for CTA 7, which is none");
    expect_choice(PLUGIN("bad_choice") ":sm=2000", "chose SM 2000 for CTA 7, which is none");
    expect_choice(PLUGIN("bad_choice") ":sm=-9", "chose SM -9 for CTA 7, which is none");
}

static void sets_of_sms_are_gone_round(void **unused) {
    (void)unused;
    TytoSmSet set = {{[0] = 1u << 5, [1] = 1, [15] = UINT64_C(1) << 63}};
    assert_true(tyto_sm_has(&set, 64) && !tyto_sm_has(&set, 65));
    static const int after[][2] = {{TYTO_NO_SM, 5}, {4, 5},       {5, 64},  {63, 64},
                                   {64, 1023},      {1022, 1023}, {1023, 5}};
    for (size_t i = 0; i < sizeof after / sizeof *after; i++)
        assert_int_equal(tyto_sm_next(&set, after[i][0]), after[i][1]);
    assert_int_equal(tyto_sm_from(&set, 65), 1023);
    set = (TytoSmSet){0};
    assert_int_equal(tyto_sm_from(&set, 0), TYTO_NO_SM);
}

static void a_pick_that_is_not_ready_is_told_with_policy_cycle_and_sm(void **unused) {
    (void)unused;
    Fabricated f;
    char text[300];
    fabricate(&f, PLUGIN("bad_pick"), (FabricatedSize){.warps = 8, .sm = 3, .sms = 4, .ctas = 6});
    for (int i = 0; i < 5; i++)
        launch(&f, i, (uint64_t)i);
    f.view.cycle = 1234;
    const TytoPolicy *policy = f.policy->policy;
    int warp = policy->pick(f.state, &f.view, 0, warps(0, 4));
    assert_false(sched_check_pick(f.policy, &f.view, warp, warps(0, 4), text, sizeof text));
    assert_non_null(
        strstr(text, "bad_pick.so: cycle 1234, SM 3: picked warp 5, which holds no warp"));
    launch(&f, 5, 5);
    assert_false(sched_check_pick(f.policy, &f.view, warp, warps(0, 4), text, sizeof text));
    assert_non_null(strstr(text, "picked warp 5, which cannot issue now"));
    assert_false(sched_check_pick(f.policy, &f.view, 64, warps(0, 63), text, sizeof text));
    assert_non_null(strstr(text, "picked warp 64, which is not a warp slot"));
    assert_false(sched_check_pick(f.policy, &f.view, -7, warps(0, 63), text, sizeof text));
    assert_true(sched_check_pick(f.policy, &f.view, 5, warps(5, 5), text, sizeof text));
    assert_true(sched_check_pick(f.policy, &f.view, TYTO_NO_WARP, warps(0, 4), text, sizeof text));
    fabricated_free(&f);
}

/* ---- Lists ---- */

static void the_list_has_every_policy_and_parameter(void **unused) {
    (void)unused;
    Text list = {0};
    sched_list(&list);
    const TytoPolicy *policy;
    for (int i = 0; (policy = sched_policy_at(i)) != NULL; i++) {
        assert_non_null(strstr(list.bytes, policy->name));
        assert_non_null(strstr(list.bytes, policy->summary));
        for (uint32_t p = 0; p < policy->parameter_count; p++) {
            assert_non_null(strstr(list.bytes, policy->parameters[p].meaning));
            assert_non_null(strstr(list.bytes, policy->parameters[p].source));
        }
    }
    assert_non_null(strstr(list.bytes, "      k_throttle=8 (0 to 65536)"));
    assert_non_null(strstr(list.bytes, "      inner=lrr (lrr|gto)"));
    assert_non_null(strstr(list.bytes, "compute_bound=0.05 (0 to 1)"));
    text_free(&list);
}

/* The tutorial shows the example files that the tests build and run. */
static void the_tutorials_code_is_the_examples(void **unused) {
    (void)unused;
    static const char *const EXAMPLES[] = {TEST_ROOT "/docs/examples/turns.c",
                                           TEST_ROOT "/docs/examples/neighbours.c"};
    size_t length;
    char *page = text_read_file(TEST_ROOT "/docs/writing-a-scheduler.md", 1 << 20, &length);
    assert_non_null(page);
    for (int i = 0; i < 2; i++) {
        char *code = text_read_file(EXAMPLES[i], 1 << 20, &length);
        assert_non_null(code);
        assert_non_null(strstr(page, code));
        free(code);
    }
    free(page);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_next_to_a_guarded_state_are_noticed),
        cmocka_unit_test(writes_before_a_guarded_state_are_noticed),
        cmocka_unit_test(every_policy_of_the_tables_is_sound_and_found_by_its_name),
        cmocka_unit_test(the_papers_values_are_the_defaults),
        cmocka_unit_test(parameters_are_read_and_written),
        cmocka_unit_test(unknown_names_are_answered_with_the_nearest),
        cmocka_unit_test(wrong_values_are_answered_with_the_bounds),
        cmocka_unit_test(malformed_settings_are_answered_with_the_form),
        cmocka_unit_test(a_shared_object_is_loaded_and_driven),
        cmocka_unit_test(a_shared_objects_parameters_are_checked_like_any),
        cmocka_unit_test(wrong_shared_objects_are_refused_with_the_reason),
        cmocka_unit_test(a_shared_object_can_be_a_cta_scheduler),
        cmocka_unit_test(a_scheduler_of_the_other_kind_is_refused),
        cmocka_unit_test(the_size_of_a_state_is_asked_once_and_not_at_every_kernel),
        cmocka_unit_test(a_choice_without_room_is_told_with_policy_cycle_and_cta),
        cmocka_unit_test(sets_of_sms_are_gone_round),
        cmocka_unit_test(a_pick_that_is_not_ready_is_told_with_policy_cycle_and_sm),
        cmocka_unit_test(the_list_has_every_policy_and_parameter),
        cmocka_unit_test(the_tutorials_code_is_the_examples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
