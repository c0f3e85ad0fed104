/* Converts samples of warps and units to slices and counters (see the header). */
#include "engine/observe/unit_tracks.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

/* What a warp slot did at the last sample. */
typedef struct Slot {
    const char *doing; /* NULL: no warp was there */
    uint32_t line;     /* line of the PTX */
    bool is_seen;      /* seen in the current sample */
    uint64_t since;    /* SM cycle of the first sample at which it did this */
} Slot;

struct UnitTracks {
    Timeline *timeline; /* borrowed */
    TimelineShape shape;
    Slot *slots;           /* by SM, then warp slot */
    Counters *sms;         /* counters at the previous sample */
    Counters *channels;    /* likewise */
    uint64_t cycle;        /* cycle of the current or last sample */
    uint64_t cycle_before; /* cycle of the sample before */
};

UnitTracks *unit_tracks_new(Timeline *timeline, const TimelineShape *shape) {
    UnitTracks *tracks = base_calloc(1, sizeof *tracks);
    tracks->timeline = timeline;
    tracks->shape = *shape;
    tracks->slots = base_calloc((size_t)shape->sms * shape->warps, sizeof *tracks->slots);
    tracks->sms = base_calloc(shape->sms, sizeof *tracks->sms);
    tracks->channels = base_calloc(shape->channels, sizeof *tracks->channels);
    return tracks;
}

void unit_tracks_free(UnitTracks *tracks) {
    if (!tracks) return;
    free(tracks->slots);
    free(tracks->sms);
    free(tracks->channels);
    free(tracks);
}

void unit_tracks_start(UnitTracks *tracks, uint64_t cycle) {
    memset(tracks->sms, 0, tracks->shape.sms * sizeof *tracks->sms);
    tracks->cycle = cycle;
}

void unit_tracks_begin(UnitTracks *tracks, uint64_t cycle) {
    tracks->cycle_before = tracks->cycle;
    tracks->cycle = cycle;
}

/* Emits the slice of what a slot has done until now. */
static void end_slice(UnitTracks *tracks, uint32_t sm, uint32_t slot) {
    Slot *at = &tracks->slots[sm * tracks->shape.warps + slot];
    if (at->doing && at->since < tracks->cycle)
        timeline_warp(tracks->timeline, sm, slot, at->doing, at->line, at->since, tracks->cycle);
    at->doing = NULL;
}

void unit_tracks_warp(UnitTracks *tracks, uint32_t sm, uint32_t slot, const char *doing,
                      uint32_t line) {
    Slot *at = &tracks->slots[sm * tracks->shape.warps + slot];
    at->is_seen = true;
    if (at->doing == doing && at->line == line) return;
    end_slice(tracks, sm, slot);
    *at = (Slot){doing, line, true, tracks->cycle};
}

void unit_tracks_count(UnitTracks *tracks, TimelineUnit unit, uint32_t index, const Counters *now) {
    Counters *before = unit == TIMELINE_SM ? &tracks->sms[index] : &tracks->channels[index];
    Counters growth = counters_since(before, now);
    timeline_unit_counters(tracks->timeline, unit, index, tracks->cycle_before, &growth);
    *before = *now;
}

void unit_tracks_end(UnitTracks *tracks) {
    for (uint32_t sm = 0; sm < tracks->shape.sms; sm++) {
        for (uint32_t slot = 0; slot < tracks->shape.warps; slot++) {
            Slot *at = &tracks->slots[sm * tracks->shape.warps + slot];
            if (!at->is_seen) end_slice(tracks, sm, slot);
            at->is_seen = false;
        }
    }
}
