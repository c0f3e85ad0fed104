/* Places of a bounded first-in first-out queue. The entries live in an array of the owner's with
 * ring_places places; a Ring says which of them is the front, and where the next one goes. */
#ifndef TYTO_PARTITION_RING_H
#define TYTO_PARTITION_RING_H

#include <stdbool.h>
#include <stdint.h>

typedef struct Ring {
    uint32_t head;     /* place of the oldest entry, modulo the places */
    uint32_t count;    /* entries inside */
    uint32_t capacity; /* most entries inside */
    uint32_t mask;     /* places of the array - 1; places are a power of two */
} Ring;

static inline Ring ring_make(uint32_t capacity) {
    uint32_t places = 1;
    while (places < capacity)
        places *= 2;
    return (Ring){.capacity = capacity, .mask = places - 1};
}

static inline uint32_t ring_places(const Ring *ring) { return ring->mask + 1; }
static inline bool ring_is_full(const Ring *ring) { return ring->count == ring->capacity; }
static inline uint32_t ring_room(const Ring *ring) { return ring->capacity - ring->count; }
/* Place of the oldest entry; there must be one. */
static inline uint32_t ring_front(const Ring *ring) { return ring->head & ring->mask; }
/* Place for a new entry; there must be room. An empty queue starts from the first place again, so
 * that short queues use the same few lines of the host's caches, however many places they have. */
static inline uint32_t ring_push(Ring *ring) {
    ring->head &= -(uint32_t)(ring->count != 0);
    return (ring->head + ring->count++) & ring->mask;
}
/* Place of the oldest entry, which leaves the queue: read it before the next push. */
static inline uint32_t ring_pop(Ring *ring) {
    ring->count--;
    return ring->head++ & ring->mask;
}

#endif
