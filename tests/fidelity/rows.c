/* Each row is one line of the page. Figures of the peer: measured on GPGPU-Sim 4.2, stock
 * GTX480. */
#include "rows.h"

/* Name, figure of the peer, and how to measure ours. */
#define ROW(name, figure, ...)                                                                     \
    {                                                                                              \
        .what = name, .theirs = figure, .probe = { __VA_ARGS__ }                                   \
    }
#define CHAIN(name, cycles, text) ROW(name, cycles, .measure = probe_chain, .op = text)

static const Row issue[] = {
    CHAIN("mov", 7, "mov.u32 %a, %a;"),
    CHAIN("mov of a constant: no register to read", 6, "mov.u32 %a, 7;"),
    CHAIN("cvt", 7, "cvt.u32.u16 %a, %a;"),
    CHAIN("setp", 7, "setp.eq.and.u32 %p, %b, %c, %p;"),
    CHAIN("selp", 7, "selp.b32 %a, %a, %b, %p;"),
    CHAIN("shl", 7, "shl.b32 %a, %a, 1;"),
    CHAIN("and", 7, "and.b32 %a, %a, %b;"),
    CHAIN("integer add", 10, "add.u32 %a, %a, %b;"),
    CHAIN("f32 add", 10, "add.f32 %f, %f, %g;"),
    CHAIN("f32 mul", 10, "mul.f32 %f, %f, %g;"),
    CHAIN("integer mul.lo", 10, "mul.lo.u32 %a, %a, %b;"),
    CHAIN("integer mul.wide", 10, "mul.wide.u32 %l, %a, %b;"),
    CHAIN("integer mad", 11, "mad.lo.u32 %a, %a, %b, %c;"),
    CHAIN("f32 fma, sources in three banks", 11, "fma.rn.f32 %f, %f, %g, %h;"),
    CHAIN("f32 fma, two sources the same", 12, "fma.rn.f32 %f, %f, %g, %g;"),
    CHAIN("f32 fma, three sources the same", 13, "fma.rn.f32 %f, %f, %f, %f;"),
    CHAIN("integer min", 19, "min.s32 %a, %a, %b;"),
    CHAIN("f32 max", 19, "max.f32 %f, %f, %g;"),
    CHAIN("f32 rcp", 14, "rcp.approx.f32 %f, %f;"),
    CHAIN("f32 sqrt", 14, "sqrt.approx.f32 %f, %f;"),
    CHAIN("f32 rsqrt", 14, "rsqrt.approx.f32 %f, %f;"),
    CHAIN("f32 sin", 14, "sin.approx.f32 %f, %f;"),
    CHAIN("f32 cos", 14, "cos.approx.f32 %f, %f;"),
    CHAIN("f32 ex2", 14, "ex2.approx.f32 %f, %f;"),
    CHAIN("f32 lg2", 14, "lg2.approx.f32 %f, %f;"),
    CHAIN("f64 add", 14, "add.f64 %d, %d, %e;"),
    CHAIN("f64 mul", 14, "mul.f64 %d, %d, %e;"),
    CHAIN("f64 fma", 14, "fma.rn.f64 %d, %d, %e, %k;"),
    CHAIN("f32 div", 45, "div.rn.f32 %f, %f, %g;"),
    CHAIN("integer div", 151, "div.s32 %a, %a, %b;"),
    CHAIN("integer rem", 151, "rem.u32 %a, %a, %b;"),
    CHAIN("f64 div", 336, "div.rn.f64 %d, %d, %e;"),
};

/* ---- Memory ---- */

#define LOAD    "ld.global.u32 %p, [%p];"
#define LOAD_CG "ld.global.cg.u32 %p, [%p];"
#define ATOMIC  "atom.global.or.b32 %a, [%p], 0;"
#define CHASE(name, cycles, text, lanes, lane_bytes, ...)                                          \
    ROW(name, cycles, .measure = probe_chase, .op = text, .threads = lanes, .stride = lane_bytes,  \
        .list = {__VA_ARGS__})
#define SHARED(name, cycles, lane_bytes)                                                           \
    ROW(name, cycles, .measure = probe_shared, .stride = lane_bytes)
#define STORE(name, cycles, lanes)                                                                 \
    ROW(name, cycles, .measure = probe_store, .op = "st.global.u32 [%p], %a;", .threads = lanes,   \
        .stride = 4)

/* Lists for the kernel's two passes of 17 loads. In DRAM, 1536 bytes are 256 of each channel. */
#define IN_PLACE    .count = 1, .group = 1, .is_in_l2 = true
#define LINES_IN_L2 .count = 34, .group = 34, .step = 128, .is_in_l2 = true
#define ROW_SECTORS .count = 34, .group = 8, .step = 32, .group_step = 2 * 1536
#define ROW_LINES                                                                                  \
    .first = 8 * 2 * 1536, .count = 34, .group = 2, .step = 128, .group_step = 2 * 1536
