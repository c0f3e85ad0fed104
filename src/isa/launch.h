/* Running warps: launches, CTAs, and stepping a warp through its instructions.
 *
 * One execution thread (IsaContext) steps any number of warps. isa_step executes one instruction of
 * a warp with all its effects. isa_run continues until the warp waits, ends or its turn is over.
 * Both use the same handlers. So a timed and a functional run that execute instructions in the same
 * order leave the same memory. */
#ifndef TYTO_ISA_LAUNCH_H
#define TYTO_ISA_LAUNCH_H

#include <stdarg.h>

#include "isa/isa.h"
#include "isa/policy.h"
#include "memory/memory.h"

/* A constant bank in a launch. */
typedef struct IsaBank {
    const uint8_t *data;
    uint32_t bytes;
} IsaBank;
enum { ISA_BANKS = 32 };

/* A kernel launch: what all its CTAs share. It does not change while it runs. */
typedef struct IsaLaunch {
    const IsaProgram *program;
    const IsaFunction *function;    /* the kernel's */
    uint32_t grid[3];               /* in CTAs */
    uint32_t block[3];              /* in threads */
    uint32_t threads;               /* per CTA */
    uint32_t warps;                 /* per CTA */
    uint64_t ctas;                  /* in the grid */
    uint32_t cluster[3];            /* in CTAs */
    uint32_t cluster_ctas;          /* their product; 0 and 1: no clusters */
    struct IsaClusters *clusters;   /* isa/cluster.h; NULL: no cluster has several CTAs */
    bool has_ranks;                 /* the program uses clusters: its shared addresses have ranks */
    uint32_t shared_bytes;          /* per CTA, static and dynamic */
    uint32_t dynamic_shared_bytes;  /* per CTA */
    uint32_t shared_extent;         /* size of the range of shared addresses: a CTA's shared memory,
                                     * after the system's if the program has addresses for it */
    uint32_t taken_shared_bytes;    /* per CTA: all shared memory including the system's, rounded up
                                     * to the SM's allocation unit */
    uint32_t reserved_shared_bytes; /* the system's part of taken_shared_bytes */
    int carve_out;                  /* preferred percentage of shared memory; -1: no preference */
    PolicyWindow window;            /* accesses to it have a priority in L2 */
    const uint8_t *parameters;      /* parameter area; 64 bytes after its end are readable */
    uint32_t parameter_bytes;
    const uint8_t *constants;     /* rows of constants; NULL: the program's */
    const IsaBank *banks;         /* machine code: ISA_BANKS of them */
    uint32_t stack_bytes;         /* limit of local memory per thread */
    uint32_t sms;                 /* %nsmid */
    uint32_t warps_per_sm;        /* %nwarpid */
    uint64_t grid_id;             /* %gridid */
    uint64_t ps_per_cycle;        /* for %globaltimer */
    bool is_cooperative;          /* all CTAs must be resident together */
    bool has_independent_threads; /* lanes of a warp make progress independently (converge.h) */
    struct IsaCheck *check;       /* observes the launch (isa/check/check.h); NULL: no checks */
    uint32_t dump_line;      /* place at which registers are printed (isa_dump_place); 0: none */
    uint64_t dump_cta;       /* linear index */
    uint32_t dump_warp;      /* in the CTA */
    bool *has_dumped;        /* set when they have been printed; NULL: not wanted */
    struct MemHeap *heap;    /* heap of device malloc */
    uint64_t grid_workspace; /* device address, for cooperative launches; otherwise 0 */
    uint64_t texture_table;  /* device address, for machine code that reads it; otherwise 0 */
    struct DeviceRuntime *runtime; /* work that the grid requests for after its end */
    /* Sets a condition of a graph; false: no condition has that handle. NULL: there are no
     * graphs. */
    bool (*set_condition)(void *user, uint64_t handle, uint32_t value);
    void *condition_user;
} IsaLaunch;

/* A barrier of a CTA. Threads arrive in whole warps, as the PTX ISA defines for bar. */
typedef struct IsaBarrier {
    uint32_t arrived;    /* in threads, 32 per warp */
    uint32_t expected;   /* threads in bar's second operand; 0: all live warps */
    uint32_t waiting;    /* warps that wait here, one bit per index in the CTA */
    uint32_t reducing;   /* those that wait for a bar.red result */
    uint32_t true_lanes; /* bar.red: threads with a true predicate */
    uint32_t red_lanes;  /* bar.red: threads that take part */
} IsaBarrier;

