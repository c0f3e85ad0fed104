/* Products of matrices of halves, bfloat16 or 8-bit floats on the tensor cores of compute capability 9.0. One warpgroup (the
 * producer) copies tiles into shared memory by tensor maps, two others (the consumers) multiply them by wgmma. The
 * thread blocks stay for all tiles of the result.
 *
 * The result is seen as lines: its columns if it is stored by columns, else its rows. The elements of a line are
 * adjacent in memory. An operand has either the lines or the elements along a line; the other dimension is the depth
 * that is summed. A tile of the result has 128 lines, 64 for each consumer, of 128 or 256 elements.
 *
 * A cluster has a rectangle of tiles, at most two in each direction. Two blocks with the same lines, or the same
 * elements along them, each copy half of these into both. */
#include "tyto_device/hopper.h"

#include "blas_finish.cuh"
#ifdef TENSOR_FP8
#include "blas_fp8.cuh"
#endif

enum {
    LINES = BLAS_TENSOR_LINES,
    CONSUMERS = 2,
    CONSUMER_LINES = LINES / CONSUMERS, /* those of wgmma */
    STEPS = SWIZZLE_BYTES / 32,         /* of wgmma in a stage */
    BOX_BYTES = 64 * SWIZZLE_BYTES,     /* of a copy: 64 lines, or elements along them, with their depth in a stage */
    PIECE = 64,                         /* elements of a line that are staged at a time */
    PIECE_STRIDE = PIECE + 4,           /* in floats; with more there is no room for four wide stages */
    PLACE_BYTES = CONSUMER_LINES * PIECE_STRIDE * 4, /* of a consumer */
    ROOM = BLAS_TENSOR_SHARED - CONSUMERS * PLACE_BYTES - BLAS_TENSOR_BARRIERS
};

/* How a kernel's tiles lie in shared memory. WIDTH: elements of a line. */
template <int WIDTH> struct Layout {
    static const unsigned lines_bytes = LINES * SWIZZLE_BYTES, stage_bytes = lines_bytes + WIDTH * SWIZZLE_BYTES,
                          stages = ROOM / stage_bytes, boxes = WIDTH / 64, sums = WIDTH / 2 /* of a thread */;
};

/* The depth of a stage. */
template <class In> struct Depth {
    static const unsigned of_stage = SWIZZLE_BYTES / sizeof(In);
};

/* The tiles of a thread block: its cluster's groups of tiles are each `step`th from `first` on. A group has one tile
 * for each block. */
struct Tiles {
    unsigned first, step, count; /* of groups */
    unsigned rows, columns;      /* of groups, in the direction of lines and along them */
    unsigned high, wide;         /* tiles of a group in these directions */
    unsigned row, column;        /* of this block's tile in a group */
    unsigned stages;             /* for each tile */
};

/* Where a tile begins. */
struct Place {
    unsigned line, along, batch;
};

static __device__ __forceinline__ unsigned parts(unsigned count, unsigned size) { return (count + size - 1) / size; }
static __device__ __forceinline__ unsigned at_most(unsigned count, unsigned most) { return count < most ? count : most; }

static __device__ __forceinline__ Tiles tiles_of(const BlasTensor &p, unsigned width, unsigned depth) {
    unsigned high = p.cluster_high, wide = p.cluster_wide, rank = cluster_rank();
    unsigned rows = parts(p.is_by_row ? p.product.m : p.product.n, LINES * high);
    unsigned columns = parts(p.is_by_row ? p.product.n : p.product.m, width * wide);
    return {blockIdx.x / (high * wide),
            gridDim.x / (high * wide),
            rows * columns * p.batches,
            rows,
            columns,
            high,
            wide,
            rank % high,
            rank / high,
            parts(p.product.k, depth)};
}

