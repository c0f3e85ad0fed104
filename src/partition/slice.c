/* The L2 slice's queues and the five steps of a cycle. The lookup is in slice_lookup.c. */
#include "partition/slice.h"

#include <assert.h>

#include "base/bits.h"
#include "partition/slice_internal.h"

#define FOREIGN_TAG (UINT64_C(1) << 48) /* above every address within a channel */

/* ---- construction ---- */

static void init_tags(Slice *slice, Arena *arena) {
    const CacheConfig *l2 = &slice->environment->config->l2;
    char text[CACHE_INDEX_BYTES];
    cache_config_set_index(l2, slice->environment->slice_bits, text);
    TagArrayConfig tags = {
        .sets = cache_config_sets(l2),
        .ways = l2->ways,
        .line_bytes = l2->line_bytes,
        .sector_bytes = l2->sector_bytes,
        .replacement = l2->replacement,
        .tracks_bytes = slice->l2_sector_bytes <= 64,
        .set_index = *text ? text : NULL,
    };
    tag_array_init(&slice->tags, &tags, arena);
    mshr_init(&slice->mshr, l2->mshrs, l2->mshr_merges, l2->mshr_requests, arena);
    slice->sector_bits = tag_array_sectors(&slice->tags, 0, slice->l2_sector_bytes);
    slice->fills = ARENA_ARRAY(arena, SliceFill, l2->mshrs);
    if (slice->environment->config->takes_hints) slice_init_hints(slice, arena);
}

void slice_init(Slice *slice, const PartitionEnvironment *environment, uint32_t index,
                Counters *counters, Arena *arena) {
    const PartitionConfig *config = environment->config;
    const CacheConfig *l2 = &config->l2;
    uint32_t line_sectors = l2->line_bytes / config->l2_sector_bytes;
    *slice = (Slice){
        .has_l2 = config->has_l2,
        .has_tags = config->has_l2 && !environment->is_l2_perfect,
        .is_plain = config->has_l2 && !environment->is_l2_perfect,
        .is_simple = config->has_l2 && !environment->is_l2_perfect && !config->takes_hints &&
                     !environment->never_sleeps,
        .never_sleeps = environment->never_sleeps,
        .node = environment->first_node + environment->channel * config->slices + index,
        .take_room = line_sectors < config->input_queue ? line_sectors : config->input_queue,
        .l2_sector_bytes = config->l2_sector_bytes,
        .sector_cycles = (config->l2_sector_bytes + config->port_bytes - 1) / config->port_bytes,
        .port_bytes = config->port_bytes,
        .port_moves_victims = config->port_moves_victims,
        .allocates_on_fill = config->has_l2 && l2->allocate == CACHE_ALLOCATE_ON_FILL,
        .store_mshrs = config->has_l2 && config->store_mshrs,
        .writes_back_first = config->has_l2 && config->write_backs_first,
        .rop_latency = config->rop_latency + (l2->latency ? l2->latency - 1 : 0),
        .header_bytes = environment->header_bytes,
        .reply_bytes = environment->reply_header_bytes + config->l2_sector_bytes,
        .pools = environment->pools.pools,
        .write = slice_write_rule(l2),
        .read_limit = l2->miss_queue >= 2 ? l2->miss_queue - 2 : 0,
        .write_limit = l2->miss_queue - 1,
        .beside_limit = l2->miss_queue >= 3 ? l2->miss_queue - 3 : 0,
        .acknowledges_late = config->acknowledges_late,
        .rop_first = SLICE_NO_REQUEST,
        .rop_ready = UINT64_MAX,
        .input = ring_make(config->input_queue),
        .replies = ring_make(config->reply_queue),
        .misses = ring_make(l2->miss_queue >= 3 ? l2->miss_queue : 3),
        .to_dram = ring_make(config->to_dram_queue),
        .from_dram = ring_make(config->from_dram_queue),
        .write_backs = ring_make(config->to_dram_queue),
        .environment = environment,
        .counters = counters,
    };
    if (environment->counts_row_sharing) row_sharing_init(&slice->rows, ROW_SHARING_AT_L2, arena);
    slice->is_watched = environment->l2_sets || environment->pools.outcomes;
    if (environment->l2_sets)
        slice->sets = &environment->l2_sets[(size_t)index * cache_config_sets(l2)];
    slice->input_sectors = ARENA_ARRAY(arena, SliceSector, ring_places(&slice->input));
    slice->reply_packets = ARENA_ARRAY(arena, SliceReply, ring_places(&slice->replies));
    slice->miss_accesses = ARENA_ARRAY(arena, DramAccess, ring_places(&slice->misses));
    slice->dram_accesses = ARENA_ARRAY(arena, DramAccess, ring_places(&slice->to_dram));
    if (slice->writes_back_first)
        slice->back_accesses = ARENA_ARRAY(arena, DramAccess, ring_places(&slice->write_backs));
    slice->dram_returns = ARENA_ARRAY(arena, DramReturn, ring_places(&slice->from_dram));
    if (slice->has_tags) init_tags(slice, arena);
}

