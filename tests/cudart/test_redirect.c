/* Programs with a static runtime: the reader of their symbol tables, and the jumps that replace
 * their functions. test_static.py tests whole programs. */
#include "cudart/redirect/jump.h"
#include "cudart/redirect/symbols.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

/* ---- Symbol tables ---- */

/* A file with a symbol table of three rows: empty, a function defined elsewhere, and one defined
 * here. */
typedef struct Image {
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    Elf64_Shdr sections[2]; /* the symbols, and their names */
    Elf64_Sym rows[3];
    char names[16];
} Image;

static const Image whole = {
    .header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64},
               .e_phoff = offsetof(Image, segment),
               .e_phentsize = sizeof(Elf64_Phdr),
               .e_phnum = 1,
               .e_shoff = offsetof(Image, sections),
               .e_shentsize = sizeof(Elf64_Shdr),
               .e_shnum = 2},
    .segment = {.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = sizeof(Image)},
    .sections = {{.sh_type = SHT_SYMTAB,
                  .sh_link = 1,
                  .sh_offset = offsetof(Image, rows),
                  .sh_size = 3 * sizeof(Elf64_Sym)},
                 {.sh_type = SHT_STRTAB, .sh_offset = offsetof(Image, names), .sh_size = 16}},
    .rows = {{0},
             {.st_name = 1, .st_info = STT_FUNC},
             {.st_name = 6, .st_info = STT_FUNC, .st_shndx = 1, .st_value = 64, .st_size = 8}},
    .names = "\0away\0here",
};

static void test_functions_are_those_that_the_file_defines(void **state) {
    (void)state;
    Symbols symbols;
    Function function;
    assert_true(symbols_open(&whole, sizeof whole, &symbols));
    assert_int_equal(symbols.count, 3);
    assert_false(symbols_read(&symbols, 0, &function));
    assert_false(symbols_read(&symbols, 1, &function));
    assert_true(symbols_read(&symbols, 2, &function));
    assert_string_equal(function.name, "here");
    assert_int_equal(function.address, 64);
    assert_int_equal(function.size_bytes, 8);
    assert_true(symbols_has(&symbols, "here"));
    assert_false(symbols_has(&symbols, "away"));
    assert_false(symbols_has(&symbols, "her"));
}

static void test_a_file_is_what_was_loaded_when_its_segments_are(void **state) {
    (void)state;
    Elf64_Phdr other = whole.segment;
    assert_true(symbols_match(&whole, sizeof whole, &whole.segment, 1));
    assert_false(symbols_match(&whole, sizeof whole, &whole.segment, 2));
    assert_false(symbols_match(&whole, sizeof(Elf64_Ehdr), &whole.segment, 1));
    other.p_memsz++;
    assert_false(symbols_match(&whole, sizeof whole, &other, 1));
}

static void look_at_all(const void *bytes, size_t size) {
    Symbols symbols;
    Function function;
    symbols_match(bytes, size, &whole.segment, 1);
    if (!symbols_open(bytes, size, &symbols)) return;
    for (size_t i = 0; i < symbols.count; i++) {
        if (symbols_read(&symbols, i, &function)) assert_true(strlen(function.name) < size);
    }
}

/* A copy without spare bytes, so that the sanitizer sees reads past the end. */
static unsigned char *copy_of(size_t size) {
    unsigned char *bytes = malloc(size ? size : 1);
    memcpy(bytes, &whole, size);
    return bytes;
}

static void test_cut_files_are_answered(void **state) {
    (void)state;
    for (size_t size = 0; size < sizeof whole; size++) {
        unsigned char *bytes = copy_of(size);
        Symbols symbols;
        look_at_all(bytes, size);
        assert_false(symbols_open(bytes, size, &symbols));
        free(bytes);
    }
}

