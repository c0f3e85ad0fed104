/* The SM as a whole: construction, kernels, CTAs, the order of the stages in a cycle, and sleep. */
#include "sm/sm.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "sched/view.h"
#include "sm/sm_internal.h"

enum {
    PIPELINE_STAGES = 6
}; /* cycles from issue to issue beyond a pipeline's latency (docs/sm.md) */

static uint64_t slots_of_scheduler(const Sm *sm, uint32_t scheduler) {
    uint64_t slots = 0;
    for (uint32_t w = scheduler; w < sm->warp_slots; w += sm->config->scheduler.count)
        slots |= UINT64_C(1) << w;
    return slots;
}

static void start_view(Sm *sm, uint64_t cycle) {
    TytoSmView *view = &sm->view;
    *view =
        (TytoSmView){.cycle = cycle,
                     .sm = sm->env.index,
                     .sms = sm->env.sms,
                     .warp_count = sm->warp_slots,
                     .cta_count = sm->config->ctas,
                     .cta_limit = sm->cta_limit,
                     .warps_per_cta = sm->launch ? sm->launch->warps : 0,
                     .schedulers = sm->config->scheduler.count,
                     .pipeline_depth = PIPELINE_STAGES + sm->config->ops[ISA_CLASS_OTHER].latency,
                     .issue_interval = sm->config->scheduler.issue_interval,
                     .line_bytes = sm->config->l1d.line_bytes};
    memcpy(view->scheduler_warps, sm->scheduler_warps, sizeof view->scheduler_warps);
    for (int w = 0; w < TYTO_MAX_WARPS; w++)
        view->warp[w].age = UINT64_MAX;
}

Sm *sm_new(const SmEnvironment *environment) {
    Arena *arena = arena_new();
    Sm *sm = arena_alloc_aligned(arena, sizeof *sm, 64);
    sm->arena = arena;
    sm->env = *environment;
    sm->config = environment->config;
    sm->warp_slots = sm_config_warps(sm->config);
    for (uint32_t s = 0; s < sm->config->scheduler.count; s++)
        sm->scheduler_warps[s] = slots_of_scheduler(sm, s);
    for (int c = 0; c < ISA_CLASS_COUNT; c++)
        sm->unit_of[c] = sm->config->ops[c].unit;
    sm->insts_in_flight = ARENA_ARRAY(arena, SmInst, SM_INSTS);
    const SmUnitConfig *ldst = &sm->config->units[SM_UNIT_LDST];
    sm->memory_inst_count = ldst->issue_slots + ldst->collector_units + ldst->dispatch_slots + 1;
    sm->memory_insts = ARENA_ARRAY(arena, SmMemory, sm->memory_inst_count);
    fetch_init(sm);
    collector_init(sm);
    execute_init(sm);
    lsu_init(sm);
    port_init(sm);
    start_view(sm, 0);
    sched_agent_init(&sm->policy, environment->policy, &sm->view, environment->policy_call);
    return sm;
}

void sm_free(Sm *sm) {
    if (!sm) return;
    for (int c = 0; c < SM_MAX_CTAS; c++)
        isa_cta_free(&sm->ctas[c].isa);
    for (int w = 0; w < TYTO_MAX_WARPS; w++) {
        free(sm->warps[w].pending);
        free(sm->warps[w].pending_memory);
    }
    sched_agent_free(&sm->policy);
    arena_free(sm->arena);
}

void sm_queue_init(SmQueue *queue, uint32_t capacity, Arena *arena) {
    uint32_t size = 1;
    while (size < capacity)
        size *= 2;
    *queue = (SmQueue){.items = ARENA_ARRAY(arena, uint16_t, size), .mask = size - 1};
}

MemRequest *sm_request_pool(Sm *sm) { return sm->requests; }

/* ---- Instructions in flight ---- */

static void reset_insts(Sm *sm) {
    for (uint32_t i = 0; i < SM_INSTS; i++)
        sm->insts_in_flight[i].next = (uint16_t)(i + 1 < SM_INSTS ? i + 1 : SM_NONE);
    sm->free_inst = 0;
    for (uint32_t i = 0; i < sm->memory_inst_count; i++)
        sm->memory_insts[i].next = (uint16_t)(i + 1 < sm->memory_inst_count ? i + 1 : SM_NONE);
    sm->free_memory = 0;
}

uint16_t sm_inst_new(Sm *sm) {
    uint16_t inst = sm->free_inst;
    assert(inst != SM_NONE);
    sm->free_inst = sm->insts_in_flight[inst].next;
    return inst;
}

