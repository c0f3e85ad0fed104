/* wgmma: D = A * B + D by four warps. A is in registers or in shared memory, B in shared memory.
 *
 * Each warp multiplies its 16 rows when it issues the instruction; the timing model decides when
 * the product is available. A program that waits correctly cannot see the difference. The
 * arithmetic is that of mma (exec_matrix.c), a few columns of D at a time. */
#include "isa/exec/exec_access.h"
#include "isa/exec/exec_matrix.h"
#include "isa/exec/wgmma.h"

#include <inttypes.h>

#include "base/bits.h"
#include "isa/launch.h"

enum { MOST_COLUMNS = 32 }; /* columns of D that are computed together */

/* A part of A or B: `count` rows of A or columns of B, starting with `first`. */
typedef struct Piece {
    char name;
    uint64_t descriptor;
    IsaSharedMatrix matrix;
    uint32_t first, count, depth; /* depth: elements along K */
    uint32_t bits;                /* per element */
    bool is_negated;
    int across, along; /* element (mn, k) is stored at mn * across + k * along */
    uint32_t *out;
} Piece;

typedef struct Run {
    IsaContext *context;
    IsaWarp *warp;
    const IsaInst *inst;
    int lane; /* the first executing lane; its descriptors are used */
} Run;

/* ---- Reading shared memory ---- */

/* Returns false after a fault. */
static bool open_units(const Run *run, const Piece *piece, const uint32_t *addresses, int count,
                       uint8_t **host) {
    IsaContext *context = run->context;
    const uint32_t extent = context->launch->shared_extent;
    for (int i = 0; i < count; ++i) {
        context->did.address[i] = addresses[i];
        if (extent >= ISA_WGMMA_UNIT && addresses[i] <= extent - ISA_WGMMA_UNIT) continue;
        isa_fault(context, run->warp, run->lane, ISA_FAULT_ADDRESS,
                  "wgmma reads %c at shared address 0x%x, but shared memory has 0x%x bytes; the "
                  "matrix descriptor is 0x%016" PRIx64,
                  piece->name, addresses[i], extent, piece->descriptor);
        return false;
    }
    return ISA_ACCESS(open_lanes)(context, run->warp, PTX_SPACE_SHARED, ISA_WGMMA_UNIT,
                                  (uint32_t)bits_low_mask(count), false, host);
}

/* Writes a unit's elements, `step` apart. */
INLINE void write_unit(const uint8_t *unit, uint32_t bits, uint32_t negation, uint32_t *out,
                       int step) {
    for (uint32_t i = 0; i < ISA_WGMMA_UNIT * 8 / bits; ++i) {
        uint32_t value = 0;
        memcpy(&value, unit + i * bits / 8, bits / 8);
        out[(int)i * step] = value ^ negation;
    }
}

/* Returns false after a fault. */
static bool read_piece(const Run *run, const Piece *piece) {
    const uint32_t per_unit = ISA_WGMMA_UNIT * 8 / piece->bits;
    const bool is_transposed = piece->matrix.is_transposed;
    const uint32_t rows = is_transposed ? piece->depth : piece->count;
    const uint32_t units = (is_transposed ? piece->count : piece->depth) / per_unit;
    const uint32_t first_row = is_transposed ? 0 : piece->first;
    const uint32_t first_unit = is_transposed ? piece->first / per_unit : 0;
    const uint32_t negation = piece->is_negated ? UINT32_C(1) << (piece->bits - 1) : 0;
    const int by_row = is_transposed ? piece->along : piece->across;
    const int by_element = is_transposed ? piece->across : piece->along;
    uint32_t row = 0, unit = 0;
    for (uint32_t at = 0; at < rows * units; at += ISA_LANES) {
        uint32_t addresses[ISA_LANES], *out[ISA_LANES];
        uint8_t *host[ISA_LANES];
        const uint32_t count = rows * units - at < ISA_LANES ? rows * units - at : ISA_LANES;
        for (uint32_t i = 0; i < count; ++i) {
            const uint32_t at_row = first_row + row, at_unit = first_unit + unit;
            addresses[i] = isa_unit_address(&piece->matrix, is_transposed ? at_unit : at_row,
                                            is_transposed ? at_row : at_unit);
            out[i] = &piece->out[(int)row * by_row + (int)(unit * per_unit) * by_element];
            if (++unit == units) unit = 0, row++;
        }
        if (!open_units(run, piece, addresses, (int)count, host)) return false;
        for (uint32_t i = 0; i < count; ++i) { /* the constant makes the usual case a short copy */
            if (piece->bits == 16) write_unit(host[i], 16, negation, out[i], by_element);
            else write_unit(host[i], piece->bits, negation, out[i], by_element);
        }
    }
    return true;
}

static uint64_t descriptor_of(const Run *run, int operand) {
    return isa_row64(run->warp, run->inst->operand[operand])[run->lane];
}

/* ---- The instruction ---- */

