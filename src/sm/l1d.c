/* The L1 data cache (see the header). */
#include "sm/l1d.h"

#include "sm/l1d_policy.h"

/* Functions on the path of each load are inlined into one function. */
#define ALWAYS __attribute__((always_inline)) static inline

void l1d_init(SmL1d *l1d, SmContext *sm, SmPort *port) {
    const CacheConfig *config = &sm->config->l1d;
    char index[CACHE_INDEX_BYTES];
    const SmL1dConfig *own = &sm->config->l1d_own;
    cache_config_set_index(config, 0, index);
    tag_array_init(&l1d->tags,
                   &(TagArrayConfig){.sets = cache_config_sets(config),
                                     .ways = config->ways,
                                     .line_bytes = config->line_bytes,
                                     .sector_bytes = config->sector_bytes,
                                     .replacement = config->replacement,
                                     .dirty_share = own->dirty_share,
                                     .tracks_bytes = cache_config_is_written_through(config),
                                     .set_index = index},
                   sm->arena);
    l1d->fillers = ARENA_ARRAY(sm->arena, SmFiller, cache_config_sets(config) * config->ways);
    mshr_init(&l1d->mshr, config->mshrs, config->mshr_merges, config->mshr_requests, sm->arena);
    port_init_misses(port, sm, MEM_CLIENT_L1D, config->miss_queue);
    l1d->asking = ARENA_ARRAY(sm->arena, SmFiller, config->mshrs);
    l1d_policy_init(l1d, sm, port);
    l1d->config = config;
    l1d->ways = config->ways;
    l1d->fill_bytes = cache_config_fill_bytes(config);
    l1d->capacity = config->latency ? config->latency : 1;
    l1d->next = UINT64_MAX;
    l1d->writes_back = !cache_config_is_written_through(config);
    l1d->interval = own->bank_interval;
    l1d->miss_interval = own->miss_interval > l1d->interval ? own->miss_interval : l1d->interval;
    l1d->bank_count = own->banks;
    l1d->bank_shift = (uint8_t)bits_lowest32(own->bank_bytes);
    for (uint32_t bank = 0; bank < own->banks; bank++)
        l1d->banks[bank].queue = ARENA_ARRAY(sm->arena, SmLookup, l1d->capacity);
    uint32_t lookups = sm->config->lsu.accesses_per_cycle; /* most lookups in a cycle */
    if (lookups < own->banks) lookups = own->banks;
    l1d->hit_latency = own->hit_latency;
    l1d->hits_from = UINT64_MAX;
    sm_queue_init(&l1d->hits, lookups * (own->hit_latency + 1), sm->arena);
    l1d->hits_due = ARENA_ARRAY(sm->arena, uint64_t, l1d->hits.mask + 1);
}

void l1d_carve_out(SmL1d *l1d, const SmConfig *config, uint32_t shared_bytes) {
    uint32_t all = config->l1d_own.unified_bytes;
    if (!all) return;
    uint64_t left = (uint64_t)config->l1d.ways * (all - shared_bytes);
    l1d->ways = (uint32_t)((left + all / 2) / all);
}

/* ---- The queue ---- */

bool l1d_is_busy(const SmL1d *l1d, const SmPort *port) {
    return l1d->filled || port_has_misses(port, MEM_CLIENT_L1D) || l1d->is_flushing;
}

/* The cycle in which the bank's head can look up its tags; the head must not be in a refusal. */
static inline uint64_t next_lookup_of(const SmL1dBank *bank) {
    const uint64_t due = bank->queue[bank->head].due;
    return due > bank->next_lookup ? due : bank->next_lookup;
}

/* The same for a head that may be in a refusal. 0: as soon as possible; UINT64_MAX: it must wait
 * for something to be freed. */
static inline uint64_t next_of_bank(const SmL1dBank *bank) {
    if (bank->refusal) return bank->freed & bank->needs ? 0 : UINT64_MAX;
    return next_lookup_of(bank);
}

/* Whether an earlier access of the instruction was of another sector of this one's line. */
static bool repeats_line(const SmContext *sm, const SmMemory *memory, const SmAccess *access) {
    const uint64_t line_mask = ~(uint64_t)(sm->config->l1d.line_bytes - 1);
    for (const SmAccess *earlier = memory->access; earlier < access; earlier++)
        if (((earlier->address ^ access->address) & line_mask) == 0) return true;
    return false;
}

/* Whether the policy hears of lookups, and lines have sectors. */
static bool wants_sectors(const SmL1d *l1d, const SmContext *sm) {
    if (l1d->fill_bytes == sm->config->l1d.line_bytes) return false;
    return sched_agent_wants(&sm->policy, TYTO_EVENT_L1D_MISS) ||
           sched_agent_wants(&sm->policy, TYTO_EVENT_L1D_HIT);
}

