/* Results of single instructions: a table of worked examples; then whole families compared with the
 * host's arithmetic in the same rounding mode, and transcendental functions compared with libm. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rig.h"

/* ---- Worked examples ---- */

typedef struct Example {
    const char *line;
    uint64_t source[4]; /* registers 1, 2, ... of each kind, in all lanes */
    uint64_t expected;  /* register 0: %d0, %r0 or %h0; for %p0 all ones or zero */
} Example;

#define F(x)                                                                                       \
    (((union {                                                                                     \
         float f;                                                                                  \
         uint32_t u;                                                                               \
     }){.f = (x)})                                                                                 \
         .u)
#define D(x)                                                                                       \
    (((union {                                                                                     \
         double f;                                                                                 \
         uint64_t u;                                                                               \
     }){.f = (x)})                                                                                 \
         .u)
#define TRUE UINT32_MAX

/* Sets all registers with the same digit to the same value in all lanes. */
static void set_sources(Rig *rig, const Example *example) {
    for (int i = 0; i < 4; ++i) {
        const char *kinds = "hrd";
        for (int k = 0; kinds[k]; ++k) {
            const char name[] = {'%', kinds[k], (char)('1' + i), 0};
            void *row = rig_row(rig, name);
            for (int lane = 0; row && lane < ISA_LANES; ++lane) {
                if (kinds[k] == 'd') ((uint64_t *)row)[lane] = example->source[i];
                else ((uint32_t *)row)[lane] = (uint32_t)example->source[i];
            }
        }
    }
}

static uint64_t result_of(const Rig *rig, int lane) {
    const void *row;
    if ((row = rig_row(rig, "%d0"))) return ((const uint64_t *)row)[lane];
    if ((row = rig_row(rig, "%r0"))) return ((const uint32_t *)row)[lane];
    if ((row = rig_row(rig, "%h0"))) return ((const uint32_t *)row)[lane];
    return *rig_pred(rig, "%p0");
}

