/* The machines under test, and what the tests share: one GPU per execution variant of this host,
 * buffers in its memory, launches, and the account of what was compared. */
#ifndef TYTO_TESTS_CONFORMANCE_HARNESS_H
#define TYTO_TESTS_CONFORMANCE_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "gpu/gpu.h"

#include "form.h"

enum { HARNESS_MAX_ENGINES = 4, HARNESS_BUFFERS = 4, HARNESS_BUFFER_BYTES = 1 << 23 };

/* A GPU that executes by one variant. */
typedef struct Engine {
    const char *variant; /* "base", "v3", "v4" */
    Gpu *gpu;
    uint64_t buffers[HARNESS_BUFFERS]; /* device addresses of the buffers that kernels get */
} Engine;

/* The worst approximation of an opcode and type. */
typedef struct Worst {
    char name[32]; /* "sin.f32" */
    double ulps;
    uint64_t operand, got, expected;
} Worst;

enum { HARNESS_MAX_WORST = 64 };

typedef struct Harness {
    Engine engines[HARNESS_MAX_ENGINES];
    int engine_count;
    const char *filter; /* only forms whose text has this in it; NULL: all */
    int effort;         /* cases are multiplied by this ... */
    int divisor;        /* ... and divided by this */
    bool is_thorough;   /* all values of 16-bit sources */
    uint64_t forms;     /* distinct spellings */
    uint64_t cases;     /* results compared */
    uint64_t failures;  /* of the forms, those that did not load or had a wrong result */
    Worst worst[HARNESS_MAX_WORST];
    int worst_count;
    struct Map *spellings; /* that ran: see coverage.h */
    struct Map *failed;    /* those of them that count as failures */
} Harness;

void harness_start(Harness *harness);
void harness_end(Harness *harness);

/* Whether the filter lets `text` through. */
bool harness_wants(const Harness *harness, const char *text);
/* Counts a form that runs, for the total and for the coverage. */
void harness_count_form(Harness *harness, const char *spelling);
/* Counts a form that did not load or had a wrong result. */
void harness_fail(Harness *harness, const char *spelling);
/* Notes how far an approximation was off. */
void harness_note_error(Harness *harness, const Form *form, const Type *type, double ulps,
                        uint64_t operand, uint64_t got, uint64_t expected);

/* The text as one module; NULL when it does not load, with the messages in *messages (to be freed)
 * unless that is NULL. */
GpuModule *engine_load(Engine *engine, const Text *ptx, char **messages);
/* Host pointer to a buffer. */
void *engine_buffer(const Engine *engine, int buffer);
/* Launches a kernel whose parameters are the addresses of all buffers and then `count`; the result
 * says whether it faulted. */
typedef struct Shape {
    uint32_t grid[3], block[3];
    uint32_t shared_bytes; /* dynamic */
} Shape;
GpuResult engine_launch(Engine *engine, GpuModule *module, const char *kernel, Shape shape,
                        uint32_t count);

/* What every kernel begins with: parameters in0..in3 and n. */
#define HARNESS_PARAMETERS                                                                         \
    "(.param .u64 in0, .param .u64 in1, .param .u64 in2, .param .u64 in3, .param .u32 n)"
#define HARNESS_HEADER ".version 9.0\n.target sm_100\n.address_size 64\n"

#endif
