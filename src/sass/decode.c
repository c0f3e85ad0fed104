/* Decodes 128 bits to a SassInst. The meaning of each bit is in the tables of forms; this file
 * reads the kinds of fields.
 *
 * Sources: CuAssembler's labelled encodings (sm_70 to sm_86), Mesa's NAK compiler, ptxas. */
#include "sass/sass.h"

#include <stdint.h>
#include <string.h>

#include "sass/form.h"

/* Positions that are the same in all forms. */
enum {
    OPCODE_BITS = 12,
    AT_GUARD = 12,
    AT_STALL = 105,
    AT_YIELD = 109,
    AT_WRITE_COUNTER = 110,
    AT_READ_COUNTER = 113,
    AT_WAIT_MASK = 116,
    AT_REUSE = 122,
    AT_MIXED_SIGN = 86, /* halves: the second source is its lower and its negated upper half */
    AT_UNIFORM = 91,    /* the instruction uses a uniform register */
    AT_FILLER = 101     /* some assemblers set it with descriptors */
};

/* The kinds of slots that bits 9 to 11 choose. */
typedef enum Slot { SLOT_REG, SLOT_IMM, SLOT_CONST, SLOT_UREG } Slot;
static const uint8_t slot_of[8] = {[2] = SLOT_IMM,   [3] = SLOT_CONST, [4] = SLOT_IMM,
                                   [5] = SLOT_CONST, [6] = SLOT_UREG,  [7] = SLOT_UREG};

typedef struct Decoder {
    SassInst *inst;
    uint64_t known[2]; /* bits that have been read */
    unsigned encoding; /* bits 9 to 11 */
} Decoder;

static uint64_t low_mask(unsigned width) {
    return width >= 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
}

static uint64_t field_of(const uint64_t words[2], unsigned at, unsigned width) {
    uint64_t value = at < 64 ? words[0] >> at : words[1] >> (at - 64);
    if (at < 64 && at + width > 64) value |= words[1] << (64 - at);
    return value & low_mask(width);
}

static void mark(uint64_t words[2], unsigned at, unsigned width) {
    for (unsigned i = at; i < at + width; i++)
        words[i / 64] |= UINT64_C(1) << i % 64;
}

static uint64_t take(Decoder *d, unsigned at, unsigned width) {
    mark(d->known, at, width);
    return field_of(d->inst->bits, at, width);
}

static uint64_t take_field(Decoder *d, const SassField *f) {
    uint64_t value = take(d, f->bit, f->width);
    if (f->high_width) value |= take(d, f->high_bit, f->high_width) << f->width;
    return value;
}

static int64_t sign_extended(uint64_t value, unsigned width) {
    uint64_t sign = UINT64_C(1) << (width - 1);
    return (int64_t)((value ^ sign) - sign);
}

/* Marks bits that were read, but whose value has no known meaning. */
static void not_known(Decoder *d, const SassField *f) {
    mark(d->inst->unknown, f->bit, f->width);
    if (f->high_width) mark(d->inst->unknown, f->high_bit, f->high_width);
}

/* Order and scope of an access: one code from sm_80 on, two fields before. */
static void read_order(Decoder *d, const SassField *f) {
    enum { KNOWN = 0x80 }; /* set in the entries of known codes */
#define ORDER(order, scope) (KNOWN | SASS_ORDER_##order << 4 | SASS_SCOPE_##scope)
    static const uint8_t codes[16] = {
        [0] = ORDER(WEAK, NONE),  [4] = ORDER(CONSTANT, NONE), [5] = ORDER(STRONG, SM),
        [7] = ORDER(STRONG, GPU), [10] = ORDER(STRONG, SYS),   [12] = ORDER(MMIO, SYS),
    };
    static const uint8_t old_codes[16] = {
        ORDER(CONSTANT, CTA), ORDER(CONSTANT, SM), ORDER(CONSTANT, GPU), ORDER(CONSTANT, SYS),
        ORDER(WEAK, NONE),    ORDER(WEAK, SM),     ORDER(WEAK, GPU),     ORDER(WEAK, SYS),
        ORDER(STRONG, CTA),   ORDER(STRONG, SM),   ORDER(STRONG, GPU),   ORDER(STRONG, SYS),
        ORDER(MMIO, CTA),     ORDER(MMIO, SM),     ORDER(MMIO, GPU),     ORDER(MMIO, SYS),
    };
#undef ORDER
    uint64_t code = take_field(d, f);
    uint8_t entry = d->inst->sm < 80 ? old_codes[code] : codes[code];
    if (!entry) not_known(d, f);
    d->inst->modifier[SASS_MOD_ORDER] = entry >> 4 & 7;
    d->inst->modifier[SASS_MOD_SCOPE] = entry & 15;
}

