/* Selects the exit through which the threads of a block are assumed to leave, if a function has
 * several exits.
 *
 * Threads that end early never reach the point where the others meet. So the meeting points of the
 * others are found on a graph in which each block has one exit: the best one that it can reach. A
 * ret (in a kernel also an exit) is better than an exit inside a function, and that is better than
 * a trap or a call that does not return. Among equal exits, the one that more blocks can reach is
 * better, then the later one in the text. It is not documented which meeting points compilers
 * choose for a warp in machine code; this choice is ours. */
#include "ptx/analysis.h"

#include <stdlib.h>

#include "base/bits.h"

enum {
    COUNTED_EXITS = 16, /* number of exits for which reaching blocks are counted; limits the time */
    NONE = -1
};

typedef struct Exit {
    int32_t block;
    int32_t rank;    /* 0 is best */
    int32_t reached; /* number of blocks that reach it; 0: not counted */
} Exit;

/* Predecessors of each block. */
typedef struct Edges {
    int32_t *start; /* predecessors of block b: list[start[b] .. start[b + 1]) */
    int32_t *list;
} Edges;

static Edges edges_back(const PtxFunction *function) {
    int32_t blocks = function->block_count;
    Edges edges = {.start = base_calloc((size_t)blocks + 3, sizeof *edges.start)};
    int32_t *next = edges.start + 1; /* entry b is start of b + 1 while the list is filled */
    for (int32_t b = 0; b < blocks; b++)
        for (int i = 0; i < function->blocks[b].successor_count; i++)
            edges.start[function->blocks[b].successors[i] + 2]++;
    for (int32_t b = 0; b <= blocks; b++)
        next[b + 1] += next[b];
    edges.list = base_malloc(sizeof *edges.list * ((size_t)next[blocks + 1] + 1));
    for (int32_t b = 0; b < blocks; b++)
        for (int i = 0; i < function->blocks[b].successor_count; i++)
            edges.list[next[function->blocks[b].successors[i]]++] = b;
    return edges;
}

static int32_t rank_of(const PtxFunction *function, const PtxBlock *block) {
    switch (function->insts[block->last].op) {
    case PTX_OP_EXIT: return function->is_kernel ? 0 : 1;
    case PTX_OP_TRAP:
    case PTX_OP_CALL: return 2; /* a call at a block's end does not return */
    default: return 0;
    }
}

static int by_worth(const void *a, const void *b) {
    const Exit *x = a, *y = b;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    if (x->reached != y->reached) return x->reached > y->reached ? -1 : 1;
    return x->block > y->block ? -1 : 1;
}

/* Sets `exit` in all blocks that have none yet and reach it through such blocks. Returns how
 * many. */
static int32_t spread(const Edges *edges, int32_t exit, int32_t *main_exit, int32_t *stack) {
    int32_t depth = 0, count = 0;
    if (main_exit[exit] != NONE) return 0;
    main_exit[exit] = exit;
    stack[depth++] = exit;
    while (depth > 0) {
        int32_t block = stack[--depth];
        count++;
        for (int32_t i = edges->start[block]; i < edges->start[block + 1]; i++) {
            if (main_exit[edges->list[i]] != NONE) continue;
            main_exit[edges->list[i]] = exit;
            stack[depth++] = edges->list[i];
        }
    }
    return count;
}

static void forget(const PtxFunction *function, int32_t *main_exit) {
    for (int32_t b = 0; b < function->block_count; b++)
        main_exit[b] = NONE;
}

void ptx_find_main_exits(const PtxFunction *function, int32_t *main_exit) {
    int32_t blocks = function->block_count;
    Edges edges = edges_back(function);
    const int32_t first = edges.start[blocks], count = edges.start[blocks + 1] - first;
    Exit *exits = base_calloc((size_t)count + 1, sizeof *exits);
    int32_t *stack = base_malloc(sizeof *stack * ((size_t)blocks + 1));
    for (int32_t i = 0; i < count; i++) {
        int32_t block = edges.list[first + i];
        exits[i] = (Exit){.block = block, .rank = rank_of(function, &function->blocks[block])};
    }
    qsort(exits, (size_t)count, sizeof *exits, by_worth);
    for (int32_t i = 0; count > 1 && i < count && i < COUNTED_EXITS; i++) {
        forget(function, main_exit);
        exits[i].reached = spread(&edges, exits[i].block, main_exit, stack);
    }
    qsort(exits, (size_t)count, sizeof *exits, by_worth);
    forget(function, main_exit);
    for (int32_t i = 0; i < count; i++)
        spread(&edges, exits[i].block, main_exit, stack);
    free(stack);
    free(exits);
    free(edges.start);
    free(edges.list);
}
