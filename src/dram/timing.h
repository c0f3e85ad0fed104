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

/* The data-sheet parameters, in ticks. */
/* clang-format off */
#define DRAM_TIMING_PARAMETERS(P, key, at) \
    P(COUNT, key, at, "tCL", cl, "cycles", 1, 1000, "12", "read command to its data") \
    P(COUNT, key, at, "tWL", wl, "cycles", 1, 1000, "4", "write command to its data") \
    P(COUNT, key, at, "tRCD", rcd, "cycles", 1, 1000, "12", "activate to read") \
    P(COUNT, key, at, "tRCDWR", rcd_write, "cycles", 0, 1000, "0", "activate to write; 0: tRCD - tWL - 1") \
    P(COUNT, key, at, "tRP", rp, "cycles", 1, 1000, "12", "precharge to activate") \
    P(COUNT, key, at, "tRAS", ras, "cycles", 1, 1000, "28", "activate to precharge") \
    P(COUNT, key, at, "tRC", rc, "cycles", 1, 1000, "40", "activate to activate of the same bank") \
    P(COUNT, key, at, "tRRD", rrd, "cycles", 1, 1000, "6", "activate to activate of another bank") \
    P(COUNT, key, at, "tCCD", ccd, "cycles", 1, 1000, "2", "column command to column command") \
    P(COUNT, key, at, "tCCDL", ccd_long, "cycles", 0, 1000, "3", "the same inside a bank group; 0: tCCD") \
    P(COUNT, key, at, "tCDLR", cdlr, "cycles", 1, 1000, "5", "end of write data to a read") \
    P(COUNT, key, at, "tWR", wr, "cycles", 1, 1000, "12", "end of write data to precharge") \
    P(BOOL, key, at, "forgets_writes", forgets_writes, "no", "tCDLR and tWR are ignored: a read after a write waits only for tCCD, and a precharge only for the row's tRAS") \
    P(COUNT, key, at, "tRTP", rtp, "cycles", 0, 1000, "0", "read to precharge; 0: the cycles of a burst") \
    P(COUNT, key, at, "tRTPL", rtp_long, "cycles", 0, 1000, "0", "the same inside a bank group; 0: no such limit") \
    P(COUNT, key, at, "tREFI", refi, "cycles", 0, 1000000, "0", "from one refresh of all banks to the next; 0: no refresh") \
    P(COUNT, key, at, "tRFC", rfc, "cycles", 0, 10000, "0", "duration of a refresh, after which banks may be activated")
/* clang-format on */

typedef struct DramTiming {
    DRAM_TIMING_PARAMETERS(PARAMETER_FIELD, , )
} DramTiming;

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
