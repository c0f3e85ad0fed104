/* Victim tags, sorted in the order of replacement (see the header). */
#include "cache/victim_tags.h"

#include <assert.h>
#include <string.h>

#include "base/bits.h"

enum { TAG_FACTOR = 7 }; /* factor of the tag in the set's number: see the header */

static const uint64_t EMPTY = UINT64_MAX; /* no line has this number */

size_t victim_tags_bytes(uint32_t warps, uint32_t sets, uint32_t ways) {
    return sizeof(uint64_t) * warps * sets * ways;
}

void victim_tags_place(VictimTags *victims, uint32_t warps, uint32_t sets, uint32_t ways,
                       uint32_t line_bytes, Replacement replacement, void *memory) {
    *victims = (VictimTags){
        .tags = memory,
        .warps = warps,
        .sets = sets,
        .ways = ways,
        .line_shift = (uint8_t)bits_lowest32(line_bytes),
        .set_bits = (uint8_t)bits_lowest32(sets),
        .is_lru = replacement == REPLACE_LRU,
    };
    memset(memory, 0xFF, victim_tags_bytes(warps, sets, ways)); /* EMPTY */
}

static uint64_t *set_of(VictimTags *victims, uint32_t warp, uint64_t line) {
    assert(warp < victims->warps);
    uint64_t set = (line + TAG_FACTOR * (line >> victims->set_bits)) & (victims->sets - 1);
    return &victims->tags[(warp * victims->sets + set) * victims->ways];
}

/* The rank of the line in the set; `ways`: not present. */
static uint32_t rank_of(const VictimTags *victims, const uint64_t *set, uint64_t line) {
    uint32_t rank = 0;
    while (rank < victims->ways && set[rank] != line)
        rank++;
    return rank;
}

/* Removes the tag at `rank` and appends the line at the end. */
static void put_last(const VictimTags *victims, uint64_t *set, uint32_t rank, uint64_t line) {
    memmove(&set[rank], &set[rank + 1], sizeof *set * (victims->ways - 1 - rank));
    set[victims->ways - 1] = line;
}

void victim_tags_insert(VictimTags *victims, uint32_t warp, uint64_t address) {
    uint64_t line = address >> victims->line_shift;
    uint64_t *set = set_of(victims, warp, line);
    uint32_t rank = rank_of(victims, set, line);
    if (rank == victims->ways) put_last(victims, set, 0, line);
    else if (victims->is_lru) put_last(victims, set, rank, line);
}

bool victim_tags_probe(VictimTags *victims, uint32_t warp, uint64_t address) {
    uint64_t line = address >> victims->line_shift;
    uint64_t *set = set_of(victims, warp, line);
    uint32_t rank = rank_of(victims, set, line);
    if (rank == victims->ways) return false;
    if (victims->is_lru) put_last(victims, set, rank, line);
    return true;
}

void victim_tags_remove(VictimTags *victims, uint64_t address) {
    uint64_t line = address >> victims->line_shift;
    for (uint32_t warp = 0; warp < victims->warps; warp++) {
        uint64_t *set = set_of(victims, warp, line);
        uint32_t rank = rank_of(victims, set, line);
        if (rank == victims->ways) continue;
        memmove(&set[1], &set[0], sizeof *set * rank);
        set[0] = EMPTY;
    }
}