static __device__ __forceinline__ Place place_of(const Tiles &tiles, unsigned group, unsigned width) {
    unsigned column = group / tiles.rows;
    return {(group % tiles.rows * tiles.high + tiles.row) * LINES,
            (column % tiles.columns * tiles.wide + tiles.column) * width, column / tiles.columns};
}

static __device__ __forceinline__ unsigned full_at(unsigned barriers, unsigned slot) { return barriers + slot * 8; }
static __device__ __forceinline__ unsigned empty_at(unsigned barriers, unsigned slot) {
    return barriers + BLAS_TENSOR_BARRIERS / 2 + slot * 8;
}

/* ---- The producer ---- */

/* Copies `boxes` x 64 elements with their depth. If another block of the cluster needs them, this is `part` of two, and
 * `ranks` are both blocks. */
template <bool by_depth>
static __device__ __forceinline__ void fetch_part(unsigned to, const TensorMap &map, unsigned at, unsigned depth,
                                                  unsigned batch, unsigned full, unsigned boxes, unsigned blocks,
                                                  unsigned part, unsigned ranks) {
    const unsigned own = boxes / blocks;
    for (unsigned box = part * own; box < part * own + own; box++) {
        unsigned x = by_depth ? depth : at + box * 64, y = by_depth ? at + box * 64 : depth;
        if (blocks > 1) fetch_at_for(to + box * BOX_BYTES, map, x, y, batch, full, (unsigned short)ranks);
        else fetch_at(to + box * BOX_BYTES, map, x, y, batch, full);
    }
}

template <class In, bool lines_by_depth, bool along_by_depth, int WIDTH>
static __device__ __forceinline__ void produce(const TensorMap *maps, unsigned shared, unsigned barriers,
                                               const Tiles &tiles) {
    typedef Layout<WIDTH> L;
    const unsigned depth = Depth<In>::of_stage;
    Ring<L::stages> ring;
    const unsigned with_lines = (1 | 1 << tiles.high) << tiles.row, with_along = 3 << tiles.high * tiles.column;
    for (unsigned group = tiles.first; group < tiles.count; group += tiles.step) {
        const Place place = place_of(tiles, group, WIDTH);
        for (unsigned step = 0; step < tiles.stages; step++, ring.advance()) {
            unsigned stage = shared + ring.slot * L::stage_bytes, full = full_at(barriers, ring.slot);
            barrier_wait(empty_at(barriers, ring.slot), ring.parity ^ 1);
            barrier_expect(full, L::stage_bytes);
            fetch_part<lines_by_depth>(stage, maps[0], place.line, step * depth, place.batch, full, LINES / 64,
                                       tiles.wide, tiles.column, with_lines);
            fetch_part<along_by_depth>(stage + L::lines_bytes, maps[1], place.along, step * depth, place.batch, full,
                                       L::boxes, tiles.high, tiles.row, with_along);
        }
    }
}

/* ---- The consumers ---- */

#define NAMES60 NAMES10() NAMES10(1) NAMES10(2) NAMES10(3) NAMES10(4) NAMES10(5)
#define NAMES64 NAMES60 "%60, %61, %62, %63"
#define NAMES128                                                                                              \
    NAMES60 NAMES10(6) NAMES10(7) NAMES10(8) NAMES10(9) NAMES10(10) NAMES10(11) NAMES8(12)

/* Adds the product of 64 lines and 128 (or 256) elements along them to the sums, or sets them to it, for 32 bytes of the
 * depth. Operands that are not by depth are transposed. */
template <class In, bool lines_by_depth, bool along_by_depth> struct Multiply;

