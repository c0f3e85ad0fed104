/* The network port (see the header). */
#include "sm/port.h"

#include "partition/remote_l2.h"
#include "sm/order.h"

static void replies_init(SmReplies *replies, uint32_t capacity, Arena *arena) {
    *replies = (SmReplies){.handles = ARENA_ARRAY(arena, uint32_t, capacity), .capacity = capacity};
}

static void replies_push(SmReplies *replies, uint32_t handle) {
    replies->handles[sm_ring_place(replies->head + replies->count++, replies->capacity)] = handle;
}

static uint32_t replies_peek(const SmReplies *replies) { return replies->handles[replies->head]; }

static void replies_pop(SmReplies *replies) {
    /* An empty ring starts again at 0: most rings never leave their first cache line. */
    uint32_t is_left = --replies->count != 0;
    replies->head = sm_ring_place(replies->head + 1, replies->capacity) & -is_left;
}

void port_init(SmPort *port, SmContext *sm) {
    *port =
        (SmPort){.requests = arena_alloc_aligned(sm->arena, sizeof(MemRequest) * SM_REQUESTS, 64),
                 .expected = ARENA_ARRAY(sm->arena, SmExpected, SM_REQUESTS),
                 .free_requests = ARENA_ARRAY(sm->arena, uint32_t, SM_REQUESTS),
                 .free_count = SM_REQUESTS};
    for (uint32_t i = 0; i < SM_REQUESTS; i++)
        port->free_requests[i] = SM_REQUESTS - 1 - i;
    replies_init(&port->unit, sm->config->lsu.reply_fifo, sm->arena);
    agents_init(&port->agents);
}

/* ---- Out ---- */

/* The bytes that a request writes, as a mask that starts `skipped` bytes after the store's address.
 * A partial store stays partial even if the mask has no bit for its bytes. */
static SmBytes bytes_from(SmBytes written, uint64_t skipped) {
    const SmBytes moved = skipped < 128 ? written << skipped : 0;
    return written && !moved ? 1 : moved;
}

static uint32_t packet_bytes(const SmContext *sm, const SmSend *send) {
    const bool has_data = send->op != MEM_OP_READ && !send->advice;
    return sm->env.header_bytes + (has_data ? send->access.bytes : 0);
}

/* The party that a send belongs to (SmTurns). */
static uint32_t party_of(const SmSend *send) {
    return send->client < MEM_CLIENT_AGENT ? SM_MAX_AGENTS : send->client - MEM_CLIENT_AGENT;
}

/* Whether another party that was refused has precedence over this one. */
static bool must_let_go_first(const SmTurns *turns, uint32_t party) {
    return turns->refused & ~(1u << party) && turns->next != party;
}

static void note_refused(SmTurns *turns, uint32_t party) {
    if (!turns->refused) turns->next = party;
    turns->refused |= 1u << party;
}

/* The party has sent: the turn passes to the next refused party, round robin. */
static void note_sent(SmTurns *turns, uint32_t party) {
    turns->refused &= ~(1u << party);
    const uint32_t behind = turns->refused & ~0u << party;
    if (turns->refused) turns->next = (uint32_t)bits_lowest32(behind ? behind : turns->refused);
}

/* Whether a send may go now. (Waits until the network may be checked.) */
static inline bool may_send(SmPort *port, const SmContext *sm, const SmSend *send) {
    if (sm->env.order) order_wait_moved(sm->env.order);
    const bool has_room = port->free_count && noc_can_inject(sm->env.requests, (int)sm->env.node,
                                                             (int)packet_bytes(sm, send));
    if (__builtin_expect(port->agents.count == 0, true)) return has_room;
    const uint32_t party = party_of(send);
    const bool may = has_room && !must_let_go_first(&port->turns, party);
    if (may) note_sent(&port->turns, party);
    else note_refused(&port->turns, party);
    return may;
}

/* Sets the fields that only some requests have: the written bytes, or the time of a read. */
static void fill_op(SmContext *sm, const SmSend *send, MemRequest *request) {
    if (send->op == MEM_OP_WRITE) {
        SmBytes written = bytes_from(send->access.written, send->access.address - request->address);
        request->written[0] = (uint64_t)written;
        request->written[1] = (uint64_t)(written >> 64);
        sm->counters.writes_sent += !send->advice;
    } else {
        request->sent = (uint32_t)sm->cycle;
        sm->counters.reads_sent++;
    }
}

