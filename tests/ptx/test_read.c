/* The content of a module after reading: directives, variables, initializers, operands. The
 * program's argument is the folder with the corpus. */
#include "ptx_test.h"

#include <stdlib.h>

static const char *corpus; /* folder, set only by main */

static PtxModule *read_corpus(const char *name) {
    char path[512];
    size_t length;
    snprintf(path, sizeof path, "%s/%s", corpus, name);
    char *text = text_read_file(path, 1 << 20, &length);
    if (!text) fail_msg("cannot read %s", path);
    PtxModule *module = ptx_test_read(text);
    free(text);
    return module;
}

/* The bytes of a variable's initializer at `offset`, little-endian; runs must not overlap. */
static uint64_t initial(const PtxModule *module, const char *name, uint64_t offset, int size) {
    const PtxVar *var = ptx_find_var(module, name);
    uint64_t value = 0;
    assert_non_null(var);
    for (uint32_t i = 0; i < var->init_count; i++) {
        const PtxInit *init = &var->inits[i];
        for (int k = 0; init->bytes && k < size; k++) {
            uint64_t at = offset + (uint64_t)k;
            if (at >= init->offset && at < init->offset + init->size)
                value |= (uint64_t)init->bytes[at - init->offset] << 8 * k;
        }
    }
    return value;
}

static void test_module(void **state) {
    (void)state;
    PtxModule *m = read_corpus("directives.ptx");
    assert_int_equal(m->version_major, 8);
    assert_int_equal(m->version_minor, 8);
    assert_int_equal(m->target, 90);
    assert_int_equal(m->address_bits, 64);
    assert_int_equal(m->source_file_count, 3);
    assert_string_equal(m->source_files[1], "kernel.cu");
    assert_null(m->source_files[0]);
    assert_true(ptx_find_var(m, "dynamic_memory")->is_incomplete);
    assert_true(ptx_find_var(m, "managed_word")->is_managed);
    assert_int_equal(ptx_find_var(m, "weak_value")->linkage, PTX_WEAK);
    assert_int_equal(ptx_find_var(m, "common_word")->linkage, PTX_COMMON);
    assert_int_equal(ptx_find_var(m, "old_texture")->space, PTX_SPACE_TEX);
    assert_null(ptx_find_var(m, "nothing"));
    assert_null(ptx_find_function(m, "nothing"));
    ptx_module_free(m);
}

static void test_initialisers(void **state) {
    (void)state;
    PtxModule *m = read_corpus("directives.ptx");
    static const int32_t table[] = {1, 2, 3, -4, 6, 9};
    for (int i = 0; i < 6; i++)
        assert_int_equal((int32_t)initial(m, "table", (uint64_t)i * 4, 4), table[i]);
    assert_int_equal(ptx_find_var(m, "table")->size, 24);
    assert_int_equal(initial(m, "weak_value", 0, 4), 0x3F800000);
    assert_int_equal(initial(m, "pi", 0, 8), 0x400921FB54442D18);
    assert_int_equal(initial(m, "text", 0, 6), 0x6F6C6C6568); /* "hello" */
    static const uint32_t floats[] = {0x3F800000, 0x40000000, 0x40400000, 0x40800000,
                                      0x40A00000, 0x40C00000, 0x3F400000, 0xC1000000};
    for (int i = 0; i < 8; i++)
        assert_int_equal(initial(m, "vectors", (uint64_t)i * 4, 4), floats[i]);
    const PtxVar *pointers = ptx_find_var(m, "pointers");
    assert_ptr_equal(pointers->inits[0].var, ptx_find_var(m, "text"));
    assert_true(pointers->inits[1].is_generic);
    assert_int_equal(pointers->inits[1].addend, 2);
    assert_int_equal(pointers->inits[1].offset, 8);
    assert_int_equal(pointers->inits[2].addend, 8);
    assert_int_equal(pointers->inits[2].byte, 255);
    const PtxVar *bytes = ptx_find_var(m, "bytes_of_address");
    assert_int_equal(bytes->inits[0].byte, 0);
    assert_int_equal(bytes->inits[1].byte, 1);
    const PtxVar *functions = ptx_find_var(m, "functions");
    assert_ptr_equal(functions->inits[1].function, ptx_find_function(m, "square"));
    ptx_module_free(m);
}

/* An array without a size takes the size of its initializer; gaps between nested braces stay
 * zero. */
