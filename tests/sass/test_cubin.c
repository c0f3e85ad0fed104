/* The cubin reader: the contents of a complete file; damaged files are refused or read without a
 * fault.
 *
 * usage: test_sass_cubin [DAMAGED [PATH]]: with a number, reads that many damaged files instead;
 * with a path, damages that file. */
#include "sass/cubin.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cubin_maker.h"
#include "sass/listing.h"

static const CubinMade plain = {.architecture = 80};

typedef struct Opened {
    Text file;
    Arena *arena;
    Diag *diag;
    const Cubin *cubin;
} Opened;

static Opened open_made(const CubinMade *what) {
    Opened opened = {.arena = arena_new(), .diag = diag_new()};
    cubin_make(what, &opened.file);
    opened.cubin =
        cubin_open(opened.file.bytes, opened.file.length, "made", opened.arena, opened.diag);
    assert_string_equal(diag_text(opened.diag), "");
    assert_non_null(opened.cubin);
    return opened;
}

static void close_made(Opened *opened) {
    text_free(&opened->file);
    diag_free(opened->diag);
    arena_free(opened->arena);
}

static void the_header_says_architecture_and_origin(void **state) {
    (void)state;
    static const CubinMade old = {.architecture = 75, .is_old = true};
    static const CubinMade newer = {.architecture = 120, .is_relocatable = true};
    Opened a = open_made(&plain), b = open_made(&old), c = open_made(&newer);
    assert_int_equal(a.cubin->architecture, 80);
    assert_int_equal(b.cubin->architecture, 75);
    assert_int_equal(c.cubin->architecture, 120);
    assert_false(a.cubin->is_relocatable);
    assert_true(c.cubin->is_relocatable);
    assert_int_equal(b.cubin->toolkit, 111);
    assert_string_equal(a.cubin->producer, "ptxas, Cuda compilation tools, release 13.0");
    assert_string_equal(a.cubin->options, "-arch sm_80");
    close_made(&a);
    close_made(&b);
    close_made(&c);
}

static void a_kernel_has_what_its_attributes_say(void **state) {
    (void)state;
    Opened made = open_made(&plain);
    const CubinFunction *kernel = cubin_find(made.cubin, "_Z5scalePfi");
    assert_non_null(kernel);
    assert_true(kernel->is_kernel);
    assert_true(kernel->uses_cta_z);
    assert_false(kernel->has_cluster);
    const uint32_t found[] = {
        kernel->registers,        kernel->max_registers,    kernel->barriers,
        kernel->frame_bytes,      kernel->stack_bytes,      kernel->shared_bytes,
        kernel->shared_alignment, kernel->parameter_offset, kernel->parameter_bytes,
        kernel->max_threads[0],   kernel->max_threads[1],   kernel->required_threads[0],
        kernel->api_version,      kernel->exits.count,      kernel->externs.count,
        kernel->branch_count,     kernel->local_bytes};
    const uint32_t expected[] = {18,  255, 1, 16,  24, 128, 16, 0x160, 12,
                                 128, 2,   0, 130, 1,  1,   1,  40};
    assert_memory_equal(found, expected, sizeof expected);
    assert_int_equal(cubin_word(kernel->exits, 0), 0x50);
    assert_int_equal(kernel->branches[0].offset, 0x30);
    assert_int_equal(kernel->branches[0].targets.count, 2);
    assert_int_equal(cubin_word(kernel->branches[0].targets, 1), 0x60);
    assert_int_equal(kernel->parameter_count, 2);
    assert_int_equal(kernel->parameters[0].size, 8);
    assert_int_equal(kernel->parameters[1].offset, 8);
    assert_int_equal(kernel->parameters[1].size, 4);
    close_made(&made);
}

static void attributes_without_a_meaning_are_kept(void **state) {
    (void)state;
    Opened made = open_made(&plain);
    const CubinFunction *kernel = cubin_find(made.cubin, "_Z5scalePfi");
    int found = 0;
    for (uint32_t i = 0; i < kernel->attribute_count; i++) {
        const CubinAttribute *attribute = &kernel->attributes[i];
        if (attribute->number != 0xf1) continue;
        found++;
        assert_int_equal(attribute->size, 8);
    }
    assert_int_equal(found, 1);
    assert_null(cubin_attribute_name(0xf1));
    assert_string_equal(cubin_attribute_name(0x2f), "REGCOUNT");
    assert_string_equal(cubin_attribute_name(0x45), "KPARAM_INFO_V2");
    assert_string_equal(cubin_attribute_name(0x4c), "NUM_BARRIERS");
    assert_string_equal(cubin_attribute_name(0x5f), "MERCURY_ISA_VERSION");
    close_made(&made);
}

