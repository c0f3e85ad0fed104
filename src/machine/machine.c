/* The neutral machine, and the check that a machine's parameters are consistent. */
#include "machine/machine.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/bits.h"
#include "base/text.h"
#include "cache/mshr.h"
#include "cache/set_index.h"
#include "cache/tag_array.h"
#include "machine/machine_rows.h"

static void set_initial(MachineConfig *machine, const MachineRow *rows, int count) {
    Text why = {0};
    for (int i = 0; i < count; i++) {
        bool is_set = machine_set_row(machine, &rows[i], rows[i].initial, &why);
        assert(is_set && "every row's default is one of its values");
        (void)is_set;
    }
    text_free(&why);
}

void machine_init(MachineConfig *machine) {
    int count;
    const MachineRow *rows = machine_rows(&count);
    memset(machine, 0, sizeof *machine);
    set_initial(machine, rows, count);
    rows = machine_constants(&count);
    set_initial(machine, rows, count);
    machine->sm.ops[ISA_CLASS_MEMORY].unit = SM_UNIT_LDST;
}

void machine_resolve(MachineConfig *machine) {
    NetworkConfig *network = &machine->network;
    NocConfig *noc = &network->noc;
    machine->cta.launch_cycles =
        parameter_time_cycles(machine->cta.launch_latency, machine->clock.sm_khz);
    machine->dram.timing = dram_timing_of(&machine->dram.stated, machine->clock.dram_khz);
    noc->nodes = (int)(machine_ports(machine) + machine->partitions * machine->partition.slices);
    for (int i = 0; i < NOC_MAX_NODES; i++)
        noc->placement[i] = (uint16_t)i;
    int routers[PARAMETER_MAX_LIST], count = (int)network->memory_routers.count;
    for (int i = 0; i < count; i++)
        routers[i] = (int)network->memory_routers.items[i];
    if (count && noc->nodes <= NOC_MAX_NODES && count <= noc->nodes)
        noc_config_place(noc, routers, count);
}

AddressMapConfig machine_map_config(const MachineConfig *machine) {
    return (AddressMapConfig){.bits = machine->map.bits,
                              .channels = machine->map.block_bytes ? machine->partitions : 0,
                              .block_bytes = machine->map.block_bytes,
                              .hash = machine->map.hash,
                              .bank_hash = machine->map.bank_hash};
}

AddressMap machine_address_map(const MachineConfig *machine) {
    AddressMap map;
    AddressMapConfig config = machine_map_config(machine);
    Diag *diag = diag_new();
    bool is_good = address_map_init(&map, &config, diag);
    assert(is_good && "machine_check builds the same map");
    (void)is_good;
    diag_free(diag);
    return map;
}

uint64_t machine_l2_bytes(const MachineConfig *machine) {
    const PartitionConfig *partition = &machine->partition;
    return (uint64_t)partition->l2.size_bytes * partition->slices * machine->partitions;
}

uint64_t machine_slice_bits(const MachineConfig *machine) {
    uint64_t bits = 0;
    int local = 0; /* bit of the address within the channel */
    for (size_t i = strlen(machine->map.bits); i-- > 0;) {
        char letter = machine->map.bits[i];
        if (strchr("._ P", letter)) continue;
        if (letter == 'S' || letter == 'b') bits |= UINT64_C(1) << local;
        if (++local == 64) break;
    }
    return bits;
}

/* The caches of a machine, with the names of their sections. */
typedef struct NamedCache {
    const char *key;
    const CacheConfig *config;
} NamedCache;

/* The nearest size to one of `sets` sets for which the number of sets is a power of two. */
static uint64_t nearest_size(uint64_t set_bytes, uint64_t sets) {
    uint64_t below = 1;
    while (below * 2 <= sets)
        below *= 2;
    return set_bytes * (sets * sets > 2 * below * below ? 2 * below : below);
}

