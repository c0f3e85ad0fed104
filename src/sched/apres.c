/* APRES: groups warps by the load that they executed last, and moves whole groups in the issue
 * order. When a warp's load hits the L1D, the warps that had executed the same load before it are
 * likely to hit, too, and go first, one after another. When it misses, they go last, and their data
 * are prefetched if the load's addresses have a stride from warp to warp. Warps whose lines are
 * prefetched go first, so that they arrive soon.
 *
 * A warp that issues moves behind all others. A warp that its group has moved to the front stays
 * there until it has issued. Source: Y. Oh et al., "APRES: Improving Cache Efficiency by Exploiting
 * Load Characteristics on GPUs", ISCA 2016; the tables and moves follow a public implementation
 * (github.com/sopanpatra160/APRES_GPGPGUsim: laws.cc and sap.cc). The paper's text was not
 * available to us; the number of remembered strides is ours. */
#include "sched/policies.h"

#include "base/bits.h"

enum { GROUPS, STRIDES, PREFETCH };
enum { MOST_GROUPS = 16, MOST_STRIDES = 256 };

static const char *const SWITCHES[] = {"no", "yes", NULL};
static const TytoPolicyParameter PARAMETERS[] = {
    [GROUPS] = {"groups", TYTO_INTEGER, 3, 1, MOST_GROUPS, NULL,
                "groups that are remembered until their load has reached the L1D",
                "Oh et al. (ISCA 2016): a ring of 3"},
    [STRIDES] = {"strides", TYTO_INTEGER, 16, 1, MOST_STRIDES, NULL,
                 "loads whose stride is remembered", "ours"},
    [PREFETCH] = {"prefetch", TYTO_CHOICE, 1, 0, 1, SWITCHES,
                  "whether lines are prefetched, or warps only ordered", "Oh et al. (ISCA 2016)"},
};

/* Warps that had executed the same load when one of them issued another. */
typedef struct Group {
    uint64_t warps;
    uint32_t pc; /* pc of the new load plus 1; 0: none */
    int warp;    /* warp that issued it */
} Group;

typedef struct Stride {
    uint64_t address; /* byte address of the last miss */
    int64_t bytes;    /* bytes from warp to warp; 0: unknown */
    uint32_t pc;      /* pc of the load plus 1; 0: none */
    int warp;         /* warp of the last miss */
} Stride;

typedef struct Apres {
    uint32_t last_pc[TYTO_MAX_WARPS]; /* by warp: pc of its last load plus 1; 0: none */
    int64_t rank[TYTO_MAX_WARPS];     /* by warp: the lowest goes first */
    int64_t first, behind;            /* lowest and highest rank given so far */
    Group groups[MOST_GROUPS];        /* a ring */
    Stride strides[MOST_STRIDES];     /* by pc modulo the array's size */
    uint32_t group_count, next_group, stride_count;
    bool prefetches;
    uint64_t hits, misses, asked; /* loads of groups that hit or missed; prefetches requested */
} Apres;

static void start(void *state, const TytoSmView *view, const double *values) {
    (void)view;
    Apres *s = state;
    s->group_count = (uint32_t)values[GROUPS];
    s->stride_count = (uint32_t)values[STRIDES];
    s->prefetches = values[PREFETCH] != 0;
}

/* ---- The order ---- */

static void move_behind(Apres *s, uint64_t warps) {
    for (; warps; warps &= warps - 1)
        s->rank[tyto_lowest(warps)] = ++s->behind;
}

/* Moves these warps to the front. They keep their order: the lowest slot first. */
static void move_first(Apres *s, uint64_t warps) {
    for (uint64_t rest = warps; rest;) {
        const int highest = bits_highest64(rest);
        s->rank[highest] = --s->first;
        rest &= ~(UINT64_C(1) << highest);
    }
}

static int pick(void *state, const TytoSmView *view, int scheduler, uint64_t ready) {
    (void)view, (void)scheduler;
    const Apres *s = state;
    int first = tyto_lowest(ready);
    for (uint64_t rest = ready & (ready - 1); rest; rest &= rest - 1)
        if (s->rank[tyto_lowest(rest)] < s->rank[first]) first = tyto_lowest(rest);
    return first;
}

/* ---- Groups ---- */

static void begin_group(Apres *s, const TytoSmView *view, const TytoIssue *issue) {
    Group *group = &s->groups[s->next_group];
    const uint32_t before = s->last_pc[issue->warp];
    s->next_group = s->next_group + 1 == s->group_count ? 0 : s->next_group + 1;
    *group = (Group){.pc = issue->pc + 1, .warp = issue->warp};
    for (uint64_t rest = view->resident & ~view->exited; rest; rest &= rest - 1) {
        const int warp = tyto_lowest(rest);
        if (warp != issue->warp && s->last_pc[warp] == before) group->warps |= rest & -rest;
    }
    s->last_pc[issue->warp] = issue->pc + 1;
}

