/* The common part of all networks: configuration, room in injection queues, ejection,
 * statistics. */
#include "noc/noc.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "noc/noc_internal.h"

static const NocOps *const kinds[NOC_KIND_COUNT] = {
    [NOC_MESH] = &noc_mesh_ops,
    [NOC_CROSSBAR] = &noc_crossbar_ops,
    [NOC_IDEAL] = &noc_ideal_ops,
    [NOC_SWITCH] = &noc_switch_ops,
};

/* ---- Configuration ---- */

enum {
    MESH = 1 << NOC_MESH,
    CROSSBAR = 1 << NOC_CROSSBAR,
    IDEAL = 1 << NOC_IDEAL,
    SWITCH = 1 << NOC_SWITCH,
    ALL = MESH | CROSSBAR | IDEAL | SWITCH
};

/* The bounds of each parameter, taken from its row in the header. */
#define BOUNDS(kind, key, at, name, field, ...)   BOUNDS_##kind(field, __VA_ARGS__)
#define BOUNDS_COUNT(field, unit, low, high, ...) LOW_##field = low, HIGH_##field = high,
#define BOUNDS_BYTES(field, low, high, ...)       LOW_##field = low, HIGH_##field = high,
#define BOUNDS_CHOICE(field, ...)
enum {
    LOW_nodes = 1,
    HIGH_nodes = NOC_MAX_NODES,
    NOC_LINK_PARAMETERS(BOUNDS, , ) NOC_ROOM_PARAMETERS(BOUNDS, , ) NOC_DELAY_PARAMETERS(BOUNDS, , )
};

/* Offset of a field, which must be an int. */
#define INT_OFFSET(field)                                                                          \
    (offsetof(NocConfig, field) + 0 * sizeof(_Generic(&((NocConfig *)NULL)->field, int *: 0)))

/* One row per parameter: the kinds that use it, and its default in each kind. Origins of the
 * defaults: the crossbar's were measured on the stock GTX480 model of GPGPU-Sim 4.2
 * (docs/interconnect.md). Its ejection buffer is the sum of two in series in that model, 64 and 16
 * flits. 32-byte channels are from OWL Table 1. The mesh's router is an assumption: a common
 * design. */
