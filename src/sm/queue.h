/* Small rings with a fixed capacity, through which the stages of an SM pass instructions. */
#ifndef TYTO_SM_QUEUE_H
#define TYTO_SM_QUEUE_H

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"

/* A queue of 16-bit indices. The capacity is a power of two. */
typedef struct SmQueue {
    uint16_t *items;
    uint32_t head, count, mask; /* first item, items held, capacity - 1 */
} SmQueue;

/* An empty queue for at least `capacity` items, owned by `arena`. */
static inline void sm_queue_init(SmQueue *queue, uint32_t capacity, Arena *arena) {
    uint32_t size = 1;
    while (size < capacity)
        size *= 2;
    *queue = (SmQueue){.items = ARENA_ARRAY(arena, uint16_t, size), .mask = size - 1};
}
static inline void sm_queue_push(SmQueue *queue, uint32_t item) {
    assert(queue->count <= queue->mask);
    queue->items[(queue->head + queue->count++) & queue->mask] = (uint16_t)item;
}
static inline uint16_t sm_queue_peek(const SmQueue *queue) { return queue->items[queue->head]; }
static inline uint16_t sm_queue_pop(SmQueue *queue) {
    uint16_t item = queue->items[queue->head];
    /* An empty queue starts again at 0: most rings never leave their first cache line. */
    uint32_t is_left = --queue->count != 0;
    queue->head = (queue->head + 1) & queue->mask & -is_left;
    return item;
}

/* The same for a few items that are stored in the record itself. The oldest is at index 0 and the
 * others move up, because there are rarely any. */
enum { SM_FEW = 16 };
typedef struct SmFew {
    uint32_t count;
    uint16_t items[SM_FEW];
} SmFew;

static inline void sm_few_push(SmFew *few, uint32_t item) {
    assert(few->count < SM_FEW);
    few->items[few->count++] = (uint16_t)item;
}
static inline uint16_t sm_few_peek(const SmFew *few) { return few->items[0]; }
static inline uint16_t sm_few_pop(SmFew *few) {
    uint16_t item = few->items[0];
    if (--few->count) memmove(few->items, few->items + 1, few->count * sizeof *few->items);
    return item;
}

/* `place` modulo `capacity` for any capacity and `place` below twice the capacity; avoids a
 * division. */
static inline uint32_t sm_ring_place(uint32_t place, uint32_t capacity) {
    return place < capacity ? place : place - capacity;
}

#endif
