/* An equi-join of relations R and S by a hash table, without partitioning (Blanas et al., Design
 * and evaluation of main memory hash join algorithms for multi-core CPUs, SIGMOD 2011): one thread
 * per tuple of R inserts it, then one thread per tuple of S looks for tuples with the same key and
 * adds up their payloads. The table is open, with linear probing. A slot is a word of 64 bits, so
 * that one atomic puts a whole tuple into it. */
#include "tyto_device.h"

typedef unsigned long long Slot; /* the key in the lower half, the payload in the upper half */

enum : Slot { EMPTY = 0 }; /* no tuple has key 0 */

/* The finalizer of MurmurHash3 (Appleby, 32 bits), with its constants. */
static __device__ __forceinline__ unsigned hash_key(unsigned key) {
    key = (key ^ key >> 16) * 0x85ebca6bu;
    key = (key ^ key >> 13) * 0xc2b2ae35u;
    return key ^ key >> 16;
}

/* `mask`: slots of the table - 1; their number is a power of two, and more than `count`. */
extern "C" __global__ void hashjoin_build(const unsigned *keys, const unsigned *payloads,
                                          Slot *table, unsigned mask, unsigned count) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    unsigned key = keys[i], at = hash_key(key) & mask;
    Slot tuple = (Slot)payloads[i] << 32 | key;
    while (atomicCAS(&table[at], (Slot)EMPTY, tuple) != EMPTY)
        at = (at + 1) & mask;
}

/* `IS_UNIQUE`: at most one tuple of R has the key. Otherwise they end at an empty slot. */
template <bool IS_UNIQUE>
static __device__ __forceinline__ unsigned probe(const Slot *table, unsigned mask, unsigned key) {
    unsigned sum = 0, at = hash_key(key) & mask;
    Slot slot;
    while ((slot = table[at]) != EMPTY) {
        if ((unsigned)slot == key) {
            sum += (unsigned)(slot >> 32);
            if (IS_UNIQUE) break;
        }
        at = (at + 1) & mask;
    }
    return sum;
}

extern "C" __global__ void hashjoin_probe_unique(const unsigned *keys, const Slot *table,
                                                 unsigned *sums, unsigned mask, unsigned count) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) sums[i] = probe<true>(table, mask, keys[i]);
}

extern "C" __global__ void hashjoin_probe_copies(const unsigned *keys, const Slot *table,
                                                 unsigned *sums, unsigned mask, unsigned count) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) sums[i] = probe<false>(table, mask, keys[i]);
}
