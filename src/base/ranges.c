/* Chunks of items, and their directory. A gap belongs to the item after it. A chunk records the
 * largest gap before any of its items, so that a search for room only looks into chunks that have
 * enough. */
#include "base/ranges.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/bits.h"

enum { CHUNK_ITEMS = 256 };

typedef struct Chunk {
    uint64_t end;         /* of its last item */
    uint64_t largest_gap; /* before any of its items, from a multiple of the grain; 0: none */
    char *items;          /* room for CHUNK_ITEMS */
    size_t count;         /* at least 1 */
} Chunk;

struct Ranges {
    size_t item_bytes;
    uint64_t low, high;    /* all gaps are between these */
    uint64_t grain;        /* bytes; gaps begin at multiples of it */
    Chunk *chunks;         /* in increasing order */
    size_t chunk_count;    /* number of chunks */
    size_t chunk_capacity; /* allocated entries of `chunks` */
    size_t full_chunks;    /* number of leading chunks without a gap */
    size_t count;          /* number of items */
};

/* The position of an item: the chunk and the index in it. */
typedef struct Place {
    size_t chunk, item;
} Place;

Ranges *ranges_new(size_t item_bytes, uint64_t low, uint64_t high, uint64_t grain) {
    Ranges *ranges = base_calloc(1, sizeof *ranges);
    *ranges = (Ranges){.item_bytes = item_bytes, .low = low, .high = high, .grain = grain};
    return ranges;
}

void ranges_free(Ranges *ranges) {
    if (!ranges) return;
    for (size_t i = 0; i < ranges->chunk_count; i++)
        free(ranges->chunks[i].items);
    free(ranges->chunks);
    free(ranges);
}

static Range *item_at(const Ranges *ranges, Place place) {
    return (Range *)(void *)(ranges->chunks[place.chunk].items + place.item * ranges->item_bytes);
}

/* The position of the first item that ends after `address`; after the last chunk if there is
 * none. */
static Place find_place(const Ranges *ranges, uint64_t address) {
    Place place = {0, 0};
    size_t high = ranges->chunk_count;
    while (place.chunk < high) {
        size_t middle = (place.chunk + high) / 2;
        if (ranges->chunks[middle].end <= address) place.chunk = middle + 1;
        else high = middle;
    }
    if (place.chunk == ranges->chunk_count) return place;
    high = ranges->chunks[place.chunk].count - 1; /* the last one ends after the address */
    while (place.item < high) {
        size_t middle = (place.item + high) / 2;
        if (item_at(ranges, (Place){place.chunk, middle})->end <= address) place.item = middle + 1;
        else high = middle;
    }
    return place;
}

static Range *item_before(const Ranges *ranges, Place place) {
    if (place.item) return item_at(ranges, (Place){place.chunk, place.item - 1});
    if (!place.chunk) return NULL;
    return item_at(ranges, (Place){place.chunk - 1, ranges->chunks[place.chunk - 1].count - 1});
}

void *ranges_at_or_after(const Ranges *ranges, uint64_t address, void **previous) {
    Place place = find_place(ranges, address);
    if (previous) *previous = item_before(ranges, place);
    return place.chunk < ranges->chunk_count ? item_at(ranges, place) : NULL;
}

void *ranges_find(const Ranges *ranges, uint64_t address) {
    Place place = find_place(ranges, address);
    if (place.chunk == ranges->chunk_count) return NULL;
    Range *range = item_at(ranges, place);
    return range->start <= address ? range : NULL;
}

size_t ranges_count(const Ranges *ranges) { return ranges->count; }

/* ---- Gaps ---- */

/* Bytes from the first multiple of `align` at or after `end` to `start`. */
static uint64_t gap_between(uint64_t end, uint64_t start, uint64_t align) {
    uint64_t from = bits_align_up(end, align);
    return from >= end && from < start ? start - from : 0;
}

/* End of the items before a chunk, where gaps may begin. */
static uint64_t end_before(const Ranges *ranges, size_t number) {
    uint64_t end = number ? ranges->chunks[number - 1].end : 0;
    return end > ranges->low ? end : ranges->low;
}

/* Updates the summary of a chunk after a change to its items or to the item before them. */
static void measure(Ranges *ranges, size_t number) {
    if (number >= ranges->chunk_count) return;
    Chunk *chunk = &ranges->chunks[number];
    uint64_t end = end_before(ranges, number);
    chunk->largest_gap = 0;
    for (size_t i = 0; i < chunk->count; i++) {
        const Range *range = item_at(ranges, (Place){number, i});
        uint64_t gap = gap_between(end, range->start, ranges->grain);
        if (gap > chunk->largest_gap) chunk->largest_gap = gap;
        if (range->end > end) end = range->end;
    }
    chunk->end = item_at(ranges, (Place){number, chunk->count - 1})->end;
    if (chunk->largest_gap && number < ranges->full_chunks) ranges->full_chunks = number;
}

