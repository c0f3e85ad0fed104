/* CTA dispatch: round-robin over the SMs that can take a CTA, starting after the one served last,
 * or the CTA scheduler's choice among these SMs. */
#include "engine/dispatch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/bits.h"
#include "engine/gpc.h"
#include "isa/cluster.h"

/* ---- Queries of the CTA scheduler ---- */

static TytoSmMeasurement measure(const Counters *counters, uint64_t memory_cycles) {
    return (TytoSmMeasurement){.size = sizeof(TytoSmMeasurement),
                               .warp_instructions = counters->warp_instructions,
                               .l1d_accesses = counters->l1d_accesses,
                               .l1d_loads = counters->l1d_load_accesses,
                               .dram_reads = counters->l1d_load_misses,
                               .reads_answered = counters->reads_answered,
                               .load_cycles = counters->load_cycles,
                               .memory_cycles = memory_cycles};
}

void dispatch_count(const Dispatch *dispatch, uint32_t sm, Counters *counters,
                    uint64_t *memory_cycles) {
    const Sm *counted = dispatch->sms[sm];
    *counters = *sm_counters(counted);
    *memory_cycles = sm_memory_cycles(counted);
    if (!dispatch->marks) return;
    const Counters *mark = &dispatch->marks[sm];
    *counters = counters_since(mark, counters);
    *memory_cycles -= mark->MemoryBlockCycles;
}

/* Copies as much as the policy's struct has room for. */
static void hand_over(void *to, uint32_t room, const void *from, uint32_t size) {
    memcpy(to, from, room < size ? room : size);
}

static bool can_ask(const Dispatch *dispatch, uint32_t sm) {
    const bool may = dispatch->asked_sm == DISPATCH_ANY_SM || dispatch->asked_sm == (int)sm;
    return may && dispatch->sms && sm < dispatch->view.sms;
}

static bool answer_cta(void *unit, uint32_t sm, uint32_t slot, TytoCtaProgress *progress) {
    const Dispatch *dispatch = unit;
    const uint32_t room = progress->size;
    TytoCtaProgress known;
    if (!can_ask(dispatch, sm) || slot >= dispatch->view.cta_slots) return false;
    const bool is_there = sm_cta_progress(dispatch->sms[sm], dispatch->grid[sm], slot, &known);
    if (!is_there && dispatch->asked_slot != (int)slot) return false;
    hand_over(progress, room, &known, sizeof known);
    return true;
}

static bool answer_sm(void *unit, uint32_t sm, TytoSmMeasurement *measured) {
    const Dispatch *dispatch = unit;
    if (!can_ask(dispatch, sm)) return false;
    Counters counters;
    uint64_t memory_cycles;
    dispatch_count(dispatch, sm, &counters, &memory_cycles);
    const TytoSmMeasurement known = measure(&counters, memory_cycles);
    hand_over(measured, measured->size, &known, sizeof known);
    return true;
}

static void answer_pause(void *unit, uint32_t sm, uint64_t slots) {
    Dispatch *dispatch = unit;
    if (sm >= dispatch->view.sms || dispatch->paused[sm] == slots) return;
    dispatch->paused[sm] = slots;
    dispatch->has_paused = true;
}

static const TytoGridAnswers ANSWERS = {
    .size = sizeof ANSWERS, .cta = answer_cta, .sm = answer_sm, .pause = answer_pause};

/* ---- Kernels ---- */

void dispatch_init(Dispatch *dispatch, const CtaConfig *config, const CtaSched *sched,
                   const TytoGridView *sizes, SchedCall *call) {
    const uint32_t sms = sizes->sms;
    *dispatch = (Dispatch){.config = config,
                           .gpcs = 1,
                           .view = *sizes,
                           .resident = base_calloc(sms, sizeof *dispatch->resident),
                           .given = base_calloc(sms, sizeof *dispatch->given),
                           .paused = base_calloc(sms, sizeof *dispatch->paused),
                           .asked_sm = DISPATCH_ANY_SM,
                           .asked_slot = -1,
                           .sample_at = UINT64_MAX,
                           .last = sms - 1};
    dispatch->view.size = sizeof dispatch->view;
    dispatch->view.resident = dispatch->resident;
    dispatch->view.answers = &ANSWERS;
    dispatch->view.unit = dispatch;
    cta_agent_init(&dispatch->agent, sched, &dispatch->view, call);
}

void dispatch_free(Dispatch *dispatch) {
    cta_agent_free(&dispatch->agent);
    free(dispatch->resident);
    free(dispatch->given);
    free(dispatch->paused);
    free(dispatch->gone);
}

uint32_t dispatch_limit(const Dispatch *dispatch, uint64_t ctas, uint32_t ctas_per_sm) {
    uint32_t sms = dispatch->view.sms;
    uint64_t even = (ctas + sms - 1) / sms; /* CTAs per SM if spread evenly */
    bool is_uneven = dispatch->agent.policy->is_uneven;
    bool is_small = dispatch->config->spreads_small_grids && !is_uneven && even < ctas_per_sm;
    return is_small ? (uint32_t)even : ctas_per_sm;
}