static void functions_behind_a_kernel_share_its_registers_and_banks(void **state) {
    (void)state;
    Opened made = open_made(&plain);
    assert_int_equal(made.cubin->function_count, 2);
    const CubinFunction *twice = &made.cubin->functions[1];
    assert_string_equal(twice->name, "$_Z5scalePfi$_Z5twicef");
    assert_false(twice->is_kernel);
    assert_int_equal(twice->offset, 0x70);
    assert_int_equal(twice->registers, 18);
    assert_int_equal(twice->frame_bytes, 8);
    assert_int_equal(twice->stack_bytes, 0);
    for (int i = 0; i < 2; i++) {
        const CubinFunction *function = &made.cubin->functions[i];
        const CubinSection *sections = made.cubin->sections;
        assert_string_equal(sections[function->constants[0]].name, ".nv.constant0._Z5scalePfi");
        assert_string_equal(sections[function->constants[3]].name, ".nv.constant3");
        assert_int_equal(function->constants[2], CUBIN_NONE);
    }
    assert_memory_equal(twice->code, made.cubin->functions[0].code + 0x70, twice->size);
    close_made(&made);
}

static void old_files_have_registers_and_barriers_in_the_code_section(void **state) {
    (void)state;
    static const CubinMade old = {.architecture = 75, .is_old = true};
    Opened made = open_made(&old);
    assert_int_equal(made.cubin->functions[0].registers, 20);
    assert_int_equal(made.cubin->functions[1].barriers, 2); /* the kernel also has NUM_BARRIERS */
    close_made(&made);
}

static void symbols_have_a_space(void **state) {
    (void)state;
    Opened made = open_made(&plain);
    static const struct {
        const char *name;
        CubinSpace space;
        bool is_global;
    } expected[] = {{"", CUBIN_SPACE_NONE, false},
                    {"_Z5scalePfi", CUBIN_SPACE_CODE, true},
                    {"$_Z5scalePfi$_Z5twicef", CUBIN_SPACE_CODE, false},
                    {"table", CUBIN_SPACE_CONSTANT, true},
                    {"counter", CUBIN_SPACE_GLOBAL, true},
                    {"zeros", CUBIN_SPACE_GLOBAL, false},
                    {"tile", CUBIN_SPACE_SHARED, false},
                    {"vprintf", CUBIN_SPACE_CODE, true}};
    assert_int_equal(made.cubin->symbol_count, sizeof expected / sizeof expected[0]);
    for (uint32_t i = 0; i < made.cubin->symbol_count; i++) {
        const CubinSymbol *symbol = &made.cubin->symbols[i];
        assert_string_equal(symbol->name, expected[i].name);
        assert_int_equal(symbol->space, expected[i].space);
        assert_int_equal(symbol->is_global, expected[i].is_global);
    }
    uint16_t global = made.cubin->symbols[5].section;
    assert_null(made.cubin->sections[global].bytes); /* zeros */
    assert_int_equal(made.cubin->sections[made.cubin->symbols[3].section].bank, 3);
    assert_int_equal(made.cubin->symbols[7].section, CUBIN_NONE);
    close_made(&made);
}

static void the_call_graph_has_four_lists(void **state) {
    (void)state;
    Opened made = open_made(&plain);
    static const CubinCall expected[] = {{1, 2, CUBIN_CALL_DIRECT},
                                         {1, 7, CUBIN_CALL_DIRECT},
                                         {2, 0, CUBIN_CALL_TARGET},
                                         {1, 2, CUBIN_CALL_ADDRESS}};
    assert_int_equal(made.cubin->call_count, 4);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(made.cubin->calls[i].caller, expected[i].caller);
        assert_int_equal(made.cubin->calls[i].callee, expected[i].callee);
        assert_int_equal(made.cubin->calls[i].kind, expected[i].kind);
    }
    close_made(&made);
}

/* ---- Relocations ---- */

