/* Sampled time series (see the header). */
#include "stats/timeseries.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

typedef struct Sample {
    uint64_t end_cycle;
    Counters growth; /* growth since the previous sample */
} Sample;

struct TimeSeries {
    uint64_t interval; /* SM cycles; doubled whenever the series was full */
    uint64_t due;      /* SM cycle of the next sample */
    Counters last;     /* the counters at the last sample */
    int count, most;   /* number of samples, and the most that fit */
    Sample samples[];
};

TimeSeries *timeseries_new(uint64_t interval, int most) {
    TimeSeries *series = base_calloc(1, sizeof *series + (size_t)most * sizeof series->samples[0]);
    series->interval = interval;
    series->due = interval;
    series->most = most;
    return series;
}

void timeseries_free(TimeSeries *series) { free(series); }

uint64_t timeseries_due(const TimeSeries *series) { return series->due; }

int timeseries_count(const TimeSeries *series) { return series->count; }

uint64_t timeseries_interval(const TimeSeries *series) { return series->interval; }

const Counters *timeseries_at(const TimeSeries *series, int i, uint64_t *end_cycle) {
    *end_cycle = series->samples[i].end_cycle;
    return &series->samples[i].growth;
}

static void join_pairs(TimeSeries *series) {
    for (int i = 0; i < series->count / 2; i++) {
        Sample joined = series->samples[2 * i + 1];
        counters_add(&joined.growth, &series->samples[2 * i].growth);
        series->samples[i] = joined;
    }
    series->count /= 2;
    series->interval *= 2;
}

void timeseries_sample(TimeSeries *series, uint64_t cycle, const Counters *counters) {
    if (series->count == series->most) join_pairs(series);
    Sample *sample = &series->samples[series->count++];
    sample->end_cycle = cycle;
    sample->growth = counters_since(&series->last, counters);
    series->last = *counters;
    series->due = (cycle / series->interval + 1) * series->interval;
}

static void write_column(const TimeSeries *series, CounterId id, Json *json) {
    json_key(json, counter_rows[id].name);
    json_array(json);
    for (int i = 0; i < series->count; i++)
        json_uint(json, counters_get(&series->samples[i].growth, id));
    json_end_array(json);
}

void timeseries_write_json(const TimeSeries *series, Json *json) {
    json_object(json);
    json_key(json, "interval");
    json_uint(json, series->interval);
    json_key(json, "end_cycle");
    json_array(json);
    for (int i = 0; i < series->count; i++)
        json_uint(json, series->samples[i].end_cycle);
    json_end_array(json);
    for (CounterId id = 0; id < COUNTER_COUNT; id++) {
        if (counters_get(&series->last, id)) write_column(series, id, json);
    }
    json_end_object(json);
}
