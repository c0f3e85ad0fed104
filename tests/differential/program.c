/* Registers, statements, and the surrounding PTX. */
#include "program.h"

#include <stdio.h>
#include <string.h>

#include "conformance/harness.h"
#include "conformance/values.h"

/* ---- Registers ---- */

const PoolInfo POOL_INFO[POOLS] = {
    [POOL_B16] = {"%h", "b16", 16, 3},       [POOL_B32] = {"%r", "b32", 32, 6},
    [POOL_B64] = {"%d", "b64", 64, 4},       [POOL_F16] = {"%x", "f16", 16, 2},
    [POOL_BF16] = {"%y", "bf16", 16, 2},     [POOL_F16X2] = {"%v", "f16x2", 32, 2},
    [POOL_BF16X2] = {"%w", "bf16x2", 32, 2}, [POOL_F32] = {"%f", "f32", 32, 4},
    [POOL_F64] = {"%g", "f64", 64, 3},       [POOL_PRED] = {"%p", "pred", 1, 4},
};

int pool_value(Pool pool, int number) {
    int value = number;
    for (int p = 0; p < (int)pool; p++)
        value += POOL_INFO[p].count;
    return value;
}

int pool_value_count(void) { return pool_value(POOL_PRED, 0) + 1; }

Pool pool_of_value(int value, int *number) {
    int pool = 0;
    for (; pool < POOL_PRED && value >= POOL_INFO[pool].count; pool++)
        value -= POOL_INFO[pool].count;
    *number = value;
    return (Pool)pool;
}

static Pool integer_pool(int bits) {
    return bits == 1 ? POOL_PRED : bits == 16 ? POOL_B16 : bits == 32 ? POOL_B32 : POOL_B64;
}

Pool pool_of_operand(const Form *form, int operand) {
    const Type *type = form->operands[operand];
    const int bits = form->register_bits[operand];
    if (type->kind != KIND_FLOAT || bits != type_register_bits(type)) return integer_pool(bits);
    if (strcmp(type->name, "tf32") == 0) return POOL_F32;
    for (int p = 0; p < POOLS; p++)
        if (strcmp(POOL_INFO[p].type, type->name) == 0) return (Pool)p;
    return integer_pool(bits);
}

/* Handles one floating-point number: a magnitude above infinity is a NaN. */
static void write_canonical(int bits, uint64_t infinity, const char *from, const char *to,
                            Text *out) {
    static const char scratch[] = {[16] = 's', [32] = 't', [64] = 'u'};
    const unsigned long long most = type_mask(bits - 1), nan = infinity;
    text_printf(out, "and.b%d %%%c0, %s, 0x%llx;\n", bits, scratch[bits], from, most);
    text_printf(out, "setp.gt.u%d %%q0, %%%c0, 0x%llx;\n", bits, scratch[bits], nan);
    text_printf(out, "selp.b%d %s, 0x%llx, %s, %%q0;\n", bits, to, most, from);
}

void pool_write_canonical(Pool pool, const char *from, const char *to, Text *out) {
    const Type *type = type_named(POOL_INFO[pool].type);
    const int bits = POOL_INFO[pool].bits;
    if (type->kind != KIND_FLOAT) {
        text_printf(out, "mov.b%d %s, %s;\n", bits, to, from);
        return;
    }
    const uint64_t infinity = real_infinity(type->format, false);
    if (type->elements == 1) {
        write_canonical(bits, infinity, from, to, out);
        return;
    }
    text_printf(out, "mov.b32 {%%s1, %%s2}, %s;\n", from);
    write_canonical(16, infinity, "%s1", "%s1", out);
    write_canonical(16, infinity, "%s2", "%s2", out);
    text_printf(out, "mov.b32 %s, {%%s1, %%s2};\n", to);
}

/* ---- Statements ---- */