/* `form`: the depth and types; `transposed`: two more operands, for halves. */
#define MULTIPLY(In, form, lines_by_depth, along_by_depth, transposed)                                        \
    template <> struct Multiply<In, lines_by_depth, along_by_depth> {                                         \
        static __device__ __forceinline__ void add(float (&sums)[64], unsigned long long a,                   \
                                                   unsigned long long b, unsigned adds) {                     \
            asm volatile("{ .reg .pred adds;\n"                                                               \
                         "setp.ne.b32 adds, %66, 0;\n"                                                        \
                         "wgmma.mma_async.sync.aligned.m64n128" form " {" NAMES64            \
                         "}, %64, %65, adds, 1, 1" transposed "; }"                                         \
                         : SUMS64(sums, 0)                                                                    \
                         : "l"(a), "l"(b), "r"(adds));                                                        \
        }                                                                                                     \
        static __device__ __forceinline__ void add(float (&sums)[128], unsigned long long a,                  \
                                                   unsigned long long b, unsigned adds) {                     \
            asm volatile("{ .reg .pred adds;\n"                                                               \
                         "setp.ne.b32 adds, %130, 0;\n"                                                       \
                         "wgmma.mma_async.sync.aligned.m64n256" form " {" NAMES128           \
                         "}, %128, %129, adds, 1, 1" transposed "; }"                                       \
                         : SUMS64(sums, 0), SUMS64(sums, 64)                                                  \
                         : "l"(a), "l"(b), "r"(adds));                                                        \
        }                                                                                                     \
    };
#ifdef TENSOR_FP8
MULTIPLY(BothE4M3, "k32.f32.e4m3.e4m3", true, true, "")
MULTIPLY(E4M3E5M2, "k32.f32.e4m3.e5m2", true, true, "")
MULTIPLY(E5M2E4M3, "k32.f32.e5m2.e4m3", true, true, "")
#else
#define MULTIPLIES(In, form)                                                                                  \
    MULTIPLY(In, form, true, true, ", 0, 0")                                                                  \
    MULTIPLY(In, form, true, false, ", 0, 1")                                                                 \
    MULTIPLY(In, form, false, true, ", 1, 0")                                                                 \
    MULTIPLY(In, form, false, false, ", 1, 1")
MULTIPLIES(F16, "k16.f32.f16.f16")
MULTIPLIES(BF16, "k16.f32.bf16.bf16")
#endif

/* Waits until at most `left` of the last groups of products are under way. */
template <unsigned left> static __device__ __forceinline__ void wait_products(float (&sums)[64]) {
    asm volatile("wgmma.wait_group.sync.aligned %64;" : SUMS64(sums, 0) : "n"(left) : "memory");
}
template <unsigned left> static __device__ __forceinline__ void wait_products(float (&sums)[128]) {
    asm volatile("wgmma.wait_group.sync.aligned %128;"
                 : SUMS64(sums, 0), SUMS64(sums, 64)
                 : "n"(left)
                 : "memory");
}

/* Tells the producers of the cluster that this consumer has read a stage. */
static __device__ __forceinline__ void release(unsigned barriers, unsigned slot, const Tiles &tiles) {
    unsigned thread = threadIdx.x % WARPGROUP;
    if (thread < tiles.high * tiles.wide) barrier_arrive_at(empty_at(barriers, slot), thread);
}

/* Distance in a descriptor, in units of 16 bytes, of the next step of the depth. Only halves can be stored not by
 * depth. */
template <bool by_depth> static __device__ __forceinline__ unsigned step_of() {
    return (by_depth ? 32 : 16 * SWIZZLE_BYTES) >> 4;
}

/* Multiplies the stages of a tile. A stage is released when its products have ended, which is while the first product
 * of the next stage is under way. */
