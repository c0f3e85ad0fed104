/* A rig for single instructions: a kernel of one line of PTX, decoded for a variant, with a frame
 * of registers that a test sets and reads. Register names: %h0..%h7 16 bits, %r0..%r7 32 bits,
 * %d0..%d7 64 bits, %p0..%p7 predicates. */
#ifndef TYTO_TESTS_ISA_RIG_H
#define TYTO_TESTS_ISA_RIG_H

#include "isa/exec/handlers.h"
#include "isa/launch.h"

typedef struct Rig {
    PtxModule *module;
    IsaProgram *program;
    IsaLaunch launch;
    IsaCta cta;
    IsaContext context;
    IsaWarp *warp; /* first warp of the CTA */
} Rig;

/* Returns NULL, after it has printed the messages, if the line cannot be read or decoded. */
Rig *rig_new(const char *line, const IsaVariant *variant);
void rig_free(Rig *rig);
/* Bytes of the register's row or pair of rows; NULL if the line does not use the register. */
void *rig_row(const Rig *rig, const char *name);
/* The predicate's word; NULL if the line does not use the predicate. */
uint32_t *rig_pred(const Rig *rig, const char *name);
/* Executes the line's instructions for the lanes in `mask`. */
void rig_run(Rig *rig, uint32_t mask);

#endif
