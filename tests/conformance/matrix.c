/* mma, wmma, ldmatrix, stmatrix, movmatrix: every shape, type and layout, on whole warps.
 *
 * Integers and f64 are compared with the ISA's definition. Floating-point products are compared
 * with an exact computation in GMP of the sum that docs/matrix.md describes. Fragments of mma are
 * distributed here from element to lane, in the opposite direction to the simulator. Fragments of
 * wmma, which the ISA leaves open, are only passed from wmma.load to wmma.mma to wmma.store. */
#include "trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "values.h"

enum {
    SLOTS = 32, /* 64-bit words of input per thread: A, B, C, metadata */
    SLOT_A = 0,
    SLOT_B = 8,
    SLOT_C = 16,
    SLOT_METADATA = 24,
    OUT_SLOTS = 16, /* two results of up to 8 registers */
    MAX_SIDE = 256
};

/* ---- Element types ---- */

typedef struct Element {
    const char *name;
    int bits;
    const Format *format; /* NULL for integers */
    bool is_signed;
    int block, kept; /* Product's values on the simulated machines */
} Element;

static const Element elements[] = {
    {"f16", 16, &FORMAT_F16, false, 8, 24},
    {"bf16", 16, &FORMAT_BF16, false, 8, 24},
    {"tf32", 32, &FORMAT_TF32, false, 4, 24},
    {"e4m3", 8, &FORMAT_E4M3, false, 16, 13},
    {"e5m2", 8, &FORMAT_E5M2, false, 16, 13},
    {"f64", 64, &FORMAT_F64, false, 0, 0},
    {"f32", 32, &FORMAT_F32, false, 0, 0},
    {"u8", 8, NULL, false, 0, 0},
    {"s8", 8, NULL, true, 0, 0},
    {"u4", 4, NULL, false, 0, 0},
    {"s4", 4, NULL, true, 0, 0},
    {"b1", 1, NULL, false, 0, 0},
    {"s32", 32, NULL, true, 0, 0},
};

static const Element *element_named(const char *name) {
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++)
        if (strcmp(elements[i].name, name) == 0) return &elements[i];
    return NULL;
}

static int64_t integer_of(const Element *element, uint64_t bits) {
    if (!element->is_signed || element->bits == 64) return (int64_t)bits;
    return (int64_t)(bits << (64 - element->bits)) >> (64 - element->bits);
}

/* ---- A product ---- */

typedef struct Product {
    Harness *harness;
    Trial *trial;
    Form form;
    const Element *a, *b, *c, *d;
    int m, n, k;
    bool is_sparse, is_quad, a_by_column, b_by_column;
    int block, kept; /* products per sum, and fraction bits kept in it (docs/matrix.md) */
    int stored;      /* columns of A that are stored */
    int selector;
    /* The matrices of one warp (or quad), as bits. */
    uint64_t at_a[32][MAX_SIDE], at_b[MAX_SIDE][32], at_c[32][32], at_d[32][32];
    uint8_t from[32][MAX_SIDE]; /* row of B for each stored element of A */
} Product;

static void read_form(Product *p, const char *spelling) {
    form_parse(&p->form, spelling);
    const char *types[4];
    int count = 0, layouts = 0;
    p->a_by_column = p->b_by_column = false;
    for (int i = 1; i < p->form.word_count; i++) {
        const char *word = form_word(&p->form, i);
        if (element_named(word) && count < 4) types[count++] = word;
        if (strcmp(word, "row") == 0) layouts++;
        if (strcmp(word, "col") == 0) {
            if (layouts++ == 0) p->a_by_column = true;
            else p->b_by_column = true;
        }
        sscanf(word, "m%dn%dk%d", &p->m, &p->n, &p->k);
    }
    p->d = element_named(types[0]);
    p->a = element_named(count == 4 ? types[1] : "f16");
    p->b = element_named(count == 4 ? types[2] : "f16");
    p->c = element_named(types[count - 1]);
    p->is_sparse = strncmp(spelling, "mma.sp", 6) == 0;
    p->block = p->a->block;
    p->kept = p->a->kept;
    if (p->harness->is_hopper && p->a->bits > 8) { /* as measured on an H100 */
        p->kept = 25;
        p->block *= 2;
        if (p->a->bits == 32 && strncmp(spelling, "wmma", 4) == 0) p->block = 4;
    }
    p->stored = p->is_sparse ? p->k / 2 : p->k;
    p->is_quad = strncmp(spelling, "mma.", 4) == 0 && p->k == 4 && p->a->bits == 16;
}

/* ---- The reference ---- */

/* A finite number as integer * 2^(scale - its format's fraction bits). The scale of a zero is
 * meaningless. */
static int64_t significand_of(const Format *format, uint64_t bits, int *scale) {
    const int fraction = format->precision - 1;
    const uint64_t value = bits >> format->shift;
    const int biased = (int)(value >> fraction & type_mask(format->exponent_bits));
    const int bias = (1 << (format->exponent_bits - 1)) - 1;
    int64_t whole = (int64_t)(value & type_mask(fraction));
    if (biased) whole |= INT64_C(1) << fraction;
    *scale = (biased ? biased : 1) - bias;
    return value >> (fraction + format->exponent_bits) & 1 ? -whole : whole;
}

