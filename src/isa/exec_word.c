/* Loads and stores of one 32-bit word by all lanes, in shared or global memory: what most accesses
 * of most kernels are. Addresses are checked at once, and words that lie side by side, or are one
 * and the same for half a warp, move at once. What is not all right, or to be looked at by others
 * (context->drops_addresses), goes the general way (exec_memory.c).
 *
 * Sources: PTX ISA, sections on ld and st. */
#include "isa/exec.h"

#include "isa/launch.h"

enum { HALF = ISA_LANES / 2, WORD = 4 };

/* For addresses of 32 and of 64 bits: whether all lanes' words lie in [start, start + limit + WORD)
 * and are aligned, and both ways to move them. `bias` is where address 0 would be. */
#define DEFINE_WORDS(bits, Address)                                                                \
    INLINE bool are_good_##bits(const Address *address, Address start, Address limit) {            \
        Address bad = 0;                                                                           \
        FOR_LANES bad |=                                                                           \
            (Address)((Address)(address[lane] - start) > limit) | (address[lane] & (WORD - 1));    \
        return !bad;                                                                               \
    }                                                                                              \
    /* Words of a half that follow one another; or are all the first one. */                       \
    INLINE bool is_run_##bits(const Address *address) {                                            \
        Address differs = 0;                                                                       \
        for (int i = 0; i < HALF; ++i)                                                             \
            differs |= address[i] ^ (Address)(address[0] + (Address)i * WORD);                     \
        return !differs;                                                                           \
    }                                                                                              \
    INLINE bool is_one_##bits(const Address *address) {                                            \
        Address differs = 0;                                                                       \
        for (int i = 0; i < HALF; ++i)                                                             \
            differs |= address[i] ^ address[0];                                                    \
        return !differs;                                                                           \
    }                                                                                              \
    INLINE void load_half_##bits(const uint8_t *bias, const Address *address, uint32_t *word) {    \
        if (is_run_##bits(address)) {                                                              \
            memcpy(word, bias + address[0], HALF * WORD);                                          \
        } else if (is_one_##bits(address)) {                                                       \
            uint32_t one;                                                                          \
            memcpy(&one, bias + address[0], WORD);                                                 \
            for (int i = 0; i < HALF; ++i)                                                         \
                word[i] = one;                                                                     \
        } else {                                                                                   \
            for (int i = 0; i < HALF; ++i)                                                         \
                memcpy(&word[i], bias + address[i], WORD);                                         \
        }                                                                                          \
    }                                                                                              \
    /* Rising lanes: of several writers the last one wins. */                                      \
    INLINE void store_half_##bits(uint8_t *bias, const Address *address, const uint32_t *word) {   \
        if (is_run_##bits(address)) {                                                              \
            memcpy(bias + address[0], word, HALF * WORD);                                          \
        } else {                                                                                   \
            for (int i = 0; i < HALF; ++i)                                                         \
                memcpy(bias + address[i], &word[i], WORD);                                         \
        }                                                                                          \
    }
DEFINE_WORDS(32, uint32_t)
DEFINE_WORDS(64, uint64_t)

/* Fills `address` when the access can be done here. In shared memory the base may have 64 bits. */
INLINE bool open_shared(const IsaContext *context, const IsaWarp *warp, const IsaInst *inst,
                        uint32_t mask, bool is_wide, uint32_t *address) {
    const uint32_t bytes = context->launch->shared_bytes;
    uint64_t beyond = 0;
    if (is_wide) {
        const RowLong *row = operand_row(warp, inst, 1);
        FOR_LANES {
            const uint64_t at = row[lane] + (uint64_t)inst->imm;
            beyond |= at >> 32;
            address[lane] = (uint32_t)at;
        }
    } else {
        const RowWord *row = operand_row(warp, inst, 1);
        FOR_LANES address[lane] = row[lane] + (uint32_t)inst->imm;
    }
    return mask == UINT32_MAX && context->drops_addresses && !beyond && bytes >= WORD &&
           are_good_32(address, 0, bytes - WORD);
}

/* In the allocation that the instruction found before. */
INLINE bool open_global(const IsaContext *context, const IsaWarp *warp, const IsaInst *inst,
                        uint32_t mask, uint64_t *address) {
    const RowLong *row = operand_row(warp, inst, 1);
    const IsaHint *hint = &context->hints[warp->pc % ISA_HINTS];
    FOR_LANES address[lane] = row[lane] + (uint64_t)inst->imm;
    return mask == UINT32_MAX && context->drops_addresses && hint->pc == warp->pc &&
           hint->end - hint->start >= WORD &&
           are_good_64(address, hint->start, hint->end - hint->start - WORD);
}

INLINE void load_shared(IsaContext *context, IsaWarp *warp, const IsaInst *inst, uint32_t mask,
                        bool is_wide) {
    alignas(64) uint32_t address[ISA_LANES], word[ISA_LANES];
    if (!open_shared(context, warp, inst, mask, is_wide, address)) {
        ISA_EXEC(LD)(context, warp, inst, mask);
        return;
    }
    for (int half = 0; half < ISA_LANES; half += HALF)
        load_half_32(warp->cta->shared, address + half, word + half);
    write_row32(warp, inst, 0, word, UINT32_MAX);
}

INLINE void store_shared(IsaContext *context, IsaWarp *warp, const IsaInst *inst, uint32_t mask,
                         bool is_wide) {
    alignas(64) uint32_t address[ISA_LANES];
    if (!open_shared(context, warp, inst, mask, is_wide, address)) {
        ISA_EXEC(ST)(context, warp, inst, mask);
        return;
    }
    const RowWord *word = operand_row(warp, inst, 0);
    for (int half = 0; half < ISA_LANES; half += HALF)
        store_half_32(warp->cta->shared, address + half, word + half);
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
    const uint8_t *bias = (const uint8_t *)mem_host_bias(context->memory);
    for (int half = 0; half < ISA_LANES; half += HALF)
        load_half_64(bias, address + half, word + half);
    write_row32(warp, inst, 0, word, UINT32_MAX);
}

EXEC(ST_WORD_GLOBAL) {
    alignas(64) uint64_t address[ISA_LANES];
    if (!open_global(context, warp, inst, mask, address)) {
        ISA_EXEC(ST)(context, warp, inst, mask);
        return;
    }
    const RowWord *word = operand_row(warp, inst, 0);
    uint8_t *bias = (uint8_t *)mem_host_bias(context->memory);
    for (int half = 0; half < ISA_LANES; half += HALF)
        store_half_64(bias, address + half, word + half);
}
