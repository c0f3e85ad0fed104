/* The ELF side of a cubin: header, sections, symbols, and the notes of the tool that made it.
 *
 * Left out: program headers, which add nothing to the sections, and the bytes of sections with a
 * processor-specific flag. Cubins for sm_100 and later have such sections. They hold the same
 * program in another form (.nv.merc, .nv.capmerc) and share bytes with the others. */
#include "sass/cubin_internal.h"

#include <elf.h>
#include <stdarg.h>

enum {
    MACHINE_CUDA = 190, /* EM_CUDA */
    OSABI_CUDA_13 = 65, /* EI_OSABI if e_flags bits 8 to 15 are the architecture; before, 51 */
    /* section types */
    SECTION_GLOBAL = 0x70000007,          /* without bytes in the file */
    SECTION_LOCAL = 0x70000009,           /* without bytes */
    SECTION_SHARED = 0x7000000a,          /* without bytes */
    SECTION_SHARED_RESERVED = 0x70000015, /* without bytes */
    /* symbol types */
    SYMBOL_TEXTURE = 10,
    SYMBOL_SAMPLER = 11,
    SYMBOL_SURFACE = 12,
    SYMBOL_OBJECT = 13,
    OTHER_KERNEL = 0x10, /* in st_other of functions: STO_CUDA_ENTRY */
    /* notes */
    NOTE_TOOL = 2000, /* .note.nv.tkinfo: texts */
    NOTE_COMPILE =
        1000 /* .note.nv.cuinfo: 16-bit numbers: version, virtual architecture, toolkit */
};

bool cubin_damaged(const Cubin *cubin, Diag *diag, const char *format, ...) {
    char what[256];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    diag_error(diag, cubin->name, 0, 0, "the cubin is damaged: %s", what);
    return false;
}

static bool damaged(CubinReader *reader, const char *what, uint64_t number) {
    return cubin_damaged(reader->cubin, reader->diag, "%s (%llu)", what,
                         (unsigned long long)number);
}

/* ---- Header ---- */

bool cubin_is(const void *bytes, size_t size) {
    const unsigned char *at = bytes;
    return size >= sizeof(Elf64_Ehdr) && memcmp(at, ELFMAG, SELFMAG) == 0 &&
           at[EI_CLASS] == ELFCLASS64 && at[EI_DATA] == ELFDATA2LSB &&
           cubin_read16(at + offsetof(Elf64_Ehdr, e_machine)) == MACHINE_CUDA;
}

unsigned cubin_architecture(const void *bytes) {
    const unsigned char *at = bytes;
    uint32_t flags = cubin_read32(at + offsetof(Elf64_Ehdr, e_flags));
    return flags >> (at[EI_OSABI] == OSABI_CUDA_13 ? 8 : 0) & 0xff;
}

static bool read_header(CubinReader *reader, Elf64_Ehdr *header) {
    Cubin *cubin = reader->cubin;
    if (!cubin_is(reader->bytes, reader->size)) {
        diag_error(reader->diag, cubin->name, 0, 0, "this is no cubin of 64 bits");
        return false;
    }
    memcpy(header, reader->bytes, sizeof *header);
    cubin->abi = header->e_ident[EI_ABIVERSION];
    cubin->flags = header->e_flags;
    cubin->architecture = cubin_architecture(reader->bytes);
    cubin->is_relocatable = header->e_type == ET_REL;
    /* up to CUDA 12, the version of the ELF file is that of the toolkit: 111 for CUDA 11.1 */
    cubin->toolkit = header->e_version > EV_CURRENT ? header->e_version : 0;
    return true;
}

/* ---- Sections ---- */

/* The string at `offset` of a string section; NULL if there is none. The section ends with a NUL,
 * so every string is terminated. */
static const char *string_at(const CubinSection *strings, uint64_t offset) {
    bool is_there = strings->bytes && offset < strings->size && !strings->bytes[strings->size - 1];
    return is_there ? (const char *)strings->bytes + offset : NULL;
}

static bool is_without_bytes(uint32_t type) {
    return type == SHT_NULL || type == SHT_NOBITS || type == SECTION_GLOBAL ||
           type == SECTION_LOCAL || type == SECTION_SHARED || type == SECTION_SHARED_RESERVED;
}

static bool read_section(CubinReader *reader, const Elf64_Shdr *from, uint32_t i) {
    CubinSection *section = &reader->sections[i];
    *section = (CubinSection){.name = "",
                              .size = from->sh_type == SHT_NULL ? 0 : from->sh_size,
                              .alignment = from->sh_addralign ? from->sh_addralign : 1,
                              .flags = from->sh_flags,
                              .type = from->sh_type,
                              .link = from->sh_link,
                              .info = from->sh_info,
                              .bank = -1,
                              .code = CUBIN_NONE};
    if (section->alignment & (section->alignment - 1))
        return damaged(reader, "the alignment of a section is no power of two", i);
    if (is_without_bytes(section->type) || section->flags & SHF_MASKPROC) return true;
    if (from->sh_offset > reader->size || from->sh_size > reader->size - from->sh_offset)
        return damaged(reader, "a section ends past the end of the file", i);
    section->bytes = reader->bytes + from->sh_offset;
    return true;
}

