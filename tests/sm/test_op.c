/* Rows of instructions: the banks of every warp, and what an instruction counts as. */
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

/* 2,048 products at 256 per cycle take 8 cycles. If the machine has no rate for the type,
 * ops.matrix applies. */
static void test_a_matrix_product_takes_its_pipeline_as_long_as_it_is_large(void **state) {
    (void)state;
    static const IsaReg pool[] = {{0, 0}};
    static const struct {
        uint8_t type, products;
        uint32_t initiation, latency;
        SmUnit unit;
    } rows[] = {
        {ISA_TENSOR_FP16, 11, 8, 17 + 8, SM_UNIT_TENSOR},
        {ISA_TENSOR_FP16, 10, 4, 17 + 4, SM_UNIT_TENSOR},
        {ISA_TENSOR_FP64, 8, 16, 17 + 16, SM_UNIT_TENSOR},
        {ISA_TENSOR_BIT, 15, 33, 17 + 33, SM_UNIT_TENSOR}, /* 32,768 / 1,000, rounded up */
        {ISA_TENSOR_FP16 | ISA_TENSOR_SPARSE, 11, 8, 17 + 8, SM_UNIT_TENSOR},
        {ISA_TENSOR_INT8, 12, 64, 99, SM_UNIT_SFU},
    };
    SmConfig config = {.collector.banks = 16, .tensor.latency = 17};
    config.tensor.rate[ISA_TENSOR_FP16] = 256;
    config.tensor.rate[ISA_TENSOR_FP64] = 16;
    config.tensor.rate[ISA_TENSOR_BIT] = 1000;
    config.ops[ISA_CLASS_MATRIX] =
        (SmOpConfig){.latency = 99, .initiation = 64, .unit = SM_UNIT_SFU};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        IsaInfo info = {.op_class = ISA_CLASS_MATRIX,
                        .element_bytes = rows[i].type,
                        .vector = rows[i].products};
        SmOp op = sm_op(&config, &info, pool);
        assert_int_equal(op.initiation, rows[i].initiation);
        assert_int_equal(op.latency, rows[i].latency);
        assert_int_equal(op.unit, rows[i].unit);
        assert_true(op.latency <= sm_op_longest(&config));
    }
    assert_int_equal(sm_op_longest(&config), 17 + 8192 / 16);
}

/* 256 products per cycle: 4 cycles are one step, 8 are two. An instruction of half a step takes a
 * whole step, and one with a sparse A delays the next. */
static void test_a_matrix_product_takes_steps_and_more_time_beyond_the_first(void **state) {
    (void)state;
    static const IsaReg pool[] = {{0, 0}};
    static const struct {
        uint8_t type, products;
        uint32_t initiation, latency;
    } rows[] = {
        {ISA_TENSOR_FP16, 9, 4, 11 + 4},
        {ISA_TENSOR_FP16, 10, 4, 11 + 4},
        {ISA_TENSOR_FP16, 11, 8, 11 + 8 + 3},
        {ISA_TENSOR_FP16, 12, 16, 11 + 16 + 3},
        {ISA_TENSOR_FP16 | ISA_TENSOR_SPARSE, 10, 6, 11 + 4},
        {ISA_TENSOR_FP16 | ISA_TENSOR_SPARSE, 11, 8, 11 + 8 + 3},
    };
    SmConfig config = {.collector.banks = 16,
                       .tensor = {.latency = 11, .step = 4, .step_latency = 3, .sparse_step = 6}};
    config.tensor.rate[ISA_TENSOR_FP16] = 256;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        IsaInfo info = {.op_class = ISA_CLASS_MATRIX,
                        .element_bytes = rows[i].type,
                        .vector = rows[i].products};
        SmOp op = sm_op(&config, &info, pool);
        assert_int_equal(op.initiation, rows[i].initiation);
        assert_int_equal(op.latency, rows[i].latency);
        assert_true(op.latency <= sm_op_longest(&config));
    }
}

