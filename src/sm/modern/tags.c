/* Tags of small caches (see the header). */
#include "sm/modern/tags.h"

#include <string.h>

#include "base/bits.h"

void tags_init(ModernTags *tags, uint32_t size, uint32_t line, uint32_t ways, Arena *arena) {
    const uint32_t lines = size / line ? size / line : 1;
    *tags = (ModernTags){.ways = ways < lines ? ways : lines,
                         .line_shift = (uint32_t)bits_lowest32(line)};
    tags->sets = lines / tags->ways;
    tags->lines = ARENA_ARRAY(arena, ModernLine, (size_t)tags->sets * tags->ways);
}

void tags_clear(ModernTags *tags) {
    memset(tags->lines, 0, (size_t)tags->sets * tags->ways * sizeof *tags->lines);
}

static ModernLine *set_of(const ModernTags *tags, uint64_t number) {
    return &tags->lines[number % tags->sets * tags->ways];
}

ModernLine *tags_find(ModernTags *tags, uint64_t address) {
    const uint64_t number = address >> tags->line_shift;
    ModernLine *set = set_of(tags, number);
    for (uint32_t way = 0; way < tags->ways; way++) {
        if (set[way].key != number + 1) continue;
        set[way].used = ++tags->uses;
        return &set[way];
    }
    return NULL;
}

void tags_put(ModernTags *tags, uint64_t address, uint64_t ready) {
    const uint64_t number = address >> tags->line_shift;
    ModernLine *set = set_of(tags, number), *oldest = set;
    for (uint32_t way = 1; way < tags->ways; way++)
        if (set[way].used < oldest->used) oldest = &set[way];
    *oldest = (ModernLine){.key = number + 1, .ready = ready, .used = ++tags->uses};
}
