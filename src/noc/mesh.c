/* 2D mesh of wormhole routers with virtual channels and credits.
 *
 * A router has five ports: four neighbours and its node. Packets go along x first, then along y
 * (dimension order); this alone avoids deadlock. A packet travels on one virtual channel all the
 * way, which is selected by its destination's coordinates. So packets between two nodes stay in
 * order, and a congested destination blocks only one channel. A head flit takes an output's virtual
 * channel if no other packet holds it; the packet's last flit frees it. In each cycle a router
 * moves at most one flit per input port and per output port. Outputs are served in an order that
 * rotates every cycle. Each one grants round robin among the virtual channels of free inputs that
 * have a flit for it, may use its channel, and have a credit.
 *
 * The router's pipeline and the link are one delay between the switches of two routers: a flit sent
 * in cycle t competes in the next router from cycle t + router_delay + link_delay on. Flits and
 * credits in flight are in timing wheels with one slot per future cycle. So a router never sees
 * what another one does in the same cycle, and the order of visits cannot matter. A router that can
 * move nothing sleeps until a flit or a credit arrives.
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
enum { ROUTER_LANES = 64 }; /* virtual channel numbers per router */
enum { NOBODY = -1 };

/* A flit: its packet's slot, and whether it is the packet's last. */
typedef uint32_t Flit;
#define FLIT(slot, is_last) ((slot) << 1 | (uint32_t)(is_last))
#define FLIT_SLOT(flit)     ((flit) >> 1)
#define FLIT_IS_LAST(flit)  ((flit) & 1)

typedef struct Slot {
    NocPacket packet;
    uint16_t router; /* router of its destination */
    uint16_t number; /* the virtual channel it travels on */
} Slot;

/* One virtual channel of an input port, with its buffer. Its number is router x ROUTER_LANES + bit.
 * Here bit = port x channels + channel is its position in the router's sets. A node injects into
 * port LOCAL of its router. */
typedef struct VirtualChannel {
    Flit *ring;     /* buffer_mask + 1 flits */
    uint16_t head;  /* ring position of the oldest flit, modulo 2^16 */
    uint16_t count; /* flits in the buffer */
    uint8_t output; /* port to which the current packet goes */
    bool is_busy;   /* has a current packet: the first flit has reached the front, the last is still
                       here */
} VirtualChannel;

/* The sending side of a virtual channel, which ends in a virtual channel of a router or in a node's
 * ejection buffer. */
typedef struct Channel {
    int16_t router; /* the sending router; -1: a node */
    uint8_t output; /* its port */
    uint8_t number; /* 0 .. channels-1 */
    uint16_t room;  /* credits: flits that may be sent */
    int8_t holder;  /* bit, in that router, of the virtual channel whose packet holds it; -1:
                       none */
} Channel;

typedef struct Router {
    uint64_t waiting;            /* virtual channels with a flit */
    uint64_t wants[PORTS];       /* per output: virtual channels whose current packet goes there */
    uint64_t may_send[PORTS];    /* per output: virtual channels that have a channel and a credit
                                    there */
    uint8_t first_choice[PORTS]; /* per output: start of the round robin over virtual channels */
} Router;

/* A node's injection queue: packets in order; a part of the first one may have been sent.
 * noc_queue_flits holds the number of its flits. */
typedef struct Queue {
    uint32_t *ring;      /* queue_mask + 1 packet slots */
    uint32_t head, tail; /* ring positions, modulo 2^32 */
    uint16_t flits_left; /* flits of the first packet that are still here */
    uint16_t router;     /* router of the node */
    uint16_t number;     /* the virtual channel of packets to the node */
} Queue;

/* Entries that arrive in the same cycle. */
typedef struct List {
    uint64_t *entries; /* as many as can arrive in a cycle */
    size_t count;      /* entries in use */
} List;

/* A timing wheel of entries in flight. */
typedef struct Wheel {
    List *lists;   /* per cycle, modulo their number */
    uint64_t mask; /* lists - 1 */
} Wheel;

