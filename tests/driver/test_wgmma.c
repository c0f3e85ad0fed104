/* Compares wgmma with scalar products: every family of types, A in registers or in shared memory,
 * every layout and swizzle of A and B, negations, transpositions, sums with and without the old D.
 * Operands are small numbers whose sums every format holds exactly, and random bits of integers.
 * The model looks up each element with its own formula. TYTO_OPTIONS determine what executes, and
 * whether the run is timed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tyto/cuda.h"

#define assert_cuda(call) assert_int_equal((call), CUDA_SUCCESS)

enum {
    IMAGE = 1 << 15, /* bytes of shared memory for the matrices */
    THREADS = 256,   /* two warpgroups that compute the same; most trials have one */
    GROUP = 128,
    MOST_SUMS = 128, /* most registers of D */
    TEXT = 1 << 15
};

/* ---- Elements ---- */

typedef enum Element { F16, BF16, TF32, E4M3, E5M2, S8, U8, B1 } Element;

typedef struct Kind {
    const char *d, *a, *b; /* type names in PTX */
    Element of_a, of_b;
    int k;
    bool is_f16; /* D is f16 */
    bool saturates;
} Kind;

static const Kind kinds[] = {
    {"f32", "f16", "f16", F16, F16, 16, false, false},
    {"f16", "f16", "f16", F16, F16, 16, true, false},
    {"f32", "bf16", "bf16", BF16, BF16, 16, false, false},
    {"f32", "tf32", "tf32", TF32, TF32, 8, false, false},
    {"f32", "e4m3", "e5m2", E4M3, E5M2, 32, false, false},
    {"f16", "e5m2", "e4m3", E5M2, E4M3, 32, true, false},
    {"f32", "e4m3", "e4m3", E4M3, E4M3, 32, false, false},
    {"s32", "s8", "u8", S8, U8, 32, false, false},
    {"s32", "u8", "s8", U8, S8, 32, false, true},
    {"s32", "s8", "s8", S8, S8, 32, false, true},
    {"s32", "b1", "b1", B1, B1, 256, false, false},
};

static int bits_of(Element element) {
    static const int bits[] = {16, 16, 32, 8, 8, 8, 8, 1};
    return bits[element];
}

static bool is_integer(const Kind *kind) { return kind->of_a >= S8; }

/* Encodes a multiple of one half from -2 to 2, in a format with `exponent_bits` and
 * `fraction_bits`. */
static uint32_t encode(double x, int exponent_bits, int fraction_bits) {
    if (x == 0) return 0;
    int exponent;
    const double fraction = 2 * frexp(fabs(x), &exponent) - 1;
    const int bias = (1 << (exponent_bits - 1)) - 1;
    return (uint32_t)(x < 0) << (exponent_bits + fraction_bits) |
           (uint32_t)(exponent - 1 + bias) << fraction_bits |
           (uint32_t)ldexp(fraction, fraction_bits);
}

static double decode(uint32_t bits, int exponent_bits, int fraction_bits) {
    const uint32_t magnitude = bits & ((1u << (exponent_bits + fraction_bits)) - 1);
    const int exponent = (int)(magnitude >> fraction_bits) - (1 << (exponent_bits - 1)) + 1;
    const double fraction = ldexp(magnitude & ((1u << fraction_bits) - 1), -fraction_bits);
    const double value = magnitude ? ldexp(1 + fraction, exponent) : 0;
    return bits >> (exponent_bits + fraction_bits) ? -value : value;
}

static const int exponents[] = {5, 8, 8, 4, 5}, fractions[] = {10, 7, 10, 3, 2};

static uint32_t random_state = 1;

static uint32_t draw(uint32_t below) {
    random_state = random_state * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)(random_state >> 8) * below >> 24);
}

/* Fills memory with elements: small numbers, or random bits. */
static void fill(Element element, unsigned char *bytes, int count) {
    const int width = bits_of(element) / 8;
    for (int at = 0; at < count; at += width ? width : 1) {
        uint32_t value = draw(256);
        if (element < S8)
            value = encode((int)draw(9) / 2.0 - 2, exponents[element], fractions[element]);
        if (element == TF32) value = value << 13 | draw(1 << 13); /* ignored bits */
        memcpy(bytes + at, &value, (size_t)(width ? width : 1));
    }
}

