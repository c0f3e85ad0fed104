/* The interpreter of PTX and machine code as a source of instructions (isa/source.h), for the CTAs
 * of one launch on one SM. Both are decoded to the same instructions (isa/isa.h) before it runs. */
#ifndef TYTO_ISSUE_STREAM_INTERPRETER_H
#define TYTO_ISSUE_STREAM_INTERPRETER_H

#include "isa/async.h"
#include "isa/launch.h"
#include "isa/source.h"

typedef struct Interpreter {
    WarpSource source;       /* must be first */
    IsaContext context;      /* executes its warps */
    IsaCta *ctas;            /* by CTA slot */
    uint32_t cta_count;      /* number of slots */
    IsaBulk bulk[ISA_LANES]; /* copies that the last bulk copy instruction began */
} Interpreter;

/* The tables of a program; `program` must outlive them. `is_lowered`: with the issue slots of
 * machine code (issue_stream/lower.h), which are allocated in the program's arena. */
WarpProgram interpreter_program(const IsaProgram *program, bool is_lowered);
/* WarpProgram.leaders of a program, allocated in its arena. NULL for machine code, which does not
 * need them. */
const uint64_t *interpreter_leaders(const IsaProgram *program);

/* A source for CTAs in these slots, which are borrowed and must be zeroed memory. */
void interpreter_init(Interpreter *source, IsaCta *ctas, uint32_t cta_count);
/* Frees what its CTAs own. */
void interpreter_free(Interpreter *source);
/* Makes it run the launch of `context`, whose program has these tables. */
WarpSource *interpreter_start(Interpreter *source, const IsaContext *context,
                              const WarpProgram *program);

/* The warp of a handle from such a source. */
static inline const IsaWarp *interpreter_warp(const SourceWarp *warp) {
    return (const IsaWarp *)(const void *)warp;
}

#endif
