/* Ejection buffers of all networks; see sink.h. */
#include "noc/sink.h"

#include <assert.h>
#include <stdlib.h>

#include "base/arena.h"
#include "noc/noc_internal.h"

void sink_init(Sink *sink, int nodes, int packets, int horizon) {
    size_t ring_packets = (size_t)1 << noc_log2_up((uint64_t)packets);
    size_t slots = (size_t)1 << noc_log2_up((uint64_t)horizon + 1);
    sink->words = (int)bits_words((size_t)nodes);
    sink->ring_mask = (uint32_t)ring_packets - 1;
    sink->wheel_mask = slots - 1;
    sink->packets = base_calloc((size_t)nodes * ring_packets, sizeof(SinkPacket));
    sink->queues = base_calloc((size_t)nodes, sizeof(SinkQueue));
    sink->ready = base_calloc((size_t)sink->words, sizeof(uint64_t));
    sink->wheel = base_calloc(slots * (size_t)sink->words, sizeof(uint64_t));
    for (size_t i = 0; i < (size_t)nodes; i++)
        sink->queues[i].ring = &sink->packets[i * ring_packets];
}

void sink_free(Sink *sink) {
    free(sink->packets);
    free(sink->queues);
    free(sink->ready);
    free(sink->wheel);
}

static SinkPacket *packet_at(const Sink *sink, const SinkQueue *queue, uint32_t position) {
    return &queue->ring[position & sink->ring_mask];
}

static uint64_t *wheel_slot(const Sink *sink, uint64_t cycle) {
    return &sink->wheel[(cycle & sink->wheel_mask) * (uint64_t)sink->words];
}

void sink_push(Sink *sink, int node, uint64_t now, SinkPacket packet) {
    SinkQueue *queue = &sink->queues[node];
    assert(queue->tail - queue->head <= sink->ring_mask);
    *packet_at(sink, queue, queue->tail++) = packet;
    bits_set(packet.ready_at == now ? sink->ready : wheel_slot(sink, packet.ready_at),
             (size_t)node);
}

void sink_step(Sink *sink, uint64_t now) {
    uint64_t *slot = wheel_slot(sink, now);
    for (int w = 0; w < sink->words; w++) {
        sink->ready[w] |= slot[w];
        slot[w] = 0;
    }
}

uint64_t sink_quiet_steps(const Sink *sink, uint64_t now) {
    for (uint64_t quiet = 0; quiet < sink->wheel_mask; quiet++) {
        const uint64_t *slot = wheel_slot(sink, now + 1 + quiet);
        for (int w = 0; w < sink->words; w++)
            if (slot[w]) return quiet;
    }
    return UINT64_MAX;
}

const SinkPacket *sink_peek(const Sink *sink, int node) {
    if (!bits_get(sink->ready, (size_t)node)) return NULL;
    return packet_at(sink, &sink->queues[node], sink->queues[node].head);
}

SinkPacket sink_take(Sink *sink, int node, uint64_t now, bool *has_next) {
    SinkQueue *queue = &sink->queues[node];
    SinkPacket packet = *packet_at(sink, queue, queue->head++);
    *has_next = queue->head != queue->tail && packet_at(sink, queue, queue->head)->ready_at <= now;
    return packet;
}

void sink_set_drained(Sink *sink, int node) { bits_clear(sink->ready, (size_t)node); }

SinkPacket sink_pop(Sink *sink, int node, uint64_t now) {
    assert(bits_get(sink->ready, (size_t)node));
    bool has_next;
    SinkPacket packet = sink_take(sink, node, now, &has_next);
    if (!has_next) sink_set_drained(sink, node);
    return packet;
}

void sink_count_flits(const Sink *sink, int node, int *flits) {
    const SinkQueue *queue = &sink->queues[node];
    for (uint32_t p = queue->head; p != queue->tail; p++) {
        const SinkPacket *packet = packet_at(sink, queue, p);
        flits[packet->channel] += packet->flits;
    }
}
