/* Integer instructions. Semantics: PTX ISA, "Integer Arithmetic Instructions", "Extended-Precision
 * Integer Arithmetic Instructions", "Logic and Shift Instructions", "Data Movement". The PTX ISA
 * leaves division by zero open; quotient and remainder are all ones, as on GPUs. */
#include "isa/exec/maps.h"

#define U16(x) ((uint32_t)(uint16_t)(x))
#define S16(x) ((int32_t)(int16_t)(x))
#define U32(x) ((uint32_t)(x))
#define U64(x) ((uint64_t)(x))

INLINE uint32_t min_u32(uint32_t a, uint32_t b) { return a < b ? a : b; }
INLINE uint32_t max_u32(uint32_t a, uint32_t b) { return a > b ? a : b; }
INLINE int32_t min_s32(int32_t a, int32_t b) { return a < b ? a : b; }
INLINE int32_t max_s32(int32_t a, int32_t b) { return a > b ? a : b; }

INLINE int64_t saturate_s32(int64_t x) {
    return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x;
}

/* Two 16-bit values as one word; only their low halves are used. */
#define join16(low, high) (U16(low) | U32(high) << 16)
INLINE uint64_t join32(uint32_t low, uint32_t high) { return low | (uint64_t)high << 32; }

/* ---- Products ---- */

INLINE uint32_t high_u32(uint32_t a, uint32_t b) { return U32((uint64_t)a * b >> 32); }
INLINE int32_t high_s32(int32_t a, int32_t b) { return (int32_t)((int64_t)a * b >> 32); }
INLINE uint64_t high_u64(uint64_t a, uint64_t b) { return U64((unsigned __int128)a * b >> 64); }
INLINE int64_t high_s64(int64_t a, int64_t b) { return (int64_t)((__int128)a * b >> 64); }

INLINE uint64_t low24_u32(uint32_t x) { return x & 0xffffff; }
INLINE int64_t low24_s32(int32_t x) { return (int32_t)(U32(x) << 8) >> 8; }

INLINE int32_t part(uint32_t x, int position, int bits, bool is_signed) {
    const uint32_t top = x << (32 - bits - position);
    return is_signed ? (int32_t)top >> (32 - bits) : (int32_t)(top >> (32 - bits));
}
INLINE uint32_t dot4(uint32_t a, uint32_t b, uint32_t sub) {
    int32_t sum = 0;
    for (int i = 0; i < 32; i += 8)
        sum += part(a, i, 8, sub & 1) * part(b, i, 8, sub & 2);
    return U32(sum);
}
INLINE uint32_t dot2(uint32_t a, uint32_t b, uint32_t sub) {
    const uint32_t half = sub & 4 ? b >> 16 : b;
    return U32(part(a, 0, 16, sub & 1)) * U32(part(half, 0, 8, sub & 2)) +
           U32(part(a, 16, 16, sub & 1)) * U32(part(half, 8, 8, sub & 2));
}

/* ---- Quotients ---- */

/* Computed in double. Both numbers are exact, and a quotient that is not an integer differs from
 * the next integer by more than the rounding error. */
INLINE uint32_t divide_u32(uint32_t a, uint32_t b) {
    const uint32_t quotient = (uint32_t)((double)a / (double)(b ? b : 1));
    return b ? quotient : UINT32_MAX;
}
INLINE uint32_t remainder_u32(uint32_t a, uint32_t b) {
    return b ? a - divide_u32(a, b) * b : UINT32_MAX;
}
INLINE uint32_t magnitude(int32_t x) { return x < 0 ? 0 - U32(x) : U32(x); }
INLINE uint32_t divide_s32(int32_t a, int32_t b) {
    const uint32_t quotient = divide_u32(magnitude(a), magnitude(b));
    return b && (a ^ b) < 0 ? 0 - quotient : quotient;
}
INLINE uint32_t remainder_s32(int32_t a, int32_t b) {
    const uint32_t remainder = remainder_u32(magnitude(a), magnitude(b));
    return a < 0 && b ? 0 - remainder : remainder;
}
INLINE uint64_t divide_u64(uint64_t a, uint64_t b) { return b ? a / b : UINT64_MAX; }
INLINE uint64_t remainder_u64(uint64_t a, uint64_t b) { return b ? a % b : UINT64_MAX; }
INLINE int64_t divide_s64(int64_t a, int64_t b) {
    return b == 0 ? -1 : b == -1 ? (int64_t)(0 - U64(a)) : a / b;
}
INLINE int64_t remainder_s64(int64_t a, int64_t b) { return b == 0 ? -1 : b == -1 ? 0 : a % b; }

