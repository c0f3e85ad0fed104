/* A grid on its way through the device: a launch that has been given (gpu_begin), waits for its
 * turn, runs, and has ended.
 *
 * Functional runs (functional.c) and the machine (engine.c) take CTAs from the same record: CTAs
 * before `next` have begun, `done` of them have ended. So a grid may begin in one of the two and go
 * on in the other, once no CTA of it is resident. */
#ifndef TYTO_ENGINE_LAUNCH_GRID_H
#define TYTO_ENGINE_LAUNCH_GRID_H

#include "engine/launch/gpu.h"
#include "isa/runtime/device_runtime.h"
#include "isa/cluster.h"
#include "isa/launch.h"
#include "isa/sass/banks.h"
#include "sm/op.h"

typedef enum GridState {
    GRID_WAITING, /* given; no CTA of it may go out yet */
    GRID_RUNNING, /* its CTAs go out, or have */
    GRID_ENDED    /* its result is complete, or says why there is none */
} GridState;

/* The host's clocks at one time, in seconds. */
typedef struct HostTime {
    double wall, cpu;
} HostTime;

/* What a launch adds up of the children that it waits for, which count as parts of it. */
typedef struct Waited {
    bool has_any;  /* else `sum` is not filled: few launches have children, and it is large */
    GpuResult sum; /* of their results */
} Waited;

struct GpuGrid {
    GpuGrid *after; /* the grid given after it; NULL: it is the last */
    GridState state;
    IsaLaunch launch;      /* what its CTAs share */
    IsaClusters clusters;  /* those that run */
    GpuModule *module;     /* of the kernel */
    const SmOp *ops;       /* the program's rows for the machine; NULL: it runs functionally */
    GpuStreamInfo stream;  /* where it was given */
    uint32_t ctas_per_sm;  /* that resources allow, where it has the machine for itself */
    uint32_t registers;    /* of an SM that a CTA takes */
    bool is_on_machine;    /* its CTAs are timed now */
    bool runs_alone;       /* no other grid may be on the machine at the same time */
    bool has_overlapped;   /* another was */
    bool is_refused;       /* it could not be launched */
    bool is_complete;      /* somebody has asked for its result */
    uint64_t next;         /* index of the CTA that begins next; those before have begun */
    uint64_t done;         /* CTAs that have ended */
    uint64_t triggered;    /* CTAs that let grids that depend on this one begin, or have ended */
    GpuGrid *prerequisite; /* the grid that this one depends on, unless it has ended; NULL:
                              there is none */
    bool has_dependent;    /* another depends on it */
    uint64_t given;        /* SM cycle of the machine at which it was given */
    uint64_t start;        /* SM cycle at which its turn came */
    IsaBanks banks;        /* constants of machine code; owned */
    uint8_t *parameters;   /* its copy of them, with readable bytes past their end; owned */
    uint32_t room_bytes;   /* of `parameters` */
    DeviceRuntime runtime; /* what its kernel asks the device runtime for */
    Waited waited;         /* for, by it */
    HostTime host_start;   /* when it was given */
    GpuResult *result;     /* what it fills: `own`, or a caller's that waits for it */
    GpuResult own;         /* the result of a grid for which no caller waits */
};

/* Whether all CTAs have begun, and whether all have ended. */
static inline bool grid_has_begun_all(const GpuGrid *grid) {
    return grid->next == grid->launch.ctas;
}
static inline bool grid_has_ended_all(const GpuGrid *grid) {
    return grid->done == grid->launch.ctas;
}

/* Whether it depends on a grid that does not let it begin yet. */
static inline bool grid_is_kept_back(const GpuGrid *grid) {
    const GpuGrid *before = grid->prerequisite;
    return before && (!before->is_on_machine || before->triggered < before->launch.ctas);
}

/* The turn of a grid has come, functionally or on the machine: the checks begin with it, and what a
 * cooperative grid synchronizes through is zero. */
void grid_start(Gpu *gpu, GpuGrid *grid);

/* Runs CTAs functionally until those before `until` have begun and all that have begun have ended;
 * adds to the result's counts, or fills in why it failed. */
void grid_run_functional(Gpu *gpu, GpuGrid *grid, uint64_t until);

/* Adds what a grid in a deadlock may wait for that cannot come: a CTA for which there is no room,
 * the host, a kernel of another stream. */
void grid_explain_deadlock(const Gpu *gpu, const GpuGrid *grid, Text *out);

/* Ends a grid, whose result says how. Its time and the counts of the children that it waited for
 * are added up. */
void grid_finish(Gpu *gpu, GpuGrid *grid);
/* A grid has ended early, and all others of the device with it: an error of a kernel is the whole
 * context's (CUDA C++ Programming Guide, Error Checking). */
void grid_finish_others(Gpu *gpu, const GpuGrid *failed);
void grid_free_all(Gpu *gpu);

#endif
