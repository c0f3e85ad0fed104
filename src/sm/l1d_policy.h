/* A policy's decisions about the L1D (tyto/policy.h): what happens to the line of a miss, which
 * line is replaced, and prefetches. l1d.c and lsu.c call these functions only where a policy
 * decides.
 *
 * A prefetch that the policy asked for waits in a ring. It is sent in a cycle in which no access is
 * refused and the L1D has an MSHR, a way and a place in its queue of misses. It does not count as
 * an access of the L1D. A prefetch is unused from the moment it is sent until an access wants its
 * data. The first thing that happens to it is reported to the policy, by its tag. */
#ifndef TYTO_SM_L1D_POLICY_H
#define TYTO_SM_L1D_POLICY_H

#include "sm/l1d.h"

enum { SM_PREFETCH_ASKS = 64 /* prefetches that wait to be sent */ };

/* A prefetch that waits to be sent. */
typedef struct SmPrefetchAsk {
    uint64_t address;
    uint32_t tag; /* the policy's */
} SmPrefetchAsk;

/* A fetch under way, by MSHR. */
typedef struct SmPrefetchFlight {
    uint32_t tag;
    bool is_prefetch; /* the policy asked for it, ... */
    bool is_unwanted; /* ... and no access has used it yet */
} SmPrefetchFlight;

/* Counted since the kernel's start. */
typedef struct SmPrefetchCounts {
    uint64_t asked;   /* taken into the ring */
    uint64_t sent;    /* to the L2 */
    uint64_t used;    /* wanted, after it came or before */
    uint64_t late;    /* of those, wanted while it was on its way */
    uint64_t unused;  /* gone before anybody wanted it */
    uint64_t dropped; /* not sent */
} SmPrefetchCounts;

/* Written by l1d_policy.c alone. */
typedef struct SmPrefetcher {
    SmL1d *l1d;
    SmPort *port;
    SmPrefetchAsk asks[SM_PREFETCH_ASKS]; /* ring, ... */
    uint32_t first, count;                /* ... its oldest, and how many it holds */
    SmPrefetchFlight *flights;            /* by MSHR */
    uint8_t *unwanted;                    /* by place: sectors that came and that no access has
                                             used, bit each */
    uint32_t *tags;                       /* by place and sector: their tags */
    SmPrefetchCounts counts;
} SmPrefetcher;

/* Gives the policy its prefetcher, if it needs one, and room for what it is shown. */
void l1d_policy_init(SmL1d *l1d, SmContext *sm, SmPort *port);
/* A kernel begins: no prefetch waits, and none that has come is unwanted. */
void l1d_policy_start_kernel(SmL1d *l1d, SmContext *sm);

/* ---- What the policy is asked ---- */

/* Asks what becomes of the line that a load wants; notes it in the access. */
void l1d_policy_insert(SmContext *sm, SmLookup *lookup, uint64_t key);
/* As tag_array_reserve_as, where the policy may choose who goes. */
int32_t l1d_policy_reserve(SmL1d *l1d, SmContext *sm, const SmLookup *lookup, uint64_t key,
                           uint8_t sectors, TagEviction *eviction);

/* ---- Prefetches ---- */

/* The oldest prefetch that waits is sent, if it can be. */
void l1d_policy_send(SmL1d *l1d, SmContext *sm, SmPort *port);
/* A load hits sectors of a line; a load joins a fetch. */
void l1d_policy_hit(SmL1d *l1d, SmContext *sm, int32_t place, uint8_t sectors);
void l1d_policy_joined(SmL1d *l1d, SmContext *sm, int32_t entry, uint64_t key);
/* A fetch has ended, and its data are at `place`, TAG_NONE: nowhere. */
void l1d_policy_arrived(SmL1d *l1d, SmContext *sm, int32_t entry, int32_t place, uint8_t sectors,
                        uint64_t key);
/* The line at the place, which begins at `line`, goes. */
void l1d_policy_gone(SmL1d *l1d, SmContext *sm, int32_t place, uint64_t line);
/* All lines go. To be called before they do. */
void l1d_policy_flushed(SmL1d *l1d, SmContext *sm);
/* Whether the policy asked for the fetch. */
static inline bool l1d_policy_is_prefetch(const SmL1d *l1d, int32_t entry) {
    return l1d->prefetcher && l1d->prefetcher->flights[entry].is_prefetch;
}
/* Tells what became of the prefetches. */
void l1d_policy_report(const SmL1d *l1d, const TytoReport *out);

#endif
