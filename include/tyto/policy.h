/* Tyto scheduling policies: the plug-in interface, version 8.
 *
 * A policy is a constant TytoPolicy: names, parameters, and a few functions. One state object
 * exists per SM. The SM's schedulers share it, and each scheduler picks among its own warps. A
 * policy sees events and a read-only view of its SM, nothing else. It must not keep mutable
 * globals, so that a process can hold several simulators. It must not depend on addresses or time,
 * so that runs repeat.
 *
 * A shared object exports one symbol, `tyto_policy`, a `const TytoPolicy`. See
 * docs/writing-a-scheduler.md. Every function but `pick` may be NULL.
 *
 * A warp is identified by its hardware warp slot, 0 to warp_count - 1. An SM has at most 64 slots,
 * so a set of warps is a uint64_t with bit w for slot w. A CTA is identified by its CTA slot. The
 * warps of a CTA take ascending slots, in the order of their index in the CTA. A slot is reused
 * only after its whole CTA has finished; until then the view of a finished warp stays unchanged.
 *
 * How the interface grows: within a version, fields are only appended to the structs below. No
 * field moves or changes its meaning. Each struct contains its size in bytes, as compiled into the
 * side that fills it in:
 * - Structs that a policy fills (TytoPolicy, rows of parameters): in a shorter struct, missing
 *   functions count as NULL. In a longer one, the bytes that Tyto does not know must be zero.
 *   Otherwise the policy needs a newer Tyto, and this one refuses it.
 * - Structs that a policy reads: the fields of the first layout are always there. Read later fields
 *   with TYTO_GET. Get warps, CTAs and lines with tyto_warp, tyto_cta and tyto_line, which use the
 *   element sizes that the struct contains. No new field uses the padding of an earlier layout.
 * - Structs that a policy fills when asked (TytoDramPrefetch): Tyto sets the size, and the policy
 *   writes the fields that it knows. */
#ifndef TYTO_POLICY_H
#define TYTO_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Incremented when this header changes in any other way than by appended fields. */
#define TYTO_POLICY_VERSION 8

enum {
    TYTO_MAX_WARPS = 64,     /* of an SM */
    TYTO_MAX_CTAS = 32,      /* of an SM */
    TYTO_MAX_SCHEDULERS = 4, /* of an SM */
    TYTO_NO_WARP = -1
};

/* In place of a program counter: no instruction, or an unknown one. */
#define TYTO_NO_PC UINT32_MAX

/* TYTO_HAS: whether the struct at `of` contains the field, according to its `size`. TYTO_GET: the
 * field's value, or `otherwise` if the struct does not contain it. */
#define TYTO_END_OF(of, field)         (offsetof(__typeof__(*(of)), field) + sizeof((of)->field))
#define TYTO_HAS(of, field)            ((of)->size >= TYTO_END_OF(of, field))
#define TYTO_GET(of, field, otherwise) (TYTO_HAS(of, field) ? (of)->field : (otherwise))

/* Marks fields that plug-ins must access through a function. Tyto's own code accesses them
 * directly. */
#ifdef TYTO_OWN_CODE
#define TYTO_BY_ACCESSOR
#else
#define TYTO_BY_ACCESSOR __attribute__((deprecated("use tyto_warp or tyto_cta")))
#endif

/* A resident warp. */
typedef struct TytoWarpView {
    uint64_t age; /* number of warps launched on this SM before this one: smaller is older */
    uint64_t instructions; /* warp instructions issued so far; with sm.instructions: lowered, issue
                              slots of the machine code */
    uint64_t thread_instructions; /* the same, summed over active lanes; guards are ignored */
    uint8_t cta_slot;             /* its CTA's slot */
    uint8_t index_in_cta;         /* warp number inside its CTA */
} TytoWarpView;

/* A resident CTA. */
typedef struct TytoCtaView {
    uint64_t index;    /* linear index in the grid */
    uint64_t warps;    /* its warps that have not finished */
    uint64_t all;      /* all its warps */
    uint64_t launched; /* SM cycle at which the SM received it */
} TytoCtaView;

