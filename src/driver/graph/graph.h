/* Graphs: nodes of work with dependencies, and the executable form, which launches run. */
#ifndef TYTO_DRIVER_GRAPH_GRAPH_H
#define TYTO_DRIVER_GRAPH_GRAPH_H

#include "driver/driver.h"

typedef struct Graph Graph;
typedef struct GraphNode GraphNode;

typedef struct GraphMemory GraphMemory; /* an allocation of a node, see graph_memory.c */

/* A condition, which kernels set. It lives as long as its context. */
typedef struct Conditional {
    Context *context;
    CUgraph graph;  /* graph that it was made for */
    uint32_t first; /* value at the start of a launch, if ... */
    bool has_first; /* ... has_first; else the value stays */
    bool has_node;  /* a node depends on it */
    uint32_t value;
} Conditional;

/* The condition and the graphs of a conditional node. */
typedef struct Branch {
    Conditional *conditional;
    CUgraphConditionalNodeType type;
    uint32_t count;   /* number of graphs */
    Graph **graphs;   /* owned; NULL in an executable graph */
    CUgraph *handles; /* handles of the graphs, owned; NULL in an executable graph */
} Branch;

/* What a node does. */
typedef struct GraphWork {
    CUgraphNodeType type;
    Attributes attributes; /* attributes of a kernel */
    union {
        CUDA_KERNEL_NODE_PARAMS kernel; /* kernelParams point into `area` */
        CUDA_MEMCPY3D copy;
        CUDA_MEMSET_NODE_PARAMS fill;
        CUDA_HOST_NODE_PARAMS host;
        CUevent event;
        CUDA_BATCH_MEM_OP_NODE_PARAMS operations; /* paramArray is `area` */
        Graph *child;                             /* owned */
        GraphMemory *memory;                      /* memory to allocate or to free; shared */
        Branch branch;
    };
    char *area; /* a kernel's parameters; owned */
    size_t area_bytes;
    void **pointers; /* pointers to the parameters, then NULL; owned */
} GraphWork;

/* Work as a program describes it: the type of a node, and the parameters of this type (a struct, or
 * the handle of an event or a graph). */
typedef struct WorkGiven {
    CUgraphNodeType type;
    const void *parameters;
    const Attributes *attributes; /* attributes of a kernel; NULL: none */
} WorkGiven;

/* A list that grows. */
typedef struct NodeList {
    GraphNode **items;
    size_t count;
} NodeList;

/* A dependency, as one of its nodes holds it. */
typedef struct GraphEdge {
    GraphNode *node; /* the other node */
    CUgraphEdgeData data;
    bool is_serial; /* captured between two kernels of one stream */
} GraphEdge;

typedef struct EdgeList {
    GraphEdge *items;
    size_t count;
} EdgeList;

struct GraphNode {
    Graph *graph;
    CUgraphNode handle;
    CUgraphNode original; /* of a clone: the node that it was copied from; else NULL */
    size_t index;         /* index in its graph, by creation */
    GraphWork work;
    EdgeList before; /* nodes that it depends on */
    EdgeList after;  /* nodes that depend on it */
    bool can_dangle; /* the end of its capture need not come after it */
};

/* References to a user object that a graph holds. */
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
    CUgraphExec instance; /* executable graph made from it last */
};

/* A node of an executable graph; steps are in the order of execution. The steps of a child graph,
 * or of a conditional node's graphs one after another, follow the step of the node. */
typedef struct GraphStep {
    CUgraphNode node;       /* node that it was made from */
    GraphWork work;         /* the work; without the graph if it is a child graph */
    size_t *before;         /* distances back to the steps that it depends on */
    CUgraphEdgeData *edges; /* data of these dependencies; owned */
    size_t before_count;
    size_t inside; /* number of the following steps that belong to the child graph, or to all graphs
                      of a conditional node */
    size_t *branch_counts; /* of a conditional node: number of steps of each graph; owned */
    bool is_enabled;
} GraphStep;

