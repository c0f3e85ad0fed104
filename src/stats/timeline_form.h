/* The two forms of a timeline file, and what they share. */
#ifndef TYTO_STATS_TIMELINE_FORM_H
#define TYTO_STATS_TIMELINE_FORM_H

#include "base/map.h"
#include "base/output_file.h"
#include "base/text.h"
#include "stats/run.h"
#include "stats/timeline.h"

enum { TIMELINE_MAX_SERIES = 10 };

/* A counter track of the GPU: several counters stacked, each as a share of another counter times
 * `scale`. */
typedef struct TimelineTrack {
    const char *name;
    double scale;
    CounterId of;
    CounterId series[TIMELINE_MAX_SERIES];
    int count;
} TimelineTrack;
extern const TimelineTrack timeline_tracks[];
extern const int timeline_track_count;

/* The value of a track's series in an interval, rounded to thousandths. */
double timeline_value(const TimelineTrack *track, int series, const Counters *growth);

/* A form of file: its functions write each event to timeline->text, which is then written to the
 * file. */
typedef struct TimelineForm {
    void (*begin)(Timeline *timeline);
    /* `track` is TIMELINE_WHOLE for the group itself. */
    void (*name)(Timeline *timeline, uint32_t group, uint32_t track, const char *name);
    void (*slice)(Timeline *timeline, uint32_t group, uint32_t track, const char *name,
                  uint64_t start, uint64_t end);
    void (*counters)(Timeline *timeline, uint64_t start, const Counters *growth);
    /* The origin of the run, as names and texts. */
    void (*origin)(Timeline *timeline, const RunStats *run);
    void (*end)(Timeline *timeline);
    bool has_units;
} TimelineForm;
extern const TimelineForm timeline_json, timeline_protobuf;

#define TIMELINE_WHOLE UINT32_MAX
enum { TIMELINE_FIRST_WARP = 256 }; /* an SM's first warp slot; CTA slots come first */

struct Timeline {
    const TimelineForm *form;
    OutputFile *file;
    char *path; /* for the message if writing fails; owned */
    TimelineShape shape;
    Text text;       /* the event that is being assembled; the buffer is reused */
    Text inner[3];   /* protobuf: messages inside it, outermost first; likewise */
    Map *names;      /* protobuf: names with a number, which is their index, from 1 */
    bool has_events; /* JSON: the next event needs a comma before it */
};

/* Writes the assembled event to the file. */
void timeline_flush(Timeline *timeline);

#endif
