/* The kernels of Tyto's cuRAND. Generators: XORWOW (Marsaglia, Xorshift RNGs, 2003), MRG32k3a (L'Ecuyer
 * 1999), Philox4x32-10 (Salmon et al. 2011), Sobol (Joe and Kuo 2008). Distributions: numbers in (0, 1];
 * Box-Muller pairs, for Sobol the inverse of the normal distribution; Poisson by its cumulative
 * probabilities. */
#include <tyto_device.h>

#include "random_device.h"

#define TWO_TO_MINUS_32 2.3283064365386963e-10
#define TWO_TO_MINUS_53 1.1102230246251565e-16
#define TWO_PI          6.283185307179586

/* ---- Generators: next() gives 32 bits ---- */

struct Xorwow {
    unsigned v[5], d;
    __device__ unsigned next() {
        unsigned t = v[0] ^ (v[0] >> 2);
        v[0] = v[1], v[1] = v[2], v[2] = v[3], v[3] = v[4];
        v[4] = (v[4] ^ (v[4] << 4)) ^ (t ^ (t << 1));
        d += 362437;
        return v[4] + d;
    }
};

#define MRG_M1 4294967087ull
#define MRG_M2 4294944443ull

struct Mrg {
    unsigned s[6];
    /* 1 to MRG_M1 */
    __device__ unsigned raw() {
        unsigned long long p1 = (1403580ull * s[1] + 810728ull * (MRG_M1 - s[0])) % MRG_M1;
        unsigned long long p2 = (527612ull * s[5] + 1370589ull * (MRG_M2 - s[3])) % MRG_M2;
        s[0] = s[1], s[1] = s[2], s[2] = (unsigned)p1;
        s[3] = s[4], s[4] = s[5], s[5] = (unsigned)p2;
        return (unsigned)(p1 > p2 ? p1 - p2 : p1 + MRG_M1 - p2);
    }
    __device__ double fraction() { return raw() * 2.3283065498378288e-10; }
    __device__ unsigned next() { return (unsigned)(raw() * 1.000000048662); }
};

__device__ uint4 philox(unsigned long long counter, unsigned stream, const uint32_t key[2]) {
    unsigned c0 = (unsigned)counter, c1 = (unsigned)(counter >> 32), c2 = stream, c3 = 0, k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++) {
        unsigned high0 = __umulhi(0xD2511F53u, c0), low0 = 0xD2511F53u * c0;
        unsigned high1 = __umulhi(0xCD9E8D57u, c2), low1 = 0xCD9E8D57u * c2;
        c0 = high1 ^ c1 ^ k0, c1 = low1, c2 = high0 ^ c3 ^ k1, c3 = low0;
        k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
    }
    return make_uint4(c0, c1, c2, c3);
}

/* The words of a block, starting at one of them. */
struct Words {
    unsigned words[4];
    int at;
    __device__ unsigned next() { return words[at++ % 4]; }
};

/* ---- Initial states ---- */

__device__ unsigned global_index() { return blockIdx.x * blockDim.x + threadIdx.x; }

/* A jump is a matrix over GF(2): a row of five words for each bit that is set. */
extern "C" __global__ void seed_xorwow(const RandomSeed p) {
    unsigned stream = global_index();
    if (stream >= p.streams) return;
    unsigned v[5];
    for (int w = 0; w < 5; w++)
        v[w] = p.first[w];
    for (int jump = 0; jump < RANDOM_XORWOW_JUMPS; jump++) {
        if (!(stream >> jump & 1)) continue;
        const unsigned *rows = (const unsigned *)p.jumps + jump * RANDOM_XORWOW_BITS * 5;
        unsigned to[5] = {};
        for (int bit = 0; bit < RANDOM_XORWOW_BITS; bit++)
            for (int w = 0; w < 5; w++)
                if (v[bit / 32] >> bit % 32 & 1) to[w] ^= rows[bit * 5 + w];
        for (int w = 0; w < 5; w++)
            v[w] = to[w];
    }
    unsigned *state = (unsigned *)p.states + stream * RANDOM_STATE_WORDS;
    for (int w = 0; w < 5; w++)
        state[w] = v[w];
    state[5] = p.first[5]; /* after 2^67 numbers the counter wraps around */
}

