/* The functions of a cubin: symbols of code, in file order. */
#include "sass/cubin_internal.h"

#include <stdlib.h>

enum {
    FIRST_WITH_SYSTEM_SHARED = 90, /* architecture */
    SYSTEM_SHARED_BYTES = 1024     /* of the system, at the start of .nv.shared.NAME */
};

/* Registers and barriers in the section headers of code, up to CUDA 12, and still up to sm_89. */
static uint32_t section_registers(const CubinSection *section) { return section->info >> 24; }
static uint32_t section_barriers(const CubinSection *section) {
    return (uint32_t)(section->flags >> 20) & 0x7f;
}

static void fill_function(const CubinReader *reader, uint32_t i, CubinFunction *function) {
    const CubinSymbol *symbol = &reader->symbols[i];
    const CubinSection *section = &reader->sections[symbol->section];
    *function = (CubinFunction){.name = symbol->name,
                                .code = section->bytes + symbol->offset,
                                .offset = symbol->offset,
                                .size = symbol->size,
                                .symbol = i,
                                .code_section = symbol->section,
                                .is_kernel = symbol->is_kernel,
                                .is_global = symbol->is_global,
                                .registers = section_registers(section),
                                .barriers = section_barriers(section),
                                .shared_alignment = 1};
}

static int compare_functions(const void *a, const void *b) {
    const CubinFunction *x = a, *y = b;
    if (x->code_section != y->code_section) return x->code_section < y->code_section ? -1 : 1;
    if (x->offset != y->offset) return x->offset < y->offset ? -1 : 1;
    if (x->size != y->size) return x->size > y->size ? -1 : 1;
    return x->symbol < y->symbol ? -1 : 1;
}

static bool is_defined_function(const CubinReader *reader, uint32_t i) {
    const CubinSymbol *symbol = &reader->symbols[i];
    return symbol->kind == CUBIN_SYMBOL_FUNCTION && symbol->section != CUBIN_NONE &&
           symbol->space == CUBIN_SPACE_CODE && reader->sections[symbol->section].bytes;
}

/* ---- Separate sections of a function ---- */

/* First function of each section of code. */
static CubinFunction **first_functions(CubinReader *reader) {
    CubinFunction **first =
        ARENA_ARRAY(reader->arena, CubinFunction *, reader->cubin->section_count);
    for (uint32_t i = reader->cubin->function_count; i-- > 0;)
        first[reader->functions[i].code_section] = &reader->functions[i];
    return first;
}

/* All functions in one section of code share its banks. */
static void add_bank(CubinFunction *first, const CubinFunction *end, int bank, uint16_t section) {
    for (CubinFunction *i = first; i < end && i->code_section == first->code_section; i++)
        i->constants[bank] = section;
}

static void add_section(CubinReader *reader, CubinFunction *function, uint16_t i) {
    const CubinSection *section = &reader->sections[i];
    if (section->bank >= 0)
        add_bank(function, reader->functions + reader->cubin->function_count, section->bank, i);
    if (section->space == CUBIN_SPACE_LOCAL) function->local_bytes = (uint32_t)section->size;
    if (section->space != CUBIN_SPACE_SHARED) return;
    const bool has_system = reader->cubin->architecture >= FIRST_WITH_SYSTEM_SHARED &&
                            section->size >= SYSTEM_SHARED_BYTES;
    function->system_shared_bytes = has_system ? SYSTEM_SHARED_BYTES : 0;
    function->shared_bytes = (uint32_t)section->size - function->system_shared_bytes;
    function->shared_alignment = (uint32_t)section->alignment;
}

static bool add_sections(CubinReader *reader) {
    CubinFunction **first = first_functions(reader);
    for (uint32_t i = 0; i < reader->cubin->function_count; i++)
        memcpy(reader->functions[i].constants, reader->cubin->constants,
               sizeof reader->cubin->constants);
    for (uint32_t i = 1; i < reader->cubin->section_count; i++) {
        const CubinSection *section = &reader->sections[i];
        if (section->code == CUBIN_NONE || !first[section->code]) continue;
        if ((section->space == CUBIN_SPACE_SHARED || section->space == CUBIN_SPACE_LOCAL) &&
            (section->size > UINT32_MAX || section->alignment > UINT32_MAX))
            return cubin_damaged(reader->cubin, reader->diag, "%s has an absurd size",
                                 section->name);
        add_section(reader, first[section->code], (uint16_t)i);
    }
    return true;
}

static void find_shared_banks(CubinReader *reader) {
    for (int bank = 0; bank < CUBIN_BANKS; bank++)
        reader->cubin->constants[bank] = CUBIN_NONE;
    for (uint32_t i = 1; i < reader->cubin->section_count; i++) {
        const CubinSection *section = &reader->sections[i];
        if (section->bank >= 0 && section->code == CUBIN_NONE)
            reader->cubin->constants[section->bank] = (uint16_t)i;
    }
}

bool cubin_read_functions(CubinReader *reader) {
    Cubin *cubin = reader->cubin;
    for (uint32_t i = 0; i < cubin->symbol_count; i++)
        cubin->function_count += is_defined_function(reader, i);
    reader->functions = ARENA_ARRAY(reader->arena, CubinFunction, cubin->function_count + 1);
    cubin->functions = reader->functions;
    uint32_t count = 0;
    for (uint32_t i = 0; i < cubin->symbol_count; i++) {
        if (is_defined_function(reader, i)) fill_function(reader, i, &reader->functions[count++]);
    }
    qsort(reader->functions, count, sizeof *reader->functions, compare_functions);
    find_shared_banks(reader);
    return add_sections(reader);
}
