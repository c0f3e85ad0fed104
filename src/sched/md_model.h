/* The predictions of MD's decision scheme. They are computed from what one CTA did alone on an SM:
 * how the DRAM reads of a CTA, the latency of a read, and the time in the pipeline grow when more
 * CTAs share the SM. Source: MD section 5.1. */
#ifndef TYTO_SCHED_MD_MODEL_H
#define TYTO_SCHED_MD_MODEL_H

#include <stdbool.h>
#include <stdint.h>

enum {
    MD_MAX_DEGREE = 8, /* the last row of the paper's tables: its SM holds 8 CTAs */
    MD_CTA_WARPS = 6,  /* warps of the paper's CTAs, which each degree adds */
};

/* How the DRAM reads of a CTA grow with the degree. The paper does not print its curve. */
typedef enum MdCurve {
    MD_CURVE_REUSE, /* from its reuse distances and the cache's sets */
    MD_CURVE_SETS,  /* from the part of the CTAs' working sets that does not fit into the cache */
    MD_CURVE_TABLE  /* from table 5, by miss rate */
} MdCurve;

/* How a CTA's time grows. */
typedef enum MdTime {
    MD_TIME_PARTS,  /* ours: each part by what it waits for; the MSHRs limit the reads in flight */
    MD_TIME_PRODUCT /* the paper's, sections 4.3 and 4.4: the whole time by the product of all
                       growths */
} MdTime;

/* Whether latency and pipeline grow if DRAM reads do not. */
typedef enum MdFlat {
    MD_FLAT_KEEPS, /* ours: no */
    MD_FLAT_GROWS  /* as otherwise: the paper has no exception */
} MdFlat;

/* What is compared with 5 and 15 cache sizes for the growth of latency. */
typedef enum MdLarge {
    MD_LARGE_LINES, /* the lines that a CTA reads again: its working set, as in section 5.1 */
    MD_LARGE_READS  /* the lines that it reads from DRAM, which the stage takes as input */
} MdLarge;

/* Choices that the paper leaves open, or that differ from it on request. */
typedef struct MdModel {
    MdCurve curve;
    double reread; /* share of a lone CTA's hits that go to DRAM when nothing stays in the cache
                      (not used by MD_CURVE_TABLE) */
    MdTime time;
    MdFlat flat;
    MdLarge large;
} MdModel;

typedef struct MdInputs {
    double accesses;          /* L1D accesses of the CTA, loads and stores */
    double loads;             /* of those, loads */
    double dram_reads;        /* lines or sectors that it read from DRAM */
    double warp_instructions; /* warp instructions that it issued */
    uint32_t warps;           /* warps that it has */
    double load_latency;      /* mean latency of its reads, SM cycles */
    double waiting;           /* share of its time in which all its warps waited for memory */
    double under_way;         /* mean number of its reads in flight */
    double mshrs;             /* most reads in flight; 0: no limit */
    double lines;             /* different lines it read */
    double working_set;       /* of those, lines that it read again; streamed lines do not count */
    double cache_lines;       /* lines of the L1D */
    double sectors;           /* sectors per line; 0 or 1: a line is read in one piece */
    uint32_t ways;            /* ways of the L1D */
    const uint32_t
        *distances; /* number of repeated reads by distance (sched/reuse.h); for MD_CURVE_REUSE */
    uint32_t distance_count;
} MdInputs;

/* The prediction for degree N, that is, N CTAs on the SM. Growths are from N - 1 to N. */
typedef struct MdPrediction {
    double dram_reads;      /* of a CTA */
    double miss_rate;       /* DRAM reads per access, at most 1 */
    double read_growth;     /* growth of DRAM reads of a CTA */
    double latency_growth;  /* growth of the latency of a read */
    double pipeline_growth; /* growth of the time in the pipeline */
    double latency;         /* latency of a read, SM cycles */
    double pipeline;        /* time in the pipeline, relative to degree 1 */
    double time;            /* time of a CTA, relative to degree 1 */
    double throughput;      /* relative to degree 1: N divided by the time */
} MdPrediction;

/* Whether a CTA that reads `dram_reads` lines reads so rarely, per instruction, that the highest
 * degree is best. */
bool md_is_compute_bound(const MdInputs *inputs, double dram_reads, double threshold);

/* Growth of the latency, from the miss rate at the degree, its increase, and the number of `lines`
 * that is compared with multiples of `cache_lines`. */
double md_latency_growth(double miss_rate, double increase, double lines, double cache_lines);

/* Growth of the time in the pipeline at `degree` with `dram_reads` lines per CTA. */
double md_pipeline_growth(uint32_t degree, double working_set, double dram_reads,
                          double cache_lines);

/* DRAM reads of a CTA at degree `degree` (1 or more). */
double md_dram_reads(const MdInputs *inputs, const MdModel *model, uint32_t degree);

/* Predicts degrees 1 to `degrees` into predictions[0..degrees-1]. Beyond MD_MAX_DEGREE the paper's
 * curves keep their last value. Returns the degree with the highest throughput; among equals, the
 * lowest. */
uint32_t md_predict(const MdInputs *inputs, const MdModel *model, uint32_t degrees,
                    MdPrediction *predictions);

#endif
