/* The entries of an L2 request coalescer: which reads share one, and their replies (see the
 * header). */
#include "partition/coalescer.h"

#include "base/bits.h"

enum { NO_ENTRY = UINT32_MAX, BLOCK_SECTORS = 32 /* bits of MemRequest.sectors */ };

/* ---- construction ---- */

Coalescer *coalescer_new(const CoalescerEnvironment *environment, Arena *arena) {
    const CoalescerConfig *config = environment->config;
    if (!config->entries) return NULL;
    Coalescer *coalescer = ARENA_ARRAY(arena, Coalescer, 1);
    const uint32_t buckets = UINT32_C(1) << bits_log2_up(config->entries);
    *coalescer = (Coalescer){
        .environment = *environment,
        .entries = ARENA_ARRAY(arena, CoalescerEntry, config->entries),
        .buckets = ARENA_ARRAY(arena, uint32_t, buckets),
        .bucket_mask = buckets - 1,
        .block_shift = (uint32_t)bits_log2_up((uint64_t)environment->sector_bytes * BLOCK_SECTORS),
    };
    uint32_t *reads = ARENA_ARRAY(arena, uint32_t, (size_t)config->entries * config->requests);
    for (uint32_t i = 0; i < buckets; i++)
        coalescer->buckets[i] = NO_ENTRY;
    for (uint32_t i = 0; i < config->entries; i++) {
        coalescer->entries[i].reads = reads + (size_t)i * config->requests;
        coalescer->entries[i].next = i + 1 < config->entries ? i + 1 : NO_ENTRY;
    }
    return coalescer;
}

/* ---- entries ---- */

static uint64_t start_of(const Coalescer *coalescer, const MemRequest *request) {
    const uint32_t sector = coalescer->environment.sector_bytes;
    const uint64_t base = request->address & ~(uint64_t)(sector - 1);
    return base + (uint64_t)bits_lowest32(request->sectors) * sector;
}

static uint64_t end_of(const Coalescer *coalescer, const MemRequest *request) {
    const uint32_t sector = coalescer->environment.sector_bytes;
    const uint64_t base = request->address & ~(uint64_t)(sector - 1);
    return base + (uint64_t)(bits_highest32(request->sectors) + 1) * sector;
}

/* The sectors of a request, from its first one on. */
static uint32_t shape_of(const MemRequest *request) {
    return request->sectors >> bits_lowest32(request->sectors);
}

/* The bucket of all requests in the block of `start`. */
static uint32_t *bucket_of(const Coalescer *coalescer, uint64_t start) {
    const uint64_t block = start >> coalescer->block_shift;
    const uint64_t mixed = block * UINT64_C(0x9E3779B97F4A7C15); /* 2^64 / the golden ratio */
    return &coalescer->buckets[(mixed >> 32) & coalescer->bucket_mask];
}

static uint8_t group_of(const Coalescer *coalescer, uint32_t handle) {
    const uint8_t *groups = coalescer->environment.sm_groups;
    return groups ? groups[mem_handle_sm(handle)] : 0;
}

static MemRequest *record_of(const Coalescer *coalescer, uint32_t handle) {
    return mem_request(&coalescer->environment.pools, handle);
}

static uint32_t port_of(const Coalescer *coalescer, uint32_t handle) {
    return mem_port(mem_handle_sm(handle), coalescer->environment.ports);
}

/* Whether L2 treats the two reads alike. */
static bool have_same_hints(const MemRequest *one, const MemRequest *other) {
    return one->priority == other->priority && one->prefetch == other->prefetch;
}

/* Whether the read may join the entry. */
static bool can_join(const Coalescer *coalescer, const CoalescerEntry *entry, uint64_t cycle,
                     const MemRequest *request) {
    const CoalescerConfig *config = coalescer->environment.config;
    return entry->is_open && entry->count < config->requests &&
           (!config->window || cycle - entry->opened <= config->window) &&
           entry->start == start_of(coalescer, request) && entry->sectors == shape_of(request) &&
           entry->group == group_of(coalescer, request->handle) &&
           have_same_hints(record_of(coalescer, entry->first), request);
}

/* Adds a read in front of the first one. Ascending ports suit networks that visit their outputs in
 * this order (noc/switch.c). The first read is answered last, because its record, which describes
 * the reply, may be used again as soon as its last reply has left. */
static void add_read(const Coalescer *coalescer, CoalescerEntry *entry, uint32_t handle) {
    uint32_t place = entry->count - 1; /* of the first read, which moves up by one */
    entry->reads[entry->count++] = entry->first;
    for (; place && port_of(coalescer, entry->reads[place - 1]) > port_of(coalescer, handle);
         place--)
        entry->reads[place] = entry->reads[place - 1];
    entry->reads[place] = handle;
}

