/* L1 data cache. Accesses pass the queue of their bank, which is as long as the cache's latency;
 * with none they look up their tags when they enter, and the load/store unit keeps what is refused.
 * The oldest looks up its tags, and when the cache must refuse it, it tries again every cycle while
 * everything behind it in its bank waits. All banks share tags, MSHRs and the queue of misses, and
 * have their turns in the order of their numbers.
 *
 * The data store may be shared with shared memory: then a kernel's carve-out says how many ways the
 * cache has.
 *
 * Its misses and writes leave through the port's queue MEM_CLIENT_L1D, one a cycle. Loads that hit
 * are done at once, or a hit latency later; those that missed come out of the MSHRs, from which the
 * load/store unit takes them for the write-back port. Posts SM_EVENT_INST_DONE and
 * SM_EVENT_STORE_DONE.
 *
 * Reads of others: the instructions under way, ages of warps (SmContext.view). */
#ifndef TYTO_SM_L1D_H
#define TYTO_SM_L1D_H

#include "cache/mshr.h"
#include "cache/tag_array.h"
#include "sm/port.h"
#include "sm/queue.h"

/* What the L1D has got back from below, as bits: a refused access may find what it lacked. */
typedef enum SmFreed {
    SM_FREED_LINE = 1,  /* a line was filled in the set of a refused access */
    SM_FREED_PLACE = 2, /* a miss was sent */
    SM_FREED_MSHR = 4,  /* an MSHR is free */
    SM_FREED_OTHER = 8, /* another bank's access has been taken: it may have brought the line */
    SM_FREED_ALL = 15
} SmFreed;

/* An access in the latency queue. */
typedef struct SmLookup {
    uint64_t due; /* cycle from which its tags can be looked up */
    SmAccess access;
    uint32_t serial; /* number of the warp among those launched on the SM */
    uint16_t inst;   /* loads: the instruction, which must not be named once a store has left */
    uint8_t warp;
    bool is_store, is_local;
    bool is_prefetch; /* a store that only brings its line or sector */
    bool is_policy;   /* a prefetch of the policy: no instruction's, ... */
    bool is_asked;    /* ... or an access for which the policy has chosen what happens to its
                         line */
    uint32_t pc;      /* of the instruction; TYTO_NO_PC */
} SmLookup;
_Static_assert(sizeof(SmLookup) == 64, "an access in the queue is a line of the host's cache");

/* What brought a line in, in addition to the serial number that the tag array keeps. */
typedef struct SmFiller {
    uint32_t lanes; /* that asked for it, bit each */
    uint32_t pc;    /* of the instruction; TYTO_NO_PC */
    uint8_t warp;   /* SM_NO_WARP: a prefetch of the policy */
} SmFiller;

typedef struct SmL1dBank {
    uint64_t *refusal;    /* counter of the refusal that the head is stuck in, NULL */
    uint64_t next_lookup; /* first cycle in which the bank can look up tags again */
    SmLookup *queue;      /* ring, ... */
    uint16_t head, count; /* ... its oldest, and how many it holds */
    uint8_t needs;        /* SmFreed that can end the refusal */
    uint8_t freed;        /* SmFreed since the head was refused */
    uint64_t counted;     /* cycle up to which, itself not included, the refusal is counted */
    uint32_t set;         /* first place of the set that the head was refused in */
} SmL1dBank;

/* Written by l1d.c alone. What every visit looks at comes first, with the first bank in one line of
 * the host's cache. */
typedef struct SmL1d {
    uint32_t filled;     /* banks with something in their queues, bit each */
    uint32_t refusing;   /* banks whose head is stuck, bit each */
    uint64_t next;       /* cycle of the next lookup, UINT64_MAX */
    uint8_t freed;       /* SmFreed since the last step */
    uint8_t needed;      /* those that can end a refusal */
    bool is_flushing;    /* dirty lines are being written back before all are dropped */
    bool has_return;     /* loads whose lines have come are in the MSHRs */
    bool writes_back;    /* dirty lines are written back; else they are written through */
    uint8_t bank_shift;  /* log2 of the consecutive bytes of a bank */
    bool has_asks;       /* the policy has asked for prefetches that wait to be sent */
    uint32_t bank_count; /* a power of two */
    uint32_t capacity;   /* of a bank's queue */
    SmL1dBank banks[SM_MAX_L1D_BANKS];
    const CacheConfig *config;
    uint32_t fill_bytes;    /* of a line or sector */
    uint32_t ways;          /* of the store, from the next flush on */
    uint32_t interval;      /* cycles from one lookup of a bank to its next, ... */
    uint32_t miss_interval; /* ... and at least these behind one that does not hit */
    uint32_t hit_latency;   /* cycles from a hit to its data, which are ... */
    uint64_t hits_from;     /* ... due for the oldest in this cycle, UINT64_MAX; */
    SmQueue hits;           /* the loads that hit, */
    uint64_t *hits_due;     /* and when each is done, by position in the ring */
    TagHint hint;           /* of the last lookup */
    Mshr mshr;
    SmFiller *fillers;               /* of each place of the tags */
    SmFiller *asking;                /* by MSHR: the access whose data are fetched */
    struct SmPrefetcher *prefetcher; /* the policy's (l1d_policy.h); NULL: it has none */
    TytoLine *shown;                 /* a set as the policy sees it; NULL: it chooses no victims */
    TagArray tags;
} SmL1d;

