/* Poise: two knobs for an SM. The N oldest warps issue; of these, the p oldest allocate lines in
 * the L1D, and the misses of the others bypass it. Regressions that were trained offline predict
 * both numbers from what the SM did with all warps and with one. A local search corrects them.
 *
 * An inference epoch:
 * 1. All warps issue and allocate lines. After a warm-up the SM is sampled.
 * 2. One warp issues and allocates lines: warm-up and sample.
 * 3. The features of both samples (below) give log(N / most) and log(p / most) as weighted sums.
 *    `most` is the number of the kernel's warps that fit on the SM.
 * 4. The search moves one knob by its stride and keeps what raises the instructions per cycle.
 *    When no move helps, it halves the strides. It ends at strides of 0.
 * 5. The result holds until the epoch ends.
 * If the first sample contains few loads, all warps issue for the rest of the epoch. All warps also
 * issue in a kernel's first cycles, so that a short kernel does not pay for samples.
 *
 * Of the paper only the abstract was available to us. So the features, the lengths, the strides,
 * the search and the share of `most` are ours. The weights are from our own training
 * (scripts/poise-train). On 12 programs outside of the training (gtx480, size small) poise is 5%
 * slower than gto as a geometric mean, from -22% to +8%. N and p are numbers of the SM, not of one
 * of its schedulers. As in swl, all warps of a CTA may issue while one of them waits at a barrier
 * or an mbarrier. Source: S. Dublish, V. Nagarajan and N. Topham, "Poise: Balancing Thread-Level
 * Parallelism and Memory System Performance in GPUs Using Machine Learning", HPCA 2019. */
#include "sched/policies.h"

#include "sched/greedy.h"
#include "sched/poise_weights.h"
#include "sched/view.h"

enum {
    WARPS,
    POLLUTING,
    DELAY,
    EPOCH,
    WARMUP,
    SAMPLE,
    STEP,
    STRIDE_WARPS,
    STRIDE_POLLUTING,
    LOADS,
    RESULT,
    ORDER
};
enum { SEARCHED, PREDICTED_ALONE, IGNORED };
enum { DIRECTIONS = 4 }; /* of the search: either knob up, then down */

static const char *const RESULTS[] = {"searched", "predicted", "ignored", NULL};
#define SOURCE "Dublish et al. (HPCA 2019); the value is ours"
static const TytoPolicyParameter PARAMETERS[] = {
    [WARPS] = {"warps", TYTO_INTEGER, 0, 0, TYTO_MAX_WARPS, NULL,
               "warps of the SM that issue; 0: predicted", SOURCE},
    [POLLUTING] = {"polluting", TYTO_INTEGER, 0, 0, TYTO_MAX_WARPS, NULL,
                   "warps whose misses allocate L1D lines; 0: predicted", SOURCE},
    [DELAY] = {"delay", TYTO_INTEGER, 4000, 1, 1000000000, NULL,
               "SM cycles of a kernel before its first epoch, in which all warps issue", "ours"},
    [EPOCH] = {"epoch", TYTO_INTEGER, 200000, 1, 1000000000, NULL,
               "SM cycles from one inference to the next", SOURCE},
    [WARMUP] = {"warmup", TYTO_INTEGER, 250, 1, 1000000000, NULL,
                "SM cycles that are not sampled after a knob has changed", SOURCE},
    [SAMPLE] = {"sample", TYTO_INTEGER, 1000, 1, 1000000000, NULL,
                "SM cycles of each of the two samples of features", SOURCE},
    [STEP] = {"step", TYTO_INTEGER, 1000, 1, 1000000000, NULL,
              "SM cycles in which the search measures a step", SOURCE},
    [STRIDE_WARPS] = {"stride_warps", TYTO_INTEGER, 4, 0, TYTO_MAX_WARPS, NULL,
                      "first stride of the search for warps; 0: not searched", SOURCE},
    [STRIDE_POLLUTING] = {"stride_polluting", TYTO_INTEGER, 4, 0, TYTO_MAX_WARPS, NULL,
                          "first stride of the search for polluting; 0: not searched", SOURCE},
    [LOADS] = {"loads", TYTO_REAL, 0.01, 0, 1, NULL,
               "L1D loads for each instruction, below which all warps issue", "ours"},
    [RESULT] = {"result", TYTO_CHOICE, SEARCHED, 0, IGNORED, RESULTS,
                "what holds after the samples: the result of the search, the prediction, or all "
                "warps (to train)",
                "Dublish et al. (HPCA 2019)"},
    [ORDER] = {"order", TYTO_CHOICE, GREEDY_THEN_OLDEST, 0, GREEDY_NEXT, greedy_orders,
               "order of the warps that may issue, as in gto", "ours"},
};

