/* Divergence-aware warp scheduling: predicts how many lines of the L1D each warp in a loop needs,
 * and lets only as many warps issue loads in loops as the L1D has lines for, the oldest first.
 *
 * A backward branch is a loop: the instructions from its target to the branch. A load in the loop
 * has locality if its own warp finds its lines again, by this load or another, or misses on them
 * after losing them. A load that only hits lines of other warps needs no lines itself. For a warp
 * in the loop, a load with locality needs the most lines that it has accessed at once, or, if these
 * are more than two, one per active lane. (Contiguous data that are not aligned are in two lines.)
 * Loads that hit each other's lines are a class, which needs lines only once: for example, fields
 * of a record, or the loads of an unrolled loop. The prediction changes when lanes leave the loop,
 * and ends when the warp leaves it. Victim tags are those of CCWS.
 *
 * A warp enters a loop at the loop's backward branch. It leaves the loop at the first branch after
 * which its next pc is outside. Then it is in the smallest known loop that contains this pc, or in
 * none. If none of the lanes that executed a branch continues after it, their path has ended. It is
 * not a backward branch then, even if other lanes of the warp continue at a lower pc.
 *
 * The lanes in a loop are those that continue after its backward branch. After an inner loop they
 * are those that continue and, if its branch is in the outer loop, those that executed it. Other
 * branches do not change them, because an event does not tell where the lanes go that do not
 * continue. So lanes that leave by a break count until the next backward branch. If the lanes that
 * leave continue first, the whole warp has left, until the others reach the backward branch. Calls
 * and returns in machine code are branches too: those to a lower pc look like loops.
 *
 * The paper learns from a sampled warp before others reach the loop; here every warp contributes.
 * The paper's classes come from the program's text; here they come from hits. Loads of the loop
 * that have never executed need no lines. An entry of the tables holds one load or loop. A load
 * that is replaced needs no lines any more, and warps in a loop that is replaced are in none until
 * their next backward branch. A program whose warps wait for each other by means other than
 * barriers may not end, because a warp that is held back makes no progress.
 *
 * Source: T. G. Rogers, M. O'Connor and T. M. Aamodt, "Divergence-Aware Warp Scheduling", MICRO
 * 2013. The paper's text was not available to us: its constants are quoted from other papers; the
 * sizes of the tables are ours. */
#include "sched/policies.h"

#include "base/bits.h"
#include "cache/victim_tags.h"
#include "sched/greedy.h"
#include "sched/view.h"

enum { SHARE, ORDER };
enum { LOADS = 64, LOOPS = 16, VTA_SETS = 2, VTA_WAYS = 8, NO_LOOP = -1, DIVERGENT = 3 };

static const TytoPolicyParameter PARAMETERS[] = {
    [SHARE] = {"share", TYTO_REAL, 0.6, 0.01, 1, NULL,
               "share of the L1D's lines that the warps in loops may need together",
               "Rogers et al. (MICRO 2013), as others quote it: k = 0.6"},
    [ORDER] = {"order", TYTO_CHOICE, GREEDY_THEN_OLDEST, 0, GREEDY_NEXT, greedy_orders,
               "order of the warps that may issue, as in gto",
               "Rogers et al. (MICRO 2013): greedy-then-oldest"},
};

typedef struct Load {
    uint32_t pc;   /* pc plus 1; 0: none */
    uint8_t lines; /* most lines accessed at once; DIVERGENT: more than two */
} Load;

typedef struct Loop {
    uint32_t first, last; /* pcs of the branch's target and of the branch, plus 1; 0: none */
} Loop;

typedef struct Daws {
    Greedy greedy;
    VictimTags victims;
    uint32_t lines;                   /* most lines that may be needed at the same time */
    Load loads[LOADS];                /* by pc modulo the array's size */
    uint8_t class_of[LOADS];          /* by load: the number of its class */
    uint64_t local;                   /* loads with locality, one bit each */
    Loop loops[LOOPS];                /* by pc of the branch modulo the array's size */
    int8_t loop[TYTO_MAX_WARPS];      /* by warp: its loop; NO_LOOP */
    uint8_t lanes[TYTO_MAX_WARPS];    /* by warp: active lanes in it */
    uint64_t line[TYTO_MAX_WARPS];    /* by warp: address of the line of its last access */
    uint32_t made_by[TYTO_MAX_WARPS]; /* by warp: pc of that access plus 1; 0: a load has issued */
    uint8_t at_once[TYTO_MAX_WARPS];  /* by warp: lines that this load has accessed so far */
    uint32_t needed[TYTO_MAX_WARPS];  /* by warp: predicted lines */
    uint64_t allowed;                 /* warps that may load */
    uint64_t active;                  /* active warps for which `allowed` holds; 0: recompute it */
    uint64_t held;                    /* decisions that held warps back */
} Daws;

