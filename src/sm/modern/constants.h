/* The first-level constant cache of a sub-core, from which instructions of fixed latency read
 * operands. Its tags are looked up before issue, and a miss stalls the warp (Huerta). */
#ifndef TYTO_SM_MODERN_CONSTANTS_H
#define TYTO_SM_MODERN_CONSTANTS_H

#include "sm/modern/tags.h"
#include "sm/sm_config.h"

typedef struct ModernConstants {
    ModernTags tags;
    uint32_t miss; /* cycles of a miss */
} ModernConstants;

void constants_init(ModernConstants *constants, const SmModernConfig *config, Arena *arena);
void constants_start(ModernConstants *constants);
/* The first cycle in which a constant is available to an instruction that could otherwise issue in
 * `cycle`. `constant`: from its row; `grid`: number of its grid on the SM. */
uint64_t constants_need(ModernConstants *constants, uint32_t grid, uint32_t constant,
                        uint64_t cycle);

#endif
