/* The constant pool: an array of values in order of first use, and an open-addressing index that
 * finds a value again. The order, and with it every offset, depends only on the program. */
#include "isa/decode/constants.h"

#include <stdlib.h>

#include "isa/isa.h"

typedef struct Constant {
    uint64_t value;
    uint32_t offset; /* bytes from the start of the pool */
    bool is_wide;    /* 64 bits: two rows */
} Constant;

struct ConstantPool {
    Constant *items;
    uint32_t count;
    uint32_t *slots;   /* open addressing: index in items plus one, 0 is free */
    uint32_t capacity; /* of slots, a power of two; items has room for half as many */
    uint32_t bytes;    /* of all rows */
};

ConstantPool *constants_new(void) {
    ConstantPool *pool = base_calloc(1, sizeof *pool);
    pool->capacity = 256;
    pool->items = base_calloc(pool->capacity / 2, sizeof *pool->items);
    pool->slots = base_calloc(pool->capacity, sizeof *pool->slots);
    return pool;
}

void constants_free(ConstantPool *pool) {
    if (!pool) return;
    free(pool->items);
    free(pool->slots);
    free(pool);
}

/* The slot that holds the value, or the free one where it belongs. */
static uint32_t *find_slot(const ConstantPool *pool, uint64_t value, bool is_wide) {
    uint64_t hash = (value ^ is_wide) * UINT64_C(0x9e3779b97f4a7c15); /* Fibonacci hashing */
    for (uint32_t at = (uint32_t)(hash >> 32);; ++at) {
        uint32_t *slot = &pool->slots[at & (pool->capacity - 1)];
        if (!*slot) return slot;
        const Constant *item = &pool->items[*slot - 1];
        if (item->value == value && item->is_wide == is_wide) return slot;
    }
}

static void grow(ConstantPool *pool) {
    free(pool->slots);
    pool->capacity *= 2;
    pool->slots = base_calloc(pool->capacity, sizeof *pool->slots);
    pool->items = base_realloc(pool->items, pool->capacity / 2 * sizeof *pool->items);
    for (uint32_t i = 0; i < pool->count; ++i)
        *find_slot(pool, pool->items[i].value, pool->items[i].is_wide) = i + 1;
}

uint32_t constants_row(ConstantPool *pool, uint64_t value, bool is_wide) {
    uint32_t *slot = find_slot(pool, value, is_wide);
    if (!*slot) {
        if (pool->count == pool->capacity / 2) {
            grow(pool);
            slot = find_slot(pool, value, is_wide);
        }
        pool->items[pool->count] = (Constant){value, pool->bytes, is_wide};
        pool->bytes += is_wide ? 2 * ISA_ROW_BYTES : ISA_ROW_BYTES;
        *slot = ++pool->count;
    }
    return pool->items[*slot - 1].offset;
}

uint8_t *constants_rows(const ConstantPool *pool, Arena *arena, uint32_t *bytes) {
    uint8_t *rows = arena_alloc_aligned(arena, pool->bytes + ISA_ROW_BYTES, 64);
    for (uint32_t i = 0; i < pool->count; ++i) {
        const Constant *item = &pool->items[i];
        void *row = rows + item->offset;
        for (int lane = 0; lane < ISA_LANES; ++lane) {
            if (item->is_wide) ((uint64_t *)row)[lane] = item->value;
            else ((uint32_t *)row)[lane] = (uint32_t)item->value;
        }
    }
    *bytes = pool->bytes;
    return rows;
}
