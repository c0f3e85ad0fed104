/* Small programs of suites that count, search, hash and align, a kernel each; results are exact. A kernel runs in one
 * CTA of 256 threads unless it says otherwise. */
#include "kernel.h"

/* ---- Tables and lists that threads share ---- */

/* How often each number's key is there: open addressing, by compare and swap. */
extern "C" __global__ void hash_table(const unsigned *in, unsigned *out, unsigned n) {
    enum { SLOTS = 512, EMPTY = 0xffffffff };
    __shared__ unsigned keys[SLOTS], counts[SLOTS];
    for (unsigned i = threadIdx.x; i < SLOTS; i += blockDim.x) {
        keys[i] = EMPTY;
        counts[i] = 0;
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x) {
        unsigned key = in[i] % 200, slot = key * 2654435761u >> 23;
        for (;; slot = (slot + 1) % SLOTS) {
            unsigned before = atomicCAS(&keys[slot], EMPTY, key);
            if (before == EMPTY || before == key) break;
        }
        atomicAdd(&counts[slot], 1);
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x) {
        unsigned key = in[i] % 200, slot = key * 2654435761u >> 23;
        while (keys[slot] != key)
            slot = (slot + 1) % SLOTS;
        out[i] = counts[slot];
    }
}

/* All threads push onto one list without a lock, even ones pop. One thread sums the rest and the popped values. */
extern "C" __global__ void lock_free_list(const unsigned *in, unsigned *out, unsigned n) {
    enum { NONE = 0xffff };
    __shared__ unsigned head, next[256], popped;
    unsigned me = threadIdx.x;
    if (me == 0) {
        head = NONE;
        popped = 0;
    }
    __syncthreads();
    for (unsigned old = NONE;;) { /* the upper half counts changes, so that a node that came back is noticed */
        old = *(volatile unsigned *)&head;
        *(volatile unsigned *)&next[me] = old & 0xffff;
        __threadfence_block();
        if (atomicCAS(&head, old, ((old & 0xffff0000) + 0x10000) | me) == old) break;
    }
    __syncthreads();
    if (me % 2 == 0) {
        for (unsigned old;;) {
            old = *(volatile unsigned *)&head;
            unsigned after = *(volatile unsigned *)&next[old & 0xffff];
            if (atomicCAS(&head, old, ((old & 0xffff0000) + 0x10000) | after) == old) {
                atomicAdd(&popped, in[(old & 0xffff) % n]);
                break;
            }
        }
    }
    __syncthreads();
    if (me != 0) return;
    unsigned sum = 0, left = 0;
    for (unsigned node = head & 0xffff; node != NONE; node = next[node], left++)
        sum += in[node % n];
    out[0] = sum + popped;
    out[1] = left;
}

/* Bytes of all words: bins of the CTA, then of all. */
extern "C" __global__ void histogram256(const unsigned *in, unsigned *out, unsigned n) {
    __shared__ unsigned bins[256];
    bins[threadIdx.x] = 0;
    __syncthreads();
    for (unsigned i = global_index(); i < n; i += gridDim.x * blockDim.x)
        for (int byte = 0; byte < 4; byte++)
            atomicAdd(&bins[in[i] >> 8 * byte & 255], 1);
    __syncthreads();
    if (bins[threadIdx.x]) atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}

/* ---- Graphs ---- */

/* Shortest paths between all pairs of 16 nodes. */
extern "C" __global__ void floyd_warshall(const unsigned *in, unsigned *out, unsigned n) {
    __shared__ unsigned paths[16][16];
    unsigned i = threadIdx.x / 16, j = threadIdx.x % 16;
    paths[i][j] = i == j ? 0 : in[threadIdx.x % n] % 100 + 1;
    __syncthreads();
    for (unsigned k = 0; k < 16; k++) {
        unsigned by = paths[i][k] + paths[k][j];
        __syncthreads();
        if (by < paths[i][j]) paths[i][j] = by;
        __syncthreads();
    }
    out[threadIdx.x] = paths[i][j];
}

