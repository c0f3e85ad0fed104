/* The arena: alignment, zeroing, growth, and sizes that no host can allocate. */
#include "base/arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void pieces_are_zeroed_aligned_and_apart(void **state) {
    (void)state;
    Arena *arena = arena_new();
    unsigned char *pieces[1000];
    for (size_t i = 0; i < 1000; i++) {
        pieces[i] = arena_alloc(arena, i);
        assert_int_equal((uintptr_t)pieces[i] % 16, 0);
        for (size_t j = 0; j < i; j++)
            assert_int_equal(pieces[i][j], 0);
        memset(pieces[i], (int)(i % 255 + 1), i);
    }
    for (size_t i = 0; i < 1000; i++) {
        for (size_t j = 0; j < i; j++)
            assert_int_equal(pieces[i][j], i % 255 + 1);
    }
    assert_int_equal(arena_bytes(arena), 999 * 1000 / 2);
    arena_free(arena);
}

static void every_power_of_two_alignment_is_kept(void **state) {
    (void)state;
    Arena *arena = arena_new();
    for (size_t align = 1; align <= 4096; align *= 2) {
        arena_alloc_aligned(arena, 1, 1);
        char *piece = arena_alloc_aligned(arena, 5000, align);
        assert_int_equal((uintptr_t)piece % align, 0);
        memset(piece, 1, 5000);
    }
    arena_free(arena);
}

static void a_piece_larger_than_every_block_fits(void **state) {
    (void)state;
    enum { BIG = 3 << 20 };
    Arena *arena = arena_new();
    char *small = arena_strdup(arena, "small");
    char *big = arena_alloc(arena, BIG);
    memset(big, 1, BIG);
    assert_string_equal(small, "small");
    assert_string_equal(arena_strdup(arena, "after"), "after");
    arena_free(arena);
}

static void strings_are_copied_and_formatted(void **state) {
    (void)state;
    Arena *arena = arena_new();
    char source[] = "kernel_name";
    char *part = arena_strndup(arena, source, 6);
    source[0] = 'X';
    assert_string_equal(part, "kernel");
    assert_string_equal(arena_printf(arena, "%s:%d", "file", 7), "file:7");
    assert_string_equal(arena_printf(arena, "%s", ""), "");
    char *wide = arena_printf(arena, "%20000d", 1);
    assert_int_equal(strlen(wide), 20000);
    arena_free(arena);
}

static void arrays_and_single_objects_are_typed(void **state) {
    (void)state;
    Arena *arena = arena_new();
    uint64_t *one = ARENA_NEW(arena, uint64_t);
    uint32_t *many = ARENA_ARRAY(arena, uint32_t, 100);
    *one = UINT64_MAX;
    for (int i = 0; i < 100; i++)
        assert_int_equal(many[i], 0);
    assert_int_equal(arena_bytes(arena), 8 + 400);
    arena_free(arena);
}

static void freeing_nothing_is_allowed(void **state) {
    (void)state;
    arena_free(NULL);
    arena_free(arena_new());
}

static void host_blocks_of_no_bytes_can_be_freed(void **state) {
    (void)state;
    void *blocks[] = {base_malloc(0), base_calloc(0, 8), base_calloc(8, 0), base_realloc(NULL, 0),
                      base_alloc_lines(0)};
    for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
        assert_non_null(blocks[i]);
        free(blocks[i]);
    }
}

static void lines_are_zeroed_and_aligned_to_a_cache_line(void **state) {
    (void)state;
    for (size_t size = 1; size < 300; size++) {
        unsigned char *block = base_alloc_lines(size);
        assert_int_equal((uintptr_t)block % 64, 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(block[i], 0);
        free(block);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_zeroed_aligned_and_apart),
        cmocka_unit_test(every_power_of_two_alignment_is_kept),
        cmocka_unit_test(a_piece_larger_than_every_block_fits),
        cmocka_unit_test(strings_are_copied_and_formatted),
        cmocka_unit_test(arrays_and_single_objects_are_typed),
        cmocka_unit_test(freeing_nothing_is_allowed),
        cmocka_unit_test(host_blocks_of_no_bytes_can_be_freed),
        cmocka_unit_test(lines_are_zeroed_and_aligned_to_a_cache_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
