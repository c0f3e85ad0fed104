/* Bulk copies: cp.async.bulk, cp.reduce.async.bulk. Semantics: PTX ISA 9.0, section 9.7.9.27. The
 * bytes move when the copy issues; isa_bulk_done (isa/bulk.c) ends the copy. A program that waits
 * correctly cannot see the difference; a program that does not wait sees the new bytes early. */
#include "isa/exec/exec_access.h"

#include <inttypes.h>

#include "base/bits.h"
#include "isa/async.h"
#include "isa/bulk.h"
#include "isa/cluster.h"
#include "isa/launch.h"

/* Addresses and sizes of all lanes. */
typedef struct BulkLanes {
    uint64_t shared[ISA_LANES], other[ISA_LANES], barrier[ISA_LANES];
    uint32_t bytes[ISA_LANES];
} BulkLanes;

/* Source or destination of a lane's copy. */
typedef struct BulkEnd {
    PtxSpace space;
    uint64_t address;
} BulkEnd;

static void read_addresses(IsaContext *context, const IsaWarp *warp, IsaOperand base,
                           int64_t offset, bool is_32, uint64_t *addresses) {
    const IsaInst access = {.imm = offset, .flags = is_32 ? ISA_BASE_IS_32 : 0};
    ISA_ACCESS(lane_addresses)(context, warp, &access, base);
    memcpy(addresses, context->did.address, sizeof context->did.address);
}

/* The same for shared addresses: without a base register, the address is in the CTA's own shared
 * memory. */
static void read_shared(IsaContext *context, const IsaWarp *warp, IsaOperand base, int64_t offset,
                        bool is_32, uint64_t *addresses) {
    const int64_t tag = base == ISA_SINK ? (int64_t)warp->cta->tag : 0;
    read_addresses(context, warp, base, offset + tag, is_32, addresses);
}

static void read_lanes(IsaContext *context, const IsaWarp *warp, const IsaInst *inst,
                       BulkLanes *lanes) {
    const uint32_t *size = isa_row32(warp, inst->operand[2]);
    FOR_LANES lanes->bytes[lane] =
        inst->sub & ISA_BULK_IN_16 ? size[lane] * ISA_BULK_UNIT : size[lane];
    read_shared(context, warp, inst->operand[0], (int32_t)inst->target,
                inst->sub & ISA_BULK_SHARED_IS_32, lanes->shared);
    read_shared(context, warp, inst->operand[3], (int32_t)inst->reconverge,
                inst->sub & ISA_BULK_BARRIER_IS_32, lanes->barrier);
    read_addresses(context, warp, inst->operand[1], inst->imm, inst->sub & ISA_BULK_SOURCE_IS_32,
                   lanes->other);
}

/* Returns false after a fault. */
static bool check_form(IsaContext *context, const IsaWarp *warp, int lane, const BulkLanes *lanes,
                       IsaBulkKind kind) {
    const uint64_t shared = kind == ISA_BULK_PREFETCH ? 0 : lanes->shared[lane];
    if ((shared | lanes->other[lane] | lanes->bytes[lane]) % ISA_BULK_UNIT) {
        isa_fault(context, warp, lane, ISA_FAULT_MISALIGNED,
                  "misaligned bulk copy of %u bytes, shared address 0x%" PRIx64
                  ", other address 0x%" PRIx64 ": all three must be multiples of %d",
                  lanes->bytes[lane], shared, lanes->other[lane], ISA_BULK_UNIT);
        return false;
    }
    return (kind != ISA_BULK_LOAD && kind != ISA_BULK_LOCAL) ||
           isa_bulk_barrier_is_good(context, warp, lane, lanes->barrier[lane]);
}

/* Pointer to the unit `offset` bytes after that end of a lane's copy; NULL after a fault. */
static uint8_t *open_end(IsaContext *context, IsaWarp *warp, int lane, BulkEnd end, uint64_t offset,
                         bool is_write) {
    uint8_t *host[ISA_LANES];
    context->did.address[lane] = end.address + offset;
    return ISA_ACCESS(open_lanes)(context, warp, end.space, ISA_BULK_UNIT, lane_bit[lane], is_write,
                                  host)
               ? host[lane]
               : NULL;
}

