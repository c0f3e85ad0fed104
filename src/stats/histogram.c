/* Sums and writers of the histograms, derived from the rows in the header. */
#include "stats/histogram.h"

#define ROW(name, unit, shift, meaning) {#name, unit, shift, meaning},
const HistogramRow histogram_rows[HISTOGRAM_COUNT] = {HISTOGRAMS(ROW)};

void histograms_add(Histograms *sum, const Histograms *part) {
    for (HistogramId id = 0; id < HISTOGRAM_COUNT; id++) {
        Histogram *into = histograms_get(sum, id);
        const Histogram *from = &((const Histogram *)part)[id];
        for (int i = 0; i < HISTOGRAM_BUCKETS; i++)
            into->buckets[i] += from->buckets[i];
        into->count += from->count;
        into->sum += from->sum;
        if (from->max > into->max) into->max = from->max;
    }
}

int histogram_used_buckets(const Histogram *histogram) {
    int used = HISTOGRAM_BUCKETS;
    while (used > 0 && !histogram->buckets[used - 1])
        used--;
    return used;
}

void histograms_write_json(const Histograms *histograms, Json *json) {
    json_object(json);
    for (HistogramId id = 0; id < HISTOGRAM_COUNT; id++) {
        const Histogram *histogram = &((const Histogram *)histograms)[id];
        if (!histogram->count) continue;
        json_key(json, histogram_rows[id].name);
        json_object(json);
        json_key(json, "bucket_width");
        json_uint(json, UINT64_C(1) << histogram_rows[id].shift);
        json_key(json, "mean");
        json_double(json, (double)histogram->sum / (double)histogram->count);
        json_key(json, "max");
        json_uint(json, histogram->max);
        json_key(json, "counts");
        json_array(json);
        for (int i = 0; i < histogram_used_buckets(histogram); i++)
            json_uint(json, histogram->buckets[i]);
        json_end_array(json);
        json_end_object(json);
    }
    json_end_object(json);
}

void histograms_document(Text *out) {
    text_printf(out,
                "\n## Histograms\n\n%d buckets each, the last without an upper end; in JSON under "
                "`histograms`.\n\n| histogram | unit | bucket | meaning |\n|---|---|---|---|\n",
                HISTOGRAM_BUCKETS);
    for (HistogramId id = 0; id < HISTOGRAM_COUNT; id++) {
        const HistogramRow *row = &histogram_rows[id];
        text_printf(out, "| `%s` | %s | %d | %s |\n", row->name, row->unit, 1 << row->shift,
                    row->meaning);
    }
}
