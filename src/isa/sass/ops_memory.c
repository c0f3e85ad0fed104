/* Loads, stores, atomic operations, copies, fences, and loads of constants. */
#include "isa/sass/translate.h"

#include "isa/async.h"
#include "isa/launch.h"

/* A scratch row that a handler computes from two rows. */
static IsaOperand of_rows(Translator *t, IsaHandler handler, IsaOperand a, IsaOperand b) {
    return tr_step3(t, handler, tr_scratch(t), a, b)->operand[0];
}

/* ---- Addresses ---- */

static void note_address(Translator *t, uint32_t number) {
    if (t->addresses.count < TR_REGS)
        t->addresses.reg[t->addresses.count++] = (IsaReg){number, number};
}

/* The registers of an address are listed as address sources, not as data. */
static IsaOperand base_register(Translator *t, uint32_t reg, uint32_t add) {
    const SassOperand operand = {.kind = SASS_REG, .value = reg};
    const uint8_t before = t->sources.count;
    const IsaOperand row = tr_register(t, &operand, add);
    t->sources.count = before;
    if (reg != SASS_RZ) note_address(t, reg + add);
    return row;
}
static IsaOperand base_uniform(Translator *t, uint32_t reg, uint32_t add) {
    const SassOperand operand = {.kind = SASS_UREG, .value = reg};
    return tr_register(t, &operand, add);
}

static uint32_t scale_of(const SassOperand *address) {
    switch (address->suffix) {
    case SASS_SUFFIX_X4: return 2;
    case SASS_SUFFIX_X8: return 3;
    case SASS_SUFFIX_X16: return 4;
    default: return 0;
    }
}

static bool has_uniform(const SassOperand *address) {
    return address->has_ureg && address->ureg != SASS_URZ;
}

/* The 64-bit sum of an address, in scratch. `is_wide`: its registers are pairs. */
static IsaOperand joined_address(Translator *t, const SassOperand *address, bool is_wide) {
    const bool is_pair = is_wide && address->suffix != SASS_SUFFIX_R32;
    IsaInst *step = tr_step(t, ISA_DO_JOIN);
    step->operand[1] = base_register(t, address->reg, 0);
    step->operand[2] = is_pair ? base_register(t, address->reg, 1) : tr_constant(t, 0);
    step->operand[3] = has_uniform(address) ? base_uniform(t, address->ureg, 0) : ISA_SINK;
    if (has_uniform(address) && is_wide) step->operand[4] = base_uniform(t, address->ureg, 1);
    step->imm = address->value;
    step->sub = (uint8_t)((is_pair ? 0 : ISA_JOIN_LOW_ONLY) |
                          (is_wide ? ISA_JOIN_GENERIC : ISA_JOIN_UNIFORM_LOW | ISA_JOIN_CUT));
    return step->operand[0] = tr_scratch_pair(t);
}

/* Base row and offset of an access. A narrow address that is a register plus a number needs no
 * step. */
typedef struct Base {
    IsaOperand row;
    int64_t offset;
    bool is_32;
} Base;

static Base base_of(Translator *t, const SassOperand *address, bool is_wide) {
    if (is_wide) return (Base){joined_address(t, address, true), 0, false};
    const uint32_t scale = scale_of(address);
    if (scale) {
        const IsaOperand index = base_register(t, address->reg, 0);
        IsaOperand scaled = tr_scratch(t);
        tr_step2(t, ISA_DO_SCALE, scaled, index)->sub = (uint8_t)scale;
        if (has_uniform(address))
            scaled = of_rows(t, ISA_DO_ADD_32, scaled, base_uniform(t, address->ureg, 0));
        return (Base){scaled, address->value, true};
    }
    if (has_uniform(address)) return (Base){joined_address(t, address, false), 0, false};
    return (Base){base_register(t, address->reg, 0), address->value, true};
}

/* ---- Common to all accesses ---- */

/* Bytes per element, elements per lane, and whether an element is sign-extended. */
typedef struct Width {
    uint8_t size, vector;
    bool is_signed;
} Width;

static Width width_of(uint8_t type) {
    static const Width widths[] = {{1, 1, false}, {1, 1, true},  {2, 1, false}, {2, 1, true},
                                   {4, 1, false}, {4, 2, false}, {4, 4, false}, {4, 4, false}};
    return widths[type & 7];
}

static PtxSpace space_of(uint16_t op) {
    switch (op) {
    case SASS_OP_LDG:
    case SASS_OP_STG:
    case SASS_OP_ATOMG:
    case SASS_OP_REDG:
    case SASS_OP_RED: return PTX_SPACE_GLOBAL;
    case SASS_OP_LDS:
    case SASS_OP_STS:
    case SASS_OP_LDSM:
    case SASS_OP_STSM:
    case SASS_OP_ATOMS: return PTX_SPACE_SHARED;
    case SASS_OP_LDL:
    case SASS_OP_STL: return PTX_SPACE_LOCAL;
    default: return PTX_SPACE_NONE; /* generic */
    }
}

