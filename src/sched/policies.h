/* The built-in warp schedulers, one file each: POLICY(name) is the constant sched_NAME. The
 * registry (registry.c), and with it every list and help text, follows their order here. */
#ifndef TYTO_SCHED_POLICIES_H
#define TYTO_SCHED_POLICIES_H

#include "tyto/policy.h"

#define SCHED_POLICIES(POLICY)                                                                     \
    POLICY(lrr)                                                                                    \
    POLICY(gto)                                                                                    \
    POLICY(oldest)                                                                                 \
    POLICY(youngest)                                                                               \
    POLICY(cggty)                                                                                  \
    POLICY(two_level)                                                                              \
    POLICY(two_level_active)                                                                       \
    POLICY(gebhart)                                                                                \
    POLICY(swl)                                                                                    \
    POLICY(cta_aware)                                                                              \
    POLICY(cta_aware_locality)                                                                     \
    POLICY(cta_aware_locality_blp)                                                                 \
    POLICY(owl)                                                                                    \
    POLICY(ccws)                                                                                   \
    POLICY(pro)                                                                                    \
    POLICY(caws)                                                                                   \
    POLICY(cawa)                                                                                   \
    POLICY(cawa_cacp)                                                                              \
    POLICY(dyncta)                                                                                 \
    POLICY(equalizer)                                                                              \
    POLICY(linebacker)                                                                             \
    POLICY(mascar)                                                                                 \
    POLICY(pcal)                                                                                   \
    POLICY(poise)                                                                                  \
    POLICY(ciao)                                                                                   \
    POLICY(baws)                                                                                   \
    POLICY(ipaws)                                                                                  \
    POLICY(daws)                                                                                   \
    POLICY(apres)                                                                                  \
    POLICY(prefetch_aware)                                                                         \
    POLICY(tournament)

#define SCHED_DECLARE(name) extern const TytoPolicy sched_##name;
SCHED_POLICIES(SCHED_DECLARE)
#undef SCHED_DECLARE

#endif
