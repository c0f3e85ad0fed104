/* Timeline writer, see the header. */
#include "stats/timeline.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/output_file.h"
#include "base/text.h"
#include "stats/output.h"

struct Timeline {
    OutputFile *file;
    char *path;      /* for the message when a write fails */
    Text line;       /* the event being put together; its buffer is reused */
    bool has_events; /* the next event needs a comma before it */
};

Timeline *timeline_open(const char *path, Diag *diag) {
    OutputFile *file = output_file_open(path);
    if (!file) {
        output_failed(path, diag);
        return NULL;
    }
    Timeline *timeline = base_calloc(1, sizeof *timeline);
    timeline->file = file;
    timeline->path = strcpy(base_malloc(strlen(path) + 1), path);
    text_add(&timeline->line, "[");
    return timeline;
}

/* Writes what has been put together. */
static void flush_line(Timeline *timeline) {
    const Text *line = &timeline->line;
    fwrite(text_string(line), 1, line->length, output_file_stream(timeline->file));
    text_clear(&timeline->line);
}

static void begin_event(Timeline *timeline, const char *phase, uint32_t group) {
    text_printf(&timeline->line, "%s\n{\"ph\":\"%s\",\"pid\":%" PRIu32,
                timeline->has_events ? "," : "", phase, group);
    timeline->has_events = true;
}

static void end_event(Timeline *timeline) {
    text_add(&timeline->line, "}");
    flush_line(timeline);
}

static void add_string(Timeline *timeline, const char *key, const char *value) {
    Json json;
    json_begin(&json, &timeline->line);
    text_printf(&timeline->line, "\"%s\":", key);
    json_string(&json, value);
}

static void name_something(Timeline *timeline, uint32_t group, uint32_t track, const char *what,
                           const char *name) {
    begin_event(timeline, "M", group);
    text_printf(&timeline->line, ",\"tid\":%" PRIu32 ",\"name\":\"%s\",\"args\":{", track, what);
    add_string(timeline, "name", name);
    text_add(&timeline->line, "}");
    end_event(timeline);
}

void timeline_name_group(Timeline *timeline, uint32_t group, const char *name) {
    name_something(timeline, group, 0, "process_name", name);
}

void timeline_name_track(Timeline *timeline, uint32_t group, uint32_t track, const char *name) {
    name_something(timeline, group, track, "thread_name", name);
}

void timeline_slice(Timeline *timeline, uint32_t group, uint32_t track, const char *name,
                    uint64_t start, uint64_t end) {
    begin_event(timeline, "X", group);
    text_printf(&timeline->line, ",\"tid\":%" PRIu32 ",\"ts\":%" PRIu64 ",\"dur\":%" PRIu64 ",",
                track, start, end - start);
    add_string(timeline, "name", name);
    end_event(timeline);
}

/* The counter tracks: some counters stacked, each as share of another one times `scale`. */
enum { TRACK_MAX_SERIES = 10 };
/* clang-format off */
static const struct {
    const char *name;
    double scale;
    CounterId of;
    CounterId series[TRACK_MAX_SERIES];
    int count;
} counter_tracks[] = {
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

void timeline_counters(Timeline *timeline, uint64_t start, const Counters *growth) {
    for (size_t i = 0; i < sizeof counter_tracks / sizeof *counter_tracks; i++) {
        uint64_t of = counters_get(growth, counter_tracks[i].of);
        begin_event(timeline, "C", TIMELINE_GPU);
        text_printf(&timeline->line, ",\"tid\":0,\"ts\":%" PRIu64 ",", start);
        add_string(timeline, "name", counter_tracks[i].name);
        text_add(&timeline->line, ",\"args\":{");
        for (int s = 0; s < counter_tracks[i].count; s++) {
            CounterId id = counter_tracks[i].series[s];
            double share =
                of ? counter_tracks[i].scale * (double)counters_get(growth, id) / (double)of : 0;
            Json json;
            json_begin(&json, &timeline->line);
            text_printf(&timeline->line, "%s\"%s\":", s ? "," : "", counter_rows[id].name);
            json_double(&json, round(share * 1000) / 1000);
        }
        text_add(&timeline->line, "}");
        end_event(timeline);
    }
}

static void free_timeline(Timeline *timeline) {
    text_free(&timeline->line);
    free(timeline->path);
    free(timeline);
}

bool timeline_close(Timeline *timeline, Diag *diag) {
    text_add(&timeline->line, "\n]\n");
    flush_line(timeline);
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
