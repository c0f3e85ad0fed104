/* Modules, launches and textures of a real GPU, through its driver. */
#include "device.h"
#include "assembler.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "memory/texture.h"

enum { MOST_SURFACES = 64 };
enum { LOG_BYTES = 16384, NAME_BYTES = 96, LIMIT_SECONDS = 10 };

/* ---- The driver ---- */

typedef struct Copy3d { /* CUDA_MEMCPY3D */
    size_t from_x, from_y, from_z, from_level;
    unsigned from_type;
    const void *from_host;
    uint64_t from_device;
    void *from_array, *reserved0;
    size_t from_pitch, from_height;
    size_t to_x, to_y, to_z, to_level;
    unsigned to_type;
    void *to_host;
    uint64_t to_device;
    void *to_array, *reserved1;
    size_t to_pitch, to_height;
    size_t width_bytes, height, depth;
} Copy3d;

typedef struct ArrayShape { /* CUDA_ARRAY3D_DESCRIPTOR */
    size_t width, height, depth;
    int format;
    unsigned channels, flags;
} ArrayShape;

typedef struct Resource { /* CUDA_RESOURCE_DESC */
    int type;
    union {
        void *array;
        struct {
            uint64_t address;
            int format;
            unsigned channels;
            size_t bytes;
        } linear;
        int reserved[32];
    } of;
    unsigned flags;
} Resource;

typedef struct Sampling { /* CUDA_TEXTURE_DESC */
    int address[3], filter;
    unsigned flags, anisotropy;
    int level_filter;
    float level_bias, least_level, greatest_level, border[4];
    int reserved[12];
} Sampling;

/* The driver functions that are used, with their names in the library. */
#define CALLS(X)                                                                                   \
    X(init, "cuInit", (unsigned))                                                                  \
    X(get_device, "cuDeviceGet", (int *, int))                                                     \
    X(get_name, "cuDeviceGetName", (char *, int, int))                                             \
    X(get_attribute, "cuDeviceGetAttribute", (int *, int, int))                                    \
    X(retain, "cuDevicePrimaryCtxRetain", (void **, int))                                          \
    X(make_current, "cuCtxSetCurrent", (void *))                                                   \
    X(allocate, "cuMemAlloc_v2", (uint64_t *, size_t))                                             \
    X(allocate_host, "cuMemAllocHost_v2", (void **, size_t))                                       \
    X(copy_in, "cuMemcpyHtoD_v2", (uint64_t, const void *, size_t))                                \
    X(copy_out, "cuMemcpyDtoH_v2", (void *, uint64_t, size_t))                                     \
    X(load, "cuModuleLoadDataEx", (void **, const void *, unsigned, int *, void **))               \
    X(unload, "cuModuleUnload", (void *))                                                          \
    X(find, "cuModuleGetFunction", (void **, void *, const char *))                                \
    X(launch, "cuLaunchKernel",                                                                    \
      (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *,       \
       void **, void **))                                                                          \
    X(query, "cuStreamQuery", (void *))                                                            \
    X(error_name, "cuGetErrorName", (int, const char **))                                          \
    X(array_new, "cuArray3DCreate_v2", (void **, const ArrayShape *))                              \
    X(mipmap_new, "cuMipmappedArrayCreate", (void **, const ArrayShape *, unsigned))               \
    X(mipmap_level, "cuMipmappedArrayGetLevel", (void **, void *, unsigned))                       \
    X(copy_3d, "cuMemcpy3D_v2", (const Copy3d *))                                                  \
    X(texture_new, "cuTexObjectCreate",                                                            \
      (uint64_t *, const Resource *, const Sampling *, const void *))                              \
    X(surface_new, "cuSurfObjectCreate", (uint64_t *, const Resource *))

#define DECLARE(name, symbol, parameters) int(*name) parameters;
typedef struct Driver {
    CALLS(DECLARE)
} Driver;

/* A surface, and the array that contains its texels. */
typedef struct Surface {
    uint64_t handle;
    void *array;
    MemTexture texture;
} Surface;

