/* Properties of every policy, whatever happens on the SM: a pick is ready, the same history gives
 * the same picks, all work finishes, and reports can be written. Random kernels run on a fabricated
 * SM. */
#include "fabricated.h"

#include <stdlib.h>
#include <string.h>

#include "../every.h"
#include "base/bits.h"
#include "sched/report.h"

/* All registered policies, some combinations of parameters, and the tutorial's plug-in. */
static Every variants;

static void list_variants(void) {
    static const char *const more[] = {
        "two-level:group=2,inner=gto,outer=gto",
        "two-level:stall=any,group=3",
        "two-level-active:active=1",
        "swl:limit=1",
        "swl:limit=5",
        "cta-aware:group_size=1,stall=any",
        "cta-aware-locality:fair=37",
        "ccws:k_throttle=1000,base=3",
        "ccws:vta_sets=8,vta_ways=1",
        "pro:threshold=1",
        "dyncta:period=40",
        "tournament:period=50,again=100",
        "equalizer:sample=5,epoch=20,epochs=1",
        "linebacker:window=40,threshold=0,rise=0,fall=0",
        "pcal:tokens=2,warps=3,period=64",
        "ciao:high=0.001,low=0.0005,high_epoch=50,low_epoch=10",
        TEST_TURNS,
    };
    every_scheduler(&variants);
    every_scheduler_choice(&variants);
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        every_add(&variants, more[i]);
    every_thin(&variants);
}

