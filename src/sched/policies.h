/* The warp schedulers that come with Tyto, one file each. The registry (registry.c) lists them. */
#ifndef TYTO_SCHED_POLICIES_H
#define TYTO_SCHED_POLICIES_H

#include "tyto/policy.h"

extern const TytoPolicy sched_lrr;
extern const TytoPolicy sched_gto;
extern const TytoPolicy sched_two_level;
extern const TytoPolicy sched_two_level_active;
extern const TytoPolicy sched_swl;
extern const TytoPolicy sched_cta_aware;
extern const TytoPolicy sched_cta_aware_locality;
extern const TytoPolicy sched_cta_aware_locality_blp;
extern const TytoPolicy sched_owl;
extern const TytoPolicy sched_ccws;
extern const TytoPolicy sched_pro;

#endif
