/* The lines of docs/fidelity-modern.md. Figures of the peer: measured on GPGPU-Sim 4.2, stock QV100
 * and RTX3070. Each line is written once, with a figure for each machine. */
#include "rows_modern.h"

#define QV100(qv100, rtx3070)   qv100
#define RTX3070(qv100, rtx3070) rtx3070

/* Machine, name, figure of the peer, how to measure ours, and with NOTE the reason of a
 * difference. */
#define ROW(on, text, figure, ...)                                                                 \
    {.what = text, .theirs = figure, .probe = {.machine = on, __VA_ARGS__}},
#define NOTE(on, text, figure, why, ...)                                                           \
    {.what = text, .theirs = figure, .probe = {.machine = on, __VA_ARGS__}, .note = why},

/* ---- Issue to dependent issue ---- */

#define CHAIN(on, text, figure, code) ROW(on, text, figure, .measure = probe_chain, .op = code)
#define ISSUE(on, its)                                                                             \
    CHAIN(on, "mov", its(6, 6), "mov.u32 %a, %a;")                                                 \
    CHAIN(on, "mov of a constant: no register to read", its(5, 5), "mov.u32 %a, 7;")               \
    CHAIN(on, "cvt", its(6, 6), "cvt.u32.u16 %a, %a;")                                             \
    CHAIN(on, "setp", its(6, 6), "setp.eq.and.u32 %p, %b, %c, %p;")                                \
    CHAIN(on, "selp", its(6, 6), "selp.b32 %a, %a, %b, %p;")                                       \
    CHAIN(on, "shl", its(6, 6), "shl.b32 %a, %a, 1;")                                              \
    CHAIN(on, "and", its(6, 6), "and.b32 %a, %a, %b;")                                             \
    CHAIN(on, "integer add", its(9, 9), "add.u32 %a, %a, %b;")                                     \
    CHAIN(on, "integer mul.lo", its(9, 9), "mul.lo.u32 %a, %a, %b;")                               \
    CHAIN(on, "integer mul.wide", its(9, 9), "mul.wide.u32 %l, %a, %b;")                           \
    CHAIN(on, "integer mad", its(10, 9), "mad.lo.u32 %a, %a, %b, %c;")                             \
    CHAIN(on, "integer min", its(18, 9), "min.s32 %a, %a, %b;")                                    \
    CHAIN(on, "f32 add", its(9, 9), "add.f32 %f, %f, %g;")                                         \
    CHAIN(on, "f32 mul", its(9, 9), "mul.f32 %f, %f, %g;")                                         \
    CHAIN(on, "f32 fma, sources in three banks", its(10, 9), "fma.rn.f32 %f, %f, %g, %h;")         \
    CHAIN(on, "f32 fma, three sources the same", its(11, 10), "fma.rn.f32 %f, %f, %f, %f;")        \
    CHAIN(on, "f32 max", its(18, 9), "max.f32 %f, %f, %g;")                                        \
    CHAIN(on, "f32 rcp", its(105, 26), "rcp.approx.f32 %f, %f;")                                   \
    CHAIN(on, "f32 sqrt", its(105, 26), "sqrt.approx.f32 %f, %f;")                                 \
    CHAIN(on, "f32 sin", its(105, 26), "sin.approx.f32 %f, %f;")                                   \
    CHAIN(on, "f32 ex2", its(105, 26), "ex2.approx.f32 %f, %f;")                                   \
    CHAIN(on, "f64 add", its(13, 69), "add.f64 %d, %d, %e;")                                       \
    CHAIN(on, "f64 fma", its(13, 69), "fma.rn.f64 %d, %d, %e, %k;")                                \
    CHAIN(on, "f32 div", its(44, 44), "div.rn.f32 %f, %f, %g;")                                    \
    CHAIN(on, "integer div", its(150, 26), "div.s32 %a, %a, %b;")                                  \
    CHAIN(on, "f64 div", its(335, 335), "div.rn.f64 %d, %d, %e;")

