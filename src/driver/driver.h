/* The CUDA driver API's side of a simulator: one device, its contexts, and their objects.
 *
 * The API implies one driver per process. It consists of the one struct Driver in driver.c, which
 * cuInit creates and which reports at exit, and of each thread's stack of current contexts. Every
 * API function begins with call_begin and ends with call_end; in between they hold the simulator's
 * lock.
 *
 * A kernel's fault stays with its context, as on a GPU: every later call in that context returns
 * the fault's code until the context is destroyed or reset. */
#ifndef TYTO_DRIVER_DRIVER_H
#define TYTO_DRIVER_DRIVER_H

#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/ranges.h"
#include "driver/attribute.h"
#include "driver/handles.h"
#include "simulator/simulator.h"
#include "memory/texture.h"
#include "tyto/cuda.h"

enum {
    DRIVER_VERSION = 13000,     /* version of the interface: CUDA 13.0 */
    PRINTF_BYTES = 1 << 20,     /* CUDA's default of this limit */
    STACK_TOLD_BYTES = 1 << 10, /* likewise; kernels have more, see CU_LIMIT_STACK_SIZE */
    FETCH_BYTES = 64,           /* likewise */
    PENDING_LAUNCHES = 2048,    /* likewise */
    LEAST_PRIORITY = 0,         /* priorities of streams, as measured (docs/real-gpu.md) */
    GREATEST_PRIORITY = -5,     /* likewise */
    FUNCTION_PORTABLE_CLUSTER =
        8, /* most CTAs of a cluster without opt-in (CUDA programming guide) */
    FUNCTION_SHARED_BYTES = 48 << 10, /* shared memory of a CTA without opt-in */
};

typedef struct Context {
    CUcontext handle;
    unsigned flags;           /* CU_CTX_... */
    CUresult error;           /* the fault of a kernel, or CUDA_SUCCESS */
    CUfunc_cache cache;       /* preference, without effect */
    CUsharedconfig bank_size; /* preference, without effect */
    uint64_t printf_bytes;    /* limit, without effect: printf writes at once */
    uint32_t stack_bytes;     /* limit as programs see it; kernels have more stack (context.c) */
    uint32_t fetch_bytes;     /* limit of L2's fetches, without effect */
    uint64_t pending;         /* limit of launches by kernels that wait, without effect */
    uint64_t id;              /* number for cuCtxGetId */
} Context;

/* The first member of every object of a context is its owner. */
typedef struct Module {
    Context *context;
    GpuModule *gpu;        /* owned */
    CUfunction *functions; /* handles of the program's functions; NULL: not asked for yet */
} Module;

typedef struct Function {
    Context *context;
    CUmodule module_handle;
    Module *module;
    int index;                  /* index in the program's functions */
    const IsaFunction *decoded; /* properties of the kernel */
    int dynamic_shared_limit;   /* most dynamic shared memory of a launch in bytes; programs can set
                                   it */
    int carveout;               /* attribute that programs set, without effect */
    unsigned cluster[3];        /* CTAs of a cluster; 0: neither programs nor the kernel set any */
    bool has_large_clusters;    /* programs allow clusters of more than 8 CTAs */
    int cluster_policy;         /* attribute that programs set, without effect */
} Function;

/* The last nodes of a graph that is being captured, on which the next node depends. */
typedef struct Tail {
    CUgraphNode *nodes;
    CUgraphEdgeData *edges; /* data of the dependencies on them */
    size_t count;
    CUgraphNode own; /* the node captured last in the stream itself; NULL: none */
} Tail;

typedef struct Capture Capture;
typedef struct StreamQueue StreamQueue; /* queue of a stream, see stream_queue.h */

/* An item of a stream's queue (stream_queue.h). */
typedef struct BacklogPoint {
    uint64_t item;   /* 0: none */
    uint32_t stream; /* number of the stream */
} BacklogPoint;

