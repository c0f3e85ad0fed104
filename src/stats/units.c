/* Units of the machine, and how they differ (see the header). */
#include "stats/units.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "stats/csv.h"
#include "stats/format.h"

/* The names of each kind. */
static const struct UnitRow {
    const char *name, *plural, *title;
} unit_rows[UNIT_KINDS] = {
#define UNIT_ROW(name, plural, title) [UNIT_##name] = {#name, plural, title},
    UNITS(UNIT_ROW)};

Units *units_new(uint32_t sms, uint32_t channels, uint32_t slices, uint32_t banks) {
    Units *units = base_malloc(sizeof *units);
    *units = (Units){.counts = {[UNIT_sm] = sms,
                                [UNIT_slice] = channels * slices,
                                [UNIT_channel] = channels,
                                [UNIT_bank] = channels * banks},
                     .per_channel = {[UNIT_slice] = slices, [UNIT_bank] = banks}};
    for (UnitKind kind = 0; kind < UNIT_KINDS; kind++)
        units->list[kind] = base_calloc(units->counts[kind], sizeof(Counters));
    return units;
}

void units_free(Units *units) {
    for (UnitKind kind = 0; units && kind < UNIT_KINDS; kind++) {
        free(units->list[kind]);
        sets_free(&units->sets[kind]);
    }
    free(units);
}

void units_count_sets(Units *units, UnitKind kind, uint32_t of_unit) {
    sets_free(&units->sets[kind]);
    if (of_unit) units->sets[kind] = sets_new(units->counts[kind], of_unit);
}

/* ---- Spreads ---- */

static const struct SpreadRow {
    CounterId counter;
    const char *words;
} spread_rows[] = {
#define SPREAD_ROW(name, words) {COUNTER_##name, words},
    UNIT_SPREADS(SPREAD_ROW)};
enum { SPREADS = sizeof spread_rows / sizeof spread_rows[0] };
static_assert(sizeof(Spreads) == SPREADS * sizeof(Spread), "a row for each");

static double mean_of(const Spread *spread, uint32_t units) {
    return (double)spread->sum / (double)units;
}

static double imbalance_of(const Spread *spread, uint32_t units) {
    return spread->sum ? (double)spread->most / mean_of(spread, units) - 1 : NAN;
}

static void take(Spread *spread, uint64_t value, bool is_first) {
    if (is_first) *spread = (Spread){.least = value};
    if (value < spread->least) spread->least = value;
    if (value > spread->most) spread->most = value;
    spread->sum += value;
}

void spreads_take(Spreads *spreads, const Counters *unit, bool is_first) {
    Spread *spread = (Spread *)spreads;
    for (int i = 0; i < SPREADS; i++, spread++)
        take(spread, counters_get(unit, spread_rows[i].counter), is_first);
}

Spreads units_spreads(const Units *units) {
    Spreads spreads = {0};
    for (uint32_t i = 0; i < units->counts[UNIT_sm]; i++)
        spreads_take(&spreads, &units->list[UNIT_sm][i], i == 0);
    return spreads;
}

static void report_heading(uint32_t units, const char *what, Text *out) {
    char over[2 * FORMAT_BYTES];
    snprintf(over, sizeof over, "over the %u %s", units, what);
    text_printf(out, "  %-26s %12s %12s %12s %10s\n", over, "least", "mean", "most", "imbalance");
}

/* Adds a line for a counter, if anything has been counted. */
static void report_spread(const Spread *spread, uint32_t units, const char *words, Text *out) {
    char least[FORMAT_BYTES], mean[FORMAT_BYTES], most[FORMAT_BYTES], imbalance[FORMAT_BYTES];
    if (!spread->sum) return;
    format_count(least, spread->least);
    format_count(most, spread->most);
    if (mean_of(spread, units) < 1000) format_value(mean, mean_of(spread, units), 1);
    else format_count(mean, (uint64_t)round(mean_of(spread, units)));
    format_value(imbalance, 100 * imbalance_of(spread, units), 1);
    text_printf(out, "    %-24s %12s %12s %12s %9s%%\n", words, least, mean, most, imbalance);
}