/* ---- Bits ---- */

INLINE uint32_t count_u32(uint32_t x) {
    x -= x >> 1 & 0x55555555;
    x = (x & 0x33333333) + (x >> 2 & 0x33333333);
    return ((x + (x >> 4)) & 0x0f0f0f0f) * 0x01010101 >> 24;
}
INLINE uint32_t leading_zeros_u32(uint32_t x) { return x ? U32(__builtin_clz(x)) : 32; }
INLINE uint32_t leading_zeros_u64(uint64_t x) { return x ? U32(__builtin_clzll(x)) : 64; }
INLINE uint32_t reverse_u32(uint32_t x) {
    x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
    x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
    x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
    x = (x >> 8 & 0x00ff00ff) | (x & 0x00ff00ff) << 8;
    return x >> 16 | x << 16;
}
INLINE uint32_t find_top(uint32_t leading_zeros, uint32_t msb, uint32_t wants_shift) {
    const uint32_t found = wants_shift ? leading_zeros : msb - leading_zeros;
    return leading_zeros > msb ? UINT32_MAX : found;
}

INLINE uint64_t low_bits(uint32_t count) {
    return count > 63 ? UINT64_MAX : (UINT64_C(1) << (count & 63)) - 1;
}
INLINE uint64_t extract_u64(uint64_t x, uint32_t position, uint32_t length) {
    const uint32_t shift = position & 255;
    return (shift > 63 ? 0 : x >> (shift & 63)) & low_bits(length & 255);
}
/* Bits above the top of x and above the field are copies of the sign. */
INLINE int64_t extract_s64(int64_t x, uint32_t position, uint32_t length, uint32_t msb) {
    const uint32_t bits = length & 255;
    const uint32_t spare = bits > 63 ? 0 : (64 - bits) & 63;
    const int64_t field = x >> min_u32(position & 255, msb);
    return bits == 0 ? 0 : (int64_t)(U64(field) << spare) >> spare;
}
INLINE uint64_t insert_bits(uint64_t field, uint64_t base, uint32_t position, uint32_t length) {
    const uint32_t shift = position & 255;
    const uint64_t mask = shift > 63 ? 0 : low_bits(length & 255) << (shift & 63);
    return (base & ~mask) | (field << (shift & 63) & mask);
}

INLINE uint32_t make_mask(uint32_t position, uint32_t width, uint32_t wraps) {
    const uint32_t start = position & 31, count = width & 31;
    const uint64_t bits = low_bits(!wraps && width > 31 ? 32 : count) << start;
    return !wraps && position > 31 ? 0 : U32(bits);
}
INLINE uint32_t extend_u32(uint32_t x, uint32_t width, uint32_t wraps) {
    return x & U32(low_bits(!wraps && width > 31 ? 32 : width & 31));
}
INLINE uint32_t extend_s32(uint32_t x, uint32_t width, uint32_t wraps) {
    const uint32_t bits = !wraps && width > 31 ? 32 : width & 31;
    const uint32_t spare = (32 - bits) & 31;
    return bits == 0 ? 0 : U32((int32_t)(x << spare) >> spare);
}

INLINE uint32_t find_nth_set(uint32_t word, uint32_t base, int32_t offset) {
    if (base > 31) return UINT32_MAX;
    if (offset == 0) return word >> base & 1 ? base : UINT32_MAX;
    uint32_t left = magnitude(offset);
    for (uint32_t at = base; at < 32; at += offset > 0 ? 1 : UINT32_MAX)
        if (word >> at & 1 && --left == 0) return at;
    return UINT32_MAX;
}

