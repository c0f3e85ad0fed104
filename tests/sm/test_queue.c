/* The rings through which stages hand on instructions: in order, up to their capacity, going
 * around. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sm/queue.h"

static void a_queue_gives_back_in_order_what_fills_it(void **state) {
    (void)state;
    static const uint32_t capacities[] = {1, 2, 7, 64};
    Arena *arena = arena_new();
    for (int i = 0; i < 4; i++) {
        SmQueue queue;
        uint32_t in = 0, out = 0;
        sm_queue_init(&queue, capacities[i], arena);
        sm_queue_push(&queue, in++);
        for (int round = 0; round < 3; round++) {
            while (queue.count < capacities[i])
                sm_queue_push(&queue, in++);
            assert_int_equal(sm_queue_peek(&queue), out);
            for (uint32_t left = round == 2 ? 0 : (capacities[i] + 1) / 2; queue.count > left;)
                assert_int_equal(sm_queue_pop(&queue), out++);
        }
        assert_int_equal(out, in);
    }
    arena_free(arena);
}

static void a_queue_of_few_gives_back_in_order_what_fills_it(void **state) {
    (void)state;
    SmFew few = {0};
    uint32_t in = 0, out = 0;
    for (uint32_t left = SM_FEW / 2; left < SM_FEW; left++) {
        while (few.count < SM_FEW)
            sm_few_push(&few, in++);
        assert_int_equal(sm_few_peek(&few), out);
        while (few.count > left)
            assert_int_equal(sm_few_pop(&few), out++);
    }
}

static void places_of_a_ring_go_round(void **state) {
    (void)state;
    assert_int_equal(sm_ring_place(4, 5), 4);
    assert_int_equal(sm_ring_place(5, 5), 0);
    assert_int_equal(sm_ring_place(9, 5), 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_queue_gives_back_in_order_what_fills_it),
        cmocka_unit_test(a_queue_of_few_gives_back_in_order_what_fills_it),
        cmocka_unit_test(places_of_a_ring_go_round),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
