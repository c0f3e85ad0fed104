/* One pointer that points into global, shared, local or constant memory depending on the lane, read
 * and written by a function that cannot know which; and the questions isspacep answers. */
#include "kernel.h"

__constant__ unsigned constants[4] = {11, 22, 33, 44};

static __device__ __noinline__ unsigned total(const unsigned *words) {
    return words[0] + 3 * words[1] + 5 * words[2] + 7 * words[3];
}
static __device__ __noinline__ void add_to_all(unsigned *words, unsigned value) {
    for (unsigned k = 0; k < 4; k++)
        words[k] += value;
}
static __device__ unsigned space_of(const void *pointer) {
    unsigned space;
    asm("{ .reg .pred g, s, l; .reg .u32 t;"
        "  isspacep.global g, %1; isspacep.shared s, %1; isspacep.local l, %1;"
        "  selp.u32 %0, 1, 0, g; selp.u32 t, 2, 0, s; or.b32 %0, %0, t;"
        "  selp.u32 t, 4, 0, l; or.b32 %0, %0, t; }"
        : "=&r"(space)
        : "l"(pointer));
    return space;
}

extern "C" __global__ void generic_pointers(const unsigned *in, unsigned *out, unsigned n) {
    __shared__ unsigned shared[64][4];
    unsigned i = global_index();
    if (i >= n) return;
    unsigned local[4], *global = &out[8 * i];
    for (unsigned k = 0; k < 4; k++) {
        local[k] = in[i] + k;
        shared[threadIdx.x][k] = in[i] * (k + 1);
        global[k] = in[i] ^ k;
    }
    unsigned *places[3] = {local, shared[threadIdx.x], global};
    unsigned *place = places[in[i] % 3];
    add_to_all(place, 100);
    unsigned sum = total(place) + total(in[i] & 1 ? constants : place);
    global[4] = sum;
    global[5] = space_of(place) + 8 * space_of(&in[i]);
}
