/* Tag array: which lines a cache holds, and in what state. No data, no time and no counters; the
 * cache around it decides what to do about each answer.
 *
 * A line is made of one to eight sectors, each valid, pending (a fill is under way) or neither, and
 * dirty or not. A line with a pending sector keeps its place. A sector that is dirty but not valid
 * has been written in part and not fetched.
 *
 * Lines are named by their place: set x the most ways it can have + way. A set of more ways than
 * are quickly looked through (TAG_SCANNED_WAYS) is found by a hash table and kept in the order of
 * replacement as a list; nothing that can be asked differs. Among lines that can go, one of the
 * lowest rank goes, and of those the oldest; lines have ranks only where accesses name priorities.
 * The addresses given may be of any space (an L2 slice uses addresses within its channel), always
 * of the same one. */
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
    uint32_t dirty_share;  /* percent: while fewer of the lines are dirty, none of those may go
                              unless its set has only such */
    bool tracks_bytes;     /* partial writes add up to a valid sector (sectors of up to 64 bytes) */
    const char *set_index; /* see cache/set_index.h; NULL: the bits above the line. Borrowed */
} TagArrayConfig;

/* What the priority of an access has made of a line. */
typedef enum TagRank { TAG_NORMAL, TAG_FIRST, TAG_LAST, TAG_RANKS } TagRank;

typedef struct TagLine {
    uint64_t stamp;         /* order of last use (LRU) or allocation (FIFO); 0: free */
    uint32_t filler_thread; /* who brought the line in; the owner's meaning */
    uint8_t valid;          /* bit per sector: all its bytes are there */
    uint8_t dirty;          /* bit per sector: holds bytes newer than below */
    uint8_t pending;        /* bit per sector: its fill is under way */
    uint8_t rank;           /* TagRank */
} TagLine;
_Static_assert(sizeof(TagLine) == 16, "lines of a set stay in few cache lines");

typedef struct TagList TagList; /* tag_array.c's own */

/* The line that was asked for last: one access asks for its set several times. */
typedef struct TagMemo {
    uint64_t tag;  /* of the line */
    uint32_t base; /* first place of its set */
} TagMemo;

typedef struct TagArray {
    uint64_t *tags;  /* line address of each place, by set, then way; TAG_EMPTY when free */
    TagLine *lines;  /* state of each place */
    uint64_t clock;  /* stamps given out */
    TagMemo *memo;   /* of the function from address to set, which takes the longest of a lookup */
    TagList *list;   /* sets of many ways: order of replacement and hash table; else NULL */
    uint32_t ways;   /* in use */
    uint32_t stride; /* places of a set: the most ways it can have */
    uint32_t dirty_lines;  /* lines with a dirty sector */
    uint32_t dirty_floor;  /* while there are fewer of them, they stay */
    uint32_t ranked_lines; /* lines that are not TAG_NORMAL */
    uint8_t line_shift;    /* log2 of the bytes of a line */
    uint8_t sector_shift;  /* log2 of the bytes of a sector */
    uint8_t sectors;       /* sectors of a line */
    bool is_lru;           /* a use renews the stamp */
    /* Up to here a line of the host's caches: what a lookup reads. */
    uint64_t *written;  /* bytes written of each sector of each place; NULL without tracks_bytes */
    uint32_t sets;      /* geometry */
    uint32_t last_ways; /* lines of a set that may be TAG_LAST; as many as ways: any */
    uint32_t dirty_share; /* percent of the lines that make dirty_floor */
    uint64_t empty_clock; /* `clock` when all lines were dropped last */
    SetIndex index;       /* address to set */
} TagArray;

#define TAG_EMPTY UINT64_MAX

typedef enum TagResult {
    TAG_HIT,         /* all sectors wanted are valid */
    TAG_PENDING,     /* all sectors wanted are valid or pending */
    TAG_SECTOR_MISS, /* the line is there, but a sector wanted is neither */
    TAG_MISS,        /* the line is not there */
} TagResult;

/* A line that had to go. */
typedef struct TagEviction {
    uint64_t address;       /* first byte of the line */
    uint32_t filler_thread; /* as in TagLine */
    uint8_t valid;          /* sectors that were valid */
    uint8_t dirty;          /* sectors that have to be written back */
    bool has_line;          /* there was a line; else nothing above means anything */
} TagEviction;

/* An empty tag array, owned by `arena`. What
 * machine_check accepts can be built. */
void tag_array_init(TagArray *tags, const TagArrayConfig *config, Arena *arena);

