/* Hash table with open addressing and linear probing; at most half full. */
#include "cache/line_table.h"

#include <stdlib.h>

#include "base/arena.h"

enum { FIRST_ENTRIES = 64 };

/* The entry of a line, or the free entry for it. */
static LineEntry *find(const LineTable *table, uint64_t line) {
    uint64_t hash = line * UINT64_C(0x9E3779B97F4A7C15); /* 2^64 divided by the golden ratio */
    uint64_t i = (hash ^ hash >> 32) & table->mask;
    while (table->entries[i].epoch == table->epoch && table->entries[i].line != line)
        i = (i + 1) & table->mask;
    return &table->entries[i];
}

static void grow(LineTable *table) {
    LineEntry *old = table->entries;
    uint64_t count = old ? table->mask + 1 : 0, more = old ? 2 * count : FIRST_ENTRIES;
    table->entries = base_calloc(more, sizeof *table->entries);
    table->mask = more - 1;
    if (!table->epoch) table->epoch = 1;
    for (uint64_t i = 0; i < count; i++)
        if (old[i].epoch == table->epoch) *find(table, old[i].line) = old[i];
    free(old);
}

uint64_t *line_table_at(LineTable *table, uint64_t line) {
    if (!table->entries || 2 * table->used > table->mask) grow(table);
    LineEntry *entry = find(table, line);
    if (entry->epoch != table->epoch) {
        *entry = (LineEntry){.line = line, .epoch = table->epoch};
        table->used++;
    }
    return &entry->value;
}

void line_table_clear(LineTable *table) {
    table->epoch++;
    table->used = 0;
}

void line_table_free(LineTable *table) {
    free(table->entries);
    *table = (LineTable){0};
}
