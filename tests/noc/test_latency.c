/* A packet that is alone in the network arrives after the sum of the delays on its way, and not a
 * step earlier. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/bits.h"
#include "noc/noc.h"

enum { PATIENCE = 10000 /* steps: a faulty network must not hang the test */ };

/* Injects one packet into an empty network. Checks that it is ready after exactly `latency` steps,
 * both by peek and by the ready mask, at its destination only, and that no queueing time is
 * counted. */
static void expect_latency(Noc *noc, int source, int destination, int bytes, int latency) {
    uint32_t payload = 0;
    NocStats before = noc_stats(noc);
    noc_inject(noc, source, destination, bytes, 4711);
    for (int i = 1; i <= latency; i++) {
        assert_false(noc_peek(noc, destination, &payload));
        noc_step(noc);
    }
    assert_true(noc_peek(noc, destination, &payload));
    assert_int_equal(payload, 4711);
    const uint64_t *ready = noc_ready_mask(noc);
    int bits = 0;
    for (int w = 0; w < NOC_MAX_NODES / 64; w++)
        if (w <= destination / 64) bits += bits_count64(ready[w]);
    assert_int_equal(bits, 1);
    assert_true(bits_get(ready, (size_t)destination));
    noc_pop(noc, destination);
    assert_false(noc_peek(noc, destination, &payload));
    NocStats after = noc_stats(noc);
    assert_int_equal(after.counts[NETWORK_transit_cycles] - before.counts[NETWORK_transit_cycles],
                     latency);
    assert_int_equal(after.counts[NETWORK_queue_cycles], before.counts[NETWORK_queue_cycles]);
    assert_int_equal(after.ejection_cycles, before.ejection_cycles);
    for (int left = PATIENCE; noc_quiet_steps(noc) != NOC_QUIET_FOREVER; left--) {
        assert_true(left > 0);
        noc_step(noc); /* credits return */
    }
}

/* The stock GTX480 model: a request injected at the end of core cycle c is popped in cycle c+7,
 * before that cycle's network step; a reply injected before the network step of c is popped in c+6.
 * Both are six steps. */
static void gtx480_crossbar_takes_six_steps_and_one_per_further_flit(void **state) {
    (void)state;
    NocConfig config = noc_config_default(NOC_CROSSBAR, 27);
    Noc *noc = noc_new(&config, NULL);
    for (int source = 0; source < 27; source++)
        for (int flits = 1; flits <= 4; flits++)
            expect_latency(noc, source, (source * 7 + flits) % 27, flits * 40, 5 + flits);
    noc_free(noc);
}

static void crossbar_parameters_add_up(void **state) {
    (void)state;
    for (int internal = 1; internal <= 3; internal++) {
        for (int allocation = 0; allocation <= 1; allocation++) {
            for (int delay = 1; delay <= 5; delay++) {
                NocConfig config = noc_config_default(NOC_CROSSBAR, 100);
                config.internal_steps = internal;
                config.allocation_steps = allocation;
                config.output_delay = delay;
                Noc *noc = noc_new(&config, NULL);
                int in_switch = allocation == 1 && internal == 1 ? 2 : 1;
                for (int flits = 1; flits <= 9; flits++) {
                    int latency = 1 + in_switch + delay + flits - 1;
                    assert_int_equal(noc_empty_latency(noc, 3, 99, flits * 40), latency);
                    expect_latency(noc, 3, 99, flits * 40, latency);
                }
                noc_free(noc);
            }
        }
    }
}

static int distance(const NocConfig *config, int a, int b) {
    int from = config->placement[a], to = config->placement[b];
    return abs(from % config->columns - to % config->columns) +
           abs(from / config->columns - to / config->columns);
}