void l1d_enter(SmL1d *l1d, const SmContext *sm, uint16_t inst, const SmMemory *memory,
               const SmAccess *access) {
    const SmInst *in_flight = &sm->insts.inst[inst];
    uint32_t index = l1d_bank_of(l1d, access->address);
    SmL1dBank *bank = &l1d->banks[index];
    assert(bank->count < l1d->capacity);
    l1d->filled |= 1u << index;
    bank->queue[sm_ring_place(bank->head + bank->count++, l1d->capacity)] =
        (SmLookup){.due = sm->cycle + l1d->config->latency,
                   .access = *access,
                   .serial = in_flight->serial,
                   .inst = inst,
                   .pc = in_flight->pc,
                   .warp = in_flight->warp,
                   .is_store = memory->is_store,
                   .is_local = memory->is_local,
                   .is_prefetch = memory->advice != MEM_ADVICE_NONE,
                   .repeats_line = wants_sectors(l1d, sm) && repeats_line(sm, memory, access)};
    if (bank->count > 1) return;
    const uint64_t next = next_lookup_of(bank);
    if (next < l1d->next) l1d->next = next;
}

/* Computes what the heads of the banks wait for: the first cycle of a lookup, and what may end a
 * refusal. */
static void plan_lookups(SmL1d *l1d) {
    l1d->next = UINT64_MAX;
    l1d->needed = 0;
    for (uint32_t left = l1d->filled; left; left &= left - 1) {
        const SmL1dBank *bank = &l1d->banks[bits_lowest32(left)];
        uint64_t event = next_of_bank(bank);
        if (event < l1d->next) l1d->next = event;
        if (bank->refusal) l1d->needed |= bank->needs;
    }
}

/* ---- Reports to policies ---- */

static inline void tell_listener(SmContext *sm, uint64_t address) {
    const SmListener *listener = &sm->listener;
    if (!listener->l1d_load) return;
    context_wait_finished(sm);
    listener->l1d_load(listener->user, sm->env.index, address);
}

static int owner_of(const SmFiller *filler) {
    return !filler || filler->warp == SM_NO_WARP ? TYTO_NO_WARP : filler->warp;
}

/* Reports an access that hit or missed, or that evicted the line that `filler` (NULL: unknown)
 * brought in. */
__attribute__((noinline)) static void tell_policy(SmContext *sm, TytoEventKind kind,
                                                  const SmLookup *lookup, const SmFiller *filler,
                                                  uint64_t address, int32_t place,
                                                  bool is_pending) {
    const uint64_t offset_mask = sm->config->l1d.line_bytes - 1;
    context_notify(sm, &(TytoEvent){.kind = kind,
                                    .warp = lookup->is_policy ? TYTO_NO_WARP : lookup->warp,
                                    .cta_slot = -1,
                                    .owner = owner_of(filler),
                                    .is_pending = is_pending,
                                    .repeats_line = lookup->repeats_line,
                                    .address = address & ~offset_mask,
                                    .offset = (uint32_t)(lookup->access.address & offset_mask),
                                    .pc = lookup->pc,
                                    .owner_pc = filler ? filler->pc : TYTO_NO_PC,
                                    .place = place == TAG_NONE ? TYTO_NO_PLACE : (uint32_t)place});
}

static inline void notify(SmContext *sm, TytoEventKind kind, const SmLookup *lookup,
                          const SmFiller *filler, uint64_t address, int32_t place,
                          bool is_pending) {
    if (sched_agent_wants(&sm->policy, kind))
        tell_policy(sm, kind, lookup, filler, address, place, is_pending);
}

/* ---- What is recorded ---- */

__attribute__((noinline)) static void tell_record(const SmL1d *l1d, const SmContext *sm,
                                                  L1dKind kind, const SmLookup *lookup,
                                                  bool is_request) {
    context_wait_finished(sm);
    sm->listener.l1d_record(
        sm->listener.user,
        &(L1dRecord){.cycle = sm->cycle,
                     .address = lookup->access.address & ~(uint64_t)(l1d->fill_bytes - 1),
                     .warp = lookup->serial,
                     .lanes = lookup->access.lanes,
                     .sm = (uint16_t)sm->env.index,
                     .kind = (uint8_t)kind,
                     .is_request = is_request});
}

/* Reports a lookup if there is a listener. */
static inline void record(const SmL1d *l1d, const SmContext *sm, L1dKind kind,
                          const SmLookup *lookup, bool is_request) {
    if (__builtin_expect(sm->listener.l1d_record != NULL, false))
        tell_record(l1d, sm, kind, lookup, is_request);
}

/* ---- Evicted lines ---- */

/* Whether the policy prefetches, which is rare. */
static inline bool has_prefetcher(const SmL1d *l1d) {
    return __builtin_expect(l1d->prefetcher != NULL, false);
}

/* Whether accesses are counted by set, which is rare. The counting is in separate functions, away
 * from the code that every access runs. */
static bool counts_sets(const SmContext *sm) {
    return __builtin_expect(sm->env.l1d_sets != NULL, false);
}

__attribute__((noinline)) static void note_set(const SmL1d *l1d, const SmContext *sm,
                                               uint64_t address, bool is_miss) {
    sets_count_lookup(&sm->env.l1d_sets[set_index_of(&l1d->tags.index, address)], is_miss);
}

__attribute__((noinline)) static void note_set_eviction(const SmL1d *l1d, const SmContext *sm,
                                                        uint64_t address) {
    sm->env.l1d_sets[set_index_of(&l1d->tags.index, address)].evictions++;
}