typedef struct GraphExec {
    Context *context;
    cuuint64_t flags;
    GraphStep *steps;
    size_t count;
    HeldList held;
    bool has_waits;                    /* some steps are operations on memory */
    bool has_host;                     /* some steps are host functions */
    bool has_early;                    /* some kernels may begin before others have ended */
    unsigned users;                    /* launches that are not over */
    bool is_destroyed;                 /* it is freed when the last of these launches is over */
    const struct GraphLaunch *running; /* the launch that has begun, one at a time; NULL: none */
} GraphExec;

/* A launch, until it is over. */
typedef struct GraphLaunch {
    GraphExec *exec;
    uint32_t *progress;  /* by step: operations on memory that are done, or GRAPH_STEP_DONE. Owned;
                            NULL: nothing waits, or it did not begin yet */
    KernelRun **kernels; /* by step: its kernel that has begun and is not over. Owned; NULL: kernels
                            run when their steps are reached, or it did not begin yet */
    size_t kernel_count; /* number of kernels that are not NULL */
    size_t first;        /* all steps of the graph itself before this one are done */
    GpuStreamInfo stream; /* stream that it was launched into */
    CUresult error;       /* error of a step: no further steps begin */
    bool overlaps;        /* its kernels may run concurrently with others */
    bool is_begun;
} GraphLaunch;
#define GRAPH_STEP_DONE UINT32_MAX

/* ---- Work (graph_work.c) ---- */

/* Makes the work that a program describes, and copies what it points to. After an error there is
 * nothing to free. */
CUresult work_make(Call *call, WorkGiven given, GraphWork *work);

/* Replaces `work` by other work of the same type. After an error `work` is unchanged. */
CUresult work_replace(Call *call, GraphWork *work, WorkGiven given);
/* Copies work with everything that it points to, including the nodes of a child graph. */
GraphWork work_copy(Driver *driver, const GraphWork *work);
void work_free(Driver *driver, GraphWork *work);
bool work_is_cooperative(const GraphWork *work); /* of a kernel */
LaunchShape work_shape(const GraphWork *work);   /* likewise */
/* Executes the work, unless it is a child graph or a conditional node. *done counts the operations
 * on memory that are over. CUDA_ERROR_NOT_READY: one of them waits. */
CUresult work_run(Call *call, const GraphWork *work, unsigned *done);
/* Calls a host function with the simulator unlocked. The function may do anything, even destroy
 * what is being launched. */
CUresult work_call_host(Call *call, CUDA_HOST_NODE_PARAMS host);

/* ---- Operations on memory (stream_memory.c) ---- */

bool operations_are_right(const CUDA_BATCH_MEM_OP_NODE_PARAMS *given);
/* Continues with the first operation that is not done. CUDA_ERROR_NOT_READY: it waits. */
CUresult operations_run(Call *call, const CUDA_BATCH_MEM_OP_NODE_PARAMS *list, unsigned *done);
/* "for the 32-bit word at 0xc0000000, which is 3, to be 4": what the next of them waits for. */
void operations_describe(const Call *call, const CUDA_BATCH_MEM_OP_NODE_PARAMS *list, unsigned done,
                         Text *out);
/* Whether other processes can write the word that the operation waits for. */
bool operations_are_shared(const Call *call, const CUDA_BATCH_MEM_OP_NODE_PARAMS *list,
                           unsigned done);

/* ---- Graphs (graph.c) ---- */

Graph *graph_new(Driver *driver, Context *context);
/* graph_has_memory: whether the graph, or a graph inside it, has a node that allocates or frees
 * memory. graph_is_plain: whether it has neither such nodes nor conditional ones. */
bool graph_has_memory(const Graph *graph);
bool graph_is_plain(const Graph *graph);
/* Whether all are nodes of the graph, each once, and may have edges with these data (NULL: ordinary
 * ones) to a node of type `to`. */
bool graph_are_dependencies(const Call *call, const Graph *graph, const CUgraphNode *dependencies,
                            const CUgraphEdgeData *edges, size_t count, CUgraphNodeType to);
