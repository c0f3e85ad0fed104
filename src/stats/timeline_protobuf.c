/* A timeline as Perfetto's trace packets. All packets belong to one sequence. Names that are
 * repeated are written once and then referred to by number.
 *
 * Source: field numbers are those of protos/perfetto/trace in Perfetto's repository
 * (trace_packet.proto, track_event/track_event.proto, track_descriptor.proto,
 * debug_annotation.proto, interned_data/interned_data.proto). */
#include "stats/timeline_form.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/protobuf.h"

enum { TRACE_PACKET = 1 };
enum {
    PACKET_TIMESTAMP = 8, /* ns */
    PACKET_SEQUENCE = 10,
    PACKET_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_FLAGS = 13,
    PACKET_DESCRIPTOR = 60
};
enum { FLAG_STATE_CLEARED = 1, FLAG_NEEDS_STATE = 2 };
enum {
    TRACK_UUID = 1,
    TRACK_NAME = 2,
    TRACK_PARENT = 5,
    TRACK_COUNTER = 8,
    TRACK_CHILD_ORDER = 11,
    TRACK_RANK = 12
};
enum { ORDER_EXPLICIT = 3 };
enum {
    EVENT_ANNOTATION = 4,
    EVENT_TYPE = 9,
    EVENT_NAME_NUMBER = 10,
    EVENT_TRACK = 11,
    EVENT_NAME = 23,
    EVENT_VALUE = 44
};
enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };
enum {
    ANNOTATION_NAME_NUMBER = 1,
    ANNOTATION_UINT = 3,
    ANNOTATION_STRING = 6,
    ANNOTATION_NAME = 10
};
enum { INTERNED_EVENT_NAMES = 2, INTERNED_ANNOTATION_NAMES = 3 };
enum { ENTRY_NUMBER = 1, ENTRY_NAME = 2 };

enum {
    SEQUENCE = 1,
    LINE_NUMBER = 1,     /* ID of the only annotation name: the line of the PTX */
    NS_PER_CYCLE = 1000, /* as in the JSON form */
    TIMELINE_ORIGIN = 1, /* index of the GPU's counter tracks; the kernels' track is 0 */
    GROUP_BITS = 12,     /* bits of a track's identity, below those of the group */
    FIRST_COUNTER = 2048 /* first counter track of a group */
};

/* The counters that are shown for an SM and for a channel. */
/* clang-format off */
typedef struct UnitTrack { const char *name; double scale; RatioId ratio; } UnitTrack;
static const UnitTrack sm_tracks[] = {
    {"issued, % of scheduler cycles", 100, RATIO_issued_share},
    {"resident warps", 1, RATIO_resident_warps},
    {"L1D misses, %", 100, RATIO_l1d_miss_rate},
};
static const UnitTrack channel_tracks[] = {
    {"data bus, %", 100, RATIO_dram_bandwidth_use},
    {"row hits, %", 100, RATIO_RBL},
    {"busy banks while any is", 1, RATIO_BLP},
    {"requests waiting", 1, RATIO_dram_queue_mean},
};
static const struct {
    const UnitTrack *tracks;
    int count;
    uint32_t first_group;
} units[] = {
    [TIMELINE_SM] = {sm_tracks, sizeof sm_tracks / sizeof *sm_tracks, TIMELINE_FIRST_SM},
    [TIMELINE_CHANNEL] = {channel_tracks, sizeof channel_tracks / sizeof *channel_tracks, TIMELINE_FIRST_CHANNEL},
};
/* clang-format on */

/* The identity of a track: 0 in the low bits for the group itself, 1 and more for its tracks. Never
 * 0, which is the trace itself. */
static uint64_t uuid(uint32_t group, uint32_t track) {
    uint64_t place = track == TIMELINE_WHOLE ? 0 : (uint64_t)track + 1;
    return ((uint64_t)group + 1) << GROUP_BITS | place;
}

/* ---- Packets ---- */

/* Begins a packet, whose parts are added to timeline->inner[0]. */
static Text *begin_packet(Timeline *timeline, uint32_t flags) {
    Text *packet = &timeline->inner[0];
    text_clear(packet);
    protobuf_uint(packet, PACKET_SEQUENCE, SEQUENCE);
    protobuf_uint(packet, PACKET_FLAGS, flags);
    return packet;
}

