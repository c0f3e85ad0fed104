/* Kernels with one planted mistake each, and correct kernels that look much the same. The line of
 * the mistake ends in "// bug". For a race, the line of the other access ends in "// other", unless
 * both accesses are on one line.
 *
 * Registers: %p the buffer (its bytes are written, except for the init check), %g %p + 4 * thread,
 * %t thread, %b CTA, %a address of s + 4 * thread; %q %w %z, %v %i %j %k, %c %d are free. s is
 * shared memory of 1024 bytes, l local memory of 64 bytes. */
#ifndef TYTO_TESTS_GPU_PLANTS_H
#define TYTO_TESTS_GPU_PLANTS_H

#include "stats/findings.h"

typedef struct Plant {
    const char *name; /* a description of the mistake */
    const char *body; /* body of the kernel */
    int ctas;         /* 0 means 1 */
    int threads;      /* 0 means 64 */
} Plant;

#define BAR        "bar.sync 0;\n"
#define WARP0      "setp.ge.u32 %c, %t, 32;\n@%c bra END;\n"
#define ONE_THREAD "setp.ne.u32 %c, %t, 0;\n@%c bra END;\n"
#define END        "END:\n"
#define NEXT_WARP  "xor.b32 %i, %a, 128;\n" /* the same lane of the other warp */
/* A product of four warps. B is 256 bytes, starting `at` bytes after %a of thread 0. `mark` ends
 * its line. */
#define PRODUCT(at, mark)                                                                          \
    "{ .reg .f32 %f<4>;\nmov.u32 %i, s;\nadd.u32 %i, %i, " #at ";\nshr.u32 %i, %i, 4;\n"           \
    "cvt.u64.u32 %q, %i;\nor.b64 %q, %q, 0x0000001000080000;\nwgmma.fence.sync.aligned;\n"         \
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, {%t, %t, %t, %t}, "   \
    "%q, 0, 1, 1, 0;" mark "\nwgmma.commit_group.sync.aligned; }\n"
#define PROXY       "fence.proxy.async;\n"
#define WAIT(count) "wgmma.wait_group.sync.aligned " #count ";\n"
#define NEXT_LANE   "xor.b32 %i, %a, 4;\n"
/* `size` bytes of device malloc, address in %q; `mark` ends the line of the call. */
#define MALLOC(size, mark)                                                                         \
    "{ .param .b64 n; .param .b64 r; st.param.b64 [n], " #size ";\n"                               \
    "call.uni (r), malloc, (n);" mark "\n"                                                         \
    "ld.param.b64 %q, [r]; }\n"
#define FREE(pointer, mark)                                                                        \
    "{ .param .b64 n; st.param.b64 [n], " pointer ";\ncall.uni free, (n);" mark "\n}\n"

static const Plant memory_plants[] = {
    {"a read past the buffer", "ld.global.u32 %v, [%p+4096];// bug\n", 0, 0},
    {"a write past the buffer by one thread", "st.global.u32 [%g+3856], %t;// bug\n", 0, 0},
    {"a read before the buffer", "ld.global.u32 %v, [%p+-4];// bug\n", 0, 0},
    {"an atomic past the buffer", "atom.global.add.u32 %v, [%p+4096], 1;// bug\n", 0, 0},
    {"a reduction past the buffer", "red.global.add.u32 [%p+4096], 1;// bug\n", 0, 0},
    {"a null pointer", "mov.u64 %q, 0;\nld.global.u32 %v, [%q];// bug\n", 0, 0},
    {"a generic null pointer", "mov.u64 %q, 0;\nst.u32 [%q+8], %t;// bug\n", 0, 0},
    {"a misaligned read", "ld.global.u32 %v, [%p+2];// bug\n", 0, 0},
    {"a misaligned write of 8 bytes", "st.global.u64 [%p+12], %p;// bug\n", 0, 0},
    {"a vector that ends past the buffer", "ld.global.v4.u32 {%v,%i,%j,%k}, [%p+4096];// bug\n", 0,
     0},
    {"shared memory past its end", "ld.shared.u32 %v, [%a+960];// bug\n", 0, 0},
    {"shared memory past its end, generic",
     "mov.u32 %i, s;\nadd.u32 %i, %i, 1024;\ncvt.u64.u32 %q, %i;\ncvta.shared.u64 %q, %q;\n"
     "st.u32 [%q], %t;// bug\n",
     0, 0},
    {"local memory past its end", "mov.u64 %q, l;\nld.local.u32 %v, [%q+64];// bug\n", 0, 0},
    {"constant memory written", "mov.u64 %q, constant;\nst.global.u32 [%q], %t;// bug\n", 0, 0},
    {"a byte past a block of device malloc",
     ONE_THREAD MALLOC(10, "") "st.u8 [%q+10], %t;// bug\n" FREE("%q", "") END, 0, 0},
    {"a word past a block of device malloc, in its last granule",
     ONE_THREAD MALLOC(20, "") "ld.u32 %v, [%q+20];// bug\n" FREE("%q", "") END, 0, 0},
    {"device malloc's block used after free",
     ONE_THREAD MALLOC(64, "") FREE("%q", "") "st.u32 [%q+8], %t;// bug\n" END, 0, 0},
    {"a block freed twice", ONE_THREAD MALLOC(64, "") FREE("%q", "") FREE("%q", "// bug") END, 0,
     0},
    {"a pointer into the device heap where no block is",
     ONE_THREAD MALLOC(64, "") "st.u32 [%q+4096], %t;// bug\n" FREE("%q", "") END, 0, 0},
};

