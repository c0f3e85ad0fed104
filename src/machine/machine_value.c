/* Reads and writes one value of a machine file, according to the type of its row. */
#include "machine/machine_rows.h"

#include <stdlib.h>
#include <string.h>

typedef struct Unit {
    const char *name;
    uint64_t factor;
} Unit;

static const Unit byte_units[] = {
    {"GiB", 1024 * 1024 * 1024}, {"MiB", 1024 * 1024}, {"KiB", 1024}, {"B", 1}, {NULL, 0}};
static const Unit mebibyte_units[] = {{"GiB", 1024}, {"MiB", 1}, {"", 1}, {NULL, 0}};
static const Unit frequency_units[] = {{"GHz", 1000000}, {"MHz", 1000}, {"kHz", 1}, {NULL, 0}};

static void *field_of(MachineConfig *machine, const MachineRow *row) {
    return (char *)machine + row->offset;
}

static const void *const_field_of(const MachineConfig *machine, const MachineRow *row) {
    return (const char *)machine + row->offset;
}

static uint32_t number_of(const MachineConfig *machine, const MachineRow *row) {
    uint32_t number;
    memcpy(&number, const_field_of(machine, row), sizeof number);
    return number;
}

static const Unit *units_of(const MachineRow *row) {
    if (row->type == MACHINE_BYTES) return byte_units;
    if (row->type == MACHINE_FREQUENCY) return frequency_units;
    return NULL;
}

/* Adds `number` with the largest unit that needs no fraction; frequencies in MHz. */
static void add_number(const MachineRow *row, uint32_t number, Text *out) {
    if (row->type == MACHINE_ADDRESS) {
        text_printf(out, "0x%x", number);
    } else if (row->type == MACHINE_FREQUENCY) {
        text_printf(out, "%u", number / 1000);
        if (number % 1000) text_printf(out, ".%03u", number % 1000);
        text_add(out, " MHz");
    } else if (row->type == MACHINE_BYTES) {
        const Unit *unit = byte_units;
        while (unit->factor > 1 && (number == 0 || number % unit->factor))
            unit++;
        text_printf(out, "%u %s", (uint32_t)(number / unit->factor), unit->name);
    } else {
        text_printf(out, "%u", number);
        if (*row->unit) text_printf(out, " %s", row->unit);
    }
}

/* What the row accepts, for an error: "takes bytes, as in 64 KiB". */
static void add_expected(const MachineRow *row, Text *why) {
    switch (row->type) {
    case MACHINE_BYTES:
        text_add(why, "takes bytes with their unit (B, KiB, MiB, GiB), as in 64 KiB");
        break;
    case MACHINE_FREQUENCY:
        text_add(why, "takes a frequency with its unit (kHz, MHz, GHz), as in 700 MHz");
        break;
    case MACHINE_BOOL: text_add(why, "takes yes or no"); break;
    case MACHINE_TIME:
        text_printf(why, "takes a whole number of %s, or a time in ns", row->unit);
        break;
    case MACHINE_LIST:
        text_printf(why, "takes a list of at most %d whole numbers, as in [1, 2]",
                    PARAMETER_MAX_LIST);
        break;
    case MACHINE_ADDRESS: text_add(why, "takes an address, as in 0xf0000000"); break;
    case MACHINE_CHOICE:
        text_add(why, "takes ");
        for (uint32_t i = 0; i <= row->high; i++)
            text_printf(why, "%s%s", i == 0 ? "" : i < row->high ? ", " : " or ", row->choices[i]);
        break;
    default:
        text_add(why, "takes a whole number");
        if (!strcmp(row->unit, "MiB")) text_add(why, " of MiB or GiB");
        else if (*row->unit) text_printf(why, " of %s", row->unit);
        break;
    }
}

static bool refuse(const MachineRow *row, const char *value, Text *why) {
    add_expected(row, why);
    text_printf(why, ", not '%.40s'", value);
    return false;
}

/* Reads a decimal number with up to three decimals, or a hexadecimal one, in thousandths; `end` is
 * set to the rest of the text. Returns false if there is none, or if it cannot be a parameter (over
 * 2^40). */
