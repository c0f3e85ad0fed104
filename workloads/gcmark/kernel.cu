/* The mark phase of a tracing garbage collector: a launch for each wave from the roots, one object
 * of the wave per thread. An object is a header word, then its references, then other data. Marks
 * are bits of a vector outside the heap. The thread that marks an object first puts it into the
 * next wave. */
#include "tyto_device.h"

enum : unsigned { NO_OBJECT = 0 };

/* Objects and references are word offsets in the heap, `marks` has a bit for each `granule` words. */
extern "C" __global__ void gcmark(const unsigned *heap, unsigned *marks, const unsigned *wave,
                                  unsigned objects, unsigned granule, unsigned *next_wave,
                                  unsigned *next_objects) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= objects) return;
    unsigned object = wave[i];
    unsigned end = object + heap[object];
    for (unsigned at = object + 1; at <= end; at++) {
        unsigned target = heap[at];
        if (target == NO_OBJECT) continue;
        unsigned place = target / granule;
        unsigned *word = &marks[place / 32], bit = 1u << place % 32;
        if (__atomic_load_n(word, __ATOMIC_RELAXED) & bit) continue; /* other threads may mark it */
        if (atomicOr(word, bit) & bit) continue;
        next_wave[atomicAdd(next_objects, 1u)] = target;
    }
}
