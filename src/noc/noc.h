/* The interconnect of the simulated GPU. A Noc is one network; a machine has two, for requests and
 * for replies. Its nodes 0 .. nodes-1 are SMs and memory partitions. It has its own clock: the
 * owner calls noc_step once per network cycle, injects packets before or after a step, and pops
 * packets that have arrived.
 *
 * Packets carry no data: the payload is a handle of the owner. There are four kinds of network: a
 * 2D mesh of wormhole routers, a single-stage crossbar, a switch of whole packets, and an ideal
 * network with a fixed latency. In all of them, packets from one node to another arrive in the
 * order in which they were injected.
 *
 * docs/interconnect.md describes the models, their sources, and what they leave out. */
#ifndef TYTO_NOC_NOC_H
#define TYTO_NOC_NOC_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/parameter.h"
#include "stats/counters.h"

enum {
    NOC_MAX_NODES = 576,   /* nodes of a network, or routers of a mesh: 24 x 24 */
    NOC_MAX_CHANNELS = 12, /* virtual channels: 5 ports x 12 bits fit a word */
    NOC_MAX_FLITS = 4096,  /* depth of each buffer */
    NOC_MAX_DELAY = 1024,  /* cycles of each delay */
    NOC_MAX_FLIT_BYTES = 1024
};

/* The result of noc_quiet_steps if only an injection or a pop can wake the network. */
#define NOC_QUIET_FOREVER UINT64_MAX

typedef enum NocKind { NOC_MESH, NOC_CROSSBAR, NOC_IDEAL, NOC_SWITCH, NOC_KIND_COUNT } NocKind;

/* clang-format off */
/* All delays are in network cycles. noc_config_default has the values for tests, and their origins.
 * The rows are in three lists because a machine file has other rows between them. */
#define NOC_LINK_PARAMETERS(P, key, at) \
    P(CHOICE, key, at, "kind", kind, NocKind, "crossbar", "kind of both networks (requests and replies)") \
    P(BYTES, key, at, "flit", flit_bytes, 1, NOC_MAX_FLIT_BYTES, "40 B", "bytes that a link moves per cycle")
#define NOC_ROOM_PARAMETERS(P, key, at) \
    P(COUNT, key, at, "injection_flits", injection_flits, "", 1, NOC_MAX_FLITS, "9", "flits of a node's injection queue, and thus of the longest packet") \
    P(COUNT, key, at, "ejection_flits", ejection_flits, "", 1, NOC_MAX_FLITS, "80", "flits that may wait for a node to take them; ideal: packets in flight to it") \
    P(COUNT, key, at, "buffer_flits", buffer_flits, "", 1, NOC_MAX_FLITS, "64", "mesh, crossbar: flits per input buffer and virtual channel") \
    P(COUNT, key, at, "virtual_channels", virtual_channels, "", 1, NOC_MAX_CHANNELS, "1", "mesh: virtual channels per link; the crossbar has one") \
    P(COUNT, key, at, "columns", columns, "", 1, NOC_MAX_NODES, "6", "mesh: routers per row") \
    P(COUNT, key, at, "rows", rows, "", 1, NOC_MAX_NODES, "6", "mesh: rows of routers")
#define NOC_DELAY_PARAMETERS(P, key, at) \
    P(COUNT, key, at, "router_delay", router_delay, "cycles", 0, NOC_MAX_DELAY, "3", "mesh: from entering a router to leaving it, without contention") \
    P(COUNT, key, at, "link_delay", link_delay, "cycles", 1, NOC_MAX_DELAY, "1", "mesh: from router to router, and between router and node") \
    P(COUNT, key, at, "credit_delay", credit_delay, "cycles", 1, NOC_MAX_DELAY, "1", "mesh: from a flit leaving a buffer until its room can be reused") \
    P(COUNT, key, at, "internal_steps", internal_steps, "", 1, 8, "2", "crossbar: switch steps per cycle") \
    P(COUNT, key, at, "allocation_steps", allocation_steps, "", 0, 1, "1", "crossbar: switch steps between a packet's grant and its first flit") \
    P(COUNT, key, at, "output_delay", output_delay, "cycles", 1, NOC_MAX_DELAY, "4", "crossbar: from the output link to the node") \
    P(COUNT, key, at, "ideal_latency", ideal_latency, "cycles", 1, NOC_MAX_DELAY, "5", "ideal: from injection to arrival") \
    P(COUNT, key, at, "switch_delay", switch_delay, "cycles", 0, NOC_MAX_DELAY, "0", "switch: from the step that moves a packet to its arrival")
