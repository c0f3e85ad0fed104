/* The machine parameters of a streaming multiprocessor, unit by unit in the order in which an
 * instruction passes them. The rows (base/parameter.h) define the fields of the records below.
 * Cycles are SM cycles. A warp has 32 lanes on every machine. */
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
        32 * TYTO_MAX_WARPS,     /* resident threads per SM; its warps fit into one word of bits */
    SM_MAX_CTAS = TYTO_MAX_CTAS, /* resident CTAs per SM */
    SM_MAX_SCHEDULERS = TYTO_MAX_SCHEDULERS, /* warp schedulers per SM */
    SM_MAX_SUBCORES = SM_MAX_SCHEDULERS,     /* a sub-core has at least one scheduler */
    SM_MAX_PIPELINES = 24,                   /* pipelines of a sub-core, all kinds together */
    SM_MAX_COLLECTORS = 32,                  /* operand collector units per sub-core */
    SM_MAX_RESULTS = 8,                      /* results retired per cycle */
    SM_TENSOR_PRODUCTS = 8192,               /* most products of a warp's matrix instruction:
                                                m16n8k64 */
    SM_TENSOR_BITS = 32768,                  /* the same for single bits: m16n8k256 */
    SM_TENSOR_CYCLES = 1024,                 /* most cycles in which such an instruction enters its
                                                pipeline */
    SM_MAX_L1D_BANKS = 16,                   /* per L1D */
    SM_MAX_STAGES = 16,                      /* of a linear pipeline */
    MODERN_MAX_QUEUE = 16,                   /* memory instructions per sub-core of a modern core */
    MODERN_MAX_STREAM = 32,                  /* lines of the stream buffer of a modern core */
    SM_POLICY_BYTES = 96,                    /* a policy's name and parameters, with the NUL */
};

/* The kinds of pipelines that an instruction can be sent to. The load/store unit comes last; it is
 * not a pipeline. SP_OR_SFU has no pipelines of its own: its instructions go to SP, or to SFU while
 * SP has no room. */
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

/* How the lanes of a warp diverge and reconverge (isa/flow/converge.h). */
typedef enum SmDivergence { SM_DIVERGENCE_STACK, SM_DIVERGENCE_INDEPENDENT } SmDivergence;

/* What an SM issues: PTX instructions; PTX as the issue slots of its machine code
 * (issue_stream/lower.h); or machine code, with lowered PTX for kernels that have none. */
typedef enum SmInstructions {
    SM_INSTRUCTIONS_PTX,
    SM_INSTRUCTIONS_LOWERED,
    SM_INSTRUCTIONS_MACHINE
} SmInstructions;

/* Cores that an SM can have (sm/core.h): enum constant, record sm_core_..., and name in a machine
 * file. */
#define SM_CORES(X)                            X(CLASSIC, classic, "classic") X(MODERN, modern, "modern")
#define SM_CORE_CONSTANT(constant, core, name) SM_CORE_##constant,
typedef enum SmCoreKind { SM_CORES(SM_CORE_CONSTANT) SM_CORE_COUNT } SmCoreKind;

/* clang-format off */
/* One class of instructions, named by `what`. The latency counts from acceptance by the unit to the
 * result, without the stages around it. The initiation interval is that of 32 lanes. */
#define SM_OP_PARAMETERS(P, key, at, what, pipeline, cycles, interval) \
    P(COUNT, key, at, "latency", latency, "cycles", 1, 1000, cycles, what ": cycles in the pipeline") \
    P(COUNT, key, at, "initiation", initiation, "cycles", 1, 1000, interval, what ": cycles until the pipeline takes another warp") \
    P(CHOICE, key, at, "unit", unit, SmUnit, pipeline, what ": pipeline that it runs on; sp-or-sfu: SP, or SFU while SP has no room")

/* Throughput of a tensor pipeline per cycle, by type of the factors. 0: there is no such unit, or
 * its rate is unknown; then ops.matrix gives the timing. */
