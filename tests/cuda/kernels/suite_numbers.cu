/* Small programs of numerical suites and of language models, a kernel each: solvers, stencils, n bodies, options;
 * the layers of a transformer. A kernel runs in one CTA of 256 threads unless it says otherwise. */
#include "kernel.h"

/* ---- Layers of a language model: a warp for each row of 64 ---- */

enum { ROW = 64 };

static __device__ float warp_sum(float x) {
    for (int lanes = 16; lanes; lanes /= 2)
        x += __shfl_xor_sync(0xffffffffu, x, lanes);
    return x;
}

static __device__ float warp_max(float x) {
    for (int lanes = 16; lanes; lanes /= 2)
        x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, lanes));
    return x;
}

extern "C" __global__ void layernorm(const float *in, float *out, unsigned n) {
    unsigned row = global_index() / 32, lane = threadIdx.x % 32;
    if (row * ROW >= n) return;
    const float *x = in + row * ROW;
    float mean = warp_sum(x[lane] + x[lane + 32]) / ROW;
    float a = x[lane] - mean, b = x[lane + 32] - mean;
    float scale = rsqrtf(warp_sum(a * a + b * b) / ROW + 1e-5f);
    out[row * ROW + lane] = a * scale * (1 + lane / 64.0f) + 0.25f;
    out[row * ROW + lane + 32] = b * scale * (1 + (lane + 32) / 64.0f) + 0.25f;
}

extern "C" __global__ void softmax(const float *in, float *out, unsigned n) {
    unsigned row = global_index() / 32, lane = threadIdx.x % 32;
    if (row * ROW >= n) return;
    const float *x = in + row * ROW;
    float most = warp_max(fmaxf(x[lane], x[lane + 32]));
    float a = expf(x[lane] - most), b = expf(x[lane + 32] - most), sum = warp_sum(a + b);
    out[row * ROW + lane] = a / sum;
    out[row * ROW + lane + 32] = b / sum;
}

/* The loss of each row, whose right answer is its number times 7. */
extern "C" __global__ void cross_entropy(const float *in, float *out, unsigned n) {
    unsigned row = global_index() / 32, lane = threadIdx.x % 32;
    if (row * ROW >= n) return;
    const float *x = in + row * ROW;
    float most = warp_max(fmaxf(x[lane], x[lane + 32]));
    float sum = warp_sum(expf(x[lane] - most) + expf(x[lane + 32] - most));
    if (lane == 0) out[row] = logf(sum) + most - x[row * 7 % ROW];
}

