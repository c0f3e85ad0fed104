/* GDDR timing as rows of constraints: "after command A, command B in this scope waits N ticks". The
 * channel knows no parameter by name; it only evaluates these rows.
 *
 * A tick is one cycle of the DRAM's command clock. Not modelled: the four-activate window,
 * power-down, refresh of single banks. Sources: the parameters of OWL table 1, CCWS table 1 and MD
 * table 8; the rules that combine them are those of the GTX 480 model of GPGPU-Sim 4.2 as
 * observed. */
#ifndef TYTO_DRAM_TIMING_H
#define TYTO_DRAM_TIMING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/parameter.h"

typedef enum DramCommand {
    DRAM_ACTIVATE,
    DRAM_PRECHARGE,
    DRAM_READ,
    DRAM_WRITE,
    DRAM_COMMANDS,
} DramCommand;

typedef enum DramScope {
    DRAM_SAME_BANK,
    DRAM_SAME_GROUP, /* the bank's group, including the bank itself */
    DRAM_CHANNEL,
    DRAM_SCOPES,
} DramScope;

/* The data-sheet parameters, in cycles of the command clock or in ns. */
/* clang-format off */
#define DRAM_TIMING_PARAMETERS(P, key, at) \
    P(TIME, key, at, "tCL", cl, 1000, "12", "read command to its data") \
    P(TIME, key, at, "tWL", wl, 1000, "4", "write command to its data") \
    P(TIME, key, at, "tRCD", rcd, 1000, "12", "activate to read") \
    P(TIME, key, at, "tRCDWR", rcd_write, 1000, "0", "activate to write; 0: tRCD - tWL - 1") \
    P(TIME, key, at, "tRP", rp, 1000, "12", "precharge to activate") \
    P(TIME, key, at, "tRAS", ras, 1000, "28", "activate to precharge") \
    P(TIME, key, at, "tRC", rc, 1000, "40", "activate to activate of the same bank") \
    P(TIME, key, at, "tRRD", rrd, 1000, "6", "activate to activate of another bank") \
    P(TIME, key, at, "tCCD", ccd, 1000, "2", "column command to column command") \
    P(TIME, key, at, "tCCDL", ccd_long, 1000, "3", "the same inside a bank group; 0: tCCD") \
    P(TIME, key, at, "tCDLR", cdlr, 1000, "5", "end of write data to a read") \
    P(TIME, key, at, "tWR", wr, 1000, "12", "end of write data to precharge") \
    P(BOOL, key, at, "forgets_writes", forgets_writes, "no", "tCDLR and tWR are ignored: a read after a write waits only for tCCD, and a precharge only for the row's tRAS") \
    P(TIME, key, at, "tRTP", rtp, 1000, "0", "read to precharge; 0: the cycles of a burst") \
    P(TIME, key, at, "tRTPL", rtp_long, 1000, "0", "the same inside a bank group; 0: no such limit") \
    P(TIME, key, at, "tREFI", refi, 1000000, "0", "from one refresh of all banks to the next; 0: no refresh") \
    P(TIME, key, at, "tRFC", rfc, 10000, "0", "duration of a refresh, after which banks may be activated")
/* clang-format on */

/* The parameters as a machine states them. */
typedef struct DramStatedTiming {
    DRAM_TIMING_PARAMETERS(PARAMETER_FIELD, , )
} DramStatedTiming;

#define DRAM_TIMING_FIELD(kind, key, at, name, field, ...) DRAM_TIMING_FIELD_##kind(field)
#define DRAM_TIMING_FIELD_TIME(field)                      uint32_t field;
#define DRAM_TIMING_FIELD_BOOL(field)                      bool field;

/* The parameters in ticks. */
typedef struct DramTiming {
    DRAM_TIMING_PARAMETERS(DRAM_TIMING_FIELD, , )
} DramTiming;

/* The parameters in ticks of a command clock of `khz`. Times are rounded up, as a controller does
 * that must not be too early. */
DramTiming dram_timing_of(const DramStatedTiming *stated, uint32_t khz);

typedef struct DramConstraint {
    DramCommand first;  /* the command given */
    DramCommand second; /* the command that has to wait */
    DramScope scope;    /* where it has to wait */
    uint32_t ticks;     /* from `first` to the earliest legal `second` */
} DramConstraint;

enum { DRAM_CONSTRAINTS = 15 };

/* The constraint rows that follow from the parameters. `burst_ticks` is how long the data of one
 * column command occupies the bus. */
void dram_timing_constraints(const DramTiming *timing, uint32_t burst_ticks,
                             DramConstraint rows[static DRAM_CONSTRAINTS]);

/* Returns false and reports every contradiction to `diag` if no device can have these
 * parameters. */
bool dram_timing_check(const DramTiming *timing, uint32_t burst_ticks, Diag *diag);

#endif