struct IsaCta {
    const IsaLaunch *launch;
    uint64_t index;             /* linear, in the grid */
    uint32_t id[3];             /* %ctaid */
    uint32_t alive;             /* warps with live threads, one bit per index */
    uint32_t waiting;           /* warps that wait at any barrier */
    uint32_t group_waits;       /* warps that wait for groups of wgmma; also in `waiting` */
    uint32_t used_barriers;     /* barriers with pending arrivals, one bit each */
    struct IsaCluster *cluster; /* NULL: the launch has no clusters */
    uint32_t rank;              /* in its cluster */
    uint32_t tag;               /* bits above the offset in its own shared addresses */
    uint32_t cluster_waits;     /* warps that wait at the cluster's barrier; also in `waiting` */
    uint32_t sm, slot;          /* where it is resident, in a timed run */
    uint8_t *shared; /* shared memory, launch->shared_extent bytes and 64 more readable bytes */
    uint32_t shared_capacity;
    struct IsaCtaCheck *check; /* state of the checks (isa/check/check.h); NULL: none */
    IsaWarp *warps;            /* launch->warps entries */
    uint32_t warp_capacity;
    IsaBarrier barriers[ISA_BARRIERS];
    uint32_t red_pc[ISA_MAX_WARPS_PER_CTA];        /* pc of the bar.red in which each warp waits */
    uint32_t red_lanes[ISA_MAX_WARPS_PER_CTA];     /* lanes that get the result of bar.red */
    uint32_t cluster_lanes[ISA_MAX_WARPS_PER_CTA]; /* lanes of each warp that have arrived at the
                                                    * cluster's barrier */
};

/* One call frame of a warp. */
typedef struct IsaFrame {
    uint32_t function;    /* index in the program */
    uint32_t register_at; /* byte offset of its rows in IsaWarp.registers */
    uint32_t local_base;  /* byte offset of its local area, per thread */
    uint32_t local_end;   /* first byte above its local area; alloca raises it */
    uint32_t call_pc;     /* the call instruction in the caller's frame */
    uint32_t caller;      /* index of the caller's frame */
    uint32_t lanes;       /* lanes in this frame or a callee's; [0]: all lanes that ever existed */
} IsaFrame;

typedef enum IsaEvent {
    ISA_EVENT_NONE,    /* the warp can continue */
    ISA_EVENT_BARRIER, /* the warp waits at a barrier (cta->waiting has its bit) */
    ISA_EVENT_EXIT,    /* all its threads have exited */
    ISA_EVENT_FAULT,   /* context->fault has the reason */
    ISA_EVENT_TURN     /* isa_run: the budget is used up, or other warps may now see a store */
} IsaEvent;

/* Starts a CTA. The object can be reused for one CTA after another without new allocations. Zeroed
 * memory is an empty object. */
void isa_cta_start(IsaCta *cta, const IsaLaunch *launch, uint64_t index);
void isa_cta_free(IsaCta *cta);

/* Removes everything that the context remembers of another launch. Call it once after setting
 * memory, program, launch, print and user. */
void isa_context_start(IsaContext *context);

/* Executes the warp's next instruction and fills context->did. A barrier that completes, or a warp
 * that exits, may clear bits in cta->waiting. */
IsaEvent isa_step(IsaContext *context, IsaWarp *warp);
/* Repeats a wait on an mbarrier (mbarrier.try_wait at `pc`, the warp's last instruction) for
 * `lanes`. Returns whether all of them now find their phases complete; sets their predicates. */
bool isa_try_again(IsaContext *context, IsaWarp *warp, uint32_t pc, uint32_t lanes);

/* A warp's turn among the warps of its CTA. Executes until an event other than ISA_EVENT_NONE
 * happens or *budget warp instructions are done. A store or an atomic operation to memory that
 * others see has a turn of its own. So reads of all warps before their writes come before any of
 * these writes, as on a machine that runs the warps in parallel. *budget is reduced by the
 * instructions executed; *thread_instructions is increased by the lanes that executed. */
IsaEvent isa_run(IsaContext *context, IsaWarp *warp, uint64_t *budget,
                 uint64_t *thread_instructions);

/* Sets a fault at the warp's current instruction. The text says what happened; the kernel's name,
 * PTX line, CTA and thread are added. Only the first fault of a launch is kept. */
void isa_fault(IsaContext *context, const IsaWarp *warp, int lane, IsaFaultCode code,
               const char *format, ...) __attribute__((format(printf, 5, 6)));
void isa_vfault(IsaContext *context, const IsaWarp *warp, int lane, IsaFaultCode code,
                const char *format, va_list args);

/* ---- Text that describes places (place.c) ---- */

/* A warp's number in the grid. */
static inline uint64_t isa_warp_number(const IsaWarp *warp) {
    return warp->cta->index * warp->cta->launch->warps + warp->index;
}
/* The source line of an instruction, and its file; NULL if there is none. */
const PtxLoc *isa_source(const IsaProgram *program, uint32_t pc, const char **file);
/* "k.ptx:12, source saxpy.cu:7, inlined at saxpy.cu:20"; the same and ": ld". */
void isa_say_line(const IsaProgram *program, uint32_t pc, Text *out);
void isa_say_instruction(const IsaProgram *program, uint32_t pc, Text *out);
/* The thread of a lane of a warp in the grid; as text "CTA (0,0,0), thread (3,0,0), warp 0, lane
 * 3". */
