/* Speckle-reducing anisotropic diffusion on the CPU: Yu and Acton, IEEE Transactions on Image
 * Processing 11(11), 2002. */
#ifndef TYTO_WORKLOAD_SRAD_H
#define TYTO_WORKLOAD_SRAD_H

#include "workload.h"

/* One step on a rows x columns image. `noise` is the squared coefficient of variation of a part
 * that should be smooth, `rate` is the step size. A pixel at the edge replaces its missing
 * neighbour. */
void srad_step(Workload *workload, float *image, size_t rows, size_t columns, float noise,
               float rate);

/* The squared coefficient of variation of `count` values with these sums. */
float srad_noise(double sum, double sum_of_squares, double count);

#endif
