/* Operand collector: issued instructions wait in collector units while single-ported register banks
 * serve their reads, one per bank and cycle; complete ones go on to the pipelines' input. */
#include "sm/sm_internal.h"

void collector_init(Sm *sm) {
    uint32_t first = 0;
    for (int u = 0; u < SM_UNITS; u++) {
        const SmUnitConfig *unit = &sm->config->units[u];
        uint32_t count = unit->count ? unit->collector_units : 0;
        sm->collector_of[u] = (uint32_t)(bits_low_mask((int)count) << first);
        sm->collector_last[u] = first;
        first += count;
        sm->slots_free[u] = unit->count ? unit->issue_slots : 0;
        sm_queue_init(&sm->issue_queue[u], unit->issue_slots, sm->arena);
        sm_queue_init(&sm->dispatch_queue[u], unit->dispatch_slots, sm->arena);
    }
    assert(first <= SM_MAX_COLLECTORS);
    assert(bits_is_power_of_two(sm->config->collector.banks));
    sm->bank_mask = sm->config->collector.banks - 1;
    sm->bank_warp_mask = sm->config->collector.adds_warp ? UINT32_MAX : 0;
    for (uint32_t b = 0; b < sm->config->collector.banks; b++)
        sm_queue_init(&sm->bank_queue[b], SM_MAX_COLLECTORS * 16, sm->arena);
}

static uint32_t bank_of(const Sm *sm, uint32_t reg, uint32_t warp) {
    return (reg + (warp & sm->bank_warp_mask)) & sm->bank_mask;
}

uint64_t collector_banks_of(const Sm *sm, const SmInst *inst) {
    const IsaInfo *info = &sm->infos[inst->pc];
    uint64_t banks = 0;
    for (int i = 0; i < info->dst_count; i++)
        banks |=
            UINT64_C(1) << bank_of(sm, sm->reg_pool[info->regs + (uint32_t)i].ordinal, inst->warp);
    return banks;
}

/* The first set bit after `last`, going round. */
static uint32_t next_unit(uint32_t units, uint32_t last) {
    uint32_t after = units & ~(uint32_t)bits_low_mask((int)last + 1);
    return (uint32_t)bits_lowest32(after ? after : units);
}

/* Complete instructions leave for the pipelines. */
static void dispatch(Sm *sm) {
    for (int u = 0; u < SM_UNITS; u++) {
        if (!(sm->collector_ready & sm->collector_of[u])) continue;
        const SmUnitConfig *config = &sm->config->units[u];
        for (uint32_t i = 0; i < config->collector_out; i++) {
            uint32_t ready = sm->collector_ready & sm->collector_of[u];
            if (!ready || sm->dispatch_queue[u].count >= config->dispatch_slots) break;
            uint32_t unit = next_unit(ready, sm->collector_last[u]);
            sm->collector_last[u] = unit;
            sm->collector_ready &= ~(1u << unit);
            sm->collector_busy &= ~(1u << unit);
            sm_queue_push(&sm->dispatch_queue[u], sm->collector_inst[unit]);
        }
    }
}

/* Each bank serves the read that has waited longest, unless it is being written. */
static void grant_reads(Sm *sm) {
    uint64_t banks = sm->bank_waits;
    if (!banks) return;
    if (sm->config->collector.writes_block_reads) banks &= ~sm->bank_written;
    uint32_t granted = 0;
    for (; banks; banks &= banks - 1) {
        int bank = bits_lowest64(banks);
        uint16_t unit = sm_queue_pop(&sm->bank_queue[bank]);
        if (!sm->bank_queue[bank].count) sm->bank_waits &= ~(UINT64_C(1) << bank);
        if (--sm->insts_in_flight[sm->collector_inst[unit]].operands == 0)
            sm->collector_ready |= 1u << unit;
        granted++;
    }
    sm->bank_reads -= granted;
    sm->counters.register_reads += granted;
    sm->counters.register_conflict_cycles += sm->bank_reads;
}

/* Queues the reads of an instruction that has just got a collector unit. */
static void request_operands(Sm *sm, uint32_t unit, SmInst *inst) {
    const IsaInfo *info = &sm->infos[inst->pc];
    const IsaReg *regs = &sm->reg_pool[info->regs + info->dst_count];
    uint32_t count =
        sm->config->collector.is_ideal ? 0u : (uint32_t)info->src_count + info->address_count;
    inst->operands = (uint8_t)count;
    if (!count) sm->collector_ready |= 1u << unit;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t bank = bank_of(sm, regs[i].ordinal, inst->warp);
        sm_queue_push(&sm->bank_queue[bank], unit);
        sm->bank_waits |= UINT64_C(1) << bank;
    }
    sm->bank_reads += count;
}

static void allocate(Sm *sm) {
    for (int u = 0; u < SM_UNITS; u++) {
        if (!sm->issue_queue[u].count) continue;
        for (uint32_t i = 0; i < sm->config->units[u].collector_in && sm->issue_queue[u].count;
             i++) {
            uint32_t free = sm->collector_of[u] & ~sm->collector_busy;
            if (!free) break;
            uint32_t unit = (uint32_t)bits_lowest32(free);
            uint16_t inst = sm_queue_pop(&sm->issue_queue[u]);
            sm->slots_free[u]++;
            sm->collector_busy |= 1u << unit;
            sm->collector_inst[unit] = inst;
            request_operands(sm, unit, &sm->insts_in_flight[inst]);
        }
    }
}

void collector_step(Sm *sm) {
    if (sm->collector_ready) dispatch(sm);
    grant_reads(sm);
    allocate(sm);
}

bool collector_has_work(const Sm *sm) {
    if (!sm->before_pipelines) return false;
    if (sm->bank_waits) return true;
    for (int u = 0; u < SM_UNITS; u++) {
        bool can_enter = sm->issue_queue[u].count && sm->collector_of[u] & ~sm->collector_busy;
        bool can_leave = sm->collector_ready & sm->collector_of[u] &&
                         sm->dispatch_queue[u].count < sm->config->units[u].dispatch_slots;
        bool can_start = sm->dispatch_queue[u].count && (u != SM_UNIT_LDST || sm->latch == SM_NONE);
        if (can_enter || can_leave || can_start) return true;
    }
    return false;
}
