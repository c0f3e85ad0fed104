/* Tag array: which lines a cache holds, and their state. It has no data, no time and no counters;
 * the cache decides what to do with each result.
 *
 * A line consists of one to eight sectors, each valid, pending (being filled) or neither, and dirty
 * or not. A line with a pending sector cannot be replaced. A sector that is dirty but not valid has
 * been partially written and not filled.
 *
 * A line is identified by its place: set times the maximum number of ways, plus way. If a set has
 * more ways than can be scanned quickly (TAG_SCANNED_WAYS), a hash table finds its lines and a list
 * keeps them in the order of replacement; the results are the same. Among replaceable lines, one of
 * the lowest rank is replaced, and of those the oldest. Lines have ranks only if accesses carry
 * priorities. The addresses may be from any space (an L2 slice uses addresses within its channel),
 * but always from the same one. */
#ifndef TYTO_CACHE_TAG_ARRAY_H
#define TYTO_CACHE_TAG_ARRAY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "cache/policy.h"
#include "cache/set_index.h"

enum { TAG_NONE = -1, TAG_MAX_WAYS = 512, TAG_MAX_SECTORS = 8, TAG_SCANNED_WAYS = 64 };

typedef struct TagArrayConfig {
    uint32_t sets;         /* a power of two */
    uint32_t ways;         /* 1..TAG_MAX_WAYS */
    uint32_t line_bytes;   /* a power of two, 16..4096 */
    uint32_t sector_bytes; /* bytes of a sector, at least line_bytes / 8; 0: the whole line */
    Replacement replacement;
    uint32_t dirty_share;  /* percent: while fewer lines than this are dirty, they are not replaced,
                              unless all lines of the set are dirty */
    bool tracks_bytes;     /* partial writes can make a sector valid (sectors of at most 64
                              bytes) */
    const char *set_index; /* see cache/set_index.h; NULL: the bits directly above the line offset.
                              Borrowed */
} TagArrayConfig;

/* The rank that the priority of an access gives to a line. */
typedef enum TagRank { TAG_NORMAL, TAG_FIRST, TAG_LAST, TAG_RANKS } TagRank;

typedef struct TagLine {
    uint64_t stamp;         /* order of last use (LRU) or allocation (FIFO); 0: free */
    uint32_t filler_thread; /* who brought the line in; defined by the owner */
    uint8_t valid;          /* one bit per sector: all its bytes are present */
    uint8_t dirty;          /* one bit per sector: has bytes that are newer than in the next
                               level */
    uint8_t pending;        /* one bit per sector: it is being filled */
    uint8_t rank;           /* TagRank */
} TagLine;
_Static_assert(sizeof(TagLine) == 16, "lines of a set stay in few cache lines");

typedef struct TagList TagList; /* private to tag_array.c */

/* The set of the last address: an access looks up its set several times. */
typedef struct TagMemo {
    uint64_t tag;  /* tag of that address */
    uint32_t base; /* first place of its set */
} TagMemo;

typedef struct TagArray {
    uint64_t *tags;  /* line address of each place, by set, then way; TAG_EMPTY: free */
    TagLine *lines;  /* state of each place */
    uint64_t clock;  /* number of stamps given out */
    TagMemo *memo;   /* caches the set function, the slowest part of a lookup */
    TagList *list;   /* for sets of many ways: order of replacement and hash table; else NULL */
    uint32_t ways;   /* ways in use */
    uint32_t stride; /* places per set: the maximum number of ways */
    uint32_t dirty_lines;  /* lines with a dirty sector */
    uint32_t dirty_floor;  /* while fewer lines are dirty, dirty lines stay */
    uint32_t ranked_lines; /* lines whose rank is not TAG_NORMAL */
    uint8_t line_shift;    /* log2 of the line size */
    uint8_t sector_shift;  /* log2 of the sector size */
    uint8_t sectors;       /* sectors per line */
    bool is_lru;           /* a use updates the stamp */
    /* The fields above are all that a lookup reads; they fill one line of the host's cache. */
    uint64_t *written;  /* written bytes of each sector of each place; NULL without tracks_bytes */
    uint32_t sets;      /* geometry */
    uint32_t last_ways; /* most TAG_LAST lines per set; at least `ways`: no limit */
    uint32_t dirty_share; /* dirty_floor as a percentage of the lines */
    uint64_t empty_clock; /* `clock` when all lines were last dropped */
    SetIndex index;       /* address to set */
} TagArray;

