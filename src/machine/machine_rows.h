/* The table of machine parameters, one row each (base/parameter.h). Everything that is said about a
 * parameter derives from its row: reading it from a file or from --set, printing it, documenting
 * it, its errors. */
#ifndef TYTO_MACHINE_MACHINE_ROWS_H
#define TYTO_MACHINE_MACHINE_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "machine/machine.h"

typedef enum MachineType {
    MACHINE_COUNT,     /* uint32_t or int: a number, with the row's unit or none */
    MACHINE_ADDRESS,   /* uint32_t: printed in hexadecimal */
    MACHINE_BYTES,     /* uint32_t: 48 KiB; the unit must be written */
    MACHINE_FREQUENCY, /* uint32_t, kHz: 924 MHz; the unit must be written */
    MACHINE_TIME,      /* ParameterTime: a number of cycles, or 1.5 ns */
    MACHINE_BOOL,      /* bool: yes or no */
    MACHINE_CHOICE,    /* an enum of int's size: one of the row's names */
    MACHINE_STRING,    /* char array: free text */
    MACHINE_LIST,      /* ParameterList: numbers, each within the bounds */
    MACHINE_TYPES
} MachineType;

typedef struct MachineRow {
    const char *key; /* sections and name, joined by dots: "l1d.size" */
    MachineType type;
    uint32_t offset;            /* of the field in MachineConfig, bytes */
    const char *unit;           /* word that may follow a count ("cycles"); "" when there is none */
    const char *const *choices; /* a choice's names in the enum's order, high + 1 of them */
    uint32_t low, high;         /* bounds, both included; for a string, bytes of the field; for a
                                   time, of cycles and of ns */
    const char *initial;        /* default, written as in a file */
    const char *meaning;        /* one line */
} MachineRow;

/* All rows, sections together, in the order in which they are printed. */
const MachineRow *machine_rows(int *count);

/* What a value of the row that was renamed is called now; other values as they are. */
const char *machine_current_value(const MachineRow *row, const char *value);
/* The row of `key` (length bytes), or NULL. */
const MachineRow *machine_find_row(const char *key, size_t length);

/* Likewise what was a parameter once and is fixed: `initial` is its value on every machine. */
const MachineRow *machine_constants(int *count);
const MachineRow *machine_find_constant(const char *key, size_t length);

/* Sets the row's field from `value`. On a mistake the machine is unchanged, `why` holds the reason
 * in words that follow the key ("takes bytes, as in 64KiB, not '64MHz'"), and false is returned. */
bool machine_set_row(MachineConfig *machine, const MachineRow *row, const char *value, Text *why);

/* Adds the row's value to `out` as machine_set_row would read it back. */
void machine_format_row(const MachineConfig *machine, const MachineRow *row, Text *out);

/* "bytes", "yes or no", "one of lru, fifo", ... and the bounds, for documents and messages. */
void machine_describe_row(const MachineRow *row, Text *out);

#endif
