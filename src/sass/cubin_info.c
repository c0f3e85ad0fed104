/* Attributes: .nv.info for all functions, by symbol, and .nv.info.NAME for one function.
 *
 * An attribute is one byte for its form, one byte for its number, and 16 bits that are either its
 * value or the number of bytes that follow. A row of the table gives the field that a value goes
 * to; attributes without a row are kept by number. */
#include "sass/cubin_internal.h"

#include <stdlib.h>

/* Forms: EIFMT_... */
enum { FORM_NONE = 1, FORM_BYTE = 2, FORM_HALF = 3, FORM_BYTES = 4 };

enum {
    MAX_THREADS = 0x05,
    PARAM_CBANK = 0x0a,
    EXTERNS = 0x0f,
    REQNTID = 0x10,
    FRAME_SIZE = 0x11,
    MIN_STACK_SIZE = 0x12,
    KPARAM_INFO = 0x17,
    CBANK_PARAM_SIZE = 0x19,
    MAXREG_COUNT = 0x1b,
    EXIT_INSTR_OFFSETS = 0x1c,
    CRS_STACK_SIZE = 0x1e,
    COOP_GROUP_INSTR_OFFSETS = 0x28,
    REGCOUNT = 0x2f,
    INT_WARP_WIDE_INSTR_OFFSETS = 0x31,
    INDIRECT_BRANCH_TARGETS = 0x34,
    CUDA_API_VERSION = 0x37,
    CTA_PER_CLUSTER = 0x3d,
    EXPLICIT_CLUSTER = 0x3e,
    MAX_CLUSTER_RANK = 0x3f,
    KPARAM_INFO_V2 = 0x45,
    SYSCALL_OFFSETS = 0x46,
    NUM_BARRIERS = 0x4c,
    BLOCKS_ARE_CLUSTERS = 0x5b,
    CTAIDZ_USED = 0x04
};

/* Names by number. Those up to 0x37 are from CuAssembler. The others are as ptxas 13.0 lists them,
 * at the numbers that its output for known PTX uses (0x3d, 0x45, 0x46, 0x4c, 0x50). */
static const char *const names[] = {
    "ERROR",
    "PAD",
    "IMAGE_SLOT",
    "JUMPTABLE_RELOCS",
    "CTAIDZ_USED",
    "MAX_THREADS",
    "IMAGE_OFFSET",
    "IMAGE_SIZE",
    "TEXTURE_NORMALIZED",
    "SAMPLER_INIT",
    "PARAM_CBANK",
    "SMEM_PARAM_OFFSETS",
    "CBANK_PARAM_OFFSETS",
    "SYNC_STACK",
    "TEXID_SAMPID_MAP",
    "EXTERNS",
    "REQNTID",
    "FRAME_SIZE",
    "MIN_STACK_SIZE",
    "SAMPLER_FORCE_UNNORMALIZED",
    "BINDLESS_IMAGE_OFFSETS",
    "BINDLESS_TEXTURE_BANK",
    "BINDLESS_SURFACE_BANK",
    "KPARAM_INFO",
    "SMEM_PARAM_SIZE",
    "CBANK_PARAM_SIZE",
    "QUERY_NUMATTRIB",
    "MAXREG_COUNT",
    "EXIT_INSTR_OFFSETS",
    "S2RCTAID_INSTR_OFFSETS",
    "CRS_STACK_SIZE",
    "NEED_CNP_WRAPPER",
    "NEED_CNP_PATCH",
    "EXPLICIT_CACHING",
    "ISTYPEP_USED",
    "MAX_STACK_SIZE",
    "SUQ_USED",
    "LD_CACHEMOD_INSTR_OFFSETS",
    "LOAD_CACHE_REQUEST",
    "ATOM_SYS_INSTR_OFFSETS",
    "COOP_GROUP_INSTR_OFFSETS",
    "COOP_GROUP_MASK_REGIDS",
    "SW1850030_WAR",
    "WMMA_USED",
    "HAS_PRE_V10_OBJECT",
    "ATOMF16_EMUL_INSTR_OFFSETS",
    "ATOM16_EMUL_INSTR_REG_MAP",
    "REGCOUNT",
    "SW2393858_WAR",
    "INT_WARP_WIDE_INSTR_OFFSETS",
    "SHARED_SCRATCH",
    "STATISTICS",
    "INDIRECT_BRANCH_TARGETS",
    "SW2861232_WAR",
    "SW_WAR",
    "CUDA_API_VERSION",
    "NUM_MBARRIERS",
    "MBARRIER_INSTR_OFFSETS",
    "COROUTINE_RESUME_OFFSETS",
    "SAM_REGION_STACK_SIZE",
    "PER_REG_TARGET_PERF_STATS",
    "CTA_PER_CLUSTER",
    "EXPLICIT_CLUSTER",
    "MAX_CLUSTER_RANK",
    "INSTR_REG_MAP",
    "RESERVED_SMEM_USED",
    "RESERVED_SMEM_0_SIZE",
    "UCODE_SECTION_DATA",
    "UNUSED_LOAD_BYTE_OFFSET",
    "KPARAM_INFO_V2",
    "SYSCALL_OFFSETS",
    "SW_WAR_MEMBAR_SYS_INSTR_OFFSETS",
    "GRAPHICS_GLOBAL_CBANK",
    "SHADER_TYPE",
    "VRC_CTA_INIT_COUNT",
    "TOOLS_PATCH_FUNC",
    "NUM_BARRIERS",
    "TEXMODE_INDEPENDENT",
    "PERF_STATISTICS",
    "AT_ENTRY_FRAGMENTS",
    "SPARSE_MMA_MASK",
};
enum { NAMES = sizeof names / sizeof names[0], MERCURY_ISA_VERSION = 0x5f };

