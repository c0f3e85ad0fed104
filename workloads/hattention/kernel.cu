/* Attention forward in the manner of FlashAttention-3 (J. Shah et al., 2024; the paper's text was
 * not available to us): O = softmax(Q K^T / sqrt(128)) V for heads of 128 halves per row. One
 * warpgroup (the producer) copies tiles of 128 rows by tensor maps, two others (the consumers) have
 * 64 queries each. Tiles of K and V pass through one ring, in the order in which the consumers need
 * them. O is floats.
 *
 * A consumer keeps its scores, weights and sums of O in registers. It requests the scores of the
 * next tile of keys and the sums with the last weights together, and takes the exponentials of the
 * former while the tensor cores compute the latter. The consumers take turns to request products,
 * so that the exponentials of one are computed during the products of the other.
 *
 * The largest score of a row so far, and with it the scale of the sums, is updated with each tile.
 * With `causal` a query sees the keys up to its own position. Tiles of keys are in descending
 * order, so that only the first one needs the mask. The thread blocks stay for all tiles of
 * queries, those with the most keys first. */
#include "tyto_device/hopper.h"

enum {
    WIDTH = 128, /* halves of a row of a head */
    TILE = 128,  /* rows: queries of a block, keys of a step */
    SLOTS = 4,   /* tiles of K and V in shared memory */
    CONSUMERS = 2,
    THREADS = (1 + CONSUMERS) * WARPGROUP,
    CONSUMER_ROWS = TILE / CONSUMERS,
    HALF_BYTES = TILE * SWIZZLE_BYTES, /* of 64 columns of a tile */
    TILE_BYTES = 2 * HALF_BYTES,
    BARRIERS_AT = (1 + SLOTS) * TILE_BYTES, /* after the tiles: queries first */
    BARRIER_BYTES = 8,
    TURNS = 1 + CONSUMERS, /* names of the barriers of turns: from here on */
    SUMS = 64              /* of a thread: 64 x 128 scores, or of O, in 128 threads */
};

/* log2(e) / sqrt(WIDTH): 2 to the power of a score times this is its exponential. */
static const float SCALE = 0.12751743f;
/* Below all scores, by more than the range of exponentials. */
static const float LOWEST = -1e30f;

struct Work {
    unsigned heads, tiles; /* of queries per head; as many of keys */
    bool is_causal;
};

/* The tiles of a thread block: number `index`, in the order of falling numbers of keys. */
static __device__ __forceinline__ unsigned head_of(const Work &work, unsigned index) {
    return index % work.heads;
}
static __device__ __forceinline__ unsigned query_of(const Work &work, unsigned index) {
    return work.tiles - 1 - index / work.heads;
}
static __device__ __forceinline__ unsigned keys_for(const Work &work, unsigned query) {
    return work.is_causal ? query + 1 : work.tiles;
}

static __device__ __forceinline__ unsigned slot_at(unsigned shared, unsigned slot) {
    return shared + (1 + slot) * TILE_BYTES;
}

/* Barriers: of slot 0 to SLOTS - 1, of the queries (SLOTS). */
static __device__ __forceinline__ unsigned full_at(unsigned shared, unsigned slot) {
    return shared + BARRIERS_AT + slot * BARRIER_BYTES;
}
static __device__ __forceinline__ unsigned empty_at(unsigned shared, unsigned slot) {
    return full_at(shared, SLOTS + 1 + slot);
}

/* ---- The producer ---- */

/* Copies the 128 rows from `row` on, when the place is free. */
static __device__ __forceinline__ void fetch_tile(unsigned shared, unsigned to,
                                                  const TensorMap &map, unsigned row, unsigned slot,
                                                  unsigned parity) {
    unsigned full = full_at(shared, slot);
    barrier_wait(empty_at(shared, slot), parity ^ 1);
    barrier_expect(full, TILE_BYTES);
    fetch(to, map, 0, row, full);
    fetch(to + HALF_BYTES, map, SWIZZLE_HALVES, row, full);
}

