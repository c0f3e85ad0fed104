/* Shadow memory: the last writers and readers of every word of a memory.
 *
 * Pages are created when first touched. A page has one cell for each word of 4 bytes. After its
 * first narrower access it has one for each byte. So programs that only access words need less
 * memory. */
#ifndef TYTO_MEMORY_SHADOW_H
#define TYTO_MEMORY_SHADOW_H

#include <stdbool.h>
#include <stdint.h>

/* One access. */
typedef struct ShadowAccess {
    uint64_t time;  /* in the launch's events, starting at 1; 0: no access */
    uint32_t warp;  /* number in the grid */
    uint32_t where; /* defined by the owner: instruction, lane, kind */
} ShadowAccess;

/* The recorded accesses to a word or byte. Strong accesses do not race with each other, so the cell
 * keeps both the last plain write and the last strong one. Of the readers, it keeps two. */
typedef struct ShadowCell {
    ShadowAccess write;        /* the last plain one */
    ShadowAccess strong_write; /* the last one by an atomic, a volatile access or similar */
    ShadowAccess read[2];
} ShadowCell;

typedef struct Shadow Shadow;

Shadow *shadow_new(void);
void shadow_free(Shadow *shadow);
/* Forgets all accesses in constant time. */
void shadow_forget(Shadow *shadow);
/* The adjacent cells of `bytes` bytes at `address`; each cell is for *cell_bytes bytes (4 or 1).
 * `bytes` is a power of two up to 32, and `address` a multiple of it. */
ShadowCell *shadow_cells(Shadow *shadow, uint64_t address, uint32_t bytes, uint32_t *cell_bytes);

#endif
