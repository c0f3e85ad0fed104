/* The test rig of the partitions; see rig.h. */
#include "rig.h"

#include <stdio.h>
#include <stdlib.h>

static const RigOptions no_options;

static const uint8_t sm_groups[RIG_SMS] = {0, 0, 1, 1};

static const MachineConfig *load(Rig *rig, const char *name, const char *const *settings) {
    Diag *diag = diag_new();
    const MachineConfig *config = NULL;
    rig->machine = machine_load(name, diag);
    bool is_good = rig->machine != NULL;
    for (; is_good && settings && *settings; settings++)
        is_good = machine_set(rig->machine, *settings, diag);
    if (is_good) config = machine_finish(rig->machine, diag);
    if (!config) {
        fprintf(stderr, "%s", diag_text(diag));
        exit(2);
    }
    diag_free(diag);
    return config;
}

Rig *rig_new(const char *name, const char *const *settings, const RigOptions *options) {
    if (!options) options = &no_options;
    Rig *rig = base_calloc(1, sizeof *rig);
    rig->config = *load(rig, name, settings);
    rig->config.dram.prefetch = options->prefetch;
    rig->map = machine_address_map(&rig->config);
    rig->random = UINT64_C(0x9E3779B97F4A7C15);
    const PartitionConfig *partition = &rig->config.partition;
    uint32_t channels = rig->config.partitions;
    NocConfig network =
        noc_config_default(NOC_IDEAL, (int)(RIG_SMS + channels * partition->slices));
    network.ideal_latency = 1;
    network.ejection_flits = NOC_MAX_FLITS;
    network.injection_flits = 16;
    rig->requests = noc_new(&network, NULL);
    rig->replies = noc_new(&network, NULL);
    for (uint32_t sm = 0; sm < RIG_SMS; sm++) {
        rig->pools[sm] = base_calloc(RIG_REQUESTS, sizeof(MemRequest));
        rig->free[sm] = base_calloc(RIG_REQUESTS, sizeof(uint32_t));
        rig->replies_left[sm] = base_calloc(RIG_REQUESTS, sizeof(uint32_t));
        for (uint32_t i = 0; i < RIG_REQUESTS; i++)
            rig->free[sm][rig->free_count[sm]++] = RIG_REQUESTS - 1 - i;
    }
    rig->partitions = base_calloc(channels, sizeof *rig->partitions);
    for (uint32_t i = 0; i < channels; i++)
        rig->partitions[i] = partition_new(&(PartitionEnvironment){
            .config = partition,
            .dram = &rig->config.dram,
            .map = &rig->map,
            .requests = rig->requests,
            .replies = rig->replies,
            .pools = {.pools = rig->pools},
            .sm_groups = partition->coalescer.group == COALESCER_GROUP_GPC ? sm_groups : NULL,
            .slice_bits = machine_slice_bits(&rig->config),
            .channel = i,
            .first_node = RIG_SMS,
            .header_bytes = rig->config.network.header_bytes,
            .reply_header_bytes = machine_reply_header(&rig->config),
            .is_l2_perfect = options->is_l2_perfect,
            .counts_row_sharing = true,
            .never_sleeps = options->never_sleeps,
        });
    partition_join_halves(rig->partitions, channels);
    return rig;
}

void rig_free(Rig *rig) {
    for (uint32_t i = 0; i < rig->config.partitions; i++)
        partition_free(rig->partitions[i]);
    for (uint32_t sm = 0; sm < RIG_SMS; sm++) {
        free(rig->pools[sm]);
        free(rig->free[sm]);
        free(rig->replies_left[sm]);
    }
    noc_free(rig->requests);
    noc_free(rig->replies);
    machine_free(rig->machine);
    free(rig->partitions);
    free(rig);
}

uint64_t rig_random(Rig *rig) {
    rig->random ^= rig->random << 13, rig->random ^= rig->random >> 7;
    return rig->random ^= rig->random << 17;
}

bool rig_send_request(Rig *rig, uint32_t sm, const MemRequest *request) {
    uint32_t bytes = rig->config.network.header_bytes;
    uint32_t all = (uint32_t)bits_count32(request->sectors) * rig->config.partition.l2_sector_bytes;
    if (request->op != MEM_OP_READ) bytes += request->bytes ? request->bytes : all;
    if (!rig->free_count[sm] || !noc_can_inject(rig->requests, (int)sm, (int)bytes)) return false;
    uint32_t index = rig->free[sm][--rig->free_count[sm]];
    MemRequest *record = &rig->pools[sm][index];
    *record = *request;
    record->handle = mem_handle(sm, index);
    record->target =
        endpoint_slice(remote_l2_near(address_map_slice(&rig->map, request->address),
                                      machine_half_slices(&rig->config), sm >= RIG_SMS / 2));
    rig->replies_left[sm][index] = mem_replies(request);
    if (!record->bytes) record->bytes = (uint16_t)all;
    noc_inject(rig->requests, (int)sm, (int)endpoint_node(record->target, RIG_SMS), (int)bytes,
               record->handle);
    rig->sent += mem_replies(request);
    return true;
}

