/* atom and red: every operation and type in every space. Each thread uses its own cell, then does
 * so under a guard, and then all lanes of a warp use one cell.
 *
 * The ISA does not define the order of the lanes; here it is the order of their numbers
 * (docs/isa.md). */
#include "trial.h"

#include <stdio.h>
#include <string.h>

#include "values.h"

/* The three ways to run the instruction, one after another. */
typedef enum Sharing { SHARING_NONE, SHARING_GUARDED, SHARING_WARP, SHARINGS } Sharing;

enum {
    CASES = 64,  /* trials of TRIAL_THREADS cells */
    INPUTS = 3,  /* slots of a thread's input: the cell, b, c */
    RESULTS = 2, /* slots of its output: the instruction's result, the cell */
    BLOCK = TRIAL_THREADS
};

typedef struct Atomic {
    Trial *trial;
    Form form;
    bool is_shared;  /* the cells are in shared memory */
    bool is_generic; /* the instruction names no space */
    bool has_result; /* true for atom, false for red */
} Atomic;

/* ---- What the instruction does to a cell ---- */

/* .f32 sums flush subnormals in global memory but not in shared memory; other types never flush. */
static uint64_t add_floats(const Atomic *atomic, const Type *type, uint64_t a, uint64_t b) {
    const Format *format = type->format;
    const bool flushes = format == &FORMAT_F32 && !atomic->is_shared;
    if (!flushes) return real_binary(mpfr_add, format, MPFR_RNDN, a, b);
    a = real_flush(format, a);
    b = real_flush(format, b);
    return real_flush(format, real_binary(mpfr_add, format, MPFR_RNDN, a, b));
}

static uint64_t add(const Atomic *atomic, uint64_t old, uint64_t b) {
    const Type *type = atomic->form.types[0];
    if (type->kind != KIND_FLOAT) return old + b;
    uint64_t result = 0, mask = type_mask(type->bits);
    for (int e = 0; e < type->elements; e++) {
        int from = e * type->bits;
        result |= add_floats(atomic, type, old >> from & mask, b >> from & mask) << from;
    }
    return result;
}

static uint64_t updated(const Atomic *atomic, uint64_t old, uint64_t b, uint64_t c) {
    static const char *const operations[] = {"add", "inc", "dec",  "min", "max", "and",
                                             "or",  "xor", "exch", "cas", NULL};
    const Type *type = atomic->form.types[0];
    switch (form_which(&atomic->form, operations)) {
    case 0: return add(atomic, old, b);
    case 1: return old >= b ? 0 : old + 1;
    case 2: return old == 0 || old > b ? b : old - 1;
    case 3: return type_integer(type, b) < type_integer(type, old) ? b : old;
    case 4: return type_integer(type, b) > type_integer(type, old) ? b : old;
    case 5: return old & b;
    case 6: return old | b;
    case 7: return old ^ b;
    case 8: return b;
    default: return old == b ? c : old;
    }
}

/* ---- The kernel ---- */

/* The address of the thread's or the warp's cell, in its own space or generic. */
static void write_cell_address(const Atomic *atomic, Sharing sharing) {
    Text *ptx = &atomic->trial->ptx;
    text_add(ptx, sharing == SHARING_WARP ? "and.b32 t, tid, 0x3e0;\n" : "mov.b32 t, tid;\n");
    if (!atomic->is_shared) {
        text_printf(ptx, "mad.lo.u32 t, t, %d, %d;\ncvt.u64.u32 at, t;\nadd.u64 at, at, all;\n",
                    RESULTS * 8, 8);
        return;
    }
    text_add(ptx, "mul.wide.u32 at, t, 8;\nmov.u64 cell, cells;\nadd.u64 at, at, cell;\n");
    if (atomic->is_generic) text_add(ptx, "cvta.shared.u64 at, at;\n");
}

