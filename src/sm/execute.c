/* What every core does when it issues an instruction (see the header). */
#include "sm/execute.h"

#include "memory/memory.h"
#include "sm/bulk.h"
#include "sm/products.h"

void execute_init(SmExecute *execute, const SmContext *sm) {
    *execute = (SmExecute){.has_window = false};
    coalescer_init(&execute->coalescer, sm->config, sm->env.l2_sector_bytes, sm->env.index,
                   sm->env.sms);
    execute->coalescer.l2_takes_hints = sm->env.l2_takes_hints;
}

void execute_start(SmExecute *execute) { execute->sees_registered = execute->has_window = false; }

void execute_begin_grid(SmExecute *execute, const SmContext *sm, SmGrid *grid) {
    const WarpSource *source = grid->source;
    execute->sees_registered |= source->memory && mem_has_registered(source->memory);
    execute->has_window |= source->window.bytes != 0;
    grid->layout = coalesce_layout(&execute->coalescer, source->warps, grid->cta_limit,
                                   (uint32_t)(grid - sm->grid));
}

/* ---- Accesses ---- */

/* The lanes whose address is valid. A prefetch of an invalid address is not a fault and makes no
 * access. */
static uint32_t valid_lanes(const WarpSource *source, uint32_t lanes) {
    if (!source->memory) return lanes;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        int lane = bits_lowest32(rest);
        if (!mem_is_valid(source->memory, source->did->address[lane], 1)) lanes &= ~(1u << lane);
    }
    return lanes;
}

uint32_t execute_naming_lanes(const SmGrid *grid, const IsaInfo *info, const SmInst *inst) {
    if (info->memory == ISA_MEMORY_PREFETCH) return valid_lanes(grid->source, inst->lanes);
    if (!(info->flags & ISA_NAMES_ROWS)) return inst->lanes;
    return inst->lanes & (uint32_t)bits_low_mask(info->naming_lanes);
}

void execute_see_registered(const WarpSource *source, const IsaInfo *info) {
    WarpStep *did = source->did;
    if (info->space == PTX_SPACE_SHARED || info->space == PTX_SPACE_LOCAL ||
        info->space == PTX_SPACE_PARAM)
        return;
    for (uint32_t rest = did->executed; rest; rest &= rest - 1) {
        const int lane = bits_lowest32(rest);
        if (info->space != PTX_SPACE_NONE || did->space[lane] == PTX_SPACE_GLOBAL)
            did->address[lane] = mem_seen_address(source->memory, did->address[lane]);
    }
}

void execute_take_hints(const SmContext *sm, const SmInst *inst, SmMemory *memory) {
    const SmWarp *w = &sm->warps.warp[inst->warp];
    const WarpSource *source = w->grid->source;
    const IsaInfo *info = &w->grid->infos[inst->pc];
    SmHints hints = {.info = info,
                     .window = &source->window,
                     .l1_takes = sm->config->l1d_own.takes_hints,
                     .l2_takes = sm->env.l2_takes_hints};
    bool is_global = memory->path == SM_PATH_L1D || memory->path == SM_PATH_BYPASS;
    if (!is_global || memory->is_local || !(hints.l1_takes | hints.l2_takes)) return;
    if (!hints_are_given(info, hints.window)) return;
    if (info->policy && inst->lanes)
        hints.policy =
            source->type->cache_policy(source, w->handle, inst->pc, bits_lowest32(inst->lanes));
    hints_apply(&hints, memory);
}

/* ---- What it means for its warp ---- */

void execute_follow(SmContext *sm, int warp, uint32_t pc, uint32_t flags, bool has_exited,
                    bool has_pending) {
    const bool may_end_barrier = has_exited && sm->warps.warp[warp].grid->source->has_clusters;
    if (flags & ISA_IS_BULK || may_end_barrier) bulk_begin(sm->bulk, sm, warp);
    if (flags & ISA_IS_FENCE) warps_fence(&sm->warps, warp, flags & ISA_IS_CTA_FENCE, has_pending);
    const IsaInfo *info = &sm->warps.warp[warp].grid->infos[pc];
    if (flags & (ISA_IS_COPY_COMMIT | ISA_IS_COPY_WAIT)) warps_copies(&sm->warps, warp, info);
    if (info->flags & ISA_IS_WARPGROUP) products_follow(sm->products, sm, warp, info);
    if (info->flags & ISA_IS_DEPENDENCY) warps_dependency(sm, warp, (IsaDependency)info->advice);
    if (has_exited) warps_exited(sm, warp);
    if (flags & ISA_IS_BARRIER || has_exited) warps_update_barriers(sm, warp);
}
