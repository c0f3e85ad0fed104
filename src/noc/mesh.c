/* 2D mesh of wormhole routers with virtual channels and credits.
 *
 * A router has five ports: its neighbours and its node. Packets go along x first, then along y
 * (dimension order), which alone keeps the mesh free of deadlock. A packet travels on one virtual
 * channel all the way, chosen by its destination's coordinates: packets between two nodes stay in
 * order, and a crowded destination blocks one channel only. A head flit takes an output's virtual
 * channel when no other packet holds it; the packet's last flit frees it. Per cycle a router moves at
 * most one flit per input port and per output port: outputs are served in an order that rotates every
 * cycle, each granting round robin among the virtual channels of the inputs still free that have a
 * flit for it, may use its channel, and have a credit.
 *
 * The router's pipeline and the link are one delay between the switches of two routers: a flit sent
 * in cycle t competes in the next router from t + router_delay + link_delay on. Flits and credits
 * under way sit in wheels, one slot per future cycle, so a router never sees what another does in the
 * same cycle, and the order of visits cannot matter. A router without flits is not visited.
 *
 * Left out: the stages inside a router's pipeline (no speculation, no lookahead), priorities.
 * Source: W. Dally, B. Towles, "Principles and Practices of Interconnection Networks", 2004,
 * chapters 8 (dimension order), 13 (virtual channels, credits), 16 and 18 (router, allocators). */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "noc/noc_internal.h"

enum { WEST, EAST, NORTH, SOUTH, LOCAL, PORTS };
enum { ROUTER_LANES = 64 }; /* lane numbers per router */
enum { NOBODY = -1 };

/* A flit: its packet's slot, and whether it is the packet's last. */
typedef uint32_t Flit;
#define FLIT(slot, is_last) ((slot) << 1 | (uint32_t)(is_last))
#define FLIT_SLOT(flit)     ((flit) >> 1)
#define FLIT_IS_LAST(flit)  ((flit) & 1)

typedef struct Slot {
    NocPacket packet;
    uint8_t x, y;    /* the destination's router */
    uint8_t channel; /* the virtual channel it travels on */
} Slot;

/* One virtual channel of one input port, with its buffer. Its number is router x ROUTER_LANES + bit,
 * where bit = port x channels + channel is its place in the router's sets; a node injects into its
 * router's port LOCAL. */
typedef struct Lane {
    uint16_t head;  /* ring position of the oldest flit, modulo 2^16 */
    uint16_t count; /* flits in the buffer */
    uint8_t output; /* port to which the current packet goes */
    bool is_busy;   /* has a current packet: first flit come to the front, last not yet gone */
} Lane;

/* The sending side of a virtual channel, which ends in a lane or in a node's ejection buffer. */
typedef struct Channel {
    uint16_t room; /* credits: flits that may be sent */
    int8_t holder; /* bit, in the sending router, of the lane whose packet holds it; or NOBODY */
} Channel;

typedef struct Router {
    uint64_t waiting;            /* lanes with a flit */
    uint64_t wants[PORTS];       /* per output: lanes whose current packet goes there */
    uint64_t may_send[PORTS];    /* per output: lanes that its channels and credits let through */
    uint8_t first_choice[PORTS]; /* per output: where the round robin over lanes starts */
    uint8_t x, y;                /* place in the mesh */
} Router;

/* A node's injection queue: packets in order, of which the first may be partly gone. Its flits are
 * counted in Noc.queue_flits. */
typedef struct Queue {
    uint32_t head, tail; /* ring positions, modulo 2^32 */
    uint16_t flits_left; /* flits of the first packet still here */
    uint16_t router;     /* where the node is */
} Queue;

/* Things under way: per cycle, modulo the number of slots, a list of words. */
typedef struct Wheel {
    uint64_t *entries; /* slots x capacity */
    uint32_t *counts;  /* per slot: entries used */
    uint64_t mask;     /* slots - 1 */
    size_t capacity;   /* entries of a slot */
    uint64_t total;    /* entries in all slots */
} Wheel;

