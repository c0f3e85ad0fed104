/* Branches inside branches inside loops, with short-circuit conditions, where every leaf leaves its
 * own mark. */
#include "kernel.h"

extern "C" __global__ void nested_divergence(const unsigned *in, unsigned *out, unsigned n) {
    unsigned i = global_index();
    if (i >= n) return;
    unsigned x = in[i], mark = 0;
    for (unsigned row = 0; row < (x & 7); row++) {
        if (x >> row & 1) {
            for (unsigned column = row; column < 8; column++) {
                if ((x >> column & 3) == 2 && (column > 4 || in[(i + column) % n] & 1)) {
                    mark = mark * 5 + column;
                    if (mark % 11 == 3) break;
                } else if (x >> (column + 8) & 1 || mark & 1) {
                    mark ^= x << column;
                } else {
                    mark += row ? in[(i + row) % n] : 1;
                }
            }
        } else {
            mark = x & 16 ? mark + 13 : mark / 3;
        }
    }
    out[i] = mark;
}