struct Device {
    Driver driver;
    char name[NAME_BYTES];
    int capability;                      /* major number of the compute capability */
    char target[32];                     /* "sm_90" */
    uint64_t buffers[HARNESS_BUFFERS];   /* device addresses */
    void *host[HARNESS_BUFFERS];         /* copies on the host */
    size_t reach_bytes[HARNESS_BUFFERS]; /* bytes that are copied before and after a launch */
    Surface surfaces[MOST_SURFACES];
    int surface_count;
    int written; /* the surface whose texels are copied from and to buffer 1; -1: none */
};

static void open_driver(Driver *driver, const char *library) {
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
#define BIND(name, symbol, parameters)                                                             \
    *(void **)&driver->name = dlsym(handle, symbol);                                               \
    if (!driver->name) {                                                                           \
        fprintf(stderr, "%s has no %s\n", library, symbol);                                        \
        exit(1);                                                                                   \
    }
    CALLS(BIND)
}

static const char *error_text(const Device *device, int status) {
    const char *name = NULL;
    return status && device->driver.error_name(status, &name) == 0 ? name : status ? "?" : NULL;
}

static void must(const Device *device, int status, const char *what) {
    if (!status) return;
    fprintf(stderr, "%s: %s\n", what, error_text(device, status));
    exit(1);
}

enum { MAJOR = 75, MINOR = 76 }; /* CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_... */

Device *device_new(const char *library, uint64_t buffers[HARNESS_BUFFERS]) {
    Device *device = calloc(1, sizeof *device);
    device->written = -1;
    const Driver *driver = &device->driver;
    open_driver(&device->driver, library);
    int ordinal, major, minor;
    void *context;
    must(device, driver->init(0), "cuInit");
    must(device, driver->get_device(&ordinal, 0), "cuDeviceGet");
    must(device, driver->get_name(device->name, NAME_BYTES, ordinal), "cuDeviceGetName");
    must(device, driver->get_attribute(&major, MAJOR, ordinal), "cuDeviceGetAttribute");
    must(device, driver->get_attribute(&minor, MINOR, ordinal), "cuDeviceGetAttribute");
    device->capability = major;
    snprintf(device->target, sizeof device->target, "sm_%d%d", major, minor);
    must(device, driver->retain(&context, ordinal), "cuDevicePrimaryCtxRetain");
    must(device, driver->make_current(context), "cuCtxSetCurrent");
    for (int i = 0; i < HARNESS_BUFFERS; i++) {
        must(device, driver->allocate(&device->buffers[i], HARNESS_BUFFER_BYTES), "cuMemAlloc");
        must(device, driver->allocate_host(&device->host[i], HARNESS_BUFFER_BYTES),
             "cuMemAllocHost");
        memset(device->host[i], 0, HARNESS_BUFFER_BYTES);
        buffers[i] = device->buffers[i];
    }
    return device;
}

void device_free(Device *device) { free(device); }
const char *device_name(const Device *device) { return device->name; }
int device_capability(const Device *device) { return device->capability; }
void *device_buffer(const Device *device, int buffer) { return device->host[buffer]; }
void device_reach(Device *device, int buffer, size_t bytes) { device->reach_bytes[buffer] = bytes; }

/* ---- Textures ---- */

enum { HOST = 1, ARRAY = 3 };                        /* CU_MEMORYTYPE_... */
enum { OF_ARRAY = 0, OF_MIPMAP = 1, OF_LINEAR = 2 }; /* CU_RESOURCE_TYPE_... */
enum { LAYERED = 1, FOR_SURFACES = 2, CUBE = 4 };    /* CUDA_ARRAY3D_... */
enum { AS_INTEGERS = 1, NORMALISED = 2, SRGB = 16 }; /* CU_TRSF_... */

static int format_of(const MemTexture *texture) { /* CU_AD_FORMAT_... */
    const int size = texture->channel_bits == 8 ? 1 : texture->channel_bits == 16 ? 2 : 3;
    if (texture->type == MEM_TEXEL_FLOAT) return size == 2 ? 0x10 : 0x20;
    return texture->type == MEM_TEXEL_SIGNED ? 7 + size : size;
}

