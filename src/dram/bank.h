/* The banks of one channel: which row is open in each, and the tick from which each command is
 * legal. Every command given moves these ticks forward according to the constraint rows of
 * dram/timing.h. Nothing is counted down, so passing time costs nothing. */
#ifndef TYTO_DRAM_BANK_H
#define TYTO_DRAM_BANK_H

#include <stdbool.h>
#include <stdint.h>

#include "dram/timing.h"

enum { DRAM_MAX_BANKS = 32, DRAM_MAX_GROUPS = 8 };

/* The ticks are ordered by bank or group first and by command second, so that all values of one
 * bank or group that are used together lie in one cache line of the host. */
typedef struct DramBanks {
    uint64_t channel_ready[DRAM_COMMANDS]; /* tick from which the channel allows the command */
    uint32_t open;                         /* one bit per bank: a row is open */
    uint8_t first_row[DRAM_COMMANDS]
                     [DRAM_SCOPES + 1]; /* per scope, index in `rows`; then the end */
    uint8_t group[DRAM_MAX_BANKS];      /* group of each bank */
    _Alignas(32) uint64_t
        group_ready[DRAM_MAX_GROUPS][DRAM_COMMANDS];    /* tick from which the group allows it */
    uint64_t bank_ready[DRAM_MAX_BANKS][DRAM_COMMANDS]; /* tick from which the bank allows it */
    uint32_t open_row[DRAM_MAX_BANKS];                  /* the open row of each bank that has one */
    DramConstraint rows[DRAM_CONSTRAINTS];              /* sorted by first command, then by scope */
} DramBanks;

/* All banks closed, every activate legal from tick 0. The banks are dealt to the `groups`
 * (1..DRAM_MAX_GROUPS) in turn, `side_by_side` (>= 1) consecutive banks at a time. */
void dram_banks_init(DramBanks *banks, const DramTiming *timing, uint32_t burst_ticks,
                     uint32_t groups, uint32_t side_by_side);

/* Earliest tick at which the constraints allow `command` to `bank`. The caller has to make sure
 * that the command makes sense there (for example, that a read has its row open). */
static inline uint64_t dram_banks_earliest(const DramBanks *banks, DramCommand command,
                                           uint32_t bank) {
    uint64_t earliest = banks->channel_ready[command];
    uint64_t group = banks->group_ready[banks->group[bank]][command];
    uint64_t own = banks->bank_ready[bank][command];
    if (group > earliest) earliest = group;
    return own > earliest ? own : earliest;
}

/* Gives `command` to `bank` at `tick`, at which it must be legal. `row` is used by an activate
 * only. */
void dram_banks_command(DramBanks *banks, DramCommand command, uint32_t bank, uint32_t row,
                        uint64_t tick);

/* Earliest tick at which all banks can be closed for a refresh. */
uint64_t dram_banks_refresh_earliest(const DramBanks *banks);
/* Closes all banks and refreshes them. The refresh takes tRFC once they are closed. */
void dram_banks_refresh(DramBanks *banks, uint32_t rp, uint32_t rfc, uint64_t tick);

static inline bool dram_banks_is_open(const DramBanks *banks, uint32_t bank, uint32_t row) {
    return (banks->open >> bank & 1) && banks->open_row[bank] == row;
}

#endif
