/* The machine in motion: SMs, networks and partitions of one MachineConfig, stepped in their clock
 * domains. It lives as long as its Gpu, so caches and open rows survive from kernel to kernel.
 *
 * The SM clock is the base: in each SM cycle the other domains tick as often as their exact
 * frequency ratio requires (integer accumulators, no drift). Order within a cycle: replies reach
 * the SMs, L2 slices send replies, DRAM ticks, L2 cycles, network cycles, SM cycles, CTA dispatch.
 * Units with nothing to do are skipped, and if all are, the clock jumps to the next event. */
#ifndef TYTO_ENGINE_ENGINE_H
#define TYTO_ENGINE_ENGINE_H

#include "engine/launch/gpu_internal.h"
#include "machine/machine.h"
#include "engine/observe/watch.h"
#include "sched/call.h"
#include "sched/cta_policy.h"
#include "sched/registry.h"
#include "sm/op.h"
#include "sm/sm.h"

typedef struct Engine Engine;

/* Whether the machine can do what the policy asks of it. If not (lines of its prefetcher are not
 * parts of a row), the reason goes to `diag`. */
bool engine_check(const MachineConfig *machine, const SchedPolicy *policy, Diag *diag);

/* Creates the machine of these options, at rest at cycle 0. What the options point to is
 * borrowed. The policies' calls are recorded in `calls`: those of each SM, then those of the CTA
 * scheduler. */
Engine *engine_new(const GpuOptions *options, SchedCallPlace *calls);
void engine_free(Engine *engine);

/* Gives the machine a grid. The grid waits until all CTAs of the grids before it are dispatched.
 * Grids of higher priority come first, then those given first. A grid that must run alone waits
 * until the machine is at rest, and no other grid begins before it has ended. */
void engine_begin(Engine *engine, Gpu *gpu, GpuGrid *grid);
/* Informs the machine that the grid that this one depends on has ended: it may begin, and its warps
 * that wait for the end continue. */
void engine_end_wait(Engine *engine, const GpuGrid *grid);
/* Runs the machine until a grid has ended, and returns that grid with a complete result. Returns
 * NULL if SM cycle `until` comes first, or if nothing is left to run. A pause does not change
 * results. A grid that runs alone, or is the last one, ends when its last request has drained;
 * other grids end with their last CTA. If one grid ends early, all do, in state GRID_ENDED, and
 * engine_is_spent is true. */
GpuGrid *engine_advance(Engine *engine, Gpu *gpu, uint64_t until);
/* Whether grids or requests are left in the machine that will never end, because a grid has ended
 * early. */
bool engine_is_spent(const Engine *engine);

/* Reports why each warp on the machine waits, while grids run or after one has ended early. */
void engine_visit_stall_reasons(const Engine *engine, SmVisitStallReasons *visit, void *user);
/* What SM `sm` counted for each instruction in the grid that ran last; NULL if this is not recorded
 * or there is no such SM. */
const SmProfile *engine_profile(const Engine *engine, uint32_t sm);

/* SM cycles so far, over all kernels. */
uint64_t engine_cycle(const Engine *engine);
/* Whether the calling thread steps SM `sm`, or one thread steps all. Async-signal-safe. */
bool engine_is_own(const Engine *engine, uint32_t sm);

/* Called when the host wrote device memory: with copies_fill_l2 the data are now in L2. */
void engine_host_wrote(Engine *engine, uint64_t address, uint64_t bytes);

/* Makes lines of L2 that persist normal ones. */
void engine_forget_persisting(Engine *engine);

#endif
