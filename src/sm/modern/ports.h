/* Operands of a sub-core: two register banks with one read port each, the register file cache, and
 * the Allocate stage, in which an instruction of fixed latency stays until its reads fit (Huerta).
 * Instructions of variable latency do not use this stage and read when the ports are free. */
#ifndef TYTO_SM_MODERN_PORTS_H
#define TYTO_SM_MODERN_PORTS_H

#include "sm/modern/row.h"

enum {
    TO_ALLOCATE = 2, /* cycles from issue to Allocate; Control is between them (Huerta) */
    READ_CYCLES = 3  /* cycles in which all operands are read (Huerta) */
};

/* A register in the register file cache. */
typedef struct ModernKept {
    uint8_t warp, reg;
    bool is_kept;
} ModernKept;

typedef struct ModernPorts {
    uint64_t leaves;                /* cycle in which the last instruction left Allocate */
    uint64_t enters;                /* cycle in which it left Control and entered Allocate */
    uint64_t since;                 /* cycle of bit 0 of `taken` */
    uint32_t taken[REGISTER_BANKS]; /* cycles in which the bank's port is reserved, one bit each */
    ModernKept kept[REGISTER_BANKS][ISA_PLACES];
} ModernPorts;

/* Clears all reservations and cached registers; `cycle`: the current cycle. */
void ports_start(ModernPorts *ports, uint64_t cycle);
/* The first cycle in which an instruction can issue, because Control will be free. */
static inline uint64_t ports_free_from(const ModernPorts *ports) {
    return ports->enters ? ports->enters - 1 : 0;
}
/* Reserves the ports for an instruction of fixed latency that issues in `cycle`. Returns the delay
 * in cycles. */
uint32_t ports_read(ModernPorts *ports, const ModernRow *row, int warp, uint64_t cycle);

#endif
