/* AES-128 encryption of independent blocks (ECB). A CTA of 256 threads encrypts 64 blocks, one
 * column of 4 bytes per thread. As in Manavski's program the tables are copied from constant memory
 * to shared memory. The state is there too, in two copies that are used alternately. The rounds are
 * unrolled. A round finds the bytes of a column by a table in constant memory, then reads the
 * tables' words, then its key from a texture. Words hold their bytes in little-endian order. There
 * is no check of bounds, because the blocks fill the CTAs. */
#include "../common/texture.cuh"

enum { THREADS = 256, ROUNDS = 10, TABLES = 4, ENTRIES = 256 };

/* tables[t][x]: the contribution of byte x in row t to the mixed column. */
__constant__ unsigned tables[TABLES][ENTRIES];
/* The source column of each row of a column. */
static __constant__ int source[4 * 4] = {0, 1, 2, 3, 1, 2, 3, 0, 2, 3, 0, 1, 3, 0, 1, 2};

union Column {
    unsigned word;
    unsigned char byte[4];
};

/* Hides the value of `x` from the compiler, so that each round looks up the table again. That
 * program does so, as its 28 million instructions show (Bakhoda et al., ISPASS 2009, table 1). */
static __device__ void forget(unsigned &x) { asm volatile("" : "+r"(x)); }

/* The bytes of a column before its rows are mixed; `first` is the first of the block's columns. */
static __device__ void read_bytes(unsigned bytes[4], const Column *first, unsigned column) {
#pragma unroll
    for (unsigned row = 0; row < 4; row++)
        bytes[row] = first[source[4 * column + row]].byte[row];
}

extern "C" __global__ void aes(Texture round_keys, const unsigned *plain, unsigned *cipher) {
    __shared__ Column table[TABLES][ENTRIES];
    __shared__ Column state[2][THREADS];
    unsigned thread = threadIdx.x, word = blockIdx.x * THREADS + thread;
    state[1][thread].word = plain[word];
#pragma unroll
    for (unsigned t = 0; t < TABLES; t++)
        table[t][thread].word = tables[t][thread];
    __syncthreads();

    unsigned column = thread % 4, first = thread - column, bytes[4];
    unsigned key = texture_word(round_keys, (int)column);
    state[0][thread].word = state[1][thread].word ^ key;
    __syncthreads();
#pragma unroll
    for (unsigned round = 1; round < ROUNDS; round++) {
        forget(column);
        read_bytes(bytes, &state[(round + 1) % 2][first], column);
        unsigned words[TABLES];
#pragma unroll
        for (unsigned t = 0; t < TABLES; t++)
            words[t] = table[t][bytes[t]].word;
        key = texture_word(round_keys, (int)(4 * round + column));
        state[round % 2][thread].word = words[0] ^ words[1] ^ words[2] ^ words[3] ^ key;
        __syncthreads();
    }

    /* The last round does not mix columns; the last byte of the second table is only the
     * substitution. */
    forget(column);
    read_bytes(bytes, &state[(ROUNDS + 1) % 2][first], column);
    key = texture_word(round_keys, (int)(4 * ROUNDS + column));
    Column *last = &state[ROUNDS % 2][thread];
#pragma unroll
    for (int row = 3; row >= 0; row--)
        last->byte[row] = table[1][bytes[row]].byte[3] ^ (unsigned char)(key >> 8 * row);
    __syncthreads();
    cipher[word] = last->word;
}
