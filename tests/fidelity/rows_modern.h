/* The rows of docs/fidelity-modern.md: machines like Volta and Ampere. */
#ifndef TYTO_TESTS_FIDELITY_ROWS_MODERN_H
#define TYTO_TESTS_FIDELITY_ROWS_MODERN_H

#include "rows.h"

extern const Section modern_sections[];
extern const int modern_section_count;

#endif
