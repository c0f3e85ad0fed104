/* Attention with a pattern of blocks, one head, without tensor cores. A CTA computes the outputs of
 * a block of 16 queries. For each block of keys in the pattern, it computes the scores, turns them
 * into weights, and adds the values by these weights. The softmax is computed on the way (Milakov
 * and Gimelshein, 2018): weights are relative to the largest score so far; if a larger one comes,
 * the sums are scaled down. */
#include "tyto_device.h"

/* The block and the head's size, then the threads of a query and of a CTA. A row of a tile in
 * shared memory is quads of floats; the last one is padding, so that rows begin in other banks. */
enum { BLOCK = 16, HEAD = 64, LANES = 8, THREADS = BLOCK * LANES };
enum { QUADS = HEAD / 4, STRIDE = QUADS + 1 };

/* 1 / sqrt(HEAD). */
#define SCALE 0.125f
/* Less than any score. */
#define LOWEST (-1.0e30f)

/* Copies the rows of a block; all threads of the CTA take part. */
static __device__ __forceinline__ void load_block(float4 tile[BLOCK][STRIDE], const float4 *matrix,
                                                  unsigned block) {
#pragma unroll
    for (unsigned i = 0; i < BLOCK * QUADS; i += THREADS) {
        unsigned quad = i + threadIdx.x;
        tile[quad / QUADS][quad % QUADS] = matrix[block * BLOCK * QUADS + quad];
    }
}

static __device__ __forceinline__ float dot(float4 a, float4 b, float sum) {
    return a.w * b.w + (a.z * b.z + (a.y * b.y + (a.x * b.x + sum)));
}

static __device__ __forceinline__ void add_weighted(float4 &sum, float weight, float4 value) {
    sum.x += weight * value.x;
    sum.y += weight * value.y;
    sum.z += weight * value.z;
    sum.w += weight * value.w;
}

static __device__ __forceinline__ float4 scaled(float4 a, float factor) {
    return {a.x * factor, a.y * factor, a.z * factor, a.w * factor};
}

/* Across the eight threads of a query. */
static __device__ __forceinline__ float largest_of_query(float value) {
#pragma unroll
    for (int distance = LANES / 2; distance > 0; distance /= 2)
        value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, distance));
    return value;
}

static __device__ __forceinline__ float sum_of_query(float value) {
#pragma unroll
    for (int distance = LANES / 2; distance > 0; distance /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, distance);
    return value;
}

/* The matrices have a row of HEAD floats per token. `row_offsets` has the first entry in `columns`
 * of each block of queries, `columns` the block of keys of each entry. A thread computes two scores
 * of a block, and two quads of a query's output. */
extern "C" __global__ void sparseattention(const float4 *queries, const float4 *keys,
                                           const float4 *values, const unsigned *row_offsets,
                                           const unsigned *columns, float4 *output) {
    __shared__ float4 query_tile[BLOCK][STRIDE], tile[BLOCK][STRIDE];
    __shared__ float weights[BLOCK][BLOCK + 4];
    unsigned query = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    unsigned end = row_offsets[blockIdx.x + 1];
    float largest = LOWEST, total = 0;
    float4 sums[2] = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    load_block(query_tile, queries, blockIdx.x);
    for (unsigned i = row_offsets[blockIdx.x]; i < end; i++) {
        unsigned block = columns[i];
        load_block(tile, keys, block);
        __syncthreads();
        float scores[2] = {0, 0};
#pragma unroll
        for (unsigned quad = 0; quad < QUADS; quad++) {
            float4 of_query = query_tile[query][quad];
            scores[0] = dot(of_query, tile[lane][quad], scores[0]);
            scores[1] = dot(of_query, tile[lane + LANES][quad], scores[1]);
        }
        __syncthreads(); /* all have read the keys */
        load_block(tile, values, block);

        scores[0] *= SCALE;
        scores[1] *= SCALE;
        float most = fmaxf(largest, largest_of_query(fmaxf(scores[0], scores[1])));
        float factor = __expf(largest - most);
        float first = __expf(scores[0] - most), second = __expf(scores[1] - most);
        weights[query][lane] = first;
        weights[query][lane + LANES] = second;
        total = total * factor + (first + second);
        sums[0] = scaled(sums[0], factor);
        sums[1] = scaled(sums[1], factor);
        largest = most;
        __syncthreads();
#pragma unroll
        for (unsigned key = 0; key < BLOCK; key++) {
            float weight = weights[query][key];
            add_weighted(sums[0], weight, tile[key][lane]);
            add_weighted(sums[1], weight, tile[key][lane + LANES]);
        }
        __syncthreads(); /* all have read the values */
    }
    float inverse = 1.0f / sum_of_query(total);
    float4 *to = output + (blockIdx.x * BLOCK + query) * QUADS + lane;
    to[0] = scaled(sums[0], inverse);
    to[LANES] = scaled(sums[1], inverse);
}
