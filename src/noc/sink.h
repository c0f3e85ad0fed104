/* Ejection buffers: per node a queue of packets that arrive in a known cycle and wait to be popped.
 * A timing wheel has one set of nodes per future cycle, so that recording an arrival takes a single
 * OR. The caller must check for room (credits) before a push. */
#ifndef TYTO_NOC_SINK_H
#define TYTO_NOC_SINK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bits.h"

typedef struct SinkPacket {
    uint64_t ready_at; /* step in which it arrives */
    uint32_t payload;  /* the owner's handle */
    uint16_t flits;
    uint16_t channel; /* virtual channel on which it arrived */
} SinkPacket;
_Static_assert(sizeof(SinkPacket) == 16, "four packets per cache line");

enum {
    SINK_LINE = 64,                             /* bytes of a line of the host's cache */
    SINK_APART = SINK_LINE / sizeof(SinkPacket) /* places between rings: their first places are used
                                                   most, and must not fall into the same set of the
                                                   host's cache */
};

/* The queue of a node. Each has its own cache line, because different threads may handle nodes. */
typedef struct SinkQueue {
    SinkPacket *ring;     /* ring_mask + 1 packets */
    uint32_t head;        /* ring position of the oldest packet, modulo the ring */
    uint32_t tail;        /* ring position of the next packet; equal to head: empty */
    uint16_t queue_flits; /* used by the network: flits in the node's injection queue */
    char apart[SINK_LINE - sizeof(SinkPacket *) - 2 * sizeof(uint32_t) - sizeof(uint16_t)];
} SinkQueue;
_Static_assert(sizeof(SinkQueue) == SINK_LINE, "nodes share no line");

typedef struct Sink {
    SinkPacket *packets; /* the rings of all nodes */
    SinkQueue *queues;   /* per node */
    uint64_t *ready;     /* nodes whose oldest packet has arrived */
    uint64_t *wheel;     /* per cycle modulo the wheel's size: nodes at which a packet arrives */
    uint64_t wheel_mask; /* slots of the wheel - 1 */
    uint32_t ring_mask;  /* length of a ring in packets - 1 */
    int words;           /* words of a set of nodes */
} Sink;

/* `packets` is the most packets per node at once. No packet arrives more than `horizon` cycles
 * ahead, or `horizon` + NOC_MOST_APART cycles ahead in a handed-off network. */
void sink_init(Sink *sink, int nodes, int packets, int horizon);
void sink_free(Sink *sink);

static inline SinkPacket *sink_packet_at(const Sink *sink, const SinkQueue *queue,
                                         uint32_t position) {
    return &queue->ring[position & sink->ring_mask];
}

/* The nodes at which a packet arrives in this cycle. `words` is sink->words, here and below:
 * callers that know it to be 1 save a multiplication. */
static inline uint64_t *sink_arrivals(const Sink *sink, uint64_t cycle, int words) {
    return &sink->wheel[(cycle & sink->wheel_mask) * (uint64_t)words];
}

/* Adds, in cycle `now`, a packet for `node` that arrives at packet.ready_at >= now, and not before
 * the packets added earlier. */
static inline void sink_push(Sink *sink, int node, uint64_t now, SinkPacket packet, int words) {
    SinkQueue *queue = &sink->queues[node];
    const uint32_t is_left = -(uint32_t)(queue->head != queue->tail);
    queue->head &= is_left; /* else it restarts in the same few cache lines */
    queue->tail &= is_left;
    *sink_packet_at(sink, queue, queue->tail++) = packet;
    uint64_t *set =
        packet.ready_at == now ? sink->ready : sink_arrivals(sink, packet.ready_at, words);
    set[words == 1 ? 0 : node / 64] |= UINT64_C(1) << node % 64;
}

/* Makes the packets that arrive in cycle `now` ready. Must be called for every cycle, except
 * skipped ones. */
static inline void sink_step(Sink *sink, uint64_t now, int words) {
    uint64_t *arrivals = sink_arrivals(sink, now, words);
    for (int w = 0; w < words; w++) {
        sink->ready[w] |= arrivals[w];
        arrivals[w] = 0;
    }
}

/* The number of cycles after `now` in which nothing arrives; UINT64_MAX: nothing is in flight. */
uint64_t sink_quiet_steps(const Sink *sink, uint64_t now);
/* The oldest packet that has arrived at `node`; NULL: none. */
static inline const SinkPacket *sink_peek(const Sink *sink, int node) {
    if (!bits_get(sink->ready, (size_t)node)) return NULL;
    return sink_packet_at(sink, &sink->queues[node], sink->queues[node].head);
}

/* Removes that packet; there must be one. It stays readable until the next push. `has_next` is set
 * if another packet is ready; if not, the caller must call sink_set_drained. Several threads can do
 * this for different nodes. */
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

/* Adds the flits of a node's packets, arrived or in flight, to flits[channel]. */
void sink_count_flits(const Sink *sink, int node, int *flits);

#endif
