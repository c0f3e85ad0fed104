/* Bulk copies of sm_90: UBLKCP, UBLKRED, UBLKPF, and copies of tiles: UTMALDG, UTMASTG, UTMAREDG,
 * UTMAPF. Their operands are uniform registers: a warp starts one copy, whichever of its lanes are
 * active. A shared address and an mbarrier are a pair of registers. A size is in units of 16 bytes.
 * Found from the code that ptxas generates for cp.async.bulk. */
#include "isa/async.h"
#include "isa/sass/translate.h"

static const PtxSub operations[] = {PTX_SUB_ADD, PTX_SUB_MIN, PTX_SUB_MAX, PTX_SUB_INC,
                                    PTX_SUB_DEC, PTX_SUB_AND, PTX_SUB_OR,  PTX_SUB_XOR};

/* Common to all bulk copies. */
static IsaInst *put_step(Translator *t, IsaHandler handler, IsaBulkKind kind) {
    IsaInst *step = tr_step(t, handler);
    t->is_uniform = false; /* the guard is per lane */
    t->inst.flow = ISA_FLOW_STORE;
    t->info.flags |= ISA_IS_BULK;
    step->target = step->reconverge = 0; /* offsets */
    step->sub = (uint8_t)(kind | ISA_BULK_ONCE);
    return step;
}

/* The destination ranks of a multicast copy: the upper half of a register. */
static IsaOperand ranks_of(Translator *t, const SassOperand *operand) {
    if (!tr_mod(t, SASS_MOD_BULK_MULTICAST)) return ISA_SINK;
    return tr_step3(t, ISA_DO_SHR_U32, tr_scratch(t), tr_row(t, operand), tr_constant(t, 16))
        ->operand[0];
}

/* The size: the lower half of the register for a multicast copy, otherwise all of it. */
static IsaOperand size_of(Translator *t, const SassOperand *operand) {
    if (!tr_mod(t, SASS_MOD_BULK_MULTICAST)) return tr_row(t, operand);
    return tr_step3(t, ISA_DO_AND_32, tr_scratch(t), tr_row(t, operand), tr_constant(t, UINT16_MAX))
        ->operand[0];
}

static IsaInst *put_bulk(Translator *t, IsaBulkKind kind, const SassOperand *size) {
    const IsaOperand units = size_of(t, size);
    IsaInst *step = put_step(t, ISA_DO_BULK, kind);
    step->operand[0] = step->operand[3] = ISA_SINK;
    step->operand[2] = units;
    step->sub |= ISA_BULK_IN_16;
    return step;
}

/* to, from, size: from shared to global memory */
static IsaInst *put_out(Translator *t, IsaBulkKind kind) {
    const IsaOperand global = tr_joined(t, tr_operand(t, 0));
    const IsaOperand shared = tr_register(t, tr_operand(t, 1), 0);
    IsaInst *step = put_bulk(t, kind, tr_operand(t, 2));
    step->operand[0] = shared;
    step->operand[1] = global;
    step->sub |= ISA_BULK_SHARED_IS_32;
    return step;
}

/* to, from, size: into shared memory, from global or shared memory */
static IsaInst *put_shared(Translator *t, IsaBulkKind kind) {
    const SassOperand *to = tr_operand(t, 0), *from = tr_operand(t, 1), *size = tr_operand(t, 2);
    const bool is_local = kind == ISA_BULK_LOCAL;
    const IsaOperand source = is_local ? tr_register(t, from, 0) : tr_joined(t, from);
    const IsaOperand shared = tr_register(t, to, 0), barrier = tr_register(t, to, 1);
    const IsaOperand ranks = ranks_of(t, size);
    IsaInst *step = put_bulk(t, kind, size);
    step->operand[4] = ranks;
    if (ranks != ISA_SINK) step->flags |= ISA_BULK_MULTICAST;
    step->operand[0] = shared;
    step->operand[1] = source;
    step->operand[3] = barrier;
    step->sub |= ISA_BULK_SHARED_IS_32 | ISA_BULK_BARRIER_IS_32;
    if (is_local) step->sub |= ISA_BULK_SOURCE_IS_32;
    return step;
}

/* to, from, size. S: shared memory, G: global memory. */
bool tr_op_ublkcp(Translator *t) {
    const uint8_t way = tr_mod(t, SASS_MOD_BULK_WAY);
    if (way == SASS_BULK_WAY_NONE) return tr_refuse(t, "this kind of bulk copy");
    if (way == SASS_BULK_WAY_GS) put_out(t, ISA_BULK_STORE);
    else put_shared(t, way == SASS_BULK_WAY_SS ? ISA_BULK_LOCAL : ISA_BULK_LOAD);
    return true;
}

