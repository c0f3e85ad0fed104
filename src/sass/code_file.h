/* Machine code in files of any kind: a cubin, a fat binary, an ELF file of the host (executable,
 * shared object or object file) with fat binaries in it, or an archive of those. */
#ifndef TYTO_SASS_CODE_FILE_H
#define TYTO_SASS_CODE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "sass/fatbin_entries.h"

/* A cubin or a PTX text in a file. */
typedef struct CodeImage {
    bool is_cubin;         /* otherwise PTX */
    unsigned architecture; /* 75 for sm_75 or compute_75 */
    FatbinItem item;       /* in a fat binary ... */
    const void *bytes;     /* ... or by itself, with `size` bytes; otherwise NULL */
    size_t size;
} CodeImage;

typedef struct CodeFile {
    CodeImage *images; /* in the order of the file */
    uint32_t count, capacity;
} CodeFile;

/* Finds the images in the `size` bytes of a file, which must outlive the result. The list is
 * allocated in `arena`; `name` is for messages. Returns false after a message if the file is
 * damaged or of another kind. */
bool code_file_read(const void *bytes, size_t size, const char *name, Arena *arena, CodeFile *file,
                    Diag *diag);

/* The content of an image, with its bytes in *size; compressed content is unpacked into `arena`.
 * NULL if it is damaged. */
const void *code_image_open(const CodeImage *image, Arena *arena, size_t *size);

#endif
