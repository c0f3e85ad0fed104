/* Registers declared outside of functions. Every thread has one instance, which is visible in all
 * functions that it runs. They become hidden parameters and results of functions. Each function has
 * its own copy of the register; calls pass the value in and out. Source: PTX ISA 9.0, section
 * 5.1.1; ptxas also gives up the calling convention for them. */
#include "ptx/reader.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"

enum { MAX_PASSED = 4096 }; /* maximum number of such registers that are named; a GPU has 255 */

/* Limits on registers that are examined for calls, and on registers that are passed: a hundred
 * times what programs need. */
static const int64_t max_visits = INT64_C(100000000), max_operands = INT64_C(1) << 22;

/* The registers that a function needs: one bit for each register in Passing.models. */
typedef struct Need {
    PtxFunction *function;
    uint64_t *set;
} Need;

typedef struct Passing {
    Reader *reader;
    PtxModule *module;
    const PtxReg **models; /* a function's copy of each register */
    int32_t count;         /* of models */
    int64_t words;         /* 64-bit words of a set */
    Need *needs;           /* by PtxFunction.index */
    int64_t visits;
} Passing;

static bool has(const uint64_t *set, int32_t bit) { return set[bit / 64] >> bit % 64 & 1; }

/* ---- Registers that functions name ---- */

static int by_number(const void *a, const void *b) {
    const PtxReg *x = *(const PtxReg *const *)a, *y = *(const PtxReg *const *)b;
    return x->module_reg < y->module_reg ? -1 : x->module_reg > y->module_reg;
}

/* Collects the module's registers that functions name, without duplicates. */
static void collect(Passing *p) {
    int32_t capacity = 0;
    for (int f = 0; f < p->module->function_count; f++) {
        const PtxFunction *function = p->module->functions[f];
        for (int32_t r = 0; r < function->reg_count; r++) {
            if (!function->regs[r].module_reg) continue;
            p->models = reader_grow(p->models, p->count, &capacity, sizeof *p->models);
            p->models[p->count++] = &function->regs[r];
        }
    }
    if (p->count) qsort(p->models, (size_t)p->count, sizeof *p->models, by_number);
    int32_t kept = 0;
    for (int32_t i = 0; i < p->count; i++)
        if (i == 0 || p->models[i]->module_reg != p->models[kept - 1]->module_reg)
            p->models[kept++] = p->models[i];
    p->count = kept;
    p->words = (kept + 63) / 64;
}

static int32_t find(const Passing *p, int32_t module_reg) {
    int32_t low = 0, high = p->count - 1;
    while (low < high) {
        const int32_t middle = (low + high) / 2;
        if (p->models[middle]->module_reg < module_reg) low = middle + 1;
        else high = middle;
    }
    return low;
}

static void note_own(Passing *p, Need *need) {
    for (int32_t r = 0; r < need->function->reg_count; r++) {
        const int32_t module_reg = need->function->regs[r].module_reg;
        if (!module_reg) continue;
        const int32_t bit = find(p, module_reg);
        need->set[bit / 64] |= UINT64_C(1) << bit % 64;
    }
}

/* The registers that a call needs: the set of a callee in this module that can take parameters.
 * NULL: none. */
static const uint64_t *needed_by_call(const Passing *p, const PtxInst *inst) {
    if (inst->op != PTX_OP_CALL || inst->operands[0].kind != PTX_OPERAND_FUNC) return NULL;
    const PtxFunction *callee = inst->operands[0].function;
    return callee->is_defined && !callee->refusal ? p->needs[callee->index].set : NULL;
}

/* Adds the needs of callees to their callers until nothing changes. Returns false if that takes too
 * long. */
static bool spread(Passing *p) {
    for (bool is_changed = true; is_changed;) {
        is_changed = false;
        for (int f = 0; f < p->module->function_count; f++) {
            Need *need = &p->needs[f];
            for (int32_t i = 0; i < need->function->inst_count; i++) {
                const uint64_t *set = needed_by_call(p, &need->function->insts[i]);
                p->visits += set ? p->count : 0;
                for (int64_t w = 0; set && w < p->words; w++) {
                    is_changed |= (set[w] & ~need->set[w]) != 0;
                    need->set[w] |= set[w];
                }
            }
            p->visits += need->function->inst_count;
            if (p->visits > max_visits) return false;
        }
    }
    return true;
}

