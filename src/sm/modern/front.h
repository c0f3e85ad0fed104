/* Where a sub-core's instructions come from: an instruction cache of its own (l0i) with a stream
 * buffer over the SM's (l1i). It is asked at an instruction's issue for the line of the warp's next
 * one: a warp's buffer hides a hit, and a miss says when the line comes. What l1i lacks comes after
 * a fixed time: how GPUs share code between SMs beyond it is not published.
 *
 * The stream buffer holds the lines behind the last miss. A miss that finds its line there takes it
 * and requests the next ones; another miss starts a new stream (Huerta: such a simple prefetcher
 * agrees with measurements; its exact rules are not published). */
#ifndef TYTO_SM_MODERN_FRONT_H
#define TYTO_SM_MODERN_FRONT_H

#include "sm/context.h"
#include "sm/modern/tags.h"

/* A line asked for ahead. */
typedef struct ModernAhead {
    uint64_t address;
    uint64_t ready; /* cycle in which it is there */
} ModernAhead;

/* Of a sub-core. */
typedef struct ModernStream {
    ModernTags l0;
    uint64_t free; /* cycle from which l1i looks up another line for the buffer */
    uint32_t count;
    ModernAhead ahead[MODERN_MAX_STREAM]; /* in order */
} ModernStream;

typedef struct ModernFront {
    const SmConfig *config;
    ModernTags l1;
    uint64_t l1_free; /* cycle from which l1i looks up another line that a warp awaits */
    uint64_t line[TYTO_MAX_WARPS]; /* that each warp executes from, or waits for */
    ModernStream stream[SM_MAX_SUBCORES];
} ModernFront;

void front_init(ModernFront *front, const SmConfig *config, Arena *arena);
/* Nothing is resident any more. */
void front_start(ModernFront *front);
/* A warp comes into the slot: it has no line. */
static inline void front_start_warp(ModernFront *front, int warp) {
    front->line[warp] = UINT64_MAX;
}

/* What front_need() does for a line that the warp does not execute from. */
uint64_t front_change_line(ModernFront *front, Counters *counters, int warp, uint64_t line,
                           uint64_t end, uint64_t cycle);
/* The cycle, `cycle` at least, from which on the warp has its next instruction, at `address` of a
 * program that ends at `end`. */
static inline uint64_t front_need(ModernFront *front, Counters *counters, int warp,
                                  uint64_t address, uint64_t end, uint64_t cycle) {
    const uint64_t line = address & ~(uint64_t)(front->config->l0i.line_bytes - 1);
    if (__builtin_expect(line == front->line[warp], true)) return cycle;
    return front_change_line(front, counters, warp, line, end, cycle);
}

#endif
