/* The CUDA driver API's side of a simulator: one device, its contexts, and their objects.
 *
 * The API implies one driver in the process; it is the one struct Driver in driver.c, made by
 * cuInit and reported on at exit, plus each thread's stack of current contexts. Every API function
 * begins with call_begin and ends with call_end, which hold the simulator's lock in between.
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
    DRIVER_VERSION = 13000,     /* of the interface: CUDA 13.0 */
    PRINTF_BYTES = 1 << 20,     /* CUDA's default of that limit */
    STACK_TOLD_BYTES = 1 << 10, /* likewise; there is more, see CU_LIMIT_STACK_SIZE */
    FETCH_BYTES = 64,           /* likewise */
    PENDING_LAUNCHES = 2048,    /* likewise */
    LEAST_PRIORITY = 0,         /* of streams, as measured (docs/real-gpu.md) */
    GREATEST_PRIORITY = -5,     /* likewise */
    FUNCTION_PORTABLE_CLUSTER =
        8, /* CTAs of a cluster without opting in (CUDA programming guide) */
    FUNCTION_SHARED_BYTES = 48 << 10, /* shared memory of a CTA without opting in */
};

typedef struct Context {
    CUcontext handle;
    unsigned flags;           /* CU_CTX_... */
    CUresult error;           /* a kernel's fault, from then on; else CUDA_SUCCESS */
    CUfunc_cache cache;       /* preference, without effect */
    CUsharedconfig bank_size; /* preference, without effect */
    uint64_t printf_bytes;    /* limit, without effect: printf writes at once */
    uint32_t stack_bytes;     /* limit as programs see it; kernels have more (context.c) */
    uint32_t fetch_bytes;     /* limit of L2's fetches, without effect */
    uint64_t pending;         /* limit of launches of kernels that wait, without effect */
    uint64_t id;              /* of cuCtxGetId */
} Context;

/* The objects of a context begin with their owner. */
typedef struct Module {
    Context *context;
    GpuModule *gpu;        /* owned */
    CUfunction *functions; /* handle of each of the program's functions, NULL until asked for */
} Module;

typedef struct Function {
    Context *context;
    CUmodule module_handle;
    Module *module;
    int index;                  /* among the program's functions */
    const IsaFunction *decoded; /* facts */
    int dynamic_shared_limit;   /* bytes that a launch may ask for; programs set it */
    int carveout;               /* attribute that programs set, without effect */
    unsigned cluster[3];        /* CTAs of a cluster; 0: programs have set none, and the kernel says
                                   none */
    bool has_large_clusters;    /* more than 8 CTAs are allowed, as programs say */
    int cluster_policy;         /* attribute that programs set, without effect */
} Function;

/* Nodes of a graph that is being captured. */
typedef struct Tail {
    CUgraphNode *nodes;
    size_t count;
} Tail;

typedef struct Capture Capture;
typedef struct StreamQueue StreamQueue; /* of a stream, see backlog.h */

/* An item of a stream's queue (backlog.h). */
typedef struct BacklogPoint {
    uint64_t item;   /* 0: none */
    uint32_t stream; /* number */
} BacklogPoint;

typedef struct Stream {
    Context *context;
    unsigned flags;
    int priority;
    uint64_t id;
    uint32_t number;  /* among the process's streams, from 1; that of its launches' records */
    Capture *capture; /* that its work goes into, NULL: none */
    Tail tail;        /* what the next node of the capture depends on */
    Attributes attributes;
} Stream;

typedef struct Event {
    Context *context;
    unsigned flags;
    bool is_recorded;
    uint64_t time_ps;    /* simulated time at which it was recorded */
    BacklogPoint point;  /* that records it (backlog.h) */
    uint64_t capture_id; /* capture in which it was recorded last, 0: none */
    Tail tail;           /* what was captured before it */
} Event;

typedef struct Array {
    Context *context;
    CUDA_ARRAY3D_DESCRIPTOR descriptor;
    uint64_t address;       /* device address of element 0 */
    uint64_t element_bytes; /* all channels */
    uint64_t pitch_bytes;   /* from row to row */
    uint64_t rows;          /* of a slice, at least 1 */
    uint64_t slices;        /* at least 1 */
    bool is_level;          /* of a mipmapped array, which it ends with */
} Array;

