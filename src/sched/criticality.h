/* Prediction of critical warps, that is, warps that are expected to finish last: CAWA's prediction
 * as a part of policies.
 *
 * A warp's criticality is the number of instructions that it has more to go than others, times its
 * cycles per instruction so far, plus the cycles for which it has stalled. The number of
 * instructions is inferred from branches. A forward jump over n instructions subtracts n, a
 * backward jump adds the instructions of another iteration, and each executed instruction subtracts
 * one. Only differences between warps matter, so all warps start at 0. A warp's value is updated
 * when it issues. Source: S.-Y. Lee, A. Arunkumar and C.-J. Wu, "CAWA: Coordinated Warp Scheduling
 * and Cache Prioritization for Critical Warp Acceleration of GPGPU Workloads", ISCA 2015,
 * section 3. What jumps of whole warps add and subtract follows a public implementation
 * (github.com/ujansengupta/CAWA_gpgpusim).
 *
 * If lanes part at a forward jump, the warp executes both sides, and nothing is subtracted. Where
 * they have met again, the warp has as much to go as if they had come there together. A branch that
 * hands over to lanes of another side adds and subtracts nothing. This is our reading: the paper's
 * text was not available to us. A meeting that no branch reports counts from the next branch on. If
 * some of the lanes exit before it, it does not count.
 *
 * Instructions are those of the program, by pc, on both sides. On a machine that issues the slots
 * of its own instructions, instructions without a slot are found by the pc of the next one, and
 * further slots of an instruction count nothing. A few instructions without a slot are missed: at
 * calls, returns and changes to other lanes, which are not reported, and before late slots. */
#ifndef TYTO_SCHED_CRITICALITY_H
#define TYTO_SCHED_CRITICALITY_H

#include <assert.h>

#include "tyto/policy.h"

enum {
    CRITICALITY_EVENTS = 1u << TYTO_EVENT_CTA_LAUNCHED | 1u << TYTO_EVENT_BRANCH,
    CRITICALITY_SPLITS = 31,  /* nested ones of a warp: each is of fewer lanes, at least two */
    CRITICALITY_COUNTERS = 6, /* of a warp; its pcs and lanes are in its fetch unit */
    CRITICALITY_BITS = 32     /* per counter and split; our choice */
};
/* Lanes that have parted. */
typedef struct CriticalitySplit {
    uint32_t lanes; /* before the branch */
    int64_t sum;    /* the warp's instructions to go plus its pc, while they run together */
} CriticalitySplit;

typedef struct Criticality {
    int64_t instructions[TYTO_MAX_WARPS]; /* by warp: instructions to go, relative to its start */
    uint64_t executed[TYTO_MAX_WARPS];    /* instructions that it has executed */
    uint64_t by_lanes[TYTO_MAX_WARPS];    /* the same, summed over active lanes */
    uint32_t next[TYTO_MAX_WARPS];     /* pc at which it continues, if nothing else is reported */
    uint64_t stalled[TYTO_MAX_WARPS];  /* SM cycles between its issues, not counting the first of
                                          each interval */
    uint64_t launched[TYTO_MAX_WARPS]; /* SM cycle in which it arrived */
    uint64_t last[TYTO_MAX_WARPS];     /* SM cycle of its last issue */
    int64_t value[TYTO_MAX_WARPS];     /* criticality, SM cycles */
    uint8_t depth[TYTO_MAX_WARPS];     /* number of splits */
    CriticalitySplit splits[TYTO_MAX_WARPS][CRITICALITY_SPLITS];
} Criticality;

static inline void criticality_launch(Criticality *c, uint64_t cycle, uint64_t warps) {
    for (; warps; warps &= warps - 1) {
        const int warp = tyto_lowest(warps);
        c->instructions[warp] = c->value[warp] = 0;
        c->executed[warp] = c->by_lanes[warp] = c->stalled[warp] = 0;
        c->next[warp] = c->depth[warp] = 0;
        c->launched[warp] = c->last[warp] = cycle;
    }
}

/* Counts the instruction at `pc`, and those without a slot before it: as many as the pc has
 * advanced, but not more than the `others` that the lanes account for. (After a call, the pc is far
 * away.) */
static inline void criticality_executed(Criticality *c, int warp, uint32_t pc, uint64_t others) {
    const uint64_t gap = pc > c->next[warp] ? pc - c->next[warp] : 0;
    const uint64_t count = 1 + (gap < others ? gap : others);
    c->executed[warp] += count;
    c->instructions[warp] -= (int64_t)count;
    c->next[warp] = pc + 1;
}

/* The warp continues at `pc` with these lanes: ends the splits whose lanes are all among them. */
static inline void criticality_meet(Criticality *c, int warp, uint32_t lanes, uint32_t pc) {
    const CriticalitySplit *splits = c->splits[warp];
    uint8_t *depth = &c->depth[warp];
    while (*depth && !(splits[*depth - 1].lanes & ~lanes))
        c->instructions[warp] = splits[--*depth].sum - (int64_t)pc;
}

