/* Prints a decoded instruction in the notation of NVIDIA's disassembler. */
#include "sass/sass.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sass/form.h"

/* Text that may be cut: `length` counts on past `size`. */
typedef struct Out {
    char *text;
    size_t size, length;
} Out;

__attribute__((format(printf, 2, 3))) static void put(Out *out, const char *format, ...) {
    size_t at = out->length < out->size ? out->length : out->size;
    va_list list;
    va_start(list, format);
    int written = vsnprintf(out->size ? out->text + at : NULL, out->size - at, format, list);
    va_end(list);
    if (written > 0) out->length += (size_t)written;
}

const char *sass_sreg_name(unsigned number) {
    static const char *const names[256] = {
#define SASS_SREG(at, name) [at] = #name,
#include "sass/sregs.def"
#undef SASS_SREG
    };
    return number < 256 ? names[number] : NULL;
}

const char *sass_modifier_text(const SassInst *inst, SassModifier modifier) {
    const char *text = sass_value_text(modifier, inst->modifier[modifier]);
    return text ? text : "";
}

static const char *suffix_text(unsigned suffix) {
    static const char *const texts[SASS_SUFFIXES] = {
        "",
#define SASS_SUFFIX(name, text) text,
#include "sass/suffixes.def"
#undef SASS_SUFFIX
    };
    return suffix < SASS_SUFFIXES ? texts[suffix] : "";
}

/* Warp states that BMOV moves; 0 to 15 are barriers. */
static const char *warp_state_name(int64_t number) {
    static const char *const names[32] = {
        [16] = "THREAD_STATE_ENUM.0",
        "THREAD_STATE_ENUM.1",
        "THREAD_STATE_ENUM.2",
        "THREAD_STATE_ENUM.3",
        "THREAD_STATE_ENUM.4",
        "TRAP_RETURN_PC.LO",
        "TRAP_RETURN_PC.HI",
        "TRAP_RETURN_MASK",
        "MEXITED",
        "MKILL",
        "MACTIVE",
        "MATEXIT",
        "OPT_STACK",
        "API_CALL_DEPTH",
        "ATEXIT_PC.LO",
        "ATEXIT_PC.HI",
    };
    return number >= 16 && number < 32 ? names[number] : "?";
}

/* Numbers. */

static void put_register(Out *out, const char *letters, int64_t number, int64_t zero) {
    if (number == zero) put(out, "%sZ", letters);
    else put(out, "%s%d", letters, (int)number);
}

static void put_predicate(Out *out, const char *letters, int64_t number) {
    if (number == SASS_PT) put(out, "%sT", letters);
    else put(out, "%s%d", letters, (int)number);
}

static void put_hex(Out *out, int64_t value) {
    if (value < 0) put(out, "-0x%" PRIx64, -(uint64_t)value);
    else put(out, "0x%" PRIx64, (uint64_t)value);
}

static void put_double(Out *out, double value) {
    if (isnan(value)) put(out, "%cQNAN", signbit(value) ? '-' : '+');
    else if (isinf(value)) put(out, "%cINF", signbit(value) ? '-' : '+');
    else put(out, fabs(value) < INT32_MAX ? "%.20g" : "%.20e", value);
}

