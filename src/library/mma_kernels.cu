/* Products of matrices on the tensor cores of compute capability 8.0 and later, by mma.sync: halves, bfloat16, floats
 * rounded to TF32, and 8-bit integers. Asynchronous copies bring the next tiles into shared memory while the current
 * ones are multiplied.
 *
 * As in tensor_kernels.cu, the result is seen as lines: its columns if it is stored by columns, else its rows. The
 * elements of a line are adjacent in memory. An operand has either the lines or the elements along a line; the other
 * dimension is the depth that is summed.
 *
 * A thread block of 4 warps computes a tile of 128 lines of 128 or 64 elements, a warp one of 64 lines of 64 or 32.
 * Operands are in shared memory as rows of 128 bytes. An operand that is stored by depth has a row of the depth for
 * each line. Another one has boxes: a row for each step of the depth, with 128 bytes of lines. The 16 bytes `chunk` of
 * a row are at another place in each row, so that the loads of a warp are in different banks. */
#include <tyto_device.h>

#include "blas_finish.cuh"

enum {
    LINES = BLAS_MMA_LINES, /* of a tile */
    THREADS = BLAS_MMA_THREADS,
    ROW_BYTES = BLAS_MMA_ROW_BYTES,
    STEPS = 4,                    /* of an mma in the 128 bytes of a row: 32 bytes of the depth each */
    BLOCKS = LINES / 2 / 16,      /* of 16 lines, of a warp */
    PART_ROWS = THREADS / 8,      /* rows of a part of a copy: eight threads copy a row */
    PART_BYTES = PART_ROWS * ROW_BYTES
};

typedef signed char S8;

/* A tile of a kernel. WIDTH: elements of a line. */
template <int WIDTH> struct Layout {
    static const unsigned lines_bytes = LINES * ROW_BYTES, stage_bytes = lines_bytes + WIDTH * ROW_BYTES,
                          along = WIDTH / 2 /* elements of a line that a warp has */, groups = along / 8,
                          stride = along + 8 /* of staged lines: the pairs of half a warp are in different banks */;
};

/* How an operand's elements are in shared memory. */
template <class In> struct Elements {
    static const unsigned in_row = ROW_BYTES / sizeof(In); /* also the depth of a stage */
    static const unsigned box_bytes = in_row * ROW_BYTES;
};

/* ---- Copies into shared memory ---- */

/* Copies 16 bytes if `goes`. */
static __device__ __forceinline__ void copy16(unsigned to, const char *from, bool goes) {
    asm volatile("{ .reg .pred goes;\n"
                 "setp.ne.b32 goes, %2, 0;\n"
                 "@goes cp.async.cg.shared.global [%0], [%1], 16; }" ::"r"(to),
                 "l"(from), "r"((unsigned)goes)
                 : "memory");
}
/* Copies 16 bytes: `bytes` from memory, then zeros. */
static __device__ __forceinline__ void copy_some(unsigned to, const char *from, unsigned bytes) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}

static __device__ __forceinline__ unsigned at_most_16(long long bytes) {
    return bytes < 0 ? 0 : bytes > 16 ? 16 : (unsigned)bytes;
}

/* What to XOR with the number of a chunk of this row. A load of elements of 4 bytes that are not by depth
 * reads 8 adjacent elements, in 2 chunks, from each of 4 adjacent rows. */
template <class In, bool by_depth> static __device__ __forceinline__ unsigned permuted(unsigned row) {
    return by_depth || sizeof(In) == 2 ? row % 8 : row % 4 * 2;
}

