/* What compilers register before main: fat binaries with their kernels and variables.
 *
 * A fat binary is loaded when something in it is first used. So a program pays only for what it
 * runs, and a binary that cannot be loaded does not affect the others. Binaries that clang made for
 * -rdc=true form one module for each program or shared library.
 *
 * clang's managed variables (cuda/clang/cuda_runtime.h) are in the host's own memory. Before main,
 * as soon as all variables of a binary are known, the runtime reports them to the device, which
 * sets their initial values. */
#include "cudart/runtime.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sass/fatbin_format.h"

#include "base/arena.h"
#include "base/lock.h"
#include "base/map.h"

typedef struct Binary Binary;

struct Kernel {
    Binary *binary;
    const void *host;    /* host function by which programs identify it */
    const char *name;    /* name in PTX; memory of the program */
    CUfunction function; /* NULL if the binary is not loaded */
    Kernel *next;        /* next kernel of the binary */
};

typedef struct Variable Variable;
struct Variable {
    Binary *binary;
    const void *host;  /* host shadow by which programs identify it */
    const char *name;  /* name in PTX; memory of the program */
    void **managed;    /* where the host looks for its address; NULL: it knows it, or needs none */
    bool is_own;       /* a managed variable whose memory is the host's shadow */
    bool is_reference; /* it is a reference to a texture or a surface: */
    Reference reference;
    Variable *next; /* next variable of the binary */
};

struct Binary {
    void *wrapper;   /* as the compiler made it; first member, so that a handle points to it */
    CUmodule module; /* NULL if not loaded */
    int error;       /* the error if it cannot be loaded; else 0 */
    bool is_linked;  /* its module includes other binaries that are linked with it */
    void *object;    /* the program or shared library that contains it */
    Kernel *kernels;
    Variable *variables;
    Binary *next;
};

typedef struct Section Section;
struct Section {
    const char *start, *stop;
    Section *next;
};

/* The addresses of such sections in programs of `tyto cc`, see src/cli/toolchain/cc.c. */
#define OWN_LOW  UINT64_C(0x60000000)
#define OWN_HIGH UINT64_C(0x80000000)

enum { LOG_BYTES = 4096 }; /* bytes for messages that are not used */

