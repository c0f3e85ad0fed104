/* Entries and their waiting requests (see the header). Everything is linked by indices in arrays
 * that are allocated once. */
#include "cache/mshr.h"

#include <assert.h>

#include "base/probing.h"

void mshr_init(Mshr *mshr, uint32_t entries, uint32_t merges, uint32_t requests, Arena *arena) {
    uint32_t all = entries * merges, places = requests && requests < all ? requests : all;
    uint32_t bucket_bits = 1;
    while (1u << bucket_bits < 4 * entries) /* so most searches need one step */
        bucket_bits++;
    *mshr = (Mshr){
        .entries = ARENA_ARRAY(arena, MshrEntry, entries),
        .waiting = ARENA_ARRAY(arena, MshrWaiting, places),
        .buckets = ARENA_ARRAY(arena, uint16_t, 1u << bucket_bits),
        .bucket_shift = 64 - bucket_bits,
        .bucket_mask = (1u << bucket_bits) - 1,
        .entry_count = entries,
        .merges = merges,
        .places = places,
    };
    for (uint32_t i = 0; i < entries; i++)
        mshr->entries[i].next = (uint16_t)(i + 1);
}

/* The free place after `place`. A free place keeps its distance from the one behind it, so that in
 * memory that is 0 each is followed by the next: an SM has ten thousands, and few are ever used. */
static uint16_t free_after(const Mshr *mshr, uint16_t place) {
    return (uint16_t)(mshr->waiting[place].next + place + 1);
}

static void free_place(Mshr *mshr, uint16_t place) {
    mshr->waiting[place].next = (uint16_t)(mshr->free_waiting - place - 1);
    mshr->free_waiting = place;
}

static void append(Mshr *mshr, MshrEntry *entry, uint32_t handle) {
    uint16_t place = mshr->free_waiting;
    mshr->free_waiting = free_after(mshr, place);
    mshr->places--;
    if (mshr->shared) --*mshr->shared;
    mshr->waiting[place].handle = handle;
    if (entry->count++) mshr->waiting[entry->last].next = place;
    else entry->first = place;
    entry->last = place;
}

int32_t mshr_allocate(Mshr *mshr, uint64_t key, uint32_t handle) {
    assert(!mshr_is_full(mshr));
    uint16_t index = mshr->free_entry;
    MshrEntry *entry = &mshr->entries[index];
    mshr->free_entry = entry->next;
    mshr->used++;
    *entry = (MshrEntry){.key = key};
    append(mshr, entry, handle);
    uint32_t b = mshr_bucket(mshr, key);
    while (mshr->buckets[b])
        b = (b + 1) & mshr->bucket_mask;
    mshr->buckets[b] = (uint16_t)(index + 1);
    return index;
}

void mshr_merge(Mshr *mshr, int32_t entry, uint32_t handle) {
    assert(mshr_can_merge(mshr, entry));
    append(mshr, &mshr->entries[entry], handle);
}

static uint32_t home_of(const void *mshr, uint32_t entry) {
    return mshr_bucket(mshr, ((const Mshr *)mshr)->entries[entry].key);
}

void mshr_complete(Mshr *mshr, int32_t entry) {
    Probing table = {mshr->buckets, mshr->bucket_mask, .is_short = true};
    probing_remove(table, mshr, home_of, (uint32_t)entry);
    if (mshr->ready_count++) mshr->entries[mshr->ready_last].next = (uint16_t)entry;
    else mshr->ready_first = (uint16_t)entry;
    mshr->ready_last = (uint16_t)entry;
}

uint32_t mshr_pop(Mshr *mshr) {
    assert(mshr_has_ready(mshr));
    uint16_t index = mshr->ready_first;
    MshrEntry *entry = &mshr->entries[index];
    uint16_t place = entry->first;
    entry->first = mshr->waiting[place].next;
    free_place(mshr, place);
    mshr->places++;
    if (mshr->shared) ++*mshr->shared;
    if (!--entry->count) {
        mshr->ready_first = entry->next;
        mshr->ready_count--;
        entry->next = mshr->free_entry;
        mshr->free_entry = index;
        mshr->used--;
    }
    return mshr->waiting[place].handle;
}
