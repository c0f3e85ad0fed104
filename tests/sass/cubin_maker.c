#include "cubin_maker.h"

#include <elf.h>
#include <string.h>

#include "sass/fatbin_format.h"

/* ---- ELF files ---- */

enum { SECTIONS_MAX = 32 };

typedef struct Maker {
    Text bytes, names;
    Elf64_Shdr sections[SECTIONS_MAX];
    int count;
} Maker;

static void begin(Maker *maker) {
    *maker = (Maker){0};
    char header[sizeof(Elf64_Ehdr)] = {0};
    text_add_bytes(&maker->bytes, header, sizeof header);
    text_add_bytes(&maker->names, "", 1);
    maker->count = 1; /* the empty section */
}

static uint32_t add_name(Text *names, const char *name) {
    uint32_t at = (uint32_t)names->length;
    text_add_bytes(names, name, strlen(name) + 1);
    return at;
}

/* Adds a section; if `bytes` is NULL, it has no data in the file. Returns it so that the caller can
 * set further fields. */
static Elf64_Shdr *add(Maker *maker, const char *name, uint32_t type, const void *bytes,
                       size_t size) {
    Elf64_Shdr *section = &maker->sections[maker->count++];
    while (maker->bytes.length % 16)
        text_add_bytes(&maker->bytes, "", 1);
    *section = (Elf64_Shdr){.sh_name = add_name(&maker->names, name),
                            .sh_type = type,
                            .sh_offset = maker->bytes.length,
                            .sh_size = size,
                            .sh_addralign = 4};
    if (bytes) text_add_bytes(&maker->bytes, bytes, size);
    return section;
}

static void end(Maker *maker, Elf64_Ehdr header, Text *out) {
    Elf64_Shdr *names = &maker->sections[maker->count]; /* (.shstrtab contains its own name) */
    header.e_shstrndx = (uint16_t)maker->count;
    uint32_t name = add_name(&maker->names, ".shstrtab");
    Text all = maker->names;
    maker->names = (Text){0};
    add(maker, "", SHT_STRTAB, all.bytes, all.length);
    names->sh_name = name;
    while (maker->bytes.length % 8)
        text_add_bytes(&maker->bytes, "", 1);
    header.e_shoff = maker->bytes.length;
    header.e_shnum = (uint16_t)maker->count;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_ehsize = sizeof header;
    text_add_bytes(&maker->bytes, maker->sections, (size_t)maker->count * sizeof(Elf64_Shdr));
    memcpy(maker->bytes.bytes, &header, sizeof header);
    text_add_bytes(out, maker->bytes.bytes, maker->bytes.length);
    text_free(&all);
    text_free(&maker->names);
    text_free(&maker->bytes);
}

static Elf64_Ehdr header_of(uint16_t type, uint16_t machine) {
    return (Elf64_Ehdr){.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                        .e_type = type,
                        .e_machine = machine,
                        .e_version = EV_CURRENT};
}

/* ---- The parts of the cubin ---- */

enum { /* sections, in the order in which they are added */
       STRINGS = 1,
       SYMBOLS,
       TOOL,
       INFO,
       INFO_SCALE,
       CALLS,
       LINES,
       TEXTS,
       BANK3,
       BANK0,
       CODE,
       INIT,
       GLOBAL,
       SHARED,
       RELOCATE_CODE,
       RELOCATE_CODE_ADDEND,
       RELOCATE_LINES,
       RELOCATE_INIT
};

enum { SCALE = 1, TWICE, TABLE, COUNTER, ZEROS, TILE, VPRINTF, SYMBOL_COUNT }; /* symbols */

/* MOV R1, c[0x0][0x28]; MOV R2, 0x0 (low and high half of counter's address); @P0 BRA to the EXIT;
 * CALL.REL.NOINC twice; EXIT; BRA to itself; twice: RET.REL.NODEC R20 0x0 in the encoding of ptxas
 * for sm_80; and one word that is not an instruction. */