static const Plant race_plants[] = {
    {"wgmma reads what is stored without fence.proxy.async",
     "st.shared.u32 [%a], %t;// other\n" BAR PRODUCT(0, "// bug") WAIT(0), 0, 128},
    {"a fence.proxy.async before the store",
     PROXY "st.shared.u32 [%a], %t;// other\n" BAR PRODUCT(0, "// bug") WAIT(0), 0, 128},
    {"what wgmma reads is overwritten without a wait",
     "st.shared.u32 [%a], %t;\n" PROXY BAR PRODUCT(0, "// other") "st.shared.u32 [%a], 1;// bug\n",
     0, 128},
    {"a wait that leaves the group under way",
     "st.shared.u32 [%a], %t;\n" PROXY BAR PRODUCT(256, "") PRODUCT(0, "// other")
         WAIT(1) "setp.lt.u32 %c, %t, 64;\n@%c st.shared.u32 [%a], 1;// bug\n",
     0, 128},
    {"another warp overwrites it after a barrier, without a wait",
     "st.shared.u32 [%a], %t;\n" PROXY BAR "setp.ge.u32 %c, %t, 128;\n@%c bra MEET;\n" PRODUCT(
         0, "// other") "MEET:\n" BAR "@!%c bra END;\nst.shared.u32 [s], 1;// bug\n" END,
     0, 160},
    {"a bulk copy reads what is stored without fence.proxy.async",
     "st.shared.u32 [%a], %t;// other\n" BAR ONE_THREAD
     "mov.u32 %i, s;\ncp.async.bulk.global.shared::cta.bulk_group [%p], [%i], 64;// bug\n" END,
     0, 64},
    {"no barrier between a write and a read of another warp",
     "st.shared.u32 [%a], %t;// other\n" NEXT_WARP "ld.shared.u32 %v, [%i];// bug\n", 0, 0},
    {"no barrier between a read and a write of another warp",
     "st.shared.u32 [%a], %t;\n" BAR NEXT_WARP "ld.shared.u32 %v, [%i];// other\n"
     "st.shared.u32 [%a], %v;// bug\n",
     0, 0},
    {"all threads write one word", "st.shared.u32 [s], %t;// bug\n", 0, 0},
    {"two warps write one word at two lines",
     "setp.ge.u32 %c, %t, 32;\n@%c bra HIGH;\nst.shared.u32 [s], 1;// other\nbra END;\n"
     "HIGH:\nst.shared.u32 [s], 2;// bug\n" END,
     0, 0},
    {"two lanes of a warp without bar.warp.sync",
     "st.shared.u32 [%a], %t;// other\n" NEXT_LANE "ld.shared.u32 %v, [%i];// bug\n", 0, 32},
    {"a loop without a barrier at its end",
     "mov.u32 %j, 0;\nLOOP:\nadd.u32 %v, %t, %j;\nst.shared.u32 [%a], %v;// bug\n" BAR NEXT_WARP
     "ld.shared.u32 %v, [%i];// other\nadd.u32 %j, %j, 1;\nsetp.lt.u32 %c, %j, 2;\n@%c bra LOOP;\n",
     0, 0},
    {"pairs of threads write one byte",
     "shr.u32 %i, %t, 1;\nmov.u32 %j, s;\nadd.u32 %i, %i, %j;\nst.shared.u8 [%i], %t;// bug\n", 0,
     0},
    {"a vector over words of others",
     "st.shared.u32 [%a], %t;// other\nxor.b32 %i, %a, 128;\nand.b32 %i, %i, 0xfffffff0;\n"
     "ld.shared.v4.u32 {%v,%i,%j,%k}, [%i];// bug\n",
     0, 0},
    {"a barrier per warp only",
     "st.shared.u32 [%a], %t;// other\nshr.u32 %j, %t, 5;\nadd.u32 %j, %j, 1;\nbar.sync %j, "
     "32;\n" NEXT_WARP "ld.shared.u32 %v, [%i];// bug\n",
     0, 0},
    {"a counter set by one thread and added to by all",
     "setp.ne.u32 %c, %t, 0;\n@!%c st.shared.u32 [s], 5;// other\n"
     "atom.shared.add.u32 %v, [s], 1;// bug\n",
     0, 0},
    {"a sum read before all have added to it",
     "atom.shared.add.u32 %v, [s], 1;// other\nld.shared.u32 %v, [s];// bug\n", 0, 0},
    {"the same through generic addresses",
     "cvt.u64.u32 %q, %a;\ncvta.shared.u64 %q, %q;\nst.u32 [%q], %t;// other\n"
     "xor.b64 %q, %q, 128;\nld.u32 %v, [%q];// bug\n",
     0, 0},
    {"global memory of a CTA without a barrier",
     "st.global.u32 [%g], %t;// other\nxor.b64 %q, %g, 128;\nld.global.u32 %v, [%q];// bug\n", 0,
     0},
    {"all CTAs write one word", ONE_THREAD "st.global.u32 [%p], %b;// bug\n" END, 4, 0},
    {"a CTA reads what another writes",
     ONE_THREAD "setp.eq.u32 %c, %b, 0;\n@%c st.global.u32 [%p], 7;// other\n"
                "@%c bra END;\nld.global.u32 %v, [%p];// bug\n" END,
     2, 0},
    {"a flag without a fence",
     ONE_THREAD "setp.eq.u32 %c, %b, 0;\n@%c st.global.u32 [%p], 7;// other\n"
                "@%c st.volatile.global.u32 [%p+4], 1;\n@%c bra END;\n"
                "ld.volatile.global.u32 %v, [%p+4];\nld.global.u32 %v, [%p];// bug\n" END,
     2, 0},
    {"a fence for the CTA only",
     ONE_THREAD "setp.eq.u32 %c, %b, 0;\n@%c st.global.u32 [%p], 7;// other\n@%c membar.cta;\n"
                "@%c st.volatile.global.u32 [%p+4], 1;\n@%c bra END;\n"
                "ld.volatile.global.u32 %v, [%p+4];\nld.global.u32 %v, [%p];// bug\n" END,
     2, 0},
    {"a consumer that arrives at the barrier instead of waiting",
     "setp.ge.u32 %c, %t, 32;\n@%c bra READ;\nst.shared.u32 [%a], %t;// other\nbar.sync 1, 64;\n"
     "bra END;\nREAD:\nbar.arrive 1, 64;\n" NEXT_WARP "ld.shared.u32 %v, [%i];// bug\n" END,
     0, 0},
};