#define SM_TENSOR_PARAMETERS(P, key, at) \
    P(COUNT, key, at, "fp16", rate[ISA_TENSOR_FP16], "products", 0, 4096, "0", "products of f16 and bf16 matrices that a tensor pipeline adds per cycle; 0: use ops.matrix") \
    P(COUNT, key, at, "tf32", rate[ISA_TENSOR_TF32], "products", 0, 4096, "0", "the same for tf32") \
    P(COUNT, key, at, "fp64", rate[ISA_TENSOR_FP64], "products", 0, 4096, "0", "the same for f64") \
    P(COUNT, key, at, "fp8", rate[ISA_TENSOR_FP8], "products", 0, 4096, "0", "the same for 8-bit floats") \
    P(COUNT, key, at, "int8", rate[ISA_TENSOR_INT8], "products", 0, 4096, "0", "the same for 8-bit integers") \
    P(COUNT, key, at, "int4", rate[ISA_TENSOR_INT4], "products", 0, 4096, "0", "the same for 4-bit integers") \
    P(COUNT, key, at, "bit", rate[ISA_TENSOR_BIT], "products", 0, 16384, "0", "the same for single bits") \
    P(COUNT, key, at, "latency", latency, "cycles", 0, 900, "16", "cycles in the pipeline after an instruction has entered it completely") \
    P(COUNT, key, at, "step", step, "cycles", 1, 64, "1", "least cycles in which an instruction enters the pipeline") \
    P(COUNT, key, at, "step_latency", step_latency, "cycles", 0, 64, "0", "additional cycles in the pipeline for an instruction that takes more than one step to enter") \
    P(COUNT, key, at, "sparse_step", sparse_step, "cycles", 1, 64, "1", "least cycles from an instruction with a sparse A to the next instruction")

/* Throughput of a sub-core's tensor pipeline per cycle for wgmma. 0: such products complete when
 * they issue. */
#define SM_WGMMA_PARAMETERS(P, key, at) \
    P(COUNT, key, at, "fp16", rate[ISA_TENSOR_FP16], "products", 0, 16384, "0", "products of f16 and bf16 that a tensor pipeline adds per cycle for wgmma; 0: wgmma completes when it issues") \
    P(COUNT, key, at, "tf32", rate[ISA_TENSOR_TF32], "products", 0, 16384, "0", "the same for tf32") \
    P(COUNT, key, at, "fp8", rate[ISA_TENSOR_FP8], "products", 0, 16384, "0", "the same for 8-bit floats") \
    P(COUNT, key, at, "int8", rate[ISA_TENSOR_INT8], "products", 0, 16384, "0", "the same for 8-bit integers") \
    P(COUNT, key, at, "bit", rate[ISA_TENSOR_BIT], "products", 0, 65536, "0", "the same for single bits") \
    P(COUNT, key, at, "shared_bytes", shared_bytes, "", 1, 4096, "128", "bytes of A and B that a product reads from shared memory per cycle") \
    P(COUNT, key, at, "latency", latency, "cycles", 0, 1000, "18", "from the last cycle of a product in its pipeline to its completion")

/* One kind of pipeline, named by `what`, and its share of the operand collector. All schedulers of
 * a sub-core share its places. */
#define SM_UNIT_PARAMETERS(P, key, at, what, pipelines, gather, in, out) \
    P(COUNT, key, at, "count", count, "", 0, 8, pipelines, what " pipelines per sub-core, or per group of sub-cores that share them (an SM is one sub-core unless sm.subcores is set)") \
    P(COUNT, key, at, "lanes", lanes, "", 1, 32, "32", "lanes that a " what " pipeline accepts per cycle: a warp occupies its input for at least 32/lanes cycles") \
    P(COUNT, key, at, "collector_units", collector_units, "", 1, 64, gather, what " instructions that can gather operands at once") \
    P(COUNT, key, at, "collector_in", collector_in, "", 1, 16, in, what " instructions that enter collector units per cycle") \
    P(COUNT, key, at, "collector_out", collector_out, "", 1, 16, out, what " instructions that leave collector units per cycle")