extern "C" __global__ void gelu(const float *in, float *out, unsigned n) {
    for (unsigned i = global_index(); i < n; i += gridDim.x * blockDim.x) {
        float x = in[i];
        out[i] = 0.5f * x * (1 + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
    }
}

/* Causal attention of 16 tokens in 16 dimensions: q, k and v one after the other; online softmax. */
extern "C" __global__ void attention(const float *in, float *out, unsigned n) {
    enum { T = 16, D = 16 };
    __shared__ float q[T][D], k[T][D], v[T][D];
    unsigned t = threadIdx.x / D, d = threadIdx.x % D;
    if (n < 3 * T * D) return;
    q[t][d] = in[threadIdx.x];
    k[t][d] = in[T * D + threadIdx.x];
    v[t][d] = in[2 * T * D + threadIdx.x];
    __syncthreads();
    float most = -1e30f, sum = 0, value = 0;
    for (unsigned s = 0; s <= t; s++) {
        float score = 0;
        for (unsigned e = 0; e < D; e++)
            score += q[t][e] * k[s][e];
        score *= 0.0625f;
        float now = fmaxf(most, score), old = expf(most - now), weight = expf(score - now);
        sum = sum * old + weight;
        value = value * old + weight * v[s][d];
        most = now;
    }
    out[threadIdx.x] = value / sum;
}

/* ---- Solvers ---- */

/* 20 steps towards the heat of a plate of 16 x 16 whose edge is fixed. */
extern "C" __global__ void jacobi(const float *in, float *out, unsigned n) {
    __shared__ float heat[2][16][16];
    unsigned i = threadIdx.x / 16, j = threadIdx.x % 16;
    if (n < 256) return;
    heat[0][i][j] = in[threadIdx.x];
    __syncthreads();
    for (int step = 0; step < 20; step++) {
        const float(*from)[16] = heat[step % 2];
        bool is_edge = i == 0 || i == 15 || j == 0 || j == 15;
        float next = from[i][j];
        if (!is_edge) next = 0.25f * (from[i - 1][j] + from[i + 1][j] + from[i][j - 1] + from[i][j + 1]);
        heat[(step + 1) % 2][i][j] = next;
        __syncthreads();
    }
    out[threadIdx.x] = heat[0][i][j];
}

static __device__ float block_sum(float x, float *parts) {
    x = warp_sum(x);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = x;
    __syncthreads();
    float sum = 0;
    for (unsigned w = 0; w < blockDim.x / 32; w++)
        sum += parts[w];
    __syncthreads();
    return sum;
}

/* The solution x of the tridiagonal system with 4 on its diagonal and -1 next to it. */
extern "C" __global__ void conjugate_gradient(const float *in, float *out, unsigned n) {
    __shared__ float p[258], parts[8];
    unsigned i = threadIdx.x;
    float x = 0, r = in[i % n];
    p[0] = p[257] = 0;
    p[i + 1] = r;
    float rr = block_sum(r * r, parts);
    for (int step = 0; step < 25; step++) {
        float ap = 4 * p[i + 1] - p[i] - p[i + 2];
        float alpha = rr / block_sum(p[i + 1] * ap, parts);
        x += alpha * p[i + 1];
        r -= alpha * ap;
        float next = block_sum(r * r, parts);
        p[i + 1] = r + next / rr * p[i + 1];
        rr = next;
        __syncthreads();
    }
    out[i] = x;
}

/* L and U of a matrix of 16 x 16, whose diagonal is raised by 64. */
extern "C" __global__ void lu_decomposition(const float *in, float *out, unsigned n) {
    __shared__ float a[16][16];
    unsigned i = threadIdx.x / 16, j = threadIdx.x % 16;
    a[i][j] = in[threadIdx.x % n] + (i == j ? 64 : 0);
    __syncthreads();
    for (unsigned k = 0; k < 15; k++) {
        if (i > k && j == k) a[i][k] /= a[k][k];
        __syncthreads();
        if (i > k && j > k) a[i][j] -= a[i][k] * a[k][j];
        __syncthreads();
    }
    out[threadIdx.x] = a[i][j];
}

/* A lower triangle of 64 rows with three numbers in a row; warps wait for each other's rows. Whole numbers. */
extern "C" __global__ void triangular_solve(const unsigned *in, unsigned *out, unsigned n) {
    __shared__ volatile unsigned x[64];
    __shared__ volatile int is_done[64];
    unsigned warp = threadIdx.x / 32, warps = blockDim.x / 32;
    if (threadIdx.x < 64) is_done[threadIdx.x] = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        for (unsigned row = warp; row < 64; row += warps) {
            unsigned sum = in[row % n];
            for (unsigned k = 1; k <= 3 && k <= row; k++) {
                unsigned column = row - 1 - in[(64 + 3 * row + k) % n] % row;
                while (!is_done[column]) {
                }
                __threadfence_block();
                sum -= (k + row) * x[column];
            }
            x[row] = sum;
            __threadfence_block();
            is_done[row] = 1;
        }
    }
    __syncthreads();
    if (threadIdx.x < 64) out[threadIdx.x] = x[threadIdx.x];
}

/* ---- Physics and finance ---- */

/* Accelerations of 256 bodies. Each body is four numbers; the last is the mass. */
extern "C" __global__ void n_body(const float *in, float *out, unsigned n) {
    __shared__ float4 tile[64];
    unsigned i = threadIdx.x;
    const float4 *bodies = (const float4 *)in;
    float4 me = bodies[i];
    float ax = 0, ay = 0, az = 0;
    for (unsigned first = 0; first < n / 4; first += 64) {
        if (i < 64) tile[i] = bodies[first + i];
        __syncthreads();
        for (int j = 0; j < 64; j++) {
            float dx = tile[j].x - me.x, dy = tile[j].y - me.y, dz = tile[j].z - me.z;
            float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.5f);
            float pull = fabsf(tile[j].w) * inverse * inverse * inverse;
            ax += pull * dx;
            ay += pull * dy;
            az += pull * dz;
        }
        __syncthreads();
    }
    out[3 * i] = ax;
    out[3 * i + 1] = ay;
    out[3 * i + 2] = az;
}

