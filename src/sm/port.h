/* The SM's network port: requests out, replies in.
 *
 * On the way out, every cache has a miss queue here; accesses that bypass the L1D are sent
 * directly. On the way in, arrived replies (sm/inbox.h) are offered and pass through the load/store
 * unit's queue; that unit handles one per cycle. Instruction lines and replies for agents (agent.h)
 * skip this queue. The port is the only stage that accesses the networks.
 *
 * If an SM has agents, they and the rest of the SM share the way out fairly. A party that found no
 * room gets a turn, and the others wait until it has sent. So small packets cannot lock out a large
 * one.
 *
 * Reads state of others: SmContext (time, cta_of_warp). It does not know who a reply is for. */
#ifndef TYTO_SM_PORT_H
#define TYTO_SM_PORT_H

#include "sm/context.h"
#include "sm/queue.h"

enum {
    SM_REQUESTS = 8192,            /* requests in flight; further sends are refused */
    SM_NO_WARP = MEM_NO_WARP,      /* the acknowledgement wakes no warp */
    SM_ASKS_WAIT = 1 << 30,        /* the policy has requested prefetches that wait to be sent */
    SM_CACHES = MEM_CLIENT_L1T + 1 /* caches with a miss queue; each is a MemClient */
};

/* A request that waits to enter the network. */
typedef struct SmSend {
    SmAccess access;  /* reads of a cache: the line or sector that it fills */
    uint32_t waiting; /* MemRequest.waiting: instruction of a load that bypasses the L1D; warp of a
                         store */
    uint8_t op;       /* MemOp */
    uint8_t client;   /* MemClient */
    uint8_t warp;     /* warp that caused it, or SM_NO_WARP */
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

/* Fields of a request that are kept apart from its record, because partitions write that record
 * while replies arrive. */
typedef struct SmExpected {
    uint8_t replies; /* packets still to come */
    bool skips_unit; /* the replies go to the fetch unit or an agent, not to the load/store unit */
} SmExpected;

/* Parties that found no room in the request network, in an SM that has agents. The parties are the
 * agents, by number, and as the last one the rest of the SM. */
typedef struct SmTurns {
    uint32_t refused; /* parties that were refused and have not sent since, one bit each */
    uint32_t next;    /* the refused party whose turn it is */
} SmTurns;

/* Written only by port.c. The fields that every visit reads come first, in one line of the host's
 * cache. */
typedef struct SmPort {
    SmReplies unit;          /* replies for the load/store unit */
    SmExpected *expected;    /* by index: what is needed of a request for each of its replies */
    MemRequest *requests;    /* SM_REQUESTS entries; partitions write to those in flight */
    uint32_t misses_waiting; /* caches with requests in `misses`, one bit per MemClient;
                                SM_ASKS_WAIT */
    uint32_t outstanding;    /* requests in flight */
    uint32_t *free_requests; /* indices of free entries, a stack */
    uint32_t free_count;     /* number of free entries */
    SmSendQueue misses[SM_CACHES];
    SmTurns turns;
    SmAgents agents; /* users of the port other than the SM's caches and its load/store unit */
} SmPort;

void port_init(SmPort *port, SmContext *sm);

/* The address of the line or sector that a cache's request asked for. */
static inline uint64_t port_line_of(const MemRequest *request) {
    return request->address + request->waiting;
}

/* Sends a request to the L2 slice of its address if the network has room. A refused request must be
 * retried in every cycle until it is sent. */
bool port_send(SmPort *port, SmContext *sm, const SmSend *send);
/* The same, to an endpoint that the sender names; the address is the endpoint's own. */
bool port_send_to(SmPort *port, SmContext *sm, const SmSend *send, Endpoint target);
/* Sends one reply to a request that the SM serves, with `data_bytes` bytes of data, if the reply
 * network has room. */
bool port_send_reply(const SmContext *sm, const MemRequest *request, uint32_t data_bytes);

/* ---- Misses ---- */

void port_init_misses(SmPort *port, SmContext *sm, MemClient cache, uint32_t capacity);
/* Whether the cache's queue has room for `sends` more. */
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
/* The same if there may be no miss; returns true if it sent one. */
static inline bool port_step_misses(SmPort *port, SmContext *sm, MemClient cache) {
    return port_has_misses(port, cache) && port_send_miss(port, sm, cache);
}

/* ---- Replies ---- */

/* Offers a reply in `cycle`, between the steps of the SM. Returns whether it is accepted. Wakes the
 * SM if that is necessary. `done` is set to NULL, or to a request of the L1I or an agent whose last
 * reply this was; the caller must handle and finish it. */
bool port_offer(SmPort *port, const SmContext *sm, uint64_t cycle, uint32_t handle,
                MemRequest **done);
static inline bool port_has_reply(const SmPort *port) { return port->unit.count != 0; }
/* Takes the oldest of the load/store unit's replies, if there is one. Returns the request if that
 * was its last reply; the caller must handle and finish it. NULL otherwise. */
MemRequest *port_take_reply(SmPort *port);
/* Counts an answered request and frees its record. */
void port_finish(SmPort *port, SmContext *sm, MemRequest *request);

#endif
