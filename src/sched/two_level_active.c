/* Two-level scheduling with a small active set: a few warp slots of each scheduler are active, the
 * others wait in a queue. A slot that has no warp, or whose warp waits for memory or a barrier,
 * goes to the end of the queue. The head of the queue takes its place, whether it is ready or not.
 * Active warps take turns.
 *
 * Every slot of the scheduler takes part, including unused ones, so the set is effectively smaller
 * if few warps are resident. Source: Gebhart et al. (ISCA 2011) in the form that GPGPU-Sim 4.2
 * calls two_level_active. */
#include "sched/policies.h"

#include <string.h>

#include "base/bits.h"
#include "sched/view.h"

enum { ACTIVE };

static const TytoPolicyParameter PARAMETERS[] = {
    [ACTIVE] = {"active", TYTO_INTEGER, 6, 1, TYTO_MAX_WARPS, NULL,
                "active warp slots per scheduler",
                "GPGPU-Sim 4.2, SM2_GTX480: two_level_active:6:0:1"},
};

_Static_assert((TYTO_MAX_WARPS & (TYTO_MAX_WARPS - 1)) == 0, "indices of the queue wrap by a mask");

/* A scheduler's slots: the active ones and the queue, both as rings. To keep the work per issue
 * small, the ring of active slots is not rotated; `last` records where it begins and `at` where
 * each slot is. */
typedef struct Ranks {
    uint8_t order[TYTO_MAX_WARPS]; /* the active slots */
    uint8_t queue[TYTO_MAX_WARPS]; /* the waiting slots */
    uint8_t at[TYTO_MAX_WARPS];    /* of an active slot: its index in the ring */
    uint8_t active;                /* number of active slots */
    uint8_t last;    /* index of the slot that is asked last: the next one in the ring goes first */
    uint8_t waiting; /* number of waiting slots */
    uint32_t head;   /* index of the queue's head, modulo its size */
    uint64_t all;    /* all slots as a set */
    uint64_t set;    /* the active slots as a set */
} Ranks;

typedef struct TwoLevelActive {
    Ranks ranks[TYTO_MAX_SCHEDULERS]; /* by scheduler */
    uint64_t going; /* warps that could keep their place as of the last exchange */
} TwoLevelActive;

static void start(void *state, const TytoSmView *view, const double *values) {
    TwoLevelActive *s = state;
    for (uint32_t i = 0; i < view->schedulers; i++) {
        Ranks *r = &s->ranks[i];
        r->all = view->scheduler_warps[i];
        for (uint64_t rest = r->all; rest; rest &= rest - 1) {
            uint8_t slot = (uint8_t)bits_lowest64(rest);
            if (r->active < values[ACTIVE]) {
                r->last = r->at[slot] = r->active;
                r->order[r->active++] = slot;
                r->set |= UINT64_C(1) << slot;
            } else {
                r->queue[r->waiting++] = slot;
            }
        }
    }
}

/* The first slot of `set`, some active ones, in the order in which active slots are asked. */
static int first_asked(const Ranks *r, uint64_t set) {
    uint32_t at = r->last;
    do
        at = at + 1 == r->active ? 0 : at + 1;
    while (!tyto_has(set, r->order[at]));
    return r->order[at];
}

static uint8_t *queue_at(Ranks *r, uint32_t index) { return &r->queue[index % TYTO_MAX_WARPS]; }

/* Rotates the ring of active slots until the slot asked last is at the end. */
static void turn(Ranks *r) {
    uint8_t turned[TYTO_MAX_WARPS];
    uint32_t at = r->last;
    for (uint32_t i = 0; i < r->active; i++) {
        at = at + 1 == r->active ? 0 : at + 1;
        turned[i] = r->order[at];
    }
    memcpy(r->order, turned, r->active);
}

/* Fills the active places from `kept` on from the queue's head. */
static void move_up(Ranks *r, uint32_t kept) {
    for (; kept < r->active; kept++) {
        r->order[kept] = *queue_at(r, r->head++);
        r->at[r->order[kept]] = (uint8_t)kept;
        r->set |= UINT64_C(1) << r->order[kept];
    }
    r->last = (uint8_t)(r->active - 1);
}

/* One cycle's exchange: active slots that cannot continue join the queue, and its head moves up.
 * The slots that continue keep their order ahead of the new ones. Each slot is written to both
 * sides, and only one end moves past it; this avoids unpredictable branches. */
