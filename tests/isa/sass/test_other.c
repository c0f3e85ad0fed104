/* Compares machine-code operations that correspond to several PTX operations, or the reverse, with
 * PTX: `test_sass_other SM LEVEL`. */
#include "trial.h"

#include <stdlib.h>

static const TrialRow rows[] = {
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
};

int main(int argc, char **argv) {
    const int sm = argc > 1 ? atoi(argv[1]) : 80, level = argc > 2 ? atoi(argv[2]) : 3;
    Trial *trial =
        trial_new(sm, level, ".shared .align 8 .b64 counter;", rows, sizeof rows / sizeof rows[0]);
    const unsigned wrong = trial_run(trial, 0, false);
    trial_free(trial);
    return wrong != 0;
}
