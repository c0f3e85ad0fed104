/* Open-addressing hash tables with linear probing, for the caches. A bucket holds the index + 1 of
 * a record of the owner, or 0 if it is empty. A search runs from an index's home bucket to the
 * first empty bucket. Removal therefore must not leave a hole: later entries move up (Knuth, The
 * Art of Computer Programming 3, section 6.4, algorithm R). */
#ifndef TYTO_BASE_PROBING_H
#define TYTO_BASE_PROBING_H

#include <stdbool.h>
#include <stdint.h>

typedef struct Probing {
    void *buckets; /* uint16_t or uint32_t */
    uint32_t mask; /* number of buckets - 1 */
    bool is_short; /* 16-bit buckets; a constant at each call, so it costs no branch */
} Probing;

/* The home bucket of an index of `owner`. */
typedef uint32_t ProbingHome(const void *owner, uint32_t index);

static inline uint32_t probing_get(Probing table, uint32_t bucket) {
    if (table.is_short) return ((const uint16_t *)table.buckets)[bucket];
    return ((const uint32_t *)table.buckets)[bucket];
}

static inline void probing_set(Probing table, uint32_t bucket, uint32_t value) {
    if (table.is_short) ((uint16_t *)table.buckets)[bucket] = (uint16_t)value;
    else ((uint32_t *)table.buckets)[bucket] = value;
}

/* Empties the index's bucket and moves later entries up, so that no search ends too early. */
static inline __attribute__((always_inline)) void
probing_remove(Probing table, const void *owner, ProbingHome *home, uint32_t index) {
    uint32_t mask = table.mask, hole = home(owner, index);
    while (probing_get(table, hole) != index + 1)
        hole = (hole + 1) & mask;
    for (uint32_t b = (hole + 1) & mask, value; (value = probing_get(table, b)) != 0;
         b = (b + 1) & mask) {
        uint32_t from = home(owner, value - 1);
        if (((b - from) & mask) < ((b - hole) & mask)) continue; /* already at or after its home */
        probing_set(table, hole, value);
        hole = b;
    }
    probing_set(table, hole, 0);
}

#endif