template <class In, bool lines_by_depth, bool along_by_depth, int WIDTH>
static __device__ __forceinline__ void sum_up(float (&sums)[WIDTH / 2], unsigned shared, unsigned barriers,
                                              unsigned consumer, Ring<Layout<WIDTH>::stages> &ring,
                                              const Tiles &tiles) {
    typedef Layout<WIDTH> L;
    typedef Multiply<In, lines_by_depth, along_by_depth> Products;
    unsigned previous = 0;
    for (unsigned stage = 0; stage < tiles.stages; stage++, ring.advance()) {
        unsigned at = shared + ring.slot * L::stage_bytes;
        unsigned long long a = descriptor(at + consumer * BOX_BYTES, BOX_BYTES);
        unsigned long long b = descriptor(at + L::lines_bytes, BOX_BYTES);
        barrier_wait(full_at(barriers, ring.slot), ring.parity);
        products_begin();
        Products::add(sums, a, b, stage);
        products_commit();
        wait_products<1>(sums);
        if (stage) release(barriers, previous, tiles);
        _Pragma("unroll") for (unsigned k = 1; k < STEPS; k++)
            Products::add(sums, a + k * step_of<lines_by_depth>(), b + k * step_of<along_by_depth>(), 1);
        products_commit();
        previous = ring.slot;
    }
    wait_products<0>(sums);
    release(barriers, previous, tiles);
}

/* ---- The result: sums times alpha are stored by tensor maps ---- */

static __device__ __forceinline__ unsigned pack(F16, float low, float high) { return pack(low, high); }
static __device__ __forceinline__ unsigned pack(BF16, float low, float high) {
    unsigned packed;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
    return packed;
}

/* Address of 16 bytes of a line in boxes of 64 lines of 128 bytes. */
static __device__ __forceinline__ unsigned chunk_at(unsigned place, unsigned line, unsigned chunk) {
    return place + chunk / 8 * BOX_BYTES + line * SWIZZLE_BYTES + ((chunk % 8 ^ (line & 7)) << 4);
}

/* Writes the sums from `from` on, times alpha, to the two boxes at `place`. */
template <class Out, int SUMS>
static __device__ __forceinline__ void stage_boxes(Out type, unsigned place, const float (&sums)[SUMS], unsigned from,
                                                   float alpha) {
    unsigned thread = threadIdx.x % WARPGROUP, lane = thread % 32, line = thread / 32 * 16 + lane % 16;
    _Pragma("unroll") for (unsigned i = 0; i < 2 * SWIZZLE_BYTES / sizeof(Out) / 16; i++) { /* 16 elements of a line */
        const float *s = sums + from + 8 * i;
        asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                         chunk_at(place, line, 2 * i + lane / 16)),
                     "r"(pack(type, alpha * s[0], alpha * s[1])), "r"(pack(type, alpha * s[2], alpha * s[3])),
                     "r"(pack(type, alpha * s[4], alpha * s[5])), "r"(pack(type, alpha * s[6], alpha * s[7]))
                     : "memory");
    }
}
template <int SUMS>
static __device__ __forceinline__ void stage_boxes(float, unsigned place, const float (&sums)[SUMS], unsigned from,
                                                   float alpha) {
    unsigned thread = threadIdx.x % WARPGROUP, lane = thread % 32, line = thread / 32 * 16 + lane / 4;
    _Pragma("unroll") for (unsigned i = 0; i < 2 * SWIZZLE_BYTES / sizeof(float) / 8; i++) { /* 8 elements of two lines */
        const float *s = sums + from + 4 * i;
        _Pragma("unroll") for (unsigned half = 0; half < 2; half++)
            asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(
                             chunk_at(place, line + 8 * half, 2 * i + lane % 4 / 2) + lane % 2 * 8),
                         "f"(alpha * s[2 * half]), "f"(alpha * s[2 * half + 1])
                         : "memory");
    }
}

/* Stores a consumer's lines, two boxes at a time. What is outside of the matrix is not stored. */
template <class Out, int WIDTH>
static __device__ __forceinline__ void store_boxes(const TensorMap &map, const float (&sums)[WIDTH / 2], unsigned place,
                                                   const Place &at, unsigned consumer, float alpha) {
    const unsigned elements = SWIZZLE_BYTES / sizeof(Out); /* of a line in a box */
    const bool is_first = threadIdx.x % WARPGROUP == 0;
    asm volatile("" : "+f"(alpha)); /* clang 19 would multiply all sums before the branch to here, and spill them */
    _Pragma("unroll") for (unsigned from = 0; from < WIDTH; from += 2 * elements) {
        if (is_first) store_wait_read(); /* the previous stores have read `place` */
        warpgroup_meet(1 + consumer);
        stage_boxes(Out(), place, sums, from / 2, alpha);
        publish_shared();
        warpgroup_meet(1 + consumer);
        if (!is_first) continue;
        store_box_at(map, at.along + from, at.line, at.batch, place);
        store_box_at(map, at.along + from + elements, at.line, at.batch, place + BOX_BYTES);
        store_commit();
    }
}