static const Row qv100_issue[] = {ISSUE("qv100", QV100)};
static const Row rtx3070_issue[] = {ISSUE("rtx3070", RTX3070)};

/* ---- Memory ---- */

#define LOAD    "ld.global.u32 %p, [%p];"
#define LOAD_CG "ld.global.cg.u32 %p, [%p];"
#define ATOMIC  "atom.global.or.b32 %a, [%p], 0;"
#define CHASE(on, text, figure, code, lanes, lane_bytes, ...)                                      \
    ROW(on, text, figure, .measure = probe_chase, .op = code, .threads = lanes,                    \
        .stride = lane_bytes, .list = {__VA_ARGS__})
#define SHARED(on, text, figure, lane_bytes)                                                       \
    ROW(on, text, figure, .measure = probe_shared, .stride = lane_bytes)
#define STORE(on, text, figure, lanes)                                                             \
    ROW(on, text, figure, .measure = probe_store, .op = "st.global.u32 [%p], %a;",                 \
        .threads = lanes, .stride = 4)

/* Lists for the kernel's two passes of 17 loads. */
#define IN_PLACE     .count = 1, .group = 1, .is_in_l2 = true
#define SECTORS      .count = 34, .group = 34, .step = 32, .is_in_l2 = true
#define LINES        .count = 34, .group = 34, .step = 128, .is_in_l2 = true
#define PAGES        .count = 34, .group = 34, .step = 4096, .is_in_l2 = true
#define OPEN_ROW     .nodes = PROBE_ROW, .count = 34, .step = 32
#define CLOSED_BANKS .nodes = PROBE_BANKS, .count = 34, .step = 128
#define CONFLICTS    .nodes = PROBE_CONFLICTS, .count = 34, .step = 128

#define MEMORY(on, its)                                                                            \
    CHAIN(on, "kernel parameter", its(4, 4), "ld.param.u32 %a, [count];")                          \
    CHAIN(on, "constant", its(4, 4), "ld.const.u32 %a, [constant];")                               \
    SHARED(on, "shared memory, no conflict", its(25, 34), 4)                                       \
    SHARED(on, "shared memory, 2-way conflict", its(26, 35), 8)                                    \
    SHARED(on, "shared memory, 32-way conflict", its(56, 65), 128)                                 \
    CHASE(on, "L1D hit, one sector", its(24, 43), LOAD, 1, 0, IN_PLACE)                            \
    CHASE(on, "L1D hit, 4 sectors of a line", its(24, 43), LOAD, 32, 4, IN_PLACE)                  \
    CHASE(on, "L1D hit, 32 sectors of 8 lines", its(31, 50), LOAD, 32, 32, IN_PLACE)               \
    CHASE(on, "L1D hit, 32 lines, all in one bank", its(55, 74), LOAD, 32, 128, IN_PLACE)          \
    CHASE(on, "L2 hit through an L1D miss, one sector", its(193, 239), LOAD, 1, 0, SECTORS)        \
    CHASE(on, "L2 hit through an L1D miss, 4 sectors", its(196, 242), LOAD, 32, 4, LINES)          \
    CHASE(on, "L2 hit through an L1D miss, 32 lines", its(224, 270), LOAD, 32, 128, PAGES)         \
    CHASE(on, "L2 hit past the L1D (.cg), one sector", its(172, 199), LOAD_CG, 1, 0, IN_PLACE)     \
    CHASE(on, "L2 hit past the L1D, 4 sectors", its(175, 202), LOAD_CG, 32, 4, IN_PLACE)           \
    CHASE(on, "L2 hit past the L1D, 32 sectors", its(203, 230), LOAD_CG, 32, 32, IN_PLACE)         \
    CHASE(on, "DRAM past the L1D, row open", its(299, 464), LOAD_CG, 1, 0, OPEN_ROW)               \
    CHASE(on, "DRAM past the L1D, bank closed", its(320, 472), LOAD_CG, 1, 0, CLOSED_BANKS)        \
    CHASE(on, "DRAM past the L1D, row conflict", its(341, 480), LOAD_CG, 1, 0, CONFLICTS)          \
    CHASE(on, "DRAM through an L1D miss, row open", its(321, 504), LOAD, 1, 0, OPEN_ROW)           \
    CHASE(on, "DRAM through an L1D miss, bank closed", its(342, 512), LOAD, 1, 0, CLOSED_BANKS)    \
    CHASE(on, "DRAM through an L1D miss, 4 sectors of a closed bank", its(351, 518), LOAD, 32, 4,  \
          CLOSED_BANKS)                                                                            \
    CHASE(on, "atomic on data in L2, 1 lane", its(171, 198), ATOMIC, 1, 0, IN_PLACE)               \
    CHASE(on, "atomic on data in L2, 32 consecutive words", its(174, 201), ATOMIC, 32, 4,          \
          IN_PLACE)                                                                                \
    CHASE(on, "atomic on data in L2, 32 lanes on one word", its(202, 229), ATOMIC, 32, 0,          \
          IN_PLACE)                                                                                \
    STORE(on, "store of 32 B to a line not in L2: the kernel ends later by", its(192, 238), 1)     \
    STORE(on, "store of 128 B to a line not in L2: likewise", its(195, 241), 32)                   \
    NOTE(on, "membar.gl after a store", its(6, 6), MEMBAR_NOTE, .measure = probe_piece,            \
         .op = "st.global.u32 [%out], %a; membar.gl;")

