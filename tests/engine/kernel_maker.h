/* Small valid kernels, drawn from bytes: what runs the same, timed on any machine under any policy
 * and functionally. Threads write places of their own, meet at barriers in all, and add to common
 * sums whose order does not matter, so that there is one right result. Any bytes make a kernel; few
 * bytes make a short one. */
#ifndef TESTS_GPU_KERNEL_MAKER_H
#define TESTS_GPU_KERNEL_MAKER_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

enum {
    MADE_INPUTS = 256, /* words that the kernel reads */
    MADE_OUTPUTS = 16, /* words that each thread writes */
    MADE_SUMS = 16,    /* words that all threads add to */
    MADE_PARAMETERS = 3
};

/* Made of its bytes alone. */
typedef struct MadeKernel {
    Text ptx; /* its kernel `k` takes the addresses of inputs, outputs and sums; owned */
    uint32_t grid, block; /* thread blocks, threads */
    uint32_t choice;      /* for the caller: which machine, which policies */
} MadeKernel;

MadeKernel kernel_make(const uint8_t *bytes, size_t size);
void kernel_free(MadeKernel *kernel);

/* What a run of a made kernel leaves; owned by the caller, freed with outcome_free. */
typedef struct Outcome {
    int status;                   /* TytoStatus; of making the simulator, loading or launching */
    char *message;                /* when it is not TYTO_OK */
    uint32_t *words;              /* outputs of all threads, then sums */
    size_t count;                 /* of words */
    uint64_t thread_instructions; /* of the PTX; 0: machine code was run */
} Outcome;

/* Runs the kernel in a simulator with these options (names and values in turn). */
Outcome kernel_run(const MadeKernel *kernel, int count, const char *const *options);
void outcome_free(Outcome *outcome);
/* Whether two runs left the same. */
int outcome_is_same(const Outcome *one, const Outcome *other);

#endif