/* Places before and after its operand collector. */
#define SM_UNIT_SLOT_PARAMETERS(P, key, at, what, issue, dispatch) \
    P(COUNT, key, at, "issue_slots", issue_slots, "", 1, 16, issue, what " instructions between issue and operand collector") \
    P(COUNT, key, at, "dispatch_slots", dispatch_slots, "", 1, 16, dispatch, what " instructions between operand collector and pipelines")

/* Parameters of units that sub-cores can share. The load/store unit lacks them, as an SM has only
 * one. */
#define SM_SHARED_UNIT_PARAMETERS(P, key, at, what) \
    P(COUNT, key, at, "shared_by", shared_by, "", 1, SM_MAX_SUBCORES, "1", "number of consecutive sub-cores that share these " what " pipelines: 1, 2 or 4")

#define SM_FETCH_PARAMETERS(P, key, at) \
    P(BOOL, key, at, "ideal", is_ideal, "no", "the buffer of every warp always holds its next instructions") \
    P(BOOL, key, at, "per_subcore", is_per_subcore, "no", "each sub-core fetches once per cycle for its own warps, through its own instruction cache (l0i); misses of l0i go to l1i") \
    P(COUNT, key, at, "width", width, "", 1, 16, "2", "consecutive instructions per fetch") \
    P(COUNT, key, at, "buffer", buffer, "", 1, 16, "2", "instructions buffered per warp") \
    P(BOOL, key, at, "waits_for_empty", waits_for_empty, "yes", "a warp fetches only when its buffer is empty") \
    P(BOOL, key, at, "crosses_lines", crosses_lines, "yes", "a fetch near the end of a cache line returns as many instructions as elsewhere, though it accesses only that line") \
    P(BOOL, key, at, "asks_again", asks_again, "no", "a warp whose line has arrived accesses the cache again in its turn, and the line may be gone by then; no: the line uses the cycle's fetch") \
    P(COUNT, key, at, "decode_latency", decode_latency, "cycles", 1, 64, "1", "from a fetch that hits until the instructions are in the buffer") \
    P(BYTES, key, at, "instruction", instruction_bytes, 4, 64, "8 B", "size of an instruction in the L1I") \
    P(ADDRESS, key, at, "code_base", code_base, "0xf0000000", "address of the first instruction")

#define SM_SCHEDULER_PARAMETERS(P, key, at) \
    P(COUNT, key, at, "count", count, "", 1, SM_MAX_SCHEDULERS, "2", "warp schedulers of an SM; warp w belongs to scheduler w mod count") \
    P(STRING, key, at, "policy", policy, SM_POLICY_BYTES, "gto", "default warp scheduling policy") \
    P(COUNT, key, at, "issue_width", issue_width, "", 1, 2, "1", "instructions issued per pick from the picked warp") \
    P(COUNT, key, at, "issue_interval", issue_interval, "cycles", 1, 32, "1", "from one pick to the next; the outcome of a pick counts for all these cycles") \
    P(BOOL, key, at, "alternates", alternates, "yes", "another scheduler goes first in each cycle")

#define SM_COLLECTOR_PARAMETERS(P, key, at) \
    P(BOOL, key, at, "ideal", is_ideal, "no", "all operands are available in the cycle after issue") \
    P(COUNT, key, at, "banks", banks, "", 1, 64, "16", "single-ported register banks per sub-core") \
    P(COUNT, key, at, "units", units, "", 0, SM_MAX_COLLECTORS, "0", "collector units per sub-core that accept instructions of every kind; 0: each kind has its own units (units.*.collector_units)") \
    P(COUNT, key, at, "steps", steps, "", 1, 4, "1", "steps of the collector per cycle; a bank serves one read per step, and writes block only the reads of the first step") \
    P(BOOL, key, at, "reuse", reuses, "no", "an operand is not read again if the warp's last instruction read the same register in the same place and no other warp has issued since") \
    P(BOOL, key, at, "adds_warp", adds_warp, "yes", "bank = (register + warp) mod banks, not register mod banks") \
    P(BOOL, key, at, "writes_block_reads", writes_block_reads, "yes", "a bank that is written in a cycle serves no reads")