/* ---- the ROP line ---- */

/* Whether the request is a store of exactly the upper half of a line. */
static bool is_upper_half_store(const Slice *slice, const MemRequest *request) {
    uint32_t line = slice->environment->config->l2.line_bytes;
    return request->op == MEM_OP_WRITE && request->bytes == line / 2 &&
           request->address % line == line / 2;
}

/* The address that misplaces_half_lines gives such a store: one line further, but still in this
 * slice. If that line belongs to another slice, the address gets a tag that no line of this slice
 * has. */
static uint64_t misplaced(const Slice *slice, const MemRequest *request) {
    const PartitionEnvironment *environment = slice->environment;
    const AddressMap *map = environment->map;
    uint64_t address = request->address + environment->config->l2.line_bytes;
    uint64_t local = address_map_local(map, address);
    bool is_ours = environment->first_node + address_map_slice(map, address) == slice->node;
    return is_ours ? local : local | FOREIGN_TAG;
}

/* Whether this slice, and not its counterpart, is the home of the request. */
static bool is_at_home(const Slice *slice, const MemRequest *request) {
    const PartitionEnvironment *environment = slice->environment;
    uint64_t address = first_sector(slice, request);
    return environment->first_node + address_map_slice(environment->map, address) == slice->node;
}

static void load_rop_head(Slice *slice, uint32_t handle) {
    const MemRequest *request = request_of(slice, handle);
    const AddressMap *map = slice->environment->map;
    uint32_t channel;
    uint64_t rest = address_map_rest(map, first_sector(slice, request), &channel);
    bool reads_row = request->op != MEM_OP_WRITE && request->client != MEM_CLIENT_L1I;
    slice->rop_first = handle;
    slice->rop_sectors = request->sectors;
    slice->rop_ready = request->arrived + slice->rop_latency;
    slice->rop_local = address_map_local_of(map, rest);
    slice->rop_op = request->op;
    slice->rop_row = 0;
    if (reads_row && slice->rows.rows)
        slice->rop_row =
            row_sharing_key(address_map_row_of(map, rest), address_map_bank_of(map, rest),
                            slice->environment->dram->banks);
    if (slice->environment->config->misplaces_half_lines && is_upper_half_store(slice, request))
        slice->rop_local = misplaced(slice, request);
    if (slice->far && !is_at_home(slice, request)) slice->rop_local |= REMOTE_L2_COPY;
    if (slice->has_tags) tag_array_warm(&slice->tags, slice->rop_local);
}

void slice_take(Slice *slice, uint64_t cycle, uint32_t handle) {
    MemRequest *request = request_of(slice, handle);
    assert(request->sectors && "a request without sectors is owed no reply");
    request->arrived = cycle;
    request->next = SLICE_NO_REQUEST;
    if (slice->rop_first == SLICE_NO_REQUEST) {
        load_rop_head(slice, handle);
        if (slice->rop_ready < slice->wake) slice->wake = slice->rop_ready;
    } else {
        request_of(slice, slice->rop_last)->next = handle;
    }
    slice->rop_last = handle;
}

static void release_sector(Slice *slice, uint64_t cycle) {
    if ((cycle < slice->rop_ready) | ring_is_full(&slice->input)) return;
    int index = bits_lowest32(slice->rop_sectors);
    slice->input_sectors[ring_push(&slice->input)] = (SliceSector){
        .local = slice->rop_local + (uint64_t)index * slice->l2_sector_bytes,
        .handle = slice->rop_first,
        .row = slice->rop_row,
        .index = (uint8_t)index,
        .op = slice->rop_op,
    };
    slice->rop_row = 0;
    slice->rop_sectors &= slice->rop_sectors - 1;
    if (slice->rop_sectors) return;
    uint32_t next = request_of(slice, slice->rop_first)->next;
    if (next != SLICE_NO_REQUEST) {
        load_rop_head(slice, next);
        return;
    }
    slice->rop_first = SLICE_NO_REQUEST;
    slice->rop_ready = UINT64_MAX;
}

