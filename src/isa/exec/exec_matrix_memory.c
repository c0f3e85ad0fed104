/* ldmatrix, stmatrix, wmma.load, wmma.store. Semantics: PTX ISA 9.0, section 9.7.15. */
#include "isa/exec/exec_access.h"

#include "base/bits.h"
#include "isa/launch.h"
#include "isa/exec/matrix.h"

enum { ROWS = 8, ROW_BYTES = 16 };

/* ---- ldmatrix, stmatrix ---- */

/* Sets `host` to the rows of all matrices: lane 8 j + r names row r of matrix j. Other lanes repeat
 * the addresses of the naming lanes, so they cost no access. */
static bool open_rows(IsaContext *context, IsaWarp *warp, const IsaInst *inst, uint32_t mask,
                      bool is_write, uint8_t **host) {
    const int named = ROWS * inst->vector;
    ISA_ACCESS(lane_addresses)(context, warp, inst, inst->operand[4]);
    FOR_LANES context->did.address[lane] = context->did.address[lane % named];
    const uint32_t naming = mask & (uint32_t)bits_low_mask(named);
    if (!naming) return true;
    if (!ISA_ACCESS(open_lanes)(context, warp, (PtxSpace)inst->space, ROW_BYTES, naming, is_write,
                                host))
        return false;
    FOR_LANES {
        context->did.address[lane] = context->did.address[lane % named];
        context->did.space[lane] = context->did.space[lane % named];
    }
    return true;
}

/* Row and column of one half of a lane's register; .trans swaps them. */
static IsaPlace half_place(const IsaInst *inst, int lane, int half) {
    const IsaPlace place = {lane >> 2, 2 * (lane & 3) + half};
    return inst->sub ? (IsaPlace){place.column, place.row} : place;
}

EXEC(LDMATRIX) {
    uint8_t *host[ISA_LANES] = {0};
    if (!open_rows(context, warp, inst, mask, false, host)) return;
    alignas(64) uint32_t result[4][ISA_LANES] = {0};
    for (int matrix = 0; matrix < inst->vector; ++matrix)
        FOR_LANES for (int half = 0; half < 2; ++half) {
            const IsaPlace at = half_place(inst, lane, half);
            const uint8_t *row = host[ROWS * matrix + at.row];
            uint16_t element = 0;
            if (row) memcpy(&element, row + 2 * at.column, sizeof element);
            result[matrix][lane] |= (uint32_t)element << 16 * half;
        }
    for (int matrix = 0; matrix < inst->vector; ++matrix)
        write_row32(warp, inst, matrix, result[matrix], mask);
}

EXEC(STMATRIX) {
    uint8_t *host[ISA_LANES] = {0};
    if (!open_rows(context, warp, inst, mask, true, host)) return;
    for (int matrix = 0; matrix < inst->vector; ++matrix)
        for (uint32_t rest = mask; rest; rest &= rest - 1) {
            const int lane = bits_lowest32(rest);
            const uint32_t data = isa_row32(warp, inst->operand[matrix])[lane];
            for (int half = 0; half < 2; ++half) {
                const IsaPlace at = half_place(inst, lane, half);
                uint8_t *row = host[ROWS * matrix + at.row];
                const uint16_t element = (uint16_t)(data >> 16 * half);
                if (row) memcpy(row + 2 * at.column, &element, sizeof element);
            }
        }
}

/* ---- wmma.load, wmma.store ---- */

static IsaWmma wmma_of(const IsaContext *context, const IsaInst *inst) {
    IsaWmma wmma;
    memcpy(&wmma, &context->program->wide[inst->reconverge], sizeof wmma);
    return wmma;
}

static const IsaOperand *data_of(const IsaContext *context, const IsaInst *inst) {
    return &context->program->wide[inst->reconverge + sizeof(IsaWmma) / sizeof(IsaOperand)];
}

