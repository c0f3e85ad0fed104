/* The lanes that are active in a divergent branch and in a loop they leave one after another. Where
 * lanes reconverge is the machine's choice, so only what every choice has in common is stored: the
 * mask holds the lane itself and no lane that went another way. */
#include "kernel.h"

extern "C" __global__ void activemask(const unsigned *in, unsigned *out, unsigned n) {
    unsigned i = global_index();
    if (i >= n) return;
    unsigned lane = threadIdx.x % 32, is_good = 1;
    unsigned odd_lanes = __ballot_sync(0xffffffffu, in[i] & 1);
    unsigned mine = in[i] & 1 ? odd_lanes : ~odd_lanes;
    if (in[i] & 1) {
        is_good &= (__activemask() & ~mine) == 0;
        is_good &= (__activemask() >> lane) & 1;
    }
    for (unsigned k = 0; k < in[i] % 8; k++) {
        unsigned mask = __activemask();
        is_good &= (mask >> lane) & 1;
    }
    out[i] = is_good;
}