static void mesh_latency_is_the_sum_over_its_hops(void **state) {
    (void)state;
    static const int partitions[] = {3, 7, 10, 12, 23, 25, 28, 32};
    static const int delays[][2] = {{3, 1}, {0, 1}, {1, 2}, {4, 3}}; /* router, link */
    for (size_t i = 0; i < sizeof delays / sizeof delays[0]; i++) {
        NocConfig config = noc_config_default(NOC_MESH, 36);
        int router = config.router_delay = delays[i][0], link = config.link_delay = delays[i][1];
        noc_config_place(&config, partitions, 8);
        Noc *noc = noc_new(&config, NULL);
        for (int a = 0; a < 36; a++) {
            for (int b = 0; b < 36; b++) {
                int flits = 1 + (a + b) % 3;
                int latency =
                    1 + (distance(&config, a, b) + 1) * (router + link) + link + flits - 1;
                assert_int_equal(noc_empty_latency(noc, a, b, flits * 32), latency);
                expect_latency(noc, a, b, flits * 32, latency);
            }
        }
        noc_free(noc);
    }
}

/* With one flit of buffer per channel, each further flit waits for the credit of the previous flit:
 * a round trip over a link. */
static void a_packet_longer_than_the_buffers_waits_for_credits(void **state) {
    (void)state;
    NocConfig config = noc_config_default(NOC_MESH, 4);
    config.buffer_flits = 1;
    config.router_delay = 2, config.link_delay = 1, config.credit_delay = 2;
    Noc *noc = noc_new(&config, NULL);
    noc_inject(noc, 0, 3, 4 * 32, 1);
    uint32_t payload;
    int steps = 0;
    while (!noc_peek(noc, 3, &payload) && steps < PATIENCE)
        noc_step(noc), steps++;
    int round_trip = 2 + 1 + 2;
    assert_int_equal(steps, noc_empty_latency(noc, 0, 3, 32) + 3 * round_trip);
    assert_int_equal(noc_stats(noc).counts[NETWORK_queue_cycles], 3 * round_trip - 3);
    noc_free(noc);
}

/* Two packets injected in a row come out in two consecutive steps, the second not too early. */
static void a_packet_behind_another_arrives_a_step_later(void **state) {
    (void)state;
    static const NocKind kinds[] = {NOC_CROSSBAR, NOC_MESH};
    for (int i = 0; i < 2; i++) {
        NocConfig config = noc_config_default(kinds[i], 16);
        Noc *noc = noc_new(&config, NULL);
        noc_inject(noc, 2, 9, 32, 1);
        noc_inject(noc, 2, 9, 32, 2);
        uint32_t payload = 0;
        for (int left = PATIENCE; !noc_peek(noc, 9, &payload) && left; left--)
            noc_step(noc);
        assert_int_equal(payload, 1);
        noc_pop(noc, 9);
        assert_false(noc_peek(noc, 9, &payload));
        noc_step(noc);
        assert_true(noc_peek(noc, 9, &payload));
        assert_int_equal(payload, 2);
        noc_free(noc);
    }
}

/* Takes the packet that waits at each of two nodes and steps until the next packet waits at both.
 * Returns the number of steps between the two arrivals. */
static int gap_of_next_arrivals(Noc *noc, const int *nodes) {
    int arrived_at[2] = {0, 0};
    uint32_t payload;
    for (int i = 0; i < 2; i++)
        noc_pop(noc, nodes[i]);
    for (int step = 1; !arrived_at[0] || !arrived_at[1]; step++) {
        noc_step(noc);
        for (int i = 0; i < 2; i++)
            if (!arrived_at[i] && noc_peek(noc, nodes[i], &payload)) arrived_at[i] = step;
    }
    return abs(arrived_at[0] - arrived_at[1]);
}

/* In a 3 x 3 mesh with room for one flit everywhere, node 3 (west) sends alternately to node 1
 * (north) and node 7 (south), which pop only together. The first packets to arrive waited in the
 * routers of the two nodes. The next ones waited in the middle router, on two channels of one input
 * port: they get their credits in the same cycle, but the port passes one flit per cycle. */
static void an_input_port_passes_one_flit_per_cycle(void **state) {
    (void)state;
    NocConfig config = noc_config_default(NOC_MESH, 9);
    config.injection_flits = config.ejection_flits = config.buffer_flits = 1;
    Noc *noc = noc_new(&config, NULL);
    static const int targets[] = {1, 7};
    for (int sent = 0, round = 0; round < 3; round++) {
        for (int i = 0; i < 200; i++) { /* until nothing moves */
            if (noc_can_inject(noc, 3, 32)) noc_inject(noc, 3, targets[sent++ % 2], 32, 0);
            noc_step(noc);
        }
        assert_int_equal(gap_of_next_arrivals(noc, targets), 0);
        assert_int_equal(gap_of_next_arrivals(noc, targets), 1);
    }
    noc_free(noc);
}

