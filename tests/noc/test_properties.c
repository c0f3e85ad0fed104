/* For any parameters: packets are neither lost nor duplicated, arrive in order, never fill a buffer
 * beyond its depth and never stop forever, and skipping quiet steps changes nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "noc/noc.h"
#include "traffic.h"

enum { TRIALS = 150, STEPS = 400 };

/* A random network, usually of the tightest kind: buffers of one flit, one channel, long delays. */
static NocConfig draw_config(Traffic *dice, int trial) {
    static const int node_counts[] = {1, 2, 5, 16, 27, 36, 70, 130};
    NocConfig config = noc_config_default((NocKind)(trial % NOC_KIND_COUNT),
                                          node_counts[traffic_draw(dice, trial % 5 ? 6 : 8)]);
    config.flit_bytes = 1 + traffic_draw(dice, 40);
    config.injection_flits = 1 + traffic_draw(dice, 6);
    config.ejection_flits = config.injection_flits + traffic_draw(dice, 3);
    config.virtual_channels = 1 + traffic_draw(dice, 4) * traffic_draw(dice, 2);
    config.buffer_flits = 1 + traffic_draw(dice, 5) * traffic_draw(dice, 2);
    config.router_delay = traffic_draw(dice, 4);
    config.link_delay = 1 + traffic_draw(dice, 3);
    config.credit_delay = 1 + traffic_draw(dice, 3);
    config.internal_steps = 1 + traffic_draw(dice, 3);
    config.allocation_steps = traffic_draw(dice, 2);
    config.output_delay = 1 + traffic_draw(dice, 6);
    config.ideal_latency = 1 + traffic_draw(dice, 20);
    config.switch_delay = traffic_draw(dice, 4);
    if (config.kind == NOC_MESH && traffic_draw(dice, 2)) { /* more routers than nodes, reversed */
        config.columns++;
        for (int i = 0; i < config.nodes; i++)
            config.placement[i] = config.columns * config.rows - 1 - i;
    }
    return config;
}

/* One step of traffic: some nodes inject, most pop. Equal generators draw equal traffic. */
static void inject_and_take(Traffic *traffic, int load, int laziness) {
    int longest = noc_max_packet_bytes(traffic->noc);
    for (int node = 0; node < traffic->nodes; node++) {
        int destination = traffic_draw(traffic, traffic->nodes);
        int bytes = 1 + traffic_draw(traffic, longest);
        if (traffic_draw(traffic, 100) < load) traffic_send(traffic, node, destination, bytes);
        if (traffic_draw(traffic, 100) >= laziness) traffic_take(traffic, node);
    }
}

static void check_end(Traffic *traffic) {
    NocStats stats = noc_stats(traffic->noc);
    assert_true(noc_is_idle(traffic->noc));
    for (int i = 0; i < 8; i++)
        noc_step(traffic->noc); /* credits return */
    assert_true(noc_quiet_steps(traffic->noc) == NOC_QUIET_FOREVER);
    assert_true(noc_is_consistent(traffic->noc));
    assert_false(traffic->is_wrong);
    assert_int_equal(stats.counts[NETWORK_packets_sent], traffic->injected);
    assert_int_equal(stats.packets_arrived, traffic->injected);
    assert_int_equal(stats.counts[NETWORK_packets_received], traffic->injected);
    assert_int_equal(stats.flits_arrived, stats.counts[NETWORK_flits]);
    assert_int_equal(traffic->popped, traffic->injected);
    for (int node = 0; node < traffic->nodes; node++)
        assert_int_equal(traffic->sent_by[node], traffic->taken_from[node]);
}