/* Pointer to all units if they are contiguous; NULL: each unit must be looked up. */
static uint8_t *open_range(IsaContext *context, IsaWarp *warp, int lane, BulkEnd end,
                           uint32_t bytes, bool is_write) {
    if (context->launch->check) return NULL;
    if (end.space == PTX_SPACE_GLOBAL) {
        const MemBlock *block = mem_find(context->memory, end.address);
        if (!block || block->kind == MEM_KIND_HEAP || bytes > block->end - end.address) return NULL;
    } else if (end.space == PTX_SPACE_CLUSTER || end.address >= context->launch->shared_extent ||
               bytes > context->launch->shared_extent - end.address) {
        return NULL;
    }
    return open_end(context, warp, lane, end, 0, is_write);
}

/* vector: PtxSub of a reduction, 0: copy. */
static void put_unit(const IsaInst *inst, uint8_t *to, const uint8_t *from) {
    if (!inst->vector) {
        memcpy(to, from, ISA_BULK_UNIT);
        return;
    }
    for (uint32_t at = 0; at < ISA_BULK_UNIT; at += inst->size) {
        uint64_t old = 0, b = 0;
        memcpy(&old, to + at, inst->size);
        memcpy(&b, from + at, inst->size);
        const uint64_t result = ISA_ACCESS(combine)(inst, (PtxSub)inst->vector, old, b);
        memcpy(to + at, &result, inst->size);
    }
}

/* Moves a lane's bytes. Returns false after a fault. */
static bool move(IsaContext *context, IsaWarp *warp, const IsaInst *inst, int lane, BulkEnd from,
                 BulkEnd to, uint32_t bytes) {
    uint8_t *first_from = open_range(context, warp, lane, from, bytes, false);
    uint8_t *first_to = first_from ? open_range(context, warp, lane, to, bytes, true) : NULL;
    for (uint32_t at = 0; at < bytes && !context->fault.is_set; at += ISA_BULK_UNIT) {
        uint8_t unit[ISA_BULK_UNIT];
        const uint8_t *source =
            first_to ? first_from + at : open_end(context, warp, lane, from, at, false);
        if (!source) return false;
        memcpy(unit, source, sizeof unit);
        uint8_t *target = first_to ? first_to + at : open_end(context, warp, lane, to, at, true);
        if (!target) return false;
        put_unit(inst, target, unit);
    }
    return !context->fault.is_set;
}

/* Moves a lane's bytes into the shared memory of each destination CTA. Returns false after a
 * fault. */
static bool load(IsaContext *context, IsaWarp *warp, const IsaInst *inst, int lane,
                 const BulkLanes *lanes, BulkEnd from, uint32_t ranks) {
    const uint64_t shared = lanes->shared[lane], offset = shared & ISA_RANK_OFFSETS;
    if (!ranks)
        return move(context, warp, inst, lane, from, (BulkEnd){PTX_SPACE_SHARED, shared},
                    lanes->bytes[lane]);
    for (; ranks; ranks &= ranks - 1) {
        const uint64_t rank = (uint64_t)bits_lowest32(ranks);
        const bool is_own = rank == warp->cta->rank;
        const BulkEnd to = {is_own ? PTX_SPACE_SHARED : PTX_SPACE_CLUSTER,
                            is_own ? offset : offset | rank << ISA_RANK_SHIFT};
        if (!move(context, warp, inst, lane, from, to, lanes->bytes[lane])) return false;
    }
    return true;
}

static bool copy(IsaContext *context, IsaWarp *warp, const IsaInst *inst, int lane,
                 const BulkLanes *lanes, IsaBulkKind kind, uint32_t ranks) {
    const bool is_local = kind == ISA_BULK_LOCAL;
    const PtxSpace others = is_local ? PTX_SPACE_SHARED : PTX_SPACE_GLOBAL;
    const BulkEnd shared = {PTX_SPACE_SHARED, isa_cluster_own(warp->cta, lanes->shared[lane])};
    const BulkEnd other = {others, is_local ? isa_cluster_own(warp->cta, lanes->other[lane])
                                            : lanes->other[lane]};
    if (kind == ISA_BULK_PREFETCH) return true;
    if (kind == ISA_BULK_LOAD || kind == ISA_BULK_LOCAL)
        return load(context, warp, inst, lane, lanes, other, ranks);
    return move(context, warp, inst, lane, shared, other, lanes->bytes[lane]);
}

