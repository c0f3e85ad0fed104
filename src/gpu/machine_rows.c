/* The parameter table, and the reading and writing of one value. */
#include "gpu/machine_rows.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

static_assert(sizeof(CacheIndex) == sizeof(uint32_t), "a choice is stored as 32 bits");

static const char *const index_names[] = {"linear", "fermi"};
static const char *const allocate_names[] = {"on-miss", "on-fill"};
static const char *const flush_names[] = {"never", "kernel", "idle"};
static const char *const unit_names[] = {"sp", "sfu", "dp"};
static const char *const noc_names[] = {"mesh", "crossbar", "ideal"};
static const char *const divergence_names[] = {"stack", "independent"};
static_assert(sizeof index_names / sizeof *index_names == CACHE_INDEXES, "a name for each");
static_assert(sizeof allocate_names / sizeof *allocate_names == CACHE_ALLOCATES, "a name for each");
static_assert(sizeof flush_names / sizeof *flush_names == CACHE_FLUSHES, "a name for each");
static_assert(sizeof unit_names / sizeof *unit_names == SM_UNIT_LDST,
              "a name for each but the last");
static_assert(sizeof divergence_names / sizeof *divergence_names == SM_DIVERGENCE_INDEPENDENT + 1,
              "a name for each");
static_assert(sizeof noc_names / sizeof *noc_names == NOC_KIND_COUNT, "a name for each");

enum { KIB = 1024, MIB = 1024 * 1024, GHZ = 1000000 }; /* bytes, bytes, kHz */

