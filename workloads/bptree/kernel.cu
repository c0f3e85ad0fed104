/* Queries of a B+ tree, one per CTA, one thread per key of a node: the thread whose key begins the
 * interval that holds the query's key names the child for all. Where the query stands is kept in
 * global memory. */
#include "tyto_device.h"

enum { KEYS = 256 };

/* As the host lays it out. Child or, in a leaf, record i belongs to the keys from keys[i] up to
 * keys[i + 1]; the unused keys at the end are larger than any. */
struct Node {
    int children[KEYS];
    int keys[KEYS + 1];
};

/* Puts the number of the leaf that may hold `key` into *at, which starts as the root's; all threads
 * of the CTA take part. */
static __device__ void descend(const Node *nodes, int levels, int key, int *at) {
    int i = (int)threadIdx.x;
    for (int level = 1; level < levels; level++) {
        const Node *node = &nodes[*at];
        int child = -1;
        if (node->keys[i] <= key && key < node->keys[i + 1]) child = node->children[i];
        __syncthreads();
        if (child >= 0) *at = child;
        __syncthreads();
    }
}

/* The record of each key; results start as -1, and stay so where the tree lacks the key. */
extern "C" __global__ void bptree_key(const Node *nodes, const int *records, const int *keys,
                                      int levels, int *at, int *results) {
    int query = (int)blockIdx.x, i = (int)threadIdx.x;
    descend(nodes, levels, keys[query], &at[query]);
    const Node *leaf = &nodes[at[query]];
    if (leaf->keys[i] == keys[query]) results[query] = records[leaf->children[i]];
}

/* The record of the first key and the count of records up to the last key of each range, both of
 * which the tree holds. Records lie in the order of their keys. */
extern "C" __global__ void bptree_range(const Node *nodes, const int *first_keys,
                                        const int *last_keys, int levels, int *first_at,
                                        int *last_at, int *starts, int *lengths) {
    int query = (int)blockIdx.x, i = (int)threadIdx.x;
    descend(nodes, levels, first_keys[query], &first_at[query]);
    descend(nodes, levels, last_keys[query], &last_at[query]);
    const Node *first = &nodes[first_at[query]], *last = &nodes[last_at[query]];
    if (first->keys[i] == first_keys[query]) starts[query] = first->children[i];
    __syncthreads();
    if (last->keys[i] == last_keys[query]) lengths[query] = last->children[i] - starts[query] + 1;
}
