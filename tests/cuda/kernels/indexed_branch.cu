/* An indexed branch (brx.idx), which compilers emit for some dense switches only, in inline
 * assembly: lanes of a warp go four ways, and two of the ways share a target. */
#include "kernel.h"

extern "C" __global__ void indexed_branch(const unsigned *in, unsigned *out, unsigned n) {
    unsigned i = global_index();
    if (i >= n) return;
    unsigned x = in[i], result;
    asm volatile("{\n"
                 "targets: .branchtargets double_it, keep_it, negate_it, keep_it;\n"
                 "brx.idx %2, targets;\n"
                 "double_it: shl.b32 %0, %1, 1; bra.uni end_it;\n"
                 "negate_it: neg.s32 %0, %1; bra.uni end_it;\n"
                 "keep_it: mov.b32 %0, %1;\n"
                 "end_it:\n"
                 "}"
                 : "=&r"(result)
                 : "r"(x), "r"(x & 3));
    out[i] = result;
}
