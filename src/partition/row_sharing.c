/* The table of rows and their readers (see the header). */
#include "partition/row_sharing.h"

#include <stdbool.h>

#include "base/bits.h"

void row_sharing_init(RowSharing *sharing, RowSharingPlace place, Arena *arena) {
    sharing->place = place;
    sharing->rows = arena_alloc_aligned(arena, sizeof *sharing->rows * ROW_SHARING_ROWS, 64);
}

static bool has_cta(const RowReaders *row, uint32_t cta) {
    bool is_found = false;
    for (uint32_t i = 0; i < row->count; i++)
        is_found |= row->ctas[i] == cta;
    return is_found;
}

/* Counts a row that leaves the table. */
static void count_row(const RowReaders *row, RowSharingPlace place, Counters *counters) {
    uint32_t neighbours = 0;
    for (uint32_t i = 0; i < row->count; i++)
        neighbours += has_cta(row, row->ctas[i] - 1) || has_cta(row, row->ctas[i] + 1);
    uint64_t share = UINT64_C(1000000) * neighbours / row->count;
    if (place == ROW_SHARING_AT_L2) {
        counters->l2_rows_used++;
        counters->l2_row_ctas += row->count;
        counters->l2_row_shares += share;
        return;
    }
    counters->dram_rows_used++;
    counters->dram_rows_shared += row->count > 1;
    counters->dram_row_ctas += row->count;
    counters->dram_row_neighbours += neighbours;
    counters->dram_row_shares += share;
}

static RowReaders *row_of(RowSharing *sharing, uint32_t key) {
    return &sharing->rows[key * UINT32_C(0x9E3779B1) >> (32 - bits_lowest32(ROW_SHARING_ROWS))];
}

void row_sharing_read(RowSharing *sharing, uint32_t key, uint32_t cta, Counters *counters) {
    RowReaders *row = row_of(sharing, key);
    if (row->key == key) {
        if (row->latest == cta) return;
        row->latest = cta;
        if (has_cta(row, cta)) return;
    }
    if (row->key && (row->key != key || row->count == ROW_SHARING_CTAS)) {
        count_row(row, sharing->place, counters);
        row->count = 0;
    }
    row->key = key;
    row->latest = cta;
    row->ctas[row->count++] = cta;
}

void row_sharing_close(RowSharing *sharing, Counters *counters) {
    for (uint32_t i = 0; i < ROW_SHARING_ROWS; i++) {
        RowReaders *row = &sharing->rows[i];
        if (row->key) count_row(row, sharing->place, counters);
        row->key = row->count = 0;
    }
}
