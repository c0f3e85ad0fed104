/* Supply of instructions to a sub-core: its own instruction cache (l0i) with a stream buffer, above
 * the SM's cache (l1i). When an instruction issues, the l0i is looked up for the line of the warp's
 * next instruction. A warp's buffer hides a hit; a miss determines when the line arrives. A line
 * that l1i lacks arrives after a fixed time, because it is not published how GPUs share code
 * between SMs beyond l1i.
 *
 * The stream buffer holds the lines after the last miss. A miss that finds its line there takes it
 * and requests the next ones; another miss starts a new stream (Huerta: such a simple prefetcher
 * agrees with measurements; its exact rules are not published). */
#ifndef TYTO_SM_MODERN_FRONT_H
#define TYTO_SM_MODERN_FRONT_H

#include "sm/context.h"
#include "sm/modern/tags.h"

/* A line that was requested ahead. */
typedef struct ModernAhead {
    uint64_t address;
    uint64_t ready; /* cycle in which it is available */
} ModernAhead;

/* The instruction cache and stream buffer of a sub-core. */
typedef struct ModernStream {
    ModernTags l0;
    uint64_t free; /* next cycle in which l1i can look up a line for the buffer */
    uint32_t count;
    ModernAhead ahead[MODERN_MAX_STREAM]; /* in ascending order */
} ModernStream;

typedef struct ModernFront {
    const SmConfig *config;
    ModernTags l1;
    uint64_t l1_free; /* next cycle in which l1i can look up a line for a waiting warp */
    uint64_t line[TYTO_MAX_WARPS]; /* line that each warp executes from, or waits for */
    ModernStream stream[SM_MAX_SUBCORES];
} ModernFront;

void front_init(ModernFront *front, const SmConfig *config, Arena *arena);
/* Resets the front end when nothing is resident. */
void front_start(ModernFront *front);
/* A warp starts in the slot: it has no line. */
static inline void front_start_warp(ModernFront *front, int warp) {
    front->line[warp] = UINT64_MAX;
}

/* front_need() for a line other than the one that the warp executes from. */
uint64_t front_change_line(ModernFront *front, Counters *counters, int warp, uint64_t line,
                           uint64_t end, uint64_t cycle);
/* The first cycle, `cycle` or later, in which the warp has its next instruction, at `address` of a
 * program that ends at `end`. */
static inline uint64_t front_need(ModernFront *front, Counters *counters, int warp,
                                  uint64_t address, uint64_t end, uint64_t cycle) {
    const uint64_t line = address & ~(uint64_t)(front->config->l0i.line_bytes - 1);
    if (__builtin_expect(line == front->line[warp], true)) return cycle;
    return front_change_line(front, counters, warp, line, end, cycle);
}

#endif
