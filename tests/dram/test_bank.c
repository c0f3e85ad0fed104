/* Constraint rows: every command is illegal one tick early and legal in time; and the distances
 * that the GTX 480's model was observed to enforce. */
#include "dram/bank.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "devices.h"

enum { START = 1000 }; /* a tick at which nothing is pending any more */

static DramBanks banks_of(const Device *device) {
    DramBanks banks;
    dram_banks_init(&banks, &device->config.timing, device_burst_ticks(device),
                    device->config.bank_groups, dram_config_side_by_side(&device->config));
    return banks;
}

/* Whether a constraint binds `bank` after a command to bank 0. */
static bool binds(const DramBanks *banks, const DramConstraint *row, uint32_t bank) {
    if (row->scope == DRAM_SAME_BANK) return bank == 0;
    if (row->scope == DRAM_SAME_GROUP) return banks->group[bank] == banks->group[0];
    return true;
}

/* After each command to bank 0, every command to every bank must wait exactly as long as the
 * longest row that binds it. */
static void every_constraint(void **state) {
    (void)state;
    for (int d = 0; d < DEVICES; d++) {
        DramConstraint rows[DRAM_CONSTRAINTS];
        dram_timing_constraints(&devices[d].config.timing, device_burst_ticks(&devices[d]), rows);
        for (int first = 0; first < DRAM_COMMANDS; first++)
            for (int second = 0; second < DRAM_COMMANDS; second++)
                for (uint32_t bank = 0; bank < devices[d].config.banks; bank++) {
                    DramBanks banks = banks_of(&devices[d]);
                    dram_banks_command(&banks, (DramCommand)first, 0, 7, START);
                    uint64_t wait = 0;
                    for (int i = 0; i < DRAM_CONSTRAINTS; i++)
                        if ((int)rows[i].first == first && (int)rows[i].second == second &&
                            binds(&banks, &rows[i], bank) && rows[i].ticks > wait)
                            wait = rows[i].ticks;
                    uint64_t earliest = dram_banks_earliest(&banks, (DramCommand)second, bank);
                    assert_int_equal(earliest, wait ? START + wait : 0);
                }
    }
}

static void gtx480_distances(void **state) {
    (void)state;
    enum { SAME_BANK = 0, SAME_GROUP = 4, OTHER_GROUP = 1 };
    static const struct {
        DramCommand first, second;
        uint32_t bank;
        uint64_t ticks;
    } rows[] = {
        {DRAM_READ, DRAM_READ, OTHER_GROUP, 2},
        {DRAM_READ, DRAM_READ, SAME_GROUP, 3},
        {DRAM_READ, DRAM_READ, SAME_BANK, 3},
        {DRAM_WRITE, DRAM_WRITE, OTHER_GROUP, 2},
        {DRAM_WRITE, DRAM_WRITE, SAME_GROUP, 3},
        {DRAM_ACTIVATE, DRAM_ACTIVATE, OTHER_GROUP, 6},
        {DRAM_ACTIVATE, DRAM_ACTIVATE, SAME_BANK, 40},
        {DRAM_ACTIVATE, DRAM_READ, SAME_BANK, 12},
        {DRAM_ACTIVATE, DRAM_WRITE, SAME_BANK, 7},
        {DRAM_ACTIVATE, DRAM_PRECHARGE, SAME_BANK, 28},
        {DRAM_PRECHARGE, DRAM_ACTIVATE, SAME_BANK, 12},
        {DRAM_READ, DRAM_PRECHARGE, SAME_BANK, 2},
        {DRAM_WRITE, DRAM_PRECHARGE, SAME_BANK, 18},
        {DRAM_READ, DRAM_WRITE, OTHER_GROUP, 12},
        {DRAM_WRITE, DRAM_READ, OTHER_GROUP, 11},
        {DRAM_READ, DRAM_WRITE, SAME_BANK, 12},
        {DRAM_WRITE, DRAM_READ, SAME_BANK, 11},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        DramBanks banks = banks_of(&devices[DEVICE_GTX480]);
        dram_banks_command(&banks, rows[i].first, 0, 7, START);
        assert_int_equal(dram_banks_earliest(&banks, rows[i].second, rows[i].bank),
                         START + rows[i].ticks);
    }
    DramBanks banks = banks_of(&devices[DEVICE_GTX480]);
    dram_banks_command(&banks, DRAM_ACTIVATE, 0, 7, START);
    assert_int_equal(dram_banks_earliest(&banks, DRAM_PRECHARGE, OTHER_GROUP), 0);
    assert_int_equal(dram_banks_earliest(&banks, DRAM_READ, OTHER_GROUP), 0);
}

