/* Measures the tensor cores of a GPU, simulated or real, by mma, and prints a line for each figure:
 * the latency from an instruction to one that adds to its sum, and the products that an SM adds up
 * per cycle with some warps. For a sparse matrix A it counts the products of a dense matrix of the
 * same shape (as W. Sun et al. do, arXiv 2206.02874). */
#include <stdio.h>

#include "common/figures.h"

enum { WARPS };

static const WorkloadInfo INFO = {
    .name = "mmicro",
    .summary = "Measures latencies and throughputs of products of matrices by mma.",
    .parameters = {[WARPS] = {"warps", "of an SM, for throughputs", {8, 8, 8}, 32, 1}},
};

enum { IN_A_ROW = 64, STEPS = 16, ROWS = 3 };

/* The N of m16n8kN, which is part of the kernel's name. */
static const struct Shape {
    const char *name;
    unsigned k;
} shapes[] = {
    {"f16_m16n8k16", 16},         {"f16_m16n8k8", 8},          {"bf16_m16n8k16", 16},
    {"tf32_m16n8k8", 8},          {"s8_m16n8k32", 32},         {"s4_m16n8k64", 64},
    {"b1_m16n8k256", 256},        {"sparse_f16_m16n8k32", 32}, {"sparse_f16_m16n8k16", 16},
    {"sparse_tf32_m16n8k16", 16}, {"sparse_tf32_m16n8k8", 8},  {"sparse_s8_m16n8k64", 64},
    {"sparse_s8_m16n8k32", 32},
};

/* A figure's name has dots where a kernel's name has underscores. */
static void name_figure(char *name, size_t bytes, const char *what, const char *shape) {
    snprintf(name, bytes, "%s.mma.%s", what, shape);
    for (char *letter = name; *letter; letter++)
        if (*letter == '_') *letter = '.';
}

static void measure(Figures *figures, CUdeviceptr sink, struct Shape shape) {
    unsigned factor = 0x44444444; /* of a sparse A: positions 0 and 1 of each four */
    void *arguments[] = {&figures->cycles, &sink, &factor};
    char kernel[64], name[64];
    snprintf(kernel, sizeof kernel, "latency_%s", shape.name);
    name_figure(name, sizeof name, "latency", shape.name);
    figures_print(figures, name, "", figures_run(figures, kernel, 32, arguments) / (IN_A_ROW - 1),
                  "cycles");
    snprintf(kernel, sizeof kernel, "throughput_%s", shape.name);
    name_figure(name, sizeof name, "throughput", shape.name);
    unsigned warps = figures->workload->values[WARPS];
    double products = 16.0 * 8 * shape.k * warps * ROWS * STEPS;
    figures_print(figures, name, "", products / figures_run(figures, kernel, 32 * warps, arguments),
                  "products/cycle/SM");
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    Figures figures = figures_open(&workload);
    CUdeviceptr sink = workload_upload_zeros(workload.values[WARPS] * 32 * sizeof(float));
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        measure(&figures, sink, shapes[i]);
    return workload_finish(&workload, figures.count == 2 * sizeof shapes / sizeof *shapes,
                           "figures", figures.count);
}
