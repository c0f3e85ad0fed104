/* Ejection buffers: per node a queue of packets that arrive at a known cycle and wait to be popped.
 * A wheel with one set of nodes per future cycle makes an arrival a single OR. Room (credits) is
 * the business of whoever pushes. */
#ifndef TYTO_NOC_SINK_H
#define TYTO_NOC_SINK_H

#include <stdbool.h>
#include <stdint.h>

typedef struct SinkPacket {
    uint64_t ready_at; /* the step in which it arrives */
    uint32_t payload;  /* the owner's handle */
    uint16_t flits;
    uint16_t channel; /* virtual channel on which it arrived */
} SinkPacket;
_Static_assert(sizeof(SinkPacket) == 16, "four packets per cache line");

typedef struct SinkQueue {
    SinkPacket *ring; /* ring_mask + 1 packets */
    uint32_t head;    /* packets popped so far: the ring position of the oldest, modulo 2^32 */
    uint32_t tail;    /* packets pushed so far */
} SinkQueue;

typedef struct Sink {
    SinkPacket *packets; /* the rings of all nodes */
    SinkQueue *queues;   /* per node */
    uint64_t *ready;     /* nodes whose oldest packet has arrived */
    uint64_t *wheel;     /* per cycle modulo the wheel's size: nodes at which a packet arrives */
    uint64_t wheel_mask; /* slots of the wheel - 1 */
    uint32_t ring_mask;  /* packets of a ring - 1 */
    int words;           /* words of a set of nodes */
} Sink;

/* `packets` per node may be inside at once; none arrives more than `horizon` cycles ahead. */
void sink_init(Sink *sink, int nodes, int packets, int horizon);
void sink_free(Sink *sink);
/* In cycle `now`: a packet for `node`, which arrives at packet.ready_at >= now, and not before
 * those pushed already. */
void sink_push(Sink *sink, int node, uint64_t now, SinkPacket packet);
/* Cycle `now`: what arrives now becomes ready. Called once for every cycle, skipped ones aside. */
void sink_step(Sink *sink, uint64_t now);
/* Cycles after `now` in which nothing arrives; UINT64_MAX when nothing is under way. */
uint64_t sink_quiet_steps(const Sink *sink, uint64_t now);
/* The oldest packet that has arrived at `node`, or NULL. */
const SinkPacket *sink_peek(const Sink *sink, int node);
/* Takes it out. There must be one. */
SinkPacket sink_pop(Sink *sink, int node, uint64_t now);
/* The same without noting whether another is ready, which `has_next` says: sink_set_drained notes
 * that there is none. Nodes can do this side by side. */
SinkPacket sink_take(Sink *sink, int node, uint64_t now, bool *has_next);
void sink_set_drained(Sink *sink, int node);
/* Adds the flits of a node's packets to flits[channel], arrived or still under way. */
void sink_count_flits(const Sink *sink, int node, int *flits);

#endif
