/* Runs programs as PTX and as machine code, and compares what they write. */
#ifndef TYTO_TESTS_DIFFERENTIAL_COMPARE_H
#define TYTO_TESTS_DIFFERENTIAL_COMPARE_H

#include "conformance/harness.h"

#include "program.h"

enum { COMPARE_MAX_PROGRAMS = 100 }; /* programs in a module */

/* The results of a launch. */
typedef struct Outcome {
    GpuResult result;
    uint64_t *output;  /* one column per value, in order */
    uint64_t *scratch; /* the threads' memory, then the cells */
} Outcome;

/* Why programs were refused. */
typedef struct Refusal {
    char text[96]; /* operation and reason */
    int count;     /* runs */
} Refusal;

enum { COMPARE_MAX_REFUSALS = 64 };

typedef struct Comparison {
    Harness harnesses[2]; /* for machine code, and for PTX */
    Engine *engines[2];   /* first engine of each */
    uint64_t seed;        /* seed of constants and input */
    struct Map *absent;   /* spellings that ptxas does not accept for the architecture */
    const char *folder;   /* folder for modules that differ; NULL: not stored */
    Outcome outcomes[2];  /* results of the last program that was compared, by engine */
    Refusal refusals[COMPARE_MAX_REFUSALS]; /* the first that occurred */
    int refusal_count;
} Comparison;

/* `architecture` is, for example, "sm_90". */
void compare_start(Comparison *comparison, const char *architecture, uint64_t seed);
void compare_end(Comparison *comparison);
typedef enum Verdict { VERDICT_SAME, VERDICT_REFUSED, VERDICT_DIFFERENT } Verdict;

/* Runs every program as machine code, compiled at `level` ("-O3"), and as PTX, without the
 * statements that ptxas does not accept. Returns false if the module does not load. */
bool compare_run(Comparison *comparison, const char *level, Program *programs, int count,
                 Verdict *verdicts);
/* The same for one program, alone in its module. A program that does not load counts as the
 * same. */
Verdict compare_one(Comparison *comparison, const char *level, Program *program);
/* Describes how the outcomes of the last program differ. */
void compare_describe(const Comparison *comparison, Text *out);

#endif
