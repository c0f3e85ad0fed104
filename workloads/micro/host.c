/* Measures a GPU, simulated or real, and prints a line for each figure: name, value, unit. Each row
 * of the tables below gives a kernel, its shape, and the conversion of cycles to the figure.
 *
 * Latencies are cycles of an SM from one instruction to the next that needs its result. n
 * instructions in sequence have n - 1 such distances, because the clock does not wait for the last
 * result. Throughputs are of all threads of an SM per cycle. Bandwidths of the whole GPU are bytes
 * per SM cycle, over a kernel's time by the GPU's clock minus that of an empty kernel. The results
 * of the chases and streams are checked. */
#include <stdio.h>
#include <string.h>

#include "common/figures.h"

enum { GROUP, MEBIBYTES };
enum { INSTRUCTIONS = 1, NEAR_MEMORY, FAR_MEMORY, ATOMICS, ALL };

static const WorkloadInfo INFO = {
    .name = "micro",
    .summary = "Measures latencies and throughputs of instructions, memories, atomics, launches.",
    .parameters =
        {
            [GROUP] = {"group",
                       "1: instructions, 2: L1 and shared memory, 3: L2 and DRAM, 4: atomics and "
                       "launch, 5: all",
                       {ALL, ALL, ALL},
                       ALL,
                       0},
            [MEBIBYTES] = {"mebibytes",
                           "of the buffer in DRAM: at least four times the L2's",
                           {4, 64, 256},
                           4096,
                           4},
        },
};

enum {
    UNROLLED = 64, /* the same as in the kernels */
    CTA = 1024,    /* threads for throughputs */
    NODES = 256,   /* of a chase */
    ATOMICS_IN_A_ROW = 16,
};

static struct {
    Workload workload;
    CUdeviceptr sink, zeros, data;
    size_t data_bytes;
    int sms, clock_khz, l2_bytes;
    double empty_cycles; /* of an empty kernel */
    Figures figures;
    bool is_right;
} bench;

static void print_figure(const char *name, const char *of, double value, const char *unit) {
    figures_print(&bench.figures, name, of, value, unit);
}

static double run(const char *kernel, unsigned threads, void **arguments) {
    return figures_run(&bench.figures, kernel, threads, arguments);
}

/* ---- Instructions ---- */

/* The types of operands. */
typedef union Operand {
    uint32_t word;
    float single;
    double twofold;
} Operand;

static const struct Instruction {
    const char *name;
    Operand a, b, c; /* chosen so that no result is a special value */
} instructions[] = {
    {"iadd", {.word = 1}, {.word = 3}, {.word = 0}},
    {"imul", {.word = 3}, {.word = 5}, {.word = 0}},
    {"imad", {.word = 3}, {.word = 5}, {.word = 7}},
    {"logic", {.word = 3}, {.word = 5}, {.word = 0}},
    {"shift", {.word = 1}, {.word = 1}, {.word = 0}},
    {"popc", {.word = 255}, {.word = 0}, {.word = 0}},
    {"fadd", {.single = 1}, {.single = 1}, {.single = 0}},
    {"fmul", {.single = 1}, {.single = 1.01f}, {.single = 0}},
    {"ffma", {.single = 1}, {.single = 0.5f}, {.single = 0.5f}},
    {"hfma2", {.word = 0x3C003C00}, {.word = 0x38003800}, {.word = 0x38003800}},
    {"dadd", {.twofold = 1}, {.twofold = 1}, {.twofold = 0}},
    {"dfma", {.twofold = 1}, {.twofold = 0.5}, {.twofold = 0.5}},
    {"rsqrt", {.single = 2}, {.single = 0}, {.single = 0}},
    {"ex2", {.single = 0.1f}, {.single = 0}, {.single = 0}},
    {"shuffle", {.word = 1}, {.word = 0}, {.word = 0}},
};

