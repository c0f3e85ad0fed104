/* Weights of the regressions of poise (poise.c): by knob and feature. All 0: all warps, no bypass.
 */
#ifndef TYTO_SCHED_POISE_WEIGHTS_H
#define TYTO_SCHED_POISE_WEIGHTS_H

enum { POISE_FEATURES = 7 };

static const double poise_weights[2][POISE_FEATURES] = {
    {0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 0},
};

#endif