typedef struct Mesh {
    uint64_t now;                      /* the cycle in progress */
    int channels;                      /* virtual channels per port */
    int routers;                       /* columns x rows */
    uint64_t hop_delay;                /* cycles from switch to switch */
    uint64_t credit_delay;             /* cycles from a flit's leaving to its room's reuse */
    uint64_t active[NOC_MAX_WORDS];    /* routers with a flit in a buffer */
    uint64_t injecting[NOC_MAX_WORDS]; /* nodes with a packet in the injection queue */
    uint64_t port_lanes[PORTS];        /* per port: the bits of its lanes */
    uint64_t channel_lanes[NOC_MAX_CHANNELS]; /* per channel: the bits of its lanes */
    uint8_t bit_port[ROUTER_LANES];           /* port of a lane's bit */
    uint8_t bit_channel[ROUTER_LANES];        /* channel of a lane's bit */
    Router *router;       /* per router */
    Lane *lane;           /* per lane */
    Flit *buffers;        /* rings of 2^buffer_shift flits, one per lane */
    int buffer_shift;     /* log2 of a ring's flits */
    Channel *channel;     /* per lane that it ends in; then per node, NOC_MAX_CHANNELS each */
    int *target;          /* per router and output: the first channel that leaves there, or NOBODY */
    int *sender;          /* per router and input: router x PORTS + output before it, or NOBODY */
    uint64_t *link_flits; /* per router and output: flits sent to the neighbour */
    Queue *queues;        /* per node */
    uint32_t *queued;     /* rings of 2^queue_shift packet slots, one per node */
    int queue_shift;      /* log2 of a ring's packets */
    Slot *slots;          /* the packets whose last flit is not yet ejected */
    uint32_t *free_slots; /* stack */
    uint32_t free_count;  /* slots on it */
    Wheel flits;          /* under way to a lane: lane << 32 | flit */
    Wheel returns;        /* lanes that get a credit back */
} Mesh;

/* ---- Wheels ---- */

static void wheel_init(Wheel *wheel, uint64_t horizon, size_t capacity) {
    size_t slots = (size_t)1 << noc_log2_up(horizon + 1);
    *wheel = (Wheel){.mask = slots - 1, .capacity = capacity};
    wheel->entries = base_calloc(slots * capacity, sizeof(uint64_t));
    wheel->counts = base_calloc(slots, sizeof(uint32_t));
}

static void wheel_free(Wheel *wheel) {
    free(wheel->entries);
    free(wheel->counts);
}

static void wheel_add(Wheel *wheel, uint64_t cycle, uint64_t entry) {
    uint64_t slot = cycle & wheel->mask;
    wheel->entries[slot * wheel->capacity + wheel->counts[slot]++] = entry;
    wheel->total++;
}

/* The entries of a cycle, which are taken out by this call; valid until entries are added for the
 * cycle a whole turn later. */
static const uint64_t *wheel_take(Wheel *wheel, uint64_t cycle, uint32_t *count) {
    uint64_t slot = cycle & wheel->mask;
    *count = wheel->counts[slot];
    wheel->counts[slot] = 0;
    wheel->total -= *count;
    return &wheel->entries[slot * wheel->capacity];
}

static uint64_t wheel_quiet_steps(const Wheel *wheel, uint64_t now) {
    if (!wheel->total) return UINT64_MAX;
    uint64_t quiet = 0;
    while (!wheel->counts[(now + 1 + quiet) & wheel->mask]) quiet++;
    return quiet;
}

/* ---- Construction ---- */

static int opposite(int port) { return port ^ 1; }

/* The router beside router r in the direction of a port, or NOBODY at the edge. */
static int neighbour(const NocConfig *config, int r, int port) {
    int x = r % config->columns, y = r / config->columns;
    switch (port) {
    case WEST: return x > 0 ? r - 1 : NOBODY;
    case EAST: return x + 1 < config->columns ? r + 1 : NOBODY;
    case NORTH: return y > 0 ? r - config->columns : NOBODY;
    case SOUTH: return y + 1 < config->rows ? r + config->columns : NOBODY;
    default: return NOBODY;
    }
}

