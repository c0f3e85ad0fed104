/* Resident CTAs and warps (see the header): updates the sets that follow from what each warp has in
 * flight. */
#include "sm/warps.h"

#include "sched/view.h"
#include "sm/context.h"

void warps_init(SmWarps *warps, const SmConfig *config, Arena *arena) {
    *warps = (SmWarps){.ctas = ARENA_ARRAY(arena, SmCta, SM_MAX_CTAS),
                       .awaits_stores = config->lsu.acknowledges_stores,
                       .atomics_block = config->lsu.atomics_block};
}

/* ---- CTAs ---- */

/* Registers of each thread of a CTA when it begins. */
static uint32_t registers_each(const SmGrid *grid) {
    return grid->registers / (grid->source->warps * ISA_LANES);
}

static void start_warp(SmContext *sm, uint32_t slot, uint32_t index, SourceWarp *handle) {
    const SmCta *cta = &sm->warps.ctas[slot];
    const int warp = cta->first_warp + (int)index;
    /* Without lsu.acknowledges_stores, the stores of the slot's last warp may still be
     * unacknowledged. Their acknowledgements go to the new warp, so its fences wait for them
     * too. */
    const uint32_t stores = sm->warps.warp[warp].stores;
    sm->warps.warp[warp] = (SmWarp){.handle = handle,
                                    .grid = cta->grid,
                                    .registers = (uint16_t)registers_each(cta->grid),
                                    .cta_slot = (uint8_t)slot,
                                    .index = (uint8_t)index,
                                    .stores = stores};
    sm->cta_of_warp[warp] = (uint32_t)cta->index;
}

/* Starts the CTA's warps through its source. */
static void start_warps(SmContext *sm, uint32_t slot) {
    const SmCta *cta = &sm->warps.ctas[slot];
    WarpSource *source = cta->grid->source;
    SourceWarp *warps[TYTO_MAX_WARPS];
    source->type->start_cta(source, slot, cta->index, cta->first_warp, warps);
    for (uint32_t i = 0; i < source->warps; i++)
        start_warp(sm, slot, i, warps[i]);
}

/* Reports a CTA that was launched or finished to the policy. */
static void notify_cta(SmContext *sm, TytoEventKind kind, uint32_t slot, uint64_t warps) {
    context_notify(sm, &(TytoEvent){.kind = kind,
                                    .warp = TYTO_NO_WARP,
                                    .owner = TYTO_NO_WARP,
                                    .cta_slot = (int)slot,
                                    .warps = warps});
}

int warps_find_slots(const SmContext *sm, uint32_t warps) {
    uint64_t runs = bits_low_mask((int)sm->view.warp_count) & ~sm->warps.taken;
    for (uint32_t i = 1; i < warps; i++)
        runs &= runs >> 1;
    return runs ? bits_lowest64(runs) : -1;
}

uint64_t warps_launch(SmContext *sm, SmGrid *grid, uint64_t index) {
    const uint32_t slot = (uint32_t)bits_lowest64(~sm->view.ctas), count = grid->source->warps;
    const int first = warps_find_slots(sm, count);
    sm->warps.ctas[slot] =
        (SmCta){.index = index, .grid = grid, .live = count, .first_warp = (uint8_t)first};
    uint64_t slots = bits_low_mask((int)count) << first;
    sched_view_launch(&sm->view, (int)slot, slots, index, sm->warps.next_age);
    sm->warps.next_age += count;
    start_warps(sm, slot);
    sm->warps.taken |= slots;
    grid->resident++;
    grid->counts.ctas_launched++;
    grid->counts.warps_launched += count;
    sm->counters.ctas_launched++;
    sm->counters.warps_launched += count;
    uint64_t resident = (uint64_t)bits_count64(sm->view.ctas);
    if (resident > sm->counters.ctas_per_sm_max) sm->counters.ctas_per_sm_max = resident;
    return slots;
}

void warps_notify_launch(SmContext *sm, uint64_t warps) {
    notify_cta(sm, TYTO_EVENT_CTA_LAUNCHED, sm->view.warp[bits_lowest64(warps)].cta_slot, warps);
}

/* Ends the kernel if the policy has written outside of its state and no pick has reported that. */
static void check_policy(SmContext *sm) {
    IsaFault *fault = &sm->policy_fault;
    if (sm->fault || !sched_state_overrun(&sm->policy.memory)) return;
    sched_agent_explain_overrun(&sm->policy, context_view(sm), fault->text, sizeof fault->text);
    fault->is_set = true;
    fault->code = ISA_FAULT_POLICY;
    sm->fault = fault;
}