static __device__ __forceinline__ void fetch_next(unsigned shared, const TensorMap &map,
                                                  unsigned row, Ring<SLOTS> &ring) {
    fetch_tile(shared, slot_at(shared, ring.slot), map, row, ring.slot, ring.parity);
    ring.advance();
}

static __device__ __forceinline__ void produce(const TensorMap *maps, unsigned shared,
                                               const Work &work) {
    Ring<SLOTS> ring;
    Ring<1> queries;
    for (unsigned index = blockIdx.x; index < work.heads * work.tiles; index += gridDim.x) {
        unsigned query = query_of(work, index), keys = keys_for(work, query);
        unsigned first = head_of(work, index) * work.tiles;
        fetch_tile(shared, shared, maps[0], (first + query) * TILE, SLOTS, queries.parity);
        queries.advance();
        for (unsigned tile = keys; tile--;) {
            fetch_next(shared, maps[1], (first + tile) * TILE, ring);
            if (tile + 1 < keys) fetch_next(shared, maps[2], (first + tile + 1) * TILE, ring);
        }
        fetch_next(shared, maps[2], first * TILE, ring);
    }
}

/* ---- The consumers ---- */

#define SUM_NAMES                                                                                  \
    NAMES10() NAMES10(1) NAMES10(2) NAMES10(3) NAMES10(4) NAMES10(5) "%60, %61, %62, %63"

/* Adds the product of 64 x 16 and 16 x 128 halves to the scores, or sets them to it. */
static __device__ __forceinline__ void multiply_keys(float (&scores)[SUMS],
                                                     unsigned long long queries,
                                                     unsigned long long keys, unsigned adds) {
    asm volatile("{ .reg .pred adds;\n"
                 "setp.ne.b32 adds, %66, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {" SUM_NAMES
                 "}, %64, %65, adds, 1, 1, 0, 0; }"
                 : SUMS64(scores, 0)
                 : "l"(queries), "l"(keys), "r"(adds));
}

/* The same for O, with weights in registers, and V, which is transposed. */
static __device__ __forceinline__ void multiply_values(float (&sums)[SUMS], const unsigned *weights,
                                                       unsigned long long values, unsigned adds) {
    asm volatile("{ .reg .pred adds;\n"
                 "setp.ne.b32 adds, %69, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {" SUM_NAMES
                 "}, {%64, %65, %66, %67}, %68, adds, 1, 1, 1; }"
                 : SUMS64(sums, 0)
                 : "r"(weights[0]), "r"(weights[1]), "r"(weights[2]), "r"(weights[3]), "l"(values),
                   "r"(adds));
}

/* Waits until all groups of products have ended except the last one, or all. Then `sums` may be
 * read. */
static __device__ __forceinline__ void wait_but_one(float (&sums)[SUMS]) {
    asm volatile("wgmma.wait_group.sync.aligned 1;" : SUMS64(sums, 0) : : "memory");
}
static __device__ __forceinline__ void wait_all(float (&sums)[SUMS]) {
    asm volatile("wgmma.wait_group.sync.aligned 0;" : SUMS64(sums, 0) : : "memory");
}

/* The state of a consumer. Each thread has two rows: element i of the sums is of row i / 2 % 2. */
struct Consumer {
    unsigned shared, number;
    unsigned thread; /* of the warpgroup */
    Ring<SLOTS> ring;
    float most[2];  /* the largest score so far of each row */
    float total[2]; /* of this thread's weights in each row */
};

static __device__ __forceinline__ void release(const Consumer &c, unsigned slot) {
    if (c.thread == 0) barrier_arrive(empty_at(c.shared, slot));
}

/* Waits for the next tile of the ring. Returns its slot. */
static __device__ __forceinline__ unsigned take(Consumer &c) {
    unsigned slot = c.ring.slot;
    barrier_wait(full_at(c.shared, slot), c.ring.parity);
    c.ring.advance();
    return slot;
}