static uint64_t lane_bit(int bit) { return UINT64_C(1) << bit; }

static void create_bits(Mesh *mesh) {
    for (int port = 0; port < PORTS; port++) {
        for (int channel = 0; channel < mesh->channels; channel++) {
            int bit = port * mesh->channels + channel;
            mesh->bit_port[bit] = (uint8_t)port;
            mesh->bit_channel[bit] = (uint8_t)channel;
            mesh->port_lanes[port] |= lane_bit(bit);
            mesh->channel_lanes[channel] |= lane_bit(bit);
        }
    }
}

static void create_routers(Mesh *mesh, const NocConfig *config) {
    size_t ports = (size_t)mesh->routers * PORTS;
    mesh->router = base_calloc((size_t)mesh->routers, sizeof(Router));
    mesh->target = base_calloc(ports, sizeof(int));
    mesh->sender = base_calloc(ports, sizeof(int));
    mesh->link_flits = base_calloc(ports, sizeof(uint64_t));
    for (int r = 0; r < mesh->routers; r++) {
        mesh->router[r].x = (uint8_t)(r % config->columns);
        mesh->router[r].y = (uint8_t)(r / config->columns);
        for (int port = 0; port < PORTS; port++) {
            int other = neighbour(config, r, port), far_port = opposite(port);
            bool is_edge = other == NOBODY;
            mesh->target[r * PORTS + port] =
                is_edge ? NOBODY : other * ROUTER_LANES + far_port * mesh->channels;
            mesh->sender[r * PORTS + port] = is_edge ? NOBODY : other * PORTS + far_port;
            mesh->router[r].may_send[port] = bits_low_mask(PORTS * mesh->channels);
        }
    }
}

/* The channel into a node's ejection buffer. */
static int ejection_channel(const Mesh *mesh, int node, int channel) {
    return mesh->routers * ROUTER_LANES + node * NOC_MAX_CHANNELS + channel;
}

static void create_nodes(Mesh *mesh, const NocConfig *config) {
    mesh->queue_shift = noc_log2_up((uint64_t)config->injection_flits);
    mesh->queues = base_calloc((size_t)config->nodes, sizeof(Queue));
    mesh->queued = base_calloc((size_t)config->nodes << mesh->queue_shift, sizeof(uint32_t));
    for (int node = 0; node < config->nodes; node++) {
        mesh->queues[node].router = (uint16_t)config->placement[node];
        mesh->target[config->placement[node] * PORTS + LOCAL] = ejection_channel(mesh, node, 0);
    }
}

static void create_buffers(Mesh *mesh, const NocConfig *config) {
    int lanes = mesh->routers * ROUTER_LANES;
    int all_channels = ejection_channel(mesh, config->nodes, 0);
    mesh->buffer_shift = noc_log2_up((uint64_t)config->buffer_flits);
    mesh->lane = base_calloc((size_t)lanes, sizeof(Lane));
    mesh->buffers = base_calloc((size_t)lanes << mesh->buffer_shift, sizeof(Flit));
    mesh->channel = base_calloc((size_t)all_channels, sizeof(Channel));
    for (int i = 0; i < all_channels; i++) {
        int room = i < lanes ? config->buffer_flits : config->ejection_flits;
        mesh->channel[i] = (Channel){.room = (uint16_t)room, .holder = NOBODY};
    }
}

/* As many slots as there can be packets, each having at least a flit in some buffer. */
static void create_slots(Mesh *mesh, const NocConfig *config) {
    int lanes = mesh->routers * PORTS * mesh->channels;
    uint32_t count =
        (uint32_t)(config->nodes * config->injection_flits + lanes * config->buffer_flits);
    mesh->slots = base_calloc(count, sizeof(Slot));
    mesh->free_slots = base_calloc(count, sizeof(uint32_t));
    for (uint32_t i = 0; i < count; i++) mesh->free_slots[i] = count - 1 - i;
    mesh->free_count = count;
}

