/* A trial: one hand-made kernel, what it reads, and what it has to write. For instructions that do
 * more than compute on registers: memory, control flow, special registers. */
#ifndef TYTO_TESTS_CONFORMANCE_TRIAL_H
#define TYTO_TESTS_CONFORMANCE_TRIAL_H

#include "harness.h"

enum { TRIAL_THREADS = 96, TRIAL_SLOTS = 1 << 16 };

/* Buffer 0 (kernel parameter in0) holds the input, buffer 1 (in1) the output, buffer 2 (in2) a word
 * for each warp: the lanes that execute what is guarded. Zeroed memory is an empty trial. */
typedef struct Trial Trial;
struct Trial {
    Harness *harness;
    const char *spelling; /* of the form under test */
    Text ptx;             /* the module, from the header on; its kernel is k */
    Shape shape;          /* 1 CTA of TRIAL_THREADS to begin with */
    bool faults;          /* the launch must fail; nothing is compared */
    void (*prepare)(Trial *trial, Engine *engine); /* NULL: no more than the buffers */
    const void *user;                              /* for prepare */
    int written;           /* number of the surface that is written, -1: none; for prepare */
    const Type *type;      /* of the slots that hold floating-point results; NULL: exact bits */
    const Format *element; /* floating-point elements side by side, whatever NaN they are */
    int slots;             /* 64-bit words of the output that are compared */
    uint64_t in[TRIAL_SLOTS], expected[TRIAL_SLOTS];
    bool is_any[TRIAL_SLOTS]; /* slots that the ISA leaves open */
};

/* What every word of the output is before the kernel runs. */
#define TRIAL_UNTOUCHED UINT64_C(0xcccccccccccccccc)

Trial *trial_new(Harness *harness);
void trial_free(Trial *trial);
/* Starts over for another form: an empty module, random input, an output without writes. */
void trial_begin(Trial *trial, const char *spelling);
/* Begins the kernel with the registers that most need: .b32 tid, cta, t; .b64 in, out, at;
 * .pred guard. `variables` stand before it. */
void trial_begin_kernel(Trial *trial, const char *variables);
/* Ends the kernel, runs it everywhere and compares; false when something was wrong. */
bool trial_run(Trial *trial);
/* The same with a module that is complete. */
bool trial_run_module(Trial *trial);
/* Lanes of a warp for which the guard is true. */
uint32_t trial_mask(int warp);
static inline bool trial_guards(int thread) {
    return trial_mask(thread / FORM_LANES) >> thread % FORM_LANES & 1;
}

/* The tests that are made of trials. */
void matrix_run(Harness *harness);
void async_run(Harness *harness);
void bulk_run(Harness *harness);
void memory_run(Harness *harness);
void atomics_run(Harness *harness);
void address_run(Harness *harness);
void control_run(Harness *harness);
void registers_run(Harness *harness);
void texture_run(Harness *harness);
void surface_run(Harness *harness);
void warpgroup_run(Harness *harness);
void wide_run(Harness *harness);

#endif