/* ---- The result: any other ---- */

/* Writes the sums of a piece of each line, from sum `from` on, to `place`. */
template <int SUMS>
static __device__ __forceinline__ void stage_piece(float *place, const float (&sums)[SUMS], unsigned from) {
    unsigned thread = threadIdx.x % WARPGROUP, lane = thread % 32;
    float *to = place + (thread / 32 * 16 + lane / 4) * PIECE_STRIDE + lane % 4 * 2;
    _Pragma("unroll") for (unsigned i = 0; i < PIECE / 8; i++) {
        const float *four = sums + from + 4 * i;
        *(float2 *)(to + 8 * i) = make_float2(four[0], four[1]);
        *(float2 *)(to + 8 * PIECE_STRIDE + 8 * i) = make_float2(four[2], four[3]);
    }
}

/* A piece of a consumer's lines: where its sums are, and how many lines and elements of a line D has of it. */
struct Piece {
    float *sums;
    Place at;
    unsigned lines, count;
};

/* What happens to a sum: `of` returns the element in row i and column j of D, `two` returns two elements if nothing but
 * a factor and C matter, and `end` follows the last one. C: the type of C's elements. Products of 8-bit floats have
 * another one (blas_fp8.cuh). */
template <class Out> struct Finish {
    typedef Out C;
    __device__ __forceinline__ Finish(const BlasTensor &) {}
    /* All sums have one factor. */
    static __device__ __forceinline__ bool has_one_factor(const BlasTensor &t) { return !t.product.alpha_vector; }
    /* Sums are multiplied and added to C, and nothing else. */
    static __device__ __forceinline__ bool is_plain(const BlasTensor &t) {
        return !t.product.alpha_vector && !t.product.bias && !t.product.activation;
    }
    __device__ __forceinline__ Pair<Out> two(float x, float y) { return pair_of<Out>(x, y); }
    __device__ __forceinline__ Out of(const BlasTensor &t, float sum, long long i, long long j, long long batch,
                                      float alpha, float beta, const C *c) {
        Out element;
        write(element, finished<Out>(t.product, sum, i, j, batch, alpha, beta, c));
        return element;
    }
    __device__ __forceinline__ void end(const BlasTensor &) {}
};

/* A thread's part of a piece: two adjacent elements of every fourth line. */
struct Part {
    float *sums;              /* of its first line */
    long long line, along;    /* place of its first element in D */
    unsigned lines, elements; /* that it has, and in each: 0 to 2 */

    __device__ __forceinline__ Part(const Piece &piece) {
        const unsigned thread = threadIdx.x % WARPGROUP, from = thread / 32, first = thread % 32 * 2;
        sums = piece.sums + from * PIECE_STRIDE + first;
        line = piece.at.line + from;
        along = piece.at.along + first;
        lines = piece.lines > from ? parts(piece.lines - from, WARPGROUP / 32) : 0;
        elements = piece.count > first ? at_most(piece.count - first, 2) : 0;
    }
};
enum { LINE_STEP = WARPGROUP / 32, SUMS_STEP = LINE_STEP * PIECE_STRIDE };

/* Replaces sums by alpha times them plus beta times C. The loads of four lines are under way together. `c`: the element
 * at the part's first one. */
