/* The device runtime: kernels, copies and fillings that kernels ask for (dynamic parallelism). They
 * wait in a list until the kernel's grid has ended. */
#ifndef TYTO_ISA_RUNTIME_DEVICE_RUNTIME_H
#define TYTO_ISA_RUNTIME_DEVICE_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A box of bytes in memory: `pitch` bytes from one row to the next, `slice_pitch` bytes from one
 * slice of rows to the next. */
typedef struct DeferredBox {
    uint64_t address, pitch, slice_pitch;
} DeferredBox;

typedef enum DeferredKind { DEFERRED_KERNEL, DEFERRED_COPY, DEFERRED_FILL } DeferredKind;

typedef struct Deferred {
    DeferredKind kind;
    bool is_tail;      /* comes after all that the grid and its children do */
    uint32_t function; /* a kernel, by its index in the program */
    uint32_t grid[3], block[3];
    uint32_t shared_bytes; /* dynamic, per CTA */
    uint64_t parameters;   /* of a kernel: address of an allocation of their own */
    DeferredBox to, from;  /* what is written; the source of a copy */
    uint64_t bytes;        /* of a row that is copied or filled, ... */
    uint64_t rows, slices; /* ... of the rows of a slice, and of slices */
    uint8_t value;         /* of a filling */
} Deferred;

/* A list of them. */
typedef struct DeferredList {
    Deferred *items;
    uint32_t count, capacity;
} DeferredList;

/* The host side's answers to kernels' questions about the device: each but the last gives a
 * cudaError_t. */
typedef struct DeviceQueries {
    uint32_t (*attribute)(void *user, int attribute, int *value);
    uint32_t (*limit)(void *user, int limit, uint64_t *value);
    /* Preferences: which is a cudaFuncCache or a cudaSharedMemConfig. */
    void (*preferences)(void *user, int *cache, int *banks);
    /* A kernel of the program that runs, by its index: the bytes of a cudaFuncAttributes ... */
    uint32_t (*function)(void *user, uint32_t function, void *attributes);
    /* ... and CTAs of `threads` that an SM holds. */
    uint32_t (*occupancy)(void *user, uint32_t function, uint32_t threads, uint32_t shared_bytes,
                          int *ctas);
    const char *(*error_text)(uint32_t error, bool is_name);
    int version; /* of the runtime */
} DeviceQueries;

enum {
    DEVICE_FUNCTION_BYTES = 144, /* of a cudaFuncAttributes */
    DEVICE_DEPTH_MAX = 24        /* of grids that launch grids, the first one included */
};

/* What one grid asks for. */
typedef struct DeviceRuntime {
    DeferredList asked;   /* in the order of the calls */
    DeferredList buffers; /* parameters of kernels that are not launched yet */
    uint64_t handles;     /* of streams and events, so far */
    uint32_t last_error;  /* a cudaError_t */
    uint32_t depth;       /* grids above this one, each launched by the one before */
    uint64_t clock_ahead; /* that the clocks of this grid tell more than its context's cycle */
    /* Does now what is asked for, so that the caller can go on with the results, at this time of
     * its clocks: false when that fails, with a message and an IsaFaultCode. NULL: it cannot be
     * done. */
    bool (*wait)(void *user, uint64_t clock, char *text, size_t size, int *code);
    /* Device address of a text that stays, 0: there is no room. */
    uint64_t (*keep_text)(void *user, const char *text);
    const DeviceQueries *answers; /* NULL: no answers */
    void *user;                   /* of wait and keep_text */
    void *asker;                  /* of the answers */
} DeviceRuntime;

void deferred_add(DeferredList *list, const Deferred *deferred);
void deferred_clear(DeferredList *list);

#endif