static void issued(void *state, const TytoSmView *view, const TytoIssue *issue) {
    Apres *s = state;
    move_behind(s, UINT64_C(1) << issue->warp);
    if (issue->is_load) begin_group(s, view, issue);
}

/* ---- Prefetch ---- */

/* Learns the load's stride from this miss. Returns it; 0: it differs from the previous one. */
static int64_t learn(Apres *s, const TytoEvent *event) {
    Stride *stride = &s->strides[event->pc % s->stride_count];
    const bool is_known = stride->pc == event->pc + 1;
    const int64_t warps = event->warp - stride->warp;
    const uint64_t address = event->address + event->offset;
    const int64_t bytes = (int64_t)(address - stride->address);
    const int64_t found = is_known && warps && bytes % warps == 0 ? bytes / warps : 0;
    const bool repeats = found && stride->bytes == found;
    *stride = (Stride){address, found, event->pc + 1, event->warp};
    return repeats ? found : 0;
}

static void prefetch(Apres *s, const TytoSmView *view, const TytoEvent *event, uint64_t warps,
                     int64_t stride) {
    const uint64_t address = event->address + event->offset;
    uint64_t coming = 0;
    for (uint64_t rest = warps; rest; rest &= rest - 1) {
        const int64_t distance = (tyto_lowest(rest) - event->warp) * stride;
        if (!tyto_prefetch(view, address + (uint64_t)distance, 0)) continue;
        coming |= rest & -rest;
        s->asked++;
    }
    move_first(s, coming);
}

static void looked_up(Apres *s, const TytoSmView *view, const TytoEvent *event, Group *group) {
    const uint64_t warps = group->warps & view->resident & ~view->exited;
    const int64_t stride =
        event->kind == TYTO_EVENT_L1D_MISS && s->prefetches ? learn(s, event) : 0;
    *group = (Group){0};
    if (event->kind == TYTO_EVENT_L1D_HIT) {
        s->hits++;
        move_first(s, warps);
        return;
    }
    s->misses++;
    move_behind(s, warps);
    if (stride) prefetch(s, view, event, warps, stride);
}

static void finish(Apres *s, int warp) {
    s->last_pc[warp] = 0;
    s->rank[warp] = ++s->behind; /* for the slot's next warp */
    for (uint32_t i = 0; i < s->group_count; i++)
        s->groups[i].warps &= ~(UINT64_C(1) << warp);
}

static void event(void *state, const TytoSmView *view, const TytoEvent *event) {
    Apres *s = state;
    if (event->kind == TYTO_EVENT_WARP_FINISHED) {
        finish(s, event->warp);
        return;
    }
    if (event->pc == TYTO_NO_PC) return;
    for (uint32_t i = 0; i < s->group_count; i++)
        if (s->groups[i].pc == event->pc + 1 && s->groups[i].warp == event->warp) {
            looked_up(s, view, event, &s->groups[i]); /* its first access */
            return;
        }
}

static void report(void *state, const TytoSmView *view, const TytoReport *out) {
    (void)view;
    const Apres *s = state;
    out->value(out->context, "group_hits", "loads", (double)s->hits);
    out->value(out->context, "group_misses", "loads", (double)s->misses);
    out->value(out->context, "prefetches_asked", "lines", (double)s->asked);
}

static void storage(const double *values, const TytoMachineSizes *m, const TytoStorage *out) {
    const uint64_t slot = tyto_bits_for(m->warps), groups = (uint64_t)values[GROUPS];
    out->bits(out->context, "pc of each warp's last load", "ours: 32 bits", m->warps * 32, 0);
    out->bits(out->context, "order of the warps", "ours", m->warps * slot, 0);
    out->bits(out->context, "groups: warps, a pc and a warp", "Oh et al. (ISCA 2016): bit vectors",
              groups * (m->warps + 32 + slot), 0);
    if (values[PREFETCH] != 0)
        out->bits(out->context, "strides: a pc, a warp, an address and a stride", "ours",
                  (uint64_t)values[STRIDES] * (32 + slot + 48 + 32), 0);
}

const TytoPolicy sched_apres = {
    TYTO_POLICY_HEAD,
    .name = "apres",
    .summary = "warps at one load go first if it hits, and last, with prefetch, if it misses",
    .parameters = PARAMETERS,
    .parameter_count = sizeof PARAMETERS / sizeof *PARAMETERS,
    .state_bytes = sizeof(Apres),
    .events = TYTO_WANTS(TYTO_EVENT_WARP_FINISHED) | TYTO_WANTS(TYTO_EVENT_L1D_HIT) |
              TYTO_WANTS(TYTO_EVENT_L1D_MISS),
    .needs = TYTO_NEEDS_PREFETCH,
    .start = start,
    .pick = pick,
    .issued = issued,
    .event = event,
    .report = report,
    .storage = storage,
};
