/* Opportunistic prefetch: when no demand request to an open row is left, the channel reads more
 * lines of the row in order, while the row is open anyway. It reads only lines that it did not send
 * to the L2 since the row was opened. It does not prefetch from a row that has only been written
 * to: the writes were write-backs, and no program waits for those.
 *
 * Scheme `stop` stops as soon as a demand request to another row of the bank waits. Scheme `min`
 * first prefetches C lines of the row, then behaves like `stop`. C is `lower`, or `higher` while
 * fewer than `threshold` demand requests wait at the channel. With `begins_idle` the C lines are
 * guaranteed only once prefetching of the row has begun, and it begins only while no demand request
 * to another row of the bank waits.
 *
 * State per bank: one bit per line of the open row. The bits start at 0 (section 4.5) or, in our
 * variant, reflect the contents of the L2, which is next to the controller. Lines are prefetched
 * "sequentially" (section 4.4). The paper does not say where the sequence begins, so there are two
 * variants: it continues after the line sent last and then wraps to the row's start, or it always
 * begins at the row's start. Source: OWL section 4.4. The paper's average number of pending
 * requests is "computed approximately with shift registers"; here it is an average over arrivals in
 * which each new arrival has a weight of 1/64. */
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

/* Where the search for a row's next line begins. */
typedef enum DramPrefetchOrder {
    DRAM_PREFETCH_FROM_START, /* at the row's start */
    DRAM_PREFETCH_AROUND,     /* after the line sent last, then at the row's start */
    DRAM_PREFETCH_ONWARD,     /* after the line sent last */
} DramPrefetchOrder;

typedef struct DramPrefetchConfig {
    DramPrefetchScheme scheme;
    uint32_t lower;     /* minimum number of lines prefetched (OWL: 8) */
    uint32_t higher;    /* the same while few demand requests wait (OWL: 16) */
    uint32_t threshold; /* "few" means fewer than this; 0: fewer than their running mean (OWL) */
    bool skips_cached;  /* lines already in the L2 when their row is opened count as sent */
    DramPrefetchOrder order;
    bool begins_idle;    /* begin only while no demand request to another row of the bank waits */
    uint32_t line_bytes; /* bytes prefetched at a time: a line of the L2 or part of one */
    bool (*is_cached)(const void *cache, uint64_t address); /* called if `skips_cached` */
    const void *cache;                                      /* argument of is_cached; borrowed */
    const AddressMap *map; /* of the channel; borrowed, must outlive it; NULL with scheme none */
} DramPrefetchConfig;

enum {
    DRAM_PREFETCH_MAX_LINES = 128, /* maximum lines per row */
    DRAM_PREFETCH_FRACTION = 16,   /* fraction bits of the running mean */
    DRAM_PREFETCH_WEIGHT = 6,      /* a new sample has weight 1/2^6 */
};

typedef struct DramPrefetch {
    uint32_t rows; /* one bit per bank: the open row has been read and has lines left to prefetch */
    uint32_t below_lower;  /* one bit per bank: fewer than `lower` lines of the row prefetched */
    uint32_t below_higher; /* the same for `higher` */
    uint32_t begun;        /* one bit per bank: a line of the open row was prefetched */
    DramPrefetchConfig config;
    uint32_t lines; /* lines per row */
    uint64_t mean;  /* running mean of waiting requests; DRAM_PREFETCH_FRACTION fraction bits */
    uint16_t count[DRAM_MAX_BANKS];       /* lines prefetched since the row was opened */
    uint16_t next[DRAM_MAX_BANKS];        /* line after the one sent last */
    uint64_t row_address[DRAM_MAX_BANKS]; /* an address in the open row */
    uint64_t sent[DRAM_MAX_BANKS][DRAM_PREFETCH_MAX_LINES / 64]; /* bit per line sent */
} DramPrefetch;

/* Returns false and reports every mistake to `diag` if the configuration is invalid. */
bool dram_prefetch_check(const DramPrefetchConfig *config, uint32_t row_bytes, Diag *diag);
void dram_prefetch_init(DramPrefetch *prefetch, const DramPrefetchConfig *config,
                        uint32_t row_bytes);

/* Events that the channel reports: a demand request arrived and `waiting` requests now wait; a row
 * was opened for a request to `address`; a row was closed; `bytes` of the open row from `column` on
 * were read or written for the owner; the line at `column` was prefetched. */
void dram_prefetch_arrived(DramPrefetch *prefetch, uint32_t waiting);
void dram_prefetch_opened(DramPrefetch *prefetch, uint32_t bank, uint64_t address);
void dram_prefetch_closed(DramPrefetch *prefetch, uint32_t bank);
static inline void dram_prefetch_closed_all(DramPrefetch *prefetch) { prefetch->rows = 0; }
void dram_prefetch_demanded(DramPrefetch *prefetch, uint32_t bank, uint32_t column, uint32_t bytes,
                            bool is_write);
void dram_prefetch_sent(DramPrefetch *prefetch, uint32_t bank, uint32_t column);

/* Banks whose open row must not be closed yet for requests to other rows, given `waiting` waiting
 * requests. */
static inline uint32_t dram_prefetch_held(const DramPrefetch *prefetch, uint32_t waiting) {
    if (prefetch->config.scheme != DRAM_PREFETCH_MIN) return 0;
    uint32_t threshold = prefetch->config.threshold;
    bool is_few = threshold ? waiting < threshold
                            : (uint64_t)waiting << DRAM_PREFETCH_FRACTION < prefetch->mean;
    uint32_t protected = prefetch->config.begins_idle ? prefetch->begun : UINT32_MAX;
    return prefetch->rows & protected & (is_few ? prefetch->below_higher : prefetch->below_lower);
}

/* First byte, within the row, of the next line to prefetch in `bank`, which must be one of `rows`.
 * Stores its address in *address. */
uint32_t dram_prefetch_next(const DramPrefetch *prefetch, uint32_t bank, uint64_t *address);

#endif
