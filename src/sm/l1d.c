/* L1 data cache. Accesses pass a queue as long as the cache's latency; the oldest looks up its
 * tags, and when the cache must refuse it, it tries again every cycle while everything behind
 * waits. */
#include <stdlib.h>

#include "sm/sm_internal.h"

void l1d_init(Sm *sm) {
    const CacheConfig *config = &sm->config->l1d;
    char index[CACHE_INDEX_BYTES];
    cache_config_set_index(config, 0, index);
    tag_array_init(&sm->l1d_tags,
                   &(TagArrayConfig){.sets = cache_config_sets(config),
                                     .ways = config->ways,
                                     .line_bytes = config->line_bytes,
                                     .sector_bytes = config->sector_bytes,
                                     .replacement = config->replacement,
                                     .set_index = index},
                   sm->arena);
    mshr_init(&sm->l1d_mshr, config->mshrs, config->mshr_merges, sm->arena);
    send_queue_init(&sm->misses[MEM_CLIENT_L1D], config->miss_queue, sm->arena);
    sm->l1d_fill_bytes = cache_config_fill_bytes(config);
    sm->l1d_capacity = config->latency ? config->latency : 1;
    sm->l1d_queue = ARENA_ARRAY(sm->arena, SmLookup, sm->l1d_capacity);
}

/* ---- The queue ---- */

bool l1d_can_enter(const Sm *sm) { return sm->l1d_count < sm->l1d_capacity; }

void l1d_enter(Sm *sm, const SmAccess *access, uint16_t inst, bool is_store, bool is_local) {
    SmLookup *lookup =
        &sm->l1d_queue[sm_ring_place(sm->l1d_head + sm->l1d_count++, sm->l1d_capacity)];
    *lookup = (SmLookup){.due = sm->cycle + sm->config->l1d.latency,
                         .access = *access,
                         .serial = (uint32_t)sm->view.warp[sm->insts_in_flight[inst].warp].age,
                         .inst = inst,
                         .warp = sm->insts_in_flight[inst].warp,
                         .is_store = is_store,
                         .is_local = is_local};
}

bool l1d_is_busy(const Sm *sm) {
    return sm->l1d_count || send_queue_has_any(sm, MEM_CLIENT_L1D) || sm->is_l1d_flushing;
}

bool l1d_has_work(const Sm *sm) {
    return send_queue_has_any(sm, MEM_CLIENT_L1D) || sm->is_l1d_flushing ||
           mshr_has_ready(&sm->l1d_mshr) ||
           (sm->l1d_count && !sm->refusal && sm->l1d_queue[sm->l1d_head].due <= sm->cycle + 1);
}

uint64_t l1d_next_event(const Sm *sm) {
    return sm->l1d_count && !sm->refusal ? sm->l1d_queue[sm->l1d_head].due : UINT64_MAX;
}

/* ---- What policies hear of ---- */

static void notify(Sm *sm, TytoEventKind kind, int warp, int owner, uint64_t address,
                   bool is_pending) {
    if (!sched_agent_wants(&sm->policy, kind)) return;
    sm_notify(sm, &(TytoEvent){.kind = kind,
                               .warp = warp,
                               .cta_slot = -1,
                               .owner = owner,
                               .is_pending = is_pending,
                               .address = address & ~(uint64_t)(sm->config->l1d.line_bytes - 1)});
}

/* ---- What is recorded ---- */

static void record(const Sm *sm, L1dKind kind, const SmLookup *lookup, bool is_fetch) {
    if (!sm->listener.l1d_record) return;
    sm->listener.l1d_record(
        sm->listener.user,
        &(L1dRecord){.cycle = sm->cycle,
                     .address = lookup->access.address & ~(uint64_t)(sm->l1d_fill_bytes - 1),
                     .warp = lookup->serial,
                     .lanes = lookup->access.lanes,
                     .sm = (uint16_t)sm->env.index,
                     .kind = (uint8_t)kind,
                     .is_fetch = is_fetch});
}

/* ---- Lines that go ---- */

static void send_write(Sm *sm, const SmAccess *access, uint32_t warp, uint32_t acks_for) {
    send_queue_push(sm, MEM_CLIENT_L1D,
                    &(SmSend){.access = *access,
                              .waiting = acks_for,
                              .op = MEM_OP_WRITE,
                              .client = MEM_CLIENT_STORE,
                              .warp = (uint8_t)warp});
}

