/* Layouts of policies: those of this version are accepted whatever their size, and the first layout
 * of the structs never changes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sched/adopt.h"
#include "tyto/cta_policy.h"

static size_t no_bytes(const TytoGridView *view, const double *values) {
    (void)view, (void)values;
    return 0;
}

typedef struct LaterRow {
    TytoPolicyParameter row;
    uint64_t later;
} LaterRow;

typedef struct LaterPolicy {
    TytoCtaPolicy policy;
    uint64_t later;
} LaterPolicy;

static LaterPolicy later_policy(void) {
    return (LaterPolicy){.policy = {TYTO_CTA_POLICY_HEAD, .name = "later", .summary = "later",
                                    .extra_bytes = no_bytes}};
}

/* The policy as it is adopted; `why` must be part of the reason for a refusal, or NULL if the
 * policy is accepted. */
static const TytoCtaPolicy *adopt(const void *policy, Arena *arena, const char *why) {
    const char *reason = NULL;
    const TytoCtaPolicy *taken = adopt_policy(&sched_kind_cta, policy, arena, &reason);
    assert_int_equal(taken == NULL, why != NULL);
    assert_int_equal(reason == NULL, why == NULL);
    if (why) assert_non_null(strstr(reason, why));
    return taken;
}

static void a_policy_of_any_size_is_taken_over(void **unused) {
    (void)unused;
    Arena *arena = arena_new();
    LaterPolicy policy = later_policy();
    const TytoCtaPolicy *taken = adopt(&policy, arena, NULL);
    assert_true(taken->extra_bytes == no_bytes);
    assert_memory_equal(taken, &policy, sizeof *taken);
    policy.policy.size = offsetof(TytoCtaPolicy, extra_bytes);
    taken = adopt(&policy, arena, NULL);
    assert_null(taken->extra_bytes);
    assert_string_equal(taken->name, "later");
    policy.policy.size = sizeof policy;
    taken = adopt(&policy, arena, NULL);
    assert_true(taken->extra_bytes == no_bytes);
    policy.later = UINT64_C(1) << 63;
    adopt(&policy, arena, "uses what a later Tyto offers");
    arena_free(arena);
}

static void sizes_that_no_layout_has_are_refused(void **unused) {
    (void)unused;
    Arena *arena = arena_new();
    LaterPolicy policy = later_policy();
    const uint32_t least = offsetof(TytoCtaPolicy, extra_bytes);
    const uint32_t sizes[] = {0, 7, least - 8, least + 4, sizeof(TytoCtaPolicy) + 1, 1 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        policy.policy.size = sizes[i];
        adopt(&policy, arena, "states a size of its policy that no layout");
    }
    arena_free(arena);
}

static void rows_of_parameters_are_taken_over_alike(void **unused) {
    (void)unused;
    Arena *arena = arena_new();
    LaterRow rows[2] = {{.row = {.name = "one"}}, {.row = {.name = "two"}}};
    LaterPolicy policy = later_policy();
    policy.policy.parameters = &rows[0].row;
    policy.policy.parameter_count = 2;
    policy.policy.parameter_bytes = sizeof rows[0];
    const TytoCtaPolicy *taken = adopt(&policy, arena, NULL);
    assert_string_equal(taken->parameters[0].name, "one");
    assert_string_equal(taken->parameters[1].name, "two");
    rows[1].later = 1;
    adopt(&policy, arena, "uses what a later Tyto offers");
    policy.policy.parameter_bytes = sizeof(TytoPolicyParameter) - 8;
    adopt(&policy, arena, "parameter rows that no layout");
    policy.policy.parameter_bytes = 0;
    adopt(&policy, arena, "parameter rows that no layout");
    policy.policy.parameter_bytes = sizeof rows[0];
    policy.policy.parameter_count = UINT32_MAX;
    adopt(&policy, arena, "parameter rows that no layout");
    arena_free(arena);
}

/* A compiled policy contains these numbers. Never change a row: append, and raise the version if
 * that is not enough. */
static void the_first_layout_stays(void **unused) {
    (void)unused;
#define AT(type, field, offset) {#type "." #field, offsetof(type, field), offset}
    const struct {
        const char *what;
        size_t is, was;
    } rows[] = {
        AT(TytoPolicy, size, 4),
        AT(TytoPolicy, parameters, 32),
        AT(TytoPolicy, needs, 56),
        AT(TytoPolicy, dram_prefetch, 64),
        AT(TytoPolicy, pick, 88),
        AT(TytoPolicy, report, 152),
        AT(TytoPolicy, insert, 160),
        AT(TytoPolicy, victim, 168),
        AT(TytoCtaPolicy, is_uneven, 48),
        AT(TytoCtaPolicy, extra_bytes, 56),
        AT(TytoCtaPolicy, report, 120),
        AT(TytoCtaPolicy, order, 128),
        AT(TytoCtaPolicy, sample, 144),
        AT(TytoPolicyParameter, source, 56),
        AT(TytoSmView, warps_at, 4),
        AT(TytoSmView, cycle, 24),
        AT(TytoSmView, scheduler_warps, 72),
        AT(TytoSmView, resident, 104),
        AT(TytoSmView, line_bytes, 168),
        AT(TytoSmView, older, 176),
        AT(TytoSmView, unit_full, 3760),
        AT(TytoSmView, l1d_misses_free, 3788),
        AT(TytoSmView, unit, 3808),
        AT(TytoEvent, address, 32),
        AT(TytoEvent, pc, 40),
        AT(TytoEvent, tag, 64),
        AT(TytoIssue, pc, 20),
        AT(TytoMiss, is_store, 24),
        AT(TytoLine, is_prefetch, 30),
        AT(TytoLines, first, 16),
        AT(TytoReport, list, 24),
        AT(TytoDramPrefetch, order, 24),
        AT(TytoWarpView, index_in_cta, 25),
        AT(TytoCtaView, launched, 24),
        AT(TytoGridView, resident, 48),
        AT(TytoGridView, cta, 72),
        AT(TytoGridView, unit, 96),
        AT(TytoSmMeasurement, cta_slot, 64),
        AT(TytoCtaProgress, is_paused, 40),
        AT(TytoGridAnswers, pause, 24),
    };
#undef AT
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].is != rows[i].was)
            print_error("%s lies at %zu, not %zu\n", rows[i].what, rows[i].is, rows[i].was);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(rows[i].is, rows[i].was);
}

static void fields_are_read_as_far_as_a_struct_goes(void **unused) {
    (void)unused;
    TytoEvent event = {.size = sizeof event, .pc = 7, .tag = 9};
    assert_true(TYTO_HAS(&event, tag));
    assert_int_equal(TYTO_GET(&event, tag, 1), 9);
    event.size = offsetof(TytoEvent, tag);
    assert_false(TYTO_HAS(&event, tag));
    assert_int_equal(TYTO_GET(&event, tag, 1), 1);
    assert_int_equal(TYTO_GET(&event, pc, 1), 7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_policy_of_any_size_is_taken_over),
        cmocka_unit_test(sizes_that_no_layout_has_are_refused),
        cmocka_unit_test(rows_of_parameters_are_taken_over_alike),
        cmocka_unit_test(the_first_layout_stays),
        cmocka_unit_test(fields_are_read_as_far_as_a_struct_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
