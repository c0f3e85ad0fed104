/* Microbenchmarks: the latency and throughput of instructions, loads and atomics. Kernels read the
 * SM's clock themselves; the host times the traffic of the whole GPU. The instructions are PTX that
 * no compiler may drop or reorder, so that they also run as written on a real GPU. host.c explains
 * the use of the numbers. */
#include "tyto_device.h"

typedef unsigned long long u64;

enum { UNROLLED = 64 }; /* instructions between two reads of the clock */

/* The statement `text`, repeated this number of times. */
#define TIMES4(text)  text text text text
#define TIMES8(text)  TIMES4(text) TIMES4(text)
#define TIMES16(text) TIMES4(TIMES4(text))
#define TIMES32(text) TIMES4(TIMES8(text))
#define TIMES64(text) TIMES4(TIMES16(text))

static __device__ inline u64 clock_now() {
    u64 now;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(now)::"memory");
    return now;
}

/* The interval of each warp: cycles[2 warp] is its start, the next its end. */
static __device__ inline void note(u64 *cycles, u64 start, u64 end) {
    unsigned warp = threadIdx.x / 32;
    if (threadIdx.x % 32) return;
    cycles[2 * warp] = start;
    cycles[2 * warp + 1] = end;
}

/* ---- Instructions ---- */

/* A chain of UNROLLED instructions: each needs the previous result. It runs twice, so that the
 * second run finds its code cached. `text` and `next` alternate, because a real GPU's compiler
 * would merge a second sum of the same operands with the first. Values that all lanes share use a
 * separate pipeline there, so `zeros` makes them appear to differ. */
#define LATENCY(name, type, kind, text, next)                                                      \
    extern "C" __global__ void latency_##name(u64 *cycles, type *sink, const type *zeros, type a,  \
                                              type b, type c) {                                    \
        type zero = zeros[threadIdx.x];                                                            \
        u64 start = 0, end = 0;                                                                    \
        a += zero, b += zero, c += zero;                                                           \
        for (int pass = 0; pass < 2; pass++) {                                                     \
            start = clock_now();                                                                   \
            TIMES32(asm volatile(text : "+" kind(a), "+" kind(b) : kind(c));                       \
                    asm volatile(next : "+" kind(a), "+" kind(b) : kind(c));)                      \
            end = clock_now();                                                                     \
        }                                                                                          \
        sink[threadIdx.x] = a + b;                                                                 \
        note(cycles, start, end);                                                                  \
    }

/* Four such chains in every thread, which are independent of each other. */
#define FOUR(kind, text)                                                                           \
    asm volatile(text : "+" kind(a), "+" kind(b) : kind(c));                                       \
    asm volatile(text : "+" kind(d), "+" kind(e) : kind(c));                                       \
    asm volatile(text : "+" kind(f), "+" kind(g) : kind(c));                                       \
    asm volatile(text : "+" kind(h), "+" kind(i) : kind(c));

#define THROUGHPUT(name, type, kind, text, next)                                                   \
    extern "C" __global__ void throughput_##name(u64 *cycles, type *sink, const type *zeros,       \
                                                 type a, type b, type c) {                         \
        type zero = zeros[threadIdx.x];                                                            \
        a += zero, b += zero, c += zero;                                                           \
        type d = b, e = c, f = c, g = a, h = a + b, i = a;                                         \
        u64 start = 0, end = 0;                                                                    \
        for (int pass = 0; pass < 2; pass++) {                                                     \
            __syncthreads();                                                                       \
            start = clock_now();                                                                   \
            TIMES8(FOUR(kind, text) FOUR(kind, next))                                              \
            end = clock_now();                                                                     \
        }                                                                                          \
        sink[threadIdx.x] = a + b + d + e + f + g + h + i;                                         \
        note(cycles, start, end);                                                                  \
    }

#define ALTERNATELY(name, type, kind, text, next)                                                  \
    LATENCY(name, type, kind, text, next)                                                          \
    THROUGHPUT(name, type, kind, text, next)
#define BOTH(name, type, kind, text) ALTERNATELY(name, type, kind, text, text)

