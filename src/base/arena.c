/* Arena: a list of growing blocks. Only the newest block still hands out memory; an allocation that
 * does not fit opens a new block that is large enough for it. */
#include "base/arena.h"

#include <assert.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/pages.h"

enum {
    ARENA_ALIGN = 16,              /* bytes; the alignment of malloc on a 64-bit host */
    ARENA_MAX_ALIGN = 4096,        /* bytes */
    ARENA_FIRST_BLOCK = 4096,      /* bytes; the block size doubles from here ... */
    ARENA_LARGEST_BLOCK = 1 << 20, /* ... to here, so that little is left unused at the end */
    ARENA_PAGES_BLOCK = 1 << 16,   /* bytes; consecutive blocks of pages are adjacent */
    ARENA_PAGES_PIECE = 1 << 14    /* bytes; larger pieces are seldom used completely, and would
                                    * waste huge pages */
};

typedef struct Block {
    struct Block *older; /* the block before this one; NULL in the first */
    size_t size_bytes;   /* of `bytes` */
    size_t used_bytes;   /* of `bytes`, padding included */
    _Alignas(ARENA_ALIGN) unsigned char bytes[];
} Block;

struct Arena {
    Block *newest;          /* NULL until the first allocation */
    Pages *pages;           /* that the blocks come from; NULL: from malloc */
    size_t next_size_bytes; /* size of the next ordinary block */
    size_t handed_bytes;    /* requested by callers, without padding */
};

void base_out_of_memory(size_t size_bytes) {
    fprintf(stderr, "tyto: the host has no memory left (%zu bytes were asked for)\n", size_bytes);
    exit(EXIT_FAILURE);
}

Arena *arena_new(void) {
    Arena *arena = base_calloc(1, sizeof(Arena));
    arena->next_size_bytes = ARENA_FIRST_BLOCK;
    return arena;
}

Arena *arena_new_on(Pages *pages) {
    Arena *arena = arena_new();
    arena->pages = pages;
    if (pages) arena->next_size_bytes = ARENA_PAGES_BLOCK;
    return arena;
}

void arena_free(Arena *arena) {
    if (!arena) return;
    for (Block *block = arena->newest; block;) {
        Block *older = block->older;
        if (!arena->pages) free(block);
        block = older;
    }
    free(arena);
}

/* Bytes to skip to align the block's next free byte. */
static size_t padding_of(const Block *block, size_t align_bytes) {
    uintptr_t next = (uintptr_t)block->bytes + block->used_bytes;
    return (size_t)(-next & (align_bytes - 1));
}

static bool has_room(const Block *block, size_t size_bytes, size_t align_bytes) {
    if (!block) return false;
    size_t left = block->size_bytes - block->used_bytes;
    size_t padding = padding_of(block, align_bytes);
    return padding <= left && size_bytes <= left - padding;
}

/* Whether a piece gets its own block, in small pages. */
static bool is_apart(const Arena *arena, size_t size_bytes) {
    return arena->pages && size_bytes > ARENA_PAGES_PIECE;
}

static Block *add_block(Arena *arena, size_t size_bytes, size_t align_bytes) {
    if (size_bytes > SIZE_MAX / 2) base_out_of_memory(size_bytes);
    const bool apart = is_apart(arena, size_bytes);
    size_t needed = size_bytes + align_bytes;
    size_t size = needed > arena->next_size_bytes || apart ? needed : arena->next_size_bytes;
    size_t bytes = sizeof(Block) + size;
    Block *block = apart          ? pages_take_small(arena->pages, bytes)
                   : arena->pages ? pages_take(arena->pages, bytes)
                                  : base_calloc(1, bytes);
    block->size_bytes = size;
    Block **place = apart && arena->newest ? &arena->newest->older : &arena->newest;
    block->older = *place;
    *place = block;
    if (!arena->pages && arena->next_size_bytes < ARENA_LARGEST_BLOCK) arena->next_size_bytes *= 2;
    return block;
}

void *arena_alloc_aligned(Arena *arena, size_t size_bytes, size_t align_bytes) {
    assert(align_bytes && !(align_bytes & (align_bytes - 1)) && align_bytes <= ARENA_MAX_ALIGN);
    Block *block = arena->newest;
    if (is_apart(arena, size_bytes) || !has_room(block, size_bytes, align_bytes))
        block = add_block(arena, size_bytes, align_bytes);
    block->used_bytes += padding_of(block, align_bytes);
    void *piece = block->bytes + block->used_bytes;
    block->used_bytes += size_bytes;
    arena->handed_bytes += size_bytes;
    return piece;
}

void *arena_alloc(Arena *arena, size_t size_bytes) {
    return arena_alloc_aligned(arena, size_bytes, ARENA_ALIGN);
}

char *arena_strndup(Arena *arena, const char *text, size_t length) {
    char *copy = arena_alloc_aligned(arena, length + 1, 1);
    memcpy(copy, text, length);
    return copy;
}

char *arena_strdup(Arena *arena, const char *text) {
    return arena_strndup(arena, text, strlen(text));
}

char *arena_printf(Arena *arena, const char *format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    assert(length >= 0);
    char *text = arena_alloc_aligned(arena, (size_t)length + 1, 1);
    vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    va_end(args);
    return text;
}

size_t arena_bytes(const Arena *arena) { return arena->handed_bytes; }

void *base_malloc(size_t size_bytes) {
    void *block = malloc(size_bytes ? size_bytes : 1);
    if (!block) base_out_of_memory(size_bytes);
    return block;
}

void *base_calloc(size_t count, size_t size_bytes) {
    bool is_empty = !count || !size_bytes;
    void *block = calloc(is_empty ? 1 : count, is_empty ? 1 : size_bytes);
    if (!block) base_out_of_memory(size_bytes > SIZE_MAX / count ? SIZE_MAX : count * size_bytes);
    return block;
}

void *base_realloc(void *block, size_t size_bytes) {
    void *moved = realloc(block, size_bytes ? size_bytes : 1);
    if (!moved) base_out_of_memory(size_bytes);
    return moved;
}

void *base_grow(void *items, uint32_t count, uint32_t *capacity, size_t item_bytes) {
    enum { FIRST_CAPACITY = 256 };
    if (count < *capacity) return items;
    *capacity = *capacity ? *capacity * 2 : FIRST_CAPACITY;
    return base_realloc(items, *capacity * item_bytes);
}

void *base_alloc_lines(size_t size_bytes) {
    enum { LINE_BYTES = 64 };
    if (size_bytes > SIZE_MAX - LINE_BYTES) base_out_of_memory(size_bytes);
    size_t lines = size_bytes ? (size_bytes + LINE_BYTES - 1) / LINE_BYTES : 1;
    void *block = aligned_alloc(LINE_BYTES, lines * LINE_BYTES);
    if (!block) base_out_of_memory(size_bytes);
    return memset(block, 0, lines * LINE_BYTES);
}
