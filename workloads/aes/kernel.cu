/* AES-128 encryption of independent blocks (ECB). A CTA of 256 threads encrypts 64 blocks, one
 * column of 4 bytes per thread; the round tables, the round keys and the state, in two copies that
 * take turns, lie in shared memory. Words hold their bytes in little-endian order. */
#include "tyto_device.h"

enum { THREADS = 256, ROUNDS = 10, KEY_WORDS = 4 * (ROUNDS + 1), TABLES = 4, ENTRIES = 256 };

static __device__ unsigned byte_of(unsigned word, unsigned index) {
    return word >> (8 * index) & 0xff;
}

/* tables[t][x]: what byte x in row t of a column adds to the mixed column. */
extern "C" __global__ void aes(const unsigned *tables, const unsigned *round_keys,
                               const unsigned *plain, unsigned *cipher, unsigned words) {
    __shared__ unsigned table[TABLES][ENTRIES];
    __shared__ unsigned key[KEY_WORDS];
    __shared__ unsigned state[2][THREADS];
    unsigned thread = threadIdx.x, word = blockIdx.x * THREADS + thread;
    for (unsigned t = 0; t < TABLES; t++)
        table[t][thread] = tables[t * ENTRIES + thread];
    if (thread < KEY_WORDS) key[thread] = round_keys[thread];
    __syncthreads();

    unsigned column = thread % 4, first = thread - column;
    state[0][thread] = word < words ? plain[word] ^ key[column] : 0;
    __syncthreads();
    for (unsigned round = 1; round < ROUNDS; round++) {
        const unsigned *before = state[(round + 1) % 2] + first;
        unsigned mixed = key[4 * round + column];
#pragma unroll
        for (unsigned row = 0; row < 4; row++)
            mixed ^= table[row][byte_of(before[(column + row) % 4], row)];
        state[round % 2][thread] = mixed;
        __syncthreads();
    }

    /* The last round mixes no columns; byte 1 of the first table is the substitution alone. */
    const unsigned *before = state[(ROUNDS + 1) % 2] + first;
    unsigned last = key[4 * ROUNDS + column];
#pragma unroll
    for (unsigned row = 0; row < 4; row++)
        last ^= byte_of(table[0][byte_of(before[(column + row) % 4], row)], 1) << (8 * row);
    if (word < words) cipher[word] = last;
}