static void finish_cta(SmContext *sm, uint32_t slot) {
    const TytoCtaView *cta = &sm->view.cta[slot];
    SmGrid *grid = sm->warps.ctas[slot].grid;
    grid->resident--;
    grid->counts.ctas_finished++;
    sm->warps.taken &= ~cta->all;
    sched_view_finish(&sm->view, (int)slot);
    if (sm->policy.paused) sched_agent_pause(&sm->policy, sm->policy.paused & ~cta->all);
    sm->counters.ctas_finished++;
    histogram_add(&sm->histograms, HISTOGRAM_cta_lifetime, sm->cycle - cta->launched);
    notify_cta(sm, TYTO_EVENT_CTA_FINISHED, slot, cta->all);
    check_policy(sm);
    context_wait_finished(sm);
    sm->listener.cta_finished(sm->listener.user,
                              &(SmCtaEnd){.cta = sm->warps.ctas[slot].index,
                                          .start = cta->launched,
                                          .end = sm->cycle,
                                          .grid = grid->user,
                                          .sm = sm->env.index,
                                          .slot = slot,
                                          .has_triggered = sm->warps.ctas[slot].has_triggered});
}

void warps_retire(SmContext *sm, uint64_t retiring) {
    for (; retiring; retiring &= retiring - 1) {
        int warp = bits_lowest64(retiring);
        uint32_t slot = sm->warps.warp[warp].cta_slot;
        sched_view_retire(&sm->view, warp);
        sm->counters.warps_finished++;
        sm->warps.warp[warp].grid->counts.warps_finished++;
        context_notify(sm, &(TytoEvent){.kind = TYTO_EVENT_WARP_FINISHED,
                                        .warp = warp,
                                        .owner = TYTO_NO_WARP,
                                        .cta_slot = (int)slot,
                                        .warps = UINT64_C(1) << warp});
        if (--sm->warps.ctas[slot].live == 0) finish_cta(sm, slot);
    }
}

/* ---- At issue ---- */

static void update_held(SmWarps *warps) {
    warps->held = warps->fenced | warps->atomic_waits | warps->load_waits | warps->copy_waits |
                  warps->phase_waits | warps->product_waits | warps->register_waits |
                  warps->grid_waits;
}

void warps_await(SmWarps *warps, const SmInst *inst, const SmMemory *memory) {
    SmWarp *w = &warps->warp[inst->warp];
    uint64_t bit = UINT64_C(1) << inst->warp;
    bool leaves_sm = memory->path >= SM_PATH_L1D;
    if (memory->is_store && leaves_sm && !memory->advice) w->stores += memory->count;
    if (memory->is_atomic && memory->count) {
        w->atomics += memory->count;
        if (warps->atomics_block) warps->atomic_waits |= bit;
    }
    if (inst->holds_warp) warps->load_waits |= bit;
    update_held(warps);
}

/* Whether the warp's fence waits for accesses that the warp has made outside the CTA. */
static bool awaits_writes(const SmWarp *w) {
    return w->is_fence_for_stores && (w->stores | w->atomics) != 0;
}

void warps_fence(SmWarps *warps, int warp, bool is_for_cta, bool has_pending) {
    SmWarp *w = &warps->warp[warp];
    w->is_fence_for_stores = !is_for_cta;
    if (has_pending || awaits_writes(w)) warps->fenced |= UINT64_C(1) << warp;
    update_held(warps);
}

uint8_t warps_copy_issued(SmWarps *warps, int warp) {
    return (uint8_t)(copies_issue(&warps->warp[warp].copies) + 1);
}

void warps_copy_done(SmWarps *warps, int warp, uint8_t copy) {
    if (copy) copies_done(&warps->warp[warp].copies, (uint8_t)(copy - 1));
}

void warps_copies(SmWarps *warps, int warp, const IsaInfo *info) {
    SmCopies *copies = &warps->warp[warp].copies;
    bool waits = false;
    if (info->flags & ISA_IS_COPY_COMMIT) waits = copies_commit(copies);
    else if (info->element_bytes == ISA_WAIT_ALL) waits = copies_wait_all(copies);
    else waits = copies_wait(copies, info->element_bytes);
    if (waits) warps->copy_waits |= UINT64_C(1) << warp;
    update_held(warps);
}

uint8_t warps_product_issued(SmWarps *warps, int warp) {
    return copies_issue(&warps->warp[warp].products);
}

void warps_product_done(SmWarps *warps, int warp, uint8_t group) {
    copies_done(&warps->warp[warp].products, group);
}

/* ---- Registers that warps of a CTA exchange ---- */