/* Counts an evicted line. */
static void count_eviction(const SmL1d *l1d, SmContext *sm, uint64_t address) {
    sm->counters.l1d_evictions++;
    if (counts_sets(sm)) note_set_eviction(l1d, sm, address);
}

/* Places that the miss queue must have free for a miss: one for the miss, one for a dirty
 * victim. */
enum { MISS_AND_VICTIM = 2 };

static void send_write(SmPort *port, const SmAccess *access, uint32_t warp, uint32_t acks_for) {
    port_push_miss(port, MEM_CLIENT_L1D,
                   &(SmSend){.access = *access,
                             .waiting = acks_for,
                             .op = MEM_OP_WRITE,
                             .client = MEM_CLIENT_STORE,
                             .warp = (uint8_t)warp});
}

/* Sends the dirty sectors of a line, as a write that no warp waits for. */
__attribute__((noinline)) static void write_back(const SmL1d *l1d, SmContext *sm, SmPort *port,
                                                 uint64_t line, uint8_t dirty, uint32_t warp) {
    uint32_t requests_in_sector = context_sectors_of(sm, l1d->fill_bytes), sectors = 0;
    for (uint32_t rest = dirty; rest; rest &= rest - 1)
        sectors |= requests_in_sector
                   << ((uint32_t)bits_lowest32(rest) * (l1d->fill_bytes / sm->env.l2_sector_bytes));
    uint32_t first = (uint32_t)bits_lowest32(sectors), last = (uint32_t)bits_highest32(sectors);
    SmAccess access = {.address = line + (uint64_t)first * sm->env.l2_sector_bytes,
                       .sectors = sectors >> first,
                       .bytes = (uint16_t)((last - first + 1) * sm->env.l2_sector_bytes),
                       .pc = SM_NO_PC};
    sm->counters.l1d_write_backs++;
    send_write(port, &access, warp, SM_NO_WARP);
}

/* Handles the eviction of a line that `filler` had brought to this place, to make room for an
 * access. */
static void evicted(SmL1d *l1d, SmContext *sm, SmPort *port, const TagEviction *eviction,
                    const SmFiller *filler, const SmLookup *lookup, int32_t place) {
    if (!eviction->has_line) return;
    count_eviction(l1d, sm, eviction->address);
    if (eviction->dirty && l1d->writes_back)
        write_back(l1d, sm, port, eviction->address, eviction->dirty, lookup->warp);
    notify(sm, TYTO_EVENT_L1D_EVICTED, lookup, filler, eviction->address, place, false);
    if (has_prefetcher(l1d)) l1d_policy_gone(l1d, sm, place, eviction->address);
}

static CachePriority l1_priority(const SmAccess *access) {
    return (CachePriority)access->priority[0];
}

/* Records a use of a line that is present. */
static void touch(SmL1d *l1d, const SmLookup *lookup, int32_t place) {
    CachePriority priority = l1_priority(&lookup->access);
    if (__builtin_expect(priority != PRIORITY_UNSAID, false))
        tag_array_touch_as(&l1d->tags, place, priority);
    else tag_array_touch(&l1d->tags, place);
}

static SmFiller filler_of(const SmLookup *lookup) {
    return (SmFiller){.lanes = lookup->access.lanes,
                      .pc = lookup->pc,
                      .warp = lookup->is_policy ? SM_NO_WARP : lookup->warp};
}

/* Reserves a line with sectors pending. Returns false if no way is free; the caller reports the
 * refusal. */
ALWAYS bool reserve(SmL1d *l1d, SmContext *sm, SmPort *port, const SmLookup *lookup, uint64_t key,
                    uint8_t sectors, int32_t *place) {
    TagEviction eviction;
    *place = __builtin_expect(l1d->shown != NULL, false)
                 ? l1d_policy_reserve(l1d, sm, lookup, key, sectors, &eviction)
                 : tag_array_reserve_as(&l1d->tags, key, sectors, l1_priority(&lookup->access),
                                        &eviction);
    if (*place == TAG_NONE) return false;
    l1d->tags.lines[*place].filler_thread = lookup->serial;
    SmFiller *filler = &l1d->fillers[*place];
    const SmFiller before = *filler;
    *filler = filler_of(lookup);
    evicted(l1d, sm, port, &eviction, &before, lookup, *place);
    return true;
}

/* ---- Loads ---- */

static void count_hit(const SmL1d *l1d, SmContext *sm, const SmLookup *lookup, int32_t place) {
    const bool is_same_warp = l1d->tags.lines[place].filler_thread == lookup->serial;
    const bool is_of_its_lanes = !(lookup->access.lanes & ~l1d->fillers[place].lanes);
    sm->counters.l1d_hits++;
    sm->counters.l1d_intra_warp_hits += is_same_warp;
    sm->counters.l1d_inter_warp_hits += !is_same_warp;
    sm->counters.l1d_intra_thread_hits += is_same_warp && is_of_its_lanes;
}

