/* MD's predictions (see the header).
 *
 * The paper fits a segmented curve to the DRAM reads of its table 5 and does not print it. Here
 * there are three curves of our own. The first one (table) interpolates that table. Each of its
 * three benchmarks is a line of reads over degrees, identified by its miss rate at degree 1; lines
 * between are interpolated. At a miss rate of 1, where nothing can be lost, nothing grows.
 *
 * The second one (sets) models what can grow. A line's first read happens at any degree, or at none
 * if an earlier kernel has left the line in the cache. Repeated reads hit while the CTAs' working
 * sets together fit into the cache. Beyond that, they are lost as the reads of nbf grow in table 5,
 * whose CTA has a set of 65 lines in a cache of 64 (section 5.1). The curve is over the size of the
 * sets in units of the cache, so it applies to sets and caches of any size. All repeated reads are
 * lost except those that a warp makes immediately. Of the reads that a lone CTA of table 5 finds in
 * the cache, 0.53 (nbf) and 0.58 (unstructured) go to DRAM when nothing stays in the cache. (Its
 * reads and miss rates are consistent only if 230 of 3,044 accesses, and 289 of 8,392, are stores,
 * which miss at any degree.) A set that does not fit may be used as a whole or piece by piece,
 * which its size does not show. What the CTA lost alone shows it: the place on the curve at which
 * the same share is lost. If the CTA's set fits, what it loses alone, to streaming lines and to
 * full sets of the cache, is lost at any degree.
 *
 * The third one (reuse) is the default. It knows more about the CTA: the lines that are read
 * between two reads of a line. N CTAs read N times as many in between, except for the lines that
 * they share. From this follows what a cache with its sets and ways loses (sched/reuse.h). The
 * reads measured alone are taken as they are. The upper limit of reads is that of the second curve.
 * Between these, the curve uses the share of hits of the lone CTA that N CTAs lose.
 *
 * Each degree adds a CTA of 6 warps to the paper's SM. The growth of latency and pipeline per
 * degree is used in part, as a power, for a CTA with fewer warps, and as printed for a CTA with
 * more. To the power of 16 warps, 1.1 and 1.2 would give 2.10 at the second CTA, more than two CTAs
 * take one after another.
 *
 * A CTA's time grows by the product of the growths. According to the paper, reads times latency
 * grow more than the time in some cases and less in many others (section 4.3: in 4 and 17 of table
 * 7's 21 rows), which is "not enough"; the growth of the pipeline is meant to compensate (4.4). All
 * three grow at every degree. With `flat=keeps`, latency and pipeline do not grow if DRAM reads do
 * not. The latencies of table 4 behave like this (264 cycles with 2 warps and 270 with 14), but not
 * those of bfs in table 7 (growth by 1.02 to 1.43 for each CTA).
 *
 * `time=parts`, which is ours, considers two effects that no factor of the product contains. A lone
 * CTA waits for memory only part of its time, and only that part grows with its reads and their
 * latency; the rest is time in the pipeline. And the more MSHRs a lone CTA uses, the fewer are left
 * for the reads of others. Both are measured while it runs.
 *
 * The parts give one bound of a CTA's time and the MSHRs another. If the two are of similar size, a
 * CTA takes longer than either, because some of its reads find no MSHR while others find one at
 * once. The root of the sum of their squares models this, less the share of the lone CTA. Over
 * seven of MD's programs with five sizes of the L1D, at degrees 2 to 8, the logarithm of the
 * throughput then has a root-mean-square error of 0.17 if measured reads and latencies are used,
 * and of 0.29 if predicted ones are used (docs/reproduction-md.md). With the greater of the two
 * bounds instead, the errors were 0.38 and 0.45. */
#include "sched/md_model.h"

#include <math.h>
#include <stddef.h>

#include "sched/reuse.h"

/* Table 5: miss rate at degree 1, DRAM reads of a CTA at degrees 1 to 8. */
static const struct Curve {
    double miss_rate;
    double reads[MD_MAX_DEGREE];
} TABLE_5[] = {
    {0.13, {169.39, 439.13, 763.62, 1125.74, 1419.73, 1545.29, 1570.32, 1570.32}}, /* nbf */
    {0.22,
     {1557.52, 3406.75, 4384.41, 5007.40, 5341.11, 5341.11, 5341.11, 5341.11}}, /* unstructured */
    {0.41, {72.94, 71.12, 71.16, 71.64, 73.03, 77.90, 83.01, 89.29}},           /* bfs */
    {1.00, {1, 1, 1, 1, 1, 1, 1, 1}},
};
enum { CURVES = sizeof TABLE_5 / sizeof *TABLE_5 };

/* Reads of a CTA, relative to degree 1, along one line; `degree` from 1 to 8, not only whole
 * numbers. */