/* ---- replies ---- */

/* The part of `times` after the request's arrival. The request may have joined a fill in flight. */
static DramTimes times_since_arrival(const DramTimes *times, uint64_t arrived) {
    if (arrived <= times->entered) return *times;
    uint64_t before = arrived - times->entered;
    if (before >= times->cycles) return (DramTimes){0};
    uint32_t cycles = times->cycles - (uint32_t)before;
    uint64_t ticks = (uint64_t)times->queue_ticks + times->dram_ticks;
    uint32_t left = (uint32_t)(ticks * cycles / times->cycles);
    uint32_t in_dram = left < times->dram_ticks ? left : times->dram_ticks;
    return (DramTimes){.cycles = cycles, .queue_ticks = left - in_dram, .dram_ticks = in_dram};
}

void slice_add_reply(Slice *slice, uint32_t handle, uint64_t local, uint64_t cycle,
                     const DramTimes *times) {
    MemRequest *request = request_of(slice, handle);
    if (is_remote_handle(handle)) {
        SliceSector sector = {.local = local, .handle = handle, .op = request->op};
        slice_answer_remote(slice, &sector, cycle, times);
        return;
    }
    DramTimes split = times ? times_since_arrival(times, request->arrived) : (DramTimes){0};
    bool has_data = request->op != MEM_OP_WRITE;
    if (has_data) {
        request->queue_ticks = split.queue_ticks;
        request->dram_ticks = split.dram_ticks;
    }
    slice_push_reply(slice, handle, has_data, split.cycles);
}

void slice_pop_reply(Slice *slice, uint64_t cycle) {
    slice_rouse_if(slice, ring_is_full(&slice->replies));
    const SliceReply *reply = &slice->reply_packets[ring_pop(&slice->replies)];
    MemRequest *request = request_of(slice, reply->handle);
    if (request->op != MEM_OP_WRITE)
        request->l2_cycles = (uint32_t)(cycle - request->arrived) - reply->dram_cycles;
}

/* Whether step 1 has something to do and can do it. */
static bool can_answer_miss(const Slice *slice) {
    return mshr_has_ready(&slice->mshr) && !ring_is_full(&slice->replies) &&
           (!slice->allocates_on_fill || slice_can_write_back(slice));
}

/* Step 1: answers the oldest request whose miss is completed. */
static void answer_miss(Slice *slice, uint64_t cycle) {
    if (!can_answer_miss(slice)) return;
    uint32_t entry = slice->mshr.ready_first;
    uint64_t local = slice->mshr.entries[entry].key;
    uint32_t handle = mshr_pop(&slice->mshr);
    slice->is_refused = false;
    if (handle == SLICE_NO_REQUEST) return; /* no request waits: it was a prefetch or a write */
    if (slice->allocates_on_fill) slice_take_line(slice, handle, local);
    slice_add_reply(slice, handle, local, cycle, &slice->fills[entry].times);
}

/* ---- to and from DRAM ---- */

DramAccess slice_pop_access(Slice *slice) {
    const bool was_full = ring_is_full(&slice->to_dram),
               held_back = ring_is_full(&slice->write_backs);
    slice_rouse_if(slice, was_full | held_back);
    if (slice->write_backs.count) return slice->back_accesses[ring_pop(&slice->write_backs)];
    return slice->dram_accesses[ring_pop(&slice->to_dram)];
}

void slice_push_return(Slice *slice, const DramReturn *data) {
    slice->dram_returns[ring_push(&slice->from_dram)] = *data;
    slice_rouse(slice);
}

/* Step 3: moves the oldest access of the miss queue to the queue towards DRAM. */
static void send_miss(Slice *slice) {
    if (!slice->misses.count || ring_is_full(&slice->to_dram)) return;
    slice_push_access(slice, &slice->miss_accesses[ring_pop(&slice->misses)]);
    slice->is_refused = false;
}