static size_t extra_bytes(const TytoSmView *view, const double *values) {
    (void)values;
    return victim_tags_bytes(view->warp_count, VTA_SETS, VTA_WAYS);
}

static void start(void *state, const TytoSmView *view, const double *values) {
    Daws *s = state;
    greedy_start(&s->greedy, values[ORDER]);
    s->lines = (uint32_t)(values[SHARE] * view->l1d_lines);
    for (int w = 0; w < TYTO_MAX_WARPS; w++)
        s->loop[w] = NO_LOOP;
    for (int i = 0; i < LOADS; i++)
        s->class_of[i] = (uint8_t)i;
    victim_tags_place(&s->victims, view->warp_count, VTA_SETS, VTA_WAYS, (uint32_t)view->line_bytes,
                      REPLACE_FIFO, (char *)state + bits_align_up(sizeof *s, 64));
}

/* ---- Predictions ---- */

static uint32_t lines_of(const Daws *s, int warp) {
    if (s->loop[warp] == NO_LOOP) return 0;
    const Loop *loop = &s->loops[s->loop[warp]];
    uint8_t needs[LOADS] = {0}; /* lines by class */
    uint32_t lines = 0;
    for (uint64_t rest = s->local; rest; rest &= rest - 1) {
        const int i = bits_lowest64(rest);
        const Load *load = &s->loads[i];
        if (load->pc < loop->first || load->pc > loop->last) continue;
        const uint8_t need = load->lines == DIVERGENT ? s->lanes[warp] : load->lines;
        uint8_t *class_needs = &needs[s->class_of[i]];
        if (need <= *class_needs) continue;
        lines += need - *class_needs;
        *class_needs = need;
    }
    return lines;
}

static void predict(Daws *s, int warp) {
    const uint32_t lines = lines_of(s, warp);
    if (lines != s->needed[warp]) s->active = 0;
    s->needed[warp] = lines;
}

static void predict_all(Daws *s, const TytoSmView *view) {
    for (uint64_t rest = view->resident; rest; rest &= rest - 1)
        predict(s, tyto_lowest(rest));
}

static uint64_t active_warps(const TytoSmView *view) { return view->resident & ~view->exited; }

/* Allows the oldest warps whose lines fit together, and all warps that need none; at least the
 * oldest. A warp that its CTA waits for at a barrier may always load. */
static void decide(Daws *s, const TytoSmView *view) {
    uint64_t rest = active_warps(view);
    uint32_t sum = 0;
    s->active = rest;
    s->allowed = 0;
    while (rest) {
        const int warp = tyto_oldest(view, rest);
        const uint32_t lines = s->needed[warp];
        rest &= ~(UINT64_C(1) << warp);
        if (lines && sum && sum + lines > s->lines) continue;
        s->allowed |= UINT64_C(1) << warp;
        sum += lines;
    }
    s->allowed |= s->active & sched_view_awaited(view);
    s->held += s->allowed != s->active;
}

static uint64_t may_load(void *state, const TytoSmView *view) {
    Daws *s = state;
    if (s->active != active_warps(view)) decide(s, view);
    return s->allowed;
}

/* A changed prediction takes effect in the next cycle. */
static uint64_t next_change(void *state, const TytoSmView *view) {
    const Daws *s = state;
    return s->active != active_warps(view) ? 1 : UINT64_MAX;
}

/* ---- Learning ---- */

_Static_assert(LOADS == 64, "the loads with locality are a word");

/* A class number that no load has except, perhaps, load `i`. */
static uint8_t free_class(const Daws *s, int i) {
    uint64_t used = 0;
    for (int other = 0; other < LOADS; other++)
        if (other != i) used |= UINT64_C(1) << s->class_of[other];
    return (uint8_t)bits_lowest64(~used);
}

static Load *find_load(Daws *s, const TytoSmView *view, uint32_t pc) {
    Load *load = &s->loads[pc % LOADS];
    const uint64_t bit = UINT64_C(1) << pc % LOADS;
    if (load->pc == pc + 1) return load;
    *load = (Load){.pc = pc + 1, .lines = 1};
    s->class_of[pc % LOADS] = free_class(s, (int)(pc % LOADS));
    if (s->local & bit) {
        s->local &= ~bit;
        predict_all(s, view);
    }
    return load;
}

