/* Step 4 of a slice's cycle: what L2 does with a read, a write or an atomic (see slice.h). */
#include "partition/slice_internal.h"

#include "base/bits.h"

typedef unsigned __int128 ByteMask; /* one bit per byte that a request writes */

WriteRule slice_write_rule(const CacheConfig *config) {
    if (config->write == WRITE_BACK)
        return (WriteRule){.allocates = config->write_allocate != ALLOCATE_NONE,
                           .fills = config->write_allocate == ALLOCATE_FETCH,
                           .is_beside = config->write_allocate == ALLOCATE_BESIDE};
    return (WriteRule){.passes_on = true, .drops_line = config->write != WRITE_THROUGH};
}

/* ---- sectors ---- */

/* The requester that a DRAM scheduler sees for a request: that of the request for which L2 missed,
 * not of those merged with it. */
static DramRequester requester_of(const MemRequest *request) {
    return (DramRequester){(uint16_t)mem_handle_sm(request->handle), request->warp};
}

DramAccess slice_sector_access(const Slice *slice, const SliceSector *sector, uint32_t token) {
    const MemRequest *request = request_of(slice, sector->handle);
    bool is_part = sector->op == MEM_OP_WRITE && request->bytes < slice->l2_sector_bytes;
    return (DramAccess){
        .address = first_sector(slice, request) + (uint64_t)sector->index * slice->l2_sector_bytes,
        .token = token,
        .cta = request->client == MEM_CLIENT_L1I ? SLICE_NO_CTA : request->cta,
        .bytes = (uint16_t)(is_part ? request->bytes : slice->l2_sector_bytes),
        .requester = requester_of(request),
        .is_write = sector->op == MEM_OP_WRITE,
        .is_store = sector->op == MEM_OP_WRITE,
    };
}

/* The bytes of the sector that its write changes, as far as they fit into a word. *is_whole: it
 * changes all of them. */
static uint64_t bytes_written(const Slice *slice, const SliceSector *sector, bool *is_whole) {
    const MemRequest *request = request_of(slice, sector->handle);
    ByteMask mask = (ByteMask)request->written[1] << 64 | request->written[0];
    if (!mask) {
        *is_whole = true;
        return UINT64_MAX;
    }
    uint32_t l2_sector_bytes = slice->l2_sector_bytes, skipped = sector->index * l2_sector_bytes;
    if (skipped >= 128 || l2_sector_bytes > 128) {
        *is_whole = false;
        return 0;
    }
    ByteMask all = l2_sector_bytes == 128 ? ~(ByteMask)0 : ((ByteMask)1 << l2_sector_bytes) - 1;
    mask = mask << (request->address & (l2_sector_bytes - 1)) >> skipped & all;
    *is_whole = mask == all;
    return (uint64_t)mask;
}

/* ---- accesses ---- */

static void use_port(Slice *slice, uint64_t cycle, uint32_t cycles) {
    slice->port_free = cycle + cycles;
}

/* Records the result for the sender of the request. */
static void note_outcome(const Slice *slice, const SliceSector *sector, TagResult result) {
    MemOutcome *outcome = mem_outcome(&slice->environment->pools, near_handle(sector->handle));
    if (result == TAG_HIT) outcome->hits++;
    else if (result == TAG_PENDING) outcome->pending_hits++;
    else outcome->misses++;
}

void slice_note_access(Slice *slice, const SliceSector *sector, TagResult result) {
    bool is_miss = result == TAG_MISS || result == TAG_SECTOR_MISS;
    if (slice->environment->pools.outcomes) note_outcome(slice, sector, result);
    if (slice->sets && slice->has_tags)
        sets_count_lookup(&slice->sets[set_index_of(&slice->tags.index, sector->local)], is_miss);
}

/* Sets are rarely counted, so this code is a separate function, away from the code that every
 * access executes. */
SLICE_SELDOM static void note_set_eviction(const Slice *slice, uint64_t local) {
    slice->sets[set_index_of(&slice->tags.index, local)].evictions++;
}

void slice_note_row(Slice *slice, const SliceSector *sector) {
    row_sharing_read(&slice->rows, sector->row, request_of(slice, sector->handle)->cta,
                     slice->counters);
}