static void test_partial_initialisers(void **state) {
    (void)state;
    PtxModule *m = ptx_test_read(PTX_HEADER ".global .u16 open[] = {1, 2, 3};\n"
                                            ".global .u32 gaps[2][1000000000] = {{7}, {8, 9}};\n"
                                            ".global .b8 flat[2][2] = {1, 2, 3, 4};\n"
                                            ".global .u32 sizes[2] = {1 ? 2 : 3, (.s64)-1 >> 60};\n"
                                            ".global .u32 empty[2] = {};\n"
                                            ".entry k() { ret; }\n");
    assert_int_equal(ptx_find_var(m, "open")->size, 6);
    assert_false(ptx_find_var(m, "open")->is_incomplete);
    assert_int_equal(initial(m, "gaps", 4000000004, 4), 9);
    assert_int_equal(ptx_find_var(m, "gaps")->init_count, 2);
    assert_int_equal(initial(m, "flat", 0, 4), 0x04030201);
    assert_int_equal(initial(m, "sizes", 0, 8), 0xFFFFFFFF00000002);
    assert_int_equal(ptx_find_var(m, "empty")->init_count, 0);
    ptx_module_free(m);
}

/* A floating-point number as the initializer of a variable of bits, as in the ptxas of CUDA
 * 13.0. */
static void test_floats_initialise_bits(void **state) {
    (void)state;
    PtxModule *m = ptx_test_read(PTX_HEADER ".global .b32 word[4] = {0.1, 0d3FB999999999999A, "
                                            "0f3DCCCCCD, 1.5+1.0};\n"
                                            ".global .b64 wide[3] = {0.1, 0f3DCCCCCD, -1.0};\n"
                                            ".global .b16 half[2] = {0.1, 0f3DCCCCCD};\n"
                                            ".global .b8 byte = 0.1;\n"
                                            ".global .b128 whole[2] = {0.1, 5};\n"
                                            ".entry k() { ret; }\n");
    assert_int_equal(initial(m, "word", 0, 8), 0x3DCCCCCD3DCCCCCD);
    assert_int_equal(initial(m, "word", 8, 8), 0x402000003DCCCCCD);
    assert_int_equal(initial(m, "wide", 0, 8), 0x3FB999999999999A);
    assert_int_equal(initial(m, "wide", 8, 8), 0x3DCCCCCD);
    assert_int_equal(initial(m, "wide", 16, 8), 0xBFF0000000000000);
    assert_int_equal(initial(m, "half", 0, 4), 0xCCCD999A);
    assert_int_equal(initial(m, "byte", 0, 1), 0x9A);
    assert_int_equal(initial(m, "whole", 0, 8), 0x3FB999999999999A);
    assert_int_equal(initial(m, "whole", 8, 8), 0);
    assert_int_equal(initial(m, "whole", 16, 8), 5);
    assert_int_equal(initial(m, "whole", 24, 8), 0);
    ptx_module_free(m);
}

/* Registers of bits may appear in a vector with integer and floating-point registers, and '_' may
 * replace a whole vector. */
static void test_vectors_of_several_kinds(void **state) {
    (void)state;
    PtxModule *m = ptx_test_read_body("ld.global.v2.b32 {%f1,%r1}, [%rd1];\n"
                                      "ld.global.v4.b32 {%f1,%r1,%u1,%s1}, [%rd1];\n"
                                      "st.global.v2.b32 [%rd1], {%r1,0f3F800000};\n"
                                      "ld.global.v2.f32 _, [%rd1];\n"
                                      "atom.global.add.v4.f32 _, [%rd1], {%f1,%f2,%f3,%f4};\n"
                                      "mov.v4.u32 _, %tid;\nret;");
    const PtxFunction *f = ptx_find_function(m, "k");
    const int elements[] = {2, 4, 2, 2, 4, 4};
    for (int i = 0; i < 6; i++)
        assert_int_equal(f->insts[i].operands[i == 2 ? 1 : 0].count, elements[i]);
    for (int i = 3; i < 6; i++)
        assert_int_equal(f->insts[i].operands[0].items[1].kind, PTX_OPERAND_SINK);
    ptx_module_free(m);
}

