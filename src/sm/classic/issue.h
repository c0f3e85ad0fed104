/* Issue: each scheduler asks the policy for one of its warps whose next instruction can go,
 * executes that instruction functionally and sends it to the operand collector. What can go is kept
 * in words of bits, one per warp slot, updated when an instruction or a register changes.
 *
 * The stage in which effect and time meet. It holds the scoreboard of its warps and what coalescing
 * must know; it takes from the fetch stage's buffers, puts into the collector, and says of its
 * warps what they issued (SmContext.warps). Of the view it writes what is said of next
 * instructions. */
#ifndef TYTO_SM_ISSUE_H
#define TYTO_SM_ISSUE_H

#include "sm/classic/collector.h"
#include "sm/classic/fetch.h"
#include "sm/execute.h"
#include "sm/issue_sums.h"
#include "sm/classic/scoreboard.h"

/* Instructions that took no slot and whose sources were still to come: their results come with
 * them. */
enum { SM_PASSING = 8 }; /* of a warp; one more waits */
typedef struct SmPassing {
    uint32_t count;
    uint32_t pc[SM_PASSING];
} SmPassing;

/* What a machine keeps that issues instructions of its own: one of the PTX takes none of its slots,
 * one, or several, which its warp takes one after the other. */
typedef struct SmSlots {
    uint64_t owing;               /* warps with slots to take of the instruction that issued last */
    uint64_t free;                /* warps whose next instruction takes none */
    uint64_t excused;             /* warps whose exit was part of the branch that led there */
    uint64_t waiting;             /* warps with something in `passing` */
    uint8_t owed[TYTO_MAX_WARPS]; /* slots */
    uint32_t pc[TYTO_MAX_WARPS];  /* of the instruction */
    SmPassing passing[TYTO_MAX_WARPS];
} SmSlots;

/* Written by issue.c alone. The fields that are used while nothing can issue come first, in one
 * line of the host's cache. */
typedef struct SmIssue {
    bool is_stalled;   /* the load/store unit stops the whole pipeline */
    bool has_turned;   /* that has changed since the schedulers last looked */
    bool has_news;     /* something changed since the schedulers last looked */
    bool has_issued;   /* a scheduler did the last time */
    bool knows_going;  /* `going` and `is_vacant` are true as long as there are no news */
    bool knows_behind; /* `behind` is true until the stage's next cycle */
    bool is_vacant;    /* no warp is resident */
    bool steps_always; /* its policy hears of time, or looks at some warps alone */
    bool is_plain;     /* nothing is needed that few machines and kernels need */
    bool looks;        /* the policy looks at some warps alone */
    uint8_t seen[SM_MAX_SCHEDULERS];    /* SmSeen of the last cycle, if it does */
    uint8_t outcome[SM_MAX_SCHEDULERS]; /* SmOutcome of the last pick */
    uint32_t schedulers;                /* as many as the machine has */
    uint64_t repeats; /* cycles with the outcomes of the last pick, not yet counted */
    uint64_t going;   /* live warps that wait for no memory; all bits where no warp is live */
    uint64_t behind;  /* warps that find the load/store unit full */
    SmIssueSums sums;
    uint64_t allowed;         /* warps that the policy let issue the last time */
    uint64_t may_load;        /* warps that it let issue loads then */
    uint64_t stale;           /* warps whose buffer holds instructions that are not the next ones */
    uint64_t clear;           /* next instruction is there, and its registers are free */
    uint64_t wants[SM_UNITS]; /* next instruction is there, and goes to this kind of pipeline */
    const SmOp *head[TYTO_MAX_WARPS]; /* its row, by slot; of warps with a next instruction */
    uint64_t policy_cycle;            /* cycle up to which the policy knows that time passed, if it
                                         wants to know */
    SmFetch *fetch;                   /* whose buffers it takes from */
    SmCollector *collector[SM_MAX_SCHEDULERS]; /* where each scheduler's instructions go */
    SmCollectors collectors;                   /* the same by sub-core */
    SmScoreboard scoreboard;                   /* scoreboard.c */
    SmExecute execute;                         /* execute.c */
    bool issues_own;                           /* machine instructions (sm.instructions) */
    SmSlots slots;
} SmIssue;

void issue_init(SmIssue *issue, const SmContext *sm, SmFetch *fetch,
                const SmCollectors *collectors);
void issue_free(SmIssue *issue);
/* No grid is there. */
void issue_start_kernel(SmIssue *issue, const SmContext *sm);
void issue_begin_grid(SmIssue *issue, const SmContext *sm, SmGrid *grid);
/* A grid has ended, and others have not. */
void issue_end_grid(SmIssue *issue, const SmContext *sm);
/* A warp has come, and starts at `pc`. */
void issue_start_warp(SmIssue *issue, SmContext *sm, int warp, uint32_t pc);
/* `is_stalled`: nothing can issue in this cycle, for what stays in the load/store unit. To be told
 * before the stage's step. */
static inline void issue_stall(SmIssue *issue, bool is_stalled) {
    issue->has_turned |= is_stalled != issue->is_stalled;
    issue->is_stalled = is_stalled;
    issue->knows_behind = false;
}

