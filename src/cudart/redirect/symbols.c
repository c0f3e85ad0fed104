/* Reads the symbol table of a 64-bit ELF file. Every offset and size is checked, because the file
 * may be damaged or hostile. */
#include "cudart/redirect/symbols.h"

#include <string.h>

/* `count` items of `item_bytes` at `offset`; NULL if not all are inside the file. */
static const char *part(const char *bytes, size_t size, uint64_t offset, uint64_t count,
                        size_t item_bytes) {
    if (offset > size || count > (size - offset) / item_bytes) return NULL;
    return bytes + offset;
}

static bool read_header(const char *bytes, size_t size, Elf64_Ehdr *header) {
    if (size < sizeof *header) return false;
    memcpy(header, bytes, sizeof *header);
    return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 && header->e_ident[EI_CLASS] == ELFCLASS64;
}

bool symbols_open(const void *bytes, size_t size, Symbols *symbols) {
    Elf64_Ehdr header;
    Elf64_Shdr table, strings;
    if (!read_header(bytes, size, &header)) return false;
    const char *sections = part(bytes, size, header.e_shoff, header.e_shnum, sizeof table);
    if (!sections || header.e_shentsize != sizeof table) return false;
    for (size_t i = 0; i < header.e_shnum; i++) {
        memcpy(&table, sections + i * sizeof table, sizeof table);
        if (table.sh_type != SHT_SYMTAB || table.sh_link >= header.e_shnum) continue;
        memcpy(&strings, sections + table.sh_link * sizeof strings, sizeof strings);
        symbols->count = table.sh_size / sizeof(Elf64_Sym);
        symbols->rows = part(bytes, size, table.sh_offset, symbols->count, sizeof(Elf64_Sym));
        symbols->names_bytes = strings.sh_size;
        symbols->names = part(bytes, size, strings.sh_offset, strings.sh_size, 1);
        return symbols->rows && symbols->names;
    }
    return false;
}

bool symbols_read(const Symbols *symbols, size_t index, Function *function) {
    Elf64_Sym row;
    memcpy(&row, symbols->rows + index * sizeof row, sizeof row);
    if (ELF64_ST_TYPE(row.st_info) != STT_FUNC || row.st_shndx == SHN_UNDEF ||
        row.st_name >= symbols->names_bytes)
        return false;
    const char *name = symbols->names + row.st_name;
    *function = (Function){name, row.st_value, row.st_size};
    return memchr(name, '\0', symbols->names_bytes - row.st_name) != NULL;
}

bool symbols_has(const Symbols *symbols, const char *name) {
    Function function;
    for (size_t i = 0; i < symbols->count; i++) {
        if (symbols_read(symbols, i, &function) && strcmp(function.name, name) == 0) return true;
    }
    return false;
}

bool symbols_match(const void *bytes, size_t size, const ElfW(Phdr) * headers, size_t count) {
    Elf64_Ehdr header;
    if (!read_header(bytes, size, &header) || header.e_phnum != count ||
        header.e_phentsize != sizeof *headers)
        return false;
    const char *own = part(bytes, size, header.e_phoff, count, sizeof *headers);
    return own && memcmp(own, headers, count * sizeof *headers) == 0;
}