EXEC(BULK) {
    const IsaBulkKind kind = (IsaBulkKind)(inst->sub & ISA_BULK_KIND);
    const bool loads = kind == ISA_BULK_LOAD || kind == ISA_BULK_LOCAL;
    const bool chooses = loads && inst->flags & ISA_BULK_MULTICAST;
    BulkLanes lanes;
    read_lanes(context, warp, inst, &lanes);
    context->bulk_count = 0;
    for (uint32_t rest = inst->sub & ISA_BULK_ONCE ? mask & -mask : mask; rest; rest &= rest - 1) {
        const int lane = bits_lowest32(rest);
        const uint32_t chosen = chooses ? isa_row32(warp, inst->operand[4])[lane] & UINT16_MAX : 0;
        const uint32_t ranks = loads ? isa_bulk_ranks(context, lanes.shared[lane], chosen) : 0;
        if (!check_form(context, warp, lane, &lanes, kind) ||
            !copy(context, warp, inst, lane, &lanes, kind, ranks))
            return;
        const IsaBulk bulk = {.global = lanes.other[lane],
                              .rows = {1, 1, 1, 1, 1},
                              .row_bytes = lanes.bytes[lane],
                              .shared = (uint32_t)lanes.shared[lane],
                              .bytes = lanes.bytes[lane],
                              .barrier = (uint32_t)lanes.barrier[lane] & ISA_RANK_OFFSETS,
                              .ranks = (uint16_t)ranks,
                              .kind = (uint8_t)kind,
                              .lane = (uint8_t)lane};
        isa_bulk_begun(context, warp, &bulk);
    }
}

/* ---- st.async, red.async ---- */

/* Stores the elements of a lane, or combines them with the bytes there. */
static void put_elements(const IsaWarp *warp, const IsaInst *inst, int lane, uint8_t *bytes) {
    for (uint32_t i = 0; i < inst->vector; ++i) {
        uint64_t value = inst->size == 8 ? isa_row64(warp, inst->operand[i])[lane]
                                         : isa_row32(warp, inst->operand[i])[lane];
        uint64_t old = 0;
        memcpy(&old, bytes + i * inst->size, inst->size);
        if (inst->sub) value = ISA_ACCESS(combine)(inst, (PtxSub)inst->sub, old, value);
        memcpy(bytes + i * inst->size, &value, inst->size);
    }
}

/* operand[0..vector-1]: data. operand[4] and imm: base and offset of the destination. operand[5]
 * and `target`: base and offset of the mbarrier. Both are shared addresses with a rank. sub: PtxSub
 * of a reduction, 0: store. */
EXEC(ASYNC_STORE) {
    const uint32_t bytes = (uint32_t)inst->size * inst->vector;
    const bool is_32 = inst->flags & ISA_BASE_IS_32;
    uint64_t barrier[ISA_LANES];
    uint8_t *host[ISA_LANES];
    read_shared(context, warp, inst->operand[5], (int32_t)inst->target, is_32, barrier);
    ISA_ACCESS(lane_addresses)(context, warp, inst, inst->operand[4]);
    context->bulk_count = 0;
    if (!ISA_ACCESS(open_lanes)(context, warp, PTX_SPACE_CLUSTER, bytes, mask, true, host)) return;
    for (; mask; mask &= mask - 1) {
        const int lane = bits_lowest32(mask);
        if (!isa_bulk_barrier_is_good(context, warp, lane, barrier[lane])) return;
        put_elements(warp, inst, lane, host[lane]);
        const IsaBulk bulk = {.rows = {1, 1, 1, 1, 1},
                              .bytes = bytes,
                              .barrier = (uint32_t)barrier[lane] & ISA_RANK_OFFSETS,
                              .ranks = (uint16_t)isa_bulk_ranks(context, barrier[lane], 0),
                              .kind = ISA_BULK_LOCAL,
                              .lane = (uint8_t)lane};
        isa_bulk_begun(context, warp, &bulk);
    }
}