ALTERNATELY(iadd, unsigned, "r", "add.u32 %0, %0, %1;", "add.u32 %1, %1, %0;")
ALTERNATELY(imul, unsigned, "r", "mul.lo.u32 %0, %0, %1;", "mul.lo.u32 %1, %1, %0;")
BOTH(imad, unsigned, "r", "mad.lo.u32 %0, %0, %1, %2;")
ALTERNATELY(logic, unsigned, "r", "lop3.b32 %0, %0, %1, %2, 0x6A;",
            "lop3.b32 %1, %1, %0, %2, 0x6A;")
BOTH(shift, unsigned, "r", "shl.b32 %0, %0, %1;")
BOTH(popc, unsigned, "r", "popc.b32 %0, %0;")
BOTH(fadd, float, "f", "add.f32 %0, %0, %1;")
BOTH(fmul, float, "f", "mul.f32 %0, %0, %1;")
BOTH(ffma, float, "f", "fma.rn.f32 %0, %0, %1, %2;")
BOTH(hfma2, unsigned, "r", "fma.rn.f16x2 %0, %0, %1, %2;")
BOTH(dadd, double, "d", "add.f64 %0, %0, %1;")
BOTH(dfma, double, "d", "fma.rn.f64 %0, %0, %1, %2;")
BOTH(rsqrt, float, "f", "rsqrt.approx.ftz.f32 %0, %0;")
BOTH(ex2, float, "f", "ex2.approx.ftz.f32 %0, %0;")
BOTH(shuffle, unsigned, "r", "shfl.sync.bfly.b32 %0, %0, 1, 31, -1;")

/* Adds the product of two matrices of ones to a sum, which the next instruction needs; in the
 * throughput test, every second one needs it. */
#define WMMA(c)                                                                                    \
    asm volatile("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 "                                \
                 "{%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %8, %8, %8, %8, %8, %8, %8}, "            \
                 "{%8, %8, %8, %8, %8, %8, %8, %8}, {%0, %1, %2, %3, %4, %5, %6, %7};"             \
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]),         \
                   "+f"(c[6]), "+f"(c[7])                                                          \
                 : "r"(halves));

/* The sum of all results. The assembler drops an instruction whose results are not used, and a
 * product consists of two. */
static __device__ float sum_of(const float *c) {
    return c[0] + c[1] + c[2] + c[3] + c[4] + c[5] + c[6] + c[7];
}

extern "C" __global__ void latency_wmma(u64 *cycles, float *sink, unsigned halves) {
    float c[8] = {};
    u64 start = 0, end = 0;
    for (int pass = 0; pass < 2; pass++) {
        start = clock_now();
        TIMES64(WMMA(c))
        end = clock_now();
    }
    sink[threadIdx.x] = sum_of(c);
    note(cycles, start, end);
}

extern "C" __global__ void throughput_wmma(u64 *cycles, float *sink, unsigned halves) {
    float c[8] = {}, d[8] = {};
    u64 start = 0, end = 0;
    for (int pass = 0; pass < 2; pass++) {
        __syncthreads();
        start = clock_now();
        TIMES4(TIMES4(WMMA(c) WMMA(d)))
        end = clock_now();
    }
    sink[threadIdx.x] = sum_of(c) + sum_of(d);
    note(cycles, start, end);
}

/* ---- Loads that lead to one another ---- */

/* Follows `count` pointers from `first` on, twice if `is_warm`, so that the second pass finds them
 * cached. It stores the last pointer, which the host checks. */
#define CHASE(name, load)                                                                          \
    extern "C" __global__ void chase_##name(u64 *cycles, u64 *sink, u64 first, unsigned count,     \
                                            unsigned is_warm) {                                    \
        u64 start = 0, end = 0, at = first;                                                        \
        for (unsigned pass = 0; pass < 1 + is_warm; pass++) {                                      \
            start = clock_now();                                                                   \
            at = first;                                                                            \
            for (unsigned i = 0; i < count; i += 16) {                                             \
                TIMES16(asm volatile(load " %0, [%0];" : "+l"(at)::"memory");)                     \
            }                                                                                      \
            end = clock_now() + (at == 0);                                                         \
        }                                                                                          \
        *sink = at;                                                                                \
        note(cycles, start, end);                                                                  \
    }