void spreads_report(const Spreads *spreads, uint32_t units, Text *out) {
    const Spread *spread = (const Spread *)spreads;
    if (units < 2) return;
    report_heading(units, "SMs", out);
    for (int i = 0; i < SPREADS; i++, spread++)
        report_spread(spread, units, spread_rows[i].words, out);
}

static void write_spread(Json *json, const char *key, const Spread *spread, uint32_t units) {
    json_key(json, key);
    json_object(json);
    json_key(json, "least");
    json_uint(json, spread->least);
    json_key(json, "mean");
    json_double(json, mean_of(spread, units));
    json_key(json, "most");
    json_uint(json, spread->most);
    json_key(json, "imbalance");
    json_double(json, imbalance_of(spread, units));
    json_end_object(json);
}

void spreads_write_json(const Spreads *spreads, uint32_t units, Json *json) {
    const Spread *spread = (const Spread *)spreads;
    json_object(json);
    for (int i = 0; i < SPREADS; i++, spread++)
        write_spread(json, counter_rows[spread_rows[i].counter].name, spread, units);
    json_end_object(json);
}

/* ---- Sets ---- */

/* Caches whose sets are counted. */
static const struct SetCache {
    UnitKind kind;
    const char *prefix, *title;
} set_caches[] = {
#define SET_CACHE(kind, prefix, title) {UNIT_##kind, #prefix, title},
    SET_CACHES(SET_CACHE)};
#undef SET_CACHE
enum { SET_CACHE_COUNT = sizeof set_caches / sizeof set_caches[0] };

/* How the sets of a cache differ. */
typedef struct SetSpreads {
    uint32_t sets, idle; /* number of sets; sets that were never looked up */
    Spread accesses, misses, evictions;
} SetSpreads;

static SetSpreads spread_sets(const struct SetCache *cache, const Sets *sets) {
    bool is_one = cache->kind == UNIT_sm; /* an L1D may hold any line, a slice only its own */
    Sets added = is_one ? sets_added(sets) : *sets;
    SetSpreads spreads = {.sets = added.units * added.of_unit};
    for (uint32_t i = 0; i < spreads.sets; i++) {
        const SetCounts *set = &added.counts[i];
        spreads.idle += !set->accesses;
#define TAKE(prefix, name, words) take(&spreads.name, set->name, i == 0);
        SET_COUNTS(TAKE, )
#undef TAKE
    }
    if (is_one) sets_free(&added);
    return spreads;
}

static void report_sets(const Units *units, Text *out) {
    for (int i = 0; i < SET_CACHE_COUNT; i++) {
        const Sets *sets = &units->sets[set_caches[i].kind];
        char what[FORMAT_BYTES];
        if (!sets_are_used(sets)) continue;
        SetSpreads spreads = spread_sets(&set_caches[i], sets);
        snprintf(what, sizeof what, "%s sets", set_caches[i].title);
        report_heading(spreads.sets, what, out);
#define REPORT(prefix, name, words) report_spread(&spreads.name, spreads.sets, words, out);
        SET_COUNTS(REPORT, )
#undef REPORT
        if (spreads.idle) text_printf(out, "    %u of them had no lookup\n", spreads.idle);
    }
}

void units_write_sets_json(const Units *units, Json *json) {
    json_object(json);
    for (int i = 0; i < SET_CACHE_COUNT; i++) {
        const Sets *sets = &units->sets[set_caches[i].kind];
        if (!sets_are_used(sets)) continue;
        SetSpreads spreads = spread_sets(&set_caches[i], sets);
        json_key(json, set_caches[i].prefix);
        json_object(json);
        json_key(json, "sets");
        json_uint(json, spreads.sets);
        json_key(json, "idle");
        json_uint(json, spreads.idle);
#define WRITE(prefix, name, words) write_spread(json, #name, &spreads.name, spreads.sets);
        SET_COUNTS(WRITE, )
#undef WRITE
        json_end_object(json);
    }
    json_end_object(json);
}

