/* Lookups in embedding tables with sum pooling, as in recommendation models (Naumov et al., Deep
 * learning recommendation model, arXiv 1906.00091, 2019; EmbeddingBag in PyTorch): each bag of
 * indices selects rows of a table, which are added up. A warp pools a bag. A lane has one, two or
 * four columns, so that a warp reads a row at once. The lanes load the indices together and pass
 * them on by shuffles. Four rows are under way at a time. */
#include "tyto_device.h"

enum {
    WARP = 32,
    AHEAD = 4
}; /* threads of a warp; rows that are loaded before the first is added */

/* Loads member by member, which clang makes one load of a vector. It would split a copy of two. */
static __device__ __forceinline__ float load(const float *from) { return *from; }

static __device__ __forceinline__ float2 load(const float2 *from) { return {from->x, from->y}; }

static __device__ __forceinline__ float4 load(const float4 *from) {
    return {from->x, from->y, from->z, from->w};
}

static __device__ __forceinline__ void add(float &sum, float row) { sum += row; }

static __device__ __forceinline__ void add(float2 &sum, float2 row) {
    sum.x += row.x, sum.y += row.y;
}

static __device__ __forceinline__ void add(float4 &sum, float4 row) {
    sum.x += row.x, sum.y += row.y, sum.z += row.z, sum.w += row.w;
}

/* Adds the rows that the first `count` lanes' `index` names. `column`: the lane's part of row 0. */
template <class Columns>
static __device__ __forceinline__ void add_rows(Columns &sum, const Columns *column, unsigned index,
                                                unsigned count) {
    unsigned i = 0;
    for (; i + AHEAD <= count; i += AHEAD) {
        unsigned places[AHEAD];
        Columns rows[AHEAD];
#pragma unroll
        for (unsigned k = 0; k < AHEAD; k++)
            places[k] = __shfl_sync(~0u, index, i + k);
#pragma unroll
        for (unsigned k = 0; k < AHEAD; k++)
            rows[k] = load(column + (size_t)places[k] * WARP);
#pragma unroll
        for (unsigned k = 0; k < AHEAD; k++)
            add(sum, rows[k]);
    }
    for (; i < count; i++)
        add(sum, load(column + (size_t)__shfl_sync(~0u, index, i) * WARP));
}

/* The bags of a table are one after another, and so are the tables, each with `rows` rows. The
 * pooled rows of a sample are one after another. */
template <class Columns>
static __device__ __forceinline__ void pool(const Columns *tables, const unsigned *starts,
                                            const unsigned *indices, Columns *pooled, unsigned rows,
                                            unsigned samples) {
    unsigned lane = threadIdx.x, sample = blockIdx.x * blockDim.y + threadIdx.y, table = blockIdx.y;
    if (sample >= samples) return;
    const Columns *column = tables + (size_t)table * rows * WARP + lane;
    unsigned bag = table * samples + sample, end = starts[bag + 1];
    Columns sum = {};
    for (unsigned first = starts[bag]; first < end; first += WARP) {
        unsigned index = first + lane < end ? indices[first + lane] : 0;
        add_rows(sum, column, index, min(end - first, (unsigned)WARP));
    }
    pooled[((size_t)sample * gridDim.y + table) * WARP + lane] = sum;
}

extern "C" __global__ void embedding_32(const float *tables, const unsigned *starts,
                                        const unsigned *indices, float *pooled, unsigned rows,
                                        unsigned samples) {
    pool(tables, starts, indices, pooled, rows, samples);
}

extern "C" __global__ void embedding_64(const float2 *tables, const unsigned *starts,
                                        const unsigned *indices, float2 *pooled, unsigned rows,
                                        unsigned samples) {
    pool(tables, starts, indices, pooled, rows, samples);
}

extern "C" __global__ void embedding_128(const float4 *tables, const unsigned *starts,
                                         const unsigned *indices, float4 *pooled, unsigned rows,
                                         unsigned samples) {
    pool(tables, starts, indices, pooled, rows, samples);
}