/* `skipped`: address bits that are the same for all addresses of the cache. */
static void check_cache(const char *key, const CacheConfig *cache, uint64_t skipped, Diag *diag) {
    uint32_t line = cache->line_bytes, sector = cache_config_fill_bytes(cache);
    if (!bits_is_power_of_two(line)) {
        diag_error(diag, NULL, 0, 0, "%s.line: %u B is not a power of two", key, line);
        return;
    }
    if (!bits_is_power_of_two(sector) || sector > line || line / sector > TAG_MAX_SECTORS) {
        diag_error(diag, NULL, 0, 0, "%s.sector: %u B do not make 1, 2, 4 or %d of a line of %u B",
                   key, sector, TAG_MAX_SECTORS, line);
    }
    if (!cache->mshr_requests && (uint64_t)cache->mshrs * cache->mshr_merges > MSHR_MAX_WAITING) {
        diag_error(diag, NULL, 0, 0,
                   "%s.mshrs: %u of %u requests (%s.mshr_merges) are over %d; %s.mshr_requests can "
                   "bound them",
                   key, cache->mshrs, cache->mshr_merges, key, MSHR_MAX_WAITING, key);
    }
    uint64_t set_bytes = (uint64_t)line * cache->ways, sets = cache->size_bytes / set_bytes;
    if (cache->size_bytes % set_bytes || !sets) {
        diag_error(
            diag, NULL, 0, 0,
            "%s.size: %u B is not a multiple of %s.line x %s.ways (%u B x %u); change %s.ways", key,
            cache->size_bytes, key, key, line, cache->ways, key);
    } else if (!bits_is_power_of_two(sets)) {
        const uint64_t nearest = nearest_size(set_bytes, sets);
        diag_error(diag, NULL, 0, 0,
                   "%s.size: %u B in lines of %u B and %u ways make %u sets: the set is cut from "
                   "address bits, so they must be a power of two; change %s.ways or %s.size, for "
                   "example %s.size=%" PRIu64 "%s",
                   key, cache->size_bytes, line, cache->ways, (uint32_t)sets, key, key, key,
                   nearest % 1024 ? nearest : nearest / 1024, nearest % 1024 ? "B" : "KiB");
    } else {
        char text[CACHE_INDEX_BYTES];
        SetIndex index;
        cache_config_set_index(cache, skipped, text);
        if (!set_index_init(&index, *text ? text : NULL, (uint32_t)sets, line, diag) &&
            *cache->set_hash)
            diag_error(diag, NULL, 0, 0,
                       "%s.set_hash: does not fit %u sets of lines of %u B (%s.size, %s.line, "
                       "%s.ways); \"\" takes the bits above the line",
                       key, (uint32_t)sets, line, key, key, key);
    }
}

/* The store, doubled until it can hold this much shared memory. */
static uint32_t larger_store(uint32_t bytes, uint32_t shared) {
    while (bytes && bytes <= shared && bytes < UINT32_C(1) << 30)
        bytes *= 2;
    return bytes;
}

/* Reports that no carve-out holds `shared` bytes: one is missing, or the store is too small. */
static void say_small_carve_outs(const SmL1dConfig *l1d, uint32_t most, uint32_t shared,
                                 Diag *diag) {
    const uint32_t store = l1d->unified_bytes;
    Text advice = {0};
    if (store > shared) text_printf(&advice, "add %u, in KiB, to l1d.carve_outs", shared / 1024);
    else
        text_printf(&advice,
                    "l1d.unified, %u KiB, has to hold that and some L1D: for example "
                    "l1d.unified=%uKiB",
                    store / 1024, larger_store(store, shared) / 1024);
    diag_error(diag, NULL, 0, 0, "l1d.carve_outs: %u KiB at most, less than shared.size, %u B; %s",
               most / 1024, shared, text_string(&advice));
    text_free(&advice);
}

