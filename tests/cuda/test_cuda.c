/* Runs one test kernel: `test_cuda NAME FILE.ptx`. Exit status 0: the output equals the CPU's; 1:
 * it differs, or a driver call failed; 77: skipped (`test_cuda --skip REASON`). */
#include "kernel_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STATUS_SKIPPED = 77 };

/* ---- Data ---- */

static size_t element_bytes(ElementKind kind) {
    return kind == KIND_LONGS || kind == KIND_DOUBLES ? 8 : 4;
}

static size_t size_bytes(Elements elements) {
    return elements.count * element_bytes(elements.kind);
}

/* 64 pseudo-random bits: the splitmix generator. */
static uint64_t next_random(uint64_t *state) {
    *state += 0x9e3779b97f4a7c15u;
    uint64_t bits = *state;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
    return bits ^ (bits >> 31);
}

static float float_from_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static float mixed_float(uint64_t random, unsigned index) {
    switch (index % 4) {
    case 0: return float_from_bits((uint32_t)random);
    case 1: return (float)(int)(random % 601) * 0.5f - 150.0f;
    case 2: return (float)(int64_t)random * (random & 1 ? 1.0f : 0x1p-32f);
    default: return (float)(int)(random % 65536) * 0x1p-14f - 2.0f;
    }
}

static float special_float(unsigned index) {
    static const uint32_t bits[] = {
        0x00000000, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 0x00000001,
        0x807fffff, 0x00800000, 0x7f7fffff, 0xff7fffff, 0x3f800000, 0xbf800000,
        0x33800000, 0x4b800001, 0x20000000, 0xdf000000,
    };
    return float_from_bits(bits[index % (sizeof bits / sizeof *bits)]);
}

static void fill_input(Elements elements, Data data) {
    uint64_t state = 20;
    for (unsigned i = 0; i < elements.count; i++) {
        uint64_t random = next_random(&state);
        double uniform = (double)(random >> 11) * 0x1p-53 * 16.0 - 8.0;
        switch (elements.kind) {
        case KIND_WORDS: data.words[i] = (uint32_t)random; break;
        case KIND_LONGS: data.longs[i] = random; break;
        case KIND_FLOATS: data.floats[i] = (float)(random >> 40) * 0x1p-20f - 8.0f; break;
        case KIND_DOUBLES: data.doubles[i] = uniform; break;
        case KIND_MIXED_FLOATS: data.floats[i] = mixed_float(random, i); break;
        case KIND_SPECIAL_FLOATS: data.floats[i] = special_float(i); break;
        }
    }
}

static Data data_new(Elements elements, uint32_t every_word) {
    Data data = {.bytes = malloc(size_bytes(elements))};
    if (!data.bytes) session_check(CUDA_ERROR_OUT_OF_MEMORY, "malloc");
    for (size_t i = 0; i < size_bytes(elements) / 4; i++)
        data.words[i] = every_word;
    return data;
}

static bool is_close(double got, double expected, double tolerance) {
    if (got == expected || (isnan(got) && isnan(expected))) return true;
    return fabs(got - expected) <= tolerance * fmax(fabs(expected), 0.01);
}

bool session_compare(const Session *session, Elements elements, Data got, Data expected,
                     double tolerance) {
    size_t width = element_bytes(elements.kind);
    bool is_real = elements.kind != KIND_WORDS && elements.kind != KIND_LONGS;
    for (unsigned i = 0; i < elements.count; i++) {
        if (memcmp((char *)got.bytes + i * width, (char *)expected.bytes + i * width, width) == 0)
            continue;
        if (is_real) {
            double g = width == 4 ? (double)got.floats[i] : got.doubles[i];
            double e = width == 4 ? (double)expected.floats[i] : expected.doubles[i];
            if (tolerance > 0.0 && is_close(g, e, tolerance)) continue;
            fprintf(stderr, "%s: element %u: got %.17g, expected %.17g\n", session->name, i, g, e);
        } else {
            uint64_t g = width == 4 ? got.words[i] : got.longs[i];
            uint64_t e = width == 4 ? expected.words[i] : expected.longs[i];
            fprintf(stderr, "%s: element %u: got %llu (0x%llx), expected %llu (0x%llx)\n",
                    session->name, i, (unsigned long long)g, (unsigned long long)g,
                    (unsigned long long)e, (unsigned long long)e);
        }
        return false;
    }
    return true;
}

