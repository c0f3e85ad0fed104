/* Accesses that missed the texture cache, on machines where they complete in order
 * (lsu.textures_in_order), as in GPGPU-Sim 2.1. The oldest asks for the write-back port when its
 * line has arrived, and keeps an MSHR until it has been written back. */
#ifndef TYTO_SM_TEXTURE_ORDER_H
#define TYTO_SM_TEXTURE_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "sm/queue.h"
#include "sm/sm_config.h"

typedef struct SmTextureMiss {
    uint64_t line;    /* address */
    uint16_t inst;    /* instruction of the access */
    bool has_arrived; /* whether the line has arrived */
} SmTextureMiss;

typedef struct SmTextureOrder {
    uint32_t head, count; /* index of the oldest, and number of entries */
    uint32_t capacity;    /* 0: accesses complete when their lines arrive, and this record is
                             unused */
    SmTextureMiss *items; /* ring */
} SmTextureOrder;

/* Makes room for one entry per MSHR of the texture cache, if the machine completes misses in
 * order. */
static inline void texture_order_init(SmTextureOrder *order, const SmConfig *config, Arena *arena) {
    if (!config->lsu.textures_in_order) return;
    const CacheConfig *l1t = &config->l1t;
    order->capacity = l1t->mshrs * l1t->mshr_merges;
    if (l1t->mshr_requests && l1t->mshr_requests < order->capacity)
        order->capacity = l1t->mshr_requests;
    order->items = ARENA_ARRAY(arena, SmTextureMiss, order->capacity);
}

/* The i-th entry, counted from the oldest. */
static inline SmTextureMiss *texture_order_item(const SmTextureOrder *order, uint32_t i) {
    return &order->items[sm_ring_place(order->head + i, order->capacity)];
}
/* Adds an entry; there must be room. */
static inline void texture_order_push(SmTextureOrder *order, uint64_t line, uint16_t inst) {
    *texture_order_item(order, order->count++) = (SmTextureMiss){.line = line, .inst = inst};
}
/* Removes the oldest entry. */
static inline void texture_order_pop(SmTextureOrder *order) {
    order->head = sm_ring_place(order->head + 1, order->capacity);
    order->count--;
}
/* Records that a line has arrived. */
static inline void texture_order_arrived(SmTextureOrder *order, uint64_t line) {
    for (uint32_t i = 0; i < order->count; i++) {
        SmTextureMiss *item = texture_order_item(order, i);
        item->has_arrived |= item->line == line;
    }
}
/* Whether the oldest access can complete. */
static inline bool texture_order_is_ready(const SmTextureOrder *order) {
    return order->count && texture_order_item(order, 0)->has_arrived;
}

#endif
