/* What a machine file says about a streaming multiprocessor, unit by unit in the order in which an
 * instruction meets them: the rows of its parameters (base/parameter.h), from which the records'
 * fields derive. Cycles are SM cycles. A warp has 32 lanes on every machine. */
#ifndef TYTO_SM_SM_CONFIG_H
#define TYTO_SM_SM_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/parameter.h"
#include "cache/cache_config.h"
#include "isa/info.h"
#include "tyto/policy.h"

enum {
    SM_MAX_THREADS =
        32 * TYTO_MAX_WARPS,     /* resident threads of one SM; its warps fit a word of bits */
    SM_MAX_CTAS = TYTO_MAX_CTAS, /* resident CTAs of one SM */
    SM_MAX_SCHEDULERS = TYTO_MAX_SCHEDULERS, /* warp schedulers of one SM */
    SM_MAX_SUBCORES = SM_MAX_SCHEDULERS,     /* a sub-core has a scheduler at least */
    SM_MAX_PIPELINES = 24,                   /* pipelines of a sub-core together */
    SM_MAX_COLLECTORS = 32,                  /* operand collector units of a sub-core */
    SM_MAX_RESULTS = 8,                      /* results retired in one cycle */
    SM_TENSOR_PRODUCTS = 8192,               /* most of a warp's matrix instruction: m16n8k64 */
    SM_TENSOR_BITS = 32768,                  /* the same of single bits: m16n8k256 */
    SM_TENSOR_CYCLES = 1024,                 /* most in which one may enter its pipeline */
    SM_MAX_L1D_BANKS = 16,                   /* of one L1D */
    SM_MAX_STAGES = 16,                      /* of a pipeline in a row */
    MODERN_MAX_QUEUE = 16,  /* memory instructions of a sub-core of a modern core */
    MODERN_MAX_STREAM = 32, /* lines of its stream buffer */
    SM_POLICY_BYTES = 96,   /* a policy's name and parameters, with the NUL */
};

/* The kinds of pipeline an instruction can be sent to; the load/store unit, which is none, is the
 * last. SP_OR_SFU has no pipelines of its own: what issues for it goes to SP, or to SFU while SP
 * has no place. */
typedef enum SmUnit {
    SM_UNIT_SP,
    SM_UNIT_SFU,
    SM_UNIT_DP,
    SM_UNIT_INT,
    SM_UNIT_TENSOR,
    SM_UNIT_SP_OR_SFU,
    SM_UNIT_LDST,
    SM_UNITS
} SmUnit;

/* How the lanes of a warp part and meet (isa/flow/converge.h). */
typedef enum SmDivergence { SM_DIVERGENCE_STACK, SM_DIVERGENCE_INDEPENDENT } SmDivergence;

/* What an SM issues: PTX as it is; PTX as the slots of its machine code (issue_stream/lower.h);
 * machine code, and lowered PTX of what has none. */
typedef enum SmInstructions {
    SM_INSTRUCTIONS_PTX,
    SM_INSTRUCTIONS_LOWERED,
    SM_INSTRUCTIONS_MACHINE
} SmInstructions;

/* Cores that an SM can have (sm/core.h): constant, record sm_core_..., and the name in a machine
 * file. */
#define SM_CORES(X)                            X(CLASSIC, classic, "classic") X(MODERN, modern, "modern")
#define SM_CORE_CONSTANT(constant, core, name) SM_CORE_##constant,
typedef enum SmCoreKind { SM_CORES(SM_CORE_CONSTANT) SM_CORE_COUNT } SmCoreKind;

/* clang-format off */
/* One class of instructions, which `what` names. The latency counts from acceptance by the unit to
 * the result, less the stages around it; the initiation interval is that of 32 lanes. */
#define SM_OP_PARAMETERS(P, key, at, what, pipeline, cycles, interval) \
    P(COUNT, key, at, "latency", latency, "cycles", 1, 1000, cycles, what ": cycles in the pipeline") \
    P(COUNT, key, at, "initiation", initiation, "cycles", 1, 1000, interval, what ": cycles until the pipeline takes another warp") \
    P(CHOICE, key, at, "unit", unit, SmUnit, pipeline, what ": pipeline it runs on; sp-or-sfu: SFU while SP has no place")

/* What a tensor pipeline does a cycle, for factors of each type; 0 where there is no such unit, or
 * nothing is known of it: ops.matrix says what such products take then. */
