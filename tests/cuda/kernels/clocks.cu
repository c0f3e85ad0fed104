/* Time only goes forward: the clocks before and after some work and a sleep. */
#include "kernel.h"

extern "C" __global__ void clocks(const unsigned *in, unsigned *out, unsigned n) {
    unsigned i = global_index();
    if (i >= n) return;
    long long start = clock64();
    int start_low = clock();
    unsigned x = in[i];
    for (unsigned k = 0; k < 10; k++)
        x = x * 1664525u + 1013904223u;
    __nanosleep(100);
    unsigned long long timer;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(timer));
    long long end = clock64();
    out[i] = x + (end > start ? 0u : 1u) + (clock() - start_low > 0 ? 0u : 2u) +
             (timer == ~0ull ? 4u : 0u);
}
