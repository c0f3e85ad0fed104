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
