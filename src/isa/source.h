/* Where a warp's instructions come from: the interface through which an SM runs a grid. The
 * interpreter (issue_stream/interpreter.h) is the source for PTX and for machine code. A recorded
 * trace could be another.
 *
 * A source holds the functional state of a grid's CTAs on one SM: registers, memory, divergence,
 * barriers. The SM decides when a warp executes its next instruction. It reads static information
 * about instructions from the program (WarpProgram), and the effect of a step from its record
 * (WarpStep).
 *
 * A source must guarantee:
 * - A pc is an index of the program's rows. The instruction after pc is at pc + 1 unless it jumps.
 * - Only a warp's own steps change its next pc and active lanes. A step of another warp may end its
 *   wait at a barrier.
 * - An instruction's effect is complete when step() returns. The SM accounts for latencies. */
#ifndef TYTO_ISA_SOURCE_H
#define TYTO_ISA_SOURCE_H

#include <stddef.h>

#include "isa/pixels.h"
#include "isa/fault.h"
#include "isa/info.h"
#include "isa/policy.h"

struct DeviceMemory;

typedef struct WarpSource WarpSource;

/* A warp. It is the first member of the source's own record of the warp. */
typedef struct SourceWarp {
    uint32_t pc;     /* pc of its next instruction */
    uint32_t active; /* lanes that will execute it, except those whose guard is false */
} SourceWarp;

/* The static part: one row per pc. */
typedef struct WarpProgram {
    const IsaInfo *infos;
    const IsaReg *regs;    /* target of IsaInfo.regs; not NULL */
    const IsaSlots *slots; /* issue slots, if PTX stands for machine code; NULL: one slot each */
    const IsaControl *controls; /* control information of each row; NULL: the code has none */
    const uint64_t *leaders;    /* without controls: possible jump targets, one bit per row; NULL:
                                 * none */
    uint32_t count;             /* number of rows */
    uint32_t registers;         /* the largest number of registers of a function */
} WarpProgram;

/* The slots of a row; one if the program does not specify slots. */
static inline IsaSlots warp_program_slots(const WarpProgram *program, uint32_t pc) {
    const IsaSlots one = {.slots = 1, .taken = 1, .passed = 1, .chain = 1};
    return program->slots ? program->slots[pc] : one;
}
/* A row as a machine issues it: an atomic with an unused result has no destination. */
static inline IsaInfo warp_program_info(const WarpProgram *program, uint32_t pc) {
    IsaInfo info = program->infos[pc];
    if (!warp_program_slots(program, pc).is_forgotten) return info;
    info.regs += info.dst_count;
    info.dst_count = 0;
    return info;
}

/* Kinds of bulk copies. */
typedef enum IsaBulkKind {
    ISA_BULK_LOAD,   /* from global to shared memory; completes transactions of an mbarrier */
    ISA_BULK_STORE,  /* from shared to global memory; part of a group */
    ISA_BULK_REDUCE, /* the same, combined with the old contents */
    ISA_BULK_LOCAL,  /* from shared memory or registers to shared memory; completes transactions */
    ISA_BULK_PREFETCH,
    ISA_BULK_ARRIVE, /* an arrival at the mbarrier of another CTA */
    ISA_BULK_RELEASE /* the barrier of a cluster is complete: waiting warps are released */
} IsaBulkKind;
/* Dimensions of a tile's rows: up to four, and one for the slices of an interleaved map. */
enum { ISA_BULK_DIMENSIONS = 5 };
/* A bulk copy that a lane started, or something else that ends later than its instruction. Its
 * bytes have already moved; only its end is pending. */
typedef struct IsaBulk {
    uint64_t global; /* address of its first row; LOCAL: unused; RELEASE: number of the
                      * cluster; ARRIVE: number of arrivals */
    uint64_t stride[ISA_BULK_DIMENSIONS]; /* bytes between rows of each dimension of a tile ... */
    uint32_t rows[ISA_BULK_DIMENSIONS];   /* ... and the number of rows in each; 1 for other
                                           * copies */
    uint32_t row_bytes;                   /* contiguous bytes of global memory */
    uint32_t shared;                      /* PREFETCH: unused */
    uint32_t bytes;                       /* in shared memory */
    uint32_t barrier;     /* LOAD, LOCAL and ARRIVE: offset of the mbarrier in shared memory */
    int32_t transactions; /* ARRIVE: positive: expected; negative: completed */
    uint16_t ranks;       /* CTAs of the cluster that have the mbarrier, one bit each; 0: the warp's
                           * own */
    uint8_t kind;         /* IsaBulkKind */
    uint8_t lane;
    bool drops;       /* ARRIVE: the arrivals also leave the barrier */
    IsaPixels pixels; /* with an im2col map: rows[0] pixels, from this one on, of a tensor at
                       * `global`. Each has rows[1] rows, stride[1] apart. Without dimensions, rows
                       * and strides give the places */
} IsaBulk;

/* Where a CTA is resident. */
typedef struct SourcePlace {
    uint32_t sm, slot;
} SourcePlace;
enum { SOURCE_MOST_PLACES = 16 };