const char *cubin_attribute_name(uint8_t number) {
    if (number == MERCURY_ISA_VERSION) return "MERCURY_ISA_VERSION";
    if (number == BLOCKS_ARE_CLUSTERS)
        return "BLOCKS_ARE_CLUSTERS"; /* ours; ptxas sets it for
                                         .blocksareclusters */
    return number < NAMES ? names[number] : NULL;
}

/* ---- A section's attributes as a list ---- */

typedef struct List {
    CubinAttribute *attributes;
    uint32_t count;
} List;

static bool read_list(CubinReader *reader, const CubinSection *section, List *list) {
    const unsigned char *at = section->bytes, *end = at + section->size;
    *list = (List){ARENA_ARRAY(reader->arena, CubinAttribute, section->size / 4 + 1), 0};
    while (end - at >= 4) {
        CubinAttribute *attribute = &list->attributes[list->count++];
        uint16_t value = cubin_read16(at + 2);
        *attribute = (CubinAttribute){.number = at[1], .value = value};
        if (at[0] < FORM_NONE || at[0] > FORM_BYTES)
            return cubin_damaged(reader->cubin, reader->diag, "%s has an attribute of form %u",
                                 section->name, at[0]);
        bool has_bytes = at[0] == FORM_BYTES;
        at += 4;
        if (!has_bytes) continue;
        if (value > end - at)
            return cubin_damaged(reader->cubin, reader->diag, "%s ends within an attribute",
                                 section->name);
        attribute->value = 0;
        attribute->bytes = at;
        attribute->size = value;
        at += value;
    }
    return true;
}

static uint32_t words_of(const CubinAttribute *attribute) { return attribute->size / 4u; }
static uint32_t word_of(const CubinAttribute *attribute, uint32_t i) {
    return cubin_read32(attribute->bytes + (size_t)i * 4);
}

/* ---- Attributes that set one field ---- */

typedef enum RowKind { ROW_VALUE, ROW_WORD, ROW_THREE, ROW_LIST, ROW_FLAG } RowKind;

typedef struct Row {
    uint8_t number;
    RowKind kind;
    size_t field; /* offset in CubinFunction */
} Row;

/* Of a section .nv.info.NAME. */
static const Row rows[] = {
    {CTAIDZ_USED, ROW_FLAG, offsetof(CubinFunction, uses_cta_z)},
    {MAX_THREADS, ROW_THREE, offsetof(CubinFunction, max_threads)},
    {EXTERNS, ROW_LIST, offsetof(CubinFunction, externs)},
    {REQNTID, ROW_THREE, offsetof(CubinFunction, required_threads)},
    {CBANK_PARAM_SIZE, ROW_VALUE, offsetof(CubinFunction, parameter_bytes)},
    {MAXREG_COUNT, ROW_VALUE, offsetof(CubinFunction, max_registers)},
    {EXIT_INSTR_OFFSETS, ROW_LIST, offsetof(CubinFunction, exits)},
    {CRS_STACK_SIZE, ROW_WORD, offsetof(CubinFunction, call_stack_bytes)},
    {COOP_GROUP_INSTR_OFFSETS, ROW_LIST, offsetof(CubinFunction, coop_groups)},
    {INT_WARP_WIDE_INSTR_OFFSETS, ROW_LIST, offsetof(CubinFunction, warp_wide)},
    {CUDA_API_VERSION, ROW_WORD, offsetof(CubinFunction, api_version)},
    {CTA_PER_CLUSTER, ROW_THREE, offsetof(CubinFunction, cluster)},
    {EXPLICIT_CLUSTER, ROW_FLAG, offsetof(CubinFunction, has_cluster)},
    {MAX_CLUSTER_RANK, ROW_WORD, offsetof(CubinFunction, max_cluster)},
    {BLOCKS_ARE_CLUSTERS, ROW_FLAG, offsetof(CubinFunction, counts_clusters)},
    {SYSCALL_OFFSETS, ROW_LIST, offsetof(CubinFunction, syscalls)},
    {NUM_BARRIERS, ROW_VALUE, offsetof(CubinFunction, barriers)},
};