void isa_thread_of(const IsaLaunch *launch, uint64_t warp, int lane, uint32_t cta[3],
                   uint32_t thread[3]);
void isa_say_thread(const IsaLaunch *launch, uint64_t warp, int lane, Text *out);
/* Lines that describe where a warp is: kernel and instruction, thread, and the calls that led
 * there. */
void isa_say_place(const IsaLaunch *launch, const IsaWarp *warp, uint32_t pc, int lane, Text *out);

/* Whether the warp can only poll for another thread's store: it waits at a barrier, or has
 * completed `rounds` rounds of such loops since the context last changed anything. */
typedef bool IsaPollTest(const IsaContext *context, const IsaWarp *warp, uint32_t rounds);
IsaPollTest isa_only_polls;
/* Whether it also polls without end unless a thread stores something: its state keeps coming back,
 * as far as states were compared since IsaContext.proves_polls was set. */
IsaPollTest isa_polls_forever;
/* Restarts the counts and the comparison. */
void isa_reset_polls(IsaWarp *warp);
/* The warp has completed a round of a loop that polls for another thread's store; if not
 * `is_certain`, of one that may poll. */
void isa_note_poll(const IsaContext *context, IsaWarp *warp, bool is_certain);
/* Whether live lanes of the warp cannot continue before the running lanes have left their loop. */
bool isa_holds_lanes_back(const IsaWarp *warp);

/* Where all the warps of a launch are, grouped by place. */
enum { ISA_WAIT_GROUPS = 10 };
typedef struct IsaWaitGroup {
    uint32_t pc;
    uint32_t warps;
    uint64_t first;    /* number of the first warp in the grid */
    const char *what;  /* what they do: "waiting at a barrier" */
    uint32_t mbarrier; /* IsaWarp.mbarrier of the first warp ... */
    uint64_t state;    /* ... and the object there */
} IsaWaitGroup;
typedef struct IsaWaits {
    IsaWaitGroup groups[ISA_WAIT_GROUPS];
    uint32_t count;        /* number of groups */
    uint32_t others;       /* warps in no group */
    bool holds_lanes_back; /* a warp that polls for a store holds back lanes of its own */
} IsaWaits;
/* Adds a warp that waits before its next instruction. `what` is compared by pointer. */
void isa_waits_add(IsaWaits *waits, const IsaWarp *warp, const char *what);
/* Writes a line for each group, and advice if lanes of one warp wait for one another. */
void isa_say_waits(const IsaWaits *waits, const IsaLaunch *launch, Text *out);

/* Makes room for `bytes` of local memory per thread. Sets a fault if the launch's limit is
 * exceeded. */
bool isa_local_reserve(IsaContext *context, IsaWarp *warp, uint32_t bytes);
/* Bytes of a thread's local memory, which is word-interleaved over lanes; the range must be
 * reserved. */
void isa_local_read(const IsaWarp *warp, int lane, uint32_t offset, void *bytes, uint32_t size);
void isa_local_write(IsaWarp *warp, int lane, uint32_t offset, const void *bytes, uint32_t size);

/* Reads or writes one thread's bytes at a generic address, with all checks (builtins, tests). */
bool isa_generic_read(IsaContext *context, const IsaWarp *warp, int lane, uint64_t address,
                      void *bytes, uint32_t size);
bool isa_generic_write(IsaContext *context, IsaWarp *warp, int lane, uint64_t address,
                       const void *bytes, uint32_t size);

/* Calls of builtins (builtin.c): vprintf, malloc, free, __assertfail for the lanes in `mask`. */
void isa_builtin_call(IsaContext *context, IsaWarp *warp, const IsaInst *inst, uint32_t mask);

/* Prints the registers of the warp's function before its next instruction. */
void isa_dump_registers(IsaContext *context, const IsaWarp *warp);
/* The place of an instruction for --dump-registers: its line in the PTX; for machine code, its byte
 * offset in the section. */
uint32_t isa_dump_place(const IsaProgram *program, uint32_t pc);
/* Prints them if the launch requested it at this place of this warp. Call it before isa_step. */
static inline void isa_dump_if_due(IsaContext *context, const IsaWarp *warp) {
    const IsaLaunch *launch = context->launch;
    if (launch->dump_line && launch->dump_line == isa_dump_place(context->program, warp->pc) &&
        warp->cta->index == launch->dump_cta && warp->index == launch->dump_warp)
        isa_dump_registers(context, warp);
}

#endif
