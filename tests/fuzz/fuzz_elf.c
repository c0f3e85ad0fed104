/* The readers of executable files: any bytes get an answer, and nothing past the end is read. */
#include "cli/toolchain/elf.h"
#include "cudart/redirect/symbols.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    void *file = malloc(size ? size : 1); /* aligned like a mapped file, without spare bytes */
    memcpy(file, bytes, size);
    elf_look_at_bytes(file, size);
    Symbols symbols;
    if (symbols_open(file, size, &symbols)) symbols_has(&symbols, "__cudaRegisterFatBinary");
    const ElfW(Phdr) segment = {.p_type = PT_LOAD};
    symbols_match(file, size, &segment, 1);
    free(file);
    return 0;
}
