/* The order in which a compiler issues a block's instructions. ptxas does not keep the order of the
 * PTX. It puts instructions with long waits first, so that loads overlap that are far apart in the
 * text. Its exact method is not published. This file uses the textbook's list scheduling (Cooper
 * and Torczon, Engineering a Compiler, section 12.3). Of the instructions whose sources are ready,
 * it takes the one with the longest path to the end of the block. Where that would keep more values
 * than there is room for, it takes the first of the text.
 *
 * These stay in order: accesses to one register, or to the carry; accesses to memory that may
 * overlap, if one of them writes; and everything around barriers, fences, atomics, calls, volatile
 * accesses, clocks and the end of the block. Results do not change. */
#include "ptx/analysis.h"

#include <stdlib.h>
#include <string.h>

enum { /* cycles between an instruction and a use of its result, as on current GPUs; only their
        * order matters */
       AFTER_MEMORY = 300,
       AFTER_SHARED = 25,
       AFTER_ROUTINE = 20, /* special functions, divisions, roots, shuffles */
       AFTER_OTHER = 4,
       AFTER_ORDER = 1 /* for an instruction that must only not come earlier */
};

/* Parts of memory. An address without a space may be in any of them. */
typedef enum Part { PART_GLOBAL, PART_SHARED, PART_LOCAL, PART_COUNT } Part;
enum { PARTS_ALL = (1 << PART_COUNT) - 1 };

typedef enum Kind { KIND_PLAIN, KIND_LOAD, KIND_STORE, KIND_WALL } Kind;

/* One instruction must come before another. */
typedef struct Edge {
    int32_t from, to;
    int32_t next_of_from, next_of_to; /* indices of further edges; -1: none */
    int32_t cycles;
    bool is_value; /* `to` reads what `from` writes */
} Edge;

/* An instruction of the sequence that is being ordered. */
typedef struct Node {
    int32_t out, in; /* first edge from it and to it; -1: none */
    int32_t before;  /* number of predecessors that have not been taken */
    int64_t height;  /* cycles to the end of the sequence */
    int32_t readers; /* number of readers of its results, in the sequence */
    int32_t left;    /* readers that have not been taken */
    int32_t words;   /* 32-bit words that it writes */
    bool is_done;
} Node;

/* The last writer of a register, and the instructions that have read it since. */
typedef struct Access {
    int32_t writer, reader; /* reader: index in `readers` */
    int32_t stretch;        /* the sequence that this refers to */
} Access;

/* An entry in a list of instructions that have read a register, or a part of memory. */
typedef struct Reader {
    int32_t node, next; /* next: index of the next entry; -1: none */
} Reader;

typedef struct Heap {
    int32_t *item;
    int32_t count;
} Heap;

typedef struct Order {
    PtxFunction *function;
    int32_t first, count; /* the sequence */
    int32_t stretch;      /* number of the sequence */
    int32_t most_live;    /* in words: the function's maximum, or PTX_EARLY_REGISTERS */
    int32_t *live;        /* words of live registers before each instruction */
    Node *nodes;
    Edge *edges;
    int32_t edge_count, edge_room;
    Reader *readers;
    int32_t reader_count, reader_room;
    Access *access;                 /* per register, and for the carry */
    int32_t last_store[PART_COUNT]; /* -1: none */
    int32_t loads[PART_COUNT];      /* loads since then: index of the first one in `readers` */
    Heap by_height, by_place;
    PtxInst *sorted;
} Order;

/* ---- Properties of instructions ---- */

static bool reads_clock(const PtxInst *inst) {
    for (int i = 0; i < inst->operand_count; i++) {
        if (inst->operands[i].kind != PTX_OPERAND_SREG) continue;
        switch (inst->operands[i].sreg) {
        case PTX_SREG_CLOCK:
        case PTX_SREG_CLOCK_HI:
        case PTX_SREG_CLOCK64:
        case PTX_SREG_GLOBALTIMER:
        case PTX_SREG_GLOBALTIMER_LO:
        case PTX_SREG_GLOBALTIMER_HI: return true;
        default: break;
        }
    }
    return false;
}

