/* A timeline as JSON.
 *
 * Source: "Trace Event Format", the JSON array form. */
#include "stats/timeline_form.h"

#include <inttypes.h>
#include <string.h>

static void begin_event(Timeline *timeline, const char *phase, uint32_t group) {
    text_printf(&timeline->text, "%s\n{\"ph\":\"%s\",\"pid\":%" PRIu32,
                timeline->has_events ? "," : "", phase, group);
    timeline->has_events = true;
}

static void end_event(Timeline *timeline) {
    text_add(&timeline->text, "}");
    timeline_flush(timeline);
}

static void add_string(Timeline *timeline, const char *key, const char *value) {
    Json json;
    json_begin(&json, &timeline->text);
    text_printf(&timeline->text, "\"%s\":", key);
    json_string(&json, value);
}

static void begin(Timeline *timeline) { text_add(&timeline->text, "["); }

static void name(Timeline *timeline, uint32_t group, uint32_t track, const char *text) {
    bool is_whole = track == TIMELINE_WHOLE;
    begin_event(timeline, "M", group);
    text_printf(&timeline->text, ",\"tid\":%" PRIu32 ",\"name\":\"%s\",\"args\":{",
                is_whole ? 0 : track, is_whole ? "process_name" : "thread_name");
    add_string(timeline, "name", text);
    text_add(&timeline->text, "}");
    end_event(timeline);
}

static void slice(Timeline *timeline, uint32_t group, uint32_t track, const char *text,
                  uint64_t start, uint64_t end) {
    begin_event(timeline, "X", group);
    text_printf(&timeline->text, ",\"tid\":%" PRIu32 ",\"ts\":%" PRIu64 ",\"dur\":%" PRIu64 ",",
                track, start, end - start);
    add_string(timeline, "name", text);
    end_event(timeline);
}

static void counters(Timeline *timeline, uint64_t start, const Counters *growth) {
    for (int i = 0; i < timeline_track_count; i++) {
        const TimelineTrack *track = &timeline_tracks[i];
        begin_event(timeline, "C", TIMELINE_GPU);
        text_printf(&timeline->text, ",\"tid\":0,\"ts\":%" PRIu64 ",", start);
        add_string(timeline, "name", track->name);
        text_add(&timeline->text, ",\"args\":{");
        for (int s = 0; s < track->count; s++) {
            Json json;
            json_begin(&json, &timeline->text);
            text_printf(&timeline->text, "%s\"%s\":", s ? "," : "",
                        counter_rows[track->series[s]].name);
            json_double(&json, timeline_value(track, s, growth));
        }
        text_add(&timeline->text, "}");
        end_event(timeline);
    }
}

/* As arguments of an event that viewers ignore. */
static void origin(Timeline *timeline, const RunStats *run) {
    bool is_first = true;
    begin_event(timeline, "M", TIMELINE_GPU);
    text_add(&timeline->text, ",\"tid\":0,\"name\":\"origin\",\"args\":{");
    for (RunOrigin i = 0; i < RUN_ORIGINS; i++) {
        if (!run_origin(run, i)) continue;
        if (!is_first) text_add(&timeline->text, ",");
        add_string(timeline, run_origin_names[i], run_origin(run, i));
        is_first = false;
    }
    text_add(&timeline->text, "}");
    end_event(timeline);
}

static void end(Timeline *timeline) {
    text_add(&timeline->text, "\n]\n");
    timeline_flush(timeline);
}

const TimelineForm timeline_json = {begin, name, slice, counters, origin, end, false};
