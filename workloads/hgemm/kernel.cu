/* C = A B of halves on the tensor cores of compute capability 9.0, in the style of CUTLASS 3: one
 * warpgroup (the producer) copies tiles of A and B into shared memory by tensor maps, two others
 * (the consumers) multiply them by wgmma. Barriers hand the stages of a ring over. A is stored by
 * rows, B by columns, both of `depth` halves; sums are floats, and C is halves stored by rows.
 *
 * The thread blocks stay for all tiles of C. The tiles of a block are 128 x 256; each consumer has
 * 64 rows, and 128 sums per thread. While the consumers store the sums, the producer already fills
 * the ring for the next tile. Consumers write halves to shared memory, from where tensor maps store
 * them.
 *
 * Blocks of a cluster copy for each other. In clusters of two, the blocks have tiles below each
 * other, which need the same part of B; each copies half of it into both. In clusters of four there
 * are two such columns, and blocks with the same rows share A likewise. A stage is free when the
 * consumers of the whole cluster have read it. */
#include "tyto_device/hopper.h"

enum {
    ROWS = 128, /* of a tile of C */
    COLUMNS = 256,
    DEPTH = SWIZZLE_HALVES, /* of a stage: four steps of wgmma */
    STAGES = 4,
    CONSUMERS = 2,
    THREADS = (1 + CONSUMERS) * WARPGROUP,
    CONSUMER_ROWS = ROWS / CONSUMERS,
    A_BYTES = ROWS * SWIZZLE_BYTES,
    B_BYTES = COLUMNS * SWIZZLE_BYTES, /* both are copied by halves */
    STAGE_BYTES = A_BYTES + B_BYTES,
    STORE_BYTES = CONSUMER_ROWS * SWIZZLE_BYTES, /* of a copy of C */
    STORES = 2,                                  /* that a consumer has room for at a time */
    PLACE_BYTES = STORES * STORE_BYTES,          /* of a consumer, after the stages */
    BARRIERS_AT = STAGES * STAGE_BYTES + CONSUMERS * PLACE_BYTES,
    BARRIER_BYTES = 8,
    SUMS = COLUMNS / 2 /* per thread */
};

/* The tiles of a thread block, one of each of its cluster's groups: each `step`th group from
 * `first` on, down the columns of groups. A group has `high` x `wide` tiles. */
struct Tiles {
    unsigned first, step, count; /* of groups */
    unsigned rows;               /* groups in a column of groups */
    unsigned steps;              /* stages per tile */
    unsigned high, wide;
    unsigned row, column; /* of this block's tile in a group */
};

static __device__ __forceinline__ unsigned row_of(const Tiles &tiles, unsigned group) {
    return (group % tiles.rows * tiles.high + tiles.row) * ROWS;
}

static __device__ __forceinline__ unsigned column_of(const Tiles &tiles, unsigned group) {
    return (group / tiles.rows * tiles.wide + tiles.column) * COLUMNS;
}

/* For a matrix of `rows` x `columns` tiles. */
static __device__ __forceinline__ Tiles tiles_of(unsigned rows, unsigned columns, unsigned depth) {
    unsigned size = cluster_size(), rank = cluster_rank();
    unsigned high = size > 1 ? 2 : 1, wide = size > 2 ? 2 : 1;
    Tiles tiles = {blockIdx.x / size,
                   gridDim.x / size,
                   rows / high * (columns / wide),
                   rows / high,
                   depth / DEPTH,
                   high,
                   wide,
                   rank % high,
                   rank / high};
    return tiles;
}

static __device__ __forceinline__ unsigned full_at(unsigned shared, unsigned slot) {
    return shared + BARRIERS_AT + slot * BARRIER_BYTES;
}

static __device__ __forceinline__ unsigned empty_at(unsigned shared, unsigned slot) {
    return full_at(shared, STAGES + slot);
}

/* ---- The producer ---- */

/* Copies a tile of `2 * rows` rows: half of it, for the blocks of `ranks`, if there are two of
 * them, which copy half `part` each; else all of it. */
