/* Control flow, calls, barriers, fences, and instructions without an effect on data, as small
 * programs. Each stores one 64-bit value per thread. */
#include "trial.h"

#include <stdio.h>
#include <string.h>

typedef uint64_t Expect(uint32_t thread, bool guard);

/* A program is tested with every spelling of its pattern; "$" in its body is replaced by the
 * spelling. Registers: tid, t (.b32); in, out, at, v (.b64); guard, p, q (.pred). v starts as 0;
 * the thread stores its final value. `in` points to the thread's input, 8 bytes. */
typedef struct Program {
    const char *pattern;
    const char *body;
    Expect *expect;
    const char *functions; /* outside the kernel */
    bool faults;           /* the launch must fail */
} Program;

/* ---- Branches ---- */

#define LOOP                                                                                       \
    "mov.u32 x, 0;\n"                                                                              \
    "loop: setp.ge.u32 p, x, m;\n@p $ done;\n"                                                     \
    "and.b32 t, x, 1;\nsetp.eq.u32 q, t, 0;\n@q $ even;\n"                                         \
    "add.u64 v, v, 100;\n$ next;\n"                                                                \
    "even: add.u64 v, v, 1;\n"                                                                     \
    "next: add.u32 x, x, 1;\n$ loop;\ndone:\n"

static uint64_t after_loop(uint32_t turns) { return (turns + 1) / 2 + turns / 2 * 100; }
static uint64_t expect_loop(uint32_t thread, bool guard) {
    return (void)guard, after_loop(thread % 7);
}
static uint64_t expect_uniform_loop(uint32_t thread, bool guard) {
    return (void)thread, (void)guard, after_loop(5);
}

#define SWITCH                                                                                     \
    "list: .branchtargets a, b, c, d;\n$ t, list;\n"                                               \
    "a: add.u64 v, v, 10;\nbra e;\nb: add.u64 v, v, 20;\n"                                         \
    "c: add.u64 v, v, 30;\nbra e;\nd: add.u64 v, v, 40;\ne: add.u64 v, v, 1;\n"

static uint64_t expect_switch(uint32_t thread, bool guard) {
    static const uint64_t sums[] = {11, 51, 31, 41};
    return (void)guard, sums[thread % 4];
}
static uint64_t expect_uniform_switch(uint32_t thread, bool guard) {
    return (void)thread, (void)guard, 31;
}

/* ---- Functions ---- */

/* f(a, b) = a times the factorial of b, by recursion; g(a, b) = a + b. */
#define FUNCTIONS                                                                                  \
    ".func (.param .b64 r) g(.param .b64 a, .param .b32 b)\n{\n.reg .b64 x, y;\n"                  \
    "ld.param.u64 x, [a];\nld.param.u32 y, [b];\nadd.u64 x, x, y;\n"                               \
    "st.param.u64 [r], x;\nret;\n}\n"                                                              \
    ".func (.param .b64 r) f(.param .b64 a, .param .b32 b)\n{\n"                                   \
    ".reg .b64 x;\n.reg .b32 n, less;\n.reg .b64 wide;\n.reg .pred p;\n"                           \
    "ld.param.u64 x, [a];\nld.param.u32 n, [b];\nsetp.le.u32 p, n, 1;\n@p bra end;\n"              \
    "sub.u32 less, n, 1;\n{\n.param .b64 r1;\n.param .b64 a1;\n.param .b32 b1;\n"                  \
    "st.param.b64 [a1], x;\nst.param.b32 [b1], less;\ncall (r1), f, (a1, b1);\n"                   \
    "ld.param.b64 x, [r1];\n}\ncvt.u64.u32 wide, n;\nmul.lo.u64 x, x, wide;\n"                     \
    "end: st.param.b64 [r], x;\nret;\n}\n"

#define CALL(arguments)                                                                            \
    "{\n.param .b64 r1;\n.param .b64 a1;\n.param .b32 b1;\n"                                       \
    "st.param.b64 [a1], 3;\nst.param.b32 [b1], m;\n$ (r1), " arguments ";\n"                       \
    "ld.param.b64 v, [r1];\n}\n"