static const Plant init_plants[] = {
    {"shared memory that was never written", "ld.shared.u32 %v, [%a];// bug\n", 0, 0},
    {"a word of shared memory, half of it written",
     "st.shared.u16 [%a], %t;\nld.shared.u32 %v, [%a];// bug\n", 0, 0},
    {"an allocation that was never written", "ld.global.u32 %v, [%p];// bug\n", 0, 0},
    {"the second half of an allocation",
     "st.global.u32 [%g], %t;\nld.global.u32 %v, [%g+256];// bug\n", 0, 0},
    {"a counter in shared memory that was not set to zero",
     "atom.shared.add.u32 %v, [s], 1;// bug\n", 0, 0},
    {"a counter in global memory that was not set to zero",
     "atom.global.add.u32 %v, [%p], 1;// bug\n", 0, 0},
    {"the same with a reduction", "red.global.add.u32 [%p], 1;// bug\n", 0, 0},
    {"a local array", "mov.u64 %q, l;\nld.local.u32 %v, [%q];// bug\n", 0, 0},
    {"the next element of a local array",
     "mov.u64 %q, l;\nst.local.u32 [%q], %t;\nld.local.u32 %v, [%q+4];// bug\n", 0, 0},
    {"a vector, one element of it written",
     "st.global.u32 [%p], 1;\nld.global.v2.u32 {%v,%i}, [%p];// bug\n", 0, 0},
    {"a block of device malloc",
     ONE_THREAD MALLOC(64, "") "ld.u32 %v, [%q];// bug\n" FREE("%q", "") END, 0, 0},
    {"a block that device malloc gives a second time",
     ONE_THREAD MALLOC(16, "") "st.u32 [%q], 1;\n" FREE("%q", "")
         MALLOC(8388592, "") "mov.u64 %w, %q;\n" MALLOC(16, "") "ld.u32 %v, [%q];// bug\n" END,
     0, 0},
    {"shared memory by a generic address",
     "cvt.u64.u32 %q, %a;\ncvta.shared.u64 %q, %q;\nld.u32 %v, [%q];// bug\n", 0, 0},
    {"shared memory, half of its words written by their threads",
     "setp.lt.u32 %c, %t, 32;\n@%c st.shared.u32 [%a], %t;\n" BAR "ld.shared.u32 %v, [%a];// bug\n",
     0, 0},
    {"shared memory that the CTA before wrote",
     "setp.eq.u32 %c, %b, 0;\n@%c st.shared.u32 [%a], %t;\n@%c bra END;\n"
     "ld.shared.u32 %v, [%a];// bug\n" END,
     2, 0},
    {"a byte after a text", "st.global.u16 [%p], %t;\nld.global.u8 %v, [%p+2];// bug\n", 0, 0},
    {"a local array of a function that is called again", "call.uni fill, ();\ncall.uni look, ();\n",
     0, 0},
};

