/* What the files of the L2 slice share: how its steps reach requests and queues. */
#ifndef TYTO_PARTITION_SLICE_INTERNAL_H
#define TYTO_PARTITION_SLICE_INTERNAL_H

#include "partition/slice.h"

static inline MemRequest *request_of(const Slice *slice, uint32_t handle) {
    return mem_request(&slice->environment->pools, handle);
}

/* The request's address, rounded down to an atom. */
static inline uint64_t first_atom(const Slice *slice, const MemRequest *request) {
    return request->address & ~(uint64_t)(slice->atom_bytes - 1);
}

static inline void slice_add_miss(Slice *slice, const DramAccess *access) {
    slice->miss_accesses[ring_push(&slice->misses)] = *access;
}

static inline void slice_push_access(Slice *slice, const DramAccess *access) {
    slice->dram_accesses[ring_push(&slice->to_dram)] = *access;
    slice->has_moved_dram = true;
}

/* Queues the reply to one atom; the queue must have room. `times` is NULL where DRAM had no part.
 */
void slice_add_reply(Slice *slice, uint32_t handle, const DramTimes *times);

/* What the policies of a cache make a write do. */
WriteRule slice_write_rule(const CacheConfig *config);

/* Looks the atom up, when the queues towards DRAM and of replies have room and the data port is
 * free. False when it is refused: no way, MSHR, merge or miss queue place is free. */
bool slice_look_up(Slice *slice, const SliceAtom *atom, uint64_t cycle);

/* Counts a line that had to go, and sends its dirty sectors to DRAM as one write; the miss queue
 * must have room. Returns how many those are. */
uint32_t slice_evict(Slice *slice, const TagEviction *evicted);

/* The sectors of its line that a prefetch of the address brings. */
uint8_t slice_prefetched_sectors(const Slice *slice, uint64_t local);

#endif