#define SM_SHARED_PARAMETERS(P, key, at) \
    P(BYTES, key, at, "size", size_bytes, 0, 256 * KIB, "48 KiB", "shared memory per SM") \
    P(BYTES, key, at, "granularity", granularity_bytes, 1, 4 * KIB, "1 B", "a CTA's share is rounded up to a multiple of this") \
    P(BYTES, key, at, "reserved", reserved_bytes, 0, 4 * KIB, "0 B", "bytes that the system reserves for each CTA, in addition to what the CTA requests") \
    P(COUNT, key, at, "banks", banks, "", 1, 64, "32", "number of banks; accesses of lanes to different words of the same bank are serialised") \
    P(BYTES, key, at, "bank", bank_bytes, 4, 8, "4 B", "width of a bank") \
    P(COUNT, key, at, "latency", latency, "cycles", 1, 1000, "26", "latency after the last bank conflict") \
    P(COUNT, key, at, "depth", depth, "", 0, 1000, "0", "most loads in that pipe; when it is full, the load/store unit waits; 0: no limit") \
    P(COUNT, key, at, "conflict_lanes", conflict_lanes, "", 16, 32, "32", "lanes per access: 32 is the whole warp; with 16, the half-warps take turns") \
    P(COUNT, key, at, "conflict_cycles", conflict_cycles, "cycles", 1, 4, "1", "cycles of each pass that a bank conflict adds") \
    P(COUNT, key, at, "passes_per_cycle", passes_per_cycle, "", 1, 4, "1", "passes over the banks that an instruction makes per cycle") \
    P(BOOL, key, at, "lone_broadcasts", lone_broadcasts, "no", "an element that several lanes read takes a separate pass if other elements are read too") \
    P(BOOL, key, at, "one_broadcast", one_broadcast, "no", "only one word per pass is broadcast to all lanes that need it, in the first bank that has such a word; other accesses of a bank are served one lane per pass")

/* Parameters of the L1D beyond those of every cache. */
#define SM_L1D_PARAMETERS(P, key, at) \
    P(COUNT, key, at, "banks", banks, "", 1, SM_MAX_L1D_BANKS, "1", "L1 data cache: banks, each with its own queue; with several banks, an instruction sends one access per bank and cycle") \
    P(BYTES, key, at, "bank", bank_bytes, 4, 4 * KIB, "32 B", "L1 data cache: consecutive bytes in one bank") \
    P(COUNT, key, at, "bank_interval", bank_interval, "cycles", 0, 64, "1", "L1 data cache: from one tag lookup of a bank to the next; 0: as many lookups per cycle as the load/store unit sends, if l1d.latency is 0") \
    P(COUNT, key, at, "miss_interval", miss_interval, "cycles", 0, 64, "1", "L1 data cache: the minimum of this interval after a lookup that does not hit") \
    P(COUNT, key, at, "hit_latency", hit_latency, "cycles", 0, 1000, "0", "L1 data cache: from the lookup of a load that hits to its data, which need no write-back port") \
    P(BOOL, key, at, "stores_need_way", stores_need_way, "no", "L1 data cache: a store that misses is refused while all lines of its set are pending, though it allocates none") \
    P(COUNT, key, at, "dirty_share", dirty_share, "%", 0, 100, "0", "L1 data cache: written lines are not replaced until they exceed this share of all lines") \
    P(BOOL, key, at, "hints", takes_hints, "no", "L1 data cache: obeys eviction priorities (.L1::evict_first, .cs, ...) and prefetches of instructions") \
    P(BYTES, key, at, "unified", unified_bytes, 0, 1024 * KIB, "0 B", "size of the data store that L1D and shared memory share; then l1d.size is the whole store; 0 B: separate stores") \
    P(LIST, key, at, "carve_outs", carve_outs, 0, 1024, "[]", "unified store: possible sizes of shared memory in KiB; a kernel gets the smallest one that holds what it requests")

/* The load/store unit: from a warp's 32 addresses to requests, and back to registers. */
#define SM_LSU_CONSTANTS(P, key, at) \
    P(BOOL, key, at, "caches_local", caches_local, "yes", "local loads and stores use the L1D")
