/* The decoder's output for PTX: handlers, operands, flow, the facts for the timing model, and the
 * messages about unsupported features. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "isa/exec/handlers.h"

#define HEAD ".version 8.6\n.target sm_90\n.address_size 64\n"

typedef struct Decoded {
    PtxModule *module;
    IsaProgram *program;
    Diag *diag;
} Decoded;

static Decoded decode(const char *text) {
    Decoded d = {.diag = diag_new()};
    d.module = ptx_read("test.ptx", text, strlen(text), d.diag);
    if (d.module && ptx_link(&d.module, 1, d.diag))
        d.program = isa_decode_variant(d.module, isa_find_variant("base"), d.diag);
    if (!d.module) print_message("%s", diag_text(d.diag));
    return d;
}

static void release(Decoded *d) {
    isa_program_free(d->program);
    ptx_module_free(d->module);
    diag_free(d->diag);
}

static IsaExec *handler(IsaHandler which) { return isa_find_variant("base")->table[which]; }

/* The register's row, as an operand. */
static IsaOperand row_of(const Decoded *d, const char *name) {
    const PtxFunction *function = d->module->functions[0];
    for (int i = 0; i < function->reg_count; ++i)
        if (strcmp(function->regs[i].name, name) == 0)
            return function->regs[i].slot * ISA_ROW_BYTES;
    fail_msg("no register %s", name);
    return 0;
}

/* The value in lane 31 of a constant operand. */
static uint64_t constant_of(const Decoded *d, IsaOperand operand, bool is_wide) {
    assert_true(operand & 1);
    const void *row = d->program->constants + (operand & ~1);
    return is_wide ? ((const uint64_t *)row)[31] : ((const uint32_t *)row)[31];
}

static void test_operands_and_constants(void **state) {
    (void)state;
    Decoded d =
        decode(HEAD ".visible .entry k() { .reg .b32 %r<5>; .reg .b64 %d<3>; .reg .f32 %f<3>;\n"
                    "mov.u32 %r1, 7;\n"
                    "add.s32 %r2, %r1, -3;\n"
                    "sub.s32 %r3, %r2, -3;\n"
                    "mad.wide.s32 %d1, %r3, 7, 7;\n"
                    "mul.f32 %f1, %f2, 0f40000000;\n"
                    "st.global.u32 [%d1+16], %r3; st.global.f32 [%d1], %f1; ret; }");
    const IsaInst *inst = d.program->insts;
    assert_ptr_equal(inst[0].exec, handler(ISA_DO_MOV_32));
    assert_int_equal(constant_of(&d, inst[0].operand[1], false), 7);
    assert_ptr_equal(inst[1].exec, handler(ISA_DO_ADD_32));
    assert_int_equal(inst[1].operand[0], row_of(&d, "%r2"));
    assert_int_equal(inst[1].operand[1], row_of(&d, "%r1"));
    assert_int_equal(constant_of(&d, inst[1].operand[2], false), (uint32_t)-3);
    assert_int_equal(inst[1].operand[2], inst[2].operand[2]); /* each value is stored once */
    assert_ptr_equal(inst[3].exec, handler(ISA_DO_MAD_WIDE_S32));
    assert_int_equal(constant_of(&d, inst[3].operand[2], false), 7);
    assert_int_equal(constant_of(&d, inst[3].operand[3], true), 7);
    assert_int_equal(constant_of(&d, inst[4].operand[2], false), 0x40000000);
    assert_ptr_equal(inst[5].exec, handler(ISA_DO_ST_WORD_GLOBAL));
    assert_int_equal(inst[5].operand[1], row_of(&d, "%d1"));
    assert_int_equal(inst[5].imm, 16);
    assert_int_equal(inst[5].size, 4);
    for (int i = 0; i < 7; ++i)
        assert_int_equal(inst[i].guard, ISA_PRED_TRUE);
    release(&d);
}

