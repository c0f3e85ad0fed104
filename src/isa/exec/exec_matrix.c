/* mma, wmma.mma, movmatrix. Fragments are gathered into whole matrices, the matrices are
 * multiplied, and the result is scattered to the registers.
 *
 * Integers and f64 follow the PTX ISA. The ISA does not specify how a tensor core adds
 * floating-point products. This file uses the method that measurements of hardware agree on
 * (docs/matrix.md). Products are exact. A few of them and the accumulator are aligned to their
 * greatest exponent and truncated below a number of fraction bits. They are added exactly, and the
 * sum is rounded once. */
#include "isa/exec/exec_matrix.h"

#include "base/bits.h"

enum {
    CHUNK = 8,                                  /* columns of D that are computed together */
    LANES = __BIGGEST_ALIGNMENT__ < 32 ? 4 : 8, /* of a vector that the processor has */
    ZERO_EXPONENT = -1000,
    LEAST_EXPONENT = -300, /* below the exponents of all products */
    NEAR_EXPONENT = 50     /* products of floats with exponents up to this, and their multiples that
                              are aligned to a sum, are normal floats */
};

/* ---- Fragments ---- */

static IsaPlace quad_place(const Matrices *m, const IsaFragment *f, int reg, int lane, int part) {
    const int flag = f->role == 'a' ? ISA_MATRIX_A_COL : ISA_MATRIX_B_COL;
    return isa_quad_place(f, m->is.flags & flag, reg, lane, part);
}

/* Where the lanes hold elements of a matrix that is stored row by row: an element's index is that
 * of lane 0, plus the lane's. This holds unless there are several products. */
typedef struct LaneIndices {
    int32_t lane[ISA_LANES];
} LaneIndices;

static LaneIndices lane_indices(const IsaFragment *f) {
    LaneIndices indices;
    const IsaPlace first = isa_matrix_place(f, 0, 0, 0);
    FOR_LANES {
        const IsaPlace at = isa_matrix_place(f, 0, lane, 0);
        indices.lane[lane] = (at.row - first.row) * f->columns + at.column - first.column;
    }
    return indices;
}

static int32_t first_index(const IsaFragment *f, int reg, int part) {
    const IsaPlace at = isa_matrix_place(f, reg, 0, part);
    return at.row * f->columns + at.column;
}

static void gather_one(const IsaFragment *f, const IsaWarp *warp, const IsaOperand *regs,
                       uint32_t *out) {
    const uint32_t mask = (uint32_t)bits_low_mask(f->bits);
    const LaneIndices indices = lane_indices(f);
    for (int reg = 0; reg < f->regs; ++reg) {
        const uint32_t *row = isa_row32(warp, regs[reg]);
        for (int part = 0; part < f->parts; ++part) {
            uint32_t *to = &out[first_index(f, reg, part)];
            const int shift = part * f->bits;
            FOR_LANES to[indices.lane[lane]] = row[lane] >> shift & mask;
        }
    }
}

/* Elements of one of several products, which a quarter of the lanes holds. */
static void gather_quad(const Matrices *m, const IsaFragment *f, const IsaWarp *warp,
                        const IsaOperand *regs, int quad, uint32_t *out) {
    const uint32_t mask = (uint32_t)bits_low_mask(f->bits);
    for (int reg = 0; reg < f->regs; ++reg) {
        const uint32_t *row = isa_row32(warp, regs[reg]);
        FOR_LANES {
            if ((lane >> 2 & 3) != quad) continue;
            for (int part = 0; part < f->parts; ++part) {
                const IsaPlace at = quad_place(m, f, reg, lane, part);
                out[at.row * f->columns + at.column] = row[lane] >> part * f->bits & mask;
            }
        }
    }
}

void ISA_MATRIX(gather)(const Matrices *m, const IsaFragment *f, const IsaWarp *warp,
                        const IsaOperand *regs, int quad, uint32_t *out) {
    if (quad < 0) gather_one(f, warp, regs, out);
    else gather_quad(m, f, warp, regs, quad, out);
}

