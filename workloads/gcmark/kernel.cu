/* The mark phase of a tracing garbage collector: a launch for each wave from the roots, one object
 * of the wave per thread. An object is a header word, then its references, then other data. The
 * thread that marks an object first puts it into the next wave. */
#include "tyto_device.h"

enum : unsigned { REFERENCES_MASK = 0xff, MARKED = 0x80000000u, NO_OBJECT = 0 };

/* Objects and references are word offsets in the heap. */
extern "C" __global__ void gcmark(unsigned *heap, const unsigned *wave, unsigned objects,
                                  unsigned *next_wave, unsigned *next_objects) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= objects) return;
    unsigned object = wave[i];
    unsigned end = object + (heap[object] & REFERENCES_MASK);
    for (unsigned at = object + 1; at <= end; at++) {
        unsigned target = heap[at];
        if (target == NO_OBJECT) continue;
        if (__atomic_load_n(&heap[target], __ATOMIC_RELAXED) & MARKED) continue; /* others mark it */
        if (atomicOr(&heap[target], MARKED) & MARKED) continue;
        next_wave[atomicAdd(next_objects, 1u)] = target;
    }
}
