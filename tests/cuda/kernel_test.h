/* A test of one CUDA C kernel: its input, the shape of its launch, and the function that computes
 * the expected output on the CPU. Most kernels have the signature
 *
 *     kernel(const T *in, U *out, unsigned n)      n: the number of elements of the input
 *
 * and are one row of a table; other tests have their own function. */
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

/* A host buffer, as elements of any type. */
typedef union Data {
    void *bytes;
    uint32_t *words;
    int32_t *ints;
    uint64_t *longs;
    float *floats;
    double *doubles;
} Data;

/* The elements of a buffer: their size, how an input is filled, how results are compared. */
typedef enum ElementKind {
    KIND_WORDS,          /* 32 random bits */
    KIND_LONGS,          /* 64 random bits */
    KIND_FLOATS,         /* single, uniform in [-8, 8) */
    KIND_DOUBLES,        /* double, uniform in [-8, 8) */
    KIND_MIXED_FLOATS,   /* single: random bits, multiples of 0.5, beyond the integers */
    KIND_SPECIAL_FLOATS, /* single: NaN, infinities, zeros, subnormal numbers, limits */
} ElementKind;

typedef struct Elements {
    ElementKind kind;
    unsigned count;
} Elements;

typedef struct Shape {
    unsigned grid[3];      /* CTAs; 0 means 1 */
    unsigned block[3];     /* threads; 0 means 1 */
    unsigned shared_bytes; /* dynamic shared memory */
} Shape;

/* A kernel's loaded PTX. */
typedef struct Session {
    const char *name;    /* name of the test */
    CUmodule module;     /* the PTX file under test */
    CUfunction function; /* the kernel with the name of the test */
} Session;

typedef struct KernelTest {
    const char *name;   /* name of the test, of its .cu file and of its kernel */
    Shape shape;        /* shape of the launch */
    Elements in;        /* input of the kernel */
    Elements out;       /* output, compared with the reference's */
    uint32_t out_start; /* initial value of every word of `out` */
    double tolerance;   /* allowed error, relative (below 0.01: to 0.01); 0: equal bits */
    /* Computes the expected output; `out` starts with the same values as the kernel's. */
    void (*reference)(Data in, Data out, unsigned n);
    /* Replaces all of the above. Returns true if the test passes, else it has printed why. */
    bool (*run)(Session *session);
} KernelTest;

/* The tables of tests, one per theme. The entry after the last has no name. */
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

/* Runs a kernel with one pointer per parameter and waits for it. Returns the error of the launch or
 * the kernel. */
CUresult session_launch(Session *session, const Shape *shape, void **parameters);
/* A device buffer with a copy of the data. Ends the program on failure. */
CUdeviceptr session_upload(const void *data, size_t size_bytes);
void session_download(void *data, CUdeviceptr from, size_t size_bytes);
void session_free(CUdeviceptr buffer);
/* Unless `result` is success, reports which driver call failed and ends the program. */
void session_check(CUresult result, const char *call);
/* Returns true if `got` and `expected` agree, else prints the first difference. */
bool session_compare(const Session *session, Elements elements, Data got, Data expected,
                     double tolerance);

#endif