/* Distances from node 0 in a graph of 256 nodes with two edges out of each: a queue of nodes for each level. */
extern "C" __global__ void bfs_queue(const unsigned *in, unsigned *out, unsigned n) {
    __shared__ unsigned level[256], queue[2][256], count[2];
    unsigned me = threadIdx.x;
    level[me] = me ? 0xffffffff : 0;
    if (me == 0) {
        queue[0][0] = 0;
        count[0] = 1;
        count[1] = 0;
    }
    __syncthreads();
    for (unsigned step = 0; count[step % 2]; step++) {
        unsigned from = step % 2, to = 1 - from;
        if (me < count[from]) {
            unsigned node = queue[from][me];
            for (unsigned edge = 0; edge < 2; edge++) {
                unsigned other = in[(2 * node + edge) % n] % 256;
                if (atomicCAS(&level[other], 0xffffffff, step + 1) == 0xffffffff)
                    queue[to][atomicAdd(&count[to], 1)] = other;
            }
        }
        __syncthreads();
        if (me == 0) count[from] = 0;
        __syncthreads();
    }
    out[me] = level[me];
}

/* ---- Dynamic programming ---- */

/* The cheapest ways down a grid of 20 rows of 256. */
extern "C" __global__ void pathfinder(const unsigned *in, unsigned *out, unsigned n) {
    __shared__ unsigned cost[2][256];
    unsigned me = threadIdx.x;
    cost[0][me] = in[me % n] % 10;
    __syncthreads();
    for (unsigned row = 1; row < 20; row++) {
        const unsigned *above = cost[(row + 1) % 2];
        unsigned best = above[me];
        if (me && above[me - 1] < best) best = above[me - 1];
        if (me < 255 && above[me + 1] < best) best = above[me + 1];
        cost[row % 2][me] = best + in[(row * 256 + me) % n] % 10;
        __syncthreads();
    }
    out[me] = cost[1][me];
}

/* Aligns two words of 64 letters: the last row of the scores, by 64 threads, a diagonal at a time. */
extern "C" __global__ void needleman_wunsch(const unsigned *in, unsigned *out, unsigned n) {
    enum { LENGTH = 64, GAP = -2 };
    __shared__ int score[LENGTH + 1][LENGTH + 1];
    int me = (int)threadIdx.x + 1;
    score[me][0] = GAP * me;
    score[0][me] = GAP * me;
    if (me == 1) score[0][0] = 0;
    __syncthreads();
    for (int diagonal = 2; diagonal <= 2 * LENGTH; diagonal++) {
        int i = me, j = diagonal - me;
        if (j >= 1 && j <= LENGTH) {
            int match = in[i % n] % 4 == in[(LENGTH + j) % n] % 4 ? 3 : -1;
            int best = score[i - 1][j - 1] + match;
            best = max(best, score[i - 1][j] + GAP);
            score[i][j] = max(best, score[i][j - 1] + GAP);
        }
        __syncthreads();
    }
    out[me - 1] = (unsigned)score[LENGTH][me];
}

/* ---- Clusters and images ---- */

/* Four clusters of 256 points with whole coordinates: 6 rounds; then each point's cluster. */
extern "C" __global__ void k_means(const unsigned *in, unsigned *out, unsigned n) {
    __shared__ int centre[4][2], sum[4][2], count[4];
    unsigned me = threadIdx.x;
    int x = (int)(in[me % n] & 1023), y = (int)(in[me % n] >> 16 & 1023), mine = 0;
    if (me < 4) {
        centre[me][0] = x;
        centre[me][1] = y;
    }
    for (int round = 0; round < 6; round++) {
        if (me < 4) sum[me][0] = sum[me][1] = count[me] = 0;
        __syncthreads();
        int nearest = 0x7fffffff;
        for (int c = 0; c < 4; c++) {
            int dx = x - centre[c][0], dy = y - centre[c][1], distance = dx * dx + dy * dy;
            if (distance < nearest) {
                nearest = distance;
                mine = c;
            }
        }
        atomicAdd(&sum[mine][0], x);
        atomicAdd(&sum[mine][1], y);
        atomicAdd(&count[mine], 1);
        __syncthreads();
        if (me < 4 && count[me]) {
            centre[me][0] = sum[me][0] / count[me];
            centre[me][1] = sum[me][1] / count[me];
        }
        __syncthreads();
    }
    out[me] = (unsigned)mine;
}

