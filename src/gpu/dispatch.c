/* Round robin over the SMs that can take a CTA, starting after the one served last. */
#include "gpu/dispatch.h"

void dispatch_start(Dispatch *dispatch, const CtaConfig *config, uint64_t ctas, uint32_t sms,
                    uint32_t ctas_per_sm, uint64_t cycle) {
    uint32_t last = dispatch->config && config->resumes_scan ? dispatch->last : sms - 1;
    uint64_t even = (ctas + sms - 1) / sms; /* CTAs per SM when dealt out evenly */
    *dispatch = (Dispatch){.config = config,
                           .count = ctas,
                           .not_before = cycle + config->launch_latency,
                           .limit = ctas_per_sm,
                           .last = last};
    if (config->spreads_small_grids && even < ctas_per_sm) dispatch->limit = (uint32_t)even;
}

static void announce_last(Dispatch *dispatch, Sm *const *sms, uint32_t sm_count, uint64_t cycle) {
    dispatch->is_over = true;
    for (uint32_t i = 0; i < sm_count; i++) sm_last_cta(sms[i], cycle);
}

bool dispatch_step(Dispatch *dispatch, Sm *const *sms, uint32_t sm_count, uint64_t cycle) {
    if (dispatch->is_over || cycle < dispatch->not_before) return false;
    uint32_t first = (dispatch->last + 1) % sm_count;
    uint32_t most = dispatch->config->per_cycle ? dispatch->config->per_cycle : UINT32_MAX;
    bool has_dispatched = false;
    for (uint32_t i = 0; i < sm_count && most; i++) {
        uint32_t sm = (first + i) % sm_count;
        for (uint32_t n = 0; n < dispatch->config->per_sm_per_cycle && most; n++) {
            if (dispatch->next == dispatch->count || !sm_can_take_cta(sms[sm], dispatch->limit)) break;
            sm_launch_cta(sms[sm], dispatch->next++, cycle);
            dispatch->last = sm;
            has_dispatched = true;
            most--;
        }
    }
    if (dispatch->next == dispatch->count) announce_last(dispatch, sms, sm_count, cycle);
    return has_dispatched;
}
