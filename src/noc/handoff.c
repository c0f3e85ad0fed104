/* A network shared by two threads: its owner moves packets, its consumer has the ejection buffers.
 *
 * Packets that have left the switch go to the consumer through a ring, in the order in which they
 * left. They are on their link for `lead` more steps, so the consumer may be up to `lead` steps
 * ahead of the owner and still sees each packet in time. Room is returned in one slot per turn of
 * the consumer. So a step transfers only cache lines that carry news between the processors, one
 * after another. Neither thread waits for the other as long as both run at the same speed. */
#include <stdlib.h>

#include "base/arena.h"
#include "noc/noc_internal.h"

enum { SLOTS = 2 * NOC_MOST_TURNS }; /* slots not collected yet, and slots being filled */

/* ---- Rooms ---- */

static uint64_t *slot_at(const Noc *noc, uint64_t turn) {
    return &noc->handoff->rooms[turn % SLOTS * (size_t)noc->handoff->slot_words];
}

/* The flits of a node's channels in a slot. */
static uint16_t *room_of(const Noc *noc, uint64_t *slot, int node) {
    return (uint16_t *)(void *)(slot + noc->sink.words) + (size_t)node * (size_t)noc->channels;
}

void noc_pop_handoff(Noc *noc, int node) {
    NocHandoff *handoff = noc->handoff;
    bool has_next;
    const SinkPacket *packet = sink_take(&noc->sink, node, handoff->now, &has_next);
    uint64_t *slot = slot_at(noc, handoff->turn);
    uint16_t *room = &room_of(noc, slot, node)[packet->channel];
    sink_set_drained(&noc->sink, node, !has_next);
    handoff->popped++;
    handoff->ejection_cycles += handoff->now - packet->ready_at;
    bits_set(slot, (size_t)node);
    *room = (uint16_t)(*room + packet->flits);
}

static void give_back_slot(Noc *noc, uint64_t *slot) {
    for (int w = 0; w < noc->sink.words; w++) {
        for (uint64_t left = slot[w]; left; left &= left - 1) {
            const int node = w * 64 + bits_lowest64(left);
            uint16_t *room = room_of(noc, slot, node);
            for (int channel = 0; channel < noc->channels; channel++) {
                if (room[channel]) noc->ops->give_back(noc, node, channel, room[channel]);
                room[channel] = 0;
            }
        }
        slot[w] = 0;
    }
}

void noc_collect(Noc *noc, uint64_t turn) {
    NocHandoff *handoff = noc->handoff;
    assert(turn >= handoff->collected && turn - handoff->collected <= NOC_MOST_TURNS);
    while (handoff->collected < turn)
        give_back_slot(noc, slot_at(noc, ++handoff->collected));
}

bool noc_lacks_room(const Noc *noc) { return !noc->ops->lacks_room || noc->ops->lacks_room(noc); }

/* ---- Arrivals ---- */

void noc_send_handoff(Noc *noc, int node, SinkPacket packet) {
    NocHandoff *handoff = noc->handoff;
    handoff->arrivals[handoff->left++ & handoff->arrival_mask] =
        (NocArrival){.ready_at = (uint32_t)packet.ready_at,
                     .payload = packet.payload,
                     .node = (uint16_t)node,
                     .flits = packet.flits,
                     .channel = packet.channel};
}

void noc_tell_handoff(Noc *noc) {
    NocHandoff *handoff = noc->handoff;
    if (handoff->left == handoff->told) return;
    handoff->told = handoff->left;
    atomic_store_explicit(&handoff->sent, handoff->told, memory_order_release);
}

static void hear(Noc *noc, NocSeen *seen, const void *user) {
    NocHandoff *handoff = noc->handoff;
    const uint32_t sent = atomic_load_explicit(&handoff->sent, memory_order_acquire);
    for (; handoff->heard != sent; handoff->heard++) {
        const NocArrival *arrival = &handoff->arrivals[handoff->heard & handoff->arrival_mask];
        const uint32_t ahead = arrival->ready_at - (uint32_t)handoff->now;
        if (seen) seen(user, arrival->payload);
        sink_push(&noc->sink, arrival->node, handoff->now,
                  (SinkPacket){.ready_at = handoff->now + ahead,
                               .payload = arrival->payload,
                               .flits = arrival->flits,
                               .channel = arrival->channel},
                  noc->sink.words);
    }
}

static void go_on_to(Noc *noc, uint64_t now) {
    while (noc->handoff->now < now)
        sink_step(&noc->sink, ++noc->handoff->now, noc->sink.words);
}

void noc_arrive(Noc *noc, uint64_t now, NocSeen *seen, const void *user) {
    hear(noc, seen, user);
    go_on_to(noc, now);
    noc->handoff->turn++;
}

/* ---- Life ---- */

static NocHandoff *new_handoff(const Noc *noc) {
    const size_t nodes = (size_t)noc->config.nodes, channels = (size_t)noc->channels;
    const size_t by_room = (size_t)noc->config.ejection_flits * channels;
    const size_t by_steps = (size_t)noc->most_arrivals * NOC_MOST_APART;
    const size_t most = nodes * (by_room < by_steps ? by_room : by_steps);
    const size_t arrivals = (size_t)1 << bits_log2_up(most);
    const size_t slot =
        (size_t)noc->sink.words * sizeof(uint64_t) + nodes * channels * sizeof(uint16_t);
    const size_t slot_lines = (slot + SINK_LINE - 1) / SINK_LINE;
    NocHandoff *handoff = base_alloc_lines(sizeof *handoff);
    handoff->arrivals = base_alloc_lines(arrivals * sizeof(NocArrival));
    handoff->arrival_mask = (uint32_t)arrivals - 1;
    handoff->slot_words = (int)(slot_lines * SINK_LINE / sizeof(uint64_t));
    handoff->rooms = base_alloc_lines(SLOTS * slot_lines * SINK_LINE);
    return handoff;
}

void noc_free_handoff(NocHandoff *handoff) {
    if (!handoff) return;
    free(handoff->arrivals);
    free(handoff->rooms);
    free(handoff);
}

int noc_lead(const Noc *noc) { return noc->lead; }

void noc_hand_off(Noc *noc) {
    assert(noc_can_hold(noc) && !noc->is_holding && !noc->is_handed_off);
    if (!noc->handoff) noc->handoff = new_handoff(noc);
    noc->handoff->now = noc->now;
    noc->handoff->turn = noc->handoff->collected = 0;
    noc->is_handed_off = true;
}

void noc_take_back(Noc *noc) {
    NocHandoff *handoff = noc->handoff;
    assert(noc->is_handed_off);
    hear(noc, NULL, NULL);
    go_on_to(noc, noc->now);
    give_back_slot(noc, slot_at(noc, 0)); /* for packets popped before the first turn */
    noc_collect(noc, handoff->turn);
    noc->packets_inside -= handoff->popped;
    noc->counts[NETWORK_packets_received] += handoff->popped;
    noc->stats.ejection_cycles += handoff->ejection_cycles;
    handoff->popped = handoff->ejection_cycles = 0;
    noc->is_handed_off = false;
}
