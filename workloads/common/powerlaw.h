/* Random undirected graphs in which the numbers of neighbours follow a power law, as in social
 * networks: most nodes have few neighbours, a few nodes have many. */
#ifndef TYTO_WORKLOAD_POWERLAW_H
#define TYTO_WORKLOAD_POWERLAW_H

#include "graph.h"

/* A share of (fewest / d)^2 of the nodes has d or more neighbours, up to `most`, so the mean is
 * nearly 2 x fewest. It is the exponent 3 of the model of Barabási and Albert (Science, 1999). Each
 * edge is in the lists of both its nodes. Its ends are random, so a node is a neighbour as often as
 * it has neighbours; a few edges are double, or have the same node at both ends. */
Graph powerlaw_generate(Workload *workload, uint32_t nodes, uint32_t fewest, uint32_t most);

#endif