static struct {
    pthread_mutex_t lock;
    Binary *binaries;
    Map *kernels;      /* by the address of a host function, and by that of its Kernel */
    Map *variables;    /* by the address of a host shadow */
    Section *sections; /* managed variables in the host's own memory */
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void put(Map **map, const void *key, void *value) {
    if (!*map) *map = map_new();
    map_put(*map, (const char *)&key, sizeof key, value);
}

static void *get(const Map *map, const void *key) {
    return map ? map_get(map, (const char *)&key, sizeof key) : NULL;
}

/* ---- Registration ---- */

void CUDARTAPI __cudaRegisterManagedSection(const void *start, const void *stop) {
    Section *section = base_calloc(1, sizeof *section);
    const int before = lock_take(&registry.lock);
    *section = (Section){start, stop, registry.sections};
    registry.sections = section;
    lock_give(&registry.lock, before);
}

static Binary *add_binary(void *wrapper, bool is_linked) {
    Dl_info where = {0};
    Binary *binary = base_calloc(1, sizeof *binary);
    binary->wrapper = wrapper;
    binary->is_linked = is_linked;
    if (is_linked && dladdr(wrapper, &where)) binary->object = where.dli_fbase;
    const int before = lock_take(&registry.lock);
    binary->next = registry.binaries;
    registry.binaries = binary;
    lock_give(&registry.lock, before);
    return binary;
}

void **CUDARTAPI __cudaRegisterFatBinary(void *wrapper) {
    return &add_binary(wrapper, false)->wrapper;
}

/* Registers a binary of clang's -rdc=true objects; `add` registers its kernels and variables. */
void CUDARTAPI __cudaRegisterLinkedBinary(void (*add)(void **), void *wrapper) {
    void **handle = &add_binary(wrapper, true)->wrapper;
    add(handle);
    __cudaRegisterFatBinaryEnd(handle);
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
    const int before = lock_take(&registry.lock);
    kernel->next = kernel->binary->kernels;
    kernel->binary->kernels = kernel;
    put(&registry.kernels, host_function, kernel);
    put(&registry.kernels, kernel, kernel);
    lock_give(&registry.lock, before);
}

static Variable *add_variable(void **binary, const void *host, void **managed, const char *name) {
    Variable *variable = base_calloc(1, sizeof *variable);
    variable->binary = (Binary *)binary;
    variable->host = host;
    variable->name = name;
    variable->managed = managed;
    const int before = lock_take(&registry.lock);
    for (const Section *section = registry.sections; section; section = section->next)
        variable->is_own |=
            (const char *)host >= section->start && (const char *)host < section->stop;
    variable->next = variable->binary->variables;
    variable->binary->variables = variable;
    put(&registry.variables, host, variable);
    lock_give(&registry.lock, before);
    return variable;
}

static void add_reference(void **binary, const void *host, const char *name, Reference reference) {
    Variable *variable = add_variable(binary, host, NULL, name);
    variable->is_reference = true;
    variable->reference = reference;
}

void CUDARTAPI __cudaRegisterTexture(void **binary, const struct textureReference *host_reference,
                                     const void **device_address, const char *name, int dimensions,
                                     int is_normalized_float, int is_external) {
    (void)device_address, (void)dimensions, (void)is_external;
    add_reference(binary, host_reference, name,
                  (Reference){.reads_integers = !is_normalized_float});
}

void CUDARTAPI __cudaRegisterSurface(void **binary, const struct surfaceReference *host_reference,
                                     const void **device_address, const char *name, int dimensions,
                                     int is_external) {
    (void)device_address, (void)dimensions, (void)is_external;
    add_reference(binary, host_reference, name, (Reference){.is_surface = true});
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

/* Called at the end of the program, or when a library is closed. The module stays until the context
 * is destroyed, because at the end of the program the driver may already be gone. */
void CUDARTAPI __cudaUnregisterFatBinary(void **handle) {
    Binary *binary = (Binary *)handle;
    const int before = lock_take(&registry.lock);
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
    lock_give(&registry.lock, before);
}

/* ---- Loading ---- */

/* Writes the addresses of the binary's managed variables for the host. Kernels and host use the
 * same addresses, which is a precondition of managed memory. */
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

/* The managed variables in the host's memory. */
typedef struct Places {
    const char **names;
    const void **addresses;
    unsigned count;
} Places;

/* Adds the managed variables of a binary; returns false if one cannot also be device memory. */
static bool add_places(Places *places, const Binary *binary) {
    for (const Variable *variable = binary->variables; variable; variable = variable->next) {
        uint64_t address = (uintptr_t)variable->host;
        if (!variable->is_own) continue;
        if (address < OWN_LOW || address >= OWN_HIGH) {
            runtime_say("error: managed variable %s: clang's lie where the device finds them only "
                        "in programs that `tyto cc` links, not in shared libraries",
                        variable->name);
            return false;
        }
        size_t bytes = (places->count + 1) * sizeof(void *);
        places->names = base_realloc(places->names, bytes);
        places->addresses = base_realloc(places->addresses, bytes);
        places->names[places->count] = variable->name;
        places->addresses[places->count++] = variable->host;
    }
    return true;
}

/* Loads an image with the addresses of its variables. `log` receives the messages; NULL: stderr
 * does. */
static int load_image(CUmodule *module, const void *image, const Places *places, char *log) {
    CUjit_option options[] = {CU_JIT_GLOBAL_SYMBOL_NAMES, CU_JIT_GLOBAL_SYMBOL_ADDRESSES,
                              CU_JIT_GLOBAL_SYMBOL_COUNT, CU_JIT_ERROR_LOG_BUFFER,
                              CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {places->names, places->addresses, (void *)(uintptr_t)places->count, log,
                      (void *)(uintptr_t)LOG_BYTES};
    return (int)cuModuleLoadDataEx(module, image, log ? 5 : 3, options, values);
}

static bool is_partner(const Binary *binary, const Binary *other) {
    return other == binary ||
           (binary->is_linked && other->is_linked && other->object == binary->object);
}

/* Links all binaries that belong together into one image; the link is stored in *state. */
static int link_partners(const Binary *binary, CUlinkState *state, void **image, char *log) {
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)LOG_BYTES};
    int status = (int)cuLinkCreate(log ? 2 : 0, options, values, state);
    if (status) return status;
    for (Binary *other = registry.binaries; other && status == 0; other = other->next) {
        if (!is_partner(binary, other)) continue;
        const FatbinHeader *header = ((const FatbinWrapper *)other->wrapper)->binary;
        status = (int)cuLinkAddData(*state, CU_JIT_INPUT_FATBINARY, pointer_of(address_of(header)),
                                    header->header_bytes + header->size, "<ptx>", 0, NULL, NULL);
    }
    return status ? status : (int)cuLinkComplete(*state, image, NULL);
}

/* Loads the image that a binary needs, with messages to `log`, or to stderr if that is NULL. The
 * caller holds the lock. */
static int load_all(Binary *binary, CUmodule *module, char *log) {
    Places places = {0};
    void *image = binary->wrapper;
    CUlinkState state = NULL;
    int status = binary->is_linked ? link_partners(binary, &state, &image, log) : 0;
    for (Binary *other = registry.binaries; other && status == 0; other = other->next) {
        if (is_partner(binary, other) && !add_places(&places, other))
            status = cudaErrorNotSupported;
    }
    if (status == 0) status = load_image(module, image, &places, log);
    if (state) cuLinkDestroy(state);
    free(places.names);
    free(places.addresses);
    return status;
}

static void set_module(const Binary *binary, CUmodule module, int error) {
    for (Binary *other = registry.binaries; other; other = other->next) {
        if (!is_partner(binary, other)) continue;
        other->module = module;
        other->error = error;
    }
}

/* The caller holds the lock. Loading works during a capture as at any other time. */
static int load(Binary *binary) {
    if (binary->module || binary->error) return binary->error;
    CUmodule module = NULL;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    cuThreadExchangeStreamCaptureMode(&mode);
    int status = load_all(binary, &module, NULL);
    if (status == 0) set_module(binary, module, 0);
    for (const Binary *other = registry.binaries; other && status == 0; other = other->next)
        if (is_partner(binary, other)) status = publish_managed(other);
    cuThreadExchangeStreamCaptureMode(&mode);
    /* after a kernel's fault nothing can be loaded, but a reset may follow */
    bool is_lasting = launch_failure() == 0;
    if (status && is_lasting) set_module(binary, module, status);
    return status;
}

/* Loads a binary with managed variables in the host's memory at once, because the program may
 * access them without calling the runtime. If a binary needs others that are not registered yet,
 * this fails silently, and is repeated with each of them. */
void CUDARTAPI __cudaRegisterFatBinaryEnd(void **handle) {
    Binary *binary = (Binary *)handle;
    bool has_own = false;
    const int before = lock_take(&registry.lock);
    for (const Binary *other = registry.binaries; other; other = other->next) {
        for (const Variable *variable = other->variables; variable; variable = variable->next)
            has_own |= variable->is_own && is_partner(binary, other);
    }
    if (has_own && runtime_enter()) {
        static char log[LOG_BYTES];
        CUmodule module = NULL;
        for (const Binary *other = registry.binaries; other; other = other->next) {
            if (!is_partner(binary, other) || !other->module) continue;
            cuModuleUnload(other->module);
            set_module(binary, NULL, 0);
        }
        int status = load_all(binary, &module, log);
        if (status == 0) set_module(binary, module, 0);
        if (status == cudaErrorNotSupported) set_module(binary, NULL, status); /* reported */
    }
    lock_give(&registry.lock, before);
}

void registry_unload(void) {
    const int before = lock_take(&registry.lock);
    for (Binary *binary = registry.binaries; binary; binary = binary->next) {
        binary->module = NULL;
        binary->error = 0;
        for (Kernel *kernel = binary->kernels; kernel; kernel = kernel->next)
            kernel->function = NULL;
        for (Variable *variable = binary->variables; variable; variable = variable->next)
            variable->reference.is_bound = false;
    }
    lock_give(&registry.lock, before);
}

/* Called before the program's first access to a managed variable. */
char CUDARTAPI __cudaInitModule(void **handle) {
    Binary *binary = (Binary *)handle;
    bool is_ready = runtime_enter();
    if (!is_ready) return 0;
    const int before = lock_take(&registry.lock);
    bool has_managed = false;
    for (const Variable *variable = binary->variables; variable; variable = variable->next)
        has_managed |= variable->managed != NULL;
    int status = has_managed ? load(binary) : 0;
    lock_give(&registry.lock, before);
    return runtime_leave(status) == cudaSuccess;
}

/* ---- Look-up ---- */

/* The caller holds the lock. */
static int find_function(const void *key, CUfunction *function) {
    Kernel *kernel = get(registry.kernels, key);
    CUmodule module;
    *function = (CUfunction)(uintptr_t)key;
    if (!kernel && key && cuFuncGetModule(&module, *function) == CUDA_SUCCESS)
        return cudaSuccess; /* of a library */
    if (!kernel) return key ? (int)version_errors.unknown_function : cudaErrorInvalidDeviceFunction;
    int status = kernel->function ? cudaSuccess : load(kernel->binary);
    if (status == 0 && !kernel->function &&
        cuModuleGetFunction(&kernel->function, kernel->binary->module, kernel->name))
        status = cudaErrorInvalidDeviceFunction;
    *function = kernel->function;
    return status;
}

int registry_function(const void *key, CUfunction *function) {
    int status = launch_failure();
    if (status) return status;
    const int before = lock_take(&registry.lock);
    status = find_function(key, function);
    lock_give(&registry.lock, before);
    return status;
}

Kernel *registry_kernel(const void *host_function) {
    const int before = lock_take(&registry.lock);
    Kernel *kernel = get(registry.kernels, host_function);
    lock_give(&registry.lock, before);
    return kernel;
}

void *registry_host_function(CUfunction function) {
    const void *host = NULL;
    const int before = lock_take(&registry.lock);
    for (const Binary *binary = registry.binaries; binary; binary = binary->next) {
        for (const Kernel *kernel = binary->kernels; kernel; kernel = kernel->next) {
            if (kernel->function == function) host = kernel->host;
        }
    }
    lock_give(&registry.lock, before);
    return (void *)(uintptr_t)host;
}

/* A managed variable can also be identified by its own address, which is `&variable` in host
 * code. */
static const Variable *find_variable(const void *symbol) {
    const Variable *found = get(registry.variables, symbol);
    for (const Binary *binary = registry.binaries; binary && !found; binary = binary->next) {
        for (const Variable *v = binary->variables; v && !found; v = v->next)
            if (v->managed && binary->module && *v->managed == symbol) found = v;
    }
    return found;
}

/* Reports once that a symbol is not registered. */
static void say_unknown(const void *symbol, const char *name) {
    char what[64];
    snprintf(what, sizeof what, "symbol %p", symbol);
    if (!runtime_tells_first(what)) return;
    if (name) runtime_say("error: no module that is loaded has the variable '%s'", name);
    else
        runtime_say("error: %s is no symbol: a symbol is a __device__, __constant__ or __managed__ "
                    "variable itself, not its address on the device nor its name",
                    what + strlen("symbol "));
}

int registry_variable(const void *symbol, CUdeviceptr *address, size_t *size) {
    int status = launch_failure();
    if (status) return status;
    const int before = lock_take(&registry.lock);
    const Variable *variable = find_variable(symbol);
    status = variable ? load(variable->binary) : (int)cudaErrorInvalidSymbol;
    if (status == 0 && cuModuleGetGlobal(address, size, variable->binary->module, variable->name))
        status = cudaErrorInvalidSymbol;
    lock_give(&registry.lock, before);
    if (status == cudaErrorInvalidSymbol) say_unknown(symbol, variable ? variable->name : NULL);
    return status;
}

int registry_reference(const void *host, bool is_surface, void **handle, Reference **reference) {
    int status = launch_failure();
    if (status) return status;
    const int before = lock_take(&registry.lock);
    Variable *variable = get(registry.variables, host);
    bool is_right =
        variable && variable->is_reference && variable->reference.is_surface == is_surface;
    int wrong = is_surface ? cudaErrorInvalidSurface : cudaErrorInvalidTexture;
    status = is_right ? load(variable->binary) : wrong;
    if (status == 0) {
        CUmodule module = variable->binary->module;
        CUresult found = is_surface
                             ? cuModuleGetSurfRef((CUsurfref *)handle, module, variable->name)
                             : cuModuleGetTexRef((CUtexref *)handle, module, variable->name);
        if (found) status = wrong;
        *reference = &variable->reference;
    }
    lock_give(&registry.lock, before);
    return status;
}
