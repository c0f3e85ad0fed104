/* Running warps: launches, CTAs, and stepping a warp through its instructions.
 *
 * One execution thread (IsaContext) steps any number of warps. isa_step executes one instruction of
 * a warp with all its effects; isa_run goes on until the warp waits, ends or its turn
 * is over. Both interpret the same instructions through the same handlers, so a timed and a
 * functional run of one order of instructions give the same memory. */
#ifndef TYTO_ISA_LAUNCH_H
#define TYTO_ISA_LAUNCH_H

#include <stdarg.h>

#include "isa/isa.h"
#include "isa/policy.h"
#include "memory/memory.h"

/* A constant bank as a launch sees it. */
typedef struct IsaBank {
    const uint8_t *data;
    uint32_t bytes;
} IsaBank;
enum { ISA_BANKS = 32 };

/* A kernel launch: what all its CTAs share. Never changes while it runs. */
typedef struct IsaLaunch {
    const IsaProgram *program;
    const IsaFunction *function;    /* the kernel */
    uint32_t grid[3];               /* CTAs */
    uint32_t block[3];              /* threads */
    uint32_t threads;               /* per CTA */
    uint32_t warps;                 /* per CTA */
    uint64_t ctas;                  /* in the grid */
    uint32_t cluster[3];            /* CTAs of a cluster */
    uint32_t cluster_ctas;          /* their product; 0 and 1: there are no clusters */
    struct IsaClusters *clusters;   /* isa/cluster.h; NULL: none has several CTAs */
    bool has_ranks;                 /* the program does something with clusters: its shared
                                       addresses have ranks */
    uint32_t shared_bytes;          /* per CTA, static and dynamic */
    uint32_t dynamic_shared_bytes;  /* per CTA */
    uint32_t shared_extent;         /* bytes of addresses: those of a CTA, after the system's where
                                       the program has an address for these */
    uint32_t taken_shared_bytes;    /* per CTA: all, and what is the system's of it, rounded up to
                                       what an SM allocates by */
    uint32_t reserved_shared_bytes; /* the system's part of that */
    int carve_out;                  /* percent of shared memory that are preferred, -1: none are */
    PolicyWindow window;            /* accesses to it have a priority in L2 */
    const uint8_t *parameters;      /* parameter area, 64 readable bytes past its end */
    uint32_t parameter_bytes;
    const uint8_t *constants;     /* rows of constants; NULL: the program's */
    const IsaBank *banks;         /* machine code: ISA_BANKS of them */
    uint32_t stack_bytes;         /* local memory per thread at most */
    uint32_t sms;                 /* %nsmid */
    uint32_t warps_per_sm;        /* %nwarpid */
    uint64_t grid_id;             /* %gridid */
    uint64_t ps_per_cycle;        /* for %globaltimer */
    bool is_cooperative;          /* all CTAs must run at once */
    bool has_independent_threads; /* lanes of a warp make progress alone (converge.h) */
    struct IsaCheck *check;  /* sees what the launch does (isa/check/check.h); NULL: no checks */
    uint32_t dump_line;      /* where registers are printed (isa_dump_place), 0: nowhere */
    uint64_t dump_cta;       /* linear index */
    uint32_t dump_warp;      /* in the CTA */
    bool *has_dumped;        /* set when they are printed; NULL: not wanted */
    struct MemHeap *heap;    /* device malloc */
    uint64_t grid_workspace; /* device address, of cooperative launches; else 0 */
    struct DeviceRuntime *runtime; /* what the grid asks to be done after it */
    /* Sets a condition of a graph; false: there is none of that handle. NULL: there are no graphs.
     */
    bool (*set_condition)(void *user, uint64_t handle, uint32_t value);
    void *condition_user;
} IsaLaunch;

/* A barrier of a CTA. Threads arrive by whole warps, as the PTX ISA has it for bar. */
typedef struct IsaBarrier {
    uint32_t arrived;    /* threads, counted as 32 per warp */
    uint32_t expected;   /* threads given by bar's second operand, 0: all live warps */
    uint32_t waiting;    /* warps blocked here, bit per index in the CTA */
    uint32_t reducing;   /* those among them that wait for a bar.red result */
    uint32_t true_lanes; /* bar.red: threads with a true predicate */
    uint32_t red_lanes;  /* bar.red: threads that took part */
} IsaBarrier;

