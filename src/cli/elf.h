/* What an executable file says about the CUDA runtime that it was linked with. */
#ifndef TYTO_CLI_ELF_H
#define TYTO_CLI_ELF_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the file is a program with CUDA kernels in it that brings its own runtime along instead
 * of asking for a shared one, so that nothing can take the runtime's place. False for whatever
 * cannot be read. */
bool elf_has_own_runtime(const char *path);
/* The same of a file's bytes, aligned to 8. */
bool elf_bytes_have_own_runtime(const void *bytes, size_t size);

#endif
