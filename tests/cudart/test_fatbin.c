/* Fat binaries: every form of entry, selection by architecture, and damage. */
#include "driver/module/image.h"
#include "driver/module/fatbin.h"

#include <lz4.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <zstd.h>

#include <cmocka.h>

#include "fatbin_maker.h"

/* The contents of an opened binary: texts and messages. */
typedef struct Opened {
    Arena *arena;
    Diag *diag;
    GpuImage *texts;
    int count;
    CUresult status;
} Opened;

static Opened open_as(const void *image, const ImageTarget *target) {
    Opened opened = {.arena = arena_new(), .diag = diag_new()};
    opened.status = fatbin_open(image, IMAGE_UNBOUNDED, "test", target, opened.arena, &opened.texts,
                                &opened.count, opened.diag);
    return opened;
}

static Opened open_for(const void *image, uint32_t architecture) {
    return open_as(image, &(ImageTarget){architecture, false});
}

static Opened open_image(const void *image) { return open_for(image, 75); }

static void release(Opened *opened) {
    arena_free(opened->arena);
    diag_free(opened->diag);
}

static void expect_text(const void *image, const char *text) {
    Opened opened = open_image(image);
    assert_int_equal(opened.status, CUDA_SUCCESS);
    assert_int_equal(opened.count, 1);
    assert_int_equal(opened.texts[0].length, strlen(text));
    assert_memory_equal(opened.texts[0].text, text, strlen(text));
    release(&opened);
}

static void expect_failure(const void *image, CUresult status, const char *words) {
    Opened opened = open_image(image);
    assert_int_equal(opened.status, status);
    assert_non_null(strstr(diag_text(opened.diag), words));
    release(&opened);
}

static void add_text(Maker *maker, MakerForm form, unsigned architecture, const char *text) {
    char packed[4096];
    size_t size = strlen(text);
    if (form == MAKER_PLAIN) {
        maker_add(maker, form, architecture, text, size + 1, 0);
        return;
    }
    size_t packed_size = form == MAKER_LZ4
                             ? (size_t)LZ4_compress_default(text, packed, (int)size, sizeof packed)
                             : ZSTD_compress(packed, sizeof packed, text, size, 3);
    maker_add(maker, form, architecture, packed, packed_size, size);
}

static const char text_75[] =
    ".version 8.0 .target sm_75 .address_size 64 // words words words words";

static void test_every_form_gives_its_text(void **state) {
    (void)state;
    for (MakerForm form = MAKER_PLAIN; form <= MAKER_ZSTD; form++) {
        Maker maker;
        maker_begin(&maker);
        add_text(&maker, form, 75, text_75);
        assert_true(fatbin_is(maker.bytes));
        expect_text(maker.bytes, text_75);
        MakerWrapper wrapper = maker_wrap(&maker);
        assert_true(fatbin_is(&wrapper));
        expect_text(&wrapper, text_75);
    }
    assert_false(fatbin_is(".version 8.0"));
    assert_false(fatbin_is(""));
}

