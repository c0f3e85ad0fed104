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

/* A scheduler's slots. The slots that kept their active places in the last exchange are held; all
 * others form a ring. The slots of the ring before its head took the rest of the active places; the
 * slots from the head on wait. While the same slots are held, an exchange only moves the head.
 * Active slots are numbered in the order after the last exchange: first the held ones. */
typedef struct Ranks {
    uint8_t held[TYTO_MAX_WARPS]; /* the held slots, from `first` on, then from the beginning */
    uint8_t at[TYTO_MAX_WARPS];   /* of a held slot: its index in `held` */
    uint8_t ring[TYTO_MAX_WARPS];
    uint64_t before[TYTO_MAX_WARPS + 1]; /* the slots of the ring before an index as a set */
    uint64_t all;                        /* all slots as a set */
    uint32_t first;                      /* index of the first held slot */
    uint32_t kept;                       /* number of held slots */
    uint32_t places;                     /* number of active slots in the ring */
    uint32_t waiting;                    /* number of waiting slots */
    uint32_t head; /* index in the ring behind the last active slot: at most its size */
    uint32_t last; /* number of the slot that is asked last: the next one goes first */
} Ranks;

typedef struct TwoLevelActive {
    Ranks ranks[TYTO_MAX_SCHEDULERS]; /* by scheduler */
    uint64_t active;                  /* the active slots of all schedulers as a set */
    uint64_t held;                    /* those of them that are held */
    uint64_t exchanging; /* the slots of the schedulers that have waiting slots, as a set */
    uint64_t going;      /* warps that could keep their place as of the last exchange */
} TwoLevelActive;

static void hold(TwoLevelActive *s, Ranks *r, uint8_t slot) {
    r->at[slot] = (uint8_t)r->kept;
    r->held[r->kept++] = slot;
    s->held |= UINT64_C(1) << slot;
}

static void start(void *state, const TytoSmView *view, const double *values) {
    TwoLevelActive *s = state;
    for (uint32_t i = 0; i < view->schedulers; i++) {
        Ranks *r = &s->ranks[i];
        r->all = view->scheduler_warps[i];
        for (uint64_t rest = r->all; rest; rest &= rest - 1) {
            const uint8_t slot = (uint8_t)bits_lowest64(rest);
            if (r->kept < values[ACTIVE]) hold(s, r, slot);
            else r->ring[r->waiting++] = slot;
        }
        r->last = r->kept - 1;
        if (r->waiting) s->exchanging |= r->all;
    }
    s->active = s->held;
}

/* `index` of a ring of `size`, if it is at most one turn too large. */
static uint32_t wrapped(uint32_t index, uint32_t size) {
    return index < size ? index : index - size;
}

static uint32_t ring_size(const Ranks *r) { return r->places + r->waiting; }

/* Index in the ring of the first active slot. */
static uint32_t first_place(const Ranks *r) {
    return r->head >= r->places ? r->head - r->places : r->head + r->waiting;
}

static uint8_t active_slot(const Ranks *r, uint32_t number) {
    if (number < r->kept) return r->held[wrapped(r->first + number, r->kept)];
    return r->ring[wrapped(first_place(r) + number - r->kept, ring_size(r))];
}

/* The first slot of `set`, some active ones, in the order in which active slots are asked. */
static uint8_t first_asked(const Ranks *r, uint64_t set) {
    uint32_t number = r->last;
    uint8_t slot;
    do
        slot = active_slot(r, number = wrapped(number + 1, r->kept + r->places));
    while (!tyto_has(set, slot));
    return slot;
}

/* Makes the waiting slots the beginning of the ring, and appends the leaving ones. */
static void reorder_ring(Ranks *r, const uint8_t *leaving, uint32_t count) {
    const uint32_t behind = ring_size(r) - r->head;
    const uint32_t upper = behind < r->waiting ? behind : r->waiting;
    uint8_t ring[TYTO_MAX_WARPS];
    memcpy(ring, r->ring + r->head, upper);
    memcpy(ring + upper, r->ring, r->waiting - upper);
    memcpy(ring + r->waiting, leaving, count);
    for (uint32_t i = 0; i < r->waiting + count; i++) {
        r->ring[i] = ring[i];
        r->before[i + 1] = r->before[i] | UINT64_C(1) << ring[i];
    }
}

/* One cycle's exchange: active slots that cannot continue join the waiting ones at the end, and the
 * first of these move up. The slots that continue are held and keep their order. */
