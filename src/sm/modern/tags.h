/* The tags of a small cache that is looked up when an instruction issues: lines, each with the
 * cycle from which it is available. */
#ifndef TYTO_SM_MODERN_TAGS_H
#define TYTO_SM_MODERN_TAGS_H

#include "base/arena.h"

typedef struct ModernLine {
    uint64_t key;   /* line number plus 1; 0: none */
    uint64_t ready; /* first cycle in which it is available */
    uint64_t used;  /* number of its last use; the line with the lowest is replaced */
} ModernLine;

typedef struct ModernTags {
    uint32_t sets, ways, line_shift;
    uint64_t uses;
    ModernLine *lines; /* by set, then way */
} ModernTags;

/* Sizes are in bytes; the line size is a power of two. */
void tags_init(ModernTags *tags, uint32_t size, uint32_t line, uint32_t ways, Arena *arena);
void tags_clear(ModernTags *tags);
/* Finds the line of the address and counts this as a use; NULL: not present. */
ModernLine *tags_find(ModernTags *tags, uint64_t address);
/* Replaces the least recently used line of the set with the line of the address. */
void tags_put(ModernTags *tags, uint64_t address, uint64_t ready);

#endif
