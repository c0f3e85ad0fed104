/* How a gate of a netlist is wired, as it lies in memory for the kernels and for the host: a record
 * of 10 words. */
#ifndef TYTO_WORKLOAD_GATE_H
#define TYTO_WORKLOAD_GATE_H

enum { GATE_PINS = 4 }; /* inputs of a gate at most, and gates that read it */

typedef struct Gate {
    unsigned inputs;            /* count; none where the circuit's own inputs come in */
    unsigned input[GATE_PINS];  /* the gates that it reads */
    unsigned outputs;           /* count */
    unsigned output[GATE_PINS]; /* the gates that read it */
} Gate;

#endif
