/* A network that two threads have: its owner moves it, its taker has the ejection buffers.
 *
 * What has left the switch goes to the taker through a ring, in the order in which it left; it is
 * on its link for `lead` steps more, so the taker hears of it early enough though it is up to so
 * many steps before the owner. Room comes back in a row for each of the taker's turns. So a step
 * moves no line between the processors' caches but those in which there is something to tell, one
 * behind the other, and neither thread waits for the other as long as both are equally quick. */
#include <stdlib.h>

#include "base/arena.h"
#include "noc/noc_internal.h"

enum { ROWS = 2 * NOC_MOST_TURNS }; /* those not collected, and those that are being filled */

/* ---- Rooms ---- */

static uint64_t *row_at(const Noc *noc, uint64_t turn) {
    return &noc->lent->rooms[turn % ROWS * (size_t)noc->lent->row_words];
}

/* Of a row, the flits of a node's channels. */
static uint16_t *room_of(const Noc *noc, uint64_t *row, int node) {
    return (uint16_t *)(void *)(row + noc->sink.words) + (size_t)node * (size_t)noc->channels;
}

void noc_pop_lent(Noc *noc, int node) {
    NocLent *lent = noc->lent;
    bool has_next;
    const SinkPacket *packet = sink_take(&noc->sink, node, lent->now, &has_next);
    uint64_t *row = row_at(noc, lent->turn);
    uint16_t *room = &room_of(noc, row, node)[packet->channel];
    sink_set_drained(&noc->sink, node, !has_next);
    lent->popped++;
    lent->ejection_cycles += lent->now - packet->ready_at;
    bits_set(row, (size_t)node);
    *room = (uint16_t)(*room + packet->flits);
}

static void give_back_row(Noc *noc, uint64_t *row) {
    for (int w = 0; w < noc->sink.words; w++) {
        for (uint64_t left = row[w]; left; left &= left - 1) {
            const int node = w * 64 + bits_lowest64(left);
            uint16_t *room = room_of(noc, row, node);
            for (int channel = 0; channel < noc->channels; channel++) {
                if (room[channel]) noc->ops->give_back(noc, node, channel, room[channel]);
                room[channel] = 0;
            }
        }
        row[w] = 0;
    }
}

void noc_collect(Noc *noc, uint64_t turn) {
    NocLent *lent = noc->lent;
    assert(turn >= lent->collected && turn - lent->collected <= NOC_MOST_TURNS);
    while (lent->collected < turn)
        give_back_row(noc, row_at(noc, ++lent->collected));
}

bool noc_lacks_room(const Noc *noc) { return !noc->ops->lacks_room || noc->ops->lacks_room(noc); }

/* ---- Arrivals ---- */

void noc_send_lent(Noc *noc, int node, SinkPacket packet) {
    NocLent *lent = noc->lent;
    lent->arrivals[lent->left++ & lent->arrival_mask] =
        (NocArrival){.ready_at = (uint32_t)packet.ready_at,
                     .payload = packet.payload,
                     .node = (uint16_t)node,
                     .flits = packet.flits,
                     .channel = packet.channel};
}

void noc_tell_lent(Noc *noc) {
    NocLent *lent = noc->lent;
    if (lent->left == lent->told) return;
    lent->told = lent->left;
    atomic_store_explicit(&lent->sent, lent->told, memory_order_release);
}

static void hear(Noc *noc, NocSeen *seen, const void *user) {
    NocLent *lent = noc->lent;
    const uint32_t sent = atomic_load_explicit(&lent->sent, memory_order_acquire);
    for (; lent->heard != sent; lent->heard++) {
        const NocArrival *arrival = &lent->arrivals[lent->heard & lent->arrival_mask];
        const uint32_t ahead = arrival->ready_at - (uint32_t)lent->now;
        if (seen) seen(user, arrival->payload);
        sink_push(&noc->sink, arrival->node, lent->now,
                  (SinkPacket){.ready_at = lent->now + ahead,
                               .payload = arrival->payload,
                               .flits = arrival->flits,
                               .channel = arrival->channel},
                  noc->sink.words);
    }
}

static void go_on_to(Noc *noc, uint64_t now) {
    while (noc->lent->now < now)
        sink_step(&noc->sink, ++noc->lent->now, noc->sink.words);
}

void noc_arrive(Noc *noc, uint64_t now, NocSeen *seen, const void *user) {
    hear(noc, seen, user);
    go_on_to(noc, now);
    noc->lent->turn++;
}

/* ---- Life ---- */

static NocLent *new_lent(const Noc *noc) {
    const size_t nodes = (size_t)noc->config.nodes, channels = (size_t)noc->channels;
    const size_t by_room = (size_t)noc->config.ejection_flits * channels;
    const size_t by_steps = (size_t)noc->most_arrivals * NOC_MOST_APART;
    const size_t most = nodes * (by_room < by_steps ? by_room : by_steps);
    const size_t arrivals = (size_t)1 << noc_log2_up(most);
    const size_t row =
        (size_t)noc->sink.words * sizeof(uint64_t) + nodes * channels * sizeof(uint16_t);
    const size_t row_lines = (row + SINK_LINE - 1) / SINK_LINE;
    NocLent *lent = base_alloc_lines(sizeof *lent);
    lent->arrivals = base_alloc_lines(arrivals * sizeof(NocArrival));
    lent->arrival_mask = (uint32_t)arrivals - 1;
    lent->row_words = (int)(row_lines * SINK_LINE / sizeof(uint64_t));
    lent->rooms = base_alloc_lines(ROWS * row_lines * SINK_LINE);
    return lent;
}

void noc_free_lent(NocLent *lent) {
    if (!lent) return;
    free(lent->arrivals);
    free(lent->rooms);
    free(lent);
}

int noc_lead(const Noc *noc) { return noc->lead; }

void noc_lend(Noc *noc) {
    assert(noc_can_hold(noc) && !noc->is_holding && !noc->is_lent);
    if (!noc->lent) noc->lent = new_lent(noc);
    noc->lent->now = noc->now;
    noc->lent->turn = noc->lent->collected = 0;
    noc->is_lent = true;
}

void noc_take_back(Noc *noc) {
    NocLent *lent = noc->lent;
    assert(noc->is_lent);
    hear(noc, NULL, NULL);
    go_on_to(noc, noc->now);
    give_back_row(noc, row_at(noc, 0)); /* popped before the first turn */
    noc_collect(noc, lent->turn);
    noc->packets_inside -= lent->popped;
    noc->counts[NETWORK_packets_received] += lent->popped;
    noc->stats.ejection_cycles += lent->ejection_cycles;
    lent->popped = lent->ejection_cycles = 0;
    noc->is_lent = false;
}
