/* The single-precision functions of the standard library on ordinary arguments. */
#include "kernel.h"

extern "C" __global__ void float_math(const float *in, float *out, unsigned n) {
    unsigned i = global_index();
    if (i >= n) return;
    float x = in[i], size = fabsf(x) + 0.01f;
    float *row = out + 12 * i;
    row[0] = expf(x);
    row[1] = logf(size);
    row[2] = sinf(x);
    row[3] = cosf(x * 100.0f);
    row[4] = powf(size, x);
    row[5] = sqrtf(size);
    row[6] = rsqrtf(size);
    row[7] = exp2f(x);
    row[8] = log2f(size * 1e6f);
    row[9] = tanf(x * 0.1f);
    row[10] = log10f(size * 1e-6f);
    row[11] = roundf(x) + x / size;
}
