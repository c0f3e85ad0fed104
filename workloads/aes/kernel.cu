/* AES-128 encryption of independent blocks (ECB). A CTA of 256 threads encrypts 64 blocks, one
 * column of 4 bytes per thread. As in Manavski's program the tables come from constant memory into
 * shared memory, where the state lies too, in two copies that take turns; each round is code of its
 * own, has its key from global memory (a texture there), and finds the bytes of a column by a table
 * in constant memory. Words hold their bytes in little-endian order. */
#include "tyto_device.h"

enum { THREADS = 256, ROUNDS = 10, TABLES = 4, ENTRIES = 256 };

/* tables[t][x]: what byte x in row t of a column adds to the mixed column. */
__constant__ unsigned tables[TABLES][ENTRIES];
/* The column that each row of a column comes from. */
static __constant__ int source[4 * 4] = {0, 1, 2, 3, 1, 2, 3, 0, 2, 3, 0, 1, 3, 0, 1, 2};

union Column {
    unsigned word;
    unsigned char byte[4];
};

/* Leaves the compiler nothing that it knows of `x` from before: each round looks up the table anew,
 * as the 28 million instructions tell of that program (Bakhoda et al., ISPASS 2009, table 1). */
static __device__ void forget(unsigned &x) { asm volatile("" : "+r"(x)); }

extern "C" __global__ void aes(const unsigned *round_keys, const unsigned *plain, unsigned *cipher,
                               unsigned words) {
    __shared__ Column table[TABLES][ENTRIES];
    __shared__ Column state[2][THREADS];
    unsigned thread = threadIdx.x, word = blockIdx.x * THREADS + thread;
    state[1][thread].word = word < words ? plain[word] : 0;
#pragma unroll
    for (unsigned t = 0; t < TABLES; t++)
        table[t][thread].word = tables[t][thread];
    __syncthreads();

    unsigned column = thread % 4, first = thread - column;
    state[0][thread].word = state[1][thread].word ^ round_keys[column];
    __syncthreads();
#pragma unroll
    for (unsigned round = 1; round < ROUNDS; round++) {
        forget(column);
        const Column *before = &state[(round + 1) % 2][first];
        unsigned mixed = round_keys[4 * round + column];
#pragma unroll
        for (unsigned row = 0; row < 4; row++)
            mixed ^= table[row][before[source[4 * column + row]].byte[row]].word;
        state[round % 2][thread].word = mixed;
        __syncthreads();
    }

    /* The last round mixes no columns; the last byte of the second table is the substitution alone.
     */
    forget(column);
    const Column *before = &state[(ROUNDS + 1) % 2][first];
    Column *last = &state[ROUNDS % 2][thread], key;
    key.word = round_keys[4 * ROUNDS + column];
    unsigned char bytes[4];
#pragma unroll
    for (unsigned row = 0; row < 4; row++)
        bytes[row] = table[1][before[source[4 * column + row]].byte[row]].byte[3] ^ key.byte[row];
#pragma unroll
    for (unsigned row = 0; row < 4; row++)
        last->byte[row] = bytes[row];
    __syncthreads();
    if (word < words) cipher[word] = last->word;
}
