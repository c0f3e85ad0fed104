/* The register banks that were written in the current cycle, where several units of an SM write
 * results. The core has one word per sub-core and clears it at the end of the cycle. The load/store
 * unit uses the words when it writes data that memory returned. */
#ifndef TYTO_SM_BANK_WRITES_H
#define TYTO_SM_BANK_WRITES_H

#include <stdbool.h>
#include <stdint.h>

#include "sm/sm_config.h"

typedef struct SmBankWrites {
    uint64_t *of[SM_MAX_SUBCORES]; /* banks written in this cycle, one bit each; by sub-core */
    uint32_t mask;                 /* sub-cores - 1; warp w is in sub-core w & this */
} SmBankWrites;

/* Whether a warp's result can be written to these banks, that is, none of them has been written in
 * this cycle. */
static inline bool bank_writes_can(const SmBankWrites *writes, int warp, uint64_t banks) {
    return !(banks & *writes->of[(uint32_t)warp & writes->mask]);
}
static inline void bank_writes_add(const SmBankWrites *writes, int warp, uint64_t banks) {
    *writes->of[(uint32_t)warp & writes->mask] |= banks;
}

#endif
