/* Matches reads against a suffix tree of a reference sequence, one read per thread: for every place
 * of the read, the length of the longest match that starts there. Bases are 0 to 3. */
#include "tyto_device.h"

/* The path from the root to a node spells `depth` bases of the reference, from `first` on. */
struct Node {
    unsigned children[4]; /* by base; 0: none, as the root is nobody's child */
    unsigned first;
    unsigned depth; /* of a leaf: beyond the end of the reference */
    unsigned link;  /* the node that spells the same but for the first base */
    unsigned unused;
};

extern "C" __global__ void mummer(const Node *nodes, const unsigned char *reference,
                                  const unsigned char *reads, unsigned *lengths,
                                  unsigned reference_bases, unsigned read_bases, unsigned count) {
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread >= count) return;
    const unsigned char *read = reads + thread * read_bases;
    /* The match so far: `length` bases, down to `node` and, if longer, on the edge to `child`. */
    unsigned node = 0, child = 0, length = 0;
    for (unsigned start = 0; start < read_bases; start++) {
        while (start + length < read_bases) {
            unsigned base = read[start + length], depth = nodes[node].depth;
            if (length == depth) {
                child = nodes[node].children[base];
                if (child == 0) break;
            } else {
                unsigned at = nodes[child].first + length;
                if (at >= reference_bases || reference[at] != base) break;
            }
            length++;
            if (length == nodes[child].depth) node = child;
        }
        lengths[thread * read_bases + start] = length;
        if (length == 0) continue;

        /* On to the match without its first base: along the link, then down again by whole edges.
         */
        node = nodes[node].link;
        length--;
        while (nodes[node].depth < length) {
            child = nodes[node].children[read[start + 1 + nodes[node].depth]];
            if (nodes[child].depth > length) break;
            node = child;
        }
    }
}
