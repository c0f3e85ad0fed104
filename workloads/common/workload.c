/* Shared part of the workloads' host programs. */
#include "workload.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STATUS_MISMATCH = 1, STATUS_ERROR = 2, PATH_BYTES = 4096 };

void workload_fail(const char *name, const char *format, ...) {
    va_list args;
    va_start(args, format);
    fprintf(stderr, "%s: ", name);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    exit(STATUS_ERROR);
}

void workload_check(CUresult result, const char *call) {
    if (result == CUDA_SUCCESS) return;
    const char *name = NULL, *text = NULL;
    cuGetErrorName(result, &name);
    cuGetErrorString(result, &text);
    workload_fail(call, "%s: %s", name ? name : "unknown error", text ? text : "");
}

static const char *const SIZE_NAMES[WORKLOAD_SIZES] = {"test", "small", "paper"};

static int count_parameters(const WorkloadInfo *info) {
    int count = 0;
    while (count < WORKLOAD_MOST_PARAMETERS && info->parameters[count].name)
        count++;
    return count;
}

static void print_help(const WorkloadInfo *info) {
    printf("usage: %s [--size test|small|paper|N] [--seed S] [--PARAMETER N]...\n"
           "%s\n\n"
           "  --size SIZE  values of all parameters (small), or N for the first\n"
           "  --seed S     seed of the random input (1)\n\n"
           "  %-16s %10s %10s %10s %10s\n",
           info->name, info->summary, "parameter", SIZE_NAMES[0], SIZE_NAMES[1], SIZE_NAMES[2],
           "largest");
    for (int i = 0; i < count_parameters(info); i++) {
        const WorkloadParameter *parameter = &info->parameters[i];
        printf("  --%-14s %10u %10u %10u %10u  %s", parameter->name, parameter->values[0],
               parameter->values[1], parameter->values[2], parameter->largest, parameter->meaning);
        if (parameter->step > 1) printf(", a multiple of %u", parameter->step);
        putchar('\n');
    }
    printf(
        "\nExit status: 0 the result is right, 1 it is not, 2 an option or a CUDA call failed.\n");
}

static uint64_t parse_number(const WorkloadInfo *info, const char *option, const char *text,
                             uint64_t smallest, uint64_t largest) {
    char *end = NULL;
    errno = 0;
    unsigned long long value = text ? strtoull(text, &end, 10) : 0;
    if (!text || *text < '0' || *text > '9' || *end || errno || value < smallest || value > largest)
        workload_fail(info->name, "%s: needs a whole number from %llu to %llu, got '%s'", option,
                      (unsigned long long)smallest, (unsigned long long)largest, text ? text : "");
    return value;
}

static void parse_parameter(Workload *workload, int index, const char *option, const char *text) {
    const WorkloadParameter *parameter = &workload->info->parameters[index];
    uint32_t step = parameter->step ? parameter->step : 1, smallest = step;
    for (int size = 0; size < WORKLOAD_SIZES; size++)
        if (parameter->values[size] == 0) smallest = 0;
    uint32_t value =
        (uint32_t)parse_number(workload->info, option, text, smallest, parameter->largest);
    if (value % step)
        workload_fail(workload->info->name, "%s: needs a multiple of %u", option, step);
    workload->values[index] = value;
}

/* Puts size and seed into the environment, from which Tyto copies them to the results. */
static void parse_size(Workload *workload, const char *text) {
    for (int size = 0; text && size < WORKLOAD_SIZES; size++) {
        if (strcmp(text, SIZE_NAMES[size]) != 0) continue;
        for (int i = 0; i < WORKLOAD_MOST_PARAMETERS; i++)
            workload->values[i] = workload->info->parameters[i].values[size];
        setenv("TYTO_SIZE", text, 1);
        return;
    }
    parse_parameter(workload, 0, "--size (test, small, paper or a number)", text);
    setenv("TYTO_SIZE", text, 1);
}