static void test_modifiers_choose_handlers(void **state) {
    (void)state;
    static const struct {
        const char *line;
        IsaHandler handler;
        int sub;
        IsaClass op_class;
    } cases[] = {
        {"add.f32 %f0, %f1, %f2;", ISA_DO_ADD_F32, 0, ISA_CLASS_FP32_ADD},
        {"add.ftz.sat.f32 %f0, %f1, %f2;", ISA_DO_ADD_F32_MOD, ISA_MOD_FTZ | ISA_MOD_SAT,
         ISA_CLASS_FP32_ADD},
        {"fma.rm.f32 %f0, %f1, %f2, %f3;", ISA_DO_FMA_F32_DIR, ISA_ROUND_DOWN, ISA_CLASS_FP32_MAD},
        {"setp.gt.s32 %p0, %r1, %r2;", ISA_DO_SETP_LT_S32, 0, ISA_CLASS_OTHER},
        {"setp.ltu.f32 %p0, %f1, %f2;", ISA_DO_SETP_LE_F32, ISA_COMPARE_NEGATE, ISA_CLASS_OTHER},
        {"setp.ne.or.u32 %p0|%p2, %r1, %r2, !%p1;", ISA_DO_SETP_EQ_32,
         ISA_COMPARE_NEGATE | ISA_COMPARE_PAIR | ISA_COMPARE_OR | ISA_COMPARE_NEGATE_C,
         ISA_CLASS_OTHER},
        {"div.s32 %r0, %r1, %r2;", ISA_DO_DIV_S32, 0, ISA_CLASS_INT_DIV},
        {"rem.s32 %r0, %r1, %r2;", ISA_DO_REM_S32, 0, ISA_CLASS_INT_REM},
        {"sqrt.approx.ftz.f32 %f0, %f1;", ISA_DO_SQRT_F32_MOD, ISA_MOD_FTZ, ISA_CLASS_SFU},
        {"lop3.b32 %r0, %r1, %r2, %r3, 0x96;", ISA_DO_LOP3_32, 0x96, ISA_CLASS_OTHER},
        {"cvt.s32.s16 %r0, %h1;", ISA_DO_CVT_S16_32, 0, ISA_CLASS_OTHER},
        {"cvt.u32.s8 %d0, %r1;", ISA_DO_CVT_INT, 0, ISA_CLASS_OTHER},
        {"cvt.rzi.ftz.s32.f32 %r0, %f1;", ISA_DO_CVT_TO_INT, 0, ISA_CLASS_OTHER},
        {"shfl.sync.down.b32 %r0, %r1, 1, 31, -1;", ISA_DO_SHFL_DOWN, 0, ISA_CLASS_SHUFFLE},
        {"mul24.lo.s32 %r0, %r1, %r2;", ISA_DO_MUL24_LO_S32, 0, ISA_CLASS_MUL24},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        char text[1024] = HEAD ".visible .entry k() { .reg .b32 %r<5>; .reg .f32 %f<5>; "
                               ".reg .b64 %d<5>; .reg .b16 %h<5>; .reg .pred %p<5>;\n";
        strcat(strcat(text, cases[i].line), " ret; }");
        Decoded d = decode(text);
        assert_non_null(d.program);
        assert_ptr_equal(d.program->insts[0].exec, handler(cases[i].handler));
        assert_int_equal(d.program->insts[0].sub, cases[i].sub);
        assert_int_equal(d.program->infos[0].op_class, cases[i].op_class);
        release(&d);
    }
}