typedef struct Mesh {
    uint64_t active[NOC_MAX_WORDS];         /* routers that may have a flit to move */
    uint64_t injecting[NOC_MAX_WORDS];      /* nodes with a packet in the injection queue */
    uint64_t port_vcs[PORTS];               /* per port: bits of its virtual channels */
    uint64_t channel_vcs[NOC_MAX_CHANNELS]; /* per channel number: bits of its virtual channels */
    uint8_t bit_port[ROUTER_LANES];         /* port of a virtual channel's bit */
    uint8_t bit_number[ROUTER_LANES];       /* channel number of a virtual channel's bit */
    int channels;                           /* virtual channels per port */
    int routers;                            /* columns x rows */
    uint64_t hop_delay;                     /* cycles from switch to switch */
    Wheel flits;          /* to virtual channels, as virtual channel << 32 | flit */
    Wheel returns;        /* virtual channels that get a credit back */
    List *sent_flits;     /* in the current cycle: flits that leave */
    List *sent_returns;   /* the same for credits */
    Router *router;       /* per router */
    VirtualChannel *vc;   /* per virtual channel */
    Flit *buffers;        /* the rings of all virtual channels */
    Channel *channel;     /* per virtual channel at its end; then NOC_MAX_CHANNELS per node */
    int *target;          /* per router and output: first channel that starts there; -1: none */
    uint8_t *routes;      /* per router and destination router: the output */
    uint64_t *link_flits; /* per router and output: flits sent to the neighbour */
    Queue *queues;        /* per node */
    uint32_t *queued;     /* the rings of all nodes */
    Slot *slots;          /* packets whose last flit has yet to be ejected */
    uint32_t *free_slots; /* stack */
    uint32_t free_count;  /* number of free slots */
    uint32_t queue_mask;  /* length of a node's ring in packets - 1 */
    uint16_t buffer_mask; /* length of a virtual channel's ring in flits - 1 */
} Mesh;

/* ---- Wheels ---- */

static void wheel_init(Wheel *wheel, uint64_t horizon, size_t capacity) {
    size_t count = (size_t)1 << bits_log2_up(horizon + 1);
    wheel->mask = count - 1;
    wheel->lists = base_calloc(count, sizeof(List));
    for (size_t i = 0; i < count; i++)
        wheel->lists[i].entries = base_calloc(capacity, sizeof(uint64_t));
}

static void wheel_free(Wheel *wheel) {
    for (size_t i = 0; i <= wheel->mask; i++)
        free(wheel->lists[i].entries);
    free(wheel->lists);
}

static List *wheel_at(const Wheel *wheel, uint64_t cycle) {
    return &wheel->lists[cycle & wheel->mask];
}

static void list_add(List *list, uint64_t entry) { list->entries[list->count++] = entry; }

/* Number of cycles after `now` in which nothing arrives. */
static uint64_t wheel_quiet_steps(const Wheel *wheel, uint64_t now) {
    for (uint64_t quiet = 0; quiet < wheel->mask; quiet++)
        if (wheel_at(wheel, now + 1 + quiet)->count) return quiet;
    return NOC_QUIET_FOREVER;
}

/* ---- Construction ---- */

static int opposite(int port) { return port ^ 1; }

/* The neighbour of router r in the direction of a port; -1 at the edge. */
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

static uint64_t vc_bit(int bit) { return UINT64_C(1) << bit; }

static void create_bits(Mesh *mesh) {
    for (int port = 0; port < PORTS; port++) {
        for (int number = 0; number < mesh->channels; number++) {
            int bit = port * mesh->channels + number;
            mesh->bit_port[bit] = (uint8_t)port;
            mesh->bit_number[bit] = (uint8_t)number;
            mesh->port_vcs[port] |= vc_bit(bit);
            mesh->channel_vcs[number] |= vc_bit(bit);
        }
    }
}

/* Dimension order: first along x, then along y, then to the node. */
static int route(const NocConfig *config, int from, int to) {
    int dx = to % config->columns - from % config->columns;
    int dy = to / config->columns - from / config->columns;
    if (dx) return dx < 0 ? WEST : EAST;
    if (dy) return dy < 0 ? NORTH : SOUTH;
    return LOCAL;
}

