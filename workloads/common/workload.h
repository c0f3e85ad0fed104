/* What every workload's host program shares: options, the device, its PTX module, buffers,
 * launches, random input and the comparison with the CPU's result. A failed CUDA call or a bad
 * option ends the program with a message and status 2; these are short programs that own nothing
 * else. */
#ifndef TYTO_WORKLOAD_H
#define TYTO_WORKLOAD_H

#ifdef TYTO_USE_VENDOR_CUDA_H
#include <cuda.h>
#else
#include <tyto/cuda.h>
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a workload says of itself. */
typedef struct WorkloadInfo {
    const char *name;         /* of the program, of its PTX file and of its kernel */
    const char *summary;      /* one line for --help */
    const char *size_meaning; /* what --size counts */
    uint32_t default_size;    /* --size when not given */
    uint32_t largest_size;    /* so that element counts stay below 2^32 */
    uint32_t default_seed;    /* --seed when not given */
} WorkloadInfo;

typedef struct Workload {
    const WorkloadInfo *info;
    uint32_t size;         /* --size */
    uint64_t random_state; /* set from --seed, advanced by workload_random */
    CUmodule module;       /* the workload's PTX, loaded */
    CUfunction kernel;     /* the kernel named like the workload */
} Workload;

typedef struct WorkloadShape {
    unsigned grid_x, grid_y;   /* CTAs */
    unsigned block_x, block_y; /* threads */
} WorkloadShape;

/* Reads `--size N` and `--seed S` (and answers `--help`), opens device 0, and loads NAME.ptx from
 * the folder in the environment variable TYTO_WORKLOAD_DIR or else from beside the executable. */
Workload workload_open(const WorkloadInfo *info, int argc, char **argv);
/* Prints how many `what` were verified and returns 0; returns 1 when `is_right` is false. */
int workload_finish(const Workload *workload, bool is_right, const char *what, size_t count);

/* The next draw, uniform in [0, limit): a 64-bit linear congruential generator's upper 31 bits. */
uint32_t workload_random(Workload *workload, uint32_t limit);
/* `count` floats, each a whole number in [0, limit). The caller frees them. */
float *workload_random_floats(Workload *workload, size_t count, uint32_t limit);
/* `count` zeroed elements on the host; never NULL. The caller frees them. */
void *workload_host_alloc(size_t count, size_t element_bytes);

CUdeviceptr workload_device_alloc(size_t size_bytes);
/* A device buffer that holds a copy of the host's `data`. */
CUdeviceptr workload_upload(const void *data, size_t size_bytes);
void workload_copy_to_device(CUdeviceptr to, const void *from, size_t size_bytes);
void workload_copy_to_host(void *to, CUdeviceptr from, size_t size_bytes);

/* Runs the kernel and waits for its end. `parameters`: one pointer to each argument. */
void workload_launch(const Workload *workload, WorkloadShape shape, void **parameters);

/* True when `got` agrees with `expected`; else the first difference is printed: its index, the
 * value and the expected one. A float may be off by `tolerance` times the expected value's size. */
bool workload_compare_floats(const Workload *workload, const float *got, const float *expected,
                             size_t count, float tolerance);
bool workload_compare_words(const Workload *workload, const uint32_t *got, const uint32_t *expected,
                            size_t count);

/* The quotient, rounded up. */
unsigned workload_divide_up(unsigned value, unsigned divisor);

#endif
