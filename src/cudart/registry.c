/* What compilers register before main: fat binaries with their kernels and variables.
 *
 * A fat binary is loaded when something of it is first used, so that a program pays only for what
 * it runs and a binary that cannot be loaded is no obstacle to the others. */
#include "cudart/runtime.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"

typedef struct Binary Binary;

struct Kernel {
    Binary *binary;
    const void *host;    /* the function that programs name it by */
    const char *name;    /* in PTX; the program's */
    CUfunction function; /* NULL while the binary is not loaded */
    Kernel *next;        /* of the binary */
};

typedef struct Variable Variable;
struct Variable {
    Binary *binary;
    const void *host; /* the shadow that programs name it by */
    const char *name; /* in PTX; the program's */
    void **managed;   /* where the host looks for its address, NULL: it is not managed */
    Variable *next;   /* of the binary */
};

struct Binary {
    void *wrapper;   /* as the compiler made it; first, so that a handle leads to it */
    CUmodule module; /* NULL while not loaded */
    int error;       /* why it cannot be loaded, else 0 */
    Kernel *kernels;
    Variable *variables;
    Binary *next;
};

static struct {
    pthread_mutex_t lock;
    Binary *binaries;
    Map *kernels;   /* by the bytes of a host function's address, and of the Kernel's own */
    Map *variables; /* by the bytes of a host shadow's address */
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void put(Map **map, const void *key, void *value) {
    if (!*map) *map = map_new();
    map_put(*map, (const char *)&key, sizeof key, value);
}

static void *get(const Map *map, const void *key) {
    return map ? map_get(map, (const char *)&key, sizeof key) : NULL;
}

/* ---- Registration ---- */

void **CUDARTAPI __cudaRegisterFatBinary(void *wrapper) {
    Binary *binary = base_calloc(1, sizeof *binary);
    binary->wrapper = wrapper;
    pthread_mutex_lock(&registry.lock);
    binary->next = registry.binaries;
    registry.binaries = binary;
    pthread_mutex_unlock(&registry.lock);
    return &binary->wrapper;
}

void CUDARTAPI __cudaRegisterFatBinaryEnd(void **binary) {
    (void)binary; /* nothing is loaded yet */
}

void CUDARTAPI __cudaRegisterFunction(void **binary, const char *host_function,
                                      char *device_function, const char *name, int thread_limit,
                                      uint3 *thread_id, uint3 *block_id, dim3 *block, dim3 *grid,
                                      int *warp_size) {
    (void)device_function, (void)thread_limit, (void)thread_id, (void)block_id;
    (void)block, (void)grid, (void)warp_size;
    Kernel *kernel = base_calloc(1, sizeof *kernel);
    kernel->binary = (Binary *)binary;
    kernel->host = host_function;
    kernel->name = name;
    pthread_mutex_lock(&registry.lock);
    kernel->next = kernel->binary->kernels;
    kernel->binary->kernels = kernel;
    put(&registry.kernels, host_function, kernel);
    put(&registry.kernels, kernel, kernel);
    pthread_mutex_unlock(&registry.lock);
}

static void add_variable(void **binary, const void *host, void **managed, const char *name) {
    Variable *variable = base_calloc(1, sizeof *variable);
    variable->binary = (Binary *)binary;
    variable->host = host;
    variable->name = name;
    variable->managed = managed;
    pthread_mutex_lock(&registry.lock);
    variable->next = variable->binary->variables;
    variable->binary->variables = variable;
    put(&registry.variables, host, variable);
    pthread_mutex_unlock(&registry.lock);
}

void CUDARTAPI __cudaRegisterVar(void **binary, char *host_variable, char *device_address,
                                 const char *name, int is_external, size_t size, int is_constant,
                                 int is_global) {
    (void)device_address, (void)is_external, (void)size, (void)is_constant, (void)is_global;
    add_variable(binary, host_variable, NULL, name);
}

void CUDARTAPI __cudaRegisterManagedVar(void **binary, void **host_variable, char *device_address,
                                        const char *name, int is_external, size_t size,
                                        int is_constant, int is_global) {
    (void)device_address, (void)is_external, (void)size, (void)is_constant, (void)is_global;
    add_variable(binary, host_variable, host_variable, name);
}

/* At the end of the program, or of a library that is closed. The module stays until the context
 * ends: at the end of the program the driver may be gone already. */
void CUDARTAPI __cudaUnregisterFatBinary(void **handle) {
    Binary *binary = (Binary *)handle;
    pthread_mutex_lock(&registry.lock);
    Binary **link = &registry.binaries;
    while (*link && *link != binary)
        link = &(*link)->next;
    if (*link) *link = binary->next;
    for (Kernel *kernel = binary->kernels, *next; kernel; kernel = next) {
        next = kernel->next;
        put(&registry.kernels, kernel->host, NULL);
        put(&registry.kernels, kernel, NULL);
        free(kernel);
    }
    for (Variable *variable = binary->variables, *next; variable; variable = next) {
        next = variable->next;
        put(&registry.variables, variable->host, NULL);
        free(variable);
    }
    free(binary);
    pthread_mutex_unlock(&registry.lock);
}

/* ---- Loading ---- */

/* Tells the host where the binary's managed variables lie: where kernels find them, provided that
 * the two share addresses, which is what makes memory managed at all. */
static int publish_managed(const Binary *binary) {
    for (const Variable *variable = binary->variables; variable; variable = variable->next) {
        CUdeviceptr address, probe;
        if (!variable->managed) continue;
        int status = (int)cuMemAllocManaged(&probe, 1, CU_MEM_ATTACH_GLOBAL);
        if (status == 0) status = (int)cuMemFree(probe);
        if (status == 0)
            status = (int)cuModuleGetGlobal(&address, NULL, binary->module, variable->name);
        if (status) return status;
        *variable->managed = pointer_of(address);
    }
    return 0;
}

/* The caller holds the lock. */
static int load(Binary *binary) {
    if (binary->module || binary->error) return binary->error;
    int status = (int)cuModuleLoadData(&binary->module, binary->wrapper);
    if (status == 0) status = publish_managed(binary);
    /* after a kernel's fault nothing loads, but a reset may follow */
    bool is_lasting = launch_failure() == 0;
    if (status && is_lasting) binary->error = status;
    return status;
}

void registry_unload(void) {
    pthread_mutex_lock(&registry.lock);
    for (Binary *binary = registry.binaries; binary; binary = binary->next) {
        binary->module = NULL;
        binary->error = 0;
        for (Kernel *kernel = binary->kernels; kernel; kernel = kernel->next)
            kernel->function = NULL;
    }
    pthread_mutex_unlock(&registry.lock);
}

/* Before the program's first look at a managed variable. */
char CUDARTAPI __cudaInitModule(void **handle) {
    Binary *binary = (Binary *)handle;
    bool is_ready = runtime_enter();
    if (!is_ready) return 0;
    pthread_mutex_lock(&registry.lock);
    bool has_managed = false;
    for (const Variable *variable = binary->variables; variable; variable = variable->next)
        has_managed |= variable->managed != NULL;
    int status = has_managed ? load(binary) : 0;
    pthread_mutex_unlock(&registry.lock);
    return runtime_leave(status) == cudaSuccess;
}

/* ---- Look-up ---- */

int registry_function(const void *key, CUfunction *function) {
    pthread_mutex_lock(&registry.lock);
    Kernel *kernel = get(registry.kernels, key);
    CUmodule module;
    int status = kernel ? 0 : cudaErrorInvalidDeviceFunction;
    if (!kernel && cuFuncGetModule(&module, (CUfunction)(uintptr_t)key) == CUDA_SUCCESS) {
        *function = (CUfunction)(uintptr_t)key; /* of a library */
        pthread_mutex_unlock(&registry.lock);
        return 0;
    }
    if (kernel && !kernel->function) {
        status = load(kernel->binary);
        if (status == 0 &&
            cuModuleGetFunction(&kernel->function, kernel->binary->module, kernel->name))
            status = cudaErrorInvalidDeviceFunction;
    }
    if (status == 0) *function = kernel->function;
    pthread_mutex_unlock(&registry.lock);
    return status;
}

Kernel *registry_kernel(const void *host_function) {
    pthread_mutex_lock(&registry.lock);
    Kernel *kernel = get(registry.kernels, host_function);
    pthread_mutex_unlock(&registry.lock);
    return kernel;
}

void *registry_host_function(CUfunction function) {
    const void *host = NULL;
    pthread_mutex_lock(&registry.lock);
    for (const Binary *binary = registry.binaries; binary; binary = binary->next) {
        for (const Kernel *kernel = binary->kernels; kernel; kernel = kernel->next) {
            if (kernel->function == function) host = kernel->host;
        }
    }
    pthread_mutex_unlock(&registry.lock);
    return (void *)(uintptr_t)host;
}

int registry_variable(const void *symbol, CUdeviceptr *address, size_t *size) {
    pthread_mutex_lock(&registry.lock);
    const Variable *variable = get(registry.variables, symbol);
    int status = variable ? load(variable->binary) : cudaErrorInvalidSymbol;
    if (status == 0 && cuModuleGetGlobal(address, size, variable->binary->module, variable->name))
        status = cudaErrorInvalidSymbol;
    pthread_mutex_unlock(&registry.lock);
    return status;
}