static uint8_t evict_of(const Translator *t) {
    static const uint8_t evict[] = {PTX_EVICT_FIRST, PTX_EVICT_NONE,      PTX_EVICT_LAST,
                                    PTX_EVICT_FIRST, PTX_EVICT_UNCHANGED, PTX_EVICT_NO_ALLOCATE};
    const uint8_t value = tr_mod(t, SASS_MOD_EVICT);
    return value < 6 ? evict[value] : PTX_EVICT_NONE;
}

static void fill_access(Translator *t, IsaMemoryKind kind, PtxSpace space, Width width) {
    IsaInfo *info = &t->info;
    const uint8_t order = tr_mod(t, SASS_MOD_ORDER);
    const bool is_strong = order == SASS_ORDER_STRONG || order == SASS_ORDER_MMIO;
    info->op_class = ISA_CLASS_MEMORY;
    info->memory = (uint8_t)kind;
    info->space = (uint8_t)space;
    info->element_bytes = width.size;
    info->vector = width.vector;
    if (space == PTX_SPACE_GLOBAL || space == PTX_SPACE_NONE) {
        const bool keeps = kind == ISA_MEMORY_LOAD || kind == ISA_MEMORY_STORE;
        if (keeps) info->evict[0] = info->evict[1] = evict_of(t);
        info->prefetch =
            tr_mod(t, SASS_MOD_PREFETCH) ? (uint8_t)(5 + tr_mod(t, SASS_MOD_PREFETCH)) : 0;
    }
    if (is_strong) info->flags |= ISA_IS_STRONG;
    if (is_strong && kind == ISA_MEMORY_LOAD && tr_mod(t, SASS_MOD_SCOPE) >= SASS_SCOPE_GPU)
        info->cache_op = PTX_CACHE_CG; /* the L1D may hold data that another SM has overwritten */
    if (kind == ISA_MEMORY_ATOMIC || is_strong) info->flags |= ISA_LOOKS;
    if ((kind == ISA_MEMORY_STORE || kind == ISA_MEMORY_ATOMIC) && space != PTX_SPACE_LOCAL)
        t->inst.flow = ISA_FLOW_STORE;
}

static void put_access(IsaInst *step, PtxSpace space, Width width, Base base, int at) {
    step->operand[at] = base.row;
    step->imm = base.offset;
    step->size = width.size;
    step->vector = width.vector;
    step->space = (uint8_t)space;
    if (base.is_32) step->flags |= ISA_BASE_IS_32;
    if (width.is_signed) step->flags |= ISA_SIGNED;
}

static bool is_wide(const Translator *t, PtxSpace space) {
    return (space == PTX_SPACE_GLOBAL || space == PTX_SPACE_NONE) && tr_mod(t, SASS_MOD_E);
}

/* ---- Loads and stores ---- */

/* A half of an access of 256 bits, which is executed as two of 128 bits. The lower half is the
 * last: it leaves the addresses for the timing model, and checks the alignment of the whole. */
static void put_half(Translator *t, IsaInst *step, Base base, uint32_t half, bool is_load) {
    const Width width = {4, 4, false};
    put_access(step, PTX_SPACE_GLOBAL, width, base, width.vector);
    step->imm += half * 16;
    step->sub = !half;
    step->exec = t->table[isa_access_handler(step, PTX_SPACE_GLOBAL, is_load)];
}

static bool fill_256(Translator *t, IsaMemoryKind kind) {
    static const uint8_t evict[8] = {PTX_EVICT_FIRST, PTX_EVICT_NONE, PTX_EVICT_LAST};
    fill_access(t, kind, PTX_SPACE_GLOBAL, (Width){4, 8, false});
    t->info.evict[1] = evict[tr_mod(t, SASS_MOD_EVICT_L2)];
    return true;
}

/* d (upper half), d (lower half), address, words that are loaded. The registers of a half are those
 * of the words that are loaded, without gaps. */
static bool load_256(Translator *t) {
    const uint32_t mask = (uint32_t)tr_operand(t, 3)->value;
    const Base base = base_of(t, tr_operand(t, 2), true);
    for (uint32_t half = 2; half-- > 0;) {
        const SassOperand *to = tr_operand(t, (int)(1 - half));
        IsaInst *step = tr_step(t, ISA_DO_LD);
        for (uint32_t i = 0, loaded = 0; i < 4; ++i) {
            const bool is_loaded = mask >> (4 * half + i) & 1;
            step->operand[i] = is_loaded ? tr_to_register(t, to, loaded++) : ISA_SINK;
        }
        put_half(t, step, base, half, true);
    }
    return fill_256(t, ISA_MEMORY_LOAD);
}

/* address, a (lower half), a (upper half) */
static bool store_256(Translator *t) {
    const Base base = base_of(t, tr_operand(t, 0), true);
    for (uint32_t half = 2; half-- > 0;) {
        IsaInst *step = tr_step(t, ISA_DO_ST);
        for (uint32_t i = 0; i < 4; ++i)
            step->operand[i] = tr_register(t, tr_operand(t, (int)(1 + half)), i);
        put_half(t, step, base, half, false);
    }
    return fill_256(t, ISA_MEMORY_STORE);
}

