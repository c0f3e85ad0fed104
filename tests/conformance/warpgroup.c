/* wgmma and setmaxnreg: every shape and type, by one warpgroup on small integers, whose sums are
 * exact in all formats. Of a sparse A the first two of four elements are stored (tf32: the first of
 * two). B is in shared memory without a swizzle. So is A if N / 8 is odd, else it is in registers.
 * tests/driver/test_wgmma.c tests the other layouts. */
#include "trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    THREADS = 128,
    ROWS = 64,
    ROW_BYTES = 32,                   /* a row of A as it is stored */
    COLUMN_BYTES = 64,                /* a column of B: K elements, half of it if dense */
    A_AT = 0,                         /* byte offset in the input */
    B_AT = ROWS * ROW_BYTES,          /* N columns */
    C_AT = B_AT + 256 * COLUMN_BYTES, /* each thread's registers of D */
    MOST_SUMS = 128
};

/* The bits of -2, -1, 0, 1, 2. */
typedef struct Small {
    const char *name;
    int bits;
    uint32_t values[5];
} Small;

static const Small types[] = {
    {"f16", 16, {0xc000, 0xbc00, 0, 0x3c00, 0x4000}},
    {"bf16", 16, {0xc000, 0xbf80, 0, 0x3f80, 0x4000}},
    {"tf32", 32, {0xc0000000, 0xbf800000, 0, 0x3f800000, 0x40000000}},
    {"e4m3", 8, {0xc0, 0xb8, 0, 0x38, 0x40}},
    {"e5m2", 8, {0xc0, 0xbc, 0, 0x3c, 0x40}},
    {"s8", 8, {0xfe, 0xff, 0, 1, 2}},
};

typedef struct Product {
    Form form;
    const char *d, *a, *b; /* types */
    int n, k;
    bool is_a_shared, is_half, is_integer, saturates, is_sparse;
} Product;

static void read_product(Product *p, const char *spelling) {
    form_parse(&p->form, spelling);
    p->d = p->form.types[0]->name;
    p->a = p->form.types[1]->name;
    p->b = p->form.types[2]->name;
    sscanf(strstr(spelling, ".m64n"), ".m64n%dk%d", &p->n, &p->k);
    p->is_a_shared = p->n / 8 % 2 != 0;
    p->is_half = strcmp(p->d, "f16") == 0;
    p->is_integer = strcmp(p->d, "s32") == 0;
    p->saturates = form_has(&p->form, "satfinite");
    p->is_sparse = form_has(&p->form, "sp");
}

static int sums_of(const Product *p) { return p->is_half ? p->n / 4 : p->n / 2; }

/* ---- Numbers ---- */

/* Fills `bytes` bytes with elements of a type; u8 and b1 get any bits. */
static void fill(const char *type, uint8_t *to, int bytes, uint64_t *state) {
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const int width = types[i].bits / 8;
        if (strcmp(types[i].name, type) != 0) continue;
        for (int at = 0; at < bytes; at += width) {
            *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
            memcpy(to + at, &types[i].values[(*state >> 33) % 5], (size_t)width);
        }
        return;
    }
    for (int at = 0; at < bytes; at++) {
        *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
        to[at] = (uint8_t)(*state >> 40);
    }
}

/* Element `k` of a row. */
static int number_at(const char *type, const uint8_t *row, int k) {
    if (strcmp(type, "b1") == 0) return row[k / 8] >> k % 8 & 1;
    if (strcmp(type, "u8") == 0) return row[k];
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        uint32_t bits = 0;
        if (strcmp(types[i].name, type) != 0) continue;
        memcpy(&bits, row + k * types[i].bits / 8, (size_t)types[i].bits / 8);
        for (int value = 0; value < 5; value++)
            if (types[i].values[value] == bits) return value - 2;
    }
    abort();
}

/* An integer below 2,048 as a half. */
static uint32_t half_of(int number) {
    const uint32_t magnitude = (uint32_t)abs(number);
    int exponent = 0;
    if (!number) return 0;
    while (magnitude >> (exponent + 1))
        exponent++;
    const uint32_t fraction = (magnitude << (10 - exponent)) & 0x3ff;
    return (number < 0 ? 0x8000u : 0) | (uint32_t)(exponent + 15) << 10 | fraction;
}

