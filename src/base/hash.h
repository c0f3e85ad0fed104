/* FNV-1a, 64 bits: for tables, and for telling contents apart that nobody makes to look alike. */
#ifndef TYTO_BASE_HASH_H
#define TYTO_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_START UINT64_C(0xcbf29ce484222325)

/* The hash of what `hash` is of (HASH_START: nothing) followed by `size` bytes. */
static inline uint64_t hash_add(uint64_t hash, const void *bytes, size_t size) {
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    return hash;
}

#endif
