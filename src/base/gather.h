/* Bit gathering: a number composed of selected bits of another one, in runs of neighbouring bits.
 * Address maps and cache set functions use it. If runs overlap in the result, their bits are
 * combined by XOR. */
#ifndef TYTO_BASE_GATHER_H
#define TYTO_BASE_GATHER_H

#include <stdbool.h>
#include <stdint.h>

enum { GATHER_MAX_RUNS = 12 };

typedef struct BitGather {
    int count; /* runs in use */
    struct BitRun {
        uint64_t mask; /* the run's bits in the result */
        uint8_t turn;  /* left rotation of the source, 0..63, that moves the run to its place */
    } runs[GATHER_MAX_RUNS];
} BitGather;

/* Makes bit `to` of the result (also) bit `from` of the source. Appending bits in increasing order
 * needs the fewest runs. Returns false if no run is left. */
bool gather_append(BitGather *gather, int to, int from);

/* The source that has the given result and 0 in all bits that are not gathered. Only defined if no
 * runs overlap. */
uint64_t gather_scatter(const BitGather *gather, uint64_t result);

static inline uint64_t gather_turn(uint64_t word, uint8_t turn) {
    return word << turn | word >> (-turn & 63);
}

static inline uint64_t gather_bits(const BitGather *gather, uint64_t source) {
    const struct BitRun *run = gather->runs; /* most have one; without runs its mask is 0 */
    uint64_t result = gather_turn(source, run->turn) & run->mask;
    for (const struct BitRun *end = run + gather->count; ++run < end;)
        result ^= gather_turn(source, run->turn) & run->mask;
    return result;
}

#endif
