/* Random combinational circuits, for the workloads that time, simulate or search one. */
#ifndef TYTO_WORKLOAD_CIRCUIT_H
#define TYTO_WORKLOAD_CIRCUIT_H

#include "gate.h"
#include "workload.h"

typedef struct Circuit {
    uint32_t gates;  /* count, the circuit's own inputs among them */
    uint32_t levels; /* count */
    uint32_t *level; /* of each gate: one more than that of the gates it reads; 0: it reads none */
    Gate *gate;      /* in the order of the netlist, which says nothing of their levels */
} Circuit;

/* Gates of random levels. One above level 0 reads 1 to GATE_PINS of the level below, near
 * it in the netlist where there are any with a pin free. There are no more levels than gates,
 * whatever `levels` says. */
Circuit circuit_generate(Workload *workload, uint32_t gates, uint32_t levels);

#endif