static __device__ __forceinline__ void fetch_halves(unsigned to, const TensorMap &map, unsigned k,
                                                    unsigned row, unsigned rows, unsigned full,
                                                    bool is_shared, unsigned part, unsigned ranks) {
    unsigned half_bytes = rows * SWIZZLE_BYTES;
    if (is_shared) {
        fetch_for(to + part * half_bytes, map, k, row + part * rows, full, (unsigned short)ranks);
    } else {
        fetch(to, map, k, row, full);
        fetch(to + half_bytes, map, k, row + rows, full);
    }
}

static __device__ __forceinline__ void produce(const TensorMap &a, const TensorMap &b,
                                               unsigned shared, const Tiles &tiles) {
    Ring<STAGES> ring;
    unsigned with_a = 5 << tiles.row, with_b = 3 << 2 * tiles.column; /* blocks of the cluster */
    for (unsigned group = tiles.first; group < tiles.count; group += tiles.step) {
        unsigned row = row_of(tiles, group), column = column_of(tiles, group);
        for (unsigned step = 0; step < tiles.steps; step++, ring.advance()) {
            unsigned stage = shared + ring.slot * STAGE_BYTES, full = full_at(shared, ring.slot);
            barrier_wait(empty_at(shared, ring.slot), ring.parity ^ 1);
            barrier_expect(full, STAGE_BYTES);
            fetch_halves(stage, a, step * DEPTH, row, ROWS / 2, full, tiles.wide > 1, tiles.column,
                         with_a);
            fetch_halves(stage + A_BYTES, b, step * DEPTH, column, COLUMNS / 2, full,
                         tiles.high > 1, tiles.row, with_b);
        }
    }
}

/* ---- The consumers ---- */

#define SUM_NAMES                                                                                  \
    NAMES10()                                                                                      \
    NAMES10(1)                                                                                     \
    NAMES10(2)                                                                                     \
    NAMES10(3)                                                                                     \
    NAMES10(4)                                                                                     \
    NAMES10(5) NAMES10(6) NAMES10(7) NAMES10(8) NAMES10(9) NAMES10(10) NAMES10(11) NAMES8(12)

/* Adds the product of 64 x 16 and 16 x 256 halves to the sums, or sets them to it. */
static __device__ __forceinline__ void multiply(float (&sums)[SUMS], unsigned long long a,
                                                unsigned long long b, unsigned adds) {
    asm volatile("{ .reg .pred adds;\n"
                 "setp.ne.b32 adds, %130, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {" SUM_NAMES
                 "}, %128, %129, adds, 1, 1, 0, 0; }"
                 : SUMS64(sums, 0), SUMS64(sums, 64)
                 : "l"(a), "l"(b), "r"(adds));
}

/* Waits for all products; the sums may be read afterwards. */
static __device__ __forceinline__ void wait_sums(float (&sums)[SUMS]) {
    asm volatile("wgmma.wait_group.sync.aligned 0;"
                 : SUMS64(sums, 0), SUMS64(sums, 64)
                 :
                 : "memory");
}

/* Tells the producers of the cluster that this consumer has read a stage. */
static __device__ __forceinline__ void release(unsigned shared, unsigned slot) {
    unsigned thread = threadIdx.x % WARPGROUP;
    if (thread < cluster_size()) barrier_arrive_at(empty_at(shared, slot), thread);
}

/* Multiplies the stages of a tile. A stage is given back when its products have ended, which is
 * while the first product of the next stage is under way. */
static __device__ __forceinline__ void sum_up(float (&sums)[SUMS], unsigned shared,
                                              unsigned consumer, Ring<STAGES> &ring,
                                              unsigned steps) {
    unsigned previous = 0;
    for (unsigned step = 0; step < steps; step++, ring.advance()) {
        unsigned stage = shared + ring.slot * STAGE_BYTES;
        unsigned long long a = descriptor(stage + consumer * CONSUMER_ROWS * SWIZZLE_BYTES);
        unsigned long long b = descriptor(stage + A_BYTES);
        barrier_wait(full_at(shared, ring.slot), ring.parity);
        products_begin();
        multiply(sums, a, b, step);
        products_commit();
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
        if (step) release(shared, previous);
        _Pragma("unroll") for (unsigned k = 1; k < DEPTH / 16; k++) /* 32 bytes along the rows */
            multiply(sums, a + 2 * k, b + 2 * k, 1);
        products_commit();
        previous = ring.slot;
    }
    wait_sums(sums);
    release(shared, previous);
}

