/* The machines under test, and what the tests share: one GPU per execution variant that this host
 * supports, buffers in its memory, launches, and counts of what was compared. */
#ifndef TYTO_TESTS_CONFORMANCE_HARNESS_H
#define TYTO_TESTS_CONFORMANCE_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "engine/launch/gpu.h"

#include "form.h"

enum { HARNESS_MAX_ENGINES = 4, HARNESS_BUFFERS = 4, HARNESS_BUFFER_BYTES = 1 << 23 };

/* A simulated GPU with one execution variant, or a real GPU. */
typedef struct Engine {
    const char *variant;               /* "base", "v3", "v4", "device" */
    Gpu *gpu;                          /* NULL for a real GPU */
    struct Device *device;             /* NULL for a simulated GPU */
    const char *machine;               /* "sm_90:-O3": runs ptxas's machine code; NULL: PTX */
    char architecture[16];             /* architecture of `machine`, "sm_90" */
    const char *level;                 /* option of ptxas, "-O3" */
    bool is_shadow;                    /* used only for the comparison with the real GPU */
    bool lacks_form;                   /* the assembler rejected the last module */
    uint64_t buffers[HARNESS_BUFFERS]; /* device addresses of the buffers that kernels receive */
} Engine;

/* The largest error of an opcode and type. */
typedef struct Worst {
    char name[32]; /* "sin.f32" */
    double ulps;
    uint64_t operand, got, expected;
} Worst;

enum { HARNESS_MAX_WORST = 64 };

/* A process's share of the work: every `of`-th module or trial, starting at `first`. */
typedef struct Share {
    int index, of, first;
} Share;

typedef struct Harness {
    Engine engines[HARNESS_MAX_ENGINES];
    int engine_count;
    const char *filter; /* only forms whose text contains this; NULL: all */
    int effort;         /* the number of cases is multiplied by this ... */
    int divisor;        /* ... and divided by this */
    bool is_thorough;   /* tests all values of 16-bit sources */
    bool shows_absent;  /* reports forms that the assembler rejects */
    bool only_faults;   /* on a real GPU: runs only trials that must fault, else only the others */
    bool is_hopper;     /* the real GPU has compute capability 9 */
    uint64_t instruction_limit; /* warp instructions of a launch before it fails; 0: 2^28 */
    Share share;
    int units;          /* units seen so far, by all processes */
    uint64_t forms;     /* distinct spellings */
    uint64_t cases;     /* results compared */
    uint64_t failures;  /* forms that did not load or had a wrong result */
    uint64_t absent;    /* forms that the external assembler rejected */
    uint64_t differing; /* forms of machine code with an allowed difference (differences.h) */
    Worst worst[HARNESS_MAX_WORST];
    int worst_count;
    struct Map *spellings;       /* spellings that ran: see coverage.h */
    struct Map *failed;          /* those that count as failures */
    struct Map *differing_forms; /* those of machine code with an allowed difference */
} Harness;

/* `library`: the CUDA driver of a real GPU. That GPU is then the only engine, except for one to
 * compare it with. NULL: no real GPU. `machine`: machine code only, "sm_90" or "sm_90:-O1". */
void harness_start(Harness *harness, const char *library, const char *machine);
void harness_end(Harness *harness);

/* Whether the filter accepts `text`. */
bool harness_wants(const Harness *harness, const char *text);
/* Whether the next module or trial is in this process's share. */
bool harness_takes(Harness *harness);
/* Skips the next trial if it is not in the share, so that its expected output need not be
 * computed. */
bool harness_passes_over(Harness *harness);
/* Ends the process after a real GPU failed, and reports which unit caused it. */
void harness_lose(const Harness *harness, int unit);
/* Counts a form that runs, in the total and in the coverage. */
void harness_count_form(Harness *harness, const char *spelling);
/* Reports that the real GPU does not support a form. */
void harness_note_absent(Harness *harness, const char *spelling, const char *messages);
/* Counts a form that did not load or had a wrong result. */
void harness_fail(Harness *harness, const char *spelling);
/* Whether a form may differ in this way on that engine; counts it if so. `kinds`: see
 * differences.h. */
bool harness_allows(Harness *harness, const Engine *engine, const char *spelling, unsigned kinds);
/* Records the error of an approximation. */
void harness_note_error(Harness *harness, const Form *form, const Type *type, double ulps,
                        uint64_t operand, uint64_t got, uint64_t expected);

/* Loads the text as one module. Returns NULL if it does not load, with the messages in *messages
 * (the caller frees them) unless `messages` is NULL. */
typedef struct EngineModule EngineModule;
EngineModule *engine_load(Engine *engine, const Text *ptx, char **messages);
void engine_unload(Engine *engine, EngineModule *module);
/* Host pointer to a buffer. */
void *engine_buffer(const Engine *engine, int buffer);
/* Sets how much of a buffer a launch may access; a real GPU's buffer is copied there and back. */
void engine_reach(Engine *engine, int buffer, size_t bytes);
/* A handle for a texture or surface in buffer 3. */
uint64_t engine_texture(Engine *engine, const struct MemTexture *texture);
/* Sets the surface that covers buffer 1 in the next launches; 0: none. */
void engine_write_to(Engine *engine, uint64_t surface);
/* Launches a kernel whose parameters are the addresses of all buffers and `count`. The result tells
 * whether it faulted. */
typedef struct Shape {
    uint32_t grid[3], block[3];
    uint32_t shared_bytes; /* dynamic shared memory */
} Shape;
GpuResult engine_launch(Engine *engine, EngineModule *module, const char *kernel, Shape shape,
                        uint32_t count);

/* Start of every kernel: parameters in0..in3 and n. */
#define HARNESS_PARAMETERS                                                                         \
    "(.param .u64 in0, .param .u64 in1, .param .u64 in2, .param .u64 in3, .param .u32 n)"
#define HARNESS_HEADER ".version 9.0\n.target sm_100\n.address_size 64\n"

#endif
