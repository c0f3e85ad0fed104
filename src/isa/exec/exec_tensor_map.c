/* tensormap.replace, tensormap.cp_fenceproxy. Semantics: PTX ISA 9.0, sections 9.7.9.28 and
 * 9.7.14.17. */
#include "isa/exec/exec_access.h"

#include "base/bits.h"
#include "isa/async.h"
#include "isa/cluster.h"
#include "isa/tensor_map.h"

EXEC(TENSOR_REPLACE) {
    uint8_t *host[ISA_LANES];
    ISA_ACCESS(lane_addresses)(context, warp, inst, inst->operand[0]);
    if (!ISA_ACCESS(open_lanes)(context, warp, (PtxSpace)inst->space, TENSOR_FIELD_BYTES, mask,
                                true, host))
        return;
    for (; mask; mask &= mask - 1) {
        const int lane = bits_lowest32(mask);
        const uint64_t value = inst->size == 8 ? isa_row64(warp, inst->operand[1])[lane]
                                               : isa_row32(warp, inst->operand[1])[lane];
        tensor_map_replace(host[lane], (TensorField)inst->sub, inst->vector, value);
    }
}

/* One lane copies its part of the map. */
static bool copy_part(IsaContext *context, IsaWarp *warp, int lane, uint64_t from, uint64_t to) {
    uint8_t *host[ISA_LANES], part[TENSOR_MAP_ALIGNMENT];
    context->did.address[lane] = from;
    if (!ISA_ACCESS(open_lanes)(context, warp, PTX_SPACE_SHARED, sizeof part, lane_bit[lane], false,
                                host))
        return false;
    memcpy(part, host[lane], sizeof part);
    context->did.address[lane] = to;
    if (!ISA_ACCESS(open_lanes)(context, warp, PTX_SPACE_GLOBAL, sizeof part, lane_bit[lane], true,
                                host))
        return false;
    memcpy(host[lane], part, sizeof part);
    return true;
}

/* The warp copies one map: all lanes have the same addresses, and each lane copies one word. */
EXEC(TENSOR_COPY) {
    const int lane = bits_lowest32(mask);
    const int64_t tag = inst->operand[1] == ISA_SINK ? (int64_t)warp->cta->tag : 0;
    const IsaInst source = {.imm = (int32_t)inst->target + tag,
                            .flags = inst->sub & ISA_BULK_SHARED_IS_32 ? ISA_BASE_IS_32 : 0};
    ISA_ACCESS(lane_addresses)(context, warp, &source, inst->operand[1]);
    const uint64_t from = isa_cluster_own(warp->cta, context->did.address[lane]);
    ISA_ACCESS(lane_addresses)(context, warp, inst, inst->operand[0]);
    const uint64_t to = context->did.address[lane];
    for (uint64_t at = 0; at < TENSOR_MAP_BYTES; at += TENSOR_MAP_ALIGNMENT)
        if (!copy_part(context, warp, lane, from + at, to + at)) return;
    for (int i = 0; i < ISA_LANES; i++)
        context->did.address[i] = to + sizeof(uint32_t) * (uint64_t)i;
}
