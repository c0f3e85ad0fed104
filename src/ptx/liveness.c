/* Liveness analysis, one register at a time. It starts at the blocks that read the register before
 * they write it, and follows the control flow backward to blocks that write it. Memory grows only
 * with the number of operands and blocks, and a register that is used in one block costs almost
 * nothing. There are no bit sets of registers times blocks. Source of the idea: Appel, Modern
 * Compiler Implementation, section 19.6. */
#include "ptx/analysis.h"

#include <stdlib.h>
#include <string.h>

enum {                   /* Occurrence.flags */
       OCCURS_READ = 1,  /* the instruction reads the register */
       OCCURS_WRITE = 2, /* the instruction writes the register */
       OCCURS_KILL = 4,  /* it writes the register in every thread: it has no guard */
       OCCURS_LATE = 8   /* it may read after it has written: no destination may share the slot */
};

/* A register that occurs in an instruction. */
typedef struct Occurrence {
    int32_t reg;
    int32_t inst;
    uint8_t flags;
} Occurrence;

typedef struct Liveness {
    const PtxFunction *function;
    Occurrence *occurrences; /* in the order of instructions, reads before writes */
    int64_t count, capacity;
    int64_t *of_start; /* occurrences of register r: by_reg[of_start[r] .. of_start[r + 1]) */
    Occurrence *by_reg;
    int32_t *block_of; /* of each instruction */
    int32_t *in_start; /* predecessors of block b: in_list[in_start[b] .. in_start[b + 1]) */
    int32_t *in_list;
    /* By block: the last register that occurs there, is killed there, is live on entry, is live on
     * exit. */
    int32_t *occurs, *kills, *live_in, *live_out;
    int32_t *stack;  /* blocks at whose start the register is live, to be processed */
    int32_t *change; /* by instruction: change in the number of live 32-bit registers before it */
    PtxInterval *intervals;
    int64_t steps;
} Liveness;

/* ---- Occurrences ---- */

static void add(Liveness *l, int32_t reg, int32_t inst, int flags) {
    if (l->count == l->capacity) {
        l->capacity = l->capacity ? l->capacity * 2 : 1024;
        l->occurrences = base_realloc(l->occurrences, sizeof *l->occurrences * (size_t)l->capacity);
    }
    l->occurrences[l->count++] = (Occurrence){reg, inst, (uint8_t)flags};
}

static bool is_list(const PtxOperand *operand) {
    return operand->kind == PTX_OPERAND_VECTOR || operand->kind == PTX_OPERAND_PAIR;
}

/* The destinations of an instruction, as far as they matter for sharing slots with sources. */
typedef struct Destinations {
    int count;
    int bits; /* width, if there is only one */
} Destinations;

static void count_destinations(const PtxFunction *f, const PtxOperand *operand,
                               Destinations *found) {
    if (is_list(operand)) {
        for (int i = 0; i < operand->count; i++)
            count_destinations(f, &operand->items[i], found);
    } else if (operand->kind == PTX_OPERAND_REG) {
        found->count++;
        found->bits = ptx_type_bits(f->regs[operand->reg].type);
    }
}

static void add_reads(Liveness *l, const PtxOperand *operand, int32_t inst,
                      const Destinations *written) {
    if (is_list(operand)) {
        for (int i = 0; i < operand->count; i++)
            add_reads(l, &operand->items[i], inst, written);
        return;
    }
    bool is_read =
        (operand->kind == PTX_OPERAND_REG || operand->kind == PTX_OPERAND_MEM) && operand->reg >= 0;
    if (!is_read) return;
    int bits = ptx_type_bits(l->function->regs[operand->reg].type);
    bool is_late = written->count > 1 || (written->count == 1 && written->bits != bits);
    add(l, operand->reg, inst, OCCURS_READ | (is_late ? OCCURS_LATE : 0));
}

static void add_writes(Liveness *l, const PtxOperand *operand, int32_t inst, int kill) {
    if (is_list(operand)) {
        for (int i = 0; i < operand->count; i++)
            add_writes(l, &operand->items[i], inst, kill);
    } else if (operand->kind == PTX_OPERAND_REG) {
        add(l, operand->reg, inst, OCCURS_WRITE | kill);
    }
}

/* The registers that a .func returns are read where the function ends. */
static void add_returns(Liveness *l, int32_t index) {
    const PtxFunction *f = l->function;
    bool is_end = f->insts[index].op == PTX_OP_RET || index == f->inst_count - 1;
    for (int i = 0; is_end && i < f->return_count; i++) {
        const PtxVar *var = &f->returns[i];
        for (int k = 0; var->reg >= 0 && k < var->vector; k++)
            add(l, var->reg + k, index, OCCURS_READ | OCCURS_LATE);
    }
}