#define SM_TENSOR_PARAMETERS(P, key, at) \
    P(COUNT, key, at, "fp16", rate[ISA_TENSOR_FP16], "products", 0, 4096, "0", "matrix products of f16 and bf16 that a tensor pipeline adds up a cycle; 0: ops.matrix holds for them") \
    P(COUNT, key, at, "tf32", rate[ISA_TENSOR_TF32], "products", 0, 4096, "0", "the same of tf32") \
    P(COUNT, key, at, "fp64", rate[ISA_TENSOR_FP64], "products", 0, 4096, "0", "the same of f64") \
    P(COUNT, key, at, "fp8", rate[ISA_TENSOR_FP8], "products", 0, 4096, "0", "the same of the 8-bit floats") \
    P(COUNT, key, at, "int8", rate[ISA_TENSOR_INT8], "products", 0, 4096, "0", "the same of 8-bit integers") \
    P(COUNT, key, at, "int4", rate[ISA_TENSOR_INT4], "products", 0, 4096, "0", "the same of 4-bit integers") \
    P(COUNT, key, at, "bit", rate[ISA_TENSOR_BIT], "products", 0, 16384, "0", "the same of single bits") \
    P(COUNT, key, at, "latency", latency, "cycles", 0, 900, "16", "cycles in the pipeline in addition to those in which an instruction enters it") \
    P(COUNT, key, at, "step", step, "cycles", 1, 64, "1", "least that an instruction enters over") \
    P(COUNT, key, at, "step_latency", step_latency, "cycles", 0, 64, "0", "further cycles in the pipeline of an instruction that enters over more than one step") \
    P(COUNT, key, at, "sparse_step", sparse_step, "cycles", 1, 64, "1", "least from an instruction with a sparse A to the next")

/* What a tensor pipeline of a sub-core does a cycle for wgmma; 0: such products are over as they
 * issue. */
#define SM_WGMMA_PARAMETERS(P, key, at) \
    P(COUNT, key, at, "fp16", rate[ISA_TENSOR_FP16], "products", 0, 16384, "0", "products of f16 and bf16 of wgmma that a tensor pipeline adds up a cycle; 0: wgmma is over as it issues") \
    P(COUNT, key, at, "tf32", rate[ISA_TENSOR_TF32], "products", 0, 16384, "0", "the same of tf32") \
    P(COUNT, key, at, "fp8", rate[ISA_TENSOR_FP8], "products", 0, 16384, "0", "the same of the 8-bit floats") \
    P(COUNT, key, at, "int8", rate[ISA_TENSOR_INT8], "products", 0, 16384, "0", "the same of 8-bit integers") \
    P(COUNT, key, at, "bit", rate[ISA_TENSOR_BIT], "products", 0, 65536, "0", "the same of single bits") \
    P(COUNT, key, at, "shared_bytes", shared_bytes, "", 1, 4096, "128", "bytes of A and B that a product reads from shared memory a cycle") \
    P(COUNT, key, at, "latency", latency, "cycles", 0, 1000, "18", "from the last cycle of a product in its pipeline to the end of its group")

/* One kind of pipeline, which `what` names, and its share of the operand collector; its places are
 * for all schedulers of a sub-core together. */
#define SM_UNIT_PARAMETERS(P, key, at, what, pipelines, gather, in, out) \
    P(COUNT, key, at, "count", count, "", 0, 8, pipelines, what " pipelines of a sub-core (an SM is one unless sm.subcores says otherwise), or of the sub-cores that share them") \
    P(COUNT, key, at, "lanes", lanes, "", 1, 32, "32", "lanes a " what " pipeline takes a cycle: a warp keeps its input 32/lanes cycles at least") \
    P(COUNT, key, at, "collector_units", collector_units, "", 1, 64, gather, what " instructions gathering operands") \
    P(COUNT, key, at, "collector_in", collector_in, "", 1, 16, in, what " collector units filled a cycle") \
    P(COUNT, key, at, "collector_out", collector_out, "", 1, 16, out, what " collector units emptied a cycle")

/* Places before and behind its operand collector. */
#define SM_UNIT_SLOT_PARAMETERS(P, key, at, what, issue, dispatch) \
    P(COUNT, key, at, "issue_slots", issue_slots, "", 1, 16, issue, what " instructions between issue and operand collector") \
    P(COUNT, key, at, "dispatch_slots", dispatch_slots, "", 1, 16, dispatch, what " instructions between operand collector and pipelines")

