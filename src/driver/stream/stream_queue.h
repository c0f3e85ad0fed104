/* The queues of streams. A launch stays in its stream's queue until the host depends on it: until
 * the host waits for a stream, an event or the device, copies or frees memory, or ends. Then the
 * device gets the first kernel of every queue that stream order and events allow, runs until one
 * ends, gets the next kernels, and so on. So kernels of different streams overlap in simulated
 * time. Copies, fills and events take no simulated time. They are queued behind the work that their
 * stream has left; if it has none, they are executed immediately.
 *
 * Work in the legacy default stream, and in streams that wait for it, is executed in the order of
 * submission. A process that has never created a stream has nothing that could overlap, so its
 * launches run immediately; with --serial-kernels all launches do. Work behind a wait for a word of
 * memory (stream_memory.c) is always queued. */
#ifndef TYTO_DRIVER_STREAM_STREAM_QUEUE_H
#define TYTO_DRIVER_STREAM_STREAM_QUEUE_H

#include "driver/graph/graph.h"

typedef enum StreamQueueKind {
    STREAM_QUEUE_KERNEL,   /* a launch */
    STREAM_QUEUE_WORK,     /* `work`, like that of a graph node */
    STREAM_QUEUE_EVENT,    /* a wait for item `awaited` */
    STREAM_QUEUE_LAUNCH,   /* a launch of a graph */
    STREAM_QUEUE_CALLBACK, /* a callback of cuStreamAddCallback */
    STREAM_QUEUE_FREE      /* a cuMemFreeAsync */
} StreamQueueKind;

/* A launch with its parameters. */
typedef struct QueuedKernel {
    KernelRun run;
    _Alignas(16) char area[];
} QueuedKernel;

/* A unit of work. */
typedef struct StreamQueueItem {
    StreamQueueKind kind;
    uint64_t number; /* increases with every item of any stream */
    union {
        QueuedKernel *kernel; /* owned */
        GraphWork work;       /* owned */
        BacklogPoint awaited; /* the item that records the event */
        GraphLaunch *launch;  /* owned */
        CUdeviceptr address;  /* memory to be freed */
        struct {
            CUstreamCallback function;
            CUstream stream;
            void *user;
        } callback;
    };
    CUgraphEdgeData edge; /* of a wait: the dependency of the kernel behind it (Event.edge) */
    unsigned done;        /* number of memory operations that are done */
    void *staged;         /* the data that a copy from pageable memory copies; owned, NULL: none */
    size_t staged_bytes;  /* bytes of `staged` */
    struct StreamQueueItem *next;
} StreamQueueItem;

/* ---- Submitting work ---- */

/* Whether kernels may run concurrently. */
bool stream_queue_overlaps(const Call *call);
/* Whether a launch into a stream is queued. Otherwise it runs now. */
bool stream_queue_keeps_kernels(Call *call, CUstream stream);
/* Queues a launch. If very many are queued, the device runs until there are fewer. */
BacklogPoint stream_queue_add_kernel(Call *call, CUstream stream, QueuedKernel *kernel);
/* Queues other work if the stream has work left; otherwise sets *is_taken to false, and the caller
 * must execute it immediately. Queued host functions and operations on memory are executed as soon
 * as the device can, because a thread may wait for them without calling CUDA. */
CUresult stream_queue_take(Call *call, CUstream stream, WorkGiven given, bool *is_taken);
/* Records an event in a stream, now or behind its remaining work. Other processes do not wait for
 * an interprocess event, so such an event is reached before this returns. */
CUresult stream_queue_record(Call *call, CUstream stream, Event *event, CUevent handle);
/* Queues an item for a stream; fields other than its number must be set. */
BacklogPoint stream_queue_add(Call *call, CUstream stream, StreamQueueItem item);

/* ---- Queries ---- */

/* Executes everything that takes no simulated time, and submits the kernels that may begin to the
 * device. The lock is held, except while host functions run. */
void stream_queue_advance(Call *call);
/* Whether a stream has work left. */
bool stream_queue_holds(const Call *call, CUstream stream);
/* Whether an item is not done yet. */
bool stream_queue_has(const Driver *driver, BacklogPoint point);
/* Returns CUDA_ERROR_NOT_READY while a stream, or an item, has work left. In this case the device
 * first runs until a kernel has ended, so that a program that polls makes progress. */
CUresult stream_queue_ask(Call *call, CUstream stream);
CUresult stream_queue_ask_point(Call *call, BacklogPoint point);

/* Whether the device accepts a kernel of the call's context now. */
bool stream_queue_may_begin(const Call *call);

/* ---- Waiting ---- */

/* Waits until all work is done: of a stream, of the legacy default stream and the streams that it
 * waits for, of the context, or up to an item. If nothing is left that could end a wait, this is
 * reported and stays with the context as its error. */
CUresult stream_queue_wait(Call *call, CUstream stream);
CUresult stream_queue_wait_legacy(Call *call);
CUresult stream_queue_wait_all(Call *call);
CUresult stream_queue_wait_point(Call *call, BacklogPoint point);
/* Runs the device until an item is done, or nothing can continue. */
void stream_queue_settle(Call *call, BacklogPoint point);
/* The same for all work. */
void stream_queue_drain(Call *call);

/* ---- Destruction ---- */

/* Called when a context is destroyed: executes what can be executed of its streams' work, and drops
 * the rest. */
void stream_queue_end_context(Driver *driver, Context *context);
/* Called at the end of the process: the same for all contexts. Reports work that will never be
 * done. */
void stream_queue_finish(Driver *driver);

#endif
