/* Limits the number of running CTAs of an SM, as a part of policies: the CTAs beyond the limit that
 * came last are paused. A paused CTA keeps its resources, and its warps issue nothing. When the
 * limit rises, or a CTA finishes, the paused CTA that came first continues. At least one CTA runs.
 *
 * CTAs beyond the limit wait on the SM rather than in the dispatcher, which a warp scheduler cannot
 * control. So CTAs are distributed to SMs as without the policy. A program whose CTAs wait for each
 * other may not end, because a paused CTA makes no progress. */
#ifndef TYTO_SCHED_CTA_THROTTLE_H
#define TYTO_SCHED_CTA_THROTTLE_H

#include "base/bits.h"
#include "tyto/policy.h"

typedef struct CtaThrottle {
    uint32_t limit;   /* CTAs that may run */
    uint64_t running; /* slots of running CTAs */
    uint64_t paused;  /* slots of paused CTAs */
    uint64_t warps;   /* warps of the running CTAs */
} CtaThrottle;

enum { CTA_THROTTLE_EVENTS = 1u << TYTO_EVENT_CTA_LAUNCHED | 1u << TYTO_EVENT_CTA_FINISHED };

static inline uint64_t cta_throttle_age(const TytoSmView *view, int cta_slot) {
    return tyto_warp(view, tyto_lowest(tyto_cta(view, cta_slot)->all))->age;
}

/* The CTA of the set that came first, or last. */
static inline int cta_throttle_find(const TytoSmView *view, uint64_t ctas, bool is_last) {
    int found = tyto_lowest(ctas);
    for (ctas &= ctas - 1; ctas; ctas &= ctas - 1) {
        const int cta = tyto_lowest(ctas);
        if ((cta_throttle_age(view, cta) > cta_throttle_age(view, found)) == is_last) found = cta;
    }
    return found;
}

/* Pauses or resumes CTAs to match the limit. */
static inline void cta_throttle_apply(CtaThrottle *t, const TytoSmView *view) {
    while (bits_count64(t->running) > (int)t->limit) {
        const uint64_t last = UINT64_C(1) << cta_throttle_find(view, t->running, true);
        t->running &= ~last;
        t->paused |= last;
    }
    while (t->paused && bits_count64(t->running) < (int)t->limit) {
        const uint64_t first = UINT64_C(1) << cta_throttle_find(view, t->paused, false);
        t->paused &= ~first;
        t->running |= first;
    }
    t->warps = 0;
    for (uint64_t rest = t->running; rest; rest &= rest - 1)
        t->warps |= tyto_cta(view, tyto_lowest(rest))->all;
}

static inline void cta_throttle_set(CtaThrottle *t, const TytoSmView *view, uint32_t limit) {
    t->limit = limit ? limit : 1;
    cta_throttle_apply(t, view);
}

static inline void cta_throttle_event(CtaThrottle *t, const TytoSmView *view,
                                      const TytoEvent *event) {
    const uint64_t cta = event->cta_slot < 0 ? 0 : UINT64_C(1) << event->cta_slot;
    if (event->kind == TYTO_EVENT_CTA_LAUNCHED) t->paused |= cta;
    else if (event->kind == TYTO_EVENT_CTA_FINISHED) t->running &= ~cta, t->paused &= ~cta;
    else return;
    cta_throttle_apply(t, view);
}

#endif
