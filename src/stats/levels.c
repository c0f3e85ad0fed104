/* Levels of the machine (see the header). */
#include "stats/levels.h"

#include <math.h>
#include <stdbool.h>

#include "stats/format.h"

#define LEVEL_TITLE(name, title, unit, meaning) title,
const char *const level_titles[LEVEL_COUNT] = {LEVELS(LEVEL_TITLE)};

#define LEVEL_ROW(name, title, unit, meaning) {#name, unit, meaning},
static const struct {
    const char *name, *unit, *meaning;
} rows[LEVEL_COUNT] = {LEVELS(LEVEL_ROW)};

/* What a kernel used of a level, in the level's unit. */
static double used(const LevelPeaks *peaks, Level level, const Counters *counters) {
    switch (level) {
    case LEVEL_issue:
        return (double)(counters->machine_instructions ? counters->machine_instructions
                                                       : counters->warp_instructions);
    case LEVEL_shared: return (double)counters->shared_cycles;
    case LEVEL_l1d: return (double)counters->l1d_accesses;
    case LEVEL_l2: return (double)counters->l2_accesses;
    case LEVEL_dram: return (double)counters->dram_bus_ticks * peaks->dram_tick_bytes;
    case LEVEL_COUNT: break;
    }
    return NAN;
}

double level_share(const LevelPeaks *peaks, Level level, const Counters *counters, double cycles) {
    if (!(peaks->of[level] > 0) || !(cycles > 0)) return NAN;
    return used(peaks, level, counters) / (peaks->of[level] * cycles);
}

void levels_write_peaks(const LevelPeaks *peaks, Json *json) {
    json_object(json);
    for (Level level = 0; level < LEVEL_COUNT; level++) {
        json_key(json, rows[level].name);
        json_double(json, peaks->of[level] > 0 ? peaks->of[level] : NAN);
    }
    json_key(json, "dram_tick_bytes");
    json_double(json, peaks->dram_tick_bytes);
    json_end_object(json);
}

void levels_write_shares(const LevelPeaks *peaks, const Counters *counters, Json *json) {
    json_object(json);
    for (Level level = 0; level < LEVEL_COUNT; level++) {
        json_key(json, rows[level].name);
        json_double(json, level_share(peaks, level, counters, (double)counters->cycles));
    }
    json_end_object(json);
}

void levels_report(const LevelPeaks *peaks, const Counters *counters, Text *out) {
    bool is_open = false;
    for (Level level = 0; level < LEVEL_COUNT; level++) {
        char share[FORMAT_BYTES];
        const double value = level_share(peaks, level, counters, (double)counters->cycles);
        if (isnan(value)) continue;
        format_value(share, 100 * value, 1);
        text_printf(out, "%s%s %s%%", is_open ? ", " : "  of peak ", level_titles[level], share);
        is_open = true;
    }
    if (is_open) text_add(out, "\n");
}

void levels_document(Text *out) {
    text_add(out, "| level | unit | peak in an SM cycle, of the whole GPU |\n|---|---|---|\n");
    for (Level level = 0; level < LEVEL_COUNT; level++)
        text_printf(out, "| `%s` | %s | %s |\n", rows[level].name, rows[level].unit,
                    rows[level].meaning);
}