static bool names_memory(const PtxInst *inst) {
    for (int i = 0; i < inst->operand_count; i++)
        if (inst->operands[i].kind == PTX_OPERAND_MEM) return true;
    return false;
}

/* A kernel's parameters and constants; these are never written. */
static bool is_read_only(const PtxFunction *function, const PtxInst *inst) {
    if (inst->space == PTX_SPACE_CONST) return true;
    const PtxVar *var = inst->operands[inst->operand_count - 1].var;
    return inst->space == PTX_SPACE_PARAM && function->is_kernel && var && var->is_parameter;
}

static Kind kind_of(const PtxFunction *function, const PtxInst *inst) {
    if (inst->flags & (PTX_FLAG_VOLATILE | PTX_FLAG_STRONG) || reads_clock(inst)) return KIND_WALL;
    switch (inst->op) {
    case PTX_OP_LD:
    case PTX_OP_LDU:
        if (is_read_only(function, inst)) return KIND_PLAIN;
        return inst->space == PTX_SPACE_PARAM ? KIND_WALL : KIND_LOAD;
    case PTX_OP_LDMATRIX: return KIND_LOAD;
    case PTX_OP_ST: return inst->space == PTX_SPACE_PARAM ? KIND_WALL : KIND_STORE;
    case PTX_OP_STMATRIX: return KIND_STORE;
    case PTX_OP_WMMA:
        if (!names_memory(inst)) return KIND_PLAIN;
        return inst->has_destination ? KIND_LOAD : KIND_STORE;
    case PTX_OP_TEX:
    case PTX_OP_TLD4:
    case PTX_OP_TXQ:
    case PTX_OP_SUQ: return KIND_PLAIN;
    case PTX_OP_BRA:
    case PTX_OP_BRX:
    case PTX_OP_CALL:
    case PTX_OP_RET:
    case PTX_OP_EXIT:
    case PTX_OP_TRAP:
    case PTX_OP_BRKPT:
    case PTX_OP_BAR:
    case PTX_OP_CP:
    case PTX_OP_CLUSTER_BARRIER:
    case PTX_OP_GRIDDEPCONTROL:
    case PTX_OP_MBARRIER:
    case PTX_OP_WGMMA:
    case PTX_OP_SETMAXNREG:
    case PTX_OP_MEMBAR:
    case PTX_OP_FENCE:
    case PTX_OP_NANOSLEEP:
    case PTX_OP_PMEVENT:
    case PTX_OP_ALLOCA:
    case PTX_OP_STACKSAVE:
    case PTX_OP_STACKRESTORE: return KIND_WALL;
    default: return names_memory(inst) ? KIND_WALL : KIND_PLAIN;
    }
}

/* The parts of memory that an access may be in, one bit each. */
static uint32_t parts_of(const PtxInst *inst) {
    switch (inst->space) {
    case PTX_SPACE_GLOBAL: return 1u << PART_GLOBAL;
    case PTX_SPACE_SHARED: return 1u << PART_SHARED;
    case PTX_SPACE_LOCAL: return 1u << PART_LOCAL;
    default: return PARTS_ALL;
    }
}

static int32_t cycles_of(const PtxFunction *function, const PtxInst *inst) {
    switch (inst->op) {
    case PTX_OP_LD:
    case PTX_OP_LDU:
    case PTX_OP_WMMA:
    case PTX_OP_LDMATRIX:
        if (!names_memory(inst) || is_read_only(function, inst)) return AFTER_SHARED;
        return parts_of(inst) == 1u << PART_SHARED ? AFTER_SHARED : AFTER_MEMORY;
    case PTX_OP_TEX:
    case PTX_OP_TLD4: return AFTER_MEMORY;
    case PTX_OP_MMA: return AFTER_SHARED;
    case PTX_OP_RCP:
    case PTX_OP_RSQRT:
    case PTX_OP_SQRT:
    case PTX_OP_SIN:
    case PTX_OP_COS:
    case PTX_OP_EX2:
    case PTX_OP_LG2:
    case PTX_OP_TANH:
    case PTX_OP_DIV:
    case PTX_OP_REM:
    case PTX_OP_POPC:
    case PTX_OP_SHFL: return AFTER_ROUTINE;
    default: return AFTER_OTHER;
    }
}

