/* The shapes of wgmma: 64 rows, 8 to 256 columns. Source: PTX ISA 9.0, section 9.7.16.2. */
#ifndef TYTO_PTX_WARPGROUP_SHAPES_H
#define TYTO_PTX_WARPGROUP_SHAPES_H

// clang-format off
/* The shapes with one depth k, in the format of PTX_MATRIX_SHAPES. */
#define PTX_WARPGROUP_SHAPES(SHAPE, k)                                                           \
    SHAPE(64, 8, k) SHAPE(64, 16, k) SHAPE(64, 24, k) SHAPE(64, 32, k) SHAPE(64, 40, k)          \
    SHAPE(64, 48, k) SHAPE(64, 56, k) SHAPE(64, 64, k) SHAPE(64, 72, k) SHAPE(64, 80, k)         \
    SHAPE(64, 88, k) SHAPE(64, 96, k) SHAPE(64, 104, k) SHAPE(64, 112, k) SHAPE(64, 120, k)      \
    SHAPE(64, 128, k) SHAPE(64, 136, k) SHAPE(64, 144, k) SHAPE(64, 152, k) SHAPE(64, 160, k)    \
    SHAPE(64, 168, k) SHAPE(64, 176, k) SHAPE(64, 184, k) SHAPE(64, 192, k) SHAPE(64, 200, k)    \
    SHAPE(64, 208, k) SHAPE(64, 216, k) SHAPE(64, 224, k) SHAPE(64, 232, k) SHAPE(64, 240, k)    \
    SHAPE(64, 248, k) SHAPE(64, 256, k)

/* The same as modifiers of a form: all of them, and those for integers and bits. */
#define PTX_WARPGROUP_EVENS(k)                                                                   \
    ".m64n8" k ",.m64n16" k ",.m64n24" k ",.m64n32" k ",.m64n48" k ",.m64n64" k ",.m64n80" k     \
    ",.m64n96" k ",.m64n112" k ",.m64n128" k ",.m64n144" k ",.m64n160" k ",.m64n176" k           \
    ",.m64n192" k ",.m64n208" k ",.m64n224" k ",.m64n240" k ",.m64n256" k
#define PTX_WARPGROUP_ODDS(k)                                                                    \
    ".m64n40" k ",.m64n56" k ",.m64n72" k ",.m64n88" k ",.m64n104" k ",.m64n120" k ",.m64n136" k \
    ",.m64n152" k ",.m64n168" k ",.m64n184" k ",.m64n200" k ",.m64n216" k ",.m64n232" k          \
    ",.m64n248" k
#define PTX_WARPGROUP_PRODUCT ".mma_async.sync.aligned"
#define PTX_WARPGROUP(k)      PTX_WARPGROUP_PRODUCT "(" PTX_WARPGROUP_EVENS(k) "," PTX_WARPGROUP_ODDS(k) ")"
#define PTX_WARPGROUP_EVEN(k) PTX_WARPGROUP_PRODUCT "(" PTX_WARPGROUP_EVENS(k) ")"
#define PTX_WARPGROUP_SPARSE(k) ".sp" PTX_WARPGROUP(k)
#define PTX_WARPGROUP_SPARSE_EVEN(k) ".sp" PTX_WARPGROUP_EVEN(k)
/* Operands of the forms: for halves, which may be transposed; for other floats; for integers. */
#define PTX_WARPGROUP_16 "d:R, a:M, b:l, c:p, e:n, f:n, g:n{, h:n}"
#define PTX_WARPGROUP_F  "d:R, a:M, b:l, c:p, e:n, f:n"
#define PTX_WARPGROUP_I  "d:R, a:M, b:l, c:p"
/* The same for a sparse A: its metadata and selector come before the predicate. */
#define PTX_WARPGROUP_SPARSE_16 "d:R, a:M, b:l, c:i, e:n, f:p, g:n, h:n, i:n{, j:n}"
#define PTX_WARPGROUP_SPARSE_F  "d:R, a:M, b:l, c:i, e:n, f:p, g:n, h:n"
#define PTX_WARPGROUP_SPARSE_I  "d:R, a:M, b:l, c:i, e:n, f:p"
/* The rows of the table of forms (opcode.c, which has F8, I8 and SYNC). */
#define PTX_WARPGROUP_FORMS \
    {"wgmma", PTX_OP_WGMMA, "(.fence,.commit_group#wgmma)" SYNC, ""}, \
    {"wgmma", PTX_OP_WGMMA, ".wait_group#wgmma" SYNC, "a:n"}, \
    {"wgmma", PTX_OP_WGMMA, PTX_WARPGROUP("k16") "(.f16,.f32).f16.f16", PTX_WARPGROUP_16}, \
    {"wgmma", PTX_OP_WGMMA, PTX_WARPGROUP("k16") ".f32.bf16.bf16", PTX_WARPGROUP_16}, \
    {"wgmma", PTX_OP_WGMMA, PTX_WARPGROUP("k8") ".f32.tf32.tf32", PTX_WARPGROUP_F}, \
    {"wgmma", PTX_OP_WGMMA, PTX_WARPGROUP("k32") "(.f16,.f32)" F8 F8, PTX_WARPGROUP_F}, \
    {"wgmma", PTX_OP_WGMMA, PTX_WARPGROUP_EVEN("k32") "{.satfinite}.s32" I8 I8, PTX_WARPGROUP_I}, \
    {"wgmma", PTX_OP_WGMMA, PTX_WARPGROUP_SPARSE("k32") "(.f16,.f32).f16.f16", PTX_WARPGROUP_SPARSE_16}, \
    {"wgmma", PTX_OP_WGMMA, PTX_WARPGROUP_SPARSE("k32") ".f32.bf16.bf16", PTX_WARPGROUP_SPARSE_16}, \
    {"wgmma", PTX_OP_WGMMA, PTX_WARPGROUP_SPARSE("k16") ".f32.tf32.tf32", PTX_WARPGROUP_SPARSE_F}, \
    {"wgmma", PTX_OP_WGMMA, PTX_WARPGROUP_SPARSE("k64") "(.f16,.f32)" F8 F8, PTX_WARPGROUP_SPARSE_F}, \
    {"wgmma", PTX_OP_WGMMA, PTX_WARPGROUP_SPARSE_EVEN("k64") "{.satfinite}.s32" I8 I8, PTX_WARPGROUP_SPARSE_I}, \
    {"wgmma", PTX_OP_WGMMA, PTX_WARPGROUP_EVEN("k256") ".s32.b1.b1.and.popc#matrix", PTX_WARPGROUP_I},
// clang-format on

#endif
