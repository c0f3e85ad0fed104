/* The GPU: modules, launches, and the two ways to run a kernel (functionally alone, or in detail on
 * a machine model). Everything above (the driver API, the command) goes through this. Not
 * thread-safe: the driver serialises calls on one GPU; two GPUs are independent. */
#ifndef TYTO_ENGINE_LAUNCH_GPU_H
#define TYTO_ENGINE_LAUNCH_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "machine/capability.h"
#include "isa/isa.h"
#include "isa/policy.h"
#include "memory/memory.h"
#include "stats/counters.h"
#include "stats/histogram.h"
#include "stats/occupancy.h"
#include "stats/units.h"
#include "stats/warp_states.h"

typedef struct Gpu Gpu;
typedef struct GpuModule GpuModule;
struct Sm;

/* What is looked for while kernels run (isa/check/check.h). */
typedef struct GpuChecks {
    bool races;          /* accesses that nothing orders */
    bool init;           /* reads of bytes that were never written */
    bool sync;           /* misuse of barriers and of instructions of a warp */
    bool leaks;          /* where device malloc is called is kept */
    bool reports_faults; /* bad accesses are reported, and kernels go on without them */
} GpuChecks;

/* Settings of a GPU; zero means the default named. Copied by gpu_new. */
typedef struct GpuOptions {
    uint64_t memory_bytes;      /* device memory; default: the machine's, 16 GiB without one */
    uint64_t heap_bytes;        /* device malloc; default 8 MiB (CUDA's default) */
    uint64_t persisting_bytes;  /* of L2 that are set aside for lines that persist */
    uint32_t stack_bytes;       /* local memory and call frames per thread; default 64 KiB */
    uint64_t instruction_limit; /* warp instructions of one launch before it fails; 0: none */
    uint64_t stop_after; /* thread instructions of all launches on the machine, after which the one
                            that runs ends with GPU_STOPPED; 0: never */
    uint32_t registers;  /* per thread of every kernel, as another compiler allocated them;
                            0: our estimate */
    GpuChecks checks;    /* of kernels; what they find goes to ... */
    struct Findings *findings;       /* ... this, borrowed; NULL: there are none */
    uint64_t padding_bytes;          /* free before and behind every allocation */
    const GpuCapability *capability; /* that the device answers to, borrowed; NULL: the machine's,
                                        7.5 without one */
    uint32_t dump_line;              /* where registers are printed (isa_dump_place); 0: nowhere */
    uint32_t dump_cta;               /* linear CTA index and ... */
    uint32_t dump_warp;              /* ... warp whose registers are printed */
    const struct MachineConfig *machine; /* run in detail on this machine (machine_finish'ed,
                                            borrowed); NULL: functionally */
    const struct SchedPolicy
        *scheduler; /* warp scheduling policy, borrowed; needed with a machine */
    const struct CtaSched
        *cta_scheduler;  /* CTA scheduling policy, borrowed; NULL: as many CTAs as fit */
    struct Watch *watch; /* what to record of runs on a machine, borrowed; NULL: only the sums */
    bool never_sleeps;   /* a machine does the work of every cycle, needed or not (tests) */
    uint32_t pool_every; /* several threads share every cycle that is a multiple of this, in each
                            way in turn, worth it or not (tests); 0: when they are faster */
    /* Gives each SM of a machine, when it is made, agents of its own (sm/agent.h; tests); NULL:
     * none. */
    void (*attach)(void *agents, struct Sm *sm, uint32_t index);
    void *agents;        /* for it */
    uint32_t threads;    /* of the host that step a machine's SMs; 0: one. Results are the same for
                            every number */
    const char *variant; /* execution variant by name (tests), NULL: the best of this host */
    void (*print)(void *user, const char *text,
                  size_t length); /* device printf and dumps; NULL: stdout */
    void *user;
    /* Sets a condition of a graph for a kernel; false: there is none of that handle; NULL: no
     * graphs */
    bool (*set_condition)(void *user, uint64_t handle, uint32_t value);
    void *condition_user;
    const struct DeviceQueries
        *answers; /* answers kernels' questions about the device
                     (isa/runtime/device_runtime.h), borrowed; NULL: no answers */
    void *asker;  /* of the answers */
} GpuOptions;