/* The dirty sectors of a line, as a write that nobody waits for. */
static void write_back(Sm *sm, uint64_t line, uint8_t dirty, uint32_t warp) {
    uint32_t sector_atoms = port_atoms_of(sm, sm->l1d_fill_bytes), atoms = 0;
    for (uint32_t rest = dirty; rest; rest &= rest - 1)
        atoms |= sector_atoms << ((uint32_t)bits_lowest32(rest) *
                                  (sm->l1d_fill_bytes / sm->env.atom_bytes));
    uint32_t first = (uint32_t)bits_lowest32(atoms), last = (uint32_t)bits_highest32(atoms);
    SmAccess access = {.address = line + (uint64_t)first * sm->env.atom_bytes,
                       .atoms = atoms >> first,
                       .bytes = (last - first + 1) * sm->env.atom_bytes};
    sm->counters.l1d_write_backs++;
    send_write(sm, &access, warp, SM_NO_WARP);
}

static void evicted(Sm *sm, const TagEviction *eviction, uint32_t warp) {
    if (!eviction->has_line) return;
    sm->counters.l1d_evictions++;
    if (eviction->dirty) write_back(sm, eviction->address, eviction->dirty, warp);
    notify(sm, TYTO_EVENT_L1D_EVICTED, (int)warp, eviction->owner_warp, eviction->address, false);
}

/* Places the miss queue must have left for one more miss: its own and that of a dirty victim. */
static bool has_room(const Sm *sm, uint32_t sends) {
    const SmSendQueue *queue = &sm->misses[MEM_CLIENT_L1D];
    return queue->count + sends <= queue->capacity;
}

/* Reserves a line with sectors pending. False (and the refusal set) when no way is free. */
static bool reserve(Sm *sm, const SmLookup *lookup, uint64_t key, uint8_t sectors, int32_t *place) {
    TagEviction eviction;
    *place = tag_array_reserve(&sm->l1d_tags, key, sectors, &eviction);
    if (*place == TAG_NONE) return false;
    TagLine *line = &sm->l1d_tags.lines[*place];
    line->owner_warp = lookup->warp;
    line->filler_thread = lookup->serial;
    line->filler_lanes = lookup->access.lanes;
    evicted(sm, &eviction, lookup->warp);
    return true;
}

/* ---- Loads ---- */

static void count_hit(Sm *sm, const SmLookup *lookup, int32_t place) {
    const TagLine *line = &sm->l1d_tags.lines[place];
    bool is_same_warp = line->filler_thread == lookup->serial;
    sm->counters.l1d_hits++;
    sm->counters.l1d_intra_warp_hits += is_same_warp;
    sm->counters.l1d_inter_warp_hits += !is_same_warp;
    sm->counters.l1d_intra_thread_hits +=
        is_same_warp && !(lookup->access.lanes & ~line->filler_lanes);
}

static void access_complete(Sm *sm, uint16_t inst) {
    if (--sm->insts_in_flight[inst].remaining == 0 && sm->insts_in_flight[inst].memory == SM_NONE)
        sm_inst_complete(sm, inst);
}

/* Fetches the line or sector of `key`. `waiter` SM_NONE: nobody waits for it. */
static void fetch(Sm *sm, const SmLookup *lookup, uint64_t key, uint16_t waiter) {
    mshr_allocate(&sm->l1d_mshr, key, waiter);
    uint32_t atoms = port_atoms_of(sm, sm->l1d_fill_bytes);
    send_queue_push(
        sm, MEM_CLIENT_L1D,
        &(SmSend){.access = {.address = key, .atoms = atoms, .bytes = sm->l1d_fill_bytes},
                  .op = MEM_OP_READ,
                  .client = MEM_CLIENT_L1D,
                  .warp = lookup->warp});
}

/* Takes what a fetch needs: MSHR, queue, way. NULL, or the counter of the refusal. */
static uint64_t *try_fetch(Sm *sm, const SmLookup *lookup, uint64_t key, uint8_t sectors,
                           int32_t place, uint16_t waiter) {
    Counters *c = &sm->counters;
    bool needs_way = place == TAG_NONE && sm->config->l1d.allocate == CACHE_ALLOCATE_ON_MISS;
    if (needs_way && !tag_array_can_reserve(&sm->l1d_tags, key)) return &c->l1d_fail_ways;
    if (!has_room(sm, 2)) return &c->l1d_fail_queue;
    if (mshr_is_full(&sm->l1d_mshr)) return &c->l1d_fail_mshrs;
    if (needs_way) reserve(sm, lookup, key, sectors, &place);
    else if (place != TAG_NONE) tag_array_expect(&sm->l1d_tags, place, sectors);
    fetch(sm, lookup, key, waiter);
    return NULL;
}

