/* The scoreboard alone: which registers delay an instruction, and for how long. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sm/classic/scoreboard.h"

enum { REGS = 130 /* three words of bits */ };

/* Registers of the instructions below: destinations, sources, addresses, guard. */
static IsaReg pool[] = {{1, 0}, {2, 0}, {3, 0}, {4, 0}, {129, 0}};

static SmOp op_of(const IsaInfo *info) {
    static const SmConfig config = {.collector.banks = 1};
    return sm_op(&config, info, pool);
}

/* %1 = op(%2) at [%3], guarded by %4. */
static SmOp whole_op(void) {
    return op_of(&(IsaInfo){
        .regs = 0, .dst_count = 1, .src_count = 1, .address_count = 1, .guard_count = 1});
}

static SmOp writer_of(uint32_t place) { return op_of(&(IsaInfo){.regs = place, .dst_count = 1}); }

/* A load with the same destination. */
static SmOp loader_of(uint32_t place) {
    return op_of(&(IsaInfo){
        .regs = place, .dst_count = 1, .memory = ISA_MEMORY_LOAD, .space = PTX_SPACE_GLOBAL});
}

static void start(SmScoreboard *board, int regs) {
    scoreboard_start_kernel(board);
    scoreboard_begin_grid(board, (uint32_t)regs);
    for (int w = 0; w < (int)board->warps; w++)
        scoreboard_reset(board, w, pool);
}

static bool is_clear(const SmScoreboard *board, int warp, const SmOp *op) {
    bool waits_memory;
    return scoreboard_is_clear(board, warp, op, &waits_memory);
}

static void test_every_register_of_an_instruction_holds_it_up(void **state) {
    (void)state;
    SmOp whole = whole_op();
    SmScoreboard board;
    scoreboard_init(&board, 2);
    start(&board, REGS);
    for (uint32_t place = 0; place < 4; place++) {
        SmOp writer = writer_of(place);
        assert_true(is_clear(&board, 0, &whole));
        scoreboard_reserve(&board, 0, &writer);
        assert_false(is_clear(&board, 0, &whole));
        assert_true(scoreboard_has_pending(&board, 0));
        scoreboard_release(&board, 0, &writer);
        assert_true(is_clear(&board, 0, &whole));
        assert_false(scoreboard_has_pending(&board, 0));
    }
    scoreboard_free(&board);
}

static void test_what_is_read_only_holds_nothing_up(void **state) {
    (void)state;
    SmOp whole = whole_op();
    SmScoreboard board;
    scoreboard_init(&board, 2);
    start(&board, REGS);
    scoreboard_reserve(&board, 0, &whole); /* writes only %1 */
    for (uint32_t place = 1; place < 5; place++) {
        SmOp writer = writer_of(place);
        assert_true(is_clear(&board, 0, &writer));
    }
    SmOp again = writer_of(0);
    assert_false(is_clear(&board, 0, &again));
    assert_true(is_clear(&board, 1, &again)); /* another warp's %1 is another register */
    scoreboard_free(&board);
}

static void test_waiting_for_memory_is_told_from_waiting_for_a_pipeline(void **state) {
    (void)state;
    SmOp whole = whole_op();
    SmScoreboard board;
    bool waits_memory;
    scoreboard_init(&board, 1);
    start(&board, REGS);
    SmOp pipe = writer_of(1), load = loader_of(2), again = writer_of(2);
    scoreboard_reserve(&board, 0, &pipe);
    assert_false(scoreboard_is_clear(&board, 0, &whole, &waits_memory));
    assert_false(waits_memory);
    scoreboard_reserve(&board, 0, &load);
    assert_false(scoreboard_is_clear(&board, 0, &whole, &waits_memory));
    assert_true(waits_memory);
    scoreboard_release(&board, 0, &load);
    scoreboard_reserve(&board, 0, &again); /* no trace of the load remains */
    assert_false(scoreboard_is_clear(&board, 0, &whole, &waits_memory));
    assert_false(waits_memory);
    scoreboard_free(&board);
}

/* Register 129 shares its bit with register 1. */
static void test_registers_that_share_a_bit_are_told_apart(void **state) {
    (void)state;
    SmScoreboard board;
    scoreboard_init(&board, 2);
    start(&board, REGS);
    SmOp first = writer_of(0), other = loader_of(4);
    bool waits_memory;
    scoreboard_reserve(&board, 1, &other);
    assert_true(scoreboard_is_clear(&board, 1, &first, &waits_memory));
    assert_false(waits_memory);
    scoreboard_reserve(&board, 1, &first);
    scoreboard_release(&board, 1, &other);
    assert_false(scoreboard_is_clear(&board, 1, &first, &waits_memory));
    assert_false(waits_memory);
    assert_true(is_clear(&board, 1, &other));
    scoreboard_free(&board);
}