/* What a policy sees of its SM. Valid only during a call; fields change between calls. */
typedef struct TytoSmView {
    uint32_t size;       /* bytes of this struct */
    uint32_t warps_at;   /* byte offset of the array of warps: use tyto_warp */
    uint32_t warp_bytes; /* bytes from one warp to the next */
    uint32_t ctas_at;    /* byte offset of the array of CTAs: use tyto_cta */
    uint32_t cta_bytes;  /* bytes from one CTA to the next */
    uint64_t cycle;      /* SM cycle */
    uint32_t sm;         /* number of this SM, from 0 */
    uint32_t sms;        /* SMs of the GPU */
    uint32_t warp_count; /* warp slots */
    uint32_t cta_count;  /* CTA slots */
    uint32_t cta_limit;  /* most CTAs of this kernel that the SM will hold at once: limited by its
                            resources, or by a small grid. They use slots 0 to cta_limit - 1, unless
                            kernels of several streams share the SM */
    uint32_t warps_per_cta;  /* warps of a CTA of this kernel */
    uint32_t schedulers;     /* schedulers of the SM */
    uint32_t pipeline_depth; /* cycles from the issue of a short instruction to that of a dependent
                                one */
    uint32_t issue_interval; /* cycles from one pick of a scheduler to the next: for example 4, if a
                                warp takes a pipeline of SIMT width 8 */
    uint64_t scheduler_warps[TYTO_MAX_SCHEDULERS]; /* slots that each scheduler picks from */
    uint64_t resident;                             /* warps that exist and have not finished */
    uint64_t exited;          /* of `resident`: all threads have exited, but stores are under way */
    uint64_t at_barrier;      /* of `resident`: waiting at a CTA barrier */
    uint64_t has_instruction; /* of `resident`: with a decoded instruction to issue */
    /* Of `resident`: warps whose next instruction needs data that are still on their way from
     * memory (long-latency: global, local, texture), or that wait for an atomic operation or a
     * fence. */
    uint64_t waits_memory;
    uint64_t wants_load;      /* of `resident`: the next instruction is a load through the L1D */
    uint64_t ctas;            /* occupied CTA slots */
    bool last_cta_dispatched; /* no CTA of the grid waits for dispatch any more */
    uint64_t line_bytes;      /* bytes of a line of the L1D */
    /* By slot: the set of warps that are older than the slot's warp. Undefined for slots that are
     * not resident; the bits of such slots are undefined too. */
    uint64_t older[TYTO_MAX_WARPS];
    TytoWarpView warp[TYTO_MAX_WARPS] TYTO_BY_ACCESSOR; /* tyto_warp */
    TytoCtaView cta[TYTO_MAX_CTAS] TYTO_BY_ACCESSOR;    /* tyto_cta */

    /* Set only for a policy with TYTO_NEEDS_STALLS: the state after the picks of the last cycle. It
     * holds for all cycles that `elapsed` reports. Ready means that the registers are free and that
     * nothing holds the warp. */
    uint64_t unit_full;  /* ready warps whose pipeline, other than the load/store unit, is full */
    uint64_t lsu_full;   /* ready warps that find the load/store unit full */
    uint64_t mshrs_full; /* ready warps whose next instruction is a load through the L1D, while the
                            L1D has no MSHR left */
    uint32_t l1d_mshrs_free;  /* MSHRs of the L1D that are free */
    uint32_t l1d_misses_free; /* free entries of the L1D's queue of misses */

    uint32_t l1d_mshrs;  /* MSHRs of the L1D */
    uint32_t l1d_places; /* lines that the L1D has room for: sets x most ways */
    /* Requests a prefetch: use tyto_prefetch. */
    bool (*prefetch)(void *unit, uint64_t address, uint32_t tag);
    void *unit; /* first argument of `prefetch` */

    uint64_t at_mbarrier; /* of `resident`: waiting for a phase of an mbarrier (try_wait) */
    /* Of `resident`: waiting for something else than memory or a barrier: for matrix products of a
     * warpgroup, for registers (setmaxnreg), or for another grid (griddepcontrol). */
    uint64_t waits_other;
    /* Lines that the L1D has room for in this kernel: fewer than `l1d_places` if shared memory
     * takes a part of their store. */
    uint32_t l1d_lines;
    /* Bytes that a miss or a prefetch brings in: a line of the L1D, or a sector. */
    uint64_t fill_bytes;
} TytoSmView;

