/* The device heap: malloc and free, new and delete of objects with constructors, and a list that
 * one thread builds and another frees. */
#include "kernel.h"

struct Link {
    unsigned value;
    Link *next;
    __device__ Link(unsigned value, Link *next) : value(value), next(next) {}
};

extern "C" __global__ void device_heap(const unsigned *in, unsigned *out, unsigned n) {
    __shared__ Link *lists[64];
    unsigned thread = threadIdx.x, i = global_index();
    if (i >= n) return;
    unsigned count = in[i] % 9 + 1;
    unsigned *scratch = (unsigned *)malloc(count * sizeof(unsigned));
    if (!scratch) return;
    for (unsigned k = 0; k < count; k++)
        scratch[k] = in[(i + k) % n];
    Link *list = nullptr;
    for (unsigned k = 0; k < count; k++)
        list = new Link(scratch[k], list);
    free(scratch);
    lists[thread] = list;
    __syncthreads();
    unsigned sum = 0;
    for (Link *link = lists[(thread + 1) % 64]; link;) {
        Link *next = link->next;
        sum = sum * 31 + link->value;
        delete link;
        link = next;
    }
    out[i] = sum;
}