static void test_damaged_bytes_are_answered(void **state) {
    static const unsigned char values[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
    (void)state;
    unsigned char *bytes = copy_of(sizeof whole);
    for (size_t i = 0; i < sizeof whole; i++) {
        unsigned char before = bytes[i];
        for (size_t value = 0; value < sizeof values; value++) {
            bytes[i] = values[value];
            look_at_all(bytes, sizeof whole);
        }
        bytes[i] = before;
    }
    free(bytes);
}

/* Sizes that are valid alone but, with their offset, reach past the end or overflow. */
static void test_huge_sizes_are_refused(void **state) {
    static const uint64_t huge[] = {UINT64_MAX, UINT64_MAX - 64, UINT64_C(1) << 63, sizeof(Image)};
    (void)state;
    for (size_t i = 0; i < sizeof huge / sizeof huge[0]; i++) {
        Symbols symbols;
        Image image = whole;
        image.sections[0].sh_size = huge[i];
        assert_false(symbols_open(&image, sizeof image, &symbols));
        image = whole;
        image.sections[1].sh_size = huge[i];
        assert_false(symbols_open(&image, sizeof image, &symbols));
        image = whole;
        image.sections[0].sh_offset = huge[i];
        assert_false(symbols_open(&image, sizeof image, &symbols));
        image = whole;
        image.header.e_shoff = huge[i];
        assert_false(symbols_open(&image, sizeof image, &symbols));
    }
}

static void test_a_name_ends_inside_its_section(void **state) {
    (void)state;
    Symbols symbols;
    Function function;
    Image image = whole;
    image.sections[1].sh_size = sizeof "\0away\0here"; /* including its zero byte */
    assert_true(symbols_open(&image, sizeof image, &symbols));
    assert_true(symbols_read(&symbols, 2, &function));
    image.sections[1].sh_size--;
    assert_true(symbols_open(&image, sizeof image, &symbols));
    assert_false(symbols_read(&symbols, 2, &function));
}

/* ---- Jumps ---- */

typedef int Sum(int a, int b);

static int add(int a, int b) { return a + b; }
static int add_one(const int *a, int b) { return *a + b; }

/* Offset of the code in its page: a sanitizer reads the bytes before a function that is called. */
enum { PAGE_BYTES = 4096, LEAD_BYTES = 64 };

static void *page_of(void *place) { return (char *)place - LEAD_BYTES; }

/* Makes the bytes at `place` executable, and calls them. */
static int call(void *place, int a, int b) {
    mprotect(page_of(place), PAGE_BYTES, PROT_READ | PROT_EXEC);
    Sum *sum = (Sum *)(uintptr_t)place;
    int value = sum(a, b);
    mprotect(page_of(place), PAGE_BYTES, PROT_READ | PROT_WRITE);
    return value;
}

static int open_page(void **state) {
    char *page = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *state = page + LEAD_BYTES;
    return page == MAP_FAILED;
}

static int close_page(void **state) { return munmap(page_of(*state), PAGE_BYTES); }

static const void *address_of(Sum *function) { return (const void *)(uintptr_t)function; }

static void test_a_jump_passes_arguments_and_result(void **state) {
    assert_false(jump_is_at(*state));
    assert_true(jump_write(*state, JUMP_MOST_BYTES, address_of(add)));
    assert_true(jump_is_at(*state));
    assert_int_equal(call(*state, 40, 2), 42);
}

static void test_a_jump_can_give_the_first_argument(void **state) {
    static const int ten = 10;
    const void *target = (const void *)(uintptr_t)add_one;
    assert_true(jump_write_with(*state, JUMP_MOST_BYTES, target, &ten));
    assert_int_equal(call(*state, 40, 2), 12);
}

static void test_no_byte_past_the_room_is_written(void **state) {
    unsigned char *bytes = *state;
    size_t room = 0;
    memset(bytes, 0x90, JUMP_MOST_BYTES);
    while (!jump_write(bytes, room, address_of(add))) {
        for (size_t i = 0; i < JUMP_MOST_BYTES; i++)
            assert_int_equal(bytes[i], 0x90);
        room++;
    }
    assert_in_range(room, 1, 20);
    for (size_t i = room; i < JUMP_MOST_BYTES; i++)
        assert_int_equal(bytes[i], 0x90);
    assert_int_equal(call(bytes, 1, 2), 3);
}

#if defined(__x86_64__)
static void test_a_landing_pad_stays_where_there_is_room(void **state) {
    static const unsigned char pad[] = {0xf3, 0x0f, 0x1e, 0xfa}; /* endbr64 */
    unsigned char *bytes = *state;
    memcpy(bytes, pad, sizeof pad);
    assert_true(jump_write(bytes, 18, address_of(add)));
    assert_memory_equal(bytes, pad, sizeof pad);
    assert_true(jump_is_at(bytes));
    assert_int_equal(call(bytes, 4, 5), 9);
    assert_true(jump_write(bytes, 17, address_of(add)));
    assert_true(jump_is_at(bytes));
    assert_int_equal(call(bytes, 6, 7), 13);
}
#endif

#define WITH_PAGE(test) cmocka_unit_test_setup_teardown(test, open_page, close_page)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions_are_those_that_the_file_defines),
        cmocka_unit_test(test_a_file_is_what_was_loaded_when_its_segments_are),
        cmocka_unit_test(test_cut_files_are_answered),
        cmocka_unit_test(test_damaged_bytes_are_answered),
        cmocka_unit_test(test_huge_sizes_are_refused),
        cmocka_unit_test(test_a_name_ends_inside_its_section),
        WITH_PAGE(test_a_jump_passes_arguments_and_result),
        WITH_PAGE(test_a_jump_can_give_the_first_argument),
        WITH_PAGE(test_no_byte_past_the_room_is_written),
#if defined(__x86_64__)
        WITH_PAGE(test_a_landing_pad_stays_where_there_is_room),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
