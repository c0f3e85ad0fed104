/* A whole SM on the bench of stage.c: a kernel of a few lines of PTX, and requests that are
 * answered after a fixed time. */
#ifndef TYTO_TESTS_SM_SM_BENCH_H
#define TYTO_TESTS_SM_SM_BENCH_H

#include "sm/core.h"
#include "sm/sm.h"
#include "stage.h"

enum { ANSWER = 40 /* cycles from the time when a request leaves the network to its answer */ };

typedef struct Bench {
    Stage *stage;
    Sm *sm;
    SmGrid *grid;
    WarpProgram rows;
    PtxModule *module;
    IsaProgram *program;
    IsaLaunch launch;
    DeviceMemory *memory;
    uint64_t buffer;
    SmOp *ops;
    void *core_rows;
    uint8_t parameters[128];
    uint64_t cycle;
    uint64_t steps;    /* cycles in which the SM was stepped */
    uint64_t ended_at; /* cycle in which the last CTA ended */
    uint64_t acked_at; /* cycle in which the last reply was sent */
    uint64_t waited;   /* the result of sm_memory_cycles at that end */
    uint32_t ends, requests;
    uint32_t waiting; /* requests not answered yet */
    struct {
        uint64_t due;
        MemRequest *request;
    } queue[256];
} Bench;

/* Creates an SM with this core (NULL: the machine's) for a kernel of these lines, which may use
 * %r0..%r31, %f0.., %d0.. and %p0..; %d0 is the address of a buffer. */
Bench *bench_new(const char *settings, uint32_t warps, const char *lines, bool never_sleeps,
                 const SmCore *core);
/* Begins the kernel's grid with instructions from this source of its rows; NULL: from the PTX. */
void bench_begin(Bench *bench, WarpSource *source);
/* Sets how the instructions must be issued; call it before bench_begin. */
void bench_set_controls(Bench *bench, const IsaControl *controls);
void bench_stop(Bench *bench);
/* Runs one cycle: requests that have waited long enough are answered. */
void bench_cycle(Bench *bench);
/* Runs `ctas` CTAs to their end and until all requests are answered. */
void bench_run(Bench *bench, uint32_t ctas);

#endif
