/* The inside of a TytoSimulator: a GPU, its options, and what its launches did. The CUDA driver API
 * uses this in addition to the public functions of tyto/tyto.h. */
#ifndef TYTO_SIMULATOR_SIMULATOR_H
#define TYTO_SIMULATOR_SIMULATOR_H

#include <pthread.h>

#include "base/lock.h"
#include "base/text.h"
#include "simulator/options.h"
#include "engine/launch/gpu.h"
#include "stats/run.h"
#include "tyto/tyto.h"

/* The origin of the running launch, for kernels' queries about the device (device_queries.c). */
typedef struct DeviceAsker {
    Gpu *gpu;
    const struct Context *context; /* NULL: not launched by the driver API */
} DeviceAsker;

extern const struct DeviceQueries driver_answers;

/* A launch on the device. The code that launched it owns this struct until the launch has ended. */
typedef struct SimulatorGrid {
    GpuLaunch launch;              /* its parameters are borrowed until the end */
    GpuStreamInfo stream;          /* stream that it was launched into */
    const struct Context *context; /* context of the launch; NULL: not launched by the driver API */
    GpuGrid *gpu;                  /* NULL once it has ended */
    GpuStatus status;              /* once it has ended: its status */
    int fault_code;                /* IsaFaultCode, if the status is GPU_FAULT */
    char *message;                 /* error message, owned; NULL if the status is GPU_OK */
    struct SimulatorGrid *next;    /* next submitted launch that is still running */
} SimulatorGrid;

struct TytoSimulator {
    pthread_mutex_t lock; /* must be held to use the fields below (simulator_lock) */
    int lock_depth;       /* how often the holder has taken the lock */
    int cancelling;       /* the holder's cancellation state before (lock.h) */
    Options *options;     /* owned */
    Gpu *gpu;             /* owned */
    RunStats *run;        /* the record of every launch so far; owned */
    SimulatorGrid *grids; /* launches on the device, in the order of submission */
    TytoModule *modules;  /* loaded by tyto_load, linked by their `next` */
    Text message;         /* for tyto_message */
    const char *command;  /* command that runs the program ("tyto run"); NULL: the process itself */
    Text arguments;       /* arguments of the program, if there is a command */
    bool has_told_fallback;      /* reported that PTX runs instead of machine code */
    bool has_told_newer;         /* reported PTX for newer GPUs (simulator_tell_newer) */
    bool is_process;             /* the program is this process's executable */
    struct Machine *machine;     /* the machine that the options name; owned */
    struct TimedRun *timed;      /* policies and recordings; NULL in functional runs; owned */
    struct Selection *selection; /* which launches are timed; NULL in functional runs; owned */
    DeviceAsker asker;
    struct Journal *journal;   /* NULL: no command reads it; owned */
    uint64_t program_hash;     /* hash of the executable; 0: not computed yet */
    struct Progress *progress; /* progress line; NULL: none; owned */
};

/* Takes the lock. Its holder may take it again, because functions of the program that are called
 * with the lock may call the simulator. */
static inline void simulator_lock(TytoSimulator *simulator) {
    const int before = lock_take(&simulator->lock);
    if (simulator->lock_depth++ == 0) simulator->cancelling = before;
}

static inline void simulator_unlock(TytoSimulator *simulator) {
    const bool is_last = --simulator->lock_depth == 0;
    const int before = simulator->cancelling;
    if (is_last) lock_give(&simulator->lock, before);
    else pthread_mutex_unlock(&simulator->lock);
}

/* Creates a simulator with these options, which it takes over. Returns NULL with errors in
 * `diag`. */
TytoSimulator *simulator_new(Options *options, Diag *diag);

/* Runs a launch, followed by the kernels that its kernels launch, one after another. Each has a
 * progress line and a record. Stops after the first that fails. The caller holds the lock. */
GpuStatus simulator_launch(TytoSimulator *simulator, const GpuLaunch *launch,
                           const GpuStreamInfo *stream, GpuResult *result);

/* Submits a checked launch to the device; `grid` has its launch, stream and context. */
void simulator_begin(TytoSimulator *simulator, SimulatorGrid *grid);
/* Runs the device until a grid has ended, with the kernels that it has launched, and records it.
 * Returns false if none is on the device. */
bool simulator_advance(TytoSimulator *simulator);
static inline bool simulator_has_ended(const SimulatorGrid *grid) { return !grid->gpu; }

/* Reports that there is no room for `size` bytes in device memory. */
void simulator_say_full(const DeviceMemory *memory, uint64_t size, Text *out);

/* Called before the simulator is freed, so that tyto_name_crashes does not use it any more. */
void crash_forget(const TytoSimulator *simulator);

static inline DeviceMemory *simulator_memory(const TytoSimulator *simulator) {
    return gpu_memory(simulator->gpu);
}

#endif
