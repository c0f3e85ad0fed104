/* Attention of one head, forward, the way of flash attention: softmax(Q K^T / 64) (V + 9) tile by tile, with
 * a running maximum and sum; both products on mma, what is between them in registers. 64 queries
 * and keys of 16 numbers; a warp has 16 queries. in: Q, K, V. */
#include "tensor.h"

enum { ROWS = 64, WIDTH = 16, TILE = 16 };

static __device__ unsigned pack(float low, float high) {
    return __half_as_ushort(__float2half(low)) | (unsigned)__half_as_ushort(__float2half(high)) << 16;
}

/* Over the four lanes that share a row of a fragment. */
static __device__ float row_max(float x) {
    x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 1));
    return fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 2));
}
static __device__ float row_sum(float x) {
    x += __shfl_xor_sync(0xffffffffu, x, 1);
    return x + __shfl_xor_sync(0xffffffffu, x, 2);
}

extern "C" __global__ void flash_attention(const float *in, float *out, unsigned n) {
    const float *q = in, *k = in + n / 3, *v = in + 2 * (n / 3);
    unsigned lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + lane / 4, pair = lane % 4 * 2;
    unsigned left[4];
    for (unsigned i = 0; i < 4; i++) {
        const float *at = q + (row + i % 2 * 8) * WIDTH + i / 2 * 8 + pair;
        left[i] = pack(at[0] / 64, at[1] / 64);
    }
    float most[2] = {-1e30f, -1e30f}, total[2] = {0, 0}, result[2][4] = {};
    for (unsigned key = 0; key < ROWS; key += TILE) {
        float score[2][4] = {};
        for (unsigned half = 0; half < 2; half++) {
            const float *at = k + (key + half * 8 + lane / 4) * WIDTH + pair;
            unsigned right[2] = {pack(at[0], at[1]), pack(at[8], at[9])};
            mma_half(score[half], left, right);
        }
        unsigned weight[4];
        for (unsigned r = 0; r < 2; r++) { /* rows `row` and `row` + 8 */
            float *a = &score[0][2 * r], *b = &score[1][2 * r];
            float peak = fmaxf(most[r], row_max(fmaxf(fmaxf(a[0], a[1]), fmaxf(b[0], b[1]))));
            float scale = expf(most[r] - peak);
            most[r] = peak;
            for (unsigned i = 0; i < 2; i++) {
                a[i] = expf(a[i] - peak);
                b[i] = expf(b[i] - peak);
                result[i][2 * r] *= scale;
                result[i][2 * r + 1] *= scale;
            }
            total[r] = total[r] * scale + row_sum(a[0] + a[1] + b[0] + b[1]);
            weight[r] = pack(a[0], a[1]);
            weight[2 + r] = pack(b[0], b[1]);
        }
        for (unsigned half = 0; half < 2; half++) {
            const float *at = v + (key + pair) * WIDTH + half * 8 + lane / 4;
            unsigned right[2] = {pack(at[0] + 9, at[WIDTH] + 9),
                                 pack(at[8 * WIDTH] + 9, at[9 * WIDTH] + 9)};
            mma_half(result[half], weight, right);
        }
    }
    for (unsigned i = 0; i < 8; i++)
        out[(row + i / 2 % 2 * 8) * WIDTH + i / 4 * 8 + pair + i % 2] =
            result[i / 4][i % 4] / total[i / 2 % 2];
}
