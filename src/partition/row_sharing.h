/* Which CTAs read the same DRAM rows: OWL's row sharing by consecutive CTAs (OWL section 4.3 and
 * table 4). A row read by CTAs 1, 2, 3 and 7 is shared to 75%: three of the four have a neighbour.
 * The paper does not say where it counts reads, so they are counted at two places.
 *
 * A bounded table of rows, each with the CTAs that have read it since it entered the table. A row
 * leaves, and is counted, when another one needs its place, when its list of CTAs is full, or when
 * the owner closes the kernel; coming back it counts as another row. */
#ifndef TYTO_PARTITION_ROW_SHARING_H
#define TYTO_PARTITION_ROW_SHARING_H

#include <stdint.h>

#include "base/arena.h"
#include "stats/counters.h"

enum {
    ROW_SHARING_ROWS = 1024, /* rows of a table */
    ROW_SHARING_CTAS = 61    /* CTAs of a row */
};

/* A row of the table: what most reads look at, apart from the CTAs, so that it stays in the host's
 * caches. */
typedef struct SharedRow {
    uint32_t key;    /* 0: unused */
    uint32_t latest; /* CTA that read it last */
} SharedRow;

typedef struct RowReaders {
    uint32_t count;                  /* CTAs */
    uint32_t ctas[ROW_SHARING_CTAS]; /* in the order of their first read */
} RowReaders;

/* The reads that count: those that get to DRAM, or all that come to L2. */
typedef enum RowSharingPlace { ROW_SHARING_AT_DRAM, ROW_SHARING_AT_L2 } RowSharingPlace;

typedef struct RowSharing {
    SharedRow *rows;       /* ROW_SHARING_ROWS, by hash of the key */
    RowReaders *readers;   /* of each */
    RowSharingPlace place; /* whose counters it has */
} RowSharing;

void row_sharing_init(RowSharing *sharing, RowSharingPlace place, Arena *arena);

/* The name of a row of a bank (one of `banks`); 0 names none. */
static inline uint32_t row_sharing_key(uint32_t row, uint32_t bank, uint32_t banks) {
    return row * banks + bank + 1;
}

/* A CTA (linear index) reads from a row. */
void row_sharing_read(RowSharing *sharing, uint32_t key, uint32_t cta, Counters *counters);

/* Counts the rows still in the table, and empties it. */
void row_sharing_close(RowSharing *sharing, Counters *counters);

#endif