void sm_warp_settled(Sm *sm, int warp) {
    const SmWarp *w = &sm->warps[warp];
    uint64_t bit = UINT64_C(1) << warp;
    bool acks_are_in = !sm->config->lsu.acknowledges_stores || w->stores == 0;
    sm->has_news = true;
    if (w->in_flight == 0 && w->atomics == 0 && acks_are_in) sm->drained |= bit;
    uint64_t waited = sm_held(sm) & bit;
    if (w->pending_count == 0 && !(w->is_fence_for_stores && w->stores)) sm->fenced &= ~bit;
    if (w->atomics == 0) sm->atomic_waits &= ~bit;
    if (waited & ~sm_held(sm)) issue_update_head(sm, warp);
}

void sm_inst_complete(Sm *sm, uint16_t inst) {
    SmInst *i = &sm->insts_in_flight[inst];
    int warp = i->warp;
    scoreboard_release(sm, warp, &sm->infos[i->pc]);
    sm->warps[warp].in_flight--;
    if (i->holds_warp) sm->load_waits &= ~(UINT64_C(1) << warp);
    i->next = sm->free_inst;
    sm->free_inst = inst;
    sm_warp_settled(sm, warp);
    /* A head that waited for nothing of the kind has gained nothing. */
    uint64_t waiting = sm->view.waits_memory | (sm->view.has_instruction & ~sm->clear);
    if (waiting >> warp & 1) issue_update_head(sm, warp);
}

void sm_notify(Sm *sm, const TytoEvent *event) { sched_agent_event(&sm->policy, &sm->view, event); }

void sm_report_policy(Sm *sm, const TytoReport *out) {
    sched_agent_report(&sm->policy, &sm->view, out);
}

/* ---- Kernels and CTAs ---- */

/* Registers that a scoreboard needs, over all functions of the program. */
static uint32_t scoreboard_words_of(const IsaProgram *program) {
    uint32_t most = 1;
    for (uint32_t i = 0; i < program->function_count; i++)
        if ((uint32_t)program->functions[i].ptx->reg_count > most)
            most = (uint32_t)program->functions[i].ptx->reg_count;
    return (uint32_t)bits_words(most);
}

void sm_start_kernel(Sm *sm, const IsaLaunch *launch, const IsaContext *context, uint32_t ctas,
                     const SmListener *listener, uint64_t cycle) {
    sm->launch = launch;
    sm->insts = launch->program->insts;
    sm->infos = launch->program->infos;
    sm->reg_pool = launch->program->reg_pool;
    sm->context = *context;
    sm->context.sm = sm->env.index;
    isa_context_start(&sm->context);
    sm->listener = *listener;
    sm->cta_limit = ctas;
    sm->cta_threads = launch->warps * ISA_LANES;
    sm->counters = (Counters){0};
    sm->histograms = (Histograms){0};
    sm->cycles = (SmCycles){0};
    uint32_t words = scoreboard_words_of(launch->program);
    if (words > sm->scoreboard_words) {
        for (uint32_t w = 0; w < sm->warp_slots; w++) {
            size_t bytes = words * sizeof(uint64_t);
            sm->warps[w].pending = base_realloc(sm->warps[w].pending, bytes);
            sm->warps[w].pending_memory = base_realloc(sm->warps[w].pending_memory, bytes);
        }
        sm->scoreboard_words = words;
    }
    reset_insts(sm);
    if (sm->config->l1d.flush != CACHE_FLUSH_NEVER) l1d_flush(sm);
    SmReadCache *caches[] = {&sm->l1i, &sm->l1c, &sm->l1t};
    for (int i = 0; i < 3; i++)
        if (caches[i]->config->flush != CACHE_FLUSH_NEVER)
            tag_array_invalidate_all(&caches[i]->tags);
    start_view(sm, cycle);
    for (int s = 0; s < SM_MAX_SCHEDULERS; s++)
        sm->outcome[s] = SM_IDLE_NO_WARP;
    sm->settled = sm->cycle = sm->policy_cycle = cycle;
    *sm->env.wake = UINT64_MAX;
    sm->decode_due = UINT64_MAX;
    sched_agent_start(&sm->policy, &sm->view);
}

bool sm_can_take_cta(const Sm *sm, uint32_t limit) {
    uint32_t most = limit < sm->cta_limit ? limit : sm->cta_limit;
    return (uint32_t)bits_count64(sm->view.ctas) < most;
}

