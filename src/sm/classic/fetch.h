/* Fetch and decode: the instruction buffers, the L1I and its misses.
 *
 * The SM fetches once per cycle through its L1I. Or each sub-core fetches for its own warps through
 * its own L0I. Then the L1I looks up the misses of the L0Is, one per cycle, after half of its
 * latency; the other half is the way back. The rest of this text describes the first case; it holds
 * for both.
 *
 * The front end makes one L1I access per cycle, for the next warp in round-robin order whose buffer
 * has room. Decode fills the buffer a cycle later. A line that returns from below uses the cycle's
 * fetch for a warp that waited for it, or the warp accesses the cache again in its turn. The fetch
 * address is sequential: instructions that a taken branch skips are fetched, found stale by the
 * scheduler, and flushed.
 *
 * Reads state of others: the live warps (SmContext.view), and their pc if the front end is ideal
 * (SmWarps). Posts the warps that it has fetched for. */
#ifndef TYTO_SM_FETCH_H
#define TYTO_SM_FETCH_H

#include "sm/context.h"
#include "sm/read_levels.h"

/* A warp's instruction buffer. */
typedef struct SmBuffer {
    uint32_t pc;       /* pc of the first buffered instruction */
    uint32_t fetch_pc; /* pc of the next instruction to fetch */
    uint32_t count;    /* buffered instructions */
} SmBuffer;

/* A fetch unit, for all warps or for those of a sub-core. */
typedef struct SmFront {
    uint64_t warps;        /* slots that it fetches for */
    uint32_t bit;          /* bit of this front in sets of fronts */
    uint64_t decode_due;   /* cycle in which the latch is decoded, if it is not empty */
    uint32_t decode_pc;    /* first instruction in the latch */
    uint32_t decode_count; /* instructions in the latch */
    uint8_t decode_warp;   /* slot of their warp */
    uint32_t last;         /* slot of the last warp fetched for */
    uint32_t before;       /* value of `last` when the last scan began */
    SmReadCache *cache;    /* cache that it looks up */
} SmFront;

/* Written only by fetch.c. */
typedef struct SmFetch {
    uint64_t empty;      /* warps whose buffer has room for another fetch */
    uint64_t waits;      /* warps with a pending instruction miss */
    uint64_t redirected; /* warps whose buffer was flushed by a taken branch and not filled since */
    uint32_t decoding;   /* fronts whose decode latch is not empty, one bit each */
    uint32_t returned;   /* fronts whose cache has got a line that warps wait for, one bit each */
    uint32_t scanning;   /* fronts that scanned for a warp in the last step, one bit each */
    const SmFetchConfig *config;
    uint32_t front_mask; /* fronts - 1; warp w has front w & this */
    SmFront front[SM_MAX_SUBCORES];
    SmReadCache l1i;
    SmReadCache *l0i;    /* one per front; NULL: fronts look up the L1I */
    SmReadLevels levels; /* the L0Is above the L1I */
    SmBuffer buffer[TYTO_MAX_WARPS];
    uint64_t code[TYTO_MAX_WARPS]; /* address of the first instruction of each warp's program */
} SmFetch;

void fetch_init(SmFetch *fetch, SmContext *sm, SmPort *port);
void fetch_start_kernel(SmFetch *fetch);
/* A warp starts at `pc` of a program that begins `code` bytes after the first. */
void fetch_start_warp(SmFetch *fetch, int warp, uint64_t code, uint32_t pc);
void fetch_retire(SmFetch *fetch, uint64_t warps);

/* Moves instructions whose decode latency has passed from the latches into the buffers. */
void fetch_do_decode(SmFetch *fetch, SmContext *sm);
static inline void fetch_decode(SmFetch *fetch, SmContext *sm) {
    if (fetch->decoding) fetch_do_decode(fetch, sm);
}
/* Whether there is anything to decode, fetch, look up or send. */
static inline bool fetch_has_work(const SmFetch *fetch, const SmContext *sm, const SmPort *port) {
    uint32_t under_way = fetch->decoding | fetch->returned | read_levels_has_work(&fetch->levels) |
                         (port->misses_waiting & 1u << MEM_CLIENT_L1I);
    return (context_live(sm) & fetch->empty & ~fetch->waits) | under_way;
}
/* Fetches for one warp per front. Call it only if there is work. */
void fetch_do_step(SmFetch *fetch, SmContext *sm, SmPort *port);
/* The warps that the last scan has passed, including the one it found; all if it found none. */
uint64_t fetch_scanned(const SmFetch *fetch);
void fetch_line_arrived(SmFetch *fetch, const MemRequest *request);

/* Empties the warp's buffer and restarts the fetch at `pc`. */
void fetch_flush(SmFetch *fetch, int warp, uint32_t pc);
/* Removes the warp's first buffered instruction, at `pc`, which has issued; the next one is at
 * `next`. Returns whether the buffer has more. */
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

/* The same for an instruction that the machine does not have, which occupied no place in the
 * buffer. */
void fetch_passed(SmFetch *fetch, int warp, uint32_t pc, uint32_t next, bool has_exited);

#endif
