/* FNV-1a, 64 bits: for tables, and to distinguish contents. Not collision-resistant against
 * deliberate attacks. */
#ifndef TYTO_BASE_HASH_H
#define TYTO_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HASH_START UINT64_C(0xcbf29ce484222325)

/* Extends `hash`, or HASH_START, by `size` bytes. */
static inline uint64_t hash_add(uint64_t hash, const void *bytes, size_t size) {
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* Another hash function, for large contents: the same in words of 8 bytes, and in bytes at the
 * end. */
static inline uint64_t hash_add_large(uint64_t hash, const void *bytes, size_t size) {
    const unsigned char *at = bytes;
    for (; size >= sizeof(uint64_t); size -= sizeof(uint64_t), at += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, at, sizeof word);
        hash = (hash ^ word) * UINT64_C(0x100000001b3);
        hash ^= hash >> 32; /* multiplication alone carries nothing from high bits to low ones */
    }
    return hash_add(hash, at, size);
}

#endif
