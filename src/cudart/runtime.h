/* The CUDA runtime API on top of the driver API: the frame of every function, and what programs
 * have registered.
 *
 * The driver does a function's work, in the calling thread's current context. A thread without a
 * context gets the device's primary context. Errors are stored per thread. The runtime itself only
 * has the fat binaries, kernels and variables that compilers register, and the launch
 * configurations between `<<<` and the launch. */
#ifndef TYTO_CUDART_RUNTIME_H
#define TYTO_CUDART_RUNTIME_H

#include <stdbool.h>

#include "tyto/cuda.h"
#include "tyto/cuda_runtime_api.h"

/* ---- The frame of a function (runtime.c) ---- */

/* Makes sure that the calling thread has a context; returns false if that fails. */
bool runtime_enter(void);
/* The reason why runtime_enter failed. */
CUresult runtime_failure(void);
/* Ends a function: stores the error, a CUresult or a cudaError_t, and returns it. */
cudaError_t runtime_leave(int status);
/* All three in one: returns the value of `work`, an expression of either type, from a function. */
#define RUNTIME_CALL(work) runtime_leave(runtime_enter() ? (int)(work) : (int)runtime_failure())

/* Records that a launch of this thread was refused, because the simulator lacks what its kernel
 * needs. Until the program asks for the last error, its waits fail (runtime_synchronized).
 * Otherwise a program that ignores the launch's status would use results that no kernel
 * computed. */
void runtime_note_refusal(void);
/* The status of a call that waits, given the driver's. */
int runtime_synchronized(int status);
/* Whether this is the first call with `what`. */
bool runtime_tells_first(const char *what);
/* Prints a message on stderr, after "tyto: ". */
void runtime_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Reports, once per function, that `function` is not supported, and why. Returns and stores
 * cudaErrorNotSupported. */
int runtime_missing(const char *function, const char *why);

/* ---- Registered kernels and variables (registry.c) ---- */

typedef struct Kernel Kernel;

/* The driver's function of a kernel, given by the address of its host function, by its Kernel, or
 * by itself. Loads its fat binary at its first use. Errors, in this order: a fault of an earlier
 * launch; cudaErrorInvalidDeviceFunction for a null pointer, or for a kernel that its binary lacks;
 * for anything else, the error of the release. */
int registry_function(const void *kernel, CUfunction *function);
/* The kernel of a host function; NULL if there is none. */
Kernel *registry_kernel(const void *host_function);
/* The host function of a driver's kernel; NULL if it was not registered. */
void *registry_host_function(CUfunction function);
/* Address and size of a variable, given by its host shadow. cudaErrorInvalidSymbol if there is no
 * such variable. */
int registry_variable(const void *symbol, CUdeviceptr *address, size_t *size);

/* A texture or surface reference of the program. */
typedef struct Reference {
    bool is_surface;
    bool reads_integers; /* integers are read as they are, not as normalized floats */
    bool is_bound;
} Reference;

/* The driver's handle (CUtexref or CUsurfref) of the reference that the host identifies by its
 * shadow's address. Returns an error if there is none. */
int registry_reference(const void *host, bool is_surface, void **handle, Reference **reference);
/* Marks everything as not loaded after the context's reset; the next use loads it again. */
void registry_unload(void);

/* ---- Launches (launch.c) ---- */

/* The value that a launching function returns; the next call reports a fault. */
int launch_told(int status);
/* Converts the configuration of a launch to the driver's; returns false if it is invalid. */
bool launch_config(const cudaLaunchConfig_t *config, CUlaunchConfig *out);
/* The fault of an earlier launch, if any. */
int launch_failure(void);

/* ---- Graphs (graph.c, graph_node.c) ---- */

/* Converts a kernel node to the driver's form. Returns 0 or the error. */
int graph_read_kernel(const struct cudaKernelNodeParams *given, CUDA_KERNEL_NODE_PARAMS *out);
int graph_add_node(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                   const cudaGraphEdgeData *edges, size_t count, struct cudaGraphNodeParams *given);

/* ---- Copies (copy.c) ---- */

/* Converts a copy to the driver's form. Returns 0 or the error. */
int copy_describe_box(const struct cudaMemcpy3DParms *given, CUDA_MEMCPY3D *box);
int copy_describe_bytes(void *to, const void *from, size_t size, enum cudaMemcpyKind kind,
                        CUDA_MEMCPY3D *box);
/* Converts it back. */
int copy_read_box(const CUDA_MEMCPY3D *box, struct cudaMemcpy3DParms *out);
/* The end of a copy, or filling, in the default stream that is not asynchronous: if it succeeded so
 * far, waits until it is done, where the host could notice that it is not. NULL: an array. */
cudaError_t copy_finish(cudaError_t status, const void *to, const void *from);
/* The error if a copy of this kind to or from a variable is not possible; 0 if it is. */
int copy_check_to_symbol(enum cudaMemcpyKind kind);
int copy_check_from_symbol(enum cudaMemcpyKind kind);
/* The address `offset` bytes into a variable, for an access of `size` bytes. */
int copy_place_in(const void *symbol, size_t size, size_t offset, void **place);

/* ---- Error codes that differ between releases (version_12.c, version_13.c) ---- */

typedef struct VersionErrors {
    cudaError_t impossible_launch; /* for a grid or block that the device does not support */
    cudaError_t unknown_function;  /* for a pointer that is neither a host function nor a handle */
} VersionErrors;
extern const VersionErrors version_errors;

/* ---- Properties (properties.c) ---- */

typedef struct Properties12 Properties12; /* cudaDeviceProp as it was before CUDA 13 */

int properties_read(struct cudaDeviceProp *properties, int device);
/* Writes the first `size` bytes of CUDA 12's struct. CUDA 11's is the beginning of it. */
int properties_read_12(void *properties, size_t size, int device);

/* ---- Formats (array.c) ---- */

/* The driver's format of an element; returns false if its channels are not supported. */
bool format_read(const struct cudaChannelFormatDesc *description, CUarray_format *format,
                 unsigned *channels);

/* Device pointers are addresses. */
static inline CUdeviceptr address_of(const void *pointer) {
    return (CUdeviceptr)(uintptr_t)pointer;
}
static inline void *pointer_of(CUdeviceptr address) { return (void *)(uintptr_t)address; }

#endif
