/* Histograms of a run, each declared once in a row. All buckets of a histogram have the same width,
 * a power of two; the last one counts everything above. */
#ifndef TYTO_STATS_HISTOGRAM_H
#define TYTO_STATS_HISTOGRAM_H

#include <stdint.h>

#include "base/text.h"

enum { HISTOGRAM_BUCKETS = 64 };

/* ROW(name, unit, log2 of a bucket's width, meaning) */
/* clang-format off */
#define HISTOGRAMS(ROW) \
    ROW(active_lanes, "lanes", 0, "active lanes of the issued instructions") \
    ROW(accesses, "accesses", 0, "coalesced accesses of a global or local instruction") \
    ROW(shared_conflicts, "cycles", 0, "cycles of a shared memory instruction") \
    ROW(read_latency, "SM cycles", 5, "from an SM's miss to the reply") \
    ROW(cta_lifetime, "SM cycles", 10, "from a CTA's launch to its end")
/* clang-format on */

typedef struct Histogram {
    uint64_t buckets[HISTOGRAM_BUCKETS];
    uint64_t count; /* number of values */
    uint64_t sum;   /* sum of the values */
    uint64_t max;   /* largest value */
} Histogram;

#define HISTOGRAM_FIELD(name, unit, shift, meaning) Histogram name;
typedef struct Histograms {
    HISTOGRAMS(HISTOGRAM_FIELD)
} Histograms;
#undef HISTOGRAM_FIELD

#define HISTOGRAM_ID(name, unit, shift, meaning) HISTOGRAM_##name,
typedef enum HistogramId { HISTOGRAMS(HISTOGRAM_ID) HISTOGRAM_COUNT } HistogramId;
#undef HISTOGRAM_ID

typedef struct HistogramRow {
    const char *name;
    const char *unit;
    int shift; /* log2 of a bucket's width */
    const char *meaning;
} HistogramRow;

extern const HistogramRow histogram_rows[HISTOGRAM_COUNT];

static inline Histogram *histograms_get(Histograms *histograms, HistogramId id) {
    return &((Histogram *)histograms)[id];
}

/* Counts a value `times` times. */
static inline void histogram_add_all(Histograms *histograms, HistogramId id, uint64_t value,
                                     uint64_t times) {
    Histogram *histogram = histograms_get(histograms, id);
    uint64_t bucket = value >> histogram_rows[id].shift;
    histogram->buckets[bucket < HISTOGRAM_BUCKETS ? bucket : HISTOGRAM_BUCKETS - 1] += times;
    histogram->count += times;
    histogram->sum += value * times;
    if (value > histogram->max) histogram->max = value;
}

/* Counts one value: histogram_add(&histograms, HISTOGRAM_accesses, 4). */
static inline void histogram_add(Histograms *histograms, HistogramId id, uint64_t value) {
    histogram_add_all(histograms, id, value, 1);
}

/* Adds the histograms of one unit or one kernel to a sum. */
void histograms_add(Histograms *sum, const Histograms *part);

/* Number of buckets up to the last that is not empty. */
int histogram_used_buckets(const Histogram *histogram);

/* Adds an object with all histograms that contain a value. */
void histograms_write_json(const Histograms *histograms, Json *json);

/* Adds the part of docs/metrics.md about histograms. */
void histograms_document(Text *out);

#endif