/* Checks the shares of the L1D and shared memory in a store that they divide. */
static void check_unified(const SmConfig *sm, Diag *diag) {
    const SmL1dConfig *l1d = &sm->l1d_own;
    uint32_t most = 0;
    if (!l1d->unified_bytes) return;
    if (l1d->unified_bytes != sm->l1d.size_bytes)
        diag_error(diag, NULL, 0, 0, "l1d.unified: %u B, but l1d.size, which is all of it, is %u B",
                   l1d->unified_bytes, sm->l1d.size_bytes);
    for (uint32_t i = 0; i < l1d->carve_outs.count; i++) {
        uint32_t bytes = l1d->carve_outs.items[i] * 1024;
        if (bytes < most)
            diag_error(diag, NULL, 0, 0, "l1d.carve_outs: %u after %u: the sizes must ascend",
                       bytes / 1024, most / 1024);
        most = bytes;
    }
    if (!l1d->carve_outs.count || most < sm->shared.size_bytes)
        say_small_carve_outs(l1d, most, sm->shared.size_bytes, diag);
    if (sm->l1d.flush == CACHE_FLUSH_NEVER)
        diag_error(
            diag, NULL, 0, 0,
            "l1d.flush: never, but a kernel's share of l1d.unified changes only an empty L1D");
    uint64_t left = (uint64_t)sm->l1d.ways * (l1d->unified_bytes - most);
    if (most >= l1d->unified_bytes || left * 2 < l1d->unified_bytes)
        diag_error(diag, NULL, 0, 0,
                   "l1d.carve_outs: %u KiB of %u B (l1d.unified) leave the L1D no way", most / 1024,
                   l1d->unified_bytes);
}

static void check_l1d(const SmConfig *sm, Diag *diag) {
    const SmL1dConfig *own = &sm->l1d_own;
    if (!bits_is_power_of_two(own->banks))
        diag_error(diag, NULL, 0, 0, "l1d.banks: %u is not a power of two", own->banks);
    if (!bits_is_power_of_two(own->bank_bytes))
        diag_error(diag, NULL, 0, 0, "l1d.bank: %u B is not a power of two", own->bank_bytes);
    if (cache_config_is_written_through(&sm->l1d)) {
        if (sm->l1d.local_write != WRITE_THROUGH ||
            sm->l1d.local_write_allocate != ALLOCATE_VALIDATE)
            diag_error(diag, NULL, 0, 0,
                       "l1d.local_write: global stores are written through and take their sectors "
                       "(l1d.write_allocate: validate); local ones must be, too");
        if (cache_config_fill_bytes(&sm->l1d) > 64)
            diag_error(diag, NULL, 0, 0,
                       "l1d.sector: %u B; up to 64 B can be written in part (l1d.write_allocate: "
                       "validate)",
                       cache_config_fill_bytes(&sm->l1d));
    }
    if (sm->l1d.write_allocate == ALLOCATE_BESIDE ||
        sm->l1d.local_write_allocate == ALLOCATE_BESIDE)
        diag_error(diag, NULL, 0, 0, "l1d.write_allocate: beside is only for L2");
    check_unified(sm, diag);
}