/* ---- Passing ---- */

/* Sets reg_of to the function's copy of each register that it needs; -1 for the others. */
static void make_registers(Passing *p, const Need *need, int32_t *reg_of) {
    PtxFunction *f = need->function;
    int32_t added = 0;
    for (int32_t r = 0; r < p->count; r++)
        reg_of[r] = -1;
    for (int32_t r = 0; r < f->reg_count; r++)
        if (f->regs[r].module_reg) reg_of[find(p, f->regs[r].module_reg)] = r;
    for (int32_t r = 0; r < p->count; r++)
        added += has(need->set, r) && reg_of[r] < 0;
    if (added == 0) return;
    PtxReg *regs = ARENA_ARRAY(p->reader->arena, PtxReg, f->reg_count + added);
    memcpy(regs, f->regs, sizeof *regs * (size_t)f->reg_count);
    for (int32_t r = 0; r < p->count; r++) {
        if (!has(need->set, r) || reg_of[r] >= 0) continue;
        reg_of[r] = f->reg_count;
        regs[f->reg_count] = *p->models[r];
        regs[f->reg_count].ordinal = f->reg_count;
        f->reg_count++;
    }
    f->regs = regs;
}

static uint16_t count_of(const Passing *p, const uint64_t *set) {
    int32_t count = 0;
    for (int32_t r = 0; r < p->count; r++)
        count += has(set, r);
    return (uint16_t)count;
}

/* Appends a hidden parameter or result to a list for each register of the set. */
static void add_parameters(Passing *p, const uint64_t *set, const int32_t *reg_of, PtxVar **vars,
                           uint16_t *count) {
    PtxVar *list = ARENA_ARRAY(p->reader->arena, PtxVar, *count + count_of(p, set));
    if (*count) memcpy(list, *vars, sizeof *list * *count);
    for (int32_t r = 0; r < p->count; r++) {
        if (!has(set, r)) continue;
        const PtxReg *model = p->models[r];
        list[(*count)++] = (PtxVar){.name = model->name,
                                    .type = model->type,
                                    .size = (uint64_t)ptx_type_bits(model->type) / 8,
                                    .align = 1,
                                    .is_parameter = true,
                                    .reg = reg_of[r],
                                    .vector = 1,
                                    .line = model->line};
    }
    *vars = list;
}

static void add_operands(Passing *p, const uint64_t *set, const int32_t *reg_of,
                         PtxOperand **operands, uint16_t *count, int column) {
    PtxOperand *list = ARENA_ARRAY(p->reader->arena, PtxOperand, *count + count_of(p, set));
    if (*count) memcpy(list, *operands, sizeof *list * *count);
    for (int32_t r = 0; r < p->count; r++)
        if (has(set, r))
            list[(*count)++] =
                (PtxOperand){.kind = PTX_OPERAND_REG, .reg = reg_of[r], .column = column};
    *operands = list;
}

static void pass_in_function(Passing *p, const Need *need, int32_t *reg_of) {
    PtxFunction *f = need->function;
    make_registers(p, need, reg_of);
    for (int32_t i = 0; i < f->inst_count; i++) {
        PtxInst *inst = &f->insts[i];
        const uint64_t *set = needed_by_call(p, inst);
        if (!set || count_of(p, set) == 0) continue;
        const int column = inst->operands[0].column;
        add_operands(p, set, reg_of, &inst->call_arguments, &inst->call_argument_count, column);
        add_operands(p, set, reg_of, &inst->call_returns, &inst->call_return_count, column);
    }
    if (f->is_kernel) return;
    add_parameters(p, need->set, reg_of, &f->parameters, &f->parameter_count);
    add_parameters(p, need->set, reg_of, &f->returns, &f->return_count);
}

/* Whether the calls pass more registers than any real program needs. Such a file was made to take
 * long. */
