/* The table of machine parameters, one row each (base/parameter.h). Everything about a parameter
 * is derived from its row: reading it from a file or from --set, printing, documentation and
 * errors. */
#ifndef TYTO_MACHINE_MACHINE_ROWS_H
#define TYTO_MACHINE_MACHINE_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "machine/machine.h"

typedef enum MachineType {
    MACHINE_COUNT,     /* uint32_t or int: a number, with the row's unit or without */
    MACHINE_ADDRESS,   /* uint32_t, printed in hexadecimal */
    MACHINE_BYTES,     /* uint32_t, as 48 KiB; the unit is required */
    MACHINE_FREQUENCY, /* uint32_t in kHz, as 924 MHz; the unit is required */
    MACHINE_TIME,      /* ParameterTime: a number of cycles, or 1.5 ns */
    MACHINE_BOOL,      /* bool: yes or no */
    MACHINE_CHOICE,    /* an enum with the size of int: one of the row's names */
    MACHINE_STRING,    /* char array: free text */
    MACHINE_LIST,      /* ParameterList: numbers, each within bounds */
    MACHINE_TYPES
} MachineType;

typedef struct MachineRow {
    const char *key; /* sections and name, separated by dots: "l1d.size" */
    MachineType type;
    uint32_t offset;            /* size of the field in MachineConfig, bytes */
    const char *unit;           /* unit that may follow a number ("cycles"), or "" */
    const char *const *choices; /* names of a choice in the enum's order, high + 1 of them */
    uint32_t low, high; /* inclusive bounds; for a string, bytes of the field; for a time, of cycles
                           and of ns */
    const char *initial; /* default, written as in a file */
    const char *meaning; /* one line */
} MachineRow;

/* All rows, in the order in which they are printed; rows of a section are adjacent. */
const MachineRow *machine_rows(int *count);

/* The present name of a renamed value of the row; other values unchanged. */
const char *machine_current_value(const MachineRow *row, const char *value);
/* The row of `key` (length bytes), or NULL. */
const MachineRow *machine_find_row(const char *key, size_t length);

/* Likewise for a former parameter that is now fixed: `initial` is its value on every machine. */
const MachineRow *machine_constants(int *count);
const MachineRow *machine_find_constant(const char *key, size_t length);

/* Sets the row's field from `value`. Returns false after an error: then the machine is unchanged,
 * and `why` has the reason in words that follow the key ("takes bytes, as in 64KiB, not
 * '64MHz'"). */
bool machine_set_row(MachineConfig *machine, const MachineRow *row, const char *value, Text *why);

/* Adds the row's value to `out` in the form that machine_set_row reads. */
void machine_format_row(const MachineConfig *machine, const MachineRow *row, Text *out);

/* Adds a description of the possible values and bounds for documents and messages: "bytes", "yes or
 * no", "one of lru, fifo", ... */
void machine_describe_row(const MachineRow *row, Text *out);

#endif
