/* Keeps what a policy sees of its SM true while CTAs and warps come and go. The SM sets the words
 * that say what the next instructions want; this sets all that follows from who is there. */
#ifndef TYTO_SCHED_VIEW_H
#define TYTO_SCHED_VIEW_H

#include "tyto/policy.h"

/* What says where the parts of a view lie. */
#define SCHED_VIEW_HEAD                                                                            \
    .size = sizeof(TytoSmView), .warps_at = offsetof(TytoSmView, warp),                            \
    .warp_bytes = sizeof(TytoWarpView), .ctas_at = offsetof(TytoSmView, cta),                      \
    .cta_bytes = sizeof(TytoCtaView)

/* A CTA comes to a free slot with `warps`, which are not resident; their ages start at `first_age`,
 * and rise with the slot. */
void sched_view_launch(TytoSmView *view, int cta_slot, uint64_t warps, uint64_t cta_index,
                       uint64_t first_age);

/* A warp has finished: it leaves every set. */
void sched_view_retire(TytoSmView *view, int warp);

/* A CTA whose warps have all finished leaves its slot. */
void sched_view_finish(TytoSmView *view, int cta_slot);

/* The warps that are held up by nothing long: not by memory, not by a barrier, not by their end. */
static inline uint64_t sched_view_unblocked(const TytoSmView *view) {
    return view->resident & ~(view->at_barrier | view->waits_memory | view->exited);
}

/* The `limit` oldest warps that have threads left, and all warps of CTAs with a warp that waits at
 * a barrier, so that the others can reach it. Only launches, exits and barriers change them. */
uint64_t sched_view_oldest(const TytoSmView *view, int limit);

/* The warps of CTAs with a warp that waits at a barrier. */
uint64_t sched_view_awaited(const TytoSmView *view);

#endif
