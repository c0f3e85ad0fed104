/* The machine in motion: SMs, networks and partitions of one MachineConfig, stepped in their clock
 * domains. It lives as long as its Gpu, so caches and open rows survive from kernel to kernel.
 *
 * The SM clock is the base: in each SM cycle the other domains tick as often as their exact
 * frequency ratio says (integer accumulators, no drift). Inside a cycle the order is: replies reach
 * the SMs, L2 slices send replies, DRAM ticks, L2 cycles, network cycles, SM cycles, CTA dispatch.
 * Units with nothing to do are not visited, and when none has, the clock jumps to the next event.
 */
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

/* False, with the reason told to `diag`, when the machine cannot do what the policy asks of it
 * (lines of its prefetcher that are no part of a row). */
bool engine_check(const MachineConfig *machine, const SchedPolicy *policy, Diag *diag);

/* The machine of these options at rest at cycle 0. What they point to is borrowed. The policies'
 * calls are noted in `calls`, of each SM's in turn, then of the CTA scheduler's. */
Engine *engine_new(const GpuOptions *options, SchedCallPlace *calls);
void engine_free(Engine *engine);

/* Gives the machine a grid, which waits for its turn: until the CTAs of all grids before it have
 * gone out. Those of a higher priority come first, then those given first. A grid that runs alone
 * waits until the machine is at rest, and lets none begin before it has ended. */
void engine_begin(Engine *engine, Gpu *gpu, GpuGrid *grid);
/* The grid that this one depends on has ended: it may begin, and its warps that wait for that go
 * on. */
void engine_end_wait(Engine *engine, const GpuGrid *grid);
/* Runs the machine until a grid has ended, whose result is complete: that grid; or until SM cycle
 * `until` has come, or nothing is left to run: NULL. A run that pauses goes on as if it had not. A
 * grid that runs alone, or is the last one, ends when its last request has drained, another with
 * its last CTA. When one ends early, all do, in state GRID_ENDED, and engine_is_spent. */
GpuGrid *engine_advance(Engine *engine, Gpu *gpu, uint64_t until);
/* Whether grids or their requests are left in the machine that will never end: a grid has ended
 * early. */
bool engine_is_spent(const Engine *engine);

/* Why each warp on the machine waits; while grids run, or after one has ended early. */
void engine_visit_stall_reasons(const Engine *engine, SmVisitStallReasons *visit, void *user);
/* What SM `sm` counted of each instruction in the grid that ran last; NULL: not wanted, or there is
 * no such SM. */
const SmProfile *engine_profile(const Engine *engine, uint32_t sm);

/* SM cycles so far, over all kernels. */
uint64_t engine_cycle(const Engine *engine);
/* Whether what the SM does is done by the calling thread, or by the one that steps all. For a
 * signal's handler too. */
bool engine_is_own(const Engine *engine, uint32_t sm);

/* The host wrote device memory: with copies_fill_l2 the data are in L2 now. */
void engine_host_wrote(Engine *engine, uint64_t address, uint64_t bytes);

/* Lines of L2 that persist are normal ones from now on. */
void engine_forget_persisting(Engine *engine);

#endif
