/* Conversions. Semantics: PTX ISA, "cvt". Floats are clamped to the range of an integer
 * destination. A NaN gives 0, or the destination's sign bit if either type has 64 bits. */
#include "isa/exec/maps.h"

INLINE int32_t s32_of_f32(float x) {
    return x >= 0x1p31f ? INT32_MAX : x < -0x1p31f ? INT32_MIN : x != x ? 0 : (int32_t)x;
}
INLINE uint32_t u32_of_f32(float x) { return x >= 0x1p32f ? UINT32_MAX : x > 0 ? (uint32_t)x : 0; }
INLINE int32_t s32_of_f64(double x) {
    return x >= 0x1p31 ? INT32_MAX : x > -0x1p31 ? (int32_t)x : INT32_MIN;
}

#include "isa/exec/exec_convert.def"

/* ---- Integer to integer, of any width ---- */

INLINE int64_t extend(uint64_t x, int bits, bool is_signed) {
    const int spare = 64 - bits;
    return is_signed ? (int64_t)(x << spare) >> spare : (int64_t)(x << spare >> spare);
}

/* `x`, a value of the source type, clamped to the range of the destination. */
INLINE int64_t clamp_integer(int64_t x, const IsaConvert *convert) {
    const int bits = convert->destination_bits;
    const int64_t highest =
        (int64_t)(UINT64_MAX >> (convert->is_destination_signed ? 65 - bits : 64 - bits));
    const bool is_large = !convert->is_source_signed && x < 0; /* an unsigned value above 2^63 */
    if (convert->is_destination_signed) {
        const int64_t lowest = -highest - 1;
        return is_large || x > highest ? highest : x < lowest ? lowest : x;
    }
    if (convert->is_source_signed && x < 0) return 0;
    return (uint64_t)x > (uint64_t)highest ? highest : x;
}

INLINE void load_integers(const IsaWarp *warp, const IsaInst *inst, const IsaConvert *convert,
                          int64_t *value) {
    const void *row = operand_row(warp, inst, 1);
    if (convert->source_bits == 64) {
        memcpy(value, row, ISA_LANES * sizeof *value);
        return;
    }
    FOR_LANES value[lane] =
        extend(((const RowWord *)row)[lane], convert->source_bits, convert->is_source_signed);
}

/* Integers of the destination's type, extended to its register. */
INLINE void store_integers(IsaWarp *warp, const IsaInst *inst, const IsaConvert *convert,
                           const int64_t *value, uint32_t mask) {
    alignas(64) uint64_t wide[ISA_LANES];
    alignas(64) uint32_t narrow[ISA_LANES];
    FOR_LANES wide[lane] = (uint64_t)extend((uint64_t)value[lane], convert->destination_bits,
                                            convert->is_destination_signed);
    if (convert->register_bits == 64) {
        write_row64(warp, inst, 0, wide, mask);
        return;
    }
    const uint32_t cut = UINT32_MAX >> (32 - convert->register_bits);
    FOR_LANES narrow[lane] = (uint32_t)wide[lane] & cut;
    write_row32(warp, inst, 0, narrow, mask);
}

EXEC(CVT_INT) {
    const IsaConvert convert = isa_convert_of(inst->imm);
    alignas(64) int64_t value[ISA_LANES];
    load_integers(warp, inst, &convert, value);
    if (convert.modifiers & ISA_MOD_SAT)
        FOR_LANES value[lane] = clamp_integer(value[lane], &convert);
    store_integers(warp, inst, &convert, value, mask);
}

/* ---- Conversions through double ---- */

/* The destination's format, if it is narrower than double. */
INLINE FloatFormat format_of(PtxType type) {
    switch (type) {
    case PTX_F16:
    case PTX_F16X2: return format_f16;
    case PTX_BF16:
    case PTX_BF16X2: return format_bf16;
    case PTX_TF32: return format_tf32;
    case PTX_E4M3X2: return format_e4m3;
    case PTX_E5M2X2: return format_e5m2;
    default: return format_f32;
    }
}

INLINE float flush_f32(float x) {
    const uint32_t bits = bits_of_f32(x);
    return bits & 0x7f800000 ? x : f32_of_bits(bits & 0x80000000);
}