/* (p,) d, address (, q) */
bool tr_op_load(Translator *t) {
    if (tr_mod(t, SASS_MOD_WIDE256)) return load_256(t);
    const uint16_t op = t->sass->op;
    const PtxSpace space = space_of(op);
    const int first = op == SASS_OP_LDG;
    const Width width = width_of(tr_mod(t, SASS_MOD_MEM_TYPE));
    const SassOperand *to = tr_operand(t, first);
    if (first && tr_operand(t, 0)->value != SASS_PT) return tr_refuse(t, "a predicate as result");
    if (first && !tr_operand(t, 3)->is_hidden)
        return tr_refuse(t, "a predicate in addition to the guard");
    const Base base = base_of(t, tr_operand(t, first + 1), is_wide(t, space));
    IsaInst *step = tr_step(t, ISA_DO_LD);
    for (uint32_t i = 0; i < width.vector; ++i)
        step->operand[i] = tr_to_register(t, to, i);
    put_access(step, space, width, base, width.vector);
    step->exec = t->table[isa_access_handler(step, space, true)];
    fill_access(t, ISA_MEMORY_LOAD, space, width);
    return true;
}

/* address, a */
bool tr_op_store(Translator *t) {
    if (tr_mod(t, SASS_MOD_WIDE256)) return store_256(t);
    const PtxSpace space = space_of(t->sass->op);
    const Width width = width_of(tr_mod(t, SASS_MOD_MEM_TYPE));
    const Base base = base_of(t, tr_operand(t, 0), is_wide(t, space));
    IsaOperand data[4];
    for (uint32_t i = 0; i < width.vector; ++i)
        data[i] = tr_register(t, tr_operand(t, 1), i);
    IsaInst *step = tr_step(t, ISA_DO_ST);
    for (uint32_t i = 0; i < width.vector; ++i)
        step->operand[i] = data[i];
    put_access(step, space, width, base, width.vector);
    step->exec = t->table[isa_access_handler(step, space, false)];
    fill_access(t, ISA_MEMORY_STORE, space, width);
    return true;
}

/* Matrices of 8 x 8 halves: LDSM d, address; STSM address, a */
bool tr_op_matrices(Translator *t) {
    static const uint8_t counts[] = {1, 2, 4};
    const bool is_load = t->sass->op == SASS_OP_LDSM;
    const uint8_t count = tr_mod(t, SASS_MOD_MATRIX_COUNT);
    const uint8_t layout = tr_mod(t, SASS_MOD_MATRIX_LAYOUT);
    const Width row = {16, 1, false};
    if (count > 2 || tr_mod(t, SASS_MOD_MATRIX_ELEMENT) != SASS_MATRIX_ELEMENT_B16 || layout > 1)
        return tr_refuse(t, "this kind of matrix");
    const Base base = base_of(t, tr_operand(t, is_load ? 1 : 0), false);
    IsaInst *step = tr_step(t, is_load ? ISA_DO_LDMATRIX : ISA_DO_STMATRIX);
    for (uint32_t i = 0; i < counts[count]; ++i)
        step->operand[i] =
            is_load ? tr_to_register(t, tr_operand(t, 0), i) : tr_register(t, tr_operand(t, 1), i);
    put_access(step, PTX_SPACE_SHARED, row, base, 4);
    step->vector = counts[count];
    step->sub = layout == SASS_MATRIX_LAYOUT_MT88;
    fill_access(t, is_load ? ISA_MEMORY_LOAD : ISA_MEMORY_STORE, PTX_SPACE_SHARED, row);
    t->info.flags |= ISA_NAMES_ROWS;
    t->info.naming_lanes = (uint8_t)(8 * counts[count]);
    return true;
}

/* ---- mbarriers ---- */

/* Arrivals at the barrier at `address`, and transactions (ISA_SINK: none). `to` NULL: no result.
 * `space`: shared memory of the CTA or of its cluster, or generic. */
static void put_arrival(Translator *t, const SassOperand *to, const SassOperand *address,
                        PtxSpace space, IsaOperand count, IsaOperand transactions, uint8_t sub) {
    const PtxSpace timed = space == PTX_SPACE_CLUSTER ? PTX_SPACE_SHARED : space;
    const Base base = base_of(t, address, space == PTX_SPACE_NONE);
    const bool has_result = to && to->value != SASS_RZ;
    IsaInst *step = tr_step(t, ISA_DO_PHASE_ARRIVE);
    put_access(step, space, (Width){8, 1, false}, base, 1);
    step->operand[0] = has_result ? tr_scratch_pair(t) : ISA_SINK;
    step->operand[2] = count;
    step->operand[3] = transactions;
    step->sub = (uint8_t)(sub | (t->sass->sm >= 90 ? ISA_PHASE_90 : 0));
    if (has_result) tr_split_to(t, to, step->operand[0]);
    fill_access(t, ISA_MEMORY_ATOMIC, timed, (Width){8, 1, false});
    t->info.flags |= ISA_IS_PHASE;
    if (space != PTX_SPACE_SHARED) t->info.flags |= ISA_IS_BULK;
    if (!has_result) t->info.flags |= ISA_IS_REDUCTION;
}