static void negate(uint32_t *raw, int count, uint32_t bits) {
    for (int i = 0; i < count; ++i)
        raw[i] ^= UINT32_C(1) << (bits - 1);
}

/* Reads the 16 rows of A for this warp. Returns false after a fault. */
static bool read_a(const Run *run, Matrices *m, const IsaOperand *registers) {
    const bool is_negated = run->inst->sub & ISA_WGMMA_A_NEGATED;
    if (registers) {
        ISA_MATRIX(gather)(m, &m->a, run->warp, registers, -1, m->raw_a);
        if (is_negated) negate(m->raw_a, m->rows * m->a.columns, m->a.bits);
        return true;
    }
    const uint64_t descriptor = descriptor_of(run, 2);
    const Piece piece = {.name = 'A',
                         .descriptor = descriptor,
                         .matrix =
                             isa_shared_matrix(descriptor, run->inst->sub & ISA_WGMMA_A_TRANSPOSED),
                         .first = run->warp->index % ISA_WGMMA_WARPS * ISA_WGMMA_ROWS,
                         .count = ISA_WGMMA_ROWS,
                         .depth = m->a.columns,
                         .bits = m->a.bits,
                         .is_negated = is_negated,
                         .across = m->a.columns,
                         .along = 1,
                         .out = m->raw_a};
    return read_piece(run, &piece);
}

static bool read_b(const Run *run, Matrices *m, uint32_t first) {
    const uint64_t descriptor = descriptor_of(run, 3);
    const Piece piece = {.name = 'B',
                         .descriptor = descriptor,
                         .matrix =
                             isa_shared_matrix(descriptor, run->inst->sub & ISA_WGMMA_B_TRANSPOSED),
                         .first = first,
                         .count = (uint32_t)m->columns,
                         .depth = m->b.rows,
                         .bits = m->b.bits,
                         .is_negated = run->inst->sub & ISA_WGMMA_B_NEGATED,
                         .across = 1,
                         .along = m->columns,
                         .out = m->raw_b};
    return read_piece(run, &piece);
}

/* Sets the shapes for `columns` columns of D. */
static void set_columns(Matrices *m, PtxMatrixSize size, int columns) {
    m->rows = ISA_WGMMA_ROWS;
    m->columns = columns;
    const int stored = m->is.flags & ISA_MATRIX_SPARSE ? size.k / 2 : size.k;
    m->a = isa_fragment('a', (PtxType)m->is.a, m->rows, stored, ISA_LANES);
    m->b = isa_fragment('b', (PtxType)m->is.b, size.k, columns, ISA_LANES);
    m->c = m->d = isa_fragment('c', (PtxType)m->is.d, m->rows, columns, ISA_LANES);
}

/* Whether the warp's group has all four warps. Sets a fault and returns false if not. */
static bool is_whole_group(const Run *run) {
    const IsaWarp *warp = run->warp;
    const uint32_t last = warp->index | (ISA_WGMMA_WARPS - 1), warps = run->context->launch->warps;
    if (last < warps) return true;
    isa_fault(run->context, warp, run->lane, ISA_FAULT_BARRIER,
              "wgmma needs all four warps of a warpgroup: warp %u belongs to warps %u to %u, and "
              "the thread block has %u",
              warp->index, last + 1 - ISA_WGMMA_WARPS, last, warps);
    return false;
}

EXEC(WGMMA) {
    Matrices m;
    const Run run = {context, warp, inst, bits_lowest32(mask)};
    m.is = isa_matrix_of(inst->imm);
    const PtxMatrixSize size = ptx_matrix_size((PtxMatrixShape)m.is.shape);
    const IsaOperand *d = &context->program->wide[inst->reconverge];
    uint32_t scale = warp->preds[inst->operand[4]];
    if (inst->sub & ISA_WGMMA_SCALE_NEGATED) scale = ~scale;
    const bool adds = scale & lane_bit[run.lane];
    if (!is_whole_group(&run)) return;
    set_columns(&m, size, MOST_COLUMNS);
    if (!read_a(&run, &m, inst->operand[1] ? d + inst->operand[0] : NULL)) return;
    ISA_MATRIX(choose)(&m, warp, &inst->operand[5]);
    const int room = ISA_MATRIX_ELEMENTS / m.b.rows,
              most = room < MOST_COLUMNS ? room : MOST_COLUMNS;
    for (int first = 0; first < size.n; first += most) {
        const int rest = size.n - first;
        set_columns(&m, size, rest < most ? rest : most);
        const IsaOperand *sums = d + first * ISA_WGMMA_ROWS / ISA_LANES / m.d.parts;
        if (!read_b(&run, &m, (uint32_t)first)) return;
        if (adds) ISA_MATRIX(gather)(&m, &m.c, warp, sums, -1, m.raw_c);
        else memset(m.raw_c, 0, sizeof *m.raw_c * (size_t)(m.rows * m.columns));
        ISA_MATRIX(multiply)(&m);
        ISA_MATRIX(scatter)(&m, warp, sums, -1, mask);
    }
}