typedef enum Stage { ALL, ONE, PREDICTED, SEARCHING, HOLD } Stage;

/* The two knobs, in warps. */
typedef struct Knobs {
    int warps, polluting;
} Knobs;

/* What the SM did in some cycles. Only loads count. A line counts once for each instruction. */
typedef struct Sample {
    uint64_t instructions;           /* issued */
    uint64_t hits, own_hits, misses; /* in the L1D; own: on a line that the same warp brought in */
    uint64_t latency, latencies;     /* SM cycles from a miss to its data: sum, number of misses */
} Sample;

typedef struct Poise {
    Greedy greedy;
    uint64_t allowed, holders;    /* warps: that may issue; that allocate lines */
    uint64_t exited, at_mbarrier; /* warps that had exited, or waited at an mbarrier, then */
    uint64_t epoch, warmup, length, step; /* SM cycles: see the parameters; length: of a sample */
    uint64_t left, spent;                 /* SM cycles: rest of this part; of this epoch */
    double loads;                         /* see the parameter */
    Knobs fixed, strides;                 /* parameters; 0: not fixed, not searched */
    int most;                             /* warps of the kernel that fit on the SM */
    int result;                           /* see the parameter */
    Stage stage;                          /* of the epoch */
    bool is_warming;                      /* the stage is in its warm-up */
    Knobs now, predicted, best;           /* in use; by the weights; of the search so far */
    Knobs stride;                         /* of the search now */
    int direction;                        /* of the search: 0 to DIRECTIONS - 1 */
    uint64_t best_instructions;           /* in a step with `best` */
    Sample sample, all;                   /* of this part; with all warps */
    uint64_t miss_address, missed;        /* the miss whose latency is measured; its cycle */
    int missing;                          /* its warp; TYTO_NO_WARP: no miss is measured */
    double features[POISE_FEATURES];      /* sum over all inferences */
    uint64_t inferences, steps, bypasses; /* since the kernel's start */
} Poise;

static int lower(int a, int b) { return a < b ? a : b; }

/* Knobs within their bounds, with those that parameters fix. */
static Knobs bounded(const Poise *s, Knobs k) {
    if (s->fixed.warps) k.warps = s->fixed.warps;
    k.warps = k.warps < 1 ? 1 : lower(k.warps, s->most);
    if (s->fixed.polluting) k.polluting = s->fixed.polluting;
    k.polluting = k.polluting < 1 ? 1 : lower(k.polluting, k.warps);
    return k;
}

static void decide(Poise *s, const TytoSmView *view) {
    s->exited = view->exited;
    s->at_mbarrier = view->at_mbarrier;
    s->allowed = s->now.warps < s->most ? sched_view_oldest(view, s->now.warps) : ~UINT64_C(0);
    s->holders =
        s->now.polluting < s->most ? sched_view_first(view, s->now.polluting) : ~UINT64_C(0);
}

/* ---- The prediction ---- */

static double share(uint64_t part, uint64_t whole) {
    return whole ? (double)part / (double)whole : 0;
}

static uint64_t accesses(const Sample *of) { return of->hits + of->misses; }

static double mean_latency(const Sample *of) { return share(of->latency, of->latencies); }

/* Features from 0 to 1: a constant; hit rate with all warps, hit rate on own lines with all warps,
 * hit rate with one warp; then one of two quantities over their sum: latency of a miss with one
 * warp and with all (0.5 if one is unknown), L1D loads and instructions, instructions with one warp
 * and with all. */
