/* Layout of code and constants of a cubin (see layout.h). */
#include "isa/sass/layout.h"

#include <stdlib.h>
#include <string.h>

#include "isa/exec/texture_query.h"
#include "isa/sass/translate.h"

/* ---- Relocations ---- */

/* Whether the symbol stands for the bytes of an entry in the driver's table of textures, or in that
 * of surfaces, which are one table here. */
static bool is_entry_size(const char *name) {
    return strcmp(name, ".nv.unified.texrefDescSize") == 0 ||
           strcmp(name, ".nv.surfrefDescSize") == 0;
}

/* The addresses that relocations refer to. */
static bool resolve(void *context, const CubinSymbol *symbol, CubinReference what,
                    uint64_t *value) {
    IsaProgram *program = context;
    *value = 0;
    if (what == CUBIN_REFER_CONSTANT) {
        *value = symbol->offset;
        return true;
    }
    if (is_entry_size(symbol->name)) {
        program->code->asks_textures = true;
        *value = ISA_TEXTURE_ENTRY_BYTES;
        return true;
    }
    if (symbol->section == CUBIN_NONE) { /* a function of the system */
        const PtxBuiltin builtin = ptx_find_builtin(symbol->name);
        *value = builtin == PTX_BUILTIN_COUNT ? 0 : ISA_BUILTIN_ADDRESS + 16 * (uint64_t)builtin;
        return builtin != PTX_BUILTIN_COUNT || symbol->is_weak;
    }
    if (symbol->space == CUBIN_SPACE_CODE) {
        *value =
            (uint64_t)program->code->base_of[symbol->section] * SASS_INST_BYTES + symbol->offset;
        return true;
    }
    if (symbol->space == CUBIN_SPACE_SHARED) {
        *value = symbol->offset;
        return true;
    }
    const PtxVar *var = ptx_find_var(program->module, symbol->name);
    if (var) *value = var->address;
    return var != NULL;
}

/* ---- Code ---- */

static bool holds_code(const CubinSection *section) {
    return section->space == CUBIN_SPACE_CODE && section->bytes;
}

/* Decodes the section's instructions, from its first pc on. */
static bool decode_section(IsaProgram *program, uint16_t index, Diag *diag) {
    SassCode *code = program->code;
    const CubinSection *section = &code->cubin->sections[index];
    unsigned char *bytes = arena_alloc(program->arena, section->size + 1);
    memcpy(bytes, section->bytes, section->size);
    if (!cubin_relocate(code->cubin, index, bytes, resolve, program, diag)) return false;
    for (uint32_t i = 0; i < section->size / SASS_INST_BYTES; ++i) {
        const uint32_t pc = code->base_of[index] + i;
        uint64_t words[2];
        memcpy(words, bytes + (size_t)i * SASS_INST_BYTES, sizeof words);
        sass_decode(code->sm, words, &code->insts[pc]);
        code->section_of[pc] = index;
        code->offset_of[pc] = i * SASS_INST_BYTES;
    }
    return true;
}

bool layout_code(IsaProgram *program, Diag *diag) {
    SassCode *code = program->code;
    const Cubin *cubin = code->cubin;
    uint32_t count = 0;
    code->base_of = ARENA_ARRAY(program->arena, uint32_t, cubin->section_count);
    for (uint32_t s = 0; s < cubin->section_count; ++s) {
        if (!holds_code(&cubin->sections[s])) continue;
        code->base_of[s] = count;
        count += (uint32_t)(cubin->sections[s].size / SASS_INST_BYTES);
    }
    code->insts = ARENA_ARRAY(program->arena, SassInst, count + 1);
    code->section_of = ARENA_ARRAY(program->arena, uint16_t, count + 1);
    code->offset_of = ARENA_ARRAY(program->arena, uint32_t, count + 1);
    program->inst_count = count;
    for (uint32_t s = 0; s < cubin->section_count; ++s)
        if (holds_code(&cubin->sections[s]) && !decode_section(program, (uint16_t)s, diag))
            return false;
    return true;
}

/* ---- Contents of constant banks ---- */

enum { BANK_BYTES = 1 << 16 }; /* size of a constant bank, given by the width of its offsets */

/* Adds a part of a bank. Returns false after a message: the part is outside the bank. */
static bool add_part(IsaProgram *program, SassBankPart part, uint64_t offset, uint64_t size,
                     Diag *diag) {
    SassCode *code = program->code;
    if (offset > BANK_BYTES || size > BANK_BYTES - offset) {
        diag_error(diag, program->module->file, 0, 0,
                   "%llu bytes at byte %llu of constant bank %u, which has %d",
                   (unsigned long long)size, (unsigned long long)offset, part.bank, BANK_BYTES);
        return false;
    }
    part.offset = (uint32_t)offset;
    part.size = (uint32_t)size;
    code->parts = base_grow(code->parts, code->part_count, &code->part_capacity, sizeof part);
    code->parts[code->part_count++] = part;
    return true;
}

/* Texture and surface references of a kernel: words of bank 0 after its parameters. They have the
 * values of the variables. */
