/* Loads and stores of one 32-bit word by all lanes, in shared or global memory: what most accesses
 * of most kernels are. Addresses are checked at once, and words that lie side by side, or are one
 * and the same for half a warp, move at once. What is not all right, or to be checked, goes the
 * general way (exec_memory.c).
 *
 * Sources: PTX ISA, sections on ld and st. */
#include "isa/exec/exec_access.h"

#include "isa/launch.h"

enum { HALF = ISA_LANES / 2, WORD = 4, HALF_BYTES = HALF * WORD };

/* Vectors as wide as the host has them; of 64-bit addresses half as many lanes. */
#ifdef __AVX512F__
enum { VECTOR_BYTES = 64 };
#else
enum { VECTOR_BYTES = 32 };
#endif
enum { WORDS = VECTOR_BYTES / 4, LONGS = VECTOR_BYTES / 8 };
typedef uint32_t Words __attribute__((vector_size(VECTOR_BYTES), may_alias));
typedef uint64_t Longs __attribute__((vector_size(VECTOR_BYTES), may_alias));
typedef uint32_t Narrow __attribute__((vector_size(VECTOR_BYTES / 2), may_alias));

alignas(64) static const uint32_t word_steps[16] = {0,  4,  8,  12, 16, 20, 24, 28,
                                                    32, 36, 40, 44, 48, 52, 56, 60};
alignas(64) static const uint64_t long_steps[8] = {0, 4, 8, 12, 16, 20, 24, 28};

/* ---- What addresses have in common ---- */

/* By its place: vectors as wide as that are no arguments everywhere. */
INLINE bool is_zero(const Longs *x) {
#if defined __AVX512F__
    return !_mm512_test_epi64_mask((__m512i)*x, (__m512i)*x);
#elif defined __AVX2__
    return _mm256_testz_si256((__m256i)*x, (__m256i)*x);
#else
    uint64_t any = 0;
    for (int i = 0; i < LONGS; ++i)
        any |= (*x)[i];
    return !any;
#endif
}

/* Whether all lanes' words begin at most `limit` bytes from `start` on, and are aligned. */
INLINE bool are_good_32(const uint32_t *address, uint32_t limit) {
    const Words *at = (const Words *)(const void *)address, most = (Words){0} + limit;
    Words bad = {0};
    for (int i = 0; i < ISA_LANES / WORDS; ++i)
        bad |= (Words)(at[i] > most) | (at[i] & (WORD - 1));
    return is_zero((const Longs *)&bad);
}
INLINE bool are_good_64(const uint64_t *address, uint64_t start, uint64_t limit) {
    const Longs *at = (const Longs *)(const void *)address, most = (Longs){0} + limit;
    Longs bad = {0};
    for (int i = 0; i < ISA_LANES / LONGS; ++i)
        bad |= (Longs)(at[i] - start > most) | (at[i] & (WORD - 1));
    return is_zero(&bad);
}

/* Whether the words of half a warp follow one another, or are all the first one. */
INLINE bool is_run_32(const uint32_t *address) {
    const Words *at = (const Words *)(const void *)address;
    const Words steps = *(const Words *)(const void *)word_steps + address[0];
    Words differs = {0};
    for (int i = 0; i < HALF / WORDS; ++i)
        differs |= at[i] ^ (steps + (uint32_t)(i * WORDS * WORD));
    return is_zero((const Longs *)&differs);
}
INLINE bool is_one_32(const uint32_t *address) {
    const Words *at = (const Words *)(const void *)address, first = (Words){0} + address[0];
    Words differs = {0};
    for (int i = 0; i < HALF / WORDS; ++i)
        differs |= at[i] ^ first;
    return is_zero((const Longs *)&differs);
}
INLINE bool is_run_64(const uint64_t *address) {
    const Longs *at = (const Longs *)(const void *)address;
    const Longs steps = *(const Longs *)(const void *)long_steps + address[0];
    Longs differs = {0};
    for (int i = 0; i < HALF / LONGS; ++i)
        differs |= at[i] ^ (steps + (uint64_t)(i * LONGS * WORD));
    return is_zero(&differs);
}
INLINE bool is_one_64(const uint64_t *address) {
    const Longs *at = (const Longs *)(const void *)address, first = (Longs){0} + address[0];
    Longs differs = {0};
    for (int i = 0; i < HALF / LONGS; ++i)
        differs |= at[i] ^ first;
    return is_zero(&differs);
}

