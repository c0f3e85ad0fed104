/* Sparse matrix times dense matrix, as in graph neural networks, after GE-SpMM (Huang et al., SC
 * 2020). A warp computes columns of one row of the product. It stages 32 entries of the row in
 * shared memory; then all its lanes read the same entry, and neighbouring elements of a row of the
 * dense matrix. A lane computes one column, or two columns that are 32 apart. */
#include "tyto_device.h"

enum { WARP = 32, WARPS = 8 };
/* Entries whose elements of the dense matrix a lane loads at once. */
enum { GROUP = 4 };

/* Adds the products of `COUNT` entries with the lane's elements of rows of the dense matrix, all of
 * which are loaded first. An entry is its column and the bits of its value. `dense` points to the
 * lane's first column; `width` is the length of its rows. */
template <int TILES, int COUNT>
static __device__ __forceinline__ void add_products(float sums[TILES], const uint2 *entries,
                                                    const float *dense, unsigned width) {
    float values[COUNT], factors[COUNT][TILES];
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
        uint2 entry = entries[i];
        const float *row = dense + entry.x * width;
        values[i] = __uint_as_float(entry.y);
#pragma unroll
        for (int tile = 0; tile < TILES; tile++)
            factors[i][tile] = row[tile * WARP];
    }
#pragma unroll
    for (int i = 0; i < COUNT; i++)
#pragma unroll
        for (int tile = 0; tile < TILES; tile++)
            sums[tile] += values[i] * factors[i][tile];
}

template <int TILES>
static __device__ __forceinline__ void
multiply_row(const unsigned *row_offsets, const unsigned *columns, const float *values,
             const float *dense, float *product, unsigned rows, unsigned width) {
    __shared__ uint2 staged[WARPS][WARP];
    uint2 *entries = staged[threadIdx.y];
    unsigned lane = threadIdx.x, row = blockIdx.x * WARPS + threadIdx.y;
    if (row >= rows) return;
    unsigned column = blockIdx.y * WARP * TILES + lane, end = row_offsets[row + 1];
    float sums[TILES] = {0};
    for (unsigned first = row_offsets[row]; first < end; first += WARP) {
        unsigned count = min(end - first, (unsigned)WARP);
        if (lane < count)
            entries[lane] = {columns[first + lane], __float_as_uint(values[first + lane])};
        __syncwarp();
        unsigned i = 0;
#pragma unroll 1
        for (; i + GROUP <= count; i += GROUP)
            add_products<TILES, GROUP>(sums, &entries[i], dense + column, width);
#pragma unroll 1
        for (; i < count; i++)
            add_products<TILES, 1>(sums, &entries[i], dense + column, width);
        __syncwarp();
    }
    float *to = product + row * width + column;
#pragma unroll
    for (int tile = 0; tile < TILES; tile++)
        to[tile * WARP] = sums[tile];
}

extern "C" __global__ void spmm(const unsigned *row_offsets, const unsigned *columns,
                                const float *values, const float *dense, float *product,
                                unsigned rows, unsigned width) {
    multiply_row<1>(row_offsets, columns, values, dense, product, rows, width);
}

extern "C" __global__ void spmm_merged(const unsigned *row_offsets, const unsigned *columns,
                                       const float *values, const float *dense, float *product,
                                       unsigned rows, unsigned width) {
    multiply_row<2>(row_offsets, columns, values, dense, product, rows, width);
}

/* The last row that begins at or before the entry: the entry's row, because empty rows come before
 * it. */
static __device__ __forceinline__ unsigned find_row(const unsigned *row_offsets, unsigned rows,
                                                    unsigned entry) {
    unsigned low = 0, high = rows;
    while (high - low > 1) {
        unsigned middle = (low + high) / 2;
        if (row_offsets[middle] <= entry) low = middle;
        else high = middle;
    }
    return low;
}

/* Each warp takes 32 entries of the matrix, in whichever rows they are. It adds the sums of a row
 * to the product where the row ends. */
template <int TILES>
static __device__ __forceinline__ void
multiply_entries(const unsigned *row_offsets, const unsigned *columns, const float *values,
                 const float *dense, float *product, unsigned rows, unsigned width) {
    __shared__ uint2 staged[WARPS][WARP];
    __shared__ unsigned staged_rows[WARPS][WARP];
    uint2 *entries = staged[threadIdx.y];
    unsigned *entry_rows = staged_rows[threadIdx.y];
    unsigned lane = threadIdx.x, first = (blockIdx.x * WARPS + threadIdx.y) * WARP;
    unsigned end = row_offsets[rows];
    if (first >= end) return;
    unsigned count = min(end - first, (unsigned)WARP);
    if (lane < count) {
        entries[lane] = {columns[first + lane], __float_as_uint(values[first + lane])};
        entry_rows[lane] = find_row(row_offsets, rows, first + lane);
    }
    __syncwarp();
    unsigned column = blockIdx.y * WARP * TILES + lane;
    float sums[TILES] = {0};
    for (unsigned i = 0; i < count; i++) {
        add_products<TILES, 1>(sums, &entries[i], dense + column, width);
        if (i + 1 < count && entry_rows[i + 1] == entry_rows[i]) continue;
        float *to = product + entry_rows[i] * width + column;
#pragma unroll
        for (int tile = 0; tile < TILES; tile++) {
            atomicAdd(&to[tile * WARP], sums[tile]);
            sums[tile] = 0;
        }
    }
}

extern "C" __global__ void spmm_split(const unsigned *row_offsets, const unsigned *columns,
                                      const float *values, const float *dense, float *product,
                                      unsigned rows, unsigned width) {
    multiply_entries<1>(row_offsets, columns, values, dense, product, rows, width);
}

extern "C" __global__ void spmm_split_merged(const unsigned *row_offsets, const unsigned *columns,
                                             const float *values, const float *dense,
                                             float *product, unsigned rows, unsigned width) {
    multiply_entries<2>(row_offsets, columns, values, dense, product, rows, width);
}
