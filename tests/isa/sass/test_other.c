/* Compares machine-code operations that correspond to several PTX operations, or the reverse, with
 * PTX: `test_sass_other SM LEVEL`. */
#include "trial.h"

#include <stdlib.h>

/* Pairs of floats. a0, a1, b0, b1, c0 and c1 are inputs; n.. are those negated, m.. their
 * magnitudes. The PTX that runs computes each float apart, and three operands in two steps. */
#define ONE(name)                                                                                  \
    ".reg .f32 " name ",n" name ",m" name "; mov.f32 " name ",<f1; neg.f32 n" name "," name        \
    "; abs.f32 m" name "," name "; "
#define INPUTS ".reg .b64 x,y,z,w; " ONE("a0") ONE("a1") ONE("b0") ONE("b1") ONE("c0") ONE("c1")
#define THREE(op, a, b, c)                                                                         \
    {100, INPUTS op " >f1," a "," b "," c, 0,                                                      \
     INPUTS ".reg .f32 r; " op " r," a "," b "; " op " >f1,r," c}
#define PAIR(name, low, high) "mov.b64 " name ",{" low "," high "}; "
#define PAIRS2(op, a, aa, b, bb)                                                                   \
    {100, INPUTS PAIR("x", a, aa) PAIR("y", b, bb) op ".f32x2 w,x,y; mov.b64 {>f1,>f1},w", 0,      \
     INPUTS op ".f32 >f1," a "," b "; " op ".f32 >f1," aa "," bb}
#define PAIRS3(op, a, aa, b, bb, c, cc)                                                            \
    {100,                                                                                          \
     INPUTS PAIR("x", a, aa) PAIR("y", b, bb) PAIR("z", c, cc) op                                  \
     ".f32x2 w,x,y,z; mov.b64 {>f1,>f1},w",                                                        \
     0, INPUTS op ".f32 >f1," a "," b "," c "; " op ".f32 >f1," aa "," bb "," cc}

/* Both halves of a register, as sources of their own. The lower one keeps ptxas from loading the
 * upper one alone. */
#define HALVES(low, high) ".reg .b16 " low "," high "; mov.b32 {" low "," high "},<r1; "

/* Numbers a and b, and z, which is a number or 0. Sources of 64 bits come first, so that they are
 * aligned. */
#define LONGS ".reg .b64 a,b,x,z; mov.b64 a,<l1; mov.b64 b,<l1; mov.b64 z,<l1; selp.b64 z,z,0,<p1; "
#define WORDS ".reg .b32 a,b,x,z; mov.b32 a,<r1; mov.b32 b,<r1; mov.b32 z,<r1; selp.b32 z,z,0,<p1; "
/* The result, and whether its lower and its upper half are those of the first source. */
#define WHOSE(op)                                                                                  \
    ".reg .b32 x, y, z; .reg .b16 a, b, c, d; mov.b32 x, <r1; mov.b32 y, <r1; " op                 \
    " z, x, y; mov.b32 {a,b}, z; mov.b32 {c,d}, x; setp.eq.s16 >p1, a, c; setp.eq.s16 >p1, b, d; " \
    "mov.b32 >r1, z"

