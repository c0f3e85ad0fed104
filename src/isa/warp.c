/* CTAs and warps: start, memory, and faults. */
#include "isa/launch.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "isa/check/check.h"
#include "isa/cluster.h"
#include "isa/flow/converge.h"

enum { FIRST_STACK_ENTRIES = 16, FIRST_FRAMES = 4, OVERREAD_BYTES = 64 };

/* Prepares `warp` to run the kernel's first instruction with its existing threads. */
static void warp_start(IsaWarp *warp, IsaCta *cta, uint32_t index) {
    const IsaLaunch *launch = cta->launch;
    const IsaFunction *kernel = launch->function;
    if (!warp->stack) {
        warp->stack = base_calloc(FIRST_STACK_ENTRIES, sizeof *warp->stack);
        warp->stack_capacity = FIRST_STACK_ENTRIES;
        warp->frames = base_calloc(FIRST_FRAMES, sizeof *warp->frames);
        warp->frame_capacity = FIRST_FRAMES;
    }
    if (warp->register_bytes < kernel->frame_bytes) {
        free(warp->registers);
        warp->registers = base_alloc_lines(kernel->frame_bytes);
        warp->register_bytes = kernel->frame_bytes;
    }
    if (warp->local_bytes < kernel->local_bytes) {
        free(warp->local);
        warp->local_bytes = (uint32_t)bits_align_up(kernel->local_bytes, 4);
        warp->local = base_alloc_lines((size_t)warp->local_bytes * ISA_LANES);
    } else if (warp->local) {
        memset(warp->local, 0, (size_t)warp->local_bytes * ISA_LANES);
    }
    uint32_t threads = launch->threads - index * ISA_LANES;
    memset(warp->registers, 0, kernel->frame_bytes);
    warp->base[0] = warp->registers;
    warp->base[1] =
        (uint8_t *)(uintptr_t)(launch->constants ? launch->constants : launch->program->constants);
    warp->preds = (uint32_t *)(void *)(warp->registers + kernel->pred_offset);
    warp->preds[ISA_PRED_TRUE] = UINT32_MAX;
    warp->pc = kernel->entry;
    warp->active = warp->alive =
        threads >= ISA_LANES ? UINT32_MAX : (uint32_t)bits_low_mask((int)threads);
    warp->reconverge = ISA_NO_PC;
    warp->frame = 0;
    warp->frames[0] = (IsaFrame){.function = (uint32_t)(kernel - launch->program->functions),
                                 .local_end = kernel->local_bytes,
                                 .call_pc = ISA_NO_PC,
                                 .lanes = warp->alive};
    warp->frame_count = 1;
    warp->depth = 0;
    warp->is_apart = false;
    if (launch->has_independent_threads) paths_start(warp);
    else paths_free(warp);
    warp->carry = 0;
    warp->cta = cta;
    warp->index = index;
    warp->slot = index;
    warp->instructions = 0;
    warp->mbarrier = 0;
    warp->groups = warp->awaited_groups = 0;
}

void isa_cta_start(IsaCta *cta, const IsaLaunch *launch, uint64_t index) {
    if (cta->warp_capacity < launch->warps) {
        cta->warps = base_realloc(cta->warps, launch->warps * sizeof *cta->warps);
        memset(cta->warps + cta->warp_capacity, 0,
               (launch->warps - cta->warp_capacity) * sizeof *cta->warps);
        cta->warp_capacity = launch->warps;
    }
    uint32_t shared_bytes = launch->shared_extent + OVERREAD_BYTES;
    if (cta->shared_capacity < shared_bytes) {
        free(cta->shared);
        cta->shared = base_alloc_lines(shared_bytes);
        cta->shared_capacity = shared_bytes;
    }
    memset(cta->shared, 0, shared_bytes);
    cta->launch = launch;
    cta->index = index;
    cta->id[0] = (uint32_t)(index % launch->grid[0]);
    cta->id[1] = (uint32_t)(index / launch->grid[0] % launch->grid[1]);
    cta->id[2] = (uint32_t)(index / launch->grid[0] / launch->grid[1]);
    cta->alive = (uint32_t)bits_low_mask((int)launch->warps);
    cta->cluster = NULL;
    cta->rank = cta->tag = cta->cluster_waits = 0;
    if (launch->clusters) isa_cluster_join(cta);
    cta->waiting = cta->group_waits = 0;
    cta->used_barriers = 0;
    memset(cta->barriers, 0, sizeof cta->barriers);
    for (uint32_t i = 0; i < launch->warps; i++)
        warp_start(&cta->warps[i], cta, i);
    isa_check_cta(cta);
}