/* Handles an access of a load, which may turn out to be divergent. Loads of a warp reach the L1D in
 * order, and a load is rarely repeated before its data have arrived. The address of an access is
 * that of its line, also if the L1D has sectors. */
static void access(Daws *s, const TytoSmView *view, const TytoEvent *event) {
    const int warp = event->warp;
    if (event->pc == TYTO_NO_PC) return;
    Load *load = find_load(s, view, event->pc);
    const bool is_first = s->made_by[warp] != load->pc;
    if (is_first) s->at_once[warp] = 0;
    const bool is_another = is_first || s->line[warp] != event->address;
    if (is_another && s->at_once[warp] < DIVERGENT) s->at_once[warp]++;
    s->made_by[warp] = load->pc;
    s->line[warp] = event->address;
    if (s->at_once[warp] <= load->lines) return;
    load->lines = s->at_once[warp];
    if (s->local >> event->pc % LOADS & 1) predict_all(s, view);
}

/* Records that the warp has hit, or lost, a line that the load at `pc` had brought in: lines of
 * that load are reused, by this or another load. */
static void note_locality(Daws *s, const TytoSmView *view, uint32_t pc) {
    if (pc == TYTO_NO_PC) return;
    find_load(s, view, pc);
    if (s->local >> pc % LOADS & 1) return;
    s->local |= UINT64_C(1) << pc % LOADS;
    predict_all(s, view);
}

/* Joins the classes of two loads: one has hit a line that the other had brought in. */
static void join(Daws *s, const TytoSmView *view, uint32_t pc, uint32_t other) {
    if (pc == TYTO_NO_PC || other == TYTO_NO_PC) return;
    find_load(s, view, pc);
    find_load(s, view, other);
    const uint8_t kept = s->class_of[pc % LOADS], joined = s->class_of[other % LOADS];
    if (kept == joined) return;
    for (int i = 0; i < LOADS; i++)
        if (s->class_of[i] == joined) s->class_of[i] = kept;
    predict_all(s, view);
}

/* ---- Loops ---- */

static bool contains(const Loop *loop, uint32_t pc) {
    return pc + 1 >= loop->first && pc + 1 <= loop->last;
}

static bool is_smaller(const Loop *a, const Loop *b) {
    return a->last - a->first < b->last - b->first;
}

/* Returns the smallest known loop that contains the instruction at `pc`, or NO_LOOP. */
static int innermost(const Daws *s, uint32_t pc) {
    int found = NO_LOOP;
    for (int i = 0; i < LOOPS; i++) {
        if (!contains(&s->loops[i], pc)) continue;
        if (found == NO_LOOP || is_smaller(&s->loops[i], &s->loops[found])) found = i;
    }
    return found;
}

/* Remembers the loop of a backward branch and returns its entry. Warps that are in another loop of
 * this entry are in no known loop from now on. */
static int learn_loop(Daws *s, const TytoSmView *view, const TytoEvent *event) {
    const int at = (int)(event->pc % LOOPS);
    const Loop old = s->loops[at], loop = {event->target + 1, event->pc + 1};
    if (old.first == loop.first && old.last == loop.last) return at;
    s->loops[at] = loop;
    for (int w = 0; w < TYTO_MAX_WARPS && old.last != loop.last; w++)
        if (s->loop[w] == at) s->loop[w] = NO_LOOP;
    predict_all(s, view);
    return at;
}

/* Whether lanes that executed the branch continue at its own pc or a lower one. They may have met
 * other lanes there. */
static bool goes_back(const TytoEvent *event) {
    return event->target <= event->pc && event->lanes_after & event->lanes_before;
}

static bool leaves(const Daws *s, const TytoEvent *event) {
    const int loop = s->loop[event->warp];
    return loop != NO_LOOP && !contains(&s->loops[loop], event->target);
}

static void enter(Daws *s, int warp, int loop, uint32_t lanes) {
    s->loop[warp] = (int8_t)loop;
    s->lanes[warp] = (uint8_t)bits_count32(lanes);
    predict(s, warp);
}

static void leave(Daws *s, const TytoEvent *event) {
    const int outer = innermost(s, event->target);
    const bool was_inside = outer != NO_LOOP && contains(&s->loops[outer], event->pc);
    enter(s, event->warp, outer, event->lanes_after | (was_inside ? event->lanes_before : 0));
}

static void branch(Daws *s, const TytoSmView *view, const TytoEvent *event) {
    if (event->pc == TYTO_NO_PC || event->target == TYTO_NO_PC) return;
    if (goes_back(event)) enter(s, event->warp, learn_loop(s, view, event), event->lanes_after);
    else if (leaves(s, event)) leave(s, event);
}

