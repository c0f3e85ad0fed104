/* The queues of streams (see the header). An item can be executed when it is the first of its
 * queue. If the legacy default stream and others wait for each other, it must be the first in all
 * of these queues. Of several items that can be executed, the oldest comes first. A kernel stays
 * the first of its queue while it is on the device. The kernel behind it may begin too if it is a
 * dependent launch, and so may a kernel behind a wait for an event that a kernel on the device
 * records before its end: the device holds the kernel until the others let it begin.
 *
 * Not modelled: stores of a running kernel to a word for which a stream waits take effect for the
 * wait only when a kernel has ended. */
#include "driver/stream/stream_queue.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "simulator/journal.h"

enum {
    PAUSE_NS = 100000,
    PAUSES_UNTIL_TOLD = 50000, /* five seconds */
    /* Most launches that are queued before a launch waits for room: as many as a GPU's driver
     * queues, as far as programs can see. */
    MOST_KERNELS = 1024,
    MOST_STAGED_BYTES = 64 << 20 /* of pageable memory, staged before a copy waits */
};

struct StreamQueue {
    StreamQueue *next;
    Context *context;
    uint32_t stream;  /* number of the stream */
    bool is_blocking; /* the stream and the legacy default stream wait for each other */
    bool is_running;  /* the host function of its first item is running, without the lock */
    bool is_dropped;  /* it is freed after that, or when its kernels have left the device */
    StreamQueueItem *first, *last;
};

/* ---- The lists ---- */

static StreamQueue *find(const Driver *driver, uint32_t stream) {
    StreamQueue *queue = driver->queues;
    while (queue && queue->stream != stream)
        queue = queue->next;
    return queue;
}

static uint32_t number_of(const Call *call, CUstream stream) {
    return stream_info(call, stream).number;
}

static bool is_blocking(const Call *call, CUstream handle) {
    const Stream *stream = CALL_GET(call, HANDLE_STREAM, handle);
    if (stream) return !(stream->flags & CU_STREAM_NON_BLOCKING);
    return true;
}

/* Whether work in `stream` must wait for earlier work in another queue. */
static bool must_wait_for(const StreamQueue *other, uint32_t stream, bool is_blocking_one) {
    return other->stream == stream || (is_blocking_one && !other->stream) ||
           (!stream && other->is_blocking);
}

/* The number of the first item of the queues that work in `stream` must wait for; UINT64_MAX:
 * none. */
static uint64_t first_before(const Driver *driver, uint32_t stream, bool is_blocking_one) {
    uint64_t first = UINT64_MAX;
    for (const StreamQueue *other = driver->queues; other; other = other->next) {
        const bool counts = must_wait_for(other, stream, is_blocking_one);
        if (counts && other->first->number < first) first = other->first->number;
    }
    return first;
}

/* Whether an item of a queue must wait for an item of another queue. */
static bool has_other_before(const Driver *driver, const StreamQueue *queue,
                             const StreamQueueItem *item) {
    for (const StreamQueue *other = driver->queues; other; other = other->next) {
        if (other != queue && must_wait_for(other, queue->stream, queue->is_blocking) &&
            other->first->number < item->number)
            return true;
    }
    return false;
}

bool stream_queue_holds(const Call *call, CUstream stream) {
    return call->driver->queues && first_before(call->driver, number_of(call, stream),
                                                is_blocking(call, stream)) != UINT64_MAX;
}

/* The items of a queue are executed in order. */
bool stream_queue_has(const Driver *driver, BacklogPoint point) {
    const StreamQueue *queue = point.item ? find(driver, point.stream) : NULL;
    return queue && queue->first->number <= point.item;
}

