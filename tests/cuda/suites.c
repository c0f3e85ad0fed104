/* References of the programs in kernels/suite_numbers.cu and kernels/suite_integers.cu, as plain
 * loops. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernel_test.h"

/* ---- Layers of a language model ---- */

enum { ROW = 64 };

static void layernorm(Data in, Data out, unsigned n) {
    for (unsigned row = 0; row < n / ROW; row++) {
        const float *x = in.floats + row * ROW;
        double mean = 0, variance = 0;
        for (unsigned i = 0; i < ROW; i++)
            mean += (double)x[i] / ROW;
        for (unsigned i = 0; i < ROW; i++)
            variance += ((double)x[i] - mean) * ((double)x[i] - mean) / ROW;
        for (unsigned i = 0; i < ROW; i++)
            out.floats[row * ROW + i] =
                (float)(((double)x[i] - mean) / sqrt(variance + 1e-5) * (1 + i / 64.0) + 0.25);
    }
}

static double sum_of_exponentials(const float *x, double *most) {
    double sum = 0;
    *most = (double)x[0];
    for (unsigned i = 0; i < ROW; i++)
        *most = fmax(*most, (double)x[i]);
    for (unsigned i = 0; i < ROW; i++)
        sum += exp((double)x[i] - *most);
    return sum;
}

static void softmax(Data in, Data out, unsigned n) {
    for (unsigned row = 0; row < n / ROW; row++) {
        double most, sum = sum_of_exponentials(in.floats + row * ROW, &most);
        for (unsigned i = row * ROW; i < (row + 1) * ROW; i++)
            out.floats[i] = (float)(exp((double)in.floats[i] - most) / sum);
    }
}

static void cross_entropy(Data in, Data out, unsigned n) {
    for (unsigned row = 0; row < n / ROW; row++) {
        const float *x = in.floats + row * ROW;
        double most, sum = sum_of_exponentials(x, &most);
        out.floats[row] = (float)(log(sum) + most - (double)x[row * 7 % ROW]);
    }
}

static void gelu(Data in, Data out, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        double x = (double)in.floats[i];
        out.floats[i] =
            (float)(0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x))));
    }
}

static void attention(Data in, Data out, unsigned n) {
    enum { T = 16, D = 16 };
    const float *q = in.floats, *k = q + T * D, *v = k + T * D;
    (void)n;
    for (unsigned t = 0; t < T; t++) {
        double weights[T], sum = 0;
        for (unsigned s = 0; s <= t; s++) {
            double score = 0;
            for (unsigned e = 0; e < D; e++)
                score += (double)q[t * D + e] * (double)k[s * D + e];
            sum += weights[s] = exp(score / 16);
        }
        for (unsigned d = 0; d < D; d++) {
            double value = 0;
            for (unsigned s = 0; s <= t; s++)
                value += weights[s] / sum * (double)v[s * D + d];
            out.floats[t * D + d] = (float)value;
        }
    }
}

/* ---- Solvers ---- */

static void jacobi(Data in, Data out, unsigned n) {
    double heat[256], next[256];
    for (unsigned i = 0; i < n; i++)
        heat[i] = next[i] = (double)in.floats[i];
    for (int step = 0; step < 20; step++) {
        for (unsigned i = 0; i < 256; i++)
            if (i / 16 % 15 && i % 16 % 15)
                next[i] = 0.25 * (heat[i - 16] + heat[i + 16] + heat[i - 1] + heat[i + 1]);
        memcpy(heat, next, sizeof heat);
    }
    for (unsigned i = 0; i < 256; i++)
        out.floats[i] = (float)heat[i];
}

/* The exact solution, by elimination. */
static void conjugate_gradient(Data in, Data out, unsigned n) {
    double slope[256], x[256];
    for (unsigned i = 0; i < n; i++) {
        double pivot = 4 + (i ? slope[i - 1] : 0);
        slope[i] = -1 / pivot;
        x[i] = ((double)in.floats[i] + (i ? x[i - 1] : 0)) / pivot;
    }
    for (unsigned i = n - 1; i-- > 0;)
        x[i] -= slope[i] * x[i + 1];
    for (unsigned i = 0; i < n; i++)
        out.floats[i] = (float)x[i];
}

