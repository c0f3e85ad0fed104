/* Ranges of the host's memory, and their allocation (see the header). */
#include "base/pages.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

enum {
    PIECE_ALIGN = 64,       /* bytes; a cache line of the host */
    HUGE_BYTES = 2 << 20,   /* a huge page on x86-64, and on ARM with 4 KiB pages */
    RANGE_BYTES = 16 << 20, /* minimum of a range: only the touched part uses memory */
};

typedef struct Range {
    struct Range *older;
    void *start;   /* as returned by mmap or calloc */
    size_t mapped; /* bytes, if it came from mmap; 0: from calloc */
} Range;

/* The leak sanitizer of this build or of the program searches for pointers in malloc's memory and
 * in the regions registered here. Without a sanitizer, these functions do not exist. */
void __lsan_register_root_region(const void *start, size_t size) __attribute__((weak));
void __lsan_unregister_root_region(const void *start, size_t size) __attribute__((weak));

static void watch(const Range *range) {
    if (__lsan_register_root_region) __lsan_register_root_region(range->start, range->mapped);
}

static void unwatch(const Range *range) {
    if (__lsan_unregister_root_region) __lsan_unregister_root_region(range->start, range->mapped);
}

/* The unallocated rest of a range. */
typedef struct Rest {
    char *next;
    size_t left; /* bytes */
} Rest;

struct Pages {
    Range *newest;
    Rest huge, small; /* by the page size that was requested from the system */
};

Pages *pages_new(void) { return base_calloc(1, sizeof(Pages)); }

void pages_free(Pages *pages) {
    if (!pages) return;
    for (Range *range = pages->newest; range;) {
        Range *older = range->older;
        if (range->mapped) {
            unwatch(range);
            munmap(range->start, range->mapped);
        } else {
            free(range->start);
        }
        free(range);
        range = older;
    }
    free(pages);
}

static size_t round_up(size_t size_bytes, size_t align_bytes) {
    return (size_bytes + align_bytes - 1) & ~(align_bytes - 1);
}

/* Maps a new range that begins at a huge page boundary. Returns false if the host refuses. */
static bool map_range(Range *range, Rest *rest, size_t size_bytes, int advice) {
    size_t bytes = round_up(size_bytes > RANGE_BYTES ? size_bytes : RANGE_BYTES, HUGE_BYTES);
    void *start = mmap(NULL, bytes + HUGE_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED) return false;
    size_t skipped = -(uintptr_t)start & (HUGE_BYTES - 1);
    range->start = start;
    range->mapped = bytes + HUGE_BYTES;
    rest->next = (char *)start + skipped;
    rest->left = bytes;
    watch(range);
    madvise(rest->next, bytes, advice); /* failure is harmless */
    return true;
}

static void add_range(Pages *pages, Rest *rest, size_t size_bytes, int advice) {
    Range *range = base_calloc(1, sizeof *range);
    if (size_bytes > SIZE_MAX / 2 || !map_range(range, rest, size_bytes, advice)) {
        range->start = base_alloc_lines(size_bytes);
        *rest = (Rest){.next = range->start, .left = size_bytes};
    }
    range->older = pages->newest;
    pages->newest = range;
}

static void *take(Pages *pages, Rest *rest, size_t size_bytes, int advice) {
    size_bytes = size_bytes > SIZE_MAX / 2 ? size_bytes : round_up(size_bytes, PIECE_ALIGN);
    if (size_bytes > rest->left) add_range(pages, rest, size_bytes, advice);
    char *piece = rest->next;
    rest->next += size_bytes;
    rest->left -= size_bytes;
    return piece;
}

void *pages_take(Pages *pages, size_t size_bytes) {
    return take(pages, &pages->huge, size_bytes, MADV_HUGEPAGE);
}

void *pages_take_small(Pages *pages, size_t size_bytes) {
    return take(pages, &pages->small, size_bytes, MADV_NOHUGEPAGE);
}
