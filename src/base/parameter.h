/* Parameters: a record of values that users may set. One row declares each value.
 *
 * The header of a record has its rows in a list,
 *
 *     #define X_PARAMETERS(P, key, at) \
 *         P(COUNT, key, at, "width", width, "", 1, 16, "2", "instructions taken by one fetch") \
 *         P(BOOL, key, at, "ideal", is_ideal, "no", "every instruction is there at once")
 *
 * and the record's fields are X_PARAMETERS(PARAMETER_FIELD, , ). Code that reads and writes such
 * values expands the same list with the section's `key` ("fetch.") and the record's place `at`
 * (sm.fetch.), so that each row has its full name and its field. machine/machine_rows.c does so. A
 * row names a kind, the last part of the key, the field, and then the arguments of its kind:
 *
 *     COUNT      unit, low, high, initial, meaning    a number; the unit may follow it, "" for none
 *     BYTES      low, high, initial, meaning          a number of bytes, with its unit: 48 KiB
 *     FREQUENCY  low, initial, meaning                kHz, with its unit: 700 MHz
 *     TIME       high, initial, meaning               a number of cycles, or a time: 500 ns
 *     ADDRESS    initial, meaning                     a number, shown in hexadecimal
 *     BOOL       initial, meaning                     yes or no
 *     CHOICE     type, initial, meaning               one of an enumeration
 *     STRING     size, initial, meaning               text of less than `size` bytes
 *     LIST       low, high, initial, meaning          numbers
 *
 * Bounds are included; `initial` is written as a user would write it, `meaning` is one line. */
#ifndef TYTO_BASE_PARAMETER_H
#define TYTO_BASE_PARAMETER_H

#include <stdbool.h>
#include <stdint.h>

enum { PARAMETER_MAX_LIST = 64 }; /* numbers of a list */

/* A parameter that is several numbers. */
typedef struct ParameterList {
    uint32_t count;
    uint32_t items[PARAMETER_MAX_LIST];
} ParameterList;

/* A parameter that is a number of cycles, or a time that is the same at every clock. */
typedef struct ParameterTime {
    uint32_t cycles; /* 0 if `ps` is not 0 */
    uint32_t ps;     /* picoseconds; 0: the cycles count */
} ParameterTime;

#define PARAMETER_PS_KHZ UINT64_C(1000000000) /* the clock whose cycle is 1 ps, in kHz */

/* The time in cycles of a clock of `khz`, rounded to the nearest cycle. */
static inline uint32_t parameter_time_cycles(ParameterTime time, uint32_t khz) {
    const uint64_t half = PARAMETER_PS_KHZ / 2;
    return time.ps ? (uint32_t)(((uint64_t)time.ps * khz + half) / PARAMETER_PS_KHZ) : time.cycles;
}

/* The same, rounded up. */
static inline uint32_t parameter_time_cycles_up(ParameterTime time, uint32_t khz) {
    const uint64_t below = PARAMETER_PS_KHZ - 1;
    return time.ps ? (uint32_t)(((uint64_t)time.ps * khz + below) / PARAMETER_PS_KHZ) : time.cycles;
}

/* The field that a row declares. */
#define PARAMETER_FIELD(kind, key, at, name, field, ...) PARAMETER_FIELD_##kind(field, __VA_ARGS__)
#define PARAMETER_FIELD_COUNT(field, ...)                uint32_t field;
#define PARAMETER_FIELD_BYTES(field, ...)                uint32_t field;
#define PARAMETER_FIELD_FREQUENCY(field, ...)            uint32_t field;
#define PARAMETER_FIELD_TIME(field, ...)                 ParameterTime field;
#define PARAMETER_FIELD_ADDRESS(field, ...)              uint32_t field;
#define PARAMETER_FIELD_BOOL(field, ...)                 bool field;
#define PARAMETER_FIELD_CHOICE(field, type, ...)         type field;
#define PARAMETER_FIELD_STRING(field, size, ...)         char field[size];
#define PARAMETER_FIELD_LIST(field, ...)                 ParameterList field;

#endif