#define MEMBAR_NOTE                                                                                \
    "the peer's membar does not wait for stores. By the PTX ISA a warp's earlier writes are "      \
    "visible to the whole GPU when its membar.gl completes, so ours waits for their "              \
    "acknowledgements."

static const Row qv100_memory[] = {MEMORY("qv100", QV100)};
static const Row rtx3070_memory[] = {MEMORY("rtx3070", RTX3070)};

/* ---- Launches ---- */

#define EMPTY(on, text, figure, cta_count, thread_count)                                           \
    ROW(on, text, figure, .measure = probe_empty_warm, .ctas = cta_count, .threads = thread_count)

#define LAUNCH_NOTE "it is not known why the peer takes three cycles more."

static const Row qv100_launches[] = {
    EMPTY("qv100", "1 CTA of 1 warp", 8, 1, 32) EMPTY("qv100", "80 CTAs of 1 warp", 8, 80, 32)
        EMPTY("qv100", "640 CTAs of 1 warp", 15, 640, 32)
            EMPTY("qv100", "640 CTAs of 8 warps", 24, 640, 256)
                EMPTY("qv100", "8000 CTAs of 1 warp", 107, 8000, 32)
                    EMPTY("qv100", "80 CTAs of 32 warps", 16, 80, 1024)
                        EMPTY("qv100", "160 CTAs of 32 warps", 24, 160, 1024)
                            NOTE("qv100", "320 CTAs of 32 warps", 42, LAUNCH_NOTE,
                                 .measure = probe_empty_warm, .ctas = 320, .threads = 1024)};

/* ---- Throughput ---- */

#define LOOP(on, text, figure, policy, code)                                                       \
    ROW(on, text, figure, .measure = probe_loop_cycles, .op = code, .scheduler = policy,           \
        .threads = 1024)
#define AGE_NOTE                                                                                   \
    "the peer moves instructions of one kind to collector units in order of age across all "       \
    "sub-cores, so an instruction whose sub-core has no free unit delays the others. Our "         \
    "sub-cores are independent."
#define REGISTERS_NOTE                                                                             \
    "it is not known which registers the peer's loop used; ours reads two, in two banks of the "   \
    "sub-core, in every instruction."
#define STREAM_NOTE                                                                                \
    "the shape of the peer's kernel is not known; ours has CTAs of 256 threads; each thread "      \
    "reads 8 words."