/* Of .nv.info: two words, a symbol and a number. */
static const Row symbol_rows[] = {
    {FRAME_SIZE, ROW_WORD, offsetof(CubinFunction, frame_bytes)},
    {MIN_STACK_SIZE, ROW_WORD, offsetof(CubinFunction, stack_bytes)},
    {REGCOUNT, ROW_WORD, offsetof(CubinFunction, registers)},
};

static const Row *find_row(const Row *table, size_t count, uint8_t number) {
    for (size_t i = 0; i < count; i++) {
        if (table[i].number == number) return &table[i];
    }
    return NULL;
}

/* An attribute with too few bytes leaves the rest of the field 0. */
static void fill_field(const CubinAttribute *from, const Row *row, CubinFunction *function) {
    char *field = (char *)function + row->field;
    uint32_t words = words_of(from), value = words ? word_of(from, 0) : from->value;
    switch (row->kind) {
    case ROW_VALUE:
    case ROW_WORD: memcpy(field, &value, sizeof value); break;
    case ROW_THREE:
        for (uint32_t i = 0; i < 3 && i < words; i++)
            ((uint32_t *)(void *)field)[i] = word_of(from, i);
        break;
    case ROW_LIST: *(CubinWords *)(void *)field = (CubinWords){from->bytes, words}; break;
    case ROW_FLAG: *(bool *)field = true; break;
    }
}

/* ---- Parameters and branches ---- */

/* Words: 0, ordinal and offset, size. The size is in bits 18 and up, or, in the second version, the
 * whole word. */
static CubinParameter parameter_of(const CubinAttribute *from) {
    uint32_t place = word_of(from, 1), size = word_of(from, 2);
    return (CubinParameter){.ordinal = (uint16_t)place,
                            .offset = (uint16_t)(place >> 16),
                            .size = from->number == KPARAM_INFO ? size >> 18 : size};
}

static bool is_parameter(const CubinAttribute *from) {
    return (from->number == KPARAM_INFO || from->number == KPARAM_INFO_V2) && words_of(from) >= 3;
}

static int compare_ordinals(const void *a, const void *b) {
    const CubinParameter *x = a, *y = b;
    return x->ordinal < y->ordinal ? -1 : x->ordinal > y->ordinal;
}

static bool check_parameters(CubinReader *reader, const CubinFunction *function) {
    for (uint32_t i = 0; i < function->parameter_count; i++) {
        const CubinParameter *parameter = &function->parameters[i];
        if (parameter->ordinal != i || parameter->offset > function->parameter_bytes ||
            parameter->size > function->parameter_bytes - parameter->offset)
            return cubin_damaged(reader->cubin, reader->diag,
                                 "parameter %u of %s is not among the parameters", i,
                                 function->name);
    }
    return true;
}

static bool fill_parameters(CubinReader *reader, const List *list, CubinFunction *function) {
    CubinParameter *parameters = ARENA_ARRAY(reader->arena, CubinParameter, list->count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        const CubinAttribute *from = &list->attributes[i];
        if (is_parameter(from)) parameters[count++] = parameter_of(from);
        if (from->number != PARAM_CBANK || words_of(from) < 2) continue;
        uint32_t place = word_of(from, 1); /* word 0 is the symbol of the bank's section */
        function->parameter_offset = place & 0xffff;
        function->parameter_bytes = place >> 16;
    }
    if (count) qsort(parameters, count, sizeof *parameters, compare_ordinals);
    function->parameters = parameters;
    function->parameter_count = count;
    return check_parameters(reader, function);
}