static void test_special_registers(void **state) {
    (void)state;
    PtxModule *m = ptx_test_read_body("mov.u32 %r1, %ctaid.w;\nmov.u32 %r1, %ctaid.g;\n"
                                      "mov.v4.b32 {%r1,%f1,_,%r4}, %nctaid;\nret;");
    const PtxInst *insts = ptx_find_function(m, "k")->insts;
    assert_int_equal(insts[0].operands[1].sreg, PTX_SREG_CTAID_W);
    assert_int_equal(insts[1].operands[1].sreg, PTX_SREG_CTAID_Y);
    assert_int_equal(insts[2].operands[1].sreg, PTX_SREG_NCTAID_X);
    assert_true(insts[2].operands[1].is_whole && !insts[0].operands[1].is_whole);
    ptx_module_free(m);
}

/* The arrive operation of a copy takes a 32-bit address as one in shared memory. */
static void test_arrival_by_32_bits(void **state) {
    (void)state;
    PtxModule *m = ptx_test_read_body("cp.async.mbarrier.arrive.noinc.b64 [%r1];\n"
                                      "cp.async.mbarrier.arrive.b64 [%rd1];\nret;");
    const PtxInst *insts = ptx_find_function(m, "k")->insts;
    assert_int_equal(insts[0].space, PTX_SPACE_SHARED);
    assert_int_equal(insts[1].space, PTX_SPACE_NONE);
    ptx_module_free(m);
    m = ptx_test_read(".version 7.0\n.target sm_80\n.address_size 32\n.entry k() { .reg .b32 r; "
                      "cp.async.mbarrier.arrive.b64 [r]; ret; }\n");
    assert_int_equal(ptx_find_function(m, "k")->insts[0].space, PTX_SPACE_NONE);
    ptx_module_free(m);
}

static void test_functions(void **state) {
    (void)state;
    PtxModule *m = read_corpus("directives.ptx");
    const PtxFunction *f = ptx_find_function(m, "attributes");
    assert_true(f->is_kernel && f->is_defined);
    assert_int_equal(f->linkage, PTX_VISIBLE);
    assert_int_equal(f->parameter_count, 3);
    assert_true(f->parameters[0].is_pointer);
    assert_int_equal(f->parameters[1].address, 8);
    assert_int_equal(f->parameters[1].size, 24);
    assert_int_equal(f->parameters[2].address, 32);
    assert_int_equal(f->parameter_bytes, 36);
    assert_int_equal(f->max_threads[0] * f->max_threads[1] * f->max_threads[2], 512);
    assert_int_equal(f->min_ctas_per_sm, 2);
    assert_int_equal(f->max_registers, 40);
    assert_int_equal(f->local_bytes, 64);
    assert_int_equal(f->param_area_bytes, 8);
    assert_int_equal(f->shared_bytes, 112); /* 100, rounded up for the dynamic array */
    assert_int_equal(m->locs[f->insts[1].loc - 1].line, 10);
    assert_int_equal(ptx_find_function(m, "required_threads")->required_threads[0], 64);
    const PtxFunction *alias = ptx_find_function(m, "other_square");
    assert_true(alias->is_defined);
    assert_ptr_equal(alias->insts, ptx_find_function(m, "square")->insts);
    assert_true(ptx_find_function(m, "stops")->is_noreturn);
    assert_true(ptx_find_function(m, "square")->returns[0].address == 4); /* after the parameters */
    const PtxFunction *add_one = ptx_find_function(m, "add_one");
    assert_true(add_one->parameters[0].reg >= 0 && add_one->returns[0].reg >= 0);
    ptx_module_free(m);
}

static void test_old(void **state) {
    (void)state;
    PtxModule *m = read_corpus("old.ptx");
    const PtxFunction *f = ptx_find_function(m, "scale");
    assert_int_equal(m->address_bits, 32);
    assert_int_equal(m->target, 13);
    assert_int_equal(f->insts[0].operands[1].sreg, PTX_SREG_CTAID_X);
    assert_int_equal(f->insts[0].type, PTX_U16);
    assert_true(f->uses_barrier);
    ptx_module_free(m);
}

/* Without .address_size the first address that is used determines the width of addresses. 32-bit
 * addresses of small spaces do not count, because they may be short in any module. */