bool slice_has(const Slice *slice, uint64_t local) {
    int32_t place;
    if (!slice->has_tags) return false;
    TagResult result =
        tag_array_probe(&slice->tags, local, slice_prefetched_sectors(slice, local), &place);
    return result == TAG_HIT || result == TAG_PENDING || slice_is_coming(slice, local);
}

/* Puts prefetched data into L2, except sectors that are already there or requested. Drops the data
 * if no line can be replaced, because it must not block the returns behind it. */
static void fill_prefetch(Slice *slice, uint64_t local) {
    TagArray *tags = &slice->tags;
    uint8_t sectors = slice_prefetched_sectors(slice, local);
    int32_t place;
    TagResult result = tag_array_probe(tags, local, sectors, &place);
    if (result == TAG_MISS && slice_is_coming(slice, local)) result = TAG_PENDING;
    if (result == TAG_PENDING) slice->counters->l2_prefetches_late++;
    if (result == TAG_HIT || result == TAG_PENDING) return;
    if (result == TAG_MISS) {
        if (!slice_can_write_back(slice)) return;
        TagEviction evicted;
        place = tag_array_reserve(tags, local, 0, &evicted);
        if (place == TAG_NONE) return;
        slice_evict(slice, &evicted);
    }
    TagLine *line = &tags->lines[place];
    sectors &= (uint8_t)~(line->valid | line->pending);
    tag_array_fill(tags, place, sectors);
    line->filler_thread |= sectors; /* sectors prefetched and not requested yet */
    slice->counters->l2_prefetches++;
}

static void fill_sector(Slice *slice, const DramReturn *data) {
    SliceFill *fill = &slice->fills[data->token];
    fill->times = data->times;
    if (fill->place != TAG_NONE) tag_array_fill(&slice->tags, fill->place, fill->mask);
    mshr_complete(&slice->mshr, (int32_t)data->token);
}

/* Whether the oldest return from DRAM becomes a reply at once. */
static bool is_reply(const Slice *slice) {
    return !slice->has_l2 ||
           (!slice->store_mshrs && slice->dram_returns[ring_front(&slice->from_dram)].is_write);
}

/* Whether the oldest return from DRAM can be taken. If lines are placed when their requests are
 * answered, all requests of the previous return are answered first. */
static bool can_take_return(const Slice *slice) {
    if (slice->allocates_on_fill && mshr_has_ready(&slice->mshr)) return false;
    return slice->from_dram.count && (!is_reply(slice) || !ring_is_full(&slice->replies));
}

/* Step 2: the oldest return from DRAM fills its sector or acknowledges a write. */
static void take_return(Slice *slice, uint64_t cycle) {
    if (!can_take_return(slice)) return;
    if (ring_is_full(&slice->from_dram)) slice->has_moved_dram = true;
    const DramReturn *data = &slice->dram_returns[ring_pop(&slice->from_dram)];
    if (data->is_prefetch && slice->has_tags)
        fill_prefetch(slice, address_map_local(slice->environment->map, data->address));
    else if (data->is_write && !slice->store_mshrs)
        slice_add_reply(slice, data->token,
                        address_map_local(slice->environment->map, data->address), cycle, NULL);
    else if (slice->has_tags) fill_sector(slice, data);
    else if (!data->is_prefetch) slice_add_reply(slice, data->token, 0, cycle, &data->times);
    slice->is_refused = false;
}

/* The work of every cycle is written once and compiled twice: the version for simple slices omits
 * the checks for halves and hints. */
#define EITHER __attribute__((always_inline)) static inline

EITHER bool look_up(Slice *slice, const SliceSector *sector, uint64_t cycle, bool is_simple) {
    if (is_simple && slice_serve_again(slice, sector, cycle)) return true;
    if (!is_simple && slice->far && sector->local & REMOTE_L2_COPY)
        return slice_look_up_remote(slice, sector, cycle);
    return slice_look_up(slice, sector, cycle);
}

EITHER void look_up_head(Slice *slice, uint64_t cycle, bool is_simple) {
    if ((slice->input.count == 0) | (cycle < slice->port_free)) return;
    if (!slice_has_lookup_room(slice)) return;
    const SliceSector *sector = &slice->input_sectors[ring_front(&slice->input)];
    if (!slice->is_refused) slice->is_refused = !look_up(slice, sector, cycle, is_simple);
    if (slice->is_refused) slice->counters->l2_refusals++;
    else ring_pop(&slice->input);
}