enum { UNIT = 700 }; /* terms are counted in units of 2^-UNIT */

/* Computes one term of a sum, exactly, and its scale. */
static bool exact_term(mpz_t term, const Format *x, uint64_t x_bits, const Format *y,
                       uint64_t y_bits, int *scale) {
    int x_scale, y_scale = 0;
    int fraction = x->precision - 1;
    mpz_set_si(term, significand_of(x, x_bits, &x_scale));
    if (y) {
        mpz_mul_si(term, term, significand_of(y, y_bits, &y_scale));
        fraction += y->precision - 1;
    }
    *scale = x_scale + y_scale;
    mpz_mul_2exp(term, term, (mp_bitcnt_t)(UNIT + *scale - fraction));
    return mpz_sgn(term) != 0;
}

/* c + the products of `count` elements: aligned, truncated, added, rounded to `to`. */
static uint64_t block_sum(const Product *p, const Format *c_format, uint64_t c, const uint64_t *a,
                          const uint64_t *b, int count, const Format *to) {
    mpz_t terms[17], total;
    int greatest = -100000, used = 0;
    mpz_init(total);
    for (int i = 0; i <= count; i++) {
        int scale;
        mpz_init(terms[used]);
        const bool is_there =
            i == count ? exact_term(terms[used], c_format, c, NULL, 0, &scale)
                       : exact_term(terms[used], p->a->format, a[i], p->b->format, b[i], &scale);
        if (is_there && scale > greatest) greatest = scale;
        used++;
    }
    for (int i = 0; i < used; i++) {
        if (mpz_sgn(terms[i]) != 0) {
            const mp_bitcnt_t cut = (mp_bitcnt_t)(UNIT + greatest - p->kept);
            mpz_tdiv_q_2exp(terms[i], terms[i], cut);
            mpz_mul_2exp(terms[i], terms[i], cut);
            mpz_add(total, total, terms[i]);
        }
        mpz_clear(terms[i]);
    }
    Real sum;
    real_init(&sum, 1200);
    mpfr_set_z_2exp(sum.value, total, -UNIT, MPFR_RNDN);
    const bool is_half = to == &FORMAT_F16;
    uint64_t result = real_round(to, sum.value, is_half ? MPFR_RNDN : MPFR_RNDZ);
    /* values beyond f32 become infinite although the rounding is toward zero */
    if (!is_half && mpz_sgn(total) && mpfr_get_exp(sum.value) > 128)
        result = real_infinity(to, mpz_sgn(total) < 0);
    mpz_clear(total);
    return result;
}

/* Handles infinities and NaNs, whose sum is the same in any order. Returns false if there are
 * none. */
static bool special_sum(const Product *p, int row, int column, uint64_t *result) {
    bool is_nan = real_class(p->c->format, p->at_c[row][column]) == REAL_NAN;
    int infinities[2] = {0, 0};
    if (real_class(p->c->format, p->at_c[row][column]) == REAL_INFINITE)
        infinities[real_sign(p->c->format, p->at_c[row][column]) != 0]++;
    for (int k = 0; k < p->stored; k++) {
        const uint64_t a = p->at_a[row][k], b = p->at_b[p->from[row][k]][column];
        const RealClass class_a = real_class(p->a->format, a),
                        class_b = real_class(p->b->format, b);
        const bool is_infinite = class_a == REAL_INFINITE || class_b == REAL_INFINITE;
        if (class_a == REAL_NAN || class_b == REAL_NAN) is_nan = true;
        if (is_infinite && (class_a == REAL_ZERO || class_b == REAL_ZERO)) is_nan = true;
        if (is_infinite)
            infinities[(real_sign(p->a->format, a) != 0) != (real_sign(p->b->format, b) != 0)]++;
    }
    if (infinities[0] && infinities[1]) is_nan = true;
    if (!is_nan && !infinities[0] && !infinities[1]) return false;
    *result = is_nan ? p->d->format->nan : real_infinity(p->d->format, infinities[1] > 0);
    return true;
}

static uint64_t float_element(const Product *p, int row, int column) {
    uint64_t result, a[16], b[16], acc = p->at_c[row][column];
    const Format *format = p->c->format;
    if (special_sum(p, row, column, &result)) return result;
    for (int first = 0; first < p->stored; first += p->block) {
        int count = 0;
        for (; count < p->block && first + count < p->stored; count++) {
            a[count] = p->at_a[row][first + count];
            b[count] = p->at_b[p->from[row][first + count]][column];
        }
        acc = block_sum(p, format, acc, a, b, count, p->d->format);
        format = p->d->format;
        if (real_class(format, acc) == REAL_INFINITE) break; /* stays infinite */
    }
    return acc;
}

static uint64_t double_element(const Product *p, int row, int column) {
    uint64_t acc = p->at_c[row][column];
    for (int k = 0; k < p->k; k++)
        acc = real_fma(&FORMAT_F64, p->form.round, p->at_a[row][k], p->at_b[k][column], acc);
    return acc;
}

