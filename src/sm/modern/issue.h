/* Issue: each sub-core asks the policy for one of its warps that can issue. A warp can issue if the
 * stall count of its last instruction has passed, its next instruction and its constant are
 * available, no dependence counter blocks it, and its pipe or the memory queue accepts it.
 *
 * This is the stage in which function and timing meet: an instruction is executed when it issues,
 * and all its consequences are scheduled then. In the policies' view it writes the fields about
 * next instructions. */
#ifndef TYTO_SM_MODERN_ISSUE_H
#define TYTO_SM_MODERN_ISSUE_H

#include "sm/execute.h"
#include "sm/issue_sums.h"
#include "sm/modern/constants.h"
#include "sm/modern/counters.h"
#include "sm/modern/front.h"
#include "sm/modern/memory.h"
#include "sm/modern/ports.h"
#include "sm/modern/states.h"

/* A sub-core's own state, except its instruction cache and its memory queue. */
typedef struct ModernSubcore {
    uint64_t free_at[PIPES]; /* first cycle in which each pipe accepts another instruction */
    uint64_t issues_from;    /* the same for the Control stage */
    uint64_t paid_until;     /* cycle in which the slots of the last instruction end */
    ModernPorts ports;
    ModernConstants constants;
    uint8_t payer;   /* warp that takes these slots */
    uint8_t outcome; /* SmOutcome of the cycles since the last step */
    uint8_t seen;    /* SmSeen of these */
} ModernSubcore;

typedef struct ModernIssue {
    uint64_t delayed;                       /* warps that wait for a cycle */
    uint64_t delay[DELAYS];                 /* the same by cause */
    uint64_t blocked;                       /* warps that counters block */
    uint64_t blocked_long;                  /* those of them that wait for data from memory */
    uint64_t raised[2];                     /* warps whose last raise is not visible for another two
                                               cycles, or one */
    uint32_t serials, serial[SM_MAX_GRIDS]; /* number of grids begun; number of each grid, for
                                               constants */
    uint64_t free;                          /* warps whose next instruction takes no slot */
    uint64_t wants[PIPES];                  /* warps by the pipe of their next instruction */
    uint64_t until[TYTO_MAX_WARPS];         /* end of each delay */
    const ModernRow *head[TYTO_MAX_WARPS];  /* row of the next instruction */
    ModernWheel wheel;                      /* when delays end */
    bool has_issued;                        /* in this cycle */
    bool has_ready;    /* a warp could issue but for its pipe, the policy or its turn */
    bool steps_always; /* its policy wants the time */
    bool looks;        /* its policy looks at only some warps */
    uint64_t allowed;  /* warps that the policy allowed to issue in the last turn */
    uint32_t subcores;
    ModernSubcore subcore[SM_MAX_SUBCORES];
    ModernCounters counters;
    ModernFront front;
    ModernMemory memory;
    SmExecute execute;
    SmIssueSums sums;
    ModernStates states;
} ModernIssue;

void modern_issue_init(ModernIssue *issue, const SmContext *sm);
void modern_issue_start(ModernIssue *issue, const SmContext *sm);
void modern_issue_begin_grid(ModernIssue *issue, const SmContext *sm, SmGrid *grid);
void modern_issue_start_warp(ModernIssue *issue, SmContext *sm, int warp);

/* ---- Completions ---- */

/* Ends the delays and lowers the counters that are due in this cycle. */
void modern_issue_take_due(ModernIssue *issue, SmContext *sm);
/* Handles the events of the SM's parts (sm/events.h). */
void modern_issue_hear(ModernIssue *issue, SmContext *sm);
/* An instruction has read its registers: the load/store unit has accepted it. */
void modern_issue_read(ModernIssue *issue, SmContext *sm, uint16_t inst);

/* Whether modern_issue_take_due() may have work. */
static inline bool modern_issue_is_due(const ModernIssue *issue, uint64_t cycle) {
    const uint64_t places = issue->wheel.occupied | issue->counters.occupied;
    return (places >> (cycle % WHEEL_CYCLES) & 1) || (issue->raised[0] | issue->raised[1]);
}

/* ---- A cycle ---- */

/* Runs all sub-cores for one cycle. */
void modern_issue_step(ModernIssue *issue, SmContext *sm);
/* The next cycle after `now` in which the slots of a sub-core's instruction end; UINT64_MAX:
 * none. */
uint64_t modern_issue_next(const ModernIssue *issue, uint64_t now);
/* Accounts for `cycles` cycles in which nothing issued and nothing changed. */
void modern_issue_count(ModernIssue *issue, const SmContext *sm, uint64_t cycles);

/* ---- The warps' states (states.h) ---- */

/* Counts the cycle, after all sub-cores have run and warps have retired. */
void states_count(ModernIssue *issue, const SmContext *sm);
/* Counts `cycles` cycles in which nothing issued and nothing changed. */
void states_count_asleep(ModernIssue *issue, const SmContext *sm, uint64_t cycles);
/* Counts the pending cycles. Must be called before anything changes that warps wait for. */
void states_count_pending(ModernIssue *issue, const SmContext *sm);
static inline void states_flush(ModernIssue *issue, const SmContext *sm) {
    if (issue->states.pending) states_count_pending(issue, sm);
}
/* Adds the sums to those of the SM, and clears them. */
void states_settle(ModernIssue *issue, const SmContext *sm, WarpStates *sum);

/* ---- Information for others ---- */

/* Updates what a policy sees of full units (TYTO_NEEDS_STALLS). */
void modern_issue_show_stalls(const ModernIssue *issue, SmContext *sm, const SmL1d *l1d,
                              const SmPort *port);
/* Why each resident warp waits. */
SmStallReasons modern_stall_reasons(const ModernIssue *issue, const SmContext *sm);

#endif
