/* The address that a fetch reports for its texel: in rows or, in an array, in blocks. The value is
 * the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka's header needs the four headers above */
#include <cmocka.h>

#include "isa/exec/texture.h"
#include "memory/memory.h"
#include "memory/texture.h"

enum { WIDTH = 9, HEIGHT = 8, PITCH = 64, LINE = 64 };

typedef struct Bench {
    DeviceMemory *memory;
    MemTexture texture; /* WIDTH x HEIGHT words; each holds its index */
} Bench;

static Bench start(void) {
    Bench bench = {.memory = mem_new(1 << 20)};
    const uint64_t address =
        mem_alloc(bench.memory, PITCH * HEIGHT, MEM_ALLOC_ALIGN, MEM_KIND_ARRAY, NULL);
    for (uint32_t y = 0; y < HEIGHT; y++)
        for (uint32_t x = 0; x < WIDTH; x++)
            *(uint32_t *)mem_host(bench.memory, address + y * PITCH + x * 4) = y * WIDTH + x;
    bench.texture = (MemTexture){.dimensions = 2,
                                 .channels = 1,
                                 .channel_bits = 32,
                                 .levels = 1,
                                 .is_array = true,
                                 .level[0] = {address, WIDTH, HEIGHT, 1, PITCH, PITCH * HEIGHT}};
    return bench;
}

/* Byte offset in the array of the address that is reported for the texel. */
static uint64_t place_of(const Bench *bench, float x, float y, uint32_t block_bytes) {
    const Fetch fetch = {.at = {x, y}};
    const MemSampler sampler = {.mode = {MEM_ADDRESS_CLAMP, MEM_ADDRESS_CLAMP}};
    uint64_t address;
    const Texel texel =
        texture_fetch(bench->memory, &bench->texture, &sampler, &fetch, block_bytes, &address);
    assert_false(texel.is_missing);
    assert_int_equal(texel.channel[0], (uint32_t)y * WIDTH + (uint32_t)x);
    return address - bench->texture.level[0].address;
}

static void test_blocks_of_an_array_follow_one_another_in_rows(void **state) {
    (void)state;
    const Bench bench = start();
    assert_int_equal(place_of(&bench, 3, 3, LINE), 3 * 16 + 12); /* blocks of 4 x 4 words */
    assert_int_equal(place_of(&bench, 4, 0, LINE), LINE);
    assert_int_equal(place_of(&bench, 0, 4, LINE), PITCH / 16 * LINE);
    assert_int_equal(place_of(&bench, 8, 7, LINE), PITCH / 16 * LINE + 2 * LINE + 3 * 16);
    assert_int_equal(place_of(&bench, 7, 1, 2 * LINE), 4 * 8 + 28); /* 8 x 4 */
    mem_free(bench.memory);
}

static void test_what_is_no_array_of_two_dimensions_lies_in_rows(void **state) {
    (void)state;
    Bench bench = start();
    assert_int_equal(place_of(&bench, 3, 3, 0), 3 * PITCH + 12);
    assert_int_equal(place_of(&bench, 3, 3, 4), 3 * PITCH + 12); /* a block is one texel */
    bench.texture.is_array = false;
    assert_int_equal(place_of(&bench, 3, 3, LINE), 3 * PITCH + 12);
    bench.texture.is_array = true;
    bench.texture.dimensions = 1;
    assert_int_equal(place_of(&bench, 5, 0, LINE), 20);
    mem_free(bench.memory);
}

/* Samples at `x` texels in a row of 8-bit texels, which are read as floats. */
static float sample(const uint8_t *bytes, uint64_t width, float x, bool is_filtered) {
    DeviceMemory *memory = mem_new(1 << 20);
    const uint64_t start = mem_alloc(memory, width, MEM_ALLOC_ALIGN, MEM_KIND_ARRAY, NULL);
    const MemTexture texture = {.dimensions = 1,
                                .type = MEM_TEXEL_UNSIGNED,
                                .channels = 1,
                                .channel_bits = 8,
                                .levels = 1,
                                .is_array = true,
                                .is_srgb = true,
                                .reads_normalised = true,
                                .level[0] = {start, width, 1, 1, width, width}};
    const MemSampler sampler = {.mode = {MEM_ADDRESS_CLAMP}, .is_linear_filter = is_filtered};
    const Fetch fetch = {.at = {x}};
    uint64_t address;
    float value;
    mem_write(memory, start, bytes, width);
    const Texel texel = texture_fetch(memory, &texture, &sampler, &fetch, 0, &address);
    memcpy(&value, &texel.channel[0], sizeof value);
    mem_free(memory);
    return value;
}

/* As on an H200: 8 bits of the curve, with some values off by one. Interpolated values are halves;
 * ties are rounded up. */
static void test_srgb_texels_are_a_gpus(void **state) {
    (void)state;
    static const uint8_t texels[] = {0, 128, 11, 10, 255};
    assert_true(sample(texels, 5, 1, false) == 0x1.bap-3f);
    assert_true(sample(texels, 5, 2, false) == 0x1.b8p-9f);
    assert_true(sample(texels, 5, 4, false) == 1);
    assert_true(sample(texels, 5, 0.5f, true) == 0);
    assert_true(sample(texels, 5, 0.5f + 13 / 256.0f, true) == 0x1.674p-7f); /* a tie */
    assert_true(sample(texels, 5, 0.5f + 120 / 256.0f, true) == 0x1.9e8p-4f);
    assert_true(sample(texels, 5, 4.5f, true) == 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks_of_an_array_follow_one_another_in_rows),
        cmocka_unit_test(test_what_is_no_array_of_two_dimensions_lies_in_rows),
        cmocka_unit_test(test_srgb_texels_are_a_gpus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