Gpu *gpu_new(const GpuOptions *options, Diag *diag); /* NULL with messages */
void gpu_free(Gpu *gpu);
DeviceMemory *gpu_memory(Gpu *gpu);
GpuOptions *gpu_options(Gpu *gpu);                       /* may be changed between launches */
const struct MachineConfig *gpu_machine(const Gpu *gpu); /* that times launches; NULL: none does */

/* One PTX text. `name` is for messages. */
typedef struct GpuImage {
    const char *name;
    const char *text;
    size_t length;
} GpuImage;

/* Reads, links, lays out in device memory and decodes `count` PTX texts as one module; NULL with
 * messages. The texts are not needed afterwards. */
GpuModule *gpu_load(Gpu *gpu, const GpuImage *images, int count, Diag *diag);
/* Where a variable of a module shall lie: in memory of the host program's. */
typedef struct GpuPlace {
    const char *name; /* of the variable, in PTX */
    uint64_t address; /* the host's */
} GpuPlace;

/* The same with the places of some .global variables; names that the module lacks are passed over.
 */
GpuModule *gpu_load_at(Gpu *gpu, const GpuImage *images, int count, const GpuPlace *places,
                       size_t place_count, Diag *diag);
/* A hash of all texts that were loaded so far, in whatever order; 0: none was. */
uint64_t gpu_code_hash(const Gpu *gpu);
void gpu_unload(GpuModule *module); /* also gives back the variables' memory */
const PtxModule *gpu_module_ptx(const GpuModule *module);
const IsaProgram *gpu_module_program(const GpuModule *module);
/* Whether some function of it lets dependent grids begin (GpuLaunch.after). */
bool gpu_module_has_triggers(const GpuModule *module);
/* Index of a kernel (or function) in module->program->functions, -1 when there is none. */
int gpu_find_function(const GpuModule *module, const char *name);
/* Device address and size in bytes of a global or constant variable; false when there is none. */
bool gpu_find_variable(const GpuModule *module, const char *name, uint64_t *address,
                       uint64_t *size);

/* Device address of the 8 bytes that hold the handle which a texture or surface reference is bound
 * to. */
bool gpu_find_reference(const GpuModule *module, const char *name, bool is_surface,
                        uint64_t *address);

typedef struct GpuLaunch {
    GpuModule *module;
    int function; /* index; must be a kernel */
    uint32_t grid[3], block[3];
    uint32_t cluster[3]; /* CTAs; all 0: the kernel's own, or none */
    uint32_t dynamic_shared_bytes;
    const void *parameters; /* function's parameter_bytes bytes in the layout of its parameters */
    bool is_cooperative;    /* the whole grid must be resident at once */
    uint8_t carve_out; /* preferred share of shared memory in a store that the L1D has the rest of:
                          percent, and 1; 0: none is preferred */
    PolicyWindow window; /* accesses to it have a priority in L2 */
    /* The grid on which this one depends (programmatic dependent launch). This grid may begin once
     * all CTAs of that one have executed griddepcontrol.launch_dependents or ended; its
     * griddepcontrol.wait waits for that grid's end. Functionally it begins at that end. NULL:
     * none. */
    struct GpuGrid *after;
    bool is_functional; /* without timing, even on a GPU with a machine, whose time does not
                           advance */
} GpuLaunch;

typedef enum GpuStatus {
    GPU_OK,
    GPU_BAD_LAUNCH, /* the launch itself is impossible: dimensions, shared memory, parameters */
    GPU_REFUSED,    /* the kernel holds what is not supported: result.message says what and where */
    GPU_FAULT,      /* the kernel failed: result.message says how; result.fault_code which kind */
    GPU_INTERRUPTED, /* gpu_interrupt was called */
    GPU_STOPPED      /* GpuOptions.stop_after instructions are executed */
} GpuStatus;

