/* A machine model: every number that determines timing, in one plain struct composed of the units'
 * own structs. Copying it copies the machine. Each number is declared by one row, here or in the
 * header of its unit (base/parameter.h). machine/machine_rows.c combines the rows, and machine
 * files (machine/machine_file.h) use their names. */
#ifndef TYTO_MACHINE_MACHINE_H
#define TYTO_MACHINE_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/parameter.h"
#include "dram/address_map.h"
#include "dram/channel.h"
#include "machine/capability.h"
#include "machine/quirks.h"
#include "noc/noc.h"
#include "partition/partition_config.h"
#include "sm/sm_config.h"

enum {
    MACHINE_NAME_BYTES = 32,
    MACHINE_TITLE_BYTES = 128,
    MACHINE_MAP_BYTES = 96,
    MACHINE_HASH_BYTES = 192,
};

/* clang-format off */
/* Frequencies of the four clock domains, in kHz; they are integers, so that their ratios are exact.
 * The clock to which a profiler locks the SMs is an additional one. */
#define CLOCK_PARAMETERS(P, key, at) \
    P(FREQUENCY, key, at, "sm", sm_khz, 1000, "700 MHz", "SMs") \
    P(FREQUENCY, key, at, "noc", noc_khz, 1000, "700 MHz", "interconnect") \
    P(FREQUENCY, key, at, "l2", l2_khz, 1000, "700 MHz", "partitions up to the DRAM controller") \
    P(FREQUENCY, key, at, "dram", dram_khz, 1000, "924 MHz", "DRAM commands (data move twice or four times as fast)") \
    P(FREQUENCY, key, at, "profiled", profiled_khz, 0, "0 MHz", "SM clock to which a profiler locks it (Nsight Compute does by default); --clock profiled uses it instead of clock.sm; 0 MHz: unknown")

/* How the CTAs of a grid reach the SMs. */
#define CTA_PARAMETERS(P, key, at) \
    P(STRING, key, at, "policy", policy, SM_POLICY_BYTES, "round-robin", "CTA scheduling policy when none is named") \
    P(COUNT, key, at, "per_sm_per_cycle", per_sm_per_cycle, "", 1, SM_MAX_CTAS, "1", "most CTAs that one SM gets in a cycle") \
    P(COUNT, key, at, "per_cycle", per_cycle, "", 0, 65536, "0", "most CTAs that all SMs get in a cycle; 0: no limit") \
    P(BOOL, key, at, "resumes_scan", resumes_scan, "yes", "the scan for an SM starts after the last one served, across kernels too") \
    P(TIME, key, at, "launch_latency", launch_latency, 1000000, "0", "from a kernel's launch to its first CTA; a time in ns does not depend on the SM clock")
#define CTA_CONSTANTS(P, key, at) \
    P(BOOL, key, at, "spreads_small_grids", spreads_small_grids, "yes", "a grid too small to fill every SM is spread evenly")

/* Properties of both networks together. */
#define NETWORK_PARAMETERS(P, key, at) \
    P(BYTES, key, at, "header", header_bytes, 1, 256, "8 B", "header of a packet; read requests and acknowledgements contain nothing else") \
    P(BOOL, key, at, "replies_have_header", replies_have_header, "yes", "an L2 reply has a header before its data; no: the packet contains only the data") \
    P(COUNT, key, at, "sms_per_port", sms_per_port, "", 1, 1024, "1", "SMs that share a node of both networks and one queue of lsu.fifo waiting replies; they take turns to go first, cycle by cycle; some nodes have one SM less if this does not divide gpu.sms")
#define NETWORK_PLACE_PARAMETERS(P, key, at) \
    P(LIST, key, at, "memory_routers", memory_routers, 0, NOC_MAX_NODES - 1, "[]", "mesh: routers of the L2 slices, row x columns + column; []: after the SMs")

/* The place of an address in DRAM; the letters are those of dram/address_map.h. */
#define MAP_PARAMETERS(P, key, at) \
    P(STRING, key, at, "bits", bits, MACHINE_MAP_BYTES, "RRRRRRRRRRRR.BBB.CCCC.b.CCCCCCCC", "address bits, highest first: R row, B bank, C column, P channel, S slice, b bank and slice") \
    P(STRING, key, at, "hash", hash, MACHINE_HASH_BYTES, "", "address bits that give the number of the L2 slice: \"ipoly 0x43: 32..14,12..8,13\", \"10..8 + 9 x 19..17\"; with map.block, the low bits of the block's number; \"\": as given by map.bits") \
    P(STRING, key, at, "bank_hash", bank_hash, MACHINE_HASH_BYTES, "", "address bits that give the bank: \"15..13 ^ 18..16\"; \"\": as given by map.bits") \
    P(BYTES, key, at, "block", block_bytes, 0, 64 * KIB, "256 B", "size of the blocks that are assigned to the channels in turn; map.bits is then the address within the channel; 0 B: the P bits select the channel")

/* "What if" settings: unrealistic machines that bound what a policy can gain. */
#define ORACLE_PARAMETERS(P, key, at) \
    P(BOOL, key, at, "perfect_l1", perfect_l1, "no", "every access hits its L1 cache: data, constants, textures; gives PMEM") \
    P(BOOL, key, at, "perfect_l2", perfect_l2, "no", "every request that reaches a partition hits its L2")