/* As measured on the peer's Volta and Ampere models. */
static void volta_and_ampere_distances(void **state) {
    (void)state;
    enum { SAME_BANK = 0, SAME_GROUP = 4, OTHER_GROUP = 1 };
    static const struct {
        DramCommand first, second;
        uint32_t bank;
        uint64_t hbm2, gddr6;
    } rows[] = {
        {DRAM_READ, DRAM_READ, OTHER_GROUP, 1, 4},
        {DRAM_READ, DRAM_READ, SAME_GROUP, 2, 6},
        {DRAM_WRITE, DRAM_WRITE, OTHER_GROUP, 1, 4},
        {DRAM_ACTIVATE, DRAM_ACTIVATE, OTHER_GROUP, 3, 12},
        {DRAM_ACTIVATE, DRAM_ACTIVATE, SAME_BANK, 40, 78},
        {DRAM_ACTIVATE, DRAM_READ, SAME_BANK, 12, 24},
        {DRAM_ACTIVATE, DRAM_WRITE, SAME_BANK, 9, 15},
        {DRAM_ACTIVATE, DRAM_PRECHARGE, SAME_BANK, 28, 55},
        {DRAM_PRECHARGE, DRAM_ACTIVATE, SAME_BANK, 12, 24},
        {DRAM_READ, DRAM_PRECHARGE, SAME_GROUP, 3, 4},
        {DRAM_WRITE, DRAM_PRECHARGE, SAME_BANK, 13, 36},
        {DRAM_READ, DRAM_WRITE, OTHER_GROUP, 13, 22},
        {DRAM_WRITE, DRAM_READ, OTHER_GROUP, 6, 22},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int gddr6 = 0; gddr6 < 2; gddr6++) {
            DramBanks banks = banks_of(&devices[gddr6 ? DEVICE_GDDR6 : DEVICE_HBM2]);
            dram_banks_command(&banks, rows[i].first, 0, 7, START);
            assert_int_equal(dram_banks_earliest(&banks, rows[i].second, rows[i].bank),
                             START + (gddr6 ? rows[i].gddr6 : rows[i].hbm2));
        }
    DramBanks banks = banks_of(&devices[DEVICE_HBM2]);
    dram_banks_command(&banks, DRAM_READ, 0, 7, START);
    assert_int_equal(dram_banks_earliest(&banks, DRAM_PRECHARGE, OTHER_GROUP), 0);
}

/* With dram.forgets_writes, tCDLR and tWR have no effect. The constraints of the row, and of the
 * bus between reads and writes, remain. */
static void writes_may_be_forgotten(void **state) {
    (void)state;
    static const struct {
        DramCommand first, second;
        uint64_t waits, forgets;
    } rows[] = {
        {DRAM_WRITE, DRAM_READ, 11, 2},
        {DRAM_WRITE, DRAM_PRECHARGE, 18, 0},
        {DRAM_READ, DRAM_WRITE, 12, 12},
        {DRAM_ACTIVATE, DRAM_PRECHARGE, 28, 28},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int forgets = 0; forgets < 2; forgets++) {
            Device device = devices[DEVICE_GTX480];
            device.config.timing.forgets_writes = forgets;
            DramBanks banks = banks_of(&device);
            dram_banks_command(&banks, rows[i].first, 0, 7, START);
            uint64_t wait = forgets ? rows[i].forgets : rows[i].waits;
            assert_int_equal(dram_banks_earliest(&banks, rows[i].second, 0),
                             wait ? START + wait : 0);
        }
}

/* Bank groups are banks 0 .. 7 and 8 .. 15 on pro, and every fourth bank on gtx480. */
static void groups_lie_together_or_in_turn(void **state) {
    (void)state;
    for (int together = 0; together < 2; together++) {
        Device device = devices[DEVICE_GTX480];
        device.config.groups_lie_together = together;
        device.config.bank_groups = together ? 2 : 4;
        DramBanks banks = banks_of(&device);
        dram_banks_command(&banks, DRAM_READ, 5, 7, START);
        for (uint32_t bank = 0; bank < 16; bank++) {
            bool is_near = together ? bank < 8 : bank % 4 == 1;
            assert_int_equal(dram_banks_earliest(&banks, DRAM_READ, bank),
                             START + (is_near ? 3 : 2));
        }
    }
}