static void end_packet(Timeline *timeline) {
    protobuf_message(&timeline->text, TRACE_PACKET, &timeline->inner[0]);
    timeline_flush(timeline);
}

static Text *begin_inner(Timeline *timeline, int depth) {
    text_clear(&timeline->inner[depth]);
    return &timeline->inner[depth];
}

/* ---- Names ---- */

/* Adds the description of a track; `is_counter`: of a counter. Tracks are sorted by their
 * numbers. */
static void describe(Timeline *timeline, uint32_t group, uint32_t track, const char *name,
                     bool is_counter) {
    static const Text no_fields = {0};
    Text *packet = begin_packet(timeline, FLAG_NEEDS_STATE);
    Text *track_of = begin_inner(timeline, 1);
    bool is_whole = track == TIMELINE_WHOLE;
    protobuf_uint(track_of, TRACK_UUID, uuid(group, track));
    protobuf_string(track_of, TRACK_NAME, name);
    if (!is_whole) protobuf_uint(track_of, TRACK_PARENT, uuid(group, TIMELINE_WHOLE));
    if (is_counter) protobuf_message(track_of, TRACK_COUNTER, &no_fields);
    if (is_whole) protobuf_uint(track_of, TRACK_CHILD_ORDER, ORDER_EXPLICIT);
    protobuf_uint(track_of, TRACK_RANK, is_whole ? group : track);
    protobuf_message(packet, PACKET_DESCRIPTOR, track_of);
    end_packet(timeline);
}

/* Groups that represent units also get tracks for their counters. */
static void name(Timeline *timeline, uint32_t group, uint32_t track, const char *text) {
    describe(timeline, group, track, text, false);
    if (track != TIMELINE_WHOLE || group == TIMELINE_GPU) return;
    TimelineUnit unit = group < TIMELINE_FIRST_CHANNEL ? TIMELINE_SM : TIMELINE_CHANNEL;
    for (int i = 0; i < units[unit].count; i++)
        describe(timeline, group, FIRST_COUNTER + (uint32_t)i, units[unit].tracks[i].name, true);
}

/* Adds an entry of interned data to a packet. */
static void add_entry(Timeline *timeline, Text *packet, uint32_t list, uint64_t number,
                      const char *text) {
    Text *interned = begin_inner(timeline, 1), *entry = begin_inner(timeline, 2);
    protobuf_uint(entry, ENTRY_NUMBER, number);
    protobuf_string(entry, ENTRY_NAME, text);
    protobuf_message(interned, list, entry);
    protobuf_message(packet, PACKET_INTERNED, interned);
}

/* The number of a name. The first time, the name is written with the number. */
static uint64_t number_of(Timeline *timeline, const char *text) {
    size_t length = strlen(text),
           number = (size_t)(uintptr_t)map_get(timeline->names, text, length);
    if (number) return number;
    number = map_count(timeline->names) + 1;
    map_put(timeline->names, text, length, (void *)(uintptr_t)number);
    add_entry(timeline, begin_packet(timeline, FLAG_NEEDS_STATE), INTERNED_EVENT_NAMES, number,
              text);
    end_packet(timeline);
    return number;
}

static void begin(Timeline *timeline) {
    Text *packet = begin_packet(timeline, FLAG_STATE_CLEARED);
    add_entry(timeline, packet, INTERNED_ANNOTATION_NAMES, LINE_NUMBER, "line of the PTX");
    end_packet(timeline);
    uint32_t track = FIRST_COUNTER;
    char text[128];
    for (int i = 0; i < timeline_track_count; i++) {
        const TimelineTrack *of = &timeline_tracks[i];
        for (int s = 0; s < of->count; s++) {
            const char *series = of->count > 1 ? counter_rows[of->series[s]].name : "";
            snprintf(text, sizeof text, "%s%s%s", of->name, *series ? ": " : "", series);
            describe(timeline, TIMELINE_GPU, track++, text, true);
        }
    }
}

/* ---- Events ---- */

