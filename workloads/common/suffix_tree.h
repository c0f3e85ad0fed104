/* Suffix trees of sequences of bases 0 to 3. */
#ifndef TYTO_WORKLOAD_SUFFIX_TREE_H
#define TYTO_WORKLOAD_SUFFIX_TREE_H

#include "workload.h"

/* The path from the root, node 0, to a node spells `depth` bases of the text, from `first` on. */
typedef struct SuffixNode {
    uint32_t children[4]; /* by base; 0: none */
    uint32_t first;       /* position in the text */
    uint32_t depth;       /* bases; UINT32_MAX for a leaf, whose path extends to the text's end */
    uint32_t link;        /* the node that spells the same without the first base */
    uint32_t unused;      /* padding to 32 bytes */
} SuffixNode;

/* The tree of `length` bases; `*count` is set to the number of its nodes. */
SuffixNode *suffix_tree_build(Workload *workload, const uint8_t *text, uint32_t length,
                              uint32_t *count);

#endif
