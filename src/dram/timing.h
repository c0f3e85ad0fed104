/* GDDR timing as rows of constraints: "after command A, command B in this scope waits N ticks".
 * The channel knows no parameter by name; it walks these rows.
 *
 * A tick is one cycle of the DRAM's command clock. Leaves out: refresh, the four-activate window,
 * power-down. Sources: the parameters of OWL table 1, CCWS table 1 and MD table 8; the rules that
 * combine them are those of the GTX 480 model of GPGPU-Sim 4.2 as observed. */
#ifndef TYTO_DRAM_TIMING_H
#define TYTO_DRAM_TIMING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"

typedef enum DramCommand {
    DRAM_ACTIVATE,
    DRAM_PRECHARGE,
    DRAM_READ,
    DRAM_WRITE,
    DRAM_COMMANDS,
} DramCommand;

typedef enum DramScope {
    DRAM_SAME_BANK,
    DRAM_SAME_GROUP, /* the bank's group, the bank itself included */
    DRAM_CHANNEL,
    DRAM_SCOPES,
} DramScope;

/* The data-sheet parameters, in ticks. */
typedef struct DramTiming {
    uint32_t cl;        /* read command to its data */
    uint32_t wl;        /* write command to its data */
    uint32_t rcd;       /* activate to read */
    uint32_t rcd_write; /* activate to write; 0: rcd - wl - 1, at least 1 */
    uint32_t rp;        /* precharge to activate */
    uint32_t ras;       /* activate to precharge */
    uint32_t rc;        /* activate to activate of the same bank */
    uint32_t rrd;       /* activate to activate of another bank */
    uint32_t ccd;       /* column command to column command */
    uint32_t ccd_long;  /* the same inside one bank group; 0: ccd */
    uint32_t cdlr;      /* end of write data to a read */
    uint32_t wr;        /* end of write data to precharge */
    uint32_t rtp;       /* read to precharge; 0: the ticks of a burst */
} DramTiming;

typedef struct DramConstraint {
    DramCommand first;  /* the command given */
    DramCommand second; /* the command that has to wait */
    DramScope scope;    /* where it has to wait */
    uint32_t ticks;     /* from `first` to the earliest legal `second` */
} DramConstraint;

enum { DRAM_CONSTRAINTS = 14 };

/* The rows that follow from the parameters; `burst_ticks` is how long one column command's data
 * occupies the bus. */
void dram_timing_constraints(const DramTiming *timing, uint32_t burst_ticks,
                             DramConstraint rows[static DRAM_CONSTRAINTS]);

/* False, with every contradiction told to `diag`, when no device can have these parameters. */
bool dram_timing_check(const DramTiming *timing, uint32_t burst_ticks, Diag *diag);

#endif