#define TAG_EMPTY UINT64_MAX

typedef enum TagResult {
    TAG_HIT,         /* all requested sectors are valid */
    TAG_PENDING,     /* all requested sectors are valid or pending */
    TAG_SECTOR_MISS, /* the line is present, but a requested sector is neither */
    TAG_MISS,        /* the line is not present */
} TagResult;

/* A replaced line. */
typedef struct TagEviction {
    uint64_t address;       /* first byte of the line */
    uint32_t filler_thread; /* as in TagLine */
    uint8_t valid;          /* sectors that were valid */
    uint8_t dirty;          /* sectors that must be written back */
    bool has_line;          /* a line was replaced; else the other fields are undefined */
} TagEviction;

/* Initialises an empty tag array, owned by `arena`. Every configuration that machine_check accepts
 * is valid. */
void tag_array_init(TagArray *tags, const TagArrayConfig *config, Arena *arena);

/* The sectors that the bytes from `address` to `address + bytes` (in one line) touch, one bit
 * each. */
static inline uint8_t tag_array_sectors(const TagArray *tags, uint64_t address, uint32_t bytes) {
    if (tags->sectors == 1) return 1;
    uint32_t line_mask = (1u << tags->line_shift) - 1;
    uint32_t first = ((uint32_t)address & line_mask) >> tags->sector_shift;
    uint32_t last = (((uint32_t)address & line_mask) + bytes - 1) >> tags->sector_shift;
    return (uint8_t)((2u << last) - (1u << first));
}

/* The bit of the sector that `address` is in; bit 0 if lines have no sectors. */
static inline uint8_t tag_array_sector(const TagArray *tags, uint64_t address) {
    const uint32_t line_mask = (1u << tags->line_shift) - 1;
    return (uint8_t)(1u << (((uint32_t)address & line_mask) >> tags->sector_shift));
}

/* The first place of the set of `address`. */
static inline uint32_t tag_array_base(const TagArray *tags, uint64_t address) {
    const uint64_t tag = address >> tags->line_shift;
    TagMemo *memo = tags->memo;
    if (memo->tag != tag)
        *memo = (TagMemo){.tag = tag, .base = set_index_of(&tags->index, address) * tags->stride};
    return memo->base;
}

/* tag_array_find and tag_array_touch for sets of many ways. */
__attribute__((noinline)) int32_t tag_array_find_listed(const TagArray *tags, uint64_t tag);
__attribute__((noinline)) void tag_array_touch_listed(TagArray *tags, int32_t place);

/* The place of the line that holds `address`; TAG_NONE: not present. Checks all ways, because an
 * early exit would cost more in mispredicted branches than it saves. */
static inline int32_t tag_array_find(const TagArray *tags, uint64_t address) {
    uint64_t tag = address >> tags->line_shift;
    if (tags->list) return tag_array_find_listed(tags, tag);
    uint32_t base = tag_array_base(tags, address);
    const uint64_t *row = &tags->tags[base];
    int32_t found = TAG_NONE;
    for (uint32_t way = 0; way < tags->ways; way++)
        found = row[way] == tag ? (int32_t)(base + way) : found;
    return found;
}

/* Where the last line was found: accesses to sectors of one line often follow each other. */
typedef struct TagHint {
    uint64_t tag;
    int32_t place;
} TagHint;