static bool resolve(void *context, const CubinSymbol *symbol, CubinReference what,
                    uint64_t *value) {
    (void)what;
    *value = UINT64_C(0x7f0012345678);
    return !context || strcmp(symbol->name, context) != 0;
}

static uint64_t given_value;

static bool give(void *context, const CubinSymbol *symbol, CubinReference what, uint64_t *value) {
    (void)context;
    bool is_image = symbol->kind == CUBIN_SYMBOL_TEXTURE || symbol->kind == CUBIN_SYMBOL_SURFACE;
    *value = given_value;
    return is_image == (what == CUBIN_REFER_BINDLESS);
}

static void relocations_write_the_halves_of_an_address(void **state) {
    (void)state;
    Opened made = open_made(&plain);
    const CubinFunction *kernel = cubin_find(made.cubin, "_Z5scalePfi");
    const CubinSection *section = &made.cubin->sections[kernel->code_section];
    assert_int_equal(section->relocation_count, 3);
    assert_int_equal(section->relocations[0].offset, 0x10); /* from both tables, in order */
    assert_int_equal(section->relocations[2].offset, 0x20);
    unsigned char code[0x90];
    memcpy(code, section->bytes, sizeof code);
    assert_true(cubin_relocate(made.cubin, kernel->code_section, code, resolve, NULL, made.diag));
    uint64_t words[2];
    memcpy(words, code + 0x10, sizeof words);
    assert_int_equal(words[0], 0x1234567800027802);
    assert_int_equal(words[1], 0x000fe40000000f00);
    memcpy(words, code + 0x20, sizeof words);
    assert_int_equal(words[0], 0x00007f0000037802);
    close_made(&made);
}

/* Relocates a file whose only relocation of global data is of another kind. */
static bool relocate_data(uint32_t kind, const char *unknown, unsigned char bytes[16],
                          const char *message) {
    Opened made = open_made(&plain);
    uint16_t data = cubin_find_section(made.cubin, ".nv.global.init");
    ((CubinRelocation *)(uintptr_t)made.cubin->sections[data].relocations)[0].kind = kind;
    ((CubinRelocation *)(uintptr_t)made.cubin->sections[data].relocations)[0].offset = 0;
    memset(bytes, 0, 16);
    bool is_done =
        cubin_relocate(made.cubin, data, bytes, resolve, (void *)(uintptr_t)unknown, made.diag);
    assert_string_equal(diag_text(made.diag), message);
    close_made(&made);
    return is_done;
}

static void every_kind_writes_its_field(void **state) {
    (void)state;
    static const struct {
        uint32_t kind;
        uint64_t words[2];
    } expected[] = {
        {2, {0x00007f0012345678, 0}},
        {4, {0x00007f0012345678, 0}},
        {56, {0x1234567800000000, 0}},
        {57, {0x00007f0000000000, 0}},
        {58, {0x1234567800000000, 0x7f00}}, /* units of 4 bytes, from bit 34 on */
        {84, {0x78, 0}},
        {86, {0x34, 0}},
        {102, {0x00007f0012345678, 0}},
        {112, {0x1234567800000000, 0}},
        {113, {0x00007f0000000000, 0}},
        {68, {0, 0}},
    };
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        unsigned char bytes[16];
        uint64_t words[2];
        assert_true(relocate_data(expected[i].kind, NULL, bytes, ""));
        memcpy(words, bytes, sizeof words);
        assert_int_equal(words[0], expected[i].words[0]);
        assert_int_equal(words[1], expected[i].words[1]);
    }
}

/* Instruction words before and after linking by nvlink 13.0, and the address that it gave the
 * symbol. */