static void write_lanes(uint32_t *row, const uint32_t *result, uint32_t mask) {
    if (mask == UINT32_MAX) memcpy(row, result, ISA_LANES * sizeof *row);
    else
        for (; mask; mask &= mask - 1)
            row[bits_lowest32(mask)] = result[bits_lowest32(mask)];
}

static void scatter_one(const Matrices *m, IsaWarp *warp, const IsaOperand *regs, uint32_t mask) {
    const IsaFragment *f = &m->d;
    const LaneIndices indices = lane_indices(f);
    for (int reg = 0; reg < f->regs; ++reg) {
        uint32_t result[ISA_LANES] = {0};
        for (int part = 0; part < f->parts; ++part) {
            const uint32_t *from = &m->raw_c[first_index(f, reg, part)];
            const int shift = part * f->bits;
            FOR_LANES result[lane] |= from[indices.lane[lane]] << shift;
        }
        write_lanes(isa_row32(warp, regs[reg]), result, mask);
    }
}

static void scatter_quad(const Matrices *m, IsaWarp *warp, const IsaOperand *regs, int quad,
                         uint32_t mask) {
    const IsaFragment *f = &m->d;
    for (int reg = 0; reg < f->regs; ++reg) {
        uint32_t result[ISA_LANES] = {0};
        uint32_t lanes = mask;
        FOR_LANES {
            if ((lane >> 2 & 3) != quad) {
                lanes &= ~lane_bit[lane];
                continue;
            }
            for (int part = 0; part < f->parts; ++part) {
                const IsaPlace at = quad_place(m, f, reg, lane, part);
                result[lane] |= m->raw_c[at.row * f->columns + at.column] << part * f->bits;
            }
        }
        write_lanes(isa_row32(warp, regs[reg]), result, lanes);
    }
}

void ISA_MATRIX(scatter)(const Matrices *m, IsaWarp *warp, const IsaOperand *regs, int quad,
                         uint32_t mask) {
    if (quad < 0) scatter_one(m, warp, regs, mask);
    else scatter_quad(m, warp, regs, quad, mask);
}

/* ---- Sparse A ---- */

/* The metadata has four bits per chunk of A's row, which give the positions of its stored elements:
 * two positions of two bits each. They select single elements, or pairs for 4-bit types. For tf32
 * they select one of the two halves. */
static void choose_in_row(const Matrices *m, uint64_t metadata, uint8_t *chosen) {
    const int stored = m->a.columns, bits = m->a.bits;
    if (bits == 32) {
        for (int i = 0; i < stored; ++i) /* 0b1110: the second of two; 0b0100: the first */
            chosen[i] = (uint8_t)(2 * i + ((metadata >> 4 * i & 15) == 14));
        return;
    }
    const int unit = bits == 4 ? 2 : 1;
    for (int i = 0; i < stored; ++i) {
        const int index = i / unit; /* index of the position in the metadata */
        const int position = (int)(metadata >> 2 * index & 3);
        chosen[i] = (uint8_t)((index / 2 * 4 + position) * unit + i % unit);
    }
}

/* The metadata of a row of A. Its place in the warp depends on the number of metadata bits per
 * row. */
static uint64_t metadata_of(const Matrices *m, const uint32_t *word, int row) {
    const int group = (row & 7) * 4, is_lower = row >> 3, selector = m->is.selector;
    const bool is_narrow = m->a.bits < 16;
    const int chunk = m->a.bits == 32 ? 2 : m->a.bits == 4 ? 8 : 4;
    const int row_bits = 2 * m->a.columns / chunk * 4;
    if (row_bits == 16) return word[group + selector] >> 16 * is_lower & 0xffff;
    if (row_bits == 32 && is_narrow) return word[group + 2 * selector + is_lower];
    if (row_bits == 32) {
        const uint32_t *pair = word + group + 2 * selector;
        return (pair[0] >> 16 * is_lower & 0xffff) | (pair[1] >> 16 * is_lower & 0xffff) << 16;
    }
    return word[group + is_lower] | (uint64_t)word[group + 2 + is_lower] << 32;
}

