/* The four shuffles over a whole warp and over segments of 8 and 16 lanes. */
#include "kernel.h"

extern "C" __global__ void shuffle_modes(const unsigned *in, unsigned *out, unsigned n) {
    unsigned i = global_index();
    unsigned x = in[i % n], *row = out + 8 * i;
    row[0] = __shfl_sync(0xffffffffu, x, (int)(i * 7 % 32));
    row[1] = __shfl_up_sync(0xffffffffu, x, 5);
    row[2] = __shfl_down_sync(0xffffffffu, x, 3);
    row[3] = __shfl_xor_sync(0xffffffffu, x, 21);
    row[4] = __shfl_sync(0xffffffffu, x, 11, 8);
    row[5] = __shfl_up_sync(0xffffffffu, x, 2, 8);
    row[6] = __shfl_down_sync(0xffffffffu, x, 9, 16);
    row[7] = __shfl_xor_sync(0xffffffffu, x, 9, 16);
}