/* clang-format on */

/* The fields are signed, for the arithmetic of routers. */
#define NOC_FIELD(kind, key, at, name, field, ...) NOC_FIELD_##kind(field, __VA_ARGS__)
#define NOC_FIELD_COUNT(field, ...)                int field;
#define NOC_FIELD_BYTES(field, ...)                int field;
#define NOC_FIELD_CHOICE(field, type, ...)         type field;

typedef struct NocConfig {
    NOC_LINK_PARAMETERS(NOC_FIELD, , )
    NOC_ROOM_PARAMETERS(NOC_FIELD, , )
    NOC_DELAY_PARAMETERS(NOC_FIELD, , )
    int nodes;                    /* SMs and partitions attached to this network */
    int placement[NOC_MAX_NODES]; /* mesh: router of each node, row x columns + column */
} NocConfig;

/* Statistics of a network. A packet has arrived when its last flit is on the link to its node. */
typedef struct NocStats {
    uint64_t counts[NETWORK_COUNTERS]; /* by NetworkCounter: the network's rows in its owner's
                                          Counters */
    uint64_t cycles;                   /* network cycles so far, including skipped ones */
    uint64_t packets_arrived;          /* packets sent to their node's ejection buffer */
    uint64_t flits_arrived;            /* flits of the arrived packets */
    uint64_t bytes_injected;           /* bytes of the injected packets, without padding of flits */
    uint64_t ejection_cycles;          /* sum over popped packets: time from being ready to being
                                          popped */
    uint64_t link_flits;               /* flits moved, summed over the links */
    uint64_t busiest_link_flits;       /* flits moved by the busiest link */
    int links; /* mesh: one-way links between routers; crossbar: links to nodes; ideal: none */
} NocStats;

typedef struct Noc Noc;

/* The defaults of a kind for `nodes` nodes: gtx480's crossbar, owl's mesh (the smallest mesh, not
 * higher than wide, that holds the nodes, placed in row order), an ideal network of 5 cycles, or a
 * switch that takes one step. */
NocConfig noc_config_default(NocKind kind, int nodes);
/* Places the last `count` nodes (the memory partitions) at routers positions[0 .. count-1] of the
 * mesh, and the others, in order, at the remaining routers; 0 <= count <= nodes <= NOC_MAX_NODES.
 * noc_config_check checks the result. */
void noc_config_place(NocConfig *config, const int *positions, int count);
/* Whether a network can be built. If not, writes the reason to `why` (NUL-terminated, of size_bytes
 * bytes). */
bool noc_config_check(const NocConfig *config, char *why, size_t size_bytes);

/* Creates an empty network. `config` must pass noc_config_check; it is copied. `counts` (borrowed,
 * may be NULL) are the network's NETWORK_COUNTERS rows in its owner's Counters; the network adds to
 * them. Freed by noc_free. */
Noc *noc_new(const NocConfig *config, uint64_t *counts);
void noc_free(Noc *noc); /* NULL is allowed */

/* Size of the longest packet that a node can inject, in bytes. */
int noc_max_packet_bytes(const Noc *noc);
/* Flits of a packet of `packet_bytes` bytes, 1 .. noc_max_packet_bytes. */
int noc_packet_flits(const Noc *noc, int packet_bytes);
/* Whether node `source` has room for a packet of `packet_bytes` bytes; false if the packet is too
 * long. */
bool noc_can_inject(const Noc *noc, int source, int packet_bytes);
/* Queues a packet at `source`, if there is room. It starts to move in the next step. A node may
 * send to itself. */
bool noc_try_inject(Noc *noc, int source, int destination, int packet_bytes, uint32_t payload);
/* Queues a packet; noc_can_inject must be true. */
static inline void noc_inject(Noc *noc, int source, int destination, int packet_bytes,
                              uint32_t payload) {
    bool is_in = noc_try_inject(noc, source, destination, packet_bytes, payload);
    assert(is_in);
    (void)is_in;
}