static double along(const struct Curve *curve, double degree) {
    int below = (int)degree;
    if (below >= MD_MAX_DEGREE) return curve->reads[MD_MAX_DEGREE - 1] / curve->reads[0];
    double from = curve->reads[below - 1], to = curve->reads[below];
    return (from + (to - from) * (degree - below)) / curve->reads[0];
}

static double reads_at(double miss_rate, double degree) {
    if (miss_rate <= TABLE_5[0].miss_rate) return along(&TABLE_5[0], degree);
    int above = 1;
    while (above < CURVES - 1 && TABLE_5[above].miss_rate < miss_rate)
        above++;
    const struct Curve *low = &TABLE_5[above - 1], *high = &TABLE_5[above];
    double part = fmin(1, (miss_rate - low->miss_rate) / (high->miss_rate - low->miss_rate));
    return along(low, degree) * (1 - part) + along(high, degree) * part;
}

bool md_is_compute_bound(const MdInputs *inputs, double dram_reads, double threshold) {
    return dram_reads < threshold * inputs->warp_instructions;
}

double md_latency_growth(double miss_rate, double increase, double lines, double cache_lines) {
    if (miss_rate < 0.15 || miss_rate > 0.85) return 1.03;
    if (miss_rate < 0.3) return 1.1;
    if (lines > 5 * cache_lines && increase > 0.1) return 1.9;
    if (lines > 15 * cache_lines && increase > 0.04) return 1.75;
    return 1.1;
}

double md_pipeline_growth(uint32_t degree, double working_set, double dram_reads,
                          double cache_lines) {
    if (degree * working_set < cache_lines) return 1.05;
    return dram_reads > 5 * cache_lines ? 1.2 : 1.1;
}

/* `growth` to the power of warps / MD_CTA_WARPS, at most 1. Uses multiplication, and Newton's
 * method for the root, because pow may differ in the last bit between hosts. */
static double grow_in_part(double growth, uint32_t warps) {
    enum { STEPS = 40 };
    if (warps >= MD_CTA_WARPS) return growth;
    double root = 1 + (growth - 1) / MD_CTA_WARPS, power = 1; /* upper bound of the root */
    for (int step = 0; step < STEPS; step++) {
        double rest = growth;
        for (int i = 1; i < MD_CTA_WARPS; i++)
            rest /= root;
        root += (rest - root) / MD_CTA_WARPS;
    }
    for (uint32_t i = 0; i < warps; i++)
        power *= root;
    return power;
}

/* The table holds for working sets of at least the cache's size. CTAs with smaller sets contend
 * only as far as the sets together exceed the cache. */
static double reads_by_table(const MdInputs *inputs, uint32_t degree) {
    double miss_rate = inputs->accesses > 0 ? fmin(1, inputs->dram_reads / inputs->accesses) : 0;
    double share = fmin(1, inputs->working_set / inputs->cache_lines);
    return inputs->dram_reads * reads_at(miss_rate, fmax(1, degree * share));
}

static const double NBF_SETS = 65.0 / 64; /* nbf's working set in caches: section 5.1 */

/* Share of repeated reads that is lost if the working sets have the size of `sets` caches. */
static double lost_at(double sets) {
    const struct Curve *nbf = &TABLE_5[0];
    double all = nbf->reads[MD_MAX_DEGREE - 1] / nbf->reads[0];
    return (along(nbf, fmax(1, sets / NBF_SETS)) - 1) / (all - 1);
}

/* The size of the sets, in caches, at which a share of `lost` is lost; at most the end of the
 * curve. */
static double sets_that_lose(double lost) {
    for (int n = 1; n < MD_MAX_DEGREE; n++) {
        double from = lost_at(n * NBF_SETS), to = lost_at((n + 1) * NBF_SETS);
        if (lost < to) return (n + fmax(0, lost - from) / (to - from)) * NBF_SETS;
    }
    return MD_MAX_DEGREE * NBF_SETS;
}

/* DRAM reads of a CTA when nothing stays in the cache: it loses the share `reread` of its hits when
 * alone. */
static double reads_at_most(const MdInputs *inputs, double reread) {
    return inputs->dram_reads + reread * fmax(0, inputs->loads - inputs->dram_reads);
}

static double reads_by_sets(const MdInputs *inputs, double reread, uint32_t degree) {
    double alone = inputs->working_set / inputs->cache_lines, first = inputs->dram_reads;
    if (alone > 1) first = fmin(first, inputs->lines * fmax(1, inputs->sectors));
    double at_most = reads_at_most(inputs, reread);
    if (at_most <= first) return inputs->dram_reads;
    if (alone > 1)
        alone = fmax(alone, sets_that_lose((inputs->dram_reads - first) / (at_most - first)));
    return fmax(inputs->dram_reads, first + (at_most - first) * lost_at(degree * alone));
}

/* The number of lines that `degree` CTAs read together, relative to one CTA. Lines that the CTA did
 * not have to read from DRAM had been left in the cache by other CTAs, so all CTAs share them. (Its
 * reads from DRAM may contain a line twice, or several sectors of a line, so the result is a lower
 * bound.) */
