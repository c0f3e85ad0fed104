/* A CTA sorts 256 words in shared memory by the bitonic network. */
#include "kernel.h"

enum { WORDS = 256 };

extern "C" __global__ void bitonic_sort(const unsigned *in, unsigned *out, unsigned n) {
    __shared__ unsigned words[WORDS];
    unsigned thread = threadIdx.x, first = blockIdx.x * WORDS;
    for (unsigned k = thread; k < WORDS; k += blockDim.x)
        words[k] = in[(first + k) % n];
    for (unsigned size = 2; size <= WORDS; size *= 2) {
        for (unsigned stride = size / 2; stride > 0; stride /= 2) {
            __syncthreads();
            unsigned low = 2 * thread - (thread & (stride - 1)), high = low + stride;
            bool is_rising = (low & size) == 0;
            unsigned a = words[low], b = words[high];
            if ((a > b) == is_rising) {
                words[low] = b;
                words[high] = a;
            }
        }
    }
    __syncthreads();
    for (unsigned k = thread; k < WORDS; k += blockDim.x)
        out[first + k] = words[k];
}
