/* Speed of the PTX reader: megabytes per second of processor time from text to a linked, analysed
 * module (all checks, control flow, liveness, register allocation), on two generated files of 5 MB.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "ptx/ptx.h"

enum { FILE_BYTES = 5000000 };

static double now_ms(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static void add_header(Text *text) {
    text_add(text, ".version 8.0\n.target sm_80\n.address_size 64\n");
}

/* About twenty instructions in the mix that compilers emit, with a loop; labels and shared
 * registers are numbered by `i`. */
static void add_piece(Text *text, int i, int regs) {
    int r = 1 + i * 8 % (regs - 8), f = r, d = r;
    text_printf(text, "\tadd.s32 \t%%r%d, %%r0, %d;\n", r, i);
    text_printf(text, "\tld.global.f32 \t%%f%d, [%%rd0+%d];\n", f, i % 64 * 4);
    text_printf(text, "\tmul.wide.s32 \t%%rd%d, %%r%d, 4;\n", d + 1, r);
    text_printf(text, "\tadd.s64 \t%%rd%d, %%rd0, %%rd%d;\n", d + 2, d + 1);
    text_printf(text, "$L_%d:\n", i);
    text_printf(text, "\tld.global.v2.f32 \t{%%f%d, %%f%d}, [%%rd%d];\n", f + 1, f + 2, d + 2);
    text_printf(text, "\tfma.rn.f32 \t%%f%d, %%f%d, %%f%d, %%f%d;\n", f + 3, f, f + 1, f + 2);
    text_printf(text, "\tadd.s32 \t%%r%d, %%r%d, 1;\n", r + 1, r);
    text_printf(text, "\tshl.b32 \t%%r%d, %%r%d, 2;\n", r + 2, r + 1);
    text_printf(text, "\tand.b32  \t%%r%d, %%r%d, 1023;\n", r + 3, r + 2);
    text_printf(text, "\tcvt.rn.f32.s32 \t%%f%d, %%r%d;\n", f + 4, r + 3);
    text_printf(text, "\tmul.ftz.f32 \t%%f%d, %%f%d, 0f3F000000;\n", f + 5, f + 4);
    text_printf(text, "\tst.global.f32 \t[%%rd%d+%d], %%f%d;\n", d + 2, i % 16 * 4, f + 5);
    text_printf(text, "\tsetp.lt.s32 \t%%p%d, %%r%d, 100;\n", i % 16, r + 1);
    text_printf(text, "\tselp.b32 \t%%r%d, %%r%d, %%r%d, %%p%d;\n", r + 4, r + 1, r + 2, i % 16);
    text_printf(text, "\t@%%p%d bra \t$L_%d;\n", i % 16, i);
    text_printf(text, "\tmov.b32 \t%%r%d, %%f%d;\n", r + 5, f + 3);
}

static void add_kernel(Text *text, int number, int pieces, int regs) {
    text_printf(text,
                ".visible .entry kernel_%d(\n\t.param .u64 kernel_%d_param_0,\n\t.param .u32 "
                "kernel_%d_param_1\n)\n{\n\t.reg .pred \t%%p<16>;\n\t.reg .b32 \t%%r<%d>;\n"
                "\t.reg .f32 \t%%f<%d>;\n\t.reg .b64 \t%%rd<%d>;\n",
                number, number, number, regs, regs, regs);
    text_printf(text, "\tld.param.u64 \t%%rd0, [kernel_%d_param_0];\n", number);
    text_printf(text, "\tmov.u32 \t%%r0, %%tid.x;\n");
    for (int i = 0; i < pieces; i++)
        add_piece(text, i, regs);
    text_add(text, "\tret;\n}\n");
}

static void measure(const char *name, const Text *text) {
    enum { RUNS = 5 };
    double best = 1e30;
    int32_t insts = 0;
    for (int run = 0; run < RUNS; run++) {
        Diag *diag = diag_new();
        double begin = now_ms();
        PtxModule *module = ptx_read(name, text->bytes, text->length, diag);
        bool is_linked = module && ptx_link(&module, 1, diag);
        double ms = now_ms() - begin;
        if (!is_linked) diag_print(diag, stderr);
        if (ms < best) best = ms;
        insts = 0;
        for (int i = 0; module && i < module->function_count; i++)
            insts += module->functions[i]->inst_count;
        ptx_module_free(module);
        diag_free(diag);
    }
    printf("%-24s %5.1f MB %8d instructions %8.1f ms %8.1f MB/s\n", name,
           (double)text->length / 1e6, insts, best, (double)text->length / 1e3 / best);
}

int main(void) {
    Text many = {0}, one = {0};
    add_header(&many);
    for (int i = 0; many.length < FILE_BYTES; i++)
        add_kernel(&many, i, 10, 88);
    add_header(&one);
    add_kernel(&one, 0, FILE_BYTES / 500, 80000);
    measure("many kernels", &many);
    measure("one large kernel", &one);
    text_free(&many);
    text_free(&one);
    return 0;
}
