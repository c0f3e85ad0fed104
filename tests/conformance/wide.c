/* Accesses wider than a register: .v8 and .b128 of ld, st, mov and atom, and vector atom and red.
 *
 * Each thread has a cell of 32 bytes in the output, filled from the input before a load or an
 * atomic operation. Elements of a vector operation are independent, so the reference computes them
 * one by one. */
#include "trial.h"

#include <stdio.h>
#include <string.h>

#include "values.h"

enum { CELL_SLOTS = 4, ROW_SLOTS = 4 * CELL_SLOTS }; /* a row: cell, b, c, results */

/* Copies the thread's cell and loads the registers b and c from the input; `at` is the cell's
 * address. */
static void begin(Trial *trial, const char *spelling, const char *variables) {
    trial_begin(trial, spelling);
    trial_begin_kernel(trial, variables);
    text_printf(&trial->ptx,
                ".reg .b64 u<8>, v<8>, r<8>;\n.reg .b128 x<4>;\n"
                "mad.wide.u32 in, tid, %d, in;\nmad.wide.u32 out, tid, %d, out;\n",
                ROW_SLOTS * 8, ROW_SLOTS * 8);
    for (int i = 0; i < CELL_SLOTS; i++)
        text_printf(&trial->ptx,
                    "ld.global.b64 r%d, [in+%d];\nst.global.b64 [out+%d], r%d;\n"
                    "ld.global.b64 u%d, [in+%d];\nld.global.b64 v%d, [in+%d];\n",
                    i, i * 8, i * 8, i, i, (CELL_SLOTS + i) * 8, i, (2 * CELL_SLOTS + i) * 8);
}

static uint64_t *row(uint64_t *slots, int thread) { return slots + thread * ROW_SLOTS; }

static void expect_cells(Trial *trial) {
    for (int thread = 0; thread < TRIAL_THREADS; thread++)
        memcpy(row(trial->expected, thread), row(trial->in, thread), CELL_SLOTS * 8);
    trial->slots = TRIAL_THREADS * ROW_SLOTS;
}

/* ---- .v8 ---- */

static const char *space_of(const char *spelling) {
    return strstr(spelling, ".shared")  ? ".shared"
           : strstr(spelling, ".local") ? ".local"
           : strstr(spelling, ".const") ? ".const"
           : strstr(spelling, ".param") ? ".param"
                                        : ".global";
}

#define EIGHT(p) "{" p "0, " p "1, " p "2, " p "3, " p "4, " p "5, " p "6, " p "7}"

static void visit_eight(void *user, const char *spelling) {
    Trial *trial = user;
    Form form;
    form_parse(&form, spelling);
    const bool loads = strcmp(form_word(&form, 0), "ld") == 0;
    const bool has_hint = form_has(&form, "L2::cache_hint");
    begin(trial, spelling, "");
    text_add(&trial->ptx, ".reg .b32 e<8>, f<8>;\n.reg .b64 policy;\nmov.b64 policy, 0;\n");
    for (int i = 0; i < 4; i++)
        text_printf(&trial->ptx, "mov.b64 {e%d, e%d}, u%d;\n", 2 * i, 2 * i + 1, i);
    const char *hint = has_hint ? ", policy" : "";
    if (loads) text_printf(&trial->ptx, "@guard %s " EIGHT("e") ", [out]%s;\n", spelling, hint);
    else text_printf(&trial->ptx, "@guard %s [out], " EIGHT("e") "%s;\n", spelling, hint);
    for (int i = 0; i < 8; i++)
        text_printf(&trial->ptx, "st.global.b32 [out+%d], e%d;\n", 96 + i * 4, i);
    expect_cells(trial);
    for (int thread = 0; thread < TRIAL_THREADS; thread++) {
        uint64_t *to = row(trial->expected, thread), *from = row(trial->in, thread);
        const bool executes = trial_guards(thread);
        memcpy(to + 12, executes && loads ? from : from + 4, 32);
        if (executes && !loads) memcpy(to, from + 4, 32);
    }
    trial_run(trial);
}

/* ---- .b128 ---- */

#define CELLS ".shared .align 16 .b8 cells[3072];\n.local .align 16 .b8 own[32];\n"

