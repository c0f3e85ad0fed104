/* Two-level scheduling as a part of policies: a scheduler's warps are divided into fetch groups of
 * fixed size, in the order of their slots. One group runs until all its warps are stalled; then
 * another group gets its turn. `two-level` is nothing else; `ccws` can use it instead of its order.
 *
 * Groups are formed once, whether or not their warps are resident, and hold warps of one scheduler.
 * Source: CCWS section 5.1 (2LVL), OWL section 4.1 on the same scheme. */
#ifndef TYTO_SCHED_FETCH_GROUPS_H
#define TYTO_SCHED_FETCH_GROUPS_H

#include "base/bits.h"
#include "sched/view.h"

typedef struct FetchGroups {
    uint64_t group[TYTO_MAX_WARPS]; /* by warp: the warps of its group */
    /* By lowest warp of a group: its warp that issued last. TYTO_NO_WARP if there is none, or if
     * the group is greedy and that warp has finished. */
    int8_t last[TYTO_MAX_WARPS];
    uint8_t current[TYTO_MAX_SCHEDULERS]; /* by scheduler: a warp of the group whose turn it is */
    uint64_t firsts[TYTO_MAX_SCHEDULERS]; /* by scheduler: the lowest warp of each group, if the
                                             warps of a group are not adjacent; else empty */
    bool is_greedy_inside;                /* greedy-then-oldest within a group; else in turn */
    bool is_oldest_first;                 /* the group of the oldest warp gets the next turn; else
                                             in turn */
    bool yields_to_any; /* a group's turn ends when none of its warps can issue, for whatever
                           reason */
} FetchGroups;

static inline void fetch_groups_form(FetchGroups *groups, uint64_t warps, int size) {
    while (warps) {
        uint64_t group = 0;
        for (int i = 0; i < size && warps; i++, warps &= warps - 1)
            group |= warps & -warps;
        for (uint64_t rest = group; rest; rest &= rest - 1)
            groups->group[bits_lowest64(rest)] = group;
    }
}

/* Forms the fewest groups with at most `size` of the `used` warps each. Warps are dealt out in
 * turn, so that neighbours are in different groups. Warps that the kernel does not use are dealt
 * out in the same way. Returns the lowest warp of each group. */
static inline uint64_t fetch_groups_form_apart(FetchGroups *groups, uint64_t warps, uint64_t used,
                                               int size) {
    const int needed = (bits_count64(warps & used) + size - 1) / size, count = needed ? needed : 1;
    uint64_t sets[TYTO_MAX_WARPS] = {0};
    int i = 0;
    for (uint64_t rest = warps; rest; rest &= rest - 1, i = i + 1 == count ? 0 : i + 1)
        sets[i] |= rest & -rest;
    uint64_t firsts = 0;
    for (i = 0; i < count; firsts |= sets[i] & -sets[i], i++)
        for (uint64_t rest = sets[i]; rest; rest &= rest - 1)
            groups->group[bits_lowest64(rest)] = sets[i];
    return firsts;
}

/* The first warp of the next group with a warp in `going`, after the group that begins with
 * `first`. */
static inline int fetch_groups_next_apart(const FetchGroups *groups, uint64_t firsts, int first,
                                          uint64_t going) {
    do
        first = tyto_next(firsts, first);
    while (!(groups->group[first] & going));
    return first;
}

/* The caller sets the three flags. */
static inline void fetch_groups_start_how(FetchGroups *groups, const TytoSmView *view, int size,
                                          bool is_apart) {
    const uint32_t slots = view->cta_limit * view->warps_per_cta;
    const uint64_t used = bits_low_mask(slots < TYTO_MAX_WARPS ? (int)slots : TYTO_MAX_WARPS);
    for (int w = 0; w < TYTO_MAX_WARPS; w++)
        groups->last[w] = TYTO_NO_WARP;
    for (uint32_t i = 0; i < view->schedulers; i++) {
        if (is_apart)
            groups->firsts[i] =
                fetch_groups_form_apart(groups, view->scheduler_warps[i], used, size);
        else fetch_groups_form(groups, view->scheduler_warps[i], size);
        groups->current[i] = (uint8_t)tyto_lowest(view->scheduler_warps[i]);
    }
}

static inline void fetch_groups_start(FetchGroups *groups, const TytoSmView *view, int size) {
    fetch_groups_start_how(groups, view, size, false);
}

static inline void fetch_groups_start_apart(FetchGroups *groups, const TytoSmView *view, int size) {
    fetch_groups_start_how(groups, view, size, true);
}

/* The group whose turn it is: the current one while any of its warps can continue, else the
 * next. */
static inline uint64_t fetch_groups_turn(FetchGroups *groups, const TytoSmView *view, int scheduler,
                                         uint64_t ready, uint64_t held) {
    uint64_t going = ready, group = groups->group[groups->current[scheduler]];
    if (group & ready) return group;
    if (!groups->yields_to_any)
        going |= sched_view_unblocked(view) & view->scheduler_warps[scheduler] & ~held;
    if (group & going) return group;
    const uint64_t firsts = groups->firsts[scheduler];
    int next = groups->is_oldest_first ? tyto_oldest(view, going)
               : firsts ? fetch_groups_next_apart(groups, firsts, tyto_lowest(group), going)
                        : tyto_next(going, bits_highest64(group));
    groups->current[scheduler] = (uint8_t)next;
    return groups->group[next];
}

/* `held`: warps that the policy holds back; they count as stalled. */
static inline int fetch_groups_pick(FetchGroups *groups, const TytoSmView *view, int scheduler,
                                    uint64_t ready, uint64_t held) {
    uint64_t group = fetch_groups_turn(groups, view, scheduler, ready, held);
    uint64_t candidates = ready & group;
    if (!candidates) return TYTO_NO_WARP;
    int last = groups->last[tyto_lowest(group)];
    if (!groups->is_greedy_inside) return tyto_next(candidates, last);
    return last >= 0 && tyto_has(candidates, last) ? last : tyto_oldest(view, candidates);
}

/* A warp of a greedy group has finished; a new warp in its slot does not inherit its priority.
 * Otherwise the order of turns does not change. */
static inline void fetch_groups_finished(FetchGroups *groups, int warp) {
    int8_t *last = &groups->last[tyto_lowest(groups->group[warp])];
    if (groups->is_greedy_inside && *last == warp) *last = TYTO_NO_WARP;
}

static inline void fetch_groups_issued(FetchGroups *groups, const TytoIssue *issue) {
    groups->last[tyto_lowest(groups->group[issue->warp])] = (int8_t)issue->warp;
}

#endif