/* Bit per sector that the bytes from `address` to `address + bytes` (of one line) touch. */
static inline uint8_t tag_array_sectors(const TagArray *tags, uint64_t address, uint32_t bytes) {
    if (tags->sectors == 1) return 1;
    uint32_t line_mask = (1u << tags->line_shift) - 1;
    uint32_t first = ((uint32_t)address & line_mask) >> tags->sector_shift;
    uint32_t last = (((uint32_t)address & line_mask) + bytes - 1) >> tags->sector_shift;
    return (uint8_t)((2u << last) - (1u << first));
}

/* The bit of the sector, or of the line where it has none, that `address` lies in. */
static inline uint8_t tag_array_sector(const TagArray *tags, uint64_t address) {
    const uint32_t line_mask = (1u << tags->line_shift) - 1;
    return (uint8_t)(1u << (((uint32_t)address & line_mask) >> tags->sector_shift));
}

/* First place of the set of `address`. */
static inline uint32_t tag_array_base(const TagArray *tags, uint64_t address) {
    const uint64_t tag = address >> tags->line_shift;
    TagMemo *memo = tags->memo;
    if (memo->tag != tag)
        *memo = (TagMemo){.tag = tag, .base = set_index_of(&tags->index, address) * tags->stride};
    return memo->base;
}

/* As tag_array_find, and tag_array_touch, where sets have many ways. */
__attribute__((noinline)) int32_t tag_array_find_listed(const TagArray *tags, uint64_t tag);
__attribute__((noinline)) void tag_array_touch_listed(TagArray *tags, int32_t place);

/* Place of the line that holds `address`; TAG_NONE when it is not there. Looks at all ways: leaving
 * early would be guessed wrong more often than it saves. */
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

/* Where a line was found last: accesses to sectors of one line come one behind the other. */
typedef struct TagHint {
    uint64_t tag;
    int32_t place;
} TagHint;

/* As tag_array_find, without a search when the line of the hint is asked for again. */
static inline int32_t tag_array_find_again(const TagArray *tags, uint64_t address, TagHint *hint) {
    uint64_t tag = address >> tags->line_shift;
    if (hint->tag == tag && tags->tags[hint->place] == tag) return hint->place;
    int32_t place = tag_array_find(tags, address);
    if (place != TAG_NONE) *hint = (TagHint){.tag = tag, .place = place};
    return place;
}

/* Tells the host's processor that the set of `address` will be looked up soon: the first cache has
 * no room for a large array, and waiting for it costs more than the lookup. (Always inlined because
 * gcc takes a call that does nothing else for one without effect, and drops it.) */
__attribute__((always_inline)) static inline void tag_array_warm(const TagArray *tags,
                                                                 uint64_t address) {
    uint32_t base = set_index_of(&tags->index, address) * tags->stride;
    __builtin_prefetch(&tags->tags[base]);
    __builtin_prefetch(&tags->lines[base]);
    __builtin_prefetch(&tags->lines[base + tags->ways / 2]);
    __builtin_prefetch(&tags->lines[base + tags->ways - 1]);
}

/* What an access to `sectors` of the line at `place`, TAG_NONE where it is not there, meets. */
static inline TagResult tag_array_look(const TagArray *tags, int32_t place, uint8_t sectors) {
    if (place == TAG_NONE) return TAG_MISS;
    const TagLine *line = &tags->lines[place];
    if (!(sectors & ~line->valid)) return TAG_HIT;
    return sectors & ~(line->valid | line->pending) ? TAG_SECTOR_MISS : TAG_PENDING;
}

/* What an access to `sectors` of the line of `address` meets, and in *place where (TAG_NONE on
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

/* Whether the line at a place, in use or not, is that of `address`, with all of `sectors` valid. */
static inline bool tag_array_has(const TagArray *tags, int32_t place, uint64_t address,
                                 uint8_t sectors) {
    return tags->tags[place] == address >> tags->line_shift &&
           !(sectors & ~tags->lines[place].valid);
}

/* Counts a use of the line, for LRU. */
static inline void tag_array_touch(TagArray *tags, int32_t place) {
    if (!tags->is_lru) return;
    tags->lines[place].stamp = ++tags->clock;
    if (tags->list) tag_array_touch_listed(tags, place);
}

/* The same with a priority. A line becomes TAG_LAST only while its set has room for such. */
__attribute__((noinline)) void tag_array_touch_as(TagArray *tags, int32_t place,
                                                  CachePriority priority);