static const TrialRow rows[] = {
    /* the registers of words that are not loaded do not exist */
    {100, "ld.global.v8.b32 {>r1,_,_,_,>r1,_,_,>r1}, [words]", 0},
    {100, "ld.global.v8.b32 {_,>r1,>r1,_,_,>r1,_,>r1}, [words]", 0},
    {100, "ld.global.v8.b32 {_,_,_,>r1,_,_,>r1,_}, [words+32]", 0},
    {75, "set.lt.f16x2.f16x2 >r1, <r1, <r1", 0},
    {75, "set.geu.u32.f16x2 >r1, <r1, <r1", 0},
    {75, "set.nan.ftz.f16x2.f16x2 >r1, <r1, <r1", 0},
    {90, "set.eq.bf16x2.bf16x2 >r1, <r1, <r1", 0},
    {75, "setp.lt.f16x2 >p1|>p1, <r1, <r1", 0},
    {75, "setp.neu.or.f16x2 >p1|>p1, <r1, <r1, <p1", 0},
    {75, "setp.num.xor.ftz.f16x2 >p1|>p1, <r1, <r1, !<p1", 0},
    {75, "setp.ge.f16 >p1, <h1, <h1", 0},
    {90, "setp.gtu.bf16x2 >p1|>p1, <r1, <r1", 0},
    {90, "setp.le.and.bf16 >p1, <h1, <h1, <p1", 0},
    {75, "cvt.pack.sat.u8.s32.b32 >r1, <r1, <r1, <r1", 0},
    {75, "cvt.pack.sat.s8.s32.b32 >r1, <r1, <r1, <r1", 0},
    {75, "cvt.pack.sat.u16.s32 >r1, <r1, <r1", 0},
    {75, "cvt.pack.sat.s16.s32 >r1, <r1, <r1", 0},
    {75, "cvt.sat.u8.s32 >r1, <r1", 0},
    {75, "cvt.sat.s8.s32 >r1, <r1", 0},
    {75, "cvt.sat.u16.s32 >r1, <r1", 0},
    {75, "cvt.sat.s16.s32 >r1, <r1", 0},
    {75, "cvt.rni.sat.u8.f32 >r1, <f1", 0},
    {75, "cvt.rni.sat.s8.f32 >r1, <f1", 0},
    {86, "cvt.rzi.u8.f32 >r1, <f1", 0},
    {80, "cvt.rn.f16x2.f32 >r1, <f1, <f1", 0},
    {80, "cvt.rz.relu.bf16x2.f32 >r1, <f1, <f1", 0},
    {80, "cvt.rn.satfinite.f16.f32 >h1, <f1", 0},
    {80, "cvt.rn.satfinite.relu.bf16.f32 >h1, <f1", 0},
    {90, "cvt.rz.relu.tf32.f32 >r1, <f1", 0},
    {89, "cvt.rn.satfinite.e4m3x2.f32 >h1, <f1, <f1", 0},
    {89, "cvt.rn.satfinite.relu.e5m2x2.f32 >h1, <f1, <f1", 0},
    {89, "cvt.rn.satfinite.e4m3x2.f16x2 >h1, <r1", 0},
    {89, "cvt.rn.relu.f16x2.e4m3x2 >r1, <h1", 0},
    {89, "cvt.rn.f16x2.e5m2x2 >r1, <h1", 0},
    {90, "cvt.rzi.s32.bf16 >r1, <h1", 0},
    {90, "cvt.rpi.bf16.bf16 >h1, <h1", 0},
    {90, "cvt.rn.f16.bf16 >h1, <h1", 0},
    /* constants that are narrower than what they are converted to */
    {75, ".reg .f32 f; abs.f32 f,0fC3000000; cvt.rpi.s64.f32 >l1,f", 0},
    {75, ".reg .f32 f; abs.f32 f,0fC3480000; cvt.f64.f32 >d1,f", 0},
    {75, ".reg .b16 h; mov.b16 h,0xD848; abs.f16 h,h; cvt.rni.u64.f16 >l1,h", 0},
    {75, ".reg .f64 d; abs.f64 d,0dC069000000000000; cvt.rmi.s32.f64 >r1,d", 0},
    /* the carry of a difference whose terms may be 0 */
    {75, LONGS "mul.wide.u32 x,<r1,<r1; sub.cc.u64 >l1,x,z; subc.u64 >l1,a,b", 0},
    {75, LONGS "mul.wide.s32 x,<r1,<r1; sub.cc.u64 >l1,x,z; subc.u64 >l1,a,b", 0},
    {75, LONGS "mul.wide.u32 x,<r1,<r1; sub.cc.u64 >l1,z,x; subc.u64 >l1,a,b", 0},
    {75, LONGS "shl.b64 x,z,3; sub.cc.u64 >l1,a,x; subc.u64 >l1,b,a", 0},
    {75, WORDS "mul.lo.u32 x,a,b; sub.cc.u32 >r1,x,z; subc.u32 >r1,a,b", 0},
    {75, WORDS "shl.b32 x,z,3; sub.cc.u32 >r1,a,x; subc.u32 >r1,b,a", 0},
    /* floats in the place of halves */
    {75, "cvt.rz.f16.f32 >h1, 0f3F123456", 0},
    {75, "cvt.rn.f16.f32 >h1, 0fBF123456", 0},
    {75, "cvt.rz.sat.f16.f32 >h1, <f1", 0},
    {75, "cvt.rz.sat.f16.f32 >h1, 0f3F123456", 0},
    {75, ".reg .b16 a; cvt.rz.f16.f32 a, <f1; add.sat.f16 >h1, a, <h1", 0},
    {75, ".reg .b16 a; cvt.rz.f16.f32 a, <f1; sub.f16 >h1, <h1, a", 0},
    {75, ".reg .b16 a; cvt.rz.f16.f32 a, <f1; mul.sat.f16 >h1, a, <h1", 0},
    {75, ".reg .b16 a,b; cvt.rz.f16.f32 a, <f1; cvt.rz.f16.f32 b, <f1; add.sat.f16 >h1, a, b", 0},
    {100, "add.rz.sat.f32.f16 >f1, <h1, <f1", 0},
    {100, HALVES("a", "b") "add.f32.bf16 >f1, a, <f1; add.rm.f32.bf16 >f1, b, <f1", 0},
    {100, HALVES("a", "b") "neg.f16 b, b; sub.rp.f32.f16 >f1, b, <f1; sub.f32.f16 >f1, a, <f1", 0},
    {100, "fma.rn.f32.bf16 >f1, <h1, <h1, <f1", 0},
    {100, HALVES("a", "b") "fma.rm.sat.f32.f16 >f1, a, b, <f1", 0},
    {100, HALVES("a", "b") "neg.bf16 b, b; fma.rn.f32.bf16 >f1, b, a, <f1", 0},
    /* a negated shifted source, which may be 0: the carry */
    {75, ".reg .b64 x; shl.b64 x, <l1, 30; sub.s64 >l1, <l1, x", 0},
    {75, ".reg .b64 x; shl.b64 x, <l1, 60; sub.s64 >l1, <l1, x", 0},
    {75, ".reg .b64 x; shl.b64 x, <l1, 3; sub.s64 >l1, <l1, x", 0},
    /* complex products: the halves of a source are crossed, and one is negated */
    {75,
     HALVES("a", "b") HALVES("c", "d")
         HALVES("e", "f") "neg.f16 d, d; fma.rn.f16 >h1, a, d, e; fma.rn.f16 >h1, b, c, f",
     0},
    {75,
     HALVES("a", "b") HALVES("c", "d")
         HALVES("e", "f") "neg.f16 c, c; fma.rn.f16 >h1, a, d, e; fma.rn.f16 >h1, b, c, f",
     0},
    {80,
     HALVES("a", "b") HALVES("c", "d") HALVES(
         "e", "f") ".reg .b16 g, h; "
                   "neg.f16 d, d; fma.rn.f16 g, b, d, e; fma.rn.f16 h, b, c, f; mov.b32 >r1, {g,h}",
     0},
    {80,
     HALVES("a", "b") HALVES("c", "d") HALVES(
         "e", "f") ".reg .b16 g, h; "
                   "neg.f16 c, c; fma.rn.f16 g, a, d, e; fma.rn.f16 h, b, c, f; mov.b32 >r1, {g,h}",
     0},
    {90,
     HALVES("a", "b") HALVES("c", "d") HALVES(
         "e",
         "f") ".reg .b16 g, h; "
              "neg.bf16 d, d; fma.rn.bf16 g, b, d, e; fma.rn.bf16 h, b, c, f; mov.b32 >r1, {g,h}",
     0},
    /* a maximum of halves that tells whose they are */
    {90, WHOSE("max.s16x2"), 0},
    {90, WHOSE("min.s16x2"), 0},
    {90, WHOSE("max.u16x2"), 0},
    {90, WHOSE("min.u16x2"), 0},
    {75, "ex2.approx.f16x2 >r1, <r1", 0},
    {75, "tanh.approx.f16x2 >r1, <r1", 0},
    {90, "ex2.approx.ftz.bf16x2 >r1, <r1", 0},
    {90, "tanh.approx.bf16 >h1, <h1", 0},
    {90, "elect.sync >r1|>p1, -1", 0},
    {75, "mov.u32 >r1, %total_smem_size", 0},
    {75, "st.shared.u32 [counter], 1; mov.u32 >r1, %total_smem_size", 0},
    {75, "sad.u32 >r1, <r1, <r1, <r1", 0},
    {75, "sad.s32 >r1, <r1, <r1, <r1", 0},
    {75, "vabsdiff4.u32.u32.u32 >r1, <r1, <r1, <r1", 0},
    {75, "vabsdiff4.u32.u32.u32.add >r1, <r1, <r1, <r1", 0},
    {75, "vabsdiff4.s32.s32.s32.add >r1, <r1, <r1, <r1", 0},
    {75, "fma.rn.f16x2 >r1, <r1, <r1, <r1", 0},
    {80, "fma.rn.relu.f16x2 >r1, <r1, <r1, <r1", 0},
    {80, "fma.rn.bf16x2 >r1, <r1, <r1, <r1", 0},
    {75, "red.shared.add.u32 [counter], 1; ld.shared.u32 >r1, [counter]", 0},
    {75, "atom.shared.add.u64 >l1, [counter], <l1; bar.warp.sync -1; ld.shared.u64 >l1, [counter]",
     0},
    {75, "atom.shared.add.f64 >d1, [counter], 0d3FF0000000000000", 0},
    {75, "atom.shared.min.s32 >r1, [counter], <r1", 0},
    {75, "red.shared.max.u64 [counter], <l1; bar.warp.sync -1; ld.shared.u64 >l1, [counter]", 0},
    {75, "atom.shared.cas.b64 >l1, [counter], 0, <l1", 0},
    /* 64 bits minus a shifted number whose low word may be zero: LEA with a carry */
    {75, ".reg .b64 a; and.b64 a, <l1, 7; shl.b64 a, a, 30; sub.u64 >l1, <l1, a", 0},
    {75, ".reg .b64 a; shl.b64 a, <l1, 4; sub.u64 >l1, <l1, a", 0},
    {75, ".reg .b64 a; shl.b64 a, <l1, 30; sub.u64 >l1, 4096, a", 0},
    THREE("max.f32", "a0", "b0", "c0"),
    THREE("min.ftz.NaN.f32", "a0", "mb0", "nc0"),
    THREE("min.f32", "na0", "0f3fc00000", "c0"),
    {100, "redux.sync.min.u32 >r1, <r1, -1", 0},
    {100, "redux.sync.max.s32 >r1, <r1, -1", 0},
    PAIRS2("add.rn", "a0", "a1", "b0", "b1"),
    PAIRS2("add.rm", "na0", "na1", "b1", "b0"),
    PAIRS2("add.rp.ftz", "a1", "na0", "mb0", "mb1"),
    PAIRS2("add.rz", "a0", "a0", "nb0", "b1"),
    PAIRS2("add.rn.ftz", "na1", "a0", "nb1", "nb1"),
    PAIRS2("add.rn", "a0", "a1", "0f3fc00000", "0f3fc00000"),
    PAIRS2("add.rn", "a0", "a1", "0f3fc00000", "0f40000000"),
    PAIRS2("mul.rn", "a0", "a1", "b0", "b1"),
    PAIRS2("mul.rm", "a1", "a0", "b0", "nb1"),
    PAIRS2("mul.rp.ftz", "ma0", "ma1", "nb1", "nb0"),
    PAIRS2("mul.rz", "a1", "a1", "mb1", "mb1"),
    PAIRS2("mul.rn.ftz", "a0", "a1", "0f3fc00000", "0f3fc00000"),
    PAIRS3("fma.rn", "a0", "a1", "b0", "b1", "c0", "c1"),
    PAIRS3("fma.rm", "a1", "a0", "b1", "b1", "nc0", "c1"),
    PAIRS3("fma.rp", "na1", "a0", "b1", "b0", "c1", "c1"),
    PAIRS3("fma.rz.ftz", "a0", "a0", "nb0", "b1", "mc1", "mc0"),
    PAIRS3("fma.rn.ftz", "ma0", "ma1", "nb0", "nb1", "c1", "nc0"),
    PAIRS3("fma.rn", "a0", "a1", "0f3fc00000", "0f3fc00000", "c0", "c1"),
    PAIRS3("fma.rn", "a0", "a1", "b0", "b1", "0f3fc00000", "0f3fc00000"),
};

int main(int argc, char **argv) {
    const int sm = argc > 1 ? atoi(argv[1]) : 80, level = argc > 2 ? atoi(argv[2]) : 3;
    static const char variables[] = ".shared .align 8 .b64 counter;\n"
                                    ".global .align 32 .b32 words[16] = {1, 2, 3, 4, 5, 6, 7, 8, "
                                    "9, 10, 11, 12, 13, 14, 15, 16};";
    Trial *trial = trial_new(sm, level, variables, rows, sizeof rows / sizeof rows[0]);
    const unsigned wrong = trial_run(trial, 0, false);
    trial_free(trial);
    return wrong != 0;
}