void isa_cta_free(IsaCta *cta) {
    for (uint32_t i = 0; i < cta->warp_capacity; i++) {
        free(cta->warps[i].stack);
        paths_free(&cta->warps[i]);
        free(cta->warps[i].frames);
        free(cta->warps[i].registers);
        free(cta->warps[i].local);
    }
    free(cta->warps);
    free(cta->shared);
    isa_check_cta_free(cta);
    *cta = (IsaCta){0};
}

void isa_context_start(IsaContext *context) {
    context->fault.is_set = false;
    for (int i = 0; i < ISA_HINTS; i++)
        context->hints[i].pc = ISA_NO_PC;
}

/* ---- Local memory ---- */

bool isa_local_reserve(IsaContext *context, IsaWarp *warp, uint32_t bytes) {
    if (bytes <= warp->local_bytes) return true;
    uint32_t limit = context->launch->stack_bytes;
    if (bytes > limit) {
        isa_fault(context, warp, bits_lowest32(warp->active), ISA_FAULT_STACK,
                  "stack overflow: %" PRIu32 " bytes of local memory needed, the limit is %" PRIu32
                  " per thread",
                  bytes, limit);
        return false;
    }
    uint32_t capacity = (uint32_t)bits_align_up((uint64_t)bytes + bytes / 2, 4);
    if (capacity > limit) capacity = (uint32_t)bits_align_up(limit, 4);
    uint32_t *local = base_alloc_lines((size_t)capacity * ISA_LANES);
    if (warp->local) memcpy(local, warp->local, (size_t)warp->local_bytes * ISA_LANES);
    free(warp->local);
    warp->local = local;
    warp->local_bytes = capacity;
    return true;
}

static uint8_t *local_byte(const IsaWarp *warp, int lane, uint32_t offset) {
    return (uint8_t *)warp->local + (size_t)(offset / 4 * ISA_LANES + (uint32_t)lane) * 4 +
           offset % 4;
}

void isa_local_read(const IsaWarp *warp, int lane, uint32_t offset, void *bytes, uint32_t size) {
    for (uint32_t i = 0; i < size; i++)
        ((uint8_t *)bytes)[i] = *local_byte(warp, lane, offset + i);
}

void isa_local_write(IsaWarp *warp, int lane, uint32_t offset, const void *bytes, uint32_t size) {
    if (warp->cta->launch->check) isa_check_local_write(warp, lane, offset, size);
    for (uint32_t i = 0; i < size; i++)
        *local_byte(warp, lane, offset + i) = ((const uint8_t *)bytes)[i];
}

/* ---- Faults ---- */

void isa_vfault(IsaContext *context, const IsaWarp *warp, int lane, IsaFaultCode code,
                const char *format, va_list args) {
    IsaFault *fault = &context->fault;
    if (fault->is_set) return;
    Text text = {0};
    text_vprintf(&text, format, args);
    isa_say_place(context->launch, warp, warp->pc, lane, &text);
    fault->is_set = true;
    fault->code = (int)code;
    fault->pc = warp->pc;
    snprintf(fault->text, sizeof fault->text, "%s", text_string(&text));
    text_free(&text);
}

void isa_fault(IsaContext *context, const IsaWarp *warp, int lane, IsaFaultCode code,
               const char *format, ...) {
    va_list args;
    va_start(args, format);
    isa_vfault(context, warp, lane, code, format, args);
    va_end(args);
}