/* Sends the dirty sectors of the line at `address` to DRAM as one write. Returns their number. */
static uint32_t write_back(Slice *slice, uint64_t address, uint8_t dirty) {
    uint32_t sectors = (uint32_t)bits_count32(dirty);
    uint64_t local = address + (uint64_t)bits_lowest32(dirty) * slice->l2_sector_bytes;
    const PartitionEnvironment *environment = slice->environment;
    const DramAccess access = {
        .address = address_map_address(environment->map, environment->channel, local),
        .cta = SLICE_NO_CTA,
        .bytes = (uint16_t)(sectors * slice->l2_sector_bytes),
        .requester = DRAM_NOBODY,
        .is_write = true,
    };
    if (slice->writes_back_first) slice_push_write_back(slice, &access);
    else slice_add_miss(slice, &access);
    slice->counters->l2_write_backs++;
    return sectors;
}

uint32_t slice_evict(Slice *slice, const TagEviction *evicted) {
    if (!evicted->has_line) return 0;
    slice->counters->l2_evictions++;
    if (__builtin_expect(slice->sets != NULL, false)) note_set_eviction(slice, evicted->address);
    if (!evicted->dirty) return 0;
    return write_back(slice, evicted->address, evicted->dirty);
}

uint8_t slice_prefetched_sectors(const Slice *slice, uint64_t local) {
    uint32_t bytes = slice->environment->dram->prefetch.line_bytes;
    return tag_array_sectors(&slice->tags, local & ~(uint64_t)(bytes - 1), bytes);
}

/* Counts the first hit on a prefetched sector as a use of the prefetch. */
SLICE_SELDOM static void use_prefetch(Slice *slice, TagLine *line, uint64_t local) {
    slice->counters->l2_prefetches_used++;
    line->filler_thread &= (uint8_t)~slice_prefetched_sectors(slice, local);
}

/* Sends a write to DRAM. It is acknowledged now or, if the slice acknowledges late, when it is
 * done. */
static void write_to_dram(Slice *slice, const SliceSector *sector, uint64_t cycle) {
    DramAccess access = slice_sector_access(slice, sector, sector->handle);
    access.is_awaited = slice->acknowledges_late;
    slice_add_miss(slice, &access);
    if (!access.is_awaited) slice_add_reply(slice, sector->handle, sector->local, cycle, NULL);
}

/* Sends the evicted line to DRAM if it is dirty. With `takes_port` it occupies the data port. */
static void evict(Slice *slice, const TagEviction *evicted, bool takes_port, uint64_t cycle) {
    uint32_t dirty_bytes = slice_evict(slice, evicted) * slice->l2_sector_bytes;
    if (dirty_bytes && takes_port) use_port(slice, cycle, dirty_bytes / slice->port_bytes);
}

/* Starts to fill the sector for its request, into the line at `place` or, if there is none, into a
 * line that is replaced. With SLICE_NO_REQUEST no request waits, because its write goes to DRAM
 * first. Returns false if no line or MSHR is free. */
static bool read_sector(Slice *slice, const SliceSector *sector, int32_t place, uint8_t mask,
                        uint32_t waiter, uint64_t cycle) {
    TagArray *tags = &slice->tags;
    TagEviction evicted = {0};
    if (mshr_is_full(&slice->mshr)) return false;
    if (place == TAG_NONE) {
        place =
            tag_array_reserve_as(tags, sector->local, mask, priority_of(slice, sector), &evicted);
        if (place == TAG_NONE) return false;
    } else {
        slice_touch(slice, sector, place);
        tag_array_expect(tags, place, mask);
    }
    int32_t entry = mshr_allocate(&slice->mshr, sector->local, waiter);
    slice->fills[entry] = (SliceFill){.place = place, .mask = mask};
    if (waiter == SLICE_NO_REQUEST) write_to_dram(slice, sector, cycle);
    DramAccess access = slice_sector_access(slice, sector, (uint32_t)entry);
    access.is_write = access.is_store = false;
    slice_add_miss(slice, &access);
    evict(slice, &evicted, slice->port_moves_victims && waiter != SLICE_NO_REQUEST, cycle);
    if (sector->op != MEM_OP_READ && waiter != SLICE_NO_REQUEST) tag_array_write(tags, place, mask);
    return true;
}

/* Waits for a fill in flight. Returns false if the fill accepts no more requests. */
static bool join_fill(Slice *slice, const SliceSector *sector, int32_t place, uint8_t mask) {
    int32_t entry = mshr_find(&slice->mshr, sector->local);
    if (!mshr_can_merge(&slice->mshr, entry)) return false;
    mshr_merge(&slice->mshr, entry, sector->handle);
    slice_touch(slice, sector, place);
    if (sector->op != MEM_OP_READ) tag_array_write(&slice->tags, place, mask);
    return true;
}

