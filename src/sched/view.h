/* Updates a policy's view of its SM when CTAs and warps come and go. The SM sets the fields about
 * next instructions; this code sets everything that follows from which warps are resident. */
#ifndef TYTO_SCHED_VIEW_H
#define TYTO_SCHED_VIEW_H

#include "tyto/policy.h"

/* The fields that describe the layout of a view. */
#define SCHED_VIEW_HEAD                                                                            \
    .size = sizeof(TytoSmView), .warps_at = offsetof(TytoSmView, warp),                            \
    .warp_bytes = sizeof(TytoWarpView), .ctas_at = offsetof(TytoSmView, cta),                      \
    .cta_bytes = sizeof(TytoCtaView)

/* A CTA enters a free slot with `warps`, which are not resident. Their ages start at `first_age`
 * and increase with the slot. */
void sched_view_launch(TytoSmView *view, int cta_slot, uint64_t warps, uint64_t cta_index,
                       uint64_t first_age);

/* A warp has finished: removes it from every set. */
void sched_view_retire(TytoSmView *view, int warp);

/* All warps of a CTA have finished: removes the CTA from its slot. */
void sched_view_finish(TytoSmView *view, int cta_slot);

/* The warps that do not wait for anything long, such as memory or a barrier, and have not exited.
 */
static inline uint64_t sched_view_unblocked(const TytoSmView *view) {
    return view->resident & ~(view->at_barrier | view->at_mbarrier | view->waits_memory |
                              view->waits_other | view->exited);
}

/* The `limit` oldest warps with threads left. */
uint64_t sched_view_first(const TytoSmView *view, int limit);

/* The `limit` oldest warps with threads left, and all warps of CTAs with a warp at a barrier or an
 * mbarrier, so that the others can reach it. The result changes only with launches, exits, barriers
 * and waits at mbarriers. */
uint64_t sched_view_oldest(const TytoSmView *view, int limit);

/* The warps of CTAs with a warp at a barrier or an mbarrier. */
uint64_t sched_view_awaited(const TytoSmView *view);

#endif