static uint64_t three_factorial(uint32_t n) { return n <= 1 ? 3 : three_factorial(n - 1) * n; }
static uint64_t expect_call(uint32_t thread, bool guard) {
    return guard ? three_factorial(thread % 8) : 0;
}
static uint64_t expect_uniform_call(uint32_t thread, bool guard) {
    return (void)thread, (void)guard, three_factorial(6);
}
static uint64_t expect_indirect(uint32_t thread, bool guard) {
    return guard ? three_factorial(thread % 8) : 3 + thread % 8;
}

/* Results that no code uses: 2 for threads below 50, 1 for the others. */
static uint64_t expect_half(uint32_t thread, bool guard) {
    return (void)guard, thread < 50 ? 2 : 1;
}

/* s(n, rest): the sum of n numbers; calls may pass different counts. */
#define SUM                                                                                        \
    ".func (.param .b64 r) s(.param .b32 n, .param .align 8 .b8 rest[])\n{\n.reg .b32 left;\n"     \
    ".reg .b64 x, sum, place;\n.reg .pred p;\n.local .b64 kept;\nmov.b64 sum, 0;\n"                \
    "mov.b64 place, rest;\nld.param.u32 left, [n];\nst.local.b64 [kept], sum;\n"                   \
    "again: setp.eq.u32 p, left, 0;\n@p bra end;\nld.param.u64 x, [place];\n"                      \
    "add.u64 sum, sum, x;\nst.local.b64 [kept], sum;\nadd.u64 place, place, 8;\n"                  \
    "sub.u32 left, left, 1;\nbra again;\n"                                                         \
    "end: ld.local.b64 x, [kept];\nst.param.b64 [r], x;\nret;\n}\n"
#define CALL_SUM(function, shape)                                                                  \
    "{\n.param .b64 r1;\n.param .b32 n1;\n.param .align 8 .b8 all[24];\nst.param.b32 [n1], 3;\n"   \
    "st.param.b64 [all], 4;\nst.param.b64 [all+8], -1;\nst.param.b64 [all+16], 2;\n"               \
    "$ (r1), " function ", (n1, all)" shape ";\nld.param.b64 v, [r1];\n"                           \
    "st.param.b32 [n1], 0;\n$ (r1), " function ", (n1)" shape ";\nld.param.b64 at, [r1];\n}\n"     \
    "add.u64 v, v, at;\n"

/* Predicates as parameters and results: threads below 40, and threads whose guard is false. */
#define PREDICATES                                                                                 \
    ".func (.reg .b32 y, .reg .pred c, .reg .pred d) b(.reg .b32 x, .reg .pred g)\n{\n"            \
    "setp.lt.u32 c, x, 40;\nnot.pred d, g;\nadd.u32 y, x, 1;\nret;\n}\n"
#define CALL_PREDICATES                                                                            \
    "setp.ne.u32 p, tid, tid;\nsetp.eq.u32 q, tid, tid;\n@!guard bra no;\n"                        \
    "$ (t, p, q), b, (tid, guard);\n$ (t, p, _), b, (tid, p);\n"                                   \
    "no: mov.b64 v, 0;\n@p add.u64 v, v, 1;\n@q add.u64 v, v, 2;\n"

static uint64_t expect_predicates(uint32_t thread, bool guard) {
    return !guard ? 2 : thread < 40 ? 1 : 0;
}

/* Vector registers as parameters and results; the results are in another order. */
#define VECTORS                                                                                    \
    ".func (.reg .v2 .b64 y, .reg .b32 z, .reg .v4 .b16 h) turn(.reg .v2 .b64 x, .reg .v4 .b16 g)" \
    "\n{\nmov.v2.b64 y, {x.y, x.x};\nmov.v4.b16 h, {g.y, g.x, g.w, g.z};\nmov.b32 z, {g.z, "       \
    "g.w};\n"                                                                                      \
    "ret;\n}\n"
