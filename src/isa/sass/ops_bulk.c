/* Bulk copies of sm_90: UBLKCP, UBLKRED, UBLKPF. Their operands are uniform registers: a warp
 * begins one copy, whichever of its lanes are active. A shared address and an mbarrier are a pair
 * of registers, a size counts 16 bytes. Found by what ptxas makes of cp.async.bulk. */
#include "isa/async.h"
#include "isa/sass/translate.h"

/* What all have in common: the step, with its kind and the size. */
static IsaInst *put_bulk(Translator *t, IsaBulkKind kind, const SassOperand *size) {
    const IsaOperand units = tr_row(t, size);
    IsaInst *step = tr_step(t, ISA_DO_BULK);
    t->is_uniform = false; /* its guard is a lane's */
    t->inst.flow = ISA_FLOW_STORE;
    t->info.flags |= ISA_IS_BULK;
    step->operand[0] = step->operand[3] = ISA_SINK;
    step->operand[2] = units;
    step->target = step->reconverge = 0; /* offsets */
    step->sub = (uint8_t)(kind | ISA_BULK_IN_16 | ISA_BULK_ONCE);
    return step;
}

/* to, from, size. S: shared memory, G: global memory. */
bool tr_op_ublkcp(Translator *t) {
    const SassOperand *to = tr_operand(t, 0), *from = tr_operand(t, 1), *size = tr_operand(t, 2);
    const uint8_t way = tr_mod(t, SASS_MOD_BULK_WAY);
    if (tr_mod(t, SASS_MOD_BULK_MULTICAST)) return tr_refuse(t, "copies to several thread blocks");
    if (way == SASS_BULK_WAY_NONE) return tr_refuse(t, "this kind of bulk copy");
    if (way == SASS_BULK_WAY_GS) {
        const IsaOperand global = tr_joined(t, to), shared = tr_register(t, from, 0);
        IsaInst *step = put_bulk(t, ISA_BULK_STORE, size);
        step->operand[0] = shared;
        step->operand[1] = global;
        step->sub |= ISA_BULK_SHARED_IS_32;
        return true;
    }
    const bool is_local = way == SASS_BULK_WAY_SS;
    const IsaOperand source = is_local ? tr_register(t, from, 0) : tr_joined(t, from);
    const IsaOperand shared = tr_register(t, to, 0), barrier = tr_register(t, to, 1);
    IsaInst *step = put_bulk(t, is_local ? ISA_BULK_LOCAL : ISA_BULK_LOAD, size);
    step->operand[0] = shared;
    step->operand[1] = source;
    step->operand[3] = barrier;
    step->sub |= ISA_BULK_SHARED_IS_32 | ISA_BULK_BARRIER_IS_32;
    if (is_local) step->sub |= ISA_BULK_SOURCE_IS_32;
    return true;
}

/* to, from, size: global memory is combined with shared memory. */
bool tr_op_ublkred(Translator *t) {
    static const struct {
        uint8_t size, flags; /* 0: no such type */
    } types[] = {{4, 0}, {4, ISA_SIGNED}, {8, 0}, {8, ISA_SIGNED}, {2, ISA_FLOAT},
                 {4, ISA_FLOAT}, {0, 0}, {8, ISA_FLOAT}, {2, ISA_FLOAT | ISA_BFLOAT}};
    static const PtxSub operations[] = {PTX_SUB_ADD, PTX_SUB_MIN, PTX_SUB_MAX, PTX_SUB_INC,
                                        PTX_SUB_DEC, PTX_SUB_AND, PTX_SUB_OR,  PTX_SUB_XOR};
    const uint8_t type = tr_mod(t, SASS_MOD_BULK_TYPE), which = tr_mod(t, SASS_MOD_ATOM_OP);
    if (tr_mod(t, SASS_MOD_BULK_WAY) != SASS_BULK_WAY_GS)
        return tr_refuse(t, "reductions of shared memory");
    if (type >= sizeof types / sizeof types[0] || !types[type].size || which > 7)
        return tr_refuse(t, "this kind of reduction");
    const IsaOperand global = tr_joined(t, tr_operand(t, 0));
    const IsaOperand shared = tr_register(t, tr_operand(t, 1), 0);
    IsaInst *step = put_bulk(t, ISA_BULK_REDUCE, tr_operand(t, 2));
    step->operand[0] = shared;
    step->operand[1] = global;
    step->sub |= ISA_BULK_SHARED_IS_32;
    step->size = types[type].size;
    step->flags = types[type].flags;
    step->vector = (uint8_t)operations[which];
    return true;
}

/* from, size */
bool tr_op_ublkpf(Translator *t) {
    const IsaOperand global = tr_joined(t, tr_operand(t, 0));
    put_bulk(t, ISA_BULK_PREFETCH, tr_operand(t, 1))->operand[1] = global;
    return true;
}