#define SM_LSU_PARAMETERS(P, key, at) \
    P(COUNT, key, at, "accesses_per_cycle", accesses_per_cycle, "", 1, 32, "1", "coalesced accesses sent to the caches per cycle; to an L1D with several banks, one per bank instead") \
    P(COUNT, key, at, "coalesced_lanes", coalesced_lanes, "", 16, 32, "32", "lanes whose accesses to global and local memory are coalesced together: 32 is the warp; with 16, each half separately") \
    P(BOOL, key, at, "shrinks_segments", shrinks_segments, "yes", "an access that touches only one half or quarter of a segment requests only that") \
    P(BYTES, key, at, "least_segment", least_segment_bytes, 0, 256, "0 B", "smallest size of an access or store if it is less than partition.sector: a segment shrinks to one of its halves, repeatedly; 0 B: partition.sector") \
    P(BOOL, key, at, "narrows_small_elements", narrows_small_elements, "yes", "2-byte elements coalesce in half segments, 1-byte elements in quarter segments") \
    P(BOOL, key, at, "descends", descends, "yes", "accesses of a warp are sent from the highest address down; with coalesced_lanes 16, those of its upper half go first") \
    P(BYTES, key, at, "bypass_segment", bypass_segment_bytes, 16, 256, "32 B", "segment size of loads, stores and copies that bypass the L1D") \
    P(BOOL, key, at, "caches_global", caches_global, "yes", "global loads use the L1D") \
    P(BOOL, key, at, "blocks_texels", blocks_texels, "yes", "texels of 2D and 3D arrays are stored in blocks of one texture-cache line, in rows of blocks; no: in rows of texels") \
    P(BOOL, key, at, "constant_words", constant_words, "no", "each word, or wider element, of constant memory that lanes read is a separate access; no: each line") \
    P(BOOL, key, at, "constants_hit", constants_hit, "no", "every read of a constant or a kernel parameter hits the L1C") \
    P(BOOL, key, at, "second_constants", has_l15c, "no", "misses of the constant cache go to a larger cache of the SM (l15c), and only its misses go to L2; kernel parameters always hit") \
    P(BOOL, key, at, "atomics_block", atomics_block, "yes", "a warp issues nothing until its atomics are answered") \
    P(BOOL, key, at, "loads_block", loads_block, "no", "a warp issues nothing until its load from global, local or texture memory completes, even if it does not need the data") \
    P(BOOL, key, at, "stalls_pipeline", stalls_pipeline, "no", "nothing issues while an instruction stays in the load/store unit for longer than one pick: all stages of the pipeline stop together") \
    P(COUNT, key, at, "mshrs", mshrs, "", 0, 65535, "0", "most accesses that may wait for data, textures and constants together, in addition to the limit of each cache (mshr_requests); 0: no such limit") \
    P(BOOL, key, at, "textures_in_order", textures_in_order, "no", "misses of the texture cache complete in order, and each keeps its MSHR until then") \
    P(COUNT, key, at, "row_stages", row_stages, "", 0, SM_MAX_STAGES, "0", "stages of a linear pipeline whose last stage also writes back what memory returns, one access per pick, with priority over instructions, which wait in the stages before; 0: memory has its own ports (writeback_ports)") \
    P(BOOL, key, at, "acknowledges_stores", acknowledges_stores, "yes", "a CTA keeps its slot until its stores are acknowledged") \
    P(BOOL, key, at, "enters_at_once", enters_at_once, "no", "an instruction enters the load/store unit in the cycle in which its operands leave the collector; no: in the next cycle") \
    P(COUNT, key, at, "fifo", fifo, "", 1, 1024, "32", "replies that wait at a network port (noc.sms_per_port) for the load/store unit") \
    P(COUNT, key, at, "reply_fifo", reply_fifo, "", 1, 1024, "2", "replies that wait in the load/store unit") \
    P(COUNT, key, at, "sends_per_cycle", sends_per_cycle, "", 1, 8, "1", "misses that each cache, except the L1I, sends per cycle") \
    P(COUNT, key, at, "writeback_ports", writeback_ports, "", 1, 8, "1", "load results written to registers per cycle") \
    P(BOOL, key, at, "waits_at_write", waits_at_write, "no", "a load result waits for its register bank in the cycle of the write; no: in the cycle before, in which the port chooses it")