static void parse_seed(Workload *workload, const char *text) {
    workload->random_state = parse_number(workload->info, "--seed", text, 0, UINT64_MAX);
    setenv("TYTO_SEED", text, 1);
}

/* An option of the command line: "--name value" or "--name=value". */
typedef struct Option {
    const char *name; /* "--name" */
    char *copied;     /* a copy of the name, if it had to be cut out; owned, else NULL */
    const char *text; /* its value; NULL: none */
    int words;        /* number of words that it takes */
} Option;

static Option read_option(const WorkloadInfo *info, char **words) {
    const char *equals = strchr(words[0], '=');
    if (!equals) return (Option){words[0], NULL, words[1], words[1] ? 2 : 1};
    char *name = strndup(words[0], (size_t)(equals - words[0]));
    if (!name) workload_fail(info->name, "out of host memory");
    return (Option){name, name, equals + 1, 1};
}

/* The index of the parameter that `option` names; fails if there is none. */
static int find_parameter(const WorkloadInfo *info, const char *option) {
    int count = count_parameters(info);
    for (int i = 0; i < count && strncmp(option, "--", 2) == 0; i++)
        if (strcmp(option + 2, info->parameters[i].name) == 0) return i;
    workload_fail(info->name, "unknown option '%s' (try --help)", option);
}

static bool is_named(const Option *option, const char *name) {
    return strcmp(option->name, name) == 0;
}

static void take_size(Workload *workload, const Option *option) {
    if (is_named(option, "--help")) {
        print_help(workload->info);
        exit(0);
    }
    if (is_named(option, "--size")) parse_size(workload, option->text);
}

static void take_other(Workload *workload, const Option *option) {
    if (is_named(option, "--size")) return;
    if (is_named(option, "--seed")) parse_seed(workload, option->text);
    else
        parse_parameter(workload, find_parameter(workload->info, option->name), option->name,
                        option->text);
}

static void take_options(Workload *workload, char **words,
                         void (*take)(Workload *workload, const Option *option)) {
    while (*words) {
        Option option = read_option(workload->info, words);
        take(workload, &option);
        words += option.words;
        free(option.copied);
    }
}

/* Reads a size first, because it sets all parameters. The other options then change single
 * parameters, in any order. */
static void parse_options(Workload *workload, int argc, char **argv) {
    char **words = argc ? argv + 1 : argv;
    take_options(workload, words, take_size);
    take_options(workload, words, take_other);
}

/* Writes the path of NAME.ptx to `path` (PATH_BYTES). */
static void find_ptx(const WorkloadInfo *info, char *path) {
    char folder[PATH_BYTES];
    const char *chosen = getenv("TYTO_WORKLOAD_DIR");
    if (!chosen) {
        ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
        if (length <= 0)
            workload_fail(info->name, "/proc/self/exe: cannot read the path of this program");
        folder[length] = '\0';
        *strrchr(folder, '/') = '\0';
        chosen = folder;
    }
    if (snprintf(path, PATH_BYTES, "%s/%s.ptx", chosen, info->name) >= PATH_BYTES)
        workload_fail(info->name, "the path of %s.ptx is too long", info->name);
}

static void load_module(Workload *workload) {
    CUdevice device;
    CUcontext context;
    char path[PATH_BYTES];
    workload_check(cuInit(0), "cuInit");
    workload_check(cuDeviceGet(&device, 0), "cuDeviceGet");
    workload_check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
    workload_check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    find_ptx(workload->info, path);
    workload_check(cuModuleLoad(&workload->module, path), path);
}

Workload workload_open(const WorkloadInfo *info, int argc, char **argv) {
    Workload workload = {.info = info};
    parse_seed(&workload, "1");
    parse_size(&workload, SIZE_NAMES[WORKLOAD_SMALL]);
    parse_options(&workload, argc, argv);
    load_module(&workload);
    return workload;
}

