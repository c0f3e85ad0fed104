/* Measures with kernels that read the clock themselves, and with counters of whole launches. */
#include "probe.h"

#include <stdlib.h>

#include "base/arena.h"
#include "rig.h"

enum {
    COPIES = 16,             /* copies of the instruction under test in the kernels */
    BUFFER_BYTES = 16 << 20, /* for chases */
    SEARCH_BYTES = 48 << 20, /* for chases that search for banks and rows */
    TURNS = 100,             /* turns of the loops that measure throughput */
    STREAM_CTAS = 90,        /* CTAs of 256 threads that the SMs can hold */
    STREAM_TURNS = 24,       /* words that a thread reads */
    FILL_CTAS = 2048,        /* 16384 lines of 128 B */
    RANDOM_TURNS = 64,       /* sectors that each thread reads */
    RANDOM_SECTORS = 16384,  /* half a megabyte, fits into L2 */
};

static Rig *rig_for(const char *folder, const Probe *probe, const char *kernel) {
    Rig *rig =
        rig_new(folder, &(RigSetup){.machine = probe->machine, .scheduler = probe->scheduler});
    rig_load(rig, kernel, probe->op);
    return rig;
}

/* ---- Clocks read by the kernel itself ---- */

/* Runs a kernel that stores a number of cycles. */
static double cycles_of(const char *folder, const Probe *probe, const char *kernel,
                        uint32_t count) {
    Rig *rig = rig_for(folder, probe, kernel);
    RigParameters parameters = {.out = rig_alloc(rig, 4), .count = {count, 0}};
    rig_launch_line(rig, 1, probe->threads ? probe->threads : 32, &parameters);
    double cycles = rig_read_word(rig, parameters.out);
    rig_free(rig);
    return cycles;
}

double probe_chain(const char *folder, const Probe *probe) {
    return cycles_of(folder, probe, "chain", 0) / COPIES;
}

double probe_16_pieces(const char *folder, const Probe *probe) {
    return cycles_of(folder, probe, "pieces", 0);
}

double probe_piece(const char *folder, const Probe *probe) {
    return probe_16_pieces(folder, probe) / COPIES;
}

double probe_barrier(const char *folder, const Probe *probe) {
    enum { BARRIERS = 8 };
    Probe barriers = *probe;
    barriers.op = "bar.sync 0; bar.sync 0; bar.sync 0; bar.sync 0; "
                  "bar.sync 0; bar.sync 0; bar.sync 0; bar.sync 0;";
    return probe_piece(folder, &barriers) / BARRIERS;
}

double probe_loop(const char *folder, const Probe *probe) {
    enum { LOOPS = 64 };
    return cycles_of(folder, probe, "loop", LOOPS) / LOOPS;
}

double probe_shared(const char *folder, const Probe *probe) {
    return cycles_of(folder, probe, "shared", probe->stride) / COPIES;
}

/* ---- Chases through global memory ---- */

enum { MOST_NODES = 64 };

/* Whether a sector is the next node of a list that starts with `nodes`. */
static bool is_next(const ProbeList *list, const DramPlace *nodes, uint32_t count,
                    DramPlace place) {
    bool is_first_bank = place.channel == nodes[0].channel && place.bank == nodes[0].bank;
    if (list->nodes == PROBE_ROW) return is_first_bank && place.row == nodes[0].row;
    if (list->nodes == PROBE_CONFLICTS && !is_first_bank) return false;
    for (uint32_t i = 0; i < count; i++) {
        bool is_same = list->nodes == PROBE_CONFLICTS
                           ? nodes[i].row == place.row
                           : nodes[i].channel == place.channel && nodes[i].bank == place.bank;
        if (is_same) return false;
    }
    return true;
}

/* The addresses of a list's nodes. */
static void find_nodes(const Rig *rig, const ProbeList *list, uint64_t base, uint32_t *addresses) {
    AddressMap map = machine_address_map(rig_machine(rig));
    DramPlace places[MOST_NODES];
    uint32_t count = 0;
    for (uint32_t i = 0; count < list->count; i++) {
        uint64_t address = base + list->first + i * list->step;
        DramPlace place = address_map_place(&map, address);
        if (list->nodes == PROBE_PLAIN)
            address = base + list->first + i % list->group * list->step +
                      i / list->group * list->group_step;
        else if (count && !is_next(list, places, count, place)) continue;
        places[count] = place;
        addresses[count++] = (uint32_t)address;
    }
}