/* to, from, size: combines global or shared memory (.S.S) with shared memory. */
bool tr_op_ublkred(Translator *t) {
    static const struct {
        uint8_t size, flags; /* 0: no such type */
    } types[] = {{4, 0},          {4, ISA_SIGNED}, {8, 0},
                 {8, ISA_SIGNED}, {2, ISA_FLOAT},  {4, ISA_FLOAT},
                 {0, 0},          {8, ISA_FLOAT},  {2, ISA_FLOAT | ISA_BFLOAT}};
    const uint8_t type = tr_mod(t, SASS_MOD_BULK_TYPE), which = tr_mod(t, SASS_MOD_ATOM_OP);
    const uint8_t way = tr_mod(t, SASS_MOD_BULK_WAY);
    const bool is_local = way == SASS_BULK_WAY_SS;
    if (!is_local && way != SASS_BULK_WAY_GS) return tr_refuse(t, "this kind of bulk copy");
    if (type >= sizeof types / sizeof types[0] || !types[type].size || which > 7)
        return tr_refuse(t, "this kind of reduction");
    IsaInst *step = is_local ? put_shared(t, ISA_BULK_LOCAL) : put_out(t, ISA_BULK_REDUCE);
    t->info.flags |= ISA_IS_REDUCTION;
    step->size = types[type].size;
    step->flags |= types[type].flags;
    step->vector = (uint8_t)operations[which];
    return true;
}

/* from, size */
bool tr_op_ublkpf(Translator *t) {
    const IsaOperand global = tr_joined(t, tr_operand(t, 0));
    put_bulk(t, ISA_BULK_PREFETCH, tr_operand(t, 1))->operand[1] = global;
    return true;
}

/* Adds the ranks, if there are any, and the im2col offsets. Both are in one register. Its lower
 * half has one offset of 16 bits, two of 8, or three of 5. */
static void add_more(Translator *t, const SassOperand *operand, uint32_t rank, bool chooses,
                     bool has_offsets) {
    static const uint32_t bits[] = {16, 8, 5};
    const uint32_t count = has_offsets ? rank - 2 : 0;
    IsaOperand rows[1 + 3];
    if (chooses) rows[0] = ranks_of(t, operand);
    for (uint32_t i = 0; i < count; ++i)
        rows[1 + i] = tr_step3(t, ISA_DO_SHR_U32, tr_scratch(t), tr_row(t, operand),
                               tr_constant(t, i * bits[count - 1]))
                          ->operand[0];
    for (uint32_t i = chooses ? 0 : 1; i <= count; ++i)
        tr_add_wide(t, rows[i]);
}

/* The operands are a block of registers and the map. The block has the shared address (except for
 * UTMAPF), the mbarrier (for UTMALDG), and the coordinates. */
bool tr_op_utma(Translator *t) {
    const bool is_load = t->sass->op == SASS_OP_UTMALDG,
               is_prefetch = t->sass->op == SASS_OP_UTMAPF;
    const bool is_reduction = t->sass->op == SASS_OP_UTMAREDG;
    const SassOperand *block = tr_operand(t, 0), *map = tr_operand(t, 1);
    const uint32_t rank = tr_mod(t, SASS_MOD_TILE_RANK) + 1u;
    const bool is_im2col = tr_mod(t, SASS_MOD_TILE_IM2COL);
    if (rank > 5 || (is_im2col && rank < 3)) return tr_refuse(t, "this number of dimensions");
    IsaOperand row[7]; /* rows of the block */
    const uint32_t before = is_load ? 2 : is_prefetch ? 0 : 1;
    for (uint32_t i = 0; i < before + rank; ++i)
        row[i] = tr_register(t, block, i);
    const IsaOperand address = tr_joined(t, map);
    t->step[t->steps - 1].sub = ISA_JOIN_GENERIC; /* maps may be in constant memory */
    const bool chooses = is_load && tr_mod(t, SASS_MOD_BULK_MULTICAST);
    const bool has_offsets = is_im2col && (is_load || is_prefetch);
    const int64_t more = t->wide_count;
    if (chooses || has_offsets) add_more(t, tr_operand(t, 2), rank, chooses, has_offsets);
    IsaInst *step = put_step(t, ISA_DO_TENSOR,
                             is_load        ? ISA_BULK_LOAD
                             : is_prefetch  ? ISA_BULK_PREFETCH
                             : is_reduction ? ISA_BULK_REDUCE
                                            : ISA_BULK_STORE);
    step->operand[0] = is_prefetch ? ISA_SINK : row[0];
    step->operand[1] = address;
    for (uint32_t i = 0; i < rank; ++i)
        step->operand[2 + i] = row[before + i];
    step->operand[7] = is_load ? row[1] : ISA_SINK;
    step->vector = (uint8_t)rank;
    if (is_reduction) {
        step->size = (uint8_t)operations[tr_mod(t, SASS_MOD_ATOM_OP) & 7];
        t->info.flags |= ISA_IS_REDUCTION;
    }
    step->sub |= ISA_BULK_SHARED_IS_32 | ISA_BULK_BARRIER_IS_32;
    step->flags |=
        (uint8_t)((chooses ? ISA_BULK_MULTICAST : 0) | (is_im2col ? ISA_BULK_IM2COL : 0));
    step->imm = more << 32;
    return true;
}
