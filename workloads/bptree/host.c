/* Queries for ranges of keys, then for single keys, of a B+ tree that grew by the insertion of
 * ascending keys, which leaves its nodes half full except the last of each level. Every requested
 * key is in the tree. Size `paper` is the run of Rodinia's script. Its commands ask for ranges of
 * 3,000 keys, but the program reads the count of ranges, 6,000, instead of this number. */
#include "common/workload.h"

enum { ORDER = 256, HALF = ORDER / 2 }; /* most children of a node, and children after a split */

enum { SINGLE, RANGES, RECORDS, LENGTH };

static const WorkloadInfo INFO = {
    .name = "bptree",
    .summary = "Finds ranges of keys and keys in a B+ tree, one query per CTA.",
    .parameters =
        {
            [SINGLE] = {"queries", "for one key", {20, 500, 10000}, 65535, 0},
            [RANGES] = {"ranges", "queries for a range of keys", {10, 300, 6000}, 65535, 0},
            [RECORDS] = {"records", "in the tree", {1000, 100000, 1000000}, 1u << 24, 0},
            [LENGTH] = {"length", "of a range", {30, 600, 6000}, 1u << 24, 0},
        },
};

/* The same layout as in the kernel. */
typedef struct Node {
    int32_t number;
    int32_t children[ORDER + 1]; /* nodes, or in a leaf records */
    int32_t
        keys[ORDER + 1]; /* the smallest key below each child except the first; then INT32_MAX */
    bool is_leaf;
    int32_t keys_used; /* including the first and the last one */
} Node;

typedef struct Tree {
    Node *nodes;     /* from the root down */
    uint32_t count;  /* nodes */
    uint32_t height; /* levels below the root */
} Tree;

static uint32_t at_least_one(uint32_t value) { return value > 0 ? value : 1; }

/* The number of leaves for `records`: a leaf of 255 is full, and the next record splits it in
 * halves. */
static uint32_t leaves_of(uint32_t records) { return at_least_one(records / HALF); }

/* The number of nodes for `children`: a node of 256 is full, and the next child splits it into 128
 * and 129. */
static uint32_t parents_of(uint32_t children) { return at_least_one((children - 1) / HALF); }

/* Writes a level of `width` nodes, numbered from `number` on, above `children` nodes or records
 * that are numbered from `first` on and have `span` keys below each. A record has its number as
 * key. In a leaf, child 0 is none. */
static void write_level(Tree *tree, uint32_t number, uint32_t width, uint32_t first,
                        uint32_t children, uint32_t span, bool is_leaf) {
    for (uint32_t n = 0; n < width; n++) {
        Node *node = &tree->nodes[number + n];
        uint32_t from = n * HALF, count = n < width - 1 ? HALF : children - from;
        *node = (Node){.number = (int32_t)(number + n), .is_leaf = is_leaf};
        node->keys[0] = INT32_MIN;
        uint32_t used = is_leaf ? 1 : 0;
        for (uint32_t i = 0; i < count; i++, used++) {
            node->children[used] = (int32_t)(first + from + i);
            if (used > 0) node->keys[used] = (int32_t)((from + i) * span);
        }
        node->keys_used = (int32_t)used + 1;
        for (; used <= ORDER; used++)
            node->keys[used] = INT32_MAX;
    }
}

/* A tree of the keys below `records`. */
static Tree build_tree(Workload *workload, uint32_t records) {
    enum { MOST_LEVELS = 5 }; /* levels of 2^24 records, with spare ones */
    uint32_t widths[MOST_LEVELS], levels = 0, count = 0;
    for (uint32_t width = leaves_of(records);; width = parents_of(width)) {
        widths[levels++] = width;
        count += width;
        if (width == 1) break;
    }
    Tree tree = {.nodes = workload_host_alloc(workload, count, sizeof(Node)),
                 .count = count,
                 .height = levels - 1};
    uint32_t number = count - widths[0], first = 0, children = records;
    for (uint32_t level = 0, span = 1; level < levels; level++) {
        write_level(&tree, number, widths[level], first, children, span, level == 0);
        first = number;
        children = widths[level];
        span *= HALF;
        number -= level + 1 < levels ? widths[level + 1] : 0;
    }
    return tree;
}