/* Whether several threads can inject and pop at once between noc_hold and noc_release, each node
 * from one thread. In between, noc_inject keeps packets at their nodes, and noc_pop keeps the room
 * that it gives back; noc_can_inject and noc_peek work as usual. noc_ready_mask does not change and
 * may show a packet that has been popped. noc_release applies everything in the order of the nodes,
 * so the network is the same as if one node after another had injected and popped. An ideal network
 * does not support this, because the room of a node depends on the others. In between, no other
 * function of the network may be called. */
bool noc_can_hold(const Noc *noc);
void noc_hold(Noc *noc);
void noc_release(Noc *noc);

/* Between noc_hand_off and noc_take_back two threads share the network. Its owner injects and
 * steps; its consumer has the ejection buffers. The consumer works in turns. noc_arrive begins a
 * turn for a given step; from then on noc_ready_mask, noc_peek and noc_pop show the state after
 * that step. One thread may be ahead of the other:
 *
 * - What arrives in a step has left the switch noc_lead steps before. So the consumer may proceed
 * to a step when the owner has finished the step noc_lead steps before it.
 * - Room that the consumer gives back becomes the owner's when the owner collects it, up to the end
 * of a turn that the consumer has completed. The owner may collect late as long as noc_lacks_room
 * is false: then the next step moves the same packets without this room.
 *
 * Callers exchange their progress, with release and acquire. The owner may be up to NOC_MOST_APART
 * steps ahead of the consumer, and collects at least every NOC_MOST_TURNS turns. The consumer
 * begins at most NOC_MOST_TURNS turns after the last one that the owner could have collected.
 * noc_take_back also collects. It may be called when both have stopped, with the consumer at the
 * owner's step or before it. A handed-off network may also be held, so that nodes inject from
 * several threads. */
enum { NOC_MOST_APART = 32, NOC_MOST_TURNS = 32 };
typedef void NocSeen(const void *user, uint32_t payload);
int noc_lead(const Noc *noc);
void noc_hand_off(Noc *noc);
/* Begins the consumer's next turn, after step `now`. `seen` (NULL: not wanted) gets the payloads of
 * packets that will arrive in this or later turns, as soon as they are known. */
void noc_arrive(Noc *noc, uint64_t now, NocSeen *seen, const void *user);
bool noc_lacks_room(const Noc *noc);
/* Collects the room given back up to the consumer's turn of this number; the first turn is 1. */
void noc_collect(Noc *noc, uint64_t turn);
void noc_take_back(Noc *noc);

/* Runs one network cycle. */
void noc_step(Noc *noc);
/* The number of coming steps that would do nothing if nothing is injected or popped;
 * NOC_QUIET_FOREVER if nothing is in flight. The result may be too low. */
uint64_t noc_quiet_steps(const Noc *noc);
/* Has the effect of calling noc_step `steps` times; steps <= noc_quiet_steps. */
void noc_skip(Noc *noc, uint64_t steps);

/* The nodes that have something to pop, one bit each, in words of 64. The pointer is valid until
 * noc_free; the bits change with steps and pops. */
const uint64_t *noc_ready_mask(const Noc *noc);
/* Whether a packet waits at `node`, and the payload of the oldest one. */
bool noc_peek(const Noc *noc, int node, uint32_t *payload);
/* Removes the packet that noc_peek shows; there must be one. */
void noc_pop(Noc *noc, int node);
/* Removes the oldest packet that has arrived at `node`, if there is one. */
bool noc_take(Noc *noc, int node, uint32_t *payload);

/* Whether the network is empty: all injected packets have been popped. */
bool noc_is_idle(const Noc *noc);
/* Steps from a packet's injection to its arrival in an otherwise empty network. */
int noc_empty_latency(const Noc *noc, int source, int destination, int packet_bytes);
/* Sums since noc_new. */
NocStats noc_stats(const Noc *noc);
/* Mean fraction of cycles in which a link moved a flit, 0 .. 1. */
double noc_link_use(const NocStats *stats);
/* Checks the invariants of buffers, credits and requests, in time proportional to the network's
 * size. For tests and for the watchdog. */
bool noc_is_consistent(const Noc *noc);

#endif