static void fields_are_those_that_nvlink_writes(void **state) {
    (void)state;
    enum { TABLE = 3, ZEROS = 5 }; /* symbols: in bank 3, in global memory */
    static const struct {
        uint32_t kind, symbol;
        CubinSymbolKind symbol_kind;
        uint64_t value, before, after;
    } expected[] = {
        {55, ZEROS, CUBIN_SYMBOL_OBJECT, 0x30, 0x00000000000d7802, 0x00000030000d7802},
        {59, ZEROS, CUBIN_SYMBOL_OBJECT, 0x40, 0x0000000000047882, 0x0000004000047882},
        {64, TABLE, CUBIN_SYMBOL_OBJECT, 4, 0x00000000ff0a7624, 0x00c00100ff0a7624},
        {64, TABLE, CUBIN_SYMBOL_OBJECT, 4, 0x0000000005057623, 0x00c0010005057623},
        {65, ZEROS, CUBIN_SYMBOL_TEXTURE, 0x68a8, 0x3000000a06077b60, 0x301a2a0a06077b60},
        {65, ZEROS, CUBIN_SYMBOL_SURFACE, 0x68ac, 0x1000000000007b99, 0x101a2b0000007b99},
        {66, TABLE, CUBIN_SYMBOL_OBJECT, 4, 0x00c00000ff0e7b82, 0x00c00100ff0e7b82},
        {66, ZEROS, CUBIN_SYMBOL_SURFACE, 0x503c, 0x00140e0000047ab9, 0x00140f0000047ab9},
        {66, TABLE, CUBIN_SYMBOL_OBJECT, (uint64_t)-32768, 0x0000000000047b82, 0x00e0000000047b82},
        {74, ZEROS, CUBIN_SYMBOL_OBJECT, 8, 0x00000004ff007388, 0x00000804ff007388},
        {74, ZEROS, CUBIN_SYMBOL_OBJECT, 0x190, 0x0000000009007388, 0x0001900009007388},
        {115, ZEROS, CUBIN_SYMBOL_SURFACE, 0x51b4, 0x000a3600ff0877ac, 0x000a3680ff0877ac},
    };
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        Opened made = open_made(&plain);
        uint16_t data = cubin_find_section(made.cubin, ".nv.global.init");
        CubinRelocation *relocation =
            (CubinRelocation *)(uintptr_t)made.cubin->sections[data].relocations;
        *relocation = (CubinRelocation){0, expected[i].kind, expected[i].symbol, 0};
        CubinSymbol *symbol = (CubinSymbol *)(uintptr_t)&made.cubin->symbols[expected[i].symbol];
        symbol->kind = (uint8_t)expected[i].symbol_kind;
        uint64_t words[2] = {expected[i].before, 0};
        given_value = expected[i].value;
        assert_true(
            cubin_relocate(made.cubin, data, (unsigned char *)words, give, NULL, made.diag));
        assert_int_equal(words[0], expected[i].after);
        assert_int_equal(words[1], 0);
        close_made(&made);
    }
}

static void the_low_byte_of_a_far_call_stands_apart(void **state) {
    (void)state;
    unsigned char bytes[16];
    uint64_t words[2];
    assert_true(relocate_data(75, NULL, bytes, ""));
    memcpy(words, bytes, sizeof words);
    uint64_t units = UINT64_C(0x7f0012345678) / 4;
    assert_int_equal(words[0] >> 16 & 0xff, units & 0xff);
    assert_int_equal(words[0] >> 34 | words[1] << 30, units >> 8);
}

static void relocations_that_cannot_be_are_refused(void **state) {
    (void)state;
    unsigned char bytes[16];
    assert_false(relocate_data(200, NULL, bytes,
                               "made: error: relocations of kind 200 are not supported\n"));
    assert_false(
        relocate_data(4, "zeros", bytes, "made: error: the symbol zeros is not defined\n"));
    assert_false(relocate_data(1, NULL, bytes,
                               "made: error: zeros lies too far away for a relocation of kind "
                               "R_CUDA_32\n"));
    assert_string_equal(cubin_relocation_name(56), "R_CUDA_ABS32_LO_32");
    assert_null(cubin_relocation_name(200));
    assert_int_equal(cubin_relocation_reference(4), CUBIN_REFER_GENERIC);
}

/* ---- Lines ---- */