struct IsaCta {
    const IsaLaunch *launch;
    uint64_t index;             /* linear, in the grid */
    uint32_t id[3];             /* %ctaid */
    uint32_t alive;             /* warps with live threads, bit per index */
    uint32_t waiting;           /* warps blocked at any barrier */
    uint32_t group_waits;       /* those that wait for groups of wgmma, in `waiting` too */
    uint32_t used_barriers;     /* barriers with arrivals pending, bit each */
    struct IsaCluster *cluster; /* NULL: the launch has none */
    uint32_t rank;              /* in its cluster */
    uint32_t tag;               /* what its own shared addresses have above their offsets */
    uint32_t cluster_waits;     /* warps blocked at the cluster's barrier, in `waiting` too */
    uint32_t sm, slot;          /* a timed run: where it is resident */
    uint8_t *shared; /* shared memory, launch->shared_extent and 64 readable bytes more */
    uint32_t shared_capacity;
    struct IsaCtaCheck *check; /* what the checks keep of it (isa/check/check.h); NULL: nothing */
    IsaWarp *warps;            /* launch->warps of them */
    uint32_t warp_capacity;
    IsaBarrier barriers[ISA_BARRIERS];
    uint32_t red_pc[ISA_MAX_WARPS_PER_CTA];        /* bar.red each warp waits in */
    uint32_t red_lanes[ISA_MAX_WARPS_PER_CTA];     /* lanes that get its result */
    uint32_t cluster_lanes[ISA_MAX_WARPS_PER_CTA]; /* of each warp: that have arrived at the
                                                      cluster's barrier */
};

/* One call frame of a warp. */
typedef struct IsaFrame {
    uint32_t function;    /* index in the program */
    uint32_t register_at; /* byte offset of its rows in IsaWarp.registers */
    uint32_t local_base;  /* byte offset of its local area, per thread */
    uint32_t local_end;   /* first byte above its local area; alloca raises it */
    uint32_t call_pc;     /* the call instruction in the caller's frame */
    uint32_t caller;      /* index of the caller's frame */
    uint32_t lanes;       /* in it, or in what it has called; [0]: all that ever were */
} IsaFrame;

typedef enum IsaEvent {
    ISA_EVENT_NONE,    /* the warp can go on */
    ISA_EVENT_BARRIER, /* the warp waits at a barrier (cta->waiting has its bit) */
    ISA_EVENT_EXIT,    /* all its threads have exited */
    ISA_EVENT_FAULT,   /* context->fault says what happened */
    ISA_EVENT_TURN     /* isa_run: the budget is used up, or others may see a store */
} IsaEvent;

/* A CTA object can run one CTA after another without allocating again. Zeroed memory is an empty
 * one. */
void isa_cta_start(IsaCta *cta, const IsaLaunch *launch, uint64_t index);
void isa_cta_free(IsaCta *cta);

/* Forgets what the context remembers of another launch. To be called once after filling in memory,
 * program, launch, print and user. */
void isa_context_start(IsaContext *context);

/* Executes the warp's next instruction. Fills context->did. A barrier that
 * completes, or a warp that exits, may clear bits in cta->waiting. */
IsaEvent isa_step(IsaContext *context, IsaWarp *warp);
/* Whether the lanes that tried a wait on an mbarrier (mbarrier.try_wait at `pc`, the warp's last
 * instruction) now find their phases complete; then their predicates say so. */
bool isa_try_again(IsaContext *context, IsaWarp *warp, uint32_t pc, uint32_t lanes);

/* A warp's turn among the warps of its CTA: executes until an event other than ISA_EVENT_NONE
 * happens or *budget warp instructions are done. A store or an atomic operation to memory that
 * others see has a turn of its own. So what all warps read before they write is read before any of
 * them writes, as on a machine that runs them in parallel. *budget is lowered by what was executed,
 * *thread_instructions raised by the lanes that executed. */
IsaEvent isa_run(IsaContext *context, IsaWarp *warp, uint64_t *budget,
                 uint64_t *thread_instructions);

/* Marks a fault of the warp's current instruction. Text is "what"; the kernel's name, PTX line, CTA
 * and thread are added to it. The first fault of a launch is kept. */
void isa_fault(IsaContext *context, const IsaWarp *warp, int lane, IsaFaultCode code,
               const char *format, ...) __attribute__((format(printf, 5, 6)));
void isa_vfault(IsaContext *context, const IsaWarp *warp, int lane, IsaFaultCode code,
                const char *format, va_list args);

/* ---- Places, in words (place.c) ---- */

