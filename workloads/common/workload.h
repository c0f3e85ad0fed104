/* Shared by all workloads' host programs: options, the device, its PTX module, buffers, launches,
 * random input and the comparison with the CPU's result. A failed CUDA call or a bad option ends
 * the program with a message and status 2. All allocations of these functions, on the host or on
 * the device, last until workload_finish. */
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

enum { WORKLOAD_MOST_PARAMETERS = 6, WORKLOAD_MOST_TEXTURES = 4 };

/* The sizes that every workload has: `test` runs in well under a second, `small` in seconds on a
 * machine model, `paper` executes tens of millions of thread instructions. */
enum { WORKLOAD_TEST, WORKLOAD_SMALL, WORKLOAD_PAPER, WORKLOAD_SIZES };

/* A number that the user may choose, and its value at each size. */
typedef struct WorkloadParameter {
    const char *name;                /* of its option, without the dashes */
    const char *meaning;             /* for --help */
    uint32_t values[WORKLOAD_SIZES]; /* at --size test, small, paper */
    uint32_t largest;                /* allowed, so that element counts stay below 2^32 */
    uint32_t step; /* a value is a multiple of it; 0 means 1. It is also the smallest value, except
                      that 0 is allowed if a size has it */
} WorkloadParameter;

/* The description of a workload. */
typedef struct WorkloadInfo {
    const char *name;    /* of the program and of its PTX file */
    const char *summary; /* one line for --help */
    WorkloadParameter
        parameters[WORKLOAD_MOST_PARAMETERS]; /* the first one without a name ends the list */
} WorkloadInfo;

typedef struct Workload {
    const WorkloadInfo *info;
    uint32_t values[WORKLOAD_MOST_PARAMETERS]; /* of the parameters, in the order of `info` */
    uint64_t random_state;                     /* set from --seed, advanced by each draw */
    CUmodule module;                           /* the workload's PTX, loaded */
    void *host_blocks;                         /* newest block of workload_host_alloc */
} Workload;

typedef struct WorkloadShape {
    unsigned grid_x, grid_y;   /* CTAs */
    unsigned block_x, block_y; /* threads */
} WorkloadShape;

/* Reads the options (and prints `--help`), opens device 0, and loads NAME.ptx from the folder in
 * the environment variable TYTO_WORKLOAD_DIR, else from the executable's folder. `--size` takes
 * test, small (the default), paper, or a number for the first parameter. Each parameter is an
 * option too. The last value that is given counts. */
Workload workload_open(const WorkloadInfo *info, int argc, char **argv);
/* Ends the program with `name: ` and the message. */
__attribute__((noreturn, format(printf, 2, 3))) void workload_fail(const char *name,
                                                                   const char *format, ...);
/* Ends the program unless the driver call named `call` succeeded. */
void workload_check(CUresult result, const char *call);
/* Frees everything. Prints how many `what` were verified and returns 0; 1 if not `is_right`. */
int workload_finish(Workload *workload, bool is_right, const char *what, size_t count);

/* The next random number, uniform in [0, limit): the upper 31 bits of a 64-bit linear congruential
 * generator. */
uint32_t workload_random(Workload *workload, uint32_t limit);
/* `count` zeroed elements on the host; never NULL. */
void *workload_host_alloc(Workload *workload, size_t count, size_t element_bytes);
/* `count` numbers, each a whole number in [0, limit). */
uint32_t *workload_random_words(Workload *workload, size_t count, uint32_t limit);
uint8_t *workload_random_bytes(Workload *workload, size_t count, uint32_t limit);
float *workload_random_floats(Workload *workload, size_t count, uint32_t limit);
/* `count` floats, uniform in [low, high) in steps of a millionth of the range. */
float *workload_random_fractions(Workload *workload, size_t count, float low, float high);

/* Allocates device memory; an empty buffer has an address too. */
CUdeviceptr workload_device_alloc(size_t size_bytes);
/* A device buffer with a copy of the host's `data`, and one with zeros. */
CUdeviceptr workload_upload(const void *data, size_t size_bytes);
CUdeviceptr workload_upload_zeros(size_t size_bytes);
/* A texture of the two-dimensional array of `texels`, rows one after another, of unsigned words,
 * 16-bit words or bytes (CU_AD_FORMAT_UNSIGNED_INT32, _INT16, _INT8), read at coordinates in
 * texels, clamped at the edges. With the flag CU_TRSF_READ_AS_INTEGER, texels are read unchanged;
 * with 0, as fractions of the largest value. */
CUtexObject workload_upload_texture(const void *texels, size_t width, size_t height,
                                    CUarray_format format, unsigned channels, unsigned flags);
/* A linear texture of the `count` floats or unsigned words in a device buffer, read by their index.
 */
CUtexObject workload_bind_texture(CUdeviceptr floats, size_t count);
CUtexObject workload_bind_words(CUdeviceptr words, size_t count);
void workload_copy_to_device(CUdeviceptr to, const void *from, size_t size_bytes);
void workload_copy_to_host(void *to, CUdeviceptr from, size_t size_bytes);
/* Fills the module's variable `name` of exactly `size_bytes`, such as a __constant__ array. */
void workload_set_variable(const Workload *workload, const char *name, const void *data,
                           size_t size_bytes);

/* The quotient, rounded up. */
unsigned workload_divide_up(unsigned value, unsigned divisor);
/* A row of CTAs of `threads` threads, with at least one thread for each of `elements`. */
WorkloadShape workload_cover(unsigned elements, unsigned threads);
/* Runs the kernel `name` and waits for its end. `arguments`: one pointer to each. */
void workload_launch(const Workload *workload, const char *name, WorkloadShape shape,
                     void **arguments);

/* True if `got` agrees with `expected`. Otherwise they print the first difference: its index, the
 * value and the expected value. A float may differ by `tolerance` times the greater of 1 and the
 * expected value's magnitude. */
bool workload_compare_floats(const Workload *workload, const float *got, const float *expected,
                             size_t count, float tolerance);
bool workload_compare_words(const Workload *workload, const uint32_t *got, const uint32_t *expected,
                            size_t count);
bool workload_compare_bytes(const Workload *workload, const uint8_t *got, const uint8_t *expected,
                            size_t count);
/* The same for pixels of four channels, a byte each. At most `most` pixels may differ, and at most
 * a third of these by more than one level of a channel. Prints the first pixel beyond this limit.
 */
bool workload_compare_pixels(const Workload *workload, const uint32_t *got,
                             const uint32_t *expected, size_t count, size_t most);
/* The same as the first three, for a device buffer. */
bool workload_verify_floats(Workload *workload, CUdeviceptr got, const float *expected,
                            size_t count, float tolerance);
bool workload_verify_words(Workload *workload, CUdeviceptr got, const uint32_t *expected,
                           size_t count);
bool workload_verify_bytes(Workload *workload, CUdeviceptr got, const uint8_t *expected,
                           size_t count);

#endif
