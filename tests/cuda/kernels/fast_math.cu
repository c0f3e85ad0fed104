/* The approximate instructions: their results differ from the exact ones by a few parts in a
 * million. */
#include "kernel.h"

extern "C" __global__ void fast_math(const float *in, float *out, unsigned n) {
    unsigned i = global_index();
    if (i >= n) return;
    float x = in[i], size = fabsf(x) + 1.5f, tanh_x;
    float *row = out + 8 * i;
    row[0] = __expf(x);
    row[1] = __logf(size);
    row[2] = __sinf(x) + 2.0f;
    row[3] = __cosf(x) + 2.0f;
    row[4] = __powf(size, x);
    row[5] = __fdividef(x, size);
    asm("tanh.approx.f32 %0, %1;" : "=f"(tanh_x) : "f"(x));
    row[6] = tanh_x + 2.0f;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(row[7]) : "f"(size));
}
