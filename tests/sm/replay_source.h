/* A source of instructions that replays a recorded stream: what each warp executed, step by step,
 * with the addresses of its lanes. Nothing is computed. It is the smallest implementation of
 * isa/source.h, and shows how a trace would implement it. */
#ifndef TYTO_TESTS_SM_REPLAY_SOURCE_H
#define TYTO_TESTS_SM_REPLAY_SOURCE_H

#include "isa/source.h"

enum { REPLAY_WARPS = 64, REPLAY_SLOTS = 32 };

/* One step of a recorded warp. The last step of the stream has is_exit. */
typedef struct ReplayStep {
    uint32_t pc;       /* the row that was executed */
    uint32_t executed; /* lanes */
    uint64_t address;  /* of lane 0; lane i accesses `stride` bytes after lane i - 1 */
    uint32_t stride;
    bool is_exit;
} ReplayStep;

/* A warp on its way through the stream. */
typedef struct ReplayWarp {
    SourceWarp at; /* must be first */
    const ReplayStep *next;
    uint32_t cta_slot;
    uint32_t bit; /* for its number in the CTA */
} ReplayWarp;

typedef struct ReplaySource {
    WarpSource source;              /* must be first */
    const ReplayStep *stream;       /* of every warp */
    WarpStep did;                   /* the last step; never generic */
    ReplayWarp warp[REPLAY_WARPS];  /* by warp slot */
    uint32_t waiting[REPLAY_SLOTS]; /* warps of each CTA slot at its barrier, a bit each, and ... */
    uint32_t alive[REPLAY_SLOTS];   /* ... those that have not exited */
    IsaFault fault;
    uint64_t steps; /* so far */
} ReplaySource;

/* Starts CTAs of `warps` warps. Each warp executes the stream of a program. */
WarpSource *replay_source_start(ReplaySource *source, const WarpProgram *program, uint32_t warps,
                                const ReplayStep *stream);

#endif
