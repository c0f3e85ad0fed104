/* Module variables initialised with addresses: of other variables, of elements inside arrays, of
 * constants, of a variable defined later, and a linked list through all of them. */
#include "kernel.h"

struct Node {
    int value;
    Node *next;
};

extern __device__ Node list_end;
__device__ Node list_middle = {20, &list_end};
__device__ Node list_start = {1, &list_middle};
__device__ Node list_end = {300, nullptr};

__device__ int numbers[6] = {10, 11, 12, 13, 14, 15};
__device__ int *third = &numbers[2];
__device__ int *const ends[2] = {numbers, numbers + 5};
__constant__ int fixed[3] = {7, 8, 9};
__device__ const int *into_constant = fixed + 1;
__device__ int scratch[64];

extern "C" __global__ void global_pointers(const unsigned *in, int *out, unsigned n) {
    unsigned i = global_index();
    if (i >= n) return;
    const Node *node = &list_start;
    int sum = 0;
    for (unsigned k = 0; node && k < in[i] % 5; k++, node = node->next)
        sum += node->value;
    scratch[i % 64] = (int)(i % 64);
    sum += *third + third[1] + *ends[in[i] & 1] + *into_constant + fixed[in[i] % 3];
    out[i] = sum + scratch[i % 64];
}