void ISA_MATRIX(choose)(Matrices *m, const IsaWarp *warp, const IsaOperand *metadata) {
    const int stored = m->a.columns;
    for (int row = 0; row < m->rows; ++row) {
        uint8_t *chosen = &m->chosen[row * stored];
        if (m->is.flags & ISA_MATRIX_SPARSE) {
            choose_in_row(m, metadata_of(m, isa_row32(warp, *metadata), row), chosen);
        } else {
            for (int i = 0; i < stored; ++i)
                chosen[i] = (uint8_t)i;
        }
    }
}

/* ---- All types ---- */

/* The first operand of each matrix in the program's list of wide operands. */
typedef struct Operands {
    const IsaOperand *d, *a, *b, *c, *metadata;
} Operands;

static Operands start(Matrices *m, const IsaContext *context, const IsaInst *inst) {
    const PtxMatrixSize size = ptx_matrix_size((PtxMatrixShape)isa_matrix_of(inst->imm).shape);
    m->is = isa_matrix_of(inst->imm);
    const int depth = m->is.flags & ISA_MATRIX_SPARSE ? size.k / 2 : size.k;
    const int threads = m->is.flags & ISA_MATRIX_QUAD ? ISA_LANES / 4 : ISA_LANES;
    m->rows = size.m;
    m->columns = size.n;
    m->a = isa_fragment('a', (PtxType)m->is.a, size.m, depth, threads);
    m->b = isa_fragment('b', (PtxType)m->is.b, size.k, size.n, threads);
    m->c = isa_fragment('c', (PtxType)m->is.c, size.m, size.n, threads);
    m->d = isa_fragment('c', (PtxType)m->is.d, size.m, size.n, threads);
    Operands operands;
    operands.d = &context->program->wide[inst->reconverge];
    operands.a = operands.d + inst->operand[0];
    operands.b = operands.a + inst->operand[1];
    operands.c = operands.b + inst->operand[2];
    operands.metadata = operands.c + inst->operand[3];
    return operands;
}

/* ---- Integers ---- */

static void widen(uint32_t *raw, int count, PtxType type) {
    const int shift = 32 - ptx_type_bits(type);
    for (int i = 0; i < count; ++i)
        raw[i] =
            ptx_type_is_signed(type) ? (uint32_t)((int32_t)(raw[i] << shift) >> shift) : raw[i];
}

static uint32_t add_to(uint32_t c, int32_t sum, bool saturates) {
    const int64_t total = (int64_t)(int32_t)c + sum;
    if (!saturates) return (uint32_t)total;
    return (uint32_t)(total > INT32_MAX ? INT32_MAX : total < INT32_MIN ? INT32_MIN : total);
}

static void multiply_integers(Matrices *m) {
    widen(m->raw_a, m->rows * m->a.columns, (PtxType)m->is.a);
    widen(m->raw_b, m->b.rows * m->columns, (PtxType)m->is.b);
    for (int row = 0; row < m->rows; ++row)
        for (int first = 0; first < m->columns; first += CHUNK) {
            int32_t sum[CHUNK] = {0}; /* products of 16 bits, at most 64 of them */
            for (int k = 0; k < m->a.columns; ++k) {
                const int at = row * m->a.columns + k;
                const int32_t a = (int32_t)m->raw_a[at];
                const uint32_t *b = &m->raw_b[m->chosen[at] * m->columns + first];
                for (int i = 0; i < CHUNK; ++i)
                    sum[i] += a * (int32_t)b[i];
            }
            uint32_t *d = &m->raw_c[row * m->columns + first];
            for (int i = 0; i < CHUNK; ++i)
                d[i] = add_to(d[i], sum[i], m->is.flags & ISA_MATRIX_SATURATES);
        }
}

EXEC(MMA_INTEGER) {
    Matrices m;
    const Operands in = start(&m, context, inst);
    ISA_MATRIX(gather)(&m, &m.a, warp, in.a, -1, m.raw_a);
    ISA_MATRIX(gather)(&m, &m.b, warp, in.b, -1, m.raw_b);
    ISA_MATRIX(gather)(&m, &m.c, warp, in.c, -1, m.raw_c);
    ISA_MATRIX(choose)(&m, warp, in.metadata);
    multiply_integers(&m);
    ISA_MATRIX(scatter)(&m, warp, in.d, -1, mask);
}