/* Stores the uniform pair b as the barrier object. */
static bool set_barrier(Translator *t) {
    const SassOperand *b = tr_operand(t, 2);
    const Width width = {4, 2, false};
    if (tr_operand(t, 0)->value != SASS_URZ) return tr_refuse(t, "what the barrier was");
    t->is_uniform = false; /* executed by the active lanes */
    const Base base = base_of(t, tr_operand(t, 1), false);
    const IsaOperand low = tr_register(t, b, 0), high = tr_register(t, b, 1);
    IsaInst *step = tr_step2(t, ISA_DO_ST, low, high);
    put_access(step, PTX_SPACE_SHARED, width, base, width.vector);
    fill_access(t, ISA_MEMORY_STORE, PTX_SPACE_SHARED, width);
    return true;
}

/* PHASECHK p, address, phase. .TRYWAIT keeps the warp waiting for a limited time. */
static bool check_phase(Translator *t) {
    const Base base = base_of(t, tr_operand(t, 1), false);
    const IsaOperand phase = tr_row(t, tr_operand(t, 2));
    const IsaOperand is_over = tr_word_to(t, tr_operand(t, 0));
    IsaInst *step = tr_step(t, ISA_DO_PHASE_CHECK);
    put_access(step, PTX_SPACE_SHARED, (Width){8, 1, false}, base, 1);
    step->operand[0] = is_over;
    step->operand[2] = phase;
    step->operand[3] = ISA_SINK;
    fill_access(t, ISA_MEMORY_ATOMIC, PTX_SPACE_SHARED, (Width){8, 1, false});
    t->inst.flow = ISA_FLOW_NEXT; /* does not change memory */
    t->info.flags |= ISA_IS_PHASE;
    t->inst.operand[0] = is_over; /* for isa_try_again, which reads the result of the wait */
    t->inst.operand[3] = ISA_SINK;
    t->inst.flags |= ISA_MBARRIER_WAITS | (tr_mod(t, SASS_MOD_TRYWAIT) ? ISA_MBARRIER_TRIES : 0);
    return true;
}

/* PHASECHK: p, address, phase; ARRIVE: d, address, count; EXCH: uniform d, address, b. */
bool tr_op_syncs(Translator *t) {
    const uint8_t arrival = tr_mod(t, SASS_MOD_ARRIVAL);
    switch (tr_mod(t, SASS_MOD_SYNCS)) {
    case SASS_SYNCS_EXCH: return set_barrier(t);
    case SASS_SYNCS_CCTL_IV: tr_step(t, ISA_DO_NOP); return true;
    case SASS_SYNCS_PHASECHK: return check_phase(t);
    default: break;
    }
    if (arrival == SASS_ARRIVAL_A0T1 && tr_operand(t, 0)->value == SASS_RZ) {
        tr_step(t, ISA_DO_NOP); /* a transaction of cp.async; copies are complete when they have
                                 * issued */
        return true;
    }
    if (arrival == SASS_ARRIVAL_A0T1 || arrival > SASS_ARRIVAL_ART0)
        return tr_refuse(t, "this kind of arrival");
    const bool has_register = arrival != SASS_ARRIVAL_A1T0,
               has_count = arrival == SASS_ARRIVAL_ART0;
    const IsaOperand amount = has_register ? tr_row(t, tr_operand(t, 2)) : ISA_SINK;
    const bool stays = arrival == SASS_ARRIVAL_A0TR || arrival == SASS_ARRIVAL_A0TX;
    put_arrival(t, tr_operand(t, 0), tr_operand(t, 1),
                tr_mod(t, SASS_MOD_RED) ? PTX_SPACE_CLUSTER : PTX_SPACE_SHARED,
                has_count ? amount : ISA_SINK, has_count ? ISA_SINK : amount,
                (stays ? ISA_PHASE_STAYS : 0) |
                    (arrival == SASS_ARRIVAL_A0TX ? ISA_PHASE_COMPLETES : 0) |
                    (tr_mod(t, SASS_MOD_OPTOUT) ? ISA_PHASE_DROP : 0) |
                    (tr_mod(t, SASS_MOD_TMASK) ? ISA_PHASE_OF_LANES : 0));
    return true;
}

/* address: each lane arrives when its copies are complete, or (.TRANSCNT) when they have been
 * expected. */
bool tr_op_arrives(Translator *t) {
    if (tr_mod(t, SASS_MOD_ARRIVES_COUNT) == SASS_ARRIVES_COUNT_TRANSCNT) {
        tr_step(t, ISA_DO_NOP);
    } else {
        put_arrival(t, NULL, tr_operand(t, 0), PTX_SPACE_SHARED, ISA_SINK, ISA_SINK, 0);
    }
    t->info.flags |= ISA_IS_COPY_WAIT;
    t->info.element_bytes = ISA_WAIT_ALL;
    return true;
}

/* ---- Atomic operations ---- */

typedef struct AtomType {
    uint8_t size;
    uint8_t flags;    /* ISA_SIGNED, ISA_FLOAT, ... */
    uint8_t elements; /* each is an operation of its own */
} AtomType;

