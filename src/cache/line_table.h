/* Hash table from lines (addresses without the bits inside a line) to 64-bit values, which are 0
 * until set. It grows with the lines held; emptying it costs nothing. Nothing depends on hash
 * order: there is no iteration. */
#ifndef TYTO_CACHE_LINE_TABLE_H
#define TYTO_CACHE_LINE_TABLE_H

#include <stdint.h>

typedef struct LineEntry {
    uint64_t line;
    uint64_t value;
    uint64_t epoch; /* the entry is in use if it is the table's */
} LineEntry;

typedef struct LineTable {
    LineEntry *entries; /* a power of two; NULL at first */
    uint64_t mask;      /* entries - 1 */
    uint64_t used;      /* entries of this epoch */
    uint64_t epoch;     /* times the table has been emptied, and 1 */
} LineTable;            /* starts as {0} */

/* The value of a line, which may be changed until the next call. */
uint64_t *line_table_at(LineTable *table, uint64_t line);
void line_table_clear(LineTable *table); /* every value is 0 again */
void line_table_free(LineTable *table);  /* leaves an empty table */

#endif