static inline const TytoWarpView *tyto_warp(const TytoSmView *view, int warp) {
    return (const TytoWarpView *)(const void *)((const char *)view + view->warps_at +
                                                (size_t)warp * view->warp_bytes);
}
static inline const TytoCtaView *tyto_cta(const TytoSmView *view, int cta_slot) {
    return (const TytoCtaView *)(const void *)((const char *)view + view->ctas_at +
                                               (size_t)cta_slot * view->cta_bytes);
}

/* Requests a prefetch of the line or sector that contains `address` into the L1D. It is sent when
 * an MSHR, a way and an entry of the queue of misses are free, after the program's own accesses.
 * The policy chooses `tag`; the event that reports what happened to the prefetch contains it.
 * Returns false if too many prefetches wait to be sent, or if the policy lacks
 * TYTO_NEEDS_PREFETCH. */
static inline bool tyto_prefetch(const TytoSmView *view, uint64_t address, uint32_t tag) {
    return view->prefetch && view->prefetch(view->unit, address, tag);
}

/* Kinds of events on an SM, and the fields of TytoEvent that each of them sets. */
typedef enum TytoEventKind {
    TYTO_EVENT_CTA_LAUNCHED,     /* cta_slot, warps: its warps */
    TYTO_EVENT_CTA_FINISHED,     /* cta_slot, warps */
    TYTO_EVENT_WARP_FINISHED,    /* warp, cta_slot */
    TYTO_EVENT_WARP_AT_BARRIER,  /* warp, cta_slot: the warp has started to wait */
    TYTO_EVENT_BARRIER_RELEASED, /* cta_slot, warps: the warps that may continue */
    TYTO_EVENT_LAST_CTA,         /* the grid's last CTA has been dispatched (to any SM) */
    TYTO_EVENT_L1D_HIT,  /* warp, address: a load found its line; owner: the warp that brought it in
                          */
    TYTO_EVENT_L1D_MISS, /* warp, address: a load did not find its line. The line is requested, or
                            is already on its way: is_pending */
    TYTO_EVENT_L1D_EVICTED, /* address: the line dropped; owner: the warp that had brought it in;
                               warp: the one whose access replaced the line, TYTO_NO_WARP for a
                               prefetch */
    TYTO_EVENT_L1D_STORED,  /* warp, address: a store was passed on to L2. If the L1D drops lines
                               that are written (write-evict), L1D_EVICTED comes first */
    TYTO_EVENT_L1D_FILLED,  /* address: a line or sector has arrived; owner: the warp that asked for
                               it first */
    TYTO_EVENT_BRANCH,      /* warp: a branch has executed; comes before `issued` for the branch */
    TYTO_EVENT_PREFETCH_SENT,   /* tag, address: the policy's prefetch was sent to the L2 */
    TYTO_EVENT_PREFETCH_USED,   /* tag, address: an access needs the data for the first time;
                                   is_pending: they are still on their way */
    TYTO_EVENT_PREFETCH_UNUSED, /* tag, address: the data were dropped before any access needed them
                                 */
    TYTO_EVENT_PREFETCH_DROPPED, /* tag, address: not sent, because the L1D has the line or already
                                    waits for it, the address is not in memory, or no CTA is left */
    TYTO_EVENTS
} TytoEventKind;