static bool atom_type(const Translator *t, AtomType *type) {
    static const AtomType types[] = {{4, 0, 1},
                                     {4, ISA_SIGNED, 1},
                                     {8, 0, 1},
                                     {4, ISA_FLOAT, 1},
                                     {4, ISA_FLOAT | ISA_HALF_PAIR, 1},
                                     {8, ISA_SIGNED, 1},
                                     {8, ISA_FLOAT, 1},
                                     {4, ISA_FLOAT | ISA_HALF_PAIR | ISA_BFLOAT, 1},
                                     {16, 0, 1}};
    const uint16_t opcode = t->sass->form->opcode;
    const bool is_float = opcode == 0x1a2 || opcode == 0x1a3 || opcode == 0x1a6;
    if (!is_float && t->sass->sm >= 90) {
        static const uint8_t of_90[] = {0, 1, 2, 5, 8}; /* types by the numbers of ATOM_INT */
        if (tr_mod(t, SASS_MOD_ATOM_INT) >= sizeof of_90) return false;
        *type = types[of_90[tr_mod(t, SASS_MOD_ATOM_INT)]];
        return true;
    }
    if (!is_float) {
        *type = types[tr_mod(t, SASS_MOD_ATOM_TYPE) & 7];
        return true;
    }
    /* type and elements by the numbers of ATOM_FLOAT */
    static const uint8_t floats[16][2] = {
        [SASS_ATOM_FLOAT_F16X2] = {4, 1},     [SASS_ATOM_FLOAT_F16X4] = {4, 2},
        [SASS_ATOM_FLOAT_F16X8] = {4, 4},     [SASS_ATOM_FLOAT_BF16X2] = {7, 1},
        [SASS_ATOM_FLOAT_BF16X4] = {7, 2},    [SASS_ATOM_FLOAT_BF16X8] = {7, 4},
        [SASS_ATOM_FLOAT_F32_FTZ] = {3, 1},   [SASS_ATOM_FLOAT_F32X2_FTZ] = {3, 2},
        [SASS_ATOM_FLOAT_F32X4_FTZ] = {3, 4}, [SASS_ATOM_FLOAT_F32] = {3, 1},
        [SASS_ATOM_FLOAT_F32X2] = {3, 2},     [SASS_ATOM_FLOAT_F32X4] = {3, 4},
        [SASS_ATOM_FLOAT_F64] = {6, 1}};
    const uint8_t *row = floats[tr_mod(t, SASS_MOD_ATOM_FLOAT) & 15];
    *type = types[row[0]];
    type->elements = row[1];
    return type->elements;
}

/* An operand of `size` bytes: a row, or a joined pair. */
static IsaOperand value_of(Translator *t, const SassOperand *operand, uint8_t size) {
    return size == 8 ? tr_joined(t, operand) : tr_row(t, operand);
}

/* 1 if the old value is the expected one, otherwise 0; or a predicate. */
static void put_test(Translator *t, const SassOperand *to, IsaOperand old, IsaOperand asked,
                     uint8_t size) {
    if (to->kind == SASS_PRED) {
        IsaInst *test = tr_step(t, size == 8 ? ISA_DO_SETP_EQ_64 : ISA_DO_SETP_EQ_32);
        test->operand[0] = tr_word_to(t, to);
        test->operand[2] = old;
        test->operand[3] = asked;
        return;
    }
    IsaInst *step = tr_step(t, size == 8 ? ISA_DO_SET_EQ_64 : ISA_DO_SET_EQ_32);
    step->operand[0] = tr_to(t, to);
    step->operand[2] = old;
    step->operand[3] = asked;
    step->imm = 1;
    if (size != 8) return;
    tr_step2(t, ISA_DO_MOV_32, tr_to_register(t, to, 1), tr_constant(t, 0));
}

/* An atomic operation: where it takes effect, what it computes, and its operands. */
typedef struct Atom {
    AtomType type;
    PtxSpace space;
    Base base;
    PtxSub sub;
    const SassOperand *to; /* NULL: no result */
    int b;                 /* number of the operand b; c follows. 0: b is 1 */
    bool is_test;          /* CAS: the result is whether it has swapped */
} Atom;

static IsaInst *put_operation(Translator *t, const Atom *atom, uint8_t elements) {
    IsaInst *step = tr_step(t, ISA_DO_ATOM);
    put_access(step, atom->space, (Width){atom->type.size, elements, false}, atom->base, 1);
    step->flags |= atom->type.flags;
    step->operand[0] = ISA_SINK;
    step->sub = (uint8_t)atom->sub;
    return step;
}

/* An operation on a vector. The first element is the last: it leaves the addresses for the timing
 * model, and checks the alignment of the whole. */
static bool put_vector(Translator *t, const Atom *atom) {
    for (uint32_t i = atom->type.elements; i-- > 0;) {
        const IsaOperand b = tr_register(t, tr_operand(t, atom->b), i);
        IsaInst *step = put_operation(t, atom, i ? ISA_NEXT_ELEMENT : atom->type.elements);
        step->imm += i * atom->type.size;
        step->operand[2] = b;
        if (atom->to) step->operand[0] = tr_to_register(t, atom->to, i);
    }
    return true;
}