/* An array for each level. */
typedef struct Mipmap {
    Context *context;
    CUDA_ARRAY3D_DESCRIPTOR descriptor; /* of the first level */
    unsigned levels;
    CUarray level[MEM_MAX_LEVELS];
} Mipmap;

typedef struct Texture {
    Context *context;
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC sampling;
    CUDA_RESOURCE_VIEW_DESC view; /* has_view */
    bool has_view;
    bool is_surface;
} Texture;

typedef struct Pool Pool; /* of memory, see pool.c */

/* The end of a user object that is no longer held. */
typedef struct Doomed Doomed;
struct Doomed {
    CUhostFn destroy;
    void *pointer;
    Doomed *next;
};

/* Bytes of all memory that nodes of graphs allocate, now and at most. */
typedef struct GraphBytes {
    uint64_t used, used_high;         /* between the allocation and its end */
    uint64_t reserved, reserved_high; /* for the addresses that nodes have */
} GraphBytes;

/* Addresses that belong to a context. */
typedef struct Region {
    Range range;
    Context *context;      /* its owner */
    unsigned flags;        /* of cuMemHostAlloc or cuMemHostRegister */
    uint64_t device_start; /* registered: its device address, 0: kernels cannot reach it */
    bool is_managed;       /* from cuMemAllocManaged */
    Pool *pool;            /* that it came from, NULL: none */
    struct GraphMemory *graph_memory; /* a node of a graph allocates it; owned, NULL: none does */
} Region;

typedef struct Driver {
    TytoSimulator *simulator;
    uint32_t stack_bytes; /* that a kernel's thread has until a program asks for more */
    Handles handles;      /* of every object below */
    Ranges *allocations; /* Region: device addresses from cuMemAlloc, cuMemHostAlloc and the like */
    Ranges *registered;  /* Region: host addresses from cuMemHostRegister */
    Pool *standard_pool; /* the device's own; NULL until it is asked for */
    uint64_t last_pool;  /* number of the pool that was made last for other processes too */
    Pool *current_pool;  /* that cuMemAllocAsync takes from; NULL: the device's own */
    Texture **textures;  /* by texture object, from 1; NULL where there is none */
    uint32_t texture_count; /* of textures */
    Context libraries;      /* owns what libraries have; current nowhere */
    Context *primary;       /* NULL while it is not retained */
    unsigned primary_users; /* retains without a release */
    unsigned primary_flags;
    Attributes stream_attributes[3]; /* of the default streams, by their handles */
    Capture *captures;               /* those going on */
    bool is_serial;                  /* launches return when their kernels have ended */
    uint32_t last_stream;            /* number given last to a stream */
    StreamQueue *queues;             /* of streams that have work left */
    uint64_t last_item;              /* number given last to an item of theirs */
    uint64_t queued_kernels;         /* among their items */
    uint64_t staged_bytes;           /* that their copies hold of pageable memory */
    bool is_advancing;               /* some of them are being done */
    uint64_t stream_queue_changes;   /* their items that were done or dropped */
    unsigned waiting_threads;        /* that have slept since the last of these, to wait for them */
    GraphBytes graph_bytes;
    Ranges *reservations;    /* Range: of cuMemAddressReserve; NULL before the first */
    Ranges *mappings;        /* of cuMemMap (virtual.c); likewise */
    struct Import *imports;  /* memory of other processes (ipc.c) */
    uint64_t ipc_key;        /* by which others know this process's memory; 0: it is not shared */
    Ranges *hints;           /* for managed memory (hints.c); NULL before the first */
    Doomed *doomed;          /* what ends with the call under way */
    uint64_t next_id;        /* of contexts, streams and captures */
    bool is_full_told;       /* it was said that device memory is full */
    bool is_reported;        /* the report is written */
    volatile int signal;     /* an interrupt that came, 0: none */
    volatile int signals[2]; /* how many came: to this process, and passed on by the command */
    sem_t interrupted;       /* posted when it came */
} Driver;

/* What an API function works with between call_begin and call_end. */
typedef struct Call {
    Driver *driver;
    Context *context;     /* current one; NULL after call_begin_driver */
    GpuStreamInfo stream; /* whose work is done; the legacy default stream at first */
    DeviceMemory *memory;
    Gpu *gpu;
} Call;

