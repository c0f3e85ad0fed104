/* Hints from programs to an L2 slice, in addition to reads and writes: prefetches, lines that
 * should become normal again, lines that are no longer needed. Hints are acknowledged at once.
 * Prefetches wait in a separate queue. They are read sector by sector, one per cycle, when an
 * MSHR and a place in the miss queue are free. A prefetch is dropped if the queue is full, or if
 * its set has no line that can be replaced. */
#include "partition/slice_internal.h"

enum { HINTED = 256 /* sectors in the queue */ };

void slice_init_hints(Slice *slice, Arena *arena) {
    slice->takes_hints = true;
    slice->hinted = ring_make(HINTED);
    slice->hinted_sectors = ARENA_ARRAY(arena, SliceHinted, ring_places(&slice->hinted));
}

void slice_hint_around(Slice *slice, const SliceSector *sector) {
    const MemRequest *request = request_of(slice, sector->handle);
    const PartitionEnvironment *environment = slice->environment;
    uint64_t bytes = request->prefetch ? UINT64_C(1) << request->prefetch : slice->l2_sector_bytes;
    if (bytes < environment->config->least_fetch_bytes)
        bytes = environment->config->least_fetch_bytes;
    uint64_t named =
        first_sector(slice, request) + (uint64_t)sector->index * slice->l2_sector_bytes;
    uint64_t first = named & ~(bytes - 1);
    for (uint64_t address = first; address < first + bytes; address += slice->l2_sector_bytes) {
        bool is_ours =
            environment->first_node + address_map_slice(environment->map, address) == slice->node;
        if (!is_ours || ring_is_full(&slice->hinted)) continue;
        slice->hinted_sectors[ring_push(&slice->hinted)] = (SliceHinted){
            .address = address,
            .local = address_map_local(environment->map, address),
            .priority = request->priority,
        };
    }
}

/* Starts to fill a sector without a waiting request. Returns false if it has to wait. */
static bool fill_hinted(Slice *slice, const SliceHinted *hinted) {
    TagArray *tags = &slice->tags;
    TagEviction evicted = {0};
    uint8_t mask = slice_sectors(slice, hinted->local);
    int32_t place;
    TagResult result = tag_array_probe(tags, hinted->local, mask, &place);
    if (result == TAG_HIT || result == TAG_PENDING) return true;
    if (mshr_is_full(&slice->mshr) || slice->misses.count > slice->read_limit) return false;
    if (place == TAG_NONE)
        place = tag_array_reserve_as(tags, hinted->local, mask, (CachePriority)hinted->priority,
                                     &evicted);
    else tag_array_expect(tags, place, mask);
    if (place == TAG_NONE) return true;
    int32_t entry = mshr_allocate(&slice->mshr, hinted->local, SLICE_NO_REQUEST);
    slice->fills[entry] = (SliceFill){.place = place, .mask = mask};
    slice_add_miss(slice, &(DramAccess){.address = hinted->address,
                                        .token = (uint32_t)entry,
                                        .cta = SLICE_NO_CTA,
                                        .bytes = (uint16_t)slice->l2_sector_bytes,
                                        .requester = DRAM_NOBODY});
    slice_evict(slice, &evicted);
    slice->is_refused = false;
    return true;
}

void slice_step_hinted(Slice *slice) {
    if (fill_hinted(slice, &slice->hinted_sectors[ring_front(&slice->hinted)]))
        ring_pop(&slice->hinted);
}

/* Drops the line of an address, unless part of it is in flight. */
static void discard(Slice *slice, uint64_t local) {
    int32_t place = tag_array_find(&slice->tags, local);
    if (place != TAG_NONE && !slice->tags.lines[place].pending)
        tag_array_invalidate(&slice->tags, place);
}

void slice_advise(Slice *slice, const SliceSector *sector, uint64_t cycle) {
    const MemRequest *request = request_of(slice, sector->handle);
    if (slice->takes_hints && request->advice == MEM_ADVICE_PREFETCH) {
        slice_hint_around(slice, sector);
    } else if (slice->takes_hints && request->advice == MEM_ADVICE_DISCARD) {
        if (slice->far) slice_drop_copy(slice, sector->local);
        discard(slice, sector->local);
    } else if (slice->takes_hints) {
        int32_t place = tag_array_find(&slice->tags, sector->local);
        if (place != TAG_NONE) tag_array_forget_rank(&slice->tags, place);
    }
    slice_add_reply(slice, sector->handle, sector->local, cycle, NULL);
}

void slice_set_aside(Slice *slice, uint32_t ways) {
    if (slice->takes_hints) tag_array_set_last_ways(&slice->tags, ways);
}

void slice_forget_persisting(Slice *slice) {
    if (slice->takes_hints) tag_array_forget_last(&slice->tags);
}
