/* Single-stage crossbar with input queues, one virtual channel and iSLIP arbitration.
 *
 * On the input side, each node has an injection queue and an input buffer, both first in, first
 * out. Only the packet at the head of the buffer requests its output (head-of-line blocking). The
 * switch runs internal_steps times per cycle. In each step a free output grants one of the inputs
 * that request it, round robin. The input then holds the output until its packet is through. It
 * moves one flit per step, beginning allocation_steps later. Since an input requests only one
 * output at a time, the grant is always accepted, and one iteration of iSLIP finds a maximal
 * matching. On the output side, flits queue for the link, which carries one per cycle. A credit for
 * each flit is taken in the switch and given back when its packet is popped. So the link never
 * waits, and its schedule is known in the switch.
 *
 * A step sees only the state that the previous step left: grants read requests and outputs before
 * any flit of this step moves. So the order in which ports are visited cannot matter.
 *
 * Source: the behaviour measured on GPGPU-Sim 4.2's stock GTX480 model (docs/interconnect.md);
 * iSLIP: N. McKeown, "The iSLIP Scheduling Algorithm for Input-Queued Switches", 1999. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "noc/noc_internal.h"

typedef struct Input {
    NocPacket *ring;       /* ring_mask + 1 packets: those in the queue and in the buffer */
    uint32_t head;         /* ring position of the oldest packet, modulo the ring */
    uint32_t tail;         /* ring position of the next packet; equal to head: empty */
    uint16_t buffer_flits; /* flits in the input buffer, starting with the head packet's */
    uint16_t flits_left;   /* flits of the head packet, if it holds an output, that are not through
                              the switch */
    bool is_asking;        /* its head packet requests an output or holds one */
} Input;

typedef struct Output {
    uint64_t link_free_at; /* first cycle in which the link can take another flit */
    uint64_t flits;        /* flits moved over the link */
    uint16_t owner;   /* the input that holds it or held it last; the round robin continues there */
    uint16_t credits; /* flits it may still send to the node */
} Output;

typedef struct Crossbar {
    Input *inputs;
    Output *outputs;
    NocPacket *packets;                /* the rings of all inputs */
    uint64_t *requests;                /* per output: inputs that request it */
    uint64_t queued[NOC_MAX_WORDS];    /* inputs whose injection queue holds flits */
    uint64_t full[NOC_MAX_WORDS];      /* inputs whose buffer is full */
    uint64_t asked_for[NOC_MAX_WORDS]; /* outputs that an input requests */
    uint64_t held[NOC_MAX_WORDS];      /* outputs held by an input */
    uint32_t ring_mask;                /* length of a ring in packets - 1 */
    int buffer_flits;                  /* size of an input buffer */
    int transit;                       /* latency of a packet without flits in an empty network */
} Crossbar;

/* The code of a step is compiled twice, for sets of one word and of several words, so that a
 * network of up to 64 nodes executes no loops of one iteration. */
#define EITHER __attribute__((always_inline)) static inline

EITHER void set_add_if(uint64_t *set, int i, bool is_in, int words) {
    set[words == 1 ? 0 : i / 64] |= bits_if(is_in, i % 64);
}

EITHER void set_drop(uint64_t *set, int i, int words) {
    set[words == 1 ? 0 : i / 64] &= ~(UINT64_C(1) << i % 64);
}

EITHER void set_drop_if(uint64_t *set, int i, bool is_out, int words) {
    set[words == 1 ? 0 : i / 64] &= ~bits_if(is_out, i % 64);
}

/* The first member of a set after `last`, with wrap-around; the set must not be empty. */
EITHER int set_next(const uint64_t *set, int last, int words) {
    if (words > 1) return noc_next_in_set(set, words, last + 1 < words * 64 ? last + 1 : 0);
    uint64_t behind = set[0] & ~UINT64_C(1) << last;
    return bits_lowest64(behind ? behind : set[0]);
}

EITHER uint64_t *requests_for(const Crossbar *xbar, int o, int words) {
    return &xbar->requests[o * words];
}

/* One cycle into the input buffer, one through the switch (two if the grant and the first flit do
 * not fit into one cycle), the output delay, and one cycle for each further flit. */
static int transit_of(const NocConfig *config) {
    int switch_cycles = 1 + (config->allocation_steps >= config->internal_steps);
    return 1 + switch_cycles + config->output_delay - 1;
}

static void *create(Noc *noc) {
    const NocConfig *config = &noc->config;
    size_t nodes = (size_t)config->nodes, words = (size_t)noc->words;
    uint64_t most_packets = (uint64_t)(config->injection_flits + config->buffer_flits + 1);
    size_t ring_packets = (size_t)1 << bits_log2_up(most_packets);
    size_t stride = ring_packets + SINK_APART; /* as in sink.c */
    Crossbar *xbar = base_calloc(1, sizeof *xbar);
    xbar->ring_mask = (uint32_t)ring_packets - 1;
    xbar->transit = transit_of(config);
    xbar->buffer_flits = config->buffer_flits;
    xbar->inputs = base_calloc(nodes, sizeof(Input));
    xbar->outputs = base_calloc(nodes, sizeof(Output));
    xbar->packets = base_calloc(nodes * stride, sizeof(NocPacket));
    xbar->requests = base_calloc(nodes * words, sizeof(uint64_t));
    for (size_t i = 0; i < nodes; i++) {
        xbar->inputs[i].ring = &xbar->packets[i * stride];
        xbar->outputs[i].owner = (uint16_t)(nodes - 1);
        xbar->outputs[i].credits = (uint16_t)config->ejection_flits;
    }
    noc->lead = config->output_delay;
    noc->most_arrivals = config->internal_steps;
    sink_init(&noc->sink, config->nodes, config->ejection_flits,
              config->ejection_flits + config->output_delay);
    return xbar;
}

