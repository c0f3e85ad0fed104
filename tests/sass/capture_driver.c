/* A CUDA driver that runs nothing: it writes each module to a file and reports that the module
 * cannot be loaded. test_conformance uses it to write its PTX to files: every form as it is
 * assembled for a real GPU.
 *
 * TYTO_CAPTURE: the folder for the files; TYTO_CAPTURE_SM: the architecture, 90. Kernels that were
 * part of a larger module are not written again. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAJOR = 75, NOT_LOADED = 209, PATH_BYTES = 4096, MOST_KERNELS = 1 << 16 };

static int architecture(void) {
    const char *text = getenv("TYTO_CAPTURE_SM");
    return text ? atoi(text) : 90;
}

/* Whether the first kernel, identified by its number, is not written yet. Modules of a single
 * form call their kernel k, without a number. */
static int is_new(const char *ptx) {
    static char seen[MOST_KERNELS];
    const char *entry = strstr(ptx, ".entry k");
    if (!entry || entry[8] < '0' || entry[8] > '9') return 1;
    const long number = strtol(entry + 8, NULL, 10) % MOST_KERNELS;
    if (seen[number]) return 0;
    for (; entry; entry = strstr(entry + 8, ".entry k"))
        seen[strtol(entry + 8, NULL, 10) % MOST_KERNELS] = 1;
    return 1;
}

static void write_down(const char *ptx) {
    static int count;
    char path[PATH_BYTES];
    const char *folder = getenv("TYTO_CAPTURE");
    if (!folder || !is_new(ptx)) return;
    snprintf(path, sizeof path, "%s/%05d.ptx", folder, count++);
    FILE *file = fopen(path, "w");
    if (!file) return;
    fputs(ptx, file);
    fclose(file);
}

int cuInit(unsigned flags);
int cuInit(unsigned flags) { return (int)(flags & 0); }

int cuDeviceGet(int *device, int ordinal);
int cuDeviceGet(int *device, int ordinal) {
    *device = ordinal & 0;
    return 0;
}

int cuDeviceGetName(char *name, int size, int device);
int cuDeviceGetName(char *name, int size, int device) {
    snprintf(name, (size_t)size, "capture %d", device);
    return 0;
}

int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuDeviceGetAttribute(int *value, int attribute, int device) {
    (void)device;
    *value = attribute == MAJOR ? architecture() / 10 : architecture() % 10;
    return 0;
}

int cuMemAlloc_v2(uint64_t *address, size_t bytes);
int cuMemAlloc_v2(uint64_t *address, size_t bytes) {
    static uint64_t next = 1 << 24;
    *address = next;
    next += bytes;
    return 0;
}

int cuMemAllocHost_v2(void **memory, size_t bytes);
int cuMemAllocHost_v2(void **memory, size_t bytes) {
    *memory = calloc(1, bytes);
    return !*memory;
}

int cuModuleLoadDataEx(void **module, const void *image, unsigned count, int *options,
                       void **values);
int cuModuleLoadDataEx(void **module, const void *image, unsigned count, int *options,
                       void **values) {
    (void)count, (void)options, (void)values;
    write_down(image);
    *module = NULL;
    return NOT_LOADED;
}

int cuGetErrorName(int status, const char **name);
int cuGetErrorName(int status, const char **name) {
    *name = status == NOT_LOADED ? "NO_BINARY_FOR_GPU" : "?";
    return 0;
}

/* Functions that are called only after a module is loaded. */
#define UNUSED(name)                                                                               \
    int name(void);                                                                                \
    int name(void) { return 1; }
UNUSED(cuMemcpyHtoD_v2)
UNUSED(cuMemcpyDtoH_v2)
UNUSED(cuModuleUnload)
UNUSED(cuModuleGetFunction)
UNUSED(cuLaunchKernel)
UNUSED(cuStreamQuery)
UNUSED(cuArray3DCreate_v2)
UNUSED(cuMipmappedArrayCreate)
UNUSED(cuMipmappedArrayGetLevel)
UNUSED(cuMemcpy3D_v2)
UNUSED(cuTexObjectCreate)
UNUSED(cuSurfObjectCreate)

int cuDevicePrimaryCtxRetain(void **context, int device);
int cuDevicePrimaryCtxRetain(void **context, int device) {
    static int only;
    *context = &only;
    return device;
}

int cuCtxSetCurrent(void *context);
int cuCtxSetCurrent(void *context) { return !context; }