static void read_modifier(Decoder *d, const SassField *f) {
    switch (f->kind) {
    case SASS_FIELD_MODIFIER:
    case SASS_FIELD_CHOICE: {
        uint64_t value = take_field(d, f);
        d->inst->modifier[f->modifier] = (uint8_t)value;
        if (!sass_value_text(f->modifier, (unsigned)value)) not_known(d, f);
        break;
    }
    case SASS_FIELD_SET: d->inst->modifier[f->modifier] = f->value; break;
    case SASS_FIELD_ORDER: read_order(d, f); break;
    case SASS_FIELD_FILLER: mark(d->known, f->bit, f->width); break;
    default: break;
    }
}

/* Registers. */

static bool has(const SassField *f, unsigned flag) { return f->flags & flag; }

/* Uniform registers have 6 bits before sm_100, where the last one reads 0. */
static uint8_t register_at(Decoder *d, unsigned at, bool is_uniform) {
    enum { OLD_WIDTH = 6, OLD_URZ = 63, WIDTH = 8, FIRST_WIDE_SM = 100 };
    bool is_old = is_uniform && d->inst->sm < FIRST_WIDE_SM;
    uint64_t number = take(d, at, is_old ? OLD_WIDTH : WIDTH);
    return (uint8_t)(is_old && number == OLD_URZ ? SASS_URZ : number);
}

/* The bits that negate a source and take its absolute value, by its slot. */
static void read_sign(Decoder *d, const SassField *f, unsigned at, SassOperand *o) {
    static const uint8_t neg_at[3] = {72, 63, 75}, abs_at[3] = {73, 62, 74};
    unsigned slot = at == SASS_AT_A ? 0 : at == SASS_AT_B ? 1 : 2;
    bool is_half_c = slot == 2 && has(f, SASS_HALF);
    if (has(f, SASS_NEG | SASS_INV | SASS_NEG_X) && !(slot == 2 && has(f, SASS_NEG_AT_B))) {
        bool is_set = take(d, is_half_c ? 84 : neg_at[slot], 1);
        bool inverts = has(f, SASS_INV) || (has(f, SASS_NEG_X) && d->inst->modifier[SASS_MOD_X]);
        if (inverts) o->is_inverted = is_set;
        else o->is_negated = is_set;
    }
    if (has(f, SASS_ABS)) o->is_absolute = take(d, is_half_c ? 83 : abs_at[slot], 1);
}

static bool converts_bytes(const SassInst *inst) {
    unsigned from = inst->modifier[SASS_MOD_INT_FROM];
    return inst->op == SASS_OP_I2F && (from == SASS_INT_FROM_U8 || from == SASS_INT_FROM_S8);
}

