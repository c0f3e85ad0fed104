/* A grid on its way through the device: a launch that was submitted (gpu_begin), waits for its
 * turn, runs, and ends.
 *
 * Functional runs (functional.c) and the machine (engine.c) take CTAs from the same record: CTAs
 * before `next` have begun, and `done` of them have ended. So a grid may begin in one of the two
 * and continue in the other, once no CTA of it is resident. */
#ifndef TYTO_ENGINE_LAUNCH_GRID_H
#define TYTO_ENGINE_LAUNCH_GRID_H

#include "engine/launch/gpu.h"
#include "isa/runtime/device_runtime.h"
#include "isa/cluster.h"
#include "isa/launch.h"
#include "isa/sass/banks.h"
#include "sm/op.h"

typedef enum GridState {
    GRID_WAITING, /* submitted; no CTA of it may be dispatched yet */
    GRID_RUNNING, /* its CTAs are being dispatched, or all have been */
    GRID_ENDED    /* its result is complete, or has the reason for the failure */
} GridState;

/* The host's clocks at one time, in seconds. */
typedef struct HostTime {
    double wall, cpu;
} HostTime;

/* Sums over the children that a launch has waited for, which count as part of it. */
typedef struct Waited {
    bool has_any;  /* false: `sum`, which is large, is undefined */
    GpuResult sum; /* sum of their results */
} Waited;

struct GpuGrid {
    GpuGrid *after; /* the grid submitted after it; NULL: it is the last */
    GridState state;
    IsaLaunch launch;     /* what its CTAs share */
    IsaClusters clusters; /* clusters that are running */
    GpuModule *module;    /* of the kernel */
    const SmOp *ops;      /* the program's rows for the machine; NULL: it runs functionally */
    GpuStreamInfo stream; /* stream to which it was submitted */
    uint32_t ctas_per_sm; /* CTAs per SM that resources allow, if it has the machine for itself */
    uint32_t registers;   /* registers of an SM that a CTA takes */
    bool is_on_machine;   /* its CTAs are timed now */
    bool runs_alone;      /* no other grid may be on the machine at the same time */
    bool has_overlapped;  /* another grid was on the machine at the same time */
    bool is_refused;      /* it could not be launched */
    bool is_complete;     /* its result has been asked for */
    uint64_t next;        /* index of the CTA that begins next; those before have begun */
    uint64_t done;        /* CTAs that have ended */
    uint64_t triggered;   /* CTAs that have let dependent grids begin, or have ended */
    GpuPrerequisite before[GPU_MOST_PREREQUISITES]; /* grids that it depends on, until they end */
    uint32_t before_count;
    bool has_dependent;  /* another grid depends on this one */
    uint64_t given;      /* SM cycle of the machine at which it was submitted */
    uint64_t start;      /* SM cycle at which its turn came */
    IsaBanks banks;      /* constants of machine code; owned */
    uint8_t *parameters; /* its copy of the arguments, with readable bytes past their end; owned */
    uint32_t room_bytes; /* bytes allocated for `parameters` */
    DeviceRuntime runtime; /* what its kernel requests from the device runtime */
    Waited waited;         /* children that it has waited for */
    HostTime host_start;   /* when it was submitted */
    GpuResult *result;     /* result to fill in: `own`, or that of a caller that waits for it */
    GpuResult own;         /* the result of a grid for which no caller waits */
};

/* Whether all of its CTAs have begun, and whether all have ended. */
static inline bool grid_has_begun_all(const GpuGrid *grid) {
    return grid->next == grid->launch.ctas;
}
static inline bool grid_has_ended_all(const GpuGrid *grid) {
    return grid->done == grid->launch.ctas;
}

/* Whether it depends on a grid that does not let it begin yet. */
static inline bool grid_is_kept_back(const GpuGrid *grid) {
    for (uint32_t i = 0; i < grid->before_count; i++) {
        const GpuGrid *before = grid->before[i].grid;
        const bool lets_begin = grid->before[i].is_at_start
                                    ? grid_has_begun_all(before)
                                    : before->triggered == before->launch.ctas;
        if (!before->is_on_machine || !lets_begin) return true;
    }
    return false;
}

/* Whether its griddepcontrol.wait waits for another grid. */
static inline bool grid_awaits(const GpuGrid *grid) {
    for (uint32_t i = 0; i < grid->before_count; i++)
        if (grid->before[i].is_awaited) return true;
    return false;
}

/* Called when the turn of a grid has come, functionally or on the machine. Starts the checks, and
 * clears the memory through which a cooperative grid synchronizes. */
void grid_start(Gpu *gpu, GpuGrid *grid);

/* Runs CTAs functionally until those before `until` have begun and all that have begun have ended.
 * Adds to the result's counts; after a failure, sets its reason. */
void grid_run_functional(Gpu *gpu, GpuGrid *grid, uint64_t until);

/* Adds what a grid in a deadlock may wait for in vain: a CTA without room, the host, a kernel of
 * another stream. */
void grid_explain_deadlock(const Gpu *gpu, const GpuGrid *grid, Text *out);

/* Ends a grid, whose result has its status. Adds up its time and the counts of the children that it
 * has waited for. */
void grid_finish(Gpu *gpu, GpuGrid *grid);
/* Ends all other grids of the device after a grid has ended early, because an error of a kernel
 * affects the whole context (CUDA C++ Programming Guide, Error Checking). */
void grid_finish_others(Gpu *gpu, const GpuGrid *failed);
void grid_free_all(Gpu *gpu);

#endif
