/* The pools of instructions under way: how many there are, and when an instruction is complete. */
#include "sm/inst.h"
#include "stage.h"

static void test_so_many_instructions_are_under_way_and_no_more_after_a_reset_too(void **state) {
    (void)state;
    Stage *stage = stage_new("", 8);
    SmInsts *insts = &stage->sm.insts;
    uint8_t *taken = ARENA_ARRAY(stage->sm.arena, uint8_t, SM_INSTS);
    for (int again = 1; again <= 2; again++) {
        for (uint32_t i = 0; i < SM_INSTS; i++) {
            assert_true(insts_has_room(insts));
            taken[insts_new(insts)]++;
        }
        assert_false(insts_has_room(insts));
        for (uint32_t i = 0; i < SM_INSTS; i++)
            assert_int_equal(taken[i], again);
        insts_free(insts, 77);
        assert_true(insts_has_room(insts));
        assert_int_equal(insts_new(insts), 77);
        insts_reset(insts);
    }
    stage_free(stage);
}

/* There is a place for the accesses of every instruction between issue and the latch. The last
 * access of an instruction frees its place. */
static void test_accesses_have_a_place_for_every_instruction_up_to_the_latch(void **state) {
    (void)state;
    Stage *stage = stage_new("units.ldst.issue_slots=2 units.ldst.collector_units=3 "
                             "units.ldst.dispatch_slots=4",
                             8);
    SmInsts *insts = &stage->sm.insts;
    uint32_t pc =
        stage_program(stage, &(StageInst){.op_class = ISA_CLASS_MEMORY, .memory = ISA_MEMORY_LOAD});
    uint16_t inst[2 + 3 + 4 + 1];
    for (int again = 0; again < 2; again++) {
        for (int i = 0; i < 10; i++)
            inst[i] = stage_memory_inst(stage, pc, 0, SM_PATH_L1D, 0, 1);
        assert_int_equal(insts->free_memory, SM_NONE);
        for (int i = 0; i < 10; i++)
            insts_handed_on(insts, inst[i]);
        assert_int_not_equal(insts->free_memory, SM_NONE);
        if (!again) insts_reset(insts);
    }
    stage_free(stage);
}

static void test_a_load_is_complete_with_its_last_data_once_it_has_left_the_latch(void **state) {
    (void)state;
    Stage *stage = stage_new("", 8);
    SmInsts *insts = &stage->sm.insts;
    StageInst memory = {.op_class = ISA_CLASS_MEMORY, .memory = ISA_MEMORY_LOAD};
    uint32_t load = stage_program(stage, &memory);
    memory.memory = ISA_MEMORY_STORE;
    uint32_t store = stage_program(stage, &memory);
    uint16_t inst = stage_memory_inst(stage, load, 0, SM_PATH_L1D, 0, 3);
    assert_int_equal(insts->inst[inst].remaining, 3);
    assert_false(insts_access_done(insts, inst));
    assert_false(insts_handed_on(insts, inst));
    assert_int_equal(insts->inst[inst].memory, SM_NONE);
    assert_false(insts_access_done(insts, inst));
    assert_true(insts_access_done(insts, inst));
    inst = stage_memory_inst(stage, load, 0, SM_PATH_L1D, 0, 2);
    assert_false(insts_access_done(insts, inst));
    assert_false(insts_access_done(insts, inst)); /* all data, but still in the latch */
    assert_true(insts_handed_on(insts, inst));
    inst = stage_memory_inst(stage, store, 0, SM_PATH_L1D, 0, 2);
    assert_true(insts_handed_on(insts, inst)); /* a store waits for no data */
    stage_free(stage);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_so_many_instructions_are_under_way_and_no_more_after_a_reset_too),
        cmocka_unit_test(test_accesses_have_a_place_for_every_instruction_up_to_the_latch),
        cmocka_unit_test(test_a_load_is_complete_with_its_last_data_once_it_has_left_the_latch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
