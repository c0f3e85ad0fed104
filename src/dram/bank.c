/* Giving commands to the banks of a channel (see the header). */
#include "dram/bank.h"

#include <assert.h>

void dram_banks_init(DramBanks *banks, const DramTiming *timing, uint32_t burst_ticks,
                     uint32_t groups) {
    assert(groups >= 1 && groups <= DRAM_MAX_GROUPS);
    *banks = (DramBanks){0};
    for (uint32_t bank = 0; bank < DRAM_MAX_BANKS; bank++)
        banks->group[bank] = (uint8_t)(bank % groups);
    DramConstraint rows[DRAM_CONSTRAINTS];
    dram_timing_constraints(timing, burst_ticks, rows);
    uint8_t count = 0;
    for (int command = 0; command < DRAM_COMMANDS; command++) {
        banks->first_row[command] = count;
        for (int i = 0; i < DRAM_CONSTRAINTS; i++)
            if ((int)rows[i].first == command) banks->rows[count++] = rows[i];
    }
    banks->first_row[DRAM_COMMANDS] = count;
}

static uint64_t *ready_of(DramBanks *banks, const DramConstraint *row, uint32_t bank) {
    switch (row->scope) {
    case DRAM_SAME_BANK: return &banks->bank_ready[row->second][bank];
    case DRAM_SAME_GROUP: return &banks->group_ready[row->second][banks->group[bank]];
    default: return &banks->channel_ready[row->second];
    }
}

void dram_banks_command(DramBanks *banks, DramCommand command, uint32_t bank, uint32_t row,
                        uint64_t tick) {
    assert(tick >= dram_banks_earliest(banks, command, bank));
    const DramConstraint *end = &banks->rows[banks->first_row[command + 1]];
    for (const DramConstraint *c = &banks->rows[banks->first_row[command]]; c < end; c++) {
        uint64_t *ready = ready_of(banks, c, bank);
        if (c->ticks && tick + c->ticks > *ready) *ready = tick + c->ticks;
    }
    if (command == DRAM_ACTIVATE) {
        banks->open |= UINT32_C(1) << bank;
        banks->open_row[bank] = row;
    } else if (command == DRAM_PRECHARGE) {
        banks->open &= ~(UINT32_C(1) << bank);
    }
}

uint64_t dram_banks_refresh_earliest(const DramBanks *banks) {
    uint64_t earliest = 0;
    for (uint32_t left = banks->open; left; left &= left - 1) {
        uint64_t own = dram_banks_earliest(banks, DRAM_PRECHARGE, (uint32_t)__builtin_ctz(left));
        if (own > earliest) earliest = own;
    }
    return earliest;
}

void dram_banks_refresh(DramBanks *banks, uint32_t rp, uint32_t rfc, uint64_t tick) {
    assert(tick >= dram_banks_refresh_earliest(banks));
    uint64_t ready = tick + (banks->open ? rp : 0) + rfc;
    if (ready > banks->channel_ready[DRAM_ACTIVATE]) banks->channel_ready[DRAM_ACTIVATE] = ready;
    banks->open = 0;
}