void program_free(Program *program) {
    for (int b = 0; b < PROGRAM_BODIES; b++)
        text_free(&program->bodies[b].text);
}

void program_drop(Body *body, int first, int last, bool is_dropped) {
    for (int i = first; i <= last; i++)
        body->statements[i].is_dropped = is_dropped;
}

int program_find_close(const Body *body, int open) {
    int depth = 0;
    for (int i = open; i < body->count; i++) {
        depth += body->statements[i].kind == STATEMENT_OPEN;
        depth -= body->statements[i].kind == STATEMENT_CLOSE;
        if (depth == 0) return i;
    }
    return open;
}

/* ---- The surrounding PTX ---- */

static void declare_registers(Text *out) {
    for (int p = 0; p < POOL_PRED; p++)
        text_printf(out, ".reg .b%d %s<%d>;\n", POOL_INFO[p].bits, POOL_INFO[p].prefix,
                    POOL_INFO[p].count);
    text_printf(out, ".reg .pred %%p<%d>, %%q<2>;\n", POOL_INFO[POOL_PRED].count);
    text_printf(out, ".reg .b16 %%s<4>;\n.reg .b32 %%t<8>, %%c<%d>, %%lane, %%id, %%cta;\n",
                PROGRAM_LABELS);
    text_add(out, ".reg .b64 %u<4>, %in, %out, %global, %local, %shared;\n");
}

static void declare_local(const Body *body, Text *out) {
    if (!body->uses_local) return;
    text_printf(out, ".local .align 16 .b8 local[%d];\nmov.u64 %%local, local;\n",
                PROGRAM_PRIVATE_BYTES);
    for (int at = 0; at < PROGRAM_PRIVATE_BYTES; at += 16)
        text_printf(out, "st.local.v4.b32 [%%local+%d], {%%r0, %%r1, %%r2, %%r3};\n", at);
}

/* Shared memory: a private part and one value for each thread, and the cells. */
static void declare_shared(const Program *program, Text *out) {
    if (!program->bodies[0].uses_shared) return;
    text_printf(out, ".shared .align 16 .b8 shared[%d];\n",
                PROGRAM_BLOCK * (PROGRAM_PRIVATE_BYTES + 8) + PROGRAM_CELLS * 8);
    text_printf(out, "mov.u64 %%shared, shared;\nmul.wide.u32 %%u0, %%lane, %d;\n",
                PROGRAM_PRIVATE_BYTES);
    text_add(out, "add.u64 %shared, %shared, %u0;\n");
    for (int at = 0; at < PROGRAM_PRIVATE_BYTES; at += 16)
        text_printf(out, "st.shared.v4.b32 [%%shared+%d], {%%r2, %%r1, %%r0, %%lane};\n", at);
    text_printf(out,
                "mul.wide.u32 %%u0, %%lane, 8;\nmov.u64 %%u1, shared;\n"
                "add.u64 %%u0, %%u0, %%u1;\nst.shared.b64 [%%u0+%d], 0;\n",
                PROGRAM_BLOCK * PROGRAM_PRIVATE_BYTES);
    text_printf(out, "setp.lt.u32 %%q0, %%lane, %d;\n@%%q0 st.shared.b64 [%%u0+%d], 0;\n",
                PROGRAM_CELLS, PROGRAM_BLOCK * (PROGRAM_PRIVATE_BYTES + 8));
    if (!program->is_ragged) text_add(out, "bar.sync 0;\n");
}

static void load_values(Text *out) {
    text_add(out, "mul.wide.u32 %u0, %id, 8;\nadd.u64 %u0, %in, %u0;\n");
    for (int value = 0; value < pool_value(POOL_PRED, 0); value++) {
        int number;
        const Pool pool = pool_of_value(value, &number);
        text_printf(out, "ld.global.b%d %s%d, [%%u0+%d];\n", POOL_INFO[pool].bits,
                    POOL_INFO[pool].prefix, number, value * PROGRAM_THREADS * 8);
    }
    text_printf(out, "ld.global.b32 %%t0, [%%u0+%d];\n",
                pool_value(POOL_PRED, 0) * PROGRAM_THREADS * 8);
    for (int p = 0; p < POOL_INFO[POOL_PRED].count; p++)
        text_printf(out, "and.b32 %%t1, %%t0, %d;\nsetp.ne.u32 %%p%d, %%t1, 0;\n", 1 << p, p);
}