static const uint64_t code[][2] = {
    {0x00000a0000017a02, 0x000fe40000000f00}, {0x0000000000027802, 0x000fe40000000f00},
    {0x0000000000037802, 0x000fe40000000f00}, {0x0000001000000947, 0x000fea0003800000},
    {0x0000002000007944, 0x000fea0003c00000}, {0x000000000000794d, 0x000fea0003800000},
    {0xfffffff000007947, 0x000fc0000383ffff}, {0xffffff8014007950, 0x000fea0003c3ffff},
    {0x0000000000000fff, 0x000fc00000000000},
};
enum { CODE_BYTES = sizeof code, TWICE_AT = 0x70 };

static void add_symbols(Maker *maker) {
    Text names = {0};
    text_add_bytes(&names, "", 1);
    const Elf64_Sym symbols[SYMBOL_COUNT] = {
        [SCALE] = {.st_name = add_name(&names, "_Z5scalePfi"),
                   .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                   .st_other = 0x10,
                   .st_shndx = CODE,
                   .st_size = CODE_BYTES},
        [TWICE] = {.st_name = add_name(&names, "$_Z5scalePfi$_Z5twicef"),
                   .st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC),
                   .st_shndx = CODE,
                   .st_value = TWICE_AT,
                   .st_size = CODE_BYTES - TWICE_AT},
        [TABLE] = {.st_name = add_name(&names, "table"),
                   .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT),
                   .st_shndx = BANK3,
                   .st_value = 4,
                   .st_size = 4},
        [COUNTER] = {.st_name = add_name(&names, "counter"),
                     .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT),
                     .st_shndx = INIT,
                     .st_size = 16},
        [ZEROS] = {.st_name = add_name(&names, "zeros"),
                   .st_info = ELF64_ST_INFO(STB_LOCAL, STT_OBJECT),
                   .st_shndx = GLOBAL,
                   .st_size = 400},
        [TILE] = {.st_name = add_name(&names, "tile"),
                  .st_info = ELF64_ST_INFO(STB_LOCAL, 13), /* STT_CUDA_OBJECT */
                  .st_other = 0x40,
                  .st_shndx = SHARED,
                  .st_value = 4,
                  .st_size = 128},
        [VPRINTF] = {.st_name = add_name(&names, "vprintf"),
                     .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)},
    };
    add(maker, ".strtab", SHT_STRTAB, names.bytes, names.length);
    add(maker, ".symtab", SHT_SYMTAB, symbols, sizeof symbols)->sh_link = STRINGS;
    text_free(&names);
}

static void add_note(Maker *maker) {
    Text note = {0};
    static const char texts[] = "\0ptxas\0Cuda compilation tools, release 13.0\0Build\0-arch sm_80";
    const uint32_t head[] = {12, 24 + sizeof texts, 2000};
    const uint32_t places[] = {2, 0, 1, 7, 44, 50};
    text_add_bytes(&note, head, sizeof head);
    text_add_bytes(&note, "NVIDIA Corp", 12);
    text_add_bytes(&note, places, sizeof places);
    text_add_bytes(&note, texts, sizeof texts);
    add(maker, ".note.nv.tkinfo", SHT_NOTE, note.bytes, note.length);
    text_free(&note);
}

/* An attribute followed by words. */
static void put_words(Text *out, uint8_t number, const uint32_t *words, size_t count) {
    const unsigned char head[] = {4, number, (unsigned char)(count * 4), 0};
    text_add_bytes(out, head, sizeof head);
    text_add_bytes(out, words, count * 4);
}

/* An attribute that consists of a value. */
static void put_value(Text *out, uint8_t form, uint8_t number, uint16_t value) {
    const unsigned char head[] = {form, number, (unsigned char)(value & 0xff),
                                  (unsigned char)(value >> 8)};
    text_add_bytes(out, head, sizeof head);
}

#define WORDS(out, number, ...)                                                                    \
    put_words(out, number, (const uint32_t[]){__VA_ARGS__},                                        \
              sizeof(const uint32_t[]){__VA_ARGS__} / sizeof(uint32_t))