static void test_timing_is_told_the_registers(void **state) {
    (void)state;
    Decoded d =
        decode(HEAD ".visible .entry k() { .reg .b32 %r<5>; .reg .b64 %d<3>; .reg .pred %p<2>;\n"
                    "@!%p1 ld.global.nc.v2.u32 {%r1, %r2}, [%d1+8];\n"
                    "atom.shared.add.u32 %r3, [%d2], %r1;\n"
                    "red.global.max.s32 [%d1], %r2;\n"
                    "st.volatile.global.u32 [%d1], %r3; ret; }");
    const IsaInfo *info = d.program->infos;
    const IsaReg *regs = d.program->reg_pool;
    const PtxReg *names = d.module->functions[0]->regs;
    assert_int_equal(info[0].dst_count, 2);
    assert_int_equal(info[0].src_count, 0);
    assert_int_equal(info[0].address_count, 1);
    assert_int_equal(info[0].guard_count, 1);
    assert_string_equal(names[regs[info[0].regs].number].name, "%r1");
    assert_string_equal(names[regs[info[0].regs + 2].number].name, "%d1");
    assert_string_equal(names[regs[info[0].regs + 3].number].name, "%p1");
    assert_int_equal(info[0].memory, ISA_MEMORY_LOAD);
    assert_int_equal(info[0].space, PTX_SPACE_GLOBAL);
    assert_int_equal(info[0].element_bytes, 4);
    assert_int_equal(info[0].vector, 2);
    assert_int_equal(info[0].op_class, ISA_CLASS_MEMORY);
    assert_int_equal(info[0].line, 5);
    assert_true(d.program->insts[0].flags & ISA_GUARD_NEGATED);
    assert_int_equal(info[1].memory, ISA_MEMORY_ATOMIC);
    assert_int_equal(info[1].src_count, 1);
    assert_true(info[2].flags & ISA_IS_REDUCTION);
    assert_int_equal(d.program->insts[2].operand[0], ISA_SINK);
    assert_true(d.program->insts[2].flags & ISA_SIGNED);
    assert_true(info[3].flags & ISA_IS_VOLATILE);
    release(&d);
}

static void test_branches_go_to_pcs(void **state) {
    (void)state; /* cvt from a special register takes two instructions, so PCs shift */
    Decoded d =
        decode(HEAD ".visible .entry k() { .reg .b32 %r<3>; .reg .b64 %d<2>; .reg .pred %p<2>;\n"
                    "cvt.u64.u32 %d1, %tid.x;\n"
                    "setp.eq.u64 %p1, %d1, 0;\n"
                    "@%p1 bra DONE;\n"
                    "LIST: .branchtargets DONE, AGAIN;\n"
                    "AGAIN: cvt.u32.u64 %r1, %d1; brx.idx %r1, LIST;\n"
                    "DONE: bar.sync 0; ret; }");
    assert_non_null(d.program);
    const IsaInst *inst = d.program->insts;
    assert_ptr_equal(inst[0].exec, handler(ISA_DO_SREG));
    assert_ptr_equal(inst[1].exec, handler(ISA_DO_CVT_U32_64));
    assert_int_equal(inst[1].operand[1], inst[0].operand[0]);
    assert_int_equal(inst[3].flow, ISA_FLOW_BRANCH);
    assert_int_equal(inst[3].target, 6);
    assert_int_equal(inst[3].reconverge, 6);
    assert_int_equal(inst[5].flow, ISA_FLOW_BRANCH_INDEX);
    const uint32_t *list = &d.program->targets[inst[5].target];
    assert_int_equal(list[0], 2);
    assert_int_equal(list[1], 6);
    assert_int_equal(list[2], 4);
    assert_int_equal(inst[6].flow, ISA_FLOW_BARRIER);
    assert_int_equal(inst[7].flow, ISA_FLOW_RET);
    assert_int_equal(inst[8].flow, ISA_FLOW_EXIT);
    assert_int_equal(d.program->functions[0].end, 8);
    assert_int_equal(d.program->functions[0].pred_offset % 64, 0);
    assert_int_equal(d.program->functions[0].frame_bytes % ISA_ROW_BYTES, 0);
    release(&d);
}