static void *create(Noc *noc) {
    const NocConfig *config = &noc->config;
    Mesh *mesh = base_calloc(1, sizeof *mesh);
    mesh->channels = config->virtual_channels;
    mesh->routers = config->columns * config->rows;
    mesh->hop_delay = (uint64_t)(config->router_delay + config->link_delay);
    mesh->credit_delay = (uint64_t)config->credit_delay;
    create_bits(mesh);
    create_routers(mesh, config);
    create_nodes(mesh, config);
    create_buffers(mesh, config);
    create_slots(mesh, config);
    size_t inputs = (size_t)mesh->routers * PORTS;
    wheel_init(&mesh->flits, mesh->hop_delay, inputs);
    wheel_init(&mesh->returns, mesh->credit_delay, inputs);
    sink_init(&noc->sink, config->nodes, config->ejection_flits * mesh->channels,
              config->link_delay);
    return mesh;
}

static void destroy(void *state) {
    Mesh *mesh = state;
    wheel_free(&mesh->flits);
    wheel_free(&mesh->returns);
    void *const blocks[] = {mesh->router,     mesh->lane,   mesh->buffers, mesh->channel,
                            mesh->target,     mesh->sender, mesh->queues,  mesh->queued,
                            mesh->link_flits, mesh->slots,  mesh->free_slots};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) free(blocks[i]);
    free(mesh);
}

/* ---- Injection ---- */

static uint32_t *queued_at(const Mesh *mesh, int node, uint32_t position) {
    uint32_t place = position & ((1U << mesh->queue_shift) - 1);
    return &mesh->queued[((size_t)node << mesh->queue_shift) + place];
}

static void inject(Noc *noc, const NocPacket *packet) {
    Mesh *mesh = noc->state;
    Queue *queue = &mesh->queues[packet->source];
    const Router *home = &mesh->router[mesh->queues[packet->destination].router];
    assert(mesh->free_count > 0);
    uint32_t slot = mesh->free_slots[--mesh->free_count];
    mesh->slots[slot] = (Slot){.packet = *packet,
                               .x = home->x,
                               .y = home->y,
                               .channel = (uint8_t)((home->x + home->y) % mesh->channels)};
    if (queue->head == queue->tail) queue->flits_left = packet->flits;
    *queued_at(mesh, packet->source, queue->tail++) = slot;
    bits_set(mesh->injecting, packet->source);
}

static void launch(Mesh *mesh, int lane, Flit flit) {
    wheel_add(&mesh->flits, mesh->now + mesh->hop_delay, (uint64_t)lane << 32 | flit);
}

/* A node sends the next flit of its queue to its router, if the packet's channel has room there. */
static void send_from_node(Noc *noc, Mesh *mesh, int node) {
    Queue *queue = &mesh->queues[node];
    uint32_t slot = *queued_at(mesh, node, queue->head);
    int bit = LOCAL * mesh->channels + mesh->slots[slot].channel;
    int lane = queue->router * ROUTER_LANES + bit;
    if (!mesh->channel[lane].room) return;
    mesh->channel[lane].room--;
    noc->queue_flits[node]--;
    bool is_last = --queue->flits_left == 0;
    launch(mesh, lane, FLIT(slot, is_last));
    if (!is_last) return;
    if (++queue->head == queue->tail)
        bits_clear(mesh->injecting, (size_t)node);
    else
        queue->flits_left = mesh->slots[*queued_at(mesh, node, queue->head)].packet.flits;
}

/* ---- Credits ---- */

/* The lanes that may send on virtual channel `number` as it stands: none without a credit, else its
 * holder, else all. */