/* ---- The device ---- */

void session_check(CUresult result, const char *call) {
    if (result == CUDA_SUCCESS) return;
    const char *text = NULL;
    cuGetErrorString(result, &text);
    fprintf(stderr, "%s: error %d: %s\n", call, (int)result, text ? text : "unknown");
    exit(1);
}

static Session open_session(const char *name, const char *ptx_path) {
    Session session = {.name = name};
    CUdevice device;
    CUcontext context;
    session_check(cuInit(0), "cuInit");
    session_check(cuDeviceGet(&device, 0), "cuDeviceGet");
    session_check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
    session_check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    session_check(cuModuleLoad(&session.module, ptx_path), ptx_path);
    session_check(cuModuleGetFunction(&session.function, session.module, name), name);
    return session;
}

CUdeviceptr session_upload(const void *data, size_t size_bytes) {
    CUdeviceptr buffer = 0;
    session_check(cuMemAlloc(&buffer, size_bytes), "cuMemAlloc");
    session_check(cuMemcpyHtoD(buffer, data, size_bytes), "cuMemcpyHtoD");
    return buffer;
}

void session_download(void *data, CUdeviceptr from, size_t size_bytes) {
    session_check(cuMemcpyDtoH(data, from, size_bytes), "cuMemcpyDtoH");
}

void session_free(CUdeviceptr buffer) { session_check(cuMemFree(buffer), "cuMemFree"); }

CUresult session_launch(Session *session, const Shape *shape, void **parameters) {
    unsigned size[6];
    for (int i = 0; i < 3; i++) {
        size[i] = shape->grid[i] ? shape->grid[i] : 1;
        size[i + 3] = shape->block[i] ? shape->block[i] : 1;
    }
    CUresult result = cuLaunchKernel(session->function, size[0], size[1], size[2], size[3], size[4],
                                     size[5], shape->shared_bytes, NULL, parameters, NULL);
    return result == CUDA_SUCCESS ? cuCtxSynchronize() : result;
}

/* ---- Running a test ---- */

static bool run_row(const KernelTest *test, Session *session) {
    Data in = data_new(test->in, 0), got = data_new(test->out, 0);
    Data expected = data_new(test->out, test->out_start);
    fill_input(test->in, in);
    CUdeviceptr device_in = session_upload(in.bytes, size_bytes(test->in));
    CUdeviceptr device_out = session_upload(expected.bytes, size_bytes(test->out));
    unsigned n = test->in.count;
    session_check(session_launch(session, &test->shape, (void *[]){&device_in, &device_out, &n}),
                  test->name);
    session_download(got.bytes, device_out, size_bytes(test->out));
    test->reference(in, expected, n);
    bool is_right = session_compare(session, test->out, got, expected, test->tolerance);
    session_free(device_in);
    session_free(device_out);
    free(in.bytes);
    free(got.bytes);
    free(expected.bytes);
    return is_right;
}

static const KernelTest *find_test(const char *name) {
    static const KernelTest *const tables[] = {
        LANGUAGE_TESTS, INTEGER_TESTS, FLOATING_TESTS, WARP_TESTS,  MEMORY_TESTS, CONTROL_TESTS,
        RUNTIME_TESTS,  TEXTURE_TESTS, TENSOR_TESTS,   CACHE_TESTS, SUITE_TESTS};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (const KernelTest *test = tables[i]; test->name; test++)
            if (strcmp(test->name, name) == 0) return test;
    return NULL;
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fputs("usage: test_cuda NAME FILE.ptx | test_cuda --skip REASON\n", stderr);
        return 2;
    }
    if (strcmp(argv[1], "--skip") == 0) {
        printf("skipped: %s\n", argv[2]);
        return STATUS_SKIPPED;
    }
    const KernelTest *test = find_test(argv[1]);
    if (!test) {
        fprintf(stderr, "test_cuda: no test is called '%s'\n", argv[1]);
        return 2;
    }
    Session session = open_session(test->name, argv[2]);
    bool is_right = test->run ? test->run(&session) : run_row(test, &session);
    printf("%s: %s\n", test->name, is_right ? "ok" : "FAILED");
    return is_right ? 0 : 1;
}
