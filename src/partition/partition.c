/* The connection between the slices and the DRAM channel, and the partition as a whole. */
#include "partition/partition.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { NO_ACCESS = UINT16_MAX + 1 }; /* no record of `accesses`; at most 65536 credits exist */

/* ---- construction ---- */

static void init_credits(Partition *partition, Arena *arena) {
    uint32_t slices = partition->slice_count, credits = partition->environment.config->dram_credits;
    if (credits < slices) credits = slices;
    partition->shared_credits = credits - slices;
    partition->accesses = ARENA_ARRAY(arena, PartitionAccess, credits);
    for (uint32_t i = 0; i < credits; i++)
        partition->accesses[i].next = i + 1 < credits ? i + 1 : NO_ACCESS;
    partition->line = ring_make(credits);
    partition->line_accesses = ARENA_ARRAY(arena, uint32_t, ring_places(&partition->line));
}

uint32_t partition_prefetch_bytes(const PartitionConfig *config, const DramConfig *dram) {
    uint32_t burst = dram->bus_bytes * dram->burst_length;
    uint32_t piece = burst < config->l2.line_bytes ? burst : config->l2.line_bytes;
    return piece > config->l2_sector_bytes ? piece : config->l2_sector_bytes;
}

void partition_set_prefetch(const PartitionConfig *config, const AddressMap *map,
                            DramConfig *dram) {
    dram->prefetch.map = map;
    dram->prefetch.line_bytes = partition_prefetch_bytes(config, dram);
    if (!config->has_l2) dram->prefetch.scheme = DRAM_PREFETCH_NONE;
}

static bool is_cached(const void *cache, uint64_t address) {
    const Partition *partition = cache;
    const AddressMap *map = partition->environment.map;
    uint32_t slice =
        address_map_slice(map, address) - partition->environment.channel * partition->slice_count;
    return slice_has(&partition->slices[slice], address_map_local(map, address));
}

/* Finds the bits of the network's mask that show packets waiting for the slices. */
static void find_nodes(Partition *partition) {
    uint32_t word = partition->first_node / 64,
             end = partition->first_node + partition->slice_count;
    partition->arrivals = &partition->arrived[word];
    for (uint32_t node = partition->first_node; node < end; node++)
        partition->node_mask[node / 64 - word] |= UINT64_C(1) << node % 64;
}

static void init_coalescers(Partition *partition) {
    const PartitionEnvironment *environment = &partition->environment;
    for (uint32_t i = 0; i < partition->slice_count; i++)
        partition->slices[i].coalescer = coalescer_new(
            &(CoalescerEnvironment){.config = &environment->config->coalescer,
                                    .pools = environment->pools,
                                    .sm_groups = environment->sm_groups,
                                    .counters = &partition->slice_counters[i].of,
                                    .ports = environment->first_node,
                                    .sector_bytes = environment->config->l2_sector_bytes},
            partition->arena);
}

Partition *partition_new(const PartitionEnvironment *environment) {
    Arena *arena = arena_new_on(environment->pages);
    Partition *partition = arena_alloc_aligned(arena, sizeof *partition, 64);
    const PartitionConfig *config = environment->config;
    partition->arena = arena;
    partition->environment = *environment;
    partition->slice_count = config->slices;
    partition->first_node = environment->first_node + environment->channel * config->slices;
    partition->arrived = noc_ready_mask(environment->requests);
    find_nodes(partition);
    partition->dram = *environment->dram;
    partition->environment.dram = &partition->dram;
    partition_set_prefetch(config, environment->map, &partition->dram);
    partition->dram.prefetch.is_cached = is_cached;
    partition->dram.prefetch.cache = partition;
    partition->channel = dram_new(&partition->dram, &partition->counters, arena);
    dram_share_bus(partition->channel, environment->bus);
    init_credits(partition, arena);
    if (environment->counts_row_sharing)
        row_sharing_init(&partition->rows, ROW_SHARING_AT_DRAM, arena);
    for (uint32_t i = 0; i < config->slices; i++)
        slice_init(&partition->slices[i], &partition->environment, i,
                   &partition->slice_counters[i].of, arena);
    init_coalescers(partition);
    return partition;
}

