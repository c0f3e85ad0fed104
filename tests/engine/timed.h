/* Runs small PTX kernels on machines, for tests of timing. */
#ifndef TYTO_TESTS_GPU_TIMED_H
#define TYTO_TESTS_GPU_TIMED_H

#include "engine/launch/gpu.h"
#include "machine/machine_file.h"
#include "sched/registry.h"

/* A GPU on a machine, and its parts. */
typedef struct Timed {
    Diag *diag;
    Machine *machine;
    const MachineConfig *config;
    SchedPolicy *policy;
    Gpu *gpu;
} Timed;

/* Starts machine `name` with the overrides `sets` (key=value separated by blanks, may be ""), under
 * `policy`. Fails the test on any error. */
void timed_start(Timed *timed, const char *name, const char *sets, const char *policy);
/* The same; with is_awake no unit ever sleeps. */
void timed_start_awake(Timed *timed, const char *name, const char *sets, const char *policy,
                       bool is_awake);
/* The same with the other settings of `how`. */
void timed_start_how(Timed *timed, const char *name, const char *sets, const char *policy,
                     const GpuOptions *how);
void timed_stop(Timed *timed);

/* Allocates `words` 32-bit words of device memory, and copies them from `initial` unless that is
 * NULL. */
uint64_t timed_buffer(Timed *timed, const uint32_t *initial, size_t words);

/* Loads `ptx` and runs its first kernel with 64-bit parameters. The launch must end well and all
 * identities of its counters must hold. */
GpuResult timed_run(Timed *timed, const char *ptx, uint32_t ctas, uint32_t threads,
                    const uint64_t *parameters);

/* The same for a launch that may end in any way. */
GpuResult timed_run_badly(Timed *timed, const char *ptx, uint32_t ctas, uint32_t threads,
                          const uint64_t *parameters);

/* Word i of a buffer. */
uint32_t timed_word(Timed *timed, uint64_t buffer, size_t i);

#endif
