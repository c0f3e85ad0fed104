/* Start and end of bulk copies. The end completes transactions of an mbarrier. */
#ifndef TYTO_ISA_BULK_H
#define TYTO_ISA_BULK_H

#include "isa/async.h"
#include "isa/isa.h"

/* A lane of the warp starts a copy. The bytes have already moved. The copy is added to the
 * context's list, or ends at once if there is no list. */
void isa_bulk_begun(IsaContext *context, const IsaWarp *warp, const IsaBulk *bulk);
/* The copy, started by the warp, has ended. May set a fault. */
void isa_bulk_done(IsaContext *context, const IsaWarp *warp, const IsaBulk *bulk);
/* The CTAs that a copy of the lane goes to, one bit per rank: the CTA of the shared address, or
 * those CTAs of `chosen` that exist in the cluster (`chosen` 0: the instruction names none). 0
 * without clusters. */
uint32_t isa_bulk_ranks(const IsaContext *context, uint64_t shared, uint32_t chosen);
/* Whether a copy may end on an mbarrier at that address. Sets a fault and returns false if not. */
bool isa_bulk_barrier_is_good(IsaContext *context, const IsaWarp *warp, int lane, uint64_t address);

#endif
