/* A CTA policy that reports the L1D that it sees at a kernel's start and while it runs. */
#include "tyto/cta_policy.h"

typedef struct State {
    uint32_t first_lines, first_ways; /* at the start */
    uint32_t lines, ways;             /* when the last CTA was dispatched */
} State;

static void start(void *state, const TytoGridView *view, const double *values) {
    (void)values;
    *(State *)state = (State){.first_lines = view->l1d_lines, .first_ways = view->l1d_ways};
}

static void dispatched(void *state, const TytoGridView *view, uint32_t sm) {
    (void)sm;
    ((State *)state)->lines = view->l1d_lines;
    ((State *)state)->ways = view->l1d_ways;
}

static void report(const void *state, const TytoReport *out) {
    const State *told = state;
    out->value(out->context, "first_lines", "", told->first_lines);
    out->value(out->context, "first_ways", "", told->first_ways);
    out->value(out->context, "lines", "", told->lines);
    out->value(out->context, "ways", "", told->ways);
}

const TytoCtaPolicy tyto_cta_policy = {TYTO_CTA_POLICY_HEAD,
                                       .name = "told",
                                       .summary = "reports the L1D that it sees",
                                       .state_bytes = sizeof(State),
                                       .start = start,
                                       .dispatched = dispatched,
                                       .report = report};
