/* A slice of an L2 with two halves: what it asks of its counterpart, and what it does for the
 * counterpart (see remote_l2.h). */
#include "base/bits.h"
#include "partition/slice_internal.h"

void slice_join(Slice *slice, Slice *peer, RemoteL2Link *link, uint64_t *peer_wake, Arena *arena) {
    uint32_t reads = slice->mshr.entry_count / 2;
    SliceFar *far = ARENA_ARRAY(arena, SliceFar, 1);
    *far = (SliceFar){
        .peer = peer,
        .peer_wake = peer_wake,
        .link = link,
        .read_limit = reads,
        .requests = ring_make(reads + REMOTE_L2_PASSING),
        .answers = ring_make(reads + REMOTE_L2_PASSING),
    };
    far->request_messages = ARENA_ARRAY(arena, SliceFarMessage, ring_places(&far->requests));
    far->answer_messages = ARENA_ARRAY(arena, SliceFarMessage, ring_places(&far->answers));
    slice->far = far;
    slice->is_plain = slice->is_simple = false;
}

/* ---- over the link ---- */

/* The counterpart has to be visited when the message arrives. */
static void wake_peer(const SliceFar *far, uint64_t ready) {
    if (ready < far->peer->wake) far->peer->wake = ready;
    if (ready < *far->peer_wake) *far->peer_wake = ready;
}

static void ask_peer(Slice *slice, const SliceSector *sector, uint64_t cycle) {
    SliceFar *far = slice->far, *there = far->peer->far;
    uint32_t bytes = slice->header_bytes + (sector->op == MEM_OP_READ ? 0 : slice->l2_sector_bytes);
    uint64_t ready = remote_l2_send(far->link, cycle, bytes);
    there->request_messages[ring_push(&there->requests)] = (SliceFarMessage){
        .sector = {.local = sector->local & ~REMOTE_L2_COPY,
                   .handle = remote_handle(sector->handle),
                   .row = sector->row,
                   .index = sector->index,
                   .op = sector->op},
        .ready = ready,
    };
    slice->counters->l2_far_accesses++;
    wake_peer(far, ready);
}

void slice_answer_remote(Slice *slice, const SliceSector *sector, uint64_t cycle,
                         const DramTimes *times) {
    SliceFar *far = slice->far, *there = far->peer->far;
    uint32_t bytes =
        slice->header_bytes + (sector->op == MEM_OP_WRITE ? 0 : slice->l2_sector_bytes);
    uint64_t ready = remote_l2_send(far->link, cycle, bytes);
    there->answer_messages[ring_push(&there->answers)] = (SliceFarMessage){
        .sector = *sector, .times = times ? *times : (DramTimes){0}, .ready = ready};
    wake_peer(far, ready);
}

uint64_t slice_remote_event(const Slice *slice) {
    const SliceFar *far = slice->far;
    uint64_t next = UINT64_MAX;
    if (far->requests.count) next = far->request_messages[ring_front(&far->requests)].ready;
    if (!far->answers.count) return next;
    uint64_t answer = far->answer_messages[ring_front(&far->answers)].ready;
    return answer < next ? answer : next;
}

/* ---- copies ---- */

static void drop_sector(Slice *slice, uint64_t local) {
    TagArray *tags = &slice->tags;
    int32_t place = tag_array_find(tags, local | REMOTE_L2_COPY);
    if (place == TAG_NONE) return;
    tag_array_drop(tags, place, slice_sectors(slice, local));
    if (!tags->lines[place].valid) tag_array_invalidate(tags, place);
}

void slice_drop_copy(const Slice *slice, uint64_t local) { drop_sector(slice->far->peer, local); }

/* Copies do not persist: the lines set aside for persistence are kept once, at their home. */
static CachePriority copy_priority(const Slice *slice, const SliceSector *sector) {
    CachePriority priority = priority_of(slice, sector);
    return priority == PRIORITY_FIRST ? PRIORITY_FIRST : PRIORITY_UNSAID;
}

/* If a copy serves an access, its eviction priority is passed to the line's home at once. */
static void tell_home(const Slice *slice, const SliceSector *sector) {
    CachePriority priority = priority_of(slice, sector);
    if (priority == PRIORITY_UNSAID || priority == PRIORITY_UNCHANGED) return;
    TagArray *tags = &slice->far->peer->tags;
    int32_t place = tag_array_find(tags, sector->local & ~REMOTE_L2_COPY);
    if (place != TAG_NONE) tag_array_touch_as(tags, place, priority);
}