/* Kinds of sections, by how their names start. */
static const struct {
    const char *prefix;
    uint8_t space; /* CubinSpace */
} spaces[] = {
    {".text.", CUBIN_SPACE_CODE},           {".nv.global", CUBIN_SPACE_GLOBAL},
    {".nv.shared", CUBIN_SPACE_SHARED},     {".nv.local", CUBIN_SPACE_LOCAL},
    {".nv.constant", CUBIN_SPACE_CONSTANT},
};

/* The bank number in a section name ".nv.constant3.kernel"; -1 if there is none. */
static int bank_of(const char *name) {
    const char *digits = name + strlen(".nv.constant");
    int bank = 0, count = 0;
    for (; digits[count] >= '0' && digits[count] <= '9' && count < 3; count++)
        bank = bank * 10 + digits[count] - '0';
    return count && bank < CUBIN_BANKS && (!digits[count] || digits[count] == '.') ? bank : -1;
}

static void classify_section(const CubinReader *reader, CubinSection *section) {
    for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++) {
        if (cubin_has_prefix(section->name, spaces[i].prefix)) section->space = spaces[i].space;
    }
    if (section->space == CUBIN_SPACE_CONSTANT) section->bank = (int8_t)bank_of(section->name);
    bool is_of_code = section->space == CUBIN_SPACE_CONSTANT ||
                      section->space == CUBIN_SPACE_SHARED || section->space == CUBIN_SPACE_LOCAL ||
                      cubin_has_prefix(section->name, ".nv.info.");
    if (is_of_code && section->info && section->info < reader->cubin->section_count)
        section->code = (uint16_t)section->info;
}

static bool name_sections(CubinReader *reader, const Elf64_Ehdr *header) {
    if (header->e_shstrndx >= reader->cubin->section_count)
        return damaged(reader, "the section of names is not there", header->e_shstrndx);
    const CubinSection *names = &reader->sections[header->e_shstrndx];
    const unsigned char *at = reader->bytes + header->e_shoff;
    for (uint32_t i = 0; i < reader->cubin->section_count; i++, at += sizeof(Elf64_Shdr)) {
        reader->sections[i].name = string_at(names, cubin_read32(at)); /* sh_name */
        if (!reader->sections[i].name) return damaged(reader, "a section has no name", i);
        classify_section(reader, &reader->sections[i]);
    }
    return true;
}

static bool read_sections(CubinReader *reader, const Elf64_Ehdr *header) {
    uint64_t count = header->e_shnum;
    uint64_t total = sizeof *header + count * sizeof(Elf64_Shdr); /* bytes occupied so far */
    if (header->e_shentsize != sizeof(Elf64_Shdr) || header->e_shoff > reader->size ||
        count > (reader->size - header->e_shoff) / sizeof(Elf64_Shdr) || count < 2)
        return damaged(reader, "the table of sections is not in the file", count);
    reader->sections = ARENA_ARRAY(reader->arena, CubinSection, count);
    reader->cubin->sections = reader->sections;
    reader->cubin->section_count = (uint32_t)count;
    for (uint32_t i = 0; i < count; i++) {
        Elf64_Shdr from;
        memcpy(&from, reader->bytes + header->e_shoff + i * sizeof from, sizeof from);
        if (!read_section(reader, &from, i)) return false;
        if (reader->sections[i].bytes) total += reader->sections[i].size;
        if (total > reader->size) return damaged(reader, "sections share bytes", i);
    }
    return name_sections(reader, header);
}

/* ---- Symbols ---- */

static const uint8_t symbol_kinds[16] = {
    [STT_SECTION] = CUBIN_SYMBOL_SECTION,    [STT_FUNC] = CUBIN_SYMBOL_FUNCTION,
    [STT_OBJECT] = CUBIN_SYMBOL_OBJECT,      [SYMBOL_OBJECT] = CUBIN_SYMBOL_OBJECT,
    [SYMBOL_TEXTURE] = CUBIN_SYMBOL_TEXTURE, [SYMBOL_SAMPLER] = CUBIN_SYMBOL_SAMPLER,
    [SYMBOL_SURFACE] = CUBIN_SYMBOL_SURFACE,
};

/* Space of a symbol that is defined elsewhere, from the upper half of its st_other. */
static const uint8_t other_spaces[16] = {
    [2] = CUBIN_SPACE_GLOBAL,   [4] = CUBIN_SPACE_SHARED,  [6] = CUBIN_SPACE_LOCAL,
    [8] = CUBIN_SPACE_CONSTANT, [10] = CUBIN_SPACE_SHARED,
};

static bool has_controls(const char *name) {
    while (*name && (unsigned char)*name >= ' ' && *name != 0x7f)
        name++;
    return *name;
}