/* Parameters of units that sub-cores can share. The load/store unit lacks them, as an SM has only
 * one. */
#define SM_SHARED_UNIT_PARAMETERS(P, key, at, what) \
    P(COUNT, key, at, "shared_by", shared_by, "", 1, SM_MAX_SUBCORES, "1", "sub-cores, one after the other in number, that share these " what " pipelines: 1, 2 or 4")

#define SM_FETCH_PARAMETERS(P, key, at) \
    P(BOOL, key, at, "ideal", is_ideal, "no", "the next instructions of every warp are always in its buffer") \
    P(BOOL, key, at, "per_subcore", is_per_subcore, "no", "each sub-core fetches for its own warps, once a cycle, through an instruction cache of its own (l0i), whose misses go to l1i") \
    P(COUNT, key, at, "width", width, "", 1, 16, "2", "consecutive instructions taken by one fetch") \
    P(COUNT, key, at, "buffer", buffer, "", 1, 16, "2", "instructions buffered per warp") \
    P(BOOL, key, at, "waits_for_empty", waits_for_empty, "yes", "a warp fetches only when its whole buffer is used up") \
    P(BOOL, key, at, "crosses_lines", crosses_lines, "yes", "a fetch brings as many instructions at the end of a cache line as elsewhere, though it asks for that line alone") \
    P(BOOL, key, at, "asks_again", asks_again, "no", "a warp whose line has come asks the cache for it again, in its turn, and may find it gone; no: the line uses the cycle's fetch") \
    P(COUNT, key, at, "decode_latency", decode_latency, "cycles", 1, 64, "1", "from a fetch that hits to the filled buffer") \
    P(BYTES, key, at, "instruction", instruction_bytes, 4, 64, "8 B", "size of an instruction in the L1I") \
    P(ADDRESS, key, at, "code_base", code_base, "0xf0000000", "address of the first instruction")

#define SM_SCHEDULER_PARAMETERS(P, key, at) \
    P(COUNT, key, at, "count", count, "", 1, SM_MAX_SCHEDULERS, "2", "warp schedulers of an SM; warp w belongs to scheduler w mod count") \
    P(STRING, key, at, "policy", policy, SM_POLICY_BYTES, "gto", "warp scheduling policy when none is named") \
    P(COUNT, key, at, "issue_width", issue_width, "", 1, 2, "1", "instructions issued from the warp picked") \
    P(COUNT, key, at, "issue_interval", issue_interval, "cycles", 1, 32, "1", "from one pick to the next; the outcome of a pick stands for all of them") \
    P(BOOL, key, at, "alternates", alternates, "yes", "which scheduler goes first changes every cycle")

#define SM_COLLECTOR_PARAMETERS(P, key, at) \
    P(BOOL, key, at, "ideal", is_ideal, "no", "every operand is there the cycle after issue") \
    P(COUNT, key, at, "banks", banks, "", 1, 64, "16", "single-ported register banks of a sub-core") \
    P(COUNT, key, at, "units", units, "", 0, SM_MAX_COLLECTORS, "0", "collector units of a sub-core that take instructions of every kind; 0: each kind has its own (units.*.collector_units)") \
    P(COUNT, key, at, "steps", steps, "", 1, 4, "1", "steps of the collector a cycle: reads that a bank serves; writes block those of the first") \
    P(BOOL, key, at, "reuse", reuses, "no", "an operand that the same warp's last instruction read in the same place is kept, and not read again, unless another warp issued in between") \
    P(BOOL, key, at, "adds_warp", adds_warp, "yes", "bank = (register + warp) mod banks, not register mod banks") \
    P(BOOL, key, at, "writes_block_reads", writes_block_reads, "yes", "a bank written in a cycle serves no read")

