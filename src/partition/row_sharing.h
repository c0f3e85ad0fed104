/* Statistics of CTAs that read the same DRAM rows: OWL's row sharing by consecutive CTAs (OWL
 * section 4.3 and table 4). Example: a row read by CTAs 1, 2, 3 and 7 is shared to 75%, because
 * three of the four have a neighbour. The paper does not say where it counts reads, so they are
 * counted at two places.
 *
 * The statistics use a bounded table of rows, each with the CTAs that have read it since it entered
 * the table. A row leaves the table, and is counted, when another row needs its place, when its
 * list of CTAs is full, or when the owner closes the kernel. If it comes back, it counts as another
 * row. */
#ifndef TYTO_PARTITION_ROW_SHARING_H
#define TYTO_PARTITION_ROW_SHARING_H

#include <stdint.h>

#include "base/arena.h"
#include "stats/counters.h"

enum {
    ROW_SHARING_ROWS = 1024, /* rows of a table */
    ROW_SHARING_CTAS = 61    /* maximum CTAs of a row */
};

/* The part of a table row that most reads look at, kept apart from the CTAs so that it stays in the
 * host's caches. */
typedef struct SharedRow {
    uint32_t key;    /* 0: unused */
    uint32_t latest; /* CTA that read it last */
} SharedRow;

typedef struct RowReaders {
    uint32_t count;                  /* number of CTAs */
    uint32_t ctas[ROW_SHARING_CTAS]; /* in the order of their first read */
} RowReaders;

/* Which reads are counted: those that reach DRAM, or all that reach L2. */
typedef enum RowSharingPlace { ROW_SHARING_AT_DRAM, ROW_SHARING_AT_L2 } RowSharingPlace;

typedef struct RowSharing {
    SharedRow *rows;       /* ROW_SHARING_ROWS rows, indexed by a hash of the key */
    RowReaders *readers;   /* readers of each row */
    RowSharingPlace place; /* selects the counters that are written */
} RowSharing;

void row_sharing_init(RowSharing *sharing, RowSharingPlace place, Arena *arena);

/* The key of a row of a bank, out of `banks` banks. Key 0 belongs to no row. */
static inline uint32_t row_sharing_key(uint32_t row, uint32_t bank, uint32_t banks) {
    return row * banks + bank + 1;
}

/* Records that a CTA (linear index) reads from a row. */
void row_sharing_read(RowSharing *sharing, uint32_t key, uint32_t cta, Counters *counters);

/* Counts the rows still in the table and empties it. */
void row_sharing_close(RowSharing *sharing, Counters *counters);

#endif
