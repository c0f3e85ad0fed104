/* What the kinds of network share: the object itself, the operations that a kind supplies, and the
 * sets of nodes as words of bits. Private to this folder. */
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

/* One kind of network: a row of functions. `state` is the kind's own part of a Noc. */
typedef struct NocOps {
    void *(*create)(Noc *noc);
    void (*destroy)(void *state);
    /* Takes over a packet; noc.c has already counted it, its flits in noc_queue_flits too. */
    void (*inject)(Noc *noc, const NocPacket *packet);
    /* One cycle; noc->now has already advanced to it. */
    void (*step)(Noc *noc);
    /* Quiet steps (noc_quiet_steps), leaving packets on their way to the sinks aside. */
    uint64_t (*quiet_steps)(const Noc *noc);
    /* A node popped a packet of `flits` flits, which arrived on a virtual channel. */
    void (*give_back)(Noc *noc, int node, int channel, int flits);
    /* noc_lacks_room. NULL: any step may. */
    bool (*lacks_room)(const Noc *noc);
    int (*empty_latency)(const Noc *noc, int source, int destination, int flits);
    /* Adds link_flits, busiest_link_flits and links. */
    void (*add_link_stats)(const Noc *noc, NocStats *stats);
    bool (*is_consistent)(const Noc *noc);
} NocOps;

extern const NocOps noc_mesh_ops, noc_crossbar_ops, noc_ideal_ops, noc_switch_ops;

/* The crossbar's, which most machines have: called by name, so that they cost no call. */
void noc_crossbar_inject(Noc *noc, const NocPacket *packet);
void noc_crossbar_step(Noc *noc);
void noc_crossbar_give_back(Noc *noc, int node, int channel, int flits);

/* What a node has injected and popped while the network held it. Each has lines of its own. */
typedef struct NocHeld {
    uint64_t bytes;           /* injected, padding of flits not included */
    uint64_t ejection_cycles; /* as in NocStats, of what was popped */
    uint16_t count;    /* injected packets: at most as many as an injection queue has flits */
    uint16_t popped;   /* packets: at most as many as an ejection buffer has flits */
    uint16_t channels; /* virtual channels on which room was given back, bit each ... */
    bool is_drained;   /* nothing is ready at the node any more, whatever the sink says */
    uint16_t room[NOC_MAX_CHANNELS]; /* ... and the flits of it */
    NocPacket packet[];              /* injected, in order, the first on the same line */
} NocHeld;
_Static_assert(offsetof(NocHeld, packet) + sizeof(NocPacket) <= SINK_LINE, "most inject one");

enum { NOC_LINE = 128 }; /* bytes that two threads must not both write */

/* A packet that is on its way to an ejection buffer. */
typedef struct NocArrival {
    uint32_t ready_at; /* modulo 2^32 */
    uint32_t payload;
    uint16_t node, flits, channel;
} NocArrival;
_Static_assert(sizeof(NocArrival) == 16, "four arrivals per cache line");

/* What the two threads of a lent network tell each other (noc/handoff.c). */
typedef struct NocHandoff {
    NocArrival *arrivals; /* ring of arrival_mask + 1 */
    uint32_t arrival_mask;
    int row_words;   /* of a row of `rooms` */
    uint64_t *rooms; /* a row for each turn of the taker's, modulo their number, with the room that
                        it gave back: the set of nodes, then flits by node and channel, 16 bits each
                      */
    char apart[NOC_LINE - 2 * sizeof(void *) - 2 * sizeof(uint32_t)];
    _Atomic uint32_t sent; /* the owner's word to the taker: arrivals that are in the ring */
    char apart_of_word[NOC_LINE - sizeof(uint32_t)];
    uint64_t collected; /* the owner's: turns whose room it has collected */
    uint32_t left;      /* packets that have left the switch ... */
    uint32_t told;      /* ... and those that were announced to the taker */
    char apart_of_owner[NOC_LINE - 2 * sizeof(uint64_t)];
    uint64_t now;             /* the taker's: the step after which it is */
    uint64_t turn;            /* so far */
    uint64_t popped;          /* packets */
    uint64_t ejection_cycles; /* as in NocStats, of what it popped */
    uint32_t heard;           /* arrivals that it knows of */
    char apart_of_taker[NOC_LINE - 5 * sizeof(uint64_t)];
} NocHandoff;
_Static_assert(sizeof(NocHandoff) == 4 * NOC_LINE, "owner and taker write side by side");

void noc_free_handoff(NocHandoff *handoff); /* NULL is allowed */
/* Of a lent network: a packet has left the switch. Its owner's. */
void noc_send_handoff(Noc *noc, int node, SinkPacket packet);
/* The step is over: announces to the taker what has left in it. */
void noc_tell_handoff(Noc *noc);
/* Its taker's noc_pop. */
void noc_pop_handoff(Noc *noc, int node);

/* A step writes to none but the first line of it and those of `stats`: another thread may look at
 * the others. */
struct Noc {
    _Alignas(SINK_LINE) uint64_t now; /* steps so far */
    uint64_t packets_inside;          /* injected and not yet popped */
    uint64_t settled_at; /* while none is inside, no step from this one on does anything */
    bool is_holding;     /* between noc_hold and noc_release */

    _Alignas(SINK_LINE) const NocOps *ops; /* the kind */
    void *state;                           /* the kind's own part */
    uint16_t *flits_by_bytes;              /* flits of a packet of 0 .. max_packet_bytes bytes */
    int max_packet_bytes;                  /* the injection queue's whole length */
    int queue_limit;     /* flits a node may have queued; 0 while no node may inject (ideal) */
    int words;           /* words of a set of nodes */
    bool is_handed_off;  /* between noc_hand_off and noc_take_back */
    NocHandoff *handoff; /* NULL: never lent */
    Sink sink;           /* the ejection buffers */
    char *held;          /* a NocHeld for each node, held_bytes apart; NULL: never held */
    size_t held_bytes;
    /* The kind's: */
    int lead;          /* noc_lead */
    int most_arrivals; /* packets that a step may send to a node */
    int channels;      /* virtual channels on which they arrive */
    NocConfig config;
    uint64_t *counts;                   /* the owner's rows, or those of `stats` */
    _Alignas(SINK_LINE) NocStats stats; /* all but cycles and the link figures, which are derived */
};

/* Flits in a node's injection queue. */
static inline uint16_t *noc_queue_flits(const Noc *noc, int node) {
    return &noc->sink.queues[node].queue_flits;
}

/* Sends a packet's last flit to its node, where it arrives at `ready_at`, and accounts for it.
 * `transit` is the packet's latency in an empty network, `words` is noc->words. */
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

/* Counts what has moved over one of the links. */
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

/* The first member of a non-empty set at or after `start` (in a word: 0 .. 63), going round; the
 * heart of every round-robin arbiter here. */
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

/* The smallest k with 2^k >= value. */
static inline int noc_log2_up(uint64_t value) {
    return value <= 1 ? 0 : bits_highest64(value - 1) + 1;
}

#endif