static bool read_symbol(CubinReader *reader, const CubinSection *strings, const Elf64_Sym *from,
                        uint32_t i) {
    unsigned binding = ELF64_ST_BIND(from->st_info);
    CubinSymbol *symbol = &reader->symbols[i];
    *symbol = (CubinSymbol){.name = string_at(strings, from->st_name),
                            .offset = from->st_value,
                            .size = from->st_size,
                            .section = CUBIN_NONE,
                            .kind = symbol_kinds[ELF64_ST_TYPE(from->st_info)],
                            .space = other_spaces[from->st_other >> 4],
                            .is_global = binding != STB_LOCAL,
                            .is_weak = binding == STB_WEAK};
    if (!symbol->name) return damaged(reader, "a symbol has no name", i);
    if (has_controls(symbol->name))
        return damaged(reader, "a symbol's name has control characters", i);
    if (symbol->kind == CUBIN_SYMBOL_FUNCTION) {
        symbol->space = CUBIN_SPACE_CODE;
        symbol->is_kernel = from->st_other & OTHER_KERNEL;
    }
    if (from->st_shndx == SHN_UNDEF || from->st_shndx >= SHN_LORESERVE) return true;
    if (from->st_shndx >= reader->cubin->section_count)
        return damaged(reader, "the section of a symbol is not there", i);
    const CubinSection *section = &reader->sections[from->st_shndx];
    symbol->section = from->st_shndx;
    symbol->space = section->space;
    /* (variables in shared memory may extend past the end of their section, which is laid out
     * again) */
    bool is_inside =
        symbol->offset <= section->size && symbol->size <= section->size - symbol->offset;
    return is_inside || !section->bytes || symbol->kind == CUBIN_SYMBOL_OTHER ||
           damaged(reader, "a symbol ends past the end of its section", i);
}

static bool read_symbols(CubinReader *reader, const CubinSection *table) {
    uint64_t count = table->size / sizeof(Elf64_Sym);
    if (reader->symbols || !table->bytes || table->size % sizeof(Elf64_Sym) || count > UINT32_MAX ||
        table->link >= reader->cubin->section_count)
        return damaged(reader, "there is no one table of symbols with names", count);
    reader->symbols = ARENA_ARRAY(reader->arena, CubinSymbol, count + 1);
    reader->symbols[0].name = "";
    reader->cubin->symbols = reader->symbols;
    reader->cubin->symbol_count = (uint32_t)count;
    for (uint32_t i = 0; i < count; i++) {
        Elf64_Sym from;
        memcpy(&from, table->bytes + i * sizeof from, sizeof from);
        if (!read_symbol(reader, &reader->sections[table->link], &from, i)) return false;
    }
    return true;
}

/* ---- Notes ---- */

/* The text at `offset` of a note's texts; or NULL. */
static const char *note_text(const unsigned char *texts, size_t size, uint32_t offset) {
    bool is_there = offset && offset < size && memchr(texts + offset, '\0', size - offset);
    return is_there ? (const char *)texts + offset : NULL;
}

/* Words 2 to 5 are offsets in the texts after them: the tool's name, its description and version,
 * its build, and its options. */
static void read_tool(CubinReader *reader, const unsigned char *note, size_t size) {
    enum { WORDS = 6 };
    if (size < WORDS * 4) return;
    const unsigned char *texts = note + WORDS * 4;
    const char *found[4];
    for (uint32_t i = 0; i < 4; i++)
        found[i] = note_text(texts, size - WORDS * 4, cubin_read32(note + 8 + 4 * i));
    if (found[0] && found[1])
        reader->cubin->producer = arena_printf(reader->arena, "%s, %s", found[0], found[1]);
    reader->cubin->options = found[3];
}

static void read_note(CubinReader *reader, const CubinSection *section) {
    enum { HEADER = 12 };
    if (!section->bytes || section->size < HEADER) return;
    uint64_t name = cubin_read32(section->bytes), size = cubin_read32(section->bytes + 4);
    uint64_t start = HEADER + ((name + 3) & ~UINT64_C(3));
    if (start > section->size || size > section->size - start) return;
    const unsigned char *note = section->bytes + start;
    uint32_t type = cubin_read32(section->bytes + 8);
    if (type == NOTE_TOOL) read_tool(reader, note, size);
    if (type == NOTE_COMPILE && size >= 6) reader->cubin->toolkit = cubin_read16(note + 4);
}

bool cubin_read_elf(CubinReader *reader) {
    Elf64_Ehdr header;
    if (!read_header(reader, &header) || !read_sections(reader, &header)) return false;
    for (uint32_t i = 1; i < reader->cubin->section_count; i++) {
        const CubinSection *section = &reader->sections[i];
        if (section->type == SHT_SYMTAB && !read_symbols(reader, section)) return false;
        if (section->type == SHT_NOTE) read_note(reader, section);
    }
    return reader->symbols || damaged(reader, "there are no symbols", 0);
}