/* ---- Host memory: a list of blocks, each with a pointer to the previous one ---- */

enum { BLOCK_HEADER_BYTES = 16 }; /* keeps the data after it aligned for every type */

void *workload_host_alloc(Workload *workload, size_t count, size_t element_bytes) {
    char *block = calloc(1, BLOCK_HEADER_BYTES + count * element_bytes);
    if (!block) workload_fail(workload->info->name, "out of host memory");
    *(void **)(void *)block = workload->host_blocks;
    workload->host_blocks = block;
    return block + BLOCK_HEADER_BYTES;
}

/* ---- Device memory: a list of allocations, to be freed at the end ---- */

static struct {
    CUdeviceptr *items;
    size_t count;
} buffers;

static struct {
    CUtexObject object;
    CUarray array; /* NULL: the texture is of a buffer */
} textures[WORKLOAD_MOST_TEXTURES];
static size_t texture_count;

static void keep_buffer(CUdeviceptr buffer) {
    buffers.items = realloc(buffers.items, (buffers.count + 1) * sizeof *buffers.items);
    if (!buffers.items) workload_fail("cuMemAlloc", "out of host memory");
    buffers.items[buffers.count++] = buffer;
}

/* Makes a texture of the resource, and frees the resource's array with it. Coordinates beyond the
 * edges are clamped. */
static CUtexObject keep_texture(const CUDA_RESOURCE_DESC *resource, CUarray array, unsigned flags) {
    CUDA_TEXTURE_DESC sampling = {
        .addressMode = {CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_CLAMP}, .flags = flags};
    CUtexObject object = 0;
    workload_check(cuTexObjectCreate(&object, resource, &sampling, NULL), "cuTexObjectCreate");
    if (texture_count == WORKLOAD_MOST_TEXTURES)
        workload_fail("cuTexObjectCreate", "at most %d textures are supported",
                      WORKLOAD_MOST_TEXTURES);
    textures[texture_count].object = object;
    textures[texture_count++].array = array;
    return object;
}

static void free_buffers(void) {
    for (size_t i = 0; i < texture_count; i++) {
        workload_check(cuTexObjectDestroy(textures[i].object), "cuTexObjectDestroy");
        if (textures[i].array) workload_check(cuArrayDestroy(textures[i].array), "cuArrayDestroy");
    }
    for (size_t i = 0; i < buffers.count; i++)
        workload_check(cuMemFree(buffers.items[i]), "cuMemFree");
    free(buffers.items);
}

int workload_finish(Workload *workload, bool is_right, const char *what, size_t count) {
    CUdevice device;
    free_buffers();
    workload_check(cuModuleUnload(workload->module), "cuModuleUnload");
    workload_check(cuCtxGetDevice(&device), "cuCtxGetDevice");
    workload_check(cuDevicePrimaryCtxRelease(device), "cuDevicePrimaryCtxRelease");
    for (void *block = workload->host_blocks, *before; block; block = before) {
        before = *(void **)block;
        free(block);
    }
    if (!is_right) return STATUS_MISMATCH;
    printf("%s: %zu %s verified\n", workload->info->name, count, what);
    if (fflush(stdout) == 0) return 0;
    fprintf(stderr, "%s: cannot write the results: %s\n", workload->info->name, strerror(errno));
    return STATUS_ERROR;
}

/* ---- Random input ---- */

uint32_t workload_random(Workload *workload, uint32_t limit) {
    /* Knuth's MMIX multiplier and increment. */
    workload->random_state = workload->random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(workload->random_state >> 33) % limit;
}

