/* Derived values: a change by --set or in a file also changes the inherited values that follow from
 * it. Two explicit values that contradict each other remain an error. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/text.h"
#include "machine/machine_file.h"

/* Prints the machine with `sets` (key=value separated by blanks) applied. Returns false if it is
 * refused; `out` then has the reason. */
static bool load(const char *name, const char *sets, Text *out) {
    Diag *diag = diag_new();
    Machine *machine = machine_load(name, diag);
    char copy[256], *rest = copy;
    assert_non_null(machine);
    snprintf(copy, sizeof copy, "%s", sets);
    for (char *word; (word = strsep(&rest, " ")) != NULL;)
        if (*word) assert_true(machine_set(machine, word, diag));
    const bool is_good = machine_finish(machine, diag) != NULL;
    text_clear(out);
    if (is_good) machine_print(machine, out);
    else text_add(out, diag_text(diag));
    machine_free(machine);
    diag_free(diag);
    return is_good;
}

/* Every shipped machine is complete: none of its values is derived. */
static void test_shipped_machines_say_all_that_they_are(void **state) {
    (void)state;
    Text text = {0};
    for (int i = 0; i < machine_shipped_count(); i++) {
        assert_true(load(machine_shipped_name(i), "", &text));
        if (strstr(text_string(&text), "derived: ")) fail_msg("%s", machine_shipped_name(i));
    }
    text_free(&text);
}

static void test_a_single_change_takes_along_what_follows(void **state) {
    (void)state;
    static const struct {
        const char *set, *parts[4];
    } rows[] = {
        {"l2.size=1MiB",
         {"ways: 16 ", "set_hash: \"ipoly 0x211: 34..17,16,15,14,13,12,11,10,9,7\""}},
        {"l2.size=64KiB", {"ways: 16 ", "ipoly 0x25: 22..13,12,11,10,9,7", "persisting: 7680 KiB"}},
        {"l2.line=64B",
         {"ipoly 0x11b: 30..15,14,13,12,11,10,9,7,6", "derived: follows from l2.line"}},
        {"l2.ways=10", {"derived: follows from l2.ways"}},
        {"l1d.size=128KiB",
         {"unified: 128 KiB", "carve_outs: [0, 8, 16, 32, 64, 100]", "size: 100 KiB"}},
        {"l1d.size=192KiB", {"unified: 192 KiB", "ways: 384 ", "132, 164]"}},
        {"l1d.unified=192KiB", {"size: 192 KiB", "ways: 384 "}},
        {"shared.size=240KiB", {"carve_outs: [0, 8, 16, 32, 64, 100, 132, 164, 196, 228, 240]"}},
        {"gpu.partitions=40", {"persisting: 19200 KiB"}},
        {"gpu.partitions=48", {"persisting: 23040 KiB"}},
        {"partition.slices=1",
         {"bits: \"RRRRRRRRRRRRRRRR.BBB.CC.B.CCCCCCCC\"", "persisting: 19200 KiB"}},
        {"partition.slices=4", {"bits: \"RRRRRRRRRRRRRRRR.BBb.CC.b.CCCCCCCC\""}},
        {"dram.banks=32", {"bits: \"RRRRRRRRRRRRRRRR.BBBB.CC.b.CCCCCCCC\""}},
        {"dram.banks=8", {"bits: \"RRRRRRRRRRRRRRRR.BB.CC.b.CCCCCCCC\""}},
        {"dram.row=2KiB", {"bits: \"RRRRRRRRRRRRRRRR.BBB.CCC.b.CCCCCCCC\""}},
        {"dram.row=512B", {"bits: \"RRRRRRRRRRRRRRRR.BBB.C.b.CCCCCCCC\""}},
        {"sm.subcores=2", {"count: 2 "}},
        {"scheduler.count=2", {"subcores: 2 "}},
        {"partition.sector=64B", {"derived: follows from partition.sector"}},
        {"l2.sector=64B", {"derived: follows from l2.sector"}},
        {"l1c.size=3KiB", {"ways: 3 "}},
        {"gpu.memory=24GiB", {"memory: 24576 MiB"}},
        {"gpu.sms=66", {"sms: 66 "}},
        {"sm.registers=32768", {"registers: 32768 "}},
        {"dram.data_rate=4", {"data_rate: 4 beats"}},
    };
    Text text = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!load("h100", rows[i].set, &text)) fail_msg("%s: %s", rows[i].set, text_string(&text));
        for (int part = 0; part < 4 && rows[i].parts[part]; part++)
            if (!strstr(text_string(&text), rows[i].parts[part]))
                fail_msg("%s lacks %s", rows[i].set, rows[i].parts[part]);
    }
    text_free(&text);
}

