/* Memory of the host for what is gone through over and over: the state of a simulated machine. It
 * lies side by side in ranges for which the operating system is asked for huge pages, so that the
 * host's processor, which remembers where some thousand pages are, does not look up the page of
 * nearly everything that it touches. Where there are no huge pages it is memory as any other.
 *
 * Linux: madvise(MADV_HUGEPAGE). Single-threaded. */
#ifndef TYTO_BASE_PAGES_H
#define TYTO_BASE_PAGES_H

#include <stddef.h>

#include "base/arena.h"

typedef struct Pages Pages;

/* None yet. Never NULL: running out of host memory ends the process with a message, here and below.
 */
Pages *pages_new(void);
/* Frees all that was taken. NULL is allowed. */
void pages_free(Pages *pages);
/* `size_bytes` zeroed bytes, aligned to 64. Valid until pages_free. */
void *pages_take(Pages *pages, size_t size_bytes);
/* The same in small pages, for what is mostly not touched: that takes no memory, and no time. */
void *pages_take_small(Pages *pages, size_t size_bytes);

/* An arena of such memory, large pieces in small pages, which does not go back before pages_free:
 * the pages must outlive it, and what it gives out. NULL: an arena as any other. */
Arena *arena_new_on(Pages *pages);

#endif