/* A load's lookup: NULL when it is done with the queue, else the counter of the refusal. */
static uint64_t *load(Sm *sm, const SmLookup *lookup) {
    Counters *c = &sm->counters;
    uint64_t key = lookup->access.address & ~(uint64_t)(sm->l1d_fill_bytes - 1);
    uint8_t sectors = tag_array_sectors(&sm->l1d_tags, key, sm->l1d_fill_bytes);
    int32_t place;
    TagResult result = tag_array_probe(&sm->l1d_tags, key, sectors, &place);
    int32_t entry = result == TAG_HIT ? MSHR_NONE : mshr_find(&sm->l1d_mshr, key);
    if (result == TAG_HIT) {
        tag_array_touch(&sm->l1d_tags, place);
        count_hit(sm, lookup, place);
        notify(sm, TYTO_EVENT_L1D_HIT, lookup->warp, sm->l1d_tags.lines[place].owner_warp, key,
               false);
        access_complete(sm, lookup->inst);
    } else if (entry != MSHR_NONE) {
        if (!has_room(sm, 2)) return &c->l1d_fail_queue;
        if (!mshr_can_merge(&sm->l1d_mshr, entry)) return &c->l1d_fail_merges;
        mshr_merge(&sm->l1d_mshr, entry, lookup->inst);
        if (place != TAG_NONE) tag_array_touch(&sm->l1d_tags, place);
        c->l1d_pending_hits++;
        notify(sm, TYTO_EVENT_L1D_MISS, lookup->warp, TYTO_NO_WARP, key, true);
    } else {
        uint64_t *refusal = try_fetch(sm, lookup, key, sectors, place, lookup->inst);
        if (refusal) return refusal;
        c->l1d_misses++;
        c->l1d_load_misses++;
        notify(sm, TYTO_EVENT_L1D_MISS, lookup->warp, TYTO_NO_WARP, key, false);
        if (sm->listener.l1d_miss) sm->listener.l1d_miss(sm->listener.user, sm->env.index, key);
    }
    c->l1d_accesses++;
    c->l1d_load_accesses++;
    record(sm, L1D_LOAD, lookup, result != TAG_HIT && entry == MSHR_NONE);
    return NULL;
}

/* ---- Stores ---- */

static void store_absorbed(Sm *sm, const SmLookup *lookup) {
    sm->warps[lookup->warp].stores--;
    sm_warp_settled(sm, lookup->warp);
}

/* A store that takes its line into a write-back cache. */
static uint64_t *store_allocate(Sm *sm, const SmLookup *lookup, uint64_t key, uint8_t sectors,
                                int32_t place, bool fetches) {
    Counters *c = &sm->counters;
    if (fetches) {
        uint64_t *refusal = try_fetch(sm, lookup, key, sectors, place, SM_NONE);
        if (refusal) return refusal;
        place = tag_array_find(&sm->l1d_tags, key);
    } else if (place == TAG_NONE) {
        if (!has_room(sm, 1)) return &c->l1d_fail_queue;
        if (!reserve(sm, lookup, key, 0, &place)) return &c->l1d_fail_ways;
    }
    if (place != TAG_NONE) tag_array_write(&sm->l1d_tags, place, sectors);
    store_absorbed(sm, lookup);
    return NULL;
}

/* What a store that met `result` does to its line. One that is passed on leaves a line alone that
 * is still on its way, whatever the policy. */
static L1dKind kind_of_store(TagResult result, WritePolicy policy, WriteAllocate allocate) {
    if (policy == WRITE_BACK) return allocate == ALLOCATE_NONE ? L1D_STORE_USE : L1D_STORE_ALLOCATE;
    return policy == WRITE_EVICT && result != TAG_PENDING ? L1D_STORE_EVICT : L1D_STORE_PASS;
}

static uint64_t *store(Sm *sm, const SmLookup *lookup) {
    const CacheConfig *config = &sm->config->l1d;
    Counters *c = &sm->counters;
    WritePolicy policy = lookup->is_local ? config->local_write : config->write;
    WriteAllocate allocate =
        lookup->is_local ? config->local_write_allocate : config->write_allocate;
    uint64_t key = lookup->access.address & ~(uint64_t)(sm->l1d_fill_bytes - 1);
    uint8_t sectors = tag_array_sectors(&sm->l1d_tags, key, sm->l1d_fill_bytes);
    int32_t place;
    TagResult result = tag_array_probe(&sm->l1d_tags, key, sectors, &place);
    bool is_there = result == TAG_HIT || result == TAG_PENDING;
    bool stays = policy == WRITE_BACK && (is_there || allocate != ALLOCATE_NONE);
    if (stays && is_there) {
        tag_array_write(&sm->l1d_tags, place, sectors);
        tag_array_touch(&sm->l1d_tags, place);
        store_absorbed(sm, lookup);
    } else if (stays) {
        uint64_t *refusal =
            store_allocate(sm, lookup, key, sectors, place, allocate == ALLOCATE_FETCH);
        if (refusal) return refusal;
    } else {
        if (!has_room(sm, 1)) return &c->l1d_fail_queue;
        send_write(sm, &lookup->access, lookup->warp, lookup->warp);
    }
    if (result == TAG_HIT) count_hit(sm, lookup, place);
    else if (result == TAG_PENDING) c->l1d_pending_hits++;
    else c->l1d_misses++;
    if (result == TAG_HIT && policy == WRITE_EVICT) {
        notify(sm, TYTO_EVENT_L1D_EVICTED, lookup->warp, sm->l1d_tags.lines[place].owner_warp, key,
               false);
        tag_array_invalidate(&sm->l1d_tags, place);
        c->l1d_evictions++;
    }
    c->l1d_accesses++;
    record(sm, kind_of_store(result, policy, allocate), lookup,
           stays && !is_there && allocate == ALLOCATE_FETCH);
    return NULL;
}