static void a_refresh_closes_all_banks_and_lets_none_open_before_its_end(void **state) {
    (void)state;
    DramBanks banks = banks_of(&devices[DEVICE_HBM2]);
    assert_int_equal(dram_banks_refresh_earliest(&banks), 0);
    dram_banks_refresh(&banks, 12, 298, START);
    assert_int_equal(dram_banks_earliest(&banks, DRAM_ACTIVATE, 5), START + 298);
    dram_banks_command(&banks, DRAM_ACTIVATE, 5, 1, START + 500);
    assert_int_equal(dram_banks_refresh_earliest(&banks), START + 500 + 28);
    dram_banks_refresh(&banks, 12, 298, START + 528);
    assert_false(dram_banks_is_open(&banks, 5, 1));
    assert_int_equal(dram_banks_earliest(&banks, DRAM_ACTIVATE, 7), START + 528 + 12 + 298);
}

static void open_rows(void **state) {
    (void)state;
    DramBanks banks = banks_of(&devices[DEVICE_OWL]);
    assert_false(dram_banks_is_open(&banks, 2, 0));
    dram_banks_command(&banks, DRAM_ACTIVATE, 2, 99, 0);
    assert_true(dram_banks_is_open(&banks, 2, 99));
    assert_false(dram_banks_is_open(&banks, 2, 98));
    assert_false(dram_banks_is_open(&banks, 1, 99));
    dram_banks_command(&banks, DRAM_PRECHARGE, 2, 0, 25);
    assert_false(dram_banks_is_open(&banks, 2, 99));
}

/* A time is rounded up to a number of ticks; a number of cycles does not depend on the clock. */
static void a_stated_time_is_rounded_up_by_the_clock(void **state) {
    (void)state;
    static const struct {
        ParameterTime time;
        uint32_t khz, ticks;
    } rows[] = {
        {{.cycles = 12}, 924000, 12},     {{.ps = 13750}, 924000, 13}, /* 12.7 */
        {{.ps = 12000}, 1000000, 12},     {{.ps = 12001}, 1000000, 13},
        {{.ps = 6850}, 7000000, 48},      {{.ps = 1}, 1000, 1},
        {{.ps = 1000000000}, 1000, 1000}, {{.ps = 1000000000}, 10000000, 10000000},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const DramStatedTiming stated = {.rcd = rows[i].time, .rp.cycles = 7};
        const DramTiming timing = dram_timing_of(&stated, rows[i].khz);
        assert_int_equal(timing.rcd, rows[i].ticks);
        assert_int_equal(timing.rp, 7);
    }
}

static void rejected_timings(void **state) {
    (void)state;
    DramTiming good = devices[DEVICE_OWL].config.timing;
    struct {
        DramTiming timing;
        const char *why;
    } rows[] = {
        {good, NULL},
        {good, "tCL = 0"},
        {good, "tRAS is below tRCD"},
        {good, "tRC is below tRAS"},
        {good, "tCCD is below the ticks of a burst"},
        {good, "tCCDL is below tCCD"},
        {good, "tWL is above tCL"},
        {good, "tRP = 5000"},
        {good, "tREFI is below 2 x (tRFC + tRC)"},
        {good, "tREFI without tRFC"},
    };
    rows[1].timing.cl = 0;
    rows[2].timing.ras = 5;
    rows[3].timing.rc = 20;
    rows[4].timing.ccd = 1;
    rows[5].timing.ccd_long = 1;
    rows[6].timing.wl = 11;
    rows[7].timing.rp = 5000;
    rows[8].timing.refi = 500, rows[8].timing.rfc = 230;
    rows[9].timing.refi = 500;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Diag *diag = diag_new();
        assert_int_equal(dram_timing_check(&rows[i].timing, 2, diag), rows[i].why == NULL);
        if (rows[i].why) assert_non_null(strstr(diag_text(diag), rows[i].why));
        diag_free(diag);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_constraint),
        cmocka_unit_test(gtx480_distances),
        cmocka_unit_test(volta_and_ampere_distances),
        cmocka_unit_test(writes_may_be_forgotten),
        cmocka_unit_test(groups_lie_together_or_in_turn),
        cmocka_unit_test(a_refresh_closes_all_banks_and_lets_none_open_before_its_end),
        cmocka_unit_test(open_rows),
        cmocka_unit_test(a_stated_time_is_rounded_up_by_the_clock),
        cmocka_unit_test(rejected_timings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