/* ---- Ordering constraints ---- */

static void add_edge(Order *order, int32_t from, int32_t to, int32_t cycles, bool is_value) {
    if (from < 0 || from == to) return;
    if (order->edge_count == order->edge_room) {
        order->edge_room = order->edge_room ? 2 * order->edge_room : 1024;
        order->edges = base_realloc(order->edges, sizeof *order->edges * (size_t)order->edge_room);
    }
    Node *first = &order->nodes[from], *second = &order->nodes[to];
    order->edges[order->edge_count] = (Edge){.from = from,
                                             .to = to,
                                             .next_of_from = first->out,
                                             .next_of_to = second->in,
                                             .cycles = cycles,
                                             .is_value = is_value};
    first->out = second->in = order->edge_count++;
    first->readers += is_value;
    second->before++;
}

/* Adds an entry in front of the list that starts at `next`. */
static int32_t add_reader(Order *order, int32_t node, int32_t next) {
    if (order->reader_count == order->reader_room) {
        order->reader_room = order->reader_room ? 2 * order->reader_room : 1024;
        order->readers =
            base_realloc(order->readers, sizeof *order->readers * (size_t)order->reader_room);
    }
    order->readers[order->reader_count] = (Reader){node, next};
    return order->reader_count++;
}

static Access *access_of(Order *order, int32_t reg) {
    Access *access = &order->access[reg];
    if (access->stretch != order->stretch) *access = (Access){-1, -1, order->stretch};
    return access;
}

static void read_reg(Order *order, int32_t reg, int32_t node) {
    Access *access = access_of(order, reg);
    if (access->writer >= 0) {
        const PtxInst *writer = &order->function->insts[order->first + access->writer];
        add_edge(order, access->writer, node, cycles_of(order->function, writer), true);
    }
    access->reader = add_reader(order, node, access->reader);
}

static void write_reg(Order *order, int32_t reg, int32_t node) {
    Access *access = access_of(order, reg);
    for (int32_t r = access->reader; r >= 0; r = order->readers[r].next)
        add_edge(order, order->readers[r].node, node, AFTER_ORDER, false);
    add_edge(order, access->writer, node, AFTER_ORDER, false);
    *access = (Access){node, -1, order->stretch};
}

static void visit(Order *order, const PtxOperand *operand, int32_t node,
                  void (*each)(Order *order, int32_t reg, int32_t node)) {
    if (operand->kind == PTX_OPERAND_VECTOR || operand->kind == PTX_OPERAND_PAIR) {
        for (int i = 0; i < operand->count; i++)
            visit(order, &operand->items[i], node, each);
    } else if ((operand->kind == PTX_OPERAND_REG || operand->kind == PTX_OPERAND_MEM) &&
               operand->reg >= 0) {
        each(order, operand->reg, node);
    }
}

static void count_words(Order *order, int32_t reg, int32_t node) {
    order->nodes[node].words += ptx_words(order->function->regs[reg].type);
}

/* A guarded instruction also reads its destinations, because it may keep their values. */
static void order_registers(Order *order, const PtxInst *inst, int32_t node) {
    const int32_t carry = order->function->reg_count;
    bool takes_carry =
        inst->op == PTX_OP_ADDC || inst->op == PTX_OP_SUBC || inst->op == PTX_OP_MADC;
    if (inst->guard >= 0) read_reg(order, inst->guard, node);
    if (takes_carry) read_reg(order, carry, node);
    for (int i = inst->has_destination && inst->guard < 0; i < inst->operand_count; i++)
        visit(order, &inst->operands[i], node, read_reg);
    if (inst->flags & PTX_FLAG_CC) write_reg(order, carry, node);
    if (!inst->has_destination) return;
    visit(order, &inst->operands[0], node, write_reg);
    visit(order, &inst->operands[0], node, count_words);
}

/* A load comes after the last store to a part that it may be in. A store also comes after the loads
 * since that store; earlier loads come before that store. */