INLINE uint32_t permute_index(uint64_t bytes, uint32_t selector) {
    uint32_t result = 0;
    for (int i = 0; i < 4; ++i) {
        const uint32_t choice = selector >> 4 * i;
        const uint32_t byte = U32(bytes >> 8 * (choice & 7)) & 0xff;
        const uint32_t sign = byte >> 7 ? 0xff : 0;
        result |= (choice & 8 ? sign : byte) << 8 * i;
    }
    return result;
}
/* PTX ISA, prmt: the selector that each mode corresponds to, indexed by the low two bits of c. */
INLINE uint32_t permute_mode(uint64_t bytes, uint32_t choice, uint32_t mode) {
    static const uint16_t selectors[6][4] = {
        {0x3210, 0x4321, 0x5432, 0x6543}, /* f4e */
        {0x5670, 0x6701, 0x7012, 0x0123}, /* b4e */
        {0x0000, 0x1111, 0x2222, 0x3333}, /* rc8 */
        {0x3210, 0x3211, 0x3222, 0x3333}, /* ecl */
        {0x0000, 0x1110, 0x2210, 0x3210}, /* ecr */
        {0x1010, 0x3232, 0x1010, 0x3232}, /* rc16 */
    };
    return permute_index(bytes, selectors[mode][choice]);
}

/* `sub` bit 0: subnormal c counts as zero (.ftz). NaN counts as negative here; both zeros do
 * not. */
INLINE bool is_not_negative_f32(uint32_t c, uint32_t sub) {
    const uint32_t abs = c & 0x7fffffff;
    const bool is_zero = abs < (sub & 1 ? 0x00800000u : 1u);
    return is_zero || (!(c >> 31) && abs <= 0x7f800000);
}

#include "isa/exec/exec_int.def"

/* bfi: operands d, field a, base b, position, length. */
#define INSERT(name, type)                                                                         \
    EXEC(name) {                                                                                   \
        MAP_BEGIN(type)                                                                            \
        MAP_SOURCE(a, type, 1)                                                                     \
        MAP_SOURCE(b, type, 2)                                                                     \
        MAP_SOURCE(position, u32, 3)                                                               \
        MAP_SOURCE(length, u32, 4)                                                                 \
        FOR_LANES result[lane] = STORE_##type(                                                     \
            insert_bits(a_row[lane], b_row[lane], position_row[lane], length_row[lane]));          \
        WRITE_##type(warp, inst, 0, result, mask);                                                 \
    }
INSERT(BFI_32, u32)
INSERT(BFI_64, u64)

#define SELECT(name, type)                                                                         \
    EXEC(name) {                                                                                   \
        MAP_BEGIN(type)                                                                            \
        MAP_SOURCE(a, type, 1)                                                                     \
        MAP_SOURCE(b, type, 2)                                                                     \
        const uint32_t chosen = warp->preds[inst->operand[3]] ^ (uint32_t)inst->imm;               \
        FOR_LANES result[lane] = chosen & lane_bit[lane] ? a_row[lane] : b_row[lane];              \
        WRITE_##type(warp, inst, 0, result, mask);                                                 \
    }
SELECT(SELP_32, u32)
SELECT(SELP_64, u64)

/* ---- Carry chains ----
 * The carry is one bit per lane. A subtraction is a + ~b with a carry of 1. It leaves the carry of
 * that sum: 1 if nothing was borrowed. A following addition sees this value, and compilers rely on
 * it (128-bit quotients of nvcc). NVIDIA's assembler does the same: ptxas 13.0 compiles `sub.cc 0,
 * 1; addc r, 0, 0` to code for r = 0, and `add.cc 1, 1; subc r, 0, 0` to code for r = -1. The ISA
 * describes a borrow, which is equivalent among subtractions. The upper or lower half of a product
 * is computed first and then added to c like any other number. */

enum { CARRY_READ = 1, CARRY_WRITE = 2 };

INLINE uint32_t carry_in(const IsaWarp *warp, const IsaInst *inst) {
    return inst->sub & CARRY_READ ? warp->carry : 0;
}
INLINE void carry_out(IsaWarp *warp, const IsaInst *inst, const int32_t *truth, uint32_t mask) {
    const uint32_t word = pack_lanes(truth);
    if (inst->sub & CARRY_WRITE) warp->carry = (warp->carry & ~mask) | (word & mask);
}

/* a + b plus the carry; `x` is the first addend, computed from the sources. */
#define CARRY_ADD(name, type, count, x_expression, y_expression)                                   \
    EXEC(name) {                                                                                   \
        MAP_BEGIN(type)                                                                            \
        alignas(64) int32_t truth[ISA_LANES];                                                      \
        const uint32_t carry = carry_in(warp, inst);                                               \
        MAP_SOURCE(a, type, 1)                                                                     \
        MAP_SOURCE(b, type, 2)                                                                     \
        MAP_SOURCE(c, type, count)                                                                 \
        FOR_LANES {                                                                                \
            MAP_LANE(a, type)                                                                      \
            MAP_LANE(b, type)                                                                      \
            MAP_LANE(c, type)                                                                      \
            (void)b;                                                                               \
            const VALUE_##type x = x_expression, y = y_expression, sum = x + y;                    \
            const VALUE_##type total = sum + (carry & lane_bit[lane] ? 1 : 0);                     \
            (void)c;                                                                               \
            result[lane] = total;                                                                  \
            truth[lane] = -(sum < x || total < sum);                                               \
        }                                                                                          \
        WRITE_##type(warp, inst, 0, result, mask);                                                 \
        carry_out(warp, inst, truth, mask);                                                        \
    }
