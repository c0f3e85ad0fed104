/* Shared by the files of the L2 slice: access to requests and queues, and the steps of a cycle. */
#ifndef TYTO_PARTITION_SLICE_INTERNAL_H
#define TYTO_PARTITION_SLICE_INTERNAL_H

#include "partition/slice.h"

/* Marks a handle as that of a request whose answer goes to the other half, and removes the mark. */
static inline uint32_t remote_handle(uint32_t handle) {
    return handle | UINT32_C(1) << REMOTE_L2_HANDLE_BIT;
}
static inline bool is_remote_handle(uint32_t handle) { return handle >> REMOTE_L2_HANDLE_BIT; }
static inline uint32_t near_handle(uint32_t handle) {
    return handle & ~(UINT32_C(1) << REMOTE_L2_HANDLE_BIT);
}

static inline MemRequest *request_of(const Slice *slice, uint32_t handle) {
    handle = near_handle(handle);
    return &slice->pools[mem_handle_sm(handle)][mem_handle_index(handle)];
}

/* The request's address, rounded down to a sector. */
static inline uint64_t first_sector(const Slice *slice, const MemRequest *request) {
    return request->address & ~(uint64_t)(slice->l2_sector_bytes - 1);
}

static inline void slice_add_miss(Slice *slice, const DramAccess *access) {
    slice->miss_accesses[ring_push(&slice->misses)] = *access;
}

static inline void slice_push_access(Slice *slice, const DramAccess *access) {
    slice->dram_accesses[ring_push(&slice->to_dram)] = *access;
    slice->has_moved_dram = true;
}

/* Write-backs of L2 go ahead of the accesses in to_dram. */
static inline void slice_push_write_back(Slice *slice, const DramAccess *access) {
    slice->back_accesses[ring_push(&slice->write_backs)] = *access;
    slice->has_moved_dram = true;
}
/* Whether an evicted line could be written back. */
static inline bool slice_can_write_back(const Slice *slice) {
    return slice->writes_back_first ? !ring_is_full(&slice->write_backs)
                                    : slice->misses.count <= slice->write_limit;
}

/* Queues a reply packet. `dram_cycles` is that of SliceReply. */
static inline void slice_push_reply(Slice *slice, uint32_t handle, bool has_data,
                                    uint32_t dram_cycles) {
    slice->reply_packets[ring_push(&slice->replies)] = (SliceReply){
        .handle = handle,
        .dram_cycles = dram_cycles,
        .bytes = (uint16_t)(has_data ? slice->reply_bytes : slice->header_bytes),
    };
}

/* Queues the reply to the sector at `local`. The queue must have room. `times` is NULL if DRAM was
 * not involved. */
void slice_add_reply(Slice *slice, uint32_t handle, uint64_t local, uint64_t cycle,
                     const DramTimes *times);

/* What a write does under the cache's policies. */
WriteRule slice_write_rule(const CacheConfig *config);

/* Looks the sector up. The queues towards DRAM and of replies must have room, and the data port
 * must be free. Returns false if the sector is refused: no way, MSHR, merge or place in the miss
 * queue is free. */
bool slice_look_up(Slice *slice, const SliceSector *sector, uint64_t cycle);

/* Whether the reply queue and the queue towards DRAM have room: a lookup may have to use either. */
static inline bool slice_has_lookup_room(const Slice *slice) {
    const bool is_stuck = ring_is_full(&slice->to_dram), is_full = ring_is_full(&slice->replies);
    return !(is_stuck | is_full);
}

/* Additional records that are rarely kept: what an access found, reported to the sender of the
 * request and counted for its set. */
void slice_note_access(Slice *slice, const SliceSector *sector, TagResult result);
/* Called for the first sector of a read: records the row, which is the same for all its sectors. */
void slice_note_row(Slice *slice, const SliceSector *sector);

static inline void slice_count_access(Slice *slice, const SliceSector *sector, bool is_read,
                                      TagResult result) {
    Counters *counters = slice->counters;
    bool is_miss = result == TAG_MISS || result == TAG_SECTOR_MISS;
    counters->l2_accesses++;
    counters->l2_reads += is_read;
    if (result == TAG_HIT) counters->l2_hits++;
    if (result == TAG_PENDING) counters->l2_pending_hits++;
    if (is_miss) counters->l2_misses++;
    if (is_miss && is_read) counters->l2_read_misses++;
    if (__builtin_expect(slice->is_watched, false)) slice_note_access(slice, sector, result);
    if (sector->row) slice_note_row(slice, sector);
}

/* Cycles for which the sector occupies the data port. `has_data`: it is not a write. (A write may
 * be smaller than a sector.) */
static inline uint32_t slice_port_cycles(const Slice *slice, const SliceSector *sector,
                                         bool has_data) {
    if (has_data || slice->sector_cycles == 1) return slice->sector_cycles;
    uint32_t bytes = request_of(slice, sector->handle)->bytes, port = slice->port_bytes;
    return bytes < slice->l2_sector_bytes ? (bytes + port - 1) / port : slice->sector_cycles;
}