/* Element `index` of a unit in memory. */
static double value_of(Element element, const unsigned char *unit, int index) {
    const int bits = bits_of(element);
    uint32_t value = 0;
    if (element == B1) return unit[index / 8] >> index % 8 & 1;
    memcpy(&value, unit + index * bits / 8, (size_t)bits / 8);
    if (element == S8) return (int8_t)value;
    if (element == U8) return value;
    return decode(element == TF32 ? value >> 13 : value, exponents[element], fractions[element]);
}

/* ---- Layouts ---- */

typedef struct Layout {
    int swizzle; /* 0, 32, 64 or 128 bytes */
    bool is_transposed;
    uint32_t start, leading, stride, base;
} Layout;

static void draw_layout(Layout *layout, int swizzle, bool is_transposed) {
    *layout = (Layout){.swizzle = swizzle, .is_transposed = is_transposed};
    layout->leading = 16 * (1 + draw(40));
    layout->stride = 16 * (1 + draw(40));
    layout->start = swizzle ? 1024 * draw(4) + 32 * draw(4) : 16 * draw(128);
    if (swizzle && draw(2)) { /* the pattern starts at an offset */
        layout->start += 128 * draw(8);
        layout->base = draw(8);
    }
}

static uint64_t descriptor_of(const Layout *layout) {
    const uint64_t modes[] = {0, 3, 2, 1};
    return (uint64_t)layout->start >> 4 | (uint64_t)layout->leading >> 4 << 16 |
           (uint64_t)layout->stride >> 4 << 32 | (uint64_t)layout->base << 49 |
           modes[layout->swizzle / 32 - layout->swizzle / 128] << 62;
}

/* Byte offset in the image of element (mn, k); for b1, k counts bits. */
static uint32_t place_of(const Layout *layout, Element element, int mn, int k) {
    const int per_unit = 128 / bits_of(element);
    const uint32_t side = (uint32_t)(layout->is_transposed ? mn : k); /* along a row of memory */
    const uint32_t up = (uint32_t)(layout->is_transposed ? k : mn);
    const uint32_t unit = side / (uint32_t)per_unit, in_unit = side % (uint32_t)per_unit;
    const uint32_t inside = in_unit * (uint32_t)bits_of(element) / 8;
    if (!layout->swizzle) { /* blocks of 8 rows of 16 bytes */
        const uint32_t next_up = layout->is_transposed ? layout->leading : layout->stride;
        const uint32_t next_side = layout->is_transposed ? layout->stride : layout->leading;
        return layout->start + up % 8 * 16 + up / 8 * next_up + unit * next_side + inside;
    }
    const uint32_t width = (uint32_t)layout->swizzle / 16;
    const uint32_t at = layout->start + up / 8 * layout->stride + unit / width * layout->leading +
                        up % 8 * (uint32_t)layout->swizzle + unit % width * 16;
    const uint32_t line = (at / 128 + 8 - layout->base) % 8; /* line in the pattern */
    const uint32_t place = at / 16 % 8;
    return at / 128 * 128 + (place ^ line % width) * 16 + inside;
}

/* ---- One product ---- */

typedef struct Trial {
    const Kind *kind;
    int n;
    bool a_in_registers, adds, negates_a, negates_b;
    int scale_as; /* form of the predicate */
    int threads;
    Layout a, b;
} Trial;

static unsigned char image[IMAGE];
static uint32_t sums[THREADS][MOST_SUMS], found[THREADS][MOST_SUMS], factors[THREADS][4];
static CUcontext context;
static CUdeviceptr image_at, sums_at, factors_at;

static int sums_of(const Trial *t) { return t->kind->is_f16 ? t->n / 4 : t->n / 2; }

static int add(char *text, int used, const char *format, ...) {
    va_list args;
    va_start(args, format);
    used += vsnprintf(text + used, (size_t)(TEXT - used), format, args);
    va_end(args);
    assert_true(used < TEXT);
    return used;
}

static int add_list(char *text, int used, const char *name, int count) {
    used = add(text, used, "{");
    for (int i = 0; i < count; i++)
        used = add(text, used, "%s%s%d", i ? ", " : "", name, i);
    return add(text, used, "}");
}