static void visit_wide(void *user, const char *spelling) {
    Trial *trial = user;
    Form form;
    form_parse(&form, spelling);
    const bool loads = strcmp(form_word(&form, 0), "ld") == 0;
    const char *space = space_of(spelling), *hint = "";
    Text table = {0};
    begin(trial, spelling, "");
    if (strcmp(space, ".const") == 0) { /* the module starts again, with its own table */
        text_add(&table, ".const .align 16 .b64 table[192] = {");
        for (int thread = 0; thread < TRIAL_THREADS; thread++)
            text_printf(&table, "%s0x%llx, 0x%llx", thread ? ", " : "",
                        (unsigned long long)row(trial->in, thread)[0],
                        (unsigned long long)row(trial->in, thread)[1]);
        text_add(&table, "};\n");
        begin(trial, spelling, text_string(&table));
    }
    text_free(&table);
    if (form_has(&form, "L2::cache_hint")) hint = ", r7";
    text_add(&trial->ptx, CELLS ".reg .b64 place;\nmov.b64 r7, 0;\nmov.b64 place, out;\n");
    if (strcmp(space, ".shared") == 0)
        text_add(&trial->ptx, "mov.b64 place, cells;\nmad.wide.u32 place, tid, 32, place;\n");
    if (strcmp(space, ".local") == 0) text_add(&trial->ptx, "mov.b64 place, own;\n");
    if (strcmp(space, ".const") == 0)
        text_add(&trial->ptx, "mov.b64 place, table;\nmad.wide.u32 place, tid, 16, place;\n");
    if (strcmp(space, ".param") == 0) text_add(&trial->ptx, "mov.b64 place, in0;\n");
    const bool is_filled = strcmp(space, ".shared") == 0 || strcmp(space, ".local") == 0;
    if (is_filled) text_printf(&trial->ptx, "st%s.v2.b64 [place], {r0, r1};\n", space);
    text_add(&trial->ptx, "mov.b128 x0, {u0, u1};\n");
    if (loads) text_printf(&trial->ptx, "@guard %s x0, [place]%s;\n", spelling, hint);
    else text_printf(&trial->ptx, "@guard %s [place], x0%s;\n", spelling, hint);
    text_add(&trial->ptx, "mov.b128 {r2, r3}, x0;\nst.global.v2.b64 [out+96], {r2, r3};\n");
    if (is_filled)
        text_printf(&trial->ptx,
                    "ld%s.v2.b64 {r2, r3}, [place];\nst.global.v2.b64 [out], {r2, r3};\n", space);
    expect_cells(trial);
    for (int thread = 0; thread < TRIAL_THREADS; thread++) {
        uint64_t *to = row(trial->expected, thread), *from = row(trial->in, thread);
        const bool executes = trial_guards(thread), is_parameter = strcmp(space, ".param") == 0;
        const uint64_t *held = is_parameter ? trial->harness->engines[0].buffers : from;
        memcpy(to + 12, executes && loads ? held : from + 4, 16);
        if (executes && !loads) memcpy(to, from + 4, 16);
    }
    trial_run(trial);
}

/* mov.b128: whole, from and to two registers of 64 bits, from and to four of 32 bits. */
static void run_moves(Trial *trial) {
    begin(trial, "mov.b128", "");
    text_add(&trial->ptx, ".reg .b32 e<8>;\n.reg .b128 whole;\n"
                          "mov.b64 {e0, e1}, u0;\nmov.b64 {e2, e3}, u1;\n"
                          "mov.b128 x0, {e0, e1, e2, e3};\nmov.b128 whole, x0;\n"
                          "mov.b128 x1, {u2, u3};\n@guard mov.b128 x1, whole;\n"
                          "mov.b128 {r2, r3}, x1;\nst.global.v2.b64 [out+96], {r2, r3};\n"
                          "mov.b128 {e4, e5, e6, e7}, whole;\n"
                          "st.global.v4.b32 [out+112], {e4, e5, e6, e7};\n");
    expect_cells(trial);
    for (int thread = 0; thread < TRIAL_THREADS; thread++) {
        uint64_t *to = row(trial->expected, thread), *from = row(trial->in, thread);
        memcpy(to + 12, from + (trial_guards(thread) ? 4 : 6), 16);
        memcpy(to + 14, from + 4, 16);
    }
    trial_run(trial);
}

/* An argument and a result of 128 bits. */
static void visit_argument(void *user, const char *spelling) {
    Trial *trial = user;
    begin(trial, spelling,
          ".func (.param .align 16 .b8 r[16]) same(.param .align 16 .b8 a[16])\n{\n.reg .b128 w;\n"
          "ld.param.b128 w, [a];\nst.param.b128 [r], w;\nret;\n}\n");
    text_printf(&trial->ptx,
                "mov.b128 x0, {u0, u1};\n{\n.param .align 16 .b8 from[16], to[16];\n"
                "%s [from], x0;\ncall (to), same, (from);\nld.param.b128 x1, [to];\n}\n"
                "mov.b128 {r2, r3}, x1;\nst.global.v2.b64 [out+96], {r2, r3};\n",
                spelling);
    expect_cells(trial);
    for (int thread = 0; thread < TRIAL_THREADS; thread++)
        memcpy(row(trial->expected, thread) + 12, row(trial->in, thread) + 4, 16);
    trial_run(trial);
}

