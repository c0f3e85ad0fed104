/* Common definitions of the execution files. A handler computes all 32 lanes of its result into a
 * local array, in a loop that the compiler vectorises. Then it writes the destination rows, blended
 * by the mask. All sources are read before anything is written, so sources and destination may
 * share rows, even if their widths differ.
 *
 * The execution files are compiled once per variant (meson.build): ISA_VARIANT is part of the name
 * of everything they define. All variants give the same bits. */
#ifndef TYTO_ISA_EXEC_EXEC_H
#define TYTO_ISA_EXEC_EXEC_H

#ifdef __AVX2__
#include <immintrin.h>
#endif
#include <stdalign.h>
#include <string.h>

#include "isa/exec/half.h"
#include "isa/exec/handlers.h"
#include "isa/isa.h"

#define ISA_PASTE2(a, b, c) a##_##b##_##c
#define ISA_PASTE(a, b, c)  ISA_PASTE2(a, b, c)
/* Name of a handler's function in the variant being compiled. */
#define ISA_EXEC(name) ISA_PASTE(isa_exec, name, ISA_VARIANT)
/* Head of a handler's definition. */
#define EXEC(name)                                                                                 \
    void ISA_EXEC(name)(ISA_UNUSED IsaContext * context, ISA_UNUSED IsaWarp * warp,                \
                        ISA_UNUSED const IsaInst *inst, ISA_UNUSED uint32_t mask)
#define ISA_UNUSED __attribute__((unused))

/* A prototype for every handler. */
#define HANDLER(name) IsaExec ISA_EXEC(name);
#include "isa/exec/handlers.def"

/* ---- Lane types: how an element of a row is accessed, stored and computed with ---- */

typedef uint32_t RowWord __attribute__((may_alias));
typedef uint64_t RowLong __attribute__((may_alias));
typedef float RowFloat __attribute__((may_alias));
typedef double RowDouble __attribute__((may_alias));

#define ROW_u16  RowWord
#define ROW_s16  RowWord
#define ROW_f16  RowWord
#define ROW_bf16 RowWord
#define ROW_u32  RowWord
#define ROW_s32  RowWord
#define ROW_u64  RowLong
#define ROW_s64  RowLong
#define ROW_f32  RowFloat
#define ROW_f64  RowDouble

#define CELL_u16 uint32_t
#define CELL_s16 uint32_t
#define CELL_u32 uint32_t
#define CELL_s32 uint32_t
#define CELL_u64 uint64_t
#define CELL_s64 uint64_t
#define CELL_f32 float
#define CELL_f64 double

#define VALUE_u16  uint32_t
#define VALUE_s16  int32_t
#define VALUE_f16  double
#define VALUE_bf16 double
#define VALUE_u32  uint32_t
#define VALUE_s32  int32_t
#define VALUE_u64  uint64_t
#define VALUE_s64  int64_t
#define VALUE_f32  float
#define VALUE_f64  double

#define LOAD_u16(x)  ((uint32_t)(uint16_t)(x))
#define LOAD_s16(x)  ((int32_t)(int16_t)(x))
#define LOAD_f16(x)  f64_of_f16(x)
#define LOAD_bf16(x) f64_of_bf16(x)
#define LOAD_u32(x)  (x)
#define LOAD_s32(x)  ((int32_t)(x))
#define LOAD_u64(x)  (x)
#define LOAD_s64(x)  ((int64_t)(x))
#define LOAD_f32(x)  (x)
#define LOAD_f64(x)  (x)

/* A NaN result is always the canonical NaN. Otherwise payload and sign would depend on the order of
 * operands on the host. */
#define STORE_u16(x) ((uint32_t)(uint16_t)(x))
#define STORE_s16(x) ((uint32_t)(uint16_t)(x))
#define STORE_u32(x) ((uint32_t)(x))
#define STORE_s32(x) ((uint32_t)(x))
#define STORE_u64(x) ((uint64_t)(x))
#define STORE_s64(x) ((uint64_t)(x))
#define STORE_f32(x) canonical_f32(x)
#define STORE_f64(x) canonical_f64(x)

/* 0x7fffffff: what NVIDIA GPUs return (CUDA C Programming Guide, floating-point standard). */
#define NAN_F32 __builtin_nanf("0x3fffff")
/* 0xfff8000000000000: the PTX ISA leaves the payload open; GPUs return this value. */
#define NAN_F64 (-__builtin_nan(""))

INLINE float canonical_f32(float x) { return x != x ? NAN_F32 : x; }
INLINE double canonical_f64(double x) { return x != x ? NAN_F64 : x; }

/* ---- Rows ---- */

typedef uint32_t Chunk __attribute__((vector_size(64), may_alias));

/* The row of operand `index`; rows are aligned to 64 bytes. */
INLINE void *operand_row(const IsaWarp *warp, const IsaInst *inst, int index) {
    const IsaOperand operand = inst->operand[index];
    return __builtin_assume_aligned(warp->base[operand & 1] + (operand & ~1), 64);
}

#define FOR_LANES for (int lane = 0; lane < ISA_LANES; ++lane)

