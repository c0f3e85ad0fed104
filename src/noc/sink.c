/* Ejection buffers of all networks; see sink.h. */
#include "noc/sink.h"

#include <stdlib.h>

#include "base/arena.h"
#include "noc/noc_internal.h"

void sink_init(Sink *sink, int nodes, int packets, int horizon) {
    size_t ring_packets = (size_t)1 << bits_log2_up((uint64_t)packets);
    size_t stride = ring_packets + SINK_APART;
    size_t slots = (size_t)1 << bits_log2_up((uint64_t)horizon + NOC_MOST_APART + 1);
    sink->words = (int)bits_words((size_t)nodes);
    sink->ring_mask = (uint32_t)ring_packets - 1;
    sink->wheel_mask = slots - 1;
    sink->packets = base_calloc((size_t)nodes * stride, sizeof(SinkPacket));
    sink->queues = base_alloc_lines((size_t)nodes * sizeof(SinkQueue));
    sink->ready = base_calloc((size_t)sink->words, sizeof(uint64_t));
    sink->wheel = base_calloc(slots * (size_t)sink->words, sizeof(uint64_t));
    for (size_t i = 0; i < (size_t)nodes; i++)
        sink->queues[i].ring = &sink->packets[i * stride];
}

void sink_free(Sink *sink) {
    free(sink->packets);
    free(sink->queues);
    free(sink->ready);
    free(sink->wheel);
}

uint64_t sink_quiet_steps(const Sink *sink, uint64_t now) {
    for (uint64_t quiet = 0; quiet < sink->wheel_mask; quiet++) {
        const uint64_t *arrivals = sink_arrivals(sink, now + 1 + quiet, sink->words);
        for (int w = 0; w < sink->words; w++)
            if (arrivals[w]) return quiet;
    }
    return UINT64_MAX;
}

void sink_count_flits(const Sink *sink, int node, int *flits) {
    const SinkQueue *queue = &sink->queues[node];
    for (uint32_t p = queue->head; p != queue->tail; p++) {
        const SinkPacket *packet = sink_packet_at(sink, queue, p);
        flits[packet->channel] += packet->flits;
    }
}
