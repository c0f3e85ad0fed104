/* The parts that the kinds of network share: the object itself, the operations that a kind
 * supplies, and sets of nodes as words of bits. Private to this folder. */
#ifndef TYTO_NOC_NOC_INTERNAL_H
#define TYTO_NOC_NOC_INTERNAL_H

#include <stdatomic.h>

#include "base/bits.h"
#include "noc/noc.h"
#include "noc/sink.h"

enum { NOC_MAX_WORDS = NOC_MAX_NODES / 64 }; /* words of a set of nodes */
_Static_assert(NOC_MAX_NODES % 64 == 0, "sets of nodes are whole words");

typedef struct NocPacket {
    uint32_t injected_at; /* steps before its injection, modulo 2^32 */
    uint32_t payload;     /* the owner's handle */
    uint16_t source;
    uint16_t destination;
    uint16_t flits;
} NocPacket;
_Static_assert(sizeof(NocPacket) == 16, "four packets per cache line");

/* The functions of one kind of network. `state` is the kind's own part of a Noc. */
typedef struct NocOps {
    void *(*create)(Noc *noc);
    void (*destroy)(void *state);
    /* Takes over a packet; noc.c has already counted it, including its flits in noc_queue_flits. */
    void (*inject)(Noc *noc, const NocPacket *packet);
    /* One cycle; noc->now has already advanced to it. */
    void (*step)(Noc *noc);
    /* noc_quiet_steps without packets on their way to the sinks. */
    uint64_t (*quiet_steps)(const Noc *noc);
    /* A node has popped a packet of `flits` flits, which arrived on a virtual channel. */
    void (*give_back)(Noc *noc, int node, int channel, int flits);
    /* noc_lacks_room. NULL: always true. */
    bool (*lacks_room)(const Noc *noc);
    int (*empty_latency)(const Noc *noc, int source, int destination, int flits);
    /* Adds link_flits, busiest_link_flits and links. */
    void (*add_link_stats)(const Noc *noc, NocStats *stats);
    bool (*is_consistent)(const Noc *noc);
} NocOps;

extern const NocOps noc_mesh_ops, noc_crossbar_ops, noc_ideal_ops, noc_switch_ops;

/* The crossbar's functions. Most machines use a crossbar, so they are called directly and not
 * through a pointer. */
void noc_crossbar_inject(Noc *noc, const NocPacket *packet);
void noc_crossbar_step(Noc *noc);
void noc_crossbar_give_back(Noc *noc, int node, int channel, int flits);

/* What a node injected and popped while the network held it. Each node's record has its own cache
 * lines. */
typedef struct NocHeld {
    uint64_t bytes;           /* bytes injected, without padding of flits */
    uint64_t ejection_cycles; /* of the popped packets, as in NocStats */
    uint16_t count;           /* injected packets: at most the flits of an injection queue */
    uint16_t popped;          /* popped packets: at most the flits of an ejection buffer */
    uint16_t channels;        /* virtual channels on which room was given back, one bit each */
    bool is_drained; /* nothing is ready at the node any more, even if the sink has its bit set */
    uint16_t room[NOC_MAX_CHANNELS]; /* flits given back, by virtual channel */
    NocPacket packet[];              /* injected packets in order; the first is in the same cache
                                        line */
} NocHeld;
_Static_assert(offsetof(NocHeld, packet) + sizeof(NocPacket) <= SINK_LINE, "most inject one");

enum { NOC_LINE = 128 }; /* two threads must not write within the same block of this many bytes */

/* A packet on its way to an ejection buffer. */
typedef struct NocArrival {
    uint32_t ready_at; /* modulo 2^32 */
    uint32_t payload;
    uint16_t node, flits, channel;
} NocArrival;
_Static_assert(sizeof(NocArrival) == 16, "four arrivals per cache line");

/* The data that the two threads of a handed-off network exchange (noc/handoff.c). */
typedef struct NocHandoff {
    NocArrival *arrivals; /* ring of arrival_mask + 1 entries */
    uint32_t arrival_mask;
    int slot_words; /* words per slot of `rooms` */
    uint64_t
        *rooms; /* a slot per turn of the consumer, modulo their number, with the room that it gave
                   back: the set of nodes, then the flits by node and channel, 16 bits each */
    char apart[NOC_LINE - 2 * sizeof(void *) - 2 * sizeof(uint32_t)];
    _Atomic uint32_t
        sent; /* written by the owner for the consumer: number of arrivals in the ring */
    char apart_of_word[NOC_LINE - sizeof(uint32_t)];
    uint64_t collected; /* owner only: turns whose room it has collected */
    uint32_t left;      /* owner only: packets that have left the switch */
    uint32_t told;      /* owner only: packets announced to the consumer */
    char apart_of_owner[NOC_LINE - 2 * sizeof(uint64_t)];
    uint64_t now;             /* consumer only: the step that its state follows */
    uint64_t turn;            /* number of turns so far */
    uint64_t popped;          /* packets popped */
    uint64_t ejection_cycles; /* of the packets it popped, as in NocStats */
    uint32_t heard;           /* arrivals that it has taken from the ring */
    char apart_of_taker[NOC_LINE - 5 * sizeof(uint64_t)];
} NocHandoff;
_Static_assert(sizeof(NocHandoff) == 4 * NOC_LINE, "owner and consumer write side by side");

