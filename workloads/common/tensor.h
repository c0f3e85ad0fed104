/* Shared by the programs that measure tensor cores: attributes of the GPU, a launch timed by its
 * own clock, tensor maps, and the speed as a share of the cores' peak. */
#ifndef TYTO_WORKLOAD_TENSOR_H
#define TYTO_WORKLOAD_TENSOR_H

#include "common/workload.h"

/* A launch of a kernel, which is timed. */
typedef struct TensorLaunch {
    const char *kernel;
    unsigned grid_x, grid_y; /* CTAs */
    unsigned threads;        /* of a CTA */
    unsigned cluster;        /* CTAs of a cluster, along x; 0 or 1: no clusters */
    unsigned shared_bytes;   /* dynamic */
    void **arguments;        /* one pointer to each */
} TensorLaunch;

int tensor_attribute(CUdevice_attribute which);
/* Ends the program if a CTA of this GPU cannot have `shared_bytes`; `machine` is one that can. */
void tensor_ask_room(const WorkloadInfo *info, unsigned shared_bytes, const char *machine);
/* CTAs of a kernel that takes a whole SM which run at once, in whole clusters. */
unsigned tensor_ctas_at_once(const Workload *workload, const TensorLaunch *launch);
/* Runs the kernel. Returns its SM cycles by the GPU's clock of the stream, without those of the
 * program's empty kernel `nothing`. */
double tensor_time(const Workload *workload, const TensorLaunch *launch);
/* Prints the share of the peak of the `sms` SMs that do `products` multiplications of halves in
 * `cycles`; nothing without a clock. */
void tensor_print_share(double products, double cycles, unsigned sms);

/* A half is stored as its 16 bits. */
uint16_t tensor_half(float value); /* exact: a whole number of a magnitude below 8, or eighths */
float tensor_float(uint16_t half); /* no infinity, and no NaN */
/* A map of a matrix of halves stored by rows of `columns`, for copies of `box_rows` rows of 64
 * halves with the swizzle of 128 bytes. */
CUtensorMap tensor_map(CUdeviceptr matrix, unsigned rows, unsigned columns, unsigned box_rows);

#endif
