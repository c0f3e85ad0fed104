/* Writes a machine as a file, and the parameter table as a page. */
#include "machine/machine_file.h"

#include <string.h>

#include "machine/machine_internal.h"
#include "machine/machine_rows.h"
#include "machine/machine_totals.h"

/* Opens the sections of `key` that are not open after `previous`; returns the key's last part. */
static const char *open_sections(const char *key, const char *previous, Text *out) {
    int depth = 0;
    bool is_open = true;
    for (const char *dot; (dot = strchr(key, '.')); key = dot + 1, depth++) {
        size_t length = (size_t)(dot - key) + 1;
        if (is_open && strncmp(key, previous, length)) {
            is_open = false;
            if (!depth) text_add(out, "\n");
        }
        if (is_open) previous += length;
        else text_printf(out, "%*s%.*s:\n", depth * 2, "", (int)length - 1, key);
    }
    text_printf(out, "%*s", depth * 2, "");
    return key;
}

void machine_print(const Machine *machine, Text *out) {
    int count;
    const MachineRow *rows = machine_rows(&count);
    const char *previous = "";
    Text value = {0};
    text_printf(out, "# The machine %s with every parameter, and where each value is from.\n",
                machine->config.name);
    machine_add_totals(&machine->config, out);
    for (int i = 0; i < count; i++) {
        const char *name = open_sections(rows[i].key, previous, out);
        const char *origin = machine->origins[i] ? machine->origins[i] : "default";
        text_clear(&value);
        machine_format_row(&machine->config, &rows[i], &value);
        int padding = 30 - (int)strlen(name);
        text_printf(out, "%s: %*s  # %s; %s\n", name, -padding, text_string(&value),
                    rows[i].meaning, origin);
        previous = rows[i].key;
    }
    text_free(&value);
}

void machine_write_values(const Machine *machine, Text *out) {
    static const char *const names[] = {"name", "title"};
    int count;
    const MachineRow *rows = machine_rows(&count);
    for (int i = 0; i < count; i++) {
        if (!strcmp(rows[i].key, names[0]) || !strcmp(rows[i].key, names[1])) continue;
        text_printf(out, "%s ", rows[i].key);
        machine_format_row(&machine->config, &rows[i], out);
        text_add(out, "\n");
    }
}

static void document_constants(Text *out) {
    int count;
    const MachineRow *constants = machine_constants(&count);
    text_add(out, "\n## constants\n\nThese have one value on every machine. A file may only "
                  "contain that value.\n\n"
                  "| key | value | meaning |\n|---|---|---|\n");
    for (int i = 0; i < count; i++)
        text_printf(out, "| `%s` | %s | %s |\n", constants[i].key, constants[i].initial,
                    constants[i].meaning);
}

/* The table of all quirks with their values for each simulator. */
static void document_quirks(Text *out) {
    const Quirk *quirk;
    text_add(out, "\n## quirks\n\nValues that `simulator` sets. The tables are "
                  "`src/machine/quirks_*.c`.\n\n| key |");
    for (int s = 0; s < QUIRK_SIMULATOR_COUNT; s++)
        text_printf(out, " %s |", quirk_simulator_names[s]);
    text_add(out, "\n|---|");
    for (int s = 0; s < QUIRK_SIMULATOR_COUNT; s++)
        text_add(out, "---|");
    for (int i = 0; (quirk = quirk_at((QuirkSimulator)0, i)) != NULL; i++) {
        text_printf(out, "\n| `%s` |", quirk->key);
        for (int s = 0; s < QUIRK_SIMULATOR_COUNT; s++)
            text_printf(out, " %s |", quirk_at((QuirkSimulator)s, i)->value);
    }
    text_add(out, "\n");
}

void machine_document(Text *out) {
    int count;
    const MachineRow *rows = machine_rows(&count);
    text_add(
        out,
        "# Machine parameters\n\n"
        "Generated from the parameter table (`src/machine/machine_rows.c`); "
        "[machines.md](machines.md) describes the files.\n"
        "Cycles are cycles of the unit's own clock: SM cycles up to the network, L2 cycles "
        "for partitions and L2, DRAM cycles for DRAM.\n\n"
        "A value is a parameter if shipped machines differ in it, or if a test, an experiment or "
        "a study varies it. So are values that researchers vary: sizes, counts, latencies, "
        "replacement, and the pipeline of an operation.\nA value that reproduces one historic "
        "simulator is a [quirk](#quirks); `simulator` sets all quirks. Other values are "
        "[constants](#constants).\n");
    size_t section = 0;
    const char *previous = "";
    for (int i = 0; i < count; i++) {
        const char *dot = strchr(rows[i].key, '.');
        size_t length = dot ? (size_t)(dot - rows[i].key) : 0;
        if (i == 0 || length != section || strncmp(rows[i].key, previous, length)) {
            text_printf(out,
                        "\n## %.*s\n\n| key | values | default | meaning |\n|---|---|---|---|\n",
                        length ? (int)length : 7, length ? rows[i].key : "machine");
            section = length;
            previous = rows[i].key;
        }
        text_printf(out, "| `%s` | ", rows[i].key);
        machine_describe_row(&rows[i], out);
        text_printf(out, " | %s | %s |\n", rows[i].initial, rows[i].meaning);
    }
    document_quirks(out);
    document_constants(out);
}
