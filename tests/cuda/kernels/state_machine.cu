/* Control flow by goto that no structured loop expresses: the loop has two entries. */
#include "kernel.h"

extern "C" __global__ void state_machine(const unsigned *in, unsigned *out, unsigned n) {
    unsigned i = global_index();
    if (i >= n) return;
    unsigned x = in[i], steps = 0, sum = 0;
    if (x & 1) goto odd;
even:
    sum += x >> 3;
    x = x / 2 + 7;
    if (++steps > 20) goto done;
    if (x & 2) goto even;
odd:
    sum ^= x * 5;
    x = x * 3 + 1;
    if (++steps > 25) goto done;
    if (x & 4) goto odd;
    goto even;
done:
    out[i] = sum + steps;
}
