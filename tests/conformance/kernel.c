/* Writes the kernel of a form. */
#include "kernel.h"

#include <string.h>

#include "harness.h"
#include "values.h"

static const uint64_t UNTOUCHED = 0xa5a5a5a5a5a5a5a5u;

static bool is_field(const Form *form) {
    return strcmp(form_word(form, 0), "bfe") == 0 || strcmp(form_word(form, 0), "bfi") == 0;
}
static bool has_letter(const Form *form, char letter) {
    return memchr(form->letters, letter, sizeof form->letters) != NULL;
}

uint64_t kernel_untouched(const Form *form, int destination) {
    if (form->letters[destination] == 'p') return 1;
    return UNTOUCHED & type_mask(form->register_bits[destination]);
}

/* ---- Which ways ---- */

bool kernel_takes_constant(const Form *form, int source) {
    const Type *type = form_source(form, source);
    if (!strchr("012unwsl", form->letters[form->destinations + source])) return false;
    if (form->suffix_bytes[form->destinations + source]) return false;
    if (type->elements > 1 || type->bits < 16) return false;
    return type->kind != KIND_FLOAT || type->bits == 64 ||
           (type->bits == 32 && type->format->shift == 0);
}

static bool can_be_alias(const Form *form, int source) {
    int at = form->destinations + source;
    return strchr("012unwsl", form->letters[at]) && form->register_bits[0] > 1 &&
           form->register_bits[0] == form->register_bits[at];
}

void kernel_plan(Job *job, int number) {
    const Form *form = &job->form;
    job->number = number;
    job->ways = 1 << WAY_PLAIN | 1 << WAY_GUARD | 1 << WAY_BRANCH;
    uint64_t state = (uint64_t)number;
    for (int i = 0; i < form->sources; i++) {
        int source = number & 1 ? i : form->sources - 1 - i;
        if (!can_be_alias(form, source)) continue;
        job->ways |= 1 << WAY_ALIAS;
        job->alias = source;
    }
    if (has_letter(form, 'm')) job->ways |= 1 << WAY_GROUPS;
    if (form->row->flags & ROW_NO_CONSTANT) return;
    for (int i = form->sources - 1; i >= 0 && !(job->ways & 1 << WAY_CONSTANT); i--) {
        if (!kernel_takes_constant(form, i)) continue;
        uint64_t edges[VALUES_MAX_EDGES];
        size_t count = values_edges(form, form->destinations + i, edges);
        job->ways |= 1 << WAY_CONSTANT;
        job->constant = i;
        job->immediate = edges[values_next(&state) % count];
        if (is_field(form)) job->immediate &= 0xff; /* assemblers expect this */
    }
}

/* Either eight groups of four adjacent lanes, or four groups of every fourth lane. */
uint32_t kernel_group(const Job *job, int lane) {
    return job->number & 1 ? 0xfu << (lane & 28) : 0x11111111u << (lane & 3);
}

/* ---- Registers ---- */

static void declare(Text *ptx, int bits, const char *format, int a, int b) {
    text_printf(ptx, bits == 1 ? ".reg .pred " : ".reg .b%d ", bits);
    text_printf(ptx, format, a, b);
    text_add(ptx, ";\n");
}

static void declare_all(const Job *job, Text *ptx) {
    const Form *form = &job->form;
    for (int s = 0; s < form->sources; s++)
        declare(ptx, form->register_bits[form->destinations + s], "a%d", s, 0);
    for (int way = 0; way < WAY_COUNT; way++)
        for (int d = 0; d < form->destinations; d++)
            declare(ptx, form->register_bits[d], "d%d_%d", d, way);
    text_add(ptx, ".reg .pred guard, unguard, inverse;\n.reg .b32 t, i, count, all, some, group;\n"
                  ".reg .b64 in, out, masks, at, stride;\n");
}

/* Sets registers i, in, out and stride; threads past the last case exit. */
static void write_prologue(Text *ptx) {
    text_add(ptx, "mov.u32 i, %ctaid.x;\nmov.u32 t, %ntid.x;\nmov.u32 all, %tid.x;\n"
                  "mad.lo.u32 i, i, t, all;\nld.param.u32 count, [n];\n"
                  "setp.ge.u32 guard, i, count;\n@guard exit;\n"
                  "mul.wide.u32 stride, count, 8;\nmul.wide.u32 at, i, 8;\n"
                  "ld.param.u64 in, [in0];\nadd.u64 in, in, at;\n"
                  "ld.param.u64 out, [in1];\nadd.u64 out, out, at;\n"
                  "ld.param.u64 masks, [in2];\nshr.u32 t, i, 5;\nmul.wide.u32 at, t, 8;\n"
                  "add.u64 masks, masks, at;\nld.global.u32 all, [masks];\n"
                  "ld.global.u32 some, [masks+4];\nmov.u32 t, %laneid;\nshr.u32 t, some, t;\n"
                  "and.b32 t, t, 1;\nsetp.ne.u32 guard, t, 0;\nsetp.eq.u32 unguard, t, 0;\n");
}

static void load_sources(const Form *form, Text *ptx) {
    for (int s = 0; s < form->sources; s++) {
        int bits = form->register_bits[form->destinations + s];
        if (bits == 1) text_printf(ptx, "ld.global.u32 t, [in];\nsetp.ne.u32 a%d, t, 0;\n", s);
        else text_printf(ptx, "ld.global.b%d a%d, [in];\n", bits, s);
        if (form->letters[form->destinations + s] == 'p')
            text_add(ptx, "setp.eq.u32 inverse, t, 0;\n");
        text_add(ptx, "add.u64 in, in, stride;\n");
    }
}