static void exchange(TwoLevelActive *s, Ranks *r, uint64_t going) {
    const uint32_t active = r->kept + r->places;
    uint8_t order[TYTO_MAX_WARPS], leaving[TYTO_MAX_WARPS];
    uint32_t count = 0;
    for (uint32_t i = 0, number = r->last; i < active; i++)
        order[i] = active_slot(r, number = wrapped(number + 1, active));
    r->first = r->kept = 0;
    s->held &= ~r->all;
    for (uint32_t i = 0; i < active; i++) {
        if (tyto_has(going, order[i])) hold(s, r, order[i]);
        else leaving[count++] = order[i];
    }
    reorder_ring(r, leaving, count);
    r->places = r->head = count;
    r->last = active - 1;
}

/* The same as `cycles` exchanges in which exactly the held slots continue. */
static void rotate(Ranks *r, uint32_t cycles) {
    const uint32_t size = ring_size(r), head = r->head + r->places * cycles;
    if (r->last < r->kept) r->first = wrapped(r->first + r->last + 1, r->kept);
    r->head = head <= size ? head : cycles == 1 ? head - size : (head - 1) % size + 1;
    r->last = r->kept + r->places - 1;
}

/* Whether an exchange rotates the ring: of `set`, exactly the held slots continue, and the others
 * leave in the order of the ring, because none of them was asked last. */
static bool rotates(const TwoLevelActive *s, const Ranks *r, uint64_t set, uint64_t going) {
    return (set & going) == (s->held & r->all) &&
           (r->last < r->kept || r->last + 1 == r->kept + r->places);
}

/* Updates the set of active slots: the held ones and a part of the ring. */
static void find_active(TwoLevelActive *s, const Ranks *r) {
    const uint64_t first = r->before[first_place(r)], head = r->before[r->head];
    const uint64_t up = r->head >= r->places ? head & ~first : r->all & ~s->held & ~(first & ~head);
    s->active = (s->active & ~r->all) | (s->held & r->all) | up;
}

/* Does one exchange. Active slots that can continue are held, whether others leave or not. */
static void exchange_once(TwoLevelActive *s, Ranks *r, uint64_t going) {
    const uint64_t active = s->active & r->all;
    if (active == (s->held & going & r->all)) return;
    if (rotates(s, r, active, going)) rotate(r, 1);
    else exchange(s, r, going);
    find_active(s, r);
}

/* Does `cycles` exchanges while nothing changes. If no slot of the ring can continue, the ring only
 * rotates. */
static void exchange_many(TwoLevelActive *s, Ranks *r, uint64_t going, uint64_t cycles) {
    for (; cycles && s->active & r->all & ~going; cycles--) {
        if (rotates(s, r, r->all, going)) {
            rotate(r, (uint32_t)(cycles % ring_size(r)));
            find_active(s, r);
            return;
        }
        exchange_once(s, r, going);
    }
}

static void elapsed(void *state, const TytoSmView *view, uint64_t count) {
    TwoLevelActive *s = state;
    const uint64_t going = sched_view_unblocked(view), all_along = going & s->going;
    s->going = going;
    if (s->active == (s->held & all_along)) return;
    for (uint32_t i = 0; i < view->schedulers; i++) {
        if (count > 1) exchange_many(s, &s->ranks[i], all_along, count - 1); /* sleeping cycles */
        exchange_once(s, &s->ranks[i], going);
    }
}

static int pick(void *state, const TytoSmView *view, int scheduler, uint64_t ready) {
    (void)view;
    const TwoLevelActive *s = state;
    const uint64_t asked = ready & s->active;
    if (!asked) return TYTO_NO_WARP;
    return asked & (asked - 1) ? first_asked(&s->ranks[scheduler], asked) : tyto_lowest(asked);
}

/* Makes the warp that issued the last one in the active order. */
static void issued(void *state, const TytoSmView *view, const TytoIssue *issue) {
    (void)view;
    TwoLevelActive *s = state;
    Ranks *r = &s->ranks[issue->scheduler];
    if (tyto_has(s->held, issue->warp)) {
        r->last = wrapped(r->at[issue->warp] + r->kept - r->first, r->kept);
        return;
    }
    for (uint32_t i = r->kept; i < r->kept + r->places; i++)
        if (active_slot(r, i) == issue->warp) r->last = i;
}

static uint64_t looks_at(void *state, const TytoSmView *view) {
    (void)view;
    const TwoLevelActive *s = state;
    return s->active;
}

/* If a waiting slot holds an active place while others wait, the next cycle brings in one of them,
 * which may be able to continue, or wait for something else. */
static uint64_t next_change(void *state, const TytoSmView *view) {
    const TwoLevelActive *s = state;
    const uint64_t leaving = s->active & ~sched_view_unblocked(view);
    return leaving & s->exchanging ? 1 : UINT64_MAX;
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
