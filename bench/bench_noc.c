/* Measures the host's cost of a network cycle: nanoseconds per noc_step, including injection and
 * popping, for gtx480's crossbar and owl's mesh under uniform random traffic from SMs to partitions
 * and back, at several loads. The traffic is generated beforehand, so that this time does not
 * count. The fastest of CHUNKS measurements counts, because it is the least disturbed.
 *
 *   bench_noc [steps [name]]   steps per measurement, default 200,000; only networks whose name
 *                              contains this  */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/bits.h"
#include "noc/noc.h"

enum { PATTERN_STEPS = 4096, DEFAULT_STEPS = 200000, CHUNKS = 10 };

typedef struct Case {
    const char *name;
    NocKind kind;
    int sms, partitions;
    bool is_reply; /* from partitions to SMs */
    int packet_bytes;
} Case;

static const Case cases[] = {
    {"gtx480 crossbar, requests of 1 flit", NOC_CROSSBAR, 15, 12, false, 8},
    {"gtx480 crossbar, replies of 1 flit", NOC_CROSSBAR, 15, 12, true, 40},
    {"gtx480 crossbar, stores of 4 flits", NOC_CROSSBAR, 15, 12, false, 136},
    {"owl mesh, requests of 1 flit", NOC_MESH, 28, 8, false, 8},
    {"owl mesh, replies of 3 flits", NOC_MESH, 28, 8, true, 72},
    {"ideal, replies of 1 flit", NOC_IDEAL, 15, 12, true, 40},
};
static const double loads[] = {0, 0.05, 0.2, 0.5, 1.0}; /* offered flits per source and cycle */

static uint32_t next_random(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

static double seconds_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static Noc *new_network(const Case *c) {
    NocConfig config = noc_config_default(c->kind, c->sms + c->partitions);
    static const int owl_partitions[] = {3, 7, 10, 12, 23, 25, 28, 32};
    if (c->kind == NOC_MESH) noc_config_place(&config, owl_partitions, c->partitions);
    return noc_new(&config, NULL);
}

/* Per step and source, the destination of the packet to inject, or -1. */
static int16_t *draw_pattern(const Case *c, double load, int flits) {
    int sources = c->is_reply ? c->partitions : c->sms;
    int targets = c->is_reply ? c->sms : c->partitions;
    int first_target = c->is_reply ? 0 : c->sms;
    int16_t *pattern = base_malloc(sizeof(int16_t) * PATTERN_STEPS * (size_t)sources);
    uint64_t random = 1;
    for (int i = 0; i < PATTERN_STEPS * sources; i++) {
        bool is_packet = (next_random(&random) & 0xffff) < (uint32_t)(load / flits * 65536);
        int target = first_target + (int)(next_random(&random) % (uint32_t)targets);
        pattern[i] = (int16_t)(is_packet ? target : -1);
    }
    return pattern;
}

static void pop_all(Noc *noc, int nodes) {
    const uint64_t *ready = noc_ready_mask(noc);
    for (int w = 0; w < (nodes + 63) / 64; w++) {
        for (uint64_t left = ready[w]; left; left &= left - 1)
            noc_pop(noc, w * 64 + bits_lowest64(left));
    }
}

/* Runs `steps` cycles and returns the time that they took. */
static double run_chunk(Noc *noc, const Case *c, const int16_t *pattern, long steps) {
    int first_source = c->is_reply ? c->sms : 0;
    int sources = c->is_reply ? c->partitions : c->sms;
    double start = seconds_now();
    for (long i = 0; i < steps; i++) {
        const int16_t *row = &pattern[i % PATTERN_STEPS * sources];
        for (int s = 0; s < sources; s++)
            if (row[s] >= 0 && noc_can_inject(noc, first_source + s, c->packet_bytes))
                noc_inject(noc, first_source + s, row[s], c->packet_bytes, 0);
        noc_step(noc);
        pop_all(noc, c->sms + c->partitions);
    }
    return seconds_now() - start;
}

static void measure(const Case *c, double load, long steps) {
    Noc *noc = new_network(c);
    int16_t *pattern = draw_pattern(c, load, noc_packet_flits(noc, c->packet_bytes));
    double seconds = run_chunk(noc, c, pattern, steps);
    for (int i = 1; i < CHUNKS; i++) {
        double chunk = run_chunk(noc, c, pattern, steps);
        if (chunk < seconds) seconds = chunk;
    }
    NocStats stats = noc_stats(noc);
    double arrived = (double)stats.packets_arrived, cycles = (double)stats.cycles;
    double step_ns = seconds / (double)steps * 1e9;
    printf("%-38s %5.2f %9.3f %9.1f %9.1f %9.1f\n", c->name, load,
           (double)stats.flits_arrived / cycles,
           arrived > 0 ? (double)(stats.counts[NETWORK_transit_cycles] +
                                  stats.counts[NETWORK_queue_cycles]) /
                             arrived
                       : 0,
           step_ns, arrived > 0 ? step_ns * cycles / arrived : 0);
    free(pattern);
    noc_free(noc);
}

int main(int argc, char **argv) {
    long steps = argc > 1 ? atol(argv[1]) : DEFAULT_STEPS;
    printf("%-38s %5s %9s %9s %9s %9s\n", "network", "load", "flits/cyc", "latency", "ns/step",
           "ns/packet");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (argc > 2 && !strstr(cases[i].name, argv[2])) continue;
        for (size_t j = 0; j < sizeof loads / sizeof loads[0]; j++)
            measure(&cases[i], loads[j], steps);
    }
    return 0;
}