void partition_join_halves(Partition *const *partitions, uint32_t count) {
    const PartitionEnvironment *environment = &partitions[0]->environment;
    const PartitionConfig *config = environment->config;
    if (config->halves < 2 || !config->has_l2 || environment->is_l2_perfect) return;
    RemoteL2Link *links = ARENA_ARRAY(partitions[0]->arena, RemoteL2Link, 2);
    for (int half = 0; half < 2; half++)
        links[half] =
            (RemoteL2Link){.bandwidth = config->far_link_bytes, .latency = config->far_latency};
    uint32_t half_slices = count * config->slices / 2;
    for (uint32_t i = 0; i < 2 * half_slices; i++) {
        uint32_t half = i / half_slices, other = half ? i - half_slices : i + half_slices;
        Partition *owner = partitions[i / config->slices];
        Partition *there = partitions[other / config->slices];
        slice_join(&owner->slices[i % config->slices], &there->slices[other % config->slices],
                   &links[half], &there->wake_cycle, owner->arena);
    }
}

void partition_free(Partition *partition) {
    if (partition) arena_free(partition->arena);
}

/* ---- the L2 clock ---- */

/* Sends a reply packet for a request. Returns false if the network has no room. */
static inline bool send_packet(Partition *partition, const Slice *slice, uint32_t handle,
                               uint32_t bytes) {
    const uint32_t port = endpoint_node(mem_source(handle), partition->environment.first_node);
    if (!noc_try_inject(partition->environment.replies, (int)slice->node, (int)port, (int)bytes,
                        handle))
        return false;
    partition->owed--;
    return true;
}

/* Sends copies of the reply to the reads that were merged with its own, as far as the network has
 * room. Returns whether all have been sent. */
static bool send_copies(Partition *partition, const Slice *slice, CoalescerEntry *entry,
                        const SliceReply *reply, uint64_t cycle) {
    while (entry->sent + 1 < entry->count) {
        if (!send_packet(partition, slice, entry->reads[entry->sent], reply->bytes)) return false;
        coalescer_sent_copy(slice->coalescer, entry, cycle, reply->dram_cycles);
    }
    return true;
}

/* Sends the oldest reply if the network has room. */
static inline void send_reply(Partition *partition, Slice *slice, uint64_t cycle) {
    const SliceReply *reply = &slice->reply_packets[ring_front(&slice->replies)];
    CoalescerEntry *const entry =
        slice->coalescer ? coalescer_reply(slice->coalescer, reply->handle) : NULL;
    if (entry && !send_copies(partition, slice, entry, reply, cycle)) return;
    if (!send_packet(partition, slice, reply->handle, reply->bytes)) return;
    slice_pop_reply(slice, cycle);
    if (entry) coalescer_end_reply(slice->coalescer, entry);
}

static inline void take_packet(Partition *partition, Slice *slice, uint64_t cycle) {
    Noc *network = partition->environment.requests;
    uint32_t handle;
    if (!slice_can_take(slice) || !noc_take(network, (int)slice->node, &handle)) return;
    partition->owed += mem_replies(mem_request(&partition->environment.pools, handle));
    slice_take(slice, cycle, handle);
}

/* The same with a coalescer. A read that joins another needs no room in the slice. A write or an
 * atomic also closes the entries of the other half, whose copy it will drop. */
static void take_coalesced(Partition *partition, Slice *slice, uint64_t cycle) {
    Noc *network = partition->environment.requests;
    uint32_t handle;
    if (!noc_peek(network, (int)slice->node, &handle)) return;
    const MemRequest *request = mem_request(&partition->environment.pools, handle);
    const bool has_joined = coalescer_join(slice->coalescer, cycle, handle);
    if (!has_joined && !slice_can_take(slice)) return;
    noc_pop(network, (int)slice->node);
    partition->owed += mem_replies(request);
    if (has_joined) return;
    coalescer_pass(slice->coalescer, cycle, handle);
    if (slice->far && request->op != MEM_OP_READ)
        coalescer_close(slice->far->peer->coalescer, request);
    slice_take(slice, cycle, handle);
}

/* Handles a slice that has given DRAM something to do. */
static void hear_slice(Partition *partition, Slice *slice) {
    slice->has_moved_dram = false;
    if (slice_has_access(slice))
        partition->dram_slices |= UINT32_C(1) << (slice->node - partition->first_node);
    partition->wake_tick = 0;
}

void partition_do_l2_cycle(Partition *partition, uint64_t cycle) {
    uint64_t next = UINT64_MAX;
    Slice *const end = partition->slices + partition->slice_count;
    for (Slice *slice = partition->slices; slice < end; slice++) {
        if (slice->replies.count) send_reply(partition, slice, cycle);
        if (bits_get(partition->arrived, slice->node)) {
            if (slice->coalescer) take_coalesced(partition, slice, cycle);
            else take_packet(partition, slice, cycle);
        }
        if (cycle >= slice->wake) {
            slice_cycle(slice, cycle);
            if (slice->has_moved_dram) hear_slice(partition, slice);
        }
        const uint64_t wake = slice->replies.count ? cycle : slice->wake;
        if (wake < next) next = wake;
    }
    partition->wake_cycle = next;
}