static void lines_know_what_was_inlined(void **state) {
    (void)state;
    Opened made = open_made(&plain);
    uint16_t code = made.cubin->functions[0].code_section;
    CubinLineTable table;
    const CubinLines *piece;
    assert_true(cubin_read_lines(made.cubin, false, made.arena, &table, made.diag));
    assert_int_equal(table.count, 1);
    assert_int_equal(table.pieces[0].count, 4);
    const CubinLine *first = cubin_find_line(&table, code, 0x10, &piece);
    assert_int_equal(first->line, 12);
    assert_string_equal(first->folder, "/src");
    assert_string_equal(first->file, "a.cu");
    assert_null(first->function);
    const CubinLine *inlined = cubin_find_line(&table, code, 0x4f, &piece);
    assert_int_equal(inlined->line, 3);
    assert_string_equal(inlined->file, "b.h");
    assert_string_equal(inlined->function, "_Z5twicef");
    assert_int_equal(inlined->caller, 2);
    assert_int_equal(piece->rows[inlined->caller - 1].line, 20);
    assert_int_equal(cubin_find_line(&table, code, 0x50, &piece)->line, 21);
    assert_int_equal(cubin_find_line(&table, code, 0x50, &piece)->caller, 0);
    assert_null(cubin_find_line(&table, code, 0x70, &piece));
    assert_null(cubin_find_line(&table, (uint16_t)(code + 1), 0, &piece));
    assert_true(cubin_read_lines(made.cubin, true, made.arena, &table, made.diag));
    assert_int_equal(table.count, 0);
    close_made(&made);
}

static void the_ptx_text_has_lines(void **state) {
    (void)state;
    Opened made = open_made(&plain);
    uint32_t count;
    const char *const *lines = cubin_read_ptx(made.cubin, made.arena, &count);
    assert_int_equal(count, 3);
    assert_string_equal(lines[0], ".version 8.0");
    assert_string_equal(lines[1], "");
    assert_string_equal(lines[2], "ret;");
    close_made(&made);
}

/* ---- Damaged files ---- */

