/* Where a warp's instructions come from: the interface through which an SM runs a grid. The PTX
 * interpreter (issue_stream/ptx_source.h) is one source; machine code or a recorded trace would be
 * others.
 *
 * A source holds the functional state of a grid's CTAs on one SM: registers, memory, divergence,
 * barriers. The SM decides when a warp executes its next instruction. It learns from the program
 * (WarpProgram) what an instruction is, and from the record of a step (WarpStep) what it did.
 *
 * What a source must keep:
 * - A pc is an index of the program's rows; the instruction after pc is at pc + 1 unless it jumps.
 * - The next pc and the active lanes of a warp change by its own steps only. A step by another warp
 *   may end its wait at a barrier.
 * - An instruction's effect is complete when step() returns. Latencies are the SM's business. */
#ifndef TYTO_ISA_SOURCE_H
#define TYTO_ISA_SOURCE_H

#include <stddef.h>

#include "isa/pixels.h"
#include "isa/fault.h"
#include "isa/info.h"
#include "isa/policy.h"

struct DeviceMemory;

typedef struct WarpSource WarpSource;

/* A warp: the first member of the source's own record of it. */
typedef struct SourceWarp {
    uint32_t pc;     /* of its next instruction */
    uint32_t active; /* lanes that will execute it, as far as its guard lets them */
} SourceWarp;

/* The static side: a row for each pc. */
typedef struct WarpProgram {
    const IsaInfo *infos;
    const IsaReg *regs;    /* what IsaInfo.regs points into; not NULL */
    const IsaSlots *slots; /* issue slots, where the PTX stands for machine code; NULL: one each */
    const IsaControl *controls; /* how each wants to be issued; NULL: the code does not say, */
    const uint64_t *leaders;    /* ... but which rows a jump may lead to, bit each; NULL: none */
    uint32_t count;             /* rows */
    uint32_t registers;         /* registers of the function that has most */
} WarpProgram;

/* The slots of a row; one where the program says nothing of slots. */
static inline IsaSlots warp_program_slots(const WarpProgram *program, uint32_t pc) {
    const IsaSlots one = {.slots = 1, .taken = 1, .passed = 1, .chain = 1};
    return program->slots ? program->slots[pc] : one;
}
/* A row as a machine issues it: an atomic with an unused result has no result. */
static inline IsaInfo warp_program_info(const WarpProgram *program, uint32_t pc) {
    IsaInfo info = program->infos[pc];
    if (!warp_program_slots(program, pc).is_forgotten) return info;
    info.regs += info.dst_count;
    info.dst_count = 0;
    return info;
}

/* What a bulk copy does. */
typedef enum IsaBulkKind {
    ISA_BULK_LOAD,   /* from global to shared memory; completes transactions of an mbarrier */
    ISA_BULK_STORE,  /* from shared to global memory; part of a group */
    ISA_BULK_REDUCE, /* the same, combined with what is there */
    ISA_BULK_LOCAL,  /* from shared memory or registers to shared memory; completes transactions */
    ISA_BULK_PREFETCH,
    ISA_BULK_ARRIVE, /* an arrival at the mbarrier of another CTA */
    ISA_BULK_RELEASE /* the barrier of a cluster is complete: who waits there is released */
} IsaBulkKind;
/* A bulk copy that a lane began, or what else ends later than its instruction. Its bytes have
 * moved; what is left is that it is over. */
typedef struct IsaBulk {
    uint64_t global;      /* of its first row; LOCAL: none; RELEASE: the cluster's number; ARRIVE:
                             arrivals */
    uint64_t stride[4];   /* bytes between rows of the second to fifth dimension of a tile ... */
    uint32_t rows[4];     /* ... and how many there are in each; of other copies one */
    uint32_t row_bytes;   /* of global memory that are side by side */
    uint32_t shared;      /* PREFETCH: none */
    uint32_t bytes;       /* of shared memory */
    uint32_t barrier;     /* offset of the mbarrier in shared memory: LOAD, LOCAL and ARRIVE */
    int32_t transactions; /* ARRIVE: expected, or negative ones completed */
    uint16_t ranks; /* CTAs of the cluster that have the mbarrier, bit each; 0: the warp's own */
    uint8_t kind;   /* IsaBulkKind */
    uint8_t lane;
    bool drops;       /* ARRIVE: the arrivals leave the barrier */
    IsaPixels pixels; /* by an im2col map: rows[0] pixels of row_bytes each, from this one on, of
                         a tensor at `global`; no dimensions: rows and strides say where they are */
} IsaBulk;

/* Where a CTA is resident. */
typedef struct SourcePlace {
    uint32_t sm, slot;
} SourcePlace;
enum { SOURCE_MOST_PLACES = 16 };

