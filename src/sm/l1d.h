/* L1 data cache. An access passes through the queue of its bank, which is as long as the cache's
 * latency. If the latency is 0, an access looks up its tags when it enters, and the load/store unit
 * keeps refused accesses. Only the oldest access of a bank looks up its tags. If the cache refuses
 * it, it tries again every cycle, and everything behind it in its bank waits. All banks share tags,
 * MSHRs and the miss queue, and take their turns in the order of their numbers.
 *
 * The data store may be shared with shared memory. Then a kernel's carve-out determines how many
 * ways the cache has.
 *
 * Misses and writes leave through the port's queue MEM_CLIENT_L1D, one per cycle. Loads that hit
 * complete at once, or after the hit latency. Loads that missed come out of the MSHRs, from which
 * the load/store unit passes them to the write-back port. Posts SM_EVENT_INST_DONE and
 * SM_EVENT_STORE_DONE.
 *
 * Reads state of others: the instructions in flight, and the ages of warps (SmContext.view). */
#ifndef TYTO_SM_L1D_H
#define TYTO_SM_L1D_H

#include "cache/mshr.h"
#include "cache/tag_array.h"
#include "sm/port.h"
#include "sm/queue.h"

/* What has arrived or become free in the L1D, as bits: a refused access may now find what it
 * lacked. */
typedef enum SmFreed {
    SM_FREED_LINE = 1,  /* a line was filled in the set of a refused access */
    SM_FREED_PLACE = 2, /* a miss was sent */
    SM_FREED_MSHR = 4,  /* an MSHR is free */
    SM_FREED_OTHER = 8, /* an access of another bank was accepted: it may have brought the line */
    SM_FREED_ALL = 15
} SmFreed;

/* An access in the latency queue. */
typedef struct SmLookup {
    uint64_t due; /* cycle from which its tags can be looked up */
    SmAccess access;
    uint32_t serial; /* number of the warp among those launched on the SM */
    uint16_t inst;   /* loads: the instruction; invalid after a store has left */
    uint8_t warp;
    bool is_store, is_local;
    bool is_prefetch : 1;  /* a store that only requests its line or sector */
    bool is_policy : 1;    /* a prefetch of the policy, not of an instruction */
    bool is_asked : 1;     /* the policy has already chosen what happens to the access's line */
    bool repeats_line : 1; /* TytoEvent.repeats_line */
    uint32_t pc;           /* of the instruction; TYTO_NO_PC */
} SmLookup;
_Static_assert(sizeof(SmLookup) == 64, "an access in the queue is a line of the host's cache");

/* The access that brought a line in, in addition to the serial number that the tag array keeps. */
typedef struct SmFiller {
    uint32_t lanes; /* lanes that asked for it, one bit each */
    uint32_t pc;    /* of the instruction; TYTO_NO_PC */
    uint8_t warp;   /* SM_NO_WARP: a prefetch of the policy */
} SmFiller;

typedef struct SmL1dBank {
    uint64_t *refusal;    /* counter of the refusal that the head is stuck in; NULL: none */
    uint64_t next_lookup; /* first cycle in which the bank can look up tags again */
    SmLookup *queue;      /* ring */
    uint16_t head, count; /* index of the oldest, and number of entries */
    uint8_t needs;        /* SmFreed that can end the refusal */
    uint8_t freed;        /* SmFreed since the head was refused */
    uint64_t counted;     /* first cycle for which the refusal is not counted yet */
    uint32_t set;         /* first place of the set that the head was refused in */
} SmL1dBank;

/* Written only by l1d.c. The fields that every visit reads come first, with the first bank in one
 * line of the host's cache. */
typedef struct SmL1d {
    uint32_t filled;     /* banks whose queue is not empty, one bit each */
    uint32_t refusing;   /* banks whose head is stuck, one bit each */
    uint64_t next;       /* cycle of the next lookup; UINT64_MAX: none */
    uint8_t freed;       /* SmFreed since the last step */
    uint8_t needed;      /* SmFreed that can end a refusal */
    bool is_flushing;    /* dirty lines are being written back; then all lines are dropped */
    bool has_return;     /* the MSHRs hold loads whose lines have arrived */
    bool writes_back;    /* dirty lines are written back; false: writes go through */
    uint8_t bank_shift;  /* log2 of the bank's number of consecutive bytes */
    bool has_asks;       /* the policy has requested prefetches that wait to be sent */
    uint32_t bank_count; /* a power of two */
    uint32_t capacity;   /* of a bank's queue */
    SmL1dBank banks[SM_MAX_L1D_BANKS];
    const CacheConfig *config;
    uint32_t fill_bytes;    /* bytes of a line or sector */
    uint32_t ways;          /* ways of the store that the cache gets at the next flush */
    uint32_t interval;      /* cycles from one lookup of a bank to its next */
    uint32_t miss_interval; /* the same after a lookup that does not hit; at least `interval` */
    uint32_t hit_latency;   /* cycles from a hit to its data; 0: none */
    uint64_t hits_from;     /* cycle in which the oldest hit's data are due; UINT64_MAX */
    SmQueue hits;           /* loads that hit and wait for their data */
    uint64_t *hits_due;     /* the cycle in which each is due, by position in the ring */
    TagHint hint;           /* of the last lookup */
    Mshr mshr;
    SmFiller *fillers;               /* by place of the tags */
    SmFiller *asking;                /* by MSHR: the access whose data were requested */
    struct SmPrefetcher *prefetcher; /* the policy's prefetcher (l1d_policy.h); NULL: none */
    TytoLine *shown;                 /* a set as the policy sees it; NULL: it chooses no victims */
    TagArray tags;
} SmL1d;

