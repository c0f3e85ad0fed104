/* CTA-aware two-level scheduling, the first scheme of OWL: groups of whole CTAs take turns. A
 * group's turn lasts until all its warps are blocked on memory. Within a group, warps take turns.
 * Source: OWL section 4.1 and algorithm 1 (CTA-AWARE). */
#include "sched/policies.h"

#include <string.h>

#include "sched/cta_groups.h"

enum { GROUP_SIZE, STALL };

static const TytoPolicyParameter PARAMETERS[] = {
    [GROUP_SIZE] = CTA_GROUPS_SIZE,
    [STALL] = CTA_GROUPS_STALL,
};

typedef struct CtaAware {
    CtaGroups groups;
    int8_t last[TYTO_MAX_SCHEDULERS]
               [TYTO_MAX_CTAS];           /* by scheduler and group: its warp that issued last */
    uint8_t current[TYTO_MAX_SCHEDULERS]; /* by scheduler: the group whose turn it is */
    bool yields_to_any;                   /* the parameter `stall` is any */
} CtaAware;

static void start(void *state, const TytoSmView *view, const double *values) {
    CtaAware *s = state;
    cta_groups_start(&s->groups, view, (uint32_t)values[GROUP_SIZE], 0);
    s->yields_to_any = values[STALL] != 0;
    memset(s->last, TYTO_NO_WARP, sizeof s->last);
}

/* The group whose turn it is: the current one while any of its warps can continue, else the next
 * one with such a warp, by number. */
static uint32_t turn(CtaAware *s, uint32_t current, uint64_t going) {
    for (uint32_t i = 0; i < s->groups.count; i++) {
        uint32_t g = (current + i) % s->groups.count;
        if (s->groups.group[g].warps & going) return g;
    }
    return current;
}

static int pick(void *state, const TytoSmView *view, int scheduler, uint64_t ready) {
    CtaAware *s = state;
    uint64_t going = cta_groups_going(view, scheduler, ready, s->yields_to_any);
    uint32_t g = turn(s, s->current[scheduler], going);
    s->current[scheduler] = (uint8_t)g;
    uint64_t candidates = ready & s->groups.group[g].warps;
    return candidates ? tyto_next(candidates, s->last[scheduler][g]) : TYTO_NO_WARP;
}

static void issued(void *state, const TytoSmView *view, const TytoIssue *issue) {
    CtaAware *s = state;
    int g = cta_groups_of_warp(&s->groups, view, issue->warp);
    s->last[issue->scheduler][g] = (int8_t)issue->warp;
}

static void event(void *state, const TytoSmView *view, const TytoEvent *event) {
    (void)view;
    CtaAware *s = state;
    cta_groups_event(&s->groups, event);
}

static void report(void *state, const TytoSmView *view, const TytoReport *out) {
    (void)view;
    const CtaAware *s = state;
    cta_groups_report_sizes(&s->groups, out);
}

const TytoPolicy sched_cta_aware = {
    TYTO_POLICY_HEAD,
    .name = "cta-aware",
    .summary = "groups of whole CTAs take turns, each until all its warps wait for memory",
    .parameters = PARAMETERS,
    .parameter_count = sizeof PARAMETERS / sizeof *PARAMETERS,
    .state_bytes = sizeof(CtaAware),
    .events = CTA_GROUPS_EVENTS,
    .start = start,
    .pick = pick,
    .issued = issued,
    .event = event,
    .report = report,
    .storage = cta_groups_storage,
};
