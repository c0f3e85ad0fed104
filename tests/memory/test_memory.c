/* Device memory: allocation, validity of ranges, descriptions of addresses, the device heap. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <sys/mman.h>

#include "memory/heap.h"
#include "memory/memory.h"
#include "memory/texture.h"

enum { MIB = 1 << 20 };

static uint64_t take(DeviceMemory *memory, uint64_t size) {
    return mem_alloc(memory, size, MEM_ALLOC_ALIGN, MEM_KIND_BUFFER, NULL);
}

static void allocates_first_fit_in_address_order(void **state) {
    (void)state;
    DeviceMemory *memory = mem_new(MIB);
    uint64_t a = take(memory, 100), b = take(memory, 300), c = take(memory, 1);
    assert_int_equal(a, MEM_GLOBAL_BASE);
    assert_int_equal(b, a + 256);
    assert_int_equal(c, b + 512);
    assert_true(mem_release(memory, b));
    assert_int_equal(take(memory, 600), c + 256); /* the gap of 512 bytes is too small */
    assert_int_equal(take(memory, 512), b);
    assert_int_equal(mem_alloc(memory, 64, 4096, MEM_KIND_BUFFER, NULL) % 4096, 0);
    assert_false(mem_release(memory, b + 1));
    mem_free(memory);
}

static void says_when_there_is_no_room(void **state) {
    (void)state;
    DeviceMemory *memory = mem_new(MIB);
    assert_int_equal(take(memory, MIB + 1), 0);
    assert_int_equal(take(memory, UINT64_MAX), 0);
    uint64_t all = take(memory, MIB);
    assert_int_equal(all, MEM_GLOBAL_BASE);
    assert_int_equal(take(memory, 1), 0);
    assert_int_equal(mem_used(memory), MIB);
    assert_true(mem_release(memory, all));
    assert_int_equal(mem_used(memory), 0);
    mem_free(memory);
    assert_null(mem_new(0));
}

/* Random allocations and releases, compared with a list of live allocations. */
static void keeps_allocations_apart(void **state) {
    (void)state;
    enum { LIVE = 64, STEPS = 20000 };
    DeviceMemory *memory = mem_new(MIB);
    struct {
        uint64_t start, size;
    } live[LIVE] = {{0, 0}};
    uint64_t seed = 3;
    for (int step = 0; step < STEPS; step++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        int i = (int)(seed >> 33) % LIVE;
        if (live[i].start) {
            assert_true(mem_is_valid(memory, live[i].start, live[i].size));
            assert_false(mem_is_valid(memory, live[i].start, live[i].size + 1));
            assert_true(mem_release(memory, live[i].start));
            assert_false(mem_is_valid(memory, live[i].start, 1));
            live[i].start = 0;
            continue;
        }
        live[i].size = 1 + (seed >> 40) % 20000;
        live[i].start = take(memory, live[i].size);
        for (int j = 0; j < LIVE && live[i].start; j++)
            if (j != i && live[j].start)
                assert_true(live[i].start + live[i].size <= live[j].start ||
                            live[j].start + live[j].size <= live[i].start);
    }
    mem_free(memory);
}

static void copies_only_inside_one_allocation(void **state) {
    (void)state;
    DeviceMemory *memory = mem_new(MIB);
    uint64_t a = take(memory, 256), b = take(memory, 256);
    char bytes[512] = "hello", back[512] = "";
    assert_true(mem_write(memory, a, bytes, 256));
    assert_false(mem_write(memory, a, bytes, 257)); /* not even though b directly follows a */
    assert_false(mem_read(memory, 0, back, 1));
    assert_true(mem_copy(memory, b, a, 256));
    assert_true(mem_read(memory, b, back, 256));
    assert_string_equal(back, "hello");
    assert_true(mem_fill(memory, a, 0x01020304, 4, 64));
    assert_false(mem_fill(memory, a, 0, 4, 65));
    assert_false(mem_fill(memory, a, 0, 4, UINT64_MAX / 2));
    assert_true(mem_is_valid(memory, 12345, 0));
    mem_free(memory);
}

