/* What the machine has counted: sums over its units for a kernel, and the counts of each unit. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "engine/engine_internal.h"

Counters tally_networks(const Engine *engine) {
    Counters sum = engine->networks[0];
    counters_add(&sum, &engine->networks[1]);
    sum.noc_cycles = engine->noc.ticks;
    return sum;
}

/* Adds what a unit has counted since a mark. */
static void add_since(Counters *sum, const Counters *mark, const Counters *now) {
    Counters since = counters_since(mark, now);
    counters_add(sum, &since);
}

/* Converts the parts of the load latency to SM cycles; they were summed in the cycles of their
 * domains. The remainder of the whole latency belongs to the networks. */
static void convert_load_parts(const MachineConfig *machine, Counters *c) {
    uint64_t sm = machine->clock.sm_khz;
    c->load_l2_cycles = c->load_l2_cycles * sm / machine->clock.l2_khz;
    c->load_queue_cycles = c->load_queue_cycles * sm / machine->clock.dram_khz;
    c->load_dram_cycles = c->load_dram_cycles * sm / machine->clock.dram_khz;
    uint64_t below = c->load_l2_cycles + c->load_queue_cycles + c->load_dram_cycles;
    c->load_noc_cycles = c->load_cycles > below ? c->load_cycles - below : 0;
}

/* What an SM has counted since a mark. */
static Counters sm_since(const Engine *engine, const EngineMarks *marks, uint32_t sm) {
    const Counters *now = sm_counters(engine->sms[sm]);
    return marks->sms ? counters_since(&marks->sms[sm], now) : *now;
}

/* Cycles of a grid before its launch latency had passed, `cycles` after it began. They are 0 for
 * grids that do not begin on a machine at rest, because other grids can have warps in these
 * cycles. */
static uint64_t launch_cycles(const Engine *engine, const EngineMarks *marks, uint64_t cycles) {
    const uint64_t latency = engine->machine->cta.launch_cycles;
    if (marks->sms) return 0;
    return cycles < latency ? cycles : latency;
}

Counters tally_count(Engine *engine, const EngineMarks *marks, uint64_t end) {
    Counters sum = {0}, *c = &sum;
    uint64_t sm_khz = engine->machine->clock.sm_khz;
    for (uint32_t i = 0; i < engine->machine->sms; i++) {
        sm_settle(engine->sms[i], end);
        if (!marks->sms) counters_add(c, sm_counters(engine->sms[i]));
        else add_since(c, &marks->sms[i], sm_counters(engine->sms[i]));
    }
    convert_load_parts(engine->machine, c);
    for (uint32_t p = 0; p < engine->machine->partitions; p++) {
        partition_settle(engine->partitions[p], engine->dram.ticks + 1, engine->l2.ticks + 1);
        Counters now = partition_counters(engine->partitions[p]);
        add_since(c, &marks->partitions[p], &now);
    }
    Counters networks = tally_networks(engine);
    add_since(c, &marks->networks, &networks);
    c->cycles = end - marks->start;
    c->idle_launch = launch_cycles(engine, marks, c->cycles) * engine->machine->sms *
                     engine->machine->sm.scheduler.count;
    c->time_ps = (uint64_t)((unsigned __int128)c->cycles * 1000000000u / sm_khz);
    c->kernels = 1;
    return sum;
}

/* ---- Units ---- */

static void mark_partition(Engine *engine, EngineMarks *marks, uint32_t p) {
    Partition *partition = engine->partitions[p];
    uint32_t slices = engine->machine->partition.slices, banks = engine->machine->dram.banks;
    marks->partitions[p] = partition_counters(partition);
    for (uint32_t i = 0; i < slices; i++)
        marks->slices[p * slices + i] = *partition_slice_counters(partition, i);
    memcpy(&marks->banks[p * banks], partition_bank_counts(partition),
           banks * sizeof(DramBankCounts));
}

/* Allocates memory for a mark, at its first use. */
static void allocate_marks(const Engine *engine, EngineMarks *marks, bool is_at_rest) {
    const MachineConfig *machine = engine->machine;
    if (!marks->partitions) {
        marks->partitions = base_calloc(machine->partitions, sizeof(Counters));
        marks->slices =
            base_calloc(machine->partitions * machine->partition.slices, sizeof(Counters));
        marks->banks =
            base_calloc(machine->partitions * machine->dram.banks, sizeof(DramBankCounts));
    }
    if (!marks->sm_room && !is_at_rest)
        marks->sm_room = base_calloc(machine->sms, sizeof(Counters));
    marks->sms = is_at_rest ? NULL : marks->sm_room;
}

