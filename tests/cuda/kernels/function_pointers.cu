/* Indirect calls: through a table in device memory, through one in constant memory, and through a
 * pointer passed as an argument; the targets differ between lanes. */
#include "kernel.h"

typedef unsigned (*Operation)(unsigned, unsigned);

static __device__ unsigned add(unsigned a, unsigned b) {
    return a + b;
}
static __device__ unsigned multiply(unsigned a, unsigned b) {
    return a * b;
}
static __device__ unsigned exclusive_or(unsigned a, unsigned b) {
    return a ^ b;
}
static __device__ unsigned rotate(unsigned a, unsigned b) {
    return (a << (b & 31)) | (a >> ((32 - b) & 31));
}

static __device__ Operation device_table[] = {add, multiply, exclusive_or, rotate};
static __constant__ Operation constant_table[] = {rotate, exclusive_or};

static __device__ __noinline__ unsigned twice(Operation operation, unsigned a, unsigned b) {
    return operation(operation(a, b), b);
}

extern "C" __global__ void function_pointers(const unsigned *in, unsigned *out, unsigned n) {
    unsigned i = global_index();
    if (i >= n) return;
    unsigned x = in[i];
    unsigned result = device_table[x & 3](x, i);
    result = constant_table[(x >> 2) & 1](result, x);
    out[i] = twice(device_table[(x >> 3) & 3], result, x | 1);
}