static void assert_described(const DeviceMemory *memory, uint64_t address, const char *expected) {
    Text text = {0};
    mem_describe(memory, address, &text);
    if (!strstr(text_string(&text), expected))
        fail_msg("0x%llx is '%s', not '%s'", (unsigned long long)address, text_string(&text),
                 expected);
    text_free(&text);
}

static void describes_any_address(void **state) {
    (void)state;
    DeviceMemory *memory = mem_new(16 * MIB);
    assert_described(memory, MEM_GLOBAL_BASE, "there is none at all");
    uint64_t a = take(memory, 100);
    uint64_t name = mem_alloc(memory, 8, 8, MEM_KIND_CONST, "coefficients");
    uint64_t far = take(memory, 4 * MIB);
    assert_described(memory, 0, "the null pointer");
    assert_described(memory, 24, "next to the null pointer");
    assert_described(memory, a + 7, "byte 7 of the 100-byte allocation");
    assert_described(memory, a + 100, "1 byte past the last byte of the 100-byte allocation");
    assert_described(memory, name, "8-byte constant variable 'coefficients'");
    assert_described(memory, far + 6 * MIB, "in no allocation; the nearest is the 4194304-byte");
    assert_true(mem_release(memory, far));
    assert_described(memory, far + 3, "byte 3 of a freed 4194304-byte allocation");
    uint64_t again = take(memory, 40); /* at the same address */
    assert_int_equal(again, far);
    assert_described(memory, again + 40, "1 byte past the last byte of the 40-byte allocation");
    assert_described(memory, again + 3 * MIB, "byte 3145728 of a freed 4194304-byte allocation");
    mem_free(memory);
}

static void tracks_what_was_written(void **state) {
    (void)state;
    DeviceMemory *memory = mem_new(MIB);
    mem_track_writes(memory);
    uint64_t a = take(memory, 16);
    const MemBlock *block = mem_find(memory, a);
    assert_non_null(block->written);
    assert_int_equal(block->written[0], 0);
    assert_true(mem_write(memory, a + 2, "xyz", 3));
    assert_int_equal(block->written[0], 0x1c);
    uint64_t copy = take(memory, 8), filled = take(memory, 8);
    assert_true(mem_copy(memory, copy + 1, a + 2, 2));
    assert_int_equal(mem_find(memory, copy)->written[0], 0x06);
    assert_true(mem_fill(memory, filled + 4, 0, 2, 2));
    assert_int_equal(mem_find(memory, filled)->written[0], 0xf0);
    mem_free(memory);
}

static void zeroes_without_taking_memory_of_the_host(void **state) {
    (void)state;
    DeviceMemory *memory = mem_new(64 * MIB);
    uint64_t a = mem_alloc(memory, 8 * MIB + 100, MEM_ALLOC_ALIGN, MEM_KIND_GLOBAL, "v");
    unsigned char is_resident = 1;
    assert_true(mem_zero(memory, a, 8 * MIB + 100));
    uintptr_t page = ((uintptr_t)mem_host(memory, a) + MIB) & ~(uintptr_t)4095;
    assert_int_equal(mincore((void *)page, 4096, &is_resident), 0);
    assert_int_equal(is_resident & 1, 0);
    uint8_t bytes[200];
    assert_true(mem_fill(memory, a, 0xab, 1, 8 * MIB + 100));
    assert_true(mem_zero(memory, a + 50, 8 * MIB));
    assert_true(mem_read(memory, a, bytes, 100));
    assert_int_equal(bytes[49], 0xab);
    assert_int_equal(bytes[50], 0);
    assert_true(mem_read(memory, a + 8 * MIB - 100, bytes, 200));
    assert_int_equal(bytes[0], 0);
    assert_int_equal(bytes[149], 0);
    assert_int_equal(bytes[150], 0xab);
    assert_false(mem_zero(memory, a + 200, 8 * MIB));
    mem_free(memory);
}