static void destroy(void *state) {
    Crossbar *xbar = state;
    free(xbar->inputs);
    free(xbar->outputs);
    free(xbar->packets);
    free(xbar->requests);
    free(xbar);
}

static NocPacket *packet_at(const Crossbar *xbar, const Input *input, uint32_t position) {
    return &input->ring[position & xbar->ring_mask];
}

void noc_crossbar_inject(Noc *noc, const NocPacket *packet) {
    Crossbar *xbar = noc->state;
    Input *input = &xbar->inputs[packet->source];
    const uint32_t is_left = -(uint32_t)(input->head != input->tail);
    input->head &= is_left; /* else it restarts in the same few cache lines */
    input->tail &= is_left;
    *packet_at(xbar, input, input->tail++) = *packet;
    bits_set(xbar->queued, packet->source);
}

static int empty_latency(const Noc *noc, int source, int destination, int flits) {
    (void)source, (void)destination;
    return ((const Crossbar *)noc->state)->transit + flits;
}

/* The packet at the head of an input's buffer requests its output if `if_new` is set, that is,
 * if the packet is new there. (Without a branch, which the host would mispredict often. The ring's
 * head can always be read, whatever it contains.) */
EITHER void ask(Crossbar *xbar, Input *input, int i, bool if_new, int words) {
    const NocPacket *packet = packet_at(xbar, input, input->head);
    input->is_asking |= if_new;
    set_add_if(requests_for(xbar, packet->destination, words), i, if_new, words);
    set_add_if(xbar->asked_for, packet->destination, if_new, words);
}

EITHER void grant(Crossbar *xbar, int o, int words) {
    Output *output = &xbar->outputs[o];
    uint64_t *requests = requests_for(xbar, o, words);
    int i = set_next(requests, output->owner, words);
    output->owner = (uint16_t)i;
    Input *input = &xbar->inputs[i];
    input->flits_left = packet_at(xbar, input, input->head)->flits;
    set_drop(requests, i, words);
    set_drop_if(xbar->asked_for, o, noc_set_is_empty(requests, words), words);
}

/* Called when the head packet's last flit has passed: frees the output and lets the next packet
 * request. */
EITHER void finish_packet(Noc *noc, Crossbar *xbar, Input *input, int o, uint64_t departs_at,
                          int words) {
    const NocPacket *packet = packet_at(xbar, input, input->head);
    noc_deliver(noc, packet, 0, departs_at + (uint64_t)noc->config.output_delay,
                xbar->transit + packet->flits, words);
    input->head++;
    input->is_asking = false;
    set_drop(xbar->held, o, words);
    ask(xbar, input, xbar->outputs[o].owner, input->buffer_flits != 0, words);
}

/* Moves a flit of the input that holds output o, if there is a flit in its buffer and a credit. */
EITHER void move_flit(Noc *noc, Crossbar *xbar, int o, int words) {
    Output *output = &xbar->outputs[o];
    Input *input = &xbar->inputs[output->owner];
    if (!output->credits || !input->buffer_flits) return;
    output->credits--;
    input->buffer_flits--;
    set_drop(xbar->full, output->owner, words);
    output->flits++;
    uint64_t departs_at = noc->now > output->link_free_at ? noc->now : output->link_free_at;
    output->link_free_at = departs_at + 1;
    if (--input->flits_left == 0) finish_packet(noc, xbar, input, o, departs_at, words);
}

/* Every free output that is requested grants one input, which holds it from the next step on, or
 * from this step if allocation takes no time. Held outputs move a flit. */
EITHER void step_switch(Noc *noc, Crossbar *xbar, int words) {
    uint64_t moving[NOC_MAX_WORDS], granted[NOC_MAX_WORDS];
    const uint64_t at_once = noc->config.allocation_steps ? 0 : ~UINT64_C(0);
    for (int w = 0; w < words; w++) {
        granted[w] = xbar->asked_for[w] & ~xbar->held[w];
        moving[w] = xbar->held[w] | (granted[w] & at_once);
        xbar->held[w] |= granted[w];
        for (uint64_t left = granted[w]; left; left &= left - 1)
            grant(xbar, w * 64 + bits_lowest64(left), words);
    }
    for (int w = 0; w < words; w++)
        for (uint64_t left = moving[w]; left; left &= left - 1)
            move_flit(noc, xbar, w * 64 + bits_lowest64(left), words);
}

