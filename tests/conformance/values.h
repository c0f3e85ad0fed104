/* Operands: the values at which something changes in each type, and pseudo-random ones. */
#ifndef TYTO_TESTS_CONFORMANCE_VALUES_H
#define TYTO_TESTS_CONFORMANCE_VALUES_H

#include <stddef.h>
#include <stdint.h>

#include "form.h"

enum { VALUES_MAX_EDGES = 512 };

/* 64 pseudo-random bits (the splitmix generator). */
uint64_t values_next(uint64_t *state);
/* The edge values of operand `index` of the form; their number. */
size_t values_edges(const Form *form, int index, uint64_t edges[VALUES_MAX_EDGES]);
/* A random value of the operand: of all magnitudes, and often near what others are. */
uint64_t values_random(const Form *form, int index, uint64_t *state);

#endif