/* A read or an atomic that does not find a valid sector. */
SLICE_SELDOM static bool miss_read(Slice *slice, const SliceSector *sector, TagResult result,
                                   int32_t place, uint8_t mask, uint64_t cycle) {
    if (slice->misses.count > slice->read_limit) return false;
    bool is_accepted = result == TAG_PENDING
                           ? join_fill(slice, sector, place, mask)
                           : read_sector(slice, sector, place, mask, sector->handle, cycle);
    if (is_accepted) slice_count_access(slice, sector, true, result);
    if (is_accepted && result != TAG_PENDING && slice->takes_hints &&
        (slice->environment->config->least_fetch_bytes ||
         request_of(slice, sector->handle)->prefetch))
        slice_hint_around(slice, sector);
    return is_accepted;
}

/* A read or an atomic. The sector of an atomic becomes dirty when it is present. */
static inline bool look_up_read(Slice *slice, const SliceSector *sector, uint64_t cycle) {
    TagArray *tags = &slice->tags;
    uint8_t mask = slice_sectors(slice, sector->local);
    int32_t place;
    TagResult result = tag_array_probe_again(tags, sector->local, mask, &slice->hint, &place);
    if (result != TAG_HIT) {
        if (slice->allocates_on_fill) return slice_miss_on_fill(slice, sector, cycle);
        return miss_read(slice, sector, result, place, mask, cycle);
    }
    slice_touch(slice, sector, place);
    if (tags->lines[place].filler_thread & mask)
        use_prefetch(slice, &tags->lines[place], sector->local);
    if (sector->op == MEM_OP_ATOMIC) tag_array_write(tags, place, mask);
    slice_serve_hit(slice, sector, true, cycle);
    return true;
}

/* Writes into the line at `place`. */
static void write_line(Slice *slice, const SliceSector *sector, int32_t place, uint8_t mask) {
    bool is_whole;
    uint64_t bytes = bytes_written(slice, sector, &is_whole);
    if (is_whole) tag_array_write(&slice->tags, place, mask);
    else tag_array_write_bytes(&slice->tags, place, (uint32_t)bits_lowest32(mask), bytes);
}

/* A write that goes on to DRAM. A line that is present is updated or invalidated. If the line has a
 * fill in flight, only the written sector is dropped, unless an atomic has written to it. */
static bool pass_write(Slice *slice, const SliceSector *sector, TagResult result, int32_t place,
                       uint8_t mask, uint64_t cycle) {
    const TagLine *line = result == TAG_HIT ? &slice->tags.lines[place] : NULL;
    const bool drops = line && slice->write.drops_line && !line->pending;
    if (drops && line->dirty) {
        if (slice->misses.count > slice->read_limit) return false;
        write_back(slice, tag_array_address(&slice->tags, place), line->dirty);
    }
    write_to_dram(slice, sector, cycle);
    slice_count_access(slice, sector, false, result);
    if (result == TAG_HIT) {
        use_port(slice, cycle, slice_port_cycles(slice, sector, false));
        if (drops) tag_array_invalidate(&slice->tags, place);
        else if (slice->write.drops_line && !(line->dirty & mask))
            tag_array_drop(&slice->tags, place, mask);
        else slice_touch(slice, sector, place);
    }
    return true;
}

/* A write that does not find a valid sector allocates it. If a dirty line is evicted, it occupies
 * the port for as many cycles as its dirty sectors need, this cycle included. */
static bool allocate_write(Slice *slice, const SliceSector *sector, TagResult result, int32_t place,
                           uint8_t mask, uint64_t cycle) {
    TagEviction evicted = {0};
    if (place == TAG_NONE) {
        place = tag_array_reserve_as(&slice->tags, sector->local, 0, priority_of(slice, sector),
                                     &evicted);
        if (place == TAG_NONE) return false;
    } else {
        slice_touch(slice, sector, place);
    }
    evict(slice, &evicted, true, cycle);
    write_line(slice, sector, place, mask);
    slice_count_access(slice, sector, false, result);
    slice_add_reply(slice, sector->handle, sector->local, cycle, NULL);
    return true;
}

static bool fill_for_write(Slice *slice, const SliceSector *sector, TagResult result, int32_t place,
                           uint8_t mask, uint64_t cycle) {
    if (slice->misses.count > slice->read_limit ||
        !read_sector(slice, sector, place, mask, sector->handle, cycle))
        return false;
    slice_count_access(slice, sector, false, result);
    return true;
}