static uint64_t allowed_lanes(const Mesh *mesh, const Channel *channel, int number) {
    if (!channel->room) return 0;
    return channel->holder == NOBODY ? mesh->channel_lanes[number] : lane_bit(channel->holder);
}

static void update_may_send(const Mesh *mesh, Router *router, int output, const Channel *channel,
                            int number) {
    router->may_send[output] = (router->may_send[output] & ~mesh->channel_lanes[number]) |
                               allowed_lanes(mesh, channel, number);
}

/* A lane's sender may use the room of a flit that has left. */
static void take_returns(Mesh *mesh) {
    uint32_t count;
    const uint64_t *lanes = wheel_take(&mesh->returns, mesh->now, &count);
    for (uint32_t i = 0; i < count; i++) {
        Channel *channel = &mesh->channel[lanes[i]];
        uint64_t bit = lanes[i] % ROUTER_LANES;
        int sender = mesh->sender[lanes[i] / ROUTER_LANES * PORTS + mesh->bit_port[bit]];
        channel->room++;
        if (channel->room > 1 || sender == NOBODY) continue; /* NOBODY: a node, which looks itself */
        update_may_send(mesh, &mesh->router[sender / PORTS], sender % PORTS, channel,
                        mesh->bit_channel[bit]);
    }
}

static void give_back(Noc *noc, int node, int number, int flits) {
    Mesh *mesh = noc->state;
    Channel *channel = &mesh->channel[ejection_channel(mesh, node, number)];
    channel->room = (uint16_t)(channel->room + flits);
    update_may_send(mesh, &mesh->router[mesh->queues[node].router], LOCAL, channel, number);
}

/* ---- Routers ---- */

static Flit *flit_at(const Mesh *mesh, int lane, unsigned position) {
    unsigned place = position & ((1U << mesh->buffer_shift) - 1);
    return &mesh->buffers[((size_t)lane << mesh->buffer_shift) + place];
}

/* Dimension order: along x, then along y, then out. */
static int route(const Router *router, const Slot *slot) {
    if (slot->x != router->x) return slot->x < router->x ? WEST : EAST;
    if (slot->y != router->y) return slot->y < router->y ? NORTH : SOUTH;
    return LOCAL;
}

/* The flit at the front of a lane is a packet's first: the lane asks for the packet's output. */
static void start_packet(Mesh *mesh, Router *router, int lane, int bit) {
    Lane *state = &mesh->lane[lane];
    Flit first = *flit_at(mesh, lane, state->head);
    state->is_busy = true;
    state->output = (uint8_t)route(router, &mesh->slots[FLIT_SLOT(first)]);
    router->wants[state->output] |= lane_bit(bit);
}

/* Flits come in from the links. */
static void take_flits(Mesh *mesh) {
    uint32_t count;
    const uint64_t *entries = wheel_take(&mesh->flits, mesh->now, &count);
    for (uint32_t i = 0; i < count; i++) {
        int lane = (int)(entries[i] >> 32);
        int r = lane / ROUTER_LANES, bit = lane % ROUTER_LANES;
        Lane *state = &mesh->lane[lane];
        *flit_at(mesh, lane, (unsigned)state->head + state->count++) = (Flit)entries[i];
        mesh->router[r].waiting |= lane_bit(bit);
        bits_set(mesh->active, (size_t)r);
        if (!state->is_busy) start_packet(mesh, &mesh->router[r], lane, bit);
    }
}

/* Takes the flit at the front of a lane out, and sends its room back. */
static Flit take_front(Mesh *mesh, Router *router, int lane, int bit) {
    Lane *state = &mesh->lane[lane];
    Flit flit = *flit_at(mesh, lane, state->head++);
    if (--state->count == 0) router->waiting &= ~lane_bit(bit);
    if (FLIT_IS_LAST(flit)) {
        router->wants[state->output] &= ~lane_bit(bit);
        state->is_busy = false;
        if (state->count) start_packet(mesh, router, lane, bit);
    }
    wheel_add(&mesh->returns, mesh->now + mesh->credit_delay, (uint64_t)lane);
    return flit;
}