static void test_width_of_addresses(void **state) {
    (void)state;
    static const struct {
        const char *body;
        int bits;
    } texts[] = {
        {"st.global.u32 [d], 1;", 64},
        {"st.global.u32 [r], 1;", 32},
        {"ld.u32 r, [d];", 64},
        {"st.shared.u32 [r], 1; st.global.u32 [d], 1;", 64},
        {"mov.u32 r, tile; ld.global.u32 r, [d];", 64},
        {"mov.u32 r, data; ld.shared.u32 r, [r];", 32},
        {"mov.u64 d, data;", 64},
        {"mov.u64 d, f; shape: .callprototype _ (); call d, shape;", 64},
        {"shape: .callprototype _ (); call r, shape;", 32},
        {"ret;", 32},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 ".version 1.4\n.target sm_13\n.func f() { ret; }\n.global .u32 data;\n"
                 ".shared .u32 tile;\n.entry k() { .reg .u64 d; .reg .u32 r; %s }\n",
                 texts[i].body);
        PtxModule *m = ptx_test_read(text);
        if (m->address_bits != texts[i].bits) fail_msg("%s", texts[i].body);
        ptx_module_free(m);
    }
}

/* As compilers of 2010 wrote them: without semicolon before any directive and at the end. */
static void test_prototypes_without_semicolon(void **state) {
    (void)state;
    PtxModule *m =
        ptx_test_read(PTX_HEADER ".visible .func (.reg .u32 r) twice (.reg .u32 x)\n"
                                 ".func stops () .noreturn\n.file 1 \"a.cu\"\n"
                                 ".func g (.param .u32 x)\n.global .u32 data;\n"
                                 ".entry k() { .reg .u32 x; call (x), twice, (21); ret; }\n"
                                 ".visible .func (.reg .u32 r) twice (.reg .u32 x)\n"
                                 "{ add.u32 r, x, x; ret; }\n.func last ()\n");
    assert_true(ptx_find_function(m, "twice")->is_defined);
    assert_true(ptx_find_function(m, "stops")->is_noreturn);
    assert_false(ptx_find_function(m, "last")->is_defined);
    assert_non_null(ptx_find_var(m, "data"));
    ptx_module_free(m);
}

/* Messages and reports contain names of source files, and a terminal would execute an escape
 * sequence. */
static void test_control_characters_in_names_of_files(void **state) {
    (void)state;
    PtxModule *m =
        ptx_test_read(PTX_HEADER ".file 1 \"a\x1b[31m\x7f\x07.cu\"\n.entry k() { ret; }\n");
    assert_string_equal(m->source_files[1], "a?[31m??.cu");
    ptx_module_free(m);
}

/* Lists of coordinates and offsets of a texture or surface may have two or four elements where
 * fewer are needed; the others are ignored. */
static void test_more_coordinates_than_needed(void **state) {
    (void)state;
    PtxModule *m =
        ptx_test_read_body("tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%rd1, {%f5,%f6,%f7,1.0}];\n"
                           "tex.1d.v4.f32.s32 {%f1,%f2,%f3,%f4}, [%rd1, {%s1,%s2}];\n"
                           "tex.a1d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%rd1, {%r1,%f1,%f2,%f3}];\n"
                           "tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%rd1, {%f5,%f6}], {1,2,0,0};\n"
                           "sust.b.1d.b32.trap [%rd1, {%s1,%s2,%s3,%s4}], %r1;\nret;");
    const PtxInst *insts = ptx_find_function(m, "k")->insts;
    const int counts[] = {2, 1, 2, 2, 1};
    for (int i = 0; i < 5; i++)
        assert_int_equal(insts[i].operands[PTX_TEXTURE_COORDINATES].count, counts[i]);
    assert_int_equal(insts[3].operands[PTX_TEXTURE_OFFSET].count, 2);
    ptx_module_free(m);
}

static void test_control(void **state) {
    (void)state;
    PtxModule *m = read_corpus("control.ptx");
    const PtxFunction *f = ptx_find_function(m, "control");
    int branches = 0, calls = 0;
    for (int32_t i = 0; i < f->inst_count; i++) {
        const PtxInst *inst = &f->insts[i];
        if (inst->op == PTX_OP_BRX) {
            assert_int_equal(inst->operands[1].kind, PTX_OPERAND_TARGETS);
            assert_int_equal(inst->operands[1].count, 3);
            assert_int_equal(inst->operands[1].items[0].target, inst->operands[1].items[2].target);
        }
        if (inst->op == PTX_OP_BRA && inst->line == 25) {
            assert_int_equal(f->insts[inst->operands[0].target].line, 24); /* its own "again" */
            branches++;
        }
        if (inst->op != PTX_OP_CALL) continue;
        static const PtxOperandKind last[] = {PTX_OPERAND_FUNC, PTX_OPERAND_PROTO,
                                              PTX_OPERAND_TARGETS};
        assert_int_equal(inst->operands[inst->operand_count - 1].kind, last[calls]);
        calls++;
    }
    assert_int_equal(branches, 1);
    assert_int_equal(calls, 3);
    assert_int_equal(f->param_area_bytes, 8);
    ptx_module_free(m);
}

