/* A machine model: every number that decides timing, in one plain struct composed of the units' own
 * records. Copying it copies the machine. Read from a machine file (gpu/machine_file.h), where each
 * field is one row of a table (gpu/machine_rows.h). */
#ifndef TYTO_GPU_MACHINE_H
#define TYTO_GPU_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "dram/address_map.h"
#include "dram/channel.h"
#include "noc/noc.h"
#include "partition/partition_config.h"
#include "sm/sm_config.h"

enum {
    MACHINE_NAME_BYTES = 32,
    MACHINE_TITLE_BYTES = 128,
    MACHINE_MAP_BYTES = 96,
    MACHINE_MAX_LIST = 64, /* numbers of a list */
};

/* A parameter that is several numbers. */
typedef struct MachineList {
    uint32_t count;
    uint32_t items[MACHINE_MAX_LIST];
} MachineList;

/* Frequencies of the four clock domains, in kHz: integers, so that their ratios are exact. */
typedef struct ClockConfig {
    uint32_t sm_khz;
    uint32_t noc_khz;
    uint32_t l2_khz;   /* partitions up to the DRAM controller */
    uint32_t dram_khz; /* DRAM commands */
} ClockConfig;

/* How the CTAs of a grid reach the SMs. */
typedef struct CtaConfig {
    uint32_t per_sm_per_cycle; /* CTAs one SM may be given in an SM cycle */
    uint32_t per_cycle;        /* CTAs all SMs may be given in an SM cycle; 0: no limit */
    bool spreads_small_grids;  /* a grid too small to fill every SM is dealt out evenly */
    bool resumes_scan; /* the scan over SMs starts after the last one served, across kernels too */
    uint32_t launch_latency;      /* SM cycles from a kernel's launch to its first CTA */
    char policy[SM_POLICY_BYTES]; /* CTA scheduling policy when the user names none */
} CtaConfig;

/* Questions of the form "what if": unreal machines that bound what a policy can gain. */
typedef struct OracleConfig {
    bool perfect_l1; /* every global and local load hits the L1D */
    bool perfect_l2; /* every request that reaches a partition hits its L2 */
} OracleConfig;

/* The two networks: requests from SMs to slices, replies back. Nodes are the SMs in order, then the
 * slices of partition 0, 1, ... */
typedef struct NetworkConfig {
    NocConfig noc;         /* each network; nodes and placement follow from the rest */
    uint32_t header_bytes; /* of a packet; all there is of a read request or an acknowledgement */
    MachineList memory_routers; /* mesh: router of each slice; none: the nodes lie in row order */
} NetworkConfig;

/* Where an address lies in DRAM. */
typedef struct MapConfig {
    char bits[MACHINE_MAP_BYTES]; /* one letter per bit, as in dram/address_map.h */
    uint32_t block_bytes; /* blocks dealt to the channels by division; 0: the string has P bits */
} MapConfig;

typedef struct MachineConfig {
    char name[MACHINE_NAME_BYTES];
    char title[MACHINE_TITLE_BYTES]; /* one line: what it is, and where its numbers come from */
    ClockConfig clock;
    uint32_t sms;
    uint32_t partitions; /* memory channels */
    CtaConfig cta;
    SmConfig sm; /* every SM */
    NetworkConfig network;
    PartitionConfig partition; /* every partition */
    MapConfig map;
    DramConfig dram; /* every channel */
    OracleConfig oracle;
    uint32_t watchdog_cycles; /* SM cycles without any progress that end a run; 0: never */
} MachineConfig;

/* The neutral machine: every parameter at its default. */
void machine_init(MachineConfig *machine);

/* Fills the fields that follow from others: the networks' nodes and their places. */
void machine_resolve(MachineConfig *machine);

/* Network node of an SM, and of a slice (0 .. partitions x slices - 1). */
static inline uint32_t machine_sm_node(uint32_t sm) { return sm; }
static inline uint32_t machine_slice_node(const MachineConfig *machine, uint32_t slice) {
    return machine->sms + slice;
}

/* Builds the machine's address map; the machine must have passed machine_check. */
AddressMap machine_address_map(const MachineConfig *machine);

/* Bits of an address within its channel (address_map_local) that name the slice: a slice's sets do
 * not depend on them. */
uint64_t machine_slice_bits(const MachineConfig *machine);

/* Whether the parameters fit together; each contradiction is one error in `diag`, naming the keys
 * and their values. The machine must be resolved. (Each value alone was checked against its bounds
 * when it was read.) */
bool machine_check(const MachineConfig *machine, Diag *diag);

#endif
