/* CTA scheduler md: in each kernel one SM, the predictor, first runs a single CTA alone, while the
 * other SMs hold as many as fit. When that CTA has finished, its measurements predict the
 * throughput of every degree of multithreading (CTAs per SM), and the best degree is the limit of
 * all SMs from then on. The degrees go up to the number of CTAs that an SM holds, which is 8 in the
 * paper.
 *
 * A kernel that rarely reads DRAM keeps the maximum. By default this is a kernel whose CTAs are
 * predicted to read DRAM rarely at every degree, because a CTA that fits into the cache alone may
 * lose its lines to others. With `bound=alone` it is a kernel whose lone CTA rarely reads DRAM. In
 * section 5.1, the ratio of DRAM reads to instructions decides "before start the decision flow",
 * but in the stage that takes predicted reads; the paper does not say which reads it means.
 *
 * Until the decision the other SMs hold as many CTAs as fit, as in the paper, or fewer (`before`):
 * in a short grid these are a large share of all CTAs. If the whole grid fits in one wave, there is
 * nothing to decide, and no SM is limited.
 *
 * The working set is the number of different lines that the CTA read more than once; lines that
 * only stream through do not count. The count stops at a bound above all thresholds of the scheme.
 * If the L1D has sectors, accesses and DRAM reads count sectors, and lines count lines. Source: MD
 * section 5. The predictor's CTA has 6 warps there; a CTA with fewer is treated as a part of it.
 *
 * In addition to what the paper counts (accesses, DRAM reads, their latency), the SM counts the
 * cycles in which all warps of the CTA waited for memory. `time=parts` uses this as the part of the
 * CTA's time that reads can prolong. */
#include "sched/cta_policy.h"

#include <math.h>

#include "sched/md_model.h"
#include "sched/reuse.h"

enum { PREDICTOR, COMPUTE_BOUND, BOUND, BEFORE, CURVE, REREAD, TIME, FLAT, LARGE };

static const char *const CURVES[] = {
    [MD_CURVE_REUSE] = "reuse", [MD_CURVE_SETS] = "sets", [MD_CURVE_TABLE] = "table", NULL};

static const char *const TIMES[] = {[MD_TIME_PARTS] = "parts", [MD_TIME_PRODUCT] = "product", NULL};

static const char *const LARGES[] = {[MD_LARGE_LINES] = "lines", [MD_LARGE_READS] = "reads", NULL};
static const char *const FLATS[] = {[MD_FLAT_KEEPS] = "keeps", [MD_FLAT_GROWS] = "grows", NULL};

/* Which reads decide whether a kernel is compute-bound. */
enum { BOUND_MOST, BOUND_ALONE };
static const char *const BOUNDS[] = {[BOUND_MOST] = "most", [BOUND_ALONE] = "alone", NULL};

static const TytoPolicyParameter PARAMETERS[] = {
    [PREDICTOR] = {"predictor", TYTO_INTEGER, 0, 0, 1023, NULL,
                   "SM that runs one CTA alone (modulo the SMs)", "MD section 5.2"},
    [COMPUTE_BOUND] = {"compute_bound", TYTO_REAL, 0.05, 0, 1, NULL,
                       "DRAM reads per warp instruction below which the maximum is kept",
                       "MD section 5.1"},
    [BOUND] = {"bound", TYTO_CHOICE, BOUND_MOST, 0, 1, BOUNDS,
               "which reads count: the most that a CTA is predicted to make at any degree, or "
               "those of a lone CTA",
               "MD section 5.1 does not say"},
    [BEFORE] = {"before", TYTO_INTEGER, 0, 0, TYTO_MAX_CTAS, NULL,
                "most CTAs on the other SMs until the decision; 0: as many as fit",
                "MD section 5.2: the default degree"},
    [CURVE] = {"curve", TYTO_CHOICE, MD_CURVE_REUSE, 0, 2, CURVES,
               "what the growth of a CTA's DRAM reads is computed from: its reuse distances, the "
               "working sets that do not fit, or table 5",
               "ours: MD section 5.1 does not print its curve"},
    [REREAD] = {"reread", TYTO_REAL, 0.55, 0, 1, NULL,
                "share of a lone CTA's L1D hits that read DRAM when no line stays in the L1D "
                "(curves reuse, sets)",
                "MD table 5: 0.53 of nbf, 0.58 of unstructured; fitted off-line"},
    [TIME] = {"time", TYTO_CHOICE, MD_TIME_PRODUCT, 0, 1, TIMES,
              "which part of a CTA's time grows: all, by the product of the growths (product); or "
              "its waits for memory with the reads, within the MSHRs, and the rest with the "
              "pipeline (parts)",
              "MD sections 4.3 and 4.4; parts: ours"},
    [FLAT] = {"flat", TYTO_CHOICE, MD_FLAT_GROWS, 0, 1, FLATS,
              "whether latency and pipeline also grow where DRAM reads do not (grows), or stay "
              "there (keeps)",
              "MD section 5.1, which knows no exception; keeps: ours"},
    [LARGE] =
        {"large", TYTO_CHOICE, MD_LARGE_LINES, 0, 1, LARGES,
         "what is compared with 5 and 15 cache sizes where latency grows: the lines that a CTA "
         "reads again, or its DRAM reads",
         "MD section 5.1: its working set; the stage takes miss rate, DRAM reads and capacity"},
};

