/* Small valid kernels, generated from bytes. Each runs with the same result in timed runs, on any
 * machine under any policy, and functionally. Threads write their own places, all meet at barriers,
 * and they add to common sums whose order does not matter, so there is one correct result. Any
 * bytes make a kernel; few bytes make a short one. */
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

/* It depends only on the bytes. */
typedef struct MadeKernel {
    Text ptx;             /* owned; kernel `k` takes the addresses of inputs, outputs and sums */
    uint32_t grid, block; /* thread blocks, threads */
    uint32_t choice;      /* for the caller: selects machine and policies */
} MadeKernel;

MadeKernel kernel_make(const uint8_t *bytes, size_t size);
void kernel_free(MadeKernel *kernel);

/* The result of a run of a generated kernel. The caller owns it and frees it with outcome_free. */
typedef struct Outcome {
    int status;                   /* TytoStatus of creating the simulator, loading or launching */
    char *message;                /* if the status is not TYTO_OK */
    uint32_t *words;              /* outputs of all threads, then sums */
    size_t count;                 /* number of words */
    uint64_t thread_instructions; /* of the PTX; 0 if machine code ran */
} Outcome;

/* Runs the kernel in a simulator with these options (names and values in turn). */
Outcome kernel_run(const MadeKernel *kernel, int count, const char *const *options);
void outcome_free(Outcome *outcome);
/* Whether two runs had the same result. */
int outcome_is_same(const Outcome *one, const Outcome *other);

#endif