static void add_instruction(Liveness *l, int32_t index) {
    const PtxInst *inst = &l->function->insts[index];
    Destinations written = {0};
    int kill = inst->guard < 0 ? OCCURS_KILL : 0;
    int first_read = inst->has_destination ? 1 : 0;
    if (inst->has_destination) count_destinations(l->function, &inst->operands[0], &written);
    for (int i = 0; i < inst->call_return_count; i++)
        count_destinations(l->function, &inst->call_returns[i], &written);
    if (inst->guard >= 0) add(l, inst->guard, index, OCCURS_READ);
    for (int i = first_read; i < inst->operand_count; i++)
        add_reads(l, &inst->operands[i], index, &written);
    for (int i = 0; i < inst->call_argument_count; i++)
        add_reads(l, &inst->call_arguments[i], index, &written);
    add_returns(l, index);
    if (inst->has_destination) add_writes(l, &inst->operands[0], index, kill);
    for (int i = 0; i < inst->call_return_count; i++)
        add_writes(l, &inst->call_returns[i], index, kill);
}

/* Groups occurrences by register, keeping the order of instructions. */
static void group(Liveness *l) {
    int32_t regs = l->function->reg_count;
    l->of_start = base_calloc((size_t)regs + 2, sizeof *l->of_start);
    l->by_reg = base_malloc(sizeof *l->by_reg * (size_t)(l->count + 1));
    for (int64_t i = 0; i < l->count; i++)
        l->of_start[l->occurrences[i].reg + 2]++;
    for (int32_t r = 0; r <= regs; r++)
        l->of_start[r + 1] += l->of_start[r];
    for (int64_t i = 0; i < l->count; i++)
        l->by_reg[l->of_start[l->occurrences[i].reg + 1]++] = l->occurrences[i];
}

/* ---- The graph ---- */

static int32_t *stamps(int32_t count) {
    int32_t *array = base_malloc(sizeof *array * ((size_t)count + 1));
    memset(array, 0xFF, sizeof *array * ((size_t)count + 1));
    return array;
}

static void find_predecessors(Liveness *l) {
    const PtxFunction *f = l->function;
    l->in_start = base_calloc((size_t)f->block_count + 2, sizeof *l->in_start);
    for (int32_t b = 0; b < f->block_count; b++) {
        for (int i = 0; i < f->blocks[b].successor_count; i++)
            l->in_start[f->blocks[b].successors[i] + 1]++;
    }
    for (int32_t b = 0; b <= f->block_count; b++)
        l->in_start[b + 1] += l->in_start[b];
    l->in_list = stamps(l->in_start[f->block_count + 1]);
    int32_t *cursor = stamps(f->block_count + 1);
    memcpy(cursor, l->in_start, sizeof *cursor * ((size_t)f->block_count + 1));
    for (int32_t b = 0; b < f->block_count; b++) {
        for (int i = 0; i < f->blocks[b].successor_count; i++)
            l->in_list[cursor[f->blocks[b].successors[i]]++] = b;
    }
    free(cursor);
}

/* ---- One register ---- */

static void extend(PtxInterval *interval, int32_t from, int32_t to) {
    if (interval->start < 0 || from < interval->start) interval->start = from;
    if (to > interval->end) interval->end = to;
}

/* The register is live before each of the instructions first ... last. */
static void add_stretch(Liveness *l, int32_t reg, int32_t first, int32_t last) {
    int32_t weight = ptx_words(l->function->regs[reg].type);
    if (first > last) return;
    l->change[first] += weight;
    l->change[last + 1] -= weight;
}

static void enter_block(Liveness *l, int32_t reg, int32_t block, int32_t *depth) {
    if (l->live_in[block] == reg) return;
    l->live_in[block] = reg;
    l->stack[(*depth)++] = block;
}

/* Marks what happens first in each block: it reads the register (then it is live on entry), or
 * kills it. */
static void seed(Liveness *l, int32_t reg, int32_t *depth) {
    for (int64_t i = l->of_start[reg]; i < l->of_start[reg + 1]; i++) {
        const Occurrence *o = &l->by_reg[i];
        int32_t block = l->block_of[o->inst];
        l->occurs[block] = reg;
        if ((o->flags & OCCURS_READ) && l->kills[block] != reg) enter_block(l, reg, block, depth);
        if (o->flags & OCCURS_KILL) l->kills[block] = reg;
    }
}

/* Follows the register backward from the blocks on the stack. Completes blocks in which it does not
 * occur. */