/* Counts a lookup that was not refused, in the profile and for its set. */
static void note_lookup(const SmL1d *l1d, const SmContext *sm, const SmLookup *lookup,
                        ProfileColumn outcome) {
    if (context_is_profiled(sm)) sm_profile_count(sm->profile, lookup->access.pc, outcome, 1);
    if (counts_sets(sm)) note_set(l1d, sm, lookup->access.address, outcome == PROFILE_l1d_misses);
}

static void access_complete(SmContext *sm, uint16_t inst) {
    if (insts_access_done(&sm->insts, inst)) events_post(&sm->events, SM_EVENT_INST_DONE, inst);
}

/* Handles a load that hit: its data are available at once, or after the hit latency. */
static inline void data_hit(SmL1d *l1d, SmContext *sm, uint16_t inst) {
    if (!l1d->hit_latency) {
        access_complete(sm, inst);
        return;
    }
    uint64_t due = sm->cycle + l1d->hit_latency;
    if (!l1d->hits.count) l1d->hits_from = due;
    l1d->hits_due[(l1d->hits.head + l1d->hits.count) & l1d->hits.mask] = due;
    sm_queue_push(&l1d->hits, inst);
}

void l1d_end_hits(SmL1d *l1d, SmContext *sm) {
    do {
        access_complete(sm, sm_queue_pop(&l1d->hits));
        l1d->hits_from = l1d->hits.count ? l1d->hits_due[l1d->hits.head] : UINT64_MAX;
    } while (l1d->hits_from <= sm->cycle);
}

/* Requests the line or sector of `key`. `waiter` is SM_NONE if no load waits for it. */
ALWAYS void request(SmL1d *l1d, const SmContext *sm, SmPort *port, const SmLookup *lookup,
                    uint64_t key, uint16_t waiter) {
    l1d->asking[mshr_allocate(&l1d->mshr, key, waiter)] = filler_of(lookup);
    uint32_t sectors = context_sectors_of(sm, l1d->fill_bytes);
    port_push_miss(
        port, MEM_CLIENT_L1D,
        &(SmSend){.access = {.address = key,
                             .sectors = sectors,
                             .bytes = (uint16_t)l1d->fill_bytes,
                             .priority = {lookup->access.priority[0], lookup->access.priority[1]},
                             .pc = lookup->access.pc,
                             .prefetch = lookup->access.prefetch},
                  .op = MEM_OP_READ,
                  .client = MEM_CLIENT_L1D,
                  .warp = lookup->warp});
}

/* Requests it if its MSHR, queue places and way are free. Returns NULL, or the counter of the
 * refusal. */
ALWAYS uint64_t *try_request(SmL1d *l1d, SmContext *sm, SmPort *port, const SmLookup *lookup,
                             uint64_t key, uint8_t sectors, int32_t place, uint16_t waiter) {
    Counters *c = &sm->counters;
    bool needs_way = place == TAG_NONE && l1d->config->allocate == CACHE_ALLOCATE_ON_MISS &&
                     l1_priority(&lookup->access) != PRIORITY_NO_ALLOCATE;
    if (needs_way && !tag_array_can_reserve(&l1d->tags, key)) return &c->l1d_fail_ways;
    if (!port_has_room(port, MEM_CLIENT_L1D, MISS_AND_VICTIM)) return &c->l1d_fail_queue;
    if (mshr_is_full(&l1d->mshr)) return &c->l1d_fail_mshrs;
    if (needs_way) reserve(l1d, sm, port, lookup, key, sectors, &place);
    else if (place != TAG_NONE) tag_array_expect(&l1d->tags, place, sectors);
    request(l1d, sm, port, lookup, key, waiter);
    return NULL;
}

/* Looks up a load. Returns NULL if it leaves the queue, else the counter of the refusal. */
ALWAYS uint64_t *load(SmL1d *l1d, SmContext *sm, SmPort *port, SmLookup *lookup) {
    Counters *c = &sm->counters;
    uint64_t key = lookup->access.address & ~(uint64_t)(l1d->fill_bytes - 1);
    uint8_t sectors = tag_array_sector(&l1d->tags, key);
    int32_t place;
    TagResult result = tag_array_probe_again(&l1d->tags, key, sectors, &l1d->hint, &place);
    int32_t entry = result == TAG_HIT ? MSHR_NONE : mshr_find(&l1d->mshr, key);
    if (result == TAG_HIT) {
        touch(l1d, lookup, place);
        count_hit(l1d, sm, lookup, place);
        note_lookup(l1d, sm, lookup, PROFILE_l1d_hits);
        notify(sm, TYTO_EVENT_L1D_HIT, lookup, &l1d->fillers[place], key, place, false);
        if (has_prefetcher(l1d)) l1d_policy_hit(l1d, sm, place, sectors);
        tell_listener(sm, key);
        data_hit(l1d, sm, lookup->inst);
    } else if (entry != MSHR_NONE) {
        if (!port_has_room(port, MEM_CLIENT_L1D, MISS_AND_VICTIM)) return &c->l1d_fail_queue;
        if (!mshr_has_place(&l1d->mshr)) return &c->l1d_fail_mshrs;
        if (!mshr_can_merge(&l1d->mshr, entry)) return &c->l1d_fail_merges;
        mshr_merge(&l1d->mshr, entry, lookup->inst);
        if (place != TAG_NONE) touch(l1d, lookup, place);
        c->l1d_pending_hits++;
        note_lookup(l1d, sm, lookup, PROFILE_l1d_pending_hits);
        notify(sm, TYTO_EVENT_L1D_MISS, lookup, NULL, key, place, true);
        if (has_prefetcher(l1d)) l1d_policy_joined(l1d, sm, entry, key);
        tell_listener(sm, key);
    } else {
        if (__builtin_expect(sm->policy.shapes_l1d, false) && place == TAG_NONE)
            l1d_policy_insert(sm, lookup, key);
        uint64_t *refusal = try_request(l1d, sm, port, lookup, key, sectors, place, lookup->inst);
        if (refusal) return refusal;
        c->l1d_misses++;
        c->l1d_load_misses++;
        note_lookup(l1d, sm, lookup, PROFILE_l1d_misses);
        notify(sm, TYTO_EVENT_L1D_MISS, lookup, NULL, key, place, false);
        tell_listener(sm, key);
    }
    c->l1d_accesses++;
    c->l1d_load_accesses++;
    record(l1d, sm, L1D_LOAD, lookup, result != TAG_HIT && entry == MSHR_NONE);
    return NULL;
}

