/* Throughput under uniform random traffic is close to the theoretical limit, and is shared
 * fairly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "noc/noc.h"
#include "traffic.h"

enum { WARM_UP = 2000, STEPS = 10000 };

/* Which nodes send, and to which nodes. */
typedef struct Pattern {
    int first_source, sources;
    int first_target, targets;
    int bytes;
} Pattern;

/* Every source offers a packet to a random target in every step, and every node pops one packet per
 * step. */
static void offer(Traffic *traffic, const Pattern *pattern, int steps) {
    for (int i = 0; i < steps; i++) {
        for (int s = 0; s < pattern->sources; s++) {
            int target = pattern->first_target + traffic_draw(traffic, pattern->targets);
            traffic_send(traffic, pattern->first_source + s, target, pattern->bytes);
        }
        noc_step(traffic->noc);
        traffic_take_all(traffic);
    }
}

/* Flits that arrive per step at saturation. */
static double saturation(const NocConfig *config, const Pattern *pattern) {
    Noc *noc = noc_new(config, NULL);
    Traffic *traffic = traffic_new(noc, config->nodes, 1);
    offer(traffic, pattern, WARM_UP);
    uint64_t before = noc_stats(noc).flits_arrived;
    offer(traffic, pattern, STEPS);
    double rate = (double)(noc_stats(noc).flits_arrived - before) / STEPS;
    assert_false(traffic->is_wrong);
    traffic_free(traffic);
    noc_free(noc);
    return rate;
}

static void expect_within(const char *what, double value, double low, double high) {
    print_message("%s: %.3f, expected %.3f .. %.3f\n", what, value, low, high);
    assert_true(value >= low && value <= high);
}

/* Head-of-line blocking limits a crossbar with FIFO inputs to 2 - sqrt(2) = 0.586 per port (M.
 * Karol, M. Hluchyj, S. Morgan 1987). A switch of 64 ports is close to the limit. */
static void plain_crossbar_reaches_the_head_of_line_limit(void **state) {
    (void)state;
    NocConfig config = noc_config_default(NOC_CROSSBAR, 64);
    config.internal_steps = 1;
    config.allocation_steps = 0;
    Pattern all_to_all = {0, 64, 0, 64, 40};
    expect_within("64 ports, per port", saturation(&config, &all_to_all) / 64, 0.57, 0.60);
}

/* The same theory for 15 inputs and 12 outputs, or 12 and 15: 7.79 packets per cycle for large
 * switches with this ratio of ports, 0.649 of the 12 ports; the peer's model reached 7.7. */
static void gtx480_crossbar_saturates_where_the_peer_does(void **state) {
    (void)state;
    NocConfig config = noc_config_default(NOC_CROSSBAR, 27);
    Pattern requests = {0, 15, 15, 12, 8}, replies = {15, 12, 0, 15, 40};
    expect_within("requests per cycle", saturation(&config, &requests), 7.5, 8.1);
    expect_within("replies per cycle", saturation(&config, &replies), 7.5, 8.1);
}

/* Packets of several flits hold their output while they are transferred at twice the link's rate,
 * so the link is the limit, not head-of-line blocking. */
static void long_packets_profit_from_the_internal_speed_up(void **state) {
    (void)state;
    NocConfig config = noc_config_default(NOC_CROSSBAR, 27);
    Pattern stores = {0, 15, 15, 12, 136};
    double fast = saturation(&config, &stores);
    config.internal_steps = 1;
    double slow = saturation(&config, &stores);
    expect_within("flits per cycle with speed-up", fast, 10.5, 12);
    expect_within("flits per cycle without", slow, 6, 8);
}

static void one_pair_gets_a_whole_link(void **state) {
    (void)state;
    Pattern pair = {0, 1, 20, 1, 40};
    NocConfig crossbar = noc_config_default(NOC_CROSSBAR, 27);
    expect_within("crossbar", saturation(&crossbar, &pair), 0.999, 1);
    NocConfig mesh = noc_config_default(NOC_MESH, 36);
    pair.bytes = 32;
    expect_within("mesh", saturation(&mesh, &pair), 0.999, 1);
    mesh.buffer_flits = 3; /* round trip: router 3 + link 1 + credit 1 */
    expect_within("mesh, 3 flits of buffer", saturation(&mesh, &pair), 3.0 / 5 - 0.001, 3.0 / 5);
}

