/* The GPU: modules, launches, and the two ways to run a kernel: functionally, or in detail on a
 * machine model. Everything above (the driver API, the command) uses this interface. Not
 * thread-safe: the driver serializes calls on one GPU; two GPUs are independent. */
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

/* What the checks look for while kernels run (isa/check/check.h). */
typedef struct GpuChecks {
    bool races;          /* accesses without any ordering between them */
    bool init;           /* reads of bytes that were never written */
    bool sync;           /* misuse of barriers and of warp-wide instructions */
    bool leaks;          /* record where device malloc is called */
    bool reports_faults; /* report bad accesses and continue the kernel without them */
} GpuChecks;

/* Settings of a GPU; zero means the default given here. gpu_new copies them. */
typedef struct GpuOptions {
    uint64_t memory_bytes;      /* device memory; default: the machine's, 16 GiB without one */
    uint64_t heap_bytes;        /* memory for device malloc; default 8 MiB (CUDA's default) */
    uint64_t persisting_bytes;  /* bytes of L2 that are set aside for persisting lines */
    uint32_t stack_bytes;       /* local memory and call frames per thread; default 64 KiB */
    uint64_t instruction_limit; /* a launch fails after this many warp instructions; 0: never */
    uint64_t stop_after;        /* the running launch ends with GPU_STOPPED when all launches on the
                                   machine have executed this many thread instructions; 0: never */
    uint32_t registers; /* registers per thread of every kernel, as another compiler allocated them;
                           0: our estimate */
    GpuChecks checks;   /* checks of kernels; findings go to ... */
    struct Findings *findings;       /* ... this, borrowed; NULL: no checks */
    uint64_t padding_bytes;          /* bytes left free before and after every allocation */
    const GpuCapability *capability; /* compute capability that programs see, borrowed; NULL: the
                                        machine's, or 7.5 without a machine */
    uint32_t dump_line; /* line at which registers are printed (isa_dump_place); 0: none */
    uint32_t dump_cta;  /* linear index of the CTA ... */
    uint32_t dump_warp; /* ... and warp whose registers are printed */
    const struct MachineConfig *machine; /* the machine that runs kernels in detail (after
                                            machine_finish, borrowed); NULL: run functionally */
    const struct MachineConfig *device;  /* the machine whose limits programs see in a functional
                                            run (after machine_finish, borrowed); NULL: limits of
                                            compute capability 7.5 and 16 SMs */
    const struct SchedPolicy
        *scheduler; /* warp scheduling policy, borrowed; required with a machine */
    const struct CtaSched
        *cta_scheduler;  /* CTA scheduling policy, borrowed; NULL: as many CTAs as fit */
    struct Watch *watch; /* what to record of runs on the machine, borrowed; NULL: only sums */
    bool never_sleeps;   /* for tests: the machine executes every cycle, needed or not */
    uint32_t pool_every; /* for tests: several threads share every cycle that is a multiple of this,
                            using each mode in turn, even if slower; 0: share cycles when that is
                            faster */
    /* For tests: called for each SM of a machine when it is made, to give it agents of its own
     * (sm/agent.h). NULL: none. */
    void (*attach)(void *agents, struct Sm *sm, uint32_t index);
    void *agents;        /* first argument of `attach` */
    uint32_t threads;    /* host threads that step a machine's SMs; 0: one. Results are the same for
                            every number */
    const char *variant; /* for tests: name of the execution variant; NULL: the best */
    void (*print)(void *user, const char *text,
                  size_t length); /* receives output of device printf and dumps; NULL: stdout */
    void *user;
    /* Sets a condition of a graph for a kernel. Returns false if no condition has that handle.
     * NULL: no graphs. */
    bool (*set_condition)(void *user, uint64_t handle, uint32_t value);
    void *condition_user;
    const struct DeviceQueries
        *answers; /* answers kernels' questions about the device
                     (isa/runtime/device_runtime.h), borrowed; NULL: no answers */
    void *asker;  /* first argument of the functions in `answers` */
} GpuOptions;

Gpu *gpu_new(const GpuOptions *options, Diag *diag); /* NULL after an error, with messages */
void gpu_free(Gpu *gpu);
DeviceMemory *gpu_memory(Gpu *gpu);
GpuOptions *gpu_options(Gpu *gpu);                       /* may be changed between launches */
const struct MachineConfig *gpu_machine(const Gpu *gpu); /* times launches; NULL: none does */

