/* Checks every network after each step. After each of a bounded number of steps, no packet is lost,
 * duplicated or out of order, all buffers add up, and every waiting node is served before long. A
 * fault is detected in the step in which it happens, and a fault that stops packets within a few
 * steps: no test waits for a network to drain by itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/bits.h"
#include "noc/noc.h"
#include "traffic.h"

enum { STEPS = 300, PATIENCE = 400 /* steps without an arrival, or of draining, per node */ };

static const int node_counts[] = {1, 5, 27, 70}; /* node sets of one word and of two words */
enum { NODE_COUNTS = sizeof node_counts / sizeof *node_counts };

static NocConfig tight_config(NocKind kind, int nodes, int variant) {
    NocConfig config = noc_config_default(kind, nodes);
    config.flit_bytes = 8;
    config.injection_flits = 3 + variant;
    config.ejection_flits = 3 + variant;
    config.buffer_flits = 1 + variant;
    config.virtual_channels = 1 + variant;
    config.internal_steps = 1 + variant % 2;
    config.allocation_steps = variant % 2;
    return config;
}

/* What a step must not change in a network that reports that it is quiet. */
typedef struct Seen {
    uint64_t link_flits, arrived, ready;
} Seen;

static Seen look(const Noc *noc, int nodes) {
    const NocStats stats = noc_stats(noc);
    Seen seen = {.link_flits = stats.link_flits, .arrived = stats.packets_arrived};
    for (size_t w = 0; w < bits_words((size_t)nodes); w++)
        seen.ready += (uint64_t)bits_count64(noc_ready_mask(noc)[w]);
    return seen;
}

/* Makes one step and checks everything that must hold after it. */
static void step(Traffic *traffic) {
    Noc *noc = traffic->noc;
    const bool is_quiet = noc_quiet_steps(noc) != 0;
    const Seen before = look(noc, traffic->nodes);
    if (!noc_is_idle(noc) && !before.ready) /* packets are under way, and no node blocks them */
        assert_true(noc_quiet_steps(noc) != NOC_QUIET_FOREVER);
    noc_step(noc);
    const Seen after = look(noc, traffic->nodes);
    if (is_quiet) assert_memory_equal(&before, &after, sizeof before);
    const NocStats stats = noc_stats(noc);
    assert_int_equal(stats.counts[NETWORK_packets_sent], traffic->injected);
    assert_int_equal(stats.counts[NETWORK_packets_received], traffic->popped);
    assert_in_range(stats.packets_arrived, traffic->popped, traffic->injected);
    assert_int_equal(noc_is_idle(noc), traffic->injected == traffic->popped);
    assert_true(noc_is_consistent(noc));
    assert_false(traffic->is_wrong);
}

/* Takes the packets that have arrived. `waited`: steps since the last packet was taken. */
static void take(Traffic *traffic, int laziness, int *waited) {
    const uint64_t popped = traffic->popped;
    for (int node = 0; node < traffic->nodes; node++)
        if (traffic_draw(traffic, 100) >= laziness) traffic_take(traffic, node);
    *waited = popped == traffic->popped ? *waited + 1 : 0;
    assert_true(*waited < PATIENCE || traffic->injected == traffic->popped);
}

static void inject(Traffic *traffic, int load) {
    const int longest = noc_max_packet_bytes(traffic->noc);
    for (int node = 0; node < traffic->nodes; node++)
        if (traffic_draw(traffic, 100) < load)
            traffic_send(traffic, node, traffic_draw(traffic, traffic->nodes),
                         1 + traffic_draw(traffic, longest));
}

static void run(const NocConfig *config, int load, int laziness, uint64_t seed) {
    Noc *noc = noc_new(config, NULL);
    Traffic *traffic = traffic_new(noc, config->nodes, seed);
    int waited = 0;
    for (int i = 0; i < STEPS; i++) {
        inject(traffic, i % 100 < 70 ? load : 0);
        step(traffic);
        take(traffic, laziness, &waited);
    }
    assert_true(traffic->popped > 0);
    for (int left = PATIENCE * 10; !noc_is_idle(noc); left--) {
        assert_true(left > 0);
        step(traffic);
        take(traffic, 0, &waited);
    }
    for (int node = 0; node < config->nodes; node++)
        assert_int_equal(traffic->sent_by[node], traffic->taken_from[node]);
    traffic_free(traffic);
    noc_free(noc);
}

static void every_step_keeps_all_packets(void **state) {
    (void)state;
    for (int kind = 0; kind < NOC_KIND_COUNT; kind++)
        for (int n = 0; n < NODE_COUNTS; n++)
            for (int variant = 0; variant < 3; variant++) {
                const NocConfig config = tight_config((NocKind)kind, node_counts[n], variant);
                run(&config, variant ? 100 : 5, variant == 1 ? 60 : 0, (uint64_t)n + 1);
            }
}

/* All nodes send to one node. Over any period each sender gets as many packets through as any
 * other, within a packet or two. */
static void a_crossbars_output_serves_all_inputs_alike(void **state) {
    (void)state;
    for (int n = 1; n < NODE_COUNTS; n++) {
        const NocConfig config = tight_config(NOC_CROSSBAR, node_counts[n], 2);
        Noc *noc = noc_new(&config, NULL);
        Traffic *traffic = traffic_new(noc, config.nodes, 9);
        for (int i = 0; i < STEPS * 4; i++) {
            for (int node = 0; node < config.nodes; node++)
                traffic_send(traffic, node, 1, 2 * config.flit_bytes);
            step(traffic);
            traffic_take_all(traffic);
        }
        uint64_t least = UINT64_MAX, most = 0;
        for (int node = 0; node < config.nodes; node++) {
            const uint64_t taken = traffic->taken_from[node];
            if (taken < least) least = taken;
            if (taken > most) most = taken;
        }
        assert_in_range(most - least, 0, 2);
        assert_true(least > 0);
        traffic_free(traffic);
        noc_free(noc);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_step_keeps_all_packets),
        cmocka_unit_test(a_crossbars_output_serves_all_inputs_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
