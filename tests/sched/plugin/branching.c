/* A policy that counts branches and checks their active lanes. */
#include "tyto/policy.h"

typedef struct State {
    uint64_t branches, divergent, taken;
    uint64_t split;              /* divergent ones after which fewer lanes are active */
    uint64_t wrong;              /* branches with impossible lanes, or not followed by `issued` */
    uint32_t pc[TYTO_MAX_WARPS]; /* by warp: pc + 1 of the branch that is still to issue; 0: none */
} State;

static int pick(void *state, const TytoSmView *view, int scheduler, uint64_t ready) {
    (void)state, (void)scheduler;
    return tyto_oldest(view, ready);
}

static void event(void *state, const TytoSmView *view, const TytoEvent *event) {
    (void)view;
    State *s = state;
    s->branches++;
    s->divergent += event->is_divergent;
    s->taken += event->target != event->pc + 1;
    s->split += event->is_divergent && event->lanes_after != event->lanes_before &&
                !(event->lanes_after & ~event->lanes_before);
    s->wrong += !event->lanes_before || !event->lanes_after || s->pc[event->warp] != 0;
    s->pc[event->warp] = event->pc + 1;
}

static void issued(void *state, const TytoSmView *view, const TytoIssue *issue) {
    (void)view;
    State *s = state;
    if (s->pc[issue->warp]) s->wrong += s->pc[issue->warp] != issue->pc + 1;
    s->pc[issue->warp] = 0;
}

static void report(void *state, const TytoSmView *view, const TytoReport *out) {
    (void)view;
    const State *s = state;
    out->value(out->context, "branches", "branches", (double)s->branches);
    out->value(out->context, "divergent", "branches", (double)s->divergent);
    out->value(out->context, "taken", "branches", (double)s->taken);
    out->value(out->context, "split", "branches", (double)s->split);
    out->value(out->context, "wrong", "branches", (double)s->wrong);
}

const TytoPolicy tyto_policy = {TYTO_POLICY_HEAD,
                                .name = "branching",
                                .summary = "counts branches",
                                .state_bytes = sizeof(State),
                                .events = TYTO_WANTS(TYTO_EVENT_BRANCH),
                                .pick = pick,
                                .issued = issued,
                                .event = event,
                                .report = report};
