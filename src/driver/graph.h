/* Graphs: nodes of work with dependencies, and the executable form that a launch runs. */
#ifndef TYTO_DRIVER_GRAPH_H
#define TYTO_DRIVER_GRAPH_H

#include "driver/driver.h"

typedef struct Graph Graph;
typedef struct GraphNode GraphNode;

/* What a node does. */
typedef struct GraphWork {
    CUgraphNodeType type;
    bool is_cooperative; /* of a kernel */
    union {
        CUDA_KERNEL_NODE_PARAMS kernel; /* kernelParams point into `area` */
        CUDA_MEMCPY3D copy;
        CUDA_MEMSET_NODE_PARAMS fill;
        CUDA_HOST_NODE_PARAMS host;
        CUevent event;
        Graph *child; /* owned */
    };
    char *area; /* a kernel's parameters; owned */
    size_t area_bytes;
    void **pointers; /* to each of them, then NULL; owned */
} GraphWork;

/* Work as a program describes it: the type of a node, and that type's parameters (a structure, or
 * the handle of an event or of a graph). */
typedef struct WorkGiven {
    CUgraphNodeType type;
    const void *parameters;
    bool is_cooperative; /* of a kernel */
} WorkGiven;

/* A list that grows. */
typedef struct NodeList {
    GraphNode **items;
    size_t count;
} NodeList;

struct GraphNode {
    Graph *graph;
    CUgraphNode handle;
    CUgraphNode original; /* of a clone: what it was made from; else NULL */
    size_t index;         /* in its graph, by creation */
    GraphWork work;
    NodeList before; /* its dependencies */
    NodeList after;  /* those that depend on it */
};

struct Graph {
    Context *context;
    CUgraph handle;
    bool is_child; /* it is part of a node */
    NodeList nodes;
};

/* One node of an executable graph, in the order of execution; the nodes of a child graph follow
 * its own. */
typedef struct GraphStep {
    CUgraphNode node; /* that it was made from */
    GraphWork work;   /* of a child graph: without it */
    size_t *before;   /* how far back the steps are that it depends on */
    size_t before_count;
    size_t inside; /* steps of the child graph, after this one */
    bool is_enabled;
} GraphStep;

typedef struct GraphExec {
    Context *context;
    cuuint64_t flags;
    GraphStep *steps;
    size_t count;
} GraphExec;

/* ---- Work (graph_work.c) ---- */

/* Work of what a program gives; what it points to is copied. After an error there is nothing to
 * free. */
CUresult work_make(const Call *call, WorkGiven given, GraphWork *work);

/* Other work of the same type in the place of `work`; after an error that stays as it was. */
CUresult work_replace(const Call *call, GraphWork *work, WorkGiven given);
/* A copy that owns what it points to; a child graph is copied with its nodes. */
GraphWork work_copy(Driver *driver, const GraphWork *work);
void work_free(Driver *driver, GraphWork *work);
/* Does it, all but a host function's and a child graph's. */
CUresult work_run(Call *call, const GraphWork *work);

/* ---- Graphs (graph.c) ---- */

Graph *graph_new(Driver *driver, Context *context);
void graph_free(Driver *driver, void *graph);
Graph *graph_clone(Driver *driver, const Graph *graph);
/* A new node that depends on `count` nodes; takes the work over. All must be of this graph: else
 * CUDA_ERROR_INVALID_VALUE, and the work is freed. */
CUresult graph_add(Call *call, Graph *graph, const CUgraphNode *dependencies, size_t count,
                   GraphWork *work, CUgraphNode *node);

/* ---- Capture (capture.c) ---- */

/* Whether work in `stream` is done at once, *is_taken = false, or has become a node of the graph
 * that the stream is captured into. */
CUresult capture_take(CUstream stream, WorkGiven given, bool *is_taken);

/* ---- Executable graphs (graph_exec.c) ---- */

/* Changes what the step does that was made from a node. */
CUresult graph_exec_set(CUgraphExec executable, CUgraphNode node, WorkGiven given);
void graph_exec_free(Driver *driver, void *executable);

#endif
