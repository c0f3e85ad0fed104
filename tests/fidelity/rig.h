/* Small experiments on a machine: a kernel from kernels/, perhaps with an instruction filled
 * in, buffers in device memory, launches, and what they cost. A mistake ends the program: all of it
 * is ours. */
#ifndef TYTO_TESTS_FIDELITY_RIG_H
#define TYTO_TESTS_FIDELITY_RIG_H

#include "engine/launch/gpu.h"
#include "machine/machine.h"

typedef struct Rig Rig;

typedef struct RigSetup {
    const char *machine;   /* NULL: gtx480 */
    const char *scheduler; /* NULL: gto */
    const char *setting;   /* of the machine, `key=value`; NULL: none */
    uint32_t registers;    /* per thread; 0: our own estimate */
} RigSetup;

/* The machine at rest. `folder` holds kernels/. */
Rig *rig_new(const char *folder, const RigSetup *setup);
void rig_free(Rig *rig);

/* The machine that it is. */
const MachineConfig *rig_machine(const Rig *rig);
/* Cycles of a launch without the machine's launch latency. */
double rig_cycles(const Rig *rig, const GpuResult *result);

/* Loads kernels/NAME.ptx. A line `// repeat N: text` in it stands for N copies of the text, where
 * `$op` stands for `op` and `#` for the copy's number. */
void rig_load(Rig *rig, const char *name, const char *op);

/* A buffer of device memory to which the host has made no copy. */
uint64_t rig_alloc(Rig *rig, uint64_t bytes);
/* Writes device memory. `is_copy`: by a host-to-device copy, which may fill the L2. */
void rig_write(Rig *rig, uint64_t address, const void *data, uint64_t bytes, bool is_copy);
uint32_t rig_read_word(Rig *rig, uint64_t address);

/* What the probes take. */
typedef struct RigParameters {
    uint64_t out;      /* where results go */
    uint64_t data;     /* a buffer to work on */
    uint32_t count[2]; /* as the kernel's head says */
} RigParameters;

/* Launches the kernel: `grid` CTAs of `block` threads, each (x, y). `parameters` lie as it declares
 * them. */
GpuResult rig_launch(Rig *rig, const uint32_t grid[2], const uint32_t block[2],
                     const void *parameters);

/* The same with one-dimensional grid and block. */
GpuResult rig_launch_line(Rig *rig, uint32_t ctas, uint32_t threads,
                          const RigParameters *parameters);

#endif