static const Plant sync_plants[] = {
    {"a barrier that half of a warp skips",
     "and.b32 %i, %t, 16;\nsetp.ne.u32 %c, %i, 0;\n@%c bra END;\nbar.sync 0;// bug\n" END
     "st.global.u32 [%g], %t;\n",
     0, 0},
    {"a barrier in a loop that lanes leave at different times",
     "mov.u32 %j, 0;\nand.b32 %i, %t, 1;\nLOOP:\nbar.sync 0;// bug\nadd.u32 %j, %j, 1;\n"
     "setp.le.u32 %c, %j, %i;\n@%c bra LOOP;\n"
     "st.global.u32 [%g], %t;\n",
     0, 0},
    {"a reduction at a barrier that half of a warp skips",
     "and.b32 %i, %t, 16;\nsetp.ne.u32 %c, %i, 0;\n@%c bra END;\n"
     "bar.red.popc.u32 %v, 0, %c;// bug\n" END "st.global.u32 [%g], %t;\n",
     0, 0},
    {"a shuffle by a lane that its mask leaves out",
     "shfl.sync.idx.b32 %v, %t, 0, 31, 0xfffffffe;// bug\n", 0, 32},
    {"a vote by a lane that its mask leaves out",
     "setp.lt.u32 %c, %t, 5;\nvote.sync.ballot.b32 %v, %c, 0x0000ffff;// bug\n", 0, 32},
    {"bar.warp.sync by a lane that its mask leaves out", "bar.warp.sync 0x7fffffff;// bug\n", 0,
     32},
    {"bar.warp.sync of all lanes by half a warp",
     "setp.ge.u32 %c, %t, 16;\n@%c bra END;\nbar.warp.sync 0xffffffff;// bug\n" END, 0, 32},
    {"a shuffle of all lanes by half a warp",
     "setp.ge.u32 %c, %t, 16;\n@%c bra END;\n"
     "shfl.sync.bfly.b32 %v, %t, 1, 31, 0xffffffff;// bug\n" END,
     0, 32},
    {"a vote of all lanes by half a warp",
     "setp.ge.u32 %c, %t, 16;\nsetp.lt.u32 %d, %t, 3;\n@%c bra END;\n"
     "vote.sync.any.pred %d, %d, 0xffffffff;// bug\n" END,
     0, 32},
    {"a match of all lanes by half a warp",
     "setp.ge.u32 %c, %t, 16;\n@%c bra END;\nmatch.any.sync.b32 %v, %t, 0xffffffff;// bug\n" END, 0,
     32},
    {"a match of all lanes for which one is missing",
     "setp.eq.u32 %c, %t, 9;\n@%c bra END;\nmatch.all.sync.b32 %v, %t, 0xffffffff;// bug\n" END, 0,
     32},
    {"two counts at one barrier",
     "setp.ge.u32 %c, %t, 32;\n@%c bra HIGH;\nbar.sync 1, 64;\nbra END;\nHIGH:\n"
     "bar.arrive 1, 96;// bug\nbar.arrive 1, 64;\nbar.arrive 1, 64;\n" END,
     0, 64},
    {"a barrier with a count where other threads wait for all",
     "setp.ge.u32 %c, %t, 32;\n@%c bra HIGH;\nbar.sync 1;\nbra END;\nHIGH:\n"
     "bar.sync 1, 64;// bug\n" END,
     0, 64},
    {"the two sides of a branch between warps wait at different barriers",
     "setp.ge.u32 %c, %t, 32;\n@%c bra HIGH;\nbar.sync 0;\nbra END;\nHIGH:\n"
     "bar.sync 0;// bug\n" END,
     0, 64},
    {"a shuffle from a lane outside the mask",
     "setp.ge.u32 %c, %t, 16;\n@%c bra END;\n"
     "shfl.sync.idx.b32 %v, %t, 20, 31, 0x0000ffff;// bug\n" END,
     0, 32},
    {"a shuffle from a lane that has exited",
     "setp.eq.u32 %c, %t, 3;\n@%c exit;\nshfl.sync.idx.b32 %v, %t, 3, 31, 0xffffffff;// bug\n", 0,
     32},
    {"lanes with masks that disagree",
     "setp.lt.u32 %c, %t, 16;\nselp.b32 %i, 0xffffffff, 0xfffffffe, %c;\n"
     "setp.eq.u32 %c, %t, 0;\n@%c mov.u32 %i, 0xffffffff;\n"
     "shfl.sync.bfly.b32 %v, %t, 1, 31, %i;// bug\n",
     0, 32},
};

