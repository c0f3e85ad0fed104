/* Reservation and replacement of lines (see the header). */
#include "cache/tag_array.h"

#include <assert.h>
#include <string.h>

#include "base/bits.h"
#include "base/probing.h"

/* Lists of the places of each set in the order of replacement, free ones first, and a hash table of
 * the lines that are present. */
struct TagList {
    uint32_t *older, *newer; /* neighbours of each place; then, per set, its youngest and its
                                oldest */
    uint32_t *buckets;       /* place + 1, hashed by tag, with linear probing; 0: empty */
    uint32_t shift, mask;    /* 64 - log2 of the number of buckets; number of buckets - 1 */
};

static uint32_t sector_bytes_of(const TagArrayConfig *config) {
    return config->sector_bytes ? config->sector_bytes : config->line_bytes;
}

/* ---- Sets of many ways ---- */

static uint32_t places_of(const TagArray *tags) { return tags->sets * tags->stride; }

static uint32_t bucket_of(const TagList *list, uint64_t tag) {
    return (uint32_t)(tag * UINT64_C(0x9E3779B97F4A7C15) >> list->shift); /* Fibonacci hashing */
}

int32_t tag_array_find_listed(const TagArray *tags, uint64_t tag) {
    const TagList *list = tags->list;
    for (uint32_t b = bucket_of(list, tag); list->buckets[b]; b = (b + 1) & list->mask)
        if (tags->tags[list->buckets[b] - 1] == tag) return (int32_t)list->buckets[b] - 1;
    return TAG_NONE;
}

static void enter_bucket(TagArray *tags, uint32_t place) {
    TagList *list = tags->list;
    uint32_t b = bucket_of(list, tags->tags[place]);
    while (list->buckets[b])
        b = (b + 1) & list->mask;
    list->buckets[b] = place + 1;
}

static uint32_t home_of(const void *owner, uint32_t place) {
    const TagArray *tags = owner;
    return bucket_of(tags->list, tags->tags[place]);
}

static void leave_bucket(TagArray *tags, uint32_t place) {
    Probing table = {tags->list->buckets, tags->list->mask, .is_short = false};
    probing_remove(table, tags, home_of, place);
}

/* The record at which the list of the place's set begins and ends. */
static uint32_t end_of(const TagArray *tags, uint32_t place) {
    return places_of(tags) + place / tags->stride;
}

static void put_between(TagList *list, uint32_t older, uint32_t place, uint32_t newer) {
    list->older[place] = older;
    list->newer[place] = newer;
    list->newer[older] = place;
    list->older[newer] = place;
}

static void take_out(TagList *list, uint32_t place) {
    list->newer[list->older[place]] = list->newer[place];
    list->older[list->newer[place]] = list->older[place];
}

static void make_youngest(TagArray *tags, uint32_t place) {
    uint32_t end = end_of(tags, place);
    take_out(tags->list, place);
    put_between(tags->list, tags->list->older[end], place, end);
}

static void make_oldest(TagArray *tags, uint32_t place) {
    uint32_t end = end_of(tags, place);
    take_out(tags->list, place);
    put_between(tags->list, end, place, tags->list->newer[end]);
}

void tag_array_touch_listed(TagArray *tags, int32_t place) { make_youngest(tags, (uint32_t)place); }

/* Puts all places in use into their sets' lists, as free places. */
static void start_lists(TagArray *tags) {
    TagList *list = tags->list;
    for (uint32_t set = 0; set < tags->sets; set++) {
        uint32_t end = places_of(tags) + set, first = set * tags->stride;
        list->older[end] = list->newer[end] = end;
        for (uint32_t way = 0; way < tags->ways; way++)
            put_between(list, list->older[end], first + way, end);
    }
}

static void init_list(TagArray *tags, Arena *arena) {
    uint32_t places = places_of(tags), bits = 1;
    while (UINT32_C(1) << bits < 2 * places)
        bits++;
    TagList *list = arena_alloc(arena, sizeof *list);
    *list = (TagList){.older = ARENA_ARRAY(arena, uint32_t, places + tags->sets),
                      .newer = ARENA_ARRAY(arena, uint32_t, places + tags->sets),
                      .buckets = ARENA_ARRAY(arena, uint32_t, (size_t)1 << bits),
                      .shift = 64 - bits,
                      .mask = (UINT32_C(1) << bits) - 1};
    tags->list = list;
    start_lists(tags);
}

/* ---- All sets ---- */

