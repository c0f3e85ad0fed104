/* Static timing analysis of a circuit, one gate per thread and one launch per level: arrival times
 * from the inputs up, then required times from the outputs down. The gates are in the order of the
 * netlist, so a warp's gates are of many levels. */
#include "tyto_device.h"

#include "../common/gate.h"
#include "delay.h"

/* The time when a gate's output is stable: its own delay after the last of its inputs. */
extern "C" __global__ void sta_arrive(const Gate *gates, const unsigned *levels, unsigned *arrivals,
                                      unsigned level, unsigned count) {
    unsigned gate = blockIdx.x * blockDim.x + threadIdx.x;
    if (gate >= count || levels[gate] != level) return;
    unsigned latest = 0, inputs = gates[gate].inputs;
#pragma unroll 1
    for (unsigned i = 0; i < inputs; i++)
        latest = max(latest, arrivals[gates[gate].input[i]]);
    arrivals[gate] = latest + delay_of(inputs, gates[gate].outputs);
}

/* The time by which it must be stable, so that the gates that read it are in time. */
extern "C" __global__ void sta_require(const Gate *gates, const unsigned *levels, int *required,
                                       unsigned level, unsigned count) {
    unsigned gate = blockIdx.x * blockDim.x + threadIdx.x;
    if (gate >= count || levels[gate] != level) return;
    int earliest = required[gate];
    unsigned outputs = gates[gate].outputs;
#pragma unroll 1
    for (unsigned i = 0; i < outputs; i++) {
        unsigned reader = gates[gate].output[i];
        int delay = (int)delay_of(gates[reader].inputs, gates[reader].outputs);
        earliest = min(earliest, required[reader] - delay);
    }
    required[gate] = earliest;
}