static void create_routers(Mesh *mesh, const NocConfig *config) {
    size_t routers = (size_t)mesh->routers;
    mesh->router = base_calloc(routers, sizeof(Router));
    mesh->target = base_calloc(routers * PORTS, sizeof(int));
    mesh->link_flits = base_calloc(routers * PORTS, sizeof(uint64_t));
    mesh->routes = base_calloc(routers * routers, sizeof(uint8_t));
    for (int r = 0; r < mesh->routers; r++) {
        for (int port = 0; port < PORTS; port++) {
            int other = neighbour(config, r, port);
            mesh->target[r * PORTS + port] =
                other == NOBODY ? NOBODY : other * ROUTER_LANES + opposite(port) * mesh->channels;
            mesh->router[r].may_send[port] = bits_low_mask(PORTS * mesh->channels);
        }
        for (int to = 0; to < mesh->routers; to++)
            mesh->routes[r * mesh->routers + to] = (uint8_t)route(config, r, to);
    }
}

/* The channel into a node's ejection buffer. */
static int ejection_channel(const Mesh *mesh, int node, int number) {
    return mesh->routers * ROUTER_LANES + node * NOC_MAX_CHANNELS + number;
}

static void create_nodes(Mesh *mesh, const NocConfig *config) {
    size_t nodes = (size_t)config->nodes;
    size_t ring_packets = (size_t)1 << bits_log2_up((uint64_t)config->injection_flits);
    mesh->queue_mask = (uint32_t)ring_packets - 1;
    mesh->queues = base_calloc(nodes, sizeof(Queue));
    mesh->queued = base_calloc(nodes * ring_packets, sizeof(uint32_t));
    for (size_t node = 0; node < nodes; node++) {
        int r = config->placement[node];
        mesh->target[r * PORTS + LOCAL] = ejection_channel(mesh, (int)node, 0);
        mesh->queues[node] = (Queue){
            .ring = &mesh->queued[node * ring_packets],
            .router = (uint16_t)r,
            .number = (uint16_t)((r % config->columns + r / config->columns) % mesh->channels)};
    }
}

static void create_buffers(Mesh *mesh, const NocConfig *config) {
    size_t vcs = (size_t)mesh->routers * ROUTER_LANES;
    size_t ring_flits = (size_t)1 << bits_log2_up((uint64_t)config->buffer_flits);
    mesh->buffer_mask = (uint16_t)(ring_flits - 1);
    mesh->vc = base_calloc(vcs, sizeof(VirtualChannel));
    mesh->buffers = base_calloc(vcs * ring_flits, sizeof(Flit));
    for (size_t i = 0; i < vcs; i++)
        mesh->vc[i].ring = &mesh->buffers[i * ring_flits];
}

static void create_channels(Mesh *mesh, const NocConfig *config) {
    int vcs = mesh->routers * ROUTER_LANES, count = ejection_channel(mesh, config->nodes, 0);
    mesh->channel = base_calloc((size_t)count, sizeof(Channel));
    for (int i = 0; i < count; i++) {
        int room = i < vcs ? config->buffer_flits : config->ejection_flits;
        mesh->channel[i] = (Channel){.router = NOBODY, .room = (uint16_t)room, .holder = NOBODY};
    }
    for (int i = 0; i < mesh->routers * PORTS; i++) {
        for (int number = 0; mesh->target[i] != NOBODY && number < mesh->channels; number++) {
            Channel *channel = &mesh->channel[mesh->target[i] + number];
            channel->router = (int16_t)(i / PORTS);
            channel->output = (uint8_t)(i % PORTS);
            channel->number = (uint8_t)number;
        }
    }
}

/* Creates as many slots as there can be packets; each packet has at least one flit in some
 * buffer. */
