/* The operand collector (see the header). */
#include "sm/collector.h"

void collector_init(SmCollector *collector, const SmConfig *config, Arena *arena) {
    uint32_t first = 0;
    *collector = (SmCollector){.config = config};
    for (int u = 0; u < SM_UNITS; u++) {
        const SmUnitConfig *unit = &config->units[u];
        uint32_t count = unit->count ? unit->collector_units : 0;
        collector->units_of[u] = (uint32_t)(bits_low_mask((int)count) << first);
        collector->last[u] = first;
        first += count;
        collector->slots_free[u] = unit->count ? unit->issue_slots : 0;
        sm_queue_init(&collector->in[u], unit->issue_slots, arena);
        sm_queue_init(&collector->out[u], unit->dispatch_slots, arena);
    }
    assert(first <= SM_MAX_COLLECTORS);
    assert(bits_is_power_of_two(config->collector.banks));
    collector->bank_mask = config->collector.banks - 1;
    collector->bank_warp_mask = config->collector.adds_warp ? UINT32_MAX : 0;
    for (uint32_t b = 0; b < config->collector.banks; b++)
        sm_queue_init(&collector->bank[b], SM_MAX_COLLECTORS * 40, arena);
}

static uint32_t bank_of(const SmCollector *collector, uint32_t reg, uint32_t warp) {
    return (reg + (warp & collector->bank_warp_mask)) & collector->bank_mask;
}

uint64_t collector_banks_of(const SmCollector *collector, const SmContext *sm, uint16_t index) {
    const SmInst *inst = &sm->insts.inst[index];
    const IsaInfo *info = &sm->infos[inst->pc];
    const IsaReg *regs = &sm->reg_pool[info->regs];
    uint64_t banks = 0;
    for (int i = 0; i < info->dst_count; i++)
        banks |= UINT64_C(1) << bank_of(collector, regs[i].ordinal, inst->warp);
    return banks;
}

/* The first set bit after `last`, going round. */
static uint32_t next_unit(uint32_t units, uint32_t last) {
    uint32_t after = units & ~(uint32_t)bits_low_mask((int)last + 1);
    return (uint32_t)bits_lowest32(after ? after : units);
}

/* Complete instructions leave for the pipelines. */
static void dispatch(SmCollector *collector) {
    for (int u = 0; u < SM_UNITS; u++) {
        if (!(collector->ready & collector->units_of[u])) continue;
        const SmUnitConfig *config = &collector->config->units[u];
        for (uint32_t i = 0; i < config->collector_out; i++) {
            uint32_t ready = collector->ready & collector->units_of[u];
            if (!ready || collector->out[u].count >= config->dispatch_slots) break;
            uint32_t unit = next_unit(ready, collector->last[u]);
            collector->last[u] = unit;
            collector->ready &= ~(1u << unit);
            collector->busy &= ~(1u << unit);
            collector->out_kinds |= 1u << u;
            sm_queue_push(&collector->out[u], collector->inst[unit]);
        }
    }
}

/* Each bank serves the read that has waited longest, unless it is being written. */
static void grant_reads(SmCollector *collector, SmContext *sm) {
    uint64_t banks = collector->waiting_banks;
    if (!banks) return;
    if (collector->config->collector.writes_block_reads) banks &= ~collector->written;
    uint32_t granted = 0;
    for (; banks; banks &= banks - 1) {
        int bank = bits_lowest64(banks);
        uint16_t unit = sm_queue_pop(&collector->bank[bank]);
        if (!collector->bank[bank].count) collector->waiting_banks &= ~(UINT64_C(1) << bank);
        if (--collector->operands[unit] == 0) collector->ready |= 1u << unit;
        granted++;
    }
    collector->waiting_reads -= granted;
    sm->counters.register_reads += granted;
    sm->counters.register_conflict_cycles += collector->waiting_reads;
}

/* Queues the reads of an instruction that has just got a collector unit. */
static void request_operands(SmCollector *collector, const SmContext *sm, uint32_t unit,
                             const SmInst *inst) {
    const IsaInfo *info = &sm->infos[inst->pc];
    const IsaReg *regs = &sm->reg_pool[info->regs + info->dst_count];
    uint32_t count = collector->config->collector.is_ideal
                         ? 0u
                         : (uint32_t)info->src_count + info->address_count;
    collector->operands[unit] = (uint8_t)count;
    if (!count) collector->ready |= 1u << unit;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t bank = bank_of(collector, regs[i].ordinal, inst->warp);
        sm_queue_push(&collector->bank[bank], unit);
        collector->waiting_banks |= UINT64_C(1) << bank;
    }
    collector->waiting_reads += count;
}

static void allocate(SmCollector *collector, const SmContext *sm) {
    for (uint32_t kinds = collector->in_kinds; kinds; kinds &= kinds - 1) {
        int u = bits_lowest32(kinds);
        SmQueue *in = &collector->in[u];
        uint32_t left = collector->config->units[u].collector_in;
        do {
            uint32_t free = collector->units_of[u] & ~collector->busy;
            if (!free) break;
            uint32_t unit = (uint32_t)bits_lowest32(free);
            uint16_t inst = sm_queue_pop(in);
            collector->slots_free[u]++;
            collector->busy |= 1u << unit;
            collector->inst[unit] = inst;
            request_operands(collector, sm, unit, &sm->insts.inst[inst]);
        } while (in->count && --left);
        if (!in->count) collector->in_kinds &= ~(1u << u);
    }
}

void collector_step(SmCollector *collector, SmContext *sm) {
    if (collector->ready) dispatch(collector);
    grant_reads(collector, sm);
    allocate(collector, sm);
}

bool collector_can_move(const SmCollector *collector, bool lsu_is_free) {
    uint32_t can_start = collector->out_kinds & ~(lsu_is_free ? 0 : 1u << SM_UNIT_LDST);
    if (can_start || collector->waiting_banks) return true;
    for (uint32_t kinds = collector->in_kinds; kinds; kinds &= kinds - 1)
        if (collector->units_of[bits_lowest32(kinds)] & ~collector->busy) return true;
    for (int u = 0; u < SM_UNITS && collector->ready; u++)
        if (collector->ready & collector->units_of[u] &&
            collector->out[u].count < collector->config->units[u].dispatch_slots)
            return true;
    return false;
}
