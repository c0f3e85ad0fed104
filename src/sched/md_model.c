/* MD's predictions (see the header).
 *
 * The paper fits a segmented curve to the DRAM reads of its table 5 and does not print it. Three
 * curves are ours. The first goes through that table: each of its three benchmarks is a line of
 * reads over degrees, known by its miss rate at degree 1; lines between are interpolated, and at a
 * miss rate of 1, where there is nothing to lose, nothing grows.
 *
 * The second says what can grow. A line's first read is made at any degree, or at none where an
 * earlier kernel has left the line in the cache. What is read again is found while the CTAs'
 * working sets fit into the cache together. Beyond, it is lost as the reads of nbf grow in table 5,
 * whose CTA has a set of 65 lines in a cache of 64 (section 5.1): the curve is over the sets, in
 * caches, and so for sets and caches of any size. All is lost but what a warp reads again at once:
 * of the reads that a lone CTA of table 5 finds in the cache, 0.53 (nbf) and 0.58 (unstructured) go
 * to DRAM where nothing stays. (Its reads and miss rates are of one piece only where 230 of 3,044
 * accesses, and 289 of 8,392, are stores, which miss at any degree.) A set that does not fit is
 * used all over or piece by piece, which its size does not tell; what the CTA lost alone does, by
 * the place on the curve where as much is lost. What one whose set fits loses alone, to lines that
 * stream by and to full sets of the cache, it loses at any degree.
 *
 * The third is the default. It knows more of the CTA: what lies between two reads of a line. N CTAs
 * read N times as much there, except for the lines that they share. From this follows what a cache
 * with its sets and ways loses (sched/reuse.h). What was read is taken as measured. The most that
 * can be read is as for the second; of the reads in between, it counts the share that the lone CTA
 * kept and that N CTAs lose.
 *
 * One degree more adds a CTA of 6 warps to the paper's SM. What latency and pipeline grow by for it
 * is taken in part, as a power, for a CTA of fewer, and as it is printed for one of more: to the
 * power of 16 warps, 1.1 and 1.2 would give 2.10 at the second CTA, more than two CTAs one after
 * the other take.
 *
 * A CTA's time grows by the growths' product. The paper says of reads times latency that it is more
 * than the time's growth in some cases and less in many others (section 4.3: in 4 and 17 of table
 * 7's 21 rows), "not enough", for which the pipeline's is to compensate (4.4). All three grow at
 * every degree; with `flat=keeps` latency and pipeline stay as they are where DRAM reads do not
 * grow, as the latencies of table 4 do, 264 cycles with 2 warps and 270 with 14, but not those of
 * bfs in table 7 (by 1.02 to 1.43 for each CTA).
 *
 * With `time=parts`, which is ours, two things count that are in no factor of the product. A lone
 * CTA waits for memory only part of its time, and only that part grows with its reads and their
 * latency; the rest is time in the pipeline. And the more of the MSHRs a lone CTA has in use, the
 * less room it leaves for the reads of others. Both are counted while it runs.
 *
 * Its parts give one bound of a CTA's time, the MSHRs another, and where the two are of like size a
 * CTA takes longer than either: some of its reads find no MSHR while others find one at once. The
 * root of the sum of their squares tells that, less what the lone CTA has of it. Over seven of MD's
 * programs with five sizes of the L1D, at degrees 2 to 8, the logarithm of the throughput is then
 * off by 0.17 in the root mean square where reads and latencies are as they came to be, and by 0.29
 * where they are predicted (docs/reproduction-md.md); with the greater of the two it was 0.38 and
 * 0.45. */
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

/* Reads of a CTA, relative to degree 1, along one line; `degree` from 1 to 8, not only whole. */
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

/* `growth` to the power of warps / MD_CTA_WARPS, at most 1: by multiplication, and a root by
 * Newton's method, since pow may differ in the last bit from host to host. */
static double grow_in_part(double growth, uint32_t warps) {
    enum { STEPS = 40 };
    if (warps >= MD_CTA_WARPS) return growth;
    double root = 1 + (growth - 1) / MD_CTA_WARPS, power = 1; /* the root is no greater than this */
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

/* The table is for working sets of a cache's size or more: a CTA that fits several times contends
 * only as far as the working sets together overflow the cache. */
static double reads_by_table(const MdInputs *inputs, uint32_t degree) {
    double miss_rate = inputs->accesses > 0 ? fmin(1, inputs->dram_reads / inputs->accesses) : 0;
    double share = fmin(1, inputs->working_set / inputs->cache_lines);
    return inputs->dram_reads * reads_at(miss_rate, fmax(1, degree * share));
}

static const double NBF_SETS = 65.0 / 64; /* its working set, in caches: section 5.1 */

/* Share lost of what is read again, where the working sets are `sets` caches. */
static double lost_at(double sets) {
    const struct Curve *nbf = &TABLE_5[0];
    double all = nbf->reads[MD_MAX_DEGREE - 1] / nbf->reads[0];
    return (along(nbf, fmax(1, sets / NBF_SETS)) - 1) / (all - 1);
}

/* The sets, in caches, at which a share of `lost` is; beyond the curve its end. */
static double sets_that_lose(double lost) {
    for (int n = 1; n < MD_MAX_DEGREE; n++) {
        double from = lost_at(n * NBF_SETS), to = lost_at((n + 1) * NBF_SETS);
        if (lost < to) return (n + fmax(0, lost - from) / (to - from)) * NBF_SETS;
    }
    return MD_MAX_DEGREE * NBF_SETS;
}

/* DRAM reads of a CTA when nothing stays in the cache: it loses the share `reread` of what it found
 * there alone. */
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

/* How many times the lines of one CTA `degree` CTAs read together. Other CTAs had left the lines in
 * the cache that the CTA did not have to read from DRAM: all CTAs share them. (Its reads from DRAM
 * may contain a line twice, or several sectors of a line, so the result is a lower bound.) */
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

/* Whether degree `p` reads more than a lone CTA: lines are whole. */
static bool has_grown(const MdInputs *inputs, const MdPrediction *p) {
    return p->dram_reads >= inputs->dram_reads + 1;
}

/* What latency and pipeline grow by from `before` to `p`, at degree n. */
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

/* A CTA's time at degree n, over degree 1: what it waited for memory grows with the reads and their
 * latency, the rest with the pipeline; and the reads of n CTAs are under way no more at a time than
 * the MSHRs allow. */
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