/* The source as doubles. Wide integers are exact or rounded to odd, which is enough for every
 * narrower format. Their conversion to f64 does not use this function. */
INLINE void load_doubles(const IsaWarp *warp, const IsaInst *inst, int operand,
                         const IsaConvert *convert, double *value) {
    const void *row = operand_row(warp, inst, operand);
    const RowWord *word = row;
    switch ((PtxType)convert->source) {
    case PTX_F64: memcpy(value, row, ISA_LANES * sizeof *value); return;
    case PTX_F32:
        FOR_LANES {
            const float x = f32_of_bits(word[lane]);
            value[lane] = (double)(convert->modifiers & ISA_MOD_FTZ ? flush_f32(x) : x);
        }
        return;
    case PTX_F16: FOR_LANES value[lane] = f64_of_f16(word[lane]); return;
    case PTX_BF16: FOR_LANES value[lane] = f64_of_bf16(word[lane]); return;
    default: break;
    }
    alignas(64) int64_t integer[ISA_LANES];
    load_integers(warp, inst, convert, integer);
    FOR_LANES {
        const bool is_negative = convert->is_source_signed && integer[lane] < 0;
        const uint64_t abs = is_negative ? 0 - (uint64_t)integer[lane] : (uint64_t)integer[lane];
        const uint64_t jammed = (abs >> 11 | ((abs & 0x7ff) != 0)) << 11;
        const double x = (double)(abs >> 53 ? jammed : abs);
        value[lane] = is_negative ? -x : x;
    }
}

INLINE void round_integral(double *value, PtxRound round) {
    switch (round) {
    case PTX_RNI: FOR_LANES value[lane] = __builtin_rint(value[lane]); return;
    case PTX_RZI: FOR_LANES value[lane] = __builtin_trunc(value[lane]); return;
    case PTX_RMI: FOR_LANES value[lane] = __builtin_floor(value[lane]); return;
    case PTX_RPI: FOR_LANES value[lane] = __builtin_ceil(value[lane]); return;
    default: return;
    }
}

EXEC(CVT_TO_INT) {
    const IsaConvert convert = isa_convert_of(inst->imm);
    const int bits = convert.destination_bits;
    const bool is_signed = convert.is_destination_signed;
    const double limit = f64_of_bits((uint64_t)(1023 + (is_signed ? bits - 1 : bits)) << 52);
    const double lowest = is_signed ? -limit : 0;
    const int64_t highest = (int64_t)(UINT64_MAX >> (is_signed ? 65 - bits : 64 - bits));
    const int64_t of_lowest = is_signed ? -highest - 1 : 0;
    const bool is_wide = convert.source == PTX_F64 || bits == 64;
    const int64_t of_nan = is_wide ? (int64_t)(UINT64_C(1) << (bits - 1)) : 0;
    alignas(64) double value[ISA_LANES];
    alignas(64) int64_t result[ISA_LANES];
    load_doubles(warp, inst, 1, &convert, value);
    round_integral(value, (PtxRound)convert.integral);
    FOR_LANES {
        const double x = value[lane];
        /* above 2^63 a double is a multiple of 2^11: half of it converts exactly */
        if (x != x) result[lane] = of_nan;
        else if (x >= limit) result[lane] = highest;
        else if (x <= lowest) result[lane] = of_lowest;
        else if (x >= 0x1p63) result[lane] = (int64_t)((uint64_t)(int64_t)(x / 2) << 1);
        else result[lane] = (int64_t)x;
    }
    store_integers(warp, inst, &convert, result, mask);
}

/* ---- To floats ---- */

/* Clamps to [0, 1] (.sat of a scalar) or sets negative values to 0 (.relu). */
INLINE void apply_range(double *value, const IsaConvert *convert) {
    if (convert->modifiers & ISA_MOD_SAT)
        FOR_LANES value[lane] = value[lane] > 0 ? (value[lane] < 1 ? value[lane] : 1) : 0;
    if (convert->modifiers & ISA_MOD_RELU)
        FOR_LANES value[lane] = value[lane] > 0 || value[lane] != value[lane] ? value[lane] : 0;
}

