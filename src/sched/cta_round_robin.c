/* CTA scheduler round-robin, load-balanced: CTA i goes to SM i mod SMs while all have room, then to
 * wherever a CTA has finished. That is what the dispatcher does by itself.
 * Source: OWL section 2.1. */
#include "sched/cta_policy.h"

const TytoCtaPolicy cta_round_robin = {
    TYTO_CTA_POLICY_HEAD,
    .name = "round-robin",
    .summary = "CTAs go round the SMs, as many on each as its resources allow",
};
