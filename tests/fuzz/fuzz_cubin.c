/* The reader of machine code: cubins, fat binaries, programs and archives with arbitrary bytes.
 * What is read is also listed, with lines of both kinds; a refusal must have a reason. */
#include "sass/cubin.h"
#include "sass/listing.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void add(void *context, const char *text, size_t length) {
    unsigned *sum = context;
    for (size_t i = 0; i < length; i++)
        *sum += (unsigned char)text[i];
}

static bool resolve(void *context, const CubinSymbol *symbol, CubinReference what,
                    uint64_t *value) {
    (void)context;
    *value = symbol->offset + (uint64_t)what;
    return true;
}

/* Relocates every section of a copy. */
static void relocate(const Cubin *cubin, Diag *diag) {
    for (uint32_t i = 1; i < cubin->section_count; i++) {
        const CubinSection *section = &cubin->sections[i];
        if (!section->bytes || !section->size) continue;
        unsigned char *copy = malloc(section->size);
        memcpy(copy, section->bytes, section->size);
        cubin_relocate(cubin, (uint16_t)i, copy, resolve, NULL, diag);
        free(copy);
    }
}

static void read_cubin(const void *bytes, size_t size) {
    Arena *arena = arena_new();
    Diag *diag = diag_new();
    CubinLineTable table;
    const Cubin *cubin = cubin_open(bytes, size, "fuzz", arena, diag);
    if ((cubin == NULL) != (diag_error_count(diag) != 0)) abort();
    if (cubin) cubin_read_lines(cubin, true, arena, &table, diag);
    uint32_t lines;
    if (cubin) cubin_read_ptx(cubin, arena, &lines);
    if (cubin) relocate(cubin, diag);
    if (arena_bytes(arena) > 64 * size + 65536) abort();
    diag_free(diag);
    arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    Diag *diag = diag_new();
    unsigned sum = 0;
    char *file = malloc(size + 1); /* exactly as a file is read */
    if (size) memcpy(file, bytes, size);
    file[size] = '\0';
    ListingOptions options = {
        .file = "fuzz", .is_json = size & 1, .has_words = size & 2, .write = add, .context = &sum};
    ListingCounts counts;
    ListingStatus status = listing_write(file, size, &options, &counts, diag);
    if ((status == LISTING_DONE) != (diag_error_count(diag) == 0)) abort();
    read_cubin(file, size);
    free(file);
    diag_free(diag);
    return sum == UINT32_MAX; /* keeps the compiler from dropping the reads */
}