uint32_t *workload_random_words(Workload *workload, size_t count, uint32_t limit) {
    uint32_t *values = workload_host_alloc(workload, count, sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = workload_random(workload, limit);
    return values;
}

uint8_t *workload_random_bytes(Workload *workload, size_t count, uint32_t limit) {
    uint8_t *values = workload_host_alloc(workload, count, sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = (uint8_t)workload_random(workload, limit);
    return values;
}

float *workload_random_floats(Workload *workload, size_t count, uint32_t limit) {
    float *values = workload_host_alloc(workload, count, sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = (float)workload_random(workload, limit);
    return values;
}

float *workload_random_fractions(Workload *workload, size_t count, float low, float high) {
    float *values = workload_host_alloc(workload, count, sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = low + (high - low) * 1e-6f * (float)workload_random(workload, 1000000);
    return values;
}

/* ---- Device memory and launches ---- */

CUdeviceptr workload_device_alloc(size_t size_bytes) {
    CUdeviceptr buffer = 0;
    workload_check(cuMemAlloc(&buffer, size_bytes ? size_bytes : 1), "cuMemAlloc");
    keep_buffer(buffer);
    return buffer;
}

CUdeviceptr workload_upload(const void *data, size_t size_bytes) {
    CUdeviceptr buffer = workload_device_alloc(size_bytes);
    workload_copy_to_device(buffer, data, size_bytes);
    return buffer;
}

CUdeviceptr workload_upload_zeros(size_t size_bytes) {
    CUdeviceptr buffer = workload_device_alloc(size_bytes);
    workload_check(cuMemsetD8(buffer, 0, size_bytes), "cuMemsetD8");
    return buffer;
}

CUtexObject workload_upload_texture(const void *texels, size_t width, size_t height,
                                    CUarray_format format, unsigned channels, unsigned flags) {
    CUDA_ARRAY_DESCRIPTOR shape = {width, height, format, channels};
    CUarray array = NULL;
    workload_check(cuArrayCreate(&array, &shape), "cuArrayCreate");
    static const size_t bytes_of[] = {[CU_AD_FORMAT_UNSIGNED_INT8] = 1,
                                      [CU_AD_FORMAT_UNSIGNED_INT16] = 2,
                                      [CU_AD_FORMAT_UNSIGNED_INT32] = 4};
    size_t channel_bytes = bytes_of[format];
    size_t row_bytes = width * channels * channel_bytes;
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = texels,
                          .srcPitch = row_bytes,
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                          .dstArray = array,
                          .WidthInBytes = row_bytes,
                          .Height = height};
    workload_check(cuMemcpy2D(&copy), "cuMemcpy2D");
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = array};
    return keep_texture(&resource, array, flags);
}

static CUtexObject bind_linear(CUdeviceptr data, size_t count, CUarray_format format) {
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_LINEAR,
                                   .res.linear = {.devPtr = data,
                                                  .format = format,
                                                  .numChannels = 1,
                                                  .sizeInBytes = count * sizeof(uint32_t)}};
    return keep_texture(&resource, NULL, 0);
}

CUtexObject workload_bind_texture(CUdeviceptr floats, size_t count) {
    return bind_linear(floats, count, CU_AD_FORMAT_FLOAT);
}

CUtexObject workload_bind_words(CUdeviceptr words, size_t count) {
    return bind_linear(words, count, CU_AD_FORMAT_UNSIGNED_INT32);
}

void workload_copy_to_device(CUdeviceptr to, const void *from, size_t size_bytes) {
    workload_check(cuMemcpyHtoD(to, from, size_bytes), "cuMemcpyHtoD");
}

void workload_copy_to_host(void *to, CUdeviceptr from, size_t size_bytes) {
    workload_check(cuMemcpyDtoH(to, from, size_bytes), "cuMemcpyDtoH");
}

void workload_set_variable(const Workload *workload, const char *name, const void *data,
                           size_t size_bytes) {
    CUdeviceptr variable;
    size_t variable_bytes;
    workload_check(cuModuleGetGlobal(&variable, &variable_bytes, workload->module, name), name);
    if (variable_bytes != size_bytes)
        workload_fail(name, "%zu bytes, not %zu", variable_bytes, size_bytes);
    workload_copy_to_device(variable, data, size_bytes);
}

unsigned workload_divide_up(unsigned value, unsigned divisor) {
    return (value + divisor - 1) / divisor;
}

WorkloadShape workload_cover(unsigned elements, unsigned threads) {
    return (WorkloadShape){workload_divide_up(elements, threads), 1, threads, 1};
}

void workload_launch(const Workload *workload, const char *name, WorkloadShape shape,
                     void **arguments) {
    CUfunction kernel;
    workload_check(cuModuleGetFunction(&kernel, workload->module, name), name);
    workload_check(cuLaunchKernel(kernel, shape.grid_x, shape.grid_y, 1, shape.block_x,
                                  shape.block_y, 1, 0, NULL, arguments, NULL),
                   name);
    workload_check(cuCtxSynchronize(), name);
}

/* ---- Comparison ---- */

bool workload_compare_floats(const Workload *workload, const float *got, const float *expected,
                             size_t count, float tolerance) {
    for (size_t i = 0; i < count; i++) {
        if (fabsf(got[i] - expected[i]) <= tolerance * fmaxf(1.0f, fabsf(expected[i]))) continue;
        fprintf(stderr, "%s: element %zu: got %.9g, expected %.9g\n", workload->info->name, i,
                (double)got[i], (double)expected[i]);
        return false;
    }
    return true;
}

static bool report_difference(const Workload *workload, size_t index, uint32_t got,
                              uint32_t expected) {
    fprintf(stderr, "%s: element %zu: got %u, expected %u\n", workload->info->name, index, got,
            expected);
    return false;
}

bool workload_compare_words(const Workload *workload, const uint32_t *got, const uint32_t *expected,
                            size_t count) {
    for (size_t i = 0; i < count; i++)
        if (got[i] != expected[i]) return report_difference(workload, i, got[i], expected[i]);
    return true;
}

bool workload_compare_bytes(const Workload *workload, const uint8_t *got, const uint8_t *expected,
                            size_t count) {
    for (size_t i = 0; i < count; i++)
        if (got[i] != expected[i]) return report_difference(workload, i, got[i], expected[i]);
    return true;
}

bool workload_compare_pixels(const Workload *workload, const uint32_t *got,
                             const uint32_t *expected, size_t count, size_t most) {
    size_t differ = 0, differ_much = 0;
    for (size_t i = 0; i < count; i++) {
        int furthest = 0;
        for (int shift = 0; shift < 32; shift += 8) {
            int apart = abs((int)(got[i] >> shift & 255) - (int)(expected[i] >> shift & 255));
            if (apart > furthest) furthest = apart;
        }
        differ += furthest > 0;
        differ_much += furthest > 1;
        if (differ > most || differ_much > most / 3)
            return report_difference(workload, i, got[i], expected[i]);
    }
    return true;
}

static void *download(Workload *workload, CUdeviceptr from, size_t count, size_t element_bytes) {
    void *copy = workload_host_alloc(workload, count, element_bytes);
    workload_copy_to_host(copy, from, count * element_bytes);
    return copy;
}

bool workload_verify_floats(Workload *workload, CUdeviceptr got, const float *expected,
                            size_t count, float tolerance) {
    float *copy = download(workload, got, count, sizeof *copy);
    return workload_compare_floats(workload, copy, expected, count, tolerance);
}

bool workload_verify_words(Workload *workload, CUdeviceptr got, const uint32_t *expected,
                           size_t count) {
    uint32_t *copy = download(workload, got, count, sizeof *copy);
    return workload_compare_words(workload, copy, expected, count);
}

bool workload_verify_bytes(Workload *workload, CUdeviceptr got, const uint8_t *expected,
                           size_t count) {
    uint8_t *copy = download(workload, got, count, sizeof *copy);
    return workload_compare_bytes(workload, copy, expected, count);
}
