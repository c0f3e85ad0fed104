/* What a gate's output takes to follow its inputs, for the kernels and for the host. */
#ifndef TYTO_WORKLOAD_DELAY_H
#define TYTO_WORKLOAD_DELAY_H

#if defined __CUDA__ || defined __CUDACC__
#define ON_BOTH static __device__
#else
#define ON_BOTH static
#endif

enum { DELAY_OF_INPUT = 17, DELAY_OF_OUTPUT = 9 }; /* each in picoseconds */

/* Inputs are transistors in a row, and each gate that reads this one loads its output. */
ON_BOTH unsigned delay_of(unsigned inputs, unsigned outputs) {
    return DELAY_OF_INPUT * inputs + DELAY_OF_OUTPUT * outputs;
}

#undef ON_BOTH

#endif
