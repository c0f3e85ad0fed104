/* Loads and stores of 32-bit words by all lanes, in shared or global memory. Most accesses of most
 * kernels are of this kind. All addresses are checked together. Single words move together if they
 * are adjacent, or identical for half a warp. For two or four words, the whole vector of a lane
 * moves together. Accesses that fail a check, or that a check must observe, use the general handler
 * (exec_memory.c).
 *
 * Sources: PTX ISA, sections on ld and st. */
#include "isa/exec/exec_access.h"

#include "isa/launch.h"

enum { HALF = ISA_LANES / 2, WORD = 4, HALF_BYTES = HALF * WORD };

/* The widest vectors of the host; with 64-bit addresses they have half as many lanes. */
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

/* ---- Tests of addresses ---- */

/* Takes a pointer, because not every target can pass vectors of this width as arguments. */
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

/* Whether all lanes' accesses of `bytes` bytes are aligned and begin at most `limit` bytes after
 * `start` (0 for 32-bit addresses). */
INLINE bool are_good_32(const uint32_t *address, uint32_t limit, uint32_t bytes) {
    const Words *at = (const Words *)(const void *)address, most = (Words){0} + limit;
    Words bad = {0};
    for (int i = 0; i < ISA_LANES / WORDS; ++i)
        bad |= (Words)(at[i] > most) | (at[i] & (bytes - 1));
    return is_zero((const Longs *)&bad);
}
INLINE bool are_good_64(const uint64_t *address, uint64_t start, uint64_t limit, uint32_t bytes) {
    const Longs *at = (const Longs *)(const void *)address, most = (Longs){0} + limit;
    Longs bad = {0};
    for (int i = 0; i < ISA_LANES / LONGS; ++i)
        bad |= (Longs)(at[i] - start > most) | (at[i] & (uint64_t)(bytes - 1));
    return is_zero(&bad);
}

/* Whether the words of half a warp are consecutive (run), or all the same word (one). */
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

/* *to = low, then high. Uses one store, because a load of the whole vector would have to wait until
 * two stores have reached the host's cache. */
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

/* address[lane] = row[lane] + offset. Returns whether all are aligned and at most `limit`. */
INLINE bool narrow_good(const void *row, uint64_t offset, uint32_t limit, uint32_t bytes,
                        uint32_t *address) {
    const Longs *from = row, most = (Longs){0} + limit;
    Words *to = (Words *)(void *)address;
    Longs any = {0}, below = {0};
    for (int i = 0; i < ISA_LANES / LONGS; i += 2) {
        const Longs low = from[i] + offset, high = from[i + 1] + offset;
        const Narrow low_words = __builtin_convertvector(low, Narrow);
        const Narrow high_words = __builtin_convertvector(high, Narrow);
        put_joined(&to[i / 2], &low_words, &high_words);
        any |= low | high;
        below |= (most - low) | (most - high); /* bit 63: a value is greater, unless `any` has it */
    }
    const Longs bad = (any | below) >> 63 | (any & (uint64_t)(bytes - 1));
    return is_zero(&bad);
}

/* ---- Moving the words of half a warp ----
 * `bias` is the host address of device address 0. Returns the layout of the words (ISA_HALF_...);
 * 0: another or unknown. */

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
    /* In order of lanes: if several write a word, the last one wins. */                           \
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

/* ---- Moving vectors of two or four words: one row of 32 lanes for each word ---- */

typedef uint32_t Quad __attribute__((vector_size(16), may_alias));

/* Stores the vectors of four lanes, starting with `lane`, in the rows. */
INLINE void put_pairs(const uint8_t *const at[4], uint32_t *const row[], int lane) {
    Quad low, high;
    memcpy(&low, at[0], 8), memcpy((char *)&low + 8, at[1], 8);
    memcpy(&high, at[2], 8), memcpy((char *)&high + 8, at[3], 8);
    const Quad first = __builtin_shufflevector(low, high, 0, 2, 4, 6);
    const Quad second = __builtin_shufflevector(low, high, 1, 3, 5, 7);
    memcpy(row[0] + lane, &first, sizeof first);
    memcpy(row[1] + lane, &second, sizeof second);
}

