/* What both forms of a timeline share (see the headers). */
#include "stats/timeline.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "stats/output.h"
#include "stats/timeline_form.h"

/* clang-format off */
const TimelineTrack timeline_tracks[] = {
    {"scheduler cycles, %", 100, COUNTER_scheduler_cycles,
     {COUNTER_issued, COUNTER_scoreboard_memory, COUNTER_scoreboard_other, COUNTER_pipeline_lsu,
      COUNTER_pipeline_other, COUNTER_throttled, COUNTER_idle_barrier, COUNTER_idle_branch,
      COUNTER_idle_fetch, COUNTER_idle_no_warp}, 10},
    {"resident warps per SM", 1, COUNTER_sm_cycles, {COUNTER_warp_cycles}, 1},
    {"L1D misses, %", 100, COUNTER_l1d_accesses, {COUNTER_l1d_misses}, 1},
    {"L2 misses, %", 100, COUNTER_l2_accesses, {COUNTER_l2_misses}, 1},
    {"requests waiting per DRAM channel", 1, COUNTER_dram_ticks, {COUNTER_dram_queue_ticks}, 1},
    {"busy banks per DRAM channel", 1, COUNTER_dram_ticks, {COUNTER_dram_bank_ticks}, 1},
    {"DRAM data bus, %", 100, COUNTER_dram_ticks, {COUNTER_dram_bus_ticks}, 1},
};
/* clang-format on */
const int timeline_track_count = sizeof timeline_tracks / sizeof *timeline_tracks;

double timeline_value(const TimelineTrack *track, int series, const Counters *growth) {
    uint64_t of = counters_get(growth, track->of);
    uint64_t count = counters_get(growth, track->series[series]);
    double share = of ? track->scale * (double)count / (double)of : 0;
    return round(share * 1000) / 1000;
}

/* ---- Opening ---- */

/* The form for a file name extension; NULL: not one of a timeline. */
static const TimelineForm *find_form(const char *path) {
    static const struct {
        const char *ending;
        const TimelineForm *form;
    } rows[] = {{".json", &timeline_json},
                {".pftrace", &timeline_protobuf},
                {".perfetto-trace", &timeline_protobuf}};
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *ending = strrchr(name, '.');
    if (!ending || ending == name) return &timeline_json;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(ending, rows[i].ending) == 0) return rows[i].form;
    return NULL;
}

bool timeline_takes(const char *path) { return find_form(path) != NULL; }

static void name_slots(Timeline *timeline, uint32_t sm, uint32_t first, uint32_t count,
                       const char *what) {
    char name[64];
    for (uint32_t slot = 0; slot < count; slot++) {
        snprintf(name, sizeof name, "%s slot %u", what, slot);
        timeline->form->name(timeline, TIMELINE_FIRST_SM + sm, first + slot, name);
    }
}

static void name_tracks(Timeline *timeline) {
    const TimelineForm *form = timeline->form;
    const TimelineShape *shape = &timeline->shape;
    char name[64];
    form->name(timeline, TIMELINE_GPU, TIMELINE_WHOLE, "GPU");
    form->name(timeline, TIMELINE_GPU, 0, "kernels");
    for (uint32_t sm = 0; sm < shape->sms; sm++) {
        snprintf(name, sizeof name, "SM %u", sm);
        form->name(timeline, TIMELINE_FIRST_SM + sm, TIMELINE_WHOLE, name);
        name_slots(timeline, sm, 0, shape->ctas, "CTA");
        if (form->has_units) name_slots(timeline, sm, TIMELINE_FIRST_WARP, shape->warps, "warp");
    }
    for (uint32_t channel = 0; form->has_units && channel < shape->channels; channel++) {
        snprintf(name, sizeof name, "DRAM channel %u", channel);
        form->name(timeline, TIMELINE_FIRST_CHANNEL + channel, TIMELINE_WHOLE, name);
    }
}

Timeline *timeline_open(const char *path, const TimelineShape *shape, Diag *diag) {
    OutputFile *file = output_file_open(path);
    if (!file) {
        output_failed(path, diag);
        return NULL;
    }
    Timeline *timeline = base_calloc(1, sizeof *timeline);
    timeline->form = find_form(path);
    timeline->file = file;
    timeline->path = strcpy(base_malloc(strlen(path) + 1), path);
    timeline->shape = *shape;
    timeline->names = map_new();
    timeline->form->begin(timeline);
    name_tracks(timeline);
    return timeline;
}

/* ---- Events ---- */

void timeline_flush(Timeline *timeline) {
    const Text *text = &timeline->text;
    fwrite(text_string(text), 1, text->length, output_file_stream(timeline->file));
    text_clear(&timeline->text);
}

void timeline_kernel(Timeline *timeline, const char *name, uint64_t start, uint64_t end) {
    timeline->form->slice(timeline, TIMELINE_GPU, 0, name, start, end);
}

void timeline_cta(Timeline *timeline, uint32_t sm, uint32_t slot, const char *name, uint64_t start,
                  uint64_t end) {
    timeline->form->slice(timeline, TIMELINE_FIRST_SM + sm, slot, name, start, end);
}

void timeline_counters(Timeline *timeline, uint64_t start, const Counters *growth) {
    timeline->form->counters(timeline, start, growth);
}

bool timeline_has_units(const Timeline *timeline) { return timeline->form->has_units; }

/* ---- The end ---- */

static void free_timeline(Timeline *timeline) {
    text_free(&timeline->text);
    for (int i = 0; i < 3; i++)
        text_free(&timeline->inner[i]);
    map_free(timeline->names);
    free(timeline->path);
    free(timeline);
}

bool timeline_close(Timeline *timeline, const RunStats *run, Diag *diag) {
    if (run) timeline->form->origin(timeline, run);
    timeline->form->end(timeline);
    bool is_written = output_file_close(timeline->file);
    if (!is_written) output_failed(timeline->path, diag);
    free_timeline(timeline);
    return is_written;
}

void timeline_abandon(Timeline *timeline) {
    if (!timeline) return;
    output_file_abandon(timeline->file);
    free_timeline(timeline);
}