static uint64_t integer_element(const Product *p, int row, int column) {
    __int128 sum = integer_of(p->c, p->at_c[row][column]);
    const bool is_xor = form_has(&p->form, "xor");
    for (int k = 0; k < p->stored; k++) {
        const uint64_t a = p->at_a[row][k], b = p->at_b[p->from[row][k]][column];
        if (p->a->bits == 1) sum += (int)(is_xor ? a ^ b : a & b);
        else sum += (__int128)integer_of(p->a, a) * integer_of(p->b, b);
    }
    if (p->form.satfinite && sum > INT32_MAX) sum = INT32_MAX;
    if (p->form.satfinite && sum < INT32_MIN) sum = INT32_MIN;
    return (uint64_t)sum & type_mask(32);
}

static void multiply(Product *p) {
    for (int row = 0; row < p->m; row++) {
        for (int k = 0; k < p->stored && !p->is_sparse; k++)
            p->from[row][k] = (uint8_t)k;
        for (int column = 0; column < p->n; column++)
            p->at_d[row][column] = p->d->bits == 64       ? double_element(p, row, column)
                                   : p->a->format != NULL ? float_element(p, row, column)
                                                          : integer_element(p, row, column);
    }
}

/* ---- Operands ---- */

/* A random element. 0: of moderate size; 1: any finite value; 2: any bits. */
static uint64_t random_element(const Element *element, int kind, uint64_t *state) {
    uint64_t bits = values_next(state) & type_mask(element->bits);
    if (!element->format) return bits;
    const Format *format = element->format;
    const int fraction = format->precision - 1 + format->shift;
    const uint64_t exponents = type_mask(format->exponent_bits);
    if (kind == 0) {
        const uint64_t exponent = (exponents >> 1) - 3 + values_next(state) % 6;
        return (bits & ~(exponents << fraction)) | exponent << fraction;
    }
    const bool is_special = real_class(format, bits) >= REAL_INFINITE;
    if (!is_special || (kind == 2 && values_next(state) % 8 == 0)) return bits;
    return bits & ~(UINT64_C(1) << (fraction + format->exponent_bits - 1));
}

/* ---- mma: fragments, from element to lane (PTX ISA, "Matrix Fragments for mma") ---- */

typedef struct Spot {
    int lane, reg, shift;
} Spot;

/* Lane of element (line, along), where eight lines of 128 bits form one register of all lanes. */
static Spot spot_in_lines(int line, int along, int bits) {
    const int per_reg = bits >= 32 ? 1 : 32 / bits, in_block = along % (4 * per_reg);
    return (Spot){line % 8 * 4 + in_block / per_reg, along / (4 * per_reg),
                  in_block % per_reg * bits};
}

static Spot spot_a(const Product *p, int row, int column) {
    if (p->is_quad) { /* of the first quad */
        const int line = p->a_by_column ? column : row % 4, i = p->a_by_column ? row % 4 : column;
        return (Spot){line + (row >= 4 ? 16 : 0), i / 2, i % 2 * 16};
    }
    Spot spot = spot_in_lines(row, column, p->a->bits);
    if (p->m == 16) spot.reg = 2 * spot.reg + row / 8;
    return spot;
}

static Spot spot_b(const Product *p, int row, int column) {
    if (p->is_quad) {
        const int line = p->b_by_column ? column % 4 : row, i = p->b_by_column ? row : column % 4;
        return (Spot){line + (column >= 4 ? 16 : 0), i / 2, i % 2 * 16};
    }
    return spot_in_lines(column, row, p->b->bits);
}

static Spot spot_c(const Product *p, const Element *element, int row, int column) {
    if (p->is_quad && element->bits == 32) {
        const int i = (column & 4) | (row & 2) | (column & 1);
        return (Spot){(row & 1) + (column & 2) + (row >= 4 ? 16 : 0), i, 0};
    }
    if (p->is_quad) return (Spot){row % 4 + (row >= 4 ? 16 : 0), column / 2, column % 2 * 16};
    const int lane = row % 8 * 4 + column / 2;
    if (element->bits == 16) return (Spot){lane, row / 8, column % 2 * 16};
    return (Spot){lane, row / 8 * 2 + column % 2, 0};
}

static void put(Trial *trial, int warp, int quad, int slot, Spot spot, uint64_t bits) {
    const int thread = warp * FORM_LANES + spot.lane + quad * 4;
    trial->in[thread * SLOTS + slot + spot.reg] |= bits << spot.shift;
}

/* Chooses which two of four elements (for 32 bits: which one of two) of a row of a sparse A are
 * stored, and sets the bits that say so: PTX ISA, "Sparse matrix storage". */
