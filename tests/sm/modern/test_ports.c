/* Operands of a sub-core: when an instruction of fixed latency can leave the Allocate stage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sm/modern/ports.h"

enum { NONE = ISA_NO_REGISTER, START = 100 };

/* An instruction that reads these registers, each `words` wide. */
static ModernRow reads(uint8_t a, uint8_t b, uint8_t c, uint8_t words, uint8_t reuse) {
    ModernRow row = {.operand = {a, b, c}, .words = words, .reuse = reuse};
    for (int place = 0; place < ISA_PLACES; place++)
        for (uint8_t word = 0; row.operand[place] != NONE && word < words; word++)
            row.reads[(row.operand[place] + word) % REGISTER_BANKS]++;
    return row;
}

/* Cycles between issues of many such instructions in a row, each issued as soon as Control accepts
 * one. */
static double interval(const ModernRow *row) {
    enum { COUNT = 60 };
    ModernPorts ports;
    uint64_t cycle = START;
    ports_start(&ports, START);
    for (int i = 0; i < COUNT; i++) {
        ports_read(&ports, row, 0, cycle);
        cycle++;
        if (cycle < ports_free_from(&ports)) cycle = ports_free_from(&ports);
    }
    return (double)(cycle - START) / COUNT;
}

static void test_registers_of_one_bank_wait_for_its_port(void **state) {
    (void)state;
    static const struct {
        uint8_t a, b, c, words;
        double cycles;
    } rows[] = {{0, 1, NONE, 1, 1},    {0, 1, 2, 1, 2},       {0, 2, 4, 1, 3},
                {1, 3, 5, 1, 3},       {NONE, 2, 3, 1, 1},    {0, 2, NONE, 1, 2},
                {7, NONE, NONE, 1, 1}, {0, NONE, NONE, 2, 1}, {0, 2, 4, 2, 3}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const ModernRow row = reads(rows[i].a, rows[i].b, rows[i].c, rows[i].words, 0);
        const double got = interval(&row);
        assert_true(got > rows[i].cycles - 0.1 && got < rows[i].cycles + 0.1);
    }
}

static void test_the_first_instruction_is_not_late(void **state) {
    (void)state;
    const ModernRow three = reads(0, 2, 4, 1, 0), one = reads(1, NONE, NONE, 1, 0);
    ModernPorts ports;
    ports_start(&ports, START);
    assert_int_equal(ports_read(&ports, &three, 0, START), 0);
    /* the other bank is free; the same bank is busy for its third cycle */
    assert_int_equal(ports_read(&ports, &one, 0, START + 1), 0);
    assert_int_equal(ports_read(&ports, &three, 0, START + 2), 1);
}

/* An instruction that waits in Allocate keeps the next one in Control, which keeps the one after
 * that from issuing. */
static void test_allocate_keeps_what_comes_behind(void **state) {
    (void)state;
    const ModernRow three = reads(0, 2, 4, 1, 0);
    ModernPorts ports;
    ports_start(&ports, START);
    ports_read(&ports, &three, 0, START);
    assert_int_equal(ports_free_from(&ports), START + 1);
    assert_int_equal(ports_read(&ports, &three, 0, START + 1), 2);
    assert_int_equal(ports_free_from(&ports), START + 2); /* it enters Allocate at once */
    assert_int_equal(ports_read(&ports, &three, 0, START + 2), 4);
    assert_int_equal(ports_free_from(&ports), START + 5);
}

/* The register file cache, row by row: which reads it saves. After Huerta, figure 4. */
static void test_a_reused_operand_needs_no_port(void **state) {
    (void)state;
    static const struct {
        uint8_t warp, a, b, c, reuse; /* IADD3 R1, R2.reuse, R3, R4 and what follows */
        uint8_t late;                 /* of an instruction after it that reads all of bank 0 */
    } rows[] = {
        {0, 2, 3, 4, 1, 1}, /* R2 is read now, and kept; R4 */
        {0, 2, 7, 8, 0, 0}, /* found, and no longer kept */
        {0, 2, 7, 8, 1, 1}, /* read again, and kept */
        {0, 3, 2, 8, 0, 1}, /* in another place, with a register of the other bank there: stays */
        {0, 2, 7, 8, 1, 0}, /* found, and kept */
        {1, 2, 7, 8, 1, 1}, /* another warp's register: takes its place */
        {0, 2, 7, 8, 1, 1}, /* ... so it is gone */
        {0, 6, 7, 8, 0, 1}, /* another register of that bank in that place drops it */
        {0, 2, 7, 8, 0, 1},
    };
    ModernPorts ports;
    ports_start(&ports, START);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const uint64_t cycle = START + 100 * (i + 1);
        const ModernRow row = reads(rows[i].a, rows[i].b, rows[i].c, 1, rows[i].reuse);
        const ModernRow after = reads(NONE, NONE, NONE, 1, 0);
        ModernRow full = after;
        full.reads[0] = 3; /* an instruction without places: it does not change what is kept */
        ports_read(&ports, &row, rows[i].warp, cycle);
        assert_int_equal(ports_read(&ports, &full, 0, cycle + 1), rows[i].late);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_registers_of_one_bank_wait_for_its_port),
        cmocka_unit_test(test_the_first_instruction_is_not_late),
        cmocka_unit_test(test_allocate_keeps_what_comes_behind),
        cmocka_unit_test(test_a_reused_operand_needs_no_port),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