typedef struct TytoEvent {
    uint32_t size; /* bytes of this struct */
    TytoEventKind kind;
    int warp;     /* slot; TYTO_NO_WARP when it does not apply */
    int cta_slot; /* -1 when it does not apply */
    int owner; /* L1D events: slot of the warp that brought the line in; TYTO_NO_WARP: unknown, or a
                  prefetch of the policy */
    bool is_pending;   /* L1D_MISS: the line is already on its way */
    bool is_divergent; /* BRANCH: the lanes diverge */
    uint64_t warps;    /* set of slots */
    uint64_t address;  /* L1D events: byte address of the line */
    uint32_t pc; /* index of an instruction in the kernel's program, from 0; TYTO_NO_PC: unknown.
                    L1D events: the instruction that makes the access; L1D_EVICTED: the one whose
                    line replaced this line. BRANCH: the branch */
    uint32_t owner_pc; /* L1D events: the instruction that brought the line in, or TYTO_NO_PC */
    uint32_t place;    /* L1D events: where the line is, set x most ways + way; or TYTO_NO_PLACE */
    uint32_t target;   /* BRANCH: the warp's next pc */
    uint32_t lanes_before; /* BRANCH: active lanes before it, one bit each */
    uint32_t lanes_after;  /* BRANCH: active lanes after it, on the side that runs first */
    uint32_t tag;          /* PREFETCH events: the tag that the policy gave to tyto_prefetch */
    uint32_t offset;   /* L1D_HIT, L1D_MISS: bytes from `address` to the first byte of the access */
    bool repeats_line; /* L1D_HIT, L1D_MISS: the L1D has sectors, and the same instruction has
                          accessed another sector of the line before */
} TytoEvent;

#define TYTO_NO_PLACE UINT32_MAX

/* An instruction that was issued. */
typedef struct TytoIssue {
    uint32_t size;  /* bytes of this struct */
    int warp;       /* its slot */
    int scheduler;  /* the scheduler that issued it */
    uint32_t lanes; /* active lanes, one bit each */
    bool is_load;   /* it is a load through the L1D */
    bool is_long;   /* its result comes from memory (long latency) */
    uint32_t pc;    /* its index in the kernel's program, from 0 */
} TytoIssue;

/* ---- The L1D ---- */

/* How the L1D inserts the line of a miss. */
typedef enum TytoInsertion {
    TYTO_INSERT_NORMAL, /* as without a policy */
    TYTO_INSERT_FIRST,  /* replaced before all normal lines of its set */
    TYTO_INSERT_LAST,   /* kept while another line of its set can be replaced */
    TYTO_INSERT_BYPASS, /* not inserted: the data go to the registers only */
    TYTO_INSERTIONS
} TytoInsertion;

/* An access that finds its line neither in the L1D nor on its way. */
typedef struct TytoMiss {
    uint32_t size;    /* bytes of this struct */
    int warp;         /* slot; TYTO_NO_WARP: a prefetch of the policy */
    uint64_t address; /* first byte of the line or sector */
    uint32_t pc;      /* index of the instruction, or TYTO_NO_PC */
    uint32_t lanes;   /* lanes that asked for it, one bit each */
    bool is_store;
} TytoMiss;

/* A line of the set in which a miss needs a way. */
typedef struct TytoLine {
    uint64_t address;  /* first byte */
    uint64_t order;    /* order of last use (LRU) or arrival (FIFO): the smallest is the oldest */
    uint32_t place;    /* set x most ways + way, as in events */
    uint32_t owner_pc; /* index of the instruction that brought it in, or TYTO_NO_PC */
    int owner;         /* slot of the warp that brought it in */
    bool can_go; /* it can be replaced; false: its data are on their way, or the cache keeps it
                    because it is dirty */
    bool is_dirty;
    bool is_prefetch; /* a prefetch of the policy that no access has used yet */
} TytoLine;

/* All lines of a set that is full. */
typedef struct TytoLines {
    uint32_t size;       /* bytes of this struct */
    uint32_t count;      /* number of lines */
    uint32_t line_bytes; /* bytes from one line to the next: use tyto_line */
    const void *first;
} TytoLines;

static inline const TytoLine *tyto_line(const TytoLines *lines, uint32_t i) {
    return (const TytoLine *)(const void *)((const char *)lines->first +
                                            (size_t)i * lines->line_bytes);
}