static void lu_decomposition(Data in, Data out, unsigned n) {
    double a[16][16];
    for (unsigned i = 0; i < n; i++)
        a[i / 16][i % 16] = (double)in.floats[i] + (i / 16 == i % 16 ? 64 : 0);
    for (unsigned k = 0; k < 15; k++)
        for (unsigned i = k + 1; i < 16; i++) {
            a[i][k] /= a[k][k];
            for (unsigned j = k + 1; j < 16; j++)
                a[i][j] -= a[i][k] * a[k][j];
        }
    for (unsigned i = 0; i < n; i++)
        out.floats[i] = (float)a[i / 16][i % 16];
}

static void triangular_solve(Data in, Data out, unsigned n) {
    for (unsigned row = 0; row < 64; row++) {
        uint32_t sum = in.words[row % n];
        for (unsigned k = 1; k <= 3 && k <= row; k++)
            sum -= (k + row) * out.words[row - 1 - in.words[(64 + 3 * row + k) % n] % row];
        out.words[row] = sum;
    }
}

/* ---- Physics and finance ---- */

static void n_body(Data in, Data out, unsigned n) {
    for (unsigned i = 0; i < n / 4; i++) {
        const float *me = in.floats + 4 * i;
        double pull[3] = {0};
        for (unsigned j = 0; j < n / 4; j++) {
            const float *other = in.floats + 4 * j;
            double d[3], square = 0.5;
            for (int axis = 0; axis < 3; axis++) {
                d[axis] = (double)other[axis] - (double)me[axis];
                square += d[axis] * d[axis];
            }
            for (int axis = 0; axis < 3; axis++)
                pull[axis] += fabs((double)other[3]) / (square * sqrt(square)) * d[axis];
        }
        for (int axis = 0; axis < 3; axis++)
            out.floats[3 * i + (unsigned)axis] = (float)pull[axis];
    }
}

static void option_prices(Data in, Data out, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        double s = 100 + 5 * (double)in.floats[i], rate = 0.02, volatility = 0.3, years = 1 + i % 4;
        double spread = volatility * sqrt(years),
               d1 = (log(s / 100) + (rate + 0.5 * volatility * volatility) * years) / spread;
        double d2 = d1 - spread;
        out.floats[i] = (float)(s * 0.5 * erfc(-d1 / sqrt(2)) -
                                100 * exp(-rate * years) * 0.5 * erfc(-d2 / sqrt(2)));
    }
}

/* Neighbours of a place in 16 x 16: up, down, left, right; the place itself at an edge. */
static void neighbours_of(unsigned i, unsigned found[4]) {
    found[0] = i >= 16 ? i - 16 : i;
    found[1] = i < 240 ? i + 16 : i;
    found[2] = i % 16 ? i - 1 : i;
    found[3] = i % 16 < 15 ? i + 1 : i;
}

static void hotspot(Data in, Data out, unsigned n) {
    double t[256], next[256];
    for (unsigned i = 0; i < n; i++)
        t[i] = 80;
    for (int step = 0; step < 8; step++) {
        for (unsigned i = 0; i < n; i++) {
            unsigned at[4];
            neighbours_of(i, at);
            double flow = t[at[0]] + t[at[1]] + t[at[2]] + t[at[3]] - 4 * t[i];
            next[i] = t[i] + 0.1 * (fabs((double)in.floats[i]) + flow + (60 - t[i]) * 0.05);
        }
        memcpy(t, next, sizeof t);
    }
    for (unsigned i = 0; i < n; i++)
        out.floats[i] = (float)t[i];
}

static void srad(Data in, Data out, unsigned n) {
    double image[256], next[256], c[256];
    for (unsigned i = 0; i < n; i++)
        image[i] = 10 + (double)in.floats[i];
    for (int step = 0; step < 2; step++) {
        for (unsigned i = 0; i < n; i++) {
            unsigned at[4];
            double g = 0, l = 0;
            neighbours_of(i, at);
            for (int k = 0; k < 4; k++) {
                double slope = image[at[k]] - image[i];
                g += slope * slope / (image[i] * image[i]);
                l += slope / image[i];
            }
            double d = 1 + 0.25 * l, q = (0.5 * g - 0.0625 * l * l) / (d * d);
            c[i] = fmin(fmax(1 / (1 + (q - 0.25) / (0.25 * 1.25)), 0), 1);
        }
        for (unsigned i = 0; i < n; i++) {
            unsigned at[4];
            neighbours_of(i, at);
            double flow = c[at[1]] * (image[at[1]] - image[i]) + c[i] * (image[at[0]] - image[i]) +
                          c[at[3]] * (image[at[3]] - image[i]) + c[i] * (image[at[2]] - image[i]);
            next[i] = image[i] + 0.125 * flow;
        }
        memcpy(image, next, sizeof image);
    }
    for (unsigned i = 0; i < n; i++)
        out.floats[i] = (float)image[i];
}