/* ---- atom.b128 ---- */

/* Every other thread compares with the value in its cell. */
static void visit_wide_atom(void *user, const char *spelling) {
    Trial *trial = user;
    Form form;
    form_parse(&form, spelling);
    const bool compares = form_has(&form, "cas"), is_shared = strstr(spelling, ".shared") != NULL;
    begin(trial, spelling, "");
    text_printf(&trial->ptx,
                "%s.reg .b64 place;\nmov.b64 place, out;\n"
                "and.b32 t, tid, 1;\n.reg .pred odd;\nsetp.ne.u32 odd, t, 0;\n"
                "%smov.b128 x0, {u0, u1};\nmov.b128 x1, {v0, v1};\n"
                "mov.b128 x2, {v2, v3};\nmov.b64 r7, 0;\n",
                CELLS, compares ? "@odd mov.b64 u0, r0;\n@odd mov.b64 u1, r1;\n" : "");
    if (is_shared)
        text_add(&trial->ptx, "mov.b64 place, cells;\nmad.wide.u32 place, tid, 32, place;\n"
                              "st.shared.v2.b64 [place], {r0, r1};\n");
    text_printf(&trial->ptx, "@guard %s x2, [place], x0%s%s;\n", spelling, compares ? ", x1" : "",
                form_has(&form, "L2::cache_hint") ? ", r7" : "");
    text_add(&trial->ptx, "mov.b128 {r2, r3}, x2;\nst.global.v2.b64 [out+96], {r2, r3};\n");
    if (is_shared)
        text_add(&trial->ptx,
                 "ld.shared.v2.b64 {r2, r3}, [place];\nst.global.v2.b64 [out], {r2, r3};\n");
    expect_cells(trial);
    for (int thread = 0; thread < TRIAL_THREADS; thread++) {
        uint64_t *to = row(trial->expected, thread), *from = row(trial->in, thread);
        const bool executes = trial_guards(thread), is_odd = thread & 1;
        memcpy(to + 12, executes ? from : from + 10, 16);
        if (executes && (!compares || is_odd)) memcpy(to, compares ? from + 8 : from + 4, 16);
    }
    trial_run(trial);
}

/* ---- Vector atom and red ---- */

static uint64_t combine(const Form *form, const Type *type, uint64_t a, uint64_t b) {
    const Format *format = type->format;
    if (!form_has(form, "add")) {
        const bool a_is_nan = real_class(format, a) == REAL_NAN;
        const bool b_is_nan = real_class(format, b) == REAL_NAN;
        if (a_is_nan && b_is_nan) return format->nan;
        if (a_is_nan || b_is_nan) return a_is_nan ? b : a;
        const bool is_less = real_order(format, a, b, false) < 0;
        return is_less == form_has(form, "min") ? a : b;
    }
    if (format != &FORMAT_F32) return real_binary(mpfr_add, format, MPFR_RNDN, a, b);
    return real_flush(format, real_binary(mpfr_add, format, MPFR_RNDN, real_flush(format, a),
                                          real_flush(format, b)));
}

static void write_list(Text *ptx, const char *name, int count) {
    for (int i = 0; i < count; i++)
        text_printf(ptx, "%s%s%d", i ? ", " : "{", name, i);
    text_add(ptx, "}");
}

