/* The table of CTA schedulers, and how one is chosen (see the header). */
#include "sched/cta_policy.h"

#include <string.h>

#include "base/arena.h"
#include "sched/spec.h"

#define ADDRESS(name) &cta_##name,
static const CtaPolicy *const POLICIES[] = {CTA_POLICIES(ADDRESS)};
enum { POLICY_COUNT = sizeof POLICIES / sizeof *POLICIES };

/* One allocation's worth of what a choice consists of. */
typedef struct Choice {
    CtaSched sched; /* first, so that freeing finds the rest */
    Arena *arena;   /* owns this and all that `sched` points to */
} Choice;

const CtaPolicy *cta_policy_at(int i) { return i >= 0 && i < POLICY_COUNT ? POLICIES[i] : NULL; }

static const CtaPolicy *find(const char *name, Diag *diag) {
    const char *names[POLICY_COUNT];
    for (int i = 0; i < POLICY_COUNT; i++) {
        if (!strcmp(POLICIES[i]->name, name)) return POLICIES[i];
        names[i] = POLICIES[i]->name;
    }
    spec_unknown("CTA scheduler", name, names, POLICY_COUNT, diag);
    return NULL;
}

static bool choose(Choice *choice, const char *text, Diag *diag) {
    size_t length = strcspn(text, ":");
    const CtaPolicy *policy = find(arena_strndup(choice->arena, text, length), diag);
    if (!policy) return false;
    choice->sched.policy = policy;
    const SpecOwner owner = {policy->name, policy->parameters, policy->parameter_count};
    choice->sched.values = spec_read(&owner, text + length, choice->arena, diag);
    if (!choice->sched.values) return false;
    choice->sched.text = spec_write(&owner, policy->name, choice->sched.values, choice->arena);
    return true;
}

CtaSched *cta_sched_new(const char *text, Diag *diag) {
    Arena *arena = arena_new();
    Choice *choice = ARENA_NEW(arena, Choice);
    choice->arena = arena;
    if (choose(choice, text, diag)) return &choice->sched;
    arena_free(arena);
    return NULL;
}

void cta_sched_free(CtaSched *sched) {
    if (sched) arena_free(((Choice *)(void *)sched)->arena);
}

void *cta_sched_state_new(const CtaSched *sched) {
    return base_alloc_lines(sched->policy->state_bytes + 64);
}

void cta_sched_start(const CtaSched *sched, void *state, const CtaView *view) {
    memset(state, 0, sched->policy->state_bytes);
    if (sched->policy->start) sched->policy->start(state, view, sched->values);
}
