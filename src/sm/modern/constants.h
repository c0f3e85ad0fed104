/* The first-level constant cache of a sub-core, from which instructions of fixed latency read
 * operands. Its tags are looked up before issue, and a miss keeps the warp (Huerta). */
#ifndef TYTO_SM_MODERN_CONSTANTS_H
#define TYTO_SM_MODERN_CONSTANTS_H

#include "sm/modern/tags.h"
#include "sm/sm_config.h"

typedef struct ModernConstants {
    ModernTags tags;
    uint32_t miss; /* cycles */
} ModernConstants;

void constants_init(ModernConstants *constants, const SmModernConfig *config, Arena *arena);
void constants_start(ModernConstants *constants);
/* The cycle from which on a constant is there for an instruction that could issue in `cycle`.
 * `constant` is a row's, of the grid with that number on the SM. */
uint64_t constants_need(ModernConstants *constants, uint32_t grid, uint32_t constant,
                        uint64_t cycle);

#endif
