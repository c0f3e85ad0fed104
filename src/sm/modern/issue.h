/* Issue: each sub-core asks the policy for one of its warps that can go. A warp can when the cycles
 * that its last instruction asked for have passed, its next one is there with its constant, no
 * dependence counter keeps it, and its pipe, or the memory queue, takes it.
 *
 * The stage in which effect and time meet: an instruction is executed when it issues, and all that
 * follows of it is booked then. Of the view it writes what is said of next instructions. */
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

/* A sub-core's own state, except its instructions and its memory queue. */
typedef struct ModernSubcore {
    uint64_t free_at[PIPES]; /* cycle from which each pipe takes another instruction */
    uint64_t issues_from;    /* ... and from which the Control stage does */
    uint64_t paid_until;     /* cycle up to which the slots of the last instruction last */
    ModernPorts ports;
    ModernConstants constants;
    uint8_t payer;   /* warp that takes these slots */
    uint8_t outcome; /* SmOutcome of the cycles since the last step */
    uint8_t seen;    /* SmSeen of these */
} ModernSubcore;

typedef struct ModernIssue {
    uint64_t delayed;                       /* warps that wait for a cycle */
    uint64_t delay[DELAYS];                 /* the same by why */
    uint64_t blocked;                       /* warps that counters keep */
    uint64_t blocked_long;                  /* the same for data from memory */
    uint64_t raised[2];                     /* warps whose last raise does not show yet, for another
                                               two cycles or one */
    uint32_t serials, serial[SM_MAX_GRIDS]; /* of grids that have begun; by grid, for constants */
    uint64_t free;                          /* warps whose next instruction takes no slot */
    uint64_t wants[PIPES];                  /* warps by the pipe of their next instruction */
    uint64_t until[TYTO_MAX_WARPS];         /* of delayed warps */
    const ModernRow *head[TYTO_MAX_WARPS];  /* row of the next instruction */
    ModernWheel wheel;                      /* when delays end */
    bool has_issued;                        /* in this cycle */
    bool has_ready;        /* a warp could go but for its pipe, the policy or its turn */
    bool steps_always;     /* its policy hears of time */
    bool looks;            /* its policy looks at some warps alone */
    uint64_t allowed;      /* warps that the policy let issue the last time */
    uint64_t policy_cycle; /* up to which the policy knows that time passed */
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

/* ---- What is over ---- */

/* Delays and counters that end in this cycle. */
void modern_issue_take_due(ModernIssue *issue, SmContext *sm);
/* What the parts of the SM have told (sm/events.h). */
void modern_issue_hear(ModernIssue *issue, SmContext *sm);
/* An instruction has read its registers: the load/store unit has it. */
void modern_issue_read(ModernIssue *issue, SmContext *sm, uint16_t inst);

/* Whether modern_issue_take_due() may do anything. */
static inline bool modern_issue_is_due(const ModernIssue *issue, uint64_t cycle) {
    const uint64_t places = issue->wheel.occupied | issue->counters.occupied;
    return (places >> (cycle % WHEEL_CYCLES) & 1) || (issue->raised[0] | issue->raised[1]);
}

/* ---- A cycle ---- */

/* The sub-cores' turn. */
void modern_issue_step(ModernIssue *issue, SmContext *sm);
/* The next cycle after `now` in which a sub-core's slots have been taken, UINT64_MAX. */
uint64_t modern_issue_next(const ModernIssue *issue, uint64_t now);
/* Accounts `cycles` cycles in which nothing issued and nothing changed. */
void modern_issue_count(ModernIssue *issue, const SmContext *sm, uint64_t cycles);

/* ---- The warps' states (states.h) ---- */

/* Counts the cycle, after all sub-cores had their turn and warps were retired. */
void states_count(ModernIssue *issue, const SmContext *sm);
/* Counts `cycles` cycles in which nothing issued and nothing changed. */
void states_count_asleep(ModernIssue *issue, const SmContext *sm, uint64_t cycles);
/* Before anything changes of what warps wait for: counts the cycles in which nothing did. */
void states_count_pending(ModernIssue *issue, const SmContext *sm);
static inline void states_flush(ModernIssue *issue, const SmContext *sm) {
    if (issue->states.pending) states_count_pending(issue, sm);
}
/* Adds the sums to those of the SM, and clears them. */
void states_settle(ModernIssue *issue, const SmContext *sm, WarpStates *sum);

/* ---- What others see ---- */

/* Brings what a policy sees of full units up to date (TYTO_NEEDS_STALLS). */
void modern_issue_show_stalls(const ModernIssue *issue, SmContext *sm, const SmL1d *l1d,
                              const SmPort *port);
/* Why each resident warp waits. */
SmStallReasons modern_stall_reasons(const ModernIssue *issue, const SmContext *sm);

#endif