static const Plant leak_plants[] = {
    {"a block that is never freed", ONE_THREAD MALLOC(16, "// bug") END, 0, 0},
    {"a block of each thread", MALLOC(16, "// bug"), 0, 0},
    {"the first of two blocks", ONE_THREAD MALLOC(16, "// bug") MALLOC(16, "") FREE("%q", "") END,
     0, 0},
    {"the second of two blocks",
     ONE_THREAD MALLOC(16, "") "mov.u64 %w, %q;\n" MALLOC(16, "// bug") FREE("%w", "") END, 0, 0},
    {"all but the last of a loop",
     ONE_THREAD "mov.u32 %j, 0;\nLOOP:\n" MALLOC(
         24, "// bug") "add.u32 %j, %j, 1;\nsetp.lt.u32 %c, %j, 3;\n@%c bra LOOP;\n" FREE("%q", "")
         END,
     0, 0},
    {"a block that only some threads free",
     MALLOC(16, "// bug") "setp.lt.u32 %c, %t, 8;\n@!%c bra END;\n" FREE("%q", "") END, 0, 0},
    {"a block freed under a condition that never holds",
     ONE_THREAD MALLOC(16, "// bug") "setp.eq.u64 %c, %q, 0;\n@!%c bra END;\n" FREE("%q", "") END,
     0, 0},
    {"a block whose address is overwritten",
     ONE_THREAD MALLOC(16, "// bug") "mov.u64 %q, 0;\n" FREE("%q", "") END, 0, 0},
    {"a block of one side of a branch",
     "setp.lt.u32 %c, %t, 32;\n@%c bra LOW;\n" MALLOC(16, "")
         FREE("%q", "") "bra END;\nLOW:\n" MALLOC(32, "// bug") END,
     0, 0},
    {"a block of the second CTA", "setp.ne.u32 %c, %b, 1;\n@%c bra END;\n" MALLOC(16, "// bug") END,
     2, 1},
    {"a large block", ONE_THREAD MALLOC(1000000, "// bug") END, 0, 0},
    {"a block that is written", ONE_THREAD MALLOC(16, "// bug") "st.u32 [%q], 1;\n" END, 0, 0},
    {"a block whose address is kept for later",
     ONE_THREAD MALLOC(16, "// bug") "st.global.u64 [%p], %q;\n" END, 0, 0},
    {"a block of a thread that exits",
     "setp.eq.u32 %c, %t, 5;\n@!%c bra END;\n" MALLOC(16, "// bug") "exit;\n" END, 0, 0},
    {"a block of a byte", ONE_THREAD MALLOC(1, "// bug") END, 0, 0},
    {"a block that a lane of each warp takes",
     "and.b32 %i, %t, 31;\nsetp.ne.u32 %c, %i, 7;\n@%c bra END;\n" MALLOC(48, "// bug") END, 0, 0},
};