/* The bit of each lane in a mask. */
static const uint32_t lane_bit[ISA_LANES] = {
    1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,
    1u << 8,  1u << 9,  1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15,
    1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21, 1u << 22, 1u << 23,
    1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31};

#ifdef __AVX512F__
INLINE void blend_row32(Chunk *row, const Chunk *result, uint32_t mask) {
    for (int i = 0; i < 2; ++i)
        row[i] = (Chunk)_mm512_mask_mov_epi32((__m512i)row[i], (__mmask16)(mask >> 16 * i),
                                              (__m512i)result[i]);
}
INLINE void blend_row64(Chunk *row, const Chunk *result, uint32_t mask) {
    for (int i = 0; i < 4; ++i)
        row[i] = (Chunk)_mm512_mask_mov_epi64((__m512i)row[i], (__mmask8)(mask >> 8 * i),
                                              (__m512i)result[i]);
}
#else
INLINE void blend_row32(void *row, const void *result, uint32_t mask) {
    RowWord *to = row;
    const RowWord *from = result;
    FOR_LANES to[lane] = mask & lane_bit[lane] ? from[lane] : to[lane];
}
INLINE void blend_row64(void *row, const void *result, uint32_t mask) {
    RowLong *to = row;
    const RowLong *from = result;
    FOR_LANES to[lane] = mask & lane_bit[lane] ? from[lane] : to[lane];
}
#endif

/* Writes a result (64-byte aligned, 32 elements) to the row of operand `index`. */
INLINE void write_row32(IsaWarp *warp, const IsaInst *inst, int index, const void *result,
                        uint32_t mask) {
    Chunk *row = operand_row(warp, inst, index);
    const Chunk *from = result;
    if (__builtin_expect(mask == UINT32_MAX, 1)) {
        row[0] = from[0];
        row[1] = from[1];
    } else {
        blend_row32(row, from, mask);
    }
}
INLINE void write_row64(IsaWarp *warp, const IsaInst *inst, int index, const void *result,
                        uint32_t mask) {
    Chunk *row = operand_row(warp, inst, index);
    const Chunk *from = result;
    if (__builtin_expect(mask == UINT32_MAX, 1)) {
        for (int i = 0; i < 4; ++i)
            row[i] = from[i];
    } else {
        blend_row64(row, from, mask);
    }
}
#define WRITE_u16 write_row32
#define WRITE_s16 write_row32
#define WRITE_u32 write_row32
#define WRITE_s32 write_row32
#define WRITE_f32 write_row32
#define WRITE_u64 write_row64
#define WRITE_s64 write_row64
#define WRITE_f64 write_row64

/* ---- Predicates ---- */

/* One bit per lane from 32 words that are all ones or all zeros. */
INLINE uint32_t pack_lanes(const int32_t *truth) {
#if defined __AVX512DQ__
    const __m512i *chunk = (const __m512i *)(const void *)truth;
    return _mm512_movepi32_mask(chunk[0]) | (uint32_t)_mm512_movepi32_mask(chunk[1]) << 16;
#elif defined __AVX2__
    const __m256 *chunk = (const __m256 *)(const void *)truth;
    uint32_t word = 0;
    for (int i = 0; i < 4; ++i)
        word |= (uint32_t)_mm256_movemask_ps(chunk[i]) << 8 * i;
    return word;
#else
    uint32_t word = 0;
    FOR_LANES word |= (uint32_t)truth[lane] & lane_bit[lane];
    return word;
#endif
}

/* One bit per lane: the highest of each word. */
INLINE uint32_t pack_highest(const uint64_t *word) {
    uint32_t bits = 0;
#if defined __AVX512DQ__
    const __m512i *chunk = (const __m512i *)(const void *)word;
    for (int i = 0; i < 4; ++i)
        bits |= (uint32_t)_mm512_movepi64_mask(chunk[i]) << 8 * i;
#elif defined __AVX2__
    const __m256d *chunk = (const __m256d *)(const void *)word;
    for (int i = 0; i < 8; ++i)
        bits |= (uint32_t)_mm256_movemask_pd(chunk[i]) << 4 * i;
#else
    FOR_LANES bits |= (uint32_t)(word[lane] >> 63) << lane;
#endif
    return bits;
}

INLINE void write_pred(IsaWarp *warp, IsaOperand word, uint32_t value, uint32_t mask) {
    uint32_t *pred = &warp->preds[word];
    *pred = (*pred & ~mask) | (value & mask);
}

/* Looks up bit a*4 + b*2 + c of the table, for the bits of all lanes in parallel. */
INLINE uint32_t lookup3(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
    uint32_t by_c[4], by_b[2];
    for (int i = 0; i < 4; ++i)
        by_c[i] = (c & (0 - (table >> (2 * i + 1) & 1))) | (~c & (0 - (table >> 2 * i & 1)));
    for (int i = 0; i < 2; ++i)
        by_b[i] = (b & by_c[2 * i + 1]) | (~b & by_c[2 * i]);
    return (a & by_b[1]) | (~a & by_b[0]);
}

#endif