static void check_sm(const SmConfig *sm, Diag *diag) {
    check_l1d(sm, diag);
    if (sm->l1d.miss_queue < 2)
        diag_error(diag, NULL, 0, 0,
                   "l1d.miss_queue: %u, but a miss may send two requests: its read, and the line "
                   "that it drops",
                   sm->l1d.miss_queue);
    if (sm->threads % 32)
        diag_error(diag, NULL, 0, 0, "sm.threads: %u is not a multiple of a warp's 32 lanes",
                   sm->threads);
    if (sm->scheduler.count > sm_config_warps(sm)) {
        diag_error(diag, NULL, 0, 0,
                   "scheduler.count: %u schedulers for %u warps (sm.threads / 32)",
                   sm->scheduler.count, sm_config_warps(sm));
    }
    if (sm->subcores != 1 && (sm->subcores != sm->scheduler.count || sm->subcores == 3)) {
        diag_error(
            diag, NULL, 0, 0,
            "sm.subcores: %u for %u schedulers (scheduler.count); 1, or one for each of 2 or "
            "4 schedulers",
            sm->subcores, sm->scheduler.count);
    }
    if (sm->registers < sm->threads) {
        diag_error(diag, NULL, 0, 0, "sm.registers: %u leave less than one for each of %u threads",
                   sm->registers, sm->threads);
    }
    if (sm->shared.reserved_bytes && sm->shared.reserved_bytes >= sm->shared.size_bytes) {
        diag_error(diag, NULL, 0, 0, "shared.reserved: %u B leave a CTA none of %u B (shared.size)",
                   sm->shared.reserved_bytes, sm->shared.size_bytes);
    }
    if (!bits_is_power_of_two(sm->collector.banks))
        diag_error(diag, NULL, 0, 0, "collector.banks: %u is not a power of two",
                   sm->collector.banks);
    if (!bits_is_power_of_two(sm->shared.banks))
        diag_error(diag, NULL, 0, 0, "shared.banks: %u is not a power of two", sm->shared.banks);
    if (!bits_is_power_of_two(sm->shared.bank_bytes))
        diag_error(diag, NULL, 0, 0, "shared.bank: %u B is not a power of two",
                   sm->shared.bank_bytes);
    if (sm->shared.conflict_lanes != 16 && sm->shared.conflict_lanes != 32) {
        diag_error(diag, NULL, 0, 0,
                   "shared.conflict_lanes: %u is neither a warp (32) nor a half (16)",
                   sm->shared.conflict_lanes);
    }
    if (sm->lsu.coalesced_lanes != 16 && sm->lsu.coalesced_lanes != 32) {
        diag_error(diag, NULL, 0, 0,
                   "lsu.coalesced_lanes: %u is neither a warp (32) nor a half (16)",
                   sm->lsu.coalesced_lanes);
    }
    if (sm->lsu.least_segment_bytes &&
        (sm->lsu.least_segment_bytes < 16 || !bits_is_power_of_two(sm->lsu.least_segment_bytes))) {
        diag_error(diag, NULL, 0, 0,
                   "lsu.least_segment: %u B is neither 0 nor a power of two from 16 on",
                   sm->lsu.least_segment_bytes);
    }
    if (!bits_is_power_of_two(sm->lsu.bypass_segment_bytes)) {
        diag_error(diag, NULL, 0, 0, "lsu.bypass_segment: %u B is not a power of two",
                   sm->lsu.bypass_segment_bytes);
    }
    if (!bits_is_power_of_two(sm->fetch.instruction_bytes)) {
        diag_error(diag, NULL, 0, 0, "fetch.instruction: %u B is not a power of two",
                   sm->fetch.instruction_bytes);
    } else if (sm->fetch.code_base % sm->fetch.instruction_bytes) {
        diag_error(diag, NULL, 0, 0,
                   "fetch.code_base: 0x%x is not a multiple of fetch.instruction, %u B: an "
                   "instruction would lie in "
                   "two lines",
                   sm->fetch.code_base, sm->fetch.instruction_bytes);
    }
    if (sm->fetch.instruction_bytes * sm->fetch.width > sm->l1i.line_bytes) {
        diag_error(diag, NULL, 0, 0,
                   "fetch.width: %u instructions of %u B are more than a line of %u B",
                   sm->fetch.width, sm->fetch.instruction_bytes, sm->l1i.line_bytes);
    }
}

/* Checks that matrix products enter their pipeline in a number of cycles that is modelled. */
static void check_tensor(const SmConfig *sm, Diag *diag) {
    static const char *const names[ISA_TENSORS] = {"fp16", "tf32", "fp64", "fp8",
                                                   "int8", "int4", "bit"};
    for (int type = 0; type < ISA_TENSORS; type++) {
        uint32_t rate = sm->tensor.rate[type];
        uint32_t most = type == ISA_TENSOR_BIT ? SM_TENSOR_BITS : SM_TENSOR_PRODUCTS;
        if (rate && rate < most / SM_TENSOR_CYCLES)
            diag_error(diag, NULL, 0, 0, "tensor.%s: %u products a cycle; 0, or %d at least",
                       names[type], rate, (int)(most / SM_TENSOR_CYCLES));
        if (rate && !sm->units[SM_UNIT_TENSOR].count)
            diag_error(diag, NULL, 0, 0,
                       "tensor.%s: %u products a cycle, but units.tensor.count is 0", names[type],
                       rate);
    }
}

/* Checks that every pipeline to which a class is sent exists, and takes a whole number of cycles
 * per warp. */