enum { TYTO_ANY_LINE = -1 };

/* ---- What a policy reports about itself ---- */

/* Receives the numbers that only the policy knows. A value is a count, which is added up over SMs,
 * or describes the present state of this SM. A list has one value per warp, CTA or group. Names
 * look like "vta_hits". Strings are copied. */
typedef struct TytoReport {
    uint32_t size; /* bytes of this struct */
    void *context; /* first argument of the functions below */
    void (*value)(void *context, const char *name, const char *unit, double value);
    void (*list)(void *context, const char *name, const char *unit, const double *values,
                 size_t count);
} TytoReport;

/* The sizes of a machine, for a policy that reports how much storage it adds. */
typedef struct TytoMachineSizes {
    uint32_t size;           /* bytes of this struct */
    uint32_t sms;            /* SMs */
    uint32_t warps;          /* per SM */
    uint32_t ctas;           /* per SM */
    uint32_t schedulers;     /* per SM */
    uint32_t l1d_lines;      /* per SM */
    uint32_t l1d_line_bytes; /* bytes */
    uint32_t channels;       /* memory controllers */
    uint32_t banks;          /* per channel */
    uint32_t row_bytes;      /* bytes of a row of a DRAM bank */
    uint32_t prefetch_bytes; /* bytes of a row that one prefetch reads: an L2 line or part of it */
    uint32_t queue;          /* requests that the queue of a memory controller holds */
} TytoMachineSizes;

/* Receives the storage that a policy adds to the hardware, part by part. Only storage counts, not
 * adders, comparators or wires. Strings are not copied, so they must be constants. */
typedef struct TytoStorage {
    uint32_t size; /* bytes of this struct */
    void *context; /* first argument of `bits` */
    /* Adds one part. `what`: one line. `source`: paper and section, or a note that the width is
     * ours. `per_sm`, `per_channel`: bits. */
    void (*bits)(void *context, const char *what, const char *source, uint64_t per_sm,
                 uint64_t per_channel);
} TytoStorage;

/* Bits needed to store a number from 0 to values - 1. */
static inline uint32_t tyto_bits_for(uint32_t values) {
    return values > 1 ? 32 - (uint32_t)__builtin_clz(values - 1) : 0;
}

typedef enum TytoPolicyValueKind { TYTO_INTEGER, TYTO_REAL, TYTO_CHOICE } TytoPolicyValueKind;

/* One parameter. Parsing, help and documentation are derived from this row. */
typedef struct TytoPolicyParameter {
    const char *name;
    TytoPolicyValueKind kind;
    double initial, minimum, maximum; /* a choice's value is its index in `choices` */
    const char *const *choices;       /* TYTO_CHOICE: NULL-terminated names of a-z, 0-9, _ and - */
    const char *meaning;              /* one line, with the unit */
    const char *source;               /* paper and section */
} TytoPolicyParameter;

/* When the memory controllers' opportunistic prefetch of a row ends (docs/dram.md). */
typedef enum TytoDramPrefetchScheme {
    TYTO_PREFETCH_NONE, /* no prefetching */
    TYTO_PREFETCH_STOP, /* as soon as a request to another row of the bank waits */
    TYTO_PREFETCH_MIN   /* likewise, but not before a minimum number of lines has been read */
} TytoDramPrefetchScheme;

/* Which line of the row is prefetched next, among those that have not been sent. */
typedef enum TytoDramPrefetchOrder {
    TYTO_PREFETCH_FROM_START, /* the first */
    TYTO_PREFETCH_AROUND,     /* the first after the line sent last, or else the first */
    TYTO_PREFETCH_ONWARD      /* the first after the line sent last, or else none */
} TytoDramPrefetchOrder;

/* Whether prefetching of a row may begin while a request to another row of its bank waits. */
typedef enum TytoDramPrefetchStart {
    TYTO_PREFETCH_ALWAYS, /* it may: scheme min makes that request wait */
    TYTO_PREFETCH_IDLE    /* it may not; scheme min makes requests that come later wait */
} TytoDramPrefetchStart;