static void test_worked_examples(void **state) {
    (void)state;
    const Example examples[] = {
        {"add.u32 %r0, %r1, %r2;", {0xffffffff, 2}, 1},
        {"add.sat.s32 %r0, %r1, %r2;", {0x7fffffff, 1}, 0x7fffffff},
        {"sub.sat.s32 %r0, %r1, %r2;", {0x80000000, 1}, 0x80000000},
        {"add.u16 %h0, %h1, %h2;", {0xffff, 2}, 1},
        {"sub.s16 %h0, %h1, %h2;", {0, 1}, 0xffff},
        {"add.u16x2 %r0, %r1, %r2;", {0xffff0001, 0x00010002}, 0x00000003},
        {"mul.hi.u32 %r0, %r1, %r2;", {0xffffffff, 0xffffffff}, 0xfffffffe},
        {"mul.hi.s32 %r0, %r1, %r2;", {0xffffffff, 2}, 0xffffffff},
        {"mul.hi.s16 %h0, %h1, %h2;", {0x8000, 0x8000}, 0x4000},
        {"mul.hi.u64 %d0, %d1, %d2;", {UINT64_MAX, UINT64_MAX}, UINT64_MAX - 1},
        {"mul.wide.s32 %d0, %r1, %r2;", {0xffffffff, 5}, (uint64_t)-5},
        {"mul.wide.u32 %d0, %r1, 4;", {0xffffffff}, 0x3fffffffc},
        {"mul.wide.s16 %r0, %h1, %h2;", {0xffff, 7}, (uint32_t)-7},
        {"mad.lo.s32 %r0, %r1, %r2, %r3;", {3, 5, (uint32_t)-20}, (uint32_t)-5},
        {"mad.hi.sat.s32 %r0, %r1, %r2, %r3;", {0x7fffffff, 0x7fffffff, 0x7fffffff}, 0x7fffffff},
        {"mad.wide.u32 %d0, %r1, %r2, %d3;", {0xffffffff, 2, 5}, 0x200000003},
        {"mul24.lo.s32 %r0, %r1, %r2;", {0x00ffffff, 3}, (uint32_t)-3},
        {"mul24.hi.u32 %r0, %r1, %r2;", {0xffffff, 0xffffff}, 0xfffffe00},
        {"div.u32 %r0, %r1, %r2;", {4294967295u, 3}, 1431655765},
        {"div.u32 %r0, %r1, %r2;", {7, 0}, 0xffffffff},
        {"rem.u32 %r0, %r1, %r2;", {7, 0}, UINT32_MAX},
        {"div.s32 %r0, %r1, %r2;", {(uint32_t)-17, 5}, (uint32_t)-3},
        {"rem.s32 %r0, %r1, %r2;", {(uint32_t)-17, 5}, (uint32_t)-2},
        {"div.s32 %r0, %r1, %r2;", {0x80000000, (uint32_t)-1}, 0x80000000},
        {"div.s64 %d0, %d1, %d2;", {(uint64_t)INT64_MIN, UINT64_MAX}, (uint64_t)INT64_MIN},
        {"sad.s32 %r0, %r1, %r2, %r3;", {0x80000000, 0x7fffffff, 1}, 0},
        {"abs.s32 %r0, %r1;", {0x80000000}, 0x80000000},
        {"neg.s16 %h0, %h1;", {1}, 0xffff},
        {"min.s32 %r0, %r1, %r2;", {(uint32_t)-1, 1}, (uint32_t)-1},
        {"max.u64 %d0, %d1, %d2;", {UINT64_MAX, 1}, UINT64_MAX},
        {"max.relu.s16x2 %r0, %r1, %r2;", {0xffff0005, 0xfffe0003}, 0x00000005},
        {"dp4a.s32.u32 %r0, %r1, %r2, %r3;", {0xff01ff01, 0x02030405, 100}, 100 - 2 + 3 - 4 + 5},
        {"dp2a.hi.s32.u32 %r0, %r1, %r2, %r3;", {0xfffe0003, 0x0506aaaa, 10}, 10 - 10 + 18},
        {"not.b16 %h0, %h1;", {0}, 0xffff},
        {"cnot.b32 %r0, %r1;", {0}, 1},
        {"lop3.b32 %r0, %r1, %r2, %r3, 0xca;", {0xff00, 0x1234, 0xabcd}, 0x12cd},
        {"shl.b32 %r0, %r1, %r2;", {1, 32}, 0},
        {"shr.s32 %r0, %r1, %r2;", {0x80000000, 99}, 0xffffffff},
        {"shr.u64 %d0, %d1, 63;", {UINT64_MAX}, 1},
        {"shl.b16 %h0, %h1, 8;", {0x1234}, 0x3400},
        {"shf.l.wrap.b32 %r0, %r1, %r2, %r3;", {0x80000001, 0x00000001, 33}, 3},
        {"shf.l.clamp.b32 %r0, %r1, %r2, %r3;", {0x80000001, 0x00000001, 33}, 0x80000001},
        {"shf.r.wrap.b32 %r0, %r1, %r2, %r3;", {0x80000000, 0x00000003, 1}, 0xc0000000},
        {"shf.r.clamp.b32 %r0, %r1, %r2, %r3;", {5, 6, 40}, 6},
        {"popc.b64 %r0, %d1;", {0xff000000000000ff}, 16},
        {"clz.b32 %r0, %r1;", {0}, 32},
        {"clz.b64 %r0, %d1;", {1}, 63},
        {"brev.b32 %r0, %r1;", {1}, 0x80000000},
        {"bfind.u32 %r0, %r1;", {0}, 0xffffffff},
        {"bfind.s32 %r0, %r1;", {0xfffffffe}, 0},
        {"bfind.shiftamt.u32 %r0, %r1;", {1}, 31},
        {"bfe.s32 %r0, %r1, %r2, %r3;", {0x00000f00, 8, 4}, 0xffffffff},
        {"bfe.u32 %r0, %r1, %r2, %r3;", {0xabcd1234, 28, 16}, 0xa},
        {"bfe.s32 %r0, %r1, %r2, %r3;", {0x80000000, 40, 4}, 0xffffffff},
        {"bfe.s64 %d0, %d1, %r2, %r3;", {0x8000000000000000, 60, 0}, 0},
        {"bfi.b32 %r0, %r1, %r2, 8, 8;", {0xff, 0x11111111}, 0x1111ff11},
        {"bmsk.clamp.b32 %r0, %r1, %r2;", {4, 3}, 0x70},
        {"bmsk.clamp.b32 %r0, %r1, %r2;", {4, 32}, 0xfffffff0},
        {"bmsk.wrap.b32 %r0, %r1, %r2;", {4, 32}, 0},
        {"szext.clamp.s32 %r0, %r1, %r2;", {0x80, 8}, 0xffffff80},
        {"szext.wrap.u32 %r0, %r1, %r2;", {0xabcd, 8}, 0xcd},
        {"fns.b32 %r0, %r1, 0, 2;", {0xa0}, 7},
        {"fns.b32 %r0, %r1, 31, -1;", {0xa0}, 7},
        {"prmt.b32 %r0, %r1, %r2, 0x5410;", {0x33221100, 0x77665544}, 0x55441100},
        {"prmt.b32 %r0, %r1, %r2, 0x000b;", {0x80221100, 0}, 0x000000ff},
        {"prmt.b32.b4e %r0, %r1, %r2, 1;", {0x33221100, 0x77665544}, 0x66770011},
        {"mov.b64 %d0, {%r1, %r2};", {0x11111111, 0x22222222}, 0x2222222211111111},
        {"mov.b32 %r0, {%h1, %h2};", {0x1111, 0x2222}, 0x22221111},
        {"mov.b64 {%r3, %r0}, %d1;", {0x2222222211111111}, 0x22222222},
        {"{ .reg .v4 .b32 v<3>; mov.b32 v2.x, %r1; mov.b32 v2.w, %r2; mov.b32 v1.x, 7; "
         "mov.b32 v1.w, 9; add.u32 %r0, v2.x, v2.w; add.u32 %r0, %r0, v1.x; }",
         {0x100, 0x20},
         0x127},
        {"{ .reg .b8 a, b; mov.b16 {a, b}, %h1; mov.b16 %h0, {b, a}; }", {0x1234}, 0x3412},
        {"{ .reg .b8 a, b; mov.b16 {_, a}, %h1; mov.b16 %h0, {a, 5}; }", {0x1234}, 0x0512},
        {"{ .reg .b8 a; .local .align 4 .b8 m[4]; st.local.u8 [m], %r1; ld.local.s8 a, [m]; "
         "mov.b32 %r0, {a, a, a, a}; }",
         {0x80},
         0x80808080},
        {"mov.u32 %r0, -1;", {0}, 0xffffffff},
        {"mov.f32 %r0, 0f3f800000;", {0}, F(1)},
        {"mov.f64 %d0, 0d4000000000000000;", {0}, D(2)},
        {"mov.u32 %r0, %ctaid.x;", {0}, 3},
        {"mov.u32 %r0, %ctaid.z;", {0}, 1},
        {"mov.u32 %r0, %ntid.y;", {0}, 4},
        {"mov.u32 %r0, %nctaid.y;", {0}, 5},
        {"mov.u32 %r0, %tid.z;", {0}, 1},
        {"mov.u32 %r0, WARP_SZ;", {0}, 32},
        {"mov.u64 %d0, %clock64;", {0}, 1000},
        {"selp.b32 %r0, %r1, %r2, %p1;", {1, 2}, 2},
        {"slct.b32.f32 %r0, %r1, %r2, %r3;", {1, 2, 0x80000000}, 1},
        {"slct.b32.s32 %r0, %r1, %r2, %r3;", {1, 2, 0x80000000}, 2},
        {"setp.lt.s32 %p0, %r1, %r2;", {(uint32_t)-1, 0}, TRUE},
        {"setp.lt.u32 %p0, %r1, %r2;", {(uint32_t)-1, 0}, 0},
        {"setp.ge.s16 %p0, %h1, %h2;", {0x8000, 1}, 0},
        {"setp.hs.u32 %p0, %r1, %r2;", {5, 5}, TRUE},
        {"setp.ne.f32 %p0, %r1, %r2;", {0x7fc00000, 0}, 0},
        {"setp.neu.f32 %p0, %r1, %r2;", {0x7fc00000, 0}, TRUE},
        {"setp.equ.f32 %p0, %r1, %r2;", {0x7fc00000, 0}, TRUE},
        {"setp.geu.f32 %p0, %r1, %r2;", {F(1), F(2)}, 0},
        {"setp.gtu.f64 %p0, %d1, %d2;", {D(3), D(2)}, TRUE},
        {"setp.num.f32 %p0, %r1, %r2;", {F(1), 0x7f800001}, 0},
        {"setp.nan.f32 %p0, %r1, %r2;", {F(1), 0x7f800001}, TRUE},
        {"setp.eq.ftz.f32 %p0, %r1, %r2;", {1, 0x80000002}, TRUE},
        {"setp.eq.f32 %p0, %r1, %r2;", {0x80000000, 0}, TRUE},
        {"setp.lt.and.s32 %p0, %r1, %r2, !%p1;", {1, 2}, TRUE},
        {"set.gt.u32.f32 %r0, %r1, %r2;", {F(2), F(1)}, 0xffffffff},
        {"set.gt.f32.s32 %r0, %r1, %r2;", {2, 1}, F(1)},
        {"testp.subnormal.f32 %p0, %r1;", {0x80000001}, TRUE},
        {"testp.normal.f64 %p0, %d1;", {D(1)}, TRUE},
        {"add.f32 %r0, %r1, %r2;", {0x7fc12345, F(1)}, 0x7fffffff},
        {"add.f64 %d0, %d1, %d2;", {0x7ff8000000000001, D(1)}, 0xfff8000000000000},
        {"add.ftz.f32 %r0, %r1, %r2;", {0x80000001, 0x80000000}, 0x80000000},
        {"mul.sat.f32 %r0, %r1, %r2;", {F(3), F(4)}, F(1)},
        {"mul.sat.f32 %r0, %r1, %r2;", {0x7fc00000, F(4)}, 0},
        {"fma.rn.f32 %r0, %r1, %r2, %r3;", {0x3f800001, 0x3f800001, 0xbf800002}, 0x28800000},
        {"add.rm.f32 %r0, %r1, %r2;", {F(1), F(-1)}, 0x80000000},
        {"add.rz.f32 %r0, %r1, %r2;", {0x7f7fffff, 0x7f7fffff}, 0x7f7fffff},
        {"min.f32 %r0, %r1, %r2;", {0x7fc00000, F(2)}, F(2)},
        {"min.NaN.f32 %r0, %r1, %r2;", {0x7fc00000, F(2)}, 0x7fffffff},
        {"min.f32 %r0, %r1, %r2;", {0, 0x80000000}, 0x80000000},
        {"max.f32 %r0, %r1, %r2;", {0x80000000, 0}, 0},
        {"max.xorsign.abs.f32 %r0, %r1, %r2;", {F(-3), F(2)}, F(-3)},
        {"neg.f32 %r0, %r1;", {F(1)}, F(-1)},
        {"copysign.f32 %r0, %r1, %r2;", {F(-1), F(2)}, F(-2)},
        {"div.approx.f32 %r0, %r1, %r2;", {F(1), 0x7f000000}, 0},
        {"rcp.rn.f32 %r0, %r1;", {0x80000000}, 0xff800000},
        {"rsqrt.approx.f32 %r0, %r1;", {F(4)}, F(0.5f)},
        {"sqrt.rn.f32 %r0, %r1;", {F(-1)}, 0x7fffffff},
        {"ex2.approx.f32 %r0, %r1;", {F(-149)}, 1},
        {"lg2.approx.f32 %r0, %r1;", {F(8)}, F(3)},
        {"lg2.approx.f32 %r0, %r1;", {0}, 0xff800000},
        {"sin.approx.f32 %r0, %r1;", {0x7f800000}, 0x7fffffff},
        {"cos.approx.f32 %r0, %r1;", {0}, F(1)},
        {"tanh.approx.f32 %r0, %r1;", {0xff800000}, F(-1)},
        {"rcp.approx.ftz.f64 %d0, %d1;", {D(3)}, 0x3fd5555500000000},
        {"add.f16 %h0, %h1, %h2;", {0x3c00, 0x1000}, 0x3c00},
        {"add.f16 %h0, %h1, %h2;", {0x7bff, 0x7bff}, 0x7c00},
        {"add.sat.f16x2 %r0, %r1, %r2;", {0x3c00bc00, 0x3c003800}, 0x3c000000},
        {"fma.rn.relu.bf16x2 %r0, %r1, %r2, %r3;", {0x3f80bf80, 0x3f803f80, 0}, 0x3f800000},
        {"mul.bf16 %h0, %h1, %h2;", {0x7fc0, 0x3f80}, 0x7fff},
        {"ex2.approx.f16 %h0, %h1;", {0x4000}, 0x4400},
        {"cvt.s32.s8 %r0, %r1;", {0x80}, 0xffffff80},
        {"cvt.u32.s8 %d0, %r1;", {0x80}, 0xffffff80},
        {"cvt.s64.s32 %d0, %r1;", {0x80000000}, 0xffffffff80000000},
        {"cvt.u16.u64 %h0, %d1;", {0x12345}, 0x2345},
        {"cvt.sat.u8.s32 %r0, %r1;", {(uint32_t)-5}, 0},
        {"cvt.sat.s8.u32 %r0, %r1;", {300}, 127},
        {"cvt.sat.s32.u64 %r0, %d1;", {UINT64_MAX}, 0x7fffffff},
        {"cvt.rni.s32.f32 %r0, %r1;", {F(2.5f)}, 2},
        {"cvt.rpi.s32.f32 %r0, %r1;", {F(-2.5f)}, (uint32_t)-2},
        {"cvt.rzi.s32.f32 %r0, %r1;", {F(3e9f)}, 0x7fffffff},
        {"cvt.rzi.u32.f32 %r0, %r1;", {F(-1)}, 0},
        {"cvt.rzi.s32.f32 %r0, %r1;", {0x7fc00000}, 0},
        {"cvt.rzi.s64.f32 %d0, %r1;", {0x7fc00000}, 0x8000000000000000},
        {"cvt.rzi.s32.f64 %r0, %d1;", {0x7ff8000000000000}, 0x80000000},
        {"cvt.rzi.u64.f64 %d0, %d1;", {D(1.8e19)}, 18000000000000000000u},
        {"cvt.rzi.u8.f32 %r0, %r1;", {F(300)}, 255},
        {"cvt.rmi.f32.f32 %r0, %r1;", {F(-1.5f)}, F(-2)},
        {"cvt.sat.f32.f32 %r0, %r1;", {F(7)}, F(1)},
        {"cvt.rn.f32.u64 %r0, %d1;", {UINT64_MAX}, F(0x1p64f)},
        {"cvt.rz.f32.u64 %r0, %d1;", {UINT64_MAX}, 0x5f7fffff},
        {"cvt.rp.f64.s64 %d0, %d1;", {0x0020000000000001}, D(9007199254740994.0)},
        {"cvt.rn.f16.f32 %h0, %r1;", {F(65520)}, 0x7c00},
        {"cvt.rz.f16.f32 %h0, %r1;", {F(65520)}, 0x7bff},
        {"cvt.rn.f16.f32 %h0, %r1;", {F(0x1p-25f)}, 0},
        {"cvt.rn.f16.f32 %h0, %r1;", {F(0x1.8p-25f)}, 1},
        {"cvt.rn.satfinite.f16.f32 %h0, %r1;", {F(1e6f)}, 0x7bff},
        {"cvt.rn.bf16x2.f32 %r0, %r1, %r2;", {F(1), F(-2)}, 0x3f80c000},
        {"cvt.rna.tf32.f32 %r0, %r1;", {0x3f801000}, 0x3f802000},
        {"cvt.rn.satfinite.e4m3x2.f32 %h0, %r1, %r2;", {F(1000), F(1)}, 0x7e38},
        {"cvt.rn.satfinite.e5m2x2.f32 %h0, %r1, %r2;", {F(0x1p-16f), F(-1)}, 0x01bc},
        {"cvt.rn.f16x2.e4m3x2 %r0, %h1;", {0x7f01}, 0x7fff1800},
        {"cvt.f64.f16 %d0, %h1;", {0x0001}, D(0x1p-24)},
        {"vote.sync.ballot.b32 %r0, !%p1, -1;", {0}, 0xffffffff},
        {"vote.sync.any.pred %p0, %p1, -1;", {0}, 0},
        {"vote.sync.uni.pred %p0, %p1, -1;", {0}, TRUE},
        {"activemask.b32 %r0;", {0}, 0xffffffff},
        {"match.any.sync.b32 %r0, %r1, -1;", {7}, 0xffffffff},
        {"redux.sync.add.u32 %r0, %r1, 0x0000ffff;", {3}, 48},
        {"redux.sync.min.s32 %r0, %r1, -1;", {(uint32_t)-3}, (uint32_t)-3},
        {"vadd.s32.u32.s32.sat %r0, %r1.b3, %r2.h1;", {0xff000000, 0xffff0000}, 254},
        {"vabsdiff4.u32.u32.u32.add %r0, %r1, %r2, %r3;", {0x01020304, 0x04030201, 10}, 18},
        {"vavrg4.u32.u32.u32 %r0, %r1, %r2, %r3;", {0x01020304, 0x02040404, 0}, 0x02030404},
        {"vmax2.s32.s32.s32 %r0, %r1, %r2, %r3;", {0xffff0001, 0x0000ffff, 0}, 0x00000001},
    };
    int failures = 0;
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; ++i) {
        const Example *example = &examples[i];
        Rig *rig = rig_new(example->line, isa_find_variant(NULL));
        assert_non_null(rig);
        set_sources(rig, example);
        rig_run(rig, UINT32_MAX);
        const uint64_t result = result_of(rig, 9);
        if (result != example->expected) {
            printf("%s gives 0x%llx, expected 0x%llx\n", example->line, (unsigned long long)result,
                   (unsigned long long)example->expected);
            ++failures;
        }
        rig_free(rig);
    }
    assert_int_equal(failures, 0);
}

