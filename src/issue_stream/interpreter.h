/* The PTX interpreter as a source of instructions (isa/source.h), for the CTAs of one launch on one
 * SM. */
#ifndef TYTO_ISSUE_STREAM_PTX_SOURCE_H
#define TYTO_ISSUE_STREAM_PTX_SOURCE_H

#include "isa/async.h"
#include "isa/launch.h"
#include "isa/source.h"

typedef struct PtxSource {
    WarpSource source;       /* must be first */
    IsaContext context;      /* executes its warps */
    IsaCta *ctas;            /* by CTA slot */
    uint32_t cta_count;      /* number of slots */
    IsaBulk bulk[ISA_LANES]; /* copies that the last bulk copy instruction began */
} PtxSource;

/* The tables of a program; `program` must outlive them. `is_lowered`: with the issue slots of
 * machine code (issue_stream/lower.h), which are allocated in the program's arena. */
WarpProgram ptx_source_program(const IsaProgram *program, bool is_lowered);
/* WarpProgram.leaders of a program, allocated in its arena. NULL for machine code, which does not
 * need them. */
const uint64_t *ptx_source_leaders(const IsaProgram *program);

/* A source for CTAs in these slots, which are borrowed and must be zeroed memory. */
void ptx_source_init(PtxSource *source, IsaCta *ctas, uint32_t cta_count);
/* Frees what its CTAs own. */
void ptx_source_free(PtxSource *source);
/* Makes it run the launch of `context`, whose program has these tables. */
WarpSource *ptx_source_start(PtxSource *source, const IsaContext *context,
                             const WarpProgram *program);

/* The warp of a handle from such a source. */
static inline const IsaWarp *ptx_source_warp(const SourceWarp *warp) {
    return (const IsaWarp *)(const void *)warp;
}

#endif