static double times_the_lines(const MdInputs *inputs, uint32_t degree) {
    double own = inputs->lines > 0 ? fmin(1, inputs->dram_reads / inputs->lines) : 1;
    return 1 + (degree - 1) * own;
}

static double reads_by_reuse(const MdInputs *inputs, double reread, uint32_t degree) {
    const uint32_t lines = (uint32_t)inputs->cache_lines;
    const uint32_t sets = lines > inputs->ways ? lines / inputs->ways : 1;
    const double more = reads_at_most(inputs, reread) - inputs->dram_reads;
    double kept = -reuse_lost(inputs->distances, inputs->distance_count, 1, sets, inputs->ways);
    double lost = kept + reuse_lost(inputs->distances, inputs->distance_count,
                                    times_the_lines(inputs, degree), sets, inputs->ways);
    for (uint32_t d = 0; d < inputs->distance_count; d++)
        kept += inputs->distances[d];
    return more > 0 && lost > 0 ? inputs->dram_reads + more * lost / kept : inputs->dram_reads;
}

double md_dram_reads(const MdInputs *inputs, const MdModel *model, uint32_t degree) {
    if (degree == 1) return inputs->dram_reads;
    switch (model->curve) {
    case MD_CURVE_REUSE: return reads_by_reuse(inputs, model->reread, degree);
    case MD_CURVE_SETS: return reads_by_sets(inputs, model->reread, degree);
    case MD_CURVE_TABLE: return reads_by_table(inputs, degree);
    }
    return inputs->dram_reads;
}

/* Whether degree `p` reads at least one line more than a lone CTA. */
static bool has_grown(const MdInputs *inputs, const MdPrediction *p) {
    return p->dram_reads >= inputs->dram_reads + 1;
}

/* Sets the growth of latency and pipeline from `before` to `p`, at degree n. */
static void grow(const MdInputs *inputs, const MdModel *model, uint32_t n,
                 const MdPrediction *before, MdPrediction *p) {
    p->latency_growth = p->pipeline_growth = 1;
    if (model->flat == MD_FLAT_KEEPS && !has_grown(inputs, p)) return;
    double reads = p->dram_reads / fmax(1, inputs->sectors);
    double lines = model->large == MD_LARGE_READS ? reads : inputs->working_set;
    double latency = md_latency_growth(p->miss_rate, p->miss_rate - before->miss_rate, lines,
                                       inputs->cache_lines);
    double pipeline = md_pipeline_growth(n, inputs->working_set, reads, inputs->cache_lines);
    p->latency_growth = grow_in_part(latency, inputs->warps);
    p->pipeline_growth = grow_in_part(pipeline, inputs->warps);
}

/* A CTA's time at degree n, relative to degree 1. The share in which it waited for memory grows
 * with the reads and their latency, the rest with the pipeline. The MSHRs limit the reads of n CTAs
 * in flight. */
static double time_by_parts(const MdInputs *inputs, uint32_t n, const MdPrediction *p) {
    double reads = fmax(1, p->dram_reads) / fmax(1, inputs->dram_reads);
    double latency = inputs->load_latency > 0 ? p->latency / inputs->load_latency : 1;
    double waits = reads * latency;
    double parts = (1 - inputs->waiting) * p->pipeline + inputs->waiting * waits;
    double alone = inputs->mshrs > 0 ? inputs->under_way / inputs->mshrs : 0;
    double together = n * alone * waits;
    return sqrt(fmax(0, parts * parts + together * together - alone * alone));
}

uint32_t md_predict(const MdInputs *inputs, const MdModel *model, uint32_t degrees,
                    MdPrediction *predictions) {
    uint32_t best = 1;
    for (uint32_t n = 1; n <= degrees; n++) {
        MdPrediction *p = &predictions[n - 1];
        double reads = md_dram_reads(inputs, model, n);
        *p = (MdPrediction){.dram_reads = reads,
                            .miss_rate =
                                inputs->accesses > 0 ? fmin(1, reads / inputs->accesses) : 0,
                            .read_growth = 1,
                            .latency_growth = 1,
                            .pipeline_growth = 1,
                            .latency = inputs->load_latency,
                            .pipeline = 1,
                            .time = 1,
                            .throughput = 1};
        if (n == 1) continue;
        const MdPrediction *before = p - 1;
        if (before->dram_reads > 0) p->read_growth = reads / before->dram_reads;
        grow(inputs, model, n, before, p);
        p->latency = before->latency * p->latency_growth;
        p->pipeline = before->pipeline * p->pipeline_growth;
        p->time = before->time * p->read_growth * p->latency_growth * p->pipeline_growth;
        if (model->time == MD_TIME_PARTS) p->time = time_by_parts(inputs, n, p);
        p->throughput = n / p->time;
        if (p->throughput > predictions[best - 1].throughput) best = n;
    }
    return best;
}
