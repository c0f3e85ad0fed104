/* Counters in shared memory without atomics, as on the first GPUs: lanes of a warp that count in
 * the same word take turns by means of a tag that the last lane has left in it. They must run in
 * lockstep. */
#ifndef TYTO_WORKLOAD_TAGGED_COUNT_CUH
#define TYTO_WORKLOAD_TAGGED_COUNT_CUH

#include "tyto_device.h"

enum { TAG_SHIFT = 27 }; /* position of a lane's number in a word; the count is below it */
static const unsigned COUNT_MASK = (1u << TAG_SHIFT) - 1;

/* If several lanes write a word in the same step, the lane whose tag it then has, has counted.
 * `tag`: the thread's number, shifted by TAG_SHIFT. */
static inline __device__ void tagged_count(volatile unsigned *counter, unsigned tag) {
    unsigned counted;
    do {
        counted = tag | ((*counter & COUNT_MASK) + 1);
        *counter = counted;
    } while (*counter != counted);
}

#endif
