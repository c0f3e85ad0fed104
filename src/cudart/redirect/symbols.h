/* The functions that the symbol table of an ELF file names. */
#ifndef TYTO_CUDART_REDIRECT_SYMBOLS_H
#define TYTO_CUDART_REDIRECT_SYMBOLS_H

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A symbol table, inside the bytes of its file. */
typedef struct Symbols {
    const char *rows; /* Elf64_Sym, of any alignment */
    size_t count;
    const char *names;
    size_t names_bytes;
} Symbols;

typedef struct Function {
    const char *name; /* ends with a zero byte inside the file */
    uint64_t address; /* from the object's base on */
    uint64_t size_bytes;
} Function;

/* The symbol table of a file's bytes; false when it has none, or is damaged. */
bool symbols_open(const void *bytes, size_t size, Symbols *symbols);
/* Row `index`; false when it is not a function that the file defines. */
bool symbols_read(const Symbols *symbols, size_t index, Function *function);
/* Whether a function of that name is defined. */
bool symbols_has(const Symbols *symbols, const char *name);
/* Whether a file's program headers are those of a loaded object: the file is what was loaded. */
bool symbols_match(const void *bytes, size_t size, const ElfW(Phdr) * headers, size_t count);

#endif
