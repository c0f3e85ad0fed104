/* Criticality-aware warp acceleration as a whole: the scheduler of `cawa`, and the cache part
 * (CACP), which reserves a part of each L1D set for lines that critical warps reuse.
 *
 * A signature, made of a line's address and the pc that brought it in, selects two 2-bit counters:
 * whether critical warps reuse such lines (CCBP), and whether any warp does (SHiP). A new line
 * belongs to the critical part if its CCBP counter is 2 or more. When a set is full, the part that
 * has more than its share of the set loses a line. This is the line with the highest re-reference
 * value (RRPV, 0 to 3); among equals, the least recently used one. A hit sets the RRPV to 0. A new
 * line starts with 3 if its SHiP counter is 0, else with 2. A warp is critical if its criticality
 * is in the upper part of the range of all warps.
 *
 * The paper divides ways; here the parts are numbers of lines, in any ways. A line whose arrival no
 * event reports, like that of a store, counts as new when it is first hit or its set is full.
 * Critical warps are determined every 64 instructions. Source: S.-Y. Lee, A. Arunkumar and C.-J.
 * Wu, "CAWA: Coordinated Warp Scheduling and Cache Prioritization for Critical Warp Acceleration of
 * GPGPU Workloads", ISCA 2015; counters and their changes follow a public implementation
 * (github.com/ujansengupta/CAWA_gpgpusim, CACP.cc). The paper's text was not available to us: the
 * shares are ours. */
#include "sched/policies.h"

#include "base/bits.h"
#include "sched/criticality.h"
#include "sched/greedy.h"

enum { PART, CRITICAL };
enum { SIGNATURES = 256, MOST = 3, PREDICTS = 2, LOOK_EVERY = 64 };

static const TytoPolicyParameter PARAMETERS[] = {
    [PART] = {"part", TYTO_REAL, 0.5, 0, 1, NULL,
              "share of a set's lines that belongs to critical warps",
              "ours: Lee et al. (ISCA 2015) split the ways"},
    [CRITICAL] = {"critical", TYTO_REAL, 0.5, 0, 1, NULL,
                  "part of the range of criticality above which a warp is critical",
                  "ours: Lee et al. (ISCA 2015) compare with the others"},
};

typedef struct CachedLine {
    uint64_t number; /* its address divided by its size, plus 1; 0: none */
    uint8_t signature;
    uint8_t rrpv;     /* 0 to MOST */
    bool is_critical; /* it belongs to the critical part */
    bool has_critical_use, has_other_use;
} CachedLine;

typedef struct CawaCacp {
    Greedy greedy;
    Criticality criticality;
    uint8_t ccbp[SIGNATURES], ship[SIGNATURES]; /* 0 to MOST */
    double part, critical;                      /* shares */
    uint64_t line_bytes;
    uint32_t places;
    uint64_t issues;         /* instructions since the kernel's start */
    uint64_t critical_warps; /* as of the last check */
    uint64_t critical_hits, other_hits;
    CachedLine *lines; /* stored behind this struct: `places` entries */
} CawaCacp;

static size_t extra_bytes(const TytoSmView *view, const double *values) {
    (void)values;
    return (size_t)view->l1d_places * sizeof(CachedLine);
}

static void start(void *state, const TytoSmView *view, const double *values) {
    CawaCacp *s = state;
    greedy_start(&s->greedy, GREEDY_THEN_OLDEST);
    s->part = values[PART];
    s->critical = values[CRITICAL];
    s->line_bytes = view->line_bytes;
    s->places = view->l1d_places;
    s->lines = (CachedLine *)(void *)((char *)state + bits_align_up(sizeof *s, 64));
}

/* ---- Warps ---- */

static int pick(void *state, const TytoSmView *view, int scheduler, uint64_t ready) {
    const CawaCacp *s = state;
    const int last = s->greedy.last[scheduler];
    if (last >= 0 && tyto_has(ready, last)) return last;
    return criticality_first(&s->criticality, view, ready);
}