static void set_floor(TagArray *tags) {
    uint64_t lines = (uint64_t)tags->sets * tags->ways;
    tags->dirty_floor = (uint32_t)((lines * tags->dirty_share + 99) / 100);
}

void tag_array_set_ways(TagArray *tags, uint32_t ways) {
    assert(ways >= 1 && ways <= tags->stride);
    assert(tags->clock == tags->empty_clock && "no line may be there");
    if (ways == tags->ways) return;
    tags->ways = ways;
    set_floor(tags);
    if (tags->list) start_lists(tags);
}

void tag_array_init(TagArray *tags, const TagArrayConfig *config, Arena *arena) {
    uint32_t sector = sector_bytes_of(config), places = config->sets * config->ways;
    *tags = (TagArray){
        .sets = config->sets,
        .ways = config->ways,
        .stride = config->ways,
        .last_ways = UINT32_MAX,
        .memo = ARENA_NEW(arena, TagMemo),
        .dirty_share = config->dirty_share,
        .line_shift = (uint8_t)bits_lowest32(config->line_bytes),
        .sector_shift = (uint8_t)bits_lowest32(sector),
        .sectors = (uint8_t)(config->line_bytes / sector),
        .is_lru = config->replacement == REPLACE_LRU,
    };
    tags->memo->tag = TAG_EMPTY;
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
    set_floor(tags);
    if (tags->ways > TAG_SCANNED_WAYS) init_list(tags, arena);
}

/* Dirty sectors that protect their line from replacement: all or none. */
static uint8_t spared(const TagArray *tags) {
    return tags->dirty_lines < tags->dirty_floor ? UINT8_MAX : 0;
}

/* ---- Ranks ---- */

static void set_rank(TagArray *tags, TagLine *line, TagRank rank) {
    tags->ranked_lines += rank != TAG_NORMAL;
    tags->ranked_lines -= line->rank != TAG_NORMAL;
    line->rank = (uint8_t)rank;
}

static uint32_t count_last(const TagArray *tags, uint32_t base) {
    uint32_t count = 0;
    for (uint32_t place = base; tags->ranked_lines && place < base + tags->ways; place++)
        count += tags->lines[place].rank == TAG_LAST;
    return count;
}

/* Whether the set that begins at `base` may have another TAG_LAST line. */
static bool has_room_for_last(const TagArray *tags, uint32_t base) {
    return count_last(tags, base) < tags->last_ways;
}

/* The rank of a line that has just been brought in. */
static TagRank rank_of(const TagArray *tags, CachePriority priority, uint32_t base) {
    if (priority == PRIORITY_FIRST) return TAG_FIRST;
    return priority == PRIORITY_LAST && has_room_for_last(tags, base) ? TAG_LAST : TAG_NORMAL;
}

void tag_array_touch_as(TagArray *tags, int32_t place, CachePriority priority) {
    TagLine *line = &tags->lines[place];
    if (priority != PRIORITY_UNCHANGED) tag_array_touch(tags, place);
    uint32_t base = (uint32_t)place / tags->stride * tags->stride;
    switch (priority) {
    case PRIORITY_NORMAL: set_rank(tags, line, TAG_NORMAL); break;
    case PRIORITY_FIRST: set_rank(tags, line, TAG_FIRST); break;
    case PRIORITY_LAST:
        if (line->rank != TAG_LAST && has_room_for_last(tags, base)) set_rank(tags, line, TAG_LAST);
        break;
    default: break;
    }
}

void tag_array_forget_rank(TagArray *tags, int32_t place) {
    set_rank(tags, &tags->lines[place], TAG_NORMAL);
}

void tag_array_forget_last(TagArray *tags) {
    for (uint32_t place = 0; tags->ranked_lines && place < places_of(tags); place++)
        if (tags->lines[place].rank == TAG_LAST) set_rank(tags, &tags->lines[place], TAG_NORMAL);
}

void tag_array_set_last_ways(TagArray *tags, uint32_t ways) { tags->last_ways = ways; }

/* ---- Victims ---- */

/* Finds the oldest replaceable line of each rank; TAG_NONE if there is none. */
static void find_oldest(const TagArray *tags, uint32_t base, uint8_t spares,
                        int32_t oldest[TAG_RANKS]) {
    for (int rank = 0; rank < TAG_RANKS; rank++)
        oldest[rank] = TAG_NONE;
    for (uint32_t place = base; place < base + tags->ways; place++) {
        const TagLine *line = &tags->lines[place];
        if (line->pending | (line->dirty & spares)) continue;
        int32_t *best = &oldest[line->rank];
        if (*best == TAG_NONE || line->stamp < tags->lines[*best].stamp) *best = (int32_t)place;
    }
}