/* On an 8 x 8 mesh half of all uniform traffic crosses the middle, over 8 links in each direction:
 * at most 0.5 flits per node and cycle. Dimension-order routing balances these links, so the rest
 * is the cost of finite buffers and of separable allocation. */
static void mesh_comes_near_its_bisection(void **state) {
    (void)state;
    NocConfig config = noc_config_default(NOC_MESH, 64);
    Pattern all_to_all = {0, 64, 0, 64, 32};
    config.virtual_channels = 1;
    double one = saturation(&config, &all_to_all) / 64 / 0.5;
    config.virtual_channels = 4;
    double four = saturation(&config, &all_to_all) / 64 / 0.5;
    config.virtual_channels = 8;
    config.buffer_flits = 16;
    double eight = saturation(&config, &all_to_all) / 64 / 0.5;
    expect_within("share of the bound, 1 channel of 8 flits", one, 0.5, 0.8);
    expect_within("share of the bound, 4 channels of 8 flits", four, 0.7, 1);
    expect_within("share of the bound, 8 channels of 16 flits", eight, 0.8, 1);
    assert_true(one < four && four < eight);
}

/* Replies leave the 8 controllers along their rows. Controllers spread over the mesh share more
 * links than controllers in two rows (D. Abts et al., ISCA 2009). Requests suffer under neither
 * placement. */
static void spread_controllers_carry_more_replies(void **state) {
    (void)state;
    static const int diamond[] = {3, 7, 10, 12, 23, 25, 28, 32};
    static const int two_rows[] = {1, 2, 3, 4, 31, 32, 33, 34};
    Pattern requests = {0, 28, 28, 8, 8}, replies = {28, 8, 0, 28, 72};
    NocConfig config = noc_config_default(NOC_MESH, 36);
    noc_config_place(&config, diamond, 8);
    expect_within("diamond, requests", saturation(&config, &requests), 7.7, 8);
    expect_within("diamond, replies", saturation(&config, &replies), 7.7, 8);
    noc_config_place(&config, two_rows, 8);
    expect_within("two rows, requests", saturation(&config, &requests), 7.7, 8);
    expect_within("two rows, replies", saturation(&config, &replies), 6, 7);
}

/* All nodes but one send to that node as fast as they can. */
static void check_fairness(const NocConfig *config, const int *senders, int count,
                           double tolerance) {
    Noc *noc = noc_new(config, NULL);
    Traffic *traffic = traffic_new(noc, config->nodes, 1);
    int target = config->nodes - 1;
    for (int i = 0; i < STEPS; i++) {
        for (int s = 0; s < count; s++)
            traffic_send(traffic, senders[s], target, 32);
        noc_step(noc);
        traffic_take_all(traffic);
    }
    assert_in_range(traffic->taken_by[target], STEPS - 50, STEPS);
    for (int s = 0; s < count; s++) {
        double share = (double)traffic->taken_from[senders[s]] * count / STEPS;
        assert_true(share > 1 - tolerance && share < 1 + tolerance);
    }
    traffic_free(traffic);
    noc_free(noc);
}

static void contenders_share_an_output_equally(void **state) {
    (void)state;
    int all[26];
    for (int i = 0; i < 26; i++)
        all[i] = i;
    NocConfig crossbar = noc_config_default(NOC_CROSSBAR, 27);
    check_fairness(&crossbar, all, 26, 0.02);
    /* Every router of a mesh is fair to its ports: the four neighbors of a node share it
     * equally. */
    NocConfig mesh = noc_config_default(NOC_MESH, 9);
    int center[] = {4};
    noc_config_place(&mesh, center, 1);
    int neighbours[] = {1, 3, 4, 6};
    check_fairness(&mesh, neighbours, 4, 0.02);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_crossbar_reaches_the_head_of_line_limit),
        cmocka_unit_test(gtx480_crossbar_saturates_where_the_peer_does),
        cmocka_unit_test(long_packets_profit_from_the_internal_speed_up),
        cmocka_unit_test(one_pair_gets_a_whole_link),
        cmocka_unit_test(mesh_comes_near_its_bisection),
        cmocka_unit_test(spread_controllers_carry_more_replies),
        cmocka_unit_test(contenders_share_an_output_equally),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
