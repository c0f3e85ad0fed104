/* The SM's network port: requests out, replies in. Replies pass two queues, the port's and the
 * load/store unit's, before the unit handles one of them per cycle. */
#include "sm/sm_internal.h"

void port_init(Sm *sm) {
    sm->requests = arena_alloc_aligned(sm->arena, sizeof(MemRequest) * SM_REQUESTS, 64);
    sm->free_requests = ARENA_ARRAY(sm->arena, uint32_t, SM_REQUESTS);
    for (uint32_t i = 0; i < SM_REQUESTS; i++)
        sm->free_requests[i] = SM_REQUESTS - 1 - i;
    sm->free_request_count = SM_REQUESTS;
    sm->fifo_capacity = sm->config->lsu.fifo;
    sm->fifo = ARENA_ARRAY(sm->arena, uint32_t, sm->fifo_capacity);
    sm->unit_capacity = sm->config->lsu.reply_fifo;
    sm->unit_fifo = ARENA_ARRAY(sm->arena, uint32_t, sm->unit_capacity);
}

/* ---- Out ---- */

bool port_send(Sm *sm, const SmSend *send) {
    bool has_data = send->op != MEM_OP_READ;
    int bytes = (int)(sm->env.header_bytes + (has_data ? send->access.bytes : 0));
    if (!sm->free_request_count || !noc_can_inject(sm->env.requests, (int)sm->env.index, bytes))
        return false;
    uint32_t index = sm->free_requests[--sm->free_request_count];
    /* A cache's line can be smaller than an atom: then the atom around it is asked for. */
    uint64_t address = send->access.address & ~(uint64_t)(sm->env.atom_bytes - 1);
    bool is_line = send->op == MEM_OP_READ && send->client != MEM_CLIENT_BYPASS;
    uint32_t slice = address_map_slice(sm->env.map, address);
    const SmWarp *w = &sm->warps[send->warp];
    MemRequest *request = &sm->requests[index];
    *request = (MemRequest){.address = address,
                            .handle = mem_handle(sm->env.index, index),
                            .atoms = send->access.atoms,
                            .waiting = is_line ? (uint32_t)(send->access.address - address)
                                               : send->waiting,
                            .bytes = (uint16_t)send->access.bytes,
                            .slice = (uint16_t)slice,
                            .op = send->op,
                            .client = send->client,
                            .replies_left = (uint8_t)bits_count32(send->access.atoms),
                            .warp = send->warp,
                            .cta = w->isa ? (uint32_t)w->isa->cta->index : 0};
    sm->outstanding++;
    if (send->op == MEM_OP_WRITE) {
        request->written[0] = (uint64_t)send->access.written;
        request->written[1] = (uint64_t)(send->access.written >> 64);
        sm->counters.writes_sent++;
    } else {
        request->sent = (uint32_t)sm->cycle;
        sm->counters.reads_sent++;
    }
    noc_inject(sm->env.requests, (int)sm->env.index, (int)(sm->env.first_slice_node + slice), bytes,
               request->handle);
    return true;
}

void send_queue_init(SmSendQueue *queue, uint32_t capacity, Arena *arena) {
    *queue = (SmSendQueue){.items = ARENA_ARRAY(arena, SmSend, capacity ? capacity : 1),
                           .capacity = capacity ? capacity : 1};
}

void send_queue_push(Sm *sm, MemClient cache, const SmSend *send) {
    SmSendQueue *queue = &sm->misses[cache];
    assert(!send_queue_is_full(queue));
    sm->misses_waiting |= 1u << cache;
    queue->items[sm_ring_place(queue->head + queue->count++, queue->capacity)] = *send;
}

bool port_send_miss(Sm *sm, MemClient cache) {
    SmSendQueue *queue = &sm->misses[cache];
    if (!port_send(sm, &queue->items[queue->head])) return false;
    queue->head = sm_ring_place(queue->head + 1, queue->capacity);
    if (!--queue->count) sm->misses_waiting &= ~(1u << cache);
    return true;
}

/* ---- In ---- */

