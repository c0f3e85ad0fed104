/* Work that kernels leave to be done after them: kernels that they launched, copies and fills. When
 * a grid has ended, its children run next, each followed by its own children; the grid's tail
 * launches follow all of those.
 *
 * If a kernel waits for its children, they run immediately, in its middle. On a machine, the whole
 * grid is swapped out meanwhile: all its CTAs stay as they are, and the children run on another
 * machine of the same kind, so they never lack a slot that a waiting CTA occupies. The caches of
 * that machine persist from one wait to the next. Counts and time of the children are added to the
 * parent's. */
#include "engine/launch/gpu_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "engine/engine.h"

typedef struct Pending {
    Deferred what;
    GpuModule *module; /* of the kernel that asked for it */
    uint32_t depth;    /* number of grids above it */
} Pending;

/* A machine for children that a grid waits for. */
typedef struct Inner {
    struct Engine *engine; /* NULL: no child of this depth was timed so far */
    Watch watch;           /* only sums of the run, no recordings over time */
} Inner;

struct Children {
    Pending *stack; /* a stack: the last entry is next */
    uint32_t count, capacity;
    uint8_t *parameters;           /* of the kernel returned last */
    uint32_t depth;                /* likewise */
    uint64_t clock;                /* likewise: how far its clocks are ahead of its own cycles */
    Inner inner[DEVICE_DEPTH_MAX]; /* machines by depth: for the children that a grid waits for, for
                                      those that these wait for, ... */
};

static void push(Children *children, const Pending *pending) {
    if (children->count == children->capacity) {
        children->capacity = children->capacity ? 2 * children->capacity : 16;
        children->stack =
            base_realloc(children->stack, children->capacity * sizeof *children->stack);
    }
    children->stack[children->count++] = *pending;
}

/* Pushes the requests in reverse, so that the first is next. */
static void push_all(Gpu *gpu, const DeviceRuntime *runtime, GpuModule *module, bool are_tails) {
    for (uint32_t i = runtime->asked.count; i-- > 0;) {
        const Deferred *what = &runtime->asked.items[i];
        uint32_t depth = what->is_tail ? runtime->depth : runtime->depth + 1;
        if (what->is_tail == are_tails) push(gpu->children, &(Pending){*what, module, depth});
    }
}

static void drop(Gpu *gpu, const Deferred *what) {
    if (what->kind == DEFERRED_KERNEL) mem_release(gpu->memory, what->parameters);
}

static void drop_list(Gpu *gpu, DeferredList *list) {
    for (uint32_t i = 0; i < list->count; i++)
        drop(gpu, &list->items[i]);
    deferred_clear(list);
}

void children_begin(Gpu *gpu, DeviceRuntime *runtime) {
    if (!gpu->children) gpu->children = base_calloc(1, sizeof *gpu->children);
    runtime->depth = gpu->children->depth;
    runtime->clock_ahead = gpu->children->clock;
    gpu->children->depth = 0;
    gpu->children->clock = 0;
}

void gpu_drop_children(Gpu *gpu) {
    while (gpu->children && gpu->children->count)
        drop(gpu, &gpu->children->stack[--gpu->children->count].what);
}

void children_end(Gpu *gpu, DeviceRuntime *runtime, GpuModule *module, bool is_right) {
    if (is_right) {
        push_all(gpu, runtime, module, true);
        push_all(gpu, runtime, module, false);
        deferred_clear(&runtime->asked);
    } else {
        drop_list(gpu, &runtime->asked);
        gpu_drop_children(gpu);
    }
    drop_list(gpu, &runtime->buffers);
}

void children_free(Gpu *gpu) {
    if (!gpu->children) return;
    for (uint32_t i = 0; i < DEVICE_DEPTH_MAX; i++)
        engine_free(gpu->children->inner[i].engine);
    free(gpu->children->stack);
    free(gpu->children->parameters);
    free(gpu->texts);
    free(gpu->children);
}

/* Executes a copy or fill of a box, row by row. */
static void move_box(Gpu *gpu, const Deferred *what) {
    for (uint64_t slice = 0; slice < what->slices; slice++) {
        uint64_t to = what->to.address + slice * what->to.slice_pitch;
        uint64_t from = what->from.address + slice * what->from.slice_pitch;
        for (uint64_t row = 0; row < what->rows; row++) {
            if (what->kind == DEFERRED_COPY) mem_copy(gpu->memory, to, from, what->bytes);
            else mem_fill(gpu->memory, to, what->value, 1, what->bytes);
            gpu_host_wrote(gpu, to, what->bytes);
            to += what->to.pitch;
            from += what->from.pitch;
        }
    }
}

/* Executes the copies and fills on top of the stack, down to `base`, and takes the first kernel. */
static bool next(Gpu *gpu, uint32_t base, GpuLaunch *child) {
    Children *children = gpu->children;
    while (children && children->count > base) {
        Pending top = children->stack[--children->count];
        const Deferred *what = &top.what;
        if (what->kind != DEFERRED_KERNEL) {
            move_box(gpu, what);
            continue;
        }
        uint32_t bytes = top.module->program->functions[what->function].ptx->parameter_bytes;
        children->parameters = base_realloc(children->parameters, bytes + 1);
        mem_read(gpu->memory, what->parameters, children->parameters, bytes);
        mem_release(gpu->memory, what->parameters);
        children->depth = top.depth;
        *child = (GpuLaunch){.module = top.module,
                             .function = (int)what->function,
                             .dynamic_shared_bytes = what->shared_bytes,
                             .parameters = children->parameters};
        memcpy(child->grid, what->grid, sizeof child->grid);
        memcpy(child->block, what->block, sizeof child->block);
        gpu_count_ctas(child);
        return true;
    }
    return false;
}