/* A thread's copies of an operand, which has ROWS rows in shared memory. Its part `part` is 16 rows of a box. */
template <class In, bool by_depth, unsigned ROWS> struct Writer {
    static const unsigned parts = ROWS / PART_ROWS, boxes = by_depth ? 1 : ROWS / Elements<In>::in_row;
    const char *from;      /* of its chunk of the next part */
    long long part_bytes;  /* from 16 rows to the next 16 */
    long long stage_bytes; /* from the end of the parts of a stage to the next stage */
    unsigned to;           /* of its chunk of the first part in the next stage's place */
    int lines, depth;      /* the rest of the matrix, from this thread's first row and chunk on, in elements */
    unsigned inside;       /* a bit for each part (for each box, if not by depth) that is not outside of the matrix */
    bool is_whole;         /* chunks are inside of the matrix, or outside */

    __device__ __forceinline__ Writer(const In *items, long long lead, int first, int count, int k, unsigned place) {
        const unsigned row = threadIdx.x / 8, chunk = threadIdx.x % 8, each = 16 / sizeof(In);
        const long long lead_bytes = lead * (long long)sizeof(In);
        lines = count - first - (int)(by_depth ? row : chunk * each);
        depth = k - (int)(by_depth ? chunk * each : row);
        part_bytes = PART_ROWS * lead_bytes;
        stage_bytes = by_depth ? ROW_BYTES - parts * part_bytes : 0;
        from = (const char *)(items + first * (by_depth ? lead : 1)) + row * lead_bytes + chunk * 16;
        to = place + row * ROW_BYTES + ((chunk ^ permuted<In, by_depth>(row)) << 4);
        inside = 0;
        for (unsigned i = 0; i < (by_depth ? parts : boxes); i++)
            inside |= (lines > (int)(i * (by_depth ? (unsigned)PART_ROWS : Elements<In>::in_row)) ? 1u : 0) << i;
        is_whole = by_depth || count % each == 0 || count - first >= (int)ROWS;
    }
    static __device__ __forceinline__ unsigned box_of(unsigned part) { return part % boxes; }
    static __device__ __forceinline__ unsigned place_of(unsigned part) {
        return box_of(part) * Elements<In>::box_bytes + part / boxes * PART_BYTES;
    }
    __device__ __forceinline__ void advance(unsigned part) {
        if (box_of(part) == boxes - 1) from += part_bytes;
    }
    /* Starts the copy of a part, whose depth is inside of the matrix, if `goes`. */
    __device__ __forceinline__ void copy(unsigned part, bool goes) {
        copy16(to + place_of(part), from + box_of(part) * ROW_BYTES,
               goes && inside >> (by_depth ? part : box_of(part)) & 1);
        advance(part);
    }
    /* Starts the copies of a stage. What is outside of the matrix is set to zero; all if not `goes`. */
    __device__ __forceinline__ void copy_edge(bool goes) {
        _Pragma("unroll 4") for (unsigned part = 0; part < parts; part++) {
            const unsigned row = part / boxes * PART_ROWS, box = box_of(part);
            const long long bytes = ((by_depth ? depth : lines) - (long long)(box * Elements<In>::in_row)) * sizeof(In);
            copy_some(to + place_of(part), from + box * ROW_BYTES,
                      goes && (int)row < (by_depth ? lines : depth) ? at_most_16(bytes) : 0);
            advance(part);
        }
    }
    /* Goes back to the first part of a stage. */
    __device__ __forceinline__ void rewind() { from -= parts / boxes * part_bytes; }
    /* Moves by `stages` of the depth. */
    __device__ __forceinline__ void skip(int stages) {
        from += stages * (stage_bytes + parts / boxes * part_bytes);
        depth -= stages * (int)Elements<In>::in_row;
    }
    /* Goes to the next stage, whose place is `distance` bytes from that of the last one. */
    __device__ __forceinline__ void next(unsigned distance) {
        from += stage_bytes;
        depth -= Elements<In>::in_row;
        to += distance;
    }
};

/* ---- Operands in registers ---- */

/* The operands of a step. */
template <int WIDTH> struct Operands {
    unsigned a[BLOCKS][4], b[Layout<WIDTH>::along / 16][4];
};

