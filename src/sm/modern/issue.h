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
    uint64_t all_free_at;    /* in this cycle all do, or before */
    uint64_t issues_from;    /* the same for the Control stage */
    uint64_t paid_until;     /* cycle in which the slots of the last instruction end */
    ModernPorts ports;
    ModernConstants constants;
    uint8_t payer; /* warp that takes these slots */
    uint8_t seen;  /* SmSeen of the cycles since the last step */
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
    uint32_t issued;   /* sub-cores that took a slot in this cycle, one bit each */
    uint32_t paying;   /* those whose last instruction takes further slots from the next step on */
    bool has_ready;    /* a warp could issue but for its pipe, the policy or its turn */
    bool steps_always; /* its policy wants the time */
    bool looks;        /* its policy looks at only some warps */
    uint64_t allowed;  /* warps that the policy allowed to issue in the last turn */
    uint32_t subcores; /* 1, 2 or 4 */
    uint32_t all;      /* one bit for each sub-core */
    ModernSubcore subcore[SM_MAX_SUBCORES];
    uint64_t asleep[SM_OUTCOMES]; /* number of sub-cores by their outcome in each cycle in which
                                     the SM is not stepped */
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
/* The next cycle in which the slots of a sub-core's instruction end; UINT64_MAX: none. */
uint64_t modern_issue_next(const ModernIssue *issue);
/* Accounts for `cycles` cycles in which nothing issued and nothing changed. */
void modern_issue_count(ModernIssue *issue, const SmContext *sm, uint64_t cycles);

/* The sub-cores of these warps, one bit each: warp w is in sub-core w mod `subcores`. */
static inline uint32_t modern_subcores_of(const ModernIssue *issue, uint64_t warps) {
    warps |= warps >> 32;
    warps |= warps >> 16;
    warps |= warps >> 8;
    warps |= warps >> 4;
    if (__builtin_expect(issue->subcores < SM_MAX_SUBCORES, false)) {
        warps |= warps >> 2;
        if (issue->subcores == 1) warps |= warps >> 1;
    }
    return (uint32_t)warps & issue->all;
}
_Static_assert(SM_MAX_SUBCORES == 4, "the warps of four sub-cores are joined");
/* Warps that take further slots of their last instruction. */
static inline uint64_t modern_paying(const ModernIssue *issue) {
    uint64_t warps = 0;
    for (uint32_t rest = issue->paying; rest; rest &= rest - 1)
        warps |= UINT64_C(1) << issue->subcore[bits_lowest32(rest)].payer;
    return warps;
}
/* Warps that could issue if their pipe accepted their next instruction. */
static inline uint64_t modern_ready_warps(const ModernIssue *issue, const SmContext *sm) {
    return context_live(sm) & ~(issue->delayed | issue->blocked) &
           ~(sm->view.at_barrier | sm->warps.held);
}
/* Warps that have a next instruction, judged by their delays. */
static inline uint64_t modern_with_instruction(const ModernIssue *issue, const SmContext *sm) {
    return context_live(sm) & ~(issue->delay[DELAY_FETCH] | issue->delay[DELAY_BRANCH]);
}
/* Warps whose next instruction the sub-core cannot accept now. */
uint64_t modern_without_place(const ModernIssue *issue, const SmContext *sm, uint32_t subcore);

/* ---- Outcomes of the sub-cores' cycles (outcomes.c) ---- */

/* Counts a cycle of the sub-cores (one bit each), which issue nothing, by why. */
void modern_count_stalls(const ModernIssue *issue, const SmContext *sm, uint32_t subcores,
                         uint64_t counts[SM_OUTCOMES]);
/* Counts the cycle for a policy that looks at only some warps, and determines what such a policy
 * sees until something changes. */
void modern_count_seen(ModernIssue *issue, SmContext *sm);
/* Determines the outcomes of the cycles after this one, until something changes. */
void modern_foresee_outcomes(ModernIssue *issue, const SmContext *sm);

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
