/* The device runtime: kernels, copies and fills that kernels request (dynamic parallelism). They
 * are in a list until the kernel's grid has ended. */
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
    bool is_tail;      /* runs after everything that the grid and its children do */
    uint32_t function; /* for a kernel: its index in the program */
    uint32_t grid[3], block[3];
    uint32_t shared_bytes; /* dynamic, per CTA */
    uint64_t parameters;   /* for a kernel: address of an allocation of its own */
    DeferredBox to, from;  /* destination; source of a copy */
    uint64_t bytes;        /* per row that is copied or filled */
    uint64_t rows, slices; /* rows per slice, and slices */
    uint8_t value;         /* for a fill */
} Deferred;

/* A list of requests. */
typedef struct DeferredList {
    Deferred *items;
    uint32_t count, capacity;
} DeferredList;

/* The host's answers to kernels' queries about the device. Each function except the last returns a
 * cudaError_t. */
typedef struct DeviceQueries {
    uint32_t (*attribute)(void *user, int attribute, int *value);
    uint32_t (*limit)(void *user, int limit, uint64_t *value);
    /* Preferences: a cudaFuncCache and a cudaSharedMemConfig. */
    void (*preferences)(void *user, int *cache, int *banks);
    /* For a kernel of the running program, by its index: the bytes of a cudaFuncAttributes ... */
    uint32_t (*function)(void *user, uint32_t function, void *attributes);
    /* ... and the number of CTAs of `threads` threads that an SM holds. */
    uint32_t (*occupancy)(void *user, uint32_t function, uint32_t threads, uint32_t shared_bytes,
                          int *ctas);
    const char *(*error_text)(uint32_t error, bool is_name);
    int version; /* version of the runtime */
} DeviceQueries;

enum {
    DEVICE_FUNCTION_BYTES = 144, /* of a cudaFuncAttributes */
    DEVICE_DEPTH_MAX = 24        /* nesting of grids that launch grids, including the first one */
};

/* The requests of one grid. */
typedef struct DeviceRuntime {
    DeferredList asked;   /* in the order of the calls */
    DeferredList buffers; /* parameters of kernels that have not been launched yet */
    uint64_t handles;     /* number of streams and events created so far */
    uint32_t last_error;  /* a cudaError_t */
    uint32_t depth;       /* number of ancestors: each launched the next one */
    uint64_t clock_ahead; /* difference between the clocks of this grid and its context's cycle */
    /* Executes the requests now, at this time of the grid's clocks, so that the caller can use the
     * results. Returns false after an error, with a message and an IsaFaultCode. NULL: not
     * supported. */
    bool (*wait)(void *user, uint64_t clock, char *text, size_t size, int *code);
    /* Device address of a copy of the text that is kept; 0: no room. */
    uint64_t (*keep_text)(void *user, const char *text);
    const DeviceQueries *answers; /* NULL: queries are not answered */
    void *user;                   /* argument of wait and keep_text */
    void *asker;                  /* argument of the answers */
} DeviceRuntime;

void deferred_add(DeferredList *list, const Deferred *deferred);
void deferred_clear(DeferredList *list);

#endif
