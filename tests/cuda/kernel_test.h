/* A test of one CUDA C kernel: its input, the shape of its launch, and the function that computes
 * on the CPU what the kernel should. Most kernels have the signature
 *
 *     kernel(const T *in, U *out, unsigned n)      n: the number of elements of the input
 *
 * and are one row of a table; a test of anything else brings a function of its own. */
#ifndef TYTO_TESTS_KERNEL_TEST_H
#define TYTO_TESTS_KERNEL_TEST_H

#ifdef TYTO_USE_VENDOR_CUDA_H
#include <cuda.h>
#else
#include <tyto/cuda.h>
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A host buffer, seen as elements of any type. */
typedef union Data {
    void *bytes;
    uint32_t *words;
    int32_t *ints;
    uint64_t *longs;
    float *floats;
    double *doubles;
} Data;

/* What a buffer's elements are: their size, how an input is filled, how results are compared. */
typedef enum ElementKind {
    KIND_WORDS,          /* 32 random bits */
    KIND_LONGS,          /* 64 random bits */
    KIND_FLOATS,         /* single, uniform in [-8, 8) */
    KIND_DOUBLES,        /* double, uniform in [-8, 8) */
    KIND_MIXED_FLOATS,   /* single: random bits, numbers with a half, numbers beyond integers */
    KIND_SPECIAL_FLOATS, /* single: NaN, infinities, zeros, subnormal numbers, limits */
} ElementKind;

typedef struct Elements {
    ElementKind kind;
    unsigned count;
} Elements;

typedef struct Shape {
    unsigned grid[3];      /* CTAs; 0 stands for 1 */
    unsigned block[3];     /* threads; 0 stands for 1 */
    unsigned shared_bytes; /* dynamic shared memory */
} Shape;

/* A kernel's PTX, loaded. */
typedef struct Session {
    const char *name;    /* of the test */
    CUmodule module;     /* the PTX file under test */
    CUfunction function; /* the kernel named like the test */
} Session;

typedef struct KernelTest {
    const char *name;   /* of the test, of its .cu file and of its kernel */
    Shape shape;        /* of the launch */
    Elements in;        /* what the kernel reads */
    Elements out;       /* what it writes, compared with the reference's */
    uint32_t out_start; /* every word of `out` before the launch */
    double tolerance;   /* allowed error, relative (below 0.01: of 0.01); 0 asks for equal bits */
    /* Writes what the kernel should; `out` starts as the kernel's does. */
    void (*reference)(Data in, Data out, unsigned n);
    /* In place of all the above: true when the test passes, else it has said why. */
    bool (*run)(Session *session);
} KernelTest;

/* The tables of tests, one per theme; the entry after the last has no name. */
extern const KernelTest LANGUAGE_TESTS[];
extern const KernelTest INTEGER_TESTS[];
extern const KernelTest FLOATING_TESTS[];
extern const KernelTest WARP_TESTS[];
extern const KernelTest MEMORY_TESTS[];
extern const KernelTest CONTROL_TESTS[];
extern const KernelTest RUNTIME_TESTS[];
extern const KernelTest TEXTURE_TESTS[];
extern const KernelTest TENSOR_TESTS[];
extern const KernelTest CACHE_TESTS[];
extern const KernelTest SUITE_TESTS[];

/* Runs a kernel with one pointer per parameter and waits for it; the error that the launch or the
 * kernel ended with. */
CUresult session_launch(Session *session, const Shape *shape, void **parameters);
/* A device buffer with a copy of the data; a failure ends the program. */
CUdeviceptr session_upload(const void *data, size_t size_bytes);
void session_download(void *data, CUdeviceptr from, size_t size_bytes);
void session_free(CUdeviceptr buffer);
/* Says which driver call failed and ends the program, unless `result` is success. */
void session_check(CUresult result, const char *call);
/* True when `got` and `expected` agree; else the first difference is printed. */
bool session_compare(const Session *session, Elements elements, Data got, Data expected,
                     double tolerance);

#endif
