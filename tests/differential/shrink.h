/* Makes a differing program as short as possible. */
#ifndef TYTO_TESTS_DIFFERENTIAL_SHRINK_H
#define TYTO_TESTS_DIFFERENTIAL_SHRINK_H

#include "compare.h"

/* Drops statements as long as the verdict on the program at the level stays the same. */
void shrink(Comparison *comparison, const char *level, Program *program, Verdict verdict);

#endif