#define CALL_VECTORS                                                                               \
    ".reg .v2 .b64 a;\n.reg .v4 .b16 b, c;\n.reg .b32 m;\ncvt.u64.u32 a.x, tid;\n"                 \
    "mov.b64 a.y, 1000;\nmov.v4.b16 b, {1, 2, 3, 4};\nmov.v4.b16 c, b;\n@!guard bra no;\n"         \
    "$ (a, m, c), turn, (a, b);\n$ (_, m, _), turn, (a, b);\nadd.u64 v, a.x, a.y;\n"               \
    "cvt.u64.u32 at, m;\nadd.u64 v, v, at;\nno: add.u64 v, v, a.y;\ncvt.u64.u16 at, c.w;\n"        \
    "add.u64 v, v, at;\n"

static uint64_t expect_vectors(uint32_t thread, bool guard) {
    return guard ? thread + 1000 + 0x40003 + thread + 3 : 1000 + 4;
}

/* Registers and local variables outside of functions: a function, and another one that it calls,
 * change those of the caller. */
#define SHARED_REGISTERS                                                                           \
    ".reg .b32 kept<3>, sum;\n.reg .v2 .b64 both;\n.reg .pred flag;\n.local .align 8 .b8 "         \
    "place[16];\n"                                                                                 \
    ".func inner()\n{\n.local .b32 own;\n.reg .b32 x;\nst.local.b32 [own], 100;\n"                 \
    "add.u32 sum, sum, kept1;\nsetp.gt.u32 flag, sum, 60;\nmov.v2.b64 both, {both.y, both.x};\n"   \
    "ld.local.b32 x, [place+4];\nadd.u32 x, x, 1;\nst.local.b32 [place+4], x;\nret;\n}\n"          \
    ".func (.reg .b32 y) outer(.reg .b32 x)\n{\n.reg .b32 kept1;\nmov.b32 kept1, 3;\ncall "        \
    "inner;\n"                                                                                     \
    "call inner;\ncall inner;\nadd.u32 y, x, kept1;\nret;\n}\n"
#define CALL_SHARED                                                                                \
    ".local .align 32 .b32 mine[8];\nst.local.b32 [mine], 7;\nst.local.b32 [place+4], 5;\n"        \
    "mov.b32 kept1, 1;\nmov.b32 sum, tid;\nmov.b64 both.x, 1000;\nmov.b64 both.y, 3000;\n"         \
    "setp.ne.u32 flag, tid, tid;\n@!guard $ inner;\n@guard $ (t), outer, (tid);\n"                 \
    "@!guard mov.b32 t, 0;\nmad.lo.u32 t, sum, 2, t;\nld.local.b32 sum, [place+4];\n"              \
    "mad.lo.u32 t, sum, 2000, t;\nld.local.b32 sum, [mine];\nadd.u32 t, t, sum;\n"                 \
    "@flag add.u32 t, t, 100000;\ncvt.u64.u32 v, t;\nmad.lo.u64 v, both.x, 1000, v;\n"

static uint64_t expect_shared(uint32_t thread, bool guard) {
    const uint32_t calls = guard ? 3 : 1, sum = thread + calls;
    return 3000000 + (guard ? thread + 3 : 0) + sum * 2 + (5 + calls) * 2000 + 7 +
           (sum > 60 ? 100000 : 0);
}

/* A constant is added to a source; all bits of the constant count. */
static uint64_t expect_sum(uint32_t thread, bool guard) {
    return (void)guard, (uint64_t)thread * 4 - 2;
}

/* Accesses its own parameters with the longer names of the space. */
#define OWN_LOAD                                                                                   \
    ".func (.param .b64 r) f(.param .b64 a, .param .b32 b)\n{\n.reg .b64 x;\n$ x, [a];\n"          \
    "add.u64 x, x, 2;\nst.param.b64 [r], x;\nret;\n}\n"