static void keeps_padding_free_around_allocations(void **state) {
    (void)state;
    DeviceMemory *memory = mem_new(MIB);
    mem_set_padding(memory, 100);
    uint64_t a = mem_alloc(memory, 512, 0, MEM_KIND_BUFFER, NULL);
    uint64_t b = mem_alloc(memory, 512, 0, MEM_KIND_BUFFER, NULL);
    assert_true(b - (a + 512) >= 100);
    for (uint64_t i = 1; i <= 100; i++) {
        assert_false(mem_is_valid(memory, a - i, 1));
        assert_false(mem_is_valid(memory, a + 511 + i, 1));
    }
    assert_int_equal(mem_alloc(memory, MIB - 100, 0, MEM_KIND_BUFFER, NULL), 0);
    mem_free(memory);
}

static void hands_out_heap_blocks(void **state) {
    (void)state;
    DeviceMemory *memory = mem_new(MIB);
    MemHeap *heap = mem_heap_new(memory, 1024);
    uint64_t a = mem_heap_alloc(heap, 1), b = mem_heap_alloc(heap, 40);
    assert_int_equal(b, a + 16);
    assert_true(mem_heap_is_valid(heap, b, 40)); /* up to its last byte, not its granule's */
    assert_false(mem_heap_is_valid(heap, b, 41));
    assert_false(mem_heap_is_valid(heap, b + 39, 2));
    assert_false(mem_heap_is_valid(heap, a, 17)); /* reaches into b */
    assert_int_equal(mem_heap_alloc(heap, 0), 0);
    assert_int_equal(mem_heap_alloc(heap, 1024), 0);
    assert_false(mem_heap_release(heap, b + 16));
    assert_true(mem_heap_release(heap, b));
    assert_false(mem_heap_release(heap, b)); /* a second time */
    assert_false(mem_heap_is_valid(heap, b, 1));
    assert_true(mem_heap_is_valid(heap, a, 1));
    assert_false(mem_heap_is_valid(heap, a, 2));
    /* Every byte can be allocated in the end, and is found again after the search has wrapped
     * around. */
    assert_int_not_equal(mem_heap_alloc(heap, 1008), 0);
    assert_int_equal(mem_heap_alloc(heap, 1), 0);
    mem_heap_free(heap);
    assert_int_equal(mem_used(memory), 0);
    assert_null(mem_heap_new(memory, 2 * MIB));
    mem_free(memory);
}

static void names_textures_by_handles(void **state) {
    (void)state;
    DeviceMemory *memory = mem_new(MIB);
    MemTexture texture = {.levels = 1, .level[0] = {.width = 4}, .channels = 1, .channel_bits = 32};
    uint64_t first = mem_texture_add(memory, &texture), second = mem_texture_add(memory, &texture);
    assert_int_not_equal(first, 0);
    assert_int_not_equal(first, second);
    assert_int_equal(mem_texture(memory, second)->level[0].width, 4);
    assert_true(mem_texture_remove(memory, first));
    assert_false(mem_texture_remove(memory, first));
    assert_null(mem_texture(memory, first));
    assert_null(mem_texture(memory, 0));
    assert_null(mem_texture(memory, UINT64_MAX));
    mem_free(memory);
}

