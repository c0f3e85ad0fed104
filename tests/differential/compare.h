/* Programs as PTX and as machine code: what they write, and where that differs. */
#ifndef TYTO_TESTS_DIFFERENTIAL_COMPARE_H
#define TYTO_TESTS_DIFFERENTIAL_COMPARE_H

#include "conformance/harness.h"

#include "program.h"

enum { COMPARE_MAX_PROGRAMS = 100 }; /* of a module */

/* What a launch leaves behind. */
typedef struct Outcome {
    GpuResult result;
    uint64_t *output;  /* a column of each value, in order */
    uint64_t *scratch; /* memory of the threads, then the cells */
} Outcome;

typedef struct Comparison {
    Harness harnesses[2]; /* of machine code, of PTX */
    Engine *engines[2];   /* the first of each */
    uint64_t seed;        /* of constants and input */
    struct Map *absent;   /* spellings that ptxas does not take for the architecture */
    const char *folder;   /* where modules that differ are kept; NULL: nowhere */
    Outcome outcomes[2];  /* of the program that was compared last, by engine */
} Comparison;

/* The architecture is "sm_90". */
void compare_start(Comparison *comparison, const char *architecture, uint64_t seed);
void compare_end(Comparison *comparison);
/* Drops from the programs what ptxas does not take; ends the process when a module does not
 * assemble for another reason. */
void compare_admit(Comparison *comparison, Program *programs, int count);
typedef enum Verdict { VERDICT_SAME, VERDICT_REFUSED, VERDICT_DIFFERENT } Verdict;

/* Runs every program at the level, "-O3", and as PTX; false when the module does not load. */
bool compare_run(Comparison *comparison, const char *level, Program *programs, int count,
                 Verdict *verdicts);
/* The same of a program that is alone in its module; one that does not load is no different. */
Verdict compare_one(Comparison *comparison, const char *level, Program *program);
/* Says where the outcomes of the last program differ. */
void compare_describe(const Comparison *comparison, Text *out);

#endif
