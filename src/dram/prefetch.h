/* Opportunistic prefetch: once no demand request to an open row is left, the channel reads more
 * lines of the row in order, while the row is open anyway. It reads those that it did not send to
 * the L2 since the row was opened. A row that has only been written to, by write-backs that no
 * program waits for, is left alone.
 *
 * Scheme `stop` gives up as soon as a demand request to another row of the bank waits. Scheme `min`
 * first fetches C lines of the row, then does the same; C is `lower`, or `higher` while fewer
 * demand requests than `threshold` wait at the channel. With `begins_idle` the C lines are
 * protected only once prefetching of the row has begun, which it does while no demand request to
 * another row of the bank waits.
 *
 * State per bank: one bit per line of the open row. They start at 0 (section 4.5) or, a variant of
 * ours, from what the L2 has, which is next to the controller. Lines are taken "sequentially"
 * (section 4.4): from the one sent last on and then from the row's start, or always from there,
 * since the paper leaves open where the sequence begins. Source: OWL section 4.4; its average
 * number of pending requests "computed approximately with shift registers" is an average over
 * arrivals in which each new one weighs 1/64. */
#ifndef TYTO_DRAM_PREFETCH_H
#define TYTO_DRAM_PREFETCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "dram/address_map.h"
#include "dram/bank.h"

typedef enum DramPrefetchScheme {
    DRAM_PREFETCH_NONE,
    DRAM_PREFETCH_STOP,
    DRAM_PREFETCH_MIN,
} DramPrefetchScheme;

/* Where a row's next line is looked for. */
typedef enum DramPrefetchOrder {
    DRAM_PREFETCH_FROM_START, /* from the row's start on */
    DRAM_PREFETCH_AROUND,     /* from the line sent last on, then from the row's start */
    DRAM_PREFETCH_ONWARD,     /* from the line sent last on */
} DramPrefetchOrder;

typedef struct DramPrefetchConfig {
    DramPrefetchScheme scheme;
    uint32_t lower;     /* lines fetched at least (OWL: 8) */
    uint32_t higher;    /* the same while few demand requests wait (OWL: 16) */
    uint32_t threshold; /* "few" are fewer than this; 0: than their running mean (OWL) */
    bool skips_cached;  /* lines that the L2 has already when their row is opened count as sent */
    DramPrefetchOrder order;
    bool begins_idle;    /* not while a demand request to another row of the bank waits */
    uint32_t line_bytes; /* bytes fetched at a time: a line of the L2, or part of it */
    bool (*is_cached)(const void *cache, uint64_t address); /* asked if `skips_cached` */
    const void *cache;                                      /* what it is asked of; borrowed */
    const AddressMap *map; /* of the channel; borrowed, must outlive it; NULL with scheme none */
} DramPrefetchConfig;

enum {
    DRAM_PREFETCH_MAX_LINES = 128, /* lines of a row */
    DRAM_PREFETCH_FRACTION = 16,   /* fraction bits of the running mean */
    DRAM_PREFETCH_WEIGHT = 6,      /* a new sample weighs 1/2^6 */
};

typedef struct DramPrefetch {
    uint32_t rows; /* bit per bank: a row is open and has been read, and lines are left of it */
    uint32_t below_lower;  /* bit per bank: fewer than `lower` lines prefetched of the open row */
    uint32_t below_higher; /* the same for `higher` */
    uint32_t begun;        /* bit per bank: a line of the open row has been prefetched */
    DramPrefetchConfig config;
    uint32_t lines; /* lines of a row */
    uint64_t mean;  /* running mean of requests waiting, DRAM_PREFETCH_FRACTION fraction bits */
    uint16_t fetched[DRAM_MAX_BANKS];     /* lines prefetched since the row was opened */
    uint16_t next[DRAM_MAX_BANKS];        /* line after the one that was sent last */
    uint64_t row_address[DRAM_MAX_BANKS]; /* an address in the open row */
    uint64_t sent[DRAM_MAX_BANKS][DRAM_PREFETCH_MAX_LINES / 64]; /* bit per line sent since then */
} DramPrefetch;

/* False, with every mistake told to `diag`. */
bool dram_prefetch_check(const DramPrefetchConfig *config, uint32_t row_bytes, Diag *diag);
void dram_prefetch_init(DramPrefetch *prefetch, const DramPrefetchConfig *config,
                        uint32_t row_bytes);

/* What the channel reports: a demand request has arrived and `waiting` now wait; a row has been
 * opened for a request to `address`; a row has been closed; `bytes` from `column` on of the open
 * row have been read or written for the owner; the line at `column` has been prefetched. */
void dram_prefetch_arrived(DramPrefetch *prefetch, uint32_t waiting);
void dram_prefetch_opened(DramPrefetch *prefetch, uint32_t bank, uint64_t address);
void dram_prefetch_closed(DramPrefetch *prefetch, uint32_t bank);
static inline void dram_prefetch_closed_all(DramPrefetch *prefetch) { prefetch->rows = 0; }
void dram_prefetch_demanded(DramPrefetch *prefetch, uint32_t bank, uint32_t column, uint32_t bytes,
                            bool is_write);
void dram_prefetch_fetched(DramPrefetch *prefetch, uint32_t bank, uint32_t column);

/* Banks whose open row must not be given up yet for `waiting` requests to other rows. */
static inline uint32_t dram_prefetch_held(const DramPrefetch *prefetch, uint32_t waiting) {
    if (prefetch->config.scheme != DRAM_PREFETCH_MIN) return 0;
    uint32_t threshold = prefetch->config.threshold;
    bool is_few = threshold ? waiting < threshold
                            : (uint64_t)waiting << DRAM_PREFETCH_FRACTION < prefetch->mean;
    uint32_t protected = prefetch->config.begins_idle ? prefetch->begun : UINT32_MAX;
    return prefetch->rows & protected & (is_few ? prefetch->below_higher : prefetch->below_lower);
}

/* First byte, within the row, of the next line to prefetch in `bank`, which must be one of `rows`;
 * *address is its address. */
uint32_t dram_prefetch_next(const DramPrefetch *prefetch, uint32_t bank, uint64_t *address);

#endif