typedef struct Md {
    uint32_t predictor;    /* SM */
    uint32_t degree;       /* CTAs per SM, as decided; 0: not yet */
    uint32_t degrees;      /* degrees predicted */
    uint32_t sectors;      /* sectors per line; 1: a line is read in one piece */
    uint32_t before;       /* most CTAs per SM until the decision; 0: as many as fit */
    MdModel model;         /* from the parameters */
    uint64_t began;        /* SM cycle in which the predictor's CTA started */
    double compute_bound;  /* DRAM reads per warp instruction */
    int bound;             /* BOUND_MOST or BOUND_ALONE */
    bool is_compute_bound; /* as measured */
    MdInputs inputs;       /* as measured */
    MdPrediction predictions[TYTO_MAX_CTAS];
    uint64_t line_mask; /* the part of an address that identifies its line */
    uint64_t last;      /* last line read, plus 1; 0: none yet */
    Reuse reuse;        /* lines that the CTA reads */
} Md;

static void start(void *state, const TytoGridView *view, const double *values) {
    Md *s = state;
    s->predictor = (uint32_t)values[PREDICTOR] % view->sms;
    s->compute_bound = values[COMPUTE_BOUND];
    s->bound = (int)values[BOUND];
    s->before = (uint32_t)values[BEFORE];
    s->sectors = view->l1d_line_bytes / view->l1d_fill_bytes;
    s->line_mask = ~(uint64_t)(view->l1d_line_bytes - 1);
    s->model = (MdModel){(MdCurve)values[CURVE], values[REREAD], (MdTime)values[TIME],
                         (MdFlat)values[FLAT], (MdLarge)values[LARGE]};
    if (view->ctas <= (uint64_t)view->sms * view->capacity) s->degree = view->capacity;
}

static uint32_t limit(const void *state, const TytoGridView *view, uint32_t sm) {
    const Md *s = state;
    if (s->degree) return s->degree;
    if (sm == s->predictor) return 1;
    return s->before && s->before < view->capacity ? s->before : view->capacity;
}

static void dispatched(void *state, const TytoGridView *view, uint32_t sm) {
    Md *s = state;
    if (sm == s->predictor) s->began = view->cycle;
}

/* The reads that decide whether the kernel is compute-bound. */
static double bounding_reads(const Md *s) {
    double reads = s->inputs.dram_reads;
    if (s->bound == BOUND_ALONE) return reads;
    for (uint32_t i = 0; i < s->degrees; i++)
        reads = fmax(reads, s->predictions[i].dram_reads);
    return reads;
}

static void finished(void *state, const TytoGridView *view, uint32_t sm,
                     const TytoSmMeasurement *measured) {
    Md *s = state;
    if (s->degree || sm != s->predictor) return;
    double reads = measured->reads_answered ? (double)measured->reads_answered : 1;
    double cycles = view->cycle > s->began ? (double)(view->cycle - s->began) : 1;
    s->inputs = (MdInputs){.accesses = (double)measured->l1d_accesses,
                           .loads = (double)measured->l1d_loads,
                           .dram_reads = (double)measured->dram_reads,
                           .warp_instructions = (double)measured->warp_instructions,
                           .load_latency = (double)measured->load_cycles / reads,
                           .waiting = (double)measured->memory_cycles / cycles,
                           .under_way = (double)measured->load_cycles / cycles,
                           .mshrs = view->l1d_mshrs,
                           .warps = view->cta_warps,
                           .lines = s->reuse.lines,
                           .working_set = s->reuse.again,
                           .cache_lines = view->l1d_lines,
                           .sectors = s->sectors,
                           .ways = view->l1d_ways,
                           .distances = s->reuse.distances,
                           .distance_count = REUSE_LINES};
    s->degrees = view->capacity < TYTO_MAX_CTAS ? view->capacity : TYTO_MAX_CTAS;
    uint32_t best = md_predict(&s->inputs, &s->model, s->degrees, s->predictions);
    s->is_compute_bound = md_is_compute_bound(&s->inputs, bounding_reads(s), s->compute_bound);
    s->degree = s->is_compute_bound ? view->capacity : best;
}