/* tag_array_find without a search if the line is that of the hint. */
static inline int32_t tag_array_find_again(const TagArray *tags, uint64_t address, TagHint *hint) {
    uint64_t tag = address >> tags->line_shift;
    if (hint->tag == tag && tags->tags[hint->place] == tag) return hint->place;
    int32_t place = tag_array_find(tags, address);
    if (place != TAG_NONE) *hint = (TagHint){.tag = tag, .place = place};
    return place;
}

/* Prefetches the set of `address` into the host's cache for a lookup that will follow: a large
 * array does not fit into the first-level cache, and a miss costs more than the lookup. (Always
 * inlined, because gcc drops a call of a function whose only effect is a prefetch.) */
__attribute__((always_inline)) static inline void tag_array_warm(const TagArray *tags,
                                                                 uint64_t address) {
    uint32_t base = set_index_of(&tags->index, address) * tags->stride;
    __builtin_prefetch(&tags->tags[base]);
    __builtin_prefetch(&tags->lines[base]);
    __builtin_prefetch(&tags->lines[base + tags->ways / 2]);
    __builtin_prefetch(&tags->lines[base + tags->ways - 1]);
}

/* The result of an access to `sectors` of the line at `place` (TAG_NONE: not present). */
static inline TagResult tag_array_look(const TagArray *tags, int32_t place, uint8_t sectors) {
    if (place == TAG_NONE) return TAG_MISS;
    const TagLine *line = &tags->lines[place];
    if (!(sectors & ~line->valid)) return TAG_HIT;
    return sectors & ~(line->valid | line->pending) ? TAG_SECTOR_MISS : TAG_PENDING;
}

/* The result of an access to `sectors` of the line of `address`; *place: its place (TAG_NONE on
 * TAG_MISS). Changes nothing. */
static inline TagResult tag_array_probe(const TagArray *tags, uint64_t address, uint8_t sectors,
                                        int32_t *place) {
    *place = tag_array_find(tags, address);
    return tag_array_look(tags, *place, sectors);
}

/* The same with a hint. */
static inline TagResult tag_array_probe_again(const TagArray *tags, uint64_t address,
                                              uint8_t sectors, TagHint *hint, int32_t *place) {
    *place = tag_array_find_again(tags, address, hint);
    return tag_array_look(tags, *place, sectors);
}

/* Whether a place, in use or not, holds the line of `address` with all of `sectors` valid. */
static inline bool tag_array_has(const TagArray *tags, int32_t place, uint64_t address,
                                 uint8_t sectors) {
    return tags->tags[place] == address >> tags->line_shift &&
           !(sectors & ~tags->lines[place].valid);
}

/* Records a use of the line, for LRU. */
static inline void tag_array_touch(TagArray *tags, int32_t place) {
    if (!tags->is_lru) return;
    tags->lines[place].stamp = ++tags->clock;
    if (tags->list) tag_array_touch_listed(tags, place);
}

/* The same with a priority. A line becomes TAG_LAST only if its set has room for another one. */
__attribute__((noinline)) void tag_array_touch_as(TagArray *tags, int32_t place,
                                                  CachePriority priority);

/* The first byte of the line at a place in use. */
static inline uint64_t tag_array_address(const TagArray *tags, int32_t place) {
    return tags->tags[place] << tags->line_shift;
}

/* Whether a line can be reserved now for `address` (which is not present): a place of its set is
 * free or holds a replaceable line. */
bool tag_array_can_reserve(const TagArray *tags, uint64_t address);

/* Reserves a place for `address`, which is not present: a free one, or that of the line that
 * replacement chooses, which is reported in *evicted. The line starts with nothing valid and
 * `pending` sectors pending, and counts as used. Returns TAG_NONE if no line of the set can be
 * replaced: each one has a pending sector, or stays because it is dirty while another one has a
 * pending sector. */
