/* The functions in the symbol table of an ELF file. */
#ifndef TYTO_CUDART_REDIRECT_SYMBOLS_H
#define TYTO_CUDART_REDIRECT_SYMBOLS_H

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A symbol table in the bytes of its file. */
typedef struct Symbols {
    const char *rows; /* Elf64_Sym, possibly unaligned */
    size_t count;
    const char *names;
    size_t names_bytes;
} Symbols;

typedef struct Function {
    const char *name; /* ends with a zero byte inside the file */
    uint64_t address; /* offset from the object's base */
    uint64_t size_bytes;
} Function;

/* Finds the symbol table in a file's bytes; returns false if there is none, or if it is damaged. */
bool symbols_open(const void *bytes, size_t size, Symbols *symbols);
/* Reads row `index`; returns false if it is not a function that the file defines. */
bool symbols_read(const Symbols *symbols, size_t index, Function *function);
/* Whether a function with this name is defined. */
bool symbols_has(const Symbols *symbols, const char *name);
/* Whether a file's program headers are equal to those of a loaded object, so that the file is what
 * was loaded. */
bool symbols_match(const void *bytes, size_t size, const ElfW(Phdr) * headers, size_t count);

#endif
