/* Votes, shuffles, matches and reductions over a warp. Semantics: PTX ISA, "Parallel
 * Synchronization and Communication Instructions", "shfl".
 *
 * Lanes that a member mask names but that do not execute the instruction with the others are
 * ignored. Independent threads wait for these lanes before the instruction (paths.c); the stack
 * model cannot wait. Lanes with different masks, such as tiles of a warp, execute one instruction
 * as separate groups. A shuffle from a lane that is not in the group gives 0. */
#include "isa/check/check.h"
#include "isa/exec/maps.h"

#include "base/bits.h"

/* The lanes of `mask` that have the same member mask as its lowest lane. */
INLINE uint32_t group_of(const IsaWarp *warp, const IsaInst *inst, int operand, uint32_t mask) {
    const RowWord *row = operand_row(warp, inst, operand);
    const uint32_t named = row[bits_lowest32(mask)];
    uint32_t group = 0;
    FOR_LANES group |= row[lane] == named ? lane_bit[lane] : 0;
    return group & mask;
}

/* The members of a group that execute the instruction. */
INLINE uint32_t members(const IsaWarp *warp, const IsaInst *inst, int operand, uint32_t group) {
    const RowWord *row = operand_row(warp, inst, operand);
    return row[bits_lowest32(group)] & group;
}

/* Defines a handler for one group (its `mask`), which is called for each group of a warp. */
#define EXEC_GROUPS(name, operand)                                                                 \
    INLINE void name##_group(IsaWarp *warp, const IsaInst *inst, uint32_t mask);                   \
    EXEC(name) {                                                                                   \
        if (__builtin_expect(context->launch->check != NULL, 0) &&                                 \
            !(inst->flags & ISA_NAMES_NO_MEMBERS))                                                 \
            isa_check_members(context, warp, operand_row(warp, inst, operand), mask, NULL, false); \
        for (uint32_t rest = mask, group; rest; rest &= ~group) {                                  \
            group = group_of(warp, inst, operand, rest);                                           \
            name##_group(warp, inst, group);                                                       \
        }                                                                                          \
    }                                                                                              \
    INLINE void name##_group(IsaWarp *warp, const IsaInst *inst, uint32_t mask)

INLINE void write_uniform(IsaWarp *warp, const IsaInst *inst, uint32_t value, uint32_t mask) {
    alignas(64) uint32_t result[ISA_LANES];
    FOR_LANES result[lane] = value;
    write_row32(warp, inst, 0, result, mask);
}

EXEC_GROUPS(VOTE_PRED, 2) {
    const uint32_t voters = members(warp, inst, 2, mask);
    const uint32_t votes = (warp->preds[inst->operand[1]] ^ (uint32_t)inst->imm) & voters;
    bool result = votes != 0;
    if (inst->sub == PTX_SUB_VOTE_ALL) result = votes == voters;
    if (inst->sub == PTX_SUB_VOTE_UNI) result = votes == voters || votes == 0;
    write_pred(warp, inst->operand[0], result ? UINT32_MAX : 0, mask);
}

EXEC_GROUPS(VOTE_BALLOT, 2) {
    const uint32_t votes = warp->preds[inst->operand[1]] ^ (uint32_t)inst->imm;
    write_uniform(warp, inst, votes & members(warp, inst, 2, mask), mask);
}

EXEC(ACTIVEMASK) { write_uniform(warp, inst, mask, mask); }

EXEC_GROUPS(ELECT, 2) {
    const uint32_t candidates = members(warp, inst, 2, mask);
    const uint32_t leader = candidates ? (uint32_t)bits_lowest32(candidates) : 0;
    write_pred(warp, inst->operand[1], candidates & (0 - candidates), mask);
    write_uniform(warp, inst, leader, mask);
}

/* to[lane] = row[from[lane]], 0 <= from < 32. */
INLINE void permute_row(uint32_t *to, const RowWord *row, const int32_t *from) {
#ifdef __AVX512F__
    const __m512i *half = (const __m512i *)(const void *)row;
    for (int i = 0; i < 2; ++i) {
        const __m512i index = ((const __m512i *)(const void *)from)[i];
        ((__m512i *)(void *)to)[i] = _mm512_permutex2var_epi32(half[0], index, half[1]);
    }
#else
    FOR_LANES to[lane] = row[from[lane]];
#endif
}

