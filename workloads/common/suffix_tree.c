/* Ukkonen's construction, Algorithmica 14(3), 1995: the text is read once, and the active point, an
 * edge below a node and a length along it, is where the shortest suffix not yet in the tree ends.
 */
#include "suffix_tree.h"

typedef struct Builder {
    SuffixNode *nodes;
    const uint8_t *text;
    uint32_t count;          /* nodes */
    uint32_t length;         /* of the text */
    uint32_t *starts, *ends; /* of the label on the edge to each node: positions in the text */
    uint32_t node;           /* the active point: a node, ... */
    uint32_t edge,
        along; /* ... the position of its edge's first base, and the length along the edge */
    uint32_t without_link; /* the newest internal node, until its link is known; 0: none */
} Builder;

static uint32_t add_node(Builder *b, uint32_t start, uint32_t end) {
    b->starts[b->count] = start;
    b->ends[b->count] = end;
    return b->count++;
}

static void give_link(Builder *b, uint32_t to) {
    if (b->without_link) b->nodes[b->without_link].link = to;
    b->without_link = 0;
}

/* Puts a new node in the middle of the edge to `child`, at the active point. */
static uint32_t split_edge(Builder *b, uint32_t child) {
    uint32_t middle = add_node(b, b->starts[child], b->starts[child] + b->along);
    b->nodes[b->node].children[b->text[b->edge]] = middle;
    b->starts[child] += b->along;
    b->nodes[middle].children[b->text[b->starts[child]]] = child;
    return middle;
}

/* Makes the base at `position` follow the active point; false if it already does. */
static bool extend(Builder *b, uint32_t position) {
    uint32_t base = b->text[position];
    for (;;) {
        if (b->along == 0) b->edge = position;
        uint32_t child = b->nodes[b->node].children[b->text[b->edge]];
        if (child == 0) {
            b->nodes[b->node].children[base] = add_node(b, position, b->length);
            give_link(b, b->node);
            return true;
        }
        uint32_t edge_length = b->ends[child] - b->starts[child];
        if (b->along >= edge_length) {
            b->edge += edge_length;
            b->along -= edge_length;
            b->node = child;
            continue;
        }
        if (b->text[b->starts[child] + b->along] == base) {
            b->along++;
            give_link(b, b->node);
            return false;
        }
        uint32_t middle = split_edge(b, child);
        b->nodes[middle].children[base] = add_node(b, position, b->length);
        give_link(b, middle);
        b->without_link = middle;
        return true;
    }
}

/* Converts labels of edges to paths; a node comes after its parent in the list `order`. */
static void fill_paths(Builder *b, uint32_t *order) {
    for (uint32_t head = 0, tail = 1; head < tail; head++) {
        const SuffixNode *parent = &b->nodes[order[head]];
        for (int base = 0; base < 4; base++) {
            uint32_t child = parent->children[base];
            if (child == 0) continue;
            b->nodes[child].first = b->starts[child] - parent->depth;
            bool is_leaf = b->ends[child] == b->length;
            b->nodes[child].depth =
                is_leaf ? UINT32_MAX : parent->depth + b->ends[child] - b->starts[child];
            if (!is_leaf) order[tail++] = child;
        }
    }
}

SuffixNode *suffix_tree_build(Workload *workload, const uint8_t *text, uint32_t length,
                              uint32_t *count) {
    size_t most = 2 * (size_t)length + 1;
    Builder b = {.text = text, .length = length, .count = 1};
    b.nodes = workload_host_alloc(workload, most, sizeof *b.nodes);
    b.starts = workload_host_alloc(workload, most, sizeof *b.starts);
    b.ends = workload_host_alloc(workload, most, sizeof *b.ends);
    uint32_t left = 0; /* suffixes that are not in the tree yet */
    for (uint32_t position = 0; position < length; position++) {
        left++;
        while (left > 0 && extend(&b, position)) {
            left--;
            if (b.node != 0) {
                b.node = b.nodes[b.node].link;
            } else if (b.along > 0) {
                b.along--;
                b.edge = position - left + 1;
            }
        }
        b.without_link = 0;
    }
    fill_paths(&b, workload_host_alloc(workload, most, sizeof(uint32_t)));
    *count = b.count;
    return b.nodes;
}
