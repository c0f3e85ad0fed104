/* The PTX interpreter as a source of instructions (isa/source.h): the CTAs of one launch on one SM.
 */
#ifndef TYTO_ISSUE_STREAM_PTX_SOURCE_H
#define TYTO_ISSUE_STREAM_PTX_SOURCE_H

#include "isa/async.h"
#include "isa/launch.h"
#include "isa/source.h"

typedef struct PtxSource {
    WarpSource source;       /* must be first */
    IsaContext context;      /* executes its warps */
    IsaCta *ctas;            /* by CTA slot */
    uint32_t cta_count;      /* slots */
    IsaBulk bulk[ISA_LANES]; /* copies that the last instruction of that kind began */
} PtxSource;

/* The rows of a program; `program` must outlive them. `is_lowered`: with the issue slots of machine
 * code (issue_stream/lower.h), which stay in the program's arena. */
WarpProgram ptx_source_program(const IsaProgram *program, bool is_lowered);
/* WarpProgram.leaders of a program, in its arena. NULL: it is machine code, which needs none. */
const uint64_t *ptx_source_leaders(const IsaProgram *program);

/* A source of CTAs in these slots: zeroed memory, borrowed. */
void ptx_source_init(PtxSource *source, IsaCta *ctas, uint32_t cta_count);
/* Frees what its CTAs hold. */
void ptx_source_free(PtxSource *source);
/* It runs the launch of `context` from now on, whose program has these rows. */
WarpSource *ptx_source_start(PtxSource *source, const IsaContext *context,
                             const WarpProgram *program);

/* The warp behind a handle of such a source. */
static inline const IsaWarp *ptx_source_warp(const SourceWarp *warp) {
    return (const IsaWarp *)(const void *)warp;
}

#endif