static const char head[] =
    ".version 8.8\n.target sm_90a\n.address_size 64\n.extern .shared .align 1024 .b8 room[];\n"
    ".visible .entry k(.param .u64 image, .param .u64 sums, .param .u64 factors,"
    " .param .u64 da, .param .u64 db, .param .u32 adds) {\n"
    "  .reg .b64 %i, %s, %f, %a, %b, %w<2>, %l; .reg .b32 %t, %r, %n, %d<128>, %x<4>;\n"
    "  .reg .pred p, q;\n"
    "  ld.param.u64 %i, [image]; ld.param.u64 %s, [sums]; ld.param.u64 %f, [factors];\n"
    "  ld.param.u64 %a, [da]; ld.param.u64 %b, [db]; ld.param.u32 %n, [adds];\n"
    "  setp.ne.u32 p, %n, 0; mov.u32 %t, %tid.x;\n"
    "  mad.wide.u32 %s, %t, 512, %s; mad.wide.u32 %f, %t, 16, %f;\n"
    /* the image starts at a multiple of 1,024, where the pattern of a swizzle starts */
    "  mov.u32 %r, room; add.u32 %r, %r, 1023; and.b32 %r, %r, -1024;\n"
    "  shr.u32 %n, %r, 4; cvt.u64.u32 %l, %n; add.u64 %a, %a, %l; add.u64 %b, %b, %l;\n"
    "  shl.b32 %n, %t, 4;\n"
    "FILL: cvt.u64.u32 %l, %n; add.u64 %l, %i, %l; ld.global.v2.b64 {%w0, %w1}, [%l];\n"
    "  add.u32 %x0, %r, %n; st.shared.v2.b64 [%x0], {%w0, %w1};\n"
    "  mov.u32 %x1, %ntid.x; mad.lo.u32 %n, %x1, 16, %n; setp.lt.u32 q, %n, 32768; @q bra FILL;\n"
    "  fence.proxy.async; bar.sync 0;\n"
    "  ld.global.v4.b32 {%x0, %x1, %x2, %x3}, [%f];\n";

static void write_kernel(const Trial *t, char *text) {
    static const char *const scales[] = {"p", "!p", "1", "0"};
    const Kind *kind = t->kind;
    const int count = sums_of(t);
    int used = add(text, 0, "%s", head);
    for (int i = 0; i < count; i++)
        used = add(text, used, "  ld.global.b32 %%d%d, [%%s+%d];\n", i, 4 * i);
    used = add(text, used, "  wgmma.fence.sync.aligned;\n  wgmma.mma_async.sync.aligned");
    used = add(text, used, ".m64n%dk%d%s.%s.%s.%s%s ", t->n, kind->k,
               kind->saturates ? ".satfinite" : "", kind->d, kind->a, kind->b,
               kind->of_a == B1 ? ".and.popc" : "");
    used = add_list(text, used, "%d", count);
    used = add(text, used, ", ");
    if (t->a_in_registers) used = add_list(text, used, "%x", 4);
    else used = add(text, used, "%%a");
    used = add(text, used, ", %%b, %s", scales[t->scale_as]);
    if (!is_integer(kind))
        used = add(text, used, ", %d, %d", t->negates_a ? -1 : 1, t->negates_b ? -1 : 1);
    if (kind->k == 16 && !t->a_in_registers) used = add(text, used, ", %d", t->a.is_transposed);
    if (kind->k == 16) used = add(text, used, ", %d", t->b.is_transposed);
    used = add(text, used,
               ";\n  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 0;\n");
    for (int i = 0; i < count; i++)
        used = add(text, used, "  st.global.b32 [%%s+%d], %%d%d;\n", 4 * i, i);
    add(text, used, "  ret;\n}\n");
}

static void run(const Trial *t, const char *text) {
    CUmodule module;
    CUfunction kernel;
    uint64_t a = descriptor_of(&t->a), b = descriptor_of(&t->b);
    uint32_t adds = t->scale_as == 1 ? !t->adds : t->adds;
    void *arguments[] = {&image_at, &sums_at, &factors_at, &a, &b, &adds};
    assert_cuda(cuModuleLoadData(&module, text));
    assert_cuda(cuModuleGetFunction(&kernel, module, "k"));
    assert_cuda(
        cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, IMAGE + 1024));
    assert_cuda(cuMemcpyHtoD(image_at, image, IMAGE));
    assert_cuda(cuMemcpyHtoD(sums_at, sums, sizeof sums));
    assert_cuda(cuMemcpyHtoD(factors_at, factors, sizeof factors));
    assert_cuda(cuLaunchKernel(kernel, 1, 1, 1, (unsigned)t->threads, 1, 1, IMAGE + 1024, NULL,
                               arguments, NULL));
    assert_cuda(cuCtxSynchronize());
    assert_cuda(cuMemcpyDtoH(found, sums_at, sizeof found));
    assert_cuda(cuModuleUnload(module));
}