static void add_info(Maker *maker, const CubinMade *what) {
    Text shared = {0}, own = {0};
    if (!what->is_old) WORDS(&shared, 0x2f, SCALE, 18);
    WORDS(&shared, 0x11, SCALE, 16);
    WORDS(&shared, 0x11, TWICE, 8);
    WORDS(&shared, 0x12, SCALE, 24);
    add(maker, ".nv.info", 0x70000000, shared.bytes, shared.length)->sh_link = SYMBOLS;
    WORDS(&own, 0x37, 130);
    WORDS(&own, 0x0a, 0, 0x0c0160);
    put_value(&own, 3, 0x19, 12);
    WORDS(&own, 0x17, 0, 0x00080001, 0x0011f000);
    WORDS(&own, 0x17, 0, 0, 0x0021f000);
    put_value(&own, 3, 0x1b, 255);
    put_value(&own, 2, 0x4c, 1);
    WORDS(&own, 0x0f, VPRINTF);
    WORDS(&own, 0x1c, 0x50);
    WORDS(&own, 0x05, 128, 2, 1);
    WORDS(&own, 0x34, 0x30, 0, 2, 0x50, 0x60);
    WORDS(&own, 0xf1, 7, 8); /* unknown */
    put_value(&own, 1, 0x04, 0);
    add(maker, ".nv.info._Z5scalePfi", 0x70000000, own.bytes, own.length)->sh_info = CODE;
    text_free(&shared);
    text_free(&own);
}

static void add_calls(Maker *maker) {
    const uint32_t rows[] = {0, UINT32_MAX,     SCALE, TWICE, SCALE, VPRINTF,
                             0, UINT32_MAX - 1, TWICE, 1,     0,     UINT32_MAX - 2,
                             0, UINT32_MAX - 3, SCALE, TWICE};
    add(maker, ".nv.callgraph", 0x70000001, rows, sizeof rows)->sh_link = SYMBOLS;
}

/* Version 2, opcodes from 10 on are special, lines -5 to +8. Line 12 starts at 0 and line 20 at
 * 0x20. Line 3 of another file is inlined into line 20 from 0x30 to 0x50. Line 21 follows. */
static void add_lines(Maker *maker, uint64_t *address_at) {
    static const unsigned char head[] = {
        1,   1,   0xfb, 14,  10, 0, 1, 1, 1, 1, 0, 0, 0, 1, /* opcodes */
        '/', 's', 'r',  'c', 0,  0,                         /* folders */
        'a', '.', 'c',  'u', 0,  1, 0, 0,                   /* files */
        'b', '.', 'h',  0,   1,  0, 0, 0,                   /* */
        0,   0,   0,    0                                   /* offsets of names */
    };
    static const unsigned char program[] = {
        0, 9,    2, 0,    0,    0, 0, 0, 0,    0, 0,    3, 11, 1, /* address 0, line 12 */
        3, 8,    2, 0x20, 1,                                      /* 0x20: line 20; row 2 */
        4, 2,    0, 3,    0x90, 2, 5, 3, 0x6f, 2, 0x10, 1, /* 0x30: b.h, line 3, from row 2 */
        4, 1,    0, 3,    0x90, 0, 0, 3, 0x12, 2, 0x20, 1, /* 0x50: a.cu, line 21 */
        2, 0x20, 0, 1,    1,                               /* ends at 0x70 */
    };
    Text all = {0};
    uint32_t size = 2 + 4 + sizeof head + sizeof program, head_size = sizeof head;
    text_add_bytes(&all, &size, 4);
    text_add_bytes(&all, "\2", 2);
    text_add_bytes(&all, &head_size, 4);
    text_add_bytes(&all, head, sizeof head);
    *address_at = all.length + 3;
    text_add_bytes(&all, program, sizeof program);
    add(maker, ".debug_line", SHT_PROGBITS, all.bytes, all.length);
    add(maker, ".debug_str", SHT_PROGBITS, "none\0_Z5twicef", 15);
    text_free(&all);
}

#define RELOCATIONS(...)                                                                           \
    (const Elf64_Rel[]){__VA_ARGS__}, sizeof(const Elf64_Rel[]) { __VA_ARGS__ }

static void add_relocations(Maker *maker, const char *name, uint32_t section,
                            const Elf64_Rel *entries, size_t size) {
    Elf64_Shdr *table = add(maker, name, SHT_REL, entries, size);
    table->sh_info = section;
    table->sh_link = SYMBOLS;
}