/* Requests the scores of the keys in a slot: four steps in each half of the rows. */
static __device__ __forceinline__ void request_scores(const Consumer &c, float (&scores)[SUMS],
                                                      unsigned slot) {
    unsigned queries = c.shared + c.number * CONSUMER_ROWS * SWIZZLE_BYTES;
    _Pragma("unroll") for (unsigned k = 0; k < WIDTH / 16; k++) {
        unsigned at = k / 4 * HALF_BYTES + k % 4 * 32;
        multiply_keys(scores, descriptor(queries + at), descriptor(slot_at(c.shared, slot) + at),
                      k);
    }
    products_commit();
}

/* Requests the sums of O with the values in a slot: 16 keys are 16 rows. */
static __device__ __forceinline__ void request_sums(const Consumer &c, float (&sums)[SUMS],
                                                    const unsigned (&weights)[SUMS / 2],
                                                    unsigned slot, bool adds) {
    _Pragma("unroll") for (unsigned k = 0; k < TILE / 16; k++) {
        unsigned at = slot_at(c.shared, slot) + k * 16 * SWIZZLE_BYTES;
        multiply_values(sums, weights + 4 * k, descriptor(at, HALF_BYTES), adds || k);
    }
    products_commit();
}

/* Scores of keys after the query count as minus infinity. Both tiles begin at the same position. */
static __device__ __forceinline__ void mask(const Consumer &c, float (&scores)[SUMS]) {
    unsigned row = c.number * CONSUMER_ROWS + c.thread / 32 * 16 + c.thread % 32 / 4;
    _Pragma("unroll") for (unsigned i = 0; i < SUMS; i++) {
        unsigned key = i / 4 * 8 + c.thread % 4 * 2 + i % 2;
        if (key > row + i / 2 % 2 * 8) scores[i] = LOWEST;
    }
}

static __device__ __forceinline__ float exponential(float x) {
    asm("ex2.approx.ftz.f32 %0, %0;" : "+f"(x));
    return x;
}

/* Replaces scores by weights: their exponentials relative to the largest score. `scales` are the
 * factors of older sums. */
static __device__ __forceinline__ void weigh(Consumer &c, float (&scores)[SUMS],
                                             float (&scales)[2]) {
    _Pragma("unroll") for (unsigned row = 0; row < 2; row++) {
        float most = c.most[row], total = 0;
        _Pragma("unroll") for (unsigned i = 0; i < SUMS; i += 4) most =
            fmaxf(most, fmaxf(scores[i + 2 * row], scores[i + 2 * row + 1]));
        most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, 1));
        most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, 2));
        scales[row] = exponential((c.most[row] - most) * SCALE);
        c.most[row] = most;
        _Pragma("unroll") for (unsigned i = 0; i < SUMS; i++) {
            if (i / 2 % 2 != row) continue;
            scores[i] = exponential(fmaf(scores[i], SCALE, -most * SCALE));
            total += scores[i];
        }
        c.total[row] = c.total[row] * scales[row] + total;
    }
}

static __device__ __forceinline__ void pack_weights(unsigned (&weights)[SUMS / 2],
                                                    const float (&scores)[SUMS]) {
    _Pragma("unroll") for (unsigned i = 0; i < SUMS / 2; i++) weights[i] =
        pack(scores[2 * i], scores[2 * i + 1]);
}

/* A consumer requests products in its turn, and then passes the turn to the other. */
static __device__ __forceinline__ void turn_wait(unsigned number) {
    asm volatile("bar.sync %0, 256;" ::"r"(TURNS + number) : "memory");
}
static __device__ __forceinline__ void turn_pass(unsigned number) {
    asm volatile("bar.arrive %0, 256;" ::"r"(TURNS + (number ^ 1)) : "memory");
}

