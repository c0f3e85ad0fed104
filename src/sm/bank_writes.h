/* The register banks that results are written to in a cycle, as far as several units of an SM write
 * them. The core has a word for each of its sub-cores and clears it when the cycle is over; the
 * load/store unit writes what memory returns. */
#ifndef TYTO_SM_BANK_WRITES_H
#define TYTO_SM_BANK_WRITES_H

#include <stdbool.h>
#include <stdint.h>

#include "sm/sm_config.h"

typedef struct SmBankWrites {
    uint64_t *of[SM_MAX_SUBCORES]; /* banks written in this cycle, bit each; by sub-core */
    uint32_t mask;                 /* sub-cores - 1; warp w is in sub-core w & this */
} SmBankWrites;

/* Whether a warp's result can be written to these banks: none of them was written already. */
static inline bool bank_writes_can(const SmBankWrites *writes, int warp, uint64_t banks) {
    return !(banks & *writes->of[(uint32_t)warp & writes->mask]);
}
static inline void bank_writes_add(const SmBankWrites *writes, int warp, uint64_t banks) {
    *writes->of[(uint32_t)warp & writes->mask] |= banks;
}

#endif
