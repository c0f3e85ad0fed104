/* Special registers, and other values that depend on a warp's place. They are computed once per
 * instruction, not per lane, except for the thread's own indices. */
#include "isa/check/check.h"
#include "isa/runtime/device_runtime.h"
#include "isa/exec/handlers.h"

#include "base/bits.h"
#include "isa/launch.h"

/* Threads are numbered x first, then y, then z; a warp is 32 consecutive numbers. */
static void read_thread_index(const IsaWarp *warp, PtxSreg sreg, uint64_t *value) {
    const uint32_t *block = warp->cta->launch->block;
    uint32_t number = warp->index * ISA_LANES;
    uint32_t x = number % block[0], y = number / block[0] % block[1];
    uint32_t z = number / block[0] / block[1];
    for (int lane = 0; lane < ISA_LANES; ++lane) {
        value[lane] = sreg == PTX_SREG_TID_X ? x : sreg == PTX_SREG_TID_Y ? y : z;
        if (++x < block[0]) continue;
        x = 0;
        if (++y < block[1]) continue;
        y = 0;
        ++z;
    }
}

/* %lanemask_...: bits of other lanes by their position relative to this lane. */
static void read_lane_mask(PtxSreg sreg, uint64_t *value) {
    for (int lane = 0; lane < ISA_LANES; ++lane) {
        const uint32_t own = 1u << lane, below = own - 1;
        switch (sreg) {
        case PTX_SREG_LANEMASK_EQ: value[lane] = own; break;
        case PTX_SREG_LANEMASK_LT: value[lane] = below; break;
        case PTX_SREG_LANEMASK_LE: value[lane] = below | own; break;
        case PTX_SREG_LANEMASK_GT: value[lane] = ~(below | own); break;
        default: value[lane] = ~below; break;
        }
    }
}

/* %envreg1 and 2: upper and lower half of the address of the workspace through which a cooperative
 * grid synchronizes, as the vendor's cooperative_groups headers expect. Others are 0. */
static uint64_t read_environment(const IsaLaunch *launch, int64_t number) {
    if (number == 1) return launch->grid_workspace >> 32;
    return number == 2 ? launch->grid_workspace & UINT32_MAX : 0;
}

/* A CTA's position in its cluster; without clusters each CTA is its own cluster. */
static uint64_t read_cluster(const IsaCta *cta, PtxSreg sreg) {
    static const uint32_t one[3] = {1, 1, 1};
    const IsaLaunch *launch = cta->launch;
    const uint32_t *shape = launch->clusters ? launch->cluster : one;
    switch (sreg) {
    case PTX_SREG_CLUSTERID_X: return cta->id[0] / shape[0];
    case PTX_SREG_CLUSTERID_Y: return cta->id[1] / shape[1];
    case PTX_SREG_CLUSTERID_Z: return cta->id[2] / shape[2];
    case PTX_SREG_NCLUSTERID_X: return launch->grid[0] / shape[0];
    case PTX_SREG_NCLUSTERID_Y: return launch->grid[1] / shape[1];
    case PTX_SREG_NCLUSTERID_Z: return launch->grid[2] / shape[2];
    case PTX_SREG_CLUSTER_CTAID_X: return cta->id[0] % shape[0];
    case PTX_SREG_CLUSTER_CTAID_Y: return cta->id[1] % shape[1];
    case PTX_SREG_CLUSTER_CTAID_Z: return cta->id[2] % shape[2];
    case PTX_SREG_CLUSTER_NCTAID_X: return shape[0];
    case PTX_SREG_CLUSTER_NCTAID_Y: return shape[1];
    case PTX_SREG_CLUSTER_NCTAID_Z: return shape[2];
    case PTX_SREG_CLUSTER_CTARANK: return cta->rank;
    case PTX_SREG_CLUSTER_NCTARANK: return shape[0] * shape[1] * shape[2];
    case PTX_SREG_IS_EXPLICIT_CLUSTER: return launch->clusters != NULL;
    default: return 0; /* .w of all registers */
    }
}

