/* CTA scheduler limit: like round-robin, with at most N CTAs per SM. Source: MD section 4.1, the
 * sweep over multithreading degrees. */
#include "sched/cta_policy.h"

enum { CTAS };

static const TytoPolicyParameter PARAMETERS[] = {
    [CTAS] = {"ctas", TYTO_INTEGER, 1, 1, TYTO_MAX_CTAS, NULL, "most CTAs on an SM",
              "MD section 4.1"},
};

typedef struct Limit {
    uint32_t ctas; /* most CTAs per SM */
} Limit;

static void start(void *state, const TytoGridView *view, const double *values) {
    Limit *s = state;
    uint32_t ctas = (uint32_t)values[CTAS];
    s->ctas = ctas < view->capacity ? ctas : view->capacity;
}

static uint32_t limit(const void *state, const TytoGridView *view, uint32_t sm) {
    (void)view, (void)sm;
    const Limit *s = state;
    return s->ctas;
}

const TytoCtaPolicy cta_limit = {
    TYTO_CTA_POLICY_HEAD,
    .name = "limit",
    .summary = "as round-robin, with at most `ctas` CTAs on an SM",
    .parameters = PARAMETERS,
    .parameter_count = sizeof PARAMETERS / sizeof *PARAMETERS,
    .state_bytes = sizeof(Limit),
    .start = start,
    .limit = limit,
};
