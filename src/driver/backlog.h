/* Streams that wait. Work is done when it is given, but for what comes behind a wait that is not
 * over: a word of memory that has not the value yet (stream_memory.c), or an event behind such a
 * wait. It is kept in order, for each stream, and done as soon as the wait is over, which every
 * call about streams looks for. Work in the legacy default stream and in streams that wait for it
 * is kept in the order in which it was given. */
#ifndef TYTO_DRIVER_BACKLOG_H
#define TYTO_DRIVER_BACKLOG_H

#include "driver/graph.h"

/* The words of memory operations are in the union, so that they can be told from others. */
typedef enum BacklogKind {
    BACKLOG_WORK,     /* `work`, as in a graph's node */
    BACKLOG_EVENT,    /* a wait for item `awaited` */
    BACKLOG_LAUNCH,   /* of a graph */
    BACKLOG_CALLBACK, /* of cuStreamAddCallback */
    BACKLOG_FREE      /* of cuMemFreeAsync */
} BacklogKind;

/* Something to be done. */
typedef struct BacklogItem {
    BacklogKind kind;
    uint64_t number; /* rises with every item of any stream */
    union {
        GraphWork work;      /* owned */
        uint64_t awaited;    /* number of an item, that records an event */
        GraphLaunch *launch; /* owned */
        CUdeviceptr address; /* to be freed */
        struct {
            CUstreamCallback function;
            CUstream stream;
            void *user;
        } callback;
    };
    unsigned done; /* of memory operations */
    void *staged;  /* what a copy from pageable memory copies; owned, NULL: none */
    struct BacklogItem *next;
} BacklogItem;

/* ---- What calls ask ---- */

/* Does all that can be done now. The lock is held, but while host functions run. */
void backlog_advance(Call *call);
/* Whether work that is given to a stream now must wait. */
bool backlog_holds(const Call *call, CUstream stream);
/* Whether the item of a number, of an event, is still to be done; 0 is none. */
bool backlog_has(const Driver *driver, uint64_t number);

/* Keeps work for a stream that holds; *is_taken is false for what is to be done at once. */
CUresult backlog_take(Call *call, CUstream stream, WorkGiven given, bool *is_taken);
/* An item for a stream, whose other fields are given; its number. */
uint64_t backlog_add(Call *call, CUstream stream, BacklogItem item);

/* Waits until everything that has been given is done: to a stream, to the legacy default stream and
 * those that it waits for, in the context; up to an item of a number. When nothing is left that
 * could end a wait, this is told, and stays with the context as its error. */
CUresult backlog_wait(Call *call, CUstream stream);
CUresult backlog_wait_legacy(Call *call);
CUresult backlog_wait_all(Call *call);
CUresult backlog_wait_item(Call *call, uint64_t number);

/* ---- Ends ---- */

/* A stream ends, whose work goes on. */
void backlog_leave(Driver *driver, const Stream *stream);
/* Drops what a context's streams have. */
void backlog_clear(Driver *driver, const Context *context);
/* Says what will never be done now. */
void backlog_report(const Driver *driver);

#endif
