/* Operands: for each type the values at which something changes, and pseudo-random ones. */
#ifndef TYTO_TESTS_CONFORMANCE_VALUES_H
#define TYTO_TESTS_CONFORMANCE_VALUES_H

#include <stddef.h>
#include <stdint.h>

#include "form.h"

enum { VALUES_MAX_EDGES = 512 };

/* 64 pseudo-random bits (the splitmix generator). */
uint64_t values_next(uint64_t *state);
/* Stores the edge values of operand `index` of the form, and returns their number. */
size_t values_edges(const Form *form, int index, uint64_t edges[VALUES_MAX_EDGES]);
/* A random value of the operand: of any magnitude, and often near other operands. */
uint64_t values_random(const Form *form, int index, uint64_t *state);

#endif