/* A PTX text. `name` is used in messages. */
typedef struct GpuImage {
    const char *name;
    const char *text;
    size_t length;
} GpuImage;

/* Reads `count` PTX texts, links them as one module, allocates its variables in device memory and
 * decodes it. NULL after an error, with messages. The texts are not needed afterwards. */
GpuModule *gpu_load(Gpu *gpu, const GpuImage *images, int count, Diag *diag);
/* The address that a module's variable must have, in memory of the host program. */
typedef struct GpuPlace {
    const char *name; /* name of the variable in PTX */
    uint64_t address; /* address in the host program */
} GpuPlace;

/* The same, with fixed addresses for some .global variables. Names that the module lacks are
 * ignored. */
GpuModule *gpu_load_at(Gpu *gpu, const GpuImage *images, int count, const GpuPlace *places,
                       size_t place_count, Diag *diag);
/* A hash of all texts loaded so far, independent of their order; 0 if there were none. */
uint64_t gpu_code_hash(const Gpu *gpu);
void gpu_unload(GpuModule *module); /* also frees the variables' memory */
const PtxModule *gpu_module_ptx(const GpuModule *module);
const IsaProgram *gpu_module_program(const GpuModule *module);
/* Whether some function of the module lets dependent grids begin (GpuLaunch.after). */
bool gpu_module_has_triggers(const GpuModule *module);
/* Index of a kernel or function in module->program->functions; -1 if there is none. */
int gpu_find_function(const GpuModule *module, const char *name);
/* Finds the device address and the size in bytes of a global or constant variable. Returns false if
 * there is none. */
bool gpu_find_variable(const GpuModule *module, const char *name, uint64_t *address,
                       uint64_t *size);

/* Finds the device address of the 8 bytes with the handle to which a texture or surface reference
 * is bound. Returns false if there is none. */
bool gpu_find_reference(const GpuModule *module, const char *name, bool is_surface,
                        uint64_t *address);

/* A grid that a launch depends on (programmatic dependent launch). The launch may begin once all
 * CTAs of that grid have executed griddepcontrol.launch_dependents or ended. A functional run
 * begins when that grid has ended. */
typedef struct GpuPrerequisite {
    struct GpuGrid *grid;
    bool is_at_start; /* the launch may begin once all CTAs of that grid have begun */
    bool is_awaited;  /* griddepcontrol.wait waits for the end of that grid */
} GpuPrerequisite;

enum { GPU_MOST_PREREQUISITES = 8 }; /* most of one launch; ours */

typedef struct GpuLaunch {
    GpuModule *module;
    int function; /* index of the function, which must be a kernel */
    uint32_t grid[3], block[3];
    uint32_t cluster[3]; /* CTAs of a cluster; all 0: the kernel's own shape, or no clusters */
    uint32_t dynamic_shared_bytes;
    const void *parameters; /* arguments: the function's parameter_bytes bytes, in the layout of its
                               parameters */
    bool is_cooperative;    /* the whole grid must be resident at once */
    uint8_t carve_out;   /* preferred share of shared memory in the store that it divides with the
                            L1D: percent + 1; 0: no preference */
    PolicyWindow window; /* accesses to this window have a priority in L2 */
    const GpuPrerequisite *after; /* grids that it depends on; borrowed until gpu_begin returns */
    uint32_t after_count;
    bool is_functional; /* run without timing, even on a GPU with a machine; the machine's time does
                           not advance */
} GpuLaunch;

typedef enum GpuStatus {
    GPU_OK,
    GPU_BAD_LAUNCH, /* the launch is impossible: dimensions, shared memory, parameters */
    GPU_REFUSED, /* the kernel contains something unsupported: result.message says what and where */
    GPU_FAULT,   /* the kernel failed: result.message has the reason, result.fault_code its kind */
    GPU_INTERRUPTED, /* gpu_interrupt was called */
    GPU_STOPPED      /* GpuOptions.stop_after instructions have been executed */
} GpuStatus;