#define SM_SHARED_PARAMETERS(P, key, at) \
    P(BYTES, key, at, "size", size_bytes, 0, 256 * KIB, "48 KiB", "shared memory of an SM") \
    P(BYTES, key, at, "granularity", granularity_bytes, 1, 4 * KIB, "1 B", "a CTA's share is rounded up to a multiple of this") \
    P(BYTES, key, at, "reserved", reserved_bytes, 0, 4 * KIB, "0 B", "of each CTA's share, in addition to what it asks for: the system's") \
    P(COUNT, key, at, "banks", banks, "", 1, 64, "32", "banks; lanes that need different words of one bank wait for each other") \
    P(BYTES, key, at, "bank", bank_bytes, 4, 8, "4 B", "width of a bank") \
    P(COUNT, key, at, "latency", latency, "cycles", 1, 1000, "26", "pipe behind the last conflict") \
    P(COUNT, key, at, "depth", depth, "", 0, 1000, "0", "loads in that pipe; the load/store unit waits while it has this many; 0: any number") \
    P(COUNT, key, at, "conflict_lanes", conflict_lanes, "", 16, 32, "32", "lanes of one access: 32 is the warp, 16 makes half-warps take turns") \
    P(COUNT, key, at, "conflict_cycles", conflict_cycles, "cycles", 1, 4, "1", "that each pass takes which a bank conflict adds") \
    P(COUNT, key, at, "passes_per_cycle", passes_per_cycle, "", 1, 4, "1", "passes over the banks that the accesses of an instruction take a cycle") \
    P(BOOL, key, at, "lone_broadcasts", lone_broadcasts, "no", "an element that several lanes read takes a pass of its own where others are read, too") \
    P(BOOL, key, at, "one_broadcast", one_broadcast, "no", "a pass brings only one word to all the lanes that want it, of the first bank that has such a word; others go to one lane after another")

/* Of the L1D, what is no matter of a cache. */
#define SM_L1D_PARAMETERS(P, key, at) \
    P(COUNT, key, at, "banks", banks, "", 1, SM_MAX_L1D_BANKS, "1", "L1 data cache: banks, each with a queue of its own; with several, an instruction hands each an access a cycle") \
    P(BYTES, key, at, "bank", bank_bytes, 4, 4 * KIB, "32 B", "L1 data cache: consecutive bytes of a bank") \
    P(COUNT, key, at, "bank_interval", bank_interval, "cycles", 0, 64, "1", "L1 data cache: from one tag lookup of a bank to its next; 0: as many in a cycle as the load/store unit hands on, where l1d.latency is 0") \
    P(COUNT, key, at, "miss_interval", miss_interval, "cycles", 0, 64, "1", "L1 data cache: the same, at least, behind a lookup that does not hit") \
    P(COUNT, key, at, "hit_latency", hit_latency, "cycles", 0, 1000, "0", "L1 data cache: from a load's lookup that hits to its data, which need no write-back port") \
    P(BOOL, key, at, "stores_need_way", stores_need_way, "no", "L1 data cache: a store whose line is not there is refused while all of its set are on their way, though it takes none") \
    P(COUNT, key, at, "dirty_share", dirty_share, "%", 0, 100, "0", "L1 data cache: written lines stay until they are this share of all") \
    P(BOOL, key, at, "hints", takes_hints, "no", "L1 data cache: eviction priorities (.L1::evict_first, .cs, ...) and prefetches that instructions name count") \
    P(BYTES, key, at, "unified", unified_bytes, 0, 1024 * KIB, "0 B", "data store that L1D and shared memory divide; l1d.size is all of it then; 0 B: each has its own") \
    P(LIST, key, at, "carve_outs", carve_outs, 0, 1024, "[]", "unified store: KiB that can be shared memory's; a kernel gets the least that holds what it asks for")

/* The load/store unit: from a warp's 32 addresses to requests, and back to registers. */
#define SM_LSU_CONSTANTS(P, key, at) \
    P(BOOL, key, at, "caches_local", caches_local, "yes", "local loads and stores use the L1D")