typedef struct GpuResult {
    GpuStatus status;
    int fault_code;                     /* IsaFaultCode when status is GPU_FAULT */
    char message[ISA_FAULT_TEXT + 256]; /* empty when status is GPU_OK */
    uint64_t warp_instructions;
    uint64_t thread_instructions;
    uint64_t cycles;  /* SM cycles; 0 when run functionally */
    uint64_t time_ps; /* simulated time; functional runs: 1 ns per warp instruction, a mere clock */
    double wall_seconds;
    double cpu_seconds;    /* that the process had the processor in that time */
    Counters counters;     /* of a run on a machine; zero when run functionally */
    Histograms histograms; /* likewise */
    Spreads spreads;       /* likewise, over the SMs */
    WarpStates states;     /* likewise, where the core counts them */
    uint32_t ctas_per_sm;  /* that fit */
    Occupancy occupancy;   /* and why no more do; of a run on a machine */
    uint64_t start_ps;     /* when its turn came, on the clock of gpu_time_ps */
    /* Another grid was on the machine at the same time. Then instructions, CTAs, warps and time are
     * this grid's; the other counters, histograms, spreads and states are what the whole machine
     * did from its start to its end. */
    bool has_overlapped;
} GpuResult;

/* A launch given to the device: it waits, runs, or has ended. */
typedef struct GpuGrid GpuGrid;

/* The stream of a launch. */
typedef struct GpuStreamInfo {
    uint32_t number; /* 0: the legacy default stream */
    int priority;    /* higher goes first */
} GpuStreamInfo;

/* Whether the device can run a kernel in a grid of this shape; where it cannot, `result` says why.
 */
bool gpu_check_launch(const Gpu *gpu, const GpuLaunch *launch, GpuResult *result);
/* The same, but for its clusters. */
bool gpu_check_ctas(const Gpu *gpu, const GpuLaunch *launch, GpuResult *result);
/* The same, and what holds whatever the shape: it is a kernel, without unsupported instructions. */
GpuStatus gpu_check_kernel(const Gpu *gpu, const GpuLaunch *launch, GpuResult *result);

/* Gives a launch to the device, which may begin it at the next advance, next to those given before:
 * its CTAs go out when those of all grids before it have. Grids of a higher priority come first, of
 * one priority in the order in which they were given. A grid that must come after another is to be
 * given when that has ended, or with GpuLaunch.after. A launch that cannot run has ended at once.
 * Module and what the launch points to stay until the end; the launch itself is copied. */
GpuGrid *gpu_begin(Gpu *gpu, const GpuLaunch *launch, const GpuStreamInfo *stream);
/* Runs what has begun until a grid has ended: that grid, until gpu_end takes it; NULL: none is
 * left.
 */
GpuGrid *gpu_advance(Gpu *gpu);
/* The result of a grid that has ended, until gpu_end. It is large: a copy costs what a small launch
 * costs. */
const GpuResult *gpu_result(Gpu *gpu, GpuGrid *grid);
/* Forgets a grid that has ended; `result` gets a copy of its result, NULL: not wanted. */
GpuStatus gpu_end(Gpu *gpu, GpuGrid *grid, GpuResult *result);
/* Simulated time so far: of all launches that have ended, of those that overlapped once. */
uint64_t gpu_time_ps(const Gpu *gpu);

/* Runs a kernel to its end: begin, advance and end of one grid. Always fills `result`. */
GpuStatus gpu_launch(Gpu *gpu, const GpuLaunch *launch, GpuResult *result);
/* The next kernel that kernels have launched, after a launch that went right: false when there is
 * none. What they copied and filled before it is done. The parameters stay until the next call. */
bool gpu_next_child(Gpu *gpu, GpuLaunch *child);
void gpu_drop_children(Gpu *gpu); /* forgets what is left */
/* The module of the launch that runs. */
const GpuModule *gpu_running_module(const Gpu *gpu);
/* Async-signal-safe: the launch that is running ends with GPU_INTERRUPTED at the next chance. */
void gpu_interrupt(Gpu *gpu);