/* First byte of the line at a place in use. */
static inline uint64_t tag_array_address(const TagArray *tags, int32_t place) {
    return tags->tags[place] << tags->line_shift;
}

/* Whether a line could be reserved for `address` (which is not there) now: a place of its set is
 * free or holds a line that may go. */
bool tag_array_can_reserve(const TagArray *tags, uint64_t address);

/* Gives `address`, which is not there, a place: a free one, else that of the line that replacement
 * chooses, told in *evicted. The line starts with nothing valid and `pending` sectors pending, and
 * counts as used. TAG_NONE when every line of the set has something pending, or stays for
 * being dirty while another has. */
int32_t tag_array_reserve(TagArray *tags, uint64_t address, uint8_t pending, TagEviction *evicted);

/* The same with a priority. Where the set has as many TAG_LAST as it may, one of PRIORITY_LAST
 * takes the place of the oldest of them, and no other access takes any: TAG_NONE too when all other
 * lines have something pending. */
int32_t tag_array_reserve_as(TagArray *tags, uint64_t address, uint8_t pending,
                             CachePriority priority, TagEviction *evicted);

/* Whether the line at a place can go: nothing of it is pending, and it does not stay as dirty. */
bool tag_array_can_go(const TagArray *tags, int32_t place);
/* As tag_array_reserve_as, with the line at `place`, of the set of `address`, to go: it is free or
 * can go. */
void tag_array_reserve_at(TagArray *tags, int32_t place, uint64_t address, uint8_t pending,
                          CachePriority priority, TagEviction *evicted);

/* The line becomes TAG_NORMAL, whatever it was. */
void tag_array_forget_rank(TagArray *tags, int32_t place);
/* All TAG_LAST lines become TAG_NORMAL. */
void tag_array_forget_last(TagArray *tags);
/* How many lines of a set may be TAG_LAST, at most all. Those there are stay so. */
void tag_array_set_last_ways(TagArray *tags, uint32_t ways);

/* More sectors of a line are being fetched. */
static inline void tag_array_expect(TagArray *tags, int32_t place, uint8_t sectors) {
    tags->lines[place].pending |= sectors;
}

/* Sectors have arrived: valid, no longer pending. A sector written meanwhile stays dirty. */
static inline void tag_array_fill(TagArray *tags, int32_t place, uint8_t sectors) {
    tags->lines[place].valid |= sectors;
    tags->lines[place].pending &= (uint8_t)~sectors;
}

/* Sectors become dirty. */
static inline void tag_array_soil(TagArray *tags, int32_t place, uint8_t sectors) {
    tags->dirty_lines += !tags->lines[place].dirty;
    tags->lines[place].dirty |= sectors;
}

/* Whole sectors have been written. */
static inline void tag_array_write(TagArray *tags, int32_t place, uint8_t sectors) {
    tags->lines[place].valid |= (uint8_t)(sectors & ~tags->lines[place].pending);
    tag_array_soil(tags, place, sectors);
}

/* Some bytes of one sector have been written (bit per byte). The sector becomes valid once all its
 * bytes are, if the array tracks bytes. */
void tag_array_write_bytes(TagArray *tags, int32_t place, uint32_t sector, uint64_t bytes);

/* Sectors have been written back: valid as they were, no longer dirty. */
static inline void tag_array_clean(TagArray *tags, int32_t place, uint8_t sectors) {
    bool was_dirty = tags->lines[place].dirty;
    tags->lines[place].dirty &= (uint8_t)~sectors;
    tags->dirty_lines -= was_dirty && !tags->lines[place].dirty;
}

/* Forgets sectors of a line whose other ones may be under way. */
static inline void tag_array_drop(TagArray *tags, int32_t place, uint8_t sectors) {
    tags->lines[place].valid &= (uint8_t)~sectors;
}

/* Forgets the line, which must have nothing pending, dirty or not. */
void tag_array_invalidate(TagArray *tags, int32_t place);

/* Lets each set use `ways` of the ways that it was built with, at least one. The tag array must be
 * empty. */
void tag_array_set_ways(TagArray *tags, uint32_t ways);

/* Forgets every line that has nothing pending, and the valid sectors of those that have. Dirty
 * sectors are lost: write them back before. */
void tag_array_invalidate_all(TagArray *tags);

/* First place from `place` on whose line has dirty sectors; TAG_NONE when there is none. */
int32_t tag_array_next_dirty(const TagArray *tags, int32_t place);

#endif
