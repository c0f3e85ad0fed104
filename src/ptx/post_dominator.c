/* Immediate post-dominators: dominators of the reversed control flow graph, by the algorithm of
 * Lengauer and Tarjan (TOPLAS 1979) with path compression. No graph takes more than O(edges x log
 * blocks), and nothing is recursive.
 *
 * The search runs twice. If threads end early (a trap after an assertion, an exit on one of two
 * sides), the exit may be the only post-dominator of a branch, although all other threads meet
 * again. Such a branch gets the post-dominator of a graph in which threads only leave through one
 * exit (main_exit.c). */
#include "ptx/analysis.h"

#include <stdlib.h>
#include <string.h>

enum { NONE = -1 };

/* Blocks are numbered in depth-first order from the exit, which is 0. */
typedef struct Search {
    const PtxFunction *function;
    const int32_t *main_exit; /* per block: uses only edges between blocks with the same main exit;
                               * NULL: uses all edges */
    int32_t nodes;            /* number of blocks plus the exit */
    int32_t *in_start;        /* predecessors of node v: in_list[in_start[v] .. in_start[v + 1]) */
    int32_t *in_list;
    int32_t *order;    /* block of each number */
    int32_t *number;   /* of each block; NONE: not reached */
    int32_t *parent;   /* in the depth-first tree, by number */
    int32_t *semi;     /* semi-dominator, by number */
    int32_t *idom;     /* immediate dominator, by number */
    int32_t *ancestor; /* forest of the numbers that are already linked */
    int32_t *label;    /* number with the least semi on the path to the root of the forest */
    int32_t *bucket;   /* first of the numbers with this semi-dominator */
    int32_t *next;     /* next in the bucket */
    int32_t *stack;    /* for the walks */
    int32_t *cursor;   /* next predecessor to visit, by block */
    bool *is_extra;    /* blocks without a way to the exit that are treated as if they had an edge
                        * to it */
    int32_t reached;   /* how many numbers have been assigned */
} Search;

static int32_t *int_array(int32_t count) {
    int32_t *array = base_malloc(sizeof *array * ((size_t)count + 1));
    memset(array, 0xFF, sizeof *array * ((size_t)count + 1));
    return array;
}

/* Whether the edge belongs to the graph that is being searched. */
static bool has_edge(const Search *s, int32_t from, int32_t to) {
    if (!s->main_exit) return true;
    return to == s->function->block_count ? s->main_exit[from] == from
                                          : s->main_exit[from] == s->main_exit[to];
}

static void begin(Search *s, const PtxFunction *function, const int32_t *main_exit) {
    int32_t n = function->block_count + 1;
    *s = (Search){.function = function, .main_exit = main_exit, .nodes = n};
    int32_t **arrays[] = {&s->order,    &s->number, &s->parent, &s->semi,  &s->idom,  &s->label,
                          &s->ancestor, &s->bucket, &s->next,   &s->stack, &s->cursor};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        *arrays[i] = int_array(n);
    s->is_extra = base_calloc((size_t)n, sizeof *s->is_extra);
    s->in_start = base_calloc((size_t)n + 1, sizeof *s->in_start);
    for (int32_t b = 0; b < n - 1; b++) {
        const PtxBlock *block = &function->blocks[b];
        for (int i = 0; i < block->successor_count; i++)
            s->in_start[block->successors[i] + 1] += has_edge(s, b, block->successors[i]);
    }
    for (int32_t v = 0; v < n; v++)
        s->in_start[v + 1] += s->in_start[v];
    s->in_list = int_array(s->in_start[n]);
    for (int32_t v = 0; v < n; v++)
        s->cursor[v] = s->in_start[v];
    for (int32_t b = 0; b < n - 1; b++) {
        const PtxBlock *block = &function->blocks[b];
        for (int i = 0; i < block->successor_count; i++)
            if (has_edge(s, b, block->successors[i]))
                s->in_list[s->cursor[block->successors[i]]++] = b;
    }
    for (int32_t v = 0; v < n; v++)
        s->cursor[v] = s->in_start[v];
}

static void end(Search *s) {
    int32_t *arrays[] = {s->order,  s->number,   s->parent, s->semi, s->idom,
                         s->label,  s->ancestor, s->bucket, s->next, s->stack,
                         s->cursor, s->in_start, s->in_list};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    free(s->is_extra);
}

static void give_number(Search *s, int32_t block, int32_t parent) {
    int32_t number = s->reached++;
    s->number[block] = number;
    s->order[number] = block;
    s->parent[number] = parent;
    s->semi[number] = s->label[number] = number;
}