static void test_variables_become_addresses(void **state) {
    (void)state;
    Decoded d =
        decode(HEAD ".shared .align 4 .b8 fixed[64]; .extern .shared .align 16 .b8 dynamic[];\n"
                    ".visible .entry k(.param .u64 first, .param .u32 second) {\n"
                    ".reg .b32 %r<6>; .reg .b64 %d<6>; .local .align 8 .b8 stack[32];\n"
                    "ld.param.u32 %r1, [second];\n"
                    "mov.u64 %d1, dynamic;\n"
                    "mov.u64 %d2, stack;\n"
                    "st.local.u32 [stack+8], %r1;\n"
                    "st.shared.u32 [fixed+4], %r1;\n"
                    "ld.shared.s8 %d3, [dynamic+1];\n"
                    "st.local.u64 [%d2], %d1; st.local.u64 [%d2+8], %d3; ret; }");
    assert_non_null(d.program);
    const IsaInst *inst = d.program->insts;
    assert_int_equal(inst[0].space, PTX_SPACE_PARAM);
    assert_int_equal(inst[0].imm, 8);
    assert_int_equal(inst[0].operand[1], ISA_SINK);
    assert_int_equal(constant_of(&d, inst[1].operand[1], true), 64);
    assert_ptr_equal(inst[2].exec, handler(ISA_DO_LOCAL_ADDRESS));
    assert_int_equal(inst[3].imm, 8);
    assert_true(inst[3].flags & ISA_FRAME_RELATIVE);
    assert_int_equal(inst[4].imm, 4);
    assert_int_equal(inst[5].imm, 65);
    assert_int_equal(inst[5].size, 1);
    assert_true((inst[5].flags & (ISA_SIGNED | ISA_DST_IS_64)) == (ISA_SIGNED | ISA_DST_IS_64));
    assert_int_equal(d.program->functions[0].local_bytes, 32);
    assert_int_equal(d.program->functions[0].shared_bytes, 64);
    release(&d);
}

static void test_calls_list_their_values(void **state) {
    (void)state;
    Decoded d =
        decode(HEAD ".func (.param .b32 result) twice(.param .b32 x, .param .b64 y) {\n"
                    ".reg .b32 %r<2>; ld.param.u32 %r1, [x]; st.param.b32 [result], %r1; ret; }\n"
                    ".visible .entry k() { .reg .b32 %r<3>; .reg .b64 %d<2>;\n"
                    "{ .param .b32 in; .param .b64 more; .param .b32 out;\n"
                    "st.param.b32 [in], 5; st.param.b64 [more], %d1;\n"
                    "call (out), twice, (in, more); ld.param.b32 %r1, [out]; }\n"
                    "mov.u64 %d1, twice; ret; }");
    assert_non_null(d.program);
    const IsaFunction *callee = &d.program->functions[0], *caller = &d.program->functions[1];
    assert_int_equal(callee->parameter_count, 2);
    assert_int_equal(callee->return_count, 1);
    assert_int_equal(callee->parameters[1].size, 8);
    const IsaInst *load = &d.program->insts[callee->entry];
    assert_int_equal(load->space, PTX_SPACE_LOCAL);
    assert_true(load->flags & ISA_FRAME_RELATIVE);
    assert_int_equal(load->imm, callee->parameters[0].offset);
    const IsaInst *call = &d.program->insts[caller->entry + 2];
    assert_int_equal(call->flow, ISA_FLOW_CALL);
    assert_int_equal(call->target, 0);
    const IsaCall *list = &d.program->calls[call->imm];
    assert_int_equal(list->argument_count, 2);
    assert_false(list->arguments[0].is_register);
    assert_int_equal(list->arguments[0].offset, d.program->insts[caller->entry].imm);
    assert_int_equal(list->returns[0].offset, call[1].imm);
    assert_int_equal(constant_of(&d, call[2].operand[1], true), isa_function_handle(0));
    assert_true(d.program->infos[caller->entry + 2].flags & ISA_IS_CALL);
    release(&d);
}

