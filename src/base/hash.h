/* FNV-1a, 64 bits: for tables, and to distinguish contents. Not safe against contents made to
 * collide. */
#ifndef TYTO_BASE_HASH_H
#define TYTO_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HASH_START UINT64_C(0xcbf29ce484222325)

/* The hash of what `hash` is of (HASH_START: nothing) followed by `size` bytes. */
static inline uint64_t hash_add(uint64_t hash, const void *bytes, size_t size) {
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* Another hash, for what is large: the same by words of 8 bytes, and by bytes at the end. */
static inline uint64_t hash_add_large(uint64_t hash, const void *bytes, size_t size) {
    const unsigned char *at = bytes;
    for (; size >= sizeof(uint64_t); size -= sizeof(uint64_t), at += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, at, sizeof word);
        hash = (hash ^ word) * UINT64_C(0x100000001b3);
        hash ^= hash >> 32; /* a product alone takes nothing from high bits to low ones */
    }
    return hash_add(hash, at, size);
}

#endif
