/* Issue: each scheduler asks the policy for one of its warps whose next instruction can issue. It
 * executes that instruction functionally and sends it to the operand collector. Sets of bits, one
 * bit per warp slot, hold what can issue; they are updated when an instruction or a register
 * changes.
 *
 * This is the stage in which function and timing meet. It holds the scoreboard of its warps and the
 * state of coalescing. It takes instructions from the fetch stage's buffers, puts them into the
 * collector, and records what its warps issued (SmContext.warps). In the policies' view it writes
 * the fields about next instructions. */
#ifndef TYTO_SM_ISSUE_H
#define TYTO_SM_ISSUE_H

#include "sm/classic/collector.h"
#include "sm/classic/fetch.h"
#include "sm/execute.h"
#include "sm/issue_sums.h"
#include "sm/classic/scoreboard.h"

/* Instructions that took no slot and whose sources are still pending: their results become
 * available with their sources. */
enum { SM_PASSING = 8 }; /* per warp; a further one waits */
typedef struct SmPassing {
    uint32_t count;
    uint32_t pc[SM_PASSING];
} SmPassing;

/* State of a machine that issues its own instructions. A PTX instruction takes no slot, one, or
 * several of them; its warp takes several one after another. */
typedef struct SmSlots {
    uint64_t owing;               /* warps that must take further slots for their last
                                     instruction */
    uint64_t free;                /* warps whose next instruction takes no slot */
    uint64_t excused;             /* warps whose exit was part of the branch to it */
    uint64_t waiting;             /* warps with entries in `passing` */
    uint8_t owed[TYTO_MAX_WARPS]; /* slots still to take */
    uint32_t pc[TYTO_MAX_WARPS];  /* pc of that instruction */
    SmPassing passing[TYTO_MAX_WARPS];
} SmSlots;

/* Written only by issue.c. The fields that are used while nothing can issue come first, in one line
 * of the host's cache. */
typedef struct SmIssue {
    bool is_stalled;                 /* the load/store unit stops the whole pipeline */
    bool has_turned;                 /* `is_stalled` has changed since the schedulers last looked */
    bool has_news;                   /* something changed since the schedulers last looked */
    bool has_issued;                 /* a scheduler issued in the last turn */
    bool knows_going;                /* `going` and `is_vacant` are valid until there is news */
    bool knows_behind;               /* `behind` is valid until the stage's next cycle */
    bool is_vacant;                  /* no warp is resident */
    bool steps_always;               /* its policy wants the time, or looks at only some warps */
    bool is_plain;                   /* the machine and the kernels use no rare feature */
    bool looks;                      /* the policy looks at only some warps */
    uint8_t seen[SM_MAX_SCHEDULERS]; /* if `looks`: SmSeen of the last cycle */
    uint8_t outcome[SM_MAX_SCHEDULERS]; /* SmOutcome of the last pick */
    uint32_t schedulers;                /* number of schedulers */
    uint64_t repeats; /* cycles with the outcomes of the last pick that have not been counted */
    uint64_t going;   /* live warps that do not wait for memory; all ones: no live warps */
    uint64_t behind;  /* warps that cannot issue because the load/store unit is full */
    SmIssueSums sums;
    uint64_t allowed;         /* warps that the policy allowed to issue in the last turn */
    uint64_t may_load;        /* warps that it allowed to issue loads then */
    uint64_t stale;           /* warps whose buffer does not start with their next instruction */
    uint64_t clear;           /* warps whose next instruction is present and has free registers */
    uint64_t wants[SM_UNITS]; /* warps whose next instruction is present, by kind of its pipeline */
    const SmOp *head[TYTO_MAX_WARPS];          /* row of the next instruction, if there is one */
    SmFetch *fetch;                            /* provides the instruction buffers */
    SmCollector *collector[SM_MAX_SCHEDULERS]; /* collector of each scheduler */
    SmCollectors collectors;                   /* collectors by sub-core */
    SmScoreboard scoreboard;                   /* scoreboard.c */
    SmExecute execute;                         /* execute.c */
    bool issues_own;                           /* issues machine instructions (sm.instructions) */
    SmSlots slots;
} SmIssue;

void issue_init(SmIssue *issue, const SmContext *sm, SmFetch *fetch,
                const SmCollectors *collectors);
void issue_free(SmIssue *issue);
/* Resets the stage; there is no grid. */
void issue_start_kernel(SmIssue *issue, const SmContext *sm);
void issue_begin_grid(SmIssue *issue, const SmContext *sm, SmGrid *grid);
/* One grid has ended, and others have not. */
void issue_end_grid(SmIssue *issue, const SmContext *sm);
/* A warp starts at `pc`. */
void issue_start_warp(SmIssue *issue, SmContext *sm, int warp, uint32_t pc);
/* Sets whether nothing can issue in this cycle because of an instruction that stays in the
 * load/store unit. Must be called before the stage's step. */
static inline void issue_stall(SmIssue *issue, bool is_stalled) {
    issue->has_turned |= is_stalled != issue->is_stalled;
    issue->is_stalled = is_stalled;
    issue->knows_behind = false;
}

/* The remainder, without a division (slow on host processors) if the divisor is a power of two. */
static inline uint32_t sm_remainder_of(uint64_t cycle, uint32_t divisor) {
    bool is_power = !(divisor & (divisor - 1));
    return (uint32_t)(is_power ? cycle & (divisor - 1) : cycle % divisor);
}