static void exchange(Ranks *r, uint64_t going) {
    if (r->last + 1 != r->active) turn(r);
    uint32_t kept = 0, tail = r->head + r->waiting;
    for (uint32_t i = 0; i < r->active; i++) {
        const uint8_t slot = r->order[i];
        const bool goes_on = tyto_has(going, slot);
        r->order[kept] = *queue_at(r, tail) = slot;
        r->at[slot] = (uint8_t)kept;
        kept += goes_on;
        tail += !goes_on;
    }
    r->set &= going;
    move_up(r, kept);
}

/* Does `cycles` exchanges if no slot in the queue can continue. The slots that cannot continue
 * rotate, in each cycle by as many ranks as they have active places. */
static void revolve(Ranks *r, uint64_t going, uint64_t cycles) {
    exchange(r, going);
    uint64_t keeping = r->set & going;
    uint32_t kept = (uint32_t)bits_count64(keeping), places = r->active - kept;
    uint32_t turning = places + r->waiting;
    uint32_t by = (uint32_t)(places * ((cycles - 1) % turning) % turning);
    if (!by) return;
    uint32_t tail = r->head + r->waiting;
    for (uint32_t i = kept; i < r->active; i++)
        *queue_at(r, tail++) = r->order[i]; /* rotates by `places` */
    uint32_t rest = by >= places ? by - places : by + turning - places;
    for (; rest; rest--)
        *queue_at(r, tail++) = *queue_at(r, r->head++);
    r->set = keeping;
    move_up(r, kept);
}

/* Does `cycles` exchanges while nothing changes. */
static void exchange_many(Ranks *r, uint64_t going, uint64_t cycles) {
    for (; cycles && r->set & ~going && r->all & ~r->set & going; cycles--)
        exchange(r, going);
    if (cycles && r->set & ~going) revolve(r, going, cycles);
}

static void elapsed(void *state, const TytoSmView *view, uint64_t count) {
    TwoLevelActive *s = state;
    uint64_t going = sched_view_unblocked(view), all_along = going & s->going;
    s->going = going;
    for (uint32_t i = 0; i < view->schedulers; i++) {
        Ranks *r = &s->ranks[i];
        if (!(r->set & ~all_along)) continue;
        exchange_many(r, all_along, count - 1); /* the sleeping cycles */
        exchange_many(r, going, 1);
    }
}

static int pick(void *state, const TytoSmView *view, int scheduler, uint64_t ready) {
    (void)view;
    const TwoLevelActive *s = state;
    const Ranks *r = &s->ranks[scheduler];
    uint64_t asked = ready & r->set;
    if (!asked) return TYTO_NO_WARP;
    return asked & (asked - 1) ? first_asked(r, asked) : tyto_lowest(asked);
}

/* Makes the warp that issued the last one in the active order. */
static void issued(void *state, const TytoSmView *view, const TytoIssue *issue) {
    (void)view;
    TwoLevelActive *s = state;
    Ranks *r = &s->ranks[issue->scheduler];
    r->last = r->at[issue->warp];
}

static uint64_t looks_at(void *state, const TytoSmView *view) {
    const TwoLevelActive *s = state;
    uint64_t active = 0;
    for (uint32_t i = 0; i < view->schedulers; i++)
        active |= s->ranks[i].set;
    return active;
}

/* If a waiting slot holds an active place while others are in the queue, the next cycle brings in
 * one of them, which may be able to continue, or wait for something else. */
static uint64_t next_change(void *state, const TytoSmView *view) {
    const TwoLevelActive *s = state;
    uint64_t going = sched_view_unblocked(view);
    for (uint32_t i = 0; i < view->schedulers; i++)
        if (s->ranks[i].waiting && s->ranks[i].set & ~going) return 1;
    return UINT64_MAX;
}

const TytoPolicy sched_two_level_active = {
    TYTO_POLICY_HEAD,
    .name = "two-level-active",
    .summary = "a few active warps take turns; a warp that waits for memory goes to a queue's end",
    .parameters = PARAMETERS,
    .parameter_count = sizeof PARAMETERS / sizeof *PARAMETERS,
    .state_bytes = sizeof(TwoLevelActive),
    .start = start,
    .pick = pick,
    .issued = issued,
    .elapsed = elapsed,
    .looks_at = looks_at,
    .next_change = next_change,
};
