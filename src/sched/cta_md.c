/* CTA scheduler md: in each kernel one SM, the predictor, first runs a single CTA alone, while the
 * others hold as many as fit. When that CTA has finished, what it did predicts the throughput of
 * every degree of multithreading (CTAs on an SM), and the best one is the limit of all SMs from
 * then on. The degrees go up to as many CTAs as an SM holds, which are 8 in the paper. A kernel
 * that hardly reads DRAM keeps the maximum: one whose CTAs do so at any degree, as predicted, since
 * a CTA that the cache holds alone may be another's undoing; or whose lone CTA does
 * (`bound=alone`). Section 5.1 has the ratio of DRAM reads to instructions decide "before start the
 * decision flow", but in the stage that takes predicted reads, and does not say which it means.
 * Until the decision the others hold as many as fit, as in the paper, or fewer (`before`): in a
 * short grid these are many of all. Where one wave takes the whole grid, there is nothing to
 * decide, and none is held back.
 *
 * The working set are the different lines that the CTA read more than once; lines that stream by
 * are none. The count stops at a bound beyond all the scheme's thresholds. Where the L1D has
 * sectors, accesses and DRAM reads are of these, and lines of lines. Source: MD section 5. The
 * predictor's CTA has 6 warps there; one of fewer is taken as a part of it.
 *
 * In addition to what the paper counts (accesses, DRAM reads, their latency), the SM counts the
 * cycles in which all warps of the CTA waited for memory. For `time=parts`, this is the part of its
 * time that its reads can prolong. */
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

/* Whose reads tell a compute-bound kernel. */
enum { BOUND_MOST, BOUND_ALONE };
static const char *const BOUNDS[] = {[BOUND_MOST] = "most", [BOUND_ALONE] = "alone", NULL};

static const TytoPolicyParameter PARAMETERS[] = {
    [PREDICTOR] = {"predictor", TYTO_INTEGER, 0, 0, 1023, NULL,
                   "SM that runs one CTA alone (modulo the SMs)", "MD section 5.2"},
    [COMPUTE_BOUND] = {"compute_bound", TYTO_REAL, 0.05, 0, 1, NULL,
                       "DRAM reads per warp instruction below which the maximum is kept",
                       "MD section 5.1"},
    [BOUND] =
        {"bound", TYTO_CHOICE, BOUND_MOST, 0, 1, BOUNDS,
         "which reads those are: the most that a CTA is predicted to make at any degree, or a lone "
         "CTA's",
         "MD section 5.1 does not say"},
    [BEFORE] = {"before", TYTO_INTEGER, 0, 0, TYTO_MAX_CTAS, NULL,
                "most CTAs on the other SMs until the decision; 0: as many as fit",
                "MD section 5.2: the default degree"},
    [CURVE] = {"curve", TYTO_CHOICE, MD_CURVE_REUSE, 0, 2, CURVES,
               "what a CTA's DRAM reads grow by: how far apart it reads a line again, the working "
               "sets that do not fit, or table 5",
               "ours: MD section 5.1 does not print its curve"},
    [REREAD] =
        {"reread", TYTO_REAL, 0.55, 0, 1, NULL,
         "share of what a lone CTA finds in the L1D that reads DRAM when nothing stays (curves "
         "reuse, sets)",
         "MD table 5: 0.53 of nbf, 0.58 of unstructured; fitted off-line"},
    [TIME] =
        {"time", TYTO_CHOICE, MD_TIME_PRODUCT, 0, 1, TIMES,
         "what grows of a CTA's time: all of it, by the growths' product; or what it waits for "
         "memory with the reads, within the MSHRs, and the rest with the pipeline",
         "MD sections 4.3 and 4.4; parts: ours"},
    [FLAT] =
        {"flat", TYTO_CHOICE, MD_FLAT_GROWS, 0, 1, FLATS,
         "what latency and pipeline do where DRAM reads do not grow: as anywhere, or they stay",
         "MD section 5.1, which knows no exception; keeps: ours"},
    [LARGE] =
        {"large", TYTO_CHOICE, MD_LARGE_LINES, 0, 1, LARGES,
         "what is compared with 5 and 15 caches where latency grows: the lines that a CTA reads "
         "again, or its DRAM reads",
         "MD section 5.1: its working set; the stage takes miss rate, DRAM reads and capacity"},
};

typedef struct Md {
    uint32_t predictor;    /* SM */
    uint32_t degree;       /* CTAs on an SM, as decided; 0: not yet */
    uint32_t degrees;      /* degrees predicted */
    uint32_t sectors;      /* that a line is read in; 1: in one piece */
    uint32_t before;       /* most CTAs on an SM until the decision; 0: as many as fit */
    MdModel model;         /* of the parameters */
    uint64_t began;        /* SM cycle at which the predictor's CTA came */
    double compute_bound;  /* DRAM reads per warp instruction */
    int bound;             /* BOUND_MOST or BOUND_ALONE */
    bool is_compute_bound; /* as measured */
    MdInputs inputs;       /* as measured */
    MdPrediction predictions[TYTO_MAX_CTAS];
    uint64_t line_mask; /* of an address, what names its line */
    uint64_t last;      /* line read last, and 1; 0: none yet */
    Reuse reuse;        /* what it reads */
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

/* The reads that tell whether the kernel is compute-bound. */
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

/* The sectors of a line that are read one after another are one read of it. */
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
    .summary = "runs one CTA alone to predict the best number of CTAs per SM, then keeps to it",
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
