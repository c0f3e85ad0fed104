/* The tags of a small cache that is looked up when an instruction issues: lines with the cycle from
 * which on they are there. */
#ifndef TYTO_SM_MODERN_TAGS_H
#define TYTO_SM_MODERN_TAGS_H

#include "base/arena.h"

typedef struct ModernLine {
    uint64_t key;   /* line number and 1; 0: none */
    uint64_t ready; /* cycle from which on it is there */
    uint64_t used;  /* number of its last use: the least goes first */
} ModernLine;

typedef struct ModernTags {
    uint32_t sets, ways, line_shift;
    uint64_t uses;
    ModernLine *lines; /* by set, then way */
} ModernTags;

/* Sizes in bytes; a line's is a power of two. */
void tags_init(ModernTags *tags, uint32_t size, uint32_t line, uint32_t ways, Arena *arena);
void tags_clear(ModernTags *tags);
/* The line of the address, which counts as used; NULL: it is not there. */
ModernLine *tags_find(ModernTags *tags, uint64_t address);
/* Puts the line of the address in the place of the least recently used one of its set. */
void tags_put(ModernTags *tags, uint64_t address, uint64_t ready);

#endif
