/* Video instructions: parts of registers are extended by their type, combined in wider arithmetic,
 * saturated, and then combined with c. Semantics: PTX ISA, "Scalar Video Instructions", "SIMD Video
 * Instructions". Left out (the reader names them): masks and swizzles of the SIMD forms. */
#include "isa/maps.h"

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

INLINE int64_t combine_parts(int64_t a, int64_t b, uint8_t operation) {
    switch (operation) {
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

EXEC(VIDEO_SCALAR) {
    const IsaVideo video = isa_video_of(inst->imm);
    MAP_SOURCE(a, u32, 1)
    MAP_SOURCE(b, u32, 2)
    MAP_SOURCE(c, u32, 3)
    alignas(64) uint32_t result[ISA_LANES];
    FOR_LANES {
        const int64_t x = take_part(a_row[lane], (PtxSelect)video.select_a, video.is_a_signed);
        const int64_t y = take_part(b_row[lane], (PtxSelect)video.select_b, video.is_b_signed);
        int64_t value = combine_parts(x, y, video.operation);
        if (video.is_saturating) value = saturate_part(value, 32, video.is_signed);
        result[lane] = combine_with_c((uint32_t)value, c_row[lane], &video);
    }
    write_row32(warp, inst, 0, result, mask);
}

/* Two halves or four bytes; .add sums them all up, and c. */
EXEC(VIDEO_VECTOR) {
    const IsaVideo video = isa_video_of(inst->imm);
    const int bits = 32 / video.parts;
    const uint32_t part_mask = UINT32_MAX >> (32 - bits);
    const PtxSelect first = video.parts == 4 ? PTX_SELECT_B0 : PTX_SELECT_H0;
    MAP_SOURCE(a, u32, 1)
    MAP_SOURCE(b, u32, 2)
    MAP_SOURCE(c, u32, 3)
    alignas(64) uint32_t result[ISA_LANES];
    FOR_LANES {
        uint32_t packed = 0, sum = c_row[lane];
        for (int i = 0; i < video.parts; ++i) {
            const PtxSelect part = first + (PtxSelect)i;
            const int64_t x = take_part(a_row[lane], part, video.is_a_signed);
            const int64_t y = take_part(b_row[lane], part, video.is_b_signed);
            int64_t value = combine_parts(x, y, video.operation);
            if (video.is_saturating) value = saturate_part(value, bits, video.is_signed);
            packed |= ((uint32_t)value & part_mask) << bits * i;
            sum += (uint32_t)value;
        }
        result[lane] = video.second == PTX_SUB_ADD ? sum : packed;
    }
    write_row32(warp, inst, 0, result, mask);
}
