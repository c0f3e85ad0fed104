/* What the machine has counted: sums over its units, of a kernel and of each unit in it. */
#include <string.h>

#include "gpu/engine_internal.h"

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

/* The parts of the fetch latency were summed in their domains' cycles: brings them to SM cycles;
 * what remains of the whole is the networks'. */
static void convert_fetch_parts(const MachineConfig *machine, Counters *c) {
    uint64_t sm = machine->clock.sm_khz;
    c->fetch_l2_cycles = c->fetch_l2_cycles * sm / machine->clock.l2_khz;
    c->fetch_queue_cycles = c->fetch_queue_cycles * sm / machine->clock.dram_khz;
    c->fetch_dram_cycles = c->fetch_dram_cycles * sm / machine->clock.dram_khz;
    uint64_t below = c->fetch_l2_cycles + c->fetch_queue_cycles + c->fetch_dram_cycles;
    c->fetch_noc_cycles = c->fetch_cycles > below ? c->fetch_cycles - below : 0;
}

Counters tally_count(Engine *engine, uint64_t end) {
    Counters sum = {0}, *c = &sum;
    uint64_t sm_khz = engine->machine->clock.sm_khz;
    for (uint32_t i = 0; i < engine->machine->sms; i++) {
        sm_settle(engine->sms[i], end);
        counters_add(c, sm_counters(engine->sms[i]));
    }
    convert_fetch_parts(engine->machine, c);
    for (uint32_t p = 0; p < engine->machine->partitions; p++) {
        partition_settle(engine->partitions[p], engine->dram.ticks + 1, engine->l2.ticks + 1);
        Counters now = partition_counters(engine->partitions[p]);
        add_since(c, &engine->partition_marks[p], &now);
    }
    Counters networks = tally_networks(engine);
    add_since(c, &engine->network_mark, &networks);
    c->cycles = end - engine->start;
    c->time_ps = (uint64_t)((unsigned __int128)c->cycles * 1000000000u / sm_khz);
    c->kernels = 1;
    return sum;
}

/* ---- Units ---- */

void tally_mark_partition(Engine *engine, uint32_t p) {
    Partition *partition = engine->partitions[p];
    uint32_t slices = engine->machine->partition.slices, banks = engine->machine->dram.banks;
    partition_begin_maxima(partition);
    engine->partition_marks[p] = partition_counters(partition);
    for (uint32_t i = 0; i < slices; i++)
        engine->slice_marks[p * slices + i] = *partition_slice_counters(partition, i);
    memcpy(&engine->bank_marks[p * banks], partition_bank_counts(partition),
           banks * sizeof(DramBankCounts));
}

static Counters bank_since(const DramBankCounts *mark, const DramBankCounts *now) {
#define BANK_SINCE(name) .name = now->name - mark->name,
    return (Counters){DRAM_BANK_COUNTS(BANK_SINCE)};
#undef BANK_SINCE
}

/* Adds what a partition has counted in the kernel, its slices and its banks. */
static void add_partition(const Engine *engine, uint32_t p, Units *units) {
    const Partition *partition = engine->partitions[p];
    uint32_t slices = engine->machine->partition.slices, banks = engine->machine->dram.banks;
    const DramBankCounts *counts = partition_bank_counts(partition);
    Counters now = partition_counters(partition);
    Counters part = counters_since(&engine->partition_marks[p], &now);
    units_add(units, UNIT_channel, p, &part);
    for (uint32_t i = 0; i < slices; i++) {
        part = counters_since(&engine->slice_marks[p * slices + i],
                              partition_slice_counters(partition, i));
        units_add(units, UNIT_slice, p * slices + i, &part);
    }
    for (uint32_t i = 0; i < banks; i++) {
        part = bank_since(&engine->bank_marks[p * banks + i], &counts[i]);
        units_add(units, UNIT_bank, p * banks + i, &part);
    }
}

Spreads tally_spreads(const Engine *engine) {
    Spreads spreads = {0};
    for (uint32_t i = 0; i < engine->machine->sms; i++)
        spreads_take(&spreads, sm_counters(engine->sms[i]), i == 0);
    return spreads;
}

void tally_keep_units(const Engine *engine) {
    Units *units = engine->watch ? engine->watch->units : NULL;
    for (uint32_t i = 0; i < engine->machine->sms; i++) {
        Counters counters = *sm_counters(engine->sms[i]);
        convert_fetch_parts(engine->machine, &counters);
        if (units) units_add(units, UNIT_sm, i, &counters);
    }
    for (uint32_t p = 0; units && p < engine->machine->partitions; p++)
        add_partition(engine, p, units);
}

Histograms tally_histograms(const Engine *engine) {
    Histograms all = {0};
    for (uint32_t i = 0; i < engine->machine->sms; i++)
        histograms_add(&all, sm_histograms(engine->sms[i]));
    return all;
}
