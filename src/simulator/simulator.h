/* The inside of a TytoSimulator: one GPU, its options, and what its launches did. The CUDA driver
 * API uses this in addition to the public functions of tyto/tyto.h. */
#ifndef TYTO_SIMULATOR_SIMULATOR_H
#define TYTO_SIMULATOR_SIMULATOR_H

#include <pthread.h>

#include "base/lock.h"
#include "base/text.h"
#include "simulator/options.h"
#include "engine/launch/gpu.h"
#include "stats/run.h"
#include "tyto/tyto.h"

/* Whose launch runs: for what kernels ask about the device (answers.c). */
typedef struct DeviceAsker {
    Gpu *gpu;
    const struct Context *context; /* NULL: none of the driver API's */
} DeviceAsker;

extern const struct DeviceQueries driver_answers;

/* A launch on the device. The code that launched it owns this until it has ended. */
typedef struct SimulatorGrid {
    GpuLaunch launch;              /* its parameters are borrowed until the end */
    GpuStreamInfo stream;          /* that it was launched into */
    const struct Context *context; /* whose launch it is; NULL: none of the driver API's */
    GpuGrid *gpu;                  /* NULL once it has ended */
    GpuStatus status;              /* how it ended, then */
    int fault_code;                /* IsaFaultCode when that is GPU_FAULT */
    char *message;                 /* owned; NULL when the status is GPU_OK */
    struct SimulatorGrid *next;    /* given later, and not ended either */
} SimulatorGrid;

struct TytoSimulator {
    pthread_mutex_t lock;        /* must be held to use what follows (simulator_lock) */
    int lock_depth;              /* how often the holder has taken it */
    int cancelling;              /* whether the holder could be cancelled before (lock.h) */
    Options *options;            /* owned */
    Gpu *gpu;                    /* owned */
    RunStats *run;               /* the record of every launch so far; owned */
    SimulatorGrid *grids;        /* on the device, in the order in which they were given */
    TytoModule *modules;         /* loaded by tyto_load, linked by their `next` */
    Text message;                /* tyto_message */
    const char *command;         /* what runs the program ("tyto run"); NULL: the process itself */
    Text arguments;              /* of the program, where there is a command */
    bool has_told_fallback;      /* that PTX runs in place of machine code */
    bool has_told_newer;         /* the same of PTX for newer GPUs (simulator_tell_newer) */
    bool is_process;             /* the program is this process's executable */
    struct Machine *machine;     /* that the options name; owned */
    struct TimedRun *timed;      /* policies and recordings, NULL when run functionally; owned */
    struct Selection *selection; /* which launches are timed; NULL when run functionally; owned */
    DeviceAsker asker;
    struct Journal *journal;   /* NULL: no reader wants one; owned */
    uint64_t program_hash;     /* of the executable; 0: not known yet */
    struct Progress *progress; /* line on a terminal; NULL where there is none; owned */
};

/* Takes the lock, which its holder may take again: functions of the program that are called with it
 * may call the simulator. */
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

/* A simulator with these options, which it takes over; NULL with errors in `diag`. */
TytoSimulator *simulator_new(Options *options, Diag *diag);

/* Runs a launch, and the kernels that kernels launch in it one after the other, each with the
 * progress line and the record of what it did. The first that fails is the last. The caller holds
 * the lock. */
GpuStatus simulator_launch(TytoSimulator *simulator, const GpuLaunch *launch,
                           const GpuStreamInfo *stream, GpuResult *result);

/* Gives a checked launch to the device, whose launch, stream and context `grid` holds. */
void simulator_begin(TytoSimulator *simulator, SimulatorGrid *grid);
/* Runs the device until a grid has ended, with the kernels that it has launched: it is recorded.
 * False: none is on the device. */
bool simulator_advance(TytoSimulator *simulator);
static inline bool simulator_has_ended(const SimulatorGrid *grid) { return !grid->gpu; }

/* Says that `size` bytes find no room in device memory. */
void simulator_say_full(const DeviceMemory *memory, uint64_t size, Text *out);

/* The simulator is about to go: tyto_name_crashes must not look at it any more. */
void crash_forget(const TytoSimulator *simulator);

static inline DeviceMemory *simulator_memory(const TytoSimulator *simulator) {
    return gpu_memory(simulator->gpu);
}

#endif