/* Row and column of element `part` of a register of D; PTX ISA, figure of D. */
static void place_of_sum(const Trial *t, int thread, int reg, int part, int *row, int *column) {
    const int pair = t->kind->is_f16 ? reg : reg / 2, low = t->kind->is_f16 ? part : reg % 2;
    const int warp = thread % GROUP / 32, lane = thread % 32;
    *row = 16 * warp + lane / 4 + 8 * (pair % 2);
    *column = 8 * (pair / 2) + 2 * (lane % 4) + low;
}

static double a_at(const Trial *t, int row, int k) {
    const Element element = t->kind->of_a;
    if (!t->a_in_registers) {
        const uint32_t place = place_of(&t->a, element, row, k);
        return value_of(element, image + place, element == B1 ? k % 8 : 0);
    }
    /* four registers: rows 0 to 7 and 8 to 15 of the first half of k, then of the second half */
    const int parts = 32 / bits_of(element), in_row = k % (4 * parts);
    const int reg = row / 8 % 2 + 2 * (k / (4 * parts));
    const int thread = row / 16 * 32 + row % 8 * 4 + in_row / parts;
    return value_of(element, (const unsigned char *)&factors[thread][reg], in_row % parts);
}

static double b_at(const Trial *t, int k, int column) {
    const Element element = t->kind->of_b;
    const uint32_t place = place_of(&t->b, element, column, k);
    return value_of(element, image + place, element == B1 ? k % 8 : 0);
}