/* ---- Lanes that read each other's values ---- */

static void set_lanes(Rig *rig, const char *name, uint32_t first, uint32_t step) {
    uint32_t *row = rig_row(rig, name);
    for (uint32_t lane = 0; lane < ISA_LANES; ++lane)
        row[lane] = first + step * lane;
}

static void test_shuffles(void **state) {
    (void)state;
    static const struct {
        const char *line;
        uint32_t value[4]; /* in lanes 0, 5, 17, 31 */
        uint32_t in_range;
    } cases[] = {
        {"shfl.sync.up.b32 %r0|%p0, %r1, 1, 0, -1;", {100, 104, 116, 130}, 0xfffffffe},
        {"shfl.sync.down.b32 %r0|%p0, %r1, 4, 31, -1;", {104, 109, 121, 131}, 0x0fffffff},
        {"shfl.sync.bfly.b32 %r0|%p0, %r1, 16, 31, -1;", {116, 121, 101, 115}, 0xffffffff},
        {"shfl.sync.idx.b32 %r0|%p0, %r1, 3, 31, -1;", {103, 103, 103, 103}, 0xffffffff},
        /* segments of eight lanes: mask 0x18 in bits 8..12 */
        {"shfl.sync.down.b32 %r0|%p0, %r1, 4, 0x181f, -1;", {104, 105, 121, 131}, 0x0f0f0f0f},
        {"shfl.sync.idx.b32 %r0|%p0, %r1, 9, 0x181f, -1;", {101, 101, 117, 125}, 0xffffffff},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        Rig *rig = rig_new(cases[i].line, isa_find_variant(NULL));
        assert_non_null(rig);
        set_lanes(rig, "%r1", 100, 1);
        rig_run(rig, UINT32_MAX);
        const int lanes[] = {0, 5, 17, 31};
        for (int k = 0; k < 4; ++k)
            assert_int_equal(result_of(rig, lanes[k]), cases[i].value[k]);
        assert_int_equal(*rig_pred(rig, "%p0"), cases[i].in_range);
        rig_free(rig);
    }
}

