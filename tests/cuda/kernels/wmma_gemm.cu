/* D = A * B of halves, 64 x 64 x 64, through CUDA C++'s nvcuda::wmma: fragments of all layouts. */
#include <mma.h>

#include "tensor.h"

using namespace nvcuda;

enum { SIZE = 64 };

template <typename Left, typename Right>
static __device__ void product(const __half *a, const __half *b, float *out, bool by_column) {
    for (int column = 0; column < SIZE; column += 16) {
        wmma::fragment<wmma::accumulator, 16, 16, 16, float> d;
        wmma::fill_fragment(d, 0.0f);
        for (int k = 0; k < SIZE; k += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, Left> left;
            wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, Right> right;
            wmma::load_matrix_sync(left, a + (by_column ? k * SIZE : k), SIZE);
            wmma::load_matrix_sync(right, b + (by_column ? column * SIZE + k : k * SIZE + column),
                                   SIZE);
            wmma::mma_sync(d, left, right, d);
        }
        for (int i = 0; i < d.num_elements; i++)
            d.x[i] *= 2.0f;
        wmma::store_matrix_sync(out + column, d, SIZE, wmma::mem_row_major);
    }
}

extern "C" __global__ void wmma_gemm(const unsigned *in, float *out, unsigned n) {
    __shared__ __align__(32) __half a[SIZE * SIZE], b[SIZE * SIZE];
    bool by_column = blockIdx.x; /* the second CTA keeps both matrices by columns */
    for (unsigned i = threadIdx.x; i < n / 2; i += blockDim.x) {
        unsigned at = by_column ? i % SIZE * SIZE + i / SIZE : i;
        a[at] = __ushort_as_half(half_of((int)(in[i] % 9) - 4));
        b[at] = __ushort_as_half(half_of((int)(in[n / 2 + i] % 9) - 4));
    }
    __syncthreads();
    int first = (int)(threadIdx.x / 32) * 16;
    float *to = out + blockIdx.x * SIZE * SIZE + first * SIZE;
    if (by_column) product<wmma::col_major, wmma::col_major>(a + first, b, to, true);
    else product<wmma::row_major, wmma::row_major>(a + first * SIZE, b, to, false);
}
