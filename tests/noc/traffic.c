/* Random traffic for the network tests; see traffic.h. A payload holds source, destination and the
 * packet's number among the packets of the pair, modulo 2^16. */
#include "traffic.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/bits.h"

enum { NODE_BITS = 8, TURN_BITS = 16 };

Traffic *traffic_new(Noc *noc, int nodes, uint64_t seed) {
    size_t count = (size_t)nodes;
    Traffic *traffic = base_calloc(1, sizeof *traffic);
    traffic->noc = noc;
    traffic->nodes = nodes;
    traffic->random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    traffic->next_sent = base_calloc(count * count, sizeof(uint32_t));
    traffic->next_due = base_calloc(count * count, sizeof(uint32_t));
    traffic->sent_by = base_calloc(count, sizeof(uint64_t));
    traffic->taken_by = base_calloc(count, sizeof(uint64_t));
    traffic->taken_from = base_calloc(count, sizeof(uint64_t));
    return traffic;
}

void traffic_free(Traffic *traffic) {
    free(traffic->next_sent);
    free(traffic->next_due);
    free(traffic->sent_by);
    free(traffic->taken_by);
    free(traffic->taken_from);
    free(traffic);
}

int traffic_draw(Traffic *traffic, int limit) {
    traffic->random =
        traffic->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)((traffic->random >> 33) % (uint64_t)limit);
}

bool traffic_send(Traffic *traffic, int source, int destination, int bytes) {
    if (!noc_can_inject(traffic->noc, source, bytes)) return false;
    uint32_t turn = traffic->next_sent[source * traffic->nodes + destination]++;
    uint32_t payload = (uint32_t)source << (NODE_BITS + TURN_BITS) |
                       (uint32_t)destination << TURN_BITS | (turn & ((1U << TURN_BITS) - 1));
    noc_inject(traffic->noc, source, destination, bytes, payload);
    traffic->sent_by[source]++;
    traffic->injected++;
    return true;
}

bool traffic_take(Traffic *traffic, int node) {
    uint32_t payload = 0;
    if (!noc_peek(traffic->noc, node, &payload)) return false;
    noc_pop(traffic->noc, node);
    int source = (int)(payload >> (NODE_BITS + TURN_BITS));
    int destination = (int)(payload >> TURN_BITS & ((1U << NODE_BITS) - 1));
    uint32_t turn = payload & ((1U << TURN_BITS) - 1);
    uint32_t due = traffic->next_due[source * traffic->nodes + node]++ & ((1U << TURN_BITS) - 1);
    traffic->is_wrong |= destination != node || turn != due;
    traffic->taken_by[node]++;
    traffic->taken_from[source]++;
    traffic->popped++;
    uint64_t event =
        (noc_stats(traffic->noc).cycles << 32 | payload) + UINT64_C(0x9e3779b97f4a7c15);
    traffic->arrivals_sum = (traffic->arrivals_sum ^ event) * UINT64_C(0x100000001b3);
    return true;
}

bool traffic_can_take(const Traffic *traffic) {
    uint64_t ready = 0;
    for (size_t w = 0; w < bits_words((size_t)traffic->nodes); w++)
        ready |= noc_ready_mask(traffic->noc)[w];
    return ready != 0;
}

void traffic_take_all(Traffic *traffic) {
    for (size_t w = 0; w < bits_words((size_t)traffic->nodes); w++)
        for (uint64_t left = noc_ready_mask(traffic->noc)[w]; left; left &= left - 1)
            traffic_take(traffic, (int)w * 64 + bits_lowest64(left));
}

bool traffic_drain(Traffic *traffic, int limit) {
    for (int i = 0; i < limit && !noc_is_idle(traffic->noc); i++) {
        noc_step(traffic->noc);
        traffic_take_all(traffic);
    }
    return noc_is_idle(traffic->noc);
}
