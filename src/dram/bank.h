/* The banks of one channel: which row is open in each, and from which tick each command is legal.
 * Every command given pushes those ticks forward by the constraint rows of dram/timing.h; nothing
 * is counted down, so time that passes costs nothing. */
#ifndef TYTO_DRAM_BANK_H
#define TYTO_DRAM_BANK_H

#include <stdbool.h>
#include <stdint.h>

#include "dram/timing.h"

enum { DRAM_MAX_BANKS = 32, DRAM_MAX_GROUPS = 8 };

/* Ticks are ordered by bank and group, then by command, so that all values of one bank or group
 * that are used together lie in one line of the host's caches. */
typedef struct DramBanks {
    uint64_t channel_ready[DRAM_COMMANDS]; /* tick from which the channel allows the command */
    uint32_t open;                         /* bit per bank: a row is open */
    uint8_t first_row[DRAM_COMMANDS][DRAM_SCOPES + 1]; /* in `rows`, of each scope; then the end */
    uint8_t group[DRAM_MAX_BANKS];                     /* of each bank */
    _Alignas(32) uint64_t
        group_ready[DRAM_MAX_GROUPS][DRAM_COMMANDS];    /* tick from which the group allows it */
    uint64_t bank_ready[DRAM_MAX_BANKS][DRAM_COMMANDS]; /* tick from which the bank allows it */
    uint32_t open_row[DRAM_MAX_BANKS];                  /* the row, where one is open */
    DramConstraint rows[DRAM_CONSTRAINTS]; /* constraints by their first command, then by scope */
} DramBanks;

/* All banks closed, every activate legal from tick 0. Of `groups` (1..DRAM_MAX_GROUPS) each in turn
 * has the next `side_by_side` (>= 1) banks. */
void dram_banks_init(DramBanks *banks, const DramTiming *timing, uint32_t burst_ticks,
                     uint32_t groups, uint32_t side_by_side);

/* Earliest tick at which the constraints allow `command` to `bank`. Whether it makes sense there
 * (a read needs its row open) is the caller's. */
static inline uint64_t dram_banks_earliest(const DramBanks *banks, DramCommand command,
                                           uint32_t bank) {
    uint64_t earliest = banks->channel_ready[command];
    uint64_t group = banks->group_ready[banks->group[bank]][command];
    uint64_t own = banks->bank_ready[bank][command];
    if (group > earliest) earliest = group;
    return own > earliest ? own : earliest;
}

/* Gives `command` to `bank` at `tick`, when it must be legal; `row` counts for an activate only. */
void dram_banks_command(DramBanks *banks, DramCommand command, uint32_t bank, uint32_t row,
                        uint64_t tick);

/* Earliest tick at which all banks can be closed for a refresh. */
uint64_t dram_banks_refresh_earliest(const DramBanks *banks);
/* Closes all banks and refreshes them, which takes tRFC once they are closed. */
void dram_banks_refresh(DramBanks *banks, uint32_t rp, uint32_t rfc, uint64_t tick);

static inline bool dram_banks_is_open(const DramBanks *banks, uint32_t bank, uint32_t row) {
    return (banks->open >> bank & 1) && banks->open_row[bank] == row;
}

#endif
