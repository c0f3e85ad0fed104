/* Records a run while it proceeds. */
#include "engine/observe/watch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/demangle.h"

/* Records the beginning or the end of a kernel. */
static void record_kernel(const Watch *watch, L1dKind kind, uint64_t cycle, uint64_t number) {
    if (watch->l1d)
        l1d_writer_add(watch->l1d,
                       &(L1dRecord){.cycle = cycle, .address = number, .kind = (uint8_t)kind});
}

bool watch_is_of_one_kernel(const Watch *watch) {
    return watch && (watch->timeline || watch->tracks || watch->series || watch->records_ctas ||
                     watch->policies || watch->profile || watch->l1d || watch->snapshots);
}

/* Allocates memory for more CTAs. Memory grows with the CTAs that have ended, not with the grid. */
static void make_room(Watch *watch) {
    watch->cta_room = watch->cta_room ? 2 * watch->cta_room : 64;
    watch->ctas = base_realloc(watch->ctas, watch->cta_room * sizeof *watch->ctas);
}

void watch_start(Watch *watch, const char *kernel, uint32_t stream, uint64_t cycle) {
    if (!watch) return;
    record_kernel(watch, L1D_KERNEL_START, cycle, watch->kernels++);
    watch->kernel = kernel;
    watch->stream = stream;
    watch->start = cycle;
    watch->last = (Counters){0};
    if (watch->tracks) unit_tracks_start(watch->tracks, cycle);
    watch->next_sample = watch->timeline ? cycle + watch->timeline_interval : UINT64_MAX;
    bool has_reports = watch->policies && watch->policies_interval;
    watch->next_report = has_reports ? cycle + watch->policies_interval : UINT64_MAX;
    free(watch->ctas);
    watch->cta_count = watch->cta_room = 0;
    watch->ctas = NULL;
    if (watch->records_ctas) make_room(watch);
}

uint64_t watch_due(const Watch *watch) {
    if (!watch) return UINT64_MAX;
    uint64_t series = watch->series ? timeseries_due(watch->series) : UINT64_MAX;
    uint64_t snapshots = watch->snapshots ? snapshots_due(watch->snapshots) : UINT64_MAX;
    uint64_t sample = series < watch->next_sample ? series : watch->next_sample;
    if (snapshots < sample) sample = snapshots;
    return sample < watch->next_report ? sample : watch->next_report;
}

bool watch_wants_units(const Watch *watch, uint64_t cycle) {
    return watch && watch->tracks && cycle >= watch->next_sample;
}

bool watch_wants_policies(Watch *watch, uint64_t cycle) {
    if (!watch || cycle < watch->next_report) return false;
    watch->next_report = cycle + watch->policies_interval;
    return true;
}

static void sample_timeline(Watch *watch, uint64_t cycle, const Counters *counters) {
    Counters growth = counters_since(&watch->last, counters);
    timeline_counters(watch->timeline, watch->next_sample - watch->timeline_interval, &growth);
    watch->last = *counters;
    watch->next_sample = cycle + watch->timeline_interval;
}

/* Samples the series of --sample and that of the snapshots, whichever is due. */
static void sample_series(Watch *watch, uint64_t cycle, const Counters *counters, bool is_end) {
    Counters all = watch->before;
    counters_add(&all, counters);
    if (watch->series && (is_end || cycle >= timeseries_due(watch->series)))
        timeseries_sample(watch->series, cycle, &all);
    if (watch->snapshots && (is_end || cycle >= snapshots_due(watch->snapshots)))
        snapshots_sample(watch->snapshots, cycle, &all);
}

void watch_sample(Watch *watch, uint64_t cycle, const Counters *counters) {
    if (watch->timeline && cycle >= watch->next_sample) sample_timeline(watch, cycle, counters);
    sample_series(watch, cycle, counters, false);
}

static void record_cta(Watch *watch, const SmCtaEnd *end) {
    if (watch->cta_count == watch->cta_room) make_room(watch);
    watch->ctas[watch->cta_count++] = (CtaRecord){.cta = end->cta,
                                                  .sm = end->sm,
                                                  .slot = end->slot,
                                                  .start = end->start - watch->start,
                                                  .end = end->end - watch->start};
}

static int compare_ctas(const void *a, const void *b) {
    uint64_t one = ((const CtaRecord *)a)->cta, other = ((const CtaRecord *)b)->cta;
    return (one > other) - (one < other);
}

CtaRecord *watch_take_ctas(Watch *watch, uint64_t *count) {
    CtaRecord *ctas = watch->ctas;
    *count = watch->cta_count;
    if (ctas) qsort(ctas, watch->cta_count, sizeof *ctas, compare_ctas);
    watch->ctas = NULL;
    watch->cta_count = watch->cta_room = 0;
    return ctas;
}

void watch_cta(Watch *watch, const SmCtaEnd *end) {
    if (!watch) return;
    if (watch->ctas) record_cta(watch, end);
    if (watch->timeline) {
        Text name = {0};
        demangle_short(watch->kernel, &name);
        text_printf(&name, " CTA %" PRIu64, end->cta);
        timeline_cta(watch->timeline, end->sm, end->slot, text_string(&name), end->start, end->end);
        text_free(&name);
    }
}

void watch_l1d(Watch *watch, const L1dRecord *record) { l1d_writer_add(watch->l1d, record); }

void watch_end(Watch *watch, uint64_t cycle, const Counters *counters) {
    if (!watch) return;
    if (watch->timeline) {
        sample_timeline(watch, cycle, counters);
        Text name = {0};
        demangle_short(watch->kernel, &name);
        if (watch->stream) text_printf(&name, " (stream %" PRIu32 ")", watch->stream);
        timeline_kernel(watch->timeline, text_string(&name), watch->start, cycle);
        text_free(&name);
    }
    sample_series(watch, cycle, counters, true);
    record_kernel(watch, L1D_KERNEL_END, cycle, counters->thread_instructions);
    counters_add(&watch->before, counters);
}
