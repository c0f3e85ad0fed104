/* Which forms may differ on machine code, and why: what ptxas computes in another way than the ISA
 * describes. Everything else must be equal. */
#ifndef TYTO_TESTS_CONFORMANCE_DIFFERENCES_H
#define TYTO_TESTS_CONFORMANCE_DIFFERENCES_H

#include <stdbool.h>

/* Where a form differs: bits. */
typedef enum DifferenceKind {
    DIFFERS_IDLE = 1,    /* lanes that do not execute have been written */
    DIFFERS_MASKED = 2,  /* results of a form that is guarded or in a branch */
    DIFFERS_RESULT = 4,  /* other results */
    DIFFERS_REFUSED = 8, /* its kernel cannot run */
    DIFFERS_FAULT = 16,  /* what must fault does not */
} DifferenceKind;

/* Whether the list has all these kinds of differences of the form on that machine ("sm_90:-O3").
 * Notes that the rows were needed. */
bool difference_is_known(const char *machine, const char *spelling, unsigned kinds);
/* Prints the rows that concern the machine and were not needed. Returns how many of them name
 * machines: a row for all may be needed by others. */
int differences_report_unused(const char *machine);

#endif
