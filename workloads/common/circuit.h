/* Random combinational circuits, for the workloads that time, simulate or search one. */
#ifndef TYTO_WORKLOAD_CIRCUIT_H
#define TYTO_WORKLOAD_CIRCUIT_H

#include "gate.h"
#include "workload.h"

typedef struct Circuit {
    uint32_t gates;  /* count, including the circuit's own inputs */
    uint32_t levels; /* count */
    uint32_t
        *level; /* of each gate: one more than that of the gates that it reads; 0: it reads none */
    Gate *gate; /* in the order of the netlist, which is unrelated to their levels */
} Circuit;

/* Makes gates of random levels. A gate above level 0 reads 1 to GATE_PINS gates of the level below,
 * near it in the netlist if there are any with a free pin. There are at most as many levels as
 * gates, even if `levels` is larger. */
Circuit circuit_generate(Workload *workload, uint32_t gates, uint32_t levels);

#endif