template <class C>
static __device__ __forceinline__ void add_c(const Part &part, const C *c, long long line_step, long long step,
                                             float alpha, float beta) {
    enum { TOGETHER = 4 };
    _Pragma("unroll 1") for (unsigned n = 0; n < part.lines; n += TOGETHER) {
        C loaded[TOGETHER][2] = {};
        _Pragma("unroll") for (unsigned u = 0; u < TOGETHER; u++)
            _Pragma("unroll") for (unsigned e = 0; e < 2; e++)
                if (n + u < part.lines && e < part.elements)
                    loaded[u][e] = c[(n + u) * LINE_STEP * line_step + e * step];
        _Pragma("unroll") for (unsigned u = 0; u < TOGETHER; u++)
            _Pragma("unroll") for (unsigned e = 0; e < 2; e++)
                if (n + u < part.lines) {
                    float *sum = part.sums + (n + u) * SUMS_STEP + e;
                    *sum = alpha * *sum + beta * read<float>(loaded[u][e]);
                }
    }
}

/* Finishes and stores. Two elements are stored together if their address allows that. */
template <class Out, class Finish>
static __device__ __forceinline__ void store_piece(const BlasTensor &t, const Piece &piece, float alpha, float beta) {
    typedef typename Finish::C C;
    const BlasProduct &p = t.product;
    const Part part(piece);
    const long long stride = t.is_by_row ? p.d.row : p.d.column;
    Out *d = item<Out>(p.d, 0, piece.at.batch) + part.line * stride + part.along;
    const C *c = beta != 0 ? item<const C>(p.c, 0, piece.at.batch) : nullptr;
    if (c && Finish::has_one_factor(t)) {
        const long long line_step = t.is_by_row ? p.c.row : p.c.column, step = t.is_by_row ? p.c.column : p.c.row;
        add_c(part, c + part.line * line_step + part.along * step, line_step, step, alpha, beta);
        alpha = 1, beta = 0;
    }
    const bool is_pair =
        part.elements == 2 && stride % 2 == 0 && (unsigned long long)d % sizeof(Pair<Out>) == 0;
    const bool is_plain = Finish::is_plain(t);
    Finish finish(t);
    _Pragma("unroll 1") for (unsigned n = 0; n < part.lines && part.elements; n++, d += LINE_STEP * stride) {
        const float *sums = part.sums + n * SUMS_STEP;
        const long long line = part.line + n * LINE_STEP;
        Pair<Out> both;
        if (is_plain) both = finish.two(alpha * sums[0], part.elements == 2 ? alpha * sums[1] : 0);
        else
            _Pragma("unroll 1") for (unsigned e = 0; e < part.elements; e++) {
                const long long along = part.along + e;
                const Out element = finish.of(t, sums[e], t.is_by_row ? line : along, t.is_by_row ? along : line,
                                              piece.at.batch, alpha, beta, c);
                if (e) both.y = element;
                else both.x = element;
            }
        if (is_pair) *(Pair<Out> *)d = both;
        else {
            d[0] = both.x;
            if (part.elements == 2) d[1] = both.y;
        }
    }
    __syncwarp();
    finish.end(t);
}