/* Warps whose next instruction could issue if its pipeline accepts it. */
static inline uint64_t issue_ready(const SmIssue *issue, const SmContext *sm) {
    return (issue->clear | issue->slots.owing) & ~(sm->view.at_barrier | sm->warps.held);
}
/* Warps whose next instruction, if any, finds a place between issue and collector. */
uint64_t issue_with_place(const SmIssue *issue, const SmContext *sm);
/* Whether a warp could issue, a buffer must be flushed, or the last outcomes may have changed
 * (has_news: an instruction issued, or something else changed). */
static inline bool issue_has_work(const SmIssue *issue, const SmContext *sm) {
    if (issue->has_news | (issue->stale != 0)) return true;
    uint64_t ready = issue_ready(issue, sm);
    return ready && ready & issue_with_place(issue, sm);
}

/* Warps that wait because of the load/store unit if they find no place. */
static inline uint64_t issue_waiting_for_lsu(const SmIssue *issue) {
    return issue->is_stalled ? UINT64_MAX : issue->wants[SM_UNIT_LDST];
}

/* Whether schedulers pick in this cycle; otherwise their last outcomes continue. */
static inline bool issue_is_turn(const SmContext *sm) {
    const uint32_t interval = sm->config->scheduler.issue_interval;
    return interval == 1 || sm_remainder_of(sm->cycle, interval) == 0;
}
/* Whether the schedulers have a reason to pick. Without one, nothing could issue last time and
 * nothing has changed since, so the outcomes continue. Ready warps that find no place are checked
 * again when the pipeline stops or continues. If the policy allows only some warps, they are always
 * checked, because it may have changed its choice. */
static inline bool issue_has_reason(const SmIssue *issue, const SmContext *sm) {
    if (issue->has_news | (issue->stale != 0)) return true;
    uint64_t ready = issue_ready(issue, sm);
    return ready && (issue->has_turned | sm->policy.limits || ready & issue_with_place(issue, sm));
}
/* Whether the schedulers will pick; otherwise the last outcomes continue. */
static inline bool issue_will_look(const SmIssue *issue, const SmContext *sm) {
    return issue_is_turn(sm) && issue_has_reason(issue, sm);
}
/* Whether the stage, if it has no work, need not be stepped until something changes for it. */
static inline bool issue_may_rest(const SmIssue *issue, const SmContext *sm) {
    return !issue->steps_always &&
           !(issue_ready(issue, sm) && (issue->has_turned | sm->policy.limits));
}
/* The work of a cycle, if there is any. `will_look`: the schedulers pick. */
__attribute__((noinline)) void issue_do_step(SmIssue *issue, SmContext *sm, bool will_look);
static inline void issue_step(SmIssue *issue, SmContext *sm) {
    const bool will_look = issue_will_look(issue, sm);
    if (will_look | issue->steps_always) issue_do_step(issue, sm, will_look);
}

/* ---- Wake-up ---- */

/* Updates the warp's next instruction after it changed or the warp is no longer held. */
void issue_update_head(SmIssue *issue, SmContext *sm, int warp);
/* Handles all posted events in the order of posting: frees registers and lets warps continue. */
void issue_hear(SmIssue *issue, SmContext *sm);
/* Handles the warps that were fetched for: they now have a next instruction. */
void issue_hear_fetched(SmIssue *issue, SmContext *sm);
/* These warps are no longer held. */
void issue_let_go(SmIssue *issue, SmContext *sm, uint64_t warps);
/* Records that something else has changed that may affect an outcome. */
static inline void issue_wake(SmIssue *issue) { issue->has_news = true; }

/* ---- Accounting ---- */

/* Why each resident warp waits. `has_looked`: the schedulers have just looked. Otherwise a warp may
 * have become ready since, and then has no reason to wait. */
SmStallReasons issue_stall_reasons(const SmIssue *issue, const SmContext *sm, bool has_looked);
/* Reports the warps whose stall reason has changed to the profile, which must exist. Must be called
 * when the schedulers have looked. */
void issue_note_stall_reasons(const SmIssue *issue, SmContext *sm);

/* Recomputes which warps do not wait for memory, and which find the load/store unit full. */
void issue_find_going(SmIssue *issue, const SmContext *sm);
void issue_find_behind(SmIssue *issue, const SmContext *sm);

/* Accounts for `cycles` cycles with the last outcomes. `memory_refuses`: the oldest access of the
 * L1D or of the load/store unit is stuck. Changes of an SM that has issued count from the next
 * cycle on.
 *
 * All warps are blocked by memory in two cases. In the first, no warp continues without memory. In
 * the second, the L1D can accept no access, because an MSHR, a way or a place in the miss queue is
 * missing, and all other warps find the load/store unit full. The instruction that finds it full is
 * a load or store, or any instruction if the whole pipeline stops. These warps wait for other
 * warps' data. */
static inline void issue_count_cycles(SmIssue *issue, const SmContext *sm, uint64_t cycles,
                                      bool memory_refuses) {
    issue->repeats += cycles;
    if (issue->has_issued) return;
    if (issue->has_news | !issue->knows_going) issue_find_going(issue, sm);
    if (issue->is_vacant) {
        issue->sums.no_warp += cycles;
        return;
    }
    if (memory_refuses & !issue->knows_behind) issue_find_behind(issue, sm);
    const bool is_blocked =
        (issue->going == 0) | (memory_refuses & !(issue->going & ~issue->behind));
    issue->sums.memory_block += cycles & -(uint64_t)is_blocked;
}
/* Adds the sums to the counters and to the histogram of active lanes. */
void issue_settle(SmIssue *issue, Counters *counters, Histograms *histograms);

#endif