static bool has_slices(const MemTexture *texture) {
    return texture->geometry != MEM_PLAIN || texture->dimensions == 3;
}

static int buffer_of(const Device *device, uint64_t address) {
    int buffer = HARNESS_BUFFERS - 1;
    while (address - device->buffers[buffer] >= HARNESS_BUFFER_BYTES)
        buffer--;
    return buffer;
}

/* Copies between an array and the host's texels of a level. */
static int copy_level(const Device *device, const MemTexture *texture, int level, void *array,
                      bool is_back) {
    const MemLevel *from = &texture->level[level];
    const int buffer = buffer_of(device, from->address);
    uint8_t *host = (uint8_t *)device->host[buffer] + (from->address - device->buffers[buffer]);
    Copy3d copy = {.width_bytes = from->width * mem_texel_bytes(texture),
                   .height = from->height,
                   .depth = from->depth};
    copy.from_type = is_back ? ARRAY : HOST;
    copy.to_type = is_back ? HOST : ARRAY;
    copy.from_host = copy.to_host = host;
    copy.from_pitch = copy.to_pitch = from->pitch_bytes;
    copy.from_height = copy.to_height = from->height;
    copy.from_array = copy.to_array = array;
    return device->driver.copy_3d(&copy);
}

static int make_array(const Device *device, const MemTexture *texture, Resource *resource) {
    const MemLevel *first = &texture->level[0];
    const Driver *driver = &device->driver;
    const ArrayShape shape = {.width = first->width,
                              .height = texture->dimensions > 1 ? first->height : 0,
                              .depth = has_slices(texture) ? first->depth : 0,
                              .format = format_of(texture),
                              .channels = texture->channels,
                              .flags = (texture->geometry == MEM_LAYERS ||
                                                (texture->geometry == MEM_CUBES && first->depth > 6)
                                            ? LAYERED
                                            : 0) |
                                       (texture->geometry == MEM_CUBES ? CUBE : 0) |
                                       (texture->is_surface ? FOR_SURFACES : 0)};
    if (texture->levels == 1) {
        const int status = driver->array_new(&resource->of.array, &shape);
        resource->type = OF_ARRAY;
        return status ? status : copy_level(device, texture, 0, resource->of.array, false);
    }
    resource->type = OF_MIPMAP;
    int status = driver->mipmap_new(&resource->of.array, &shape, texture->levels);
    for (int i = 0; i < texture->levels && !status; i++) {
        void *level;
        status = driver->mipmap_level(&level, resource->of.array, (unsigned)i);
        if (!status) status = copy_level(device, texture, i, level, false);
    }
    return status;
}

static void describe_sampling(const MemTexture *texture, Sampling *sampling) {
    const MemSampler *sampler = &texture->sampler;
    static const int modes[] = {[MEM_ADDRESS_WRAP] = 0,
                                [MEM_ADDRESS_CLAMP] = 1,
                                [MEM_ADDRESS_MIRROR] = 2,
                                [MEM_ADDRESS_BORDER] = 3};
    for (int i = 0; i < 3; i++)
        sampling->address[i] = modes[sampler->mode[i]];
    for (int i = 0; i < 4; i++)
        sampling->border[i] = sampler->border[i];
    sampling->filter = sampler->is_linear_filter;
    sampling->level_filter = sampler->is_linear_mipmap;
    sampling->level_bias = sampler->level_bias;
    sampling->least_level = sampler->lowest_level;
    sampling->greatest_level = sampler->highest_level;
    const bool are_integers = texture->type != MEM_TEXEL_FLOAT && !texture->reads_normalised;
    sampling->flags = (are_integers ? AS_INTEGERS : 0) | (sampler->is_normalised ? NORMALISED : 0) |
                      (texture->is_srgb ? SRGB : 0);
}

