/* Hash table from lines (addresses without the bits inside a line) to 64-bit values, which are
 * initially 0. It grows with the number of lines; clearing it takes constant time. Nothing depends
 * on the hash order, because there is no iteration. */
#ifndef TYTO_CACHE_LINE_TABLE_H
#define TYTO_CACHE_LINE_TABLE_H

#include <stdint.h>

typedef struct LineEntry {
    uint64_t line;
    uint64_t value;
    uint64_t epoch; /* the entry is in use if this equals the table's */
} LineEntry;

typedef struct LineTable {
    LineEntry *entries; /* number is a power of two; NULL at first */
    uint64_t mask;      /* number of entries - 1 */
    uint64_t used;      /* entries in use in this epoch */
    uint64_t epoch;     /* number of clears plus 1 */
} LineTable;            /* initialise with {0} */

/* A pointer to the value of a line; the value may be changed until the next call. */
uint64_t *line_table_at(LineTable *table, uint64_t line);
void line_table_clear(LineTable *table); /* sets all values to 0 */
void line_table_free(LineTable *table);  /* leaves an empty table */

#endif
