/* The rows of docs/fidelity.md: what was measured on the peer simulator, and the probe that
 * measures the same in Tyto. */
#ifndef TYTO_TESTS_FIDELITY_ROWS_H
#define TYTO_TESTS_FIDELITY_ROWS_H

#include "probe.h"

typedef struct Row {
    const char *what;
    double theirs; /* in the unit of its section */
    Probe probe;
    const char *note; /* why ours differs by more than the section allows; NULL: it must not */
} Row;

typedef struct Section {
    const char *title;
    const char *text; /* before the table */
    double absolute;  /* allowed difference: a number of cycles, or ... */
    double relative;  /* ... this share of the peer's figure */
    int digits;       /* digits after the decimal point */
    const Row *rows;
    int count;
} Section;

extern const Section sections[];
extern const int section_count;

#endif