CARRY_ADD(ADD_CARRY_32, u32, 2, a, b)
CARRY_ADD(ADD_CARRY_64, u64, 2, a, b)
CARRY_ADD(MAD_LO_CARRY_32, u32, 3, a *b, c)
CARRY_ADD(MAD_LO_CARRY_64, u64, 3, a *b, c)
CARRY_ADD(MAD_HI_CARRY_U32, u32, 3, high_u32(a, b), c)
CARRY_ADD(MAD_HI_CARRY_U64, u64, 3, high_u64(a, b), c)
CARRY_ADD(MAD_HI_CARRY_S32, u32, 3, U32(high_s32((int32_t)a, (int32_t)b)), c)
CARRY_ADD(MAD_HI_CARRY_S64, u64, 3, U64(high_s64((int64_t)a, (int64_t)b)), c)

#define CARRY_SUB(name, type)                                                                      \
    EXEC(name) {                                                                                   \
        MAP_BEGIN(type)                                                                            \
        alignas(64) int32_t truth[ISA_LANES];                                                      \
        const uint32_t borrows = inst->sub & CARRY_READ ? ~warp->carry : 0;                        \
        MAP_SOURCE(a, type, 1)                                                                     \
        MAP_SOURCE(b, type, 2)                                                                     \
        FOR_LANES {                                                                                \
            MAP_LANE(a, type)                                                                      \
            MAP_LANE(b, type)                                                                      \
            const VALUE_##type difference = a - b, borrow = borrows & lane_bit[lane] ? 1 : 0;      \
            result[lane] = difference - borrow;                                                    \
            truth[lane] = -(a >= b && difference >= borrow);                                       \
        }                                                                                          \
        WRITE_##type(warp, inst, 0, result, mask);                                                 \
        carry_out(warp, inst, truth, mask);                                                        \
    }
CARRY_SUB(SUB_CARRY_32, u32)
CARRY_SUB(SUB_CARRY_64, u64)

/* ---- Vectors in mov ----
 * Elements are 64 / sub, 32 / sub or 16 / sub bits wide; a 32-bit element is a whole row. */

#define PACK(name, type, width)                                                                    \
    EXEC(name) {                                                                                   \
        MAP_BEGIN(type)                                                                            \
        const uint32_t bits = width / sub;                                                         \
        memset(result, 0, sizeof result);                                                          \
        for (uint32_t i = 0; i < sub; ++i) {                                                       \
            const RowWord *element = operand_row(warp, inst, (int)i + 1);                          \
            FOR_LANES result[lane] |= (VALUE_##type)element[lane] << bits * i;                     \
        }                                                                                          \
        WRITE_##type(warp, inst, 0, result, mask);                                                 \
    }
PACK(PACK_16, u32, 16)
PACK(PACK_32, u32, 32)
PACK(PACK_64, u64, 64)

/* Reads the whole value before it writes the first element: they may share a row. */
#define UNPACK(name, type, width)                                                                  \
    EXEC(name) {                                                                                   \
        MAP_BEGIN(u32)                                                                             \
        const uint32_t bits = width / sub;                                                         \
        const uint32_t element_mask = bits == 32 ? UINT32_MAX : (1u << (bits & 31)) - 1;           \
        alignas(64) VALUE_##type whole[ISA_LANES];                                                 \
        memcpy(whole, operand_row(warp, inst, (int)sub), sizeof whole);                            \
        for (uint32_t i = 0; i < sub; ++i) {                                                       \
            FOR_LANES result[lane] = (uint32_t)(whole[lane] >> bits * i) & element_mask;           \
            write_row32(warp, inst, (int)i, result, mask);                                         \
        }                                                                                          \
    }
UNPACK(UNPACK_16, u32, 16)
UNPACK(UNPACK_32, u32, 32)
UNPACK(UNPACK_64, u64, 64)