/* One cycle out of the injection queue, a hop to the first router and one to each further, the link
 * to the node, and a cycle for each further flit. */
static int empty_latency(const Noc *noc, int source, int destination, int flits) {
    const Mesh *mesh = noc->state;
    const Router *from = &mesh->router[mesh->queues[source].router];
    const Router *to = &mesh->router[mesh->queues[destination].router];
    int hops = 1 + abs(from->x - to->x) + abs(from->y - to->y);
    return 1 + hops * (int)mesh->hop_delay + noc->config.link_delay + flits - 1;
}

/* The last flit of a packet leaves for its node. */
static void eject_packet(Noc *noc, Mesh *mesh, uint32_t slot) {
    const NocPacket *packet = &mesh->slots[slot].packet;
    noc_deliver(noc, packet, mesh->slots[slot].channel,
                mesh->now + (uint64_t)noc->config.link_delay,
                empty_latency(noc, packet->source, packet->destination, packet->flits));
    mesh->free_slots[mesh->free_count++] = slot;
}

/* Router r moves the flit at the front of the lane with bit `bit` to output `output`. */
static void send_flit(Noc *noc, Mesh *mesh, int r, int output, int bit) {
    Router *router = &mesh->router[r];
    int number = mesh->bit_channel[bit];
    int target = mesh->target[r * PORTS + output] + number;
    Channel *channel = &mesh->channel[target];
    Flit flit = take_front(mesh, router, r * ROUTER_LANES + bit, bit);
    int holder = FLIT_IS_LAST(flit) ? NOBODY : bit;
    if (--channel->room == 0 || channel->holder != holder) {
        channel->holder = (int8_t)holder;
        update_may_send(mesh, router, output, channel, number);
    }
    if (output != LOCAL) {
        mesh->link_flits[r * PORTS + output]++;
        launch(mesh, target, flit);
    } else if (FLIT_IS_LAST(flit)) {
        eject_packet(noc, mesh, FLIT_SLOT(flit));
    }
}

static void step_router(Noc *noc, Mesh *mesh, int r) {
    Router *router = &mesh->router[r];
    uint64_t lanes[PORTS];
    uint64_t outputs = 0;
    for (int output = 0; output < PORTS; output++) {
        lanes[output] = router->waiting & router->wants[output] & router->may_send[output];
        outputs |= (uint64_t)(lanes[output] != 0) << output;
    }
    int turn = (int)(mesh->now % PORTS);
    for (uint64_t free_inputs = ~UINT64_C(0); outputs;) {
        int output = noc_next_in_word(outputs, turn);
        outputs &= ~lane_bit(output);
        if (!(lanes[output] & free_inputs)) continue;
        int bit = noc_next_in_word(lanes[output] & free_inputs, router->first_choice[output]);
        router->first_choice[output] = (uint8_t)(bit + 1);
        free_inputs &= ~mesh->port_lanes[mesh->bit_port[bit]];
        send_flit(noc, mesh, r, output, bit);
    }
    if (!router->waiting) bits_clear(mesh->active, (size_t)r);
}

static void step(Noc *noc) {
    Mesh *mesh = noc->state;
    if (!noc->packets_inside && !mesh->returns.total) return;
    mesh->now = noc->now;
    take_returns(mesh);
    take_flits(mesh);
    for (size_t w = 0; w < bits_words((size_t)mesh->routers); w++)
        for (uint64_t left = mesh->active[w]; left; left &= left - 1)
            step_router(noc, mesh, (int)w * 64 + bits_lowest64(left));
    for (int w = 0; w < noc->words; w++)
        for (uint64_t left = mesh->injecting[w]; left; left &= left - 1)
            send_from_node(noc, mesh, w * 64 + bits_lowest64(left));
}

