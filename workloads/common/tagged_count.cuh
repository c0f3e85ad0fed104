/* Counters in shared memory without atomics, as on the first GPUs: lanes of a warp that count into
 * one word take turns by the tag that the last of them left in it. They must run in lockstep. */
#ifndef TYTO_WORKLOAD_TAGGED_COUNT_CUH
#define TYTO_WORKLOAD_TAGGED_COUNT_CUH

#include "tyto_device.h"

enum { TAG_SHIFT = 27 }; /* of a lane's number in a word; below it is the count */
static const unsigned COUNT_MASK = (1u << TAG_SHIFT) - 1;

/* Of the lanes that write into a word in one step, the one whose tag it has then has counted.
 * `tag`: the thread's number, shifted by TAG_SHIFT. */
static inline __device__ void tagged_count(volatile unsigned *counter, unsigned tag) {
    unsigned counted;
    do {
        counted = tag | ((*counter & COUNT_MASK) + 1);
        *counter = counted;
    } while (*counter != counted);
}

#endif