static int watched_sm(const void *state) {
    const Md *s = state;
    return s->degree ? TYTO_NO_SM : (int)s->predictor;
}

/* Consecutive reads of sectors of the same line count as one read of the line. */
static void l1d_load(void *state, uint64_t address) {
    Md *s = state;
    const uint64_t line = address & s->line_mask;
    if (s->sectors > 1 && line + 1 == s->last) return;
    s->last = line + 1;
    reuse_read(&s->reuse, line);
}

/* ---- Report ---- */

static void report_list(const Md *s, const TytoReport *out, const char *name, const char *unit,
                        size_t offset) {
    double values[TYTO_MAX_CTAS];
    for (uint32_t i = 0; i < s->degrees; i++)
        values[i] = *(const double *)(const void *)((const char *)&s->predictions[i] + offset);
    out->list(out->context, name, unit, values, s->degrees);
}

static void report(const void *state, const TytoReport *out) {
    const Md *s = state;
    static const struct {
        const char *name, *unit;
        size_t offset;
    } INPUTS[] = {
        {"l1d_accesses", "accesses", offsetof(MdInputs, accesses)},
        {"dram_reads", "lines", offsetof(MdInputs, dram_reads)},
        {"warp_instructions", "warp instructions", offsetof(MdInputs, warp_instructions)},
        {"load_latency", "SM cycles, mean", offsetof(MdInputs, load_latency)},
        {"waiting", "share of its time", offsetof(MdInputs, waiting)},
        {"under_way", "reads, mean", offsetof(MdInputs, under_way)},
        {"lines", "different lines read", offsetof(MdInputs, lines)},
        {"working_set", "lines read again", offsetof(MdInputs, working_set)},
        {"cache_lines", "lines", offsetof(MdInputs, cache_lines)},
    };
    static const struct {
        const char *name, *unit;
        size_t offset;
    } PREDICTIONS[] = {
        {"predicted_dram_reads", "lines per CTA, by degree", offsetof(MdPrediction, dram_reads)},
        {"predicted_miss_rate", "share of accesses, by degree", offsetof(MdPrediction, miss_rate)},
        {"read_growth", "over the degree below", offsetof(MdPrediction, read_growth)},
        {"latency_growth", "over the degree below", offsetof(MdPrediction, latency_growth)},
        {"pipeline_growth", "over the degree below", offsetof(MdPrediction, pipeline_growth)},
        {"predicted_latency", "SM cycles, by degree", offsetof(MdPrediction, latency)},
        {"predicted_time", "of a CTA, over degree 1, by degree", offsetof(MdPrediction, time)},
        {"predicted_throughput", "over degree 1, by degree", offsetof(MdPrediction, throughput)},
    };
    out->value(out->context, "degree", "CTAs per SM; 0: not decided", s->degree);
    if (!s->degrees) return;
    out->value(out->context, "is_compute_bound", "0 or 1", s->is_compute_bound);
    for (size_t i = 0; i < sizeof INPUTS / sizeof *INPUTS; i++) {
        const char *at = (const char *)&s->inputs + INPUTS[i].offset;
        out->value(out->context, INPUTS[i].name, INPUTS[i].unit, *(const double *)(const void *)at);
    }
    for (size_t i = 0; i < sizeof PREDICTIONS / sizeof *PREDICTIONS; i++)
        report_list(s, out, PREDICTIONS[i].name, PREDICTIONS[i].unit, PREDICTIONS[i].offset);
}

const TytoCtaPolicy cta_md = {
    TYTO_CTA_POLICY_HEAD,
    .name = "md",
    .summary =
        "runs one CTA alone to predict the best number of CTAs per SM, then uses that number",
    .parameters = PARAMETERS,
    .parameter_count = sizeof PARAMETERS / sizeof *PARAMETERS,
    .state_bytes = sizeof(Md),
    .is_uneven = true,
    .start = start,
    .limit = limit,
    .dispatched = dispatched,
    .finished = finished,
    .watched_sm = watched_sm,
    .l1d_load = l1d_load,
    .report = report,
};
