/* Constant banks of a launch (see the header). docs/machine-code.md describes the layout of bank
 * 0. */
#include "isa/sass/banks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "isa/exec/sass.h"
#include "isa/sass/code.h"
#include "memory/memory.h"

/* Byte offsets in bank 0, except those that differ between the architectures up to sm_90. */
enum {
    AT_BLOCK = 0x00,
    AT_GRID = 0x0c,
    AT_SHARED_WINDOW = 0x18,
    AT_LOCAL_WINDOW = 0x20,
    AT_STACK = 0x28,
    AT_DYNAMIC_SHARED = 0x2c,
    AT_GRID_ID = 0x30,
    AT_PARAM_BASE = 0x40,       /* before sm_90: generic address of bank 0 itself */
    AT_PARAM_WINDOW_90 = 0x198, /* first and last generic address of parameters */
    AT_SMS = 0x10c,
    AT_SYSTEM_SHARED_90 = 0x114, /* bytes of shared memory that belong to the system */
    AT_MOST_SHARED_90 = 0x13c,   /* maximum that %aggr_smem_size reports, in bytes */
    AT_HAS_CLUSTERS_90 = 0x140,  /* %is_explicit_cluster, a word */
    AT_CLUSTER_SHAPE_90 = 0x144, /* %cluster_nctaid, three words, and their reciprocals as floats */
    AT_CLUSTERS_90 = 0x15c,      /* %nclusterid, three words */
    AT_CLUSTER_RANKS_90 = 0x188, /* %cluster_nctarank */
    AT_END = 0x118,
    SLACK = 16 /* bytes after a bank that can be read, for operands of 64 and 128 bits */
};
/* The generic address of bank 3. It is also where global memory ends for isspacep.global. */
static const uint64_t constant_base = (uint64_t)ISA_CONSTANT_UPPER << 32;

static void *room_for(void *block, size_t *capacity, size_t bytes) {
    if (*capacity >= bytes) return block;
    free(block);
    *capacity = bytes;
    return base_alloc_lines(bytes);
}

static const CubinFunction *function_of(const IsaLaunch *launch) {
    return &launch->program->code->cubin->functions[launch->function - launch->program->functions];
}

static bool is_for(const SassBankPart *part, const IsaLaunch *launch) {
    return part->function == SASS_EVERY_FUNCTION ||
           part->function == launch->function - launch->program->functions;
}

/* Sets the size of each bank in bytes. */
static void measure(const IsaLaunch *launch, uint32_t *size) {
    const SassCode *code = launch->program->code;
    const CubinFunction *function = function_of(launch);
    memset(size, 0, ISA_BANKS * sizeof *size);
    size[0] = function->parameter_offset + launch->parameter_bytes;
    if (size[0] < AT_END) size[0] = AT_END;
    for (uint32_t i = 0; i < code->part_count; ++i) {
        const SassBankPart *part = &code->parts[i];
        const uint32_t end = part->offset + part->size;
        if (is_for(part, launch) && part->bank < ISA_BANKS && size[part->bank] < end)
            size[part->bank] = end;
    }
}

static void put_word(uint8_t *bank, uint32_t at, uint32_t value) {
    memcpy(bank + at, &value, sizeof value);
}
static void put_long(uint8_t *bank, uint32_t at, uint64_t value) {
    memcpy(bank + at, &value, sizeof value);
}

/* Sets the values that cvta.param and isspacep.param use. */
static void put_param_window(const IsaLaunch *launch, uint8_t *bank) {
    const uint32_t sm = launch->program->code->sm;
    const uint64_t base = MEM_PARAM_WINDOW - function_of(launch)->parameter_offset;
    if (sm >= 90) {
        put_long(bank, AT_PARAM_WINDOW_90, MEM_PARAM_WINDOW);
        put_long(bank, AT_PARAM_WINDOW_90 + 8, MEM_PARAM_END - 1);
        return;
    }
    put_long(bank, AT_PARAM_BASE, base);
    put_word(bank, sm >= 80 ? 0x12c : 0x114, (uint32_t)(MEM_PARAM_END - 1 - base));
}

/* The product of this float with a CTA's index, rounded down, is the index of its cluster. The
 * float must not be less than the exact reciprocal. */
