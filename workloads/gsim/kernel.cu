/* Simulation of a circuit of gates, one gate per thread and one launch per level; a word holds a
 * signal's value under 32 input patterns. The gates lie in the order of the netlist, so a warp's
 * gates are of many levels and kinds and read all over the circuit. */
#include "tyto_device.h"

enum Operation : unsigned { AND, OR, XOR };
enum : unsigned { OPERATION_MASK = 3, INVERTED = 4 };

extern "C" __global__ void gsim(const unsigned *levels, const unsigned *kinds,
                                const unsigned *first_wire, const unsigned *sources,
                                unsigned *signals, unsigned level, unsigned gates) {
    unsigned gate = blockIdx.x * blockDim.x + threadIdx.x;
    if (gate >= gates || levels[gate] != level) return;
    unsigned kind = kinds[gate], wire = first_wire[gate], end = first_wire[gate + 1];
    unsigned value = signals[sources[wire]];
    for (wire++; wire < end; wire++) {
        unsigned other = signals[sources[wire]];
        switch (kind & OPERATION_MASK) {
        case AND: value &= other; break;
        case OR: value |= other; break;
        default: value ^= other;
        }
    }
    signals[gate] = kind & INVERTED ? ~value : value;
}
