/* PTX to machine code by ptxas, for the engine that executes machine code. */
#ifndef TYTO_TESTS_CONFORMANCE_ASSEMBLER_H
#define TYTO_TESTS_CONFORMANCE_ASSEMBLER_H

#include <stdbool.h>
#include <stddef.h>

/* Whether ptxas can be run. */
bool assembler_is_there(void);
/* The cubin of a PTX text for an architecture ("sm_90") at a level ("-O3"), as a block of *size
 * bytes that the caller frees. Returns NULL on errors, with ptxas's messages in *messages; the
 * caller frees these too. */
void *assembler_run(const char *architecture, const char *level, const char *ptx, size_t *size,
                    char **messages);
/* The text with another .target. The caller frees it. */
char *assembler_retarget(const char *ptx, const char *target);

#endif