bool rig_send(Rig *rig, uint32_t sm, MemOp op, uint64_t address, uint32_t sectors) {
    return rig_send_request(
        rig, sm,
        &(MemRequest){
            .address = address, .sectors = sectors, .op = (uint8_t)op, .client = MEM_CLIENT_L1D});
}

static void take_reply(Rig *rig, uint32_t sm, uint32_t handle) {
    noc_pop(rig->replies, (int)sm);
    MemRequest *request = mem_request(&(MemRequestPools){.pools = rig->pools}, handle);
    rig->answered++;
    rig->reply_hash = (rig->reply_hash ^ handle ^ rig->cycle << 32) * UINT64_C(0x100000001B3);
    rig->last_push = rig->cycle - 1; /* the networks have a latency of one cycle */
    rig->last_arrived = request->arrived;
    rig->last = *request;
    if (!--rig->replies_left[sm][mem_handle_index(handle)])
        rig->free[sm][rig->free_count[sm]++] = mem_handle_index(handle);
}

/* Returns whether the clock edge of the tick comes before that of the cycle (< 0), with it (0), or
 * after it. */
static int compare_edges(const Rig *rig, uint64_t tick, uint64_t cycle) {
    uint64_t at_tick = tick * rig->config.clock.l2_khz,
             at_cycle = cycle * rig->config.clock.dram_khz;
    return (at_tick > at_cycle) - (at_tick < at_cycle);
}

static void tick_all(Rig *rig, uint64_t cycle) {
    for (uint32_t i = 0; i < rig->config.partitions; i++)
        partition_dram_tick(rig->partitions[i], rig->tick, cycle);
    rig->tick++;
}

/* The first cycle that must not be skipped, as far as partitions and networks know. */
static uint64_t next_cycle(const Rig *rig) {
    uint64_t next = UINT64_MAX;
    if (noc_quiet_steps(rig->requests) != NOC_QUIET_FOREVER ||
        noc_quiet_steps(rig->replies) != NOC_QUIET_FOREVER)
        return rig->cycle;
    for (uint32_t sm = 0; sm < RIG_SMS; sm++)
        if (bits_get(noc_ready_mask(rig->replies), sm)) return rig->cycle;
    for (uint32_t i = 0; i < rig->config.partitions; i++) {
        PartitionEvents events = partition_next_event(rig->partitions[i]);
        if (events.cycle < next) next = events.cycle;
        if (events.tick == UINT64_MAX) continue;
        uint64_t at = events.tick * rig->config.clock.l2_khz / rig->config.clock.dram_khz;
        if (at < next) next = at; /* the cycle before the tick */
    }
    if (next > rig->horizon) next = rig->horizon;
    return next < rig->cycle ? rig->cycle : next;
}

static void jump(Rig *rig) {
    uint64_t next = next_cycle(rig);
    noc_skip(rig->requests, next - rig->cycle);
    noc_skip(rig->replies, next - rig->cycle);
    rig->cycle = next;
    while (rig->cycle && compare_edges(rig, rig->tick, rig->cycle - 1) < 0)
        rig->tick++;
}

void rig_work(Rig *rig) {
    while (compare_edges(rig, rig->tick, rig->cycle) < 0)
        tick_all(rig, rig->cycle - 1);
    if (!compare_edges(rig, rig->tick, rig->cycle)) tick_all(rig, rig->cycle);
    for (uint32_t i = 0; i < rig->config.partitions; i++)
        partition_l2_cycle(rig->partitions[i], rig->cycle);
}

void rig_move(Rig *rig) {
    uint32_t handle;
    noc_step(rig->requests);
    noc_step(rig->replies);
    rig->cycle++;
    for (uint32_t sm = 0; sm < RIG_SMS; sm++)
        while (noc_peek(rig->replies, (int)sm, &handle))
            take_reply(rig, sm, handle);
}

void rig_step(Rig *rig) {
    if (rig->is_jumping) jump(rig);
    rig_work(rig);
    rig_move(rig);
}

void rig_run(Rig *rig, uint64_t cycles) {
    rig->horizon = rig->cycle + cycles - 1;
    for (uint64_t end = rig->cycle + cycles; rig->cycle < end;)
        rig_step(rig);
}

bool rig_drain(Rig *rig, uint64_t limit) {
    rig->horizon = UINT64_MAX;
    for (uint64_t end = rig->cycle + limit; rig->cycle < end && rig->answered < rig->sent;)
        rig_step(rig);
    return rig->answered == rig->sent;
}

uint64_t rig_latency(Rig *rig, MemOp op, uint64_t address, uint32_t sectors) {
    bool is_answered = rig_send(rig, 0, op, address, sectors) && rig_drain(rig, 1000000);
    return is_answered ? rig->last_push - rig->last_arrived : UINT64_MAX;
}

Counters rig_counters(Rig *rig) {
    Counters sum = {0};
    for (uint32_t i = 0; i < rig->config.partitions; i++) {
        partition_settle(rig->partitions[i], rig->tick, rig->cycle);
        Counters part = partition_counters(rig->partitions[i]);
        counters_add(&sum, &part);
    }
    return sum;
}