static void find_critical(CawaCacp *s, const TytoSmView *view) {
    const int64_t *value = s->criticality.value;
    int64_t least = INT64_MAX, most = INT64_MIN;
    for (uint64_t rest = view->resident; rest; rest &= rest - 1) {
        const int64_t of = value[tyto_lowest(rest)];
        least = of < least ? of : least;
        most = of > most ? of : most;
    }
    s->critical_warps = 0;
    for (uint64_t rest = view->resident; rest; rest &= rest - 1) {
        const double above = (double)(value[tyto_lowest(rest)] - least);
        if (above > s->critical * (double)(most - least)) s->critical_warps |= rest & -rest;
    }
}

static void issued(void *state, const TytoSmView *view, const TytoIssue *issue) {
    CawaCacp *s = state;
    greedy_issued(&s->greedy, issue);
    criticality_issued(&s->criticality, view, issue);
    if (s->issues++ % LOOK_EVERY == 0) find_critical(s, view);
}

/* ---- Lines ---- */

static uint8_t signature_of(const CawaCacp *s, uint64_t address, uint32_t pc) {
    return (uint8_t)((address / s->line_bytes) ^ pc);
}

static void count_up(uint8_t *counter) {
    if (*counter < MOST) ++*counter;
}
static void count_down(uint8_t *counter) {
    if (*counter) --*counter;
}

/* The record of the line at a place. A line that is not known yet counts as new: it has just
 * arrived, or no event has reported it, like lines that stores bring in. `pc`: the instruction that
 * brought it in. */
static CachedLine *line_at(CawaCacp *s, uint32_t place, uint64_t address, uint32_t pc) {
    CachedLine *line = &s->lines[place];
    const uint64_t number = address / s->line_bytes + 1;
    const uint8_t signature = signature_of(s, address, pc);
    if (line->number != number)
        *line = (CachedLine){.number = number,
                             .signature = signature,
                             .rrpv = s->ship[signature] ? MOST - 1 : MOST,
                             .is_critical = s->ccbp[signature] >= PREDICTS};
    return line;
}

static void hit(CawaCacp *s, CachedLine *line, int warp) {
    const bool is_critical = tyto_has(s->critical_warps, warp);
    count_up(&s->ship[line->signature]);
    if (is_critical) count_up(&s->ccbp[line->signature]);
    line->has_critical_use |= is_critical;
    line->has_other_use |= !is_critical;
    line->rrpv = 0;
    if (is_critical) s->critical_hits++;
    else s->other_hits++;
}

static void go(CawaCacp *s, CachedLine *line) {
    if (!line->has_critical_use && !line->has_other_use) count_down(&s->ship[line->signature]);
    else if (line->is_critical && !line->has_critical_use) count_down(&s->ccbp[line->signature]);
    *line = (CachedLine){0};
}

/* The line of this part that is replaced first; TYTO_ANY_LINE: none can be replaced. */
static int first_to_go(const CawaCacp *s, const TytoLines *lines, bool is_critical) {
    const TytoLine *first = NULL;
    int found = TYTO_ANY_LINE;
    for (uint32_t i = 0; i < lines->count; i++) {
        const TytoLine *line = tyto_line(lines, i);
        if (!line->can_go || s->lines[line->place].is_critical != is_critical) continue;
        const int over = first ? s->lines[line->place].rrpv - s->lines[first->place].rrpv : 1;
        if (over < 0 || (over == 0 && line->order > first->order)) continue;
        first = line;
        found = (int)i;
    }
    return found;
}

/* Ages the lines of the set by the amount that the replaced line's RRPV is below the maximum. */
static void age(CawaCacp *s, const TytoLines *lines, int gone) {
    const uint8_t lacks = MOST - s->lines[tyto_line(lines, (uint32_t)gone)->place].rrpv;
    for (uint32_t i = 0; i < lines->count && lacks; i++) {
        CachedLine *line = &s->lines[tyto_line(lines, i)->place];
        line->rrpv = line->rrpv + lacks < MOST ? (uint8_t)(line->rrpv + lacks) : MOST;
    }
}

