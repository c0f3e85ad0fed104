/* Which forms may differ as machine code, and why: cases in which ptxas computes something else
 * than the ISA describes. Everything else must be equal. */
#ifndef TYTO_TESTS_CONFORMANCE_DIFFERENCES_H
#define TYTO_TESTS_CONFORMANCE_DIFFERENCES_H

#include <stdbool.h>

/* Kinds of differences, as bits. */
typedef enum DifferenceKind {
    DIFFERS_IDLE = 1,    /* lanes that do not execute are written */
    DIFFERS_MASKED = 2,  /* results of a form under a guard or in a branch */
    DIFFERS_RESULT = 4,  /* other results */
    DIFFERS_REFUSED = 8, /* its kernel cannot run */
    DIFFERS_FAULT = 16,  /* an access that must fault does not */
} DifferenceKind;

/* Whether the list allows all these kinds of differences for the form on that machine
 * ("sm_90:-O3"). Marks the rows as used. */
bool difference_is_known(const char *machine, const char *spelling, unsigned kinds);
/* Prints the rows for this machine that were not used. Returns how many of them name machines,
 * because other machines may use a row for all. */
int differences_report_unused(const char *machine);

#endif
