/* Two-level scheduling with a small active set: a few warp slots of each scheduler are active, the others
 * wait in a queue. A slot whose warp waits for memory, a barrier, or does not exist goes to the end of
 * the queue, and the head of the queue takes its place whether ready or not. Active warps take turns.
 *
 * Every slot of the scheduler takes part, unused ones too, so the set is smaller in effect when few
 * warps are resident.
 * Source: Gebhart et al. (ISCA 2011) in the form that GPGPU-Sim 4.2 calls two_level_active. */
#include "sched/policies.h"

#include <string.h>

#include "base/bits.h"
#include "sched/view.h"

enum { ACTIVE };

static const TytoPolicyParameter PARAMETERS[] = {
    [ACTIVE] = {"active", TYTO_INTEGER, 6, 1, TYTO_MAX_WARPS, NULL, "active warp slots per scheduler",
                "GPGPU-Sim 4.2, SM2_GTX480: two_level_active:6:0:1"},
};

/* A scheduler's slots: first the active ones in the order in which they are asked, then the queue. */
typedef struct Ranks {
    uint8_t slot[TYTO_MAX_WARPS]; /* by rank */
    uint8_t count;                /* slots of the scheduler */
    uint8_t active;               /* of those, the active ones */
    uint64_t all;                 /* the slots as a set */
    uint64_t set;                 /* the active ones as a set */
} Ranks;

/* While no slot that goes on is in the queue, an exchange only moves slots that cannot issue anyway; such
 * cycles are counted in `lag`, and made up for when something changes. */
typedef struct TwoLevelActive {
    Ranks ranks[4]; /* by scheduler */
    uint64_t going; /* warps that could keep their place when it was last looked */
    uint64_t lag;   /* cycles since then whose exchanges are still to be made */
    bool is_idle;   /* exchanges change nothing that can be seen while `going` stays */
} TwoLevelActive;

static uint64_t slots(const uint8_t *slot, int count) {
    uint64_t set = 0;
    for (int i = 0; i < count; i++) set |= UINT64_C(1) << slot[i];
    return set;
}

static void start(void *state, const TytoSmView *view, const double *values) {
    TwoLevelActive *s = state;
    for (uint32_t i = 0; i < view->schedulers; i++) {
        Ranks *r = &s->ranks[i];
        for (uint64_t rest = view->scheduler_warps[i]; rest; rest &= rest - 1)
            r->slot[r->count++] = (uint8_t)bits_lowest64(rest);
        r->active = values[ACTIVE] < r->count ? (uint8_t)values[ACTIVE] : r->count;
        r->all = view->scheduler_warps[i];
        r->set = slots(r->slot, r->active);
    }
}

/* One cycle's exchange: the active slots that do not go on join the queue, its head moves up. The slots
 * that go on keep their order ahead of the newcomers. */
static void exchange(Ranks *r, uint64_t going) {
    uint8_t leaving[TYTO_MAX_WARPS];
    int kept = 0, left = 0;
    for (int i = 0; i < r->active; i++) {
        if (tyto_has(going, r->slot[i])) r->slot[kept++] = r->slot[i];
        else leaving[left++] = r->slot[i];
    }
    size_t waiting = (size_t)(r->count - r->active);
    memmove(&r->slot[kept], &r->slot[r->active], waiting);
    memcpy(&r->slot[(size_t)kept + waiting], leaving, (size_t)left);
    r->set = slots(r->slot, r->active);
}

/* `cycles` exchanges of slots of which none that goes on is in the queue: those that do not go on
 * revolve, as many ranks a cycle as they have active places. */
static void revolve(Ranks *r, uint64_t going, uint64_t cycles) {
    exchange(r, going);
    size_t kept = (size_t)bits_count64(r->set & going), turning = r->count - kept;
    size_t by = (r->active - kept) * ((cycles - 1) % turning) % turning;
    uint8_t head[TYTO_MAX_WARPS];
    memcpy(head, &r->slot[kept], by);
    memmove(&r->slot[kept], &r->slot[kept + by], turning - by);
    memcpy(&r->slot[r->count - by], head, by);
    r->set = slots(r->slot, r->active);
}

/* `cycles` exchanges while nothing changes. */
static void exchange_many(Ranks *r, uint64_t going, uint64_t cycles) {
    for (; cycles && r->set & ~going && r->all & ~r->set & going; cycles--) exchange(r, going);
    if (cycles && r->set & ~going) revolve(r, going, cycles);
}

/* Makes up for the lag. */
static void catch_up(TwoLevelActive *s, uint32_t schedulers) {
    for (uint32_t i = 0; s->lag && i < schedulers; i++) exchange_many(&s->ranks[i], s->going, s->lag);
    s->lag = 0;
}

static void elapsed(void *state, const TytoSmView *view, uint64_t count) {
    TwoLevelActive *s = state;
    uint64_t going = sched_view_unblocked(view), all_along = going & s->going;
    if (going == s->going && s->is_idle) {
        s->lag += count;
        return;
    }
    catch_up(s, view->schedulers);
    s->going = going;
    s->is_idle = true;
    for (uint32_t i = 0; i < view->schedulers; i++) {
        Ranks *r = &s->ranks[i];
        exchange_many(r, all_along, count - 1); /* the cycles asleep */
        if (r->set & ~going) exchange(r, going);
        s->is_idle &= !(r->set & ~going && r->all & ~r->set & going);
    }
}

static int pick(void *state, const TytoSmView *view, int scheduler, uint64_t ready) {
    TwoLevelActive *s = state;
    if (ready & ~s->going) catch_up(s, view->schedulers); /* released in this cycle: is it active? */
    const Ranks *r = &s->ranks[scheduler];
    if (!(ready & r->set)) return TYTO_NO_WARP;
    int rank = 0;
    while (!tyto_has(ready, r->slot[rank])) rank++;
    return r->slot[rank];
}

/* The active order turns until the warp that issued is last. */
static void issued(void *state, const TytoSmView *view, const TytoIssue *issue) {
    TwoLevelActive *s = state;
    catch_up(s, view->schedulers);
    Ranks *r = &s->ranks[issue->scheduler];
    int rank = 0;
    while (r->slot[rank] != issue->warp) rank++;
    uint8_t turned[TYTO_MAX_WARPS];
    size_t behind = (size_t)(r->active - rank - 1);
    memcpy(turned, &r->slot[rank + 1], behind);
    memcpy(&turned[behind], r->slot, (size_t)rank + 1);
    memcpy(r->slot, turned, r->active);
}

/* A slot that could go on waits in the queue while another holds an active place in vain: the next cycle
 * may bring it in. */
static uint64_t next_change(void *state, const TytoSmView *view) {
    const TwoLevelActive *s = state;
    uint64_t going = sched_view_unblocked(view);
    for (uint32_t i = 0; i < view->schedulers; i++) {
        uint64_t waiting = view->scheduler_warps[i] & ~s->ranks[i].set;
        if (waiting & going && s->ranks[i].set & ~going) return 1;
    }
    return UINT64_MAX;
}

const TytoPolicy sched_two_level_active = {
    .version = TYTO_POLICY_VERSION,
    .name = "two-level-active",
    .summary = "a few active warps take turns; one that waits for memory goes to the end of a queue",
    .parameters = PARAMETERS,
    .parameter_count = sizeof PARAMETERS / sizeof *PARAMETERS,
    .state_bytes = sizeof(TwoLevelActive),
    .start = start,
    .pick = pick,
    .issued = issued,
    .elapsed = elapsed,
    .next_change = next_change,
};
