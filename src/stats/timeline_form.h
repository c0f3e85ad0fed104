/* The two forms of a timeline's file, and what they share. */
#ifndef TYTO_STATS_TIMELINE_FORM_H
#define TYTO_STATS_TIMELINE_FORM_H

#include "base/map.h"
#include "base/output_file.h"
#include "base/text.h"
#include "stats/run.h"
#include "stats/timeline.h"

enum { TIMELINE_MAX_SERIES = 10 };

/* A counter track of the GPU: some counters stacked, each as share of another one times `scale`. */
typedef struct TimelineTrack {
    const char *name;
    double scale;
    CounterId of;
    CounterId series[TIMELINE_MAX_SERIES];
    int count;
} TimelineTrack;
extern const TimelineTrack timeline_tracks[];
extern const int timeline_track_count;

/* A series of a track in an interval, in thousandths at the finest. */
double timeline_value(const TimelineTrack *track, int series, const Counters *growth);

/* A form writes each event into timeline->text, from which it goes to the file. */
typedef struct TimelineForm {
    void (*begin)(Timeline *timeline);
    /* `track` is TIMELINE_WHOLE for the group itself. */
    void (*name)(Timeline *timeline, uint32_t group, uint32_t track, const char *name);
    void (*slice)(Timeline *timeline, uint32_t group, uint32_t track, const char *name,
                  uint64_t start, uint64_t end);
    void (*counters)(Timeline *timeline, uint64_t start, const Counters *growth);
    /* Where it comes from, as names and texts. */
    void (*origin)(Timeline *timeline, const RunStats *run);
    void (*end)(Timeline *timeline);
    bool has_units;
} TimelineForm;
extern const TimelineForm timeline_json, timeline_protobuf;

#define TIMELINE_WHOLE UINT32_MAX
enum { TIMELINE_FIRST_WARP = 256 }; /* tracks of an SM: CTA slots, then from here on warp slots */

struct Timeline {
    const TimelineForm *form;
    OutputFile *file;
    char *path; /* for the message when a write fails; owned */
    TimelineShape shape;
    Text text;       /* the event being put together; its buffer is reused */
    Text inner[3];   /* of protobuf: messages within it, outermost first; likewise */
    Map *names;      /* of protobuf: those that have a number, which is their place, from 1 */
    bool has_events; /* of JSON: the next one needs a comma before it */
};

/* Writes what has been put together. */
void timeline_flush(Timeline *timeline);

#endif