/* Words of a branch: its offset, 0, the number of targets, the targets. */
static bool fill_branches(CubinReader *reader, const List *list, CubinFunction *function) {
    enum { HEADER = 3 };
    uint32_t most = 0, count = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->attributes[i].number == INDIRECT_BRANCH_TARGETS)
            most += words_of(&list->attributes[i]) / HEADER;
    }
    CubinBranch *branches = ARENA_ARRAY(reader->arena, CubinBranch, most + 1);
    for (uint32_t i = 0; i < list->count; i++) {
        const CubinAttribute *from = &list->attributes[i];
        uint32_t words = from->number == INDIRECT_BRANCH_TARGETS ? words_of(from) : 0;
        for (uint32_t at = 0; at + HEADER <= words;) {
            uint32_t targets = word_of(from, at + 2);
            if (targets > words - at - HEADER)
                return cubin_damaged(reader->cubin, reader->diag, "a branch of %s has %u targets",
                                     function->name, targets);
            CubinWords list_of = {from->bytes + (size_t)(at + HEADER) * 4, targets};
            branches[count++] = (CubinBranch){word_of(from, at), list_of};
            at += HEADER + targets;
        }
    }
    function->branches = branches;
    function->branch_count = count;
    return true;
}

/* ---- Sections ---- */

static bool fill_function(CubinReader *reader, const List *list, CubinFunction *function) {
    for (uint32_t i = 0; i < list->count; i++) {
        const Row *row = find_row(rows, sizeof rows / sizeof rows[0], list->attributes[i].number);
        if (row) fill_field(&list->attributes[i], row, function);
    }
    function->attributes = list->attributes;
    function->attribute_count = list->count;
    return fill_parameters(reader, list, function) && fill_branches(reader, list, function);
}

/* nvlink writes -1 as the stack of a kernel that calls functions in a circle. */
static void mark_open_stack(CubinFunction *function) {
    if (function->stack_bytes != UINT32_MAX) return;
    function->stack_bytes = 0;
    function->has_open_stack = true;
}

static void fill_by_symbol(CubinReader *reader, const List *list) {
    const Cubin *cubin = reader->cubin;
    CubinFunction **by_symbol = ARENA_ARRAY(reader->arena, CubinFunction *, cubin->symbol_count);
    for (uint32_t i = 0; i < cubin->function_count; i++)
        by_symbol[reader->functions[i].symbol] = &reader->functions[i];
    for (uint32_t i = 0; i < list->count; i++) {
        const CubinAttribute *from = &list->attributes[i];
        const Row *row =
            find_row(symbol_rows, sizeof symbol_rows / sizeof symbol_rows[0], from->number);
        uint32_t symbol = row && words_of(from) >= 2 ? word_of(from, 0) : UINT32_MAX;
        if (symbol >= cubin->symbol_count || !by_symbol[symbol]) continue;
        const CubinAttribute number = {.bytes = from->bytes + 4, .size = 4};
        fill_field(&number, row, by_symbol[symbol]);
        mark_open_stack(by_symbol[symbol]);
    }
    reader->cubin->attributes = list->attributes;
    reader->cubin->attribute_count = list->count;
}

/* The function that a section .nv.info.NAME describes: the first one in its code section. */
static CubinFunction *owner_of(CubinReader *reader, const CubinSection *section) {
    uint32_t low = 0, high = reader->cubin->function_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (reader->functions[middle].code_section < section->code) low = middle + 1;
        else high = middle;
    }
    bool is_there =
        low < reader->cubin->function_count && reader->functions[low].code_section == section->code;
    return is_there ? &reader->functions[low] : NULL;
}

/* Functions that follow a kernel in its section use its registers. */
static void share_registers(CubinReader *reader) {
    for (uint32_t i = 1; i < reader->cubin->function_count; i++) {
        CubinFunction *before = &reader->functions[i - 1], *function = &reader->functions[i];
        bool is_behind = before->code_section == function->code_section && !function->registers;
        if (is_behind) function->registers = before->registers;
    }
}

bool cubin_read_info(CubinReader *reader) {
    for (uint32_t i = 1; i < reader->cubin->section_count; i++) {
        const CubinSection *section = &reader->sections[i];
        bool is_shared = strcmp(section->name, ".nv.info") == 0;
        CubinFunction *function = section->code == CUBIN_NONE ? NULL : owner_of(reader, section);
        bool is_own = function && cubin_has_prefix(section->name, ".nv.info.");
        List list;
        if (!section->bytes || (!is_shared && !is_own)) continue;
        if (!read_list(reader, section, &list)) return false;
        if (is_shared) fill_by_symbol(reader, &list);
        else if (!fill_function(reader, &list, function)) return false;
    }
    share_registers(reader);
    return true;
}
