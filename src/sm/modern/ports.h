/* Operands of a sub-core: two register banks with one read port each, the register file cache, and
 * the Allocate stage, in which an instruction of fixed latency stays until its reads fit (Huerta).
 * Instructions of variable latency read without it, when the ports are free. */
#ifndef TYTO_SM_MODERN_PORTS_H
#define TYTO_SM_MODERN_PORTS_H

#include "sm/modern/row.h"

enum {
    TO_ALLOCATE = 2, /* cycles from issue: Control lies between (Huerta) */
    READ_CYCLES = 3  /* within which all operands are read (Huerta) */
};

/* A register that the cache keeps. */
typedef struct ModernKept {
    uint8_t warp, reg;
    bool is_kept;
} ModernKept;

typedef struct ModernPorts {
    uint64_t leaves;                /* cycle in which the last instruction left Allocate */
    uint64_t enters;                /* ... and in which it entered it, and left Control */
    uint64_t since;                 /* cycle of bit 0 of the next */
    uint32_t taken[REGISTER_BANKS]; /* cycles in which the bank's port is taken, bit each */
    ModernKept kept[REGISTER_BANKS][ISA_PLACES];
} ModernPorts;

/* Nothing is read, and nothing kept, before `cycle`. */
void ports_start(ModernPorts *ports, uint64_t cycle);
/* The first cycle in which an instruction can issue: Control must have room behind it. */
static inline uint64_t ports_free_from(const ModernPorts *ports) {
    return ports->enters ? ports->enters - 1 : 0;
}
/* An instruction of fixed latency issues in `cycle`; cycles by which it is late for its ports. */
uint32_t ports_read(ModernPorts *ports, const ModernRow *row, int warp, uint64_t cycle);

#endif