/* Serves a hit: data and answer at once. `has_data`: it is not a write. */
static inline void slice_serve_hit(Slice *slice, const SliceSector *sector, bool has_data,
                                   uint64_t cycle) {
    slice_count_access(slice, sector, has_data, TAG_HIT);
    slice->port_free = cycle + slice_port_cycles(slice, sector, has_data);
    if (slice->far) {
        slice_add_reply(slice, sector->handle, sector->local, cycle, NULL);
        return;
    }
    if (has_data) {
        MemRequest *request = request_of(slice, sector->handle);
        request->queue_ticks = request->dram_ticks = 0;
    }
    slice_push_reply(slice, sector->handle, has_data, 0);
}

/* The bits of the sectors of its line that the sector at `local` covers. */
static inline uint8_t slice_sectors(const Slice *slice, uint64_t local) {
    uint32_t within = (uint32_t)local & ((1u << slice->tags.line_shift) - 1);
    return (uint8_t)(slice->sector_bits << (within >> slice->tags.sector_shift));
}

/* The eviction priority that the sector's request gives its line. */
static inline CachePriority priority_of(const Slice *slice, const SliceSector *sector) {
    if (!slice->takes_hints) return PRIORITY_UNSAID;
    return (CachePriority)request_of(slice, sector->handle)->priority;
}

/* Records a use of a line that is present. */
static inline void slice_touch(Slice *slice, const SliceSector *sector, int32_t place) {
    CachePriority priority = priority_of(slice, sector);
    if (__builtin_expect(priority != PRIORITY_UNSAID, 0))
        tag_array_touch_as(&slice->tags, place, priority);
    else tag_array_touch(&slice->tags, place);
}

/* Serves a read of the line that was looked up last, as most hits are; for simple slices. Returns
 * false, without any effect, if it is not such a read or the data are not present. */
static inline bool slice_serve_again(Slice *slice, const SliceSector *sector, uint64_t cycle) {
    TagArray *tags = &slice->tags;
    const int32_t place = slice->hint.place;
    const uint64_t tag = sector->local >> tags->line_shift;
    if ((sector->op != MEM_OP_READ) | (slice->hint.tag != tag) | (tags->tags[place] != tag))
        return false;
    const TagLine *line = &tags->lines[place];
    const uint32_t sectors = slice_sectors(slice, sector->local);
    if (sectors & (~(uint32_t)line->valid | line->filler_thread)) return false;
    tag_array_touch(tags, place);
    slice_serve_hit(slice, sector, true, cycle);
    return true;
}

/* Rarely used code remains a function call, which makes a slice's cycle faster without it. */
#define SLICE_SELDOM __attribute__((noinline))

/* ---- Hints: slice_hints.c ---- */

void slice_init_hints(Slice *slice, Arena *arena);
/* Performs a request that writes nothing but gives advice. */
SLICE_SELDOM void slice_advise(Slice *slice, const SliceSector *sector, uint64_t cycle);
/* Queues the sectors around this one that its request wants in L2 as well. */
SLICE_SELDOM void slice_hint_around(Slice *slice, const SliceSector *sector);
/* Fetches the oldest queued sector, which must exist, if possible. */
SLICE_SELDOM void slice_step_hinted(Slice *slice);

/* ---- Two halves: slice_remote.c ---- */

/* Step 4 for a sector whose home is in the other half. Returns false if it is refused. */
SLICE_SELDOM bool slice_look_up_remote(Slice *slice, const SliceSector *sector, uint64_t cycle);
/* Step 1 for an answer from the other half. */
SLICE_SELDOM void slice_take_answer(Slice *slice, uint64_t cycle);
/* Looks up what the other half asks for, if the tags are free. Returns false if it did not. */
SLICE_SELDOM bool slice_serve_remote(Slice *slice, uint64_t cycle);
/* Sends the answer to a request of the other half. */
void slice_answer_remote(Slice *slice, const SliceSector *sector, uint64_t cycle,
                         const DramTimes *times);
/* Drops the counterpart's copy, which is outdated. */
void slice_drop_copy(const Slice *slice, uint64_t local);
/* Cycle from which something sent by the other half can be taken; UINT64_MAX: nothing was sent. */
uint64_t slice_remote_event(const Slice *slice);

/* ---- Lines placed when their data arrive: slice_allocate_on_fill.c ---- */

/* Step 4 for a sector that L2 does not have. Only the MSHRs know whether it is in flight. Returns
 * false if it is refused. */
SLICE_SELDOM bool slice_miss_on_fill(Slice *slice, const SliceSector *sector, uint64_t cycle);
/* Places the line that the request (a read or an atomic) waited for, unless another request has
 * already brought it. slice_can_write_back must hold. */
SLICE_SELDOM void slice_take_line(Slice *slice, uint32_t handle, uint64_t local);
/* Whether a line that has no place yet is in flight, or a store that will change it. */
static inline bool slice_is_coming(const Slice *slice, uint64_t local) {
    return slice->allocates_on_fill && mshr_find(&slice->mshr, local) != MSHR_NONE;
}

/* ---- What they share ---- */

/* The access to DRAM that transfers one sector of a request. */
DramAccess slice_sector_access(const Slice *slice, const SliceSector *sector, uint32_t token);

/* Counts an evicted line and sends its dirty sectors to DRAM as one write. slice_can_write_back
 * must hold. Returns the number of dirty sectors. */
uint32_t slice_evict(Slice *slice, const TagEviction *evicted);

/* The sectors of its line that a prefetch of the address brings in. */
uint8_t slice_prefetched_sectors(const Slice *slice, uint64_t local);

#endif
