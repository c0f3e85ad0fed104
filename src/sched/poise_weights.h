/* Weights of the regressions of poise (poise.c), by knob (warps, polluting) and feature. Made by
 * scripts/poise-train --machine gtx480 --size small from:
 * bfs bfsr bptree convolution cutcp euler histogram jpeg laplace memcached montecarlo nbf
 * pageviewcount particlefilter ray sad scan similarity srad1 sssp subhistograms transpose
 * vecadd weather
 * Speed-up over all warps at the nearest point of the training grid, as a geometric mean, if each
 * program is left out of its own training: +3.0%. The best points give +7.0%. */
#ifndef TYTO_SCHED_POISE_WEIGHTS_H
#define TYTO_SCHED_POISE_WEIGHTS_H

enum { POISE_FEATURES = 7 };

static const double poise_weights[2][POISE_FEATURES] = {
    {0.0857, 0.0988, 0.0060, 0.0573, -0.1905, -0.4087, 0.1187},
    {-0.2834, 0.3398, 0.4570, -0.2469, 0.3817, -1.6058, 0.2124},
};

#endif
