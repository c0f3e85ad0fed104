/* What a kernel can reach through calls: the shared variables and registers that it needs. */
#include "ptx/analysis.h"

#include <stdlib.h>
#include <string.h>

#include "base/bits.h"

enum { MAX_SHARED_BYTES = 1 << 24 /* per CTA: the shared window of generic addresses */ };

/* Alignment of the start of dynamic shared memory in bytes, as expected by programs that store
 * doubles or vectors in a byte array. */
enum { DYNAMIC_ALIGN = 16 };

/* Limit on the visits of functions, over all kernels; about a second. Real modules need some
 * thousand. */
static const int64_t max_visits = INT64_C(100000000);

/* An edge from a function to a function or variable. */
typedef struct Link {
    int32_t from, to;
} Link;

/* Links grouped by their start: list[start[i] .. start[i + 1]). */
typedef struct Links {
    Link *list;
    int64_t count, capacity;
    int64_t *start;
} Links;

typedef struct Reach {
    PtxModule *module;
    int32_t nodes;   /* functions, and one node for calls through registers */
    Links calls;     /* function -> function */
    Links uses;      /* function -> shared variable */
    Links users;     /* shared variable -> kernel */
    PtxVar **shared; /* the shared variables */
    int32_t shared_count;
} Reach;

static void add_link(Links *links, int32_t from, int32_t to) {
    if (links->count == links->capacity) {
        links->capacity = links->capacity ? links->capacity * 2 : 256;
        links->list = base_realloc(links->list, sizeof *links->list * (size_t)links->capacity);
    }
    links->list[links->count++] = (Link){from, to};
}

/* Groups the links by their start; links with the same start keep their order. */
static void group(Links *links, int32_t nodes) {
    Link *sorted = base_malloc(sizeof *sorted * (size_t)(links->count + 1));
    links->start = base_calloc((size_t)nodes + 2, sizeof *links->start);
    for (int64_t i = 0; i < links->count; i++)
        links->start[links->list[i].from + 2]++;
    for (int32_t n = 0; n < nodes; n++)
        links->start[n + 2] += links->start[n + 1];
    for (int64_t i = 0; i < links->count; i++)
        sorted[links->start[links->list[i].from + 1]++] = links->list[i];
    free(links->list);
    links->list = sorted;
}

static void free_links(Links *links) {
    free(links->list);
    free(links->start);
}

/* ---- Collecting ---- */

/* Numbers the shared variables. The number is stored in `address` until the addresses are set. */
static void number_shared(Reach *reach) {
    const PtxModule *m = reach->module;
    int64_t count = m->var_count;
    for (int i = 0; i < m->function_count; i++)
        count += m->functions[i]->local_count;
    reach->shared = base_malloc(sizeof *reach->shared * (size_t)(count + 1));
    for (int i = 0; i < m->var_count; i++) {
        if (m->vars[i]->space != PTX_SPACE_SHARED) continue;
        m->vars[i]->address = (uint64_t)reach->shared_count;
        reach->shared[reach->shared_count++] = m->vars[i];
    }
    for (int i = 0; i < m->function_count; i++) {
        const PtxFunction *f = m->functions[i];
        for (uint32_t k = 0; k < f->local_count; k++) {
            if (f->locals[k]->space != PTX_SPACE_SHARED || f->locals[k]->owner != f) continue;
            f->locals[k]->address = (uint64_t)reach->shared_count;
            reach->shared[reach->shared_count++] = f->locals[k];
        }
    }
}

static void collect_operand(Reach *reach, int32_t function, const PtxOperand *operand,
                            bool is_callee) {
    const PtxVar *var = operand->var;
    int32_t indirect = reach->nodes - 1;
    if (var && var->space == PTX_SPACE_SHARED)
        add_link(&reach->uses, function, (int32_t)var->address);
    if (operand->function)
        add_link(&reach->calls, is_callee ? function : indirect, operand->function->index);
    for (int i = 0; i < operand->count; i++)
        collect_operand(reach, function, &operand->items[i], false);
}

static void collect_function(Reach *reach, const PtxFunction *f) {
    for (int32_t i = 0; i < f->inst_count; i++) {
        const PtxInst *inst = &f->insts[i];
        bool is_call = inst->op == PTX_OP_CALL;
        for (int k = 0; k < inst->operand_count; k++)
            collect_operand(reach, f->index, &inst->operands[k], is_call);
        if (is_call && inst->operands[0].kind == PTX_OPERAND_REG)
            add_link(&reach->calls, f->index, reach->nodes - 1);
    }
}

