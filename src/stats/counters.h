/* The counters of a run, each declared once in a row. The struct, the sums over SMs and kernels,
 * the text, JSON and CSV writers, docs/metrics.md and the identities that are checked after every
 * run are derived from the rows. Every unit has a Counters of its own and counts with
 * `counters->l1d_accesses++`; nothing is looked up by name while a kernel runs.
 *
 * Sources of the definitions: OWL sections 2.2 and 3 (CINV, its share of inactive cycles,
 * MemoryBlockCycles, NoWarpCycles, BLP, RBL), CCWS section 5 (intra- and inter-warp hits, MPKI),
 * PRO section II (the split of cycles without issue). */
#ifndef TYTO_STATS_COUNTERS_H
#define TYTO_STATS_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

/* The rows:
 * SUM(name, unit, meaning): added up over SMs, partitions and kernels.
 * MAX(name, unit, meaning): the largest of them.
 * GROUP(first, source, title): heads the rows from counter `first` on, which unit `source` counts.
 */
/* clang-format off */
/* The counters of one network, whose names begin with `name`. Requests and replies are counted in
 * the same way. */
#define NETWORK(SUM, name, senders, receivers, packets) \
    SUM(name##_packets_sent, "packets", "packets the " senders " injected") \
    SUM(name##_packets_received, "packets", "packets the " receivers " took") \
    SUM(name##_flits, "flits", "flits of the " packets " sent") \
    SUM(name##_transit_cycles, "NoC cycles", "time that the " packets " would take in an empty network") \
    SUM(name##_queue_cycles, "NoC cycles", "additional time of the " packets " because of contention")

#define COUNTERS(GROUP, SUM, MAX) \
    GROUP(cycles, "gpu", "The kernel") \
    SUM(cycles, "SM cycles", "from launch until the last request has drained") \
    SUM(time_ps, "ps", "simulated time from launch until the last request has drained") \
    SUM(sm_cycles, "SM cycles", "cycles, summed over the SMs") \
    SUM(kernels, "kernels", "kernels run") \
    SUM(ctas_launched, "CTAs", "thread blocks (CTAs) assigned to an SM") \
    SUM(ctas_finished, "CTAs", "thread blocks (CTAs) whose last warp retired") \
    SUM(warps_launched, "warps", "warps assigned to an SM") \
    SUM(warps_finished, "warps", "warps retired") \
    MAX(ctas_per_sm_max, "CTAs", "most CTAs on one SM at once") \
    SUM(cta_cycles, "CTA x SM cycles", "resident CTAs, summed over SM cycles") \
    SUM(warp_cycles, "warp x SM cycles", "resident warps, summed over SM cycles") \
    GROUP(warp_instructions, "sm", "Instructions") \
    SUM(warp_instructions, "warp instructions", "instructions issued, once per warp") \
    SUM(thread_instructions, "thread instructions", "instructions issued, once per active lane") \
    SUM(machine_instructions, "machine instructions", "issue slots of warps, if the machine issues the slots of machine code instead of PTX (sm.instructions: lowered)") \
    SUM(sp_instructions, "warp instructions", "issued to the SP pipelines") \
    SUM(sfu_instructions, "warp instructions", "issued to the SFU pipelines") \
    SUM(dp_instructions, "warp instructions", "issued to the DP pipelines") \
    SUM(int_instructions, "warp instructions", "issued to the INT pipelines, on machines that have them") \
    SUM(tensor_instructions, "warp instructions", "issued to the tensor pipelines") \
    SUM(ldst_instructions, "warp instructions", "issued to the load/store unit") \
    SUM(load_instructions, "warp instructions", "loads from any memory") \
    SUM(store_instructions, "warp instructions", "stores to any memory") \
    SUM(atomic_instructions, "warp instructions", "atomic operations and reductions") \
    SUM(branches, "warp instructions", "branches issued") \
    SUM(divergent_branches, "warp instructions", "branches that split a warp") \
    SUM(barriers, "warp instructions", "CTA barriers issued") \
    GROUP(scheduler_cycles, "sm", "Where the scheduler cycles went (each is exactly one of these)") \
    SUM(scheduler_cycles, "scheduler cycles", "cycles, summed over SMs and their schedulers") \
    SUM(issued, "scheduler cycles", "an instruction was issued") \
    SUM(idle_no_warp, "scheduler cycles", "no warp: none resident, or all finished; idle_launch is a part of these") \
    SUM(idle_barrier, "scheduler cycles", "no valid instruction, warps wait at a barrier") \
    SUM(idle_branch, "scheduler cycles", "no valid instruction, a taken branch refetches") \
    SUM(idle_fetch, "scheduler cycles", "no valid instruction, instruction buffers empty") \
    SUM(scoreboard_memory, "scheduler cycles", "valid instructions, all wait for data from memory") \
    SUM(scoreboard_other, "scheduler cycles", "valid instructions, all wait for other results") \
    SUM(pipeline_lsu, "scheduler cycles", "ready instructions, but the load/store unit accepts none") \
    SUM(pipeline_other, "scheduler cycles", "ready instructions, but other units accept none") \
    SUM(throttled, "scheduler cycles", "ready instructions, but the policy lets none issue") \
    GROUP(idle_launch, "gpu", "Of the scheduler cycles without a warp") \
    SUM(idle_launch, "scheduler cycles", "no thread block could start yet: the launch latency had not passed, and no other kernel ran") \
    GROUP(seen_vacant, "sm", "Scheduler cycles without issue, by the state of the warps that the policy considers") \
    SUM(seen_vacant, "scheduler cycles", "the SM has no warp at all") \
    SUM(seen_idle, "scheduler cycles", "the SM has warps, but the considered warps have no valid instruction") \
    SUM(seen_scoreboard, "scheduler cycles", "some have a valid instruction, and all of these wait for results") \
    SUM(seen_pipeline, "scheduler cycles", "some are ready, but no unit accepts them or the policy lets none issue") \
    GROUP(no_issue_cycles, "sm", "Idle SM cycles") \
    SUM(no_issue_cycles, "SM cycles", "cycles in which no scheduler of the SM issued") \
    SUM(MemoryBlockCycles, "SM cycles", "the SM has warps and all of them wait for memory: for data, or behind loads that wait for data") \
    SUM(NoWarpCycles, "SM cycles", "the SM has no warp while the kernel still runs") \
    GROUP(fetches, "fetch", "Instruction fetch") \
    SUM(fetches, "fetches", "attempted instruction fetches") \
    SUM(l1i_accesses, "accesses", "instruction cache lookups") \
    SUM(l1i_misses, "accesses", "instruction cache lookups that missed") \
    GROUP(register_reads, "collector", "Register file") \
    SUM(register_reads, "operands", "operands read from the banks") \
    SUM(register_conflict_cycles, "operand x SM cycles", "operands waiting for their bank, summed over SM cycles") \
    GROUP(coalesced_accesses, "lsu", "Load/store unit") \
    SUM(memory_requests, "warp instructions", "global and local instructions that made accesses, including atomics") \
    SUM(coalesced_accesses, "accesses", "accesses of warps' global and local instructions") \
    SUM(least_accesses, "accesses", "accesses that the same lanes would have made with contiguous data; at most the number made") \
    SUM(shared_instructions, "warp instructions", "shared memory instructions") \
    SUM(shared_cycles, "SM cycles", "cycles that shared memory took for its instructions, including bank conflicts") \
    SUM(least_shared_cycles, "SM cycles", "the same without bank conflicts: the cycles that the width of the data needs") \
    GROUP(l1d_accesses, "l1d", "L1 data cache") \
    SUM(l1d_accesses, "accesses", "accepted lookups: loads and stores") \
    SUM(l1d_hits, "accesses", "lookups whose data were present") \
    SUM(l1d_pending_hits, "accesses", "lookups whose line was already on its way") \
    SUM(l1d_misses, "accesses", "lookups whose line was neither present nor on its way, including stores") \
    SUM(l1d_load_accesses, "accesses", "loads among the L1D lookups") \
    SUM(l1d_load_misses, "accesses", "loads among the L1D misses") \
    SUM(l1d_intra_warp_hits, "accesses", "hits on a line that the same warp had brought in") \
    SUM(l1d_inter_warp_hits, "accesses", "hits on a line that another warp had brought in") \
    SUM(l1d_intra_thread_hits, "accesses", "intra-warp hits of threads that had all requested the line when it was brought in") \
    SUM(l1d_fills, "lines", "lines filled") \
    SUM(l1d_evictions, "lines", "valid lines replaced or dropped by a store") \
    SUM(l1d_write_backs, "lines", "dirty lines sent down") \
    SUM(l1d_fail_ways, "SM cycles", "a lookup refused: every way of the set is reserved") \
    SUM(l1d_fail_mshrs, "SM cycles", "a lookup refused: no free MSHR") \
    SUM(l1d_fail_merges, "SM cycles", "a lookup refused: its MSHR cannot merge more") \
    SUM(l1d_fail_queue, "SM cycles", "a lookup refused: the miss queue is full") \
    GROUP(l1c_accesses, "l1c, l1t", "Constant and texture caches") \
    SUM(l1c_accesses, "accesses", "constant cache lookups") \
    SUM(l1c_misses, "accesses", "constant cache lookups that missed") \
    SUM(l1t_accesses, "accesses", "texture cache lookups") \
    SUM(l1t_misses, "accesses", "texture cache lookups that missed") \
    GROUP(reads_sent, "lsu", "Global and local reads that left their SM") \
    SUM(reads_sent, "requests", "read and atomic requests sent by SMs, including instruction lines") \
    SUM(reads_answered, "requests", "read and atomic requests whose last reply arrived") \
    SUM(writes_sent, "requests", "write requests sent by SMs") \
    SUM(writes_acknowledged, "requests", "write requests whose last acknowledgement arrived") \
    SUM(load_cycles, "SM cycles", "sum over the answered reads of the time from the SM's miss to the reply") \
    SUM(load_noc_cycles, "SM cycles", "load_cycles spent in the networks and their queues") \
    SUM(load_l2_cycles, "SM cycles", "load_cycles spent in the partition: ROP, L2 and their queues") \
    SUM(load_queue_cycles, "SM cycles", "load_cycles spent waiting in the DRAM controller") \
    SUM(load_dram_cycles, "SM cycles", "load_cycles spent in the DRAM itself") \
    GROUP(noc_cycles, "noc", "Interconnect") \
    SUM(noc_cycles, "NoC cycles", "network cycles") \
    NETWORK(SUM, request, "SMs", "partitions", "requests") \
    NETWORK(SUM, reply, "partitions", "SMs", "replies") \
    GROUP(l2_accesses, "l2", "L2") \
    SUM(l2_accesses, "accesses", "accepted lookups, one per sector") \
    SUM(l2_hits, "accesses", "lookups whose data were present, or a write to a sector that was partly present") \
    SUM(l2_pending_hits, "accesses", "lookups whose data were already on their way") \
    SUM(l2_misses, "accesses", "lookups that were neither hits nor pending hits, including writes that allocate a line or a sector") \
    SUM(l2_reads, "accesses", "reads among the L2 lookups") \
    SUM(l2_read_misses, "accesses", "reads among the L2 misses") \
    SUM(l2_evictions, "lines", "valid lines replaced") \
    SUM(l2_write_backs, "lines", "dirty lines sent to DRAM") \
    SUM(l2_refusals, "L2 cycles", "a lookup refused: no free way, MSHR, merge or queue entry") \
    SUM(l2_far_accesses, "accesses", "accesses that crossed from one half of L2 to the other") \
    SUM(l2_copy_hits, "accesses", "hits on copies of data in the other half of L2") \
    SUM(l2_atomics, "accesses", "atomics that reached an L2 slice, one per access") \
    SUM(l2_atomics_in_turn, "accesses", "atomics to the same sector as the slice's previous atomic, for which they wait") \
    SUM(l2_prefetches, "lines", "lines put into L2 by the opportunistic prefetcher") \
    SUM(l2_prefetches_used, "lines", "prefetched lines that were used later") \
    SUM(l2_prefetches_late, "lines", "lines prefetched while they were already on their way") \
    SUM(l2_rows_used, "rows", "DRAM rows for which a read of at least one CTA reached L2") \
    SUM(l2_row_ctas, "CTAs", "CTAs whose reads of a row reached L2, summed over those rows") \
    SUM(l2_row_shares, "millionths", "share of CTAs with a neighbour among the CTAs of a row, summed over those rows") \
    GROUP(lrc_reads, "lrc", "L2 request coalescer") \
    SUM(lrc_reads, "requests", "reads that arrived at the coalescers of the L2 slices") \
    SUM(lrc_merged, "requests", "reads that joined an earlier read of the same sectors, so L2 does not look them up") \
    SUM(lrc_sent, "requests", "reads that went on to their L2 slice") \
    SUM(lrc_merged_sectors, "accesses", "L2 lookups that the merged reads would have made, one per sector") \
    SUM(lrc_copies, "packets", "replies sent to merged reads") \
    GROUP(dram_ticks, "dram", "DRAM") \
    SUM(dram_ticks, "DRAM cycles", "command cycles, summed over the channels") \
    SUM(dram_reads, "requests", "reads served for L2") \
    SUM(dram_writes, "requests", "writes served for L2") \
    SUM(dram_prefetches, "requests", "reads served for the opportunistic prefetcher") \
    SUM(dram_read_commands, "commands", "column read commands") \
    SUM(dram_write_commands, "commands", "column write commands") \
    SUM(dram_row_hits, "requests", "requests that found their row open") \
    SUM(dram_row_misses, "requests", "requests that found their bank closed") \
    SUM(dram_row_conflicts, "requests", "requests that found another row open") \
    SUM(dram_activates, "commands", "rows opened") \
    SUM(dram_precharges, "commands", "rows closed, except for a refresh") \
    SUM(dram_bus_ticks, "DRAM cycles", "data on the bus") \
    SUM(dram_bank_ticks, "bank x DRAM cycles", "busy banks, summed over the ticks") \
    SUM(dram_busy_ticks, "DRAM cycles", "at least one bank busy") \
    SUM(dram_queue_ticks, "request x DRAM cycles", "waiting requests, summed over the ticks") \
    MAX(dram_queue_max, "requests", "most requests waiting at one channel") \
    SUM(dram_rows_shared, "rows", "opened rows that two or more CTAs read") \
    SUM(dram_rows_used, "rows", "rows that at least one CTA read") \
    SUM(dram_row_ctas, "CTAs", "CTAs that read a row, summed over the rows that at least one CTA read") \
    SUM(dram_row_neighbours, "CTAs", "CTAs whose linear index is next to another of the row's CTAs") \
    SUM(dram_row_shares, "millionths", "share of such neighbours among the CTAs of a row, summed over the rows")

/* RATIO(name, unit, scale, (numerator terms), (denominator terms), meaning): scale x sum of the
 * numerator's counters / sum of the denominator's counters; undefined if the denominator is 0. */
#define RATIOS(RATIO, T) \
    RATIO(ipc, "thread instructions/cycle", 1, (T(thread_instructions)), (T(cycles)), "thread instructions, of the PTX or the machine code that runs, per SM cycle of the whole GPU") \
    RATIO(warp_ipc, "warp instructions/cycle", 1, (T(warp_instructions)), (T(cycles)), "warp instructions of the PTX, or of the machine code that runs, per SM cycle of the whole GPU") \
    RATIO(ptx_per_machine, "warp instructions", 1, (T(warp_instructions)), (T(machine_instructions)), "warp instructions of the PTX per issued machine instruction, with sm.instructions: lowered; 1 for machine code") \
    RATIO(lanes_active, "share", 1.0 / 32, (T(thread_instructions)), (T(warp_instructions)), "mean share of a warp's lanes that an instruction used") \
    RATIO(resident_ctas, "CTAs", 1, (T(cta_cycles)), (T(sm_cycles)), "mean CTAs on an SM") \
    RATIO(resident_warps, "warps", 1, (T(warp_cycles)), (T(sm_cycles)), "mean warps on an SM") \
    RATIO(CINV, "share", 1, (T(no_issue_cycles)), (T(sm_cycles)), "share of SM cycles in which no scheduler issued") \
    RATIO(memory_block_share, "share", 1, (T(MemoryBlockCycles)), (T(sm_cycles)), "MemoryBlockCycles as a share of all SM cycles") \
    RATIO(no_warp_share, "share", 1, (T(NoWarpCycles)), (T(sm_cycles)), "NoWarpCycles as a share of all SM cycles") \
    RATIO(issued_share, "share", 1, (T(issued)), (T(scheduler_cycles)), "scheduler cycles that issued") \
    RATIO(idle_share, "share", 1, (T(idle_no_warp) T(idle_barrier) T(idle_branch) T(idle_fetch)), (T(scheduler_cycles)), "scheduler cycles without a valid instruction") \
    RATIO(scoreboard_share, "share", 1, (T(scoreboard_memory) T(scoreboard_other)), (T(scheduler_cycles)), "scheduler cycles that waited for operands") \
    RATIO(pipeline_share, "share", 1, (T(pipeline_lsu) T(pipeline_other)), (T(scheduler_cycles)), "scheduler cycles that waited for a pipeline") \
    RATIO(l1i_miss_rate, "share", 1, (T(l1i_misses)), (T(l1i_accesses)), "instruction cache misses") \
    RATIO(shared_conflict_degree, "cycles", 1, (T(shared_cycles)), (T(shared_instructions)), "mean cycles of a shared memory instruction") \
    RATIO(shared_conflict_free_share, "share", 1, (T(least_shared_cycles)), (T(shared_cycles)), "shared memory cycles without bank conflicts") \
    RATIO(accesses_per_request, "accesses", 1, (T(coalesced_accesses)), (T(memory_requests)), "mean accesses of a global or local instruction; an access is one L1D lookup, of a sector of 32 bytes on NVIDIA's machines since Volta") \
    RATIO(needed_access_share, "share", 1, (T(least_accesses)), (T(coalesced_accesses)), "accesses that contiguous data would need, as a share of those made: 1 is fully coalesced") \
    RATIO(accesses_per_instruction, "accesses", 1, (T(coalesced_accesses)), (T(ldst_instructions)), "mean accesses of a load/store instruction, including shared memory and constants") \
    RATIO(l1d_miss_rate, "share", 1, (T(l1d_misses)), (T(l1d_accesses)), "L1D misses; hits on pending lines do not count") \
    RATIO(l1d_load_miss_rate, "share", 1, (T(l1d_load_misses)), (T(l1d_load_accesses)), "L1D misses of loads; hits on pending lines do not count") \
    RATIO(l1d_MPKI, "misses", 1000, (T(l1d_misses)), (T(thread_instructions)), "L1D misses per thousand thread instructions") \
    RATIO(l1d_intra_warp_share, "share", 1, (T(l1d_intra_warp_hits)), (T(l1d_hits)), "L1D hits on lines that the same warp had brought in") \
    RATIO(l1d_intra_thread_share, "share", 1, (T(l1d_intra_thread_hits)), (T(l1d_hits)), "L1D hits of the threads that had brought the line in") \
    RATIO(l1c_miss_rate, "share", 1, (T(l1c_misses)), (T(l1c_accesses)), "constant cache misses") \
    RATIO(l1t_miss_rate, "share", 1, (T(l1t_misses)), (T(l1t_accesses)), "texture cache misses") \
    RATIO(l2_miss_rate, "share", 1, (T(l2_misses)), (T(l2_accesses)), "L2 misses; hits on pending sectors do not count") \
    RATIO(l2_MPKI, "misses", 1000, (T(l2_misses)), (T(thread_instructions)), "L2 misses per thousand thread instructions") \
    RATIO(lrc_merged_share, "share", 1, (T(lrc_merged)), (T(lrc_reads)), "reads that the L2 request coalescers merged with an earlier one") \
    RATIO(atomic_contention, "share", 1, (T(l2_atomics_in_turn)), (T(l2_atomics)), "atomics that directly followed another atomic to the same sector") \
    RATIO(prefetch_accuracy, "share", 1, (T(l2_prefetches_used)), (T(l2_prefetches)), "prefetched lines that were used") \
    RATIO(load_latency, "SM cycles", 1, (T(load_cycles)), (T(reads_answered)), "mean time from an SM's miss to the reply") \
    RATIO(load_latency_noc, "SM cycles", 1, (T(load_noc_cycles)), (T(reads_answered)), "part of load_latency in the networks") \
    RATIO(load_latency_l2, "SM cycles", 1, (T(load_l2_cycles)), (T(reads_answered)), "part of load_latency in the partition") \
    RATIO(load_latency_queue, "SM cycles", 1, (T(load_queue_cycles)), (T(reads_answered)), "part of load_latency waiting for DRAM") \
    RATIO(load_latency_dram, "SM cycles", 1, (T(load_dram_cycles)), (T(reads_answered)), "part of load_latency in DRAM") \
    RATIO(request_latency, "NoC cycles", 1, (T(request_transit_cycles) T(request_queue_cycles)), (T(request_packets_received)), "mean time of a request in the network") \
    RATIO(reply_latency, "NoC cycles", 1, (T(reply_transit_cycles) T(reply_queue_cycles)), (T(reply_packets_received)), "mean time of a reply in the network") \
    RATIO(BLP, "banks", 1, (T(dram_bank_ticks)), (T(dram_busy_ticks)), "bank-level parallelism: mean number of busy banks of a channel while any is busy") \
    RATIO(RBL, "share", 1, (T(dram_row_hits)), (T(dram_row_hits) T(dram_row_misses) T(dram_row_conflicts)), "row-buffer locality: requests that found their row open") \
    RATIO(dram_bandwidth_use, "share", 1, (T(dram_bus_ticks)), (T(dram_ticks)), "DRAM cycles with data on the bus") \
    RATIO(dram_queue_mean, "requests", 1, (T(dram_queue_ticks)), (T(dram_ticks)), "mean requests waiting at a channel") \
    RATIO(row_sharing, "share", 1e-6, (T(dram_row_shares)), (T(dram_rows_used)), "CTAs of a row that have a neighbour among the row's CTAs, averaged over the rows") \
    RATIO(ctas_per_row, "CTAs", 1, (T(dram_row_ctas)), (T(dram_rows_used)), "mean CTAs that read a row") \
    RATIO(l2_row_sharing, "share", 1e-6, (T(l2_row_shares)), (T(l2_rows_used)), "row_sharing of the reads that reach L2, whether or not they reach DRAM") \
    RATIO(l2_ctas_per_row, "CTAs", 1, (T(l2_row_ctas)), (T(l2_rows_used)), "ctas_per_row of the reads that reach L2")
/* clang-format on */

#define COUNTER_NO_GROUP(first, source, title)
#define COUNTER_FIELD(name, unit, meaning) uint64_t name;
typedef struct Counters {
    COUNTERS(COUNTER_NO_GROUP, COUNTER_FIELD, COUNTER_FIELD)
} Counters;
#undef COUNTER_FIELD

/* R(old name, present name): renamed counters and ratios. Experiments, result files and `tyto
 * explain` still accept the old name. */
#define RENAMED_COUNTERS(R)                                                                        \
    R(fetch_cycles, load_cycles)                                                                   \
    R(fetch_noc_cycles, load_noc_cycles)                                                           \
    R(fetch_l2_cycles, load_l2_cycles)                                                             \
    R(fetch_queue_cycles, load_queue_cycles)                                                       \
    R(fetch_dram_cycles, load_dram_cycles)                                                         \
    R(fetch_latency, load_latency)                                                                 \
    R(fetch_latency_noc, load_latency_noc)                                                         \
    R(fetch_latency_l2, load_latency_l2)                                                           \
    R(fetch_latency_queue, load_latency_queue)                                                     \
    R(fetch_latency_dram, load_latency_dram)

/* The index of a counter in the struct and in the table. */
#define COUNTER_ID(name, unit, meaning) COUNTER_##name,
typedef enum CounterId {
    COUNTERS(COUNTER_NO_GROUP, COUNTER_ID, COUNTER_ID) COUNTER_COUNT
} CounterId;
#undef COUNTER_ID

/* The index of a counter among those of its network. */
#define NETWORK_ID(name, unit, meaning) NETWORK##name,
typedef enum NetworkCounter { NETWORK(NETWORK_ID, , "", "", "") NETWORK_COUNTERS } NetworkCounter;
#undef NETWORK_ID

#define RATIO_TERM(name)
#define RATIO_ID(name, unit, scale, numerator, denominator, meaning) RATIO_##name,
typedef enum RatioId { RATIOS(RATIO_ID, RATIO_TERM) RATIO_COUNT } RatioId;
#undef RATIO_ID
#undef RATIO_TERM
#undef COUNTER_NO_GROUP

typedef struct CounterRow {
    const char *name;
    const char *unit;
    const char *meaning;
    bool is_max; /* merged by taking the maximum */
} CounterRow;

typedef struct CounterGroup {
    CounterId first;    /* first counter; the group ends before the next group's first */
    const char *source; /* machine unit that counts them */
    const char *title;
} CounterGroup;

enum { RATIO_MAX_TERMS = 4 };

typedef struct RatioRow {
    const char *name;
    const char *unit;
    double scale;
    int numerator_terms, denominator_terms; /* used entries of the two arrays */
    CounterId numerator[RATIO_MAX_TERMS];
    CounterId denominator[RATIO_MAX_TERMS];
    const char *meaning;
} RatioRow;

extern const CounterRow counter_rows[COUNTER_COUNT];
extern const RatioRow ratio_rows[RATIO_COUNT];

/* The groups in the order of the rows, and their number. */
const CounterGroup *counter_groups(int *count);

static inline uint64_t counters_get(const Counters *counters, CounterId id) {
    return ((const uint64_t *)counters)[id];
}

/* The NETWORK_COUNTERS counters of the network whose first counter is `first`. */
static inline uint64_t *counters_network(Counters *counters, CounterId first) {
    return (uint64_t *)counters + first;
}

/* Adds one unit's or one kernel's counters to a sum. */
void counters_add(Counters *sum, const Counters *part);

/* The difference between two states of a Counters, `earlier` and `later`. Maxima are those of
 * `later`. */
Counters counters_since(const Counters *earlier, const Counters *later);

/* A ratio's value; NaN if its denominator is 0. */
double counters_ratio(const Counters *counters, RatioId id);

/* What identities depend on in the machine and the run. */
typedef struct CountersShape {
    uint32_t sms;
    uint32_t schedulers; /* schedulers of one SM */
    bool is_complete;    /* the kernel ran to its end, so nothing is under way any more */
} CountersShape;

/* Checks every identity (stall reasons sum to scheduler cycles, requests in equal replies out,
 * ...). Returns true if all hold. Otherwise `why` receives a line with the numbers for each that
 * does not. */
bool counters_check(const Counters *counters, CountersShape shape, Text *why);

/* The present name of a renamed counter or ratio; any other name unchanged. */
const char *counters_present_name(const char *name);

/* Adds a description of a counter or ratio, in several lines. */
void counters_explain(CounterId id, Text *out);
void counters_explain_ratio(RatioId id, Text *out);

/* Adds the text of docs/metrics.md. */
void counters_document(Text *out);

#endif