static double sum_of(const Trial *t, uint32_t bits, int part) {
    if (is_integer(t->kind)) return (int32_t)bits;
    if (t->kind->is_f16) return decode(bits >> 16 * part & 0xffff, 5, 10);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double expected_at(const Trial *t, int thread, int reg, int part) {
    int row, column;
    place_of_sum(t, thread, reg, part, &row, &column);
    double sum = 0;
    for (int k = 0; k < t->kind->k; k++)
        sum += a_at(t, row, k) * b_at(t, k, column);
    if (t->negates_a != t->negates_b) sum = -sum;
    if (t->adds) sum += sum_of(t, sums[thread][reg], part);
    if (!is_integer(t->kind)) return sum;
    if (t->kind->saturates) return sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
    return (int32_t)(uint32_t)(int64_t)sum;
}

static void check(const Trial *t) {
    static char text[TEXT];
    static uint32_t of_b[IMAGE / 4];
    const Kind *kind = t->kind;
    fill(kind->of_a, image, IMAGE);
    fill(kind->of_b, (unsigned char *)of_b, IMAGE);
    /* Factors with different formats do not share bytes: if the types differ, B uses the upper
     * half. */
    if (kind->of_a != kind->of_b) memcpy(image + IMAGE / 2, of_b, IMAGE / 2);
    for (int thread = 0; thread < GROUP; thread++) {
        fill(kind->of_a, (unsigned char *)factors[thread], 16);
        for (int i = 0; i < MOST_SUMS; i++) {
            const float small = (float)((int)draw(17) - 8);
            memcpy(&sums[thread][i], &small, sizeof small);
            if (is_integer(kind)) sums[thread][i] = draw(2) ? draw(1 << 20) : INT32_MAX - draw(99);
            if (kind->is_f16)
                sums[thread][i] = encode((int)draw(9) / 2.0 - 2, 5, 10) |
                                  encode((int)draw(9) / 2.0 - 2, 5, 10) << 16;
        }
    }
    memcpy(sums + GROUP, sums, sizeof sums / 2);
    memcpy(factors + GROUP, factors, sizeof factors / 2);
    write_kernel(t, text);
    run(t, text);
    for (int thread = 0; thread < t->threads; thread++)
        for (int reg = 0; reg < sums_of(t); reg++)
            for (int part = 0; part < (kind->is_f16 ? 2 : 1); part++) {
                const double expected = expected_at(t, thread, reg, part);
                const double is = sum_of(t, found[thread][reg], part);
                if (is != expected)
                    fail_msg("m64n%dk%d.%s.%s.%s, A %s, swizzles %d and %d: thread %d, register "
                             "%d: %g, not %g",
                             t->n, kind->k, kind->d, kind->a, kind->b,
                             t->a_in_registers ? "in registers" : "in shared memory", t->a.swizzle,
                             t->b.swizzle, thread, reg, is, expected);
            }
}

/* ---- Tests ---- */

static int start(void **state) {
    (void)state;
    return cuInit(0) || cuCtxCreate(&context, NULL, 0, 0) || cuMemAlloc(&image_at, IMAGE) ||
           cuMemAlloc(&sums_at, sizeof sums) || cuMemAlloc(&factors_at, sizeof factors);
}

static int end(void **state) {
    (void)state;
    return cuCtxDestroy(context) != CUDA_SUCCESS;
}

/* Columns of D: any multiple of 8; for integers multiples of 16, and 8 and 24. */
static int draw_columns(const Kind *kind) {
    if (draw(8) == 0) return 256;
    const int n = 8 * (1 + (int)draw(32));
    return is_integer(kind) && n > 24 ? n / 16 * 16 : n;
}

static void check_kind(const Kind *kind, int way, bool a_is_transposed, bool b_is_transposed) {
    static const int swizzles[] = {0, 32, 64, 128};
    Trial t = {.kind = kind, .n = draw_columns(kind), .a_in_registers = way == 4};
    t.threads = draw(4) ? GROUP : THREADS;
    t.adds = draw(3) != 0;
    t.scale_as = draw(2) ? (int)draw(2) : t.adds ? 2 : 3;
    t.negates_a = !is_integer(kind) && draw(3) == 0;
    t.negates_b = !is_integer(kind) && draw(3) == 0;
    draw_layout(&t.a, swizzles[way % 4], a_is_transposed);
    draw_layout(&t.b, swizzles[draw(4)], b_is_transposed);
    if (kind->of_a != kind->of_b) { /* each factor has its half of the image */
        t.b.start = t.b.start % 1024 + IMAGE / 2;
        t.a.start %= 1024;
        t.a.stride = t.a.leading = 16 * (1 + draw(28));
        t.b.stride = t.b.leading = 16 * (1 + draw(28));
    }
    check(&t);
}

static void products_are_those_of_scalars(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (int way = 0; way < 5; way++)
            check_kind(&kinds[i], way, false, false);
}

static void halves_may_be_transposed(void **state) {
    (void)state;
    for (size_t i = 0; i < 3; i++)
        for (int way = 0; way < 5; way++) {
            check_kind(&kinds[i], way, way != 4, draw(2));
            check_kind(&kinds[i], way, false, true);
        }
}

/* One product by wgmma and, for the rows of each warp, by mma. Random bits must give the same sums.
 * A is in registers; B's 8 columns of 32 bytes (64 for a sparse product) are blocks of shared
 * memory. */
static const char beside_mma[] =
    ".version 8.8\n.target sm_90a\n.address_size 64\n"
    ".visible .entry k(.param .u64 image, .param .u64 sums, .param .u64 factors) {\n"
    "  .reg .b64 %%i, %%s, %%f, %%b; .reg .b32 %%t, %%r, %%l, %%d<4>, %%e<4>, %%x<4>, %%y<4>;\n"
    "  .reg .pred p; .shared .align 512 .b8 room[512];\n"
    "  ld.param.u64 %%i, [image]; ld.param.u64 %%s, [sums]; ld.param.u64 %%f, [factors];\n"
    "  mov.u32 %%t, %%tid.x; mov.u32 %%r, room; setp.lt.u32 p, %%t, 128;\n"
    "  mad.wide.u32 %%i, %%t, 4, %%i; ld.global.b32 %%l, [%%i]; shl.b32 %%e0, %%t, 2;\n"
    "  add.u32 %%e0, %%e0, %%r; @p st.shared.b32 [%%e0], %%l; fence.proxy.async; bar.sync 0;\n"
    "  mad.wide.u32 %%s, %%t, 512, %%s; mad.wide.u32 %%f, %%t, 16, %%f;\n"
    "  ld.global.v4.b32 {%%x0, %%x1, %%x2, %%x3}, [%%f];\n"
    "  ld.global.v4.b32 {%%d0, %%d1, %%d2, %%d3}, [%%s];\n"
    "  mov.b32 %%e0, %%d0; mov.b32 %%e1, %%d1; mov.b32 %%e2, %%d2; mov.b32 %%e3, %%d3;\n"
    /* mma's fragment of B: 4 bytes of column lane / 4, from both halves of k */
    "  and.b32 %%l, %%t, 31; shr.u32 %%y0, %%l, 2; and.b32 %%y1, %%l, 3; shl.b32 %%y1, %%y1, 2;\n"
    "  mad.lo.u32 %%l, %%y0, 16, %%y1; add.u32 %%l, %%l, %%r;\n"
    "  ld.shared.b32 %%y0, [%%l]; ld.shared.b32 %%y1, [%%l+128];\n"
    "  ld.shared.b32 %%y2, [%%l+256]; ld.shared.b32 %%y3, [%%l+384];\n"
    "  ld.global.b32 %%l, [%%i+512];\n"
    "  shr.u32 %%r, %%r, 4; cvt.u64.u32 %%b, %%r; or.b64 %%b, %%b, 0x0000001000080000;\n"
    "  wgmma.fence.sync.aligned;\n"
    "  wgmma.mma_async%1$s {%2$s}, {%%x0, %%x1, %%x2, %%x3}, %%b, %4$s;\n"
    "  wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n"
    "  mma%5$s {%3$s}, {%%x0, %%x1, %%x2, %%x3}, {%6$s}, {%3$s}%7$s;\n"
    "  st.global.v4.b32 [%%s], {%%d0, %%d1, %%d2, %%d3};\n"
    "  st.global.v4.b32 [%%s+16], {%%e0, %%e1, %%e2, %%e3}; ret;\n}\n";

static void sums_are_those_of_mma(void **state) {
    (void)state;
    static const struct {
        const char *wgmma, *mma, *trailing;
        bool is_f16;
        bool is_sparse;
        int selector;
    } rows[] = {
        {"k16.f32.f16.f16", "k16.row.col.f32.f16.f16.f32", ", 0", false, false, 0},
        {"k16.f16.f16.f16", "k16.row.col.f16.f16.f16.f16", ", 0", true, false, 0},
        {"k16.f32.bf16.bf16", "k16.row.col.f32.bf16.bf16.f32", ", 0", false, false, 0},
        {"k8.f32.tf32.tf32", "k8.row.col.f32.tf32.tf32.f32", "", false, false, 0},
        {"k32.f32.f16.f16", "k32.row.col.f32.f16.f16.f32", ", 0", false, true, 0},
        {"k32.f16.f16.f16", "k32.row.col.f16.f16.f16.f16", ", 0", true, true, 1},
        {"k32.f32.bf16.bf16", "k32.row.col.f32.bf16.bf16.f32", ", 0", false, true, 1},
        {"k16.f32.tf32.tf32", "k16.row.col.f32.tf32.tf32.f32", "", false, true, 1},
        /* mma of 8-bit floats is left out: on sm_90 it is composed of operations on halves */
        {"k64.s32.s8.u8", "k64.row.col.s32.s8.u8.s32", "", false, true, 0},
        {"k64.satfinite.s32.u8.u8", "k64.row.col.satfinite.s32.u8.u8.s32", "", false, true, 0},
    };
    static const char *const four[] = {"%d0, %d1, %d2, %d3", "%e0, %e1, %e2, %e3"};
    static const char *const two[] = {"%d0, %d1", "%e0, %e1"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        static char text[TEXT];
        const char *const *lists = rows[i].is_f16 ? two : four;
        CUmodule module;
        CUfunction kernel;
        void *arguments[] = {&image_at, &sums_at, &factors_at};
        char wgmma[64], mma[64], trailing[32], metadata[16] = "";
        const bool is_sparse = rows[i].is_sparse, has_signs = !strstr(rows[i].wgmma, "s32");
        snprintf(wgmma, sizeof wgmma, "%s.sync.aligned.m64n8%s", is_sparse ? ".sp" : "",
                 rows[i].wgmma);
        snprintf(mma, sizeof mma, "%s.sync.aligned.m16n8%s", is_sparse ? ".sp" : "", rows[i].mma);
        if (is_sparse) snprintf(metadata, sizeof metadata, ", %%l, %d", rows[i].selector);
        snprintf(trailing, sizeof trailing, "%s%s1%s%s", is_sparse ? metadata + 2 : "",
                 is_sparse ? ", " : "", has_signs ? ", 1, 1" : "", rows[i].trailing);
        snprintf(text, sizeof text, beside_mma, wgmma, lists[0], lists[1], trailing, mma,
                 is_sparse ? "%y0, %y1, %y2, %y3" : "%y0, %y1", metadata);
        assert_cuda(cuModuleLoadData(&module, text));
        assert_cuda(cuModuleGetFunction(&kernel, module, "k"));
        for (int round = 0; round < 8; round++) {
            fill(U8, image, 1024);
            fill(U8, (unsigned char *)factors, sizeof factors);
            fill(U8, (unsigned char *)sums, sizeof sums);
            assert_cuda(cuMemcpyHtoD(image_at, image, IMAGE));
            assert_cuda(cuMemcpyHtoD(sums_at, sums, sizeof sums));
            assert_cuda(cuMemcpyHtoD(factors_at, factors, sizeof factors));
            assert_cuda(cuLaunchKernel(kernel, 1, 1, 1, GROUP, 1, 1, 0, NULL, arguments, NULL));
            assert_cuda(cuCtxSynchronize());
            assert_cuda(cuMemcpyDtoH(found, sums_at, sizeof found));
            for (int thread = 0; thread < GROUP; thread++)
                assert_memory_equal(&found[thread][0], &found[thread][4], rows[i].is_f16 ? 8 : 16);
        }
        assert_cuda(cuModuleUnload(module));
    }
}

/* Warp 0 overwrites B as soon as its wait ends; the other three warps start the product later. */
static const char late_warps[] =
    ".version 8.8\n.target sm_90a\n.address_size 64\n"
    ".visible .entry k(.param .u64 sums) {\n"
    "  .reg .b64 %s, %b; .reg .b32 %t, %r, %l, %n, %x, %d<4>; .reg .pred p, q;\n"
    "  .shared .align 512 .b8 room[256];\n"
    "  ld.param.u64 %s, [sums]; mov.u32 %t, %tid.x; mov.u32 %r, room; mov.u32 %x, 0x3c003c00;\n"
    "  mad.wide.u32 %s, %t, 16, %s; shl.b32 %l, %t, 3; add.u32 %l, %l, %r;\n"
    "  setp.lt.u32 p, %t, 32; @p st.shared.v2.b32 [%l], {%x, %x};\n"
    "  fence.proxy.async; bar.sync 0;\n"
    "  shr.u32 %n, %t, 5; mul.lo.u32 %n, %n, 300;\n"
    "LATE: setp.eq.u32 q, %n, 0; @q bra NOW; sub.u32 %n, %n, 1; membar.cta; bra LATE;\n"
    "NOW: shr.u32 %r, %r, 4; cvt.u64.u32 %b, %r; or.b64 %b, %b, 0x0000001000080000;\n"
    "  wgmma.fence.sync.aligned;\n"
    "  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0, %d1, %d2, %d3}, {%x, %x, %x, %x},"
    " %b, 0, 1, 1, 0;\n"
    "  wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n"
    "  mov.u32 %n, 0; @p st.shared.v2.b32 [%l], {%n, %n};\n"
    "  st.global.v4.b32 [%s], {%d0, %d1, %d2, %d3}; ret;\n}\n";

static void a_wait_is_for_all_warps(void **state) {
    (void)state;
    CUmodule module;
    CUfunction kernel;
    void *arguments[] = {&sums_at};
    float results[GROUP][4];
    assert_cuda(cuModuleLoadData(&module, late_warps));
    assert_cuda(cuModuleGetFunction(&kernel, module, "k"));
    assert_cuda(cuLaunchKernel(kernel, 1, 1, 1, GROUP, 1, 1, 0, NULL, arguments, NULL));
    assert_cuda(cuCtxSynchronize());
    assert_cuda(cuMemcpyDtoH(results, sums_at, sizeof results));
    for (int thread = 0; thread < GROUP; thread++)
        for (int i = 0; i < 4; i++)
            assert_true(results[thread][i] == 16);
    assert_cuda(cuModuleUnload(module));
}

/* ---- Registers ---- */

enum { TAKEN = 180, LAUNCH_THREADS = 4 * GROUP }; /* values at once; each thread starts with 128 */

/* One warpgroup takes more registers than the launch gave its threads, and uses them all. */
static void write_many(char *text) {
    int used =
        add(text, 0,
            ".version 8.8\n.target sm_90a\n.address_size 64\n"
            ".visible .entry k(.param .u64 in, .param .u64 to) .maxntid %d .minnctapersm 1 {\n"
            "  .reg .b64 %%in, %%to; .reg .b32 %%t, %%x, %%v<%d>; .reg .pred p;\n"
            "  ld.param.u64 %%in, [in]; ld.param.u64 %%to, [to]; mov.u32 %%t, %%tid.x;\n"
            "  setp.ge.u32 p, %%t, %d; @p bra MANY;\n"
            "  setmaxnreg.dec.sync.aligned.u32 40; ret;\n"
            "MANY: setmaxnreg.inc.sync.aligned.u32 232;\n",
            LAUNCH_THREADS, TAKEN, LAUNCH_THREADS - GROUP);
    for (int i = 0; i < TAKEN; i++)
        used = add(text, used, "  ld.volatile.global.u32 %%v%d, [%%in+%d];\n", i, 4 * i);
    used = add(text, used, "  bar.sync 1, %d; ld.volatile.global.u32 %%x, [%%in];\n", GROUP);
    for (int i = 0; i < TAKEN; i++)
        used = add(text, used, "  mad.lo.u32 %%x, %%x, 3, %%v%d;\n", i);
    add(text, used,
        "  sub.u32 %%t, %%t, %d; mad.wide.u32 %%to, %%t, 4, %%to; st.global.u32 [%%to], %%x; "
        "ret;\n}\n",
        LAUNCH_THREADS - GROUP);
}

static void a_warpgroup_takes_registers(void **state) {
    (void)state;
    static char text[TEXT];
    CUmodule module;
    CUfunction kernel;
    void *arguments[] = {&image_at, &sums_at};
    uint32_t words[TAKEN], results[GROUP], expected;
    for (int i = 0; i < TAKEN; i++)
        words[i] = draw(1 << 16);
    expected = words[0];
    for (int i = 0; i < TAKEN; i++)
        expected = 3 * expected + words[i];
    write_many(text);
    assert_cuda(cuMemcpyHtoD(image_at, words, sizeof words));
    assert_cuda(cuModuleLoadData(&module, text));
    assert_cuda(cuModuleGetFunction(&kernel, module, "k"));
    assert_cuda(cuLaunchKernel(kernel, 1, 1, 1, LAUNCH_THREADS, 1, 1, 0, NULL, arguments, NULL));
    assert_cuda(cuMemcpyDtoH(results, sums_at, sizeof results));
    for (int thread = 0; thread < GROUP; thread++)
        assert_int_equal(results[thread], expected);
    assert_cuda(cuModuleUnload(module));
}

/* A descriptor that points outside of shared memory, and warps without a warpgroup. */
static void what_cannot_be_is_told(void **state) {
    (void)state;
    static char text[TEXT];
    for (int way = 0; way < 3; way++) {
        Trial t = {.kind = &kinds[0], .n = 64, .adds = true};
        draw_layout(&t.a, 0, false);
        draw_layout(&t.b, 128, false);
        if (way == 0) t.a.stride = 0x3fff0;
        if (way == 1) t.b.start = 0x3f000;
        write_kernel(&t, text);
        CUmodule module;
        CUfunction kernel;
        uint64_t a = descriptor_of(&t.a), b = descriptor_of(&t.b);
        uint32_t adds = 1;
        void *arguments[] = {&image_at, &sums_at, &factors_at, &a, &b, &adds};
        assert_cuda(cuModuleLoadData(&module, text));
        assert_cuda(cuModuleGetFunction(&kernel, module, "k"));
        assert_cuda(cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                       IMAGE + 1024));
        CUresult status = cuLaunchKernel(kernel, 1, 1, 1, way == 2 ? 96 : THREADS, 1, 1,
                                         IMAGE + 1024, NULL, arguments, NULL);
        if (status == CUDA_SUCCESS) status = cuCtxSynchronize();
        assert_int_equal(status, way == 2 ? CUDA_ERROR_LAUNCH_FAILED : CUDA_ERROR_ILLEGAL_ADDRESS);
        cuCtxDestroy(context); /* a device error makes the context unusable */
        assert_int_equal(start(NULL), 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_those_of_scalars), cmocka_unit_test(halves_may_be_transposed),
        cmocka_unit_test(sums_are_those_of_mma),         cmocka_unit_test(a_wait_is_for_all_warps),
        cmocka_unit_test(a_warpgroup_takes_registers),   cmocka_unit_test(what_cannot_be_is_told),
    };
    return cmocka_run_group_tests(tests, start, end);
}
