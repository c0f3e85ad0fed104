/* Fetch and decode: the instruction buffers, the L1I and its misses.
 *
 * An SM fetches once a cycle through its L1I; or each of its sub-cores does for its own warps,
 * through an L0I of its own, whose misses the L1I looks up, one a cycle, after half of its latency:
 * the other half is the way of what it has. Here is said of the first what holds of both.
 *
 * One L1I access per cycle for the next warp, round robin, whose buffer can take it; decode into
 * the buffer a cycle later. A line that comes back from below uses the cycle's fetch for a warp
 * that waited for it, or has the warp ask the cache again when its turn comes. The fetch address is
 * sequential: what a taken branch skips is fetched, found to be stale by the scheduler, and
 * flushed.
 *
 * Reads of others: which warps live (SmContext.view), their pc where the front end is ideal
 * (SmWarps). Posts which warps it has fetched for. */
#ifndef TYTO_SM_FETCH_H
#define TYTO_SM_FETCH_H

#include "sm/context.h"
#include "sm/read_levels.h"

/* A warp's instruction buffer. */
typedef struct SmBuffer {
    uint32_t pc;       /* first buffered instruction */
    uint32_t fetch_pc; /* next instruction to fetch */
    uint32_t count;    /* instructions held */
} SmBuffer;

/* What fetches: for all warps, or those of a sub-core. */
typedef struct SmFront {
    uint64_t warps;        /* slots that it fetches for */
    uint32_t bit;          /* for its place among the fronts */
    uint64_t decode_due;   /* cycle at which the latch is decoded, if there is something in it */
    uint32_t decode_pc;    /* first instruction in the latch */
    uint32_t decode_count; /* instructions in the latch */
    uint8_t decode_warp;   /* their warp's slot */
    uint32_t last;         /* slot of the warp fetched for last, ... */
    uint32_t before;       /* ... and that when the last scan began */
    SmReadCache *cache;    /* that it looks up */
} SmFront;

/* Written by fetch.c alone. */
typedef struct SmFetch {
    uint64_t empty;      /* warps whose buffer can take another fetch */
    uint64_t waits;      /* warps with an instruction miss under way */
    uint64_t redirected; /* buffer was flushed by a taken branch and is not filled yet */
    uint32_t decoding;   /* fronts with something in the decode latch, bit each */
    uint32_t returned;   /* fronts whose cache has got a line that warps waited for, bit each */
    uint32_t scanning;   /* fronts that looked for a warp to fetch for in the last step, bit each */
    const SmFetchConfig *config;
    uint32_t front_mask; /* fronts - 1; warp w has front w & this */
    SmFront front[SM_MAX_SUBCORES];
    SmReadCache l1i;
    SmReadCache *l0i;    /* of each front; NULL: they look up the L1I */
    SmReadLevels levels; /* the L0Is above the L1I */
    SmBuffer buffer[TYTO_MAX_WARPS];
    uint64_t code[TYTO_MAX_WARPS]; /* address of the first instruction of each warp's program */
} SmFetch;

void fetch_init(SmFetch *fetch, SmContext *sm, SmPort *port);
void fetch_start_kernel(SmFetch *fetch);
/* A warp comes, and starts at `pc` of a program that lies `code` bytes behind the first. */
void fetch_start_warp(SmFetch *fetch, int warp, uint64_t code, uint32_t pc);
void fetch_retire(SmFetch *fetch, uint64_t warps);

/* What has been in the latches for as long as it takes goes into the buffers. */
void fetch_do_decode(SmFetch *fetch, SmContext *sm);
static inline void fetch_decode(SmFetch *fetch, SmContext *sm) {
    if (fetch->decoding) fetch_do_decode(fetch, sm);
}
/* Whether there is something to decode, to fetch, to look up, or to send. */
static inline bool fetch_has_work(const SmFetch *fetch, const SmContext *sm, const SmPort *port) {
    uint32_t under_way = fetch->decoding | fetch->returned | read_levels_has_work(&fetch->levels) |
                         (port->misses_waiting & 1u << MEM_CLIENT_L1I);
    return (context_live(sm) & fetch->empty & ~fetch->waits) | under_way;
}
/* Where there is: fetches for one warp. */
void fetch_do_step(SmFetch *fetch, SmContext *sm, SmPort *port);
/* The warps that the scan for it has passed, to the one found: all where there was none. */
uint64_t fetch_scanned(const SmFetch *fetch);
void fetch_line_arrived(SmFetch *fetch, const MemRequest *request);

/* Empties the warp's buffer and starts again at `pc`. */
void fetch_flush(SmFetch *fetch, int warp, uint32_t pc);
/* The warp's first buffered instruction, at `pc`, has issued; the next is at `next`. Whether the
 * buffer has more. */
static inline bool fetch_took(SmFetch *fetch, int warp, uint32_t pc, uint32_t next,
                              bool has_exited) {
    SmBuffer *buffer = &fetch->buffer[warp];
    buffer->pc = pc + 1;
    if (--buffer->count == 0) {
        fetch->empty |= UINT64_C(1) << warp;
        fetch->redirected |= bits_if(!has_exited & (next != pc + 1), warp);
        return false;
    }
    if (!fetch->config->waits_for_empty) fetch->empty |= UINT64_C(1) << warp;
    if (has_exited) buffer->count = 0;
    return !has_exited;
}

/* The same for an instruction that the machine does not have: it took no place in the buffer. */
void fetch_passed(SmFetch *fetch, int warp, uint32_t pc, uint32_t next, bool has_exited);

#endif