typedef struct Stream {
    Context *context;
    unsigned flags;
    int priority;
    uint64_t id;
    uint32_t number;  /* number of the stream in the process, from 1, used in the records of its
                         launches */
    Capture *capture; /* the capture that its work goes into; NULL: none */
    Tail tail;        /* nodes that the next node of the capture depends on */
    Attributes attributes;
} Stream;

typedef struct Event {
    Context *context;
    unsigned flags;
    bool is_recorded;
    uint64_t time_ps;     /* simulated time at which it was recorded */
    BacklogPoint point;   /* the item that records it (stream_queue.h) */
    CUgraphEdgeData edge; /* the dependency of a kernel that waits for it. If it is not an ordinary
                             one, `point` is the kernel that records it */
    uint64_t capture_id;  /* the last capture in which it was recorded; 0: none */
    Tail tail;            /* nodes captured before it */
} Event;

typedef struct Array {
    Context *context;
    CUDA_ARRAY3D_DESCRIPTOR descriptor;
    uint64_t address;       /* device address of element 0 */
    uint64_t element_bytes; /* bytes of an element with all channels */
    uint64_t pitch_bytes;   /* from row to row */
    uint64_t rows;          /* rows of a slice, at least 1 */
    uint64_t slices;        /* at least 1 */
    bool is_level;          /* level of a mipmapped array, which frees it */
} Array;

/* A mipmapped array: an array for each level. */
typedef struct Mipmap {
    Context *context;
    CUDA_ARRAY3D_DESCRIPTOR descriptor; /* descriptor of the first level */
    unsigned levels;
    CUarray level[MEM_MAX_LEVELS];
} Mipmap;

typedef struct Texture {
    Context *context;
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC sampling;
    CUDA_RESOURCE_VIEW_DESC view; /* valid if has_view */
    bool has_view;
    bool is_surface;
} Texture;

typedef struct Pool Pool; /* a memory pool, see pool.c */

/* A user object that is no longer referenced and must be destroyed. */
typedef struct Doomed Doomed;
struct Doomed {
    CUhostFn destroy;
    void *pointer;
    Doomed *next;
};

/* Bytes of all memory that graph nodes allocate, now and at most. */
typedef struct GraphBytes {
    uint64_t used, used_high;         /* memory allocated and not yet freed */
    uint64_t reserved, reserved_high; /* memory reserved for the addresses of nodes */
} GraphBytes;

/* A range of addresses that belongs to a context. */
typedef struct Region {
    Range range;
    Context *context;      /* its owner */
    unsigned flags;        /* flags of cuMemHostAlloc or cuMemHostRegister */
    uint64_t device_start; /* of registered memory: its device address; 0: kernels cannot use it */
    bool is_managed;       /* from cuMemAllocManaged */
    Pool *pool;            /* pool that it came from; NULL: none */
    struct GraphMemory *graph_memory; /* allocation by a graph node, owned; NULL: none */
} Region;