static uint8_t suffix_of(Decoder *d, const SassField *f, unsigned at) {
    static const uint8_t halves[4] = {0, SASS_SUFFIX_HALF_F32, SASS_SUFFIX_H0_H0,
                                      SASS_SUFFIX_H1_H1};
    static const uint8_t bytes[4] = {0, SASS_SUFFIX_B1, SASS_SUFFIX_B2, SASS_SUFFIX_B3};
    static const uint8_t pairs[8] = {
        SASS_SUFFIX_HI_LO,    SASS_SUFFIX_LO_HI,    SASS_SUFFIX_HALF_F32, SASS_SUFFIX_INVALID,
        SASS_SUFFIX_HI_LO_NP, SASS_SUFFIX_LO_HI_NP, SASS_SUFFIX_INVALID,  SASS_SUFFIX_INVALID};
    switch (f->suffixes) {
    case SASS_SUFFIXES_HALF: {
        const uint32_t of_c = f->suffix_bit ? f->suffix_bit : 81;
        uint64_t half = take(d, at == SASS_AT_A ? 74U : at == SASS_AT_B ? 60U : of_c, 2);
        bool is_mixed = at == SASS_AT_B && has(f, SASS_MIXED) && take(d, AT_MIXED_SIGN, 1);
        return is_mixed && !half ? SASS_SUFFIX_H0_NH1 : halves[half];
    }
    case SASS_SUFFIXES_UPPER: return take(d, f->suffix_bit, 1) ? SASS_SUFFIX_H1 : 0;
    case SASS_SUFFIXES_BYTE: return bytes[take(d, f->suffix_bit, 2)];
    case SASS_SUFFIXES_PART: {
        uint64_t part = take(d, f->suffix_bit, 2);
        return converts_bytes(d->inst) ? bytes[part] : part ? SASS_SUFFIX_H1 : 0;
    }
    case SASS_SUFFIXES_ORDER: return take(d, f->suffix_bit, 1) ? SASS_SUFFIX_COL : SASS_SUFFIX_ROW;
    case SASS_SUFFIXES_PAIR: return pairs[take(d, f->suffix_bit, has(f, SASS_MIXED) ? 3 : 2)];
    default: return 0;
    }
}

static void read_register(Decoder *d, const SassField *f, unsigned at, bool is_uniform,
                          SassOperand *o) {
    o->kind = is_uniform ? SASS_UREG : SASS_REG;
    o->value = register_at(d, at, is_uniform);
    if (is_uniform) mark(d->known, AT_UNIFORM, 1);
    if (has(f, SASS_DST)) return;
    read_sign(d, f, at, o);
    o->suffix = suffix_of(d, f, at);
    if (!f->reuse || is_uniform) return;
    o->is_reused = take(d, f->reuse, 1);
    o->place = (uint8_t)(f->reuse - AT_REUSE + 1);
}

/* The operand at bit 32. */

/* Whether a conversion whose form is that of 64 bits has a source of 64 bits. */
static bool has_double(const SassInst *inst) {
    switch (inst->op) {
    case SASS_OP_F2F: return inst->modifier[SASS_MOD_FLOAT_FROM] == SASS_FLOAT_FROM_F64;
    case SASS_OP_F2I:
    case SASS_OP_FRND: return inst->modifier[SASS_MOD_FLOAT_FROM32] == SASS_FLOAT_FROM32_F64;
    default: return true;
    }
}

static void read_immediate_at_b(Decoder *d, const SassField *f, SassOperand *o) {
    const uint8_t *modifier = d->inst->modifier;
    uint64_t value = take(d, SASS_AT_B, 32);
    o->kind = f->immediate ? f->immediate : SASS_IMM;
    o->value = (int64_t)value;
    if (o->kind == SASS_F16X2 && modifier[SASS_MOD_BF16]) o->kind = SASS_BF16X2;
    if (d->inst->op == SASS_OP_MUFU && (modifier[SASS_MOD_FUNCTION] == SASS_FUNCTION_RCP64H ||
                                        modifier[SASS_MOD_FUNCTION] == SASS_FUNCTION_RSQ64H))
        o->kind = SASS_F64;
    if (o->kind == SASS_F64 && !has_double(d->inst)) o->kind = SASS_F32;
    if (o->kind == SASS_F64) o->value = (int64_t)(value << 32);
    if (o->kind == SASS_IMM && has(f, SASS_SIGNED)) o->value = sign_extended(value, 32);
    /* a number is both floats of a pair */
    if (f->suffixes != SASS_SUFFIXES_PAIR) return;
    const uint8_t suffix = suffix_of(d, f, SASS_AT_B);
    o->suffix = suffix == SASS_SUFFIX_HALF_F32 ? 0 : suffix;
}