static void choose_row(Product *p, int warp, int row, uint64_t *state) {
    const int unit = p->a->bits == 4 ? 2 : 1, chunk = p->a->bits == 32 ? 2 : 4 * unit;
    const int chunks = p->k / chunk;
    for (int c = 0; c < chunks; c++) {
        uint64_t nibble;
        if (p->a->bits == 32) {
            const int second = (int)(values_next(state) & 1);
            nibble = second ? 0xe : 0x4;
            p->from[row][c] = (uint8_t)(2 * c + second);
        } else {
            static const int pairs[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
            const int *pair = pairs[values_next(state) % 6];
            nibble = (uint64_t)(pair[0] | pair[1] << 2);
            for (int i = 0; i < 2 * unit; i++)
                p->from[row][2 * unit * c + i] =
                    (uint8_t)(chunk * c + pair[i / unit] * unit + i % unit);
        }
        /* The lane in the row's group of four, and the bit in its word. */
        int lane, bit = 4 * c;
        if (p->a->bits >= 16) {
            lane = chunks == 4 ? p->selector : 2 * p->selector + c / 4;
            bit = 4 * (c % 4) + (row >= 8 ? 16 : 0);
        } else {
            lane = (row >= 8 ? 1 : 0) + (chunks == 8 ? 2 * p->selector : c / 8 * 2);
            bit = 4 * (c % 8);
        }
        const int thread = warp * FORM_LANES + row % 8 * 4 + lane;
        p->trial->in[thread * SLOTS + SLOT_METADATA] |= nibble << bit;
    }
}

static void deal(Product *p, int warp, int quad, uint64_t *state) {
    Trial *trial = p->trial;
    for (int row = 0; row < p->m; row++) {
        if (p->is_sparse) choose_row(p, warp, row, state);
        for (int k = 0; k < p->stored; k++) {
            p->at_a[row][k] = random_element(p->a, warp, state);
            put(trial, warp, quad, SLOT_A, spot_a(p, row, k), p->at_a[row][k]);
        }
        for (int column = 0; column < p->n; column++) {
            p->at_c[row][column] = random_element(p->c, warp, state);
            put(trial, warp, quad, SLOT_C, spot_c(p, p->c, row, column), p->at_c[row][column]);
        }
    }
    for (int k = 0; k < p->k; k++)
        for (int column = 0; column < p->n; column++) {
            p->at_b[k][column] = random_element(p->b, warp, state);
            put(trial, warp, quad, SLOT_B, spot_b(p, k, column), p->at_b[k][column]);
        }
    multiply(p);
    for (int row = 0; row < p->m; row++)
        for (int column = 0; column < p->n; column++) {
            const Spot spot = spot_c(p, p->d, row, column);
            const int thread = warp * FORM_LANES + spot.lane + quad * 4;
            for (int copy = 0; copy < 2; copy++)
                trial->expected[thread * OUT_SLOTS + copy * 8 + spot.reg] |= p->at_d[row][column]
                                                                             << spot.shift;
        }
}

static const char *register_of(const Element *element) {
    if (element->bits == 64) return "f64";
    return element->format == &FORMAT_F32 ? "f32" : "b32";
}

/* Registers of a thread for its part of rows x columns elements. */
static int registers(const Product *p, const Element *element, int rows, int columns) {
    const int threads = p->is_quad ? 8 : 32, bits = rows * columns * element->bits / threads;
    return bits / (element->bits == 64 ? 64 : 32);
}

static void write_list(Text *ptx, const char *name, int count) {
    for (int i = 0; i < count; i++)
        text_printf(ptx, "%s%s%d", i ? "," : "{", name, i);
    text_add(ptx, "}");
}

static void load_list(Text *ptx, const char *name, const Element *element, int count, int slot) {
    text_printf(ptx, ".reg .%s %s<8>;\n", register_of(element), name);
    for (int i = 0; i < count; i++)
        text_printf(ptx, "ld.global.%s %s%d, [in+%d];\n", register_of(element), name, i,
                    (slot + i) * 8);
}

/* Writes the product twice: into separate registers and, if the types agree, into the registers of
 * C. */
static void write_mma(Product *p, const char *spelling) {
    Text *ptx = &p->trial->ptx;
    const int of_a = registers(p, p->a, p->m, p->stored), of_b = registers(p, p->b, p->k, p->n);
    const int of_c = registers(p, p->c, p->m, p->n), of_d = registers(p, p->d, p->m, p->n);
    trial_begin_kernel(p->trial, "");
    text_printf(ptx,
                "mad.wide.u32 in, tid, %d, in;\nmad.wide.u32 out, tid, %d, out;\n"
                ".reg .b32 e;\nld.global.b32 e, [in+%d];\n.reg .%s d<8>;\n",
                SLOTS * 8, OUT_SLOTS * 8, SLOT_METADATA * 8, register_of(p->d));
    load_list(ptx, "a", p->a, of_a, SLOT_A);
    load_list(ptx, "b", p->b, of_b, SLOT_B);
    load_list(ptx, "c", p->c, of_c, SLOT_C);
    const bool in_place = p->c == p->d;
    for (int copy = 0; copy < 2; copy++) {
        const char *to = copy && in_place ? "c" : "d";
        text_printf(ptx, "%s ", spelling);
        write_list(ptx, to, of_d);
        text_add(ptx, ", ");
        write_list(ptx, "a", of_a);
        text_add(ptx, ", ");
        write_list(ptx, "b", of_b);
        text_add(ptx, ", ");
        write_list(ptx, "c", of_c);
        if (p->is_sparse) text_printf(ptx, ", e, %d", p->selector);
        text_add(ptx, ";\n");
        for (int i = 0; i < of_d; i++)
            text_printf(ptx, "st.global.%s [out+%d], %s%d;\n", register_of(p->d),
                        (copy * 8 + i) * 8, to, i);
    }
}

static const Type *result_type(const Element *d) {
    return !d->format ? NULL : type_named(d->bits == 16 ? "f16x2" : d->name);
}

static void clear_threads(Trial *trial, const Product *p) {
    const int regs = registers(p, p->d, p->m, p->n);
    memset(trial->in, 0, sizeof(uint64_t) * TRIAL_THREADS * SLOTS);
    for (int thread = 0; thread < TRIAL_THREADS; thread++)
        for (int i = 0; i < OUT_SLOTS; i++)
            if (i % 8 < regs)
                trial->expected[thread * OUT_SLOTS + i] =
                    p->d->bits == 64 ? 0 : TRIAL_UNTOUCHED >> 32 << 32;
    trial->slots = TRIAL_THREADS * OUT_SLOTS;
    trial->type = result_type(p->d);
}

static void run_mma(void *user, const char *spelling) {
    Product *p = user;
    if (!harness_wants(p->harness, spelling)) return;
    uint64_t state = 5;
    read_form(p, spelling);
    const int chunk = p->a->bits == 32 ? 2 : p->a->bits == 4 ? 8 : 4;
    const int selectors = p->is_sparse ? 64 / (p->k / chunk * 4) : 1;
    for (p->selector = 0; p->selector < selectors; p->selector++) {
        trial_begin(p->trial, spelling);
        clear_threads(p->trial, p);
        for (int warp = 0; warp < TRIAL_THREADS / FORM_LANES; warp++)
            for (int quad = 0; quad < (p->is_quad ? 4 : 1); quad++)
                deal(p, warp, quad, &state);
        write_mma(p, spelling);
        trial_run(p->trial);
    }
}

/* ---- wmma ---- */

/* A matrix in memory: elements of `bits` bits, one line after another. */
static void store_bits(uint8_t *at, int index, int bits, uint64_t value) {
    if (bits >= 8) {
        memcpy(at + (size_t)index * (size_t)bits / 8, &value, (size_t)bits / 8);
        return;
    }
    const int bit = index * bits;
    at[bit / 8] = (uint8_t)(at[bit / 8] | value << bit % 8);
}

enum {
    MEMORY_A = 0, /* byte offsets in a warp's input, and in its shared memory */
    MEMORY_B = 8192,
    MEMORY_C = 16384,
    MEMORY_BYTES = 24576,
    PADDING = 16 /* extra bytes per line with the longer stride */
};

/* Layout of a matrix in memory. */
typedef struct Lie {
    bool is_by_column, has_stride;
    int stride; /* in elements */
    const char *space;
} Lie;

static Lie lie_of(const Element *element, int rows, int columns, bool is_by_column, int variety) {
    static const char *const spaces[] = {"", ".global", ".shared", ".shared::cta"};
    Lie lie = {is_by_column, variety % 3 != 0, is_by_column ? rows : columns, spaces[variety % 4]};
    if (lie.has_stride) lie.stride += PADDING * 8 / element->bits;
    return lie;
}

static int index_in(const Lie *lie, int row, int column) {
    return lie->is_by_column ? column * lie->stride + row : row * lie->stride + column;
}

static void fill_memory(Product *p, int warp, int base, const Element *element, const Lie *lie,
                        int rows, int columns, uint64_t (*at)[MAX_SIDE], uint64_t (*at32)[32],
                        uint64_t *state) {
    uint8_t *memory = (uint8_t *)p->trial->in + (size_t)warp * MEMORY_BYTES + base;
    for (int row = 0; row < rows; row++)
        for (int column = 0; column < columns; column++) {
            const uint64_t bits = random_element(element, warp, state);
            store_bits(memory, index_in(lie, row, column), element->bits, bits);
            if (at) at[row][column] = bits;
            else at32[row][column] = bits;
        }
}

/* "wmma.load.a.sync.aligned.row.m16n16k16.global.f16" and its operands. */
static void write_access(Product *p, char matrix, const Element *element, const Lie *lie, int count,
                         int base) {
    Text *ptx = &p->trial->ptx;
    char spelling[FORM_TEXT_BYTES], name[2] = {matrix, '\0'};
    const bool is_store = matrix == 'd', is_shared = strstr(lie->space, "shared") != NULL;
    snprintf(spelling, sizeof spelling, "wmma.%s.%c.sync.aligned.%s.m%dn%dk%d%s.%s",
             is_store ? "store" : "load", matrix, lie->is_by_column ? "col" : "row", p->m, p->n,
             p->k, lie->space, element->name);
    harness_count_form(p->harness, spelling);
    text_printf(ptx, "%s ", spelling);
    if (!is_store) {
        write_list(ptx, name, count);
        text_add(ptx, ", ");
    }
    text_printf(ptx, "[%s+%d]", is_shared ? "cells" : is_store ? "out" : "in", is_store ? 0 : base);
    if (is_store) {
        text_add(ptx, ", ");
        write_list(ptx, name, count);
    }
    if (lie->has_stride) text_printf(ptx, ", %d", lie->stride);
    text_add(ptx, ";\n");
}

/* A warp executes `body` for every 8 bytes of its memory; %i is the offset. */
static void write_copy(Text *ptx, const char *label, const char *body) {
    text_printf(ptx,
                "bar.warp.sync 0xffffffff;\nmov.u32 i, %%laneid;\nshl.b32 i, i, 3;\n%s:\n%s"
                "add.u32 i, i, 256;\nsetp.lt.u32 more, i, %d;\n@more bra %s;\n"
                "bar.warp.sync 0xffffffff;\n",
                label, body, MEMORY_BYTES, label);
}

static int wmma_registers(const Element *element, int rows, int columns, bool is_factor) {
    if (is_factor && element->format == &FORMAT_F16) return 8;
    const int width = element->bits == 64 ? 64 : 32;
    return rows * columns * element->bits / 32 / width;
}

static void run_wmma_lying(Product *p, const char *spelling, int variety) {
    Trial *trial = p->trial;
    Text *ptx = &trial->ptx;
    if (harness_passes_over(trial->harness)) return;
    uint64_t state = 7 + (uint64_t)variety;
    const Lie a = lie_of(p->a, p->m, p->k, p->a_by_column, variety);
    const Lie b = lie_of(p->b, p->k, p->n, p->b_by_column, variety + 1);
    /* covers each of the four spaces by rows and by columns; layouts of C and D may differ */
    const Lie c = lie_of(p->c, p->m, p->n, variety >> 2 & 1, variety + 2);
    const Lie d = lie_of(p->d, p->m, p->n, (variety >> 2 ^ variety) & 1, variety);
    const bool is_shared = strstr(d.space, "shared") != NULL;
    const int of_a = wmma_registers(p->a, p->m, p->k, true);
    const int of_b = wmma_registers(p->b, p->k, p->n, true);
    const int of_c = wmma_registers(p->c, p->m, p->n, false);
    const int of_d = wmma_registers(p->d, p->m, p->n, false);
    trial_begin(trial, spelling);
    memset(trial->in, 0, sizeof trial->in);
    for (int warp = 0; warp < TRIAL_THREADS / FORM_LANES; warp++) {
        fill_memory(p, warp, MEMORY_A, p->a, &a, p->m, p->k, p->at_a, NULL, &state);
        fill_memory(p, warp, MEMORY_B, p->b, &b, p->k, p->n, NULL, p->at_b, &state);
        fill_memory(p, warp, MEMORY_C, p->c, &c, p->m, p->n, NULL, p->at_c, &state);
        multiply(p);
        uint8_t *out = (uint8_t *)trial->expected + (size_t)warp * MEMORY_BYTES;
        for (int row = 0; row < p->m; row++)
            for (int column = 0; column < p->n; column++)
                store_bits(out, index_in(&d, row, column), p->d->bits, p->at_d[row][column]);
    }
    trial->slots = MEMORY_BYTES / 8 * (TRIAL_THREADS / FORM_LANES);
    /* elements of a result are packed in a slot */
    trial->type = NULL;
    trial->element = p->d->format;
    trial_begin_kernel(trial, "");
    text_printf(
        ptx,
        ".shared .align 32 .b8 memory[%d];\n.reg .b32 w, i, cells;\n.reg .b64 from;\n"
        ".reg .b64 word;\n.reg .pred more;\nshr.u32 w, tid, 5;\n"
        "mad.wide.u32 in, w, %d, in;\nmad.wide.u32 out, w, %d, out;\nmov.u32 cells, memory;\n"
        "mov.u32 i, %%laneid;\nshl.b32 i, i, 3;\n",
        MEMORY_BYTES, MEMORY_BYTES, MEMORY_BYTES);
    /* the warps use one copy in turn */
    text_printf(ptx,
                ".reg .b32 turn;\nmov.u32 turn, 0;\nTURN:\nbar.sync 0;\n"
                "setp.ne.u32 more, turn, w;\n@more bra NEXT;\n"
                "COPY:\ncvt.u64.u32 from, i;\nadd.u64 from, from, in;\n"
                "ld.global.b64 word, [from];\nadd.u32 t, cells, i;\n"
                "st.shared.b64 [t], word;\nadd.u32 i, i, 256;\n"
                "setp.lt.u32 more, i, %d;\n@more bra COPY;\n",
                MEMORY_BYTES);
    const struct {
        const char *name;
        const Element *element;
    } lists[] = {{"a", p->a}, {"b", p->b}, {"c", p->c}, {"d", p->d}};
    for (int i = 0; i < 4; i++)
        text_printf(ptx, ".reg .%s %s<8>;\n", register_of(lists[i].element), lists[i].name);
    write_access(p, 'a', p->a, &a, of_a, MEMORY_A);
    write_access(p, 'b', p->b, &b, of_b, MEMORY_B);
    write_access(p, 'c', p->c, &c, of_c, MEMORY_C);
    text_printf(ptx, "%s ", spelling);
    write_list(ptx, "d", of_d);
    text_add(ptx, ", ");
    write_list(ptx, "a", of_a);
    text_add(ptx, ", ");
    write_list(ptx, "b", of_b);
    text_add(ptx, ", ");
    write_list(ptx, "c", of_c);
    text_add(ptx, ";\n");
    if (is_shared)
        write_copy(
            ptx, "FILL",
            "mov.b64 word, 0xcccccccccccccccc;\nadd.u32 t, cells, i;\nst.shared.b64 [t], word;\n");
    write_access(p, 'd', p->d, &d, of_d, 0);
    if (is_shared)
        write_copy(ptx, "BACK",
                   "add.u32 t, cells, i;\nld.shared.b64 word, [t];\ncvt.u64.u32 from, i;\n"
                   "add.u64 from, from, out;\nst.global.b64 [from], word;\n");
    text_add(ptx, "NEXT:\nadd.u32 turn, turn, 1;\nsetp.lt.u32 more, turn, 3;\n@more bra TURN;\n");
    trial_run(trial);
    trial->element = NULL;
}

static void run_wmma(void *user, const char *spelling) {
    Product *p = user;
    if (!harness_wants(p->harness, spelling)) return;
    read_form(p, spelling);
    p->selector = 0;
    for (int variety = 0; variety < 8; variety++)
        run_wmma_lying(p, spelling, variety);
}

/* ---- ldmatrix, stmatrix, movmatrix ---- */

/* The halves of four 8 x 8 matrices. Row r of matrix j is at cells + place(j, r). */
static int place_of_row(int matrix, int row) { return ((matrix * 8 + row) * 5 % 32) * 16; }

static void run_rows(void *user, const char *spelling) {
    Product *p = user;
    Trial *trial = p->trial;
    Text *ptx = &trial->ptx;
    Form form;
    if (!harness_wants(p->harness, spelling)) return;
    form_parse(&form, spelling);
    static const char *const counts[] = {"x1", "x2", "x4", NULL};
    const int count = 1 << form_which(&form, counts), generic = !strstr(spelling, "shared");
    const bool is_store = spelling[0] == 's', is_transposed = form_has(&form, "trans");
    trial_begin(trial, spelling);
    trial->shape.block[0] = FORM_LANES;
    trial_begin_kernel(trial, ".shared .align 16 .b8 cells[512];\n");
    text_add(ptx, ".reg .b32 r<4>, row, to;\n.reg .b64 word, address;\n"
                  "mad.wide.u32 at, tid, 16, in;\nmad.wide.u32 out, tid, 16, out;\n"
                  "mul.lo.u32 row, tid, 5;\nand.b32 row, row, 31;\nshl.b32 row, row, 4;\n"
                  "mov.u32 to, cells;\nadd.u32 row, row, to;\ncvt.u64.u32 address, row;\n"
                  "cvta.shared.u64 address, address;\nshl.b32 t, tid, 4;\nadd.u32 to, to, t;\n");
    for (int i = 0; i < 2; i++)
        text_printf(ptx, "ld.global.b64 word, [at+%d];\nst.shared.b64 [to+%d], word;\n", 8 * i,
                    8 * i);
    for (int i = 0; i < 4; i++)
        text_printf(ptx, "ld.global.b32 r%d, [at+%d];\n", i, 1024 + 4 * i);
    text_add(ptx, "bar.sync 0;\n");
    text_printf(ptx, "%s ", spelling);
    if (is_store) text_printf(ptx, "[%s], ", generic ? "address" : "row");
    write_list(ptx, "r", count);
    if (!is_store) text_printf(ptx, ", [%s]", generic ? "address" : "row");
    text_add(ptx, ";\nbar.sync 0;\n");
    for (int i = 0; i < 2; i++)
        if (is_store)
            text_printf(ptx, "ld.shared.b64 word, [to+%d];\nst.global.b64 [out+%d], word;\n", 8 * i,
                        8 * i);
        else text_printf(ptx, "st.global.v2.b32 [out+%d], {r%d, r%d};\n", 8 * i, 2 * i, 2 * i + 1);
    const uint8_t *in = (const uint8_t *)trial->in;
    uint8_t *out = (uint8_t *)trial->expected;
    trial->slots = FORM_LANES * 2;
    /* what stays unchanged: the cells, or the registers */
    memcpy(out, is_store ? in : in + 1024, 512);
    for (int matrix = 0; matrix < count; matrix++)
        for (int row = 0; row < 8; row++)
            for (int column = 0; column < 8; column++) {
                const int r = is_transposed ? column : row, c = is_transposed ? row : column;
                const int in_register = (4 * r + c / 2) * 16 + matrix * 4 + c % 2 * 2;
                const int in_cells = place_of_row(matrix, row) + column * 2;
                if (is_store) memcpy(out + in_cells, in + 1024 + in_register, 2);
                else memcpy(out + in_register, in + in_cells, 2);
            }
    trial_run(trial);
}

static void run_movmatrix(Product *p) {
    Trial *trial = p->trial;
    Text *ptx = &trial->ptx;
    trial_begin(trial, "movmatrix.sync.aligned.m8n8.trans.b16");
    trial_begin_kernel(trial, "");
    text_add(ptx, "mad.wide.u32 in, tid, 8, in;\nmad.wide.u32 out, tid, 8, out;\n.reg .b32 a, d;\n"
                  "ld.global.b32 a, [in];\nmovmatrix.sync.aligned.m8n8.trans.b16 d, a;\n"
                  "movmatrix.sync.aligned.m8n8.trans.b16 a, a;\nst.global.v2.b32 [out], {d, a};\n");
    trial->slots = TRIAL_THREADS;
    const uint16_t *in = (const uint16_t *)trial->in;
    uint16_t *out = (uint16_t *)trial->expected;
    for (int warp = 0; warp < TRIAL_THREADS / FORM_LANES; warp++)
        for (int row = 0; row < 8; row++)
            for (int column = 0; column < 8; column++)
                for (int copy = 0; copy < 2; copy++)
                    out[(warp * 32 + 4 * column + row / 2) * 4 + row % 2 + 2 * copy] =
                        in[(warp * 32 + 4 * row + column / 2) * 4 + column % 2];
    trial_run(trial);
}

/* ---- All of them ---- */

#define ANY     "(.row,.col)(.row,.col)"
#define F8      "(.e4m3,.e5m2)"
#define I8      "(.u8,.s8)"
#define I4      "(.u4,.s4)"
#define SHAPE16 "(.m16n16k16,.m8n32k16,.m32n8k16)"

static const char *const products[] = {
    ".m8n8k4" ANY ".f16.f16.f16.f16",
    ".m8n8k4" ANY ".f32.f16.f16(.f16,.f32)",
    "(.m16n8k8,.m16n8k16).row.col.f16.f16.f16.f16",
    "(.m16n8k8,.m16n8k16).row.col.f32.f16.f16.f32",
    "(.m16n8k8,.m16n8k16).row.col.f32.bf16.bf16.f32",
    "(.m16n8k4,.m16n8k8).row.col.f32.tf32.tf32.f32",
    "(.m16n8k16,.m16n8k32).row.col.f32" F8 F8 ".f32",
    "(.m16n8k16,.m16n8k32).row.col.f16" F8 F8 ".f16",
    "(.m8n8k4,.m16n8k4,.m16n8k8,.m16n8k16).row.col{.rn,.rz,.rm,.rp}.f64.f64.f64.f64",
    "(.m8n8k16,.m16n8k16,.m16n8k32).row.col{.satfinite}.s32" I8 I8 ".s32",
    "(.m8n8k32,.m16n8k32,.m16n8k64).row.col{.satfinite}.s32" I4 I4 ".s32",
    "(.m8n8k128,.m16n8k128,.m16n8k256).row.col.s32.b1.b1.s32(.xor,.and).popc",
};
static const char *const sparse_products[] = {
    "(.m16n8k16,.m16n8k32).row.col.f16.f16.f16.f16",
    "(.m16n8k16,.m16n8k32).row.col.f32.f16.f16.f32",
    "(.m16n8k16,.m16n8k32).row.col.f32.bf16.bf16.f32",
    "(.m16n8k8,.m16n8k16).row.col.f32.tf32.tf32.f32",
    ".m16n8k64.row.col.f32" F8 F8 ".f32",
    "(.m16n8k32,.m16n8k64).row.col{.satfinite}.s32" I8 I8 ".s32",
    "(.m16n8k64,.m16n8k128).row.col{.satfinite}.s32" I4 I4 ".s32",
};
static const char *const wmma_products[] = {
    ".sync.aligned" ANY SHAPE16 "(.f16,.f32)(.f16,.f32)",
    ".sync.aligned" ANY SHAPE16 ".f32.bf16.bf16.f32",
    ".sync.aligned" ANY ".m16n16k8.f32.tf32.tf32.f32",
    ".sync.aligned" ANY ".m8n8k4{.rn,.rz,.rm,.rp}.f64.f64.f64.f64",
    ".sync.aligned" ANY SHAPE16 ".s32.u8.u8.s32{.satfinite}",
    ".sync.aligned" ANY SHAPE16 ".s32.s8.s8.s32{.satfinite}",
    ".sync.aligned.row.col.m8n8k32.s32.u4.u4.s32{.satfinite}",
    ".sync.aligned.row.col.m8n8k32.s32.s4.s4.s32{.satfinite}",
    "(.xor,.and).popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32",
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

void matrix_run(Harness *harness) {
    Product *p = calloc(1, sizeof *p);
    p->harness = harness;
    p->trial = trial_new(harness);
    for (size_t i = 0; i < COUNT(products); i++) {
        char pattern[256];
        snprintf(pattern, sizeof pattern, ".sync.aligned%s", products[i]);
        form_expand("mma", pattern, run_mma, p);
    }
    for (size_t i = 0; i < COUNT(sparse_products); i++) {
        char pattern[256];
        snprintf(pattern, sizeof pattern, "(.sp,.sp::ordered_metadata).sync.aligned%s",
                 sparse_products[i]);
        form_expand("mma", pattern, run_mma, p);
    }
    for (size_t i = 0; i < COUNT(wmma_products); i++) {
        char pattern[256];
        snprintf(pattern, sizeof pattern, ".mma%s", wmma_products[i]);
        form_expand("wmma", pattern, run_wmma, p);
    }
    form_expand("ldmatrix", ".sync.aligned.m8n8(.x1,.x2,.x4){.trans}{.shared,.shared::cta}.b16",
                run_rows, p);
    form_expand("stmatrix", ".sync.aligned.m8n8(.x1,.x2,.x4){.trans}{.shared,.shared::cta}.b16",
                run_rows, p);
    run_movmatrix(p);
    trial_free(p->trial);
    free(p);
}