/* Correct programs: no check may report anything. */
static const Plant right_plants[] = {
    {"wgmma between the fence and the wait that it needs",
     "st.shared.u32 [%a], %t;\n" PROXY BAR PRODUCT(256, "") PRODUCT(0, "")
         WAIT(1) "setp.ge.u32 %c, %t, 64;\n@%c st.shared.u32 [%a], 1;\n" WAIT(
             0) "st.shared.u32 [%a], 2;\n",
     0, 128},
    {"another warp overwrites what wgmma read, after a wait and a barrier",
     "st.shared.u32 [%a], %t;\n" PROXY BAR "setp.ge.u32 %c, %t, 128;\n@%c bra MEET;\n" PRODUCT(
         0, "") WAIT(0) "MEET:\n" BAR "@!%c bra END;\nst.shared.u32 [s], 1;\n" END,
     0, 160},
    {"a bulk copy after fence.proxy.async",
     "st.shared.u32 [%a], %t;\n" PROXY BAR ONE_THREAD
     "mov.u32 %i, s;\ncp.async.bulk.global.shared::cta.bulk_group [%p], [%i], 64;\n" END,
     0, 64},
    {"all lanes of a warp start one bulk copy",
     "st.shared.u32 [%a], %t;\n" PROXY BAR
     "mov.u32 %i, s;\ncp.async.bulk.global.shared::cta.bulk_group [%p], [%i], 64;\n",
     0, 32},
    {"a barrier between a write and a read",
     "st.shared.u32 [%a], %t;\n" BAR NEXT_WARP "ld.shared.u32 %v, [%i];\n" BAR
     "st.shared.u32 [%a], %v;\n",
     0, 0},
    {"bar.warp.sync between lanes",
     "st.shared.u32 [%a], %t;\nbar.warp.sync 0xffffffff;\n" NEXT_LANE "ld.shared.u32 %v, [%i];\n",
     0, 0},
    {"a shuffle between lanes",
     "st.shared.u32 [%a], %t;\nshfl.sync.bfly.b32 %v, %t, 1, 31, 0xffffffff;\n" NEXT_LANE
     "ld.shared.u32 %v, [%i];\n",
     0, 0},
    {"all threads write one value", "st.shared.u32 [s], 7;\n" BAR "ld.shared.u32 %v, [s];\n", 0, 0},
    {"all CTAs write one value", "st.global.u32 [%p], 1;\n", 4, 0},
    {"a sum by atomics, read after a barrier",
     "setp.ne.u32 %c, %t, 0;\n@!%c st.shared.u32 [s], 0;\n" BAR
     "atom.shared.add.u32 %v, [s], 1;\n" BAR "ld.shared.u32 %v, [s];\n",
     0, 0},
    {"the last CTA reads what all wrote, after a fence and an atomic",
     "mad.lo.u32 %i, %b, 64, %t;\nmul.wide.u32 %q, %i, 4;\nadd.u64 %q, %q, %p;\n"
     "st.global.u32 [%q+64], %t;\nmembar.gl;\n" BAR
     "setp.ne.u32 %c, %t, 0;\n@%c bra WAIT;\natom.global.add.u32 %v, [%p], 1;\n"
     "st.shared.u32 [s], %v;\nWAIT:\n" BAR
     "ld.shared.u32 %v, [s];\nsetp.ne.u32 %c, %v, 3;\n@%c bra END;\nld.global.u32 %v, [%g+64];\n"
     "ld.global.u32 %v, [%g+320];\nld.global.u32 %v, [%g+832];\n" END,
     4, 0},
    {"a flag with a fence on each side",
     ONE_THREAD "setp.eq.u32 %c, %b, 0;\n@!%c bra READ;\nst.global.u32 [%p], 7;\nmembar.gl;\n"
                "st.volatile.global.u32 [%p+4], 1;\nbra END;\nREAD:\n"
                "ld.volatile.global.u32 %v, [%p+4];\nsetp.ne.u32 %c, %v, 1;\n@%c bra END;\n"
                "membar.gl;\nld.global.u32 %v, [%p];\n" END,
     2, 0},
    {"producers and consumers at a named barrier",
     "setp.ge.u32 %c, %t, 32;\n@%c bra READ;\nst.shared.u32 [%a], %t;\nbar.arrive 1, 64;\n"
     "bra END;\nREAD:\nbar.sync 1, 64;\n" NEXT_WARP "ld.shared.u32 %v, [%i];\n" END,
     0, 0},
    {"bytes of a word by four threads",
     "mov.u32 %i, s;\nadd.u32 %i, %i, %t;\nst.shared.u8 [%i], %t;\n" BAR
     "and.b32 %i, %i, 0xfffffffc;\nld.shared.u32 %v, [%i];\n",
     0, 0},
    {"threads that leave before a barrier",
     "setp.ge.u32 %c, %t, 40;\n@%c exit;\nst.shared.u32 [%a], %t;\n" BAR "ld.shared.u32 %v, [s];\n",
     0, 0},
    {"lanes that leave before a barrier of the others",
     "and.b32 %i, %t, 31;\nsetp.ge.u32 %c, %i, 20;\n@%c bra END;\nbar.sync 0;\n"
     "st.global.u32 [%g], %t;\n" END,
     0, 0},
    {"bar.warp.sync on both sides of a branch",
     "setp.ge.u32 %c, %t, 16;\n@%c bra HIGH;\nbar.warp.sync 0xffffffff;\nbra END;\nHIGH:\n"
     "bar.warp.sync 0xffffffff;\n" END,
     0, 32},
    {"masks of the halves of a warp",
     "setp.ge.u32 %c, %t, 16;\nselp.b32 %i, 0xffff0000, 0x0000ffff, %c;\n"
     "shfl.sync.bfly.b32 %v, %t, 1, 31, %i;\n",
     0, 32},
    {"a lock handed from CTA to CTA",
     ONE_THREAD "TRY:\natom.global.cas.b32 %v, [%p], 0, 1;\nsetp.ne.u32 %c, %v, 0;\n"
                "@%c bra TRY;\nmembar.gl;\nld.global.u32 %v, [%p+4];\nadd.u32 %v, %v, 1;\n"
                "st.global.u32 [%p+4], %v;\nmembar.gl;\natom.global.exch.b32 %v, [%p], 0;\n" END,
     4, 0},
    {"a block of device malloc, written, read and freed",
     MALLOC(10, "") "st.u8 [%q+9], %t;\nld.u8 %v, [%q+9];\n" FREE("%q", ""), 0, 0},
    {"local memory, written and read",
     "mov.u64 %q, l;\nst.local.u64 [%q], %p;\n"
     "ld.local.u32 %v, [%q+4];\n",
     0, 0},
    {"a barrier in memory, at which copies arrive too, orders accesses before and after it",
     ".reg .b64 %s;\nsetp.ne.u32 %c, %t, 0;\n@%c bra READY;\n"
     "mbarrier.init.shared.b64 [s+512], 64;\nREADY:\n" BAR
     "cp.async.ca.shared.global [%a], [%g], 4;\ncp.async.mbarrier.arrive.shared.b64 [s+512];\n"
     "mbarrier.arrive.shared.b64 %s, [s+512];\nWAIT:\n"
     "mbarrier.test_wait.shared.b64 %d, [s+512], %s;\n@!%d bra WAIT;\n" NEXT_WARP
     "ld.shared.u32 %v, [%i];\n",
     0, 0},
};

#endif
