/* The L2 slice's five steps (see the header). */
#include "partition/slice.h"

#include <assert.h>

#include "base/bits.h"

typedef unsigned __int128 ByteMask; /* bit per byte of what a request writes */

static WriteRule write_rule(const CacheConfig *config) {
    if (config->write == WRITE_BACK)
        return (WriteRule){.allocates = config->write_allocate != ALLOCATE_NONE,
                           .fetches = config->write_allocate == ALLOCATE_FETCH};
    return (WriteRule){.passes_on = true, .drops_line = config->write != WRITE_THROUGH};
}

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
        .tracks_bytes = slice->atom_bytes <= 64,
        .set_index = *text ? text : NULL,
    };
    tag_array_init(&slice->tags, &tags, arena);
    mshr_init(&slice->mshr, l2->mshrs, l2->mshr_merges, arena);
    slice->fills = ARENA_ARRAY(arena, SliceFill, l2->mshrs);
}

void slice_init(Slice *slice, const PartitionEnvironment *environment, uint32_t index,
                Counters *counters, Arena *arena) {
    const PartitionConfig *config = environment->config;
    const CacheConfig *l2 = &config->l2;
    uint32_t line_atoms = l2->line_bytes / config->atom_bytes;
    *slice = (Slice){
        .worked = UINT64_MAX, /* the cycle before the first */
        .has_l2 = config->has_l2,
        .has_tags = config->has_l2 && !environment->is_l2_perfect,
        .node = environment->first_node + environment->channel * config->slices + index,
        .take_room = line_atoms < config->input_queue ? line_atoms : config->input_queue,
        .atom_bytes = config->atom_bytes,
        .atom_cycles = (config->atom_bytes + config->port_bytes - 1) / config->port_bytes,
        .port_bytes = config->port_bytes,
        .rop_latency = config->rop_latency + (l2->latency ? l2->latency - 1 : 0),
        .header_bytes = environment->header_bytes,
        .write = write_rule(l2),
        .read_limit = l2->miss_queue >= 2 ? l2->miss_queue - 2 : 0,
        .write_limit = l2->miss_queue - 1,
        .rop_first = SLICE_NO_REQUEST,
        .input = ring_make(config->input_queue),
        .replies = ring_make(config->reply_queue),
        .misses = ring_make(l2->miss_queue >= 2 ? l2->miss_queue : 2),
        .to_dram = ring_make(config->to_dram_queue),
        .from_dram = ring_make(config->from_dram_queue),
        .environment = environment,
        .counters = counters,
    };
    slice->input_atoms = ARENA_ARRAY(arena, SliceAtom, ring_places(&slice->input));
    slice->reply_packets = ARENA_ARRAY(arena, SliceReply, ring_places(&slice->replies));
    slice->miss_accesses = ARENA_ARRAY(arena, DramAccess, ring_places(&slice->misses));
    slice->dram_accesses = ARENA_ARRAY(arena, DramAccess, ring_places(&slice->to_dram));
    slice->dram_returns = ARENA_ARRAY(arena, DramReturn, ring_places(&slice->from_dram));
    if (slice->has_tags) init_tags(slice, arena);
}

/* ---- requests and their atoms ---- */

static MemRequest *request_of(const Slice *slice, uint32_t handle) {
    return mem_request(&slice->environment->pools, handle);
}

/* The request's address, rounded down to an atom. */
static uint64_t first_atom(const Slice *slice, const MemRequest *request) {
    return request->address & ~(uint64_t)(slice->atom_bytes - 1);
}

/* The access to DRAM that moves one atom of a request. */
static DramAccess atom_access(const Slice *slice, const SliceAtom *atom, uint32_t token) {
    const MemRequest *request = request_of(slice, atom->handle);
    return (DramAccess){
        .address = first_atom(slice, request) + (uint64_t)atom->index * slice->atom_bytes,
        .token = token,
        .cta = request->client == MEM_CLIENT_L1I ? SLICE_NO_CTA : request->cta,
        .bytes = (uint16_t)slice->atom_bytes,
        .is_write = atom->op == MEM_OP_WRITE,
    };
}

