/* The machines under test, and what the tests share: one GPU per execution variant of this host,
 * buffers in its memory, launches, and the account of what was compared. */
#ifndef TYTO_TESTS_CONFORMANCE_HARNESS_H
#define TYTO_TESTS_CONFORMANCE_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "engine/launch/gpu.h"

#include "form.h"

enum { HARNESS_MAX_ENGINES = 4, HARNESS_BUFFERS = 4, HARNESS_BUFFER_BYTES = 1 << 23 };

/* A GPU that executes by one variant, or a real one. */
typedef struct Engine {
    const char *variant;               /* "base", "v3", "v4", "device" */
    Gpu *gpu;                          /* NULL of a real one */
    struct Device *device;             /* NULL of a simulated one */
    const char *machine;               /* "sm_90:-O3": executes what ptxas makes; NULL: PTX */
    char architecture[16];             /* of that, "sm_90" */
    const char *level;                 /* of ptxas, "-O3" */
    bool is_shadow;                    /* only compared with the real one */
    bool lacks_form;                   /* the assembler did not take the last module */
    uint64_t buffers[HARNESS_BUFFERS]; /* device addresses of the buffers that kernels get */
} Engine;

/* The worst approximation of an opcode and type. */
typedef struct Worst {
    char name[32]; /* "sin.f32" */
    double ulps;
    uint64_t operand, got, expected;
} Worst;

enum { HARNESS_MAX_WORST = 64 };

/* A part of the work, for several processes: every `of`-th module or trial, from `first` on. */
typedef struct Share {
    int index, of, first;
} Share;

typedef struct Harness {
    Engine engines[HARNESS_MAX_ENGINES];
    int engine_count;
    const char *filter; /* only forms whose text has this in it; NULL: all */
    int effort;         /* cases are multiplied by this ... */
    int divisor;        /* ... and divided by this */
    bool is_thorough;   /* all values of 16-bit sources */
    bool shows_absent;  /* says what the assembler does not take */
    bool only_faults;   /* on a real GPU: trials that must fault, else those that must not */
    bool is_hopper;     /* the real GPU has compute capability 9 */
    Share share;
    int units;          /* that came up, in all processes */
    uint64_t forms;     /* distinct spellings */
    uint64_t cases;     /* results compared */
    uint64_t failures;  /* of the forms, those that did not load or had a wrong result */
    uint64_t absent;    /* forms that the assembler, which is not ours, did not take */
    uint64_t differing; /* forms of machine code that differ as the list has it (differences.h) */
    Worst worst[HARNESS_MAX_WORST];
    int worst_count;
    struct Map *spellings;       /* that ran: see coverage.h */
    struct Map *failed;          /* those of them that count as failures */
    struct Map *differing_forms; /* those of machine code that differ as they may */
} Harness;

/* `library`: the CUDA driver of a real GPU, which then is the only engine but for one to compare it
 * with; NULL: none. `machine`: machine code alone, "sm_90" or "sm_90:-O1". */
void harness_start(Harness *harness, const char *library, const char *machine);
void harness_end(Harness *harness);

/* Whether the filter lets `text` through. */
bool harness_wants(const Harness *harness, const char *text);
/* Whether the next module or trial is in this process's share. */
bool harness_takes(Harness *harness);
/* Passes over the next trial if it is not: what it expects need not be computed. */
bool harness_passes_over(Harness *harness);
/* Ends the process after a real GPU has failed it, saying which unit did that. */
void harness_lose(const Harness *harness, int unit);
/* Counts a form that runs, for the total and for the coverage. */
void harness_count_form(Harness *harness, const char *spelling);
/* Says that the real GPU does not have a form. */
void harness_note_absent(Harness *harness, const char *spelling, const char *messages);
/* Counts a form that did not load or had a wrong result. */
void harness_fail(Harness *harness, const char *spelling);
/* Whether a form may differ so on that engine; counts it then. `kinds`: differences.h. */
bool harness_allows(Harness *harness, const Engine *engine, const char *spelling, unsigned kinds);
/* Notes how far an approximation was off. */
void harness_note_error(Harness *harness, const Form *form, const Type *type, double ulps,
                        uint64_t operand, uint64_t got, uint64_t expected);

/* The text as one module; NULL when it does not load, with the messages in *messages (to be freed)
 * unless that is NULL. */
typedef struct EngineModule EngineModule;
EngineModule *engine_load(Engine *engine, const Text *ptx, char **messages);
void engine_unload(Engine *engine, EngineModule *module);
/* Host pointer to a buffer. */
void *engine_buffer(const Engine *engine, int buffer);
/* Says how much of a buffer a launch may touch: a real GPU's is copied there and back. */
void engine_reach(Engine *engine, int buffer, size_t bytes);
/* A handle of a texture or surface in buffer 3. */
uint64_t engine_texture(Engine *engine, const struct MemTexture *texture);
/* Says which surface lies over buffer 1 in the next launches; 0: none. */
void engine_write_to(Engine *engine, uint64_t surface);
/* Launches a kernel whose parameters are the addresses of all buffers and then `count`; the result
 * says whether it faulted. */
typedef struct Shape {
    uint32_t grid[3], block[3];
    uint32_t shared_bytes; /* dynamic */
} Shape;
GpuResult engine_launch(Engine *engine, EngineModule *module, const char *kernel, Shape shape,
                        uint32_t count);

/* What every kernel begins with: parameters in0..in3 and n. */
#define HARNESS_PARAMETERS                                                                         \
    "(.param .u64 in0, .param .u64 in1, .param .u64 in2, .param .u64 in3, .param .u32 n)"
#define HARNESS_HEADER ".version 9.0\n.target sm_100\n.address_size 64\n"

#endif
