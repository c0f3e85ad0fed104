/* The table of CTA schedulers, and their selection (see the header). */
#include "sched/cta_policy.h"

#include "base/arena.h"
#include "sched/choice.h"

#define ADDRESS(name) &cta_##name,
static const TytoCtaPolicy *const POLICIES[] = {CTA_POLICIES(ADDRESS)};
enum { POLICY_COUNT = sizeof POLICIES / sizeof *POLICIES };

/* All parts of a choice, in one allocation. */
typedef struct Chosen {
    CtaSched sched;      /* first member, so that freeing finds the rest */
    PolicyChoice choice; /* the choice that `sched` was made from */
    Arena *arena;        /* owns this struct and everything that `sched` points to */
} Chosen;

const TytoCtaPolicy *cta_policy_at(int i) {
    return i >= 0 && i < POLICY_COUNT ? POLICIES[i] : NULL;
}

/* ---- The kind of policy ---- */

static const void *at(int i) { return cta_policy_at(i); }

static PolicyFace face(const void *policy) {
    const TytoCtaPolicy *p = policy;
    return (PolicyFace){p->name, p->summary, p->parameters, p->parameter_count, p->state_bytes};
}

static const char *check(const void *policy) {
    const TytoCtaPolicy *p = policy;
    if (p->watched_sm && !p->l1d_load)
        return "its policy watches an SM's loads, but has no function for them";
    if (p->sample_every && !p->sample)
        return "its policy wants samples, but has no function for them";
    return NULL;
}

const PolicyKind sched_kind_cta = {.title = "CTA schedulers",
                                   .noun = "CTA scheduler",
                                   .option = "--cta-scheduler",
                                   .header = "tyto/cta_policy.h",
                                   .type = "TytoCtaPolicy",
                                   .symbol = "tyto_cta_policy",
                                   .size = sizeof(TytoCtaPolicy),
                                   .least = offsetof(TytoCtaPolicy, extra_bytes),
                                   .at = at,
                                   .face = face,
                                   .check = check};

/* ---- A choice ---- */

CtaSched *cta_sched_new(const char *text, Diag *diag) {
    Arena *arena = arena_new();
    Chosen *chosen = ARENA_NEW(arena, Chosen);
    chosen->arena = arena;
    if (!choice_read(&sched_kind_cta, text, arena, &chosen->choice, diag)) {
        arena_free(arena);
        return NULL;
    }
    const PolicyChoice *choice = &chosen->choice;
    chosen->sched = (CtaSched){choice->policy, choice->values, choice->text, choice->content};
    return &chosen->sched;
}

void cta_sched_free(CtaSched *sched) {
    if (!sched) return;
    Chosen *chosen = (Chosen *)(void *)sched;
    choice_close(&chosen->choice);
    arena_free(chosen->arena);
}