/* Finds the gap in one chunk; *end gets the end of its last item. */
static bool find_in_chunk(const Ranges *ranges, size_t number, uint64_t *end, uint64_t size,
                          uint64_t align, uint64_t *start) {
    for (size_t i = 0; i < ranges->chunks[number].count; i++) {
        const Range *range = item_at(ranges, (Place){number, i});
        *start = bits_align_up(*end, align);
        if (gap_between(*end, range->start, align) >= size) return true;
        if (range->end > *end) *end = range->end;
    }
    return false;
}

bool ranges_find_gap(Ranges *ranges, uint64_t size, uint64_t align, uint64_t *start) {
    while (ranges->full_chunks < ranges->chunk_count &&
           !ranges->chunks[ranges->full_chunks].largest_gap)
        ranges->full_chunks++;
    size_t number = ranges->full_chunks;
    uint64_t end = end_before(ranges, number);
    for (; number < ranges->chunk_count; number++) {
        bool has_room = ranges->chunks[number].largest_gap >= size;
        if (has_room && find_in_chunk(ranges, number, &end, size, align, start)) return true;
        end = end_before(ranges, number + 1);
    }
    *start = bits_align_up(end, align);
    return gap_between(end, ranges->high, align) >= size;
}

/* ---- Adding and removing ---- */

static void insert_chunk(Ranges *ranges, size_t at) {
    if (ranges->chunk_count == ranges->chunk_capacity) {
        ranges->chunk_capacity = ranges->chunk_capacity ? 2 * ranges->chunk_capacity : 4;
        ranges->chunks =
            base_realloc(ranges->chunks, ranges->chunk_capacity * sizeof *ranges->chunks);
    }
    Chunk *chunk = &ranges->chunks[at];
    memmove(chunk + 1, chunk, (ranges->chunk_count - at) * sizeof *chunk);
    *chunk = (Chunk){.items = base_malloc(CHUNK_ITEMS * ranges->item_bytes)};
    ranges->chunk_count++;
    if (at < ranges->full_chunks) ranges->full_chunks = at;
}

/* The position for a new item of a full chunk. The chunk is split in halves, or left full if the
 * item comes after it. */
static Place split(Ranges *ranges, Place place) {
    size_t keep = place.item == CHUNK_ITEMS ? CHUNK_ITEMS : CHUNK_ITEMS / 2;
    insert_chunk(ranges, place.chunk + 1);
    Chunk *chunk = &ranges->chunks[place.chunk];
    memcpy(chunk[1].items, chunk->items + keep * ranges->item_bytes,
           (CHUNK_ITEMS - keep) * ranges->item_bytes);
    chunk[1].count = CHUNK_ITEMS - keep;
    chunk->count = keep;
    measure(ranges, place.chunk);
    return place.item < keep ? place : (Place){place.chunk + 1, place.item - keep};
}

/* Replaces a position after the last chunk by one after the last item. */
static Place behind_last(Ranges *ranges, Place place) {
    if (!ranges->chunk_count) insert_chunk(ranges, 0);
    if (place.chunk < ranges->chunk_count) return place;
    return (Place){ranges->chunk_count - 1, ranges->chunks[ranges->chunk_count - 1].count};
}

void *ranges_add(Ranges *ranges, const void *item) {
    const Range *range = item;
    Place place = find_place(ranges, range->start);
    if (place.chunk < ranges->chunk_count && item_at(ranges, place)->start < range->end)
        return NULL;
    place = behind_last(ranges, place);
    if (ranges->chunks[place.chunk].count == CHUNK_ITEMS) place = split(ranges, place);
    Chunk *chunk = &ranges->chunks[place.chunk];
    char *at = chunk->items + place.item * ranges->item_bytes;
    memmove(at + ranges->item_bytes, at, (chunk->count - place.item) * ranges->item_bytes);
    memcpy(at, item, ranges->item_bytes);
    chunk->count++;
    ranges->count++;
    measure(ranges, place.chunk);
    measure(ranges, place.chunk + 1); /* the item before its first one may have changed */
    return at;
}

void ranges_remove(Ranges *ranges, void *item) {
    Place place = find_place(ranges, ((const Range *)item)->start);
    Chunk *chunk = &ranges->chunks[place.chunk];
    char *at = item;
    ranges->count--;
    chunk->count--;
    memmove(at, at + ranges->item_bytes, (chunk->count - place.item) * ranges->item_bytes);
    if (!chunk->count) {
        free(chunk->items);
        ranges->chunk_count--;
        memmove(chunk, chunk + 1, (ranges->chunk_count - place.chunk) * sizeof *chunk);
        if (ranges->full_chunks > place.chunk) ranges->full_chunks = place.chunk;
    }
    measure(ranges, place.chunk);
    measure(ranges, place.chunk + 1);
}
