/* The table of rows and their readers (see the header). */
#include "partition/row_sharing.h"

#include <stdbool.h>

#include "base/bits.h"

void row_sharing_init(RowSharing *sharing, RowSharingPlace place, Arena *arena) {
    sharing->place = place;
    sharing->rows = arena_alloc_aligned(arena, sizeof *sharing->rows * ROW_SHARING_ROWS, 64);
    sharing->readers = ARENA_ARRAY(arena, RowReaders, ROW_SHARING_ROWS);
}

static bool has_cta(const RowReaders *row, uint32_t cta) {
    bool is_found = false;
    for (uint32_t i = 0; i < row->count; i++)
        is_found |= row->ctas[i] == cta;
    return is_found;
}

/* Counts a row when it leaves the table. */
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

static uint32_t place_of(uint32_t key) {
    return key * UINT32_C(0x9E3779B1) >> (32 - bits_lowest32(ROW_SHARING_ROWS));
}

/* Handles a read by a CTA other than the row's latest one, or a read of another row at this
 * place. */
__attribute__((noinline)) static void enter(RowSharing *sharing, uint32_t place, uint32_t key,
                                            uint32_t cta, Counters *counters) {
    SharedRow *row = &sharing->rows[place];
    RowReaders *readers = &sharing->readers[place];
    const bool is_there = row->key == key;
    row->latest = cta;
    if (is_there && has_cta(readers, cta)) return;
    if (row->key && (!is_there || readers->count == ROW_SHARING_CTAS)) {
        count_row(readers, sharing->place, counters);
        readers->count = 0;
    }
    row->key = key;
    readers->ctas[readers->count++] = cta;
}

void row_sharing_read(RowSharing *sharing, uint32_t key, uint32_t cta, Counters *counters) {
    const uint32_t place = place_of(key);
    const SharedRow *row = &sharing->rows[place];
    if (row->key != key || row->latest != cta) enter(sharing, place, key, cta, counters);
}

void row_sharing_close(RowSharing *sharing, Counters *counters) {
    for (uint32_t i = 0; i < ROW_SHARING_ROWS; i++) {
        if (!sharing->rows[i].key) continue; /* the memory of its readers was perhaps never used */
        count_row(&sharing->readers[i], sharing->place, counters);
        sharing->rows[i].key = sharing->readers[i].count = 0;
    }
}