static void order_memory(Order *order, const PtxInst *inst, int32_t node) {
    const Kind kind = kind_of(order->function, inst);
    if (kind != KIND_LOAD && kind != KIND_STORE) return;
    const uint32_t parts = parts_of(inst);
    for (int part = 0; part < PART_COUNT; part++) {
        if (!(parts >> part & 1)) continue;
        add_edge(order, order->last_store[part], node, AFTER_ORDER, false);
        if (kind == KIND_LOAD) {
            order->loads[part] = add_reader(order, node, order->loads[part]);
            continue;
        }
        for (int32_t l = order->loads[part]; l >= 0; l = order->readers[l].next)
            add_edge(order, order->readers[l].node, node, AFTER_ORDER, false);
        order->last_store[part] = node;
        order->loads[part] = -1;
    }
}

static void find_order(Order *order) {
    order->stretch++;
    order->edge_count = order->reader_count = 0;
    for (int part = 0; part < PART_COUNT; part++)
        order->last_store[part] = order->loads[part] = -1;
    for (int32_t n = 0; n < order->count; n++)
        order->nodes[n] = (Node){.out = -1, .in = -1};
    for (int32_t n = 0; n < order->count; n++) {
        const PtxInst *inst = &order->function->insts[order->first + n];
        order_registers(order, inst, n);
        order_memory(order, inst, n);
    }
    for (int32_t n = order->count - 1; n >= 0; n--) {
        int64_t height = 0;
        for (int32_t e = order->nodes[n].out; e >= 0; e = order->edges[e].next_of_from) {
            int64_t way = order->edges[e].cycles + order->nodes[order->edges[e].to].height;
            if (way > height) height = way;
        }
        order->nodes[n].height = height;
    }
}

/* ---- Heaps of instructions that are ready ---- */

static bool is_higher(const Order *order, int32_t a, int32_t b) {
    int64_t ha = order->nodes[a].height, hb = order->nodes[b].height;
    return ha != hb ? ha > hb : a < b;
}

static bool is_earlier(const Order *order, int32_t a, int32_t b) {
    (void)order;
    return a < b;
}

typedef bool Comes(const Order *order, int32_t a, int32_t b);

static void swap(Heap *heap, int32_t a, int32_t b) {
    int32_t item = heap->item[a];
    heap->item[a] = heap->item[b];
    heap->item[b] = item;
}

static void push(const Order *order, Heap *heap, Comes *comes, int32_t node) {
    int32_t at = heap->count++;
    heap->item[at] = node;
    for (; at > 0 && comes(order, heap->item[at], heap->item[(at - 1) / 2]); at = (at - 1) / 2)
        swap(heap, at, (at - 1) / 2);
}

static void pop(const Order *order, Heap *heap, Comes *comes) {
    heap->item[0] = heap->item[--heap->count];
    for (int32_t at = 0;;) {
        int32_t best = at;
        for (int32_t child = 2 * at + 1; child <= 2 * at + 2 && child < heap->count; child++)
            if (comes(order, heap->item[child], heap->item[best])) best = child;
        if (best == at) return;
        swap(heap, at, best);
        at = best;
    }
}

/* The first instruction that was not taken through the other heap. */
static int32_t top(const Order *order, Heap *heap, Comes *comes) {
    while (order->nodes[heap->item[0]].is_done)
        pop(order, heap, comes);
    return heap->item[0];
}

/* ---- Ordering a sequence ---- */

/* Takes this instruction as the next one. Returns the number of words that then wait for
 * readers. */
static int32_t take(Order *order, int32_t n, int32_t waiting) {
    Node *node = &order->nodes[n];
    for (int32_t e = node->in; e >= 0; e = order->edges[e].next_of_to) {
        Node *source = &order->nodes[order->edges[e].from];
        if (order->edges[e].is_value && --source->left == 0) waiting -= source->words;
    }
    node->is_done = true;
    return node->readers ? waiting + node->words : waiting;
}

/* Resets the sequence: no instruction is taken. */
static void begin(Order *order) {
    for (int32_t n = 0; n < order->count; n++) {
        order->nodes[n].left = order->nodes[n].readers;
        order->nodes[n].is_done = false;
    }
}