static double double_of(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static double half_of(uint32_t bits) {
    uint32_t exponent = bits >> 10 & 31, fraction = bits & 1023;
    double sign = bits >> 15 & 1 ? -1 : 1;
    if (exponent == 31) return fraction ? copysign((double)NAN, sign) : sign * (double)INFINITY;
    if (!exponent) return sign * ldexp(fraction, -24);
    return sign * ldexp(fraction + 1024, (int)exponent - 25);
}

static void put_pair(Out *out, uint32_t bits, bool is_bf16) {
    for (int half = 1; half >= 0; half--) {
        uint32_t one = bits >> 16 * half & 0xffff;
        put_double(out, is_bf16 ? float_of(one << 16) : half_of(one));
        if (half) put(out, ", ");
    }
}

/* Operands. */

static void put_sum(Out *out, const SassOperand *o, bool is_of_register) {
    size_t start = out->length;
    if (o->reg != SASS_RZ || (is_of_register && !o->has_ureg && !o->value)) {
        put_register(out, "R", o->reg, SASS_RZ);
        if (o->kind == SASS_ADDRESS) put(out, "%s", suffix_text(o->suffix));
    }
    if (o->has_ureg) {
        put(out, "%s", out->length > start ? "+" : "");
        put_register(out, "UR", o->ureg, SASS_URZ);
    }
    if (o->value || out->length == start) {
        put(out, "%s", out->length > start ? "+" : "");
        put_hex(out, o->value);
    }
}

static void put_uniform(Out *out, const SassOperand *o) {
    put(out, "%s", o->is_bracketed ? "[" : "");
    put_register(out, "UR", o->value, SASS_URZ);
    put(out, "%s", o->is_bracketed ? "]" : "");
}

static void put_address(Out *out, const SassOperand *o) {
    if (o->descriptor != SASS_NO_DESCRIPTOR) {
        put(out, "desc[");
        put_register(out, "UR", o->descriptor, SASS_URZ);
        put(out, "]");
    }
    put(out, "[");
    put_sum(out, o, true);
    put(out, "]");
}

static void put_constant(Out *out, const SassInst *inst, const SassOperand *o) {
    if (o->kind == SASS_UCONST) {
        put(out, "cx[");
        put_register(out, "UR", o->ureg, SASS_URZ);
    } else {
        put(out, "c[0x%x", o->bank);
    }
    put(out, "][");
    put_sum(out, o, inst->op == SASS_OP_LDC);
    put(out, "]");
}

static void put_counters(Out *out, int64_t set) {
    const char *separator = "{";
    for (int i = 5; i >= 0; i--) {
        if (!(set >> i & 1)) continue;
        put(out, "%s%d", separator, i);
        separator = ",";
    }
    put(out, "%s", *separator == ',' ? "}" : "{}");
}

/* BRX and BRXU print the offset itself; others print the target. */
static void put_target(Out *out, const SassInst *inst, int64_t offset, uint64_t pc) {
    bool is_offset = inst->op == SASS_OP_BRX || inst->op == SASS_OP_BRXU;
    bool is_absolute = inst->modifier[SASS_MOD_ABS] == SASS_ABS_ABS;
    put_hex(out,
            is_offset || is_absolute ? offset : (int64_t)(pc + SASS_INST_BYTES + (uint64_t)offset));
}

/* FSWZADD's immediate gives the signs of the two sources for each lane of a quad. Moves of 64 bits
 * print all bits. */
static void put_immediate(Out *out, const SassInst *inst, int64_t value) {
    static const char *const signs[4] = {"PP", "NP", "PN", "ZP"};
    bool is_move = inst->op == SASS_OP_MOV || inst->op == SASS_OP_UMOV;
    if (is_move && inst->modifier[SASS_MOD_WIDE64]) put(out, "0x%" PRIx64, (uint64_t)value);
    else if (inst->op != SASS_OP_FSWZADD) put_hex(out, value);
    else
        for (int at = 6; at >= 0; at -= 2)
            put(out, "%s", signs[value >> at & 3]);
}

/* Matrix descriptors, and how the matrices are read. */
static void put_descriptors(Out *out, const SassInst *inst, const SassOperand *o) {
    static const struct {
        uint8_t modifier;
        const char *text;
    } rows[] = {{SASS_MOD_NEG_A, ".negA"},
                {SASS_MOD_NEG_B, ".negB"},
                {SASS_MOD_TNSP_A, ".tnspA"},
                {SASS_MOD_TNSP_B, ".tnspB"}};
    put(out, "gdesc[");
    put_register(out, "UR", o->value, SASS_URZ);
    put(out, "]");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (inst->modifier[rows[i].modifier]) put(out, "%s", rows[i].text);
}

static void put_value(Out *out, const SassInst *inst, const SassOperand *o, uint64_t pc) {
    const char *name;
    switch (o->kind) {
    case SASS_REG: put_register(out, "R", o->value, SASS_RZ); break;
    case SASS_UREG: put_uniform(out, o); break;
    case SASS_PRED: put_predicate(out, "P", o->value); break;
    case SASS_UPRED: put_predicate(out, "UP", o->value); break;
    case SASS_PREDS: put(out, "PR"); break;
    case SASS_UPREDS: put(out, "UPR"); break;
    case SASS_IMM: put_immediate(out, inst, o->value); break;
    case SASS_F32: put_double(out, float_of((uint32_t)o->value)); break;
    case SASS_F64: put_double(out, double_of((uint64_t)o->value)); break;
    case SASS_F16X2: put_pair(out, (uint32_t)o->value, false); break;
    case SASS_BF16X2: put_pair(out, (uint32_t)o->value, true); break;
    case SASS_CONST:
    case SASS_UCONST: put_constant(out, inst, o); break;
    case SASS_ADDRESS: put_address(out, o); break;
    case SASS_SREG:
        name = sass_sreg_name((unsigned)o->value);
        if (name) put(out, "%s", name);
        else put(out, "SR%d", (int)o->value);
        break;
    case SASS_BARRIER: put(out, "B%d", (int)o->value); break;
    case SASS_WARP_STATE: put(out, "%s", warp_state_name(o->value)); break;
    case SASS_COUNTER: put(out, "SB%d", (int)o->value); break;
    case SASS_COUNTERS: put_counters(out, o->value); break;
    case SASS_GDESC: put_descriptors(out, inst, o); break;
    case SASS_GSB: put(out, "gsb%d", (int)o->value); break;
    case SASS_TARGET: put_target(out, inst, o->value, pc); break;
    case SASS_CHOICE: put(out, "%s", sass_modifier_text(inst, (SassModifier)o->value)); break;
    default: put(out, "?"); break;
    }
}

static void put_operand(Out *out, const SassInst *inst, const SassOperand *o, uint64_t pc) {
    bool is_predicate = o->kind == SASS_PRED || o->kind == SASS_UPRED;
    bool has_own_registers = o->kind == SASS_ADDRESS;
    put(out, "%s%s%s", o->is_negated ? is_predicate ? "!" : "-" : "", o->is_inverted ? "~" : "",
        o->is_absolute ? "|" : "");
    put_value(out, inst, o, pc);
    if (has_own_registers) return;
    const char *bar = o->is_absolute ? "|" : "", *suffix = suffix_text(o->suffix);
    if (o->kind == SASS_REG) put(out, "%s%s%s", bar, o->is_reused ? ".reuse" : "", suffix);
    else put(out, "%s%s", suffix, bar);
}

/* IMAD has special names for simple operands. */
static const char *imad_name(const SassInst *inst) {
    if (inst->op != SASS_OP_IMAD || inst->modifier[SASS_MOD_PRODUCT] || inst->modifier[SASS_MOD_X])
        return "";
    const SassOperand *a = &inst->operand[2], *b = &inst->operand[3], *c = &inst->operand[4];
    bool a_is_0 = a->kind == SASS_REG && a->value == SASS_RZ,
         b_is_0 = b->kind == SASS_REG && b->value == SASS_RZ;
    bool c_is_0 = c->kind == SASS_REG && c->value == SASS_RZ;
    if (a_is_0 && b_is_0 && c->kind != SASS_UREG) return ".MOV";
    if (b->kind == SASS_IMM && b->value == 1) return c_is_0 ? ".MOV" : ".IADD";
    if (b->kind == SASS_IMM && !b->value) return ".MOV";
    if (b->kind == SASS_IMM && b->value == 0x10000)
        return ""; /* the only power of two without a name */
    bool is_power = b->kind == SASS_IMM && b->value &&
                    !((uint64_t)b->value & 0xffffffff & ((uint64_t)b->value - 1));
    return is_power && c_is_0 ? ".SHL" : "";
}

static void put_mnemonic(Out *out, const SassInst *inst) {
    put(out, "%s%s", inst->form->name, imad_name(inst));
    for (const SassField *f = inst->form->fields; f->kind; f++) {
        if (f->kind == SASS_FIELD_ORDER) {
            put(out, "%s%s", sass_modifier_text(inst, SASS_MOD_ORDER),
                sass_modifier_text(inst, SASS_MOD_SCOPE));
            continue;
        }
        if (f->kind != SASS_FIELD_MODIFIER && f->kind != SASS_FIELD_SET) continue;
        if (f->shown_by && !inst->modifier[f->shown_by]) continue;
        if (f->hidden_by && inst->modifier[f->hidden_by]) continue;
        const char *text = sass_value_text(f->modifier, inst->modifier[f->modifier]);
        if (text) put(out, "%s", text);
        else put(out, ".INVALID%u", inst->modifier[f->modifier]);
    }
}

static void put_guard(Out *out, const SassInst *inst) {
    if (inst->guard == SASS_PT && !inst->guard_is_negated) return;
    put(out, "@%s", inst->guard_is_negated ? "!" : "");
    put_predicate(out, inst->guard_is_uniform ? "UP" : "P", inst->guard);
    put(out, " ");
}

/* A register and an offset that form one target are printed without a separator. */
static bool is_base_of_target(const SassInst *inst, const SassOperand *o) {
    bool jumps = inst->op == SASS_OP_CALL || inst->op == SASS_OP_RET || inst->op == SASS_OP_BRX ||
                 inst->op == SASS_OP_BRXU || inst->op == SASS_OP_JMX;
    return jumps && (o->kind == SASS_REG || o->kind == SASS_UREG);
}

size_t sass_print(const SassInst *inst, uint64_t pc, char *text, size_t size) {
    Out out = {.text = text, .size = size};
    if (size) *text = 0;
    put_guard(&out, inst);
    if (!inst->form) {
        put(&out, "?%03x", (unsigned)(inst->bits[0] & 0xfff));
        return out.length;
    }
    put_mnemonic(&out, inst);
    const SassOperand *last = NULL;
    for (const SassOperand *o = inst->operand; o < inst->operand + inst->operand_count; o++) {
        if (o->is_hidden) continue;
        bool joins = last && o->kind == SASS_TARGET && is_base_of_target(inst, last);
        put(&out, "%s ", last && !joins ? "," : "");
        put_operand(&out, inst, o, pc);
        last = o;
    }
    return out.length;
}
