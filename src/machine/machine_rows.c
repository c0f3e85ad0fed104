/* The parameter table, composed of the units' rows, and the names of their choices. */
#include "machine/machine_rows.h"

#include <assert.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>

/* The names of an enumeration's values, in order, except values that no file may choose. */
#define CHOICES(type, count, ...)                                                                  \
    static const char *const names_##type[] = {__VA_ARGS__};                                       \
    static_assert(sizeof names_##type / sizeof *names_##type == (count), "a name for each")
CHOICES(CacheIndex, CACHE_INDEXES, "linear", "fermi", "summed");
CHOICES(CacheAllocate, CACHE_ALLOCATES, "on-miss", "on-fill");
CHOICES(CoalescerGroup, COALESCER_GROUPS, "gpc", "all");
CHOICES(CacheFlush, CACHE_FLUSHES, "never", "kernel", "idle");
CHOICES(SmUnit, SM_UNIT_LDST, "sp", "sfu", "dp", "int", "tensor", "sp-or-sfu");
#define CORE_NAME(constant, core, name) name,
CHOICES(SmCoreKind, SM_CORE_COUNT, SM_CORES(CORE_NAME));
CHOICES(SmInstructions, SM_INSTRUCTIONS_MACHINE + 1, "ptx", "lowered", "machine");
CHOICES(SmDivergence, SM_DIVERGENCE_INDEPENDENT + 1, "stack", "independent");
CHOICES(NocKind, NOC_KIND_COUNT, "mesh", "crossbar", "ideal", "switch");
#define names_Replacement        replacement_names
#define names_WritePolicy        write_policy_names
#define names_WriteAllocate      write_allocate_names
#define names_DramSchedulerIndex dram_scheduler_names
#define names_GpuCapability      gpu_capability_names
#define names_QuirkSimulator     quirk_simulator_names

enum { KIB = 1024, MIB = 1024 * 1024, GHZ = 1000000 }; /* bytes, bytes, kHz */

/* clang-format off */
#define FIELD(path) ((MachineConfig *)NULL)->path

/* The offset of the field. Does not compile if the field has another type than rows of its kind
 * write. */
#define OFFSET(path, ...) \
    (offsetof(MachineConfig, path) + \
     0 * sizeof(char[_Generic(&FIELD(path), __VA_ARGS__) ? 1 : -1]))
/* An int is allowed instead of a uint32_t if no bound exceeds it. */
#define OF_NUMBER(path, high) OFFSET(path, uint32_t *: true, int *: (high) <= INT_MAX)

#define ROW(kind, key, at, name, field, ...) ROW_##kind(key name, at field, __VA_ARGS__)
#define ROW_COUNT(key, path, unit, low, high, initial, meaning) \
    {key, MACHINE_COUNT, OF_NUMBER(path, high), unit, NULL, low, high, initial, meaning},
#define ROW_BYTES(key, path, low, high, initial, meaning) \
    {key, MACHINE_BYTES, OF_NUMBER(path, high), "", NULL, low, high, initial, meaning},
#define ROW_FREQUENCY(key, path, low, initial, meaning) \
    {key, MACHINE_FREQUENCY, OF_NUMBER(path, 10 * GHZ), "", NULL, low, 10 * GHZ, initial, meaning},
#define ROW_TIME(key, path, high, initial, meaning) \
    {key, MACHINE_TIME, OFFSET(path, ParameterTime *: true), "cycles", NULL, 0, high, initial, meaning},
#define ROW_ADDRESS(key, path, initial, meaning) \
    {key, MACHINE_ADDRESS, OF_NUMBER(path, UINT32_MAX), "", NULL, 0, UINT32_MAX, initial, meaning},
#define ROW_BOOL(key, path, initial, meaning) \
    {key, MACHINE_BOOL, OFFSET(path, bool *: true), "", NULL, 0, 1, initial, meaning},
#define ROW_CHOICE(key, path, type, initial, meaning) \
    {key, MACHINE_CHOICE, OFFSET(path, type *: sizeof(type) == sizeof(uint32_t)), "", names_##type, \
     0, sizeof names_##type / sizeof *names_##type - 1, initial, meaning},
#define ROW_STRING(key, path, size, initial, meaning) \
    {key, MACHINE_STRING, OFFSET(path, char (*)[size]: true), "", NULL, 0, size, initial, meaning},
#define ROW_LIST(key, path, low, high, initial, meaning) \
    {key, MACHINE_LIST, OFFSET(path, ParameterList *: true), "", NULL, low, high, initial, meaning},

static const MachineRow rows[] = {
    MACHINE_NAME_PARAMETERS(ROW, "", )
    CLOCK_PARAMETERS(ROW, "clock.", clock.)
    MACHINE_SIZE_PARAMETERS(ROW, "gpu.", )
    CTA_PARAMETERS(ROW, "cta.", cta.)

    SM_PARAMETERS(ROW, "sm.", sm.)
    SM_FETCH_PARAMETERS(ROW, "fetch.", sm.fetch.)
    SM_SCHEDULER_PARAMETERS(ROW, "scheduler.", sm.scheduler.)
    SM_COLLECTOR_PARAMETERS(ROW, "collector.", sm.collector.)

    SM_UNIT_PARAMETERS(ROW, "units.sp.", sm.units[SM_UNIT_SP]., "SP", "2", "6", "2", "2")
    SM_UNIT_SLOT_PARAMETERS(ROW, "units.sp.", sm.units[SM_UNIT_SP]., "SP", "2", "2")
    SM_UNIT_PARAMETERS(ROW, "units.sfu.", sm.units[SM_UNIT_SFU]., "SFU", "1", "8", "1", "1")
    SM_UNIT_PARAMETERS(ROW, "units.dp.", sm.units[SM_UNIT_DP]., "DP", "0", "2", "1", "1")
    SM_SHARED_UNIT_PARAMETERS(ROW, "units.dp.", sm.units[SM_UNIT_DP]., "DP")
    SM_UNIT_PARAMETERS(ROW, "units.int.", sm.units[SM_UNIT_INT]., "INT", "0", "2", "1", "1")
    SM_UNIT_PARAMETERS(ROW, "units.tensor.", sm.units[SM_UNIT_TENSOR]., "tensor", "0", "2", "1", "1")
    SM_SHARED_UNIT_PARAMETERS(ROW, "units.tensor.", sm.units[SM_UNIT_TENSOR]., "tensor")
    SM_UNIT_PARAMETERS(ROW, "units.ldst.", sm.units[SM_UNIT_LDST]., "load/store", "1", "2", "1", "1")
    SM_UNIT_SLOT_PARAMETERS(ROW, "units.ldst.", sm.units[SM_UNIT_LDST]., "load/store", "1", "1")

    SM_OP_PARAMETERS(ROW, "ops.other.", sm.ops[ISA_CLASS_OTHER]., "mov, cvt, setp, selp, logic, shifts, branches, barriers", "sp", "1", "1")
    SM_OP_PARAMETERS(ROW, "ops.int_add.", sm.ops[ISA_CLASS_INT_ADD]., "integer add, sub", "sp", "4", "1")
    SM_OP_PARAMETERS(ROW, "ops.int_minmax.", sm.ops[ISA_CLASS_INT_MINMAX]., "integer min, max", "sp", "13", "2")
    SM_OP_PARAMETERS(ROW, "ops.int_mul.", sm.ops[ISA_CLASS_INT_MUL]., "integer mul", "sp", "4", "2")
    SM_OP_PARAMETERS(ROW, "ops.int_mad.", sm.ops[ISA_CLASS_INT_MAD]., "integer mad", "sp", "5", "1")
    SM_OP_PARAMETERS(ROW, "ops.int_div.", sm.ops[ISA_CLASS_INT_DIV]., "integer div", "sfu", "145", "8")
    SM_OP_PARAMETERS(ROW, "ops.int_rem.", sm.ops[ISA_CLASS_INT_REM]., "integer rem", "sfu", "145", "8")
    SM_OP_PARAMETERS(ROW, "ops.mul24.", sm.ops[ISA_CLASS_MUL24]., "mul24", "sp", "5", "3")
    SM_OP_PARAMETERS(ROW, "ops.mad24.", sm.ops[ISA_CLASS_MAD24]., "mad24", "sp", "6", "2")
    SM_OP_PARAMETERS(ROW, "ops.fp16_add.", sm.ops[ISA_CLASS_FP16_ADD]., "add, sub of halves, one or two", "sp", "4", "1")
    SM_OP_PARAMETERS(ROW, "ops.fp16_minmax.", sm.ops[ISA_CLASS_FP16_MINMAX]., "min, max of halves", "sp", "13", "2")
    SM_OP_PARAMETERS(ROW, "ops.fp16_mul.", sm.ops[ISA_CLASS_FP16_MUL]., "mul of halves", "sp", "4", "1")
    SM_OP_PARAMETERS(ROW, "ops.fp16_mad.", sm.ops[ISA_CLASS_FP16_MAD]., "fma of halves", "sp", "5", "1")
    SM_OP_PARAMETERS(ROW, "ops.fp32_add.", sm.ops[ISA_CLASS_FP32_ADD]., "f32 add, sub", "sp", "4", "1")
    SM_OP_PARAMETERS(ROW, "ops.fp32_minmax.", sm.ops[ISA_CLASS_FP32_MINMAX]., "f32 min, max", "sp", "13", "2")
    SM_OP_PARAMETERS(ROW, "ops.fp32_mul.", sm.ops[ISA_CLASS_FP32_MUL]., "f32 mul", "sp", "4", "1")
    SM_OP_PARAMETERS(ROW, "ops.fp32_mad.", sm.ops[ISA_CLASS_FP32_MAD]., "f32 mad, fma", "sp", "5", "1")
    SM_OP_PARAMETERS(ROW, "ops.fp32_div.", sm.ops[ISA_CLASS_FP32_DIV]., "f32 div", "sfu", "39", "4")
    SM_OP_PARAMETERS(ROW, "ops.fp64_add.", sm.ops[ISA_CLASS_FP64_ADD]., "f64 add, sub", "sfu", "8", "8")
    SM_OP_PARAMETERS(ROW, "ops.fp64_minmax.", sm.ops[ISA_CLASS_FP64_MINMAX]., "f64 min, max", "sfu", "19", "16")
    SM_OP_PARAMETERS(ROW, "ops.fp64_mul.", sm.ops[ISA_CLASS_FP64_MUL]., "f64 mul", "sfu", "8", "8")
    SM_OP_PARAMETERS(ROW, "ops.fp64_mad.", sm.ops[ISA_CLASS_FP64_MAD]., "f64 mad, fma", "sfu", "8", "8")
    SM_OP_PARAMETERS(ROW, "ops.fp64_div.", sm.ops[ISA_CLASS_FP64_DIV]., "f64 div", "sfu", "330", "130")
    SM_OP_PARAMETERS(ROW, "ops.sfu.", sm.ops[ISA_CLASS_SFU]., "rcp, sqrt, rsqrt, sin, cos, ex2, lg2, tanh", "sfu", "8", "8")
    SM_OP_PARAMETERS(ROW, "ops.shuffle.", sm.ops[ISA_CLASS_SHUFFLE]., "shfl", "sp", "32", "4")
    SM_OP_PARAMETERS(ROW, "ops.bits.", sm.ops[ISA_CLASS_BITS]., "popc, clz, brev, bfind", "sp", "1", "1")

    SM_OP_PARAMETERS(ROW, "ops.matrix.", sm.ops[ISA_CLASS_MATRIX]., "mma, wmma.mma", "sfu", "8", "8")
    SM_TENSOR_PARAMETERS(ROW, "tensor.", sm.tensor.)
    SM_WGMMA_PARAMETERS(ROW, "wgmma.", sm.wgmma.)

    SM_MODERN_PARAMETERS(ROW, "modern.", sm.modern.)

    SM_SHARED_PARAMETERS(ROW, "shared.", sm.shared.)
    SM_LSU_PARAMETERS(ROW, "lsu.", sm.lsu.)
    CACHE_PARAMETERS(ROW, "l0i.", sm.l0i., "instruction cache of a sub-core", "12 KiB", "128 B", "3", "0", "2", "16", "2")
    CACHE_PARAMETERS(ROW, "l1i.", sm.l1i., "instruction cache", "2 KiB", "128 B", "4", "0", "2", "32", "4")
    CACHE_ORGANISATION_PARAMETERS(ROW, "l1i.", sm.l1i., "instruction cache", "0 B", "linear", "never")
    CACHE_PARAMETERS(ROW, "l1d.", sm.l1d., "L1 data cache", "16 KiB", "128 B", "4", "35", "64", "8", "8")
    CACHE_ORGANISATION_PARAMETERS(ROW, "l1d.", sm.l1d., "L1 data cache", "0 B", "fermi", "idle")
    CACHE_STORE_PARAMETERS(ROW, "l1d.", sm.l1d., "L1 data cache", "write-evict", "none")
    CACHE_LOCAL_STORE_PARAMETERS(ROW, "l1d.", sm.l1d., "L1 data cache", "write-back", "none")
    SM_L1D_PARAMETERS(ROW, "l1d.", sm.l1d_own.)
    CACHE_PARAMETERS(ROW, "l1c.", sm.l1c., "constant cache", "8 KiB", "64 B", "2", "0", "2", "64", "4")
    CACHE_ORGANISATION_PARAMETERS(ROW, "l1c.", sm.l1c., "constant cache", "0 B", "linear", "never")
    CACHE_PARAMETERS(ROW, "l15c.", sm.l15c., "second constant cache", "64 KiB", "256 B", "4", "60", "16", "64", "4")
    CACHE_PARAMETERS(ROW, "l1t.", sm.l1t., "texture cache", "12 KiB", "128 B", "24", "35", "64", "8", "8")
    CACHE_ORGANISATION_PARAMETERS(ROW, "l1t.", sm.l1t., "texture cache", "0 B", "linear", "idle")

    NOC_LINK_PARAMETERS(ROW, "noc.", network.noc.)
    NETWORK_PARAMETERS(ROW, "noc.", network.)
    NOC_ROOM_PARAMETERS(ROW, "noc.", network.noc.)
    NETWORK_PLACE_PARAMETERS(ROW, "noc.", network.)
    NOC_DELAY_PARAMETERS(ROW, "noc.", network.noc.)

    PARTITION_PARAMETERS(ROW, "partition.", partition.)
    PARTITION_L2_PARAMETERS(ROW, "l2.", partition.)
    CACHE_PARAMETERS(ROW, "l2.", partition.l2., "L2 slice", "64 KiB", "128 B", "8", "1", "256", "4", "4")
    CACHE_ORGANISATION_PARAMETERS(ROW, "l2.", partition.l2., "L2 slice", "32 B", "linear", "never")
    CACHE_STORE_PARAMETERS(ROW, "l2.", partition.l2., "L2 slice", "write-back", "validate")

    COALESCER_PARAMETERS(ROW, "lrc.", partition.coalescer.)

    MAP_PARAMETERS(ROW, "map.", map.)
    DRAM_PARAMETERS(ROW, "dram.", dram.)
    DRAM_TIMING_PARAMETERS(ROW, "dram.", dram.stated.)

    ORACLE_PARAMETERS(ROW, "oracle.", oracle.)
    WATCHDOG_PARAMETERS(ROW, "watchdog.", )
};

/* Values that no machine, test or study varies: fixed, with their origin. A file may still contain
 * the value, as older files do, but not a different one. */
static const MachineRow constants[] = {
    /* gtx480, measured: kernels of few thread blocks in GPGPU-Sim 4.2 */
    CTA_CONSTANTS(ROW, "cta.", cta.)
    /* gpgpu_pipeline_widths of GPGPU-Sim's configurations, which has at most 2 for SP */
    SM_UNIT_SLOT_PARAMETERS(ROW, "units.sfu.", sm.units[SM_UNIT_SFU]., "SFU", "1", "1")
    SM_UNIT_SLOT_PARAMETERS(ROW, "units.dp.", sm.units[SM_UNIT_DP]., "DP", "1", "1")
    SM_UNIT_SLOT_PARAMETERS(ROW, "units.int.", sm.units[SM_UNIT_INT]., "INT", "1", "1")
    SM_UNIT_SLOT_PARAMETERS(ROW, "units.tensor.", sm.units[SM_UNIT_TENSOR]., "tensor", "1", "1")
    /* ours: no machine described here shares these pipelines among sub-cores */
    SM_SHARED_UNIT_PARAMETERS(ROW, "units.sp.", sm.units[SM_UNIT_SP]., "SP")
    SM_SHARED_UNIT_PARAMETERS(ROW, "units.sfu.", sm.units[SM_UNIT_SFU]., "SFU")
    SM_SHARED_UNIT_PARAMETERS(ROW, "units.int.", sm.units[SM_UNIT_INT]., "INT")
    /* GPGPU-Sim's configurations: local data use the L1D wherever there is one */
    SM_LSU_CONSTANTS(ROW, "lsu.", sm.lsu.)
    /* ours: nothing is published about the organization of these two caches */
    CACHE_ORGANISATION_PARAMETERS(ROW, "l0i.", sm.l0i., "instruction cache of a sub-core", "0 B", "linear", "never")
    CACHE_ORGANISATION_PARAMETERS(ROW, "l15c.", sm.l15c., "second constant cache", "0 B", "linear", "kernel")
};
/* clang-format on */

const MachineRow *machine_rows(int *count) {
    *count = (int)(sizeof rows / sizeof *rows);
    return rows;
}

const MachineRow *machine_constants(int *count) {
    *count = (int)(sizeof constants / sizeof *constants);
    return constants;
}

static const MachineRow *find(const MachineRow *in, size_t count, const char *key, size_t length) {
    if (!length) return NULL;
    for (size_t i = 0; i < count; i++) {
        const char *own = in[i].key; /* most names differ in the first letter */
        if (*own == *key && !strncmp(own, key, length) && !own[length]) return &in[i];
    }
    return NULL;
}

/* Renamed keys: files may still use the old name. */
static const char *const renamed[][2] = {{"partition.atom", "partition.sector"}};

const MachineRow *machine_find_row(const char *key, size_t length) {
    for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++)
        if (strlen(renamed[i][0]) == length && !memcmp(renamed[i][0], key, length))
            return machine_find_row(renamed[i][1], strlen(renamed[i][1]));
    return find(rows, sizeof rows / sizeof *rows, key, length);
}

const char *machine_current_value(const MachineRow *row, const char *value) {
    /* Renamed values: files may still use the old name. */
    static const char *const renamed_values[][3] = {{"sm.instructions", "sass", "lowered"}};
    for (size_t i = 0; i < sizeof renamed_values / sizeof *renamed_values; i++)
        if (!strcmp(renamed_values[i][0], row->key) && !strcmp(renamed_values[i][1], value))
            return renamed_values[i][2];
    return value;
}

const MachineRow *machine_find_constant(const char *key, size_t length) {
    return find(constants, sizeof constants / sizeof *constants, key, length);
}