/* A half of an operand of 128 bits. */
static SassOperand half_of_128(const SassOperand *operand, int half) {
    SassOperand part = *operand;
    if (part.value != SASS_RZ) part.value += 2 * half;
    return part;
}

static bool put_128(Translator *t, const Atom *atom) {
    IsaOperand b[2], c[2] = {0};
    if (atom->is_test || !atom->b) return tr_refuse(t, "this type");
    for (int half = 0; half < 2; ++half) {
        const SassOperand part = half_of_128(tr_operand(t, atom->b), half);
        b[half] = tr_joined(t, &part);
        if (atom->sub != PTX_SUB_CAS) continue;
        const SassOperand next = half_of_128(tr_operand(t, atom->b + 1), half);
        c[half] = tr_joined(t, &next);
    }
    IsaInst *step = put_operation(t, atom, 1);
    step->operand[4] = ISA_SINK;
    for (int half = 0; half < 2; ++half) {
        step->operand[half ? 5 : 2] = b[half];
        step->operand[half ? 6 : 3] = c[half];
        if (atom->to) step->operand[half ? 4 : 0] = tr_scratch_pair(t);
    }
    for (int half = 0; half < 2 && atom->to; ++half) {
        const SassOperand part = half_of_128(atom->to, half);
        tr_split_to(t, &part, step->operand[half ? 4 : 0]);
    }
    return true;
}

static bool put_scalar(Translator *t, const Atom *atom) {
    const uint8_t size = atom->type.size;
    const IsaOperand b = atom->b ? value_of(t, tr_operand(t, atom->b), size) : tr_constant(t, 1);
    const IsaOperand c =
        atom->sub == PTX_SUB_CAS ? value_of(t, tr_operand(t, atom->b + 1), size) : 0;
    IsaInst *step = put_operation(t, atom, 1);
    step->operand[2] = b;
    step->operand[3] = c;
    if (!atom->to) return true;
    const IsaOperand old = size == 8       ? tr_scratch_pair(t)
                           : atom->is_test ? tr_scratch(t)
                                           : tr_to(t, atom->to);
    step->operand[0] = old;
    if (atom->is_test) put_test(t, atom->to, old, b, size);
    else if (size == 8) tr_split_to(t, atom->to, old);
    return true;
}

static const PtxSub subs[] = {PTX_SUB_ADD, PTX_SUB_MIN, PTX_SUB_MAX, PTX_SUB_INC, PTX_SUB_DEC,
                              PTX_SUB_AND, PTX_SUB_OR,  PTX_SUB_XOR, PTX_SUB_EXCH};

/* (p, d,) address, b (, c) */
bool tr_op_atom(Translator *t) {
    const uint16_t op = t->sass->op, opcode = t->sass->form->opcode;
    const bool is_reduction = op == SASS_OP_RED || op == SASS_OP_REDG;
    const bool is_cas = opcode == 0x18b || opcode == 0x18d || opcode == 0x1a9;
    const int to = is_reduction ? -1 : op == SASS_OP_ATOMS ? 0 : 1, address = to + 1;
    const uint8_t which = tr_mod(t, SASS_MOD_ATOM_OP);
    Atom atom = {.space = space_of(op), .b = address + 1};
    if (!atom_type(t, &atom.type)) return tr_refuse(t, "this type");
    /* adds the number of lanes, and returns what each lane would get if it added 1; has no b */
    const uint8_t popc_inc = t->sass->sm < 90 ? SASS_ATOM_OP_POPC_INC : SASS_ATOM_OP_POPC_INC_90;
    const bool is_count = !is_cas && which == popc_inc;
    if (!is_cas && which == SASS_ATOM_OP_ARRIVE && t->sass->sm < 90) {
        put_arrival(t, tr_operand(t, to), tr_operand(t, address),
                    to == 1 ? PTX_SPACE_NONE : PTX_SPACE_SHARED, ISA_SINK, ISA_SINK, 0);
        return true;
    }
    if (!is_cas && !is_count && which > SASS_ATOM_OP_EXCH) return tr_refuse(t, "this operation");
    atom.is_test = is_cas && tr_mod(t, SASS_MOD_CAS) & 2; /* CAST */
    if (!is_reduction &&
        (tr_operand(t, to)->kind == SASS_PRED || tr_operand(t, to)->value != SASS_RZ))
        atom.to = tr_operand(t, to);
    if (atom.to && atom.to->kind == SASS_PRED && !atom.is_test)
        return tr_refuse(t, "a predicate as result");
    if (is_count && atom.to) return tr_refuse(t, "the result of .POPC.INC");
    if (!is_count && atom.b >= t->sass->operand_count)
        return tr_refuse(t, "an operation without operand");
    if (is_count) atom.b = 0;
    atom.sub = is_cas ? PTX_SUB_CAS : is_count ? PTX_SUB_ADD : subs[which];
    atom.base = base_of(t, tr_operand(t, address), is_wide(t, atom.space));
    const bool is_put = atom.type.elements > 1 ? put_vector(t, &atom)
                        : atom.type.size == 16 ? put_128(t, &atom)
                                               : put_scalar(t, &atom);
    fill_access(t, ISA_MEMORY_ATOMIC, atom.space,
                (Width){atom.type.size, atom.type.elements, false});
    if (is_reduction) t->info.flags |= ISA_IS_REDUCTION;
    /* p: whether the memory has done it. For generic addresses of shared memory a GPU leaves the
     * work to the code that follows; here it is always done. */
    if (to == 1 && tr_operand(t, 0)->value != SASS_PT)
        tr_step2(t, ISA_DO_PRED_MOV, tr_word_to(t, tr_operand(t, 0)), ISA_PRED_TRUE);
    return is_put;
}