static bool collect_references(IsaProgram *program, uint32_t section, Diag *diag) {
    SassCode *code = program->code;
    const CubinSection *from = &code->cubin->sections[section];
    for (uint32_t i = 0; i < from->relocation_count; ++i) {
        const CubinRelocation *relocation = &from->relocations[i];
        const CubinReference refers = cubin_relocation_reference(relocation->kind);
        const char *name = code->cubin->symbols[relocation->symbol].name;
        for (uint32_t f = 0; f < code->cubin->function_count; ++f) {
            const CubinFunction *function = &code->cubin->functions[f];
            if (function->code_section != from->code || !function->is_kernel) continue;
            if (refers == CUBIN_REFER_SAMPLER)
                program->functions[f].refusal = arena_printf(
                    program->arena, "%s: not supported: the sampler %s apart from its texture",
                    function->name, name);
            const PtxVar *var = ptx_find_var(program->module, name);
            if (!var || (refers != CUBIN_REFER_TEXTURE && refers != CUBIN_REFER_SURFACE)) continue;
            const SassBankPart part = {
                .var = var, .size = sizeof(uint32_t), .function = (uint16_t)f};
            if (!add_part(program, part, relocation->offset, part.size, diag)) return false;
        }
    }
    return true;
}

/* A section of constants: for all functions, or for the kernels whose code it belongs to. */
static bool collect_section(IsaProgram *program, uint32_t index, Diag *diag) {
    const Cubin *cubin = program->code->cubin;
    const CubinSection *section = &cubin->sections[index];
    SassBankPart part = {.bytes = program->module->cubin_data[index],
                         .bank = (uint8_t)section->bank,
                         .function = SASS_EVERY_FUNCTION};
    if (!part.bytes) return true;
    if (section->code == CUBIN_NONE) return add_part(program, part, 0, section->size, diag);
    for (uint32_t f = 0; f < cubin->function_count; ++f) {
        const CubinFunction *function = &cubin->functions[f];
        if (function->code_section != section->code || !function->is_kernel) continue;
        part.function = (uint16_t)f;
        if (!add_part(program, part, 0, section->size, diag)) return false;
    }
    return true;
}

/* Variables in banks; their values are in device memory. */
static bool collect_variables(IsaProgram *program, Diag *diag) {
    const Cubin *cubin = program->code->cubin;
    for (uint32_t i = 0; i < cubin->symbol_count; ++i) {
        const CubinSymbol *symbol = &cubin->symbols[i];
        if (symbol->space != CUBIN_SPACE_CONSTANT || symbol->kind != CUBIN_SYMBOL_OBJECT ||
            symbol->section == CUBIN_NONE || cubin->sections[symbol->section].bank <= 0)
            continue;
        const PtxVar *var = ptx_find_var(program->module, symbol->name);
        if (!var) continue;
        const SassBankPart part = {.var = var,
                                   .bank = (uint8_t)cubin->sections[symbol->section].bank,
                                   .function = SASS_EVERY_FUNCTION};
        if (!add_part(program, part, symbol->offset, symbol->size, diag)) return false;
    }
    return true;
}

bool layout_constants(IsaProgram *program, Diag *diag) {
    const Cubin *cubin = program->code->cubin;
    for (uint32_t s = 0; s < cubin->section_count; ++s) {
        unsigned char *data = program->module->cubin_data[s];
        if (data && !cubin_relocate(cubin, (uint16_t)s, data, resolve, program, diag)) return false;
        const int bank = cubin->sections[s].bank;
        if (bank == 0 && !collect_references(program, s, diag)) return false;
        if (bank > 0 && !collect_section(program, s, diag)) return false;
    }
    return collect_variables(program, diag);
}

/* ---- Words that operands refer to ---- */

static int by_place(const void *a, const void *b) {
    const IsaBankRow *x = a, *y = b;
    if (x->bank != y->bank) return x->bank < y->bank ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* The rows collected so far. */
typedef struct Rows {
    IsaBankRow *items;
    uint32_t count, capacity;
} Rows;

static void add_row(Rows *rows, uint8_t bank, uint32_t offset) {
    rows->items = base_grow(rows->items, rows->count, &rows->capacity, sizeof *rows->items);
    rows->items[rows->count++] = (IsaBankRow){.bank = bank, .offset = offset};
}

/* Adds every word that the instruction's operands may read. */
static void add_rows_of(Rows *rows, const SassInst *inst) {
    const bool is_load =
        inst->op == SASS_OP_LDC || inst->op == SASS_OP_ULDC || inst->op == SASS_OP_LDCU;
    uint8_t bank;
    uint32_t offset;
    if (tr_bank_of_handle(inst, &bank, &offset)) add_row(rows, bank, offset);
    for (int i = 0; i < inst->operand_count; ++i) {
        const SassOperand *operand = &inst->operand[i];
        if (operand->kind != SASS_CONST || tr_is_indexed(operand)) continue;
        for (uint32_t word = 0; word < (is_load ? 4u : 2u); ++word)
            add_row(rows, operand->bank, (uint32_t)operand->value + 4 * word);
    }
}

void layout_bank_rows(IsaProgram *program) {
    Rows rows = {0};
    uint32_t kept = 0;
    for (uint32_t pc = 0; pc < program->inst_count; ++pc)
        add_rows_of(&rows, &program->code->insts[pc]);
    if (rows.count) qsort(rows.items, rows.count, sizeof *rows.items, by_place);
    for (uint32_t i = 0; i < rows.count; ++i)
        if (!kept || by_place(&rows.items[kept - 1], &rows.items[i]))
            rows.items[kept++] = rows.items[i];
    for (uint32_t i = 0; i < kept; ++i)
        rows.items[i].row = i * ISA_ROW_BYTES;
    program->bank_rows = rows.items;
    program->bank_row_count = kept;
}
