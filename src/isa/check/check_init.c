/* Reads of bytes that were never written. The check keeps one bit per byte: for shared and local
 * memory here, for global memory in each allocation (memory/memory.h).
 *
 * Shared and global memory: a finding if any byte of an access was not written. Local memory: a
 * finding if no byte of an element was written, because compilers copy structs together with the
 * gaps between their members. Parameters of calls are not checked, because compilers do not store
 * undefined ones. */
#include "isa/check/check_internal.h"
#include "isa/cluster.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/bits.h"

/* ---- Shared memory ---- */

void init_cta(IsaCta *cta) {
    IsaCtaCheck *own = cta->check;
    uint32_t bytes = cta->launch->shared_extent / 8 + 1;
    if (own->shared_capacity < bytes) {
        free(own->shared_written);
        own->shared_written = base_malloc(bytes);
        own->shared_capacity = bytes;
    }
    memset(own->shared_written, 0, bytes);
    for (int i = 0; i < ISA_MAX_WARPS_PER_CTA; i++)
        if (own->local[i].words)
            memset(own->local[i].words, 0, (size_t)own->local[i].count * ISA_LANES);
}

static bool is_shared_written(const IsaCtaCheck *own, uint64_t at, uint32_t bytes) {
    for (uint64_t i = at; i < at + bytes; i++)
        if (!(own->shared_written[i / 8] >> (i % 8) & 1)) return false;
    return true;
}

static void set_shared_written(IsaCtaCheck *own, uint64_t at, uint32_t bytes) {
    for (uint64_t i = at; i < at + bytes; i++)
        own->shared_written[i / 8] = (uint8_t)(own->shared_written[i / 8] | 1u << (i % 8));
}

/* ---- Local memory ---- */

/* The bits of a warp's local memory, extended to its current size. */
static LocalWritten *local_of(const IsaWarp *warp) {
    LocalWritten *local = &warp->cta->check->local[warp->index];
    uint32_t words = warp->local_bytes / 4;
    if (local->count < words) {
        local->words = base_realloc(local->words, (size_t)words * ISA_LANES);
        memset(local->words + (size_t)local->count * ISA_LANES, 0,
               (size_t)(words - local->count) * ISA_LANES);
        local->count = words;
    }
    return local;
}

static uint8_t *local_word(const LocalWritten *local, int lane, uint64_t offset) {
    return &local->words[offset / 4 * ISA_LANES + (uint64_t)lane];
}

void isa_check_local_write(const IsaWarp *warp, int lane, uint32_t offset, uint32_t size) {
    if (!warp->cta->launch->check->options.init) return;
    const LocalWritten *local = local_of(warp);
    for (uint32_t i = offset; i < offset + size; i++) {
        uint8_t *word = local_word(local, lane, i);
        *word = (uint8_t)(*word | 1u << (i % 4));
    }
}

void isa_check_frame(const IsaWarp *warp, uint32_t start, uint32_t end) {
    if (!warp->cta->launch->check->options.init) return;
    const LocalWritten *local = local_of(warp);
    uint32_t first = (start + 3) / 4, last = (end + 3) / 4;
    if (last > local->count) last = local->count;
    if (first < last)
        memset(local->words + (size_t)first * ISA_LANES, 0, (size_t)(last - first) * ISA_LANES);
}

/* Whether at least one byte of every element was written. */
static bool is_local_written(const LocalWritten *local, int lane, uint64_t at, uint32_t size,
                             uint32_t bytes) {
    for (uint64_t element = at; element < at + bytes; element += size) {
        bool is_touched = false;
        for (uint64_t i = element; i < element + size; i++)
            is_touched |= *local_word(local, lane, i) >> (i % 4) & 1;
        if (!is_touched) return false;
    }
    return true;
}

/* ---- All spaces ---- */

static void report(IsaContext *context, const IsaWarp *warp, int lane, PtxSpace space,
                   uint32_t bytes) {
    const IsaCheck *check = check_of(context);
    uint64_t address = context->did.address[lane];
    if (!check_note(check, FINDING_INIT, warp->pc, 0, (uint64_t)space)) return;
    Text text = {0};
    text_printf(&text, "uninitialised read of %u byte%s at %s address 0x%" PRIx64 ": ", bytes,
                text_plural(bytes), ptx_space_name(space) + 1, address);
    if (space == PTX_SPACE_GLOBAL) mem_describe(context->memory, address, &text);
    else
        text_printf(&text, "byte %" PRIu64 " of the %s memory", address,
                    space == PTX_SPACE_SHARED ? "CTA's shared" : "thread's local");
    text_add(&text, " was never written");
    const CheckPlace place = {context->launch, warp, warp->pc, lane, address, ISA_NO_PC};
    check_add(check, FINDING_INIT, "uninitialised read", &place, &text, NULL);
}

static bool is_written(const IsaContext *context, const IsaWarp *warp, PtxSpace space,
                       const IsaInst *inst, int lane, uint32_t bytes) {
    uint64_t at = context->did.address[lane];
    if (space == PTX_SPACE_SHARED) return is_shared_written(warp->cta->check, at, bytes);
    if (space == PTX_SPACE_GLOBAL) return mem_first_unwritten(context->memory, at, bytes) == bytes;
    if (context->program->infos[warp->pc].space == PTX_SPACE_PARAM) return true;
    return is_local_written(local_of(warp), lane, at, inst->size, bytes);
}

static void set_written(const IsaContext *context, const IsaWarp *warp, PtxSpace space, int lane,
                        uint32_t bytes) {
    uint64_t at = context->did.address[lane];
    if (space == PTX_SPACE_SHARED) set_shared_written(warp->cta->check, at, bytes);
    else if (space == PTX_SPACE_GLOBAL) mem_set_written(context->memory, at, bytes);
    else isa_check_local_write(warp, lane, (uint32_t)at, bytes);
}

void init_cluster_write(const IsaContext *context, const IsaWarp *warp, uint32_t bytes,
                        uint32_t mask) {
    for (; mask; mask &= mask - 1) {
        const uint64_t address = context->did.address[bits_lowest32(mask)];
        const IsaCta *cta = isa_cluster_cta(warp->cta, address >> ISA_RANK_SHIFT);
        if (cta) set_shared_written(cta->check, address & ISA_RANK_OFFSETS, bytes);
    }
}

void init_access(IsaContext *context, const IsaWarp *warp, PtxSpace space, const IsaInst *inst,
                 uint32_t bytes, uint32_t mask, IsaAccess access) {
    for (; mask; mask &= mask - 1) {
        int lane = bits_lowest32(mask);
        if (access != ISA_ACCESS_WRITE && !is_written(context, warp, space, inst, lane, bytes))
            report(context, warp, lane, space, bytes);
        if (access != ISA_ACCESS_READ) set_written(context, warp, space, lane, bytes);
    }
}