/* Bytes of the atom that its write changes, as far as they fit a word; *is_whole: all of them. */
static uint64_t bytes_written(const Slice *slice, const SliceAtom *atom, bool *is_whole) {
    const MemRequest *request = request_of(slice, atom->handle);
    ByteMask mask = (ByteMask)request->written[1] << 64 | request->written[0];
    if (!mask) {
        *is_whole = true;
        return UINT64_MAX;
    }
    uint32_t atom_bytes = slice->atom_bytes, skipped = atom->index * atom_bytes;
    if (skipped >= 128 || atom_bytes > 128) {
        *is_whole = false;
        return 0;
    }
    ByteMask all = atom_bytes == 128 ? ~(ByteMask)0 : ((ByteMask)1 << atom_bytes) - 1;
    mask = mask << (request->address & (atom_bytes - 1)) >> skipped & all;
    *is_whole = mask == all;
    return (uint64_t)mask;
}

/* ---- the ROP line ---- */

static void load_rop_head(Slice *slice, uint32_t handle) {
    const MemRequest *request = request_of(slice, handle);
    slice->rop_first = handle;
    slice->rop_atoms = request->atoms;
    slice->rop_ready = request->arrived + slice->rop_latency;
    slice->rop_local = address_map_local(slice->environment->map, first_atom(slice, request));
    slice->rop_op = request->op;
}

