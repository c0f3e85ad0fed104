/* Arena: memory that is handed out piecewise and given back all at once. Cold construction code
 * (the PTX reader, machine files, a launch's tables) allocates here, so that no object needs an
 * owner of its own and an error path frees one thing. Single-threaded. */
#ifndef TYTO_BASE_ARENA_H
#define TYTO_BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

typedef struct Arena Arena;

/* A new, empty arena. Never NULL: running out of host memory ends the process with a message. */
Arena *arena_new(void);
/* Frees every byte the arena handed out. NULL is allowed. */
void arena_free(Arena *arena);
/* `size_bytes` zeroed bytes, aligned to 16. Valid until arena_free. */
void *arena_alloc(Arena *arena, size_t size_bytes);
/* The same, aligned to `align_bytes` (a power of two, at most 4096). */
void *arena_alloc_aligned(Arena *arena, size_t size_bytes, size_t align_bytes);
/* A NUL-terminated copy of the first `length` bytes of `text`. */
char *arena_strndup(Arena *arena, const char *text, size_t length);
char *arena_strdup(Arena *arena, const char *text);
/* printf into the arena. */
char *arena_printf(Arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Bytes handed out so far (for tests and memory reports). */
size_t arena_bytes(const Arena *arena);

#define ARENA_NEW(arena, Type) ((Type *)arena_alloc((arena), sizeof(Type)))
#define ARENA_ARRAY(arena, Type, count)                                                            \
    ((Type *)arena_alloc((arena), sizeof(Type) * (size_t)(count)))

/* malloc, calloc and realloc that never return NULL: when the host has no memory left they print
 * one message and exit (nothing a simulation can do about it). Freed with free(). */
void *base_malloc(size_t size_bytes);
void *base_calloc(size_t count, size_t size_bytes);
void *base_realloc(void *block, size_t size_bytes);
/* Room for one more of `count` items: returns the array, moved if need be, and at first a new one
 * where `items` is NULL. */
void *base_grow(void *items, uint32_t count, uint32_t *capacity, size_t item_bytes);
/* Zeroed block aligned to 64 bytes (a cache line and a 512-bit vector). Freed with free(). */
void *base_alloc_lines(size_t size_bytes);
/* Ends the process with a message: the host lacks the memory. */
_Noreturn void base_out_of_memory(size_t size_bytes);

#endif