typedef struct Driver {
    TytoSimulator *simulator;
    uint32_t stack_bytes; /* stack of a kernel's thread until a program asks for more */
    Handles handles;      /* handles of all objects below */
    Ranges *allocations; /* Region: device addresses from cuMemAlloc, cuMemHostAlloc and the like */
    Ranges *registered;  /* Region: host addresses from cuMemHostRegister */
    Pool *standard_pool; /* the device's own; NULL until it is asked for */
    uint64_t last_pool;  /* number of the last pool made for sharing with other processes */
    Pool *current_pool;  /* pool that cuMemAllocAsync uses; NULL: the device's own */
    Texture **textures;  /* by number of the texture object, from 1; NULL: free */
    uint32_t texture_count; /* length of `textures` */
    Context libraries;      /* owns the objects of libraries; never current */
    Context *primary;       /* NULL while it is not retained */
    unsigned primary_users; /* retains without matching release */
    unsigned primary_flags;
    Attributes stream_attributes[3]; /* attributes of the default streams, by their handles */
    Capture *captures;               /* captures in progress */
    bool is_serial;                  /* launches return only when their kernels have ended */
    uint32_t last_stream;            /* last number given to a stream */
    StreamQueue *queues;             /* queues of streams that have work left */
    uint64_t last_item;              /* last number given to an item of these queues */
    uint64_t queued_kernels;         /* kernels among their items */
    uint64_t staged_bytes;           /* bytes of pageable memory staged for copies in the queues */
    bool is_advancing;               /* items are being executed */
    uint64_t stream_queue_changes;   /* number of items executed or dropped */
    unsigned waiting_threads; /* threads that have slept since its last change, waiting for items */
    GraphBytes graph_bytes;
    Ranges *reservations;    /* Range: from cuMemAddressReserve; NULL before the first */
    Ranges *mappings;        /* likewise from cuMemMap (virtual.c) */
    struct Import *imports;  /* memory of other processes that is open here (ipc.c) */
    uint64_t ipc_key;        /* key for other processes to find this memory; 0: not shared */
    Ranges *hints;           /* hints on managed memory (hints.c); NULL before the first */
    Doomed *doomed;          /* objects to be destroyed at the end of the current call */
    uint64_t next_id;        /* next number of a context, stream or capture */
    bool is_full_told;       /* the message that device memory is full was printed */
    bool is_reported;        /* the report has been written */
    volatile int signal;     /* a pending interrupt; 0: none */
    volatile int signals[2]; /* signals received: directly, and passed on by the command */
    sem_t interrupted;       /* posted when an interrupt arrives */
} Driver;

/* The state of an API function between call_begin and call_end. */
typedef struct Call {
    Driver *driver;
    Context *context;     /* current context; NULL after call_begin_driver */
    GpuStreamInfo stream; /* stream whose work is executed; initially the legacy default stream */
    DeviceMemory *memory;
    Gpu *gpu;
} Call;

/* Creates the process's driver. Later calls return the status of the first. */
CUresult driver_start(void);

/* Locks the simulator. Returns CUDA_ERROR_NOT_INITIALIZED before cuInit, without a lock. */
CUresult call_begin_driver(Call *call);
/* The same for a function that needs a context. Returns the context's fault, if any. After an error
 * nothing is locked. */
CUresult call_begin(Call *call);
/* Unlocks the simulator and returns `status`. */
CUresult call_end(Call *call, CUresult status);

/* Called after a launch that was interrupted, with the lock held: writes the report and ends the
 * process as the signal would have done. Returns only if there was no signal. */
void driver_obey_signal(Driver *driver);
/* Writes the report and ends the process with `status`. Used if the program asked for something
 * impossible, or if there is nothing left to do. */
_Noreturn void driver_end(Driver *driver, int status);

/* Finds the object of a handle; NULL if the handle is not a live one of this kind. */
#define CALL_GET(call, kind, handle)                                                               \
    handles_get(&(call)->driver->handles, (kind), (uint64_t)(uintptr_t)(handle))

/* Creates a handle for an object, in the form of a pointer. */
static inline void *driver_add(Driver *driver, HandleKind kind, void *object) {
    return (void *)(uintptr_t)handles_add(&driver->handles, kind, object);
}

/* Prints a message about an error of the program on stderr, after "tyto: ". */
void driver_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Reports, once per function, that `function` is not supported, and why. Returns
 * CUDA_ERROR_NOT_SUPPORTED. */
CUresult driver_missing(const char *function);
CUresult driver_missing_because(const char *function, const char *why);
/* Whether a message about `name` is the first: true once for each name. */
bool driver_tells_first(const char *name);

/* ---- Contexts (context.c) ---- */

/* Frees what the context owns: modules, memory, streams, events, arrays. */
void context_clear(Driver *driver, Context *context);
/* The calling thread's current context as it was set, even if it no longer exists; NULL: none. */
CUcontext context_current(void);

/* ---- Destructors, one for each kind of object ---- */

void module_free(Driver *driver, void *object);
void function_free(Driver *driver, void *object);

/* ---- Properties that the host and kernels can query ---- */