/* The prefetching that a policy wants from the memory controllers. When no request to an open row
 * is left, they read more lines of the row into the L2. */
typedef struct TytoDramPrefetch {
    uint32_t
        size; /* bytes of this struct, set by Tyto; the rest is zero when the policy is asked */
    TytoDramPrefetchScheme scheme;
    uint32_t lower;     /* scheme min: minimum number of lines of a row to prefetch, 0 to 128 */
    uint32_t higher;    /* the same while few requests wait at the channel, `lower` to 128 */
    uint32_t threshold; /* requests waiting at a channel are few if there are fewer than this; 0:
                           than the mean so far */
    bool skips_cached;  /* do not prefetch lines that the L2 has when the row is opened */
    TytoDramPrefetchOrder order;
    TytoDramPrefetchStart start;
} TytoDramPrefetch;

/* Features that cost simulation time. Only a policy that asks for them gets them. */
enum {
    TYTO_NEEDS_STALLS = 1,  /* TytoSmView.unit_full to l1d_misses_free */
    TYTO_NEEDS_PREFETCH = 2 /* tyto_prefetch, and the events of prefetches */
};

/* Initializers of the first fields of a TytoPolicy. */
#define TYTO_POLICY_HEAD                                                                           \
    .version = TYTO_POLICY_VERSION, .size = sizeof(TytoPolicy),                                    \
    .parameter_bytes = sizeof(TytoPolicyParameter)