static void issued(void *state, const TytoSmView *view, const TytoIssue *issue) {
    (void)view;
    Daws *s = state;
    greedy_issued(&s->greedy, issue);
    if (issue->is_load) s->made_by[issue->warp] = 0;
}

static void finish(Daws *s, int warp) {
    greedy_finished(&s->greedy, warp);
    s->loop[warp] = NO_LOOP;
    s->needed[warp] = 0;
    s->active = 0;
}

static void event(void *state, const TytoSmView *view, const TytoEvent *event) {
    Daws *s = state;
    const uint32_t warp = (uint32_t)event->warp;
    switch (event->kind) {
    case TYTO_EVENT_BRANCH: branch(s, view, event); return;
    case TYTO_EVENT_L1D_HIT:
        access(s, view, event);
        if (event->owner != event->warp) return;
        note_locality(s, view, event->owner_pc);
        join(s, view, event->owner_pc, event->pc);
        return;
    case TYTO_EVENT_L1D_MISS:
        access(s, view, event);
        if (victim_tags_probe(&s->victims, warp, event->address)) note_locality(s, view, event->pc);
        return;
    case TYTO_EVENT_L1D_EVICTED:
        if (event->owner != TYTO_NO_WARP)
            victim_tags_insert(&s->victims, (uint32_t)event->owner, event->address);
        return;
    case TYTO_EVENT_L1D_STORED: victim_tags_remove(&s->victims, event->address); return;
    case TYTO_EVENT_WARP_FINISHED: finish(s, event->warp); return;
    default: s->active = 0; return; /* barrier events */
    }
}

static void report(void *state, const TytoSmView *view, const TytoReport *out) {
    const Daws *s = state;
    double needed[TYTO_MAX_WARPS];
    for (uint32_t w = 0; w < view->warp_count; w++)
        needed[w] = s->needed[w];
    out->value(out->context, "lines", "that warps in loops may need", s->lines);
    out->value(out->context, "held", "decisions that hold warps back", (double)s->held);
    out->list(out->context, "needed", "lines, by warp slot", needed, view->warp_count);
}

/* Does not count `line` and `made_by`: the hardware's coalescer has all lines of a load at once. */
static void storage(const double *values, const TytoMachineSizes *m, const TytoStorage *out) {
    (void)values;
    const uint64_t tag = 48 - tyto_bits_for(m->l1d_line_bytes) - tyto_bits_for(VTA_SETS);
    const uint64_t warp = tyto_bits_for(LOOPS + 1) + 6 + tyto_bits_for(m->l1d_lines + 1);
    out->bits(out->context, "victim tags", "as CCWS section 5.7",
              (uint64_t)m->warps * VTA_SETS * VTA_WAYS * tag, 0);
    out->bits(out->context, "owner of each L1D line", "as CCWS section 5.7",
              (uint64_t)m->l1d_lines * tyto_bits_for(m->warps), 0);
    out->bits(out->context, "loads: a pc of 32 bits, a class, lines and locality", "ours",
              LOADS * 41, 0);
    out->bits(out->context, "loops: two pcs of 32 bits", "ours", LOOPS * 64, 0);
    out->bits(out->context, "loop, lanes and lines of each warp", "ours", m->warps * warp, 0);
}

const TytoPolicy sched_daws = {
    TYTO_POLICY_HEAD,
    .name = "daws",
    .summary = "predicts the lines that warps in loops need; loads of those that do not fit wait",
    .parameters = PARAMETERS,
    .parameter_count = sizeof PARAMETERS / sizeof *PARAMETERS,
    .state_bytes = sizeof(Daws),
    .events = TYTO_WANTS(TYTO_EVENT_WARP_FINISHED) | TYTO_WANTS(TYTO_EVENT_BRANCH) |
              TYTO_WANTS(TYTO_EVENT_WARP_AT_BARRIER) | TYTO_WANTS(TYTO_EVENT_BARRIER_RELEASED) |
              TYTO_WANTS(TYTO_EVENT_L1D_HIT) | TYTO_WANTS(TYTO_EVENT_L1D_MISS) |
              TYTO_WANTS(TYTO_EVENT_L1D_EVICTED) | TYTO_WANTS(TYTO_EVENT_L1D_STORED),
    .extra_bytes = extra_bytes,
    .start = start,
    .pick = greedy_policy_pick,
    .may_load = may_load,
    .issued = issued,
    .event = event,
    .next_change = next_change,
    .report = report,
    .storage = storage,
};
