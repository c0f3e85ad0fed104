/* A dense switch whose cases share no form, so that compilers emit an indexed branch; lanes take
 * different cases, one falls through, one leaves the loop around it. */
#include "kernel.h"

extern "C" __global__ void switch_table(const unsigned *in, unsigned *out, unsigned n) {
    unsigned i = global_index();
    if (i >= n) return;
    unsigned x = in[i], sum = 0;
    for (unsigned step = 0; step < 6; step++) {
        switch ((x >> (4 * step)) & 15) {
        case 0: sum += in[(i + 1) % n]; break;
        case 1: sum ^= x * 3; break;
        case 2: sum = (sum << 3) | (sum >> 29); break;
        case 3: sum -= x; /* falls through */
        case 4: sum += step * step; break;
        case 5: sum /= 3; break;
        case 6: sum = ~sum; break;
        case 7: sum %= 1000003; break;
        case 8: sum += __popc(sum); break;
        case 9: sum *= sum; break;
        case 10: sum = __brev(sum); break;
        case 12: step++; break;
        case 13: step = 100; break;
        default: sum++;
        }
    }
    out[i] = sum;
}