/* Without a division for powers of two, which a processor takes many cycles for. */
static inline uint32_t sm_remainder_of(uint64_t cycle, uint32_t divisor) {
    bool is_power = !(divisor & (divisor - 1));
    return (uint32_t)(is_power ? cycle & (divisor - 1) : cycle % divisor);
}

/* Warps whose next instruction could issue if its pipeline takes it. */
static inline uint64_t issue_ready(const SmIssue *issue, const SmContext *sm) {
    return (issue->clear | issue->slots.owing) & ~(sm->view.at_barrier | sm->warps.held);
}
/* Warps whose next instruction, if they have one, finds a place between issue and collector. */
uint64_t issue_with_place(const SmIssue *issue, const SmContext *sm);
/* A warp could issue, its buffer must be flushed, or the last outcomes need not stand: news mean
 * that an instruction issued, or something changed. */
static inline bool issue_has_work(const SmIssue *issue, const SmContext *sm) {
    if (issue->has_news | (issue->stale != 0)) return true;
    uint64_t ready = issue_ready(issue, sm);
    return ready && ready & issue_with_place(issue, sm);
}

/* Warps that the load/store unit keeps from issuing when they find no place. */
static inline uint64_t issue_waiting_for_lsu(const SmIssue *issue) {
    return issue->is_stalled ? UINT64_MAX : issue->wants[SM_UNIT_LDST];
}

/* Whether schedulers pick in this cycle; else their last outcomes stand. */
static inline bool issue_is_turn(const SmContext *sm) {
    const uint32_t interval = sm->config->scheduler.issue_interval;
    return interval == 1 || sm_remainder_of(sm->cycle, interval) == 0;
}
/* Whether they have reason to. Else nothing could issue the last time, and nothing has changed: the
 * outcomes stand, too. Warps that are ready and find no place are looked at again when the pipeline
 * stops or goes on, and always under a policy that lets only some issue, as it may have changed its
 * mind. */
static inline bool issue_has_reason(const SmIssue *issue, const SmContext *sm) {
    if (issue->has_news | (issue->stale != 0)) return true;
    uint64_t ready = issue_ready(issue, sm);
    return ready && (issue->has_turned | sm->policy.limits || ready & issue_with_place(issue, sm));
}
/* Whether the schedulers are going to look; else the last outcomes stand. */
static inline bool issue_will_look(const SmIssue *issue, const SmContext *sm) {
    return issue_is_turn(sm) && issue_has_reason(issue, sm);
}
/* Whether, with no work, it need not be stepped before something changes for it. */
static inline bool issue_may_rest(const SmIssue *issue, const SmContext *sm) {
    return !issue->steps_always &&
           !(issue_ready(issue, sm) && (issue->has_turned | sm->policy.limits));
}
/* The work of a cycle, where there is any. `will_look`: the schedulers are going to. */
__attribute__((noinline)) void issue_do_step(SmIssue *issue, SmContext *sm, bool will_look);
static inline void issue_step(SmIssue *issue, SmContext *sm) {
    const bool will_look = issue_will_look(issue, sm);
    if (will_look | issue->steps_always) issue_do_step(issue, sm, will_look);
}

/* ---- Wake-up ---- */

/* The next instruction of the warp changed, or it is held no longer. */
void issue_update_head(SmIssue *issue, SmContext *sm, int warp);
/* Hears all that the stages have posted, in the order of posting: registers are free, and warps go
 * on. */
void issue_hear(SmIssue *issue, SmContext *sm);
/* The same of warps that were fetched for: they have a next instruction. */
void issue_hear_fetched(SmIssue *issue, SmContext *sm);
/* These warps are held no longer. */
void issue_let_go(SmIssue *issue, SmContext *sm, uint64_t warps);
/* Something else changed that an outcome may rest on. */
static inline void issue_wake(SmIssue *issue) { issue->has_news = true; }

/* ---- Accounting ---- */

/* Why each resident warp waits. `has_looked`: the schedulers have looked last. Otherwise a warp may
 * have become ready since, and then has no reason to wait. */
SmStallReasons issue_stall_reasons(const SmIssue *issue, const SmContext *sm, bool has_looked);
/* Tells the profile, which there must be, of the warps that stand otherwise than before; to be
 * called when the schedulers have looked. */
void issue_note_stall_reasons(const SmIssue *issue, SmContext *sm);

/* Finds again which warps wait for memory, and which find the load/store unit full. */
void issue_find_going(SmIssue *issue, const SmContext *sm);
void issue_find_behind(SmIssue *issue, const SmContext *sm);

/* Accounts `cycles` with the last outcomes. `memory_refuses`: the oldest access of the L1D or of
 * the load/store unit is stuck. What an SM that has issued has turned into since shows in the
 * cycles to come.
 *
 * All warps are blocked by memory when none goes on without it, or when those that would find the
 * load/store unit full while the L1D can take no more for want of an MSHR, a way or a place in the
 * miss queue: their next load or store does, or whatever is next where the pipeline stops as a
 * whole. They wait for other warps' data. */
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
/* Adds what was summed up to the counters and to the histogram of active lanes. */
void issue_settle(SmIssue *issue, Counters *counters, Histograms *histograms);

#endif
