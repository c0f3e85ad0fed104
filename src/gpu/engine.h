/* The machine in motion: SMs, networks and partitions of one MachineConfig, stepped in their clock
 * domains. It lives as long as its Gpu, so caches and open rows survive from kernel to kernel.
 *
 * The SM clock is the base: in each SM cycle the other domains tick as often as their exact
 * frequency ratio says (integer accumulators, no drift). Inside a cycle the order is: replies reach
 * the SMs, L2 slices send replies, DRAM ticks, L2 cycles, network cycles, SM cycles, CTA dispatch.
 * Units with nothing to do are not visited, and when none has, the clock jumps to the next event.
 */
#ifndef TYTO_GPU_ENGINE_H
#define TYTO_GPU_ENGINE_H

#include "gpu/gpu_internal.h"
#include "gpu/machine.h"
#include "gpu/watch.h"
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

/* Runs one kernel in detail until its last request has drained; fills result's status, message,
 * counters and times. `program` is its program as SMs see it, `ops` its rows for the machine. */
/* With stop_after, when the kernel's threads have executed so many instructions at the latest, as
 * of the end of a cycle: GPU_STOPPED. 0: never. */
void engine_run(Engine *engine, Gpu *gpu, const IsaLaunch *launch, const WarpProgram *program,
                const SmOp *ops, uint32_t ctas_per_sm, uint64_t stop_after, GpuResult *result);

/* Why each warp of the launch that ran last stands where it stands; while it runs, or after it has
 * ended early. */
void engine_visit_standing(const Engine *engine, SmVisitStanding *visit, void *user);
/* What SM `sm` counted of each instruction in the launch that ran last; NULL: nobody asked, or
 * there is no such SM. */
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