/* Makes a request of `send` that starts at `address`, and injects it. There must be room. */
static inline void send_now(SmPort *port, SmContext *sm, const SmSend *send, uint64_t address,
                            Endpoint target) {
    uint32_t index = port->free_requests[--port->free_count];
    bool is_line = send->op == MEM_OP_READ && send->client < MEM_CLIENT_BYPASS;
    MemRequest *request = &port->requests[index];
    *request = (MemRequest){
        .address = address,
        .handle = mem_handle(sm->env.index, index),
        .sectors = send->access.sectors,
        .waiting = is_line ? (uint32_t)(send->access.address - address) : send->waiting,
        .bytes = (uint16_t)send->access.bytes,
        .target = target,
        .op = send->op,
        .client = send->client,
        .warp = send->warp,
        .cta = send->warp < TYTO_MAX_WARPS ? sm->cta_of_warp[send->warp] : UINT32_MAX,
        .priority = send->access.priority[1],
        .l1_priority = send->access.priority[0],
        .prefetch = send->access.prefetch,
        .advice = send->advice};
    port->expected[index] = (SmExpected){.replies = (uint8_t)mem_replies(request),
                                         .skips_unit = send->client == MEM_CLIENT_L1I ||
                                                       send->client >= MEM_CLIENT_AGENT};
    if (context_is_profiled(sm)) sm_profile_sent(sm->profile, request, send->access.pc);
    port->outstanding++;
    fill_op(sm, send, request);
    noc_inject(sm->env.requests, (int)sm->env.node,
               (int)endpoint_node(target, sm->env.first_slice_node), (int)packet_bytes(sm, send),
               request->handle);
}

bool port_send(SmPort *port, SmContext *sm, const SmSend *send) {
    if (!may_send(port, sm, send)) return false;
    /* A cache's line can be smaller than a sector; then the request covers the whole sector around
     * it. */
    const uint64_t address = send->access.address & ~(uint64_t)(sm->env.l2_sector_bytes - 1);
    const uint32_t slice =
        remote_l2_near(address_map_slice(sm->env.map, address), sm->env.half_slices, sm->env.half);
    send_now(port, sm, send, address, endpoint_slice(slice));
    return true;
}

bool port_send_to(SmPort *port, SmContext *sm, const SmSend *send, Endpoint target) {
    if (!may_send(port, sm, send)) return false;
    send_now(port, sm, send, send->access.address, target);
    return true;
}

bool port_send_reply(const SmContext *sm, const MemRequest *request, uint32_t data_bytes) {
    const uint32_t node = endpoint_node(mem_source(request->handle), sm->env.first_slice_node);
    return noc_try_inject(sm->env.replies, (int)sm->env.node, (int)node,
                          (int)(sm->env.header_bytes + data_bytes), request->handle);
}

void port_init_misses(SmPort *port, SmContext *sm, MemClient cache, uint32_t capacity) {
    if (!capacity) capacity = 1;
    port->misses[cache] =
        (SmSendQueue){.items = ARENA_ARRAY(sm->arena, SmSend, capacity), .capacity = capacity};
}

bool port_send_miss(SmPort *port, SmContext *sm, MemClient cache) {
    SmSendQueue *queue = &port->misses[cache];
    if (!port_send(port, sm, &queue->items[queue->head])) return false;
    queue->head = sm_ring_place(queue->head + 1, queue->capacity);
    if (!--queue->count) port->misses_waiting &= ~(1u << cache);
    return true;
}

/* ---- In ---- */

void port_finish(SmPort *port, SmContext *sm, MemRequest *request) {
    Counters *c = &sm->counters;
    port->outstanding--;
    port->free_requests[port->free_count++] = mem_handle_index(request->handle);
    if (request->op == MEM_OP_WRITE) {
        c->writes_acknowledged += !request->advice;
        return;
    }
    uint32_t cycles = (uint32_t)sm->cycle - request->sent;
    c->reads_answered++;
    histogram_add(&sm->histograms, HISTOGRAM_read_latency, cycles);
    c->load_cycles += cycles;
    c->load_l2_cycles += request->l2_cycles;
    c->load_queue_cycles += request->queue_ticks; /* in ticks; the engine converts them */
    c->load_dram_cycles += request->dram_ticks;
}

bool port_offer(SmPort *port, const SmContext *sm, uint64_t cycle, uint32_t handle,
                MemRequest **done) {
    const uint32_t index = mem_handle_index(handle);
    SmExpected *expected = &port->expected[index];
    const bool skips_unit = expected->skips_unit, has_more = expected->replies > 1;
    *done = NULL;
    if (!skips_unit & (port->unit.count == port->unit.capacity)) return false;
    /* If the load/store unit is idle, it handles the reply in this cycle. A reply that is not the
     * last of its request is only counted, which is no reason to wake the SM. */
    const bool is_only_counted = has_more & (skips_unit | (port->unit.count == 0));
    if (is_only_counted) {
        expected->replies--;
        return true;
    }
    if (*sm->env.wake > cycle) *sm->env.wake = cycle;
    if (!skips_unit) {
        replies_push(&port->unit, handle);
        return true;
    }
    expected->replies--;
    *done = &port->requests[index];
    return true;
}

MemRequest *port_take_reply(SmPort *port) {
    if (!port->unit.count) return NULL;
    const uint32_t index = mem_handle_index(replies_peek(&port->unit));
    replies_pop(&port->unit);
    return --port->expected[index].replies == 0 ? &port->requests[index] : NULL;
}
