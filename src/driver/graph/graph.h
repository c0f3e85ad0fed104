/* Graphs: nodes of work with dependencies, and the executable form that a launch runs. */
#ifndef TYTO_DRIVER_GRAPH_GRAPH_H
#define TYTO_DRIVER_GRAPH_GRAPH_H

#include "driver/driver.h"

typedef struct Graph Graph;
typedef struct GraphNode GraphNode;

typedef struct GraphMemory GraphMemory; /* an allocation of a node, see graph_memory.c */

/* A condition, which kernels set. It lives as long as its context. */
typedef struct Conditional {
    Context *context;
    CUgraph graph;  /* that it was made for */
    uint32_t first; /* value at the start of a launch, where ... */
    bool has_first; /* ... there is one; else the value stays */
    bool has_node;  /* a node depends on it */
    uint32_t value;
} Conditional;

/* What a conditional node chooses from. */
typedef struct Branch {
    Conditional *conditional;
    CUgraphConditionalNodeType type;
    uint32_t count;   /* of graphs */
    Graph **graphs;   /* owned; NULL in an executable graph */
    CUgraph *handles; /* of them, for the program; owned; likewise */
} Branch;

/* What a node does. */
typedef struct GraphWork {
    CUgraphNodeType type;
    Attributes attributes; /* of a kernel */
    union {
        CUDA_KERNEL_NODE_PARAMS kernel; /* kernelParams point into `area` */
        CUDA_MEMCPY3D copy;
        CUDA_MEMSET_NODE_PARAMS fill;
        CUDA_HOST_NODE_PARAMS host;
        CUevent event;
        CUDA_BATCH_MEM_OP_NODE_PARAMS operations; /* paramArray is `area` */
        Graph *child;                             /* owned */
        GraphMemory *memory;                      /* to allocate or to free; shared */
        Branch branch;
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
    const Attributes *attributes; /* of a kernel, NULL: none */
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

/* References to a user object that go with a graph. */
typedef struct Held {
    CUuserObject object;
    uint32_t count;
} Held;

typedef struct HeldList {
    Held *items;
    size_t count;
} HeldList;

struct Graph {
    Context *context;
    CUgraph handle;
    bool is_child;  /* it is part of a node, ... */
    bool is_branch; /* ... of a conditional one */
    NodeList nodes;
    HeldList held;
    CUgraphExec instance; /* made from it last */
};

/* One node of an executable graph, in the order of execution; the nodes of a child graph, and those
 * of a conditional node's graphs one after the other, follow its own. */
typedef struct GraphStep {
    CUgraphNode node; /* that it was made from */
    GraphWork work;   /* of a child graph: without it */
    size_t *before;   /* how far back the steps are that it depends on */
    size_t before_count;
    size_t inside;         /* steps of the child graph, or of all graphs, after this one */
    size_t *branch_counts; /* of a conditional node: steps of each graph; owned */
    bool is_enabled;
} GraphStep;

typedef struct GraphExec {
    Context *context;
    cuuint64_t flags;
    GraphStep *steps;
    size_t count;
    HeldList held;
    bool has_waits;                    /* among its steps are operations on memory */
    bool has_host;                     /* among its steps are host functions */
    unsigned users;                    /* launches that are not over */
    bool is_destroyed;                 /* it ends with the last of them */
    const struct GraphLaunch *running; /* the launch that has begun: one at a time; NULL: none */
} GraphExec;

/* A launch, until it is over. */
typedef struct GraphLaunch {
    GraphExec *exec;
    uint32_t *progress;   /* of each step: operations on memory that are done, GRAPH_STEP_DONE:
                             all of it; owned, NULL: nothing waits, or it did not begin yet */
    KernelRun **kernels;  /* of each step: its kernel that has begun and is not over; owned,
                             NULL: kernels run when their steps are reached, or it did not
                             begin yet */
    size_t kernel_count;  /* of those that are not NULL */
    size_t first;         /* step of the graph itself before which all is done */
    GpuStreamInfo stream; /* that it was launched into */
    CUresult error;       /* of a step: no more of them begin */
    bool overlaps;        /* its kernels may run next to others */
    bool is_begun;
} GraphLaunch;
#define GRAPH_STEP_DONE UINT32_MAX

/* ---- Work (graph_work.c) ---- */

/* Work of what a program gives; what it points to is copied. After an error there is nothing to
 * free. */
CUresult work_make(Call *call, WorkGiven given, GraphWork *work);

/* Other work of the same type in the place of `work`; after an error that stays as it was. */
CUresult work_replace(Call *call, GraphWork *work, WorkGiven given);
/* A copy that owns what it points to; a child graph is copied with its nodes. */
GraphWork work_copy(Driver *driver, const GraphWork *work);
void work_free(Driver *driver, GraphWork *work);
bool work_is_cooperative(const GraphWork *work); /* of a kernel */
LaunchShape work_shape(const GraphWork *work);   /* likewise */
/* Does it, all but a child graph's and a conditional node's. *done counts the
 * operations on memory that are over; CUDA_ERROR_NOT_READY: one of them waits. */
CUresult work_run(Call *call, const GraphWork *work, unsigned *done);
/* Calls a host function, for which the simulator is unlocked: it may do anything, even destroy
 * what is launched. */
CUresult work_call_host(Call *call, CUDA_HOST_NODE_PARAMS host);

/* ---- Operations on memory (stream_memory.c) ---- */

bool operations_are_right(const CUDA_BATCH_MEM_OP_NODE_PARAMS *given);
/* Goes on with the first that is not done; CUDA_ERROR_NOT_READY: it waits. */
CUresult operations_run(Call *call, const CUDA_BATCH_MEM_OP_NODE_PARAMS *list, unsigned *done);
/* "for the 32-bit word at 0xc0000000, which is 3, to be 4": what the next of them waits for. */
void operations_describe(const Call *call, const CUDA_BATCH_MEM_OP_NODE_PARAMS *list, unsigned done,
                         Text *out);
/* Whether other processes can write the word that it waits for. */
bool operations_are_shared(const Call *call, const CUDA_BATCH_MEM_OP_NODE_PARAMS *list,
                           unsigned done);

/* ---- Graphs (graph.c) ---- */

Graph *graph_new(Driver *driver, Context *context);
/* Whether it, or a graph inside of it, has a node that allocates or frees memory; or, too, one that
 * is conditional. */
bool graph_has_memory(const Graph *graph);
bool graph_is_plain(const Graph *graph);
/* Whether all are nodes of the graph, each once; whether none is of a special kind. */
bool graph_are_dependencies(const Call *call, const Graph *graph, const CUgraphNode *dependencies,
                            size_t count);
bool graph_edges_are_ordinary(const CUgraphEdgeData *edges, size_t count);
void graph_free(Driver *driver, void *graph);
Graph *graph_clone(Driver *driver, const Graph *graph);
/* A new node that depends on `count` nodes; takes the work over. All must be of this graph, and the
 * work one that the graph may hold: else the work is freed. */
CUresult graph_add(Call *call, Graph *graph, const CUgraphNode *dependencies, size_t count,
                   GraphWork *work, CUgraphNode *node);

/* ---- Capture (capture.c) ---- */

/* Whether work in `stream` is done at once, *is_taken = false, or has become a node of the graph
 * that the stream is captured into. */
CUresult capture_take(CUstream stream, WorkGiven given, bool *is_taken);

/* ---- Memory of graphs (graph_memory.c) ---- */

/* New memory as a node describes it, and that which a free node names; NULL: why is in *status. */
GraphMemory *graph_memory_new(Call *call, CUDA_MEM_ALLOC_NODE_PARAMS *given, CUresult *status);
GraphMemory *graph_memory_find(const Call *call, CUdeviceptr address, CUresult *status);
/* Whether a graph may hold a node that frees it; from then on it does. */
CUresult graph_memory_add_free(const Call *call, const Graph *graph, GraphMemory *memory);
/* One more node or step needs it; one less. */
void graph_memory_use(GraphMemory *memory);
void graph_memory_drop(Driver *driver, GraphMemory *memory);
/* What the nodes do. */
CUresult graph_memory_allocate(Call *call, GraphMemory *memory);
CUresult graph_memory_free(Call *call, GraphMemory *memory);
/* An earlier launch allocated it, and it is not freed yet. */
bool graph_memory_is_live(const GraphMemory *memory);
uint64_t graph_memory_address(const GraphMemory *memory);
/* The node that allocates it is this graph's. */
void graph_memory_own(GraphMemory *memory, const Graph *graph);

/* ---- Conditional nodes (graph_branch.c) ---- */

CUresult branch_make(const Call *call, const CUDA_CONDITIONAL_NODE_PARAMS *given, Branch *branch);
void branch_free(Driver *driver, Branch *branch);
/* The graph that is done now; branch->count: none. */
uint32_t branch_choice(const Branch *branch);
/* Whether every condition that was made for the graph has a node; reports a condition without
 * one. */
bool conditionals_have_nodes(const Call *call, const Graph *graph);

/* ---- User objects (user_object.c) ---- */

/* The list, for another owner; and its end. */
HeldList held_copy(Driver *driver, const HeldList *held);
void held_free(Driver *driver, HeldList *held);

/* ---- Executable graphs (graph_exec.c) ---- */

/* Changes what the step does that was made from a node. */
CUresult graph_exec_set(CUgraphExec executable, CUgraphNode node, WorkGiven given);
void graph_exec_free(Driver *driver, void *executable);
/* A launch begins with the first graph_launch_run, and goes on with the next while that returns
 * CUDA_ERROR_NOT_READY. NULL: there is no such executable graph. */
GraphLaunch *graph_launch_new(const Call *call, CUgraphExec executable);
CUresult graph_launch_run(Call *call, GraphLaunch *launch);
void graph_launch_free(Driver *driver, GraphLaunch *launch);
/* Whether a kernel of it is on the device. */
bool graph_launch_is_on_device(const GraphLaunch *launch);
/* What it waits for: a step's work, with the number of operations that are done. NULL: it did not
 * begin yet. */
const GraphWork *graph_launch_wait(const GraphLaunch *launch, unsigned *done);

#endif