static void fft(Data in, Data out, unsigned n) {
    for (unsigned k = 0; k < n; k++) {
        double real = 0, imaginary = 0;
        for (unsigned i = 0; i < n; i++) {
            double angle = -2 * acos(-1) * (double)(k * i % n) / n;
            real += (double)in.floats[i] * cos(angle);
            imaginary += (double)in.floats[i] * sin(angle);
        }
        out.floats[k] = (float)(real * real + imaginary * imaginary);
    }
}

/* ---- Tables and lists ---- */

static void hash_table(Data in, Data out, unsigned n) {
    unsigned counts[200] = {0};
    for (unsigned i = 0; i < n; i++)
        counts[in.words[i] % 200]++;
    for (unsigned i = 0; i < n; i++)
        out.words[i] = counts[in.words[i] % 200];
}

static void lock_free_list(Data in, Data out, unsigned n) {
    out.words[0] = 0;
    for (unsigned i = 0; i < 256; i++)
        out.words[0] += in.words[i % n];
    out.words[1] = 128;
}

static void histogram256(Data in, Data out, unsigned n) {
    for (unsigned i = 0; i < n; i++)
        for (int byte = 0; byte < 4; byte++)
            out.words[in.words[i] >> 8 * byte & 255]++;
}

/* ---- Graphs ---- */

static void floyd_warshall(Data in, Data out, unsigned n) {
    for (unsigned i = 0; i < 256; i++)
        out.words[i] = i / 16 == i % 16 ? 0 : in.words[i % n] % 100 + 1;
    for (unsigned k = 0; k < 16; k++)
        for (unsigned i = 0; i < 256; i++) {
            uint32_t by = out.words[i / 16 * 16 + k] + out.words[k * 16 + i % 16];
            if (by < out.words[i]) out.words[i] = by;
        }
}

static void bfs_queue(Data in, Data out, unsigned n) {
    unsigned queue[256], first = 0, last = 1;
    memset(out.words, 0xff, 256 * sizeof *out.words);
    out.words[queue[0] = 0] = 0;
    while (first < last) {
        unsigned node = queue[first++];
        for (unsigned edge = 0; edge < 2; edge++) {
            unsigned other = in.words[(2 * node + edge) % n] % 256;
            if (out.words[other] != UINT32_MAX) continue;
            out.words[other] = out.words[node] + 1;
            queue[last++] = other;
        }
    }
}

/* ---- Dynamic programming ---- */

static void pathfinder(Data in, Data out, unsigned n) {
    uint32_t cost[256], next[256];
    for (unsigned i = 0; i < 256; i++)
        cost[i] = in.words[i % n] % 10;
    for (unsigned row = 1; row < 20; row++) {
        for (unsigned i = 0; i < 256; i++) {
            uint32_t best = cost[i];
            if (i && cost[i - 1] < best) best = cost[i - 1];
            if (i < 255 && cost[i + 1] < best) best = cost[i + 1];
            next[i] = best + in.words[(row * 256 + i) % n] % 10;
        }
        memcpy(cost, next, sizeof cost);
    }
    memcpy(out.words, cost, sizeof cost);
}

static void needleman_wunsch(Data in, Data out, unsigned n) {
    enum { LENGTH = 64, GAP = -2 };
    int score[LENGTH + 1][LENGTH + 1];
    for (unsigned i = 0; i <= LENGTH; i++)
        score[i][0] = score[0][i] = GAP * (int)i;
    for (unsigned i = 1; i <= LENGTH; i++)
        for (unsigned j = 1; j <= LENGTH; j++) {
            int best = score[i - 1][j - 1] +
                       (in.words[i % n] % 4 == in.words[(LENGTH + j) % n] % 4 ? 3 : -1);
            if (score[i - 1][j] + GAP > best) best = score[i - 1][j] + GAP;
            if (score[i][j - 1] + GAP > best) best = score[i][j - 1] + GAP;
            score[i][j] = best;
        }
    for (unsigned j = 0; j < LENGTH; j++)
        out.ints[j] = score[LENGTH][j + 1];
}

