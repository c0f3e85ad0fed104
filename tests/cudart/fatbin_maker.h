/* Makes fat binaries like those that compilers embed, for the tests. */
#ifndef TESTS_CUDART_FATBIN_MAKER_H
#define TESTS_CUDART_FATBIN_MAKER_H

#include <stdint.h>
#include <string.h>

typedef enum MakerForm { MAKER_PLAIN, MAKER_LZ4, MAKER_ZSTD, MAKER_CUBIN } MakerForm;

typedef struct Maker {
    _Alignas(8) unsigned char bytes[8192]; /* header, entries */
    size_t used;
} Maker;

static inline void maker_put(Maker *maker, size_t at, uint64_t value, size_t size) {
    memcpy(maker->bytes + at, &value, size);
}

static inline void maker_begin(Maker *maker) {
    memset(maker, 0, sizeof *maker);
    maker_put(maker, 0, 0xba55ed50, 4);
    maker_put(maker, 4, 1, 2);
    maker_put(maker, 6, 16, 2);
    maker->used = 16;
}

/* Adds an entry whose payload has `size` bytes; it stands for `text_size` bytes of text. */
static inline void maker_add(Maker *maker, MakerForm form, unsigned architecture,
                             const void *payload, size_t size, size_t text_size) {
    static const uint64_t flags[] = {0x11, 0x2011, 0x8011, 0x11};
    size_t at = maker->used, padded = (size + 7) / 8 * 8;
    int is_compressed = form == MAKER_LZ4 || form == MAKER_ZSTD;
    maker_put(maker, at + 0, form == MAKER_CUBIN ? 2 : 1, 2);
    maker_put(maker, at + 2, 0x0101, 2);
    maker_put(maker, at + 4, 64, 4);
    maker_put(maker, at + 8, padded, 8);
    maker_put(maker, at + 16, is_compressed ? size : 0, 4);
    maker_put(maker, at + 28, architecture, 4);
    maker_put(maker, at + 40, flags[form], 8);
    maker_put(maker, at + 56, is_compressed ? text_size : 0, 8);
    memcpy(maker->bytes + at + 64, payload, size);
    maker->used += 64 + padded;
    maker_put(maker, 8, maker->used - 16, 8);
}

/* The record with which a program registers a fat binary. */
typedef struct MakerWrapper {
    uint32_t magic, version;
    const void *binary;
    const void *const *objects;
} MakerWrapper;

static inline MakerWrapper maker_wrap(const Maker *maker) {
    return (MakerWrapper){0x466243b1, 1, maker->bytes, NULL};
}

#endif
