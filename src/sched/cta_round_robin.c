/* CTA scheduler round-robin, load-balanced: CTA i goes to SM i mod SMs while all SMs have room, and
 * then to any SM on which a CTA has finished. This is the dispatcher's default. Source: OWL section
 * 2.1. */
#include "sched/cta_policy.h"

const TytoCtaPolicy cta_round_robin = {
    TYTO_CTA_POLICY_HEAD,
    .name = "round-robin",
    .summary = "CTAs go to the SMs in turn, up to the resources of each SM",
};