/* Properties of a kernel; sizes in bytes. */
typedef struct FunctionFacts {
    uint32_t max_threads; /* most threads of a CTA */
    uint32_t shared_bytes, constant_bytes, local_bytes;
    uint32_t dynamic_shared_bytes; /* most dynamic shared memory of a launch without opt-in */
    uint32_t registers;            /* per thread */
    int target;                    /* target of its PTX: 75 for sm_75 */
} FunctionFacts;

FunctionFacts function_facts(const Gpu *gpu, const GpuModule *module, const IsaFunction *decoded);
CUresult device_attribute(Gpu *gpu, CUdevice_attribute attribute, int *value);
CUresult context_limit(Gpu *gpu, const Context *context, CUlimit limit, uint64_t *value);
void array_free(Driver *driver, void *object);
void link_free(Driver *driver, void *object);
void stream_free(Driver *driver, void *object);
void event_free(Driver *driver, void *object);
void user_object_free(Driver *driver, void *object);
void conditional_free(Driver *driver, void *object);
void mipmap_free(Driver *driver, void *object); /* does not free its levels */
void reference_free(Driver *driver, void *object);
void references_clear(Driver *driver, const Module *module); /* those of a module */
void textures_clear(Driver *driver, const Context *context); /* all of a context */

/* ---- Arrays and textures ---- */

/* Creates an array, at *out. is_level: it is a level of a mipmapped array. */
CUresult array_make(Call *call, CUarray *out, const CUDA_ARRAY3D_DESCRIPTOR *descriptor,
                    bool is_level);
/* Whether the array's flags, extents and format are consistent and supported by the device. */
bool array_is_possible(Gpu *gpu, const CUDA_ARRAY3D_DESCRIPTOR *descriptor);
/* Bytes of a channel; 0 if the format is unknown. */
unsigned array_channel_bytes(CUarray_format format);
/* Describes to a texture where the texels of an array, or of all levels of a mipmapped array, are,
 * and their format. */
void array_describe(const Array *array, struct MemTexture *texture);
CUresult mipmap_describe(const Call *call, CUmipmappedArray handle, struct MemTexture *texture);
/* Sets the format of a texture's texels; returns false if it is unknown. */
bool texture_set_format(struct MemTexture *texture, CUarray_format format, unsigned channels);
/* Fills in a texture from the host's descriptions; `view` may be NULL. */
CUresult texture_describe(const Call *call, struct MemTexture *texture,
                          const CUDA_RESOURCE_DESC *resource, const CUDA_TEXTURE_DESC *sampling,
                          const CUDA_RESOURCE_VIEW_DESC *view);
/* Creates a handle, for kernels, of a context's texture or surface object. */
CUtexObject texture_add(const Call *call, const struct MemTexture *description,
                        const Texture *texture);
/* The object of a handle; NULL if there is none. */
Texture *texture_find(const Call *call, CUtexObject handle, bool is_surface);
void texture_end(Driver *driver, CUtexObject handle);

/* ---- Modules that belong to no context (module.c) ---- */

CUresult module_load_library(CUmodule *module, const void *image, unsigned int option_count,
                             CUjit_option *options, void **values);
CUresult module_load_library_file(CUmodule *module, const char *path);

/* ---- Streams (stream.c) ---- */

/* The number and priority of a valid stream. The thread's default stream gets its number at its
 * first use. */
GpuStreamInfo stream_info(const Call *call, CUstream stream);
/* Clamps a priority to the supported range. */
int stream_priority(int priority);

/* Whether `stream` names a stream: a default one or a live handle. */
bool stream_is_valid(const Call *call, CUstream stream);
/* The access window of the stream's launches; an empty one if the stream is not valid. */
CUaccessPolicyWindow stream_window(CUstream stream);
/* Checks, as a call of its own, whether work can run in `stream`: returns CUDA_SUCCESS or the
 * error. */
CUresult stream_check(CUstream stream);

/* ---- Capture of streams into graphs (capture.c) ---- */