static void write_instruction(const Atomic *atomic, Sharing sharing, int bits) {
    Text *ptx = &atomic->trial->ptx;
    if (sharing == SHARING_GUARDED) text_add(ptx, "@guard ");
    text_printf(ptx, "%s %s[at], b", atomic->form.text, atomic->has_result ? "d, " : "");
    if (form_has(&atomic->form, "cas")) text_add(ptx, ", c");
    if (form_has(&atomic->form, "L2::cache_hint")) text_add(ptx, ", policy");
    text_printf(ptx, ";\nst.global.b%d [out], d;\n", bits);
}

/* Each case: out[0] is the result, out[1] the cell. The kernel copies cells in shared memory there
 * and back; in global memory, out[1] itself is the cell. */
static void write_case(const Atomic *atomic, Sharing sharing) {
    Text *ptx = &atomic->trial->ptx;
    int bits = type_register_bits(atomic->form.types[0]);
    text_printf(ptx, "ld.global.b%d d, [in];\nst.global.b%d [out+8], d;\n", bits, bits);
    if (atomic->is_shared)
        text_printf(ptx,
                    "mul.wide.u32 at, tid, 8;\nmov.u64 cell, cells;\nadd.u64 cell, cell, at;\n"
                    "st.shared.b%d [cell], d;\n",
                    bits);
    text_printf(ptx, "ld.global.b%d b, [in+8];\nld.global.b%d c, [in+16];\nmov.b%d d, 0x5a;\n",
                bits, bits, bits);
    write_cell_address(atomic, sharing);
    write_instruction(atomic, sharing, bits);
    if (atomic->is_shared) /* computed again: `cell` may be the generic address of a warp's cell */
        text_printf(ptx,
                    "mul.wide.u32 at, tid, 8;\nmov.u64 cell, cells;\nadd.u64 cell, cell, at;\n"
                    "ld.shared.b%d d, [cell];\nst.global.b%d [out+8], d;\n",
                    bits, bits);
}

static void write_kernel(const Atomic *atomic) {
    Trial *trial = atomic->trial;
    Text *ptx = &trial->ptx;
    int bits = type_register_bits(atomic->form.types[0]);
    trial_begin_kernel(trial, "");
    text_printf(ptx,
                ".shared .align 8 .b64 cells[%d];\n.reg .b%d d, b, c;\n"
                ".reg .b64 all, cell, policy, count;\n.reg .pred more;\n"
                "mov.b64 policy, 0;\nmov.b64 all, out;\nmad.wide.u32 in, tid, %d, in;\n"
                "mad.wide.u32 out, tid, %d, out;\nmov.u64 count, %d;\nagain:\n",
                BLOCK, bits, INPUTS * 8, RESULTS * 8, CASES);
    for (int sharing = 0; sharing < SHARINGS; sharing++) {
        write_case(atomic, (Sharing)sharing);
        text_printf(ptx, "add.u64 out, out, %d;\nadd.u64 all, all, %d;\n", BLOCK * RESULTS * 8,
                    BLOCK * RESULTS * 8);
    }
    text_printf(ptx,
                "add.u64 in, in, %d;\nsub.u64 count, count, 1;\nsetp.ne.u64 more, count, 0;\n"
                "@more bra again;\n",
                BLOCK * INPUTS * 8);
}

/* ---- The expected output ---- */

static void expect_case(const Atomic *atomic, Sharing sharing, const uint64_t *in, uint64_t *out) {
    int bits = type_register_bits(atomic->form.types[0]);
    uint64_t mask = type_mask(bits), above = TRIAL_UNTOUCHED & ~mask;
    for (int thread = 0; thread < BLOCK; thread++)
        out[thread * RESULTS + 1] = above | in[thread * INPUTS];
    for (int thread = 0; thread < BLOCK; thread++) {
        const uint64_t *operands = in + thread * INPUTS;
        int cell = (sharing == SHARING_WARP ? thread & ~31 : thread) * RESULTS + 1;
        uint64_t old = out[cell] & mask, result = 0x5a;
        if (sharing != SHARING_GUARDED || trial_guards(thread)) {
            out[cell] = above | (updated(atomic, old, operands[1], operands[2]) & mask);
            if (atomic->has_result) result = old;
        }
        out[thread * RESULTS] = above | result;
    }
}