void tally_free_marks(EngineMarks *marks) {
    free(marks->sm_room);
    free(marks->partitions);
    free(marks->slices);
    free(marks->banks);
}

void tally_mark(Engine *engine, EngineMarks *marks, bool is_at_rest) {
    allocate_marks(engine, marks, is_at_rest);
    marks->start = engine->cycle;
    marks->networks = tally_networks(engine);
    for (uint32_t i = 0; i < engine->machine->sms && !is_at_rest; i++) {
        sm_settle(engine->sms[i], engine->cycle);
        marks->sms[i] = *sm_counters(engine->sms[i]);
    }
    for (uint32_t p = 0; p < engine->machine->partitions; p++) {
        partition_settle(engine->partitions[p], engine->dram.ticks + 1, engine->l2.ticks + 1);
        if (is_at_rest) partition_begin_maxima(engine->partitions[p]);
        mark_partition(engine, marks, p);
    }
}

static Counters bank_since(const DramBankCounts *mark, const DramBankCounts *now) {
#define BANK_SINCE(name) .name = now->name - mark->name,
    return (Counters){DRAM_BANK_COUNTS(BANK_SINCE)};
#undef BANK_SINCE
}

/* Adds what a partition has counted in the kernel, with its slices and banks. */
static void add_partition(const Engine *engine, const EngineMarks *marks, uint32_t p,
                          Units *units) {
    const Partition *partition = engine->partitions[p];
    uint32_t slices = engine->machine->partition.slices, banks = engine->machine->dram.banks;
    const DramBankCounts *counts = partition_bank_counts(partition);
    Counters now = partition_counters(partition);
    Counters part = counters_since(&marks->partitions[p], &now);
    units_add(units, UNIT_channel, p, &part);
    for (uint32_t i = 0; i < slices; i++) {
        part =
            counters_since(&marks->slices[p * slices + i], partition_slice_counters(partition, i));
        units_add(units, UNIT_slice, p * slices + i, &part);
    }
    for (uint32_t i = 0; i < banks; i++) {
        part = bank_since(&marks->banks[p * banks + i], &counts[i]);
        units_add(units, UNIT_bank, p * banks + i, &part);
    }
}

Spreads tally_spreads(const Engine *engine, const EngineMarks *marks) {
    Spreads spreads = {0};
    for (uint32_t i = 0; i < engine->machine->sms; i++) {
        const Counters counters = sm_since(engine, marks, i);
        spreads_take(&spreads, &counters, i == 0);
    }
    return spreads;
}

/* Adds what each SM has counted. The parts of the load latency are rounded cumulatively over the
 * SMs, so that they add up to the kernel's. */
static void add_sms(const Engine *engine, const EngineMarks *marks, Units *units) {
    Counters so_far = {0}, before = {0};
    for (uint32_t i = 0; i < engine->machine->sms; i++) {
        Counters counters = *sm_counters(engine->sms[i]);
        counters_add(&so_far, &counters);
        Counters now = so_far;
        convert_load_parts(engine->machine, &now);
        counters.load_l2_cycles = now.load_l2_cycles - before.load_l2_cycles;
        counters.load_queue_cycles = now.load_queue_cycles - before.load_queue_cycles;
        counters.load_dram_cycles = now.load_dram_cycles - before.load_dram_cycles;
        counters.load_noc_cycles = now.load_noc_cycles - before.load_noc_cycles;
        before = now;
        counters.idle_launch = launch_cycles(engine, marks, engine->cycle + 1 - marks->start) *
                               engine->machine->sm.scheduler.count;
        units_add(units, UNIT_sm, i, &counters);
    }
}

void tally_keep_units(const Engine *engine, const EngineMarks *marks) {
    Units *units = engine->watch ? engine->watch->units : NULL;
    if (!units) return;
    add_sms(engine, marks, units);
    for (uint32_t p = 0; p < engine->machine->partitions; p++)
        add_partition(engine, marks, p, units);
}

Histograms tally_histograms(const Engine *engine) {
    Histograms all = {0};
    for (uint32_t i = 0; i < engine->machine->sms; i++)
        histograms_add(&all, sm_histograms(engine->sms[i]));
    return all;
}

WarpStates tally_states(const Engine *engine) {
    WarpStates all = {0};
    for (uint32_t i = 0; i < engine->machine->sms; i++)
        warp_states_add(&all, sm_warp_states(engine->sms[i]));
    return all;
}
