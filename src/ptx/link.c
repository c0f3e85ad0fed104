/* Joins modules: one definition for each name that modules share; everything else stays
 * separate. */
#include "ptx/analysis.h"

#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/demangle.h"
#include "base/map.h"

/* A shared name and its definition. */
typedef struct Symbol {
    PtxFunction *function; /* one of the two is set */
    PtxVar *var;
    PtxLinkage linkage;
    const PtxModule *module;
    int line;
} Symbol;

typedef struct Linker {
    PtxModule **modules;
    int count;
    Arena *arena;  /* of the first module */
    Map *symbols;  /* name -> Symbol */
    Map *builtins; /* name -> PtxFunction: the first declaration of each */
    Diag *diag;
    int errors;
} Linker;

static bool is_strong(PtxLinkage linkage) { return linkage != PTX_WEAK && linkage != PTX_COMMON; }

/* ---- Definitions ---- */

/* Adds a definition. Returns the name's earlier definition if that one is kept, otherwise NULL. */
static Symbol *define(Linker *linker, const char *name, const Symbol *symbol) {
    Symbol *there = map_get(linker->symbols, name, strlen(name));
    if (there && is_strong(there->linkage) && is_strong(symbol->linkage)) {
        Text shown = {0};
        demangle(name, &shown);
        diag_error(linker->diag, symbol->module->file, symbol->line, 0,
                   "'%s' is defined twice: first at %s:%d", text_string(&shown),
                   there->module->file, there->line);
        text_free(&shown);
        linker->errors++;
        return there;
    }
    bool is_better = there && !is_strong(there->linkage) && is_strong(symbol->linkage);
    if (there && !is_better) return there;
    Symbol *entry = ARENA_NEW(linker->arena, Symbol);
    *entry = *symbol;
    map_put(linker->symbols, name, strlen(name), entry);
    return NULL;
}

static bool is_shared_name(PtxLinkage linkage) {
    return linkage == PTX_VISIBLE || linkage == PTX_WEAK || linkage == PTX_COMMON;
}

static void define_all(Linker *linker, const PtxModule *module) {
    for (int i = 0; i < module->function_count; i++) {
        PtxFunction *f = module->functions[i];
        if (!f->is_defined || !is_shared_name(f->linkage)) continue;
        define(linker, f->name,
               &(Symbol){.function = f, .linkage = f->linkage, .module = module, .line = f->line});
    }
    for (int i = 0; i < module->var_count; i++) {
        PtxVar *v = module->vars[i];
        if (!is_shared_name(v->linkage)) continue;
        Symbol *there =
            define(linker, v->name,
                   &(Symbol){.var = v, .linkage = v->linkage, .module = module, .line = v->line});
        if (there && there->var && there->linkage == PTX_COMMON && v->size > there->var->size)
            there->var->size = v->size;
    }
}

/* ---- Declarations ---- */

static bool missing(Linker *linker, const PtxModule *module, const char *name, int line) {
    Text shown = {0};
    demangle(name, &shown);
    diag_error(linker->diag, module->file, line, 0,
               "'%s' is used but not defined: no module that is loaded has it",
               text_string(&shown));
    text_free(&shown);
    linker->errors++;
    return false;
}

/* Functions that the vendor's driver provides, and its libraries for kernels. */
static bool is_of_driver(const char *name) {
    static const char *const starts[] = {"cnp", "__cuda_syscall_", "__cudaCDP2", "cuda"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        if (strncmp(name, starts[i], strlen(starts[i])) == 0) return true;
    }
    return false;
}

/* The definition of a function that an instruction or initialiser names. */
static PtxFunction *resolve_function(Linker *linker, const PtxModule *module, PtxFunction *f) {
    if (!f || f->alias) return f ? f->alias : NULL;
    bool is_shared = !f->is_defined || is_shared_name(f->linkage);
    if (!f->is_defined && ptx_is_device_runtime(f->name)) is_shared = false;
    Symbol *symbol = is_shared ? map_get(linker->symbols, f->name, strlen(f->name)) : NULL;
    if (symbol && symbol->function) {
        f->alias = symbol->function;
    } else if (f->is_defined || is_of_driver(f->name)) {
        f->alias = f; /* of the driver: functions that call it are refused */
    } else if (ptx_is_builtin(f->name)) {
        PtxFunction *first = map_get(linker->builtins, f->name, strlen(f->name));
        if (!first) map_put(linker->builtins, f->name, strlen(f->name), first = f);
        f->alias = first;
    } else {
        missing(linker, module, f->name, f->line);
        f->alias = f;
    }
    return f->alias;
}

static PtxVar *resolve_var(Linker *linker, const PtxModule *module, PtxVar *v) {
    if (!v || v->owner || v->alias) return v && v->alias ? v->alias : v;
    bool is_dynamic = v->space == PTX_SPACE_SHARED && v->is_incomplete;
    bool is_shared = v->linkage != PTX_LINK_NONE && !is_dynamic;
    Symbol *symbol = is_shared ? map_get(linker->symbols, v->name, strlen(v->name)) : NULL;
    v->alias = symbol && symbol->var ? symbol->var : v;
    if (v->linkage == PTX_EXTERN && !is_dynamic && v->alias == v)
        missing(linker, module, v->name, v->line);
    return v->alias;
}

