/* Machine files: bounds and round trip of every row, every error, inheritance, and the papers'
 * values. */
#include "machine/machine_file.h"

#include <inttypes.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "cache/set_index.h"
#include "machine/machine_internal.h"
#include "machine/machine_rows.h"
#include "partition/request.h"

static Machine *load(const char *name) {
    Diag *diag = diag_new();
    Machine *machine = machine_load(name, diag);
    if (!machine) fail_msg("%s: %s", name, diag_text(diag));
    diag_free(diag);
    return machine;
}

static void assert_contains(const char *text, const char *part) {
    if (!strstr(text, part)) fail_msg("expected \"%s\" in:\n%s", part, text);
}

/* --- rows --- */

static void test_keys_are_unique_and_found(void **state) {
    (void)state;
    int count;
    const MachineRow *rows = machine_rows(&count);
    assert_in_range(count, 1, MACHINE_MAX_ROWS);
    for (int i = 0; i < count; i++)
        assert_ptr_equal(machine_find_row(rows[i].key, strlen(rows[i].key)), &rows[i]);
    assert_null(machine_find_row("l1d", 3));
    assert_null(machine_find_row("l1d.sizes", 9));
}

static void expect_refusal(const MachineRow *row, const char *value, const char *reason) {
    MachineConfig machine, before;
    memset(&machine, 0, sizeof machine);
    machine_init(&machine);
    before = machine;
    Text why = {0};
    if (machine_set_row(&machine, row, value, &why)) fail_msg("%s took '%s'", row->key, value);
    assert_contains(text_string(&why), reason);
    assert_memory_equal(&machine, &before, sizeof machine);
    text_free(&why);
}

static const char *smallest_unit(const MachineRow *row) {
    return row->type == MACHINE_BYTES ? " B" : row->type == MACHINE_FREQUENCY ? " kHz" : "";
}

static void test_every_row_refuses_what_is_out_of_bounds(void **state) {
    (void)state;
    int count;
    const MachineRow *rows = machine_rows(&count);
    for (int i = 0; i < count; i++) {
        const MachineRow *row = &rows[i];
        char value[300];
        if (row->type == MACHINE_STRING) {
            memset(value, 'x', row->high);
            value[row->high] = 0;
            expect_refusal(row, value, "must be shorter");
            expect_refusal(row, "a\"b", "quotes");
            expect_refusal(row, "a\nb", "printable");
            expect_refusal(row, "\xc2\x85", "printable");
            continue;
        }
        expect_refusal(row, "", "takes");
        expect_refusal(row, "owl", "takes");
        if (row->type == MACHINE_BOOL || row->type == MACHINE_CHOICE) continue;
        expect_refusal(row, "-1", "takes");
        expect_refusal(row, "1 parsec", "takes");
        snprintf(value, sizeof value, "%" PRIu64 "%s", (uint64_t)row->high + 1, smallest_unit(row));
        expect_refusal(row, value, "must be");
        if (!row->low) continue;
        snprintf(value, sizeof value, "%" PRIu32 "%s", row->low - 1, smallest_unit(row));
        expect_refusal(row, value, "must be");
    }
}

static void test_every_row_takes_its_bounds_and_reads_back(void **state) {
    (void)state;
    int count;
    const MachineRow *rows = machine_rows(&count);
    MachineConfig machine, again;
    machine_init(&machine);
    Text value = {0}, why = {0};
    for (int i = 0; i < count; i++) {
        const MachineRow *row = &rows[i];
        for (int end = 0; end < 2; end++) {
            uint32_t bound = end ? row->high : row->low;
            text_clear(&value);
            if (row->type == MACHINE_STRING) text_add(&value, end ? "gto" : "");
            else if (row->type == MACHINE_BOOL) text_add(&value, end ? "yes" : "no");
            else if (row->type == MACHINE_CHOICE) text_add(&value, row->choices[bound]);
            else text_printf(&value, "%" PRIu32 "%s", bound, smallest_unit(row));
            assert_true(machine_set_row(&machine, row, text_string(&value), &why));
            text_clear(&value);
            machine_format_row(&machine, row, &value);
            const char *written = text_string(&value);
            if (row->type == MACHINE_STRING) { /* the quotes are YAML's */
                value.bytes[value.length - 1] = 0;
                written++;
            }
            again = machine;
            machine_set_row(&again, row, row->initial, &why);
            assert_true(machine_set_row(&again, row, written, &why));
            assert_memory_equal(&again, &machine, sizeof machine);
        }
    }
    text_free(&value);
    text_free(&why);
}

static void test_units(void **state) {
    (void)state;
    const MachineRow *size = machine_find_row("l1d.size", 8),
                     *clock = machine_find_row("clock.sm", 8);
    const MachineRow *base = machine_find_row("fetch.code_base", 15);
    const MachineRow *latency = machine_find_row("l1d.latency", 11);
    MachineConfig machine;
    machine_init(&machine);
    Text why = {0};
    assert_true(machine_set_row(&machine, size, "64KiB", &why));
    assert_int_equal(machine.sm.l1d.size_bytes, 65536);
    assert_true(machine_set_row(&machine, size, "0.5 KiB", &why));
    assert_int_equal(machine.sm.l1d.size_bytes, 512);
    assert_true(machine_set_row(&machine, clock, "1.4 GHz", &why));
    assert_int_equal(machine.clock.sm_khz, 1400000);
    assert_true(machine_set_row(&machine, clock, "924.5 MHz", &why));
    assert_int_equal(machine.clock.sm_khz, 924500);
    assert_true(machine_set_row(&machine, base, "0x1000", &why));
    assert_int_equal(machine.sm.fetch.code_base, 4096);
    assert_true(machine_set_row(&machine, latency, "35 cycles", &why));
    assert_int_equal(machine.sm.l1d.latency, 35);
    text_free(&why);
    expect_refusal(size, "64", "takes bytes with their unit");
    expect_refusal(size, "64 KB", "takes bytes with their unit");
    expect_refusal(size, "64 MHz", "takes bytes with their unit");
    expect_refusal(size, "1.5 B", "takes bytes");
    expect_refusal(clock, "700", "takes a frequency with its unit");
    expect_refusal(clock, "64 KiB", "takes a frequency");
    expect_refusal(latency, "35 beats", "takes a whole number of cycles");
    expect_refusal(latency, "3.5", "takes a whole number of cycles");
}