void cubin_make(const CubinMade *what, Text *out) {
    Maker maker;
    static const char zeros[0x16c] = {0};
    uint64_t address_at;
    Elf64_Ehdr header = header_of(what->is_relocatable ? ET_REL : ET_EXEC, 190);
    begin(&maker);
    add_symbols(&maker);
    add_note(&maker);
    add_info(&maker, what);
    add_calls(&maker);
    add_lines(&maker, &address_at);
    add(&maker, ".nv.constant3", SHT_PROGBITS, "\1\0\0\0\2\0\0", 8);
    add(&maker, ".nv.constant0._Z5scalePfi", SHT_PROGBITS, zeros, sizeof zeros)->sh_info = CODE;
    Elf64_Shdr *text = add(&maker, ".text._Z5scalePfi", SHT_PROGBITS, code, sizeof code);
    text->sh_flags = SHF_ALLOC | SHF_EXECINSTR | (what->is_old ? 2 << 20 : 0);
    text->sh_info = (what->is_old ? 20u << 24 : 0) | SCALE;
    text->sh_addralign = 128;
    add(&maker, ".nv.global.init", SHT_PROGBITS, zeros, 16)->sh_addralign = 8;
    add(&maker, ".nv.global", SHT_NOBITS, NULL, 400);
    Elf64_Shdr *shared = add(&maker, ".nv.shared._Z5scalePfi", SHT_NOBITS, NULL, 128);
    shared->sh_info = CODE;
    shared->sh_addralign = 16;
    add_relocations(
        &maker, ".rel.text._Z5scalePfi", CODE,
        RELOCATIONS({0x20, ELF64_R_INFO(COUNTER, 57)}, {0x10, ELF64_R_INFO(COUNTER, 56)}));
    const Elf64_Rela addend = {0x10, ELF64_R_INFO(VPRINTF, 68), 0x118};
    Elf64_Shdr *table = add(&maker, ".rela.text._Z5scalePfi", SHT_RELA, &addend, sizeof addend);
    table->sh_info = CODE;
    add_relocations(&maker, ".rel.debug_line", LINES,
                    RELOCATIONS({address_at, ELF64_R_INFO(SCALE, 2)}));
    add_relocations(&maker, ".rel.nv.global.init", INIT, RELOCATIONS({8, ELF64_R_INFO(ZEROS, 4)}));
    add(&maker, ".nv_debug_ptx_txt.1", SHT_PROGBITS, ".version 8.0\0\0ret;", 19);
    add(&maker, ".nv.local._Z5scalePfi", SHT_NOBITS, NULL, 40)->sh_info = CODE;
    header.e_flags = what->is_old ? what->architecture | what->architecture << 16 | 0x500
                                  : 0x06000004 | what->architecture << 8;
    header.e_ident[EI_OSABI] = what->is_old ? 51 : 65;
    header.e_ident[EI_ABIVERSION] = what->is_old ? 7 : 8;
    if (what->is_old) header.e_version = 111;
    end(&maker, header, out);
}

/* ---- Containers of cubins ---- */

static void add_entry(Text *out, uint16_t kind, unsigned architecture, const void *bytes,
                      size_t size) {
    FatbinEntry entry = {.kind = kind,
                         .version = 0x101,
                         .header_bytes = sizeof entry,
                         .payload_bytes = (size + 7) & ~(size_t)7,
                         .architecture = architecture};
    text_add_bytes(out, &entry, sizeof entry);
    text_add_bytes(out, bytes, size);
    while (out->length % 8)
        text_add_bytes(out, "", 1);
}

void cubin_make_fatbin(const Text *cubin, unsigned architecture, Text *out) {
    Text entries = {0};
    static const char ptx[] = ".version 8.0\n.target sm_90\n.address_size 64\n";
    if (cubin) add_entry(&entries, FATBIN_KIND_CUBIN, architecture, cubin->bytes, cubin->length);
    add_entry(&entries, FATBIN_KIND_PTX, 90, ptx, sizeof ptx);
    FatbinHeader header = {FATBIN_MAGIC, 1, sizeof header, entries.length};
    text_add_bytes(out, &header, sizeof header);
    text_add_bytes(out, entries.bytes, entries.length);
    text_free(&entries);
}

void cubin_make_program(const Text *fatbin, Text *out) {
    Maker maker;
    begin(&maker);
    add(&maker, ".text", SHT_PROGBITS, "\xc3", 1);
    add(&maker, ".nv_fatbin", SHT_PROGBITS, fatbin->bytes, fatbin->length);
    end(&maker, header_of(ET_DYN, EM_X86_64), out);
}
