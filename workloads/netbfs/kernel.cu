/* One level of breadth-first search through a netlist, one gate per thread: a gate of `level` gives
 * level + 1 to the gates that read it and have no level. The search starts at the gates that read
 * no other gate. Gates that meet at another one write the same value, so their order does not
 * matter; they use relaxed atomics because they are unordered. */
#include "tyto_device.h"

#include "../common/gate.h"

enum : unsigned { UNREACHED = 0xffffffffu };

/* Reads for all gates at once the values that decide whether a gate takes part. */
extern "C" __global__ void netbfs(const Gate *gates, unsigned *levels, unsigned level,
                                  unsigned count) {
    unsigned gate = blockIdx.x * blockDim.x + threadIdx.x;
    if (gate >= count) return;
    unsigned own = __atomic_load_n(&levels[gate], __ATOMIC_RELAXED);
    unsigned inputs = gates[gate].inputs, outputs = gates[gate].outputs;
    if (((inputs ? own : 0) != level) | (outputs == 0)) return;
#pragma unroll 1
    for (unsigned i = 0; i < outputs; i++) {
        unsigned reader = gates[gate].output[i];
        if (__atomic_load_n(&levels[reader], __ATOMIC_RELAXED) == UNREACHED)
            __atomic_store_n(&levels[reader], level + 1, __ATOMIC_RELAXED);
    }
}
