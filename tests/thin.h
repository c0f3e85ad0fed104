/* Fewer of many similar cases. */
#ifndef TYTO_TESTS_THIN_H
#define TYTO_TESTS_THIN_H

#include <stdbool.h>
#include <stdlib.h>

/* Step of a loop over similar cases: N with TYTO_TESTS_EVERY=N in the environment, which `make
 * test` sets under the sanitizers; otherwise 1. */
static inline int thin_step(void) {
    const char *variable = getenv("TYTO_TESTS_EVERY");
    const int step = variable ? atoi(variable) : 1;
    return step > 1 ? step : 1;
}

/* Whether large cases are left out, which also run in the release build. */
static inline bool is_thin(void) { return thin_step() > 1; }

#endif
