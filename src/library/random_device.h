/* What the kernels of random_kernels.cu and their callers agree on. */
#ifndef TYTO_LIBRARY_RANDOM_DEVICE_H
#define TYTO_LIBRARY_RANDOM_DEVICE_H

#include <stdint.h>

/* Streams that a generator runs side by side: value n comes from stream n modulo their number. */
enum { RANDOM_XORWOW_STREAMS = 4096, RANDOM_MRG_STREAMS = 81920, RANDOM_PHILOX_STREAMS = 65536 };

enum {
    RANDOM_STATE_WORDS = 6,
    RANDOM_XORWOW_BITS = 160,
    RANDOM_XORWOW_JUMPS = 12,
    RANDOM_MRG_JUMPS = 17
};

/* What a number is made of and how it is shaped. */
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

/* The first state of each stream: that of the first, jumped over `stream` streams. */
typedef struct RandomSeed {
    uint64_t states; /* RANDOM_STATE_WORDS for each stream */
    uint64_t jumps;  /* matrices that jump over 1, 2, 4, ... streams */
    uint32_t first[RANDOM_STATE_WORDS];
    uint32_t streams;
} RandomSeed;

/* `items` numbers, or pairs of them, from stream `start` on. */
typedef struct RandomFill {
    uint64_t out;
    uint64_t items;
    uint64_t states; /* of XORWOW and MRG32k3a */
    uint32_t streams, start;
    uint64_t position; /* PHILOX: numbers before the first; SOBOL: index of the first point */
    uint32_t key[2];   /* PHILOX: the seed */
    uint64_t vectors;  /* SOBOL: 32 direction numbers for each dimension, then a number that all are
                          XORed with */
    uint32_t dimensions;
    int32_t shape;
    double mean,
        deviation; /* of normal numbers; Poisson: mean, and the bound below which a table serves */
    uint64_t
        table; /* Poisson: cumulated probabilities from `table_first` on, 0: from normal numbers */
    uint32_t table_first, table_count;
} RandomFill;

#endif