static void check_units(const SmConfig *sm, Diag *diag) {
    static const char *const names[SM_UNITS] = {"sp", "sfu", "dp", "int", "tensor", NULL, "ldst"};
    bool is_used[SM_UNITS] = {false};
    uint32_t collectors = 0, pipelines = 0;
    for (int i = 0; i < ISA_CLASS_COUNT; i++)
        is_used[sm->ops[i].unit] = true;
    is_used[SM_UNIT_SP] |= is_used[SM_UNIT_SP_OR_SFU];
    is_used[SM_UNIT_SFU] |= is_used[SM_UNIT_SP_OR_SFU];
    for (int unit = 0; unit < SM_UNITS; unit++) {
        if (unit == SM_UNIT_SP_OR_SFU) continue;
        const SmUnitConfig *config = &sm->units[unit];
        if (config->count) collectors += config->collector_units;
        if (unit != SM_UNIT_LDST) pipelines += config->count;
        if (is_used[unit] && !config->count) {
            diag_error(diag, NULL, 0, 0, "units.%s.count: 0, but instructions are sent there",
                       names[unit]);
        }
        if (!bits_is_power_of_two(config->lanes)) {
            diag_error(diag, NULL, 0, 0, "units.%s.lanes: %u does not divide a warp's 32",
                       names[unit], config->lanes);
        }
        if (unit == SM_UNIT_LDST) continue;
        if (!bits_is_power_of_two(config->shared_by) || config->shared_by > sm->subcores) {
            diag_error(
                diag, NULL, 0, 0,
                "units.%s.shared_by: %u of %u sub-cores (sm.subcores); 1, 2 or 4 of them can "
                "share pipelines",
                names[unit], config->shared_by, sm->subcores);
        }
    }
    if (collectors > SM_MAX_COLLECTORS)
        diag_error(diag, NULL, 0, 0, "units.*.collector_units: %u in all; at most %d are modelled",
                   collectors, SM_MAX_COLLECTORS);
    if (pipelines > SM_MAX_PIPELINES)
        diag_error(diag, NULL, 0, 0, "units.*.count: %u pipelines in all; at most %d are modelled",
                   pipelines, SM_MAX_PIPELINES);
    if (sm->units[SM_UNIT_LDST].count != 1)
        diag_error(diag, NULL, 0, 0, "units.ldst.count: %u; an SM has one load/store unit",
                   sm->units[SM_UNIT_LDST].count);
}

/* Checks that a line of a sub-core's instruction cache fits in one fill of the SM's, and holds a
 * fetch. */
static void check_fetch(const SmConfig *sm, Diag *diag) {
    uint32_t above = cache_config_fill_bytes(&sm->l0i), below = cache_config_fill_bytes(&sm->l1i);
    if (!sm->fetch.is_per_subcore) return;
    if (above > below)
        diag_error(diag, NULL, 0, 0,
                   "l1i.line: filled by %u B, less than the l0i above it, by %u B", below, above);
    if (sm->fetch.instruction_bytes * sm->fetch.width > sm->l0i.line_bytes)
        diag_error(diag, NULL, 0, 0,
                   "fetch.width: %u instructions of %u B are more than a line of l0i, %u B",
                   sm->fetch.width, sm->fetch.instruction_bytes, sm->l0i.line_bytes);
}

/* With lsu.textures_in_order, hits of the texture cache cannot be delayed, so its latency must be
 * 0. */
static void check_textures(const SmConfig *sm, Diag *diag) {
    if (sm->lsu.textures_in_order && sm->l1t.latency)
        diag_error(diag, NULL, 0, 0, "lsu.textures_in_order: yes, but l1t.latency is %u, not 0",
                   sm->l1t.latency);
}

