/* Compares tensor operations of machine code with PTX: `test_sass_tensor SM LEVEL`. */
#include "trial.h"

#include <stdlib.h>

#define MMA(text)    "mma.sync.aligned." text
#define SPARSE(text) "mma.sp::ordered_metadata.sync.aligned." text
#define EIGHT_BITS(first, shape, a, b)                                                             \
    {first, MMA(shape ".row.col.s32.u8.u8.s32 " a "," b), 0},                                      \
        {first, MMA(shape ".row.col.satfinite.s32.s8.u8.s32 " a "," b), 0},                        \
        {first, MMA(shape ".row.col.s32.u8.s8.s32 " a "," b), 0},                                  \
        {first, MMA(shape ".row.col.satfinite.s32.s8.s8.s32 " a "," b), 0}
#define FOUR_BITS(first, shape, a, b)                                                              \
    {first, MMA(shape ".row.col.s32.u4.u4.s32 " a "," b), 0},                                      \
        {first, MMA(shape ".row.col.satfinite.s32.s4.u4.s32 " a "," b), 0},                        \
        {first, MMA(shape ".row.col.s32.u4.s4.s32 " a "," b), 0},                                  \
        {first, MMA(shape ".row.col.satfinite.s32.s4.s4.s32 " a "," b), 0}
/* Later architectures compute these differently, without tensor cores. */
#define QUADS(layout)                                                                              \
    {75, MMA("m8n8k4." layout ".f16.f16.f16.f16 >r4, <r2, <r2, <r4"), 75},                         \
        {75, MMA("m8n8k4." layout ".f32.f16.f16.f16 >f8, <r2, <r2, <r4"), 75},                     \
        {75, MMA("m8n8k4." layout ".f32.f16.f16.f32 >f8, <r2, <r2, <f8"), 75}

static const TrialRow rows[] = {
    {75, MMA("m16n8k8.row.col.f16.f16.f16.f16 >r2, <r2, {<r1}, <r2"), 0},
    {75, MMA("m16n8k8.row.col.f32.f16.f16.f32 >f4, <r2, {<r1}, <f4"), 0},
    {80, MMA("m16n8k16.row.col.f16.f16.f16.f16 >r2, <r4, <r2, <r2"), 0},
    {80, MMA("m16n8k16.row.col.f32.f16.f16.f32 >f4, <r4, <r2, <f4"), 0},
    {80, MMA("m16n8k8.row.col.f32.bf16.bf16.f32 >f4, <r2, {<r1}, <f4"), 0},
    {80, MMA("m16n8k16.row.col.f32.bf16.bf16.f32 >f4, <r4, <r2, <f4"), 0},
    {80, MMA("m16n8k4.row.col.f32.tf32.tf32.f32 >f4, <r2, {<r1}, <f4"), 0},
    {80, MMA("m16n8k8.row.col.f32.tf32.tf32.f32 >f4, <r4, <r2, <f4"), 0},
    QUADS("row.row"),
    QUADS("row.col"),
    QUADS("col.row"),
    QUADS("col.col"),
    EIGHT_BITS(75, "m8n8k16", ">r2, {<r1}, {<r1}", " <r2"),
    EIGHT_BITS(80, "m16n8k16", ">r4, <r2, {<r1}", " <r4"),
    EIGHT_BITS(80, "m16n8k32", ">r4, <r4, <r2", " <r4"),
    FOUR_BITS(75, "m8n8k32", ">r2, {<r1}, {<r1}", " <r2"),
    FOUR_BITS(80, "m16n8k32", ">r4, <r2, {<r1}", " <r4"),
    FOUR_BITS(80, "m16n8k64", ">r4, <r4, <r2", " <r4"),
    {75, MMA("m8n8k128.row.col.s32.b1.b1.s32.xor.popc >r2, {<r1}, {<r1}, <r2"), 0},
    {80, MMA("m8n8k128.row.col.s32.b1.b1.s32.and.popc >r2, {<r1}, {<r1}, <r2"), 0},
    {80, MMA("m16n8k128.row.col.s32.b1.b1.s32.xor.popc >r4, <r2, {<r1}, <r4"), 0},
    {80, MMA("m16n8k128.row.col.s32.b1.b1.s32.and.popc >r4, <r2, {<r1}, <r4"), 0},
    {80, MMA("m16n8k256.row.col.s32.b1.b1.s32.xor.popc >r4, <r4, <r2, <r4"), 0},
    {80, MMA("m16n8k256.row.col.s32.b1.b1.s32.and.popc >r4, <r4, <r2, <r4"), 0},
    {80, MMA("m8n8k4.row.col.f64.f64.f64.f64 >d2, {<d1}, {<d1}, <d2"), 0},
    {80, MMA("m8n8k4.row.col.rz.f64.f64.f64.f64 >d2, {<d1}, {<d1}, <d2"), 0},
    {80, MMA("m8n8k4.row.col.rm.f64.f64.f64.f64 >d2, {<d1}, {<d1}, <d2"), 0},
    {80, MMA("m8n8k4.row.col.rp.f64.f64.f64.f64 >d2, {<d1}, {<d1}, <d2"), 0},
    {80, SPARSE("m16n8k16.row.col.f32.f16.f16.f32 >f4, <r2, <r2, <f4, <r1, 0x0"), 0},
    {80, SPARSE("m16n8k16.row.col.f16.f16.f16.f16 >r2, <r2, <r2, <r2, <r1, 0x3"), 0},
    {80, SPARSE("m16n8k32.row.col.f32.bf16.bf16.f32 >f4, <r4, <r4, <f4, <r1, 0x1"), 0},
    {80, SPARSE("m16n8k8.row.col.f32.tf32.tf32.f32 >f4, <r2, <r2, <f4, <r1, 0x2"), 0},
    {80, SPARSE("m16n8k16.row.col.f32.tf32.tf32.f32 >f4, <r4, <r4, <f4, <r1, 0x1"), 0},
    {80, SPARSE("m16n8k32.row.col.s32.s8.u8.s32 >r4, <r2, <r2, <r4, <r1, 0x1"), 0},
    {80, SPARSE("m16n8k64.row.col.satfinite.s32.u8.s8.s32 >r4, <r4, <r4, <r4, <r1, 0x0"), 0},
    {80, SPARSE("m16n8k64.row.col.s32.s4.u4.s32 >r4, <r2, <r2, <r4, <r1, 0x1"), 0},
    {80, SPARSE("m16n8k128.row.col.s32.u4.s4.s32 >r4, <r4, <r4, <r4, <r1, 0x0"), 0},
    {75, "movmatrix.sync.aligned.m8n8.trans.b16 >r1, <r1", 0},
};

int main(int argc, char **argv) {
    const int sm = argc > 1 ? atoi(argv[1]) : 80, level = argc > 2 ? atoi(argv[2]) : 3;
    Trial *trial = trial_new(sm, level, "", rows, sizeof rows / sizeof rows[0]);
    const unsigned wrong = trial_run(trial, 0, false);
    trial_free(trial);
    return wrong != 0;
}