CHASE(ca, "ld.global.ca.u64")
CHASE(cg, "ld.global.cg.u64")

/* The same in constant memory. A chase begins at an address of that space, which the previous
 * kernel stores. */
__constant__ u64 constants[8192];
CHASE(constant, "ld.const.u64")
extern "C" __global__ void constant_base(u64 *sink) {
    asm volatile("cvta.to.const.u64 %0, %1;" : "=l"(*sink) : "l"(constants));
}

/* Every lane reads the word with its own address, `stride` words from its neighbour's. */
extern "C" __global__ void chase_shared(u64 *cycles, unsigned *sink, unsigned stride) {
    __shared__ unsigned words[32 * 32];
    unsigned lane = threadIdx.x, at;
    asm volatile("{ .reg .u64 t; cvta.to.shared.u64 t, %1; cvt.u32.u64 %0, t; }"
                 : "=r"(at)
                 : "l"(&words[lane * stride]));
    words[lane * stride] = at;
    __syncthreads();
    u64 start = 0, end = 0;
    for (int pass = 0; pass < 2; pass++) {
        start = clock_now();
        TIMES64(asm volatile("ld.shared.u32 %0, [%0];" : "+r"(at)::"memory");)
        end = clock_now() + (at == 0xFFFFFFFF);
    }
    sink[lane] = at;
    note(cycles, start, end);
}

/* ---- Bandwidth within an SM ---- */

/* Every thread reads UNROLLED groups of 4 or 16 bytes, one row of a warp's groups after the other.
 * No word is read twice in a row, because a compiler would keep it. In each eight rows the places
 * are at fixed offsets from `at`, so that other instructions do not limit the rate. A group's words
 * are added up, because a compiler would not load unused words. */
#define READS_EIGHT(load, row)                                                                     \
    load(0 * row) load(1 * row) load(2 * row) load(3 * row) load(4 * row) load(5 * row)            \
        load(6 * row) load(7 * row)

#define READS(start_address, load, row)                                                            \
    u64 start = 0, end = 0;                                                                        \
    unsigned sum = 0;                                                                              \
    for (int pass = 0; pass < 2; pass++) {                                                         \
        auto at = start_address;                                                                   \
        __syncthreads();                                                                           \
        start = clock_now();                                                                       \
        _Pragma("unroll 1") for (unsigned i = 0; i < UNROLLED; i += 8, at += 8 * row){             \
            READS_EIGHT(load, row)} end = clock_now() + (sum == 1);                                \
    }                                                                                              \
    sink[threadIdx.x] = sum;                                                                       \
    note(cycles, start, end);

#define LOAD_WORD(from)                                                                            \
    {                                                                                              \
        unsigned v;                                                                                \
        asm volatile("ld.global.ca.u32 %0, [%1+%2];" : "=r"(v) : "l"(at), "n"(from));              \
        sum ^= v;                                                                                  \
    }
#define LOAD_FOUR(from)                                                                            \
    {                                                                                              \
        uint4 v;                                                                                   \
        asm volatile("ld.global.ca.v4.u32 {%0, %1, %2, %3}, [%4+%5];"                              \
                     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)                                  \
                     : "l"(at), "n"(from));                                                        \
        sum ^= v.x ^ v.y ^ v.z ^ v.w;                                                              \
    }
#define LOAD_SHARED(from)                                                                          \
    {                                                                                              \
        unsigned v;                                                                                \
        asm volatile("ld.shared.u32 %0, [%1+%2];" : "=r"(v) : "r"(at), "n"(from) : "memory");      \
        sum ^= v;                                                                                  \
    }

extern "C" __global__ void reads_l1_4(u64 *cycles, unsigned *sink, const unsigned *data) {
    READS((u64)data + threadIdx.x % 512 * 4, LOAD_WORD, 128)
}