/* Facts for a timing model in addition to registers and class (IsaInfo.flags). */
static void test_timing_is_told_of_calls_phases_and_naming_lanes(void **state) {
    (void)state;
    Decoded d =
        decode(HEAD ".func (.param .b32 result) twice(.param .b32 x) {\n"
                    ".reg .b32 %r<2>; ld.param.u32 %r1, [x]; st.param.b32 [result], %r1; ret; }\n"
                    ".visible .entry k(.param .u32 n) { .reg .b32 %r<6>; .reg .b64 %d<2>;\n"
                    ".shared .b64 bar;\n"
                    "ld.param.u32 %r1, [n];\n"
                    "mbarrier.arrive.shared.b64 %d1, [bar];\n"
                    "cp.async.mbarrier.arrive.shared.b64 [bar];\n"
                    "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [bar];\n"
                    "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [bar];\n"
                    "ld.shared.u32 %r1, [bar]; ret; }");
    assert_non_null(d.program);
    const IsaInfo *called = &d.program->infos[d.program->functions[0].entry];
    assert_true(called[0].flags & ISA_IS_CALL_ARGUMENT);
    assert_true(called[1].flags & ISA_IS_CALL_ARGUMENT);
    const IsaInfo *info = &d.program->infos[d.program->functions[1].entry];
    assert_false(info[0].flags & ISA_IS_CALL_ARGUMENT);
    assert_true(info[1].flags & ISA_IS_PHASE);
    assert_false(info[2].flags & ISA_IS_PHASE); /* it waits for the copies, then arrives */
    assert_true(info[3].flags & ISA_IS_PHASE);
    assert_int_equal(info[4].naming_lanes, 8);
    assert_int_equal(info[5].naming_lanes, 32);
    assert_false(info[6].flags & (ISA_IS_PHASE | ISA_IS_CALL_ARGUMENT));
    release(&d);
}

static void test_unsupported_forms_are_named(void **state) {
    (void)state;
    Decoded d = decode(HEAD ".global .texref image;\n"
                            ".visible .entry k() { .reg .b32 %r<5>; .reg .f32 %f<4>;\n"
                            "tld4.r.cube.v4.u32.f32 {%r1,%r2,%r3,%r4}, [image, "
                            "{%f1,%f2,%f3,%f3}], {%r1,%r1,%r1,%r1};\n"
                            "ret; }");
    assert_non_null(d.module);
    assert_non_null(d.program);
    const IsaFunction *kernel = &d.program->functions[0];
    assert_non_null(kernel->refusal);
    assert_non_null(strstr(kernel->refusal, "test.ptx:6:"));
    assert_non_null(strstr(kernel->refusal, "offsets on the faces of a cube"));
    release(&d);
}

/* A function that calls a refused function is refused too; other functions can run. */
static void test_callers_of_unsupported_functions_are_refused(void **state) {
    (void)state;
    Decoded d = decode(HEAD ".func bad() { tcgen05.wait::ld.sync.aligned; ret; }\n"
                            ".func between() { call bad; ret; }\n"
                            ".visible .entry k() { call between; ret; }\n"
                            ".visible .entry fine() { ret; }");
    assert_non_null(d.program);
    for (int i = 0; i < 3; i++) {
        assert_non_null(d.program->functions[i].refusal);
        assert_non_null(strstr(d.program->functions[i].refusal, "'tcgen05'"));
    }
    assert_null(d.program->functions[3].refusal);
    release(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operands_and_constants),
        cmocka_unit_test(test_modifiers_choose_handlers),
        cmocka_unit_test(test_timing_is_told_the_registers),
        cmocka_unit_test(test_branches_go_to_pcs),
        cmocka_unit_test(test_variables_become_addresses),
        cmocka_unit_test(test_calls_list_their_values),
        cmocka_unit_test(test_timing_is_told_of_calls_phases_and_naming_lanes),
        cmocka_unit_test(test_unsupported_forms_are_named),
        cmocka_unit_test(test_callers_of_unsupported_functions_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
