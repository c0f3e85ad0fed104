/* Matches reads against a suffix tree of a reference sequence, one read per thread: for every
 * position with at least `shortest` remaining bases of the read, it finds the longest match that
 * starts there. The tree and the reference are two-dimensional textures. Bases are letters. A read
 * has a letter before it, so that a length is also the index of the next base, and ends with 0. */
#include "tyto_device.h"

typedef unsigned long long Texture;
typedef unsigned Place; /* a node's texel: its column, and its row from bit 16 on; 0: no node */

enum { ROOT = 1 << 16 };

/* One texel of a node. */
struct Node {
    unsigned from, to; /* the reference's bases on the edge to it, both included */
    Place link;        /* the node with this one's path without the first base */
    unsigned unused;
};

/* The other texel of a node: children by base. */
struct Children {
    Place a, c, g, t;
};

/* A match ends `along` bases down the edge to `node`; 0: at the node itself. */
struct Match {
    unsigned node; /* its number */
    unsigned along;
};

static __device__ Node fetch_node(Texture nodes, Place at) {
    Node node;
    asm("tex.2d.v4.u32.s32 {%0, %1, %2, %3}, [%4, {%5, %6}];"
        : "=r"(node.from), "=r"(node.to), "=r"(node.link), "=r"(node.unused)
        : "l"(nodes), "r"(at & 0xffff), "r"(at >> 16));
    return node;
}

static __device__ Place fetch_child(Texture children, Place at, unsigned char base) {
    Children of;
    asm("tex.2d.v4.u32.s32 {%0, %1, %2, %3}, [%4, {%5, %6}];"
        : "=r"(of.a), "=r"(of.c), "=r"(of.g), "=r"(of.t)
        : "l"(children), "r"(at & 0xffff), "r"(at >> 16));
    switch (base) {
    case 'A': return of.a;
    case 'C': return of.c;
    case 'G': return of.g;
    case 'T': return of.t;
    default: return 0;
    }
}

/* Four bases of the reference are in a column, 2^18 bases in four rows. */
static __device__ unsigned char fetch_base(Texture reference, unsigned at) {
    unsigned base, column = (at & 0x3ffff) >> 2, row = (at >> 18 << 2) + (at & 3);
    asm("{ .reg .u32 y, z, w; tex.2d.v4.u32.s32 {%0, y, z, w}, [%1, {%2, %3}]; }"
        : "=r"(base)
        : "l"(reference), "r"(column), "r"(row));
    return (unsigned char)base;
}

/* Nodes are numbered column by column in columns of 32 rows. */
static __device__ unsigned number_of(Place at) {
    unsigned column = at & 0xffff, row = at >> 16;
    return (column << 5) + (row & 31) + (row >> 5 << 17);
}

extern "C" __global__ void mummer(Match *matches, const unsigned char *reads,
                                  const unsigned *starts, const unsigned *lengths, unsigned count,
                                  int shortest, Texture nodes, Texture children,
                                  Texture reference) {
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread >= count) return;
    int last = (int)lengths[thread] - shortest;
    unsigned start = starts[thread];
    Match *match = matches + start - thread * (shortest + 1);
    const unsigned char *read = reads + start;

    /* `length` is the match's length plus 1; `known` of its bases are below `node`. */
    Place node = 0;
    int length = 0;
    unsigned known = 0;
    for (int at = 0; at <= last; at++, match++, read++) {
        if (node == 0 || length < 1) {
            node = ROOT;
            length = 1;
            known = 0;
        }
        Place parent = node;
        unsigned along = 0;
        unsigned char base = read[length];
        while (base) {
            parent = node;
            along = 0;
            node = fetch_child(children, node, base);
            if (node == 0) break;

            Node edge = fetch_node(nodes, node);
            unsigned place, edge_length = edge.to - edge.from + 1;
            if (known >= edge_length) {
                place = edge.to + 1;
                length += edge_length;
                known -= edge_length;
            } else if (known) {
                place = edge.from + known;
                length += known;
                known = 0;
            } else { /* the first base has selected the child */
                place = edge.from + 1;
                length++;
            }
            base = read[length];
            while (place <= edge.to && base) {
                if (fetch_base(reference, place) != base) break;
                length++;
                place++;
                base = read[length];
            }
            along = place - edge.from;
            if (place <= edge.to) break;
        }
        if (length > shortest) {
            match->node = number_of(node ? node : parent);
            match->along = along;
        }
        /* Continues with the match without its first base: goes down the last edge again, below the
         * link. */
        known = along;
        length -= (int)along + 1;
        node = fetch_node(nodes, parent).link;
    }
}