extern "C" __global__ void reads_l1_16(u64 *cycles, unsigned *sink, const unsigned *data) {
    READS((u64)data + threadIdx.x % 512 * 16, LOAD_FOUR, 512)
}

extern "C" __global__ void reads_shared(u64 *cycles, unsigned *sink, const unsigned *data) {
    __shared__ unsigned words[1024 + UNROLLED * 32];
    unsigned first;
    for (unsigned word = threadIdx.x; word < sizeof words / sizeof *words; word += blockDim.x)
        words[word] = data[word];
    asm volatile("{ .reg .u64 t; cvta.to.shared.u64 t, %1; cvt.u32.u64 %0, t; }"
                 : "=r"(first)
                 : "l"(&words[threadIdx.x]));
    READS(first, LOAD_SHARED, 128)
}

/* ---- Bandwidth of the whole GPU, timed by the host ---- */

/* Each thread reads `count` groups of 16 bytes: all threads' first groups are contiguous, then all
 * second groups, and so on. It wraps around a buffer of `groups` (a power of two), and bypasses the
 * L1 cache. */
extern "C" __global__ void stream_read(unsigned *sink, const uint4 *data, unsigned count,
                                       unsigned groups) {
    unsigned threads = gridDim.x * blockDim.x, at = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned sum = 0, v0, v1, v2, v3;
    for (unsigned i = 0; i < count; i++, at += threads) {
        asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(v0), "=r"(v1), "=r"(v2), "=r"(v3)
                     : "l"(&data[at & (groups - 1)]));
        sum ^= v0 ^ v1 ^ v2 ^ v3;
    }
    if (sum == 1) *sink = sum;
}

/* The same for writes, without wrapping around. */
extern "C" __global__ void stream_write(unsigned *sink, uint4 *data, unsigned count,
                                        unsigned groups) {
    unsigned threads = gridDim.x * blockDim.x, at = blockIdx.x * blockDim.x + threadIdx.x;
    for (unsigned i = 0; i < count && at < groups; i++, at += threads)
        asm volatile("st.global.cg.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(&data[at]), "r"(i));
    if (!count) *sink = 0;
}

extern "C" __global__ void nothing() {}

/* ---- Atomics ---- */

/* Each thread adds to its own word, `stride` words from its neighbour's, a number that depends on
 * its last result. It uses 16 pages in turn, so that the words are in many slices of the L2. */
#define ATOMIC_ADD(page)                                                                           \
    asm volatile("atom.global.add.u32 %0, [%1+%2], %0;"                                            \
                 : "+r"(value)                                                                     \
                 : "l"(word), "n"((page)*4096)                                                     \
                 : "memory");
#define ATOMIC_ADDS(page)                                                                          \
    ATOMIC_ADD(page) ATOMIC_ADD(page + 1) ATOMIC_ADD(page + 2) ATOMIC_ADD(page + 3)

extern "C" __global__ void atomic_global(u64 *cycles, unsigned *sink, unsigned *data,
                                         unsigned stride) {
    unsigned *word = &data[threadIdx.x * stride], value = 0;
    u64 start = 0, end = 0;
    for (int pass = 0; pass < 2; pass++) {
        start = clock_now();
        ATOMIC_ADDS(0) ATOMIC_ADDS(4) ATOMIC_ADDS(8) ATOMIC_ADDS(12)
        end = clock_now() + (value == 1);
    }
    sink[threadIdx.x] = value;
    note(cycles, start, end);
}

extern "C" __global__ void atomic_shared(u64 *cycles, unsigned *sink, unsigned *data,
                                         unsigned stride) {
    __shared__ unsigned words[32];
    unsigned value = 0;
    words[threadIdx.x % 32] = data[0];
    __syncthreads();
    u64 start = 0, end = 0;
    for (int pass = 0; pass < 2; pass++) {
        start = clock_now();
        TIMES16(value = atomicAdd(&words[threadIdx.x * stride], value);)
        end = clock_now() + (value == 1);
    }
    sink[threadIdx.x] = value;
    note(cycles, start, end);
}
