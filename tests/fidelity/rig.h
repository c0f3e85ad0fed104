/* Small experiments on a machine: a kernel from kernels/, optionally with an instruction inserted,
 * buffers in device memory, launches, and their cost. An error ends the program, because all inputs
 * are ours. */
#ifndef TYTO_TESTS_FIDELITY_RIG_H
#define TYTO_TESTS_FIDELITY_RIG_H

#include "engine/launch/gpu.h"
#include "machine/machine.h"

typedef struct Rig Rig;

typedef struct RigSetup {
    const char *machine;   /* NULL: gtx480 */
    const char *scheduler; /* NULL: gto */
    const char *setting;   /* setting of the machine, `key=value`; NULL: none */
    uint32_t registers;    /* per thread; 0: our own estimate */
} RigSetup;

/* An idle machine. `folder` contains kernels/. */
Rig *rig_new(const char *folder, const RigSetup *setup);
void rig_free(Rig *rig);

/* Configuration of the machine. */
const MachineConfig *rig_machine(const Rig *rig);
/* Cycles of a launch, without the machine's launch latency. */
double rig_cycles(const Rig *rig, const GpuResult *result);

/* Loads kernels/NAME.ptx. A line `// repeat N: text` is replaced by N copies of the text, with `op`
 * for `$op` and the copy's number for `#`. */
void rig_load(Rig *rig, const char *name, const char *op);

/* A buffer of device memory that the host did not write. */
uint64_t rig_alloc(Rig *rig, uint64_t bytes);
/* Writes device memory. `is_copy`: with a host-to-device copy, which may fill the L2. */
void rig_write(Rig *rig, uint64_t address, const void *data, uint64_t bytes, bool is_copy);
uint32_t rig_read_word(Rig *rig, uint64_t address);

/* Parameters of the probe kernels. */
typedef struct RigParameters {
    uint64_t out;      /* address of the results */
    uint64_t data;     /* a buffer to work on */
    uint32_t count[2]; /* meaning as in the kernel's head comment */
} RigParameters;

/* Launches the kernel: `grid` CTAs of `block` threads, each (x, y). `parameters` has the layout
 * that the kernel declares. */
GpuResult rig_launch(Rig *rig, const uint32_t grid[2], const uint32_t block[2],
                     const void *parameters);

/* The same with one-dimensional grid and block. */
GpuResult rig_launch_line(Rig *rig, uint32_t ctas, uint32_t threads,
                          const RigParameters *parameters);

#endif