static void read_constant_at_b(Decoder *d, const SassField *f, SassOperand *o) {
    o->reg = SASS_RZ;
    o->ureg = SASS_URZ;
    if (take(d, AT_UNIFORM, 1)) {
        o->kind = SASS_UCONST;
        o->ureg = register_at(d, SASS_AT_B, true);
    } else {
        o->kind = SASS_CONST;
        o->bank = (uint8_t)take(d, 54, 5);
    }
    o->value = (int64_t)take(d, 38, 16);
    read_sign(d, f, SASS_AT_B, o);
    o->suffix = suffix_of(d, f, SASS_AT_B);
}

static void read_at_b(Decoder *d, const SassField *f, SassOperand *o) {
    switch (slot_of[d->encoding]) {
    case SLOT_IMM: read_immediate_at_b(d, f, o); break;
    case SLOT_CONST: read_constant_at_b(d, f, o); break;
    case SLOT_UREG: read_register(d, f, SASS_AT_B, true, o); break;
    default: read_register(d, f, SASS_AT_B, has(f, SASS_UNIFORM), o); break;
    }
}

/* The second or third of three sources. Encodings 2, 3 and 7 have the third source at bit 32. */
static void read_source(Decoder *d, const SassField *f, SassOperand *o) {
    bool is_swapped = d->encoding == 2 || d->encoding == 3 || d->encoding == 7;
    if ((f->kind == SASS_FIELD_THIRD) == is_swapped) read_at_b(d, f, o);
    else read_register(d, f, SASS_AT_C, has(f, SASS_UNIFORM), o);
}

/* Predicates, immediates and the like. */

static void read_predicate(Decoder *d, const SassField *f, SassOperand *o) {
    o->kind = f->kind == SASS_FIELD_PRED ? SASS_PRED : SASS_UPRED;
    o->value = (int64_t)take_field(d, f);
    if (f->suffix_bit && take(d, f->suffix_bit, 1)) o->kind = SASS_UPRED;
    if (has(f, SASS_FLIPPED)) o->value = SASS_PT - o->value;
    if (f->neg) o->is_negated = take(d, f->neg, 1);
}

static void read_number(Decoder *d, const SassField *f, uint8_t kind, SassOperand *o) {
    unsigned width = f->width + f->high_width;
    uint64_t value = take_field(d, f);
    o->kind = kind;
    o->value = has(f, SASS_SIGNED) ? sign_extended(value, width) : (int64_t)value;
    o->value = (int64_t)((uint64_t)o->value << f->shift);
}

static void read_warp_state(Decoder *d, const SassField *f, SassOperand *o) {
    read_number(d, f, SASS_WARP_STATE, o);
    if (o->value < 16) o->kind = SASS_BARRIER;
}

static void read_far_target(Decoder *d, SassOperand *o) {
    enum { AT = 34, WIDTH = 48, AT_LOW = 16, LOW_WIDTH = 8, UNIT = 4 };
    o->kind = SASS_TARGET;
    o->value = sign_extended(take(d, AT, WIDTH), WIDTH) * UNIT;
    if (d->inst->sm >= 90)
        o->value = o->value * (1 << LOW_WIDTH) + (int64_t)take(d, AT_LOW, LOW_WIDTH) * UNIT;
}

/* LDC, ULDC; LDCU, whose offsets have one bit more. */
static void read_loaded_constant(Decoder *d, const SassField *f, SassOperand *o) {
    unsigned at = d->inst->op == SASS_OP_LDCU ? 37 : 38;
    o->kind = SASS_CONST;
    o->reg = SASS_RZ;
    o->ureg = SASS_URZ;
    if (has(f, SASS_UNIFORM)) {
        o->ureg = register_at(d, SASS_AT_A, true);
        o->has_ureg = o->ureg != SASS_URZ || d->inst->op != SASS_OP_LDCU;
        mark(d->known, AT_UNIFORM, 1);
    } else {
        o->reg = register_at(d, SASS_AT_A, false);
        if (d->inst->form->unit == SASS_UNIT_UNIFORM) o->reg = SASS_RZ;
    }
    o->bank = (uint8_t)take(d, 54, 5);
    o->value = sign_extended(take(d, at, 54 - at), 54 - at);
}