static void test_the_nearest_architecture_below_the_devices_is_taken(void **state) {
    (void)state;
    static const struct {
        unsigned device, given[3];
        const char *taken;
    } cases[] = {
        {75, {50, 75, 90}, "75"},   {75, {75, 50, 90}, "75"}, {75, {90, 60, 70}, "70"},
        {75, {120, 90, 100}, "90"}, {75, {80, 52, 90}, "52"}, {70, {75, 60, 80}, "60"},
        {80, {75, 80, 86}, "80"},   {86, {75, 80, 89}, "80"}, {89, {90, 86, 89}, "89"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Maker maker;
        maker_begin(&maker);
        maker_add(&maker, MAKER_CUBIN, 75, "ELF", 3, 0);
        for (int j = 0; j < 3; j++) {
            char text[16];
            snprintf(text, sizeof text, "%u", cases[i].given[j]);
            add_text(&maker, MAKER_PLAIN, cases[i].given[j], text);
        }
        Opened opened = open_for(maker.bytes, cases[i].device);
        assert_int_equal(opened.status, CUDA_SUCCESS);
        assert_string_equal(opened.texts[0].text, cases[i].taken);
        release(&opened);
    }
}

static void test_linked_objects_all_give_their_text(void **state) {
    (void)state;
    Maker first, second, cubin;
    maker_begin(&first);
    add_text(&first, MAKER_ZSTD, 75, text_75);
    maker_begin(&second);
    add_text(&second, MAKER_PLAIN, 75, "second");
    maker_begin(&cubin);
    maker_add(&cubin, MAKER_CUBIN, 75, "ELF", 3, 0);
    const void *objects[] = {first.bytes, cubin.bytes, second.bytes, NULL};
    MakerWrapper wrapper = {0x466243b1, 2, cubin.bytes, objects};
    Opened opened = open_image(&wrapper);
    assert_int_equal(opened.status, CUDA_SUCCESS);
    assert_int_equal(opened.count, 2);
    assert_string_equal(opened.texts[0].text, text_75);
    assert_string_equal(opened.texts[1].text, "second");
    release(&opened);
}

/* nvlink's output is used if it is preferred or if an object has nothing else, and only for the
 * device. */
static void test_linked_machine_code_stands_for_all_objects(void **state) {
    (void)state;
    static const unsigned char code[64] = {0x7f, 'E', 'L', 'F', 2, 1, 1, [18] = 190};
    Maker text, cubin, linked;
    maker_begin(&text);
    add_text(&text, MAKER_PLAIN, 75, text_75);
    maker_begin(&cubin);
    maker_add(&cubin, MAKER_CUBIN, 75, "ELF", 3, 0);
    maker_begin(&linked);
    maker_add(&linked, MAKER_CUBIN, 75, code, sizeof code, 0);
    const void *texts[] = {text.bytes, NULL}, *mixed[] = {text.bytes, cubin.bytes, NULL};
    const struct {
        const void **objects;
        ImageTarget target;
        bool is_linked;
    } cases[] = {{texts, {75, false}, false},
                 {texts, {75, true}, true},
                 {mixed, {75, false}, true},
                 {texts, {80, true}, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        MakerWrapper wrapper = {0x466243b1, 2, linked.bytes, cases[i].objects};
        Opened opened = open_as(&wrapper, &cases[i].target);
        assert_int_equal(opened.status, CUDA_SUCCESS);
        assert_int_equal(opened.count, 1);
        assert_int_equal(memcmp(opened.texts[0].text, code, 4) == 0, cases[i].is_linked);
        release(&opened);
    }
}

static void test_machine_code_alone_is_explained(void **state) {
    (void)state;
    Maker maker;
    maker_begin(&maker);
    expect_failure(maker.bytes, CUDA_ERROR_NO_BINARY_FOR_GPU, "empty");
    maker_add(&maker, MAKER_CUBIN, 86, "ELF", 3, 0);
    expect_failure(maker.bytes, CUDA_ERROR_NO_BINARY_FOR_GPU,
                   "-gencode arch=compute_86,code=compute_86");
}

static void test_damage_is_found(void **state) {
    (void)state;
    static const struct {
        size_t at;      /* offset in the binary */
        uint64_t value; /* replacement */
        size_t size;
    } damages[] = {
        {6, 8, 2},                         /* header too short */
        {8, 40, 8},                        /* no room for an entry */
        {16 + 4, 8, 4},                    /* entry's header too short */
        {16 + 4, 1u << 30, 4},             /* entry's header too long */
        {16 + 8, UINT64_MAX, 8},           /* payload too long */
        {16 + 16, UINT32_MAX, 4},          /* compressed size past the payload */
        {16 + 56, UINT64_C(1) << 60, 8},   /* text size that is absurdly large */
        {16 + 56, 3, 8},                   /* text size that is too small */
        {16 + 64, 0x1122334455667788u, 8}, /* not a zstd frame */
    };
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        Maker maker;
        maker_begin(&maker);
        add_text(&maker, MAKER_ZSTD, 75, text_75);
        maker_put(&maker, damages[i].at, damages[i].value, damages[i].size);
        expect_failure(maker.bytes, CUDA_ERROR_INVALID_IMAGE, "damaged");
    }
}

/* Opens a file's bytes in an allocation of exactly that size (plus the NUL that text_read_file
 * adds), so that the address sanitizer reports a read past the end. */
static CUresult open_file(const unsigned char *bytes, size_t size) {
    Arena *arena = arena_new();
    Diag *diag = diag_new();
    GpuImage *texts;
    int count;
    char *file = malloc(size + 1);
    memcpy(file, bytes, size);
    file[size] = '\0';
    CUresult status =
        image_open(file, size, "test", &(ImageTarget){75, false}, arena, &texts, &count, diag);
    assert_int_equal(status == CUDA_SUCCESS, diag_error_count(diag) == 0);
    free(file);
    diag_free(diag);
    arena_free(arena);
    return status;
}

static void test_a_file_is_read_to_its_end_and_no_further(void **state) {
    (void)state;
    for (MakerForm form = MAKER_PLAIN; form <= MAKER_ZSTD; form++) {
        Maker maker;
        maker_begin(&maker);
        add_text(&maker, form, 75, text_75);
        assert_int_equal(open_file(maker.bytes, maker.used), CUDA_SUCCESS);
        for (size_t size = 4; size < maker.used; size++)
            assert_int_equal(open_file(maker.bytes, size), CUDA_ERROR_INVALID_IMAGE);
        /* each field of header and entry at its maximum, whatever the result */
        for (size_t at = 4; at < 16 + 64; at += 4) {
            Maker damaged = maker;
            maker_put(&damaged, at, UINT32_MAX, 4);
            open_file(damaged.bytes, damaged.used);
        }
        MakerWrapper wrapper = maker_wrap(&maker);
        assert_int_equal(open_file((const unsigned char *)&wrapper, sizeof wrapper),
                         CUDA_ERROR_INVALID_IMAGE);
    }
}

static void test_a_linked_image_is_whole_or_refused(void **state) {
    (void)state;
    const GpuImage pair[] = {{"one", ".version 7.5", 12}, {"two", "", 0}};
    Text image = {0};
    image_write(pair, 2, &image);
    assert_int_equal(open_file((unsigned char *)image.bytes, image.length), CUDA_SUCCESS);
    for (size_t size = 7; size < image.length; size++)
        assert_int_equal(open_file((unsigned char *)image.bytes, size), CUDA_ERROR_INVALID_IMAGE);
    for (size_t at = 8; at < image.length; at++) { /* for example 103 GB of texts */
        char before = image.bytes[at];
        image.bytes[at] = (char)0xff;
        open_file((unsigned char *)image.bytes, image.length);
        image.bytes[at] = before;
    }
    text_free(&image);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_form_gives_its_text),
        cmocka_unit_test(test_the_nearest_architecture_below_the_devices_is_taken),
        cmocka_unit_test(test_linked_objects_all_give_their_text),
        cmocka_unit_test(test_linked_machine_code_stands_for_all_objects),
        cmocka_unit_test(test_machine_code_alone_is_explained),
        cmocka_unit_test(test_damage_is_found),
        cmocka_unit_test(test_a_file_is_read_to_its_end_and_no_further),
        cmocka_unit_test(test_a_linked_image_is_whole_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