BacklogPoint stream_queue_add(Call *call, CUstream stream, StreamQueueItem item) {
    Driver *driver = call->driver;
    const uint32_t number = number_of(call, stream);
    StreamQueue *queue = find(driver, number);
    if (!queue) {
        StreamQueue **link = &driver->queues;
        while (*link)
            link = &(*link)->next;
        queue = *link = base_calloc(1, sizeof *queue);
        queue->context = call->context;
        queue->stream = number;
        queue->is_blocking = is_blocking(call, stream);
    }
    StreamQueueItem *added = base_malloc(sizeof *added);
    *added = item;
    added->number = ++driver->last_item;
    added->next = NULL;
    if (queue->last) queue->last->next = added;
    else queue->first = added;
    queue->last = added;
    driver->staged_bytes += item.staged_bytes;
    if (item.kind == STREAM_QUEUE_KERNEL)
        journal_wait(driver->simulator->journal, ++driver->queued_kernels);
    return (BacklogPoint){added->number, number};
}

static void kernel_free(QueuedKernel *kernel) {
    free(kernel->run.grid.message);
    free(kernel);
}

static void item_free(Driver *driver, StreamQueueItem *item) {
    if (item->kind == STREAM_QUEUE_KERNEL) {
        kernel_free(item->kernel);
        journal_wait(driver->simulator->journal, --driver->queued_kernels);
    }
    if (item->kind == STREAM_QUEUE_WORK) work_free(driver, &item->work);
    if (item->kind == STREAM_QUEUE_LAUNCH) graph_launch_free(driver, item->launch);
    driver->staged_bytes -= item->staged_bytes;
    free(item->staged);
    free(item);
    driver->stream_queue_changes++;
    driver->waiting_threads = 0;
}

/* Frees the items after one, which becomes the last; NULL: frees all. */
static void cut(Driver *driver, StreamQueue *queue, StreamQueueItem *last) {
    StreamQueueItem *item = last ? last->next : queue->first;
    if (last) last->next = NULL;
    else queue->first = NULL;
    queue->last = last;
    for (StreamQueueItem *next; item; item = next) {
        next = item->next;
        item_free(driver, item);
    }
}

/* Removes a queue with all of its items from the list. */
static void drop(Driver *driver, StreamQueue *queue) {
    StreamQueue **link = &driver->queues;
    while (*link != queue)
        link = &(*link)->next;
    *link = queue->next;
    cut(driver, queue, NULL);
    free(queue);
}

static bool is_on_device(const StreamQueueItem *item) {
    if (item->kind == STREAM_QUEUE_KERNEL) return kernel_is_on_device(&item->kernel->run);
    return item->kind == STREAM_QUEUE_LAUNCH && graph_launch_is_on_device(item->launch);
}

/* The last item of a queue that is on the device; NULL: none. */
static StreamQueueItem *last_on_device(const StreamQueue *queue) {
    StreamQueueItem *last = NULL;
    for (StreamQueueItem *item = queue->first; item; item = item->next)
        if (is_on_device(item)) last = item;
    return last;
}

/* Drops the items of a context's streams, except kernels on the device. */
static void clear(Driver *driver, const Context *context) {
    for (StreamQueue *queue = driver->queues, *next; queue; queue = next) {
        next = queue->next;
        if (queue->context != context) continue;
        StreamQueueItem *last = last_on_device(queue);
        queue->is_dropped = queue->is_running || last;
        if (queue->is_dropped) cut(driver, queue, last ? last : queue->first);
        else drop(driver, queue);
    }
}

/* ---- Execution ---- */

static Call call_of(Driver *driver, Context *context) {
    return (Call){.driver = driver,
                  .context = context,
                  .memory = simulator_memory(driver->simulator),
                  .gpu = driver->simulator->gpu};
}

