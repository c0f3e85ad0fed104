/* Queries of a B+ tree, one per CTA, one thread per key of a node: the thread whose key begins the
 * interval that holds the query's key names the child for all. A query's position and its next
 * position are 64-bit words in global memory. All threads read both again at each level. The first
 * thread copies one to the other between two barriers. */
#include "tyto_device.h"

enum { ORDER = 256 }; /* children of a node at most, and threads of a CTA */

/* The same layout as on the host, with the root first. Child i (in a leaf, record i) belongs to the
 * keys from keys[i] up to keys[i + 1]. The first key is smaller than all others, and unused keys
 * are larger. */
struct Node {
    int number;
    int children[ORDER + 1];
    int keys[ORDER + 1];
    bool is_leaf;
    int keys_used;
};

/* Whether `key` is in thread i's interval of `node`. */
static __device__ bool holds(const Node *node, int i, int key) {
    return node->keys[i] <= key && node->keys[i + 1] > key;
}

/* Finds the record of each key; results are unchanged if the tree does not have the key. */
extern "C" __global__ void bptree_key(long height, const Node *nodes, long node_count,
                                      const int *records, long *at, long *next, const int *keys,
                                      int *results) {
    int i = (int)threadIdx.x, query = (int)blockIdx.x;
    for (int level = 0; level < height; level++) {
        if (holds(&nodes[at[query]], i, keys[query])) {
            /* Not `at`: the two are equal here, but the load must be made. */
            int child = nodes[next[query]].children[i];
            if (child < node_count) next[query] = child;
        }
        __syncthreads();
        if (i == 0) at[query] = next[query];
        __syncthreads();
    }
    const Node *leaf = &nodes[at[query]];
    if (leaf->keys[i] == keys[query]) results[query] = records[leaf->children[i]];
}

/* Finds the record of the first key of each range, and the count of records up to its last key. The
 * tree has both keys. Records are in the order of their keys. */
extern "C" __global__ void bptree_range(long height, const Node *nodes, long node_count,
                                        long *first_at, long *first_next, long *last_at,
                                        long *last_next, const int *first_keys,
                                        const int *last_keys, int *starts, int *lengths) {
    int i = (int)threadIdx.x, query = (int)blockIdx.x;
    for (int level = 0; level < height; level++) {
        const Node *first = &nodes[first_at[query]];
        if (holds(first, i, first_keys[query]) && first->children[i] < node_count)
            first_next[query] = first->children[i];
        const Node *last = &nodes[last_at[query]];
        if (holds(last, i, last_keys[query]) && last->children[i] < node_count)
            last_next[query] = last->children[i];
        __syncthreads();
        if (i == 0) {
            first_at[query] = first_next[query];
            last_at[query] = last_next[query];
        }
        __syncthreads();
    }
    const Node *first = &nodes[first_at[query]];
    if (first->keys[i] == first_keys[query]) starts[query] = first->children[i];
    __syncthreads();
    const Node *last = &nodes[last_at[query]];
    if (last->keys[i] == last_keys[query]) lengths[query] = last->children[i] - starts[query] + 1;
}
