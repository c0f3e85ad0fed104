/* Beginnings and ends of bulk copies: an end completes transactions of an mbarrier. */
#ifndef TYTO_ISA_BULK_H
#define TYTO_ISA_BULK_H

#include "isa/async.h"
#include "isa/isa.h"

/* A lane of the warp begins a copy, whose bytes have moved: it goes into the context's list, or is
 * over at once. */
void isa_bulk_begun(IsaContext *context, const IsaWarp *warp, const IsaBulk *bulk);
/* The copy, which the warp began, is over. May set a fault. */
void isa_bulk_done(IsaContext *context, const IsaWarp *warp, const IsaBulk *bulk);
/* The CTAs that a copy of the lane goes to, by rank, bit each: that of its shared address, or those
 * of `chosen` (0: there is no choice) which the cluster has. Without clusters 0. */
uint32_t isa_bulk_ranks(const IsaContext *context, uint64_t shared, uint32_t chosen);
/* Whether a copy may end on an mbarrier there; false after a fault. */
bool isa_bulk_barrier_is_good(IsaContext *context, const IsaWarp *warp, int lane, uint64_t address);

#endif