/* Keeps a copy of data from the other half, if a line can be replaced. */
static void keep_copy(Slice *slice, const SliceSector *sector, uint64_t local) {
    CachePriority priority = copy_priority(slice, sector);
    TagArray *tags = &slice->tags;
    int32_t place = tag_array_find(tags, local);
    if (place == TAG_NONE) {
        TagEviction evicted;
        if (slice->misses.count > slice->write_limit) return;
        place = tag_array_reserve_as(tags, local, 0, priority, &evicted);
        if (place == TAG_NONE) return;
        slice_evict(slice, &evicted);
    } else {
        tag_array_touch_as(tags, place, priority);
    }
    tag_array_fill(tags, place, slice_sectors(slice, local));
}

/* ---- near the SM that asks ---- */

static bool read_remote(Slice *slice, const SliceSector *sector, uint64_t cycle) {
    TagArray *tags = &slice->tags;
    uint8_t mask = slice_sectors(slice, sector->local);
    int32_t place;
    if (tag_array_probe(tags, sector->local, mask, &place) == TAG_HIT) {
        tag_array_touch_as(tags, place, copy_priority(slice, sector));
        if (slice->takes_hints) tell_home(slice, sector);
        slice->counters->l2_copy_hits++;
        slice_serve_hit(slice, sector, true, cycle);
        return true;
    }
    int32_t entry = mshr_find(&slice->mshr, sector->local);
    if (entry != MSHR_NONE) {
        if (!mshr_can_merge(&slice->mshr, entry)) return false;
        mshr_merge(&slice->mshr, entry, sector->handle);
        slice_count_access(slice, sector, true, TAG_PENDING);
        return true;
    }
    if (mshr_is_full(&slice->mshr) || slice->far->reads == slice->far->read_limit) return false;
    mshr_allocate(&slice->mshr, sector->local, sector->handle);
    slice->far->reads++;
    ask_peer(slice, sector, cycle);
    return true;
}

bool slice_look_up_remote(Slice *slice, const SliceSector *sector, uint64_t cycle) {
    if (sector->op == MEM_OP_READ) return read_remote(slice, sector, cycle);
    if (slice->far->passing == REMOTE_L2_PASSING) return false;
    slice->far->passing++;
    if (request_of(slice, sector->handle)->advice != MEM_ADVICE_PREFETCH)
        drop_sector(slice, sector->local);
    ask_peer(slice, sector, cycle);
    return true;
}

void slice_take_answer(Slice *slice, uint64_t cycle) {
    SliceFar *far = slice->far;
    if (!far->answers.count) return;
    const SliceFarMessage *answer = &far->answer_messages[ring_front(&far->answers)];
    if (answer->ready > cycle) return;
    if (answer->sector.op == MEM_OP_READ) {
        uint64_t local = answer->sector.local | REMOTE_L2_COPY;
        int32_t entry = mshr_find(&slice->mshr, local);
        keep_copy(slice, &answer->sector, local);
        slice->fills[entry].times = answer->times;
        mshr_complete(&slice->mshr, entry);
        far->reads--;
    } else {
        if (ring_is_full(&slice->replies)) return;
        slice_add_reply(slice, near_handle(answer->sector.handle), answer->sector.local, cycle,
                        &answer->times);
        far->passing--;
    }
    ring_pop(&far->answers);
    slice->is_refused = false;
}

/* ---- at home ---- */

bool slice_serve_remote(Slice *slice, uint64_t cycle) {
    SliceFar *far = slice->far;
    if (!far->requests.count || cycle < slice->port_free || !slice_has_lookup_room(slice))
        return false;
    const SliceFarMessage *request = &far->request_messages[ring_front(&far->requests)];
    if (request->ready > cycle) return false;
    if (!far->is_remote_first && slice->input.count && !slice->is_refused) {
        far->is_remote_first = true;
        return false;
    }
    if (!slice_look_up(slice, &request->sector, cycle)) {
        slice->counters->l2_refusals++;
        return false;
    }
    ring_pop(&far->requests);
    far->is_remote_first = false;
    return true;
}