/* A time is rounded to the nearest number of cycles of the run's clock. */
static void test_a_time_is_converted_by_the_clock(void **state) {
    (void)state;
    static const struct {
        const char *latency, *clock, *printed;
        uint32_t cycles;
    } rows[] = {
        {"500", "1980 MHz", "500 cycles", 500}, {"500 cycles", "1095 MHz", "500 cycles", 500},
        {"500 ns", "1980 MHz", "500 ns", 990},  {"500 ns", "1095 MHz", "500 ns", 548}, /* 547.5 */
        {"1.25 ns", "1 GHz", "1.25 ns", 1},     {"0.05ns", "10 GHz", "0.05 ns", 1},
        {"0 ns", "1 GHz", "0 cycles", 0},       {"1000000 ns", "10 GHz", "1000000 ns", 10000000},
    };
    const MachineRow *latency = machine_find_row("cta.launch_latency", 18),
                     *clock = machine_find_row("clock.sm", 8);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        MachineConfig machine;
        Text why = {0}, printed = {0};
        machine_init(&machine);
        assert_true(machine_set_row(&machine, latency, rows[i].latency, &why));
        assert_true(machine_set_row(&machine, clock, rows[i].clock, &why));
        machine_resolve(&machine);
        machine_format_row(&machine, latency, &printed);
        assert_int_equal(machine.cta.launch_cycles, rows[i].cycles);
        assert_string_equal(text_string(&printed), rows[i].printed);
        text_free(&printed);
        text_free(&why);
    }
    expect_refusal(latency, "500 us", "takes a whole number of cycles, or a time in ns");
    expect_refusal(latency, "0.5 cycles", "takes a whole number of cycles, or a time in ns");
    expect_refusal(latency, "1000000.001 ns", "must be 0 to 1000000 cycles or ns");
}

static void test_choices_are_those_of_the_units(void **state) {
    (void)state;
    const MachineRow *row = machine_find_row("dram.scheduler", 14);
    assert_int_equal(row->high + 1, DRAM_SCHEDULER_COUNT);
    for (int i = 0; i < DRAM_SCHEDULER_COUNT; i++) {
        MachineConfig machine;
        Text why = {0};
        machine_init(&machine);
        assert_true(machine_set_row(&machine, row, dram_scheduler_names[i], &why));
        assert_int_equal(machine.dram.scheduler, i);
    }
}

/* --- quirks --- */

static const MachineConfig *finish(Machine *machine) {
    Diag *diag = diag_new();
    const MachineConfig *config = machine_finish(machine, diag);
    if (!config) fail_msg("%s", diag_text(diag));
    diag_free(diag);
    return config;
}

/* The value of a key, in the format of a machine file. */
static void format_key(const MachineConfig *config, const char *key, Text *out) {
    const MachineRow *row = machine_find_row(key, strlen(key));
    if (!row) fail_msg("a table of quirks has %s, which is no key", key);
    text_clear(out);
    machine_format_row(config, row, out);
}

static bool is_quirk(const char *key) {
    const Quirk *quirk;
    for (int i = 0; (quirk = quirk_at(QUIRK_SIMULATOR_gpgpu_sim_4_2, i)) != NULL; i++)
        if (!strcmp(quirk->key, key)) return true;
    return false;
}

static void test_each_quirk_is_a_value_of_its_row(void **state) {
    (void)state;
    static const Quirk *const tables[] = {quirks_gpgpu_sim_4_2, quirks_gpgpu_sim_3_2,
                                          quirks_gpgpu_sim_3_1, quirks_gpgpu_sim_2_1};
    assert_int_equal(sizeof tables / sizeof *tables, QUIRK_SIMULATOR_COUNT);
    Text written = {0}, why = {0};
    for (int t = 0; t < QUIRK_SIMULATOR_COUNT; t++)
        for (const Quirk *quirk = tables[t]; quirk->key; quirk++) {
            MachineConfig config;
            machine_init(&config);
            if (!is_quirk(quirk->key)) fail_msg("%s is in no table of all", quirk->key);
            assert_true(*quirk->origin);
            if (!t) { /* the default's quirks are the rows' defaults */
                format_key(&config, quirk->key, &written);
                assert_string_equal(text_string(&written), quirk->value);
            }
            const MachineRow *row = machine_find_row(quirk->key, strlen(quirk->key));
            assert_true(machine_set_row(&config, row, quirk->value, &why));
            format_key(&config, quirk->key, &written);
            assert_string_equal(text_string(&written), quirk->value);
        }
    text_free(&written);
    text_free(&why);
}

static void expect_quirks(const MachineConfig *config, QuirkSimulator simulator) {
    Text written = {0};
    const Quirk *quirk;
    assert_int_equal(config->simulator, simulator);
    for (int i = 0; (quirk = quirk_at(simulator, i)) != NULL; i++) {
        format_key(config, quirk->key, &written);
        if (strcmp(text_string(&written), quirk->value))
            fail_msg("%s: %s is %s, not %s", config->name, quirk->key, text_string(&written),
                     quirk->value);
    }
    text_free(&written);
}