typedef struct GpuResult {
    GpuStatus status;
    int fault_code;                     /* IsaFaultCode if status is GPU_FAULT */
    char message[ISA_FAULT_TEXT + 256]; /* empty if status is GPU_OK */
    uint64_t warp_instructions;
    uint64_t thread_instructions;
    uint64_t cycles;  /* SM cycles; 0 for a functional run */
    uint64_t time_ps; /* simulated time; functional runs: 1 ns per warp instruction, only to have a
                         clock */
    double wall_seconds;
    double cpu_seconds;    /* CPU time of the process in that time */
    Counters counters;     /* for a run on a machine; zero for a functional run */
    Histograms histograms; /* likewise */
    Spreads spreads;       /* likewise, over the SMs */
    WarpStates states;     /* likewise, if the core counts them */
    uint32_t ctas_per_sm;  /* CTAs that fit on an SM, ... */
    Occupancy occupancy;   /* ... and why not more; for a run on a machine */
    uint64_t start_ps;     /* when its turn came, in the time of gpu_time_ps */
    /* Another grid was on the machine at the same time. Then instructions, CTAs, warps and time are
     * those of this grid. The other counters, histograms, spreads and states are those of the whole
     * machine from this grid's start to its end. */
    bool has_overlapped;
} GpuResult;

/* A launch after gpu_begin: it waits, runs, or has ended. */
typedef struct GpuGrid GpuGrid;

/* The stream of a launch. */
typedef struct GpuStreamInfo {
    uint32_t number; /* 0: the legacy default stream */
    int priority;    /* a higher number comes first */
} GpuStreamInfo;

/* Whether the device can run a kernel in a grid of this shape. If not, `result` has the reason. */
bool gpu_check_launch(const Gpu *gpu, const GpuLaunch *launch, GpuResult *result);
/* The same, without the checks of clusters. */
bool gpu_check_ctas(const Gpu *gpu, const GpuLaunch *launch, GpuResult *result);
/* The same, without the checks of the shape: it must be a kernel without unsupported
 * instructions. */
GpuStatus gpu_check_kernel(const Gpu *gpu, const GpuLaunch *launch, GpuResult *result);

/* Submits a launch to the device. The device may begin it at the next gpu_advance, concurrently
 * with earlier ones. Its CTAs are dispatched after all CTAs of the grids before it: those of higher
 * priority, and those of the same priority submitted earlier. A grid that must follow another may
 * be submitted only when that one has ended, or with GpuLaunch.after. A launch that cannot run has
 * ended at once. The module and everything that the launch points to must stay valid until the end;
 * the launch itself is copied. */
GpuGrid *gpu_begin(Gpu *gpu, const GpuLaunch *launch, const GpuStreamInfo *stream);
/* Runs the submitted grids until one has ended, and returns it until gpu_end is called for it.
 * NULL: no grid is left. */
GpuGrid *gpu_advance(Gpu *gpu);
/* The result of a grid that has ended; valid until gpu_end. It is large: copying it takes as long
 * as a small launch. */
const GpuResult *gpu_result(Gpu *gpu, GpuGrid *grid);
/* Frees a grid that has ended and returns its status. `result` receives a copy of its result; it
 * may be NULL. */
GpuStatus gpu_end(Gpu *gpu, GpuGrid *grid, GpuResult *result);
/* Simulated time so far of all launches that have ended, in picoseconds; time in which launches
 * overlapped counts once. */
uint64_t gpu_time_ps(const Gpu *gpu);

/* Runs a kernel to its end: begin, advance and end of one grid. Always fills in `result`. */
GpuStatus gpu_launch(Gpu *gpu, const GpuLaunch *launch, GpuResult *result);
/* Fetches the next kernel that kernels have launched, after a launch without an error. Copies and
 * fills before it have been executed. Returns false if there is none. The parameters are valid
 * until the next call. */
bool gpu_next_child(Gpu *gpu, GpuLaunch *child);
void gpu_drop_children(Gpu *gpu); /* drops the children that have not run */
/* The module of the running launch. */
const GpuModule *gpu_running_module(const Gpu *gpu);
/* Ends the running launch with GPU_INTERRUPTED at the next opportunity. Async-signal-safe. */
void gpu_interrupt(Gpu *gpu);

/* Progress of the running launch; any thread may ask. */
typedef struct GpuProgress {
    uint64_t done_ctas, total_ctas;
    uint64_t begun_ctas;        /* CTAs that have been on an SM, including those that are done */
    uint64_t warp_instructions; /* warp instructions so far */
} GpuProgress;
GpuProgress gpu_progress(const Gpu *gpu);
/* Whether a launch has reached the line where registers are printed (dump_line). */
bool gpu_has_dumped(const Gpu *gpu);