/* Stores the address of each lane's element `part` of register `reg` in context->did.address. */
static void element_addresses(IsaContext *context, const IsaWarp *warp, const IsaInst *inst,
                              const IsaWmma *wmma, int reg, int part) {
    const IsaFragment fragment =
        isa_fragment(wmma->role, (PtxType)wmma->element, wmma->rows, wmma->columns, ISA_LANES);
    /* Single bits are addressed in words of 32. */
    const uint64_t unit = wmma->element == PTX_B1 ? 32 : 1;
    const uint64_t bits = (uint64_t)ptx_type_bits((PtxType)wmma->element) * unit;
    const uint64_t leading = wmma->is_by_column ? wmma->rows : wmma->columns;
    ISA_ACCESS(lane_addresses)(context, warp, inst, inst->operand[0]);
    FOR_LANES {
        const IsaPlace at = isa_matrix_place(&fragment, reg, lane, part);
        const uint64_t stride =
            inst->operand[1] == ISA_SINK ? leading : isa_row32(warp, inst->operand[1])[lane];
        const uint64_t line = (uint64_t)(wmma->is_by_column ? at.column : at.row);
        const uint64_t in_line = (uint64_t)(wmma->is_by_column ? at.row : at.column);
        context->did.address[lane] += (line * stride / unit + in_line) * bits / 8;
    }
}

/* Loads or stores the bytes of one access in every lane. */
static bool move_element(IsaContext *context, IsaWarp *warp, const IsaInst *inst, uint32_t mask,
                         const IsaWmma *wmma, int reg, int part, IsaOperand data) {
    uint8_t *host[ISA_LANES];
    const bool is_store = context->program->infos[warp->pc].memory == ISA_MEMORY_STORE;
    element_addresses(context, warp, inst, wmma, reg, part);
    if (!ISA_ACCESS(open_lanes)(context, warp, (PtxSpace)inst->space, inst->size, mask, is_store,
                                host))
        return false;
    const size_t in_lane = (size_t)part * inst->size; /* little-endian, like the device */
    const size_t lane_bytes = inst->size == 8 ? 8 : 4;
    uint8_t *row = (uint8_t *)isa_row32(warp, data) + in_lane;
    for (; mask; mask &= mask - 1) {
        const int lane = bits_lowest32(mask);
        if (is_store) memcpy(host[lane], row + (size_t)lane * lane_bytes, inst->size);
        else memcpy(row + (size_t)lane * lane_bytes, host[lane], inst->size);
    }
    return true;
}

EXEC(WMMA_STORE) {
    const IsaWmma wmma = wmma_of(context, inst);
    const IsaOperand *data = data_of(context, inst);
    move_element(context, warp, inst, mask, &wmma, wmma.reg, wmma.part, data[wmma.reg]);
}

/* Every access except the last only declares which bytes it reads. */
EXEC(WMMA_LOAD) {
    const IsaWmma wmma = wmma_of(context, inst);
    uint8_t *host[ISA_LANES];
    if (!inst->sub) {
        element_addresses(context, warp, inst, &wmma, wmma.reg, wmma.part);
        ISA_ACCESS(open_lanes)(context, warp, (PtxSpace)inst->space, inst->size, mask, false, host);
        return;
    }
    /* Load all registers into separate rows first: a destination may be the base or the stride. */
    const IsaFragment fragment =
        isa_fragment(wmma.role, (PtxType)wmma.element, wmma.rows, wmma.columns, ISA_LANES);
    const int regs = fragment.regs, parts = wmma.part + 1;
    const size_t lane_bytes = inst->size == 8 ? 8 : 4;
    alignas(64) uint8_t result[8][2 * ISA_ROW_BYTES];
    for (int reg = 0; reg < regs; ++reg)
        for (int part = 0; part < parts; ++part) {
            element_addresses(context, warp, inst, &wmma, reg, part);
            if (!ISA_ACCESS(open_lanes)(context, warp, (PtxSpace)inst->space, inst->size, mask,
                                        false, host))
                return;
            for (uint32_t rest = mask; rest; rest &= rest - 1) {
                const int lane = bits_lowest32(rest);
                memcpy(result[reg] + (size_t)lane * lane_bytes + (size_t)part * inst->size,
                       host[lane], inst->size);
            }
        }
    const IsaOperand *data = data_of(context, inst);
    for (int i = 0; i < wmma.copies * regs; ++i) {
        uint8_t *row = (uint8_t *)isa_row32(warp, data[i]);
        for (uint32_t rest = mask; rest; rest &= rest - 1) {
            const size_t at = (size_t)bits_lowest32(rest) * lane_bytes;
            memcpy(row + at, result[i % regs] + at, lane_bytes);
        }
    }
}