/* Rejects values that the modern core does not model. */
static void check_modern(const SmConfig *sm, Diag *diag) {
    if (sm->core != SM_CORE_MODERN) return;
    if (sm->subcores != sm->scheduler.count)
        diag_error(diag, NULL, 0, 0,
                   "sm.core: modern has a scheduler in each sub-core, but sm.subcores is %u and "
                   "scheduler.count %u",
                   sm->subcores, sm->scheduler.count);
    if (sm->scheduler.issue_width != 1 || sm->scheduler.issue_interval != 1)
        diag_error(diag, NULL, 0, 0,
                   "sm.core: modern issues one instruction a cycle in each sub-core, but "
                   "scheduler.issue_width is %u and scheduler.issue_interval %u",
                   sm->scheduler.issue_width, sm->scheduler.issue_interval);
    if (sm->lsu.row_stages || sm->lsu.stalls_pipeline)
        diag_error(diag, NULL, 0, 0,
                   "sm.core: modern has no pipeline in a row: lsu.row_stages must be 0, and "
                   "lsu.stalls_pipeline no");
    if (!bits_is_power_of_two(sm->modern.constant_line_bytes))
        diag_error(diag, NULL, 0, 0, "modern.constant_line: %u B is not a power of two",
                   sm->modern.constant_line_bytes);
    if (sm->l0i.line_bytes != cache_config_fill_bytes(&sm->l1i))
        diag_error(diag, NULL, 0, 0,
                   "sm.core: modern fetches lines of l0i, %u B, which l1i must be filled by; that "
                   "is by %u B",
                   sm->l0i.line_bytes, cache_config_fill_bytes(&sm->l1i));
}

/* Checks that a line of the first constant cache fits in one fill of the second. */
static void check_constants(const SmConfig *sm, Diag *diag) {
    uint32_t above = cache_config_fill_bytes(&sm->l1c), below = cache_config_fill_bytes(&sm->l15c);
    if (sm->lsu.has_l15c && above > below)
        diag_error(diag, NULL, 0, 0,
                   "l15c.line: filled by %u B, less than the l1c above it, by %u B", below, above);
}

/* An L2 that allocates lines on fill is that of GPGPU-Sim 2.1: rejects features that came later. */
static void check_late_fills(const PartitionConfig *partition, Diag *diag) {
    const CacheConfig *l2 = &partition->l2;
    if (cache_config_fill_bytes(l2) != l2->line_bytes)
        diag_error(diag, NULL, 0, 0,
                   "l2.allocate: on-fill is for lines without sectors (l2.sector)");
    if (l2->write != WRITE_BACK || l2->write_allocate != ALLOCATE_NONE)
        diag_error(diag, NULL, 0, 0,
                   "l2.allocate: on-fill is for l2.write: write-back and l2.write_allocate: none");
    if (partition->takes_hints)
        diag_error(diag, NULL, 0, 0, "l2.allocate: on-fill is for an L2 without l2.hints");
    if (partition->halves > 1)
        diag_error(diag, NULL, 0, 0, "l2.allocate: on-fill is for an L2 without l2.halves");
    if (partition->port_moves_victims)
        diag_error(diag, NULL, 0, 0,
                   "l2.allocate: on-fill is for an L2 without partition.port_moves_victims");
}

static void check_partition(const PartitionConfig *partition, Diag *diag) {
    uint32_t sector = partition->l2_sector_bytes;
    if (!bits_is_power_of_two(partition->slices))
        diag_error(diag, NULL, 0, 0, "partition.slices: %u is not a power of two",
                   partition->slices);
    if (!bits_is_power_of_two(sector))
        diag_error(diag, NULL, 0, 0, "partition.sector: %u B is not a power of two", sector);
    uint32_t fill = cache_config_fill_bytes(&partition->l2);
    if (partition->has_l2 && sector != fill) {
        diag_error(diag, NULL, 0, 0,
                   "partition.sector: %u B, but L2 is filled by %u B (l2.sector, or else l2.line)",
                   sector, fill);
    }
    const bool allocates_on_fill = partition->l2.allocate == CACHE_ALLOCATE_ON_FILL;
    if (partition->has_l2 && allocates_on_fill) check_late_fills(partition, diag);
    if (partition->has_l2 && !allocates_on_fill && partition->store_mshrs)
        diag_error(diag, NULL, 0, 0, "l2.store_mshrs: yes needs l2.allocate: on-fill");
    if (partition->has_l2 && !allocates_on_fill && partition->write_backs_first)
        diag_error(diag, NULL, 0, 0, "partition.write_backs_first: yes needs l2.allocate: on-fill");
    if (partition->has_l2 && partition->l2.write_allocate == ALLOCATE_BESIDE &&
        partition->l2.miss_queue < 3)
        diag_error(
            diag, NULL, 0, 0,
            "l2.miss_queue: %u, but a store that misses (l2.write_allocate: beside) may send "
            "three requests: itself, the read of its line, and the line that goes",
            partition->l2.miss_queue);
    if (partition->copies_fill_l2 && !partition->has_l2)
        diag_error(diag, NULL, 0, 0, "l2.filled_by_copies: yes, but l2.enabled is no");
}