static Text *begin_event(Timeline *timeline, uint32_t type, uint64_t track, uint64_t cycle) {
    protobuf_uint(begin_packet(timeline, FLAG_NEEDS_STATE), PACKET_TIMESTAMP, cycle * NS_PER_CYCLE);
    Text *event = begin_inner(timeline, 1);
    protobuf_uint(event, EVENT_TYPE, type);
    protobuf_uint(event, EVENT_TRACK, track);
    return event;
}

static void end_event(Timeline *timeline) {
    protobuf_message(&timeline->inner[0], PACKET_EVENT, &timeline->inner[1]);
    end_packet(timeline);
}

static void slice(Timeline *timeline, uint32_t group, uint32_t track, const char *text,
                  uint64_t start, uint64_t end) {
    protobuf_string(begin_event(timeline, TYPE_BEGIN, uuid(group, track), start), EVENT_NAME, text);
    end_event(timeline);
    begin_event(timeline, TYPE_END, uuid(group, track), end);
    end_event(timeline);
}

void timeline_warp(Timeline *timeline, uint32_t sm, uint32_t slot, const char *doing, uint32_t line,
                   uint64_t start, uint64_t end) {
    uint64_t number = number_of(timeline, doing);
    uint64_t track = uuid(TIMELINE_FIRST_SM + sm, TIMELINE_FIRST_WARP + slot);
    Text *event = begin_event(timeline, TYPE_BEGIN, track, start);
    Text *annotation = begin_inner(timeline, 2);
    protobuf_uint(event, EVENT_NAME_NUMBER, number);
    protobuf_uint(annotation, ANNOTATION_NAME_NUMBER, LINE_NUMBER);
    protobuf_uint(annotation, ANNOTATION_UINT, line);
    protobuf_message(event, EVENT_ANNOTATION, annotation);
    end_event(timeline);
    begin_event(timeline, TYPE_END, track, end);
    end_event(timeline);
}

static void add_value(Timeline *timeline, uint32_t group, uint32_t index, uint64_t start,
                      double value) {
    uint64_t track = uuid(group, FIRST_COUNTER + index);
    protobuf_double(begin_event(timeline, TYPE_COUNTER, track, start), EVENT_VALUE, value);
    end_event(timeline);
}

static void counters(Timeline *timeline, uint64_t start, const Counters *growth) {
    uint32_t index = 0;
    for (int i = 0; i < timeline_track_count; i++)
        for (int s = 0; s < timeline_tracks[i].count; s++)
            add_value(timeline, TIMELINE_GPU, index++, start,
                      timeline_value(&timeline_tracks[i], s, growth));
}

void timeline_unit_counters(Timeline *timeline, TimelineUnit unit, uint32_t index, uint64_t start,
                            const Counters *growth) {
    for (int i = 0; i < units[unit].count; i++) {
        const UnitTrack *track = &units[unit].tracks[i];
        double value = counters_ratio(growth, track->ratio);
        add_value(timeline, units[unit].first_group + index, (uint32_t)i, start,
                  isnan(value) ? 0 : track->scale * value);
    }
}

/* Written as annotations of an instant event at the start, on a track of its own. */
static void origin(Timeline *timeline, const RunStats *run) {
    describe(timeline, TIMELINE_GPU, TIMELINE_ORIGIN, "where this comes from", false);
    Text *event = begin_event(timeline, TYPE_INSTANT, uuid(TIMELINE_GPU, TIMELINE_ORIGIN), 0);
    protobuf_string(event, EVENT_NAME, "the run");
    for (RunOrigin i = 0; i < RUN_ORIGINS; i++) {
        if (!run_origin(run, i)) continue;
        Text *annotation = begin_inner(timeline, 2);
        protobuf_string(annotation, ANNOTATION_NAME, run_origin_names[i]);
        protobuf_string(annotation, ANNOTATION_STRING, run_origin(run, i));
        protobuf_message(event, EVENT_ANNOTATION, annotation);
    }
    end_event(timeline);
}

static void end(Timeline *timeline) { (void)timeline; } /* packets need no end */

const TimelineForm timeline_protobuf = {begin, name, slice, counters, origin, end, true};