static uint32_t reciprocal(uint32_t ctas) {
    float value = 1.0f / (float)ctas;
    if ((double)value * ctas < 1) value = nextafterf(value, 2);
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Without clusters, each CTA is its own cluster. */
static void put_clusters(const IsaLaunch *launch, uint8_t *bank) {
    const bool has_clusters = launch->clusters != NULL;
    for (uint32_t axis = 0; axis < 3; ++axis) {
        const uint32_t ctas = has_clusters ? launch->cluster[axis] : 1;
        put_word(bank, AT_CLUSTER_SHAPE_90 + 4 * axis, ctas);
        put_word(bank, AT_CLUSTER_SHAPE_90 + 12 + 4 * axis, reciprocal(ctas));
        put_word(bank, AT_CLUSTERS_90 + 4 * axis, launch->grid[axis] / ctas);
    }
    put_word(bank, AT_HAS_CLUSTERS_90, has_clusters);
    put_word(bank, AT_CLUSTER_RANKS_90, has_clusters ? launch->cluster_ctas : 1);
}

static void fill_bank_0(const IsaLaunch *launch, uint8_t *bank) {
    const bool is_90 = launch->program->code->sm >= 90;
    const uint32_t workspace_at = is_90 ? 0x44 : 0x8c, constants_at = is_90 ? 0xd0 : 0x50;
    const uint32_t textures_at = is_90 ? 0xf0 : 0x70, surfaces_at = textures_at + 0x10;
    memcpy(bank + AT_BLOCK, launch->block, sizeof launch->block);
    memcpy(bank + AT_GRID, launch->grid, sizeof launch->grid);
    put_long(bank, AT_SHARED_WINDOW, MEM_SHARED_WINDOW);
    put_long(bank, AT_LOCAL_WINDOW, MEM_LOCAL_WINDOW);
    put_word(bank, AT_STACK, launch->function->local_bytes);
    put_word(bank, AT_DYNAMIC_SHARED, launch->dynamic_shared_bytes);
    put_long(bank, AT_GRID_ID, launch->grid_id);
    put_long(bank, constants_at, constant_base);
    put_long(bank, textures_at, launch->texture_table);
    put_long(bank, surfaces_at, launch->texture_table);
    put_param_window(launch, bank);
    if (is_90) {
        put_clusters(launch, bank);
        put_word(bank, AT_SYSTEM_SHARED_90, launch->function->system_shared_bytes);
        put_word(bank, AT_MOST_SHARED_90, UINT32_MAX);
    }
    put_word(bank, workspace_at, (uint32_t)(launch->grid_workspace >> 32)); /* %envreg1 */
    put_word(bank, workspace_at + 4, (uint32_t)launch->grid_workspace);     /* %envreg2 */
    put_word(bank, AT_SMS, launch->sms);
    if (launch->parameter_bytes)
        memcpy(bank + function_of(launch)->parameter_offset, launch->parameters,
               launch->parameter_bytes);
}

/* Fills in sections first, then their variables, which kernels and the host may have changed. */
static void fill_parts(const IsaLaunch *launch, struct DeviceMemory *memory, uint8_t *const *bank) {
    const SassCode *code = launch->program->code;
    for (uint32_t i = 0; i < code->part_count; ++i) {
        const SassBankPart *part = &code->parts[i];
        if (!is_for(part, launch) || part->bank >= ISA_BANKS) continue;
        if (!part->bank && !part->var) continue; /* a launch fills this in itself */
        uint8_t *to = bank[part->bank] + part->offset;
        if (part->bytes) memcpy(to, part->bytes, part->size);
        else mem_read(memory, part->var->address, to, part->size);
    }
}

static void fill_rows(const IsaProgram *program, const IsaBank *bank, uint8_t *rows) {
    memcpy(rows, program->constants, program->constant_bytes);
    for (uint32_t i = 0; i < program->bank_row_count; ++i) {
        const IsaBankRow *at = &program->bank_rows[i];
        uint32_t value = 0, *row = (uint32_t *)(void *)(rows + at->row);
        if ((uint64_t)at->offset + sizeof value <= bank[at->bank].bytes + (uint64_t)SLACK / 2)
            memcpy(&value, bank[at->bank].data + at->offset, sizeof value);
        for (int lane = 0; lane < ISA_LANES; ++lane)
            row[lane] = value;
    }
}

void isa_banks_fill(IsaBanks *banks, IsaLaunch *launch, struct DeviceMemory *memory) {
    const IsaProgram *program = launch->program;
    if (!program->code) return;
    uint32_t size[ISA_BANKS];
    uint8_t *bank[ISA_BANKS];
    size_t bytes = 0;
    measure(launch, size);
    for (int i = 0; i < ISA_BANKS; ++i)
        bytes += size[i] + SLACK;
    banks->bytes = room_for(banks->bytes, &banks->byte_capacity, bytes);
    memset(banks->bytes, 0, bytes);
    uint8_t *next = banks->bytes;
    for (int i = 0; i < ISA_BANKS; ++i) {
        bank[i] = next;
        banks->bank[i] = (IsaBank){next, size[i]};
        next += size[i] + SLACK;
    }
    fill_bank_0(launch, bank[0]);
    fill_parts(launch, memory, bank);
    banks->rows =
        room_for(banks->rows, &banks->row_capacity, program->constant_bytes + ISA_ROW_BYTES);
    fill_rows(program, banks->bank, banks->rows);
    launch->constants = banks->rows;
    launch->banks = banks->bank;
}

void isa_banks_free(IsaBanks *banks) {
    free(banks->bytes);
    free(banks->rows);
    *banks = (IsaBanks){0};
}