static void check_hints(const MachineConfig *machine, Diag *diag) {
    const PartitionConfig *partition = &machine->partition;
    if (partition->takes_hints && !partition->has_l2)
        diag_error(diag, NULL, 0, 0, "l2.hints: yes, but l2.enabled is no");
    if (partition->persisting_bytes && !partition->takes_hints)
        diag_error(diag, NULL, 0, 0, "l2.persisting: %u B, but l2.hints is no",
                   partition->persisting_bytes);
    if (partition->least_fetch_bytes && !partition->takes_hints)
        diag_error(diag, NULL, 0, 0, "l2.least_fetch: %u B, but l2.hints is no",
                   partition->least_fetch_bytes);
    if (partition->least_fetch_bytes && !bits_is_power_of_two(partition->least_fetch_bytes))
        diag_error(diag, NULL, 0, 0, "l2.least_fetch: %u B is not a power of two",
                   partition->least_fetch_bytes);
    if (partition->persisting_bytes > machine_l2_bytes(machine))
        diag_error(diag, NULL, 0, 0,
                   "l2.persisting: %u B of an L2 of %" PRIu64
                   " (l2.size x partition.slices x gpu.partitions); GPUs have three quarters of it",
                   partition->persisting_bytes, machine_l2_bytes(machine));
}

static void check_halves(const MachineConfig *machine, Diag *diag) {
    const PartitionConfig *partition = &machine->partition;
    if (partition->halves < 2) return;
    if (machine->partitions * partition->slices % 2)
        diag_error(diag, NULL, 0, 0,
                   "l2.halves: 2 of %u slices (gpu.partitions x partition.slices); each half must "
                   "have as many",
                   machine->partitions * partition->slices);
    if (!partition->has_l2) diag_error(diag, NULL, 0, 0, "l2.halves: 2, but l2.enabled is no");
    if (partition->l2.mshrs < 2)
        diag_error(diag, NULL, 0, 0,
                   "l2.mshrs: %u, but reads of the other half (l2.halves: 2) may have half of them",
                   partition->l2.mshrs);
}

static void check_network(const MachineConfig *machine, Diag *diag) {
    const NetworkConfig *network = &machine->network;
    uint32_t slices = machine->partitions * machine->partition.slices;
    uint32_t routers = network->memory_routers.count;
    if (network->noc.kind == NOC_MESH && routers && routers != slices) {
        diag_error(diag, NULL, 0, 0,
                   "noc.memory_routers: %u routers for %u slices (gpu.partitions x "
                   "partition.slices)",
                   routers, slices);
        return;
    }
    char why[160];
    if (!noc_config_check(&network->noc, why, sizeof why))
        diag_error(diag, NULL, 0, 0, "noc: %s", why);
    uint32_t longest = network->header_bytes + machine->sm.l1d.line_bytes;
    if (longest < network->header_bytes + machine->partition.l2_sector_bytes)
        longest = network->header_bytes + machine->partition.l2_sector_bytes;
    uint32_t room = (uint32_t)network->noc.injection_flits * (uint32_t)network->noc.flit_bytes;
    if (longest > room) {
        diag_error(diag, NULL, 0, 0,
                   "noc.injection_flits: %u B of queue (x noc.flit) for a packet of %u B "
                   "(noc.header and a line)",
                   room, longest);
    }
}

/* Checks that everything that is requested at once, or written back, is within one row of one
 * slice. */
