/* The reader of a module's file: PTX text, a fat binary or a linked image with arbitrary bytes.
 * Every byte of every text must be readable; a refusal must have a reason. */
#include "driver/module/fatbin.h"
#include "driver/module/image.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    Arena *arena = arena_new();
    Diag *diag = diag_new();
    GpuImage *texts;
    int count;
    char *file = malloc(size + 1); /* exactly as text_read_file reads it */
    if (size) memcpy(file, bytes, size);
    file[size] = '\0';
    CUresult status =
        image_open(file, size, "fuzz", &(ImageTarget){75, false}, arena, &texts, &count, diag);
    if ((status == CUDA_SUCCESS) != (diag_error_count(diag) == 0)) abort();
    unsigned sum = 0;
    for (int i = 0; status == CUDA_SUCCESS && i < count; i++) {
        for (size_t at = 0; at < texts[i].length; at++)
            sum += (unsigned char)texts[i].text[at];
        sum += (unsigned)strlen(texts[i].name);
    }
    if (arena_bytes(arena) > (size_t)1 << 31) abort();
    free(file);
    diag_free(diag);
    arena_free(arena);
    return sum == UINT32_MAX; /* keeps the compiler from dropping the reads */
}