/* Adds the sets of a unit's cache, as an object of lists. */
static void write_unit_sets(const Units *units, UnitKind kind, uint32_t unit, Json *json) {
    const Sets *sets = &units->sets[kind];
    for (int i = 0; i < SET_CACHE_COUNT; i++) {
        if (set_caches[i].kind != kind || !sets_are_used(sets)) continue;
        const SetCounts *own = sets_of(sets, unit);
        json_key(json, "sets");
        json_object(json);
#define WRITE(prefix, name, words)                                                                 \
    json_key(json, #name);                                                                         \
    json_array(json);                                                                              \
    for (uint32_t set = 0; set < sets->of_unit; set++)                                             \
        json_uint(json, own[set].name);                                                            \
    json_end_array(json);
        SET_COUNTS(WRITE, )
#undef WRITE
        json_end_object(json);
    }
}

/* ---- Tables ---- */

/* The columns of a kind's table: counters, or ratios if the counter is COUNTER_COUNT. */
typedef struct UnitColumn {
    const char *heading;
    CounterId counter;
    RatioId ratio;
} UnitColumn;
enum { MOST_COLUMNS = 8, MOST_ROWS = 128 };
#define COUNT(name, heading) {heading, COUNTER_##name, RATIO_COUNT}
#define RATIO(name, heading) {heading, COUNTER_COUNT, RATIO_##name}
static const UnitColumn unit_columns[UNIT_KINDS][MOST_COLUMNS] = {
    [UNIT_sm] = {COUNT(ctas_launched, "CTAs"), COUNT(warp_instructions, "instructions"),
                 RATIO(issued_share, "issued"), COUNT(NoWarpCycles, "no warp"),
                 COUNT(l1d_accesses, "L1D lookups"), RATIO(l1d_miss_rate, "misses"),
                 RATIO(load_latency, "latency")},
    [UNIT_slice] = {COUNT(l2_accesses, "lookups"), RATIO(l2_miss_rate, "misses"),
                    COUNT(l2_evictions, "evictions"), COUNT(l2_write_backs, "write-backs"),
                    COUNT(l2_refusals, "refusals")},
    [UNIT_channel] = {COUNT(l2_accesses, "L2 lookups"), COUNT(dram_reads, "reads"),
                      COUNT(dram_writes, "writes"), RATIO(RBL, "row hits"),
                      RATIO(BLP, "busy banks"), RATIO(dram_bandwidth_use, "bus use"),
                      RATIO(dram_queue_mean, "waiting")},
    [UNIT_bank] = {COUNT(dram_reads, "reads"), COUNT(dram_writes, "writes"), RATIO(RBL, "row hits"),
                   COUNT(dram_row_conflicts, "conflicts"), COUNT(dram_activates, "activates")},
};
#undef COUNT
#undef RATIO

static void format_column(char field[static FORMAT_BYTES], const UnitColumn *column,
                          const Counters *counters) {
    if (column->counter < COUNTER_COUNT)
        format_count(field, counters_get(counters, column->counter));
    else format_ratio(field, counters, column->ratio);
}

/* Whether a unit has counted anything that the table shows. */
static bool is_idle(const Units *units, UnitKind kind, uint32_t unit) {
    const UnitColumn *columns = unit_columns[kind];
    for (int c = 0; c < MOST_COLUMNS && columns[c].heading; c++) {
        if (columns[c].counter < COUNTER_COUNT &&
            counters_get(&units->list[kind][unit], columns[c].counter))
            return false;
    }
    return true;
}

/* Formats a unit's number: "3", or "1.0" for units of a channel. */
static void add_place(const Units *units, UnitKind kind, uint32_t unit, Text *out) {
    uint32_t of = units->per_channel[kind];
    char place[FORMAT_BYTES];
    if (of) snprintf(place, sizeof place, "%u.%u", unit / of, unit % of);
    else snprintf(place, sizeof place, "%u", unit);
    text_printf(out, "    %-10s", place);
}

static void report_kind(const Units *units, UnitKind kind, Text *out) {
    const UnitColumn *columns = unit_columns[kind];
    char field[FORMAT_BYTES];
    text_printf(out, "  %s%-*s", unit_rows[kind].title, (int)(12 - strlen(unit_rows[kind].title)),
                "");
    for (int c = 0; c < MOST_COLUMNS && columns[c].heading; c++)
        text_printf(out, " %12s", columns[c].heading);
    text_add(out, "\n");
    uint32_t idle = 0, busy = 0;
    for (uint32_t i = 0; i < units->counts[kind]; i++) {
        if (is_idle(units, kind, i)) {
            idle++;
            continue;
        }
        if (++busy > MOST_ROWS) continue;
        add_place(units, kind, i, out);
        for (int c = 0; c < MOST_COLUMNS && columns[c].heading; c++) {
            format_column(field, &columns[c], &units->list[kind][i]);
            text_printf(out, " %12s", field);
        }
        text_add(out, "\n");
    }
    if (busy > MOST_ROWS)
        text_printf(out, "    and %u more, which --json and --per-unit-csv have\n",
                    busy - MOST_ROWS);
    if (idle) text_printf(out, "    and %u that did nothing\n", idle);
}

void units_report(const Units *units, Text *out) {
    text_add(out, "\nunits, over all timed kernels (slices and banks as channel.slice, "
                  "channel.bank)\n");
    for (UnitKind kind = 0; kind < UNIT_KINDS; kind++)
        report_kind(units, kind, out);
    report_sets(units, out);
}

/* ---- JSON and CSV ---- */

/* Whether any unit of the kind has counted in a row. Other rows are left out. */
static bool is_counted(const Units *units, UnitKind kind, CounterId id) {
    for (uint32_t i = 0; i < units->counts[kind]; i++) {
        if (counters_get(&units->list[kind][i], id)) return true;
    }
    return false;
}

static void write_number(Json *json, const char *key, uint64_t number) {
    json_key(json, key);
    json_uint(json, number);
}

static void write_place(const Units *units, UnitKind kind, uint32_t unit, Json *json) {
    uint32_t of = units->per_channel[kind];
    if (of) write_number(json, unit_rows[UNIT_channel].name, unit / of);
    write_number(json, unit_rows[kind].name, of ? unit % of : unit);
}

static void write_unit(const Units *units, UnitKind kind, uint32_t unit, Json *json) {
    const Counters *counters = &units->list[kind][unit];
    json_object(json);
    write_place(units, kind, unit, json);
    for (CounterId id = 0; id < COUNTER_COUNT; id++) {
        if (is_counted(units, kind, id))
            write_number(json, counter_rows[id].name, counters_get(counters, id));
    }
    for (RatioId id = 0; id < RATIO_COUNT; id++) {
        double ratio = counters_ratio(counters, id);
        if (isnan(ratio) || !is_counted(units, kind, ratio_rows[id].numerator[0])) continue;
        json_key(json, ratio_rows[id].name);
        json_double(json, ratio);
    }
    write_unit_sets(units, kind, unit, json);
    json_end_object(json);
}

void units_write_json(const Units *units, Json *json) {
    json_object(json);
    for (UnitKind kind = 0; kind < UNIT_KINDS; kind++) {
        json_key(json, unit_rows[kind].plural);
        json_array(json);
        for (uint32_t i = 0; i < units->counts[kind]; i++)
            write_unit(units, kind, i, json);
        json_end_array(json);
    }
    json_end_object(json);
}

void units_write_csv_names(Text *out) {
    text_add(out, "unit,channel,number");
    csv_add_names(out);
}

void units_write_csv(const Units *units, const char *before, Text *out) {
    for (UnitKind kind = 0; kind < UNIT_KINDS; kind++) {
        uint32_t of = units->per_channel[kind];
        for (uint32_t i = 0; i < units->counts[kind]; i++) {
            text_printf(out, "%s%s,", before, unit_rows[kind].name);
            if (of) text_printf(out, "%u,%u", i / of, i % of);
            else text_printf(out, ",%u", i);
            csv_add_counters(out, &units->list[kind][i]);
            text_add(out, "\n");
        }
    }
}