/* *to = low, then high: one store, so that a load of all of it need not wait for two to leave for
 * the host's cache. */
INLINE void put_joined(Words *to, const Narrow *low, const Narrow *high) {
#if defined __AVX512F__
    *to = (Words)_mm512_inserti64x4(_mm512_castsi256_si512((__m256i)*low), (__m256i)*high, 1);
#elif defined __AVX2__
    *to = (Words)_mm256_inserti128_si256(_mm256_castsi128_si256((__m128i)*low), (__m128i)*high, 1);
#else
    memcpy(to, low, sizeof *low);
    memcpy((uint8_t *)to + sizeof *low, high, sizeof *high);
#endif
}

/* address[lane] = row[lane] + offset; whether all are aligned, and at most `limit`. */
INLINE bool narrow_good(const void *row, uint64_t offset, uint32_t limit, uint32_t *address) {
    const Longs *from = row, most = (Longs){0} + limit;
    Words *to = (Words *)(void *)address;
    Longs any = {0}, below = {0};
    for (int i = 0; i < ISA_LANES / LONGS; i += 2) {
        const Longs low = from[i] + offset, high = from[i + 1] + offset;
        const Narrow low_words = __builtin_convertvector(low, Narrow);
        const Narrow high_words = __builtin_convertvector(high, Narrow);
        put_joined(&to[i / 2], &low_words, &high_words);
        any |= low | high;
        below |= (most - low) | (most - high); /* bit 63: some are greater, unless `any` has it */
    }
    const Longs bad = (any | below) >> 63 | (any & (WORD - 1));
    return is_zero(&bad);
}

/* ---- Moving half a warp's words; `bias` is where address 0 would be. How they lie (ISA_HALF_...),
 * 0: otherwise, or nobody has looked ---- */

#define DEFINE_MOVES(bits, Address)                                                                \
    INLINE uint32_t load_half_##bits(const uint8_t *bias, const Address *address,                  \
                                     uint32_t *word) {                                             \
        if (is_run_##bits(address)) {                                                              \
            memcpy(word, isa_byte(bias, address[0]), HALF_BYTES);                                  \
            return ISA_HALF_RUN;                                                                   \
        }                                                                                          \
        if (is_one_##bits(address)) {                                                              \
            uint32_t one;                                                                          \
            memcpy(&one, isa_byte(bias, address[0]), WORD);                                        \
            for (int i = 0; i < HALF; ++i)                                                         \
                word[i] = one;                                                                     \
            return ISA_HALF_ONE;                                                                   \
        }                                                                                          \
        for (int i = 0; i < HALF; ++i)                                                             \
            memcpy(&word[i], isa_byte(bias, address[i]), WORD);                                    \
        return 0;                                                                                  \
    }                                                                                              \
    /* Rising lanes: of several writers the last one wins. */                                      \
    INLINE uint32_t store_half_##bits(uint8_t *bias, const Address *address,                       \
                                      const uint32_t *word) {                                      \
        if (is_run_##bits(address)) {                                                              \
            memcpy(isa_byte(bias, address[0]), word, HALF_BYTES);                                  \
            return ISA_HALF_RUN;                                                                   \
        }                                                                                          \
        for (int i = 0; i < HALF; ++i)                                                             \
            memcpy(isa_byte(bias, address[i]), &word[i], WORD);                                    \
        return 0;                                                                                  \
    }
DEFINE_MOVES(32, uint32_t)
DEFINE_MOVES(64, uint64_t)

/* ---- The instructions ---- */

/* Whether an access of these lanes can be done here, as far as that does not rest on addresses. */
INLINE bool is_plain(const IsaContext *context, uint32_t mask) {
    return mask == UINT32_MAX && !context->launch->check;
}

/* Fills `address` when the access can be done here. In shared memory the base may have 64 bits. */
INLINE bool open_shared(const IsaContext *context, const IsaWarp *warp, const IsaInst *inst,
                        uint32_t mask, bool is_wide, uint32_t *address) {
    const uint32_t bytes = context->launch->shared_bytes;
    if (!is_plain(context, mask) || bytes < WORD) return false;
    const uint32_t limit = bytes - WORD;
    if (is_wide)
        return narrow_good(operand_row(warp, inst, 1), (uint64_t)inst->imm, limit, address);
    const RowWord *row = operand_row(warp, inst, 1);
    FOR_LANES address[lane] = row[lane] + (uint32_t)inst->imm;
    return are_good_32(address, limit);
}

