/* The CUDA runtime API on top of the driver API: the frame of every function, and what programs
 * have registered.
 *
 * A function's work is done by the driver, in the calling thread's current context; a thread that
 * has none gets the device's primary context. Errors are remembered by thread. Of the runtime's
 * own there are only the fat binaries, kernels and variables that compilers register, and the
 * launch configurations between `<<<` and the launch. */
#ifndef TYTO_CUDART_RUNTIME_H
#define TYTO_CUDART_RUNTIME_H

#include <stdbool.h>

#include "tyto/cuda.h"
#include "tyto/cuda_runtime_api.h"

/* ---- The frame of a function (runtime.c) ---- */

/* Gives the calling thread a context if it has none; false when that fails. */
bool runtime_enter(void);
/* Why runtime_enter failed. */
CUresult runtime_failure(void);
/* Ends a function: remembers an error, a CUresult or a cudaError_t, and returns it. */
cudaError_t runtime_leave(int status);
/* All three in one: the value of a function that is `work`, an expression of either type. */
#define RUNTIME_CALL(work) runtime_leave(runtime_enter() ? (int)(work) : (int)runtime_failure())

/* A launch of this thread was refused, as the simulator lacks what its kernel needs. Until the
 * program asks for the last error, its waits fail (runtime_synchronized). Otherwise a program that
 * ignores the launch's status would use results that no kernel computed. */
void runtime_note_refusal(void);
/* The status of a call that waits, by the driver's. */
int runtime_synchronized(int status);
/* Whether `what` is asked for the first time. */
bool runtime_tells_first(const char *what);
/* Prints a message on stderr, after "tyto: ". */
void runtime_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Says once that `function` is not supported, and why. Returns and remembers cudaErrorNotSupported.
 */
int runtime_missing(const char *function, const char *why);

/* ---- What is registered (registry.c) ---- */

typedef struct Kernel Kernel;

/* The driver's function of a kernel, given by the address of its host function, by its Kernel, or
 * by itself. Loads its fat binary on first use. A fault of an earlier launch comes before all else;
 * then cudaErrorInvalidDeviceFunction of a null pointer and of a kernel that its binary lacks, and
 * what the release says of anything else. */
int registry_function(const void *kernel, CUfunction *function);
/* The kernel of a host function, NULL when there is none. */
Kernel *registry_kernel(const void *host_function);
/* The host function of a kernel that the driver knows, NULL when it is none of ours. */
void *registry_host_function(CUfunction function);
/* Address and size of a variable, given by its host shadow. cudaErrorInvalidSymbol when there is no
 * such variable. */
int registry_variable(const void *symbol, CUdeviceptr *address, size_t *size);

/* A texture or surface reference of the program's. */
typedef struct Reference {
    bool is_surface;
    bool reads_integers; /* as they are, not as floats in their place */
    bool is_bound;
} Reference;

/* The driver's handle (CUtexref or CUsurfref) of the reference that the host knows by its shadow's
 * address. An error, 0 for none. */
int registry_reference(const void *host, bool is_surface, void **handle, Reference **reference);
/* Forgets what is loaded, after the context's reset; the next use loads it again. */
void registry_unload(void);

/* ---- Launches (launch.c) ---- */

/* What a function that launches kernels returns: the next call reports a fault. */
int launch_told(int status);
/* The driver's configuration of a launch; false: it cannot be. */
bool launch_config(const cudaLaunchConfig_t *config, CUlaunchConfig *out);
/* A fault of an earlier launch. */
int launch_failure(void);

/* ---- Graphs (graph.c, graph_node.c) ---- */

/* The driver's form of a kernel node; 0, or why there is none. */
int graph_read_kernel(const struct cudaKernelNodeParams *given, CUDA_KERNEL_NODE_PARAMS *out);
int graph_add_node(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                   const cudaGraphEdgeData *edges, size_t count, struct cudaGraphNodeParams *given);

/* ---- Copies (copy.c) ---- */

/* The driver's form of a copy; 0, or why there is none. */
int copy_describe_box(const struct cudaMemcpy3DParms *given, CUDA_MEMCPY3D *box);
int copy_describe_bytes(void *to, const void *from, size_t size, enum cudaMemcpyKind kind,
                        CUDA_MEMCPY3D *box);
/* And back. */
int copy_read_box(const CUDA_MEMCPY3D *box, struct cudaMemcpy3DParms *out);
/* Why nothing can be copied so to a variable, or from one; 0 when it can. */
int copy_check_to_symbol(enum cudaMemcpyKind kind);
int copy_check_from_symbol(enum cudaMemcpyKind kind);
/* The address `offset` bytes into a variable, for an access of `size` bytes. */
int copy_place_in(const void *symbol, size_t size, size_t offset, void **place);

/* ---- What releases answer otherwise (version_12.c, version_13.c) ---- */

typedef struct VersionErrors {
    cudaError_t impossible_launch; /* of a grid or a block that the device cannot have */
    cudaError_t unknown_function;  /* of what is neither a host function nor a handle */
} VersionErrors;
extern const VersionErrors version_errors;

/* ---- Properties (properties.c) ---- */

typedef struct Properties12 Properties12; /* cudaDeviceProp as it was before CUDA 13 */

int properties_read(struct cudaDeviceProp *properties, int device);
/* Writes the first `size` bytes of CUDA 12's structure: CUDA 11's is the beginning of it. */
int properties_read_12(void *properties, size_t size, int device);

/* ---- Formats (array.c) ---- */

/* The driver's format of an element; false when its channels do not suit. */
bool format_read(const struct cudaChannelFormatDesc *description, CUarray_format *format,
                 unsigned *channels);

/* Device pointers are addresses. */
static inline CUdeviceptr address_of(const void *pointer) {
    return (CUdeviceptr)(uintptr_t)pointer;
}
static inline void *pointer_of(CUdeviceptr address) { return (void *)(uintptr_t)address; }

#endif