/* Lanes part at a branch. Splits of other lanes only are forgotten. */
static inline void criticality_part(Criticality *c, const TytoEvent *event) {
    const int warp = event->warp;
    CriticalitySplit *splits = c->splits[warp];
    uint8_t *depth = &c->depth[warp];
    while (*depth && event->lanes_before & ~splits[*depth - 1].lanes)
        --*depth;
    assert(*depth < CRITICALITY_SPLITS && "nested splits are of ever fewer lanes");
    splits[(*depth)++] = (CriticalitySplit){.lanes = event->lanes_before,
                                            .sum = c->instructions[warp] + (int64_t)event->pc + 1};
}

static inline void criticality_jump(Criticality *c, const TytoEvent *event) {
    const int64_t distance = (int64_t)event->target - (int64_t)event->pc;
    const bool parts = event->lanes_after != event->lanes_before;
    if (event->lanes_after & ~event->lanes_before) {
        criticality_meet(c, event->warp, event->lanes_after, event->target);
        return;
    }
    if (parts) criticality_part(c, event);
    if (distance <= 0 || !parts) c->instructions[event->warp] += 1 - distance;
}

/* The view does not include the branch yet. */
static inline void criticality_branch(Criticality *c, const TytoSmView *view,
                                      const TytoEvent *event) {
    const int warp = event->warp;
    const uint64_t by_lanes = tyto_warp(view, warp)->thread_instructions;
    const uint64_t lanes = (uint64_t)__builtin_popcount(event->lanes_before);
    if (event->target == TYTO_NO_PC || event->pc == TYTO_NO_PC) return;
    criticality_executed(c, warp, event->pc, lanes ? (by_lanes - c->by_lanes[warp]) / lanes : 0);
    criticality_meet(c, warp, event->lanes_before, event->pc + 1);
    criticality_jump(c, event);
    c->by_lanes[warp] = by_lanes + lanes;
    c->next[warp] = event->target;
}

static inline void criticality_event(Criticality *c, const TytoSmView *view,
                                     const TytoEvent *event) {
    if (event->kind == TYTO_EVENT_CTA_LAUNCHED) criticality_launch(c, view->cycle, event->warps);
    else if (event->kind == TYTO_EVENT_BRANCH) criticality_branch(c, view, event);
}

/* Counts an instruction that was issued, unless no lane has executed any since the last one: then
 * this is a further slot of it, or a branch, which its event has counted. A guard may hide active
 * lanes. */
static inline void criticality_count(Criticality *c, const TytoSmView *view,
                                     const TytoIssue *issue) {
    const int warp = issue->warp;
    const uint64_t by_lanes = tyto_warp(view, warp)->thread_instructions;
    const uint64_t lanes = issue->lanes ? (uint64_t)__builtin_popcount(issue->lanes) : 1;
    const uint64_t count = (by_lanes - c->by_lanes[warp]) / lanes;
    if (by_lanes == c->by_lanes[warp]) return;
    criticality_executed(c, warp, issue->pc, count ? count - 1 : 0);
    c->by_lanes[warp] = by_lanes;
}

static inline void criticality_issued(Criticality *c, const TytoSmView *view,
                                      const TytoIssue *issue) {
    const int warp = issue->warp;
    const uint64_t since = view->cycle - c->last[warp];
    const uint64_t lived = view->cycle - c->launched[warp];
    c->stalled[warp] += since ? since - 1 : 0;
    c->last[warp] = view->cycle;
    criticality_count(c, view, issue);
    c->value[warp] = c->instructions[warp] * (int64_t)lived /
                         (int64_t)(c->executed[warp] ? c->executed[warp] : 1) +
                     (int64_t)c->stalled[warp];
}

/* The most critical warp of `set`, which must not be empty; among equals, the oldest. */
static inline int criticality_first(const Criticality *c, const TytoSmView *view, uint64_t set) {
    int first = tyto_lowest(set);
    for (uint64_t rest = set & (set - 1); rest; rest &= rest - 1) {
        const int warp = tyto_lowest(rest);
        if (c->value[warp] > c->value[first] ||
            (c->value[warp] == c->value[first] && tyto_has(view->older[first], warp)))
            first = warp;
    }
    return first;
}

static inline void criticality_storage(const TytoMachineSizes *m, const TytoStorage *out) {
    const uint64_t bits = (uint64_t)m->warps * CRITICALITY_BITS;
    out->bits(
        out->context,
        "each warp: instructions to go and executed, stalls, first and last cycle, criticality",
        "ours: 32 bits each", bits * CRITICALITY_COUNTERS, 0);
    out->bits(out->context, "each warp: instructions to go at 31 nested splits",
              "ours: 32 bits each", bits * CRITICALITY_SPLITS, 0);
}

#endif
