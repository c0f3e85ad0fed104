/* Queries of a B+ tree, one per CTA, one thread per key of a node: the thread whose key begins the
 * interval that holds the query's key names the child for all. A query's position and its next
 * position are 64-bit words in global memory. All threads read both again at each level. The first
 * thread copies one to the other between two barriers. */
#include "tyto_device.h"

enum { ORDER = 256 }; /* children of a node at most, and threads of a CTA */

/* As the host lays it out, the root first. Child or, in a leaf, record i belongs to the keys from
 * keys[i] up to keys[i + 1]; the first key is smaller than any, the unused ones larger. */
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

/* The record of each key; results stay as they are where the tree lacks the key. */
extern "C" __global__ void bptree_key(long height, const Node *nodes, long node_count,
                                      const int *records, long *at, long *next, const int *keys,
                                      int *results) {
    int i = (int)threadIdx.x, query = (int)blockIdx.x;
    for (int level = 0; level < height; level++) {
        if (holds(&nodes[at[query]], i, keys[query])) {
            /* Not `at`: the two are equal here, but it takes a load to know. */
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

/* The record of the first key and the count of records up to the last key of each range, both of
 * which the tree holds. Records lie in the order of their keys. */
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