int32_t tag_array_reserve(TagArray *tags, uint64_t address, uint8_t pending, TagEviction *evicted);

/* The same with a priority. If the set has the maximum number of TAG_LAST lines, an access of
 * PRIORITY_LAST replaces the oldest of them, and no other access replaces any. So it also returns
 * TAG_NONE if all other lines have a pending sector. */
int32_t tag_array_reserve_as(TagArray *tags, uint64_t address, uint8_t pending,
                             CachePriority priority, TagEviction *evicted);

/* Whether the line at a place can be replaced: it has no pending sector, and does not stay because
 * it is dirty. */
bool tag_array_can_go(const TagArray *tags, int32_t place);
/* tag_array_reserve_as that replaces the line at `place`, which is in the set of `address` and is
 * free or replaceable. */
void tag_array_reserve_at(TagArray *tags, int32_t place, uint64_t address, uint8_t pending,
                          CachePriority priority, TagEviction *evicted);

/* Makes the line TAG_NORMAL. */
void tag_array_forget_rank(TagArray *tags, int32_t place);
/* Makes all TAG_LAST lines TAG_NORMAL. */
void tag_array_forget_last(TagArray *tags);
/* Sets the maximum number of TAG_LAST lines per set, at most all. Existing TAG_LAST lines keep
 * their rank. */
void tag_array_set_last_ways(TagArray *tags, uint32_t ways);

/* Marks more sectors of a line as pending. */
static inline void tag_array_expect(TagArray *tags, int32_t place, uint8_t sectors) {
    tags->lines[place].pending |= sectors;
}

/* Marks sectors that have arrived as valid and no longer pending. A sector that was written in the
 * meantime stays dirty. */
static inline void tag_array_fill(TagArray *tags, int32_t place, uint8_t sectors) {
    tags->lines[place].valid |= sectors;
    tags->lines[place].pending &= (uint8_t)~sectors;
}

/* Marks sectors as dirty. */
static inline void tag_array_soil(TagArray *tags, int32_t place, uint8_t sectors) {
    tags->dirty_lines += !tags->lines[place].dirty;
    tags->lines[place].dirty |= sectors;
}

/* Records that whole sectors have been written. */
static inline void tag_array_write(TagArray *tags, int32_t place, uint8_t sectors) {
    tags->lines[place].valid |= (uint8_t)(sectors & ~tags->lines[place].pending);
    tag_array_soil(tags, place, sectors);
}

/* Records that some bytes of one sector have been written (one bit per byte). If the array tracks
 * bytes, the sector becomes valid when all its bytes have been written. */
void tag_array_write_bytes(TagArray *tags, int32_t place, uint32_t sector, uint64_t bytes);

/* Records that sectors have been written back: they are no longer dirty. */
static inline void tag_array_clean(TagArray *tags, int32_t place, uint8_t sectors) {
    bool was_dirty = tags->lines[place].dirty;
    tags->lines[place].dirty &= (uint8_t)~sectors;
    tags->dirty_lines -= was_dirty && !tags->lines[place].dirty;
}

/* Invalidates sectors of a line whose other sectors may be pending. */
static inline void tag_array_drop(TagArray *tags, int32_t place, uint8_t sectors) {
    tags->lines[place].valid &= (uint8_t)~sectors;
}

/* Invalidates the line, dirty or not; it must have no pending sector. */
void tag_array_invalidate(TagArray *tags, int32_t place);

/* Sets the number of ways in use, from 1 to the number that the array was built with. The tag array
 * must be empty. */
void tag_array_set_ways(TagArray *tags, uint32_t ways);

/* Invalidates all lines without pending sectors, and the valid sectors of the others. Dirty data
 * are lost, so write them back before. */
void tag_array_invalidate_all(TagArray *tags);

/* The first place at or after `place` whose line has dirty sectors; TAG_NONE: none. */
int32_t tag_array_next_dirty(const TagArray *tags, int32_t place);

#endif