static void flow_back(Liveness *l, int32_t reg, int32_t *depth) {
    while (*depth > 0) {
        int32_t block = l->stack[--*depth];
        l->steps += 1 + l->in_start[block + 1] - l->in_start[block];
        for (int32_t i = l->in_start[block]; i < l->in_start[block + 1]; i++) {
            int32_t before = l->in_list[i];
            l->live_out[before] = reg;
            if (l->kills[before] != reg) enter_block(l, reg, before, depth);
        }
        if (l->occurs[block] == reg) continue;
        const PtxBlock *b = &l->function->blocks[block];
        extend(&l->intervals[reg], 2 * b->first, 2 * b->last + 1);
        add_stretch(l, reg, b->first, b->last);
    }
}

/* The ranges inside one block, from its occurrences [from, to), in reverse order. */
static void scan_block(Liveness *l, int32_t reg, int32_t block, int64_t from, int64_t to) {
    const PtxBlock *b = &l->function->blocks[block];
    PtxInterval *interval = &l->intervals[reg];
    bool is_live = l->live_out[block] == reg;
    int32_t last = b->last;
    if (is_live) extend(interval, 2 * b->last + 1, 2 * b->last + 1);
    for (int64_t i = to - 1; i >= from; i--) {
        const Occurrence *o = &l->by_reg[i];
        if (o->flags & OCCURS_WRITE) extend(interval, 2 * o->inst + 1, 2 * o->inst + 1);
        if ((o->flags & OCCURS_KILL) && is_live) {
            add_stretch(l, reg, o->inst + 1, last);
            is_live = false;
        }
        if (!(o->flags & OCCURS_READ)) continue;
        int32_t position = 2 * o->inst + (o->flags & OCCURS_LATE ? 1 : 0);
        extend(interval, position, position);
        if (!is_live) last = o->inst;
        is_live = true;
    }
    if (!is_live) return;
    extend(interval, 2 * b->first, 2 * b->first);
    add_stretch(l, reg, b->first, last);
}

static void scan_register(Liveness *l, int32_t reg) {
    int32_t depth = 0;
    seed(l, reg, &depth);
    flow_back(l, reg, &depth);
    int64_t end = l->of_start[reg + 1];
    for (int64_t from = l->of_start[reg], to; from < end; from = to) {
        int32_t block = l->block_of[l->by_reg[from].inst];
        for (to = from; to < end && l->block_of[l->by_reg[to].inst] == block; to++) {
        }
        scan_block(l, reg, block, from, to);
        l->steps++;
    }
}

/* ---- The function ---- */

static void begin(Liveness *l, const PtxFunction *function) {
    int32_t blocks = function->block_count, insts = function->inst_count;
    *l = (Liveness){.function = function};
    for (int32_t i = 0; i < insts; i++)
        add_instruction(l, i);
    group(l);
    find_predecessors(l);
    l->occurs = stamps(blocks);
    l->kills = stamps(blocks);
    l->live_in = stamps(blocks);
    l->live_out = stamps(blocks);
    l->stack = stamps(blocks);
    l->block_of = stamps(insts);
    l->change = base_calloc((size_t)insts + 2, sizeof *l->change);
    l->intervals = base_malloc(sizeof *l->intervals * ((size_t)function->reg_count + 1));
    for (int32_t r = 0; r < function->reg_count; r++)
        l->intervals[r] = (PtxInterval){-1, -1};
    for (int32_t b = 0; b < blocks; b++) {
        for (int32_t i = function->blocks[b].first; i <= function->blocks[b].last; i++)
            l->block_of[i] = b;
    }
}

static void end(Liveness *l) {
    void *blocks[] = {l->occurrences, l->of_start, l->by_reg,  l->block_of, l->in_start, l->in_list,
                      l->occurs,      l->kills,    l->live_in, l->live_out, l->stack,    l->change};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        free(blocks[i]);
}

static int32_t highest_pressure(const Liveness *l) {
    int32_t live = 0, highest = 0;
    for (int32_t i = 0; i < l->function->inst_count; i++) {
        live += l->change[i];
        if (live > highest) highest = live;
    }
    return highest;
}

bool ptx_find_liveness(const PtxFunction *function, PtxLiveness *liveness, int64_t *budget) {
    Liveness l;
    begin(&l, function);
    for (int32_t r = 0; r < function->reg_count && l.steps <= *budget; r++)
        scan_register(&l, r);
    for (int i = 0; i < function->parameter_count; i++) { /* a call sets all parameters first */
        if (function->parameters[i].reg >= 0)
            extend(&l.intervals[function->parameters[i].reg], 0, 0);
    }
    *budget -= l.steps;
    *liveness = (PtxLiveness){l.intervals, highest_pressure(&l)};
    end(&l);
    if (*budget >= 0) return true;
    free(liveness->intervals);
    return false;
}