/* Gives the CTA's spare registers to waiting warps; each continues in the next cycle. */
static void grant_registers(SmContext *sm, uint32_t slot) {
    SmCta *cta = &sm->warps.ctas[slot];
    uint64_t waiting = sm->warps.register_waits & sm->view.cta[slot].all;
    for (; waiting; waiting &= waiting - 1) {
        SmWarp *w = &sm->warps.warp[bits_lowest64(waiting)];
        const uint32_t more = w->wanted ? (uint32_t)w->wanted - w->registers : 0;
        if (!more || more > cta->spare) continue;
        cta->spare -= more;
        w->registers = w->wanted;
        w->wanted = 0;
        events_post(&sm->events, SM_EVENT_WAIT_DONE, (uint32_t)bits_lowest64(waiting));
    }
}

void warps_set_registers(SmContext *sm, int warp, uint32_t registers) {
    SmWarp *w = &sm->warps.warp[warp];
    if (registers > w->registers) {
        w->wanted = (uint16_t)registers;
        sm->warps.register_waits |= UINT64_C(1) << warp;
        warps_issued(&sm->warps, warp);
    } else {
        sm->warps.ctas[w->cta_slot].spare += w->registers - registers;
        w->registers = (uint16_t)registers;
    }
    grant_registers(sm, w->cta_slot);
    update_held(&sm->warps);
}

/* ---- Grids that depend on others ---- */

static void trigger(SmContext *sm, SmCta *cta) {
    if (cta->has_triggered || !sm->listener.cta_triggered) return;
    cta->has_triggered = true;
    context_wait_finished(sm);
    sm->listener.cta_triggered(sm->listener.user, cta->grid->user);
}

void warps_dependency(SmContext *sm, int warp, IsaDependency what) {
    const SmWarp *w = &sm->warps.warp[warp];
    if (what == ISA_DEPENDENCY_TRIGGER) trigger(sm, &sm->warps.ctas[w->cta_slot]);
    if (what != ISA_DEPENDENCY_WAIT || !w->grid->waits) return;
    sm->warps.grid_waits |= UINT64_C(1) << warp;
    warps_issued(&sm->warps, warp);
    update_held(&sm->warps);
}

void warps_end_grid_waits(SmContext *sm, SmGrid *grid) {
    grid->waits = false;
    for (uint64_t rest = sm->warps.grid_waits; rest; rest &= rest - 1) {
        const int warp = bits_lowest64(rest);
        if (sm->warps.warp[warp].grid == grid)
            events_post(&sm->events, SM_EVENT_WAIT_DONE, (uint32_t)warp);
    }
}

/* ---- Waits for a phase of an mbarrier ---- */

static void go_on(SmWarps *warps, uint64_t ready) {
    warps->phase_waits &= ~ready;
    update_held(warps);
}

/* Makes the warp wait at `pc` for at most `cycles` cycles. */
static void try_for(SmContext *sm, int warp, uint32_t pc, uint32_t lanes, uint64_t cycles) {
    SmWarp *w = &sm->warps.warp[warp];
    w->try_pc = pc;
    w->try_lanes = lanes;
    w->try_until = sm->cycle + cycles;
    if (cycles) sm->warps.phase_waits |= UINT64_C(1) << warp;
    update_held(&sm->warps);
}

/* The warps in `waiting`, all of this grid, whose wait is over. */
static uint64_t try_again(SmContext *sm, SmGrid *grid, uint64_t waiting) {
    WarpSource *source = grid->source;
    uint64_t ready = 0;
    for (; waiting; waiting &= waiting - 1) {
        const SmWarp *w = &sm->warps.warp[bits_lowest64(waiting)];
        if (source->type->try_again(source, w->handle, w->try_pc, w->try_lanes))
            ready |= waiting & -waiting;
    }
    if (!sm->fault && source->type->fault(source)) {
        sm->fault = source->type->fault(source);
        sm->failed = grid;
    }
    return ready;
}

static void phase_changed(SmContext *sm, uint32_t slot) {
    const uint64_t waiting = sm->warps.phase_waits & sm->view.cta[slot].all;
    uint64_t ready = try_again(sm, sm->warps.ctas[slot].grid, waiting);
    for (; ready; ready &= ready - 1)
        sm->warps.warp[bits_lowest64(ready)].try_until = sm->cycle;
}

void warps_phase_changed(SmContext *sm, int warp) {
    phase_changed(sm, sm->warps.warp[warp].cta_slot);
}