/* Iterations of 16 x 16 points, in fixed point. */
extern "C" __global__ void mandelbrot(const unsigned *in, unsigned *out, unsigned n) {
    int cx = (int)(threadIdx.x % 16) * 12288 - 131072, cy = (int)(threadIdx.x / 16) * 8192 - 61440 + (int)(in[0] % 64);
    long long x = 0, y = 0;
    unsigned steps = 0;
    while (steps < 200 && (x * x + y * y) >> 16 < 4 * 65536) {
        long long next = ((x * x - y * y) >> 16) + cx;
        y = ((2 * x * y) >> 16) + cy;
        x = next;
        steps++;
    }
    out[threadIdx.x] = steps + (n == 0);
}

/* Rows, then columns, of 16 x 16 with weights 1 4 6 4 1; beyond the edge is nothing. */
extern "C" __global__ void separable_convolution(const unsigned *in, unsigned *out, unsigned n) {
    __shared__ unsigned image[16][20], rows[20][16];
    const unsigned weights[5] = {1, 4, 6, 4, 1};
    unsigned i = threadIdx.x / 16, j = threadIdx.x % 16;
    image[i][j + 2] = in[threadIdx.x % n];
    if (j < 2) image[i][j] = image[i][j + 18] = 0;
    if (i < 2) rows[i][j] = rows[i + 18][j] = 0;
    __syncthreads();
    unsigned sum = 0;
    for (unsigned k = 0; k < 5; k++)
        sum += weights[k] * image[i][j + k];
    rows[i + 2][j] = sum;
    __syncthreads();
    sum = 0;
    for (unsigned k = 0; k < 5; k++)
        sum += weights[k] * rows[i + k][j];
    out[threadIdx.x] = sum;
}

/* ---- Hashes and random numbers ---- */

static __device__ __constant__ unsigned sha_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01,
    0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc,
    0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08,
    0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static __device__ unsigned turn(unsigned x, int bits) { return x >> bits | x << (32 - bits); }

/* SHA-256's compression of a block of 16 words for each of 64 threads; the first word of the digest. */
extern "C" __global__ void sha256(const unsigned *in, unsigned *out, unsigned n) {
    unsigned w[16], h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    unsigned first = h[0];
    for (unsigned i = 0; i < 16; i++)
        w[i] = in[(threadIdx.x * 16 + i) % n];
    for (unsigned t = 0; t < 64; t++) {
        if (t >= 16) {
            unsigned a = w[(t + 1) % 16], b = w[(t + 14) % 16];
            w[t % 16] += (turn(a, 7) ^ turn(a, 18) ^ a >> 3) + w[(t + 9) % 16] + (turn(b, 17) ^ turn(b, 19) ^ b >> 10);
        }
        unsigned t1 = h[7] + (turn(h[4], 6) ^ turn(h[4], 11) ^ turn(h[4], 25)) + ((h[4] & h[5]) ^ (~h[4] & h[6])) +
                      sha_constants[t] + w[t % 16];
        unsigned t2 = (turn(h[0], 2) ^ turn(h[0], 13) ^ turn(h[0], 22)) + ((h[0] & h[1]) ^ (h[0] & h[2]) ^ (h[1] & h[2]));
        for (int i = 7; i > 0; i--)
            h[i] = h[i - 1];
        h[4] += t1;
        h[0] = t1 + t2;
    }
    out[threadIdx.x] = first + h[0];
}

/* The 624 numbers that MT19937 gives next for the state that is `in`: 227 words have all they need at a time. */
extern "C" __global__ void mersenne_twister(const unsigned *in, unsigned *out, unsigned n) {
    enum { N = 624, M = 397 };
    __shared__ unsigned state[N];
    for (unsigned i = threadIdx.x; i < N; i += blockDim.x)
        state[i] = in[i % n];
    __syncthreads();
    for (unsigned first = 0; first < N; first += N - M) {
        unsigned i = first + threadIdx.x;
        bool is_mine = threadIdx.x < N - M && i < N;
        unsigned y = 0, far = 0;
        if (is_mine) {
            y = (state[i] & 0x80000000) | (state[(i + 1) % N] & 0x7fffffff);
            far = state[(i + M) % N];
        }
        __syncthreads();
        if (is_mine) state[i] = far ^ y >> 1 ^ (y & 1 ? 0x9908b0df : 0);
        __syncthreads();
    }
    for (unsigned i = threadIdx.x; i < N; i += blockDim.x) {
        unsigned y = state[i];
        y ^= y >> 11;
        y ^= y << 7 & 0x9d2c5680;
        y ^= y << 15 & 0xefc60000;
        out[i] = y ^ y >> 18;
    }
}
