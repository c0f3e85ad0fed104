/* The contract of noc.h: checks of configurations, room for injection, order of popping, quiet
 * steps, counters, repeatable runs. */
#include "noc/noc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/bits.h"
#include "traffic.h"

static bool is_good(const NocConfig *config) {
    char why[160] = "";
    bool is_fine = noc_config_check(config, why, sizeof why);
    assert_int_equal(is_fine, why[0] == '\0');
    return is_fine;
}

static void defaults_are_good_at_every_size(void **state) {
    (void)state;
    for (int kind = 0; kind < NOC_KIND_COUNT; kind++) {
        for (int nodes = 1; nodes <= NOC_MAX_NODES; nodes++) {
            NocConfig config = noc_config_default((NocKind)kind, nodes);
            assert_true(is_good(&config));
        }
        NocConfig none = noc_config_default((NocKind)kind, 0);
        NocConfig many = noc_config_default((NocKind)kind, NOC_MAX_NODES + 1);
        assert_false(is_good(&none));
        assert_false(is_good(&many));
    }
}

static void bad_parameters_are_named(void **state) {
    (void)state;
    char why[160];
    NocConfig config = noc_config_default(NOC_MESH, 36);
    config.link_delay = 0;
    assert_false(noc_config_check(&config, why, sizeof why));
    assert_non_null(strstr(why, "link_delay is 0"));
    config.kind = NOC_CROSSBAR; /* ignores link_delay, but lacks its own parameters */
    assert_false(noc_config_check(&config, why, sizeof why));
    assert_non_null(strstr(why, "internal_steps"));
    config = noc_config_default(NOC_CROSSBAR, 27);
    config.ejection_flits = config.injection_flits - 1;
    assert_false(noc_config_check(&config, why, sizeof why));
    assert_non_null(strstr(why, "longest packet"));
    config.kind = (NocKind)9;
    assert_false(is_good(&config));
}