static bool read_thousandths(const char *text, uint64_t *thousandths, const char **end) {
    if (*text < '0' || *text > '9') return false;
    bool is_hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    char *after;
    unsigned long long whole = strtoull(text, &after, is_hexadecimal ? 16 : 10);
    if (whole > UINT64_C(1) << 40) return false;
    *thousandths = whole * 1000;
    if (*after == '.' && !is_hexadecimal) {
        after++;
        for (uint64_t place = 100; place && *after >= '0' && *after <= '9'; place /= 10)
            *thousandths += place * (uint64_t)(*after++ - '0');
    }
    *end = after;
    return true;
}

/* The unit after a number, or "". */
static const char *unit_in(const char *text) { return text + strspn(text, " "); }

/* The factor of the unit in `text` after a number; 0 if it is not one of the row's units. */
static uint64_t read_unit(const MachineRow *row, const char *text) {
    text = unit_in(text);
    const Unit *units = strcmp(row->unit, "MiB") ? units_of(row) : mebibyte_units;
    if (!units) return !*text || (*row->unit && !strcmp(text, row->unit)) ? 1 : 0;
    for (; units->name; units++) {
        if (!strcmp(text, units->name)) return units->factor;
    }
    return 0;
}

/* Whether the scaled number is within the row's bounds; reports an error if not. */
static bool check_bounds(const MachineRow *row, uint64_t number, const char *value, Text *why) {
    if (number >= row->low && number <= row->high) return true;
    text_add(why, "must be ");
    add_number(row, row->low, why);
    text_add(why, " to ");
    add_number(row, row->high, why);
    text_printf(why, ", not '%.40s'", value);
    return false;
}

static bool set_number(MachineConfig *machine, const MachineRow *row, const char *value,
                       Text *why) {
    uint64_t thousandths;
    const char *end;
    if (!read_thousandths(value, &thousandths, &end)) return refuse(row, value, why);
    uint64_t factor = read_unit(row, end);
    if (!factor) return refuse(row, value, why);
    const unsigned __int128 scaled = (unsigned __int128)thousandths * factor;
    if (scaled % 1000) return refuse(row, value, why);
    const uint64_t most = UINT64_MAX / 1000; /* a number above this exceeds any bound, too */
    if (!check_bounds(row, scaled / 1000 > most ? most : (uint64_t)(scaled / 1000), value, why))
        return false;
    uint32_t number = (uint32_t)(scaled / 1000);
    memcpy(field_of(machine, row), &number, sizeof number);
    return true;
}

static bool set_time(MachineConfig *machine, const MachineRow *row, const char *value, Text *why) {
    uint64_t thousandths;
    const char *end;
    if (!read_thousandths(value, &thousandths, &end)) return refuse(row, value, why);
    const bool is_ns = !strcmp(unit_in(end), "ns");
    if (!is_ns && (!read_unit(row, end) || thousandths % 1000)) return refuse(row, value, why);
    if (thousandths > UINT64_C(1000) * row->high) {
        text_printf(why, "must be %u to %u %s or ns, not '%.40s'", row->low, row->high, row->unit,
                    value);
        return false;
    }
    const ParameterTime time = {.cycles = is_ns ? 0 : (uint32_t)(thousandths / 1000),
                                .ps = is_ns ? (uint32_t)thousandths : 0};
    memcpy(field_of(machine, row), &time, sizeof time);
    return true;
}

static bool set_bool(MachineConfig *machine, const MachineRow *row, const char *value, Text *why) {
    bool is_yes = !strcmp(value, "yes") || !strcmp(value, "true");
    if (!is_yes && strcmp(value, "no") && strcmp(value, "false")) return refuse(row, value, why);
    *(bool *)field_of(machine, row) = is_yes;
    return true;
}

static bool set_choice(MachineConfig *machine, const MachineRow *row, const char *value,
                       Text *why) {
    const char *current = machine_current_value(row, value);
    for (uint32_t i = 0; i <= row->high; i++) {
        if (strcmp(row->choices[i], current)) continue;
        memcpy(field_of(machine, row), &i, sizeof i);
        return true;
    }
    return refuse(row, value, why);
}

static bool set_string(MachineConfig *machine, const MachineRow *row, const char *value,
                       Text *why) {
    if (strlen(value) >= row->high) {
        text_printf(why, "must be shorter than %u bytes", row->high);
        return false;
    }
    for (const char *c = value; *c; c++) {
        if (*c < ' ' || *c > '~' || *c == '"' || *c == '\\') {
            text_add(why, "must be printable ASCII without quotes and backslashes");
            return false;
        }
    }
    char *field = field_of(machine, row);
    memset(field, 0, row->high); /* so that equal machines have equal bytes */
    strcpy(field, value);
    return true;
}

