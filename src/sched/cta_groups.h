/* Groups of whole CTAs, which the four policies of the OWL paper schedule: how groups are formed,
 * and which comes first.
 *
 * A group is a set of CTA slots, fixed for a kernel. It serves its CTAs in generations: first the
 * CTAs that it was filled with. When all of these have finished, it serves those that took their
 * slots in the meantime. At that point the group moves behind the other groups, as new work. The
 * paper only says "when all warps of group 1 have completed, the next group is chosen and always
 * prioritized".
 *
 * So groups are numbered by how long they have been served, separately on each SM. Each SM gives
 * the highest priority to a group with a number of its own (0 if all SMs start with their oldest
 * group). If groups were numbered by slots instead, SMs would differ only in the first wave of
 * CTAs. The dispatcher hands out later CTAs to all SMs at about the same time, consecutive CTAs to
 * neighbours, and "non-consecutive CTAs are always prioritized in different cores" (section 4.3)
 * would no longer hold. Source: OWL sections 4.1 to 4.3 and algorithm 1, whose i-th group is the
 * i-th scheduled on an SM. */
#ifndef TYTO_SCHED_CTA_GROUPS_H
#define TYTO_SCHED_CTA_GROUPS_H

#include "sched/view.h"
#include "tyto/policy.h"

typedef struct CtaGroup {
    uint64_t warps;   /* resident warps of its CTAs */
    uint32_t slots;   /* its CTA slots */
    uint32_t serving; /* slots whose CTA belongs to this generation */
    uint32_t coming;  /* slots whose CTA belongs to the next generation */
    bool is_full;     /* a CTA of this generation has finished, so new CTAs belong to the next
                         one */
} CtaGroup;

typedef struct CtaGroups {
    uint32_t count;                 /* number of groups */
    uint8_t of_slot[TYTO_MAX_CTAS]; /* group of each CTA slot */
    uint8_t by_age[TYTO_MAX_CTAS];  /* groups sorted by how long they have been served, longest
                                       first */
    uint8_t first;                  /* number of the group with the highest priority */
    CtaGroup group[TYTO_MAX_CTAS];
} CtaGroups;

/* Writes the sizes of the groups, in CTAs, to sizes[] and returns the number of groups. `ctas` CTAs
 * of `warps_per_cta` warps form groups of at least `least_warps` warps; the remaining CTAs join the
 * last group. */
uint32_t cta_groups_sizes(uint32_t ctas, uint32_t warps_per_cta, uint32_t least_warps,
                          uint32_t sizes[TYTO_MAX_CTAS]);

/* Forms the groups of a kernel. The priority of the group with number i is (i - first) mod groups;
 * 0 is the highest. */
void cta_groups_start(CtaGroups *groups, const TytoSmView *view, uint32_t least_warps,
                      uint32_t first);

/* Updates the groups after the launch or end of a CTA, or the end of a warp. */
void cta_groups_event(CtaGroups *groups, const TytoEvent *event);
enum {
    CTA_GROUPS_EVENTS = 1u << TYTO_EVENT_CTA_LAUNCHED | 1u << TYTO_EVENT_CTA_FINISHED |
                        1u << TYTO_EVENT_WARP_FINISHED
};

/* The group with this priority; 0 is the highest. */
static inline uint32_t cta_groups_at(const CtaGroups *groups, uint32_t priority) {
    return groups->by_age[(groups->first + priority) % groups->count];
}

/* Makes the group with the highest priority the youngest. If it was the oldest, the others follow
 * in a ring. */
void cta_groups_rotate(CtaGroups *groups);

static inline int cta_groups_of_warp(const CtaGroups *groups, const TytoSmView *view, int warp) {
    return groups->of_slot[tyto_warp(view, warp)->cta_slot];
}

/* The parameters that all four policies have, as rows of their tables. */
#define CTA_GROUPS_SIZE                                                                            \
    {"group_size",                                                                                 \
     TYTO_INTEGER,                                                                                 \
     8,                                                                                            \
     1,                                                                                            \
     TYTO_MAX_WARPS,                                                                               \
     NULL,                                                                                         \
     "least warps in a group",                                                                     \
     "OWL section 5.2; 5, the pipeline stages, in section 4.1"}
#define CTA_GROUPS_STALL                                                                           \
    {"stall",                                                                                      \
     TYTO_CHOICE,                                                                                  \
     0,                                                                                            \
     0,                                                                                            \
     1,                                                                                            \
     cta_groups_stalls,                                                                            \
     "what makes a group give way: all its warps wait for memory or a barrier, or for anything",   \
     "OWL algorithm 1: blocked because of unavailability of data"}
extern const char *const cta_groups_stalls[]; /* memory, any */

/* The scheduler's warps that keep their group's turn: those that may become ready soon, or, if
 * groups yield to `any` stall, only those that are ready now. */
static inline uint64_t cta_groups_going(const TytoSmView *view, int scheduler, uint64_t ready,
                                        bool yields_to_any) {
    uint64_t unblocked = sched_view_unblocked(view) & view->scheduler_warps[scheduler];
    return yields_to_any ? ready : ready | unblocked;
}

/* Report group_sizes and priorities, by group. */
void cta_groups_report_sizes(const CtaGroups *groups, const TytoReport *out);
void cta_groups_report_priorities(const CtaGroups *groups, const TytoReport *out);

/* The storage that the groups add to the hardware, for the policies' `storage` function. */
void cta_groups_storage(const double *values, const TytoMachineSizes *sizes,
                        const TytoStorage *out);

#endif
