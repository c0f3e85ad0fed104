/* What an executable file says about the CUDA libraries that it was linked with. */
#ifndef TYTO_CLI_TOOLCHAIN_ELF_H
#define TYTO_CLI_TOOLCHAIN_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ElfLibrary {
    const char *file; /* how its file's name starts */
    const char *name; /* what people call it */
} ElfLibrary;
/* Libraries of CUDA's that a program cannot use under Tyto; the last has no file. */
extern const ElfLibrary elf_absent_libraries[];

typedef struct ElfFacts {
    bool has_kernels;      /* there are CUDA kernels in it */
    bool asks_for_runtime; /* for a shared CUDA runtime, whose place Tyto's can take */
    bool names_runtime;    /* its symbol table names the functions of a static one */
    bool has_loader;       /* it is dynamically linked */
    uint32_t absent;       /* bit i: it asks for elf_absent_libraries[i] */
} ElfFacts;

/* The loader that a program asks for ("/lib64/ld-linux-x86-64.so.2"); false: it is no dynamically
 * linked program of 64 bits. */
bool elf_find_loader(const char *path, char *loader, size_t size_bytes);
/* Nothing is true of what cannot be read. */
ElfFacts elf_look(const char *path);
/* The same of a file's bytes, aligned to 8. */
ElfFacts elf_look_at_bytes(const void *bytes, size_t size);
/* The bytes of a section of a file's bytes, their number in *section_size; NULL: it has none. */
const char *elf_find_section(const void *bytes, size_t size, const char *name,
                             size_t *section_size);

#endif
