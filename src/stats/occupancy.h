/* How many CTAs of a kernel fit on an SM, and which resources limit them. Each resource is one row.
 * The struct, the JSON object and the text are derived from the rows. */
#ifndef TYTO_STATS_OCCUPANCY_H
#define TYTO_STATS_OCCUPANCY_H

#include <stdint.h>

#include "base/text.h"
#include "stats/counters.h"

/* LIMIT(name, words): "limited by WORDS" */
#define OCCUPANCY_LIMITS(LIMIT)                                                                    \
    LIMIT(slots, "thread block slots")                                                             \
    LIMIT(warps, "warp slots")                                                                     \
    LIMIT(registers, "registers")                                                                  \
    LIMIT(shared, "shared memory")

#define OCCUPANCY_ID(name, words) OCCUPANCY_##name,
typedef enum OccupancyLimit { OCCUPANCY_LIMITS(OCCUPANCY_ID) OCCUPANCY_LIMIT_COUNT } OccupancyLimit;
#undef OCCUPANCY_ID

#define OCCUPANCY_NO_LIMIT UINT32_MAX /* the kernel does not use the resource */

typedef struct Occupancy {
    uint32_t ctas[OCCUPANCY_LIMIT_COUNT]; /* CTAs that each resource allows */
    uint32_t cta_warps;                   /* warps of a CTA */
    uint32_t warps;                       /* warp slots of an SM; 0: unknown */
} Occupancy;

/* Number of CTAs that fit. */
uint32_t occupancy_ctas(const Occupancy *occupancy);
/* Share of an SM's warp slots that these CTAs fill; NaN if unknown. */
double occupancy_theoretical(const Occupancy *occupancy);
/* Mean of resident warps over the SM cycles with any, as a share of the warp slots; NaN if
 * unknown. */
double occupancy_achieved(const Occupancy *occupancy, const Counters *counters);
/* The names of all resources that allow no more CTAs, "registers and shared memory". */
void occupancy_add_limiters(const Occupancy *occupancy, Text *out);

/* Adds the JSON object. */
void occupancy_write_json(const Occupancy *occupancy, const Counters *counters, Json *json);
/* Adds a line of text, if something is known. */
void occupancy_report(const Occupancy *occupancy, const Counters *counters, Text *out);

#endif
