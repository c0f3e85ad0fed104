/* The layout of fat binaries: a header, then entries. Each entry is a header and a payload.
 *
 * It is not documented. It was found by decoding what nvcc 13.0 writes with each of its
 * --compress-mode settings, and checked against what clang 19 accepts. */
#ifndef TYTO_SASS_FATBIN_FORMAT_H
#define TYTO_SASS_FATBIN_FORMAT_H

#include <assert.h>
#include <stdint.h>

#define FATBIN_WRAPPER_MAGIC UINT32_C(0x466243b1)
#define FATBIN_MAGIC         UINT32_C(0xba55ed50)

enum {
    FATBIN_KIND_PTX = 1,             /* of an entry */
    FATBIN_KIND_CUBIN = 2,           /* machine code */
    FATBIN_FLAG_LZ4 = 0x2000,        /* the payload is one LZ4 block */
    FATBIN_FLAG_ZSTD = 0x8000,       /* the payload is one zstd frame */
    FATBIN_FLAG_SPECIFIC = 0x100000, /* for exactly that architecture: sm_90a */
    FATBIN_WRAPPER_LINKED = 2        /* version of the wrapper of objects linked with -rdc=true */
};
/* Tyto's own flag: the entry's name for messages follows its header. */
#define FATBIN_FLAG_NAMED (UINT64_C(1) << 40)

typedef struct FatbinWrapper {
    uint32_t magic;
    uint32_t version;
    const void *binary;         /* of version 1 */
    const void *const *objects; /* of FATBIN_WRAPPER_LINKED: fat binaries, ended by NULL */
} FatbinWrapper;
static_assert(sizeof(FatbinWrapper) == 24, "laid out by the compiler's driver");

typedef struct FatbinHeader {
    uint32_t magic;
    uint16_t version;
    uint16_t header_bytes;
    uint64_t size; /* bytes of all entries */
} FatbinHeader;
static_assert(sizeof(FatbinHeader) == 16, "laid out by the compiler's driver");

typedef struct FatbinEntry {
    uint16_t kind;
    uint16_t version;
    uint32_t header_bytes;
    uint64_t payload_bytes;    /* with padding */
    uint32_t compressed_bytes; /* without padding; 0: not compressed */
    uint32_t options_offset;
    uint16_t isa_minor;
    uint16_t isa_major;
    uint32_t architecture; /* 75 for sm_75 */
    uint32_t name_offset;  /* relative to the entry's start; 0: there is none */
    uint32_t name_bytes;
    uint64_t flags;
    uint64_t reserved;
    uint64_t text_bytes; /* uncompressed; 0: not compressed */
} FatbinEntry;
static_assert(sizeof(FatbinEntry) == 64, "laid out by the compiler's driver");

#endif