void l1d_init(SmL1d *l1d, SmContext *sm, SmPort *port);
/* Gives the cache the rest of the unified store, from the next flush on; `shared_bytes` of the
 * store are shared memory's. */
void l1d_carve_out(SmL1d *l1d, const SmConfig *config, uint32_t shared_bytes);
/* The work of a cycle, where there is any. What has come back is of no use to accesses that have
 * not been refused yet. */
void l1d_do_step(SmL1d *l1d, SmContext *sm, SmPort *port);
static inline void l1d_step(SmL1d *l1d, SmContext *sm, SmPort *port) {
    bool is_due = l1d->next <= sm->cycle;
    if (is_due | l1d->is_flushing | !!(l1d->freed & l1d->needed)) l1d_do_step(l1d, sm, port);
    else l1d->freed = 0;
}
/* Writes back and drops all lines, over as many cycles as it takes. */
void l1d_flush(SmL1d *l1d, SmContext *sm, SmPort *port);
bool l1d_is_busy(const SmL1d *l1d, const SmPort *port); /* accesses, misses, or a flush under way */
/* No access, no load to hand on, no flush: a step would do nothing but send a miss. */
static inline bool l1d_is_quiet(const SmL1d *l1d) {
    return !(l1d->filled | l1d->hits.count | (uint32_t)l1d->is_flushing |
             (uint32_t)l1d->has_return);
}
/* Cycle at which an access can look up its tags, or a hit's data are there; UINT64_MAX. */
static inline uint64_t l1d_next_event(const SmL1d *l1d) {
    return l1d->next < l1d->hits_from ? l1d->next : l1d->hits_from;
}
/* Something to do in the next cycle, misses aside. */
static inline bool l1d_has_work(const SmL1d *l1d, const SmContext *sm) {
    return l1d->is_flushing | l1d->has_return | (l1d_next_event(l1d) <= sm->cycle + 1);
}

/* ---- In ---- */

static inline uint32_t l1d_bank_of(const SmL1d *l1d, uint64_t address) {
    return (uint32_t)(address >> l1d->bank_shift) & (l1d->bank_count - 1);
}
static inline bool l1d_can_enter(const SmL1d *l1d, uint64_t address) {
    return l1d->banks[l1d_bank_of(l1d, address)].count < l1d->capacity;
}
/* An access of the instruction; its bank's queue must have room. */
void l1d_enter(SmL1d *l1d, const SmContext *sm, uint16_t inst, const SmMemory *memory,
               const SmAccess *access);

/* Looks up the tags for the only access of the bank, in the cycle in which it entered; whether it
 * was taken tells l1d_can_enter. */
void l1d_look_up(SmL1d *l1d, SmContext *sm, SmPort *port, uint32_t bank);

/* Fetches a line or sector that is neither there nor on its way, for the policy; false: an MSHR, a
 * way or a place in the queue of misses is lacking. */
bool l1d_fetch_for_policy(SmL1d *l1d, SmContext *sm, SmPort *port, uint64_t key);

/* ---- Out ---- */

/* Ends the loads whose hits' data are there; there must be one at least. */
void l1d_end_hits(SmL1d *l1d, SmContext *sm);
/* Sends the oldest miss if there is one and the network has room. */
void l1d_send_miss(SmL1d *l1d, SmContext *sm, SmPort *port);
void l1d_line_arrived(SmL1d *l1d, SmContext *sm, SmPort *port, const MemRequest *request);
/* A load whose line has come, SM_NONE where a store had it fetched. */
static inline bool l1d_has_return(const SmL1d *l1d) { return l1d->has_return; }
static inline uint16_t l1d_peek_return(const SmL1d *l1d) { return (uint16_t)mshr_peek(&l1d->mshr); }
void l1d_pop_return(SmL1d *l1d);
/* An MSHR that it shares may be free again. */
static inline void l1d_hear_of_mshr(SmL1d *l1d) {
    if (l1d->mshr.shared) l1d->freed |= SM_FREED_MSHR;
}

/* ---- Refusals ---- */

/* Whether the bank is full, and stays so until something comes back from below. */
static inline bool l1d_bank_is_stuck(const SmL1d *l1d, uint32_t index) {
    const SmL1dBank *bank = &l1d->banks[index];
    return (bank->refusal != NULL) & !(bank->freed & bank->needs) & (bank->count == l1d->capacity);
}
static inline bool l1d_is_refusing(const SmL1d *l1d) { return l1d->refusing != 0; }
/* Counts the refusals that last up to, not including, `cycle`. */
void l1d_settle(SmL1d *l1d, uint64_t cycle);

/* Brings what a policy sees of its MSHRs and queue of misses up to date (TYTO_NEEDS_STALLS).
 * `ready`: warps whose next instruction could issue. */
static inline void l1d_show_room(const SmL1d *l1d, const SmPort *port, TytoSmView *view,
                                 uint64_t ready) {
    const SmSendQueue *misses = &port->misses[MEM_CLIENT_L1D];
    view->mshrs_full = mshr_is_full(&l1d->mshr) ? ready & view->wants_load : 0;
    view->l1d_mshrs_free = mshr_has_place(&l1d->mshr) ? l1d->mshr.entry_count - l1d->mshr.used : 0;
    view->l1d_misses_free = misses->capacity - misses->count;
}

#endif