/* ---- Asynchronous copies ---- */

/* .ZFILL: the lowest bits of the source address are the number of bytes that are not read. If the
 * predicate is false, no byte is read. *source becomes the address without these bits. Returns the
 * row of sizes. */
static IsaOperand partial_size(Translator *t, IsaOperand *source, uint32_t bytes, IsaOperand reads,
                               bool negated) {
    IsaInst *split = tr_step(t, ISA_DO_SPLIT);
    const IsaOperand low = split->operand[0] = tr_scratch(t);
    const IsaOperand high = split->operand[1] = tr_scratch(t);
    split->operand[2] = *source;
    const IsaOperand missing = of_rows(t, ISA_DO_AND_32, low, tr_constant(t, bytes - 1));
    const IsaOperand left = of_rows(t, ISA_DO_SUB_32, tr_constant(t, bytes), missing);
    const IsaOperand aligned = of_rows(t, ISA_DO_SUB_32, low, missing);
    const IsaOperand none = tr_constant(t, 0);
    const IsaOperand size =
        of_rows(t, ISA_DO_SELP_32, negated ? none : left, negated ? left : none);
    t->step[t->steps - 1].operand[3] = reads;
    IsaInst *join = tr_step(t, ISA_DO_JOIN);
    join->operand[1] = aligned;
    join->operand[2] = high;
    join->operand[3] = ISA_SINK;
    *source = join->operand[0] = tr_scratch_pair(t);
    return size;
}

/* to, from, p */
bool tr_op_ldgsts(Translator *t) {
    bool negated;
    const uint8_t type = t->sass->sm >= 100 ? SASS_MEM_TYPE_B32 + tr_mod(t, SASS_MOD_COPY_TYPE)
                                            : tr_mod(t, SASS_MOD_MEM_TYPE);
    const Width width = width_of(type);
    const uint8_t bytes = (uint8_t)(width.size * width.vector);
    const SassOperand *to = tr_operand(t, 0), *from = tr_operand(t, 1);
    const IsaOperand target = joined_address(t, to, false);
    IsaOperand source = joined_address(t, from, true);
    const IsaOperand reads = tr_word(t, tr_operand(t, 2), &negated);
    const bool is_partial = tr_mod(t, SASS_MOD_ZFILL);
    const IsaOperand size = is_partial ? partial_size(t, &source, bytes, reads, negated) : reads;
    /* the second step leaves the addresses of the global access, which the timing model uses */
    for (int part = 0; part < 2; ++part) {
        IsaInst *step = tr_step(t, part ? ISA_DO_COPY_READ : ISA_DO_COPY_WRITE);
        step->operand[0] = target;
        step->operand[1] = source;
        step->operand[2] = size;
        step->size = bytes;
        step->vector = 1;
        step->space = PTX_SPACE_GLOBAL;
        if (is_partial) step->sub = ISA_COPY_HAS_SIZE;
        else if (reads != ISA_PRED_TRUE || negated)
            step->sub = (uint8_t)(ISA_COPY_HAS_IGNORE | (negated ? 0 : ISA_COPY_IGNORE_NEGATED));
    }
    fill_access(t, ISA_MEMORY_LOAD, PTX_SPACE_GLOBAL, (Width){bytes, 1, false});
    t->info.flags |= ISA_IS_COPY;
    t->info.cache_op = tr_mod(t, SASS_MOD_NOT_BYPASS) ? PTX_CACHE_CA : PTX_CACHE_CG;
    t->inst.flow = ISA_FLOW_STORE;
    return true;
}

bool tr_op_ldgdepbar(Translator *t) {
    tr_step(t, ISA_DO_NOP);
    t->info.flags |= ISA_IS_COPY_COMMIT;
    return true;
}

/* Waits for copies: cp.async.wait_group is compiled to DEPBAR.LE SB0, n. */
bool tr_op_depbar(Translator *t) {
    tr_step(t, ISA_DO_NOP);
    if (!tr_mod(t, SASS_MOD_DEPBAR) || tr_operand(t, 0)->value != 0) return true;
    t->info.flags |= ISA_IS_COPY_WAIT;
    t->info.element_bytes = (uint8_t)tr_operand(t, 1)->value;
    return true;
}

/* ---- Constants ---- */