/* Channels given by address bits, a number that is not a power of two, and their hashes. */
static void test_the_map_follows_channels_and_slices(void **state) {
    (void)state;
    static const struct {
        const char *machine, *sets, *parts[4];
    } rows[] = {
        {"v100",
         "gpu.partitions=8",
         {"bits: \"RRRRRRRRRRRRRR.BBBB.CC.PPP.CCCCCCCC\"", "hash: \"ipoly 0xb: 19..11,10,9,8\""}},
        {"v100",
         "gpu.partitions=40",
         {"bits: \"RRRRRRRRRRRRRR.BBBB.CC.CCCCCCCC\"", "block: 256 B",
          "derived: follows from gpu.partitions"}},
        {"v100", "gpu.partitions=2", {".CC.P.CCCCCCCC\"", "  hash: \"\""}},
        {"v100", "gpu.partitions=1", {".CC.CCCCCCCC\"", "  hash: \"\""}},
        {"v100",
         "partition.slices=4",
         {".BBbb.CC.PPPPPP.", "ipoly 0x11b: 41..18,13,12,11,10,9,8,17,16"}},
        {"rtx3070", "gpu.partitions=32", {".PPPPP.b.", "ipoly 0x43: 30..13,12,11,10,9,8,7"}},
        {"rtx3070",
         "gpu.partitions=12",
         {".CCCC.b.CCCCCCC\"", "block: 256 B", "ipoly 0x25: 27..13,12,11,10,9,8"}},
        {"rtx3070", "partition.slices=1", {".PPPP.B.", "ipoly 0x13: 23..12,11,10,9,8"}},
        {"ccws", "gpu.partitions=6", {"block: 256 B", "  hash: \"\""}},
        {"v100", "dram.burst=16", {"tCCD: 8 cycles", "tCCDL: 8 cycles"}},
        {"h100", "dram.data_rate=8", {"burst: 8 beats", "derived: follows from dram.data_rate"}},
        {"v100",
         "shared.size=228KiB l1d.unified=256KiB",
         {"carve_outs: [0, 8, 16, 32, 64, 96, 228]"}},
    };
    Text text = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!load(rows[i].machine, rows[i].sets, &text))
            fail_msg("%s, %s: %s", rows[i].machine, rows[i].sets, text_string(&text));
        for (int part = 0; part < 4 && rows[i].parts[part]; part++)
            if (!strstr(text_string(&text), rows[i].parts[part]))
                fail_msg("%s, %s lacks %s", rows[i].machine, rows[i].sets, rows[i].parts[part]);
    }
    text_free(&text);
}

/* Two explicit values are never derived: the message names their keys. */
static void test_two_values_that_were_given_contradict_each_other(void **state) {
    (void)state;
    static const struct {
        const char *sets, *parts[3];
    } rows[] = {
        {"l2.size=1MiB l2.ways=20", {"l2.line x l2.ways", "change l2.ways"}},
        {"l2.ways=8",
         {"must be a power of two; change l2.ways or l2.size, for example l2.size=256KiB"}},
        {"l1d.size=128KiB l1d.unified=192KiB", {"l1d.unified: 196608 B, but l1d.size"}},
        {"dram.banks=32 map.bits=RRRRRRRRRRRRRRRRBBBCCbCCCCCCCC",
         {"dram.banks: 32, but map.bits", "change one of the two, for example dram.banks=16"}},
        {"dram.burst=4 dram.data_rate=8",
         {"not a whole number of ticks; for example dram.burst=8"}},
        {"dram.burst=16 dram.tCCD=2", {"dram.tCCD is below the ticks of a burst"}},
        {"l1c.size=640B l1c.ways=1 l1c.line=128B", {"make 5 sets", "l1c.size=512B"}},
        {"l1d.carve_outs=[0,64] shared.size=128KiB", {"add 128, in KiB, to l1d.carve_outs"}},
        {"shared.size=256KiB", {"l1d.unified, 256 KiB, has to hold that", "l1d.unified=512KiB"}},
        {"gpu.partitions=8 l2.persisting=20MiB",
         {"l2.persisting: 20971520 B of an L2 of 5242880 (l2.size x partition.slices x "
          "gpu.partitions)"}},
        {"l2.line=64B l2.set_hash=7",
         {"l2.set_hash: does not fit 256 sets of lines of 64 B (l2.size, l2.line, l2.ways)"}},
        {"scheduler.count=2 sm.subcores=4", {"sm.subcores: 4 for 2 schedulers (scheduler.count)"}},
    };
    Text text = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (load("h100", rows[i].sets, &text)) fail_msg("%s is taken", rows[i].sets);
        for (int part = 0; part < 3 && rows[i].parts[part]; part++)
            if (!strstr(text_string(&text), rows[i].parts[part]))
                fail_msg("%s lacks %s: %s", rows[i].sets, rows[i].parts[part], text_string(&text));
    }
    text_free(&text);
}

/* A file's values take precedence over those of its base, and --set over both. */
static void test_a_file_takes_its_base_along(void **state) {
    (void)state;
    static const char file[] = "base: h100\nname: mine\nl2:\n  size: 1 MiB\n";
    Diag *diag = diag_new();
    Text text = {0};
    Machine *machine = machine_parse("mine.yaml", file, sizeof file - 1, diag);
    assert_non_null(machine);
    if (!machine_finish(machine, diag)) fail_msg("%s", diag_text(diag));
    machine_print(machine, &text);
    assert_non_null(strstr(text_string(&text), "derived: follows from l2.size"));
    machine_free(machine);
    diag_free(diag);
    text_free(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shipped_machines_say_all_that_they_are),
        cmocka_unit_test(test_a_single_change_takes_along_what_follows),
        cmocka_unit_test(test_the_map_follows_channels_and_slices),
        cmocka_unit_test(test_two_values_that_were_given_contradict_each_other),
        cmocka_unit_test(test_a_file_takes_its_base_along),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