/* A texture handle is two operands: bank and offset of a constant, or a uniform register and 0;
 * from sm_100 on a uniform register and one with an offset, or 0. */
static void read_texture(Decoder *d, SassOperand *o) {
    o[0].kind = o[1].kind = SASS_IMM;
    if (d->inst->sm >= 100) {
        read_register(d, &(const SassField){0}, 40, true, &o[0]);
        if (d->inst->op != SASS_OP_TXQ && d->inst->op != SASS_OP_TMML)
            read_register(d, &(const SassField){0}, 48, true, &o[1]);
    } else if (d->encoding == 7) {
        read_register(d, &(const SassField){0}, 40, true, &o[0]);
        o[1].value = (int64_t)take(d, 46, 13);
    } else {
        o[0].value = (int64_t)take(d, 54, 5);
        o[1].value = (int64_t)take(d, 40, 14);
    }
}

/* Addresses. */

static void no_registers(SassOperand *o) {
    o->kind = SASS_ADDRESS;
    o->reg = SASS_RZ;
    o->ureg = SASS_URZ;
    o->descriptor = SASS_NO_DESCRIPTOR;
}

/* Whether URZ is not printed in an address of this operation. */
static bool leaves_out_zero(uint16_t op) {
    return op == SASS_OP_LDGSTS || op == SASS_OP_STAS || op == SASS_OP_REDAS;
}

/* The uniform register of an address, which may be its descriptor. */
static void read_uniform_base(Decoder *d, unsigned at, unsigned wide_at, unsigned descriptor_at,
                              SassOperand *o) {
    if (!at) return;
    if (!take(d, AT_UNIFORM, 1)) {
        if (at == SASS_AT_C && field_of(d->inst->bits, at, 8) == SASS_RZ) mark(d->known, at, 8);
        return;
    }
    uint8_t ureg = register_at(d, at, true);
    if (wide_at) {
        bool is_wide = take(d, wide_at, 1);
        if (o->reg != SASS_RZ) o->suffix = is_wide ? SASS_SUFFIX_R64 : SASS_SUFFIX_R32;
    }
    if (descriptor_at && take(d, descriptor_at, 1)) {
        o->descriptor = ureg;
        mark(d->known, AT_FILLER, 1);
    } else {
        o->ureg = ureg;
        o->has_ureg = ureg != SASS_URZ || !leaves_out_zero(d->inst->op);
    }
}

static void read_address(Decoder *d, const SassField *f, SassOperand *o) {
    static const uint8_t scales[4] = {0, SASS_SUFFIX_X4, SASS_SUFFIX_X8, SASS_SUFFIX_X16};
    no_registers(o);
    if (has(f, SASS_UNIFORM)) {
        o->ureg = register_at(d, SASS_AT_A, true);
        o->has_ureg = true;
        mark(d->known, AT_UNIFORM, 1);
    } else {
        o->reg = register_at(d, SASS_AT_A, false);
    }
    if (f->suffix_bit) o->suffix = scales[take(d, f->suffix_bit, 2)];
    bool is_long = has(f, SASS_LONG) && !field_of(d->inst->bits, AT_UNIFORM, 1);
    unsigned bit = is_long ? 32 : f->bit, width = is_long ? 32 : f->width;
    if (width) o->value = sign_extended(take(d, bit, width), width) * (1 << f->shift);
    read_uniform_base(d, f->value, f->neg, f->descriptor_bit, o);
}

/* LDGSTS: offsets of 20 bits in shared memory and of 12 bits in global memory. In encoding 6 a
 * uniform register is added to the first, and the next uniform register is the descriptor of the
 * second. */
