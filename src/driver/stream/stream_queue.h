/* The queues of streams. A launch is kept in its stream's queue until the host has to know of it:
 * it waits for a stream, an event or the device, copies memory, frees it, ends. Then the device
 * gets the first kernel of every queue that stream order and events allow, runs until one ends,
 * gets what comes next, and so on: kernels of different streams overlap in simulated time. Copies,
 * fillings and events take no simulated time; they are kept behind what their stream has left to
 * do, and are done at once when that is nothing.
 *
 * Work in the legacy default stream and in streams that wait for it is done in the order in which
 * it was given. A process that has never had another stream has nothing that could overlap: its
 * launches run when they are given, and so do all with --serial-kernels. Work behind a wait for a
 * word of memory (stream_memory.c) is kept in any case. */
#ifndef TYTO_DRIVER_STREAM_STREAM_QUEUE_H
#define TYTO_DRIVER_STREAM_STREAM_QUEUE_H

#include "driver/graph/graph.h"

typedef enum StreamQueueKind {
    STREAM_QUEUE_KERNEL,   /* a launch */
    STREAM_QUEUE_WORK,     /* `work`, as in a graph's node */
    STREAM_QUEUE_EVENT,    /* a wait for item `awaited` */
    STREAM_QUEUE_LAUNCH,   /* of a graph */
    STREAM_QUEUE_CALLBACK, /* of cuStreamAddCallback */
    STREAM_QUEUE_FREE      /* of cuMemFreeAsync */
} StreamQueueKind;

/* A launch with its parameters. */
typedef struct QueuedKernel {
    KernelRun run;
    _Alignas(16) char area[];
} QueuedKernel;

/* Something to be done. */
typedef struct StreamQueueItem {
    StreamQueueKind kind;
    uint64_t number; /* rises with every item of any stream */
    union {
        QueuedKernel *kernel; /* owned */
        GraphWork work;       /* owned */
        BacklogPoint awaited; /* that records an event */
        GraphLaunch *launch;  /* owned */
        CUdeviceptr address;  /* to be freed */
        struct {
            CUstreamCallback function;
            CUstream stream;
            void *user;
        } callback;
    };
    unsigned done;       /* of memory operations */
    void *staged;        /* what a copy from pageable memory copies; owned, NULL: none */
    size_t staged_bytes; /* of it */
    struct StreamQueueItem *next;
} StreamQueueItem;

/* ---- Giving work ---- */

/* Whether kernels may run next to each other. */
bool stream_queue_overlaps(const Call *call);
/* Whether a launch into a stream is kept in its queue; else it runs now. */
bool stream_queue_keeps_kernels(Call *call, CUstream stream);
/* Keeps a launch. When very many are kept, the device runs until there are fewer. */
void stream_queue_add_kernel(Call *call, CUstream stream, QueuedKernel *kernel);
/* Keeps other work when the stream has something left to do; *is_taken is false for what is to be
 * done at once. Host functions and operations on memory are done as soon as the device can, since
 * somebody may wait for them without asking. */
CUresult stream_queue_take(Call *call, CUstream stream, WorkGiven given, bool *is_taken);
/* Records an event in a stream, now or behind what that has left to do. Other processes do not wait
 * for an event of theirs, so that is done before this returns. */
CUresult stream_queue_record(Call *call, CUstream stream, Event *event, CUevent handle);
/* An item for a stream, whose other fields are given. */
BacklogPoint stream_queue_add(Call *call, CUstream stream, StreamQueueItem item);

/* ---- What calls ask ---- */

/* Does all that takes no simulated time, and gives the device the kernels that may begin. The lock
 * is held, but while host functions run. */
void stream_queue_advance(Call *call);
/* Whether a stream has something left to do. */
bool stream_queue_holds(const Call *call, CUstream stream);
/* Whether an item is still to be done. */
bool stream_queue_has(const Driver *driver, BacklogPoint point);
/* CUDA_ERROR_NOT_READY while a stream, or an item, has something left to do. In this case the
 * device first runs until a kernel has ended, so that a program that asks repeatedly makes
 * progress. */
CUresult stream_queue_ask(Call *call, CUstream stream);
CUresult stream_queue_ask_point(Call *call, BacklogPoint point);

/* Whether the device takes a kernel of the call's context now. */
bool stream_queue_may_begin(const Call *call);

/* ---- Waiting ---- */

/* Waits until all work is done that was given to a stream, to the legacy default stream and those
 * that it waits for, or in the context; or up to an item. When nothing is left that could end a
 * wait, this is reported, and stays with the context as its error. */
CUresult stream_queue_wait(Call *call, CUstream stream);
CUresult stream_queue_wait_legacy(Call *call);
CUresult stream_queue_wait_all(Call *call);
CUresult stream_queue_wait_point(Call *call, BacklogPoint point);
/* Runs the device until an item is done, or nothing can go on. */
void stream_queue_settle(Call *call, BacklogPoint point);
/* The same for all work. */
void stream_queue_drain(Call *call);

/* ---- Ends ---- */

/* A context ends: does what can be done of its streams' work, and drops the rest. */
void stream_queue_end_context(Driver *driver, Context *context);
/* The process ends: the same for all contexts; says what will never be done. */
void stream_queue_finish(Driver *driver);

#endif