/* clang-format off */
#define ROW(type, key, field, unit, choices, low, high, initial, meaning) \
    {key, MACHINE_##type, offsetof(MachineConfig, field), unit, choices, low, high, initial, meaning},
#define COUNT(key, field, unit, low, high, initial, meaning) \
    ROW(COUNT, key, field, unit, NULL, low, high, initial, meaning)
#define BYTES(key, field, low, high, initial, meaning) \
    ROW(BYTES, key, field, "", NULL, low, high, initial, meaning)
#define CLOCK(key, field, initial, meaning) \
    ROW(FREQUENCY, key, field, "", NULL, 1000, 10 * GHZ, initial, meaning)
#define BOOL(key, field, initial, meaning) \
    ROW(BOOL, key, field, "", NULL, 0, 1, initial, meaning)
#define CHOICE(key, field, choices, initial, meaning) \
    ROW(CHOICE, key, field, "", choices, 0, sizeof(choices) / sizeof(*choices) - 1, initial, meaning)
#define STRING(key, field, initial, meaning) \
    ROW(STRING, key, field, "", NULL, 0, sizeof(((MachineConfig *)NULL)->field), initial, meaning)

/* One pipeline kind and its collector units. */
#define UNIT(key, kind, what, pipelines, issue, gather, in, out, dispatch) \
    COUNT("units." key ".count", sm.units[kind].count, "", 0, 8, pipelines, what " pipelines of an SM") \
    COUNT("units." key ".lanes", sm.units[kind].lanes, "", 1, 32, "32", "lanes a " what " pipeline takes a cycle: a warp keeps its input 32/lanes cycles at least") \
    COUNT("units." key ".issue_slots", sm.units[kind].issue_slots, "", 1, 16, issue, what " instructions between issue and operand collector") \
    COUNT("units." key ".collector_units", sm.units[kind].collector_units, "", 1, 64, gather, what " instructions gathering operands") \
    COUNT("units." key ".collector_in", sm.units[kind].collector_in, "", 1, 16, in, what " collector units filled a cycle") \
    COUNT("units." key ".collector_out", sm.units[kind].collector_out, "", 1, 16, out, what " collector units emptied a cycle") \
    COUNT("units." key ".dispatch_slots", sm.units[kind].dispatch_slots, "", 1, 16, dispatch, what " instructions between operand collector and pipelines")

/* One instruction class. */
#define OP(key, class, unit_name, cycles, interval, what) \
    COUNT("ops." key ".latency", sm.ops[class].latency, "cycles", 1, 1000, cycles, what ": cycles in the pipeline") \
    COUNT("ops." key ".initiation", sm.ops[class].initiation, "cycles", 1, 1000, interval, what ": cycles until the pipeline takes another warp") \
    CHOICE("ops." key ".unit", sm.ops[class].unit, unit_names, unit_name, what ": pipeline it runs on")

/* One cache, as far as loads go; then what a cache that is written needs besides. */
#define CACHE(key, field, what, size, line, sector, way_count, set_index, when_dropped, cycles, entries, merges, queue) \
    BYTES(key ".size", field.size_bytes, 32, 256 * MIB, size, what ": data") \
    BYTES(key ".line", field.line_bytes, 16, 4 * KIB, line, what ": data under one tag") \
    BYTES(key ".sector", field.sector_bytes, 0, 4 * KIB, sector, what ": unit of fills and of valid and dirty state; 0 B is the whole line") \
    COUNT(key ".ways", field.ways, "", 1, 64, way_count, what ": lines per set") \
    CHOICE(key ".index", field.index, index_names, set_index, what ": how an address chooses its set") \
    CHOICE(key ".replacement", field.replacement, replacement_names, "lru", what ": choice of the victim") \
    CHOICE(key ".allocate", field.allocate, allocate_names, "on-miss", what ": when a load that misses takes its line") \
    CHOICE(key ".flush", field.flush, flush_names, when_dropped, what ": when every line is dropped; idle: also while an SM has no thread") \
    COUNT(key ".latency", field.latency, "cycles", 0, 1000, cycles, what ": cycles from entry to tag lookup") \
    COUNT(key ".mshrs", field.mshrs, "", 1, 4096, entries, what ": lines (sectors, where sectored) that may be pending") \
    COUNT(key ".mshr_merges", field.mshr_merges, "", 1, 4096, merges, what ": requests that may wait for one pending line, the first included") \
    COUNT(key ".miss_queue", field.miss_queue, "", 1, 4096, queue, what ": requests that may wait to go below")
#define CACHE_STORES(key, field, what, policy, missing) \
    CHOICE(key ".write", field.write, write_policy_names, policy, what ": global stores") \
    CHOICE(key ".write_allocate", field.write_allocate, write_allocate_names, missing, what ": what a global store that misses brings in, under write-back")

static const MachineRow rows[] = {
    STRING("name", name, "unnamed", "name in results")
    STRING("title", title, "", "one line for people")

    CLOCK("clock.sm", clock.sm_khz, "700 MHz", "SMs")
    CLOCK("clock.noc", clock.noc_khz, "700 MHz", "interconnect")
    CLOCK("clock.l2", clock.l2_khz, "700 MHz", "partitions up to the DRAM controller")
    CLOCK("clock.dram", clock.dram_khz, "924 MHz", "DRAM commands (data move twice or four times as fast)")

    COUNT("gpu.sms", sms, "", 1, 1024, "15", "streaming multiprocessors")
    COUNT("gpu.partitions", partitions, "", 1, 64, "6", "memory channels")

    STRING("cta.policy", cta.policy, "round-robin", "CTA scheduling policy when none is named")
    COUNT("cta.per_sm_per_cycle", cta.per_sm_per_cycle, "", 1, SM_MAX_CTAS, "1", "CTAs one SM may be given in a cycle")
    COUNT("cta.per_cycle", cta.per_cycle, "", 0, 65536, "0", "CTAs all SMs may be given in a cycle; 0: no limit")
    BOOL("cta.spreads_small_grids", cta.spreads_small_grids, "yes", "a grid too small to fill every SM is dealt out evenly")
    BOOL("cta.resumes_scan", cta.resumes_scan, "yes", "the scan for an SM starts after the last one served, across kernels too")
    COUNT("cta.launch_latency", cta.launch_latency, "cycles", 0, 1000000, "0", "from a kernel's launch to its first CTA")

    COUNT("sm.threads", sm.threads, "", 32, SM_MAX_THREADS, "1536", "resident threads")
    COUNT("sm.ctas", sm.ctas, "", 1, SM_MAX_CTAS, "8", "resident CTAs")
    COUNT("sm.registers", sm.registers, "", 1024, 1048576, "32768", "32-bit registers")
    COUNT("sm.register_granularity", sm.register_granularity, "", 1, 64, "4", "a thread's registers are rounded up to a multiple of this")
    CHOICE("sm.divergence", sm.divergence, divergence_names, "stack", "how lanes of a warp part: stack: the sides of a branch one after the other; independent: in turns, as from compute capability 7.0 on")
    COUNT("sm.result_buses", sm.result_buses, "", 1, SM_MAX_RESULTS, "2", "results that SP, SFU and DP pipelines may finish a cycle, together")
    COUNT("sm.writeback_width", sm.writeback_width, "", 1, SM_MAX_RESULTS, "2", "finished instructions retired a cycle")

    BOOL("fetch.ideal", sm.fetch.is_ideal, "no", "the next instructions of every warp are always in its buffer")
    COUNT("fetch.width", sm.fetch.width, "", 1, 16, "2", "consecutive instructions taken by one fetch")
    COUNT("fetch.buffer", sm.fetch.buffer, "", 1, 16, "2", "instructions buffered per warp")
    BOOL("fetch.waits_for_empty", sm.fetch.waits_for_empty, "yes", "a warp fetches only when its whole buffer is used up")
    COUNT("fetch.decode_latency", sm.fetch.decode_latency, "cycles", 1, 64, "1", "from a fetch that hits to the filled buffer")
    BYTES("fetch.instruction", sm.fetch.instruction_bytes, 4, 64, "8 B", "size of an instruction in the L1I")
    ROW(ADDRESS, "fetch.code_base", sm.fetch.code_base, "", NULL, 0, UINT32_MAX, "0xf0000000", "address of the first instruction")

    COUNT("scheduler.count", sm.scheduler.count, "", 1, SM_MAX_SCHEDULERS, "2", "warp schedulers of an SM; warp w belongs to scheduler w mod count")
    STRING("scheduler.policy", sm.scheduler.policy, "gto", "warp scheduling policy when none is named")
    COUNT("scheduler.issue_width", sm.scheduler.issue_width, "", 1, 2, "1", "instructions issued from the warp picked")
    COUNT("scheduler.issue_interval", sm.scheduler.issue_interval, "cycles", 1, 32, "1", "from one pick to the next; the outcome of a pick stands for all of them")
    BOOL("scheduler.alternates", sm.scheduler.alternates, "yes", "which scheduler goes first changes every cycle")

    BOOL("collector.ideal", sm.collector.is_ideal, "no", "every operand is there the cycle after issue")
    COUNT("collector.banks", sm.collector.banks, "", 1, 64, "16", "single-ported register banks")
    BOOL("collector.adds_warp", sm.collector.adds_warp, "yes", "bank = (register + warp) mod banks, not register mod banks")
    BOOL("collector.writes_block_reads", sm.collector.writes_block_reads, "yes", "a bank written in a cycle serves no read")

    UNIT("sp", SM_UNIT_SP, "SP", "2", "2", "6", "2", "2", "2")
    UNIT("sfu", SM_UNIT_SFU, "SFU", "1", "1", "8", "1", "1", "1")
    UNIT("dp", SM_UNIT_DP, "DP", "0", "1", "2", "1", "1", "1")
    UNIT("ldst", SM_UNIT_LDST, "load/store", "1", "1", "2", "1", "1", "1")

    OP("other", ISA_CLASS_OTHER, "sp", "1", "1", "mov, cvt, setp, selp, logic, shifts, branches, barriers")
    OP("int_add", ISA_CLASS_INT_ADD, "sp", "4", "1", "integer add, sub")
    OP("int_minmax", ISA_CLASS_INT_MINMAX, "sp", "13", "2", "integer min, max")
    OP("int_mul", ISA_CLASS_INT_MUL, "sp", "4", "2", "integer mul")
    OP("int_mad", ISA_CLASS_INT_MAD, "sp", "5", "1", "integer mad")
    OP("int_div", ISA_CLASS_INT_DIV, "sfu", "145", "8", "integer div, rem")
    OP("mul24", ISA_CLASS_MUL24, "sp", "5", "3", "mul24")
    OP("mad24", ISA_CLASS_MAD24, "sp", "6", "2", "mad24")
    OP("fp32_add", ISA_CLASS_FP32_ADD, "sp", "4", "1", "f32 add, sub")
    OP("fp32_minmax", ISA_CLASS_FP32_MINMAX, "sp", "13", "2", "f32 min, max")
    OP("fp32_mul", ISA_CLASS_FP32_MUL, "sp", "4", "1", "f32 mul")
    OP("fp32_mad", ISA_CLASS_FP32_MAD, "sp", "5", "1", "f32 mad, fma")
    OP("fp32_div", ISA_CLASS_FP32_DIV, "sfu", "39", "4", "f32 div")
    OP("fp64_add", ISA_CLASS_FP64_ADD, "sfu", "8", "8", "f64 add, sub")
    OP("fp64_minmax", ISA_CLASS_FP64_MINMAX, "sfu", "19", "16", "f64 min, max")
    OP("fp64_mul", ISA_CLASS_FP64_MUL, "sfu", "8", "8", "f64 mul")
    OP("fp64_mad", ISA_CLASS_FP64_MAD, "sfu", "8", "8", "f64 mad, fma")
    OP("fp64_div", ISA_CLASS_FP64_DIV, "sfu", "330", "130", "f64 div")
    OP("sfu", ISA_CLASS_SFU, "sfu", "8", "8", "rcp, sqrt, rsqrt, sin, cos, ex2, lg2, tanh")
    OP("shuffle", ISA_CLASS_SHUFFLE, "sp", "32", "4", "shfl")

    BYTES("shared.size", sm.shared.size_bytes, 0, 256 * KIB, "48 KiB", "shared memory of an SM")
    BYTES("shared.granularity", sm.shared.granularity_bytes, 1, 4 * KIB, "1 B", "a CTA's share is rounded up to a multiple of this")
    COUNT("shared.banks", sm.shared.banks, "", 1, 64, "32", "banks; lanes that need different words of one bank wait for each other")
    BYTES("shared.bank", sm.shared.bank_bytes, 4, 8, "4 B", "width of a bank")
    COUNT("shared.latency", sm.shared.latency, "cycles", 1, 1000, "26", "pipe behind the last conflict")
    COUNT("shared.conflict_lanes", sm.shared.conflict_lanes, "", 16, 32, "32", "lanes of one access: 32 is the warp, 16 makes half-warps take turns")

    COUNT("lsu.accesses_per_cycle", sm.lsu.accesses_per_cycle, "", 1, 32, "1", "coalesced accesses sent to the caches a cycle")
    BOOL("lsu.shrinks_segments", sm.lsu.shrinks_segments, "yes", "an access that touches one half or quarter of a segment asks for that only")
    BOOL("lsu.narrows_small_elements", sm.lsu.narrows_small_elements, "yes", "2-byte elements coalesce in half segments, 1-byte elements in quarters")
    BOOL("lsu.descends", sm.lsu.descends, "yes", "the accesses of a warp go highest address first")
    BYTES("lsu.bypass_segment", sm.lsu.bypass_segment_bytes, 16, 256, "32 B", "segment of atomics and of loads that bypass the L1D")
    BOOL("lsu.caches_global", sm.lsu.caches_global, "yes", "global loads use the L1D")
    BOOL("lsu.caches_local", sm.lsu.caches_local, "yes", "local loads and stores use the L1D")
    BOOL("lsu.atomics_block", sm.lsu.atomics_block, "yes", "a warp issues nothing until its atomics are answered")
    BOOL("lsu.loads_block", sm.lsu.loads_block, "no", "a warp issues nothing until its load from global, local or texture memory has ended, used or not")
    BOOL("lsu.acknowledges_stores", sm.lsu.acknowledges_stores, "yes", "a CTA keeps its slot until its stores are acknowledged")
    COUNT("lsu.fifo", sm.lsu.fifo, "", 1, 1024, "32", "replies waiting between network port and load/store unit")
    COUNT("lsu.reply_fifo", sm.lsu.reply_fifo, "", 1, 1024, "2", "replies waiting in the load/store unit")
    COUNT("lsu.writeback_ports", sm.lsu.writeback_ports, "", 1, 8, "1", "load results written to registers a cycle")

    CACHE("l1i", sm.l1i, "instruction cache", "2 KiB", "128 B", "0 B", "4", "linear", "never", "0", "2", "32", "4")
    CACHE("l1d", sm.l1d, "L1 data cache", "16 KiB", "128 B", "0 B", "4", "fermi", "idle", "35", "64", "8", "8")
    CACHE_STORES("l1d", sm.l1d, "L1 data cache", "write-evict", "none")
    CHOICE("l1d.local_write", sm.l1d.local_write, write_policy_names, "write-back", "L1 data cache: local stores")
    CHOICE("l1d.local_write_allocate", sm.l1d.local_write_allocate, write_allocate_names, "none", "L1 data cache: what a local store that misses brings in, under write-back")
    CACHE("l1c", sm.l1c, "constant cache", "8 KiB", "64 B", "0 B", "2", "linear", "never", "0", "2", "64", "4")
    CACHE("l1t", sm.l1t, "texture cache", "12 KiB", "128 B", "0 B", "24", "linear", "idle", "35", "64", "8", "8")

    CHOICE("noc.kind", network.noc.kind, noc_names, "crossbar", "each of the two networks: requests, replies")
    BYTES("noc.flit", network.noc.flit_bytes, 1, NOC_MAX_FLIT_BYTES, "40 B", "what a link moves in a cycle")
    BYTES("noc.header", network.header_bytes, 1, 256, "8 B", "of a packet; all there is of a read request or an acknowledgement")
    COUNT("noc.injection_flits", network.noc.injection_flits, "", 1, NOC_MAX_FLITS, "9", "flits of a node's injection queue, and so of the longest packet")
    COUNT("noc.ejection_flits", network.noc.ejection_flits, "", 1, NOC_MAX_FLITS, "80", "flits waiting for a node to take them; ideal: packets under way to it")
    COUNT("noc.buffer_flits", network.noc.buffer_flits, "", 1, NOC_MAX_FLITS, "64", "mesh, crossbar: flits of an input buffer, per virtual channel")
    COUNT("noc.virtual_channels", network.noc.virtual_channels, "", 1, NOC_MAX_CHANNELS, "1", "mesh: of each link; the crossbar has one")
    COUNT("noc.columns", network.noc.columns, "", 1, NOC_MAX_NODES, "6", "mesh: routers in a row")
    COUNT("noc.rows", network.noc.rows, "", 1, NOC_MAX_NODES, "6", "mesh: rows of routers")
    ROW(LIST, "noc.memory_routers", network.memory_routers, "", NULL, 0, NOC_MAX_NODES - 1, "[]", "mesh: routers of the L2 slices, row x columns + column; none: behind the SMs")
    COUNT("noc.router_delay", network.noc.router_delay, "cycles", 0, NOC_MAX_DELAY, "3", "mesh: from entering a router to leaving it, unhindered")
    COUNT("noc.link_delay", network.noc.link_delay, "cycles", 1, NOC_MAX_DELAY, "1", "mesh: from router to router, and between router and node")
    COUNT("noc.credit_delay", network.noc.credit_delay, "cycles", 1, NOC_MAX_DELAY, "1", "mesh: from a flit's leaving a buffer to the reuse of its room")
    COUNT("noc.internal_steps", network.noc.internal_steps, "", 1, 8, "2", "crossbar: switch steps a cycle")
    COUNT("noc.allocation_steps", network.noc.allocation_steps, "", 0, 1, "1", "crossbar: switch steps between a packet's grant and its first flit")
    COUNT("noc.output_delay", network.noc.output_delay, "cycles", 1, NOC_MAX_DELAY, "4", "crossbar: from the output link to the node")
    COUNT("noc.ideal_latency", network.noc.ideal_latency, "cycles", 1, NOC_MAX_DELAY, "5", "ideal: from injection to arrival")

    COUNT("partition.slices", partition.slices, "", 1, 8, "2", "L2 slices of a channel, each with a network port")
    BYTES("partition.atom", partition.atom_bytes, 16, 256, "32 B", "what a request is split into before L2, and the unit of a DRAM read")
    COUNT("partition.rop_latency", partition.rop_latency, "cycles", 0, 10000, "120", "from the network to the input queue of L2")
    COUNT("partition.input_queue", partition.input_queue, "", 1, 4096, "64", "requests waiting for L2")
    COUNT("partition.reply_queue", partition.reply_queue, "", 1, 4096, "64", "replies waiting for the network")
    COUNT("partition.to_dram_queue", partition.to_dram_queue, "", 1, 4096, "64", "requests from a slice waiting for DRAM")
    COUNT("partition.from_dram_queue", partition.from_dram_queue, "", 1, 4096, "64", "replies of DRAM waiting for a slice")
    COUNT("partition.dram_latency", partition.dram_latency, "cycles", 0, 10000, "100", "from a slice's queue to the DRAM controller")
    COUNT("partition.dram_credits", partition.dram_credits, "", 1, 65536, "181", "requests of a channel between its slices and the end of their DRAM access")
    BYTES("partition.port", partition.port_bytes, 8, 1024, "32 B", "data that L2 moves a cycle")

    BOOL("l2.enabled", partition.has_l2, "yes", "no: every request goes to DRAM")
    BOOL("l2.filled_by_copies", partition.copies_fill_l2, "no", "a host-to-device copy leaves its data in L2")
    BOOL("l2.misplaces_half_lines", partition.misplaces_half_lines, "no", "a defect of GPGPU-Sim 4.2, for comparisons with it: a store of half a line to the upper half takes the same place of the next line")
    CACHE("l2", partition.l2, "L2 slice", "64 KiB", "128 B", "32 B", "8", "linear", "never", "1", "256", "4", "4")
    CACHE_STORES("l2", partition.l2, "L2 slice", "write-back", "validate")

    STRING("map.bits", map.bits, "RRRRRRRRRRRR.BBB.CCCC.b.CCCCCCCC", "address bits, highest first: R row, B bank, C column, P channel, S slice, b bank and slice")
    BYTES("map.block", map.block_bytes, 0, 64 * KIB, "256 B", "blocks dealt to the channels in turn; the bits are then those of the address within the channel; 0 B: the P bits name the channel")

    CHOICE("dram.scheduler", dram.scheduler, dram_scheduler_names, "fr-fcfs", "order in which requests are served")
    COUNT("dram.queue", dram.queue_entries, "", 1, DRAM_MAX_QUEUE, "64", "requests waiting at a channel")
    COUNT("dram.replies", dram.reply_entries, "", 1, DRAM_MAX_QUEUE, "116", "replies waiting for L2")
    COUNT("dram.banks", dram.banks, "", 1, DRAM_MAX_BANKS, "16", "banks of a channel")
    COUNT("dram.bank_groups", dram.bank_groups, "", 1, DRAM_MAX_GROUPS, "4", "groups the banks are dealt to; 1: no groups")
    BYTES("dram.row", dram.row_bytes, 32, 64 * KIB, "4 KiB", "row of a bank")
    BYTES("dram.bus", dram.bus_bytes, 1, 1 * KIB, "8 B", "moved per beat, all chips of a channel together")
    COUNT("dram.burst", dram.burst_length, "beats", 1, 64, "8", "of one column command")
    COUNT("dram.data_rate", dram.data_rate, "beats", 1, 64, "4", "per DRAM cycle: 2 double, 4 quad data rate")
    COUNT("dram.tCL", dram.timing.cl, "cycles", 1, 1000, "12", "read command to its data")
    COUNT("dram.tWL", dram.timing.wl, "cycles", 1, 1000, "4", "write command to its data")
    COUNT("dram.tRCD", dram.timing.rcd, "cycles", 1, 1000, "12", "activate to read")
    COUNT("dram.tRCDWR", dram.timing.rcd_write, "cycles", 0, 1000, "0", "activate to write; 0: tRCD - tWL - 1")
    COUNT("dram.tRP", dram.timing.rp, "cycles", 1, 1000, "12", "precharge to activate")
    COUNT("dram.tRAS", dram.timing.ras, "cycles", 1, 1000, "28", "activate to precharge")
    COUNT("dram.tRC", dram.timing.rc, "cycles", 1, 1000, "40", "activate to activate of the same bank")
    COUNT("dram.tRRD", dram.timing.rrd, "cycles", 1, 1000, "6", "activate to activate of another bank")
    COUNT("dram.tCCD", dram.timing.ccd, "cycles", 1, 1000, "2", "column command to column command")
    COUNT("dram.tCCDL", dram.timing.ccd_long, "cycles", 0, 1000, "3", "the same inside a bank group; 0: tCCD")
    COUNT("dram.tCDLR", dram.timing.cdlr, "cycles", 1, 1000, "5", "end of write data to a read")
    COUNT("dram.tWR", dram.timing.wr, "cycles", 1, 1000, "12", "end of write data to precharge")
    COUNT("dram.tRTP", dram.timing.rtp, "cycles", 0, 1000, "0", "read to precharge; 0: the cycles of a burst")

    BOOL("oracle.perfect_l1", oracle.perfect_l1, "no", "every global and local load hits the L1D: gives PMEM")
    BOOL("oracle.perfect_l2", oracle.perfect_l2, "no", "every request that reaches a partition hits its L2")
    COUNT("watchdog.cycles", watchdog_cycles, "cycles", 0, UINT32_MAX, "1000000", "without any progress that end a run; 0: never")
};
/* clang-format on */

const MachineRow *machine_rows(int *count) {
    *count = (int)(sizeof rows / sizeof *rows);
    return rows;
}

const MachineRow *machine_find_row(const char *key, size_t length) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strlen(rows[i].key) == length && !memcmp(rows[i].key, key, length)) return &rows[i];
    }
    return NULL;
}