/* A write that does not find a valid sector goes to DRAM, and its line is read in parallel and
 * stays clean. While that fill is in flight, further writes wait for it too. */
static bool fill_beside(Slice *slice, const SliceSector *sector, TagResult result, int32_t place,
                        uint8_t mask, uint64_t cycle) {
    if (slice->misses.count > slice->beside_limit) return false;
    if (result == TAG_PENDING) {
        int32_t entry = mshr_find(&slice->mshr, sector->local);
        if (!mshr_can_merge(&slice->mshr, entry)) return false;
        mshr_merge(&slice->mshr, entry, SLICE_NO_REQUEST);
        slice_touch(slice, sector, place);
        write_to_dram(slice, sector, cycle);
    } else if (!read_sector(slice, sector, place, mask, SLICE_NO_REQUEST, cycle)) {
        return false;
    }
    slice_count_access(slice, sector, false, result);
    return true;
}

static bool look_up_write(Slice *slice, const SliceSector *sector, uint64_t cycle) {
    TagArray *tags = &slice->tags;
    uint8_t mask = slice_sectors(slice, sector->local);
    int32_t place;
    TagResult result = tag_array_probe_again(tags, sector->local, mask, &slice->hint, &place);
    bool is_taken = place != TAG_NONE && (tags->lines[place].dirty & mask);
    if (result == TAG_SECTOR_MISS && is_taken) result = TAG_HIT; /* partly written before */
    if (result == TAG_HIT && !slice->write.passes_on) {
        slice_touch(slice, sector, place);
        write_line(slice, sector, place, mask);
        slice_serve_hit(slice, sector, false, cycle);
        return true;
    }
    if (slice->store_mshrs) return slice_miss_on_fill(slice, sector, cycle);
    if (slice->misses.count > slice->write_limit) return false;
    if (slice->write.passes_on || (place == TAG_NONE && !slice->write.allocates))
        return pass_write(slice, sector, result, place, mask, cycle);
    if (slice->write.is_beside) return fill_beside(slice, sector, result, place, mask, cycle);
    bool is_whole;
    bytes_written(slice, sector, &is_whole);
    if (slice->write.fills && !is_whole && result != TAG_PENDING)
        return fill_for_write(slice, sector, result, place, mask, cycle);
    return allocate_write(slice, sector, result, place, mask, cycle);
}

/* Without L2: the sector goes to DRAM. A write is acknowledged at once or when it is done. */
static bool pass_sector(Slice *slice, const SliceSector *sector, uint64_t cycle) {
    DramAccess access = slice_sector_access(slice, sector, sector->handle);
    access.is_atomic = sector->op == MEM_OP_ATOMIC;
    access.is_awaited = access.is_write && slice->acknowledges_late;
    slice_push_access(slice, &access);
    if (access.is_write && !access.is_awaited)
        slice_add_reply(slice, sector->handle, sector->local, cycle, NULL);
    return true;
}

/* Everything except reads of a machine with an undivided L2. */
SLICE_SELDOM static bool look_up_other(Slice *slice, const SliceSector *sector, uint64_t cycle) {
    if (sector->op == MEM_OP_WRITE && request_of(slice, sector->handle)->advice) {
        slice_advise(slice, sector, cycle);
        return true;
    }
    if (!slice->has_l2) return pass_sector(slice, sector, cycle);
    if (!slice->has_tags) { /* L2 is perfect */
        slice_serve_hit(slice, sector, sector->op != MEM_OP_WRITE, cycle);
        return true;
    }
    if (slice->far && sector->op != MEM_OP_READ) slice_drop_copy(slice, sector->local);
    return sector->op == MEM_OP_WRITE ? look_up_write(slice, sector, cycle)
                                      : look_up_read(slice, sector, cycle);
}

/* Counts an atomic that has been looked up. */
SLICE_SELDOM static void count_atomic(Slice *slice, const SliceSector *sector) {
    slice->counters->l2_atomics++;
    slice->counters->l2_atomics_in_turn += slice->last_atomic == sector->local;
    slice->last_atomic = sector->local;
}

bool slice_look_up(Slice *slice, const SliceSector *sector, uint64_t cycle) {
    const bool is_done = slice->is_plain && sector->op != MEM_OP_WRITE
                             ? look_up_read(slice, sector, cycle)
                             : look_up_other(slice, sector, cycle);
    if (is_done && sector->op == MEM_OP_ATOMIC) count_atomic(slice, sector);
    return is_done;
}
