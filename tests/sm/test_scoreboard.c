/* The scoreboard alone: which registers hold an instruction up, and for how long. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sm/scoreboard.h"

enum { REGS = 130 /* three words of bits */ };

/* Registers of the instructions below: destinations, sources, addresses, guard. */
static const IsaReg pool[] = {{1, 0}, {2, 0}, {3, 0}, {4, 0}, {129, 0}};

/* %1 = op(%2) at [%3], guarded by %4. */
static const IsaInfo whole = {
    .regs = 0, .dst_count = 1, .src_count = 1, .address_count = 1, .guard_count = 1};

static IsaInfo writer_of(uint32_t place) { return (IsaInfo){.regs = place, .dst_count = 1}; }

static void start(SmScoreboard *board, int regs) {
    PtxFunction ptx = {.reg_count = regs};
    IsaFunction function = {.ptx = &ptx};
    IsaProgram program = {.functions = &function, .function_count = 1};
    scoreboard_start_kernel(board, &program);
    for (int w = 0; w < (int)board->warps; w++)
        scoreboard_reset(board, w);
}

static bool is_clear(const SmScoreboard *board, int warp, const IsaInfo *info) {
    bool waits_memory;
    return scoreboard_is_clear(board, warp, pool, info, &waits_memory);
}

static void test_every_register_of_an_instruction_holds_it_up(void **state) {
    (void)state;
    SmScoreboard board;
    scoreboard_init(&board, 2);
    start(&board, REGS);
    for (uint32_t place = 0; place < 4; place++) {
        IsaInfo writer = writer_of(place);
        assert_true(is_clear(&board, 0, &whole));
        scoreboard_reserve(&board, 0, pool, &writer, false);
        assert_false(is_clear(&board, 0, &whole));
        assert_int_equal(scoreboard_pending(&board, 0), 1);
        scoreboard_release(&board, 0, pool, &writer);
        assert_true(is_clear(&board, 0, &whole));
        assert_int_equal(scoreboard_pending(&board, 0), 0);
    }
    scoreboard_free(&board);
}

static void test_what_is_read_only_holds_nothing_up(void **state) {
    (void)state;
    SmScoreboard board;
    scoreboard_init(&board, 2);
    start(&board, REGS);
    scoreboard_reserve(&board, 0, pool, &whole, false); /* writes %1 alone */
    for (uint32_t place = 1; place < 5; place++) {
        IsaInfo writer = writer_of(place);
        assert_true(is_clear(&board, 0, &writer));
    }
    IsaInfo again = writer_of(0);
    assert_false(is_clear(&board, 0, &again));
    assert_true(is_clear(&board, 1, &again)); /* another warp's %1 is another register */
    scoreboard_free(&board);
}

static void test_waiting_for_memory_is_told_from_waiting_for_a_pipeline(void **state) {
    (void)state;
    SmScoreboard board;
    bool waits_memory;
    scoreboard_init(&board, 1);
    start(&board, REGS);
    IsaInfo pipe = writer_of(1), load = writer_of(2);
    scoreboard_reserve(&board, 0, pool, &pipe, false);
    assert_false(scoreboard_is_clear(&board, 0, pool, &whole, &waits_memory));
    assert_false(waits_memory);
    scoreboard_reserve(&board, 0, pool, &load, true);
    assert_false(scoreboard_is_clear(&board, 0, pool, &whole, &waits_memory));
    assert_true(waits_memory);
    scoreboard_release(&board, 0, pool, &load);
    scoreboard_reserve(&board, 0, pool, &load, false); /* nothing remains of the load */
    assert_false(scoreboard_is_clear(&board, 0, pool, &whole, &waits_memory));
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
    IsaInfo last = writer_of(4);
    scoreboard_reserve(&board, 0, pool, &last, true);
    assert_false(is_clear(&board, 0, &last));
    start(&board, 2); /* keeps the room, and forgets */
    assert_int_equal(board.words, 3);
    assert_true(is_clear(&board, 0, &last));
    assert_int_equal(scoreboard_pending(&board, 0), 0);
    scoreboard_free(&board);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_register_of_an_instruction_holds_it_up),
        cmocka_unit_test(test_what_is_read_only_holds_nothing_up),
        cmocka_unit_test(test_waiting_for_memory_is_told_from_waiting_for_a_pipeline),
        cmocka_unit_test(test_a_program_with_more_registers_gets_more_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