/* The whole machine: its name and the origin of its numbers, its size, and limits of runs. */
#define MACHINE_NAME_PARAMETERS(P, key, at) \
    P(STRING, key, at, "name", name, MACHINE_NAME_BYTES, "unnamed", "name in results") \
    P(STRING, key, at, "title", title, MACHINE_TITLE_BYTES, "", "one line for people") \
    P(CHOICE, key, at, "simulator", simulator, QuirkSimulator, "gpgpu-sim-4.2", "historic simulator whose quirks the machine reproduces: it sets all of them (machines.md), and a file may override single ones")
#define MACHINE_SIZE_PARAMETERS(P, key, at) \
    P(COUNT, key, at, "sms", sms, "", 1, 1024, "15", "streaming multiprocessors") \
    P(COUNT, key, at, "gpcs", gpcs, "", 0, 64, "0", "groups of SMs (GPCs), to which pairs of SMs are assigned in turn; all CTAs of a cluster are in one group; 0: all SMs are one group") \
    P(COUNT, key, at, "partitions", partitions, "", 1, 128, "6", "memory channels") \
    P(COUNT, key, at, "memory", memory_mib, "MiB", 1, 1048576, "16384", "device memory; the host provides only what is used; --memory overrides the size") \
    P(CHOICE, key, at, "compute_capability", capability, GpuCapability, "7.5", "what programs see, and what selects among their PTX; it does not affect timing")
#define WATCHDOG_PARAMETERS(P, key, at) \
    P(COUNT, key, at, "cycles", watchdog_cycles, "cycles", 0, UINT32_MAX, "1000000", "cycles of the slowest clock without any progress after which a run ends; 0: never")
/* clang-format on */

typedef struct ClockConfig {
    CLOCK_PARAMETERS(PARAMETER_FIELD, , )
} ClockConfig;

typedef struct CtaConfig {
    CTA_PARAMETERS(PARAMETER_FIELD, , )
    CTA_CONSTANTS(PARAMETER_FIELD, , )
    uint32_t launch_cycles; /* launch_latency in SM cycles; derived from it and the clock */
} CtaConfig;

/* The two networks: requests from SMs to slices, and replies. Nodes are the ports of the SMs, to
 * which SMs are assigned in turn, then the slices of partition 0, 1, ... */
typedef struct NetworkConfig {
    NocConfig noc; /* each network; nodes and placement are derived from the rest */
    NETWORK_PARAMETERS(PARAMETER_FIELD, , )
    NETWORK_PLACE_PARAMETERS(PARAMETER_FIELD, , )
} NetworkConfig;

typedef struct MapConfig {
    MAP_PARAMETERS(PARAMETER_FIELD, , )
} MapConfig;

typedef struct OracleConfig {
    ORACLE_PARAMETERS(PARAMETER_FIELD, , )
} OracleConfig;

typedef struct MachineConfig {
    MACHINE_NAME_PARAMETERS(PARAMETER_FIELD, , )
    MACHINE_SIZE_PARAMETERS(PARAMETER_FIELD, , )
    ClockConfig clock;
    CtaConfig cta;
    SmConfig sm; /* settings of every SM */
    NetworkConfig network;
    PartitionConfig partition; /* settings of every partition */
    MapConfig map;
    DramConfig dram; /* settings of every channel */
    OracleConfig oracle;
    WATCHDOG_PARAMETERS(PARAMETER_FIELD, , )
} MachineConfig;

/* The neutral machine: every parameter has its default. */
void machine_init(MachineConfig *machine);

/* Fills in the derived fields: the launch latency and the timing of DRAM in cycles, the networks'
 * nodes and their positions. */
void machine_resolve(MachineConfig *machine);

/* Number of SM ports, which are the networks' first nodes. mem_port gives the port of an SM. */
static inline uint32_t machine_ports(const MachineConfig *machine) {
    const uint32_t of_port = machine->network.sms_per_port;
    return (machine->sms + of_port - 1) / of_port;
}
/* Network node of a slice (0 .. partitions x slices - 1). */
static inline uint32_t machine_slice_node(const MachineConfig *machine, uint32_t slice) {
    return machine_ports(machine) + slice;
}

/* Bytes before the data in an L2 reply. */
static inline uint32_t machine_reply_header(const MachineConfig *machine) {
    return machine->network.replies_have_header ? machine->network.header_bytes : 0;
}

/* L2 slices of each half; 0 if L2 is not divided (partition/remote_l2.h). */
static inline uint32_t machine_half_slices(const MachineConfig *machine) {
    const PartitionConfig *partition = &machine->partition;
    return partition->halves > 1 ? machine->partitions * partition->slices / 2 : 0;
}

/* Builds the machine's address map. The machine must have passed machine_check. */
AddressMap machine_address_map(const MachineConfig *machine);
/* The input for building it, which borrows the machine's texts. */
AddressMapConfig machine_map_config(const MachineConfig *machine);

/* Bits of an address within its channel (address_map_local) that select the slice; a slice's sets
 * do not depend on them. */
uint64_t machine_slice_bits(const MachineConfig *machine);
uint64_t machine_l2_bytes(const MachineConfig *machine); /* bytes of all slices */

/* Whether the parameters are consistent. Each contradiction adds an error to `diag` with the keys
 * and their values. The machine must be resolved. (Each value was checked against its own bounds
 * when it was read.) */
bool machine_check(const MachineConfig *machine, Diag *diag);

#endif