static void write_kernel_prologue(const Program *program, Text *out) {
    text_add(out,
             "mov.u32 %lane, %tid.x;\nmov.u32 %cta, %ctaid.x;\n"
             "mov.u32 %t0, %ntid.x;\nmad.lo.u32 %id, %cta, %t0, %lane;\nld.param.u64 %in, [in0];\n"
             "ld.param.u64 %out, [in1];\nld.param.u64 %global, [in2];\n");
    load_values(out);
    text_printf(out, "mul.wide.u32 %%u0, %%id, %d;\nadd.u64 %%global, %%global, %%u0;\n",
                PROGRAM_PRIVATE_BYTES);
    declare_shared(program, out);
    declare_local(&program->bodies[0], out);
}

static bool is_written(const Body *body, Pool pool, int number) {
    return body->written[pool] >> number & 1;
}

/* Packs predicates into the bits of %t0. */
static void gather_predicates(Text *out) {
    text_add(out, "mov.u32 %t0, 0;\n");
    for (int p = 0; p < POOL_INFO[POOL_PRED].count; p++)
        text_printf(out, "selp.b32 %%t1, %d, 0, %%p%d;\nor.b32 %%t0, %%t0, %%t1;\n", 1 << p, p);
}

static void write_kernel_epilogue(const Body *body, Text *out) {
    text_add(out, "mul.wide.u32 %u0, %id, 8;\nadd.u64 %u0, %out, %u0;\n");
    for (int value = 0; value < pool_value(POOL_PRED, 0); value++) {
        int number;
        const Pool pool = pool_of_value(value, &number);
        if (!is_written(body, pool, number)) continue;
        text_printf(out, "st.global.b%d [%%u0+%d], %s%d;\n", POOL_INFO[pool].bits,
                    value * PROGRAM_THREADS * 8, POOL_INFO[pool].prefix, number);
    }
    gather_predicates(out);
    text_printf(out, "st.global.b32 [%%u0+%d], %%t0;\nexit;\n",
                pool_value(POOL_PRED, 0) * PROGRAM_THREADS * 8);
}

/* Initializes a function's registers from its two parameters. */
static void write_function_prologue(const Body *body, Text *out) {
    text_add(out, "ld.param.b32 %t0, [a];\nld.param.b64 %u0, [b];\n");
    for (int value = 0; value < pool_value(POOL_PRED, 0); value++) {
        int number;
        const Pool pool = pool_of_value(value, &number);
        const PoolInfo *info = &POOL_INFO[pool];
        if (info->bits == 64)
            text_printf(out, "xor.b64 %s%d, %%u0, %d;\n", info->prefix, number, number);
        else if (info->bits == 32)
            text_printf(out, "xor.b32 %s%d, %%t0, %d;\n", info->prefix, number, number);
        else text_printf(out, "cvt.u16.u32 %s%d, %%t0;\n", info->prefix, number);
    }
    for (int p = 0; p < POOL_INFO[POOL_PRED].count; p++)
        text_printf(out, "and.b32 %%t1, %%t0, %d;\nsetp.ne.u32 %%p%d, %%t1, 0;\n", 1 << p, p);
    declare_local(body, out);
}

