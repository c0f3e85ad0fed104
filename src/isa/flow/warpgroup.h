/* Warpgroups: four warps of a CTA that multiply matrices together. The number of the first warp is
 * a multiple of four (wgmma; PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions").
 *
 * Each warp multiplies its rows when it issues the product, and reads shared memory then. A wait
 * for a group of products covers the products of all four warps. So it blocks until every live warp
 * of the warpgroup has committed the group. After that, the shared memory that the group read may
 * be overwritten. */
#ifndef TYTO_ISA_FLOW_WARPGROUP_H
#define TYTO_ISA_FLOW_WARPGROUP_H

#include "isa/launch.h"

/* The warp waits until the whole warpgroup has committed all but the warp's last `pending` groups.
 * If it must wait, sets its bit in the CTA's `waiting` and `group_waits`. */
void warpgroup_wait(IsaWarp *warp, uint32_t pending);
/* Releases the warps of the warpgroup whose wait has ended. Called after this warp has committed a
 * group or has exited. */
void warpgroup_release(IsaWarp *warp);

#endif