static uint32_t sum_bits(const Product *p, int64_t sum) {
    if (p->is_half) return half_of((int)sum);
    if (p->is_integer && p->saturates && sum > INT32_MAX) return INT32_MAX;
    if (p->is_integer) return (uint32_t)sum;
    const float value = (float)sum;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* ---- What is expected ---- */

static int64_t product_at(const Product *p, const uint8_t *in, int row, int column) {
    const bool is_wide = strcmp(p->a, "tf32") == 0;
    const int stored = p->is_sparse ? p->k / 2 : p->k;
    int64_t sum = 0;
    for (int i = 0; i < stored; i++) {
        const int k = !p->is_sparse ? i : is_wide ? 2 * i : i / 2 * 4 + i % 2;
        sum += number_at(p->a, in + A_AT + row * ROW_BYTES, i) *
               number_at(p->b, in + B_AT + column * COLUMN_BYTES, k);
    }
    return sum;
}

/* The old value in D: a small number; for integers sometimes one near the maximum. */
static int64_t before(const Product *p, int thread, int element) {
    const int64_t small = (thread + 3 * element) % 9 - 4;
    return p->is_integer && element % 3 == 0 ? INT32_MAX - 40 - small : small;
}

static void expect(Trial *trial, const Product *p) {
    uint8_t *in = (uint8_t *)trial->in;
    uint32_t *out = (uint32_t *)trial->expected;
    const int count = sums_of(p), parts = p->is_half ? 2 : 1;
    for (int thread = 0; thread < THREADS; thread++)
        for (int i = 0; i < count; i++) {
            uint32_t old = 0, sum = 0;
            for (int part = 0; part < parts; part++) {
                const int element = i * parts + part; /* adjacent pairs, then 8 rows further */
                const int row = thread / 32 * 16 + thread % 32 / 4 + element / 2 % 2 * 8;
                const int column = element / 4 * 8 + thread % 4 * 2 + element % 2;
                const int64_t c = before(p, thread, element);
                old |= sum_bits(p, c) << 16 * part;
                sum |= sum_bits(p, c + product_at(p, in, row, column)) << 16 * part;
            }
            memcpy(in + C_AT + 4 * (thread * count + i), &old, sizeof old);
            out[thread * count + i] = sum;
        }
    trial->slots = THREADS * count / 2;
}

/* ---- The kernel ---- */

static const char start[] =
    ".reg .b32 %x<4>, %d<128>, r, u, h, v, m;\n.reg .b64 w<2>, a, b, l;\n.reg .pred q;\n"
    "mov.u32 r, room;\nmov.u32 u, tid;\nmov.u32 m, 0x44444444;\n"
    /* 16-byte unit u of A, half u & 1 of row u / 2, goes into blocks of 8 rows by 16 bytes */
    "mul.wide.u32 l, u, 16;\nadd.u64 l, in, l;\nld.global.v2.b64 {w0, w1}, [l];\n"
    "and.b32 h, u, 1;\nshl.b32 h, h, 7;\nshr.u32 v, u, 1;\nand.b32 t, v, 7;\n"
    "mad.lo.u32 h, t, 16, h;\nshr.u32 v, v, 3;\nmad.lo.u32 h, v, 256, h;\nadd.u32 h, h, r;\n"
    "st.shared.v2.b64 [h], {w0, w1};\n"
    /* the same for B: quarter u & 3 of column u / 4 */
    "FILL: mul.wide.u32 l, u, 16;\nadd.u64 l, in, l;\nld.global.v2.b64 {w0, w1}, [l+2048];\n"
    "and.b32 h, u, 3;\nshl.b32 h, h, 7;\nshr.u32 v, u, 2;\nand.b32 t, v, 7;\n"
    "mad.lo.u32 h, t, 16, h;\nshr.u32 v, v, 3;\nmad.lo.u32 h, v, 512, h;\nadd.u32 h, h, r;\n"
    "st.shared.v2.b64 [h+2048], {w0, w1};\nadd.u32 u, u, 128;\nsetp.lt.u32 q, u, 1024;\n"
    "@q bra FILL;\nfence.proxy.async;\nbar.sync 0;\n"
    /* A's fragment: 4 bytes of a row at 4 (lane & 3), then 8 rows further, then 16 bytes further */
    "shr.u32 h, tid, 5;\nshl.b32 h, h, 4;\nand.b32 v, tid, 31;\nshr.u32 u, v, 2;\n"
    "add.u32 h, h, u;\nand.b32 v, v, 3;\nshl.b32 v, v, 2;\nmad.lo.u32 h, h, 32, v;\n"
    "cvt.u64.u32 l, h;\nadd.u64 l, in, l;\nld.global.b32 %x0, [l];\nld.global.b32 %x1, [l+256];\n"
    "ld.global.b32 %x2, [l+16];\nld.global.b32 %x3, [l+272];\n"
    /* descriptors: a stride of 128 bytes between units of k, and 256 or 512 between groups of 8
     * rows */
    "shr.u32 u, r, 4;\ncvt.u64.u32 a, u;\nadd.u64 b, a, 128;\nor.b64 a, a, 0x0000001000080000;\n"
    "or.b64 b, b, 0x0000002000080000;\n";

static void add_registers(Text *text, const char *name, int count) {
    for (int i = 0; i < count; i++)
        text_printf(text, "%s%s%d", i ? ", " : "{", name, i);
    text_add(text, "}");
}

static void run_product(void *user, const char *spelling) {
    Trial *trial = user;
    Product p;
    if (!harness_wants(trial->harness, spelling) || harness_passes_over(trial->harness)) return;
    read_product(&p, spelling);
    const int count = sums_of(&p);
    trial_begin(trial, spelling);
    trial->shape.block[0] = THREADS;
    uint64_t state = (uint64_t)p.n;
    fill(p.a, (uint8_t *)trial->in + A_AT, ROWS * ROW_BYTES, &state);
    fill(p.b, (uint8_t *)trial->in + B_AT, p.n * COLUMN_BYTES, &state);
    expect(trial, &p);
    Text *text = &trial->ptx;
    text_printf(text, "\n");
    trial_begin_kernel(trial, ".shared .align 1024 .b8 room[18432];\n");
    text_add(text, start);
    text_printf(text, "mad.wide.u32 l, tid, %d, in;\n", 4 * count);
    for (int i = 0; i < count; i++)
        text_printf(text, "ld.global.b32 %%d%d, [l+%d];\n", i, C_AT + 4 * i);
    text_printf(text, "wgmma.fence.sync.aligned;\n%s ", spelling);
    add_registers(text, "%d", count);
    text_add(text, ", ");
    if (p.is_a_shared) text_add(text, "a");
    else add_registers(text, "%x", 4);
    text_add(text, p.is_sparse ? ", b, m, 0, 1" : ", b, 1");
    if (!p.is_integer) text_add(text, ", 1, 1");
    if (strstr(p.a, "f16")) text_add(text, p.is_a_shared ? ", 0, 0" : ", 0");
    text_add(text, ";\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n");
    text_printf(text, "mad.wide.u32 l, tid, %d, out;\n", 4 * count);
    for (int i = 0; i < count; i++)
        text_printf(text, "st.global.b32 [l+%d], %%d%d;\n", 4 * i, i);
    trial_run(trial);
}

static void run_other(void *user, const char *spelling) {
    Trial *trial = user;
    if (!harness_wants(trial->harness, spelling)) return;
    trial_begin(trial, spelling);
    trial->shape.block[0] = THREADS;
    trial_begin_kernel(trial, "");
    const char *operand = strstr(spelling, "wait_group")       ? " 1"
                          : strstr(spelling, "setmaxnreg.dec") ? " 40"
                          : strstr(spelling, "setmaxnreg")     ? " 72"
                                                               : "";
    text_printf(&trial->ptx, "%s%s;\nmad.wide.u32 at, tid, 8, out;\nst.global.b64 [at], 7;\n",
                spelling, operand);
    for (int i = 0; i < THREADS; i++)
        trial->expected[i] = 7;
    trial->slots = THREADS;
    trial_run(trial);
}

#define EVEN(k)                                                                                    \
    ".m64n8" k ",.m64n16" k ",.m64n24" k ",.m64n32" k ",.m64n48" k ",.m64n64" k ",.m64n80" k       \
    ",.m64n96" k ",.m64n112" k ",.m64n128" k ",.m64n144" k ",.m64n160" k ",.m64n176" k             \
    ",.m64n192" k ",.m64n208" k ",.m64n224" k ",.m64n240" k ",.m64n256" k
#define ODD(k)                                                                                     \
    ".m64n40" k ",.m64n56" k ",.m64n72" k ",.m64n88" k ",.m64n104" k ",.m64n120" k ",.m64n136" k   \
    ",.m64n152" k ",.m64n168" k ",.m64n184" k ",.m64n200" k ",.m64n216" k ",.m64n232" k            \
    ",.m64n248" k
#define ALL(k)           "(" EVEN(k) "," ODD(k) ")"
#define EIGHTH(k)        "(" EVEN(k) ")"
#define DENSE            ".mma_async.sync.aligned"
#define SPARSE(k, which) ".mma_async.sp.sync.aligned" which(k)

void warpgroup_run(Harness *harness) {
    Trial *trial = trial_new(harness);
    form_expand("wgmma", DENSE ALL("k16") "(.f16,.f32).f16.f16", run_product, trial);
    form_expand("wgmma", DENSE ALL("k16") ".f32.bf16.bf16", run_product, trial);
    form_expand("wgmma", DENSE ALL("k8") ".f32.tf32.tf32", run_product, trial);
    form_expand("wgmma", DENSE ALL("k32") "(.f16,.f32)(.e4m3,.e5m2)(.e4m3,.e5m2)", run_product,
                trial);
    form_expand("wgmma", DENSE EIGHTH("k32") "{.satfinite}.s32(.u8,.s8)(.u8,.s8)", run_product,
                trial);
    form_expand("wgmma", SPARSE("k32", ALL) "(.f16,.f32).f16.f16", run_product, trial);
    form_expand("wgmma", SPARSE("k32", ALL) ".f32.bf16.bf16", run_product, trial);
    form_expand("wgmma", SPARSE("k16", ALL) ".f32.tf32.tf32", run_product, trial);
    form_expand("wgmma", SPARSE("k64", ALL) "(.f16,.f32)(.e4m3,.e5m2)(.e4m3,.e5m2)", run_product,
                trial);
    form_expand("wgmma", SPARSE("k64", EIGHTH) "{.satfinite}.s32(.u8,.s8)(.u8,.s8)", run_product,
                trial);
    form_expand("wgmma", DENSE EIGHTH("k256") ".s32.b1.b1.and.popc", run_product, trial);
    form_expand("wgmma", "(.fence,.commit_group,.wait_group).sync.aligned", run_other, trial);
    form_expand("setmaxnreg", "(.inc,.dec).sync.aligned.u32", run_other, trial);
    trial_free(trial);
}
