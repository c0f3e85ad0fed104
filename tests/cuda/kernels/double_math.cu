/* The double-precision functions of the standard library on ordinary arguments. */
#include "kernel.h"

extern "C" __global__ void double_math(const double *in, double *out, unsigned n) {
    unsigned i = global_index();
    if (i >= n) return;
    double x = in[i], size = fabs(x) + 0.01;
    double *row = out + 10 * i;
    row[0] = exp(x * 20.0);
    row[1] = log(size);
    row[2] = sin(x * 1000.0);
    row[3] = cos(x);
    row[4] = pow(size, x);
    row[5] = sqrt(size) + rsqrt(size);
    row[6] = fma(x, size, 1.0 / size);
    row[7] = floor(x) + ceil(x) * 3.0 + trunc(x) * 5.0 + rint(x) * 7.0;
    row[8] = fmin(x, 0.5) + fmax(x, -0.5);
    row[9] = log2(size) + log10(size);
}
