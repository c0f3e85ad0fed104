/* The backlogs of streams (see the header). An item is done when it is the first of its backlog,
 * and, where the legacy default stream and others wait for each other, the first of all of those.
 * Of several that can be done it is always the one that was given first.
 *
 * Left out: what a kernel under way would do to a word while a wait looks at it, since kernels are
 * over when their call returns. */
#include "driver/backlog.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PAUSE_NS = 100000, PAUSES_UNTIL_TOLD = 50000 /* five seconds */ };

struct Backlog {
    Backlog *next;
    Context *context;
    CUstream stream;  /* NULL: the legacy default one */
    bool is_detached; /* the stream is destroyed */
    bool is_blocking; /* it and the legacy default stream wait for each other */
    bool is_running;  /* its first item's host function is under way, without the lock */
    bool is_dropped;  /* it ends after that */
    BacklogItem *first, *last;
};

/* ---- The lists ---- */

/* The two handles of the legacy default stream are one. */
static CUstream plain_handle(CUstream stream) { return stream == CU_STREAM_LEGACY ? NULL : stream; }

static Backlog *find(const Driver *driver, CUstream stream) {
    Backlog *backlog = driver->backlogs;
    while (backlog && (backlog->is_detached || backlog->stream != plain_handle(stream)))
        backlog = backlog->next;
    return backlog;
}

static bool is_blocking(const Call *call, CUstream handle) {
    const Stream *stream = CALL_GET(call, HANDLE_STREAM, handle);
    if (stream) return !(stream->flags & CU_STREAM_NON_BLOCKING);
    return true;
}

/* The number of the first item of backlogs that work in `stream` waits for; UINT64_MAX: none. */
static uint64_t first_before(const Driver *driver, CUstream stream, bool is_blocking_one) {
    uint64_t first = UINT64_MAX;
    for (const Backlog *other = driver->backlogs; other; other = other->next) {
        const bool is_own = !other->is_detached && other->stream == stream;
        const bool is_legacy = !other->is_detached && !other->stream;
        const bool counts =
            is_own || (is_blocking_one && is_legacy) || (!stream && other->is_blocking);
        if (counts && other->first->number < first) first = other->first->number;
    }
    return first;
}

bool backlog_holds(const Call *call, CUstream stream) {
    return call->driver->backlogs && first_before(call->driver, plain_handle(stream),
                                                  is_blocking(call, stream)) != UINT64_MAX;
}

bool backlog_has(const Driver *driver, uint64_t number) {
    for (const Backlog *backlog = driver->backlogs; backlog && number; backlog = backlog->next) {
        for (const BacklogItem *item = backlog->first; item; item = item->next) {
            if (item->number == number) return true;
        }
    }
    return false;
}

uint64_t backlog_add(Call *call, CUstream stream, BacklogItem item) {
    Driver *driver = call->driver;
    Backlog *backlog = find(driver, stream);
    if (!backlog) {
        Backlog **link = &driver->backlogs;
        while (*link)
            link = &(*link)->next;
        backlog = *link = base_calloc(1, sizeof *backlog);
        backlog->context = call->context;
        backlog->stream = plain_handle(stream);
        backlog->is_blocking = is_blocking(call, stream);
    }
    BacklogItem *added = base_malloc(sizeof *added);
    *added = item;
    added->number = ++driver->last_item;
    added->next = NULL;
    if (backlog->last) backlog->last->next = added;
    else backlog->first = added;
    backlog->last = added;
    return added->number;
}

static void item_free(Driver *driver, BacklogItem *item) {
    if (item->kind == BACKLOG_WORK) work_free(driver, &item->work);
    if (item->kind == BACKLOG_LAUNCH) graph_launch_free(driver, item->launch);
    free(item->staged);
    free(item);
    driver->backlog_changes++;
    driver->waiting_threads = 0;
}