static void create_slots(Mesh *mesh, const NocConfig *config) {
    int vcs = mesh->routers * PORTS * mesh->channels;
    uint32_t count =
        (uint32_t)(config->nodes * config->injection_flits + vcs * config->buffer_flits);
    mesh->slots = base_calloc(count, sizeof(Slot));
    mesh->free_slots = base_calloc(count, sizeof(uint32_t));
    for (uint32_t i = 0; i < count; i++)
        mesh->free_slots[i] = count - 1 - i;
    mesh->free_count = count;
}

static void *create(Noc *noc) {
    const NocConfig *config = &noc->config;
    Mesh *mesh = base_calloc(1, sizeof *mesh);
    mesh->channels = config->virtual_channels;
    mesh->routers = config->columns * config->rows;
    mesh->hop_delay = (uint64_t)(config->router_delay + config->link_delay);
    create_bits(mesh);
    create_routers(mesh, config);
    create_nodes(mesh, config);
    create_buffers(mesh, config);
    create_channels(mesh, config);
    create_slots(mesh, config);
    size_t inputs = (size_t)mesh->routers * PORTS;
    wheel_init(&mesh->flits, mesh->hop_delay, inputs);
    wheel_init(&mesh->returns, (uint64_t)config->credit_delay, inputs);
    noc->lead = config->link_delay;
    noc->channels = mesh->channels;
    sink_init(&noc->sink, config->nodes, config->ejection_flits * mesh->channels,
              config->link_delay);
    return mesh;
}

static void destroy(void *state) {
    Mesh *mesh = state;
    wheel_free(&mesh->flits);
    wheel_free(&mesh->returns);
    void *const blocks[] = {mesh->router, mesh->vc,         mesh->buffers,   mesh->channel,
                            mesh->target, mesh->routes,     mesh->queues,    mesh->queued,
                            mesh->slots,  mesh->free_slots, mesh->link_flits};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        free(blocks[i]);
    free(mesh);
}

/* ---- Injection ---- */

static void inject(Noc *noc, const NocPacket *packet) {
    Mesh *mesh = noc->state;
    Queue *queue = &mesh->queues[packet->source];
    const Queue *goal = &mesh->queues[packet->destination];
    assert(mesh->free_count > 0);
    uint32_t slot = mesh->free_slots[--mesh->free_count];
    mesh->slots[slot] = (Slot){.packet = *packet, .router = goal->router, .number = goal->number};
    if (queue->head == queue->tail) queue->flits_left = packet->flits;
    queue->ring[queue->tail++ & mesh->queue_mask] = slot;
    bits_set(mesh->injecting, packet->source);
}

static void launch(Mesh *mesh, int vc, Flit flit) {
    list_add(mesh->sent_flits, (uint64_t)vc << 32 | flit);
}

/* Sends the next flit of a node's queue to its router, if the packet's channel has room there. */
static void send_from_node(Noc *noc, Mesh *mesh, int node) {
    Queue *queue = &mesh->queues[node];
    uint32_t slot = queue->ring[queue->head & mesh->queue_mask];
    int bit = LOCAL * mesh->channels + mesh->slots[slot].number;
    int vc = queue->router * ROUTER_LANES + bit;
    if (!mesh->channel[vc].room) return;
    mesh->channel[vc].room--;
    --*noc_queue_flits(noc, node);
    bool is_last = --queue->flits_left == 0;
    launch(mesh, vc, FLIT(slot, is_last));
    if (!is_last) return;
    uint32_t next = queue->ring[++queue->head & mesh->queue_mask];
    if (queue->head == queue->tail) bits_clear(mesh->injecting, (size_t)node);
    else queue->flits_left = mesh->slots[next].packet.flits;
}

/* ---- Credits ---- */

/* The virtual channels of the sending router that may use a channel in its current state: none
 * without a credit; only the holder, if there is one; else all. */
static uint64_t allowed_vcs(const Mesh *mesh, const Channel *channel) {
    if (!channel->room) return 0;
    return channel->holder == NOBODY ? mesh->channel_vcs[channel->number] : vc_bit(channel->holder);
}

