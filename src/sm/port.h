/* The SM's network port: requests out, replies in.
 *
 * Outwards, every cache has a queue of misses here; what bypasses the L1D is sent directly.
 * Inwards, replies that have come in (sm/inbox.h) are offered, and pass the load/store unit's queue
 * before that unit handles one of them per cycle; instruction lines and what agents (agent.h) have
 * asked for skip it. The only stage that touches the networks.
 *
 * Where an SM has agents, these and the rest of the SM share the way out fairly: who found no room
 * has a turn, and until it has sent, the others wait. So small packets cannot keep a large one out.
 *
 * Reads of others: SmContext (time, cta_of_warp). Whose replies they are is not its business. */
#ifndef TYTO_SM_PORT_H
#define TYTO_SM_PORT_H

#include "sm/context.h"
#include "sm/queue.h"

enum {
    SM_REQUESTS = 8192,            /* requests under way; a send is refused beyond that */
    SM_NO_WARP = MEM_NO_WARP,      /* the acknowledgement wakes no warp */
    SM_ASKS_WAIT = 1 << 30,        /* the policy has asked for prefetches that wait to be sent */
    SM_CACHES = MEM_CLIENT_L1T + 1 /* caches with a miss queue; each is a MemClient */
};

/* A request that waits for the network. */
typedef struct SmSend {
    SmAccess access;  /* reads of a cache: the line or sector it fills */
    uint32_t waiting; /* MemRequest.waiting: loads past the L1D the instruction, stores the warp */
    uint8_t op;       /* MemOp */
    uint8_t client;   /* MemClient */
    uint8_t warp;     /* that caused it, or SM_NO_WARP */
    uint8_t advice;   /* MemAdvice: a MEM_OP_WRITE that writes nothing */
} SmSend;

typedef struct SmSendQueue {
    SmSend *items;
    uint32_t head, count, capacity;
} SmSendQueue;

/* Handles of replies, a ring. */
typedef struct SmReplies {
    uint32_t *handles;
    uint32_t head, count, capacity;
} SmReplies;

/* Fields kept apart from a request's record, which partitions write while its replies come. */
typedef struct SmExpected {
    uint8_t replies; /* packets still to come */
    bool skips_unit; /* they are the fetch unit's or an agent's, not the load/store unit's */
} SmExpected;

/* Who has found no room in the requests' network, in an SM that has agents. Parties are the agents,
 * by number, and the rest of the SM together, which is the last one. */
typedef struct SmTurns {
    uint32_t refused; /* parties that were refused and have not sent since, bit each */
    uint32_t next;    /* of those, whose turn it is */
} SmTurns;

/* Written by port.c alone; what every visit looks at comes first, in one line of the host's cache.
 */
typedef struct SmPort {
    SmReplies unit;          /* replies for the load/store unit */
    SmExpected *expected;    /* by index, what of a request is looked at for each reply to it */
    MemRequest *requests;    /* SM_REQUESTS of them; partitions write into those under way */
    uint32_t misses_waiting; /* caches with requests in `misses`, bit per MemClient; SM_ASKS_WAIT */
    uint32_t outstanding;    /* requests under way */
    uint32_t *free_requests; /* indices of the unused ones, a stack */
    uint32_t free_count;     /* of those */
    SmSendQueue misses[SM_CACHES];
    SmTurns turns;
    SmAgents agents; /* the users of the port other than the SM's caches and its load/store
                        unit */
} SmPort;

void port_init(SmPort *port, SmContext *sm);

/* The line or sector that a cache's request has brought. */
static inline uint64_t port_line_of(const MemRequest *request) {
    return request->address + request->waiting;
}

/* Sends a request to the L2 slice of its address, if the network has room. What is refused must be
 * tried again in every cycle until it is sent. */
bool port_send(SmPort *port, SmContext *sm, const SmSend *send);
/* The same to an endpoint that the sender names, the address being one of the endpoint's own. */
bool port_send_to(SmPort *port, SmContext *sm, const SmSend *send, Endpoint target);
/* Sends one of the replies to a request that the SM serves, with `data_bytes` bytes of data, if the
 * reply network has room. */
bool port_send_reply(const SmContext *sm, const MemRequest *request, uint32_t data_bytes);

/* ---- Misses ---- */

void port_init_misses(SmPort *port, SmContext *sm, MemClient cache, uint32_t capacity);
/* Whether the cache's queue can take `sends` more. */
static inline bool port_has_room(const SmPort *port, MemClient cache, uint32_t sends) {
    return port->misses[cache].count + sends <= port->misses[cache].capacity;
}
/* Queues a miss; there must be room. */
static inline void port_push_miss(SmPort *port, MemClient cache, const SmSend *send) {
    SmSendQueue *queue = &port->misses[cache];
    assert(queue->count < queue->capacity);
    port->misses_waiting |= 1u << cache;
    queue->items[sm_ring_place(queue->head + queue->count++, queue->capacity)] = *send;
}
static inline bool port_has_misses(const SmPort *port, MemClient cache) {
    return port->misses_waiting >> cache & 1;
}
/* Sends the oldest miss if the network has room; there must be a miss. */
bool port_send_miss(SmPort *port, SmContext *sm, MemClient cache);
/* The same where there may be none; true when it sent one. */
static inline bool port_step_misses(SmPort *port, SmContext *sm, MemClient cache) {
    return port_has_misses(port, cache) && port_send_miss(port, sm, cache);
}

/* ---- Replies ---- */

/* A reply is offered in `cycle`, between the steps of the SM: whether it is taken. Wakes the SM
 * when it needs that. `done`: NULL, or a request of the L1I or of an agent whose last reply it was:
 * to be handled and finished. */
bool port_offer(SmPort *port, const SmContext *sm, uint64_t cycle, uint32_t handle,
                MemRequest **done);
static inline bool port_has_reply(const SmPort *port) { return port->unit.count != 0; }
/* Takes the oldest of the load/store unit's replies, if there is one. NULL, or the request if that
 * was its last reply: to be handled and finished. */
MemRequest *port_take_reply(SmPort *port);
/* The request is answered: counts it, and its record is free. */
void port_finish(SmPort *port, SmContext *sm, MemRequest *request);

#endif
