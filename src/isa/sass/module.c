/* The module of a cubin, as other parts of the simulator use it (see code.h). */
#include "isa/sass/code.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/exec/sass.h"

/* Supported here: those from the first to the last, and some later ones, which RUNS names too. */
enum { FIRST_ARCHITECTURE = 70, LAST_ARCHITECTURE = 90 };
static const uint32_t blackwell[] = {100, 103, 110, 120};
#define RUNS "sm_70 to sm_90, sm_100, sm_103, sm_110 and sm_120 run"
enum { MOST_PARAMETER_BYTES = 1 << 15 }; /* CUDA's limit, 32764 from sm_70 on */

/* Whether all parameters are inside the parameter area. */
static bool parameters_fit(const CubinFunction *function) {
    if (function->parameter_bytes > MOST_PARAMETER_BYTES ||
        function->parameter_offset > 2 * MOST_PARAMETER_BYTES)
        return false;
    for (uint32_t i = 0; i < function->parameter_count; ++i)
        if (function->parameters[i].size > function->parameter_bytes ||
            function->parameters[i].offset >
                function->parameter_bytes - function->parameters[i].size)
            return false;
    return true;
}

/* Creates a kernel's parameters as variables of the parameter space. */
static void add_parameters(PtxFunction *out, const CubinFunction *from, Arena *arena) {
    out->parameters = ARENA_ARRAY(arena, PtxVar, from->parameter_count + 1);
    out->parameter_count = (uint16_t)from->parameter_count;
    out->parameter_bytes = from->parameter_bytes;
    for (uint32_t i = 0; i < from->parameter_count; ++i) {
        const CubinParameter *parameter = &from->parameters[i];
        out->parameters[i] = (PtxVar){.name = arena_printf(arena, "parameter %u", i),
                                      .space = PTX_SPACE_PARAM,
                                      .type = PTX_B8,
                                      .align = 1,
                                      .size = parameter->size,
                                      .is_parameter = true,
                                      .reg = -1,
                                      .address = parameter->offset,
                                      .owner = out};
    }
}

static PtxFunction *function_of(const CubinFunction *from, int index, Arena *arena) {
    PtxFunction *out = ARENA_NEW(arena, PtxFunction);
    *out = (PtxFunction){.name = from->name,
                         .is_kernel = from->is_kernel,
                         .is_defined = true,
                         .linkage = PTX_VISIBLE,
                         .index = index,
                         .shared_bytes = from->shared_bytes,
                         .local_bytes = from->stack_bytes ? from->stack_bytes : from->local_bytes,
                         .registers = (int32_t)from->registers,
                         .uses_barrier = from->barriers != 0,
                         .line = 1,
                         .column = 1};
    memcpy(out->max_threads, from->max_threads, sizeof out->max_threads);
    memcpy(out->required_threads, from->required_threads, sizeof out->required_threads);
    memcpy(out->cluster, from->cluster, sizeof out->cluster);
    out->max_cluster = from->max_cluster;
    out->needs_cluster = from->has_cluster;
    out->counts_clusters = from->counts_clusters;
    add_parameters(out, from, arena);
    return out;
}

static bool is_variable(const Cubin *cubin, const CubinSymbol *symbol) {
    return symbol->kind == CUBIN_SYMBOL_OBJECT && symbol->section != CUBIN_NONE && symbol->size &&
           (symbol->space == CUBIN_SPACE_GLOBAL ||
            (symbol->space == CUBIN_SPACE_CONSTANT &&
             cubin->sections[symbol->section].code == CUBIN_NONE));
}

/* Copies the sections that hold data, because relocations change them. */
static void copy_data(PtxModule *module, const Cubin *cubin) {
    module->cubin_data = ARENA_ARRAY(module->arena, unsigned char *, cubin->section_count + 1);
    for (uint32_t s = 0; s < cubin->section_count; ++s) {
        const CubinSection *section = &cubin->sections[s];
        module->cubin_data[s] = NULL;
        if (!section->bytes || (section->space != CUBIN_SPACE_GLOBAL && section->bank <= 0))
            continue;
        module->cubin_data[s] = arena_alloc(module->arena, section->size + 1);
        memcpy(module->cubin_data[s], section->bytes, section->size);
    }
}

