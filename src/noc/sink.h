/* Ejection buffers: per node a queue of packets that arrive at a known cycle and wait to be popped.
 * A wheel with one set of nodes per future cycle makes an arrival a single OR. The code that pushes
 * must check the room (credits). */
#ifndef TYTO_NOC_SINK_H
#define TYTO_NOC_SINK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bits.h"

typedef struct SinkPacket {
    uint64_t ready_at; /* the step in which it arrives */
    uint32_t payload;  /* the owner's handle */
    uint16_t flits;
    uint16_t channel; /* virtual channel on which it arrived */
} SinkPacket;
_Static_assert(sizeof(SinkPacket) == 16, "four packets per cache line");

enum {
    SINK_LINE = 64,                             /* bytes that the host's caches move */
    SINK_APART = SINK_LINE / sizeof(SinkPacket) /* places between rings, whose first are used most:
                                                   else they would share a set of those caches */
};

/* A node's. Each has a line of its own, as nodes are different threads'. */
typedef struct SinkQueue {
    SinkPacket *ring;     /* ring_mask + 1 packets */
    uint32_t head;        /* ring position of the oldest packet, modulo the ring */
    uint32_t tail;        /* and of the next one to come; the same: none is there */
    uint16_t queue_flits; /* the network's: flits in the node's injection queue */
    char apart[SINK_LINE - sizeof(SinkPacket *) - 2 * sizeof(uint32_t) - sizeof(uint16_t)];
} SinkQueue;
_Static_assert(sizeof(SinkQueue) == SINK_LINE, "nodes share no line");

typedef struct Sink {
    SinkPacket *packets; /* the rings of all nodes */
    SinkQueue *queues;   /* per node */
    uint64_t *ready;     /* nodes whose oldest packet has arrived */
    uint64_t *wheel;     /* per cycle modulo the wheel's size: nodes at which a packet arrives */
    uint64_t wheel_mask; /* slots of the wheel - 1 */
    uint32_t ring_mask;  /* packets of a ring - 1 */
    int words;           /* words of a set of nodes */
} Sink;

/* `packets` per node may be inside at once. None arrives more than `horizon` cycles ahead, or, in a
 * lent network, `horizon` + NOC_MOST_APART cycles ahead. */
void sink_init(Sink *sink, int nodes, int packets, int horizon);
void sink_free(Sink *sink);

static inline SinkPacket *sink_packet_at(const Sink *sink, const SinkQueue *queue,
                                         uint32_t position) {
    return &queue->ring[position & sink->ring_mask];
}

/* The nodes at which a packet arrives in a cycle. `words` is sink->words, here and below: callers
 * that know it to be 1 save a multiplication. */
static inline uint64_t *sink_arrivals(const Sink *sink, uint64_t cycle, int words) {
    return &sink->wheel[(cycle & sink->wheel_mask) * (uint64_t)words];
}

/* In cycle `now`: a packet for `node`, which arrives at packet.ready_at >= now, and not before
 * those pushed already. */
static inline void sink_push(Sink *sink, int node, uint64_t now, SinkPacket packet, int words) {
    SinkQueue *queue = &sink->queues[node];
    const uint32_t is_left = -(uint32_t)(queue->head != queue->tail);
    queue->head &= is_left; /* else it starts over: the same few lines again */
    queue->tail &= is_left;
    *sink_packet_at(sink, queue, queue->tail++) = packet;
    uint64_t *set =
        packet.ready_at == now ? sink->ready : sink_arrivals(sink, packet.ready_at, words);
    set[words == 1 ? 0 : node / 64] |= UINT64_C(1) << node % 64;
}

/* Cycle `now`: what arrives now becomes ready. Called once for every cycle, skipped ones aside. */
static inline void sink_step(Sink *sink, uint64_t now, int words) {
    uint64_t *arrivals = sink_arrivals(sink, now, words);
    for (int w = 0; w < words; w++) {
        sink->ready[w] |= arrivals[w];
        arrivals[w] = 0;
    }
}

/* Cycles after `now` in which nothing arrives; UINT64_MAX when nothing is under way. */
uint64_t sink_quiet_steps(const Sink *sink, uint64_t now);
/* The oldest packet that has arrived at `node`, or NULL. */
static inline const SinkPacket *sink_peek(const Sink *sink, int node) {
    if (!bits_get(sink->ready, (size_t)node)) return NULL;
    return sink_packet_at(sink, &sink->queues[node], sink->queues[node].head);
}

/* Takes it out; there must be one. It stays readable until the next push. `has_next` says whether
 * another is ready: sink_set_drained notes it when there is none. Nodes can do this side by side.
 */
static inline const SinkPacket *sink_take(Sink *sink, int node, uint64_t now, bool *has_next) {
    SinkQueue *queue = &sink->queues[node];
    const SinkPacket *packet = sink_packet_at(sink, queue, queue->head++);
    *has_next =
        (queue->head != queue->tail) & (sink_packet_at(sink, queue, queue->head)->ready_at <= now);
    return packet;
}

static inline void sink_set_drained(Sink *sink, int node, bool is_drained) {
    sink->ready[node / 64] &= ~bits_if(is_drained, node % 64);
}

/* Adds the flits of a node's packets to flits[channel], arrived or still under way. */
void sink_count_flits(const Sink *sink, int node, int *flits);

#endif
