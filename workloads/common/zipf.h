/* Random numbers with Zipf's distribution: rank r of `count`, from 0, is drawn with a probability
 * in proportion to 1 / (r + 1)^exponent. */
#ifndef TYTO_WORKLOAD_ZIPF_H
#define TYTO_WORKLOAD_ZIPF_H

#include "workload.h"

typedef struct Zipf {
    uint32_t count;     /* of ranks */
    double *cumulative; /* sum of the weights of all ranks up to each one */
} Zipf;

/* `hundredths`: the exponent times 100; 0: all ranks are equally likely. */
Zipf zipf_new(Workload *workload, uint32_t count, uint32_t hundredths);
/* The next rank. */
uint32_t zipf_draw(Workload *workload, const Zipf *zipf);
/* The item of a rank: a fixed permutation of [0, count), in which items of successive ranks are far
 * apart; rank 0 is item 0. `count` is at most 2^31. */
uint32_t zipf_scatter(uint32_t rank, uint32_t count);

#endif
