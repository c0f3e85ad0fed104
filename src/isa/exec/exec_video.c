/* Video instructions. Parts of registers are extended by their type, combined in wider arithmetic,
 * saturated, and then combined with c. Semantics: PTX ISA, "Scalar Video Instructions", "SIMD Video
 * Instructions". */
#include "isa/exec/maps.h"

INLINE int64_t take_part(uint32_t x, PtxSelect select, bool is_signed) {
    int shift = 0, bits = 32;
    if (select >= PTX_SELECT_B0 && select <= PTX_SELECT_B3) {
        shift = 8 * (int)(select - PTX_SELECT_B0);
        bits = 8;
    } else if (select != PTX_SELECT_NONE) {
        shift = 16 * (int)(select - PTX_SELECT_H0);
        bits = 16;
    }
    const uint64_t top = (uint64_t)(x >> shift) << (64 - bits);
    return is_signed ? (int64_t)top >> (64 - bits) : (int64_t)(top >> (64 - bits));
}

/* The count is at most 32, or wraps. A value shifted by more than 31 bits becomes a large number of
 * the same sign; its low 32 bits are 0. */
INLINE int64_t shift_left(int64_t a, int64_t count) {
    if (count < 32) return (int64_t)((uint64_t)a << count);
    return a > 0 ? INT64_C(1) << 62 : a < 0 ? -(INT64_C(1) << 62) : 0;
}

INLINE int64_t shift_count(int64_t b, const IsaVideo *video) {
    return video->wraps ? b & 31 : b > 32 ? 32 : b;
}

INLINE int64_t combine_parts(int64_t a, int64_t b, const IsaVideo *video) {
    switch (video->operation) {
    case ISA_VIDEO_SHL: return shift_left(a, shift_count(b, video));
    case ISA_VIDEO_SHR: return a >> shift_count(b, video);
    case ISA_VIDEO_SET + PTX_EQ: return a == b;
    case ISA_VIDEO_SET + PTX_NE: return a != b;
    case ISA_VIDEO_SET + PTX_LT: return a < b;
    case ISA_VIDEO_SET + PTX_LE: return a <= b;
    case ISA_VIDEO_SET + PTX_GT: return a > b;
    case ISA_VIDEO_SET + PTX_GE: return a >= b;
    case ISA_VIDEO_ADD: return a + b;
    case ISA_VIDEO_SUB: return a - b;
    case ISA_VIDEO_ABSDIFF: return a < b ? b - a : a - b;
    case ISA_VIDEO_MIN: return a < b ? a : b;
    case ISA_VIDEO_MAX: return a > b ? a : b;
    default: return (a + b + (a + b >= 0)) >> 1; /* average, halves away from zero */
    }
}

INLINE int64_t saturate_part(int64_t x, int bits, bool is_signed) {
    const int64_t highest = (INT64_C(1) << (is_signed ? bits - 1 : bits)) - 1;
    const int64_t lowest = is_signed ? -highest - 1 : 0;
    return x > highest ? highest : x < lowest ? lowest : x;
}

/* The second operation of the scalar forms, on results of 32 bits. */
INLINE uint32_t combine_with_c(uint32_t x, uint32_t c, const IsaVideo *video) {
    const bool is_less = video->is_signed ? (int32_t)x < (int32_t)c : x < c;
    switch (video->second) {
    case PTX_SUB_ADD: return x + c;
    case PTX_SUB_MIN: return is_less ? x : c;
    case PTX_SUB_MAX: return is_less ? c : x;
    default: return x;
    }
}

typedef struct Part {
    int shift, bits; /* of a register */
} Part;

INLINE Part part_of(PtxSelect select) {
    if (select == PTX_SELECT_NONE) return (Part){0, 32};
    if (select <= PTX_SELECT_B3) return (Part){8 * (int)(select - PTX_SELECT_B0), 8};
    return (Part){16 * (int)(select - PTX_SELECT_H0), 16};
}

