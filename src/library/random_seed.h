/* The initial data of a generator: the initial states of its streams, and the jumps from one stream
 * to others. */
#ifndef TYTO_LIBRARY_RANDOM_SEED_H
#define TYTO_LIBRARY_RANDOM_SEED_H

#include <stdint.h>

#include "library/random_device.h"

/* A generator with streams: how they are seeded and advanced, and their distance. */
typedef struct RandomKind {
    uint32_t streams;
    uint32_t jump_words;              /* bytes of all its jumps */
    const char *seed_kernel, *kernel; /* names in random_kernels.cu */
    /* The initial state for a seed, after `steps` numbers. */
    void (*start)(uint64_t seed, uint64_t steps, uint32_t state[RANDOM_STATE_WORDS]);
    /* The matrices that jump over 1, 2, 4, ... streams. */
    void (*make_jumps)(uint32_t *jumps);
} RandomKind;

extern const RandomKind random_xorwow, random_mrg;

enum { RANDOM_SOBOL_DIMENSIONS = 100 };

/* The 32 direction numbers of a dimension. */
void random_sobol_vectors(uint32_t dimension, uint32_t vectors[32]);

#endif