/* The address that the machine model uses depends only on the order of registrations. */
static void reaches_registered_memory_where_the_host_has_it(void **state) {
    (void)state;
    enum { BYTES = 10000, INSET = 4 };
    DeviceMemory *memory = mem_new(MIB);
    _Alignas(16) char first[BYTES], second[BYTES];
    Range range = {(uintptr_t)first + INSET, (uintptr_t)first + BYTES}, other;
    other = (Range){(uintptr_t)second, (uintptr_t)second + BYTES};
    assert_false(mem_has_registered(memory));
    assert_false(mem_has_host_range(memory, range));
    uint64_t a = mem_register(memory, range, false), b = mem_register(memory, other, true);
    assert_ptr_equal(mem_host(memory, a), first + INSET);
    assert_int_equal(mem_used(memory), 0);
    assert_int_equal(mem_find(memory, a + 5)->kind, MEM_KIND_REGISTERED);
    assert_false(mem_find(memory, a)->is_read_only);
    assert_true(mem_find(memory, b)->is_read_only);
    assert_true(mem_has_host_range(memory, (Range){range.end - 1, range.end + 1}));
    assert_int_equal(mem_register(memory, range, false), 0);

    uint64_t seen = mem_seen_address(memory, a);
    assert_int_equal(seen % 4096, INSET);
    assert_true(seen >= MEM_GLOBAL_BASE + MIB);
    assert_int_equal(mem_seen_address(memory, a + 77), seen + 77);
    assert_int_equal(mem_seen_address(memory, b), seen - INSET + 3 * 4096);
    assert_int_equal(mem_seen_address(memory, MEM_GLOBAL_BASE), MEM_GLOBAL_BASE);
    assert_true(mem_release(memory, a));
    assert_null(mem_find(memory, a));
    assert_int_equal(mem_seen_address(memory, a), a);
    assert_int_equal(mem_register(memory, range, false), a);
    assert_int_equal(mem_seen_address(memory, a), seen); /* the first gap */
    mem_free(memory);
}

/* Kernels access shared, local and parameter memory at these addresses. */
static void registers_nothing_in_the_windows_of_other_spaces(void **state) {
    (void)state;
    DeviceMemory *memory = mem_new(MIB);
    const uint64_t bias = mem_host_bias(memory), low = MEM_WINDOWS_START + bias;
    assert_int_equal(mem_register(memory, (Range){low - 8, low + 8}, false), 0);
    assert_int_equal(mem_register(memory, (Range){low + 8, low + 16}, false), 0);
    assert_int_equal(mem_register(memory, (Range){low - 16, low}, false), MEM_WINDOWS_START - 16);
    assert_int_equal(
        mem_register(memory, (Range){MEM_WINDOWS_END + bias, MEM_WINDOWS_END + bias + 8}, false),
        MEM_WINDOWS_END);
    assert_int_equal(mem_register(memory, (Range){low, low}, false), 0);
    mem_free(memory);
}

static void knows_whether_others_may_write(void **state) {
    (void)state;
    DeviceMemory *memory = mem_new(1 << 20);
    assert_false(mem_is_seen_outside(memory));
    assert_true(mem_alloc(memory, 64, 0, MEM_KIND_BUFFER, NULL) != 0);
    assert_false(mem_is_seen_outside(memory));
    uint64_t locked = mem_alloc(memory, 64, 0, MEM_KIND_HOST, NULL);
    assert_true(mem_alloc(memory, 64, 0, MEM_KIND_BUFFER, NULL) != 0);
    assert_true(mem_is_seen_outside(memory));
    assert_true(mem_release(memory, locked));
    assert_false(mem_is_seen_outside(memory));
    mem_free(memory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocates_first_fit_in_address_order),
        cmocka_unit_test(says_when_there_is_no_room),
        cmocka_unit_test(keeps_allocations_apart),
        cmocka_unit_test(copies_only_inside_one_allocation),
        cmocka_unit_test(describes_any_address),
        cmocka_unit_test(tracks_what_was_written),
        cmocka_unit_test(zeroes_without_taking_memory_of_the_host),
        cmocka_unit_test(keeps_padding_free_around_allocations),
        cmocka_unit_test(hands_out_heap_blocks),
        cmocka_unit_test(names_textures_by_handles),
        cmocka_unit_test(reaches_registered_memory_where_the_host_has_it),
        cmocka_unit_test(registers_nothing_in_the_windows_of_other_spaces),
        cmocka_unit_test(knows_whether_others_may_write),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
