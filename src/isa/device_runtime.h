/* The device runtime: kernels, copies and fillings that kernels ask for (dynamic parallelism). They
 * wait in a list until the kernel's grid has ended. */
#ifndef TYTO_ISA_DEVICE_RUNTIME_H
#define TYTO_ISA_DEVICE_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum DeferredKind { DEFERRED_KERNEL, DEFERRED_COPY, DEFERRED_FILL } DeferredKind;

typedef struct Deferred {
    DeferredKind kind;
    bool is_tail;      /* comes after all that the grid and its children do */
    uint32_t function; /* a kernel, by its index in the program */
    uint32_t grid[3], block[3];
    uint32_t shared_bytes; /* dynamic, per CTA */
    uint64_t address;      /* of a kernel's parameters, in an allocation of their own; else what is
                              written */
    uint64_t source;       /* of a copy */
    uint64_t bytes;        /* of a copy or a filling */
    uint8_t value;         /* of a filling */
} Deferred;

/* A list of them. */
typedef struct DeferredList {
    Deferred *items;
    uint32_t count, capacity;
} DeferredList;

/* What one grid asks for. */
typedef struct DeviceRuntime {
    DeferredList asked;   /* in the order of the calls */
    DeferredList buffers; /* parameters of kernels that are not launched yet */
    uint64_t handles;     /* of streams and events, so far */
    uint32_t last_error;  /* a cudaError_t */
    uint32_t depth;       /* grids above this one, each launched by the one before */
    /* Does now what is asked for, so that the caller can go on with the results: false when that
     * fails, with a message and an IsaFaultCode. NULL: it cannot be done. */
    bool (*wait)(void *user, char *text, size_t size, int *code);
    void *user;
    uint64_t warp_instructions, thread_instructions; /* of children that it waited for */
} DeviceRuntime;

void deferred_add(DeferredList *list, const Deferred *deferred);
void deferred_clear(DeferredList *list);

#endif
