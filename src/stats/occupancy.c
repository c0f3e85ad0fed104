/* Occupancy (see the header). */
#include "stats/occupancy.h"

#include <math.h>
#include <stdbool.h>

#include "stats/format.h"

#define LIMIT_ROW(name, words) {#name, words},
static const struct {
    const char *name, *words;
} limits[OCCUPANCY_LIMIT_COUNT] = {OCCUPANCY_LIMITS(LIMIT_ROW)};

uint32_t occupancy_ctas(const Occupancy *occupancy) {
    uint32_t least = OCCUPANCY_NO_LIMIT;
    for (int i = 0; i < OCCUPANCY_LIMIT_COUNT; i++)
        if (occupancy->ctas[i] < least) least = occupancy->ctas[i];
    return least;
}

double occupancy_theoretical(const Occupancy *occupancy) {
    if (!occupancy->warps) return NAN;
    return (double)occupancy_ctas(occupancy) * occupancy->cta_warps / occupancy->warps;
}

double occupancy_achieved(const Occupancy *occupancy, const Counters *counters) {
    const uint64_t active = counters->sm_cycles - counters->NoWarpCycles;
    if (!occupancy->warps || !active) return NAN;
    return (double)counters->warp_cycles / (double)active / occupancy->warps;
}

/* Whether a resource allows no more CTAs than all resources together. */
static bool is_limiter(const Occupancy *occupancy, int limit) {
    return occupancy->ctas[limit] == occupancy_ctas(occupancy);
}

void occupancy_add_limiters(const Occupancy *occupancy, Text *out) {
    int count = 0, told = 0;
    for (int i = 0; i < OCCUPANCY_LIMIT_COUNT; i++)
        count += is_limiter(occupancy, i);
    for (int i = 0; i < OCCUPANCY_LIMIT_COUNT; i++) {
        if (!is_limiter(occupancy, i)) continue;
        if (told) text_add(out, told + 1 == count ? " and " : ", ");
        text_add(out, limits[i].words);
        told++;
    }
}

static void write_share(Json *json, const char *key, double share) {
    json_key(json, key);
    json_double(json, share);
}

void occupancy_write_json(const Occupancy *occupancy, const Counters *counters, Json *json) {
    json_object(json);
    write_share(json, "theoretical", occupancy_theoretical(occupancy));
    write_share(json, "achieved", occupancy_achieved(occupancy, counters));
    json_key(json, "warps_per_sm");
    json_uint(json, occupancy->warps);
    json_key(json, "limited_by");
    json_array(json);
    for (int i = 0; i < OCCUPANCY_LIMIT_COUNT; i++)
        if (is_limiter(occupancy, i)) json_string(json, limits[i].name);
    json_end_array(json);
    json_key(json, "ctas");
    json_object(json);
    for (int i = 0; i < OCCUPANCY_LIMIT_COUNT; i++) {
        json_key(json, limits[i].name);
        if (occupancy->ctas[i] == OCCUPANCY_NO_LIMIT) json_null(json);
        else json_uint(json, occupancy->ctas[i]);
    }
    json_end_object(json);
    json_end_object(json);
}

void occupancy_report(const Occupancy *occupancy, const Counters *counters, Text *out) {
    char share[FORMAT_BYTES];
    if (!occupancy->warps) return;
    format_value(share, 100 * occupancy_theoretical(occupancy), 1);
    text_printf(out, "  warps   %s%% of %u fit on an SM, limited by ", share, occupancy->warps);
    occupancy_add_limiters(occupancy, out);
    format_value(share, 100 * occupancy_achieved(occupancy, counters), 1);
    text_printf(out, "; %s%% were resident while an SM had any\n", share);
}
