/* The ideal network: every packet arrives a fixed number of cycles after its injection, regardless
 * of other packets. Injection stops only while some node has as many packets in flight or waiting
 * as its ejection buffer holds. It serves to measure the cost of a real network. */
#include <stdlib.h>

#include "base/arena.h"
#include "noc/noc_internal.h"

typedef struct Ideal {
    int room[NOC_MAX_NODES]; /* per node: packets that may still be sent to it */
    int full_nodes;          /* nodes without room */
} Ideal;

static void *create(Noc *noc) {
    const NocConfig *config = &noc->config;
    Ideal *ideal = base_calloc(1, sizeof *ideal);
    for (int i = 0; i < config->nodes; i++)
        ideal->room[i] = config->ejection_flits;
    sink_init(&noc->sink, config->nodes, config->ejection_flits, config->ideal_latency);
    return ideal;
}

static void destroy(void *state) { free(state); }

static void inject(Noc *noc, const NocPacket *packet) {
    Ideal *ideal = noc->state;
    *noc_queue_flits(noc, packet->source) = 0;
    if (--ideal->room[packet->destination] == 0 && ideal->full_nodes++ == 0) noc->queue_limit = 0;
    int latency = noc->config.ideal_latency;
    noc_deliver(noc, packet, 0, noc->now + (uint64_t)latency, latency, noc->words);
}

static void give_back(Noc *noc, int node, int channel, int flits) {
    (void)channel, (void)flits;
    Ideal *ideal = noc->state;
    if (ideal->room[node]++ == 0 && --ideal->full_nodes == 0)
        noc->queue_limit = noc->config.injection_flits;
}

static void step(Noc *noc) { (void)noc; }

static uint64_t quiet_steps(const Noc *noc) {
    (void)noc;
    return NOC_QUIET_FOREVER;
}

static int empty_latency(const Noc *noc, int source, int destination, int flits) {
    (void)source, (void)destination, (void)flits;
    return noc->config.ideal_latency;
}

static void add_link_stats(const Noc *noc, NocStats *stats) { (void)noc, (void)stats; }

static bool is_consistent(const Noc *noc) {
    const Ideal *ideal = noc->state;
    uint64_t inside = 0;
    for (int node = 0; node < noc->config.nodes; node++)
        inside += (uint64_t)(noc->config.ejection_flits - ideal->room[node]);
    return inside == noc->packets_inside;
}

const NocOps noc_ideal_ops = {
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