static void measure_matrices(void) {
    enum { PAIRS = 16, WARPS = 8, PRODUCTS = 16 * 16 * 16 };
    unsigned halves = 0x3C003C00; /* two ones */
    void *arguments[] = {&bench.figures.cycles, &bench.sink, &halves};
    print_figure("latency.wmma", "", run("latency_wmma", 32, arguments) / (UNROLLED - 1), "cycles");
    double cycles = run("throughput_wmma", 32 * WARPS, arguments);
    print_figure("throughput.wmma", "", 2.0 * PAIRS * WARPS * PRODUCTS / cycles,
                 "products/cycle/SM");
}

static void measure_instructions(void) {
    for (size_t i = 0; i < sizeof instructions / sizeof *instructions; i++) {
        struct Instruction it = instructions[i];
        void *arguments[] = {&bench.figures.cycles, &bench.sink, &bench.zeros, &it.a, &it.b, &it.c};
        char kernel[64];
        snprintf(kernel, sizeof kernel, "latency_%s", it.name);
        print_figure("latency.", it.name, run(kernel, 32, arguments) / (UNROLLED - 1), "cycles");
    }
    for (size_t i = 0; i < sizeof instructions / sizeof *instructions; i++) {
        struct Instruction it = instructions[i];
        void *arguments[] = {&bench.figures.cycles, &bench.sink, &bench.zeros, &it.a, &it.b, &it.c};
        char kernel[64];
        snprintf(kernel, sizeof kernel, "throughput_%s", it.name);
        double cycles = run(kernel, CTA, arguments);
        print_figure("throughput.", it.name, (double)CTA * UNROLLED / cycles, "/cycle/SM");
    }
    measure_matrices();
}

/* ---- Chases ---- */

/* Follows a ring of NODES pointers at distance `stride` from byte `from` of the buffer on, once, or
 * twice so that it is cached. */
static double chase(const char *kernel, size_t from, size_t stride, unsigned is_warm) {
    uint64_t end = 0, first = bench.data + from;
    for (size_t node = 0; node < NODES; node++) {
        uint64_t next = first + (node + 1) % NODES * stride;
        workload_copy_to_device(first + node * stride, &next, sizeof next);
    }
    /* Data from the host may stay in L2; a pass over the rest of the buffer evicts them. */
    if (!is_warm) {
        size_t skipped = from + NODES * stride, left = bench.data_bytes - skipped;
        void *zeros = workload_host_alloc(&bench.workload, left, 1);
        workload_copy_to_device(bench.data + skipped, zeros, left);
    }
    unsigned count = NODES;
    double cycles =
        run(kernel, 1, (void *[]){&bench.figures.cycles, &bench.sink, &first, &count, &is_warm});
    workload_copy_to_host(&end, bench.sink, sizeof end);
    if (end != first) {
        fprintf(stderr, "micro: %s ended at %llx instead of %llx\n", kernel,
                (unsigned long long)end, (unsigned long long)first);
        bench.is_right = false;
    }
    return cycles / (NODES - 1);
}

/* Follows a ring of `nodes` pointers in constant memory at distance `stride`, once or twice. A
 * kernel does not find another kernel's data in an SM, but does so in L2; so the first kernel runs
 * twice. */
static double chase_constants(unsigned nodes, size_t stride, unsigned is_warm) {
    enum { CONSTANTS = 8192 };
    static uint64_t ring[CONSTANTS];
    uint64_t base = 0, end = 0;
    double cycles = 0;
    workload_launch(&bench.workload, "constant_base", (WorkloadShape){1, 1, 1, 1},
                    (void *[]){&bench.sink});
    workload_copy_to_host(&base, bench.sink, sizeof base);
    for (size_t node = 0; node < nodes; node++)
        ring[node * stride / sizeof *ring] = base + (node + 1) % nodes * stride;
    workload_set_variable(&bench.workload, "constants", ring, sizeof ring);
    for (int launch = 0; launch < 2; launch++)
        cycles = run("chase_constant", 1,
                     (void *[]){&bench.figures.cycles, &bench.sink, &base, &nodes, &is_warm});
    workload_copy_to_host(&end, bench.sink, sizeof end);
    if (end != base) {
        fprintf(stderr, "micro: chase_constant ended at %llx instead of %llx\n",
                (unsigned long long)end, (unsigned long long)base);
        bench.is_right = false;
    }
    return cycles / (nodes - 1);
}