/* The function's result is a sum of everything that it has written. */
static void write_function_epilogue(const Body *body, Text *out) {
    static const char *const scratch[] = {[16] = "%s0", [32] = "%t0", [64] = "%u0"};
    gather_predicates(out);
    text_add(out, "mov.b32 %t2, %t0;\n");
    for (int value = 0; value < pool_value(POOL_PRED, 0); value++) {
        int number;
        char name[16];
        const Pool pool = pool_of_value(value, &number);
        const int bits = POOL_INFO[pool].bits;
        if (!is_written(body, pool, number)) continue;
        snprintf(name, sizeof name, "%s%d", POOL_INFO[pool].prefix, number);
        pool_write_canonical(pool, name, scratch[bits], out);
        if (bits == 16) text_add(out, "cvt.u32.u16 %t0, %s0;\n");
        if (bits == 64) text_add(out, "mov.b64 {%t0, %t1}, %u0;\nxor.b32 %t0, %t0, %t1;\n");
        text_add(out, "mad.lo.u32 %t2, %t2, 31, %t0;\n");
    }
    text_add(out, "st.param.b32 [result], %t2;\nret;\n");
}

/* ---- Writing ---- */

static int count_lines(const char *text) {
    int lines = 0;
    for (const char *at = text; (at = strchr(at, '\n')); at++)
        lines++;
    return lines;
}

static void write_statements(Body *body, Text *ptx, int *line) {
    for (int i = 0; i < body->count; i++) {
        Statement *statement = &body->statements[i];
        statement->line = statement->is_dropped ? 0 : *line;
        if (statement->is_dropped) continue;
        const size_t before = ptx->length;
        text_add_bytes(ptx, body->text.bytes + statement->start, statement->length);
        statement->lines = count_lines(ptx->bytes + before);
        *line += statement->lines;
    }
}

static void write_body(Program *program, int index, Text *ptx, int *line) {
    Body *body = &program->bodies[index];
    Text around = {0};
    if (index)
        text_printf(&around, ".func (.param .b32 result) f%u_%d(.param .b32 a, .param .b64 b)\n{\n",
                    program->number, index);
    else text_printf(&around, ".visible .entry k%u" HARNESS_PARAMETERS "\n{\n", program->number);
    declare_registers(&around);
    if (index) write_function_prologue(body, &around);
    else write_kernel_prologue(program, &around);
    text_add(ptx, text_string(&around));
    *line += count_lines(text_string(&around));
    write_statements(body, ptx, line);
    text_clear(&around);
    if (index) write_function_epilogue(body, &around);
    else write_kernel_epilogue(body, &around);
    text_add(&around, "}\n");
    text_add(ptx, text_string(&around));
    *line += count_lines(text_string(&around));
    text_free(&around);
}

void program_write(Program *program, Text *ptx, int *line) {
    for (int b = PROGRAM_BODIES - 1; b >= 0; b--)
        if (b == 0 || program->bodies[b].count) write_body(program, b, ptx, line);
}

void program_write_header(uint64_t seed, Text *ptx, int *line) {
    uint64_t state = seed;
    const size_t before = ptx->length;
    text_add(ptx, HARNESS_HEADER);
    text_printf(ptx, ".const .align 16 .b32 table[%d] = {", PROGRAM_TABLE_BYTES / 4);
    for (int i = 0; i < PROGRAM_TABLE_BYTES / 4; i++)
        text_printf(ptx, "%s0x%x", i ? "," : "", (unsigned)values_next(&state));
    text_add(ptx, "};\n");
    *line = 1 + count_lines(ptx->bytes + before);
}

void program_print(const Program *program, Text *out) {
    static const char *const names[PROGRAM_BODIES] = {"kernel", "function 1", "function 2"};
    for (int b = 0; b < PROGRAM_BODIES; b++) {
        const Body *body = &program->bodies[b];
        if (body->count) text_printf(out, "%s:\n", names[b]);
        for (int i = 0; i < body->count; i++)
            if (!body->statements[i].is_dropped)
                text_add_bytes(out, body->text.bytes + body->statements[i].start,
                               body->statements[i].length);
    }
}