#define CLOSED_BANKS   .count = 34, .group = 12, .step = 256, .group_step = 32 * 1536
#define ROWS_OF_A_BANK .count = 34, .group = 34, .step = 256 * 1536

static const Row memory[] = {
    CHAIN("kernel parameter, L1C hit", 4, "ld.param.u32 %a, [count];"),
    CHAIN("constant, L1C hit", 4, "ld.const.u32 %a, [constant];"),
    SHARED("shared memory, no conflict", 32, 4),
    SHARED("shared memory, 2-way conflict", 33, 8),
    SHARED("shared memory, 32-way conflict", 63, 128),
    CHASE("L1D hit", 40, LOAD, 32, 4, IN_PLACE),
    CHASE("L1D hit, warp touches 2 lines", 41, LOAD, 32, 8, IN_PLACE),
    CHASE("L1D hit, warp touches 4 lines", 43, LOAD, 32, 16, IN_PLACE),
    CHASE("L1D hit, warp touches 32 lines", 71, LOAD, 32, 128, IN_PLACE),
    CHASE("L2 hit past the L1D (.cg), one sector", 143, LOAD_CG, 1, 0, IN_PLACE),
    CHASE("L2 hit past the L1D, 4 sectors", 146, LOAD_CG, 32, 4, IN_PLACE),
    CHASE("L2 hit past the L1D, 32 sectors", 175, LOAD_CG, 32, 32, IN_PLACE),
    CHASE("L2 hit through an L1D miss", 182, LOAD, 32, 4, LINES_IN_L2),
    CHASE("DRAM past the L1D, one sector, row open", 257, LOAD_CG, 1, 0, ROW_SECTORS),
    CHASE("DRAM past the L1D, one sector, bank closed", 266, LOAD_CG, 1, 0, CLOSED_BANKS),
    CHASE("DRAM past the L1D, one sector, row conflict", 275, LOAD_CG, 1, 0, ROWS_OF_A_BANK),
    CHASE("DRAM through an L1D miss, row open", 299, LOAD, 32, 4, ROW_LINES),
    CHASE("DRAM through an L1D miss, bank closed", 308.5, LOAD, 32, 4, CLOSED_BANKS),
    CHASE("DRAM through an L1D miss, row conflict", 317.5, LOAD, 32, 4, ROWS_OF_A_BANK),
    CHASE("atomic on data in L2, 1 lane", 142, ATOMIC, 1, 0, IN_PLACE),
    CHASE("atomic on data in L2, 32 consecutive words", 145, ATOMIC, 32, 4, IN_PLACE),
    CHASE("atomic on data in L2, 32 lanes on one word", 174, ATOMIC, 32, 0, IN_PLACE),
    STORE("store of 32 B to a line not in L2: the kernel ends later by", 178, 1),
    STORE("store of 128 B to a line not in L2: likewise", 187, 32),
    {.what = "membar.gl after a store",
     .theirs = 4,
     .probe = {.measure = probe_piece, .op = "st.global.u32 [%out], %a; membar.gl;"},
     .note = "the peer's membar does not wait for stores. By the PTX ISA a warp's earlier writes "
             "are visible to the whole GPU when its membar.gl completes, so ours waits for their "
             "acknowledgements."},
};

/* ---- Everything else that has a latency ---- */