/* No shipped machine sets a quirk itself. */
static void test_a_machine_has_the_quirks_of_its_simulator(void **state) {
    (void)state;
    static const struct {
        const char *machine;
        QuirkSimulator simulator;
    } rows[] = {{"owl", QUIRK_SIMULATOR_gpgpu_sim_2_1},    {"ccws", QUIRK_SIMULATOR_gpgpu_sim_3_1},
                {"pro", QUIRK_SIMULATOR_gpgpu_sim_3_2},    {"md", QUIRK_SIMULATOR_gpgpu_sim_3_2},
                {"gtx480", QUIRK_SIMULATOR_gpgpu_sim_4_2}, {"h100", QUIRK_SIMULATOR_gpgpu_sim_4_2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Machine *machine = load(rows[i].machine);
        expect_quirks(finish(machine), rows[i].simulator);
        machine_free(machine);
    }
    for (int i = 0; i < machine_shipped_count(); i++) {
        Machine *machine = load(machine_shipped_name(i));
        const MachineConfig *config = finish(machine);
        expect_quirks(config, config->simulator);
        machine_free(machine);
    }
}

/* A simulator replaces all quirks of the base. A key of the same file takes precedence, wherever it
 * is. */
static void test_a_simulator_comes_before_the_keys_of_its_file(void **state) {
    (void)state;
    static const char text[] = "lsu:\n  loads_block: yes\nbase: owl\n"
                               "noc:\n  kind: mesh\nsimulator: gpgpu-sim-3.1\n";
    Diag *diag = diag_new();
    Machine *machine = machine_parse("f.yaml", text, sizeof text - 1, diag);
    if (!machine) fail_msg("%s", diag_text(diag));
    const MachineConfig *config = finish(machine);
    assert_true(config->sm.lsu.loads_block);
    assert_false(config->sm.lsu.stalls_pipeline);
    assert_false(config->dram.timing.forgets_writes); /* not in the table of 3.1 */
    assert_true(config->sm.l1d_own.stores_need_way);
    assert_true(machine_set(machine, "simulator=gpgpu-sim-3.1", diag));
    expect_quirks(finish(machine), QUIRK_SIMULATOR_gpgpu_sim_3_1);
    assert_true(machine_set(machine, "lsu.loads_block=yes", diag));
    assert_true(finish(machine)->sm.lsu.loads_block);
    assert_false(machine_set(machine, "simulator=gpgpu-sim-3", diag));
    assert_non_null(strstr(diag_text(diag), "simulator: takes gpgpu-sim-4.2, gpgpu-sim-3.2"));
    machine_free(machine);
    diag_free(diag);
}

/* --- constants --- */

static void expect_set(const char *machine_name, const char *assignment, const char *message) {
    Diag *diag = diag_new();
    Machine *machine = load(machine_name);
    MachineConfig before = *finish(machine);
    if (machine_set(machine, assignment, diag) != !message) fail_msg("%s", assignment);
    if (message && !strstr(diag_text(diag), message)) fail_msg("%s", diag_text(diag));
    assert_memory_equal(&before, finish(machine), sizeof before);
    machine_free(machine);
    diag_free(diag);
}

/* A file may contain the value of a constant, because older files have it as a parameter. */
static void test_a_constant_is_no_parameter(void **state) {
    (void)state;
    int count;
    const MachineRow *constants = machine_constants(&count);
    assert_int_equal(count, 25);
    for (int i = 0; i < count; i++) {
        char assignment[100];
        assert_null(machine_find_row(constants[i].key, strlen(constants[i].key)));
        snprintf(assignment, sizeof assignment, "%s=%s", constants[i].key, constants[i].initial);
        for (int m = 0; m < machine_shipped_count(); m++)
            expect_set(machine_shipped_name(m), assignment, NULL);
    }
    expect_set("owl", "l0i.sector=32B", "l0i.sector: is 0 B on every machine, and no parameter");
    expect_set("owl", "units.dp.issue_slots=2", "units.dp.issue_slots: is 1 on every machine");
    expect_set("owl", "lsu.caches_local=maybe", "lsu.caches_local: is yes on every machine");
}

/* --- files --- */

static const struct {
    const char *text, *message;
} bad_files[] = {
    {"", "a machine file holds sections"},
    {"just words", "f.yaml:1:1: error: a machine file holds sections"},
    {"- 1\n- 2\n", "f.yaml:1:1: error: a machine file holds sections"},
    {"l1d:\n  szie: 32 KiB\n",
     "f.yaml:2:9: error: l1d.szie: no such key; did you mean 'l1d.size'?"},
    {"zzzzzzzz: 1\n", "f.yaml:1:11: error: zzzzzzzz: no such key (docs/machine-parameters.md"},
    {"l1d: 32\n", "f.yaml:1:6: error: l1d is a section: it holds keys, not a value"},
    {"l1d:\n", "f.yaml:1:5: error: l1d is a section"},
    {"l1d:\n  size: 32\n",
     "f.yaml:2:9: error: l1d.size: takes bytes with their unit (B, KiB, MiB, GiB)"},
    {"l1d:\n  ways: 0\n", "f.yaml:2:9: error: l1d.ways: must be 1 to 512, not '0'"},
    {"l1d:\n  index: magic\n", "l1d.index: takes linear, fermi or summed, not 'magic'"},
    {"l1d: {replacement: mru}\n", "takes lru or fifo, not 'mru'"},
    {"lsu:\n  descends: perhaps\n", "lsu.descends: takes yes or no, not 'perhaps'"},
    {"noc: {memory_routers: 7x}\n", "noc.memory_routers: takes a list of at most 64 whole numbers"},
    {"noc: {memory_routers: [1, [2]]}\n", "a list holds a few plain values"},
    {"noc: {memory_routers: [576]}\n", "noc.memory_routers: must be 0 to 575"},
    {"l1d.ways: 4\nl1d:\n  ways: 8\n",
     "f.yaml:3:9: error: l1d.ways: given a second time, after line 1"},
    {"a: &x 1\nb: *x\n", "f.yaml:1:4: error: a machine file has no anchors, aliases or tags"},
    {"&a sm: {*a : 1}\n", "no anchors, aliases or tags"},
    {"sm: !!map {threads: 32}\n", "no anchors, aliases or tags"},
    {"sm: *nothing\n", "no anchors, aliases or tags"},
    {"? [sm]\n: 1\n", "a key is a plain word"},
    {"sm: {a: {b: {c: {d: {e: 1}}}}}\n", "nested deeper than any section"},
    {"sm: {threads: 32\n", "not YAML"},
    {"sm: 'unclosed\n", "not YAML"},
    {"sm:\n\tthreads: 32\n", "f.yaml:2:1: error: not YAML"},
    {"name: a\n---\nname: b\n", "a machine file is a single document"},
    {"name: \"a\\0b\"\n", "a value must not hold a NUL"},
    {"name: a\xff\n", "not YAML"},
    {"\x7f"
     "ELF\x01\x02",
     "not YAML"},
    {"base: [a]\n", "no machine '[a]'"},
    {"base: gtx490\n", "no machine 'gtx490'; did you mean 'gtx480'?"},
    {"base: zzzz\n", "no machine 'zzzz'; there are owl, ccws, pro, md, gtx480"},
    {"base: '-'\n", "f.yaml:1:7: error: base: must be a machine or a file"},
    {"base: none.yaml\n", "none.yaml: error: cannot be read: No such file"},
};

static void test_every_mistake_is_told(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof bad_files / sizeof *bad_files; i++) {
        Diag *diag = diag_new();
        const char *text = bad_files[i].text;
        assert_null(machine_parse("f.yaml", text, strlen(text), diag));
        assert_contains(diag_text(diag), bad_files[i].message);
        diag_free(diag);
    }
}