/* Maximum number of waiting words in the order of the text. */
static int32_t most_waiting(Order *order) {
    int32_t waiting = 0, most = 0;
    begin(order);
    for (int32_t n = 0; n < order->count; n++) {
        waiting = take(order, n, waiting);
        if (waiting > most) most = waiting;
    }
    return most;
}

static void make_ready(Order *order, int32_t n) {
    push(order, &order->by_height, is_higher, n);
    push(order, &order->by_place, is_earlier, n);
}

static void sort_stretch(Order *order, int32_t first, int32_t count) {
    order->first = first;
    order->count = count;
    if (count < 3) return;
    find_order(order);
    int32_t most = most_waiting(order);
    if (most < order->most_live - order->live[first]) most = order->most_live - order->live[first];
    int32_t waiting = 0;
    begin(order);
    order->by_height.count = order->by_place.count = 0;
    for (int32_t n = 0; n < count; n++)
        if (order->nodes[n].before == 0) make_ready(order, n);
    for (int32_t place = 0; place < count; place++) {
        int32_t n = top(order, &order->by_height, is_higher);
        if (order->nodes[n].readers && waiting + order->nodes[n].words > most)
            n = top(order, &order->by_place, is_earlier);
        waiting = take(order, n, waiting);
        order->sorted[place] = order->function->insts[first + n];
        for (int32_t e = order->nodes[n].out; e >= 0; e = order->edges[e].next_of_from)
            if (--order->nodes[order->edges[e].to].before == 0)
                make_ready(order, order->edges[e].to);
    }
    memcpy(&order->function->insts[first], order->sorted, sizeof *order->sorted * (size_t)count);
}

/* Some instructions stay in place. The instructions between two of them are ordered as a
 * sequence. */
static void sort_block(Order *order, const PtxBlock *block) {
    int32_t first = block->first;
    for (int32_t i = block->first; i <= block->last; i++) {
        if (kind_of(order->function, &order->function->insts[i]) != KIND_WALL) continue;
        sort_stretch(order, first, i - first);
        first = i + 1;
    }
    sort_stretch(order, first, block->last + 1 - first);
}

/* Words of live registers before each instruction, and after the last one. */
static int32_t *find_live(const PtxFunction *function, const PtxInterval *intervals) {
    int32_t *live = base_calloc((size_t)function->inst_count + 2, sizeof *live);
    for (int32_t r = 0; r < function->reg_count; r++) {
        if (intervals[r].start < 0) continue;
        live[(intervals[r].start + 1) / 2] += ptx_words(function->regs[r].type);
        live[intervals[r].end / 2 + 1] -= ptx_words(function->regs[r].type);
    }
    for (int32_t i = 0; i < function->inst_count; i++)
        live[i + 1] += live[i];
    return live;
}

void ptx_order(PtxFunction *function, const PtxLiveness *liveness) {
    int32_t longest = 0;
    for (int32_t b = 0; b < function->block_count; b++) {
        int32_t count = function->blocks[b].last + 1 - function->blocks[b].first;
        if (count > longest) longest = count;
    }
    const size_t count = (size_t)longest + 1;
    const int32_t pressure = liveness->pressure;
    Order order = {.function = function,
                   .most_live = pressure > PTX_EARLY_REGISTERS ? pressure : PTX_EARLY_REGISTERS,
                   .live = find_live(function, liveness->intervals),
                   .nodes = base_calloc(count, sizeof *order.nodes),
                   .access = base_calloc((size_t)function->reg_count + 1, sizeof *order.access),
                   .by_height.item = base_calloc(count, sizeof(int32_t)),
                   .by_place.item = base_calloc(count, sizeof(int32_t)),
                   .sorted = base_calloc(count, sizeof *order.sorted)};
    for (int32_t b = 0; b < function->block_count; b++)
        sort_block(&order, &function->blocks[b]);
    free(order.live);
    free(order.nodes);
    free(order.edges);
    free(order.readers);
    free(order.access);
    free(order.by_height.item);
    free(order.by_place.item);
    free(order.sorted);
}