/* find_victim if some lines have a rank. */
__attribute__((noinline)) static int32_t
find_ranked_victim(const TagArray *tags, uint32_t base, CachePriority priority, uint8_t spares) {
    int32_t oldest[TAG_RANKS];
    find_oldest(tags, base, spares, oldest);
    int32_t normal = oldest[TAG_NORMAL];
    uint32_t last = count_last(tags, base);
    if (last >= tags->last_ways && priority == PRIORITY_LAST && oldest[TAG_LAST] != TAG_NONE)
        return oldest[TAG_LAST];
    if (normal != TAG_NONE && tags->tags[normal] == TAG_EMPTY) return normal;
    if (oldest[TAG_FIRST] != TAG_NONE) return oldest[TAG_FIRST];
    if (normal != TAG_NONE) return normal;
    return last > tags->last_ways || tags->last_ways >= tags->ways ? oldest[TAG_LAST] : TAG_NONE;
}

static int32_t find_listed_victim(const TagArray *tags, uint32_t base, uint8_t spares) {
    const TagList *list = tags->list;
    uint32_t end = end_of(tags, base);
    for (uint32_t place = list->newer[end]; place != end; place = list->newer[place])
        if (!(tags->lines[place].pending | (tags->lines[place].dirty & spares)))
            return (int32_t)place;
    return TAG_NONE;
}

enum { WAY_BITS = 6 /* bits of the way number, below the stamp */ };
_Static_assert(TAG_SCANNED_WAYS <= 1 << WAY_BITS, "sets of more ways are lists");

/* The place to replace in the set that begins at `base`. Lines with a dirty sector in `spares`
 * stay. TAG_NONE: all lines must stay. A free place has the stamp 0, older than any line. Written
 * as the minimum of words, without branches, because half of the branches would be mispredicted. */
static int32_t find_victim(const TagArray *tags, uint32_t base, CachePriority priority,
                           uint8_t spares) {
    if (__builtin_expect(tags->ranked_lines != 0, false))
        return find_ranked_victim(tags, base, priority, spares);
    if (tags->list) return find_listed_victim(tags, base, spares);
    uint64_t oldest = UINT64_MAX;
    for (uint32_t way = 0; way < tags->ways; way++) {
        const TagLine *line = &tags->lines[base + way];
        const bool stays = (line->pending | (line->dirty & spares)) != 0;
        const uint64_t age = (line->stamp << WAY_BITS | way) | -(uint64_t)stays;
        oldest = age < oldest ? age : oldest;
    }
    if (oldest == UINT64_MAX) return TAG_NONE;
    return (int32_t)(base + (uint32_t)(oldest & bits_low_mask(WAY_BITS)));
}

static bool has_pending(const TagArray *tags, uint32_t base) {
    bool is_pending = false;
    for (uint32_t place = base; place < base + tags->ways; place++)
        is_pending |= tags->lines[place].pending != 0;
    return is_pending;
}

/* Whether all lines of the set would stay because they are dirty; then none would ever become
 * replaceable. */
__attribute__((noinline)) static bool is_spared_whole(const TagArray *tags, uint32_t base) {
    return spared(tags) && !has_pending(tags, base);
}

/* find_victim for a set in which no line was replaceable. */
__attribute__((noinline)) static int32_t find_spared_victim(const TagArray *tags, uint32_t base,
                                                            CachePriority priority) {
    return is_spared_whole(tags, base) ? find_victim(tags, base, priority, 0) : TAG_NONE;
}

bool tag_array_can_reserve(const TagArray *tags, uint64_t address) {
    const uint32_t base = tag_array_base(tags, address);
    if (tags->ranked_lines || tags->list)
        return find_victim(tags, base, PRIORITY_UNSAID, spared(tags)) != TAG_NONE ||
               find_spared_victim(tags, base, PRIORITY_UNSAID) != TAG_NONE;
    const uint8_t spares = spared(tags);
    bool can_go = false; /* checks all lines, as in tag_array_find */
    for (const TagLine *line = &tags->lines[base]; line < &tags->lines[base + tags->ways]; line++)
        can_go |= !(line->pending | (line->dirty & spares));
    return can_go || is_spared_whole(tags, base);
}

int32_t tag_array_reserve(TagArray *tags, uint64_t address, uint8_t pending, TagEviction *evicted) {
    return tag_array_reserve_as(tags, address, pending, PRIORITY_UNSAID, evicted);
}