/* ---- One way ---- */

void kernel_write_immediate(const Type *type, uint64_t bits, Text *ptx) {
    const unsigned long long value = bits;
    if (type->kind != KIND_FLOAT) text_printf(ptx, "0x%llx", value);
    else text_printf(ptx, type->bits == 32 ? "0f%08llX" : "0d%016llX", value);
}

static void write_source(const Job *job, Way way, int source, Text *ptx) {
    const Form *form = &job->form;
    int at = form->destinations + source;
    const char letter = form->letters[at];
    /* setp, set and vote may negate their predicate: the guarded way does. */
    const bool negates =
        letter == 'p' && way == WAY_GUARD &&
        (strncmp(form->text, "set", 3) == 0 || strncmp(form->text, "vote", 4) == 0);
    if (letter == 'm')
        text_add(ptx, way == WAY_GROUPS ? "group" : way_is_masked(way) ? "some" : "all");
    else if (letter == 'i') text_printf(ptx, "%d", form->constant);
    else if (negates) text_add(ptx, "!inverse");
    else if (way == WAY_CONSTANT && source == job->constant)
        kernel_write_immediate(form_source(form, source), job->immediate, ptx);
    else if (way == WAY_ALIAS && source == job->alias) text_printf(ptx, "d0_%d", way);
    else text_printf(ptx, "a%d", source);
    text_add_bytes(ptx, form->suffixes[at], (size_t)form->suffix_bytes[at]);
}

static void write_instruction(const Job *job, Way way, Text *ptx) {
    const Form *form = &job->form;
    if (way == WAY_GUARD) text_add(ptx, job->number & 1 ? "@guard " : "@!unguard ");
    text_printf(ptx, "%s", form->text);
    const char *separator = " ";
    for (int d = 0; d < form->destinations; d++) {
        if (form->letters[d] == 'k') continue;
        text_printf(ptx, "%sd%d_%d", separator, d, way);
        text_add_bytes(ptx, form->suffixes[d], (size_t)form->suffix_bytes[d]);
        separator = "|";
    }
    separator = ", ";
    for (int s = 0; s < form->sources; s++) {
        if (form->letters[form->destinations + s] == 'k') continue;
        text_add(ptx, separator);
        write_source(job, way, s, ptx);
    }
    text_add(ptx, ";\n");
}

static void set_carry(const Form *form, Text *ptx) {
    int source = -1;
    for (int s = 0; s < form->sources; s++)
        if (form->letters[form->destinations + s] == 'k') source = s;
    if (source < 0) text_add(ptx, "add.cc.u32 t, 0, 0;\n");
    else text_printf(ptx, "add.cc.u32 t, a%d, 0xffffffff;\n", source);
}

static void prepare_destinations(const Job *job, Way way, Text *ptx) {
    const Form *form = &job->form;
    for (int d = 0; d < form->destinations; d++) {
        int bits = form->register_bits[d];
        if (form->letters[d] == 'k') continue;
        if (bits == 1) text_printf(ptx, "setp.eq.u32 d%d_%d, 0, 0;\n", d, way);
        else
            text_printf(ptx, "mov.b%d d%d_%d, 0x%llx;\n", bits, d, way,
                        (unsigned long long)kernel_untouched(form, d));
    }
}

static void store_destinations(const Form *form, Way way, Text *ptx) {
    for (int d = 0; d < form->destinations; d++) {
        int bits = form->register_bits[d];
        if (form->letters[d] == 'k') text_printf(ptx, "addc.u32 d%d_%d, 0, 0;\n", d, way);
        if (bits == 1)
            text_printf(ptx, "selp.b32 t, 1, 0, d%d_%d;\nst.global.b32 [out], t;\n", d, way);
        else text_printf(ptx, "st.global.b%d [out], d%d_%d;\n", bits, d, way);
        text_add(ptx, "add.u64 out, out, stride;\n");
    }
}

static void write_group(const Job *job, Text *ptx) {
    text_printf(ptx, "mov.u32 t, %%laneid;\nand.b32 t, t, %d;\nmov.u32 group, 0x%x;\n",
                job->number & 1 ? 28 : 3, kernel_group(job, 0));
    text_add(ptx, "shl.b32 group, group, t;\nand.b32 group, group, all;\n");
}

static void write_way(const Job *job, Way way, Text *ptx) {
    const Form *form = &job->form;
    if (way_is_masked(way)) prepare_destinations(job, way, ptx);
    if (way == WAY_GROUPS) write_group(job, ptx);
    if (way == WAY_ALIAS)
        text_printf(ptx, "mov.b%d d0_%d, a%d;\n", form->register_bits[0], way, job->alias);
    if (has_letter(form, 'k')) set_carry(form, ptx);
    if (way == WAY_BRANCH) text_add(ptx, "@unguard bra skip;\n");
    write_instruction(job, way, ptx);
    if (way == WAY_BRANCH) text_add(ptx, "skip:\n");
    store_destinations(form, way, ptx);
}

void kernel_write(const Job *job, Text *ptx) {
    text_printf(ptx, ".visible .entry k%d" HARNESS_PARAMETERS "\n{\n", job->number);
    declare_all(job, ptx);
    write_prologue(ptx);
    load_sources(&job->form, ptx);
    for (int way = 0; way < WAY_COUNT; way++)
        if (job->ways & 1u << way) write_way(job, (Way)way, ptx);
    text_add(ptx, "exit;\n}\n");
}
