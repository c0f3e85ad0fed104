/* Accesses that missed the texture cache, where they end in the order in which they were made
 * (lsu.textures_in_order), as GPGPU-Sim 2.1 has it: the oldest asks for the write-back port when
 * its line is there, and keeps an MSHR until it has been written back. */
#ifndef TYTO_SM_TEXTURE_ORDER_H
#define TYTO_SM_TEXTURE_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "sm/queue.h"
#include "sm/sm_config.h"

typedef struct SmTextureMiss {
    uint64_t line;    /* address */
    uint16_t inst;    /* that made it */
    bool has_arrived; /* the line has */
} SmTextureMiss;

typedef struct SmTextureOrder {
    uint32_t head, count; /* the oldest, and how many there are */
    uint32_t capacity;    /* 0: they end as their lines come, and nothing is noted here */
    SmTextureMiss *items; /* ring */
} SmTextureOrder;

/* Room for as many as the texture cache has MSHRs for, if the machine wants them in order. */
static inline void texture_order_init(SmTextureOrder *order, const SmConfig *config, Arena *arena) {
    if (!config->lsu.textures_in_order) return;
    const CacheConfig *l1t = &config->l1t;
    order->capacity = l1t->mshrs * l1t->mshr_merges;
    if (l1t->mshr_requests && l1t->mshr_requests < order->capacity)
        order->capacity = l1t->mshr_requests;
    order->items = ARENA_ARRAY(arena, SmTextureMiss, order->capacity);
}

/* The i-th, from the oldest on. */
static inline SmTextureMiss *texture_order_item(const SmTextureOrder *order, uint32_t i) {
    return &order->items[sm_ring_place(order->head + i, order->capacity)];
}
/* One more; there must be room. */
static inline void texture_order_push(SmTextureOrder *order, uint64_t line, uint16_t inst) {
    *texture_order_item(order, order->count++) = (SmTextureMiss){.line = line, .inst = inst};
}
/* The oldest ends. */
static inline void texture_order_pop(SmTextureOrder *order) {
    order->head = sm_ring_place(order->head + 1, order->capacity);
    order->count--;
}
/* The line has come. */
static inline void texture_order_arrived(SmTextureOrder *order, uint64_t line) {
    for (uint32_t i = 0; i < order->count; i++) {
        SmTextureMiss *item = texture_order_item(order, i);
        item->has_arrived |= item->line == line;
    }
}
/* Whether the oldest can end. */
static inline bool texture_order_is_ready(const SmTextureOrder *order) {
    return order->count && texture_order_item(order, 0)->has_arrived;
}

#endif