/* Loads from shared memory. */
struct Shared {
    static __device__ __forceinline__ void load4(unsigned (&to)[4], unsigned from) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                     : "r"(from)
                     : "memory");
    }
    static __device__ __forceinline__ void load4_transposed(unsigned (&to)[4], unsigned from) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                     : "r"(from)
                     : "memory");
    }
    static __device__ __forceinline__ unsigned load1(unsigned from) {
        unsigned word;
        asm volatile("ld.shared.b32 %0, [%1];" : "=r"(word) : "r"(from) : "memory");
        return word;
    }
};

/* A thread's loads of 16 x 32 bytes of an operand. The four registers are the corners: of the first 8 elements (bit 0
 * clear) or the last, in the first half of the depth (bit 1 clear) or the last; with `swaps` the bits are swapped.
 * Places are multiples of 128 bytes, so the number of a chunk can be changed by XOR. */
template <class In, bool by_depth, bool swaps> struct Reader {
    unsigned from; /* of this thread, of the warp's first elements in the first step */

    __device__ __forceinline__ Reader(unsigned place, unsigned first) {
        const unsigned lane = threadIdx.x % 32, low = lane / 8 % 2, high = lane / 16, in_row = Elements<In>::in_row;
        const unsigned element = swaps ? high : low, deep = swaps ? low : high;
        if (by_depth) from = place + (first + lane % 8 + element * 8) * ROW_BYTES + ((deep ^ lane % 8) << 4);
        else {
            place += first / in_row * Elements<In>::box_bytes;
            const unsigned chunk = first % in_row * sizeof(In) / 16;
            from = sizeof(In) == 2
                       ? place + (lane % 8 + deep * 8) * ROW_BYTES + ((chunk ^ element ^ lane % 8) << 4)
                       : place + lane % 4 * ROW_BYTES + ((chunk ^ lane / 16 ^ permuted<In, false>(lane % 4)) << 4) +
                             lane / 4 % 4 * 4;
        }
    }
    /* Loads the elements from 16 * block on. */
    __device__ __forceinline__ void load(unsigned (&to)[4], unsigned block, unsigned step) const {
        if constexpr (by_depth) Shared::load4(to, (from ^ step << 5) + 16 * block * ROW_BYTES);
        else if constexpr (sizeof(In) == 2) Shared::load4_transposed(to, (from ^ block << 5) + 16 * step * ROW_BYTES);
        else
            _Pragma("unroll") for (unsigned i = 0; i < 4; i++) {
                const unsigned deep = swaps ? i % 2 : i / 2, element = swaps ? i / 2 : i % 2;
                const unsigned row = 8 * step + 4 * deep, chunk = block % 2 * 4 + element * 2;
                to[i] = Shared::load1((from ^ chunk << 4) + block / 2 * Elements<In>::box_bytes + row * ROW_BYTES);
            }
    }
};

/* ---- Products ---- */

/* Adds the product of 16 lines and 8 elements along them. */
template <class In> struct Multiply;

#define MULTIPLY(In, Sum, of, form)                                                                           \
    template <> struct Multiply<In> {                                                                         \
        static __device__ __forceinline__ void add(Sum(&c)[4], const unsigned(&a)[4], unsigned b0,            \
                                                   unsigned b1) {                                             \
            asm volatile("mma.sync.aligned." form " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "           \
                         "{%0, %1, %2, %3};"                                                                  \
                         : "+" of(c[0]), "+" of(c[1]), "+" of(c[2]), "+" of(c[3])                             \
                         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));                     \
        }                                                                                                     \
    };
MULTIPLY(F16, float, "f", "m16n8k16.row.col.f32.f16.f16.f32")
MULTIPLY(BF16, float, "f", "m16n8k16.row.col.f32.bf16.bf16.f32")
MULTIPLY(float, float, "f", "m16n8k8.row.col.f32.tf32.tf32.f32")
MULTIPLY(S8, int, "r", "m16n8k32.row.col.s32.s8.s8.s32")