static void test_huge_and_many(void **state) {
    (void)state;
    size_t length = 300 * 1024;
    char *text = malloc(length);
    memset(text, '#', length);
    Diag *diag = diag_new();
    assert_null(machine_parse("f.yaml", text, length, diag));
    assert_contains(diag_text(diag), "longer than");
    diag_free(diag);
    memset(text, '[', 200 * 1024);
    diag = diag_new();
    assert_null(machine_parse("f.yaml", text, 200 * 1024, diag));
    assert_int_equal(diag_error_count(diag), 1);
    diag_free(diag);
    Text many = {0};
    for (int i = 0; i < 20000; i++)
        text_printf(&many, "k%d: 1\n", i);
    diag = diag_new();
    assert_null(machine_parse("f.yaml", text_string(&many), many.length, diag));
    assert_int_equal(diag_error_count(diag), DIAG_MAX_ERRORS);
    diag_free(diag);
    text_free(&many);
    free(text);
}

/* Writes `text` to a file in `folder`, and returns its path. */
static char *write_temporary(char *folder, const char *name, const char *text) {
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_true(text_write_file(path, text, strlen(text)));
    return path;
}

static void test_bases(void **state) {
    (void)state;
    char folder[] = "/tmp/tyto-machine-XXXXXX";
    assert_non_null(mkdtemp(folder));
    write_temporary(folder, "a.yaml", "base: owl\nl1d:\n  ways: 4 # tried\n");
    char *path = write_temporary(folder, "b.yaml", "base: a.yaml\nsm: {ctas: 3}\n");
    Machine *machine = load(path);
    assert_int_equal(machine->config.sm.l1d.ways, 4);
    assert_int_equal(machine->config.sm.ctas, 3);
    assert_int_equal(machine->config.sm.l1d.line_bytes, 64);
    assert_string_equal(machine->config.name, "b");
    assert_string_equal(machine->config.title, "");
    Text out = {0};
    machine_print(machine, &out);
    assert_contains(text_string(&out), "/a.yaml: tried");
    assert_contains(text_string(&out), "; owl: OWL table 1");
    text_free(&out);
    machine_free(machine);

    /* what follows from a value of the base is inherited with it */
    write_temporary(folder, "a.yaml", "base: rtx4090\nl2: {size: 128 KiB}\n");
    machine = load(write_temporary(folder, "b.yaml", "base: a.yaml\n"));
    Diag *good = diag_new();
    assert_non_null(machine_finish(machine, good));
    assert_int_not_equal(machine->config.partition.l2.ways, 24); /* those of rtx4090 */
    diag_free(good);
    machine_free(machine);
    write_temporary(folder, "a.yaml", "base: owl\nl1d:\n  ways: 4 # tried\n");

    /* only ASCII is printed, because YAML has line ends beyond it */
    machine = load(write_temporary(folder, "b.yaml", "sm:\n  ctas: 3 # a\xc3\xa9z\n"));
    machine_print(machine, &out);
    assert_contains(text_string(&out), "; a??z\n");
    text_free(&out);
    machine_free(machine);

    write_temporary(folder, "b.yaml", "base: a.yaml\n");
    path = write_temporary(folder, "a.yaml", "base: b.yaml\n");
    Diag *diag = diag_new();
    assert_null(machine_load(path, diag));
    assert_contains(diag_text(diag), "in a circle");
    diag_free(diag);
    unlink(path);
    unlink(write_temporary(folder, "b.yaml", ""));
    rmdir(folder);
}

static void test_a_renamed_key_is_found_by_its_old_name(void **state) {
    (void)state;
    Machine *machine = load("gtx480");
    Diag *diag = diag_new();
    assert_true(machine_set(machine, "partition.atom=64B", diag));
    assert_int_equal(machine->config.partition.l2_sector_bytes, 64);
    assert_false(machine_set(machine, "partition.ato=64B", diag));
    diag_free(diag);
    machine_free(machine);
}

static void test_a_renamed_value_is_taken(void **state) {
    (void)state;
    Machine *machine = load("gtx480");
    Diag *diag = diag_new();
    assert_true(machine_set(machine, "sm.instructions=sass", diag));
    assert_int_equal(machine->config.sm.instructions, SM_INSTRUCTIONS_LOWERED);
    assert_false(machine_set(machine, "sm.instructions=sas", diag));
    assert_contains(diag_text(diag), "takes ptx, lowered or machine");
    diag_free(diag);
    machine_free(machine);
}

static void test_set(void **state) {
    (void)state;
    Machine *machine = load("gtx480");
    Diag *diag = diag_new();
    assert_true(machine_set(machine, "l1d.size=64KiB", diag));
    assert_int_equal(machine->config.sm.l1d.size_bytes, 65536);
    assert_true(machine_set(machine, "scheduler.policy=two-level:group=6", diag));
    assert_string_equal(machine->config.sm.scheduler.policy, "two-level:group=6");
    assert_true(machine_set(machine, "noc.memory_routers=1,2, 3", diag));
    assert_int_equal(machine->config.network.memory_routers.count, 3);
    assert_int_equal(diag_error_count(diag), 0);
    assert_false(machine_set(machine, "l1d.size", diag));
    assert_false(machine_set(machine, "l1d.szie=64KiB", diag));
    assert_false(machine_set(machine, "=64KiB", diag));
    assert_false(machine_set(machine, "l1d.size=64", diag));
    assert_contains(diag_text(diag), "--set: error: 'l1d.size' is not key=value");
    assert_contains(diag_text(diag),
                    "--set: error: l1d.szie: no such key; did you mean 'l1d.size'?");
    Text out = {0};
    machine_print(machine, &out);
    assert_contains(text_string(&out), "L1 data cache: size of the data; --set");
    text_free(&out);
    diag_free(diag);
    machine_free(machine);
}

