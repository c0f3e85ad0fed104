/* Round robin over the SMs that can take a CTA, starting after the one served last; or the CTA
 * scheduler's choice among them. */
#include "gpu/dispatch.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

void dispatch_init(Dispatch *dispatch, const CtaConfig *config, const CtaSched *sched,
                   const TytoGridView *sizes, SchedCall *call) {
    const uint32_t sms = sizes->sms;
    *dispatch = (Dispatch){.config = config,
                           .view = *sizes,
                           .resident = base_calloc(sms, sizeof *dispatch->resident),
                           .given = base_calloc(sms, sizeof *dispatch->given),
                           .last = sms - 1};
    dispatch->view.resident = dispatch->resident;
    cta_agent_init(&dispatch->agent, sched, &dispatch->view, call);
}

void dispatch_free(Dispatch *dispatch) {
    cta_agent_free(&dispatch->agent);
    free(dispatch->resident);
    free(dispatch->given);
}

uint32_t dispatch_limit(const Dispatch *dispatch, uint64_t ctas, uint32_t ctas_per_sm) {
    uint32_t sms = dispatch->view.sms;
    uint64_t even = (ctas + sms - 1) / sms; /* CTAs per SM when dealt out evenly */
    bool is_uneven = dispatch->agent.policy->is_uneven;
    bool is_small = dispatch->config->spreads_small_grids && !is_uneven && even < ctas_per_sm;
    return is_small ? (uint32_t)even : ctas_per_sm;
}

void dispatch_start(Dispatch *dispatch, const DispatchGrid *grid, uint64_t cycle) {
    dispatch->not_before = grid->given + dispatch->config->launch_latency;
    dispatch->is_over = false;
    memset(dispatch->resident, 0, dispatch->view.sms * sizeof *dispatch->resident);
    dispatch->sms = grid->sms;
    dispatch->grid = grid->grid;
    dispatch->last = grid->last;
    dispatch->shares_sms = grid->shares_sms;
    TytoGridView *view = &dispatch->view;
    view->cycle = cycle;
    view->ctas = grid->ctas;
    view->next = grid->next;
    view->capacity = dispatch->limit;
    view->cta_warps = grid->warps;
    view->l1d_lines = grid->l1d_lines;
    view->l1d_ways = grid->l1d_ways;
    cta_agent_start(&dispatch->agent, view);
}

void dispatch_finished(Dispatch *dispatch, uint32_t sm, const Counters *counters,
                       uint64_t memory_cycles, uint64_t cycle) {
    TytoSmMeasurement measured = {.warp_instructions = counters->warp_instructions,
                                  .l1d_accesses = counters->l1d_accesses,
                                  .l1d_loads = counters->l1d_load_accesses,
                                  .dram_reads = counters->l1d_load_misses,
                                  .fetches = counters->reads_answered,
                                  .fetch_cycles = counters->fetch_cycles,
                                  .memory_cycles = memory_cycles};
    dispatch->resident[sm]--;
    dispatch->view.cycle = cycle;
    cta_agent_finished(&dispatch->agent, &dispatch->view, sm, &measured);
}

void dispatch_report(Dispatch *dispatch, const TytoReport *out) {
    cta_agent_report(&dispatch->agent, &dispatch->view, out);
}

bool dispatch_wants_loads(const Dispatch *dispatch) {
    return cta_agent_wants_loads(&dispatch->agent);
}

void dispatch_l1d_load(Dispatch *dispatch, uint32_t sm, uint64_t address) {
    cta_agent_l1d_load(&dispatch->agent, &dispatch->view, sm, address);
}

/* By the dispatcher's own count, where that is enough: the SM's is in another thread's caches. */
static bool has_room(Dispatch *dispatch, uint32_t sm) {
    const uint32_t limit = cta_agent_limit(&dispatch->agent, &dispatch->view, sm);
    return dispatch->resident[sm] < limit && dispatch->resident[sm] < dispatch->limit &&
           (!dispatch->shares_sms || sm_has_room(dispatch->sms[sm], dispatch->grid[sm]));
}

static void send(Dispatch *dispatch, uint32_t sm) {
    sm_launch_cta(dispatch->sms[sm], dispatch->grid[sm], dispatch->view.next++,
                  dispatch->view.cycle);
    dispatch->resident[sm]++;
    dispatch->last = sm;
    cta_agent_dispatched(&dispatch->agent, &dispatch->view, sm);
}

static void go_round(Dispatch *dispatch, uint32_t most) {
    uint32_t count = dispatch->view.sms, first = (dispatch->last + 1) % count;
    for (uint32_t i = 0; i < count && most; i++) {
        uint32_t sm = (first + i) % count;
        for (uint32_t n = 0; n < dispatch->config->per_sm_per_cycle && most; n++) {
            if (dispatch->view.next == dispatch->view.ctas || !has_room(dispatch, sm)) break;
            send(dispatch, sm);
            most--;
        }
    }
}

/* The SMs that the CTA scheduler may choose among. */
static TytoSmSet find_room(Dispatch *dispatch) {
    TytoSmSet room = {0};
    for (uint32_t sm = 0; sm < dispatch->view.sms; sm++)
        if (has_room(dispatch, sm)) room.words[sm / 64] |= UINT64_C(1) << sm % 64;
    return room;
}

static bool let_choose(Dispatch *dispatch, uint32_t most) {
    TytoSmSet room = find_room(dispatch);
    memset(dispatch->given, 0, dispatch->view.sms * sizeof *dispatch->given);
    while (most-- && dispatch->view.next < dispatch->view.ctas &&
           tyto_sm_from(&room, 0) != TYTO_NO_SM) {
        int sm;
        IsaFault *fault = &dispatch->fault;
        if (!cta_agent_choose(&dispatch->agent, &dispatch->view, &room, &sm, fault->text,
                              sizeof fault->text)) {
            fault->is_set = true;
            fault->code = ISA_FAULT_POLICY;
            return false;
        }
        if (sm == TYTO_NO_SM) break;
        send(dispatch, (uint32_t)sm);
        if (++dispatch->given[sm] == dispatch->config->per_sm_per_cycle ||
            !has_room(dispatch, (uint32_t)sm))
            room.words[sm / 64] &= ~(UINT64_C(1) << sm % 64);
    }
    return true;
}

static void announce_last(Dispatch *dispatch) {
    dispatch->is_over = true;
    for (uint32_t i = 0; i < dispatch->view.sms; i++)
        sm_last_cta(dispatch->sms[i], dispatch->grid[i], dispatch->view.cycle);
}

bool dispatch_step(Dispatch *dispatch, uint64_t cycle) {
    if (dispatch->is_over || cycle < dispatch->not_before) return true;
    uint32_t most = dispatch->config->per_cycle ? dispatch->config->per_cycle : UINT32_MAX;
    dispatch->view.cycle = cycle;
    if (!cta_agent_chooses(&dispatch->agent)) go_round(dispatch, most);
    else if (!let_choose(dispatch, most)) return false;
    if (dispatch->view.next == dispatch->view.ctas) announce_last(dispatch);
    return true;
}