/* Rounds to the destination's format. .satfinite replaces values beyond its range by its largest
 * number. */
INLINE void round_values(double *value, const IsaConvert *convert) {
    const FloatFormat format = format_of((PtxType)convert->destination);
    const IsaRound mode = (IsaRound)convert->round;
    const double bound = convert->is_satfinite ? format.max : __builtin_inf();
    FOR_LANES {
        const double x = round_to_format(value[lane], format, mode);
        value[lane] = x > bound ? bound : x < -bound ? -bound : x;
    }
}

/* Bits of a number in an 8-bit format: sign, exponent, significand. */
INLINE uint32_t bits8_of_rounded(double x, FloatFormat format) {
    const int fraction = format.precision - 1;
    const uint32_t sign = (uint32_t)(bits_of_f64(x) >> 63) << 7;
    const double abs = __builtin_fabs(x);
    const double smallest = f64_of_bits((uint64_t)(1023 + format.min_exponent) << 52);
    const double step = f64_of_bits((uint64_t)(1023 - format.min_exponent + fraction) << 52);
    const uint64_t rebias = (uint64_t)(1022 + format.min_exponent) << fraction;
    const uint32_t normal = (uint32_t)((bits_of_f64(abs) >> (52 - fraction)) - rebias);
    const uint32_t subnormal = (uint32_t)(int32_t)((abs < smallest ? abs : 0) * step);
    return x != x ? 0x7f : sign | (abs < smallest ? subnormal : normal);
}

/* The bits of a rounded value in the destination, in the low part of a word. */
INLINE uint32_t bits_of_rounded(double x, PtxType type) {
    switch (type) {
    case PTX_F16:
    case PTX_F16X2: return f16_of_rounded(x);
    case PTX_BF16:
    case PTX_BF16X2: return bf16_of_rounded(x);
    case PTX_E4M3X2: return bits8_of_rounded(x, format_e4m3);
    case PTX_E5M2X2: return bits8_of_rounded(x, format_e5m2);
    default: return bits_of_f32(canonical_f32((float)x));
    }
}

/* 64-bit integers to f64 in a directed mode. Both halves convert exactly. The nearest double of
 * their sum and the sign of its error give the result. */
INLINE void round_wide_integers(const IsaWarp *warp, const IsaInst *inst, const IsaConvert *convert,
                                double *value) {
    alignas(64) int64_t integer[ISA_LANES];
    const bool is_signed = convert->is_source_signed;
    const IsaRound mode = (IsaRound)convert->round;
    load_integers(warp, inst, convert, integer);
    FOR_LANES {
        const uint64_t bits = (uint64_t)integer[lane];
        const double high = is_signed ? (double)(integer[lane] >> 32) : (double)(bits >> 32);
        value[lane] = add_directed_f64(high * 0x1p32, (double)(uint32_t)bits, mode);
    }
}

EXEC(CVT_TO_FLOAT) {
    const IsaConvert convert = isa_convert_of(inst->imm);
    const bool is_wide_integer = convert.source_bits == 64 && convert.source != PTX_F64;
    alignas(64) double value[ISA_LANES];
    alignas(64) uint32_t word[ISA_LANES];
    if (is_wide_integer && convert.destination == PTX_F64)
        round_wide_integers(warp, inst, &convert, value);
    else load_doubles(warp, inst, 1, &convert, value);
    round_integral(value, (PtxRound)convert.integral);
    apply_range(value, &convert);
    if (convert.destination == PTX_F64) {
        FOR_LANES value[lane] = canonical_f64(value[lane]);
        write_row64(warp, inst, 0, value, mask);
        return;
    }
    round_values(value, &convert);
    FOR_LANES word[lane] = bits_of_rounded(value[lane], (PtxType)convert.destination);
    if (convert.destination == PTX_F32 && convert.modifiers & ISA_MOD_FTZ)
        FOR_LANES word[lane] = bits_of_f32(flush_f32(f32_of_bits(word[lane])));
    write_row32(warp, inst, 0, word, mask);
}