#define SM_LSU_PARAMETERS(P, key, at) \
    P(COUNT, key, at, "accesses_per_cycle", accesses_per_cycle, "", 1, 32, "1", "coalesced accesses sent to the caches a cycle; to an L1D of several banks, one to each instead") \
    P(COUNT, key, at, "coalesced_lanes", coalesced_lanes, "", 16, 32, "32", "lanes whose accesses to global and local memory become one: 32 is the warp, 16 each half by itself") \
    P(BOOL, key, at, "shrinks_segments", shrinks_segments, "yes", "an access that touches one half or quarter of a segment asks for that only") \
    P(BYTES, key, at, "least_segment", least_segment_bytes, 0, 256, "0 B", "least that an access asks for and a store sends, where that is less than partition.sector: a segment shrinks to a half of itself, and that again; 0 B: partition.sector") \
    P(BOOL, key, at, "narrows_small_elements", narrows_small_elements, "yes", "2-byte elements coalesce in half segments, 1-byte elements in quarters") \
    P(BOOL, key, at, "descends", descends, "yes", "the accesses of a warp go highest address first, and those of its last half before the others where coalesced_lanes is 16") \
    P(BYTES, key, at, "bypass_segment", bypass_segment_bytes, 16, 256, "32 B", "segment of loads that bypass the L1D, and of stores and copies that do") \
    P(BOOL, key, at, "caches_global", caches_global, "yes", "global loads use the L1D") \
    P(BOOL, key, at, "blocks_texels", blocks_texels, "yes", "texels of an array of two or three dimensions lie in blocks of a line of the texture cache, row by row of blocks; no: in rows") \
    P(BOOL, key, at, "constant_words", constant_words, "no", "each word, or wider element, of constant memory that lanes read is an access of its own; no: each line") \
    P(BOOL, key, at, "constants_hit", constants_hit, "no", "every read of a constant or a kernel parameter hits the L1C") \
    P(BOOL, key, at, "second_constants", has_l15c, "no", "constant cache misses go to a larger cache of the SM (l15c) and only that one's to L2; kernel parameters are always there") \
    P(BOOL, key, at, "atomics_block", atomics_block, "yes", "a warp issues nothing until its atomics are answered") \
    P(BOOL, key, at, "loads_block", loads_block, "no", "a warp issues nothing until its load from global, local or texture memory has ended, used or not") \
    P(BOOL, key, at, "stalls_pipeline", stalls_pipeline, "no", "nothing issues while an instruction stays in the load/store unit for longer than one pick: stages in a row stop as a whole") \
    P(COUNT, key, at, "mshrs", mshrs, "", 0, 65535, "0", "accesses that may wait for data, textures and constants all together, besides what each cache allows (mshr_requests); 0: no such limit") \
    P(BOOL, key, at, "textures_in_order", textures_in_order, "no", "an access that missed the texture cache ends when those before it that missed have, and keeps its MSHR until then") \
    P(COUNT, key, at, "row_stages", row_stages, "", 0, SM_MAX_STAGES, "0", "stages of a pipeline whose last one writes back what memory returns, too, an access a pick, before instructions, which wait in the stages before; 0: memory has ports of its own (writeback_ports)") \
    P(BOOL, key, at, "acknowledges_stores", acknowledges_stores, "yes", "a CTA keeps its slot until its stores are acknowledged") \
    P(BOOL, key, at, "enters_at_once", enters_at_once, "no", "an instruction enters in the cycle in which its operands leave the collector; no: in the next") \
    P(COUNT, key, at, "fifo", fifo, "", 1, 1024, "32", "replies waiting at a network port (noc.sms_per_port) for the load/store unit") \
    P(COUNT, key, at, "reply_fifo", reply_fifo, "", 1, 1024, "2", "replies waiting in the load/store unit") \
    P(COUNT, key, at, "sends_per_cycle", sends_per_cycle, "", 1, 8, "1", "misses that each cache but the L1I sends a cycle") \
    P(COUNT, key, at, "writeback_ports", writeback_ports, "", 1, 8, "1", "load results written to registers a cycle") \
    P(BOOL, key, at, "waits_at_write", waits_at_write, "no", "a load result waits for its register bank in the cycle in which it is written; no: in the one before, in which the port chooses it")

