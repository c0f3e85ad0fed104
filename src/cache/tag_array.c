/* Reservation and replacement of lines (see the header). */
#include "cache/tag_array.h"

#include <assert.h>
#include <string.h>

#include "base/bits.h"

static uint32_t sector_bytes_of(const TagArrayConfig *config) {
    return config->sector_bytes ? config->sector_bytes : config->line_bytes;
}

void tag_array_init(TagArray *tags, const TagArrayConfig *config, Arena *arena) {
    uint32_t sector = sector_bytes_of(config), places = config->sets * config->ways;
    *tags = (TagArray){
        .sets = config->sets,
        .ways = config->ways,
        .line_shift = (uint8_t)bits_lowest32(config->line_bytes),
        .sector_shift = (uint8_t)bits_lowest32(sector),
        .sectors = (uint8_t)(config->line_bytes / sector),
        .is_lru = config->replacement == REPLACE_LRU,
    };
    Diag *diag = diag_new();
    bool is_good =
        set_index_init(&tags->index, config->set_index, config->sets, config->line_bytes, diag);
    assert(is_good);
    (void)is_good;
    diag_free(diag);
    tags->tags = arena_alloc_aligned(arena, sizeof *tags->tags * places, 64);
    tags->lines = arena_alloc_aligned(arena, sizeof *tags->lines * places, 64);
    if (config->tracks_bytes)
        tags->written = ARENA_ARRAY(arena, uint64_t, (size_t)places * tags->sectors);
    memset(tags->tags, 0xFF, sizeof *tags->tags * places); /* TAG_EMPTY */
}

/* Place to give up in the set whose first place is `base`; TAG_NONE when all are pending. A free
 * place has the stamp 0, older than any line. Written without branches, which would be guessed
 * wrong half the time. */
static int32_t find_victim(const TagArray *tags, uint32_t base) {
    int32_t victim = TAG_NONE;
    uint64_t oldest = UINT64_MAX;
    for (uint32_t place = base; place < base + tags->ways; place++) {
        const TagLine *line = &tags->lines[place];
        uint64_t age = line->pending ? UINT64_MAX : line->stamp;
        victim = age < oldest ? (int32_t)place : victim;
        oldest = age < oldest ? age : oldest;
    }
    return victim;
}

bool tag_array_can_reserve(const TagArray *tags, uint64_t address) {
    return find_victim(tags, set_index_of(&tags->index, address) * tags->ways) != TAG_NONE;
}

int32_t tag_array_reserve(TagArray *tags, uint64_t address, uint8_t pending, TagEviction *evicted) {
    int32_t place = find_victim(tags, set_index_of(&tags->index, address) * tags->ways);
    *evicted = (TagEviction){0};
    if (place == TAG_NONE) return TAG_NONE;
    TagLine *line = &tags->lines[place];
    if (tags->tags[place] != TAG_EMPTY)
        *evicted = (TagEviction){.address = tag_array_address(tags, place),
                                 .filler_thread = line->filler_thread,
                                 .owner_warp = line->owner_warp,
                                 .valid = line->valid,
                                 .dirty = line->dirty,
                                 .has_line = true};
    tags->tags[place] = address >> tags->line_shift;
    *line = (TagLine){.stamp = ++tags->clock, .pending = pending};
    if (tags->written)
        memset(&tags->written[(uint32_t)place * tags->sectors], 0,
               sizeof *tags->written * tags->sectors);
    return place;
}

void tag_array_write_bytes(TagArray *tags, int32_t place, uint32_t sector, uint64_t bytes) {
    TagLine *line = &tags->lines[place];
    uint8_t bit = (uint8_t)(1u << sector);
    line->dirty |= bit;
    if (!tags->written || (line->pending & bit)) return;
    uint64_t *written = &tags->written[(uint32_t)place * tags->sectors + sector];
    *written |= bytes;
    if (*written == bits_low_mask(1 << tags->sector_shift)) line->valid |= bit;
}

void tag_array_invalidate_all(TagArray *tags) {
    for (uint32_t place = 0; place < tags->sets * tags->ways; place++) {
        TagLine *line = &tags->lines[place];
        line->valid = line->dirty = 0;
        if (line->pending) continue;
        tags->tags[place] = TAG_EMPTY;
        line->stamp = 0;
    }
    if (tags->written)
        memset(tags->written, 0, sizeof *tags->written * tags->sets * tags->ways * tags->sectors);
}

int32_t tag_array_next_dirty(const TagArray *tags, int32_t place) {
    for (; place < (int32_t)(tags->sets * tags->ways); place++)
        if (tags->lines[place].dirty) return place;
    return TAG_NONE;
}
