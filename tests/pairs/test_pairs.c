/* Runs pairs of kernels by number and compares the memory that they leave byte by byte.
 *
 * usage: test_pairs COUNT [FIRST [PROPERTY]]
 *
 * COUNT pairs of each property (or of the one named), from number FIRST on. The report of a
 * difference includes the arguments that reproduce it. */
#include "pairs.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../engine/random_bytes.h"
#include "engine/launch/gpu.h"
#include "machine/machine_file.h"
#include "sched/registry.h"

typedef struct Property {
    const char *name;
    PairMaker *make;
} Property;

static const Property properties[] = {
    {"mma", pair_make_mma},
    {"ldmatrix", pair_make_ldmatrix},
    {"movmatrix", pair_make_movmatrix},
    {"cp.async", pair_make_copy},
    {"wide", pair_make_wide},
    {"vector-atomic", pair_make_vector_atomic},
    {"texture", pair_make_texture},
    {"surface", pair_make_surface},
    {"dp4a", pair_make_dot_product},
    {"video", pair_make_video},
    {"packed-video", pair_make_packed_video},
    {"divergence", pair_make_flow},
};
enum { PROPERTIES = sizeof properties / sizeof *properties };

/* Where kernels run. */
typedef enum Place { FUNCTIONAL, STACK, INDEPENDENT, PLACES } Place;
static const char *const place_names[PLACES] = {"functional", "stack", "independent"};

typedef struct Device {
    Machine *machine;
    SchedPolicy *policy;
    Gpu *gpu;
    uint64_t in, out; /* device addresses */
} Device;

static void must(bool is_right, Diag *diag) {
    if (is_right) return;
    diag_print(diag, stderr);
    exit(EXIT_FAILURE);
}

/* On one SM of gtx480, or functionally. */
static Device device_new(Place place) {
    Device device = {0};
    Diag *diag = diag_new();
    GpuOptions options = {.memory_bytes = 1 << 26, .instruction_limit = 1 << 20};
    if (place != FUNCTIONAL) {
        device.machine = machine_load("gtx480", diag);
        must(device.machine != NULL, diag);
        must(machine_set(device.machine, "gpu.sms=1", diag), diag);
        must(place != INDEPENDENT || machine_set(device.machine, "sm.divergence=independent", diag),
             diag);
        options.machine = machine_finish(device.machine, diag);
        device.policy = sched_policy_new("gto", diag);
        options.scheduler = device.policy;
    }
    device.gpu = gpu_new(&options, diag);
    must(device.gpu != NULL, diag);
    DeviceMemory *memory = gpu_memory(device.gpu);
    device.in = mem_alloc(memory, PAIR_BYTES, 0, MEM_KIND_BUFFER, NULL);
    device.out = mem_alloc(memory, PAIR_BYTES, 0, MEM_KIND_BUFFER, NULL);
    diag_free(diag);
    return device;
}

static void device_free(Device *device) {
    gpu_free(device->gpu);
    sched_policy_free(device->policy);
    machine_free(device->machine);
}

/* ---- For the makers of pairs ---- */

uint32_t pair_bits(Pair *pair) { return (uint32_t)(random_next(&pair->random) >> 32); }

uint32_t pair_draw(Pair *pair, uint32_t below) { return pair_bits(pair) % below; }

Word pair_word(Pair *pair, const char *words) {
    uint32_t count = 1;
    for (const char *at = words; *at; at++)
        count += *at == ' ';
    for (uint32_t skipped = pair_draw(pair, count); skipped; skipped--)
        words = strchr(words, ' ') + 1;
    return (Word){(int)strcspn(words, " "), words};
}

bool pair_word_is(Word word, const char *text) {
    return (size_t)word.length == strlen(text) && strncmp(word.text, text, strlen(text)) == 0;
}

void pair_add(Pair *pair, const char *format, ...) {
    va_list args;
    va_start(args, format);
    text_vprintf(&pair->ptx, format, args);
    va_end(args);
}

void pair_begin(Pair *pair, const char *name, const char *variables) {
    pair_add(pair,
             "%s.visible .entry %s(.param .u64 in, .param .u64 out, .param .u64 i0, .param .u64 "
             "i1)\n{\n.reg .b64 %%in, %%out, %%i0, %%i1, %%x<32>;\n.reg .b32 %%t, %%l, %%r<64>;\n"
             ".reg .b16 %%h<32>;\n.reg .f32 %%f<32>;\n.reg .f64 %%d<32>;\n.reg .pred %%p<16>;\n"
             "ld.param.u64 %%in, [in];\nld.param.u64 %%out, [out];\nld.param.u64 %%i0, [i0];\n"
             "ld.param.u64 %%i1, [i1];\nmov.u32 %%t, %%tid.x;\nmov.u32 %%l, %%laneid;\n",
             variables, name);
}

void pair_end(Pair *pair) { pair_add(pair, "ret;\n}\n"); }

/* ---- Running ---- */

typedef struct Handles {
    uint64_t handle[PAIR_IMAGES];
} Handles;

static Handles add_images(const Pair *pair, const Device *device) {
    Handles handles = {0};
    for (int i = 0; i < pair->image_count; i++) {
        MemTexture image = pair->images[i];
        image.level[0].address += pair->is_written ? device->out : device->in;
        handles.handle[i] = mem_texture_add(gpu_memory(device->gpu), &image);
    }
    return handles;
}