EXEC(VIDEO_SCALAR) {
    const IsaVideo video = isa_video_of(inst->imm);
    const Part to = part_of((PtxSelect)video.select_d);
    const uint32_t merged = (uint32_t)(((UINT64_C(1) << to.bits) - 1) << to.shift);
    MAP_SOURCE(a, u32, 1)
    MAP_SOURCE(b, u32, 2)
    MAP_SOURCE(c, u32, 3)
    alignas(64) uint32_t result[ISA_LANES];
    FOR_LANES {
        const int64_t x = take_part(a_row[lane], (PtxSelect)video.select_a, video.is_a_signed);
        const int64_t y = take_part(b_row[lane], (PtxSelect)video.select_b, video.is_b_signed);
        int64_t value = combine_parts(x, y, &video);
        if (video.is_saturating) value = saturate_part(value, to.bits, video.is_signed);
        const uint32_t whole = combine_with_c((uint32_t)value, c_row[lane], &video);
        result[lane] = (whole << to.shift & merged) | (c_row[lane] & ~merged);
    }
    write_row32(warp, inst, 0, result, mask);
}

/* Element `index` of the elements of a, followed by those of b. */
INLINE int64_t take_element(uint32_t a, uint32_t b, int index, int bits, bool is_signed) {
    const uint64_t both = (uint64_t)b << 32 | a;
    const uint64_t top = both >> bits * index << (64 - bits);
    return is_signed ? (int64_t)top >> (64 - bits) : (int64_t)(top >> (64 - bits));
}

EXEC(VIDEO_VECTOR) {
    const IsaVideo video = isa_video_of(inst->imm);
    const int bits = 32 / video.parts;
    const uint32_t part_mask = (uint32_t)((UINT64_C(1) << bits) - 1), elements = inst->sub;
    const bool accumulates = video.second == PTX_SUB_ADD;
    MAP_SOURCE(a, u32, 1)
    MAP_SOURCE(b, u32, 2)
    MAP_SOURCE(c, u32, 3)
    alignas(64) uint32_t result[ISA_LANES];
    FOR_LANES {
        const uint32_t in_a = a_row[lane], in_b = b_row[lane];
        uint32_t packed = c_row[lane], sum = c_row[lane];
        for (int i = 0; i < video.parts; ++i) {
            if (!(elements >> i & 1)) continue;
            const int from_a = inst->target >> 4 * i & 15,
                      from_b = inst->target >> (16 + 4 * i) & 15;
            const int64_t x = take_element(in_a, in_b, from_a, bits, video.is_a_signed);
            const int64_t y = take_element(in_a, in_b, from_b, bits, video.is_b_signed);
            int64_t value = combine_parts(x, y, &video);
            if (video.is_saturating) value = saturate_part(value, bits, video.is_signed);
            const uint32_t here = part_mask << bits * i;
            packed = (packed & ~here) | ((uint32_t)value << bits * i & here);
            sum += (uint32_t)value;
        }
        result[lane] = accumulates ? sum : packed;
    }
    write_row32(warp, inst, 0, result, mask);
}

/* d = (a * b + c (+ 1)) >> shift. The product or c is negated by its complement plus 1. */
EXEC(VIDEO_MAD) {
    const IsaVideo video = isa_video_of(inst->imm);
    const bool is_signed = video.is_signed;
    const int one = video.adds_one | video.negates_product | video.negates_c;
    const __int128 highest = is_signed ? INT32_MAX : UINT32_MAX;
    const __int128 lowest = is_signed ? INT32_MIN : 0;
    MAP_SOURCE(a, u32, 1)
    MAP_SOURCE(b, u32, 2)
    MAP_SOURCE(c, u32, 3)
    alignas(64) uint32_t result[ISA_LANES];
    FOR_LANES {
        const int64_t x = take_part(a_row[lane], (PtxSelect)video.select_a, video.is_a_signed);
        const int64_t y = take_part(b_row[lane], (PtxSelect)video.select_b, video.is_b_signed);
        const uint32_t c = video.negates_c ? ~c_row[lane] : c_row[lane];
        const __int128 product = video.negates_product ? ~((__int128)x * y) : (__int128)x * y;
        const __int128 sum = product + take_part(c, PTX_SELECT_NONE, is_signed) + one;
        const __int128 value = sum >> video.shift; /* at most 66 bits */
        const __int128 limited = value > highest ? highest : value < lowest ? lowest : value;
        result[lane] = (uint32_t)(video.is_saturating ? limited : value);
    }
    write_row32(warp, inst, 0, result, mask);
}