static const struct {
    const char *machine, *set[3], *message;
} contradictions[] = {
    {"gtx480", {"l1d.size=63KiB"}, "l1d.size: 64512 B in lines of 128 B and 4 ways make 126 sets"},
    {"gtx480",
     {"l1d.size=16000B"},
     "l1d.size: 16000 B is not a multiple of l1d.line x l1d.ways (128 B x 4)"},
    {"gtx480", {"l1d.line=96B"}, "l1d.line: 96 B is not a power of two"},
    {"gtx480", {"l1d.banks=3"}, "l1d.banks: 3 is not a power of two"},
    {"gtx480", {"l1d.bank=48B"}, "l1d.bank: 48 B is not a power of two"},
    {"gtx480",
     {"l1d.write=write-through", "l1d.write_allocate=validate"},
     "l1d.local_write: global stores are written through"},
    {"gtx480",
     {"l1d.write=write-through", "l1d.write_allocate=validate"},
     "l1d.sector: 128 B; up to 64 B can be written in part"},
    {"gtx480", {"l1d.write_allocate=beside"}, "l1d.write_allocate: beside is only for L2"},
    {"gtx480", {"l1d.local_write_allocate=beside"}, "l1d.write_allocate: beside is only for L2"},
    {"gtx480",
     {"l2.write_allocate=beside", "l2.miss_queue=2"},
     "l2.miss_queue: 2, but a store that misses (l2.write_allocate: beside) may send three"},
    {"gtx480",
     {"l1d.unified=64KiB", "l1d.size=16KiB"},
     "l1d.unified: 65536 B, but l1d.size, which is all of it"},
    {"gtx480", {"l1d.unified=16KiB"}, "l1d.carve_outs: 0 KiB at most, less than shared.size"},
    {"gtx480",
     {"l1d.unified=16KiB", "l1d.carve_outs=[8,4]"},
     "l1d.carve_outs: 4 after 8: the sizes must ascend"},
    {"gtx480",
     {"l1d.unified=16KiB", "l1d.carve_outs=[0,16]"},
     "l1d.carve_outs: 16 KiB of 16384 B (l1d.unified) leave the L1D no way"},
    {"gtx480", {"l1d.unified=16KiB", "l1d.flush=never"}, "l1d.flush: never, but a kernel's share"},
    {"gtx480", {"l1d.set_hash=11..8"}, "makes 4 bits, but 32 sets need 5"},
    {"gtx480", {"map.hash=9,8 ^ 14,7"}, "bit 7 lies within a block"},
    {"gtx480", {"map.hash=10..8,7"}, "bit 0 of the result must have address bit 8"},
    {"ccws", {"map.hash=10..8 ^ 20,19,6"}, "take in bit 6 of the address, within l1i.line"},
    {"ccws", {"map.bank_hash=15..13 ^ 20..18"}, "bit 0 of the result must have address bit"},
    {"gtx480", {"l2.sector=256B"}, "l2.sector: 256 B do not make 1, 2, 4 or 8 of a line of 128 B"},
    {"gtx480", {"l2.sector=24B"}, "l2.sector: 24 B do not make"},
    {"gtx480",
     {"l2.sector=64B", "partition.sector=32B"},
     "partition.sector: 32 B, but L2 is filled by 64 B"},
    {"gtx480",
     {"l1t.line=4KiB", "l1t.sector=16B", "l1t.size=96KiB"},
     "l1t.sector: 16 B do not make"},
    {"gtx480", {"l2.mshrs=4096", "l2.mshr_merges=16"}, "l2.mshrs: 4096 of 16 requests"},
    {"gtx480", {"sm.threads=1000"}, "sm.threads: 1000 is not a multiple of a warp's 32 lanes"},
    {"gtx480", {"sm.threads=32"}, "scheduler.count: 2 schedulers for 1 warps"},
    {"gtx480", {"sm.subcores=4", "scheduler.count=2"}, "sm.subcores: 4 for 2 schedulers"},
    {"gtx480",
     {"scheduler.count=3", "sm.subcores=3"},
     "sm.subcores: 3 for 3 schedulers (scheduler.count); 1, or one for each of 2 or 4"},
    {"gtx480", {"units.dp.shared_by=2"}, "units.dp.shared_by: 2 of 1 sub-cores"},
    {"qv100", {"units.dp.shared_by=3"}, "units.dp.shared_by: 3 of 4 sub-cores"},
    {"gtx480", {"l2.halves=2", "l2.enabled=no"}, "l2.halves: 2, but l2.enabled is no"},
    {"gtx480", {"l2.least_fetch=64B"}, "l2.least_fetch: 64 B, but l2.hints is no"},
    {"a100", {"l2.least_fetch=48B"}, "l2.least_fetch: 48 B is not a power of two"},
    {"gtx480", {"l2.halves=2", "l2.mshrs=1"}, "l2.mshrs: 1, but reads of the other half"},
    {"gtx480",
     {"l2.halves=2", "partition.slices=1", "gpu.partitions=5"},
     "l2.halves: 2 of 5 slices"},
    {"qv100", {"tensor.fp16=7"}, "tensor.fp16: 7 products a cycle; 0, or 8 at least"},
    {"gtx480", {"tensor.bit=64"}, "tensor.bit: 64 products a cycle, but units.tensor.count is 0"},
    {"gtx480", {"sm.registers=1024"}, "sm.registers: 1024 leave less than one for each of 1536"},
    {"gtx480", {"shared.banks=24"}, "shared.banks: 24 is not a power of two"},
    {"gtx480", {"shared.bank=6B"}, "shared.bank: 6 B is not a power of two"},
    {"gtx480", {"shared.conflict_lanes=20"}, "shared.conflict_lanes: 20 is neither"},
    {"gtx480", {"lsu.coalesced_lanes=20"}, "lsu.coalesced_lanes: 20 is neither"},
    {"gtx480", {"lsu.least_segment=48B"}, "lsu.least_segment: 48 B is neither 0 nor"},
    {"gtx480", {"lsu.least_segment=8B"}, "lsu.least_segment: 8 B is neither 0 nor"},
    {"gtx480", {"lsu.bypass_segment=48B"}, "lsu.bypass_segment: 48 B is not a power of two"},
    {"gtx480", {"fetch.instruction=64B", "fetch.width=4"}, "fetch.width: 4 instructions of 64 B"},
    {"gtx480", {"units.sfu.count=0"}, "units.sfu.count: 0, but instructions are sent there"},
    {"gtx480", {"units.ldst.count=0"}, "units.ldst.count: 0, but instructions are sent there"},
    {"gtx480", {"ops.fp64_mad.unit=dp"}, "units.dp.count: 0, but instructions are sent there"},
    {"gtx480", {"units.sp.count=0", "ops.fp32_mul.unit=sp-or-sfu"}, "units.sp.count: 0, but"},
    {"gtx480", {"units.sp.lanes=12"}, "units.sp.lanes: 12 does not divide a warp's 32"},
    {"gtx480", {"partition.slices=3"}, "partition.slices: 3 is not a power of two"},
    {"gtx480",
     {"partition.slices=4", "map.bits=RRRRRRRRRRRR.BBB.CCCC.b.CCCCCCCC"},
     "partition.slices: 4, but map.bits"},
    {"gtx480", {"partition.sector=48B"}, "partition.sector: 48 B is not a power of two"},
    {"gtx480", {"l2.enabled=no"}, "l2.filled_by_copies: yes, but l2.enabled is no"},
    {"gtx480", {"l2.allocate=on-fill"}, "l2.allocate: on-fill is for lines without sectors"},
    {"gtx480", {"l2.store_mshrs=yes"}, "l2.store_mshrs: yes needs l2.allocate: on-fill"},
    {"gtx480", {"partition.write_backs_first=yes"}, "partition.write_backs_first: yes needs l2"},
    {"owl", {"l2.write_allocate=fetch"}, "l2.allocate: on-fill is for l2.write: write-back and"},
    {"owl", {"l2.hints=yes"}, "l2.allocate: on-fill is for an L2 without l2.hints"},
    {"owl", {"l2.halves=2"}, "l2.allocate: on-fill is for an L2 without l2.halves"},
    {"owl", {"partition.port_moves_victims=yes"}, "l2.allocate: on-fill is for an L2 without part"},
    {"owl", {"l1t.latency=10"}, "lsu.textures_in_order: yes, but l1t.latency is 10, not 0"},
    {"owl", {"l2.mshr_requests=0"}, "l2.mshrs: 4096 of 4096 requests (l2.mshr_merges) are over"},
    {"gtx480",
     {"map.bits=RRRRRRRRRRRR.BBB.CCCCCC.b.CCCCCC"},
     "map.bits: \"RRRRRRRRRRRR.BBB.CCCCCC.b.CCCCCC\" keeps 64 B together in a row, but l1i.line"},
    {"gtx480", {"l1d.line=512B"}, "map.block: 256 B is less than l1d.line, 512 B"},
    {"gtx480", {"noc.injection_flits=3"}, "noc.injection_flits: 120 B of queue"},
    {"gtx480", {"gpu.sms=570"}, "noc: nodes is 582"},
    {"gtx480", {"map.bits=RRRQ"}, "'Q': not one of"},
    {"gtx480", {"map.block=0B"}, "gpu.partitions: 6, but map.bits"},
    {"gtx480",
     {"dram.banks=8", "map.bits=RRRRRRRRRRRR.BBB.CCCC.b.CCCCCCCC"},
     "dram.banks: 8, but map.bits"},
    {"gtx480",
     {"dram.row=2KiB", "map.bits=RRRRRRRRRRRR.BBB.CCCC.b.CCCCCCCC"},
     "dram.row: 2048, but map.bits"},
    {"gtx480", {"dram.burst=6"}, "dram.burst of 6 beats"},
    {"gtx480", {"dram.tRC=20"}, "tRC"},
    {"gtx480", {"dram.tRAS=10 ns"}, "tRAS is below tRCD"},
    {"owl", {"noc.rows=5"}, "noc: a mesh of 6 x 5 routers"},
    {"owl", {"noc.memory_routers=1,2,3"}, "noc.memory_routers: 3 routers for 8 slices"},
    {"owl", {"noc.memory_routers=1,1,2,3,4,5,6,7"}, "which another node has"},
    {"owl",
     {"gpu.partitions=4", "noc.memory_routers=[1,2,3,4]",
      "map.bits=RRRRRRRRRRRRRRRR.PPP.BB.CCCCCCCCCCC"},
     "gpu.partitions: 4, but map.bits"},
};

