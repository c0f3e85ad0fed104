/* Tracks which lines of the open rows are still to be prefetched (see the header). */
#include "dram/prefetch.h"

#include <assert.h>
#include <string.h>

#include "base/bits.h"

bool dram_prefetch_check(const DramPrefetchConfig *config, uint32_t row_bytes, Diag *diag) {
    const DramPrefetchConfig *c = config;
    if (c->scheme == DRAM_PREFETCH_NONE) return true;
    int before = diag_error_count(diag);
    if (!c->line_bytes || row_bytes % c->line_bytes ||
        row_bytes / c->line_bytes > DRAM_PREFETCH_MAX_LINES)
        diag_error(diag, NULL, 0, 0,
                   "DRAM prefetch: lines of %u bytes in rows of %u: must be a whole "
                   "number of lines, at most %d",
                   c->line_bytes, row_bytes, DRAM_PREFETCH_MAX_LINES);
    if (c->map && c->map->row_bytes != row_bytes)
        diag_error(diag, NULL, 0, 0,
                   "DRAM prefetch: rows of %u bytes, but the address map has rows of "
                   "%u",
                   row_bytes, c->map->row_bytes);
    if (c->lower > c->higher || c->higher > DRAM_PREFETCH_MAX_LINES)
        diag_error(diag, NULL, 0, 0,
                   "DRAM prefetch: lower %u and higher %u: must rise, and be at "
                   "most %d",
                   c->lower, c->higher, DRAM_PREFETCH_MAX_LINES);
    return diag_error_count(diag) == before;
}

void dram_prefetch_init(DramPrefetch *prefetch, const DramPrefetchConfig *config,
                        uint32_t row_bytes) {
    *prefetch = (DramPrefetch){.config = *config};
    if (config->scheme == DRAM_PREFETCH_NONE) return;
    assert(config->map);
    prefetch->lines = row_bytes / config->line_bytes;
}

void dram_prefetch_arrived(DramPrefetch *prefetch, uint32_t waiting) {
    uint64_t now = (uint64_t)waiting << DRAM_PREFETCH_FRACTION;
    prefetch->mean += (now >> DRAM_PREFETCH_WEIGHT) - (prefetch->mean >> DRAM_PREFETCH_WEIGHT);
}

/* Updates the bank's bits in the masks from its counters. */
static void update_masks(DramPrefetch *prefetch, uint32_t bank) {
    uint32_t bit = UINT32_C(1) << bank;
    prefetch->below_lower &= ~bit;
    prefetch->below_higher &= ~bit;
    if (prefetch->count[bank] < prefetch->config.lower) prefetch->below_lower |= bit;
    if (prefetch->count[bank] < prefetch->config.higher) prefetch->below_higher |= bit;
}

static uint64_t address_of(const DramPrefetch *prefetch, uint32_t bank, uint32_t line) {
    return address_map_sibling(prefetch->config.map, prefetch->row_address[bank],
                               line * prefetch->config.line_bytes);
}

void dram_prefetch_opened(DramPrefetch *prefetch, uint32_t bank, uint64_t address) {
    const DramPrefetchConfig *config = &prefetch->config;
    if (config->scheme == DRAM_PREFETCH_NONE) return;
    prefetch->count[bank] = 0;
    prefetch->begun &= ~(UINT32_C(1) << bank);
    prefetch->row_address[bank] = address;
    memset(prefetch->sent[bank], 0, sizeof prefetch->sent[bank]);
    for (uint32_t line = 0; config->skips_cached && line < prefetch->lines; line++)
        if (config->is_cached(config->cache, address_of(prefetch, bank, line)))
            bits_set(prefetch->sent[bank], line);
    update_masks(prefetch, bank);
}

void dram_prefetch_closed(DramPrefetch *prefetch, uint32_t bank) {
    prefetch->rows &= ~(UINT32_C(1) << bank);
}

/* The first unsent line at or after `from`; `lines` if there is none. */
static uint32_t unsent_from(const DramPrefetch *prefetch, uint32_t bank, uint32_t from) {
    const uint64_t *sent = prefetch->sent[bank];
    for (uint32_t word = from / 64; word < DRAM_PREFETCH_MAX_LINES / 64; word++) {
        uint64_t unsent = ~sent[word];
        if (word == from / 64) unsent &= UINT64_MAX << from % 64;
        if (!unsent) continue;
        uint32_t line = word * 64 + (uint32_t)bits_lowest64(unsent);
        return line < prefetch->lines ? line : prefetch->lines;
    }
    return prefetch->lines;
}

/* The next line to prefetch; `lines` if there is none. */
static uint32_t next_unsent(const DramPrefetch *prefetch, uint32_t bank) {
    const DramPrefetchOrder order = prefetch->config.order;
    uint32_t after = order == DRAM_PREFETCH_FROM_START ? 0 : prefetch->next[bank];
    uint32_t line = after < prefetch->lines ? unsent_from(prefetch, bank, after) : prefetch->lines;
    if (line < prefetch->lines || order == DRAM_PREFETCH_ONWARD) return line;
    return unsent_from(prefetch, bank, 0);
}

/* Marks the lines as sent. If the row has no next line, there is nothing to prefetch from it. */
static void mark_sent(DramPrefetch *prefetch, uint32_t bank, uint32_t column, uint32_t bytes) {
    uint32_t line_bytes = prefetch->config.line_bytes;
    uint32_t last = (column + bytes - 1) / line_bytes;
    for (uint32_t line = column / line_bytes; line <= last; line++)
        bits_set(prefetch->sent[bank], line);
    prefetch->next[bank] = (uint16_t)(last + 1);
    if (next_unsent(prefetch, bank) == prefetch->lines) prefetch->rows &= ~(UINT32_C(1) << bank);
}

void dram_prefetch_demanded(DramPrefetch *prefetch, uint32_t bank, uint32_t column, uint32_t bytes,
                            bool is_write) {
    if (prefetch->config.scheme == DRAM_PREFETCH_NONE) return;
    if (!is_write) prefetch->rows |= UINT32_C(1) << bank;
    mark_sent(prefetch, bank, column, bytes);
}

void dram_prefetch_sent(DramPrefetch *prefetch, uint32_t bank, uint32_t column) {
    prefetch->count[bank]++;
    prefetch->begun |= UINT32_C(1) << bank;
    update_masks(prefetch, bank);
    mark_sent(prefetch, bank, column, prefetch->config.line_bytes);
}

uint32_t dram_prefetch_next(const DramPrefetch *prefetch, uint32_t bank, uint64_t *address) {
    uint32_t line = next_unsent(prefetch, bank);
    *address = address_of(prefetch, bank, line);
    return line * prefetch->config.line_bytes;
}