static void collect(Reach *reach) {
    const PtxModule *m = reach->module;
    for (int i = 0; i < m->function_count; i++)
        collect_function(reach, m->functions[i]);
    for (int i = 0; i < m->var_count; i++) {
        for (uint32_t k = 0; k < m->vars[i]->init_count; k++) {
            const PtxFunction *f = m->vars[i]->inits[k].function;
            if (f) add_link(&reach->calls, reach->nodes - 1, f->index);
        }
    }
    group(&reach->calls, reach->nodes);
    group(&reach->uses, reach->nodes);
}

/* ---- Shared memory ---- */

/* Records `kernel` as a user of every shared variable that it reaches. */
static void visit_kernel(Reach *reach, int32_t kernel, int32_t *seen, int32_t *seen_var,
                         int32_t *stack, int64_t *visits) {
    int32_t depth = 0;
    stack[depth++] = kernel;
    seen[kernel] = kernel;
    while (depth > 0) {
        int32_t f = stack[--depth];
        *visits += 1 + reach->calls.start[f + 1] - reach->calls.start[f];
        for (int64_t i = reach->uses.start[f]; i < reach->uses.start[f + 1]; i++) {
            int32_t var = reach->uses.list[i].to;
            if (seen_var[var] == kernel) continue;
            seen_var[var] = kernel;
            add_link(&reach->users, var, kernel);
        }
        for (int64_t i = reach->calls.start[f]; i < reach->calls.start[f + 1]; i++) {
            int32_t callee = reach->calls.list[i].to;
            if (seen[callee] == kernel) continue;
            seen[callee] = kernel;
            stack[depth++] = callee;
        }
    }
}

static int32_t *stamps(int32_t count) {
    int32_t *array = base_malloc(sizeof *array * ((size_t)count + 1));
    memset(array, 0xFF, sizeof *array * ((size_t)count + 1));
    return array;
}

static bool find_users(Reach *reach) {
    const PtxModule *m = reach->module;
    int32_t *seen = stamps(reach->nodes), *stack = stamps(reach->nodes);
    int32_t *seen_var = stamps(reach->shared_count);
    int64_t visits = 0;
    for (int i = 0; i < m->function_count && visits <= max_visits; i++) {
        if (m->functions[i]->is_kernel && m->functions[i]->is_defined)
            visit_kernel(reach, i, seen, seen_var, stack, &visits);
    }
    free(seen);
    free(stack);
    free(seen_var);
    group(&reach->users, reach->shared_count);
    return visits <= max_visits;
}

/* Places each variable after everything that its kernels have so far, so that it has the same
 * address in all of them. */
static void place_shared(Reach *reach, uint64_t *ends) {
    for (int32_t v = 0; v < reach->shared_count; v++) {
        PtxVar *var = reach->shared[v];
        uint64_t address = 0;
        if (var->is_incomplete) continue;
        for (int64_t i = reach->users.start[v]; i < reach->users.start[v + 1]; i++) {
            uint64_t end = ends[reach->users.list[i].to];
            if (end > address) address = end;
        }
        var->address = bits_align_up(address, var->align);
        for (int64_t i = reach->users.start[v]; i < reach->users.start[v + 1]; i++)
            ends[reach->users.list[i].to] = var->address + var->size;
    }
    for (int32_t v = 0; v < reach->shared_count; v++) { /* dynamic variables come last */
        if (!reach->shared[v]->is_incomplete) continue;
        reach->shared[v]->address = 0;
        for (int64_t i = reach->users.start[v]; i < reach->users.start[v + 1]; i++) {
            uint64_t *end = &ends[reach->users.list[i].to];
            uint32_t align = reach->shared[v]->align;
            *end = bits_align_up(*end, align > DYNAMIC_ALIGN ? align : DYNAMIC_ALIGN);
        }
    }
}

static bool set_shared_bytes(const Reach *reach, const uint64_t *ends, Diag *diag) {
    bool fits = true;
    for (int i = 0; i < reach->module->function_count; i++) {
        PtxFunction *f = reach->module->functions[i];
        if (ends[i] > MAX_SHARED_BYTES) {
            diag_error(diag, reach->module->file, f->line, f->column,
                       "'%s' needs %llu bytes of shared memory; a thread block (CTA) can have at "
                       "most %d",
                       f->name, (unsigned long long)ends[i], MAX_SHARED_BYTES);
            fits = false;
        }
        f->shared_bytes = (uint32_t)ends[i];
    }
    return fits;
}

/* ---- Registers ---- */

typedef struct Need {
    int32_t function;
    int32_t registers;
} Need;

static int most_first(const void *a, const void *b) {
    const Need *x = a, *y = b;
    if (x->registers != y->registers) return x->registers > y->registers ? -1 : 1;
    return x->function < y->function ? -1 : 1;
}