/* In the allocation that the instruction found before. */
INLINE bool open_global(const IsaContext *context, const IsaWarp *warp, const IsaInst *inst,
                        uint32_t mask, uint64_t *address) {
    const RowLong *row = operand_row(warp, inst, 1);
    const IsaHint *hint = &context->hints[warp->pc % ISA_HINTS];
    if (!is_plain(context, mask) || hint->pc != warp->pc || hint->end - hint->start < WORD)
        return false;
    FOR_LANES address[lane] = row[lane] + (uint64_t)inst->imm;
    return are_good_64(address, hint->start, hint->end - hint->start - WORD);
}

/* Leaves the addresses to the timing model. */
INLINE void tell_32(IsaContext *context, const uint32_t *address) {
    if (context->drops_addresses) return;
    FOR_LANES context->did.address[lane] = address[lane];
}
INLINE void tell_64(IsaContext *context, const uint64_t *address) {
    if (context->drops_addresses) return;
    memcpy(context->did.address, address, sizeof context->did.address);
}

/* And how they lie. */
INLINE void tell_pattern(IsaContext *context, uint32_t low, uint32_t high) {
    context->did.pattern = (uint8_t)(low | high << ISA_HALF_BITS);
}

INLINE void load_shared(IsaContext *context, IsaWarp *warp, const IsaInst *inst, uint32_t mask,
                        bool is_wide) {
    alignas(64) uint32_t address[ISA_LANES], word[ISA_LANES];
    if (!open_shared(context, warp, inst, mask, is_wide, address)) {
        ISA_EXEC(LD)(context, warp, inst, mask);
        return;
    }
    tell_32(context, address);
    uint32_t low = load_half_32(warp->cta->shared, address, word);
    uint32_t high = load_half_32(warp->cta->shared, address + HALF, word + HALF);
    tell_pattern(context, low, high);
    write_row32(warp, inst, 0, word, UINT32_MAX);
}

INLINE void store_shared(IsaContext *context, IsaWarp *warp, const IsaInst *inst, uint32_t mask,
                         bool is_wide) {
    alignas(64) uint32_t address[ISA_LANES];
    if (!open_shared(context, warp, inst, mask, is_wide, address)) {
        ISA_EXEC(ST)(context, warp, inst, mask);
        return;
    }
    tell_32(context, address);
    const RowWord *word = operand_row(warp, inst, 0);
    uint32_t low = store_half_32(warp->cta->shared, address, word);
    uint32_t high = store_half_32(warp->cta->shared, address + HALF, word + HALF);
    tell_pattern(context, low, high);
}

EXEC(LD_WORD_SHARED) { load_shared(context, warp, inst, mask, false); }
EXEC(LD_WORD_SHARED_64) { load_shared(context, warp, inst, mask, true); }
EXEC(ST_WORD_SHARED) { store_shared(context, warp, inst, mask, false); }
EXEC(ST_WORD_SHARED_64) { store_shared(context, warp, inst, mask, true); }

EXEC(LD_WORD_GLOBAL) {
    alignas(64) uint64_t address[ISA_LANES];
    alignas(64) uint32_t word[ISA_LANES];
    if (!open_global(context, warp, inst, mask, address)) {
        ISA_EXEC(LD)(context, warp, inst, mask);
        return;
    }
    tell_64(context, address);
    const uint8_t *bias = (const uint8_t *)mem_host_bias(context->memory);
    uint32_t low = load_half_64(bias, address, word);
    uint32_t high = load_half_64(bias, address + HALF, word + HALF);
    tell_pattern(context, low, high);
    write_row32(warp, inst, 0, word, UINT32_MAX);
}

EXEC(ST_WORD_GLOBAL) {
    alignas(64) uint64_t address[ISA_LANES];
    if (!open_global(context, warp, inst, mask, address)) {
        ISA_EXEC(ST)(context, warp, inst, mask);
        return;
    }
    tell_64(context, address);
    const RowWord *word = operand_row(warp, inst, 0);
    uint8_t *bias = (uint8_t *)mem_host_bias(context->memory);
    uint32_t low = store_half_64(bias, address, word);
    uint32_t high = store_half_64(bias, address + HALF, word + HALF);
    tell_pattern(context, low, high);
}