bool gpu_next_child(Gpu *gpu, GpuLaunch *child) { return next(gpu, 0, child); }

/* ---- Children that run in the middle of their parent ---- */

/* The state of the GPU that belongs to the grid that runs. */
typedef struct Running {
    GpuGrid *grids;
    GpuGrid *running;
    IsaCta **ctas;
    uint32_t cta_count;
    uint64_t total_ctas;
    struct Engine *engine;
    Watch *watch;
    uint32_t threads;
} Running;

static Running running_of(const Gpu *gpu) {
    return (Running){.grids = gpu->grids,
                     .running = gpu->running,
                     .ctas = gpu->ctas,
                     .cta_count = gpu->cta_count,
                     .total_ctas = atomic_load(&gpu->total_ctas),
                     .engine = gpu->engine,
                     .watch = gpu->options.watch,
                     .threads = gpu->options.threads};
}

static void go_on(Gpu *gpu, const Running *running) {
    gpu->grids = running->grids;
    gpu->running = running->running;
    gpu->ctas = running->ctas;
    gpu->cta_count = running->cta_count;
    atomic_store(&gpu->total_ctas, running->total_ctas);
    gpu->engine = running->engine;
    gpu->options.watch = running->watch;
    gpu->options.threads = running->threads;
}

/* Gives the GPU the machine for the children of a timed grid. */
static void use_inner(Gpu *gpu, Inner *inner) {
    const Watch *watch = gpu->options.watch;
    inner->watch = (Watch){0};
    if (watch) inner->watch = (Watch){.profile = watch->profile, .units = watch->units};
    gpu->options.watch = &inner->watch;
    gpu->options.threads = 1;
    if (!inner->engine) inner->engine = engine_new(&gpu->options, gpu->calls);
    gpu->engine = inner->engine;
}

void gpu_add_result(GpuResult *sum, const GpuResult *part) {
    Counters counters = part->counters;
    counters.kernels = 0; /* it is part of a launch */
    counters_add(&sum->counters, &counters);
    histograms_add(&sum->histograms, &part->histograms);
    warp_states_add(&sum->states, &part->states);
    sum->warp_instructions += part->warp_instructions;
    sum->thread_instructions += part->thread_instructions;
    sum->cycles += part->cycles;
    sum->time_ps += part->time_ps;
}

/* Launches what is on the stack above `base`, for the grid `waited`; `clock` is the time. */
static void run_children(Gpu *gpu, Waited *waited, bool are_timed, uint32_t base, uint64_t *clock,
                         GpuResult *result) {
    GpuLaunch child;
    result->status = GPU_OK;
    while (result->status == GPU_OK && next(gpu, base, &child)) {
        child.is_functional = !are_timed;
        gpu->children->clock = *clock - (are_timed ? engine_cycle(gpu->engine) : 0);
        gpu_launch(gpu, &child, result);
        if (!waited->has_any) *waited = (Waited){.has_any = true};
        gpu_add_result(&waited->sum, result);
        *clock += are_timed ? result->cycles : result->warp_instructions;
    }
}

bool children_wait(void *user, uint64_t clock, char *text, size_t size, int *code) {
    Gpu *gpu = user;
    Children *children = gpu->children;
    GpuGrid *grid = gpu->running;
    DeviceRuntime *parent = &grid->runtime;
    const Running running = running_of(gpu);
    const bool is_timed = grid->is_on_machine;
    const uint64_t start = clock;
    const uint32_t base = children->count;
    GpuResult result;
    push_all(gpu, parent, grid->module, false);
    uint32_t kept = 0; /* tail launches stay on the stack */
    for (uint32_t i = 0; i < parent->asked.count; i++) {
        if (parent->asked.items[i].is_tail) parent->asked.items[kept++] = parent->asked.items[i];
    }
    parent->asked.count = kept;
    gpu->grids = NULL;
    gpu->ctas = NULL;
    gpu->cta_count = 0;
    Inner *inner = &children->inner[gpu->depth++];
    if (is_timed) use_inner(gpu, inner);
    run_children(gpu, &grid->waited, is_timed, base, &clock, &result);
    if (is_timed) inner->engine = gpu->engine; /* after a failure the machine is a new one */
    gpu->depth--;
    gpu_free_ctas(gpu);
    go_on(gpu, &running);
    parent->clock_ahead += clock - start;
    if (result.status == GPU_OK) return true;
    snprintf(text, size, "%s", result.message);
    *code = result.status == GPU_FAULT ? result.fault_code : ISA_FAULT_CALL;
    return false;
}

/* ---- Texts that kernels ask for ---- */

struct DeviceText {
    const char *text; /* owned by the host; never freed */
    uint64_t address;
};

uint64_t gpu_keep_text(void *user, const char *text) {
    Gpu *gpu = user;
    for (uint32_t i = 0; i < gpu->text_count; i++)
        if (gpu->texts[i].text == text) return gpu->texts[i].address;
    size_t size = strlen(text) + 1;
    uint64_t address = mem_alloc(gpu->memory, size, MEM_ALLOC_ALIGN, MEM_KIND_GLOBAL, text);
    if (!address || !mem_write(gpu->memory, address, text, size)) return 0;
    gpu->texts = base_realloc(gpu->texts, (gpu->text_count + 1) * sizeof *gpu->texts);
    gpu->texts[gpu->text_count++] = (struct DeviceText){text, address};
    return address;
}