/* Assigns a place to `address`; the place is free, or its line is reported in *evicted. */
__attribute__((always_inline)) static inline void take(TagArray *tags, int32_t place,
                                                       uint64_t address, uint8_t pending,
                                                       CachePriority priority,
                                                       TagEviction *evicted) {
    TagLine *line = &tags->lines[place];
    if (tags->tags[place] != TAG_EMPTY)
        *evicted = (TagEviction){.address = tag_array_address(tags, place),
                                 .filler_thread = line->filler_thread,
                                 .valid = line->valid,
                                 .dirty = line->dirty,
                                 .has_line = true};
    tags->dirty_lines -= line->dirty != 0;
    tags->ranked_lines -= line->rank != TAG_NORMAL;
    if (tags->list) {
        if (evicted->has_line) leave_bucket(tags, (uint32_t)place);
        make_youngest(tags, (uint32_t)place);
    }
    tags->tags[place] = address >> tags->line_shift;
    if (tags->list) enter_bucket(tags, (uint32_t)place);
    *line = (TagLine){.stamp = ++tags->clock, .pending = pending};
    if (__builtin_expect(priority != PRIORITY_UNSAID, false))
        set_rank(tags, line,
                 rank_of(tags, priority, (uint32_t)place / tags->stride * tags->stride));
    if (tags->written)
        memset(&tags->written[(uint32_t)place * tags->sectors], 0,
               sizeof *tags->written * tags->sectors);
}

int32_t tag_array_reserve_as(TagArray *tags, uint64_t address, uint8_t pending,
                             CachePriority priority, TagEviction *evicted) {
    uint32_t base = tag_array_base(tags, address);
    int32_t place = find_victim(tags, base, priority, spared(tags));
    *evicted = (TagEviction){0};
    if (place == TAG_NONE) place = find_spared_victim(tags, base, priority);
    if (place != TAG_NONE) take(tags, place, address, pending, priority, evicted);
    return place;
}

bool tag_array_can_go(const TagArray *tags, int32_t place) {
    const TagLine *line = &tags->lines[place];
    return !(line->pending | (line->dirty & spared(tags)));
}

void tag_array_reserve_at(TagArray *tags, int32_t place, uint64_t address, uint8_t pending,
                          CachePriority priority, TagEviction *evicted) {
    *evicted = (TagEviction){0};
    take(tags, place, address, pending, priority, evicted);
}

void tag_array_write_bytes(TagArray *tags, int32_t place, uint32_t sector, uint64_t bytes) {
    TagLine *line = &tags->lines[place];
    uint8_t bit = (uint8_t)(1u << sector);
    tag_array_soil(tags, place, bit);
    if (!tags->written || (line->pending & bit)) return;
    uint64_t *written = &tags->written[(uint32_t)place * tags->sectors + sector];
    *written |= bytes;
    if (*written == bits_low_mask(1 << tags->sector_shift)) line->valid |= bit;
}

void tag_array_invalidate(TagArray *tags, int32_t place) {
    if (tags->list) {
        leave_bucket(tags, (uint32_t)place);
        make_oldest(tags, (uint32_t)place);
    }
    tags->dirty_lines -= tags->lines[place].dirty != 0;
    tags->ranked_lines -= tags->lines[place].rank != TAG_NORMAL;
    tags->tags[place] = TAG_EMPTY;
    tags->lines[place] = (TagLine){0};
}

void tag_array_invalidate_all(TagArray *tags) {
    if (tags->clock == tags->empty_clock) return; /* no line has been added since */
    bool is_pending = false;
    for (uint32_t place = 0; place < places_of(tags); place++) {
        TagLine *line = &tags->lines[place];
        line->valid = line->dirty = line->rank = 0;
        is_pending |= line->pending != 0;
        if (line->pending || tags->tags[place] == TAG_EMPTY) continue;
        if (tags->list) leave_bucket(tags, (uint32_t)place);
        if (tags->list) make_oldest(tags, (uint32_t)place);
        tags->tags[place] = TAG_EMPTY;
        line->stamp = 0;
    }
    tags->dirty_lines = tags->ranked_lines = 0;
    tags->empty_clock = is_pending ? UINT64_MAX : tags->clock;
    if (tags->written)
        memset(tags->written, 0, sizeof *tags->written * places_of(tags) * tags->sectors);
}

int32_t tag_array_next_dirty(const TagArray *tags, int32_t place) {
    if (!tags->dirty_lines) return TAG_NONE;
    for (; place < (int32_t)places_of(tags); place++)
        if (tags->lines[place].dirty) return place;
    return TAG_NONE;
}
