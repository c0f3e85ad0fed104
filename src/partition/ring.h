/* Index bookkeeping of a bounded first-in first-out queue. The entries are stored in an array of
 * the owner with ring_places places. A Ring tells which place is the front and where the next entry
 * goes. */
#ifndef TYTO_PARTITION_RING_H
#define TYTO_PARTITION_RING_H

#include <stdbool.h>
#include <stdint.h>

typedef struct Ring {
    uint32_t head;     /* place of the oldest entry, modulo the number of places */
    uint32_t count;    /* entries in the queue */
    uint32_t capacity; /* maximum number of entries */
    uint32_t mask;     /* places of the array - 1; the number of places is a power of two */
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
/* Place of the oldest entry. The queue must not be empty. */
static inline uint32_t ring_front(const Ring *ring) { return ring->head & ring->mask; }
/* Place for a new entry. The queue must have room. An empty queue starts again from the first
 * place, so that short queues use the same few cache lines of the host, however many places they
 * have. */
static inline uint32_t ring_push(Ring *ring) {
    ring->head &= -(uint32_t)(ring->count != 0);
    return (ring->head + ring->count++) & ring->mask;
}
/* Removes the oldest entry and returns its place. Read the entry before the next push. */
static inline uint32_t ring_pop(Ring *ring) {
    ring->count--;
    return ring->head++ & ring->mask;
}

#endif