/* Runs a kernel of the pair and copies its output to `bytes`. Returns false if it failed. */
static bool run(const Pair *pair, const Device *device, const GpuModule *module, const char *kernel,
                Handles handles, uint8_t *bytes) {
    DeviceMemory *memory = gpu_memory(device->gpu);
    const uint64_t parameters[] = {device->in, device->out, handles.handle[0], handles.handle[1]};
    mem_write(memory, device->in, pair->in, PAIR_BYTES);
    mem_write(memory, device->out, pair->in, PAIR_BYTES);
    GpuLaunch launch = {.module = (GpuModule *)(uintptr_t)module,
                        .function = gpu_find_function(module, kernel),
                        .grid = {1, 1, 1},
                        .block = {pair->threads, 1, 1},
                        .parameters = parameters};
    static GpuResult result;
    gpu_launch(device->gpu, &launch, &result);
    if (result.status != GPU_OK) fprintf(stderr, "%s: %s\n", kernel, result.message);
    return result.status == GPU_OK && mem_read(memory, device->out, bytes, PAIR_BYTES);
}

static void tell(const Pair *pair, const Property *property, int number, const char *one,
                 const char *other, const uint8_t *bytes, const uint8_t *expected) {
    size_t at = 0;
    while (bytes[at] == expected[at])
        at++;
    at &= ~(size_t)3;
    uint32_t got = 0, right = 0;
    memcpy(&got, bytes + at, 4);
    memcpy(&right, expected + at, 4);
    fprintf(stderr,
            "%s\n%s: %s leaves 0x%08x, %s 0x%08x at byte %zu of the output; again: test_pairs 1 %d "
            "%s\n",
            text_string(&pair->ptx), property->name, one, got, other, right, at, number,
            property->name);
}

/* Runs one pair on one device, or a single kernel on all devices; returns whether the outputs are
 * equal. Sets `has_changed` if the output differs from its initial content: a pair may write
 * nothing, or the same bytes. */
static bool holds(const Pair *pair, const Property *property, int number, const Device *devices,
                  bool *has_changed) {
    static uint8_t bytes[PLACES][PAIR_BYTES];
    const Place first = number % 8 == 7 ? STACK : number % 8 == 3 ? INDEPENDENT : FUNCTIONAL;
    bool is_same = true;
    for (int way = 0; is_same && way < (pair->is_alone ? PLACES : 1); way++) {
        const Place place = pair->is_alone ? (Place)way : first;
        const Device *device = &devices[place];
        Diag *diag = diag_new();
        const GpuImage image = {property->name, text_string(&pair->ptx), pair->ptx.length};
        GpuModule *module = gpu_load(device->gpu, &image, 1, diag);
        if (!module) fprintf(stderr, "%s\n", text_string(&pair->ptx));
        must(module != NULL, diag);
        const Handles handles = add_images(pair, device);
        const int against = pair->is_alone ? 0 : 1;
        const bool has_run =
            run(pair, device, module, "one", handles, bytes[way]) &&
            (pair->is_alone || run(pair, device, module, "other", handles, bytes[1]));
        is_same = has_run && memcmp(bytes[way], bytes[against], PAIR_BYTES) == 0;
        if (!has_run) fprintf(stderr, "%s\n", text_string(&pair->ptx));
        else if (!is_same)
            tell(pair, property, number, pair->is_alone ? place_names[way] : "one",
                 pair->is_alone ? place_names[0] : "other", bytes[way], bytes[against]);
        for (int i = 0; i < pair->image_count; i++)
            mem_texture_remove(gpu_memory(device->gpu), handles.handle[i]);
        gpu_unload(module);
        diag_free(diag);
    }
    *has_changed |= memcmp(bytes[0], pair->in, PAIR_BYTES) != 0;
    return is_same;
}

static Pair *pair_new(const Property *property, int number) {
    Pair *pair = calloc(1, sizeof *pair);
    if (!pair) abort();
    pair->random = (uint64_t)number << 8 | (uint64_t)(property - properties);
    pair->threads = 32;
    for (size_t i = 0; i < sizeof pair->in / 4; i++)
        pair->in_words[i] = pair_bits(pair);
    pair_add(pair, ".version 9.0\n.target sm_100\n.address_size 64\n");
    property->make(pair);
    return pair;
}

int main(int argc, char **argv) {
    const int count = argc > 1 ? atoi(argv[1]) : 8, first = argc > 2 ? atoi(argv[2]) : 0;
    int passed = 0, failed = 0;
    Device devices[PLACES];
    for (int place = 0; place < PLACES; place++)
        devices[place] = device_new((Place)place);
    for (int p = 0; p < PROPERTIES; p++) {
        if (argc > 3 && strcmp(argv[3], properties[p].name) != 0) continue;
        bool is_right = true, has_changed = false;
        for (int number = first; is_right && number < first + count; number++) {
            Pair *pair = pair_new(&properties[p], number);
            is_right = holds(pair, &properties[p], number, devices, &has_changed);
            text_free(&pair->ptx);
            free(pair);
        }
        if (is_right && !has_changed)
            fprintf(stderr, "%s: no pair changes the output\n", properties[p].name);
        passed += is_right && has_changed;
        failed += !(is_right && has_changed);
    }
    for (int place = 0; place < PLACES; place++)
        device_free(&devices[place]);
    printf("%d passed, %d failed\n", passed, failed);
    return passed && !failed ? EXIT_SUCCESS : EXIT_FAILURE;
}