/* The types of results. */
#ifdef TENSOR_FP8
template <class In>
static __device__ __forceinline__ void store_typed(const BlasTensor &t, const Piece &piece, float alpha, float beta) {
    switch (t.scales.out) {
    case BLAS_F32: return store_piece<float, ScaledFinish<float, float>>(t, piece, alpha, beta);
    case BLAS_F16: return store_piece<F16, ScaledFinish<F16, F16>>(t, piece, alpha, beta);
    case BLAS_BF16: return store_piece<BF16, ScaledFinish<BF16, BF16>>(t, piece, alpha, beta);
    }
    if (t.scales.c == BLAS_F16) store_piece<Fp8, ScaledFinish<Fp8, F16>>(t, piece, alpha, beta);
    else store_piece<Fp8, ScaledFinish<Fp8, BF16>>(t, piece, alpha, beta);
}
template <class In, int WIDTH>
static __device__ __forceinline__ void store_whole(const BlasTensor &t, const TensorMap &map,
                                                   const float (&sums)[WIDTH / 2], unsigned place, const Place &at,
                                                   unsigned consumer, float alpha) {
    if (t.scales.out == BLAS_F32) store_boxes<float, WIDTH>(map, sums, place, at, consumer, alpha);
    else if (t.scales.out == BLAS_F16) store_boxes<F16, WIDTH>(map, sums, place, at, consumer, alpha);
    else store_boxes<BF16, WIDTH>(map, sums, place, at, consumer, alpha);
}
static __device__ __forceinline__ float alpha_of(const BlasTensor &t) {
    return scalar<float, float>(t.product.alpha) * factor_at(t.scales.a) * factor_at(t.scales.b);
}
#else
template <class In>
static __device__ __forceinline__ void store_typed(const BlasTensor &t, const Piece &piece, float alpha, float beta) {
    if (t.out_is_f32) store_piece<float, Finish<float>>(t, piece, alpha, beta);
    else store_piece<In, Finish<In>>(t, piece, alpha, beta);
}
template <class In, int WIDTH>
static __device__ __forceinline__ void store_whole(const BlasTensor &t, const TensorMap &map,
                                                   const float (&sums)[WIDTH / 2], unsigned place, const Place &at,
                                                   unsigned consumer, float alpha) {
    if (t.out_is_f32) store_boxes<float, WIDTH>(map, sums, place, at, consumer, alpha);
    else store_boxes<In, WIDTH>(map, sums, place, at, consumer, alpha);
}
static __device__ __forceinline__ float alpha_of(const BlasTensor &t) { return scalar<float, float>(t.product.alpha); }
#endif

/* Stores a consumer's lines, a piece at a time. */
template <class In, int WIDTH>
static __device__ __forceinline__ void store_pieces(const BlasTensor &t, const float (&sums)[WIDTH / 2], float *place,
                                                    Place at, unsigned consumer, float alpha, float beta) {
    const unsigned lines = t.is_by_row ? t.product.m : t.product.n, along = t.is_by_row ? t.product.n : t.product.m;
    if (at.line >= lines) return;
    _Pragma("unroll 1") for (unsigned from = 0; from < WIDTH; from += PIECE, at.along += PIECE) {
        if (at.along >= along) return;
        const Piece piece = {place, at, at_most(lines - at.line, CONSUMER_LINES), at_most(along - at.along, PIECE)};
        warpgroup_meet(1 + consumer); /* the previous piece has been read */
        _Pragma("unroll") for (unsigned i = 0; i < WIDTH; i += PIECE) /* registers have no index */
            if (i == from) stage_piece(place, sums, i / 2);
        warpgroup_meet(1 + consumer);
        store_typed<In>(t, piece, alpha, beta);
    }
}

template <class In, int WIDTH>
static __device__ __forceinline__ void store(const BlasTensor &t, const TensorMap &map, const float (&sums)[WIDTH / 2],
                                             char *place, Place at, unsigned consumer) {
    const float alpha = alpha_of(t), beta = scalar<float, float>(t.product.beta);
    at.line += consumer * CONSUMER_LINES;
    if (!t.has_d_map || beta != 0)
        store_pieces<In, WIDTH>(t, sums, (float *)place, at, consumer, alpha, beta);
    else store_whole<In, WIDTH>(t, map, sums, shared_address(place), at, consumer, alpha);
}

