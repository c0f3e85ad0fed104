/* Random combinational circuits, for the workloads that time or simulate one. */
#ifndef TYTO_WORKLOAD_CIRCUIT_H
#define TYTO_WORKLOAD_CIRCUIT_H

#include "workload.h"

enum { CIRCUIT_MOST_INPUTS = 4 }; /* of a gate */

typedef struct Circuit {
    uint32_t gates;       /* count, the circuit's own inputs among them */
    uint32_t levels;      /* count */
    uint32_t wires;       /* count */
    uint32_t *level;      /* of each gate: one more than the highest that it reads; 0: an input */
    uint32_t *first_wire; /* of each gate, and the count of wires at the end */
    uint32_t *sources;    /* the gate at the other end of each wire */
} Circuit;

/* Gates of random levels in random order, as in a netlist. One above level 0 reads 1 to
 * CIRCUIT_MOST_INPUTS others: the first from the level below it, the rest from any below. There
 * are no more levels than gates, whatever `levels` says. */
Circuit circuit_generate(Workload *workload, uint32_t gates, uint32_t levels);

#endif