/* Prices of calls: of in the stock's price, 60 to 140, at a strike of 100. */
extern "C" __global__ void option_prices(const float *in, float *out, unsigned n) {
    for (unsigned i = global_index(); i < n; i += gridDim.x * blockDim.x) {
        float s = 100 + 5 * in[i], rate = 0.02f, volatility = 0.3f, years = 1 + i % 4;
        float spread = volatility * sqrtf(years);
        float d1 = (logf(s / 100) + (rate + 0.5f * volatility * volatility) * years) / spread, d2 = d1 - spread;
        out[i] = s * 0.5f * erfcf(-d1 * 0.70710678f) - 100 * expf(-rate * years) * 0.5f * erfcf(-d2 * 0.70710678f);
    }
}

/* 8 steps of a chip's temperature: power is what comes in, the edges reflect. */
extern "C" __global__ void hotspot(const float *in, float *out, unsigned n) {
    __shared__ float t[2][16][16];
    unsigned i = threadIdx.x / 16, j = threadIdx.x % 16;
    float power = fabsf(in[threadIdx.x % n]);
    t[0][i][j] = 80;
    __syncthreads();
    for (int step = 0; step < 8; step++) {
        const float(*from)[16] = t[step % 2];
        float centre = from[i][j];
        float rows = from[i ? i - 1 : 0][j] + from[i < 15 ? i + 1 : 15][j] - 2 * centre;
        float columns = from[i][j ? j - 1 : 0] + from[i][j < 15 ? j + 1 : 15] - 2 * centre;
        t[(step + 1) % 2][i][j] = centre + 0.1f * (power + rows + columns + (60 - centre) * 0.05f);
        __syncthreads();
    }
    out[threadIdx.x] = t[0][i][j];
}

/* Two steps of diffusion that spares edges (Yu and Acton 2002), of an image of 16 x 16. */
extern "C" __global__ void srad(const float *in, float *out, unsigned n) {
    __shared__ float image[16][16], c[16][16];
    unsigned i = threadIdx.x / 16, j = threadIdx.x % 16;
    unsigned up = i ? i - 1 : 0, down = i < 15 ? i + 1 : 15, left = j ? j - 1 : 0, right = j < 15 ? j + 1 : 15;
    image[i][j] = 10 + in[threadIdx.x % n];
    __syncthreads();
    for (int step = 0; step < 2; step++) {
        float x = image[i][j], north = image[up][j] - x, south = image[down][j] - x, west = image[i][left] - x,
              east = image[i][right] - x;
        float g = (north * north + south * south + west * west + east * east) / (x * x);
        float l = (north + south + west + east) / x, d = 1 + 0.25f * l, q = (0.5f * g - 0.0625f * l * l) / (d * d);
        float value = 1 / (1 + (q - 0.25f) / (0.25f * 1.25f));
        c[i][j] = fminf(fmaxf(value, 0), 1);
        __syncthreads();
        float flow = c[down][j] * south + c[i][j] * north + c[i][right] * east + c[i][j] * west;
        __syncthreads();
        image[i][j] = x + 0.125f * flow;
        __syncthreads();
    }
    out[threadIdx.x] = image[i][j];
}

/* ---- Signals ---- */

/* Power of 256 numbers' spectrum, by a transform of radix 2 with 128 threads. */
extern "C" __global__ void fft(const float *in, float *out, unsigned n) {
    __shared__ float2 x[256];
    for (unsigned i = threadIdx.x; i < 256; i += blockDim.x)
        x[__brev(i) >> 24] = make_float2(in[i % n], 0);
    __syncthreads();
    for (unsigned half = 1; half < 256; half *= 2) {
        unsigned k = threadIdx.x % half, low = threadIdx.x / half * 2 * half + k;
        float angle = -3.14159265f * (float)k / (float)half, c = cosf(angle), s = sinf(angle);
        float2 a = x[low], b = x[low + half], turned = make_float2(b.x * c - b.y * s, b.x * s + b.y * c);
        x[low] = make_float2(a.x + turned.x, a.y + turned.y);
        x[low + half] = make_float2(a.x - turned.x, a.y - turned.y);
        __syncthreads();
    }
    for (unsigned i = threadIdx.x; i < 256; i += blockDim.x)
        out[i] = x[i].x * x[i].x + x[i].y * x[i].y;
}
