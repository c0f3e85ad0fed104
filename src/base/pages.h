/* Host memory for data that is accessed over and over: the state of a simulated machine. It is
 * allocated contiguously in ranges for which the operating system is asked for huge pages. The
 * host's TLB covers only some thousand pages, so small pages would miss on nearly every access.
 * Without huge pages it is ordinary memory.
 *
 * Linux: madvise(MADV_HUGEPAGE). Single-threaded. */
#ifndef TYTO_BASE_PAGES_H
#define TYTO_BASE_PAGES_H

#include <stddef.h>

#include "base/arena.h"

typedef struct Pages Pages;

/* Returns an empty allocator. Never NULL: if the host is out of memory, the process ends with a
 * message, here and below. */
Pages *pages_new(void);
/* Frees all its memory. NULL is allowed. */
void pages_free(Pages *pages);
/* Returns `size_bytes` zeroed bytes, aligned to 64. Valid until pages_free. */
void *pages_take(Pages *pages, size_t size_bytes);
/* The same in small pages, for mostly untouched data: untouched pages cost no memory and no
 * time. */
void *pages_take_small(Pages *pages, size_t size_bytes);

/* An arena in this memory, with large pieces in small pages. Its memory is freed only by
 * pages_free, so `pages` must outlive the arena and everything allocated from it. NULL: an ordinary
 * arena. */
Arena *arena_new_on(Pages *pages);

#endif