/* Operands: edge values and random ones. For cas, b sometimes equals the cell. */
static void choose_operands(const Atomic *atomic) {
    Form form = atomic->form;
    form.letters[0] = '0';
    form.operands[0] = form.types[0];
    uint64_t edges[VALUES_MAX_EDGES], state = 5;
    size_t count = values_edges(&form, 0, edges);
    uint64_t *in = atomic->trial->in;
    for (int i = 0; i < CASES * BLOCK * INPUTS; i++) {
        uint64_t choice = values_next(&state);
        in[i] = choice & 1 ? edges[(choice >> 1) % count] : values_random(&form, 0, &state);
        if (i % INPUTS == 1 && choice >> 62 == 0) in[i] = in[i - 1];
    }
}

static void run_atomic(Trial *trial, const char *spelling, bool is_shared) {
    Atomic atomic = {.trial = trial, .is_shared = is_shared};
    form_parse(&atomic.form, spelling);
    atomic.is_generic = !form_has(&atomic.form, "global") && !form_has(&atomic.form, "shared") &&
                        !form_has(&atomic.form, "shared::cta");
    atomic.has_result = strncmp(spelling, "atom", 4) == 0;
    trial_begin(trial, spelling);
    choose_operands(&atomic);
    write_kernel(&atomic);
    trial->type = atomic.form.types[0];
    for (int i = 0; i < CASES * SHARINGS; i++)
        expect_case(&atomic, (Sharing)(i % SHARINGS), trial->in + i / SHARINGS * BLOCK * INPUTS,
                    trial->expected + i * BLOCK * RESULTS);
    trial->slots = CASES * SHARINGS * BLOCK * RESULTS;
    trial_run(trial);
}

/* ---- All of them ---- */

/* Words for memory order, used in turn. The space follows them. */
static const char *const orders[] = {
    "", ".relaxed", ".acquire.cta", ".release.cluster", ".acq_rel.gpu", ".relaxed.sys"};
static const char *const reduction_orders[] = {
    "", ".relaxed", ".release.cta", ".release.cluster", ".relaxed.gpu", ".release.sys"};
static const char *const spaces[] = {".global", ".shared", ".shared::cta", "", ""};

typedef struct Sweep {
    Trial *trial;
    int number;
} Sweep;

/* `spelling` is "atom" or "red", then "|" in place of the space, and then the rest. */
static void visit(void *user, const char *spelling) {
    Sweep *sweep = user;
    int opcode = (int)strcspn(spelling, "|");
    for (size_t s = 0; s < sizeof spaces / sizeof *spaces; s++) {
        const size_t choice = (size_t)sweep->number++ % (sizeof orders / sizeof *orders);
        const char *order = *spelling == 'a' ? orders[choice] : reduction_orders[choice];
        const bool hints = s == 0 && sweep->number % 2;
        char text[FORM_TEXT_BYTES];
        snprintf(text, sizeof text, "%.*s%s%s%s%s", opcode, spelling, order, spaces[s],
                 spelling + opcode + 1, "");
        if (hints) { /* before the type */
            char *type = strrchr(text, '.');
            char last[16];
            snprintf(last, sizeof last, "%s", type);
            snprintf(type, sizeof text - (size_t)(type - text), ".L2::cache_hint%s", last);
        }
        run_atomic(sweep->trial, text, s == 1 || s == 2 || s == 4);
    }
}

void atomics_run(Harness *harness) {
    static const char *const patterns[] = {
        "(atom,red)|.add(.u32,.s32,.u64,.f32,.f64)",
        "(atom,red)|.add.noftz(.f16,.f16x2,.bf16,.bf16x2)",
        "(atom,red)|(.inc,.dec).u32",
        "(atom,red)|(.min,.max)(.u32,.s32,.u64,.s64)",
        "(atom,red)|(.and,.or,.xor)(.b32,.b64)",
        "atom|.exch(.b32,.b64)",
        "atom|.cas(.b16,.b32,.b64)",
    };
    Sweep sweep = {trial_new(harness), 0};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        form_expand("", patterns[i], visit, &sweep);
    trial_free(sweep.trial);
}