/* Every function gets the largest need of the functions that it reaches. Needs are passed to
 * callers, largest first, so each function is set once. */
static void spread_registers(Reach *reach) {
    PtxModule *m = reach->module;
    int32_t count = m->function_count;
    Links callers = {0};
    Need *needs = base_malloc(sizeof *needs * ((size_t)count + 1));
    int32_t *stack = stamps(reach->nodes);
    bool *is_set = base_calloc((size_t)reach->nodes, sizeof *is_set);
    for (int64_t i = 0; i < reach->calls.count; i++)
        add_link(&callers, reach->calls.list[i].to, reach->calls.list[i].from);
    group(&callers, reach->nodes);
    for (int32_t i = 0; i < count; i++)
        needs[i] = (Need){i, m->functions[i]->registers};
    qsort(needs, (size_t)count, sizeof *needs, most_first);
    for (int32_t i = 0; i < count; i++) {
        int32_t depth = 0;
        if (is_set[needs[i].function]) continue;
        is_set[needs[i].function] = true;
        stack[depth++] = needs[i].function;
        while (depth > 0) {
            int32_t f = stack[--depth];
            if (f < count) m->functions[f]->registers = needs[i].registers;
            for (int64_t k = callers.start[f]; k < callers.start[f + 1]; k++) {
                int32_t caller = callers.list[k].to;
                if (is_set[caller]) continue;
                is_set[caller] = true;
                stack[depth++] = caller;
            }
        }
    }
    free_links(&callers);
    free(needs);
    free(stack);
    free(is_set);
}

/* The largest number of registers that a kernel may have: limited by .maxnreg, and by the number of
 * CTAs per SM that its launch bounds require. A register file has 64 K registers, 32 K before
 * sm_30; they are allocated in units of eight. Source: CUDA C++ Programming Guide, technical
 * specifications per compute capability. */
static int32_t register_bound(const PtxModule *module, const PtxFunction *f) {
    enum { MAX_REGISTERS = 255, MIN_REGISTERS = 16, GRANULE = 8 };
    uint64_t bound = MAX_REGISTERS, file = module->target < 30 ? 32768 : 65536;
    const uint32_t *block = f->required_threads[0] ? f->required_threads : f->max_threads;
    double threads = (double)block[0] * block[1] * block[2];
    if (threads >= 1 && threads <= 1024) {
        uint64_t resident = (uint64_t)threads * (f->min_ctas_per_sm ? f->min_ctas_per_sm : 1);
        uint64_t share = file / resident / GRANULE * GRANULE;
        if (share < bound) bound = share > MIN_REGISTERS ? share : MIN_REGISTERS;
    }
    if (f->max_registers && f->max_registers < bound) bound = f->max_registers;
    return (int32_t)bound;
}

/* A kernel with setmaxnreg starts with the largest number that it ever requests, if its bounds
 * allow it. setmaxnreg has no effect if the directives set no bound. ptxas 13.0 has the same
 * rules. */
static void set_first_registers(PtxFunction *f, int32_t bound) {
    enum { GRANULE = 8 };
    const bool has_block = f->required_threads[0] || f->max_threads[0];
    const bool is_bound = f->max_registers || (has_block && f->min_ctas_per_sm);
    if (!f->is_kernel || !is_bound) f->set_registers = 0;
    if (!f->set_registers) return;
    const int32_t most = bound / GRANULE * GRANULE, asked = (int32_t)f->set_registers;
    f->registers = asked < most ? asked : most;
}

static void bound_registers(PtxModule *module) {
    for (int i = 0; i < module->function_count; i++) {
        PtxFunction *function = module->functions[i];
        int32_t bound = register_bound(module, function);
        if (function->registers > bound) function->registers = bound;
        set_first_registers(function, bound);
    }
}

bool ptx_find_reach(PtxModule *module, Diag *diag) {
    Reach reach = {.module = module, .nodes = module->function_count + 1};
    number_shared(&reach);
    collect(&reach);
    bool is_done = find_users(&reach);
    if (is_done) {
        uint64_t *ends = base_calloc((size_t)module->function_count + 1, sizeof *ends);
        place_shared(&reach, ends);
        is_done = set_shared_bytes(&reach, ends, diag);
        free(ends);
        spread_registers(&reach);
        bound_registers(module);
    } else {
        diag_error(diag, module->file, 0, 0, "too many kernels that call too many functions");
    }
    free_links(&reach.calls);
    free_links(&reach.uses);
    free_links(&reach.users);
    free(reach.shared);
    return is_done;
}