/* Two values into the halves of a register: 16 bits each, or 8 bits for e4m3x2 and e5m2x2. */
EXEC(CVT_PACK) {
    const IsaConvert convert = isa_convert_of(inst->imm);
    const PtxType type = (PtxType)convert.destination;
    const int shift = convert.register_bits / 2;
    alignas(64) double value[ISA_LANES];
    alignas(64) uint32_t word[ISA_LANES] = {0};
    for (int part = 0; part < 2; ++part) {
        if (convert.source == PTX_F16X2) {
            const RowWord *pair = operand_row(warp, inst, 1);
            FOR_LANES value[lane] = f64_of_f16(pair[lane] >> 16 * part & 0xffff);
        } else {
            load_doubles(warp, inst, 2 - part, &convert, value);
        }
        apply_range(value, &convert);
        round_values(value, &convert);
        FOR_LANES word[lane] |= bits_of_rounded(value[lane], type) << shift * part;
    }
    write_row32(warp, inst, 0, word, mask);
}

INLINE int64_t limit(int64_t value, int64_t lowest, int64_t highest) {
    return value < lowest ? lowest : value > highest ? highest : value;
}

/* cvt.pack: b and a, saturated, from the lowest bit on, followed by the low bits of c. */
EXEC(CVT_PACK_INTEGERS) {
    const int bits = inst->sub;
    const bool is_signed = inst->imm & 1;
    const int64_t highest = (INT64_C(1) << (is_signed ? bits - 1 : bits)) - 1;
    const int64_t lowest = is_signed ? -highest - 1 : 0, part = (INT64_C(1) << bits) - 1;
    const RowWord *a = operand_row(warp, inst, 1), *b = operand_row(warp, inst, 2);
    const RowWord *c = operand_row(warp, inst, 3);
    alignas(64) uint32_t word[ISA_LANES];
    FOR_LANES {
        const int64_t upper = limit((int32_t)a[lane], lowest, highest) & part;
        const int64_t lower = limit((int32_t)b[lane], lowest, highest) & part;
        const uint64_t rest = (uint64_t)c[lane] << 2 * bits;
        word[lane] = (uint32_t)(rest | (uint64_t)upper << bits | (uint64_t)lower);
    }
    write_row32(warp, inst, 0, word, mask);
}

/* An 8-bit number as a double. e4m3 has one NaN pattern and no infinities. */
INLINE double f64_of_bits8(uint32_t bits, FloatFormat format, bool has_infinity) {
    const int fraction = format.precision - 1;
    const uint32_t abs = bits & 0x7f, exponent = abs >> fraction;
    const uint32_t significand = abs & ((1u << fraction) - 1);
    const double step = f64_of_bits((uint64_t)(1023 + format.min_exponent - fraction) << 52);
    const double scale = f64_of_bits((uint64_t)(1022 + (exponent ? exponent : 1)) << 52);
    const double magnitude = (significand + (exponent ? 1u << fraction : 0)) * step * scale;
    const double special = significand ? __builtin_nan("") : __builtin_inf();
    double x = magnitude;
    if (has_infinity && exponent == 0x1f) x = special;
    if (!has_infinity && abs == 0x7f) x = __builtin_nan("");
    return bits & 0x80 ? -x : x;
}

/* A pair of 8-bit floats to a pair of f16. */
EXEC(CVT_UNPACK) {
    const IsaConvert convert = isa_convert_of(inst->imm);
    const bool is_e5m2 = convert.source == PTX_E5M2X2;
    const FloatFormat format = is_e5m2 ? format_e5m2 : format_e4m3;
    const RowWord *pair = operand_row(warp, inst, 1);
    alignas(64) double value[ISA_LANES];
    alignas(64) uint32_t word[ISA_LANES] = {0};
    for (int part = 0; part < 2; ++part) {
        FOR_LANES value[lane] = f64_of_bits8(pair[lane] >> 8 * part & 0xff, format, is_e5m2);
        apply_range(value, &convert);
        FOR_LANES word[lane] |= f16_of_rounded(value[lane]) << 16 * part;
    }
    write_row32(warp, inst, 0, word, mask);
}
