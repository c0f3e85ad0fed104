/* Single-stage switch of whole packets, without the flit-level detail of a crossbar.
 *
 * Each node has an input queue and an output buffer. A step visits the outputs in ascending order.
 * If an output's link is free and its buffer has room, it takes a packet from the head of an input
 * queue. This is the first input with a packet for it, from the output's round-robin pointer on;
 * the pointer then moves behind that input. So the next packet of the same queue may leave in the
 * same step, to an output with a higher number. A packet arrives switch_delay cycles after its
 * step, and occupies its link for as many cycles as it has flits.
 *
 * The effect of the order of outputs is a property of this model, not of a real switch; it acts
 * like a queue with several heads. Source: the network of GPGPU-Sim 4.2's Volta and Ampere models
 * as observed, whose packets are all one unit (docs/interconnect.md). */
#include <stdlib.h>

#include "base/arena.h"
#include "noc/noc_internal.h"

typedef struct Input {
    NocPacket *ring; /* ring_mask + 1 packets */
    uint32_t head;   /* packets that have left; also the ring position of the oldest one */
    uint32_t tail;   /* number of packets injected */
} Input;

typedef struct Output {
    uint64_t *requests;    /* inputs whose oldest packet is for this output */
    uint64_t link_free_at; /* first cycle in which the link can take another packet */
    uint64_t flits;        /* flits moved over the link */
    uint16_t first_choice; /* start of the round robin over inputs */
    uint16_t credits;      /* flits that may still be sent to the node */
} Output;

typedef struct Switch {
    Input *inputs;
    Output *outputs;
    NocPacket *packets;                /* the rings of all inputs */
    uint64_t *requests;                /* the requests of all outputs */
    uint64_t asked_for[NOC_MAX_WORDS]; /* outputs that an input requests */
    uint32_t ring_mask;                /* length of a ring in packets - 1 */
    int asking;                        /* inputs that have packets */
} Switch;

static void *create(Noc *noc) {
    const NocConfig *config = &noc->config;
    size_t nodes = (size_t)config->nodes, words = (size_t)noc->words;
    size_t ring_packets = (size_t)1 << bits_log2_up((uint64_t)config->injection_flits);
    Switch *sw = base_calloc(1, sizeof *sw);
    sw->ring_mask = (uint32_t)ring_packets - 1;
    sw->inputs = base_calloc(nodes, sizeof(Input));
    sw->outputs = base_calloc(nodes, sizeof(Output));
    sw->packets = base_calloc(nodes * ring_packets, sizeof(NocPacket));
    sw->requests = base_calloc(nodes * words, sizeof(uint64_t));
    for (size_t i = 0; i < nodes; i++) {
        sw->inputs[i].ring = &sw->packets[i * ring_packets];
        sw->outputs[i].requests = &sw->requests[i * words];
        sw->outputs[i].credits = (uint16_t)config->ejection_flits;
    }
    noc->lead = config->switch_delay;
    sink_init(&noc->sink, config->nodes, config->ejection_flits, config->switch_delay + 1);
    return sw;
}

static void destroy(void *state) {
    Switch *sw = state;
    free(sw->inputs);
    free(sw->outputs);
    free(sw->packets);
    free(sw->requests);
    free(sw);
}

static NocPacket *packet_at(const Switch *sw, const Input *input, uint32_t position) {
    return &input->ring[position & sw->ring_mask];
}

/* The oldest packet of an input requests its output. */
static void ask(Switch *sw, int i) {
    const Input *input = &sw->inputs[i];
    int o = packet_at(sw, input, input->head)->destination;
    bits_set(sw->outputs[o].requests, (size_t)i);
    bits_set(sw->asked_for, (size_t)o);
    sw->asking++;
}

static void inject(Noc *noc, const NocPacket *packet) {
    Switch *sw = noc->state;
    Input *input = &sw->inputs[packet->source];
    bool was_empty = input->head == input->tail;
    *packet_at(sw, input, input->tail++) = *packet;
    if (was_empty) ask(sw, packet->source);
}

