/* Strict priorities among groups of CTAs (see the header). */
#include "sched/cta_locality.h"

#include <string.h>

void cta_locality_start(CtaLocality *s, const TytoSmView *view, uint32_t least_warps,
                        bool yields_to_any, uint32_t first) {
    cta_groups_start(&s->groups, view, least_warps, first);
    s->yields_to_any = yields_to_any;
    memset(s->last, TYTO_NO_WARP, sizeof s->last);
}

int cta_locality_pick(void *state, const TytoSmView *view, int scheduler, uint64_t ready) {
    const CtaLocality *s = state;
    uint64_t going = cta_groups_going(view, scheduler, ready, s->yields_to_any);
    for (uint32_t priority = 0; priority < s->groups.count; priority++) {
        uint32_t g = cta_groups_at(&s->groups, priority);
        uint64_t warps = s->groups.group[g].warps;
        if (!(warps & going)) continue;
        return warps & ready ? tyto_next(warps & ready, s->last[scheduler][g]) : TYTO_NO_WARP;
    }
    return TYTO_NO_WARP;
}

void cta_locality_issued(void *state, const TytoSmView *view, const TytoIssue *issue) {
    CtaLocality *s = state;
    int g = cta_groups_of_warp(&s->groups, view, issue->warp);
    s->last[issue->scheduler][g] = (int8_t)issue->warp;
}

void cta_locality_event(void *state, const TytoSmView *view, const TytoEvent *event) {
    (void)view;
    CtaLocality *s = state;
    cta_groups_event(&s->groups, event);
}

void cta_locality_report(void *state, const TytoSmView *view, const TytoReport *out) {
    (void)view;
    const CtaLocality *s = state;
    cta_groups_report_sizes(&s->groups, out);
    cta_groups_report_priorities(&s->groups, out);
}