static void find_features(const Sample *all, const Sample *one, double x[POISE_FEATURES]) {
    const double together = mean_latency(all), alone = mean_latency(one);
    x[0] = 1;
    x[1] = share(all->hits, accesses(all));
    x[2] = share(all->own_hits, accesses(all));
    x[3] = share(one->hits, accesses(one));
    x[4] = together > 0 && alone > 0 ? alone / (alone + together) : 0.5;
    x[5] = share(accesses(all), accesses(all) + all->instructions);
    x[6] = share(one->instructions, one->instructions + all->instructions);
}

/* exp(x) for x from -16 to 0, the same on every host: the series of x/256, then eight squares. The
 * relative error is below 2e-5. */
static double exponential(double x) {
    const double y = x / 256;
    double power = 1 + y * (1 + y / 2 * (1 + y / 3 * (1 + y / 4)));
    for (int i = 0; i < 8; i++)
        power *= power;
    return power;
}

static int predicted(const double weights[POISE_FEATURES], const double x[POISE_FEATURES],
                     int most) {
    double sum = 0;
    for (int i = 0; i < POISE_FEATURES; i++)
        sum += weights[i] * x[i];
    if (sum >= 0) return most;
    return (int)(most * exponential(sum > -16 ? sum : -16) + 0.5);
}

static Knobs predict(Poise *s) {
    double x[POISE_FEATURES];
    find_features(&s->all, &s->sample, x);
    for (int i = 0; i < POISE_FEATURES; i++)
        s->features[i] += x[i];
    s->inferences++;
    s->predicted =
        (Knobs){predicted(poise_weights[0], x, s->most), predicted(poise_weights[1], x, s->most)};
    return bounded(s, s->result == IGNORED ? (Knobs){s->most, s->most} : s->predicted);
}

/* ---- The epoch ---- */

/* Starts a stage with its warm-up. The last stage lasts until the epoch ends. */
static void begin(Poise *s, Stage stage, Knobs knobs) {
    s->stage = stage;
    s->now = knobs;
    s->is_warming = stage != HOLD;
    s->left = s->is_warming ? s->warmup : s->epoch > s->spent ? s->epoch - s->spent : 1;
    s->spent += s->left;
}

static void begin_sample(Poise *s) {
    s->is_warming = false;
    s->sample = (Sample){0};
    s->missing = TYTO_NO_WARP;
    s->left = s->stage == ALL || s->stage == ONE ? s->length : s->step;
    s->spent += s->left;
}

static void begin_epoch(Poise *s) {
    s->spent = 0;
    begin(s, ALL, (Knobs){s->most, s->most});
}

/* The best knobs, moved by a stride. */
static Knobs moved(const Poise *s) {
    const int sign = s->direction & 1 ? -1 : 1;
    Knobs to = s->best;
    if (s->direction < 2) to.warps += sign * s->stride.warps;
    else to.polluting += sign * s->stride.polluting;
    return bounded(s, to);
}

/* Finds the next move that changes a knob. */
static void search(Poise *s) {
    for (; s->stride.warps || s->stride.polluting;
         s->stride = (Knobs){s->stride.warps / 2, s->stride.polluting / 2}, s->direction = 0) {
        for (; s->direction < DIRECTIONS; s->direction++) {
            const Knobs to = moved(s);
            if (to.warps == s->best.warps && to.polluting == s->best.polluting) continue;
            begin(s, SEARCHING, to);
            s->steps++;
            return;
        }
    }
    begin(s, HOLD, s->best);
}

static void begin_search(Poise *s) {
    s->best = s->now;
    s->best_instructions = s->sample.instructions;
    s->stride = s->strides;
    s->direction = 0;
    search(s);
}

/* A step that helped is repeated in the same direction. */
static void judge(Poise *s) {
    if (s->sample.instructions > s->best_instructions) {
        s->best = s->now;
        s->best_instructions = s->sample.instructions;
    } else {
        s->direction++;
    }
    search(s);
}

