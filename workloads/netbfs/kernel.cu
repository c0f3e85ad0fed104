/* One level of breadth-first search through a netlist, one gate per thread: a gate found at `level`
 * gives level + 1 to the gates that read it and have none yet. It starts at those that read none.
 * Gates that meet at another write the same value, so their order does not matter; that nothing
 * orders them is what the relaxed atomics say. */
#include "tyto_device.h"

#include "../common/gate.h"

enum : unsigned { UNREACHED = 0xffffffffu };

/* What decides whether a gate takes part is read at once, of all gates. */
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