static void count_bits(Matrices *m) {
    for (int row = 0; row < m->rows; ++row)
        for (int column = 0; column < m->columns; ++column) {
            uint32_t sum = m->raw_c[row * m->columns + column];
            for (int k = 0; k < m->a.columns; ++k) {
                const uint32_t a = m->raw_a[row * m->a.columns + k];
                const uint32_t b = m->raw_b[k * m->columns + column];
                sum += (uint32_t)bits_count32(m->is.operation == PTX_SUB_XOR ? a ^ b : a & b);
            }
            m->raw_c[row * m->columns + column] = sum;
        }
}

EXEC(MMA_BIT) {
    Matrices m;
    const Operands in = start(&m, context, inst);
    ISA_MATRIX(gather)(&m, &m.a, warp, in.a, -1, m.raw_a);
    ISA_MATRIX(gather)(&m, &m.b, warp, in.b, -1, m.raw_b);
    ISA_MATRIX(gather)(&m, &m.c, warp, in.c, -1, m.raw_c);
    count_bits(&m);
    ISA_MATRIX(scatter)(&m, warp, in.d, -1, mask);
}

/* ---- f64 ---- */

enum { DOUBLES = 16 * 16 }; /* maximum number of elements per matrix */

static void gather_doubles(const IsaFragment *f, const IsaWarp *warp, const IsaOperand *regs,
                           double *out) {
    for (int reg = 0; reg < f->regs; ++reg)
        FOR_LANES {
            const IsaPlace at = isa_matrix_place(f, reg, lane, 0);
            out[at.row * f->columns + at.column] = f64_of_bits(isa_row64(warp, regs[reg])[lane]);
        }
}

static double add_chain(const double *a, const double *b, int columns, int depth, double sum,
                        IsaRound round) {
    for (int k = 0; k < depth; ++k)
        sum = round == ISA_ROUND_NEAREST ? __builtin_fma(a[k], b[k * columns], sum)
                                         : isa_fma_directed(a[k], b[k * columns], sum, round);
    return canonical_f64(sum);
}

/* A chain of fused operations in order of rising k, as on GPUs (Fasi et al. 2021). */
EXEC(MMA_DOUBLE) {
    Matrices m;
    const Operands in = start(&m, context, inst);
    const IsaRound round = (IsaRound)m.is.operation;
    double a[DOUBLES], b[DOUBLES], c[DOUBLES];
    gather_doubles(&m.a, warp, in.a, a);
    gather_doubles(&m.b, warp, in.b, b);
    gather_doubles(&m.c, warp, in.c, c);
    for (int row = 0; row < m.rows; ++row)
        for (int column = 0; column < m.columns; ++column) {
            double *sum = &c[row * m.columns + column];
            *sum =
                add_chain(&a[row * m.a.columns], &b[column], m.columns, m.a.columns, *sum, round);
        }
    for (int reg = 0; reg < m.d.regs; ++reg)
        for (uint32_t rest = mask; rest; rest &= rest - 1) {
            const int lane = bits_lowest32(rest);
            const IsaPlace at = isa_matrix_place(&m.d, reg, lane, 0);
            isa_row64(warp, in.d[reg])[lane] = bits_of_f64(c[at.row * m.columns + at.column]);
        }
}

/* ---- Floating point ---- */

/* The format of the inputs, and how their products are added. */
typedef struct Input {
    uint8_t fraction;     /* fraction bits */
    uint8_t exponent;     /* exponent bits */
    uint8_t shift;        /* unused low bits (tf32 in its register) */
    uint8_t has_infinity; /* otherwise only one NaN, all ones */
    uint8_t block;        /* number of products that are added together */
    uint8_t kept;         /* fraction bits that are kept in alignment */
} Input;

static Input input_of(PtxType type) {
    switch (type) {
    case PTX_F16: return (Input){10, 5, 0, true, 8, 24};
    case PTX_BF16: return (Input){7, 8, 0, true, 8, 24};
    case PTX_TF32: return (Input){10, 8, 13, true, 4, 24};
    case PTX_E4M3: return (Input){3, 4, 0, false, 16, 13};
    default: return (Input){2, 5, 0, true, 16, 13}; /* e5m2 */
    }
}

