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

enum { SM_PREFETCH_ASKS = 64 /* most prefetches that wait to be sent */ };

/* A prefetch that waits to be sent. */
typedef struct SmPrefetchAsk {
    uint64_t address;
    uint32_t tag; /* chosen by the policy */
} SmPrefetchAsk;

/* A fill in flight, by MSHR. */
typedef struct SmPrefetchFlight {
    uint32_t tag;
    bool is_prefetch; /* the policy requested it */
    bool is_unwanted; /* the policy requested it and no access has used it yet */
} SmPrefetchFlight;

/* Counted since the kernel's start. */
typedef struct SmPrefetchCounts {
    uint64_t asked;   /* accepted into the ring */
    uint64_t sent;    /* to the L2 */
    uint64_t used;    /* used by an access, before or after they arrived */
    uint64_t late;    /* of those: used while in flight */
    uint64_t unused;  /* evicted before an access used them */
    uint64_t dropped; /* not sent */
} SmPrefetchCounts;

/* Written only by l1d_policy.c. */
typedef struct SmPrefetcher {
    SmL1d *l1d;
    SmPort *port;
    SmPrefetchAsk asks[SM_PREFETCH_ASKS]; /* ring */
    uint32_t first, count;                /* index of the oldest, and number of entries */
    SmPrefetchFlight *flights;            /* by MSHR */
    uint8_t *unwanted;                    /* by place: sectors that arrived and that no access has
                                             used, one bit each */
    uint32_t *tags;                       /* tags by place and sector */
    SmPrefetchCounts counts;
} SmPrefetcher;

/* Creates the prefetcher if the policy needs one, and the buffer for the set that it sees. */
void l1d_policy_init(SmL1d *l1d, SmContext *sm, SmPort *port);
/* Prepares for a new kernel: no prefetch waits, and no line counts as an unused prefetch. */
void l1d_policy_start_kernel(SmL1d *l1d, SmContext *sm);

/* ---- What the policy is asked ---- */

/* Asks the policy what happens to the line of a load; stores the answer in the access. */
void l1d_policy_insert(SmContext *sm, SmLookup *lookup, uint64_t key);
/* Like tag_array_reserve_as, but the policy may choose the victim. */
int32_t l1d_policy_reserve(SmL1d *l1d, SmContext *sm, const SmLookup *lookup, uint64_t key,
                           uint8_t sectors, TagEviction *eviction);

/* ---- Prefetches ---- */

/* Sends the oldest waiting prefetch, if it can be sent. */
void l1d_policy_send(SmL1d *l1d, SmContext *sm, SmPort *port);
/* A load hit sectors of a line; or a load joined a fill. */
void l1d_policy_hit(SmL1d *l1d, SmContext *sm, int32_t place, uint8_t sectors);
void l1d_policy_joined(SmL1d *l1d, SmContext *sm, int32_t entry, uint64_t key);
/* A fill has ended; its data are at `place`, or nowhere (TAG_NONE). */
void l1d_policy_arrived(SmL1d *l1d, SmContext *sm, int32_t entry, int32_t place, uint8_t sectors,
                        uint64_t key);
/* The line at this place, whose address is `line`, was evicted. */
void l1d_policy_gone(SmL1d *l1d, SmContext *sm, int32_t place, uint64_t line);
/* All lines will be dropped; must be called before that. */
void l1d_policy_flushed(SmL1d *l1d, SmContext *sm);
/* Whether the policy requested this fill. */
static inline bool l1d_policy_is_prefetch(const SmL1d *l1d, int32_t entry) {
    return l1d->prefetcher && l1d->prefetcher->flights[entry].is_prefetch;
}
/* Reports the counts of the prefetches. */
void l1d_policy_report(const SmL1d *l1d, const TytoReport *out);

#endif
