/* Arena: memory that is allocated in pieces and freed all at once. Cold construction code (the PTX
 * reader, machine files, a launch's tables) allocates here, so that objects need no individual
 * owner and an error path has only one thing to free. Single-threaded. */
#ifndef TYTO_BASE_ARENA_H
#define TYTO_BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

typedef struct Arena Arena;

/* Returns a new, empty arena. Never NULL: if the host is out of memory, the process ends with a
 * message. */
Arena *arena_new(void);
/* Frees all memory of the arena. NULL is allowed. */
void arena_free(Arena *arena);
/* Returns `size_bytes` zeroed bytes, aligned to 16. Valid until arena_free. */
void *arena_alloc(Arena *arena, size_t size_bytes);
/* The same, aligned to `align_bytes` (a power of two, at most 4096). */
void *arena_alloc_aligned(Arena *arena, size_t size_bytes, size_t align_bytes);
/* Returns a NUL-terminated copy of the first `length` bytes of `text`. */
char *arena_strndup(Arena *arena, const char *text, size_t length);
char *arena_strdup(Arena *arena, const char *text);
/* printf to a string in the arena. */
char *arena_printf(Arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Bytes allocated so far (for tests and memory reports). */
size_t arena_bytes(const Arena *arena);

#define ARENA_NEW(arena, Type) ((Type *)arena_alloc((arena), sizeof(Type)))
#define ARENA_ARRAY(arena, Type, count)                                                            \
    ((Type *)arena_alloc((arena), sizeof(Type) * (size_t)(count)))

/* malloc, calloc and realloc that never return NULL. If the host is out of memory they print one
 * message and exit, because a simulation cannot continue. Free the result with free(). */
void *base_malloc(size_t size_bytes);
void *base_calloc(size_t count, size_t size_bytes);
void *base_realloc(void *block, size_t size_bytes);
/* Makes room for one more item after `count` items. Returns the array, which may have moved, or a
 * new one if `items` is NULL. */
void *base_grow(void *items, uint32_t count, uint32_t *capacity, size_t item_bytes);
/* Returns a zeroed block aligned to 64 bytes (a cache line and a 512-bit vector). Free it with
 * free(). */
void *base_alloc_lines(size_t size_bytes);
/* Ends the process with a message that the host is out of memory. */
_Noreturn void base_out_of_memory(size_t size_bytes);

#endif