/* Numbers as significand * 2^(exponent - fraction bits), and as floats. */
typedef struct Split {
    int32_t significand[ISA_MATRIX_ELEMENTS], exponent[ISA_MATRIX_ELEMENTS];
    float value[ISA_MATRIX_ELEMENTS]; /* unless is_far */
    bool has_special;                 /* at least one is an infinity or NaN */
    bool is_far;                      /* at least one has an exponent beyond NEAR_EXPONENT */
} Split;

/* 2^exponent, for exponents of normal floats. */
INLINE float power_of_two(int32_t exponent) {
    return f32_of_bits((uint32_t)(exponent + 127) << 23);
}

static void split(const uint32_t *raw, int count, Input input, Split *out) {
    const uint32_t fraction_mask = (uint32_t)bits_low_mask(input.fraction);
    const uint32_t exponent_mask = (uint32_t)bits_low_mask(input.exponent);
    const uint32_t magnitude_mask = exponent_mask << input.fraction | fraction_mask;
    const uint32_t specials = input.has_infinity ? exponent_mask << input.fraction : magnitude_mask;
    const int32_t bias = (1 << (input.exponent - 1)) - 1;
    uint32_t special = 0, far = 0;
    for (int i = 0; i < count; ++i) {
        const uint32_t bits = raw[i] >> input.shift;
        const int32_t biased = (int32_t)(bits >> input.fraction & exponent_mask);
        const int32_t fraction = (int32_t)(bits & fraction_mask);
        const int32_t whole = biased ? fraction | 1 << input.fraction : fraction;
        const bool is_negative = bits >> (input.fraction + input.exponent) & 1;
        const int32_t exponent = (biased ? biased : 1) - bias, near = whole ? exponent : 0;
        out->significand[i] = is_negative ? -whole : whole;
        out->exponent[i] = whole ? exponent : ZERO_EXPONENT;
        out->value[i] = (float)out->significand[i] * power_of_two(near - input.fraction);
        special |= (bits & magnitude_mask) >= specials;
        far |= near > NEAR_EXPONENT || near < -NEAR_EXPONENT;
    }
    out->has_special = special;
    out->is_far = far;
}

/* The exact value of a number, as a double. */
static double value_of(uint32_t raw, Input input) {
    Split one;
    split(&raw, 1, input, &one);
    if (one.has_special) {
        const uint32_t bits = raw >> input.shift;
        const bool is_nan = !input.has_infinity || (bits & (uint32_t)bits_low_mask(input.fraction));
        const bool is_negative = bits >> (input.fraction + input.exponent) & 1;
        return is_nan ? __builtin_nan("") : is_negative ? -__builtin_inf() : __builtin_inf();
    }
    return __builtin_ldexp(one.significand[0], one.exponent[0] - input.fraction);
}

/* x * 2^(kept - fraction - distance), truncated toward zero. */
INLINE int32_t align(int32_t x, int up, int down, int32_t distance) {
    const int32_t sign = x >> 31, magnitude = (x ^ sign) - sign;
    const int32_t by = distance + down < 31 ? distance + down : 31;
    return (((magnitude << up) >> by) ^ sign) - sign;
}

/* How a row of D is summed. */
typedef struct Sum {
    Input a, b;
    bool to_half; /* D is f16 */
} Sum;

/* sum * 2^exponent rounded to D's type: f32 toward zero, f16 to nearest. */
INLINE float round_sum(int32_t sum, int32_t exponent, bool to_half) {
    const double scale = f64_of_bits((uint64_t)(1023 + exponent) << 52);
    const double x = (double)sum * scale;
    const double half = round_to_format(x, format_f16, ISA_ROUND_NEAREST);
    const double cut = round_to_format(x, format_f32, ISA_ROUND_ZERO);
    const double single = __builtin_fabs(x) >= 0x1p128 ? x * __builtin_inf() : cut;
    return (float)(to_half ? half : single);
}