static bool is_too_much(const Passing *p) {
    int64_t operands = 0;
    for (int f = 0; f < p->module->function_count; f++) {
        const PtxFunction *function = p->needs[f].function;
        for (int32_t i = 0; i < function->inst_count; i++) {
            const uint64_t *set = needed_by_call(p, &function->insts[i]);
            operands += set ? count_of(p, set) : 0;
        }
    }
    return operands > max_operands;
}

/* ---- Functions that cannot pass registers ---- */

static bool calls_through_register(const PtxFunction *f, const PtxInst **call) {
    for (int32_t i = 0; i < f->inst_count; i++) {
        *call = &f->insts[i];
        if ((*call)->op == PTX_OP_CALL && (*call)->operands[0].kind != PTX_OPERAND_FUNC)
            return true;
    }
    return false;
}

/* Refuses functions that cannot pass registers. A call through a register may reach any function, a
 * parameter without a size must stay the last, and lists have a maximum length. */
static void refuse(Passing *p) {
    bool is_passed = false;
    for (int f = 0; f < p->module->function_count; f++)
        is_passed |= !p->needs[f].function->is_kernel && count_of(p, p->needs[f].set) > 0;
    for (int i = 0; i < p->module->function_count; i++) {
        PtxFunction *f = p->needs[i].function;
        const PtxInst *call = NULL;
        const bool is_indirect = is_passed && calls_through_register(f, &call);
        const bool is_full = ptx_has_rest(f->parameters, f->parameter_count) ||
                             f->parameter_count > READER_MAX_LIST - MAX_PASSED ||
                             f->return_count > READER_MAX_LIST - MAX_PASSED;
        if (!is_indirect && !(is_full && !f->is_kernel && count_of(p, p->needs[i].set) > 0))
            continue;
        p->reader->function = f;
        reader_refuse(
            p->reader, is_indirect ? call->line : f->line, is_indirect ? call->column : f->column,
            "not supported: %s in a module with registers outside of functions",
            is_indirect ? "a call through a register" : "a function of that many parameters");
        p->reader->function = NULL;
        f->inst_count = 0; /* it never runs */
    }
}

/* Whether two functions share one body: then a second pass over it would add everything again. */
static bool has_alias(const PtxModule *module) {
    Map *bodies = map_new();
    bool is_found = false;
    for (int f = 0; f < module->function_count && !is_found; f++) {
        const PtxInst *insts = module->functions[f]->insts;
        if (module->functions[f]->inst_count == 0) continue;
        is_found = map_get(bodies, (const char *)&insts, sizeof insts) != NULL;
        map_put(bodies, (const char *)&insts, sizeof insts, module->functions[f]);
    }
    map_free(bodies);
    return is_found;
}

static void pass(Passing *p) {
    PtxModule *module = p->module;
    uint64_t *sets = base_calloc((size_t)(p->words * module->function_count), sizeof *sets);
    int32_t *reg_of = base_malloc(sizeof *reg_of * (size_t)p->count);
    p->needs = base_calloc((size_t)module->function_count, sizeof *p->needs);
    for (int f = 0; f < module->function_count; f++) {
        module->functions[f]->index = f;
        p->needs[f] = (Need){module->functions[f], sets + p->words * f};
        note_own(p, &p->needs[f]);
    }
    if (!spread(p) || is_too_much(p)) {
        reader_error_at(p->reader, p->models[0]->line, 0,
                        "too many calls hand over registers outside of functions");
    } else {
        refuse(p);
        for (int f = 0; f < module->function_count; f++)
            if (!module->functions[f]->refusal && count_of(p, p->needs[f].set) > 0)
                pass_in_function(p, &p->needs[f], reg_of);
    }
    free(p->needs);
    free(reg_of);
    free(sets);
}

void module_registers_pass(Reader *reader) {
    Passing p = {.reader = reader, .module = reader->module};
    collect(&p);
    if (p.count > MAX_PASSED)
        reader_error_at(reader, p.models[0]->line, 0,
                        "not supported: more than %d registers outside of functions", MAX_PASSED);
    else if (p.count > 0 && has_alias(reader->module))
        reader_error_at(reader, p.models[0]->line, 0,
                        "not supported: registers outside of functions in a module with .alias");
    else if (p.count > 0) pass(&p);
    free(p.models);
}