bool l1d_prefetch_for_policy(SmL1d *l1d, SmContext *sm, SmPort *port, uint64_t key) {
    const uint8_t sectors = tag_array_sector(&l1d->tags, key);
    const SmLookup lookup = {.access = {.address = key, .pc = SM_NO_PC},
                             .serial = UINT32_MAX,
                             .warp = (uint8_t)bits_lowest64(sm->view.resident),
                             .is_policy = true,
                             .pc = TYTO_NO_PC};
    const int32_t place = tag_array_find(&l1d->tags, key);
    return !try_request(l1d, sm, port, &lookup, key, sectors, place, SM_NONE);
}

/* Handles a prefetch, which always leaves the queue at once: if there is no room it does
 * nothing. */
__attribute__((noinline)) static uint64_t *prefetch(SmL1d *l1d, SmContext *sm, SmPort *port,
                                                    const SmLookup *lookup) {
    Counters *c = &sm->counters;
    uint64_t key = lookup->access.address & ~(uint64_t)(l1d->fill_bytes - 1);
    uint8_t sectors = tag_array_sector(&l1d->tags, key);
    int32_t place;
    TagResult result = tag_array_probe_again(&l1d->tags, key, sectors, &l1d->hint, &place);
    bool is_pending = result != TAG_HIT && mshr_find(&l1d->mshr, key) != MSHR_NONE;
    if (result != TAG_HIT && !is_pending &&
        try_request(l1d, sm, port, lookup, key, sectors, place, SM_NONE))
        return NULL;
    if (place != TAG_NONE) touch(l1d, lookup, place);
    c->l1d_accesses++;
    if (result == TAG_HIT) count_hit(l1d, sm, lookup, place);
    else if (is_pending) c->l1d_pending_hits++;
    else c->l1d_misses++;
    note_lookup(l1d, sm, lookup,
                result == TAG_HIT ? PROFILE_l1d_hits
                : is_pending      ? PROFILE_l1d_pending_hits
                                  : PROFILE_l1d_misses);
    record(l1d, sm, L1D_LOAD, lookup, result != TAG_HIT && !is_pending);
    return NULL;
}

/* ---- Stores ---- */

static void store_absorbed(SmContext *sm, const SmLookup *lookup) {
    events_post(&sm->events, SM_EVENT_STORE_DONE, lookup->warp);
}

/* A store that allocates its line in a write-back cache. */
__attribute__((noinline)) static uint64_t *store_allocate(SmL1d *l1d, SmContext *sm, SmPort *port,
                                                          const SmLookup *lookup, uint64_t key,
                                                          uint8_t sectors, int32_t place,
                                                          bool requests) {
    Counters *c = &sm->counters;
    if (requests) {
        uint64_t *refusal = try_request(l1d, sm, port, lookup, key, sectors, place, SM_NONE);
        if (refusal) return refusal;
        place = tag_array_find(&l1d->tags, key);
    } else if (place == TAG_NONE) {
        if (!port_has_room(port, MEM_CLIENT_L1D, 1)) return &c->l1d_fail_queue;
        if (!reserve(l1d, sm, port, lookup, key, 0, &place)) return &c->l1d_fail_ways;
    }
    if (place != TAG_NONE) tag_array_write(&l1d->tags, place, sectors);
    store_absorbed(sm, lookup);
    return NULL;
}

/* The bytes of its sector that a store changes, one bit each; *is_whole: whether it changes all of
 * them. */
static uint64_t bytes_written(const SmL1d *l1d, const SmAccess *access, uint64_t key,
                              bool *is_whole) {
    uint64_t all = bits_low_mask((int)l1d->fill_bytes);
    uint64_t bytes = access->written ? (uint64_t)(access->written << (access->address - key))
                                     : bits_low_mask((int)access->bytes) << (access->address - key);
    *is_whole = (bytes & all) == all;
    return bytes & all;
}