/* Two matrices of 3 x 3 for each jump. */
extern "C" __global__ void seed_mrg(const RandomSeed p) {
    unsigned stream = global_index();
    if (stream >= p.streams) return;
    unsigned s[6];
    for (int w = 0; w < 6; w++)
        s[w] = p.first[w];
    for (int jump = 0; jump < RANDOM_MRG_JUMPS; jump++) {
        if (!(stream >> jump & 1)) continue;
        const unsigned *matrix = (const unsigned *)p.jumps + jump * 18;
        unsigned to[6];
        for (int row = 0; row < 6; row++) {
            unsigned long long modulus = row < 3 ? MRG_M1 : MRG_M2, sum = 0;
            for (int k = 0; k < 3; k++)
                sum = (sum + (unsigned long long)matrix[row * 3 + k] * s[row / 3 * 3 + k] % modulus) % modulus;
            to[row] = (unsigned)sum;
        }
        for (int w = 0; w < 6; w++)
            s[w] = to[w];
    }
    unsigned *state = (unsigned *)p.states + stream * RANDOM_STATE_WORDS;
    for (int w = 0; w < 6; w++)
        state[w] = s[w];
}

/* ---- Distributions ---- */

/* In (0, 1]. */
__device__ float uniform(unsigned x) { return x * (float)TWO_TO_MINUS_32 + (float)(TWO_TO_MINUS_32 / 2); }

__device__ double uniform_double(unsigned x, unsigned y) {
    unsigned long long z = (unsigned long long)x ^ (unsigned long long)y << 21;
    return z * TWO_TO_MINUS_53 + TWO_TO_MINUS_53 / 2;
}

template <class G> __device__ float draw_uniform(G &g) { return uniform(g.next()); }
__device__ float draw_uniform(Mrg &g) { return (float)g.fraction(); }
template <class G> __device__ double draw_double(G &g) {
    unsigned x = g.next();
    return uniform_double(x, g.next());
}
__device__ double draw_double(Mrg &g) { return g.fraction(); }

template <class G> __device__ float2 draw_normals(G &g) {
    float u = draw_uniform(g), v = draw_uniform(g) * (float)TWO_PI, r = sqrtf(-2.0f * logf(u));
    return make_float2(r * sinf(v), r * cosf(v));
}
template <class G> __device__ double2 draw_normals_double(G &g) {
    double u = draw_double(g), v = draw_double(g) * TWO_PI, r = sqrt(-2.0 * log(u));
    return make_double2(r * sin(v), r * cos(v));
}

/* The number with the first cumulative probability above u. */
__device__ unsigned poisson(const RandomFill &p, double u) {
    const double *cumulated = (const double *)p.table;
    unsigned low = 0, high = p.table_count - 1;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (cumulated[middle] < u) low = middle + 1;
        else high = middle;
    }
    return p.table_first + low;
}

__device__ unsigned poisson_of_normal(const RandomFill &p, double normal) {
    return (unsigned)(p.deviation * normal + p.mean + 0.5);
}

/* One item of the output: a number, or a pair of normal numbers. */
template <class G> __device__ void put(const RandomFill &p, unsigned long long i, G &g) {
    float2 pair;
    double2 pair_double;
    switch (p.shape) {
    case RANDOM_BITS: ((unsigned *)p.out)[i] = g.next(); break;
    case RANDOM_UNIFORM: ((float *)p.out)[i] = draw_uniform(g); break;
    case RANDOM_UNIFORM_DOUBLE: ((double *)p.out)[i] = draw_double(g); break;
    case RANDOM_NORMAL:
    case RANDOM_LOG_NORMAL:
        pair = draw_normals(g);
        pair.x = (float)p.mean + (float)p.deviation * pair.x;
        pair.y = (float)p.mean + (float)p.deviation * pair.y;
        if (p.shape == RANDOM_LOG_NORMAL) pair = make_float2(expf(pair.x), expf(pair.y));
        ((float2 *)p.out)[i] = pair;
        break;
    case RANDOM_NORMAL_DOUBLE:
    case RANDOM_LOG_NORMAL_DOUBLE:
        pair_double = draw_normals_double(g);
        pair_double.x = p.mean + p.deviation * pair_double.x;
        pair_double.y = p.mean + p.deviation * pair_double.y;
        if (p.shape == RANDOM_LOG_NORMAL_DOUBLE)
            pair_double = make_double2(exp(pair_double.x), exp(pair_double.y));
        ((double2 *)p.out)[i] = pair_double;
        break;
    case RANDOM_POISSON:
        if (p.table) ((unsigned *)p.out)[i] = poisson(p, (double)draw_uniform(g));
        else ((unsigned *)p.out)[i] = poisson_of_normal(p, (double)draw_normals(g).x);
        break;
    }
}

/* Each stream fills its own places in the output; one thread per stream. */
template <class G> __device__ void fill_streams(const RandomFill &p) {
    unsigned stream = global_index();
    if (stream >= p.streams) return;
    unsigned long long i = (stream + p.streams - p.start) % p.streams;
    if (i >= p.items) return;
    G g = ((const G *)p.states)[stream];
    for (; i < p.items; i += p.streams)
        put(p, i, g);
    ((G *)p.states)[stream] = g;
}