/* One row each: a statement, and the kind of its operand number `index`. */
static const struct {
    const char *statement;
    int index;
    PtxOperandKind kind;
    int64_t imm;
} operands[] = {
    {"mov.u32 %r1, 0x10;", 1, PTX_OPERAND_IMM, 16},
    {"mov.u32 %r1, 010;", 1, PTX_OPERAND_IMM, 8},
    {"mov.u32 %r1, 0b101;", 1, PTX_OPERAND_IMM, 5},
    {"mov.s32 %s1, -1;", 1, PTX_OPERAND_IMM, -1},
    {"mov.u32 %r1, -1;", 1, PTX_OPERAND_IMM, 0xFFFFFFFF},
    {"mov.u16 %us1, 70000;", 1, PTX_OPERAND_IMM, 4464},
    {"mov.u32 %r1, WARP_SZ;", 1, PTX_OPERAND_IMM, 32},
    {"mov.u32 %r1, WARP_SZ*2+1;", 1, PTX_OPERAND_IMM, 65},
    {"mov.u32 %r1, 2+3*4<<1;", 1, PTX_OPERAND_IMM, 28},
    {"mov.u32 %r1, 7&3|8^1;", 1, PTX_OPERAND_IMM, 11},
    {"mov.u32 %r1, 1<2 && 3!=4 || 0;", 1, PTX_OPERAND_IMM, 1},
    {"mov.u32 %r1, 17/5*10+17 % 5;", 1, PTX_OPERAND_IMM, 32},
    {"mov.s32 %s1, -17/5;", 1, PTX_OPERAND_IMM, -3},
    {"mov.s32 %s1, -17>>2;", 1, PTX_OPERAND_IMM, -5},
    {"mov.s64 %rd1, (-9223372036854775807-1)/-1;", 1, PTX_OPERAND_IMM, INT64_MIN},
    {"mov.u32 %r1, !5 + ~0U;", 1, PTX_OPERAND_IMM, 0xFFFFFFFF},
    {"mov.u64 %rd1, ~0 >> 1;", 1, PTX_OPERAND_IMM, INT64_MAX},
    {"mov.u64 %rd1, -1U >> 1;", 1, PTX_OPERAND_IMM, INT64_MAX},
    {"mov.u64 %rd1, -1 >> 1;", 1, PTX_OPERAND_IMM, -1},
    {"mov.u64 %rd1, (!1U) - 1 < 0;", 1, PTX_OPERAND_IMM, 1},
    {"mov.f32 %f1, .5;", 1, PTX_OPERAND_IMM, 0x3F000000},
    {"mov.f32 %f1, -1.;", 1, PTX_OPERAND_IMM, 0xBF800000},
    {"mov.f32 %f1, 1.e2;", 1, PTX_OPERAND_IMM, 0x42C80000},
    {"mov.f64 %d1, 2.0*3.0-1.0;", 1, PTX_OPERAND_IMM, 0x4014000000000000},
    {"mov.f32 %f1, 1.0/3.0;", 1, PTX_OPERAND_IMM, 0x3EAAAAAB},
    {"mov.u32 %r1, 1.0<2.0;", 1, PTX_OPERAND_IMM, 1},
    {"mov.u32 %r1, 1 ? 2 : 3;", 1, PTX_OPERAND_IMM, 2},
    {"mov.u64 %rd1, (.u64)-1 > 0;", 1, PTX_OPERAND_IMM, 1},
    {"mov.f32 %f1, 1.5;", 1, PTX_OPERAND_IMM, 0x3FC00000},
    {"mov.f32 %f1, -0f3FC00000;", 1, PTX_OPERAND_IMM, 0xBFC00000},
    {"mov.f32 %f1, 0d3FF8000000000000;", 1, PTX_OPERAND_IMM, 0x3FC00000},
    {"mov.f64 %d1, 1e3;", 1, PTX_OPERAND_IMM, 0x408F400000000000},
    {"mov.f64 %d1, 0f3FC00000;", 1, PTX_OPERAND_IMM, 0x3FF8000000000000},
    {"mov.b32 %r1, 0f7FC00001;", 1, PTX_OPERAND_IMM, 0x7FC00001},
    {"mov.pred %p1, 7;", 1, PTX_OPERAND_IMM, 1},
    {"selp.b32 %r1, 1, 2, !1;", 3, PTX_OPERAND_IMM, 0},
    {"mov.u32 %r1, %tid.y;", 1, PTX_OPERAND_SREG, 0},
    {"mov.u32 %r1, %envreg31;", 1, PTX_OPERAND_SREG, 31},
    {"mov.u64 %rd1, data+12;", 1, PTX_OPERAND_ADDRESS, 12},
    {"mov.u64 %rd1, data[3];", 1, PTX_OPERAND_ADDRESS, 3},
    {"mov.u64 %rd1, k;", 1, PTX_OPERAND_FUNC, 0},
    {"ld.global.u32 %r1, [%rd1];", 1, PTX_OPERAND_MEM, 0},
    {"ld.global.u32 %r1, [%rd1+-8];", 1, PTX_OPERAND_MEM, -8},
    {"ld.global.u32 %r1, [%rd1-8];", 1, PTX_OPERAND_MEM, -8},
    {"ld.global.u32 %r1, [4096];", 1, PTX_OPERAND_MEM, 4096},
    {"ld.global.u32 %r1, data[4];", 1, PTX_OPERAND_MEM, 4},
    {"setp.eq.s32 %p1|%p2, %r1, %r2;", 0, PTX_OPERAND_PAIR, 0},
    {"atom.global.add.u32 _, [%rd1], 1;", 0, PTX_OPERAND_SINK, 0},
    {"mov.b64 {%r1, %r2}, %rd1;", 0, PTX_OPERAND_VECTOR, 0},
    /* one element in braces, as Triton writes it */
    {"@%p1 ld.global.b32 { %r1 }, [ %rd1 + 0 ];", 0, PTX_OPERAND_REG, 0},
    {"ld.shared.b16 { %us1 }, [ %r2 + 8 ];", 0, PTX_OPERAND_REG, 0},
    {"ld.global.nc.b64 { %rd2 }, [ %rd1 ];", 0, PTX_OPERAND_REG, 0},
    {"ldu.global.b32 {%r1}, [%rd1];", 0, PTX_OPERAND_REG, 0},
    {"ld.acquire.gpu.global.b32 {%r1}, [%rd1];", 0, PTX_OPERAND_REG, 0},
    {"@%p1 st.global.b32 [ %rd1 + 4 ], { %r1 };", 1, PTX_OPERAND_REG, 0},
    {"st.shared.b32 [ %r2 + 0 ], {7};", 1, PTX_OPERAND_IMM, 7},
    {"mov.b32 {%r1}, %r2;", 0, PTX_OPERAND_REG, 0},
    {"mov.b32 %r1, {%r2};", 1, PTX_OPERAND_REG, 0},
};