/* With a perfect L1 every access hits and nothing leaves the SM. */
static uint64_t *hit_always(Sm *sm, const SmLookup *lookup) {
    sm->counters.l1d_accesses++;
    sm->counters.l1d_hits++;
    sm->counters.l1d_intra_warp_hits++;
    if (lookup->is_store) {
        store_absorbed(sm, lookup);
    } else {
        sm->counters.l1d_load_accesses++;
        access_complete(sm, lookup->inst);
    }
    record(sm, lookup->is_store ? L1D_STORE_PASS : L1D_LOAD, lookup, false);
    return NULL;
}

/* ---- Fills, flushes, the cycle ---- */

void l1d_line_arrived(Sm *sm, const MemRequest *request) {
    uint64_t key = port_line_of(request);
    uint8_t sectors = tag_array_sectors(&sm->l1d_tags, key, sm->l1d_fill_bytes);
    int32_t place = tag_array_find(&sm->l1d_tags, key);
    sm->counters.l1d_fills++;
    record(sm, L1D_FILL, &(SmLookup){.access.address = key}, false);
    sm->l1d_freed |= SM_FREED_LINE;
    if (place == TAG_NONE && sm->config->l1d.allocate == CACHE_ALLOCATE_ON_FILL &&
        has_room(sm, 1)) {
        SmLookup lookup = {.serial = (uint32_t)sm->view.warp[request->warp].age,
                           .warp = request->warp};
        reserve(sm, &lookup, key, 0, &place);
        sm->l1d_freed =
            SM_FREED_ALL; /* what had to go may have taken from what the head waits for */
    }
    if (place != TAG_NONE) tag_array_fill(&sm->l1d_tags, place, sectors);
    mshr_complete(&sm->l1d_mshr, mshr_find(&sm->l1d_mshr, key));
}

static void flush_step(Sm *sm) {
    int32_t place = TAG_NONE;
    while (has_room(sm, 1) && (place = tag_array_next_dirty(&sm->l1d_tags, 0)) != TAG_NONE) {
        write_back(sm, tag_array_address(&sm->l1d_tags, place), sm->l1d_tags.lines[place].dirty, 0);
        tag_array_clean(&sm->l1d_tags, place, UINT8_MAX);
    }
    if (tag_array_next_dirty(&sm->l1d_tags, 0) != TAG_NONE) return;
    tag_array_invalidate_all(&sm->l1d_tags);
    sm->is_l1d_flushing = false;
    sm->l1d_freed = SM_FREED_ALL;
}

void l1d_flush(Sm *sm) {
    sm->is_l1d_flushing = true;
    record(sm, L1D_FLUSH, &(SmLookup){.serial = 0}, false);
    flush_step(sm);
}

/* What can end the refusal that the queue's head is stuck in (SmFreed). Only the head takes lines,
 * MSHRs and places of the miss queue, so nothing that it found there is lost meanwhile. */
static uint32_t ends_refusal(const Sm *sm) {
    if (sm->refusal == &sm->counters.l1d_fail_mshrs) return SM_FREED_MSHR;
    if (sm->refusal == &sm->counters.l1d_fail_queue) return SM_FREED_PLACE | SM_FREED_LINE;
    return SM_FREED_LINE;
}

void l1d_step(Sm *sm) {
    if (sm->is_l1d_flushing) {
        flush_step(sm);
        return;
    }
    if (!sm->l1d_count) return;
    SmLookup *lookup = &sm->l1d_queue[sm->l1d_head];
    if (lookup->due > sm->cycle || (sm->refusal && !(sm->l1d_freed & ends_refusal(sm)))) return;
    sm->l1d_freed = 0;
    uint64_t *refusal = sm->env.is_l1_perfect ? hit_always(sm, lookup)
                        : lookup->is_store    ? store(sm, lookup)
                                              : load(sm, lookup);
    sm->refusal = refusal;
    if (refusal) return;
    sm->l1d_head = sm_ring_place(sm->l1d_head + 1, sm->l1d_capacity);
    sm->l1d_count--;
}