static PtxVar *variable_of(const PtxModule *module, const Cubin *cubin, const CubinSymbol *symbol) {
    PtxVar *var = ARENA_NEW(module->arena, PtxVar);
    const bool is_constant = symbol->space == CUBIN_SPACE_CONSTANT;
    *var = (PtxVar){.name = symbol->name,
                    .space = is_constant ? PTX_SPACE_CONST : PTX_SPACE_GLOBAL,
                    .type = PTX_B8,
                    .linkage = PTX_VISIBLE,
                    .align = (uint32_t)cubin->sections[symbol->section].alignment,
                    .size = symbol->size,
                    .reg = -1,
                    .line = 1,
                    .column = 1};
    const unsigned char *data = module->cubin_data[symbol->section];
    if (!data) return var;
    var->inits = ARENA_NEW(module->arena, PtxInit);
    var->init_count = 1;
    *var->inits = (PtxInit){.size = symbol->size, .bytes = data + symbol->offset, .byte = 255};
    return var;
}

/* Texture and surface references are variables of the driver: 8 bytes that hold a handle. */
static PtxVar *reference_of(const CubinSymbol *symbol, Arena *arena) {
    PtxVar *var = ARENA_NEW(arena, PtxVar);
    *var = (PtxVar){.name = symbol->name,
                    .space = PTX_SPACE_TEX,
                    .type = PTX_B64,
                    .opaque = symbol->kind == CUBIN_SYMBOL_TEXTURE ? PTX_OPAQUE_TEXTURE
                                                                   : PTX_OPAQUE_SURFACE,
                    .linkage = PTX_VISIBLE,
                    .align = 8,
                    .size = 8,
                    .reg = -1,
                    .line = 1,
                    .column = 1};
    return var;
}

bool isa_sass_runs(uint32_t architecture) {
    for (size_t i = 0; i < sizeof blackwell / sizeof blackwell[0]; ++i)
        if (architecture == blackwell[i]) return true;
    return architecture >= FIRST_ARCHITECTURE && architecture <= LAST_ARCHITECTURE;
}

const char *isa_sass_lacks(const void *bytes, size_t size, Arena *arena) {
    static const char prefix[] = "__cuda_syscall_";
    Diag *diag = diag_new();
    const Cubin *cubin = cubin_open(bytes, size, "", arena, diag);
    diag_free(diag);
    for (uint32_t i = 0; cubin && i < cubin->symbol_count; ++i) {
        const CubinSymbol *symbol = &cubin->symbols[i];
        const bool is_elsewhere = symbol->section == CUBIN_NONE && !symbol->is_weak;
        if (is_elsewhere && strncmp(symbol->name, prefix, sizeof prefix - 1) == 0)
            return symbol->name;
    }
    return NULL;
}