static void test_every_contradiction_is_told(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof contradictions / sizeof *contradictions; i++) {
        Machine *machine = load(contradictions[i].machine);
        Diag *diag = diag_new();
        for (int s = 0; s < 3 && contradictions[i].set[s]; s++)
            assert_true(machine_set(machine, contradictions[i].set[s], diag));
        if (machine_finish(machine, diag)) fail_msg("%s was accepted", contradictions[i].set[0]);
        assert_contains(diag_text(diag), contradictions[i].message);
        diag_free(diag);
        machine_free(machine);
    }
}

static void test_every_caches_sets_are_checked(void **state) {
    (void)state;
    int count, caches = 0;
    const MachineRow *rows = machine_rows(&count);
    for (int i = 0; i < count; i++) {
        const char *dot = strrchr(rows[i].key, '.');
        if (!dot || strcmp(dot, ".mshr_merges") != 0) continue;
        int length = (int)(dot - rows[i].key);
        char line[64], reason[64];
        snprintf(line, sizeof line, "%.*s.line=96B", length, rows[i].key);
        snprintf(reason, sizeof reason, "%.*s.line: 96 B is not a power of two", length,
                 rows[i].key);
        Machine *machine = load("gtx480");
        Diag *diag = diag_new();
        assert_true(machine_set(machine, line, diag));
        if (machine_finish(machine, diag)) fail_msg("%s was accepted", line);
        assert_contains(diag_text(diag), reason);
        diag_free(diag);
        machine_free(machine);
        caches++;
    }
    assert_int_equal(caches, 7);
}

/* --- the shipped machines --- */

static void test_shipped_machines_are_sound_and_read_back(void **state) {
    (void)state;
    assert_true(machine_shipped_count() > 1);
    for (int i = 0; i < machine_shipped_count(); i++) {
        Machine *machine = load(machine_shipped_name(i));
        Diag *diag = diag_new();
        if (!machine_finish(machine, diag)) fail_msg("%s", diag_text(diag));
        assert_string_equal(machine->config.name, machine_shipped_name(i));
        Text first = {0}, second = {0};
        machine_print(machine, &first);
        Machine *again = machine_parse("again.yaml", text_string(&first), first.length, diag);
        assert_non_null(again);
        assert_non_null(machine_finish(again, diag));
        assert_memory_equal(&again->config, &machine->config, sizeof machine->config);
        machine_print(again, &second);
        assert_string_equal(text_string(&second), text_string(&first));
        text_free(&first);
        text_free(&second);
        machine_free(again);
        machine_free(machine);
        diag_free(diag);
    }
}