extern "C" __global__ void fill_xorwow(const RandomFill p) { fill_streams<Xorwow>(p); }
extern "C" __global__ void fill_mrg(const RandomFill p) { fill_streams<Mrg>(p); }

/* Four consecutive numbers come from one stream, the next four from the next stream. A number takes one word.
 * In double precision it takes two words, so four numbers take two blocks. In a normal pair, number n takes
 * its own half. */
extern "C" __global__ void fill_philox(const RandomFill p) {
    bool is_double = p.shape == RANDOM_UNIFORM_DOUBLE || p.shape == RANDOM_NORMAL_DOUBLE ||
                     p.shape == RANDOM_LOG_NORMAL_DOUBLE;
    unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
    for (; i < p.items; i += (unsigned long long)gridDim.x * blockDim.x) {
        unsigned long long n = p.position + i, four = n / 4, round = four / RANDOM_PHILOX_STREAMS;
        int part = (int)(n % 4);
        uint4 block = philox(is_double ? 2 * round + part / 2 : round, (unsigned)(four % RANDOM_PHILOX_STREAMS), p.key);
        Words g = {{block.x, block.y, block.z, block.w}, part};
        float2 pair;
        double2 pair_double;
        switch (p.shape) {
        case RANDOM_UNIFORM_DOUBLE:
            g.at = part % 2 * 2;
            ((double *)p.out)[i] = draw_double(g);
            break;
        case RANDOM_NORMAL:
        case RANDOM_LOG_NORMAL:
            g.at = part / 2 * 2;
            pair = draw_normals(g);
            pair.x = (float)p.mean + (float)p.deviation * (part % 2 ? pair.y : pair.x);
            ((float *)p.out)[i] = p.shape == RANDOM_NORMAL ? pair.x : expf(pair.x);
            break;
        case RANDOM_NORMAL_DOUBLE:
        case RANDOM_LOG_NORMAL_DOUBLE:
            g.at = 0;
            pair_double = draw_normals_double(g);
            pair_double.x = p.mean + p.deviation * (part % 2 ? pair_double.y : pair_double.x);
            ((double *)p.out)[i] = p.shape == RANDOM_NORMAL_DOUBLE ? pair_double.x : exp(pair_double.x);
            break;
        default: put(p, i, g);
        }
    }
}

/* ---- Sobol: a contiguous part of the output for each dimension ---- */

/* Winitzki's approximation of the inverse of erf, refined by Newton's method. */
__device__ double inverse_normal(double u) {
    double sign = u < 0.5 ? -1 : 1, p = u < 0.5 ? u : 1 - u; /* the tail */
    double t = sqrt(-2 * log(p));
    double x = t - (2.515517 + 0.802853 * t + 0.010328 * t * t) / (1 + 1.432788 * t + 0.189269 * t * t + 0.001308 * t * t * t);
    for (int step = 0; step < 4; step++)
        x += (0.5 * erfc(x * 0.7071067811865476) - p) * 2.5066282746310002 * exp(0.5 * x * x);
    return sign * x;
}

extern "C" __global__ void fill_sobol(const RandomFill p) {
    unsigned long long points = p.items / p.dimensions;
    unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
    for (; i < p.items; i += (unsigned long long)gridDim.x * blockDim.x) {
        unsigned dimension = (unsigned)(i / points);
        unsigned n = (unsigned)(i % points + p.position), gray = n ^ n >> 1;
        const unsigned *vectors = (const unsigned *)p.vectors + dimension * 33;
        unsigned x = vectors[32];
        for (int bit = 0; gray; bit++, gray >>= 1)
            if (gray & 1) x ^= vectors[bit];
        double u = x * TWO_TO_MINUS_32 + TWO_TO_MINUS_32 / 2, z = 0;
        if (p.shape >= RANDOM_NORMAL && !(p.shape == RANDOM_POISSON && p.table)) z = inverse_normal(u);
        double normal = p.mean + p.deviation * z;
        switch (p.shape) {
        case RANDOM_BITS: ((unsigned *)p.out)[i] = x; break;
        case RANDOM_UNIFORM: ((float *)p.out)[i] = uniform(x); break;
        case RANDOM_UNIFORM_DOUBLE: ((double *)p.out)[i] = x * TWO_TO_MINUS_32 + TWO_TO_MINUS_32; break;
        case RANDOM_NORMAL: ((float *)p.out)[i] = (float)normal; break;
        case RANDOM_LOG_NORMAL: ((float *)p.out)[i] = (float)exp(normal); break;
        case RANDOM_NORMAL_DOUBLE: ((double *)p.out)[i] = normal; break;
        case RANDOM_LOG_NORMAL_DOUBLE: ((double *)p.out)[i] = exp(normal); break;
        case RANDOM_POISSON: ((unsigned *)p.out)[i] = p.table ? poisson(p, u) : poisson_of_normal(p, z); break;
        }
    }
}