static void test_matches_and_elections(void **state) {
    (void)state;
    Rig *rig = rig_new("match.any.sync.b32 %r0, %r1, -1;", isa_find_variant(NULL));
    uint32_t *row = rig_row(rig, "%r1");
    for (uint32_t lane = 0; lane < ISA_LANES; ++lane)
        row[lane] = lane % 3;
    rig_run(rig, 0x000fffff);
    assert_int_equal(result_of(rig, 4), 0x92492 & 0xfffff);
    rig_free(rig);
    rig = rig_new("elect.sync %r0|%p0, 0xfffffff0;", isa_find_variant(NULL));
    rig_run(rig, 0xffffff00);
    assert_int_equal(result_of(rig, 31), 8);
    assert_int_equal(*rig_pred(rig, "%p0"), 0x100);
    rig_free(rig);
}

static void test_thread_indices(void **state) {
    (void)state; /* warp 1 of a block of 8 x 4 x 2: its lanes are threads 32 to 63 */
    Rig *rig = rig_new("mov.u32 %r0, %tid.y;", isa_find_variant(NULL));
    rig_run(rig, UINT32_MAX);
    assert_int_equal(result_of(rig, 0), 0);
    assert_int_equal(result_of(rig, 31), 3);
    rig_free(rig);
    rig = rig_new("cvt.u64.u32 %d0, %tid.x;", isa_find_variant(NULL)); /* with a mov before it */
    rig_run(rig, UINT32_MAX);
    assert_int_equal(rig->program->inst_count, 4);
    assert_int_equal(result_of(rig, 13), 5);
    rig_free(rig);
}

