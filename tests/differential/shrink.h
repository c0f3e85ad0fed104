/* Makes a program that differs as short as it gets. */
#ifndef TYTO_TESTS_DIFFERENTIAL_SHRINK_H
#define TYTO_TESTS_DIFFERENTIAL_SHRINK_H

#include "compare.h"

/* Drops statements while the verdict on the program stays the same at the level. */
void shrink(Comparison *comparison, const char *level, Program *program, Verdict verdict);

#endif
