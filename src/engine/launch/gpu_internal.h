/* What the files of gpu/ share. */
#ifndef TYTO_ENGINE_LAUNCH_GPU_INTERNAL_H
#define TYTO_ENGINE_LAUNCH_GPU_INTERNAL_H

#include <stdatomic.h>

#include "engine/launch/grid.h"
#include "isa/runtime/device_runtime.h"
#include "isa/launch.h"
#include "isa/source.h"
#include "memory/heap.h"
#include "stats/profile.h"

struct Gpu {
    GpuOptions options;
    DeviceMemory *memory;
    const struct IsaVariant *variant; /* what executes instructions */
    struct Engine *engine;            /* the machine in motion; NULL: functional runs */
    struct SchedCallPlace *calls; /* what the policies are doing: by SM, then the CTA scheduler's;
                                they outlive the engine */
    struct IsaCheck *check;       /* NULL: nothing is looked for */
    MemHeap *heap;           /* made at the first launch of a module that calls malloc or free */
    uint64_t grid_workspace; /* device address, 0 before the first cooperative launch */
    uint64_t launches;       /* so far: the next %gridid */
    uint64_t timed_instructions; /* of threads, on the machine, in the launches so far */
    GpuGrid *grids;              /* given and not taken back, in that order; owned */
    GpuGrid *free_grids;         /* records to use again; owned */
    GpuGrid *running;            /* whose turn came last; NULL: it has ended */
    uint32_t depth;              /* grids that wait for what they have launched, and so on */
    uint64_t time_ps;            /* simulated so far */
    HostTime last_end;           /* of the last launch */
    bool has_dumped;             /* a launch has come where registers are printed */
    struct DeviceText *texts;    /* that kernels have asked for (children.c) */
    uint32_t text_count;         /* of texts */
    struct Children *children;   /* what grids have left to do (children.c) */
    uint64_t programs;           /* loaded so far */
    uint64_t code_hash;          /* sum of the hashes of their texts */
    atomic_bool is_interrupted;
    /* Progress of the running launch, read by other threads. */
    atomic_uint_fast64_t done_ctas, begun_ctas, total_ctas, done_instructions;
    /* The functional run's CTAs, kept between launches so that small launches allocate nothing. */
    IsaCta **ctas;
    uint32_t cta_count;
};

struct GpuModule {
    Gpu *gpu;
    PtxModule **images; /* [0] is the linked module */
    int image_count;
    IsaProgram *program;
    uint64_t number;            /* among the GPU's, from 1 */
    char *text;                 /* of its only image, where lines of it are shown, or NULL */
    uint64_t *variables;        /* device addresses of what the module allocated */
    uint32_t variable_count;    /* of variables */
    uint32_t variable_capacity; /* entries of variables */
    const GpuPlace *places;     /* of variables, while the module is being loaded */
    size_t place_count;         /* of places */
    bool uses_heap;             /* some function calls malloc or free */
    bool calls_runtime;         /* some function calls the device runtime */
    bool has_triggers;          /* some function lets dependent grids begin (griddepcontrol) */
    bool can_wait;              /* some function waits for what kernels have launched */
    WarpProgram rows;           /* the program as SMs see it, ... */
    void *core_rows;            /* what the machine's core needs in addition to `ops`; NULL:
                                   nothing */
    struct SmOp *ops;           /* ... and its rows for the machine (sm/op.h); NULL before the
                                   first launch on it */
};

/* Adds a grid that has just run on the machine to the profile of the run. */
void gpu_profile_add(Gpu *gpu, const GpuGrid *grid);

/* Adds where the warps of a grid that runs alone stand, as a kernel without counts. */
void gpu_profile_stall_reasons(const Gpu *gpu, const GpuGrid *grid, Profile *profile);

/* What a CTA takes of an SM's shared memory, in bytes, and of its registers. */
uint32_t gpu_shared_taken(const Gpu *gpu, uint32_t bytes);
uint32_t gpu_registers_taken(const Gpu *gpu, const IsaFunction *kernel, uint32_t threads);

/* Puts into the result why a kernel cannot be launched: its name and what follows it. */
/* Whether the device can have the clusters of a launch that it could do without them. */
bool gpu_check_cluster(const Gpu *gpu, const GpuLaunch *request, GpuResult *result);
void gpu_refuse_kernel(GpuResult *result, const PtxFunction *kernel, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

void gpu_free_ctas(Gpu *gpu);

/* How many times as long a launch waits that only looks for stores, where others than its kernel
 * may make them: a thread of the host's, another process. */
static inline uint32_t gpu_patience(const Gpu *gpu) {
    enum { PATIENCE = 64 };
    return mem_is_seen_outside(gpu->memory) ? PATIENCE : 1;
}

/* What a grid asks for: from its begin on; done next when it has ended, unless it failed. */
typedef struct Children Children;
void children_begin(Gpu *gpu, DeviceRuntime *runtime);
void children_end(Gpu *gpu, DeviceRuntime *runtime, GpuModule *module, bool is_right);
/* DeviceRuntime.wait and .keep_text of a Gpu. */
bool children_wait(void *gpu, uint64_t clock, char *text, size_t size, int *code);
uint64_t gpu_keep_text(void *gpu, const char *text);
/* Adds what a part of a launch has counted, and its time. */
void gpu_add_result(GpuResult *sum, const GpuResult *part);
void children_free(Gpu *gpu);

/* Puts a fault into the result. */
void gpu_set_fault(GpuResult *result, const IsaFault *fault);

#endif