/* Makes the process's driver; later calls return what the first one did. */
CUresult driver_start(void);

/* Locks the simulator. CUDA_ERROR_NOT_INITIALIZED before cuInit. */
CUresult call_begin_driver(Call *call);
/* The same for a function that needs a context, whose fault, if any, is returned. After an error
 * nothing is locked. */
CUresult call_begin(Call *call);
/* Unlocks and returns `status`. */
CUresult call_end(Call *call, CUresult status);

/* After a launch that was interrupted: writes the report and ends the process as the signal would
 * have. Returns only when there was no signal. The caller holds the lock. */
void driver_obey_signal(Driver *driver);
/* Ends the process with `status` after the report: what it asked for cannot be done, or all is that
 * was to be. */
_Noreturn void driver_end(Driver *driver, int status);

/* Looks a handle up in the call's driver; NULL when it is not one. */
#define CALL_GET(call, kind, handle)                                                               \
    handles_get(&(call)->driver->handles, (kind), (uint64_t)(uintptr_t)(handle))

/* A handle for an object, as a pointer. */
static inline void *driver_add(Driver *driver, HandleKind kind, void *object) {
    return (void *)(uintptr_t)handles_add(&driver->handles, kind, object);
}

/* Prints a message about the program's mistake on stderr, after "tyto: ". */
void driver_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Says once that `function` is not supported, and why. Returns CUDA_ERROR_NOT_SUPPORTED. */
CUresult driver_missing(const char *function);
CUresult driver_missing_because(const char *function, const char *why);
/* Whether a message about `name` would be the first: true once for each. */
bool driver_tells_first(const char *name);

/* ---- Contexts (context.c) ---- */

/* Frees what the context owns: modules, memory, streams, events, arrays. */
void context_clear(Driver *driver, Context *context);
/* The calling thread's current context as it was set, dead or alive; NULL: none. */
CUcontext context_current(void);

/* ---- Ends of objects, one for each kind ---- */

void module_free(Driver *driver, void *object);
void function_free(Driver *driver, void *object);

/* ---- Facts that host and kernels may ask for ---- */