static __device__ __forceinline__ void store4(unsigned to, unsigned a, unsigned b, unsigned c,
                                              unsigned d) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to),
                 "r"(a), "r"(b), "r"(c), "r"(d)
                 : "memory");
}

/* Writes 16 columns of a consumer's rows to `place` as halves: the sums from `from` on, and columns
 * from 16 `i` on. */
static __device__ __forceinline__ void stage_columns(unsigned place, const float *from,
                                                     unsigned i) {
    unsigned thread = threadIdx.x % WARPGROUP, lane = thread % 32;
    unsigned line = thread / 32 * 16 + lane % 16, chunk = i % 4 * 2 + lane / 16;
    store4(place + i / 4 * STORE_BYTES + line * SWIZZLE_BYTES + ((chunk ^ (line & 7)) << 4),
           pack(from[0], from[1]), pack(from[2], from[3]), pack(from[4], from[5]),
           pack(from[6], from[7]));
}

/* Stores a consumer's rows as halves, by way of `place` in shared memory. */
static __device__ __forceinline__ void store(const TensorMap &c, const float (&sums)[SUMS],
                                             unsigned place, unsigned row, unsigned column) {
    unsigned consumer = threadIdx.x / WARPGROUP;
    bool is_first = threadIdx.x % WARPGROUP == 0;
    _Pragma("unroll") for (unsigned at = 0; at < COLUMNS; at += STORES * SWIZZLE_HALVES) {
        if (is_first) store_wait_read(); /* the previous stores have read `place` */
        warpgroup_meet(consumer);
        _Pragma("unroll") for (unsigned i = 0; i < STORES * SWIZZLE_HALVES / 16; i++)
            stage_columns(place, sums + at / 2 + 8 * i, i);
        publish_shared();
        warpgroup_meet(consumer);
        if (!is_first) continue;
        for (unsigned i = 0; i < STORES; i++)
            store_box(c, column + at + i * SWIZZLE_HALVES, row, place + i * STORE_BYTES);
        store_commit();
    }
}

static __device__ __forceinline__ void consume(const TensorMap &c, unsigned shared,
                                               const Tiles &tiles) {
    unsigned consumer = threadIdx.x / WARPGROUP - 1;
    unsigned place = shared + STAGES * STAGE_BYTES + consumer * PLACE_BYTES;
    Ring<STAGES> ring;
    for (unsigned group = tiles.first; group < tiles.count; group += tiles.step) {
        float sums[SUMS];
        sum_up(sums, shared, consumer, ring, tiles.steps);
        store(c, sums, place, row_of(tiles, group) + consumer * CONSUMER_ROWS,
              column_of(tiles, group));
    }
    if (threadIdx.x % WARPGROUP == 0) store_wait();
}

/* `maps` are those of A, B and C; `rows` and `columns` count tiles. */
extern "C" __global__ void __launch_bounds__(THREADS, 1)
    gemm(const TensorMap *maps, unsigned rows, unsigned columns, unsigned depth) {
    extern __shared__ __attribute__((aligned(PATTERN_BYTES))) char memory[];
    unsigned shared = shared_address(memory), size = cluster_size();
    Tiles tiles = tiles_of(rows, columns, depth);
    if (threadIdx.x == 0) {
        for (unsigned slot = 0; slot < STAGES; slot++) {
            barrier_init(full_at(shared, slot), 1);
            barrier_init(empty_at(shared, slot), CONSUMERS * size);
        }
        barrier_publish();
    }
    __syncthreads();
    cluster_meet();
    if (threadIdx.x < WARPGROUP) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"((int)PRODUCER_REGISTERS));
        if (threadIdx.x == 0) produce(maps[0], maps[1], shared, tiles);
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"((int)CONSUMER_REGISTERS));
        consume(maps[2], shared, tiles);
    }
    cluster_meet(); /* the other block may still write to this one's shared memory */
}

extern "C" __global__ void nothing() {}