#define OWN_STORE ".func (.param .b64 r) f(.param .b64 a, .param .b32 b)\n{\n$ [r], 5;\nret;\n}\n"
#define CALL_OWN                                                                                   \
    "{\n.param .b64 r1;\n.param .b64 a1;\n.param .b32 b1;\nst.param.b64 [a1], 3;\n"                \
    "st.param.b32 [b1], 3;\ncall (r1), f, (a1, b1);\nld.param.b64 v, [r1];\n}\n"

/* h(a): 1 for odd a, by an early return, else 2. */
#define EARLY                                                                                      \
    ".func (.param .b64 r) h(.param .b32 a)\n{\n.reg .b32 x;\n.reg .pred p;\n"                     \
    "ld.param.u32 x, [a];\nand.b32 x, x, 1;\nsetp.eq.u32 p, x, 1;\n"                               \
    "st.param.b64 [r], 1;\n@p $;\nst.param.b64 [r], 2;\n$;\n}\n"
#define CALL_EARLY                                                                                 \
    "{\n.param .b64 r1;\n.param .b32 a1;\nst.param.b32 [a1], t;\ncall (r1), h, (a1);\n"            \
    "ld.param.b64 v, [r1];\n}\n"

static uint64_t expect_return(uint32_t thread, bool guard) {
    return (void)guard, thread % 2 ? 1 : 2;
}
static uint64_t expect_uniform_return(uint32_t thread, bool guard) {
    return (void)thread, (void)guard, 1;
}
static uint64_t expect_exit(uint32_t thread, bool guard) { return (void)thread, guard ? 1 : 2; }

/* ---- Barriers ---- */

#define CELLS                                                                                      \
    ".shared .b32 cells[96];\n.reg .b64 mine, other;\nmov.u64 mine, cells;\nmov.b64 other, "       \
    "mine;\n"                                                                                      \
    "mad.wide.u32 mine, tid, 4, mine;\n"

/* Adds the value in the cell of thread (tid + shift) % 96. */
#define NEIGHBOUR(shift)                                                                           \
    "add.u32 t, tid, " shift ";\nrem.u32 t, t, 96;\nmov.u64 other, cells;\n"                       \
    "mad.wide.u32 other, t, 4, other;\nld.shared.u32 t, [other];\ncvt.u64.u32 at, t;\n"            \
    "add.u64 v, v, at;\n"

static uint64_t expect_exchange(uint32_t thread, bool guard) {
    return (void)guard, (thread + 33) % 96 * 3 + (thread + 64) % 96 * 7;
}
/* The last warp stores values and only arrives at the barrier; the others wait and read them. */
static uint64_t expect_delivery(uint32_t thread, bool guard) {
    return (void)guard, thread >= 64 ? 5 : thread % 32 + 1000;
}

static uint32_t guarded_threads(void) {
    uint32_t count = 0;
    for (int thread = 0; thread < TRIAL_THREADS; thread++)
        count += trial_guards(thread);
    return count;
}
static uint64_t expect_count(uint32_t thread, bool guard) {
    (void)thread, (void)guard;
    return guarded_threads() + 1000 * (TRIAL_THREADS - guarded_threads());
}
/* The reductions of: guard; true; not guard. As bits 0, 1, 2. */
static uint64_t expect_and(uint32_t thread, bool guard) { return (void)thread, (void)guard, 2; }
static uint64_t expect_or(uint32_t thread, bool guard) { return (void)thread, (void)guard, 7; }

#define REDUCE_PREDICATES                                                                          \
    "$ q, 0, guard;\n@q add.u64 v, v, 1;\nsetp.eq.u32 p, tid, tid;\n$ q, 1, 96, p;\n"              \
    "@q add.u64 v, v, 2;\n$ q, 0, !guard;\n@q add.u64 v, v, 4;\n"

/* ---- No effect on data ---- */

static uint64_t expect_five(uint32_t thread, bool guard) { return (void)thread, (void)guard, 5; }
static uint64_t expect_thread(uint32_t thread, bool guard) { return (void)guard, thread * 5; }

#define STORE_AND_LOAD(instruction)                                                                \
    CELLS "mul.lo.u32 t, tid, 5;\nst.shared.u32 [mine], t;\n" instruction                          \
          "ld.shared.u32 t, [mine];\ncvt.u64.u32 v, t;\n"

