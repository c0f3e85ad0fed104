/* Shadow memory: for every word of a memory, its last writers and readers.
 *
 * Pages are made when first touched. A page has a cell for each word of 4 bytes. From the first
 * narrower access on it has one for each byte, so that programs that access words need less
 * memory. */
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

/* What is known of a word or byte. Strong accesses do not race with each other, so the cell keeps
 * both the last plain write and the last strong one. It keeps two of several readers. */
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
/* The adjacent cells of `bytes` bytes at `address`; each cell is for *cell_bytes bytes (4 or 1).
 * `bytes` is a power of two up to 32, and `address` a multiple of it. */
ShadowCell *shadow_cells(Shadow *shadow, uint64_t address, uint32_t bytes, uint32_t *cell_bytes);

#endif