static void test_operands(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof operands / sizeof *operands; i++) {
        PtxModule *m = ptx_test_read_body(operands[i].statement);
        const PtxOperand *operand = &m->functions[0]->insts[0].operands[operands[i].index];
        if (operand->kind != operands[i].kind || operand->imm != operands[i].imm)
            fail_msg("%s: kind %d, imm %lld", operands[i].statement, operand->kind,
                     (long long)operand->imm);
        assert_int_equal(m->functions[0]->insts[0].line, 5);
        ptx_module_free(m);
    }
}

static void test_modifiers(void **state) {
    (void)state;
    PtxModule *m = ptx_test_read_body("@!%p3 fma.rz.ftz.sat.f32 %f1, %f2, %f3, %f4;\n"
                                      "setp.ltu.xor.f64 %p1, %d1, %d2, !%p2;\n"
                                      "ld.volatile.global.v2.f32 {%f1, _}, [%rd1];\n"
                                      "cvt.rzi.s32.f64 %r1, %d1;\n"
                                      "ld.u32 %r1, [data];\n"
                                      "vadd.s32.u32.s32.sat %r1, %r2.b3, %r3.h1;\n"
                                      "membar.gl;\nbar.red.or.pred %p1, 0, %p2;\n"
                                      "add .sat .s32 %r1, %r2, 5;\n");
    const PtxInst *i = m->functions[0]->insts;
    assert_int_equal(i[0].round, PTX_RZ);
    assert_int_equal(i[0].flags, PTX_FLAG_FTZ | PTX_FLAG_SAT);
    assert_true(i[0].guard >= 0 && i[0].guard_negated && i[0].has_destination);
    assert_int_equal(i[1].compare, PTX_LTU);
    assert_int_equal(i[1].sub2, PTX_SUB_XOR);
    assert_true(i[1].operands[3].negate);
    assert_int_equal(i[2].vector, 2);
    assert_int_equal(i[2].flags, PTX_FLAG_VOLATILE);
    assert_int_equal(i[3].type, PTX_S32);
    assert_int_equal(i[3].type2, PTX_F64);
    assert_int_equal(i[4].space, PTX_SPACE_GLOBAL); /* that of the variable */
    assert_int_equal(i[5].type3, PTX_S32);
    assert_int_equal(i[5].operands[1].select, PTX_SELECT_B3);
    assert_int_equal(i[5].operands[2].select, PTX_SELECT_H1);
    assert_int_equal(i[6].scope, PTX_GPU);
    assert_false(i[6].has_destination);
    assert_int_equal(i[7].sub, PTX_SUB_BAR_RED);
    assert_int_equal(i[7].sub2, PTX_SUB_OR);
    assert_int_equal(i[8].flags, PTX_FLAG_SAT);
    ptx_module_free(m);
}

