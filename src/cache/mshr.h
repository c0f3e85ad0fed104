/* Miss status holding registers: the fills under way, and who waits for each.
 *
 * An entry is keyed by the address of what is fetched (a line or a sector) and holds the requests
 * that wait for it, in order. When the data is back the entry is completed: it can no longer be
 * found, and its requests are taken out one by one, oldest entry first; the entry is free again
 * when its last request is out. */
#ifndef TYTO_CACHE_MSHR_H
#define TYTO_CACHE_MSHR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

enum { MSHR_NONE = -1, MSHR_MAX_WAITING = 65535 };

typedef struct MshrEntry {
    uint64_t key;   /* address of what is fetched */
    uint16_t first; /* oldest waiting request, index into `waiting` */
    uint16_t last;  /* youngest */
    uint16_t count; /* requests waiting */
    uint16_t next;  /* the next free or next completed entry */
} MshrEntry;

typedef struct MshrWaiting {
    uint32_t handle; /* the owner's name of the request */
    uint16_t next;   /* the next request of the entry, or the next free place */
} MshrWaiting;

typedef struct Mshr {
    uint32_t ready_count; /* completed entries */
    uint32_t used;        /* entries pending or completed and not yet drained */
    MshrEntry *entries;
    MshrWaiting *waiting;  /* places for requests */
    uint16_t *buckets;     /* hash table of pending entries (index + 1), linear probing; 0 empty */
    uint32_t bucket_shift; /* 64 - log2 of the buckets */
    uint32_t bucket_mask;  /* buckets - 1 */
    uint32_t entry_count;  /* entries */
    uint32_t merges;       /* most requests of an entry */
    uint32_t places;       /* of `waiting` that are free */
    uint32_t *shared;      /* places that several of these share, owner's; NULL: none */
    uint16_t free_entry;   /* first free entry */
    uint16_t free_waiting; /* first free place of `waiting` */
    uint16_t ready_first;  /* oldest completed entry */
    uint16_t ready_last;   /* youngest completed entry */
} Mshr;

/* `entries` free entries, each for up to `merges` requests (the first included), and for `requests`
 * in all, 0: all that the entries have room for; at most MSHR_MAX_WAITING. Owned by `arena`. */
void mshr_init(Mshr *mshr, uint32_t entries, uint32_t merges, uint32_t requests, Arena *arena);

static inline uint32_t mshr_bucket(const Mshr *mshr, uint64_t key) {
    return (uint32_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> mshr->bucket_shift);
}

/* The pending entry of `key`; MSHR_NONE when there is none. */
static inline int32_t mshr_find(const Mshr *mshr, uint64_t key) {
    for (uint32_t b = mshr_bucket(mshr, key); mshr->buckets[b]; b = (b + 1) & mshr->bucket_mask)
        if (mshr->entries[mshr->buckets[b] - 1].key == key) return mshr->buckets[b] - 1;
    return MSHR_NONE;
}

/* Another request finds a place. */
static inline bool mshr_has_place(const Mshr *mshr) {
    return mshr->places && (!mshr->shared || *mshr->shared);
}

/* No entry is free, or no place for its request. */
static inline bool mshr_is_full(const Mshr *mshr) {
    return mshr->used == mshr->entry_count || !mshr_has_place(mshr);
}

/* Another request may join the pending entry. */
static inline bool mshr_can_merge(const Mshr *mshr, int32_t entry) {
    return mshr->entries[entry].count < mshr->merges && mshr_has_place(mshr);
}

/* From now on its requests also take places from `places`. The caller owns `places`, and other MSHR
 * files may share it. This file must be empty. */
static inline void mshr_share(Mshr *mshr, uint32_t *places) { mshr->shared = places; }

/* Takes a free entry (there must be one) for `key`, which has none pending; `handle` waits for it.
 */
int32_t mshr_allocate(Mshr *mshr, uint64_t key, uint32_t handle);

/* `handle` waits for the entry too; it must have room. */
void mshr_merge(Mshr *mshr, int32_t entry, uint32_t handle);

/* The data of the pending entry is back. */
void mshr_complete(Mshr *mshr, int32_t entry);

/* Whether a request of a completed entry can be taken. */
static inline bool mshr_has_ready(const Mshr *mshr) { return mshr->ready_count != 0; }

/* The request that mshr_pop would take; there must be one. */
static inline uint32_t mshr_peek(const Mshr *mshr) {
    return mshr->waiting[mshr->entries[mshr->ready_first].first].handle;
}

/* Takes the next request of the oldest completed entry; there must be one. */
uint32_t mshr_pop(Mshr *mshr);

#endif