/* call_begin for functions that free or change something that earlier kernels may use: first waits
 * until all of them have run. */
CUresult call_begin_idle(Call *call);
/* call_begin for work in the legacy default stream (legacy), and for functions that could wait for
 * any stream (unsafe). Both are refused during some captures, which they then invalidate. */
CUresult call_begin_legacy(Call *call);
CUresult call_begin_unsafe(Call *call);
/* The same for functions that wait for all streams of the context, whatever the modes of their
 * captures. */
CUresult call_begin_all(Call *call);
/* stream_check for functions that a captured stream does not support, which invalidates the
 * capture. Returns CUDA's error if CUDA has one. Otherwise `what` (not NULL) is reported as
 * missing. */
CUresult capture_refuse(CUstream stream, const char *what);
/* Records an event, or the nodes captured before it. */
CUresult capture_record(Call *call, Event *event, CUevent handle, CUstream stream, unsigned flags);
/* Applies a wait for an event to captures. */
CUresult capture_wait(Call *call, CUstream stream, Event *event, CUevent handle, unsigned flags);
/* The error for a query of an event that represents captured work. */
CUresult capture_check_event(const Call *call, const Event *event);
/* Whether a stream is being captured into the graph. */
bool capture_is_of(const Driver *driver, CUgraph graph);
/* Ends all captures of a context. */
void captures_clear(Driver *driver, const Context *context);

/* ---- Work that is executed immediately ---- */

/* An event of a launch, complete before the kernel has ended. */
typedef struct LaunchEvent {
    CUevent event;        /* NULL: none */
    CUgraphEdgeData edge; /* the dependency of a kernel that waits for it */
} LaunchEvent;

/* A programmatic event and a launch completion event. */
enum { LAUNCH_EVENTS = 2 };

typedef struct LaunchShape {
    CUfunction function;
    unsigned grid[3], block[3];
    unsigned cluster[3];   /* CTAs; 0: those of the function */
    unsigned shared_bytes; /* dynamic shared memory */
    bool is_cooperative;
    bool is_dependent; /* it may overlap with the kernel before it in its stream */
    LaunchEvent events[LAUNCH_EVENTS];
    CUaccessPolicyWindow window;
} LaunchShape;

/* Fills a kernel's parameter area. Reports errors on stderr. */
CUresult launch_gather(const Function *function, void **parameters, void **extra, char *area);
/* The error if the device cannot run a function in this shape, reported on stderr; else
 * CUDA_SUCCESS. */
CUresult launch_check(const Call *call, const Function *function, const LaunchShape *shape);
CUresult launch_now(Call *call, const LaunchShape *shape, const char *area);

/* A kernel of a stream's queue or of a graph, while it is being run. */
typedef struct KernelRun {
    SimulatorGrid grid; /* must have its launch and stream before kernel_begin */
    bool is_begun;
    bool is_dependent; /* LaunchShape.is_dependent */
} KernelRun;

/* Fills in the launch of a function in a shape that the device supports. Reports errors on
 * stderr. */
CUresult kernel_describe(Call *call, const LaunchShape *shape, GpuLaunch *launch);
/* Submits it to the device, for the call's context, where it depends on grids. */
void kernel_begin(Call *call, KernelRun *kernel, const GpuPrerequisite *after, uint32_t count);
static inline bool kernel_is_on_device(const KernelRun *kernel) {
    return kernel->is_begun && !simulator_has_ended(&kernel->grid);
}
/* The status of a kernel that has ended. Reports its fault and keeps it with the call's context. */
CUresult kernel_end(Call *call, KernelRun *kernel);
CUresult copy_now(const Call *call, const CUDA_MEMCPY3D *copy);
/* Whether the copy is not empty and both sides are what they are declared to be. */
bool copy_is_possible(const Call *call, const CUDA_MEMCPY3D *copy);
bool copy_is_addressable(const Call *call, const CUDA_MEMCPY3D *copy); /* no side overflows */
/* Whether elements, rows and pitch are consistent. */
bool fill_is_possible(const CUDA_MEMSET_NODE_PARAMS *fill);
CUresult fill_now(const Call *call, const CUDA_MEMSET_NODE_PARAMS *fill);
void event_record(const Call *call, Event *event);