/* ---- time ---- */

/* Whether there may be something to do in steps 1 to 3 or for hinted sectors. This is rare. */
EITHER bool has_side_work(const Slice *slice, bool is_simple) {
    return slice->mshr.ready_count | slice->from_dram.count | slice->misses.count |
           (is_simple ? 0 : slice->hinted.count);
}

/* Whether some of that work can be done now. */
SLICE_SELDOM static bool can_do_side_work(const Slice *slice) {
    bool can_send = slice->misses.count && !ring_is_full(&slice->to_dram);
    return can_answer_miss(slice) || can_send || can_take_return(slice) || slice->hinted.count;
}

SLICE_SELDOM static void do_side_work(Slice *slice, uint64_t cycle) {
    const bool has_ready = mshr_has_ready(&slice->mshr);
    answer_miss(slice, cycle);
    take_return(slice, cycle);
    if (slice->allocates_on_fill && !has_ready) answer_miss(slice, cycle); /* what has just come */
    send_miss(slice);
}

/* `cycle`, or UINT64_MAX if `is_none`. */
static inline uint64_t unless(bool is_none, uint64_t cycle) { return cycle | -(uint64_t)is_none; }

EITHER uint64_t next_cycle(const Slice *slice, uint64_t cycle, bool is_simple) {
    if (!is_simple && slice->never_sleeps) return cycle + 1;
    if (has_side_work(slice, is_simple) && can_do_side_work(slice)) return cycle + 1;
    uint64_t next = unless(ring_is_full(&slice->input), slice->rop_ready);
    const bool waits =
        (slice->input.count == 0) | slice->is_refused | !slice_has_lookup_room(slice);
    const uint64_t lookup = unless(waits, slice->port_free);
    if (lookup < next) next = lookup;
    if (!is_simple && slice->far && slice_remote_event(slice) < next)
        next = slice_remote_event(slice);
    return next < cycle + 1 ? cycle + 1 : next;
}

void slice_settle(Slice *slice, uint64_t cycle) {
    if (!slice->counts_refusals) return;
    slice->counters->l2_refusals += cycle - 1 - slice->worked;
    slice->worked = cycle - 1;
}

EITHER void do_cycle(Slice *slice, uint64_t cycle, bool is_simple) {
    slice_settle(slice, cycle);
    if (has_side_work(slice, is_simple)) do_side_work(slice, cycle);
    if (!is_simple && slice->far) slice_take_answer(slice, cycle);
    if (is_simple || !slice->far || !slice_serve_remote(slice, cycle))
        look_up_head(slice, cycle, is_simple);
    if (!is_simple && slice->hinted.count) slice_step_hinted(slice);
    release_sector(slice, cycle);
    slice->worked = cycle;
    slice->counts_refusals = slice->is_refused && slice_has_lookup_room(slice);
    slice->wake = next_cycle(slice, cycle, is_simple);
}

void slice_cycle(Slice *slice, uint64_t cycle) {
    if (slice->is_simple) do_cycle(slice, cycle, true);
    else do_cycle(slice, cycle, false);
}

/* ---- from outside ---- */

void slice_install(Slice *slice, uint64_t local) {
    if (!slice->has_tags) return;
    if (slice->far) slice_drop_copy(slice, local);
    TagArray *tags = &slice->tags;
    uint8_t mask = slice_sectors(slice, local);
    int32_t place = tag_array_find(tags, local);
    TagEviction lost;
    if (place == TAG_NONE) place = tag_array_reserve(tags, local, 0, &lost);
    else tag_array_touch(tags, place);
    if (place == TAG_NONE) return;
    tag_array_fill(tags, place, mask);
    tag_array_clean(tags, place, mask);
}

void slice_flush(Slice *slice) {
    if (!slice->has_tags) return;
    const bool brings_unasked = slice->takes_hints || slice->write.is_beside || slice->store_mshrs;
    assert((!slice->mshr.used || brings_unasked) && "fills under way");
    (void)brings_unasked;
    TagArray *tags = &slice->tags;
    for (int32_t place = tag_array_next_dirty(tags, 0); place != TAG_NONE;
         place = tag_array_next_dirty(tags, place + 1))
        slice->counters->l2_write_backs++;
    tag_array_invalidate_all(tags);
}