static void read_copy_address(Decoder *d, const SassField *f, SassOperand *o) {
    no_registers(o);
    mark(d->known, AT_UNIFORM, 1);
    if (f->kind == SASS_FIELD_COPY_TO) {
        o->is_destination = true;
        o->reg = register_at(d, SASS_AT_DST, false);
        o->value = sign_extended(take(d, 44, 20), 20);
        if (d->encoding == 6) {
            o->ureg = register_at(d, SASS_AT_C, true);
            o->has_ureg = true;
        }
    } else {
        o->reg = register_at(d, SASS_AT_A, false);
        o->value = sign_extended(take(d, 32, 12), 12);
        read_uniform_base(d, SASS_AT_C, d->inst->sm < 100 ? 70 : 83, 76, o);
        if (d->encoding == 7) return;
        if (o->descriptor != SASS_NO_DESCRIPTOR) o->descriptor++;
        o->suffix = SASS_SUFFIX_R64;
        o->ureg = SASS_URZ;
        o->has_ureg = false;
    }
}

/* Returns the number of operands of the field. */
static unsigned read_operand(Decoder *d, const SassField *f, SassOperand *o) {
    o->is_destination = has(f, SASS_DST);
    switch (f->kind) {
    case SASS_FIELD_CHOICE:
        o->kind = SASS_CHOICE;
        o->value = f->modifier;
        break;
    case SASS_FIELD_REG: read_register(d, f, f->bit, false, o); break;
    case SASS_FIELD_UREG:
        read_register(d, f, f->bit, true, o);
        o->is_bracketed = has(f, SASS_BRACKETED);
        break;
    case SASS_FIELD_PRED:
    case SASS_FIELD_UPRED: read_predicate(d, f, o); break;
    case SASS_FIELD_PREDS: o->kind = SASS_PREDS; break;
    case SASS_FIELD_UPREDS: o->kind = SASS_UPREDS; break;
    case SASS_FIELD_B: read_at_b(d, f, o); break;
    case SASS_FIELD_SECOND:
    case SASS_FIELD_THIRD: read_source(d, f, o); break;
    case SASS_FIELD_IMM: read_number(d, f, SASS_IMM, o); break;
    case SASS_FIELD_CONST: read_loaded_constant(d, f, o); break;
    case SASS_FIELD_TEXTURE: read_texture(d, o); return 2;
    case SASS_FIELD_ADDRESS: read_address(d, f, o); break;
    case SASS_FIELD_COPY_TO:
    case SASS_FIELD_COPY_FROM: read_copy_address(d, f, o); break;
    case SASS_FIELD_BRANCH_UREG:
        read_register(d, f, SASS_AT_A, true, o);
        o->is_inverted = take(d, 30, 1);
        break;
    case SASS_FIELD_SREG: read_number(d, f, SASS_SREG, o); break;
    case SASS_FIELD_BARRIER: read_number(d, f, SASS_BARRIER, o); break;
    case SASS_FIELD_WARP_STATE: read_warp_state(d, f, o); break;
    case SASS_FIELD_COUNTER: read_number(d, f, SASS_COUNTER, o); break;
    case SASS_FIELD_COUNTERS: read_number(d, f, SASS_COUNTERS, o); break;
    case SASS_FIELD_GSB: read_number(d, f, SASS_GSB, o); break;
    case SASS_FIELD_GDESC:
        read_register(d, f, f->bit, true, o);
        o->kind = SASS_GDESC;
        break;
    case SASS_FIELD_TARGET: read_number(d, f, SASS_TARGET, o); break;
    case SASS_FIELD_FAR_TARGET: read_far_target(d, o); break;
    default: return 0;
    }
    return 1;
}

static bool is_usual(const SassField *f, const SassOperand *o) {
    if (o->kind == SASS_PRED || o->kind == SASS_UPRED) return o->value == SASS_PT && !o->is_negated;
    if (o->kind == SASS_ADDRESS) return o->reg == SASS_RZ && o->value == 0;
    return o->value == f->value;
}