static uint64_t next_random(uint64_t *seed) { /* splitmix64 */
    uint64_t x = *seed += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static void drop(void *context, const char *text, size_t length) {
    for (size_t i = 0; i < length; i++)
        *(unsigned *)context += (unsigned char)text[i];
}

/* Reads everything that an opened cubin points to. */
static unsigned look(const Cubin *cubin) {
    unsigned sum = 0;
    uint32_t lines;
    Arena *arena = arena_new();
    const char *const *ptx = cubin_read_ptx(cubin, arena, &lines);
    for (uint32_t i = 0; i < lines; i++)
        sum += (unsigned)strlen(ptx[i]);
    arena_free(arena);
    for (uint32_t i = 0; i < cubin->symbol_count; i++)
        sum += (unsigned)strlen(cubin->symbols[i].name);
    for (uint32_t i = 0; i < cubin->function_count; i++) {
        const CubinFunction *function = &cubin->functions[i];
        for (uint64_t at = 0; at < function->size; at++)
            sum += function->code[at];
        for (uint32_t k = 0; k < function->exits.count; k++)
            sum += cubin_word(function->exits, k);
    }
    return sum;
}

/* Reads and lists `size` bytes, which are in a block of exactly this size. */
static bool read_bytes(const void *bytes, size_t size) {
    Arena *arena = arena_new();
    Diag *diag = diag_new(), *listed = diag_new();
    char *copy = malloc(size ? size : 1);
    if (size) memcpy(copy, bytes, size);
    const Cubin *cubin = cubin_open(copy, size, "damaged", arena, diag);
    unsigned sum = cubin ? look(cubin) : 0;
    assert_int_equal(cubin == NULL, diag_error_count(diag) != 0);
    ListingCounts counts;
    ListingOptions options = {
        .file = "damaged", .is_json = size % 2, .write = drop, .context = &sum};
    ListingStatus status = listing_write(copy, size, &options, &counts, listed);
    assert_int_equal(status != LISTING_DONE, diag_error_count(listed) != 0);
    assert_true(arena_bytes(arena) < 64 * size + 65536);
    free(copy);
    diag_free(diag);
    diag_free(listed);
    arena_free(arena);
    return cubin && sum != UINT32_MAX;
}

static void a_file_cut_off_anywhere_is_refused(void **state) {
    (void)state;
    Text file = {0};
    cubin_make(&plain, &file);
    for (size_t size = 0; size < file.length; size += 16)
        assert_false(read_bytes(file.bytes, size));
    assert_true(read_bytes(file.bytes, file.length));
    text_free(&file);
}

/* A generated file with every `from` replaced by `to`, which has the same length. */
static Opened open_renamed(const char *from, const char *to) {
    Opened opened = {.arena = arena_new(), .diag = diag_new()};
    const size_t length = strlen(from);
    cubin_make(&plain, &opened.file);
    for (char *at = opened.file.bytes;
         (size_t)(at - opened.file.bytes) + length <= opened.file.length; at++)
        if (memcmp(at, from, length) == 0) memcpy(at, to, length);
    opened.cubin =
        cubin_open(opened.file.bytes, opened.file.length, "made", opened.arena, opened.diag);
    return opened;
}

static void no_name_steers_a_terminal(void **state) {
    (void)state;
    Opened named = open_renamed("_Z5scalePfi", "_Z5\x1b[31m_i");
    assert_null(named.cubin);
    assert_non_null(strstr(diag_text(named.diag), "a symbol's name has control characters"));
    close_made(&named);
    Opened placed = open_renamed("a.cu", "\x1b[1m");
    CubinLineTable table;
    assert_true(cubin_read_lines(placed.cubin, false, placed.arena, &table, placed.diag));
    assert_string_equal(table.pieces[0].rows[0].file, "?[1m");
    close_made(&placed);
}

/* The offset of the header of section i in the file. */
static size_t header_at(const Text *file, int i) {
    Elf64_Ehdr header;
    memcpy(&header, file->bytes, sizeof header);
    return header.e_shoff + (size_t)i * sizeof(Elf64_Shdr);
}

static void a_refusal_names_what_is_wrong(void **state) {
    (void)state;
    enum { CODE = 11, INFO = 5, SYMBOLS = 2, CALLS = 6, RELOCATIONS = 15 };
    static const struct {
        int section;
        size_t field; /* in its header; or 1000 plus the offset in the section's bytes */
        uint32_t value;
        const char *message;
    } cases[] = {
        {CODE, offsetof(Elf64_Shdr, sh_offset), 1 << 20,
         "a section ends past the end of the file (11)"},
        {CODE, offsetof(Elf64_Shdr, sh_addralign), 3,
         "the alignment of a section is no power of two (11)"},
        {CODE, offsetof(Elf64_Shdr, sh_size), 0x80,
         "a symbol ends past the end of its section (1)"},
        {CODE, offsetof(Elf64_Shdr, sh_name), 9999, "a section has no name (11)"},
        {10, offsetof(Elf64_Shdr, sh_size), 2900, "a section ends past the end of the file (10)"},
        {9, offsetof(Elf64_Shdr, sh_size), 100, "sections share bytes (21)"},
        {SYMBOLS, offsetof(Elf64_Shdr, sh_link), 99,
         "there is no one table of symbols with names (8)"},
        {SYMBOLS, offsetof(Elf64_Shdr, sh_type), 1, "there are no symbols (0)"},
        {SYMBOLS, 1000 + 24, 9999, "a symbol has no name (1)"},
        {INFO, 1000, 0x00003709, ".nv.info._Z5scalePfi has an attribute of form 9"},
        {INFO, 1000, 0x7fff3704, ".nv.info._Z5scalePfi ends within an attribute"},
        {INFO, 1000 + 32, 0x00080009, "parameter 1 of _Z5scalePfi is not among the parameters"},
        {INFO, 1000 + 48, 0x000d0000, "parameter 0 of _Z5scalePfi is not among the parameters"},
        {CALLS, 1000 + 8, 99, "a call of .nv.callgraph is of no symbol"},
        {RELOCATIONS, 1000 + 12, 99,
         "relocation 0 of .rel.text._Z5scalePfi has no symbol or no place"},
        {RELOCATIONS, 1000, 9999,
         "relocation 0 of .rel.text._Z5scalePfi has no symbol or no place"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Text file = {0};
        cubin_make(&plain, &file);
        size_t at = header_at(&file, cases[i].section) + cases[i].field;
        Elf64_Shdr section;
        memcpy(&section, file.bytes + header_at(&file, cases[i].section), sizeof section);
        if (cases[i].field >= 1000) at = section.sh_offset + cases[i].field - 1000;
        memcpy(file.bytes + at, &cases[i].value, sizeof cases[i].value);
        Arena *arena = arena_new();
        Diag *diag = diag_new();
        char message[256];
        snprintf(message, sizeof message, "made: error: the cubin is damaged: %s\n",
                 cases[i].message);
        const Cubin *cubin = cubin_open(file.bytes, file.length, "made", arena, diag);
        assert_string_equal(diag_text(diag), message);
        assert_null(cubin);
        diag_free(diag);
        arena_free(arena);
        text_free(&file);
    }
}

/* Every 4 bytes of headers and tables are replaced by each of some values that sizes must not
 * have. */
static void no_size_is_trusted(void **state) {
    (void)state;
    static const uint32_t values[] = {0, 1, 0x7fffffff, 0x80000000, 0xfffffff0, 0xffffffff};
    Text file = {0};
    int refused = 0;
    cubin_make(&plain, &file);
    for (size_t at = 0; at + 4 <= file.length; at += 4) {
        uint32_t kept;
        memcpy(&kept, file.bytes + at, sizeof kept);
        for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
            memcpy(file.bytes + at, &values[i], sizeof kept);
            refused += !read_bytes(file.bytes, file.length);
        }
        memcpy(file.bytes + at, &kept, sizeof kept);
    }
    assert_true(refused > 1000);
    text_free(&file);
}

/* Damages one to four places of 1 to 8 bytes each, with values near the old one or far from it. */
static void damage(char *bytes, size_t size, uint64_t *seed) {
    for (uint64_t places = next_random(seed) % 4 + 1; places; places--) {
        size_t width = (size_t)1 << next_random(seed) % 4;
        size_t at = (size_t)(next_random(seed) % (size - 8)) & ~(width - 1);
        uint64_t value = 0;
        memcpy(&value, bytes + at, width);
        switch (next_random(seed) % 4) {
        case 0: value += next_random(seed) % 32 - 16; break;
        case 1: value = next_random(seed); break;
        case 2: value = size - next_random(seed) % 256; break;
        default: value ^= UINT64_C(1) << next_random(seed) % (width * 8);
        }
        memcpy(bytes + at, &value, width);
    }
}

static int read_damaged(long count, const Text *file) {
    uint64_t seed = 1;
    long whole = 0;
    char *bytes = malloc(file->length);
    for (long i = 0; i < count; i++) {
        memcpy(bytes, file->bytes, file->length);
        damage(bytes, file->length, &seed);
        size_t size =
            next_random(&seed) % 16 ? file->length : (size_t)(next_random(&seed) % file->length);
        whole += read_bytes(bytes, size);
    }
    free(bytes);
    printf("%ld damaged files: %ld were read, %ld refused\n", count, whole, count - whole);
    return whole > 0 && whole < count ? EXIT_SUCCESS : EXIT_FAILURE;
}

static void damaged_files_do_no_harm(void **state) {
    (void)state;
    Text file = {0};
    cubin_make(&plain, &file);
    assert_int_equal(read_damaged(10000, &file), EXIT_SUCCESS);
    text_free(&file);
}

int main(int argc, char **argv) {
    if (argc > 1) {
        Text file = {0};
        if (argc > 2) file.bytes = text_read_file(argv[2], 1 << 30, &file.length);
        else cubin_make(&plain, &file);
        int status = file.bytes ? read_damaged(strtol(argv[1], NULL, 10), &file) : EXIT_FAILURE;
        text_free(&file);
        return status;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_header_says_architecture_and_origin),
        cmocka_unit_test(a_kernel_has_what_its_attributes_say),
        cmocka_unit_test(attributes_without_a_meaning_are_kept),
        cmocka_unit_test(functions_behind_a_kernel_share_its_registers_and_banks),
        cmocka_unit_test(old_files_have_registers_and_barriers_in_the_code_section),
        cmocka_unit_test(symbols_have_a_space),
        cmocka_unit_test(the_call_graph_has_four_lists),
        cmocka_unit_test(relocations_write_the_halves_of_an_address),
        cmocka_unit_test(every_kind_writes_its_field),
        cmocka_unit_test(fields_are_those_that_nvlink_writes),
        cmocka_unit_test(the_low_byte_of_a_far_call_stands_apart),
        cmocka_unit_test(relocations_that_cannot_be_are_refused),
        cmocka_unit_test(lines_know_what_was_inlined),
        cmocka_unit_test(the_ptx_text_has_lines),
        cmocka_unit_test(a_file_cut_off_anywhere_is_refused),
        cmocka_unit_test(no_name_steers_a_terminal),
        cmocka_unit_test(a_refusal_names_what_is_wrong),
        cmocka_unit_test(no_size_is_trusted),
        cmocka_unit_test(damaged_files_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
