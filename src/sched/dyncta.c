/* DYNCTA: runs as many CTAs of an SM as keep it busy without overloading memory. It begins with
 * half of those that fit. In each period it counts the cycles in which there is nothing to execute
 * (C_idle) and those in which all running warps wait for memory (C_mem). Many idle cycles, or few
 * that wait for memory, add a CTA. Many cycles that wait for memory pause the CTA that came last.
 * Within the running CTAs, warps go greedy-then-oldest or in turn. Where schedulers pick only every
 * few cycles, a cycle without a turn counts as the cycle of the last turn.
 *
 * The paper limits what the dispatcher hands out; here CTAs beyond the limit wait on the SM
 * (sched/cta_throttle.h). Source: O. Kayiran, A. Jog, M. T. Kandemir and C. R. Das, "Neither More
 * Nor Less: Optimizing Thread-level Parallelism for GPGPUs", PACT 2013. The paper's text was not
 * available to us: its constants are quoted from other papers. */
#include "sched/policies.h"

#include "sched/cta_throttle.h"
#include "sched/greedy.h"
#include "sched/view.h"

enum { PERIOD, T_IDLE, T_MEM_LOW, T_MEM_HIGH, IDLE, ORDER };
enum { IDLE_EMPTY, IDLE_STALLED };

static const char *const IDLES[] = {"empty", "stalled", NULL};
#define SOURCE "Kayiran et al. (PACT 2013), as others quote it"
static const TytoPolicyParameter PARAMETERS[] = {
    [PERIOD] = {"period", TYTO_INTEGER, 2048, 1, 1000000000, NULL,
                "SM cycles between two decisions", SOURCE},
    [T_IDLE] = {"t_idle", TYTO_INTEGER, 16, 0, 1000000000, NULL,
                "idle cycles of a period at or above which a CTA is added", SOURCE},
    [T_MEM_LOW] = {"t_mem_l", TYTO_INTEGER, 128, 0, 1000000000, NULL,
                   "cycles of a period waiting for memory below which a CTA is added", SOURCE},
    [T_MEM_HIGH] = {"t_mem_h", TYTO_INTEGER, 384, 0, 1000000000, NULL,
                    "cycles of a period waiting for memory at or above which a CTA is paused",
                    SOURCE},
    [IDLE] = {"idle", TYTO_CHOICE, IDLE_EMPTY, 0, 1, IDLES,
              "an idle cycle: every running warp is at a barrier (empty), or none has issued "
              "though not all wait for memory (stalled)",
              "both readings of Kayiran et al. (PACT 2013)"},
    [ORDER] = {"order", TYTO_CHOICE, GREEDY_NEXT, 0, GREEDY_NEXT, greedy_orders,
               "order of the warps that may issue, as in gto",
               "Kayiran et al. (PACT 2013): round-robin"},
};

typedef enum Kind { KIND_BUSY, KIND_IDLE, KIND_MEMORY } Kind;

typedef struct Dyncta {
    Greedy greedy;
    CtaThrottle throttle;
    uint64_t period, t_idle, t_mem_low, t_mem_high; /* SM cycles */
    uint64_t left;                                  /* SM cycles to the next decision */
    uint64_t idle, memory;                          /* cycles of this period */
    uint64_t live, waiting;   /* as last seen: warps with threads left; those of them that wait for
                                 memory */
    uint64_t busy_until;      /* SM cycle of the schedulers' turn after the last issue */
    uint32_t most;            /* CTAs that fit */
    bool counts_stalled;      /* the parameter `idle` is stalled */
    uint64_t raised, lowered; /* decisions since the kernel's start */
} Dyncta;

static void start(void *state, const TytoSmView *view, const double *values) {
    Dyncta *s = state;
    greedy_start(&s->greedy, values[ORDER]);
    s->left = s->period = (uint64_t)values[PERIOD];
    s->t_idle = (uint64_t)values[T_IDLE];
    s->t_mem_low = (uint64_t)values[T_MEM_LOW];
    s->t_mem_high = (uint64_t)values[T_MEM_HIGH];
    s->counts_stalled = values[IDLE] == IDLE_STALLED;
    s->most = view->cta_limit;
    cta_throttle_set(&s->throttle, view, s->most / 2);
}

static void decide(Dyncta *s, const TytoSmView *view) {
    const uint32_t limit = s->throttle.limit;
    const bool wants_more = s->idle >= s->t_idle || s->memory < s->t_mem_low;
    s->left = s->period;
    if (wants_more && limit < s->most) {
        cta_throttle_set(&s->throttle, view, limit + 1);
        s->raised++;
    } else if (!wants_more && s->memory >= s->t_mem_high && limit > 1) {
        cta_throttle_set(&s->throttle, view, limit - 1);
        s->lowered++;
    }
    s->idle = s->memory = 0;
}