/* A store that validates its sector without requesting it, and is also sent to L2. */
static uint64_t *store_through(SmL1d *l1d, SmContext *sm, SmPort *port, const SmLookup *lookup,
                               uint64_t key, uint8_t sectors, int32_t place) {
    Counters *c = &sm->counters;
    bool is_whole;
    uint64_t bytes = bytes_written(l1d, &lookup->access, key, &is_whole);
    if (!port_has_room(port, MEM_CLIENT_L1D, 1)) return &c->l1d_fail_queue;
    if (place != TAG_NONE) touch(l1d, lookup, place);
    else if (!reserve(l1d, sm, port, lookup, key, 0, &place)) return &c->l1d_fail_ways;
    if (is_whole) tag_array_write(&l1d->tags, place, sectors);
    else tag_array_write_bytes(&l1d->tags, place, (uint32_t)bits_lowest32(sectors), bytes);
    send_write(port, &lookup->access, lookup->warp, lookup->warp);
    return NULL;
}

/* What a store with the lookup result `result` does to its line. A store that is sent to L2 leaves
 * a pending line alone, whatever the policy. */
static L1dKind kind_of_store(TagResult result, WritePolicy policy, WriteAllocate allocate) {
    if (policy == WRITE_BACK) return allocate == ALLOCATE_NONE ? L1D_STORE_USE : L1D_STORE_ALLOCATE;
    if (policy == WRITE_THROUGH && allocate == ALLOCATE_VALIDATE) return L1D_STORE_ALLOCATE;
    return policy == WRITE_EVICT && result != TAG_PENDING ? L1D_STORE_EVICT : L1D_STORE_PASS;
}

/* Drops the line of a store that is sent to L2. If other sectors of the line are pending, drops
 * only the store's sectors. */
static void drop_line(SmL1d *l1d, SmContext *sm, const SmLookup *lookup, uint64_t key,
                      uint8_t sectors, int32_t place) {
    if (l1d->tags.lines[place].pending) {
        tag_array_drop(&l1d->tags, place, sectors);
        return;
    }
    notify(sm, TYTO_EVENT_L1D_EVICTED, lookup, &l1d->fillers[place], key, place, false);
    if (has_prefetcher(l1d)) l1d_policy_gone(l1d, sm, place, tag_array_address(&l1d->tags, place));
    tag_array_invalidate(&l1d->tags, place);
    count_eviction(l1d, sm, key);
}

__attribute__((noinline)) static uint64_t *store(SmL1d *l1d, SmContext *sm, SmPort *port,
                                                 const SmLookup *lookup) {
    const CacheConfig *config = l1d->config;
    Counters *c = &sm->counters;
    WritePolicy policy = lookup->is_local ? config->local_write : config->write;
    WriteAllocate allocate =
        lookup->is_local ? config->local_write_allocate : config->write_allocate;
    uint64_t key = lookup->access.address & ~(uint64_t)(l1d->fill_bytes - 1);
    uint8_t sectors = tag_array_sector(&l1d->tags, key);
    int32_t place;
    TagResult result = tag_array_probe_again(&l1d->tags, key, sectors, &l1d->hint, &place);
    bool is_there = result == TAG_HIT || result == TAG_PENDING;
    bool is_taken = place != TAG_NONE && (l1d->tags.lines[place].dirty & sectors);
    bool stays = policy == WRITE_BACK && (is_there || allocate != ALLOCATE_NONE);
    if (stays && is_there) {
        tag_array_write(&l1d->tags, place, sectors);
        touch(l1d, lookup, place);
        store_absorbed(sm, lookup);
    } else if (stays) {
        uint64_t *refusal =
            store_allocate(l1d, sm, port, lookup, key, sectors, place, allocate == ALLOCATE_FETCH);
        if (refusal) return refusal;
    } else if (policy == WRITE_THROUGH && allocate == ALLOCATE_VALIDATE) {
        uint64_t *refusal = store_through(l1d, sm, port, lookup, key, sectors, place);
        if (refusal) return refusal;
        if (result == TAG_SECTOR_MISS && is_taken) result = TAG_HIT; /* written in part before */
    } else {
        if (place == TAG_NONE && sm->config->l1d_own.stores_need_way &&
            !tag_array_can_reserve(&l1d->tags, key))
            return &c->l1d_fail_ways;
        if (!port_has_room(port, MEM_CLIENT_L1D, 1)) return &c->l1d_fail_queue;
        send_write(port, &lookup->access, lookup->warp, lookup->warp);
    }
    if (result == TAG_HIT) count_hit(l1d, sm, lookup, place);
    else if (result == TAG_PENDING) c->l1d_pending_hits++;
    else c->l1d_misses++;
    note_lookup(l1d, sm, lookup,
                result == TAG_HIT       ? PROFILE_l1d_hits
                : result == TAG_PENDING ? PROFILE_l1d_pending_hits
                                        : PROFILE_l1d_misses);
    if (result == TAG_HIT && policy == WRITE_EVICT) drop_line(l1d, sm, lookup, key, sectors, place);
    if (!stays) notify(sm, TYTO_EVENT_L1D_STORED, lookup, NULL, key, TAG_NONE, false);
    c->l1d_accesses++;
    record(l1d, sm, kind_of_store(result, policy, allocate), lookup,
           stays && !is_there && allocate == ALLOCATE_FETCH);
    return NULL;
}