/* ---- Addresses (memory.c) ---- */

/* The device address for a pointer of unknown kind: the pointer itself, or the device address for a
 * host pointer from cuMemHostAlloc. 0 if it is plain host memory. */
uint64_t memory_device_address(const Call *call, uint64_t pointer);
/* Allocates device memory for the call's context, from a pool or without one. Returns 0 if there is
 * no room. */
uint64_t memory_allocate_from(Call *call, Pool *pool, uint64_t size);
uint64_t memory_allocate(Call *call, uint64_t size);
/* Whether a device address is managed memory; *range then is all of that memory. It is an
 * allocation or a variable (including variables that are not managed: the driver cannot distinguish
 * them). */
bool memory_is_managed(const Call *call, uint64_t address, Range *range);
/* Frees the allocation that starts at `address`. */
void memory_release(Driver *driver, uint64_t address);
/* cuMemFree: reports an error if no allocation starts at the address. */
CUresult memory_free_address(Call *call, uint64_t address);

/* Ends one registration, or all of a context. (registered.c) */
void registered_end(Driver *driver, Region *region);
void registered_clear(Driver *driver, const Context *context);
/* Called before a launch: ends registrations of memory that the program has unmapped. */
void registered_check(const Call *call);
/* Whether other processes see the memory at a host address. */
bool registered_is_shared(uint64_t pointer);

/* Reserves addresses for `size` bytes of mappings, in multiples of MEM_MAPPING_GRAIN, and releases
 * them. Returns 0 if none are left. (virtual.c) */
uint64_t virtual_reserve(const Call *call, uint64_t size);
void virtual_release(Driver *driver, uint64_t address);
/* Closes what a context has opened of other processes (ipc.c). */
void imports_clear(Driver *driver, const Context *context);
/* Makes the device's memory available for other processes to open. Returns its file descriptor, or
 * -1 if the host refuses. */
int ipc_share(Call *call);
/* Identifies a pool of another process. */
typedef struct PoolKey {
    uint64_t process; /* the process's key */
    uint64_t pool;    /* the pool's number in that process */
} PoolKey;
/* Exports a pool as a file descriptor, and imports one from a copy of a descriptor received from
 * elsewhere. -1: the host refuses, or the descriptor is not that of a pool. */
int ipc_export_pool(Call *call, uint64_t pool);
int ipc_import_pool(int given, PoolKey *key);
/* Exports memory of a pool, and imports it. */
CUresult ipc_export_pointer(Call *call, uint64_t pool, Range range, CUmemPoolPtrExportData *data);
CUresult ipc_import_pointer(Call *call, int file, const PoolKey *key,
                            const CUmemPoolPtrExportData *data, CUdeviceptr *address);
/* Closes what was imported in this way at an address; returns false if nothing was. */
bool ipc_free_pointer(Call *call, uint64_t address);
/* Stores a program's hints on managed memory (hints.c). */
CUresult hint_advise(const Call *call, Range range, CUmem_advise advice, CUmemLocation location);
void hint_prefetch(const Call *call, Range range, CUmemLocation location);
void hints_forget(Driver *driver, Range range);

/* ---- Graphs ---- */

/* Called when the region of an allocation that a graph node made is freed (graph_memory.c). */
void graph_memory_end(Driver *driver, struct GraphMemory *memory);
/* Sets a condition of a graph (graph_branch.c); `driver` is a Driver. */
bool conditional_set(void *driver, uint64_t handle, uint32_t value);

/* ---- Pools (pool.c) ---- */

/* Counts memory as in use; returns false if the pool's limit would be exceeded. */
bool pool_take(Pool *pool, uint64_t bytes);
/* Counts it as free. A destroyed pool is deleted with the last of its memory. */
void pool_give_back(Pool *pool, uint64_t bytes);

#endif