/* The value that all lanes share; `number` is the number of an %envreg. */
static uint64_t read_shared(const IsaContext *context, const IsaWarp *warp, PtxSreg sreg,
                            int64_t number) {
    const IsaCta *cta = warp->cta;
    const IsaLaunch *launch = cta->launch;
    /* The clock advances while a grid waits for its children. */
    const uint64_t clock = context->cycle + (launch->runtime ? launch->runtime->clock_ahead : 0);
    const uint64_t nanoseconds = clock * launch->ps_per_cycle / 1000;
    switch (sreg) {
    case PTX_SREG_NTID_X: return launch->block[0];
    case PTX_SREG_NTID_Y: return launch->block[1];
    case PTX_SREG_NTID_Z: return launch->block[2];
    case PTX_SREG_CTAID_X: return cta->id[0];
    case PTX_SREG_CTAID_Y: return cta->id[1];
    case PTX_SREG_CTAID_Z: return cta->id[2];
    case PTX_SREG_NCTAID_X: return launch->grid[0];
    case PTX_SREG_NCTAID_Y: return launch->grid[1];
    case PTX_SREG_NCTAID_Z: return launch->grid[2];
    case PTX_SREG_WARPID: return warp->slot;
    case PTX_SREG_NWARPID: return launch->warps_per_sm;
    case PTX_SREG_SMID: return context->sm;
    case PTX_SREG_NSMID: return launch->sms;
    case PTX_SREG_GRIDID: return launch->grid_id;
    case PTX_SREG_CLOCK:
    case PTX_SREG_CLOCK64: return clock;
    case PTX_SREG_CLOCK_HI: return clock >> 32;
    case PTX_SREG_GLOBALTIMER:
    case PTX_SREG_GLOBALTIMER_LO: return nanoseconds;
    case PTX_SREG_GLOBALTIMER_HI: return nanoseconds >> 32;
    case PTX_SREG_TOTAL_SMEM_SIZE:
        return launch->taken_shared_bytes - launch->reserved_shared_bytes +
               launch->function->system_shared_bytes; /* machine code subtracts this itself */
    case PTX_SREG_AGGR_SMEM_SIZE: return launch->taken_shared_bytes;
    case PTX_SREG_DYNAMIC_SMEM_SIZE: return launch->dynamic_shared_bytes;
    case PTX_SREG_WARP_SZ: return ISA_LANES;
    case PTX_SREG_ENVREG: return read_environment(launch, number);
    case PTX_SREG_CURRENT_GRAPH_EXEC: return 0; /* no graph is launched by a kernel */
    default: return read_cluster(cta, sreg);
    }
}

static void read_sreg(const IsaContext *context, const IsaWarp *warp, PtxSreg sreg, int64_t number,
                      uint64_t *value) {
    switch (sreg) {
    case PTX_SREG_TID_X:
    case PTX_SREG_TID_Y:
    case PTX_SREG_TID_Z: read_thread_index(warp, sreg, value); return;
    case PTX_SREG_LANEMASK_EQ:
    case PTX_SREG_LANEMASK_LE:
    case PTX_SREG_LANEMASK_LT:
    case PTX_SREG_LANEMASK_GE:
    case PTX_SREG_LANEMASK_GT: read_lane_mask(sreg, value); return;
    case PTX_SREG_LANEID:
        for (int lane = 0; lane < ISA_LANES; ++lane)
            value[lane] = (uint64_t)lane;
        return;
    default: break;
    }
    const uint64_t shared = read_shared(context, warp, sreg, number);
    for (int lane = 0; lane < ISA_LANES; ++lane)
        value[lane] = shared;
}

/* Writes a value to the row (or pair of rows) of a register of `bytes` bytes. */
static void write_lanes(const IsaWarp *warp, IsaOperand operand, uint32_t bytes,
                        const uint64_t *value, uint32_t mask) {
    const uint32_t kept = bytes == 2 ? UINT16_MAX : UINT32_MAX;
    uint32_t *row = isa_row32(warp, operand);
    if (bytes == 8) {
        for (; mask; mask &= mask - 1)
            isa_row64(warp, operand)[bits_lowest32(mask)] = value[bits_lowest32(mask)];
    } else if (mask == UINT32_MAX) {
        for (int lane = 0; lane < ISA_LANES; ++lane)
            row[lane] = (uint32_t)value[lane] & kept;
    } else {
        for (; mask; mask &= mask - 1)
            row[bits_lowest32(mask)] = (uint32_t)value[bits_lowest32(mask)] & kept;
    }
}

/* Writes the same truth to a predicate of all lanes. */
static void write_truth(uint32_t *pred, uint64_t truth, uint32_t mask) {
    *pred = (*pred & ~mask) | (truth ? mask : 0);
}

void isa_exec_NOP(IsaContext *context, IsaWarp *warp, const IsaInst *inst, uint32_t mask) {
    (void)context, (void)warp, (void)inst, (void)mask;
}

/* Fences order nothing here, because each instruction takes effect at once. Only the checks use
 * them. */