static void test_carry_chain(void **state) {
    (void)state; /* a 96-bit sum; each lane has its own carry */
    Rig *rig = rig_new("add.cc.u32 %r4, %r1, %r2; addc.cc.u32 %r5, %r1, %r2; addc.u32 %r0, %r3, 0;",
                       isa_find_variant(NULL));
    set_lanes(rig, "%r1", 0xfffffff0, 1);
    set_lanes(rig, "%r2", 8, 0);
    set_lanes(rig, "%r3", 40, 0);
    rig_run(rig, UINT32_MAX);
    assert_int_equal(result_of(rig, 7), 40);
    assert_int_equal(result_of(rig, 8), 41);
    assert_int_equal(result_of(rig, 15), 41);
    assert_int_equal(result_of(rig, 16), 40);
    rig_free(rig);
}

/* ---- Rounding, compared with the host in the same mode ---- */

enum { SAMPLES = 300 };

static const struct {
    const char *name;
    int host;
} modes[] = {{"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};

static uint64_t next_random(uint64_t *state) { /* splitmix64 */
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* Floats of all sizes; every other one is near 1, where results are inexact rather than extreme. */
static uint32_t random_f32(uint64_t *state) {
    const uint32_t x = (uint32_t)next_random(state);
    return x & 1 ? (x & 0x80ffffff) + 0x3f000000 : x;
}
static uint64_t random_f64(uint64_t *state) {
    const uint64_t x = next_random(state);
    return x & 1 ? (x & UINT64_C(0x801fffffffffffff)) + UINT64_C(0x3fe0000000000000) : x;
}

static float host_f32(const char *op, float a, float b, float c, int mode) {
    volatile float x = a, y = b, z = c, result = 0;
    fesetround(mode);
    if (strcmp(op, "add") == 0) result = x + y;
    if (strcmp(op, "sub") == 0) result = x - y;
    if (strcmp(op, "mul") == 0) result = x * y;
    if (strcmp(op, "fma") == 0) result = fmaf(x, y, z);
    if (strcmp(op, "div") == 0) result = x / y;
    if (strcmp(op, "rcp") == 0) result = 1 / x;
    if (strcmp(op, "sqrt") == 0) result = sqrtf(x);
    fesetround(FE_TONEAREST);
    return result;
}

static double host_f64(const char *op, double a, double b, double c, int mode) {
    volatile double x = a, y = b, z = c, result = 0;
    fesetround(mode);
    if (strcmp(op, "add") == 0) result = x + y;
    if (strcmp(op, "sub") == 0) result = x - y;
    if (strcmp(op, "mul") == 0) result = x * y;
    if (strcmp(op, "fma") == 0) result = fma(x, y, z);
    if (strcmp(op, "div") == 0) result = x / y;
    if (strcmp(op, "rcp") == 0) result = 1 / x;
    if (strcmp(op, "sqrt") == 0) result = sqrt(x);
    fesetround(FE_TONEAREST);
    return result;
}

static const struct {
    const char *name;
    int sources;
} operations[] = {{"add", 2}, {"sub", 2}, {"mul", 2}, {"fma", 3},
                  {"div", 2}, {"rcp", 1}, {"sqrt", 1}};

static Rig *arithmetic_rig(const char *op, const char *mode, char kind, int sources,
                           const IsaVariant *variant) {
    char line[128];
    int length =
        snprintf(line, sizeof line, "%s.%s.f%d %%%c0", op, mode, kind == 'r' ? 32 : 64, kind);
    for (int i = 1; i <= sources; ++i)
        length += snprintf(line + length, sizeof line - (size_t)length, ", %%%c%d", kind, i);
    snprintf(line + length, sizeof line - (size_t)length, ";");
    return rig_new(line, variant);
}

static void check_f32(const char *op, int sources, int mode, const IsaVariant *variant) {
    Rig *rig = arithmetic_rig(op, modes[mode].name, 'r', sources, variant);
    uint64_t seed = 1;
    for (int sample = 0; sample < SAMPLES; ++sample) {
        float in[3][ISA_LANES];
        for (int s = 0; s < 3; ++s) {
            const char name[] = {'%', 'r', (char)('1' + s), 0};
            uint32_t *row = rig_row(rig, name);
            for (int lane = 0; lane < ISA_LANES; ++lane) {
                const uint32_t bits = random_f32(&seed);
                memcpy(&in[s][lane], &bits, sizeof bits);
                if (row) row[lane] = bits;
            }
        }
        rig_run(rig, UINT32_MAX);
        for (int lane = 0; lane < ISA_LANES; ++lane) {
            const float expected =
                host_f32(op, in[0][lane], in[1][lane], in[2][lane], modes[mode].host);
            const uint32_t bits = isnan(expected) ? 0x7fffffff : F(expected);
            if (result_of(rig, lane) != bits)
                fail_msg("%s.%s.f32 %a %a %a: 0x%x, expected 0x%x", op, modes[mode].name,
                         (double)in[0][lane], (double)in[1][lane], (double)in[2][lane],
                         (unsigned)result_of(rig, lane), bits);
        }
    }
    rig_free(rig);
}

static void check_f64(const char *op, int sources, int mode, const IsaVariant *variant) {
    Rig *rig = arithmetic_rig(op, modes[mode].name, 'd', sources, variant);
    uint64_t seed = 2;
    for (int sample = 0; sample < SAMPLES; ++sample) {
        double in[3][ISA_LANES];
        for (int s = 0; s < 3; ++s) {
            const char name[] = {'%', 'd', (char)('1' + s), 0};
            uint64_t *row = rig_row(rig, name);
            for (int lane = 0; lane < ISA_LANES; ++lane) {
                const uint64_t bits = random_f64(&seed);
                memcpy(&in[s][lane], &bits, sizeof bits);
                if (row) row[lane] = bits;
            }
        }
        rig_run(rig, UINT32_MAX);
        for (int lane = 0; lane < ISA_LANES; ++lane) {
            const double expected =
                host_f64(op, in[0][lane], in[1][lane], in[2][lane], modes[mode].host);
            assert_true(result_of(rig, lane) ==
                        (isnan(expected) ? UINT64_C(0xfff8000000000000) : D(expected)));
        }
    }
    rig_free(rig);
}

static void test_rounding_is_the_hosts(void **state) {
    (void)state;
    for (int v = 0; v < isa_variant_count(); ++v) {
        const IsaVariant *variant = isa_variant(v);
        for (size_t op = 0; variant && op < sizeof operations / sizeof operations[0]; ++op)
            for (int mode = 0; mode < 4; ++mode) {
                check_f32(operations[op].name, operations[op].sources, mode, variant);
                check_f64(operations[op].name, operations[op].sources, mode, variant);
            }
    }
}

/* cvt.f32.f64, cvt.f32.s64 and cvt.f64.s64 in all modes. */
static void test_conversions_round_as_the_host_does(void **state) {
    (void)state;
    static const char *const lines[] = {"cvt.%s.f32.f64 %%r0, %%d1;", "cvt.%s.f32.s64 %%r0, %%d1;",
                                        "cvt.%s.f64.s64 %%d0, %%d1;"};
    for (int kind = 0; kind < 3; ++kind)
        for (int mode = 0; mode < 4; ++mode) {
            char line[64];
            snprintf(line, sizeof line, lines[kind], modes[mode].name);
            Rig *rig = rig_new(line, isa_find_variant(NULL));
            uint64_t seed = 3, *row = rig_row(rig, "%d1");
            for (int sample = 0; sample < SAMPLES; ++sample) {
                uint64_t in[ISA_LANES];
                for (int lane = 0; lane < ISA_LANES; ++lane) {
                    uint64_t bits = next_random(&seed);
                    if (kind == 0 && bits & 1) /* in the range of f32, including subnormals */
                        bits = (bits & UINT64_C(0x80ffffffffffffff)) | UINT64_C(0x3600000000000000);
                    if (kind != 0) bits >>= bits & 63;
                    in[lane] = row[lane] = bits;
                }
                rig_run(rig, UINT32_MAX);
                for (int lane = 0; lane < ISA_LANES; ++lane) {
                    volatile uint64_t bits = in[lane];
                    double x;
                    memcpy(&x, (const void *)&in[lane], sizeof x);
                    volatile double source = x;
                    fesetround(modes[mode].host);
                    volatile float narrow = kind == 0 ? (float)source : (float)(int64_t)bits;
                    volatile double wide = (double)(int64_t)bits;
                    fesetround(FE_TONEAREST);
                    const uint64_t expected = kind == 2       ? D(wide)
                                              : isnan(narrow) ? 0x7fffffff
                                                              : F(narrow);
                    assert_true(result_of(rig, lane) == expected);
                }
            }
            rig_free(rig);
        }
}

/* ---- Transcendental functions: within 2^-24 of libm's long double results, one rounding ---- */

static void check_function(const char *name, long double (*function)(long double), float from,
                           float to) {
    char line[64];
    snprintf(line, sizeof line, "%s.approx.f32 %%r0, %%r1;", name);
    Rig *rig = rig_new(line, isa_find_variant(NULL));
    uint32_t *row = rig_row(rig, "%r1");
    for (int sample = 0; sample < 2000; ++sample) {
        float in[ISA_LANES];
        for (int lane = 0; lane < ISA_LANES; ++lane) {
            in[lane] = from + (to - from) * ((float)(sample * ISA_LANES + lane) / 64000);
            row[lane] = F(in[lane]);
        }
        rig_run(rig, UINT32_MAX);
        for (int lane = 0; lane < ISA_LANES; ++lane) {
            const uint32_t bits = (uint32_t)result_of(rig, lane);
            float result;
            memcpy(&result, &bits, sizeof result);
            const long double exact = function((long double)in[lane]);
            const long double bound = fabsl(exact) * (0x1p-24L + 0x1p-40L) + 0x1p-150L;
            if (fabsl((long double)result - exact) > bound)
                fail_msg("%s(%a) = %a, exactly %La", name, (double)in[lane], (double)result, exact);
        }
    }
    rig_free(rig);
}

static void test_functions_are_close(void **state) {
    (void)state;
    check_function("sin", sinl, -10, 10);
    check_function("sin", sinl, -1e6f, 1e6f);
    check_function("cos", cosl, -10, 10);
    check_function("cos", cosl, 1e5f, 1e6f);
    check_function("ex2", exp2l, -150, 128);
    check_function("lg2", log2l, 0x1p-149f, 4);
    check_function("lg2", log2l, 1, 1e30f);
    check_function("tanh", tanhl, -10, 10);
    check_function("tanh", tanhl, -0x1p-20f, 0x1p-20f);
}

/* ---- Information for the timing model about accesses ---- */

/* A warp's accesses to words of shared memory: lane l uses first + l x step, plus `split` bytes in
 * the upper half of the warp. */
static void check_told(const IsaVariant *variant, const char *line, uint32_t step, uint32_t split,
                       uint32_t mask) {
    enum { FIRST = 64, BYTES = 4096 };
    Rig *rig = rig_new(line, variant);
    assert_non_null(rig);
    rig->launch.shared_extent = BYTES;
    isa_cta_start(&rig->cta, &rig->launch, 0);
    uint32_t *address = rig_row(rig, "%r1"), *data = rig_row(rig, "%r0");
    for (uint32_t word = 0; word < BYTES / 4; word++)
        memcpy(rig->cta.shared + (size_t)4 * word, &word, sizeof word);
    uint32_t expected[ISA_LANES]; /* the load's result may overwrite its address register */
    for (uint32_t lane = 0; lane < ISA_LANES; lane++) {
        address[lane] = FIRST + lane * step + (lane < ISA_LANES / 2 ? 0 : split);
        expected[lane] = address[lane] + 8;
    }
    rig_run(rig, mask);
    for (uint32_t lane = 0; lane < ISA_LANES; lane++) {
        if (!(mask >> lane & 1)) continue;
        assert_int_equal(rig->context.did.address[lane], expected[lane]);
        if (strncmp(line, "ld", 2) == 0) assert_int_equal(data[lane], expected[lane] / 4);
    }
    rig_free(rig);
}

static void test_the_timing_model_is_told_every_lanes_address(void **state) {
    (void)state;
    static const uint32_t steps[] = {0, 4, 8, 12}, splits[] = {0, 4, 64, 128};
    for (int v = 0; v < isa_variant_count(); ++v) {
        const IsaVariant *variant = isa_variant(v);
        for (size_t i = 0; variant && i < 4 * 4; i++) {
            const char *load = "ld.shared.u32 %r0, [%r1+8];",
                       *store = "st.shared.u32 [%r1+8], %r0;";
            check_told(variant, load, steps[i % 4], splits[i / 4], UINT32_MAX);
            check_told(variant, load, steps[i % 4], splits[i / 4], 0x7FFF00FE);
            check_told(variant, store, steps[i % 4], splits[i / 4], UINT32_MAX);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_worked_examples),
        cmocka_unit_test(test_shuffles),
        cmocka_unit_test(test_matches_and_elections),
        cmocka_unit_test(test_thread_indices),
        cmocka_unit_test(test_carry_chain),
        cmocka_unit_test(test_rounding_is_the_hosts),
        cmocka_unit_test(test_conversions_round_as_the_host_does),
        cmocka_unit_test(test_functions_are_close),
        cmocka_unit_test(test_the_timing_model_is_told_every_lanes_address),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