static void start_warp(Sm *sm, SmCta *cta, uint32_t slot, uint32_t index) {
    int warp = cta->first_warp + (int)index;
    uint64_t bit = UINT64_C(1) << warp;
    IsaWarp *isa = &cta->isa.warps[index];
    isa->slot = (uint32_t)warp;
    SmWarp *w = &sm->warps[warp];
    *w = (SmWarp){.isa = isa,
                  .pending = w->pending,
                  .pending_memory = w->pending_memory,
                  .buffer_pc = isa->pc,
                  .fetch_pc = isa->pc,
                  .cta_slot = (uint8_t)slot};
    scoreboard_reset(sm, warp);
    sm->empty |= bit;
    sm->drained |= bit;
}

void sm_launch_cta(Sm *sm, uint64_t index, uint64_t cycle) {
    sm_settle(sm, cycle + 1);
    uint32_t slot = (uint32_t)bits_lowest64(~sm->view.ctas);
    SmCta *cta = &sm->ctas[slot];
    cta->first_warp = (uint8_t)(slot * sm->launch->warps);
    cta->live = sm->launch->warps;
    cta->is_resident = true;
    isa_cta_start(&cta->isa, sm->launch, index);
    uint64_t warps = bits_low_mask((int)sm->launch->warps) << cta->first_warp;
    sm->view.cycle = cycle;
    sched_view_launch(&sm->view, (int)slot, warps, index, sm->next_age);
    sm->next_age += sm->launch->warps;
    for (uint32_t i = 0; i < sm->launch->warps; i++)
        start_warp(sm, cta, slot, i);
    sm->counters.ctas_launched++;
    sm->counters.warps_launched += sm->launch->warps;
    uint64_t resident = (uint64_t)bits_count64(sm->view.ctas);
    if (resident > sm->counters.ctas_per_sm_max) sm->counters.ctas_per_sm_max = resident;
    for (uint32_t i = 0; i < sm->launch->warps; i++)
        issue_update_head(sm, cta->first_warp + (int)i);
    sm_notify(sm, &(TytoEvent){.kind = TYTO_EVENT_CTA_LAUNCHED,
                               .warp = TYTO_NO_WARP,
                               .owner = TYTO_NO_WARP,
                               .cta_slot = (int)slot,
                               .warps = warps});
    *sm->env.wake = cycle + 1;
}

void sm_last_cta(Sm *sm, uint64_t cycle) {
    sm_settle(sm, cycle + 1);
    sm->view.cycle = cycle;
    sm->view.last_cta_dispatched = true;
    sm_notify(sm, &(TytoEvent){.kind = TYTO_EVENT_LAST_CTA,
                               .warp = TYTO_NO_WARP,
                               .owner = TYTO_NO_WARP,
                               .cta_slot = -1});
    if (sm->view.resident) *sm->env.wake = cycle + 1;
}

static void finish_cta(Sm *sm, uint32_t slot) {
    SmCta *cta = &sm->ctas[slot];
    uint64_t warps = sm->view.cta[slot].all;
    cta->is_resident = false;
    sched_view_finish(&sm->view, (int)slot);
    sm->counters.ctas_finished++;
    histogram_add(&sm->histograms, HISTOGRAM_cta_lifetime, sm->cycle - sm->view.cta[slot].launched);
    sm_notify(sm, &(TytoEvent){.kind = TYTO_EVENT_CTA_FINISHED,
                               .warp = TYTO_NO_WARP,
                               .owner = TYTO_NO_WARP,
                               .cta_slot = (int)slot,
                               .warps = warps});
    sm->listener.cta_finished(sm->listener.user, &(SmCtaEnd){.cta = cta->isa.index,
                                                             .start = sm->view.cta[slot].launched,
                                                             .end = sm->cycle,
                                                             .sm = sm->env.index,
                                                             .slot = slot});
    if (!sm->view.ctas && sm->config->l1d.flush == CACHE_FLUSH_IDLE) l1d_flush(sm);
}

/* Retires those of `warps` that have exited and have nothing under way. */
static void retire_warps(Sm *sm, uint64_t warps) {
    for (uint64_t rest = warps & sm->view.exited & sm->drained; rest; rest &= rest - 1) {
        int warp = bits_lowest64(rest);
        uint64_t bit = UINT64_C(1) << warp;
        uint32_t slot = sm->warps[warp].cta_slot;
        sm->has_news = true;
        sched_view_retire(&sm->view, warp);
        sm->empty &= ~bit;
        sm->redirected &= ~bit;
        sm->counters.warps_finished++;
        sm_notify(sm, &(TytoEvent){.kind = TYTO_EVENT_WARP_FINISHED,
                                   .warp = warp,
                                   .owner = TYTO_NO_WARP,
                                   .cta_slot = (int)slot,
                                   .warps = bit});
        if (--sm->ctas[slot].live == 0) finish_cta(sm, slot);
    }
}

uint32_t sm_resident_ctas(const Sm *sm) { return (uint32_t)bits_count64(sm->view.ctas); }

