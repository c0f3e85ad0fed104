/* Victim tags: each warp sees only its own losses; first in first out, or least recently lost. */
#include "cache/victim_tags.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/arena.h"

enum { WARPS = 4, SETS = 2, WAYS = 8, LINE = 128 };

/* Places the arrays in memory of the arena. */
static void place(VictimTags *victims, uint32_t warps, uint32_t sets, uint32_t ways,
                  uint32_t line_bytes, Replacement replacement, Arena *arena) {
    void *memory = arena_alloc(arena, victim_tags_bytes(warps, sets, ways));
    victim_tags_place(victims, warps, sets, ways, line_bytes, replacement, memory);
}

static void own_losses(void **state) {
    (void)state;
    Arena *arena = arena_new();
    VictimTags victims;
    place(&victims, WARPS, SETS, WAYS, LINE, REPLACE_FIFO, arena);
    assert_false(victim_tags_probe(&victims, 1, 0));
    victim_tags_insert(&victims, 1, 0x1000);
    assert_true(victim_tags_probe(&victims, 1, 0x107F));
    assert_true(victim_tags_probe(&victims, 1, 0x1000)); /* a hit removes nothing */
    assert_false(victim_tags_probe(&victims, 0, 0x1000));
    assert_false(victim_tags_probe(&victims, 2, 0x1000));
    assert_false(victim_tags_probe(&victims, 1, 0x1080));
    arena_free(arena);
}

/* The k-th line of set 0. Its number is odd if its tag is odd. */
static uint64_t line_of(uint32_t k) { return (uint64_t)(k * SETS + k % 2) * LINE; }

static void order_of_leaving(void **state) {
    (void)state;
    static const struct {
        Replacement replacement;
        uint32_t goes;
    } rows[] = {{REPLACE_FIFO, 0}, {REPLACE_LRU, 1}};
    for (int r = 0; r < 2; r++) {
        Arena *arena = arena_new();
        VictimTags victims;
        place(&victims, WARPS, SETS, WAYS, LINE, rows[r].replacement, arena);
        for (uint32_t k = 0; k < WAYS; k++)
            victim_tags_insert(&victims, 3, line_of(k));
        victim_tags_insert(&victims, 3, line_of(0)); /* not entered twice */
        victim_tags_insert(&victims, 3, LINE);       /* another set */
        victim_tags_insert(&victims, 3, 2 * LINE);   /* another set: 2 + 7 x 1, modulo two sets */
        for (uint32_t k = 0; k < WAYS; k++)
            assert_true(victim_tags_probe(&victims, 3, line_of(k)));
        /* LRU: the probes made 0 the oldest again; use it once more */
        assert_true(victim_tags_probe(&victims, 3, line_of(0)));
        victim_tags_insert(&victims, 3, line_of(WAYS));
        for (uint32_t k = 0; k <= WAYS; k++)
            assert_int_equal(victim_tags_probe(&victims, 3, line_of(k)), k != rows[r].goes);
        arena_free(arena);
    }
}

static void smallest(void **state) {
    (void)state;
    Arena *arena = arena_new();
    VictimTags victims;
    place(&victims, 1, 1, 1, LINE, REPLACE_FIFO, arena);
    victim_tags_insert(&victims, 0, 0);
    victim_tags_insert(&victims, 0, LINE);
    assert_false(victim_tags_probe(&victims, 0, 0));
    assert_true(victim_tags_probe(&victims, 0, LINE));
    arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_losses),
        cmocka_unit_test(order_of_leaving),
        cmocka_unit_test(smallest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