static const Program programs[] = {
    {"bra", ".reg .b32 m, x;\nrem.u32 m, tid, 7;\n" LOOP, expect_loop},
    {"bra.uni", ".reg .b32 m, x;\nmov.u32 m, 5;\n" LOOP, expect_uniform_loop},
    {"brx.idx", "rem.u32 t, tid, 4;\n" SWITCH, expect_switch},
    {"brx.idx.uni", "mov.u32 t, 2;\n" SWITCH, expect_uniform_switch},
    {"call", ".reg .b32 m;\nrem.u32 m, tid, 8;\n@!guard bra no;\n" CALL("f, (a1, b1)") "no:\n",
     expect_call, FUNCTIONS},
    {"call.uni", ".reg .b32 m;\nmov.u32 m, 6;\n" CALL("f, (a1, b1)"), expect_uniform_call,
     FUNCTIONS},
    {"call",
     ".reg .b32 m;\n.reg .b64 fp;\nrem.u32 m, tid, 8;\nmov.u64 at, f;\nmov.u64 fp, g;\n"
     "@guard mov.b64 fp, at;\n"
     "shape: .callprototype (.param .b64 _) _ (.param .b64 _, .param .b32 _);\n" CALL(
         "fp, (a1, b1), shape"),
     expect_indirect, FUNCTIONS},
    {"call", CALL_SUM("s", ""), expect_five, SUM},
    {"call",
     ".reg .b64 fp;\nmov.u64 fp, s;\nshape: .callprototype (.param .b64 _) _ (.param .b32 _, "
     ".param .align 8 .b8 _[]);\n" CALL_SUM("fp", ", shape"),
     expect_five, SUM},
    {"call", CALL_PREDICATES, expect_predicates, PREDICATES},
    {"call", CALL_VECTORS, expect_vectors, VECTORS},
    {"call", CALL_SHARED, expect_shared, SHARED_REGISTERS},
    {"call", "mul.wide.u32 at, tid, 4;\nadd.u64 v, at+0xfffffffffffffffd, 1;\n", expect_sum},
    {"ret", "mov.b32 t, tid;\n" CALL_EARLY, expect_return, EARLY},
    {"ret.uni", "mov.b32 t, 1;\n" CALL_EARLY, expect_uniform_return, EARLY},
    {"ld.param::func.b64", CALL_OWN, expect_five, OWN_LOAD},
    {"st.param::func.b64", CALL_OWN, expect_five, OWN_STORE},
    {"setp.lt.s32", "$ _|q, tid, 50;\n@q add.u64 v, v, 1;\n$ p|_, tid, 50;\n@p add.u64 v, v, 2;\n",
     expect_half},
    {"lop3.or.b32",
     "setp.ge.s32 p, tid, 50;\n$ _|q, tid, tid, tid, 0, p;\n@q add.u64 v, v, 1;\n"
     "$ t|_, 2, 3, 3, 0x80, p;\n@!p add.u64 v, v, 2;\n",
     expect_half},
    {"elect.sync",
     "$ _|p, 0xffffffff;\n@p add.u64 v, v, 5;\nshfl.sync.idx.b32 t|q, 5, 0, 31, -1;\n"
     "@!p cvt.u64.u32 v, t;\n",
     expect_five},
    {"ld.global.v4.u32",
     "ld.param.u64 at, [in0];\nmad.wide.u32 at, tid, 16, at;\n$ {_, t, _, _}, [at];\n"
     "ld.global.u32 cta, [at+4];\nsetp.eq.u32 p, t, cta;\n@p mov.b64 v, 5;\n",
     expect_five},
    {"atom.global.add.u32", "st.global.u64 [out], 0;\n$ _, [out], 5;\nld.global.u64 v, [out];\n",
     expect_five},
    {"exit", "st.global.u64 [out], 1;\n@guard $;\nmov.b64 v, 2;\n", expect_exit},
    {"(bar,barrier){.cta}.sync",
     CELLS "mul.lo.u32 t, tid, 3;\nst.shared.u32 [mine], t;\n$ 0;\n" NEIGHBOUR(
         "33") "$ 2, 96;\nmul.lo.u32 t, tid, 7;\nst.shared.u32 [mine], t;\n$ 1;\n" NEIGHBOUR("64"),
     expect_exchange},
    {"barrier{.cta}.sync.aligned",
     CELLS "mul.lo.u32 t, tid, 3;\nst.shared.u32 [mine], t;\n$ 0;\n" NEIGHBOUR(
         "33") "$ 2, 96;\nmul.lo.u32 t, tid, 7;\nst.shared.u32 [mine], t;\n$ 1;\n" NEIGHBOUR("64"),
     expect_exchange},
    {"bar{.cta}.arrive",
     CELLS "setp.ge.u32 p, tid, 64;\n@p bra last;\nbar.sync 3, 96;\n"
           "and.b32 t, tid, 31;\nmad.wide.u32 other, t, 4, other;\nld.shared.u32 t, [other];\n"
           "cvt.u64.u32 v, t;\nbra end;\n"
           "last: and.b32 t, tid, 31;\nmad.wide.u32 other, t, 4, other;\nadd.u32 t, t, 1000;\n"
           "st.shared.u32 [other], t;\n$ 3, 96;\nmov.b64 v, 5;\nend:\n",
     expect_delivery},
    {"barrier{.cta}.arrive{.aligned}",
     CELLS "setp.ge.u32 p, tid, 64;\n@p bra last;\n"
           "barrier.sync 3, 96;\n"
           "and.b32 t, tid, 31;\nmad.wide.u32 other, t, 4, other;\nld.shared.u32 t, [other];\n"
           "cvt.u64.u32 v, t;\nbra end;\n"
           "last: and.b32 t, tid, 31;\nmad.wide.u32 other, t, 4, other;\nadd.u32 t, t, 1000;\n"
           "st.shared.u32 [other], t;\n$ 3, 96;\nmov.b64 v, 5;\nend:\n",
     expect_delivery},
    {"(bar,barrier){.cta}.red.popc.u32",
     "$ t, 0, guard;\ncvt.u64.u32 v, t;\n$ t, 4, 96, !guard;\n"
     "mul.wide.u32 at, t, 1000;\nadd.u64 v, v, at;\n",
     expect_count},
    {"barrier{.cta}.red.popc.aligned.u32",
     "$ t, 0, guard;\ncvt.u64.u32 v, t;\n"
     "$ t, 4, 96, !guard;\nmul.wide.u32 at, t, 1000;\nadd.u64 v, v, at;\n",
     expect_count},
    {"(bar,barrier){.cta}.red.and.pred", REDUCE_PREDICATES, expect_and},
    {"(bar,barrier){.cta}.red.or.pred", REDUCE_PREDICATES, expect_or},
    {"barrier{.cta}.red.and.aligned.pred", REDUCE_PREDICATES, expect_and},
    {"barrier{.cta}.red.or.aligned.pred", REDUCE_PREDICATES, expect_or},
    {"bar.warp.sync", "$ 0xffffffff;\nmov.b64 v, 5;\n", expect_five},
    {"membar(.cta,.gl,.sys)", STORE_AND_LOAD("$;\n"), expect_thread},
    {"membar.proxy.alias", STORE_AND_LOAD("$;\n"), expect_thread},
    {"fence{.sc,.acq_rel,.acquire,.release}(.cta,.cluster,.gpu,.sys)", STORE_AND_LOAD("$;\n"),
     expect_thread},
    {"fence.proxy.alias", STORE_AND_LOAD("$;\n"), expect_thread},
    {"nanosleep.u32", STORE_AND_LOAD("$ 20;\n$ tid;\n"), expect_thread},
    {"pmevent", STORE_AND_LOAD("$ 7;\n"), expect_thread},
    {"pmevent.mask", STORE_AND_LOAD("$ 0x81;\n"), expect_thread},
    {"prefetch{.global}(.L1,.L2)", STORE_AND_LOAD("$ [in];\n"), expect_thread},
    {"prefetch.local(.L1,.L2)", ".local .b32 cell;\n" STORE_AND_LOAD("$ [cell];\n"), expect_thread},
    {"prefetch.global(.L2::evict_last,.L2::evict_normal)", STORE_AND_LOAD("$ [in];\n"),
     expect_thread},
    {"prefetchu.L1", STORE_AND_LOAD("$ [in];\n"), expect_thread},
    {"discard{.global}.L2", STORE_AND_LOAD("ld.param.u64 at, [in3];\n$ [at], 128;\n"),
     expect_thread},
    {"alloca.u64",
     ".reg .b64 a, b;\n$ a, 16;\n$ b, 48, 32;\nst.local.u32 [a+12], tid;\n"
     "st.local.u32 [b], 1;\nld.local.u32 t, [a+12];\nmul.wide.u32 v, t, 5;\nand.b64 b, b, 31;\n"
     "add.u64 v, v, b;\n",
     expect_thread},
    {"alloca.u32",
     ".reg .b32 a, b;\n$ a, 16;\n$ b, 48, 32;\nst.local.u32 [a+12], tid;\n"
     "st.local.u32 [b], 1;\nld.local.u32 t, [a+12];\nmul.wide.u32 v, t, 5;\nand.b32 b, b, 31;\n"
     "cvt.u64.u32 at, b;\nadd.u64 v, v, at;\n",
     expect_thread},
    {"(stacksave,stackrestore).u64",
     ".reg .b64 a, b, mark;\nstacksave.u64 mark;\n"
     "alloca.u64 a, 256;\nst.local.u32 [a], tid;\nstackrestore.u64 mark;\nalloca.u64 b, 256;\n"
     "setp.eq.u64 p, a, b;\nselp.u64 v, 5, 6, p;\n",
     expect_five},
    {"(stacksave,stackrestore).u32",
     ".reg .b32 a, b, mark;\nstacksave.u32 mark;\n"
     "alloca.u32 a, 256;\nst.local.u32 [a], tid;\nstackrestore.u32 mark;\nalloca.u32 b, 256;\n"
     "setp.eq.u32 p, a, b;\nselp.u64 v, 5, 6, p;\n",
     expect_five},
    {"trap", "@guard $;\n", expect_five, NULL, true},
    {"brkpt", "@guard $;\n", expect_five, NULL, true}, /* without a debugger */
};