template <class In, bool lines_by_depth, bool along_by_depth, int WIDTH>
static __device__ __forceinline__ void consume(const BlasTensor &p, const TensorMap *maps, char *memory,
                                               unsigned shared, unsigned barriers, const Tiles &tiles) {
    typedef Layout<WIDTH> L;
    const unsigned consumer = threadIdx.x / WARPGROUP - 1;
    char *place = memory + L::stages * L::stage_bytes + consumer * PLACE_BYTES;
    Ring<L::stages> ring;
    for (unsigned group = tiles.first; group < tiles.count; group += tiles.step) {
        float sums[L::sums];
        sum_up<In, lines_by_depth, along_by_depth, WIDTH>(sums, shared, barriers, consumer, ring, tiles);
        store<In, WIDTH>(p, maps[2], sums, place, place_of(tiles, group, WIDTH), consumer);
    }
    if (threadIdx.x % WARPGROUP == 0) store_wait();
}

template <class In, bool lines_by_depth, bool along_by_depth, int WIDTH>
static __device__ __forceinline__ void multiply(const BlasTensor &p, const TensorMap *maps) {
    typedef Layout<WIDTH> L;
    extern __shared__ __attribute__((aligned(PATTERN_BYTES))) char memory[];
    const unsigned shared = shared_address(memory), barriers = shared + BLAS_TENSOR_SHARED - BLAS_TENSOR_BARRIERS;
    const Tiles tiles = tiles_of(p, WIDTH, Depth<In>::of_stage);
    if (threadIdx.x == 0) {
        for (unsigned slot = 0; slot < L::stages; slot++) {
            barrier_init(full_at(barriers, slot), 1);
            barrier_init(empty_at(barriers, slot), CONSUMERS * tiles.high * tiles.wide);
        }
        barrier_publish();
    }
    __syncthreads();
    cluster_meet();
    if (threadIdx.x < WARPGROUP) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"((int)PRODUCER_REGISTERS));
        if (threadIdx.x == 0) produce<In, lines_by_depth, along_by_depth, WIDTH>(maps, shared, barriers, tiles);
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"((int)CONSUMER_REGISTERS));
        consume<In, lines_by_depth, along_by_depth, WIDTH>(p, maps, memory, shared, barriers, tiles);
    }
    cluster_meet(); /* other blocks may still write to this one's shared memory */
}

/* ---- Instances: wgmma_TYPE_LA_WIDTH; L, A: d if the lines, and what is along them, are stored by depth, else o. Those
 * of 8-bit floats name the type of the lines, then the other one ---- */

/* The maps are read where the launch has stored them, because clang 19 copies a parameter whose address is taken. */
#define KERNEL(name, ...)                                                                                     \
    extern "C" __global__ void __launch_bounds__(BLAS_TENSOR_THREADS, 1) name(const BlasTensor p) {           \
        const TensorMap *maps;                                                                                \
        asm("{ .reg .b64 at;\n"                                                                               \
            "mov.b64 at, " #name "_param_0;\n"                                                                \
            "cvta.param.u64 %0, at; }"                                                                        \
            : "=l"(maps));                                                                                    \
        multiply<__VA_ARGS__>(p, maps);                                                                       \
    }
#ifdef TENSOR_FP8
#define KERNELS(name, In)                                                                                     \
    KERNEL(wgmma_##name##_dd_128, In, true, true, 128)                                                        \
    KERNEL(wgmma_##name##_dd_256, In, true, true, 256)
KERNELS(e4m3_e4m3, BothE4M3)
KERNELS(e4m3_e5m2, E4M3E5M2)
KERNELS(e5m2_e4m3, E5M2E4M3)
#else
#define KERNELS(name, In, WIDTH)                                                                              \
    KERNEL(wgmma_##name##_dd_##WIDTH, In, true, true, WIDTH)                                                  \
    KERNEL(wgmma_##name##_do_##WIDTH, In, true, false, WIDTH)                                                 \
    KERNEL(wgmma_##name##_od_##WIDTH, In, false, true, WIDTH)                                                 \
    KERNEL(wgmma_##name##_oo_##WIDTH, In, false, false, WIDTH)
KERNELS(f16, F16, 128)
KERNELS(f16, F16, 256)
KERNELS(bf16, BF16, 128)
KERNELS(bf16, BF16, 256)
#endif