/* The core of today's GPUs (sm.core: modern); instructions are cached as l0i and l1i say. */
#define SM_MODERN_PARAMETERS(P, key, at) \
    P(COUNT, key, at, "memory_queue", memory_queue, "", 1, MODERN_MAX_QUEUE, "5", "memory instructions of a sub-core between issue and the load/store unit (Huerta: a queue of 4 and a latch)") \
    P(COUNT, key, at, "memory_entry", memory_entry, "cycles", 1, 64, "11", "from issue until a memory instruction has read its registers and can be handed to the load/store unit (Huerta: 11 for a global load)") \
    P(COUNT, key, at, "address_interval", address_interval, "cycles", 1, 64, "4", "from one memory instruction that a sub-core hands on to its next (Huerta)") \
    P(COUNT, key, at, "memory_interval", memory_interval, "cycles", 1, 64, "2", "from one memory instruction that the load/store unit takes to the next, of any sub-core (Huerta)") \
    P(COUNT, key, at, "branch_latency", branch_latency, "cycles", 1, 64, "10", "from a branch that is taken to the warp's next instruction; an assumption: not published") \
    P(BYTES, key, at, "constants", constant_bytes, 64, 64 * KIB, "2 KiB", "first-level constant cache of a sub-core, which instructions read operands from (Jia: 2 KiB on Volta)") \
    P(BYTES, key, at, "constant_line", constant_line_bytes, 16, 256, "64 B", "a line of it (Jia)") \
    P(COUNT, key, at, "constant_ways", constant_ways, "", 1, 64, "4", "lines of a set of it (Jia)") \
    P(COUNT, key, at, "constant_miss", constant_miss, "cycles", 0, 1000, "79", "that a warp waits for a line of it (Huerta)") \
    P(COUNT, key, at, "indexed_constant", indexed_constant, "cycles", 0, 1000, "9", "that a warp waits, behind the stall count, for a constant that a uniform register chooses (measured on an H100: 13.9 from one ULDC to the next that needs it, whose stall count is 5)") \
    P(COUNT, key, at, "stream_buffer", stream_buffer, "", 0, MODERN_MAX_STREAM, "8", "lines of instructions that a sub-core asks for ahead of a miss (Huerta: 8 agree best)") \
    P(COUNT, key, at, "fetch_latency", fetch_latency, "cycles", 1, 200, "20", "from a miss in a sub-core's instruction cache to its line, where l1i has it; an assumption: not published") \
    P(COUNT, key, at, "code_latency", code_latency, "cycles", 1, 4000, "300", "from a miss in l1i to its line; an assumption: about a load from L2")

/* The SM as a whole. */
#define SM_PARAMETERS(P, key, at) \
    P(CHOICE, key, at, "core", core, SmCoreKind, "classic", "what fetches, picks and times instructions: classic: scoreboard, operand collectors, pipelines (docs/sm.md); modern: sub-cores that issue by the control bits of machine code (docs/modern-core.md)") \
    P(COUNT, key, at, "threads", threads, "", 32, SM_MAX_THREADS, "1536", "resident threads") \
    P(COUNT, key, at, "ctas", ctas, "", 1, SM_MAX_CTAS, "8", "resident CTAs") \
    P(COUNT, key, at, "registers", registers, "", 1024, 1048576, "32768", "32-bit registers") \
    P(COUNT, key, at, "register_granularity", register_granularity, "", 1, 64, "4", "a thread's registers are rounded up to a multiple of this; a warp's lie in its sub-core, which has an equal part of all") \
    P(CHOICE, key, at, "divergence", divergence, SmDivergence, "stack", "how lanes of a warp part: stack: the sides of a branch one after the other; independent: in turns, as from compute capability 7.0 on") \
    P(CHOICE, key, at, "instructions", instructions, SmInstructions, "ptx", "what is issued: ptx: the instructions of the PTX, one by one; lowered: as many as a GPU's own code has for them, from none to a routine (docs/issue-stream.md); machine: those of the machine code (docs/machine-code.md), and lowered PTX where there is none; --code overrides it") \
    P(BOOL, key, at, "compiled_order", has_compiled_order, "no", "the instructions of a block are issued in an order in which long waits overlap, as compilers give them (docs/issue-stream.md); no: in that of the PTX") \
    P(COUNT, key, at, "try_wait", try_wait, "cycles", 0, 100000000, "20000", "longest that mbarrier.try_wait keeps its warp from issuing when it names no time; an assumption: no GPU's is published") \
    P(COUNT, key, at, "bulk_requests", bulk_requests, "", 0, 4096, "0", "requests for lines that the unit for bulk copies (cp.async.bulk) has under way at most; 0: there is none, and bulk copies are over as they issue") \
    P(COUNT, key, at, "remote_latency", remote_latency, "cycles", 0, 10000, "0", "that an SM takes to serve an access of another one to its shared memory, besides the network") \
    P(COUNT, key, at, "cluster_barrier", cluster_barrier, "cycles", 0, 10000, "0", "from the last arrival at a cluster's barrier to the release of its warps") \
    P(COUNT, key, at, "bulk_start", bulk_start, "cycles", 0, 10000, "0", "from the issue of a bulk copy to its first request") \
    P(COUNT, key, at, "subcores", subcores, "", 1, SM_MAX_SUBCORES, "1", "parts with pipelines, register banks and collector of their own: 1, or one for each scheduler; warp w is in part w mod this") \
    P(COUNT, key, at, "result_buses", result_buses, "", 1, SM_MAX_RESULTS, "2", "results that the pipelines of a sub-core may finish a cycle, together") \
    P(COUNT, key, at, "writeback_width", writeback_width, "", 1, SM_MAX_RESULTS, "2", "finished instructions that a sub-core retires a cycle") \
    P(COUNT, key, at, "write_back", write_back, "cycles", 1, 16, "2", "from the end of a pipeline to the instruction that needs its result: 2 through the registers, less where it is forwarded past them")