static bool is_hidden(const SassInst *inst, const SassField *f, const SassOperand *o) {
    if (f->shown_by && !inst->modifier[f->shown_by]) return true;
    if (f->hidden_by && inst->modifier[f->hidden_by]) return true;
    if (f->kind == SASS_FIELD_BRANCH_UREG) return !field_of(inst->bits, AT_UNIFORM, 1);
    return has(f, SASS_OPTIONAL) && is_usual(f, o);
}

static void read_operands(Decoder *d, const SassField *fields) {
    SassInst *inst = d->inst;
    for (const SassField *f = fields; f->kind; f++) {
        if (inst->operand_count + 2 > SASS_MAX_OPERANDS) return;
        SassOperand *o = &inst->operand[inst->operand_count];
        unsigned count = read_operand(d, f, o);
        if (count) o->is_hidden = is_hidden(inst, f, o);
        inst->operand_count = (uint8_t)(inst->operand_count + count);
    }
}

/* Destination predicates that are PT are left out only at the end of a row of them. */
static void show_inner_predicates(SassInst *inst) {
    for (unsigned i = 1; i < inst->operand_count; i++) {
        SassOperand *o = &inst->operand[i];
        bool follows = o->is_destination && !o->is_hidden && o->kind == o[-1].kind;
        if (follows && (o->kind == SASS_PRED || o->kind == SASS_UPRED)) o[-1].is_hidden = false;
    }
}

static SassControl control_of(const uint64_t words[2]) {
    return (SassControl){
        .stall = (uint8_t)field_of(words, AT_STALL, 4),
        .yields = !field_of(words, AT_YIELD, 1),
        .write_counter = (uint8_t)field_of(words, AT_WRITE_COUNTER, 3),
        .read_counter = (uint8_t)field_of(words, AT_READ_COUNTER, 3),
        .wait_mask = (uint8_t)field_of(words, AT_WAIT_MASK, 6),
        .reuse = (uint8_t)field_of(words, AT_REUSE, 4),
    };
}

/* Whether the guard is a uniform predicate. This holds for the operations of the uniform datapath,
 * and for SYNCS.EXCH (0x1b2) and the bulk copies after it, as shown by the VOTEU that ptxas puts
 * before them. */
static bool has_uniform_guard(const SassForm *form) {
    if (form->op == SASS_OP_VOTEU || form->op == SASS_OP_R2UR || form->op == SASS_OP_CREDUX)
        return false;
    if (form->opcode < 0x100 || form->op == SASS_OP_LDCU) return form->unit == SASS_UNIT_UNIFORM;
    return form->opcode >= 0x1b2 && form->opcode <= 0x1bc;
}

bool sass_decode(unsigned sm, const uint64_t words[2], SassInst *inst) {
    memset(inst, 0, sizeof *inst);
    memcpy(inst->bits, words, sizeof inst->bits);
    inst->sm = (uint8_t)sm;
    inst->control = control_of(words);
    inst->guard = (uint8_t)field_of(words, AT_GUARD, 3);
    inst->guard_is_negated = field_of(words, AT_GUARD + 3, 1);
    inst->form = sass_form_find(sm, words);
    if (!inst->form) return false;
    inst->op = inst->form->op;
    inst->guard_is_uniform = has_uniform_guard(inst->form);

    Decoder d = {.inst = inst, .encoding = (unsigned)field_of(words, 9, 3)};
    mark(d.known, 0, OPCODE_BITS + 4);
    mark(d.known, AT_STALL, 21);
    if (inst->form->unit == SASS_UNIT_UNIFORM) mark(d.known, AT_UNIFORM, 1);
    for (const SassField *f = inst->form->fields; f->kind; f++)
        read_modifier(&d, f);
    read_operands(&d, inst->form->fields);
    show_inner_predicates(inst);
    for (int i = 0; i < 2; i++)
        inst->unknown[i] |= words[i] & ~d.known[i];
    return true;
}