static uint64_t quiet_steps(const Noc *noc) {
    const Mesh *mesh = noc->state;
    uint64_t busy = 0;
    for (int w = 0; w < NOC_MAX_WORDS; w++) busy |= mesh->active[w] | mesh->injecting[w];
    if (busy) return 0;
    uint64_t flits = wheel_quiet_steps(&mesh->flits, noc->now);
    uint64_t returns = wheel_quiet_steps(&mesh->returns, noc->now);
    return flits < returns ? flits : returns;
}

/* ---- Reports ---- */

static void add_link_stats(const Noc *noc, NocStats *stats) {
    const Mesh *mesh = noc->state;
    for (int i = 0; i < mesh->routers * PORTS; i++) {
        stats->links += mesh->sender[i] != NOBODY;
        stats->link_flits += mesh->link_flits[i];
        if (mesh->link_flits[i] > stats->busiest_link_flits)
            stats->busiest_link_flits = mesh->link_flits[i];
    }
}

/* Credits, flits and room on their way, and flits in the buffer add up to the buffer. */
static bool are_lanes_consistent(const Noc *noc, const int *under_way) {
    const Mesh *mesh = noc->state;
    for (int r = 0; r < mesh->routers; r++) {
        for (int bit = 0; bit < PORTS * mesh->channels; bit++) {
            int lane = r * ROUTER_LANES + bit;
            const Lane *state = &mesh->lane[lane];
            int flits = mesh->channel[lane].room + state->count + under_way[lane];
            bool asks = mesh->router[r].wants[state->output] >> bit & 1;
            if (flits != noc->config.buffer_flits || asks != state->is_busy ||
                (state->count && !state->is_busy) ||
                (mesh->router[r].waiting >> bit & 1) != (state->count > 0))
                return false;
        }
    }
    return true;
}

/* Every router's view of the channels it sends on is up to date. */
static bool are_outputs_consistent(const Mesh *mesh) {
    for (int i = 0; i < mesh->routers * PORTS; i++) {
        if (mesh->target[i] == NOBODY) continue;
        uint64_t may_send = 0;
        for (int number = 0; number < mesh->channels; number++)
            may_send |= allowed_lanes(mesh, &mesh->channel[mesh->target[i] + number], number);
        if (may_send != mesh->router[i / PORTS].may_send[i % PORTS]) return false;
    }
    return true;
}

/* What has gone to a node and has not been popped, plus the credits, is the ejection buffer. */
static bool are_ejections_consistent(const Noc *noc) {
    const Mesh *mesh = noc->state;
    for (int node = 0; node < noc->config.nodes; node++) {
        int arrived[NOC_MAX_CHANNELS] = {0};
        sink_count_flits(&noc->sink, node, arrived);
        for (int number = 0; number < mesh->channels; number++) {
            const Channel *channel = &mesh->channel[ejection_channel(mesh, node, number)];
            int flits = channel->room + arrived[number];
            if (flits > noc->config.ejection_flits) return false;
            bool is_whole = flits == noc->config.ejection_flits;
            if (is_whole != (channel->holder == NOBODY)) return false;
        }
    }
    return true;
}

static bool is_consistent(const Noc *noc) {
    const Mesh *mesh = noc->state;
    int *under_way = base_calloc((size_t)(mesh->routers * ROUTER_LANES), sizeof(int));
    for (uint64_t slot = 0; slot <= mesh->flits.mask; slot++)
        for (uint32_t i = 0; i < mesh->flits.counts[slot]; i++)
            under_way[mesh->flits.entries[slot * mesh->flits.capacity + i] >> 32]++;
    for (uint64_t slot = 0; slot <= mesh->returns.mask; slot++)
        for (uint32_t i = 0; i < mesh->returns.counts[slot]; i++)
            under_way[mesh->returns.entries[slot * mesh->returns.capacity + i]]++;
    bool is_good = are_lanes_consistent(noc, under_way) && are_outputs_consistent(mesh) &&
                   are_ejections_consistent(noc);
    free(under_way);
    return is_good;
}

const NocOps noc_mesh_ops = {
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