/* Updates the sending router's set, and wakes the router. */
static void update_may_send(Mesh *mesh, const Channel *channel) {
    bits_set(mesh->active, (size_t)channel->router);
    uint64_t *may_send = &mesh->router[channel->router].may_send[channel->output];
    *may_send = (*may_send & ~mesh->channel_vcs[channel->number]) | allowed_vcs(mesh, channel);
}

/* Returns the credits of flits that have left to the senders of their virtual channels. */
static void take_returns(Mesh *mesh, List *vcs) {
    for (size_t i = 0; i < vcs->count; i++) {
        Channel *channel = &mesh->channel[vcs->entries[i]];
        if (channel->room++ == 0 && channel->router != NOBODY) update_may_send(mesh, channel);
    }
    vcs->count = 0;
}

static void give_back(Noc *noc, int node, int number, int flits) {
    Mesh *mesh = noc->state;
    Channel *channel = &mesh->channel[ejection_channel(mesh, node, number)];
    channel->room = (uint16_t)(channel->room + flits);
    update_may_send(mesh, channel);
}

/* ---- Routers ---- */

static Flit *flit_at(const Mesh *mesh, const VirtualChannel *vc, unsigned position) {
    return &vc->ring[position & mesh->buffer_mask];
}

/* Called when the flit at the front of the virtual channel with bit `bit` of router r is the first
 * of a packet: the virtual channel requests the packet's output. */
static void start_packet(Mesh *mesh, int r, VirtualChannel *vc, int bit) {
    const Slot *slot = &mesh->slots[FLIT_SLOT(*flit_at(mesh, vc, vc->head))];
    vc->is_busy = true;
    vc->output = mesh->routes[r * mesh->routers + slot->router];
    mesh->router[r].wants[vc->output] |= vc_bit(bit);
}

/* Takes flits from the links into the buffers. */
static void take_flits(Mesh *mesh, List *flits) {
    for (size_t i = 0; i < flits->count; i++) {
        unsigned number = (unsigned)(flits->entries[i] >> 32);
        int r = (int)(number / ROUTER_LANES), bit = (int)(number % ROUTER_LANES);
        VirtualChannel *vc = &mesh->vc[number];
        *flit_at(mesh, vc, (unsigned)vc->head + vc->count++) = (Flit)flits->entries[i];
        mesh->router[r].waiting |= vc_bit(bit);
        bits_set(mesh->active, (size_t)r);
        if (!vc->is_busy) start_packet(mesh, r, vc, bit);
    }
    flits->count = 0;
}

/* Removes the flit at the front of a virtual channel and sends its credit back. */
static Flit take_front(Mesh *mesh, int r, int bit) {
    int number = r * ROUTER_LANES + bit;
    VirtualChannel *vc = &mesh->vc[number];
    Router *router = &mesh->router[r];
    Flit flit = *flit_at(mesh, vc, vc->head++);
    vc->count--;
    router->waiting &= ~((uint64_t)(vc->count == 0) << bit);
    if (FLIT_IS_LAST(flit)) {
        router->wants[vc->output] &= ~vc_bit(bit);
        vc->is_busy = false;
        if (vc->count) start_packet(mesh, r, vc, bit);
    }
    list_add(mesh->sent_returns, (uint64_t)number);
    return flit;
}

/* One cycle out of the injection queue, one hop to the first router and one to each further router,
 * the link to the node, and one cycle for each further flit. */
static int empty_latency(const Noc *noc, int source, int destination, int flits) {
    const Mesh *mesh = noc->state;
    int from = mesh->queues[source].router, to = mesh->queues[destination].router;
    int columns = noc->config.columns;
    int hops = 1 + abs(from % columns - to % columns) + abs(from / columns - to / columns);
    return 1 + hops * (int)mesh->hop_delay + noc->config.link_delay + flits - 1;
}

/* Delivers a packet whose last flit leaves for its node. */
static void eject_packet(Noc *noc, Mesh *mesh, uint32_t slot) {
    const NocPacket *packet = &mesh->slots[slot].packet;
    noc_deliver(noc, packet, mesh->slots[slot].number, noc->now + (uint64_t)noc->config.link_delay,
                empty_latency(noc, packet->source, packet->destination, packet->flits), noc->words);
    mesh->free_slots[mesh->free_count++] = slot;
}