bool sm_is_idle(const Sm *sm) { return !sm->view.ctas && sm->outstanding == 0 && !l1d_is_busy(sm); }

const IsaFault *sm_fault(const Sm *sm) {
    return sm->context.fault.is_set ? &sm->context.fault : NULL;
}

/* ---- Cycles ---- */

/* Decides when the SM must be stepped again. */
static void plan_next_step(Sm *sm) {
    uint64_t next = sm->cycle + 1;
    bool is_busy = issue_has_work(sm) || (sm->view.exited & sm->drained) ||
                   collector_has_work(sm) || fetch_has_work(sm) || lsu_has_work(sm);
    if (!is_busy && !sm->env.never_sleeps) {
        uint64_t result = execute_next_result(sm), memory = lsu_next_event(sm);
        next = result < memory ? result : memory;
        if (sm->decode_due < next) next = sm->decode_due;
        if (sm->view.resident) {
            uint64_t ahead = sched_agent_next_change(&sm->policy, &sm->view);
            if (ahead < next - sm->cycle) next = sm->cycle + ahead;
        }
    }
    *sm->env.wake = next > sm->cycle ? next : sm->cycle + 1;
}

/* Accounts the cycles up to, not including, `cycle` as ones in which nothing has changed. */
static void count_cycles(Sm *sm, uint64_t cycle) {
    if (cycle <= sm->settled) return;
    uint64_t cycles = cycle - sm->settled;
    sm->settled = cycle;
    sm->cycles.all += cycles;
    sm->cycles.ctas += cycles * (uint64_t)bits_count64(sm->view.ctas);
    sm->cycles.warps += cycles * (uint64_t)bits_count64(sm->view.resident);
    if (sm->refusal) *sm->refusal += cycles;
    issue_count_cycles(sm, cycles);
}

void sm_settle(Sm *sm, uint64_t cycle) {
    count_cycles(sm, cycle);
    sm->counters.sm_cycles += sm->cycles.all;
    sm->counters.cta_cycles += sm->cycles.ctas;
    sm->counters.warp_cycles += sm->cycles.warps;
    issue_report_cycles(&sm->cycles, &sm->counters);
    sm->cycles = (SmCycles){0};
}

const Counters *sm_counters(const Sm *sm) { return &sm->counters; }
const Histograms *sm_histograms(const Sm *sm) { return &sm->histograms; }

void sm_step(Sm *sm, uint64_t cycle) {
    count_cycles(sm, cycle); /* those slept through, with the outcomes of the last one */
    sm->cycle = cycle;
    sm->view.cycle = cycle;
    sm->context.cycle = cycle;
    sm->bank_written = 0;
    execute_write_back(sm);
    lsu_step(sm);
    if (collector_has_work(sm)) {
        execute_step(sm);
        collector_step(sm);
    }
    issue_step(sm);
    fetch_decode(sm);
    retire_warps(sm, fetch_step(sm));
    plan_next_step(sm);
}

/* ---- What warps wait for ---- */

static const char *wait_of(const Sm *sm, int warp) {
    uint64_t bit = UINT64_C(1) << warp;
    bool waits_stores = sm->warps[warp].stores != 0;
    if (sm->view.exited & bit)
        return waits_stores ? "have exited and wait for their stores" : "have exited and drain";
    if (sm->view.at_barrier & bit) return "wait at a barrier";
    if (sm->atomic_waits & bit) return "wait for their atomics";
    if (sm->fenced & bit) return "wait at a memory fence";
    if (sm->fetch_waits & bit) return "wait for an instruction miss";
    if (!(sm->view.has_instruction & bit)) return "wait for instructions";
    if (sm->view.waits_memory & bit) return "wait for data from memory";
    if (!(sm->clear & bit)) return "wait for a result";
    return "are ready to issue";
}

uint32_t sm_waits(const Sm *sm, SmWait *waits, uint32_t count, uint32_t capacity) {
    for (uint64_t rest = sm->view.resident; rest; rest &= rest - 1) {
        int warp = bits_lowest64(rest);
        const IsaWarp *isa = sm->warps[warp].isa;
        const IsaInfo *info = &sm->infos[isa->pc];
        const char *what = wait_of(sm, warp);
        uint32_t i = 0;
        while (i < count && (waits[i].what != what || waits[i].line != info->line))
            i++;
        if (i == capacity) continue;
        if (i == count)
            waits[count++] = (SmWait){.what = what,
                                      .line = info->line,
                                      .op = (PtxOpcode)info->op,
                                      .first_cta = isa->cta->index,
                                      .first_warp = isa->index};
        waits[i].warps++;
    }
    return count;
}
