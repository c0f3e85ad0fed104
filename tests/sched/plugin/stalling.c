/* A policy that sums over cycles the ready warps that find something full. */
#include "tyto/policy.h"

typedef struct State {
    uint64_t cycles, unit, lsu, mshrs; /* cycles, and warps in them */
    uint64_t empty;                    /* cycles without CTAs */
    uint64_t no_mshr;                  /* cycles without a free MSHR */
    uint64_t no_miss;                  /* cycles without a free place in the queue of misses */
    uint64_t wrong;                    /* cycles in which the sets are inconsistent */
} State;

static int pick(void *state, const TytoSmView *view, int scheduler, uint64_t ready) {
    (void)state, (void)scheduler;
    return tyto_oldest(view, ready);
}

static uint64_t count(uint64_t set) { return (uint64_t)__builtin_popcountll(set); }

static void elapsed(void *state, const TytoSmView *view, uint64_t cycles) {
    State *s = state;
    s->cycles += cycles;
    s->empty += cycles * !view->ctas;
    s->unit += cycles * count(view->unit_full);
    s->lsu += cycles * count(view->lsu_full);
    s->mshrs += cycles * count(view->mshrs_full);
    s->no_mshr += cycles * (view->l1d_mshrs_free == 0);
    s->no_miss += cycles * (view->l1d_misses_free == 0);
    const bool is_wrong = view->unit_full & view->lsu_full ||
                          (view->mshrs_full && view->l1d_mshrs_free) ||
                          view->l1d_mshrs_free > view->l1d_mshrs;
    s->wrong += is_wrong;
}

static void report(void *state, const TytoSmView *view, const TytoReport *out) {
    (void)view;
    const State *s = state;
    const struct {
        const char *name;
        uint64_t value;
    } rows[] = {{"cycles", s->cycles},   {"empty", s->empty}, {"unit", s->unit},
                {"lsu", s->lsu},         {"mshrs", s->mshrs}, {"no_mshr", s->no_mshr},
                {"no_miss", s->no_miss}, {"wrong", s->wrong}};
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++)
        out->value(out->context, rows[i].name, "", (double)rows[i].value);
}

static void storage(const double *values, const TytoMachineSizes *m, const TytoStorage *out) {
    (void)values;
    out->bits(out->context, "counters, 32 bits each", "ours", 8 * 32, 0);
    out->bits(out->context, "a bit per warp", "ours", m->warps, 1);
}

const TytoPolicy tyto_policy = {TYTO_POLICY_HEAD,
                                .name = "stalling",
                                .summary = "counts who finds what full",
                                .state_bytes = sizeof(State),
                                .needs = TYTO_NEEDS_STALLS,
                                .pick = pick,
                                .elapsed = elapsed,
                                .report = report,
                                .storage = storage};