/* Takes a backlog out of the list, with all of its items. */
static void drop(Driver *driver, Backlog *backlog) {
    Backlog **link = &driver->backlogs;
    while (*link != backlog)
        link = &(*link)->next;
    *link = backlog->next;
    for (BacklogItem *item = backlog->first, *next; item; item = next) {
        next = item->next;
        item_free(driver, item);
    }
    free(backlog);
}

/* ---- Doing ---- */

static CUresult call_back(Call *call, const BacklogItem *item) {
    const CUcontext context = call->context->handle;
    call_end(call, CUDA_SUCCESS);
    item->callback.function(item->callback.stream, CUDA_SUCCESS, item->callback.user);
    if (call_begin_driver(call)) abort(); /* the driver is there for as long as the process */
    call->context = CALL_GET(call, HANDLE_CONTEXT, context);
    return call->context ? call->context->error : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

static CUresult run(Call *call, BacklogItem *item) {
    switch (item->kind) {
    case BACKLOG_WORK: return work_run(call, &item->work, &item->done);
    case BACKLOG_EVENT:
        return backlog_has(call->driver, item->awaited) ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
    case BACKLOG_LAUNCH: return graph_launch_run(call, item->launch);
    case BACKLOG_CALLBACK: return call_back(call, item);
    case BACKLOG_FREE:
    default: return memory_free_address(call, item->address);
    }
}

/* Does the first item of a backlog, if that can be done; whether it has. */
static bool step(Driver *driver, Backlog *backlog) {
    Call call = {driver, backlog->context, simulator_memory(driver->simulator),
                 driver->simulator->gpu};
    BacklogItem *item = backlog->first;
    if (backlog->is_running ||
        first_before(driver, backlog->is_detached ? (CUstream)backlog : backlog->stream,
                     backlog->is_blocking) < item->number)
        return false;
    backlog->is_running = true;
    CUresult status = run(&call, item);
    backlog->is_running = false;
    if (backlog->is_dropped) {
        drop(driver, backlog);
        return true;
    }
    if (status == CUDA_ERROR_NOT_READY) return false;
    if (status) backlog->context->error = status;
    backlog->first = item->next;
    if (!backlog->first) backlog->last = NULL;
    item_free(driver, item);
    if (!backlog->first) drop(driver, backlog);
    return true;
}

/* The backlog whose first item comes next after that of a number; NULL: none. */
static Backlog *after(const Driver *driver, uint64_t number) {
    Backlog *found = NULL;
    for (Backlog *backlog = driver->backlogs; backlog; backlog = backlog->next) {
        const uint64_t own = backlog->first->number;
        if (own > number && (!found || own < found->first->number)) found = backlog;
    }
    return found;
}

void backlog_advance(Call *call) {
    Driver *driver = call->driver;
    if (!driver->backlogs || driver->is_advancing) return;
    driver->is_advancing = true;
    uint64_t number = 0;
    for (Backlog *backlog; (backlog = after(driver, number)) != NULL;) {
        number = backlog->first->number;
        if (step(driver, backlog)) number = 0;
    }
    driver->is_advancing = false;
}

/* ---- Taking work ---- */

/* Whether a side of a copy is memory that the host may page out: a copy from there is made at once,
 * and one to there is over when its call returns. */
static bool is_pageable(const Call *call, CUmemorytype type, uint64_t pointer) {
    if (type != CU_MEMORYTYPE_HOST && type != CU_MEMORYTYPE_UNIFIED) return false;
    return !memory_device_address(call, pointer);
}

/* Copies what a copy from pageable memory is going to read. */
static void *stage(CUDA_MEMCPY3D *copy) {
    const bool is_host = copy->srcMemoryType == CU_MEMORYTYPE_HOST;
    const char *from = is_host ? copy->srcHost : (const char *)(uintptr_t)copy->srcDevice;
    const size_t pitch = copy->srcPitch ? copy->srcPitch : copy->srcXInBytes + copy->WidthInBytes;
    const size_t rows = copy->srcHeight ? copy->srcHeight : copy->srcY + copy->Height;
    if (!copy->WidthInBytes || !copy->Height || !copy->Depth) return NULL;
    const size_t first = copy->srcZ * rows * pitch + copy->srcY * pitch + copy->srcXInBytes;
    const size_t bytes =
        (copy->Depth - 1) * rows * pitch + (copy->Height - 1) * pitch + copy->WidthInBytes;
    char *staged = base_malloc(bytes);
    memcpy(staged, from + first, bytes);
    copy->srcMemoryType = CU_MEMORYTYPE_HOST;
    copy->srcHost = staged;
    copy->srcXInBytes = copy->srcY = copy->srcZ = 0;
    copy->srcPitch = pitch;
    copy->srcHeight = rows;
    return staged;
}

static CUresult take_copy(Call *call, CUstream stream, const CUDA_MEMCPY3D *given, bool *is_taken) {
    BacklogItem item = {.kind = BACKLOG_WORK};
    CUDA_MEMCPY3D copy = *given;
    const uint64_t to =
        copy.dstMemoryType == CU_MEMORYTYPE_HOST ? (uintptr_t)copy.dstHost : copy.dstDevice;
    const uint64_t from =
        copy.srcMemoryType == CU_MEMORYTYPE_HOST ? (uintptr_t)copy.srcHost : copy.srcDevice;
    if (is_pageable(call, copy.dstMemoryType, to)) {
        *is_taken = false;
        return backlog_wait(call, stream);
    }
    if (is_pageable(call, copy.srcMemoryType, from)) {
        if (!copy_is_addressable(call, &copy)) return CUDA_ERROR_INVALID_VALUE;
        item.staged = stage(&copy);
    }
    CUresult status =
        work_make(call, (WorkGiven){CU_GRAPH_NODE_TYPE_MEMCPY, &copy, NULL}, &item.work);
    if (status == CUDA_SUCCESS) backlog_add(call, stream, item);
    else free(item.staged);
    return status;
}

CUresult backlog_take(Call *call, CUstream stream, WorkGiven given, bool *is_taken) {
    BacklogItem item = {.kind = BACKLOG_WORK};
    *is_taken = given.type != CU_GRAPH_NODE_TYPE_MEM_ALLOC; /* an address is there at once */
    if (!*is_taken) return CUDA_SUCCESS;
    if (given.type == CU_GRAPH_NODE_TYPE_MEMCPY && given.parameters)
        return take_copy(call, stream, given.parameters, is_taken);
    CUresult status = CUDA_SUCCESS;
    if (given.type == CU_GRAPH_NODE_TYPE_MEM_FREE)
        item = (BacklogItem){.kind = BACKLOG_FREE, .address = (uintptr_t)given.parameters};
    else status = work_make(call, given, &item.work);
    if (status == CUDA_SUCCESS) backlog_add(call, stream, item);
    return status;
}

/* ---- Waiting ---- */

/* Work that a call waits for: items of a number up to `last` in some backlogs. */
typedef struct Target {
    enum { TARGET_STREAM, TARGET_ALL, TARGET_ITEM } kind;
    CUstream stream; /* TARGET_STREAM */
    uint64_t last;
} Target;

static bool is_reached(const Call *call, const Target *target) {
    const Driver *driver = call->driver;
    if (target->kind == TARGET_ITEM) return !backlog_has(driver, target->last);
    uint64_t first = UINT64_MAX;
    if (target->kind == TARGET_STREAM)
        first = first_before(driver, target->stream, is_blocking(call, target->stream));
    for (const Backlog *backlog = driver->backlogs; backlog; backlog = backlog->next) {
        if (target->kind == TARGET_ALL && backlog->context == call->context &&
            backlog->first->number < first)
            first = backlog->first->number;
    }
    return first > target->last;
}

/* The memory operations that the oldest wait is for, and which of them; NULL: there is none. */
static const GraphWork *oldest_wait(const Driver *driver, unsigned *done) {
    uint64_t number = 0;
    for (const Backlog *backlog; (backlog = after(driver, number)) != NULL;) {
        const BacklogItem *item = backlog->first;
        number = item->number;
        *done = item->done;
        if (item->kind == BACKLOG_WORK && item->work.type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP)
            return &item->work;
        const GraphWork *work =
            item->kind == BACKLOG_LAUNCH ? graph_launch_wait(item->launch, done) : NULL;
        if (work) return work;
    }
    return NULL;
}

/* Threads of the process but this one, those that wait as it does, and the simulator's own, whose
 * names say so. A thread that is no more has done all that it would: look at what is waited for
 * after this. */
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

/* One look at what a call waits for; whether that will never come. */
static bool is_hopeless(Call *call, const Target *target) {
    Driver *driver = call->driver;
    const uint64_t changes = driver->backlog_changes;
    const unsigned others = other_threads(driver);
    backlog_advance(call);
    return !others && driver->backlog_changes == changes && !is_reached(call, target) &&
           !is_shared(call);
}

/* Lets the others go on for a while. Who sleeps here can do nothing until the backlogs change. */
static void pause_call(Call *call) {
    static const struct timespec pause = {.tv_nsec = PAUSE_NS};
    Driver *driver = call->driver;
    const uint64_t changes = driver->backlog_changes;
    driver->waiting_threads++;
    call_end(call, CUDA_SUCCESS);
    nanosleep(&pause, NULL);
    if (call_begin_driver(call)) abort(); /* it is there for as long as the process */
    if (driver->backlog_changes == changes) driver->waiting_threads--;
}

static CUresult wait_for(Call *call, Target target) {
    const CUcontext context = call->context->handle;
    backlog_advance(call);
    for (int pauses = 1; !is_reached(call, &target); pauses++) {
        if (is_hopeless(call, &target)) {
            say_wait(call, ", and nothing is left that could change it");
            call->context->error = CUDA_ERROR_LAUNCH_TIMEOUT;
            backlog_clear(call->driver, call->context);
            break;
        }
        if (is_reached(call, &target)) break;
        if (pauses == PAUSES_UNTIL_TOLD)
            say_wait(call, " for a long time; another thread or process may still change it");
        pause_call(call);
        call->context = CALL_GET(call, HANDLE_CONTEXT, context);
        if (!call->context) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    }
    return call->context->error;
}

CUresult backlog_wait(Call *call, CUstream stream) {
    const Target target = {TARGET_STREAM, plain_handle(stream), call->driver->last_item};
    return call->driver->backlogs ? wait_for(call, target) : CUDA_SUCCESS;
}

CUresult backlog_wait_legacy(Call *call) { return backlog_wait(call, NULL); }

CUresult backlog_wait_all(Call *call) {
    const Target target = {TARGET_ALL, NULL, call->driver->last_item};
    return call->driver->backlogs ? wait_for(call, target) : CUDA_SUCCESS;
}

CUresult backlog_wait_item(Call *call, uint64_t number) {
    const Target target = {TARGET_ITEM, NULL, number};
    return call->driver->backlogs ? wait_for(call, target) : CUDA_SUCCESS;
}

/* ---- Ends ---- */

void backlog_leave(Driver *driver, const Stream *stream) {
    for (Backlog *backlog = driver->backlogs; backlog; backlog = backlog->next) {
        const void *object =
            handles_get(&driver->handles, HANDLE_STREAM, (uint64_t)(uintptr_t)backlog->stream);
        if (!backlog->is_detached && object == stream) backlog->is_detached = true;
    }
}

void backlog_clear(Driver *driver, const Context *context) {
    for (Backlog *backlog = driver->backlogs, *next; backlog; backlog = next) {
        next = backlog->next;
        if (backlog->context != context) continue;
        if (backlog->is_running) backlog->is_dropped = true;
        else drop(driver, backlog);
    }
}

void backlog_report(const Driver *driver) {
    if (!driver->backlogs) return;
    const Call call = {(Driver *)(uintptr_t)driver, NULL, simulator_memory(driver->simulator),
                       driver->simulator->gpu};
    say_wait(&call, " at the end of the program; what was given to it since was never done");
}