double probe_chase(const char *folder, const Probe *probe) {
    const ProbeList *list = &probe->list;
    Rig *rig = rig_for(folder, probe, "chase");
    uint64_t base = rig_alloc(rig, list->nodes == PROBE_PLAIN ? BUFFER_BYTES : SEARCH_BYTES);
    uint32_t lanes = probe->stride ? 32 : 1, nodes[MOST_NODES];
    find_nodes(rig, list, base, nodes);
    for (uint32_t node = 0; node < list->count; node++) {
        for (uint32_t lane = 0; lane < lanes; lane++) {
            uint32_t offset = lane * probe->stride;
            uint32_t next = nodes[(node + 1) % list->count] + offset;
            rig_write(rig, nodes[node] + offset, &next, sizeof next, list->is_in_l2);
        }
    }
    RigParameters parameters = {
        .out = rig_alloc(rig, 4), .data = nodes[0], .count = {probe->stride, 0}};
    rig_launch_line(rig, 1, probe->threads, &parameters);
    double cycles = rig_read_word(rig, parameters.out);
    rig_free(rig);
    return cycles / COPIES;
}

/* ---- Whole kernels ---- */

/* Cycles of one CTA of the kernel `store`, after one CTA per SM has loaded the code. */
static double store_cycles(const char *folder, const Probe *probe) {
    Rig *rig = rig_for(folder, probe, "store");
    uint64_t data = rig_alloc(rig, 2 << 10);
    RigParameters warm = {.data = data, .count = {probe->stride, 0}};
    RigParameters cold = {.data = data + (1 << 10), .count = {probe->stride, 0}};
    rig_launch_line(rig, rig_machine(rig)->sms, probe->threads, &warm);
    GpuResult result = rig_launch_line(rig, 1, probe->threads, &cold);
    double cycles = rig_cycles(rig, &result);
    rig_free(rig);
    return cycles;
}

double probe_store(const char *folder, const Probe *probe) {
    Probe nothing = *probe;
    nothing.op = "";
    return store_cycles(folder, probe) - store_cycles(folder, &nothing);
}

/* Cycles of the probe's launch of the empty kernel, after `before` CTAs of it have run (ALL_SMS:
 * one for each SM). */
enum { ALL_SMS = UINT16_MAX };
static double empty_cycles(const char *folder, const Probe *probe, uint32_t before) {
    Rig *rig = rig_for(folder, probe, "empty");
    RigParameters parameters = {0};
    if (before == ALL_SMS) before = rig_machine(rig)->sms;
    if (before) rig_launch_line(rig, before, 32, &parameters);
    GpuResult result = rig_launch_line(rig, probe->ctas, probe->threads, &parameters);
    double cycles = rig_cycles(rig, &result);
    rig_free(rig);
    return cycles;
}

double probe_empty_cold(const char *folder, const Probe *probe) {
    return empty_cycles(folder, probe, 0);
}
double probe_empty_l2(const char *folder, const Probe *probe) {
    return empty_cycles(folder, probe, 1);
}
double probe_empty_warm(const char *folder, const Probe *probe) {
    return empty_cycles(folder, probe, ALL_SMS);
}

/* ---- Throughput ---- */

static GpuResult run_loop(const char *folder, const Probe *probe, const char *kernel) {
    Rig *rig = rig_for(folder, probe, kernel);
    static const uint32_t words[32];
    RigParameters parameters = {
        .out = rig_alloc(rig, 4), .data = rig_alloc(rig, sizeof words), .count = {TURNS, 0}};
    rig_write(rig, parameters.data, words, sizeof words, true);
    GpuResult result = rig_launch_line(rig, probe->ctas, probe->threads, &parameters);
    rig_free(rig);
    return result;
}

enum { GTX480_SMS = 15 };

static double per_sm_cycle(const GpuResult *result, uint64_t count) {
    return (double)count / (double)result->cycles / GTX480_SMS;
}

double probe_ipc(const char *folder, const Probe *probe) {
    GpuResult result = run_loop(folder, probe, "throughput");
    return per_sm_cycle(&result, result.warp_instructions);
}

double probe_loop_ipc(const char *folder, const Probe *probe) {
    GpuResult result = run_loop(folder, probe, "loop");
    return per_sm_cycle(&result, result.warp_instructions);
}

double probe_shared_rate(const char *folder, const Probe *probe) {
    GpuResult result = run_loop(folder, probe, "throughput");
    return per_sm_cycle(&result, result.counters.shared_instructions);
}

double probe_l1d_rate(const char *folder, const Probe *probe) {
    GpuResult result = run_loop(folder, probe, "throughput");
    return per_sm_cycle(&result, result.counters.l1d_accesses);
}