/* The core of current GPUs (sm.core: modern); l0i and l1i configure its instruction caches. */
#define SM_MODERN_PARAMETERS(P, key, at) \
    P(COUNT, key, at, "memory_queue", memory_queue, "", 1, MODERN_MAX_QUEUE, "5", "memory instructions per sub-core between issue and the load/store unit (Huerta: a queue of 4 and a latch)") \
    P(COUNT, key, at, "memory_entry", memory_entry, "cycles", 1, 64, "11", "from issue until a memory instruction has read its registers and can enter the load/store unit (Huerta: 11 for a global load)") \
    P(COUNT, key, at, "address_interval", address_interval, "cycles", 1, 64, "4", "from one memory instruction that leaves a sub-core to the next (Huerta)") \
    P(COUNT, key, at, "memory_interval", memory_interval, "cycles", 1, 64, "2", "from one memory instruction that enters the load/store unit to the next, from any sub-core (Huerta)") \
    P(COUNT, key, at, "branch_latency", branch_latency, "cycles", 1, 64, "10", "from a taken branch to the warp's next instruction; an assumption: not published") \
    P(BYTES, key, at, "constants", constant_bytes, 64, 64 * KIB, "2 KiB", "first-level constant cache of a sub-core, from which instructions read operands (Jia: 2 KiB on Volta)") \
    P(BYTES, key, at, "constant_line", constant_line_bytes, 16, 256, "64 B", "line size of this cache (Jia)") \
    P(COUNT, key, at, "constant_ways", constant_ways, "", 1, 64, "4", "associativity of this cache (Jia)") \
    P(COUNT, key, at, "constant_miss", constant_miss, "cycles", 0, 1000, "79", "cycles that a warp waits for a line of this cache (Huerta)") \
    P(COUNT, key, at, "indexed_constant", indexed_constant, "cycles", 0, 1000, "9", "cycles that a warp waits, after the stall count, for a constant that a uniform register selects (measured on an H100: 13.9 cycles from a ULDC to the next one that needs its result, with a stall count of 5)") \
    P(COUNT, key, at, "stream_buffer", stream_buffer, "", 0, MODERN_MAX_STREAM, "8", "instruction lines that a sub-core requests ahead of a miss (Huerta: 8 agree best)") \
    P(COUNT, key, at, "fetch_latency", fetch_latency, "cycles", 1, 200, "20", "from a miss in a sub-core's instruction cache until the line arrives from l1i; an assumption: not published") \
    P(COUNT, key, at, "code_latency", code_latency, "cycles", 1, 4000, "300", "from a miss in l1i until the line arrives; an assumption: about the latency of a load from L2")