static CUdeviceptr upload_words(const int32_t *words, size_t count) {
    return workload_upload(words, count * sizeof *words);
}

static CUdeviceptr upload_nodes(const Tree *tree) {
    return workload_upload(tree->nodes, tree->count * sizeof *tree->nodes);
}

/* The start of each of `queries`: the root, which is node 0. */
static CUdeviceptr upload_start(uint32_t queries) {
    return workload_upload_zeros(queries * sizeof(int64_t));
}

static bool find_ranges(Workload *workload, const Tree *tree, uint32_t records) {
    uint32_t queries = workload->values[RANGES], length = workload->values[LENGTH];
    if (length > records - 1) length = records - 1;
    uint32_t *starts = workload_random_words(workload, queries, records);
    uint32_t *lengths = workload_host_alloc(workload, queries, sizeof *lengths);
    int32_t *last_keys = workload_host_alloc(workload, queries, sizeof *last_keys);
    for (uint32_t i = 0; i < queries; i++) {
        uint32_t last = starts[i] + length;
        if (last >= records) {
            starts[i] -= last - records;
            last = records - 1;
        }
        last_keys[i] = (int32_t)last;
        lengths[i] = last - starts[i] + 1;
    }
    CUdeviceptr nodes = upload_nodes(tree);
    CUdeviceptr first_at = upload_start(queries), first_next = upload_start(queries);
    CUdeviceptr last_at = upload_start(queries), last_next = upload_start(queries);
    CUdeviceptr device_first_keys = workload_upload(starts, queries * sizeof *starts);
    CUdeviceptr device_last_keys = upload_words(last_keys, queries);
    CUdeviceptr device_starts = workload_upload_zeros(queries * sizeof(int32_t));
    CUdeviceptr device_lengths = workload_upload_zeros(queries * sizeof(int32_t));
    int64_t height = tree->height, count = tree->count;
    workload_launch(workload, "bptree_range", (WorkloadShape){queries, 1, ORDER, 1},
                    (void *[]){&height, &nodes, &count, &first_at, &first_next, &last_at,
                               &last_next, &device_first_keys, &device_last_keys, &device_starts,
                               &device_lengths});
    return workload_verify_words(workload, device_starts, starts, queries) &&
           workload_verify_words(workload, device_lengths, lengths, queries);
}

static bool find_keys(Workload *workload, const Tree *tree, uint32_t records) {
    uint32_t queries = workload->values[SINGLE];
    int32_t *values = (int32_t *)workload_random_words(workload, records, 1u << 31);
    int32_t *keys = (int32_t *)workload_random_words(workload, queries, records);
    int32_t *expected = workload_host_alloc(workload, queries, sizeof *expected);
    int32_t *missing = workload_host_alloc(workload, queries, sizeof *missing);
    for (uint32_t i = 0; i < queries; i++) {
        missing[i] = -1;
        expected[i] = values[keys[i]];
    }
    CUdeviceptr device_values = upload_words(values, records);
    CUdeviceptr nodes = upload_nodes(tree);
    CUdeviceptr at = upload_start(queries), next = upload_start(queries);
    CUdeviceptr device_keys = upload_words(keys, queries);
    CUdeviceptr results = upload_words(missing, queries);
    int64_t height = tree->height, count = tree->count;
    workload_launch(
        workload, "bptree_key", (WorkloadShape){queries, 1, ORDER, 1},
        (void *[]){&height, &nodes, &count, &device_values, &at, &next, &device_keys, &results});
    return workload_verify_words(workload, results, (uint32_t *)expected, queries);
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    uint32_t records = workload.values[RECORDS];
    Tree tree = build_tree(&workload, records);
    bool is_right = find_ranges(&workload, &tree, records) && find_keys(&workload, &tree, records);
    return workload_finish(&workload, is_right, "queries",
                           (size_t)workload.values[SINGLE] + workload.values[RANGES]);
}
