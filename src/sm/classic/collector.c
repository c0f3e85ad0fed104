/* The operand collector (see the header). */
#include "sm/classic/collector.h"

/* Rare steps are separate functions, so that the frequent ones have more host registers. */
#define RARE __attribute__((noinline)) static

void collector_init(SmCollector *collector, const SmConfig *config, Arena *arena) {
    uint32_t first = 0, shared = config->collector.units;
    *collector = (SmCollector){.config = config};
    for (int u = 0; u < SM_UNITS; u++) {
        const SmUnitConfig *unit = &config->units[u];
        uint32_t count = unit->count && !shared ? unit->collector_units : 0;
        collector->open_to[u] =
            (uint32_t)(bits_low_mask((int)count) << first | bits_low_mask((int)shared));
        collector->last[u] = (uint16_t)first;
        first += count;
        assert(unit->issue_slots <= SM_FEW && unit->dispatch_slots <= SM_FEW);
        collector->slots_free[u] = unit->count ? unit->issue_slots : 0;
        collector->most_in[u] = (uint16_t)unit->collector_in;
        collector->most_out[u] = (uint16_t)unit->collector_out;
        collector->places_out[u] = (uint16_t)unit->dispatch_slots;
    }
    assert(first <= SM_MAX_COLLECTORS);
    assert(bits_is_power_of_two(config->collector.banks));
    collector->banks = bits_low_mask((int)config->collector.banks);
    collector->blockable = config->collector.writes_block_reads ? UINT64_MAX : 0;
    collector->has_own_units = !shared;
    collector->steps = config->collector.steps;
    collector->reuses = config->collector.reuses;
    collector->kept.warp = TYTO_NO_WARP;
    collector->bank_warp_mask = config->collector.adds_warp ? UINT32_MAX : 0;
    for (uint32_t b = 0; b < config->collector.banks; b++)
        sm_queue_init(&collector->queue[b], SM_MAX_COLLECTORS * 40, arena);
}

enum { KEPT_PLACES = sizeof((SmKept *)NULL)->place / sizeof *((SmKept *)NULL)->place };
static_assert(KEPT_PLACES <= 8, "SmInst.kept has a bit for each");

static uint64_t bank_of(const SmCollector *collector, const IsaReg *reg, uint32_t warp) {
    uint32_t place = reg->ordinal + (warp & collector->bank_warp_mask);
    return UINT64_C(1) << (place & (collector->config->collector.banks - 1));
}

/* Records what the next instruction may reuse: the operands that this one reads and does not
 * write. */
static void remember(SmKept *kept, const SmOp *op, const IsaReg *regs, int warp) {
    kept->warp = warp;
    kept->count = op->read_count < KEPT_PLACES ? op->read_count : KEPT_PLACES;
    for (uint32_t i = 0; i < kept->count; i++) {
        kept->place[i] = regs[op->result_count + i].number;
        for (uint32_t r = 0; r < op->result_count; r++)
            if (regs[r].number == kept->place[i]) kept->place[i] = SM_NO_REG;
    }
}

__attribute__((noinline)) void collector_keep_operands(SmCollector *collector, const SmContext *sm,
                                                       SmInst *inst) {
    const SmOp *op = context_op(sm, inst);
    const IsaReg *regs = &sm->warps.warp[inst->warp].grid->regs[op->regs],
                 *operands = regs + op->result_count;
    SmKept *kept = &collector->kept;
    uint64_t reads = 0;
    for (uint32_t i = 0; i < op->read_count; i++) {
        if (kept->warp == inst->warp && i < kept->count && kept->place[i] == operands[i].number)
            inst->kept |= (uint8_t)(1u << i);
        else reads |= bank_of(collector, &operands[i], inst->warp);
    }
    inst->reads = reads;
    inst->read_count = (uint16_t)(op->read_count - bits_count32(inst->kept));
    remember(kept, op, regs, inst->warp);
}

/* The first set bit after `last`, with wrap-around. */
static uint32_t next_unit(uint32_t units, uint32_t last) {
    uint32_t after = units & ~1u << last;
    return (uint32_t)bits_lowest32(after ? after : units);
}

/* Units among `ready` that hold an instruction of this kind, one bit each. */
static uint32_t units_of(const SmCollector *collector, uint32_t ready, uint32_t kind) {
    uint32_t units = 0;
    if (collector->has_own_units) return ready & collector->open_to[kind];
    for (uint32_t left = ready; left; left &= left - 1)
        if (collector->kind_of[bits_lowest32(left)] == kind) units |= left & -left;
    return units;
}

