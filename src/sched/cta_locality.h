/* Groups of CTAs with strict priorities: the common part of cta-aware-locality,
 * cta-aware-locality-blp and owl. The group with the highest priority that is not blocked on memory
 * issues, and its warps take turns. A group yields as soon as one with a higher priority is
 * unblocked. Source: OWL sections 4.2 and 4.3. */
#ifndef TYTO_SCHED_CTA_LOCALITY_H
#define TYTO_SCHED_CTA_LOCALITY_H

#include "sched/cta_groups.h"

typedef struct CtaLocality {
    CtaGroups groups;
    int8_t last[TYTO_MAX_SCHEDULERS]
               [TYTO_MAX_CTAS]; /* by scheduler and group: its warp that issued last */
    bool yields_to_any;         /* groups yield to any stall, not only to memory */
    uint64_t fair;              /* SM cycles after which priorities rotate; 0: never */
    uint64_t next_rotation;     /* SM cycle */
} CtaLocality;

/* `first`: number of the group with the highest priority (cta_groups_start). */
void cta_locality_start(CtaLocality *s, const TytoSmView *view, uint32_t least_warps,
                        bool yields_to_any, uint32_t first);

/* The functions of TytoPolicy. */
int cta_locality_pick(void *state, const TytoSmView *view, int scheduler, uint64_t ready);
void cta_locality_issued(void *state, const TytoSmView *view, const TytoIssue *issue);
void cta_locality_event(void *state, const TytoSmView *view, const TytoEvent *event);
void cta_locality_report(void *state, const TytoSmView *view, const TytoReport *out);

#endif
