/* Handles, with which the driver API identifies its objects. A handle is a number, not an address:
 * a stale or foreign one is recognized instead of dereferenced, and programs that print handles
 * print the same ones in every run. */
#ifndef TYTO_DRIVER_HANDLES_H
#define TYTO_DRIVER_HANDLES_H

#include <stddef.h>
#include <stdint.h>

typedef enum HandleKind {
    HANDLE_NONE, /* a free slot */
    HANDLE_CONTEXT,
    HANDLE_MODULE,
    HANDLE_FUNCTION,
    HANDLE_STREAM,
    HANDLE_EVENT,
    HANDLE_ARRAY,
    HANDLE_LINK,
    HANDLE_POOL,
    HANDLE_GRAPH,
    HANDLE_GRAPH_NODE,
    HANDLE_GRAPH_EXEC,
    HANDLE_CONDITIONAL,
    HANDLE_USER_OBJECT,
    HANDLE_PHYSICAL,
    HANDLE_MIPMAP,
    HANDLE_REFERENCE,
    HANDLE_KIND_COUNT
} HandleKind;

typedef struct HandleSlot {
    void *object;
    HandleKind kind;
    uint32_t generation; /* number of handles created for this slot so far */
    uint32_t next_free;  /* if free: next slot of the free list */
} HandleSlot;

typedef struct Handles {
    HandleSlot *slots;
    uint32_t count;      /* slots used at least once */
    uint32_t capacity;   /* slots allocated */
    uint32_t first_free; /* first slot of the free list; == count if it is empty */
} Handles;

/* Creates a handle for `object`; never 0, 1 or 2, which are the default streams. */
uint64_t handles_add(Handles *handles, HandleKind kind, void *object);
/* The object of the handle; NULL if it is not a live handle of this kind. */
void *handles_get(const Handles *handles, HandleKind kind, uint64_t handle);
/* Deletes the handle and returns its object; NULL as above. */
void *handles_remove(Handles *handles, HandleKind kind, uint64_t handle);
/* The handle of slot i < count; 0 if the slot is free. */
uint64_t handles_at(const Handles *handles, uint32_t i);

#endif
