/* Round robin over the SMs that can take a CTA, starting after the one served last. */
#include "gpu/dispatch.h"

#include <stdlib.h>

void dispatch_init(Dispatch *dispatch, const CtaConfig *config, const CtaSched *sched, uint32_t sms,
                   uint32_t l1d_lines) {
    *dispatch = (Dispatch){.config = config,
                           .sched = sched,
                           .state = sched ? cta_sched_state_new(sched) : NULL,
                           .view = {.sms = sms, .l1d_lines = l1d_lines},
                           .last = sms - 1};
}

void dispatch_free(Dispatch *dispatch) { free(dispatch->state); }

void dispatch_start(Dispatch *dispatch, uint64_t ctas, uint32_t ctas_per_sm, uint32_t warps,
                    uint64_t cycle) {
    uint32_t sms = dispatch->view.sms;
    uint64_t even = (ctas + sms - 1) / sms; /* CTAs per SM when dealt out evenly */
    bool is_uneven = dispatch->sched && dispatch->sched->policy->is_uneven;
    bool is_small = dispatch->config->spreads_small_grids && !is_uneven && even < ctas_per_sm;
    dispatch->next = 0;
    dispatch->count = ctas;
    dispatch->not_before = cycle + dispatch->config->launch_latency;
    dispatch->limit = is_small ? (uint32_t)even : ctas_per_sm;
    dispatch->is_over = false;
    if (!dispatch->config->resumes_scan) dispatch->last = sms - 1;
    dispatch->view.capacity = dispatch->limit;
    dispatch->view.cta_warps = warps;
    if (dispatch->sched) cta_sched_start(dispatch->sched, dispatch->state, &dispatch->view);
}

void dispatch_finished(Dispatch *dispatch, uint32_t sm, const Counters *counters) {
    const CtaPolicy *policy = dispatch->sched ? dispatch->sched->policy : NULL;
    if (!policy || !policy->finished) return;
    CtaMeasurement measured = {.warp_instructions = counters->warp_instructions,
                               .l1d_accesses = counters->l1d_accesses,
                               .dram_reads = counters->l1d_load_misses,
                               .fetches = counters->reads_answered,
                               .fetch_cycles = counters->fetch_cycles};
    policy->finished(dispatch->state, &dispatch->view, sm, &measured);
}

void dispatch_report(const Dispatch *dispatch, const TytoReport *out) {
    const CtaPolicy *policy = dispatch->sched ? dispatch->sched->policy : NULL;
    if (policy && policy->report) policy->report(dispatch->state, out);
}

bool dispatch_wants_misses(const Dispatch *dispatch) {
    return dispatch->sched && dispatch->sched->policy->watched_sm;
}

void dispatch_l1d_miss(Dispatch *dispatch, uint32_t sm, uint64_t address) {
    const CtaPolicy *policy = dispatch->sched->policy;
    if (policy->watched_sm(dispatch->state) == (int)sm) policy->l1d_miss(dispatch->state, address);
}

static uint32_t limit_of(const Dispatch *dispatch, uint32_t sm) {
    if (!dispatch->sched) return dispatch->limit;
    return dispatch->sched->policy->limit(dispatch->state, &dispatch->view, sm);
}

static void announce_last(Dispatch *dispatch, Sm *const *sms, uint32_t sm_count, uint64_t cycle) {
    dispatch->is_over = true;
    for (uint32_t i = 0; i < sm_count; i++)
        sm_last_cta(sms[i], cycle);
}

bool dispatch_step(Dispatch *dispatch, Sm *const *sms, uint32_t sm_count, uint64_t cycle) {
    if (dispatch->is_over || cycle < dispatch->not_before) return false;
    uint32_t first = (dispatch->last + 1) % sm_count;
    uint32_t most = dispatch->config->per_cycle ? dispatch->config->per_cycle : UINT32_MAX;
    bool has_dispatched = false;
    for (uint32_t i = 0; i < sm_count && most; i++) {
        uint32_t sm = (first + i) % sm_count;
        for (uint32_t n = 0; n < dispatch->config->per_sm_per_cycle && most; n++) {
            if (dispatch->next == dispatch->count ||
                !sm_can_take_cta(sms[sm], limit_of(dispatch, sm)))
                break;
            sm_launch_cta(sms[sm], dispatch->next++, cycle);
            dispatch->last = sm;
            has_dispatched = true;
            most--;
        }
    }
    if (dispatch->next == dispatch->count) announce_last(dispatch, sms, sm_count, cycle);
    return has_dispatched;
}