static void run_trial(const NocConfig *config, int trial) {
    Noc *noc = noc_new(config, NULL), *twin_noc = noc_new(config, NULL);
    Traffic *traffic = traffic_new(noc, config->nodes, (uint64_t)trial);
    Traffic *twin = traffic_new(twin_noc, config->nodes, (uint64_t)trial);
    int load = trial % 4 == 0 ? 3 : trial % 4 == 1 ? 100 : 30, laziness = trial / 3 % 3 * 40;
    for (int i = 0; i < STEPS; i++) {
        inject_and_take(traffic, load, laziness);
        inject_and_take(twin, load, laziness);
        noc_step(noc);
        if (noc_quiet_steps(twin_noc) > 0) noc_skip(twin_noc, 1);
        else noc_step(twin_noc);
        if (i % 16 == 0) assert_true(noc_is_consistent(noc));
    }
    assert_true(traffic->injected > 0);
    int patience = 64 * STEPS * (1 + config->credit_delay + config->link_delay);
    assert_true(traffic_drain(traffic, patience));
    while (!noc_is_idle(twin_noc)) { /* takes at most as long as draining the first network */
        uint64_t quiet = noc_quiet_steps(twin_noc);
        if (!traffic_can_take(twin)) noc_skip(twin_noc, quiet);
        noc_step(twin_noc);
        traffic_take_all(twin);
        assert_true(noc_stats(twin_noc).cycles <= noc_stats(noc).cycles);
    }
    assert_int_equal(twin->arrivals_sum, traffic->arrivals_sum);
    check_end(traffic);
    check_end(twin);
    traffic_free(traffic);
    traffic_free(twin);
    noc_free(noc);
    noc_free(twin_noc);
}

static void hostile_networks_keep_their_promises(void **state) {
    (void)state;
    Traffic *dice = traffic_new(NULL, 1, 77);
    for (int trial = 0; trial < TRIALS; trial++) {
        NocConfig config = draw_config(dice, trial);
        char why[160] = "";
        if (!noc_config_check(&config, why, sizeof why)) fail_msg("trial %d: %s", trial, why);
        run_trial(&config, trial);
    }
    traffic_free(dice);
}

/* One-flit buffers and packets of many flits between all nodes: wormholes across the whole mesh. */
static void one_flit_buffers_do_not_deadlock(void **state) {
    (void)state;
    for (int kind = 0; kind < NOC_KIND_COUNT; kind++) {
        NocConfig config = noc_config_default((NocKind)kind, 36);
        config.virtual_channels = 1;
        config.buffer_flits = 1;
        config.ejection_flits = config.injection_flits;
        Noc *noc = noc_new(&config, NULL);
        Traffic *traffic = traffic_new(noc, config.nodes, 5);
        uint64_t popped = 0;
        for (int i = 0; i < 4000; i++) {
            inject_and_take(traffic, 100, 0);
            noc_step(noc);
            if (i % 200 == 199) { /* it keeps moving */
                assert_true(traffic->popped > popped);
                popped = traffic->popped;
            }
        }
        assert_true(traffic_drain(traffic, 100000));
        check_end(traffic);
        traffic_free(traffic);
        noc_free(noc);
    }
}

/* Nodes that never pop fill the network completely, and nothing is lost when they start to pop. */
static void a_blocked_network_stands_still_and_recovers(void **state) {
    (void)state;
    for (int kind = 0; kind < NOC_KIND_COUNT; kind++) {
        NocConfig config = noc_config_default((NocKind)kind, 20);
        if (kind == NOC_SWITCH) config.injection_flits = config.ejection_flits = 64; /* full soon */
        Noc *noc = noc_new(&config, NULL);
        Traffic *traffic = traffic_new(noc, config.nodes, 9);
        for (int i = 0; i < 3000; i++) {
            inject_and_take(traffic, 100, 100);
            noc_step(noc);
        }
        uint64_t injected = traffic->injected;
        for (int i = 0; i < 500; i++) {
            inject_and_take(traffic, 100, 100);
            noc_step(noc);
        }
        assert_int_equal(traffic->injected, injected);
        assert_true(noc_is_consistent(noc));
        assert_true(traffic_drain(traffic, 100000));
        check_end(traffic);
        traffic_free(traffic);
        noc_free(noc);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_networks_keep_their_promises),
        cmocka_unit_test(one_flit_buffers_do_not_deadlock),
        cmocka_unit_test(a_blocked_network_stands_still_and_recovers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
