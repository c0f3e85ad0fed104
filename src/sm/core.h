/* The core of an SM: what fetches, picks and times instructions. A machine chooses one (sm.core).
 *
 * An SM has its parts whatever its core (sm/parts.h): resident CTAs and warps, the view of
 * policies, load/store unit, L1D, shared memory, network port, counters, profile. A core steps them
 * in its own order, has an instruction executed when it issues (sm/execute.h), and hears of what is
 * over from the SM's events (sm/events.h). A new core is a folder below sm/, a row in SM_CORES
 * (sm_config.h) and an include in core.c. */
#ifndef TYTO_SM_CORE_H
#define TYTO_SM_CORE_H

#include "sm/grid.h"
#include "sm/profile.h"
#include "sm/sm_config.h"

typedef struct Sm Sm;

/* The functions of a core. Those that take an Sm find their record in Sm.record. */
typedef struct SmCore {
    const char *name; /* as machine files have it */
    /* The core's own rows for the instructions of a program, in addition to SmOp; the caller frees
     * them. NULL: it needs none. */
    void *(*rows)(const SmConfig *config, const WarpProgram *program);
    /* The record, in the arena of SmContext; the SM's parts are there. */
    void *(*build)(Sm *sm);
    void (*destroy)(Sm *sm);

    /* ---- Grids and warps ---- */

    /* Nothing is resident any more, and the first grid is to begin. */
    void (*start)(Sm *sm);
    void (*begin_grid)(Sm *sm, SmGrid *grid);
    /* One of several grids has ended; others stay. */
    void (*end_grid)(Sm *sm);
    /* A warp has come into this slot; SmWarps has its first pc. */
    void (*start_warp)(Sm *sm, int warp);
    /* Warps may issue that could not before, or no longer may: CTAs were paused or resumed. */
    void (*wake)(Sm *sm);

    /* ---- Time ---- */

    /* A line of instructions has come from below; only to a core that asks for some. */
    void (*line_arrived)(Sm *sm, const MemRequest *line);
    /* One cycle (SmContext.cycle). In it the core steps the load/store unit and then the agents
     * (sm_step_agents), lets no paused warp issue (SchedAgent.paused), counts what the view says of
     * each warp's instructions, and tells others when it has issued (sm_tell_issued). Cycles left
     * out since the last step are accounted for first, and *SmEnvironment.wake is set to the next
     * cycle in which there is something to do. */
    void (*step)(Sm *sm);

    /* ---- Accounting ---- */

    /* Accounts `cycles` cycles in which nothing has changed. */
    void (*count_cycles)(Sm *sm, uint64_t cycles);
    /* Adds what it has summed up to counters and histograms. */
    void (*settle)(Sm *sm);
    /* Counters.MemoryBlockCycles that are not settled yet. */
    uint64_t (*memory_cycles)(const Sm *sm);
    /* Why each resident warp waits. */
    SmStallReasons (*stall_reasons)(const Sm *sm);
} SmCore;

/* The core of that kind. */
const SmCore *sm_core_of(SmCoreKind kind);

#endif