/* acc = round(acc + the products of `count` elements of A's row and of CHUNK columns of B). */
static void add_block(const Sum *sum, const int32_t *a, const int32_t *a_exponent,
                      const int32_t *const *b, const int32_t *const *b_exponent, int count,
                      float *acc) {
    const int kept = sum->a.kept, products_fraction = sum->a.fraction + sum->b.fraction;
    int32_t c[CHUNK], c_exponent[CHUNK], greatest[CHUNK], total[CHUNK];
    for (int i = 0; i < CHUNK; ++i) {
        const uint32_t bits = bits_of_f32(acc[i]);
        const int32_t biased = (int32_t)(bits >> 23 & 255);
        const int32_t fraction = (int32_t)(bits & 0x7fffff);
        const int32_t whole = biased ? fraction | 0x800000 : fraction;
        c[i] = bits >> 31 ? -whole : whole;
        c_exponent[i] = whole ? (biased ? biased : 1) - 127 : ZERO_EXPONENT;
        greatest[i] = c_exponent[i] > LEAST_EXPONENT ? c_exponent[i] : LEAST_EXPONENT;
    }
    for (int k = 0; k < count; ++k)
        for (int i = 0; i < CHUNK; ++i) {
            const int32_t exponent = a_exponent[k] + b_exponent[k][i];
            greatest[i] = exponent > greatest[i] ? exponent : greatest[i];
        }
    const int c_up = kept > 23 ? kept - 23 : 0, c_down = kept < 23 ? 23 - kept : 0;
    for (int i = 0; i < CHUNK; ++i)
        total[i] = align(c[i], c_up, c_down, greatest[i] - c_exponent[i]);
    for (int k = 0; k < count; ++k)
        for (int i = 0; i < CHUNK; ++i)
            total[i] += align(a[k] * b[k][i], kept - products_fraction, 0,
                              greatest[i] - a_exponent[k] - b_exponent[k][i]);
    for (int i = 0; i < CHUNK; ++i) {
        const float rounded = round_sum(total[i], greatest[i] - kept, sum->to_half);
        acc[i] = __builtin_fabsf(acc[i]) < __builtin_inff() ? rounded : acc[i];
    }
}

/* With an infinity or NaN among the operands, the result is the same for any order of additions. */
static float special_result(const Matrices *m, const Sum *sum, float c, int row, int column,
                            float otherwise) {
    double total = (double)c;
    for (int k = 0; k < m->a.columns; ++k) {
        const int from = m->chosen[row * m->a.columns + k];
        total += value_of(m->raw_a[row * m->a.columns + k], sum->a) *
                 value_of(m->raw_b[from * m->columns + column], sum->b);
    }
    if (total != total) return NAN_F32;
    return __builtin_fabs(total) < __builtin_inf() ? otherwise : (float)total;
}

static float accumulator_of(uint32_t bits, PtxType type) {
    return type == PTX_F32 ? f32_of_bits(bits) : (float)f64_of_f16(bits);
}

static uint32_t result_of(float value, PtxType type) {
    return type == PTX_F32 ? bits_of_f32(canonical_f32(value)) : f16_of_rounded((double)value);
}

/* Sums CHUNK columns of a row of D, from `first` on. */
static void multiply_chunk(Matrices *m, const Sum *sum, const Split *in_a, const Split *in_b,
                           int row, int first) {
    const int depth = m->a.columns;
    uint32_t *out = &m->raw_c[row * m->columns + first];
    float acc[CHUNK], c[CHUNK];
    bool has_special = in_a->has_special || in_b->has_special;
    for (int i = 0; i < CHUNK; ++i) {
        acc[i] = c[i] = accumulator_of(out[i], (PtxType)m->is.c);
        has_special |= !(__builtin_fabsf(c[i]) < __builtin_inff());
    }
    for (int k = 0; k < depth; k += sum->a.block) {
        const int32_t *b_rows[16], *b_exponents[16];
        const int count = depth - k < sum->a.block ? depth - k : sum->a.block;
        const int at = row * depth + k;
        for (int i = 0; i < count; ++i) {
            const int from = m->chosen[at + i] * m->columns + first;
            b_rows[i] = &in_b->significand[from];
            b_exponents[i] = &in_b->exponent[from];
        }
        add_block(sum, &in_a->significand[at], &in_a->exponent[at], b_rows, b_exponents, count,
                  acc);
    }
    for (int i = 0; i < CHUNK; ++i) {
        if (has_special) acc[i] = special_result(m, sum, c[i], row, first + i, acc[i]);
        out[i] = result_of(acc[i], (PtxType)m->is.d);
    }
}

