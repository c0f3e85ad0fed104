/* Two policies in one shared object, for warps and for CTAs. They request more memory each time
 * they are asked, fill what they were given first, and report how often they were asked. Their
 * counters are variables outside the state, which real policies must not have. */
#include <string.h>

#include "tyto/cta_policy.h"

enum { UNIT = 4096, STATE = 64 };

static int warps_asked, ctas_asked;

static size_t extra_for_warps(const TytoSmView *view, const double *values) {
    (void)view, (void)values;
    return (size_t)UNIT * (size_t)++warps_asked;
}

static void start(void *state, const TytoSmView *view, const double *values) {
    (void)view, (void)values;
    memset((char *)state + STATE, 0xFF, UNIT);
}

static int pick(void *state, const TytoSmView *view, int scheduler, uint64_t ready) {
    (void)state, (void)view, (void)scheduler;
    return tyto_lowest(ready);
}

static void report(void *state, const TytoSmView *view, const TytoReport *out) {
    (void)state, (void)view;
    out->value(out->context, "asked", "times", warps_asked);
}

const TytoPolicy tyto_policy = {TYTO_POLICY_HEAD,
                                .name = "growing",
                                .summary = "wants more whenever it is asked",
                                .state_bytes = STATE,
                                .extra_bytes = extra_for_warps,
                                .start = start,
                                .pick = pick,
                                .report = report};

static size_t extra_for_ctas(const TytoGridView *view, const double *values) {
    (void)view, (void)values;
    return (size_t)UNIT * (size_t)++ctas_asked;
}

static void start_grid(void *state, const TytoGridView *view, const double *values) {
    (void)view, (void)values;
    memset((char *)state + STATE, 0xFF, UNIT);
}

static void report_grid(const void *state, const TytoReport *out) {
    (void)state;
    out->value(out->context, "asked", "times", ctas_asked);
}

const TytoCtaPolicy tyto_cta_policy = {TYTO_CTA_POLICY_HEAD,
                                       .name = "growing",
                                       .summary = "wants more whenever it is asked",
                                       .state_bytes = STATE,
                                       .extra_bytes = extra_for_ctas,
                                       .start = start_grid,
                                       .report = report_grid};