INLINE void put_quads(const uint8_t *const at[4], uint32_t *const row[], int lane) {
    Quad from[4], to[4];
    for (int i = 0; i < 4; ++i)
        memcpy(&from[i], at[i], sizeof from[i]);
    const Quad low = __builtin_shufflevector(from[0], from[1], 0, 4, 1, 5);
    const Quad high = __builtin_shufflevector(from[0], from[1], 2, 6, 3, 7);
    const Quad next_low = __builtin_shufflevector(from[2], from[3], 0, 4, 1, 5);
    const Quad next_high = __builtin_shufflevector(from[2], from[3], 2, 6, 3, 7);
    to[0] = __builtin_shufflevector(low, next_low, 0, 1, 4, 5);
    to[1] = __builtin_shufflevector(low, next_low, 2, 3, 6, 7);
    to[2] = __builtin_shufflevector(high, next_high, 0, 1, 4, 5);
    to[3] = __builtin_shufflevector(high, next_high, 2, 3, 6, 7);
    for (int e = 0; e < 4; ++e)
        memcpy(row[e] + lane, &to[e], sizeof to[e]);
}

#define DEFINE_VECTOR_MOVES(bits, Address)                                                         \
    /* Half a warp reads the same vector. */                                                       \
    INLINE void spread_half_##bits(const uint8_t *bias, const Address *address, int count,         \
                                   uint32_t *const row[], int lane) {                              \
        for (int e = 0; e < count; ++e) {                                                          \
            uint32_t one;                                                                          \
            memcpy(&one, isa_byte(bias, address[0] + (uint64_t)(e * WORD)), WORD);                 \
            for (int i = 0; i < HALF; ++i)                                                         \
                row[e][lane + i] = one;                                                            \
        }                                                                                          \
    }                                                                                              \
    INLINE void load_vectors_##bits(const uint8_t *bias, const Address *address, int count,        \
                                    uint32_t *const row[]) {                                       \
        for (int lane = 0; lane < ISA_LANES; lane += HALF) {                                       \
            if (is_one_##bits(address + lane)) {                                                   \
                spread_half_##bits(bias, address + lane, count, row, lane);                        \
                continue;                                                                          \
            }                                                                                      \
            for (int i = lane; i < lane + HALF; i += 4) {                                          \
                const uint8_t *const at[4] = {                                                     \
                    isa_byte(bias, address[i]), isa_byte(bias, address[i + 1]),                    \
                    isa_byte(bias, address[i + 2]), isa_byte(bias, address[i + 3])};               \
                if (count == 2) put_pairs(at, row, i);                                             \
                else put_quads(at, row, i);                                                        \
            }                                                                                      \
        }                                                                                          \
    }
DEFINE_VECTOR_MOVES(32, uint32_t)
DEFINE_VECTOR_MOVES(64, uint64_t)

/* ---- The instructions ---- */

/* Whether these lanes' access can be done here, if the addresses allow it. */
INLINE bool is_plain(const IsaContext *context, uint32_t mask) {
    return mask == UINT32_MAX && !context->launch->check;
}

/* Fills `address`; returns whether the access of `count` words can be done here. `is_wide`: the
 * base has 64 bits. */
INLINE bool open_shared(const IsaContext *context, const IsaWarp *warp, const IsaInst *inst,
                        uint32_t mask, int count, bool is_wide, uint32_t *address) {
    const uint32_t size = context->launch->shared_extent, bytes = (uint32_t)count * WORD;
    if (!is_plain(context, mask) || size < bytes) return false;
    const uint32_t limit = size - bytes;
    if (is_wide)
        return narrow_good(operand_row(warp, inst, count), (uint64_t)inst->imm, limit, bytes,
                           address);
    const RowWord *row = operand_row(warp, inst, count);
    FOR_LANES address[lane] = row[lane] + (uint32_t)inst->imm;
    return are_good_32(address, limit, bytes);
}