static bool set_list(MachineConfig *machine, const MachineRow *row, const char *value, Text *why) {
    ParameterList list = {0};
    const char *at = value + (*value == '[');
    if (!*value) return refuse(row, value, why);
    while (*at == ' ')
        at++;
    while (*at && *at != ']') {
        uint64_t thousandths;
        if (list.count == PARAMETER_MAX_LIST || !read_thousandths(at, &thousandths, &at) ||
            thousandths % 1000) {
            return refuse(row, value, why);
        }
        if (!check_bounds(row, thousandths / 1000, value, why)) return false;
        list.items[list.count++] = (uint32_t)(thousandths / 1000);
        while (*at == ' ' || *at == ',')
            at++;
    }
    if (*at == ']' ? at[1] || *value != '[' : *value == '[') return refuse(row, value, why);
    memcpy(field_of(machine, row), &list, sizeof list);
    return true;
}

typedef bool SetFunction(MachineConfig *machine, const MachineRow *row, const char *value,
                         Text *why);

static SetFunction *const set_functions[MACHINE_TYPES] = {
    [MACHINE_COUNT] = set_number,     [MACHINE_ADDRESS] = set_number, [MACHINE_BYTES] = set_number,
    [MACHINE_FREQUENCY] = set_number, [MACHINE_TIME] = set_time,      [MACHINE_BOOL] = set_bool,
    [MACHINE_CHOICE] = set_choice,    [MACHINE_STRING] = set_string,  [MACHINE_LIST] = set_list,
};

bool machine_set_row(MachineConfig *machine, const MachineRow *row, const char *value, Text *why) {
    return set_functions[row->type](machine, row, value, why);
}

static void add_list(const ParameterList *list, Text *out) {
    text_add(out, "[");
    for (uint32_t i = 0; i < list->count; i++)
        text_printf(out, "%s%u", i ? ", " : "", list->items[i]);
    text_add(out, "]");
}

/* With as many decimals as needed. */
static void add_time(const MachineRow *row, const ParameterTime *time, Text *out) {
    uint32_t part = time->ps % 1000;
    int digits = 3;
    for (; digits && part % 10 == 0; digits--)
        part /= 10;
    if (!time->ps) text_printf(out, "%u %s", time->cycles, row->unit);
    else if (digits) text_printf(out, "%u.%0*u ns", time->ps / 1000, digits, part);
    else text_printf(out, "%u ns", time->ps / 1000);
}

void machine_format_row(const MachineConfig *machine, const MachineRow *row, Text *out) {
    const void *field = const_field_of(machine, row);
    if (row->type == MACHINE_BOOL) text_add(out, *(const bool *)field ? "yes" : "no");
    else if (row->type == MACHINE_CHOICE) text_add(out, row->choices[number_of(machine, row)]);
    else if (row->type == MACHINE_STRING) text_printf(out, "\"%s\"", (const char *)field);
    else if (row->type == MACHINE_LIST) add_list(field, out);
    else if (row->type == MACHINE_TIME) add_time(row, field, out);
    else add_number(row, number_of(machine, row), out);
}

void machine_describe_row(const MachineRow *row, Text *out) {
    if (row->type == MACHINE_BOOL) {
        text_add(out, "yes, no");
    } else if (row->type == MACHINE_CHOICE) {
        for (uint32_t i = 0; i <= row->high; i++)
            text_printf(out, "%s%s", i ? ", " : "", row->choices[i]);
    } else if (row->type == MACHINE_STRING) {
        text_printf(out, "text under %u bytes", row->high);
    } else if (row->type == MACHINE_LIST) {
        text_printf(out, "numbers up to %u", row->high);
    } else if (row->type == MACHINE_TIME) {
        text_printf(out, "%u to %u %s or ns", row->low, row->high, row->unit);
    } else if (row->type == MACHINE_COUNT) {
        text_printf(out, "%u to ", row->low);
        add_number(row, row->high, out);
    } else {
        add_number(row, row->low, out);
        text_add(out, " to ");
        add_number(row, row->high, out);
    }
}