static void ideal_latency_is_fixed_under_any_load(void **state) {
    (void)state;
    NocConfig config = noc_config_default(NOC_IDEAL, 80);
    config.ideal_latency = 9;
    Noc *noc = noc_new(&config, NULL);
    uint32_t payload;
    for (int round = 0; round < 50; round++) {
        for (int source = 0; source < 80; source++)
            for (int i = 0; i < 3; i++)
                noc_inject(noc, source, 70, 100, (uint32_t)(source * 3 + i));
        for (int i = 0; i < 9; i++) {
            assert_false(noc_peek(noc, 70, &payload));
            noc_step(noc);
        }
        for (uint32_t i = 0; i < 240; i++) {
            assert_true(noc_peek(noc, 70, &payload));
            assert_int_equal(payload, i);
            noc_pop(noc, 70);
        }
        assert_true(noc_is_idle(noc));
    }
    noc_free(noc);
}

static void a_switch_takes_a_step_and_its_delay_whatever_the_packet(void **state) {
    (void)state;
    for (int delay = 0; delay <= 3; delay++) {
        NocConfig config = noc_config_default(NOC_SWITCH, 144);
        config.switch_delay = delay;
        Noc *noc = noc_new(&config, NULL);
        for (int source = 0; source < 144; source += 11)
            for (int flits = 1; flits <= 4; flits++) {
                expect_latency(noc, source, (source * 7 + flits) % 144, flits * 40, 1 + delay);
                for (int i = 1; i < flits; i++)
                    noc_step(noc); /* the link is occupied for as many steps */
            }
        noc_free(noc);
    }
}

/* Makes one step and takes the packets that are then ready. Returns the nodes below 64 that had
 * one, one bit per node. */
static uint64_t arrivals_of_step(Noc *noc) {
    noc_step(noc);
    uint64_t arrived = noc_ready_mask(noc)[0];
    for (uint64_t left = arrived; left; left &= left - 1)
        noc_pop(noc, bits_lowest64(left));
    return arrived;
}

static void a_switch_empties_a_queue_towards_rising_outputs_in_one_step(void **state) {
    (void)state;
    NocConfig config = noc_config_default(NOC_SWITCH, 60);
    Noc *noc = noc_new(&config, NULL);
    static const int outputs[] = {5, 40, 59, 8, 20};
    for (int i = 0; i < 5; i++)
        noc_inject(noc, 0, outputs[i], 8, 0);
    assert_true(arrivals_of_step(noc) ==
                (UINT64_C(1) << 5 | UINT64_C(1) << 40 | UINT64_C(1) << 59));
    assert_true(arrivals_of_step(noc) == (UINT64_C(1) << 8 | UINT64_C(1) << 20));
    /* an output takes one packet per step, and the inputs take turns */
    uint32_t payload;
    for (int source = 10; source < 13; source++)
        for (uint32_t i = 0; i < 2; i++)
            noc_inject(noc, source, 3, 8, (uint32_t)source);
    for (uint32_t i = 0; i < 6; i++) {
        noc_step(noc);
        assert_true(noc_peek(noc, 3, &payload));
        assert_int_equal(payload, 10 + i % 3);
        noc_pop(noc, 3);
    }
    assert_true(noc_is_idle(noc));
    noc_free(noc);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gtx480_crossbar_takes_six_steps_and_one_per_further_flit),
        cmocka_unit_test(crossbar_parameters_add_up),
        cmocka_unit_test(mesh_latency_is_the_sum_over_its_hops),
        cmocka_unit_test(a_packet_longer_than_the_buffers_waits_for_credits),
        cmocka_unit_test(a_packet_behind_another_arrives_a_step_later),
        cmocka_unit_test(an_input_port_passes_one_flit_per_cycle),
        cmocka_unit_test(ideal_latency_is_fixed_under_any_load),
        cmocka_unit_test(a_switch_takes_a_step_and_its_delay_whatever_the_packet),
        cmocka_unit_test(a_switch_empties_a_queue_towards_rising_outputs_in_one_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