/* The same for the allocation that the instruction accessed last. */
INLINE bool open_global(const IsaContext *context, const IsaWarp *warp, const IsaInst *inst,
                        uint32_t mask, int count, uint64_t *address) {
    const RowLong *row = operand_row(warp, inst, count);
    const IsaHint *hint = &context->hints[warp->pc % ISA_HINTS];
    const uint32_t bytes = (uint32_t)count * WORD;
    if (!is_plain(context, mask) || hint->pc != warp->pc || hint->end - hint->start < bytes)
        return false;
    FOR_LANES address[lane] = row[lane] + (uint64_t)inst->imm;
    return are_good_64(address, hint->start, hint->end - hint->start - bytes, bytes);
}

/* Passes the addresses to the timing model. */
INLINE void tell_32(IsaContext *context, const uint32_t *address) {
    if (context->drops_addresses) return;
    FOR_LANES context->did.address[lane] = address[lane];
}
INLINE void tell_64(IsaContext *context, const uint64_t *address) {
    if (context->drops_addresses) return;
    memcpy(context->did.address, address, sizeof context->did.address);
}

/* Passes the layout of the words to the timing model. */
INLINE void tell_pattern(IsaContext *context, uint32_t low, uint32_t high) {
    context->did.pattern = (uint8_t)(low | high << ISA_HALF_BITS);
}

INLINE void load_shared(IsaContext *context, IsaWarp *warp, const IsaInst *inst, uint32_t mask,
                        bool is_wide) {
    alignas(64) uint32_t address[ISA_LANES], word[ISA_LANES];
    if (!open_shared(context, warp, inst, mask, 1, is_wide, address)) {
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
    if (!open_shared(context, warp, inst, mask, 1, is_wide, address)) {
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
    if (!open_global(context, warp, inst, mask, 1, address)) {
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

INLINE void load_shared_words(IsaContext *context, IsaWarp *warp, const IsaInst *inst,
                              uint32_t mask, int count, bool is_wide) {
    alignas(64) uint32_t address[ISA_LANES];
    uint32_t *row[4];
    if (!open_shared(context, warp, inst, mask, count, is_wide, address)) {
        ISA_EXEC(LD)(context, warp, inst, mask);
        return;
    }
    tell_32(context, address);
    for (int e = 0; e < count; ++e)
        row[e] = operand_row(warp, inst, e);
    load_vectors_32(warp->cta->shared, address, count, row);
}

INLINE void load_global_words(IsaContext *context, IsaWarp *warp, const IsaInst *inst,
                              uint32_t mask, int count) {
    alignas(64) uint64_t address[ISA_LANES];
    uint32_t *row[4];
    if (!open_global(context, warp, inst, mask, count, address)) {
        ISA_EXEC(LD)(context, warp, inst, mask);
        return;
    }
    tell_64(context, address);
    for (int e = 0; e < count; ++e)
        row[e] = operand_row(warp, inst, e);
    load_vectors_64((const uint8_t *)mem_host_bias(context->memory), address, count, row);
}

EXEC(LD_WORDS2_SHARED) { load_shared_words(context, warp, inst, mask, 2, false); }
EXEC(LD_WORDS4_SHARED) { load_shared_words(context, warp, inst, mask, 4, false); }
EXEC(LD_WORDS2_SHARED_64) { load_shared_words(context, warp, inst, mask, 2, true); }
EXEC(LD_WORDS4_SHARED_64) { load_shared_words(context, warp, inst, mask, 4, true); }
EXEC(LD_WORDS2_GLOBAL) { load_global_words(context, warp, inst, mask, 2); }
EXEC(LD_WORDS4_GLOBAL) { load_global_words(context, warp, inst, mask, 4); }

EXEC(ST_WORD_GLOBAL) {
    alignas(64) uint64_t address[ISA_LANES];
    if (!open_global(context, warp, inst, mask, 1, address)) {
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
