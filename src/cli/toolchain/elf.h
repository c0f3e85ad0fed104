/* What an executable file says about the CUDA libraries that it was linked with. */
#ifndef TYTO_CLI_TOOLCHAIN_ELF_H
#define TYTO_CLI_TOOLCHAIN_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ElfLibrary {
    const char *file; /* start of its file's name */
    const char *name; /* common name */
} ElfLibrary;
/* CUDA's libraries that a program cannot use with Tyto; the last item has no file. */
extern const ElfLibrary elf_absent_libraries[];

typedef struct ElfFacts {
    bool has_kernels;      /* it contains CUDA kernels */
    bool asks_for_runtime; /* it needs a shared CUDA runtime, which Tyto's can replace */
    bool names_runtime;    /* its symbol table names the functions of a static runtime */
    bool has_loader;       /* it is dynamically linked */
    uint32_t absent;       /* bit i: it needs elf_absent_libraries[i] */
} ElfFacts;

/* The loader that a program names ("/lib64/ld-linux-x86-64.so.2"); false: not a dynamically linked
 * 64-bit program. */
bool elf_find_loader(const char *path, char *loader, size_t size_bytes);
/* Facts about a file; all are false if it cannot be read. */
ElfFacts elf_look(const char *path);
/* The same for a file's bytes, which are aligned to 8. */
ElfFacts elf_look_at_bytes(const void *bytes, size_t size);
/* The bytes of a section in a file's bytes, with their number in *section_size; NULL: no such
 * section. */
const char *elf_find_section(const void *bytes, size_t size, const char *name,
                             size_t *section_size);

#endif