/* Rounds a float to TF32, ties away from zero; other numbers are multiplied as they are. */
template <class In> static __device__ __forceinline__ void round_operand(unsigned (&x)[4]) {
    if constexpr (sizeof(In) == 4)
        _Pragma("unroll") for (unsigned i = 0; i < 4; i++)
            asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(x[i]) : "f"(__uint_as_float(x[i])));
}

/* Waits until at most `left` stages of this thread's copies are under way, and all threads have come here. */
static __device__ __forceinline__ void meet(unsigned left) {
    if (left == 0) asm volatile("cp.async.wait_group 0;" ::: "memory");
    else if (left == 1) asm volatile("cp.async.wait_group 1;" ::: "memory");
    else asm volatile("cp.async.wait_group 2;" ::: "memory");
    __syncthreads();
}

/* The sums of a warp. */
template <class In, int WIDTH> using Sums = typename Sum<In>::type[BLOCKS][Layout<WIDTH>::groups][4];

/* A step's products with the same 8 elements along a line. */
template <class In, int WIDTH>
static __device__ __forceinline__ void multiply_group(Sums<In, WIDTH> &sums, const Operands<WIDTH> &by, unsigned j) {
    _Pragma("unroll") for (unsigned i = 0; i < BLOCKS; i++)
        Multiply<In>::add(sums[i][j], by.a[i], by.b[j / 2][j % 2 * 2], by.b[j / 2][j % 2 * 2 + 1]);
}