PtxModule *isa_sass_module(const void *bytes, size_t size, const char *name, Diag *diag) {
    Arena *arena = arena_new();
    void *copy = arena_alloc(arena, size); /* names and sections stay in it */
    memcpy(copy, bytes, size);
    const Cubin *cubin =
        cubin_open(copy, size, arena_strndup(arena, name, strlen(name)), arena, diag);
    if (!cubin) {
        arena_free(arena);
        return NULL;
    }
    if (!isa_sass_runs(cubin->architecture)) {
        diag_error(diag, name, 0, 0, "this is machine code for sm_%u; " RUNS, cubin->architecture);
        arena_free(arena);
        return NULL;
    }
    PtxModule *module = ARENA_NEW(arena, PtxModule);
    char *shown = arena_strdup(arena, cubin->name); /* the name in messages */
    text_show_controls(shown);
    *module = (PtxModule){.arena = arena,
                          .file = shown,
                          .version_major = 1,
                          .target = (int)cubin->architecture,
                          .address_bits = 64,
                          .cubin = cubin};
    for (uint32_t f = 0; f < cubin->function_count; ++f) {
        if (parameters_fit(&cubin->functions[f])) continue;
        diag_error(diag, name, 0, 0, "%s: its parameters do not lie in its parameter area",
                   cubin->functions[f].name);
        arena_free(arena);
        return NULL;
    }
    copy_data(module, cubin);
    module->functions = ARENA_ARRAY(arena, PtxFunction *, cubin->function_count + 1);
    module->function_count = (int)cubin->function_count;
    for (uint32_t f = 0; f < cubin->function_count; ++f)
        module->functions[f] = function_of(&cubin->functions[f], (int)f, arena);
    module->vars = ARENA_ARRAY(arena, PtxVar *, cubin->symbol_count + 1);
    for (uint32_t i = 0; i < cubin->symbol_count; ++i) {
        const CubinSymbol *symbol = &cubin->symbols[i];
        if (is_variable(cubin, symbol))
            module->vars[module->var_count++] = variable_of(module, cubin, symbol);
        else if (symbol->kind == CUBIN_SYMBOL_TEXTURE || symbol->kind == CUBIN_SYMBOL_SURFACE)
            module->vars[module->var_count++] = reference_of(symbol, arena);
    }
    return module;
}

void isa_say_code(const IsaProgram *program, char *text, size_t size) {
    static const char mark[] = ", V"; /* "ptxas, Cuda compilation tools, release 13.0, V13.0.88" */
    const SassCode *code = program->code;
    *text = '\0';
    if (!code) return;
    snprintf(text, size, "sm_%u", code->sm);
    const char *producer = code->cubin->producer;
    const char *number = producer ? strstr(producer, mark) : NULL;
    if (!number) return;
    const size_t length = strlen(text);
    snprintf(text + length, size - length, ", %.*s %s", (int)strcspn(producer, ", "), producer,
             number + strlen(mark));
}

bool isa_sass_names(const IsaProgram *program, const char *function) {
    const Cubin *cubin = program->code->cubin;
    for (uint32_t i = 0; i < cubin->symbol_count; ++i)
        if (strcmp(cubin->symbols[i].name, function) == 0) return true;
    return false;
}

uint64_t isa_sass_constant(const IsaProgram *program, uint64_t address) {
    const SassCode *code = program->code;
    const uint32_t offset = (uint32_t)address;
    for (uint32_t i = 0; i < code->part_count; ++i) {
        const SassBankPart *part = &code->parts[i];
        const bool is_there = offset >= part->offset && offset - part->offset < part->size;
        if (part->var && part->bank == ISA_CONSTANT_BANK && is_there)
            return part->var->address + (offset - part->offset);
    }
    return address;
}

const CubinLine *isa_sass_line(const IsaProgram *program, uint32_t pc) {
    const SassCode *code = program->code;
    const CubinLines *piece;
    if (pc >= program->inst_count) return NULL;
    return cubin_find_line(&code->lines, code->section_of[pc], code->offset_of[pc], &piece);
}

void isa_say_operation(const IsaProgram *program, uint32_t pc, Text *out) {
    enum { TEXT_BYTES = 160 };
    const SassCode *code = program->code;
    char text[TEXT_BYTES];
    if (pc >= program->inst_count) {
        text_add(out, "the end of the code");
        return;
    }
    sass_print(&code->insts[pc], code->offset_of[pc], text, sizeof text);
    text_printf(out, "/*%04x*/ %s", code->offset_of[pc], text);
}

void isa_say_machine(const IsaProgram *program, uint32_t pc, Text *out) {
    text_printf(out, "%s: ", program->module->file);
    isa_say_operation(program, pc, out);
    isa_say_source(program, pc, out);
}

void isa_say_source(const IsaProgram *program, uint32_t pc, Text *out) {
    const CubinLine *line = isa_sass_line(program, pc);
    if (!line || !*line->file) return;
    text_printf(out, ", source %s%s%s:%u", line->folder, *line->folder ? "/" : "", line->file,
                line->line);
}

void isa_sass_free(SassCode *code) {
    if (code) free(code->parts);
}