static int victim(void *state, const TytoSmView *view, const TytoMiss *miss,
                  const TytoLines *lines) {
    (void)view;
    CawaCacp *s = state;
    const bool comes_critical = s->ccbp[signature_of(s, miss->address, miss->pc)] >= PREDICTS;
    uint32_t critical = 0;
    for (uint32_t i = 0; i < lines->count; i++) {
        const TytoLine *line = tyto_line(lines, i);
        critical += line_at(s, line->place, line->address, line->owner_pc)->is_critical;
    }
    const uint32_t share = (uint32_t)(s->part * lines->count);
    const bool takes_critical = comes_critical ? critical >= share : critical > share;
    int gone = first_to_go(s, lines, takes_critical);
    if (gone == TYTO_ANY_LINE) gone = first_to_go(s, lines, !takes_critical);
    if (gone != TYTO_ANY_LINE) age(s, lines, gone);
    return gone;
}

/* Only L1D_FILLED has the place of a new line. A load that hits several sectors of a line hits it
 * once. */
static void l1d_event(CawaCacp *s, const TytoEvent *event) {
    if (event->place >= s->places || event->repeats_line) return;
    CachedLine *line = line_at(s, event->place, event->address, event->owner_pc);
    if (event->kind == TYTO_EVENT_L1D_HIT) hit(s, line, event->warp);
    else if (event->kind == TYTO_EVENT_L1D_EVICTED) go(s, line);
}

static void event(void *state, const TytoSmView *view, const TytoEvent *event) {
    CawaCacp *s = state;
    switch (event->kind) {
    case TYTO_EVENT_L1D_FILLED:
    case TYTO_EVENT_L1D_HIT:
    case TYTO_EVENT_L1D_EVICTED: l1d_event(s, event); return;
    case TYTO_EVENT_WARP_FINISHED: greedy_finished(&s->greedy, event->warp); return;
    default: criticality_event(&s->criticality, view, event); return;
    }
}

static void report(void *state, const TytoSmView *view, const TytoReport *out) {
    (void)view;
    const CawaCacp *s = state;
    out->value(out->context, "critical_hits", "L1D hits", (double)s->critical_hits);
    out->value(out->context, "other_hits", "L1D hits", (double)s->other_hits);
}

static void storage(const double *values, const TytoMachineSizes *m, const TytoStorage *out) {
    (void)values;
    criticality_storage(m, out);
    out->bits(out->context, "two tables of 256 counters of 2 bits",
              "a public implementation of Lee et al. (ISCA 2015)", 2 * SIGNATURES * 2, 0);
    out->bits(out->context, "each line: signature, RRPV, part, two uses",
              "a public implementation of Lee et al. (ISCA 2015)",
              (uint64_t)m->l1d_lines * (8 + 2 + 1 + 2), 0);
}

const TytoPolicy sched_cawa_cacp = {
    TYTO_POLICY_HEAD,
    .name = "cawa-cacp",
    .summary = "cawa, and a part of the L1D is kept for lines that critical warps reuse",
    .parameters = PARAMETERS,
    .parameter_count = sizeof PARAMETERS / sizeof *PARAMETERS,
    .state_bytes = sizeof(CawaCacp),
    .events = CRITICALITY_EVENTS | TYTO_WANTS(TYTO_EVENT_WARP_FINISHED) |
              TYTO_WANTS(TYTO_EVENT_L1D_HIT) | TYTO_WANTS(TYTO_EVENT_L1D_FILLED) |
              TYTO_WANTS(TYTO_EVENT_L1D_EVICTED),
    .extra_bytes = extra_bytes,
    .start = start,
    .pick = pick,
    .issued = issued,
    .event = event,
    .report = report,
    .victim = victim,
    .storage = storage,
};
