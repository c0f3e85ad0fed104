/* The reader of executable files: any bytes are answered, and none past the end is read. */
#include "cli/toolchain/elf.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    void *file = malloc(size ? size : 1); /* aligned as a mapped file is, and no byte longer */
    memcpy(file, bytes, size);
    elf_look_at_bytes(file, size);
    free(file);
    return 0;
}