static void end_sample(Poise *s) {
    switch (s->stage) {
    case ALL:
        s->all = s->sample;
        if ((double)accesses(&s->all) < s->loads * (double)s->all.instructions)
            begin(s, HOLD, bounded(s, (Knobs){s->most, s->most}));
        else begin(s, ONE, (Knobs){1, 1});
        return;
    case ONE: begin(s, s->result == SEARCHED ? PREDICTED : HOLD, predict(s)); return;
    case PREDICTED: begin_search(s); return;
    case SEARCHING: judge(s); return;
    case HOLD: begin_epoch(s); return;
    }
}

static bool is_fixed(const Poise *s) { return s->fixed.warps && s->fixed.polluting; }

static void start(void *state, const TytoSmView *view, const double *values) {
    Poise *s = state;
    greedy_start(&s->greedy, values[ORDER]);
    s->fixed = (Knobs){(int)values[WARPS], (int)values[POLLUTING]};
    s->strides = (Knobs){(int)values[STRIDE_WARPS], (int)values[STRIDE_POLLUTING]};
    s->epoch = (uint64_t)values[EPOCH];
    s->warmup = (uint64_t)values[WARMUP];
    s->length = (uint64_t)values[SAMPLE];
    s->step = (uint64_t)values[STEP];
    s->loads = values[LOADS];
    s->result = (int)values[RESULT];
    s->missing = TYTO_NO_WARP;
    s->most = lower((int)view->warp_count, (int)(view->cta_limit * view->warps_per_cta));
    begin(s, HOLD, bounded(s, is_fixed(s) ? s->fixed : (Knobs){s->most, s->most}));
    s->left = (uint64_t)values[DELAY];
    decide(s, view);
}

static void elapsed(void *state, const TytoSmView *view, uint64_t cycles) {
    Poise *s = state;
    if (!view->ctas || is_fixed(s)) return;
    while (cycles >= s->left) {
        cycles -= s->left;
        if (s->is_warming) begin_sample(s);
        else end_sample(s);
        decide(s, view);
    }
    s->left -= cycles;
}

/* The end of a part may let other warps issue, or make the misses of other warps allocate lines. */
static uint64_t next_change(void *state, const TytoSmView *view) {
    const Poise *s = state;
    return view->ctas && !is_fixed(s) ? s->left : UINT64_MAX;
}

/* Exits and waits at mbarriers are checked here because there are no events for them. */
static uint64_t may_issue(void *state, const TytoSmView *view) {
    Poise *s = state;
    if (s->exited != view->exited || s->at_mbarrier != view->at_mbarrier) decide(s, view);
    return s->allowed;
}

static TytoInsertion insert(void *state, const TytoSmView *view, const TytoMiss *miss) {
    (void)view;
    const Poise *s = state;
    if (miss->warp == TYTO_NO_WARP || tyto_has(s->holders, miss->warp)) return TYTO_INSERT_NORMAL;
    return TYTO_INSERT_BYPASS;
}

static void issued(void *state, const TytoSmView *view, const TytoIssue *issue) {
    (void)view;
    Poise *s = state;
    greedy_issued(&s->greedy, issue);
    s->sample.instructions++;
}

/* One miss at a time is measured. Bypasses are counted as in pcal. */
static void miss(Poise *s, const TytoSmView *view, const TytoEvent *event) {
    s->sample.misses += !event->repeats_line;
    if (event->is_pending || event->warp == TYTO_NO_WARP) return;
    s->bypasses += event->place == TYTO_NO_PLACE && !tyto_has(s->holders, event->warp);
    if (s->missing != TYTO_NO_WARP) return;
    s->missing = event->warp;
    s->miss_address = event->address;
    s->missed = view->cycle;
}

static void filled(Poise *s, const TytoSmView *view, const TytoEvent *event) {
    if (s->missing == TYTO_NO_WARP || event->owner != s->missing ||
        event->address != s->miss_address)
        return;
    s->sample.latency += view->cycle - s->missed;
    s->sample.latencies++;
    s->missing = TYTO_NO_WARP;
}

