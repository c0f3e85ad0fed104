/* The first-level constant cache of a sub-core (see the header). */
#include "sm/modern/constants.h"

void constants_init(ModernConstants *constants, const SmModernConfig *config, Arena *arena) {
    constants->miss = config->constant_miss;
    tags_init(&constants->tags, config->constant_bytes, config->constant_line_bytes,
              config->constant_ways, arena);
}

void constants_start(ModernConstants *constants) { tags_clear(&constants->tags); }

uint64_t constants_need(ModernConstants *constants, uint32_t grid, uint32_t constant,
                        uint64_t cycle) {
    const uint64_t address = (uint64_t)grid << 32 | constant;
    const ModernLine *line = tags_find(&constants->tags, address);
    if (line) return line->ready > cycle ? line->ready : cycle;
    tags_put(&constants->tags, address, cycle + constants->miss);
    return cycle + constants->miss;
}