#define RATES(on, its)                                                                             \
    LOOP(on, "integer add, lrr", its(0.54, 0.54), "lrr", "add.u32 %x#, %a, %b;")                   \
    LOOP(on, "integer add, gto", its(0.55, 0.55), "gto", "add.u32 %x#, %a, %b;")                   \
    LOOP(on, "mov of a constant, lrr", its(0.29, 0.30), "lrr", "mov.u32 %x#, 1;")                  \
    NOTE(on, "f32 add, lrr", its(0.50, 0.28), REGISTERS_NOTE, .measure = probe_loop_cycles,        \
         .op = "add.f32 %f#, %u, %v;", .scheduler = "lrr", .threads = 1024)                        \
    LOOP(on, "f32 add, gto", its(0.51, 0.29), "gto", "add.f32 %f#, %u, %v;")                       \
    NOTE(on, "f32 fma, 3 banks, lrr", its(0.52, 0.29), REGISTERS_NOTE,                             \
         .measure = probe_loop_cycles, .op = "fma.rn.f32 %f#, %u, %v, %w;", .scheduler = "lrr",    \
         .threads = 1024)                                                                          \
    NOTE(on, "SFU, lrr", its(2.175, 2.7), AGE_NOTE, .measure = probe_loop_cycles,                  \
         .op = "rcp.approx.f32 %f#, %f#;", .scheduler = "lrr", .threads = 1024)                    \
    LOOP(on, "loads from shared memory, lrr", its(1.03, 1.01), "lrr", "ld.shared.u32 %x#, [%s];")  \
    LOOP(on, "L1D hits, 4 sectors, lrr", its(1.03, 1.03), "lrr", "ld.global.u32 %x#, [%p];")

static const Row qv100_rates[] = {RATES("qv100", QV100)};
static const Row rtx3070_rates[] = {RATES("rtx3070", RTX3070)};

static const Row qv100_streams[] = {
    NOTE("qv100", "cold stream of 5 MB, from DRAM", 539, STREAM_NOTE, .measure = probe_cold_stream,
         .stride = 5) NOTE("qv100", "stream of 4 MB that is in L2", 1433, STREAM_NOTE,
                           .measure = probe_warm_stream, .stride = 4)};
static const Row rtx3070_streams[] = {NOTE(
    "rtx3070", "cold stream of 3 MB, from DRAM", 331, STREAM_NOTE, .measure = probe_cold_stream,
    .stride = 3) NOTE("rtx3070", "stream of 2 MB that is in L2", 754, STREAM_NOTE,
                      .measure = probe_warm_stream, .stride = 2)};

/* ---- */

#define ROWS(array) array, (int)(sizeof array / sizeof *array)
#define ISSUE_TEXT                                                                                 \
    "Cycles from an instruction to one that needs its result; one warp, chains of 16."
#define MEMORY_TEXT "Cycles from a load to an instruction that needs its value; one warp."
#define LAUNCH_TEXT "Cycles of an empty kernel, without the launch latency of 5000."
#define RATE_TEXT   "Cycles per warp instruction and SM in a loop of 28 independent ones; 32 warps."
#define STREAM_TEXT "Bytes per cycle, the whole GPU."

const Section modern_sections[] = {
    {"qv100: issue to dependent issue", ISSUE_TEXT, 2, 0.05, 1, ROWS(qv100_issue)},
    {"qv100: memory", MEMORY_TEXT, 2, 0.05, 1, ROWS(qv100_memory)},
    {"qv100: launches", LAUNCH_TEXT, 2, 0.05, 0, ROWS(qv100_launches)},
    {"qv100: throughput", RATE_TEXT, 0, 0.05, 2, ROWS(qv100_rates)},
    {"qv100: streams", STREAM_TEXT, 0, 0.05, 0, ROWS(qv100_streams)},
    {"rtx3070: issue to dependent issue", ISSUE_TEXT, 2, 0.05, 1, ROWS(rtx3070_issue)},
    {"rtx3070: memory", MEMORY_TEXT, 2, 0.05, 1, ROWS(rtx3070_memory)},
    {"rtx3070: throughput", RATE_TEXT, 0, 0.05, 2, ROWS(rtx3070_rates)},
    {"rtx3070: streams", STREAM_TEXT, 0, 0.05, 0, ROWS(rtx3070_streams)},
};
const int modern_section_count = sizeof modern_sections / sizeof *modern_sections;