/* ---- Clusters and images ---- */

static void k_means(Data in, Data out, unsigned n) {
    int centre[4][2];
    for (unsigned i = 0; i < 4; i++) {
        centre[i][0] = (int)(in.words[i] & 1023);
        centre[i][1] = (int)(in.words[i] >> 16 & 1023);
    }
    for (int round = 0; round < 6; round++) {
        int sum[4][3] = {{0}};
        for (unsigned i = 0; i < 256; i++) {
            int x = (int)(in.words[i % n] & 1023), y = (int)(in.words[i % n] >> 16 & 1023),
                nearest = INT32_MAX;
            for (unsigned c = 0; c < 4; c++) {
                int dx = x - centre[c][0], dy = y - centre[c][1];
                if (dx * dx + dy * dy >= nearest) continue;
                nearest = dx * dx + dy * dy;
                out.words[i] = c;
            }
            sum[out.words[i]][0] += x;
            sum[out.words[i]][1] += y;
            sum[out.words[i]][2]++;
        }
        for (int c = 0; c < 4; c++)
            for (int axis = 0; axis < 2 && sum[c][2]; axis++)
                centre[c][axis] = sum[c][axis] / sum[c][2];
    }
}

static void mandelbrot(Data in, Data out, unsigned n) {
    (void)n;
    for (int i = 0; i < 256; i++) {
        int64_t cx = i % 16 * 12288 - 131072, cy = i / 16 * 8192 - 61440 + (int)(in.words[0] % 64),
                x = 0, y = 0;
        uint32_t steps = 0;
        for (; steps < 200 && (x * x + y * y) >> 16 < 4 * 65536; steps++) {
            int64_t next = ((x * x - y * y) >> 16) + cx;
            y = ((2 * x * y) >> 16) + cy;
            x = next;
        }
        out.words[i] = steps;
    }
}

static void separable_convolution(Data in, Data out, unsigned n) {
    static const uint32_t weights[5] = {1, 4, 6, 4, 1};
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 16; j++) {
            uint32_t sum = 0;
            for (int di = -2; di <= 2; di++)
                for (int dj = -2; dj <= 2; dj++) {
                    bool is_inside = i + di >= 0 && i + di < 16 && j + dj >= 0 && j + dj < 16;
                    unsigned at = (unsigned)((i + di) * 16 + j + dj);
                    if (is_inside) sum += weights[di + 2] * weights[dj + 2] * in.words[at % n];
                }
            out.words[16 * i + j] = sum;
        }
}

/* ---- Hashes and random numbers ---- */

static uint32_t turn(uint32_t x, int bits) { return x >> bits | x << (32 - bits); }

/* The first 32 bits of the fractional part of a prime's cube root. SHA-256 uses these as constants
 * (FIPS 180-4). */
static uint32_t root_bits(unsigned prime) {
    uint64_t low = 0, high = UINT64_C(8) << 32;
    while (high - low > 1) { /* the largest x with x^3 <= prime * 2^96 */
        uint64_t middle = (low + high) / 2;
        long double cube = (long double)middle * (long double)middle * (long double)middle;
        if (cube <= (long double)prime * 0x1p96L) low = middle;
        else high = middle;
    }
    return (uint32_t)low;
}

static void sha256(Data in, Data out, unsigned n) {
    uint32_t constants[64];
    for (unsigned prime = 2, found = 0; found < 64; prime++) {
        bool is_prime = true;
        for (unsigned d = 2; d * d <= prime; d++)
            is_prime &= prime % d != 0;
        if (is_prime) constants[found++] = root_bits(prime);
    }
    for (unsigned thread = 0; thread < 64; thread++) {
        uint32_t w[64];
        uint32_t a = 0x6a09e667, b = 0xbb67ae85, c = 0x3c6ef372, d = 0xa54ff53a, e = 0x510e527f,
                 f = 0x9b05688c, g = 0x1f83d9ab, h = 0x5be0cd19;
        for (unsigned t = 0; t < 64; t++) {
            if (t < 16) w[t] = in.words[(thread * 16 + t) % n];
            else
                w[t] = w[t - 16] + (turn(w[t - 15], 7) ^ turn(w[t - 15], 18) ^ w[t - 15] >> 3) +
                       w[t - 7] + (turn(w[t - 2], 17) ^ turn(w[t - 2], 19) ^ w[t - 2] >> 10);
            uint32_t t1 = h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) +
                          constants[t] + w[t];
            uint32_t t2 = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
            h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
        }
        out.words[thread] = 0x6a09e667 + a;
    }
}