typedef struct TytoPolicy {
    uint32_t version;         /* TYTO_POLICY_VERSION */
    uint32_t size;            /* bytes of this struct */
    uint32_t parameter_bytes; /* bytes of a row of `parameters`; TYTO_POLICY_HEAD sets these three
                                 fields */
    uint32_t parameter_count; /* rows of `parameters` */
    const char *name;         /* as on the command line */
    const char *summary;      /* one line */
    const TytoPolicyParameter *parameters;
    size_t state_bytes; /* bytes of the state of one SM; Tyto aligns it to 64 bytes */
    uint64_t events;    /* events that it receives: TYTO_WANTS(kind) | ... */
    uint64_t needs;     /* TYTO_NEEDS_... | ... */

    /* Fills in the prefetching that the policy wants from the memory controllers. Called once.
     * `wanted` is zero except for its size. NULL: nothing. */
    void (*dram_prefetch)(const double *values, TytoDramPrefetch *wanted);
    /* Returns how many bytes the policy needs after the state (from state + state_bytes rounded up
     * to 64), for tables whose size depends on the SM or on the parameters. Called once for each
     * SM, before the first kernel. Only the machine's sizes (sm to scheduler_warps, line_bytes) are
     * set in the view. NULL: none. */
    size_t (*extra_bytes)(const TytoSmView *view, const double *values);
    /* Called whenever a kernel starts. The state is all zeros. `values` has the values of the
     * parameters, in the order of their rows. Events of CTA launches follow. */
    void (*start)(void *state, const TytoSmView *view, const double *values);
    /* Chooses a warp for `scheduler`. Must return a member of `ready`, or TYTO_NO_WARP so that none
     * issues. `ready` is a non-empty set of warps whose next instruction can issue now. It also
     * contains warps whose instruction buffer is stale because they branched. These are not in
     * view->has_instruction, and choosing one flushes its buffer. After a flush, `pick` is called
     * again in the same cycle with a smaller set. So a decision must not depend on how often it is
     * called: change the state in `issued`. */
    int (*pick)(void *state, const TytoSmView *view, int scheduler, uint64_t ready);
    /* Called once per cycle, before the schedulers pick. may_load returns the warps that may issue
     * loads through the L1D, including loads that follow another instruction of the same pick.
     * may_issue returns the warps that may issue anything. NULL: all. */
    uint64_t (*may_load)(void *state, const TytoSmView *view);
    uint64_t (*may_issue)(void *state, const TytoSmView *view);
    /* Called after a warp has issued an instruction. */
    void (*issued)(void *state, const TytoSmView *view, const TytoIssue *issue);
    /* Called for each event whose kind is in `events`. */
    void (*event)(void *state, const TytoSmView *view, const TytoEvent *event);
    /* `count` cycles have passed. It is more than one when the SM slept; nothing could have issued
     * in the skipped cycles. Called before the picks of cycle view->cycle, and when a CTA arrives
     * at an SM that has none: such a call reports the cycles without CTAs, and view->ctas is 0. */
    void (*elapsed)(void *state, const TytoSmView *view, uint64_t count);
    /* Returns the warps among which the policy looks for one in this cycle, ready or not: for a
     * two-level scheduler, the active warps. Called after `elapsed` and the picks of a cycle. The
     * seen_* counters report what these warps alone wait for. NULL: all. */
    uint64_t (*looks_at)(void *state, const TytoSmView *view);
    /* Returns in how many cycles (at least 1) the policy's decisions, or the warps that it looks
     * at, could change without any event or issue, for example because it sorts every N cycles or
     * its scores decay. The SM wakes up then. UINT64_MAX, or NULL: never. */
    uint64_t (*next_change)(void *state, const TytoSmView *view);
    /* Reports the policy's numbers at the end of each kernel and, if samples are wanted, every N
     * cycles. Counts start at 0 with each kernel. */
    void (*report)(void *state, const TytoSmView *view, const TytoReport *out);
    /* Chooses how the line of a load's miss is inserted. Called once for each access that misses,
     * before the L1D takes an MSHR for it. The access may be refused afterwards and hit later, so
     * change the state in `event` only. NULL: TYTO_INSERT_NORMAL. */
    TytoInsertion (*insert)(void *state, const TytoSmView *view, const TytoMiss *miss);
    /* Chooses the line that the miss replaces. Returns the index in `lines` of a line with can_go,
     * or TYTO_ANY_LINE to let the cache choose. Called each time that a line of a full set must be
     * replaced; L1D_EVICTED follows. NULL: the cache chooses. */
    int (*victim)(void *state, const TytoSmView *view, const TytoMiss *miss,
                  const TytoLines *lines);
    /* Reports the storage that the policy adds to the hardware, in at most 8 parts, for `tyto
     * cost`. NULL: none, or its source does not say. */
    void (*storage)(const double *values, const TytoMachineSizes *sizes, const TytoStorage *out);
} TytoPolicy;

/* The symbol that a shared object must define. */
extern __attribute__((visibility("default"))) const TytoPolicy tyto_policy;

#define TYTO_WANTS(kind) (UINT64_C(1) << (kind))

/* Whether `warp` is in `set`. */
static inline bool tyto_has(uint64_t set, int warp) { return set >> warp & 1; }

/* The lowest slot in `set`, which must not be empty. */
static inline int tyto_lowest(uint64_t set) { return __builtin_ctzll(set); }

/* Round-robin: the first slot of `set` after `warp` (-1 to 63), or else the lowest. `set` must not
 * be empty. */
static inline int tyto_next(uint64_t set, int warp) {
    uint64_t after = warp < 63 ? set & ~UINT64_C(0) << (warp + 1) : 0;
    return tyto_lowest(after ? after : set);
}

/* The first warp of `set` in the order given by `before`: before[w] is the set of warps that come
 * before warp w. `set` must not be empty. The lowest slot is usually the answer, and then one test
 * is enough. */
static inline int tyto_first(const uint64_t before[TYTO_MAX_WARPS], uint64_t set) {
    int warp = tyto_lowest(set);
    for (uint64_t rest; (rest = before[warp] & set) != 0;)
        warp = tyto_lowest(rest);
    return warp;
}

/* The oldest warp of `set`, which must be a non-empty set of resident warps. */
static inline int tyto_oldest(const TytoSmView *view, uint64_t set) {
    return tyto_first(view->older, set);
}

#ifdef __cplusplus
}
#endif

#endif