/* Moves one flit from each injection queue into its input buffer, if that has room. */
EITHER void fill_buffers(const Noc *noc, Crossbar *xbar, int words) {
    for (int w = 0; w < words; w++) {
        for (uint64_t left = xbar->queued[w] & ~xbar->full[w]; left; left &= left - 1) {
            const int bit = bits_lowest64(left), i = w * 64 + bit;
            Input *input = &xbar->inputs[i];
            xbar->full[w] |= bits_if(++input->buffer_flits == xbar->buffer_flits, bit);
            xbar->queued[w] &= ~bits_if(--*noc_queue_flits(noc, i) == 0, bit);
            ask(xbar, input, i, !input->is_asking, words);
        }
    }
}

/* Whether any input requests or holds an output. */
EITHER bool is_switching(const Crossbar *xbar, int words) {
    uint64_t any = 0;
    for (int w = 0; w < words; w++)
        any |= xbar->asked_for[w] | xbar->held[w];
    return any;
}

EITHER void step_words(Noc *noc, int words) {
    Crossbar *xbar = noc->state;
    for (int s = noc->config.internal_steps; s && is_switching(xbar, words); s--)
        step_switch(noc, xbar, words);
    fill_buffers(noc, xbar, words);
}

void noc_crossbar_step(Noc *noc) {
    if (noc->words == 1) step_words(noc, 1);
    else step_words(noc, noc->words);
}

static uint64_t quiet_steps(const Noc *noc) {
    const Crossbar *xbar = noc->state;
    bool is_queued = !noc_set_is_empty(xbar->queued, noc->words);
    return is_queued || is_switching(xbar, noc->words) ? 0 : NOC_QUIET_FOREVER;
}

void noc_crossbar_give_back(Noc *noc, int node, int channel, int flits) {
    (void)channel;
    Output *output = &((Crossbar *)noc->state)->outputs[node];
    output->credits = (uint16_t)(output->credits + flits);
}

/* Whether an output has fewer credits than it may use in a step. It is not known in advance which
 * outputs will use theirs. */
static bool lacks_room(const Noc *noc) {
    const Crossbar *xbar = noc->state;
    bool lacks = false;
    for (int o = 0; o < noc->config.nodes; o++)
        lacks |= xbar->outputs[o].credits < noc->config.internal_steps;
    return lacks;
}

static void add_link_stats(const Noc *noc, NocStats *stats) {
    const Crossbar *xbar = noc->state;
    stats->links = noc->config.nodes;
    for (int o = 0; o < noc->config.nodes; o++)
        noc_add_link_flits(stats, xbar->outputs[o].flits);
}

static bool is_input_consistent(const Noc *noc, int i) {
    const Crossbar *xbar = noc->state;
    const Input *input = &xbar->inputs[i];
    int flits = 0;
    for (uint32_t p = input->head; p != input->tail; p++)
        flits += packet_at(xbar, input, p)->flits;
    int asked = 0;
    for (int o = 0; o < noc->config.nodes; o++) {
        const bool holds = bits_get(xbar->held, (size_t)o) && xbar->outputs[o].owner == i;
        if (holds) flits -= packet_at(xbar, input, input->head)->flits - input->flits_left;
        asked += bits_get(requests_for(xbar, o, noc->words), (size_t)i) + holds;
    }
    const int queued = *noc_queue_flits(noc, i);
    return flits == input->buffer_flits + queued && asked == input->is_asking &&
           input->buffer_flits <= noc->config.buffer_flits &&
           queued <= noc->config.injection_flits &&
           bits_get(xbar->queued, (size_t)i) == (queued > 0) &&
           bits_get(xbar->full, (size_t)i) == (input->buffer_flits == noc->config.buffer_flits);
}

/* The flits that an output has sent and its node has yet to pop, plus its credits, must equal the
 * ejection buffer. */
static bool is_output_consistent(const Noc *noc, int o) {
    const Crossbar *xbar = noc->state;
    const Output *output = &xbar->outputs[o];
    int flits = output->credits;
    sink_count_flits(&noc->sink, o, &flits);
    if (bits_get(xbar->held, (size_t)o)) {
        const Input *input = &xbar->inputs[output->owner];
        flits += packet_at(xbar, input, input->head)->flits - input->flits_left;
    }
    bool is_asked_for = !noc_set_is_empty(requests_for(xbar, o, noc->words), noc->words);
    return flits == noc->config.ejection_flits &&
           bits_get(xbar->asked_for, (size_t)o) == is_asked_for;
}

static bool is_consistent(const Noc *noc) {
    for (int n = 0; n < noc->config.nodes; n++)
        if (!is_input_consistent(noc, n) || !is_output_consistent(noc, n)) return false;
    return true;
}

const NocOps noc_crossbar_ops = {
    .create = create,
    .destroy = destroy,
    .inject = noc_crossbar_inject,
    .step = noc_crossbar_step,
    .quiet_steps = quiet_steps,
    .give_back = noc_crossbar_give_back,
    .lacks_room = lacks_room,
    .empty_latency = empty_latency,
    .add_link_stats = add_link_stats,
    .is_consistent = is_consistent,
};
