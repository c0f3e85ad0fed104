/* Mistakes of a kernel with barriers in memory, asynchronous copies, descriptors and matrices: one
 * message gives the mistake, the thread and the line, in functional and timed runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "memory/texture.h"
#include "timed.h"

typedef struct Mistake {
    const char *body;    /* on one line of the text */
    const char *message; /* a part of the message */
} Mistake;

/* %p: a buffer of 4096 bytes; %s, %t: a surface of 16 x 8 words, and a texture over it; %b: all
 * shared memory of the CTA, 64 bytes of zeros; %l: the lane. */
static const char head[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry k(.param .u64 a, .param .u64 s, .param .u64 t) {\n"
    ".reg .b64 %p, %s, %t, %x; .reg .b32 %b, %l, %r<8>; .reg .f32 %f<8>; .reg .pred %c;\n"
    ".shared .align 16 .b8 bytes[64];\n"
    "ld.param.u64 %p, [a]; ld.param.u64 %s, [s]; ld.param.u64 %t, [t]; mov.u32 %b, bytes;\n"
    "mov.u32 %l, %laneid;\n";
enum { BODY_LINE = 9 };

static const Mistake mistakes[] = {
    /* barriers in memory */
    {"mbarrier.arrive.shared.b64 %x, [%b+8];",
     "mbarrier at shared address 0x8: it was never initialised"},
    {"mbarrier.test_wait.parity.shared.b64 %c, [%b], 0;",
     "mbarrier at shared address 0x0: it was never initialised"},
    {"mbarrier.inval.shared.b64 [%b];", "it was never initialised"},
    {"mbarrier.init.shared.b64 [%b], 0;", "a count must be from 1 to 2^20 - 1"},
    {"mbarrier.init.shared.b64 [%b+4], 1;", "misaligned"},
    {"mbarrier.init.b64 [%p], 1;", "wrong space: an mbarrier at"},
    {"cp.async.mbarrier.arrive.shared.b64 [%b];", "it was never initialised"},
    /* asynchronous copies */
    {"cp.async.ca.shared.global [%b], [%p+2], 4;",
     "misaligned read of 4 bytes at global address 0xc0000002"},
    {"cp.async.cg.shared.global [%b+8], [%p], 16;",
     "misaligned write of 16 bytes at shared address 0x8"},
    {"cp.async.ca.shared.global [%b], [%p+1], 8, 3;",
     "misaligned read of 8 bytes at global address 0xc0000001"},
    {"mov.u32 %r1, 9; cp.async.ca.shared.global [%b], [%p], 8, %r1;",
     "cp.async reads 9 bytes and writes 8: it cannot read more than it writes"},
    {"cp.async.ca.shared.global [%b], [%p+4096], 4;", "invalid read of 4 bytes at global address"},
    {"cp.async.ca.shared.global [%b+128], [%p], 4;",
     "invalid write of 4 bytes at shared address 0x80: there are 64 bytes of shared memory"},
    /* descriptors */
    {"mov.u64 %x, 0; tex.2d.v4.f32.s32 {%f1,%f2,%f3,%f4}, [%x, {%r1, %r2}];", "texture"},
    {"tex.2d.v4.f32.s32 {%f1,%f2,%f3,%f4}, [%p, {%r1, %r2}];", "texture"},
    {"tex.2d.v4.f32.s32 {%f1,%f2,%f3,%f4}, [%s, {%r1, %r2}];", "surface"},
    {"tex.a2d.v4.f32.s32 {%f1,%f2,%f3,%f4}, [%t, {%r1, %r2, %r3, %r4}];", "layers"},
    {"suld.b.2d.b32.trap %r1, [%p, {%r1, %r2}];", "surface"},
    {"suld.b.2d.b32.trap %r1, [%t, {%r1, %r2}];", "surface"},
    {"suld.b.a2d.b32.trap %r1, [%s, {%r1, %r2, %r3, %r4}];",
     "the surface has no layers, and the instruction is for one with"},
    {"mov.u32 %r1, 64; suld.b.2d.b32.trap %r1, [%s, {%r1, %r2}];",
     "out of bounds: surface read of 4 bytes at (64, 0, 0), x in bytes: it has 16 x 8 x 1 texels"},
    {"mov.u32 %r2, -1; sust.b.2d.b32.trap [%s, {%r1, %r2}], %r1;",
     "out of bounds: surface write of 4 bytes at (0, -1, 0)"},
    {"mov.u32 %r1, 2; sust.b.2d.b32.clamp [%s, {%r1, %r2}], %r1;",
     "misaligned surface write of 4 bytes at (2, 0, 0)"},
    {"mov.u32 %r2, 8; sured.b.add.2d.u32.trap [%s, {%r1, %r2}], %r1;",
     "out of bounds: surface reduction of 4 bytes at (0, 8, 0)"},
    /* matrices, and words of all lanes */
    {"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%b+8];",
     "misaligned read of 16 bytes at shared address 0x8"},
    {"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%b+128];",
     "invalid read of 16 bytes at shared address 0x80"},
    {"ld.shared.u32 %r1, [%b+128];", "invalid read of 4 bytes at shared address 0x80"},
    {"mad.lo.u32 %r1, %l, 5, 0; ld.shared.u32 %r2, [%r1];",
     "misaligned read of 4 bytes at shared address 0x5"},
    {"ld.shared.v2.u32 {%r1, %r2}, [%b+4];", "misaligned read of 8 bytes at shared address 0x4"},
    {"ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [%b+8];",
     "misaligned read of 16 bytes at shared address 0x8"},
    {"mad.lo.u32 %r1, %l, 16, %b; ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [%r1];",
     "invalid read of 16 bytes at shared address 0x40"},
    /* the second time, when the allocation is known */
    {"L: ld.global.v2.u32 {%r1, %r2}, [%p]; add.u64 %p, %p, 4; bra L;",
     "misaligned read of 8 bytes at global address 0xc0000004"},
    {"L: ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%p]; add.u64 %p, %p, 16; bra L;",
     "invalid read of 16 bytes at global address 0xc000"},
    {"mad.lo.u32 %r1, %l, 8, %b; st.shared.u32 [%r1], %r2;",
     "invalid write of 4 bytes at shared address 0x40"},
    {"cvt.u64.u32 %x, %l; shl.b64 %x, %x, 32; st.shared.u32 [%x], %r2;",
     "invalid write of 4 bytes at shared address 0x100000000"},
    {"ld.global.u32 %r1, [%p]; mad.wide.u32 %x, %l, 256, %p; LOOP: ld.global.u32 %r1, [%x]; "
     "add.u64 %x, %x, 4; bra LOOP;",
     "invalid read of 4 bytes at global address 0xc0001000: 1 byte past the last byte of the "
     "4096-byte allocation"},
};

static GpuResult run(const char *machine, const char *ptx) {
    Timed timed = {0};
    if (machine) {
        timed_start(&timed, machine, "gpu.sms=1", "gto");
    } else {
        timed.diag = diag_new();
        timed.gpu = gpu_new(&(GpuOptions){.instruction_limit = 1000000}, timed.diag);
    }
    uint64_t parameters[3] = {timed_buffer(&timed, NULL, 1024)};
    MemTexture image = {.dimensions = 2, .channels = 1, .channel_bits = 32, .levels = 1};
    image.level[0] = (MemLevel){parameters[0], 16, 8, 1, 64, 512};
    for (int i = 1; i < 3; i++, image.is_surface = false) {
        image.is_surface = i == 1;
        parameters[i] = mem_texture_add(gpu_memory(timed.gpu), &image);
    }
    GpuImage text = {.name = "k.ptx", .text = ptx, .length = strlen(ptx)};
    GpuModule *module = gpu_load(timed.gpu, &text, 1, timed.diag);
    if (!module) fail_msg("%s\n%s", diag_text(timed.diag), ptx);
    GpuLaunch launch = {
        .module = module, .grid = {1, 1, 1}, .block = {32, 1, 1}, .parameters = parameters};
    launch.function = gpu_find_function(module, "k");
    GpuResult result;
    gpu_launch(timed.gpu, &launch, &result);
    gpu_unload(module);
    gpu_free(timed.gpu);
    sched_policy_free(timed.policy);
    machine_free(timed.machine);
    diag_free(timed.diag);
    return result;
}

static void each_mistake_is_told_with_its_place(void **state) {
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++)
        for (int is_timed = 0; is_timed < 2; is_timed++) {
            Text ptx = {0}, place = {0};
            text_printf(&ptx, "%s%s\nret;\n}\n", head, mistakes[i].body);
            text_printf(&place, "\n    kernel k, k.ptx:%d: ", BODY_LINE);
            const GpuResult result = run(is_timed ? "gtx480" : NULL, text_string(&ptx));
            const bool is_told =
                result.status == GPU_FAULT && strstr(result.message, mistakes[i].message) &&
                strstr(result.message, text_string(&place)) && strstr(result.message, "thread (");
            if (!is_told)
                print_message("%s\nwanted: %s\ngot: %s\n", mistakes[i].body, mistakes[i].message,
                              result.message);
            wrong += !is_told;
            text_free(&ptx);
            text_free(&place);
        }
    assert_int_equal(wrong, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_mistake_is_told_with_its_place)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
