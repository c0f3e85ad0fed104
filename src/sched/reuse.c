/* Reuse distances from live marks, and losses from the binomial distribution (see the header). */
#include "sched/reuse.h"

#include <stdbool.h>
#include <string.h>

enum { PLACES = 1 << REUSE_LINE_BITS, MARKS = 2 * PLACES };

/* ---- Marks: numbers given to reads in order; a mark is live while it belongs to the last read of
 * its line ---- */

/* A mark becomes live (`change` is +1) or stops being live (-1). */
static void stand(Reuse *reuse, uint32_t mark, int change) {
    for (uint32_t i = mark + 1; i < MARKS; i += i & -i)
        reuse->standing[i] = (uint16_t)(reuse->standing[i] + change);
}

/* Number of live marks up to `mark`. */
static uint32_t standing_up_to(const Reuse *reuse, uint32_t mark) {
    uint32_t sum = 0;
    for (uint32_t i = mark + 1; i; i &= i - 1)
        sum += reuse->standing[i];
    return sum;
}

/* Called when all marks are used: gives the live ones the lowest numbers, in their order. */
static void renumber(Reuse *reuse) {
    uint32_t next = 0;
    memset(reuse->standing, 0, sizeof reuse->standing);
    for (uint32_t mark = 0; mark < reuse->newest; mark++) {
        const uint16_t place = reuse->owner[mark];
        if (reuse->mark[place] != mark) continue;
        reuse->mark[place] = (uint16_t)next;
        reuse->owner[next] = place;
        stand(reuse, next++, 1);
    }
    reuse->newest = next;
}

static void give_mark(Reuse *reuse, uint32_t place) {
    reuse->mark[place] = (uint16_t)reuse->newest;
    reuse->owner[reuse->newest] = (uint16_t)place;
    stand(reuse, reuse->newest++, 1);
}

void reuse_read(Reuse *reuse, uint64_t line) {
    const uint64_t name = (line + 1) * 2;
    if (reuse->newest == MARKS - 1) renumber(reuse);
    uint32_t place = (uint32_t)(line * UINT64_C(0x9E3779B97F4A7C15) >> (64 - REUSE_LINE_BITS));
    while (reuse->line[place] && (reuse->line[place] & ~UINT64_C(1)) != name)
        place = (place + 1) & (PLACES - 1);
    if (!reuse->line[place]) {
        if (reuse->lines == REUSE_LINES) return;
        reuse->lines++;
        reuse->line[place] = name;
    } else {
        reuse->again += !(reuse->line[place] & 1);
        reuse->line[place] |= 1;
        reuse->distances[reuse->lines - standing_up_to(reuse, reuse->mark[place])]++;
        stand(reuse, reuse->mark[place], -1);
    }
    give_mark(reuse, place);
}

/* ---- Losses ---- */

/* `base` to an integer power, by multiplication: pow may differ in the last bit between hosts. */
static double to_the(double base, uint64_t power) {
    double result = 1;
    for (; power; power >>= 1, base *= base)
        if (power & 1) result *= base;
    return result;
}

/* The probability that at least `ways` of `others` lines are in a line's set, where each line is in
 * any of `sets` sets with equal probability. */
static double are_driven_out(uint64_t others, uint32_t sets, uint32_t ways) {
    if (others < ways) return 0;
    if (sets == 1) return 1;
    double exactly = to_the(1 - 1.0 / sets, others), fewer = 0;
    for (uint32_t i = 0; i < ways; i++) {
        fewer += exactly;
        exactly *= (double)(others - i) / (i + 1) / (sets - 1);
    }
    return fewer < 1 ? 1 - fewer : 0;
}

double reuse_lost(const uint32_t *distances, uint32_t count, double ctas, uint32_t sets,
                  uint32_t ways) {
    double lost = 0;
    for (uint32_t d = 0; d < count; d++)
        if (distances[d]) lost += distances[d] * are_driven_out((uint64_t)(d * ctas), sets, ways);
    return lost;
}