/* Sets when the CTA scheduler inspects the SMs next. */
static void plan_sample(Dispatch *dispatch, uint64_t cycle) {
    const uint64_t cycles = cta_agent_sample_every(&dispatch->agent, &dispatch->view);
    dispatch->sample_at = cycles ? cycle + cycles : UINT64_MAX;
}

/* Clears the paused CTAs; CTAs before `next` are already dispatched. */
static void start_hooks(Dispatch *dispatch, uint64_t next, uint64_t ctas) {
    memset(dispatch->paused, 0, dispatch->view.sms * sizeof *dispatch->paused);
    dispatch->has_paused = false;
    if (!cta_agent_orders(&dispatch->agent)) return;
    free(dispatch->gone);
    dispatch->gone = base_calloc(bits_words(ctas), sizeof *dispatch->gone);
    for (uint64_t cta = 0; cta < next; cta++)
        bits_set(dispatch->gone, cta);
}

void dispatch_start(Dispatch *dispatch, const DispatchGrid *grid, uint64_t cycle) {
    dispatch->sms = NULL; /* until the SMs have the grid, the CTA scheduler gets no answers */
    start_hooks(dispatch, grid->next, grid->ctas);
    dispatch->not_before = grid->given + dispatch->config->launch_cycles;
    dispatch->is_over = false;
    memset(dispatch->resident, 0, dispatch->view.sms * sizeof *dispatch->resident);
    dispatch->launch = grid->clusters;
    dispatch->marks = grid->marks;
    dispatch->grid = grid->grid;
    dispatch->last = grid->last;
    dispatch->shares_sms = grid->shares_sms;
    TytoGridView *view = &dispatch->view;
    view->cycle = cycle;
    view->ctas = grid->ctas;
    view->next = view->cta = grid->next;
    view->capacity = dispatch->limit;
    view->cta_warps = grid->warps;
    view->l1d_lines = grid->l1d_lines;
    view->l1d_ways = grid->l1d_ways;
    cta_agent_start(&dispatch->agent, view);
    plan_sample(dispatch, cycle);
    dispatch->sms = grid->sms;
}

void dispatch_finished(Dispatch *dispatch, uint32_t sm, uint32_t slot, const Counters *counters,
                       uint64_t memory_cycles, uint64_t cycle) {
    TytoSmMeasurement measured = measure(counters, memory_cycles);
    measured.cta_slot = slot;
    dispatch->resident[sm]--;
    dispatch->paused[sm] &= ~(UINT64_C(1) << slot);
    dispatch->view.cycle = cycle;
    dispatch->asked_sm = (int)sm; /* other threads may be in the middle of a cycle */
    dispatch->asked_slot = (int)slot;
    cta_agent_finished(&dispatch->agent, &dispatch->view, sm, &measured);
    dispatch->asked_sm = DISPATCH_ANY_SM;
    dispatch->asked_slot = -1;
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

/* Whether the SM has room. Uses the dispatcher's own count if possible, since the SM's is in
 * another thread's caches. */
static bool has_room(Dispatch *dispatch, uint32_t sm) {
    const uint32_t limit = cta_agent_limit(&dispatch->agent, &dispatch->view, sm);
    return dispatch->resident[sm] < limit && dispatch->resident[sm] < dispatch->limit &&
           (!dispatch->shares_sms || sm_has_room(dispatch->sms[sm], dispatch->grid[sm]));
}

/* Lets the CTA scheduler choose a CTA for the SM, and marks it as dispatched. Returns false if the
 * choice is invalid. */
static bool take_ordered(Dispatch *dispatch, uint32_t sm, uint64_t *cta) {
    IsaFault *fault = &dispatch->fault;
    *cta = cta_agent_order(&dispatch->agent, &dispatch->view, sm);
    const bool is_cta = *cta < dispatch->view.ctas;
    if (is_cta && !(dispatch->gone[*cta / 64] >> *cta % 64 & 1)) {
        bits_set(dispatch->gone, *cta);
        return true;
    }
    snprintf(fault->text, sizeof fault->text,
             "CTA scheduler %s: cycle %" PRIu64 ": chose CTA %" PRIu64 " for SM %u, which %s",
             dispatch->agent.chosen->text, dispatch->view.cycle, *cta, sm,
             is_cta ? "is already dispatched" : "does not exist");
    fault->is_set = true;
    fault->code = ISA_FAULT_POLICY;
    return false;
}

/* Dispatches the next CTA to the SM. Returns false if the CTA scheduler's choice is invalid. */
static bool send(Dispatch *dispatch, uint32_t sm) {
    const IsaLaunch *launch = dispatch->launch;
    uint64_t cta = launch ? isa_cluster_order(launch, dispatch->view.next) : dispatch->view.next;
    if (!launch && cta_agent_orders(&dispatch->agent) && !take_ordered(dispatch, sm, &cta))
        return false;
    sm_launch_cta(dispatch->sms[sm], dispatch->grid[sm], cta, dispatch->view.cycle);
    dispatch->view.next++;
    dispatch->view.cta = cta;
    dispatch->resident[sm]++;
    dispatch->last = sm;
    cta_agent_dispatched(&dispatch->agent, &dispatch->view, sm);
    return true;
}

static bool go_round(Dispatch *dispatch, uint32_t most) {
    uint32_t count = dispatch->view.sms, first = (dispatch->last + 1) % count;
    for (uint32_t i = 0; i < count && most; i++) {
        uint32_t sm = (first + i) % count;
        for (uint32_t n = 0; n < dispatch->config->per_sm_per_cycle && most; n++) {
            if (dispatch->view.next == dispatch->view.ctas || !has_room(dispatch, sm)) break;
            if (!send(dispatch, sm)) return false;
            most--;
        }
    }
    return true;
}

/* The set of SMs that the CTA scheduler may choose from. */
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
        if (!send(dispatch, (uint32_t)sm)) return false;
        if (++dispatch->given[sm] == dispatch->config->per_sm_per_cycle ||
            !has_room(dispatch, (uint32_t)sm))
            room.words[sm / 64] &= ~(UINT64_C(1) << sm % 64);
    }
    return true;
}

