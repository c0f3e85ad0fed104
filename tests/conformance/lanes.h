/* Tests of instructions on registers. Each form becomes a kernel in which every thread executes it
 * on its own operands, in several ways. */
#ifndef TYTO_TESTS_CONFORMANCE_LANES_H
#define TYTO_TESTS_CONFORMANCE_LANES_H

#include "harness.h"

/* Runs every form of the table, which ends with a row that has no pattern. */
void lanes_run(Harness *harness, const Row *rows);

/* The tables. */
extern const Row ROWS_INTEGER[], ROWS_BITS[], ROWS_COMPARE[], ROWS_FLOAT[], ROWS_APPROXIMATE[],
    ROWS_CONVERT[], ROWS_VIDEO[], ROWS_WARP[];

#endif
