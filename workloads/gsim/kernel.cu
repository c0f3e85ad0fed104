/* Simulation of a circuit of gates, one gate per thread and one launch per level; three words hold
 * a signal's value under 96 input patterns. The gates are in the order of the netlist, so a warp's
 * gates are of many levels and kinds. */
#include "tyto_device.h"

#include "../common/gate.h"

enum Operation : unsigned { AND, OR, XOR };
enum : unsigned { OPERATION_MASK = 3, INVERTED = 4 };

struct Signal {
    unsigned x, y, z;
};

static __device__ unsigned combine(unsigned kind, unsigned a, unsigned b) {
    switch (kind & OPERATION_MASK) {
    case AND: return a & b;
    case OR: return a | b;
    default: return a ^ b;
    }
}

/* The inputs of the circuit, at level 0, already have their signals. */
extern "C" __global__ void gsim(const Gate *gates, const unsigned *levels, const unsigned *kinds,
                                Signal *signals, unsigned level, unsigned count) {
    unsigned gate = blockIdx.x * blockDim.x + threadIdx.x;
    if (gate >= count || levels[gate] != level) return;
    unsigned kind = kinds[gate], inputs = gates[gate].inputs;
    Signal value = signals[gates[gate].input[0]];
#pragma unroll 1
    for (unsigned i = 1; i < inputs; i++) {
        Signal other = signals[gates[gate].input[i]];
        value.x = combine(kind, value.x, other.x);
        value.y = combine(kind, value.y, other.y);
        value.z = combine(kind, value.z, other.z);
    }
    unsigned inverted = kind & INVERTED ? 0xffffffffu : 0;
    signals[gate] = {value.x ^ inverted, value.y ^ inverted, value.z ^ inverted};
}
