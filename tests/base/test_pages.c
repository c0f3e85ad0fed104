/* Memory in huge pages, with and without host support, and arenas in it. */
#include "base/pages.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

enum { PIECES = 300, LARGE = 40 << 20 };

/* The linker redirects calls of mmap64 to this function (tests/base/meson.build). */
void *__real_mmap64(void *wish, size_t bytes, int protection, int flags, int file, off_t offset);
void *__wrap_mmap64(void *wish, size_t bytes, int protection, int flags, int file, off_t offset);
static bool is_refused;    /* mmap fails */
static int refusals;       /* number of calls that failed */
static size_t last_mapped; /* size of the last successful mapping */

void *__wrap_mmap64(void *wish, size_t bytes, int protection, int flags, int file, off_t offset) {
    if (is_refused) {
        refusals++;
        return MAP_FAILED;
    }
    last_mapped = bytes;
    return __real_mmap64(wish, bytes, protection, flags, file, offset);
}

static void check_pieces(Pages *pages) {
    unsigned char *pieces[PIECES];
    for (size_t i = 0; i < PIECES; i++) {
        const size_t size = 1 + i * 37;
        pieces[i] = pages_take(pages, size);
        assert_int_equal((uintptr_t)pieces[i] % 64, 0);
        for (size_t j = 0; j < size; j++)
            assert_int_equal(pieces[i][j], 0);
        memset(pieces[i], (int)(i % 255 + 1), size);
    }
    for (size_t i = 0; i < PIECES; i++)
        for (size_t j = 0; j < 1 + i * 37; j++)
            assert_int_equal(pieces[i][j], i % 255 + 1);
}

static void pieces_are_zeroed_aligned_and_apart(void **state) {
    (void)state;
    Pages *pages = pages_new();
    check_pieces(pages);
    pages_free(pages);
    pages_free(NULL);
}

static void memory_that_is_not_mapped_comes_from_elsewhere(void **state) {
    (void)state;
    Pages *pages = pages_new();
    is_refused = true;
    check_pieces(pages);
    is_refused = false;
    assert_true(refusals > 0);
    pages_free(pages);
}

static void a_range_begins_where_a_huge_page_does(void **state) {
    (void)state;
    Pages *pages = pages_new();
    assert_int_equal((uintptr_t)pages_take(pages, 100) % (2 << 20), 0);
    pages_free(pages);
}

static void a_piece_larger_than_a_range_fits(void **state) {
    (void)state;
    Pages *pages = pages_new();
    char *large = pages_take(pages, LARGE);
    large[0] = large[LARGE - 1] = 1;
    assert_true(last_mapped >= LARGE);
    pages_free(pages);
}

/* The arena takes small pieces from the pages but not large ones: their untouched parts would take
 * memory. */
static void an_arena_keeps_its_large_pieces_out_of_the_pages(void **state) {
    (void)state;
    Pages *pages = pages_new();
    Arena *arena = arena_new_on(pages);
    char *first = arena_alloc(arena, 100);
    char *large = arena_alloc_aligned(arena, 1 << 20, 64);
    char *second = arena_alloc(arena, 100);
    assert_in_range((uintptr_t)second, (uintptr_t)first + 100, (uintptr_t)first + (1 << 16));
    assert_false(large >= first && large < first + (16 << 20));
    memset(large, 1, 1 << 20);
    for (int i = 0; i < 100; i++)
        assert_int_equal(first[i] | second[i], 0);
    for (int i = 0; i < 100; i++)
        memset(arena_alloc(arena, 5000), 1, 5000);
    arena_free(arena);
    pages_free(pages);
}

/* Number of 4 KiB pages of the range that are resident. */
static int resident(const char *start, size_t bytes) {
    unsigned char held[LARGE / 4096];
    int count = 0;
    assert_int_equal(mincore((void *)(uintptr_t)start, bytes, held), 0);
    for (size_t i = 0; i < bytes / 4096; i++)
        count += held[i] & 1;
    return count;
}

static void what_is_not_touched_of_large_pieces_takes_no_memory(void **state) {
    (void)state;
    enum { LENGTH = 100 << 12 };
    Pages *pages = pages_new();
    Arena *arena = arena_new_on(pages);
    for (int i = 0; i < 50; i++) {
        char *piece = arena_alloc_aligned(arena, LENGTH, 4096);
        assert_int_equal(resident(piece, LENGTH), 0);
        piece[LENGTH / 2] = 1;
        assert_int_equal(resident(piece, LENGTH), 1);
    }
    arena_free(arena);
    pages_free(pages);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_zeroed_aligned_and_apart),
        cmocka_unit_test(memory_that_is_not_mapped_comes_from_elsewhere),
        cmocka_unit_test(a_range_begins_where_a_huge_page_does),
        cmocka_unit_test(a_piece_larger_than_a_range_fits),
        cmocka_unit_test(an_arena_keeps_its_large_pieces_out_of_the_pages),
        cmocka_unit_test(what_is_not_touched_of_large_pieces_takes_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