/* Whether a dependency is a full one: its data are all 0. */
bool edge_is_ordinary(CUgraphEdgeData edge);
/* Whether a dependency on a node of type `from` may have these data. */
bool edge_may_leave(CUgraphEdgeData edge, CUgraphNodeType from);
/* Notes that the edge between two nodes is GraphEdge.is_serial. */
void edge_set_serial(const GraphNode *from, const GraphNode *to);
/* What a dependent launch waits for if an edge, which is not ordinary, connects it to a grid. */
GpuPrerequisite edge_prerequisite(CUgraphEdgeData edge, struct GpuGrid *grid);
void graph_free(Driver *driver, void *graph);
Graph *graph_clone(Driver *driver, const Graph *graph);
/* Adds a node that depends on `count` nodes, and takes over the work. The dependencies must be
 * valid (graph_are_dependencies), and the graph must allow such work; otherwise it returns an error
 * and frees the work. */
CUresult graph_add(Call *call, Graph *graph, const CUgraphNode *dependencies,
                   const CUgraphEdgeData *edges, size_t count, GraphWork *work, CUgraphNode *node);

/* ---- Capture (capture.c) ---- */

/* Adds work in `stream` to the graph that the stream is captured into. If the stream is not
 * captured, sets *is_taken to false, and the work must be executed. */
CUresult capture_take(CUstream stream, WorkGiven given, bool *is_taken);
/* The same for the launch of a kernel, which also records the events of the launch. */
CUresult capture_take_launch(CUstream stream, WorkGiven given, const LaunchShape *launch,
                             bool *is_taken);

/* ---- Memory of graphs (graph_memory.c) ---- */

/* Creates the memory that a node allocates, and finds the memory that a free node names. After an
 * error they return NULL, with the error in *status. */
GraphMemory *graph_memory_new(Call *call, CUDA_MEM_ALLOC_NODE_PARAMS *given, CUresult *status);
GraphMemory *graph_memory_find(const Call *call, CUdeviceptr address, CUresult *status);
/* Whether a graph may have a node that frees the memory. If so, it is recorded that the graph has
 * one. */
CUresult graph_memory_add_free(const Call *call, const Graph *graph, GraphMemory *memory);
/* Adds, and drops, a reference by a node or a step. */
void graph_memory_use(GraphMemory *memory);
void graph_memory_drop(Driver *driver, GraphMemory *memory);
/* Execute the nodes: allocate and free the memory. */
CUresult graph_memory_allocate(Call *call, GraphMemory *memory);
CUresult graph_memory_free(Call *call, GraphMemory *memory);
/* Whether an earlier launch allocated the memory and it is still allocated. */
bool graph_memory_is_live(const GraphMemory *memory);
uint64_t graph_memory_address(const GraphMemory *memory);
/* Records that the allocating node belongs to this graph. */
void graph_memory_own(GraphMemory *memory, const Graph *graph);

/* ---- Conditional nodes (graph_branch.c) ---- */

CUresult branch_make(const Call *call, const CUDA_CONDITIONAL_NODE_PARAMS *given, Branch *branch);
void branch_free(Driver *driver, Branch *branch);
/* Index of the graph that runs now; branch->count: none. */
uint32_t branch_choice(const Branch *branch);
/* Whether every condition that was made for the graph has a node; reports a condition without
 * one. */
bool conditionals_have_nodes(const Call *call, const Graph *graph);

/* ---- User objects (user_object.c) ---- */

/* Copies the list for another owner, and frees it. */
HeldList held_copy(Driver *driver, const HeldList *held);
void held_free(Driver *driver, HeldList *held);

/* ---- Executable graphs (graph_exec.c) ---- */

/* Changes the work of the step that was made from a node. */
CUresult graph_exec_set(CUgraphExec executable, CUgraphNode node, WorkGiven given);
void graph_exec_free(Driver *driver, void *executable);
/* Creates a launch. It begins with the first call of graph_launch_run, which must be called again
 * while it returns CUDA_ERROR_NOT_READY. NULL: no such executable graph. */
GraphLaunch *graph_launch_new(const Call *call, CUgraphExec executable);
CUresult graph_launch_run(Call *call, GraphLaunch *launch);
void graph_launch_free(Driver *driver, GraphLaunch *launch);
/* Whether one of its kernels is on the device. */
bool graph_launch_is_on_device(const GraphLaunch *launch);
/* What it waits for: the work of a step, with the number of its operations that are done. NULL: it
 * did not begin yet. */
const GraphWork *graph_launch_wait(const GraphLaunch *launch, unsigned *done);

#endif