static void visit_vector_atom(void *user, const char *spelling) {
    Trial *trial = user;
    Form form;
    form_parse(&form, spelling);
    const int count = form_has(&form, "v8") ? 8 : form_has(&form, "v4") ? 4 : 2;
    const Type *type = form.types[0];
    const int bits = type->bits * type->elements;
    const bool has_result = strcmp(form_word(&form, 0), "atom") == 0;
    begin(trial, spelling, "");
    text_printf(&trial->ptx, ".reg .b%d e<8>, d<8>;\n.reg .b64 policy;\nmov.b64 policy, 0;\n",
                bits);
    for (int i = 0; i < count; i++)
        text_printf(&trial->ptx, "ld.global.b%d e%d, [in+%d];\nmov.b%d d%d, 0x5a;\n", bits, i,
                    32 + i * bits / 8, bits, i);
    text_printf(&trial->ptx, "@guard %s ", spelling);
    if (has_result) {
        write_list(&trial->ptx, "d", count);
        text_add(&trial->ptx, ", ");
    }
    text_add(&trial->ptx, "[out], ");
    write_list(&trial->ptx, "e", count);
    text_printf(&trial->ptx, "%s;\n", form_has(&form, "L2::cache_hint") ? ", policy" : "");
    for (int i = 0; i < count; i++)
        text_printf(&trial->ptx, "st.global.b%d [out+%d], d%d;\n", bits, 96 + i * bits / 8, i);
    trial->element = type->format;
    expect_cells(trial);
    for (int thread = 0; thread < TRIAL_THREADS; thread++) {
        uint8_t *to = (uint8_t *)row(trial->expected, thread);
        const uint8_t *from = (const uint8_t *)row(trial->in, thread);
        const bool executes = trial_guards(thread);
        for (int at = 0; at < count * bits / 8; at += type->bits / 8) {
            uint64_t a = 0, b = 0;
            memcpy(&a, from + at, (size_t)type->bits / 8);
            memcpy(&b, from + 32 + at, (size_t)type->bits / 8);
            const uint64_t result = combine(&form, type, a, b);
            const uint64_t untouched = at % (bits / 8) ? 0 : 0x5a;
            memcpy(to + 96 + at, executes && has_result ? &a : &untouched, (size_t)type->bits / 8);
            if (executes) memcpy(to + at, &result, (size_t)type->bits / 8);
        }
    }
    trial_run(trial);
}

/* Addresses that are aligned for an element but not for the vector. */
static void run_faults(Trial *trial) {
    static const char *const faults[] = {
        /* the store keeps the load alive */
        ("ld.global.v8.b32 {e0, e1, e2, e3, e4, e5, e6, e7}, [out+16];\n"
         "st.global.v8.b32 [out], {e0, e1, e2, e3, e4, e5, e6, e7}"),
        "st.v8.b32 [out+16], {e0, e1, e2, e3, e4, e5, e6, e7}",
        "ld.global.b128 x0, [out+8];\nst.global.b128 [out], x0",
        "atom.global.exch.b128 x0, [out+8], x0",
        "red.global.add.v4.f32 [out+8], {f0, f1, f2, f3}",
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        char spelling[FORM_TEXT_BYTES];
        snprintf(spelling, sizeof spelling, "%.*s", (int)strcspn(faults[i], " "), faults[i]);
        begin(trial, spelling, "");
        trial->faults = true;
        text_printf(&trial->ptx, ".reg .b32 e<8>;\n.reg .f32 f<4>;\n%s;\n", faults[i]);
        trial_run(trial);
    }
}

#define WIDE  "(.b32,.u32,.s32,.f32)"
#define HINTS "(.L1::evict_last,.L2::evict_first,.L2::cache_hint)"

void wide_run(Harness *harness) {
    Trial *trial = trial_new(harness);
    form_expand("ld", "{.weak,.volatile}{.global}{.ca,.nc}.v8" WIDE, visit_eight, trial);
    form_expand("ld", ".global" HINTS ".v8.b32", visit_eight, trial);
    form_expand("st", "{.weak,.volatile}{.global}{.wb,.cs}.v8" WIDE, visit_eight, trial);
    form_expand("st", ".global" HINTS ".v8.b32", visit_eight, trial);
    form_expand("ld", "{.const,.global,.local,.param,.param::entry,.shared,.shared::cta}.b128",
                visit_wide, trial);
    form_expand("ld", ".global{.nc,.cg}{.L2::cache_hint}.b128", visit_wide, trial);
    form_expand("st", "{.global,.local,.shared,.shared::cta}.b128", visit_wide, trial);
    form_expand("st", "(.param,.param::func).b128", visit_argument, trial);
    run_moves(trial);
    form_expand("atom", "{.relaxed,.acq_rel}{.gpu}{.global,.shared,.shared::cta}(.exch,.cas).b128",
                visit_wide_atom, trial);
    form_expand("atom", ".global.exch.L2::cache_hint.b128", visit_wide_atom, trial);
    form_expand("", "(atom,red){.global}.add(.v2,.v4).f32", visit_vector_atom, trial);
    form_expand("", "(atom,red){.global}(.add,.min,.max).noftz(.v2,.v4,.v8)(.f16,.bf16)",
                visit_vector_atom, trial);
    form_expand("", "(atom,red){.global}(.add,.min,.max).noftz(.v2,.v4)(.f16x2,.bf16x2)",
                visit_vector_atom, trial);
    form_expand("", "(atom,red).global.add.noftz.L2::cache_hint.v2.f16", visit_vector_atom, trial);
    run_faults(trial);
    trial_free(trial);
}