/* ---- requests ---- */

bool coalescer_join(Coalescer *coalescer, uint64_t cycle, uint32_t handle) {
    MemRequest *request = record_of(coalescer, handle);
    if (request->op != MEM_OP_READ) return false;
    CoalescerEntry *entries = coalescer->entries;
    uint32_t i = *bucket_of(coalescer, start_of(coalescer, request));
    while (i != NO_ENTRY && !can_join(coalescer, &entries[i], cycle, request))
        i = entries[i].next;
    if (i == NO_ENTRY) return false;
    add_read(coalescer, &entries[i], handle);
    request->arrived = cycle;
    coalescer->environment.counters->lrc_reads++;
    coalescer->environment.counters->lrc_merged++;
    coalescer->environment.counters->lrc_merged_sectors += mem_replies(request);
    return true;
}

static void open_entry(Coalescer *coalescer, uint64_t cycle, const MemRequest *request) {
    const uint32_t i = coalescer->free;
    if (i == NO_ENTRY) return;
    CoalescerEntry *entry = &coalescer->entries[i];
    uint32_t *bucket = bucket_of(coalescer, start_of(coalescer, request));
    coalescer->free = entry->next;
    *entry = (CoalescerEntry){
        .start = start_of(coalescer, request),
        .end = end_of(coalescer, request),
        .opened = cycle,
        .reads = entry->reads,
        .first = request->handle,
        .sectors = shape_of(request),
        .count = 1,
        .replies = mem_replies(request),
        .next = *bucket,
        .group = group_of(coalescer, request->handle),
        .is_open = true,
    };
    entry->reads[0] = request->handle;
    *bucket = i;
}

void coalescer_pass(Coalescer *coalescer, uint64_t cycle, uint32_t handle) {
    const MemRequest *request = record_of(coalescer, handle);
    if (request->op == MEM_OP_READ) {
        coalescer->environment.counters->lrc_reads++;
        coalescer->environment.counters->lrc_sent++;
        open_entry(coalescer, cycle, request);
    } else {
        coalescer_close(coalescer, request);
    }
}

void coalescer_close(Coalescer *coalescer, const MemRequest *request) {
    const uint64_t start = start_of(coalescer, request), end = end_of(coalescer, request);
    for (uint32_t i = *bucket_of(coalescer, start); i != NO_ENTRY;) {
        CoalescerEntry *entry = &coalescer->entries[i];
        if (entry->start < end && start < entry->end) entry->is_open = false;
        i = entry->next;
    }
}

/* ---- replies ---- */

CoalescerEntry *coalescer_reply(const Coalescer *coalescer, uint32_t handle) {
    const MemRequest *request = record_of(coalescer, handle);
    if (request->op != MEM_OP_READ) return NULL;
    CoalescerEntry *entries = coalescer->entries;
    uint32_t i = *bucket_of(coalescer, start_of(coalescer, request));
    while (i != NO_ENTRY && entries[i].first != handle)
        i = entries[i].next;
    if (i == NO_ENTRY) return NULL;
    entries[i].is_open = false;
    return &entries[i];
}

/* A read that joined late waited for a part of the first read's time in DRAM only; the part is
 * divided as the whole. */
void coalescer_sent_copy(const Coalescer *coalescer, CoalescerEntry *entry, uint64_t cycle,
                         uint32_t dram_cycles) {
    const MemRequest *first = record_of(coalescer, entry->first);
    MemRequest *request = record_of(coalescer, entry->reads[entry->sent++]);
    const uint64_t waited = cycle - request->arrived;
    const uint64_t ticks = (uint64_t)first->queue_ticks + first->dram_ticks;
    const uint64_t in_dram = dram_cycles < waited ? dram_cycles : waited;
    const uint64_t left = dram_cycles ? ticks * in_dram / dram_cycles : ticks;
    request->dram_ticks = (uint32_t)(left < first->dram_ticks ? left : first->dram_ticks);
    request->queue_ticks = (uint32_t)left - request->dram_ticks;
    request->l2_cycles = (uint32_t)(waited - in_dram);
    coalescer->environment.counters->lrc_copies++;
}

static void remove_entry(Coalescer *coalescer, CoalescerEntry *entry) {
    const uint32_t i = (uint32_t)(entry - coalescer->entries);
    uint32_t *link = bucket_of(coalescer, entry->start);
    while (*link != i)
        link = &coalescer->entries[*link].next;
    *link = entry->next;
    entry->next = coalescer->free;
    coalescer->free = i;
}

void coalescer_end_reply(Coalescer *coalescer, CoalescerEntry *entry) {
    entry->sent = 0;
    if (!--entry->replies) remove_entry(coalescer, entry);
}