/* The SM as a whole. */
#define SM_PARAMETERS(P, key, at) \
    P(CHOICE, key, at, "core", core, SmCoreKind, "classic", "how the SM fetches, picks and times instructions: classic: scoreboard, operand collectors, pipelines (docs/sm.md); modern: sub-cores that issue by the control bits of machine code (docs/modern-core.md)") \
    P(COUNT, key, at, "threads", threads, "", 32, SM_MAX_THREADS, "1536", "resident threads") \
    P(COUNT, key, at, "ctas", ctas, "", 1, SM_MAX_CTAS, "8", "resident CTAs") \
    P(COUNT, key, at, "registers", registers, "", 1024, 1048576, "32768", "32-bit registers") \
    P(COUNT, key, at, "register_granularity", register_granularity, "", 1, 64, "4", "a thread's registers are rounded up to a multiple of this; a warp's registers are in its sub-core, which has an equal part of all registers") \
    P(CHOICE, key, at, "divergence", divergence, SmDivergence, "stack", "how lanes of a warp diverge: stack: one side of a branch after the other; independent: both sides in turn, as from compute capability 7.0 on") \
    P(CHOICE, key, at, "instructions", instructions, SmInstructions, "ptx", "instructions that are issued: ptx: PTX, one by one; lowered: for each PTX instruction as many as the GPU's own code has, from none to a routine (docs/issue-stream.md); machine: machine code (docs/machine-code.md), or lowered PTX if there is none; --code overrides this") \
    P(BOOL, key, at, "compiled_order", has_compiled_order, "no", "instructions of a block are issued in an order in which long waits overlap, as in compiled code (docs/issue-stream.md); no: in PTX order") \
    P(COUNT, key, at, "try_wait", try_wait, "cycles", 0, 100000000, "20000", "longest wait of an mbarrier.try_wait without a time limit; an assumption: not published for any GPU") \
    P(COUNT, key, at, "bulk_requests", bulk_requests, "", 0, 4096, "0", "most line requests that the unit for bulk copies (cp.async.bulk) has in flight; 0: no such unit, and bulk copies complete when they issue") \
    P(COUNT, key, at, "remote_latency", remote_latency, "cycles", 0, 10000, "0", "cycles that an SM takes to serve another SM's access to its shared memory, without the network") \
    P(COUNT, key, at, "cluster_barrier", cluster_barrier, "cycles", 0, 10000, "0", "from the last arrival at a cluster's barrier to the release of its warps") \
    P(COUNT, key, at, "bulk_start", bulk_start, "cycles", 0, 10000, "0", "from the issue of a bulk copy to its first request") \
    P(COUNT, key, at, "subcores", subcores, "", 1, SM_MAX_SUBCORES, "1", "parts with their own pipelines, register banks and collector: 1, or one per scheduler; warp w is in part w mod this number") \
    P(COUNT, key, at, "result_buses", result_buses, "", 1, SM_MAX_RESULTS, "2", "results that the pipelines of a sub-core may complete per cycle, together") \
    P(COUNT, key, at, "writeback_width", writeback_width, "", 1, SM_MAX_RESULTS, "2", "completed instructions that a sub-core retires per cycle") \
    P(COUNT, key, at, "write_back", write_back, "cycles", 1, 16, "2", "from the end of a pipeline to the instruction that needs its result: 2 through the registers, less with forwarding")
/* clang-format on */

typedef struct SmOpConfig {
    SM_OP_PARAMETERS(PARAMETER_FIELD, , , , , , )
} SmOpConfig;

typedef struct SmTensorConfig {
    uint32_t rate[ISA_TENSORS]; /* by SM_TENSOR_PARAMETERS; also the next */
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
    uint32_t rate[ISA_TENSORS]; /* by SM_WGMMA_PARAMETERS; also the next */
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
    SmOpConfig ops[ISA_CLASS_COUNT]; /* memory instructions: only the unit, which is the load/store
                                        unit */
    SmTensorConfig tensor;
    SmWgmmaConfig wgmma;
    SmModernConfig modern;
    SmSharedConfig shared;
    SmLsuConfig lsu;
    CacheConfig l0i; /* instructions of a sub-core, if fetch.per_subcore is set */
    CacheConfig l1i; /* instructions */
    CacheConfig l1d; /* global and local data */
    SmL1dConfig l1d_own;
    CacheConfig l1c;  /* constants and kernel parameters */
    CacheConfig l15c; /* the same, below l1c, if lsu.second_constants is set */
    CacheConfig l1t;  /* textures and read-only loads */
} SmConfig;

static inline uint32_t sm_config_warps(const SmConfig *config) { return config->threads / 32; }
/* The most bytes of shared memory that a CTA can request. */
static inline uint32_t sm_config_cta_shared(const SmConfig *config) {
    const SmSharedConfig *shared = &config->shared;
    uint32_t all = shared->size_bytes - shared->size_bytes % shared->granularity_bytes;
    return all > shared->reserved_bytes ? all - shared->reserved_bytes : 0;
}
/* The most fetches that the L1D can have in flight. */
static inline uint32_t sm_config_l1d_mshrs(const SmConfig *config) {
    const uint32_t own = config->l1d.mshrs, shared = config->lsu.mshrs;
    return shared && shared < own ? shared : own;
}

#endif
