/* Operands of a sub-core (see the header). */
#include "sm/modern/ports.h"

#include "base/bits.h"

void ports_start(ModernPorts *ports, uint64_t cycle) { *ports = (ModernPorts){.since = cycle}; }

/* Whether the register file cache holds the operand of this place. Also drops or replaces the
 * cached register of the place. */
static bool take_kept(ModernPorts *ports, const ModernRow *row, int place, int warp) {
    const uint8_t reg = row->operand[place];
    ModernKept *kept = &ports->kept[reg % REGISTER_BANKS][place];
    const bool has = kept->is_kept && kept->warp == warp && kept->reg == reg;
    *kept = (ModernKept){.warp = (uint8_t)warp, .reg = reg, .is_kept = row->reuse >> place & 1};
    return has;
}

/* Counts the registers to read from each bank, without cached ones. */
static void count_reads(ModernPorts *ports, const ModernRow *row, int warp,
                        uint8_t reads[REGISTER_BANKS]) {
    for (int bank = 0; bank < REGISTER_BANKS; bank++)
        reads[bank] = row->reads[bank];
    for (int place = 0; place < ISA_PLACES; place++) {
        const uint8_t reg = row->operand[place];
        if (reg == ISA_NO_REGISTER || !take_kept(ports, row, place, warp)) continue;
        for (uint8_t word = 0; word < row->words; word++)
            reads[(reg + word) % REGISTER_BANKS]--;
    }
}

/* Drops the port reservations before `cycle`. */
static void advance(ModernPorts *ports, uint64_t cycle) {
    const uint64_t passed = cycle > ports->since ? cycle - ports->since : 0;
    for (int bank = 0; bank < REGISTER_BANKS; bank++)
        ports->taken[bank] = passed < 32 ? ports->taken[bank] >> passed : 0;
    ports->since += passed;
}

enum { WINDOW = (1 << READ_CYCLES) - 1 };

static bool fits(const ModernPorts *ports, const uint8_t reads[REGISTER_BANKS]) {
    for (int bank = 0; bank < REGISTER_BANKS; bank++) {
        const uint32_t taken = ports->taken[bank] & WINDOW;
        if (reads[bank] + bits_count32(taken) > READ_CYCLES) return false;
    }
    return true;
}

static void book(ModernPorts *ports, const uint8_t reads[REGISTER_BANKS]) {
    for (int bank = 0; bank < REGISTER_BANKS; bank++)
        for (uint8_t left = reads[bank]; left; left--)
            ports->taken[bank] |= ~ports->taken[bank] & (ports->taken[bank] + 1);
}

uint32_t ports_read(ModernPorts *ports, const ModernRow *row, int warp, uint64_t cycle) {
    const uint64_t first = cycle + TO_ALLOCATE;
    uint8_t reads[REGISTER_BANKS];
    count_reads(ports, row, warp, reads);
    ports->enters = ports->leaves >= first ? ports->leaves + 1 : first;
    advance(ports, ports->enters);
    while (!fits(ports, reads))
        advance(ports, ports->since + 1);
    book(ports, reads);
    ports->leaves = ports->since;
    return (uint32_t)(ports->leaves - first);
}