static void count(Dyncta *s, const TytoSmView *view, Kind kind, uint64_t cycles) {
    while (cycles) {
        const uint64_t part = cycles < s->left ? cycles : s->left;
        if (kind == KIND_IDLE) s->idle += part;
        if (kind == KIND_MEMORY) s->memory += part;
        cycles -= part;
        s->left -= part;
        if (!s->left) decide(s, view);
    }
}

static Kind kind_of(const Dyncta *s, uint64_t live, uint64_t waiting, bool has_issued) {
    const uint64_t running = live & s->throttle.warps;
    if (running & waiting && !(running & ~waiting)) return KIND_MEMORY;
    if (s->counts_stalled) return has_issued ? KIND_BUSY : KIND_IDLE;
    return running ? KIND_BUSY : KIND_IDLE;
}

/* How many of the elapsed cycles, from the first one on, belong to a turn with an issue. */
static uint64_t busy_cycles(const Dyncta *s, const TytoSmView *view, uint64_t cycles) {
    const uint64_t first = view->cycle - cycles;
    if (s->busy_until <= first) return 0;
    return s->busy_until < view->cycle ? s->busy_until - first : cycles;
}

/* Counts the `cycles` in which the SM slept. The first `all_busy` belong to a turn with an issue.
 */
static void count_sleep(Dyncta *s, const TytoSmView *view, uint64_t waiting, uint64_t cycles,
                        uint64_t all_busy) {
    const uint64_t busy = all_busy < cycles ? all_busy : cycles;
    count(s, view, kind_of(s, s->live, waiting, true), busy);
    count(s, view, kind_of(s, s->live, waiting, false), cycles - busy);
}

/* While the SM slept, the warps that wait now also waited, and so did those that waited before. */
static void elapsed(void *state, const TytoSmView *view, uint64_t cycles) {
    Dyncta *s = state;
    const uint64_t live = view->resident & ~view->exited & ~(view->at_barrier | view->at_mbarrier);
    const uint64_t waiting = view->waits_memory & live, all_busy = busy_cycles(s, view, cycles);
    if (view->ctas) {
        if (cycles > 1) count_sleep(s, view, s->waiting | waiting, cycles - 1, all_busy);
        count(s, view, kind_of(s, live, waiting, all_busy == cycles), 1);
    }
    s->live = live;
    s->waiting = waiting;
}

static uint64_t may_issue(void *state, const TytoSmView *view) {
    (void)view;
    const Dyncta *s = state;
    return s->throttle.warps;
}

static uint64_t next_change(void *state, const TytoSmView *view) {
    (void)view;
    const Dyncta *s = state;
    return s->throttle.paused ? s->left : UINT64_MAX;
}

static void issued(void *state, const TytoSmView *view, const TytoIssue *issue) {
    Dyncta *s = state;
    greedy_issued(&s->greedy, issue);
    s->busy_until = view->cycle + view->issue_interval;
}

static void event(void *state, const TytoSmView *view, const TytoEvent *event) {
    Dyncta *s = state;
    if (event->kind == TYTO_EVENT_WARP_FINISHED) greedy_finished(&s->greedy, event->warp);
    if (event->kind == TYTO_EVENT_CTA_LAUNCHED) s->live |= event->warps;
    cta_throttle_event(&s->throttle, view, event);
}

static void report(void *state, const TytoSmView *view, const TytoReport *out) {
    (void)view;
    const Dyncta *s = state;
    out->value(out->context, "cta_limit", "CTAs that may run", s->throttle.limit);
    out->value(out->context, "raised", "decisions", (double)s->raised);
    out->value(out->context, "lowered", "decisions", (double)s->lowered);
}

static void storage(const double *values, const TytoMachineSizes *m, const TytoStorage *out) {
    const uint64_t counter = tyto_bits_for((uint32_t)values[PERIOD] + 1);
    out->bits(out->context, "counters of idle and memory cycles", "ours: up to a period",
              2 * counter, 0);
    out->bits(out->context, "limit, and a bit for each CTA", "ours",
              m->ctas + tyto_bits_for(m->ctas + 1), 0);
}

const TytoPolicy sched_dyncta = {
    TYTO_POLICY_HEAD,
    .name = "dyncta",
    .summary = "runs fewer CTAs while all warps wait for memory, more while the SM is idle",
    .parameters = PARAMETERS,
    .parameter_count = sizeof PARAMETERS / sizeof *PARAMETERS,
    .state_bytes = sizeof(Dyncta),
    .events = CTA_THROTTLE_EVENTS | TYTO_WANTS(TYTO_EVENT_WARP_FINISHED),
    .start = start,
    .pick = greedy_policy_pick,
    .may_issue = may_issue,
    .issued = issued,
    .event = event,
    .elapsed = elapsed,
    .next_change = next_change,
    .report = report,
    .storage = storage,
};