static void placements_are_judged(void **state) {
    (void)state;
    static const int good[] = {3, 7}, twice[] = {3, 3}, outside[] = {3, 9}, negative[] = {-1, 3};
    static const struct {
        const int *positions;
        bool is_good;
    } cases[] = {{good, true}, {twice, false}, {outside, false}, {negative, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        NocConfig config = noc_config_default(NOC_MESH, 9);
        noc_config_place(&config, cases[i].positions, 2);
        assert_int_equal(is_good(&config), cases[i].is_good);
    }
    NocConfig config = noc_config_default(NOC_MESH, 9);
    noc_config_place(&config, good, 2);
    static const int expected[] = {0, 1, 2, 4, 5, 6, 8, 3, 7};
    for (int node = 0; node < 9; node++)
        assert_int_equal(config.placement[node], expected[node]);
    config.rows = 2;
    assert_false(is_good(&config));
}

static void a_node_injects_while_its_queue_has_room(void **state) {
    (void)state;
    NocConfig config = noc_config_default(NOC_CROSSBAR, 27);
    Noc *noc = noc_new(&config, NULL);
    assert_int_equal(noc_max_packet_bytes(noc), 360);
    assert_int_equal(noc_packet_flits(noc, 40), 1);
    assert_int_equal(noc_packet_flits(noc, 41), 2);
    assert_int_equal(noc_packet_flits(noc, 136), 4);
    assert_true(noc_can_inject(noc, 2, 360));
    assert_false(noc_can_inject(noc, 2, 361));
    noc_inject(noc, 2, 20, 136, 0);
    noc_inject(noc, 2, 20, 136, 1);
    assert_true(noc_can_inject(noc, 2, 40));
    assert_false(noc_can_inject(noc, 2, 41));
    assert_true(noc_can_inject(noc, 3, 360));
    noc_step(noc); /* a flit goes into the input buffer */
    assert_true(noc_can_inject(noc, 2, 80));
    assert_false(noc_can_inject(noc, 2, 81));
    noc_free(noc);
}

/* Without pops, an output takes only as many packets as its ejection buffer holds, and its inputs
 * fill up. */
static void a_node_that_pops_nothing_stops_its_senders(void **state) {
    (void)state;
    NocConfig config = noc_config_default(NOC_CROSSBAR, 27);
    Noc *noc = noc_new(&config, NULL);
    int injected = 0;
    for (int i = 0; i < 1000; i++) {
        for (; noc_can_inject(noc, 0, 8); injected++)
            noc_inject(noc, 0, 1, 8, (uint32_t)injected);
        noc_step(noc);
    }
    assert_int_equal(noc_stats(noc).packets_arrived, 80);
    assert_int_equal(injected, 80 + 64 + 9);
    for (int i = 0; i < injected; i++) {
        uint32_t payload = 0;
        for (int left = 1000; !noc_peek(noc, 1, &payload); noc_step(noc))
            assert_true(i >= 80 && left-- > 0);
        assert_int_equal(payload, i);
        noc_pop(noc, 1);
    }
    assert_true(noc_is_idle(noc));
    noc_free(noc);
}

static void quiet_steps_lead_to_the_next_arrival(void **state) {
    (void)state;
    for (int kind = 0; kind < NOC_KIND_COUNT; kind++) {
        NocConfig config = noc_config_default((NocKind)kind, 30);
        config.router_delay = 7;
        config.switch_delay = 5;
        Noc *noc = noc_new(&config, NULL);
        assert_true(noc_quiet_steps(noc) == NOC_QUIET_FOREVER);
        noc_skip(noc, 1000000);
        noc_inject(noc, 1, 22, 8, 5);
        uint32_t payload;
        int steps = 0;
        while (!noc_peek(noc, 22, &payload) && steps < 1000) {
            uint64_t quiet = noc_quiet_steps(noc);
            assert_true(quiet < 20);
            noc_skip(noc, quiet);
            noc_step(noc);
            steps++;
        }
        int latency = noc_empty_latency(noc, 1, 22, 8);
        assert_int_equal(noc_stats(noc).cycles, 1000000 + latency);
        assert_true(steps < latency); /* some steps were skipped */
        noc_pop(noc, 22);
        noc_free(noc);
    }
}

static void latency_splits_into_transit_queueing_and_waiting(void **state) {
    (void)state;
    NocConfig config = noc_config_default(NOC_CROSSBAR, 4);
    Noc *noc = noc_new(&config, NULL);
    for (int source = 0; source < 3; source++)
        noc_inject(noc, source, 3, 40, 0);
    for (int i = 0; i < 10; i++)
        noc_step(noc);
    for (int i = 0; i < 3; i++)
        noc_pop(noc, 3);
    NocStats stats = noc_stats(noc);
    assert_int_equal(stats.cycles, 10);
    assert_int_equal(stats.counts[NETWORK_transit_cycles], 3 * 6);
    assert_int_equal(stats.counts[NETWORK_queue_cycles], 0 + 1 + 2); /* one packet per cycle */
    assert_int_equal(stats.ejection_cycles, 4 + 3 + 2);
    assert_int_equal(stats.bytes_injected, 120);
    assert_int_equal(stats.link_flits, 3);
    assert_int_equal(stats.busiest_link_flits, 3);
    assert_int_equal(stats.links, 4);
    assert_true(noc_link_use(&stats) == 3.0 / 40);
    noc_free(noc);
}

/* Two networks share one Counters: each adds to its own rows. */
static void a_network_counts_in_its_owners_counters(void **state) {
    (void)state;
    NocConfig config = noc_config_default(NOC_CROSSBAR, 4);
    Counters counters = {0};
    Noc *requests = noc_new(&config, counters_network(&counters, COUNTER_request_packets_sent));
    Noc *replies = noc_new(&config, counters_network(&counters, COUNTER_reply_packets_sent));
    for (int source = 0; source < 3; source++)
        noc_inject(requests, source, 3, 80, 0);
    noc_inject(replies, 3, 0, 40, 0);
    for (int i = 0; i < 20; i++)
        noc_step(requests), noc_step(replies);
    noc_pop(requests, 3);
    Counters expected = {.request_packets_sent = 3,
                         .request_packets_received = 1,
                         .request_flits = 6,
                         .request_transit_cycles = 3 * 7,
                         .request_queue_cycles = 0 + 2 + 4, /* one output: one flit per cycle */
                         .reply_packets_sent = 1,
                         .reply_flits = 1,
                         .reply_transit_cycles = 6};
    for (CounterId id = 0; id < COUNTER_COUNT; id++) {
        if (counters_get(&counters, id) != counters_get(&expected, id))
            fail_msg("%s is %llu, not %llu", counter_rows[id].name,
                     (unsigned long long)counters_get(&counters, id),
                     (unsigned long long)counters_get(&expected, id));
    }
    NocStats stats = noc_stats(requests);
    assert_int_equal(stats.counts[NETWORK_packets_sent], 3);
    assert_int_equal(stats.counts[NETWORK_queue_cycles], 6);
    noc_free(requests), noc_free(replies);
}

static void mesh_counts_flits_by_link(void **state) {
    (void)state;
    NocConfig config = noc_config_default(NOC_MESH, 36);
    Noc *noc = noc_new(&config, NULL);
    noc_inject(noc, 0, 35, 96, 0); /* 3 flits, 10 links */
    noc_inject(noc, 1, 0, 32, 0);  /* 1 flit, 1 link */
    noc_inject(noc, 7, 7, 32, 0);  /* no link between routers */
    for (int i = 0; i < 100; i++)
        noc_step(noc);
    NocStats stats = noc_stats(noc);
    assert_int_equal(stats.links, 2 * (6 * 5 + 5 * 6));
    assert_int_equal(stats.link_flits, 31);
    assert_int_equal(stats.busiest_link_flits, 3);
    assert_int_equal(stats.flits_arrived, 5);
    noc_free(noc);
}

static uint64_t run_once(NocKind kind, NocStats *stats) {
    NocConfig config = noc_config_default(kind, 36);
    Noc *noc = noc_new(&config, NULL);
    Traffic *traffic = traffic_new(noc, 36, 3);
    for (int i = 0; i < 2000; i++) {
        for (int node = 0; node < 36; node++)
            traffic_send(traffic, node, traffic_draw(traffic, 36), 1 + traffic_draw(traffic, 100));
        noc_step(noc);
        traffic_take_all(traffic);
    }
    *stats = noc_stats(noc);
    uint64_t arrivals = traffic->arrivals_sum;
    traffic_free(traffic);
    noc_free(noc);
    return arrivals;
}

static void equal_runs_give_equal_arrivals(void **state) {
    (void)state;
    for (int kind = 0; kind < NOC_KIND_COUNT; kind++) {
        NocStats first = {0}, second = {0};
        assert_int_equal(run_once((NocKind)kind, &first), run_once((NocKind)kind, &second));
        assert_memory_equal(&first, &second, sizeof first);
    }
}

/* Pops up to two packets at every node, in `held` starting with the last node. Both networks must
 * return the same packets. */
static void pop_both(Noc *direct, Noc *held, int nodes) {
    uint32_t popped[2 * NOC_MAX_NODES];
    for (int i = 0; i < 2 * nodes; i++) {
        bool is_there = noc_peek(direct, i / 2, &popped[i]);
        if (is_there) noc_pop(direct, i / 2);
        else popped[i] = UINT32_MAX;
    }
    noc_hold(held);
    for (int node = nodes - 1; node >= 0; node--)
        for (int i = 2 * node; i < 2 * node + 2; i++) {
            uint32_t payload = UINT32_MAX;
            bool is_there = noc_peek(held, node, &payload);
            assert_int_equal(payload, popped[i]);
            if (is_there) noc_pop(held, node);
        }
    noc_release(held);
    assert_memory_equal(noc_ready_mask(direct), noc_ready_mask(held),
                        bits_words((size_t)nodes) * sizeof(uint64_t));
}

/* Compares two equal networks. One of them holds the injections and pops of its nodes, which happen
 * starting with the last node. */
static void what_is_held_is_done_in_the_order_of_the_nodes(void **state) {
    (void)state;
    enum { NODES = 27, ROUNDS = 400 };
    for (int kind = 0; kind < NOC_KIND_COUNT; kind++) {
        NocConfig config = noc_config_default((NocKind)kind, NODES);
        Noc *direct = noc_new(&config, NULL), *held = noc_new(&config, NULL);
        for (uint32_t round = 0; round < ROUNDS && noc_can_hold(held); round++) {
            for (int i = 0; i < 2 * NODES; i++) { /* two passes: a node injects several packets */
                int node = i / 2, other = (node * 7 + (int)round + i % 2) % NODES;
                int bytes = 8 + 8 * (int)((round + (uint32_t)i) % 16);
                if (noc_can_inject(direct, node, bytes))
                    noc_inject(direct, node, other, bytes, (uint32_t)i);
            }
            noc_hold(held);
            for (int node = NODES - 1; node >= 0; node--)
                for (int i = 2 * node; i < 2 * node + 2; i++) {
                    int other = (node * 7 + (int)round + i % 2) % NODES;
                    int bytes = 8 + 8 * (int)((round + (uint32_t)i) % 16);
                    if (noc_can_inject(held, node, bytes))
                        noc_inject(held, node, other, bytes, (uint32_t)i);
                }
            noc_release(held);
            noc_step(direct), noc_step(held);
            if (round % 3 == 0) pop_both(direct, held, NODES);
            assert_true(noc_is_consistent(held));
        }
        NocStats a = noc_stats(direct), b = noc_stats(held);
        assert_memory_equal(&a, &b, sizeof a);
        assert_int_equal(noc_can_hold(held), kind != NOC_IDEAL);
        assert_true(kind == NOC_IDEAL || a.packets_arrived > 1000);
        noc_free(direct), noc_free(held);
    }
}

/* A network that is handed off, and the result of the same packets in a network that is not. */
typedef struct Lending {
    Noc *noc;
    const uint32_t *popped;   /* by round and node: payload + 1; 0: none */
    uint32_t owner, consumer; /* rounds that each has finished */
    uint32_t begun;           /* round in which the network was handed off */
} Lending;

enum { HANDED_OFF_NODES = 70, HANDED_OFF_ROUNDS = 960 };

/* Sparse, so that a late packet is noticed. Now and then there are more packets for three nodes
 * than they have room for. */
static void inject_round(Noc *noc, uint32_t round) {
    for (int node = 0; node < HANDED_OFF_NODES; node++) {
        const bool jams = node % 6 == 0 && round % 200 < 20;
        if (!jams && (node + (int)round) % 4) continue;
        const int other = jams ? node % 4 : 4 + (node * 7 + (int)round) % (HANDED_OFF_NODES - 4);
        const uint32_t payload = round * 100 + (uint32_t)node;
        const int bytes = jams ? 200 : 40;
        if (noc_can_inject(noc, node, bytes)) noc_inject(noc, node, other, bytes, payload);
    }
}

static bool pops(uint32_t round, int node) { return ((uint32_t)node + round) % 3 != 0; }

static void pop_round(Noc *noc, uint32_t round, uint32_t *popped) {
    for (int node = 0; node < HANDED_OFF_NODES; node++) {
        uint32_t payload;
        if (pops(round, node) && noc_take(noc, node, &payload)) popped[node] = payload + 1;
    }
}

/* What the owner does in a round. Returns false if it has to wait for the consumer. */
static bool owner_goes_on(Lending *handing_off) {
    Noc *noc = handing_off->noc;
    const uint32_t round = handing_off->owner, turn = round - handing_off->begun + 1;
    const bool must_collect = noc_lacks_room(noc) || turn % 8 == 0;
    if (round > handing_off->consumer + 6 || (must_collect && handing_off->consumer <= round))
        return false;
    const bool is_held = round % 2;
    if (is_held) noc_hold(noc);
    inject_round(noc, round);
    if (is_held) noc_release(noc);
    if (must_collect) noc_collect(noc, turn);
    noc_step(noc);
    handing_off->owner++;
    return true;
}

static void count_seen(const void *user, uint32_t payload) {
    (void)payload;
    ++**(uint32_t *const *)user;
}

/* What the consumer does in a round. */
static bool consumer_goes_on(Lending *handing_off, uint32_t *seen) {
    const uint32_t round = handing_off->consumer;
    uint32_t popped[HANDED_OFF_NODES] = {0};
    if (round > handing_off->owner + (uint32_t)noc_lead(handing_off->noc)) return false;
    noc_arrive(handing_off->noc, round, count_seen, &seen);
    pop_round(handing_off->noc, round, popped);
    assert_memory_equal(popped, &handing_off->popped[(size_t)round * HANDED_OFF_NODES],
                        sizeof popped);
    handing_off->consumer++;
    return true;
}

/* In one network the injecting side and the taking side are at different cycles, in another both
 * are at the same cycle. Both networks deliver the same packets in the same cycles, and all their
 * counters agree. */
static void owner_and_consumer_of_a_shared_network_need_not_be_equally_far(void **state) {
    (void)state;
    static uint32_t popped[HANDED_OFF_ROUNDS * HANDED_OFF_NODES];
    for (int kind = 0; kind < NOC_KIND_COUNT; kind++) {
        NocConfig config = noc_config_default((NocKind)kind, HANDED_OFF_NODES);
        if (kind == NOC_IDEAL) continue; /* cannot be handed off */
        config.ejection_flits = 47;
        config.injection_flits = kind == NOC_SWITCH ? 47 : config.injection_flits;
        Noc *direct = noc_new(&config, NULL);
        Lending handing_off = {.noc = noc_new(&config, NULL), .popped = popped};
        memset(popped, 0, sizeof popped);
        for (uint32_t round = 0; round < HANDED_OFF_ROUNDS; round++) {
            inject_round(direct, round);
            pop_round(direct, round, &popped[(size_t)round * HANDED_OFF_NODES]);
            noc_step(direct);
        }
        uint32_t random = 1, seen = 0, ahead = 0, behind = 0;
        while (handing_off.owner < HANDED_OFF_ROUNDS) {
            const uint32_t end = handing_off.owner + 60; /* taken back now and then */
            noc_hand_off(handing_off.noc);
            handing_off.begun = handing_off.owner;
            for (int left = 60 * HANDED_OFF_ROUNDS;
                 handing_off.owner < end || handing_off.consumer < end; left--) {
                assert_true(left > 0);
                random = random * 1664525 + 1013904223;
                const bool is_owner =
                    handing_off.consumer == end || random >> 28 < 8 + (handing_off.begun / 60) % 3;
                if (is_owner && handing_off.owner < end) owner_goes_on(&handing_off);
                else if (handing_off.consumer < end) consumer_goes_on(&handing_off, &seen);
                ahead += handing_off.consumer > handing_off.owner + 1;
                behind += handing_off.owner > handing_off.consumer;
            }
            noc_take_back(handing_off.noc);
            assert_true(noc_is_consistent(handing_off.noc));
        }
        NocStats a = noc_stats(direct), b = noc_stats(handing_off.noc);
        assert_memory_equal(&a, &b, sizeof a);
        assert_memory_equal(noc_ready_mask(direct), noc_ready_mask(handing_off.noc),
                            bits_words(HANDED_OFF_NODES) * sizeof(uint64_t));
        assert_true(a.packets_arrived > 1000 && seen > 1000);
        assert_true(ahead > 20 || noc_lead(handing_off.noc) < 2);
        assert_true(behind > 20 || kind != NOC_CROSSBAR);
        noc_free(direct), noc_free(handing_off.noc);
    }
}

/* Reversing the mesh together with all nodes reverses the order in which routers are visited and
 * swaps west with east and north with south. A packet's latency must not change when its node
 * numbers are reversed too. */
static void the_order_of_visits_does_not_matter(void **state) {
    (void)state;
    NocConfig config = noc_config_default(NOC_MESH, 36), mirrored = config;
    for (int i = 0; i < 36; i++)
        mirrored.placement[i] = 35 - i;
    Noc *noc = noc_new(&config, NULL), *mirror = noc_new(&mirrored, NULL);
    Traffic *a = traffic_new(noc, 36, 1), *b = traffic_new(mirror, 36, 1);
    for (int i = 0; i < 500; i++) {
        /* disjoint rows in both directions: flows that share no arbiter, but fill the links */
        for (int row = 0; row < 6; row++) {
            traffic_send(a, row * 6, row * 6 + 5, 96), traffic_send(a, row * 6 + 5, row * 6, 64);
            traffic_send(b, row * 6, row * 6 + 5, 96), traffic_send(b, row * 6 + 5, row * 6, 64);
        }
        noc_step(noc), noc_step(mirror);
        traffic_take_all(a), traffic_take_all(b);
    }
    assert_true(a->popped > 1000);
    assert_int_equal(a->arrivals_sum, b->arrivals_sum);
    traffic_free(a), traffic_free(b);
    noc_free(noc), noc_free(mirror);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_good_at_every_size),
        cmocka_unit_test(bad_parameters_are_named),
        cmocka_unit_test(placements_are_judged),
        cmocka_unit_test(a_node_injects_while_its_queue_has_room),
        cmocka_unit_test(a_node_that_pops_nothing_stops_its_senders),
        cmocka_unit_test(quiet_steps_lead_to_the_next_arrival),
        cmocka_unit_test(latency_splits_into_transit_queueing_and_waiting),
        cmocka_unit_test(a_network_counts_in_its_owners_counters),
        cmocka_unit_test(mesh_counts_flits_by_link),
        cmocka_unit_test(equal_runs_give_equal_arrivals),
        cmocka_unit_test(what_is_held_is_done_in_the_order_of_the_nodes),
        cmocka_unit_test(owner_and_consumer_of_a_shared_network_need_not_be_equally_far),
        cmocka_unit_test(the_order_of_visits_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