/* Handles an access with a perfect L1: it hits, and nothing leaves the SM. */
static uint64_t *hit_always(SmL1d *l1d, SmContext *sm, const SmLookup *lookup) {
    if (lookup->is_prefetch) return NULL;
    sm->counters.l1d_accesses++;
    sm->counters.l1d_hits++;
    sm->counters.l1d_intra_warp_hits++;
    if (context_is_profiled(sm))
        sm_profile_count(sm->profile, lookup->access.pc, PROFILE_l1d_hits, 1);
    if (lookup->is_store) {
        store_absorbed(sm, lookup);
    } else {
        sm->counters.l1d_load_accesses++;
        access_complete(sm, lookup->inst);
    }
    record(l1d, sm, lookup->is_store ? L1D_STORE_PASS : L1D_LOAD, lookup, false);
    return NULL;
}

/* ---- Sends, fills, flushes, the cycle ---- */

void l1d_send_miss(SmL1d *l1d, SmContext *sm, SmPort *port) {
    if (port_step_misses(port, sm, MEM_CLIENT_L1D)) l1d->freed |= SM_FREED_PLACE;
}

void l1d_pop_return(SmL1d *l1d) {
    const bool had_place = mshr_has_place(&l1d->mshr);
    mshr_pop(&l1d->mshr);
    l1d->has_return = mshr_has_ready(&l1d->mshr);
    if (!had_place || !mshr_is_full(&l1d->mshr)) l1d->freed |= SM_FREED_MSHR;
}

/* Whether the head of any bank was refused in the set of `key`. */
static bool is_refused_in_set(const SmL1d *l1d, uint64_t key) {
    if (!l1d->refusing) return false;
    uint32_t set = tag_array_base(&l1d->tags, key);
    for (uint32_t left = l1d->refusing; left; left &= left - 1)
        if (l1d->banks[bits_lowest32(left)].set == set) return true;
    return false;
}

/* Reports to the policy that a line or sector arrived. The request holds the warp that first asked
 * for it. */
__attribute__((noinline)) static void tell_filled(const SmL1d *l1d, SmContext *sm,
                                                  const MemRequest *request, int32_t entry,
                                                  int32_t place) {
    const bool is_policy = l1d_policy_is_prefetch(l1d, entry);
    const SmFiller filler = {.pc = l1d->asking[entry].pc,
                             .warp = is_policy ? SM_NO_WARP : request->warp};
    tell_policy(sm, TYTO_EVENT_L1D_FILLED,
                &(SmLookup){.warp = request->warp, .is_policy = true, .pc = filler.pc}, &filler,
                port_line_of(request), place, false);
}

void l1d_line_arrived(SmL1d *l1d, SmContext *sm, SmPort *port, const MemRequest *request) {
    uint64_t key = port_line_of(request);
    uint8_t sectors = tag_array_sector(&l1d->tags, key);
    int32_t place = tag_array_find(&l1d->tags, key);
    const int32_t entry = mshr_find(&l1d->mshr, key);
    sm->counters.l1d_fills++;
    record(l1d, sm, L1D_FILL, &(SmLookup){.access.address = key}, false);
    if (is_refused_in_set(l1d, key)) l1d->freed |= SM_FREED_LINE;
    if (place == TAG_NONE && l1d->config->allocate == CACHE_ALLOCATE_ON_FILL &&
        request->l1_priority != PRIORITY_NO_ALLOCATE &&
        (!l1d->writes_back || port_has_room(port, MEM_CLIENT_L1D, 1))) {
        SmLookup lookup = {
            .access = {.lanes = l1d->asking[entry].lanes, .priority = {request->l1_priority, 0}},
            .serial = (uint32_t)sm->view.warp[request->warp].age,
            .pc = l1d->asking[entry].pc,
            .warp = request->warp,
            .is_policy = l1d_policy_is_prefetch(l1d, entry)};
        reserve(l1d, sm, port, &lookup, key, 0, &place);
        l1d->freed = SM_FREED_ALL; /* the victim may have needed what the head waits for */
    }
    if (place != TAG_NONE) tag_array_fill(&l1d->tags, place, sectors);
    mshr_complete(&l1d->mshr, entry);
    l1d->has_return = true;
    if (sched_agent_wants(&sm->policy, TYTO_EVENT_L1D_FILLED))
        tell_filled(l1d, sm, request, entry, place);
    if (has_prefetcher(l1d)) l1d_policy_arrived(l1d, sm, entry, place, sectors, key);
}

