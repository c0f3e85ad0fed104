/* Connected components of an undirected graph in CSR form, one node per thread. A node's label is
 * at most its number and leads to another node of its component; labels are thus trees. An edge
 * links two trees at their roots, and compression makes each label lead to the root. Threads read
 * labels that others write, hence the relaxed atomics. The result does not depend on their order:
 * the root of a linked component is its smallest node. */
#include "tyto_device.h"

static __device__ unsigned load(const unsigned *label) {
    return __atomic_load_n(label, __ATOMIC_RELAXED);
}

/* Links the trees of two nodes: the greater root becomes a child of a node of the other tree. It
 * climbs from the greater of two nodes, so that labels fall along each path. */
static __device__ void link(unsigned *labels, unsigned node, unsigned neighbour) {
    unsigned low = load(&labels[node]), high = load(&labels[neighbour]);
    while (low != high) {
        if (low > high) {
            unsigned greater = low;
            low = high;
            high = greater;
        }
        unsigned parent = load(&labels[high]);
        if (parent == high) parent = atomicCAS(&labels[high], high, low);
        if (parent == high) return;
        high = parent;
    }
}

/* Links each node with its neighbour of index `index`, if it has this many. */
extern "C" __global__ void components_link(const unsigned *__restrict__ row_offsets,
                                           const unsigned *__restrict__ neighbours,
                                           unsigned *labels, unsigned index, unsigned nodes) {
    unsigned node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes) return;
    unsigned edge = row_offsets[node] + index;
    if (edge < row_offsets[node + 1]) link(labels, node, neighbours[edge]);
}

/* Links each node with its neighbours from index `first` on, except the nodes with the label
 * `skipped`: an edge between two of these has nothing to link, and the other node of any other edge
 * has this edge too. */
extern "C" __global__ void components_link_rest(const unsigned *__restrict__ row_offsets,
                                                const unsigned *__restrict__ neighbours,
                                                unsigned *labels, unsigned first, unsigned skipped,
                                                unsigned nodes) {
    unsigned node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes || load(&labels[node]) == skipped) return;
    unsigned end = row_offsets[node + 1];
    for (unsigned edge = row_offsets[node] + first; edge < end; edge++)
        link(labels, node, neighbours[edge]);
}

extern "C" __global__ void components_compress(unsigned *labels, unsigned nodes) {
    unsigned node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes) return;
    unsigned root = load(&labels[node]), parent = load(&labels[root]);
    while (parent != root) {
        root = parent;
        parent = load(&labels[root]);
    }
    __atomic_store_n(&labels[node], root, __ATOMIC_RELAXED);
}