/* ---- Running ---- */

static void add_with_spelling(Text *ptx, const char *body, const char *spelling) {
    for (; *body; body++)
        if (*body == '$') text_add(ptx, spelling);
        else text_add_bytes(ptx, body, 1);
}

typedef struct Run {
    Trial *trial;
    const Program *program;
} Run;

static void visit(void *user, const char *spelling) {
    const Run *run = user;
    Trial *trial = run->trial;
    const Program *program = run->program;
    Text functions = {0};
    trial_begin(trial, spelling);
    if (program->functions) add_with_spelling(&functions, program->functions, spelling);
    trial_begin_kernel(trial, text_string(&functions));
    text_free(&functions);
    text_add(&trial->ptx, ".reg .b64 v;\n.reg .pred p, q;\nmov.b64 v, 0;\n"
                          "mad.wide.u32 in, tid, 8, in;\nmad.wide.u32 out, tid, 8, out;\n");
    add_with_spelling(&trial->ptx, program->body, spelling);
    text_add(&trial->ptx, "st.global.b64 [out], v;\n");
    trial->faults = program->faults;
    trial->slots = TRIAL_THREADS;
    for (int thread = 0; thread < TRIAL_THREADS; thread++)
        trial->expected[thread] = program->expect((uint32_t)thread, trial_guards(thread));
    trial_run(trial);
}

void control_run(Harness *harness) {
    Run run = {.trial = trial_new(harness)};
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        run.program = &programs[i];
        form_expand("", programs[i].pattern, visit, &run);
    }
    trial_free(run.trial);
}