/* Numbers everything that reaches `block`, walking against the control flow. */
static void walk(Search *s, int32_t block, int32_t parent) {
    int32_t depth = 0;
    give_number(s, block, parent);
    s->stack[depth++] = block;
    while (depth > 0) {
        int32_t top = s->stack[depth - 1];
        if (s->cursor[top] == s->in_start[top + 1]) {
            depth--;
            continue;
        }
        int32_t before = s->in_list[s->cursor[top]++];
        if (s->number[before] != NONE) continue;
        give_number(s, before, s->number[top]);
        s->stack[depth++] = before;
    }
}

/* Numbers all blocks. The last block of an infinite loop gets an edge to the exit. */
static void walk_all(Search *s) {
    walk(s, s->nodes - 1, NONE);
    for (int32_t b = s->nodes - 2; b >= 0; b--) {
        if (s->number[b] != NONE) continue;
        s->is_extra[b] = true;
        walk(s, b, 0);
    }
}

/* Shortens the path from v to the root of its tree. */
static void compress(Search *s, int32_t v) {
    int32_t depth = 0;
    for (; s->ancestor[s->ancestor[v]] != NONE; v = s->ancestor[v])
        s->stack[depth++] = v;
    while (depth > 0) {
        int32_t w = s->stack[--depth], a = s->ancestor[w];
        if (s->semi[s->label[a]] < s->semi[s->label[w]]) s->label[w] = s->label[a];
        s->ancestor[w] = s->ancestor[a];
    }
}

static int32_t evaluate(Search *s, int32_t v) {
    if (s->ancestor[v] == NONE) return v;
    compress(s, v);
    return s->label[v];
}

static void lower_semi(Search *s, int32_t w, int32_t before) {
    int32_t u = evaluate(s, before);
    if (s->semi[u] < s->semi[w]) s->semi[w] = s->semi[u];
}

static void find_dominators(Search *s) {
    for (int32_t w = s->reached - 1; w > 0; w--) {
        int32_t block = s->order[w];
        const PtxBlock *b = &s->function->blocks[block];
        for (int i = 0; i < b->successor_count; i++)
            if (has_edge(s, block, b->successors[i])) lower_semi(s, w, s->number[b->successors[i]]);
        if (s->is_extra[block]) lower_semi(s, w, 0);
        s->next[w] = s->bucket[s->semi[w]];
        s->bucket[s->semi[w]] = w;
        int32_t p = s->parent[w];
        s->ancestor[w] = p;
        for (int32_t v = s->bucket[p], following; v != NONE; v = following) {
            following = s->next[v];
            int32_t u = evaluate(s, v);
            s->idom[v] = s->semi[u] < s->semi[v] ? u : p;
        }
        s->bucket[p] = NONE;
    }
    for (int32_t w = 1; w < s->reached; w++) {
        if (s->idom[w] != s->semi[w]) s->idom[w] = s->idom[s->idom[w]];
    }
}

/* Sets the instruction at which the lanes meet again after the branch that ends a block. */
static void set_reconvergence(PtxFunction *function, const PtxBlock *block, int32_t meets_at) {
    PtxInst *last = &function->insts[block->last];
    if (last->op != PTX_OP_BRA && last->op != PTX_OP_BRX) return;
    last->reconverge = meets_at == function->block_count ? -1 : function->blocks[meets_at].first;
}

static void search_all(Search *search, const PtxFunction *function, const int32_t *main_exit) {
    begin(search, function, main_exit);
    walk_all(search);
    find_dominators(search);
}

static int32_t found(const Search *search, int32_t block) {
    return search->order[search->idom[search->number[block]]];
}

/* For branches whose sides do not meet: finds where the threads meet that do not end early. */
static void find_late_joins(PtxFunction *function) {
    int32_t *main_exit = base_malloc(sizeof *main_exit * (size_t)function->block_count);
    ptx_find_main_exits(function, main_exit);
    Search search;
    search_all(&search, function, main_exit);
    for (int32_t b = 0; b < function->block_count; b++) {
        PtxBlock *block = &function->blocks[b];
        if (block->post_dominator == function->block_count && main_exit[b] >= 0)
            set_reconvergence(function, block, found(&search, b));
    }
    end(&search);
    free(main_exit);
}

void ptx_find_post_dominators(PtxFunction *function) {
    if (function->block_count == 0) return;
    Search search;
    bool has_late_joins = false;
    search_all(&search, function, NULL);
    for (int32_t b = 0; b < function->block_count; b++) {
        PtxBlock *block = &function->blocks[b];
        block->post_dominator = found(&search, b);
        set_reconvergence(function, block, block->post_dominator);
        bool is_lost = block->post_dominator == function->block_count;
        has_late_joins |= is_lost && block->successor_count > 1;
    }
    end(&search);
    if (has_late_joins) find_late_joins(function);
}