static void mersenne_twister(Data in, Data out, unsigned n) {
    uint32_t state[624];
    for (unsigned i = 0; i < 624; i++)
        state[i] = in.words[i % n];
    for (unsigned i = 0; i < 624; i++) {
        uint32_t y = (state[i] & 0x80000000) | (state[(i + 1) % 624] & 0x7fffffff);
        state[i] = state[(i + 397) % 624] ^ y >> 1 ^ (y & 1 ? 0x9908b0df : 0);
        y = state[i];
        y ^= y >> 11;
        y ^= y << 7 & 0x9d2c5680;
        y ^= y << 15 & 0xefc60000;
        out.words[i] = y ^ y >> 18;
    }
}

/* ---- All of them ---- */

/* Inputs and outputs of a kind for one CTA of `threads` threads. */
#define ONE_CTA(kind, threads, ins, outs)                                                          \
    .shape = {.grid = {1}, .block = {threads}}, .in = {kind, ins}, .out = {kind, outs}
#define FLOATS(ins, outs)   ONE_CTA(KIND_FLOATS, 256, ins, outs), .tolerance = 2e-4
#define INTEGERS(ins, outs) ONE_CTA(KIND_WORDS, 256, ins, outs)

const KernelTest SUITE_TESTS[] = {
    {.name = "layernorm", FLOATS(512, 512), .reference = layernorm},
    {.name = "softmax", FLOATS(512, 512), .reference = softmax},
    {.name = "cross_entropy", FLOATS(512, 8), .reference = cross_entropy},
    {.name = "gelu", FLOATS(1000, 1000), .reference = gelu},
    {.name = "attention", FLOATS(768, 256), .reference = attention},
    {.name = "jacobi", FLOATS(256, 256), .reference = jacobi},
    {.name = "conjugate_gradient", FLOATS(256, 256), .reference = conjugate_gradient},
    {.name = "lu_decomposition", FLOATS(256, 256), .reference = lu_decomposition},
    {.name = "triangular_solve", INTEGERS(300, 64), .reference = triangular_solve},
    {.name = "n_body", FLOATS(1024, 768), .reference = n_body},
    {.name = "option_prices", FLOATS(1000, 1000), .reference = option_prices},
    {.name = "hotspot", FLOATS(256, 256), .reference = hotspot},
    {.name = "srad", FLOATS(256, 256), .reference = srad},
    {.name = "fft", ONE_CTA(KIND_FLOATS, 128, 256, 256), .tolerance = 1e-3, .reference = fft},
    {.name = "hash_table", INTEGERS(500, 500), .reference = hash_table},
    {.name = "lock_free_list", INTEGERS(256, 2), .reference = lock_free_list},
    {.name = "histogram256",
     .shape = {.grid = {2}, .block = {256}},
     .in = {KIND_WORDS, 1000},
     .out = {KIND_WORDS, 256},
     .reference = histogram256},
    {.name = "floyd_warshall", INTEGERS(256, 256), .reference = floyd_warshall},
    {.name = "bfs_queue", INTEGERS(512, 256), .reference = bfs_queue},
    {.name = "pathfinder", INTEGERS(5000, 256), .reference = pathfinder},
    {.name = "needleman_wunsch", ONE_CTA(KIND_WORDS, 64, 150, 64), .reference = needleman_wunsch},
    {.name = "k_means", INTEGERS(256, 256), .reference = k_means},
    {.name = "mandelbrot", INTEGERS(16, 256), .reference = mandelbrot},
    {.name = "separable_convolution", INTEGERS(256, 256), .reference = separable_convolution},
    {.name = "sha256", ONE_CTA(KIND_WORDS, 64, 1024, 64), .reference = sha256},
    {.name = "mersenne_twister", INTEGERS(624, 624), .reference = mersenne_twister},
    {0},
};
