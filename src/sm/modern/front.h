/* Where a sub-core's instructions come from: an instruction cache of its own (l0i) with a stream
 * buffer over the SM's (l1i), whose misses go to L2. It is asked at an instruction's issue for the
 * line of the warp's next one: a warp's buffer hides a hit, and a miss says when the line comes.
 *
 * The stream buffer holds the lines behind the last miss. A miss that finds its line there takes it
 * and has the next ones asked for; another miss begins anew (Huerta: so a simple prefetcher agrees
 * with measurements; its exact rules are not published). */
#ifndef TYTO_SM_MODERN_FRONT_H
#define TYTO_SM_MODERN_FRONT_H

#include "sm/modern/tags.h"
#include "sm/read_cache.h"

/* A line asked for ahead. */
typedef struct ModernAhead {
    uint64_t address;
    uint64_t ready; /* cycle in which it is there; UINT64_MAX: it comes from L2 */
} ModernAhead;

/* Of a sub-core. */
typedef struct ModernStream {
    ModernTags l0;
    uint32_t count;
    ModernAhead ahead[MODERN_MAX_STREAM]; /* in order */
} ModernStream;

enum { FRONT_LINES = 64 /* lines from L2 under way */ };

typedef struct ModernFront {
    const SmConfig *config;
    SmReadCache l1i;
    uint64_t l1_free;                   /* cycle from which l1i can look up another line */
    uint64_t waits;                     /* warps whose line comes from L2, ... */
    uint64_t refused;                   /* ... or cannot be asked for yet */
    uint64_t line[TYTO_MAX_WARPS];      /* that each warp executes from, or waits for */
    uint32_t pending;                   /* lines from L2 under way */
    uint64_t pending_line[FRONT_LINES]; /* their addresses */
    ModernStream stream[SM_MAX_SUBCORES];
} ModernFront;

void front_init(ModernFront *front, SmContext *sm, SmPort *port);
/* Nothing is resident any more. */
void front_start(ModernFront *front);
/* A warp comes into the slot: it has no line. */
static inline void front_start_warp(ModernFront *front, int warp) {
    front->line[warp] = UINT64_MAX;
    front->waits &= ~(UINT64_C(1) << warp);
    front->refused &= ~(UINT64_C(1) << warp);
}

/* What front_need() does for a line that the warp does not execute from. */
uint64_t front_change_line(ModernFront *front, SmContext *sm, SmPort *port, int warp,
                           uint64_t address, uint64_t end, uint64_t cycle);
/* The cycle, `cycle` at least, from which on the warp has its next instruction, at `address` of a
 * program that ends at `end`. UINT64_MAX: when its line has come, as front_line_arrived says. */
static inline uint64_t front_need(ModernFront *front, SmContext *sm, SmPort *port, int warp,
                                  uint64_t address, uint64_t end, uint64_t cycle) {
    const uint64_t line = address & ~(uint64_t)(front->config->l0i.line_bytes - 1);
    if (__builtin_expect(line == front->line[warp], true)) return cycle;
    return front_change_line(front, sm, port, warp, line, end, cycle);
}

/* A line has come from L2; the warps that have waited for it go on after modern.fetch_latency. */
uint64_t front_line_arrived(ModernFront *front, const SmContext *sm, uint64_t line);
/* Misses leave, and what was refused is asked for again; the warps whose line is found then go on
 * after modern.fetch_latency. */
uint64_t front_do_step(ModernFront *front, SmContext *sm, SmPort *port);
static inline bool front_has_work(const ModernFront *front, const SmPort *port) {
    return front->refused || port_has_misses(port, MEM_CLIENT_L1I);
}

#endif