double probe_sfu_cycles(const char *folder, const Probe *probe) {
    GpuResult result = run_loop(folder, probe, "throughput");
    return 1 / per_sm_cycle(&result, result.counters.sfu_instructions);
}

/* ---- One SM ---- */

double probe_loop_cycles(const char *folder, const Probe *probe) {
    enum { BODY = 28 /* instructions per turn, as in the kernel */ };
    Rig *rig = rig_for(folder, probe, "throughput");
    RigParameters parameters = {
        .out = rig_alloc(rig, 4), .data = rig_alloc(rig, 4096), .count = {TURNS, probe->stride}};
    GpuResult result = rig_launch_line(rig, 1, probe->threads, &parameters);
    double cycles = rig_cycles(rig, &result);
    rig_free(rig);
    return cycles / (BODY * TURNS) / (probe->threads / 32.0);
}

/* ---- Streams ---- */

/* Cycles of a stream that reads `mebibytes`. Stores the number of bytes in `bytes_read`. */
static double stream_of(const char *folder, const Probe *probe, uint32_t mebibytes, bool is_warm,
                        uint64_t *bytes_read) {
    enum { TURNS_OF_A_THREAD = 8, THREADS = 256, CTA_BYTES = THREADS * 4 * TURNS_OF_A_THREAD };
    Rig *rig = rig_for(folder, probe, "stream");
    uint32_t ctas = mebibytes * (1 << 20) / CTA_BYTES;
    uint64_t bytes = (uint64_t)ctas * CTA_BYTES;
    RigParameters parameters = {.data = rig_alloc(rig, bytes), .count = {TURNS_OF_A_THREAD, 0}};
    if (is_warm) {
        void *zeros = base_calloc(1, bytes);
        rig_write(rig, parameters.data, zeros, bytes, true);
        free(zeros);
    }
    GpuResult result = rig_launch_line(rig, ctas, THREADS, &parameters);
    double cycles = rig_cycles(rig, &result);
    rig_free(rig);
    *bytes_read = bytes;
    return cycles;
}

double probe_cold_stream(const char *folder, const Probe *probe) {
    uint64_t bytes;
    double cycles = stream_of(folder, probe, probe->stride, false, &bytes);
    return (double)bytes / cycles;
}

/* Measures the second half of the stream, without the start. */
double probe_warm_stream(const char *folder, const Probe *probe) {
    uint64_t half, all;
    double first = stream_of(folder, probe, probe->stride / 2, true, &half);
    double both = stream_of(folder, probe, probe->stride, true, &all);
    return (double)(all - half) / (both - first);
}

static GpuResult read_stream(const char *folder, const Probe *probe) {
    Rig *rig = rig_for(folder, probe, "stream");
    uint64_t bytes = (uint64_t)STREAM_CTAS * 256 * 4 * STREAM_TURNS;
    RigParameters parameters = {.data = rig_alloc(rig, bytes), .count = {STREAM_TURNS, 0}};
    GpuResult result = rig_launch_line(rig, STREAM_CTAS, 256, &parameters);
    rig_free(rig);
    return result;
}

double probe_read_stream(const char *folder, const Probe *probe) {
    GpuResult result = read_stream(folder, probe);
    return (double)result.counters.dram_read_commands * 32 / (double)result.cycles;
}

double probe_read_ticks(const char *folder, const Probe *probe) {
    GpuResult result = read_stream(folder, probe);
    return (double)result.counters.dram_ticks / (double)result.counters.dram_read_commands;
}

double probe_write_stream(const char *folder, const Probe *probe) {
    Rig *rig = rig_for(folder, probe, "fill");
    uint64_t bytes = (uint64_t)FILL_CTAS * 256 * 4;
    RigParameters parameters = {.data = rig_alloc(rig, bytes)};
    GpuResult result = rig_launch_line(rig, FILL_CTAS, 256, &parameters);
    rig_free(rig);
    return (double)bytes / (double)result.cycles;
}

double probe_random_sectors(const char *folder, const Probe *probe) {
    Rig *rig = rig_for(folder, probe, "random");
    uint64_t bytes = RANDOM_SECTORS * 32;
    RigParameters parameters = {.data = rig_alloc(rig, bytes),
                                .count = {RANDOM_TURNS, RANDOM_SECTORS - 1}};
    void *zeros = base_calloc(1, bytes);
    rig_write(rig, parameters.data, zeros, bytes, true);
    free(zeros);
    GpuResult result = rig_launch_line(rig, STREAM_CTAS, 256, &parameters);
    rig_free(rig);
    return (double)result.counters.l2_accesses / (double)result.cycles;
}