/* Of a kernel; sizes in bytes. */
typedef struct FunctionFacts {
    uint32_t max_threads; /* of a CTA */
    uint32_t shared_bytes, constant_bytes, local_bytes;
    uint32_t dynamic_shared_bytes; /* that a launch may ask for without opting in */
    uint32_t registers;            /* per thread */
    int target;                    /* of its PTX: 75 */
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
void mipmap_free(Driver *driver, void *object); /* without its levels */
void reference_free(Driver *driver, void *object);
void references_clear(Driver *driver, const Module *module); /* those of a module */
void textures_clear(Driver *driver, const Context *context); /* all of a context */

/* ---- Arrays and textures ---- */

/* A new array, at *out; of a mipmapped array is_level. */
CUresult array_make(Call *call, CUarray *out, const CUDA_ARRAY3D_DESCRIPTOR *descriptor,
                    bool is_level);
/* Whether the array's flags, extents and format go together, and the device can have them. */
bool array_is_possible(Gpu *gpu, const CUDA_ARRAY3D_DESCRIPTOR *descriptor);
/* Bytes of a channel, 0 when the format is none. */
unsigned array_channel_bytes(CUarray_format format);
/* Tells a texture where the texels of an array, or of all levels of a mipmapped one, are, and of
 * which format they are. */
void array_describe(const Array *array, struct MemTexture *texture);
CUresult mipmap_describe(const Call *call, CUmipmappedArray handle, struct MemTexture *texture);
/* Sets the format of a texture's texels; false when it is none. */
bool texture_set_format(struct MemTexture *texture, CUarray_format format, unsigned channels);
/* What a texture object is, from the host's descriptions; `view` may be NULL. */
CUresult texture_describe(const Call *call, struct MemTexture *texture,
                          const CUDA_RESOURCE_DESC *resource, const CUDA_TEXTURE_DESC *sampling,
                          const CUDA_RESOURCE_VIEW_DESC *view);
/* A handle for kernels, of a context's texture or surface object. */
CUtexObject texture_add(const Call *call, const struct MemTexture *description,
                        const Texture *texture);
/* The object of a handle, NULL when there is none. */
Texture *texture_find(const Call *call, CUtexObject handle, bool is_surface);
void texture_end(Driver *driver, CUtexObject handle);

/* ---- Modules that belong to no context (module.c) ---- */

CUresult module_load_library(CUmodule *module, const void *image, unsigned int option_count,
                             CUjit_option *options, void **values);
CUresult module_load_library_file(CUmodule *module, const char *path);

/* ---- Streams (stream.c) ---- */

/* The number and priority of a valid stream. The thread's default stream gets its number when it is
 * first used. */
GpuStreamInfo stream_info(const Call *call, CUstream stream);
/* A priority of CUDA's within the range: what is beyond counts as its end. */
int stream_priority(int priority);

/* Whether `stream` names a stream: a default one or a live handle. */
bool stream_is_valid(const Call *call, CUstream stream);
/* The window of the stream's launches; none of a stream that is not valid. */
CUaccessPolicyWindow stream_window(CUstream stream);
/* The same as a call of its own: CUDA_SUCCESS, or why nothing can run in `stream`. */
CUresult stream_check(CUstream stream);

/* ---- Capture of streams into graphs (capture.c) ---- */

/* call_begin for what takes away or changes something that kernels given before may use: all of
 * them have run. */
CUresult call_begin_idle(Call *call);
/* call_begin for work in the legacy default stream, and for what could wait for any stream: both
 * are refused during some captures, which they invalidate. */
CUresult call_begin_legacy(Call *call);
CUresult call_begin_unsafe(Call *call);
/* The same for what waits for all streams of the context, whatever the modes of their captures. */
CUresult call_begin_all(Call *call);
/* stream_check for what a captured stream cannot do, which invalidates the capture: CUDA's error
 * where CUDA has one, else (`what` not NULL) it is named as missing. */
CUresult capture_refuse(CUstream stream, const char *what);
/* Records an event, or what was captured before it. */
CUresult capture_record(Call *call, Event *event, CUevent handle, CUstream stream, unsigned flags);
/* What waiting for an event means for captures. */
CUresult capture_wait(Call *call, CUstream stream, Event *event, CUevent handle, unsigned flags);
/* Why an event that stands for captured work cannot be asked about. */
CUresult capture_check_event(const Call *call, const Event *event);
/* Whether a graph is being captured into. */
bool capture_is_of(const Driver *driver, CUgraph graph);
/* Ends all captures of a context. */
void captures_clear(Driver *driver, const Context *context);

/* ---- Work that is done at once ---- */

typedef struct LaunchShape {
    CUfunction function;
    unsigned grid[3], block[3];
    unsigned cluster[3];   /* CTAs; 0: the function's */
    unsigned shared_bytes; /* dynamic */
    bool is_cooperative;
    bool is_dependent; /* it may overlap with the kernel before it in its stream */
    CUaccessPolicyWindow window;
} LaunchShape;

/* Fills a kernel's parameter area. Reports what is wrong on stderr. */
CUresult launch_gather(const Function *function, void **parameters, void **extra, char *area);
/* Why the device could not run a function in this shape. Reports what is wrong on stderr. */
CUresult launch_check(const Call *call, const Function *function, const LaunchShape *shape);
CUresult launch_now(Call *call, const LaunchShape *shape, const char *area);

/* A kernel of a stream's queue or of a graph, on its way through the device. */
typedef struct KernelRun {
    SimulatorGrid grid; /* its launch and stream are set before kernel_begin */
    bool is_begun;
    bool is_dependent; /* LaunchShape.is_dependent */
} KernelRun;

/* The launch of a function in a shape, which the device can do. Reports what is wrong on stderr. */
CUresult kernel_describe(Call *call, const LaunchShape *shape, GpuLaunch *launch);
/* Gives it to the device, for the call's context. */
void kernel_begin(Call *call, KernelRun *kernel);
static inline bool kernel_is_on_device(const KernelRun *kernel) {
    return kernel->is_begun && !simulator_has_ended(&kernel->grid);
}
/* The outcome of a kernel that has ended. Reports its fault and keeps it with the call's
 * context. */
CUresult kernel_end(Call *call, KernelRun *kernel);
CUresult copy_now(const Call *call, const CUDA_MEMCPY3D *copy);
/* Whether there is something to copy, between sides that are what they are said to be. */
bool copy_is_possible(const Call *call, const CUDA_MEMCPY3D *copy);
bool copy_is_addressable(const Call *call, const CUDA_MEMCPY3D *copy); /* both sides have an end */
/* Whether elements, rows and pitch go together. */
bool fill_is_possible(const CUDA_MEMSET_NODE_PARAMS *fill);
CUresult fill_now(const Call *call, const CUDA_MEMSET_NODE_PARAMS *fill);
void event_record(const Call *call, Event *event);

/* ---- Addresses (memory.c) ---- */

/* The device address that a pointer of unknown kind stands for: itself, or the address behind a
 * host pointer from cuMemHostAlloc; 0 when it is plain host memory. */
uint64_t memory_device_address(const Call *call, uint64_t pointer);
/* Allocates device memory for the call's context from a pool, or without one; 0 when there is no
 * room in it. */
uint64_t memory_allocate_from(Call *call, Pool *pool, uint64_t size);
uint64_t memory_allocate(Call *call, uint64_t size);
/* Whether a device address is managed memory; *range is all of that memory. It is an allocation, or
 * a variable (also one that is not managed: the driver cannot distinguish them). */
bool memory_is_managed(const Call *call, uint64_t address, Range *range);
/* Gives back what starts at `address`. */
void memory_release(Driver *driver, uint64_t address);
/* cuMemFree, told when nothing begins there. */
CUresult memory_free_address(Call *call, uint64_t address);

/* Ends registrations: one, and all of a context. (registered.c) */
void registered_end(Driver *driver, Region *region);
void registered_clear(Driver *driver, const Context *context);
/* Before a launch: takes away what the program has unmapped. */
void registered_check(const Call *call);
/* Whether other processes see the memory at a host address. */
bool registered_is_shared(uint64_t pointer);

/* Addresses for `size` bytes of mappings, multiples of MEM_MAPPING_GRAIN; 0: there are none. And
 * their end. (virtual.c) */
uint64_t virtual_reserve(const Call *call, uint64_t size);
void virtual_release(Driver *driver, uint64_t address);
/* Ends what a context opened of other processes (ipc.c). */
void imports_clear(Driver *driver, const Context *context);
/* Makes the device's memory one that others can open; the descriptor, -1: the host refuses. */
int ipc_share(Call *call);
/* Another process's pool. */
typedef struct PoolKey {
    uint64_t process; /* its key */
    uint64_t pool;    /* the pool's number there */
} PoolKey;
/* A descriptor that stands for a pool, and a copy of one that was got from elsewhere; -1: the host
 * refuses, or it stands for none. */
int ipc_export_pool(Call *call, uint64_t pool);
int ipc_import_pool(int given, PoolKey *key);
/* What stands for memory of a pool, and that memory. */
CUresult ipc_export_pointer(Call *call, uint64_t pool, Range range, CUmemPoolPtrExportData *data);
CUresult ipc_import_pointer(Call *call, int file, const PoolKey *key,
                            const CUmemPoolPtrExportData *data, CUdeviceptr *address);
/* Ends what was imported so at an address; false when nothing was. */
bool ipc_free_pointer(Call *call, uint64_t address);
/* Keeps what a program says of managed memory (hints.c). */
CUresult hint_advise(const Call *call, Range range, CUmem_advise advice, CUmemLocation location);
void hint_prefetch(const Call *call, Range range, CUmemLocation location);
void hints_forget(Driver *driver, Range range);

/* ---- Graphs ---- */

/* What a graph's node allocates goes with its region (graph_memory.c). */
void graph_memory_end(Driver *driver, struct GraphMemory *memory);
/* Sets a condition of a graph (graph_branch.c); `driver` is a Driver. */
bool conditional_set(void *driver, uint64_t handle, uint32_t value);

/* ---- Pools (pool.c) ---- */

/* Counts memory as in use; false when the pool may not hold so much. */
bool pool_take(Pool *pool, uint64_t bytes);
/* The opposite. A pool that was destroyed ends with the last of its memory. */
void pool_give_back(Pool *pool, uint64_t bytes);

#endif