#define PIECE(name, cycles, text)    ROW(name, cycles, .measure = probe_piece, .op = text)
#define PIECES(name, cycles, text)   ROW(name, cycles, .measure = probe_16_pieces, .op = text)
#define BARRIER(name, cycles, count) ROW(name, cycles, .measure = probe_barrier, .threads = count)
#define EMPTY(name, cycles, state, cta_count, thread_count)                                        \
    ROW(name, cycles, .measure = probe_empty_##state, .ctas = cta_count, .threads = thread_count)
#define DIAMOND(predicate)                                                                         \
    "@" predicate " bra T#; mov.u32 %a, 1; bra.uni J#; T#: mov.u32 %b, 2; J#:"

static const Row other[] = {
    PIECES("16 independent instructions", 25, "mov.u32 %x#, 1;"),
    PIECES("16 branches not taken", 25, "@!%p bra AGAIN;"),
    PIECES("16 branches taken", 50, "bra L#; mov.u32 %b, 1; L#:"),
    PIECE("if and else of an instruction each, both taken", 11.2, DIAMOND("%half")),
    PIECE("if and else of an instruction each, all lanes at the if", 6, DIAMOND("%p")),
    ROW("turn of the loop `mov; add; setp; bra`", 22, .measure = probe_loop),
    BARRIER("bar.sync, 1 warp", 1.6, 32),
    BARRIER("bar.sync, 2 warps", 1.9, 64),
    BARRIER("bar.sync, 8 warps", 5.1, 256),
    BARRIER("bar.sync, 16 warps", 9.4, 512),
    BARRIER("bar.sync, 32 warps", 17, 1024),
    EMPTY("empty kernel, everything cold, 1 warp", 275, cold, 1, 32),
    EMPTY("empty kernel, instructions in L2, 1 warp", 149, l2, 1, 32),
    EMPTY("empty kernel, warm, 15 CTAs of 1 warp", 10, warm, 15, 32),
    EMPTY("empty kernel, warm, 120 CTAs of 1 warp", 17, warm, 120, 32),
    EMPTY("empty kernel, warm, 120 CTAs of 8 warps", 74, warm, 120, 256),
    EMPTY("empty kernel, warm, 1500 CTAs of 1 warp", 133, warm, 1500, 32),
    EMPTY("empty kernel, warm, 1 CTA of 32 warps", 41, warm, 1, 1024),
};

/* ---- Throughput ---- */

#define TWO_LEVEL "two-level-active"
#define WARPS_24  .ctas = 15, .threads = 768
#define WARPS_48  .ctas = 30, .threads = 768
#define LOOP(name, ipc, text, policy)                                                              \
    ROW(name, ipc, .measure = probe_ipc, .op = text, .scheduler = policy, WARPS_24)
#define RATE(name, rate, probe_name, text)                                                         \
    ROW(name, rate, .measure = probe_name, .op = text, WARPS_24)
#define STREAM(name, rate, probe_name) ROW(name, rate, .measure = probe_name)
#define ADD                            "add.u32 %x#, %a, %b;"
#define FMA                            "fma.rn.f32 %f#, %u, %v, %w;"
#define MOV                            "mov.u32 %x#, 1;"

static const Row throughput[] = {
    LOOP("integer add, 24 warps, gto", 1.49, ADD, "gto"),
    LOOP("integer add, 24 warps, lrr", 1.75, ADD, "lrr"),
    LOOP("integer add, 24 warps, two-level", 1.58, ADD, TWO_LEVEL),
    LOOP("f32 fma, 24 warps, gto", 1.30, FMA, "gto"),
    LOOP("f32 fma, 24 warps, lrr", 1.65, FMA, "lrr"),
    LOOP("f32 fma, 24 warps, two-level", 1.48, FMA, TWO_LEVEL),
    LOOP("mov of a constant, 24 warps, gto", 1.86, MOV, "gto"),
    LOOP("mov of a constant, 24 warps, lrr", 1.88, MOV, "lrr"),
    ROW("integer add, 48 warps, gto", 1.54, .measure = probe_ipc, .op = ADD, WARPS_48),
    LOOP("integer mul, 24 warps, gto: two units take one every 2 cycles", 1.02,
         "mul.lo.u32 %x#, %a, %b;", "gto"),
    ROW("loop `mov; add; setp; bra`, 24 warps, gto", 1.30, .measure = probe_loop_ipc,
        .scheduler = "gto", WARPS_24),
    ROW("loop `mov; add; setp; bra`, 24 warps, lrr", 1.29, .measure = probe_loop_ipc,
        .scheduler = "lrr", WARPS_24),
    RATE("cycles per SFU instruction", 8.0, probe_sfu_cycles, "rcp.approx.f32 %f#, %f#;"),
    RATE("loads from shared memory per cycle", 0.95, probe_shared_rate, "ld.shared.u32 %x#, [%s];"),
    RATE("L1D hits per cycle", 0.95, probe_l1d_rate, "ld.global.u32 %x#, [%p];"),
    STREAM("stream of reads from DRAM, bytes per cycle, whole GPU", 118, probe_read_stream),
    STREAM("stream of reads, DRAM ticks per 32 B and channel", 2.14, probe_read_ticks),
    STREAM("stream of 128 B stores, bytes per cycle, whole GPU", 200, probe_write_stream),
    STREAM("random sectors from L2 per cycle, whole GPU", 7.7, probe_random_sectors),
};

/* ---- */

#define ROWS(array) array, (int)(sizeof array / sizeof *array)

const Section sections[] = {
    {"Issue to dependent issue",
     "Cycles from an instruction to one that needs its result; one warp, chains of 16.", 2, 0.05, 1,
     ROWS(issue)},
    {"Memory",
     "Cycles from a load to an instruction that needs its value; one warp, instructions in L1I.", 2,
     0.05, 1, ROWS(memory)},
    {"Control and launches", "Cycles; one CTA, instructions in the L1I unless stated otherwise.", 2,
     0.05, 1, ROWS(other)},
    {"Throughput",
     "Warp instructions per cycle and SM, unless stated otherwise, in long loops of 28\n"
     "independent ones. It is not known which registers the peer's loops used; ours read the\n"
     "same ones in every instruction, in consecutive banks.",
     0, 0.05, 2, ROWS(throughput)},
};
const int section_count = sizeof sections / sizeof *sections;
