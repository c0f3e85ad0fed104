/* The connections of a gate in a netlist, in memory for the kernels and the host: a record of 10
 * words. */
#ifndef TYTO_WORKLOAD_GATE_H
#define TYTO_WORKLOAD_GATE_H

enum { GATE_PINS = 4 }; /* most inputs of a gate, and most gates that read it */

typedef struct Gate {
    unsigned inputs;            /* count; 0 for the circuit's own inputs */
    unsigned input[GATE_PINS];  /* the gates that it reads */
    unsigned outputs;           /* count */
    unsigned output[GATE_PINS]; /* the gates that read it */
} Gate;

#endif