/* d, c[bank][...] */
bool tr_op_ldc(Translator *t) {
    const SassOperand *from = tr_operand(t, 1), *to = tr_operand(t, 0);
    const Width width = width_of(tr_mod(t, SASS_MOD_MEM_TYPE));
    if (from->kind != SASS_CONST) return tr_refuse(t, "a bank by its handle");
    if (tr_mod(t, SASS_MOD_LDC_MODE)) return tr_refuse(t, "this way to index");
    if (from->bank >= ISA_BANKS) return tr_refuse(t, "this bank");
    if (from->reg != SASS_RZ && has_uniform(from)) return tr_refuse(t, "two indexes");
    if (width.size == 4 && !tr_is_indexed(from)) { /* each launch fills in rows with these words */
        for (uint32_t i = 0; i < width.vector; ++i)
            tr_step2(t, ISA_DO_MOV_32, tr_to_register(t, to, i), tr_word_row(t, from, i));
        return true;
    }
    IsaOperand index = from->reg == SASS_RZ && has_uniform(from) ? base_uniform(t, from->ureg, 0)
                                                                 : base_register(t, from->reg, 0);
    if (width.vector > 1) /* a destination may also be the index */
        index = tr_step2(t, ISA_DO_MOV_32, tr_scratch(t), index)->operand[0];
    for (uint32_t i = width.vector; i-- > 0;) { /* the last step leaves the address */
        IsaInst *step = tr_step2(t, ISA_DO_LOAD_CONSTANT, tr_to_register(t, to, i), index);
        step->imm = from->value + 4 * (int64_t)i;
        step->size = width.size;
        step->target = from->bank;
        if (width.is_signed) step->flags |= ISA_SIGNED;
    }
    if (!t->is_uniform) fill_access(t, ISA_MEMORY_LOAD, PTX_SPACE_CONST, width);
    return true;
}

/* ---- Stores that complete transactions of an mbarrier ---- */

/* address, data. The register after the address is the mbarrier. */
bool tr_op_async_store(Translator *t) {
    const bool is_reduction = t->sass->op == SASS_OP_REDAS;
    const SassOperand *address = tr_operand(t, 0), *data = tr_operand(t, 1);
    Width width = {4, 1, false};
    AtomType type = {4, 0, 1};
    if (is_reduction && !atom_type(t, &type)) return tr_refuse(t, "this type");
    if (is_reduction) width.size = type.size;
    else width = width_of(tr_mod(t, SASS_MOD_MEM_TYPE));
    if (!is_reduction && width.size < 4) return tr_refuse(t, "this width");
    const Base base = base_of(t, address, false);
    const IsaOperand barrier = base_register(t, address->reg, 1);
    IsaOperand row[4];
    const bool is_joined = is_reduction && width.size == 8;
    for (uint32_t i = 0; i < width.vector; ++i)
        row[i] = is_joined ? tr_joined(t, data) : tr_register(t, data, i);
    IsaInst *step = tr_step(t, ISA_DO_ASYNC_STORE);
    for (uint32_t i = 0; i < width.vector; ++i)
        step->operand[i] = row[i];
    put_access(step, PTX_SPACE_SHARED, width, base, 4);
    step->operand[5] = barrier;
    step->target = 0; /* offset of the mbarrier */
    step->sub = 0;
    if (is_reduction) {
        step->sub = (uint8_t)subs[tr_mod(t, SASS_MOD_ATOM_OP)];
        step->flags |= type.flags;
    }
    t->inst.flow = ISA_FLOW_STORE;
    t->info.flags |= ISA_IS_BULK;
    return true;
}

/* ---- Fences and caches ---- */

bool tr_op_membar(Translator *t) {
    const bool is_cta = tr_mod(t, SASS_MOD_FENCE_SCOPE) == SASS_FENCE_SCOPE_CTA;
    tr_step(t, ISA_DO_FENCE)->sub = is_cta ? ISA_FENCE_CTA : ISA_FENCE_DEVICE;
    t->info.flags |= ISA_IS_FENCE | (is_cta ? ISA_IS_CTA_FENCE : 0);
    return true;
}

/* .VIEW.ASYNC: a fence between the two proxies. */
bool tr_op_fence(Translator *t) {
    tr_step(t, ISA_DO_FENCE)->sub = ISA_FENCE_PROXY;
    return true;
}

/* p, address */
bool tr_op_qspc(Translator *t) {
    static const PtxSpace spaces[] = {PTX_SPACE_GLOBAL, PTX_SPACE_LOCAL, PTX_SPACE_SHARED,
                                      PTX_SPACE_CLUSTER};
    const uint8_t which = tr_mod(t, SASS_MOD_SPACE) & 3;
    const IsaOperand address = joined_address(t, tr_operand(t, 2), tr_mod(t, SASS_MOD_E));
    if (tr_operand(t, 1)->value != SASS_RZ) return tr_refuse(t, "a register as result");
    IsaInst *step = tr_step(t, ISA_DO_ISSPACEP);
    step->operand[0] = tr_word_to(t, tr_operand(t, 0));
    step->operand[1] = address;
    step->sub = (uint8_t)spaces[which];
    return true;
}