static int empty_latency(const Noc *noc, int source, int destination, int flits) {
    (void)source, (void)destination, (void)flits;
    return 1 + noc->config.switch_delay;
}

/* Moves a packet to output o, if one can go. */
static void serve(Noc *noc, Switch *sw, int o) {
    Output *output = &sw->outputs[o];
    if (output->link_free_at > noc->now) return;
    int i = noc_next_in_set(output->requests, noc->words, output->first_choice);
    Input *input = &sw->inputs[i];
    const NocPacket *packet = packet_at(sw, input, input->head);
    if (packet->flits > output->credits) return;
    output->first_choice = (uint16_t)(i + 1 < noc->config.nodes ? i + 1 : 0);
    output->credits = (uint16_t)(output->credits - packet->flits);
    output->link_free_at = noc->now + packet->flits;
    output->flits += packet->flits;
    noc_deliver(noc, packet, 0, noc->now + (uint64_t)noc->config.switch_delay,
                empty_latency(noc, i, o, packet->flits), noc->words);
    uint16_t *queue_flits = noc_queue_flits(noc, i);
    *queue_flits = (uint16_t)(*queue_flits - packet->flits);
    bits_clear(output->requests, (size_t)i);
    if (noc_set_is_empty(output->requests, noc->words)) bits_clear(sw->asked_for, (size_t)o);
    sw->asking--;
    if (++input->head != input->tail) ask(sw, i);
}

static void step(Noc *noc) {
    Switch *sw = noc->state;
    if (!sw->asking) return;
    for (int w = 0; w < noc->words; w++) {
        /* a packet that comes to the head of its queue is served in this step if its output is
         * still ahead */
        uint64_t ahead = ~UINT64_C(0);
        for (uint64_t left; (left = sw->asked_for[w] & ahead);) {
            int bit = bits_lowest64(left);
            ahead = bit == 63 ? 0 : ~UINT64_C(0) << (bit + 1);
            serve(noc, sw, w * 64 + bit);
        }
    }
}

static uint64_t quiet_steps(const Noc *noc) {
    const Switch *sw = noc->state;
    return sw->asking ? 0 : NOC_QUIET_FOREVER;
}

static void give_back(Noc *noc, int node, int channel, int flits) {
    (void)channel;
    Output *output = &((Switch *)noc->state)->outputs[node];
    output->credits = (uint16_t)(output->credits + flits);
}

static void add_link_stats(const Noc *noc, NocStats *stats) {
    const Switch *sw = noc->state;
    stats->links = noc->config.nodes;
    for (int o = 0; o < noc->config.nodes; o++)
        noc_add_link_flits(stats, sw->outputs[o].flits);
}

static bool is_consistent(const Noc *noc) {
    const Switch *sw = noc->state;
    for (int n = 0; n < noc->config.nodes; n++) {
        const Input *input = &sw->inputs[n];
        int queued = 0, sent = 0, asked = 0;
        for (uint32_t p = input->head; p != input->tail; p++)
            queued += packet_at(sw, input, p)->flits;
        for (int o = 0; o < noc->config.nodes; o++)
            asked += bits_get(sw->outputs[o].requests, (size_t)n);
        sink_count_flits(&noc->sink, n, &sent);
        if (queued != *noc_queue_flits(noc, n) || asked != (input->head != input->tail))
            return false;
        if (sent + sw->outputs[n].credits != noc->config.ejection_flits) return false;
        bool is_asked_for = !noc_set_is_empty(sw->outputs[n].requests, noc->words);
        if (bits_get(sw->asked_for, (size_t)n) != is_asked_for) return false;
    }
    return true;
}

const NocOps noc_switch_ops = {
    .create = create,
    .destroy = destroy,
    .inject = inject,
    .step = step,
    .quiet_steps = quiet_steps,
    .give_back = give_back,
    .empty_latency = empty_latency,
    .add_link_stats = add_link_stats,
    .is_consistent = is_consistent,
};