static void flush_step(SmL1d *l1d, SmContext *sm, SmPort *port) {
    int32_t place = TAG_NONE;
    while (l1d->writes_back && port_has_room(port, MEM_CLIENT_L1D, 1) &&
           (place = tag_array_next_dirty(&l1d->tags, 0)) != TAG_NONE) {
        write_back(l1d, sm, port, tag_array_address(&l1d->tags, place),
                   l1d->tags.lines[place].dirty, SM_NO_WARP);
        tag_array_clean(&l1d->tags, place, UINT8_MAX);
    }
    if (l1d->writes_back && tag_array_next_dirty(&l1d->tags, 0) != TAG_NONE) return;
    if (has_prefetcher(l1d)) l1d_policy_flushed(l1d, sm);
    tag_array_invalidate_all(&l1d->tags);
    if (l1d->ways != l1d->tags.ways) tag_array_set_ways(&l1d->tags, l1d->ways);
    l1d->is_flushing = false;
    l1d->freed = SM_FREED_ALL;
}

void l1d_flush(SmL1d *l1d, SmContext *sm, SmPort *port) {
    l1d->is_flushing = true;
    record(l1d, sm, L1D_FLUSH, &(SmLookup){.serial = 0}, false);
    flush_step(l1d, sm, port);
}

/* What can end a refusal, as SmFreed bits. Within a bank only the head takes lines, MSHRs and
 * places of the miss queue, so what it found free stays free. (MSHRs that other caches share are
 * the exception; those caches report when they free one.) Accesses of other banks can only make the
 * head wait longer, unless they bring its line. A line that arrives matters only in the head's set:
 * it is the head's own line, or it frees a way there. */
static uint8_t ends_refusal(const uint64_t *refusal, const Counters *c) {
    if (refusal == &c->l1d_fail_mshrs) return SM_FREED_MSHR;
    if (refusal == &c->l1d_fail_queue) return SM_FREED_PLACE | SM_FREED_LINE;
    return SM_FREED_LINE | SM_FREED_OTHER;
}

static void count_refusal(SmL1dBank *bank, uint64_t cycle) {
    if (bank->refusal) *bank->refusal += cycle - bank->counted;
    bank->counted = cycle;
}

void l1d_settle(SmL1d *l1d, uint64_t cycle) {
    for (uint32_t left = l1d->refusing; left; left &= left - 1)
        count_refusal(&l1d->banks[bits_lowest32(left)], cycle);
}

/* Removes the head of a bank after the L1D accepted it. */
static inline void taken(SmL1d *l1d, uint32_t index, uint64_t cycle, bool has_hit) {
    SmL1dBank *bank = &l1d->banks[index];
    bank->head = (uint16_t)sm_ring_place(bank->head + 1u, l1d->capacity);
    if (--bank->count == 0) l1d->filled &= ~(1u << index);
    bank->next_lookup = cycle + (has_hit ? l1d->interval : l1d->miss_interval);
    for (uint32_t left = l1d->refusing; left; left &= left - 1)
        l1d->banks[bits_lowest32(left)].freed |= SM_FREED_OTHER;
}

/* Looks up the head of a bank's queue, which must not be empty. */
static void look_up_head(SmL1d *l1d, SmContext *sm, SmPort *port, uint32_t index) {
    SmL1dBank *bank = &l1d->banks[index];
    SmLookup *lookup = &bank->queue[bank->head];
    uint64_t hits = sm->counters.l1d_hits;
    uint64_t *refusal = sm->env.is_l1_perfect ? hit_always(l1d, sm, lookup)
                        : lookup->is_prefetch ? prefetch(l1d, sm, port, lookup)
                        : lookup->is_store    ? store(l1d, sm, port, lookup)
                                              : load(l1d, sm, port, lookup);
    if (refusal != bank->refusal) count_refusal(bank, sm->cycle);
    bank->refusal = refusal;
    bank->freed = 0;
    l1d->refusing &= ~(1u << index);
    if (!refusal) {
        taken(l1d, index, sm->cycle, sm->counters.l1d_hits != hits);
        return;
    }
    l1d->refusing |= 1u << index;
    bank->needs = ends_refusal(refusal, &sm->counters);
    bank->set = tag_array_base(&l1d->tags, lookup->access.address);
}

void l1d_do_step(SmL1d *l1d, SmContext *sm, SmPort *port) {
    if (l1d->is_flushing) {
        flush_step(l1d, sm, port);
        return;
    }
    for (uint32_t left = l1d->refusing; left; left &= left - 1)
        l1d->banks[bits_lowest32(left)].freed |= l1d->freed;
    l1d->freed = 0;
    uint64_t next = UINT64_MAX;
    for (uint32_t left = l1d->filled; left; left &= left - 1) {
        const uint32_t index = (uint32_t)bits_lowest32(left);
        const SmL1dBank *bank = &l1d->banks[index];
        uint64_t event = next_of_bank(bank);
        if (event <= sm->cycle) {
            look_up_head(l1d, sm, port, index);
            event = bank->count ? next_of_bank(bank) : UINT64_MAX;
        }
        if (event < next) next = event;
    }
    if (l1d->refusing) { /* a later bank may have freed what an earlier one needs */
        plan_lookups(l1d);
        return;
    }
    l1d->next = next;
    l1d->needed = 0;
}

void l1d_look_up(SmL1d *l1d, SmContext *sm, SmPort *port, uint32_t bank) {
    if (!l1d->is_flushing && next_of_bank(&l1d->banks[bank]) <= sm->cycle)
        look_up_head(l1d, sm, port, bank);
    plan_lookups(l1d);
}
