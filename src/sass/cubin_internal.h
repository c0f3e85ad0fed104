/* What the parts of the cubin reader share. */
#ifndef TYTO_SASS_CUBIN_INTERNAL_H
#define TYTO_SASS_CUBIN_INTERNAL_H

#include <string.h>

#include "sass/cubin.h"

/* A cubin under construction. What the parts fill in is const for others. */
typedef struct CubinReader {
    const unsigned char *bytes; /* the file's bytes */
    size_t size;
    Cubin *cubin;
    CubinSection *sections;
    CubinSymbol *symbols;
    CubinFunction *functions;
    Arena *arena;
    Diag *diag;
} CubinReader;

/* Numbers in the file, at any alignment; hosts and GPUs are little-endian. */
static inline uint16_t cubin_read16(const unsigned char *at) {
    uint16_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline uint32_t cubin_read32(const unsigned char *at) {
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline uint64_t cubin_read64(const unsigned char *at) {
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline bool cubin_has_prefix(const char *text, const char *prefix) {
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Reports "FILE: error: the cubin is damaged: ..." and returns false. */
bool cubin_damaged(const Cubin *cubin, Diag *diag, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Reads header, sections and symbols (cubin_elf.c). */
bool cubin_read_elf(CubinReader *reader);
/* Reads the functions: the symbols of code (cubin_functions.c). */
bool cubin_read_functions(CubinReader *reader);
/* Reads .nv.info and .nv.info.NAME (cubin_info.c). */
bool cubin_read_info(CubinReader *reader);
/* Reads the relocations of all sections (cubin_relocate.c). */
bool cubin_read_relocations(CubinReader *reader);

#endif