typedef enum WarpEvent {
    WARP_GOES_ON,
    WARP_WAITS,  /* at a barrier of its CTA; waiting() has its bit */
    WARP_EXITED, /* all its lanes have exited */
    WARP_FAULT   /* fault() has the reason */
} WarpEvent;

/* What the last step did. */
typedef struct WarpStep {
    uint32_t executed; /* lanes that executed it: active and guard true */
    uint8_t pattern;   /* ISA_HALF_... of the 32-bit words that all lanes access; 0: not known */
    bool has_split;    /* set only by branches: the lanes diverge */
    uint64_t address[ISA_LANES]; /* memory accesses: address of each executed lane, in the
                                  * instruction's own space (generic addresses are resolved). The SM
                                  * may overwrite them */
    uint8_t space[ISA_LANES];    /* generic accesses: PtxSpace of each lane's address */
} WarpStep;

/* The effect of an ISA_IS_PHASE instruction that was just executed. */
typedef enum WarpPhase {
    WARP_PHASE_CHANGED, /* may have ended a phase of an mbarrier: trying warps continue */
    WARP_PHASE_OVER,    /* waited for a phase: it is over, or the program tests again */
    WARP_PHASE_TRIES    /* waits for a limited time; try_again() reports when it is over */
} WarpPhase;

/* The functions of a source. Only step() is called for every instruction. */
typedef struct WarpSourceType {
    const char *name;
    /* Executes the warp's next instruction in this cycle (%clock), and fills *did. */
    WarpEvent (*step)(WarpSource *source, SourceWarp *warp, uint64_t cycle);
    /* CTA `index` of the grid starts in a CTA slot of the SM. Its warps are in the warp slots from
     * `first_warp` on. Fills warps[] with its warps, ready for their first step. The previous CTA
     * of the slot has ended. */
    void (*start_cta)(WarpSource *source, uint32_t slot, uint64_t index, uint32_t first_warp,
                      SourceWarp **warps);
    /* Warps of the CTA in that slot that wait at a barrier, one bit per number in the CTA. Called
     * after instructions with ISA_IS_BARRIER and after exits. */
    uint32_t (*waiting)(const WarpSource *source, uint32_t slot);
    /* Called after instructions with ISA_IS_PHASE, which these lanes executed at pc. *cycles
     * receives the limit of WARP_PHASE_TRIES; it is not changed if the machine's limit applies. */
    WarpPhase (*phase)(WarpSource *source, SourceWarp *warp, uint32_t pc, uint32_t lanes,
                       uint64_t *cycles);
    /* Whether the wait that these lanes tried at pc succeeds now. May set a fault. */
    bool (*try_again)(WarpSource *source, SourceWarp *warp, uint32_t pc, uint32_t lanes);
    /* The bulk copies that the last instruction (with ISA_IS_BULK) started; returns their
     * number. */
    uint32_t (*bulk)(const WarpSource *source, const IsaBulk **copies);
    /* A copy of the warp has ended. This may end a phase of an mbarrier, or set a fault. */
    void (*bulk_done)(WarpSource *source, SourceWarp *warp, const IsaBulk *copy);
    /* The CTAs that a copy of the warp accesses, or that its end may release, if the grid has
     * clusters. Returns their number, at most SOURCE_MOST_PLACES. */
    uint32_t (*places)(const WarpSource *source, const SourceWarp *warp, const IsaBulk *copy,
                       SourcePlace *places);
    /* The cache policy (isa/policy.h) of the instruction at pc, which a lane has just executed. */
    uint64_t (*cache_policy)(const WarpSource *source, const SourceWarp *warp, uint32_t pc,
                             int lane);
    /* NULL: no fault. */
    const IsaFault *(*fault)(const WarpSource *source);

    /* ---- Deadlock detection ---- */

    /* Increases with each instruction that may have changed what other threads see. */
    uint64_t (*changes)(const WarpSource *source);
    /* Whether the warp can only poll for another thread's store: it waits at a barrier, or has
     * completed `rounds` rounds of such a loop since the last change. `for_ever`: and it does so
     * without end, as far as states were compared since prove_polls(source, true). */
    bool (*only_polls)(const WarpSource *source, const SourceWarp *warp, uint32_t rounds,
                       bool for_ever);
    void (*prove_polls)(WarpSource *source, bool proves);
    /* Restarts the counts and the comparison. */
    void (*reset_polls)(WarpSource *source, SourceWarp *warp);
} WarpSourceType;

/* The first member of a source's own record. Its members do not change while its grid runs. */
struct WarpSource {
    const WarpSourceType *type;
    WarpStep *did; /* filled by each step */
    const WarpProgram *program;
    const struct DeviceMemory *memory; /* memory that addresses refer to; NULL: none */
    PolicyWindow window;               /* accesses to it have a priority in L2 */
    uint32_t warps;                    /* per CTA */
    bool has_clusters;                 /* CTAs access the CTAs of their cluster on other SMs */
    uint32_t entry;                    /* pc of the kernel's first instruction */
};

#endif