typedef enum WarpEvent {
    WARP_GOES_ON,
    WARP_WAITS,  /* at a barrier of its CTA: waiting() has its bit */
    WARP_EXITED, /* all its lanes have */
    WARP_FAULT   /* fault() says what happened */
} WarpEvent;

/* What the last step did. */
typedef struct WarpStep {
    uint32_t executed; /* lanes that executed it: active and guard true */
    uint8_t pattern;   /* ISA_HALF_... of 32-bit words that all lanes access; 0: not known */
    bool has_split;    /* set by branches only: the lanes go two ways */
    uint64_t address[ISA_LANES]; /* memory accesses: of each executed lane, in the instruction's own
                                    space (generic ones resolved); the SM may overwrite them */
    uint8_t space[ISA_LANES];    /* generic accesses: PtxSpace of each lane's address */
} WarpStep;

/* What an instruction with ISA_IS_PHASE, just executed, means for its warp and others. */
typedef enum WarpPhase {
    WARP_PHASE_CHANGED, /* it may have ended a phase of an mbarrier: warps that try go on */
    WARP_PHASE_OVER,    /* it waited for a phase: that is over, or the program looks again */
    WARP_PHASE_TRIES    /* it waits, for a limited time; try_again() tells when it is over */
} WarpPhase;

/* The functions of a source. Only step() is called for every instruction. */
typedef struct WarpSourceType {
    const char *name;
    /* Executes the warp's next instruction in this cycle (%clock), and fills *did. */
    WarpEvent (*step)(WarpSource *source, SourceWarp *warp, uint64_t cycle);
    /* CTA `index` of the grid starts in a CTA slot of the SM, its warps in warp slots from
     * `first_warp` on. Fills warps[] with each of them, ready for its first step. What was in the
     * slot before has ended. */
    void (*start_cta)(WarpSource *source, uint32_t slot, uint64_t index, uint32_t first_warp,
                      SourceWarp **warps);
    /* Warps of the CTA in that slot that wait at a barrier, bit per number in the CTA. Asked after
     * instructions with ISA_IS_BARRIER and after exits. */
    uint32_t (*waiting)(const WarpSource *source, uint32_t slot);
    /* Asked after instructions with ISA_IS_PHASE, which these lanes executed at pc. *cycles: the
     * limit of WARP_PHASE_TRIES; left alone where the machine's holds. */
    WarpPhase (*phase)(WarpSource *source, SourceWarp *warp, uint32_t pc, uint32_t lanes,
                       uint64_t *cycles);
    /* Whether what these lanes tried at pc succeeds now; it may set a fault. */
    bool (*try_again)(WarpSource *source, SourceWarp *warp, uint32_t pc, uint32_t lanes);
    /* The bulk copies that the last instruction, one with ISA_IS_BULK, began, and how many. */
    uint32_t (*bulk)(const WarpSource *source, const IsaBulk **copies);
    /* One of the warp's is over: it may end a phase of an mbarrier, or set a fault. */
    void (*bulk_done)(WarpSource *source, SourceWarp *warp, const IsaBulk *copy);
    /* The CTAs that a copy of the warp's reaches, or that its end may let go on, where the grid has
     * clusters: how many, at most SOURCE_MOST_PLACES. */
    uint32_t (*places)(const WarpSource *source, const SourceWarp *warp, const IsaBulk *copy,
                       SourcePlace *places);
    /* The cache policy (isa/policy.h) of the instruction at pc, which a lane has just executed. */
    uint64_t (*cache_policy)(const WarpSource *source, const SourceWarp *warp, uint32_t pc,
                             int lane);
    /* NULL: there is none. */
    const IsaFault *(*fault)(const WarpSource *source);

    /* ---- Deadlock detection ---- */

    /* Rises with each instruction that may have changed what other threads see. */
    uint64_t (*changes)(const WarpSource *source);
    /* Whether the warp can only poll for another thread's store: it waits at a barrier, or has gone
     * `rounds` times round such a loop since the last change. `for_ever`: and will do so without
     * end, as far as states were compared since prove_polls(source, true). */
    bool (*only_polls)(const WarpSource *source, const SourceWarp *warp, uint32_t rounds,
                       bool for_ever);
    void (*prove_polls)(WarpSource *source, bool proves);
    /* Restarts the counts and the comparison. */
    void (*reset_polls)(WarpSource *source, SourceWarp *warp);
} WarpSourceType;

/* The first member of a source's own record. Nothing in it changes while its grid runs. */
struct WarpSource {
    const WarpSourceType *type;
    WarpStep *did; /* filled by each step */
    const WarpProgram *program;
    const struct DeviceMemory *memory; /* that addresses are of; NULL: none */
    PolicyWindow window;               /* accesses to it have a priority in L2 */
    uint32_t warps;                    /* of a CTA */
    bool has_clusters;                 /* CTAs reach those of their cluster on other SMs */
    uint32_t entry;                    /* pc of the kernel's first instruction */
};

#endif