/* The copies and loads of a thread block's tile. */
template <class In, bool lines_by_depth, bool along_by_depth, int WIDTH> struct Tile {
    typedef Layout<WIDTH> L;
    typedef Writer<In, lines_by_depth, LINES> LinesWriter;
    typedef Writer<In, along_by_depth, WIDTH> AlongWriter;
    LinesWriter to_lines;
    AlongWriter to_along;
    Reader<In, lines_by_depth, false> lines;
    Reader<In, along_by_depth, true> along;

    /* Ends the copies of a stage. */
    __device__ __forceinline__ void close(unsigned distance) {
        asm volatile("cp.async.commit_group;" ::: "memory");
        to_lines.next(distance);
        to_along.next(distance);
    }
    __device__ __forceinline__ void copy_edge(bool goes) {
        to_lines.copy_edge(goes);
        to_along.copy_edge(goes);
    }
    __device__ __forceinline__ void skip(int stages) {
        to_lines.skip(stages);
        to_along.skip(stages);
    }
    /* Starts the copies of a stage from `number` on, each `of`th. */
    __device__ __forceinline__ void copy(unsigned number, unsigned of, bool goes) {
        const unsigned each = LinesWriter::parts / of, each_along = AlongWriter::parts / of;
        _Pragma("unroll") for (unsigned i = 0; i < each; i++) to_lines.copy(number * each + i, goes);
        _Pragma("unroll") for (unsigned i = 0; i < each_along; i++) to_along.copy(number * each_along + i, goes);
    }
    /* Loads the pieces of a step's operands from `number` on, each `of`th. */
    __device__ __forceinline__ void load(Operands<WIDTH> &to, unsigned step, unsigned number, unsigned of) const {
        _Pragma("unroll") for (unsigned piece = number; piece < BLOCKS + L::along / 16; piece += of) {
            if (piece < BLOCKS) lines.load(to.a[piece], piece, step);
            else along.load(to.b[piece - BLOCKS], piece - BLOCKS, step);
        }
    }
    /* Adds the products of a stage. The loads of a step are between the products of the previous step. After the last
     * loads of a stage, copies to its place start, if `goes`. `distance`: to the next stage in shared memory, `left`:
     * stages that may be under way when it is read. */
    __device__ __forceinline__ void add_stage(Sums<In, WIDTH> &sums, Operands<WIDTH> (&operands)[2], unsigned distance,
                                              unsigned left, bool goes) {
        _Pragma("unroll") for (unsigned step = 0; step < STEPS; step++) {
            Operands<WIDTH> &current = operands[step % 2];
            const bool is_last = step == STEPS - 1;
            if (is_last) {
                meet(left);
                lines.from += distance;
                along.from += distance;
            }
            _Pragma("unroll") for (unsigned i = 0; i < BLOCKS; i++) round_operand<In>(current.a[i]);
            _Pragma("unroll") for (unsigned j = 0; j < L::groups; j++) {
                load(operands[(step + 1) % 2], (step + 1) % STEPS, j, L::groups);
                if (is_last) copy(j, L::groups, goes);
                if (j % 2 == 0) round_operand<In>(current.b[j / 2]);
                multiply_group<In, WIDTH>(sums, current, j);
            }
        }
    }
    /* Adds the products of the whole depth, with `stages` places in shared memory, from stage `first` on and then from
     * the front. */
    __device__ __forceinline__ void sum_up(Sums<In, WIDTH> &sums, int k, int stages, int count, int first) {
        const int whole = to_lines.is_whole && to_along.is_whole ? k / (int)Elements<In>::in_row : 0;
        const unsigned back = -(stages - 1) * L::stage_bytes;
        Operands<WIDTH> operands[2]; /* of a step and the next one */
        int slot = 0, next = first;  /* next: stage to copy */
        skip(first);
        _Pragma("unroll 1") for (int copied = 0; copied < stages; copied++) {
            copy_edge(copied < count);
            close(copied + 1 < stages ? L::stage_bytes : back);
            if (++next == count) skip(-count), next = 0;
        }
        meet(stages - 2); /* stages - 1 may be under way, but a wait for 3 is not worth its code */
        load(operands[0], 0, 0, 1);
        _Pragma("unroll 1") for (int stage = 0; stage < count; stage++) {
            const unsigned distance = slot + 1 < stages ? L::stage_bytes : back;
            const bool goes = stage + stages < count;
            add_stage(sums, operands, distance, stages - 2, goes && next < whole);
            if (goes && next >= whole) {
                to_lines.rewind();
                to_along.rewind();
                copy_edge(true);
            }
            close(distance);
            if (++next == count) skip(-count), next = 0;
            slot = slot + 1 < stages ? slot + 1 : 0;
        }
        asm volatile("cp.async.wait_all;" ::: "memory");
        __syncthreads();
    }
};

/* The stage with which this thread block begins. Blocks that read the same lines begin apart, because an L2 slice takes
 * few requests for data that are under way from memory. The order of sums depends on the place in the result. */
static __device__ __forceinline__ int first_stage(int count) {
    const int apart = (int)(gridDim.x > gridDim.y ? gridDim.x : gridDim.y);
    return (int)((long long)((int)(blockIdx.x + blockIdx.y) % apart) * count / apart);
}

/* ---- The result ---- */

/* Where lines of a result begin. */
struct Place {
    unsigned line, along, batch;
};

/* A thread's part of 16 lines of a warp's sums: two adjacent elements of each `each`th line. */
template <class A, int WIDTH> struct Part {
    static const unsigned threads = Layout<WIDTH>::along / 2 /* of a line */, each = 32 / threads;
    const A *pair; /* of its first line */
    Place at;      /* of this pair in the result */
    unsigned lines; /* of the 16 that are inside of it, from its first one on */

    __device__ __forceinline__ Part(const A *place, Place first, unsigned count) {
        const unsigned lane = threadIdx.x % 32, line = lane / threads;
        pair = place + line * Layout<WIDTH>::stride + lane % threads * 2;
        at = {first.line + line, first.along + lane % threads * 2, first.batch};
        lines = at.line >= count ? 0 : count - at.line < 16 - line ? count - at.line : 16 - line;
    }
    __device__ __forceinline__ Pair<A> next(unsigned i) const {
        return *(const Pair<A> *)(pair + i * Layout<WIDTH>::stride);
    }
};

