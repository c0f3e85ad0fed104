/* Internals shared by the files of launch/. */
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
    const struct IsaVariant *variant; /* executes instructions */
    struct Engine *engine;            /* the machine; NULL: functional runs */
    struct SchedCallPlace *calls; /* current calls of the policies: by SM, then the CTA scheduler's;
                                     they outlive the engine */
    struct IsaCheck *check;       /* NULL: no checks */
    MemHeap *heap; /* allocated at the first launch of a module that calls malloc or free */
    uint64_t grid_workspace; /* device address, 0 before the first cooperative launch */
    uint64_t texture_table;  /* device address, 0 before a launch that asks about textures */
    uint32_t texture_table_entries;
    uint64_t launches;           /* launches so far: the next %gridid */
    uint64_t timed_instructions; /* thread instructions on the machine in the launches so far */
    GpuGrid *grids;              /* submitted grids that are not freed, in order; owned */
    GpuGrid *free_grids;         /* unused records; owned */
    GpuGrid *running;            /* the grid whose turn came last; NULL: it has ended */
    uint32_t depth;              /* depth of grids that wait for grids that they launched */
    uint64_t time_ps;            /* simulated time so far */
    HostTime last_end;           /* end of the last launch */
    bool has_dumped;             /* a launch has reached the line where registers are printed */
    struct DeviceText *texts;    /* texts that kernels have asked for (children.c) */
    uint32_t text_count;         /* number of texts */
    struct Children *children;   /* work that grids have left (children.c) */
    uint64_t programs;           /* modules loaded so far */
    uint64_t code_hash;          /* sum of the hashes of their texts */
    atomic_bool is_interrupted;
    /* Progress of the running launch, read by other threads. */
    atomic_uint_fast64_t done_ctas, begun_ctas, total_ctas, done_instructions;
    /* The CTAs of functional runs, kept between launches so that small launches need no
     * allocation. */
    IsaCta **ctas;
    uint32_t cta_count;
};

struct GpuModule {
    Gpu *gpu;
    PtxModule **images; /* [0] is the linked module */
    int image_count;
    IsaProgram *program;
    uint64_t number;            /* number of the module on the GPU, from 1 */
    char *text;                 /* text of its only image, if lines of it are shown; else NULL */
    uint64_t *variables;        /* device addresses of what the module allocated */
    uint32_t variable_count;    /* number of variables */
    uint32_t variable_capacity; /* capacity of variables */
    const GpuPlace *places;     /* addresses of variables, while the module is being loaded */
    size_t place_count;         /* number of places */
    bool uses_heap;             /* some function calls malloc or free */
    bool calls_runtime;         /* some function calls the device runtime */
    bool has_triggers;          /* some function lets dependent grids begin (griddepcontrol) */
    bool can_wait;              /* some function waits for kernels that it has launched */
    WarpProgram rows;           /* the program as SMs see it, ... */
    void *core_rows;  /* what the machine's core needs in addition to `ops`; NULL: nothing */
    struct SmOp *ops; /* ... and its rows for the machine (sm/op.h); NULL before the
                         first launch on it */
};

/* Adds a grid that has just run on the machine to the profile of the run. */
void gpu_profile_add(Gpu *gpu, const GpuGrid *grid);

/* Adds to the profile where the warps of a grid that runs alone are, as a kernel without counts. */
void gpu_profile_stall_reasons(const Gpu *gpu, const GpuGrid *grid, Profile *profile);

/* What a CTA occupies of an SM: shared memory in bytes, and registers. */
uint32_t gpu_shared_taken(const Gpu *gpu, uint32_t bytes);
uint32_t gpu_registers_taken(const Gpu *gpu, const IsaFunction *kernel, uint32_t threads);

/* Whether the device supports the clusters of a launch that passes all other checks. If not,
 * `result` has the reason. */
bool gpu_check_cluster(const Gpu *gpu, const GpuLaunch *request, GpuResult *result);
/* Writes to the result why a kernel cannot be launched: the kernel's name, then the formatted text.
 */
void gpu_refuse_kernel(GpuResult *result, const PtxFunction *kernel, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

void gpu_free_ctas(Gpu *gpu);

/* Factor for the time after which a launch that only polls fails. It is larger if others than the
 * kernel may make the stores: a host thread, another process. */
static inline uint32_t gpu_patience(const Gpu *gpu) {
    enum { PATIENCE = 64 };
    return mem_is_seen_outside(gpu->memory) ? PATIENCE : 1;
}

/* Requests of a grid to the device runtime: children_begin starts to accept them. children_end
 * queues them to be executed next when the grid has ended, and drops them if it failed. */
typedef struct Children Children;
void children_begin(Gpu *gpu, DeviceRuntime *runtime);
void children_end(Gpu *gpu, DeviceRuntime *runtime, GpuModule *module, bool is_right);
/* DeviceRuntime.wait and .keep_text of a Gpu. */
bool children_wait(void *gpu, uint64_t clock, char *text, size_t size, int *code);
uint64_t gpu_keep_text(void *gpu, const char *text);
/* Adds the counts and the time of a part of a launch. */
void gpu_add_result(GpuResult *sum, const GpuResult *part);
void children_free(Gpu *gpu);

/* Puts a fault into the result. */
void gpu_set_fault(GpuResult *result, const IsaFault *fault);

#endif