/* A division of 10 instructions: a reciprocal, then 9 multiply-adds that wait for one another. */
static void test_a_routine_is_one_instruction_of_its_class_and_multiply_adds(void **state) {
    (void)state;
    static const IsaReg pool[] = {{0, 0}};
    enum { DISTANCE = 2 + 2 }; /* no operand is waited for, results pass through the registers */
    static const struct {
        IsaInfo info;
        IsaSlots slots;
        uint32_t latency, initiation;
    } rows[] = {
        {{.op_class = ISA_CLASS_FP32_DIV}, {10, 10, 10, 10, false}, 17 + 9 * (1 + DISTANCE), 8},
        {{.op_class = ISA_CLASS_SFU, .element_bytes = 4}, {10, 10, 10, 10, false}, 20 + 9 * 5, 8},
        {{.op_class = ISA_CLASS_SFU, .element_bytes = 8},
         {2, 2, 2, 2, false},
         20 + 6 + DISTANCE,
         8},
        {{.op_class = ISA_CLASS_SFU, .element_bytes = 4}, {1, 1, 1, 1, false}, 20, 8},
        {{.op_class = ISA_CLASS_INT_MUL}, {4, 4, 4, 2, false}, 3 + 3 + DISTANCE, 8},
        {{.op_class = ISA_CLASS_INT_MUL}, {0, 0, 0, 0, false}, 3, 2},
    };
    SmConfig config = {.collector = {.banks = 16, .steps = 2, .is_ideal = true}, .write_back = 2};
    assert_int_equal(sm_op_distance(&config), DISTANCE);
    config.ops[ISA_CLASS_FP32_DIV] = (SmOpConfig){17, 8, SM_UNIT_SFU};
    config.ops[ISA_CLASS_SFU] = (SmOpConfig){20, 8, SM_UNIT_SFU};
    config.ops[ISA_CLASS_FP32_MAD] = (SmOpConfig){1, 2, SM_UNIT_SP};
    config.ops[ISA_CLASS_FP64_MAD] = (SmOpConfig){6, 4, SM_UNIT_DP};
    config.ops[ISA_CLASS_INT_MUL] = (SmOpConfig){3, 2, SM_UNIT_INT};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        SmOp op = sm_op(&config, &rows[i].info, pool);
        sm_op_lower(&op, &config, &rows[i].info, rows[i].slots);
        assert_int_equal(op.latency, rows[i].latency);
        assert_int_equal(op.initiation, rows[i].initiation);
    }
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
        {{.op_class = ISA_CLASS_OTHER, .flags = ISA_IS_BARRIER}, SM_COUNTS_BARRIER, SM_OP_MORE},
        {{.op_class = ISA_CLASS_OTHER, .flags = ISA_IS_FENCE}, 0, SM_OP_MORE},
        {{.op_class = ISA_CLASS_OTHER, .flags = ISA_IS_PHASE}, 0, SM_OP_PHASE | SM_OP_MORE},
        {{.op_class = ISA_CLASS_MEMORY, .memory = ISA_MEMORY_LOAD, .space = PTX_SPACE_GLOBAL},
         SM_UNIT_LDST | SM_COUNTS_LOAD,
         SM_OP_L1D_LOAD | SM_OP_LONG | SM_OP_SHARED},
        {{.op_class = ISA_CLASS_MEMORY, .memory = ISA_MEMORY_LOAD, .space = PTX_SPACE_SHARED},
         SM_UNIT_LDST | SM_COUNTS_LOAD,
         0},
        {{.op_class = ISA_CLASS_MEMORY, .memory = ISA_MEMORY_TEXTURE},
         SM_UNIT_LDST | SM_COUNTS_LOAD,
         SM_OP_LONG | SM_OP_SHARED},
        {{.op_class = ISA_CLASS_MEMORY, .memory = ISA_MEMORY_ATOMIC, .space = PTX_SPACE_GLOBAL},
         SM_UNIT_LDST | SM_COUNTS_ATOMIC,
         SM_OP_LONG | SM_OP_SHARED},
        {{.op_class = ISA_CLASS_MEMORY, .memory = ISA_MEMORY_ATOMIC, .space = PTX_SPACE_SHARED},
         SM_UNIT_LDST | SM_COUNTS_ATOMIC,
         SM_OP_LONG},
        {{.op_class = ISA_CLASS_OTHER, .flags = ISA_IS_CALL}, 0, SM_OP_SHARED},
        {{.op_class = ISA_CLASS_MEMORY, .memory = ISA_MEMORY_STORE, .space = PTX_SPACE_GLOBAL},
         SM_UNIT_LDST | SM_COUNTS_STORE,
         SM_OP_SHARED},
        {{.op_class = ISA_CLASS_MEMORY,
          .memory = ISA_MEMORY_STORE,
          .space = PTX_SPACE_GLOBAL,
          .cache_op = PTX_CACHE_CS},
         SM_UNIT_LDST | SM_COUNTS_STORE,
         SM_OP_SHARED | SM_OP_HINTED},
        {{.op_class = ISA_CLASS_MEMORY,
          .memory = ISA_MEMORY_LOAD,
          .space = PTX_SPACE_SHARED,
          .flags = ISA_NAMES_ROWS},
         SM_UNIT_LDST | SM_COUNTS_LOAD,
         SM_OP_HINTED},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        SmOp op = sm_op(&config, &rows[i].info, pool);
        assert_int_equal(op.counts, rows[i].counts);
        assert_int_equal(op.traits, rows[i].traits);
        config.lsu.loads_block = true;
        bool holds = op.traits & SM_OP_LONG && rows[i].info.memory != ISA_MEMORY_ATOMIC;
        assert_int_equal(sm_op(&config, &rows[i].info, pool).traits & SM_OP_HOLDS,
                         holds ? SM_OP_HOLDS : 0);
        config.lsu.loads_block = false;
    }
}

static void test_an_instruction_that_reads_what_it_writes_is_told(void **state) {
    (void)state;
    static const IsaReg apart[] = {{1, 0}, {2, 0}, {3, 0}, {4, 0}};
    static const IsaReg own[][4] = {{{1, 0}, {1, 0}, {3, 0}, {4, 0}},
                                    {{1, 0}, {2, 0}, {1, 0}, {4, 0}},
                                    {{1, 0}, {2, 0}, {3, 0}, {1, 0}}};
    const SmConfig config = {.collector.banks = 16};
    const IsaInfo info = {.dst_count = 1, .src_count = 1, .address_count = 1, .guard_count = 1};
    assert_false(sm_op(&config, &info, apart).traits & SM_OP_READS_OWN);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        assert_true(sm_op(&config, &info, own[i]).traits & SM_OP_READS_OWN);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_matrix_product_takes_its_pipeline_as_long_as_it_is_large),
        cmocka_unit_test(test_a_matrix_product_takes_steps_and_more_time_beyond_the_first),
        cmocka_unit_test(test_a_routine_is_one_instruction_of_its_class_and_multiply_adds),
        cmocka_unit_test(test_the_banks_of_a_warp_are_those_of_warp_0_moved_by_its_number),
        cmocka_unit_test(test_an_instruction_that_reads_what_it_writes_is_told),
        cmocka_unit_test(test_an_ideal_collector_reads_no_bank),
        cmocka_unit_test(test_an_instruction_counts_as_its_unit_and_all_that_it_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
