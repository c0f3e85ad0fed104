/* Hash tables with open addressing and linear probing, as the caches have them: buckets of an index
 * + 1 into the owner's records, 0 being empty. A search goes from an index's home to the first
 * empty bucket. What is removed therefore leaves no hole: those behind move up (Knuth, The Art of
 * Computer Programming 3, section 6.4, algorithm R). */
#ifndef TYTO_BASE_PROBING_H
#define TYTO_BASE_PROBING_H

#include <stdbool.h>
#include <stdint.h>

typedef struct Probing {
    void *buckets; /* uint16_t, or uint32_t */
    uint32_t mask; /* buckets - 1 */
    bool is_short; /* 16 bits each; constant where it is called, and so no branch */
} Probing;

/* The bucket in which the search for an index of `owner` begins. */
typedef uint32_t ProbingHome(const void *owner, uint32_t index);

static inline uint32_t probing_get(Probing table, uint32_t bucket) {
    if (table.is_short) return ((const uint16_t *)table.buckets)[bucket];
    return ((const uint32_t *)table.buckets)[bucket];
}

static inline void probing_set(Probing table, uint32_t bucket, uint32_t value) {
    if (table.is_short) ((uint16_t *)table.buckets)[bucket] = (uint16_t)value;
    else ((uint32_t *)table.buckets)[bucket] = value;
}

/* Empties the index's bucket and moves those behind it up, so that no search ends too early. */
static inline __attribute__((always_inline)) void
probing_remove(Probing table, const void *owner, ProbingHome *home, uint32_t index) {
    uint32_t mask = table.mask, hole = home(owner, index);
    while (probing_get(table, hole) != index + 1)
        hole = (hole + 1) & mask;
    for (uint32_t b = (hole + 1) & mask, value; (value = probing_get(table, b)) != 0;
         b = (b + 1) & mask) {
        uint32_t from = home(owner, value - 1);
        if (((b - from) & mask) < ((b - hole) & mask)) continue; /* already at or behind its home */
        probing_set(table, hole, value);
        hole = b;
    }
    probing_set(table, hole, 0);
}

#endif