/* ---- The same by vectors, for f32 if no operand is special or far from 1 ---- */

typedef int32_t WideInts __attribute__((vector_size(4 * LANES)));
typedef float WideFloats __attribute__((vector_size(4 * LANES)));

INLINE WideInts greater(WideInts a, WideInts b) {
    const WideInts is_greater = a > b;
    return (a & is_greater) | (b & ~is_greater);
}
INLINE WideInts size_of(WideInts x) {
    const WideInts sign = x >> 31;
    return (x ^ sign) - sign;
}
INLINE bool is_any(WideInts mask) {
    int32_t any = 0;
    for (int i = 0; i < LANES; ++i)
        any |= mask[i];
    return any;
}
INLINE WideInts load_ints(const void *from) {
    WideInts x;
    memcpy(&x, from, sizeof x);
    return x;
}

/* 2^exponents, for exponents of normal floats. */
INLINE WideFloats powers_of_two(WideInts exponents) {
    return (WideFloats)((exponents + 127) << 23);
}

/* sums * 2^exponents rounded toward zero; a sum has at most 30 bits. */
INLINE WideFloats round_sums(WideInts sums, WideInts exponents) {
    const WideInts nearest = (WideInts) __builtin_convertvector(sums, WideFloats);
    const WideInts back = __builtin_convertvector((WideFloats)nearest, WideInts);
    const WideInts cut = nearest + (size_of(back) > size_of(sums)); /* one less if rounded up */
    const WideInts is_far = (sums != 0) & ((exponents < -126) | (exponents > 127 - 30));
    WideFloats rounded = (WideFloats)cut * powers_of_two(greater(exponents, exponents * 0 - 126));
    if (is_any(is_far))
        for (int i = 0; i < LANES; ++i)
            rounded[i] = round_sum(sums[i], exponents[i], false);
    return rounded;
}

/* acc + the products of `count` elements of A's row and of rows of B, as add_block. Products of
 * floats and their alignment are exact. If a sum's greatest exponent has no power of two for its
 * scale, its products are 0. */
INLINE WideFloats add_lanes(const Sum *sum, const Split *a, int at, const Split *b, const int *from,
                            int count, WideFloats acc) {
    const int kept = sum->a.kept, c_up = kept > 23 ? kept - 23 : 0;
    const int c_down = kept < 23 ? 23 - kept : 0;
    const WideInts bits = (WideInts)acc, biased = bits >> 23 & 255, fraction = bits & 0x7fffff;
    const WideInts whole = fraction | (0x800000 & (biased != 0)), is_zero = whole == 0;
    const WideInts c_exponent =
        ((biased - (biased == 0) - 127) & ~is_zero) | (ZERO_EXPONENT & is_zero);
    WideInts greatest = greater(c_exponent, c_exponent * 0 + LEAST_EXPONENT);
    for (int k = 0; k < count; ++k)
        greatest = greater(greatest, load_ints(&b->exponent[from[k]]) + a->exponent[at + k]);
    const WideInts distance = greatest - c_exponent + c_down, sign = bits >> 31;
    const WideInts by = -greater(-distance, distance * 0 - 31);
    WideInts total = (((whole << c_up) >> by) ^ sign) - sign;
    const WideFloats scale = powers_of_two(-greater(greatest - kept, greatest * 0 - 126));
    for (int k = 0; k < count; ++k) {
        const WideFloats products = (WideFloats)load_ints(&b->value[from[k]]) * a->value[at + k];
        total += __builtin_convertvector(products * scale, WideInts);
    }
    return round_sums(total, greatest - kept);
}

INLINE bool is_finite(WideFloats x) { return !is_any(((WideInts)x & 0x7f800000) == 0x7f800000); }