/* How far the running launch is; may be called from any thread. */
typedef struct GpuProgress {
    uint64_t done_ctas, total_ctas;
    uint64_t begun_ctas;        /* that have been on an SM; those that are done among them */
    uint64_t warp_instructions; /* so far */
} GpuProgress;
GpuProgress gpu_progress(const Gpu *gpu);
/* Whether a launch has come where registers are printed (dump_line). */
bool gpu_has_dumped(const Gpu *gpu);

/* Which function of a policy is under way, in any thread or (is_own) in the calling one where
 * several step SMs: `text` (of `size` bytes) gets its kind, its name, cycle, SM and function. False
 * when none is. Async-signal-safe, from any thread. */
bool gpu_policy_call(const Gpu *gpu, bool is_own, char *text, size_t size);

/* To be called after the host has written device memory (not by launches): machines may have the
 * data in L2 then. */
void gpu_host_wrote(Gpu *gpu, uint64_t address, uint64_t bytes);

/* Lines of L2 that persist are normal ones from now on. */
void gpu_forget_persisting(Gpu *gpu);

/* Limits of the device that a launch is checked against. */
typedef struct GpuLimits {
    uint32_t capability_major;    /* that programs see */
    uint32_t capability_minor;    /* likewise */
    uint32_t single_to_double;    /* f32 operations in the time of one f64 operation, rounded */
    uint32_t max_threads_per_cta; /* 1024 */
    uint32_t max_block[3];        /* 1024, 1024, 64 */
    uint64_t max_grid[3];         /* 2^31-1, 65535, 65535 */
    uint32_t shared_per_cta;      /* bytes a CTA may have in all */
    uint32_t shared_per_sm;       /* bytes */
    uint32_t registers_per_sm;
    uint32_t register_parts;       /* of equal size; a warp's registers lie in one */
    uint32_t register_granularity; /* a thread's registers are rounded up to this */
    uint32_t shared_granularity;   /* bytes; a CTA's shared memory likewise */
    uint32_t shared_reserved;      /* bytes of it that are the system's */
    uint32_t threads_per_sm;
    uint32_t ctas_per_sm;
    uint32_t sms;
    uint32_t gpcs;        /* groups of SMs, at least 1 */
    uint32_t max_cluster; /* CTAs of a cluster, 1: there are no clusters */
    uint32_t clock_khz;   /* SM clock */
    uint32_t memory_clock_khz;
    uint32_t bus_width_bits;
    uint32_t l2_bytes;
    uint32_t persisting_bytes; /* most of L2 that can be set aside; 0: L2 takes no hints */
} GpuLimits;
GpuLimits gpu_limits(const Gpu *gpu);
/* Registers per thread that a kernel occupies in CTAs of `threads`: GpuOptions.registers, or our
 * estimate, and no more than let one CTA fit: a compiler that knows the SM spills the others. */
uint32_t gpu_registers(const Gpu *gpu, const IsaFunction *kernel, uint32_t threads);
/* CTAs of this shape that fit on one SM, by threads, registers, shared memory and CTA slots; 0 of
 * one with more threads than a CTA can have. */
uint32_t gpu_occupancy(const Gpu *gpu, const GpuModule *module, int function, uint32_t threads,
                       uint32_t dynamic_shared_bytes);
/* How many each of these lets fit. */
Occupancy gpu_occupancy_limits(const Gpu *gpu, const GpuModule *module, int function,
                               uint32_t threads, uint32_t dynamic_shared_bytes);
/* CTAs of a launch's clusters, by axis: what it says, or its kernel, or 1. */
void gpu_cluster(const GpuLaunch *launch, uint32_t *shape);
/* Clusters of `ctas` CTAs that the machine holds at once when `ctas_per_sm` CTAs fit on an SM. */
uint32_t gpu_most_clusters(const Gpu *gpu, uint32_t ctas_per_sm, uint32_t ctas);
/* Bytes of shared memory that each CTA can have when `ctas` CTAs, at least one, are on an SM. */
uint32_t gpu_shared_of_each(const Gpu *gpu, uint32_t ctas);

#endif
