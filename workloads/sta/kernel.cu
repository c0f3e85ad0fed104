/* Static timing analysis of a circuit, one gate per thread and one launch per level: arrival times
 * from the inputs up, then required times from the outputs down. The gates lie in the order of the
 * netlist, so a warp's gates are of many levels and read all over the circuit. */
#include "tyto_device.h"

/* When a gate's output is stable: its own delay after the last of its inputs. */
extern "C" __global__ void sta_arrive(const unsigned *levels, const unsigned *first_wire,
                                      const unsigned *sources, const unsigned *wire_delays,
                                      const unsigned *gate_delays, unsigned *arrivals,
                                      unsigned level, unsigned gates) {
    unsigned gate = blockIdx.x * blockDim.x + threadIdx.x;
    if (gate >= gates || levels[gate] != level) return;
    unsigned latest = 0, end = first_wire[gate + 1];
    for (unsigned wire = first_wire[gate]; wire < end; wire++)
        latest = max(latest, arrivals[sources[wire]] + wire_delays[wire]);
    arrivals[gate] = latest + gate_delays[gate];
}

/* By when the gates that this one reads have to be stable. */
extern "C" __global__ void sta_require(const unsigned *levels, const unsigned *first_wire,
                                       const unsigned *sources, const unsigned *wire_delays,
                                       const unsigned *gate_delays, int *required, unsigned level,
                                       unsigned gates) {
    unsigned gate = blockIdx.x * blockDim.x + threadIdx.x;
    if (gate >= gates || levels[gate] != level) return;
    int own = required[gate] - (int)gate_delays[gate];
    unsigned end = first_wire[gate + 1];
    for (unsigned wire = first_wire[gate]; wire < end; wire++)
        atomicMin(&required[sources[wire]], own - (int)wire_delays[wire]);
}