void l1d_init(SmL1d *l1d, SmContext *sm, SmPort *port);
/* Sets the cache's share of the unified store, from the next flush on, when `shared_bytes` of the
 * store are shared memory. */
void l1d_carve_out(SmL1d *l1d, const SmConfig *config, uint32_t shared_bytes);
/* The work of a cycle. Must be called only if there is work; l1d_step decides that. What was freed
 * does not matter to accesses that have not been refused yet. */
void l1d_do_step(SmL1d *l1d, SmContext *sm, SmPort *port);
static inline void l1d_step(SmL1d *l1d, SmContext *sm, SmPort *port) {
    bool is_due = l1d->next <= sm->cycle;
    if (is_due | l1d->is_flushing | !!(l1d->freed & l1d->needed)) l1d_do_step(l1d, sm, port);
    else l1d->freed = 0;
}
/* Writes back and drops all lines; this can take several cycles. */
void l1d_flush(SmL1d *l1d, SmContext *sm, SmPort *port);
bool l1d_is_busy(const SmL1d *l1d, const SmPort *port); /* accesses, misses, a flush */
/* There is no access, no load to pass on, and no flush: a step could only send a miss. */
static inline bool l1d_is_quiet(const SmL1d *l1d) {
    return !(l1d->filled | l1d->hits.count | (uint32_t)l1d->is_flushing |
             (uint32_t)l1d->has_return);
}
/* The next cycle in which an access can look up its tags, or a hit's data are due; UINT64_MAX:
 * none. */
static inline uint64_t l1d_next_event(const SmL1d *l1d) {
    return l1d->next < l1d->hits_from ? l1d->next : l1d->hits_from;
}
/* Whether there is work in the next cycle, apart from misses. */
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
/* Adds an access of the instruction; its bank's queue must have room. */
void l1d_enter(SmL1d *l1d, const SmContext *sm, uint16_t inst, const SmMemory *memory,
               const SmAccess *access);

/* Looks up the tags for the only access of the bank, in the cycle in which it entered. Afterwards,
 * l1d_can_enter returns whether the access was accepted. */
void l1d_look_up(SmL1d *l1d, SmContext *sm, SmPort *port, uint32_t bank);

/* Fetches a line or sector for the policy; it must be neither present nor pending. Returns false if
 * an MSHR, a way or a place in the miss queue is missing. */
bool l1d_prefetch_for_policy(SmL1d *l1d, SmContext *sm, SmPort *port, uint64_t key);

/* ---- Out ---- */

/* Completes the loads that hit and whose data are due; there must be at least one. */
void l1d_end_hits(SmL1d *l1d, SmContext *sm);
/* Sends the oldest miss if there is one and the network has room. */
void l1d_send_miss(SmL1d *l1d, SmContext *sm, SmPort *port);
void l1d_line_arrived(SmL1d *l1d, SmContext *sm, SmPort *port, const MemRequest *request);
/* A load whose line has arrived; SM_NONE if a store requested it. */
static inline bool l1d_has_return(const SmL1d *l1d) { return l1d->has_return; }
static inline uint16_t l1d_peek_return(const SmL1d *l1d) { return (uint16_t)mshr_peek(&l1d->mshr); }
void l1d_pop_return(SmL1d *l1d);
/* Records that a shared MSHR may be free again. */
static inline void l1d_hear_of_mshr(SmL1d *l1d) {
    if (l1d->mshr.shared) l1d->freed |= SM_FREED_MSHR;
}

/* ---- Refusals ---- */

/* Whether the bank is full, and stays full until something is freed. */
static inline bool l1d_bank_is_stuck(const SmL1d *l1d, uint32_t index) {
    const SmL1dBank *bank = &l1d->banks[index];
    return (bank->refusal != NULL) & !(bank->freed & bank->needs) & (bank->count == l1d->capacity);
}
static inline bool l1d_is_refusing(const SmL1d *l1d) { return l1d->refusing != 0; }
/* Counts the refusals in progress for all cycles before `cycle`. */
void l1d_settle(SmL1d *l1d, uint64_t cycle);

/* Updates what the policy sees of the MSHRs and the miss queue (TYTO_NEEDS_STALLS). `ready`: warps
 * whose next instruction could issue. */
static inline void l1d_show_room(const SmL1d *l1d, const SmPort *port, TytoSmView *view,
                                 uint64_t ready) {
    const SmSendQueue *misses = &port->misses[MEM_CLIENT_L1D];
    view->mshrs_full = mshr_is_full(&l1d->mshr) ? ready & view->wants_load : 0;
    view->l1d_mshrs_free = mshr_has_place(&l1d->mshr) ? l1d->mshr.entry_count - l1d->mshr.used : 0;
    view->l1d_misses_free = misses->capacity - misses->count;
}

#endif