static void check_line_places(const MachineConfig *machine, int lowest_hashed, Diag *diag) {
    const SmConfig *sm = &machine->sm;
    const struct {
        const char *key;
        uint32_t bytes;
    } lines[] = {
        {"l1i.line", sm->l1i.line_bytes},
        {"l1d.line", sm->l1d.line_bytes},
        {"l1c.line", sm->l1c.line_bytes},
        {"l15c.line", sm->lsu.has_l15c ? sm->l15c.line_bytes : 0},
        {"l1t.line", sm->l1t.line_bytes},
        {"l2.line", machine->partition.l2.line_bytes},
        {"partition.sector", machine->partition.l2_sector_bytes},
    };
    uint32_t together = 1; /* adjacent bytes in a row */
    for (size_t i = strlen(machine->map.bits); i-- > 0 && strchr("C._ ", machine->map.bits[i]);)
        if (machine->map.bits[i] == 'C') together *= 2;
    uint32_t block = machine->map.block_bytes;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        if (lines[i].bytes > together)
            diag_error(diag, NULL, 0, 0,
                       "map.bits: \"%s\" keeps %u B together in a row, but %s is %u B",
                       machine->map.bits, together, lines[i].key, lines[i].bytes);
        if (lowest_hashed < 64 && lines[i].bytes > UINT64_C(1) << lowest_hashed)
            diag_error(diag, NULL, 0, 0,
                       "map.hash, map.bank_hash: take in bit %d of the address, within %s, %u B",
                       lowest_hashed, lines[i].key, lines[i].bytes);
        if (block && lines[i].bytes > block)
            diag_error(diag, NULL, 0, 0, "map.block: %u B is less than %s, %u B", block,
                       lines[i].key, lines[i].bytes);
    }
}

/* Checks that what both the address map and other sections state is the same. */
static void check_map(const MachineConfig *machine, Diag *diag) {
    AddressMap map;
    AddressMapConfig config = machine_map_config(machine);
    if (!address_map_init(&map, &config, diag)) return;
    const struct {
        const char *key, *what;
        uint32_t given, mapped;
    } same[] = {
        {"gpu.partitions", "channels", machine->partitions, map.channels},
        {"partition.slices", "slices of a channel", machine->partition.slices,
         map.slices_per_channel},
        {"dram.banks", "banks", machine->dram.banks, map.banks},
        {"dram.row", "bytes of a row", machine->dram.row_bytes, map.row_bytes},
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        if (same[i].given == same[i].mapped) continue;
        diag_error(diag, NULL, 0, 0,
                   "%s: %u, but map.bits \"%s\" makes %u %s; change one of the two, for example "
                   "%s=%u",
                   same[i].key, same[i].given, machine->map.bits, same[i].mapped, same[i].what,
                   same[i].key, same[i].mapped);
    }
    check_line_places(machine, map.lowest_hashed, diag);
}

bool machine_check(const MachineConfig *machine, Diag *diag) {
    const NamedCache caches[] = {
        {"l0i", &machine->sm.l0i}, {"l1i", &machine->sm.l1i},   {"l1d", &machine->sm.l1d},
        {"l1c", &machine->sm.l1c}, {"l15c", &machine->sm.l15c}, {"l1t", &machine->sm.l1t},
    };
    int before = diag_error_count(diag);
    for (size_t i = 0; i < sizeof caches / sizeof *caches; i++)
        check_cache(caches[i].key, caches[i].config, 0, diag);
    check_cache("l2", &machine->partition.l2, machine_slice_bits(machine), diag);
    check_sm(&machine->sm, diag);
    check_units(&machine->sm, diag);
    check_tensor(&machine->sm, diag);
    check_constants(&machine->sm, diag);
    check_modern(&machine->sm, diag);
    check_textures(&machine->sm, diag);
    check_fetch(&machine->sm, diag);
    check_partition(&machine->partition, diag);
    check_hints(machine, diag);
    check_halves(machine, diag);
    check_network(machine, diag);
    check_map(machine, diag);
    dram_config_check(&machine->dram, diag);
    return diag_error_count(diag) == before;
}
