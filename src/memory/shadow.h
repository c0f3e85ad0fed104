/* Shadow memory: beside every word of a memory, who wrote and who read it last.
 *
 * Pages are made when first touched. A page has a cell for each word of 4 bytes until something
 * narrower is accessed in it, from then on one for each byte: programs of words pay for words. */
#ifndef TYTO_MEMORY_SHADOW_H
#define TYTO_MEMORY_SHADOW_H

#include <stdbool.h>
#include <stdint.h>

/* One access; times start at 1. */
typedef struct ShadowAccess {
    uint64_t time;  /* of the launch's events, 0: there was none */
    uint32_t warp;  /* number in the grid */
    uint32_t where; /* its owner's: instruction, lane, kind */
} ShadowAccess;

/* What is known of a word or byte. Strong accesses do not race with each other: the last plain
 * write is kept beside the last strong one. Of several readers two remain. */
typedef struct ShadowCell {
    ShadowAccess write;        /* the last plain one */
    ShadowAccess strong_write; /* the last one by an atomic, or volatile ... */
    ShadowAccess read[2];
} ShadowCell;

typedef struct Shadow Shadow;

Shadow *shadow_new(void);
void shadow_free(Shadow *shadow);
/* Forgets all accesses; takes no longer for a large shadow. */
void shadow_forget(Shadow *shadow);
/* The cells of `bytes` bytes at `address`, side by side; *cell_bytes (4 or 1) says what each stands
 * for. `bytes` is a power of two up to 32, and `address` a multiple of it. */
ShadowCell *shadow_cells(Shadow *shadow, uint64_t address, uint32_t bytes, uint32_t *cell_bytes);

#endif