/* ---- the DRAM clock ---- */

static void rouse(Partition *partition, const Slice *slice) {
    if (slice->wake < partition->wake_cycle) partition->wake_cycle = slice->wake;
}

static bool has_credit(const Partition *partition, uint32_t slice) {
    return !partition->held[slice] || partition->shared_credits;
}

static uint32_t take_credit(Partition *partition, uint32_t slice) {
    if (partition->held[slice]++) partition->shared_credits--;
    uint32_t index = partition->free_access;
    partition->free_access = partition->accesses[index].next;
    return index;
}

static void give_credit_back(Partition *partition, uint32_t index) {
    PartitionAccess *access = &partition->accesses[index];
    if (--partition->held[access->slice]) partition->shared_credits++;
    access->next = partition->free_access;
    partition->free_access = index;
}

/* The slice that the data of a reply belong to. */
static uint32_t slice_of_reply(const Partition *partition, const DramReply *reply) {
    if (!reply->is_prefetch) return partition->accesses[reply->handle].slice;
    uint32_t slice = address_map_slice(partition->environment.map, reply->address);
    return slice - partition->environment.channel * partition->slice_count;
}

/* The oldest reply, if its slice has room for it; else NULL. */
static const DramReply *movable_reply(const Partition *partition, uint32_t *slice) {
    const DramReply *reply = dram_peek_reply(partition->channel);
    if (!reply) return NULL;
    *slice = slice_of_reply(partition, reply);
    return ring_is_full(&partition->slices[*slice].from_dram) ? NULL : reply;
}

/* Turns the read of an atomic, whose data have arrived, into the write of its result. The access
 * keeps its credit and goes to the end of the delay line, which has a place for every credit. So an
 * atomic never waits for a queue that is blocked by its own data. */
static void write_result(Partition *partition, uint32_t index, uint64_t cycle) {
    PartitionAccess *access = &partition->accesses[index];
    access->access.is_atomic = false;
    access->access.is_write = true;
    access->time = cycle;
    partition->line_accesses[ring_push(&partition->line)] = index;
}

static void return_data(Partition *partition, uint64_t tick, uint64_t cycle) {
    uint32_t index;
    if (!movable_reply(partition, &index)) return;
    DramReply reply;
    dram_pop_reply(partition->channel, &reply);
    DramReturn data = {
        .address = reply.address, .is_prefetch = reply.is_prefetch, .is_write = reply.is_write};
    if (!reply.is_prefetch) {
        PartitionAccess *access = &partition->accesses[reply.handle];
        data.token = access->access.token;
        data.times = (DramTimes){
            .entered = access->time,
            .cycles = (uint32_t)(cycle - access->time),
            .queue_ticks = reply.waited,
            .dram_ticks = (uint32_t)(tick - reply.arrival) - reply.waited,
        };
        if (access->access.is_atomic) write_result(partition, reply.handle, cycle);
        else give_credit_back(partition, reply.handle);
    }
    Slice *slice = &partition->slices[index];
    slice_push_return(slice, &data);
    rouse(partition, slice);
}

/* The slice whose access may enter the delay line; slice_count if there is none. */
static uint32_t slice_to_serve(const Partition *partition) {
    uint32_t count = partition->slice_count;
    if (!partition->dram_slices || !dram_can_accept(partition->channel)) return count;
    uint32_t slice = partition->last_served;
    for (uint32_t i = 0; i < count; i++) {
        if (++slice == count) slice = 0;
        if (partition->dram_slices >> slice & 1 && has_credit(partition, slice)) return slice;
    }
    return count;
}

static void serve_slice(Partition *partition, uint64_t cycle) {
    uint32_t index = slice_to_serve(partition);
    if (index == partition->slice_count) return;
    Slice *slice = &partition->slices[index];
    uint32_t access = take_credit(partition, index);
    partition->accesses[access] = (PartitionAccess){
        .access = slice_pop_access(slice),
        .time = cycle + partition->environment.config->dram_latency,
        .slice = index,
    };
    partition->line_accesses[ring_push(&partition->line)] = access;
    partition->last_served = index;
    if (!slice_has_access(slice)) partition->dram_slices &= ~(UINT32_C(1) << index);
    rouse(partition, slice);
}

/* The access at the head of the delay line; NULL if the line is empty. */
static PartitionAccess *line_head(const Partition *partition) {
    if (!partition->line.count) return NULL;
    return &partition->accesses[partition->line_accesses[ring_front(&partition->line)]];
}

