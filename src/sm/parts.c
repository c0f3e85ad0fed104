/* Operations on an SM's parts that all cores share (see the header). */
#include "sm/parts.h"

void sm_count_residents(Sm *sm, uint64_t cycle) {
    const TytoSmView *view = &sm->context.view;
    Counters *c = &sm->context.counters;
    if (cycle <= sm->cycles.resident) return;
    uint64_t cycles = cycle - sm->cycles.resident;
    sm->cycles.resident = cycle;
    c->sm_cycles += cycles;
    c->cta_cycles += cycles * (uint64_t)bits_count64(view->ctas);
    c->warp_cycles += cycles * (uint64_t)bits_count64(view->resident);
}

void sm_retire(Sm *sm, uint64_t warps) {
    SmContext *context = &sm->context;
    if (context_is_profiled(context)) sm_profile_settle(context->profile, warps, context->cycle);
    sm_count_residents(sm, context->cycle);
    warps_retire(context, warps);
    if (!context->view.ctas && context->config->l1d.flush == CACHE_FLUSH_IDLE)
        l1d_flush(&sm->l1d, context, &sm->port);
}

uint64_t sm_next_event(Sm *sm) {
    SmContext *context = &sm->context;
    uint64_t next = lsu_next_event(&sm->lsu, &sm->l1d);
    if (warps_next_try(&context->warps) < next) next = warps_next_try(&context->warps);
    if (sm->has_agents && agents_next_step(&sm->port.agents) < next)
        next = agents_next_step(&sm->port.agents);
    if (sm->foresees && context->view.resident) {
        uint64_t ahead = sched_agent_next_change(&context->policy, context_view(context));
        if (next > context->cycle && ahead < next - context->cycle) next = context->cycle + ahead;
    }
    return next;
}

void sm_take_warp_reasons(SmStallReasons *reasons, uint64_t *left, const SmContext *context,
                          uint64_t paying) {
    const TytoSmView *view = &context->view;
    const SmWarps *warps = &context->warps;
    const uint64_t issued = context->profile ? context->profile->has_issued : 0;
    stall_reasons_take(reasons, left, issued | paying, PROFILE_cycles_issued);
    stall_reasons_take(reasons, left, view->exited, PROFILE_cycles_exited);
    stall_reasons_take(reasons, left, view->at_barrier | warps->phase_waits,
                       PROFILE_cycles_barrier);
    stall_reasons_take(reasons, left, warps->atomic_waits, PROFILE_cycles_atomic);
    stall_reasons_take(reasons, left, warps->fenced, PROFILE_cycles_fence);
    stall_reasons_take(reasons, left, warps->copy_waits, PROFILE_cycles_copy);
    stall_reasons_take(reasons, left, warps->product_waits, PROFILE_cycles_product);
    stall_reasons_take(reasons, left, warps->register_waits, PROFILE_cycles_registers);
    stall_reasons_take(reasons, left, warps->grid_waits, PROFILE_cycles_grid);
    stall_reasons_take(reasons, left, warps->load_waits, PROFILE_cycles_memory);
}

void sm_note_stall_reasons(SmContext *context, SmStallReasons now) {
    SmProfile *profile = context->profile;
    uint64_t moved = profile->has_issued, gone_on = moved | context->view.exited;
    for (int b = 0; b < SM_STALL_REASON_BITS; b++)
        moved |= now.bit[b] ^ profile->reasons.bit[b];
    for (moved &= context->view.resident; moved; moved &= moved - 1) {
        const int warp = bits_lowest64(moved);
        const uint32_t pc =
            gone_on >> warp & 1 ? profile->issued[warp] : context->warps.warp[warp].handle->pc;
        sm_profile_move(profile, warp, pc, context->cycle);
    }
    profile->reasons = now;
    profile->has_issued = 0;
}
