/* The core of an SM: the part that fetches, picks and times instructions. A machine selects one
 * (sm.core).
 *
 * Every SM has the same other parts (sm/parts.h): resident CTAs and warps, the policies' view,
 * load/store unit, L1D, shared memory, network port, counters and profile. A core steps them in its
 * own order, executes each instruction when it issues (sm/execute.h), and learns from the SM's
 * events (sm/events.h) what has completed. A new core is a folder below sm/, a row in SM_CORES
 * (sm_config.h) and an include in core.c. */
#ifndef TYTO_SM_CORE_H
#define TYTO_SM_CORE_H

#include "sm/grid.h"
#include "sm/profile.h"
#include "sm/sm_config.h"

typedef struct Sm Sm;

/* The functions of a core. Those that take an Sm find the core's record in Sm.record. */
typedef struct SmCore {
    const char *name; /* the name in machine files */
    /* Returns the core's own rows for the instructions of a program, in addition to SmOp; the
     * caller frees them. NULL: the core needs none. */
    void *(*rows)(const SmConfig *config, const WarpProgram *program);
    /* Creates the record in the arena of SmContext; the SM's parts exist already. */
    void *(*build)(Sm *sm);
    void (*destroy)(Sm *sm);

    /* ---- Grids and warps ---- */

    /* Called when nothing is resident and the first grid begins. */
    void (*start)(Sm *sm);
    void (*begin_grid)(Sm *sm, SmGrid *grid);
    /* Called when one of several grids has ended and others remain. */
    void (*end_grid)(Sm *sm);
    /* Called when a warp has entered this slot; SmWarps has its first pc. */
    void (*start_warp)(Sm *sm, int warp);
    /* Called when CTAs were paused or resumed, so that the set of warps that may issue has
     * changed. */
    void (*wake)(Sm *sm);

    /* ---- Time ---- */

    /* Called when a line of instructions has arrived from L2; only cores that request instruction
     * lines get such calls. */
    void (*line_arrived)(Sm *sm, const MemRequest *line);
    /* Runs one cycle (SmContext.cycle). The core steps the load/store unit and then the agents
     * (sm_step_agents). It issues no instruction of a paused warp (SchedAgent.paused), updates what
     * the view holds about each warp's instructions, and reports when it has issued
     * (sm_tell_issued). It first accounts for cycles skipped since the last step, and it sets
     * *SmEnvironment.wake to the next cycle in which it has work. */
    void (*step)(Sm *sm);

    /* ---- Accounting ---- */

    /* Accounts for `cycles` cycles in which nothing has changed. */
    void (*count_cycles)(Sm *sm, uint64_t cycles);
    /* Adds its sums to counters and histograms. */
    void (*settle)(Sm *sm);
    /* MemoryBlockCycles that have not been added to the counters yet. */
    uint64_t (*memory_cycles)(const Sm *sm);
    /* Reports why each resident warp waits. */
    SmStallReasons (*stall_reasons)(const Sm *sm);
} SmCore;

/* The core of this kind. */
const SmCore *sm_core_of(SmCoreKind kind);

#endif
