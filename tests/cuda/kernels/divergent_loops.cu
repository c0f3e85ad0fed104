/* Loops whose lanes leave at different times: by the condition, by break, by return, with continue
 * skipping a part of the body. */
#include "kernel.h"

extern "C" __global__ void divergent_loops(const unsigned *in, unsigned *out, unsigned n) {
    unsigned i = global_index();
    if (i >= n) return;
    unsigned x = in[i] | 1, steps = 0;
    out[i] = 77;
    while (x != 1 && steps < 200) {
        steps++;
        if (x % 97 == 5) return;
        if (x % 2 == 0) {
            x /= 2;
            continue;
        }
        x = 3 * x + 1;
        if (x > 0xf0000000u) break;
    }
    do {
        steps += 3;
    } while (steps % 7);
    out[i] = steps * 1000 + x % 1000;
}
