/* Warpgroups (see the header). */
#include "isa/flow/warpgroup.h"

#include "base/bits.h"
#include "isa/check/check.h"
#include "isa/exec/handlers.h"
#include "isa/exec/wgmma.h"

/* The live warps of its warpgroup, one bit per index in the CTA. */
static uint32_t members_of(const IsaWarp *warp) {
    const uint32_t first = warp->index / ISA_WGMMA_WARPS * ISA_WGMMA_WARPS;
    return warp->cta->alive & (uint32_t)bits_low_mask(ISA_WGMMA_WARPS) << first;
}

static bool have_committed(const IsaCta *cta, uint32_t members, uint32_t groups) {
    for (; members; members &= members - 1)
        if (cta->warps[bits_lowest32(members)].groups < groups) return false;
    return true;
}

/* The wait of the warp has ended. */
static void end_wait(const IsaWarp *warp) {
    if (warp->cta->launch->check) isa_check_products_over(warp);
}

void warpgroup_wait(IsaWarp *warp, uint32_t pending) {
    IsaCta *cta = warp->cta;
    warp->awaited_groups = warp->groups > pending ? warp->groups - pending : 0;
    if (have_committed(cta, members_of(warp), warp->awaited_groups)) {
        end_wait(warp);
        return;
    }
    cta->group_waits |= 1u << warp->index;
    cta->waiting |= 1u << warp->index;
}

void warpgroup_release(IsaWarp *warp) {
    IsaCta *cta = warp->cta;
    const uint32_t members = members_of(warp);
    for (uint32_t rest = members & cta->group_waits; rest; rest &= rest - 1) {
        const uint32_t bit = rest & -rest;
        if (!have_committed(cta, members, cta->warps[bits_lowest32(rest)].awaited_groups)) continue;
        cta->group_waits &= ~bit;
        cta->waiting &= ~bit;
        end_wait(&cta->warps[bits_lowest32(bit)]);
    }
}

/* The warp's products so far become a group. */
void isa_exec_COMMIT_GROUP(IsaContext *context, IsaWarp *warp, const IsaInst *inst, uint32_t mask) {
    (void)inst, (void)mask;
    if (context->launch->check) isa_check_products_committed(warp);
    warp->groups++;
    context->changes++;
    warpgroup_release(warp);
}
