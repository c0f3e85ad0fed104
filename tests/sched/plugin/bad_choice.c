/* A CTA policy that sends every CTA to one SM, even if it is full, or to none. */
#include "tyto/cta_policy.h"

static const TytoPolicyParameter parameters[] = {
    {"sm", TYTO_INTEGER, 1, -9, 2000, NULL, "the SM", "this test"}};

static void start(void *state, const TytoGridView *view, const double *values) {
    (void)view;
    *(int *)state = (int)values[0];
}

static int choose(void *state, const TytoGridView *view, const TytoSmSet *room) {
    (void)view, (void)room;
    return *(int *)state;
}

const TytoCtaPolicy tyto_cta_policy = {
    TYTO_CTA_POLICY_HEAD,     .name = "bad-choice", .summary = "one SM, full or not",
    .parameters = parameters, .parameter_count = 1, .state_bytes = sizeof(int),
    .start = start,           .choose = choose};