/* %1 = %2 without a slot, on boards that distinguish registers only by their bits, and on boards
 * that also have sets. */
static void test_a_result_comes_from_memory_while_a_source_does(void **state) {
    (void)state;
    static const int regs[] = {SM_OP_REGS, REGS};
    SmOp moved = whole_op(), load = loader_of(1), pipe = writer_of(2), reader = writer_of(0);
    for (size_t i = 0; i < sizeof regs / sizeof *regs; i++) {
        SmScoreboard board;
        bool waits_memory;
        scoreboard_init(&board, 1);
        start(&board, regs[i]);
        scoreboard_reserve(&board, 0, &load);
        scoreboard_reserve(&board, 0, &pipe);
        scoreboard_reserve(&board, 0, &moved);
        scoreboard_inherit(&board, 0, &moved);
        assert_false(scoreboard_is_clear(&board, 0, &reader, &waits_memory));
        assert_true(waits_memory);
        scoreboard_release(&board, 0, &load); /* its other source comes from a pipeline */
        scoreboard_inherit(&board, 0, &moved);
        assert_false(scoreboard_is_clear(&board, 0, &reader, &waits_memory));
        assert_false(waits_memory);
        scoreboard_reserve(&board, 0, &load);
        scoreboard_inherit(&board, 0, &moved);
        scoreboard_release(&board, 0, &moved); /* no trace of the mark remains */
        scoreboard_reserve(&board, 0, &reader);
        assert_false(scoreboard_is_clear(&board, 0, &reader, &waits_memory));
        assert_false(waits_memory);
        scoreboard_free(&board);
    }
}

static void test_a_small_program_needs_no_sets_beyond_the_bits(void **state) {
    (void)state;
    SmOp whole = whole_op(), load = loader_of(2);
    SmScoreboard board;
    bool waits_memory;
    scoreboard_init(&board, 2);
    start(&board, SM_OP_REGS);
    assert_null(board.sets);
    scoreboard_reserve(&board, 1, &load);
    assert_false(scoreboard_is_clear(&board, 1, &whole, &waits_memory));
    assert_true(waits_memory);
    assert_true(is_clear(&board, 0, &whole));
    scoreboard_release(&board, 1, &load);
    assert_true(scoreboard_is_clear(&board, 1, &whole, &waits_memory));
    assert_false(waits_memory);
    scoreboard_free(&board);
}

static void test_a_program_with_more_registers_gets_more_room(void **state) {
    (void)state;
    SmScoreboard board;
    scoreboard_init(&board, 1);
    start(&board, 2);
    assert_int_equal(board.words, 1);
    start(&board, REGS);
    assert_int_equal(board.words, 3);
    SmOp last = loader_of(4);
    scoreboard_reserve(&board, 0, &last);
    assert_false(is_clear(&board, 0, &last));
    start(&board, 2); /* keeps the room, but is cleared */
    assert_int_equal(board.words, 3);
    assert_true(is_clear(&board, 0, &last));
    assert_false(scoreboard_has_pending(&board, 0));
    scoreboard_free(&board);
}

static void test_a_grid_with_more_registers_begins_beside_warps_that_wait(void **state) {
    (void)state;
    SmOp whole = whole_op(), loader = loader_of(0);
    SmScoreboard board;
    scoreboard_init(&board, 2);
    start(&board, 4);
    scoreboard_reserve(&board, 1, &loader);
    scoreboard_begin_grid(&board, 300);
    assert_false(board.is_exact);
    bool waits_memory;
    assert_false(scoreboard_is_clear(&board, 1, &whole, &waits_memory));
    assert_true(waits_memory);
    assert_true(is_clear(&board, 0, &whole));
    scoreboard_release(&board, 1, &loader);
    assert_true(is_clear(&board, 1, &whole));
    scoreboard_reserve(&board, 1, &loader);
    scoreboard_begin_grid(&board, 1000);
    assert_false(is_clear(&board, 1, &whole));
    scoreboard_free(&board);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_register_of_an_instruction_holds_it_up),
        cmocka_unit_test(test_what_is_read_only_holds_nothing_up),
        cmocka_unit_test(test_waiting_for_memory_is_told_from_waiting_for_a_pipeline),
        cmocka_unit_test(test_registers_that_share_a_bit_are_told_apart),
        cmocka_unit_test(test_a_result_comes_from_memory_while_a_source_does),
        cmocka_unit_test(test_a_small_program_needs_no_sets_beyond_the_bits),
        cmocka_unit_test(test_a_program_with_more_registers_gets_more_room),
        cmocka_unit_test(test_a_grid_with_more_registers_begins_beside_warps_that_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