static CUresult call_back(Call *call, const StreamQueueItem *item) {
    const CUcontext context = call->context->handle;
    call_end(call, CUDA_SUCCESS);
    item->callback.function(item->callback.stream, CUDA_SUCCESS, item->callback.user);
    if (call_begin_driver(call)) abort(); /* the driver exists as long as the process */
    call->context = CALL_GET(call, HANDLE_CONTEXT, context);
    return call->context ? call->context->error : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

/* Contexts take turns on a device. */
bool stream_queue_may_begin(const Call *call) {
    const SimulatorGrid *grid = call->driver->simulator->grids;
    return !grid || grid->context == call->context;
}

static CUresult run_kernel(Call *call, KernelRun *kernel) {
    if (!kernel->is_begun && stream_queue_may_begin(call)) kernel_begin(call, kernel, NULL, 0);
    if (!kernel->is_begun || kernel_is_on_device(kernel)) return CUDA_ERROR_NOT_READY;
    return kernel_end(call, kernel);
}

/* The kernel on the device that records an event before its end; NULL: none. */
static struct GpuGrid *recorder(const Driver *driver, const StreamQueueItem *wait) {
    if (edge_is_ordinary(wait->edge)) return NULL;
    const StreamQueueItem *item = find(driver, wait->awaited.stream)->first;
    while (item && item->number != wait->awaited.item)
        item = item->next; /* a queue that was dropped may have lost it */
    return item && is_on_device(item) ? item->kernel->run.grid.gpu : NULL;
}

/* Grids on the device that let the kernel behind some items begin before they end. */
typedef struct Prerequisites {
    GpuPrerequisite items[GPU_MOST_PREREQUISITES];
    uint32_t count;
} Prerequisites;

/* Adds what an item is for the kernel behind it. Returns false if that must wait for the item. */
static bool add_prerequisite(const Driver *driver, const StreamQueueItem *item,
                             Prerequisites *before) {
    static const CUgraphEdgeData programmatic = {.from_port =
                                                     CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
                                                 .type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC};
    const bool is_kernel = item->kind == STREAM_QUEUE_KERNEL;
    if (!is_kernel && item->kind != STREAM_QUEUE_EVENT) return false;
    if (!is_kernel && !stream_queue_has(driver, item->awaited)) return true;
    struct GpuGrid *grid = is_kernel ? item->kernel->run.grid.gpu : recorder(driver, item);
    if (!grid || before->count == GPU_MOST_PREREQUISITES) return false;
    before->items[before->count++] = edge_prerequisite(is_kernel ? programmatic : item->edge, grid);
    return true;
}

/* Begins a kernel behind the first item of a queue before that item is done, if it may. Only waits
 * for events may be between the two. */
static void begin_early(Call *call, const StreamQueue *queue) {
    const Driver *driver = call->driver;
    const StreamQueueItem *item = queue->first;
    const bool is_behind_kernel = item->kind == STREAM_QUEUE_KERNEL;
    Prerequisites before = {.count = 0};
    if (driver->is_serial || !stream_queue_may_begin(call)) return;
    do {
        if (!add_prerequisite(driver, item, &before)) return;
        item = item->next;
    } while (item && item->kind == STREAM_QUEUE_EVENT);
    if (!item || item->kind != STREAM_QUEUE_KERNEL || has_other_before(driver, queue, item)) return;
    KernelRun *kernel = &item->kernel->run;
    if (kernel->is_begun || (is_behind_kernel && !kernel->is_dependent)) return;
    kernel_begin(call, kernel, before.items, before.count);
}

/* The program may have destroyed the event meanwhile. */
static CUresult run_work(Call *call, StreamQueueItem *item) {
    if (item->work.type == CU_GRAPH_NODE_TYPE_EVENT_RECORD &&
        !CALL_GET(call, HANDLE_EVENT, item->work.event))
        return CUDA_SUCCESS;
    return work_run(call, &item->work, &item->done);
}

static CUresult run(Call *call, StreamQueueItem *item) {
    switch (item->kind) {
    case STREAM_QUEUE_KERNEL: return run_kernel(call, &item->kernel->run);
    case STREAM_QUEUE_WORK: return run_work(call, item);
    case STREAM_QUEUE_EVENT:
        return stream_queue_has(call->driver, item->awaited) ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
    case STREAM_QUEUE_LAUNCH: return graph_launch_run(call, item->launch);
    case STREAM_QUEUE_CALLBACK: return call_back(call, item);
    case STREAM_QUEUE_FREE:
    default: return memory_free_address(call, item->address);
    }
}

/* Whether the first item of a queue may be executed, because no other item precedes it. */
static bool is_next(const Driver *driver, const StreamQueue *queue) {
    return !queue->is_running &&
           first_before(driver, queue->stream, queue->is_blocking) >= queue->first->number;
}

/* Removes the first item, which is done, from its queue. */
static void finish_first(Driver *driver, StreamQueue *queue) {
    StreamQueueItem *item = queue->first;
    queue->first = item->next;
    if (!queue->first) queue->last = NULL;
    item_free(driver, item);
    if (!queue->first) drop(driver, queue);
}

/* Executes the first item of a queue, if possible. Returns whether it did. */
static bool step(Driver *driver, StreamQueue *queue) {
    Call call = call_of(driver, queue->context);
    CUresult status = CUDA_SUCCESS;
    if (!is_next(driver, queue)) return false;
    if (!queue->is_dropped) {
        queue->is_running = true;
        status = run(&call, queue->first);
        queue->is_running = false;
    }
    if (queue->is_dropped) {
        if (last_on_device(queue)) return false;
        drop(driver, queue);
        return true;
    }
    if (status == CUDA_ERROR_NOT_READY) {
        begin_early(&call, queue);
        return false;
    }
    Context *context = queue->context;
    finish_first(driver, queue);
    if (status) {
        context->error = status;
        clear(driver, context); /* nothing more is executed in it */
    }
    return true;
}

/* The queue whose first item has the lowest number above a given one; NULL: none. */
static StreamQueue *after(const Driver *driver, uint64_t number) {
    StreamQueue *found = NULL;
    for (StreamQueue *queue = driver->queues; queue; queue = queue->next) {
        const uint64_t own = queue->first->number;
        if (own > number && (!found || own < found->first->number)) found = queue;
    }
    return found;
}

void stream_queue_advance(Call *call) {
    Driver *driver = call->driver;
    if (!driver->queues || driver->is_advancing) return;
    driver->is_advancing = true;
    uint64_t number = 0;
    for (StreamQueue *queue; (queue = after(driver, number)) != NULL;) {
        number = queue->first->number;
        if (step(driver, queue)) number = 0;
    }
    driver->is_advancing = false;
}

/* ---- Accepting work ---- */

bool stream_queue_overlaps(const Call *call) {
    return call->driver->last_stream && !call->driver->is_serial;
}

bool stream_queue_keeps_kernels(Call *call, CUstream stream) {
    if (stream_queue_overlaps(call)) return true;
    stream_queue_advance(call);
    return stream_queue_holds(call, stream);
}

BacklogPoint stream_queue_add_kernel(Call *call, CUstream stream, QueuedKernel *kernel) {
    const Driver *driver = call->driver;
    const BacklogPoint point = stream_queue_add(
        call, stream, (StreamQueueItem){.kind = STREAM_QUEUE_KERNEL, .kernel = kernel});
    while (driver->queued_kernels > MOST_KERNELS) {
        stream_queue_advance(call);
        if (driver->queued_kernels <= MOST_KERNELS || !simulator_advance(driver->simulator)) break;
    }
    return point;
}

/* Whether a side of a copy is pageable host memory. A copy from such memory reads it immediately; a
 * copy to it is complete when its call returns. */
static bool is_pageable(const Call *call, CUmemorytype type, uint64_t pointer) {
    if (type != CU_MEMORYTYPE_HOST && type != CU_MEMORYTYPE_UNIFIED) return false;
    return !memory_device_address(call, pointer);
}

/* Copies the pageable memory that a copy will read. */
static void *stage(CUDA_MEMCPY3D *copy, size_t *size) {
    const bool is_host = copy->srcMemoryType == CU_MEMORYTYPE_HOST;
    const char *from = is_host ? copy->srcHost : (const char *)(uintptr_t)copy->srcDevice;
    const size_t pitch = copy->srcPitch ? copy->srcPitch : copy->srcXInBytes + copy->WidthInBytes;
    const size_t rows = copy->srcHeight ? copy->srcHeight : copy->srcY + copy->Height;
    if (!copy->WidthInBytes || !copy->Height || !copy->Depth) return NULL;
    const size_t first = copy->srcZ * rows * pitch + copy->srcY * pitch + copy->srcXInBytes;
    const size_t bytes =
        (copy->Depth - 1) * rows * pitch + (copy->Height - 1) * pitch + copy->WidthInBytes;
    char *staged = base_malloc(bytes);
    *size = bytes;
    memcpy(staged, from + first, bytes);
    copy->srcMemoryType = CU_MEMORYTYPE_HOST;
    copy->srcHost = staged;
    copy->srcXInBytes = copy->srcY = copy->srcZ = 0;
    copy->srcPitch = pitch;
    copy->srcHeight = rows;
    return staged;
}

static CUresult take_copy(Call *call, CUstream stream, const CUDA_MEMCPY3D *given, bool *is_taken) {
    StreamQueueItem item = {.kind = STREAM_QUEUE_WORK};
    CUDA_MEMCPY3D copy = *given;
    const uint64_t to =
        copy.dstMemoryType == CU_MEMORYTYPE_HOST ? (uintptr_t)copy.dstHost : copy.dstDevice;
    const uint64_t from =
        copy.srcMemoryType == CU_MEMORYTYPE_HOST ? (uintptr_t)copy.srcHost : copy.srcDevice;
    const bool is_from_pageable = is_pageable(call, copy.srcMemoryType, from);
    if (is_pageable(call, copy.dstMemoryType, to) ||
        (is_from_pageable && call->driver->staged_bytes > MOST_STAGED_BYTES)) {
        *is_taken = false;
        return stream_queue_wait(call, stream);
    }
    if (is_from_pageable) {
        if (!copy_is_addressable(call, &copy)) return CUDA_ERROR_INVALID_VALUE;
        item.staged = stage(&copy, &item.staged_bytes);
    }
    CUresult status =
        work_make(call, (WorkGiven){CU_GRAPH_NODE_TYPE_MEMCPY, &copy, NULL}, &item.work);
    if (status == CUDA_SUCCESS) stream_queue_add(call, stream, item);
    else free(item.staged);
    return status;
}

/* Whether a stream will free memory that an allocation in it may get again. */
static bool has_free(const Call *call, CUstream stream) {
    const StreamQueue *queue = find(call->driver, number_of(call, stream));
    for (const StreamQueueItem *item = queue ? queue->first : NULL; item; item = item->next)
        if (item->kind == STREAM_QUEUE_FREE) return true;
    return false;
}

static CUresult take(Call *call, CUstream stream, WorkGiven given) {
    StreamQueueItem item = {.kind = STREAM_QUEUE_WORK};
    CUresult status = CUDA_SUCCESS;
    if (given.type == CU_GRAPH_NODE_TYPE_MEM_FREE)
        item = (StreamQueueItem){.kind = STREAM_QUEUE_FREE, .address = (uintptr_t)given.parameters};
    else status = work_make(call, given, &item.work);
    if (status) return status;
    const BacklogPoint point = stream_queue_add(call, stream, item);
    if (given.type == CU_GRAPH_NODE_TYPE_HOST || given.type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP)
        stream_queue_settle(call, point);
    return CUDA_SUCCESS;
}

CUresult stream_queue_take(Call *call, CUstream stream, WorkGiven given, bool *is_taken) {
    if (!call->driver->queued_kernels) stream_queue_advance(call);
    *is_taken = stream_queue_holds(call, stream);
    if (!*is_taken) return CUDA_SUCCESS;
    if (given.type == CU_GRAPH_NODE_TYPE_MEM_ALLOC) { /* an address is available immediately */
        *is_taken = false;
        return has_free(call, stream) ? stream_queue_wait(call, stream) : CUDA_SUCCESS;
    }
    if (given.type == CU_GRAPH_NODE_TYPE_MEMCPY && given.parameters)
        return take_copy(call, stream, given.parameters, is_taken);
    return take(call, stream, given);
}

CUresult stream_queue_record(Call *call, CUstream stream, Event *event, CUevent handle) {
    const WorkGiven work = {CU_GRAPH_NODE_TYPE_EVENT_RECORD, handle, NULL};
    StreamQueueItem item = {.kind = STREAM_QUEUE_WORK};
    if (!call->driver->queued_kernels) stream_queue_advance(call);
    event->point.item = 0;
    event->edge = (CUgraphEdgeData){0};
    if (!stream_queue_holds(call, stream)) {
        event_record(call, event);
        return CUDA_SUCCESS;
    }
    CUresult status = work_make(call, work, &item.work);
    if (status) return status;
    const BacklogPoint point = event->point = stream_queue_add(call, stream, item);
    if (event->flags & CU_EVENT_INTERPROCESS) stream_queue_settle(call, point);
    return CUDA_SUCCESS;
}

/* ---- Waiting ---- */

/* What a call waits for: items up to number `last` in some queues. */
typedef struct Target {
    enum { TARGET_STREAM, TARGET_ALL, TARGET_ITEM } kind;
    CUstream stream;    /* TARGET_STREAM */
    BacklogPoint point; /* TARGET_ITEM; otherwise only its number is used */
} Target;

static bool is_reached(const Call *call, const Target *target) {
    const Driver *driver = call->driver;
    if (target->kind == TARGET_ITEM) return !stream_queue_has(driver, target->point);
    uint64_t first = UINT64_MAX;
    if (target->kind == TARGET_STREAM)
        first = first_before(driver, number_of(call, target->stream),
                             is_blocking(call, target->stream));
    for (const StreamQueue *queue = driver->queues; queue; queue = queue->next) {
        if (target->kind == TARGET_ALL && queue->context == call->context &&
            queue->first->number < first)
            first = queue->first->number;
    }
    return first > target->point.item;
}

/* The memory operations that the oldest wait is for, and the index of the operation; NULL: there is
 * none. */
static const GraphWork *oldest_wait(const Driver *driver, unsigned *done) {
    uint64_t number = 0;
    for (const StreamQueue *queue; (queue = after(driver, number)) != NULL;) {
        const StreamQueueItem *item = queue->first;
        number = item->number;
        *done = item->done;
        if (item->kind == STREAM_QUEUE_WORK && item->work.type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP)
            return &item->work;
        const GraphWork *work =
            item->kind == STREAM_QUEUE_LAUNCH ? graph_launch_wait(item->launch, done) : NULL;
        if (work) return work;
    }
    return NULL;
}

/* The number of threads of the process that could end a wait: all except this one, those that wait
 * like it, and the simulator's own, which are recognized by name. A thread that has ended has done
 * all that it will do, so check what is waited for after this. */
static unsigned other_threads(const Driver *driver) {
    DIR *tasks = opendir("/proc/self/task");
    unsigned count = 0;
    for (const struct dirent *entry; tasks && (entry = readdir(tasks)) != NULL;) {
        char path[300], name[32] = "";
        if (!isdigit((unsigned char)entry->d_name[0])) continue;
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", entry->d_name);
        FILE *file = fopen(path, "re");
        if (!file) continue;
        count += fgets(name, sizeof name, file) && strncmp(name, "tyto-", 5) != 0;
        fclose(file);
    }
    if (tasks) closedir(tasks);
    const unsigned waiting = driver->waiting_threads + 1;
    return count > waiting ? count - waiting : 0;
}

static void say_wait(const Call *call, const char *after_words) {
    unsigned done = 0;
    Text what = {0};
    const GraphWork *work = oldest_wait(call->driver, &done);
    if (work) operations_describe(call, &work->operations, done, &what);
    driver_say("error: a stream waits %s%s", work ? text_string(&what) : "for a host function",
               after_words);
    text_free(&what);
}

/* Whether another process could end the oldest wait. */
static bool is_shared(const Call *call) {
    unsigned done = 0;
    const GraphWork *work = oldest_wait(call->driver, &done);
    return work && operations_are_shared(call, &work->operations, done);
}

/* Checks once whether what a call waits for will never happen. */
static bool is_hopeless(Call *call, const Target *target) {
    Driver *driver = call->driver;
    const uint64_t changes = driver->stream_queue_changes;
    const unsigned others = other_threads(driver);
    stream_queue_advance(call);
    return !others && driver->stream_queue_changes == changes && !is_reached(call, target) &&
           !is_shared(call);
}

/* Lets other threads run for a while. A thread that sleeps here can do nothing until the queues
 * change. */
static void pause_call(Call *call) {
    static const struct timespec pause = {.tv_nsec = PAUSE_NS};
    Driver *driver = call->driver;
    const uint64_t changes = driver->stream_queue_changes;
    driver->waiting_threads++;
    call_end(call, CUDA_SUCCESS);
    nanosleep(&pause, NULL);
    if (call_begin_driver(call)) abort(); /* the driver exists as long as the process */
    if (driver->stream_queue_changes == changes) driver->waiting_threads--;
}

/* Runs the device until a kernel has ended; returns false if it has none to run. */
static bool run_device(Call *call) { return simulator_advance(call->driver->simulator); }

static CUresult wait_for(Call *call, Target target) {
    const CUcontext context = call->context->handle;
    for (int pauses = 1;; pauses++) {
        do {
            stream_queue_advance(call);
            call->context = CALL_GET(call, HANDLE_CONTEXT, context);
            if (!call->context) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
        } while (!is_reached(call, &target) && run_device(call));
        if (is_reached(call, &target)) break;
        if (is_hopeless(call, &target)) {
            say_wait(call, ", and nothing is left that could change it");
            call->context->error = CUDA_ERROR_LAUNCH_TIMEOUT;
            clear(call->driver, call->context);
            break;
        }
        if (is_reached(call, &target)) break;
        if (pauses == PAUSES_UNTIL_TOLD)
            say_wait(call, " for a long time; another thread or process may still change it");
        pause_call(call);
    }
    return call->context->error;
}

CUresult stream_queue_wait(Call *call, CUstream stream) {
    const Target target = {TARGET_STREAM, stream, {call->driver->last_item, 0}};
    return call->driver->queues ? wait_for(call, target) : CUDA_SUCCESS;
}

CUresult stream_queue_wait_legacy(Call *call) { return stream_queue_wait(call, NULL); }

CUresult stream_queue_wait_all(Call *call) {
    const Target target = {TARGET_ALL, NULL, {call->driver->last_item, 0}};
    return call->driver->queues ? wait_for(call, target) : CUDA_SUCCESS;
}

CUresult stream_queue_wait_point(Call *call, BacklogPoint point) {
    const Target target = {TARGET_ITEM, NULL, point};
    return call->driver->queues ? wait_for(call, target) : CUDA_SUCCESS;
}

void stream_queue_settle(Call *call, BacklogPoint point) {
    do
        stream_queue_advance(call);
    while (stream_queue_has(call->driver, point) && run_device(call));
}

void stream_queue_drain(Call *call) {
    do
        stream_queue_advance(call);
    while (run_device(call));
}

CUresult call_begin_idle(Call *call) {
    CUresult status = call_begin(call);
    if (status || !call->driver->queues) return status;
    stream_queue_drain(call);
    return call->context->error ? call_end(call, call->context->error) : CUDA_SUCCESS;
}

/* ---- Queries ---- */

static CUresult say_not_ready(Call *call) {
    if (run_device(call)) stream_queue_advance(call);
    return CUDA_ERROR_NOT_READY;
}

CUresult stream_queue_ask(Call *call, CUstream stream) {
    stream_queue_advance(call);
    return stream_queue_holds(call, stream) ? say_not_ready(call) : CUDA_SUCCESS;
}

CUresult stream_queue_ask_point(Call *call, BacklogPoint point) {
    stream_queue_advance(call);
    return stream_queue_has(call->driver, point) ? say_not_ready(call) : CUDA_SUCCESS;
}

/* ---- Destruction ---- */

void stream_queue_end_context(Driver *driver, Context *context) {
    Call call = call_of(driver, context);
    if (!driver->queues) return;
    stream_queue_drain(&call);
    clear(driver, context);
}

/* Whether a host function of a stream has ended the program. */
static bool is_in_host_function(const Driver *driver) {
    for (const StreamQueue *queue = driver->queues; queue; queue = queue->next)
        if (queue->is_running && queue->first->kind != STREAM_QUEUE_KERNEL) return true;
    return false;
}

/* An interrupt ends the program before the remaining work. */
void stream_queue_finish(Driver *driver) {
    Call call = call_of(driver, NULL);
    unsigned done;
    if (!driver->signal && !driver->is_advancing) stream_queue_drain(&call);
    if (oldest_wait(driver, &done) || is_in_host_function(driver))
        say_wait(&call, " at the end of the program; what was given to it since was never done");
}
