/* Speed of the memory partitions of gtx480 (6 channels, 12 slices): nanoseconds of host time per L2
 * cycle of all partitions together, and per sector, under loads that keep them busy. It measures
 * only the time inside the partitions, including the ideal networks' injections; the row "nothing"
 * is the cost of reading the clock and of the idle partitions. */
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "../tests/partition/rig.h"

enum { CYCLES = 100000, WARM_BYTES = 512 * 1024 };
#define DEVICE UINT64_C(0xC0000000)

typedef struct Load {
    const char *name;
    MemOp op;
    uint32_t sectors; /* of a request */
    uint64_t bytes;   /* of the buffer */
    bool is_random;   /* else a stream */
    uint32_t packets; /* most requests sent per cycle */
} Load;

static const Load loads[] = {
    {"read sectors, random, L2 hits", MEM_OP_READ, 1, WARM_BYTES, true, RIG_SMS},
    {"read lines, stream, L2 hits", MEM_OP_READ, 0xF, WARM_BYTES, false, RIG_SMS},
    {"read sectors, random, L2 misses", MEM_OP_READ, 1, UINT64_C(64) << 20, true, RIG_SMS},
    {"read lines, stream, L2 misses", MEM_OP_READ, 0xF, UINT64_C(64) << 20, false, RIG_SMS},
    {"write lines, stream", MEM_OP_WRITE, 0xF, UINT64_C(64) << 20, false, RIG_SMS},
    {"nothing", MEM_OP_READ, 0, 128, false, 0},
};

static double now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void measure(const Load *load) {
    Rig *rig = rig_new("gtx480", NULL, NULL);
    partition_fill_from_host(rig->partitions, DEVICE, WARM_BYTES);
    double ns = 0;
    for (uint64_t i = 0; rig->cycle < CYCLES;) {
        for (uint32_t sm = 0; sm < load->packets; sm++) {
            uint64_t at = load->is_random ? rig_random(rig) / 32 * 32 : i * 128;
            if (rig->free_count[sm] < RIG_REQUESTS - 200)
                continue; /* as many as the SMs could have under way */
            i += rig_send(rig, sm, load->op, DEVICE + at % load->bytes, load->sectors);
        }
        double begin = now_ns();
        rig_work(rig);
        ns += now_ns() - begin;
        rig_move(rig);
    }
    Counters counters = rig_counters(rig);
    double sectors = (double)rig->answered;
    printf("%-32s %7.1f ns/cycle %6.1f ns/atom   %5.2f atoms/cycle  DRAM bus %4.1f%%\n", load->name,
           ns / CYCLES, sectors > 0 ? ns / sectors : 0, sectors / CYCLES,
           100 * counters_ratio(&counters, RATIO_dram_bandwidth_use));
    rig_free(rig);
}

int main(void) {
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++)
        measure(&loads[i]);
    return 0;
}
