/* Measures with kernels that read the clock themselves, and with the counters of whole launches. */
#include "probe.h"

#include <stdlib.h>

#include "base/arena.h"
#include "rig.h"

enum {
    SMS = 15,
    COPIES = 16,             /* of the instruction under test in the kernels */
    BUFFER_BYTES = 16 << 20, /* for chases */
    TURNS = 100,             /* of the loops that throughput is taken from */
    STREAM_CTAS = 90,        /* as many as the SMs hold of 256 threads */
    STREAM_TURNS = 24,       /* words that a thread reads */
    FILL_CTAS = 2048,        /* 16384 lines of 128 B */
    RANDOM_TURNS = 64,       /* sectors that a thread reads */
    RANDOM_SECTORS = 16384,  /* half a megabyte: fits L2 */
};

static Rig *rig_for(const char *folder, const Probe *probe, const char *kernel) {
    Rig *rig = rig_new(folder, &(RigSetup){.scheduler = probe->scheduler});
    rig_load(rig, kernel, probe->op);
    return rig;
}

/* ---- Clocks read by the kernel itself ---- */

/* Runs a kernel that writes a number of cycles. */
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

static uint32_t node_address(const ProbeList *list, uint64_t base, uint32_t node) {
    return (uint32_t)(base + list->first + node % list->group * list->step +
                      node / list->group * list->group_step);
}

double probe_chase(const char *folder, const Probe *probe) {
    const ProbeList *list = &probe->list;
    Rig *rig = rig_for(folder, probe, "chase");
    uint64_t base = rig_alloc(rig, BUFFER_BYTES);
    uint32_t lanes = probe->stride ? 32 : 1;
    for (uint32_t node = 0; node < list->count; node++) {
        for (uint32_t lane = 0; lane < lanes; lane++) {
            uint32_t offset = lane * probe->stride;
            uint32_t next = node_address(list, base, (node + 1) % list->count) + offset;
            rig_write(rig, node_address(list, base, node) + offset, &next, sizeof next,
                      list->is_in_l2);
        }
    }
    RigParameters parameters = {
        .out = rig_alloc(rig, 4), .data = node_address(list, base, 0), .count = {probe->stride, 0}};
    rig_launch_line(rig, 1, probe->threads, &parameters);
    double cycles = rig_read_word(rig, parameters.out);
    rig_free(rig);
    return cycles / COPIES;
}

/* ---- Whole kernels ---- */

/* Cycles of one CTA of the kernel `store`, after 15 have brought its code to every SM. */
static double store_cycles(const char *folder, const Probe *probe) {
    Rig *rig = rig_for(folder, probe, "store");
    uint64_t data = rig_alloc(rig, 2 << 10);
    RigParameters warm = {.data = data, .count = {probe->stride, 0}};
    RigParameters cold = {.data = data + (1 << 10), .count = {probe->stride, 0}};
    rig_launch_line(rig, SMS, probe->threads, &warm);
    double cycles = (double)rig_launch_line(rig, 1, probe->threads, &cold).cycles;
    rig_free(rig);
    return cycles;
}

double probe_store(const char *folder, const Probe *probe) {
    Probe nothing = *probe;
    nothing.op = "";
    return store_cycles(folder, probe) - store_cycles(folder, &nothing);
}

/* Cycles of the probe's launch of the empty kernel, after `before` CTAs of it ran. */
static double empty_cycles(const char *folder, const Probe *probe, uint32_t before) {
    Rig *rig = rig_for(folder, probe, "empty");
    RigParameters parameters = {0};
    if (before) rig_launch_line(rig, before, 32, &parameters);
    double cycles = (double)rig_launch_line(rig, probe->ctas, probe->threads, &parameters).cycles;
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
    return empty_cycles(folder, probe, SMS);
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

static double per_sm_cycle(const GpuResult *result, uint64_t count) {
    return (double)count / (double)result->cycles / SMS;
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

/* ---- Streams ---- */

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
