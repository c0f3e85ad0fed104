/* Assembles PTX to machine code with NVIDIA's assembler, ptxas, if the user has it on the PATH. The
 * results are kept in the user's cache (ptxas/kept.h), so that a text is assembled only once. */
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
    uint32_t architecture; /* the architecture that it is assembled for, 75 for sm_75 */
} PtxasInput;

/* Assembles a text. The cubin is allocated in `arena`, with its bytes in *size. Returns NULL
 * without a message if there is no ptxas. Returns NULL after a warning if files for ptxas cannot be
 * written, if ptxas does not accept the text, or if it generates code that is known to be wrong. */
const char *ptxas_assemble(const PtxasInput *input, Arena *arena, size_t *size, Diag *diag);

/* The version of the ptxas on the PATH, "13.0.88"; NULL if there is none. Looked up once per
 * process. */
const char *ptxas_version(void);

#endif