void noc_free_handoff(NocHandoff *handoff); /* NULL is allowed */
/* Called by the owner of a handed-off network: a packet has left the switch. */
void noc_send_handoff(Noc *noc, int node, SinkPacket packet);
/* Called at the end of a step: announces the packets that left in it to the consumer. */
void noc_tell_handoff(Noc *noc);
/* noc_pop for the consumer. */
void noc_pop_handoff(Noc *noc, int node);

/* A step writes only to the first line and to those of `stats`, because another thread may read the
 * others. */
struct Noc {
    _Alignas(SINK_LINE) uint64_t now; /* steps so far */
    uint64_t packets_inside;          /* packets injected and not popped */
    uint64_t settled_at; /* if the network is empty, steps from this one on do nothing */
    bool is_holding;     /* between noc_hold and noc_release */

    _Alignas(SINK_LINE) const NocOps *ops; /* functions of the kind */
    void *state;                           /* the kind's own part */
    uint16_t *flits_by_bytes;              /* flits of a packet, by its bytes, 0 ..
                                              max_packet_bytes */
    int max_packet_bytes;                  /* bytes of the whole injection queue */
    int queue_limit;     /* flits that a node may have queued; 0 if no node may inject (ideal) */
    int words;           /* words of a set of nodes */
    bool is_handed_off;  /* between noc_hand_off and noc_take_back */
    NocHandoff *handoff; /* NULL: never handed off */
    Sink sink;           /* the ejection buffers */
    char *held;          /* one NocHeld per node, held_bytes apart; NULL: never held */
    size_t held_bytes;
    /* Set by the kind: */
    int lead;          /* noc_lead */
    int most_arrivals; /* most packets that a step sends to a node */
    int channels;      /* number of virtual channels on which they arrive */
    NocConfig config;
    uint64_t *counts;                   /* the owner's rows, or those of `stats` */
    _Alignas(SINK_LINE) NocStats stats; /* without cycles and link statistics, which are derived */
};

/* Number of flits in a node's injection queue. */
static inline uint16_t *noc_queue_flits(const Noc *noc, int node) {
    return &noc->sink.queues[node].queue_flits;
}

/* Sends a packet's last flit to its node, where it arrives at `ready_at`, and counts the packet.
 * `transit`: the packet's latency in an empty network; `words`: noc->words. */
static inline void noc_deliver(Noc *noc, const NocPacket *packet, int channel, uint64_t ready_at,
                               int transit, int words) {
    uint32_t latency = (uint32_t)ready_at - packet->injected_at;
    noc->stats.packets_arrived++;
    noc->stats.flits_arrived += packet->flits;
    noc->counts[NETWORK_transit_cycles] += (uint64_t)transit;
    noc->counts[NETWORK_queue_cycles] += latency - (uint32_t)transit;
    const SinkPacket arrival = {.ready_at = ready_at,
                                .payload = packet->payload,
                                .flits = packet->flits,
                                .channel = (uint16_t)channel};
    if (__builtin_expect(noc->is_handed_off, false))
        noc_send_handoff(noc, packet->destination, arrival);
    else sink_push(&noc->sink, packet->destination, noc->now, arrival, words);
}

/* Adds the flits that one link has moved. */
static inline void noc_add_link_flits(NocStats *stats, uint64_t flits) {
    stats->link_flits += flits;
    if (flits > stats->busiest_link_flits) stats->busiest_link_flits = flits;
}

__attribute__((always_inline)) static inline bool noc_set_is_empty(const uint64_t *set, int words) {
    uint64_t any = 0;
    for (int w = 0; w < words; w++)
        any |= set[w];
    return !any;
}

/* The first member of a non-empty set at or after `start` (in a word: 0 .. 63), with wrap-around.
 * All round-robin arbiters use it. */
static inline int noc_next_in_word(uint64_t set, int start) {
    uint64_t from_start = set & ~UINT64_C(0) << start;
    return bits_lowest64(from_start ? from_start : set);
}

static inline int noc_next_in_set(const uint64_t *set, int words, int start) {
    if (words == 1) return noc_next_in_word(set[0], start);
    int w = start / 64;
    uint64_t word = set[w] & ~UINT64_C(0) << start % 64;
    while (!word) {
        w = w + 1 < words ? w + 1 : 0;
        word = set[w];
    }
    return w * 64 + bits_lowest64(word);
}

#endif
