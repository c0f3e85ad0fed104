/* CTA scheduler round-robin, load-balanced: CTA i goes to SM i mod SMs while all have room, then to
 * wherever a CTA has finished.
 * Source: OWL section 2.1. */
#include "sched/cta_policy.h"

static uint32_t limit(const void *state, const CtaView *view, uint32_t sm) {
    (void)state, (void)sm;
    return view->capacity;
}

const CtaPolicy cta_round_robin = {
    .name = "round-robin",
    .summary = "CTAs go round the SMs, as many on each as its resources allow",
    .limit = limit,
};