/* Moves the flit at the front of the virtual channel with bit `bit` of router r to output
 * `output`. */
static void send_flit(Noc *noc, Mesh *mesh, int r, int output, int bit) {
    int target = mesh->target[r * PORTS + output] + mesh->bit_number[bit];
    Channel *channel = &mesh->channel[target];
    Flit flit = take_front(mesh, r, bit);
    int holder = FLIT_IS_LAST(flit) ? NOBODY : bit;
    if (--channel->room == 0 || channel->holder != holder) {
        channel->holder = (int8_t)holder;
        update_may_send(mesh, channel);
    }
    if (output != LOCAL) {
        mesh->link_flits[r * PORTS + output]++;
        launch(mesh, target, flit);
    } else if (FLIT_IS_LAST(flit)) {
        eject_packet(noc, mesh, FLIT_SLOT(flit));
    }
}

/* Moves a flit of the only virtual channel of router r that has flits, if it may move. No
 * arbitration is needed. */
static bool step_only_vc(Noc *noc, Mesh *mesh, int r, int bit) {
    Router *router = &mesh->router[r];
    int output = mesh->vc[r * ROUTER_LANES + bit].output;
    if (!(router->may_send[output] >> bit & 1)) return false;
    router->first_choice[output] = (uint8_t)(bit + 1);
    send_flit(noc, mesh, r, output, bit);
    return true;
}

/* Lets the outputs of router r choose among the virtual channels with flits; `turn` is the output
 * that chooses first. Returns false if no flit can move. */
static bool step_vcs(Noc *noc, Mesh *mesh, int r, int turn) {
    Router *router = &mesh->router[r];
    uint64_t vcs[PORTS];
    uint64_t outputs = 0;
    for (int output = 0; output < PORTS; output++) {
        vcs[output] = router->waiting & router->wants[output] & router->may_send[output];
        outputs |= (uint64_t)(vcs[output] != 0) << output;
    }
    bool is_stuck = !outputs;
    for (uint64_t free_inputs = ~UINT64_C(0); outputs;) {
        int output = noc_next_in_word(outputs, turn);
        outputs &= ~vc_bit(output);
        if (!(vcs[output] & free_inputs)) continue;
        int bit = noc_next_in_word(vcs[output] & free_inputs, router->first_choice[output]);
        router->first_choice[output] = (uint8_t)(bit + 1);
        free_inputs &= ~mesh->port_vcs[mesh->bit_port[bit]];
        send_flit(noc, mesh, r, output, bit);
    }
    return !is_stuck;
}

/* Moves what router r can move. The router sleeps afterwards if nothing could move or no flit is
 * left. */
static void step_router(Noc *noc, Mesh *mesh, int r, int turn) {
    const uint64_t waiting = mesh->router[r].waiting;
    bool is_alone = !(waiting & (waiting - 1));
    bool has_moved = is_alone ? waiting && step_only_vc(noc, mesh, r, bits_lowest64(waiting))
                              : step_vcs(noc, mesh, r, turn);
    if (!has_moved || !mesh->router[r].waiting) bits_clear(mesh->active, (size_t)r);
}

static void step(Noc *noc) {
    Mesh *mesh = noc->state;
    uint64_t returned_at = noc->now + (uint64_t)noc->config.credit_delay;
    mesh->sent_flits = wheel_at(&mesh->flits, noc->now + mesh->hop_delay);
    mesh->sent_returns = wheel_at(&mesh->returns, returned_at);
    take_returns(mesh, wheel_at(&mesh->returns, noc->now));
    take_flits(mesh, wheel_at(&mesh->flits, noc->now));
    int turn = (int)(noc->now % PORTS);
    for (size_t w = 0; w < bits_words((size_t)mesh->routers); w++)
        for (uint64_t left = mesh->active[w]; left; left &= left - 1)
            step_router(noc, mesh, (int)w * 64 + bits_lowest64(left), turn);
    for (int w = 0; w < noc->words; w++)
        for (uint64_t left = mesh->injecting[w]; left; left &= left - 1)
            send_from_node(noc, mesh, w * 64 + bits_lowest64(left));
    if (mesh->sent_returns->count) noc->settled_at = returned_at + 1;
}

