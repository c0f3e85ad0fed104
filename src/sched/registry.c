/* The table of warp schedulers, and their selection (see the header). */
#include "sched/registry.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "sched/choice.h"
#include "sched/policies.h"

#define ADDRESS(name) &sched_##name,
static const TytoPolicy *const POLICIES[] = {SCHED_POLICIES(ADDRESS)};
enum { POLICY_COUNT = sizeof POLICIES / sizeof *POLICIES };

static const DramPrefetchScheme SCHEMES[] = {[TYTO_PREFETCH_NONE] = DRAM_PREFETCH_NONE,
                                             [TYTO_PREFETCH_STOP] = DRAM_PREFETCH_STOP,
                                             [TYTO_PREFETCH_MIN] = DRAM_PREFETCH_MIN};
static const DramPrefetchOrder PREFETCH_ORDERS[] = {[TYTO_PREFETCH_FROM_START] =
                                                        DRAM_PREFETCH_FROM_START,
                                                    [TYTO_PREFETCH_AROUND] = DRAM_PREFETCH_AROUND,
                                                    [TYTO_PREFETCH_ONWARD] = DRAM_PREFETCH_ONWARD};
enum {
    SCHEME_COUNT = sizeof SCHEMES / sizeof *SCHEMES,
    PREFETCH_ORDER_COUNT = sizeof PREFETCH_ORDERS / sizeof *PREFETCH_ORDERS
};

/* All parts of a choice, in one allocation. */
typedef struct Chosen {
    SchedPolicy policy;  /* first member, so that freeing finds the rest */
    PolicyChoice choice; /* the choice that `policy` was made from */
    Arena *arena;        /* owns this struct and everything that `policy` points to */
} Chosen;

const TytoPolicy *sched_policy_at(int i) { return i >= 0 && i < POLICY_COUNT ? POLICIES[i] : NULL; }

/* ---- The kind of policy ---- */

static const void *at(int i) { return sched_policy_at(i); }

static PolicyFace face(const void *policy) {
    const TytoPolicy *p = policy;
    return (PolicyFace){p->name, p->summary, p->parameters, p->parameter_count, p->state_bytes};
}

static const char *check(const void *policy) {
    const TytoPolicy *p = policy;
    if (!p->pick) return "its policy has no function `pick`";
    if (p->events && !p->event) return "its policy wants events, but has no function for them";
    if (p->events >> TYTO_EVENTS) return "its policy wants events that there are not";
    if (p->needs & ~(uint64_t)(TYTO_NEEDS_STALLS | TYTO_NEEDS_PREFETCH))
        return "its policy needs what there is not";
    return NULL;
}

const PolicyKind sched_kind_warp = {.title = "Warp schedulers",
                                    .noun = "warp scheduler",
                                    .option = "--scheduler",
                                    .header = "tyto/policy.h",
                                    .type = "TytoPolicy",
                                    .symbol = "tyto_policy",
                                    .size = sizeof(TytoPolicy),
                                    .least = offsetof(TytoPolicy, may_load),
                                    .at = at,
                                    .face = face,
                                    .check = check};

/* ---- A choice ---- */

/* Asks the policy for its DRAM prefetch settings, which must be valid. */
static bool ask_prefetch(SchedPolicy *chosen, Diag *diag) {
    const TytoPolicy *policy = chosen->policy;
    chosen->prefetch = (TytoDramPrefetch){.size = sizeof chosen->prefetch};
    if (policy->dram_prefetch) policy->dram_prefetch(chosen->values, &chosen->prefetch);
    const TytoDramPrefetch *wanted = &chosen->prefetch;
    const bool is_scheme = (unsigned)wanted->scheme < SCHEME_COUNT;
    const bool is_order = (unsigned)wanted->order < PREFETCH_ORDER_COUNT;
    const bool is_start = (unsigned)wanted->start <= TYTO_PREFETCH_IDLE;
    if (!is_scheme)
        diag_error(diag, NULL, 0, 0, "%s: asks for a prefetch scheme %d; there are 0 to %d",
                   policy->name, (int)wanted->scheme, SCHEME_COUNT - 1);
    if (!is_order)
        diag_error(diag, NULL, 0, 0, "%s: asks for a prefetch order %d; there are 0 to %d",
                   policy->name, (int)wanted->order, PREFETCH_ORDER_COUNT - 1);
    if (!is_start)
        diag_error(diag, NULL, 0, 0, "%s: asks for a prefetch start %d; there are 0 to %d",
                   policy->name, (int)wanted->start, TYTO_PREFETCH_IDLE);
    return is_scheme && is_order && is_start;
}

SchedPolicy *sched_policy_new(const char *text, Diag *diag) {
    Arena *arena = arena_new();
    Chosen *chosen = ARENA_NEW(arena, Chosen);
    PolicyChoice *choice = &chosen->choice;
    chosen->arena = arena;
    if (choice_read(&sched_kind_warp, text, arena, choice, diag)) {
        chosen->policy = (SchedPolicy){.policy = choice->policy,
                                       .values = choice->values,
                                       .text = choice->text,
                                       .is_loaded = choice->library,
                                       .content = choice->content};
        if (ask_prefetch(&chosen->policy, diag)) return &chosen->policy;
    }
    sched_policy_free(&chosen->policy);
    return NULL;
}

void sched_policy_free(SchedPolicy *policy) {
    if (!policy) return;
    Chosen *chosen = (Chosen *)(void *)policy;
    choice_close(&chosen->choice);
    arena_free(chosen->arena);
}

double sched_policy_value(const SchedPolicy *policy, const char *parameter, double otherwise) {
    for (uint32_t i = 0; i < policy->policy->parameter_count; i++)
        if (!strcmp(policy->policy->parameters[i].name, parameter)) return policy->values[i];
    return otherwise;
}

void sched_policy_prefetch(const SchedPolicy *policy, DramPrefetchConfig *config) {
    const TytoDramPrefetch *wanted = &policy->prefetch;
    config->scheme = SCHEMES[wanted->scheme];
    config->lower = wanted->lower;
    config->higher = wanted->higher;
    config->threshold = wanted->threshold;
    config->skips_cached = wanted->skips_cached;
    config->order = PREFETCH_ORDERS[wanted->order];
    config->begins_idle = wanted->start == TYTO_PREFETCH_IDLE;
}

void sched_explain_pick(const SchedPolicy *policy, const TytoSmView *view, int warp, uint64_t ready,
                        char *text, size_t size) {
    const char *why = warp < 0 || warp >= (int)view->warp_count ? "is not a warp slot"
                      : !tyto_has(view->resident, warp)         ? "holds no warp"
                                                                : "cannot issue now";
    snprintf(text, size,
             "warp scheduler %s: cycle %llu, SM %u: picked warp %d, which %s (ready: 0x%llx)",
             policy->text, (unsigned long long)view->cycle, view->sm, warp, why,
             (unsigned long long)ready);
}
