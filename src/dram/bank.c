/* Giving commands to the banks of a channel (see the header). */
#include "dram/bank.h"

#include <assert.h>

void dram_banks_init(DramBanks *banks, const DramTiming *timing, uint32_t burst_ticks,
                     uint32_t groups, uint32_t side_by_side) {
    assert(groups >= 1 && groups <= DRAM_MAX_GROUPS);
    *banks = (DramBanks){0};
    for (uint32_t bank = 0; bank < DRAM_MAX_BANKS; bank++)
        banks->group[bank] = (uint8_t)(bank / side_by_side % groups);
    DramConstraint rows[DRAM_CONSTRAINTS];
    dram_timing_constraints(timing, burst_ticks, rows);
    uint8_t count = 0;
    for (int command = 0; command < DRAM_COMMANDS; command++) {
        for (int scope = 0; scope < DRAM_SCOPES; scope++) {
            banks->first_row[command][scope] = count;
            for (int i = 0; i < DRAM_CONSTRAINTS; i++)
                if ((int)rows[i].first == command && (int)rows[i].scope == scope && rows[i].ticks)
                    banks->rows[count++] = rows[i];
        }
        banks->first_row[command][DRAM_SCOPES] = count;
    }
}

/* The waiting command must come no earlier than `tick`. */
static void put_off(uint64_t *ready, uint64_t tick) {
    if (tick > *ready) *ready = tick;
}

void dram_banks_command(DramBanks *banks, DramCommand command, uint32_t bank, uint32_t row,
                        uint64_t tick) {
    assert(tick >= dram_banks_earliest(banks, command, bank));
    const uint8_t *first = banks->first_row[command];
    const DramConstraint *c = &banks->rows[first[DRAM_SAME_BANK]];
    const DramConstraint *const of_group = &banks->rows[first[DRAM_SAME_GROUP]];
    const DramConstraint *const of_channel = &banks->rows[first[DRAM_CHANNEL]];
    const DramConstraint *const end = &banks->rows[first[DRAM_SCOPES]];
    for (; c < of_group; c++)
        put_off(&banks->bank_ready[bank][c->second], tick + c->ticks);
    for (; c < of_channel; c++)
        put_off(&banks->group_ready[banks->group[bank]][c->second], tick + c->ticks);
    for (; c < end; c++)
        put_off(&banks->channel_ready[c->second], tick + c->ticks);
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