static const struct ConfigRow {
    const char *name;
    size_t offset;
    int smallest, largest;
    unsigned kinds; /* bit set of NocKind */
    int mesh, crossbar, ideal, whole;
} config_rows[] = {
#define ROW(field, kinds, mesh, crossbar, ideal, whole)                                            \
    {#field, INT_OFFSET(field), LOW_##field, HIGH_##field, kinds, mesh, crossbar, ideal, whole}
    ROW(nodes, ALL, 0, 0, 0, 0),
    ROW(flit_bytes, ALL, 32, 40, 32, 40),
    ROW(injection_flits, ALL, 9, 9, 9, 512),
    ROW(ejection_flits, ALL, 16, 80, 1024, 512),
    ROW(virtual_channels, MESH, 4, 0, 0, 0),
    ROW(buffer_flits, MESH | CROSSBAR, 8, 64, 0, 0),
    ROW(columns, MESH, 0, 0, 0, 0),
    ROW(rows, MESH, 0, 0, 0, 0),
    ROW(router_delay, MESH, 3, 0, 0, 0),
    ROW(link_delay, MESH, 1, 0, 0, 0),
    ROW(credit_delay, MESH, 1, 0, 0, 0),
    ROW(internal_steps, CROSSBAR, 0, 2, 0, 0),
    ROW(allocation_steps, CROSSBAR, 0, 1, 0, 0),
    ROW(output_delay, CROSSBAR, 0, 4, 0, 0),
    ROW(ideal_latency, IDEAL, 0, 0, 5, 0),
    ROW(switch_delay, SWITCH, 0, 0, 0, 0),
#undef ROW
};
enum { CONFIG_ROWS = sizeof config_rows / sizeof config_rows[0] };

static int *config_field(NocConfig *config, const struct ConfigRow *row) {
    return (int *)(void *)((char *)config + row->offset);
}

NocConfig noc_config_default(NocKind kind, int nodes) {
    NocConfig config = {.kind = kind};
    for (int i = 0; i < CONFIG_ROWS; i++) {
        const struct ConfigRow *row = &config_rows[i];
        const int by_kind[NOC_KIND_COUNT] = {[NOC_MESH] = row->mesh,
                                             [NOC_CROSSBAR] = row->crossbar,
                                             [NOC_IDEAL] = row->ideal,
                                             [NOC_SWITCH] = row->whole};
        *config_field(&config, row) = by_kind[kind];
    }
    config.nodes = nodes;
    if (kind == NOC_MESH) {
        config.columns = 1;
        while (config.columns * config.columns < nodes)
            config.columns++;
        config.rows = (nodes + config.columns - 1) / config.columns;
        for (int i = 0; i < nodes && i < NOC_MAX_NODES; i++)
            config.placement[i] = i;
    }
    return config;
}

void noc_config_place(NocConfig *config, const int *positions, int count) {
    assert(count >= 0 && count <= config->nodes && config->nodes <= NOC_MAX_NODES);
    int others = config->nodes - count, router = 0;
    for (int node = 0; node < others; router++) {
        bool is_taken = false;
        for (int i = 0; i < count; i++)
            is_taken |= positions[i] == router;
        if (!is_taken) config->placement[node++] = router;
    }
    for (int i = 0; i < count; i++)
        config->placement[others + i] = positions[i];
}

static bool check_mesh(const NocConfig *config, char *why, size_t size_bytes) {
    int routers = config->columns * config->rows;
    if (routers > NOC_MAX_NODES || routers < config->nodes) {
        snprintf(why, size_bytes, "a mesh of %d x %d routers: %d nodes need %d .. %d routers",
                 config->columns, config->rows, config->nodes, config->nodes, NOC_MAX_NODES);
        return false;
    }
    bool is_taken[NOC_MAX_NODES] = {false};
    for (int node = 0; node < config->nodes; node++) {
        int router = config->placement[node];
        bool is_outside = router < 0 || router >= routers;
        if (is_outside || is_taken[router]) {
            snprintf(why, size_bytes, "placement: node %d at router %d, which %s", node, router,
                     is_outside ? "the mesh does not have" : "another node has");
            return false;
        }
        is_taken[router] = true;
    }
    return true;
}

bool noc_config_check(const NocConfig *config, char *why, size_t size_bytes) {
    if ((unsigned)config->kind >= NOC_KIND_COUNT) {
        snprintf(why, size_bytes, "kind %d: there are mesh, crossbar, ideal and switch",
                 (int)config->kind);
        return false;
    }
    for (int i = 0; i < CONFIG_ROWS; i++) {
        const struct ConfigRow *row = &config_rows[i];
        NocConfig copy = *config;
        int value = *config_field(&copy, row);
        if (!(row->kinds >> config->kind & 1)) continue;
        if (value < row->smallest || value > row->largest) {
            snprintf(why, size_bytes, "%s is %d: must be %d .. %d", row->name, value, row->smallest,
                     row->largest);
            return false;
        }
    }
    if (config->kind != NOC_IDEAL && config->ejection_flits < config->injection_flits) {
        snprintf(why, size_bytes,
                 "ejection_flits is %d: the longest packet, %d flits (injection_flits), must fit",
                 config->ejection_flits, config->injection_flits);
        return false;
    }
    return config->kind != NOC_MESH || check_mesh(config, why, size_bytes);
}

/* ---- Life ---- */

Noc *noc_new(const NocConfig *config, uint64_t *counts) {
    char why[160];
    assert(noc_config_check(config, why, sizeof why));
    Noc *noc = base_alloc_lines(sizeof *noc);
    noc->config = *config;
    noc->counts = counts ? counts : noc->stats.counts;
    noc->ops = kinds[config->kind];
    noc->words = (int)bits_words((size_t)config->nodes);
    noc->queue_limit = config->injection_flits;
    noc->max_packet_bytes = config->injection_flits * config->flit_bytes;
    noc->flits_by_bytes = base_calloc((size_t)noc->max_packet_bytes + 1, sizeof(uint16_t));
    noc->flits_by_bytes[0] = 1;
    for (int bytes = 1; bytes <= noc->max_packet_bytes; bytes++)
        noc->flits_by_bytes[bytes] =
            (uint16_t)((bytes + config->flit_bytes - 1) / config->flit_bytes);
    noc->most_arrivals = noc->channels = 1;
    noc->state = noc->ops->create(noc);
    return noc;
}

void noc_free(Noc *noc) {
    if (!noc) return;
    noc->ops->destroy(noc->state);
    sink_free(&noc->sink);
    free(noc->flits_by_bytes);
    free(noc->held);
    noc_free_handoff(noc->handoff);
    free(noc);
}

/* ---- Packets ---- */

int noc_max_packet_bytes(const Noc *noc) { return noc->max_packet_bytes; }

int noc_packet_flits(const Noc *noc, int packet_bytes) {
    assert(packet_bytes >= 0 && packet_bytes <= noc->max_packet_bytes);
    return noc->flits_by_bytes[packet_bytes];
}

bool noc_can_inject(const Noc *noc, int source, int packet_bytes) {
    if (packet_bytes > noc->max_packet_bytes) return false;
    return *noc_queue_flits(noc, source) + noc->flits_by_bytes[packet_bytes] <= noc->queue_limit;
}

static NocHeld *held_at(const Noc *noc, int node) {
    return (NocHeld *)(void *)(noc->held + (size_t)node * noc->held_bytes);
}

/* Takes over a packet that its node's queue has room for; it begins to move. */
static void take_over(Noc *noc, const NocPacket *packet) {
    noc->packets_inside++;
    noc->counts[NETWORK_packets_sent]++;
    noc->counts[NETWORK_flits] += packet->flits;
    if (noc->config.kind == NOC_CROSSBAR) noc_crossbar_inject(noc, packet);
    else noc->ops->inject(noc, packet);
}

/* Injects a packet; there must be room. (A separate function, so that the check for room is
 * inlined.) */
__attribute__((noinline)) static void inject(Noc *noc, int source, int destination,
                                             int packet_bytes, uint32_t payload) {
    NocPacket packet = {.injected_at = (uint32_t)noc->now,
                        .payload = payload,
                        .source = (uint16_t)source,
                        .destination = (uint16_t)destination,
                        .flits = noc->flits_by_bytes[packet_bytes]};
    uint16_t *queue_flits = noc_queue_flits(noc, source);
    *queue_flits = (uint16_t)(*queue_flits + packet.flits);
    if (__builtin_expect(noc->is_holding, false)) {
        NocHeld *held = held_at(noc, source);
        held->packet[held->count++] = packet;
        held->bytes += (uint64_t)packet_bytes;
    } else {
        noc->stats.bytes_injected += (uint64_t)packet_bytes;
        take_over(noc, &packet);
    }
}

bool noc_try_inject(Noc *noc, int source, int destination, int packet_bytes, uint32_t payload) {
    if (!noc_can_inject(noc, source, packet_bytes)) return false;
    inject(noc, source, destination, packet_bytes, payload);
    return true;
}

bool noc_can_hold(const Noc *noc) { return noc->config.kind != NOC_IDEAL; }

void noc_hold(Noc *noc) {
    assert(noc_can_hold(noc) && !noc->is_holding);
    if (!noc->held) {
        size_t packets = (size_t)noc->config.injection_flits * sizeof(NocPacket);
        noc->held_bytes = (sizeof(NocHeld) + packets + NOC_LINE - 1) / NOC_LINE * NOC_LINE;
        noc->held = base_alloc_lines((size_t)noc->config.nodes * noc->held_bytes);
    }
    noc->is_holding = true;
}

/* Applies what a node did while the network held it. */
static void catch_up(Noc *noc, int node, NocHeld *held) {
    for (uint32_t i = 0; i < held->count; i++)
        take_over(noc, &held->packet[i]);
    noc->stats.bytes_injected += held->bytes;
    noc->packets_inside -= held->popped;
    noc->counts[NETWORK_packets_received] += held->popped;
    noc->stats.ejection_cycles += held->ejection_cycles;
    for (uint32_t left = held->channels; left; left &= left - 1) {
        int channel = bits_lowest32(left);
        noc->ops->give_back(noc, node, channel, held->room[channel]);
        held->room[channel] = 0;
    }
    if (held->is_drained) sink_set_drained(&noc->sink, node, true);
    held->bytes = held->ejection_cycles = 0;
    held->count = held->popped = 0;
    held->is_drained = false;
    held->channels = 0;
}

void noc_release(Noc *noc) {
    assert(noc->is_holding);
    noc->is_holding = false;
    for (int node = 0; node < noc->config.nodes; node++) {
        NocHeld *held = held_at(noc, node);
        if (held->count | held->popped) catch_up(noc, node, held);
    }
}

/* ---- Output ---- */

const uint64_t *noc_ready_mask(const Noc *noc) { return noc->sink.ready; }

bool noc_peek(const Noc *noc, int node, uint32_t *payload) {
    /* in a handed-off network only injections are held; another thread pops */
    if (__builtin_expect(!noc->is_handed_off && noc->is_holding, false) &&
        held_at(noc, node)->is_drained)
        return false;
    const SinkPacket *packet = sink_peek(&noc->sink, node);
    if (packet) *payload = packet->payload;
    return packet != NULL;
}

static void pop_held(Noc *noc, int node) {
    bool has_next;
    const SinkPacket *packet = sink_take(&noc->sink, node, noc->now, &has_next);
    NocHeld *held = held_at(noc, node);
    held->is_drained = !has_next;
    held->popped++;
    held->ejection_cycles += noc->now - packet->ready_at;
    held->channels |= (uint16_t)(1u << packet->channel);
    held->room[packet->channel] = (uint16_t)(held->room[packet->channel] + packet->flits);
}

static void pop_now(Noc *noc, int node) {
    bool has_next;
    const SinkPacket *packet = sink_take(&noc->sink, node, noc->now, &has_next);
    sink_set_drained(&noc->sink, node, !has_next);
    noc->packets_inside--;
    noc->counts[NETWORK_packets_received]++;
    noc->stats.ejection_cycles += noc->now - packet->ready_at;
    if (noc->config.kind == NOC_CROSSBAR)
        noc_crossbar_give_back(noc, node, packet->channel, packet->flits);
    else noc->ops->give_back(noc, node, packet->channel, packet->flits);
}

void noc_pop(Noc *noc, int node) {
    if (__builtin_expect(noc->is_handed_off, false)) noc_pop_handoff(noc, node);
    else if (__builtin_expect(noc->is_holding, false)) pop_held(noc, node);
    else pop_now(noc, node);
}

bool noc_take(Noc *noc, int node, uint32_t *payload) {
    if (!noc_peek(noc, node, payload)) return false;
    noc_pop(noc, node);
    return true;
}

/* ---- Time ---- */

void noc_step(Noc *noc) {
    noc->now++;
    if (!noc->packets_inside && noc->now >= noc->settled_at) return;
    if (__builtin_expect(!noc->is_handed_off, true)) { /* else the consumer does this */
        if (noc->words == 1) sink_step(&noc->sink, noc->now, 1);
        else sink_step(&noc->sink, noc->now, noc->words);
    }
    if (noc->config.kind == NOC_CROSSBAR) noc_crossbar_step(noc);
    else noc->ops->step(noc);
    if (__builtin_expect(noc->is_handed_off, false)) noc_tell_handoff(noc);
}

uint64_t noc_quiet_steps(const Noc *noc) {
    uint64_t moving = noc->ops->quiet_steps(noc);
    if (!moving || !noc->packets_inside) return moving;
    uint64_t arriving = sink_quiet_steps(&noc->sink, noc->now);
    return moving < arriving ? moving : arriving;
}

void noc_skip(Noc *noc, uint64_t steps) {
    assert(steps <= noc_quiet_steps(noc));
    noc->now += steps;
}

/* ---- Reports ---- */

bool noc_is_idle(const Noc *noc) { return noc->packets_inside == 0; }

int noc_empty_latency(const Noc *noc, int source, int destination, int packet_bytes) {
    return noc->ops->empty_latency(noc, source, destination, noc_packet_flits(noc, packet_bytes));
}

NocStats noc_stats(const Noc *noc) {
    NocStats stats = noc->stats;
    memcpy(stats.counts, noc->counts, sizeof stats.counts);
    stats.cycles = noc->now;
    noc->ops->add_link_stats(noc, &stats);
    return stats;
}

double noc_link_use(const NocStats *stats) {
    double slots = (double)stats->cycles * stats->links;
    return slots > 0 ? (double)stats->link_flits / slots : 0;
}

bool noc_is_consistent(const Noc *noc) {
    uint64_t sent = noc->counts[NETWORK_packets_sent];
    uint64_t received = noc->counts[NETWORK_packets_received];
    return noc->packets_inside == sent - received && received <= noc->stats.packets_arrived &&
           noc->stats.packets_arrived <= sent && noc->ops->is_consistent(noc);
}