static void event(void *state, const TytoSmView *view, const TytoEvent *event) {
    Poise *s = state;
    switch (event->kind) {
    case TYTO_EVENT_L1D_HIT:
        s->sample.hits += !event->repeats_line;
        s->sample.own_hits += !event->repeats_line && event->owner == event->warp;
        return;
    case TYTO_EVENT_L1D_MISS: miss(s, view, event); return;
    case TYTO_EVENT_L1D_FILLED: filled(s, view, event); return;
    case TYTO_EVENT_WARP_FINISHED: greedy_finished(&s->greedy, event->warp); break;
    default: break;
    }
    decide(s, view);
}

static void report(void *state, const TytoSmView *view, const TytoReport *out) {
    (void)view;
    const Poise *s = state;
    double mean[POISE_FEATURES];
    for (int i = 0; i < POISE_FEATURES; i++)
        mean[i] = s->inferences ? s->features[i] / (double)s->inferences : 0;
    out->value(out->context, "warps", "warps that may issue", s->now.warps);
    out->value(out->context, "polluting", "warps that allocate lines", s->now.polluting);
    out->value(out->context, "most", "warps that fit", s->most);
    out->value(out->context, "predicted_warps", "warps", s->predicted.warps);
    out->value(out->context, "predicted_polluting", "warps", s->predicted.polluting);
    out->value(out->context, "inferences", "times", (double)s->inferences);
    out->value(out->context, "steps", "steps of the search", (double)s->steps);
    out->value(out->context, "bypasses", "misses", (double)s->bypasses);
    out->list(out->context, "features", "mean over inferences", mean, POISE_FEATURES);
}

static void storage(const double *values, const TytoMachineSizes *m, const TytoStorage *out) {
    (void)values;
    const uint64_t number = tyto_bits_for(m->warps + 1);
    out->bits(out->context, "two bits for each warp: may issue, allocates lines",
              "Dublish et al. (HPCA 2019): 41 bytes for all parts", (uint64_t)m->warps * 2, 0);
    out->bits(out->context, "both knobs: in use, the best", "ours", 4 * number, 0);
    out->bits(out->context, "instructions, hits, own hits, misses of two samples",
              "ours: 16 bits each", 2 * 4 * 16, 0);
    out->bits(out->context, "latency of two samples: sum, number of misses", "ours: 24 and 8 bits",
              2 * (24 + 8), 0);
    out->bits(out->context, "the miss that is measured: line, cycle, warp",
              "ours: 48-bit addresses, 16 bits of a cycle",
              48 - tyto_bits_for(m->l1d_line_bytes) + 16 + tyto_bits_for(m->warps + 1), 0);
    out->bits(out->context, "search: strides, direction, instructions of the best step",
              "ours: 16 bits for instructions", 2 * number + 2 + 16, 0);
    out->bits(out->context, "cycles left in this part and in the epoch, stage",
              "ours: 18 bits each, 4", 2 * 18 + 4, 0);
    out->bits(out->context, "weights", "ours: 16 bits each",
              (uint64_t)sizeof poise_weights / sizeof **poise_weights * 16, 0);
}

const TytoPolicy sched_poise = {
    TYTO_POLICY_HEAD,
    .name = "poise",
    .summary = "trained regressions predict how many warps issue, and how many allocate L1D lines",
    .parameters = PARAMETERS,
    .parameter_count = sizeof PARAMETERS / sizeof *PARAMETERS,
    .state_bytes = sizeof(Poise),
    .events = TYTO_WANTS(TYTO_EVENT_CTA_LAUNCHED) | TYTO_WANTS(TYTO_EVENT_WARP_FINISHED) |
              TYTO_WANTS(TYTO_EVENT_WARP_AT_BARRIER) | TYTO_WANTS(TYTO_EVENT_BARRIER_RELEASED) |
              TYTO_WANTS(TYTO_EVENT_L1D_HIT) | TYTO_WANTS(TYTO_EVENT_L1D_MISS) |
              TYTO_WANTS(TYTO_EVENT_L1D_FILLED),
    .start = start,
    .pick = greedy_policy_pick,
    .may_issue = may_issue,
    .issued = issued,
    .event = event,
    .elapsed = elapsed,
    .next_change = next_change,
    .report = report,
    .insert = insert,
    .storage = storage,
};
