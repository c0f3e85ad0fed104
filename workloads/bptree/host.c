/* Queries for keys and for ranges of keys of a B+ tree that is built full from the bottom. Half of
 * the single keys are in the tree; a range's ends always are. */
#include "common/workload.h"

enum { KEYS = 256, SPACING = 2 }; /* of a node; between neighbouring keys */

enum { SINGLE, RANGES, RECORDS };

static const WorkloadInfo INFO = {
    .name = "bptree",
    .summary = "Finds keys and ranges of keys in a B+ tree, one query per CTA.",
    .parameters =
        {
            [SINGLE] = {"queries", "for one key", {20, 500, 10000}, 65535, 0},
            [RANGES] = {"ranges", "queries for a range of keys", {10, 300, 6000}, 65535, 0},
            [RECORDS] = {"records", "in the tree", {1000, 100000, 1000000}, 1u << 24, 0},
        },
};

/* As the kernel has it. */
typedef struct Node {
    int32_t children[KEYS]; /* nodes, or in a leaf records */
    int32_t keys[KEYS + 1]; /* the smallest below each child, then INT32_MAX */
} Node;

typedef struct Tree {
    Node *nodes;
    uint32_t count;  /* nodes; the last is the root */
    uint32_t levels; /* of nodes */
} Tree;

/* The key of record i. */
static int32_t key_of(uint32_t record) { return (int32_t)(record * SPACING); }

/* Appends a level above `children` nodes or records that are numbered from `first` on and have
 * `span` records below each; returns the count of new nodes. */
static uint32_t add_level(Tree *tree, uint32_t first, uint32_t children, uint32_t span) {
    for (uint32_t at = 0; at < children; at += KEYS) {
        Node *node = &tree->nodes[tree->count++];
        for (uint32_t i = 0; i <= KEYS; i++)
            node->keys[i] = i < KEYS && at + i < children ? key_of((at + i) * span) : INT32_MAX;
        for (uint32_t i = 0; i < KEYS && at + i < children; i++)
            node->children[i] = (int32_t)(first + at + i);
    }
    tree->levels++;
    return workload_divide_up(children, KEYS);
}

static Tree build_tree(Workload *workload, uint32_t records) {
    /* A leaf for each KEYS records, and at most as many nodes above them, and the root. */
    size_t most_nodes = 2 * (size_t)workload_divide_up(records, KEYS) + 1;
    Tree tree = {.nodes = workload_host_alloc(workload, most_nodes, sizeof(Node))};
    uint32_t width = add_level(&tree, 0, records, 1);
    for (uint32_t span = KEYS; width > 1; span *= KEYS)
        width = add_level(&tree, tree.count - width, width, span);
    return tree;
}

static CUdeviceptr upload_words(const int32_t *words, size_t count) {
    return workload_upload(words, count * sizeof *words);
}

/* Where each of `queries` starts: at the root. */
static CUdeviceptr upload_start(Workload *workload, const Tree *tree, uint32_t queries) {
    int32_t *at = workload_host_alloc(workload, queries, sizeof *at);
    for (uint32_t i = 0; i < queries; i++)
        at[i] = (int32_t)tree->count - 1;
    return upload_words(at, queries);
}

static bool find_keys(Workload *workload, const Tree *tree, CUdeviceptr nodes, uint32_t records) {
    uint32_t queries = workload->values[SINGLE];
    int32_t *values = (int32_t *)workload_random_words(workload, records, 1u << 31);
    int32_t *keys = (int32_t *)workload_random_words(workload, queries, SPACING * records);
    int32_t *expected = workload_host_alloc(workload, queries, sizeof *expected);
    int32_t *missing = workload_host_alloc(workload, queries, sizeof *missing);
    for (uint32_t i = 0; i < queries; i++) {
        missing[i] = -1;
        expected[i] = keys[i] % SPACING == 0 ? values[keys[i] / SPACING] : missing[i];
    }
    CUdeviceptr device_values = upload_words(values, records);
    CUdeviceptr device_keys = upload_words(keys, queries);
    CUdeviceptr at = upload_start(workload, tree, queries);
    CUdeviceptr results = upload_words(missing, queries);
    workload_launch(
        workload, "bptree_key", (WorkloadShape){queries, 1, KEYS, 1},
        (void *[]){&nodes, &device_values, &device_keys, (void *)&tree->levels, &at, &results});
    return workload_verify_words(workload, results, (uint32_t *)expected, queries);
}

static bool find_ranges(Workload *workload, const Tree *tree, CUdeviceptr nodes, uint32_t records) {
    uint32_t queries = workload->values[RANGES];
    uint32_t *starts = workload_random_words(workload, queries, records);
    uint32_t *lengths = workload_host_alloc(workload, queries, sizeof *lengths);
    int32_t *first_keys = workload_host_alloc(workload, queries, sizeof *first_keys);
    int32_t *last_keys = workload_host_alloc(workload, queries, sizeof *last_keys);
    for (uint32_t i = 0; i < queries; i++) {
        lengths[i] = 1 + workload_random(workload, records - starts[i]);
        first_keys[i] = key_of(starts[i]);
        last_keys[i] = key_of(starts[i] + lengths[i] - 1);
    }
    CUdeviceptr device_first_keys = upload_words(first_keys, queries);
    CUdeviceptr device_last_keys = upload_words(last_keys, queries);
    CUdeviceptr first_at = upload_start(workload, tree, queries);
    CUdeviceptr last_at = upload_start(workload, tree, queries);
    CUdeviceptr device_starts = workload_upload_zeros(queries * sizeof(int32_t));
    CUdeviceptr device_lengths = workload_upload_zeros(queries * sizeof(int32_t));
    workload_launch(workload, "bptree_range", (WorkloadShape){queries, 1, KEYS, 1},
                    (void *[]){&nodes, &device_first_keys, &device_last_keys, (void *)&tree->levels,
                               &first_at, &last_at, &device_starts, &device_lengths});
    return workload_verify_words(workload, device_starts, starts, queries) &&
           workload_verify_words(workload, device_lengths, lengths, queries);
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    uint32_t records = workload.values[RECORDS];
    Tree tree = build_tree(&workload, records);
    CUdeviceptr nodes = workload_upload(tree.nodes, tree.count * sizeof(Node));
    bool is_right = find_keys(&workload, &tree, nodes, records) &&
                    find_ranges(&workload, &tree, nodes, records);
    return workload_finish(&workload, is_right, "queries",
                           (size_t)workload.values[SINGLE] + workload.values[RANGES]);
}