static void finish_request(Sm *sm, MemRequest *request) {
    Counters *c = &sm->counters;
    sm->outstanding--;
    sm->free_requests[sm->free_request_count++] = mem_handle_index(request->handle);
    if (request->op == MEM_OP_WRITE) {
        c->writes_acknowledged++;
        return;
    }
    uint32_t cycles = (uint32_t)sm->view.cycle - request->sent;
    c->reads_answered++;
    histogram_add(&sm->histograms, HISTOGRAM_read_latency, cycles);
    c->fetch_cycles += cycles;
    c->fetch_l2_cycles += request->l2_cycles;
    c->fetch_queue_cycles += request->queue_ticks; /* their own cycles: sm_finish_kernel converts */
    c->fetch_dram_cycles += request->dram_ticks;
}

/* One reply packet of a request has come; true when it was the last. */
static bool count_reply(MemRequest *request) { return --request->replies_left == 0; }

/* Takes the oldest packet from the port's queue to the fetch or load/store unit, if that has room.
 */
static void hand_on(Sm *sm, uint64_t cycle) {
    MemRequest *request = &sm->requests[mem_handle_index(sm->fifo[sm->fifo_head])];
    bool goes_to_fetch = request->client == MEM_CLIENT_L1I;
    if (!goes_to_fetch && sm->unit_count == sm->unit_capacity) return;
    uint32_t handle = sm->fifo[sm->fifo_head];
    sm->fifo_head = sm_ring_place(sm->fifo_head + 1, sm->fifo_capacity);
    sm->fifo_count--;
    /* An idle load/store unit handles the reply in this cycle, and one that is not its request's
     * last is only counted: no reason to wake the SM. */
    bool is_only_counted = request->replies_left > 1 && (goes_to_fetch || !sm->unit_count);
    if (is_only_counted) {
        count_reply(request);
        return;
    }
    if (*sm->env.wake > cycle) *sm->env.wake = cycle;
    if (!goes_to_fetch) {
        sm->unit_fifo[sm_ring_place(sm->unit_head + sm->unit_count++, sm->unit_capacity)] = handle;
        return;
    }
    count_reply(request);
    fetch_line_arrived(sm, request);
    finish_request(sm, request);
}

bool sm_receive(Sm *sm, uint64_t cycle) {
    sm->view.cycle = cycle;
    if (sm->fifo_count) hand_on(sm, cycle);
    uint32_t handle;
    if (sm->fifo_count < sm->fifo_capacity &&
        noc_peek(sm->env.replies, (int)sm->env.index, &handle)) {
        noc_pop(sm->env.replies, (int)sm->env.index);
        sm->fifo[sm_ring_place(sm->fifo_head + sm->fifo_count++, sm->fifo_capacity)] = handle;
    }
    return sm->fifo_count != 0;
}

/* A read-only cache's line is there: everything that waited for it goes to the write-back port. */
static void line_arrived(Sm *sm, SmReadCache *cache, const MemRequest *request, SmReturn way) {
    read_cache_fill(cache, port_line_of(request));
    while (mshr_has_ready(&cache->mshr))
        lsu_access_done(sm, (uint16_t)mshr_pop(&cache->mshr), way);
}

static void bypass_arrived(Sm *sm, const MemRequest *request) {
    if (request->op == MEM_OP_ATOMIC) {
        sm->warps[request->warp].atomics--;
        sm_warp_settled(sm, request->warp);
    }
    lsu_access_done(sm, (uint16_t)request->waiting, SM_RETURN_BYPASS);
}

static void acknowledged(Sm *sm, const MemRequest *request) {
    if (request->waiting == SM_NO_WARP) return;
    sm->warps[request->waiting].stores--;
    sm_warp_settled(sm, (int)request->waiting);
}

void port_handle_reply(Sm *sm) {
    if (!sm->unit_count) return;
    MemRequest *request = &sm->requests[mem_handle_index(sm->unit_fifo[sm->unit_head])];
    sm->unit_head = sm_ring_place(sm->unit_head + 1, sm->unit_capacity);
    sm->unit_count--;
    if (!count_reply(request)) return;
    switch ((MemClient)request->client) {
    case MEM_CLIENT_L1D: l1d_line_arrived(sm, request); break;
    case MEM_CLIENT_L1C: line_arrived(sm, &sm->l1c, request, SM_RETURN_CONST); break;
    case MEM_CLIENT_L1T: line_arrived(sm, &sm->l1t, request, SM_RETURN_TEXTURE); break;
    case MEM_CLIENT_BYPASS: bypass_arrived(sm, request); break;
    case MEM_CLIENT_STORE: acknowledged(sm, request); break;
    case MEM_CLIENT_L1I: break; /* never gets here: sm_receive hands it to the fetch unit */
    }
    finish_request(sm, request);
}
