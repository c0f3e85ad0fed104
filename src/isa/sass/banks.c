/* Constant banks of a launch (see the header). docs/machine-code.md describes the layout of bank
 * 0. */
#include "isa/sass/banks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "isa/exec/sass.h"
#include "isa/sass/code.h"
#include "memory/memory.h"

/* Byte offsets in bank 0. 0, except of `block`: the architecture does not have the value there. */
typedef struct Layout {
    uint16_t block, grid;         /* %ntid, %nctaid: three words each */
    uint16_t shared_window;       /* 64 bits */
    uint16_t local_window;        /* 64 bits */
    uint16_t stack;               /* the end of a thread's local memory */
    uint16_t dynamic_shared;      /* bytes */
    uint16_t grid_id;             /* 64 bits */
    uint16_t param_base;          /* generic address of bank 0 itself, 64 bits */
    uint16_t param_last;          /* offset of the last byte of parameters from there */
    uint16_t param_window;        /* first and last generic address of parameters, 64 bits each */
    uint16_t constants;           /* generic address of bank 3, 64 bits */
    uint16_t textures, surfaces;  /* addresses of the driver's tables, 64 bits */
    uint16_t workspace;           /* %envreg1 and %envreg2 */
    uint16_t sms;                 /* %nsmid */
    uint16_t system_shared;       /* bytes of shared memory that belong to the system */
    uint16_t most_shared;         /* maximum that %aggr_smem_size reports, in bytes */
    uint16_t has_clusters;        /* %is_explicit_cluster, a word */
    uint16_t cluster_shape;       /* %cluster_nctaid, three words */
    uint16_t cluster_reciprocals; /* of these, as floats */
    uint16_t clusters;            /* %nclusterid, three words */
    uint16_t cluster_ranks;       /* %cluster_nctarank */
    uint16_t end;
} Layout;
enum { SLACK = 16 /* bytes after a bank that can be read, for operands of 64 and 128 bits */ };

/* Before sm_80, sm_80 to sm_89, sm_90, later. */
#define UP_TO_90                                                                                   \
    .block = 0x00, .grid = 0x0c, .shared_window = 0x18, .local_window = 0x20, .stack = 0x28,       \
    .dynamic_shared = 0x2c, .grid_id = 0x30, .sms = 0x10c
#define UP_TO_89                                                                                   \
    UP_TO_90, .param_base = 0x40, .constants = 0x50, .textures = 0x70, .surfaces = 0x80,           \
        .workspace = 0x8c, .end = 0x130
static const Layout layouts[] = {
    {UP_TO_89, .param_last = 0x114},
    {UP_TO_89, .param_last = 0x12c},
    {UP_TO_90, .param_window = 0x198, .constants = 0xd0, .textures = 0xf0, .surfaces = 0x100,
     .workspace = 0x44, .system_shared = 0x114, .most_shared = 0x13c, .has_clusters = 0x140,
     .cluster_shape = 0x144, .cluster_reciprocals = 0x150, .clusters = 0x15c,
     .cluster_ranks = 0x188, .end = 0x1a8},
    {.block = 0x360,
     .grid = 0x370,
     .local_window = 0x2f8,
     .stack = 0x37c,
     .dynamic_shared = 0x2ac,
     .grid_id = 0x140,
     .param_window = 0x348,
     .constants = 0x120,
     .textures = 0x150,
     .surfaces = 0x160,
     .workspace = 0x254,
     .sms = 0x2d0,
     .system_shared = 0x16c,
     .most_shared = 0x2bc,
     .has_clusters = 0x36c,
     .cluster_shape = 0x2a0,
     .cluster_reciprocals = 0x2b0,
     .clusters = 0x2c0,
     .cluster_ranks = 0x2cc,
     .end = 0x380}};
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

static const Layout *layout_of(const IsaLaunch *launch) {
    const uint32_t sm = launch->program->code->sm;
    return &layouts[sm < 80 ? 0 : sm < 90 ? 1 : sm < 100 ? 2 : 3];
}

/* Sets the size of each bank in bytes. */
static void measure(const IsaLaunch *launch, uint32_t *size) {
    const SassCode *code = launch->program->code;
    const CubinFunction *function = function_of(launch);
    memset(size, 0, ISA_BANKS * sizeof *size);
    const uint32_t end = layout_of(launch)->end;
    size[0] = function->parameter_offset + launch->parameter_bytes;
    if (size[0] < end) size[0] = end;
    for (uint32_t i = 0; i < code->part_count; ++i) {
        const SassBankPart *part = &code->parts[i];
        const uint32_t last = part->offset + part->size;
        if (is_for(part, launch) && part->bank < ISA_BANKS && size[part->bank] < last)
            size[part->bank] = last;
    }
}

static void put_word(uint8_t *bank, uint32_t at, uint32_t value) {
    if (at) memcpy(bank + at, &value, sizeof value);
}
static void put_long(uint8_t *bank, uint32_t at, uint64_t value) {
    if (at) memcpy(bank + at, &value, sizeof value);
}

/* Sets the values that cvta.param and isspacep.param use. */
static void put_param_window(const IsaLaunch *launch, const Layout *at, uint8_t *bank) {
    const uint64_t base = MEM_PARAM_WINDOW - function_of(launch)->parameter_offset;
    put_long(bank, at->param_base, base);
    put_word(bank, at->param_last, (uint32_t)(MEM_PARAM_END - 1 - base));
    if (!at->param_window) return;
    put_long(bank, at->param_window, MEM_PARAM_WINDOW);
    put_long(bank, at->param_window + 8u, MEM_PARAM_END - 1);
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
static void put_clusters(const IsaLaunch *launch, const Layout *at, uint8_t *bank) {
    const bool has_clusters = launch->clusters != NULL;
    if (!at->cluster_shape) return;
    for (uint32_t axis = 0; axis < 3; ++axis) {
        const uint32_t ctas = has_clusters ? launch->cluster[axis] : 1;
        put_word(bank, at->cluster_shape + 4 * axis, ctas);
        put_word(bank, at->cluster_reciprocals + 4 * axis, reciprocal(ctas));
        put_word(bank, at->clusters + 4 * axis, launch->grid[axis] / ctas);
    }
    put_word(bank, at->has_clusters, has_clusters);
    put_word(bank, at->cluster_ranks, has_clusters ? launch->cluster_ctas : 1);
}

static void fill_bank_0(const IsaLaunch *launch, uint8_t *bank) {
    const Layout *at = layout_of(launch);
    memcpy(bank + at->block, launch->block, sizeof launch->block);
    memcpy(bank + at->grid, launch->grid, sizeof launch->grid);
    put_long(bank, at->shared_window, MEM_SHARED_WINDOW);
    put_long(bank, at->local_window, MEM_LOCAL_WINDOW);
    put_word(bank, at->stack, launch->function->local_bytes);
    put_word(bank, at->dynamic_shared, launch->dynamic_shared_bytes);
    put_long(bank, at->grid_id, launch->grid_id);
    put_long(bank, at->constants, constant_base);
    put_long(bank, at->textures, launch->texture_table);
    put_long(bank, at->surfaces, launch->texture_table);
    put_param_window(launch, at, bank);
    put_clusters(launch, at, bank);
    put_word(bank, at->system_shared, launch->function->system_shared_bytes);
    put_word(bank, at->most_shared, UINT32_MAX);
    put_word(bank, at->workspace, (uint32_t)(launch->grid_workspace >> 32)); /* %envreg1 */
    put_word(bank, at->workspace + 4u, (uint32_t)launch->grid_workspace);    /* %envreg2 */
    put_word(bank, at->sms, launch->sms);
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
