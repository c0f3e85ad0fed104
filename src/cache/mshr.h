/* Miss status holding registers: the pending fills, and the requests that wait for each.
 *
 * An entry is identified by the address of what is requested (a line or a sector) and holds the
 * requests that wait for it, in order. When the data have arrived the entry is completed. Then it
 * can no longer be found, and its requests are taken out one by one, oldest entry first. The entry
 * is free again when its last request has been taken out. */
#ifndef TYTO_CACHE_MSHR_H
#define TYTO_CACHE_MSHR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

enum { MSHR_NONE = -1, MSHR_MAX_WAITING = 65535 };

typedef struct MshrEntry {
    uint64_t key;   /* address of the requested line or sector */
    uint16_t first; /* oldest waiting request, index into `waiting` */
    uint16_t last;  /* youngest waiting request */
    uint16_t count; /* number of waiting requests */
    uint16_t next;  /* next free, or next completed, entry */
} MshrEntry;

typedef struct MshrWaiting {
    uint32_t handle; /* identifies the request to the owner */
    uint16_t next;   /* next request of the entry; of a free place see free_after */
} MshrWaiting;

typedef struct Mshr {
    uint32_t ready_count; /* number of completed entries */
    uint32_t used;        /* pending entries, and completed ones that still have requests */
    MshrEntry *entries;
    MshrWaiting *waiting;  /* places for requests */
    uint16_t *buckets;     /* hash table of pending entries (index + 1), linear probing; 0: empty */
    uint32_t bucket_shift; /* 64 - log2 of the number of buckets */
    uint32_t bucket_mask;  /* number of buckets - 1 */
    uint32_t entry_count;  /* number of entries */
    uint32_t merges;       /* most requests per entry */
    uint32_t places;       /* free places of `waiting` */
    uint32_t *shared;      /* free places shared by several caches; belongs to the owner; NULL:
                              none */
    uint16_t free_entry;   /* first free entry */
    uint16_t free_waiting; /* first free place of `waiting` */
    uint16_t ready_first;  /* oldest completed entry */
    uint16_t ready_last;   /* youngest completed entry */
} Mshr;

/* Makes `entries` free entries, each for at most `merges` requests (including the first).
 * `requests` is the limit for all entries together; 0: no further limit. At most MSHR_MAX_WAITING
 * requests. Owned by `arena`. */
void mshr_init(Mshr *mshr, uint32_t entries, uint32_t merges, uint32_t requests, Arena *arena);

static inline uint32_t mshr_bucket(const Mshr *mshr, uint64_t key) {
    return (uint32_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> mshr->bucket_shift);
}

/* The pending entry of `key`; MSHR_NONE: none. */
static inline int32_t mshr_find(const Mshr *mshr, uint64_t key) {
    for (uint32_t b = mshr_bucket(mshr, key); mshr->buckets[b]; b = (b + 1) & mshr->bucket_mask)
        if (mshr->entries[mshr->buckets[b] - 1].key == key) return mshr->buckets[b] - 1;
    return MSHR_NONE;
}

/* Whether there is a place for another request. */
static inline bool mshr_has_place(const Mshr *mshr) {
    return mshr->places && (!mshr->shared || *mshr->shared);
}

/* Whether there is no free entry, or no place for its request. */
static inline bool mshr_is_full(const Mshr *mshr) {
    return mshr->used == mshr->entry_count || !mshr_has_place(mshr);
}

/* Whether another request may join the pending entry. */
static inline bool mshr_can_merge(const Mshr *mshr, int32_t entry) {
    return mshr->entries[entry].count < mshr->merges && mshr_has_place(mshr);
}

/* From now on its requests also need places from `places`, which belongs to the caller and may be
 * shared by several caches' MSHRs. These MSHRs must be empty. */
static inline void mshr_share(Mshr *mshr, uint32_t *places) { mshr->shared = places; }

/* Allocates an entry for `key` (there must be a free one, and no pending one for `key`); `handle`
 * waits for it. */
int32_t mshr_allocate(Mshr *mshr, uint64_t key, uint32_t handle);

/* Adds `handle` to the requests that wait for the entry; there must be room. */
void mshr_merge(Mshr *mshr, int32_t entry, uint32_t handle);

/* Records that the data of a pending entry have arrived. */
void mshr_complete(Mshr *mshr, int32_t entry);

/* Whether there is a request of a completed entry to take out. */
static inline bool mshr_has_ready(const Mshr *mshr) { return mshr->ready_count != 0; }

/* The request that mshr_pop would return; there must be one. */
static inline uint32_t mshr_peek(const Mshr *mshr) {
    return mshr->waiting[mshr->entries[mshr->ready_first].first].handle;
}

/* Takes out the next request of the oldest completed entry; there must be one. */
uint32_t mshr_pop(Mshr *mshr);

#endif