static uint64_t quiet_steps(const Noc *noc) {
    const Mesh *mesh = noc->state;
    if (!noc->packets_inside && noc->now + 1 >= noc->settled_at) return NOC_QUIET_FOREVER;
    uint64_t busy = 0;
    for (int w = 0; w < NOC_MAX_WORDS; w++)
        busy |= mesh->active[w] | mesh->injecting[w];
    if (busy) return 0;
    uint64_t flits = wheel_quiet_steps(&mesh->flits, noc->now);
    uint64_t returns = wheel_quiet_steps(&mesh->returns, noc->now);
    return flits < returns ? flits : returns;
}

/* ---- Reports ---- */

static void add_link_stats(const Noc *noc, NocStats *stats) {
    const Mesh *mesh = noc->state;
    for (int i = 0; i < mesh->routers * PORTS; i++) {
        stats->links += i % PORTS != LOCAL && mesh->target[i] != NOBODY;
        noc_add_link_flits(stats, mesh->link_flits[i]);
    }
}

/* The credits, the flits and credits in flight, and the flits in the buffer must add up to the
 * buffer's size. */
static bool are_lanes_consistent(const Noc *noc, const int *under_way) {
    const Mesh *mesh = noc->state;
    for (int r = 0; r < mesh->routers; r++) {
        for (int bit = 0; bit < PORTS * mesh->channels; bit++) {
            int number = r * ROUTER_LANES + bit;
            const VirtualChannel *vc = &mesh->vc[number];
            int flits = mesh->channel[number].room + vc->count + under_way[number];
            bool asks = mesh->router[r].wants[vc->output] >> bit & 1;
            if (flits != noc->config.buffer_flits || asks != vc->is_busy ||
                (vc->count && !vc->is_busy) ||
                (mesh->router[r].waiting >> bit & 1) != (vc->count > 0))
                return false;
        }
    }
    return true;
}

/* Every router's view of its outgoing channels must be up to date, and no router that could move a
 * flit may sleep. */
static bool are_outputs_consistent(const Mesh *mesh) {
    for (int i = 0; i < mesh->routers * PORTS; i++) {
        const Router *router = &mesh->router[i / PORTS];
        bool can_move = router->waiting & router->wants[i % PORTS] & router->may_send[i % PORTS];
        if (can_move && !bits_get(mesh->active, (size_t)i / PORTS)) return false;
        if (mesh->target[i] == NOBODY) continue;
        uint64_t may_send = 0;
        for (int number = 0; number < mesh->channels; number++)
            may_send |= allowed_vcs(mesh, &mesh->channel[mesh->target[i] + number]);
        if (may_send != router->may_send[i % PORTS]) return false;
    }
    return true;
}

/* The flits that have gone to a node and have yet to be popped, plus the credits, must equal the
 * ejection buffer. */
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
    size_t total = 0;
    for (uint64_t slot = 0; slot <= mesh->flits.mask; slot++) {
        const List *list = wheel_at(&mesh->flits, slot);
        total += list->count;
        for (size_t i = 0; i < list->count; i++)
            under_way[list->entries[i] >> 32]++;
    }
    for (uint64_t slot = 0; slot <= mesh->returns.mask; slot++) {
        const List *list = wheel_at(&mesh->returns, slot);
        total += list->count;
        for (size_t i = 0; i < list->count; i++)
            under_way[list->entries[i]]++;
    }
    bool is_asleep = !noc->packets_inside && noc->now >= noc->settled_at;
    bool is_good = !(is_asleep && total) && are_lanes_consistent(noc, under_way) &&
                   are_outputs_consistent(mesh) && are_ejections_consistent(noc);
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