static bool has_place_behind(const SmCollector *collector, uint32_t kind) {
    return collector->out[kind].count < collector->places_out[kind];
}

/* Moves a complete instruction to the output queue of its kind. */
static void leave(SmCollector *collector, uint32_t unit, uint32_t kind) {
    collector->last[kind] = (uint16_t)unit;
    collector->ready ^= 1u << unit;
    collector->busy ^= 1u << unit;
    collector->out_kinds |= 1u << kind;
    sm_few_push(&collector->out[kind], collector->inst[unit]);
}

/* Moves complete instructions of a kind out in round-robin order, as many as one step allows. */
RARE void dispatch_kind(SmCollector *collector, uint32_t units, uint32_t kind) {
    uint32_t left = collector->most_out[kind];
    while (left-- && units && has_place_behind(collector, kind)) {
        uint32_t unit = next_unit(units, collector->last[kind]);
        units ^= 1u << unit;
        leave(collector, unit, kind);
    }
}

/* Moves complete instructions out to the pipelines: usually one per kind. */
static void dispatch(SmCollector *collector) {
    for (uint32_t left = collector->ready; left;) {
        const uint32_t unit = (uint32_t)bits_lowest32(left), kind = collector->kind_of[unit];
        const uint32_t units = units_of(collector, left, kind);
        left ^= units;
        if (units & (units - 1)) dispatch_kind(collector, units, kind);
        else if (has_place_behind(collector, kind)) leave(collector, unit, kind);
    }
}

/* Moves up the reads that waited behind the granted ones. */
static void move_up(SmCollector *collector, uint64_t banks) {
    for (; banks; banks &= banks - 1) {
        int bank = bits_lowest64(banks);
        uint64_t bit = UINT64_C(1) << bank;
        collector->front[sm_queue_pop(&collector->queue[bank])] |= bit;
        collector->asked |= bit;
        if (!collector->queue[bank].count) collector->behind &= ~bit;
    }
}

/* Banks serve the reads that are first in line, except banks that are being written. */
RARE void grant_some(SmCollector *collector, SmContext *sm) {
    uint64_t granted = collector->asked & ~(collector->written & collector->blockable);
    uint32_t reads = (uint32_t)bits_count64(granted);
    collector->asked &= ~granted;
    for (uint32_t left = collector->busy & ~collector->ready; left; left &= left - 1) {
        uint32_t unit = (uint32_t)bits_lowest32(left);
        uint64_t got = collector->front[unit] & granted;
        collector->front[unit] &= ~got;
        collector->operands[unit] = (uint16_t)(collector->operands[unit] - bits_count64(got));
        collector->ready |= (uint32_t)bits_if(!collector->operands[unit], (int)unit);
    }
    if (collector->behind & granted) move_up(collector, collector->behind & granted);
    collector->waiting_reads -= reads;
    sm->counters.register_reads += reads;
    sm->counters.register_conflict_cycles += collector->waiting_reads;
}

/* Each bank serves the read that has waited longest. If no read waits behind another and no write
 * interferes, this grants all reads. */
static void grant_reads(SmCollector *collector, SmContext *sm) {
    uint64_t blocked = collector->asked & collector->written & collector->blockable;
    if (blocked | collector->behind) {
        grant_some(collector, sm);
        return;
    }
    sm->counters.register_reads += collector->waiting_reads;
    collector->waiting_reads = 0;
    collector->asked = 0;
    collector->ready = collector->busy;
}

/* Requests one read of a bank. */
static void ask(SmCollector *collector, uint32_t unit, uint64_t bank) {
    if (collector->asked & bank) {
        collector->behind |= bank;
        sm_queue_push(&collector->queue[bits_lowest64(bank)], unit);
    } else {
        collector->asked |= bank;
        collector->front[unit] |= bank;
    }
}

/* Requests reads one by one, because some share a bank with each other or with earlier reads. */
RARE void ask_one_by_one(SmCollector *collector, const SmContext *sm, uint32_t unit,
                         const SmInst *inst) {
    const SmOp *op = context_op(sm, inst);
    const IsaReg *regs = &sm->warps.warp[inst->warp].grid->regs[op->regs + op->result_count];
    for (uint32_t i = 0; i < op->read_count; i++)
        if (i >= KEPT_PLACES || !(inst->kept >> i & 1))
            ask(collector, unit, bank_of(collector, &regs[i], inst->warp));
}