/* ---- Clusters ---- */

/* Finds SMs of a group for `ctas` CTAs. Returns false if there is not room for all. */
static bool place_cluster(Dispatch *dispatch, uint32_t gpc, uint32_t ctas, uint32_t *sms) {
    const uint32_t count = dispatch->view.sms;
    uint32_t placed = 0, before;
    memset(dispatch->given, 0, count * sizeof *dispatch->given);
    do { /* one more CTA for each SM */
        before = placed;
        for (uint32_t i = 1; i <= count && placed < ctas; i++) {
            const uint32_t sm = (dispatch->last + i) % count;
            if (gpc_of(sm, dispatch->gpcs) != gpc) continue;
            dispatch->resident[sm] += dispatch->given[sm];
            const bool is_free = has_room(dispatch, sm);
            dispatch->resident[sm] -= dispatch->given[sm];
            if (!is_free) continue;
            dispatch->given[sm]++;
            sms[placed++] = sm;
        }
    } while (placed < ctas && placed != before);
    return placed == ctas;
}

static bool send_cluster(Dispatch *dispatch, const uint32_t *sms, uint32_t ctas) {
    for (uint32_t i = 0; i < ctas; i++)
        if (!send(dispatch, sms[i])) return false;
    return true;
}

static bool go_by_clusters(Dispatch *dispatch, uint32_t most) {
    const uint32_t ctas = dispatch->launch->cluster_ctas, first = dispatch->last_gpc + 1;
    uint32_t sms[ISA_MOST_CLUSTER];
    for (uint32_t i = 0; i < dispatch->gpcs && most; i++) {
        const uint32_t gpc = (first + i) % dispatch->gpcs;
        if (dispatch->view.next == dispatch->view.ctas) break;
        if (!place_cluster(dispatch, gpc, ctas, sms)) continue;
        if (!send_cluster(dispatch, sms, ctas)) return false;
        dispatch->last_gpc = gpc;
        if (ctas > most) /* the next waits as if they went one by one */
            dispatch->not_before = dispatch->view.cycle + (ctas + most - 1) / most;
        most -= ctas < most ? ctas : most;
    }
    return true;
}

static void announce_last(Dispatch *dispatch) {
    dispatch->is_over = true;
    for (uint32_t i = 0; i < dispatch->view.sms; i++)
        sm_last_cta(dispatch->sms[i], dispatch->grid[i], dispatch->view.cycle);
}

/* Informs the SMs which of the grid's CTAs are paused. */
static void tell_paused(Dispatch *dispatch) {
    for (uint32_t i = 0; i < dispatch->view.sms; i++)
        dispatch->paused[i] = sm_pause_ctas(dispatch->sms[i], dispatch->grid[i],
                                            dispatch->paused[i], dispatch->view.cycle);
    dispatch->has_paused = false;
}

bool dispatch_sample(Dispatch *dispatch, uint64_t cycle) {
    if (cycle < dispatch->sample_at && !dispatch->has_paused) return false;
    dispatch->view.cycle = cycle;
    if (cycle >= dispatch->sample_at) {
        cta_agent_sample(&dispatch->agent, &dispatch->view);
        plan_sample(dispatch, cycle);
    }
    if (!dispatch->has_paused) return false;
    tell_paused(dispatch);
    return true;
}

bool dispatch_step(Dispatch *dispatch, uint64_t cycle) {
    if (dispatch->is_over || cycle < dispatch->not_before) return true;
    uint32_t most = dispatch->config->per_cycle ? dispatch->config->per_cycle : UINT32_MAX;
    dispatch->view.cycle = cycle;
    const bool goes_on = dispatch->launch                      ? go_by_clusters(dispatch, most)
                         : cta_agent_chooses(&dispatch->agent) ? let_choose(dispatch, most)
                                                               : go_round(dispatch, most);
    if (!goes_on) return false;
    if (dispatch->view.next == dispatch->view.ctas) announce_last(dispatch);
    return true;
}
