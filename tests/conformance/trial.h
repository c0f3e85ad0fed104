/* A trial: one handwritten kernel, its input, and its expected output. For instructions that do
 * more than compute on registers: memory, control flow, special registers. */
#ifndef TYTO_TESTS_CONFORMANCE_TRIAL_H
#define TYTO_TESTS_CONFORMANCE_TRIAL_H

#include "harness.h"

enum { TRIAL_THREADS = 96, TRIAL_SLOTS = 1 << 16 };

/* Buffer 0 (kernel parameter in0) holds the input, buffer 1 (in1) the output. Buffer 2 (in2) holds
 * a word for each warp: the lanes that execute guarded instructions. Zeroed memory is an empty
 * trial. */
typedef struct Trial Trial;
struct Trial {
    Harness *harness;
    const char *spelling; /* the form under test */
    Text ptx;             /* the module, including the header; its kernel is k */
    Shape shape;          /* 1 CTA of TRIAL_THREADS by default */
    bool faults;          /* the launch must fail; nothing is compared */
    void (*prepare)(Trial *trial, Engine *engine); /* NULL: only the buffers are needed */
    const void *user;                              /* for prepare */
    int written;           /* number of the surface that is written, or -1; for prepare */
    const Type *type;      /* type of the slots with floating-point results; NULL: exact bits */
    const Format *element; /* packed floating-point elements; all NaNs are equal */
    int slots;             /* number of 64-bit words of the output that are compared */
    uint64_t in[TRIAL_SLOTS], expected[TRIAL_SLOTS];
    bool is_any[TRIAL_SLOTS]; /* slots that are undefined by the ISA */
};

/* Every word of the output before the kernel runs. */
#define TRIAL_UNTOUCHED UINT64_C(0xcccccccccccccccc)

Trial *trial_new(Harness *harness);
void trial_free(Trial *trial);
/* Starts a trial of another form: an empty module, random input, an empty output. */
void trial_begin(Trial *trial, const char *spelling);
/* Begins the kernel and declares common registers: .b32 tid, cta, t; .b64 in, out, at; .pred guard.
 * `variables` comes before them. */
void trial_begin_kernel(Trial *trial, const char *variables);
/* Ends the kernel, runs it on all engines and compares. Returns false if anything is wrong. */
bool trial_run(Trial *trial);
/* The same for a module that is complete. */
bool trial_run_module(Trial *trial);
/* Lanes of a warp for which the guard is true. */
uint32_t trial_mask(int warp);
static inline bool trial_guards(int thread) {
    return trial_mask(thread / FORM_LANES) >> thread % FORM_LANES & 1;
}

/* Tests that consist of trials. */
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