/* Stores sums times alpha, in pairs. */
template <class Out, class S, class A, int WIDTH>
static __device__ __forceinline__ void store_pairs(Out *to, long long stride, const Part<A, WIDTH> &part, S alpha) {
    _Pragma("unroll") for (unsigned i = 0; i < 16; i += part.each) {
        const Pair<A> sums = part.next(i);
        Pair<Out> both;
        write(both.x, alpha * (S)sums.x);
        write(both.y, alpha * (S)sums.y);
        if (i < part.lines) *(Pair<Out> *)to = both;
        to += part.each * stride;
    }
}

/* Finishes and stores 16 lines of sums of a warp. */
template <class Out, class S, class A, int WIDTH>
static __device__ __forceinline__ void store_lines(const BlasMma &t, const A *sums, const Place &first, S alpha,
                                                   S beta) {
    const BlasProduct &p = t.product;
    const Part<A, WIDTH> part(sums, first, t.is_by_row ? p.m : p.n);
    const unsigned length = t.is_by_row ? p.n : p.m;
    const long long stride = t.is_by_row ? p.d.row : p.d.column;
    const Place at = part.at;
    Out *d = item<Out>(p.d, 0, at.batch) + at.line * stride + at.along;
    if (t.stores_pairs && beta == 0 && at.along + 1 < length) {
        store_pairs<Out, S, A, WIDTH>(d, stride, part, alpha);
        return;
    }
    const Out *c = beta != 0 ? item<const Out>(p.c, 0, at.batch) : nullptr;
    _Pragma("unroll 1") for (unsigned i = 0; i < part.lines; i += part.each) {
        const long long line = at.line + i;
        const Pair<A> both = part.next(i);
        _Pragma("unroll 1") for (unsigned e = 0; e < 2 && at.along + e < length; e++)
            write(d[i * stride + e],
                  finished<Out>(p, (S)(e ? both.y : both.x), t.is_by_row ? line : at.along + e,
                                t.is_by_row ? at.along + e : line, at.batch, alpha, beta, c));
    }
}

/* Writes 16 lines of a warp's sums to `place`. */
template <class A, int GROUPS>
static __device__ __forceinline__ void stage_lines(A *place, const A (&sums)[GROUPS][4]) {
    const unsigned lane = threadIdx.x % 32, stride = Layout<GROUPS * 16>::stride;
    A *to = place + lane / 4 * stride + lane % 4 * 2;
    _Pragma("unroll") for (unsigned j = 0; j < GROUPS; j++) {
        *(Pair<A> *)(to + 8 * j) = {sums[j][0], sums[j][1]};
        *(Pair<A> *)(to + 8 * stride + 8 * j) = {sums[j][2], sums[j][3]};
    }
}

/* Stores the sums of a warp; `place` has room for 16 of its lines. */
template <class Out, class In, int WIDTH>
static __device__ __forceinline__ void store(const BlasMma &t, const Sums<In, WIDTH> &sums,
                                             typename Sum<In>::type *place, Place at) {
    typedef typename Sum<In>::type A;
    const float alpha = scalar<float, float>(t.product.alpha), beta = scalar<float, float>(t.product.beta);
    const A whole_alpha = scalar<A, A>(t.product.alpha), whole_beta = scalar<A, A>(t.product.beta);
    _Pragma("unroll 1") for (unsigned block = 0; block < BLOCKS; block++, at.line += 16) {
        __syncwarp();
        _Pragma("unroll") for (unsigned i = 0; i < BLOCKS; i++) /* registers have no index */
            if (i == block) stage_lines(place, sums[i]);
        __syncwarp();
        if (t.out_is_f32) store_lines<float, float, A, WIDTH>(t, place, at, alpha, beta);
        else store_lines<Out, A, A, WIDTH>(t, place, at, whole_alpha, whole_beta);
    }
}