/* Computes the rows of a consumer: all tiles of keys for its queries. */
static __device__ __forceinline__ void attend(Consumer &c, float (&sums)[SUMS], unsigned keys,
                                              bool is_causal) {
    float scores[SUMS], scales[2];
    unsigned weights[SUMS / 2];
    unsigned slot = take(c);
    turn_wait(c.number);
    products_begin();
    request_scores(c, scores, slot);
    turn_pass(c.number);
    wait_all(scores);
    release(c, slot);
    if (is_causal) mask(c, scores);
    weigh(c, scores, scales);
    pack_weights(weights, scores);
    for (unsigned tile = 1; tile < keys; tile++) {
        unsigned of_keys = take(c), of_values;
        turn_wait(c.number);
        products_begin();
        request_scores(c, scores, of_keys);
        of_values = take(c);
        request_sums(c, sums, weights, of_values, tile > 1);
        turn_pass(c.number);
        wait_but_one(scores);
        release(c, of_keys);
        weigh(c, scores, scales);
        wait_all(sums);
        release(c, of_values);
        _Pragma("unroll") for (unsigned i = 0; i < SUMS; i++) sums[i] *= scales[i / 2 % 2];
        pack_weights(weights, scores);
    }
    release(c, SLOTS); /* the queries */
    slot = take(c);
    products_begin();
    request_sums(c, sums, weights, slot, keys > 1);
    wait_all(sums);
    release(c, slot);
}

/* Stores the sums divided by the total weight of their row; four threads share a row. */
static __device__ __forceinline__ void store(const Consumer &c, const float (&sums)[SUMS],
                                             float *out) {
    float factors[2];
    _Pragma("unroll") for (unsigned row = 0; row < 2; row++) {
        float total = c.total[row] + __shfl_xor_sync(0xffffffff, c.total[row], 1);
        factors[row] = 1 / (total + __shfl_xor_sync(0xffffffff, total, 2));
    }
    out += (c.number * CONSUMER_ROWS + c.thread / 32 * 16 + c.thread % 32 / 4) * WIDTH;
    out += c.thread % 4 * 2;
    _Pragma("unroll") for (unsigned i = 0; i < SUMS; i += 2) {
        unsigned row = i / 2 % 2;
        asm volatile("st.global.v2.f32 [%0], {%1, %2};" ::"l"(out + row * 8 * WIDTH + i / 4 * 8),
                     "f"(sums[i] * factors[row]), "f"(sums[i + 1] * factors[row])
                     : "memory");
    }
}

static __device__ __forceinline__ void consume(unsigned shared, const Work &work, float *out) {
    Consumer c = {};
    Ring<1> queries;
    c.shared = shared;
    c.number = threadIdx.x / WARPGROUP - 1;
    c.thread = threadIdx.x % WARPGROUP;
    if (c.number) turn_pass(c.number); /* the first turn is that of number 0 */
    for (unsigned index = blockIdx.x; index < work.heads * work.tiles; index += gridDim.x) {
        unsigned query = query_of(work, index);
        float sums[SUMS];
        c.most[0] = c.most[1] = LOWEST;
        c.total[0] = c.total[1] = 0;
        barrier_wait(full_at(shared, SLOTS), queries.parity);
        queries.advance();
        attend(c, sums, keys_for(work, query), work.is_causal);
        store(c, sums, out + ((size_t)head_of(work, index) * work.tiles + query) * TILE * WIDTH);
    }
    if (c.number == 0) turn_wait(c.number); /* for the last pass of number 1 */
}

/* `maps` are those of Q, K and V, whose heads follow one another, as in `out`. `length` counts
 * queries, and as many keys. */
extern "C" __global__ void __launch_bounds__(THREADS, 1)
    attention(const TensorMap *maps, float *out, unsigned heads, unsigned length, unsigned causal) {
    extern __shared__ __attribute__((aligned(PATTERN_BYTES))) char memory[];
    unsigned shared = shared_address(memory);
    Work work = {heads, length / TILE, causal != 0};
    if (threadIdx.x == 0) {
        for (unsigned slot = 0; slot <= SLOTS; slot++) {
            barrier_init(full_at(shared, slot), 1);
            barrier_init(empty_at(shared, slot), CONSUMERS);
        }
        barrier_publish();
    }
    __syncthreads();
    if (threadIdx.x < WARPGROUP) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"((int)PRODUCER_REGISTERS));
        if (threadIdx.x == 0) produce(maps, shared, work);
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"((int)CONSUMER_REGISTERS));
        consume(shared, work, out);
    }
}

extern "C" __global__ void nothing() {}