static void enter_controller(Partition *partition, uint64_t tick, uint64_t cycle) {
    PartitionAccess *head = line_head(partition);
    if (!head) return;
    if ((head->time > cycle) | !dram_can_accept(partition->channel)) return;
    const DramAccess *access = &head->access;
    DramPlace place = address_map_place(partition->environment.map, access->address);
    dram_push(partition->channel, tick + 1,
              &(DramRequest){
                  .address = access->address,
                  .handle = partition->line_accesses[ring_pop(&partition->line)],
                  .row = place.row,
                  .column = (uint16_t)place.column,
                  .bytes = access->bytes,
                  .bank = (uint8_t)place.bank,
                  .is_write = access->is_write,
                  .is_awaited = access->is_awaited,
                  .has_mask = access->is_store,
                  .requester = access->requester,
              });
    head->time = cycle;
    if (partition->rows.rows && !access->is_write && access->cta != SLICE_NO_CTA)
        row_sharing_read(&partition->rows,
                         row_sharing_key(place.row, place.bank, partition->dram.banks), access->cta,
                         &partition->counters);
}

/* Determines when the next tick has something to do. The channel and the slices themselves announce
 * changes that only they can make. */
static void plan_next_tick(Partition *partition, uint64_t tick) {
    uint32_t slice;
    const PartitionAccess *head = line_head(partition);
    bool can_enter = head && dram_can_accept(partition->channel);
    partition->wake_tick_cycle = can_enter ? head->time : UINT64_MAX;
    bool is_due = slice_to_serve(partition) < partition->slice_count ||
                  movable_reply(partition, &slice) || partition->environment.never_sleeps;
    partition->wake_tick = is_due ? tick + 1 : dram_next_event(partition->channel);
}

void partition_do_dram_tick(Partition *partition, uint64_t tick, uint64_t cycle) {
    uint32_t written;
    if (dram_peek_reply(partition->channel)) return_data(partition, tick, cycle);
    dram_step(partition->channel, tick);
    if (dram_take_written(partition->channel, &written)) give_credit_back(partition, written);
    if (partition->dram_slices) serve_slice(partition, cycle);
    if (partition->line.count) enter_controller(partition, tick, cycle);
    plan_next_tick(partition, tick);
}

/* ---- statistics ---- */

void partition_settle(Partition *partition, uint64_t tick, uint64_t cycle) {
    for (uint32_t i = 0; i < partition->slice_count; i++)
        slice_settle(&partition->slices[i], cycle);
    dram_settle(partition->channel, tick);
}

Counters partition_counters(const Partition *partition) {
    Counters sum = partition->counters;
    for (uint32_t i = 0; i < partition->slice_count; i++)
        counters_add(&sum, &partition->slice_counters[i].of);
    return sum;
}

void partition_begin_maxima(Partition *partition) {
    partition->counters.dram_queue_max = dram_waiting(partition->channel);
}

void partition_close_rows(Partition *partition) {
    if (!partition->rows.rows) return;
    row_sharing_close(&partition->rows, &partition->counters);
    for (uint32_t i = 0; i < partition->slice_count; i++)
        row_sharing_close(&partition->slices[i].rows, &partition->slice_counters[i].of);
}

/* ---- the contents of L2 ---- */

void partition_fill_from_host(Partition *const *partitions, uint64_t address, uint64_t bytes) {
    const PartitionEnvironment *environment = &partitions[0]->environment;
    const PartitionConfig *config = environment->config;
    if (!config->copies_fill_l2 || !bytes) return;
    uint64_t l2_sector_bytes = config->l2_sector_bytes;
    uint64_t first = address & ~(l2_sector_bytes - 1),
             last = (address + bytes - 1) & ~(l2_sector_bytes - 1);
    for (uint64_t i = 0; i <= (last - first) / l2_sector_bytes; i++) {
        uint64_t sector = first + i * l2_sector_bytes;
        uint32_t slice = address_map_slice(environment->map, sector);
        Partition *partition = partitions[slice / config->slices];
        slice_install(&partition->slices[slice % config->slices],
                      address_map_local(environment->map, sector));
    }
}

void partition_flush_l2(Partition *partition) {
    assert(partition_is_idle(partition));
    for (uint32_t i = 0; i < partition->slice_count; i++)
        slice_flush(&partition->slices[i]);
}

void partition_set_aside(Partition *partition, uint32_t ways) {
    for (uint32_t i = 0; i < partition->slice_count; i++)
        slice_set_aside(&partition->slices[i], ways);
}

void partition_forget_persisting(Partition *partition) {
    for (uint32_t i = 0; i < partition->slice_count; i++)
        slice_forget_persisting(&partition->slices[i]);
}
