/* Groups of whole CTAs, which the four policies of the OWL paper schedule: how they are formed, and
 * which of them comes first.
 *
 * A group is a set of CTA slots, fixed for a kernel. It serves its CTAs in generations: those it
 * was filled with, then, when all of these have finished, those that took their slots meanwhile.
 * With that it goes behind the other groups, as new work; the paper has only "when all warps of
 * group 1 have completed, the next group is chosen and always prioritized".
 *
 * So groups are numbered by how long they have been served, on each SM for itself, and an SM begins
 * with the one of a number of its own (0 where all SMs begin with their oldest). Were it a slot
 * instead, SMs would differ in the first wave of CTAs alone: what the dispatcher hands out next
 * goes to all of them at about the same time, consecutive CTAs to neighbours, and "non-consecutive
 * CTAs are always prioritized in different cores" (section 4.3) would hold no longer. Source: OWL
 * sections 4.1 to 4.3 and algorithm 1, whose i-th group is the i-th scheduled on an SM. */
#ifndef TYTO_SCHED_CTA_GROUPS_H
#define TYTO_SCHED_CTA_GROUPS_H

#include "sched/view.h"
#include "tyto/policy.h"

typedef struct CtaGroup {
    uint64_t warps;   /* resident warps of its CTAs */
    uint32_t slots;   /* its CTA slots */
    uint32_t serving; /* slots whose CTA belongs to this generation */
    uint32_t coming;  /* slots whose CTA belongs to the next */
    bool is_full;     /* a CTA of this generation has finished, so newcomers belong to the next */
} CtaGroup;

typedef struct CtaGroups {
    uint32_t count;                 /* groups */
    uint8_t of_slot[TYTO_MAX_CTAS]; /* by CTA slot: its group */
    uint8_t by_age[TYTO_MAX_CTAS];  /* by number, the one served longest first: group */
    uint8_t first;                  /* number of the group with the highest priority */
    CtaGroup group[TYTO_MAX_CTAS];
} CtaGroups;

/* Sizes of the groups, in CTAs, written to sizes[]; the result is how many there are. `ctas` CTAs
 * of `warps_per_cta` warps form groups of at least `least_warps` warps; what remains joins the
 * last. */
uint32_t cta_groups_sizes(uint32_t ctas, uint32_t warps_per_cta, uint32_t least_warps,
                          uint32_t sizes[TYTO_MAX_CTAS]);

/* Forms the groups of a kernel. The priority of the group with number i is (i - first) mod groups,
 * 0 the highest. */
void cta_groups_start(CtaGroups *groups, const TytoSmView *view, uint32_t least_warps,
                      uint32_t first);

/* Follows launches and ends of CTAs and ends of warps. */
void cta_groups_event(CtaGroups *groups, const TytoEvent *event);
enum {
    CTA_GROUPS_EVENTS = 1u << TYTO_EVENT_CTA_LAUNCHED | 1u << TYTO_EVENT_CTA_FINISHED |
                        1u << TYTO_EVENT_WARP_FINISHED
};

/* The group with a priority, 0 the highest. */
static inline uint32_t cta_groups_at(const CtaGroups *groups, uint32_t priority) {
    return groups->by_age[(groups->first + priority) % groups->count];
}

/* The group with the highest priority becomes the youngest: where that was the oldest, the others
 * follow in a ring. */
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

/* The scheduler's warps that keep their group from giving way: those that may become ready soon,
 * or, if groups give way to `any` stall, only those that are ready now. */
static inline uint64_t cta_groups_going(const TytoSmView *view, int scheduler, uint64_t ready,
                                        bool yields_to_any) {
    uint64_t unblocked = sched_view_unblocked(view) & view->scheduler_warps[scheduler];
    return yields_to_any ? ready : ready | unblocked;
}

/* Report group_sizes and priorities, both by group. */
void cta_groups_report_sizes(const CtaGroups *groups, const TytoReport *out);
void cta_groups_report_priorities(const CtaGroups *groups, const TytoReport *out);

/* What the groups add to the hardware: for the policies' `storage`. */
void cta_groups_storage(const double *values, const TytoMachineSizes *sizes,
                        const TytoStorage *out);

#endif