/* clang-format on */

typedef struct SmOpConfig {
    SM_OP_PARAMETERS(PARAMETER_FIELD, , , , , , )
} SmOpConfig;

typedef struct SmTensorConfig {
    uint32_t rate[ISA_TENSORS]; /* SM_TENSOR_PARAMETERS, as the next */
    uint32_t latency, step, step_latency, sparse_step;
} SmTensorConfig;

typedef struct SmUnitConfig {
    SM_UNIT_PARAMETERS(PARAMETER_FIELD, , , , , , , )
    SM_UNIT_SLOT_PARAMETERS(PARAMETER_FIELD, , , , , )
    SM_SHARED_UNIT_PARAMETERS(PARAMETER_FIELD, , , )
} SmUnitConfig;

typedef struct SmFetchConfig {
    SM_FETCH_PARAMETERS(PARAMETER_FIELD, , )
} SmFetchConfig;

typedef struct SmSchedulerConfig {
    SM_SCHEDULER_PARAMETERS(PARAMETER_FIELD, , )
} SmSchedulerConfig;

typedef struct SmCollectorConfig {
    SM_COLLECTOR_PARAMETERS(PARAMETER_FIELD, , )
} SmCollectorConfig;

typedef struct SmSharedConfig {
    SM_SHARED_PARAMETERS(PARAMETER_FIELD, , )
} SmSharedConfig;

typedef struct SmL1dConfig {
    SM_L1D_PARAMETERS(PARAMETER_FIELD, , )
} SmL1dConfig;

typedef struct SmLsuConfig {
    SM_LSU_PARAMETERS(PARAMETER_FIELD, , )
    SM_LSU_CONSTANTS(PARAMETER_FIELD, , )
} SmLsuConfig;

typedef struct SmWgmmaConfig {
    uint32_t rate[ISA_TENSORS]; /* SM_WGMMA_PARAMETERS, as the next */
    uint32_t shared_bytes, latency;
} SmWgmmaConfig;

typedef struct SmModernConfig {
    SM_MODERN_PARAMETERS(PARAMETER_FIELD, , )
} SmModernConfig;

typedef struct SmConfig {
    SM_PARAMETERS(PARAMETER_FIELD, , )
    SmFetchConfig fetch;
    SmSchedulerConfig scheduler;
    SmCollectorConfig collector;
    SmUnitConfig units[SM_UNITS];
    SmOpConfig ops[ISA_CLASS_COUNT]; /* memory instructions: only their unit, the load/store unit */
    SmTensorConfig tensor;
    SmWgmmaConfig wgmma;
    SmModernConfig modern;
    SmSharedConfig shared;
    SmLsuConfig lsu;
    CacheConfig l0i; /* instructions of a sub-core, where fetch.per_subcore is */
    CacheConfig l1i; /* instructions */
    CacheConfig l1d; /* global and local data */
    SmL1dConfig l1d_own;
    CacheConfig l1c;  /* constants and kernel parameters */
    CacheConfig l15c; /* the same, below l1c where lsu.second_constants is */
    CacheConfig l1t;  /* textures and read-only loads */
} SmConfig;

static inline uint32_t sm_config_warps(const SmConfig *config) { return config->threads / 32; }
/* Bytes of shared memory that a CTA can ask for at most. */
static inline uint32_t sm_config_cta_shared(const SmConfig *config) {
    const SmSharedConfig *shared = &config->shared;
    uint32_t all = shared->size_bytes - shared->size_bytes % shared->granularity_bytes;
    return all > shared->reserved_bytes ? all - shared->reserved_bytes : 0;
}
/* Fetches that the L1D can have under way. */
static inline uint32_t sm_config_l1d_mshrs(const SmConfig *config) {
    const uint32_t own = config->l1d.mshrs, shared = config->lsu.mshrs;
    return shared && shared < own ? shared : own;
}

#endif
