/* What the checks need to know about a GPU after its launches. */
#ifndef TYTO_ENGINE_LAUNCH_GPU_CHECKS_H
#define TYTO_ENGINE_LAUNCH_GPU_CHECKS_H

#include "engine/launch/gpu.h"
#include "isa/check/check.h"

/* A live block of device malloc, and where it was allocated (NULL: unknown). */
typedef struct GpuHeapBlock {
    uint64_t address; /* 0 before the first block */
    uint64_t size_bytes;
    const IsaSite *site;
} GpuHeapBlock;
/* Steps to the next block; returns false if there is none. */
bool gpu_next_heap_block(const Gpu *gpu, GpuHeapBlock *block);

#endif
