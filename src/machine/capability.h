/* Compute capabilities that a device may report, one row each. They determine what programs see,
 * and which PTX of a fat binary is used. They do not determine the sizes and the timing of a
 * machine. */
#ifndef TYTO_MACHINE_CAPABILITY_H
#define TYTO_MACHINE_CAPABILITY_H

#include <stdint.h>

/* ROW(major, minor, ratio): `ratio` is the number of f32 operations that an SM does in the time of
 * one f64 operation, for devices without a machine. Source: CUDA C++ Programming Guide, throughput
 * of native arithmetic instructions (add, multiply, multiply-add). */
#define GPU_CAPABILITIES(ROW)                                                                      \
    ROW(7, 0, 2)                                                                                   \
    ROW(7, 5, 32)                                                                                  \
    ROW(8, 0, 2)                                                                                   \
    ROW(8, 6, 64)                                                                                  \
    ROW(8, 9, 64)                                                                                  \
    ROW(9, 0, 2)                                                                                   \
    ROW(10, 0, 2)                                                                                  \
    ROW(12, 0, 64)                                                                                 \
    ROW(12, 1, 64)

#define GPU_CAPABILITY_CONSTANT(major, minor, ratio) GPU_CAPABILITY_##major##minor,
typedef enum GpuCapability {
    GPU_CAPABILITIES(GPU_CAPABILITY_CONSTANT) GPU_CAPABILITY_COUNT
} GpuCapability;
#undef GPU_CAPABILITY_CONSTANT

typedef struct GpuCapabilityFacts {
    uint32_t major, minor;
    uint32_t ratio; /* f32 operations per f64 operation in the same time */
} GpuCapabilityFacts;
extern const GpuCapabilityFacts gpu_capabilities[GPU_CAPABILITY_COUNT];

/* Their usual notation: "7.5". */
extern const char *const gpu_capability_names[GPU_CAPABILITY_COUNT];

#endif