static const struct {
    const char *machine, *key, *value;
} paper_values[] = {
    {"owl", "gpu.sms", "28"},
    {"owl", "clock.sm", "1300 MHz"},
    {"owl", "sm.threads", "1024"},
    {"owl", "sm.registers", "32768"},
    {"owl", "shared.size", "32 KiB"},
    {"owl", "l1d.size", "32 KiB"},
    {"owl", "l1d.ways", "8"},
    {"owl", "l1d.line", "64 B"},
    {"owl", "l1d.write", "write-back"},
    {"owl", "l1d.mshrs", "32"},
    {"owl", "lsu.mshrs", "32"},
    {"owl", "lsu.textures_in_order", "yes"},
    {"owl", "l2.allocate", "on-fill"},
    {"owl", "l2.store_mshrs", "yes"},
    {"owl", "partition.write_backs_first", "yes"},
    {"owl", "dram.mask", "8 B"},
    {"owl", "l1t.size", "8 KiB"},
    {"owl", "l1t.ways", "4"},
    {"owl", "l1c.size", "8 KiB"},
    {"owl", "l1c.ways", "4"},
    {"owl", "l2.size", "512 KiB"},
    {"owl", "l2.ways", "16"},
    {"owl", "l2.line", "64 B"},
    {"owl", "noc.kind", "mesh"},
    {"owl", "clock.noc", "650 MHz"},
    {"owl", "noc.flit", "32 B"},
    {"owl", "gpu.partitions", "8"},
    {"owl", "dram.queue", "128"},
    {"owl", "dram.banks", "4"},
    {"owl", "dram.row", "2 KiB"},
    {"owl", "clock.dram", "800 MHz"},
    {"owl", "dram.tCDLR", "6 cycles"},
    {"owl", "dram.tWR", "11 cycles"},
    {"owl", "dram.tRRD", "8 cycles"},
    {"ccws", "clock.sm", "325 MHz"},
    {"ccws", "units.sp.lanes", "32"},
    {"ccws", "gpu.sms", "30"},
    {"ccws", "noc.sms_per_port", "3"},
    {"ccws", "sm.threads", "1024"},
    {"ccws", "sm.registers", "16384"},
    {"ccws", "shared.size", "16 KiB"},
    {"ccws", "l1d.size", "32 KiB"},
    {"ccws", "l1d.line", "128 B"},
    {"ccws", "l1d.ways", "8"},
    {"ccws", "l1d.mshrs", "16"},
    {"ccws", "l1d.index", "summed"},
    {"ccws", "l1d.hit_latency", "10 cycles"},
    {"ccws", "l2.write", "write-evict"},
    {"ccws", "dram.banks", "8"},
    {"ccws", "l1d.write", "write-evict"},
    {"ccws", "l1t.size", "32 KiB"},
    {"ccws", "l1t.ways", "16"},
    {"ccws", "l2.size", "128 KiB"},
    {"ccws", "dram.queue", "32"},
    {"ccws", "dram.tRC", "35 cycles"},
    {"pro", "gpu.sms", "14"},
    {"pro", "scheduler.count", "2"},
    {"pro", "l1d.size", "16 KiB"},
    {"pro", "l1d.index", "linear"},
    {"pro", "noc.internal_steps", "1"},
    {"pro", "scheduler.alternates", "no"},
    {"pro", "dram.bank_groups", "2"},
    {"pro", "dram.groups_lie_together", "yes"},
    {"pro", "dram.tRTPL", "2 cycles"},
    {"pro", "partition.port_moves_victims", "yes"},
    {"pro", "noc.ejection_flits", "24"},
    {"pro", "partition.dram_credits", "133"},
    {"md", "gpu.sms", "15"},
    {"md", "clock.sm", "700 MHz"},
    {"md", "l1d.mshrs", "32"},
    {"md", "l2.enabled", "no"},
    {"md", "gpu.partitions", "6"},
    {"md", "partition.slices", "2"},
    {"md", "dram.queue", "16"},
    {"md", "dram.replies", "116"},
    {"md", "noc.internal_steps", "1"},
    {"md", "l1d.index", "linear"},
    {"md", "l1d.ways", "4"},
    {"md", "dram.tRC", "40 cycles"},
    {"gtx480", "dram.queue", "64"},
    {"gtx480", "l1d.latency", "35 cycles"},
    {"gtx480", "ops.fp64_div.initiation", "130 cycles"},
    {"gtx480", "partition.rop_latency", "120 cycles"},
};

static void test_machines_are_the_papers(void **state) {
    (void)state;
    Text value = {0};
    for (size_t i = 0; i < sizeof paper_values / sizeof *paper_values; i++) {
        Machine *machine = load(paper_values[i].machine);
        const char *key = paper_values[i].key;
        text_clear(&value);
        machine_format_row(&machine->config, machine_find_row(key, strlen(key)), &value);
        if (strcmp(text_string(&value), paper_values[i].value))
            fail_msg("%s %s is %s", paper_values[i].machine, key, text_string(&value));
        machine_free(machine);
    }
    text_free(&value);
}

enum { LINES_SPREAD = 1 << 18 }; /* consecutive lines: several for each set of any machine */

static void expect_every_set(const MachineConfig *config) {
    AddressMap map = machine_address_map(config);
    const CacheConfig *l2 = &config->partition.l2;
    uint32_t sets = cache_config_sets(l2), slices = map.channels * map.slices_per_channel, idle = 0;
    char text[CACHE_INDEX_BYTES];
    SetIndex index;
    Diag *diag = diag_new();
    cache_config_set_index(l2, machine_slice_bits(config), text);
    assert_true(set_index_init(&index, text, sets, l2->line_bytes, diag));
    uint32_t *lines = calloc((size_t)slices * sets, sizeof *lines);
    for (uint64_t i = 0, address = 0; i < LINES_SPREAD; i++, address += l2->line_bytes) {
        uint32_t slice = address_map_place(&map, address).slice;
        lines[slice * sets + set_index_of(&index, address_map_local(&map, address))]++;
    }
    for (uint32_t i = 0; i < slices * sets; i++)
        idle += !lines[i];
    if (idle) fail_msg("%s, sets by %s: %u are never used", config->name, text, idle);
    free(lines);
    diag_free(diag);
}

/* The set hash leaves out the bits that select the slice, otherwise some sets would never be
 * used. */
static void test_a_slice_uses_all_of_its_sets(void **state) {
    (void)state;
    static const char *const functions[] = {NULL, "linear", "fermi", "summed"};
    for (int i = 0; i < machine_shipped_count(); i++)
        for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
            char set[64];
            Diag *diag = diag_new();
            Machine *machine = machine_load(machine_shipped_name(i), diag);
            snprintf(set, sizeof set, "l2.index=%s", functions[f] ? functions[f] : "");
            if (functions[f])
                assert_true(machine_set(machine, set, diag) &&
                            machine_set(machine, "l2.set_hash=", diag));
            const MachineConfig *config = machine_finish(machine, diag);
            assert_non_null(config);
            if (config->partition.has_l2) expect_every_set(config);
            machine_free(machine);
            diag_free(diag);
        }
}

/* The peak of a channel's bus. */
static uint32_t peak_bytes_per_tick(const Machine *machine) {
    return machine->config.dram.bus_bytes * machine->config.dram.data_rate;
}