/* The results that are not floats. */
template <class In> struct Narrow {
    typedef In type;
};
template <> struct Narrow<S8> {
    typedef int type;
};

template <class In, bool lines_by_depth, bool along_by_depth, int WIDTH>
static __device__ __forceinline__ void product(const BlasMma &t) {
    typedef typename Sum<In>::type A;
    typedef typename Narrow<In>::type Out;
    typedef Layout<WIDTH> L;
    extern __shared__ __attribute__((aligned(ROW_BYTES))) char memory[];
    const BlasProduct &p = t.product;
    const BlasOperand &with_lines = t.is_by_row ? p.a : p.b, &with_along = t.is_by_row ? p.b : p.a;
    const long long lines_lead = with_lines.row == 1 ? with_lines.column : with_lines.row;
    const long long along_lead = with_along.row == 1 ? with_along.column : with_along.row;
    const unsigned warp = threadIdx.x / 32;
    const Place at = {blockIdx.x * LINES, blockIdx.y * WIDTH, blockIdx.z};
    const unsigned line = warp % 2 * (LINES / 2), along = warp / 2 * L::along;
    unsigned shared;
    asm("{ .reg .u64 t; cvta.to.shared.u64 t, %1; cvt.u32.u64 %0, t; }" : "=r"(shared) : "l"(memory));
    const unsigned shared_along = shared + L::lines_bytes;
    Tile<In, lines_by_depth, along_by_depth, WIDTH> tile = {
        {item<const In>(with_lines, 0, at.batch), lines_lead, (int)at.line, t.is_by_row ? p.m : p.n, p.k, shared},
        {item<const In>(with_along, 0, at.batch), along_lead, (int)at.along, t.is_by_row ? p.n : p.m, p.k,
         shared_along},
        {shared, line},
        {shared_along, along}};
    Sums<In, WIDTH> sums = {};
    const int count = (p.k + (int)Elements<In>::in_row - 1) / (int)Elements<In>::in_row;
    tile.sum_up(sums, p.k, t.stages, count, first_stage(count));
    A *place = (A *)memory + warp * 16 * L::stride;
    const Place own = {at.line + line, at.along + along, at.batch};
    store<Out, In, WIDTH>(t, sums, place, own);
}

/* ---- Instances: mma_TYPE_LA_WIDTH; L, A: d if the lines, and what is along them, are stored by depth, else o ---- */

/* The build compiles this file once for each type, because a program that uses one type should not wait for ptxas to
 * assemble the others. MMA_NAME, MMA_TYPE: a type's name and its type here; MMA_BY_DEPTH: operands are stored by depth,
 * because ldmatrix transposes only halves. */
#define KERNEL(name, ...)                                                                                     \
    extern "C" __global__ void __launch_bounds__(THREADS, 2) name(const BlasMma t) { product<__VA_ARGS__>(t); }
#define KERNEL_DD(name, In, WIDTH) KERNEL(mma_##name##_dd_##WIDTH, In, true, true, WIDTH)
#define KERNELS_O(name, In, WIDTH)                                                                            \
    KERNEL(mma_##name##_do_##WIDTH, In, true, false, WIDTH)                                                   \
    KERNEL(mma_##name##_od_##WIDTH, In, false, true, WIDTH)                                                   \
    KERNEL(mma_##name##_oo_##WIDTH, In, false, false, WIDTH)
#define OF_TYPE(kernels, name, WIDTH) kernels(name, MMA_TYPE, WIDTH)
OF_TYPE(KERNEL_DD, MMA_NAME, 128)
OF_TYPE(KERNEL_DD, MMA_NAME, 64)
#ifndef MMA_BY_DEPTH
OF_TYPE(KERNELS_O, MMA_NAME, 128)
OF_TYPE(KERNELS_O, MMA_NAME, 64)
#endif