/* A kernel's shared memory contains what the kernel reaches. Functions that kernels share have one
 * address. */
static void test_shared_layout(void **state) {
    (void)state;
    PtxModule *m = ptx_test_read(
        PTX_HEADER
        ".shared .align 4 .b8 common[12]; .shared .align 16 .b8 unused[1000];\n"
        ".extern .shared .align 64 .b8 dynamic[];\n"
        ".func f() { .reg .b32 r; .shared .align 8 .b8 own[8]; ld.shared.b32 r, [own]; ret; }\n"
        ".entry a() { .reg .b32 r; .shared .b8 mine[3]; ld.shared.b8 r, [mine]; call f; ret; }\n"
        ".entry b() { .reg .b32 r; ld.shared.b32 r, [common]; call f; ret; }\n"
        ".entry c() { .reg .b32 r; ld.shared.b32 r, [common]; ld.shared.b32 r, [dynamic]; ret; }\n"
        ".entry d() { ret; }\n");
    assert_int_equal(ptx_find_var(m, "common")->address, 0);
    const PtxFunction *f = ptx_find_function(m, "f");
    assert_int_equal(f->locals[0]->address, 16); /* after common, because of b */
    assert_int_equal(ptx_find_function(m, "a")->shared_bytes, 27);
    assert_int_equal(ptx_find_function(m, "a")->locals[0]->address, 24);
    assert_int_equal(ptx_find_function(m, "b")->shared_bytes, 24);
    assert_int_equal(ptx_find_function(m, "c")->shared_bytes, 64);
    assert_int_equal(ptx_find_function(m, "d")->shared_bytes, 0);
    ptx_module_free(m);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_module),
                                       cmocka_unit_test(test_initialisers),
                                       cmocka_unit_test(test_partial_initialisers),
                                       cmocka_unit_test(test_floats_initialise_bits),
                                       cmocka_unit_test(test_vectors_of_several_kinds),
                                       cmocka_unit_test(test_special_registers),
                                       cmocka_unit_test(test_arrival_by_32_bits),
                                       cmocka_unit_test(test_functions),
                                       cmocka_unit_test(test_old),
                                       cmocka_unit_test(test_width_of_addresses),
                                       cmocka_unit_test(test_prototypes_without_semicolon),
                                       cmocka_unit_test(test_more_coordinates_than_needed),
                                       cmocka_unit_test(test_control_characters_in_names_of_files),
                                       cmocka_unit_test(test_control),
                                       cmocka_unit_test(test_operands),
                                       cmocka_unit_test(test_modifiers),
                                       cmocka_unit_test(test_shared_layout)};
    corpus = argc > 1 ? argv[1] : ".";
    return cmocka_run_group_tests(tests, NULL, NULL);
}