void slice_take(Slice *slice, uint64_t cycle, uint32_t handle) {
    MemRequest *request = request_of(slice, handle);
    assert(request->atoms && "a request without atoms is owed no reply");
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

static void release_atom(Slice *slice, uint64_t cycle) {
    if (slice->rop_first == SLICE_NO_REQUEST || cycle < slice->rop_ready ||
        ring_is_full(&slice->input))
        return;
    int index = bits_lowest32(slice->rop_atoms);
    slice->input_atoms[ring_push(&slice->input)] = (SliceAtom){
        .local = slice->rop_local + (uint64_t)index * slice->atom_bytes,
        .handle = slice->rop_first,
        .index = (uint8_t)index,
        .op = slice->rop_op,
    };
    slice->rop_atoms &= slice->rop_atoms - 1;
    if (slice->rop_atoms) return;
    uint32_t next = request_of(slice, slice->rop_first)->next;
    if (next == SLICE_NO_REQUEST) slice->rop_first = SLICE_NO_REQUEST;
    else load_rop_head(slice, next);
}

/* ---- replies ---- */

/* The share of `times` that lies after the request's arrival: it may have joined a fill under way. */
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

/* Queues the reply to one atom; the queue must have room. `times` is NULL where DRAM had no part. */
static void add_reply(Slice *slice, uint32_t handle, const DramTimes *times) {
    MemRequest *request = request_of(slice, handle);
    DramTimes split = times ? times_since_arrival(times, request->arrived) : (DramTimes){0};
    uint32_t data = request->op == MEM_OP_WRITE ? 0 : slice->atom_bytes;
    request->queue_ticks = split.queue_ticks;
    request->dram_ticks = split.dram_ticks;
    slice->reply_packets[ring_push(&slice->replies)] = (SliceReply){
        .handle = handle,
        .dram_cycles = split.cycles,
        .bytes = (uint16_t)(slice->header_bytes + data),
    };
}

SliceReply slice_pop_reply(Slice *slice, uint64_t cycle) {
    if (ring_is_full(&slice->replies)) slice_rouse(slice);
    SliceReply reply = slice->reply_packets[ring_pop(&slice->replies)];
    MemRequest *request = request_of(slice, reply.handle);
    request->l2_cycles = (uint32_t)(cycle - request->arrived) - reply.dram_cycles;
    return reply;
}

/* Step 1: the oldest request whose miss is completed is answered. */
static void answer_miss(Slice *slice) {
    if (!mshr_has_ready(&slice->mshr) || ring_is_full(&slice->replies)) return;
    uint32_t entry = slice->mshr.ready_first;
    add_reply(slice, mshr_pop(&slice->mshr), &slice->fills[entry].times);
    slice->is_refused = false;
}

/* ---- to and from DRAM ---- */

static void push_access(Slice *slice, const DramAccess *access) {
    slice->dram_accesses[ring_push(&slice->to_dram)] = *access;
    slice->has_moved_dram = true;
}

DramAccess slice_pop_access(Slice *slice) {
    if (ring_is_full(&slice->to_dram)) slice_rouse(slice);
    return slice->dram_accesses[ring_pop(&slice->to_dram)];
}

void slice_push_return(Slice *slice, const DramReturn *data) {
    slice->dram_returns[ring_push(&slice->from_dram)] = *data;
    slice_rouse(slice);
}

static void add_miss(Slice *slice, const DramAccess *access) {
    slice->miss_accesses[ring_push(&slice->misses)] = *access;
}

/* Step 3: the oldest access of the miss queue joins the queue towards DRAM. */
static void send_miss(Slice *slice) {
    if (!slice->misses.count || ring_is_full(&slice->to_dram)) return;
    push_access(slice, &slice->miss_accesses[ring_pop(&slice->misses)]);
    slice->is_refused = false;
}

/* Counts a line that had to go, and sends its dirty sectors to DRAM as one write. Returns how many
 * those are. */
static uint32_t evict(Slice *slice, const TagEviction *evicted) {
    if (!evicted->has_line) return 0;
    slice->counters->l2_evictions++;
    if (!evicted->dirty) return 0;
    uint32_t atoms = (uint32_t)bits_count32(evicted->dirty);
    uint64_t local = evicted->address +
                     (uint64_t)bits_lowest32(evicted->dirty) * slice->atom_bytes;
    const PartitionEnvironment *environment = slice->environment;
    add_miss(slice, &(DramAccess){
        .address = address_map_address(environment->map, environment->channel, local),
        .cta = SLICE_NO_CTA,
        .bytes = (uint16_t)(atoms * slice->atom_bytes),
        .is_write = true,
    });
    slice->counters->l2_write_backs++;
    return atoms;
}

/* Puts a prefetched atom into L2, unless it is there or asked for already, or no line can go: it must
 * not keep the returns behind it waiting. */
static void fill_prefetch(Slice *slice, uint64_t local) {
    TagArray *tags = &slice->tags;
    uint8_t sector = tag_array_sectors(tags, local, slice->atom_bytes);
    int32_t place;
    TagResult result = tag_array_probe(tags, local, sector, &place);
    if (result == TAG_PENDING) slice->counters->l2_prefetches_late++;
    if (result == TAG_HIT || result == TAG_PENDING) return;
    if (result == TAG_MISS) {
        if (slice->misses.count > slice->write_limit) return;
        TagEviction evicted;
        place = tag_array_reserve(tags, local, 0, &evicted);
        if (place == TAG_NONE) return;
        evict(slice, &evicted);
    }
    tag_array_fill(tags, place, sector);
    tags->lines[place].filler_thread |= sector; /* sectors prefetched and not asked for yet */
    slice->counters->l2_prefetches++;
}

static void fill_sector(Slice *slice, const DramReturn *data) {
    SliceFill *fill = &slice->fills[data->token];
    fill->times = data->times;
    tag_array_fill(&slice->tags, fill->place, fill->sector);
    mshr_complete(&slice->mshr, (int32_t)data->token);
}

/* Whether the oldest return of DRAM can be taken: without L2 it becomes a reply at once. */
static bool can_take_return(const Slice *slice) {
    return slice->from_dram.count && (slice->has_l2 || !ring_is_full(&slice->replies));
}

/* Step 2: the oldest return of DRAM fills its sector. */
static void take_return(Slice *slice) {
    if (!can_take_return(slice)) return;
    if (ring_is_full(&slice->from_dram)) slice->has_moved_dram = true;
    const DramReturn *data = &slice->dram_returns[ring_pop(&slice->from_dram)];
    if (data->is_prefetch && slice->has_tags)
        fill_prefetch(slice, address_map_local(slice->environment->map, data->address));
    else if (slice->has_tags) fill_sector(slice, data);
    else if (!data->is_prefetch) add_reply(slice, data->token, &data->times);
    slice->is_refused = false;
}

/* ---- step 4: the lookup ---- */

static void use_port(Slice *slice, uint64_t cycle, uint32_t cycles) {
    slice->port_free = cycle + cycles;
}

static void count_access(Slice *slice, bool is_read, TagResult result) {
    Counters *counters = slice->counters;
    bool is_miss = result == TAG_MISS || result == TAG_SECTOR_MISS;
    counters->l2_accesses++;
    counters->l2_reads += is_read;
    counters->l2_hits += result == TAG_HIT;
    counters->l2_pending_hits += result == TAG_PENDING;
    counters->l2_misses += is_miss;
    counters->l2_read_misses += is_miss && is_read;
}

/* A hit: data and answer at once. */
static void serve_hit(Slice *slice, const SliceAtom *atom, uint64_t cycle) {
    count_access(slice, atom->op != MEM_OP_WRITE, TAG_HIT);
    use_port(slice, cycle, slice->atom_cycles);
    add_reply(slice, atom->handle, NULL);
}

static void note_prefetch_use(Slice *slice, TagLine *line, uint8_t sector) {
    slice->counters->l2_prefetches_used += (line->filler_thread & sector) != 0;
    line->filler_thread &= (uint8_t)~sector;
}

/* Starts to fetch the atom, for which a line is there or can be had. False when there is none. */
static bool fetch_atom(Slice *slice, const SliceAtom *atom, int32_t place, uint8_t sector) {
    TagArray *tags = &slice->tags;
    TagEviction evicted = {0};
    if (mshr_is_full(&slice->mshr)) return false;
    if (place == TAG_NONE) {
        place = tag_array_reserve(tags, atom->local, sector, &evicted);
        if (place == TAG_NONE) return false;
    } else {
        tag_array_touch(tags, place);
        tag_array_expect(tags, place, sector);
    }
    int32_t entry = mshr_allocate(&slice->mshr, atom->local, atom->handle);
    slice->fills[entry] = (SliceFill){.place = place, .sector = sector};
    DramAccess access = atom_access(slice, atom, (uint32_t)entry);
    access.is_write = false;
    add_miss(slice, &access);
    evict(slice, &evicted);
    if (atom->op != MEM_OP_READ) tag_array_write(tags, place, sector);
    return true;
}

/* Waits for a fetch under way. False when it takes no more requests. */
static bool join_fetch(Slice *slice, const SliceAtom *atom, int32_t place, uint8_t sector) {
    int32_t entry = mshr_find(&slice->mshr, atom->local);
    if (!mshr_can_merge(&slice->mshr, entry)) return false;
    mshr_merge(&slice->mshr, entry, atom->handle);
    tag_array_touch(&slice->tags, place);
    if (atom->op != MEM_OP_READ) tag_array_write(&slice->tags, place, sector);
    return true;
}

/* A read or an atomic. An atomic's sector becomes dirty once it is there. */
static bool look_up_read(Slice *slice, const SliceAtom *atom, uint64_t cycle) {
    TagArray *tags = &slice->tags;
    uint8_t sector = tag_array_sectors(tags, atom->local, slice->atom_bytes);
    int32_t place;
    TagResult result = tag_array_probe(tags, atom->local, sector, &place);
    if (result == TAG_HIT) {
        tag_array_touch(tags, place);
        note_prefetch_use(slice, &tags->lines[place], sector);
        if (atom->op == MEM_OP_ATOMIC) tag_array_write(tags, place, sector);
        serve_hit(slice, atom, cycle);
        return true;
    }
    if (slice->misses.count > slice->read_limit) return false;
    bool is_accepted = result == TAG_PENDING ? join_fetch(slice, atom, place, sector)
                                             : fetch_atom(slice, atom, place, sector);
    if (is_accepted) count_access(slice, true, result);
    return is_accepted;
}

/* Writes into the line at `place`. */
static void write_line(Slice *slice, const SliceAtom *atom, int32_t place, uint8_t sector) {
    bool is_whole;
    uint64_t bytes = bytes_written(slice, atom, &is_whole);
    if (is_whole) tag_array_write(&slice->tags, place, sector);
    else tag_array_write_bytes(&slice->tags, place, (uint32_t)bits_lowest32(sector), bytes);
}

/* A write that goes on to DRAM. A line that is there is updated or given up; one with a fill under
 * way stays. */
static bool pass_write(Slice *slice, const SliceAtom *atom, TagResult result, int32_t place,
                       uint64_t cycle) {
    DramAccess access = atom_access(slice, atom, 0);
    add_miss(slice, &access);
    count_access(slice, false, result);
    if (result == TAG_HIT) {
        use_port(slice, cycle, slice->atom_cycles);
        if (slice->write.drops_line && !slice->tags.lines[place].pending)
            tag_array_invalidate(&slice->tags, place);
        else tag_array_touch(&slice->tags, place);
    }
    add_reply(slice, atom->handle, NULL);
    return true;
}

/* A write that finds no valid sector takes one. A line that is dirty and has to go occupies the port
 * for as many cycles as its dirty sectors take. */
static bool allocate_write(Slice *slice, const SliceAtom *atom, TagResult result, int32_t place,
                           uint8_t sector, uint64_t cycle) {
    TagEviction evicted = {0};
    if (place == TAG_NONE) {
        place = tag_array_reserve(&slice->tags, atom->local, 0, &evicted);
        if (place == TAG_NONE) return false;
    } else {
        tag_array_touch(&slice->tags, place);
    }
    uint32_t dirty_bytes = evict(slice, &evicted) * slice->atom_bytes;
    if (dirty_bytes) use_port(slice, cycle, 1 + dirty_bytes / slice->port_bytes);
    write_line(slice, atom, place, sector);
    count_access(slice, false, result);
    add_reply(slice, atom->handle, NULL);
    return true;
}

static bool fetch_for_write(Slice *slice, const SliceAtom *atom, TagResult result, int32_t place,
                            uint8_t sector) {
    if (slice->misses.count > slice->read_limit || !fetch_atom(slice, atom, place, sector))
        return false;
    count_access(slice, false, result);
    return true;
}

static bool look_up_write(Slice *slice, const SliceAtom *atom, uint64_t cycle) {
    TagArray *tags = &slice->tags;
    uint8_t sector = tag_array_sectors(tags, atom->local, slice->atom_bytes);
    int32_t place;
    TagResult result = tag_array_probe(tags, atom->local, sector, &place);
    bool is_taken = place != TAG_NONE && (tags->lines[place].dirty & sector);
    if (result == TAG_SECTOR_MISS && is_taken) result = TAG_HIT; /* written in part before */
    if (result == TAG_HIT && !slice->write.passes_on) {
        tag_array_touch(tags, place);
        write_line(slice, atom, place, sector);
        serve_hit(slice, atom, cycle);
        return true;
    }
    if (slice->misses.count > slice->write_limit) return false;
    if (slice->write.passes_on || (place == TAG_NONE && !slice->write.allocates))
        return pass_write(slice, atom, result, place, cycle);
    bool is_whole;
    bytes_written(slice, atom, &is_whole);
    if (slice->write.fetches && !is_whole && result != TAG_PENDING)
        return fetch_for_write(slice, atom, result, place, sector);
    return allocate_write(slice, atom, result, place, sector, cycle);
}

/* Without L2: the atom goes to DRAM, and a write is acknowledged at once. */
static bool pass_atom(Slice *slice, const SliceAtom *atom) {
    DramAccess access = atom_access(slice, atom, atom->handle);
    access.is_atomic = atom->op == MEM_OP_ATOMIC;
    push_access(slice, &access);
    if (access.is_write) add_reply(slice, atom->handle, NULL);
    return true;
}

static bool look_up(Slice *slice, const SliceAtom *atom, uint64_t cycle) {
    if (!slice->has_l2) return pass_atom(slice, atom);
    if (!slice->has_tags) { /* L2 is perfect */
        serve_hit(slice, atom, cycle);
        return true;
    }
    return atom->op == MEM_OP_WRITE ? look_up_write(slice, atom, cycle)
                                    : look_up_read(slice, atom, cycle);
}

/* A lookup may have to put something into either queue. */
static bool has_lookup_room(const Slice *slice) {
    return !ring_is_full(&slice->to_dram) && !ring_is_full(&slice->replies);
}

static void look_up_head(Slice *slice, uint64_t cycle) {
    if (!slice->input.count || cycle < slice->port_free || !has_lookup_room(slice)) return;
    if (!slice->is_refused)
        slice->is_refused = !look_up(slice, &slice->input_atoms[ring_front(&slice->input)], cycle);
    if (slice->is_refused) slice->counters->l2_refusals++;
    else ring_pop(&slice->input);
}

/* ---- time ---- */

static uint64_t next_cycle(const Slice *slice, uint64_t cycle) {
    bool has_room = has_lookup_room(slice);
    bool can_answer = mshr_has_ready(&slice->mshr) && !ring_is_full(&slice->replies);
    bool can_send = slice->misses.count && !ring_is_full(&slice->to_dram);
    if (can_answer || can_send || can_take_return(slice) || slice->environment->never_sleeps)
        return cycle + 1;
    uint64_t next = UINT64_MAX;
    if (slice->input.count && has_room && !slice->is_refused) next = slice->port_free;
    if (slice->rop_first != SLICE_NO_REQUEST && !ring_is_full(&slice->input) &&
        slice->rop_ready < next)
        next = slice->rop_ready;
    return next > cycle ? next : cycle + 1;
}

void slice_settle(Slice *slice, uint64_t cycle) {
    if (slice->counts_refusals) slice->counters->l2_refusals += cycle - 1 - slice->worked;
    slice->worked = cycle - 1;
}

void slice_cycle(Slice *slice, uint64_t cycle) {
    slice_settle(slice, cycle);
    answer_miss(slice);
    take_return(slice);
    send_miss(slice);
    look_up_head(slice, cycle);
    release_atom(slice, cycle);
    slice->worked = cycle;
    slice->counts_refusals = slice->is_refused && has_lookup_room(slice);
    slice->wake = next_cycle(slice, cycle);
}

/* ---- from outside ---- */

void slice_install(Slice *slice, uint64_t local) {
    if (!slice->has_tags) return;
    TagArray *tags = &slice->tags;
    uint8_t sector = tag_array_sectors(tags, local, slice->atom_bytes);
    int32_t place = tag_array_find(tags, local);
    TagEviction lost;
    if (place == TAG_NONE) place = tag_array_reserve(tags, local, 0, &lost);
    else tag_array_touch(tags, place);
    if (place == TAG_NONE) return;
    tag_array_fill(tags, place, sector);
    tag_array_clean(tags, place, sector);
}

void slice_flush(Slice *slice) {
    if (!slice->has_tags) return;
    assert(!slice->mshr.used && "fills under way");
    TagArray *tags = &slice->tags;
    for (int32_t place = tag_array_next_dirty(tags, 0); place != TAG_NONE;
         place = tag_array_next_dirty(tags, place + 1))
        slice->counters->l2_write_backs++;
    tag_array_invalidate_all(tags);
}