static void resolve_operands(Linker *linker, const PtxModule *module, PtxOperand *operands,
                             int count) {
    for (int i = 0; i < count; i++) {
        operands[i].function = resolve_function(linker, module, operands[i].function);
        operands[i].var = resolve_var(linker, module, operands[i].var);
        for (int j = 0; j < operands[i].count; j++) {
            PtxOperand *item = &operands[i].items[j];
            item->function = resolve_function(linker, module, item->function);
        }
    }
}

/* Resolves every name that the module uses, including which of several weak definitions is used. */
static void resolve_uses(Linker *linker, const PtxModule *module, int32_t loc_base) {
    for (int i = 0; i < module->function_count; i++) {
        PtxFunction *f = module->functions[i];
        if (f->is_defined) resolve_function(linker, module, f);
        for (int32_t k = 0; k < f->inst_count; k++) {
            PtxInst *inst = &f->insts[k];
            resolve_operands(linker, module, inst->operands, inst->operand_count);
            if (inst->loc) inst->loc += loc_base;
        }
    }
    for (int i = 0; i < module->var_count; i++) {
        PtxVar *v = module->vars[i];
        if (v->linkage != PTX_EXTERN) resolve_var(linker, module, v);
        for (uint32_t k = 0; k < v->init_count; k++) {
            v->inits[k].function = resolve_function(linker, module, v->inits[k].function);
            v->inits[k].var = resolve_var(linker, module, v->inits[k].var);
        }
    }
}

/* ---- Joining ---- */

/* Removes declarations that were resolved to something else; unused declarations remain. */
static void join_lists(Linker *linker) {
    PtxModule *first = linker->modules[0];
    int functions = 0, vars = 0, files = 0;
    int32_t locs = 0;
    for (int m = 0; m < linker->count; m++) {
        functions += linker->modules[m]->function_count;
        vars += linker->modules[m]->var_count;
        files += linker->modules[m]->source_file_count;
        locs += linker->modules[m]->loc_count;
    }
    PtxFunction **function_list = ARENA_ARRAY(linker->arena, PtxFunction *, functions);
    PtxVar **var_list = ARENA_ARRAY(linker->arena, PtxVar *, vars);
    const char **file_list = ARENA_ARRAY(linker->arena, const char *, files);
    PtxLoc *loc_list = ARENA_ARRAY(linker->arena, PtxLoc, locs);
    functions = vars = files = 0;
    locs = 0;
    for (int m = 0; m < linker->count; m++) {
        const PtxModule *module = linker->modules[m];
        for (int i = 0; i < module->function_count; i++) {
            PtxFunction *f = module->functions[i];
            if (f->alias && f->alias != f) continue;
            f->index = functions;
            function_list[functions++] = f;
        }
        for (int i = 0; i < module->var_count; i++) {
            PtxVar *v = module->vars[i];
            if (!v->alias || v->alias == v) var_list[vars++] = v;
        }
        const int32_t first_loc = locs;
        for (int32_t i = 0; i < module->loc_count; i++) {
            PtxLoc *loc = &loc_list[locs++];
            *loc = module->locs[i];
            loc->file += files;
            if (loc->inlined_at) loc->inlined_at += first_loc;
        }
        for (int i = 0; i < module->source_file_count; i++)
            file_list[files++] = module->source_files[i];
    }
    first->functions = function_list;
    first->function_count = functions;
    first->vars = var_list;
    first->var_count = vars;
    first->source_files = file_list;
    first->source_file_count = files;
    first->locs = loc_list;
    first->loc_count = locs;
}

/* Places local variables that are declared outside of functions. Every thread has its own copies,
 * which all functions that it calls share. */
static bool place_locals(PtxModule *module, Diag *diag) {
    enum { MAX_LOCAL_BYTES = 1 << 25 }; /* the local window (memory.h) */
    uint64_t top = 0;
    for (int i = 0; i < module->var_count; i++) {
        PtxVar *var = module->vars[i];
        if (var->space != PTX_SPACE_LOCAL) continue;
        var->address = bits_align_up(top, var->align);
        top = var->address + var->size;
        if (top <= MAX_LOCAL_BYTES) continue;
        diag_error(diag, module->file, var->line, var->column,
                   "more than %d bytes of .local variables outside of functions", MAX_LOCAL_BYTES);
        return false;
    }
    module->local_bytes = (uint32_t)top;
    return true;
}

bool ptx_link(PtxModule **modules, int count, Diag *diag) {
    Linker linker = {.modules = modules, .count = count, .arena = modules[0]->arena, .diag = diag};
    linker.symbols = map_new();
    linker.builtins = map_new();
    int32_t loc_base = 0;
    for (int m = 0; m < count; m++)
        define_all(&linker, modules[m]);
    for (int m = 0; m < count; m++) {
        resolve_uses(&linker, modules[m], loc_base);
        loc_base += modules[m]->loc_count;
    }
    map_free(linker.symbols);
    map_free(linker.builtins);
    if (linker.errors) return false;
    join_lists(&linker);
    return place_locals(modules[0], diag) && ptx_find_reach(modules[0], diag);
}
