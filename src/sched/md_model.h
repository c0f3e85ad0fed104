/* The predictions of MD's decision scheme: from what one CTA did alone on an SM, how the DRAM reads
 * of a CTA, the latency of a read, and the time in the pipeline grow as more CTAs share the SM.
 * Source: MD section 5.1. */
#ifndef TYTO_SCHED_MD_MODEL_H
#define TYTO_SCHED_MD_MODEL_H

#include <stdbool.h>
#include <stdint.h>

enum {
    MD_MAX_DEGREE = 8, /* the last row of the paper's tables: its SM holds 8 CTAs */
    MD_CTA_WARPS = 6,  /* of the paper's CTAs: what one degree more adds */
};

/* How the DRAM reads of a CTA grow with the degree; the paper does not print its curve. */
typedef enum MdCurve {
    MD_CURVE_REUSE, /* by the distances of its reads again, and the sets of the cache */
    MD_CURVE_SETS,  /* by what of the CTAs' working sets fits into the cache */
    MD_CURVE_TABLE  /* along the lines of table 5, by the miss rate */
} MdCurve;

/* How a CTA's time grows with what it is made of. */
typedef enum MdTime {
    MD_TIME_PARTS,  /* ours: each part by what it waits for, no more reads at once than MSHRs */
    MD_TIME_PRODUCT /* the paper's, sections 4.3 and 4.4: all of it by all growths */
} MdTime;

/* Whether latency and pipeline grow where DRAM reads do not. */
typedef enum MdFlat {
    MD_FLAT_KEEPS, /* ours: no */
    MD_FLAT_GROWS  /* as much as anywhere: the paper knows no exception */
} MdFlat;

/* What is compared with 5 and 15 caches where latency grows. */
typedef enum MdLarge {
    MD_LARGE_LINES, /* the lines that a CTA reads again: its working set, as in section 5.1 */
    MD_LARGE_READS  /* the lines that it reads from DRAM, which the stage takes */
} MdLarge;

/* What the paper leaves open, or is done otherwise on demand. */
typedef struct MdModel {
    MdCurve curve;
    double reread; /* share of what a lone CTA finds in the cache that reads DRAM when nothing stays
                      there for long (not MD_CURVE_TABLE) */
    MdTime time;
    MdFlat flat;
    MdLarge large;
} MdModel;

typedef struct MdInputs {
    double accesses;          /* L1D accesses of the CTA, loads and stores */
    double loads;             /* of those, loads */
    double dram_reads;        /* lines, or sectors, it read from DRAM */
    double warp_instructions; /* it issued */
    uint32_t warps;           /* it has */
    double load_latency;      /* mean of its reads, SM cycles */
    double waiting;           /* share of its time in which all its warps waited for memory */
    double under_way;         /* of its reads, in the mean over its time */
    double mshrs;             /* reads that can be under way; 0: any number */
    double lines;             /* different lines it read */
    double working_set;       /* of those, the ones it read again: streamed lines are none */
    double cache_lines;       /* of the L1D */
    double sectors;           /* that a line is read in; 0 or 1: in one piece */
    uint32_t ways;            /* lines of a set of it */
    const uint32_t
        *distances; /* reads again by their distance (sched/reuse.h); of MD_CURVE_REUSE */
    uint32_t distance_count;
} MdInputs;

/* What is predicted for a degree N, that is, N CTAs on the SM. Growths are from N - 1 to N. */
typedef struct MdPrediction {
    double dram_reads;      /* of a CTA */
    double miss_rate;       /* DRAM reads per access, at most 1 */
    double read_growth;     /* of DRAM reads of a CTA */
    double latency_growth;  /* of the latency of a read */
    double pipeline_growth; /* of the time in the pipeline */
    double latency;         /* of a read, SM cycles */
    double pipeline;        /* time in the pipeline, over degree 1 */
    double time;            /* of a CTA, over degree 1 */
    double throughput;      /* over degree 1: N over the time */
} MdPrediction;

/* Whether a CTA that reads `dram_reads` lines does so with so few of its instructions that the
 * highest degree is best. */
bool md_is_compute_bound(const MdInputs *inputs, double dram_reads, double threshold);

/* Growth of the latency, from the miss rate and its increase at the degree, and from the `lines`
 * that are compared with caches of `cache_lines`. */
double md_latency_growth(double miss_rate, double increase, double lines, double cache_lines);

/* Growth of the time in the pipeline, at `degree` with `dram_reads` lines per CTA. */
double md_pipeline_growth(uint32_t degree, double working_set, double dram_reads,
                          double cache_lines);

/* DRAM reads of a CTA at degree `degree`, from 1. */
double md_dram_reads(const MdInputs *inputs, const MdModel *model, uint32_t degree);

/* Predicts degrees 1 to `degrees` into predictions[0..degrees-1]; beyond MD_MAX_DEGREE the paper's
 * curves stay where they end. The result is the degree of the highest throughput, the lowest of
 * equals. */
uint32_t md_predict(const MdInputs *inputs, const MdModel *model, uint32_t degrees,
                    MdPrediction *predictions);

#endif
