/* Bulk copies: cp.async.bulk, cp.reduce.async.bulk. Semantics: PTX ISA 9.0, section 9.7.9.27. The
 * bytes move when the copy issues; the end of the copy is isa_bulk_done's (isa/bulk.c). A program
 * that waits as it must cannot tell, and one that does not sees the new bytes early. */
#include "isa/exec/exec_access.h"

#include <inttypes.h>

#include "base/bits.h"
#include "isa/async.h"
#include "isa/bulk.h"
#include "isa/launch.h"

/* Addresses and sizes of all lanes. */
typedef struct BulkLanes {
    uint64_t shared[ISA_LANES], other[ISA_LANES], barrier[ISA_LANES];
    uint32_t bytes[ISA_LANES];
} BulkLanes;

/* One end of a lane's copy. */
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

static void read_lanes(IsaContext *context, const IsaWarp *warp, const IsaInst *inst,
                       BulkLanes *lanes) {
    const uint32_t *size = isa_row32(warp, inst->operand[2]);
    FOR_LANES lanes->bytes[lane] =
        inst->sub & ISA_BULK_IN_16 ? size[lane] * ISA_BULK_UNIT : size[lane];
    read_addresses(context, warp, inst->operand[0], (int32_t)inst->target,
                   inst->sub & ISA_BULK_SHARED_IS_32, lanes->shared);
    read_addresses(context, warp, inst->operand[3], (int32_t)inst->reconverge,
                   inst->sub & ISA_BULK_BARRIER_IS_32, lanes->barrier);
    read_addresses(context, warp, inst->operand[1], inst->imm, inst->sub & ISA_BULK_SOURCE_IS_32,
                   lanes->other);
}

/* False after a fault. */
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

/* Where a lane's `bytes` bytes at that end are; NULL after a fault. */
static uint8_t *open_end(IsaContext *context, IsaWarp *warp, int lane, BulkEnd end, uint64_t offset,
                         bool is_write) {
    uint8_t *host[ISA_LANES];
    context->did.address[lane] = end.address + offset;
    return ISA_ACCESS(open_lanes)(context, warp, end.space, ISA_BULK_UNIT, lane_bit[lane], is_write,
                                  host)
               ? host[lane]
               : NULL;
}

/* The same of all units, if they lie side by side; NULL: each has to be looked up. */
static uint8_t *open_range(IsaContext *context, IsaWarp *warp, int lane, BulkEnd end,
                           uint32_t bytes, bool is_write) {
    if (context->launch->check) return NULL;
    if (end.space == PTX_SPACE_GLOBAL) {
        const MemBlock *block = mem_find(context->memory, end.address);
        if (!block || block->kind == MEM_KIND_HEAP || bytes > block->end - end.address) return NULL;
    } else if (end.address >= context->launch->shared_extent ||
               bytes > context->launch->shared_extent - end.address) {
        return NULL;
    }
    return open_end(context, warp, lane, end, 0, is_write);
}

static void put_unit(const IsaInst *inst, uint8_t *to, const uint8_t *from) {
    if ((inst->sub & ISA_BULK_KIND) != ISA_BULK_REDUCE) {
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

/* Moves a lane's bytes; false after a fault. */
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

static bool copy(IsaContext *context, IsaWarp *warp, const IsaInst *inst, int lane,
                 const BulkLanes *lanes, IsaBulkKind kind) {
    const PtxSpace others = kind == ISA_BULK_LOCAL ? PTX_SPACE_SHARED : PTX_SPACE_GLOBAL;
    const BulkEnd shared = {PTX_SPACE_SHARED, lanes->shared[lane]};
    const BulkEnd other = {others, lanes->other[lane]};
    if (kind == ISA_BULK_PREFETCH) return true;
    if (kind == ISA_BULK_LOAD || kind == ISA_BULK_LOCAL)
        return move(context, warp, inst, lane, other, shared, lanes->bytes[lane]);
    return move(context, warp, inst, lane, shared, other, lanes->bytes[lane]);
}

EXEC(BULK) {
    const IsaBulkKind kind = (IsaBulkKind)(inst->sub & ISA_BULK_KIND);
    BulkLanes lanes;
    read_lanes(context, warp, inst, &lanes);
    context->bulk_count = 0;
    for (uint32_t rest = inst->sub & ISA_BULK_ONCE ? mask & -mask : mask; rest; rest &= rest - 1) {
        const int lane = bits_lowest32(rest);
        if (!check_form(context, warp, lane, &lanes, kind) ||
            !copy(context, warp, inst, lane, &lanes, kind))
            return;
        const IsaBulk bulk = {.global = lanes.other[lane],
                              .rows = {1, 1, 1, 1},
                              .row_bytes = lanes.bytes[lane],
                              .shared = (uint32_t)lanes.shared[lane],
                              .bytes = lanes.bytes[lane],
                              .barrier = (uint32_t)lanes.barrier[lane],
                              .kind = (uint8_t)kind,
                              .lane = (uint8_t)lane};
        isa_bulk_begun(context, warp, &bulk);
    }
}
