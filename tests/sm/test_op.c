/* Rows of instructions: banks of every warp, and what an instruction counts as. */
#include "sm/op.h"

#include "stage.h"

/* A bank is (register + warp) mod banks, whatever the number of banks. */
static void test_the_banks_of_a_warp_are_those_of_warp_0_moved_by_its_number(void **state) {
    (void)state;
    for (uint32_t banks = 1; banks <= 64; banks *= 2) {
        SmConfig config = {.collector.banks = banks};
        for (uint32_t reg = 0; reg < 70; reg += 3) {
            const IsaReg pool[] = {{reg, reg}, {reg + 1, reg + 1}};
            SmOp op = sm_op(&config, &(IsaInfo){.dst_count = 1, .src_count = 1}, pool);
            for (uint32_t warp = 0; warp < TYTO_MAX_WARPS; warp++) {
                uint64_t all = bits_low_mask((int)banks);
                assert_true(sm_op_banks(op.writes, warp, all) == UINT64_C(1)
                                                                     << (reg + warp) % banks);
                assert_true(sm_op_banks(op.reads, warp, all) == UINT64_C(1)
                                                                    << (reg + 1 + warp) % banks);
            }
        }
    }
}

static void test_an_ideal_collector_reads_no_bank(void **state) {
    (void)state;
    static const IsaReg pool[] = {{1, 1}, {2, 2}};
    SmConfig config = {.collector = {.banks = 16, .is_ideal = true}};
    SmOp op = sm_op(&config, &(IsaInfo){.dst_count = 1, .src_count = 1}, pool);
    assert_int_equal(op.read_count, 0);
    assert_true(op.reads == 0);
    assert_int_equal(op.result_count, 1);
    assert_int_equal(op.use_count, 2);
}

static void test_an_instruction_counts_as_its_unit_and_all_that_it_does(void **state) {
    (void)state;
    static const IsaReg pool[] = {{0, 0}};
    SmConfig config = {.collector.banks = 16};
    config.ops[ISA_CLASS_MEMORY].unit = SM_UNIT_LDST;
    static const struct {
        IsaInfo info;
        uint32_t counts, traits;
    } rows[] = {
        {{.op_class = ISA_CLASS_OTHER, .flags = ISA_IS_BRANCH}, SM_COUNTS_BRANCH, 0},
        {{.op_class = ISA_CLASS_OTHER, .flags = ISA_IS_BARRIER}, SM_COUNTS_BARRIER, 0},
        {{.op_class = ISA_CLASS_MEMORY, .memory = ISA_MEMORY_LOAD, .space = PTX_SPACE_GLOBAL},
         SM_UNIT_LDST | SM_COUNTS_LOAD,
         SM_OP_L1D_LOAD | SM_OP_LONG},
        {{.op_class = ISA_CLASS_MEMORY, .memory = ISA_MEMORY_LOAD, .space = PTX_SPACE_SHARED},
         SM_UNIT_LDST | SM_COUNTS_LOAD,
         0},
        {{.op_class = ISA_CLASS_MEMORY, .memory = ISA_MEMORY_TEXTURE},
         SM_UNIT_LDST | SM_COUNTS_LOAD,
         SM_OP_LONG},
        {{.op_class = ISA_CLASS_MEMORY, .memory = ISA_MEMORY_ATOMIC, .space = PTX_SPACE_GLOBAL},
         SM_UNIT_LDST | SM_COUNTS_ATOMIC,
         SM_OP_LONG},
        {{.op_class = ISA_CLASS_MEMORY, .memory = ISA_MEMORY_STORE, .space = PTX_SPACE_GLOBAL},
         SM_UNIT_LDST | SM_COUNTS_STORE,
         0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        SmOp op = sm_op(&config, &rows[i].info, pool);
        assert_int_equal(op.counts, rows[i].counts);
        assert_int_equal(op.traits, rows[i].traits);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_banks_of_a_warp_are_those_of_warp_0_moved_by_its_number),
        cmocka_unit_test(test_an_ideal_collector_reads_no_bank),
        cmocka_unit_test(test_an_instruction_counts_as_its_unit_and_all_that_it_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
