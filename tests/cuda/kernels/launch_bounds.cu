/* Launch bounds, and registers that name a thread's place: lane, warp, lane masks, sizes. */
#include "kernel.h"

static __device__ unsigned lane_masks() {
    unsigned eq, lt, le, gt, ge;
    asm("mov.u32 %0, %%lanemask_eq;" : "=r"(eq));
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lt));
    asm("mov.u32 %0, %%lanemask_le;" : "=r"(le));
    asm("mov.u32 %0, %%lanemask_gt;" : "=r"(gt));
    asm("mov.u32 %0, %%lanemask_ge;" : "=r"(ge));
    return (eq ^ lt ^ le) + 3 * gt + 5 * ge;
}

extern "C" __global__ void __launch_bounds__(128, 2)
    launch_bounds(const unsigned *in, unsigned *out, unsigned n) {
    unsigned i = global_index(), lane;
    if (i >= n) return;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    unsigned *row = out + 4 * i;
    row[0] = lane + 100 * (unsigned)warpSize;
    row[1] = lane_masks();
    row[2] = in[i] + blockDim.x + 1000 * gridDim.x + 1000000 * (blockDim.y + gridDim.z);
    row[3] = (threadIdx.x / 32) * 32 + lane == threadIdx.x;
}
