/* Compares ldmatrix and movmatrix with loads of shared memory, element by element. */
#include "pairs.h"

enum { SHARED_BYTES = 4096, ROW_BYTES = 16, ROWS = SHARED_BYTES / ROW_BYTES };

#define SHARED ".shared .align 16 .b8 s[4096];\n.shared .align 4 .b32 row[32];\n"

/* Fills s from the input, and `row` with the address of the row that each lane names. In the input
 * the rows of the lanes follow the bytes of s. */
static void fill_shared(Pair *pair) {
    pair_add(pair, "mul.wide.u32 %%x0, %%t, 4;\nadd.u64 %%x0, %%x0, %%in;\nmov.u32 %%r0, s;\n"
                   "shl.b32 %%r1, %%t, 2;\nadd.u32 %%r0, %%r0, %%r1;\n");
    for (int i = 0; i < SHARED_BYTES; i += 128)
        pair_add(pair, "ld.global.u32 %%r2, [%%x0+%d];\nst.shared.u32 [%%r0+%d], %%r2;\n", i, i);
    pair_add(pair,
             "ld.global.u32 %%r3, [%%x0+%d];\nmov.u32 %%r4, s;\nadd.u32 %%r3, %%r3, %%r4;\n"
             "mov.u32 %%r4, row;\nadd.u32 %%r1, %%r1, %%r4;\nst.shared.u32 [%%r1], %%r3;\n"
             "bar.sync 0;\n",
             SHARED_BYTES);
}

static void store_registers(Pair *pair, uint32_t count) {
    pair_add(pair, "mul.wide.u32 %%x0, %%t, 16;\nadd.u64 %%x0, %%x0, %%out;\n");
    for (uint32_t i = 0; i < count; i++)
        pair_add(pair, "st.global.u32 [%%x0+%u], %%r%u;\n", 4 * i, 10 + i);
    pair_end(pair);
}

/* %r`to` = the element, or pair of elements, of 8x8 matrix `matrix` that the lane receives: row
 * lane / 4, columns 2 (lane % 4) and the next; transposed: with row and column swapped. */
static void take(Pair *pair, uint32_t to, uint32_t matrix, bool is_transposed) {
    pair_add(pair, "shr.u32 %%r20, %%l, 2;\nand.b32 %%r21, %%l, 3;\nmov.u32 %%r22, row;\n");
    if (!is_transposed) {
        pair_add(pair,
                 "mad.lo.u32 %%r22, %%r20, 4, %%r22;\nld.shared.u32 %%r23, [%%r22+%u];\n"
                 "mad.lo.u32 %%r23, %%r21, 4, %%r23;\nld.shared.u32 %%r%u, [%%r23];\n",
                 matrix * 32, to);
        return;
    }
    pair_add(pair,
             "mad.lo.u32 %%r22, %%r21, 8, %%r22;\nld.shared.u32 %%r23, [%%r22+%u];\n"
             "ld.shared.u32 %%r24, [%%r22+%u];\nmad.lo.u32 %%r23, %%r20, 2, %%r23;\n"
             "mad.lo.u32 %%r24, %%r20, 2, %%r24;\nld.shared.u16 %%r25, [%%r23];\n"
             "ld.shared.u16 %%r26, [%%r24];\nbfi.b32 %%r%u, %%r26, %%r25, 16, 16;\n",
             matrix * 32, matrix * 32 + 4, to);
}

void pair_make_ldmatrix(Pair *pair) {
    static const char *const registers[] = {"{%r10}", "{%r10, %r11}", "{%r10, %r11, %r12, %r13}"};
    const uint32_t size = pair_draw(pair, 3), matrices = 1u << size;
    const bool is_transposed = pair_draw(pair, 2);
    for (int lane = 0; lane < 32; lane++)
        pair->in_words[SHARED_BYTES / 4 + lane] = pair_draw(pair, ROWS) * ROW_BYTES;
    pair_begin(pair, "one", SHARED);
    fill_shared(pair);
    pair_add(pair, "ldmatrix.sync.aligned.m8n8.x%u%s.shared.b16 %s, [%%r3];\n", matrices,
             is_transposed ? ".trans" : "", registers[size]);
    store_registers(pair, matrices);
    pair_begin(pair, "other", "");
    fill_shared(pair);
    for (uint32_t i = 0; i < matrices; i++)
        take(pair, 10 + i, i, is_transposed);
    store_registers(pair, matrices);
}

/* Word i of s belongs to lane i of the fragment: row r of the matrix is the 16 bytes at s + 16
 * r. */
void pair_make_movmatrix(Pair *pair) {
    for (uint32_t lane = 0; lane < 32; lane++)
        pair->in_words[SHARED_BYTES / 4 + lane] = lane % 8 * ROW_BYTES;
    pair_begin(pair, "one", SHARED);
    fill_shared(pair);
    pair_add(pair, "ld.shared.u32 %%r9, [%%r0];\n"
                   "movmatrix.sync.aligned.m8n8.trans.b16 %%r10, %%r9;\n");
    store_registers(pair, 1);
    pair_begin(pair, "other", "");
    fill_shared(pair);
    take(pair, 10, 0, true);
    store_registers(pair, 1);
}