uint64_t warps_at_mbarrier(SmContext *sm, int warp, uint32_t pc, uint32_t lanes) {
    const SmWarp *w = &sm->warps.warp[warp];
    WarpSource *source = w->grid->source;
    uint64_t cycles = sm->config->try_wait;
    const WarpPhase phase = source->type->phase(source, w->handle, pc, lanes, &cycles);
    if (phase == WARP_PHASE_TRIES) try_for(sm, warp, pc, lanes, cycles);
    if (phase != WARP_PHASE_CHANGED) return 0;
    uint64_t waiting = sm->warps.phase_waits & sm->view.cta[w->cta_slot].all;
    uint64_t ready = waiting ? try_again(sm, w->grid, waiting) : 0;
    if (ready) go_on(&sm->warps, ready);
    return ready;
}

uint64_t warps_end_tries(SmContext *sm) {
    uint64_t ready = 0;
    for (uint64_t rest = sm->warps.phase_waits; rest; rest &= rest - 1)
        if (sm->warps.warp[bits_lowest64(rest)].try_until <= sm->cycle) ready |= rest & -rest;
    if (ready) go_on(&sm->warps, ready);
    return ready;
}

uint64_t warps_next_try(const SmWarps *warps) {
    uint64_t next = UINT64_MAX;
    for (uint64_t rest = warps->phase_waits; rest; rest &= rest - 1) {
        uint64_t until = warps->warp[bits_lowest64(rest)].try_until;
        if (until < next) next = until;
    }
    return next;
}

void warps_exited(SmContext *sm, int warp) {
    uint64_t bit = UINT64_C(1) << warp;
    sm->view.exited |= bit;
    sm->warps.drained &= ~bit;
    warps_note_drained(&sm->warps, warp);
}

/* Updates the state of the CTA's barriers and reports changes to the policy. */
static void update_barriers(SmContext *sm, uint32_t slot) {
    const SmCta *cta = &sm->warps.ctas[slot];
    uint64_t all = sm->view.cta[slot].all;
    uint64_t before = sm->view.at_barrier & all;
    const WarpSource *source = cta->grid->source;
    uint64_t now = (uint64_t)source->type->waiting(source, slot) << cta->first_warp;
    uint64_t arrived = now & ~before, released = before & ~now;
    sm->view.at_barrier = (sm->view.at_barrier & ~all) | now;
    TytoEvent event = {.warp = TYTO_NO_WARP, .owner = TYTO_NO_WARP, .cta_slot = (int)slot};
    for (; arrived; arrived &= arrived - 1) {
        event.kind = TYTO_EVENT_WARP_AT_BARRIER;
        event.warp = bits_lowest64(arrived);
        event.warps = UINT64_C(1) << event.warp;
        context_notify(sm, &event);
    }
    if (!released) return;
    event.kind = TYTO_EVENT_BARRIER_RELEASED;
    event.warp = TYTO_NO_WARP;
    event.warps = released;
    context_notify(sm, &event);
}

void warps_update_barriers(SmContext *sm, int warp) {
    update_barriers(sm, sm->warps.warp[warp].cta_slot);
}

static void hold_for_products(SmWarps *warps, int warp, bool waits) {
    if (waits) warps->product_waits |= UINT64_C(1) << warp;
    update_held(warps);
}

void warps_products_commit(SmContext *sm, int warp) {
    SmWarps *warps = &sm->warps;
    hold_for_products(warps, warp, copies_commit(&warps->warp[warp].products));
    warps_update_barriers(sm, warp);
}

void warps_products_wait(SmContext *sm, int warp, uint32_t pending) {
    SmWarps *warps = &sm->warps;
    hold_for_products(warps, warp, copies_wait(&warps->warp[warp].products, pending));
    warps_update_barriers(sm, warp);
}

void warps_look_again(SmContext *sm, uint32_t slot) {
    update_barriers(sm, slot);
    phase_changed(sm, slot);
}

/* ---- Completions ---- */

bool warps_inst_ended(SmWarps *warps, const SmInst *inst) {
    warps_copy_done(warps, inst->warp, inst->copy);
    if (!inst->holds_warp) return false;
    warps->load_waits &= ~(UINT64_C(1) << inst->warp);
    update_held(warps);
    return true;
}

bool warps_let_go(SmWarps *warps, int warp, bool has_pending) {
    const SmWarp *w = &warps->warp[warp];
    uint64_t bit = UINT64_C(1) << warp;
    if (!has_pending && !awaits_writes(w)) warps->fenced &= ~bit;
    if (w->atomics == 0) warps->atomic_waits &= ~bit;
    if (!w->copies.waiting) warps->copy_waits &= ~bit;
    if (!w->products.waiting) warps->product_waits &= ~bit;
    if (!w->wanted) warps->register_waits &= ~bit;
    if (!w->grid->waits) warps->grid_waits &= ~bit;
    update_held(warps);
    return !(warps->held & bit);
}
