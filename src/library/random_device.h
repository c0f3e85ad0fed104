/* The parameters of the kernels of random_kernels.cu, shared with their callers. */
#ifndef TYTO_LIBRARY_RANDOM_DEVICE_H
#define TYTO_LIBRARY_RANDOM_DEVICE_H

#include <stdint.h>

/* Parallel streams of a generator: value n comes from stream n modulo their number. */
enum { RANDOM_XORWOW_STREAMS = 4096, RANDOM_MRG_STREAMS = 81920, RANDOM_PHILOX_STREAMS = 65536 };

enum {
    RANDOM_STATE_WORDS = 6,
    RANDOM_XORWOW_BITS = 160,
    RANDOM_XORWOW_JUMPS = 12,
    RANDOM_MRG_JUMPS = 17
};

/* The type and the distribution of a number. */
typedef enum RandomShape {
    RANDOM_BITS,
    RANDOM_UNIFORM,
    RANDOM_UNIFORM_DOUBLE,
    RANDOM_NORMAL,
    RANDOM_NORMAL_DOUBLE,
    RANDOM_LOG_NORMAL,
    RANDOM_LOG_NORMAL_DOUBLE,
    RANDOM_POISSON
} RandomShape;

/* The initial state of each stream: that of the first, jumped over `stream` streams. */
typedef struct RandomSeed {
    uint64_t states; /* RANDOM_STATE_WORDS words for each stream */
    uint64_t jumps;  /* matrices that jump over 1, 2, 4, ... streams */
    uint32_t first[RANDOM_STATE_WORDS];
    uint32_t streams;
} RandomSeed;

/* Generates `items` numbers, or pairs of numbers, starting with stream `start`. */
typedef struct RandomFill {
    uint64_t out;
    uint64_t items;
    uint64_t states; /* states of XORWOW and MRG32k3a */
    uint32_t streams, start;
    uint64_t position; /* PHILOX: numbers before the first one; SOBOL: index of the first point */
    uint32_t key[2];   /* PHILOX: the seed */
    uint64_t vectors; /* SOBOL: for each dimension 32 direction numbers, then a number that is XORed
                         to all */
    uint32_t dimensions;
    int32_t shape;
    double mean, deviation; /* of normal numbers; Poisson: the mean, and the bound below which the
                               table is used */
    uint64_t table; /* Poisson: table of cumulative probabilities from `table_first` on; 0: use
                       normal numbers */
    uint32_t table_first, table_count;
} RandomFill;

#endif
