/* What kernels leave to be done after them: kernels that they launched, copies and fillings. A
 * grid's children come next when it has ended, each followed by its own; its tail launches come
 * behind all of those. A kernel that waits for its children has them run at once, in its middle. */
#include "gpu/gpu_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

typedef struct Pending {
    Deferred what;
    GpuModule *module; /* of the kernel that asked */
    uint32_t depth;    /* grids above it */
} Pending;

struct Children {
    Pending *stack; /* the last is next */
    uint32_t count, capacity;
    uint8_t *parameters; /* of the kernel given out last */
    uint32_t depth;      /* likewise */
};

static void push(Children *children, const Pending *pending) {
    if (children->count == children->capacity) {
        children->capacity = children->capacity ? 2 * children->capacity : 16;
        children->stack =
            base_realloc(children->stack, children->capacity * sizeof *children->stack);
    }
    children->stack[children->count++] = *pending;
}

/* In reverse, so that the first is next. */
static void push_all(Gpu *gpu, const DeviceRuntime *runtime, GpuModule *module, bool are_tails) {
    for (uint32_t i = runtime->asked.count; i-- > 0;) {
        const Deferred *what = &runtime->asked.items[i];
        uint32_t depth = what->is_tail ? runtime->depth : runtime->depth + 1;
        if (what->is_tail == are_tails) push(gpu->children, &(Pending){*what, module, depth});
    }
}

static void drop(Gpu *gpu, const Deferred *what) {
    if (what->kind == DEFERRED_KERNEL) mem_release(gpu->memory, what->address);
}

static void drop_list(Gpu *gpu, DeferredList *list) {
    for (uint32_t i = 0; i < list->count; i++)
        drop(gpu, &list->items[i]);
    deferred_clear(list);
}

void children_begin(Gpu *gpu, DeviceRuntime *runtime) {
    if (!gpu->children) gpu->children = base_calloc(1, sizeof *gpu->children);
    runtime->depth = gpu->children->depth;
    gpu->children->depth = 0;
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
    free(gpu->children->stack);
    free(gpu->children->parameters);
    free(gpu->children);
}

/* Does the copies and fillings on top of the stack, down to `base`, and takes the first kernel. */
static bool next(Gpu *gpu, uint32_t base, GpuLaunch *child) {
    Children *children = gpu->children;
    while (children && children->count > base) {
        Pending top = children->stack[--children->count];
        const Deferred *what = &top.what;
        if (what->kind == DEFERRED_COPY)
            mem_copy(gpu->memory, what->address, what->source, what->bytes);
        if (what->kind == DEFERRED_FILL)
            mem_fill(gpu->memory, what->address, what->value, 1, what->bytes);
        if (what->kind != DEFERRED_KERNEL) {
            gpu_host_wrote(gpu, what->address, what->bytes);
            continue;
        }
        uint32_t bytes = top.module->program->functions[what->function].ptx->parameter_bytes;
        children->parameters = base_realloc(children->parameters, bytes + 1);
        mem_read(gpu->memory, what->address, children->parameters, bytes);
        mem_release(gpu->memory, what->address);
        children->depth = top.depth;
        *child = (GpuLaunch){.module = top.module,
                             .function = (int)what->function,
                             .dynamic_shared_bytes = what->shared_bytes,
                             .parameters = children->parameters};
        memcpy(child->grid, what->grid, sizeof child->grid);
        memcpy(child->block, what->block, sizeof child->block);
        return true;
    }
    return false;
}

bool gpu_next_child(Gpu *gpu, GpuLaunch *child) { return next(gpu, 0, child); }

/* ---- In the middle of their parent ---- */

bool children_wait(void *user, char *text, size_t size, int *code) {
    Gpu *gpu = user;
    DeviceRuntime *parent = gpu->runtime;
    IsaCta **ctas = gpu->ctas;
    uint32_t cta_count = gpu->cta_count, base = gpu->children->count;
    GpuModule *module = gpu->module;
    GpuLaunch child;
    GpuResult result = {.status = GPU_OK};
    push_all(gpu, parent, module, false);
    uint32_t kept = 0; /* tail launches stay where they are */
    for (uint32_t i = 0; i < parent->asked.count; i++) {
        if (parent->asked.items[i].is_tail) parent->asked.items[kept++] = parent->asked.items[i];
    }
    parent->asked.count = kept;
    gpu->ctas = NULL;
    gpu->cta_count = 0;
    while (result.status == GPU_OK && next(gpu, base, &child)) {
        child.is_functional = true;
        gpu_launch(gpu, &child, &result);
        parent->warp_instructions += result.warp_instructions;
        parent->thread_instructions += result.thread_instructions;
    }
    gpu_free_ctas(gpu);
    gpu->ctas = ctas;
    gpu->cta_count = cta_count;
    gpu->runtime = parent;
    gpu->module = module;
    if (result.status == GPU_OK) return true;
    snprintf(text, size, "%s", result.message);
    *code = result.status == GPU_FAULT ? result.fault_code : ISA_FAULT_CALL;
    return false;
}
