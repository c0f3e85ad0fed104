/* Warpgroups: four warps of a CTA, the first of a number that is a multiple of four, that multiply
 * matrices together (wgmma; PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions").
 *
 * Each warp multiplies its rows when it issues the product, and reads shared memory then. A wait
 * for a group of products is one for the products of all four warps, so it blocks until every live
 * warp of the warpgroup has committed the group: from then on the shared memory that the group read
 * may be overwritten. */
#ifndef TYTO_ISA_FLOW_WARPGROUP_H
#define TYTO_ISA_FLOW_WARPGROUP_H

#include "isa/launch.h"

/* The warp waits until all but its last `pending` groups are committed by the whole warpgroup. Sets
 * its bit in the CTA's `waiting` and `group_waits` if they are not yet. */
void warpgroup_wait(IsaWarp *warp, uint32_t pending);
/* Releases those warps of the warpgroup whose wait is over: this warp has committed a group, or has
 * exited. */
void warpgroup_release(IsaWarp *warp);

#endif