/* Requests the operands of an instruction that has just got a collector unit. */
static void request_operands(SmCollector *collector, const SmContext *sm, uint32_t unit,
                             const SmInst *inst) {
    uint32_t count = inst->read_count;
    uint64_t reads = inst->reads;
    if (!count) {
        collector->ready |= 1u << unit;
        return;
    }
    collector->operands[unit] = (uint16_t)count;
    collector->waiting_reads += count;
    if (reads & collector->asked || (uint32_t)bits_count64(reads) != count) {
        collector->front[unit] = 0;
        ask_one_by_one(collector, sm, unit, inst);
        return;
    }
    collector->front[unit] = reads;
    collector->asked |= reads;
}

/* Moves an issued instruction into a free unit. */
static inline void enter(SmCollector *collector, const SmContext *sm, uint32_t free, uint32_t kind,
                         uint16_t inst) {
    const uint32_t unit = (uint32_t)bits_lowest32(free);
    collector->busy |= free & -free;
    collector->kind_of[unit] = (uint16_t)kind;
    collector->inst[unit] = inst;
    request_operands(collector, sm, unit, &sm->insts.inst[inst]);
}

/* The same for further instructions of a kind after the first one, as many as one step allows. */
RARE void enter_more(SmCollector *collector, const SmContext *sm, uint32_t free, uint32_t kind) {
    SmFew *in = &collector->in[kind];
    uint32_t entered = 1, most = collector->most_in[kind];
    for (; free && in->count && entered < most; free &= free - 1) {
        enter(collector, sm, free, kind, in->items[entered++]);
        in->count--;
        collector->slots_free[kind]++;
    }
    for (uint32_t i = 0; i < in->count; i++)
        in->items[i] = in->items[entered + i];
    collector->in_kinds ^= (uint32_t)bits_if(!in->count, (int)kind);
}

/* Moves issued instructions of a kind, given by its bit, into free units: usually one. */
static inline void allocate_kind(SmCollector *collector, const SmContext *sm, uint32_t bit) {
    const uint32_t kind = (uint32_t)bits_lowest32(bit);
    const uint32_t free = collector->open_to[kind] & ~collector->busy;
    SmFew *in = &collector->in[kind];
    if (!free) return;
    collector->full_kinds &= ~bit;
    collector->slots_free[kind]++;
    enter(collector, sm, free, kind, in->items[0]);
    if (--in->count) enter_more(collector, sm, free & (free - 1), kind);
    else collector->in_kinds ^= bit;
}

/* Runs one step; returns whether anything has moved. */
static inline bool do_step(SmCollector *collector, SmContext *sm) {
    const uint32_t ready = collector->ready;
    if (ready) dispatch(collector);
    const bool has_left = collector->ready != ready;
    const uint64_t asked = collector->asked;
    if (asked) grant_reads(collector, sm);
    const uint32_t busy = collector->busy;
    for (uint32_t kinds = collector->in_kinds; kinds; kinds &= kinds - 1)
        allocate_kind(collector, sm, kinds & -kinds);
    return has_left | (asked != 0) | (collector->busy != busy);
}

void collector_do_step(SmCollector *collector, SmContext *sm) {
    bool has_moved = false;
    for (uint32_t left = collector->steps;;) {
        has_moved |= do_step(collector, sm);
        if (--left == 0) break;
        collector->written = 0; /* a write occupies its bank for one step */
    }
    collector->is_stuck = !has_moved;
}

bool collector_can_move(const SmCollector *collector, bool lsu_is_free) {
    uint32_t can_start = collector->out_kinds & ~(lsu_is_free ? 0 : 1u << SM_UNIT_LDST);
    if (can_start || collector->asked) return true;
    if (collector->is_stuck) return false;
    for (uint32_t kinds = collector->in_kinds; kinds; kinds &= kinds - 1)
        if (collector->open_to[bits_lowest32(kinds)] & ~collector->busy) return true;
    for (uint32_t left = collector->ready; left; left &= left - 1)
        if (has_place_behind(collector, collector->kind_of[bits_lowest32(left)])) return true;
    return false;
}