uint64_t device_texture(Device *device, const MemTexture *texture) {
    Resource resource = {0};
    Sampling sampling = {0};
    uint64_t handle = 0;
    int status = 0;
    if (texture->is_linear_memory) {
        const size_t at = texture->level[0].address - device->buffers[3];
        resource.type = OF_LINEAR;
        resource.of.linear.address = texture->level[0].address;
        resource.of.linear.format = format_of(texture);
        resource.of.linear.channels = texture->channels;
        resource.of.linear.bytes = (size_t)texture->level[0].width * mem_texel_bytes(texture);
        status =
            device->driver.copy_in(texture->level[0].address, (const uint8_t *)device->host[3] + at,
                                   resource.of.linear.bytes);
    } else {
        status = make_array(device, texture, &resource);
    }
    describe_sampling(texture, &sampling);
    if (!status)
        status = texture->is_surface
                     ? device->driver.surface_new(&handle, &resource)
                     : device->driver.texture_new(&handle, &resource, &sampling, NULL);
    if (status) fprintf(stderr, "no texture: %s\n", error_text(device, status));
    else if (texture->is_surface && device->surface_count < MOST_SURFACES)
        device->surfaces[device->surface_count++] = (Surface){handle, resource.of.array, *texture};
    return status ? 0 : handle;
}

void device_write_to(Device *device, uint64_t surface) {
    device->written = -1;
    for (int i = 0; i < device->surface_count && surface; i++)
        if (device->surfaces[i].handle == surface) device->written = i;
}

static int copy_written(const Device *device, bool is_back) {
    if (device->written < 0) return 0;
    const Surface *surface = &device->surfaces[device->written];
    return copy_level(device, &surface->texture, 0, surface->array, is_back);
}

/* ---- Modules and launches ---- */

enum { ERROR_LOG = 5, ERROR_LOG_BYTES = 6 }; /* CU_JIT_... */

void *device_load(Device *device, const char *ptx, char **messages) {
    char *text = assembler_retarget(ptx, device->target), *log = calloc(1, LOG_BYTES);
    int options[] = {ERROR_LOG, ERROR_LOG_BYTES};
    void *values[] = {log, (void *)(uintptr_t)LOG_BYTES}, *module = NULL;
    const int status = device->driver.load(&module, text, 2, options, values);
    free(text);
    if (status && messages) {
        free(*messages);
        *messages = log;
        if (!*log) snprintf(log, LOG_BYTES, "%s\n", error_text(device, status));
    } else {
        free(log);
    }
    return status ? NULL : module;
}

void device_unload(Device *device, void *module) { device->driver.unload(module); }

enum { NOT_READY = 600 };

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Waits until the kernel ends. Returns an error if it exceeds the time limit; a process cannot stop
 * a kernel. */
static const char *wait_for_kernel(const Device *device) {
    const double end = now() + LIMIT_SECONDS;
    for (;;) {
        const int status = device->driver.query(NULL);
        if (status != NOT_READY) return error_text(device, status);
        if (now() > end) return "does not end";
    }
}

const char *device_launch(Device *device, void *module, const char *kernel, const Shape *shape,
                          const void *parameters) {
    const Driver *driver = &device->driver;
    const uint8_t *at = parameters;
    void *function, *values[HARNESS_BUFFERS + 1];
    for (int i = 0; i <= HARNESS_BUFFERS; i++) {
        values[i] = (void *)(uintptr_t)(at + 8 * i);
        if (i == HARNESS_BUFFERS || !device->reach_bytes[i]) continue;
        must(device, driver->copy_in(device->buffers[i], device->host[i], device->reach_bytes[i]),
             "cuMemcpyHtoD");
    }
    int status = copy_written(device, false);
    if (!status) status = driver->find(&function, module, kernel);
    if (!status)
        status = driver->launch(function, shape->grid[0], shape->grid[1], shape->grid[2],
                                shape->block[0], shape->block[1], shape->block[2],
                                shape->shared_bytes, NULL, values, NULL);
    const char *wrong = status ? error_text(device, status) : wait_for_kernel(device);
    for (int i = 0; i < HARNESS_BUFFERS && !wrong; i++)
        if (device->reach_bytes[i])
            wrong = error_text(device, driver->copy_out(device->host[i], device->buffers[i],
                                                        device->reach_bytes[i]));
    if (!wrong) wrong = error_text(device, copy_written(device, true));
    return wrong;
}