/* c holds the clamp in bits 0..4 and the mask of the segment in bits 8..12. */
INLINE void shuffle(IsaContext *context, IsaWarp *warp, const IsaInst *inst, uint32_t mask,
                    PtxSub mode) {
    const RowWord *b = operand_row(warp, inst, 3), *c = operand_row(warp, inst, 4);
    alignas(64) int32_t source[ISA_LANES], truth[ISA_LANES];
    alignas(64) uint32_t result[ISA_LANES];
    FOR_LANES {
        const int32_t by = (int32_t)(b[lane] & 31), segment = (int32_t)(c[lane] >> 8 & 31);
        const int32_t first = lane & segment;
        const int32_t bound = first | ((int32_t)(c[lane] & 31) & ~segment);
        const int32_t from = mode == PTX_SUB_SHFL_UP     ? lane - by
                             : mode == PTX_SUB_SHFL_DOWN ? lane + by
                             : mode == PTX_SUB_SHFL_BFLY ? lane ^ by
                                                         : first | (by & ~segment);
        const bool is_in = mode == PTX_SUB_SHFL_UP ? from >= bound : from <= bound;
        truth[lane] = -(int32_t)is_in;
        source[lane] = (is_in ? from : lane) & 31;
    }
    permute_row(result, operand_row(warp, inst, 2), source);
    /* With .sync (imm) a lane can only read from lanes of its own mask. */
    static const uint32_t every_lane[ISA_LANES] = {[0 ... ISA_LANES - 1] = UINT32_MAX};
    const uint32_t *row = inst->imm ? isa_row32(warp, (IsaOperand)inst->target) : every_lane;
    FOR_LANES {
        const bool is_there = (row[lane] & mask) >> source[lane] & 1;
        result[lane] = is_there || !truth[lane] ? result[lane] : 0;
    }
    if (__builtin_expect(context->launch->check != NULL, 0) && inst->imm) {
        FOR_LANES if (!truth[lane]) source[lane] = -1;
        isa_check_members(context, warp, row, mask, source, false);
    }
    write_row32(warp, inst, 0, result, mask);
    write_pred(warp, inst->operand[1], pack_lanes(truth), mask);
}
EXEC(SHFL_UP) { shuffle(context, warp, inst, mask, PTX_SUB_SHFL_UP); }
EXEC(SHFL_DOWN) { shuffle(context, warp, inst, mask, PTX_SUB_SHFL_DOWN); }
EXEC(SHFL_BFLY) { shuffle(context, warp, inst, mask, PTX_SUB_SHFL_BFLY); }
EXEC(SHFL_IDX) { shuffle(context, warp, inst, mask, PTX_SUB_SHFL_IDX); }

/* For each member, the lanes with an equal value. */
#define MATCH_ANY(name, type)                                                                      \
    EXEC_GROUPS(name, 2) {                                                                         \
        const uint32_t all = members(warp, inst, 2, mask);                                         \
        MAP_SOURCE(a, type, 1)                                                                     \
        alignas(64) uint32_t result[ISA_LANES] = {0};                                              \
        for (uint32_t rest = all; rest;) {                                                         \
            const VALUE_##type value = a_row[bits_lowest32(rest)];                                 \
            uint32_t equal = 0;                                                                    \
            FOR_LANES equal |= a_row[lane] == value ? lane_bit[lane] : 0;                          \
            equal &= all;                                                                          \
            FOR_LANES result[lane] = equal & lane_bit[lane] ? equal : result[lane];                \
            rest &= ~equal;                                                                        \
        }                                                                                          \
        write_row32(warp, inst, 0, result, mask);                                                  \
    }
MATCH_ANY(MATCH_ANY_32, u32)
MATCH_ANY(MATCH_ANY_64, u64)

#define MATCH_ALL(name, type)                                                                      \
    EXEC_GROUPS(name, 3) {                                                                         \
        const uint32_t all = members(warp, inst, 3, mask);                                         \
        MAP_SOURCE(a, type, 2)                                                                     \
        bool is_equal = true;                                                                      \
        for (uint32_t rest = all; rest; rest &= rest - 1)                                          \
            is_equal = is_equal && a_row[bits_lowest32(rest)] == a_row[bits_lowest32(all)];        \
        write_uniform(warp, inst, is_equal ? all : 0, mask);                                       \
        write_pred(warp, inst->operand[1], is_equal ? UINT32_MAX : 0, mask);                       \
    }
MATCH_ALL(MATCH_ALL_32, u32)
MATCH_ALL(MATCH_ALL_64, u64)

INLINE uint32_t reduce(uint32_t x, uint32_t y, PtxSub op, bool is_signed) {
    const bool is_less = is_signed ? (int32_t)x < (int32_t)y : x < y;
    switch (op) {
    case PTX_SUB_ADD: return x + y;
    case PTX_SUB_MIN: return is_less ? x : y;
    case PTX_SUB_MAX: return is_less ? y : x;
    case PTX_SUB_AND: return x & y;
    case PTX_SUB_OR: return x | y;
    default: return x ^ y;
    }
}

INLINE void reduce_members(IsaWarp *warp, const IsaInst *inst, uint32_t mask, bool is_signed) {
    const RowWord *a = operand_row(warp, inst, 1);
    uint32_t rest = members(warp, inst, 2, mask);
    uint32_t value = rest ? a[bits_lowest32(rest)] : 0;
    for (rest &= rest - 1; rest; rest &= rest - 1)
        value = reduce(value, a[bits_lowest32(rest)], (PtxSub)inst->sub, is_signed);
    write_uniform(warp, inst, value, mask);
}
EXEC_GROUPS(REDUX_U32, 2) { reduce_members(warp, inst, mask, false); }
EXEC_GROUPS(REDUX_S32, 2) { reduce_members(warp, inst, mask, true); }