void isa_exec_FENCE(IsaContext *context, IsaWarp *warp, const IsaInst *inst, uint32_t mask) {
    (void)mask;
    if (!context->launch->check) return;
    if (inst->sub == ISA_FENCE_PROXY) isa_check_proxy_fence(context, warp);
    else isa_check_fence(context, warp, inst->sub == ISA_FENCE_CTA);
}

/* bar.warp.sync: if lanes run independently, they have already waited for each other. */
void isa_exec_WARP_SYNC(IsaContext *context, IsaWarp *warp, const IsaInst *inst, uint32_t mask) {
    if (context->launch->check)
        isa_check_members(context, warp, isa_row32(warp, (IsaOperand)inst->target), mask, NULL,
                          true);
}

void isa_exec_SREG(IsaContext *context, IsaWarp *warp, const IsaInst *inst, uint32_t mask) {
    uint64_t value[ISA_LANES];
    read_sreg(context, warp, (PtxSreg)inst->sub, inst->imm, value);
    if (inst->size) write_lanes(warp, inst->operand[0], inst->size, value, mask);
    else write_truth(&warp->preds[inst->operand[0]], value[0], mask);
}

/* Addresses that depend on the call frame or the launch. */
static void write_address(const IsaWarp *warp, const IsaInst *inst, uint64_t start, uint32_t mask) {
    uint64_t value[ISA_LANES];
    for (int lane = 0; lane < ISA_LANES; ++lane)
        value[lane] = start + (uint64_t)inst->imm;
    write_lanes(warp, inst->operand[0], inst->size, value, mask);
}

void isa_exec_LOCAL_ADDRESS(IsaContext *context, IsaWarp *warp, const IsaInst *inst,
                            uint32_t mask) {
    (void)context;
    write_address(warp, inst, warp->frames[warp->frame].local_base, mask);
}

void isa_exec_SHARED_ADDRESS(IsaContext *context, IsaWarp *warp, const IsaInst *inst,
                             uint32_t mask) {
    write_address(warp, inst, warp->cta->tag + context->launch->function->shared_bytes, mask);
}

void isa_exec_CTA_ADDRESS(IsaContext *context, IsaWarp *warp, const IsaInst *inst, uint32_t mask) {
    (void)context;
    write_address(warp, inst, warp->cta->tag, mask);
}

/* ---- The stack of alloca ----
 * alloca raises the end of a frame's local area. All lanes share this end, so the largest size
 * among the lanes is used. */

void isa_exec_ALLOCA(IsaContext *context, IsaWarp *warp, const IsaInst *inst, uint32_t mask) {
    uint64_t value[ISA_LANES], largest = 0;
    for (int lane = 0; lane < ISA_LANES; ++lane) {
        const uint64_t bytes = inst->size == 8 ? isa_row64(warp, inst->operand[1])[lane]
                                               : isa_row32(warp, inst->operand[1])[lane];
        if ((mask >> lane & 1) && bytes > largest) largest = bytes;
    }
    IsaFrame *frame = &warp->frames[warp->frame];
    const uint64_t start = bits_align_up(frame->local_end, (uint64_t)inst->imm);
    const uint64_t end = start + bits_align_up(largest > UINT32_MAX ? UINT32_MAX : largest, 4);
    if (!isa_local_reserve(context, warp, end > UINT32_MAX ? UINT32_MAX : (uint32_t)end)) return;
    frame->local_end = (uint32_t)end;
    for (int lane = 0; lane < ISA_LANES; ++lane)
        value[lane] = start;
    write_lanes(warp, inst->operand[0], inst->size, value, mask);
}

void isa_exec_STACKSAVE(IsaContext *context, IsaWarp *warp, const IsaInst *inst, uint32_t mask) {
    (void)context;
    uint64_t value[ISA_LANES];
    for (int lane = 0; lane < ISA_LANES; ++lane)
        value[lane] = warp->frames[warp->frame].local_end;
    write_lanes(warp, inst->operand[0], inst->size, value, mask);
}

void isa_exec_STACKRESTORE(IsaContext *context, IsaWarp *warp, const IsaInst *inst, uint32_t mask) {
    (void)context;
    const int lane = bits_lowest32(mask);
    IsaFrame *frame = &warp->frames[warp->frame];
    const uint64_t mark = inst->size == 8 ? isa_row64(warp, inst->operand[0])[lane]
                                          : isa_row32(warp, inst->operand[0])[lane];
    if (mark < frame->local_end) frame->local_end = (uint32_t)mark;
}