/* A warp's number in the grid. */
static inline uint64_t isa_warp_number(const IsaWarp *warp) {
    return warp->cta->index * warp->cta->launch->warps + warp->index;
}
/* The place of an instruction in the source, and its file; NULL when there is none. */
const PtxLoc *isa_source(const IsaProgram *program, uint32_t pc, const char **file);
/* "k.ptx:12, source saxpy.cu:7, inlined at saxpy.cu:20"; the same and ": ld". */
void isa_say_line(const IsaProgram *program, uint32_t pc, Text *out);
void isa_say_instruction(const IsaProgram *program, uint32_t pc, Text *out);
/* The thread of a lane of a warp of the grid: "CTA (0,0,0), thread (3,0,0), warp 0, lane 3". */
void isa_thread_of(const IsaLaunch *launch, uint64_t warp, int lane, uint32_t cta[3],
                   uint32_t thread[3]);
void isa_say_thread(const IsaLaunch *launch, uint64_t warp, int lane, Text *out);
/* Lines that say where a warp is: kernel and instruction, thread, and the calls that led there. */
void isa_say_place(const IsaLaunch *launch, const IsaWarp *warp, uint32_t pc, int lane, Text *out);

/* Whether the warp can only poll for another thread's store: it waits at a barrier, or has gone
 * `rounds` times round such loops since the context last changed anything. */
typedef bool IsaPollTest(const IsaContext *context, const IsaWarp *warp, uint32_t rounds);
IsaPollTest isa_only_polls;
/* The same, and that it will poll without end unless a thread stores something: its state keeps
 * coming back, as far as was compared since IsaContext.proves_polls is set. */
IsaPollTest isa_polls_forever;
/* Restarts the counts and the comparison. */
void isa_reset_polls(IsaWarp *warp);
/* It has gone round a loop that looks for another thread's store; or that may do so. */
void isa_note_poll(const IsaContext *context, IsaWarp *warp, bool is_certain);
/* Whether live lanes of the warp cannot go on before those that run are out of their loop. */
bool isa_holds_lanes_back(const IsaWarp *warp);

/* Where all the warps of a launch stand, like things together. */
enum { ISA_STAND_GROUPS = 10 };
typedef struct IsaStandGroup {
    uint32_t pc;
    uint32_t warps;
    uint64_t first;    /* number of the first warp in the grid */
    const char *what;  /* they do: "waiting at a barrier" */
    uint32_t mbarrier; /* of the first: IsaWarp.mbarrier, ... */
    uint64_t state;    /* ... and what is there */
} IsaStandGroup;
typedef struct IsaStand {
    IsaStandGroup groups[ISA_STAND_GROUPS];
    uint32_t count;        /* of groups */
    uint32_t others;       /* warps in none of them */
    bool holds_lanes_back; /* a warp that looks for a store holds lanes of its own back */
} IsaStand;
/* Adds a warp that waits before its next instruction; equal words for `what` are one string. */
void isa_stand_add(IsaStand *stand, const IsaWarp *warp, const char *what);
/* A line for each group, and what is to be done when lanes of one warp wait for one another. */
void isa_say_stand(const IsaStand *stand, const IsaLaunch *launch, Text *out);

/* Makes room for `bytes` of local memory per thread; a fault when the launch's limit is passed. */
bool isa_local_reserve(IsaContext *context, IsaWarp *warp, uint32_t bytes);
/* Bytes of a thread's local memory, word-interleaved over lanes; the range must be reserved. */
void isa_local_read(const IsaWarp *warp, int lane, uint32_t offset, void *bytes, uint32_t size);
void isa_local_write(IsaWarp *warp, int lane, uint32_t offset, const void *bytes, uint32_t size);

/* Reads or writes one thread's bytes at a generic address, with all checks (builtins, tests). */
bool isa_generic_read(IsaContext *context, const IsaWarp *warp, int lane, uint64_t address,
                      void *bytes, uint32_t size);
bool isa_generic_write(IsaContext *context, IsaWarp *warp, int lane, uint64_t address,
                       const void *bytes, uint32_t size);

/* Builtins (builtin.c): executes vprintf, malloc, free, __assertfail for the lanes in mask. */
void isa_builtin_call(IsaContext *context, IsaWarp *warp, const IsaInst *inst, uint32_t mask);

/* Prints the registers of the warp's function as they are before its next instruction. */
void isa_dump_registers(IsaContext *context, const IsaWarp *warp);
/* Where an instruction is for --dump-registers: its line of the PTX; of machine code the byte in
 * its section. */
uint32_t isa_dump_place(const IsaProgram *program, uint32_t pc);
/* The same if the launch asked for it at this place of this warp; to be called before isa_step. */
static inline void isa_dump_if_due(IsaContext *context, const IsaWarp *warp) {
    const IsaLaunch *launch = context->launch;
    if (launch->dump_line && launch->dump_line == isa_dump_place(context->program, warp->pc) &&
        warp->cta->index == launch->dump_cta && warp->index == launch->dump_warp)
        isa_dump_registers(context, warp);
}

#endif
