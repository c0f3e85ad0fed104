/* What the files of the L2 slice share: how its steps reach requests and queues. */
#ifndef TYTO_PARTITION_SLICE_INTERNAL_H
#define TYTO_PARTITION_SLICE_INTERNAL_H

#include "partition/slice.h"

/* The handle of a request whose answer goes to the other half, and back. */
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

/* What L2 writes back goes ahead of what waits in to_dram. */
static inline void slice_push_write_back(Slice *slice, const DramAccess *access) {
    slice->back_accesses[ring_push(&slice->write_backs)] = *access;
    slice->has_moved_dram = true;
}
/* Whether a line that has to go could be written back. */
static inline bool slice_can_write_back(const Slice *slice) {
    return slice->writes_back_first ? !ring_is_full(&slice->write_backs)
                                    : slice->misses.count <= slice->write_limit;
}

/* Queues a reply packet; `dram_cycles` as in SliceReply. */
static inline void slice_push_reply(Slice *slice, uint32_t handle, bool has_data,
                                    uint32_t dram_cycles) {
    slice->reply_packets[ring_push(&slice->replies)] = (SliceReply){
        .handle = handle,
        .dram_cycles = dram_cycles,
        .bytes = (uint16_t)(has_data ? slice->reply_bytes : slice->header_bytes),
    };
}

/* Queues the reply to the sector at `local`; the queue must have room. `times` is NULL where DRAM
 * had no part. */
void slice_add_reply(Slice *slice, uint32_t handle, uint64_t local, uint64_t cycle,
                     const DramTimes *times);

/* What the policies of a cache make a write do. */
WriteRule slice_write_rule(const CacheConfig *config);

/* Looks the sector up, when the queues towards DRAM and of replies have room and the data port is
 * free. False when it is refused: no way, MSHR, merge or miss queue place is free. */
bool slice_look_up(Slice *slice, const SliceSector *sector, uint64_t cycle);

/* A lookup may have to put something into either queue. */
static inline bool slice_has_lookup_room(const Slice *slice) {
    const bool is_stuck = ring_is_full(&slice->to_dram), is_full = ring_is_full(&slice->replies);
    return !(is_stuck | is_full);
}

/* Rare additional notes on an access: what it found, reported to the sender of the request, and
 * counted for its set. */
void slice_note_access(Slice *slice, const SliceSector *sector, TagResult result);
/* Of the first sector of a read: its row, since all its sectors are of one. */
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

/* Cycles of the data port for the sector. `has_data`: it is not a write (a write can be a part of a
 * sector). */
static inline uint32_t slice_port_cycles(const Slice *slice, const SliceSector *sector,
                                         bool has_data) {
    if (has_data || slice->sector_cycles == 1) return slice->sector_cycles;
    uint32_t bytes = request_of(slice, sector->handle)->bytes, port = slice->port_bytes;
    return bytes < slice->l2_sector_bytes ? (bytes + port - 1) / port : slice->sector_cycles;
}

/* A hit: data and answer at once. `has_data`: it is no write. */
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

/* Sectors of its line that the sector at `local` is. */
static inline uint8_t slice_sectors(const Slice *slice, uint64_t local) {
    uint32_t within = (uint32_t)local & ((1u << slice->tags.line_shift) - 1);
    return (uint8_t)(slice->sector_bits << (within >> slice->tags.sector_shift));
}

/* What the sector's request says of its line. */
static inline CachePriority priority_of(const Slice *slice, const SliceSector *sector) {
    if (!slice->takes_hints) return PRIORITY_UNSAID;
    return (CachePriority)request_of(slice, sector->handle)->priority;
}

/* A use of a line that is there. */
static inline void slice_touch(Slice *slice, const SliceSector *sector, int32_t place) {
    CachePriority priority = priority_of(slice, sector);
    if (__builtin_expect(priority != PRIORITY_UNSAID, 0))
        tag_array_touch_as(&slice->tags, place, priority);
    else tag_array_touch(&slice->tags, place);
}

/* Serves a read of the line that was looked up last, as most are that hit; for simple slices.
 * False: it is none, or not there, and nothing has happened. */
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

/* What happens seldom stays a call, so that a slice's cycle is the quicker without it. */
#define SLICE_SELDOM __attribute__((noinline))

/* ---- Hints: slice_hints.c ---- */

void slice_init_hints(Slice *slice, Arena *arena);
/* Does what a request asks that writes nothing. */
SLICE_SELDOM void slice_advise(Slice *slice, const SliceSector *sector, uint64_t cycle);
/* What the sector's request wants of the bytes around it shall be brought. */
SLICE_SELDOM void slice_hint_around(Slice *slice, const SliceSector *sector);
/* Fetches the oldest sector that shall be (there is one), if it can. */
SLICE_SELDOM void slice_step_hinted(Slice *slice);

/* ---- Two halves: slice_far.c ---- */

/* Step 4 for a sector that is at home in the other half. False when it is refused. */
SLICE_SELDOM bool slice_look_up_remote(Slice *slice, const SliceSector *sector, uint64_t cycle);
/* Step 1 for an answer from there. */
SLICE_SELDOM void slice_take_answer(Slice *slice, uint64_t cycle);
/* Looks up what the other half asks for, if the tags are free; false when it did not. */
SLICE_SELDOM bool slice_serve_remote(Slice *slice, uint64_t cycle);
/* The answer to what the other half asked for goes there. */
void slice_answer_remote(Slice *slice, const SliceSector *sector, uint64_t cycle,
                         const DramTimes *times);
/* The counterpart's copy is old. */
void slice_drop_copy(const Slice *slice, uint64_t local);
/* Cycle from which what the other half sent can be taken; UINT64_MAX: nothing. */
uint64_t slice_remote_event(const Slice *slice);

/* ---- Lines that take their place when they come: slice_late.c ---- */

/* Step 4 for a sector that L2 lacks; the MSHRs alone know whether it is coming. False when it is
 * refused. */
SLICE_SELDOM bool slice_miss_on_fill(Slice *slice, const SliceSector *sector, uint64_t cycle);
/* The line for which the request, a read or an atomic, has waited takes its place, unless another
 * one has brought it; slice_can_write_back must hold. */
SLICE_SELDOM void slice_take_line(Slice *slice, uint32_t handle, uint64_t local);
/* Whether a line that has no place yet is under way, or a store that will make it another. */
static inline bool slice_is_coming(const Slice *slice, uint64_t local) {
    return slice->allocates_on_fill && mshr_find(&slice->mshr, local) != MSHR_NONE;
}

/* ---- What they share ---- */

/* The access to DRAM that moves one sector of a request. */
DramAccess slice_sector_access(const Slice *slice, const SliceSector *sector, uint32_t token);

/* Counts a line that had to go, and sends its dirty sectors to DRAM as one write;
 * slice_can_write_back must hold. Returns how many those are. */
uint32_t slice_evict(Slice *slice, const TagEviction *evicted);

/* The sectors of its line that a prefetch of the address brings. */
uint8_t slice_prefetched_sectors(const Slice *slice, uint64_t local);

#endif