/* Writes to `text` (of `size` bytes) which function of a policy is being executed: kind and name of
 * the policy, cycle, SM and function. If several threads step SMs, is_own restricts this to the
 * calling thread. Returns false if none is. Async-signal-safe; any thread may call it. */
bool gpu_policy_call(const Gpu *gpu, bool is_own, char *text, size_t size);

/* Must be called after the host (not a launch) has written device memory, because some machines
 * then have the data in L2. */
void gpu_host_wrote(Gpu *gpu, uint64_t address, uint64_t bytes);

/* Makes lines of L2 that persist normal ones. */
void gpu_forget_persisting(Gpu *gpu);

/* Limits of the device that a launch is checked against. */
typedef struct GpuLimits {
    uint32_t capability_major;    /* compute capability that programs see */
    uint32_t capability_minor;    /* likewise */
    uint32_t single_to_double;    /* f32 operations per f64 operation in the same time, rounded */
    uint32_t max_threads_per_cta; /* 1024 */
    uint32_t max_block[3];        /* 1024, 1024, 64 */
    uint64_t max_grid[3];         /* 2^31-1, 65535, 65535 */
    uint32_t shared_per_cta;      /* most bytes of a CTA */
    uint32_t shared_per_sm;       /* bytes */
    uint32_t registers_per_sm;
    uint32_t register_parts; /* number of parts of equal size; a warp's registers are in one part */
    uint32_t register_granularity; /* registers of a thread are rounded up to a multiple of this */
    uint32_t shared_granularity;   /* bytes; a CTA's shared memory is rounded up to these */
    uint32_t shared_reserved;      /* bytes of a CTA's shared memory that the system uses */
    uint32_t threads_per_sm;
    uint32_t ctas_per_sm;
    uint32_t sms;
    uint32_t gpcs;        /* groups of SMs, at least 1 */
    uint32_t max_cluster; /* most CTAs of a cluster; 1: no clusters */
    uint32_t clock_khz;   /* SM clock */
    uint32_t memory_clock_khz;
    uint32_t bus_width_bits;
    uint32_t l2_bytes;
    uint32_t persisting_bytes; /* most bytes of L2 that can be set aside; 0: L2 ignores hints */
} GpuLimits;
GpuLimits gpu_limits(const Gpu *gpu);
/* Registers per thread that a kernel occupies with `threads` threads per CTA: GpuOptions.registers,
 * or our estimate, limited so that at least one CTA fits. (A compiler that knows the SM spills the
 * others.) */
uint32_t gpu_registers(const Gpu *gpu, const IsaFunction *kernel, uint32_t threads);
/* CTAs of this shape that fit on one SM, as limited by threads, registers, shared memory and CTA
 * slots. 0 if a CTA has too many threads. */
uint32_t gpu_occupancy(const Gpu *gpu, const GpuModule *module, int function, uint32_t threads,
                       uint32_t dynamic_shared_bytes);
/* How many CTAs each of these resources allows. */
Occupancy gpu_occupancy_limits(const Gpu *gpu, const GpuModule *module, int function,
                               uint32_t threads, uint32_t dynamic_shared_bytes);
/* The shape of a launch's clusters in CTAs: that of the launch, else that of its kernel, else 1. */
void gpu_cluster(const GpuLaunch *launch, uint32_t *shape);
/* If the kernel has .blocksareclusters, the launch counts clusters: changes its grid to CTAs. CTAs
 * of one thread stand for the kernel's own shape, because launches of such a kernel do not give one
 * (CUDA Programming Guide, Blocks as Clusters). */
void gpu_count_ctas(GpuLaunch *launch);
/* Clusters of `ctas` CTAs of the function that the device can hold at once. A functional run has
 * the answer of its `device`, as a program may choose its grid by it. */
uint32_t gpu_most_clusters(const Gpu *gpu, const GpuModule *module, int function, uint32_t threads,
                           uint32_t dynamic_shared_bytes, uint32_t ctas);
/* Bytes of shared memory available to each CTA if `ctas` CTAs, at least one, are on an SM. */
uint32_t gpu_shared_of_each(const Gpu *gpu, uint32_t ctas);

#endif