/* Sums LANES columns of a row of D. Returns false if a sum is not finite. */
static bool multiply_lanes(const Matrices *m, const Sum *sum, const Split *a, const Split *b,
                           int row, int first, uint32_t *out) {
    const int depth = m->a.columns;
    WideFloats acc = (WideFloats)load_ints(&m->raw_c[row * m->columns + first]);
    for (int k = 0; k < depth && is_finite(acc); k += sum->a.block) {
        const int count = depth - k < sum->a.block ? depth - k : sum->a.block;
        int from[16];
        for (int i = 0; i < count; ++i)
            from[i] = m->chosen[row * depth + k + i] * m->columns + first;
        acc = add_lanes(sum, a, row * depth + k, b, from, count, acc);
    }
    memcpy(out, &acc, sizeof acc);
    return is_finite(acc);
}

/* Sums CHUNK columns. Returns false, and writes nothing, if a sum is not finite. */
static bool multiply_near(Matrices *m, const Sum *sum, const Split *a, const Split *b, int row,
                          int first) {
    uint32_t out[CHUNK];
    for (int i = 0; i < CHUNK; i += LANES)
        if (!multiply_lanes(m, sum, a, b, row, first + i, &out[i])) return false;
    memcpy(&m->raw_c[row * m->columns + first], out, sizeof out);
    return true;
}

static void multiply_floats(Matrices *m) {
    const Sum sum = {input_of((PtxType)m->is.a), input_of((PtxType)m->is.b), m->is.d == PTX_F16};
    Split a, b;
    split(m->raw_a, m->rows * m->a.columns, sum.a, &a);
    split(m->raw_b, m->b.rows * m->columns, sum.b, &b);
    const bool is_near = !a.is_far && !b.is_far && !a.has_special && !b.has_special &&
                         m->is.c == PTX_F32 && m->is.d == PTX_F32;
    for (int row = 0; row < m->rows; ++row)
        for (int first = 0; first < m->columns; first += CHUNK)
            if (!is_near || !multiply_near(m, &sum, &a, &b, row, first))
                multiply_chunk(m, &sum, &a, &b, row, first);
}

void ISA_MATRIX(multiply)(Matrices *m) {
    if ((PtxType)m->is.a == PTX_B1) count_bits(m);
    else if ((PtxType)m->is.d == PTX_S32) multiply_integers(m);
    else multiply_floats(m);
}

EXEC(MMA_FLOAT) {
    Matrices m;
    const Operands in = start(&m, context, inst);
    ISA_MATRIX(choose)(&m, warp, in.metadata);
    if (!(m.is.flags & ISA_MATRIX_QUAD)) {
        ISA_MATRIX(gather)(&m, &m.a, warp, in.a, -1, m.raw_a);
        ISA_MATRIX(gather)(&m, &m.b, warp, in.b, -1, m.raw_b);
        ISA_MATRIX(gather)(&m, &m.c, warp, in.c, -1, m.raw_c);
        multiply_floats(&m);
        ISA_MATRIX(scatter)(&m, warp, in.d, -1, mask);
        return;
    }
    /* The destination may share registers with sources of later products: scatter at the end. */
    Matrices quads[4];
    for (int quad = 0; quad < 4; ++quad) {
        quads[quad] = m;
        ISA_MATRIX(gather)(&m, &m.a, warp, in.a, quad, quads[quad].raw_a);
        ISA_MATRIX(gather)(&m, &m.b, warp, in.b, quad, quads[quad].raw_b);
        ISA_MATRIX(gather)(&m, &m.c, warp, in.c, quad, quads[quad].raw_c);
        multiply_floats(&quads[quad]);
    }
    for (int quad = 0; quad < 4; ++quad)
        ISA_MATRIX(scatter)(&quads[quad], warp, in.d, quad, mask);
}

/* ---- movmatrix ---- */

/* Element (r, c) of the 8 x 8 matrix is half c & 1 of lane 4r + c / 2. */
EXEC(MOVMATRIX) {
    const uint32_t *from = isa_row32(warp, inst->operand[1]);
    uint32_t result[ISA_LANES];
    FOR_LANES {
        const int row = lane >> 2, column = 2 * (lane & 3), shift = 16 * (row & 1);
        const uint32_t low = from[4 * column + row / 2] >> shift & 0xffff;
        const uint32_t high = from[4 * (column + 1) + row / 2] >> shift & 0xffff;
        result[lane] = low | high << 16;
    }
    write_lanes(isa_row32(warp, inst->operand[0]), result, mask);
}