static void measure_near_memory(void) {
    print_figure("latency.l1", "", chase("chase_ca", 0, 64, 1), "cycles");
    for (unsigned stride = 1; stride <= 32; stride *= 2) {
        char of[16] = "";
        if (stride > 1) snprintf(of, sizeof of, ".%u-way", stride);
        double cycles =
            run("chase_shared", 32, (void *[]){&bench.figures.cycles, &bench.sink, &stride});
        print_figure("latency.shared", of, cycles / (UNROLLED - 1), "cycles");
    }
    /* 1 KiB fits in every first cache, 32 KiB in the second; of 64 KiB, each group of 256 bytes is
     * read once. */
    print_figure("latency.constant", "", chase_constants(128, 8, 1), "cycles");
    print_figure("latency.constant.l15", "", chase_constants(512, 64, 1), "cycles");
    print_figure("latency.constant.l2", "", chase_constants(256, 256, 0), "cycles");
    static const struct {
        const char *kernel, *name;
        double bytes;
    } reads[] = {
        {"reads_l1_4", "bandwidth.l1.4B", 4},
        {"reads_l1_16", "bandwidth.l1.16B", 16},
        {"reads_shared", "bandwidth.shared", 4},
    };
    for (size_t i = 0; i < sizeof reads / sizeof *reads; i++) {
        double cycles =
            run(reads[i].kernel, CTA, (void *[]){&bench.figures.cycles, &bench.sink, &bench.data});
        print_figure(reads[i].name, "", CTA * UNROLLED * reads[i].bytes / cycles, "B/cycle/SM");
    }
}

/* ---- The whole GPU ---- */

/* SM cycles of a kernel, by the GPU's own clock of the stream. */
static double timed(const char *kernel, WorkloadShape shape, void **arguments) {
    CUevent start, end;
    float milliseconds = 0;
    workload_check(cuEventCreate(&start, CU_EVENT_DEFAULT), "cuEventCreate");
    workload_check(cuEventCreate(&end, CU_EVENT_DEFAULT), "cuEventCreate");
    workload_check(cuEventRecord(start, NULL), "cuEventRecord");
    workload_launch(&bench.workload, kernel, shape, arguments);
    workload_check(cuEventRecord(end, NULL), "cuEventRecord");
    workload_check(cuEventSynchronize(end), "cuEventSynchronize");
    workload_check(cuEventElapsedTime(&milliseconds, start, end), "cuEventElapsedTime");
    workload_check(cuEventDestroy(start), "cuEventDestroy");
    workload_check(cuEventDestroy(end), "cuEventDestroy");
    return (double)milliseconds * bench.clock_khz;
}

/* Bytes per SM cycle of a kernel whose threads move `count` groups of 16 bytes each. */
static double stream(const char *kernel, size_t from, unsigned groups, unsigned count) {
    WorkloadShape shape = {(unsigned)bench.sms * 2, 1, CTA, 1};
    CUdeviceptr data = bench.data + from;
    double cycles = timed(kernel, shape, (void *[]){&bench.sink, &data, &count, &groups});
    double bytes = (double)shape.grid_x * CTA * count * 16;
    return cycles > bench.empty_cycles ? bytes / (cycles - bench.empty_cycles) : 0;
}

/* Streams through the second half of the buffer. In a buffer of less than four times the L2's
 * size, reads would find data in L2. */
