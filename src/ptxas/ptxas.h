/* PTX to machine code by NVIDIA's assembler, ptxas, where the user has it on the PATH. What it
 * makes is kept in the user's cache (ptxas/kept.h), so that the same text is assembled once. */
#ifndef TYTO_PTXAS_PTXAS_H
#define TYTO_PTXAS_PTXAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"

/* A PTX text. */
typedef struct PtxasInput {
    const char *name; /* for messages */
    const char *text;
    size_t length;         /* bytes */
    uint32_t architecture; /* that it is assembled for, 75 for sm_75 */
} PtxasInput;

/* Assembles a text. The cubin is allocated in `arena`, its bytes in *size. Returns NULL when there
 * is no ptxas, without a message; or after a warning, when files for ptxas cannot be written, or it
 * does not accept the text or makes code of it that is known to be wrong. */
const char *ptxas_assemble(const PtxasInput *input, Arena *arena, size_t *size, Diag *diag);

/* The version of the ptxas on the PATH, "13.0.88"; NULL when there is none. Found once in a
 * process.
 */
const char *ptxas_version(void);

#endif