static uint32_t next_random(uint32_t *seed) {
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

/* A kernel whose warps issue a random number of instructions, some of them loads and barriers. */
typedef struct Kernel {
    Fabricated f;
    uint32_t random;
    uint64_t ctas, next_cta;       /* of the grid; the next one to launch */
    uint64_t back[TYTO_MAX_WARPS]; /* cycle in which the warp's data arrive */
    int left[TYTO_MAX_WARPS];      /* instructions until the warp ends */
    uint64_t hash;                 /* of all picks */
} Kernel;

static void launch_next(Kernel *k, int slot) {
    Fabricated *f = &k->f;
    launch(f, slot, k->next_cta++);
    int length = 20 + (int)(next_random(&k->random) % 60); /* of all, so that barriers match */
    for (uint64_t rest = f->view.cta[slot].all; rest; rest &= rest - 1)
        k->left[tyto_lowest(rest)] = length;
    if (k->next_cta == k->ctas) last_cta(f);
}

static void fill(Kernel *k) {
    for (int slot = 0; slot < (int)k->f.view.cta_limit && k->next_cta < k->ctas; slot++)
        if (!(k->f.view.ctas >> slot & 1)) launch_next(k, slot);
}

/* The number of instructions left decides what the next one is: all warps of a CTA meet at
 * barriers. */
static bool is_load(const Kernel *k, int warp) { return k->left[warp] % 4 == 1; }
static bool is_barrier(const Kernel *k, int warp) { return k->left[warp] % 10 == 5; }

static void load(Kernel *k, int warp) {
    uint64_t address = (next_random(&k->random) % 64) * 128;
    if (next_random(&k->random) % 2) {
        l1d_hit(&k->f, warp, address);
        return;
    }
    l1d_miss(&k->f, warp, address);
    l1d_evict(&k->f, (int)(next_random(&k->random) % k->f.view.warp_count), address ^ 128);
    k->back[warp] = k->f.view.cycle + 20 + next_random(&k->random) % 200;
    block(&k->f, UINT64_C(1) << warp);
}

static void execute(Kernel *k, int warp) {
    Fabricated *f = &k->f;
    bool loads = is_load(k, warp), arrives = is_barrier(k, warp);
    issue_lanes(f, warp, 1 + (int)(next_random(&k->random) % 32));
    k->left[warp]--;
    int slot = f->view.warp[warp].cta_slot;
    if (loads) load(k, warp);
    if (arrives) arrive(f, warp);
    if (!k->left[warp]) {
        unblock(f, UINT64_C(1) << warp);
        finish_warp(f, warp);
    }
    uint64_t rest = f->view.cta[slot].warps;
    if (rest && !(rest & ~f->view.at_barrier)) release(f, slot);
}

static uint64_t ready_of(Kernel *k, uint32_t scheduler) {
    Fabricated *f = &k->f;
    uint64_t loads = 0, allowed = UINT64_MAX;
    for (uint64_t rest = f->view.resident; rest; rest &= rest - 1)
        if (is_load(k, tyto_lowest(rest))) loads |= rest & -rest;
    f->view.wants_load = loads;
    if (f->policy->policy->may_load) allowed = ~loads | may_load(f);
    uint64_t short_wait = next_random(&k->random); /* some wait for an ALU */
    return sched_view_unblocked(&f->view) & f->view.scheduler_warps[scheduler] & allowed &
           ~(short_wait | short_wait << 32);
}

static void cycle(Kernel *k) {
    Fabricated *f = &k->f;
    for (uint64_t rest = f->view.waits_memory; rest; rest &= rest - 1)
        if (k->back[tyto_lowest(rest)] <= f->view.cycle) unblock(f, rest & -rest);
    for (uint32_t s = 0; s < f->view.schedulers; s++) {
        int warp = pick_of(f, (int)s, ready_of(k, s));
        k->hash = (k->hash ^ (uint64_t)(warp + 2)) * UINT64_C(0x100000001b3);
        if (warp != TYTO_NO_WARP) execute(k, warp);
    }
    fill(k);
    pass(f, 1);
}

/* Runs a random kernel to its end; returns the hash of all picks. */
static uint64_t run(const char *policy, uint32_t seed) {
    static const FabricatedSize SIZES[] = {
        {.warps = 48, .schedulers = 2, .warps_per_cta = 6, .ctas = 8, .sms = 3, .sm = 1},
        {.warps = 32, .schedulers = 1, .warps_per_cta = 2, .ctas = 10},
        {.warps = 64, .schedulers = 4, .warps_per_cta = 32, .ctas = 2, .sms = 28, .sm = 27},
        {.warps = 24, .schedulers = 1, .warps_per_cta = 1, .ctas = 24},
    };
    Kernel *k = calloc(1, sizeof *k);
    k->random = seed;
    k->ctas = 30;
    fabricate(&k->f, policy, SIZES[seed % 4]);
    fill(k);
    while (k->f.view.resident) {
        cycle(k);
        if (k->f.view.cycle > 10000000) fail_msg("%s does not finish", policy);
    }
    assert_int_equal(k->next_cta, k->ctas);
    uint64_t hash = k->hash;
    fabricated_free(&k->f);
    free(k);
    return hash;
}

static void every_pick_is_ready_and_all_work_finishes(void **unused) {
    (void)unused;
    for (int v = 0; v < variants.count; v++)
        for (uint32_t seed = 1; seed <= 12; seed++)
            run(variants.names[v], seed);
}

static void the_same_history_gives_the_same_picks(void **unused) {
    (void)unused;
    for (int v = 0; v < variants.count; v++)
        for (uint32_t seed = 100; seed < 104; seed++)
            assert_int_equal(run(variants.names[v], seed), run(variants.names[v], seed));
}

static void asking_again_with_fewer_warps_changes_no_later_pick(void **unused) {
    (void)unused;
    for (int v = 0; v < variants.count; v++) {
        Fabricated once, often;
        FabricatedSize size = {.warps = 16, .warps_per_cta = 4};
        fabricate(&once, variants.names[v], size);
        fabricate(&often, variants.names[v], size);
        launch_all(&once);
        launch_all(&often);
        for (int i = 0; i < 200; i++) {
            uint64_t ready = sched_view_unblocked(&often.view);
            for (int again = 0; again < 3; again++)
                pick(&often, ready);
            assert_int_equal(step(&once), step(&often));
        }
        fabricated_free(&once);
        fabricated_free(&often);
    }
}

static void a_new_kernel_starts_afresh(void **unused) {
    (void)unused;
    for (int v = 0; v < variants.count; v++) {
        Fabricated f;
        int first[40];
        fabricate(&f, variants.names[v], (FabricatedSize){.warps = 16, .warps_per_cta = 4});
        TytoSmView fresh = f.view;
        for (int kernel = 0; kernel < 2; kernel++) {
            f.view = fresh;
            f.next_age = 0;
            sched_agent_start(&f.agent, &f.view);
            launch_all(&f);
            for (int i = 0; i < 40; i++) {
                int warp = step(&f);
                if (kernel) assert_int_equal(warp, first[i]);
                first[i] = warp;
                if (i % 7 == 3 && warp >= 0) block(&f, UINT64_C(1) << warp);
            }
        }
        fabricated_free(&f);
    }
}

/* Counts the values that a policy reports; a list counts as one. */
static void count_value(void *context, const char *name, const char *unit, double value) {
    (void)value;
    assert_true(*name && *unit);
    ++*(int *)context;
}
static void count_list(void *context, const char *name, const char *unit, const double *values,
                       size_t count) {
    assert_true(count == 0 || values);
    count_value(context, name, unit, 0);
}

static void every_report_names_its_numbers_and_their_units(void **unused) {
    (void)unused;
    for (int v = 0; v < variants.count; v++) {
        Fabricated f;
        fabricate(&f, variants.names[v], (FabricatedSize){.warps = 16, .warps_per_cta = 4});
        launch_all(&f);
        int count = 0;
        TytoReport report = {sizeof(TytoReport), &count, count_value, count_list};
        if (f.policy->policy->report) {
            f.policy->policy->report(f.state, &f.view, &report);
            assert_true(count > 0);
        }
        fabricated_free(&f);
    }
}

int main(void) {
    list_variants();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pick_is_ready_and_all_work_finishes),
        cmocka_unit_test(the_same_history_gives_the_same_picks),
        cmocka_unit_test(asking_again_with_fewer_warps_changes_no_later_pick),
        cmocka_unit_test(a_new_kernel_starts_afresh),
        cmocka_unit_test(every_report_names_its_numbers_and_their_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