static void measure_dram_bandwidth(void) {
    enum { MEBIBYTE = 1 << 20, LEAST_L2S = 4 };
    const size_t half = bench.data_bytes / 2, least = LEAST_L2S * (size_t)bench.l2_bytes;
    if (bench.data_bytes < least) {
        fprintf(stderr, "micro: bandwidth.dram is left out: it needs --mebibytes %zu or more\n",
                (least / MEBIBYTE + 3) / 4 * 4);
        return;
    }
    unsigned groups = 1;
    while ((size_t)groups * 2 * 16 <= half)
        groups *= 2;
    unsigned threads = (unsigned)bench.sms * 2 * CTA, count = groups / threads;
    print_figure("bandwidth.dram.read", "", stream("stream_read", half, groups, count ? count : 1),
                 "B/cycle");
    print_figure("bandwidth.dram.write", "",
                 stream("stream_write", half, groups, count ? count : 1), "B/cycle");
}

static void measure_far_memory(void) {
    enum { L2_GROUPS = 65536 }; /* 1 MiB */
    print_figure("latency.l2", "", chase("chase_cg", 0, 256, 1), "cycles");
    print_figure("latency.dram", "", chase("chase_cg", 0, 8192 + 256, 0), "cycles");
    stream("stream_read", 0, L2_GROUPS, 2);
    print_figure("bandwidth.l2", "", stream("stream_read", 0, L2_GROUPS, 16), "B/cycle");
    measure_dram_bandwidth();
}

static void measure_atomics(void) {
    static const struct {
        const char *kernel, *name;
        unsigned threads, stride;
    } rows[] = {
        {"atomic_global", "latency.atomic", 1, 1},
        {"atomic_global", "latency.atomic.words", 32, 1},
        {"atomic_global", "latency.atomic.one", 32, 0},
        {"atomic_shared", "latency.atomic.shared", 1, 1},
        {"atomic_shared", "latency.atomic.shared.one", 32, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        unsigned stride = rows[i].stride;
        double cycles = run(rows[i].kernel, rows[i].threads,
                            (void *[]){&bench.figures.cycles, &bench.sink, &bench.data, &stride});
        print_figure(rows[i].name, "", cycles / (ATOMICS_IN_A_ROW - 1), "cycles");
    }
    print_figure("launch", "", bench.empty_cycles, "cycles");
}

int main(int argc, char **argv) {
    bench.workload = workload_open(&INFO, argc, argv);
    bench.is_right = true;
    unsigned group = bench.workload.values[GROUP];
    CUdevice device;
    workload_check(cuCtxGetDevice(&device), "cuCtxGetDevice");
    workload_check(
        cuDeviceGetAttribute(&bench.sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device),
        "cuDeviceGetAttribute");
    workload_check(cuDeviceGetAttribute(&bench.clock_khz, CU_DEVICE_ATTRIBUTE_CLOCK_RATE, device),
                   "cuDeviceGetAttribute");
    workload_check(cuDeviceGetAttribute(&bench.l2_bytes, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, device),
                   "cuDeviceGetAttribute");
    bench.figures = figures_open(&bench.workload);
    bench.sink = workload_upload_zeros(CTA * sizeof(uint64_t));
    bench.zeros = workload_upload_zeros(CTA * sizeof(uint64_t));
    bench.data_bytes = (size_t)bench.workload.values[MEBIBYTES] << 20;
    bench.data = workload_device_alloc(bench.data_bytes);
    workload_check(cuMemsetD8(bench.data, 0, bench.data_bytes), "cuMemsetD8");
    WorkloadShape one = {1, 1, 32, 1};
    timed("nothing", one, NULL); /* the first launch may take longer */
    bench.empty_cycles = timed("nothing", one, NULL);

    if (group == ALL || group == INSTRUCTIONS) measure_instructions();
    if (group == ALL || group == NEAR_MEMORY) measure_near_memory();
    if (group == ALL || group == FAR_MEMORY) measure_far_memory();
    if (group == ALL || group == ATOMICS) measure_atomics();
    return workload_finish(&bench.workload, bench.is_right, "figures", bench.figures.count);
}
