/* Speed of execution: nanoseconds of host time per warp instruction (32 lanes), by form and by
 * variant, with all lanes and with half of them. */
#include <stdio.h>
#include <time.h>

#include "isa/rig.h"

enum { REPEATS = 2000000 };

static double now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static double measure(const char *line, const IsaVariant *variant, uint32_t mask) {
    Rig *rig = rig_new(line, variant);
    if (!rig) return 0;
    const IsaInst *inst = &rig->program->insts[0];
    int repeats = REPEATS / 16;
    double best = 1e30;
    for (int round = 0; round < 5; ++round) { /* the fastest of five */
        const double begin = now_ns();
        for (int i = 0; i < repeats; ++i)
            inst->exec(&rig->context, rig->warp, inst, mask);
        const double ns = (now_ns() - begin) / repeats;
        if (ns < best) best = ns;
    }
    rig_free(rig);
    return best;
}

int main(void) {
    static const char *const lines[] = {
        "mov.b32 %r0, %r1;",
        "mov.b64 %d0, %d1;",
        "mov.u32 %r0, %tid.x;",
        "add.s32 %r0, %r1, %r2;",
        "add.s64 %d0, %d1, %d2;",
        "mad.lo.s32 %r0, %r1, %r2, %r3;",
        "mul.wide.s32 %d0, %r1, 4;",
        "mul.hi.u32 %r0, %r1, %r2;",
        "mul.lo.s64 %d0, %d1, %d2;",
        "div.s32 %r0, %r1, %r2;",
        "div.s64 %d0, %d1, %d2;",
        "and.b32 %r0, %r1, 255;",
        "shl.b32 %r0, %r1, 2;",
        "shr.s64 %d0, %d1, %r2;",
        "lop3.b32 %r0, %r1, %r2, %r3, 0x96;",
        "popc.b32 %r0, %r1;",
        "bfe.u32 %r0, %r1, %r2, %r3;",
        "prmt.b32 %r0, %r1, %r2, 0x5410;",
        "setp.lt.s32 %p0, %r1, %r2;",
        "setp.ge.s64 %p0, %d1, %d2;",
        "setp.ltu.f32 %p0, %r1, %r2;",
        "setp.gt.f64 %p0, %d1, %d2;",
        "selp.b32 %r0, %r1, %r2, %p1;",
        "selp.b64 %d0, %d1, %d2, %p1;",
        "min.s32 %r0, %r1, %r2;",
        "add.f32 %r0, %r1, %r2;",
        "mul.f32 %r0, %r1, %r2;",
        "fma.rn.f32 %r0, %r1, %r2, %r3;",
        "fma.rn.ftz.f32 %r0, %r1, %r2, %r3;",
        "fma.rm.f32 %r0, %r1, %r2, %r3;",
        "max.f32 %r0, %r1, %r2;",
        "div.rn.f32 %r0, %r1, %r2;",
        "sqrt.rn.f32 %r0, %r1;",
        "ex2.approx.ftz.f32 %r0, %r1;",
        "sin.approx.f32 %r0, %r1;",
        "add.f64 %d0, %d1, %d2;",
        "fma.rn.f64 %d0, %d1, %d2, %d3;",
        "div.rn.f64 %d0, %d1, %d2;",
        "cvt.s64.s32 %d0, %r1;",
        "cvt.u32.u64 %r0, %d1;",
        "cvt.rn.f32.s32 %r0, %r1;",
        "cvt.rzi.s32.f32 %r0, %r1;",
        "cvt.f64.f32 %d0, %r1;",
        "cvt.rn.f32.f64 %r0, %d1;",
        "cvt.rn.f16.f32 %h0, %r1;",
        "cvt.f32.f16 %r0, %h1;",
        "fma.rn.f16x2 %r0, %r1, %r2, %r3;",
        "shfl.sync.bfly.b32 %r0, %r1, 16, 31, -1;",
        "vote.sync.ballot.b32 %r0, %p1, -1;",
    };
    printf("%-44s", "ns per warp instruction");
    for (int v = 0; v < isa_variant_count(); ++v)
        if (isa_variant(v)) printf(" %8s %8s", isa_variant(v)->name, "masked");
    printf("\n");
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; ++i) {
        printf("%-44s", lines[i]);
        for (int v = 0; v < isa_variant_count(); ++v)
            if (isa_variant(v))
                printf(" %8.1f %8.1f", measure(lines[i], isa_variant(v), UINT32_MAX),
                       measure(lines[i], isa_variant(v), 0x0000ffff));
        printf("\n");
    }
    return 0;
}