/* The data rate in CCWS table 1, 8 B per DRAM cycle, and GTX480's 177 GB/s. */
static void test_bandwidths(void **state) {
    (void)state;
    Machine *ccws = load("ccws"), *owl = load("owl"), *md = load("md"), *gtx480 = load("gtx480");
    assert_int_equal(peak_bytes_per_tick(ccws), 8);
    assert_int_equal(peak_bytes_per_tick(owl), 16);
    assert_int_equal(6 * peak_bytes_per_tick(md), 192);
    assert_int_equal(6 * peak_bytes_per_tick(gtx480), 192);
    machine_free(ccws);
    machine_free(owl);
    machine_free(md);
    machine_free(gtx480);
}

/* Examples of the GTX480 model's address map: byte address to channel, slice, bank, row, column. */
static void test_gtx480_address_map(void **state) {
    (void)state;
    Machine *machine = load("gtx480");
    Diag *diag = diag_new();
    AddressMap map = machine_address_map(machine_finish(machine, diag));
    static const struct {
        uint64_t address;
        DramPlace place;
    } examples[] = {
        {0xC0000000, {0, 0, 0, 0, 0}},
        {0xC0000100, {1, 2, 0, 0, 0}},
        {0xC0000600, {0, 1, 1, 0, 0}},
        {0xC0012340, {3, 6, 2, 0, 0x840}},
    };
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        DramPlace place = address_map_place(&map, examples[i].address);
        assert_memory_equal(&place, &examples[i].place, sizeof place);
    }
    diag_free(diag);
    machine_free(machine);
}

static uint32_t set_of(const CacheConfig *cache, uint64_t skipped, uint64_t address) {
    char text[CACHE_INDEX_BYTES];
    cache_config_set_index(cache, skipped, text);
    SetIndex index;
    Diag *diag = diag_new();
    if (!set_index_init(&index, text, cache_config_sets(cache), cache->line_bytes, diag))
        fail_msg("%s", diag_text(diag));
    diag_free(diag);
    return set_index_of(&index, address);
}

/* The L1D's function, and the L2 set of the address map's last example: set 48. */
static void test_gtx480_sets(void **state) {
    (void)state;
    Machine *machine = load("gtx480");
    Diag *diag = diag_new();
    const MachineConfig *config = machine_finish(machine, diag);
    const CacheConfig *l1d = &config->sm.l1d;
    assert_int_equal(set_of(l1d, 0, 1 << 7), 1);
    assert_int_equal(set_of(l1d, 0, 1 << 11), 16);
    assert_int_equal(set_of(l1d, 0, 1 << 12), 0);
    assert_int_equal(set_of(l1d, 0, 1 << 13), 1);
    assert_int_equal(set_of(l1d, 0, 1 << 15), 4);
    assert_int_equal(set_of(l1d, 0, 1 << 17), 8);
    assert_int_equal(set_of(l1d, 0, 1 << 19), 16);
    AddressMap map = machine_address_map(config);
    uint64_t local = address_map_local(&map, 0xC0012340);
    assert_int_equal(machine_slice_bits(config), 0x100);
    assert_int_equal(set_of(&config->partition.l2, machine_slice_bits(config), local), 48);
    assert_true(machine_set(machine, "l1d.size=8KiB", diag));
    assert_int_equal(set_of(l1d, 0, 1 << 17), 8);
    assert_int_equal(set_of(l1d, 0, 1 << 19), 0);
    assert_true(machine_set(machine, "l1d.size=128KiB", diag));
    assert_int_equal(set_of(l1d, 0, 1 << 14), 0x82);
    diag_free(diag);
    machine_free(machine);
}

static void test_mesh_nodes(void **state) {
    (void)state;
    Machine *machine = load("owl");
    Diag *diag = diag_new();
    const MachineConfig *config = machine_finish(machine, diag);
    assert_int_equal(config->network.noc.nodes, 36);
    assert_int_equal(machine_slice_node(config, 0), 28);
    assert_int_equal(config->network.noc.placement[28], 3);
    assert_int_equal(config->network.noc.placement[35], 32);
    assert_int_equal(config->network.noc.placement[0], 0);
    assert_int_equal(config->network.noc.placement[3], 4);
    diag_free(diag);
    machine_free(machine);
}

static void test_ports_that_sms_share_are_the_networks_first_nodes(void **state) {
    (void)state;
    Machine *machine = load("ccws");
    Diag *diag = diag_new();
    const MachineConfig *config = machine_finish(machine, diag);
    assert_int_equal(machine_ports(config), 10);
    assert_int_equal(machine_slice_node(config, 0), 10);
    assert_int_equal(config->network.noc.nodes, 18);
    assert_int_equal(mem_port(0, 10), 0);
    assert_int_equal(mem_port(19, 10), 9);
    assert_int_equal(mem_port(20, 10), 0);
    assert_true(machine_set(machine, "gpu.sms=31", diag)); /* the last port has one SM */
    assert_int_equal(machine_ports(config), 11);
    assert_true(machine_set(machine, "gpu.sms=2", diag));
    assert_int_equal(machine_ports(config), 1);
    diag_free(diag);
    machine_free(machine);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys_are_unique_and_found),
        cmocka_unit_test(test_every_row_refuses_what_is_out_of_bounds),
        cmocka_unit_test(test_every_row_takes_its_bounds_and_reads_back),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_a_time_is_converted_by_the_clock),
        cmocka_unit_test(test_choices_are_those_of_the_units),
        cmocka_unit_test(test_each_quirk_is_a_value_of_its_row),
        cmocka_unit_test(test_a_machine_has_the_quirks_of_its_simulator),
        cmocka_unit_test(test_a_simulator_comes_before_the_keys_of_its_file),
        cmocka_unit_test(test_a_constant_is_no_parameter),
        cmocka_unit_test(test_every_mistake_is_told),
        cmocka_unit_test(test_huge_and_many),
        cmocka_unit_test(test_bases),
        cmocka_unit_test(test_a_renamed_value_is_taken),
        cmocka_unit_test(test_set),
        cmocka_unit_test(test_every_contradiction_is_told),
        cmocka_unit_test(test_every_caches_sets_are_checked),
        cmocka_unit_test(test_shipped_machines_are_sound_and_read_back),
        cmocka_unit_test(test_machines_are_the_papers),
        cmocka_unit_test(test_a_slice_uses_all_of_its_sets),
        cmocka_unit_test(test_bandwidths),
        cmocka_unit_test(test_gtx480_address_map),
        cmocka_unit_test(test_gtx480_sets),
        cmocka_unit_test(test_a_renamed_key_is_found_by_its_old_name),
        cmocka_unit_test(test_mesh_nodes),
        cmocka_unit_test(test_ports_that_sms_share_are_the_networks_first_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
