/* Two-level scheduling with an active set, as its authors describe it: a scheduler issues from a
 * few active warps. An active warp becomes pending if its next instruction depends on a
 * long-latency operation (here: data from memory) or if it waits at a barrier. The warp that has
 * been pending longest and can continue takes its place, so that an active warp never waits long.
 * If there is no such warp, the place stays free. `two-level-active` is GPGPU-Sim's variant, which
 * takes the head of the queue whether it can continue or not.
 *
 * Left out: the register file cache of the same paper, which the small set makes cheap, because a
 * policy does not see registers. Its storage is counted. A slow operation other than a memory
 * access (the paper includes texture and SFU) does not end a warp's turn. Source: M. Gebhart et
 * al., "Energy-efficient Mechanisms for Managing Thread Context in Throughput Processors", ISCA
 * 2011. */
#include "sched/policies.h"

#include "base/bits.h"
#include "sched/greedy.h"
#include "sched/view.h"

enum { ACTIVE, ORDER };

static const TytoPolicyParameter PARAMETERS[] = {
    [ACTIVE] = {"active", TYTO_INTEGER, 8, 1, TYTO_MAX_WARPS, NULL, "active warps of a scheduler",
                "Gebhart et al. (ISCA 2011): 8 of an SM's 32 warps; its SM has one scheduler"},
    [ORDER] = {"order", TYTO_CHOICE, GREEDY_NEXT, 0, GREEDY_NEXT, greedy_orders,
               "order of the active warps, as in gto",
               "Gebhart et al. (ISCA 2011): in turn; the others are ours"},
};

typedef struct Gebhart {
    Greedy greedy;
    uint64_t active[TYTO_MAX_SCHEDULERS]; /* by scheduler: its active warps */
    uint64_t came[TYTO_MAX_WARPS];        /* by warp: order number of becoming pending; the lowest
                                             goes first */
    uint64_t next;                        /* next order number */
    bool is_full[TYTO_MAX_SCHEDULERS];    /* by scheduler: it has the maximum number of active
                                             warps */
    int size;                             /* most active warps per scheduler */
} Gebhart;

static void start(void *state, const TytoSmView *view, const double *values) {
    (void)view;
    Gebhart *s = state;
    greedy_start(&s->greedy, values[ORDER]);
    s->size = (int)values[ACTIVE];
}

/* Makes warps that must wait pending. */
static void leave(Gebhart *s, int scheduler, uint64_t waiting) {
    for (uint64_t rest = waiting; rest; rest &= rest - 1)
        s->came[tyto_lowest(rest)] = s->next++;
    s->active[scheduler] &= ~waiting;
}

static int pending_longest(const Gebhart *s, uint64_t set) {
    int first = tyto_lowest(set);
    for (uint64_t rest = set & (set - 1); rest; rest &= rest - 1)
        if (s->came[tyto_lowest(rest)] < s->came[first]) first = tyto_lowest(rest);
    return first;
}

/* Replaces waiting active warps by pending ones. A second call in the same cycle changes
 * nothing. */
static void exchange(Gebhart *s, const TytoSmView *view, int scheduler) {
    const uint64_t going = sched_view_unblocked(view) & view->scheduler_warps[scheduler];
    uint64_t *active = &s->active[scheduler];
    const uint64_t waiting = *active & ~going;
    uint64_t pending = going & ~*active;
    if (!waiting && (!pending || s->is_full[scheduler])) return;
    if (waiting) leave(s, scheduler, waiting);
    for (int room = s->size - bits_count64(*active); room > 0 && pending; room--) {
        const uint64_t warp = UINT64_C(1) << pending_longest(s, pending);
        *active |= warp;
        pending &= ~warp;
    }
    s->is_full[scheduler] = bits_count64(*active) == s->size;
}

static int pick(void *state, const TytoSmView *view, int scheduler, uint64_t ready) {
    Gebhart *s = state;
    exchange(s, view, scheduler);
    const uint64_t candidates = ready & s->active[scheduler];
    return candidates ? greedy_pick(&s->greedy, view, scheduler, candidates) : TYTO_NO_WARP;
}

static void event(void *state, const TytoSmView *view, const TytoEvent *event) {
    (void)view;
    Gebhart *s = state;
    if (event->kind == TYTO_EVENT_WARP_FINISHED) {
        greedy_finished(&s->greedy, event->warp);
        for (int i = 0; i < TYTO_MAX_SCHEDULERS; i++) {
            s->is_full[i] &= !tyto_has(s->active[i], event->warp);
            s->active[i] &= ~(UINT64_C(1) << event->warp);
        }
        return;
    }
    for (uint64_t rest = event->warps; rest; rest &= rest - 1)
        s->came[tyto_lowest(rest)] = s->next++;
}

static uint64_t looks_at(void *state, const TytoSmView *view) {
    const Gebhart *s = state;
    uint64_t active = 0;
    for (uint32_t i = 0; i < view->schedulers; i++)
        active |= s->active[i];
    return active;
}

static void storage(const double *values, const TytoMachineSizes *m, const TytoStorage *out) {
    const uint64_t active = (uint64_t)values[ACTIVE] * m->schedulers;
    out->bits(out->context, "numbers of the active warps", "ours: the paper gives energy",
              active * tyto_bits_for(m->warps), 0);
    out->bits(out->context, "register file cache, 6 registers of 32 lanes a warp (not simulated)",
              "Gebhart et al. (ISCA 2011)", active * 6 * 32 * 32, 0);
}

const TytoPolicy sched_gebhart = {
    TYTO_POLICY_HEAD,
    .name = "gebhart",
    .summary = "a small active set; a warp that waits for memory is replaced by a ready one",
    .parameters = PARAMETERS,
    .parameter_count = sizeof PARAMETERS / sizeof *PARAMETERS,
    .state_bytes = sizeof(Gebhart),
    .events = TYTO_WANTS(TYTO_EVENT_WARP_FINISHED) | TYTO_WANTS(TYTO_EVENT_CTA_LAUNCHED),
    .start = start,
    .pick = pick,
    .issued = greedy_policy_issued,
    .event = event,
    .looks_at = looks_at,
    .storage = storage,
};
